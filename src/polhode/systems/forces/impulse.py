"""Impulses: sudden changes of the velocity."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from polhode.arguments import number
from polhode.arguments.words import Form, Time, Unit
from polhode.errors import answering
from polhode.loads.impulse import FRAMES, Impulse, changed_by
from polhode.systems.forces.record import Force

__all__ = ["Impulse", "impulse"]


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
    sudden = changed_by(number(time, "time", "s"), delta_v, frame)
    shown = sudden.delta_v[0] if frame == "velocity" else list(sudden.delta_v)
    return Force(
        "impulse", FRAMES[frame], {"time": sudden.time, "delta_v": shown, "frame": frame}, velocity_dependent=False,
        autonomous=False, impulse=sudden,
    )  # fmt: skip
