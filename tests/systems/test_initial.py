"""Initial states of many bodies: the draw of Celledoni 2008, lattices, uniform rotations, temperatures, energies."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.systems.loads_roles import no_loads
from polhode.systems.record import IDENTITY, System

MOMENTS = (1.0, 1.88, 2.88)


def molecules(n, mass=1.0, moments=MOMENTS, frames=IDENTITY, **more):
    """Bodies without loads."""
    return System(
        name="molecules", arguments={}, mass=np.broadcast_to(mass, n).astype(float),
        moments=np.broadcast_to(moments, (n, 3)).astype(float), frames=np.broadcast_to(frames, (n, 4)).astype(float),
        commutator=no_loads, provides={"velocity_independent"}, conserves=("energy",), **more,
    )  # fmt: skip


def matrices(q):
    """Rotation matrices of unit quaternions (n, 4), written out."""
    w, x, y, z = q.T
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]).transpose(2, 0, 1)  # fmt: skip


def dipolar_energy(state):
    """Potential energy of soft dipolar spheres, sigma = epsilon = 1, dipoles (0, 1, 1) in the body."""
    r, mu = state["position"], matrices(state["attitude"]) @ np.array([0.0, 1.0, 1.0])
    i, j = np.triu_indices(len(r), 1)
    d = r[i] - r[j]
    length = np.linalg.norm(d, axis=1)
    along = np.einsum("kc,kc->k", mu[i], d) * np.einsum("kc,kc->k", mu[j], d)
    return np.sum(4.0 / length**12 + np.einsum("kc,kc->k", mu[i], mu[j]) / length**3 - 3.0 * along / length**5)


# ------------------------------------------------------------------ draws and lattices
@each(
    ("seed", "energy"),
    [(0, 2.93847590483427e-05), (1, 0.000467083378851783), (2, 0.000188097659445363), (1481, 0.144083942012),
     (2024, -0.0129394614779463)],
)  # fmt: skip
def test_the_draw_of_the_paper_has_the_energy_it_had(seed, energy):
    state = ph.initial.gaussian_draw(100, seed)
    assert dipolar_energy(state) == pytest.approx(energy, rel=3e-12)
    assert not state["momentum"].any() and not state["angular_momentum"].any()


def test_the_draw_with_another_scale_is_the_same_draw():
    wide, narrow = ph.initial.gaussian_draw(7, 3), ph.initial.gaussian_draw(7, 3, scale=0.5)
    np.testing.assert_allclose(wide["position"] * (0.5 / 7.0), narrow["position"], rtol=1e-15)
    np.testing.assert_array_equal(wide["attitude"], narrow["attitude"])


def test_the_draw_is_a_start_of_integrate():
    ds = ph.integrate(molecules(5), "v2", step=0.1, steps=2, **ph.initial.gaussian_draw(5, 1))
    np.testing.assert_allclose(ds.position[-1], ds.position[0], rtol=0, atol=0.0)


def test_the_lattice_of_the_paper():
    """Sites (1, 1, 1) ... (5, 5, 5) with 1 % noise: energies of soft dipolar spheres from 1210 to 1280 at spacing 1,
    and of a few units at spacing 2."""
    for seed in range(5):
        near, box = ph.initial.cubic(5, noise=0.01, seed=seed)
        turned = ph.initial.random_rotations(125, seed)
        assert 1205.0 < dipolar_energy(near | turned) < 1285.0
        far, wide = ph.initial.cubic(5, spacing=2.0, noise=0.01, seed=seed)
        assert abs(dipolar_energy(far | turned)) < 10.0
        np.testing.assert_allclose(far["position"], 2.0 * near["position"], rtol=1e-15)
        assert box.tolist() == [5.0] * 3 and wide.tolist() == [10.0] * 3
    sites = ph.initial.cubic(5).state["position"]
    assert sites.tolist() == [list(map(float, site)) for site in itertools.product(range(1, 6), repeat=3)]
    moved = near["position"] - sites
    assert np.std(moved) == pytest.approx(0.01, rel=0.1)


@each(
    ("lattice", "sites", "neighbours", "distance"),
    [("cubic", 1, 6, 1.0), ("bcc", 2, 8, np.sqrt(0.75)), ("fcc", 4, 12, np.sqrt(0.5))],
)
def test_lattices_have_their_neighbours_across_the_box(lattice, sites, neighbours, distance):
    spacing = 1.3
    state, box = ph.initial.LATTICES[lattice]((3, 4, 5), spacing=spacing)
    r = state["position"]
    assert len(r) == 60 * sites and box.tolist() == pytest.approx([3 * spacing, 4 * spacing, 5 * spacing])
    d = r[:, None] - r
    d -= box * np.round(d / box)
    lengths = np.linalg.norm(d, axis=2) + 9.0 * spacing * np.eye(len(r))
    np.testing.assert_allclose(lengths.min(axis=1), spacing * distance, rtol=1e-14)
    assert ((lengths < 1.001 * spacing * distance).sum(axis=1) == neighbours).all()


def test_rotations_are_uniform():
    """Of uniform rotations every entry of the matrix has mean 0 and mean square 1/3, and tr R the mean square 1."""
    n = 40_000
    q = ph.initial.random_rotations(n, 5)["attitude"]
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=4e-16)
    R = matrices(q)
    sigma = 5.0 / np.sqrt(n)
    np.testing.assert_allclose(R.mean(axis=0), 0.0, rtol=0, atol=sigma * np.sqrt(1.0 / 3.0))
    np.testing.assert_allclose((R**2).mean(axis=0), 1.0 / 3.0, rtol=0, atol=sigma * np.sqrt(1.0 / 5.0 - 1.0 / 9.0))
    trace = np.trace(R, axis1=1, axis2=2)
    assert trace.mean() == pytest.approx(0.0, abs=sigma)
    assert (trace**2).mean() == pytest.approx(1.0, abs=sigma * np.sqrt(2.0))


# ------------------------------------------------------------------ temperature
def test_momenta_have_the_variances_of_maxwell_and_boltzmann():
    n, kT = 20_000, 0.3 * 0.7
    mass = np.where(np.arange(n) % 2, 2.0, 5.0)
    frame = ph.rotation.exp_quaternion((0.4, -0.9, 0.2))
    system = molecules(n, mass=mass, frames=frame, boltzmann=0.7)
    state = ph.initial.thermal(system, 0.3, 11, zero_total_momentum=False)
    tight = 5.0 * np.sqrt(2.0 / (0.5 * n))
    for m in (2.0, 5.0):
        np.testing.assert_allclose((state["momentum"][mass == m] ** 2).mean(axis=0), m * kT, rtol=tight)
    inside = state["angular_momentum"] @ ph.rotation.matrix_from_quaternion(frame)  # R^T L: principal axes
    np.testing.assert_allclose((inside**2).mean(axis=0), np.array(MOMENTS) * kT, rtol=tight)
    fourth = (inside**4).mean(axis=0) / (inside**2).mean(axis=0) ** 2
    np.testing.assert_allclose(fourth, 3.0, rtol=0, atol=5.0 * np.sqrt(96.0 / n))


@each("zero", [True, False])
def test_exact_temperatures(zero):
    n, T = 30, 1.7
    rng = np.random.default_rng(2)
    frames = rng.standard_normal((n, 4))
    frames /= np.linalg.norm(frames, axis=1)[:, None]
    system = molecules(n, mass=rng.uniform(1.0, 9.0, n), frames=frames, boltzmann=0.4)
    state = ph.initial.thermal(system, T, 3, zero_total_momentum=zero, exact=True)
    places = 0.5 * np.sum(state["momentum"] ** 2 / system.mass[:, None])
    assert places == pytest.approx(0.5 * (3 * n - 3 * zero) * 0.4 * T, rel=1e-14)
    total = np.linalg.norm(state["momentum"].sum(axis=0))
    assert (total < 1e-13) if zero else (total > 1.0)
    ds = ph.integrate(system, "v2", step=0.01, steps=1, **ph.initial.random_rotations(n, 1), **state)
    turning = float(ds.kinetic_energy[0]) - places
    assert turning == pytest.approx(1.5 * n * 0.4 * T, rel=1e-13)


def test_what_cannot_move_stays_at_rest():
    """Pinned bodies, points, and turns about an axis without moment, as of a linear molecule."""
    mass = np.array([1.0, np.inf, 2.0, 3.0])
    moments = np.array([MOMENTS, MOMENTS, (np.inf,) * 3, (2.0, 2.0, 0.0)])
    state = ph.initial.thermal(molecules(4, mass=mass, moments=moments), 2.0, 1, exact=True)
    p, m = state["momentum"], state["angular_momentum"]
    assert not p[1].any() and p[[0, 2, 3]].all()
    assert not m[2].any() and m[3, 2] == 0.0 and m[[0, 1]].all() and m[3, :2].all()
    np.testing.assert_allclose(p.sum(axis=0), 0.0, rtol=0, atol=1e-15)
    assert np.sum(p[[0, 2, 3]] ** 2 / mass[[0, 2, 3], None]) == pytest.approx(6 * 2.0, rel=1e-14)
    turning = np.sum(m[:2] ** 2 / MOMENTS) + np.sum(m[3, :2] ** 2 / 2.0)
    assert turning == pytest.approx(8 * 2.0, rel=1e-14)


def test_keys_are_those_the_system_has_use_for():
    assert set(ph.initial.thermal(ph.gravitating_bodies(mass=[1.0, 2.0]), 1.0, 0)) == {"momentum"}
    assert set(ph.initial.thermal(ph.free_body(MOMENTS), 1.0, 0)) == {"angular_momentum"}
    at_rest = ph.initial.thermal(molecules(3), 0.0, 0, exact=True)
    assert not at_rest["momentum"].any() and not at_rest["angular_momentum"].any()


def test_one_body_has_its_temperature_too():
    state = ph.initial.thermal(ph.free_body(MOMENTS), 0.5, 4, exact=True)
    ds = ph.integrate(ph.free_body(MOMENTS), "exact", step=0.1, steps=1, **state)
    assert float(ds.energy[0]) == pytest.approx(0.75, rel=1e-14)


def test_one_seed_gives_numbers_that_do_not_depend_on_each_other():
    n = 10_000
    moved = ph.initial.LATTICES["cubic"]((10, 10, 100), noise=1.0, seed=6).state["position"]
    moved = moved - ph.initial.cubic((10, 10, 100)).state["position"]
    momenta = ph.initial.thermal(molecules(n), 1.0, 6)
    turned = ph.initial.random_rotations(n, 6)["attitude"][:, :3]
    draws = [moved, momenta["momentum"], momenta["angular_momentum"], turned]
    for a, b in itertools.combinations(draws, 2):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 5.0 / np.sqrt(3 * n)


def test_the_seed_is_0_unless_given():
    assert ph.initial.random_rotations(3)["attitude"].tolist() == ph.initial.random_rotations(3, 0)["attitude"].tolist()
    drawn, given = (ph.initial.cubic(2, noise=0.1, **seed).state["position"] for seed in ({}, {"seed": 0}))
    assert drawn.tolist() == given.tolist()
    drawn, given = (ph.initial.at_energy(TWO, FAR, 1.0, *seed)["momentum"] for seed in ((), (0,)))
    assert drawn.tolist() == given.tolist() and drawn.any()
    drawn, given = (ph.initial.thermal(TWO, 1.0, *seed)["momentum"] for seed in ((), (0,)))
    assert drawn.tolist() == given.tolist()


def test_the_same_seed_is_the_same_state_and_generators_are_used_as_they_are():
    once, again = (ph.initial.thermal(molecules(4), 1.0, 9) for _ in range(2))
    np.testing.assert_array_equal(once["momentum"], again["momentum"])
    draws, plain = np.random.default_rng(9), np.random.default_rng(9)
    q = plain.standard_normal((4, 4))
    given = ph.initial.random_rotations(4, draws)["attitude"]
    np.testing.assert_array_equal(given, q / np.linalg.norm(q, axis=1)[:, None])
    assert draws.standard_normal() == plain.standard_normal()


# ------------------------------------------------------------------ energy
def gravity(r, mass):
    i, j = np.triu_indices(len(r), 1)
    return -np.sum(mass[i] * mass[j] / np.linalg.norm(r[i] - r[j], axis=1))


def test_momenta_make_up_the_energy():
    mass = np.linspace(0.5, 2.0, 27)
    system = ph.gravitating_bodies(mass=mass)
    state = ph.initial.cubic(3, spacing=2.0, noise=0.05, seed=1).state
    at_rest = gravity(state["position"], mass)
    for energy in (at_rest + 1e-3, 0.0, 50.0):
        made = ph.initial.at_energy(system, state, energy, seed=2)
        kinetic = np.sum(made["momentum"] ** 2 / (2.0 * mass[:, None]))
        assert at_rest + kinetic == pytest.approx(energy, abs=1e-12)
        np.testing.assert_allclose(made["momentum"].sum(axis=0), 0.0, rtol=0, atol=1e-12)
        assert float(ph.integrate(system, "v2", step=1e-3, steps=1, **made).energy[0]) == pytest.approx(
            energy, abs=1e-12
        )
    assert not ph.initial.at_energy(system, made | {"momentum": np.ones(3)}, at_rest + 1e-9)["momentum"].max() > 1e-4


def test_given_momenta_are_scaled_and_those_of_other_bodies_stay():
    mass = np.linspace(0.5, 2.0, 8)
    system = ph.gravitating_bodies(mass=mass)
    state = ph.initial.cubic(2, spacing=3.0).state | ph.initial.thermal(system, 0.1, 4)
    p = state["momentum"]
    made = ph.initial.at_energy(system, state, 5.0)["momentum"]
    factor = made[0, 0] / p[0, 0]
    assert factor > 1.0
    np.testing.assert_allclose(made, factor * p, rtol=1e-14)
    two = ph.initial.at_energy(system, state, 5.0, bodies=(0, -1))["momentum"]
    np.testing.assert_array_equal(two[1:-1], p[1:-1])
    kinetic = np.sum(two**2 / (2.0 * mass[:, None]))
    assert gravity(state["position"], mass) + kinetic == pytest.approx(5.0, rel=1e-14)


def test_the_first_and_the_last_molecule_are_pushed_as_in_the_paper():
    system = ph.gravitating_bodies(mass=np.full(125, 0.1))
    made = ph.initial.at_energy(system, ph.initial.cubic(5).state, 3.0, seed=1, bodies=(0, 124))["momentum"]
    assert not made[1:-1].any()
    np.testing.assert_allclose(made[0], -made[-1], rtol=1e-14)
    r = ph.initial.cubic(5).state["position"]
    assert gravity(r, np.full(125, 0.1)) + np.sum(made**2) / 0.2 == pytest.approx(3.0, rel=1e-13)


def test_the_energy_of_attitudes_and_turns_counts():
    """A tensor off its principal axes, an attitude, an angular momentum, and a potential by the attitude."""
    inertia = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 4.0]])
    system = ph.rigid_body(inertia, potential=lambda t, q, parameters: 3.0 * q[0] * q[1], mass=2.0)
    q = ph.rotation.exp_quaternion((0.5, -0.4, 1.1))
    m = np.array([0.4, -0.8, 0.3])
    state = {"attitude": q, "angular_momentum": m, "momentum": (0.0, 1.0, 0.0)}
    inside = 3.0 * q[0] * q[1] + 0.5 * m @ np.linalg.solve(inertia, m)
    made = ph.initial.at_energy(system, state, inside + 4.0)
    np.testing.assert_allclose(made["momentum"], [(0.0, 4.0, 0.0)], rtol=1e-14)  # p^2 / 2 m = 16 / 4
    with pytest.raises(ph.errors.InvalidInput, match=r"of potential energy and 0.1[0-9]* of motion that stays"):
        ph.initial.at_energy(system, state, inside - 1e-6)


def test_bodies_without_loads_have_no_potential_energy():
    made = ph.initial.at_energy(molecules(4, mass=3.0), {}, 6.0, seed=0)
    assert np.sum(made["momentum"] ** 2) == pytest.approx(36.0, rel=1e-14)


# ------------------------------------------------------------------ mistakes
FAR = {"position": [(0.0, 0.0, 0.0), (3.0, 0.0, 0.0)]}
TWO = ph.gravitating_bodies(mass=[1.0, 1.0])


@each(
    ("make", "told"),
    [
        (lambda: ph.initial.gaussian_draw(0, 1), "n is 0; it must be 1 or more"),
        (lambda: ph.initial.gaussian_draw(2.5, 1), "n must be a whole number, not 2.5"),
        (lambda: ph.initial.gaussian_draw(3, None), "seed must be a whole number"),
        (lambda: ph.initial.gaussian_draw(3, -1), "seed must be a whole number, zero or positive"),
        (lambda: ph.initial.gaussian_draw(3, 1.5), "seed must be a whole number"),
        (lambda: ph.initial.gaussian_draw(3, 1, scale=0.0), "scale is 0; it must be positive"),
        (lambda: ph.initial.random_rotations(-2, 1), "n is -2"),
        (lambda: ph.initial.cubic(0), "cells is 0; it must be 1 or more"),
        (lambda: ph.initial.cubic((2, 2)), "cells must be one whole number, or three of them"),
        (lambda: ph.initial.fcc(2, spacing=-1.0), "spacing is -1; it must be positive"),
        (lambda: ph.initial.bcc(2, noise=-0.1, seed=1), "noise is -0.1; it must be zero or positive"),
        (lambda: ph.initial.bcc(2, noise=float("nan"), seed=1), "noise is nan; it must be a finite number"),
        (lambda: ph.initial.thermal(TWO, -1.0, 1), "temperature is -1; it must be zero or positive"),
        (lambda: ph.initial.thermal(TWO, float("nan"), 1), "temperature is nan; it must be a finite number"),
        (lambda: ph.initial.thermal(ph.particle(), 1.0, 1, exact=True), "no momentum is left to scale"),
        (lambda: ph.initial.at_energy(TWO, FAR, -0.5, 1), "energy is -0.5, but the state has -0.333333 of potential"),
        (lambda: ph.initial.at_energy(TWO, FAR, 1.0, 1, bodies=(0,)), "one body alone cannot have zero total momentum"),
        (lambda: ph.initial.at_energy(TWO, FAR, 1.0, 1, bodies=(0, 2)), "bodies has 2, but there are 2 bodies"),
        (lambda: ph.initial.at_energy(TWO, FAR, 1.0, 1, bodies=(0.5,)), "bodies must be a sequence of whole numbers"),
        (lambda: ph.initial.at_energy(TWO, ph.initial.cubic(2), 1.0, 1), "cubic(4).state, not a Lattice"),
        (lambda: ph.initial.at_energy(TWO, {}, 1.0, 1), "potential energy of the state is not finite"),
        (lambda: ph.initial.at_energy(TWO, {"positions": 1}, 1.0, 1), "did you mean 'position'"),
        (lambda: ph.initial.at_energy(TWO, {"position": [1.0]}, 1.0, 1), "position must be 3 numbers for each of 2"),
        (lambda: ph.initial.at_energy(ph.free_body(MOMENTS), {}, 1.0, 1), "do not move through space"),
        (lambda: ph.initial.at_energy(molecules(2), {"attitude": (2, 0, 0, 0)}, 1.0, 1), "attitude of body 0 has"),
        (lambda: ph.initial.at_energy(molecules(2, mass=[1.0, np.inf]), {}, 1.0, 1, bodies=(1,)), "bodies has 1, but"),
        (lambda: ph.initial.at_energy(ph.particle(force=lambda t, r, v, p: r), {}, 1.0, 1), "state no potential"),
    ],
)
def test_mistakes_are_told(make, told):
    with pytest.raises(ph.errors.InvalidInput) as refused:
        make()
    assert told in str(refused.value)
