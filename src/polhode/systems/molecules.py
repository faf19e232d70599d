"""Shared by the systems of many rigid molecules: checks of arguments and overlaps, temperatures, pressure.

Temperatures are those of the motion relative to the centre of mass, k_B T = 2 K / f: of translation with f = 3 N - 3,
of rotation with f the number of rotational degrees of freedom, and of both together. The pressure in a periodic box is
p V = 2 K_t / 3 + sum over pairs of d . F / 3, with the translational kinetic energy K_t of that motion, the vector d
between centres and the force F on the first: minus the derivative of the energy by the volume as centres are scaled and
molecules stay rigid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import UNKNOWN, Array, ArrayLike, array, number, of_each, room_for, vector, whole
from polhode.errors import InvalidInput
from polhode.kernel import layout as L
from polhode.systems.record import System
from polhode.systems.summands import OPEN, Within

OVERLAP = 0.2  # distance over diameter below which bodies overlap: their repulsion is then about 1e9 epsilon
SWITCH, SKIN = 0.9, 0.12  # default start of switching and default skin of the neighbour lists, over the cut-off


A_BODY = 100  # approximate storage per body, in numbers: state, loads and neighbour lists


def count(value: object, name: str = "n", least: int = 2) -> int:
    """A checked number of bodies."""
    n = whole(value, name, least)
    room_for(A_BODY * n, name)
    return n


def vectors_of(value: object, n: int, name: str) -> Array:
    """Vectors of n bodies, (n, 3), from one for all bodies or one for each."""
    given = array(value, name, UNKNOWN).copy()
    if given.ndim == 2:
        if given.shape != (n, 3):
            raise InvalidInput(
                f"{name} must be 3 numbers, or 3 for each of the {n} bodies, but has shape {given.shape}"
            )
        return given
    return np.tile(vector(given, name), (n, 1))


def masses_of(value: ArrayLike, n: int) -> Array:
    """Positive masses (n,) from one for all bodies or one for each."""
    masses = of_each(value, "mass", n, "bodies")
    for i in np.flatnonzero(masses <= 0.0)[:1]:
        number(masses[i], f"mass[{i}]" if np.ndim(value) else "mass", positive=True)
    return masses


def edges_of(box: object) -> Any:
    """Edges (3,) of a box from three numbers or one; None in free space."""
    if box is None:
        return None
    given = array(box, "box", UNKNOWN)
    edges = np.full(3, number(float(given), "box", positive=True)) if given.ndim == 0 else vector(given, "box")
    if (edges <= 0.0).any():
        raise InvalidInput(f"box has the edges {edges.tolist()}; all must be positive")
    return edges


def within_of(edges: Array | None, cutoff: object, switch: object, skin: object) -> Within:
    """Cut-off, start of switching and skin, checked for a box with these edges or free space."""
    if cutoff is None:
        if edges is not None:
            raise InvalidInput(
                f"a periodic box needs a cut-off; give cutoff of at most half its smallest edge, {edges.min() / 2:g}"
            )
        for name, value in (("switch", switch), ("skin", skin)):
            if value is not None:
                raise InvalidInput(f"{name} is given without cutoff, to which it belongs; leave it out")
        return OPEN
    rc = number(cutoff, "cutoff", positive=True, most=1e100)
    if edges is not None and edges.min() < 2.0 * rc:
        raise InvalidInput(
            f"the smallest edge of the box, {edges.min():g}, is less than twice the cut-off {rc:g}, so that a body "
            f"would meet two images of another; take cutoff={edges.min() / 2:g} or less, or a larger box"
        )
    on = SWITCH * rc if switch is None else number(switch, "switch")
    if not 0.0 <= on < rc:
        raise InvalidInput(f"switch is {on:g}; it must lie between 0 and the cut-off {rc:g}, where the switching ends")
    wide = SKIN * rc if skin is None else number(skin, "skin", most=1e100)
    if wide < 0.0:
        raise InvalidInput(f"skin is {wide:g}; it must not be negative")
    return Within(edges, rc, on, wide)


def _in_cells_alone(r: Array, box: Array | None, width: float) -> bool:
    """Whether no two bodies share a cell of eight grids half a cell apart, as two nearer than half its width do."""
    cells = (np.ptp(r, axis=0) // width if box is None else box // width) + (2.0 if box is None else 0.0)
    if not 1.0 <= cells.min() <= cells.max() < 1e5:
        return False
    at = (r - r.min(axis=0)).T / width if box is None else r.T * (cells / box)[:, None]
    at, first, cells = np.floor(at + 0.5 * np.arange(2.0)[:, None, None]), cells[1] * cells[2], cells[:, None]
    x, y, z = np.moveaxis((at - cells * (at >= cells)) * [[first], cells[2], [1.0]], 1, 0)
    return bool((np.diff(np.sort((x[:, None, None] + y[:, None] + z).reshape(8, -1)), axis=1) > 0.0).all())


def overlapping(sigma: float, box: Array | None) -> Callable[[Any], str]:
    """The ``check`` of a system: a function that names two overlapping bodies of a state, or returns an empty text."""

    def check(y: Array) -> str:
        from scipy.spatial import cKDTree

        r = np.reshape(y[: len(y) // L.BODY * L.BODY], (-1, L.BODY))[:, L.POSITION : L.POSITION + 3]
        if not np.isfinite(r).all():
            return ""
        inside = r
        if box is not None:
            inside = np.mod(r, box)
            inside = np.where(inside < box, inside, 0.0)  # np.mod rounds up just below zero
        if _in_cells_alone(inside, box, 2.001 * OVERLAP * sigma):
            return ""
        tree = cKDTree(inside, boxsize=box)
        if not len(tree.query_pairs(OVERLAP * sigma, output_type="ndarray")):
            return ""
        apart, other = tree.query(inside, k=2)
        i = int(np.argmin(apart[:, 1]))
        if apart[i, 1] >= OVERLAP * sigma:
            return ""
        a, b = sorted((i, int(other[i, 1] if other[i, 1] != i else other[i, 0])))
        return f"bodies {a} and {b} overlap: they are {apart[i, 1]:.3g} apart, and their diameter is {sigma:g}"

    return check


def constants_of(
    mass: Array, moments: Array, frames: Array, dipole: Array, boltzmann: float = 1.0, coulomb: float = 1.0
) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Constants of molecules and units for the trajectory; moments only if the user's axes are principal axes."""
    found: dict[str, tuple[tuple[str, ...], Any]] = {"mass": (("body",), mass), "dipole": (("body", "axis"), dipole)}
    found |= {"boltzmann": ((), boltzmann), "coulomb": ((), coulomb)}
    if (np.abs(frames[:, 0]) == 1.0).all():
        found["inertia"] = (("body", "axis"), moments)
    return found


def thermodynamics(system: Callable[[], System], dipoles: Array | None = None) -> Callable[[Any], Mapping[str, Any]]:
    """The ``quantities`` of the system that a function returns, with the sum of these dipoles (N, 3; user's frames)."""

    inside = cache(lambda: rotation.rotate(rotation.conjugate(system().frames), np.asarray(dipoles)))

    def quantities(body: Array, virials: Array | None = None) -> Mapping[str, Any]:
        own = system()
        n, N = len(body), own.N
        p, q, m = body[:, :, L.MOMENTUM : L.ATTITUDE], body[:, :, L.ATTITUDE : L.ANGULAR], body[:, :, L.ANGULAR :]
        total = np.einsum("nij->nj", p)  # a quarter of the time of numpy's sum along a short axis
        moving = np.einsum("nij,nij->ni", p, p) @ (1.0 / own.mass) - (total * total).sum(axis=1) / own.mass.sum()
        turning = (m * m / own.moments).sum(axis=(1, 2))
        translational, rotational, k = 3.0 * N - 3.0, float(np.isfinite(own.moments).sum()), own.boltzmann
        found = {
            "temperature": (moving + turning) / (k * (translational + rotational)),
            "temperature_translational": moving / (k * translational),
        }
        if rotational:  # of points there is none
            found["temperature_rotational"] = turning / (k * rotational)
        if dipoles is not None:
            found["total_dipole"] = np.einsum("nij->nj", rotation.rotate(q.copy(), inside()))
        if own.box is not None:
            if virials is None:
                virials = np.empty(n)
                own.potential_energies(body.reshape(n, -1), virials=virials)
            found["pressure"] = (moving + virials) / (3.0 * np.prod(own.box))
        return found

    quantities.of_virials = True  # type: ignore[attr-defined]
    return quantities
