"""What acts on bodies: loads of your own by ``of`` and ``acceleration``, and those of polhode, one short function each.

ph.loads.of(spring, stiffness=3.0).on("a", "b"), ph.loads.weight(), ph.loads.tether(5.0, 100.0).on("a", "b")
"""

from __future__ import annotations

from collections.abc import Callable

from polhode.lazy import public_names
from polhode.loads.added import LOADS as LOADS, add_load
from polhode.loads.gravity import (
    central,
    gravitation,
    gravity_gradient,
    harmonics,
    mutual_gravity,
    third_body,
    weight,
    zonal,
)
from polhode.loads.load import Load, acceleration, of
from polhode.loads.magnetism import magnet, torquers
from polhode.loads.sites import sites, tether
from polhode.loads.surfaces import drag, plates_in_air, plates_in_light, radiation
from polhode.loads.thrust import impulse, pulsed_thrusters, thrust

__all__ = [
    "Load",
    "acceleration",
    "add_load",
    "central",
    "drag",
    "gravitation",
    "gravity_gradient",
    "harmonics",
    "impulse",
    "magnet",
    "mutual_gravity",
    "of",
    "plates_in_air",
    "plates_in_light",
    "pulsed_thrusters",
    "radiation",
    "sites",
    "tether",
    "third_body",
    "thrust",
    "torquers",
    "weight",
    "zonal",
]
__dir__ = public_names(__all__)

LOADS |= {
    build.__name__: build
    for build in (
        *(weight, central, zonal, gravity_gradient, gravitation, mutual_gravity, harmonics, third_body),
        *(sites, tether, drag, magnet, torquers, thrust, pulsed_thrusters, impulse, radiation),
        *(plates_in_air, plates_in_light),
    )
}


def __getattr__(name: str) -> Callable[..., Load]:
    """The loads that were added, as attributes of the module."""
    if name.startswith("_") or name not in LOADS:
        raise AttributeError(f"module 'polhode.loads' has no attribute {name!r}")
    return LOADS[name]
