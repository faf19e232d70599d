"""Indicators are refused where the steps with derivatives lead elsewhere than the run."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.chaos import growth
from polhode.errors import InvalidInput, StepFailed

TOP = ph.heavy_top([1.0, 1.7, 2.3], [0.1, 0.2, 1.0], 2.0)
START = {"attitude": np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95), "angular_momentum": [0.3, 0.4, 2.0]}


def test_steps_that_lead_elsewhere_are_refused(monkeypatch):
    """As with the derivatives of other loads: here the constants of the engine are another top's."""
    real = growth._constants

    def other(kind, first, last):
        found = real(kind, first, last)
        parameters = found.parameters.copy()
        parameters[:, 2] *= 1.001
        return growth.Constants(found.bodies, found.frames, parameters)

    monkeypatch.setattr(growth, "_constants", other)
    with pytest.raises(StepFailed, match=r"lead to another angular momentum, off by .*; they cannot be trusted"):
        ph.chaos.megno(TOP, "v2", step=0.05, steps=200, **START)


def test_systems_whose_loads_read_states_are_refused():
    body = ph.rigid_body([1.0, 1.7, 2.3], torque=lambda t, q, w, p, states: (w, states.x), states={"x": 1})
    with pytest.raises(InvalidInput, match="read numbers of its own, such as states or wheels"):
        ph.chaos.megno(body, "v2", step=0.05, steps=20, **START)
