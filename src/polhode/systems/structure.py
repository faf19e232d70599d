"""What bodies and loads come to: the roles of a system, written from the programs of its loads, and that of events.

What a system consists of (functions, names, shapes) makes its text, which is kept; its numbers are put in after, so
that another mass or stiffness is another array and no other text.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from polhode.arguments import Array
from polhode.capabilities import stated
from polhode.errors import InvalidInput, UserFunctionError, unknown_name
from polhode.kernel import jit, layout as L
from polhode.kernel.pairs import FIRST_PARAMETER
from polhode.kernel.signatures import EVENT
from polhode.loads import Load
from polhode.programs.decisions import Decisions
from polhode.programs.factor import factored
from polhode.programs.memory import Values
from polhode.programs.primitives import FIRST, MEMORY
from polhode.programs.roles import of_flat_memory, plain
from polhode.programs.text import Lines
from polhode.programs.written import module_of
from polhode.surroundings.surrounding import Table
from polhode.systems.around import places as places_of
from polhode.systems.carried import carried_in
from polhode.systems.commands import traced, written
from polhode.systems.event_record import Watch
from polhode.systems.loops import looped, loops_of
from polhode.systems.pairs import OfPass, numbers_of_each, of_two
from polhode.systems.record import System
from polhode.systems.summands import Structure, Sum, Summand, Within, functions_of
from polhode.systems.tracing import Tracing
from polhode.systems.user.acting import HANDED
from polhode.systems.user.chosen import Called
from polhode.systems.user.forms import sizes_read
from polhode.systems.user.function import UserFunction

_kept: OrderedDict[Any, list[tuple[Mapping[str, float], Any]]] = OrderedDict()


def _once(
    key: tuple[Any, ...], acts: Iterable[Any], parameters: Array, make: Callable[[], Any], closed: Sequence[float] = ()
) -> Any:
    """What ``make() -> values of parameters that it holds for, thing`` makes once of functions that read ``closed``."""
    key = (*key, tuple(acts))
    known = _kept.setdefault(key, [])
    _kept.move_to_end(key)
    opaque = any(getattr(made[0], "opaque", False) for made in key[-1])
    for fixed, made in () if opaque else known:  # a digest may not see all of an object
        if all(parameters[int(name[1:])] == value for name, value in fixed.items()) and not (
            closed and made.closed.values(closed) is None
        ):
            return made
    while len(_kept) > jit.KEPT_KERNELS:
        _kept.popitem(last=False)
    found = make()
    known[:] = [found, *known[:7]]
    return found[1]


def _keys(*summands: Summand) -> Iterable[Any]:
    """What the programs of summands depend on, but for numbers."""
    return (one.key(act) for one, act in zip(summands, functions_of(summands), strict=True))


def structure_of(sum: Sum) -> Structure:
    """The structure that the functions make at present; that for other numbers that they read, if there is one."""
    key = (sum.names, sum.moves, sum.turns, sum.turned, sum.seen_turned, sum.states, sum.noises, sum.centred,
           sum.carried, sum.beside, sum.within.edges is None, sum.in_turn, sum.pins_at,
           sum.mu_at, sum.books)  # fmt: skip

    def make(closed: bool = False) -> tuple[Mapping[str, float], Structure]:
        commanded = traced(sum)
        made = Tracing(commanded.sum, closed=True).structure() if closed else _made(commanded.sum)
        made = written(commanded, made)
        return made.fixed, made

    others, (acts, numbers, _) = [*_keys(*sum.controllers, *sum.around)], sum.closed
    keys = [one.key(act) for one, act in zip(sum.summands, acts, strict=True)]
    if numbers and not (sum.each or sum.of_pairs or sum.beside or loops_of(sum)):
        with suppress(InvalidInput, UserFunctionError):  # they are constants, then
            return _once((*key, "closed"), [*keys, *others], sum.parameters, lambda: make(True), numbers)
    return _once(key, [*(_keys(*sum.summands) if numbers else keys), *others], sum.parameters, make)


def _made(sum: Sum) -> Structure:
    if sum.each:
        first = Tracing(sum.of_first, True)
        made = first.structure()
        if not first.named:
            return made
    if sum.of_pairs and not sum.passes and sum.of_one_kind:
        of_two(sum)  # which refuses what is no load on pairs
    loops = [] if sum.beside else loops_of(sum)
    return looped(sum, loops) if loops or sum.passes else Tracing(sum).structure()


def interacting(load: Load, N: int, within: Within) -> dict[str, Any]:
    """The attributes of a system of N rigid bodies with nothing but a load on pairs, from the structure of two."""
    places, numbers = places_of(load.parameters, FIRST_PARAMETER)
    each, more = numbers_of_each(load, N, FIRST_PARAMETER + len(numbers))

    def of(count: int) -> Sum:
        return Sum(
            tuple(map("body{}".format, range(count))), (True,) * count, ((True,) * 3,) * count, (False,) * count,
            (Summand(load, (), places, each),), (), False, np.array([0.0] * FIRST_PARAMETER + numbers + more),
            within=within,
        )  # fmt: skip

    two = of(2)
    structure = structure_of(two)
    assert structure.pairs is not None
    return {
        "loads": structure.loads, "potential": structure.potential, "program": OfPass(N, of(N)),
        "conserves": ("energy", *structure.conserves), "provides": stated(velocity_independent=True),
        "decided": frozenset(int(name[1:]) for name in structure.fixed),
        **within.attributes(N, two.parameters, *structure.pairs),
    }  # fmt: skip


# ------------------------------------------------------------------ the functions of events, in one role
def bodies_of_event(load: Load, system: System) -> tuple[int, ...]:
    """Numbers of the bodies that the function of an event is of."""
    names = system.names or ("body",) * (system.N == 1)
    for one in load.bodies:
        if one not in names:
            raise unknown_name(f"body that event {load.name!r} is of", one, names)
    read = {name for one in carried_in(system) for name in one.states}
    of_states = read.union(own.quantity for own in system.auxiliary[system.read_from :]).issuperset(load.takes)
    if not load.bodies and len(names) > 1 and not of_states:
        raise InvalidInput(
            f"event {load.name!r} is of one of {len(names)} bodies; say which"
            + (" with .on" if load.kind == "" else ": body=...")
        )
    return tuple(names.index(one) for one in load.bodies) or (0,) * (not of_states)


def lines_of(load: Load, system: System) -> tuple[str, ...]:
    """Lines that return what the function of an event does, from ``t, y, bodies, parameters`` of a system and, from
    ``table[at]`` on, its own numbers and those of its bodies; the same for all events that differ in these alone,
    unless bodies have rotors."""
    own, names, handed = len(system.parameters), system.names or ("body",), HANDED in load.parameters
    made_from = getattr(system.made_again, "sum", None)
    around, pins_at = getattr(made_from, "around", ()), getattr(made_from, "pins_at", -1)
    known = {at + j for one in around for at, shape in one.parameters.values() for j in range(int(np.prod(shape)))}
    positions, values = ({HANDED: (0, (own - system.closed,))}, []) if handed else places_of(load.parameters, own)
    on, carried = (0,) if handed else bodies_of_event(load, system), carried_in(system)
    sizes: dict[str, int] = {}
    for variable in system.auxiliary[system.read_from + sum(one.size for one in carried) :]:
        sizes[variable.quantity] = sizes.get(variable.quantity, 0) + bool(variable.label)
    numbers = np.concatenate([system.parameters, values])
    frames = tuple(tuple(row) != (1.0, 0.0, 0.0, 0.0) for row in np.asarray(system.frames).tolist())
    whole = Sum(
        tuple(names), tuple(np.isfinite(system.mass).tolist()), tuple(map(tuple, np.isfinite(system.moments).tolist())),
        frames, (Summand(load, (on,), positions),), tuple((key, (n,) if n else ()) for key, n in sizes.items()),
        False, numbers, carried, around, pins_at=pins_at,
    )  # fmt: skip
    within, n = (whole, len(names)) if carried else (whole.of(on, whole.summands), len(on))
    key = ("event", tuple(names), whole.moves, whole.turns, frames, whole.states, carried, own, system.read_from,
           pins_at)  # fmt: skip

    def make() -> tuple[Mapping[str, float], tuple[str, ...]]:
        tracing, here = Tracing(within), on if carried else tuple(range(n))
        changing = system._changing if handed else {*range(own)} - known
        decisions = Decisions(Values(numbers.tolist(), changing))
        with tracing.g.asking(decisions):
            parts = tracing.rows(whole.summands[0], here, decisions)
        if [*parts] != [""]:
            raise UserFunctionError(f"event {load.name!r} returns {', '.join(parts)}; it must return one number")
        (row,) = factored(tracing.g, parts[""])
        inputs, N = tracing.g.names([row]), len(names)
        head = [] if carried else [f"i{k} = whole(table[at + {len(values) + k}])" for k in range(n)]

        def slot(array: str, k: int) -> str:
            if array == "parameters":
                return f"table[at + {k - own}]" if k >= own else plain(array, k)
            size = {"y": L.BODY, "bodies": L.CONSTANTS}[array]
            if carried or k >= size * n + 4 * n * (array == "bodies"):
                return plain(array, k)
            of_frame = k - size * n
            at = f"{L.CONSTANTS * N} + 4 * i{of_frame // 4} + {of_frame % 4}"
            return f"{array}[{at if of_frame >= 0 else f'{size} * i{k // size} + {k % size}'}]"

        lines, given = of_flat_memory(inputs, n, slot)
        if not handed and any(isinstance(one, Table) for one in load.parameters.values()):  # none around is, then
            given |= {MEMORY: "table", FIRST: f"at - {own} + "}
        states = {one: f"y[{L.BODY * N + system.read_from + int(one[3:])}]" for one in inputs if one.startswith("aux")}
        body = Lines(tracing.g, [row], given | states)
        lines = [*head, *lines, *body.lines, f"return {body.names[row]}"]
        return {name: numbers[int(name[1:])] for name in decisions.asked}, tuple(lines)

    return _once(key, _keys(*within.summands, *around), numbers, make)


RELEASED = 1e-9
"""Part of its largest momentum by which that of a saturated wheel must fall until its motor is free again."""
WHEEL = (
    f"most = table[at + 1] * (1.0 - {RELEASED} * (parameters[whole(table[at + 2])] == 0.0))",
    "return most - abs(y[whole(table[at])])",
)
"""The limit of a wheel: its largest momentum, less a little once it is saturated, minus what it has. Numbers: index of
the momentum in the state, its limit, index of the flag in the parameters."""


def table_of(watches: Sequence[Watch], system: System) -> Array:
    """The table that the EVENT role reads (see ``text_of``), with the numbers of bodies behind those of events."""
    if not watches:
        return np.zeros(1)
    on = [bodies_of_event(one.of, system) if one.of else (0,) if one.function else () for one in watches]
    every = [(*one.numbers, *bodies) for one, bodies in zip(watches, on, strict=True)]
    at = np.cumsum([len(watches), *map(len, every)])
    return np.array([*at[:-1], *(x for numbers in every for x in numbers), 0.0], dtype=float)


def text_of(every: Sequence[Sequence[str]]) -> str:
    """The text of the role ``value(k, ...)`` of functions, of each its lines; the table is that of ``table_of``."""
    text = ["def value(k, t, N, y, bodies, parameters, table):", "    at = whole(table[k])"]
    for lines, same in groupby(enumerate(every), key=itemgetter(1)):
        last = max(k for k, _ in same)
        text += [f"    if k <= {last}:", *(f"        {line}" for line in lines)]
    return "\n".join([*text, "    return 0.0", ""])


def compiled_events(watches: Sequence[Watch], system: System, t: float, y: Array) -> Callable[..., Any]:
    """The EVENT role of these events; users' functions are tried out at this time and state."""
    users = {str(k): _of_system(watch.function, system, str(k))
             for k, watch in enumerate(watches) if watch.function is not None}  # fmt: skip

    def role(called: Collection[str]) -> Callable[..., Any]:
        loads = {}
        for name, one in users.items():  # of the one body of a system; the numbers are those of the system
            numbers = Table(one.parameters.tolist()) if name in called else one.parameters
            loads[name] = Load(name=one.name, parameters={HANDED: numbers}, bodies=("body",),
                               **one.on_body(name in called))  # fmt: skip
        every = (loads.get(str(k), watch.of) for k, watch in enumerate(watches))
        return module_of(text_of([WHEEL if one is None else lines_of(one, system) for one in every])).value

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
    return replace(user, form=form, parameters=system.parameters[: len(system.parameters) - system.closed])
