"""What air does to bodies; they read its density from the surroundings."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from polhode.arguments import number, unit_vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Rate, Unit, Vector
from polhode.errors import answering
from polhode.loads.load import Load, made

Area = Annotated[float, Unit("m2")]


def against(body, air_density, Cd, area, rotation, axis):
    """-rho Cd A |u| u / 2, u = v - rotation axis x r."""
    u = body.velocity - np.cross(rotation * axis, body.position)
    return {"force": -0.5 * air_density * Cd * area * (u @ u) ** 0.5 * u}


@answering
def drag(Cd: float, area: Area, *, rotation: Rate = 0.0, axis: Vector = (0.0, 0.0, 1.0)) -> Load:
    """Drag of the air, ``-(1/2) rho Cd A |u| u`` with the velocity u against the air.

    It acts on the centre of mass, and reads ``air_density`` (kg/m3) from the surroundings.

    Parameters
    ----------
    Cd : float
        Drag coefficient.
    area : float
        Area (m2) that it belongs to.
    rotation : float
        Rate (rad/s) at which the air turns about ``axis`` through the origin.
    axis : array_like (3,)
        Axis of this rotation, in space; any length.

    Returns
    -------
    Load

    Raises
    ------
    InvalidInput
        A number that is not positive where it must be, or no direction.

    Examples
    --------
    >>> drag(2.2, 0.02, rotation=7.292115e-5).name
    'drag'
    """
    numbers = {"Cd": number(Cd, "Cd", positive=True), "area": number(area, "area", "m**2", positive=True),
               "rotation": number(rotation, "rotation", "rad / s")}  # fmt: skip
    about = unit_vector(axis, "axis")
    return made(against, "drag", {**numbers, "axis": plain(axis)}, **numbers, axis=about)
