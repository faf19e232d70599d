"""What a system does, as one program: its roles run once on tracers.

A role decides by parameters (which kinds of force there are, where their numbers lie). The program is that for these
values of theirs; a system with other values of all others has the same program. Of what a run changes (a burn that
begins, a shadow), all cases are in the program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from polhode.errors import UserFunctionError
from polhode.kernel import layout as L
from polhode.programs import derive
from polhode.programs.attitude import conjugate, multiply
from polhode.programs.decisions import Decisions, TooManyWays
from polhode.programs.graph import Graph
from polhode.programs.memory import Bodies, Parameters, State, Values, Written, effective_torque, handed
from polhode.programs.rewire import rewired
from polhode.programs.trace import called, flat
from polhode.programs.tracer import DECIDES, NotTraceable, Tracer, array_of, row_of


@dataclass(frozen=True, eq=False)
class Dynamics:
    """The loads and the potential of N bodies as a program; inputs as in ``memory``.

    Attributes
    ----------
    graph : Graph
        All rows.
    N : int
        Number of bodies.
    force : tuple of int
        Rows of the forces, space frame, 3 N.
    torque : tuple of int
        Rows of the torques, principal body frames, 3 N.
    rates : tuple of int
        Rows of the rates of the system's auxiliary variables.
    potential : int or None
        Row of the potential energy; None where there is none or where it cannot be traced.
    fixed : mapping of str to float
        Parameters that the roles decide by, by the names of their inputs: it is the program for these values of theirs.
    reason : str
        Why the loads cannot be traced, a clause ("it decides ..."); empty where they are.
    """

    graph: Graph
    N: int
    force: tuple[int, ...] = ()
    torque: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()
    potential: int | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    @property
    def traced(self) -> bool:
        """Whether there is a program."""
        return not self.reason


Role = Callable[..., Any]


# ------------------------------------------------------------------ functions of users
class OfUser:
    """A user's function, rewired, that a role calls on tracers.

    Attributes
    ----------
    function : function
        The copy that can be traced.
    name : str
        What it is, for messages.
    """

    def __init__(self, function: Role, name: str) -> None:
        self.function, self.name = function, name

    def __call__(self, *arguments: Any) -> Any:
        result = called(lambda: self.function(*map(handed, arguments)), self.name)
        numbers = flat(result)
        if not numbers:
            raise NotTraceable("it returns no numbers")
        return numbers[0] if len(numbers) == 1 else tuple(numbers)


class FromPotential:
    """The role ``loads`` of a potential of the user's, alone or added to a built-in role.

    Attributes
    ----------
    energy : OfUser
        The potential.
    moves, turns : bool
        Whether it takes the position, and the attitude.
    turned : bool
        Whether the user's body frame is not the principal one.
    first, count : int
        Number of parameters of the built-in role, and of all.
    built : function or None
        The built-in role, rewired.
    own : int
        Index of the auxiliary variable that is the work of the potential, or -1.
    """

    def __init__(
        self, energy: OfUser, moves: bool, turns: bool, turned: bool, first: int, count: int, built: Role | None,
        own: int = -1,
    ) -> None:  # fmt: skip
        self.energy, self.moves, self.turns, self.turned = energy, moves, turns, turned
        self.first, self.count, self.built, self.own = first, count, built, own

    def __call__(self, part: int, t: Any, N: int, y: Any, bodies: Any, parameters: Any, out: Any) -> None:
        g = t.graph
        if self.built is not None:
            self.built(part, t, N, y, bodies, parameters, out)
        else:
            out.update(dict.fromkeys(range(L.LOAD), 0.0))
        if self.own >= 0:
            out[L.LOAD + self.own] = 0.0
        if part & L.POTENTIAL_PART == 0:
            return
        given = [t]
        if self.moves:
            given.append(array_of([y[L.POSITION + k] for k in range(3)]))
        if self.turns:
            q = y.attitude(0)
            frame = [bodies[L.CONSTANTS + k] for k in range(4)]
            given.append(multiply(q, conjugate(frame)) if self.turned else q)
        energy = row_of(g, self.energy(*given, parameters[self.first : self.count]))
        force, torque = derive.loads(g, energy, "r" if self.moves else "", "q" if self.turns else "")
        if self.own >= 0:
            out[L.LOAD + self.own] = Tracer(g, derive.rate_in_time(g, [energy])[0])
        for k, row in enumerate(force):
            out[k] = out[k] + Tracer(g, row)
        added = effective_torque([Tracer(g, row) for row in torque], bodies, 0) if torque else ()
        for k, one in enumerate(added):
            out[3 + k] = out[3 + k] + one


# ------------------------------------------------------------------ systems
def of_roles(
    loads: Role,
    potential: Role | None,
    turns: Sequence[Sequence[bool]],
    auxiliary: int,
    parameters: Sequence[float],
    changing: Collection[int] = (),
    part: int = L.ALL,
) -> Dynamics:
    """The dynamics of a system from its roles.

    Parameters
    ----------
    loads, potential : function
        The roles, in Python: ``loads(part, t, N, y, bodies, parameters, out)``, ``potential(t, N, y, bodies,
        parameters)``.
    turns : sequence (N, 3) of bool
        About which principal axes each body turns.
    auxiliary : int
        Number of auxiliary variables.
    parameters : sequence of float
        Their values.
    changing : collection of int
        Indices of those that a run changes.
    part : int
        The part of the loads.
    """
    N = len(turns)
    values = Values(parameters, changing)
    try:
        acting = rewired(loads)
        level = None if potential is None else rewired(potential)
    except NotTraceable as problem:
        return Dynamics(Graph(), N, reason=str(problem))

    def run(g: Graph, decisions: Decisions) -> Dynamics:
        memory = (N, State(g, N), Bodies(g, N, turns), Parameters(g, len(parameters)))
        t = Tracer(g, g.input("t"))

        def loaded() -> list[int]:
            out = Written()
            called(lambda: acting(part, t, *memory, out), "the loads")
            return [row_of(g, out[k]) for k in range(L.LOAD * N + auxiliary)]

        def energy() -> list[int]:
            return [row_of(g, called(lambda: level(t, *memory), "the potential"))]  # type: ignore[misc]

        rows = decisions.followed(g, loaded)
        depth = None
        if level is not None:
            try:
                (depth,) = decisions.followed(g, energy)
            except (NotTraceable, TooManyWays):
                depth = None
        blocks = range(0, L.LOAD * N, L.LOAD)
        force = [rows[b + k] for b in blocks for k in range(3)]
        torque = [rows[b + 3 + k] for b in blocks for k in range(3)]
        return Dynamics(g, N, tuple(force), tuple(torque), tuple(rows[L.LOAD * N :]), depth)

    try:
        g, decisions = Graph(), Decisions(values)
        with g.asking(decisions):
            made = run(g, decisions)
    except TooManyWays:
        return Dynamics(Graph(), N, reason=DECIDES)
    except (NotTraceable, UserFunctionError) as problem:
        return Dynamics(Graph(), N, reason=str(problem))
    return replace(made, fixed={name: values[name] for name in sorted(decisions.asked)})
