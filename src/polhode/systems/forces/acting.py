r"""Forces of ``polhode.forces`` as loads of a sum: their functions read by their numbers, times the mass of the body;
and their gravity gradient on a rigid body, of those with a potential, such as harmonics of a field or third bodies.

To second order in its size a body feels the potential as six points would, two on each principal axis e_k of its
inertia I, at a distance h from the centre of mass on either side, with the potential phi of a unit mass:

    V = -1/2 sum I_k (e_k . grad)^2 phi  =  -sum I_k / (2 h^2) (phi(r + h e_k) + phi(r - h e_k) - 2 phi(r))

where phi has no sources, so that a sphere feels nothing and the third axis may be left out. Force and torque are those
on the points, the exact gradient of the second form. With h a ten-thousandth of the distance both forms differ by
(n h / r)^2 / 12 for harmonics of degree n, 3e-7 for 20, of a part that is itself a thousandth of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.quaternion import to_matrix
from polhode.arguments import Array, ArrayLike, array, number
from polhode.arguments.recorded import each_made
from polhode.bodies.inertia import Principal
from polhode.errors import InvalidInput
from polhode.kernel import jit
from polhode.kernel.jit import helper, hole
from polhode.loads import Load
from polhode.loads.load import around
from polhode.loads.thrust import left, lightened, nothing
from polhode.programs.attitude import matrix_of
from polhode.programs.opaque import CALLED, Opaque
from polhode.surroundings.planets import ALIKE
from polhode.surroundings.surrounding import Table
from polhode.systems.forces import FORCES, force_of
from polhode.systems.forces.record import ARGUMENTS, Force


@lru_cache(jit.KEPT_KERNELS)
def by_functions(acceleration: Any, potential: Any, rate: Any, moving: bool, still: bool) -> Callable[..., Any]:
    """The function of a load with these of a force, at rest unless ``moving``, and at time 0 if ``still``."""

    def acting(body, t, numbers, mu, burns=None):
        def value(one, *given):
            at = (numbers,) if isinstance(one, Opaque) else (numbers.p, numbers.at)
            return one(*at, mu, 0.0 if still else t, tuple(body.position), *given)

        mass, found = lightened(body, t, burns), {}
        if potential is not None:
            found["potential"] = mass * value(potential)
        if rate is not None:
            found["potential_rate"] = mass * value(rate)
        if acceleration is not None:
            v = tuple(body.velocity) if moving else (0.0, 0.0, 0.0)
            found["force"] = mass * np.array(value(acceleration, v))
        return found

    return acting


pull = hole("pull(p, at, mu, t, r, v) -> vector", "The acceleration.")
rate = hole("rate(p, at, mu, t, r) -> float", "Partial time derivative of the potential.")


def slopes(p, at, mu, t, r):
    """The derivatives of the potential, but that by mu, which nobody asks for."""
    a = pull(p, at, mu, t, r, (0.0, 0.0, 0.0))
    return (0.0, float(rate(p, at, mu, t, r)), -float(a[0]), -float(a[1]), -float(a[2]))


def steady(p, at, mu, t, r):
    """The rate of a potential that does not read the time."""
    return 0.0


def called(acceleration: Any, potential: Any, change: Any, words: str) -> tuple[Any, Any, Any]:
    """The functions of a force that is called as it is: its acceleration, or its potential with that as derivative."""
    name = f"force_{jit.fingerprint((acceleration, potential, change))}"
    if name not in CALLED and potential is None:
        Opaque(helper(acceleration), 3, words, name=name, takes=(0, 0, 3, 3))
    elif name not in CALLED:
        sloping = helper(jit.bind(slopes, pull=acceleration, rate=change or steady))
        derivative = Opaque(sloping, 5, words, name=f"{name}_slopes", takes=(0, 0, 3))
        Opaque(helper(potential), 1, words, derivative, name=name, takes=(0, 0, 3))
    return (CALLED[name], None, None) if potential is None else (None, CALLED[name], None)


def loads_of(forces: Sequence[Force], mass: float, burns: Sequence[tuple[float, float, float]]) -> list[Load]:
    """Loads of these forces on every body, about a centre, of a body that may burn some of its mass."""
    found: list[Load] = []
    kinds = [force.kind for force in forces]
    for k, force in enumerate(forces):
        if force.flow > 0.0 and not burns:
            raise InvalidInput("a spacecraft keeps its mass; give thrust as an acceleration, or thrusters")
        label = f"{force.kind} {kinds[:k].count(force.kind) + 1}" if kinds.count(force.kind) > 1 else force.kind
        what = f"forces[{k}], {force.description}"
        falls = bool(burns) and (force.surface or force.flow > 0.0)
        load = force.load or users_load(force, mass, falls)
        found.append(replace(
            load, name=label, flagged=tuple(replace(one, what=what) for one in force.switches), watches=force.watches,
            parameters={**load.parameters, "burns": np.array(burns)} if falls else load.parameters,
            impulse=load.impulse and replace(load.impulse, what=what),
        ))  # fmt: skip
    return found


def users_load(force: Force, mass: float, falls: bool) -> Load:
    """The load of a force with functions of its own; where its body's mass ``falls``, one without potential."""
    if force.impulse is not None:
        return Load(nothing, "impulse", kind="impulse", impulse=force.impulse)
    numbers = Table((force.numbers[0] / mass, *force.numbers[1:]) if force.flow > 0.0 else force.numbers)
    functions = (force.acceleration, force.potential, force.potential_rate)
    if falls and force.acceleration:
        functions = (force.acceleration, None, None)
    as_it_is = any(
        force.traced(name).program is None for name, one in zip(ARGUMENTS, functions[:2], strict=False) if one
    )
    if as_it_is:
        functions = called(*functions, f"force {force.kind!r}")
    act = by_functions(*functions, bool(force.velocity_dependent), as_it_is and bool(force.autonomous))
    if falls and functions[1]:
        return Load(act, force.kind, {"numbers": numbers, "acts": np.array(1.0)}, gate="acts")
    return Load(act, force.kind, {"numbers": numbers})


# ------------------------------------------------------------------ burning mass
def burns_of(forces: Sequence[Force], mu: float, mass: Sequence[float]) -> list[tuple[float, float, float]]:
    """Begin, end and fraction of the mass used per unit time, of every burn of the one body."""
    if not forces:
        return []
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
    first = mass[0]
    burns = [(on.start, on.stop, force.flow / first) for force in forces if force.flow > 0.0 for on in force.switches]
    used = sum((end - begin) * share for begin, end, share in burns)
    if not used < 1.0:
        raise InvalidInput(
            f"the burns would use up a mass of {used * first:g}, but mass is {first:g}; let them end sooner, or give a "
            "smaller force or a larger mass"
        )
    return burns


def mass_at(mass: float, burns: Sequence[tuple[float, float, float]], t: ArrayLike) -> Array:
    """Mass at times (n,), of shape (n, 1)."""
    return (mass * left(np.asarray(t, dtype=float), burns))[:, None]


# ------------------------------------------------------------------ arguments of systems
def masses_of(mass: object) -> list[float]:
    """One mass or several."""
    if type(mass) is float:
        return [number(mass, "mass", positive=True)]
    given = array(mass, "mass", "kg")
    if given.ndim > 1 or not given.size:
        raise InvalidInput(f"mass must be one number or a flat sequence of them, but has shape {given.shape}")
    if not given.ndim:
        return [number(float(given), "mass", positive=True)]
    return [number(m, f"mass[{i}]", positive=True) for i, m in enumerate(given.tolist())]


def forces_of(forces: object) -> list[Force]:
    """The forces as records; errors name the force by its number."""
    if isinstance(forces, Force):
        return [forces]
    return each_made(forces, _tried, "forces", "what polhode.forces makes")


def _tried(given: object) -> Force:
    """A force that was tried out; none of one's own has the name of another kind, as which a file would be read."""
    force = force_of(given)
    force.tried()
    if force.load is None and force.kind in FORCES and force_of(force.arguments).made != force.made:
        raise InvalidInput(f"force {force.kind!r} has other functions than polhode.forces.{force.kind} gives it; "
                           "change its kind")  # fmt: skip
    return force


# ------------------------------------------------------------------ the gradient of forces on a body
REACH = 1e-4  # distance of the points from the centre of mass, over that from the centre of attraction


@lru_cache(jit.KEPT_KERNELS)
def on_points(act: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a load on the points, from that on a point."""

    def acting(body, axes, moments=None, **given):
        r, R, I = body.position, matrix_of(body.principal), body.moments if moments is None else moments

        def at(position):
            found = act(SimpleNamespace(position=position, mass=1.0), **given)
            return found if isinstance(found, dict) else {"potential": found}

        h, here, torque = REACH * (r @ r) ** 0.5, at(r), np.zeros(3)
        total = dict.fromkeys(here, 0.0)
        for k in range(len(axes)):
            weight, d = (I[2] - I[k]) / (2.0 * h * h), R @ axes[k]
            over, under = at(r + h * d), at(r - h * d)
            total = {key: total[key] + weight * (over[key] + under[key] - 2.0 * here[key]) for key in here}
            if "force" in here:
                torque = torque + weight * h * body.in_body(np.cross(d, over["force"] - under["force"]))
        return {**total, "torque": torque} if "force" in here else total

    return around(acting, act)


def axes_of(frame: Iterable[float]) -> Array:
    """The principal axes, the columns, of a body with this frame."""
    return np.reshape(to_matrix(tuple(frame)), (3, 3))


def loads_on_points(
    forces: Sequence[Force], loads: Sequence[Load], frame: Iterable[float], whole: Principal | None
) -> list[Load]:
    """The loads on the points of those forces that have a potential; ``whole`` is what a body with these principal axes
    is with locked wheels, None of several bodies."""
    more: dict[str, Any] = {"axes": np.eye(3)[:2]}
    if whole is not None:
        axes = rotation.rotate(whole.frame, np.eye(3)) @ axes_of(frame)
        more = {"axes": axes[:2], "moments": whole.moments}
    return [
        replace(load, function=on_points(load.function), parameters={**load.parameters, **more})
        for force, load in zip(forces, loads, strict=True)
        if force.conservative
    ]
