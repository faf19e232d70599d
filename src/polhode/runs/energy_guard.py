"""Whether the energy of a run is what it must be: its error, on the scale of ``energy_error``.

Where steps are too large, or numbers of different units meet, all numbers may stay finite and yet mean nothing: bodies
meet deep in their repulsion and fly apart with any speed, an orbit in kilometres about a centre in metres leaves in the
first step. What tells is the change of energy less the work of the loads, over the energies there are to exchange
(``trajectory.energies``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.arguments import Array
from polhode.errors import NotFinite
from polhode.systems import System
from polhode.trajectory.energies import BEYOND, LARGE, energy_balance


def large_ratio(worst: Any, largest: Array) -> Any:
    """The largest error of a run over the scale at its end, before which that of the first rows is small.

    It counts no further than something moved: rows that all lie at turning points have a scale that is too small.
    """
    return np.minimum(worst, largest[..., 0]) / np.maximum(largest.sum(axis=-1), np.finfo(float).tiny)


def blown(system: System, states: Array, potential: Array | None) -> bool:
    """Whether the energy of one of several states (n, 13 N + S or more) has exploded since the first of them."""
    balance = energy_balance(system, states, system.kinetic_energies(states), potential)
    return bool(0 < balance.first[0] < len(states))


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
