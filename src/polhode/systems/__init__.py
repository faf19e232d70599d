"""Systems: bodies with mass and inertia, the loads on them and what they conserve, independent of method and step.

One file per system, whose docstring is its page in the documentation: equations of motion, conserved quantities,
parameters with units, source. Beside them, ``inertia`` builds and checks inertia tensors, ``user`` turns plain Python
functions into loads, ``problems`` holds the ready-made problems of the papers, ``record`` defines ``System``,
``forces`` holds the forces of ``orbit`` and ``spacecraft``, and ``planets`` constants for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polhode.systems.dipoles import dipoles
from polhode.systems.free_body import free_body
from polhode.systems.gravitating_bodies import gravitating_bodies
from polhode.systems.gravity_gradient import gravity_gradient
from polhode.systems.heavy_top import heavy_top
from polhode.systems.orbit import orbit
from polhode.systems.particle import particle
from polhode.systems.problems import PROBLEMS, ReadyMade, problem
from polhode.systems.record import System
from polhode.systems.rigid_body import rigid_body
from polhode.systems.rigid_water import rigid_water
from polhode.systems.soft_wall import soft_wall
from polhode.systems.spacecraft import plate, spacecraft, thruster

__all__ = [
    "PROBLEMS",
    "SYSTEMS",
    "ReadyMade",
    "System",
    "built",
    "dipoles",
    "free_body",
    "gravitating_bodies",
    "gravity_gradient",
    "heavy_top",
    "orbit",
    "particle",
    "plate",
    "problem",
    "rigid_body",
    "rigid_water",
    "soft_wall",
    "spacecraft",
    "thruster",
]

SYSTEMS: dict[str, Callable[..., System]] = {
    build.__name__: build
    for build in (
        particle, free_body, rigid_body, heavy_top, gravity_gradient, soft_wall, orbit, spacecraft, gravitating_bodies,
        dipoles, rigid_water,
    )
}  # fmt: skip
"""The systems by the name of the function that builds them."""


def built(name: str, arguments: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> System:
    """Rebuild a system from its name, its recorded arguments and the user's functions by keyword."""
    return SYSTEMS[name](**{**arguments, **functions})
