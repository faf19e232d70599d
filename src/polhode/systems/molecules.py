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
from math import floor, inf
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.quaternion import rotate
from polhode.algebra.so3 import add, axpy, dot
from polhode.arguments import UNKNOWN, Array, ArrayLike, array, number, of_each, room_for, vector, whole
from polhode.errors import InvalidInput
from polhode.kernel import jit, layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import inlined, pointer
from polhode.kernel.pairs import around, cell_along, cells_along
from polhode.kernel.signatures import A1, A2, I1, f8, i8, void
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


@inlined
def cells_within(x, low, size, n, periodic, near):
    """The cell along an edge of a coordinate, and the first and the last one, maybe beyond the ends, as near to it."""
    u, reach = (x - low) / size, near / size
    if periodic:
        u = min(max(u - floor(u), 0.0), 1.0)  # rounding, where it is far away
    return cell_along(u, n), floor((u - reach) * n), floor((u + reach) * n)


@jit.loop(i8(A1, i8, A1, f8, i8, I1, I1))
def closest(state, N, box, near, most, heads, before):
    """Of two bodies i < j that are nearer than ``near``, the closest ones of all, N i + j; -1 where there are none, or
    a position is not finite. ``heads``: the last body of each cell, at most ``most`` along an edge; ``before``: of each
    body the one before it there."""
    y, edges, low, high = pointer(state), get3(pointer(box), 0), (inf, inf, inf), (-inf, -inf, -inf)
    for i in range(N):
        r = get3(y, L.BODY * i + L.POSITION)
        if not abs(r[0]) + abs(r[1]) + abs(r[2]) < inf:
            return -1
        low = (min(low[0], r[0]), min(low[1], r[1]), min(low[2], r[2]))
        high = (max(high[0], r[0]), max(high[1], r[1]), max(high[2], r[2]))
    periodic, width, reach, least, found = edges[0] > 0.0, 1.001 * near, 1.0001 * near, near * near, -1
    if periodic:
        low, high = (0.0, 0.0, 0.0), edges
    size = (max(high[0] - low[0], width), max(high[1] - low[1], width), max(high[2] - low[2], width))
    n = (
        cells_along(size[0], width, most, False),
        cells_along(size[1], width, most, False),
        cells_along(size[2], width, most, False),
    )
    for k in range(n[0] * n[1] * n[2]):
        heads[k] = -1
    for i in range(N):
        r = get3(y, L.BODY * i + L.POSITION)
        x, x0, x1 = cells_within(r[0], low[0], size[0], n[0], periodic, reach)
        y0, first_y, last_y = cells_within(r[1], low[1], size[1], n[1], periodic, reach)
        z0, first_z, last_z = cells_within(r[2], low[2], size[2], n[2], periodic, reach)
        for kx in range(x0, x1 + 1):
            ax = around(kx, n[0], periodic)
            for ky in range(first_y, last_y + 1):
                ay = around(ky, n[1], periodic)
                for kz in range(first_z, last_z + 1):
                    az = around(kz, n[2], periodic)
                    j = heads[(ax * n[1] + ay) * n[2] + az] if ax >= 0 and ay >= 0 and az >= 0 else -1
                    while j >= 0:
                        d = axpy(-1.0, get3(y, L.BODY * j + L.POSITION), r)
                        if periodic:
                            d = (
                                d[0] - edges[0] * floor(d[0] / edges[0] + 0.5),
                                d[1] - edges[1] * floor(d[1] / edges[1] + 0.5),
                                d[2] - edges[2] * floor(d[2] / edges[2] + 0.5),
                            )
                        if dot(d, d) < least:
                            least, found = dot(d, d), N * j + i
                        j = before[j]
        if least == 0.0:
            return found
        at = (x * n[1] + y0) * n[2] + z0
        before[i], heads[at] = heads[at], i
    return found


def overlapping(sigma: float, box: Array | None) -> Callable[[Any], str]:
    """The ``check`` of a system: a function that names two overlapping bodies of a state, or returns an empty text."""
    edges = np.zeros(3) if box is None else box

    def check(y: Array) -> str:
        N = len(y) // L.BODY
        most = int(np.ceil(N ** (1.0 / 3.0)))
        found = closest(y, N, edges, OVERLAP * sigma, most, np.empty(most**3, np.int64), np.empty(N, np.int64))
        if found < 0:
            return ""
        a, b = divmod(found, N)
        d = y[L.BODY * b : L.BODY * b + 3] - y[L.BODY * a : L.BODY * a + 3]
        d -= edges * np.rint(d / np.where(edges, edges, 1.0))
        return f"bodies {a} and {b} overlap: they are {np.linalg.norm(d):.3g} apart, and their diameter is {sigma:g}"

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


@jit.loop(void(A2, A1, A2, A2, A2))
def sums_of_rows(rows, mass, moments, dipoles, sums):
    """Write of each row the sum of p^2 / m less that of the motion as a whole, of the squares of the angular momenta
    over the moments of inertia, and of the dipoles (principal frames; of one body where there are none) in space."""
    for k in range(rows.shape[0]):
        y, whole, total, ends, moving, turning = pointer(rows[k]), 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0
        for i in range(mass.size):
            p, m, inertia = (
                get3(y, L.BODY * i + L.MOMENTUM),
                get3(y, L.BODY * i + L.ANGULAR),
                get3(pointer(moments[i]), 0),
            )
            whole, total, moving = whole + mass[i], add(total, p), moving + dot(p, p) / mass[i]
            turning += m[0] * m[0] / inertia[0] + m[1] * m[1] / inertia[1] + m[2] * m[2] / inertia[2]
            if i < dipoles.shape[0]:
                ends = add(ends, rotate(get4(y, L.BODY * i + L.ATTITUDE), get3(pointer(dipoles[i]), 0)))
        sums[k, 0], sums[k, 1] = moving - dot(total, total) / whole, turning
        put3(pointer(sums[k]), 2, ends)


def thermodynamics(system: Callable[[], System], dipoles: Array | None = None) -> Callable[[Any], Mapping[str, Any]]:
    """The ``quantities`` of the system that a function returns, with the sum of these dipoles (N, 3; user's frames)."""

    inside = cache(lambda: rotation.rotate(rotation.conjugate(system().frames), np.asarray(dipoles)))

    def quantities(body: Array, virials: Array | None = None) -> Mapping[str, Any]:
        own = system()
        n, N, sums = len(body), own.N, np.empty((len(body), 5))
        rows, turned = np.ascontiguousarray(body.reshape(n, -1)), np.empty((0, 3)) if dipoles is None else inside()
        sums_of_rows(rows, own.for_kernels[0][0], own.for_kernels[1][0], turned, sums)
        moving, turning = sums[:, 0], sums[:, 1]
        translational, rotational, k = 3.0 * N - 3.0, float(np.isfinite(own.moments).sum()), own.boltzmann
        found = {
            "temperature": (moving + turning) / (k * (translational + rotational)),
            "temperature_translational": moving / (k * translational),
        }
        if rotational:  # of points there is none
            found["temperature_rotational"] = turning / (k * rotational)
        if dipoles is not None:
            found["total_dipole"] = sums[:, 2:].copy()
        if own.box is not None:
            if virials is None:
                virials = np.empty(n)
                own.potential_energies(rows, virials=virials)
            found["pressure"] = (moving + virials) / (3.0 * np.prod(own.box))
        return found

    quantities.of_virials = True  # type: ignore[attr-defined]
    return quantities
