"""The record of an event, and the codes of those that the compiled role knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from polhode.errors import InvalidInput, answering
from polhode.systems.record import Watch

APSIS, NODE, ALTITUDE, CYLINDER, PENUMBRA, UMBRA, WITHIN, USER, WHEEL = range(9)
"""Codes of the events in the compiled role. WITHIN: one disc covers the other, in the umbra or an annular eclipse."""


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

        Returns
        -------
        Event

        Raises
        ------
        InvalidInput
            Another kind of event, another number of bodies than the function takes, or one twice.

        Examples
        --------
        >>> def far(a, b, most):
        ...     d = b.position - a.position
        ...     return d @ d - most**2
        >>> of(far, most=3.0).on("a", "b").arguments["on"]
        ['a', 'b']
        """
        watch = self.watches[0]
        if watch.of is None:
            raise InvalidInput(f"an event {self.kind!r} is that of the one body; polhode.events.of takes a function of "
                               "several")  # fmt: skip
        return Event(self.kind, {**self.arguments, "on": list(bodies)}, (replace(watch, of=watch.of.on(*bodies)),))
