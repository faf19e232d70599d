"""Slopes of loads, derived from programs, as the Jacobian of implicit steps."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.checks import load_caller
from polhode.kernel import layout as L
from polhode.methods import method
from polhode.programs.slopes import MOST_BODIES
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator

MU, RADIUS = 3.986e14, 6.378e6
ATTITUDE = np.array([0.5, -0.1, 0.7, 0.3]) / np.linalg.norm([0.5, -0.1, 0.7, 0.3])


def pendulum(t, q, omega, parameters):
    """A torque by attitude and angular velocity."""
    k = parameters[0]
    return (-k * np.sin(3 * q[1] * q[0]) - omega[0] ** 3, -k * q[2] * q[0] - omega[1], -k * q[3] * q[0] * omega[2])


def well(t, r, parameters):
    """A stiff spring that hardens."""
    return 0.5 * parameters[0] * (r[0] ** 2 + r[1] ** 2 + r[2] ** 2) + 0.25 * (r[0] ** 4 + r[1] ** 4)


def counted(t, r, parameters):
    """The same, as it cannot be traced: it counts by the state."""
    total = 0.0
    for _ in range(1 + int(abs(r[0])) // 1000):
        total = 0.5 * parameters[0] * (r[0] ** 2 + r[1] ** 2 + r[2] ** 2) + 0.25 * (r[0] ** 4 + r[1] ** 4)
    return total


def top():
    system = ph.heavy_top((5.0, 4.0, 1.0), (0.1, 0.2, 1.0), weight=20.0)
    return system, {"attitude": ATTITUDE, "angular_momentum": (0.3, 0.1, 5.0)}


def craft():
    air = ph.forces.drag(kd=1e-9, radius=RADIUS, scale=5e4, rotation=7e-5)
    system = ph.spacecraft((90.0, 70.0, 60.0), MU, mass=120.0, forces=[ph.forces.zonal(J2=1e-3, radius=RADIUS), air])
    place = {"position": (7e6, 1e5, 2e5), "velocity": (100.0, 7400.0, 1000.0)}
    return system, {**place, "attitude": ATTITUDE, "angular_velocity": (1e-3, 2e-3, 1e-3)}


def planets():
    states = {
        "position": [(0.0, 0.0, 0.0), (1.0, 0.1, 0.2), (-0.3, 2.0, 0.1)],
        "velocity": [(0, 0, 0), (0, 1, 0), (1, 0, 0)],
    }
    return ph.gravitating_bodies(mu=[1.0, 0.1, 0.2]), states


def spring(function=well):
    system = ph.particle(1.0, potential=function, parameters=[100.0])
    return system, {"position": (1.0, 0.2, 0.3), "velocity": (0.0, 0.0, 0.0)}


def driven():
    system = ph.rigid_body((5.0, 4.0, 3.0), torque=pendulum, parameters=[20.0])
    return system, {"attitude": ATTITUDE, "angular_momentum": (1.0, 2.0, 3.0)}


def rod():
    return ph.rigid_body((2.0, 2.0, 0.0), torque=pendulum, parameters=[2.0]), {
        "attitude": ATTITUDE, "angular_momentum": (1.0, 2.0, 0.0)
    }  # fmt: skip


CASES = {"top": top, "craft": craft, "planets": planets, "spring": spring, "driven": driven, "rod": rod}


SLOTS = (L.POSITION, L.ATTITUDE, L.MOMENTUM, L.ANGULAR)


def nudged(y, body, kind, k, size):
    """The state with one coordinate of a body changed: displacement, turn, momentum or angular momentum."""
    y, at = y.copy(), L.BODY * body + SLOTS[kind]
    if kind == 1:
        turn = np.concatenate([[np.cos(size / 2)], np.sin(size / 2) * np.eye(3)[k]])
        y[at : at + 4] = ph.rotation.multiply(y[at : at + 4], turn)
    else:
        y[at + k] += size
    return y


def loads(system, role, y, part=L.ALL):
    out = np.zeros(L.LOAD * system.N + len(system.auxiliary) + 72 * system.N**2)
    load_caller(part)(role, 0.3, system.N, y, system.bodies, system.with_memory, out)
    return out


@each("name", CASES)
def test_slopes_are_the_derivatives_of_the_loads(name):
    system, start = CASES[name]()
    N, behind = system.N, L.LOAD * system.N + len(system.auxiliary)
    y = np.concatenate([start_state(system, **start), np.zeros(len(system.auxiliary))])
    role = system.compiled_slopes(0.3, y)
    found, plain = loads(system, role, y, L.SLOPES), loads(system, role, y)
    largest = np.abs(plain[: L.LOAD * N]).max()
    assert found[:behind] == pytest.approx(plain[:behind], rel=1e-13, abs=1e-14 * largest)
    slopes = found[behind:].reshape(L.LOAD * N, N, 4, 3)
    for body, kind in np.ndindex(N, 4):
        at = L.BODY * body + SLOTS[kind]
        free = np.isfinite((system.mass if kind % 2 == 0 else system.moments)[body]).any()
        if not free:
            assert not slopes[:, body, kind].any()
            continue
        scale = 1.0 if kind == 1 else max(1.0, np.linalg.norm(y[at : at + 3]))
        for k in range(3):
            low, high = (loads(system, role, nudged(y, body, kind, k, d * scale)) for d in (-1e-4, 1e-4))
            expected = (high - low)[: L.LOAD * N] / (2e-4 * scale)
            assert slopes[:, body, kind, k] == pytest.approx(expected, rel=1e-6, abs=1e-6 * largest / scale)


def test_many_bodies_and_functions_that_cannot_be_traced_have_none():
    many = ph.gravitating_bodies(mu=np.ones(MOST_BODIES + 1))
    system, start = spring(counted)
    assert many.compiled_slopes(0.0, np.zeros(L.BODY * many.N)) is None
    assert system.compiled_slopes(0.0, start_state(system, **start)) is None


# ------------------------------------------------------------------ steps
def counts(case, name, h, steps=50, differences=False):
    """Iterations and load evaluations of a step, and the state after the last one."""
    system, start = case
    run = Integrator(system, method(name), start_state(system, **start))
    if differences:
        assert run.step_info[L.HAS_SLOPES] == 1.0
        run.step_info[L.HAS_SLOPES] = 0.0
    assert run.march(0, steps, steps + 1, 0.0, h) == L.OK
    return run.step_info[L.TOTAL_ITERATIONS] / steps, run.step_info[L.EVALUATIONS] / steps, run.y


@each("name", ["imidm", "trapm", "imid", "swc1", "bbtrap", "akw"])
@each("case", ["top", "driven"])
def test_one_evaluation_serves_value_and_jacobian(case, name):
    h = {"top": 0.1, "driven": 0.05}[case]
    iterations, evaluations, y = counts(CASES[case](), name, h)
    before, more, expected = counts(CASES[case](), name, h, differences=True)
    assert iterations <= 4.5
    assert iterations < before
    assert evaluations <= iterations + 2
    assert evaluations <= more
    assert y == pytest.approx(expected, rel=0, abs=1e-11)


@each("name", ["mkrk:gauss4", "mkrk:gauss6:cayley", "rotation_vector:gauss4", "euler:gauss4:XYZ"])
@each("case", ["top", "craft", "planets", "spring", "driven"])
def test_stages_take_their_jacobian_from_one_evaluation(case, name):
    made = CASES[case]()
    h = {"craft": 20.0, "spring": 0.02}.get(case, 0.05)
    iterations, evaluations, y = counts(made, name, h)
    s = 3 if "gauss6" in name else 2
    again = s if made[0].auxiliary else 0  # for the work
    assert evaluations == pytest.approx(2 + s * iterations + again)
    before, more, expected = counts(made, name, h, differences=True)
    assert iterations == pytest.approx(before, abs=0.2)
    assert more == pytest.approx(1 + 6 * made[0].blocks.size // 2 + s * before + again)
    assert y == pytest.approx(expected, rel=1e-9, abs=1e-9)


@each("name", ["imidm", "swc1", "akw"])
def test_a_step_from_rest_in_a_stiff_spring(name):
    """Differences fail where the momentum is zero, their size following from it."""
    _, _, y = counts(spring(), name, 0.1, 1)
    with pytest.raises(AssertionError):
        counts(spring(), name, 0.1, 1, differences=True)
    system, _ = spring()
    energy = ph.integrate(system, name, step=0.01, steps=1, position=(1.0, 0.2, 0.3)).energy
    assert np.isfinite(y).all()
    assert float(energy[0]) == pytest.approx(56.9, abs=1.0)


@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
@each("name", ["imidm", "mkrk:gauss4"])
def test_without_a_program_differences_serve(name):
    _, _, expected = counts(spring(), name, 0.02)
    system, start = spring(counted)
    run = Integrator(system, method(name), start_state(system, **start))
    assert run.step_info[L.HAS_SLOPES] == 0.0
    assert run.march(0, 50, 51, 0.0, 0.02) == L.OK
    assert run.y[:13] == pytest.approx(expected[:13], rel=1e-9, abs=1e-9)


def test_explicit_methods_compile_no_slopes():
    system, start = top()
    assert Integrator(system, method("mkrk:rk4"), start_state(system, **start)).step_info[L.HAS_SLOPES] == 0.0
    assert "_sloping" not in system.__dict__
