"""Variational integrators against the discrete principles they come from, written out in numpy."""

import numpy as np
import pytest
from scipy.optimize import root

import polhode as ph
from each import each
from polhode import forces
from polhode.algebra import variational as discrete
from polhode.checks import exact_state, measure_order, stepper
from polhode.errors import ConvergenceError, InvalidInput
from polhode.methods.tableaux import tableau
from polhode.runs.initial_state import start_state
from polhode.systems.problems import problem

MU, R0, P0 = 3200.9998, np.array([0.0, 1664.029, 0.0]), np.array([1.550663, 0.0, 0.0])
DRAG = {"kd": 2e-6, "radius": 1664.029, "scale": 50.0}
THRUST = np.array([3e-6, -1e-6, 2e-6])
MASS = 2.5


# ------------------------------------------------------------------ the orbit of the paper, by hand
def kinetic(v):
    return 0.5 * MASS * (v**2).sum(-1)


def L(q, v):
    return kinetic(v) + MASS * MU / np.linalg.norm(q, axis=-1)


def gradient(q, v):
    return -MASS * MU * q / np.linalg.norm(q, axis=-1, keepdims=True) ** 3, MASS * v


def F(t, q, v):
    """Drag in an atmosphere at rest, and a thrust that swings."""
    k = DRAG["kd"] * np.exp(-(np.linalg.norm(q, axis=-1, keepdims=True) - DRAG["radius"]) / DRAG["scale"])
    push = MASS * THRUST * np.cos(1e-2 * np.asarray(t))[..., None]
    return -MASS * k * np.linalg.norm(v, axis=-1, keepdims=True) * v + push


def swinging(t, position, velocity, parameters):
    c = parameters[0] * np.cos(1e-2 * t)
    r = np.sqrt(position[0] ** 2 + position[1] ** 2 + position[2] ** 2)
    a = -parameters[1] / r**3
    speed = np.sqrt(velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2)
    k = parameters[0] * 2e-6 * np.exp(-(r - 1664.029) / 50.0) * speed
    return (
        a * position[0] - k * velocity[0] + 3e-6 * c,
        a * position[1] - k * velocity[1] - 1e-6 * c,
        a * position[2] - k * velocity[2] + 2e-6 * c,
    )


@pytest.fixture(scope="module")
def orbit():
    return ph.orbit(MU, MASS)


@pytest.fixture(scope="module")
def forced():
    return ph.particle(MASS, force=swinging, parameters=(MASS, MASS * MU))


def walked(system, label, h, n=40):
    ds = ph.integrate(system, label, step=h, steps=n, position=R0, velocity=P0)
    return ds.time.values, ds.position.values, ds.momentum.values


SHARES = {"variational": 0.5, "variational_midpoint": 0.5, "variational:0": 0.0, "variational:0.25": 0.25,
          "variational:0.8": 0.8, "variational:1": 1.0}  # fmt: skip


@each("h", [10.0, 240.0, -60.0])
@each("label", SHARES)
def test_theorem_1(orbit, label, h):
    """Motions of the methods satisfy the discrete Euler-Lagrange equations; momenta are the Legendre transforms."""
    n = 40
    ds = ph.integrate(orbit, label, step=abs(h), t_end=n * h, position=R0, velocity=P0)
    q, p = ds.position.values, ds.momentum.values
    size, a = np.abs(p).max(), SHARES[label]
    # A place is rounded to 1e-13 of its size, which over h is a momentum.
    noise = 4e-15 * size + 2e-16 * MASS * np.abs(q).max() / abs(h)
    left = discrete.discrete_euler_lagrange(None, q[:-2], q[1:-1], q[2:], h, a, gradient=gradient)
    assert np.abs(left).max() < 4 * noise
    np.testing.assert_allclose(discrete.legendre_minus(L, q[:-1], q[1:], h, a, gradient=gradient), p[:-1], 0, 2 * noise)
    np.testing.assert_allclose(discrete.legendre_plus(L, q[:-1], q[1:], h, a, gradient=gradient), p[1:], 0, 2 * noise)


@each("label", SHARES)
def test_theorem_1_with_forces(forced, label):
    h, a = 60.0, SHARES[label]
    t, q, p = walked(forced, label, h)
    noise = 4e-15 * np.abs(p).max() + 2e-16 * MASS * np.abs(q).max() / h
    given = {"gradient": gradient, "F": F}
    left = discrete.discrete_euler_lagrange(None, q[:-2], q[1:-1], q[2:], h, a, t=t[:-2], **given)
    assert np.abs(left).max() < 4 * noise
    before = discrete.legendre_minus(None, q[:-1], q[1:], h, a, t=t[:-1], **given)
    after = discrete.legendre_plus(None, q[:-1], q[1:], h, a, t=t[:-1], **given)
    np.testing.assert_allclose(before, p[:-1], 0, 2 * noise)
    np.testing.assert_allclose(after, p[1:], 0, 2 * noise)
    # The test can tell a force that is left out, and one at the wrong time.
    for wrong in (None, lambda t, q, v: F(t + 5.0, q, v)):
        given["F"] = wrong
        other = discrete.discrete_euler_lagrange(None, q[:-2], q[1:-1], q[2:], h, a, t=t[:-2], **given)
        assert np.abs(other).max() > 100 * noise


def test_midpoint_is_the_midpoint_rule(orbit):
    """[carson2005, eq. 3]: z1 = z0 + h J grad H((z0 + z1)/2)."""
    h = 60.0
    _, q, p = walked(orbit, "variational_midpoint", h)
    middle = 0.5 * (q[:-1] + q[1:])
    np.testing.assert_allclose(q[1:] - q[:-1], h * (p[:-1] + p[1:]) / (2 * MASS), 0, 1e-12)
    np.testing.assert_allclose(p[1:] - p[:-1], h * gradient(middle, middle)[0], 0, 2e-15)


# ------------------------------------------------------------------ Galerkin, by the action itself
def ends_of_action(order, q0, q1, h, t, guess, force):
    """Momenta at both ends from h sum b_i L(Q_i, Q'_i) + virtual work, the inner places being at its extremum."""
    rule = tableau(f"lobatto_iiia{order}")
    c, b, s = rule.c, rule.b, len(rule.c)
    powers = c[:, None] ** np.arange(s)
    slopes = np.arange(s) * c[:, None] ** np.maximum(np.arange(s) - 1, 0)
    D = slopes @ np.linalg.inv(powers) / h

    def derivatives(inner):
        Q = np.vstack([q0, inner.reshape(-1, 3), q1])
        V = D @ Q
        by_place, by_speed = gradient(Q, V)
        work = by_place + (F(t + c * h, Q, V) if force else 0.0)
        return h * b[:, None] * work + h * D.T @ (b[:, None] * by_speed)

    found = root(lambda inner: derivatives(inner)[1:-1].ravel(), guess, tol=1e-14, options={"xtol": 1e-15})
    g = derivatives(found.x)
    assert np.abs(g[1:-1]).max() < 1e-11
    return -g[0], g[-1]


@each("force", [False, True])
@each("order", [4, 6, 8])
def test_galerkin_is_an_extremum_of_the_action(orbit, forced, order, force):
    h = 240.0
    t, q, p = walked(forced if force else orbit, f"galerkin{order}", h, 3)
    inner = tableau(f"lobatto_iiia{order}").c[1:-1, None]
    for k in range(3):
        guess = (q[k] + inner * (q[k + 1] - q[k])).ravel()
        p0, p1 = ends_of_action(order, q[k], q[k + 1], h, t[k], guess, force)
        np.testing.assert_allclose(p0, p[k], 0, 2e-13)
        np.testing.assert_allclose(p1, p[k + 1], 0, 2e-13)


# ------------------------------------------------------------------ orders, what stays
ORDERS = {"variational_midpoint": 2, "variational:0": 2, "variational:0.3": 2, "galerkin4": 4, "galerkin6": 6,
          "galerkin8": 8}  # fmt: skip
STEPS = {2: 192, 4: 48, 6: 24, 8: 16}


@each("drag", [False, True], ids=["conic", "drag"])
@each("label", ORDERS)
def test_order_on_the_elliptic_orbit(label, drag):
    """A revolution of the paper's ellipse, free and through an atmosphere whose density changes by e in 50 km."""
    system = ph.orbit(MU, MASS, forces=[forces.drag(**DRAG)] if drag else [])
    y, order, span = start_state(system, position=R0, velocity=P0), ORDERS[label], 11606.0
    end = oracle(system, y, span)
    n = STEPS[order]
    errors = [np.linalg.norm(stepper(label, system, y)(y, 0.0, span / k, k)[:3] - end[:3]) for k in (n, 2 * n)]
    slope = np.log2(errors[0] / errors[1])
    assert slope > order - 0.2
    assert slope < order + 0.2 or order == 8  # whose few steps are not small beside the depth of the atmosphere


_kept = {}


def oracle(system, y, span):
    key = repr(system)
    if key not in _kept:
        _kept[key] = exact_state(system, y, 0.0, span)
    return _kept[key]


def jacobian(step, z, size):
    columns = []
    for k in range(6):
        d = np.zeros(6)
        d[k] = size[k]
        columns.append(
            sum(w * (step(z + n * d) - step(z - n * d)) for n, w in enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280), 1))
            / size[k]
        )
    return np.transpose(columns)


J = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


@each("label", [*SHARES, "galerkin4", "galerkin8", "kepler"])
def test_jacobian_is_symplectic(orbit, label):
    h = 240.0
    advance = stepper(label, orbit, start_state(orbit, position=R0, velocity=P0))

    def step(z):
        return advance(start_state(orbit, position=z[:3], momentum=z[3:]), 0.0, h)[:6]

    z = np.concatenate([R0 + (300.0, 100.0, 200.0), MASS * (P0 + (0.1, 0.2, 0.3))])
    D = jacobian(step, z, np.array([3.0] * 3 + [5e-3] * 3))
    assert np.abs(D.T @ J @ D - J).max() < 1e-10
    assert np.abs(D - np.eye(6)).max() > 1e-3


def test_jacobian_is_the_cayley_transform(orbit):
    """[carson2005, eq. 6]: (I - A)^-1 (I + A) with A = (h/2) J Hess H at the middle of the step."""
    h = 240.0
    advance = stepper("variational_midpoint", orbit, start_state(orbit, position=R0, velocity=P0))

    def step(z):
        return advance(start_state(orbit, position=z[:3], momentum=z[3:]), 0.0, h)[:6]

    z = np.concatenate([R0 + (300.0, 100.0, 200.0), MASS * (P0 + (0.1, 0.2, 0.3))])
    q = 0.5 * (z + step(z))[:3]
    r = np.linalg.norm(q)
    hessian = np.zeros((6, 6))
    hessian[:3, :3] = MASS * MU * (np.eye(3) - 3.0 * np.outer(q, q) / r**2) / r**3
    hessian[3:, 3:] = np.eye(3) / MASS
    A = 0.5 * h * J @ hessian
    expected = np.linalg.solve(np.eye(6) - A, np.eye(6) + A)
    found = jacobian(step, z, np.array([3.0] * 3 + [5e-3] * 3))
    scale = np.array([1.0] * 3 + [1e-2] * 3)
    np.testing.assert_allclose(found * scale / scale[:, None], expected * scale / scale[:, None], 0, 1e-10)


@each("label", ["variational_midpoint", "variational:0.25", "galerkin6"])
def test_angular_momentum_stays(orbit, label):
    """The discrete Lagrangians turn with the orbit, so that Noether's theorem holds exactly."""
    ds = ph.integrate(orbit, label, step=240.0, steps=3000, every=50, position=R0, velocity=(1.4, 0.2, 0.5))
    m = np.cross(ds.position.values, ds.momentum.values)
    assert np.abs(m - m[0]).max() < 2e-13 * np.linalg.norm(m[0])


def test_loads_are_not_looked_at_twice(orbit):
    start = {"position": R0, "velocity": P0}
    counts = {}
    for label in ("variational:0", "galerkin4"):
        ds = ph.integrate(orbit, label, step=10.0, steps=100, **start)
        counts[label] = ds.attrs["load_evaluations"] - ds.iterations.values.sum() * (label == "galerkin4")
    assert counts == {"variational:0": 101, "galerkin4": 101}


def test_two_bodies_and_equilibrium():
    """Bodies that pull each other, in all rows; and rest where loads cancel, which is pure round-off."""
    from polhode.checks import SWITCHES, trial_problem

    system, y = trial_problem(*SWITCHES, turns=False, moves=True, bodies=2)
    end = exact_state(system, y, 0.2, 1.5)
    for label, order in ORDERS.items():
        assert measure_order(label, system, y, end, 0.2, 1.5).order == pytest.approx(order, abs=0.25), label
    hanging = ph.particle(1.7, stiffness=5.1, gravity=(0.0, 0.0, -9.81))
    y = start_state(hanging, position=(0.0, 0.0, -3.27))
    for label in ORDERS:
        assert np.abs(stepper(label, hanging, y)(y, 0.0, 0.05, 400) - y).max() < 1e-13


# ------------------------------------------------------------------ the corrected energy
ELLIPSE = {"position": (0.0, 1664.029, 0.0), "velocity": (1.550663, 0.0, 0.0)}
TURNS = 7 * 11606.11006131


def mean_energy(label, h, velocity, position=ELLIPSE["position"]):
    """Mean over seven revolutions of the energy relative to that of ``ELLIPSE``, and half of its swing."""
    ds = ph.integrate(ph.orbit(MU), label, step=h, steps=round(TURNS / h), position=position, velocity=velocity)
    error = ds.energy.values[1:] / 0.7213663695887322 + 1.0
    return error.mean(), np.ptp(error) / 2


def test_the_offset_of_the_midpoint_rule_and_its_removal():
    """Carson's figure 7 and the correction that he calls likely realizable."""
    v = ELLIPSE["velocity"]
    found = {h: mean_energy("variational_midpoint", h, v)[0] for h in (10.0, 40.0)}
    for h, offset in found.items():
        told = discrete.midpoint_energy_offset(ELLIPSE["position"], v, h, MU) / 0.7213663695887322
        assert offset == pytest.approx(told, rel=2e-3)
    assert found[10.0] == pytest.approx(-1.14e-5, rel=0.01)
    for h, most in ((10.0, 3e-9), (40.0, 5e-7)):
        shifted = discrete.midpoint_shifted_velocity(ELLIPSE["position"], v, h, MU)
        mean, swing = mean_energy("variational_midpoint", h, shifted)
        assert abs(mean) < most and swing > 1000 * abs(mean)
        mean, swing = mean_energy("variational_midpoint4", h, v)
        assert abs(mean) < most and swing < most


def test_offset_from_anywhere_on_an_inclined_orbit():
    r, v = np.array([900.0, 1500.0, -300.0]), np.array([1.1, -0.5, 0.6])
    ready = ph.orbit(MU)
    a = 1.0 / (2.0 / np.linalg.norm(r) - v @ v / MU)
    h, period = 20.0, 2 * np.pi * np.sqrt(a**3 / MU)
    ds = ph.integrate(ready, "variational_midpoint", step=h, steps=round(9 * period / h), position=r, velocity=v)
    offset = (ds.energy.values[1:] - ds.energy.values[0]).mean()
    assert offset == pytest.approx(discrete.midpoint_energy_offset(r, v, h, MU), rel=2e-2)
    both = discrete.midpoint_energy_offset([r, r], [v, 0.9 * v], h, MU)
    assert both.shape == (2,) and both[0] == discrete.midpoint_energy_offset(r, v, h, MU)


def test_the_corrected_rule_is_of_order_four():
    """With the commutator load of the orbit, and with differences where a user's force has none."""
    end, _ = ph.kepler.propagate(ELLIPSE["position"], ELLIPSE["velocity"], 11600.0, MU)
    forced = ph.particle(1.0, force=pull)
    for system in (ph.orbit(MU), forced):
        assert ("commutator" in system.provides) == (system is not forced)
        y = start_state(system, **ELLIPSE)
        errors = [np.linalg.norm(stepper("variational_midpoint4", system, y)(y, 0.0, 11600.0 / n, n)[:3] - end)
                  for n in (290, 580)]  # fmt: skip
        assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.05)
        assert errors[1] < 3e-4


def pull(t, position, velocity, parameters):
    x, y, z = position[0], position[1], position[2]
    k = -3200.9998 / (x * x + y * y + z * z) ** 1.5
    return k * x, k * y, k * z


# ------------------------------------------------------------------ the Cayley factor
def saddle(label, h, **more):
    """A potential -k x^2 / 2: I - A is singular at h = 2 sqrt(m/k) = sqrt(2)."""
    system = ph.particle(2.0, stiffness=(-4.0, 1.0, 1.0))
    return ph.integrate(system, label, step=h, steps=1, position=(1.0, 0, 0), velocity=(0, 1.0, 0), **more)


@each("h", [2.0**0.5, 1.4142135, 1.5, 3.0])
def test_singular_cayley_factor_is_told(h):
    with pytest.raises(ConvergenceError, match=r"Cayley factor I - A .* singular .* reciprocal condition") as told:
        saddle("variational_midpoint", h)
    assert 0.0 < told.value.residual < 0.05
    edge, safe = (float(part.split()[0].rstrip(",;")) for part in str(told.value).split("a step of ")[1:])
    assert edge == pytest.approx(2.0**0.5, rel=1e-2) and edge <= 2.0**0.5
    assert safe == pytest.approx(edge / 2, rel=1e-2)
    saddle("variational_midpoint", safe)


@pytest.mark.filterwarnings("ignore::polhode.errors.CoarseStepWarning")  # they are coarse indeed
def test_before_and_beyond_the_singular_step():
    """Just before it the step is the Cayley transform, (1 + x)^2/(1 - x^2) with x = h/sqrt(2); so it is beyond."""
    for h, guard in ((1.0, True), (1.4, True), (1.5, False)):
        x = h / 2.0**0.5
        found = saddle("variational_midpoint", h, settings={"guard": guard}).position.values[-1, 0]
        assert found == pytest.approx((1 + x * x) / (1 - x * x), rel=1e-6)


def test_an_orbit_whose_steps_have_no_solution():
    ready = problem("carson_circular")
    with pytest.raises(ConvergenceError, match="in step 1 ") as told:
        ph.integrate(ready.build(), "variational_midpoint", step=1000.0, steps=20, start=ready.initial)
    assert told.value.trajectory.time.values[-1] == 1000.0
    safe = float(str(told.value).split("a step of ")[-1].split()[0])
    after = told.value.trajectory.isel(time=-1)
    ph.integrate(ready.build(), "variational_midpoint", step=safe, steps=3, position=after.position.values,
                 momentum=after.momentum.values)  # fmt: skip
    with pytest.raises(ConvergenceError, match="followed no further than to a step of"):
        ph.integrate(ready.build(), "variational", step=1000.0, steps=20, start=ready.initial)


# ------------------------------------------------------------------ names and refusals
def test_names():
    system = ph.orbit(MU)
    start = {"step": 60.0, "steps": 10, "position": R0, "velocity": P0}
    by_word = ph.integrate(system, "variational:0.25", **start)
    for other in (
        ph.integrate(system, ph.methods.variational(alpha=0.25), **start),
        ph.integrate(system, ph.methods.variational(alpha="0.25"), **start),
        ph.integrate(system, "variational:0.75", **start),
    ):
        np.testing.assert_array_equal(by_word.position.values, other.position.values)
    assert by_word.attrs["method"] == "variational:0.25"
    np.testing.assert_array_equal(ph.rerun(by_word).position.values, by_word.position.values)
    table = ph.methods.method_table()
    assert "Variational integrators" in table and "galerkin6" in table and "The exact orbit" in table


@each("label", ["galerkin5", "galerkin2", "galerkin1000"])
def test_galerkin_orders_that_are_not_offered(label):
    with pytest.raises(InvalidInput, match="even number from 4"):
        ph.integrate(ph.orbit(MU), label, step=1.0, steps=1, position=R0)


@each("label", ["variational:1.5", "variational:-0.1", "variational:half", "variational:nan"])
def test_alpha_out_of_range(label):
    with pytest.raises(InvalidInput, match="option of method 'variational'"):
        ph.integrate(ph.orbit(MU), label, step=1.0, steps=1, position=R0)


@each("label", ["variational", "variational_midpoint", "galerkin4"])
def test_bodies_that_turn_are_refused(label):
    with pytest.raises(InvalidInput, match=r"through space only.*'mkrk:gauss6'.*splitting"):
        ph.integrate(ph.free_body((1.0, 2.0, 3.0)), label, step=0.1, steps=1)


def test_kepler_alone():
    mu = 3.986004415e5
    position, velocity = np.array([7000.0, 300.0, -200.0]), np.array([0.5, 9.0, 7.0])  # a hyperbola
    for v in (velocity, 0.6 * velocity):
        for h, n in ((40.0, 250), (10000.0, 1), (-500.0, 20)):
            orbit = ph.orbit(mu, 3.0, surface=0)
            ds = ph.integrate(orbit, "kepler", step=abs(h), t_end=h * n, position=position, velocity=v)
            r, u = ph.kepler.propagate(position, v, n * h, mu)
            np.testing.assert_allclose(ds.position.values[-1], r, 1e-12)
            np.testing.assert_allclose(ds.momentum.values[-1], 3.0 * u, 1e-12)
            assert ds.attrs["load_evaluations"] == 0
    pushed = ph.orbit(mu, forces=[forces.uniform((1e-9, 0, 0))])
    with pytest.raises(InvalidInput, match=r"nothing else.*'rkn6_14a/kepler'"):
        ph.integrate(pushed, "kepler", step=1.0, steps=1, position=position, velocity=velocity)
    with pytest.raises(InvalidInput, match="centre of attraction"):
        ph.integrate(ph.particle(stiffness=1.0), "kepler", step=1.0, steps=1)


# ------------------------------------------------------------------ the public functions
def magnetic(q, v):
    """A Lagrangian that is not kinetic minus potential: a charge in a uniform field, pulled to a ring."""
    return 0.5 * (v**2).sum(-1) + 0.7 * (q[..., 0] * v[..., 1] - q[..., 1] * v[..., 0]) - ((q**2).sum(-1) - 1.0) ** 2


def magnetic_gradient(q, v):
    x, y = q[..., 0], q[..., 1]
    by_place = 0.7 * np.stack([v[..., 1], -v[..., 0], 0 * x], -1) - 4 * ((q**2).sum(-1) - 1.0)[..., None] * q
    return by_place, v + 0.7 * np.stack([-y, x, 0 * x], -1)


RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(4, 1, 3)), RNG.normal(size=(7, 3)), RNG.normal(size=(7, 3))


@each("alpha", [0.0, 0.3, 0.5, 1.0])
def test_slot_derivatives(alpha):
    """By differences of L, by its gradient, and by differences of the discrete Lagrangian itself."""
    q0, q1, _ = POINTS
    h = 0.3
    by_hand = discrete.slot_derivatives(None, q0, q1, h, alpha, magnetic_gradient)
    by_differences = discrete.slot_derivatives(magnetic, q0, q1, h, alpha)
    for k in (0, 1):
        assert by_hand[k].shape == (4, 7, 3)
        np.testing.assert_allclose(by_differences[k], by_hand[k], 0, 1e-10 * np.abs(by_hand[k]).max())
        for c in range(3):
            d = 1e-5 * np.eye(3)[c]
            ends = [(q0 + s * d, q1) if k == 0 else (q0, q1 + s * d) for s in (1.0, -1.0)]
            up, down = (discrete.discrete_lagrangian(magnetic, *pair, h, alpha) for pair in ends)
            np.testing.assert_allclose((up - down) / 2e-5, by_hand[k][..., c], 1e-6, 1e-6)


def test_as_printed_for_one_half():
    """[carson2005, eq. 15 to 17]."""
    q0, q1, _ = POINTS
    h = 0.3
    middle, v = (q0 + q1) / 2, (q1 - q0) / h
    by_place, by_speed = magnetic_gradient(middle, v)
    first, second = discrete.slot_derivatives(None, q0, q1, h, gradient=magnetic_gradient)
    np.testing.assert_allclose(discrete.discrete_lagrangian(magnetic, q0, q1, h), h * magnetic(middle, v), 1e-13)
    np.testing.assert_allclose(first, h / 2 * by_place - by_speed, 1e-13, 1e-13)
    np.testing.assert_allclose(second, h / 2 * by_place + by_speed, 1e-13, 1e-13)


@each("alpha", [0.2, 0.5])
def test_a_force_with_a_potential_may_be_either(alpha):
    q0, q1, q2 = POINTS
    plain = discrete.discrete_euler_lagrange(lambda q, v: 0.5 * (v**2).sum(-1) - (q**4).sum(-1), q0, q1, q2, 0.2, alpha)
    as_force = discrete.discrete_euler_lagrange(
        lambda q, v: 0.5 * (v**2).sum(-1), q0, q1, q2, 0.2, alpha, F=lambda t, q, v: -4 * q**3
    )
    np.testing.assert_allclose(as_force, plain, 0, 1e-9 * np.abs(plain).max())


def test_noether():
    """The field and the ring turn about z: so the discrete momenta keep q x p along z."""
    h, q0 = 0.1, np.array([0.8, 0.2, 0.1])
    q1 = q0 + h * np.array([0.3, 0.9, -0.2])
    kept = []
    for _ in range(20):
        p1 = discrete.legendre_plus(None, q0, q1, h, 0.3, gradient=magnetic_gradient)
        kept.append(np.cross(q1, p1)[2])
        known = (q0, q1)
        q2 = root(
            lambda q, known=known: discrete.discrete_euler_lagrange(
                None, *known, q, h, 0.3, gradient=magnetic_gradient
            ), 2 * q1 - q0, tol=1e-14,
        ).x  # fmt: skip
        q0, q1 = q1, q2
    assert np.ptp(kept) < 1e-12 and abs(kept[0]) > 0.1


@each(
    "wrong, sentence",
    [
        (lambda: discrete.discrete_lagrangian(L, [1.0], [2.0], 0.0), "not zero"),
        (lambda: discrete.discrete_lagrangian(L, [1.0], [2.0], np.inf), "finite"),
        (lambda: discrete.discrete_lagrangian(L, [1.0], [2.0], 0.1, 1.2), "between 0 and 1"),
        (lambda: discrete.discrete_lagrangian(L, [1.0, 2.0], [1.0, 2.0, 3.0], 0.1), "shapes"),
        (lambda: discrete.discrete_lagrangian(L, 1.0, 2.0, 0.1), "last axis"),
        (lambda: discrete.slot_derivatives(None, [1.0], [2.0], 0.1), "gradient"),
        (lambda: discrete.discrete_forces(F, [1.0], [2.0], "x"), "h must be a number"),
        (lambda: discrete.midpoint_energy_offset((1.0, 0, 0), (0, 1.5, 0), 0.1, 1.0), "ellipse"),
        (lambda: discrete.midpoint_energy_offset((1.0, 0, 0), (0.1, 0, 0), 0.1, 1.0), "ellipse"),
        (lambda: discrete.midpoint_energy_offset((1.0, 0, 0), (0, 1.0, 0), 0.1, -1.0), "ellipse"),
        (lambda: discrete.midpoint_energy_offset(1.0, 2.0, 0.1, 1.0), "length 3"),
        (lambda: discrete.midpoint_shifted_velocity((1.0, 0, 0), (0, 0.1, 0), -9.0, 1.0), "^h is -9, .*smaller step"),
    ],
)
def test_bad_input(wrong, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        wrong()


@each(("method", "step", "near"), [("galerkin6", 60.0, 1e-9), ("variational:0", 2.0, 1e-6), ("variational", 2.0, 1e-6)])
def test_works_are_advanced_with_the_motion(method, step, near):
    """The energy that drag takes in a revolution is its work; what is left is the error of the method."""
    system = ph.orbit(3200.9998, forces=[ph.forces.drag(kd=2e-6, radius=1664.029, scale=50.0)])
    ds = ph.integrate(system, method, step=step, t_end=12000.0, every=round(600 / step),
                      position=(0.0, 1664.029, 0.0), velocity=(1.550663, 0.0, 0.0))  # fmt: skip
    lost = float(ds.energy[-1] - ds.energy[0])
    assert lost < -1e-3 and float(ds.work[-1, 0]) == pytest.approx(lost, rel=1e-3)
    assert abs(float(ds.energy_error[-1])) < near
