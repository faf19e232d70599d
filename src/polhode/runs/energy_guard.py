"""Whether the energy of a run is what it must be: its change less the works of the loads, over the energies there are.

Where steps are too large, or numbers of different units meet, all numbers may stay finite and yet mean nothing: bodies
meet deep in their repulsion and fly apart with any speed, an orbit in kilometres about a centre in metres leaves in the
first step. What tells is the change of energy less the work of the loads, over what the exact motion can turn into each
other: the kinetic and potential energies of the start, the present potential energy, and the works.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.errors import NotFinite
from polhode.kernel import layout as L
from polhode.systems import System

LARGE = 0.1
"""Ratio from which on a run warns."""
BEYOND = 100.0
"""Ratio from which on a run counts as blown up; steps that are merely large stay below 1."""


def work_variables(auxiliary: Sequence[Any]) -> list[int]:
    """Which auxiliary variables are works."""
    return [k for k, own in enumerate(auxiliary) if own.quantity == "work"]


def energy_ratios(system: System, states: Any, potential: Any, kinetic: Any = None) -> Any:
    """Energy errors (n,) of states since the first of them, over the energies there are.

    Parameters
    ----------
    system : System
        Its energy tells (``Run.judged``).
    states : array (n, 13 N + S or more)
        The first of them the start.
    potential : array (n,) or None
        Their potential energies.
    kinetic : array (n,), optional
        Their kinetic energies, where they are known.
    """
    kinetic = system.kinetic_energies(states) if kinetic is None else kinetic
    change, scale = kinetic - kinetic[0], kinetic[0]
    if potential is not None:
        change, scale = change + (potential - potential[0]), scale + (np.abs(potential[0]) + np.abs(potential))
    columns = work_variables(system.auxiliary)
    if columns:
        work = states[:, [L.BODY * system.N + k for k in columns]]
        work = work - work[0]
        change, scale = change - work.sum(axis=1), scale + np.abs(work).sum(axis=1)
    change = np.abs(change)
    if np.ndim(scale) == 0:
        scale = np.full(len(change), scale)
    if (scale > 0.0).all():
        return change / scale
    return np.divide(change, scale, out=np.where(change > 0.0, np.inf, 0.0), where=scale > 0.0)


def first_beyond(ratios: Any, limit: float) -> int | None:
    """The first row whose ratio is not within the limit."""
    within = ratios <= limit
    return None if within.all() else int(np.argmin(within))


def first_blown(system: System, states: Any, potential: Any) -> int | None:
    """The first of several states that has blown up since the first of them, see ``energy_ratios``."""
    return first_beyond(energy_ratios(system, states, potential), BEYOND)


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
