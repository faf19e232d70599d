"""Thrusters, plates and magnetic dipoles fixed in the body of a ``spacecraft``; the air, light and field they meet.

Their numbers are among the system's own parameters, see ``DEVICES``. Air and light are those of ``polhode.forces``,
with a pressure for the acceleration: their functions are bound into the loads, so a spacecraft without plates has
neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, Literal

import numpy as np

from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.so3 import add, axpy, cross, dot, scale
from polhode.arguments import UNKNOWN, array, in_unit, number, unit_vector, vector
from polhode.arguments.recorded import called, plain
from polhode.arguments.words import Form, Length, Position, Positions, Rate, Rows, Time, Times, Unit, Vector
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel import layout as L
from polhode.kernel.access import get3
from polhode.kernel.jit import helper, hole, inlined
from polhode.surroundings.ephemerides import Ephemerides
from polhode.surroundings.magnetic import MagneticField, field_at
from polhode.surroundings.nrlmsis import AirByModel
from polhode.surroundings.paths import Circle
from polhode.systems.forces import Force, drag, radiation_pressure
from polhode.systems.forces.sums import MU, OWN

GRADIENT, AIR_AT, LIGHT_AT, THRUSTERS, PLATES, FIRST_WORK, ROTORS, FIELD_AT, DIPOLES = range(9)
TORQUERS, PULSED, POINTS, DEVICES = range(9, 13)
"""Slots of the system's own parameters: whether the gravity gradient acts, ALIGNED where wheels add no products of
inertia to the body's; indices of the numbers of the air and of
the light that act on plates, or 0; number of thrusters and of plates of each body; index of the auxiliary variable
that is the first work of devices (thrusters, air, light, dipoles); index of the table of rotors, or 0; index of the
numbers of the magnetic field, or 0; 1 if the body has a magnetic moment, else 0; index of the tables of torquers and of
pulsed thrusters, or 0; index of the numbers of the points that feel the gradient of forces, or 0; start of the devices'
numbers."""
ALIGNED = 2.0
THRUSTER, ON = 7, 6
"""Numbers of a thruster: force, torque, and at ON the switch, 1 while it fires, set by the run."""
PLATE = 10
"""Numbers of a plate: normal, position, area times drag coefficient, and the coefficients of sunlight A (1 - s_s),
2 A s_s and 2 A s_d / 3."""
MOMENT = 3
"""Numbers of the magnetic moment of a body, behind those of its plates."""

air = hole("air(p, at, mu, t, r, v) -> vector", "The pressure of air, as a force has an acceleration.")
light = hole("light(p, at, mu, t, r, v) -> vector", "The pressure of light, likewise.")
magnetic = hole("magnetic(p, at, mu, t, r, v) -> vector", "The magnetic field, likewise, in the axes of space.")


# ------------------------------------------------------------------ thrusters and plates
@helper
def thrust_of(p, at, count):
    """Force and torque of the thrusters whose numbers begin at ``p[at]``, in the body frame."""
    F, T = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(count):
        slot = at + THRUSTER * k
        if p[slot + ON] != 0.0:
            F, T = add(F, get3(p, slot)), add(T, get3(p, slot + 3))
    return F, T


@helper
def air_on_plates(p, at, count, stream):
    """Force and torque of the air with dynamic pressure vector ``stream`` (against the motion), in the body frame."""
    F, T = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    size = np.sqrt(dot(stream, stream))
    if size > 0.0:
        for k in range(count):
            slot = at + PLATE * k
            c = max(0.0, -dot(get3(p, slot), stream) / size)
            f = scale(p[slot + 6] * c, stream)
            F, T = add(F, f), add(T, cross(get3(p, slot + 3), f))
    return F, T


@helper
def light_on_plates(p, at, count, beam):
    """Force and torque of light with pressure vector ``beam`` (away from the Sun), in the body frame."""
    F, T = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    size = np.sqrt(dot(beam, beam))
    if size > 0.0:
        for k in range(count):
            slot = at + PLATE * k
            e = get3(p, slot)
            c = max(0.0, -dot(e, beam) / size)
            f = axpy(p[slot + 7] * c, beam, scale(-size * c * (p[slot + 8] * c + p[slot + 9]), e))
            F, T = add(F, f), add(T, cross(get3(p, slot + 3), f))
    return F, T


@inlined
def torque_of(moment, B):
    """Torque on a magnetic moment in the field B, both in the body frame."""
    return cross(moment, B)


@inlined
def taken(requested, F, T, f, g):
    """(F + f, T + g) if requested, else (F, T)."""
    return (add(F, f), add(T, g)) if requested else (F, T)


def devices(part, p, i, t, r, v, q, w, out, work_at):
    """Force and torque of the thrusters, plates and moment of body i, or the requested parts, in the body frame.

    Thrust, light and the torque on a moment do not depend on velocities, air does. Adds their power to
    ``out[work_at:]``.
    """
    own = int(p[OWN])
    thrusters, plates, dipoles = int(p[own + THRUSTERS]), int(p[own + PLATES]), int(p[own + DIPOLES])
    F, T = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if thrusters + plates + dipoles == 0:
        return F, T
    working = part & L.MOVING != 0
    resting = part & L.RESTING != 0
    at = own + DEVICES + i * (THRUSTER * thrusters + PLATE * plates + MOMENT * dipoles)
    u = rotate_inverse(q, v)
    work = work_at + int(p[own + FIRST_WORK])
    if thrusters > 0:
        if working or resting:
            f, g = thrust_of(p, at, thrusters)
            F, T = taken(resting, F, T, f, g)
            if working:
                out[work] += dot(f, u) + dot(g, w)
        work += 1
    at += THRUSTER * thrusters
    if p[own + AIR_AT] > 0.0:
        if working:
            stream = air(p, int(p[own + AIR_AT]), p[MU], t, r, v)
            f, g = air_on_plates(p, at, plates, rotate_inverse(q, stream))
            F, T = taken(working, F, T, f, g)
            out[work] += dot(f, u) + dot(g, w)
        work += 1
    if p[own + LIGHT_AT] > 0.0:
        if working or resting:
            beam = light(p, int(p[own + LIGHT_AT]), p[MU], t, r, v)
            f, g = light_on_plates(p, at, plates, rotate_inverse(q, beam))
            F, T = taken(resting, F, T, f, g)
            if working:
                out[work] += dot(f, u) + dot(g, w)
        work += 1
    if dipoles > 0 and (working or resting):
        B = magnetic(p, int(p[own + FIELD_AT]), p[MU], t, r, v)
        g = torque_of(get3(p, at + PLATE * plates), rotate_inverse(q, B))
        if resting:
            T = add(T, g)
        if working:
            out[work] += dot(g, w)
    return F, T


def none_around(p, at, mu, t, r, v):
    """Of a spacecraft that meets no air, no light, or no field; it is never called."""
    return (np.nan, np.nan, np.nan)


# ------------------------------------------------------------------ devices fixed in the body
@dataclass(frozen=True)
class Device:
    """A thruster, a plate or a magnetic dipole.

    Attributes
    ----------
    arguments : mapping
        Its arguments in JSON types.
    vectors : tuple of 3-tuples
        Its vectors, user's body frame: force and torque of a thruster; normal and position of a plate; the moment.
    numbers : tuple of float
        Its other numbers.
    """

    arguments: Mapping[str, Any]
    vectors: tuple[Any, ...]
    numbers: tuple[float, ...]


@answering
def thruster(
    force: Annotated[Any, Form.NUMBER_OR_VECTOR, Unit("N")],
    *,
    direction: Vector | None = None,
    position: Position = (0.0, 0.0, 0.0),
    start: Time | None = None,
    stop: Time | None = None,
) -> Device:
    """A thruster fixed in the body, firing for start <= t < stop; steps are cut at both times.

    Parameters
    ----------
    force : float or array_like (3,)
        Magnitude of the force on the body, with ``direction``; or the force vector, in body axes.
    direction : array_like (3,), optional
        Direction of the force on the body, in body axes; any length.
    position : array_like (3,)
        Point of action relative to the centre of mass, in body axes; the torque is position x force.
    start, stop : float, optional
        Times of ignition and cut-off; always on without them.

    Returns
    -------
    Device

    Raises
    ------
    InvalidInput
        Names the invalid argument.
    """
    force, direction = in_unit(force, "N", "force"), in_unit(direction, UNKNOWN, "direction")
    if not isinstance(force, list | tuple | np.ndarray) or np.ndim(array(force, "force")) == 0:
        size = number(force, "force", "N")
        if direction is None:
            raise InvalidInput("direction is missing; give it beside the size of the force, or the force as 3 numbers")
        F = size * np.array(unit_vector(direction, "direction"))
    else:
        if direction is not None:
            raise InvalidInput("direction is given beside a force of 3 numbers; give the size of the force alone")
        F = vector(force, "force", unit="N")
    x = vector(position, "position", unit="m")
    with np.errstate(over="ignore", invalid="ignore"):
        torque = np.cross(x, F)
    if not np.isfinite(torque).all():
        raise InvalidInput("position times force is a torque beyond 1e308; check their units")
    given = {"start": start, "stop": stop}
    when = {name: number(value, name, "s") for name, value in given.items() if value is not None}
    if when.get("start", -inf) >= when.get("stop", inf):
        raise InvalidInput(f"stop is {when['stop']:g}, not after start, {when['start']:g}; exchange them")
    arguments = {"force": plain(force), "direction": plain(direction), "position": plain(x), **when}
    return Device(
        {name: value for name, value in arguments.items() if value is not None},
        (F, torque), (when.get("start", -inf), when.get("stop", inf)),
    )  # fmt: skip


@answering
def plate(
    area: Annotated[float, Unit("m2")],
    normal: Vector,
    *,
    position: Position = (0.0, 0.0, 0.0),
    drag_coefficient: float | None = None,
    specular: float | None = None,
    diffuse: float | None = None,
    absorbed: float | None = None,
) -> Device:
    """A flat plate fixed in the body, with one side exposed to air and sunlight.

    Parameters
    ----------
    area : float
        Area, length^2.
    normal : array_like (3,)
        Outward normal of the exposed side, in body axes; any length. For both sides give two plates.
    position : array_like (3,)
        Centre of the plate relative to the centre of mass, in body axes.
    drag_coefficient : float, optional
        Drag coefficient; without it the plate has no drag.
    specular, diffuse, absorbed : float, optional
        Fractions of the light that are reflected specularly, reflected diffusely and absorbed; give at least two, of
        sum 1. Without them light exerts no force.

    Returns
    -------
    Device

    Raises
    ------
    InvalidInput
        Names the invalid argument.
    """
    size, e = number(area, "area", "m**2", positive=True), np.array(unit_vector(normal, "normal"))
    x = vector(position, "position", unit="m")
    against = 0.0 if drag_coefficient is None else number(drag_coefficient, "drag_coefficient", positive=True)
    given = {"specular": specular, "diffuse": diffuse, "absorbed": absorbed}
    shares = {name: number(value, name) for name, value in given.items() if value is not None}
    for name, value in shares.items():
        if not 0.0 <= value <= 1.0:
            raise InvalidInput(f"{name} is {value:g}; a share of the light lies between 0 and 1")
    reflected = (0.0, 0.0, 0.0)
    if shares:
        left = 1.0 - sum(shares.values())
        if len(shares) == 1 or left < -1e-9 or (len(shares) == 3 and left > 1e-9):
            raise InvalidInput(
                f"specular, diffuse and absorbed must have the sum 1, but {' + '.join(shares)} are "
                f"{sum(shares.values()):g}; give two of them, or three that fit"
            )
        mirrored = shares.get("specular", max(left, 0.0))
        scattered = shares.get("diffuse", max(left, 0.0))
        reflected = (size * (1.0 - mirrored), 2.0 * size * mirrored, 2.0 / 3.0 * size * scattered)
    arguments = {"area": size, "normal": plain(normal), "position": plain(x)}
    arguments |= ({} if drag_coefficient is None else {"drag_coefficient": against}) | shares
    return Device(arguments, (e, x), (against * size, *reflected))


@answering
def magnetic_dipole(moment: Annotated[Any, Form.VECTOR, Unit("A_m2")]) -> Device:
    """A magnetic moment fixed in the body of a spacecraft: a permanent magnet, or what its currents leave.

    Its torque is ``moment x B``, with B from ``magnetic_field``; the force on it, some 1e-11 N per A m^2
    in a low orbit, is neglected.

    Parameters
    ----------
    moment : array_like (3,)
        Magnetic moment in body axes, torque / field (A m^2).

    Returns
    -------
    Device

    Raises
    ------
    InvalidInput
        The moment is not 3 finite numbers.
    """
    M = vector(moment, "moment", unit="A m**2")
    return Device({"moment": plain(M)}, (M,), ())


def moment_of(dipoles: Any, field: Any) -> tuple[list[Device], Device | None]:
    """Magnetic dipoles as records, and one with the sum of their moments; None without any.

    Raises
    ------
    InvalidInput
        Dipoles that meet no field.
    """
    made = devices_of(dipoles, magnetic_dipole, "dipoles")
    if made and field is None:
        raise InvalidInput("dipoles are given, but there is no magnetic_field; give it, or leave them out")
    if not made:
        return made, None
    return made, Device({}, (np.sum([one.vectors[0] for one in made], axis=0),), ())


def field_as_force(field: MagneticField) -> Force:
    """A magnetic field in the place of a force, whose numbers a system keeps beside those of its forces."""
    told = "a magnetic field"
    return Force("magnetic_field", told, field.arguments, field.numbers, field_at, None, None, False, False)


def devices_of(given: Any, make: Callable[..., Device], name: str) -> list[Device]:
    """Devices as records; errors name the device by its number."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InvalidInput(f"{name} must be a list of what polhode.{make.__name__} makes, not {shown(given)}")
    made = []
    for k, one in enumerate(given):
        try:
            made.append(one if isinstance(one, Device) else _called(make, one))
        except InvalidInput as refused:
            raise InvalidInput(f"{name}[{k}]: {refused}") from None
    return made


def _called(make: Callable[..., Device], arguments: Any) -> Device:
    if not isinstance(arguments, Mapping):
        raise InvalidInput(f"it must be made by polhode.{make.__name__}, or a mapping of its arguments")
    return called(make, arguments)


def atmosphere(
    *,
    density: Annotated[float, Unit("kg_m3")] | None = None,
    radius: Length | None = None,
    scale: Length | None = None,
    table: Rows | None = None,
    air: AirByModel | None = None,
    rotation: Rate | None = None,
    axis: Vector = (0.0, 0.0, 1.0),
) -> Force:
    """Air that plates meet.

    It is that of ``forces.drag``, with a coefficient of 1.

    Parameters
    ----------
    density : float, optional
        At radius, mass / length^3.
    radius : float, optional
        Radius (not altitude) at which the density is given.
    scale : float, optional
        Height in which the density falls by e.
    table : array_like (n, 2), optional
        Rows of radius and density.
    air : Air, optional
        From ``polhode.nrlmsis``, or a mapping of its arguments.
    rotation : float, optional
        Rotation rate, rad / time; by default 0, of ``air`` that of the Earth.
    axis : array_like (3,)
        Axis of rotation, space frame.
    """
    return drag(
        coefficient=1.0, density=density, radius=radius, scale=scale, table=table, air=air, rotation=rotation,
        axis=axis,
    )  # fmt: skip


def sunlight(
    pressure: Annotated[float, Unit("N_m2")],
    *,
    direction: Vector | None = None,
    position: Position | None = None,
    times: Times | None = None,
    positions: Positions | None = None,
    circle: Circle | None = None,
    ephemeris: Ephemerides | None = None,
    distance: Length | None = None,
    shadow: Literal["none", "cylinder", "cone"] = "none",
    radius: Length | None = None,
    sun_radius: Length | None = None,
) -> Force:
    """Light that plates meet.

    It is that of ``forces.radiation_pressure``, with a pressure for the acceleration.

    Parameters
    ----------
    pressure : float
        In full light, on a black plate that faces the Sun, mass / (length time^2).
    direction : array_like (3,), optional
        Towards a Sun infinitely far away; or else its position:
    position, times, positions, circle, ephemeris
        As for ``third_body``.
    distance : float, optional
        Distance from the Sun where the pressure is the one given; elsewhere it follows the inverse square.
    shadow : {"none", "cylinder", "cone"}
        As for ``forces.radiation_pressure``.
    radius : float, optional
        Radius of the body that casts the shadow.
    sun_radius : float, optional
        Radius of the Sun, for the cone.
    """
    try:
        return radiation_pressure(
            in_unit(pressure, "Pa", "pressure"), direction=direction, position=position, times=times,
            positions=positions, circle=circle, ephemeris=ephemeris, distance=distance, shadow=shadow, radius=radius,
            sun_radius=sun_radius,
        )  # fmt: skip
    except InvalidInput as refused:
        raise InvalidInput(str(refused).replace("acceleration", "pressure")) from None


def surroundings(air: Any, light: Any, plates: Sequence[Device]) -> tuple[list[Force], dict[str, Any]]:
    """Air and sunlight on plates from their arguments, as forces, and the record of their arguments."""
    made: list[Force] = []
    arguments: dict[str, Any] = {}
    for build, given, own, what, meets in (
        (atmosphere, air, "coefficient", "a drag_coefficient", any(one.numbers[0] for one in plates)),
        (sunlight, light, "acceleration", "shares of light (specular, diffuse)",
         any(any(one.numbers[1:]) for one in plates)),
    ):  # fmt: skip
        name = build.__name__
        if given is None:
            if meets:
                raise InvalidInput(f"plates have {what}, but there is no {name}; give it, or leave them out")
            continue
        if not isinstance(given, Mapping):
            raise InvalidInput(f"{name} must be a mapping of its arguments, not {shown(given)}")
        if not meets:
            raise InvalidInput(f"{name} is given, but no plate has {what}; give one of them, or leave it out")
        try:
            force = called(build, given)
        except InvalidInput as refused:
            raise InvalidInput(f"{name}: {refused}") from None
        made.append(force)
        arguments[name] = {key: value for key, value in force.arguments.items() if key not in ("kind", own)}
        if build is sunlight:
            arguments[name]["pressure"] = force.arguments[own]
    return made, arguments


def in_principal(frame: Any, one: Device) -> list[float]:
    """The vectors of a device in the principal frame, flat."""
    inside = [rotate_inverse(tuple(frame), tuple(v)) for v in one.vectors]
    return [float(x) for v in inside for x in v]
