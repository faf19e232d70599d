"""Templates of the role ``loads`` that all systems share: no loads, parts of the loads, loads within an interval; and
roles written from the program of a system: its loads by parts, the commutator of loads that have a potential, and loads
of a potential that alone is given.

The text of a program is about twice as fast as the role that was traced, and compiled sooner: counts, kinds and places
of numbers are literals in it. Other values of parameters are the same text. What cannot be traced keeps its role.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from polhode.arguments import Array
from polhode.errors import InvalidInput
from polhode.kernel import jit, layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.pairs import ONE_BY_ONE, WITHOUT_THREADS
from polhode.kernel.reach import WRITTEN
from polhode.kernel.signatures import LOADS, POTENTIAL
from polhode.programs.dynamics import Dynamics, Role, of_roles
from polhode.programs.graph import Graph
from polhode.programs.parts import PARTS, commutator_of, commutator_text, text as text_of_parts, together
from polhode.programs.potentials import loads_of, moving_inputs, potential_text, text
from polhode.programs.text import MATH
from polhode.programs.written import module_of
from polhode.systems.user.function import jumps


def no_loads(part, t, N, y, bodies, parameters, out):
    """Zero loads, of a free system.

    The first body is written element by element: a loop alone compiles to ``memset``, and reading its result back at
    once stalls (25 ns per evaluation).
    """
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, (0.0, 0.0, 0.0))
    for k in range(6, 6 * N):
        out[k] = 0.0


def no_series(part, t, k, u, bodies, parameters, out):
    """Taylor series of the torque of a free body: zero."""
    out[0] = out[1] = out[2] = 0.0


@jit.inlined
def unasked(part, t, N, y, bodies, parameters, out):
    """A part that nobody asks for."""


ARGUMENTS = "(part, t, N, y, bodies, parameters, out)"
plain_loads = jit.hole(f"plain_loads{ARGUMENTS}", "The loads.", default=unasked)
commutator_loads = jit.hole(f"commutator_loads{ARGUMENTS}", "The commutator load.", default=unasked)
slopes = jit.hole(f"slopes{ARGUMENTS}", "The loads and their slopes.", default=unasked)
series = jit.hole(
    "series(part, t, k, u, bodies, parameters, out)", "A coefficient of the torque's series.", default=unasked
)
thin = jit.hole("thin", "Whether some body does not rotate about an axis.", default=False)


@jit.inlined
def effective_torque(T, bodies, i):
    """A torque on body i (principal frame), zero about every axis that the body does not rotate about."""
    j = get3(bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
    return (T[0] if j[0] > 0.0 else 0.0, T[1] if j[1] > 0.0 else 0.0, T[2] if j[2] > 0.0 else 0.0)


def parted_loads(part, t, N, y, bodies, parameters, out):
    """The loads; under the part COMMUTATOR the commutator, under SERIES a Taylor coefficient of the torque, under
    SLOPES loads with their slopes. Torques are zero about every axis that a body does not rotate about."""
    if part == L.SERIES:
        series(part, t, N, y, bodies, parameters, out)
    elif part == L.SLOPES:
        slopes(part, t, N, y, bodies, parameters, out)
    elif part & L.COMMUTATOR != 0:
        commutator_loads(part, t, N, y, bodies, parameters, out)
    else:
        plain_loads(part, t, N, y, bodies, parameters, out)
    if thin:
        alone = part == L.SERIES
        for i in range(1 if alone else N):
            at = 0 if alone else L.LOAD * i + 3
            put3(out, at, effective_torque(get3(out, at), bodies, i))


first = jit.hole(f"first{ARGUMENTS}", "Loads that have a potential.")
others = jit.hole(f"others{ARGUMENTS}", "Adds the loads beside them.")
first_level = jit.hole("first_level(t, N, y, bodies, parameters)", "The potential of the first.")
others_level = jit.hole("others_level(t, N, y, bodies, parameters)", "That of the others.")


def both(part, t, N, y, bodies, parameters, out):
    """Parts of loads and of others."""
    first(part, t, N, y, bodies, parameters, out)
    others(part, t, N, y, bodies, parameters, out)


def beside_potential(part, t, N, y, bodies, parameters, out):
    """The same where the first know no parts: they come with the part that has a potential."""
    if part & L.POTENTIAL_PART != 0:
        first((part & L.ALL) | L.RESTING | L.MOVING, t, N, y, bodies, parameters, out)
    else:
        for k in range(L.LOAD * N):
            out[k] = 0.0
    others(part, t, N, y, bodies, parameters, out)


def both_levels(t, N, y, bodies, parameters):
    """The sum of the potentials."""
    return first_level(t, N, y, bodies, parameters) + others_level(t, N, y, bodies, parameters)


@lru_cache(jit.KEPT_KERNELS)
def roles_of_both(
    split: bool, loads: Role, potential: Role | None, others: Role, others_level: Role | None
) -> tuple[Any, Any]:
    """The roles LOADS and POTENTIAL of loads, perhaps in parts, and of what is beside them."""
    template = both if split else beside_potential
    role = jit.bind(template, first=loads, others=others)
    if loads in ONE_BY_ONE:
        WITHOUT_THREADS[role] = jit.bind(template, first=WITHOUT_THREADS[loads], others=others)
        ONE_BY_ONE[role] = lambda **bound: jit.bind(template, first=ONE_BY_ONE[loads](**bound), others=others)
    if potential is None or others_level is None:
        return role, potential or others_level
    return role, jit.bind(both_levels, first_level=potential, others_level=others_level)


loads = jit.hole("loads(part, t, N, y, bodies, parameters, out)", "The loads.")
at = jit.hole("at", "Index of the interval in the parameters; of the loads behind a role.")


def loads_between(part, t, N, y, bodies, parameters, out):
    """The loads with the time clipped to the interval ``[parameters[at], parameters[at + 1]]``."""
    loads(part, min(max(t, parameters[at]), parameters[at + 1]), N, y, bodies, parameters, out)


@lru_cache(jit.KEPT_KERNELS)
def kernel_of(
    role: Role, commutator: Role | None, series: Role | None, thin: bool, loads: bool, passes: bool = False
) -> Role:
    """The compiled role of all systems of one kind: of loads, perhaps with others and ``thin``, or of a potential;
    ``passes`` over pairs run 4 % faster by all of LLVM's optimisations."""
    if series or thin or commutator not in (None, role):
        role = jit.bind(parted_loads, plain_loads=role, commutator_loads=commutator or role, series=series or no_series,
                        thin=thin)  # fmt: skip
    return jit.compile_kernel(role, LOADS if loads else POTENTIAL, thorough=passes)


loads_at = jit.function_at(LOADS)


def loads_behind(part, t, N, y, bodies, parameters, out):
    """Loads that stand behind the role at hand."""
    loads_at(jit.view(jit.data_behind(), at + 2)[at:])(part, t, N, y, bodies, parameters, out)


def compiled_with(template: Role, **values: Any) -> Role:
    """A compiled LOADS role of a template; roles that have data behind them are called by their addresses."""
    behind = {name: one for name, one in values.items() if hasattr(one, "behind")}
    if not behind:
        return jit.compile_kernel(jit.bind(template, **values), LOADS)
    stand_ins = {name: jit.bind(loads_behind, at=2 * k) for k, name in enumerate(behind)}
    return jit.closed(jit.bind(template, **values | stand_ins), LOADS, [*behind.values()])


# ------------------------------------------------------------------ written from programs
MOST_FUNCTIONS = 1
"""Most functions (exp, atan2, ...) in the ways of a role that are not taken: its text would compute them all."""


def parts_of(
    loads: Role, turns: Sequence[Any], auxiliary: int, parameters: Array, changing: frozenset[int]
) -> list[Dynamics]:
    """The programs of all parts of loads, of the first body; none where one of them cannot be traced."""
    made = [of_roles(loads, turns[:1], auxiliary, parameters, changing, part) for part in PARTS]
    return made if all(one.traced for one in made) else []


def role_of(
    kind: str, loads: Role, turns: Sequence[Any], auxiliary: int, parameters: Array, changing: frozenset[int]
) -> Role | None:
    """The "loads" in parts, or their "commutator", of each body, from its program; None where that is no gain."""
    made = parts_of(loads, turns, auxiliary, parameters, changing)
    return _written_role(kind, tuple(made), auxiliary, len(turns) > 1) if made else None


@lru_cache(jit.KEPT_KERNELS)
def _written_role(kind: str, made: Sequence[Dynamics], auxiliary: int, several: bool) -> Callable[..., Any] | None:
    """The same from the programs of all parts."""
    g, parts = together(dict(zip(PARTS, made, strict=True)))
    if kind == "commutator":
        return module_of(commutator_text(g, parts, auxiliary, several)).commutator
    if _wasteful(g, [a for one in parts.values() for a in one.rows]):
        return None
    conditions = {f"part & {part} != 0": loads for part, loads in parts.items()}
    return module_of(text_of_parts(g, conditions, auxiliary, several)).loads


def _wasteful(g: Graph, outputs: Sequence[int]) -> bool:
    """Whether many functions are computed for ways that may not be taken."""
    always: set[int] = set()
    stack = list(outputs)
    while stack:
        a = stack.pop()
        if a not in always:
            always.add(a)
            row = g.rows[a]
            stack.extend(row[2][:1] if row[:2] == ("fun", "choose") else g.arguments(a))
    return sum(g.rows[a][0] == "fun" and g.rows[a][1] in MATH for a in {*g.needed(outputs)} - always) > MOST_FUNCTIONS


MOST_ROWS = 20_000  # most rows of loads that are written out; compiling them takes some seconds

energy = jit.hole("energy(t, N, y, bodies, parameters) -> float", "The potential.")


class Derived(NamedTuple):
    """Roles that follow from a potential."""

    loads: Callable[..., Any]  # loads, commutator: of signature LOADS
    commutator: Callable[..., Any]
    potential: Callable[..., Any]  # of signature POTENTIAL: what was traced, in a form that can be compiled
    # their program. Its rates hold that of the work of a potential that depends on time; the loads then write it, as
    # that of the one auxiliary variable
    dynamics: Dynamics


def energy_as_load(part, t, N, y, bodies, parameters, out):
    """The potential in the place of the first load, to be traced."""
    for k in range(1, L.LOAD * N):
        out[k] = 0.0
    out[0] = energy(t, N, y, bodies, parameters)


_traceable = lru_cache(jit.KEPT_KERNELS)(lambda potential: jit.bind(energy_as_load, energy=potential))
_derived: OrderedDict[Any, tuple[Any, Derived]] = OrderedDict()
_written: dict[Any, tuple[Any, Any, Derived]] = {}
"""Of potentials that were written here: which bodies move and turn, and what followed from them."""


def is_derived(role: Any) -> bool:
    """Whether a role was made here."""
    return str(getattr(role, "__module__", "")).startswith(WRITTEN) and role.__name__ in NAMES


NAMES = ("loads_of_potential", "commutator_of_potential")


def from_potential(
    name: str, potential: Callable[..., Any], moves: Sequence[bool], turns: Sequence[Sequence[bool]], parameters: Array,
    changing: frozenset[int],
) -> Derived:  # fmt: skip
    """The roles of a system from its potential."""
    known = _written.get(potential)
    if known is not None and known[:2] == (tuple(moves), tuple(map(tuple, turns))):
        return known[2]
    made = of_roles(_traceable(potential), tuple(turns), 0, parameters, changing, L.ALL)
    if made.reason:
        raise _refused(name, made.reason)
    return derived(name, replace(made, potential=made.force[0]), moves, turns)


def derived(name: str, made: Dynamics, moves: Sequence[bool], turns: Sequence[Sequence[bool]]) -> Derived:
    """The roles of a system from the program of its potential."""
    g, row = made.graph, made.potential
    assert row is not None
    key = (id(g), row, tuple(moves))
    if key in _derived:
        _derived.move_to_end(key)
        return _derived[key][1]
    if moving_inputs(g.names([row])):
        raise _refused(name, "it depends on velocities")
    if jumps(g, [row]):
        raise _refused(name, "it decides by the time, and may jump")
    loads = loads_of(g, row, moves, turns)
    changes = commutator_of(g, loads, turns)
    if len(g.needed([*loads.rows, *changes.rows])) > MOST_ROWS:
        raise _refused(name, f"written out they have more than {MOST_ROWS} operations")
    rates = loads.rates if g.value(loads.rates[0]) is None else ()
    roles = text(g, dict(zip(NAMES, (loads, changes), strict=True)), bool(rates))
    module = module_of(roles + "\n\n" + potential_text(g, row, len(moves), "potential"))
    dynamics = replace(made, force=loads.force, torque=loads.torque, rates=rates, potential=row)
    found = Derived(module.loads_of_potential, module.commutator_of_potential, module.potential, dynamics)
    while len(_derived) >= jit.KEPT_KERNELS:
        _written.pop(_derived.popitem(last=False)[1][1].potential, None)
    _derived[key] = (g, found)  # which keeps the graph, so that no other gets its id
    _written[found.potential] = (tuple(moves), tuple(map(tuple, turns)), found)
    return found


def _refused(name: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{name} has a potential from which its loads do not follow: {why}; give the System its loads(part, t, N, y, "
        "bodies, parameters, out)"
    )
