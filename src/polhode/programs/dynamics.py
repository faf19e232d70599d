"""What a system does, as one program: its roles run once on tracers.

A role decides by parameters (which kinds of force there are, where their numbers lie). The program is that for these
values of theirs; a system with other values of all others has the same program. Of what a run changes (a burn that
begins, a shadow), all cases are in the program.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polhode.arguments import Array
from polhode.errors import UserFunctionError
from polhode.kernel import jit, layout as L
from polhode.programs.decisions import Decisions, TooManyWays
from polhode.programs.graph import Graph
from polhode.programs.memory import MOST_TERMS, Bodies, Parameters, State, Values, Written, most_terms
from polhode.programs.rewire import rewired
from polhode.programs.trace import called
from polhode.programs.tracer import DECIDES, NotTraceable, Tracer, row_of


@dataclass(frozen=True, eq=False)
class Dynamics:
    """The loads of N bodies as a program; inputs as in ``memory``."""

    graph: Graph
    N: int
    force: tuple[int, ...] = ()  # rows of the forces, space frame, 3 N
    torque: tuple[int, ...] = ()  # rows of the torques, principal body frames, 3 N
    rates: tuple[int, ...] = ()  # rows of the rates of the system's auxiliary variables
    potential: int | None = None  # row of the potential energy, where the loads are made from it
    # parameters that the roles decide by, by names of inputs: it is the program for these values of theirs
    fixed: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""  # why the loads cannot be traced, a clause ("it decides ..."); empty where they are

    @property
    def traced(self) -> bool:
        """Whether there is a program."""
        return not self.reason


Role = Callable[..., Any]


_kept: OrderedDict[Any, list[Dynamics]] = OrderedDict()


def of_roles(
    loads: Role, turns: Sequence[Sequence[bool]], auxiliary: int, parameters: Array,
    changing: frozenset[int] = frozenset(), part: int = L.ALL, terms: int = MOST_TERMS,
) -> Dynamics:  # fmt: skip
    """The dynamics of a system from its loads, with sums to this degree; systems whose programs are the same share
    one."""
    key = (loads, turns, auxiliary, len(parameters), changing, part, terms)
    for made in _kept.setdefault(key, []):
        if all(parameters[int(name[1:])] == value for name, value in made.fixed.items()):
            _kept.move_to_end(key)
            return made
    while len(_kept) > jit.KEPT_KERNELS:
        _kept.popitem(last=False)
    before = most_terms.set(terms)
    try:
        _kept[key].append(made := _traced(loads, turns, auxiliary, parameters, changing, part))
    finally:
        most_terms.reset(before)
    return made


def _traced(
    loads: Role, turns: Sequence[Sequence[bool]], auxiliary: int, parameters: Array, changing: frozenset[int], part: int
) -> Dynamics:
    N, values = len(turns), Values(parameters, changing)
    g, decisions = Graph(), Decisions(values)
    memory = (N, State(g, N), Bodies(g, N, turns), Parameters(g, len(parameters)))
    t = Tracer(g, g.input("t"))
    try:
        acting = rewired(loads)

        def loaded() -> list[int]:
            out = Written()
            called(lambda: acting(part, t, *memory, out), "the loads")
            return [row_of(g, out[k]) for k in range(L.LOAD * N + auxiliary)]

        with g.asking(decisions):
            rows = decisions.followed(g, loaded)
    except TooManyWays:
        return Dynamics(Graph(), N, reason=DECIDES)
    except (NotTraceable, UserFunctionError) as problem:
        return Dynamics(Graph(), N, reason=str(problem))
    force, torque = ([rows[L.LOAD * i + first + k] for i in range(N) for k in range(3)] for first in (0, 3))
    fixed = {name: values[name] for name in sorted(decisions.asked)}
    return Dynamics(g, N, tuple(force), tuple(torque), tuple(rows[L.LOAD * N :]), fixed=fixed)
