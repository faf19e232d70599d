"""Rotors in a body, wheels and control moment gyros, as builders take them: checked, with their states.

States: momenta and commands of the wheels, then angles and commands of the gyros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polhode.algebra.quaternion import rotate_inverse
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
        return np.array([rotated(self.frame, axis) for axis in self.wheels.axes])

    @property
    def arguments(self) -> dict[str, Any]:
        """What they are made from, as the system takes them."""
        both = {"wheels": self.wheels, "gyros": self.gyros}
        return {name: dict(one.arguments) for name, one in both.items() if one is not None}

    @cached_property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """Their auxiliary variables."""
        return (*variables_of(self.wheels, "wheel"), *variables_of(self.gyros, "gimbal"))

    @property
    def commands(self) -> Sizes:
        """The states that controllers may set."""
        return tuple((name, size) for name, size in sizes_of(self.variables) if name.endswith("_command"))


def sizes_of(variables: Sequence[AuxiliaryVariable]) -> Sizes:
    """The names by which functions read variables, and how many numbers each has."""
    found: dict[str, int] = {}
    for one in variables:
        found[one.quantity] = found.get(one.quantity, 0) + 1
    return tuple(found.items())


def variables_of(one: Wheels | Gyros | None, dimension: str) -> tuple[AuxiliaryVariable, ...]:
    """The states of wheels or gyros as auxiliary variables."""
    return tuple(
        AuxiliaryVariable(name, str(k), True, True, float(x), dimension, "", words)
        for name, starts, words in (() if one is None else one.states) for k, x in enumerate(starts)
    )  # fmt: skip


def rotated(frame: Any, axis: Any) -> list[float]:
    """An axis of the user's body frame in the principal frame."""
    return list(map(float, rotate_inverse(tuple(frame), tuple(axis))))


def rotors_of(wheels: Any, gyros: Any, inertia: Any, N: int = 1) -> Rotors | None:
    """Wheels and gyros in one body with this inertia, that of the whole with locked wheels; None without any."""

    def of_kind(given: Any, make: Any, kind: type, name: str) -> Any:
        given = called(make, given) if isinstance(given, Mapping) else given
        if given is not None and not isinstance(given, kind):
            raise InvalidInput(f"{name} must be made by polhode.{make.__name__}, or be a mapping of its arguments")
        if given is not None and N > 1:
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
