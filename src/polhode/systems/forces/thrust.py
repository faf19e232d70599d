"""Thrust: a constant acceleration, or a force that uses up mass."""

from __future__ import annotations

from math import inf
from typing import Any, Literal

import numpy as np

from polhode.algebra.so3 import dot, scale
from polhode.arguments import choice, number, unit_vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Acceleration, Newtons, Speed, Time, Vector
from polhode.errors import InvalidInput, answering
from polhode.kernel.access import get3
from polhode.kernel.jit import helper
from polhode.systems.forces.record import Force
from polhode.systems.record import Switch

STANDARD_GRAVITY = 9.80665
"""m/s^2, by definition: exhaust velocity in m/s over specific impulse in s."""
FIRING, ALONG = 1, 2
"""Indices among the numbers, behind the size: 1 while it is on, else 0, set by the run; a fixed direction."""


@helper
def push(p, at, e):
    """Thrust along e while it is on."""
    if p[at + FIRING] == 0.0:
        return (0.0, 0.0, 0.0)
    size = np.sqrt(dot(e, e))
    return (0.0, 0.0, 0.0) if size == 0.0 else scale(p[at] / size, e)


def thrust_inertial(p, at, mu, t, r, v):
    """Thrust in a fixed direction."""
    return push(p, at, get3(p, at + ALONG))


def thrust_along_velocity(p, at, mu, t, r, v):
    """Thrust along the velocity."""
    return push(p, at, v)


def thrust_radial(p, at, mu, t, r, v):
    """Thrust outwards."""
    return push(p, at, r)


DIRECTIONS = {
    "inertial": (thrust_inertial, "thrust in a fixed direction"),
    "velocity": (thrust_along_velocity, "thrust along the velocity"),
    "radial": (thrust_radial, "radial thrust"),
}
"""Acceleration and description, by the direction."""


@answering
def thrust(
    acceleration: Acceleration | None = None,
    direction: Literal["inertial", "velocity", "radial"] = "inertial",
    *,
    vector: Vector | None = None,
    start: Time | None = None,
    stop: Time | None = None,
    force: Newtons | None = None,
    specific_impulse: Time | None = None,
    exhaust_velocity: Speed | None = None,
) -> Force:
    """Thrust for start <= t < stop: a constant acceleration, or a constant force that uses up mass.

    With a force, the acceleration is ``force / m(t)`` and the mass falls at the rate ``|force| / exhaust_velocity``
    from the mass given to ``orbit``, that before all burns. Several burns add up. Accelerations by drag and sunlight
    then grow as the mass falls.

    Parameters
    ----------
    acceleration : float
        Length / time^2; negative: against the direction. Propellant mass is neglected. Or give ``force``.
    direction : {"inertial", "velocity", "radial"}
        Along ``vector``, along the velocity, or radially outwards.
    vector : array_like (3,), optional
        Direction for "inertial", space frame; any length.
    start, stop : float, optional
        Times of ignition and cut-off, at which steps are cut; always on without them. A force needs both.
    force : float, optional
        Mass length / time^2; negative: against the direction.
    specific_impulse : float, optional
        For a force, in seconds: the exhaust velocity over 9.80665 m/s^2; lengths must be metres.
    exhaust_velocity : float, optional
        Instead of ``specific_impulse``: length / time in any units.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong or missing.
    """
    if (acceleration is None) == (force is None):
        problem = "both given; keep one of them" if force is not None else "both missing; thrust needs one of them"
        raise InvalidInput(f"acceleration and force are {problem}")
    size = number(acceleration, "acceleration", "m / s**2") if force is None else number(force, "force", "N")
    given = {"specific_impulse": specific_impulse, "exhaust_velocity": exhaust_velocity}
    units = {"specific_impulse": "s", "exhaust_velocity": "m / s"}
    burn = {name: number(value, name, units[name], positive=True) for name, value in given.items() if value is not None}
    if len(burn) != (force is not None):
        raise InvalidInput(
            "specific_impulse and exhaust_velocity are both given; keep one of them" if len(burn) == 2 else
            f"{next(iter(burn))} is given without force; give force instead of acceleration" if burn else
            "specific_impulse is missing; a force uses up mass: give it, or exhaust_velocity"
        )  # fmt: skip
    choice(direction, "direction", DIRECTIONS)
    if (direction == "inertial") != (vector is not None):
        problem = "is missing; thrust with direction 'inertial' needs it" if vector is None else (
            f"is given, but direction is {direction!r}; leave it out or choose direction 'inertial'"
        )  # fmt: skip
        raise InvalidInput(f"vector {problem}")
    along = (0.0, 0.0, 0.0) if vector is None else unit_vector(vector, "vector")
    given = {"start": start, "stop": stop}
    times = {name: number(value, name, "s") for name, value in given.items() if value is not None}
    if times.get("start", -inf) >= times.get("stop", inf):
        raise InvalidInput(f"stop is {times['stop']:g}, not after start, {times['start']:g}; exchange them")
    for name in ("start", "stop"):
        if burn and name not in times:
            raise InvalidInput(f"{name} is missing; a force uses up mass and needs both times")
    speed = burn.get("exhaust_velocity", STANDARD_GRAVITY * burn.get("specific_impulse", inf))
    arguments: dict[str, Any] = {"acceleration" if force is None else "force": size}
    arguments |= {"direction": direction} | ({} if vector is None else {"vector": plain(vector)}) | times | burn
    pushing, words = DIRECTIONS[direction]
    what = words + ", using up mass" * bool(burn)
    return Force(
        "thrust",
        what,
        arguments,
        (size, 1.0, *along),
        pushing,
        autonomous=not times,
        flow=abs(size) / speed,
        switches=(Switch(FIRING, times.get("start", -inf), times.get("stop", inf), what),) if times else (),
    )
