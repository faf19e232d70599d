"""Taylor methods of systems with a series of their own: against DOP853, orders, names, the series role."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import polhode as ph
from cover import crossed
from each import each
from loads_by_hand import top_loads
from polhode.algebra import rotation
from polhode.algebra.quaternion import rotate_inverse
from polhode.checks import (
    Report,
    check_method,
    check_system,
    exact_state,
    load_caller,
    measure_order,
    problems,
    state_distance,
    stepper,
)
from polhode.checks.method import _kept_line, _order_lines, _symmetry_line, _symplectic_line
from polhode.errors import InvalidInput
from polhode.kernel import jit, layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.methods import METHODS, method
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator
from polhode.systems import System

TENSOR = np.array([[2.0, 0.1, 0.0], [0.1, 1.5, 0.2], [0.0, 0.2, 1.0]])
START = {"attitude": rotation.exp_quaternion((0.4, -0.7, 0.3)), "angular_momentum": (0.8, -0.5, 1.1)}
SYSTEMS = {
    "free": lambda inertia: ph.free_body(inertia),
    "top": lambda inertia: ph.heavy_top(inertia, (0.1, 0.2, 0.9), 3.0),
    "gradient": lambda inertia: ph.systems.gravity_gradient(inertia, 2.0, 1.7),
    "wall": lambda inertia: ph.systems.soft_wall(inertia),
    "wall, physical": lambda inertia: ph.systems.soft_wall(inertia, "physical"),
}
original = jit.hole("original(part, t, k, u, bodies, parameters, out)", "The role that is spoiled.")


def compare(system, y, h=0.15, steps=8, name="taylor20"):
    """Distance from DOP853, which uses the loads, not their series, and the quaternion's four equations."""
    end = stepper(name, system, y)(y, 0.0, h, steps)
    assert abs(np.linalg.norm(end[L.ATTITUDE : L.ANGULAR]) - 1.0) < 5e-16
    return state_distance(end, exact_state(system, y, 0.0, h * steps), system)


@each(("name", "inertia"), crossed(SYSTEMS, [
    *permutations((1.0, 1.6, 2.3)), (1.7, 1.7, 1.7), (1.5, 1.5, 0.8), (0.8, 1.5, 1.5), (1e-3, 1.0, 1.0005), TENSOR,
]), ids=str)  # fmt: skip
def test_any_body_under_any_load_with_a_series(name, inertia):
    system = SYSTEMS[name](inertia)
    slender = np.ndim(inertia) == 1 and min(inertia) < 0.01
    y = start_state(system, **START | {"angular_momentum": (2e-3, 0.5, -0.7)} if slender else START)
    h = 0.002 if slender else 0.15
    assert compare(system, y, h) < 1e-12
    if inertia is TENSOR:
        assert compare(system, y, -h) < 1e-12


@each("axis", range(3))
@each("sign", (1.0, -1.0))
def test_the_vertical_along_every_axis(axis, sign):
    """At the start exactly, and passing the axis within the step."""
    system = SYSTEMS["top"]((1.0, 1.6, 2.3))
    u, e3 = sign * np.eye(3)[axis], np.array((0.0, 0.0, 1.0))
    turn = np.cross(u, e3) if abs(u @ e3) < 0.5 else np.array((1.0, 0.0, 0.0))
    angle = 0.5 * np.pi if abs(u @ e3) < 0.5 else 0.0 if sign > 0 else np.pi
    q = rotation.exp_quaternion(angle * turn)
    np.testing.assert_allclose(rotation.rotate(q, u), e3, rtol=0, atol=1e-15)
    for h in (0.15 * sign * (-1) ** axis,):
        assert compare(system, start_state(system, attitude=q, angular_momentum=(0.8, -0.5, 1.1)), h) < 1e-12


def test_large_turns_about_the_vertical_and_through_the_horizontal():
    """A sleeping top turns uniformly by any angle; a body that turns over carries the vertical to near its opposite."""
    top = ph.heavy_top((1.5, 1.5, 0.8), (0.0, 0.0, 1.0), 1.2)
    y = start_state(top, angular_momentum=(0.0, 0.0, 4.0))
    for h in (0.5, 1.0, 20.1, -20.1):  # 2.5, 5 and 100.5 rad
        end = stepper("taylor20", top, y)(y, 0.0, h)
        expected = (np.cos(2.5 * h), 0.0, 0.0, np.sin(2.5 * h))
        assert rotation.angle_between(end[L.ATTITUDE : L.ANGULAR], expected) < 1e-14 * max(1.0, abs(5.0 * h))
        np.testing.assert_array_equal(end[L.ANGULAR :], y[L.ANGULAR :])
    free = ph.free_body((1.0, 1.0, 1.0))
    y = start_state(free, angular_momentum=(1.0, 0.0, 0.0))
    for angle in (2.0, 2.8, 3.1, -3.1):
        end = stepper("taylor30", free, y)(y, 0.0, angle)
        expected = (np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0)
        assert rotation.angle_between(end[L.ATTITUDE : L.ANGULAR], expected) < 2e-13


def test_a_body_in_space_drifts():
    body = ph.rigid_body((1.0, 1.6, 2.3), mass=2.0)
    y = start_state(body, **START, position=(1.0, 2.0, 3.0), velocity=(0.5, -0.25, 1.0))
    assert compare(body, y) < 1e-12


@pytest.fixture(scope="module")
def turned_top():
    system = SYSTEMS["top"]((1.0, 1.6, 2.3))
    y = start_state(system, **START)
    return system, y, exact_state(system, y, 0.0, 3.0)


@each("order", (5, 17))
def test_orders(turned_top, order):
    """Of a top without symmetry, between neighbouring steps, for orders of both parities."""
    found = measure_order(f"taylor{order}", *turned_top, 0.0, 3.0)
    assert found.fitted == pytest.approx(order, rel=0.1)


def test_the_promises_of_a_member_that_is_no_row(monkeypatch):
    """Those of one body that turns: series of several bodies are dear, see ``test_taylor_traced``."""
    assert "taylor9" not in METHODS
    chosen, one = method("taylor9"), problems.SERIES_PROBLEM
    monkeypatch.setattr(problems, "ORDER_PROBLEMS", {one: problems.ORDER_PROBLEMS[one]})
    lines = [
        *_order_lines(chosen),
        _symmetry_line(chosen),
        _kept_line(chosen, "kept, heavy top", problems.top_problem(chosen), chosen.promises.keeps_top),
        _symplectic_line(chosen, "symplectic, in a potential", chosen.promises.symplectic, "potential"),
    ]
    Report(chosen.label, tuple(lines)).raise_for_failure()
    assert [line.what for line in lines[:2]] == [one, "order, torque by the vertical"]


@pytest.mark.full
@pytest.mark.parametrize("name", ["taylor9", "taylor24"])
def test_the_promises_of_members_that_are_no_rows(name):
    check_method(name).raise_for_failure()


def test_names_of_the_family():
    assert method("taylor2").promises.order == 2 and method("taylor30").label == "taylor30"
    for name in ("taylor0", "taylor1", "taylor31", "taylor007000"):
        with pytest.raises(InvalidInput, match="2 to 30"):
            method(name)
    assert method("taylor").promises.order == 20
    with pytest.raises(InvalidInput, match="takes no options"):
        method("taylor14:exp")


def test_one_evaluation_a_step_and_a_dataset():
    top = SYSTEMS["top"](TENSOR)
    ds = ph.integrate(top, "taylor20", step=0.1, steps=50, **START)
    assert ds.attrs["load_evaluations"] == 50
    assert np.ptp(ds.energy.values) < 1e-13


def test_errors_of_round_off_do_not_add_up():
    """20 000 steps: energy and vertical momentum within some rounding errors of their size."""
    top = SYSTEMS["top"]((1.0, 1.6, 2.3))
    ds = ph.integrate(top, "taylor20", step=0.1, steps=20_000, every=100, **START)
    assert np.ptp(ds.energy.values) < 4e-13 * float(np.abs(ds.kinetic_energy).max())
    q = ds.attitude.values.reshape(-1, 4)
    assert np.abs(np.linalg.norm(q, axis=1) - 1.0).max() < 5e-16


def test_a_series_belongs_to_one_body_and_the_vertical():
    top = SYSTEMS["top"]((1.0, 1.6, 2.3))
    with pytest.raises(InvalidInput, match="velocity_independent"):
        replace(top, loads=top_loads, commutator=None, provides=top.provides - {"velocity_independent"})
    with pytest.raises(InvalidInput, match="one body"):
        System(
            "two",
            {},
            np.ones(2),
            np.ones((2, 3)),
            np.eye(4)[[0, 0]],
            series=top.series,
            provides={"velocity_independent"},
        )
    with pytest.raises(InvalidInput, match="user"):
        replace(ph.rigid_body((1, 2, 2.5), torque=lambda t, q, w, p: (0.0, 0.0, 1.0)), series=top.series)


def test_a_vertical_that_moves_by_more_than_pi_is_refused():
    """Not a fast turn about it: a top of 50 rad/s that leans by 0.1 rad takes steps of 5 rad."""
    top = ph.heavy_top((1.5, 1.5, 0.8), (0.0, 0.0, 1.0), 1.2)
    leaning = {"attitude": rotation.exp_quaternion((0.1, 0.0, 0.0))}
    ds = ph.integrate(top, "taylor30", step=0.1, steps=20, **leaning, angular_velocity=(0.0, 0.0, 50.0))
    np.testing.assert_allclose(ds.energy, ds.energy[0], rtol=1e-13)
    lying = {"attitude": rotation.exp_quaternion((1.5, 0.0, 0.0)), "angular_velocity": (0.0, 0.0, 50.0)}
    with pytest.raises(ph.errors.StepTooLarge, match=r"largest safe step there is about 0\.0628"):
        ph.integrate(top, "taylor30", step=0.1, steps=20, **lying)
    ph.integrate(top, "taylor30", step=0.0628, steps=20, **lying)


def test_what_is_not_finite_is_told():
    system = SYSTEMS["top"]((1.0, 1.6, 2.3))
    y = start_state(system, **START)
    y[L.ANGULAR] = 1e90
    integrator = Integrator(system, method("taylor16"), y)
    assert integrator.march(0, 1, 2, 0.0, 0.1) == L.NOT_FINITE
    integrator.y[L.ANGULAR] = 1.0
    assert integrator.march(0, 1, 2, 0.0, 0.1) == L.OK


# ------------------------------------------------------------------ the series role
def load(system, y):
    """The torque of a system's role, principal frame."""
    out = np.zeros(6)
    load_caller()(system.compiled_loads(0.0, y), 0.0, 1, np.array(y), system.bodies, system.with_memory, out)
    return out[3:]


@each("name", SYSTEMS)
def test_loads_are_the_same_beside_a_series(name):
    system = SYSTEMS[name](TENSOR)
    y = start_state(system, **START)
    np.testing.assert_array_equal(load(system, y), load(replace(system, series=None), y))
    np.testing.assert_array_equal(load(system, y), load(replace(system, commutator=None), y))


def late(part, t, k, u, bodies, parameters, out):
    """A series that is wrong from its seventh coefficient on."""
    original(part, t, k, u, bodies, parameters, out)
    if k > 5:
        out[1] *= 1.01


def negated(part, t, k, u, bodies, parameters, out):
    """A series of the wrong sign."""
    original(part, t, k, u, bodies, parameters, out)
    for c in range(3):
        out[c] = -out[c]


@each("name", SYSTEMS)
def test_a_wrong_series_is_noticed(name):
    system = replace(SYSTEMS[name](TENSOR), conserves=())
    assert check_system(system, states=2)["series of the torque"].passed
    for spoil in (late, negated) if name != "free" else ():
        spoiled = replace(system, series=jit.bind(spoil, original=system.series))
        assert [line.what for line in check_system(spoiled, states=2).failures] == ["series of the torque"]


def about_first(part, t, N, y, bodies, parameters, out):
    """A torque by the first axis of space seen from the body."""
    u = rotate_inverse(get4(y, L.ATTITUDE), (1.0, 0.0, 0.0))
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, u)


def linear(part, t, k, u, bodies, parameters, out):
    """The series of a torque along the vertical."""
    put3(out, 0, get3(u, 3 * k))


def test_a_torque_by_something_else_is_noticed():
    system = replace(SYSTEMS["top"](TENSOR), loads=about_first, commutator=None, series=linear, conserves=())
    assert not check_system(system, states=1)["series of the torque"].passed
