"""Commutators of potentials of unlike bodies, which are written from their program: order, cost and derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from each import each
from vectors import cross


def tie(a, b, t, stiffness, at):
    d = b.position - a.point(at)
    return 0.5 * stiffness * (1.0 + 0.3 * np.sin(t)) * (np.sqrt(d @ d) - 0.5) ** 2


def well(body, t, depth):
    return depth * np.cos(body.position @ body.position + t)


MASS, MOMENTS, AT = (2.0, 0.5), np.array([1.0, 2.0, 2.5]), np.array([0.1, 0.0, 0.4])
START = {"position": [(0.3, 0, 0), (1.0, 0.1, 0.2)], "velocity": [(0, 0.4, 0), (0.1, -0.3, 0.5)],
         "angular_velocity": [(0.3, -0.2, 0.4), (0, 0, 0)]}  # fmt: skip


def unlike(*more):
    return ph.system(ph.body("a", MASS[0], MOMENTS), ph.body("b", MASS[1]), *more,
                     ph.loads.of(tie, stiffness=3.0, at=AT).on("a", "b"), ph.loads.of(well, depth=0.5))  # fmt: skip


def rates(t, y):
    """Equations by hand, and the power of what reads the time; no code of polhode."""
    r, v, q, w = y[:6].reshape(2, 3), y[6:12].reshape(2, 3), y[12:16], y[16:19]

    def turned(q, x):
        return x + 2.0 * cross(q[1:], cross(q[1:], x) + q[0] * x)

    d = r[1] - r[0] - turned(q, AT)
    size, stiffness = np.sqrt(d @ d), 3.0 * (1.0 + 0.3 * np.sin(t))
    pull = stiffness * (size - 0.5) * d / size
    down = [np.sin(one @ one + t) * one for one in r]  # 2 x depth
    forces = [pull + down[0], -pull + down[1]]
    torque = cross(AT, turned(np.concatenate([q[:1], -q[1:]]), pull)) - cross(w, MOMENTS * w)
    spin = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + cross(q[1:], w)])
    power = 0.45 * np.cos(t) * (size - 0.5) ** 2 - 0.5 * sum(np.sin(one @ one + t) for one in r)
    return np.concatenate([*v, forces[0] / MASS[0], forces[1] / MASS[1], spin, torque / MOMENTS, [power]])


@pytest.fixture(scope="module")
def end():
    y = np.concatenate([*map(np.ravel, (START["position"], START["velocity"])), [1, 0, 0, 0],
                        START["angular_velocity"][0], [0.0]])  # fmt: skip
    return solve_ivp(rates, (0.0, 2.0), y, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


@each("method", ["fg6_5", "fg6_5b"])
def test_timed_potentials_of_unlike_bodies_have_a_formula_for_their_commutator(method, end):
    system, errors = unlike(), []
    assert "commutator" in system.provides and system.commutator_by_parts
    for steps in (30, 60) if method == "fg6_5b" else (100, 200):
        ds = ph.integrate(system, method, step=2.0 / steps, steps=steps, **START)
        found = np.concatenate([ds.position.values[-1].ravel(), ds.velocity.values[-1].ravel()])
        errors.append(np.abs(found - end[:12]).max())
        work = abs(float(ds.work.values[-1].sum()) - end[19])
    assert np.log2(errors[0] / errors[1]) > 5.6, errors
    close = ph.integrate(system, "fg6_5", step=0.0025, t_end=2.0, **START)
    np.testing.assert_allclose(close.position.values[-1].ravel(), end[:6], rtol=0, atol=1e-9)
    np.testing.assert_allclose(close.angular_velocity.values[-1, 0], end[16:19], rtol=0, atol=1e-9)
    assert work < 1e-7 and abs(float(close.work.values[-1].sum()) - end[19]) < 1e-9
    assert float(abs(close.energy_error).max()) < 1e-9


@pytest.mark.full
def test_runs_with_a_formula_for_the_commutator_have_derivatives(columns_by_fours):
    words = {"step": 0.02, "t_end": 1.0}
    ds = ph.integrate(unlike(), "fg6_5", tangent=["tie.stiffness"], **words, **START)

    def moved(s):
        return ph.integrate(unlike(), "fg6_5", parameters={"tie.stiffness": 3.0 + s}, **words, **START).position[-1]

    wanted = sum(w * (moved(k * 1e-2) - moved(-k * 1e-2)) for k, w in
                 ((1, 2 / 3), (2, -1 / 12))) / 1e-2  # fmt: skip
    rows = [f"position_{axis}.{i}" for i in range(2) for axis in "xyz"]
    found = ds.state_transition.sel(column="tie.stiffness", row=rows).values[-1]
    np.testing.assert_allclose(found, wanted.values.ravel(), rtol=0, atol=1e-9)


def test_about_a_centre_it_is_that_of_the_rest_of_the_loads():
    """Methods that follow orbits take the commutator of what is beside them."""
    orbits = unlike(ph.loads.central(20.0))
    start = {**START, "velocity": [(0, 8.0, 0), (0.1, -4.0, 0.5)]}
    errors = []
    reference = ph.integrate(orbits, "rkn6_14a/kepler", step=2.5e-4, t_end=0.5, every=2000, **start)
    for steps in (100, 200):
        ds = ph.integrate(orbits, "fg6_5/kepler", step=0.5 / steps, steps=steps, **start)
        errors.append(float(abs(ds.position[-1] - reference.position[-1]).max()))
    assert np.log2(errors[0] / errors[1]) > 5.4, errors
