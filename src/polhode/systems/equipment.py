"""Equipment of one body whose states controllers set: wheels and control moment gyros, magnetic torquers, and thrusters
that fire in pulses.

States of rotors are momenta and commands of the wheels, then angles and commands of the gyros. Torquers and thrusters
are ``polhode.loads.torquers`` and ``polhode.loads.pulsed_thrusters``, and the states that these bring. The force on
torquers, some 1e-11 N per A m^2 in a low orbit, is neglected.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.arguments import in_unit
from polhode.arguments.recorded import made_by, plain
from polhode.bodies.body import rotors
from polhode.bodies.inertia import principal
from polhode.bodies.wheels import Gyros, Wheels, rest_of
from polhode.errors import InvalidInput, answering
from polhode.loads import Load, pulsed_thrusters as pulsed_load, torquers as torquers_load
from polhode.loads.thrust import CLOSES, COMMAND, FIRED, OPEN
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.user.forms import Sizes, sizes_read


@dataclass(frozen=True)
class Rotors:
    """Rotors in a body."""

    wheels: Wheels | None  # wheels, gyros: what they are; at least one is there
    gyros: Gyros | None
    # moments, frame: (3,): principal moments of the inertia without what wheels add about their axes, and its frame
    moments: Any
    frame: Any

    @property
    def axes(self) -> Any:
        """Axes of the wheels in the principal frame (n, 3)."""
        if self.wheels is None:
            return np.zeros((0, 3))
        return np.array(self.wheels.axes_in(self.frame))

    @property
    def arguments(self) -> dict[str, Any]:
        """What they are made from, as the system takes them."""
        both = {"wheels": self.wheels, "gyros": self.gyros}
        return {name: one.arguments for name, one in both.items() if one is not None}

    @property
    def sizes(self) -> Sizes:
        """Their states, and how many numbers each has."""
        both = (one for one in (self.wheels, self.gyros) if one is not None)
        return tuple((name, len(starts)) for one in both for name, starts, _ in one.states)

    @property
    def commands(self) -> Sizes:
        """The states that controllers may set."""
        return tuple((name, size) for name, size in self.sizes if name.endswith("_command"))


def of_one(name: str, N: int) -> None:
    """Refuse equipment of several spacecraft."""
    if N > 1:
        raise InvalidInput(f"{name} are those of one spacecraft, but there are {N}; build a system for each of them")


def rotors_of(wheels: Any, gyros: Any, inertia: Any, N: int = 1) -> Rotors | None:
    """Wheels and gyros in one body with this inertia, that of the whole with locked wheels; None without any."""
    spun, turned = rotors(wheels, gyros)
    if spun is None and turned is None:
        return None
    of_one("gyros" if spun is None else "wheels", N)
    whole = principal(inertia)
    if spun is None:
        return Rotors(None, turned, whole.moments, whole.frame)
    parts = rest_of(whole, spun)
    return Rotors(spun, turned, parts.moments, parts.frame)


WORDS = {
    "dipole_command": "commanded dipole moments of magnetic torquers",
    COMMAND: "commanded shares of the period in which thrusters fire", OPEN: "whether the valves of thrusters are open",
    CLOSES: "times at which the valves of thrusters close", FIRED: "how long thrusters have fired",
}  # fmt: skip


@dataclass(frozen=True)
class Equipment:
    """What is fixed in the body of a spacecraft and does what it is commanded."""

    maker: str  # the function that makes it
    arguments: Mapping[str, Any]  # what it is made from, in JSON types
    acting: Load
    dimension: str  # along which the labels of its states stand

    @property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """Its states, the commands first."""
        starts = ((name, one["start"] if isinstance(one, Mapping) else one) for name, one in self.acting.starts.items())
        return tuple(AuxiliaryVariable(name, str(k), True, True, float(x), self.dimension, "", WORDS[name])
                     for name, start in starts for k, x in enumerate(start))  # fmt: skip

    @property
    def commands(self) -> Sizes:
        """The states that controllers may set."""
        return sizes_read(self.variables)[:1]

    def load(self, turned: Callable[..., Any]) -> Load:
        """Its load, with ``turned`` as of ``devices.loads_of_devices``."""
        numbers = {name: turned(one) if one.ndim == 2 else one for name, one in self.acting.parameters.items()}
        return replace(self.acting, parameters=numbers, starts={})

    def __repr__(self) -> str:
        return f"{self.maker}({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


@answering
@functools.wraps(torquers_load, assigned=("__doc__", "__annotations__"))
def magnetic_torquers(axes: Any, max_dipole: Any = None, *, command: Any = 0.0) -> Equipment:
    acting = torquers_load(axes, max_dipole, command=command)
    given = {"max_dipole": max_dipole, "command": command}
    sizes = {name: plain(in_unit(one, "A * m**2", name)) for name, one in given.items() if one is not None}
    return Equipment("magnetic_torquers", {"axes": plain(axes), **sizes}, acting, "torquer")


@answering
@functools.wraps(pulsed_load, assigned=("__doc__", "__annotations__"))
def pulsed_thrusters(*arguments: Any, **given: Any) -> Equipment:
    acting = pulsed_load(*arguments, **given)
    return Equipment("pulsed_thrusters", acting.recorded or {}, replace(acting, kind="thrust"), "pulsed_thruster")


def equipment_of(torquers: Any, field: Any, pulsed: Any, N: int) -> dict[str, Equipment]:
    """Torquers that meet a field, and thrusters that fire in pulses, of one spacecraft, by their arguments."""
    both = ("torquers", magnetic_torquers, torquers), ("pulsed_thrusters", pulsed_thrusters, pulsed)
    found = {}
    for name, make, given in both:
        if given is not None:
            found[name] = made_by(make, Equipment, given, name, f"systems.{make.__name__}")
            if name == "torquers" and field is None:
                raise InvalidInput("torquers are given, but there is no magnetic_field; give it, or leave them out")
            of_one(name, N)
    return found
