"""Impulses: changes of velocity between two steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from polhode.arguments import array, choice, number, vector
from polhode.arguments.words import Form, Time, Unit
from polhode.errors import InvalidInput, answering
from polhode.systems.forces.record import Force

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
        Time at which it is applied.
    delta_v : tuple of float
        Components in the frame; for "velocity" only the first is used.
    frame : {"inertial", "rtn", "velocity"}
        Frame of ``delta_v``, from position and velocity just before the impulse.
    auxiliary : int
        Index of the auxiliary variable that is its work, in a system.
    what : str
        Its name in messages and lists.
    """

    time: float
    delta_v: tuple[float, float, float]
    frame: str
    auxiliary: int = -1
    what: str = ""

    def after(self, r: Any, v: Any) -> Any:
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


def _axes(r: Any, v: Any) -> Any:
    """Unit vectors, as columns: radial, transverse (in the plane of motion, forward), normal to that plane."""
    radial = r / np.linalg.norm(r)
    normal = np.cross(r, v)
    normal /= np.linalg.norm(normal)
    return np.column_stack([radial, np.cross(normal, radial), normal])


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
    """
    choice(frame, "frame", FRAMES)
    arguments: dict[str, Any] = {"time": number(time, "time", "s")}
    if frame == "velocity":
        if isinstance(delta_v, list | tuple) or np.ndim(array(delta_v, "delta_v", "m / s")):
            raise InvalidInput("delta_v must be one number, for frame is 'velocity'; give its size, negative to brake")
        arguments["delta_v"] = number(delta_v, "delta_v", "m / s")
        change = (arguments["delta_v"], 0.0, 0.0)
    else:
        arguments["delta_v"] = vector(delta_v, "delta_v", unit="m / s").tolist()
        change = tuple(arguments["delta_v"])  # type: ignore[assignment]
    if not any(change):
        raise InvalidInput("delta_v is zero; leave this impulse out")
    return Force(
        "impulse", FRAMES[frame], arguments | {"frame": frame}, velocity_dependent=False, autonomous=False,
        impulse=Impulse(arguments["time"], change, frame),
    )  # fmt: skip
