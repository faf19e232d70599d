"""Splittings on joints, against motions that are known by other means, and what they keep."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import jointed_systems as js
import mechanisms as mx
import polhode as ph
from each import each
from polhode.runs import stepping

WHOLE = ("v2/joints", "suzuki4/joints", "kl6b/joints", "kl8/joints")
SIX = "rkn6_14a/joints"
STEPS = {
    "pendulum": 50, "top": 100, "triple_pendulum": 100, "ball_chain": 200, "satellite": 100, "crane": 50,
    "two_ball": 25,
    "two_hinge": 25, "two_slider": 25, "two_rod": 25, "two_free_ball": 10, "two_free_hinge": 15, "two_free_slider": 10,
    "two_free_weld": 10, "two_free_rod": 10, "bricard": 50, "slider_crank": 400,
}  # fmt: skip
"""With which the error of order 6 is its leading term, and above the round-off."""


@cache
def system(name):
    return js.system_of(mx.mechanism(name))


def error(name, method, steps):
    """The distance of the end from the reference."""
    return js.error_at_end(mx.mechanism(name), method, steps, system(name))


def measured(name, method, steps):
    """The order by a run and one with half the step."""
    errors = [error(name, method, count) for count in (steps, 2 * steps)]
    return np.log2(errors[0] / errors[1]), errors


# ------------------------------------------------------------------ the references themselves
def test_references_agree_with_other_formulations():
    for name, given in mx.all_mechanisms().items():
        assert given.accuracy < 1e-10, name


@each("name", ["pendulum", "triple_pendulum", "two_hinge", "two_slider"])
def test_accelerations_of_two_formulations_are_the_same(name):
    """At the start: of all coordinates with reactions, and of the coordinates of the joints."""
    given = mx.mechanism(name)
    tree, whole = mx.Tree(given), mx.Redundant(given)
    n = len(tree.rates)
    rise = tree.slope(0.0, np.array([*np.zeros(n), *tree.rates]))[n:]
    bodies = tree.frames(np.zeros(n), tree.rates)
    found, *_ = whole.solved(whole.flat(given.start))
    for i, (_, q, _, _, V, W, a, b) in enumerate(bodies):
        assert found[6 * i : 6 * i + 3] == pytest.approx(a + rise @ V, abs=1e-11)
        assert mx.matrix(q) @ found[6 * i + 3 : 6 * i + 6] == pytest.approx(b + rise @ W, abs=1e-11)


@each("name", ["triple_pendulum", "two_hinge", "two_ball", "crane"])
def test_reactions_are_what_accelerates_the_bodies(name):
    """The references' own: by Newton's and Euler's laws, from the leaves to the root of a tree, at both ends."""
    given = mx.mechanism(name)
    whole = mx.Redundant(given)
    for state in (given.start, given.end):
        y = whole.flat(state)
        rise, *_ = whole.solved(y)
        needed = []  # force, and torque about the origin, that each body lacks
        for i, body in enumerate(given.bodies):
            R, w = mx.matrix(state["attitude"][i]), state["angular_velocity"][i]
            force = body.mass * (rise[6 * i : 6 * i + 3] - given.gravity)
            spin = body.inertia @ rise[6 * i + 3 : 6 * i + 6] + np.cross(w, body.inertia @ w)
            needed.append(np.concatenate([force, R @ spin + np.cross(state["position"][i], force)]))
        for number in reversed(range(len(given.joints))):  # of these records each leads to its first body
            joint, found = given.joints[number], state["reactions"][number]
            i = given.names.index(joint.first)
            point = state["position"][i] + mx.matrix(state["attitude"][i]) @ joint.at
            wrench = np.concatenate([found[:3], found[3:] + np.cross(point, found[:3])])
            assert wrench == pytest.approx(needed[i], abs=1e-10)
            if joint.second is not None:
                needed[given.names.index(joint.second)] += wrench


def test_a_chain_of_planar_links_is_that_of_the_text_books():
    """Against the equations in the angles, written out."""
    masses, moments, halves = (1.0, 0.7, 1.2, 0.4), (0.05, 0.02, 0.06, 0.01), (0.3, 0.25, 0.35, 0.2)
    angles, rates = np.array((0.5, -0.3, 0.9, 1.4)), np.array((0.2, -1.0, 0.5, 1.5))
    bodies = [
        ph.body(f"link{k}", masses[k], (0.03 + moments[k] / 2, moments[k], 0.03 + moments[k] / 2)) for k in range(4)
    ]
    joints = [
        ph.joints.hinge((0, 0, h), (0, 1, 0), of_other=(0, 0, -halves[k - 1] if k else 0), name=f"pin{k}")
        .on(f"link{k}", f"link{k - 1}" if k else ph.ground)
        for k, h in enumerate(halves)
    ]  # fmt: skip
    chain = ph.system(*bodies, *joints, ph.loads.weight())
    x, v, position, velocity = np.zeros(3), np.zeros(3), [], []
    for h, angle, rate in zip(halves, angles, rates, strict=True):  # a turn by -angle about y moves the link to +x
        arm, swing = (
            h * np.array((np.sin(angle), 0, -np.cos(angle))),
            h * rate * np.array((np.cos(angle), 0, np.sin(angle))),
        )
        position.append(x + arm)
        velocity.append(v + swing)
        x, v = x + 2 * arm, v + 2 * swing
    start = {"position": position, "velocity": velocity, "attitude": [mx.turned((0, -a, 0)) for a in angles],
             "angular_velocity": [(0, -w, 0) for w in rates]}  # fmt: skip
    ds = ph.integrate(chain, "kl8/joints", step=0.005, steps=200, every=200, **start)
    end = mx.planar_chain(masses, moments, halves, 9.81, angles, rates, 1.0)
    last = js.state_of(ds)
    assert -last["angular_velocity"][:, 1] == pytest.approx(end[4:], abs=2e-10)
    assert [mx.matrix(q)[0, 2] for q in last["attitude"]] == pytest.approx(np.sin(-end[:4]), abs=2e-11)


def test_a_pendulum_is_that_of_jacobis_functions():
    given = mx.mechanism("pendulum")
    body = given.bodies[0]
    k = 9.81 * body.mass * 0.4 / (body.inertia[1, 1] + body.mass * 0.4**2)
    ds = js.run(given, "kl8/joints", 300, every=30)
    angle, rate = mx.pendulum_angle(ds.time.values, 2.0, k)
    assert ds.angular_velocity.values[:, 1] == pytest.approx(rate, abs=1e-11)
    assert ds.attitude.values[:, 0] == pytest.approx(np.cos(angle / 2), abs=1e-12)


def test_a_heavy_top_on_a_ball_joint_is_the_heavy_top():
    """Which turns about the point at which it is pinned, as one body without joints."""
    given = mx.mechanism("top")
    body = given.bodies[0]
    pinned = ph.heavy_top(
        np.diag(body.inertia), (0, 1, 0), mass=body.mass, gravity=9.81, inertia_about="center_of_mass"
    )
    words = {name: given.start[name][0] for name in ("attitude", "angular_velocity")}
    free = ph.integrate(pinned, "rkn6_14a", step=1 / 4000, steps=4000, every=4000, **words)
    held = js.run(given, "kl8/joints", 500)
    assert mx.matrix(held.attitude.values[-1]) == pytest.approx(mx.matrix(free.attitude.values[-1]), abs=3e-13)
    assert held.angular_velocity.values[-1] == pytest.approx(free.angular_velocity.values[-1], abs=2e-11)


# ------------------------------------------------------------------ orders
ORDERS = [(name, method, order) for name in STEPS for method, order in zip(WHOLE[:3], (2, 4, 6), strict=True)]
ORDERS += [(name, method, 6) for name in ("two_ball", "two_hinge", "two_rod", "two_free_slider", "top")
           for method in (SIX, "s6_10/joints")]  # fmt: skip


@each("name, method, order", ORDERS)
def test_orders(name, method, order):
    """On every kind of joint, to the ground and of floating bodies, with implied rows, and several in a row."""
    least = {2: 4, 4: 2, 6: 1}[order] * STEPS[name]
    found, errors = measured(name, method, least)
    if errors[1] < 2e-13:  # the round-off: it shows that the error is smaller than another's, not the order
        assert errors[0] < 1e-9
        return
    assert found == pytest.approx(order, abs=0.3 if order < 6 or errors[1] > 3e-12 else 0.8)


@each("name, steps", [("triple_pendulum", 100), ("satellite", 50), ("top", 50), ("pendulum", 25), ("two_rod", 25)])
def test_order_eight(name, steps):
    found, errors = measured(name, "kl8/joints", steps)
    assert found == pytest.approx(8.0, abs=0.5) and errors[1] < 1e-8


@each("method, order", [("v2/joints", 2), ("suzuki4/joints", 4), ("kl6b/joints", 6), ("mkrk:cv8", 8)])
def test_orders_with_friction(method, order):
    """Viscous friction in hinges; its work is booked, so the energy still judges the run."""
    found, errors = measured("damped_pendulum", method, 50)
    assert found == pytest.approx(order, abs=0.2 if order < 8 else 1.0)
    ds = js.run(mx.mechanism("damped_pendulum"), method, 400, system=system("damped_pendulum"))
    assert float(abs(ds.energy_error).max()) < 10 * errors[1] and float(ds.energy[-1] - ds.energy[0]) < -0.5


@each("name, method, steps, order", [("triple_pendulum", "mkrk:cv8", 100, 8), ("satellite", "mkrk:dp5", 200, 5),
                                     ("crane", "mkrk:cv8", 50, 8), ("two_rod", "mkrk:dp5", 100, 5)])  # fmt: skip
def test_orders_of_explicit_methods(name, method, steps, order):
    """Which take the forces of joints as loads."""
    found, errors = measured(name, method, steps)
    assert found == pytest.approx(order, abs=0.8) and errors[1] < 1e-8
    given = mx.mechanism(name)
    whole, ds = mx.Redundant(given), js.run(given, method, steps, system=system(name))
    assert max(np.abs(one).max() for one in whole.gaps(whole.flat(js.state_of(ds)))) < 1e-11


@each("name", list(STEPS))
def test_ends_are_those_of_the_references(name):
    given = mx.mechanism(name)
    steps = (8 if STEPS[name] < 50 else 4) * STEPS[name]
    ds = js.run(given, "kl8/joints", steps, every=steps // 20, system=system(name))
    assert mx.apart(js.state_of(ds), given.end) < 4e-12
    assert mx.distance(js.state_of(ds), given.end) < 1e-10
    assert float(abs(ds.energy_error).max()) < 1e-12


# ------------------------------------------------------------------ what is kept
@each("method", ["v2/joints", "kl6b/joints"])
@each("name", list(STEPS))
def test_joints_stay_closed(name, method):
    """At every row, places and velocities, by functions that are not polhode's."""
    given = mx.mechanism(name)
    ds = js.run(given, method, 2 * STEPS[name], every=STEPS[name] // 2, system=system(name))
    whole = mx.Redundant(given)
    for row in range(ds.sizes["time"]):
        gaps, rates = whole.gaps(whole.flat(js.state_of(ds, row)))
        assert np.abs(gaps).max() < 1e-14 and np.abs(rates).max() < 1e-12


@each("method", [*WHOLE, SIX])
def test_the_momentum_about_the_vertical_through_the_point_is_kept(method):
    given = mx.mechanism("ball_chain")
    ds = js.run(given, method, 1000, every=50, system=system("ball_chain"))
    whole, about = mx.Redundant(given), given.joints[0].of_other
    found = []
    for row in range(ds.sizes["time"]):
        linear, angular = whole.momentum(whole.flat(js.state_of(ds, row)))
        found.append((angular - np.cross(about, linear))[2])
    assert np.ptp(found) < 1e-13 * max(1.0, np.abs(found).max())


@each("method", [*WHOLE, SIX])
def test_momenta_of_what_floats_are_kept(method):
    given = mx.mechanism("satellite")
    ds = js.run(given, method, 500, every=25, system=system("satellite"))
    whole = mx.Redundant(given)
    found = np.array(
        [np.concatenate(whole.momentum(whole.flat(js.state_of(ds, row)))) for row in range(ds.sizes["time"])]
    )
    assert np.ptp(found, axis=0).max() < 1e-12


def test_panels_of_a_craft_in_orbit_stay_on_their_hinges():
    """To the round-off of places that are 7e6 m from the origin; the whole goes round as one body would."""
    given = mx.mechanism("satellite")
    craft = js.system_of(given, ph.loads.central(3.986004418e14))
    start = {key: np.array(value) for key, value in js.start_of(given).items()}
    start["position"] += (7.0e6, 0.0, 0.0)
    start["velocity"] += (0.0, 6036.87, 4527.65)
    ds = ph.integrate(craft, "kl6b/joints", step=0.1, steps=600, every=60, **start)
    whole = mx.Redundant(given)
    for row in range(ds.sizes["time"]):
        gaps, rates = whole.gaps(whole.flat(js.state_of(ds, row)))
        assert np.abs(gaps).max() < 4e-9 and np.abs(rates).max() < 4e-12
    masses = np.array([body.mass for body in given.bodies])
    spin = np.einsum("i,tij->tj", masses, np.cross(ds.position.values, ds.velocity.values))
    assert np.ptp(spin, axis=0).max() < 1e-11 * np.abs(spin).max()
    assert float(abs(ds.energy_error).max()) < 1e-12


@each("name, method, steps", [("triple_pendulum", "v2/joints", 500), ("triple_pendulum", "kl6b/joints", 250),
                              ("satellite", "suzuki4/joints", 500), ("bricard", "kl6b/joints", 250)])  # fmt: skip
def test_the_energy_does_not_drift(name, method, steps):
    """Over ten times the time: means of two halves differ less than the energy swings."""
    given = mx.mechanism(name)
    ds = js.run(given, method, 10 * steps, stop=10 * given.stop, every=steps // 50, system=system(name))
    change = ds.energy_change.values
    assert abs(change[: len(change) // 2].mean() - change[len(change) // 2 :].mean()) < 0.3 * np.ptp(change) + 1e-13


@each("name, method", [("triple_pendulum", "v2/joints"), ("triple_pendulum", "kl6b/joints"),
                       ("satellite", "kl8/joints"),
                       ("two_rod", SIX), ("bricard", "suzuki4/joints"), ("crane", "kl6b/joints"),
                       ("slider_crank", "kl6b/joints")])  # fmt: skip
def test_a_thousand_steps_are_undone(name, method):
    given = mx.mechanism(name)
    steps = 1000
    there = js.run(given, method, steps, system=system(name))
    back = js.run(given, method, steps, system=system(name), project=True, **js.reversed_start(there))
    assert mx.apart(js.state_of(back), given.start) < 1e-13 * amplified(name)


def amplified(name):
    """By how much the motion of these records enlarges what is small, there and back."""
    return {"slider_crank": 30, "two_rod": 5, "crane": 5}.get(name, 1)


def coordinates(tree, state):
    """Angles and their momenta of hinges in a tree."""
    angles, rates = [], []
    for i, joint in enumerate(tree.given.joints):
        p = tree.parent[i]
        fixed = p == len(tree.given.bodies)
        q = np.array([1.0, 0, 0, 0]) if fixed else state["attitude"][p]
        axis = joint.axis_of_other / np.linalg.norm(joint.axis_of_other)
        turn = mx.product(mx.product(mx.conjugate(q), state["attitude"][i]), mx.conjugate(tree.rest[i]))
        angles.append(2 * np.arctan2(turn[1:] @ axis, turn[0]))
        w = mx.matrix(state["attitude"][i]) @ state["angular_velocity"][i]
        rates.append(mx.matrix(q) @ axis @ (w - (0 if fixed else mx.matrix(q) @ state["angular_velocity"][p])))
    angles = np.array(angles)
    return angles, masses(tree, angles) @ np.array(rates)


def masses(tree, angles):
    """The mass matrix in the angles."""
    M = np.zeros((len(angles), len(angles)))
    for body, (_, q, _, _, V, W, _, _) in zip(tree.given.bodies, tree.frames(angles, 0 * angles), strict=True):
        M += body.mass * V @ V.T + W @ (mx.matrix(q) @ body.inertia @ mx.matrix(q).T) @ W.T
    return M


def placed(tree, angles, momenta):
    """The state at angles and momenta."""
    bodies = tree.frames(angles, np.linalg.solve(masses(tree, angles), momenta))
    return {"position": [one[0] for one in bodies], "attitude": [one[1] for one in bodies],
            "velocity": [one[2] for one in bodies],
            "angular_velocity": [mx.matrix(one[1]).T @ one[3] for one in bodies]}  # fmt: skip


STENCIL = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}


@each("method", ["v2/joints", "kl6b/joints", SIX])
def test_steps_are_symplectic_on_the_manifold_of_the_joints(method):
    """In the angles of hinges and their momenta, by differences of sixth order; large steps, whose error is 1e-3."""
    given = mx.mechanism("triple_pendulum")
    tree, made = mx.Tree(given), system("triple_pendulum")

    def moved(z):
        ds = ph.integrate(made, method, step=0.05, steps=4, every=4, project=True, **placed(tree, z[:3], z[3:]))
        return np.concatenate(coordinates(tree, js.state_of(ds)))

    z = np.concatenate(coordinates(tree, given.start))
    delta = 3e-3
    J = np.column_stack([sum(c * moved(z + k * delta * e) for k, c in STENCIL.items()) / delta for e in np.eye(6)])
    S = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
    assert np.abs(J - np.eye(6)).max() > 0.1
    assert np.abs(J.T @ S @ J - S).max() < 1e-11 * np.abs(J).max() ** 2


@each("method", ["v2/joints", "kl6b/joints", SIX])
def test_derivatives_keep_the_symplectic_form(method):
    """Of changes of start that joints allow, space and body axes: dx dp - dp dx and, of turns, dM dt - dt dM - M (dt x
    dt)."""
    given, made = mx.mechanism("triple_pendulum"), system("triple_pendulum")
    ds = js.run(given, method, 4, stop=0.4, every=4, system=made, tangent=True)
    seeds = np.column_stack([*allowed(given, tree := mx.Tree(given))])
    ends = ds.state_transition.values[-1] @ seeds
    forms = [seeds.T @ form(ds, 0) @ seeds, ends.T @ form(ds, -1) @ ends]
    assert np.abs(forms[0]).max() > 0.1 and len(tree.rates) == 3
    assert np.abs(forms[1] - forms[0]).max() < 1e-11 * np.abs(ends).max() ** 2


@each("method", ["v2/joints", "kl6b/joints"])
def test_derivatives_of_rest_are_those_of_small_motions(method):
    """A pendulum that hangs still, whose joint needs no impulse, but for its derivatives: against differences."""

    def trap(body, k):
        return 0.5 * k * body.position[0] ** 2

    made = ph.system(ph.body("bob", 2.0, (0.3, 0.4, 0.2)), ph.joints.ball(at=(0, 0, 1)).on("bob", ph.ground),
                     ph.loads.of(trap, k=3.0))  # fmt: skip

    def run(angle, **words):
        q = np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])
        return ph.integrate(made, method, step=0.1, steps=5, every=5, attitude=q, **words,
                            position=ph.rotation.rotate(q, (0.0, 0.0, -1.0)))  # fmt: skip

    tilted = run(0.0, tangent=True).state_transition.values[-1] @ [-1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    far, near = ((run(e).position - run(-e).position).values[-1].ravel() / (2 * e) for e in (2e-4, 1e-4))
    assert np.abs(tilted[:3] - (4 * near - far) / 3).max() < 1e-9


def allowed(given, tree, delta=1e-4):
    """Changes of the start by each angle and each momentum, as the columns of a state transition have them."""
    z = np.concatenate(coordinates(tree, given.start))
    zero = placed(tree, z[:3], z[3:])
    for e in np.eye(6):
        total = 0.0
        for k, c in STENCIL.items():
            start = placed(tree, *(np.split(z + k * delta * e, 2)))
            total = total + c * difference(given, zero, start) / delta
        yield total


def difference(given, zero, start):
    """Positions, momenta, turns and angular momenta of each body, less those at the first of two starts."""
    found = []
    for i, body in enumerate(given.bodies):
        q, p = (np.asarray(one["attitude"])[i] for one in (zero, start))
        turn = ph.rotation.log_quaternion(ph.rotation.multiply(ph.rotation.conjugate(q), p))
        x, v, w = (np.asarray(start[name])[i] - np.asarray(zero[name])[i]
                   for name in ("position", "velocity", "angular_velocity"))  # fmt: skip
        found += [x, body.mass * v, turn, body.inertia @ w]
    return np.concatenate(found)


def form(ds, row):
    """The symplectic form at a row."""
    n, M = ds.sizes["body"], ds.angular_momentum.values[row]
    found = np.zeros((12 * n, 12 * n))
    for i in range(n):
        for k in (12 * i, 12 * i + 6):
            found[k : k + 3, k + 3 : k + 6], found[k + 3 : k + 6, k : k + 3] = np.eye(3), -np.eye(3)
        found[12 * i + 6 : 12 * i + 9, 12 * i + 6 : 12 * i + 9] = np.cross(np.eye(3), M[i]).T
    return found


# ------------------------------------------------------------------ loops
@each("method, steps, most", [("v2/joints", 1000, 2e-2), ("suzuki4/joints", 500, 2e-5), ("kl6b/joints", 500, 1e-7)])
def test_singular_positions_are_passed(method, steps, most):
    """The double four-bar, all of whose bars are in line at each quarter turn of its cranks: places by the law of one
    pendulum, and no other branch is taken on the way."""
    given = mx.mechanism("four_bars")
    ds = js.run(given, method, steps, every=1, system=system("four_bars"))
    up = ds.attitude.values[:, 0]
    cosine = 1 - 2 * (up[:, 1] ** 2 + up[:, 2] ** 2)
    assert (np.diff(np.sign(cosine)) != 0).sum() >= 8  # passages
    assert mx.apart(js.state_of(ds), given.end) < most
    assert float(abs(ds.energy_error).max()) < most
    whole = mx.Redundant(given)
    worst = max(np.abs(whole.gaps(whole.flat(js.state_of(ds, row)))[0]).max() for row in range(0, ds.sizes["time"], 10))
    assert worst < 1e-13


PASSAGES = {"v2/joints": 2e-2, "suzuki4/joints": 1e-4, "kl6b/joints": 1e-6}


@each("draw", [*range(6), *(pytest.param(draw, marks=pytest.mark.full) for draw in range(6, 60))])
def test_passages_at_random(draw):
    """From any place, at any rate, with steps that are not chosen: no run leaves its branch."""
    numbers = np.random.default_rng(draw)
    angle, rate = numbers.uniform(-1.4, 1.4), numbers.uniform(0.8, 2.0) * numbers.choice((-1.0, 1.0))
    method, step = list(PASSAGES)[draw % 3], numbers.uniform(2e-3, 6e-3)
    steps = round(4.0 / step)
    start = mx.placed_four_bars(angle, rate)
    ds = ph.integrate(system("four_bars"), method, step=step, steps=steps, every=steps, **start)
    end = mx.placed_four_bars(*mx.four_bar_motion(2, steps * step, angle, rate))
    assert mx.apart(js.state_of(ds), end) < PASSAGES[method] and float(abs(ds.energy_error).max()) < PASSAGES[method]


def test_exudyns_bricard_mechanism():
    """TestModels/bricardMechanism.py: 4.172189649307425 by 1,000 steps is the norm of its coordinates and 2.

    With Newton to 1e-10 it is 4.172190629703 by 2,000 steps of its generalized alpha and 4.172190955833 by 8,000, so
    4.172190977575 without error.
    """
    given = mx.mechanism("bricard")
    last = js.state_of(js.run(given, "kl8/joints", 100, stop=1.0, system=system("bricard")))
    total = 0.0
    for i in range(5):  # of the end of each bar, and Euler parameters
        ends = [
            x + mx.matrix(q) @ (-0.5, 0, 0)
            for x, q in ((s["position"][i], s["attitude"][i]) for s in (last, given.start))
        ]
        p, q = last["attitude"][i], given.start["attitude"][i]
        total += np.sum((ends[0] - ends[1]) ** 2) + np.sum((p * np.sign(p @ q) - q) ** 2)
    assert np.sqrt(total) + 2 == pytest.approx(4.172190977575, abs=5e-11)


def test_exudyns_chain_on_a_rail():
    """TestModels/sphericalJointTest.py: 4.409080446574593 by 1,000 steps, 4.409082185869 by 4,000 and 4.409082294636 by
    16,000, so 4.40908230189: the coordinates of two bodies, absolute, added. The rail is no joint of polhode's."""
    end = mx.mechanism("chain_on_rail").end
    found = sum(np.abs(end["position"][i]).sum() + np.abs(end["attitude"][i]).sum() for i in range(2))
    assert found == pytest.approx(4.40908230189, abs=2e-9)


# ------------------------------------------------------------------ runs
class Stop(Exception):
    pass


def stopping(after):
    def look(progress):
        if progress.done >= after:
            raise Stop

    return look


def sliced(monkeypatch):
    """Runs come in slices of seven steps, between any two of which they may be stopped."""
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(stepping, "FIRST_SLICE", 7)
    monkeypatch.setattr(stepping.Run, "adjust", lambda run, elapsed: None)


@each("name, method", [("triple_pendulum", "v2/joints"), ("four_bars", "kl6b/joints"), ("satellite", SIX)])
def test_slices_and_rows_change_no_bit(name, method):
    given = mx.mechanism(name)
    stop = given.stop / 10
    whole, rows = (js.run(given, method, 120, stop=stop, every=every, system=system(name)) for every in (1, 7))
    with pytest.MonkeyPatch.context() as patch:
        sliced(patch)
        again = js.run(given, method, 120, stop=stop, every=1, system=system(name))
    for key in js.STATE:
        assert (whole[key].values == again[key].values).all() and (rows[key].values[3] == whole[key].values[21]).all()


@each("name, method", [("triple_pendulum", "v2/joints"), ("bricard", "kl6b/joints"), ("satellite", SIX)])
def test_a_stopped_run_goes_on_bit_for_bit(name, method, tmp_path):
    given, path = mx.mechanism(name), tmp_path / f"{name}.zarr"
    whole = js.run(given, method, 120, every=10, system=system(name))
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stop):
        sliced(patch)
        js.run(given, method, 120, every=10, system=system(name), store=ph.Store(path, checkpoint_seconds=0),
               progress=stopping(41))  # fmt: skip
    assert ph.resume(path, system=system(name)).identical(whole)


def test_what_lies_beside_a_run_changes_no_bit():
    """Rows between steps, and other members that the same memory serves."""
    given, made = mx.mechanism("triple_pendulum"), system("triple_pendulum")
    start = js.start_of(given)
    words = {"step": 0.01, "steps": 30}
    whole = [ph.integrate(made, "kl6b/joints", **words, project=True, **(start | {"angular_velocity": k *
    start["angular_velocity"]}))
             for k in (1.0, 0.5)]  # fmt: skip
    seen = ph.integrate(made, "kl6b/joints", step=0.01, t_eval=[0.023, 0.1, 0.237, 0.3], project=True, **start)
    assert (seen.attitude.values[-1] == whole[0].attitude.values[-1]).all()
    starts = {
        word: np.stack([ds[word].values[0] for ds in whole])
        for word in ("position", "velocity", "attitude", "angular_velocity")
    }
    members = ph.ensemble(made, "kl6b/joints", **words, members=starts, threads=1)
    for k in range(len(whole)):
        alone = ph.integrate(made, "kl6b/joints", **words, **{word: value[k] for word, value in starts.items()})
        assert (members.attitude.values[k] == alone.attitude.values).all()


def test_a_run_goes_on_from_a_row_of_another():
    """A row is a state that meets its joints, however small its rates are."""
    for name in ("two_slider", "slider_crank", "crane"):
        given = mx.mechanism(name)
        ds = js.run(given, "kl6b/joints", 4 * STEPS[name], system=system(name))
        ph.integrate(system(name), "kl6b/joints", step=0.01, steps=2, **js.state_of(ds))


def test_gimbals_whose_joints_are_all_at_the_origin():
    """Nothing there has a length but the bodies themselves; the rotor spins on, the vertical momentum stays."""
    system = ph.system(
        ph.body("outer", 0.4, (0.004, 0.004, 0.002)), ph.body("inner", 0.3, (0.002, 0.002, 0.003)),
        ph.body("rotor", 1.0, (0.0015, 0.003, 0.0015)), ph.body("point", 1.0),
        ph.joints.hinge((0, 0, 0), (0, 0, 1), name="azimuth").on("outer", ph.ground),
        ph.joints.hinge((0, 0, 0), (1, 0, 0), name="tilt").on("inner", "outer"),
        ph.joints.hinge((0, 0, 0), (0, 1, 0), name="spin").on("rotor", "inner"),
        ph.joints.ball().on("point", ph.ground),
    )  # fmt: skip
    start = ph.assemble(system, {"tilt": 0.3}, {"spin": 100.0, "tilt": 1.0})
    ds = ph.integrate(system, "kl6b/joints", step=1e-3, steps=200, start=start)
    spin = ph.rotation.rotate(ds.attitude.values, ds.angular_momentum.values).sum(axis=1)[:, 2]
    assert abs(ds.position).max() < 1e-15 and abs(ds.energy_error).max() < 1e-12
    assert abs(spin - spin[0]).max() < 1e-13 * abs(ds.angular_momentum).max()


# ------------------------------------------------------------------ cost, in free motions
def test_multipliers_are_foretold():
    """Two free motions a step of a chain in short steps: one that is foretold, and one that is right."""
    ds = js.run(mx.mechanism("ball_chain"), "v2/joints", 2000, every=1, system=system("ball_chain"))
    assert ds.iterations.values[10:].mean() < 2.05
    given = mx.mechanism("triple_pendulum")  # nine glides a step: from the two before, while there are no steps before
    ds = js.run(given, "kl6b/joints", 4, stop=given.stop / 500, every=1, system=system("triple_pendulum"))
    assert ds.iterations.values[1:3].sum() < 40


@each("turn, most", [(0.5, 4.5), (1.0, 6.2), (1.5, 7.5)])
def test_a_fast_body_takes_few_motions(turn, most):
    """A body on a ball joint that turns so far (rad) in a step: the matrix is that of the end that is foretold."""
    centre, speed = np.array([0.0, 0.0, 1.0]), 30.0
    top = ph.system(ph.body("top", 2.0, (1.0, 1.1, 0.4)), ph.joints.ball(at=-centre).on("top", ph.ground),
                    ph.loads.weight())  # fmt: skip
    spin = np.array([1.0, 2.0, speed])
    ds = ph.integrate(top, "v2/joints", step=turn / speed, steps=40, position=centre, angular_velocity=spin,
                      velocity=np.cross(spin, centre))  # fmt: skip
    assert ds.iterations.values[2:].mean() < most
