"""The record of an event, and of what a run watches for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from polhode.errors import InvalidInput, answering

if TYPE_CHECKING:
    from polhode.loads import Load
    from polhode.systems.user.function import UserFunction


@dataclass(frozen=True)
class Watch:
    """A function of time and state whose sign changes a run detects."""

    numbers: tuple[float, ...] = ()  # parameters of the function
    # rising, falling: name of the event where the function rises, or falls, through zero; empty if that is no event
    rising: str = ""
    falling: str = ""
    terminal: bool = False  # whether the run ends there
    cuts: bool = False  # whether steps are cut there, because the loads or their derivatives jump
    # index of the system parameter that is 1 while the function is positive and 0 while it is negative; -1 if none
    flag: int = -1
    # of: the function of bodies; function: or one of the user's. Without both it is the limit of a wheel
    function: UserFunction | None = None
    of: Load | None = None
    acts: Any = None  # what happens to the motion there

    def is_that_of(self, other: Watch) -> bool:
        """Whether it watches the same function of the same bodies."""
        mine, theirs = ((one.numbers, one.function and one.function.function) for one in (self, other))
        here, there = (one.of and (one.of.function, one.of.bodies, one.of.arguments) for one in (self, other))
        return mine == theirs and here == there


@dataclass(frozen=True)
class Event:
    """One kind of event, made by the functions of this module.

    Attributes
    ----------
    kind : str
        Name of the function that made it.
    arguments : mapping
        Its arguments in JSON types, with ``kind``; for a user's function its record.
    watches : tuple of Watch
        The functions whose sign changes a run detects.
    """

    kind: str
    arguments: Mapping[str, Any]
    watches: tuple[Watch, ...]

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{key}={value!r}" for key, value in self.arguments.items() if key not in ("kind", "function")
        )
        return f"{self.kind}({inside})"

    @answering
    def on(self, *bodies: str) -> Event:
        """The event of ``of`` on these bodies of a system.

        Parameters
        ----------
        *bodies : str
            Their names, in the order of the first arguments of its function.

        Raises
        ------
        InvalidInput
            Another kind of event, another number of bodies than the function takes, or one twice.

        Examples
        --------
        >>> import polhode as ph
        >>> def far(a, b, most):
        ...     d = b.position - a.position
        ...     return d @ d - most**2
        >>> ph.events.of(far, most=3.0).on("a", "b").arguments["on"]
        ['a', 'b']
        """
        watch = self.watches[0]
        if watch.of is None:
            raise InvalidInput(f"an event {self.kind!r} is that of the one body; polhode.events.of takes a function of "
                               "several")  # fmt: skip
        return Event(self.kind, {**self.arguments, "on": list(bodies)}, (replace(watch, of=watch.of.on(*bodies)),))
