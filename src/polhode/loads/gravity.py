"""Gravity: of a uniform field, of a centre, of its oblateness, on the extent of a body; and of bodies that are not part
of the system, whose places are read from the surroundings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polhode.arguments import identifier, number, vector
from polhode.arguments.words import Acceleration, Angle, GravitationalParameter, Length, Newtons, Position, Rate, Vector
from polhode.errors import InvalidInput, answering
from polhode.kernel.access import get3
from polhode.loads.load import Load, made
from polhode.programs.memory import MOST_TERMS
from polhode.programs.opaque import Opaque
from polhode.surroundings.gravity_fields import (
    DEGREE,
    POLE,
    RATE,
    GravityField,
    Harmonics,
    gravity_of_harmonics,
    harmonics_of,
    pulled,
    slopes_of_harmonics,
)
from polhode.surroundings.paths import BODIES, place_at, receding_at, square_at, velocity_at
from polhode.surroundings.planets import Orientation
from polhode.surroundings.surrounding import Table


# ------------------------------------------------------------------ functions
def weight_of(body, gravity):
    """m g z."""
    return body.mass * gravity * body.position[2]


def weight_at(body, newtons, at):
    """Weight times the height of a point of the body."""
    return newtons * body.point(at)[2]


def attraction(body, mu):
    """-m mu / r."""
    return -body.mass * mu * (body.position @ body.position) ** -0.5


def oblate(body, mu, radius, J2, J3=0.0, J4=0.0, J5=0.0, J6=0.0, axis=None):
    """m mu / r sum J_n (R/r)^n P_n, n P_n = u P'_n - P'_n-1; m mu / r^2 sum J_n (R/r)^n (P'_n+1 r/|r| - P'_n k), k the
    axis, or z."""
    upright = axis is None or (axis[0] == 0.0 and axis[1] == 0.0)
    k = np.array([0.0, 0.0, 1.0 if axis is None else axis[2]]) if upright else axis
    r, size = body.position, (body.position @ body.position) ** 0.5
    u, ratio = (r @ k) / size, radius / size
    power, before, now = ratio * ratio, 1.0, 3.0 * u  # derivatives of Legendre's polynomials, P'_n-1 and P'_n
    level = along = across = 0.0
    for n, J in ((2, J2), (3, J3), (4, J4), (5, J5), (6, J6)):
        after = ((2 * n + 1) * u * now - (n + 1) * before) / n
        level = level + J * power * (u * now - before) / n
        along, across = along + J * power * after, across + J * power * now
        before, now, power = now, after, power * ratio
    w = body.mass * mu / (size * size)
    return {"potential": body.mass * mu / size * level, "force": w * along / size * r - w * across * k}


def uniform_pull(body, acceleration):
    """-m a . r."""
    force = body.mass * np.array(get3(acceleration.p, acceleration.at))
    return {"potential": -(force @ body.position), "force": force}


def on_extent(body, mu):
    """-mu (tr I - 3 n . I n) / (2 r^3), n = r/|r|."""
    s = body.position @ body.position
    return -0.5 * mu * s**-1.5 * body.gradient_of_inertia(body.position, s)


def between(a, b, G):
    """-G m_a m_b / d, and the same of their extents to second order in size over distance."""
    d = b.position - a.position
    s = d @ d
    n = d * s**-0.5
    extents = b.mass * a.gradient_of_inertia(n) + a.mass * b.gradient_of_inertia(n)
    return -G * s**-0.5 * (a.mass * b.mass + 0.5 * extents / s)


def newtonian(a, b, G):
    """-G m_a m_b / d."""
    d = b.position - a.position
    return -G * a.mass * b.mass * (d @ d) ** -0.5


# ------------------------------------------------------------------ loads
@answering
def weight(newtons: Newtons | None = None, *, gravity: Acceleration | None = None, at: Position | None = None) -> Load:
    """The weight of bodies, along -z in space.

    Parameters
    ----------
    newtons : float, optional
        The weight (N), of a body that is pinned; give ``at`` too.
    gravity : float, optional
        Acceleration of gravity (m/s2) of bodies that move, 9.81 unless given; their weight is mass times that.
    at : array_like (3,), optional
        The centre of mass of a pinned body (m, its own axes, from its pin).

    Raises
    ------
    InvalidInput
        ``newtons`` without ``at`` or the other way round, or both kinds.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.system(ph.body("top", inertia=(5, 5, 1), pinned=True), ph.loads.weight(20.0, at=(0, 0, 1)))
    >>> leaning = ph.rotation.exp_quaternion((0.3, 0.0, 0.0))
    >>> ds = ph.integrate(top, step=0.01, steps=100, attitude=leaning, angular_velocity=(0, 0, 20))
    >>> bool(abs(ds.energy_error).max() < 1e-6)
    True
    """
    if (newtons is None) != (at is None) or (newtons is not None and gravity is not None):
        raise InvalidInput("weight takes newtons and at (the centre of mass of a pinned body), or gravity for bodies "
                           "that move; give one of both")  # fmt: skip
    if newtons is None:
        return made(weight_of, "weight", gravity=number(9.81 if gravity is None else gravity, "gravity", "m / s**2"))
    return made(weight_at, "weight", newtons=number(newtons, "newtons", "N"), at=vector(at, "at", unit="m"))


@answering
def central(mu: GravitationalParameter, surface: Length | None = None) -> Load:
    """The gravity of a centre at the origin.

    On every body it is what methods with ``/kepler`` solve exactly.

    Parameters
    ----------
    mu : float
        Gravity parameter of the centre (m3/s2).
    surface : float, optional
        Radius (m) of the centre: a run ends where a body descends to it, with the event "impact". By default, for one
        body, the mean radius of the body of ``polhode.planets`` whose ``mu`` this is (within 1e-4, in metres or
        kilometres); a run that starts below that radius does not look for it. 0 for no surface.

    Raises
    ------
    InvalidInput
        No positive number, or a negative surface.

    Examples
    --------
    >>> import polhode as ph
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(3.986004415e14, surface=6.458e6))
    >>> ds = ph.integrate(craft, step=30.0, t_end=6000.0, position=(6.9e6, 0, 0), velocity=(0, 7.0e3, 0))
    >>> ds.event_kind.values.tolist(), round(float(ds.event_time[-1]))
    (['impact'], 853)
    """
    strength = number(mu, "mu", "m**3 / s**2", positive=True)
    if surface is None:
        return made(attraction, "central", mu=strength)
    radius = number(surface, "surface", "m", positive=True, zero=True)
    return made(attraction, "central", {"mu": strength, "surface": radius}, mu=strength)


@answering
def zonal(
    mu: GravitationalParameter | None = None, radius: Length | None = None, J2: float = 0.0, J3: float | None = None,
    J4: float | None = None, J5: float | None = None, J6: float | None = None,
) -> Load:  # fmt: skip
    """The oblateness of a centre at the origin, symmetric about z: ``zonal(**earth.zonal)``.

    On centres of mass; its potential is ``mass mu / r sum J_n (radius / r)^n P_n(z / r)`` [vallado2013, ch. 8].

    Parameters
    ----------
    mu : float, optional
        Gravity parameter of the centre (m3/s2); by default that of ``central``, of ``orbit`` or of ``spacecraft``.
    radius : float
        Reference radius (m) of the coefficients.
    J2, J3, J4, J5, J6 : float, optional
        Its zonal coefficients, unnormalised.

    Raises
    ------
    InvalidInput
        A number that is not positive where it must be, or no coefficient.

    See Also
    --------
    harmonics : a field of any degree and order.

    Examples
    --------
    >>> import polhode as ph
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(3.986004415e14),
    ...                   ph.loads.zonal(3.986004415e14, 6378136.3, 1.08262668e-3, J4=-1.6e-6))
    >>> ds = ph.integrate(craft, step=60.0, steps=100, position=(7.078e6, 0, 0), velocity=(0, -1.04e3, 7.43e3))
    >>> bool(abs(ds.energy_error).max() < 1.0)
    True
    """
    given = {f"J{n}": number(J, f"J{n}") for n, J in enumerate((J2, J3, J4, J5, J6), 2) if J is not None}
    if radius is None:
        raise InvalidInput("radius is missing; zonal coefficients belong to one: zonal(radius=..., J2=...)")
    if not any(given.values()):
        raise InvalidInput("J2 to J6 are all zero; give at least one of them, or leave this load out")
    return made(oblate, "zonal", **_of_centre(mu), radius=number(radius, "radius", "m", positive=True), **given)


@answering
def gravity_gradient(mu: GravitationalParameter | None = None) -> Load:
    """The gravity gradient of a centre at the origin: a torque on the extent of bodies, and the force of that.

    Force and torque follow from one potential [hughes1986, ch. 8], n the direction of the body from the centre,

        V = -mu / (2 r^3) (tr I - 3 n . I n)
        F = -3 mu / (2 r^4) ((tr I - 5 n . I n) n + 2 I n),        T = 3 mu / r^3 n x I n

    the leading terms in size over distance: the neglected ones are smaller by that ratio.

    Parameters
    ----------
    mu : float, optional
        Gravity parameter of the centre (m3/s2); by default that of ``central``.

    Examples
    --------
    >>> import polhode as ph
    >>> craft = ph.system(ph.body("craft", 100.0, (90, 70, 60)), ph.loads.central(3.986004415e14),
    ...                   ph.loads.gravity_gradient(3.986004415e14))
    >>> ds = ph.integrate(craft, step=10.0, steps=60, position=(4.9e6, 4.9e6, 0), velocity=(-5.3e3, 5.3e3, 0))
    >>> round(float(ds.angular_velocity[-1, 2]), 6)
    -0.000248
    """
    return made(on_extent, "gravity_gradient", **_of_centre(mu))


def _of_centre(mu: float | None) -> dict[str, float]:
    """The gravity parameter of a centre, where it is given."""
    return {} if mu is None else {"mu": number(mu, "mu", "m**3 / s**2", positive=True)}


@answering
def mutual_gravity(G: float = 6.6743e-11) -> Load:
    """The gravity of two bodies on each other, to second order in their size over their distance.

    ``-G (m_a m_b / d + (m_b (tr I_a - 3 n . I_a n) + m_a (tr I_b - 3 n . I_b n)) / (2 d^3))``, the term of
    [hughes1986, ch. 8] for each; what is left out falls as the next power of size over distance.

    Parameters
    ----------
    G : float
        Constant of gravitation (m3/(kg s2)).

    Returns
    -------
    Load
        On two bodies: say which with ``.on``.

    See Also
    --------
    gravitation : of any number of points.

    Examples
    --------
    >>> import polhode as ph
    >>> rocks = ph.system(ph.body("alpha", 5e11, (3e16, 4e16, 5e16)), ph.body("beta", 4e9, (1e13, 1.1e13, 1.2e13)),
    ...                   ph.loads.mutual_gravity().on("alpha", "beta"))
    >>> start = {"position": [(0, 0, 0), (1190, 0, 0)], "velocity": [(0, 0, 0), (0, 0.17, 0)]}
    >>> ds = ph.integrate(rocks, step=60.0, steps=100, start=start)
    >>> round(float(ds.sel(body="beta").position[-1, 0]))
    768
    """
    return made(between, "mutual_gravity", G=number(G, "G", "m**3 / (kg s**2)", positive=True))


@answering
def gravitation(G: float = 6.6743e-11) -> Load:
    """The gravity of all bodies on each other, each as if its mass were in one point.

    Where it is on all of them, the heaviest first and then outwards, methods with ``/kepler`` follow their orbits about
    each other, and take what else acts into their kicks.

    Parameters
    ----------
    G : float
        Constant of gravitation (m3/(kg s2)).

    Returns
    -------
    Load
        On all bodies; say ``.on`` for some of them, which then attract each other.

    See Also
    --------
    mutual_gravity : of two extended bodies, with torques.

    Examples
    --------
    >>> import polhode as ph
    >>> stars = ph.system(ph.body("a", 1.0), ph.body("b", 0.5), ph.body("c", 0.1), ph.loads.gravitation(G=1.0))
    >>> start = {"position": [(0, 0, 0), (1, 0, 0), (5, 0, 0)], "velocity": [(0, -0.4, 0), (0, 0.8, 0), (0, 0.5, 0)]}
    >>> ds = ph.integrate(stars, step=0.01, steps=200, start=start)
    >>> bool(abs(ds.energy_error).max() < 1e-6)
    True
    """
    return made(newtonian, "gravitation", G=number(G, "G", "m**3 / (kg s**2)", positive=True))


# ------------------------------------------------------------------ bodies that are not part of the system
def tide(body, other, mu):
    """-m mu (1/|d| - 1/|s| - r . s/|s|^3), d = s - r, of a body at s, and its force -m mu/|d|^3 (r + f s), f of
    q = r . (r - 2 s)/s^2; both without cancellation [battin1999]."""
    level, force, *_ = from_body(body, other, other @ other, mu)
    return {"potential": level, "force": force}


def tide_along(body, t, path, mu):
    """The same of a body on a path, and its rate in time, which has fewer products than if it is derived,

    m mu / |s|^3 (r . s' f / (1 + f) - s . s' (f / (1 + f) + 3 r . s / s^2)), the bracket without cancellation."""
    at = path.p, path.at, t
    s, ds, square = np.array(place_at(*at)), np.array(velocity_at(*at)), square_at(*at)
    level, force, q, w, f, cube = from_body(body, s, square, mu)
    rest = 1.5 * q * q * (1.0 + q / 1.5 - (1.0 + q) / (1.0 + w)) / (1.0 + cube)  # f - 3 q / 2
    bracket = (rest - 1.5 * q * f) / cube + 1.5 * (body.position @ body.position) / square
    slope = (body.position @ ds) * f / cube - receding_at(*at) * bracket
    return {"potential": level, "force": force, "potential_rate": body.mass * mu / (square * square**0.5) * slope}


def from_body(body, s, square, mu):
    """Potential and force for a square s^2, and q, sqrt(1 + q), f and 1 + f."""
    r, near, far = body.position, (s - body.position) @ (s - body.position), square * square**0.5
    q = (r @ (r - 2.0 * s)) / square
    w, cube = (1.0 + q) ** 0.5, near * near**0.5
    f = q * (3.0 + q * (3.0 + q)) / (1.0 + cube / far)
    direct = q * q * (w + 2.0) / (2.0 * w * (1.0 + w) * (1.0 + w))
    level = -body.mass * mu * square**-0.5 * (direct - 0.5 * (r @ r) / square)
    k = -body.mass * mu / cube
    return level, k * f * s + k * r, q, w, f, cube / far


@answering
def third_body(of: str, mu: GravitationalParameter | None = None) -> Load:
    """Gravity of another body less its pull on the origin, where the centre of the system falls with it.

    It acts on the centre of mass, and reads the place of the other body (m, space) from the surroundings.

    Parameters
    ----------
    of : str
        Its name there: ``"moon"`` reads ``moon``.
    mu : float, optional
        Its gravity parameter (m3/s2); by default that of the body of this name: sun, moon, earth, or a planet.

    Raises
    ------
    InvalidInput
        No positive number, or none for a name that polhode does not know.

    Examples
    --------
    >>> import polhode as ph
    >>> moon = ph.surroundings.ephemeris("moon", "2026-03-20T12:00:00 UTC", 86400.0)
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(3.986004415e14), ph.loads.third_body("moon"),
    ...                   surroundings={"moon": moon})
    >>> ds = ph.integrate(craft, step=600.0, steps=144, position=(4.2164e7, 0, 0), velocity=(0, 3.0747e3, 0))
    >>> round(float(ds.position[-1, 2]))
    -574
    """
    name = identifier(of, "of")
    if mu is None and name not in BODIES:
        raise InvalidInput(f"mu is missing; polhode knows that of {', '.join(BODIES)}, not of {name!r}")
    size = BODIES[name] if mu is None else number(mu, "mu", "m**3 / s**2", positive=True)
    load = made(tide, "third_body", {"of": name, "mu": size}, mu=size)
    return replace(load, name=f"third_body_{name}", reads={"other": name})


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
    field: str | GravityField,
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
        Angle (rad) at time 0, from where the equator rises through the plane z = 0 (from x for an axis along z) to the
        meridian of longitude 0: of the Earth its rotation angle.
    axis : array_like (3,)
        Pole of the centre, in space.
    orientation : str or mapping, optional
        In place of ``axis`` and ``angle``, of the Earth: the instant of time 0, or a mapping of arguments of
        ``polhode.planets.earth_orientation``, with precession and nutation. In a scenario ``{}`` is that under [run].
    digest : str
        SHA-256 that the file must have; runs record it, so that they are repeated with the same field.

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
