"""What air and sunlight do to surfaces of bodies, balls and flat plates; they read both from the surroundings."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from polhode.arguments import ArrayLike, array, number, of_each, unit_vector, unit_vectors
from polhode.arguments.recorded import plain
from polhode.arguments.words import Form, Positions, Rate, Unit, Vector, Vectors, described_by
from polhode.errors import InvalidInput, answering
from polhode.loads.load import Load, made
from polhode.loads.thrust import lightened
from polhode.surroundings.air import ANGLE, between_rows, log_density
from polhode.surroundings.light import beam, visible
from polhode.surroundings.paths import place_at, velocity_at

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
    return made(against, "drag", {**numbers, "axis": plain(axis, "axis")}, **numbers, axis=unit_vector(axis, "axis"))


def on_ball(body, sunlight, Cr, area):
    """Cr A times the pressure."""
    return {"force": Cr * area * sunlight}


def in_light(body, t, sun, acceleration, far, distance=None, burns=None):
    """m times an acceleration away from the Sun, which is a direction if far; without shadow it has a potential, zero
    at the origin: m A n . r, m A D^2 / |d| or -m A |d|, and its rate in time, all without cancellation."""
    r, s = body.position, np.array(place_at(sun.p, sun.at + 1, t))
    d = s if far == 1.0 else s - r
    force = lightened(body, t, burns) * beam(d, acceleration, distance)
    if burns is not None:
        return {"force": force}
    if far == 1.0:
        return {"potential": -(force @ r), "force": force}
    near, away = (d @ d) ** 0.5, (s @ s) ** 0.5
    change = (r @ (r - 2.0 * s)) / (away + near)  # |d| - |s|
    ds = np.array(velocity_at(sun.p, sun.at + 1, t))
    if distance is None:
        level, rate = -change, ((r @ ds) + (s @ ds) * change / away) / near
    else:
        square = distance * distance
        level = -square * change / (away * near)
        cubes = change * (near * near + near * away + away * away) / (near * away) ** 3
        rate = square * ((r @ ds) / near**3 + (s @ ds) * cubes)
    strength = body.mass * acceleration
    return {"potential": strength * level, "potential_rate": strength * rate, "force": force}


def in_shade(body, t, sun, acceleration, far, distance=None, radius=None, sun_radius=None, burns=None):
    """The same, on or off behind a cylinder, or of the part of the disc that is visible."""
    r, s = body.position, np.array(place_at(sun.p, sun.at + 1, t))
    d = s if far == 1.0 else s - r
    share = sun.p[sun.at] if radius is None else visible(radius, sun_radius, tuple(r), tuple(d))
    return {"force": lightened(body, t, burns) * share * beam(d, acceleration, distance)}


@answering
def radiation(Cr: float, area: Area) -> Load:
    """Pressure of sunlight on a ball, ``Cr A P`` away from the Sun.

    It acts on the centre of mass, and reads ``sunlight`` (N/m2, space) from the surroundings.

    Parameters
    ----------
    Cr : float
        Coefficient of radiation pressure: 1 of a black ball, up to 2.
    area : float
        Cross-section (m2).

    See Also
    --------
    plates_in_light : with the attitude of flat faces, and torques.

    Examples
    --------
    >>> import polhode as ph
    >>> sun = ph.surroundings.sunlight(4.56e-6, direction=(1, 0, 0))
    >>> craft = ph.system(ph.body("craft", 10.0), ph.loads.radiation(1.3, 4.0), surroundings={"sunlight": sun})
    >>> ds = ph.integrate(craft, step=60.0, steps=60)
    >>> round(float(ds.velocity[-1, 0]), 6)
    -0.008536
    """
    return made(on_ball, "radiation", Cr=number(Cr, "Cr", positive=True),
                area=number(area, "area", "m**2", positive=True))  # fmt: skip


Areas = Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("m2")]
Shares = Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS]


# ------------------------------------------------------------------ functions
def exposed(normal, stream):
    """Cosine of the angle at which each plate meets a stream, 0 from behind, and the size of the stream."""
    size = (stream @ stream) ** 0.5
    return np.maximum(0.0, -(normal @ stream)) / size if size > 0.0 else 0.0 * normal[:, 0], size


def together(body, forces, position):
    """Force and torque of what acts on the plates, in the body's axes."""
    return {"force": body.in_space(forces.sum(axis=0)), "torque": np.cross(position, forces).sum(axis=0)}


def struck(body, stream, area, normal, position):
    """A cos P, of a pressure P along a stream in space."""
    inside = body.in_body(stream)
    c, _ = exposed(normal, inside)
    return together(body, (area * c)[:, None] * inside, position)


def in_stream(body, air_density, area, normal, position, drag_coefficient, rotation, axis):
    """Cd A cos rho |u| u / 2 against the motion."""
    u = body.velocity - np.cross(rotation * axis, body.position)
    return struck(body, -0.5 * air_density * (u @ u) ** 0.5 * u, drag_coefficient * area, normal, position)


def lit(body, light, along, mirrored, scattered, normal, position):
    """cos (a P - |P| (m cos + s) e), of a pressure P of light in space, e the normal."""
    beam = body.in_body(light)
    c, size = exposed(normal, beam)
    back = size * c * (mirrored * c + scattered)
    return together(body, (along * c)[:, None] * beam - back[:, None] * normal, position)


def on_faces(body, sunlight, area, normal, position, specular, diffuse):
    """A cos ((1 - s) P - (2 s cos + 2 d / 3) |P| e), e the normal."""
    shares = (area * (1.0 - specular), 2.0 * area * specular, 2.0 / 3.0 * area * diffuse)
    return lit(body, sunlight, *shares, normal, position)


# ------------------------------------------------------------------ loads
def _panels(area: object, normals: object, positions: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Areas, normals and places of plates, as their function and as their record call them."""
    e = unit_vectors(normals, "normals")
    x = np.atleast_2d(array(positions, "positions", "m"))
    if x.shape not in ((1, 3), e.shape):
        raise InvalidInput(
            f"positions must be 3 numbers or one row for each of {len(e)} plates, but has shape {x.shape}"
        )
    sizes = of_each(area, "area", len(e), "plates", "m**2")
    if not (sizes > 0.0).all():
        raise InvalidInput(f"area is {float(sizes.min()):g}; give a positive number")
    places = np.broadcast_to(x, e.shape).copy()
    recorded = {"area": sizes, "normals": plain(normals), "positions": places}
    return {"area": sizes, "normal": e, "position": places}, recorded


@answering
def plates_in_air(
    area: Areas, normals: Vectors, positions: Positions = ((0.0, 0.0, 0.0),), *,
    drag_coefficient: Shares = 2.2, rotation: Rate = 0.0, axis: Vector = (0.0, 0.0, 1.0),
) -> Load:  # fmt: skip
    """Drag on flat plates fixed in a body, each with one side exposed: force and torque.

    With the direction u of the motion through the air, and its positive cosine c with the normal,

        F_air = -(1/2) rho |v_air|^2 C_D A c u

    They read ``air_density`` (kg/m3) from the surroundings; the velocity is that of the centre of mass. Where air comes
    edge-on to a plate the load has a kink, which limits methods to order 2 there.

    Parameters
    ----------
    area : float or array_like (n,)
        Their areas (m2).
    normals : array_like (n, 3)
        Outward normals of the exposed sides, body axes; any length. For both sides give two plates.
    positions : array_like (n, 3)
        Their centres (m, body axes, from the centre of mass).
    drag_coefficient : float or array_like (n,)
        Drag coefficients.
    rotation, axis : float, array_like (3,)
        Rate (rad/s) at which the air turns about an axis through the origin, in space.

    See Also
    --------
    drag : of a ball.

    Examples
    --------
    >>> import polhode as ph
    >>> faces = ph.loads.plates_in_air(2.0, [(1, 0, 0), (-1, 0, 0)], positions=[(0, 0.1, 0), (0, 0.1, 0)])
    >>> craft = ph.system(ph.body("craft", 100.0, (90, 70, 60)), ph.loads.central(3.986004415e14), faces,
    ...                   surroundings={"air_density": ph.surroundings.exponential_air(1e-12, 6.878e6, 60e3)})
    >>> ds = ph.integrate(craft, step=10.0, steps=60, position=(0, 6.878e6, 0), velocity=(7.6e3, 0, 0))
    >>> round(float(ds.angular_velocity[-1, 2]), 6)
    0.000111
    """
    panels, recorded = _panels(area, normals, positions)
    Cd = of_each(drag_coefficient, "drag_coefficient", len(panels["area"]), "plates")
    turning, about = number(rotation, "rotation", "rad / s"), unit_vector(axis, "axis")
    more = {"drag_coefficient": Cd, "rotation": turning, "axis": plain(axis)}
    return made(
        in_stream, "plates_in_air", recorded | more, **panels, drag_coefficient=Cd, rotation=turning, axis=about
    )


@answering
@described_by(plates_in_air)
def plates_in_light(
    area: Areas, normals: Vectors, positions: Positions = ((0.0, 0.0, 0.0),), *,
    specular: Shares = 0.0, diffuse: Shares = 0.0,
) -> Load:  # fmt: skip
    """Pressure of sunlight on flat plates fixed in a body, each with one side exposed: force and torque.

    With the direction s to the Sun, its positive cosine c with the normal e, and specular and diffuse fractions s_s and
    s_d [wertz1978, ch. 17],

        F_light = -P A c ((1 - s_s) s + 2 (s_s c + s_d / 3) e)

    They read ``sunlight`` (N/m2, space) from the surroundings. Plates do not shade each other. Where light comes
    edge-on to a plate the load has a kink, which limits methods to order 2 there.

    Parameters
    ----------
    specular, diffuse : float or array_like (n,)
        Shares of the light that are reflected specularly and diffusely; the rest is absorbed.

    Raises
    ------
    InvalidInput
        Names the invalid argument; shares that are not within 0 and 1.

    See Also
    --------
    radiation : of a ball.

    Examples
    --------
    >>> import polhode as ph
    >>> sail = ph.loads.plates_in_light(2.0, [(1, 0, 0), (-1, 0, 0)], specular=0.3)
    >>> sun = ph.surroundings.sunlight(4.56e-6, direction=(1, 0, 0))
    >>> craft = ph.system(ph.body("craft", 10.0, (9, 7, 6)), sail, surroundings={"sunlight": sun})
    >>> round(float(ph.integrate(craft, step=60.0, steps=60).velocity[-1, 0]), 6)
    -0.004268
    """
    panels, recorded = _panels(area, normals, positions)
    n, shares = len(panels["area"]), {"specular": specular, "diffuse": diffuse}
    s, d = (of_each(one, name, n, "plates") for name, one in shares.items())
    if not ((s >= 0.0) & (d >= 0.0) & (s + d <= 1.0)).all():
        raise InvalidInput("specular and diffuse are shares of the light; give numbers from 0 on, of a sum up to 1")
    recorded |= {"specular": s, "diffuse": d}
    return made(on_faces, "plates_in_light", recorded, **panels, specular=s, diffuse=d)
