"""Bodies pinned at places of their own: against DOP853 of the same equations written by hand, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from cover import some
from each import each
from polhode.errors import InvalidInput
from vectors import cross

MOMENTS, WEIGHT, TIP, MIDDLE = np.array([0.9, 1.0, 0.2]), 20.0, np.array([0.0, 0.0, -1.2]), np.array([0.1, 0, -0.6])
PINS = np.array([(0.0, 0.0, 0.0), (1.0, 0.2, 0.1)])
STIFFNESS, LENGTH, RATE = 30.0, 0.8, 0.3


def strut(a, b, stiffness, length, rate, at):
    """A spring and a damper between points of two bodies; torques about the pins."""
    d = b.point(at) - a.point(at)
    size = np.sqrt(d @ d)
    speed = b.in_space(np.cross(b.angular_velocity, at)) - a.in_space(np.cross(a.angular_velocity, at))
    pull = (stiffness * (size - length) + rate * (speed @ d) / size) * d / size
    return {"torque": [np.cross(at, a.in_body(pull)), -np.cross(at, b.in_body(pull))]}


def pendulums(pins=PINS):
    rods = [ph.body(name, inertia=MOMENTS, pinned=True, at=at) for name, at in zip("ab", pins, strict=True)]
    joined = ph.loads.of(strut, stiffness=STIFFNESS, length=LENGTH, rate=RATE, at=TIP).on("a", "b")
    return ph.system(rods, ph.loads.weight(WEIGHT, at=MIDDLE), joined)


START = {"angular_velocity": [(0.4, -0.5, 0.3), (-0.2, 0.6, 0.1)]}


def matrix(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip


def rates(t, y):
    """Euler's equations of both rods, and the power of the strut; no code of polhode."""
    q, w = y[:8].reshape(2, 4), y[8:14].reshape(2, 3)
    R = [matrix(one) for one in q]
    d = PINS[1] + R[1] @ TIP - PINS[0] - R[0] @ TIP
    size, speed = np.linalg.norm(d), R[1] @ cross(w[1], TIP) - R[0] @ cross(w[0], TIP)
    pull = (STIFFNESS * (size - LENGTH) + RATE * (speed @ d) / size) * d / size
    found, power = [], 0.0
    for i, sign in ((0, 1.0), (1, -1.0)):
        spring = cross(TIP, R[i].T @ (sign * pull))
        torque = spring + cross(MIDDLE, R[i].T @ (0, 0, -WEIGHT))
        found.append((torque - cross(w[i], MOMENTS * w[i])) / MOMENTS)
        power += spring @ w[i]
    spin = [0.5 * np.concatenate([[-q[i, 1:] @ w[i]], q[i, 0] * w[i] + cross(q[i, 1:], w[i])]) for i in (0, 1)]
    return np.concatenate([*spin, *found, [power]])


@pytest.fixture(scope="module")
def end():
    y = np.concatenate([(1, 0, 0, 0), (1, 0, 0, 0), *START["angular_velocity"], [0.0]])
    return solve_ivp(rates, (0.0, 2.0), y, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


@each("method", some(["s6_10", "taylor", "mkrk:gauss6", "mkrk:cv8"], 2))
def test_two_rods_that_hang_side_by_side_are_those_of_scipy(method, end):
    words = {"steps": ph.Tolerance(1e-13)} if method == "taylor" else {"step": 0.01}
    ds = ph.integrate(pendulums(), method, t_end=2.0, **words, **START)
    q = ds.attitude.values[-1].ravel()
    np.testing.assert_allclose(q, end[:8], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ds.angular_velocity.values[-1].ravel(), end[8:14], rtol=0, atol=1e-9)
    assert float(ds.work.values[-1, 0]) == pytest.approx(end[14], rel=1e-8)
    assert float(abs(ds.energy_error).max()) < 1e-9
    together = ph.integrate(pendulums(0.9 * PINS), method, t_end=2.0, **words, **START)
    assert abs(together.attitude.values[-1] - ds.attitude.values[-1]).max() > 1e-2
    assert np.array_equal(ph.rerun(ds, strut=strut).attitude, ds.attitude)


def test_where_a_pin_is_may_vary_and_has_derivatives():
    words = {"step": 0.02, "t_end": 1.0, **START}
    ds = ph.integrate(pendulums(), "mkrk:cv8", tangent=["b.at.0"], **words)

    def spun(x):
        ds = ph.integrate(pendulums(), "mkrk:cv8", parameters={"b.at.0": x}, **words)
        return ds.angular_momentum.values[-1].ravel()

    wanted = sum(w * (spun(1.0 + k * 1e-3) - spun(1.0 - k * 1e-3)) for k, w in
                 ((1, 2 / 3), (2, -1 / 12))) / 1e-3  # fmt: skip
    rows = [f"angular_momentum_{axis}.{i}" for i in range(2) for axis in "xyz"]
    found = ds.state_transition.sel(column="b.at.0", row=rows).values[-1]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * abs(wanted).max())
    many = ph.ensemble(pendulums(), "mkrk:cv8", members={"b.at.0": [1.0, 1.3]}, **words)
    np.testing.assert_allclose(many.angular_momentum.values[1, -1].ravel(), spun(1.3), rtol=0, atol=1e-13)


def bond(a, b, stiffness, at):
    d = b.point(at) - a.point(at)
    return 0.5 * stiffness * d @ d


def bond_of_places(a, b, stiffness, at):
    d = b.place + b.point(at) - a.place - a.point(at)
    return 0.5 * stiffness * d @ d


def test_a_row_of_pendulums_is_a_loop():
    """As one of rods that are all pinned at the origin, whose springs know where the pins are; and its energy."""
    n, k, at = 8, 2.0, np.array([0.0, 0.0, -1.2])
    pins = np.array([(0.5 * i, 0.03 * i * i, 0.0) for i in range(n)])

    def row(springs, pins):
        rods = [ph.body(f"rod{i}", inertia=(0.96, 0.96, 0.1), pinned=True, at=pin) for i, pin in enumerate(pins)]
        on = [one.on(f"rod{i}", f"rod{i + 1}").named(f"spring{i}") for i, one in enumerate(springs)]
        return ph.system(rods, ph.loads.weight(WEIGHT, at=(0, 0, -0.6)), on)

    numbers = {"stiffness": k, "at": at}
    here = row([ph.loads.of(bond, **numbers)] * (n - 1), pins)
    there = row([ph.loads.of(bond_of_places, **numbers).each(place=pins)] * (n - 1), 0.0 * pins)
    words = {"step": 0.02, "t_end": 3.0, "angular_velocity": np.random.default_rng(1).normal(size=(n, 3))}
    found, wanted = (ph.integrate(one, "s6_10", **words) for one in (here, there))
    np.testing.assert_allclose(found.attitude, wanted.attitude, rtol=0, atol=1e-12)
    assert float(abs(found.energy_error).max()) < 1e-9
    level = -n * WEIGHT * 0.6 + 0.5 * k * float((np.diff(pins, axis=0) ** 2).sum())
    assert float(found.potential_energy[0]) == pytest.approx(level, rel=1e-13)


def tip(rod, at):
    return rod.point(at)[0] - 1.1


def test_events_and_a_body_that_moves_see_the_pin():
    """A weight on a spring from the pin of a rod, and the tip of the rod as it passes a place."""
    rod = ph.body("rod", inertia=MOMENTS, pinned=True, at=(1.0, 0, 0))

    def tie(a, b, stiffness):
        d = b.position - a.position
        return 0.5 * stiffness * d @ d

    both = ph.system(rod, ph.body("mass", 2.0), ph.loads.of(tie, stiffness=2.0).on("rod", "mass"))
    passes = ph.events.of(tip, at=TIP).on("rod")
    start = {"rod": {"angular_velocity": (0, -0.5, 0)}, "mass": {"position": (1.5, 0, 0), "velocity": (0, 0.1, 0)}}
    ds = ph.integrate(both, "mkrk:cv8", step=0.02, t_end=3.0, events=[passes], start=start)
    np.testing.assert_allclose(
        ds.position.values[-1, 1], (1.0 + 0.5 * np.cos(3.0), 0.1 * np.sin(3.0), 0), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(ds.event_time[0], np.arcsin(0.1 / 1.2) / 0.5, rtol=1e-12)
    assert both.conserves == ("energy",)


def test_what_is_no_pin_is_said(tmp_path):
    with pytest.raises(InvalidInput, match="not pinned; give pinned=True"):
        ph.body("a", 2.0, at=(1, 0, 0))
    file, *_ = ph.runs.write_scenario(tmp_path / "rods.toml", pendulums(), "v2", step=0.01, steps=10, **START)
    assert "at = [1.0, 0.2, 0.1]" in file.read_text()
    again = ph.runs.read_scenario(file, allow_code=True).integrate()
    assert np.array_equal(again.attitude, ph.integrate(pendulums(), "v2", step=0.01, steps=10, **START).attitude)


def test_trajectories_tell_where_a_body_is_pinned():
    wheel = ph.reaction_wheels([[1, 0, 0]], 0.1)  # whose numbers come before those of pins
    system = ph.system(ph.body("rod", inertia=(0.1, 0.1, 0.01), pinned=True, at=(1, 0, 0)),
                       ph.body("free", 2.0, (1, 1, 1), wheels=wheel),
                       ph.loads.weight(9.81, at=(0, 0, -0.3)).on("rod"))  # fmt: skip
    start = {"free": {"velocity": (1, 0, 0)}, "rod": {"angular_velocity": (0, 1, 0)}}
    run = {"step": 0.01, "steps": 10}
    ds = ph.integrate(system, **run, start=start)
    np.testing.assert_array_equal(ds.position.sel(body="rod"), np.tile([1.0, 0.0, 0.0], (11, 1)))
    moved = ph.integrate(system, **run, start=start, parameters={"rod.at.0": 5.0})
    assert (moved.position.sel(body="rod")[:, 0] == 5.0).all()
    ends = ph.ensemble(system, **run, start=start, members={"rod.at.0": [1.0, 5.0]})
    np.testing.assert_array_equal(ends.position.sel(body="rod")[:, -1, 0], [1.0, 5.0])
    np.testing.assert_array_equal(ends.attitude[1], moved.attitude)
    again = ph.integrate(system, **run, start=ds)
    np.testing.assert_array_equal(again.position.sel(body="rod")[-1], [1.0, 0.0, 0.0])
    with pytest.raises(InvalidInput, match=r"pinned at \[1.0, 0.0, 0.0\], but its position"):
        ph.integrate(system, **run, start=start | {"rod": {"position": (2, 0, 0)}})
