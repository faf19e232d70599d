"""Members whose loads change formula again and again: the method that a tolerance chose gives way, for them alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polhode.ensembles.engines import Block
from polhode.ensembles.plan import Plan
from polhode.errors import PolhodeError, PolhodeWarning, warn
from polhode.kernel import layout as L
from polhode.runs.integrate import instead, taken, taken_instead
from polhode.runs.request import WITHOUT_SERIES
from polhode.runs.stepping import FormulasChange

MOST_NAMED = 10
"""Most members that an attribute names."""


class Instead(NamedTuple):
    """A member that another method has taken, and why."""

    member: int
    why: FormulasChange


def take_instead(plan: Plan, block: Block, first: int) -> list[Instead]:
    """Fill the rows of those members of a block, whose first has this number, that have no series; who they are."""
    found = []
    for k in map(int, np.flatnonzero((block.status == L.NOT_CONVERGED) | (block.status == L.TOO_SMALL))):
        try:
            try:
                taken(plan.request(first + k))
                continue
            except FormulasChange as told:
                why = told
                run, record = taken(instead(plan.request(first + k), told))
        except PolhodeError:  # which is told where all failures are
            continue
        if run.ended is not None:
            continue
        _, states, iterations, sizes = record.between(0, record.count)
        block.rows[k] = 0.0  # behind the numbers of the other method, such as carries of sums
        block.rows[k, :, : states.shape[1]], block.iterations[k], block.sizes[k] = states, iterations, sizes
        block.status[k], block.done[k] = L.OK, record.count
        found.append(Instead(first + k, why))
    return found


def note_of(members: Sequence[int]) -> dict[str, str]:
    """The attribute that names them, where there are any."""
    if not members:
        return {}
    named = sorted(members)
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return {"method_note": f"members {', '.join(map(str, named[:MOST_NAMED]))}{more}: {WITHOUT_SERIES}"}


def warn_of_instead(members: Sequence[Instead], count: int) -> None:
    """Warn of them once."""
    if members:
        first = min(members, key=lambda one: one.member)
        warn(f"{len(members)} of {count} members, the first of them {first.member}, were {taken_instead(first.why)}",
             PolhodeWarning)  # fmt: skip
