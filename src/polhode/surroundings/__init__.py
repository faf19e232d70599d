"""What surrounds a body: air, magnetic fields, light, the places of other bodies; planets and their axes.

``gravity_field`` reads harmonics from a file, ``ephemeris`` has the paths of Sun, Moon and planets, ``nrlmsis`` the air
and ``magnetic_field`` the field of the Earth, for loads, forces and builders.

Quantities that loads, controllers and events of a system read by name:

    ph.system(..., surroundings={"air_density": ph.surroundings.exponential_air(1e-12, 6878e3, 60e3)})
"""

from __future__ import annotations

from collections.abc import Callable

from polhode.lazy import public_names
from polhode.surroundings.air import exponential_air, layered_air, nrlmsis, nrlmsis_air
from polhode.surroundings.gravity_fields import gravity_field
from polhode.surroundings.light import sunlight
from polhode.surroundings.magnetic import dipole_field, igrf_field, magnetic_field
from polhode.surroundings.paths import ephemeris, path
from polhode.surroundings.surrounding import Surrounding, of

__all__ = [
    "Surrounding",
    "dipole_field",
    "ephemeris",
    "exponential_air",
    "gravity_field",
    "igrf_field",
    "layered_air",
    "magnetic_field",
    "nrlmsis",
    "nrlmsis_air",
    "of",
    "path",
    "sunlight",
]
__dir__ = public_names(__all__)

SURROUNDINGS: dict[str, Callable[..., Surrounding]] = {
    build.__name__: build
    for build in (exponential_air, layered_air, nrlmsis_air, dipole_field, igrf_field, path, sunlight)
}
"""The quantities of polhode by the name of the function that makes them."""
