"""Loads of the commutator: the gradient of F . M^-1 F, against complex steps, a paper, and the order they buy."""

from __future__ import annotations

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode.algebra import rotation
from polhode.checks import check_system, exact_state, load_caller, state_distance, stepper
from polhode.errors import InvalidInput
from polhode.kernel import jit, layout as L
from polhode.runs.initial_state import start_state
from polhode.systems import PROBLEMS, SYSTEMS, System
from polhode.systems.registry import provided_by, sample_arguments

TENSOR = np.array([[2.0, 0.1, 0.0], [0.1, 1.5, 0.2], [0.0, 0.2, 1.0]])
UP = np.array((0.0, 0.0, 1.0))
original = jit.hole("original(part, t, N, y, bodies, parameters, out)", "The role that is spoiled.")


def load(system, y, part=L.ALL):
    """Force and torque of a system's role, the torque in the user's frame."""
    out = np.zeros(6)
    load_caller(part)(system.compiled_loads(0.0, y), 0.0, 1, np.array(y), system.bodies, system.with_memory, out)
    return np.concatenate([out[:3], rotation.rotate(system.frames[0], out[3:])])


# ------------------------------------------------------------------ torques written once more, also of complex matrices
def top_torque(R):
    return -3.0 * np.cross((0.1, 0.2, 0.9), R.T @ UP)


def wall_torque(sign):
    def torque(R):
        d = 1.1 + R[2, 2]
        V = sign * (-1 / d**2 + 0.01 / d**11)
        return R.T @ (V * np.array((-R[1, 2], R[0, 2], 0.0 * d)))  # as printed: in space

    return torque


def gradient_torque(inertia):
    return lambda R: 3 * 2.0 / 1.7**3 * np.cross(R.T @ UP, inertia @ R.T @ UP)


PINNED = {
    "top": (lambda: ph.heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 3.0), np.diag((1.0, 1.5, 2.2)), top_torque),
    "top, tensor": (lambda: ph.heavy_top(TENSOR, (0.1, 0.2, 0.9), 3.0), TENSOR, top_torque),
    "wall, printed": (lambda: ph.systems.soft_wall(), np.diag((2.0, 3.0, 4.5)), wall_torque(1.0)),
    "wall, physical": (lambda: ph.systems.soft_wall(TENSOR, "physical"), TENSOR, wall_torque(-1.0)),
    "gradient": (lambda: ph.systems.gravity_gradient((2.2, 1.0, 1.5), 2.0, 1.7), np.diag((2.2, 1.0, 1.5)),
                 gradient_torque(np.diag((2.2, 1.0, 1.5)))),
    "gradient, tensor": (lambda: ph.systems.gravity_gradient(TENSOR, 2.0, 1.7), TENSOR, gradient_torque(TENSOR)),
    "free": (lambda: ph.free_body(TENSOR), TENSOR, lambda R: 0.0 * R[0]),
}  # fmt: skip


@each("name", PINNED)
def test_pinned_bodies_against_complex_steps(name):
    """The derivative of T . I^-1 T under Q -> Q exp(s e_i), with no difference in it and so no round-off."""
    build, inertia, torque = PINNED[name]
    system, inverse = build(), np.linalg.inv(inertia)
    for R in Rotation.random(12, rng=3).as_matrix():
        if "wall" in name and R[2, 2] < -0.3:
            continue
        y = start_state(system, attitude=np.roll(Rotation.from_matrix(R).as_quat(), 1))
        np.testing.assert_allclose(load(system, y)[3:], torque(R), rtol=1e-12, atol=1e-14)
        expected = []
        for axis in np.eye(3):
            T = torque(R @ (np.eye(3) + 1e-30j * np.cross(axis, np.eye(3)).T))
            expected.append((T @ inverse @ T).imag / 1e-30)
        found = load(system, y, L.COMMUTATOR)
        np.testing.assert_array_equal(found[:3], 0.0)
        np.testing.assert_allclose(found[3:], expected, rtol=0, atol=1e-13 * max(np.abs(expected)))


def gradient_of_squares(I, mu, mass, r, R):
    """Force and torque of the commutator, the gradient of F . F / mass + T . I^-1 T, by definition, in 60 digits."""
    with mp.workdps(60):
        I, R, place = mp.diag([mp.mpf(x) for x in I]), mp.matrix(R.tolist()), mp.matrix([mp.mpf(x) for x in r])

        def squares(r, R):
            size = mp.norm(r)
            n = R.T * (r / size)
            inner, trace, In = (n.T * I * n)[0], I[0, 0] + I[1, 1] + I[2, 2], I * n
            k = 3 * mp.mpf(mu) / (2 * size**4)
            F = -mu * mp.mpf(mass) / size**2 * n - k * ((trace - 5 * inner) * n + 2 * In)
            T = [n[1] * In[2] - n[2] * In[1], n[2] * In[0] - n[0] * In[2], n[0] * In[1] - n[1] * In[0]]
            return (F.T * F)[0] / mass + sum((2 * k * size * t) ** 2 / I[c, c] for c, t in enumerate(T))

        def turned(c, s):
            a, b = (c + 1) % 3, (c + 2) % 3
            E = mp.eye(3)
            E[a, a], E[a, b], E[b, a], E[b, b] = mp.cos(s), -mp.sin(s), mp.sin(s), mp.cos(s)
            return squares(place, R * E)

        def moved(c, s):
            return squares(place + mp.matrix([s if k == c else 0 for k in range(3)]), R)

        def slopes(f):
            return [float(mp.diff(lambda s, c=c: f(c, s), 0, h=mp.mpf(10) ** -20)) for c in range(3)]

        return slopes(moved), slopes(turned)


@each("place", [(1.2, -0.7, 0.9), (6700.0, 0.0, 0.0), (-3000.0, 4000.0, 4500.0), (20000.0, 30000.0, -22000.0)])
def test_a_spacecraft_to_every_digit(place):
    """Torque and force differ by up to 14 powers of ten; the torque had 1 to 2 digits at 6,700 km."""
    I, mu, mass = (2.0e-6, 1.5e-6, 1.1e-6), 398600.4418, 50.0  # kilometres: a body of a metre
    if place[0] < 10:
        I, mu, mass = (2.0, 1.5, 1.1), 2.0, 1.3
    system = ph.spacecraft(I, mu, mass=mass)
    q = np.array((0.5, -0.1, 0.7, np.sqrt(0.25)))
    q /= np.linalg.norm(q)
    y = start_state(system, attitude=q, position=place, velocity=(0, 0, 0))
    found = load(system, y, L.COMMUTATOR)
    w, v = mp.mpf(float(y[6])), [mp.mpf(float(x)) for x in y[7:10]]
    with mp.workdps(60):
        length = w * w + sum(x * x for x in v)
        R = mp.matrix(3, 3)
        for i in range(3):
            for j in range(3):
                k = 3 - i - j
                skew = 0 if i == j else w * v[k] * (1 if (j - i) % 3 == 2 else -1)
                R[i, j] = ((w * w - sum(x * x for x in v)) * (i == j) + 2 * v[i] * v[j] + 2 * skew) / length
    force, torque = gradient_of_squares(I, mu, mass, place, R)
    np.testing.assert_allclose(found[:3], force, rtol=0, atol=1e-14 * np.linalg.norm(force))
    np.testing.assert_allclose(found[3:], torque, rtol=0, atol=1e-13 * np.linalg.norm(torque))


def test_a_particle():
    """F_k = m g_k - k_k r_k: the gradient of F . F / m is -2 k_k F_k / m."""
    system = ph.particle(2.0, stiffness=(1, 2, 3), gravity=(0, 0.5, -9.81))
    found = load(system, start_state(system, position=(0.3, -0.2, 0.5)), L.COMMUTATOR)
    F = np.array((-0.3, 0.4 + 1.0, -1.5 - 19.62))
    np.testing.assert_allclose(found, [*(-np.array((1, 2, 3)) * F), 0, 0, 0], rtol=1e-15)
    for free in (ph.particle(3.0), ph.rigid_body((1, 2, 2.5), mass=2.0)):
        np.testing.assert_array_equal(load(free, start_state(free, position=(1, 2, 3)), L.COMMUTATOR), 0.0)


def test_the_heavy_top_of_vilmart():
    """For U = Q33 the paper's V = Q32^2/I1 + Q31^2/I2; minus its gradient, with what misprints there are put right."""
    I = np.array((0.376, 0.627, 1.0))
    system = ph.heavy_top(I, (0, 0, 1), 1.0)
    for R in Rotation.random(6, rng=8).as_matrix():
        y = start_state(system, attitude=np.roll(Rotation.from_matrix(R).as_quat(), 1))
        a, b, c = R[2]
        expected = (2 * b * c / I[0], -2 * a * c / I[1], -2 * a * b * (1 / I[0] - 1 / I[1]))
        np.testing.assert_allclose(load(system, y, L.COMMUTATOR)[3:], expected, rtol=0, atol=1e-14)


# ------------------------------------------------------------------ what they are for
def fourth_order(system, drift, y, h, steps, strength):
    """Kicks of 1/6, 2/3, 1/6 around two free halves, with h^2/48 of the commutator's loads in the middle: order 4."""

    def kick(y, share, c):
        F = load(system, y) + (c * h**2 * load(system, y, L.COMMUTATOR) if c else 0.0)
        y = y.copy()
        y[3:6] += share * h * F[:3] * np.isfinite(system.mass[0])
        y[10:] += share * h * rotation.rotate_inverse(system.frames[0], F[3:])
        return y

    for _ in range(steps):
        y = kick(y, 1 / 6, 0.0)
        y = drift(y, 0.0, h / 2)
        y = kick(y, 2 / 3, strength / 48)
        y = drift(y, 0.0, h / 2)
        y = kick(y, 1 / 6, 0.0)
    return y


ORDERS = {
    "top": (lambda: ph.heavy_top(TENSOR, (0.1, 0.2, 0.9), 3.0), lambda: ph.free_body(TENSOR)),
    "gradient": (lambda: ph.systems.gravity_gradient((1.0, 1.5, 2.2), 2.0, 1.2), lambda: ph.free_body((1.0, 1.5, 2.2))),
    "springs": (lambda: ph.particle(1.3, stiffness=(1, 2, 3), gravity=(0, 0.5, -2)), lambda: ph.particle(1.3)),
}


@each("name", ORDERS)
def test_a_commutator_makes_a_step_of_order_4(name):
    system, free = (build() for build in ORDERS[name])
    start = {"position": (0.6, -0.4, 0.9), "velocity": (0.3, 0.5, -0.2)}
    if system.rotates:
        start = {"attitude": rotation.exp_quaternion((0.4, -0.7, 0.3)), "angular_momentum": (0.8, -0.5, 1.1)}
    y = start_state(system, **start)
    end, drift = exact_state(system, y, 0.0, 1.5), stepper("exact", free, y)
    orders = {}
    for strength in (1.0, 0.0, -1.0):
        errors = [state_distance(fourth_order(system, drift, y, 1.5 / n, n, strength), end, system) for n in (8, 16)]
        orders[strength] = np.log2(errors[0] / errors[1])
    assert orders[1.0] == pytest.approx(4.0, abs=0.2)
    assert orders[0.0] == pytest.approx(2.0, abs=0.2) and orders[-1.0] == pytest.approx(2.0, abs=0.2)


# ------------------------------------------------------------------ the role
BUILT = {
    "particle": {"stiffness": (1, 2, 3)},
    "free_body": {"inertia": TENSOR},
    "rigid_body": {"inertia": TENSOR},
    "heavy_top": {"inertia": TENSOR, "center_of_mass": (0.1, 0.2, 0.9), "weight": 3.0},
    "gravity_gradient": {"inertia": TENSOR, "mu": 1.0, "radius": 1.0},
    "soft_wall": {},
    "orbit": {"mu": 2.0},
    "spacecraft": {"inertia": TENSOR, "mu": 2.0},
    "gravitating_bodies": {"mu": (1.0, 2.0)},
}
BUILT |= {
    name: sample_arguments(build)
    for name, build in SYSTEMS.items()
    if name not in BUILT and "commutator" in (provided_by(build) or ())
}


def test_which_systems_have_no_commutator():
    assert {"dipoles", "rigid_water"} <= set(SYSTEMS) - set(BUILT)
    assert not any("commutator" in (provided_by(SYSTEMS[name]) or ()) for name in set(SYSTEMS) - set(BUILT))


@each("name", BUILT)
def test_every_built_in_load_has_its_commutator(name):
    system = SYSTEMS[name](**BUILT[name])
    assert "commutator" in system.provides
    start = {"attitude": (0.8, 0.4, -0.2, 0.4)} if system.rotates else {}
    if system.translates:
        start["position"] = (1, 2, 3) if system.N == 1 else [(1, 2, 3), (0, 1, 0)]
    y = start_state(system, **start)
    np.testing.assert_array_equal(load(system, y), load(replace(system, commutator=None), y))


def test_users_loads_without_a_potential_that_can_be_traced_have_none():
    def torque(t, q, omega, parameters):
        return (0.0, 0.0, 1.0)

    assert "commutator" not in ph.rigid_body((1, 2, 2.5), torque=torque).provides
    assert "commutator" not in ph.rigid_body((1, 2, 2.5), potential=lambda t, q, p: q[1] * round(t)).provides
    assert "commutator" not in ph.particle(force=lambda t, r, v, p: r).provides
    bare = System(name="bare", arguments={}, mass=np.ones(1), moments=np.full((1, 3), np.inf), frames=np.eye(4)[:1])
    assert "commutator" not in bare.provides
    top = ph.heavy_top((1, 2, 2.5), (0, 0, 1), 1.0)
    with pytest.raises(InvalidInput, match="commutator"):
        replace(ph.rigid_body((1, 2, 2.5), torque=torque), commutator=top.commutator)


# ------------------------------------------------------------------ the checker
def negated(part, t, N, y, bodies, parameters, out):
    """A commutator of the wrong sign."""
    original(part, t, N, y, bodies, parameters, out)
    for k in range(6 * N):
        out[k] = -out[k]


def one_component(part, t, N, y, bodies, parameters, out):
    """A commutator whose second torque is 1e-6 too large."""
    original(part, t, N, y, bodies, parameters, out)
    out[4] *= 1.000001


def lazy(part, t, N, y, bodies, parameters, out):
    """A commutator that writes a part only."""
    out[3] = 1.0


@each("name", PROBLEMS)
def test_every_ready_made_problem_is_what_it_says(name):
    initial = dict(PROBLEMS[name].initial)
    if "rotation_vector" in initial:
        initial["attitude"] = rotation.exp_quaternion(initial.pop("rotation_vector"))
    report = check_system(PROBLEMS[name].build(), **initial)
    report.raise_for_failure()
    told = {line.what for line in report.lines}
    assert {"loads of the commutator", "loads and velocities", "conserves energy"} <= told
    assert "loads and potential" in told or PROBLEMS[name].build().name == "free_body"


TURNING = ("heavy_top", "soft_wall", "gravity_gradient")


@each("name, spoil", [(name, negated) for name in (*TURNING, "particle")] + [(name, one_component) for name in TURNING])
def test_a_spoiled_commutator_is_noticed(name, spoil):
    system = SYSTEMS[name](**BUILT[name])
    spoiled = replace(system, commutator=jit.bind(spoil, original=system.commutator), conserves=())
    report = check_system(spoiled, states=1)
    assert [line.what for line in report.failures] == ["loads of the commutator"]
    assert check_system(replace(system, conserves=()), states=1).passed


def test_a_commutator_that_writes_too_little_is_noticed():
    system = replace(SYSTEMS["heavy_top"](**BUILT["heavy_top"]), commutator=lazy, conserves=())
    line = check_system(system, states=1)["loads of the commutator"]
    assert not line.passed and "not written" in line.measured
