"""Controllers of sums: programs beside the loads that set states, which are held until the next sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InvalidInput, UserFunctionError
from polhode.kernel import jit, layout as L
from polhode.kernel.signatures import LOADS
from polhode.loads import Load
from polhode.programs import memory
from polhode.programs.decisions import Decisions
from polhode.programs.factor import factored
from polhode.programs.graph import Graph
from polhode.programs.roles import behind, of_flat_memory
from polhode.programs.text import Lines
from polhode.programs.trace import flat
from polhode.programs.tracer import row_of
from polhode.programs.written import module_of
from polhode.systems.carried import fitted
from polhode.systems.controllers import Controller, Steered
from polhode.systems.record import AuxiliaryVariable, System
from polhode.systems.sample_table import controller_rows, noise_rows, register_of, registers, valve_row, with_table
from polhode.systems.states import Noise
from polhode.systems.summands import COMMANDS, Commands, Structure, Sum, Summand
from polhode.systems.tracing import Tracing, check
from polhode.systems.user.chosen import Called
from polhode.systems.user.function import repeated

Values = dict[str, list[int]]
"""Rows of the new values of states, by their names."""


@dataclass(frozen=True, eq=False)
class CommandProgram:
    """A controller, as runs ask for it. Its role is called as loads, and writes the new values behind the 6 N numbers
    of the loads, where the rates of these states would stand."""

    controller: Controller  # it, with what it sets
    role: Any  # its program
    sizes: tuple[int, int]  # how many bodies and auxiliary variables there are
    at: Mapping[str, Sequence[int]]  # numbers of the auxiliary variables that it sets
    parameters: Any  # parameters of the system
    called: Called | None = None  # the function of one that is handed to a builder

    def compiled(self, t: float, y: Any, system: System) -> Any:
        """The role for a compiled loop, a function of a builder's tried out at this time and state."""
        return (self.called and self.called.compiled(self.role, LOADS, t, y, system)) or self.role

    def bridge(self) -> Any:
        """The role with a function of a builder's as plain Python."""
        return self.called.bridge(LOADS) if self.called else self.role

    @property
    def untraced(self) -> str:
        """What is no program, and why; empty where all is one."""
        return next((one.untraced for one in self.called.users.values()), "") if self.called else ""

    def check(self, t: float, y: Any, system: System, bodies: Any) -> None:
        """Say by a UserFunctionError what is wrong with what it sets at this time and state."""
        if self.called:
            self.called.check(t, y, system)
        else:
            self.values(t, y, bodies, self.parameters)

    def values(self, t: float, y: Any, bodies: Any, parameters: Any) -> dict[int, float]:
        """What it sets at a state, by places in the state."""
        N, count = self.sizes
        out, found = np.zeros(L.LOAD * N + count), dict[int, float]()
        repeated(LOADS)(jit.compile_kernel(self.role, LOADS), 1, t, y, bodies, np.array(parameters), out)
        for name in (*self.controller.sets, *self.controller.keeps):
            values = out[[L.LOAD * N + k for k in self.at[name]]]
            if not np.isfinite(values).all():
                raise UserFunctionError(f"{self.controller.described} sets {name!r} to {values} at t = {t:g}; every "
                                        "number must be finite", time=t)  # fmt: skip
            found |= {L.BODY * N + k: float(x) for k, x in zip(self.at[name], values, strict=True)}
        return found


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


def set_by(sum: Sum, g: Graph, summand: Summand, result: Any) -> list[tuple[str, list[int]]]:
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
        shape = shapes.get(key, (sum.places[key][1],))
        check(one, f"new value of {key!r}", value, [shape])
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

        def read(result: Any, one: Summand = one) -> list[tuple[str, list[int]]]:
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


def _role(commanded: Commanded, parts: Values, before: int) -> Any:
    """The role of a controller; there are so many auxiliary variables before the states."""
    g, N = commanded.tracing.g, commanded.tracing.N
    wanted = factored(g, [a for rows in parts.values() for a in rows])
    names = g.names(wanted)
    read, given = of_flat_memory(names, N)
    body = Lines(g, wanted, given | behind(names, N, before))
    places = [before + commanded.sum.places[name][0] + k for name, rows in parts.items() for k in range(len(rows))]
    stores = [f"out[{L.LOAD * N + k}] = {body.names[a]}" for k, a in zip(places, wanted, strict=True)]
    lines = ["def command(part, t, N, y, bodies, parameters, out):", *read, *body.lines, *stores]
    return module_of("\n    ".join(lines) + "\n").command


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
    rows, programs = noise_rows(noises, at), [
        CommandProgram(one, made.role, (len(whole.names), k), at, numbers, called.get(one.name))
        for one, made in zip(steered, structure.commands, strict=True)
    ]  # fmt: skip
    for n, program in enumerate(own for own in programs if not own.controller.when):
        rows += controller_rows(program.controller, n, program, at)
    rows += [valve_row(one, at) for one in valves]
    found = with_table(numbers, rows) if rows else {"parameters": numbers}
    at_events = [own for own in programs if own.controller.when]
    return found | {"auxiliary": (*auxiliary, *held), "programs": at_events}
