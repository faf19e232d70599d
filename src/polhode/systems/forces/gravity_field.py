"""Gravity of a centre by spherical harmonics of any degree and order."""

from __future__ import annotations

from polhode.arguments.words import Angle, Rate, Vector
from polhode.errors import answering
from polhode.surroundings.harmonics import (
    gravity_field_acceleration,
    gravity_field_potential,
    gravity_field_rate,
    harmonics_of,
)
from polhode.surroundings.orientation import Orientation
from polhode.systems.forces.record import Force


@answering
def gravity_field(
    field: str,
    *,
    degree: int | None = None,
    order: int | None = None,
    rotation: Rate | None = None,
    angle: Angle = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
    orientation: Orientation | None = None,
    digest: str = "",
) -> Force:
    """Gravity of the centre by spherical harmonics, beyond that of a point.

    Parameters
    ----------
    field : str or GravityField
        Name of a field that comes with polhode (``"egm2008"``, degree 20), path of an ICGEM file (``.gfc``), or what
        ``polhode.surroundings.gravity_field`` has read; of one that was changed since, runs cannot be repeated. Units
        are those of the field, SI: those of the run must be the same.
    degree, order : int, optional
        Highest degree and order that are used, at most those of the field; the order at most the degree.
    rotation : float, optional
        Rotation rate of the body, rad / time, about ``axis``; by default that of the field's body.
    angle : float
        Angle, at time 0, from where the equator rises through the plane z = 0 (from x for an axis along z) to the
        meridian of longitude 0, rad: of the Earth its rotation angle.
    axis : array_like (3,)
        Pole of the body, space frame.
    orientation : str or mapping, optional
        In place of ``axis`` and ``angle``, of the Earth: the instant of time 0, or a mapping of arguments of
        ``polhode.planets.earth_orientation``, with precession and nutation. In a scenario ``{}`` is that under [run].
    digest : str
        SHA-256 that the file must have; runs record it, so that they are repeated with the same field.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong; a file that cannot be read, by its line.
    """
    made = harmonics_of(field, degree, order, rotation, angle, axis, orientation, digest)
    told = made.arguments
    return Force(
        "gravity_field", f"gravity field {made.name} to degree {told['degree']} and order {told['order']}", told,
        made.numbers, gravity_field_acceleration, gravity_field_potential, None if made.still else gravity_field_rate,
        velocity_dependent=False, autonomous=made.still, axial=made.zonal and not (made.pole[0] or made.pole[1]),
        centre=made.mu,
    )  # fmt: skip
