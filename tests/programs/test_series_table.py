"""Taylor series as a table: coefficients against mpmath, equations of motion, and steps that evaluate the loads."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import polhode as ph
from each import each
from polhode import programs
from polhode.errors import InvalidInput
from polhode.programs.series_role import series_role
from polhode.programs.trace import trace
from test_program_series import (
    CASES,
    MOTIONS,
    role_of,
    test_coefficients_of_every_function as check_coefficients,
    test_the_series_of_a_motion_satisfies_its_equations as check_motion,
)

TABLED = ("exp", "log", "sin", "cos", "pow", "root", "reciprocal", "powers", "products", "constant")
EARTH = ph.planets.EARTH
LOW = {"position": (6.9e6, 1e5, 3e5), "velocity": (100.0, 4.7e3, 5.9e3)}


@pytest.fixture
def tabled(monkeypatch):
    """All series that can be are tables."""
    monkeypatch.setattr(programs.series, "LONG", -1)
    series_role.cache_clear()
    yield
    series_role.cache_clear()


@each("name", CASES)
def test_coefficients_of_every_function_by_a_table(name, tabled):
    program = trace(CASES[name][0], {"t": 0}, ())
    assert (role_of(program.graph, rates=program.outputs).code.size > 0) == (name in TABLED)
    check_coefficients(name)


@each("name", MOTIONS)
def test_the_table_of_a_motion_satisfies_its_equations(name, tabled):
    g, loads = MOTIONS[name]()
    assert (role_of(g, **loads).code.size > 0) == (name != "damped")  # which has a tangent
    check_motion(name)


# ------------------------------------------------------------------ systems
def bodies(n, seed=1):
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.5, 1.5, n) / n
    mu[-1] = 0.0
    return mu, {"position": 3.0 * rng.normal(size=(n, 3)), "velocity": 0.1 * rng.normal(size=(n, 3))}


def screened(a, b, k):
    """A potential of pairs."""
    d = b.position - a.position
    s = d @ d + 0.25
    return -k * np.exp(-(s**0.5)) * s**-0.5 + 0.02 * np.log(s) * np.sin(0.5 * s)


def in_pairs(n):
    load = ph.loads.of(screened, k=0.3).on(ph.pairs)
    return ph.system(*(ph.body(f"b{i}", 1.0 + 0.1 * i) for i in range(n)), load), bodies(n)[1]


def field(degree, **more):
    return {"kind": "gravity_field", "field": "egm2008", "degree": degree, **more}


SYSTEMS = {
    "24 bodies": lambda: (ph.gravitating_bodies(mu=bodies(24)[0]), bodies(24)[1], 2.0, 2e-3),
    "pairs of a user's": lambda: (*in_pairs(10), 2.0, 4e-3),
    "field": lambda: (ph.orbit(EARTH.mu, forces=[field(12)]), LOW, 3000.0, 5.0),
    "field about a tilted axis": lambda: (
        ph.orbit(EARTH.mu, forces=[field(10, order=6, axis=(0.1, 0.2, 1.0), angle=0.4)]), LOW, 3000.0, 5.0,
    ),
    "field as a load": lambda: (
        ph.system(ph.body("a", 120.0), ph.loads.central(EARTH.mu), ph.loads.harmonics("egm2008", degree=9)),
        LOW, 3000.0, 5.0,
    ),
}  # fmt: skip


def is_tabled(system):
    dynamics, moves = system.in_full, tuple(np.isfinite(system.mass).tolist())
    turns = tuple(np.isfinite(system.moments).all(axis=1).tolist())
    loads = dynamics.force, dynamics.torque, dynamics.rates
    return series_role(dynamics.graph, system.N, *loads, moves, turns).code.size > 0


@each("name", SYSTEMS)
def test_runs_by_tables_end_where_those_do_that_evaluate_the_loads(name):
    system, start, t_end, step = SYSTEMS[name]()
    assert is_tabled(system)
    words = {"t_end": t_end, "every": 10**9, **start}
    expected = ph.integrate(system, "rkn8_17", step=step, **words)
    for how in ({"steps": ph.Tolerance(1e-14)}, {"step": 10.0 * step}):
        found = ph.integrate(system, "taylor", **how, **words)
        for key in ("position", "velocity"):
            want = expected[key].values[-1]
            assert_allclose(found[key].values[-1], want, rtol=0, atol=1e-12 * np.abs(want).max())
        assert np.abs(found.energy_error.values).max() < 1e-12


def test_an_attitude_in_a_field_by_a_table():
    system = ph.spacecraft((40.0, 44.0, 25.0), EARTH.mu, mass=60.0, forces=[field(8)])
    assert is_tabled(system)
    start = LOW | {"attitude": ph.rotation.exp_quaternion((0.5, -1.0, 0.8)), "angular_velocity": (0.03, -0.02, 0.01)}
    words = {"t_end": 600.0, "every": 10**9, **start}
    found = ph.integrate(system, "taylor", steps=ph.Tolerance(1e-14), **words)
    expected = ph.integrate(system, "mkrk:gauss10", step=1.0, **words)
    assert ph.rotation.angle_between(found.attitude.values[-1], expected.attitude.values[-1]) < 1e-11
    assert_allclose(found.position.values[-1], expected.position.values[-1], rtol=1e-11)


def test_other_numbers_are_read_by_the_same_kernel():
    """Masses, and numbers that functions close over."""

    def pulled_by(k):
        def pull(a, b):
            d = b.position - a.position
            return -k * a.mass * b.mass * (d @ d + k) ** -0.5

        return ph.system(*(ph.body(f"b{i}", 1.0 + k * i) for i in range(9)), ph.loads.of(pull).on(ph.pairs))

    start = bodies(9)[1]
    for k in (0.3, 0.7):
        words = {"step": 0.02, "steps": 50, "every": 50, **start}
        ends = [ph.integrate(pulled_by(k), name, **words).position.values[-1] for name in ("taylor14", "rkn8_17")]
        assert is_tabled(pulled_by(k))
        assert_allclose(*ends, rtol=0, atol=1e-11)


def test_rows_between_steps_and_members_on_threads():
    mu, start = bodies(9)
    system = ph.gravitating_bodies(mu=mu)
    words = {"steps": ph.Tolerance(1e-12), "t_end": 2.0, **start}
    times = np.linspace(0.0, 2.0, 7)
    rows = ph.integrate(system, "taylor", t_eval=times, **words)
    exact = ph.integrate(system, "rkn8_17", step=2.0 / 600, t_end=2.0, every=100, **start)
    assert_allclose(rows.position.values, exact.position.values, rtol=0, atol=1e-10)
    members = np.stack([start["position"], 1.1 * start["position"], 0.9 * start["position"]])
    many = ph.ensemble(system, "taylor", members={"position": members}, engine="threads", **words | {"position": None})
    assert_array_equal(many.position.values[0, -1], ph.integrate(system, "taylor", **words).position.values[-1])


def far(a, b):
    """Which chooses between formulas."""
    d = b.position - a.position
    return -(np.maximum(d @ d, 0.01) ** -0.5) * np.exp(-(d @ d))


def test_a_long_series_that_chooses_is_refused():
    system = ph.system(*(ph.body(f"b{i}", 1.0) for i in range(22)), ph.loads.of(far).on(ph.pairs))
    with pytest.raises(InvalidInput, match=r"has \d{4} products; at most 1000 .* 'mkrk:cv8'"):
        ph.integrate(system, "taylor", step=0.01, steps=1, **bodies(22)[1])


def test_pairs_of_too_many_bodies_and_within_a_cut_off_are_no_program():
    for n, words, why in ((65, {}, "of 64 at most"), (9, {"cutoff": 2.0, "box": 9.0}, "only four derivatives")):
        load = ph.loads.of(screened, k=0.3).on(ph.pairs)
        system = ph.system(*(ph.body(f"b{i}", 1.0) for i in range(n)), load, **words)
        assert why in system.in_full.reason


def test_taylor_takes_pairs_with_numbers_of_each():
    dipole = np.random.default_rng(1).standard_normal((5, 3))
    start = {"position": 1.4 * np.array(list(np.ndindex(2, 2, 2))[:5]), "angular_momentum": dipole}
    for system in (ph.dipoles(5, dipole=dipole), ph.rigid_water(2)):
        given = {name: value[: system.N] for name, value in start.items()}
        given["position"] *= 0.2 if system.N == 2 else 1.0
        h = 1e-3 if system.N == 2 else 0.02
        found = ph.integrate(system, "taylor", step=h, steps=20, **given)
        other = ph.integrate(system, "rkn6_14a", step=h / 4, steps=80, every=4, **given)
        assert abs(found.position - other.position).max() < 1e-13
        assert abs(found.attitude - other.attitude).max() < 1e-13


def test_derivatives_of_a_field_by_its_series():
    system, words = ph.orbit(EARTH.mu, forces=[field(5)]), {"step": 60.0, "steps": 5, "every": 5}
    found = ph.integrate(system, "taylor12", tangent=True, **words, **LOW).state_transition[-1]
    x, y, z = LOW["position"]
    ends = [ph.integrate(system, "taylor12", **words, **LOW | {"position": (x, y + d, z)}).position.values[-1]
            for d in (200.0, -200.0)]  # fmt: skip
    along = found.sel(column="position_y", row=["position_x", "position_y", "position_z"]).values
    assert_allclose(along, (ends[0] - ends[1]) / 400.0, rtol=0, atol=1e-7)
