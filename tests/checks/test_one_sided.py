"""``check_system`` of loads with a kink: a tether, a contact. They are judged where they are smooth, and fully."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import polhode as ph
from cover import chosen, some
from each import each
from polhode.checks.system import _defect_line
from polhode.checks.system_measures import gradient_defect
from polhode.runs.initial_state import start_state

STIFFNESS, LENGTH = 30.0, 1.0
AT_LENGTH = {"position": (1.0, 0.0, 0.02), "velocity": (0.3, 1.0, 0.0)}
"""Some of the states tried have a slack tether, some a taut one, and many pass from one to the other."""


def tether(t, position, parameters):
    return 0.5 * parameters[0] * np.maximum(0.0, np.sqrt(position @ position) - parameters[1]) ** 2


def pull(t, position, velocity, parameters):
    distance = np.sqrt(position @ position)
    return -parameters[0] * np.maximum(0.0, distance - parameters[1]) / distance * position


def drag(t, position, velocity, parameters):
    return -0.1 * velocity


def wall(t, q, parameters):
    """A spring that a tip meets when it has risen."""
    height = 2.0 * (q[1] * q[3] - q[0] * q[2])
    return 0.5 * parameters[0] * np.where(height > 0.1, (height - 0.1) ** 2, 0.0)


def declared(force, energy=tether):
    """A tether by its force, and the energy it is said to keep."""
    system = ph.particle(force=force, reported_energy=energy, parameters=(STIFFNESS, LENGTH))
    return replace(system, conserves=("energy",))


RIGHT = {
    "a tether by its potential": lambda: ph.particle(potential=tether, parameters=(STIFFNESS, LENGTH)),
    "a tether by its force": lambda: declared(pull),
    "a tether and drag": lambda: ph.particle(potential=tether, force=drag, parameters=(STIFFNESS, LENGTH)),
    "a tip at a wall": lambda: ph.rigid_body((1, 2, 2.5), potential=wall, parameters=(5.0,)),
}


@each("seed", some(range(4), 1))
@each("name", RIGHT)
def test_a_right_one_is_not_reported(name, seed):
    system = RIGHT[name]()
    report = ph.checks.check_system(system, states=10, seed=seed, **(AT_LENGTH if system.translates else {}))
    assert report.passed, report
    judged = {"a tether and drag": "works"}.get(name, "conserves energy")
    assert judged in {line.what for line in report.lines}


def test_where_nothing_is_smooth_it_is_told():
    def rough(t, position, parameters):
        return position @ position + 1e-3 * np.sin(1e9 * (position[0] + position[1] + position[2]))

    system = ph.particle(force=lambda t, position, velocity, parameters: -2.0 * position, reported_energy=rough)
    assert np.isnan(gradient_defect(system, start_state(system, position=(1.0, 0.2, 0.3))))
    one, none = (_defect_line("loads", "are -dU", found, 1e-8) for found in ([1e-12, np.nan], [np.nan, np.nan]))
    assert one.passed and one.measured == "relative difference 1.0e-12, at 1 of 2 states"
    assert not none.passed and none.measured == "smooth at none of the states"


def sign(t, position, velocity, parameters):
    return -pull(t, position, velocity, parameters)


def stiffer(t, position, velocity, parameters):
    return (1.0 + 1e-6) * pull(t, position, velocity, parameters)


def longer(t, position, velocity, parameters):
    distance = np.sqrt(position @ position)
    return -parameters[0] * np.maximum(0.0, distance - parameters[1] - 1e-5) / distance * position


def two_sided(t, position, velocity, parameters):
    distance = np.sqrt(position @ position)
    return -parameters[0] * (distance - parameters[1]) / distance * position


def one_way(t, position, velocity, parameters):
    """It pulls only while it grows."""
    return np.where(position @ velocity > 0.0, 1.0, 0.5) * pull(t, position, velocity, parameters)


def beside(t, position, velocity, parameters):
    across = np.array([-position[1], position[0], 0.0])
    return pull(t, position, velocity, parameters) + 1e-4 * across * np.maximum(
        0.0, np.sqrt(position @ position) - parameters[1]
    )


@each(
    ("wrong", "seed"),
    chosen(
        product([sign, stiffer, longer, two_sided, one_way, beside], range(2)),
        [(stiffer, 0), (one_way, 0), (beside, 1)],
    ),
)
def test_a_wrong_one_is_found(wrong, seed):
    report = ph.checks.check_system(declared(wrong), states=10, seed=seed, **AT_LENGTH)
    assert "loads and potential" in {line.what for line in report.failures}, report


def test_wrong_energy_alone_is_found():
    """Loads that are right at rest, and do work in motion while the tether is taut."""

    def damped(t, position, velocity, parameters):
        taut = np.where(np.sqrt(position @ position) > parameters[1], 1.0, 0.0)
        return pull(t, position, velocity, parameters) - 1e-4 * taut * velocity

    failed = {line.what for line in ph.checks.check_system(declared(damped), states=10, **AT_LENGTH).failures}
    assert {"loads in motion", "conserves energy"} <= failed


def test_a_span_that_is_asked_for_is_not_shortened():
    with pytest.raises(ph.errors.InvalidInput, match="for a span of 3, or its loads have a kink on the way"):
        ph.checks.check_system(RIGHT["a tether by its potential"](), states=10, span=3.0, **AT_LENGTH)
