"""Whether the energy of a run is what it must be: its error, on the scale of ``energy_error``.

Where steps are too large, or numbers of different units meet, all numbers may stay finite and yet mean nothing: bodies
meet deep in their repulsion and fly apart with any speed, an orbit in kilometres about a centre in metres leaves in the
first step. What tells is the change of energy less the work of the loads, over the energies there are to exchange
(``trajectory.energies``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.arguments import Array, Indices, Mask
from polhode.errors import NotFinite
from polhode.systems import System
from polhode.trajectory.energies import EnergyBalance, energy_balance

LARGE = 0.1
"""Error over the scale from which on a run warns."""
BEYOND = 100.0
"""Error over what else there was from which on a run counts as blown up; steps that are merely large stay below 1."""
ROUNDING = 2.0**-40
"""Error over the energy of the start up to which it is taken for rounding of the energies."""


def first_beyond(balance: EnergyBalance, from_start: bool = True) -> Indices:
    """The first row (...) of each run at which its energy has exploded; the number of rows if it never does.

    The kinetic energy is counted as at the start: what explodes must not be its own scale. All else is counted as it
    is, and the error has to be beyond its largest so far, too. One crude step has hardly changed the potential yet: in
    the row after the start (the second here, ``from_start``) the energy of the start counts besides.
    """
    none = np.zeros_like(balance.energy)
    there = balance.sizes[0][..., :1] + sum(balance.sizes[1:], none)
    if from_start:
        there[..., 1:2] += np.abs(balance.energy[..., :1])
    return _first(~(error_sizes(balance, from_start) <= np.maximum(BEYOND * there, sum(balance.largest[1:], none))))


def first_large(balance: EnergyBalance, from_start: bool = True) -> Indices:
    """The first row (...) of each run at which its error is large; the number of rows if it never is."""
    return _first(~(error_sizes(balance, from_start) <= LARGE * balance.scale))


def error_sizes(balance: EnergyBalance, from_start: bool = True) -> Array:
    """Sizes (..., n) of the errors, as far as they are more than rounding of the energies themselves.

    From rest, the row after the start (the second here, ``from_start``) tells nothing.
    """
    size = np.abs(balance.unexplained)
    size = np.where(size <= ROUNDING * np.abs(balance.energy[..., :1]), 0.0, size)
    if from_start:
        size[..., 1:2] *= balance.sizes[0][..., :1] != 0.0
    return size


def large_ratio(size: Any, largest: Sequence[Any]) -> Any:
    """The largest error of a run over the scale at its end, before which that of the first rows is small.

    It counts no further than something moved: rows that all lie at turning points have a scale that is too small.
    """
    return np.minimum(size, largest[0]) / np.maximum(sum(largest), np.finfo(float).tiny)


def _first(true: Mask) -> Indices:
    return np.where(true.any(axis=-1), true.argmax(axis=-1), true.shape[-1])


def blown(system: System, states: Array, potential: Array | None) -> bool:
    """Whether the energy of one of several states (n, 13 N + S or more) has exploded since the first of them."""
    balance = energy_balance(system, states, system.kinetic_energies(states), potential)
    return bool(0 < first_beyond(balance) < len(states))


def causes(system: System) -> str:
    """What may be behind a large energy error, in words."""
    found = ["mixed units (kilometres for metres, degrees for radians)"]
    if system.N > 1:
        found.append("bodies that come too near each other")
    if system.functions:
        found.append("a function that jumps")
    return ", ".join(found)


def blown_up(t: float, before: float, step: int, label: str, advice: str, system: System) -> NotFinite:
    """The error for a run that has blown up between two rows."""
    return NotFinite(
        f"the run blew up between t = {before:.9g} and t = {t:.9g}: {label!r} has changed the energy by more than "
        f"{BEYOND:g} times what there was; {advice}, and look for {causes(system)} (with "
        "settings={'guard': False} nothing looks)",
        step=step, time=t,
    )  # fmt: skip


def large_error(ratio: float, t: float, label: str, advice: str, system: System) -> str:
    """The words of a warning about a run whose energy error is large."""
    return (
        f"the energy error of {label!r} reaches {ratio:.2g} of all energies there are (from t = {t:.6g} on it is above "
        f"{LARGE:g}), so that this run is no approximation; {advice}, or look for {causes(system)}"
    )
