"""The functions of events, compiled into the one role that the loops of a run call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from polhode.errors import InvalidInput
from polhode.kernel import jit
from polhode.kernel.signatures import EVENT
from polhode.programs.written import module_of
from polhode.systems.event_record import Watch
from polhode.systems.record import System
from polhode.systems.structure import bodies_of_event, lines_of
from polhode.systems.user.states import sizes_read

RELEASED = 1e-9
"""Part of its largest momentum by which that of a saturated wheel must fall until its motor is free again."""
WHEEL = (
    f"most = table[at + 1] * (1.0 - {RELEASED} * (parameters[whole(table[at + 2])] == 0.0))",
    "return most - abs(y[whole(table[at])])",
)
"""The limit of a wheel: its largest momentum, less a little once it is saturated, minus what it has. Numbers: index of
the momentum in the state, its limit, index of the flag in the parameters."""

user_event = jit.hole("user_event(t, N, y, bodies, parameters) -> float", "The user's function.")
others = jit.hole("others(k, t, N, y, bodies, parameters, table) -> float", "The role of all other events.")
which = jit.hole("which", "Number of the user's event.")


def either_value(k, t, N, y, bodies, parameters, table):
    """The EVENT role with a user's function for event number ``which``."""
    if k == which:
        return user_event(t, N, y, bodies, parameters)
    return others(k, t, N, y, bodies, parameters, table)


def table_of(watches: Sequence[Watch], system: System) -> Any:
    """The table that the EVENT role reads (see ``written``), with the numbers of bodies behind those of events."""
    if not watches:
        return np.zeros(1)
    every = [(*one.numbers, *(() if one.of is None else bodies_of_event(one.of, system))) for one in watches]
    at = np.cumsum([len(watches), *map(len, every)])
    return np.array([*at[:-1], *(x for numbers in every for x in numbers), 0.0], dtype=float)


@lru_cache(jit.KEPT_KERNELS)
def _with_function(function: Any, others: Any, which: int) -> Any:
    """The EVENT role ``others`` with a function for event ``which``: (role, "") or (None, reason)."""
    return jit.compile_uncached(jit.bind(either_value, user_event=function, others=others, which=which), EVENT)


def written(every: Sequence[Sequence[str]]) -> str:
    """The text of the role ``value(k, ...)`` of functions, of each its lines; a table has for each event the index of
    its numbers, then the numbers."""
    text = ["def value(k, t, N, y, bodies, parameters, table):", "    at = whole(table[k])"]
    for lines, same in groupby(enumerate(every), key=itemgetter(1)):
        last = max(k for k, _ in same)
        text += [f"    if k <= {last}:", *(f"        {line}" for line in lines)]
    return "\n".join([*text, "    return 0.0", ""])


def compiled_events(watches: Sequence[Watch], system: System, t: float, y: Any) -> Callable[..., Any]:
    """The EVENT role of these events; a user's function is tried out at this time and state."""
    every = [WHEEL if watch.of is None else lines_of(watch.of, system) for watch in watches]
    role = jit.compile_kernel(module_of(written(every)).value, EVENT)
    w, x, y3, z = (float(q) for q in system.frames[0])
    for k, watch in enumerate(watches):
        if watch.function is not None:
            event = replace(watch.function, frame=(w, x, y3, z), parameters=system.parameters)
            if event.form.states:
                sizes = sizes_read(system.auxiliary[system.read_from :])
                if not sizes:
                    raise InvalidInput(f"{event.described} takes states, but {system.name!r} has none; leave the "
                                       "argument out")  # fmt: skip
                event = replace(event, form=replace(event.form, states=sizes), states_at=system.read_from)
            made, reason = _with_function(event.compile(t, y, system.bodies), role, k)
            if made is None:
                raise InvalidInput(f"{event.described} cannot be watched: {reason}")
            role = made
    return role
