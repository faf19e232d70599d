"""Indicators of chaos of systems with states that loads read, alone and of bodies."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from cover import some


def lorenz(x, y, z, sigma, rho, beta):
    return {"x": sigma * (y - x), "y": x * (rho - z) - y, "z": x * y - beta * z}


def test_the_exponents_of_lorenz_are_those_of_the_literature():
    """0.9056, 0 and -14.572; their sum is the divergence, which is constant."""
    weather = ph.system(ph.states.of(lorenz, {"sigma": 10.0, "rho": 28.0, "beta": 8 / 3}, x=1.0, y=1.0, z=20.0))
    found = ph.chaos.lyapunov(weather, "mkrk:cv8", step=0.02, steps=50_000, vectors=3)
    np.testing.assert_allclose(found.exponent, (0.9056, 0.0, -14.5723), rtol=0, atol=0.02)
    assert float(found.exponent.sum()) == pytest.approx(-(10.0 + 1.0 + 8 / 3), rel=1e-3)
    assert found.attrs["coordinates_of_vectors"] == "x, y, z"
    still = ph.system(ph.states.of(lorenz, {"sigma": 10.0, "rho": 0.5, "beta": 8 / 3}, x=0.0, y=0.0, z=0.0))
    slopes = sorted([*np.linalg.eigvals([[-10.0, 10.0], [0.5, -1.0]]).real, -8 / 3])  # about the origin
    found = ph.chaos.lyapunov(still, "mkrk:cv8", step=0.02, steps=20_000, vectors=3)
    np.testing.assert_allclose(np.sort(found.exponent), slopes, rtol=0, atol=0.02)


def cooling(body, heat, rate):
    return {"heat": -rate * heat, "force": heat[0] * body.position}


def spring(body):
    return 0.5 * body.position @ body.position


def test_states_of_a_body_have_exponents_with_it():
    """Numbers that die out exponentially beside a body on a spring: each at its own rate, the body at none."""
    rates = np.array([0.05, 0.2])
    warm = ph.system(ph.body("a", 1.0), ph.loads.of(spring), ph.loads.of(cooling, rate=rates).states(heat=(0.01, 0.3)))
    start = {"position": (1.0, 0.2, 0.0), "velocity": (0.0, 0.5, 0.1)}
    found = ph.chaos.lyapunov(warm, "mkrk:cv8", step=0.1, steps=4000, vectors=8, **start)
    assert found.vector.size == 8
    np.testing.assert_allclose(np.sort(found.exponent)[:2], (-0.2, -0.05), rtol=0, atol=5e-3)
    np.testing.assert_allclose(np.sort(found.exponent)[2:], 0.0, rtol=0, atol=2e-2)


def law(body, rate, place):
    return {"push": -rate * body.velocity - place * body.position}


def pushed(body, push):
    return {"force": push}


def drawn_back(body):
    return 0.5 * 2.0 * body.position @ body.position


@pytest.mark.parametrize(("method", "place", "every"), [
    ("mkrk:cv8", 0.9, 0.2), ("mkrk:cv8", -0.6, 0.25),
    *(pytest.param(*one, marks=pytest.mark.full)
      for one in [("s6_10", -0.6, 0.25), ("s6_10", -0.6, 0.2), ("mkrk:cv8", 0.9, 0.17)]),
])  # fmt: skip
def test_a_sample_is_a_map_whose_exponents_are_those_of_its_matrix(method, place, every):
    """Frequency 1 about a place that the push moves: a matrix of two rows from sample to sample, for each axis. The
    push itself follows from the rest."""
    rate, mass = 0.3, 2.0
    cart = ph.system(ph.body("a", mass), ph.loads.of(drawn_back), ph.loads.of(pushed).on("a"),
                     ph.controller(law, every, parameters={"rate": rate, "place": place}).on("a")
                     .states(push=np.zeros(3)))  # fmt: skip
    c, s = np.cos(every), np.sin(every)
    about = np.array([-place, -rate]) / mass
    matrix = np.array([[c, s], [-s, c]]) + np.outer([1.0 - c, s], about)
    wanted = np.repeat(np.sort(np.log(np.abs(np.linalg.eigvals(matrix))) / every)[::-1], 3)
    steps = 40_000 if every == 0.2 else 8000
    ds = ph.chaos.lyapunov(cart, method, vectors=9, step=0.1, steps=steps, position=(1.0, 0.2, 0.1))
    assert np.allclose(ds.exponent[:6], wanted, rtol=0, atol=5e-3) and (ds.exponent[6:] == -np.inf).all()
    if every == 0.17:
        assert ph.chaos.megno(cart, method, step=0.1, steps=2000, position=(1.0, 0.2, 0.1)).status == 0


def floor(ball):
    return ball.position[2]


@pytest.mark.parametrize("method", some(["mkrk:cv8", "s6_10", "rkn6_14a"], 1))
def test_a_push_at_an_event_changes_volumes_as_it_changes_the_speed_across(method):
    """All exponents add up to the logarithms of the speeds after over those before; in closed form."""
    kick = ph.loads.impulse((0.0, 0.0, 8.0), at=ph.events.of(floor, direction=-1).on("ball"))
    ball = ph.system(ph.body("ball", 2.0), ph.loads.weight(), kick)
    run = {"step": 0.01, "t_end": 2.5, "position": (0, 0, 1.0), "velocity": (0.3, 0, 0.5)}
    ds = ph.integrate(ball, method, **run)
    t, z, v, volume = 0.0, 1.0, 0.5, 0.0
    for _ in range(3):
        fall = (v + np.sqrt(v * v + 2.0 * 9.81 * z)) / 9.81
        t, z, v = t + fall, 0.0, v - 9.81 * fall + 8.0
        volume += np.log(abs(v / (v - 8.0)))
    assert ds.event_time.size == 3
    found = ph.chaos.lyapunov(ball, method, vectors=6, every=25, **run)
    np.testing.assert_allclose(float(found.exponent.sum()) * 2.5, volume, rtol=1e-8)
    matrix = ph.integrate(ball, method, tangent=True, **run).state_transition.values[-1]
    np.testing.assert_allclose(np.log(abs(np.linalg.det(matrix))), volume, rtol=1e-8)
    places = {"position": [(0, 0, 0.9), run.pop("position")]}
    several = ph.chaos.lyapunov(ball, method, vectors=6, every=25, members=places, **run)
    np.testing.assert_allclose(float(several.exponent[1].sum()) * 2.5, volume, rtol=1e-8)
    assert (several.status == 0).all()


def test_what_cuts_steps_and_changes_nothing_changes_no_indicator():
    run = {"step": 0.1, "steps": 100, "every": 1, "position": (1.0, 0, 0), "velocity": (0, 1.0, 0.2)}
    forces = ([], [ph.forces.impulse(0.777, 1e-14, "velocity")])
    plain, cut = (ph.chaos.megno(ph.orbit(1.0, forces=one), "mkrk:cv8", **run) for one in forces)
    np.testing.assert_allclose(cut.megno[1:], plain.megno[1:], rtol=1e-9)


def test_burns_and_impulses_along_the_velocity_change_volumes():
    """Against the transition matrix."""
    burn = ph.forces.thrust(0.4, "velocity", start=0.55, stop=1.23)
    cart = ph.orbit(1.0, forces=[burn, ph.forces.impulse(0.777, 0.3, "velocity")])
    run = {"step": 0.05, "t_end": 2.0, "position": (1.0, 0, 0), "velocity": (0, 1.0, 0.2)}
    matrix = ph.integrate(cart, "mkrk:cv8", tangent=True, **run).state_transition.values[-1]
    found = ph.chaos.lyapunov(cart, "mkrk:cv8", vectors=6, every=4, **run)
    np.testing.assert_allclose(float(found.exponent.sum()) * 2.0, np.log(np.linalg.det(matrix)), rtol=0, atol=1e-10)
    assert abs(np.log(np.linalg.det(matrix))) > 0.1
