"""Magnetic fields around a body."""

from __future__ import annotations

from typing import Annotated, Any

from polhode.arguments.words import Angle, Form, Length, Numbers, Rate, Vector
from polhode.errors import answering
from polhode.kernel.jit import helper
from polhode.programs.opaque import Opaque
from polhode.surroundings.magnetic import EARTH_RADIUS, EARTH_RATE, MagneticField, field_at, magnetic_field
from polhode.surroundings.orientation import Orientation
from polhode.surroundings.surrounding import Surrounding, Table, made


def of_few_terms(body, t, numbers):
    """The field of a dipole, in the axes of space."""
    return field_at(numbers.p, numbers.at, 0.0, t, tuple(body.position), ())


inner = helper(field_at)


@helper
def field_of_terms(p, at, t, r):
    """The field of a model of many terms, as ``programs.opaque`` calls it."""
    return inner(p, at, 0.0, t, r, r)


MANY_TERMS = Opaque(field_of_terms, 3, "a magnetic field of many terms")


def of_many_terms(body, t, numbers):
    """The field of a model, in the axes of space."""
    return MANY_TERMS(numbers, t, body.position)


def quantity(field: MagneticField) -> Surrounding:
    """A field as a quantity around bodies; its degree says how it is computed."""
    kind = f"{field.arguments['kind']}_field"
    recorded = {name: value for name, value in field.arguments.items() if name != "kind"}
    return made(of_few_terms if kind == "dipole_field" else of_many_terms, kind, recorded, numbers=Table(field.numbers))


@answering
def dipole_field(
    *,
    epoch: Annotated[Any, Form.NUMBER] = 2025.0,
    coefficients: Numbers | None = None,
    radius: Length = EARTH_RADIUS,
    rotation: Rate = EARTH_RATE,
    angle: Angle = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
    orientation: Orientation | None = None,
) -> Surrounding:
    """The magnetic field of a dipole that turns with its planet, by default that of the Earth.

    Parameters
    ----------
    epoch : float or str
        Year with its fraction, or a date, of the coefficients of the Earth (IGRF-14, degree 1).
    coefficients : array_like (3,), optional
        g_10, g_11 and h_11 (nT) of a dipole of your own.
    radius : float
        Reference radius (m) of the coefficients.
    rotation : float
        Rotation rate (rad/s) of the planet about ``axis``.
    angle : float
        Angle (rad) of the prime meridian at time 0, as of ``polhode.surroundings.magnetic_field``.
    axis : array_like (3,)
        Axis of rotation towards the north pole, in space.
    orientation : str or mapping, optional
        In place of ``axis`` and ``angle``, as of ``polhode.surroundings.magnetic_field``.

    Returns
    -------
    Surrounding
        A field (T, space), such as the ``field`` that ``polhode.loads.torquers`` and ``polhode.loads.magnet`` read.

    Raises
    ------
    InvalidInput
        Names the argument that is wrong; an epoch that the coefficients do not reach.

    See Also
    --------
    igrf_field : with higher degrees.

    Examples
    --------
    >>> import polhode as ph
    >>> field = ph.surroundings.dipole_field(coefficients=(-3e4, 0, 0))
    >>> craft = ph.system(ph.body("craft", 4.0, (0.02, 0.03, 0.03)), ph.loads.central(3.986004415e14),
    ...                   ph.loads.magnet((0, 0, 0.1)), surroundings={"field": field})
    >>> ds = ph.integrate(craft, step=1.0, steps=60, position=(6.878e6, 0, 0), velocity=(0, 4.8e3, 5.9e3))
    >>> round(float(ds.angular_velocity[-1, 1]), 5)
    -0.00036
    """
    field = magnetic_field("dipole", epoch=epoch, coefficients=coefficients, radius=radius, rotation=rotation,
                           angle=angle, axis=axis, orientation=orientation)  # fmt: skip
    return quantity(field)


@answering
def igrf_field(
    *,
    epoch: Annotated[Any, Form.NUMBER] = 2025.0,
    degree: int | None = None,
    file: str | None = None,
    radius: Length = EARTH_RADIUS,
    rotation: Rate = EARTH_RATE,
    angle: Angle = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
    orientation: Orientation | None = None,
    digest: str = "",
) -> Surrounding:
    """The magnetic field of the Earth by the International Geomagnetic Reference Field.

    Parameters
    ----------
    epoch : float or str
        Year with its fraction, or a date; coefficients are linear between those of the model.
    degree : int, optional
        Highest degree, 1 to 13; by default all that there are.
    file : str, optional
        Coefficients as an .shc file; by default those of the package ppigrf (``polhode[magnetic]``).
    radius : float
        Reference radius (m) of the coefficients.
    rotation : float
        Rotation rate (rad/s) of the Earth about ``axis``.
    angle : float
        Angle (rad) of the prime meridian at time 0, as of ``polhode.surroundings.magnetic_field``.
    axis : array_like (3,)
        Axis of rotation towards the north pole, in space.
    orientation : str or mapping, optional
        In place of ``axis`` and ``angle``, as of ``polhode.surroundings.magnetic_field``.
    digest : str
        SHA-256 that the file must have; runs record it, so that they are repeated with the same field.

    Returns
    -------
    Surrounding
        A field (T, space), such as the ``field`` that ``polhode.loads.torquers`` and ``polhode.loads.magnet`` read.

    Raises
    ------
    InvalidInput
        Names the argument that is wrong; an epoch that the coefficients do not reach.
    MissingExtra
        Without ppigrf and without a file.
    FileProblem
        A file that cannot be read.

    See Also
    --------
    dipole_field : the dipole alone.

    Examples
    --------
    >>> import polhode as ph
    >>> field = ph.surroundings.igrf_field(epoch=2026.2, degree=8)
    >>> bus = ph.system(ph.body("bus", 4.0, (0.02, 0.03, 0.03)), ph.loads.central(ph.planets.EARTH.mu),
    ...                 ph.loads.magnet((0.0, 0.0, 0.2)), surroundings={"field": field})
    >>> ds = ph.integrate(bus, step=1.0, steps=60, position=(6878e3, 0, 0), velocity=(0, 4.8e3, 5.9e3))
    >>> bool(abs(ds.angular_velocity[-1]).max() > 1e-3)
    True
    """
    field = magnetic_field("igrf", epoch=epoch, degree=degree, file=file, radius=radius, rotation=rotation, angle=angle,
                           axis=axis, orientation=orientation, digest=digest)  # fmt: skip
    return quantity(field)
