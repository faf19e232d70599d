"""Sunlight around a body: its pressure, with and without the shadow of what is at the origin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import pi
from typing import Annotated, Any, Literal

import numpy as np

from polhode.algebra.so3 import cross, dot
from polhode.arguments import choice, number, unit_vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Length, Unit, Vector
from polhode.errors import InvalidInput, answering
from polhode.kernel.jit import helper
from polhode.surroundings.surrounding import Surrounding, made


@helper
def visible(body, sun, r, d):
    """Visible fraction of the Sun's disc behind a body at the centre, by their radii; the discs are taken as flat."""
    # Apparent radii of the Sun and of the body, and the angle between their centres.
    a = np.arcsin(min(1.0, sun / np.sqrt(dot(d, d))))
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


# ------------------------------------------------------------------ functions
def beam(d, pressure, distance):
    """Pressure away from the Sun, d the vector to it; inverse square if there is a distance."""
    size = (d @ d) ** 0.5
    w = pressure / size
    return -(w if distance is None else w * (distance / size) * (distance / size)) * d


def from_sun(body, sun, pressure, distance=None, lit=1.0):
    """Light of the Sun, which is on or off."""
    return lit * beam(sun - body.position, pressure, distance)


def along(body, pressure, direction, lit=1.0):
    """Light of a Sun that is infinitely far away."""
    return lit * beam(direction, pressure, None)


def dimmed(body, sun, pressure, radius, sun_radius, distance=None):
    """Light of the part of the Sun's disc that is visible."""
    d = sun - body.position
    return visible(radius, sun_radius, tuple(body.position), tuple(d)) * beam(d, pressure, distance)


# ------------------------------------------------------------------ edges of shadows
def beside(r, direction, radius):
    """Positive in light, negative in the cylinder behind the body; a length."""
    s = direction * (direction @ direction) ** -0.5
    across = np.cross(r, s)
    return np.maximum(r @ s, (across @ across) ** 0.5 - radius)


def out_of_cylinder(body, sun, radius):
    """Positive out of the shadow."""
    return beside(body.position, sun, radius)


def out_of_beam(body, direction, radius):
    """Likewise, of a Sun that is infinitely far away."""
    return beside(body.position, direction, radius)


def between_discs(body, sun, radius, sun_radius):
    """Angle between the centres of the discs, and their apparent radii."""
    r, d = body.position, sun - body.position
    across = np.cross(d, r)
    apart = np.arctan2((across @ across) ** 0.5, -(d @ r))
    return apart, *(np.arcsin(np.minimum(1.0, size * (x @ x) ** -0.5)) for size, x in ((sun_radius, d), (radius, r)))


def touching(body, sun, radius, sun_radius):
    """Positive out of the penumbra."""
    c, a, b = between_discs(body, sun, radius, sun_radius)
    return c - (a + b)


def covered(body, sun, radius, sun_radius):
    """Negative where one disc lies within the other."""
    c, a, b = between_discs(body, sun, radius, sun_radius)
    return c - abs(b - a)


SHADOWS: dict[str, tuple[tuple[Callable[..., Any], str], ...]] = {
    "none": (),
    "cylinder": ((out_of_cylinder, "lit"),),
    "cone": ((touching, ""), (covered, "")),
}
"""Functions of a body where light jumps or kinks, and the parameter that is 1 where they are positive, else 0."""


def sizes_of(shadow: object, distance: object, radius: object, sun_radius: object) -> dict[str, float]:
    """The lengths that light of a shadow has: those that are given, which must be those that it needs."""
    choice(shadow, "shadow", SHADOWS)
    given = {"distance": distance, "radius": radius, "sun_radius": sun_radius}
    sizes = {name: number(value, name, "m", positive=True) for name, value in given.items() if value is not None}
    for name, needed in (("radius", shadow != "none"), ("sun_radius", shadow == "cone")):
        if needed and name not in sizes:
            raise InvalidInput(f"{name} is missing; a shadow of the kind {shadow!r} needs it"
                               + " and a place of the Sun" * (name == "sun_radius"))  # fmt: skip
        if not needed and name in sizes:
            raise InvalidInput(f"{name} is given, but shadow is {shadow!r}; leave it out or choose another shadow")
    return sizes


@answering
def sunlight(
    pressure: Annotated[float, Unit("N_m2")],
    *,
    direction: Vector | None = None,
    distance: Length | None = None,
    shadow: Literal["none", "cylinder", "cone"] = "none",
    radius: Length | None = None,
    sun_radius: Length | None = None,
) -> Surrounding:
    """Sunlight, with or without the shadow of a body at the origin; runs cut their steps at the edges of the shadow.

    It reads ``sun`` (m, space), the place of the Sun, from the surroundings, unless there is a direction.

    Parameters
    ----------
    pressure : float
        Pressure (N/m2) of full light on a black plate that faces the Sun: 4.56e-6 at the distance of the Earth.
    direction : array_like (3,), optional
        Towards a Sun infinitely far away.
    distance : float, optional
        Distance (m) from the Sun at which the pressure holds; elsewhere it follows the inverse square. Without it the
        pressure is the same everywhere.
    shadow : {"none", "cylinder", "cone"}
        "cylinder": on or off, as behind a body lit from infinity. "cone": the fraction of the Sun's disc that is not
        covered by the body, with the discs taken as flat. Steps are cut at the edges of either.
    radius : float, optional
        Radius (m) of the body at the origin that casts the shadow.
    sun_radius : float, optional
        Radius (m) of the Sun, for the cone: 6.957e8.

    Returns
    -------
    Surrounding
        A vector, away from the Sun, of the size of the pressure (N/m2, space), such as the ``sunlight`` that
        ``polhode.loads.radiation`` reads.

    Examples
    --------
    >>> import polhode as ph
    >>> sun = ph.surroundings.sunlight(4.56e-6, direction=(1, 0, 0), shadow="cylinder", radius=6.378e6)
    >>> craft = ph.system(ph.body("craft", 10.0), ph.loads.central(3.986004415e14), ph.loads.radiation(1.3, 4.0),
    ...                   surroundings={"sunlight": sun})
    >>> ds = ph.integrate(craft, step=60.0, steps=90, position=(6.878e6, 0, 0), velocity=(0, 7.6e3, 0))
    >>> round(float(ds.energy_change[20]), 2)
    124.04
    """
    far = None if direction is None else unit_vector(direction, "direction")
    for name, value in (("distance", distance), ("sun_radius", sun_radius)):
        if far is not None and value is not None:
            raise InvalidInput(f"{name} is given beside direction; leave one of them out")
    sizes = sizes_of(shadow, distance, radius, sun_radius)
    numbers: dict[str, Any] = {"pressure": number(pressure, "pressure", "Pa", positive=True), **sizes}
    recorded = {**numbers, "shadow": shadow} | ({} if far is None else {"direction": plain(direction)})
    numbers |= {} if far is None else {"direction": far}
    numbers |= {"lit": 1.0} if shadow == "cylinder" else {}
    act = dimmed if shadow == "cone" else from_sun if far is None else along
    edges = ((out_of_beam, "lit"),) if shadow == "cylinder" and far is not None else SHADOWS[shadow]
    return replace(made(act, "sunlight", recorded, **numbers), edges=edges)
