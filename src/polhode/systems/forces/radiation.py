"""Pressure of sunlight, with and without the shadow of the centre."""

from __future__ import annotations

from typing import Literal

import numpy as np

from polhode.algebra.so3 import axpy, dot, scale
from polhode.arguments import choice, number
from polhode.arguments.words import Acceleration, Length, Position, Positions, Times, Vector
from polhode.errors import InvalidInput, answering
from polhode.kernel.jit import helper
from polhode.surroundings.ephemerides import Ephemerides
from polhode.surroundings.light import visible
from polhode.surroundings.paths import Circle, path_to_sun, place_at, velocity_at
from polhode.systems.events import edges_of_shadow
from polhode.systems.forces.record import Force

DISTANCE, FAR, LIT, BODY, SUN, PATH = range(1, 7)
"""Indices among the numbers, behind the acceleration: distance at which it holds or 0; 1 if the Sun is infinitely far
away, in the direction of its path; 1 in the light and 0 in a cylindrical shadow; radii of the body that casts a shadow
and of the Sun; the path of the Sun."""


@helper
def beam(p, at, t, r):
    """Acceleration in full light over the length of d, and d, the vector to the Sun."""
    s = place_at(p, at + PATH, t)
    d = s if p[at + FAR] == 1.0 else axpy(-1.0, r, s)
    size = np.sqrt(dot(d, d))
    w = p[at] / size
    if p[at + DISTANCE] > 0.0:
        w *= (p[at + DISTANCE] / size) * (p[at + DISTANCE] / size)
    return w, d


def light_acceleration(p, at, mu, t, r, v):
    """Away from the Sun, inverse square if a distance is given."""
    w, d = beam(p, at, t, r)
    return scale(-w, d)


def cylinder_acceleration(p, at, mu, t, r, v):
    """Light that a run switches off in the shadow."""
    w, d = beam(p, at, t, r)
    return scale(-w * p[at + LIT], d)


def cone_acceleration(p, at, mu, t, r, v):
    """Light times the visible fraction of the Sun."""
    w, d = beam(p, at, t, r)
    return scale(-w * visible(p[at + BODY], p[at + SUN], r, d), d)


def light_potential(p, at, mu, t, r):
    """Per unit mass, without shadow: A n . r, A D^2 / |d| or -A |d|, minus the value at the centre."""
    s = place_at(p, at + PATH, t)
    if p[at + FAR] == 1.0:
        return p[at] * dot(s, r)
    d = axpy(-1.0, r, s)
    far, near = np.sqrt(dot(s, s)), np.sqrt(dot(d, d))
    change = dot(r, axpy(-2.0, s, r)) / (far + near)  # |d| - |s|
    if p[at + DISTANCE] > 0.0:
        return -p[at] * p[at + DISTANCE] * p[at + DISTANCE] * change / (far * near)
    return -p[at] * change


def light_rate(p, at, mu, t, r):
    """Partial time derivative of ``light_potential``."""
    if p[at + FAR] == 1.0:
        return 0.0
    s, ds = place_at(p, at + PATH, t), velocity_at(p, at + PATH, t)
    d = axpy(-1.0, r, s)
    far, near = np.sqrt(dot(s, s)), np.sqrt(dot(d, d))
    change = dot(r, axpy(-2.0, s, r)) / (far + near)  # |d| - |s|
    if p[at + DISTANCE] > 0.0:
        cubes = change * (near * near + near * far + far * far) / (near * far * near * far * near * far)
        return p[at] * p[at + DISTANCE] * p[at + DISTANCE] * (dot(r, ds) / (near * near * near) + dot(s, ds) * cubes)
    return p[at] * (dot(r, ds) + dot(s, ds) * change / far) / near


SHADOWS = {
    "none": (light_acceleration, light_potential, light_rate),
    "cylinder": (cylinder_acceleration, None, None),
    "cone": (cone_acceleration, None, None),
}
"""Acceleration, potential and its rate, by the shadow."""


@answering
def radiation_pressure(
    acceleration: Acceleration,
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
    """Pressure of sunlight, away from the Sun, with or without the shadow of the centre.

    Parameters
    ----------
    acceleration : float
        In full sunlight, length / time^2: pressure times reflectivity times area over mass.
    direction : array_like (3,), optional
        Towards a Sun infinitely far away; or else its position:
    position, times, positions, circle, ephemeris
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
    path = path_to_sun(direction, position, times, positions, circle, ephemeris)
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
    body, sun = sizes.get("radius", 0.0), sizes.get("sun_radius", 0.0)
    light, potential, rate = SHADOWS[shadow]
    behind = {"none": "without shadow", "cylinder": "with a cylindrical shadow", "cone": "with shadow and penumbra"}
    return Force(
        "radiation_pressure",
        f"pressure of sunlight {behind[shadow]}",
        {"acceleration": strength, **path.arguments, **sizes, "shadow": shadow},
        (strength, sizes.get("distance", 0.0), float(direction is not None), 1.0, body, sun, *path.numbers),
        light,
        potential,
        rate,
        velocity_dependent=False,
        autonomous=path.still,
        surface=True,
        watches=edges_of_shadow(path, body, sun, shadow, LIT),
    )
