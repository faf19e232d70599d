"""What functions of users take and return, by what they are."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

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
        return Form(self.what, f"{self.arguments}, states", returns, self.acts, sizes, held)

    def takes_states(self, function: Any) -> bool:
        """Whether a function takes one argument more than those of this form without states."""
        try:
            inspect.signature(jit.python_of(function)).bind(*self.arguments.split(","), "states")
        except Exception:  # no function: what it is given to says so
            return False
        return True

    @property
    def taken(self) -> tuple[str, ...]:
        """What it takes of a body, in order."""
        return tuple(name for name in self.arguments.split(", ") if name in OFFERED)

    @property
    def wanted(self) -> Sizes:
        """What it returns."""
        if self.sets:
            return tuple((name, dict(self.states).get(name, 0)) for name in self.sets)
        return (*((name, 3) for name in self.acts), *self.states[self.held :]) if self.acts else (("", 0),)

    @property
    def number(self) -> bool:
        """Whether it is a function whose value is one number, which acts on nothing by itself."""
        return not (self.acts or self.sets)

    @property
    def count(self) -> int:
        """How many numbers the states have."""
        return numbers_in(self.states)

    @property
    def count_wanted(self) -> int:
        """How many numbers it returns."""
        return numbers_in(self.wanted)


def numbers_in(sizes: Sizes) -> int:
    """How many numbers there are."""
    return sum(size or 1 for _, size in sizes)


def sizes_read(variables: Any) -> Sizes:
    """The names by which functions read auxiliary variables, and how many numbers each has."""
    counts: dict[str, int] = {}
    for one in variables:
        counts[one.quantity] = counts.get(one.quantity, 0) + 1 if one.dimension else 0
    return tuple(counts.items())


FORMS = {
    "torque": Form("torque", "t, q, omega, parameters", "3 numbers (x, y, z) in the body frame", ("torque",)),
    "force": Form("force", "t, position, velocity, parameters", "3 numbers (x, y, z) in the space frame", ("force",)),
    "load": Form(
        "load",
        "t, position, velocity, q, omega, parameters",
        "a force (x, y, z) in the space frame and a torque (x, y, z) in the body frame",
        ("force", "torque"),
    ),
    "attitude_potential": Form("potential", "t, q, parameters", "one number"),
    "position_potential": Form("potential", "t, position, parameters", "one number"),
    "event": Form("event", "t, position, velocity, q, omega, parameters", "one number"),
    "place_potential": Form("potential", "t, position, q, parameters", "one number"),
}


ENERGIES = ("potential", "reported_energy")
"""Functions that are energies; all others are loads."""
ACTS = {"acts": True}
"""In the record of a potential beside a load. In records that were written before there was ``reported_energy`` it is
missing, and such a potential was only reported."""
