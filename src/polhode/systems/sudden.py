"""What happens suddenly in a sum, at times or at events, where runs cut their steps: impulses, states that are set,
loads that begin and end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

import numpy as np

from polhode.arguments import Array
from polhode.errors import InvalidInput, unknown_name
from polhode.kernel import layout as L
from polhode.loads import Load
from polhode.surroundings import Surrounding
from polhode.systems.controllers import controller
from polhode.systems.event_record import Event
from polhode.systems.events import event_of
from polhode.systems.sampling import CommandProgram
from polhode.systems.summands import Structure, Sum, Summand

WHEN = {"after": ("begins", 1.0), "until": ("ends", 0.0)}
"""What a load does at the event that is this argument, and whether it acts from there on."""


@dataclass(frozen=True, eq=False)
class Setting:
    """New values of states, which a run sets between two steps."""

    time: float  # time at which they are set; infinite at an event
    what: str  # what, kind: what sets them, in messages and among the events
    kind: str
    once: bool  # whether only the first time
    program: CommandProgram  # the values
    reads: tuple[int, ...] | None  # the bodies that these depend on; None where they depend on no state
    numbers: ClassVar[tuple[float, ...]] = ()

    def with_numbers(self, numbers: object) -> Setting:
        """Itself."""
        return self

    def places(self, N: int) -> list[int]:
        """What it changes in a state of N bodies."""
        one = self.program.controller
        return [L.BODY * N + k for name in (*one.sets, *one.keeps) for k in self.program.at[name]]

    def apply(self, t: float, y: Array, bodies: Array, parameters: Array, direction: float = 1.0) -> float:
        """Set them in a state, in place, which is no work."""
        for k, value in self.program.values(t, y, bodies, parameters).items():
            y[k] = value
        return 0.0


# ------------------------------------------------------------------ events of loads
def events_of_load(load: Load | Surrounding) -> dict[str, Event]:
    """The events at which something happens to a load, by the argument that each is."""
    found = {}
    for word, given in load.when.items():
        if isinstance(given, float):
            continue
        try:
            found[word] = event_of(given)
        except InvalidInput as problem:
            raise InvalidInput(f"{load.described}: {problem}") from None
        watches = found[word].watches
        if len(watches) > 1 or watches[0].function is not None:
            raise InvalidInput(f"{load.described} has an event that none of a sum is; take one of polhode.events.of, "
                               "or one of bodies by their names, such as apsis(body=...)")  # fmt: skip
    return found


def functions_of(load: Load | Surrounding) -> dict[str, Any]:
    """The user's functions of these events, by the names by which they are handed in again."""
    watched = {f"{load.name}_{word}": one.watches[0].of for word, one in events_of_load(load).items()}
    return {name: one.function for name, one in watched.items() if one is not None and not one.shipped}


def gated(loads: Iterable[Load]) -> list[Load]:
    """The loads, of which those that begin or end at events have a state that says whether they act, and what sets
    these; at known times it is a number that runs switch."""
    found = list[Load]()
    for load in loads:
        words = [word for word in WHEN if word in load.when]
        if not words:
            found.append(load)
            continue
        if load.of_pairs or (load.kind == "gravitation" and not load.bodies):
            raise InvalidInput(f"{load.described} is on all pairs of bodies, and cannot begin or end; name two by .on")
        gate, times = f"{load.name}_on", [one for word in words if isinstance(one := load.when[word], float)]
        if len(times) == len(words):
            start, stop = (load.when.get(word, limit) for word, limit in (("after", -inf), ("until", inf)))
            if start >= stop:
                raise InvalidInput(
                    f"{load.described} ends at {stop:g}, not after it begins, at {start:g}; exchange them"
                )
            switched = replace(load, gate=gate, parameters={**load.parameters, gate: np.array(1.0)})
            found.append(switched.switched(gate, start, stop))
            continue
        found.append(replace(load, gate=gate, starts={**load.starts, gate: float("after" not in words)}))
        for word in words:
            does, value = WHEN[word]
            found.append(replace(controller({gate: value}, at=load.when[word]), name=f"{load.name}_{does}"))
    return found


# ------------------------------------------------------------------ in a system
def changes(one: Summand, structure: Structure, sum: Sum) -> list[Any]:
    """The impulses of a load, one for each body that it is on, at known times, or what is watched for them."""
    sudden: Any = one.load.impulse
    if sudden is None:
        return []
    work, what = structure.work.index(one.load.name), sudden.what or one.load.name
    return happening([replace(sudden, auxiliary=work, body=body, what=what) for (body,) in one.on], one.load, sum)


def settings(programs: Iterable[CommandProgram], sum: Sum) -> list[Any]:
    """The same of what sets states."""
    found = []
    for program in programs:
        one = program.controller
        at = one.when["at"]
        time = at if isinstance(at, float) else inf
        reads = None if one.kind else tuple(map(sum.names.index, one.bodies)) or tuple(range(len(sum.names) == 1))
        found += happening([Setting(time, one.described, one.name, one.once, program, reads)], one, sum)
    return found


def happening(acts: Sequence[Any], load: Load | Surrounding, sum: Sum) -> list[Any]:
    """Acts at known times, or where the event of a load is watched for."""
    event = events_of_load(load).get("at")
    if event is None:
        return list(acts)
    (watch,) = event.watches
    assert watch.of is not None
    if watch.of.kind and not watch.of.bodies and len(sum.names) > 1:
        raise InvalidInput(f"{load.described} is at an event of the one body, but there are {len(sum.names)}; say "
                           "which: body=...")  # fmt: skip
    for body in watch.of.bodies:
        if body not in sum.names:
            raise unknown_name(f"body of the event of {load.described}", body, sum.names)
    return [replace(watch, cuts=True, terminal=False, acts=act) for act in acts]
