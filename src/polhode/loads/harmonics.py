"""Gravity of a centre by spherical harmonics, which programs call as it is."""

from __future__ import annotations

from polhode.arguments.words import Angle, Rate, Vector
from polhode.errors import answering
from polhode.loads.load import Load, made
from polhode.programs.opaque import Opaque
from polhode.surroundings.harmonics import gravity_of_harmonics, harmonics_of, slopes_of_harmonics
from polhode.surroundings.orientation import Orientation
from polhode.surroundings.surrounding import Table

SLOPES = Opaque(slopes_of_harmonics, 4, "the gravity of a field")
LEVEL = Opaque(gravity_of_harmonics, 1, "the potential of a field", SLOPES)


def turning(body, t, numbers):
    """m times the potential of a body that turns."""
    return body.mass * LEVEL(numbers, t, body.position)


def still(body, numbers):
    """m times the potential of a body that rests, or is symmetric about its axis of rotation."""
    return body.mass * LEVEL(numbers, 0.0, body.position)


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

    Examples
    --------
    >>> harmonics("egm2008", degree=8).name
    'harmonics'
    """
    found = harmonics_of(field, degree, order, rotation, angle, axis, orientation, digest)
    return made(still if found.still else turning, "harmonics", found.arguments, numbers=Table(found.numbers))
