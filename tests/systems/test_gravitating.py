"""Point masses that attract each other: the conic of two, the figure eight of three, and what is conserved."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.checks import load_caller
from polhode.runs.initial_state import start_state

THREE = {
    "position": np.array([(1.0, 0.2, 0.1), (-0.7, 0.9, -0.4), (-0.3, -1.1, 0.5)]),
    "velocity": np.array([(0.1, 0.5, -0.2), (-0.6, -0.1, 0.3), (0.4, -0.2, 0.1)]),
}
MUS = np.array((1.0, 2.0, 0.5))


def load(system, **start):
    y, out = start_state(system, **start), np.full(6 * system.N, np.nan)
    load_caller()(system.compiled_loads(0.0, y), 0.0, system.N, y, system.bodies, system.with_memory, out)
    return out.reshape(-1, 6)


def test_it_keeps_what_it_says():
    report = ph.checks.check_system(ph.gravitating_bodies(MUS, G=0.7), states=2, span=0.5, **THREE)
    report.raise_for_failure()
    said = {line.what for line in report.lines}
    assert {"loads and potential", "loads of the commutator", "conserves energy", "conserves total_momentum",
            "conserves total_angular_momentum"} <= said  # fmt: skip


def test_forces_of_all_pairs():
    r = THREE["position"]
    F = load(ph.gravitating_bodies(mass=MUS, G=0.3), **THREE)
    expected = np.zeros((3, 3))
    for i, j in itertools.permutations(range(3), 2):
        expected[i] += 0.3 * MUS[i] * MUS[j] * (r[j] - r[i]) / np.linalg.norm(r[j] - r[i]) ** 3
    np.testing.assert_allclose(F[:, :3], expected, rtol=1e-14)
    assert not F[:, 3:].any()


def test_forces_of_two_bodies_sum_to_zero_exactly():
    rng = np.random.default_rng(1)
    for _ in range(20):
        system = ph.gravitating_bodies(rng.uniform(0.1, 9.0, 2), G=rng.uniform(0.1, 9.0))
        F = load(system, position=rng.normal(size=(2, 3)))[:, :3]
        np.testing.assert_array_equal(F[0], -F[1])


@each("label", ["rkn6_14a", "mkrk:gauss8", "pmlf6"])
def test_two_bodies_move_on_the_exact_conic(label):
    mu = np.array((1.0, 0.4))
    r, v = np.array([(0.3, 0.1, 0.0), (-0.6, 0.2, 0.3)]), np.array([(0.1, 0.5, 0.2), (-0.2, -0.6, 0.1)])
    ds = ph.integrate(ph.gravitating_bodies(mu), label, step=0.005, steps=800, every=80, position=r, velocity=v)
    for k, t in enumerate(ds.time.values):
        apart, speed = ph.kepler.propagate(r[1] - r[0], v[1] - v[0], t, mu.sum())
        centre = (mu @ r + t * (mu @ v)) / mu.sum()
        for i, share in ((0, -mu[1] / mu.sum()), (1, mu[0] / mu.sum())):
            np.testing.assert_allclose(ds.position[k, i], centre + share * apart, rtol=0, atol=1e-8)
            np.testing.assert_allclose(ds.velocity[k, i], mu @ v / mu.sum() + share * speed, rtol=0, atol=1e-7)


def test_the_figure_eight_closes():
    """Three equal masses on one curve: initial values and period of Simo, in Chenciner and Montgomery (2000)."""
    a, b = np.array((0.97000436, -0.24308753, 0.0)), np.array((-0.93240737, -0.86473146, 0.0))
    start = {"position": [a, -a, (0, 0, 0)], "velocity": [-b / 2, -b / 2, b]}
    period = 6.32591398
    ds = ph.integrate(ph.gravitating_bodies((1.0, 1.0, 1.0)), step=period / 300, steps=300, **start)
    np.testing.assert_allclose(ds.position[-1], ds.position[0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(ds.velocity[-1], ds.velocity[0], rtol=0, atol=1e-6)
    third = ds.position.values[100]  # after a third of the period each is where another began
    for place in ds.position.values[0]:
        assert np.linalg.norm(third - place, axis=1).min() < 1e-6
    assert ds.total_momentum.dims == ds.total_angular_momentum.dims == ("time", "axis")
    assert abs(ds.total_angular_momentum).max() < 1e-14 and abs(ds.energy_error).max() < 1e-8


def test_the_numbering_does_not_matter():
    first = ph.integrate(ph.gravitating_bodies(MUS), step=0.01, steps=100, **THREE)
    for order in ([1, 2, 0], [2, 1, 0]):
        start = {name: value[order] for name, value in THREE.items()}
        ds = ph.integrate(ph.gravitating_bodies(MUS[order]), step=0.01, steps=100, **start)
        np.testing.assert_allclose(ds.position, first.position[:, order], rtol=0, atol=1e-12)


def test_masses_and_units():
    a, b = ph.gravitating_bodies(mu=MUS, G=0.7), ph.gravitating_bodies(mass=MUS / 0.7, G=0.7)
    np.testing.assert_allclose(a.mass, b.mass, rtol=1e-15)
    one, two = (ph.integrate(system, step=0.01, steps=50, **THREE) for system in (a, ph.gravitating_bodies(MUS)))
    np.testing.assert_allclose(one.position, two.position, rtol=0, atol=1e-13)
    np.testing.assert_allclose(one.energy, two.energy / 0.7, rtol=1e-13)
    np.testing.assert_array_equal(ph.rerun(one).position, one.position)


@each("arguments, said", [
    ({}, "either mu or mass"),
    ({"mu": MUS, "mass": MUS}, "either mu or mass"),
    ({"mu": 1.0}, "two or more"),
    ({"mu": [1.0]}, "two or more"),
    ({"mu": [1.0, -1.0]}, r"mu\[1\] is -1"),
    ({"mass": [1.0, 0.0]}, "mass is zero but for the first body"),
    ({"mu": [0.0, 1.0]}, r"mu\[0\] is 0, but the first body must attract"),
    ({"mu": [1.0, 1.0], "G": 0.0}, "G is 0"),
])  # fmt: skip
def test_wrong_arguments(arguments, said):
    with pytest.raises(ph.errors.InvalidInput, match=said):
        ph.gravitating_bodies(**arguments)


def test_bodies_at_one_place_are_told():
    with np.errstate(all="ignore"), pytest.raises(ph.errors.NotFinite):
        ph.integrate(ph.gravitating_bodies((1.0, 1.0)), "mkrk:rk4", step=0.1, steps=3)


def test_masses_are_inputs_of_the_program():
    """Which bodies are test particles, and G, are part of it."""
    a, b = (ph.gravitating_bodies(mass=mass, G=0.7).dynamics for mass in ((1.0, 2.0, 0.0), (3.0, 0.1, 0.0)))
    assert a.traced and a.graph.rows == b.graph.rows and a.force == b.force
    assert set(a.fixed.values()) <= {0.7, 0.0}


@each("given", [{"mass": [5e-324, 1.0]}, {"mass": [1.0, 1.0], "G": 1e308}, {"mu": [1.0, 1e-101]}])
def test_masses_beyond_any_digits_are_refused(given):
    with pytest.raises(
        ph.errors.InvalidInput, match=r"of the bodies is .* take other units, and 0 for a test particle"
    ):
        ph.gravitating_bodies(**given)
