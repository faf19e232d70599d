"""Sudden changes of velocity in a sum: at known times, or at events, where runs cut their steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from polhode.errors import InvalidInput, unknown_name
from polhode.loads import Load
from polhode.loads.impulse import Impulse
from polhode.surroundings import Surrounding
from polhode.systems.event_record import Watch
from polhode.systems.events import event_of
from polhode.systems.summands import Structure, Sum, Summand


def function_of(load: Load | Surrounding) -> Any:
    """The user's function of the event at which an impulse happens; None without.

    Raises
    ------
    InvalidInput
        The event is none.
    """
    if load.impulse is None or load.impulse.event is None:
        return None
    found = _watch_of(load).of
    return None if found is None or found.shipped else found.function


def _watch_of(load: Load | Surrounding) -> Watch:
    """What is looked for, of an impulse at an event."""
    sudden: Any = load.impulse
    try:
        watches = event_of(sudden.event).watches
    except InvalidInput as problem:
        raise InvalidInput(f"{load.described}: {problem}") from None
    if len(watches) > 1 or watches[0].function is not None:
        raise InvalidInput(f"{load.described} is at an event that none of a sum is; take one of polhode.events.of, or "
                           "one of bodies by their names, such as apsis_of")  # fmt: skip
    return watches[0]


def changes(one: Summand, structure: Structure, sum: Sum) -> list[Impulse | Watch]:
    """The impulses of a load, one for each body that it is on, or where they happen.

    Raises
    ------
    InvalidInput
        The event is none of this sum.
    """
    sudden: Any = one.load.impulse
    if sudden is None:
        return []
    work, what = (sum.beside or 0) + structure.work.index(one.load.name), sudden.what or one.load.name
    acting = [replace(sudden, auxiliary=work, body=body, what=what) for (body,) in one.on]
    if sudden.event is None:
        return [*acting]
    watch = _watch_of(one.load)
    if watch.of is None and len(sum.names) > 1:
        raise InvalidInput(f"{one.load.described} is at an event of the one body, but there are {len(sum.names)}; take "
                           "one of bodies by their names, such as apsis_of")  # fmt: skip
    for body in () if watch.of is None else watch.of.bodies:
        if body not in sum.names:
            raise unknown_name(f"body of the event of {one.load.described}", body, sum.names)
    return [replace(watch, cuts=True, terminal=False, acts=act) for act in acting]
