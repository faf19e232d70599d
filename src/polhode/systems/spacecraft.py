r"""A spacecraft: coupled orbit and attitude of a rigid body, with gravity gradient, thrusters, drag and sunlight.

    p' = -mu mass r / |r|^3 + R F + mass sum a_i(t, r, v),     r' = v = p / mass
    m' = m x I^-1 m + T,                                       R' = R hat(I^-1 m)

Position and attitude are one state. The gravity gradient acts on both, with force F and torque T from one potential
[hughes1986, ch. 8],

    V = -mu / (2 r^3) (tr I - 3 n . I n)
    F = -3 mu / (2 r^4) ((tr I - 5 n . I n) n + 2 I n),        T = 3 mu / r^3 n x I n

the leading terms in size over distance: the neglected ones are smaller by that ratio. With ``gravity_gradient=False``
orbit and attitude are coupled only by thrusters, plates and functions. The accelerations a_i of ``polhode.forces`` act
on the centre of mass, as for ``orbit``, and exert no torque.

Thrusters and plates are fixed in the body; directions and positions are in the user's body axes, positions relative to
the centre of mass. A plate has one active side, along its normal e; only the central body casts a shadow on it. With
the direction u of the motion through the air, the direction s to the Sun and positive cosines c of either with e,

    F_air = -(1/2) rho |v_air|^2 C_D A c u,      F_light = -P A c ((1 - s_s) s + 2 (s_s c + s_d / 3) e)

with specular and diffuse fractions s_s and s_d [wertz1978, ch. 17]. Where air or light comes edge-on to a plate the
load has a kink, which limits methods to order 2 there.

Conserved: energy, unless a load without potential or dependent on time acts; total angular momentum about the centre
(orbit and spin, in space) if no forces, thrusters, plates or functions act, or only its vertical component if there are
forces, all symmetric about z; for a single body with two equal moments, the angular momentum about its axis.

================ ============================================================== =======================================
parameter        meaning                                                        unit
================ ============================================================== =======================================
inertia          moments or tensor about the centre of mass                     mass length^2
mu               gravitational constant times mass of the centre, positive      length^3 / time^2
mass             of the body; affects the path only by gradient and devices     mass
gravity_gradient whether the gravity gradient acts                              -
forces           list of forces from ``polhode.forces``                         -
thrusters        list of thrusters from ``thruster``                            -
plates           list of plates from ``plate``                                  -
atmosphere       arguments of ``forces.drag``, for the plates                   mass / length^3, length, rad / time
sunlight         arguments of ``forces.radiation_pressure``, for the plates,    mass / (length time^2), length
                 with ``pressure`` instead of ``acceleration``
torque           function (t, q, omega, parameters) -> (x, y, z), body frame    mass length^2 / time^2
force            function (t, position, velocity, parameters), space frame      mass length / time^2
load             function (t, position, velocity, q, omega, parameters)         force (space), torque (body)
                 -> (force, torque)
potential        function (t, position, q, parameters) -> number                mass length^2 / time^2
parameters       numbers passed to the functions                                -
surface          radius of the central body; a run ends there                   length
================ ============================================================== =======================================

Give N masses and inertias for several independent spacecraft. Forces, thrusters and plates are then the same for all,
each in its own body axes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.quaternion import rotate, rotate_inverse
from polhode.algebra.so3 import add, axpy, cross, dot, scale, times
from polhode.arguments import UNKNOWN, array, in_unit, number, numbers, truth, vector
from polhode.errors import InvalidInput, answering, shown, unknown_name
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import helper, inlined
from polhode.systems import forces as of_orbits
from polhode.systems.force_table import (
    AUXILIARY,
    COUNT,
    ROW,
    ROWS,
    acceleration,
    force_table,
    level,
    masses_of,
    own_numbers,
)
from polhode.systems.forces import DRAG, RADIATION, Force, acceleration_of
from polhode.systems.gravity_gradient import axis_of_symmetry
from polhode.systems.inertia import KG_M2, MassProperties, mass_of, principal, turning
from polhode.systems.record import Switch, System, called, plain
from polhode.systems.user import (
    added_functions,
    force_added,
    load_added,
    place_gradient_added,
    place_potential_added,
    read_only,
    torque_added,
)
from polhode.systems.words import (
    Forces,
    Form,
    Function,
    GravitationalParameter,
    Inertia,
    Length,
    ListOf,
    Numbers,
    Position,
    Time,
    Unit,
    Vector,
)

__all__ = ["plate", "spacecraft", "thruster"]

GRADIENT, AIR, LIGHT, THRUSTERS, PLATES, WORKS, DEVICES = range(7)
"""Slots of the system's own parameters: whether the gravity gradient acts; whether air and light act on plates (their
rows follow the counted ones of the table, in this order); number of thrusters and of plates of each body; index of the
auxiliary variable that is the first work of devices (thrusters, air, light); start of the devices' numbers."""
THRUSTER, ON = 7, 6
"""Numbers of a thruster: force, torque, and at ON the switch, 1 while it fires, set by the run."""
PLATE = 10
"""Numbers of a plate: normal, position, area times drag coefficient, and the coefficients of sunlight A (1 - s_s),
2 A s_s and 2 A s_d / 3."""


# ------------------------------------------------------------------ gravity gradient
@inlined
def shape(I):
    """Moments minus the third (a sphere, which has no gradient), so that a nearly spherical body loses no digits."""
    return (I[0] - I[2], I[1] - I[2], 0.0)


@helper
def gradient(mu, I, r, q):
    """Force and torque of the gravity gradient, both in the body frame."""
    D = shape(I)
    size = np.sqrt(dot(r, r))
    n = scale(1.0 / size, rotate_inverse(q, r))
    Dn = times(D, n)
    k = 1.5 * mu / (size * size * size)
    F = scale(-k / size, axpy(D[0] + D[1] - 5.0 * dot(n, Dn), n, scale(2.0, Dn)))
    return F, scale(2.0 * k, cross(n, Dn))


@helper
def gradient_level(mu, I, r, q):
    """Potential of the gravity gradient."""
    D = shape(I)
    square = dot(r, r)
    n = rotate_inverse(q, r)
    return -0.5 * mu / (square * np.sqrt(square)) * (D[0] + D[1] - 3.0 * dot(n, times(D, n)) / square)


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
            c = -dot(get3(p, slot), stream) / size
            if c > 0.0:
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
            c = -dot(e, beam) / size
            if c > 0.0:
                f = axpy(p[slot + 7] * c, beam, scale(-size * c * (p[slot + 8] * c + p[slot + 9]), e))
                F, T = add(F, f), add(T, cross(get3(p, slot + 3), f))
    return F, T


@inlined
def taken(requested, F, T, f, g):
    """(F + f, T + g) if requested, else (F, T)."""
    return (add(F, f), add(T, g)) if requested else (F, T)


@helper
def devices(part, p, i, t, r, v, q, w, out, work_at):
    """Force and torque of the thrusters and plates of body i, or the requested parts of them, in the body frame.

    Thrust and light do not depend on velocities, air does. Adds their power to ``out[work_at:]``.
    """
    own = int(p[AUXILIARY])
    thrusters, plates = int(p[own + THRUSTERS]), int(p[own + PLATES])
    F, T = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if thrusters + plates == 0:
        return F, T
    working = part & L.MOVING != 0
    resting = part & L.RESTING != 0
    at = own + DEVICES + i * (THRUSTER * thrusters + PLATE * plates)
    u = rotate_inverse(q, v)
    work = work_at + int(p[own + WORKS])
    if thrusters > 0:
        if working or resting:
            f, g = thrust_of(p, at, thrusters)
            F, T = taken(resting, F, T, f, g)
            if working:
                out[work] += dot(f, u) + dot(g, w)
        work += 1
    at += THRUSTER * thrusters
    row = ROWS + ROW * int(p[COUNT])
    if p[own + AIR] != 0.0:
        if working:
            stream = acceleration_of(DRAG, p, int(p[row + 1]), p[0], t, r, v)
            f, g = air_on_plates(p, at, plates, rotate_inverse(q, stream))
            F, T = taken(working, F, T, f, g)
            out[work] += dot(f, u) + dot(g, w)
        row += ROW
        work += 1
    if p[own + LIGHT] != 0.0 and (working or resting):
        beam = acceleration_of(RADIATION, p, int(p[row + 1]), p[0], t, r, v)
        f, g = light_on_plates(p, at, plates, rotate_inverse(q, beam))
        F, T = taken(resting, F, T, f, g)
        if working:
            out[work] += dot(f, u) + dot(g, w)
    return F, T


# ------------------------------------------------------------------ roles
def spacecraft_loads(part, t, N, y, bodies, parameters, out):
    """Forces and torques of gravity, further forces, gravity gradient, thrusters and plates; or the requested parts.

    Behind the loads, the rates of work.
    """
    own = int(parameters[AUXILIARY])
    work_at = L.LOAD * N
    for k in range(int(parameters[COUNT])):
        n = int(parameters[ROWS + ROW * k + 3])
        if n >= 0:
            out[work_at + n] = 0.0
    kinds = min(1, int(parameters[own + THRUSTERS])) + int(parameters[own + AIR]) + int(parameters[own + LIGHT])
    for k in range(kinds):
        out[work_at + int(parameters[own + WORKS]) + k] = 0.0
    for i in range(N):
        r, q = get3(y, L.BODY * i + L.POSITION), get4(y, L.BODY * i + L.ATTITUDE)
        mass = bodies[L.CONSTANTS * i + L.MASS]
        v = scale(bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(y, L.BODY * i + L.MOMENTUM))
        w = times(get3(bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), get3(y, L.BODY * i + L.ANGULAR))
        force = scale(mass, acceleration(part, parameters, t, r, v, mass, out, work_at))
        F, T = devices(part, parameters, i, t, r, v, q, w, out, work_at)
        if parameters[own + GRADIENT] != 0.0 and part & L.POTENTIAL_PART != 0:
            f, g = gradient(parameters[0], get3(bodies, L.CONSTANTS * i + L.INERTIA), r, q)
            F, T = add(F, f), add(T, g)
        put3(out, L.LOAD * i, add(force, rotate(q, F)))
        put3(out, L.LOAD * i + 3, T)


def spacecraft_commutator(part, t, N, y, bodies, parameters, out):
    """Gradient of F . F / mass + T . I^-1 T, of point gravity and its gradient only.

    In body axes both depend only on the position x, with T = -x x F; where the central part of F cancels, only the
    derivative of the gradient's part is used. Components along x are summed separately, as the torque is the cross
    product of x with the others, which are smaller by about 14 orders of magnitude.
    """
    mu = parameters[0]
    on = parameters[int(parameters[AUXILIARY]) + GRADIENT]
    for i in range(N):
        r, q = get3(y, L.BODY * i + L.POSITION), get4(y, L.BODY * i + L.ATTITUDE)
        mass = bodies[L.CONSTANTS * i + L.MASS]
        square = dot(r, r)
        size = np.sqrt(square)
        x = rotate_inverse(q, r)
        n = scale(1.0 / size, x)
        D = scale(on, shape(get3(bodies, L.CONSTANTS * i + L.INERTIA)))
        Dn = times(D, n)
        trace, a = D[0] + D[1], dot(n, times(D, n))
        k = on * 1.5 * mu / (size * square)
        f = scale(-k / size, axpy(trace - 5.0 * a, n, scale(2.0, Dn)))
        u = times(get3(bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), scale(2.0 * k, cross(n, Dn)))
        # The derivative of F along F / mass, and that of f along F / mass + x x u; F / mass is b n + d.
        b = -mu / square - k / (mass * size) * (trace - 5.0 * a)
        d = scale(-2.0 * k / (mass * size), Dn)
        e = add(d, cross(x, u))
        w = axpy(b, n, e)
        s, pull, shaped = dot(n, w), -mu * mass / (size * square), -k / square
        aside = axpy(pull, d, scale(shaped, axpy(trace - 5.0 * a, e, axpy(-10.0 * s, Dn, scale(2.0, times(D, w))))))
        aside = add(aside, cross(u, f))
        along = pull * (-2.0 * b - 3.0 * dot(n, d)) + shaped * (
            (trace - 5.0 * a) * b + (35.0 * a - 5.0 * trace) * s - 10.0 * dot(Dn, w)
        )
        put3(out, L.LOAD * i, rotate(q, scale(2.0, axpy(along, n, aside))))
        put3(out, L.LOAD * i + 3, scale(2.0, cross(aside, x)))


def spacecraft_potential(t, N, y, bodies, parameters):
    """Potential energy of the centre, of the forces that have one, and of the gravity gradient."""
    total = 0.0
    on = parameters[int(parameters[AUXILIARY]) + GRADIENT]
    for i in range(N):
        r = get3(y, L.BODY * i + L.POSITION)
        total += bodies[L.CONSTANTS * i + L.MASS] * level(parameters, t, r)
        if on != 0.0:
            I = get3(bodies, L.CONSTANTS * i + L.INERTIA)
            total += gradient_level(parameters[0], I, r, get4(y, L.BODY * i + L.ATTITUDE))
    return total


# ------------------------------------------------------------------ devices fixed in the body
@dataclass(frozen=True)
class Device:
    """A thruster or a plate.

    Attributes
    ----------
    arguments : mapping
        Its arguments in JSON types.
    vectors : tuple of 3-tuples
        Its vectors, user's body frame: force and torque of a thruster; normal and position of a plate.
    numbers : tuple of float
        Its other numbers.
    """

    arguments: Mapping[str, Any]
    vectors: tuple[Any, Any]
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
        F = size * _unit(direction, "direction")
    else:
        if direction is not None:
            raise InvalidInput("direction is given beside a force of 3 numbers; give the size of the force alone")
        F = vector(force, "force", unit="N")
    x = vector(position, "position", unit="m")
    given = {"start": start, "stop": stop}
    when = {name: number(value, name, "s") for name, value in given.items() if value is not None}
    if when.get("start", -inf) >= when.get("stop", inf):
        raise InvalidInput(f"stop is {when['stop']:g}, not after start, {when['start']:g}; exchange them")
    arguments = {"force": plain(force), "direction": plain(direction), "position": plain(x), **when}
    return Device(
        {name: value for name, value in arguments.items() if value is not None},
        (F, np.cross(x, F)), (when.get("start", -inf), when.get("stop", inf)),
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
    size, e = number(area, "area", "m**2", positive=True), _unit(normal, "normal")
    x = vector(position, "position", unit="m")
    drag = 0.0 if drag_coefficient is None else number(drag_coefficient, "drag_coefficient", positive=True)
    given = {"specular": specular, "diffuse": diffuse, "absorbed": absorbed}
    shares = {name: number(value, name) for name, value in given.items() if value is not None}
    for name, value in shares.items():
        if not 0.0 <= value <= 1.0:
            raise InvalidInput(f"{name} is {value:g}; a share of the light lies between 0 and 1")
    light = (0.0, 0.0, 0.0)
    if shares:
        left = 1.0 - sum(shares.values())
        if len(shares) == 1 or left < -1e-9 or (len(shares) == 3 and left > 1e-9):
            raise InvalidInput(
                f"specular, diffuse and absorbed must have the sum 1, but {' + '.join(shares)} are "
                f"{sum(shares.values()):g}; give two of them, or three that fit"
            )
        mirrored = shares.get("specular", max(left, 0.0))
        scattered = shares.get("diffuse", max(left, 0.0))
        light = (size * (1.0 - mirrored), 2.0 * size * mirrored, 2.0 / 3.0 * size * scattered)
    arguments = {"area": size, "normal": plain(normal), "position": plain(x)}
    arguments |= ({} if drag_coefficient is None else {"drag_coefficient": drag}) | shares
    return Device(arguments, (e, x), (drag * size, *light))


def _unit(value: Any, name: str) -> Any:
    v = vector(value, name, unit=UNKNOWN)
    if not v.any():
        raise InvalidInput(f"{name} is zero; give a direction")
    v /= np.abs(v).max()
    return v / np.linalg.norm(v)


def _devices(given: Any, make: Callable[..., Device], name: str) -> list[Device]:
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


def _surroundings(atmosphere: Any, sunlight: Any, plates: Sequence[Device]) -> tuple[list[Force], dict[str, Any]]:
    """Air and sunlight on plates, as rows of the force table with pressures as accelerations; and their record."""
    made: list[Force] = []
    arguments: dict[str, Any] = {}
    for name, given, build, own, what, meets in (
        (
            "atmosphere",
            atmosphere,
            of_orbits.drag,
            "coefficient",
            "a drag_coefficient",
            any(one.numbers[0] for one in plates),
        ),
        (
            "sunlight",
            sunlight,
            of_orbits.radiation_pressure,
            "acceleration",
            "shares of light (specular, diffuse)",
            any(any(one.numbers[1:]) for one in plates),
        ),
    ):
        if given is None:
            if meets:
                raise InvalidInput(f"plates have {what}, but there is no {name}; give it, or leave them out")
            continue
        if not isinstance(given, Mapping):
            raise InvalidInput(f"{name} must be a mapping of what {build.__name__} takes, not {shown(given)}")
        if not meets:
            raise InvalidInput(f"{name} is given, but no plate has {what}; give one of them, or leave it out")
        values = dict(given)
        known = [word for word in inspect.signature(build).parameters if word not in ("kd", own)]
        if name == "sunlight":
            known.append("pressure")
        if "pressure" in known and "pressure" not in values:
            raise InvalidInput(f"{name}: pressure is missing; give that of the light")
        for word in values:
            if word not in known:
                raise InvalidInput(f"{name}: {unknown_name('argument', word, known)}")
        strength = in_unit(values.pop("pressure", 1.0), "Pa", f"{name}: pressure")
        try:
            force = build(**{own: strength}, **values)
        except InvalidInput as refused:
            raise InvalidInput(f"{name}: {str(refused).replace('acceleration', 'pressure')}") from None
        made.append(force)
        arguments[name] = {key: value for key, value in force.arguments.items() if key not in ("kind", own)}
        if name == "sunlight":
            arguments[name]["pressure"] = force.arguments[own]
    return made, arguments


# ------------------------------------------------------------------ the system
@answering
def spacecraft(
    inertia: Inertia,
    mu: GravitationalParameter,
    mass: Annotated[Any, Form.NUMBER, Unit("kg")] | None = None,
    gravity_gradient: bool = True,
    forces: Forces = (),
    thrusters: Annotated[Sequence[Any], ListOf(thruster)] = (),
    plates: Annotated[Sequence[Any], ListOf(plate)] = (),
    atmosphere: Annotated[Mapping[str, Any], Form.ATMOSPHERE] | None = None,
    sunlight: Annotated[Mapping[str, Any], Form.SUNLIGHT] | None = None,
    torque: Function | None = None,
    force: Function | None = None,
    load: Function | None = None,
    potential: Function | None = None,
    parameters: Numbers | None = None,
    surface: Length | None = None,
) -> System:
    """A rigid body that orbits a centre at the origin, with orbit and attitude in one state.

    Parameters
    ----------
    inertia : array_like (3,), (3, 3), or (N, 3), (N, 3, 3)
        Principal moments in any order or full tensor, about the centre of mass, in the user's body frame. One for each
        spacecraft if ``mass`` has N entries.
    mu : float
        Gravitational constant times mass of the centre, positive.
    mass : float or array_like (N,), optional
        Mass of the spacecraft, or of N that do not act on each other; by default that of ``inertia`` if it comes from
        ``polhode.inertia``, else 1.
    gravity_gradient : bool
        Whether the gravity gradient acts on orbit and attitude; without it the centre attracts a point mass.
    forces : sequence of Force
        From ``polhode.forces``, or mappings of their arguments with a ``kind``; they act on the centre of mass.
    thrusters : sequence
        From ``polhode.thruster``, or mappings of its arguments.
    plates : sequence
        From ``polhode.plate``, or mappings of its arguments.
    atmosphere : mapping, optional
        For plates with a drag coefficient: arguments of ``forces.drag`` that describe the air (``density``, ``radius``,
        ``scale`` or ``table``, ``rotation``, ``axis``).
    sunlight : mapping, optional
        For plates that reflect or absorb light: ``pressure`` and the other arguments of ``forces.radiation_pressure``.
    torque, force, load : function, optional
        At most one, added to the other loads: ``torque(t, q, omega, parameters)`` in the user's body frame,
        ``force(t, position, velocity, parameters)`` in space, or ``load(t, position, velocity, q, omega, parameters) ->
        (force, torque)``.
    potential : function, optional
        ``potential(t, position, q, parameters) -> float``, added to the others. Given alone, force and torque are its
        negative gradient by central differences of order 6 (relative error about 1e-13); beside one of the functions
        above it only enters the reported energy.
    parameters : sequence of float, optional
        Passed to the functions as an array.
    surface : float, optional
        Radius of the central body; a run ends where the spacecraft descends to it, with the event "impact".

    Returns
    -------
    System
        Its trajectories also have ``spin`` (angular momentum about the centre of mass, space frame),
        ``attitude_energy`` (of rotation and gravity gradient) and ``orbital_energy`` (of the osculating conic): for a
        real satellite the attitude's part of the total energy is below its round-off.

    Raises
    ------
    InvalidInput
        Names the invalid argument, and a force, thruster or plate by its number.

    Examples
    --------
    >>> spacecraft(inertia=(90.0, 70.0, 60.0), mu=3.986004415e14, mass=120.0).conserves
    ('energy', 'angular_momentum_space')
    """
    mass = mass_of(inertia, in_unit(mass, "kg", "mass"), 1.0)
    inertia = inertia.inertia if isinstance(inertia, MassProperties) else in_unit(inertia, KG_M2, "inertia")
    surface = in_unit(surface, "m", "surface")
    mu, masses = number(mu, "mu", "m**3 / s**2", positive=True), masses_of(mass)
    N = len(masses)
    moments, frames = _inertias(inertia, N)
    gravity_gradient = truth(gravity_gradient, "gravity_gradient")
    burning, panels = _devices(thrusters, thruster, "thrusters"), _devices(plates, plate, "plates")
    beside, surroundings = _surroundings(atmosphere, sunlight, panels)
    around = [one.kind for one in beside]
    acting = ["thrusters"] * bool(burning) + [f"{kind} on plates" for kind in around]
    head = [float(gravity_gradient), float("drag" in around), float("radiation_pressure" in around),
            float(len(burning)), float(len(panels))]  # fmt: skip
    fixed: list[float] = []
    switched: list[tuple[int, int]] = []
    for frame in frames:
        for k, one in enumerate(burning):
            fixed += [*_in_principal(frame, one), 1.0]
            switched.append((DEVICES + len(fixed) - 1, k))
        for one in panels:
            fixed += [*_in_principal(frame, one), *one.numbers]
    table = force_table(mu, masses, forces, beside, surface=surface)
    if table.mass_at is not None:
        raise InvalidInput("a spacecraft keeps its mass; give thrust as an acceleration, or thrusters")
    table_parameters = np.concatenate([table.parameters, head, [float(len(table.auxiliary))], fixed])
    switches = list(table.switches)
    for at, k in switched:
        start, stop = burning[k].numbers
        if (start, stop) != (-inf, inf):
            switches.append(Switch(int(table.parameters[AUXILIARY]) + at, start, stop, f"thrusters[{k}]"))
    first = frames[0]
    functions = added_functions(
        {
            "torque": (torque, torque_added), "force": (force, force_added), "load": (load, load_added),
            "potential": (potential, place_potential_added, place_gradient_added),
        },
        spacecraft_loads, spacecraft_potential, table_parameters, len(table.auxiliary) + len(acting),
        None if parameters is None else numbers(parameters, "parameters"), N,
        (float(first[0]), float(first[1]), float(first[2]), float(first[3])),
    )  # fmt: skip
    own = own_numbers(table, functions.work, acting)
    bare = not (burning or panels or functions.given)
    energy = not own and functions.conservative
    conserves: tuple[str, ...] = ("energy",) if energy else ()
    if bare and table.axial:
        conserves += ("vertical_angular_momentum" if table.forces else "angular_momentum_space",)
    axis = axis_of_symmetry(moments[0], first) if N == 1 and bare else None
    if axis is not None:
        conserves += ("axial_angular_momentum",)
    reads = table.velocity_dependent or "drag" in around or functions.velocity_dependent
    if surface is not None:
        surroundings["surface"] = number(surface, "surface")
    return System(
        name="spacecraft",
        arguments={
            "inertia": plain(inertia), "mu": mu, "mass": plain(mass), "gravity_gradient": gravity_gradient,
            "forces": [dict(one.arguments) for one in table.forces],
            "thrusters": [dict(one.arguments) for one in burning], "plates": [dict(one.arguments) for one in panels],
            **surroundings, **functions.arguments,
        },
        mass=masses,
        moments=moments,
        frames=frames,
        loads=functions.loads,
        potential=functions.potential,
        commutator=spacecraft_commutator if bare and not table.forces else None,
        velocity_dependent=reads,
        divided=True,
        auxiliary=own,
        switches=tuple(switches),
        impulses=table.impulses,
        watches=table.watches,
        parameters=functions.parameters,
        attracted=True,
        conserves=conserves,
        axis=axis,
        functions=functions.given,
        quantities=_Energies(mu, read_only(masses), read_only(moments), gravity_gradient),
        recommended="" if reads else "rkn6_14a/kepler",
    )  # fmt: skip


def _inertias(inertia: Any, N: int) -> tuple[Any, Any]:
    """Principal moments (N, 3) and frames (N, 4)."""
    if isinstance(inertia, np.ndarray) and inertia.ndim:
        inertia = list(array(inertia, "inertia"))
    if not isinstance(inertia, list | tuple) or not inertia:
        raise InvalidInput(f"inertia must be 3 moments or a tensor, or those of each body, not {shown(inertia)}")
    if N == 1 and (len(inertia) != 1 or not isinstance(inertia[0], list | tuple | np.ndarray)):
        inertia = [inertia]
    count = len(inertia)
    if count != N:
        raise InvalidInput(f"inertia must be one entry for each of {N} masses, but has {count}")
    found = [principal(one, name="inertia" if N == 1 else f"inertia[{i}]") for i, one in enumerate(inertia)]
    return np.array([one.moments for one in found]), np.array([one.frame for one in found])


def _in_principal(frame: Any, one: Device) -> list[float]:
    inside = [rotate_inverse(tuple(frame), tuple(v)) for v in one.vectors]
    return [float(x) for v in inside for x in v]


@dataclass(frozen=True)
class _Energies:
    """Spin, attitude energy and orbital energy from recorded states."""

    mu: float
    mass: Any
    moments: Any
    gradient: bool

    def __call__(self, body: Any) -> dict[str, Any]:
        r, p = body[..., L.POSITION : L.MOMENTUM], body[..., L.MOMENTUM : L.ATTITUDE]
        q, m = body[..., L.ATTITUDE : L.ANGULAR], body[..., L.ANGULAR :]
        size = np.linalg.norm(r, axis=-1)
        attitude = 0.5 * np.sum(m * m / turning(self.moments), axis=-1)
        if self.gradient:
            D = self.moments - self.moments[:, 2:]
            n = rotation.rotate_inverse(q, r) / size[..., None]
            attitude = attitude - 0.5 * self.mu / size**3 * (D.sum(axis=-1) - 3.0 * np.sum(n * n * D, axis=-1))
        orbital = 0.5 * np.sum(p * p, axis=-1) / self.mass - self.mu * self.mass / size
        return {"spin": rotation.rotate(q, m), "attitude_energy": attitude, "orbital_energy": orbital}
