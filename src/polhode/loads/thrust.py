"""Thrust of what is fixed in bodies."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any

import numpy as np

from polhode.arguments import number, vector
from polhode.arguments.words import Form, Position, Time, Unit
from polhode.errors import InvalidInput, answering
from polhode.loads.load import Load, made


def pushed(body, force, position, firing=1.0):
    """A force at a point, both in the body's axes, while it is on."""
    F = firing * force
    return {"force": body.in_space(F), "torque": np.cross(position, F)}


def pushed_by(body, firing, force, torque):
    """Forces and torques in the body's axes, of those that are on."""
    return {"force": body.in_space(firing @ force), "torque": firing @ torque}


def left(t, burns):
    """The share of the mass that burns have left: rows of begin, end and share used in a unit of time."""
    share = 1.0
    for begin, end, used in burns:
        share = share - (np.minimum(np.maximum(t, begin), end) - begin) * used
    return share


def lightened(body, t, burns):
    """By what accelerations of surfaces are multiplied: the mass, over the share of it that burns have left."""
    return body.mass if burns is None else body.mass / left(t, burns)


def pushed_along(body, t, firing, size, direction, burns=None):
    """m a e along a direction in space; with burns F e over the share of the mass that is left."""
    return {"force": firing * size * (body.mass if burns is None else 1.0 / left(t, burns)) * direction}


def pushed_forwards(body, t, firing, size, burns=None):
    """The same along the velocity."""
    return pushed_along(body, t, firing, size, unit(body.velocity), burns)


def pushed_outwards(body, t, firing, size, burns=None):
    """The same away from the origin."""
    return pushed_along(body, t, firing, size, unit(body.position), burns)


def unit(v):
    """The direction of a vector, if it has one."""
    size = (v @ v) ** 0.5
    return v * (1.0 / size if size > 0.0 else 0.0)


def pulsed(body, thruster_open, force, torque):
    """The same of thrusters whose valves are states, and for how long they fire."""
    return {**pushed_by(body, thruster_open, force, torque), "thruster_fired": thruster_open}


def times_of(start: Any, stop: Any) -> dict[str, float]:
    """Times of ignition and cut-off by their names, those that are given."""
    when = {name: number(value, name, "s") for name, value in (("start", start), ("stop", stop)) if value is not None}
    if when.get("start", -inf) >= when.get("stop", inf):
        raise InvalidInput(f"stop is {when['stop']:g}, not after start, {when['start']:g}; exchange them")
    return when


@answering
def thrust(
    force: Annotated[Any, Form.VECTOR, Unit("N")],
    *,
    position: Position = (0.0, 0.0, 0.0),
    start: Time | None = None,
    stop: Time | None = None,
) -> Load:
    """A thruster fixed in a body, firing for start <= t < stop; steps are cut at both times. It uses up no mass.

    Parameters
    ----------
    force : array_like (3,)
        Force on the body (N, body axes).
    position : array_like (3,)
        Where it acts (m, body axes, from the centre of mass).
    start, stop : float, optional
        Times (s) of ignition and cut-off; always on without them.

    Returns
    -------
    Load

    Raises
    ------
    InvalidInput
        No vector, or a stop that is not after the start.

    Examples
    --------
    >>> thrust((0.1, 0, 0), start=10.0, stop=20.0).name
    'thrust'
    """
    F, x = vector(force, "force", unit="N"), vector(position, "position", unit="m")
    when = times_of(start, stop)
    if not when:
        return made(pushed, "thrust", force=F, position=x)
    load = made(pushed, "thrust", {"force": F, "position": x, **when}, force=F, position=x, firing=1.0)
    return load.switched("firing", when.get("start", -inf), when.get("stop", inf))
