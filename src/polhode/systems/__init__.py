"""Systems: bodies with mass and inertia, the loads on them and what they conserve, independent of method and step.

One file per system, whose docstring is its page in the documentation: equations of motion, conserved quantities,
parameters with units, source. Beside them, ``inertia`` builds and checks inertia tensors, ``user`` turns plain Python
functions into loads, ``problems`` holds the ready-made problems of the papers, ``record`` defines ``System``,
``forces`` holds the forces of ``orbit`` and ``spacecraft``, and ``planets`` constants for them. ``words`` are the
annotations from which scenarios, their schema and listings know the arguments of a system: a further one is a file with
such a function, and a row below (or ``add_system``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from polhode.capabilities import known
from polhode.errors import InvalidInput, shown
from polhode.html import Tables
from polhode.plugins import Registry
from polhode.systems.controllers import controller, with_functions
from polhode.systems.devices import magnetic_dipole
from polhode.systems.dipoles import dipoles
from polhode.systems.ephemerides import ephemeris
from polhode.systems.free_body import free_body
from polhode.systems.gravitating_bodies import gravitating_bodies
from polhode.systems.gravity_fields import gravity_field
from polhode.systems.gravity_gradient import gravity_gradient
from polhode.systems.gyros import control_moment_gyros
from polhode.systems.heavy_top import heavy_top
from polhode.systems.magnetic import magnetic_field
from polhode.systems.nrlmsis import nrlmsis
from polhode.systems.orbit import orbit
from polhode.systems.particle import particle
from polhode.systems.problems import PROBLEMS, ReadyMade, problem
from polhode.systems.pulsed_thrusters import pulsed_thrusters
from polhode.systems.record import System
from polhode.systems.rigid_body import rigid_body
from polhode.systems.rigid_water import rigid_water
from polhode.systems.soft_wall import soft_wall
from polhode.systems.spacecraft import plate, spacecraft, thruster
from polhode.systems.torquers import magnetic_torquers
from polhode.systems.wheels import reaction_wheels
from polhode.systems.words import arguments_of, sample_value

__all__ = [
    "control_moment_gyros",
    "PROBLEMS",
    "SYSTEMS",
    "ReadyMade",
    "System",
    "add_system",
    "built",
    "controller",
    "dipoles",
    "ephemeris",
    "free_body",
    "gravitating_bodies",
    "gravity_field",
    "gravity_gradient",
    "heavy_top",
    "magnetic_dipole",
    "magnetic_field",
    "magnetic_torquers",
    "orbit",
    "particle",
    "plate",
    "problem",
    "nrlmsis",
    "pulsed_thrusters",
    "reaction_wheels",
    "rigid_body",
    "rigid_water",
    "soft_wall",
    "spacecraft",
    "thruster",
]

SYSTEMS: dict[str, Callable[..., System]] = Registry({
    build.__name__: build
    for build in (
        particle, free_body, rigid_body, heavy_top, gravity_gradient, soft_wall, orbit, spacecraft, gravitating_bodies,
        dipoles, rigid_water,
    )
})  # fmt: skip
"""The systems by the name of the function that builds them."""


def add_system(build: Callable[..., System]) -> Callable[..., System]:
    """Add a system of one's own under the name of the function that builds it; returns the function.

    From then on scenarios, their schema, ``polhode systems`` and ``rerun`` know it, and ``polhode.<name>`` is the
    function. Adding the same function twice does nothing.

    Parameters
    ----------
    build : function
        Its arguments are annotated with words of ``polhode.systems.words`` and described in the section Parameters of
        its docstring. The ``System`` it returns has its name, and the arguments from which it builds the same again.

    Raises
    ------
    InvalidInput
        Not a function, a name that another system has, or an argument whose annotation says nothing to a scenario.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from polhode.systems.words import Acceleration, Mass
    >>> def falling(mass: Mass, gravity: Acceleration = 9.81) -> System:
    ...     made = particle(mass, gravity=(0.0, 0.0, -gravity))
    ...     return replace(made, name="falling", arguments={"mass": mass, "gravity": gravity})
    >>> add_system(falling)(2.0).conserves  # doctest: +SKIP
    ('energy',)
    """
    name = build.__name__ if isinstance(build, FunctionType) else ""
    if not name.isidentifier():
        raise InvalidInput(f"build must be a function that returns a System, not {shown(build)}")
    if SYSTEMS.get(name, build) is not build:
        raise InvalidInput(f"there is already a system {name!r}; give the function another name")
    arguments_of(build)
    SYSTEMS[name] = build
    return build


SAMPLES: dict[str, Any] = {"radius": 2.0, "n": 8}
"""Values of required arguments by name, with which ``sample_of`` builds a system; of others by their types."""
ONE_OF_TWO: dict[str, dict[str, Any]] = {
    "heavy_top": {"center_of_mass": (0.0, 0.0, 1.0), "weight": 1.0}, "gravitating_bodies": {"mass": (1.0, 2.0)},
}  # fmt: skip
"""The same of systems that need arguments with a default, because another argument may take their place."""


def provided_by(build: Callable[..., System]) -> frozenset[str] | None:
    """Capabilities of the systems that a function builds without its optional arguments; None where that fails.

    They are those of ``build.provides`` where the function has this attribute, as one may for which no arguments are
    found.
    """
    stated: Any = getattr(build, "provides", None)
    if stated is not None:
        return known(stated)
    try:
        return frozenset(build(**sample_arguments(build)).provides)
    except InvalidInput:
        return None


def sample_arguments(build: Callable[..., System]) -> dict[str, Any]:
    """Values for the required arguments of a function that builds a system.

    Raises
    ------
    InvalidInput
        It requires something of which there is no sample, such as a function.
    """
    needed = {name: argument for name, argument in arguments_of(build).items() if argument.required}
    given = {name: SAMPLES.get(name, sample_value(argument)) for name, argument in needed.items()}
    missing = [name for name, value in given.items() if value is None]
    if missing:
        raise InvalidInput(f"there is no sample of argument {missing[0]!r} of {getattr(build, '__name__', build)}")
    return given | ONE_OF_TWO.get(getattr(build, "__name__", ""), {})


def built(name: str, arguments: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> System:
    """Rebuild a system from its name, its recorded arguments and the user's functions by keyword."""
    return SYSTEMS[name](**with_functions(name, arguments, functions))


class _Module(ModuleType):
    """``polhode.systems()``: the tables of systems, forces and problems, for terminals and notebooks."""

    def __call__(self) -> Tables:
        from polhode.systems.listing import system_tables

        return system_tables()


sys.modules[__name__].__class__ = _Module
