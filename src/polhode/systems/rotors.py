"""Rotors in a body, wheels and control moment gyros, as builders take them: checked, with their states.

States: momenta and commands of the wheels, then angles and commands of the gyros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.arguments.recorded import called
from polhode.bodies.gyros import Gyros, control_moment_gyros
from polhode.bodies.inertia import principal
from polhode.bodies.wheels import Wheels, reaction_wheels, rest_of
from polhode.errors import InvalidInput
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.user.forms import Sizes


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


def sizes_of(variables: Sequence[AuxiliaryVariable]) -> Sizes:
    """The names by which functions read variables, and how many numbers each has."""
    found: dict[str, int] = {}
    for one in variables:
        found[one.quantity] = found.get(one.quantity, 0) + 1
    return tuple(found.items())


def rotors_of(wheels: Any, gyros: Any, inertia: Any, N: int = 1) -> Rotors | None:
    """Wheels and gyros in one body with this inertia, that of the whole with locked wheels; None without any."""

    def of_kind(given: Any, make: Any, kind: type, name: str) -> Any:
        if given is None:
            return None
        if not isinstance(given, kind) and isinstance(given, Mapping):
            given = called(make, given)
        if not isinstance(given, kind):
            raise InvalidInput(f"{name} must be made by polhode.{make.__name__}, or be a mapping of its arguments")
        if N > 1:
            raise InvalidInput(f"{name} are those of one spacecraft, but there are {N}; build a system for each of "
                               "them")  # fmt: skip
        return given

    spun = of_kind(wheels, reaction_wheels, Wheels, "wheels")
    turned = of_kind(gyros, control_moment_gyros, Gyros, "gyros")
    if spun is None and turned is None:
        return None
    whole = principal(inertia)
    if spun is None:
        return Rotors(None, turned, whole.moments, whole.frame)
    parts = rest_of(whole, spun)
    return Rotors(spun, turned, parts.moments, parts.frame)
