"""Users' functions as programs: loads without differences, commutators, and nothing compiled in a second process."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.algebra import rotation
from polhode.capabilities import refusal
from polhode.checks import load_caller
from polhode.kernel import jit, layout as L
from polhode.runs.initial_state import start_state

compiling = pytest.mark.skipif(jit.disabled(), reason="functions run through the bridge")
pytestmark = compiling
TENSOR = np.array([[2.0, 0.1, 0.0], [0.1, 1.5, 0.2], [0.0, 0.2, 1.0]])
Q, R = np.array([0.5, -0.1, 0.7, 0.5]), np.array([1.1, -0.4, 0.6])


def load(system, y, part=L.ALL):
    """Force and torque of a system's role, the torque in the user's frame."""
    out = np.zeros(6)
    load_caller(part)(system.compiled_loads(0.0, y), 0.0, 1, np.array(y), system.bodies, system.with_memory, out)
    return np.concatenate([out[:3], rotation.rotate(system.frames[0], out[3:])])


def top(t, q, parameters):
    w, x, y, z = q
    return parameters[0] * (w * w - x * x - y * y + z * z) + 0.3 * 2.0 * (x * z - w * y)


def central(t, position, parameters):
    return -parameters[0] / np.linalg.norm(position) + 0.1 * ph.where(t < 1.0, position[2] ** 3, 0.0)


def both(t, position, q, parameters):
    return parameters[0] * np.dot(position, rotation.rotate(q, (0.2, 0.3, -0.1)))


@each("inertia", [(2.0, 1.5, 1.0), TENSOR], ids=["moments", "tensor"])
def test_the_torque_of_a_potential_has_all_digits(inertia):
    system = ph.rigid_body(inertia, potential=top, parameters=[3.0])
    y = start_state(system, attitude=Q)
    row = rotation.matrix_from_quaternion(Q)[2]
    expected = -np.cross([0.3, 0.0, 3.0], row)
    assert np.abs(load(system, y)[3:] - expected).max() <= 2e-15


def test_the_force_of_a_potential_has_all_digits():
    system = ph.particle(2.0, potential=central, parameters=[3.0])
    y = start_state(system, position=R)
    expected = -3.0 * R / np.linalg.norm(R) ** 3 - [0.0, 0.0, 0.3 * R[2] ** 2]
    assert np.abs(load(system, y)[:3] - expected).max() <= 2e-15


def test_a_potential_beside_gravity_has_all_digits():
    bare = ph.spacecraft(TENSOR, 1.0, mass=2.0)
    system = ph.spacecraft(TENSOR, 1.0, mass=2.0, potential=both, parameters=[3.0])
    start = {"position": R, "velocity": (0.0, 0.5, 0.1), "attitude": Q}
    arm = np.array([0.2, 0.3, -0.1])
    force, torque = -3.0 * rotation.rotate(Q, arm), -3.0 * np.cross(arm, rotation.rotate_inverse(Q, R))
    added = load(system, start_state(system, **start)) - load(bare, start_state(bare, **start))
    assert np.abs(added - [*force, *torque]).max() <= 4e-15


@each("inertia", [(2.0, 1.5, 1.0), TENSOR], ids=["moments", "tensor"])
def test_the_commutator_of_a_torque_is_its_gradient(inertia):
    system = ph.rigid_body(inertia, potential=top, parameters=[3.0])
    inverse = np.linalg.inv(np.diag(inertia) if np.ndim(inertia) == 1 else inertia)

    def square(axis, angle):
        turn = rotation.exp_quaternion(angle * np.eye(3)[axis])
        T = load(system, start_state(system, attitude=rotation.multiply(Q, turn)))[3:]
        return T @ inverse @ T

    h = 1e-3
    expected = [
        (8 * (square(k, h) - square(k, -h)) - (square(k, 2 * h) - square(k, -2 * h))) / (12 * h) for k in range(3)
    ]
    found = load(system, start_state(system, attitude=Q), L.COMMUTATOR)[3:]
    assert np.abs(found - expected).max() <= 1e-9


def test_schemes_with_modified_kicks_serve_potentials_of_users():
    system = ph.particle(2.0, potential=central, parameters=[3.0])
    assert "commutator" in system.provides
    start = {"position": (1.0, 0.1, 0.2), "velocity": (0.0, 1.1, 0.1)}
    end = ph.integrate(system, "rkn6_14a", step=0.001, t_end=0.5, **start).position[-1]
    errors = [
        float(np.abs(ph.integrate(system, "fg6_5", step=h, t_end=0.5, **start).position[-1] - end).max())
        for h in (0.1, 0.05)
    ]
    assert 4.5 < math.log2(errors[0] / errors[1]) < 7.5


def test_a_function_that_decides_runs_as_before():
    def torque(t, q, omega, parameters):
        if t > 0.5:
            return (0.0, 0.0, 0.0)
        return (0.0, 0.0, 1.0)

    ds = ph.integrate(ph.rigid_body((1, 1, 1), torque=torque), "rkn6_14a", step=0.1, t_end=0.4)
    assert abs(float(ds.angular_momentum[-1, 2]) - 0.4) < 1e-14


# ------------------------------------------------------------------ parameters that count loops
def rings(t, position, parameters):
    """A potential of as many terms as its first parameter says."""
    total = 0.0
    for n in range(int(parameters[0])):
        total += parameters[1] * position[n % 3] ** (n + 2) / (n + 2)
    return total if parameters[2] > 0.0 else -total


def test_a_function_that_loops_over_a_parameter_has_exact_loads():
    for count in (1, 3):
        system = ph.particle(2.0, potential=rings, parameters=[count, 0.7, 1.0])
        expected = [-0.7 * R[n] ** (n + 1) if n < count else 0.0 for n in range(3)]
        assert np.abs(load(system, start_state(system, position=R))[:3] - expected).max() <= 1e-15
        assert "commutator" in system.provides


def test_other_values_that_lead_to_the_same_program_compile_nothing():
    start = {"position": R, "velocity": (0.0, 1.0, 0.1), "step": 0.1, "steps": 2}
    first = ph.particle(2.0, potential=rings, parameters=[3.0, 0.7, 1.0])
    ph.integrate(first, "v2", **start)
    compiled = []
    with jit.watched(lambda: compiled.append(1)):
        weaker = ph.integrate(first, "v2", **start, parameters=[3.0, 0.1, 2.0])
    assert not compiled
    other = ph.particle(2.0, potential=lambda t, r, p: 0.1 * (r[0] ** 2 / 2 + r[1] ** 3 / 3 + r[2] ** 4 / 4))
    expected = ph.integrate(other, "v2", **start).position
    assert np.abs(weaker.position - expected).max() <= 1e-15


def test_a_value_for_which_a_function_cannot_be_traced_says_nothing_about_others():
    def ringing(t, position, parameters):
        return rings(t, position, (1.0 / math.sqrt(parameters[0]), 0.7, 1.0))

    assert "commutator" not in ph.particle(2.0, potential=ringing, parameters=[-1.0]).provides
    assert "commutator" in ph.particle(2.0, potential=ringing, parameters=[0.2]).provides


def lennard_jones(t, position, parameters):
    s = (parameters[1] / np.linalg.norm(position)) ** 6
    return 4.0 * parameters[0] * (s * s - s)


def test_a_steep_potential_is_not_judged_by_differences():
    """They have errors of 1e-7 here; without a warning, which would be an error."""
    system = ph.particle(1.0, potential=lennard_jones, parameters=[0.7, 0.9])
    s = (0.9 / np.linalg.norm(R)) ** 6
    expected = 24.0 * 0.7 * (2.0 * s * s - s) * R / np.dot(R, R)
    assert np.abs(load(system, start_state(system, position=R))[:3] - expected).max() <= 1e-13
    ph.checks.check_system(system, position=R, velocity=(0.2, 0.9, -0.3)).raise_for_failure()


def test_a_potential_that_is_another_one_when_it_is_traced_is_refused():
    system = ph.particle(potential=lambda t, r, p: r[0] if type(r) is np.ndarray else 2.0 * r[0])
    said = r"potential '<lambda>' \(.*\) gives 2 when it is traced, but 1 when it is called, at t = 0; let it compute"
    with pytest.raises(ph.errors.InvalidInput, match=said):
        ph.integrate(system, "v2", step=0.1, steps=2, position=(1, 0, 0), velocity=(0, 1, 0))


# ------------------------------------------------------------------ potentials that cannot be traced
def wall(t, position, parameters):
    depth, n = position[0], 0
    while depth > 1.0:
        depth, n = depth - 1.0, n + 1
    return parameters[0] * n * depth**8


WHY = (
    r"potential 'wall' \(test_user_derived.py:\d+\) cannot be traced: it decides too often by the numbers .*; "
    r"write .* instead \(test_user_derived.py:\d+\)"
)


def test_differences_of_a_potential_are_told_once_with_the_line():
    start = {"position": (0.2, 0.1, 0.2), "velocity": (0.5, 0.0, 0.0), "step": 0.001, "steps": 2}
    system = ph.particle(1.0, potential=wall, parameters=[3.0])
    with pytest.warns(ph.errors.SlowFunctionWarning, match="loads are differences of 18 potentials.*" + WHY) as seen:
        ds = ph.integrate(system, "v2", **start)
        ph.integrate(system, "v2", **start)
    assert len(seen) == 1
    assert re.fullmatch("loads are differences of 18 potentials, .* because " + WHY, ds.attrs["loads_note"])
    traced = ph.particle(1.0, potential=central, parameters=[3.0])
    assert "loads_note" not in ph.integrate(traced, "v2", **start).attrs


def test_a_method_that_needs_more_says_why_it_is_missing():
    system = ph.rigid_body((1, 2, 2.5), potential=lambda t, q, p: np.interp(q[1], [-1, 1], [0, 1]))
    why = r"potential '<lambda>' \(test_user_derived.py:\d+\) cannot be traced: it uses np.interp"
    with pytest.raises(ph.errors.InvalidInput, match="needs the Taylor series of the loads, but " + why):
        ph.integrate(system, "taylor16", step=0.1, steps=2)
    refused = refusal({"commutator"}, "mine", system.name, system.untraced, havers="heavy_top")
    assert re.search("'mine' needs a formula for the commutator load, .*; " + why, str(refused))
    assert ph.particle(1.0, potential=central, parameters=[3.0]).untraced == ""
