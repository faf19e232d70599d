"""Indicators of chaos of systems with states that loads read, alone and of bodies."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph


def lorenz(x, y, z, sigma, rho, beta):
    return {"x": sigma * (y - x), "y": x * (rho - z) - y, "z": x * y - beta * z}


def test_the_exponents_of_lorenz_are_those_of_the_literature():
    """0.9056, 0 and -14.572; their sum is the divergence, which is constant."""
    weather = ph.system(ph.states.of(lorenz, {"sigma": 10.0, "rho": 28.0, "beta": 8 / 3}, x=1.0, y=1.0, z=20.0))
    found = ph.chaos.lyapunov(weather, "mkrk:cv8", step=0.02, steps=50_000, vectors=3)
    np.testing.assert_allclose(found.exponent, (0.9056, 0.0, -14.5723), atol=0.02)
    assert float(found.exponent.sum()) == pytest.approx(-(10.0 + 1.0 + 8 / 3), rel=1e-3)
    assert found.attrs["coordinates_of_vectors"] == "x, y, z"
    still = ph.system(ph.states.of(lorenz, {"sigma": 10.0, "rho": 0.5, "beta": 8 / 3}, x=0.0, y=0.0, z=0.0))
    slopes = sorted([*np.linalg.eigvals([[-10.0, 10.0], [0.5, -1.0]]).real, -8 / 3])  # about the origin
    found = ph.chaos.lyapunov(still, "mkrk:cv8", step=0.02, steps=20_000, vectors=3)
    np.testing.assert_allclose(np.sort(found.exponent), slopes, atol=0.02)


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
    np.testing.assert_allclose(np.sort(found.exponent)[:2], (-0.2, -0.05), atol=5e-3)
    np.testing.assert_allclose(np.sort(found.exponent)[2:], 0.0, atol=2e-2)


def law(body, rate, place):
    return {"push": -rate * body.velocity - place * body.position}


def pushed(body, push):
    return {"force": push}


def drawn_back(body):
    return 0.5 * 2.0 * body.position @ body.position


@pytest.mark.parametrize(("method", "place"), [("s6_10", -0.6), ("mkrk:cv8", 0.9)])
def test_a_sample_is_a_map_whose_exponents_are_those_of_its_matrix(method, place):
    """Frequency 1 about a place that the push moves: a matrix of two rows from sample to sample, for each axis. The
    push itself follows from the rest."""
    every, rate, mass = 0.2, 0.3, 2.0
    cart = ph.system(ph.body("a", mass), ph.loads.of(drawn_back), ph.loads.of(pushed).on("a"),
                     ph.controller(law, every, parameters={"rate": rate, "place": place}).on("a")
                     .states(push=np.zeros(3)))  # fmt: skip
    c, s = np.cos(every), np.sin(every)
    about = np.array([-place, -rate]) / mass
    matrix = np.array([[c, s], [-s, c]]) + np.outer([1.0 - c, s], about)
    wanted = np.repeat(np.sort(np.log(np.abs(np.linalg.eigvals(matrix))) / every)[::-1], 3)
    ds = ph.chaos.lyapunov(cart, method, vectors=9, step=0.1, steps=40_000, position=(1.0, 0.2, 0.1))
    assert np.allclose(ds.exponent[:6], wanted, rtol=0, atol=2e-3) and (ds.exponent[6:] == -np.inf).all()
    assert ph.chaos.megno(cart, method, step=0.1, steps=2000, position=(1.0, 0.2, 0.1)).status == 0
