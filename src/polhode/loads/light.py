"""Pressure of sunlight on bodies; they read it from the surroundings."""

from __future__ import annotations

import numpy as np

from polhode.arguments import number
from polhode.errors import answering
from polhode.loads.air import Area
from polhode.loads.load import Load, made
from polhode.loads.thrust import lightened
from polhode.surroundings.light import beam, visible
from polhode.surroundings.paths import place_at, velocity_at


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

    Returns
    -------
    Load

    Raises
    ------
    InvalidInput
        No positive number.

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
