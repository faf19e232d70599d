"""Sudden changes of the velocity of a body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from polhode.arguments import Array, array, choice, number, truth, vector
from polhode.arguments.words import Form, Unit
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

    def apply(self, t: float, y: Any, bodies: Any, parameters: Any, direction: float = 1.0) -> float:
        """Change a state, in place, or undo the change; the work, NaN where the frame has no axes or nothing leads
        there."""
        *momentum, work = self.places(len(bodies) // L.OF_BODY)
        mass, own = bodies[L.CONSTANTS * self.body + L.MASS], L.BODY * self.body
        r, v = y[own + L.POSITION : own + L.POSITION + 3], y[momentum] / mass
        new = (self.after if direction > 0.0 else self.before)(r, v)
        done = float(mass) * float((new - v) @ (v + 0.5 * (new - v)))
        y[momentum] = mass * new
        y[work] += done
        return done

    def after(self, r: Any, v: Any) -> Array:
        """Velocity after the impulse, from r and the velocity v before it; NaN if the frame is not defined."""
        r, v, d = np.asarray(r), np.asarray(v), np.array(self.delta_v)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.frame == "velocity":
                return v + d[0] * (v / np.linalg.norm(v))
            return v + (_axes(r, v) @ d if self.frame == "rtn" else d)

    def before(self, r: Any, v: Any) -> Any:
        """Velocity before the impulse, from v after it, for a run backwards in time: the inverse of ``after``.

        If ``delta_v`` is opposite to the velocity and larger, two velocities lead to the same v; the result is the one
        whose direction the impulse does not reverse.
        """
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


def changed_by(time: float, delta_v: Any, frame: Any) -> Impulse:
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
    delta_v: Annotated[Any, Form.NUMBER_OR_VECTOR, Unit("m_s")],
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

    Returns
    -------
    Load

    Raises
    ------
    InvalidInput
        Names the argument that is wrong.

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
