"""The balance of energy of recorded rows, and the one scale of its error, which no constant in the potential changes.

Where steps are too large, or units mixed, all numbers may stay finite and yet mean nothing; what tells is this error:
what the energy has changed by, less all work. Its scale is what there is of energy to exchange: the largest kinetic
energy, the largest change of the potential energy, and the largest work of each force, all of the rows so far. As these
are running maxima, rows that are written never change, wherever a run is cut or resumed; and the error is 1 at most. As
they are of rows, rows that all lie where nothing moves (a pendulum seen at its turning points) have a scale that is too
small. Where the scale is 0 nothing has moved, and the error is 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polhode.arguments import Array, Indices
from polhode.trajectory.quantities import Constants, OfBodies, balance_of_rows, rows_of_run, writable

MASSLESS = "of bodies without mass"  # how a note begins that says so of the energy
MOST_NAMED = 8  # most numbers of bodies in a note
NOTHING, NONE = np.empty(0), np.empty((0, 0))
NO_ROLE = NONE, NONE, np.zeros(2, dtype=np.int64)


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


def energy_balance(
    work_columns: list[int], states: Array, kinetic: Array, potential: Array | None, before: Array | None = None,
    begins: bool = True,
) -> EnergyBalance:  # fmt: skip
    """The balance of rows, of which the first is the start; ``work_columns`` are those of the states."""
    shape, kinetic, potential = kinetic.shape, writable(kinetic), NOTHING if potential is None else writable(potential)
    work = np.ascontiguousarray(states[..., work_columns]) if work_columns else None
    M, F = 1 if len(shape) == 1 else shape[0], len(work_columns)
    largest, first, worst = np.zeros((M, 1 + (potential is not NOTHING) + F)), np.empty((M, 2), np.int64), np.empty(M)
    energy, change, error = np.empty(shape), np.empty(shape), np.empty(shape)
    balance_of_rows(
        kinetic.ravel(), potential.ravel(), NONE if work is None else work.reshape(-1, F),
        np.zeros(largest.shape) if before is None else before.reshape(M, -1), begins,
        energy.ravel(), change.ravel(), error.ravel(), largest, first, worst,
    )  # fmt: skip
    of_runs = (largest, first, worst) if len(shape) > 1 else (largest[0], first[0], worst[0])
    return EnergyBalance._make((energy, change, error, *of_runs, work))


def of_one_body(
    times: Array, states: Array, constants: Constants, work_columns: list[int], translates: bool,
    potential: tuple[Array, Array, Indices] | None,
) -> tuple[OfBodies, Array | None, EnergyBalance]:  # fmt: skip
    """What follows from rows (n, ...) of one body, or (M, n, ...) of M runs of one each, their potential energies and
    balances, in one call; ``potential``: bodies, parameters and the address of its role. Velocities of a body that only
    rotates, which nobody asks for, are written over."""
    shape, F, P = states.shape[:-1], len(work_columns), int(potential is not None)
    rows, M = states.reshape(-1, states.shape[-1]), 1 if len(shape) == 1 else shape[0]
    n, of = len(rows), (*shape, 1, 3)
    total, energy, change, error = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    made = np.empty((*shape, 1, 4)), np.empty(of), np.empty(of), np.empty(of), np.empty(of)
    made = made if translates else (*made[:3], made[4], made[4])
    work = np.ascontiguousarray(states[..., work_columns]) if F else None
    largest, first, worst = np.zeros((M, 1 + P + F)), np.empty((M, 2), np.int64), np.empty(M)
    energies = None if potential is None else np.empty(shape)
    rows_of_run(
        times, rows, *constants[:3], *(a.reshape(n, 1, -1) for a in made), total.reshape(n, 1), *(potential or NO_ROLE),
        NOTHING if energies is None else energies.ravel(), NOTHING, NONE if work is None else work.reshape(n, F),
        np.zeros(largest.shape), total.ravel(), energy.ravel(), change.ravel(), error.ravel(), largest, first, worst,
    )  # fmt: skip
    of_runs = (largest, first, worst) if len(shape) > 1 else (largest[0], first[0], worst[0])
    return OfBodies(*made, total), energies, EnergyBalance._make((energy, change, error, *of_runs, work))


def massless_note(mu: Array) -> str:
    """Note attached to the energies where bodies (..., N) have no mass; empty where all have."""
    found = np.flatnonzero((mu == 0.0).reshape(-1, mu.shape[-1]).any(axis=0))
    if not found.size:
        return ""
    numbers = ", ".join(map(str, found[:MOST_NAMED])) + (", ..." if found.size > MOST_NAMED else "")
    return f"{MASSLESS} ({numbers}) the energy says nothing"
