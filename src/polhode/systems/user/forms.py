"""What functions of users take and return, by what they are."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from polhode.arguments import Array
from polhode.kernel import jit

OFFERED = {"position": 3, "velocity": 3, "q": 4, "omega": 3}
"""What a body offers to functions, by the names of their arguments, and how many numbers each is."""
Sizes = tuple[tuple[str, int], ...]
"""Names and how many numbers each has; 0: one number, not a vector."""


@dataclass(frozen=True)
class Form:
    """One kind of user function: arguments and result as described in messages."""

    what: str
    arguments: str
    returns: str
    acts: tuple[str, ...] = ()  # "force", "torque"; without them, and ``sets``, it returns one number
    states: Sizes = ()  # those that it takes as its last argument; it returns the rates of those behind the first held
    held: int = 0
    sets: tuple[str, ...] = ()  # of a controller: the states whose new values it returns
    which: str = ""  # of several of one kind in one role: which of them

    def with_states(self, sizes: Sizes, held: int = 0) -> Form:
        """The form of a function that takes states, and returns the rates of those behind the first ``held``, too."""
        if not sizes:
            return self
        names, returns = ", ".join(name for name, _ in sizes[held:]), self.returns
        if names:
            returns = f"a tuple: {returns}, then the rate of each state ({names})"
        return replace(self, arguments=f"{self.arguments}, states", returns=returns, states=sizes, held=held)

    def takes_states(self, function: Callable[..., Any]) -> bool:
        """Whether a function takes one argument more than those of this form without states."""
        try:
            inspect.signature(jit.python_of(function)).bind(*self.arguments.split(","), "states")
        except Exception:  # no function: what it is given to says so
            return False
        return True

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its arguments."""
        return tuple(self.arguments.split(", "))

    @cached_property
    def taken(self) -> tuple[str, ...]:
        """What it takes of a body, in order."""
        return tuple(name for name in self.names if name in OFFERED)

    @cached_property
    def wanted(self) -> Sizes:
        """What it returns."""
        if self.sets:
            return tuple((name, dict(self.states).get(name, 0)) for name in self.sets)
        return (*((name, 3) for name in self.acts), *self.states[self.held :]) if self.acts else (("", 0),)

    @cached_property
    def count(self) -> int:
        """How many numbers the states have."""
        return sum(size or 1 for _, size in self.states)

    @cached_property
    def count_wanted(self) -> int:
        """How many numbers it returns."""
        return sum(size or 1 for _, size in self.wanted)


def split(sizes: Sizes, numbers: Sequence[Any] | Array) -> list[Any]:
    """Numbers one after another, by what has so many."""
    found, at = [], 0
    for _, size in sizes:
        found.append(numbers[at : at + size] if size else numbers[at])
        at += size or 1
    return found


@lru_cache(jit.KEPT_KERNELS)
def named(sizes: Sizes) -> type[Any]:
    """The named tuple of states."""
    return namedtuple("States", [name for name, _ in sizes])


def sizes_read(variables: Iterable[Any]) -> Sizes:
    """The names by which functions read auxiliary variables, and how many numbers each has."""
    counts: dict[str, int] = {}
    for one in variables:
        counts[one.quantity] = counts.get(one.quantity, 0) + 1 if one.dimension else 0
    return tuple(counts.items())


FORMS = {
    "torque": Form("torque", "t, q, omega, parameters", "3 numbers (x, y, z) in the body frame", ("torque",)),
    "force": Form("force", "t, position, velocity, parameters", "3 numbers (x, y, z) in the space frame", ("force",)),
    "load": Form("load", "t, position, velocity, q, omega, parameters",
                 "a force (x, y, z) in the space frame and a torque (x, y, z) in the body frame", ("force", "torque")),
    "attitude_potential": Form("potential", "t, q, parameters", "one number"),
    "position_potential": Form("potential", "t, position, parameters", "one number"),
    "event": Form("event", "t, position, velocity, q, omega, parameters", "one number"),
    "place_potential": Form("potential", "t, position, q, parameters", "one number"),
}  # fmt: skip
ENERGIES = ("potential", "reported_energy")  # functions that are energies; all others are loads
ACTS = {"acts": True}
"""In the record of a potential beside a load. In records that were written before there was ``reported_energy`` it is
missing, and such a potential was only reported."""
