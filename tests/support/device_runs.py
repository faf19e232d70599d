"""Runs for engines of devices: a system of bodies at rest in a row, and a method."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from polhode.kernel import layout as L
from polhode.methods import method
from polhode.runs.integrator import Integrator


def resting(system):
    """A state of bodies at rest in a row; those that do not move are at the origin."""
    y = np.zeros((system.N, L.BODY))
    y[:, L.ATTITUDE] = 1.0
    y[:, L.POSITION] = np.where(np.isfinite(system.mass), 1.0 + np.arange(system.N), 0.0)
    return y.ravel()


class RunOf:
    """What an engine asks of a run that has not begun."""

    adaptive = False

    def __init__(self, system, chosen):
        self.system, self.chosen = system, method(chosen)

    @cached_property
    def integrator(self):
        return Integrator(self.system, self.chosen, resting(self.system), limit=self.chosen.method.range)
