"""Thrust of what is fixed in bodies, and sudden changes of their velocity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from polhode.arguments import Array, ArrayLike, array, choice, number, of_each, truth, unit_vectors, vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Form, Position, Positions, Time, Unit, Vectors
from polhode.errors import InvalidInput, answering
from polhode.kernel import layout as L
from polhode.loads.load import Load, made, time_or_event

FRAMES = {
    "inertial": "impulse in a fixed direction",
    "rtn": "impulse by radial, transverse and normal",
    "velocity": "impulse along the velocity",
}
"""Descriptions, by the frame."""


@dataclass(frozen=True)
class Impulse:
    """An instantaneous change of velocity, which a run applies between two steps.

    Attributes
    ----------
    time : float
        Time at which it is applied; infinite at an event.
    delta_v : tuple of float
        Components in the frame; for "velocity" only the first is used.
    frame : {"inertial", "rtn", "velocity"}
        Frame of ``delta_v``, from position and velocity just before the impulse.
    auxiliary : int
        Index of the auxiliary variable that is its work, in a system.
    what : str
        Its name in messages.
    body : int
        Number of the body.
    once : bool
        Whether only the first time.
    """

    time: float
    delta_v: tuple[float, float, float]
    frame: str
    auxiliary: int = -1
    what: str = ""
    body: int = 0
    once: bool = False
    kind: ClassVar[str] = "impulse"

    @property
    def numbers(self) -> tuple[float, ...]:
        """What of it may have derivatives."""
        return self.delta_v

    def with_numbers(self, numbers: Any) -> Impulse:
        """The same with other such numbers."""
        return replace(self, delta_v=tuple(numbers))

    @property
    def reads(self) -> tuple[int, ...]:
        """The bodies whose states it depends on."""
        return (self.body,)

    def places(self, N: int) -> list[int]:
        """What it changes in a state of N bodies."""
        momentum = L.BODY * self.body + L.MOMENTUM
        return [*range(momentum, momentum + 3), L.BODY * N + self.auxiliary]

    def apply(self, t: float, y: Array, bodies: Array, parameters: object, direction: float = 1.0) -> float:
        """Change a state in place, or undo it; the work, NaN where the frame has no axes or nothing leads there."""
        *momentum, work = self.places(len(bodies) // L.OF_BODY)
        mass, own = bodies[L.CONSTANTS * self.body + L.MASS], L.BODY * self.body
        r, v = y[own + L.POSITION : own + L.POSITION + 3], y[momentum] / mass
        new = (self.after if direction > 0.0 else self.before)(r, v)
        done = float(mass) * float((new - v) @ (v + 0.5 * (new - v)))
        y[momentum] = mass * new
        y[work] += done
        return done

    def after(self, r: ArrayLike, v: ArrayLike) -> Array:
        """Velocity after the impulse, from r and the velocity v before it; NaN if the frame is not defined."""
        r, v, d = np.asarray(r), np.asarray(v), np.array(self.delta_v)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.frame == "velocity":
                return v + d[0] * (v / np.linalg.norm(v))
            return v + (_axes(r, v) @ d if self.frame == "rtn" else d)

    def before(self, r: ArrayLike, v: ArrayLike) -> Array:
        """The inverse of ``after``, for runs backwards; of two velocities the one that is not reversed."""
        r, v, d = np.asarray(r), np.asarray(v), np.array(self.delta_v)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.frame == "velocity":
                return v - d[0] * (v / np.linalg.norm(v))
            if self.frame == "inertial":
                return v - d
            # After the impulse the velocity across r has length w and components (forward, d_n) along T and N of
            # before; so T follows by a rotation about r.
            radial, ahead, normal = _axes(r, v).T
            w = v @ ahead
            forward = np.sqrt(w * w - d[2] * d[2])
            along = (forward * ahead - d[2] * normal) / w
            return (v @ radial - d[0]) * radial + (forward - d[1]) * along


def _axes(r: Array, v: Array) -> Array:
    """Unit vectors, as columns: radial, transverse (in the plane of motion, forward), normal to that plane."""
    radial = r / np.linalg.norm(r)
    normal = np.cross(r, v)
    normal /= np.linalg.norm(normal)
    return np.column_stack([radial, np.cross(normal, radial), normal])


def changed_by(time: float, delta_v: ArrayLike, frame: str) -> Impulse:
    """An impulse from its arguments."""
    choice(frame, "frame", FRAMES)
    if frame == "velocity":
        if isinstance(delta_v, list | tuple) or np.ndim(array(delta_v, "delta_v", "m / s")):
            raise InvalidInput("delta_v must be one number, for frame is 'velocity'; give its size, negative to brake")
        change = (number(delta_v, "delta_v", "m / s"), 0.0, 0.0)
    else:
        change = tuple(vector(delta_v, "delta_v", unit="m / s").tolist())
    if not any(change):
        raise InvalidInput("delta_v is zero; leave this impulse out")
    return Impulse(time, change, frame)


def nothing(body):
    """What an impulse does between its times."""
    return {"force": (0.0, 0.0, 0.0)}


@answering
def impulse(
    delta_v: Annotated[ArrayLike, Form.NUMBER_OR_VECTOR, Unit("m_s")],
    at: Annotated[Any, Form.TIME_OR_EVENT, Unit("s")],
    frame: Literal["inertial", "rtn", "velocity"] = "inertial",
    once: bool = False,
) -> Load:
    """A sudden change of the velocity of a body at exactly this time, or at an event; its work is recorded.

    Between two steps: where the event is met a step is cut.

    Parameters
    ----------
    delta_v : array_like (3,), or float
        Change of velocity (m/s). For frame "velocity" one number, negative to brake.
    at : float or Event
        Time (s), also the first and last of a run; rows at that time are after it. Or the event at which it happens,
        from ``polhode.events`` or a mapping of its arguments with a ``kind``, in runs forwards in time.
    frame : {"inertial", "rtn", "velocity"}
        Axes of ``delta_v``: those of space; radial from the origin, transverse (in the plane of motion, forward) and
        normal to that plane just before; or along the velocity.
    once : bool
        Whether it happens at the first such event only, instead of at each.

    See Also
    --------
    thrust : a force that lasts.

    Examples
    --------
    >>> import polhode as ph
    >>> burn = ph.loads.impulse(25.0, at=ph.events.apsis("periapsis", body="chaser"), frame="velocity", once=True)
    >>> craft = ph.system(ph.body("chaser", 100.0), ph.loads.central(3.986004415e14), burn.on("chaser"))
    >>> ds = ph.integrate(craft, step=60.0, steps=90, position=(7.0e6, 0, 0), velocity=(-10.0, 7.6e3, 0))
    >>> ds.event_kind.values.tolist(), round(float(ds.event_time[0]))
    (['impulse'], 85)
    """
    when = time_or_event(at, "at")
    known = isinstance(when, float)
    sudden = replace(changed_by(when if known else inf, delta_v, frame), once=truth(once, "once"))
    if sudden.once and known:
        raise InvalidInput("once is given, but an impulse at a time happens once anyway; leave it out")
    shown = sudden.delta_v[0] if frame == "velocity" else list(sudden.delta_v)
    recorded = {"delta_v": shown, "frame": frame} | ({"once": True} if sudden.once else {})
    return replace(made(nothing, "impulse", recorded), impulse=sudden, when={"at": when})


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


def times_of(start: object, stop: object) -> dict[str, float]:
    """Times of ignition and cut-off by their names, those that are given."""
    when = {name: number(value, name, "s") for name, value in (("start", start), ("stop", stop)) if value is not None}
    if when.get("start", -inf) >= when.get("stop", inf):
        raise InvalidInput(f"stop is {when['stop']:g}, not after start, {when['start']:g}; exchange them")
    return when


@answering
def thrust(
    force: Annotated[ArrayLike, Form.VECTOR, Unit("N")],
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
        Where it acts (m, body axes, from the centre of mass); the torque is position x force.
    start, stop : float, optional
        Times (s) of ignition and cut-off; always on without them.

    Raises
    ------
    InvalidInput
        No vector, or a stop that is not after the start.

    See Also
    --------
    impulse : a change of velocity at once.
    pulsed_thrusters : on-off valves with commands.

    Examples
    --------
    >>> import polhode as ph
    >>> jet = ph.loads.thrust((0.1, 0, 0), start=10.0, stop=20.0)
    >>> craft = ph.system(ph.body("craft", 4.0, (0.02, 0.03, 0.03)), jet)
    >>> ds = ph.integrate(craft, step=1.0, steps=30)
    >>> round(float(ds.velocity[-1, 0]), 6)
    0.25
    """
    F, x = vector(force, "force", unit="N"), vector(position, "position", unit="m")
    when = times_of(start, stop)
    if not when:
        return made(pushed, "thrust", force=F, position=x)
    load = made(pushed, "thrust", {"force": F, "position": x, **when}, force=F, position=x, firing=1.0)
    return load.switched("firing", when.get("start", -inf), when.get("stop", inf))


# ------------------------------------------------------------------ valves
COMMAND, OPEN, CLOSES, FIRED = "thruster_command", "thruster_open", "thruster_closes", "thruster_fired"


class Valves(NamedTuple):
    """How so many thrusters fire in pulses."""

    thrusters: int
    every: float  # every, phase: the period, and a time at which one begins
    phase: float
    min_on_time: float  # min_on_time, resolution: shortest pulse, and that of the valves' times; 0 without
    resolution: float


@answering
def pulsed_thrusters(
    force: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("N")],
    directions: Vectors,
    every: Time,
    *,
    positions: Positions | None = None,
    min_on_time: Time = 0.0,
    resolution: Time = 0.0,
    phase: Time = 0.0,
    command: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS] = 0.0,
) -> Load:
    """Thrusters fixed in a body whose valves open at the beginning of each period, for a commanded share of it.

    At the beginning of each period a thruster is opened for the share of the period that it is commanded, rounded to
    the resolution of its valve; a pulse shorter than the shortest possible one is left out. Steps are cut, within the
    compiled loop, where a valve closes. The states ``thruster_command``, ``thruster_open`` (1 or 0),
    ``thruster_closes`` (times) and ``thruster_fired`` (seconds of thrust so far, for the propellant) are recorded.

    Parameters
    ----------
    force : float or array_like (n,)
        Thrust of each while it fires.
    directions : array_like (n, 3)
        Directions of the forces on the body, in body axes; any length.
    every : float
        Period of the modulation.
    positions : array_like (n, 3), optional
        Points of action relative to the centre of mass, in body axes; there by default, so that there is no torque.
    min_on_time : float
        Shortest pulse; shorter ones are left out.
    resolution : float
        Pulses are whole multiples of it; 0 for any length.
    phase : float
        A time at which a period begins; the others are whole multiples of ``every`` from it.
    command : float or array_like (n,)
        Shares of the period at the start, from 0 to 1. They stay until a controller sets the state
        ``thruster_command``; values beyond 0 and 1 count as these. The mean thrust is force times command.

    Returns
    -------
    Load
        For a ``spacecraft`` take ``polhode.systems.pulsed_thrusters``, which has the same arguments.

    Examples
    --------
    >>> import polhode as ph
    >>> pair = ph.loads.pulsed_thrusters(0.5, [(1, 0, 0), (-1, 0, 0)], 1.0, min_on_time=0.02, command=(0.3, 0.0))
    >>> craft = ph.system(ph.body("craft", 4.0, (0.02, 0.03, 0.03)), pair)
    >>> ds = ph.integrate(craft, step=0.5, steps=20)
    >>> round(float(ds.velocity[-1, 0]), 4)
    0.375
    """
    e = unit_vectors(directions, "directions")
    n = len(e)
    given: dict[str, Any] = {}
    size = of_each(force, "force", n, "thrusters", "N", given)
    if (size <= 0.0).any():
        raise InvalidInput(f"force is {float(size.min()):g}; give a positive number, and the sign by the direction")
    given["directions"] = plain(directions)
    given["every"] = period = number(every, "every", "s", positive=True)
    x = np.zeros((n, 3))
    if positions is not None:
        x = np.atleast_2d(array(positions, "positions", "m"))
        if x.shape != (n, 3):
            raise InvalidInput(f"positions must be one row of 3 numbers for each of {n} thrusters, but has shape "
                               f"{x.shape}")  # fmt: skip
        given["positions"] = plain(x)
    times_given = {}
    for name, value in (("min_on_time", min_on_time), ("resolution", resolution)):
        times_given[name] = given[name] = number(value, name, "s")
        if not 0.0 <= given[name] <= period:
            raise InvalidInput(f"{name} is {given[name]:g}; give 0, or a time up to the period, {period:g}")
    given["phase"] = begun = number(phase, "phase", "s")
    shares = of_each(command, "command", n, "thrusters", kept=given)
    if not ((shares >= 0.0) & (shares <= 1.0)).all():
        k = int(np.argmax((shares < 0.0) | (shares > 1.0)))
        raise InvalidInput(f"the command of thruster {k} is {shares[k]:g} at the start; it is a share of the period, "
                           "so give a number from 0 to 1")  # fmt: skip
    F = size[:, None] * e
    load = made(pulsed, "pulsed_thrusters", given, force=F, torque=np.cross(x, F))
    starts = {COMMAND: shares.tolist()} | {name: [0.0] * n for name in (OPEN, CLOSES, FIRED)}
    return replace(load, starts=starts, valves=Valves(n, period, begun, **times_given))
