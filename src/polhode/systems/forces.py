"""Forces of ``polhode.orbit`` and ``polhode.spacecraft``: zonal gravity, third bodies, drag, sunlight, thrust.

    from polhode import forces, planets
    ph.orbit(planets.EARTH.mu, mass=500.0, forces=[forces.zonal(**planets.EARTH.zonal), forces.thrust(1e-4)])

Each function returns one ``Force``, which states whether it has a potential and whether it depends on velocity or time.
All are accelerations, so the path does not depend on the mass of the point; the load is mass times acceleration.
Positions are relative to the centre, in the axes of space; units are any consistent set, the same as those of
``orbit``.

Another body (a third body, the Sun) is at rest (``position``), on a ``circle``, or given by a table (``times`` and
``positions``), interpolated by a cubic spline with "not-a-knot" end conditions. The table must cover every time at
which the loads are evaluated (some methods evaluate slightly beyond their steps); outside it the run stops with
``NotFinite``.

Where loads jump (thrust at ``start`` and ``stop``, a ``cylinder`` shadow) or their derivatives do (the edges of a
``cone``), and at impulses, the run cuts its steps, so that each sees one side only and every method keeps its order:
whether a load is on is a parameter that the run switches, not a function of time. A shadow is detected if a step ends
on its other side; one that lies within a single step is missed, so take steps shorter than the passage.

====== ==================================================================
symbol meaning
====== ==================================================================
r, v   position and velocity of the point
s, d   position of another body, and the vector to it: d = s - r
k      unit vector of the axis of symmetry or of rotation
J_n    zonal coefficient, unnormalised; P_n Legendre's polynomial
rho    density of the air; u velocity relative to the air
====== ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, pi
from typing import Annotated, Any, Literal

import numpy as np

from polhode.algebra.so3 import add, axpy, cross, dot, scale
from polhode.arguments import UNKNOWN, array, choice, number, numbers, vector
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel.access import get3
from polhode.kernel.jit import helper
from polhode.plugins import Registry
from polhode.systems.record import called, plain
from polhode.systems.words import (
    Acceleration,
    Circle,
    Form,
    GravitationalParameter,
    Length,
    Newtons,
    Position,
    Positions,
    Rate,
    Rows,
    Speed,
    Time,
    Times,
    Unit,
    Vector,
    arguments_of,
)

__all__ = [
    "Force",
    "Impulse",
    "add_force",
    "drag",
    "impulse",
    "radiation_pressure",
    "third_body",
    "thrust",
    "uniform",
    "zonal",
]

ZONAL, UNIFORM, THIRD_BODY, DRAG, RADIATION, THRUST, IMPULSE = range(7)
"""Codes of the forces in the compiled loads; in the order of ``FORCES``."""

FIXED, CIRCLE, TABLE = range(3)
NO_SHADOW, CYLINDER, CONE = range(3)
INERTIAL, ALONG_VELOCITY, RADIAL = range(3)
SHADOWS = {"none": NO_SHADOW, "cylinder": CYLINDER, "cone": CONE}
STANDARD_GRAVITY = 9.80665
"""m/s^2, by definition: exhaust velocity in m/s over specific impulse in s."""
LIT = 4
"""Index among the numbers of light with a cylindrical shadow: 1 in the light, 0 in the shadow."""
FIRING = 7
"""Index among the numbers of a thrust: 1 while it is on, else 0."""
FRAMES = ("inertial", "rtn", "velocity")
DIRECTIONS = {"inertial": INERTIAL, "velocity": ALONG_VELOCITY, "radial": RADIAL}
WAYS = {"inertial": "thrust in a fixed direction", "velocity": "thrust along the velocity", "radial": "radial thrust"}
NOWHERE = (float("nan"), float("nan"), float("nan"))
NO_LEVEL = float("nan")
"""Returned for an unknown code: NOWHERE as acceleration or position, NO_LEVEL as potential or lit fraction.
``force_table.force_table`` evaluates every force once beforehand and recognises these by identity."""


# ------------------------------------------------------------------ the record
@dataclass(frozen=True)
class Force:
    """One force, made by the functions of this module.

    Attributes
    ----------
    kind : str
        Name of the function that made it.
    description : str
        One line that describes it.
    arguments : mapping
        Its arguments in JSON types, with ``kind``.
    numbers : tuple of float
        Its parameters in the compiled loads.
    conservative : bool
        Whether it has a potential, which may depend on time.
    velocity_dependent : bool
        Whether it depends on the velocity.
    autonomous : bool
        Whether it does not depend explicitly on time.
    axial : bool
        Whether it conserves the angular momentum about z.
    flow : float
        Mass flow rate while it is on; if positive, ``numbers[0]`` is a force, not an acceleration.
    surface : bool
        Whether it is a surface force, whose acceleration grows as the mass falls.
    """

    kind: str
    description: str
    arguments: Mapping[str, Any]
    numbers: tuple[float, ...]
    conservative: bool = False
    velocity_dependent: bool = False
    autonomous: bool = True
    axial: bool = False
    flow: float = 0.0
    surface: bool = False

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self.arguments.items() if key != "kind")
        return f"{self.kind}({inside})"


# ------------------------------------------------------------------ positions of other bodies
@helper
def segment(p, at, stride, count, x):
    """Index of the last of ``count`` rows of a table whose first number is <= x; 0 if there is none."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if p[at + stride * middle] <= x:
            low = middle
        else:
            high = middle
    return low


@helper
def path_at(p, at, t):
    """Position of a body at time t; NaN outside its table."""
    if p[at] == FIXED:
        return get3(p, at + 1)
    if p[at] == CIRCLE:
        angle = p[at + 1] * t + p[at + 2]
        return axpy(np.cos(angle), get3(p, at + 3), scale(np.sin(angle), get3(p, at + 6)))
    if p[at] != TABLE:
        return NOWHERE
    n = int(p[at + 1])
    first = at + 2
    i = first + 7 * segment(p, first, 7, n - 1, t)
    h = p[i + 7] - p[i]
    x = (t - p[i]) / h
    if x < -1e-9 or x > 1.0 + 1e-9:
        x = np.nan
    # Cubic Hermite interpolation by values and slopes at both ends.
    y = 1.0 - x
    ends = axpy(y * y * (1.0 + 2.0 * x), get3(p, i + 1), scale(x * x * (1.0 + 2.0 * y), get3(p, i + 8)))
    slopes = axpy(h * x * y * y, get3(p, i + 4), scale(-h * x * x * y, get3(p, i + 11)))
    return add(ends, slopes)


@helper
def path_rate_at(p, at, t):
    """Velocity of a body at time t; NaN outside its table."""
    if p[at] == FIXED:
        return (0.0, 0.0, 0.0)
    if p[at] == CIRCLE:
        angle, rate = p[at + 1] * t + p[at + 2], p[at + 1]
        return axpy(-rate * np.sin(angle), get3(p, at + 3), scale(rate * np.cos(angle), get3(p, at + 6)))
    if p[at] != TABLE:
        return NOWHERE
    n = int(p[at + 1])
    first = at + 2
    i = first + 7 * segment(p, first, 7, n - 1, t)
    h = p[i + 7] - p[i]
    x = (t - p[i]) / h
    if x < -1e-9 or x > 1.0 + 1e-9:
        x = np.nan
    y = 1.0 - x
    ends = scale(6.0 * x * y / h, axpy(-1.0, get3(p, i + 1), get3(p, i + 8)))
    return add(ends, axpy(y * (y - 2.0 * x), get3(p, i + 4), scale(x * (x - 2.0 * y), get3(p, i + 11))))


# ------------------------------------------------------------------ accelerations and potentials
@helper
def zonal_acceleration(p, at, mu, r):
    """mu / r^2 sum J_n (R/r)^n (P'_n+1 r/|r| - P'_n k), derivatives of Legendre's polynomials by their recursion."""
    k = get3(p, at)
    size = np.sqrt(dot(r, r))
    e = scale(1.0 / size, r)
    s = dot(e, k)
    ratio = p[at + 3] / size
    power = ratio * ratio
    before, now = 1.0, 3.0 * s
    along = across = 0.0
    for n in range(2, int(p[at + 4]) + 1):
        after = ((2 * n + 1) * s * now - (n + 1) * before) / n
        J = p[at + 3 + n] * power
        along += J * after
        across += J * now
        before, now = now, after
        power *= ratio
    w = mu / (size * size)
    return axpy(w * along, e, scale(-w * across, k))


@helper
def zonal_potential(p, at, mu, r):
    """mu / r sum J_n (R/r)^n P_n, per unit mass."""
    size = np.sqrt(dot(r, r))
    s = dot(r, get3(p, at)) / size
    ratio = p[at + 3] / size
    power = ratio * ratio
    before, now = s, 1.5 * s * s - 0.5
    total = 0.0
    for n in range(2, int(p[at + 4]) + 1):
        total += p[at + 3 + n] * power * now
        before, now = now, ((2 * n + 1) * s * now - n * before) / (n + 1)
        power *= ratio
    return mu / size * total


@helper
def third_body_acceleration(p, at, t, r):
    """mu (d/|d|^3 - s/|s|^3) as -mu/|d|^3 (r + f s), f of q = r . (r - 2 s)/s^2, without cancellation [battin1999]."""
    s = path_at(p, at + 1, t)
    d = axpy(-1.0, r, s)
    q = dot(r, axpy(-2.0, s, r)) / dot(s, s)
    f = q * (3.0 + q * (3.0 + q)) / (1.0 + (1.0 + q) * np.sqrt(1.0 + q))
    size = np.sqrt(dot(d, d))
    return scale(-p[at] / (size * size * size), axpy(f, s, r))


@helper
def third_body_potential(p, at, t, r):
    """-mu (1/|d| - 1/|s| - r . s/|s|^3) per unit mass, zero at the centre; also without cancellation."""
    s = path_at(p, at + 1, t)
    square = dot(s, s)
    q = dot(r, axpy(-2.0, s, r)) / square
    w = np.sqrt(1.0 + q)
    tide = q * q * (w + 2.0) / (2.0 * w * (1.0 + w) * (1.0 + w)) - 0.5 * dot(r, r) / square
    return -p[at] / np.sqrt(square) * tide


@helper
def third_body_rate(p, at, t, r):
    """Partial time derivative of ``third_body_potential``; with f of the acceleration and s' the body's velocity,

        mu / |s|^3 (r . s' f / (1 + f) - s . s' (f / (1 + f) + 3 r . s / s^2)),

    the bracket evaluated without cancellation.
    """
    s, ds = path_at(p, at + 1, t), path_rate_at(p, at + 1, t)
    square = dot(s, s)
    q = dot(r, axpy(-2.0, s, r)) / square
    w = np.sqrt(1.0 + q)
    cube = (1.0 + q) * w  # 1 + f
    f = q * (3.0 + q * (3.0 + q)) / (1.0 + cube)
    rest = 1.5 * q * q * (1.0 + q / 1.5 - (1.0 + q) / (1.0 + w)) / (1.0 + cube)  # f - 3 q / 2
    bracket = (rest - 1.5 * q * f) / cube + 1.5 * dot(r, r) / square
    return p[at] / (square * np.sqrt(square)) * (dot(r, ds) * f / cube - dot(s, ds) * bracket)


@helper
def drag_acceleration(p, at, r, v):
    """-k(r) |u| u with u = v - rotation x r; log k is linear in r between the rows of a table."""
    u = axpy(-1.0, cross(get3(p, at), r), v)
    size = np.sqrt(dot(r, r))
    i = at + 4 + 3 * segment(p, at + 4, 3, int(p[at + 3]), size)
    k = p[i + 1] * np.exp(-(size - p[i]) * p[i + 2])
    return scale(-k * np.sqrt(dot(u, u)), u)


@helper
def lit(p, at, r, d):
    """Visible fraction of the Sun's disc: 1 in sunlight, 0 in full shadow; d points to the Sun."""
    body = p[at + 1]
    if p[at] == CYLINDER:
        return p[at + 2]
    if p[at] != CONE:
        return NO_LEVEL
    # Apparent radii of the Sun and of the body, and the angle between their centres; the discs are taken as flat.
    a = np.arcsin(min(1.0, p[at + 2] / np.sqrt(dot(d, d))))
    b = np.arcsin(min(1.0, body / np.sqrt(dot(r, r))))
    across = cross(d, r)
    c = np.arctan2(np.sqrt(dot(across, across)), -dot(d, r))
    if c >= a + b:
        return 1.0
    if c <= b - a:
        return 0.0
    if c <= a - b:
        return 1.0 - (b / a) * (b / a)
    # Half the overlap: of each disc, a sector minus a triangle.
    x = 0.5 * (c + (a - b) * (a + b) / c)
    z = c - x
    y = np.sqrt(max(0.0, (a - x) * (a + x)))
    overlap = a * a * np.arctan2(y, x) + b * b * np.arctan2(y, z) - c * y
    return 1.0 - overlap / (pi * a * a)


@helper
def radiation_acceleration(p, at, t, r):
    """Away from the Sun, inverse square if a distance is given, times the visible fraction of the Sun."""
    s = path_at(p, at + 6, t)
    d = s if p[at + 5] == 1.0 else axpy(-1.0, r, s)
    size = np.sqrt(dot(d, d))
    w = p[at] / size
    if p[at + 1] > 0.0:
        w *= (p[at + 1] / size) * (p[at + 1] / size)
    if p[at + 2] != NO_SHADOW:
        w *= lit(p, at + 2, r, d)
    return scale(-w, d)


@helper
def radiation_potential(p, at, t, r):
    """Per unit mass, without shadow: A n . r, A D^2 / |d| or -A |d|, minus the value at the centre."""
    s = path_at(p, at + 6, t)
    if p[at + 5] == 1.0:
        return p[at] * dot(s, r)
    d = axpy(-1.0, r, s)
    far, near = np.sqrt(dot(s, s)), np.sqrt(dot(d, d))
    change = dot(r, axpy(-2.0, s, r)) / (far + near)  # |d| - |s|
    if p[at + 1] > 0.0:
        return -p[at] * p[at + 1] * p[at + 1] * change / (far * near)
    return -p[at] * change


@helper
def radiation_rate(p, at, t, r):
    """Partial time derivative of ``radiation_potential``."""
    if p[at + 5] == 1.0:
        return 0.0
    s, ds = path_at(p, at + 6, t), path_rate_at(p, at + 6, t)
    d = axpy(-1.0, r, s)
    far, near = np.sqrt(dot(s, s)), np.sqrt(dot(d, d))
    change = dot(r, axpy(-2.0, s, r)) / (far + near)  # |d| - |s|
    if p[at + 1] > 0.0:
        cubes = change * (near * near + near * far + far * far) / (near * far * near * far * near * far)
        return p[at] * p[at + 1] * p[at + 1] * (dot(r, ds) / (near * near * near) + dot(s, ds) * cubes)
    return p[at] * (dot(r, ds) + dot(s, ds) * change / far) / near


@helper
def thrust_acceleration(p, at, t, r, v):
    """Thrust while ``p[at + FIRING]`` is 1; the run reads the times ``p[at + 5]``, ``p[at + 6]``."""
    if p[at + FIRING] == 0.0:
        return (0.0, 0.0, 0.0)
    e = NOWHERE
    if p[at + 1] == INERTIAL:
        e = get3(p, at + 2)
    elif p[at + 1] == ALONG_VELOCITY:
        e = v
    elif p[at + 1] == RADIAL:
        e = r
    size = np.sqrt(dot(e, e))
    return (0.0, 0.0, 0.0) if size == 0.0 else scale(p[at] / size, e)


@helper
def acceleration_of(code, p, at, mu, t, r, v):
    """Acceleration by the force with this code whose numbers begin at ``p[at]``."""
    if code == ZONAL:
        return zonal_acceleration(p, at, mu, r)
    if code == UNIFORM:
        return get3(p, at)
    if code == THIRD_BODY:
        return third_body_acceleration(p, at, t, r)
    if code == DRAG:
        return drag_acceleration(p, at, r, v)
    if code == RADIATION:
        return radiation_acceleration(p, at, t, r)
    if code == THRUST:
        return thrust_acceleration(p, at, t, r, v)
    return NOWHERE


@helper
def potential_of(code, p, at, mu, t, r):
    """Potential per unit mass of a conservative force with this code whose numbers begin at ``p[at]``."""
    if code == ZONAL:
        return zonal_potential(p, at, mu, r)
    if code == UNIFORM:
        return -dot(get3(p, at), r)
    if code == THIRD_BODY:
        return third_body_potential(p, at, t, r)
    if code == RADIATION:
        return radiation_potential(p, at, t, r)
    return NO_LEVEL


@helper
def potential_rate_of(code, p, at, mu, t, r):
    """Partial time derivative of the potential per unit mass, for a force whose potential depends on time."""
    if code == THIRD_BODY:
        return third_body_rate(p, at, t, r)
    if code == RADIATION:
        return radiation_rate(p, at, t, r)
    return NO_LEVEL


@helper
def mass_share(p, at, t):
    """Mass at time t over the mass before all burns; rows of begin, end and fraction used per unit time."""
    share = 1.0
    for k in range(int(p[at])):
        begin, end = p[at + 1 + 3 * k], p[at + 2 + 3 * k]
        share -= (min(max(t, begin), end) - begin) * p[at + 3 + 3 * k]
    return share


# ------------------------------------------------------------------ public functions
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
    return Force(
        "zonal",
        f"zonal gravity up to degree {top}",
        {"kind": "zonal", **arguments},
        (*k, arguments["radius"], float(top), *coefficients[: top - 1]),
        conservative=True,
        axial=not (k[0] or k[1]),
    )


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
    """
    a = vector(acceleration, "acceleration", unit="m / s**2")
    return Force(
        "uniform",
        "uniform acceleration",
        {"kind": "uniform", "acceleration": plain(a)},
        tuple(a.tolist()),
        conservative=True,
        axial=not (a[0] or a[1]),
    )


@answering
def third_body(
    mu: GravitationalParameter,
    *,
    position: Position | None = None,
    times: Times | None = None,
    positions: Positions | None = None,
    circle: Circle | None = None,
) -> Force:
    """Gravity of another body, minus its pull on the centre, the origin of the frame.

    Near the centre the direct and the indirect term nearly cancel; their difference is computed by a formula without
    cancellation [battin1999].

    Parameters
    ----------
    mu : float
        Gravity constant times mass of the body.
    position : array_like (3,), optional
        Its position, if at rest; or
    times, positions : array_like (n,), (n, 3), optional
        A table, n >= 4, interpolated by a cubic spline; or
    circle : mapping, optional
        A circle about the centre: ``radius``, ``period`` (negative: clockwise), and optionally ``phase`` (rad, at time
        0, from the ascending node on the plane z = 0, or from x if the circle lies in that plane) and ``normal``.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.
    """
    arguments, path = _path(position, times, positions, circle)
    mu = number(mu, "mu", "m**3 / s**2", positive=True)
    if path[0] == FIXED and not any(path[1:]):
        raise InvalidInput("position is zero, the place of the centre; give the place of the other body")
    return Force(
        "third_body",
        f"gravity of another body {WHERE[int(path[0])]}",
        {"kind": "third_body", "mu": mu, **arguments},
        (mu, *path),
        conservative=True,
        autonomous=path[0] == FIXED,
    )


@answering
def drag(
    *,
    kd: Annotated[float, Unit("per_m")] | None = None,
    coefficient: Annotated[float, Unit("m2_kg")] | None = None,
    density: Annotated[float, Unit("kg_m3")] | None = None,
    radius: Length | None = None,
    scale: Length | None = None,
    table: Rows | None = None,
    rotation: Rate = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
) -> Force:
    """Quadratic drag ``-(1/2) (Cd A / m) rho(r) |u| u`` in an atmosphere that may co-rotate with the body.

    The density is ``density exp(-(r - radius) / scale)``, or a ``table``.

    Parameters
    ----------
    kd : float, optional
        ``(1/2) (Cd A / m) density`` at ``radius``, 1 / length; instead of ``coefficient`` and ``density``.
    coefficient : float, optional
        ``Cd A / m``, drag coefficient times area over mass, length^2 / mass.
    density : float, optional
        Density of the air at ``radius``, mass / length^3.
    radius, scale : float, optional
        Radius (not altitude) at which the density is given, and the scale height.
    table : array_like (n, 2), optional
        Rows of radius and density, n >= 2, radii rising, with ``coefficient``; the logarithm of the density is linear
        between rows and extrapolated beyond the ends. Its kinks at the rows limit methods to order 2 there.
    rotation : float
        Rotation rate of the atmosphere, rad / time, about ``axis``: u = v - rotation axis x r.
    axis : array_like (3,)
        Axis of rotation, space frame.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong or missing.
    """
    given = {"kd": kd, "coefficient": coefficient, "density": density, "radius": radius, "scale": scale, "table": table}
    given = {name: value for name, value in given.items() if value is not None}
    ways = (("kd", "radius", "scale"), ("coefficient", "density", "radius", "scale"), ("coefficient", "table"))
    way = ways[2] if table is not None else ways[0] if kd is not None else ways[1]
    for name in way:
        if name not in given:
            raise InvalidInput(f"{name} is missing; drag takes kd, radius and scale, or coefficient and density "
                               "instead of kd, or coefficient and table")  # fmt: skip
    for name in given:
        if name not in way:
            raise InvalidInput(f"{name} is given beside {way[-1] if way is ways[2] else way[0]}; leave one of them out")
    values = {name: number(given[name], name, AIR[name], positive=True) for name in way if name != "table"}
    if table is None:
        k = values["kd"] if kd is not None else 0.5 * values["coefficient"] * values["density"]
        rows = [(values["radius"], k, 1.0 / values["scale"])]
    else:
        air = _rows(table, "table", 2, 2, UNKNOWN)
        if not ((np.diff(air[:, 0]) > 0).all() and (air > 0).all()):
            raise InvalidInput("table must have rising radii and positive densities; sort its rows")
        rates = -np.diff(np.log(air[:, 1])) / np.diff(air[:, 0])
        rows = [(r, 0.5 * values["coefficient"] * rho, rate) for (r, rho), rate in zip(air[:-1], rates, strict=True)]
        values["table"] = air.tolist()
    turning = number(rotation, "rotation", "rad / s")
    k_axis = unit_vector(axis, "axis")
    arguments = {"kind": "drag", **values, "rotation": turning, "axis": plain(axis)}
    spin = (turning * k_axis[0], turning * k_axis[1], turning * k_axis[2])
    return Force(
        "drag",
        "drag in an atmosphere" + (" that turns" if turning else " at rest"),
        arguments,
        (*spin, float(len(rows)), *(float(x) for row in rows for x in row)),
        velocity_dependent=True,
        surface=True,
    )


@answering
def radiation_pressure(
    acceleration: Acceleration,
    *,
    direction: Vector | None = None,
    position: Position | None = None,
    times: Times | None = None,
    positions: Positions | None = None,
    circle: Circle | None = None,
    distance: Length | None = None,
    shadow: Literal["none", "cylinder", "cone"] = "none",
    radius: Length | None = None,
    sun_radius: Length | None = None,
) -> Force:
    """Pressure of sunlight, away from the Sun, with or without the shadow of the centre.

    Parameters
    ----------
    acceleration : float
        In full sunlight, length / time^2: pressure times reflectivity times area over mass.
    direction : array_like (3,), optional
        Towards a Sun infinitely far away; or else its position:
    position, times, positions, circle
        As for ``third_body``.
    distance : float, optional
        Distance from the Sun at which the acceleration holds; elsewhere it follows the inverse square. Without it the
        acceleration has the same size everywhere.
    shadow : {"none", "cylinder", "cone"}
        "cylinder": on or off, as behind a body lit from infinity. "cone": the fraction of the Sun's disc that is not
        covered by the body, with the discs taken as flat. Steps are cut at the edges of either.
    radius : float, optional
        Radius of the body at the centre that casts the shadow.
    sun_radius : float, optional
        Radius of the Sun, for the cone: 6.957e8 in metres.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong or missing.
    """
    strength = number(acceleration, "acceleration", "m / s**2", positive=True)
    arguments, path = path_arguments(direction, position, times, positions, circle)
    for name, value in (("distance", distance), ("sun_radius", sun_radius)):
        if direction is not None and value is not None:
            raise InvalidInput(f"{name} needs a place of the Sun; give position instead of direction")
    choice(shadow, "shadow", SHADOWS)
    given = {"distance": distance, "radius": radius, "sun_radius": sun_radius}
    sizes = {name: number(value, name, "m", positive=True) for name, value in given.items() if value is not None}
    for name, needed in (("radius", shadow != "none"), ("sun_radius", shadow == "cone")):
        if needed and name not in sizes:
            raise InvalidInput(f"{name} is missing; a shadow of the kind {shadow!r} needs it"
                               + (" and a place of the Sun" if name == "sun_radius" else ""))  # fmt: skip
        if not needed and name in sizes:
            raise InvalidInput(f"{name} is given, but shadow is {shadow!r}; leave it out or choose another shadow")
    numbers = (
        strength, sizes.get("distance", 0.0), float(SHADOWS[shadow]), sizes.get("radius", 0.0),
        1.0 if shadow == "cylinder" else sizes.get("sun_radius", 0.0), float(direction is not None), *path,
    )  # fmt: skip
    behind = {"none": "without shadow", "cylinder": "with a cylindrical shadow", "cone": "with shadow and penumbra"}
    return Force(
        "radiation_pressure",
        f"pressure of sunlight {behind[shadow]}",
        {"kind": "radiation_pressure", "acceleration": strength, **arguments, **sizes, "shadow": shadow},
        numbers,
        conservative=shadow == "none",
        autonomous=path[0] == FIXED,
        surface=True,
    )


@answering
def thrust(
    acceleration: Acceleration | None = None,
    direction: Literal["inertial", "velocity", "radial"] = "inertial",
    *,
    vector: Vector | None = None,
    start: Time | None = None,
    stop: Time | None = None,
    force: Newtons | None = None,
    specific_impulse: Time | None = None,
    exhaust_velocity: Speed | None = None,
) -> Force:
    """Thrust for start <= t < stop: a constant acceleration, or a constant force that uses up mass.

    With a force, the acceleration is ``force / m(t)`` and the mass falls at the rate ``|force| / exhaust_velocity``
    from the mass given to ``orbit``, that before all burns. Several burns add up. Accelerations by drag and sunlight
    then grow as the mass falls.

    Parameters
    ----------
    acceleration : float
        Length / time^2; negative: against the direction. Propellant mass is neglected. Or give ``force``.
    direction : {"inertial", "velocity", "radial"}
        Along ``vector``, along the velocity, or radially outwards.
    vector : array_like (3,), optional
        Direction for "inertial", space frame; any length.
    start, stop : float, optional
        Times of ignition and cut-off, at which steps are cut; always on without them. A force needs both.
    force : float, optional
        Mass length / time^2; negative: against the direction.
    specific_impulse : float, optional
        For a force, in seconds: the exhaust velocity over 9.80665 m/s^2; lengths must be metres.
    exhaust_velocity : float, optional
        Instead of ``specific_impulse``: length / time in any units.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong or missing.
    """
    if (acceleration is None) == (force is None):
        problem = "both given; keep one of them" if force is not None else "both missing; thrust needs one of them"
        raise InvalidInput(f"acceleration and force are {problem}")
    size = number(acceleration, "acceleration", "m / s**2") if force is None else number(force, "force", "N")
    given = {"specific_impulse": specific_impulse, "exhaust_velocity": exhaust_velocity}
    units = {"specific_impulse": "s", "exhaust_velocity": "m / s"}
    burn = {name: number(value, name, units[name], positive=True) for name, value in given.items() if value is not None}
    if len(burn) != (force is not None):
        raise InvalidInput(
            "specific_impulse and exhaust_velocity are both given; keep one of them" if len(burn) == 2 else
            f"{next(iter(burn))} is given without force; give force instead of acceleration" if burn else
            "specific_impulse is missing; a force uses up mass: give it, or exhaust_velocity"
        )  # fmt: skip
    choice(direction, "direction", DIRECTIONS)
    if (direction == "inertial") != (vector is not None):
        problem = "is missing; thrust with direction 'inertial' needs it" if vector is None else (
            f"is given, but direction is {direction!r}; leave it out or choose direction 'inertial'"
        )  # fmt: skip
        raise InvalidInput(f"vector {problem}")
    along = (0.0, 0.0, 0.0) if vector is None else unit_vector(vector, "vector")
    given = {"start": start, "stop": stop}
    times = {name: number(value, name, "s") for name, value in given.items() if value is not None}
    if times.get("start", -inf) >= times.get("stop", inf):
        raise InvalidInput(f"stop is {times['stop']:g}, not after start, {times['start']:g}; exchange them")
    for name in ("start", "stop"):
        if burn and name not in times:
            raise InvalidInput(f"{name} is missing; a force uses up mass and needs both times")
    speed = burn.get("exhaust_velocity", STANDARD_GRAVITY * burn.get("specific_impulse", inf))
    arguments: dict[str, Any] = {"kind": "thrust", "acceleration" if force is None else "force": size}
    arguments |= {"direction": direction} | ({} if vector is None else {"vector": plain(vector)}) | times | burn
    return Force(
        "thrust",
        WAYS[direction] + ", using up mass" * bool(burn),
        arguments,
        (size, float(DIRECTIONS[direction]), *along, times.get("start", -inf), times.get("stop", inf), 1.0),
        velocity_dependent=direction == "velocity",
        autonomous=not times,
        flow=abs(size) / speed,
    )


@dataclass(frozen=True)
class Impulse:
    """An instantaneous change of velocity, which a run applies between two steps.

    Attributes
    ----------
    time : float
        Time at which it is applied.
    delta_v : tuple of float
        Components in the frame; for "velocity" only the first is used.
    frame : {"inertial", "rtn", "velocity"}
        Frame of ``delta_v``, from position and velocity just before the impulse.
    auxiliary : int
        Index of the auxiliary variable that is its work.
    what : str
        Its name in messages and lists.
    """

    time: float
    delta_v: tuple[float, float, float]
    frame: str
    auxiliary: int
    what: str

    def after(self, r: Any, v: Any) -> Any:
        """Velocity after the impulse, from r and the velocity v before it; NaN if the frame is not defined."""
        r, v, d = np.asarray(r), np.asarray(v), np.array(self.delta_v)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.frame == "velocity":
                return v + d[0] * (v / np.linalg.norm(v))
            return v + (_axes(r, v) @ d if self.frame == "rtn" else d)

    def before(self, r: Any, v: Any) -> Any:
        """Velocity before the impulse, from v after it, for a run backwards in time: the inverse of ``after``.

        If ``delta_v`` is opposite to the velocity and larger, two velocities lead to the same v; the result is the one
        whose direction the impulse does not reverse.
        """
        r, v, d = np.asarray(r), np.asarray(v), np.array(self.delta_v)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.frame == "velocity":
                return v - d[0] * (v / np.linalg.norm(v))
            if self.frame == "inertial":
                return v - d
            # After the impulse the velocity across r has length w and components (forward, d_n) along T and N of
            # before; so T follows by a rotation about r.
            radial, ahead, normal = _axes(r, v).T
            w = v @ ahead
            forward = np.sqrt(w * w - d[2] * d[2])
            along = (forward * ahead - d[2] * normal) / w
            return (v @ radial - d[0]) * radial + (forward - d[1]) * along


def _axes(r: Any, v: Any) -> Any:
    """Unit vectors, as columns: radial, transverse (in the plane of motion, forward), normal to that plane."""
    radial = r / np.linalg.norm(r)
    normal = np.cross(r, v)
    normal /= np.linalg.norm(normal)
    return np.column_stack([radial, np.cross(normal, radial), normal])


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
    choice(frame, "frame", FRAMES)
    arguments: dict[str, Any] = {"kind": "impulse", "time": number(time, "time", "s")}
    if frame == "velocity":
        if isinstance(delta_v, list | tuple) or np.ndim(array(delta_v, "delta_v", "m / s")):
            raise InvalidInput("delta_v must be one number, for frame is 'velocity'; give its size, negative to brake")
        arguments["delta_v"] = number(delta_v, "delta_v", "m / s")
        change: tuple[float, ...] = (arguments["delta_v"], 0.0, 0.0)
    else:
        arguments["delta_v"] = vector(delta_v, "delta_v", unit="m / s").tolist()
        change = tuple(arguments["delta_v"])
    if not any(change):
        raise InvalidInput("delta_v is zero; leave this impulse out")
    return Force(
        "impulse",
        {"inertial": "impulse in a fixed direction", "rtn": "impulse by radial, transverse and normal",
         "velocity": "impulse along the velocity"}[frame],
        arguments | {"frame": frame},
        (arguments["time"], *change, float(FRAMES.index(frame))),
        autonomous=False,
    )  # fmt: skip


BUILT_IN = (zonal, uniform, third_body, drag, radiation_pressure, thrust, impulse)
FORCES: dict[str, Callable[..., Force]] = Registry((build.__name__, build) for build in BUILT_IN)
"""Every kind of force by the name of the function that makes it."""
AIR = {"kd": "1 / m", "coefficient": "m**2 / kg", "density": "kg / m**3", "radius": "m", "scale": "m"}
"""SI units of the arguments that describe the air."""
CODES = {build.__name__: code for code, build in enumerate(BUILT_IN)}


def add_force(build: Callable[..., Force]) -> Callable[..., Force]:
    """Add a kind of force under the name of the function that makes it from those above; returns the function.

    From then on it is a ``kind`` of mappings and scenarios. Adding the same function twice does nothing.

    Parameters
    ----------
    build : function
        Returns what one of the functions above makes. Its arguments are annotated with words of
        ``polhode.systems.words``.

    Raises
    ------
    InvalidInput
        Not a function, a name that another force has, or an argument whose annotation says nothing to a scenario.
    """
    name = getattr(build, "__name__", "")
    if not callable(build) or not name.isidentifier():
        raise InvalidInput(f"build must be a function that returns a Force, not {shown(build)}")
    if FORCES.get(name, build) is not build:
        raise InvalidInput(f"there is already a force {name!r}; give the function another name")
    arguments_of(build)
    FORCES[name] = build
    return build


def force_of(description: Any) -> Force:
    """A ``Force``, or one made from its arguments as a mapping with a ``kind``.

    Raises
    ------
    InvalidInput
        Neither of them, or invalid arguments.
    """
    if isinstance(description, Force):
        return description
    if not isinstance(description, Mapping):
        raise InvalidInput(f"a force must be made by polhode.forces (zonal, drag, ...), not {shown(description)}")
    arguments = dict(description)
    kind = arguments.pop("kind", None)
    choice(kind, "kind of force", FORCES)
    return called(FORCES[kind], arguments)


# ------------------------------------------------------------------ paths
WHERE = ("at rest", "on a circle", "along a table")


def unit_vector(value: Any, name: str) -> tuple[float, float, float]:
    """A vector of any length, normalised."""
    v = vector(value, name, unit=UNKNOWN)
    if not v.any():
        raise InvalidInput(f"{name} is zero; give a direction")
    v /= np.abs(v).max()  # so that the square does not overflow
    x, y, z = (v / np.linalg.norm(v)).tolist()
    return (x, y, z)


def _rows(value: Any, name: str, width: int, least: int, unit: str) -> Any:
    """A table of finite numbers with ``width`` columns and at least ``least`` rows."""
    rows = array(value, name, unit).copy()
    if rows.ndim != 2 or rows.shape[1] != width or len(rows) < least:
        raise InvalidInput(f"{name} must be {least} or more rows of {width} numbers, but has shape {rows.shape}")
    return rows


def _path(
    position: Any, times: Any, positions: Any, circle: Any, what: str = "the other body: "
) -> tuple[dict[str, Any], tuple[float, ...]]:
    """Arguments in JSON types, and the numbers of ``path_at``."""
    ways = {"position": position, "times and positions": times if positions is None else positions, "circle": circle}
    given = [name for name, value in ways.items() if value is not None]
    if not given:
        raise InvalidInput(f"nothing says where the body is; give a place of {what}position, times and positions, "
                           "or circle")  # fmt: skip
    if len(given) > 1:
        raise InvalidInput(f"{' and '.join(given)} are given; keep one of them")
    if position is not None:
        at = vector(position, "position", unit="m").tolist()
        return {"position": at}, (float(FIXED), *at)
    if circle is not None:
        return _circle(circle)
    if times is None or positions is None:
        missing = "times" if times is None else "positions"
        raise InvalidInput(f"{missing} is missing; a table needs times and positions")
    points = _rows(positions, "positions", 3, 4, "m")
    epochs = numbers(times, "times", "s")
    if len(epochs) != len(points):
        raise InvalidInput(f"times has {len(epochs)} entries, but positions {len(points)}; give one place for each")
    if not (np.diff(epochs) > 0).all():
        raise InvalidInput("times must rise from row to row; sort the table")
    rows = np.column_stack([epochs, points, spline_slopes(epochs, points)])
    return {"times": epochs.tolist(), "positions": points.tolist()}, (
        float(TABLE), float(len(rows)), *rows.ravel().tolist(),
    )  # fmt: skip


def path_arguments(
    direction: Any, position: Any, times: Any, positions: Any, circle: Any
) -> tuple[dict[str, Any], tuple[float, ...]]:
    """As ``_path``, for the Sun, which may be infinitely far away in a direction."""
    if direction is None:
        return _path(position, times, positions, circle, "the Sun: direction, ")
    if any(value is not None for value in (position, times, positions, circle)):
        raise InvalidInput("direction is given beside a place of the Sun; leave one of them out")
    along = unit_vector(direction, "direction")
    return {"direction": plain(direction)}, (float(FIXED), *along)


def _circle(circle: Any) -> tuple[dict[str, Any], tuple[float, ...]]:
    """Arguments in JSON types, and the numbers of ``path_at``: rate, phase, radius times two unit vectors."""
    known = ("radius", "period", "phase", "normal")
    if not isinstance(circle, Mapping):
        raise InvalidInput(f"circle must be a mapping with radius and period, not {shown(circle)}")
    for name in circle:
        choice(name, "key of circle", known)
    for name in known[:2]:
        if circle.get(name) is None:
            raise InvalidInput(f"circle has no {name}; give radius and period")
    radius = number(circle["radius"], "radius of circle", "m", positive=True)
    period = number(circle["period"], "period of circle", "s")
    if period == 0.0:
        raise InvalidInput("period of circle is 0; give the time of one turn, or a position")
    phase = number(0.0 if circle.get("phase") is None else circle["phase"], "phase of circle", "rad")
    normal = (0.0, 0.0, 1.0) if circle.get("normal") is None else circle["normal"]
    n = np.array(unit_vector(normal, "normal of circle"))
    node = np.array((-n[1], n[0], 0.0)) if n[0] or n[1] else np.array((1.0, 0.0, 0.0))
    node /= np.linalg.norm(node)
    ahead = np.cross(n, node)
    arguments = {"radius": radius, "period": period, "phase": phase, "normal": plain(normal)}
    return {"circle": arguments}, (
        float(CIRCLE), 2.0 * pi / period, phase, *(radius * node).tolist(), *(radius * ahead).tolist(),
    )  # fmt: skip


def spline_slopes(x: Any, y: Any) -> Any:
    """Slopes (n, k) at the rows of the cubic not-a-knot spline through (n,), (n, k), n >= 4: its third derivative does
    not jump at the second and the last but one row."""
    h = np.diff(x)
    d = np.diff(y, axis=0) / h[:, None]
    n = len(x)
    below, middle, above = np.zeros(n), np.zeros(n), np.zeros(n)
    right = np.zeros_like(y)
    below[1:-1], middle[1:-1], above[1:-1] = h[1:], 2.0 * (h[:-1] + h[1:]), h[:-1]
    right[1:-1] = 3.0 * (h[1:, None] * d[:-1] + h[:-1, None] * d[1:])
    for end, near, far in ((0, 0, 1), (-1, -1, -2)):
        span = h[near] + h[far]
        middle[end] = h[far]
        right[end] = ((h[near] + 2.0 * span) * h[far] * d[near] + h[near] ** 2 * d[far]) / span
    above[0], below[-1] = h[0] + h[1], h[-1] + h[-2]
    for i in range(1, n):
        w = below[i] / middle[i - 1]
        middle[i] -= w * above[i - 1]
        right[i] -= w * right[i - 1]
    slopes = np.empty_like(y)
    slopes[-1] = right[-1] / middle[-1]
    for i in range(n - 2, -1, -1):
        slopes[i] = (right[i] - above[i] * slopes[i + 1]) / middle[i]
    return slopes
