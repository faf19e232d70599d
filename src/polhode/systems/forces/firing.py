"""Thrust: a constant acceleration, a force that uses up mass, or an impulse."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Annotated, Any, Literal

from polhode.arguments import choice, number, unit_vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Acceleration, Form, Newtons, Speed, Time, Unit, Vector
from polhode.errors import InvalidInput, answering
from polhode.loads.impulse import FRAMES, changed_by
from polhode.loads.load import made
from polhode.loads.thrust import pushed_along, pushed_forwards, pushed_outwards, times_of
from polhode.systems.forces.record import Force
from polhode.systems.record import Switch

STANDARD_GRAVITY = 9.80665
"""m/s^2, by definition: exhaust velocity in m/s over specific impulse in s."""
DIRECTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "inertial": (pushed_along, "thrust in a fixed direction"),
    "velocity": (pushed_forwards, "thrust along the velocity"),
    "radial": (pushed_outwards, "radial thrust"),
}
"""Function of the load and description, by the direction."""


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

    See Also
    --------
    polhode.loads.thrust : a force fixed in a body, as a load of ``polhode.system``.
    impulse : a change of velocity at once.

    Examples
    --------
    >>> import polhode as ph
    >>> burn = ph.forces.thrust(force=0.08, direction="velocity", specific_impulse=1600.0, start=600.0, stop=3000.0)
    >>> craft = ph.orbit(ph.planets.EARTH.mu, mass=300.0, forces=[burn])
    >>> ds = ph.integrate(craft, step=60.0, steps=60, position=(6778e3, 0, 0), velocity=(0, 7.67e3, 0))
    >>> round(300.0 - float(ds.mass[-1]), 4)
    0.0122
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
    along = {} if vector is None else {"direction": unit_vector(vector, "vector")}
    times = times_of(start, stop)
    for name in ("start", "stop"):
        if burn and name not in times:
            raise InvalidInput(f"{name} is missing; a force uses up mass and needs both times")
    speed = burn.get("exhaust_velocity", STANDARD_GRAVITY * burn.get("specific_impulse", inf))
    arguments: dict[str, Any] = {"acceleration" if force is None else "force": size}
    arguments |= {"direction": direction} | ({} if vector is None else {"vector": plain(vector)}) | times | burn
    pushing, words = DIRECTIONS[direction]
    what = words + ", using up mass" * bool(burn)
    return Force(
        "thrust", what, arguments, load=made(pushing, "thrust", firing=1.0, size=size, **along),
        velocity_dependent=direction == "velocity", autonomous=not times, flow=abs(size) / speed,
        switches=(Switch(0, times.get("start", -inf), times.get("stop", inf), what),) if times else (),
    )  # fmt: skip


@answering
def impulse(
    time: Time,
    delta_v: Annotated[Any, Form.NUMBER_OR_VECTOR, Unit("m_s")],
    frame: Literal["inertial", "rtn", "velocity"] = "inertial",
) -> Force:
    """An instantaneous change of velocity at exactly this time, between two steps.

    Parameters
    ----------
    time : float
        Time at which it is applied, also at the first and last time of a run; rows at that time are after it.
    delta_v : array_like (3,), or float
        Change of velocity, length / time. For frame "velocity" one number, negative to brake.
    frame : {"inertial", "rtn", "velocity"}
        Axes of ``delta_v``: those of space; radial, transverse (in the plane of motion, forward) and normal to that
        plane just before the impulse; or along the velocity.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.

    See Also
    --------
    thrust : an acceleration or force that lasts.
    polhode.loads.impulse : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> burn = ph.forces.impulse(600.0, 50.0, frame="velocity")
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[burn])
    >>> ds = ph.integrate(craft, step=60.0, steps=20, position=(6778e3, 0, 0), velocity=(0, 7.67e3, 0))
    >>> round(float(ds.velocity[10].dot(ds.velocity[10]) ** 0.5), 1)
    7719.4
    """
    sudden = changed_by(number(time, "time", "s"), delta_v, frame)
    shown = sudden.delta_v[0] if frame == "velocity" else list(sudden.delta_v)
    return Force(
        "impulse", FRAMES[frame], {"time": sudden.time, "delta_v": shown, "frame": frame}, velocity_dependent=False,
        autonomous=False, impulse=sudden,
    )  # fmt: skip
