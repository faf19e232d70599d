"""The compiled sum over the forces of a system: a template for each evaluation, bound to the kinds of force it has.

Layout of the parameters: mu; number of rows; number of works; index of the system's own parameters; the rows, one per
force; the numbers of the forces; the burns; the system's own parameters. A row is: number of its kind, index of its
numbers, the part of the loads it belongs to, index of the auxiliary variable that is its work or -1, and index of the
burns if its acceleration depends on the falling mass, else 0.

A kind is what forces with the same functions have in common; its number is its place in the tuple that ``kinds_of``
makes of a list of forces, and that the functions here are bound to. So forces of one kind share their code, and a list
with other values or another number of them is the same kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.so3 import add, dot, scale
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.jit import bind, helper, hole
from polhode.systems.forces.record import Force, is_own

MU, COUNT, WORKS, OWN, ROWS, ROW = 0, 1, 2, 3, 4, 5

pull = hole("pull(p, at, mu, t, r, v) -> vector", "The acceleration by forces of one kind.")
pulls = hole("pulls(kind, p, at, mu, t, r, v) -> vector", "The acceleration by a force of one of several kinds.")
depth = hole("depth(p, at, mu, t, r) -> float", "The potential of forces of one kind, or its rate.")
depths = hole("depths(kind, p, at, mu, t, r) -> float", "The potential of a force of one of several kinds.")
further = hole("further(p, t, r) -> float", "The sum of the potentials without the centre's.")
rates = hole("rates(kind, p, at, mu, t, r) -> float", "The time derivative of such a potential.")


# ------------------------------------------------------------------ one force
def no_pull(kind, p, at, mu, t, r, v):
    """Of a system without forces, whose rows are never read."""
    return (np.nan, np.nan, np.nan)


def only_pull(kind, p, at, mu, t, r, v):
    """Acceleration by a force of the one kind that is left, as floats."""
    a = pull(p, at, mu, t, r, v)
    return (float(a[0]), float(a[1]), float(a[2]))


def either_pull(kind, p, at, mu, t, r, v):
    """Acceleration by a force of the first kind, or of one of the rest."""
    if kind == 0:
        a = pull(p, at, mu, t, r, v)
        return (float(a[0]), float(a[1]), float(a[2]))
    return pulls(kind - 1, p, at, mu, t, r, v)


def no_depth(kind, p, at, mu, t, r):
    """Of a system without potentials of forces, whose rows are never read."""
    return np.nan


def only_depth(kind, p, at, mu, t, r):
    """Potential of a force of the one kind that is left, or its rate."""
    return float(depth(p, at, mu, t, r))


def either_depth(kind, p, at, mu, t, r):
    """Potential of a force of the first kind, or of one of the rest; or its rate."""
    if kind == 0:
        return float(depth(p, at, mu, t, r))
    return depths(kind - 1, p, at, mu, t, r)


def pulls_of(functions: Sequence[Any]) -> Any:
    """The function of the number of a kind that calls the acceleration with this number."""
    if not functions:
        return no_pull
    made = bind(only_pull, pull=functions[-1])
    for function in functions[-2::-1]:
        made = bind(either_pull, pull=function, pulls=made)
    return made


def depths_of(functions: Sequence[Any]) -> Any:
    """Likewise for potentials, or their rates."""
    if not functions:
        return no_depth
    made = bind(only_depth, depth=functions[-1])
    for function in functions[-2::-1]:
        made = bind(either_depth, depth=function, depths=made)
    return made


# ------------------------------------------------------------------ all forces of a system
@helper
def mass_share(p, at, t):
    """Mass at time t over the mass before all burns; rows of begin, end and fraction used per unit time."""
    share = 1.0
    for k in range(int(p[at])):
        begin, end = p[at + 1 + 3 * k], p[at + 2 + 3 * k]
        share -= (min(max(t, begin), end) - begin) * p[at + 3 + 3 * k]
    return share


def acceleration(part, p, t, r, v, mass, out, work_at):
    """Acceleration of a point by the centre and the forces of the table, or by the requested parts of them.

    Adds to ``out[work_at:]`` the rates of work on the mass: the power of a force, or the partial time derivative of a
    potential.
    """
    mu = p[MU]
    a = (0.0, 0.0, 0.0)
    if part & L.ATTRACTION != 0:
        square = dot(r, r)
        a = scale(-mu / (square * np.sqrt(square)), r)
    for k in range(int(p[COUNT])):
        row = ROWS + ROW * k
        kind, at, belongs = int(p[row]), int(p[row + 1]), int(p[row + 2])
        auxiliary, burns = int(p[row + 3]), int(p[row + 4])
        requested = part & belongs != 0
        working = auxiliary >= 0 and part & (L.POTENTIAL_PART if belongs == L.POTENTIAL_PART else L.MOVING) != 0
        if requested or (working and belongs == L.RESTING):
            b = pulls(kind, p, at, mu, t, r, v)
            if burns > 0:
                b = scale(1.0 / mass_share(p, burns, t), b)
            if requested:
                a = add(a, b)
            if working:
                rate = rates(kind, p, at, mu, t, r) if belongs == L.POTENTIAL_PART else dot(b, v)
                out[work_at + auxiliary] += mass * rate
    return a


def beyond(p, t, r):
    """Potential per unit mass of the forces that have one."""
    mu = p[MU]
    total = 0.0
    for k in range(int(p[COUNT])):
        row = ROWS + ROW * k
        if p[row + 2] == L.POTENTIAL_PART:
            total += depths(int(p[row]), p, int(p[row + 1]), mu, t, r)
    return total


def level(p, t, r):
    """Potential per unit mass of the centre and of the forces that have one."""
    return further(p, t, r) - p[MU] / np.sqrt(dot(r, r))


# ------------------------------------------------------------------ kinds
class Kind(NamedTuple):
    """What forces of one kind have in common: their functions, equal where they compile to the same code."""

    acceleration: jit.Made
    potential: jit.Made | None
    potential_rate: jit.Made | None

    @classmethod
    def of(cls, force: Force) -> Kind:
        return cls(*(None if one is None else _key(one) for one in force.compiled))  # type: ignore[arg-type]


def _key(function: Any) -> jit.Made:
    """A function as a key; of one that may read what changes, as it is at present."""
    return _made_once(function) if is_own(function) and function.__closure__ is None else jit.Made(function)


_made_once = lru_cache(jit.KEPT_KERNELS)(jit.Made)


@lru_cache(jit.KEPT_KERNELS)
def rank(kind: Kind) -> Any:
    """Sorts kinds, the same in every process: with a rate, with a potential, without; then by name and code."""
    function = kind.acceleration.function
    return (
        kind.potential_rate is None, kind.potential is None, function.__module__, function.__qualname__,
        *(jit.fingerprint(one.function) if one is not None else "" for one in kind),
    )  # fmt: skip


def kinds_of(forces: Sequence[Force]) -> tuple[Kind, ...]:
    """The kinds of these forces, each once, in an order that does not depend on theirs."""
    return tuple(sorted({Kind.of(force) for force in forces if force.impulse is None}, key=rank))


@lru_cache(jit.KEPT_KERNELS)
def sums(kinds: tuple[Kind, ...]) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """``acceleration``, ``level`` and ``beyond`` for forces of these kinds."""
    accelerations = [kind.acceleration.function for kind in kinds]
    potentials = [kind.potential.function for kind in kinds if kind.potential is not None]
    slopes = [kind.potential_rate.function for kind in kinds if kind.potential_rate is not None]
    deep = bind(beyond, depths=depths_of(potentials))
    return bind(acceleration, pulls=pulls_of(accelerations), rates=depths_of(slopes)), bind(level, further=deep), deep


ACCELERATION = "acceleration(part, p, t, r, v, mass, out, work_at) -> vector"
LEVEL = "level(p, t, r) -> float"
"""Holes of such roles."""
