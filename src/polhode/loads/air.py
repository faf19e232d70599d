"""What air does to bodies; they read its density from the surroundings."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from polhode.arguments import number, unit_vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Rate, Unit, Vector
from polhode.errors import answering
from polhode.loads.load import Load, made
from polhode.loads.thrust import lightened
from polhode.surroundings.air import between_rows
from polhode.surroundings.nrlmsis import ANGLE, log_density

Area = Annotated[float, Unit("m2")]


def against(body, air_density, Cd, area, rotation, axis):
    """-rho Cd A |u| u / 2, u = v - rotation axis x r."""
    return slowed(through_air(body, rotation * axis), 0.5 * air_density * Cd * area)


def through_air(body, spin):
    """The velocity u = v - spin x r against the air."""
    return body.velocity - np.cross(spin, body.position)


def slowed(u, k):
    """-k |u| u."""
    return {"force": -k * (u @ u) ** 0.5 * u}


def in_layers(body, t, air, spin, burns=None):
    """Drag with m k between the rows of a table."""
    u = through_air(body, spin)
    return slowed(u, lightened(body, t, burns) * between_rows(body, air))


def in_model(body, t, air, half, spin, burns=None):
    """Drag with m k = m C rho / 2 by NRLMSIS."""
    u, density = through_air(body, spin), np.exp(log_density(air.p, air.at - ANGLE, t, tuple(body.position)))
    return slowed(u, lightened(body, t, burns) * half * density)


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

    See Also
    --------
    plates_in_air : with the attitude of flat faces, and torques.

    Examples
    --------
    >>> import polhode as ph
    >>> craft = ph.system(ph.body("craft", 4.0), ph.loads.central(3.986004415e14),
    ...                   ph.loads.drag(2.2, 0.02, rotation=7.292115e-5),
    ...                   surroundings={"air_density": ph.surroundings.exponential_air(1e-12, 6.878e6, 60e3)})
    >>> ds = ph.integrate(craft, step=60.0, steps=90, position=(6.878e6, 0, 0), velocity=(0, 4.8e3, 5.9e3))
    >>> round(float(ds.energy_change[-1]))
    -60
    """
    numbers = {"Cd": number(Cd, "Cd", positive=True), "area": number(area, "area", "m**2", positive=True),
               "rotation": number(rotation, "rotation", "rad / s")}  # fmt: skip
    about = unit_vector(axis, "axis")
    return made(against, "drag", {**numbers, "axis": plain(axis)}, **numbers, axis=about)
