"""Products of exponentials: against a step in numpy, orders, coefficients, and loads that read states."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode.methods.commutator_free import SCHEMES
from polhode.references import bibtex

INERTIA = np.array([1.0, 2.0, 2.5])
PULL = np.array([0.3, -0.2, 0.9])
START = {"attitude": (0.8, 0.0, 0.6, 0.0), "angular_velocity": (0.4, -0.7, 1.1)}


def torque(t, q, omega, parameters):
    """A constant pull in space at the third axis, with friction and a drive."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    f = parameters
    u = (
        (1 - 2 * (y * y + z * z)) * f[0] + 2 * (x * y + w * z) * f[1] + 2 * (x * z - w * y) * f[2],
        2 * (x * y - w * z) * f[0] + (1 - 2 * (x * x + z * z)) * f[1] + 2 * (y * z + w * x) * f[2],
    )
    return (-u[1] - 0.1 * omega[0], u[0], 0.2 * np.sin(t))


def body():
    return ph.rigid_body(tuple(INERTIA), torque=torque, parameters=tuple(PULL))


def step_in_numpy(scheme, t, h, R, m):
    """One step with rotation matrices; the angular momentum in space is summed."""
    s = len(scheme.stages) + 1
    rates, pushes = [], []

    def stage(rows):
        turned, weights = np.eye(3), np.zeros(s)
        for row in rows:
            turned = turned @ Rotation.from_rotvec(h * sum(a * w for a, w in zip(row, rates, strict=False))).as_matrix()
            weights[: len(row)] += row
        return R @ turned, R @ m + h * sum((a * p for a, p in zip(weights, pushes, strict=False)), np.zeros(3)), weights

    for rows in ((), *scheme.stages):
        attitude, momentum, weights = stage(rows)
        omega = attitude.T @ momentum / INERTIA
        x, y, z, w = Rotation.from_matrix(attitude).as_quat()
        pushes.append(attitude @ np.array(torque(t + weights.sum() * h, (w, x, y, z), omega, PULL)))
        rates.append(omega)
    attitude, momentum, _ = stage(scheme.end)
    return attitude, attitude.T @ momentum


@pytest.mark.quick
@each("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_steps_are_those_of_rotation_matrices(scheme):
    ds = ph.integrate(body(), scheme.name, step=0.2, steps=3, **START)
    R = Rotation.from_quat((0.0, 0.6, 0.0, 0.8)).as_matrix()
    m = INERTIA * np.array(START["angular_velocity"])
    for k in range(3):
        R, m = step_in_numpy(scheme, 0.2 * k, 0.2, R, m)
    w, x, y, z = ds.attitude.values[-1]
    np.testing.assert_allclose(Rotation.from_quat((x, y, z, w)).as_matrix(), R, rtol=0, atol=1e-14)
    np.testing.assert_allclose(ds.angular_momentum.values[-1], m, rtol=0, atol=4e-14)


@each(("name", "order"), [("cg3", 3), ("cg4", 4), ("cf3", 3), ("cf4", 4)])
def test_orders(name, order):
    assert ph.methods.method(name).promises.order == order
    system, exact = body(), ph.integrate(body(), "mkrk:dp8", step=0.01, t_end=1.6, **START)
    ends = [ph.integrate(system, name, step=h, t_end=1.6, **START).attitude.values[-1] for h in (0.1, 0.05, 0.025)]
    errors = [np.linalg.norm(end - exact.attitude.values[-1]) for end in ends]
    measured = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(measured - order).max() < 0.25, measured


def test_sums_of_the_exponentials_are_tableaux_of_their_order():
    """Conditions of order 3, and of order 4 with that which rotations add to it, as the method is printed."""
    for scheme in SCHEMES:
        s = len(scheme.stages) + 1
        A = np.zeros((s, s))
        for i, rows in enumerate(scheme.stages, 1):
            for row in rows:
                A[i, : len(row)] += row
        b, c = sum(np.pad(row, (0, s - len(row))) for row in scheme.end), A.sum(axis=1)
        # printed to 16 digits
        for found, right in ((b.sum(), 1), (b @ c, 1 / 2), (b @ c**2, 1 / 3), (b @ A @ c, 1 / 6)):
            assert abs(found - right) < 2e-15, scheme.name
        if scheme.name.endswith("4"):
            for found, right in ((b @ c**3, 1 / 4), (b @ (c * (A @ c)), 1 / 8), (b @ A @ c**2, 1 / 12)):
                assert abs(found - right) < 2e-15, scheme.name
            assert abs(b @ A @ A @ c - 1 / 24) < 2e-15, scheme.name


def test_loads_that_read_states_keep_the_order():
    def lagging(t, q, omega, parameters, states):
        return (-states.lag, 0.1 * omega[0], 0.0), omega[0] - states.lag

    system = ph.rigid_body(tuple(INERTIA), torque=lagging, states={"lag": 1})
    exact = ph.integrate(system, "mkrk:dp8", step=0.01, t_end=1.6, **START)
    runs = [ph.integrate(system, "cf4", step=h, t_end=1.6, **START) for h in (0.1, 0.05, 0.025)]
    errors = [np.linalg.norm(ds.attitude.values[-1] - exact.attitude.values[-1]) for ds in runs]
    measured = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(measured - 4).max() < 0.25, measured
    assert abs(runs[-1].lag.values[-1] - exact.lag.values[-1]) < 1e-8


def test_names_of_the_field_are_these_methods_with_their_sources():
    for name, label, who in (
        ("crouch_grossman", "cg4", "Owren"), ("cg3", "cg3", "Crouch"), ("commutator_free", "cf4", "Marthinsen"),
        ("lgvi", "lgvi", "Leok"), ("gl4", "mkrk:gauss4", "Munthe-Kaas"),
    ):  # fmt: skip
        found = ph.methods.method(name)
        assert found.label == label and who in bibtex(found.method.cite)


def test_lgvi_is_the_integrator_of_lee_leok_and_mcclamroch():
    """h (Pi + h/2 M) = F J_d - J_d F^T, R' = R F, Pi' = F^T (Pi + h/2 M) + h/2 M' [lee2007]."""
    h, J = 0.05, INERTIA
    top = ph.heavy_top(tuple(J), (0.0, 0.0, 1.0), 2.0)

    def moment(R):
        return np.cross((0.0, 0.0, 1.0), R.T @ (0.0, 0.0, -2.0))

    ds = ph.integrate(top, "lgvi", step=h, steps=40, **START)
    R, m = Rotation.from_quat((0.0, 0.6, 0.0, 0.8)).as_matrix(), J * np.array(START["angular_velocity"])
    Jd = np.diag(0.5 * J.sum() - J)
    for _ in range(40):
        half = m + 0.5 * h * moment(R)
        f = h * half / J
        for _ in range(60):
            F = Rotation.from_rotvec(f).as_matrix()
            S = F @ Jd - Jd @ F.T
            f = f + (h * half - np.array((S[2, 1], S[0, 2], S[1, 0]))) / J
        R = R @ F
        m = F.T @ half + 0.5 * h * moment(R)
    w, x, y, z = ds.attitude.values[-1]
    np.testing.assert_allclose(Rotation.from_quat((x, y, z, w)).as_matrix(), R, rtol=0, atol=1e-13)
    np.testing.assert_allclose(ds.angular_momentum.values[-1], m, rtol=0, atol=1e-13)
