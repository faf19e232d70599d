"""The balance of energy of recorded rows, and the one scale of its error, which no constant in the potential changes.

Where steps are too large, or units mixed, all numbers may stay finite and yet mean nothing; what tells is this error:
what the energy has changed by, less all work. Its scale is what there is of energy to exchange: the largest kinetic
energy, the largest change of the potential energy, and the largest work of each force, all of the rows so far. As these
are running maxima, rows that are written never change, wherever a run is cut or resumed; and the error is 1 at most. As
they are of rows, rows that all lie where nothing moves (a pendulum seen at its turning points) have a scale that is too
small. Where the scale is 0 nothing has moved, and the error is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polhode.arguments import Array, Indices
from polhode.kernel import layout as L
from polhode.systems.record import AuxiliaryVariable, System
from polhode.trajectory.quantities import balance_of_rows, writable

MASSLESS = "of bodies without mass"
"""How a note begins that says so of the energy."""
MOST_NAMED = 8
"""Most numbers of bodies in a note."""


class EnergyBalance(NamedTuple):
    """Energies of the rows of a run or of M runs, (n,) or (M, n), and what they tell of each run, () or (M,)."""

    energy: Array  # energy, change: (..., n): kinetic and potential energy, and its change since the first row
    change: Array
    error: Array  # (..., n): what no work explains, over the largest of all energies that there were to exchange
    # (..., K): the largest kinetic energy, then the largest change of the potential energy where there is one, then the
    # largest of each work
    largest: Array
    first: Indices  # (..., 2): the first rows at which the energy has exploded, and its error is large; n if never
    worst: Array  # (...): the largest error, in energy
    work: Array | None  # (..., n, F): the work of each force


def work_variables(auxiliary: Sequence[AuxiliaryVariable]) -> list[int]:
    """Which auxiliary variables are works."""
    return [k for k, own in enumerate(auxiliary) if own.quantity == "work"]


def energy_balance(
    system: System, states: Array, kinetic: Array, potential: Array | None, before: Array | None = None,
    begins: bool = True,
) -> EnergyBalance:  # fmt: skip
    """The balance of rows, of which the first is the start."""
    columns = [L.BODY * system.N + k for k in work_variables(system.auxiliary)]
    work = np.ascontiguousarray(states[..., columns]) if columns else np.empty((*kinetic.shape, 0))
    alone, n, F = kinetic.ndim == 1, kinetic.shape[-1], len(columns)
    M, P, none = 1 if alone else len(kinetic), int(potential is not None), np.empty((len(kinetic), 0))
    energies = writable(kinetic).reshape(M, n), (none if potential is None else writable(potential)).reshape(M, n * P)
    floors = np.zeros((M, 1 + P + F)) if before is None else before.reshape(M, -1)
    rows, largest, first, worst = np.empty((3, M, n)), np.zeros(floors.shape), np.empty((M, 2), np.int64), np.empty(M)
    balance_of_rows(*energies, work.reshape(M, n, F), floors, begins, *rows, largest, first, worst)
    j = 0 if alone else slice(None)
    return EnergyBalance._make((*rows[:, j], largest[j], first[j], worst[j], work if F else None))


def massless_note(mu: Array) -> str:
    """Note attached to the energies where bodies (..., N) have no mass; empty where all have."""
    found = np.flatnonzero((mu == 0.0).reshape(-1, mu.shape[-1]).any(axis=0))
    if not found.size:
        return ""
    numbers = ", ".join(map(str, found[:MOST_NAMED])) + (", ..." if found.size > MOST_NAMED else "")
    return f"{MASSLESS} ({numbers}) the energy says nothing"
