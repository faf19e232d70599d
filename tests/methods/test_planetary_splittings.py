"""Kepler motion between kicks for bodies that attract each other (Wisdom and Holman, in Jacobi coordinates)."""

import numpy as np
import pytest

import mp_kepler
import polhode as ph
from cover import crossed
from each import each
from kepler_draws import on_conic, turned
from polhode.algebra.kepler_lanes import short_orbits
from polhode.checks import load_caller, slicing_defect, symmetry_defect
from polhode.errors import InvalidInput
from polhode.kernel import layout as L
from polhode.methods import method
from polhode.runs.initial_state import start_state
from polhode.trajectory.convergence import observed_order
from solar_system import MASSES, PLACES, START, VELOCITIES, G, outer_planets

YEAR, CENTURY = 365.25, 36525.0


@pytest.fixture(scope="module")
def end():
    """After a century: without /kepler, at steps whose error is round-off."""
    return ph.integrate(
        outer_planets(), "rkn8_17", step=CENTURY / 3652, steps=3652, every=3652, **START
    ).position.values[-1]


def final(label, step, span=CENTURY, system=None, **how):
    n = round(span / step)
    return ph.integrate(system or outer_planets(), label, step=span / n, steps=n, every=n, **START | how)


def error(label, step, end):
    return float(np.abs(final(label, step).position.values[-1] - end).max())


# ------------------------------------------------------------------ the parts of the forces
def loads(system, y, part):
    out = np.full(6 * system.N, np.nan)
    load_caller(part)(system.compiled_loads(0.0, y), 0.0, system.N, y, system.bodies, system.with_memory, out)
    return out.reshape(-1, 6)[:, :3]


def between_orbits_in_digits(mu, mass, r):
    """What is left of the forces, as minus the gradient of the energy of the pairs without that of the orbits."""
    import mpmath as mp

    with mp.workdps(60):
        N, mu = len(mu), [mp.mpf(float(x)) for x in mu]
        mass = [mp.mpf(float(x)) for x in mass]
        r = [[mp.mpf(float(x)) for x in row] for row in r]

        def level(r):
            total = mp.mpf(0)
            for i in range(N):
                for j in range(i):
                    total -= mass[i] * mu[j] / mp.sqrt(sum((a - b) ** 2 for a, b in zip(r[i], r[j], strict=True)))
                if i:
                    M = sum(mu[:i])
                    R = [sum(mu[j] * r[j][k] for j in range(i)) / M for k in range(3)]
                    total += mass[i] * M / mp.sqrt(sum((a - b) ** 2 for a, b in zip(r[i], R, strict=True)))
            return total

        F, d = np.zeros((N, 3)), mp.mpf(10) ** -20
        for i in range(N):
            for k in range(3):
                here = r[i][k]
                r[i][k] = here + d
                above = level(r)
                r[i][k] = here - d
                F[i, k] = -(above - level(r)) / (2 * d)
                r[i][k] = here
        return F


@each("scale", [1.0, 1e-6])
def test_what_is_left_of_the_forces_is_exact(scale):
    """Planets 1e-6 as heavy leave 1e-9 of the forces, with the same digits: nothing cancels."""
    mass = np.array(MASSES) * np.array([1.0, *[scale] * 5])
    system = ph.gravitating_bodies(mass=mass, G=G)
    y = start_state(system, **START)
    exact = between_orbits_in_digits(G * mass, mass, PLACES)
    found = loads(system, y, L.WITHOUT_SOLVED)
    size = np.linalg.norm(exact, axis=1)[:, None]
    # The third digit is what rounding of places, which are of size 30, does to the coordinates of a pair.
    assert (np.abs(found - exact) / size).max() < 3e-14
    assert np.abs(found.sum(axis=0)).max() < 1e-15 * np.abs(found).max()


def test_close_to_the_star_nothing_is_lost_either():
    mass, r = (1.0, 0.3, 0.2), np.array([(0.0, 0.0, 0.0), (1.0, 0.2, 0.0), (0.01, 0.02, 0.005)])
    system = ph.gravitating_bodies(mass=mass)
    exact = between_orbits_in_digits(mass, mass, r)
    found = loads(system, start_state(system, position=r), L.WITHOUT_SOLVED)
    np.testing.assert_allclose(found, exact, rtol=1e-13)


# ------------------------------------------------------------------ motion
def test_two_bodies_take_any_step_and_the_centre_of_mass_moves_uniformly():
    mu = np.array((1.0, 0.4))
    r, v = np.array([(0.3, 0.1, 0.0), (-0.6, 0.2, 0.3)]), np.array([(0.1, 0.5, 0.2), (-0.2, -0.6, 0.1)])
    ds = ph.integrate(ph.gravitating_bodies(mu), "v2/kepler", step=1.7, steps=40, position=r, velocity=v)
    for k, t in enumerate(ds.time.values):
        apart, _ = ph.kepler.propagate(r[1] - r[0], v[1] - v[0], t, mu.sum())
        centre = (mu @ r + t * (mu @ v)) / mu.sum()
        np.testing.assert_allclose(ds.position[k, 0], centre - mu[1] / mu.sum() * apart, rtol=0, atol=3e-13)
        np.testing.assert_allclose(ds.position[k, 1], centre + mu[0] / mu.sum() * apart, rtol=0, atol=3e-13)
    assert float(abs(ds.energy_error).max()) < 1e-14


@each("label, order, steps", [
    ("v2/kepler", 2, (40, 56, 80)), ("v2/kepler:corrected", 2, (40, 56, 80)), ("rkn4_6b/kepler", 4, (28, 40, 56)),
    ("s6_10/kepler", 6, (28, 34, 40)), ("pmlf6/kepler", 6, (24, 28, 34)), ("fg6_5/kepler", 6, (34, 40, 48)),
])  # fmt: skip
def test_order(label, order, steps):
    """Of three heavy bodies, whose orbits disturb each other much."""
    triple = ph.gravitating_bodies(mass=(1.0, 0.2, 0.1))
    start = {
        "position": [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.5, 0.4)],
        "velocity": [(0.0, 0.0, 0.0), (0.0, 1.0, 0.1), (-0.7, 0.1, 0.0)],
    }
    exact = final("rkn8_17", 0.002, 6.0, triple, **start).position.values[-1]
    h = 6.0 / np.array(steps)
    found = [np.abs(final(label, x, 6.0, triple, **start).position.values[-1] - exact).max() for x in h]
    assert observed_order(h, np.array(found)) == pytest.approx(order, abs=0.1 * order)
    assert method(label).promises.order == order


def test_it_pays(end):
    """A step of 400 days, an eleventh of Jupiter's year: as good as a plain method at 30."""
    assert error("aba10_6_4/kepler", 400.0, end) < 1e-8
    assert error("v2/kepler:corrected", 200.0, end) < error("v2/kepler", 200.0, end) / 50


@each("compensated", [False, True])
def test_what_is_conserved_and_sliced(compensated):
    settings = {"compensated": compensated}
    ds = final("aba10_6_4/kepler", 300.0, settings=settings)
    every = ph.integrate(outer_planets(), "aba10_6_4/kepler", step=CENTURY / 122, steps=122, settings=settings, **START)
    assert (every.position.values[-1] == ds.position.values[-1]).all()
    off = []
    for step in range(260, 341, 10):
        L0 = final("aba10_6_4/kepler", step, settings=settings).total_angular_momentum.values
        off.append(np.abs(L0[-1] - L0[0]).max() / np.abs(L0).max())
    assert np.median(off) < 2e-15
    p = ds.total_momentum.values
    largest = np.linalg.norm(ds.momentum.values[0], axis=-1).max()
    assert np.abs(p[-1] - p[0]).max() < (1e-15 if compensated else 1e-14) * largest
    assert float(abs(ds.energy_error[-1])) < 1e-12


def test_steps_are_symmetric_and_do_not_depend_on_slices():
    y = start_state(outer_planets(), **START)
    for label in ("v2/kepler", "rkn6_14a/kepler"):
        assert symmetry_defect(label, outer_planets(), y, t=0.0, h=100.0) < 1e-12
        assert slicing_defect(label, outer_planets(), y, h=200.0) == 0.0


def test_backwards():
    there = final("aba10_6_4/kepler", 300.0)
    back = ph.integrate(
        outer_planets(), "aba10_6_4/kepler", step=CENTURY / 122, t_end=0.0, start={"time": CENTURY},
        position=there.position.values[-1],
        velocity=there.velocity.values[-1],
    )  # fmt: skip
    assert np.abs(back.position.values[-1] - PLACES).max() < 1e-8


def test_a_body_that_leaves_and_one_that_passes():
    """Hyperbolic and nearly parabolic orbits take part."""
    mass = (1.0, 1e-3, 1e-6, 1e-6)
    r = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 3.0, 0.5), (-8.0, 1.0, 0.0)])
    v = np.array([(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.9, 0.6, 0.1), (0.5, 0.0, 0.02)])
    system = ph.gravitating_bodies(mass=mass)
    exact = ph.integrate(system, "rkn8_17", step=0.002, t_end=20.0, every=10000, position=r, velocity=v)
    ds = ph.integrate(system, "aba10_6_4/kepler", step=0.01, t_end=20.0, every=2000, position=r, velocity=v)
    np.testing.assert_allclose(ds.position[-1], exact.position[-1], rtol=0, atol=1e-8)


def test_bodies_that_fall_together_are_told():
    r = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    v = np.array([(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0)])
    with np.errstate(all="ignore"), pytest.raises(ph.errors.NotFinite):
        ph.integrate(ph.gravitating_bodies((1.0, 1e-3, 1e-3)), "v2/kepler", step=0.1, steps=3, position=r, velocity=v)


def test_steps_that_are_too_long_are_told():
    jupiter = 2 * np.pi * np.sqrt(5.2**3 / G)
    with pytest.warns(ph.errors.CoarseStepWarning, match=r"period of 4.33e\+03; take 210, or number the bodies"):
        ph.integrate(outer_planets(), "v2/kepler", step=0.3 * jupiter, steps=3, **START)
    ph.integrate(outer_planets(), "v2/kepler", step=0.2 * jupiter, steps=3, **START)


# ------------------------------------------------------------------ test particles
def test_test_particles_feel_and_do_not_pull():
    """An asteroid and a comet among the planets: these go where they go without, and those where light bodies go."""
    belt, comet = ((0.5, 2.6, 0.3), (-0.0101, 0.0018, 0.0009)), ((-6.0, 1.0, 1.0), (0.002, -0.006, 0.001))
    mass = np.insert(MASSES, [1, 2], [0.0, 0.0])
    r, v = (np.insert(a, [1, 2], [belt[k], comet[k]], axis=0) for k, a in enumerate((PLACES, VELOCITIES)))
    planets = [0, 2, 4, 5, 6, 7]
    assert mass[planets].tolist() == list(MASSES)
    system = ph.gravitating_bodies(mass=mass, G=G)
    light = ph.gravitating_bodies(mass=np.where(mass > 0.0, mass, 1e-16), G=G)
    start = {"position": r, "velocity": v}
    for label, step in (("aba10_6_4/kepler", 100.0), ("rkn6_14a", 20.0)):
        ds, alone = final(label, step, 10 * YEAR, system, **start), final(label, step, 10 * YEAR)
        np.testing.assert_allclose(ds.position[-1, planets], alone.position[-1], rtol=0, atol=1e-12)
        pulling = final(label, step, 10 * YEAR, light, **start)
        np.testing.assert_allclose(ds.position[-1], pulling.position[-1], rtol=0, atol=1e-11)
        np.testing.assert_allclose(ds.velocity[0], v, rtol=1e-15)
        # Energy and momenta are those of the others, to the last digits.
        assert abs(float(ds.energy[0] - alone.energy[0])) < 1e-15 * abs(float(alone.energy[0]))
        np.testing.assert_allclose(ds.total_angular_momentum, alone.total_angular_momentum, rtol=1e-13)
        assert float(abs(ds.energy_error).max()) < 1e-8
    np.testing.assert_array_equal(ph.rerun(ds).position, ds.position)


def test_a_swarm_of_test_particles():
    """Before, among and behind the planets: each goes as if alone."""
    rng, mass = np.random.default_rng(3), np.zeros(20)
    mass[[0, 7, 16]] = 1.0, 1e-3, 3e-4
    angle, a = rng.uniform(0, 6.28, 20), np.sort(rng.uniform(1.0, 8.0, 20))
    r = a[:, None] * np.column_stack([np.cos(angle), np.sin(angle), 0.1 * rng.normal(size=20)])
    v = np.column_stack([-np.sin(angle), np.cos(angle), 0.1 * rng.normal(size=20)]) / np.sqrt(a)[:, None]
    r[0] = v[0] = 0.0
    how = {"step": 0.2, "steps": 50, "every": 50, "settings": {"guard": False}}
    for label in ("sbabc1/kepler", "rkn6_14a"):
        ds = ph.integrate(ph.gravitating_bodies(mass), label, position=r, velocity=v, **how)
        for k in (3, 11, 19):
            few = sorted({0, 7, 16, k})
            alone = ph.integrate(ph.gravitating_bodies(mass[few]), label, position=r[few], velocity=v[few], **how)
            np.testing.assert_allclose(ds.position[-1, few], alone.position[-1], rtol=0, atol=1e-13)


def test_a_test_particle_does_what_a_light_body_does_to_the_commutator():
    label = "fg6_5/kepler"
    mass = np.array(MASSES)
    mass[5] = 0.0
    light = ph.gravitating_bodies(mass=np.where(mass > 0.0, mass, 1e-15), G=G)
    a, b = (final(label, 200.0, 20 * YEAR, s) for s in (ph.gravitating_bodies(mass=mass, G=G), light))
    np.testing.assert_allclose(a.position[-1], b.position[-1], rtol=0, atol=1e-10)


def test_names():
    assert method("v2/kepler").prepare().suited({"mutual_gravity"}).needs == {"mutual_gravity"}
    assert method("v2/kepler").prepare().suited({"central_gravity"}).needs == {"central_gravity"}
    with pytest.raises(InvalidInput, match=r"'rigid_water' does not have; take a system such as .* gravitating_bodies"):
        ph.integrate(ph.rigid_water(2), "v2/kepler", step=0.001, steps=1, position=[(0, 0, 0), (0.5, 0, 0)])


# ------------------------------------------------------------------ the modified kick
def test_the_commutator_of_what_is_left_is_its_derivative():
    """Along the accelerations, by differences of order 6."""
    mass = np.array((1.0, 0.3, 0.0, 0.2))
    system = ph.gravitating_bodies(mass=mass)
    r = np.array([(0.1, 0.0, 0.0), (1.0, 0.2, -0.1), (-1.5, 0.7, 0.3), (0.5, -2.6, 0.4)])
    y = start_state(system, position=r)
    F = loads(system, y, L.WITHOUT_SOLVED)
    out = np.column_stack([F, np.full_like(F, np.nan)]).ravel()
    call = load_caller(L.COMMUTATOR_OF_REST)
    call(system.compiled_loads(0.0, y), 0.0, system.N, y, system.bodies, system.with_memory, out)
    exact = np.zeros_like(F)
    for n, weight in ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0)):
        for sign in (1.0, -1.0):
            moved = start_state(system, position=r + sign * n * 0.01 * F / system.mass[:, None])
            exact += 2.0 * sign * weight / 0.01 * loads(system, moved, L.WITHOUT_SOLVED)
    size = np.linalg.norm(exact, axis=1)[:, None]
    assert (np.abs(out.reshape(-1, 6)[:, :3] - exact) / size).max() < 1e-9
    assert not out.reshape(-1, 6)[:, 3:].any()


def test_a_modified_kick_leaves_no_error_of_second_order(end):
    """Without the commutator load, errors are of second order in the disturbances and in the step."""
    steps = CENTURY / np.array([200, 250, 320])
    plain, modified = (
        [error(label, h, end) for h in steps] for label in ("v2/kepler:corrected", "sbabc1/kepler:corrected")
    )
    assert observed_order(steps, np.array(plain)) == pytest.approx(2, abs=0.1)
    assert observed_order(steps, np.array(modified)) == pytest.approx(4, abs=0.5)
    assert modified[0] < plain[0] / 100
    assert method("sbabc1/kepler:corrected").promises.generalised == (14, 4)
    assert method("sbabc1/kepler:corrected").promises.order == 4
    assert method("sbabc1/kepler").promises.order == 2


# ------------------------------------------------------------------ orbits in lanes
@each(("t", "bodies"), crossed([0.02, 0.7, -0.3], [2, 4, 5, 6, 9, 11]))
def test_weightless_planets_are_on_conics_of_their_own(bodies, t):
    """One step of all together, short and long, and every kind of conic: against 80 digits."""
    rng = np.random.default_rng(bodies)
    r, v, mass = np.zeros((bodies, 3)), np.zeros((bodies, 3)), np.r_[1.0, np.full(bodies - 1, 1e-60)]
    for i in range(1, bodies):
        e = (0.05, 0.0, 0.4, 0.97, 1.3, 0.1, 1.0, 0.7)[(i - 1) % 8]
        r[i], v[i] = turned(rng, *on_conic(e, rng.uniform(-1.5, 1.5), 1.0, q=0.6 + 0.3 * i))
    ds = ph.integrate(ph.gravitating_bodies(mass), "v2/kepler", step=abs(t), t_end=t, position=r, velocity=v)
    for i in range(1, bodies):
        of_r, of_v, x, y = mp_kepler.sensitivity(1.0, r[i], v[i], t)
        for found, exact, allowed in ((ds.position, x, of_r), (ds.velocity, y, of_v)):
            error = mp_kepler.combine(1, mp_kepler.vector(found.values[-1, i]), -1, exact)
            assert mp_kepler.size(error) < 3 * 2.0**-52 * allowed * mp_kepler.size(exact)


def test_roundoff_of_invariants_is_a_random_walk():
    """Relative changes of energy and angular momentum of eight orbits in 100,000 steps, root mean square."""
    rng, N, n, mass = np.random.default_rng(1), 9, 100_000, 1e-30
    r, v = np.zeros((N, 3)), np.zeros((N, 3))
    for i in range(1, N):
        r[i], v[i] = turned(rng, *on_conic(0.05, rng.uniform(-3, 3), 1.0, q=1.0 + 0.01 * i))
    system = ph.gravitating_bodies(np.r_[1.0, np.full(N - 1, mass)])
    ds = ph.integrate(system, "v2/kepler", step=0.3, steps=n, every=n, position=r, velocity=v)
    energies, momenta = [], []
    for k in (0, -1):
        x, w = (a.values[k, 1:].astype(np.longdouble) for a in (ds.position, ds.velocity))
        energies.append(0.5 * (w * w).sum(1) - 1 / np.sqrt((x * x).sum(1)))
        momenta.append(np.linalg.norm(np.cross(x, w).astype(float), axis=1))
    for before, after in (energies, momenta):
        assert np.sqrt(np.mean((after / before - 1) ** 2)) < 1e-13


def test_lanes_without_compilation():
    """The plain Python of the kernel: which of four steps are short, and that these are solved."""
    r = np.array([(1.0, 0.0, 0.0), (2.0, 0.1, 0.0), (0.0, 0.3, 0.0), (1.0, 1.0, 0.0)]).T
    v = np.array([(0.0, 1.0, 0.1), (0.1, 0.7, 0.0), (1.0, 0.0, 2.5), (-2.0, 0.3, 0.0)]).T
    solved, *changes = short_orbits(np.ones(4), tuple(r), tuple(v), 0.3, 15)
    changes = np.concatenate(changes)
    assert solved == 0b1011  # the third, near the centre, is too far along
    for i in (0, 1, 3):
        x, y = ph.kepler.propagate(r[:, i], v[:, i], 0.3, 1.0)
        np.testing.assert_allclose(r[:, i] + changes[:3, i], x, rtol=0, atol=4e-16)
        np.testing.assert_allclose(v[:, i] + changes[3:, i], y, rtol=0, atol=4e-16)


def test_a_look_at_the_energy_leaves_a_processed_run_with_commutators_as_it_is(monkeypatch):
    from importlib import import_module

    import polhode as ph

    bodies = ph.gravitating_bodies(mass=(1.0, 1e-3, 5e-4))
    start = {"position": [(0, 0, 0), (1.0, 0, 0), (0, 2.0, 0)], "velocity": [(0, 0, 0), (0, 1.0, 0), (-0.7, 0, 0.02)]}

    def end():
        run = {"step": 0.2, "steps": 400, "every": 7}
        return ph.integrate(bodies, "sbabc1/kepler:corrected", **run, **start).position.values

    undisturbed = end()
    monkeypatch.setattr(import_module("polhode.runs.integrate"), "BETWEEN_LOOKS", -1.0)  # a look after every slice
    assert (end() == undisturbed).all()
