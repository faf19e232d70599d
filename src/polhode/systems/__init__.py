"""Systems: bodies with mass and inertia, the loads on them and what they conserve, independent of method and step.

For users, beside the builders that ``polhode`` itself has: ``gravity_gradient`` and ``soft_wall``; ``problem``, those
of the papers; ``thruster``, ``plate``, ``magnetic_dipole``, ``magnetic_torquers`` and ``pulsed_thrusters`` of a
spacecraft; ``forces``, ``events`` and ``initial`` (at the top, too); ``constrained``; ``System``, ``SYSTEMS``,
``PROBLEMS`` and ``add_system``; ``compilable`` for functions that numba compiles.

One file per system, whose docstring is its page in the documentation: equations of motion, conserved quantities,
parameters with units, source. Beside them, ``user`` turns plain Python functions into loads and ``record`` defines
``System``. From annotations, the words of ``arguments.words``, scenarios, their schema and listings know the arguments
of a system: a further one is a file with such a function, and a row below (or ``add_system``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from polhode import surroundings
from polhode.bodies.wheels import control_moment_gyros, reaction_wheels
from polhode.errors import OldNameWarning, warn
from polhode.html import Tables
from polhode.systems import constrained
from polhode.systems.controllers import controller
from polhode.systems.devices import magnetic_dipole, magnetic_torquers, plate, pulsed_thrusters, thruster
from polhode.systems.dipoles import dipoles
from polhode.systems.free_body import free_body
from polhode.systems.gravitating_bodies import gravitating_bodies
from polhode.systems.gravity_gradient import gravity_gradient
from polhode.systems.heavy_top import heavy_top
from polhode.systems.orbit import orbit
from polhode.systems.particle import particle
from polhode.systems.problems import PROBLEMS, ReadyMade, problem
from polhode.systems.record import System
from polhode.systems.registry import BUILDERS, SYSTEMS, add_system, built
from polhode.systems.rigid_body import rigid_body
from polhode.systems.rigid_water import rigid_water
from polhode.systems.soft_wall import soft_wall
from polhode.systems.spacecraft import spacecraft
from polhode.systems.sum import system
from polhode.systems.user.compilable import compilable

__all__ = [
    "control_moment_gyros",
    "PROBLEMS",
    "SYSTEMS",
    "ReadyMade",
    "System",
    "add_system",
    "built",
    "compilable",
    "constrained",
    "controller",
    "dipoles",
    "free_body",
    "gravitating_bodies",
    "gravity_gradient",
    "heavy_top",
    "magnetic_dipole",
    "magnetic_torquers",
    "orbit",
    "particle",
    "plate",
    "problem",
    "pulsed_thrusters",
    "reaction_wheels",
    "rigid_body",
    "rigid_water",
    "soft_wall",
    "spacecraft",
    "system",
    "thruster",
]

SYSTEMS |= {
    build.__name__: build
    for build in (
        particle, free_body, rigid_body, heavy_top, gravity_gradient, soft_wall, orbit, spacecraft, gravitating_bodies,
        dipoles, rigid_water,
    )
}  # fmt: skip
BUILDERS["system"] = system


LEFT = ("ephemeris", "gravity_field", "magnetic_field", "nrlmsis")
"""Names of 0.1 that are those of ``polhode.surroundings`` now."""


def __getattr__(name: str) -> Callable[..., Any]:
    """The systems that were added, as attributes of the module; and what has left it, with a warning."""
    if name in LEFT:
        warn(f"polhode.systems.{name} is now polhode.surroundings.{name}", OldNameWarning)
        return getattr(surroundings, name)
    if name.startswith("_") or name not in SYSTEMS:
        raise AttributeError(f"module 'polhode.systems' has no attribute {name!r}")
    return SYSTEMS[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *SYSTEMS})


class _Module(ModuleType):
    """``polhode.systems()``: the tables of systems, forces and problems, for terminals and notebooks."""

    def __call__(self) -> Tables:
        from polhode.systems.listing import system_tables

        return system_tables()


sys.modules[__name__].__class__ = _Module
