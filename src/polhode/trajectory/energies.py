"""The balance of energy of recorded rows, and the one scale of its error, which no constant in the potential changes.

The error is what the energy has changed by, less all work. Its scale is what there is of energy to exchange: the
largest kinetic energy, the largest change of the potential energy, and the largest work of each force, all of the rows
so far. As these are running maxima, rows that are written never change, wherever a run is cut or resumed; and the error
is 1 at most. As they are of rows, rows that all lie where nothing moves (a pendulum seen at its turning points) have a
scale that is too small. Where the scale is 0 nothing has moved, and the error is 0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from polhode.arguments import Array, Indices
from polhode.kernel import jit, layout as L
from polhode.kernel.signatures import BALANCE
from polhode.systems.record import AuxiliaryVariable, System
from polhode.trajectory.quantities import writable

MASSLESS = "of bodies without mass"
"""How a note begins that says so of the energy."""
MOST_NAMED = 8
"""Most numbers of bodies in a note."""


LARGE = 0.1
"""Error over the scale from which on a run warns."""
BEYOND = 100.0
"""Error over what else there was from which on a run counts as blown up; steps that are merely large stay below 1."""
ROUNDING = 2.0**-40
"""Error over the energy of the start up to which it is taken for rounding of the energies."""


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


@jit.inlined
def above(top, one):
    """The larger of two numbers; NaN where one of them is."""
    return one if top == top and not top >= one else top


def balance_of_rows(kinetic, potential, works, before, begins, energy, change, error, largest, first, worst):
    """Write the balance of each run j from its energies [j, k] and works [j, k, f] at rows k; ``potential`` has no
    columns where there is none, and ``before`` [j] is the largest of rows that were between the first and the second.

    What explodes must not be its own scale: for that the kinetic energy is counted as at the start, all else as it is,
    and the error has to be beyond its largest so far, too. One crude step has hardly changed the potential yet: in the
    row after the start (the second here, if it ``begins``) the energy of the start counts besides. From rest, that row
    tells nothing. An error that is no more than rounding of the energies themselves is none.
    """
    n, P = kinetic.shape[1], min(1, potential.shape[1])
    for j in range(kinetic.shape[0]):
        first[j, 0], first[j, 1], worst[j] = n, n, 0.0
        for k in range(n):
            energy[j, k] = kinetic[j, k] + potential[j, k] if P else kinetic[j, k]
            change[j, k] = energy[j, k] - energy[j, 0]
            done, scale, there, others = 0.0, 0.0, 0.0, 0.0
            for i in range(largest.shape[1]):
                size = kinetic[j, k]
                if i > P:
                    work = works[j, k, i - 1 - P] - works[j, 0, i - 1 - P]
                    size, done = abs(work), done + work
                elif i > 0:
                    size = abs(potential[j, k] - potential[j, 0])
                top = size if k == 0 else above(largest[j, i], size)
                largest[j, i] = above(top, before[j, i]) if k == 1 else top
                scale += largest[j, i]
                if i > 0:
                    there, others = there + size, others + largest[j, i]
            off = change[j, k] - done
            error[j, k] = 0.0 if scale == 0.0 else off / scale
            off, there = abs(off), kinetic[j, 0] + there
            if off <= ROUNDING * abs(energy[j, 0]):
                off = 0.0
            if k == 1 and begins:
                off, there = off * float(kinetic[j, 0] != 0.0), there + abs(energy[j, 0])
            if first[j, 0] == n and not off <= above(BEYOND * there, others):
                first[j, 0] = k
            if first[j, 1] == n and not off <= LARGE * scale:
                first[j, 1] = k
            worst[j] = above(worst[j], off)


@functools.cache
def _loop() -> Callable[..., None]:
    return jit.compile_kernel(balance_of_rows, BALANCE)


def work_variables(auxiliary: Sequence[AuxiliaryVariable]) -> list[int]:
    """Which auxiliary variables are works."""
    return [k for k, own in enumerate(auxiliary) if own.quantity == "work"]


def energy_balance(
    system: System, states: Array, kinetic: Array, potential: Array | None, before: Array | None = None,
    begins: bool = True,
) -> EnergyBalance:  # fmt: skip
    """The balance of rows, of which the first is the start."""
    columns = [L.BODY * system.N + k for k in work_variables(system.auxiliary)]
    works = np.ascontiguousarray(states[..., columns]) if columns else np.empty((*kinetic.shape, 0))
    alone, n, F = kinetic.ndim == 1, kinetic.shape[-1], len(columns)
    M, P = 1 if alone else len(kinetic), int(potential is not None)
    energies = writable(kinetic).reshape(M, n), np.empty((M, 0)) if potential is None else writable(potential)
    made = [np.empty((M, n)), np.empty((M, n)), np.empty((M, n)), np.zeros((M, 1 + P + F)), np.empty((M, 2), np.int64)]
    worst, floors = np.empty(M), np.zeros((M, 1 + P + F)) if before is None else before.reshape(M, -1)
    _loop()(energies[0], energies[1].reshape(M, n * P), works.reshape(M, n, F), floors, begins, *made, worst)
    told = [a[0] for a in (*made, worst)] if alone else [*made, worst]
    return EnergyBalance(*told, works if F else None)


def massless_note(mu: Array) -> str:
    """Note attached to the energies where bodies (..., N) have no mass; empty where all have."""
    found = np.flatnonzero((mu == 0.0).reshape(-1, mu.shape[-1]).any(axis=0))
    if not found.size:
        return ""
    numbers = ", ".join(map(str, found[:MOST_NAMED])) + (", ..." if found.size > MOST_NAMED else "")
    return f"{MASSLESS} ({numbers}) the energy says nothing"
