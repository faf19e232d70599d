"""Whether a run of many bodies has blown up: its energy is far from what it was, though the motion would keep it.

Where steps are too large for what bodies do to each other, two of them meet deep in their repulsion and fly apart with
any speed: all numbers stay finite. What tells is the change of energy over the kinetic and potential energies of the
start and the present potential energy, which an exact motion can turn into each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.errors import NotFinite
from polhode.kernel.signatures import ANGULAR, BODY, MOMENTUM
from polhode.systems import System

BEYOND = 100.0
"""Ratio from which on a run counts as blown up; steps that are merely large stay below 1."""


def kinetic_energy(system: System, states: Any) -> Any:
    """Kinetic energies (n,) of states (n, 13 N or more)."""
    body = states[:, : BODY * system.N].reshape(len(states), system.N, BODY)
    p, m = body[:, :, MOMENTUM : MOMENTUM + 3], body[:, :, ANGULAR : ANGULAR + 3]
    return 0.5 * ((p * p / system.mass[:, None]).sum(axis=(1, 2)) + (m * m / system.moments).sum(axis=(1, 2)))


def first_blown(system: System, states: Any, potential: Any) -> int | None:
    """The first of several states, with their potential energies (n,), that has blown up since the first of them."""
    kinetic = kinetic_energy(system, states)
    change = np.abs(kinetic + potential - kinetic[0] - potential[0])
    scale = kinetic[0] + np.abs(potential[0]) + np.abs(potential)
    blown = np.flatnonzero(~(change <= BEYOND * scale))
    return int(blown[0]) if blown.size else None


def blown_up(t: float, before: float, step: int, label: str, advice: str) -> NotFinite:
    """The error for a run that has blown up between two rows."""
    return NotFinite(
        f"the run blew up between t = {before:.9g} and t = {t:.9g}: {label!r} has changed the energy by more than "
        f"{BEYOND:g} times what there was; {advice}, and look for bodies that come too near each other",
        step=step, time=t,
    )  # fmt: skip
