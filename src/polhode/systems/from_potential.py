"""The loads of a system of which the potential alone is given: derived from its program, with their commutator."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from polhode.errors import InvalidInput
from polhode.kernel import jit, layout as L
from polhode.kernel.reach import WRITTEN
from polhode.programs.dynamics import Dynamics, of_roles
from polhode.programs.potentials import commutator_of, loads_of, moving_inputs, potential_text, text
from polhode.programs.written import module_of
from polhode.systems.user.traced import jumps

MOST_ROWS = 20_000
"""Most rows of loads that are written out; compiling them takes some seconds."""

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
_kept: OrderedDict[Any, tuple[Any, Derived]] = OrderedDict()
_written: dict[Any, tuple[Any, Any, Derived]] = {}
"""Of potentials that were written here: which bodies move and turn, and what followed from them."""


def is_derived(role: Any) -> bool:
    """Whether a role was made here."""
    return str(getattr(role, "__module__", "")).startswith(WRITTEN) and role.__name__ in NAMES


NAMES = ("loads_of_potential", "commutator_of_potential")


def from_potential(
    name: str,
    potential: Callable[..., Any],
    moves: Sequence[bool],
    turns: Sequence[Sequence[bool]],
    parameters: Any,
    changing: frozenset[int],
) -> Derived:
    """The roles of a system from its potential."""
    known = _written.get(potential)
    if known is not None and known[:2] == (tuple(moves), tuple(map(tuple, turns))):
        return known[2]
    made = of_roles(_traceable(potential), None, tuple(turns), 0, parameters, changing, L.ALL)
    if made.reason:
        raise _refused(name, made.reason)
    return derived(name, replace(made, potential=made.force[0]), moves, turns)


def derived(name: str, made: Dynamics, moves: Sequence[bool], turns: Sequence[Sequence[bool]]) -> Derived:
    """The roles of a system from the program of its potential."""
    g, row = made.graph, made.potential
    assert row is not None
    key = (id(g), row, tuple(moves))
    if key in _kept:
        _kept.move_to_end(key)
        return _kept[key][1]
    if moving_inputs(g.names([row])):
        raise _refused(name, "it depends on velocities")
    if jumps(g, [row]):
        raise _refused(name, "it decides by the time, and may jump")
    loads = loads_of(g, row, moves, turns)
    changes = commutator_of(g, loads, turns)
    if len(g.needed([*loads.rows, *changes.rows])) > MOST_ROWS:
        raise _refused(name, f"written out they have more than {MOST_ROWS} operations")
    rates = (loads.rate,) if g.value(loads.rate) is None else ()
    roles = text(g, dict(zip(NAMES, (loads, changes), strict=True)), bool(rates))
    module = module_of(roles + "\n\n" + potential_text(g, row, len(moves), "potential"))
    dynamics = replace(made, force=tuple(loads.force), torque=tuple(loads.torque), rates=rates, potential=row)
    found = Derived(module.loads_of_potential, module.commutator_of_potential, module.potential, dynamics)
    while len(_kept) >= jit.KEPT_KERNELS:
        _written.pop(_kept.popitem(last=False)[1][1].potential, None)
    _kept[key] = (g, found)  # which keeps the graph, so that no other gets its id
    _written[found.potential] = (tuple(moves), tuple(map(tuple, turns)), found)
    return found


def _refused(name: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{name} has a potential from which its loads do not follow: {why}; give the System its loads(part, t, N, y, "
        "bodies, parameters, out)"
    )
