"""The rows that the loads of a sum add up to.

Each load is traced once for each time that it acts; potentials are added up and derived, forces, torques and rates of
states are added by the parts that roles are asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from polhode.arguments.recorded import frozen
from polhode.errors import InvalidInput, UserFunctionError
from polhode.kernel import layout as L
from polhode.loads import Load
from polhode.programs.attitude import inputs
from polhode.programs.decisions import Decisions, TooManyWays
from polhode.programs.derive import rate_in_time
from polhode.programs.dynamics import Dynamics
from polhode.programs.factor import factored
from polhode.programs.graph import Graph, Slots
from polhode.programs.memory import Parameters, Rows, Values
from polhode.programs.opaque import called_in
from polhode.programs.parts import REMEMBERED, Loads, Turns, added, commutator_text, row_by_row, text
from polhode.programs.potentials import loads_of, moving_inputs, potential_text
from polhode.programs.raising import swallowed
from polhode.programs.rewire import rewired
from polhode.programs.trace import MEMORY, called, flat, shape_of
from polhode.programs.tracer import DECIDES, NotTraceable, Tracer, array_of, row_of
from polhode.programs.written import module_of
from polhode.surroundings import Surrounding
from polhode.surroundings.surrounding import Table
from polhode.systems.around import Around
from polhode.systems.carried_loads import Rotors, add_rotors
from polhode.systems.conserved import Acting, apart, conserved
from polhode.systems.loads_roles import derived
from polhode.systems.seen import Seen
from polhode.systems.summands import Shape, Structure, Sum, Summand
from polhode.systems.user.function import jumps


@dataclass(frozen=True, eq=False)
class Program:
    """The loads of a sum that is written out, by parts."""

    graph: Graph  # all rows; their inputs aux0, aux1, ... are the states that loads read
    loads: Mapping[int, Loads]  # loads by the part of them
    coupling: Loads  # what is left out WITHOUT_COUPLING
    potential: int | None  # row of the potential energy
    before: int  # how many auxiliary variables stand before the states
    fixed: Mapping[str, float]  # parameters by which functions decide
    turns: Turns  # about which axes each body turns
    _kept: dict[int, Dynamics] = field(default_factory=dict)

    @cached_property
    def of_loads(self) -> Program:
        """The same of loads that have no potential."""
        return replace(self, potential=None, _kept={})

    @cached_property
    def commutator(self) -> Callable[..., Any]:
        """The commutator of loads that all have a potential, by parts; a template."""
        written = commutator_text(self.graph, self.loads, len(self.coupling.rates), False, self.turns)
        return module_of(written).commutator

    def __call__(self, part: int) -> Dynamics:
        """The loads of a part."""
        if part not in self._kept:
            g, asked = self.graph, [one for bit, one in self.loads.items() if part & bit]
            if part & L.MOVING and not part & L.WITHOUT_COUPLING:
                asked.append(self.coupling)
            nothing = Loads(*((g.const(0.0),) * len(rows) for rows in self.coupling))
            total = added(g, [nothing, *asked])
            rows = [*total.rows, *([] if self.potential is None else [self.potential])]
            states = {g.input(name): g.input(f"aux{self.before + int(name[3:])}")
                      for name in g.names(rows) if name.startswith("aux")}  # fmt: skip
            rows = g.rebuilt(rows, inputs=states) if self.before else rows
            n, end = len(total.force), len(total.rows)
            self._kept[part] = Dynamics(g, n // 3, tuple(rows[:n]), tuple(rows[n : 2 * n]), tuple(rows[2 * n : end]),
                                       rows[end] if rows[end:] else None, self.fixed)  # fmt: skip
        return self._kept[part]


Parts = list[tuple[str, list[int]]]  # rows by what they are of
NEARLY_SAME = 1e-6
"""Largest difference of loads from those of the potential that they are given with, relative to the loads."""


class Tracing:
    """The rows that loads add up to."""

    def __init__(self, sum: Sum, each: bool = False, closed: bool = False) -> None:
        self.sum, self.each, self.g = sum, each, Graph()
        g, N = self.g, len(sum.names)
        if closed:
            g.closed = Slots(len(sum.parameters), *sum.closed[1:])
        self.N, self.zero = N, g.const(0.0)
        self.bodies = [Seen(g, i, sum) for i in range(N)]
        self.around = Around(g, sum.around)
        k = sum.of_rotors
        self.turning = [self.zero] * k
        self.inside, self.coupling = [self.zero] * (3 * N), [self.zero] * (3 * N)
        self.states, self.rates = dict[str, Any](), dict[str, list[int]]()
        for rotors in sum.carried:
            known = (name for name in rotors.states if not rotors.label(name))
            self.states |= {name: Rotors(g, rotors).state(name) for name in known}
        for name, shape in sum.states:
            n, self.states[name] = int(np.prod(shape)), inputs(g, "aux", k, shape)
            self.rates[name], k = [self.zero] * n, k + n
        self.potential: list[tuple[int, float]] = []
        self.stated: list[tuple[int, float]] = []  # potentials whose loads are given beside them
        self.with_stated = [[self.zero] * (3 * N), [self.zero] * (3 * N)]
        self.centre: list[tuple[int, float]] = []
        self.parts = {part: [[self.zero] * (3 * N), [self.zero] * (3 * N)] for part in (L.RESTING, L.MOVING)}
        self.work: dict[str, list[tuple[int, float]]] = {name: [] for one in sum.carried for name in one.work}
        self.timed = set[str]()  # works that potentials do by reading the time
        self.unbooked = {one.load.name for one in sum.summands if isinstance(one.load, Load) and not one.load.books}
        self.jumping = False  # whether a potential whose work is not recorded reads the time
        self.reported: list[tuple[int, float]] = []  # energies that move nothing

    def traced(self) -> Mapping[str, float]:
        """Add up all loads; the parameters that they decide by, with their values."""
        g, sum = self.g, self.sum
        flags = [k for one in sum.carried for k in one.flags] + [k for one in sum.summands for k in one.flags]
        decisions = Decisions(Values(sum.parameters, flags))
        with g.asking(decisions):
            for one in sum.summands:
                for on in one.on:
                    self._add(one, on, decisions)
        self.still = all(g.value(a) == 0.0 for rows in self.parts[L.MOVING] for a in rows) and not sum.states
        for rotors in sum.carried:
            add_rotors(self, rotors)
        self.depth, self.at_centre = (g.sum(*one) if one else self.zero for one in (self.potential, self.centre))
        self.loads = self._parts(self.depth, self.at_centre)
        self.level = g.sum((self.depth, 1.0), (self.at_centre, 1.0), *self.stated)
        if not self.jumping and jumps(g, [self.level]):
            raise InvalidInput("the potential of the system decides by the time, and may jump, so that its work "
                               "cannot be recorded; make it a force")  # fmt: skip
        asked = {f"p{k}" for rotors in sum.carried for k in rotors.absent} | decisions.asked
        return {name: float(sum.parameters[int(name[1:])]) for name in sorted(asked)}

    @property
    def named(self) -> bool:
        """Whether a function has read the name of a body."""
        return any(one.asked for one in self.bodies)

    @property
    def acting(self) -> dict[int, Loads]:
        """The loads by the parts that roles are asked for, without those where nothing acts."""
        return {part: one for part, one in self.loads.items() if any(self.g.value(a) != 0.0 for a in one.rows)}

    @property
    def moving(self) -> bool:
        """Whether forces or torques depend on velocities or on states."""
        made = self.loads[L.MOVING]
        return any(self.g.value(a) != 0.0 for a in (*made.force, *made.torque))

    @property
    def total(self) -> Acting:
        """All loads, on these bodies."""
        total = added(self.g, list(self.loads.values()))
        return Acting(self.g, total.force, total.torque, np.arange(self.N)[None], {})

    def structure(self) -> Structure:
        """The roles."""
        g, sum, fixed = self.g, self.sum, self.traced()
        acting = self.acting
        coupling = Loads((self.zero,) * (3 * self.N), tuple(self.coupling), self.loads[L.RESTING].rates)
        coupled = dict[str, Loads]()
        if sum.carried:  # torques of motors and gimbals on their bodies
            torque = tuple(row_by_row(g, self.loads[L.MOVING].torque, self.inside))
            acting[L.MOVING] = self.loads[L.MOVING]._replace(torque=torque)
            coupled[f"part & {L.MOVING} != 0 and part & {L.WITHOUT_COUPLING} == 0"] = coupling
        conditions = {f"part & {part} != 0": one for part, one in acting.items()} | coupled
        written = text(
            g, conditions, len(self.loads[L.MOVING].rates), self.each, bodies=self.N,
            before=len(self.work), beside=sum.beside, memory_at=self._memory_at(acting),
        )  # fmt: skip
        module = module_of(written)
        potential, calls = None, bool(self.stated or called_in(g, [self.level]))
        plain = not (self.each or sum.beside or called_in(g, [a for one in acting.values() for a in one.rows]))
        follows = {*acting} == {L.POTENTIAL_PART} and not (self.each or calls or self.jumping or sum.beside)
        if follows:  # loads and commutator follow from the potential
            program = Dynamics(g, self.N, potential=self.depth, fixed=fixed)
            potential = derived("system", program, sum.moves, sum.turns).potential
        elif acting or g.value(self._energy) != 0.0:
            potential = module_of(potential_text(g, self._energy, self.N, "potential", self.each)).potential
        if g.closed is not None:
            g.closed.open = False
            if g.closed.left or g.closed.values(sum.closed[1]) is None:
                raise InvalidInput("functions read numbers elsewhere, or these lead to others that are not finite")
        return Structure(
            module.loads, potential, tuple(self.work), self.moving, bool(sum.carried) and self.still,
            self.conservative, self.all_potential, self.N == 1 and not self.each, self.each, sum.centred,
            {*acting} == {L.ATTRACTION}, fixed, partial(self._conserves, fixed), frozenset(self.timed),
            calls=calls, program=Program(g, frozen(acting), coupling, self._energy, len(self.work), frozen(fixed),
                                         sum.turns) if plain else None,
            closed=g.closed, memory=REMEMBERED if f"parameters[{self._behind}] = " in written else 0,
        )  # fmt: skip

    @property
    def _energy(self) -> int:
        """The potential with the energies that are reported beside it."""
        return self.g.sum((self.level, 1.0), *self.reported)

    @property
    def _behind(self) -> int:
        """Where the parameters and the closed numbers end."""
        return len(self.sum.parameters) + (len(self.g.closed.made) if self.g.closed is not None else 0)

    def _memory_at(self, acting: Mapping[int, Loads]) -> int:
        """Where the loads at rest are remembered, which are needed again where their power is; -1 if nowhere."""
        sum, g = self.sum, self.g
        alone = self.N == 1 and not (sum.beside or self.each or sum.states or sum.carried or sum.controllers)
        rows = [a for part, one in acting.items() if part != L.MOVING for a in one.rows]
        steady = not any(one.flags for one in sum.summands) and not called_in(g, rows)
        return self._behind if alone and steady and L.RESTING in acting and L.MOVING in acting else -1

    def _conserves(self, fixed: Mapping[str, float]) -> tuple[str, ...]:
        """What is conserved beside the energy, by each body in a loop; rotors exchange momentum with their bodies."""
        total, numbers = self.total, self.sum.parameters
        found = () if self.sum.kicked else conserved(self.sum.moves, [total], numbers, {*fixed, *self.sum.tables})
        if not self.sum.carried or self.N > 1:
            return found
        spins = all(self.g.value(a) == 0.0 for a in total.torque)
        return ("spin",) * spins + tuple(one for one in found if one == "momentum")

    def _parts(self, depth: int, centre: int) -> dict[int, Loads]:
        """The loads by the parts that roles are asked for, with the rates of works and states that belong to them."""
        g, parts = self.g, dict[int, Loads]()
        for part, level in ((L.ATTRACTION, centre), (L.POTENTIAL_PART, depth)):
            made = loads_of(g, level, self.sum.moves, self.sum.turns)
            rows = factored(g, [*made.force, *made.torque])
            parts[part] = Loads(tuple(rows[: 3 * self.N]), tuple(rows[3 * self.N :]), ())
        if self.stated:
            also = Loads(tuple(self.with_stated[0]), tuple(self.with_stated[1]), ())
            parts[L.POTENTIAL_PART] = added(g, [parts[L.POTENTIAL_PART], also])
        sudden = {one.load.name for one in self.sum.summands if one.load.impulse is not None}
        self.conservative = not (self.work or self.jumping)
        self.all_potential = {*self.work} <= self.timed | sudden
        booked = (self.work.keys() if self.sum.books else sudden) - self.unbooked
        self.work = {name: rows for name, rows in self.work.items() if name in booked}
        zero, power = self.zero, {name: g.sum(*rows) for name, rows in self.work.items()}
        states = [*(a for rows in self.rates.values() for a in rows), *[zero] * self.sum.registers]
        still = (zero,) * (len(self.turning) + len(states))
        behind = dict.fromkeys((*parts, *self.parts), (*[zero] * len(power), *still))
        timed = (a if name in self.timed else zero for name, a in power.items())
        moving = (zero if name in self.timed else a for name, a in power.items())
        behind |= {L.POTENTIAL_PART: (*timed, *still), L.MOVING: (*moving, *self.turning, *states)}
        for part, (force, torque) in self.parts.items():
            parts[part] = Loads(tuple(force), tuple(torque), ())
        return {part: one._replace(rates=behind[part]) for part, one in parts.items()}

    def _body(self, one: Summand, i: int) -> Seen:
        """A body as a load sees it."""
        body, k = self.bodies[i], self.sum.index[i] if self.sum.index else i
        found = {name: inputs(self.g, "p", first + int(np.prod(shape)) * k, shape)
                 for name, (first, shape) in one.each.items()}  # fmt: skip
        return body.with_numbers(found) if found else body

    def _given(self, one: Summand, on: tuple[int, ...], decisions: Decisions) -> dict[str, Any]:
        """What a function is given by name."""
        g, load, around = self.g, one.load, self.around.quantities
        found: dict[str, Any] = {}
        for name, argument in list(inspect.signature(load.function).parameters.items())[len(on) :]:
            if name == "t":
                found[name] = Tracer(g, g.input("t"), True)
            elif name in one.parameters:
                first, shape = one.parameters[name]
                tabled = isinstance(load.parameters[name], Table)
                numbers = Parameters(g, len(self.sum.parameters))
                found[name] = Rows(numbers, first) if tabled else inputs(g, "p", first, shape)
            elif name in one.each:  # a flag of the surroundings of this body
                found[name] = getattr(self._body(one, on[0]), name)
            elif load.reads.get(name, name) in self.states:
                found[name] = self.states[load.reads.get(name, name)]
            elif load.reads.get(name, name) in around:
                found[name] = self.around.at(load.reads.get(name, name), on[0],
                                             lambda one, on, read: self.followed(one, on, decisions, read))  # fmt: skip
            elif name == "mu" and self.sum.mu_at >= 0:
                found[name] = Tracer(g, g.input(f"p{self.sum.mu_at}"))
            elif argument.default is argument.empty:
                having = [self.sum.names[own.body] for own in self.sum.carried if name in own.states]
                if having:
                    raise InvalidInput(f"{load.described} asks for {name!r}, which {' and '.join(having)} have; read "
                                       f"it of the body, such as {having[0]}.{name}")  # fmt: skip
                known = ", ".join(sorted({"t", *one.parameters, *self.states, *filter(str.isidentifier, around)}))
                more = "; give it, or polhode.loads.central(mu) on all bodies" * (name == "mu")
                raise InvalidInput(f"{load.described} asks for {load.reads.get(name, name)!r}, which nothing gives; "
                                   f"there are {known}{more}")  # fmt: skip
        return found

    def rows(self, one: Summand, on: tuple[int, ...], decisions: Decisions) -> dict[str, list[int]]:
        """What a load returns for some bodies: rows by name, "" for one number."""
        return self.followed(one, on, decisions, lambda result: self._read(one.load, on, result))

    def followed(
        self, one: Summand, on: tuple[int, ...], decisions: Decisions, read: Callable[[Any], Parts]
    ) -> dict[str, list[int]]:
        """What a function returns for some bodies, as ``read`` has it: rows by name."""
        g, load = self.g, one.load
        given, bodies = self._given(one, on, decisions), [self._body(one, i) for i in on]
        layout: list[Any] = []

        def once() -> list[int]:
            g.raising.clear()
            found = read(called(lambda: act(*bodies, **given), load.described))
            layout[:] = [[(key, len(rows)) for key, rows in found]]
            rows = [a for _, part in found for a in part]
            return [*rows, swallowed(g, g.raising, rows)]

        try:
            act = rewired(load.function, g)
            rows = decisions.followed(g, once)
            if rows != decisions.followed(g, once):
                raise NotTraceable(MEMORY)
        except TooManyWays:
            raise _refused(load, DECIDES) from None
        except NotTraceable as problem:
            raise _refused(load, str(problem)) from None
        *rows, raised = rows
        if g.value(raised) != 0.0:
            rows[0] = g.fun("choose", raised, g.nan(), rows[0])
        at, parts = 0, dict[str, list[int]]()
        for key, count in layout[0]:
            parts[key], at = rows[at : at + count], at + count
        return parts

    def _add(self, one: Summand, on: tuple[int, ...], decisions: Decisions) -> None:
        """Add what a load comes to on some bodies."""
        g, load = self.g, one.load
        if load.impulse is not None:
            for i in on:
                if not self.sum.moves[i]:
                    raise InvalidInput(f"{load.described} is on {self.sum.names[i]!r}, which is pinned and has no "
                                       "velocity; say with .on which body it is on")  # fmt: skip
            self.work[load.name] = [(self.zero, 1.0)]  # added by the run
            return
        parts = self.rows(one, on, decisions)
        if load.returns == "reported":
            self.reported.append((parts[""][0], 1.0))
            return
        if "" in parts or "potential" in parts:
            level = parts.pop("", None) or parts.pop("potential")
            rate = parts.pop("potential_rate", None)
            stated: dict[str, list[int]] = {key: parts.pop(key) for key in ("force", "torque") if key in parts}
            for kernel in called_in(g, level):
                if kernel.slopes is None:
                    raise InvalidInput(f"{load.described} returns one number, a potential, that depends on "
                                       f"{kernel.words}, of which there is no derivative; return {{'force': ..., "
                                       "'torque': ...}")  # fmt: skip
            if load.gate:
                parts |= stated or self._derived(level[0], on)
            else:
                self._book(one, level, rate, decisions)
                if stated:
                    self._state(one, on, level[0], stated, decisions)
                else:
                    depths = self.centre if load.kind == "central" and self.sum.centred else self.potential
                    depths.append((level[0], 1.0))
        if load.gate:
            known = one.parameters.get(load.gate)
            acts = row_of(g, self.states[load.gate]) if known is None else g.input(f"p{known[0]}")
            parts = {key: [g.mul(acts, a) for a in mine] for key, mine in parts.items()}
        names = g.names([a for key in ("force", "torque") for a in parts.get(key, ())])
        moving = bool(moving_inputs(names)) or any(name in self.sum.moving for name in names)
        for key, mine in parts.items():
            if key in self.sum.held:
                raise InvalidInput(
                    f"{load.described} returns the rate of {key!r}, which {self.sum.held[key]}; leave it out"
                )
            if key in self.rates:
                self.rates[key] = row_by_row(g, self.rates[key], mine)
                continue
            to = self.parts[L.MOVING if moving else L.RESTING][key == "torque"]
            for n, i in enumerate(on):
                acting = mine[3 * n : 3 * n + 3]
                along = self.bodies[i].turning if key == "torque" else self.bodies[i].velocity
                for k, a in enumerate(acting):
                    to[3 * i + k] = g.sum((to[3 * i + k], 1.0), (a, 1.0))
                    self.work.setdefault(load.name, []).append((g.mul(a, row_of(g, along[k])), 1.0))

    def _derived(self, level: int, on: tuple[int, ...]) -> dict[str, list[int]]:
        """The forces and torques on some bodies that follow from a potential."""
        found = loads_of(self.g, level, self.sum.moves, self.sum.turns)
        rows = (("force", found.force), ("torque", found.torque))
        return {key: [a for i in on for a in part[3 * i : 3 * i + 3]] for key, part in rows}

    def _book(self, one: Summand, level: list[int], stated: list[int] | None, decisions: Decisions) -> None:
        """Book the work of a potential that reads the time, whose rate may be given beside it."""
        g = self.g
        if moving_inputs(g.names(level)) or any(name.startswith("aux") for name in g.names(level)):
            raise InvalidInput(f"{one.load.described} returns a potential that depends on velocities or states; return "
                               "{'force': ..., 'torque': ...} alone")  # fmt: skip
        self.jumping |= (one.load.name in self.unbooked or not self.sum.books) and "t" in g.names(level)
        (rate,) = rate_in_time(g, level)
        if stated is not None:
            rest = [self.zero] * (3 * self.N - 1)
            given, derived = (([a, *rest], [self.zero, *rest]) for a in (*stated, rate))
            self._same(one, "rates", given, derived, decisions)
            (rate,) = stated
        if g.value(rate) != 0.0:
            self.work.setdefault(one.load.name, []).append((rate, 1.0))
            self.timed.add(one.load.name)

    def _state(self, one: Summand, on: tuple[int, ...], level: int, parts: Mapping[str, list[int]],
               decisions: Decisions) -> None:  # fmt: skip
        """Add a potential, and the loads of it that a function returns beside it."""
        g, N = self.g, self.N
        self.stated.append((level, 1.0))
        mine = [[self.zero] * (3 * N), [self.zero] * (3 * N)]
        for key, rows in parts.items():
            for n, i in enumerate(on):
                mine[key == "torque"][3 * i : 3 * i + 3] = rows[3 * n : 3 * n + 3]
        derived = loads_of(g, level, self.sum.moves, self.sum.turns)
        self._same(one, "loads", mine, (derived.force, derived.torque), decisions)
        for to, rows in zip(self.with_stated, mine, strict=True):
            to[:] = row_by_row(g, to, rows)

    def _same(self, one: Summand, what: str, mine: Sequence[Any], derived: Sequence[Any], decisions: Decisions) -> None:
        """Refuse forces and torques that a user's function gives beside a potential, if others follow from it."""
        if one.load.shipped:
            return
        fixed, every = {*decisions.asked, *self.sum.tables}, np.arange(self.N)[None]
        here, there = (Acting(self.g, force, torque, every, {}) for force, torque in (mine, derived))
        if apart(self.N, here, there, self.sum.parameters, fixed) > NEARLY_SAME:
            raise InvalidInput(f"{one.load.described} returns a potential and other {what} than follow from it, as is "
                               "found at random states; correct them, or return the potential alone")  # fmt: skip

    def _read(self, load: Load | Surrounding, on: tuple[int, ...], result: object) -> Parts:
        """Names and rows of what a function returns; "" is a potential."""
        g, n = self.g, len(on)
        returned = ["force", "torque", "potential", "potential_rate"] * bool(on) + [*self.rates]
        if load.returns == "acceleration":
            check(load, "acceleration", result, [(3,)] if n == 1 else [(n, 3)])
            masses = [self.bodies[i].mass for i in on for _ in range(3)]
            result = {"force": [a * m for a, m in zip(flat(result), masses, strict=True)]}
            n = 0
        if not isinstance(result, Mapping):
            if load.returns == "states":
                raise UserFunctionError(f"{load.described} returns no mapping; it must return the rates of states by "
                                        "their names")  # fmt: skip
            check(load, "value" if is_event(load) else "potential", result, [()])
            return [("", [row_of(g, flat(result)[0])])]
        found = []
        for own, value in result.items():
            key = load.reads.get(own, own)
            if key in ("force", "torque") and on:
                if n:
                    check(load, key, value, [(3,), (1, 3)] if n == 1 else [(n, 3), (3 * n,)])
                numbers = flat(value)
                if key == "torque":
                    numbers = [x for j, i in enumerate(on) for x in self._principal(i, numbers[3 * j : 3 * j + 3])]
            elif key in ("potential", "potential_rate") and on:
                check(load, key, value, [()])
                numbers = flat(value)
            elif key in self.rates:
                check(load, key, value, [dict(self.sum.states)[key]])
                numbers = flat(value)
            else:
                raise UserFunctionError(
                    f"{load.described} returns {key!r}; it may return {', '.join(map(repr, returned))}"
                    f"{', or one number, a potential' * bool(on)}"
                )
            found.append((key, [row_of(g, x) for x in numbers]))
        if not found:
            raise UserFunctionError(f"{load.described} returns an empty mapping; leave the load out")
        return found

    def _principal(self, i: int, torque: Sequence[Any]) -> list[Any]:
        """A torque in the principal frame, without its parts about axes that the body does not turn about."""
        to_body = self.bodies[i].to_body
        inside = torque if to_body is None else to_body.T @ array_of(torque)
        return [x if turns else 0.0 for x, turns in zip(inside, self.sum.turns[i], strict=True)]


def check(load: Load | Surrounding, what: str, value: object, shapes: Sequence[Shape]) -> None:
    """Refuse numbers of another shape; one number may stand for an array of one, and the other way round."""
    found = shape_of(value)
    if found not in shapes and not {found, *shapes} <= {(), (1,)}:
        wanted = "one number" if shapes[0] == () else f"numbers of shape {shapes[0]}"
        given = "no numbers" if found is None else "one number" if found == () else f"numbers of shape {found}"
        raise UserFunctionError(f"{load.described} returns {given} as its {what}; it must be {wanted}")


def is_event(load: Load | Surrounding) -> bool:
    """Whether a function is that of an event."""
    return getattr(load, "what", "") == "event"


def _refused(load: Load | Surrounding, why: str) -> InvalidInput:
    cannot = "be watched" if is_event(load) else "be a part of a sum"
    return InvalidInput(f"{load.described} cannot {cannot}: {why}; write it with numbers, arrays and numpy")
