"""What bodies and loads come to: the roles of a system, written from the programs of its loads.

Each load is traced once for each time that it acts; potentials are added up and derived, forces, torques and rates of
states are added by the parts that roles are asked for. What a system consists of (functions, names, shapes) makes its
text, which is kept; its numbers are put in after, so that another mass or stiffness is another array and no other text.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from polhode.errors import InvalidInput, UserFunctionError, unknown_name
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.loads import Load
from polhode.programs.attitude import attitude, conjugate, matrix_of, multiply, vector
from polhode.programs.decisions import Decisions, TooManyWays
from polhode.programs.dynamics import Dynamics
from polhode.programs.factor import factored
from polhode.programs.graph import Graph
from polhode.programs.memory import Values
from polhode.programs.parts import Loads, added, text
from polhode.programs.potentials import loads_of, moving_inputs, potential_text
from polhode.programs.raising import swallowed
from polhode.programs.rewire import rewired
from polhode.programs.roles import behind, of_flat_memory, plain
from polhode.programs.text import Lines
from polhode.programs.trace import MEMORY, called, flat, shape_of
from polhode.programs.tracer import DECIDES, NotTraceable, Tracer, array_of, row_of
from polhode.programs.written import module_of
from polhode.systems.conserved import conserved
from polhode.systems.from_potential import derived
from polhode.systems.user.derived import jumps

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Summand:
    """A load where it acts.

    Attributes
    ----------
    load : Load
        The load.
    on : tuple of tuple of int
        Numbers of the bodies of each call of its function.
    parameters : mapping of str to (int, tuple)
        Where its numbers stand among the parameters, and their shapes.
    """

    load: Load
    on: tuple[tuple[int, ...], ...]
    parameters: Mapping[str, tuple[int, Shape]]

    def key(self) -> Any:
        """What its program depends on, but for numbers."""
        load = self.load
        act = load.function if load.kind else jit.Made(load.function)
        return act, load.name, load.acceleration, self.on, tuple(self.parameters.items())


@dataclass(frozen=True)
class Structure:
    """All of a sum but its numbers.

    Attributes
    ----------
    loads, potential : function
        The roles; no potential where nothing acts.
    work : tuple of str
        Names of the loads whose work is recorded, in order.
    moving : bool
        Whether loads depend on velocities or on states.
    conservative : bool
        Whether all forces and torques follow from the potential, which does not read the time.
    alone, each : bool
        Whether there is one body, or the loads are those of one in a loop.
    centred, centre_alone : bool
        Whether a centre at the origin attracts all bodies, and whether nothing else acts.
    fixed : mapping of str to float
        Parameters by which functions decide: it is the structure for these values of theirs.
    conserves : tuple of str
        What is conserved beside the energy.
    """

    loads: Callable[..., Any]
    potential: Callable[..., Any] | None
    work: tuple[str, ...]
    moving: bool
    conservative: bool
    alone: bool
    each: bool
    centred: bool
    centre_alone: bool
    fixed: Mapping[str, float]
    conserves: tuple[str, ...]


@dataclass(frozen=True)
class Sum:
    """What a structure is made from.

    Attributes
    ----------
    names : tuple of str
        Of the bodies.
    moves, turns : tuple (N,) and (N, 3) of bool
        Which of them move through space, and about which principal axes they turn.
    turned : tuple (N,) of bool
        Whose principal axes are not the body's own axes.
    summands : tuple of Summand
        The loads.
    states : tuple of (str, tuple)
        Names and shapes of the states, in order.
    centred : bool
        Whether a centre at the origin attracts all bodies, its gravity parameter being the first parameter.
    parameters : array
        Values of the parameters.
    """

    names: tuple[str, ...]
    moves: tuple[bool, ...]
    turns: tuple[tuple[bool, bool, bool], ...]
    turned: tuple[bool, ...]
    summands: tuple[Summand, ...]
    states: tuple[tuple[str, Shape], ...]
    centred: bool
    parameters: Any

    @property
    def each(self) -> bool:
        """Whether all loads are on each of many bodies of one kind, so that they are a loop."""
        same = all(len(set(one)) == 1 for one in (self.moves, self.turns, self.turned))
        apart = all(not one.load.bodies for one in self.summands)
        return len(self.names) > MOST_WRITTEN_OUT and same and apart and not self.states

    @property
    def of_first(self) -> Sum:
        """The sum of the first body alone."""
        first = tuple(replace(one, on=one.on[:1]) for one in self.summands)
        return replace(self, names=self.names[:1], moves=self.moves[:1], turns=self.turns[:1], turned=self.turned[:1],
                       summands=first)  # fmt: skip

    def structure(self) -> Structure:
        """The structure that the functions make at present.

        Raises
        ------
        InvalidInput
            A load cannot be traced, or returns what is none.
        """
        key = (self.names, self.moves, self.turns, self.turned, self.states, self.centred,
               tuple(one.key() for one in self.summands))  # fmt: skip
        known = _kept.setdefault(key, [])
        _kept.move_to_end(key)
        opaque = any(getattr(made[0], "opaque", False) for made in key[-1])
        for made in () if opaque else known:  # a digest may not see all of an object
            if all(self.parameters[int(name[1:])] == value for name, value in made.fixed.items()):
                return made
        while len(_kept) > jit.KEPT_KERNELS:
            _kept.popitem(last=False)
        made = (_Tracing(self.of_first, True) if self.each else _Tracing(self)).structure()
        known[:] = [made, *known[:7]]
        return made


_kept: OrderedDict[Any, list[Structure]] = OrderedDict()
MOST_WRITTEN_OUT = 3
"""Most bodies whose loads are written out; those on each of more bodies are a loop."""


# ------------------------------------------------------------------ a body as a load sees it
class Seen:
    """A body as a load sees it; one that is pinned stays at the origin, a point does not turn."""

    def __init__(self, g: Graph, i: int, sum: Sum) -> None:
        self.g, self.i, self.name, self.turned = g, i, sum.names[i], sum.turned[i]
        self.moves, self.turns = sum.moves[i], any(sum.turns[i])

    def __getattr__(self, name: str) -> Any:
        raise NotTraceable(f"it reads {name!r} of a body, which has {', '.join(OFFERED)}")

    def _vector(self, name: str, there: bool) -> Any:
        """Three inputs, or nothing."""
        return vector(self.g, name, 3, 3 * self.i) if there else array_of([0.0, 0.0, 0.0])

    @cached_property
    def position(self) -> Any:
        """Place of the centre of mass, in space."""
        return self._vector("r", self.moves)

    @cached_property
    def velocity(self) -> Any:
        """Its velocity, in space."""
        return self._vector("v", self.moves)

    @cached_property
    def principal(self) -> Any:
        """The attitude of the principal frame."""
        return attitude(self.g, "q", body=self.i) if self.turns else array_of([1.0, 0.0, 0.0, 0.0])

    @cached_property
    def frame(self) -> Any:
        """Quaternion from the principal frame to the body's axes."""
        return vector(self.g, "f", 4, 4 * self.i)

    @cached_property
    def to_body(self) -> Any:
        """Its matrix; None where both are one."""
        return matrix_of(self.frame) if self.turned else None

    @cached_property
    def attitude(self) -> Any:
        """Quaternion, body to space."""
        return multiply(self.principal, conjugate(self.frame)) if self.turned else self.principal

    @cached_property
    def moments(self) -> Any:
        """Principal moments."""
        return self._vector("I", self.turns)

    @cached_property
    def turning(self) -> Any:
        """Angular velocity in the principal frame."""
        return self._vector("j", self.turns) * self._vector("m", self.turns)

    @cached_property
    def angular_velocity(self) -> Any:
        """Angular velocity in the body's axes."""
        return self.to_body @ self.turning if self.turned else self.turning

    @property
    def mass(self) -> Any:
        """The mass."""
        if not self.moves:
            raise NotTraceable(f"it reads the mass of {self.name!r}, which is pinned")
        return Tracer(self.g, self.g.input(f"mass{self.i}"))

    @property
    def inertia(self) -> Any:
        """The inertia tensor in the body's axes."""
        diagonal = array_of([[self.moments[k] if k == n else 0.0 for n in range(3)] for k in range(3)])
        return self.to_body @ diagonal @ self.to_body.T if self.turned else diagonal

    def in_space(self, v: Any) -> Any:
        """A vector of the body's axes in space."""
        return matrix_of(self.attitude) @ array_of(v) if self.turns else array_of(v)

    def in_body(self, v: Any) -> Any:
        """A vector of space in the body's axes."""
        return matrix_of(self.attitude).T @ array_of(v) if self.turns else array_of(v)

    def point(self, x: Any) -> Any:
        """The place in space of a point of the body's axes; of a point mass the place where it is."""
        return self.position + self.in_space(x) if self.turns else self.position

    def gradient_of_inertia(self, n: Any) -> Any:
        """trace(I) - 3 n . I n for a unit vector n in space, by differences of moments."""
        if not self.turns:
            return 0.0
        u, I = matrix_of(self.principal).T @ array_of(n), self.moments
        D = (I[0] - I[2], I[1] - I[2])
        return D[0] + D[1] - 3.0 * (D[0] * u[0] ** 2 + D[1] * u[1] ** 2)


OFFERED = ("position", "velocity", "attitude", "angular_velocity", "mass", "inertia", "name", "point(x)", "in_space(v)",
           "in_body(v)", "gradient_of_inertia(n)")  # fmt: skip
"""What a load may read of a body."""


# ------------------------------------------------------------------ tracing
class _Tracing:
    """The rows that loads add up to."""

    def __init__(self, sum: Sum, each: bool = False) -> None:
        self.sum, self.each, self.g = sum, each, Graph()
        g, N = self.g, len(sum.names)
        self.N, self.zero = N, g.const(0.0)
        self.bodies = [Seen(g, i, sum) for i in range(N)]
        self.states, self.rates, k = {}, {}, 0
        for name, shape in sum.states:
            n = int(np.prod(shape))
            rows = [Tracer(g, g.input(f"aux{k + j}")) for j in range(n)]
            self.states[name] = array_of(rows).reshape(shape) if shape else rows[0]
            self.rates[name], k = [self.zero] * n, k + n
        self.potential: list[tuple[int, float]] = []
        self.centre: list[tuple[int, float]] = []
        self.parts = {part: [[self.zero] * (3 * N), [self.zero] * (3 * N)] for part in (L.RESTING, L.MOVING)}
        self.work: dict[str, list[tuple[int, float]]] = {}

    def structure(self) -> Structure:
        """The roles.

        Raises
        ------
        InvalidInput
            A load cannot be part of a sum, or the potential jumps at some time.
        """
        g, sum = self.g, self.sum
        decisions = Decisions(Values(sum.parameters, ()))
        with g.asking(decisions):
            for one in sum.summands:
                for on in one.on:
                    self._add(one, on, decisions)
        fixed = {name: decisions.values[name] for name in sorted(decisions.asked)}
        depth, centre = (g.sum(*one) if one else self.zero for one in (self.potential, self.centre))
        parts = self._parts(depth, centre)
        acting = {part: one for part, one in parts.items() if any(g.value(a) != 0.0 for a in one.rows)}
        conditions = {f"part & {part} != 0": one for part, one in acting.items()}
        module = module_of(
            text(g, conditions, len(parts[L.MOVING].rates), self.each, bodies=self.N, before=len(self.work))
        )
        potential = None
        if {*acting} == {L.POTENTIAL_PART} and not self.each:  # loads and commutator follow from the potential
            program = Dynamics(g, self.N, potential=depth, fixed=fixed)
            potential = derived("system", program, sum.moves, sum.turns).potential
        elif acting:
            level = g.sum((depth, 1.0), (centre, 1.0))
            if jumps(g, [level]):
                raise InvalidInput("the potential of the system decides by the time, and may jump, so that its work "
                                   "cannot be recorded; make it a force")  # fmt: skip
            potential = module_of(potential_text(g, level, self.N, "potential", self.each)).potential
        total = added(g, list(parts.values()))
        return Structure(
            module.loads, potential, tuple(self.work), L.MOVING in acting, not self.work,
            self.N == 1, self.each, sum.centred, {*acting} == {L.ATTRACTION}, fixed,
            () if self.each else conserved(g, sum.moves, sum.turns, total.force, total.torque, sum.parameters),
        )  # fmt: skip

    def _parts(self, depth: int, centre: int) -> dict[int, Loads]:
        """The loads by the parts that roles are asked for; rates of work and states are behind what moves."""
        g, parts = self.g, dict[int, Loads]()
        for part, level in ((L.ATTRACTION, centre), (L.POTENTIAL_PART, depth)):
            made = loads_of(g, level, self.sum.moves, self.sum.turns)
            parts[part] = Loads(tuple(made.force), tuple(made.torque), ())
            if g.value(made.rate) != 0.0:
                self.work.setdefault("potential", []).append((made.rate, 1.0))
        behind = [g.sum(*power) for power in self.work.values()] + [a for rows in self.rates.values() for a in rows]
        still = tuple(self.zero for _ in behind)
        for part, (force, torque) in self.parts.items():
            parts[part] = Loads(tuple(force), tuple(torque), ())
        return {part: one._replace(rates=tuple(behind) if part == L.MOVING else still) for part, one in parts.items()}

    def _given(self, one: Summand, on: tuple[int, ...]) -> dict[str, Any]:
        """What a function is given by name."""
        g, load = self.g, one.load
        found: dict[str, Any] = {}
        for name, argument in list(inspect.signature(load.function).parameters.items())[len(on) :]:
            if name == "t":
                found[name] = Tracer(g, g.input("t"), True)
            elif name in one.parameters:
                first, shape = one.parameters[name]
                rows = [Tracer(g, g.input(f"p{first + j}")) for j in range(int(np.prod(shape)))]
                found[name] = array_of(rows).reshape(shape) if shape else rows[0]
            elif name in self.states:
                found[name] = self.states[name]
            elif argument.default is argument.empty:
                known = ", ".join(sorted({"t", *one.parameters, *self.states}))
                raise InvalidInput(f"{load.described} asks for {name!r}, which nothing gives; there are {known}")
        return found

    def rows(self, one: Summand, on: tuple[int, ...], decisions: Decisions) -> dict[str, list[int]]:
        """What a function returns for some bodies: rows by name, "" for one number.

        Raises
        ------
        InvalidInput
            It cannot be traced.
        """
        g, load = self.g, one.load
        given, bodies = self._given(one, on), [self.bodies[i] for i in on]
        layout: list[Any] = []

        def once() -> list[int]:
            g.raising.clear()
            found = self._read(load, on, called(lambda: act(*bodies, **given), load.described))
            layout[:] = [[(key, len(rows)) for key, rows in found]]
            rows = [a for _, part in found for a in part]
            return [*rows, swallowed(g, g.raising, rows)]

        try:
            act = rewired(load.function)
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
        g, load, parts = self.g, one.load, self.rows(one, on, decisions)
        if "" in parts:
            (self.centre if load.kind == "central" and self.sum.centred else self.potential).append((parts[""][0], 1.0))
            if moving_inputs(g.names(parts[""])) or any(name.startswith("aux") for name in g.names(parts[""])):
                raise InvalidInput(f"{load.described} returns one number, a potential, that depends on velocities or "
                                   "states; return {'force': ..., 'torque': ...}")  # fmt: skip
            return
        names = g.names([a for key in ("force", "torque") for a in parts.get(key, ())])
        moving = bool(moving_inputs(names)) or any(name.startswith("aux") for name in names)
        for key, mine in parts.items():
            if key in self.rates:
                self.rates[key] = [g.sum((a, 1.0), (b, 1.0)) for a, b in zip(self.rates[key], mine, strict=True)]
                continue
            to = self.parts[L.MOVING if moving else L.RESTING][key == "torque"]
            for n, i in enumerate(on):
                acting = mine[3 * n : 3 * n + 3]
                rate = self.bodies[i].turning if key == "torque" else self.bodies[i].velocity
                for k, a in enumerate(acting):
                    to[3 * i + k] = g.sum((to[3 * i + k], 1.0), (a, 1.0))
                    self.work.setdefault(load.name, []).append((g.mul(a, row_of(g, rate[k])), 1.0))

    def _read(self, load: Load, on: tuple[int, ...], result: Any) -> list[tuple[str, list[int]]]:
        """Names and rows of what a function returns; "" is a potential."""
        g, n = self.g, len(on)
        if load.acceleration:
            self._check(load, "acceleration", result, [(3,)] if n == 1 else [(n, 3)])
            masses = [self.bodies[i].mass for i in on for _ in range(3)]
            result = {"force": [a * m for a, m in zip(flat(result), masses, strict=True)]}
            n = 0
        if not isinstance(result, Mapping):
            self._check(load, "potential", result, [(), (1,)])
            return [("", [row_of(g, flat(result)[0])])]
        found = []
        for key, value in result.items():
            if key in ("force", "torque"):
                if n:
                    self._check(load, key, value, [(3,), (1, 3)] if n == 1 else [(n, 3), (3 * n,)])
                numbers = flat(value)
                if key == "torque":
                    numbers = [x for j, i in enumerate(on) for x in self._principal(i, numbers[3 * j : 3 * j + 3])]
            elif key in self.rates:
                shape = dict(self.sum.states)[key]
                self._check(load, key, value, [shape])
                numbers = flat(value)
            else:
                raise UserFunctionError(
                    f"{load.described} returns {key!r}; it may return 'force', 'torque'"
                    f"{', ' * bool(self.rates)}{', '.join(map(repr, self.rates))}, or one number, a potential"
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

    @staticmethod
    def _check(load: Load, what: str, value: Any, shapes: Sequence[Shape]) -> None:
        """Refuse numbers of another shape."""
        found = shape_of(value)
        if found not in shapes:
            wanted = "one number" if shapes[0] == () else f"numbers of shape {shapes[0]}"
            given = "no numbers" if found is None else "one number" if found == () else f"numbers of shape {found}"
            raise UserFunctionError(f"{load.described} returns {given} as its {what}; it must be {wanted}")


def _refused(load: Load, why: str) -> InvalidInput:
    return InvalidInput(f"{load.described} cannot be a part of a sum: {why}; write it with numbers, arrays and numpy")


# ------------------------------------------------------------------ a number of bodies
def number_of(load: Load, names: Sequence[str], system: Any) -> Callable[..., Any]:
    """What the function of an event returns, as ``value(t, N, y, bodies, table, at)`` with its parameters from
    ``table[at]`` on.

    Parameters
    ----------
    load : Load
        The function with its parameters and the names of its bodies.
    names : sequence of str
        Names of the bodies of the system.
    system : System
        The system.

    Raises
    ------
    InvalidInput
        A body that is not there, a function that cannot be traced, or that returns something else than one number.
    """
    places, first = {}, 0
    for key, value in load.parameters.items():
        places[key], first = (first, np.shape(value)), first + np.size(value)
    for one in load.bodies:
        if one not in names:
            raise unknown_name(f"body that event {load.name!r} is of", one, names)
    if not load.bodies and len(names) > 1:
        raise InvalidInput(f"event {load.name!r} is of one of {len(names)} bodies; say which with .on")
    on = tuple(names.index(one) for one in load.bodies) or (0,)
    read = system.auxiliary[system.read_from :]
    sizes: dict[str, int] = {}
    for own in read:
        sizes[own.quantity] = sizes.get(own.quantity, 0) + bool(own.label)
    numbers = np.concatenate([np.zeros(0), *(np.ravel(one) for one in load.parameters.values())])
    frames = tuple(tuple(row) != (1.0, 0.0, 0.0, 0.0) for row in np.asarray(system.frames).tolist())
    sum = Sum(
        tuple(names), tuple(np.isfinite(system.mass).tolist()), tuple(map(tuple, np.isfinite(system.moments).tolist())),
        frames, (Summand(load, (on,), places),), tuple((key, (size,) if size else ()) for key, size in sizes.items()),
        False, numbers,
    )  # fmt: skip
    tracing = _Tracing(sum)
    decisions = Decisions(Values(numbers.tolist(), ()))
    with tracing.g.asking(decisions):
        parts = tracing.rows(sum.summands[0], on, decisions)
    if [*parts] != [""]:
        raise UserFunctionError(f"event {load.name!r} returns {', '.join(parts)}; it must return one number")
    (row,) = factored(tracing.g, parts[""])
    inputs, N = tracing.g.names([row]), len(names)
    lines, given = of_flat_memory(
        inputs, N, lambda array, k: f"table[at + {k}]" if array == "parameters" else plain(array, k)
    )
    body = Lines(tracing.g, [row], given | behind(inputs, N, system.read_from))
    lines = ["def value(t, N, y, bodies, table, at):", *lines, *body.lines, f"return {body.names[row]}"]
    return module_of("\n    ".join(lines) + "\n").value  # type: ignore[no-any-return]


def _of_table(array: str, k: int) -> str:
    """As ``roles.plain``; parameters are in the table of the event."""
    return f"table[at + {k}]" if array == "parameters" else plain(array, k)
