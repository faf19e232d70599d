"""Forces of ``polhode.forces`` as loads of a sum: their functions read by their numbers, times the mass of the body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from polhode.arguments import array, number
from polhode.errors import InvalidInput, shown
from polhode.kernel import jit
from polhode.kernel.jit import helper, hole
from polhode.loads import Load
from polhode.loads.harmonics import still as unmoved
from polhode.loads.harmonics import turning
from polhode.loads.impulse import nothing
from polhode.programs.memory import MOST_TERMS
from polhode.programs.opaque import CALLED, Opaque
from polhode.surroundings.harmonics import DEGREE, gravity_field_potential
from polhode.surroundings.planets import ALIKE
from polhode.surroundings.surrounding import Table
from polhode.systems.forces import FORCES, force_of
from polhode.systems.forces.record import Force, is_own
from polhode.systems.user.traced import traced


@lru_cache(jit.KEPT_KERNELS)
def by_functions(acceleration: Callable[..., Any], potential: Any, rate: Any, moving: bool) -> Callable[..., Any]:
    """The function of a load with this acceleration, perhaps that of this potential per unit mass and of its rate in
    time; without ``moving`` it does not depend on the velocity."""

    def acting(body, t, numbers, mu):
        r, v = tuple(body.position), tuple(body.velocity) if moving else (0.0, 0.0, 0.0)
        a = acceleration(numbers.p, numbers.at, mu, t, r, v)
        force = {"force": [body.mass * x for x in a]}
        if potential is None:
            return force
        level = {"potential": body.mass * potential(numbers.p, numbers.at, mu, t, r)}
        change = {"potential_rate": body.mass * rate(numbers.p, numbers.at, mu, t, r)} if rate is not None else {}
        return force | level | change

    return acting


@lru_cache(jit.KEPT_KERNELS)
def of_falling_mass(acceleration: Callable[..., Any]) -> Callable[..., Any]:
    """The same where the mass falls: by the share of it that is left."""

    def acting(body, t, numbers, mu, burns):
        a = acceleration(numbers.p, numbers.at, mu, t, tuple(body.position), tuple(body.velocity))
        left = 1.0
        for k in range(len(burns) // 3):
            begin, end, used = burns[3 * k], burns[3 * k + 1], burns[3 * k + 2]
            left = left - (min(max(t, begin), end) - begin) * used
        return {"force": [body.mass / left * x for x in a]}

    return acting


# ------------------------------------------------------------------ what cannot be traced
pull = hole("pull(p, at, mu, t, r, v) -> vector", "The acceleration.")
depth = hole("depth(p, at, mu, t, r) -> float", "The potential.")
rate = hole("rate(p, at, mu, t, r) -> float", "Its partial time derivative.")


def pulled(p, at, t, r, v, mu):
    """The acceleration, as floats."""
    a = pull(p, at, mu, t, r, v)
    return (float(a[0]), float(a[1]), float(a[2]))


def level(p, at, t, r, mu):
    """The potential."""
    return float(depth(p, at, mu, t, r))


def slopes(p, at, t, r, mu):
    """The derivatives of the potential by the time and by the coordinates."""
    a = pull(p, at, mu, t, r, (0.0, 0.0, 0.0))
    return (float(rate(p, at, mu, t, r)), -float(a[0]), -float(a[1]), -float(a[2]))


def still(p, at, mu, t, r):
    """The rate of a potential that does not read the time."""
    return 0.0


def called(force: Force) -> Opaque:
    """A force that is called as it is: its acceleration, or its potential with that as its derivative."""
    acceleration, potential, change = force.compiled
    name = f"force_{jit.fingerprint((acceleration, potential, change))}"
    if name in CALLED:
        return CALLED[name]
    words = f"force {force.kind!r}"
    if potential is None:
        return Opaque(helper(jit.bind(pulled, pull=acceleration)), 3, words, name=name, takes=(0, 3, 3, 0))
    sloping = helper(jit.bind(slopes, pull=acceleration, rate=change or still))
    derivative = Opaque(sloping, 4, words, name=f"{name}_slopes", takes=(0, 3, 0))
    return Opaque(helper(jit.bind(level, depth=potential)), 1, words, derivative, name=name, takes=(0, 3, 0))


@lru_cache(jit.KEPT_KERNELS)
def by_call(kernel: Opaque, conservative: bool, moving: bool) -> Callable[..., Any]:
    """The function of a load with a force that is called as it is."""

    def acting(body, t, numbers, mu):
        if conservative:
            return body.mass * kernel(numbers, t, body.position, mu)
        v = body.velocity if moving else (0.0, 0.0, 0.0)
        return {"force": body.mass * kernel(numbers, t, body.position, v, mu)}

    return acting


def is_traceable(force: Force) -> bool:
    """Whether the functions of a force of the user's are programs."""
    changing = frozenset({one.index for one in force.switches} | {one.flag for one in force.watches if one.flag >= 0})
    inputs = (("p", range(len(force.numbers))), ("at", None), ("mu", 0), ("t", 0), ("r", 3))
    for function, more, shape, what in (
        (force.compiled[0], (("v", 3),), (3,), "acceleration"), (force.compiled[1], (), (), "potential"),
    ):  # fmt: skip
        if function is not None:
            found = traced(jit.Made(function), (*inputs, *more), shape, what, force.numbers, changing)
            if found.program is None:
                return False
    return True


def loads_of(forces: Sequence[Force], mass: float, burns: Sequence[tuple[float, float, float]]) -> list[Load]:
    """Loads of these forces on every body, about a centre, of a body that may burn some of its mass."""
    found = list[Load]()
    kinds = [force.kind for force in forces]
    for k, force in enumerate(forces):
        label = f"{force.kind} {kinds[:k].count(force.kind) + 1}" if kinds.count(force.kind) > 1 else force.kind
        what = f"forces[{k}], {force.description}"
        if force.impulse is not None:
            found.append(Load(nothing, label, kind="impulse", impulse=replace(force.impulse, what=what)))
            continue
        falls = bool(burns) and (force.surface or force.flow > 0.0)
        numbers = (force.numbers[0] / mass, *force.numbers[1:]) if force.flow > 0.0 else force.numbers
        given: dict[str, Any] = {"numbers": Table(numbers)}
        acceleration, potential, rate = force.compiled
        shipped = all(is_own(one) for one in force.compiled if one is not None)
        moving = bool(force.velocity_dependent)
        if falls:
            act = of_falling_mass(acceleration)
            given["burns"] = np.array([x for burn in burns for x in burn])
        elif potential is gravity_field_potential and force.numbers[DEGREE] > MOST_TERMS:
            act = unmoved if force.autonomous else turning
        elif not shipped and not is_traceable(force):
            act = by_call(called(force), force.conservative, moving)
        else:
            act = by_functions(acceleration, potential if force.conservative else None, rate, moving)
        found.append(Load(
            act, label, given, kind="force" if shipped else "",
            flagged=tuple(replace(one, what=what) for one in force.switches), watches=force.watches,
        ))  # fmt: skip
    return found


# ------------------------------------------------------------------ burning mass
def burns_of(forces: Sequence[Force], mu: float, mass: Any) -> list[tuple[float, float, float]]:
    """Begin, end and fraction of the mass used per unit time, of every burn of the one body."""
    if len(mass) > 1 and any(force.flow > 0.0 for force in forces):
        raise InvalidInput(
            "thrust that uses up mass is that of one body; build a system for each of them, or give acceleration"
        )
    for k, force in enumerate(forces):
        if force.centre and abs(mu / force.centre - 1.0) > ALIKE:
            raise InvalidInput(
                f"forces[{k}] is the {force.description}, of a centre with the gravity parameter {force.centre:.6g}, "
                f"but mu is {mu:.6g}; give the field of this centre, or its mu"
            )
    if len(mass) > 1 and any(force.watches for force in forces):
        raise InvalidInput(
            f"a shadow is met by one body at a time, but there are {len(mass)}; build a system for each of them"
        )
    first = float(mass[0])
    burns = [(on.start, on.stop, force.flow / first) for force in forces if force.flow > 0.0 for on in force.switches]
    used = sum((end - begin) * share for begin, end, share in burns)
    if not used < 1.0:
        raise InvalidInput(
            f"the burns would use up a mass of {used * first:g}, but mass is {first:g}; let them end sooner, or give a "
            "smaller force or a larger mass"
        )
    return burns


def mass_at(mass: Any, burns: Sequence[tuple[float, float, float]]) -> Callable[[Any], Any] | None:
    """Mass at times (n,), of shape (n, 1); None where none is burnt."""
    return partial(_mass_at, float(mass[0]), burns) if burns else None


def _mass_at(mass: float, burns: Sequence[tuple[float, float, float]], t: Any) -> Any:
    t = np.asarray(t, dtype=float)
    used = sum((np.clip(t, begin, end) - begin) * share for begin, end, share in burns)
    return (mass * (1.0 - used))[:, None]


# ------------------------------------------------------------------ arguments of systems
def masses_of(mass: Any) -> Any:
    """One mass or several as an array (N,)."""
    given = array(mass, "mass", "kg")
    if given.ndim > 1 or not given.size:
        raise InvalidInput(f"mass must be one number or a flat sequence of them, but has shape {given.shape}")
    if not given.ndim:
        return np.array([number(float(given), "mass", positive=True)])
    return np.array([number(float(m), f"mass[{i}]", positive=True) for i, m in enumerate(given)])


def forces_of(forces: Any) -> list[Force]:
    """The forces as records; errors name the force by its number."""
    if isinstance(forces, Force):
        return [forces]
    if not isinstance(forces, Sequence) or isinstance(forces, str):
        raise InvalidInput(f"forces must be a list of what polhode.forces makes, not {shown(forces)}")
    made = []
    for k, force in enumerate(forces):
        try:
            made.append(force_of(force))
            made[-1].tried()
            _check_kind(made[-1])
        except InvalidInput as refused:
            raise InvalidInput(f"forces[{k}]: {refused}") from None
    return made


def _check_kind(force: Force) -> None:
    """Refuse a force of one's own under the name of another kind, which a file of a run would be read as."""
    functions = (force.acceleration, force.potential, force.potential_rate)
    if all(one is None or is_own(one) for one in functions) or force.kind not in FORCES:
        return
    if force_of(force.arguments).made != force.made:
        raise InvalidInput(f"force {force.kind!r} has other functions than polhode.forces.{force.kind} gives it; "
                           "change its kind")  # fmt: skip
