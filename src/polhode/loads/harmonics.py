"""Gravity of a centre by spherical harmonics; of many degrees programs call it as it is."""

from __future__ import annotations

import numpy as np

from polhode.arguments.words import Angle, Rate, Vector
from polhode.errors import answering
from polhode.kernel.access import get3
from polhode.loads.load import Load, made
from polhode.programs.memory import MOST_TERMS
from polhode.programs.opaque import Opaque
from polhode.surroundings.earth_axes import Orientation
from polhode.surroundings.gravity_fields import (
    DEGREE,
    POLE,
    RATE,
    Harmonics,
    gravity_of_harmonics,
    harmonics_of,
    pulled,
    slopes_of_harmonics,
)
from polhode.surroundings.surrounding import Table

SLOPES = Opaque(slopes_of_harmonics, 4, "the gravity of a field")
LEVEL = Opaque(gravity_of_harmonics, 1, "the potential of a field", SLOPES)


def of_field(body, numbers, t):
    """m times the potential, of few degrees with its force."""
    if numbers.p[numbers.at + DEGREE] > MOST_TERMS:
        return body.mass * LEVEL(numbers, t, body.position)
    at = (numbers.p, numbers.at, t, tuple(body.position))
    return {"potential": body.mass * gravity_of_harmonics(*at), "force": body.mass * np.array(pulled(*at))}


def still(body, numbers):
    """Of a body that rests, or is symmetric about its axis of rotation."""
    return of_field(body, numbers, 0.0)


def turning(body, t, numbers):
    """Of a body that turns."""
    found, p, at = of_field(body, numbers, t), numbers.p, numbers.at
    if not isinstance(found, dict):
        return found
    ahead = np.cross(np.array(get3(p, at + POLE)), body.position)
    return {**found, "potential_rate": p[at + RATE] * (found["force"] @ ahead)}


def of_harmonics(field: Harmonics) -> Load:
    """The load of a field."""
    return made(still if field.still else turning, "harmonics", field.arguments, numbers=Table(field.numbers))


@answering
def harmonics(
    field: str,
    *,
    degree: int | None = None,
    order: int | None = None,
    rotation: Rate | None = None,
    angle: Angle = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
    orientation: Orientation | None = None,
    digest: str = "",
) -> Load:
    """Gravity of a centre at the origin by spherical harmonics of any degree, beyond that of a point.

    It acts on the centre of mass.

    Parameters
    ----------
    field : str or GravityField
        Name of a field that comes with polhode (``"egm2008"``, degree 20), path of an ICGEM file (``.gfc``), or what
        ``polhode.surroundings.gravity_field`` has read. Units are those of the field, SI.
    degree, order : int, optional
        Highest degree and order that are used, at most those of the field; the order at most the degree.
    rotation : float, optional
        Rotation rate (rad/s) of the centre about ``axis``; by default that of the field's body.
    angle : float
        Angle (rad) at time 0 to the meridian of longitude 0, as of ``polhode.forces.gravity_field``.
    axis : array_like (3,)
        Pole of the centre, in space.
    orientation : str or mapping, optional
        In place of ``axis`` and ``angle``, as of ``polhode.forces.gravity_field``.
    digest : str
        SHA-256 that the file must have; runs record it, so that they are repeated with the same field.

    Returns
    -------
    Load

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong; a file that cannot be read, by its line.

    See Also
    --------
    zonal : J2 to J6 alone.

    Examples
    --------
    >>> import polhode as ph
    >>> field = ph.loads.harmonics("egm2008", degree=8)
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(3.986004415e14), field)
    >>> ds = ph.integrate(craft, step=60.0, steps=20, position=(6.878e6, 0, 0), velocity=(0, 4.8e3, 5.9e3))
    >>> round(float(ds.position[-1, 0]) / 1e3, 1)
    1645.1
    """
    return of_harmonics(harmonics_of(field, degree, order, rotation, angle, axis, orientation, digest))
