"""Controllers of sums: programs beside the loads that set states, which are held until the next sample; and the table
of samples in the parameters of a system."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InvalidInput, UserFunctionError
from polhode.kernel import layout as L
from polhode.kernel.sampling import COPY, NOISE, PULSE
from polhode.loads import Load
from polhode.loads.thrust import CLOSES, COMMAND, OPEN
from polhode.programs import memory
from polhode.programs.decisions import Decisions
from polhode.programs.graph import Graph
from polhode.programs.roles import text_of_rows
from polhode.programs.trace import flat
from polhode.programs.tracer import row_of
from polhode.programs.written import module_of
from polhode.systems.carried import fitted
from polhode.systems.controllers import Controller, Steered, register_of, registers
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.sampling import CommandProgram, Sampled
from polhode.systems.states import Noise
from polhode.systems.summands import COMMANDS, Commands, Structure, Sum, Summand
from polhode.systems.tracing import Tracing, check
from polhode.systems.user.chosen import Called

Values = dict[str, list[int]]
"""Rows of the new values of states, by their names."""


# ------------------------------------------------------------------ traced
def bodies_read(one: Controller, count: int, states: Set[str], around: Set[str]) -> int:
    """On how many bodies the function of a controller without ``.on`` is, of so many: one or none."""
    others = [name for name in one.takes if name not in states]
    if not others:
        return 0
    if others[0] in around:
        raise InvalidInput(f"{one.described} asks for {others[0]!r}, which is around a body; let its first argument be "
                           "that body")  # fmt: skip
    if count > 1:
        raise InvalidInput(f"{one.described} is on none of {count} bodies; say which it reads with .on")
    return 1


def set_by(sum: Sum, g: Graph, summand: Summand, result: object) -> list[tuple[str, list[int]]]:
    """Names of states and rows of the new values that the function of a controller has returned."""
    one: Any = summand.load
    on, wanted = summand.on[0], (*one.sets, *one.keeps)
    if one.sets and not isinstance(result, Mapping):
        values = result if isinstance(result, tuple | list) and len(wanted) > 1 else (result,)
        if len(values) != len(wanted):
            raise UserFunctionError(f"{one.described} returns {len(values)} things; it must return the new values of "
                                    f"{', '.join(wanted)}, or a mapping")  # fmt: skip
        result = dict(zip(wanted, values, strict=True))
    if not isinstance(result, Mapping) or not result:
        raise UserFunctionError(f"{one.described} must return a mapping of names of states to their new values")
    shapes, found = dict(sum.states), dict[str, list[int]]()
    for key, value in _by_state(sum, one, on, result):
        check(one, f"new value of {key!r}", value, [shapes.get(key, (sum.places[key][1],))])
        found[key] = [row_of(g, x) for x in flat(value)]
    told = [_command(sum, on, name) or name for name in wanted]
    for name in told if one.sets else one.keeps:
        if name not in found:
            raise UserFunctionError(f"{one.described} returns no value of {name!r}, which it says that it sets")
    for name in found if one.sets else ():
        if name not in told:
            raise UserFunctionError(f"{one.described} returns {name!r}, which is not in sets or keeps; add it there, "
                                    "or leave sets out")  # fmt: skip
    return [(name, found[name]) for name in (told if one.sets else found)]


def _by_state(sum: Sum, one: Controller, on: Sequence[int], result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names of states, and what a controller on these bodies has returned for them."""
    mine = {sum.names[i]: (i,) for i in on}
    known = [*dict(sum.states), *sum.commands]
    for key, value in result.items():
        if key in mine and isinstance(value, Mapping):
            for inner, of_body in value.items():
                name = _command(sum, mine[key], inner)
                if name is None:
                    raise UserFunctionError(f"{one.described} sets {inner!r} of {key!r}, which has none")
                yield name, of_body
            continue
        found = key if key in known else _command(sum, on, key)
        if found is None:
            there = ", ".join(known) or "none: give it some by .states"
            several = key in COMMANDS and bool(sum.commands and on)
            more = f"; say of which body: {{'{sum.names[on[0]]}': {{{key!r}: ...}}}}" if several else ""
            raise UserFunctionError(f"{one.described} sets {key!r}, which is no state; there are {there}{more}")
        yield found, value


def _command(sum: Sum, on: Sequence[int], quantity: str) -> str | None:
    """The name of a command of rotors in the only one of these bodies that has such."""
    names = {sum.names[i] for i in on}
    found = [name for name, (body, what) in sum.commands.items() if what == quantity and body in names]
    return found[0] if len(found) == 1 else None


class Commanded(NamedTuple):
    """A sum whose controllers are traced."""

    sum: Sum  # it, with the states that they hold
    tracing: Tracing  # in what the controllers were traced
    programs: tuple[tuple[Controller, Values], ...]  # each controller and the rows of the states it sets
    fixed: dict[str, float]  # the parameters by which they decide


def traced(sum: Sum) -> Commanded:
    """The programs of the controllers of a sum."""
    held, registers = {name: "is noise" for name in sum.noises}, 0
    held |= {one.load.gate: f"says whether {one.load.described} acts" for one in sum.summands if one.load.gate}
    tracing = Tracing(replace(sum, summands=(), turned=sum.seen_turned or sum.turned))
    programs = list[tuple[Controller, Values]]()
    decisions = Decisions(memory.Values(sum.parameters, [k for one in sum.carried for k in one.flags]))
    for one in sum.controllers:
        controller: Any = one.load

        def read(result: object, one: Summand = one) -> list[tuple[str, list[int]]]:
            return set_by(sum, tracing.g, one, result)

        with tracing.g.asking(decisions):
            parts = tracing.followed(one, one.on[0], decisions, read)
        for name in parts:
            if name in held and not (controller.when and name not in sum.noises):
                raise InvalidInput(f"{controller.described} sets the state {name!r}, which {held[name]}; let it set "
                                   "another one")  # fmt: skip
            if not controller.when:
                held[name] = f"{controller.described} sets"
        whole, beyond = (0, 0.0) if isinstance(controller, Steered) else controller.late
        late = [rows for name, rows in parts.items() if name not in controller.keeps]
        registers += len([a for rows in late for a in rows]) * (whole + (beyond > 0.0))
        programs.append((controller, parts))
    fixed = {name: decisions.values[name] for name in sorted(decisions.asked)}
    of_builder = {name for one, parts in programs if isinstance(one, Steered) for name in parts}  # split as ever
    held = {name: why for name, why in held.items() if name not in of_builder}
    return Commanded(replace(sum, held=held, registers=registers), tracing, tuple(programs), fixed)


def written(commanded: Commanded, structure: Structure) -> Structure:
    """The structure of the loads of a sum, with the roles of its controllers."""
    before, commands = len(structure.work), list[Commands]()
    for one, parts in commanded.programs:
        sets = tuple(name for name in parts if name not in one.keeps)
        commands.append(Commands(_role(commanded, parts, before), sets, one.keeps))
    return replace(structure, commands=tuple(commands), fixed={**structure.fixed, **commanded.fixed})


def _role(commanded: Commanded, parts: Values, before: int) -> Callable[..., Any]:
    """The role of a controller; there are so many auxiliary variables before the states."""
    N, wanted = commanded.tracing.N, [a for rows in parts.values() for a in rows]
    first = {name: L.LOAD * N + before + commanded.sum.places[name][0] for name in parts}
    places = [first[name] + k for name, rows in parts.items() for k in range(len(rows))]
    return module_of(text_of_rows("command", commanded.tracing.g, wanted, N, places, before)).command


# ------------------------------------------------------------------ in a system
def sampled_by(
    whole: Sum, structure: Structure, auxiliary: Sequence[AuxiliaryVariable], noises: Sequence[tuple[str, Noise]],
    called: Mapping[str, Called],
) -> dict[str, Any]:  # fmt: skip
    """The attributes of a system with controllers, noise and valves, that has these auxiliary variables without the
    registers of delays; and the ``programs`` of controllers at events. Functions that are handed to builders are
    ``called`` so, by the names of their controllers."""
    numbers, before = fitted(whole.numbers(structure), whole.carried, len(structure.work)), len(structure.work)
    valves = [one.load for one in whole.summands if isinstance(one.load, Load) and one.load.valves is not None]
    if not (whole.controllers or noises or valves):
        return {"auxiliary": tuple(auxiliary), "parameters": numbers, "programs": []}
    at = {name: [before + first + n for n in range(count)] for name, (first, count) in whole.places.items()}
    k = len(auxiliary)
    asked: Any = [one.load for one in whole.controllers]
    steered: list[Controller] = [
        one if isinstance(one, Steered) else replace(one, sets=made.sets, keeps=made.keeps)
        for one, made in zip(asked, structure.commands, strict=True)
    ]
    held: list[AuxiliaryVariable] = []
    for one in steered:
        for name in () if isinstance(one, Steered) else one.sets:
            own = registers(one, name, [auxiliary[n].start for n in at[name]])
            if own and register_of(name) in at:
                raise InvalidInput(f"{one.described} sets {name!r} with a delay, for which there are states "
                                   f"{register_of(name)!r}; call yours otherwise")  # fmt: skip
            if own:
                at[register_of(name)], k = list(range(k, k + len(own))), k + len(own)
            held += own
    programs = [
        CommandProgram(one, made.role, (len(whole.names), k), at, numbers, called.get(one.name))
        for one, made in zip(steered, structure.commands, strict=True)
    ]
    rows = [
        row_of_table(one.every, one.phase, NOISE, [[index, index, one.kept, one.fresh, one.seed, 2**20 * stream + n]
                                                   for n, index in enumerate(at[name])])
        for stream, (name, one) in enumerate(noises)
    ]  # fmt: skip
    for n, program in enumerate(own for own in programs if not own.controller.when):
        rows += controller_rows(program.controller, n, program, at)
    for load in valves:
        _, period, phase, shortest, resolution = load.valves
        pulsed = zip(*(at[load.reads.get(name, name)] for name in (COMMAND, OPEN, CLOSES)), strict=True)
        rows.append(row_of_table(period, phase, PULSE, [[index, valve, shortest, resolution, 0, closes]
                                                        for index, valve, closes in pulsed]))  # fmt: skip
    at_events = [own for own in programs if own.controller.when]
    found: dict[str, Any] = {"auxiliary": (*auxiliary, *held), "programs": at_events, "parameters": numbers}
    if rows:  # the table of samples
        table = [float(len(rows)), *(x for row, _ in rows for x in row)]
        found |= {"parameters": np.concatenate([numbers, table]), "samples_at": len(numbers),
                  "sampled": tuple(one for _, one in rows)}  # fmt: skip
    return found


# ------------------------------------------------------------------ rows of the table of samples (``kernel.sampling``)
UNLIMITED = 1e300

Row = tuple[list[float], Sampled]  # a row as numbers, and as runs see it
Places = Mapping[str, Sequence[int]]
"""Numbers of the auxiliary variables of each state."""


def row_of_table(
    every: float, phase: float, what: int, numbers: Sequence[Sequence[float]], command: CommandProgram | None = None
) -> Row:
    """A row: what it is, the number of a function or ``NOISE`` and its like, and the numbers of each that it sets."""
    return [every, phase, what, len(numbers), *chain(*numbers)], Sampled(every, phase, command, what == PULSE)


def controller_rows(one: Controller, k: int, command: CommandProgram, at: Places) -> list[Row]:
    """The rows of a controller whose function is number ``k``: what it sets now, and what it sets between samples."""
    (whole, beyond), own = one.late, [index for name in one.sets for index in at[name]]
    limits, steps = (_each(value, len(own), f"{one.described}: {word}") for value, word in (
        (one.limit, "limit"), (one.resolution, "resolution")))  # fmt: skip
    each, now, later = zip(limits, steps, strict=True), list[list[float]](), list[list[float]]()
    for name in one.sets:
        size = len(at[name])
        register = at.get(register_of(name), [0])[0] if whole or beyond else 0
        for n, (index, (limit, step)) in enumerate(zip(at[name], each, strict=False)):
            pending = register + size * whole + n  # the last registers hold what is set later
            now.append([index, pending if beyond else index, limit or UNLIMITED, step, whole, register + n * whole])
            later.append([pending, index, UNLIMITED, 0.0, 0, 0])
    now += [[index, index, UNLIMITED, 0.0, 0, 0] for name in one.keeps for index in at[name]]
    found = [row_of_table(one.every, one.phase, k, now, command)]
    return found + [row_of_table(one.every, one.phase + beyond, COPY, later)] * (beyond > 0.0)


def _each(given: float | tuple[float, ...] | None, count: int, name: str) -> list[float]:
    """A number for each; 0 without."""
    if isinstance(given, tuple):
        if len(given) != count:
            raise InvalidInput(f"{name} has {len(given)} numbers, but the controller sets {count}; give one for each")
        return list(given)
    return [given or 0.0] * count
