"""Errors of Krysl's methods on the paper's problems 5.1 to 5.3, against values measured with an independent program."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from as_printed import exp, skew
from each import each
from polhode.algebra import rotation
from polhode.checks import stepper
from polhode.kernel import layout as L
from polhode.runs.initial_state import start_state
from polhode.systems import problem

DATA = json.loads((Path(__file__).parents[1] / "data" / "krysl2006.json").read_text())


def errors(name, label, t_end, h, exact):
    """2-norms of the errors in body angular momentum and attitude matrix."""
    ready = problem(name)
    system = ready.build()
    attitude = rotation.exp_quaternion(ready.initial.get("rotation_vector", (0.0, 0.0, 0.0)))
    y = start_state(system, attitude=attitude, angular_velocity=ready.initial["angular_velocity"])
    end = stepper(label, system, y)(y, 0.0, h, round(t_end / h))
    R = rotation.matrix_from_quaternion(end[L.ATTITUDE : L.ANGULAR])
    return np.linalg.norm(end[L.ANGULAR : L.BODY] - exact[0]), np.linalg.norm(R - exact[1], 2)


def top(psi, omega, t_end):
    """Krysl's top by SciPy, with rotation matrices and the torque as printed."""
    I = np.array([5.0, 5.0, 1.0])

    def slope(t, z):
        m, R = z[:3], z[3:].reshape(3, 3)
        torque = R.T @ (-20.0 * np.cross(R[:, 2], [0.0, 0.0, 1.0]))
        return np.concatenate([np.cross(m, m / I) + torque, (R @ skew(m / I)).ravel()])

    start = np.concatenate([I * omega, exp(np.array(psi)).ravel()])
    z = solve_ivp(slope, (0.0, t_end), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return z[:3], z[3:].reshape(3, 3)


@pytest.fixture(scope="module")
def exact():
    free = DATA["free_body"]
    return {
        "krysl_free_body": tuple(
            np.array(free[key], dtype=float) for key in ("body_angular_momentum", "R_body_to_space")
        ),
        "krysl_slow_top": top((0.05, 0.0, 0.0), (0.0, 0.0, 5.0), 20.0),
        "krysl_fast_top": top((0.3, 0.0, 0.0), (0.0, 0.0, 50.0), 1.0),
    }


FREE = {label: values for label, values in DATA["free_body_errors"].items() if label != "steps"}


@each("label", FREE)
def test_free_body(label, exact):
    for h, expected in zip(DATA["free_body_errors"]["steps"], FREE[label], strict=True):
        found = errors("krysl_free_body", label, 100.0, h, exact["krysl_free_body"])
        assert found == pytest.approx(expected, rel=0.01), h


TOPS = [
    (name, label)
    for name in ("slow_top", "fast_top")
    for label in DATA[f"{name}_errors"]
    if label not in ("time", "step")
]


@each("name, label", TOPS)
def test_tops(name, label, exact):
    """Within 2 percent, or half a unit of the last printed digit where that is more."""
    table = DATA[f"{name}_errors"]
    found = errors(f"krysl_{name}", label, table["time"], table["step"], exact[f"krysl_{name}"])
    for value, printed in zip(found, table[label], strict=True):
        digits, exponent = printed.split("e")
        unit = 0.5 * 10.0 ** (int(exponent) - len(digits.partition(".")[2]))
        assert abs(value - float(printed)) <= max(0.02 * float(printed), 1.0001 * unit), (value, printed)


@each("name, tolerance", [("krysl_slow_top", 2e-9), ("krysl_fast_top", 1e-10), ("krysl_free_body", 1e-11)])
def test_references_agree_with_the_method_of_order_eight(name, tolerance, exact):
    t_end = {"krysl_free_body": 100.0, "krysl_slow_top": 20.0, "krysl_fast_top": 1.0}[name]
    h = {"krysl_free_body": 0.125, "krysl_slow_top": 0.01, "krysl_fast_top": 0.0025}[name]
    assert max(errors(name, "mkrk:gauss8", t_end, h, exact[name])) < tolerance
