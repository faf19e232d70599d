"""Other bodies, oblateness and thrust in sums: the same numbers as forces and thrusters of polhode, and by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from each import each
from polhode.errors import PolhodeError

EARTH = ph.planets.EARTH
LOW = {"position": (6878e3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0)}
RUN = {"step": 5.0, "steps": 400, "every": 100}
INERTIA = (5.0, 4.0, 3.0)
CIRCLE = {"radius": 3.844e7, "period": 2.36e4, "phase": 0.3, "normal": (0.1, 0.0, 1.0)}
TIMES = np.linspace(-100.0, 3000.0, 9)
TABLE = np.stack([3.8e7 * np.cos(1e-4 * TIMES), 3.8e7 * np.sin(1e-4 * TIMES), 1e6 + 0.0 * TIMES], axis=1)


def craft(*loads, **around):
    return ph.system(ph.body("bus", 120.0, INERTIA), ph.loads.central(EARTH.mu), *loads, surroundings=around)


NAMES = ("oblate", "degree 3 alone", "at rest", "on a circle", "along a table", "by an ephemeris")


@cache
def pairs():
    moon = ph.surroundings.ephemeris("moon", "2026-03-20T12:00:00 UTC", stop=3e3, start=-100.0)
    path, body, force = ph.surroundings.path, ph.loads.third_body, ph.forces.third_body
    return {
        "oblate": (craft(ph.loads.zonal(EARTH.mu, **EARTH.zonal)), ph.forces.zonal(**EARTH.zonal)),
        "degree 3 alone": (craft(ph.loads.zonal(EARTH.mu, EARTH.radius, J3=-2.5e-4)),
                           ph.forces.zonal(radius=EARTH.radius, J3=-2.5e-4)),
        "at rest": (craft(body("ball", 5e15), ball=path(position=(1e8, 2e8, 0.0))),
                    force(5e15, position=(1e8, 2e8, 0.0))),
        "on a circle": (craft(body("moon"), moon=path(circle=CIRCLE)), force(ph.planets.MOON.mu, circle=CIRCLE)),
        "along a table": (craft(body("moon", 5e13), moon=path(times=TIMES, positions=TABLE)),
                          force(5e13, times=TIMES, positions=TABLE)),
        "by an ephemeris": (craft(body("moon"), moon=moon), force(ephemeris=moon)),
    }  # fmt: skip


@each("name", NAMES)
def test_gravity_beyond_the_centre_is_that_of_an_orbit(name):
    ours, force = pairs()[name]
    built = ph.orbit(EARTH.mu, mass=120.0, forces=[force])
    assert ours.conserves == built.conserves  # a body that turns, and a point
    assert (ours.recommended, built.recommended) == ("rkn6_14a/kepler", "abah10_6_4/kepler")
    free = ph.integrate(craft(), **RUN, **LOW).position.values[-1]
    a, b = (ph.integrate(one, "rkn6_14a/kepler", **RUN, **LOW) for one in (ours, built))
    assert abs(a.position.values - b.position.values).max() < 1e-14 * 6878e3
    assert abs(a.position.values[-1] - free).max() > (1e-7 if name == "by an ephemeris" else 1e-6) * 6878e3
    assert float(abs(a.energy_error).max()) < 1e-12
    if "work" in b:
        assert list(a.force.values) == ["third_body_moon"]
        assert a.work.values[-1] == pytest.approx(b.work.values[-1], rel=1e-10)
    assert ph.system(**ours.arguments).arguments == ours.arguments


def test_a_load_that_reads_by_another_name_is_printed():
    found = craft(ph.loads.third_body("ball", 4.9e12), ball=ph.surroundings.path(position=(1e8, 0.0, 0.0)))
    assert "third_body_ball: third_body on every body: of ball, mu 4.9e+12; reads ball" in repr(found)
    assert "reads ball" in found._repr_html_()


def test_a_third_body_pulls_as_its_equation_says():
    mu, s = 5e15, np.array([1e8, 2e8, 0.0])
    ours = craft(ph.loads.third_body("ball", mu), ball=ph.surroundings.path(position=s))

    def rates(t, y):
        r, d = y[:3], s - y[:3]
        pull = mu * (d / np.linalg.norm(d) ** 3 - s / np.linalg.norm(s) ** 3)
        return np.concatenate([y[3:], pull - EARTH.mu * r / np.linalg.norm(r) ** 3])

    start = np.concatenate([LOW["position"], LOW["velocity"]])
    end = solve_ivp(rates, (0.0, 2000.0), start, method="DOP853", rtol=1e-13, atol=[1e-6] * 3 + [1e-9] * 3).y[:, -1]
    assert abs(ph.integrate(ours, **RUN, **LOW).position.values[-1] - end[:3]).max() < 1e-9 * 6878e3


def test_thrust_is_that_of_a_thruster_and_of_its_equation():
    start = {**LOW, "angular_velocity": (0.01, 0.02, 0.03)}
    force, at = (0.5, 0.1, 0.0), (0.0, 1e-4, 2e-4)
    ours = craft(ph.loads.thrust(force, position=at, start=102.3, stop=1003.7),
                 ph.loads.thrust((0.0, 0.1, 0.2)).named("second"))  # fmt: skip
    built = ph.spacecraft(
        INERTIA, EARTH.mu, 120.0, gravity_gradient=False,
        thrusters=[ph.systems.thruster(force, position=at, start=102.3, stop=1003.7),
                   ph.systems.thruster((0.0, 0.1, 0.2))],
    )  # fmt: skip
    free = ph.integrate(craft(), **RUN, **start)
    for method in ("rkn6_14a/kepler", "mkrk:cv8"):
        a, b = (ph.integrate(one, method, **RUN, **start) for one in (ours, built))
        assert abs(a.position.values - b.position.values).max() < 1e-12 * 6878e3, method
        assert abs(a.attitude.values - b.attitude.values).max() < 1e-12, method
        assert float(a.work.values[-1].sum()) == pytest.approx(float(b.work.values[-1].sum()), rel=1e-11)
        assert float(abs(a.energy_error).max()) < 1e-12
        for name, scale in (("position", 6878e3), ("attitude", 1.0)):
            assert abs(a[name].values[-1] - free[name].values[-1]).max() > 1e-6 * scale
    moved = ph.integrate(ours, "mkrk:cv8", step=5.0, steps=400, parameters={"thrust.stop": 500.0}, **start)
    assert abs(moved.angular_velocity.values[-1] - a.angular_velocity.values[-1]).max() > 1e-6
    assert ph.system(**ours.arguments).arguments == ours.arguments
    I, spun = np.array(INERTIA), np.cross(at, force)

    def rates(t, w):
        return (np.cross(I * w, w) + spun * (102.3 <= t < 1003.7)) / I

    w = np.array(start["angular_velocity"])
    for begin, end in ((0.0, 102.3), (102.3, 1003.7), (1003.7, 2000.0)):
        inside = begin + 1e-9
        w = solve_ivp(lambda t, w, on=inside: rates(on, w), (begin, end), w, method="DOP853", rtol=1e-13, atol=1e-15).y[
            :, -1
        ]
    assert abs(a.angular_velocity.values[-1] - w).max() < 1e-9 * 0.03


def refused():
    return {
        "asks for 'moon', which nothing gives": lambda: craft(ph.loads.third_body("moon")),
        "mu is missing; polhode knows that of sun, moon": lambda: ph.loads.third_body("rock"),
        "stop is 1, not after start, 2": lambda: ph.loads.thrust((1, 0, 0), start=2.0, stop=1.0),
        "nothing says where the body is": lambda: ph.surroundings.path(),
        "must be an identifier": lambda: ph.loads.third_body("the moon"),
    }


@each("said", refused())
def test_what_is_missing_is_said_in_a_sentence(said):
    with pytest.raises(PolhodeError) as told:
        refused()[said]()
    assert said in str(told.value) and "\n" not in str(told.value)


@each("count", [3, pytest.param(5, marks=pytest.mark.full)])
def test_some_bodies_attract_each_other(count):
    """Those that are named, among others that do not; each pair once."""
    named, G = [f"body{i}" for i in range(1, count + 1)], 0.3
    some = ph.system(ph.bodies(count + 2, 2.0), ph.loads.gravitation(G).on(*named))
    position = np.random.default_rng(3).normal(size=(count + 2, 3))
    velocity = 0.3 * np.random.default_rng(4).normal(size=(count + 2, 3))

    def rates(t, y):
        r, v = y.reshape(2, -1, 3)
        found = np.zeros_like(r)
        for i in range(1, count + 1):
            d = np.delete(r[1:-1], i - 1, axis=0) - r[i]
            found[i] = (2.0 * G * d / np.linalg.norm(d, axis=1, keepdims=True) ** 3).sum(axis=0)
        return np.concatenate([v.ravel(), found.ravel()])

    start = np.concatenate([position.ravel(), velocity.ravel()])
    end = solve_ivp(rates, (0.0, 0.5), start, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    ds = ph.integrate(some, "mkrk:cv8", step=5e-3, t_end=0.5, position=position, velocity=velocity)
    np.testing.assert_allclose(ds.position.values[-1].ravel(), end[: 3 * count + 6], rtol=0, atol=1e-9)
    assert set(some.conserves) == {"energy", "total_momentum", "total_angular_momentum"}
    assert float(abs(ds.energy_error).max()) < 1e-9 and np.array_equal(ph.rerun(ds).position, ds.position)
    with pytest.raises(PolhodeError, match="is on 'body0' alone"):
        ph.loads.gravitation(G).on("body0")
