"""The functions of events, compiled into the one role that the loops of a run call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from polhode.errors import InvalidInput, UserFunctionError
from polhode.kernel import jit
from polhode.kernel.signatures import EVENT
from polhode.loads import Load
from polhode.programs.written import module_of
from polhode.surroundings.surrounding import Table
from polhode.systems.event_record import Watch
from polhode.systems.record import System
from polhode.systems.structure import bodies_of_event, lines_of
from polhode.systems.user.acting import HANDED
from polhode.systems.user.chosen import Called
from polhode.systems.user.forms import sizes_read
from polhode.systems.user.function import UserFunction

RELEASED = 1e-9
"""Part of its largest momentum by which that of a saturated wheel must fall until its motor is free again."""
WHEEL = (
    f"most = table[at + 1] * (1.0 - {RELEASED} * (parameters[whole(table[at + 2])] == 0.0))",
    "return most - abs(y[whole(table[at])])",
)
"""The limit of a wheel: its largest momentum, less a little once it is saturated, minus what it has. Numbers: index of
the momentum in the state, its limit, index of the flag in the parameters."""


def table_of(watches: Sequence[Watch], system: System) -> Any:
    """The table that the EVENT role reads (see ``written``), with the numbers of bodies behind those of events."""
    if not watches:
        return np.zeros(1)
    on = [bodies_of_event(one.of, system) if one.of else (0,) if one.function else () for one in watches]
    every = [(*one.numbers, *bodies) for one, bodies in zip(watches, on, strict=True)]
    at = np.cumsum([len(watches), *map(len, every)])
    return np.array([*at[:-1], *(x for numbers in every for x in numbers), 0.0], dtype=float)


def written(every: Sequence[Sequence[str]]) -> str:
    """The text of the role ``value(k, ...)`` of functions, of each its lines; a table has for each event the index of
    its numbers, then the numbers."""
    text = ["def value(k, t, N, y, bodies, parameters, table):", "    at = whole(table[k])"]
    for lines, same in groupby(enumerate(every), key=itemgetter(1)):
        last = max(k for k, _ in same)
        text += [f"    if k <= {last}:", *(f"        {line}" for line in lines)]
    return "\n".join([*text, "    return 0.0", ""])


def compiled_events(watches: Sequence[Watch], system: System, t: float, y: Any) -> Callable[..., Any]:
    """The EVENT role of these events; users' functions are tried out at this time and state."""
    users = {str(k): _of_system(watch.function, system, str(k))
             for k, watch in enumerate(watches) if watch.function is not None}  # fmt: skip

    def role(called: Collection[str]) -> Any:
        loads = {}
        for name, one in users.items():  # of the one body of a system; the numbers are those of the system
            numbers = Table(one.parameters.tolist()) if name in called else one.parameters
            loads[name] = Load(name=one.name, parameters={HANDED: numbers}, bodies=("body",),
                               **one.on_body(name in called))  # fmt: skip
        every = (loads.get(str(k), watch.of) for k, watch in enumerate(watches))
        return module_of(written([WHEEL if one is None else lines_of(one, system) for one in every])).value

    if not users:
        return jit.compile_kernel(role(()), EVENT)
    called = {name for name, one in users.items() if one.logs or one.traced.program is None}
    try:
        made = role(called)
    except (InvalidInput, UserFunctionError):  # it decides by what a run changes
        made = role(called := {*users})
    of_users = Called(users, tuple(called), lambda: (role({*users}), None), table=table_of(watches, system))
    return of_users.compiled(made, EVENT, t, y, system) or jit.compile_kernel(made, EVENT)


def _of_system(user: UserFunction, system: System, which: str) -> UserFunction:
    """The function of event number ``which`` in a system, as it is at present."""
    form = replace(user.form, which=which)
    if form.states:
        sizes = sizes_read(system.auxiliary[system.read_from :])
        if not sizes:
            raise InvalidInput(f"{user.described} takes states, but {system.name!r} has none; leave the argument out")
        form = replace(form, states=sizes, held=len(sizes))
    return replace(user, form=form, parameters=system.parameters)
