"""Initial states: lattices, random attitudes, thermal momenta, a given total energy; and those that messages hold.

    system = ph.gravitating_bodies(mass=np.ones(64))
    state, box = ph.initial.cubic(4, spacing=2.0, noise=0.01, seed=1)
    state |= ph.initial.thermal(system, temperature=0.5, seed=1)
    ds = ph.integrate(system, "rkn6_14a", step=0.01, steps=100, **state)

The functions return mappings with keys of ``polhode.integrate``: ``position`` (N, 3) and ``momentum`` (N, 3) in space,
``attitude`` (N, 4) scalar first, body to space, ``angular_momentum`` (N, 3) in the body frame. Join them with ``|``
(the right one overrides) and pass them on with ``**``.

Random numbers come from ``numpy.random``: the same seed (default 0) gives the same numbers. Each function draws from a
stream of its own, ``default_rng([seed, k])`` with the k given in its description, so that one seed can be used for all
of them and positions, attitudes and momenta are independent. A ``numpy.random.Generator`` is used as it is.

In a scenario the table ``[initial]`` asks for them by recipes, to which ``add_recipe`` adds further ones.

Lengths, energies and temperatures are in the units of the system, whose Boltzmann constant is ``system.boltzmann``.

``tle``, ``omm``, ``oem`` and ``aem`` read two-line elements and messages of the CCSDS; ``.start(...)`` of what they
return is such a mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from polhode.algebra.quaternion import multiply, rotate
from polhode.arguments import NO_WHOLE, UNKNOWN, Array, ArrayLike, array, number, room_for, truth, whole
from polhode.arguments.words import Beside, Cells, Indices, Length, Seed
from polhode.errors import InvalidInput, answering, shown, unknown_name
from polhode.kernel import layout as L
from polhode.kernel.many import write_energies
from polhode.lazy import public_names
from polhode.systems.ephemeris_messages import aem, oem
from polhode.systems.loads_roles import no_loads
from polhode.systems.mean_elements import omm, tle
from polhode.systems.recipes import add_recipe
from polhode.systems.record import System, present_system

__all__ = [
    "Lattice",
    "add_recipe",
    "aem",
    "at_energy",
    "bcc",
    "cubic",
    "fcc",
    "gaussian_draw",
    "oem",
    "omm",
    "random_rotations",
    "thermal",
    "tle",
]
__dir__ = public_names(__all__)

NOISE, ROTATIONS, THERMAL, DIRECTIONS = 1, 2, 3, 4  # numbers of the streams of random numbers
OVERFLOWING = 1e100  # positions and momenta beyond this overflow when they are squared
WIDTHS = {"position": 3, "attitude": 4, "momentum": 3, "angular_momentum": 3}
"""Keys of a state, and how many numbers each has per body."""


class Lattice(NamedTuple):
    """Sites of a lattice.

    Attributes
    ----------
    state : dict
        With the key ``position``, (n, 3).
    box : array (3,)
        Edges of the box in which the lattice is periodic.
    """

    state: dict[str, Any]
    box: Array


# ------------------------------------------------------------------ positions and attitudes
@answering
def gaussian_draw(n: int, seed: int | Generator = 0, scale: float | None = None) -> dict[str, Any]:
    """Bodies at rest at normally distributed positions with random attitudes [celledoni2008, section 3.4].

    With ``g = numpy.random.default_rng(seed)``: first the positions ``scale * g.standard_normal((n, 3))``, then the
    attitudes ``g.standard_normal((n, 4))``, normalised.

    Parameters
    ----------
    n : int
        Number of bodies.
    seed : int or numpy.random.Generator
        Source of the random numbers.
    scale : float, optional
        Standard deviation of a coordinate; n unless given, as in the paper.

    Returns
    -------
    dict
        ``position``, ``attitude``, and ``momentum`` and ``angular_momentum``, which are zero.

    Raises
    ------
    InvalidInput
        ``n`` below 1, a scale that is not positive, an invalid seed.

    Examples
    --------
    >>> state = gaussian_draw(100, seed=1481)
    >>> state["position"].shape, state["attitude"].shape
    ((100, 3), (100, 4))
    """
    n = whole(n, "n", 1)
    room_for(20.0 * n, "n")
    width = float(n) if scale is None else number(scale, "scale", "m", positive=True)
    draws = _stream(seed)
    position = width * draws.standard_normal((n, 3))
    attitude = _unit(draws.standard_normal((n, 4)))
    return {
        "position": position,
        "attitude": attitude,
        "momentum": np.zeros((n, 3)),
        "angular_momentum": np.zeros((n, 3)),
    }


@answering
def random_rotations(n: int, seed: int | Generator = 0) -> dict[str, Any]:
    """Attitudes distributed uniformly over all rotations: normal quaternions, normalised; stream 2.

    Parameters
    ----------
    n : int
        Number of bodies.
    seed : int or numpy.random.Generator
        Source of the random numbers.

    Returns
    -------
    dict
        ``attitude`` (n, 4).

    Raises
    ------
    InvalidInput
        ``n`` below 1, an invalid seed.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.random_rotations(5, seed=7)
    >>> start["attitude"].shape
    (5, 4)
    """
    n = whole(n, "n", 1)
    room_for(20.0 * n, "n")
    return {"attitude": _unit(_stream(seed, ROTATIONS).standard_normal((n, 4)))}


@answering
def cubic(cells: int | Sequence[int], spacing: float = 1.0, noise: float = 0.0, seed: int | Generator = 0) -> Lattice:
    """Simple cubic lattice, one body per cell, at spacing times (1, 1, 1), (1, 1, 2), ... (cells, cells, cells).

    With ``noise``, normal random numbers of that standard deviation (in units of the spacing) are added to every
    coordinate; stream 1. ``cubic(5, noise=0.01, seed=1)`` gives positions as in [celledoni2008, fig. 3.9].

    Parameters
    ----------
    cells : int or 3 ints
        Cells along x, y, z.
    spacing : float
        Edge of a cell.
    noise : float
        Standard deviation over spacing, zero or positive.
    seed : int or numpy.random.Generator
        Source of the noise.

    Returns
    -------
    Lattice
        ``state`` with the key ``position``, and ``box``, cells times spacing. The sites begin one spacing from the
        origin, which makes no difference in a periodic box.

    Raises
    ------
    InvalidInput
        Cells below 1, a spacing that is not positive, negative noise, an invalid seed.

    Examples
    --------
    >>> state, box = cubic(5)
    >>> state["position"][[0, -1]].tolist(), box.tolist()
    ([[1.0, 1.0, 1.0], [5.0, 5.0, 5.0]], [5.0, 5.0, 5.0])
    """
    return _lattice(((0.0, 0.0, 0.0),), cells, spacing, noise, seed)


@answering
def bcc(cells: int | Sequence[int], spacing: float = 1.0, noise: float = 0.0, seed: int | Generator = 0) -> Lattice:
    """Body-centred cubic lattice, two bodies per cell: its corner and its centre. Otherwise as ``cubic``.

    Parameters
    ----------
    cells, spacing, noise, seed
        As for ``cubic``.

    Examples
    --------
    >>> import polhode as ph
    >>> state, box = ph.initial.bcc(3, spacing=1.6)
    >>> state["position"].shape, box
    ((54, 3), array([4.8, 4.8, 4.8]))
    """
    return _lattice(((0.0, 0.0, 0.0), (0.5, 0.5, 0.5)), cells, spacing, noise, seed)


@answering
def fcc(cells: int | Sequence[int], spacing: float = 1.0, noise: float = 0.0, seed: int | Generator = 0) -> Lattice:
    """Face-centred cubic lattice, four bodies per cell: its corner and the centres of three faces.

    Otherwise as ``cubic``. The nearest neighbours are spacing / sqrt(2) apart.

    Parameters
    ----------
    cells, spacing, noise, seed
        As for ``cubic``.

    Examples
    --------
    >>> import polhode as ph
    >>> state, box = ph.initial.fcc((2, 2, 3), spacing=1.6)
    >>> state["position"].shape, box
    ((48, 3), array([3.2, 3.2, 4.8]))
    """
    return _lattice(((0.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0)), cells, spacing, noise, seed)


LATTICES: dict[str, Callable[..., Lattice]] = {made.__name__: made for made in (cubic, bcc, fcc)}
"""The lattices by name."""


def _lattice(sites: Sequence[Sequence[float]], cells: Any, spacing: object, noise: object, seed: object) -> Lattice:
    several = isinstance(cells, list | tuple) or (isinstance(cells, np.ndarray) and cells.ndim)
    if several and len(cells) != 3:
        raise InvalidInput(f"cells must be one whole number, or three of them, not {shown(cells)}")
    counts = [whole(count, "cells", 1) for count in (cells if several else [cells] * 3)]
    room_for(20.0 * len(sites) * prod(counts), "cells")
    edge = number(spacing, "spacing", "m", positive=True, most=OVERFLOWING)
    width = number(noise, "noise", most=OVERFLOWING)
    if width < 0.0:
        raise InvalidInput(f"noise is {width:g}; it must be zero or positive")
    corners = 1.0 + np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 1, 3)
    position = (corners + np.array(sites)).reshape(-1, 3)
    if width > 0.0:
        position += width * _stream(seed, NOISE).standard_normal(position.shape)
    return Lattice({"position": edge * position}, edge * np.array(counts, dtype=float))


# ------------------------------------------------------------------ motion
@answering
def thermal(
    system: System, temperature: float, seed: int | Generator = 0, *, zero_total_momentum: bool = True,
    exact: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Momenta and angular momenta from the Maxwell-Boltzmann distribution.

    Every component of a momentum has the variance m k T, every component of an angular momentum along a principal axis
    the variance I k T. Normal numbers (N, 3) for the momenta, then (N, 3) for the angular momenta; stream 3. Components
    with infinite mass or moment are zero, and so is the rotation of a linear molecule about its axis.

    Parameters
    ----------
    system : System
        The bodies; its ``boltzmann`` is k.
    temperature : float
        T, zero or positive, in the units of k.
    seed : int or numpy.random.Generator
        Source of the random numbers.
    zero_total_momentum : bool
        Subtract the velocity of the centre of mass from all bodies that translate.
    exact : bool
        Scale the momenta and the angular momenta so that sum p^2/m is (3 n - 3) k T, or 3 n k T if the total momentum
        is not zeroed, and sum L^2/I is k T times the number of rotational degrees of freedom.

    Returns
    -------
    dict
        ``momentum`` if bodies translate, ``angular_momentum`` if they rotate.

    Raises
    ------
    InvalidInput
        A negative temperature; ``exact`` with a single body, which has no momentum once the total is zero; an invalid
        seed.

    Examples
    --------
    >>> import polhode as ph
    >>> water = ph.rigid_water(64, density=997.0)
    >>> start = ph.initial.thermal(water, 300.0, seed=1, exact=True)
    >>> energy = 0.5 * (start["momentum"] ** 2).sum() / water.mass[0]
    >>> round(float(2.0 * energy / ((3 * 64 - 3) * water.boltzmann)), 6)
    300.0
    """
    present_system(system, "system", "polhode.dipoles(...)")
    heat = system.boltzmann * number(temperature, "temperature", "K" if system.units == "molecular" else UNKNOWN)
    exact, zero_total_momentum = truth(exact, "exact"), truth(zero_total_momentum, "zero_total_momentum")
    if heat < 0.0:
        raise InvalidInput(f"temperature is {temperature:g}; it must be zero or positive")
    linear, angular = _stream(seed, THERMAL).standard_normal((2, system.N, 3))
    state: dict[str, Any] = {}
    if system.translates:
        mass = _finite(system.mass)[:, None]
        momentum = np.sqrt(mass * heat) * linear
        if zero_total_momentum:
            _stop(momentum, mass)
        if exact and heat > 0.0:
            freedoms = 3 * (np.count_nonzero(mass) - bool(zero_total_momentum))
            if freedoms == 0:
                raise InvalidInput(
                    "no momentum is left to scale to an exact temperature: a single body is at rest when the total "
                    "momentum is zero; give zero_total_momentum=False, or exact=False"
                )
            momentum *= np.sqrt(freedoms * heat / np.sum(momentum**2 * _inverse(mass)))
        state["momentum"] = momentum
    if system.rotates:
        moments = _finite(system.moments)
        inside = np.sqrt(moments * heat) * angular
        if exact and heat > 0.0:
            inside *= np.sqrt(np.count_nonzero(moments) * heat / np.sum(inside**2 * _inverse(moments)))
        state["angular_momentum"] = np.stack(rotate(_columns(system.frames), _columns(inside)), axis=1)
    return state


@answering
def at_energy(
    system: System, state: Mapping[str, Any], energy: float, seed: int | Generator = 0, *,
    bodies: Sequence[int] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The state with linear momenta scaled to a given total energy.

    All momenta are scaled by one factor; if they are zero, they are first drawn from the Maxwell distribution with zero
    total (normal numbers (n, 3) for the n bodies; stream 4). With ``bodies=(0, -1)`` only the first and the last body
    are affected, as in [celledoni2008, section 3.4].

    Parameters
    ----------
    system : System
        Its loads must state a potential, or be zero.
    state : mapping
        ``position``, ``attitude``, ``momentum``, ``angular_momentum``, each for all bodies or one for each; defaults as
        for ``integrate``.
    energy : float
        Total energy at time 0, as in the first row of a trajectory; met to the round-off of its largest term.
    seed : int or numpy.random.Generator
        Source of the random numbers, if momenta are drawn.
    bodies : sequence of int, optional
        Bodies whose momenta may change, by default all. Negative numbers count from the end.

    Returns
    -------
    dict
        The state with the new ``momentum``, (N, 3).

    Raises
    ------
    InvalidInput
        Potential energy plus the kinetic energy that is not scaled exceeds the target; bodies that do not translate, or
        a single one at rest, for which no momentum with zero total can be drawn; loads without potential.

    Examples
    --------
    >>> import polhode as ph
    >>> liquid = ph.dipoles(8, box=4.0, cutoff=2.0)
    >>> state = ph.initial.cubic(2, spacing=2.0).state | ph.initial.random_rotations(8, seed=1)
    >>> start = ph.initial.at_energy(liquid, state, energy=20.0, seed=1)
    >>> ds = ph.integrate(liquid, step=0.001, steps=10, start=start)
    >>> round(float(ds.energy[0]), 6)
    20.0
    """
    present_system(system, "system", "polhode.dipoles(...)")
    target = number(energy, "energy", UNKNOWN if system.units else "J")
    if not isinstance(state, Mapping):
        raise InvalidInput(
            f"state must be a mapping such as polhode.initial.cubic(4).state, not a {type(state).__name__}"
        )
    unknown = [key for key in state if key not in WIDTHS]
    if unknown:
        raise unknown_name("key of a state", unknown[0], WIDTHS)
    N = system.N
    mass, moments = _finite(system.mass)[:, None], _finite(system.moments)
    given = {key: _rows(state[key], key, N, WIDTHS[key]) for key in state}
    momentum = given.get("momentum", np.zeros((N, 3))).copy()
    chosen = _chosen(bodies, mass, system.name)
    potential = _potential(system, given)
    frames = _columns(system.frames) * np.array([[1.0], [-1.0], [-1.0], [-1.0]])
    m = np.stack(rotate(frames, _columns(given.get("angular_momentum", np.zeros((N, 3))))), axis=1)
    moving = momentum**2 * _inverse(mass)
    stays = 0.5 * (np.sum(m**2 * _inverse(moments)) + np.sum(np.delete(moving, chosen, axis=0)))
    left = target - potential - stays
    if left < 0.0:
        kinetic = f" and {stays:.6g} of motion that stays" if stays else ""
        raise InvalidInput(
            f"energy is {target:.6g}, but the state has {potential:.6g} of potential energy{kinetic}, which momenta "
            "cannot lower; ask for more, or move the bodies apart"
        )
    if not momentum[chosen].any() and left > 0.0:
        if len(chosen) < 2:
            raise InvalidInput("one body alone cannot have zero total momentum and move; give it a momentum to scale")
        drawn = np.sqrt(mass[chosen]) * _stream(seed, DIRECTIONS).standard_normal((len(chosen), 3))
        _stop(drawn, mass[chosen])
        momentum[chosen] = drawn
    there = 0.5 * np.sum(momentum[chosen] ** 2 * _inverse(mass[chosen]))
    momentum[chosen] *= np.sqrt(left / there) if left > 0.0 else 0.0
    return {**state, "momentum": momentum}


def _potential(system: System, given: Mapping[str, Any]) -> float:
    """Potential energy of a state at time 0."""
    y = np.zeros(L.BODY * system.N)
    rows = y.reshape(system.N, L.BODY)
    if "position" in given:
        rows[:, L.POSITION : L.POSITION + 3] = given["position"]
    q = given.get("attitude", np.tile([1.0, 0.0, 0.0, 0.0], (system.N, 1)))
    lengths = np.linalg.norm(q, axis=1)
    if (np.abs(lengths - 1.0) > 1e-6).any():
        i = int(np.argmax(np.abs(lengths - 1.0)))
        raise InvalidInput(f"attitude of body {i} has length {lengths[i]:g}; give a unit quaternion (w, x, y, z)")
    principal = multiply(_columns(q / lengths[:, None]), _columns(system.frames))
    rows[:, L.ATTITUDE : L.ATTITUDE + 4] = np.stack(principal, axis=1)
    y = np.concatenate([y, system.auxiliary_at_start(y)])
    potential = system.compiled_potential(0.0, y)
    if potential is None:
        if system.loads is no_loads:
            return 0.0
        raise InvalidInput(f"the loads of {system.name!r} state no potential, so its energy is not known")
    parameters, energy = system.with_memory, np.zeros(1)
    system.set_switches(parameters, 0.0)
    try:
        with np.errstate(all="ignore"):
            write_energies(np.zeros(1), y[None], system.bodies, parameters, potential, energy)
    except ZeroDivisionError:  # in plain Python; compiled loops give infinity
        energy[0] = np.inf
    if not np.isfinite(energy[0]):
        raise InvalidInput("the potential energy of the state is not finite; look for bodies at the same place")
    return float(energy[0])


# ------------------------------------------------------------------ recipes of scenarios
def drawn(
    system: System, draw: Literal["gaussian"], scale: Length | None = None, seed: Seed | None = None
) -> dict[str, Any]:
    """Normally distributed positions and random attitudes.

    Parameters
    ----------
    draw : str
        normal positions and random attitudes
    scale : float, optional
        standard deviation of the draw; default: number of bodies
    seed : int
        of all random numbers; default 0, recorded
    """
    state = gaussian_draw(system.N, seed or 0, scale)
    return {name: state[name] for name in ("position", "attitude") if name == "position" or system.rotates}


def on_lattice(
    system: System, lattice: Literal["cubic", "bcc", "fcc"], cells: Cells | None = None, spacing: Length | None = None,
    noise: float | None = None, seed: Annotated[Seed | None, Beside(("noise",))] = None,
) -> dict[str, Any]:  # fmt: skip
    """Positions on a lattice that holds all bodies of the system and fits into its box.

    Parameters
    ----------
    lattice : str
        of positions
    cells : int or 3 ints, optional
        of the lattice, along x, y, z; as many as hold all bodies unless given
    spacing : float, optional
        edge of a cell; default: the largest that fits the box, else 1
    noise : float, optional
        standard deviation of sites, in units of the spacing
    seed : int
        of all random numbers; default 0, recorded
    """
    make = LATTICES[lattice]
    cell = len(make(1).state["position"])
    most = round((system.N / cell) ** (1.0 / 3.0)) or 1 if cells is None else cells
    along = [most] * 3 if isinstance(most, int) else list(most)
    sites = cell * prod(along)
    if sites != system.N and min(along) > 0:
        what, fits = f"cells is {most!r}: this", ""
        if cells is None:
            cubes = [cell * k**3 for k in range(1, most + 2)]
            below, above = [n for n in cubes if n < system.N][-1:], [n for n in cubes if n > system.N][:1]
            what, fits = "cells is missing: a", f"; cubes of it hold {' or '.join(map(str, below + above))}"
        raise InvalidInput(
            f"{what} {lattice} lattice of {most!r} cells has {sites} sites, but the system has {system.N} bodies{fits}"
        )
    if spacing is None:
        spacing = 1.0 if system.box is None else float(np.min(np.asarray(system.box) / make(most).box))
    made, box = make(most, spacing, noise or 0.0, seed or 0)
    if system.box is not None and (box > np.asarray(system.box) * (1.0 + 1e-9)).any():
        edges = " x ".join(f"{edge:g}" for edge in box)
        largest = float(np.min(np.asarray(system.box) / (box / spacing)))
        raise InvalidInput(
            f"spacing is {spacing:g}: the lattice fills {edges}, more than the box of the system, so that bodies would "
            f"overlap; the largest that fits is {largest:.9g}"
        )
    return made


def turned_at_random(system: System, rotations: Literal["random"], seed: Seed | None = None) -> dict[str, Any]:
    """Attitudes uniform over all rotations.

    Parameters
    ----------
    rotations : str
        attitudes uniform over all rotations
    seed : int
        of all random numbers; default 0, recorded
    """
    return random_rotations(system.N, seed or 0)


def at_temperature(
    system: System, temperature: float, zero_total_momentum: bool | None = None, exact_temperature: bool | None = None,
    seed: Seed | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Momenta and angular momenta from the Maxwell-Boltzmann distribution.

    Parameters
    ----------
    temperature : float
        of momenta and angular momenta from the Maxwell-Boltzmann distribution
    zero_total_momentum : bool
        with temperature; default true
    exact_temperature : bool
        scale momenta to the temperature; default false
    seed : int
        of all random numbers; default 0, recorded
    """
    zero = zero_total_momentum is not False
    return thermal(system, temperature, seed or 0, zero_total_momentum=zero, exact=bool(exact_temperature))


def scaled_to_energy(
    system: System, state: Mapping[str, Any], energy: float, energy_bodies: Indices | None = None,
    seed: Seed | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Momenta scaled to a total energy.

    Parameters
    ----------
    energy : float
        total energy, reached by scaling momenta
    energy_bodies : sequence of int, optional
        whose momenta make up the energy, counted from 0; default: all
    seed : int
        of all random numbers; default 0, recorded
    """
    return at_energy(system, state, energy, seed or 0, bodies=energy_bodies)


add_recipe(drawn, sets=("position", "attitude"))
add_recipe(on_lattice, sets=("position",))
add_recipe(turned_at_random, sets=("attitude",))
add_recipe(at_temperature, sets=("momentum", "angular_momentum"))
add_recipe(scaled_to_energy)


# ------------------------------------------------------------------ helpers
def _stream(seed: object, stream: int | None = None) -> Generator:
    """Random generator of a seed; streams with the same seed are independent."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, NO_WHOLE) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed must be a whole number, zero or positive, or a numpy Generator, not {shown(seed)}")
    return np.random.default_rng(int(seed) if stream is None else [int(seed), stream])


def _unit(rows: Array) -> Array:
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def _finite(inertia: ArrayLike) -> Array:
    """Masses or moments, with the infinite ones (fixed degrees of freedom) replaced by zero."""
    array = np.asarray(inertia, dtype=float)
    return np.where(np.isfinite(array), array, 0.0)


def _inverse(inertia: Array) -> Array:
    """Inverse masses or moments; zero stays zero."""
    return np.divide(1.0, inertia, out=np.zeros_like(inertia), where=inertia > 0.0)


def _columns(rows: Array) -> Array:
    """Rows transposed to columns, as kernels on tuples take them."""
    return np.ascontiguousarray(np.asarray(rows, dtype=float).T)


def _stop(momentum: Array, mass: Array) -> None:
    """Remove the velocity of the centre of mass from momenta (n, 3) of masses (n, 1), in place."""
    for _ in range(2):  # the second pass removes the round-off of the first
        momentum -= mass / mass.sum() * momentum.sum(axis=0)


def _chosen(bodies: Sequence[int] | None, mass: Array, name: str) -> np.ndarray:
    """Indices of the bodies whose momenta may change."""
    free = np.flatnonzero(mass[:, 0])
    if not free.size:
        raise InvalidInput(f"the bodies of {name!r} do not move through space, so momenta cannot change their energy")
    if bodies is None:
        return free
    array(bodies, "bodies")
    N, numbers = len(mass), np.atleast_1d(np.asarray(bodies))
    if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "iu":
        raise InvalidInput(f"bodies must be a sequence of whole numbers, not {shown(bodies)}")
    outside = (numbers < -N) | (numbers >= N)
    if outside.any():
        raise InvalidInput(f"bodies has {numbers[outside][0]}, but there are {N} bodies, counted from 0")
    counted = np.unique(numbers % N)
    if not np.isin(counted, free).all():
        pinned = counted[~np.isin(counted, free)][0]
        raise InvalidInput(f"bodies has {pinned}, but that body does not move through space")
    return counted


STATE_UNITS = {"position": "m", "attitude": "", "momentum": "kg * m / s", "angular_momentum": "kg * m**2 / s"}
"""SI units of the entries of a state."""


def _rows(value: object, name: str, N: int, width: int) -> Array:
    """An array (N, width) from one row for all bodies or one for each."""
    given = array(value, name, STATE_UNITS[name])
    if given.shape not in ((width,), (N, width)):
        raise InvalidInput(f"{name} must be {width} numbers for each of {N} bodies, but has shape {given.shape}")
    if given.size and np.abs(given).max() > OVERFLOWING:
        raise InvalidInput(f"{name} has entries beyond {OVERFLOWING:g}; check its units")
    return np.broadcast_to(given, (N, width))
