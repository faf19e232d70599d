"""Splitting methods: what the step does beyond what every row promises (that is in test_contract.py)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.checks import exact_state, state_distance, stepper, trial_problem
from polhode.methods import method
from polhode.methods.splitting_tables import SCHEMES
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator
from polhode.systems import System

TOP = ph.heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0)
START = {"attitude": ph.rotation.exp_quaternion((0.3, 0.1, 0.2)), "angular_momentum": (0.6, 1.0, 0.5)}
PROCESSED = [name for name, scheme in SCHEMES.items() if scheme.pre]


def last(ds):
    return np.concatenate([ds.attitude.values[-1], ds.angular_momentum.values[-1]])


# ------------------------------------------------------------------ loads are evaluated once
@each(
    ("name", "once", "then"),
    [("v2", 1, 1), ("v2_dkd", 0, 1), ("s4_6", 0, 6), ("rkn4_6b", 1, 6), ("rkn6_14a", 0, 14), ("sp10", 1, 35)],
)
@each("every", [1, 7, 50])
def test_the_last_load_of_a_step_is_the_first_of_the_next(name, once, then, every):
    """However a run is recorded and cut into slices."""
    ds = ph.integrate(TOP, name, step=0.01, steps=50, every=every, **START)
    assert ds.attrs["load_evaluations"] == once + 50 * then == once + 50 * method(name).promises.evaluations


def test_reused_loads_change_no_bit():
    """A run whose every step is a call of its own, which evaluates all its loads, gives the same numbers."""
    system, y = trial_problem("time", "potential", "place", moves=True, bodies=2)
    whole = Integrator(system, method("rkn4_6b"), y)
    assert whole.march(0, 40, 41, 0.3, 0.1) == 0
    parts = Integrator(system, method("rkn4_6b"), y)
    for k in range(40):
        parts.left_at = None
        assert parts.march(k, 1, 41, 0.3, 0.1) == 0
    assert np.array_equal(whole.y, parts.y)
    assert (whole.evaluations, parts.evaluations) == (1 + 40 * 6, 40 * 7)


def test_loads_that_depend_on_velocities_are_never_reused():
    def drag(t, q, omega, parameters):
        return (-0.1 * omega[0], -0.2 * omega[1], -0.3 * omega[2])

    body = ph.rigid_body((1.0, 1.5, 2.2), torque=drag)
    assert body.velocity_dependent
    run = {"step": 0.01, "steps": 50, "angular_momentum": (0.6, 1.0, 0.5)}
    ds = ph.integrate(ph.rigid_body((1.0, 1.5, 2.2), torque=drag, work=False), "v2", **run)
    assert ds.attrs["load_evaluations"] == 50 * 2 * (1 + 3)  # of each kick its start, and sweeps until nothing changes
    ds = ph.integrate(body, "v2", **run)
    assert ds.attrs["load_evaluations"] == 50 * 2 * (1 + 3 + 1)  # and once more for its work


# ------------------------------------------------------------------ processed schemes
@each("name", PROCESSED)
def test_processed_schemes_show_the_state_of_the_system_at_every_row(name):
    """Rows in the middle of a run are as right as its end, and what is recorded changes nothing."""
    ds = ph.integrate(TOP, name, step=0.05, steps=40, **START)
    reference = ph.integrate(TOP, "mkrk:gauss8", step=0.01, steps=200, every=5, **START)
    error = np.linalg.norm(ds.angular_momentum - reference.angular_momentum, axis=1)
    assert error[0] == 0.0
    assert error.max() < (2e-3 if name.startswith("wisdom") else 2e-5)
    sparse = ph.integrate(TOP, name, step=0.05, steps=40, every=20, **START)
    assert np.array_equal(sparse.attitude.values, ds.attitude.values[::20])


@each("name", ["pmlf6", "p8", "plf7_6_4"])
def test_processed_schemes_go_on_from_a_row_and_with_another_step(name):
    """The state shown is the system's: another run with another step may start there."""
    first = ph.integrate(TOP, name, step=0.05, steps=20, **START)
    second = ph.integrate(
        TOP, name, step=0.04, steps=25, start={"time": 1.0}, attitude=first.attitude.values[-1],
        angular_momentum=first.angular_momentum.values[-1],
    )  # fmt: skip
    whole = ph.integrate(TOP, "mkrk:gauss8", step=0.01, steps=200, **START)
    assert np.linalg.norm(last(second) - last(whole)) < 5e-6
    same = ph.integrate(
        TOP, name, step=0.05, steps=20, start={"time": 1.0}, attitude=first.attitude.values[-1],
        angular_momentum=first.angular_momentum.values[-1],
    )  # fmt: skip
    assert np.linalg.norm(last(same) - last(ph.integrate(TOP, name, step=0.05, steps=40, **START))) < 2e-14


def test_processed_schemes_reach_times_off_the_grid_by_a_step_of_their_own():
    at = ph.integrate(TOP, "pmlf6", step=0.05, steps=20, t_eval=[0.0, 0.231, 0.5, 0.987], **START)
    rows = ph.integrate(TOP, "mkrk:gauss8", step=0.001, steps=1000, **START)
    for t, m in zip(at.time.values, at.angular_momentum.values, strict=True):
        assert np.linalg.norm(m - rows.angular_momentum.values[round(t / 0.001)]) < 1e-7
    grid = ph.integrate(TOP, "pmlf6", step=0.05, steps=20, **START)
    assert np.array_equal(at.angular_momentum.values[2], grid.angular_momentum.values[10])


def test_a_processor_that_runs_ahead_in_time_sees_loads_of_its_own_time():
    """The free motions of this processor do not sum to zero; with loads that depend on time it was of order 1."""
    ahead = sum(step[1] for step in SCHEMES["plf7_6_4"].pre if step[0] == "A")
    assert abs(ahead) > 0.1
    system, y = trial_problem("time", "potential")
    end = exact_state(system, y, 0.9, 2.0)
    advance = stepper("plf7_6_4", system, y)
    coarse, fine = (state_distance(advance(y, 0.9, 2.0 / n, n), end, system) for n in (16, 32))
    assert np.log2(coarse / fine) > 3.8


# ------------------------------------------------------------------ commutator loads
@each("name", ["chin4b", "pmlf6", "fg6_5", "nystrom4_v"])
def test_commutator_loads_by_differences_give_the_same_step(name):
    """A system without the analytic form takes differences: about 1e-12 of a small term."""
    satellite = ph.systems.gravity_gradient((1.0, 1.6, 2.1), 1.3, 1.0)
    y = start_state(satellite, **START)
    plain = replace(satellite, commutator=None)
    assert "commutator" in satellite.provides and "commutator" not in plain.provides
    given, found = (stepper(name, system, y)(y, 0.0, 0.2, 20) for system in (satellite, plain))
    assert state_distance(found, given, satellite) < 2e-14 * 20
    assert not np.array_equal(found, given)


def test_differences_cost_four_evaluations():
    given = ph.integrate(TOP, "chin4b", step=0.05, steps=20, **START)
    found = ph.integrate(replace(TOP, commutator=None), "chin4b", step=0.05, steps=20, **START)
    assert given.attrs["load_evaluations"] == 20 * 4  # two loads, each with its commutator
    assert found.attrs["load_evaluations"] == 20 * 10
    assert abs(found.energy_error.values).max() < 1e-5


def test_where_there_are_no_loads_there_is_no_commutator():
    body = replace(ph.free_body((1.0, 1.5, 2.2)), commutator=None)
    ds = ph.integrate(body, "pmlf6", step=0.3, steps=10, angular_momentum=(0.6, 1.0, 0.5))
    assert abs(ds.energy_error.values).max() < 1e-14


# ------------------------------------------------------------------ flows after the slash
@each(
    ("text", "order", "free"),
    [("s6_10/mr", 2, 2), ("s6_10/mr6", 6, 6), ("v2/dmv10", 2, 10), ("s4_6/semiexact6", 4, 6), ("v2", 2, np.inf)],
)
def test_a_composition_is_of_the_lower_order(text, order, free):
    promises = method(text).promises
    assert (promises.order, promises.order_free) == (order, free)


def test_names_of_flows():
    assert method("s6_10/exact").label == "s6_10"
    assert method("s6_10/mr6").label == "s6_10/mr6"
    assert method("v2/dmv6:fixed_point").label == "v2/dmv6:fixed_point"
    assert method("v2/dmv6", solver="fixed_point").label == "v2/dmv6:fixed_point"
    with pytest.raises(ph.errors.InvalidInput, match=r"unknown free flow 'exakt'.*exact"):
        method("s6_10/exakt")
    with pytest.raises(ph.errors.InvalidInput, match="unknown free flow 'dmv7'"):
        method("s6_10/dmv7")
    with pytest.raises(ph.errors.InvalidInput, match="composes no flows"):
        method("trapm/exact")
    with pytest.raises(ph.errors.InvalidInput, match="takes no options"):
        method("s6_10:newton")


def test_a_flow_by_its_own_name_is_the_one_between_two_half_kicks():
    one = ph.integrate(TOP, "symmetric", step=0.05, steps=20, **START)
    two = ph.integrate(TOP, "v2/symmetric", step=0.05, steps=20, **START)
    assert np.array_equal(one.attitude.values, two.attitude.values)
    assert one.attrs["citation"] == "vilmart2013"


# ------------------------------------------------------------------ rows of one's own
def test_a_user_adds_a_scheme_in_a_few_lines():
    mine = ph.methods.Scheme(
        "ruth_three", "Ruth's third-order scheme", "ruth1983", 3,
        [("B", "7/24"), ("A", "2/3"), ("B", "3/4"), ("A", "-2/3"), ("B", "-1/24"), ("A", 1)],
    )  # fmt: skip
    report = ph.checks.check_method(ph.methods.splitting(mine))
    assert report.passed, str(report)
    wrong = ph.methods.splitting(
        ph.methods.Scheme("ruth_wrong", "", "", 3, [("B", 0.3), ("A", 0.6), ("B", 0.7), ("A", 0.4)])
    )
    assert not ph.checks.check_method(wrong)["order, pinned body"].passed
    ph.methods.add_method(ph.methods.splitting(mine))
    try:
        assert ph.integrate(TOP, "ruth_three/dmv6", step=0.05, steps=2, **START).attrs["order"] == 3
    finally:
        del ph.methods.METHODS["ruth_three"]


def test_a_system_of_particles_needs_no_free_rotation():
    spring = ph.particle(2.0, stiffness=(3.0, 1.0, 2.0))
    ds = ph.integrate(spring, "rkn6_14a", step=0.1, steps=100, position=(1, 0, 0.5), velocity=(0, 1, 0))
    exact = np.cos(np.sqrt(1.5) * ds.time.values)
    assert np.abs(ds.position.values[:, 0] - exact).max() < 2e-9
    assert isinstance(spring, System)


@each(("name", "order"), [("semiexact14", 14), ("semiexact2_matrix", 2), ("hermite6", 6), ("mr10", 10), ("dmv4", 4)])
def test_free_flows_of_any_order_are_methods_too(name, order):
    promises = method(name).promises
    assert method(name).method.name == name and promises.order_free == order and promises.order == 2


def test_the_largest_step_counts_the_processor_too():
    """The corrector of wisdom7 turns bodies by 2.5 steps at once, its kernel by half a step."""
    m, j = np.array([0.6, 1.0, 0.5]), np.array([1.0, 0.5, 0.4])
    alone, corrected = (method(name).prepare().largest(m, j) for name in ("dmv6", "wisdom7/dmv6"))
    assert alone / corrected == pytest.approx(2.50998, rel=1e-5)
