"""Indicators are refused where the steps with derivatives lead elsewhere than the run."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.chaos import growth
from polhode.errors import StepFailed

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


@pytest.mark.full
def test_states_that_loads_read_grow_with_the_rest():
    def torque(t, q, w, p, states):
        return (-0.1 * w[0], -0.1 * w[1], -0.1 * w[2]), 0.5 * states.x

    body = ph.rigid_body([1.0, 1.7, 2.3], torque=torque, states={"x": 1})
    found = ph.chaos.lyapunov(body, "mkrk:cv8", step=0.05, steps=800, **START)
    assert abs(float(found.exponent[0]) - 0.5) < 0.02
