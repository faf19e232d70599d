"""The balance of energy of recorded rows, and the one scale of its error, which no constant in the potential changes.

The error is what the energy has changed by, less all work. Its scale is what there is of energy to exchange: the
largest kinetic energy, the largest change of the potential energy, and the largest work of each force, all of the rows
so far. As these are running maxima, rows that are written never change, wherever a run is cut or resumed; and the error
is 1 at most. As they are of rows, rows that all lie where nothing moves (a pendulum seen at its turning points) have a
scale that is too small. Where the scale is 0 nothing has moved, and the error is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from polhode.arguments import Array
from polhode.kernel import layout as L
from polhode.systems.record import AuxiliaryVariable, System

MASSLESS = "of bodies without mass"
"""How a note begins that says so of the energy."""
MOST_NAMED = 8
"""Most numbers of bodies in a note."""


class EnergyBalance(NamedTuple):
    """Energies of the rows of a run or of M runs, (n,) or (M, n)."""

    energy: Array  # energy, change: (..., n): kinetic and potential energy, and its change since the first row
    change: Array
    work: Array | None  # (..., n, F): the work of each force
    unexplained: Array  # (..., n): the change less all work
    # (..., n): the kinetic energy, then the size of the change of the potential energy where there is one, then that of
    # each work
    sizes: list[Array]
    largest: list[Array]  # (..., n): the largest of each of all rows so far

    @property
    def scale(self) -> Array:
        """What there is of energy to exchange, (..., n)."""
        return reduce(np.add, self.largest)

    @property
    def error(self) -> Array:
        """What no work explains, over the scale, (..., n)."""
        scale = self.scale
        with np.errstate(invalid="ignore"):
            return np.divide(self.unexplained, scale, out=np.zeros_like(scale), where=scale != 0.0)


def work_variables(auxiliary: Sequence[AuxiliaryVariable]) -> list[int]:
    """Which auxiliary variables are works."""
    return [k for k, own in enumerate(auxiliary) if own.quantity == "work"]


def energy_balance(
    system: System, states: Array, kinetic: Array, potential: Array | None, before: Sequence[float] | None = None
) -> EnergyBalance:
    """The balance of rows, of which the first is the start."""
    energy = kinetic.copy() if potential is None else kinetic + potential
    change = energy - energy[..., :1]
    sizes, work, unexplained = [kinetic], None, change
    if potential is not None:
        sizes.append(np.abs(potential - potential[..., :1]))
    columns = [L.BODY * system.N + k for k in work_variables(system.auxiliary)]
    if columns:
        work = states[..., columns]
        done = work - work[..., :1, :]
        unexplained = change - done.sum(axis=-1)
        sizes += [np.abs(done[..., k]) for k in range(len(columns))]
    largest = [np.maximum.accumulate(size, axis=-1) for size in sizes]
    if before is not None:
        for one, floor in zip(largest, before, strict=True):
            np.maximum(one[..., 1:], floor, out=one[..., 1:])
    return EnergyBalance(energy, change, work, unexplained, sizes, largest)


def massless_note(mu: Array) -> str:
    """Note attached to the energies where bodies (..., N) have no mass; empty where all have."""
    found = np.flatnonzero((mu == 0.0).reshape(-1, mu.shape[-1]).any(axis=0))
    if not found.size:
        return ""
    numbers = ", ".join(map(str, found[:MOST_NAMED])) + (", ..." if found.size > MOST_NAMED else "")
    return f"{MASSLESS} ({numbers}) the energy says nothing"
