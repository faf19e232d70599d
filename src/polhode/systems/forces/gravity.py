"""Gravity: of a centre that is no point, of other bodies, and of a uniform field."""

from __future__ import annotations

from typing import Annotated, Any

from polhode.arguments import number, unit_vector, vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import (
    Angle,
    Form,
    GravitationalParameter,
    Length,
    Position,
    Positions,
    Rate,
    Times,
    Unit,
    Vector,
)
from polhode.errors import InvalidInput, answering
from polhode.loads.gravity import oblate, of_harmonics, tide_along, uniform_pull
from polhode.loads.load import made
from polhode.surroundings.earth_axes import Orientation
from polhode.surroundings.ephemerides import Ephemerides, ephemeris_of
from polhode.surroundings.gravity_fields import harmonics_of
from polhode.surroundings.paths import Circle, path_of
from polhode.surroundings.surrounding import Table
from polhode.systems.forces.record import Force


@answering
def zonal(
    *,
    radius: Length,
    J2: float = 0.0,
    J3: float = 0.0,
    J4: float = 0.0,
    J5: float = 0.0,
    J6: float = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
) -> Force:
    """Zonal gravity: the field of a centre that is symmetric about an axis but not spherical.

    Parameters
    ----------
    radius : float
        Reference radius R of the coefficients, length.
    J2, J3, J4, J5, J6 : float
        Zonal coefficients, unnormalised: the potential per unit mass is ``mu / r sum J_n (R / r)^n P_n``, in addition
        to ``-mu / r``. An oblate body has a positive J2.
    axis : array_like (3,)
        Axis of symmetry towards the north pole, space frame.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.

    See Also
    --------
    polhode.loads.zonal : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> flattening = ph.forces.zonal(radius=6378136.3, J2=1.0826e-3)
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[flattening])
    >>> ds = ph.integrate(craft, step=60.0, steps=1440, position=(7078e3, 0, 0), velocity=(0, -1.04e3, 7.43e3))
    >>> last = ph.kepler.classical_elements(ds.position[-1], ds.velocity[-1], ph.planets.EARTH.mu)
    >>> round(float(last.node), 4)
    0.0168
    """
    coefficients = [number(value, f"J{n}") for n, value in enumerate((J2, J3, J4, J5, J6), 2)]
    if not any(coefficients):
        raise InvalidInput("J2 to J6 are all zero; give at least one of them, or leave this force out")
    top = max(n for n, J in enumerate(coefficients, 2) if J)
    k = unit_vector(axis, "axis")
    arguments = {f"J{n}": J for n, J in enumerate(coefficients, 2) if J} | {
        "radius": number(radius, "radius", "m", positive=True),
        "axis": plain(axis),
    }
    numbers = {"radius": arguments["radius"], "axis": k}
    numbers |= {f"J{n}": J for n, J in enumerate(coefficients[: top - 1], 2)}
    return Force(
        "zonal", f"zonal gravity up to degree {top}", arguments, load=made(oblate, "zonal", **numbers),
        conservative=True,
    )  # fmt: skip


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

    See Also
    --------
    polhode.loads.harmonics : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> field = ph.forces.gravity_field("egm2008", degree=8)
    >>> craft = ph.orbit(3.986004415e14, forces=[field])
    >>> ds = ph.integrate(craft, step=60.0, steps=60, position=(6778e3, 0, 0), velocity=(0, 4.8e3, 6.0e3))
    >>> bool(abs(ds.energy_error).max() < 1e-6)
    True
    """
    found = harmonics_of(field, degree, order, rotation, angle, axis, orientation, digest)
    told = found.arguments
    return Force(
        "gravity_field", f"gravity field {found.name} to degree {told['degree']} and order {told['order']}", told,
        load=of_harmonics(found), conservative=True, autonomous=found.still, centre=found.mu,
    )  # fmt: skip


@answering
def uniform(
    acceleration: Annotated[Any, Form.VECTOR, Unit("m_s2")],
) -> Force:
    """A constant acceleration, such as sunlight from infinity without shadow.

    Parameters
    ----------
    acceleration : array_like (3,)
        Space frame, length / time^2.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.

    Examples
    --------
    >>> import polhode as ph
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[ph.forces.uniform((1e-6, 0.0, 0.0))])
    >>> ds = ph.integrate(craft, step=60.0, steps=60, position=(6778e3, 0, 0), velocity=(0, 7.67e3, 0))
    >>> bool(abs(ds.energy_error).max() < 1e-6)
    True
    """
    a = vector(acceleration, "acceleration", unit="m / s**2")
    return Force(
        "uniform", "uniform acceleration", {"acceleration": plain(a)},
        load=made(uniform_pull, "uniform", acceleration=Table(a.tolist())), conservative=True,
    )  # fmt: skip


@answering
def third_body(
    mu: GravitationalParameter | None = None,
    *,
    position: Position | None = None,
    times: Times | None = None,
    positions: Positions | None = None,
    circle: Circle | None = None,
    ephemeris: Ephemerides | None = None,
) -> Force:
    """Gravity of another body, minus its pull on the centre, the origin of the frame.

    Near the centre the direct and the indirect term nearly cancel; their difference is computed by a formula without
    cancellation [battin1999].

    Parameters
    ----------
    mu : float, optional
        Gravity constant times mass of the body; by default that of the ephemeris' body.
    position : array_like (3,), optional
        Its position, if at rest; or
    times, positions : array_like (n,), (n, 3), optional
        A table, n >= 4, interpolated by a cubic spline; or
    circle : mapping, optional
        A circle about the centre: ``radius``, ``period`` (negative: clockwise), and optionally ``phase`` (rad, at time
        0, from the ascending node on the plane z = 0, or from x if the circle lies in that plane) and ``normal``; or
    ephemeris : Ephemeris, optional
        From ``polhode.surroundings.ephemeris``, or a mapping of its arguments: Sun, Moon and planets. The run is then
        in SI units.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.

    See Also
    --------
    polhode.loads.third_body : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> moon = ph.forces.third_body(4.9028e12, circle={"radius": 3.844e8, "period": 2.3606e6})
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[moon])
    >>> ds = ph.integrate(craft, step=600.0, steps=144, position=(42164e3, 0, 0), velocity=(0, 3.0747e3, 0))
    >>> round(float(ds.position[-1, 0]) / 1e3)
    42158
    """
    path = path_of(position, times, positions, circle, ephemeris)
    if mu is None and ephemeris is None:
        raise InvalidInput("mu is missing; give the gravity parameter of the body, or an ephemeris, which has it")
    mu = number(ephemeris_of(ephemeris).mu if mu is None else mu, "mu", "m**3 / s**2", positive=True)
    if path.still and not any(path.numbers[1:]):
        raise InvalidInput("position is zero, the place of the centre; give the place of the other body")
    return Force(
        "third_body", f"gravity of another body {path.words}", {"mu": mu, **path.arguments},
        load=made(tide_along, "third_body", path=Table(path.numbers), mu=mu), conservative=True, autonomous=path.still,
    )  # fmt: skip
