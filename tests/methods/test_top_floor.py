"""How far round-off takes two tops from their exact motion: a thousand radians of the fast one, and one that swings."""

from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import mp_top
from cover import chosen
from each import each
from polhode.algebra.rotation import exp_quaternion
from polhode.kernel import layout as L
from polhode.methods import method
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator
from polhode.systems import problem

T = 20.0
EXACT = {
    "krysl_fast_top": (
        ("-0.071007305126517066595038010131", "1.0695071483836228254004688199307",
         "50.0"),
        ("-0.75699305905048779068746334432658", "-0.041083162978559305730116664003318",
         "-0.15334975742216426899836841932183", "-0.63384346187968620043923772811691"),
    ),
    "asymmetric_top": (
        ("0.87909559398637250450431331215462", "-0.69754934943295070553513768425824",
         "0.4822117449129694384454485955554"),
        ("-0.05596492263290521668851247663942", "-0.12118990029761293589059336448174",
         "0.047352417220528443037018193390976", "-0.98991852396241205544983133166848"),
    ),
}  # fmt: skip
"""Momentum and quaternion after 20 units of time by ``mp_top.end``; 800 and 2000 steps of it agree to 30 digits."""


def ready(name):
    """System and state at the start."""
    made = problem(name)
    initial = dict(made.initial)
    system, q = made.build(), exp_quaternion(initial.pop("rotation_vector"))
    return system, start_state(system, attitude=q / np.sqrt((q * q).sum()), **initial)


def error(name, label, n, compensated=False):
    """After n steps of T/n, as a double has it: the exact motion is moved to the time where they really end."""
    system, y = ready(name)
    bench = Integrator(system, replace(method(label), compensated=compensated), y)
    h = T / n
    assert bench.march(0, n, n + 1, 0.0, h) == L.OK
    late = n * Fraction(h) - Fraction(T)
    with mp.workdps(mp_top.DIGITS):
        m, q = ([mp.mpf(a) for a in row] for row in EXACT[name])
        m, q = mp_top.moved(system, m, q, mp.mpf(late.numerator) / late.denominator)
    return mp_top.distance(bench.y, m, q)


@each("label, n", [("taylor16", 5120), ("taylor16", 8192), ("taylor20", 20480), ("taylor30", 20480)])
def test_the_floor_of_a_fast_top(label, n):
    """Measured: 5e-16 to 1.3e-15, without compensated sums 3e-15 to 9e-14."""
    assert error("krysl_fast_top", label, n) < 2e-15


@each("label", ["taylor16", "taylor30"])
def test_the_floor_needs_no_luck(label):
    """Steps that are no powers of two; measured: median 8e-16 and 1.2e-15, largest 2.4e-15."""
    errors = [error("krysl_fast_top", label, n) for n in range(8000, 9000, 125)]
    assert np.median(errors) < 2e-15 and max(errors) < 5e-15


PLAIN, ASKED = False, True
SWINGING = [("taylor16", (3900, 4000, 4100), PLAIN), ("taylor20", 2048, PLAIN), ("taylor20", 20480, PLAIN),
            ("rkn6_14a", 4096, ASKED), ("mkrk:cv8", 16384, ASKED), ("mkrk:gauss12", 4096, ASKED)]  # fmt: skip


@each("label, n, compensated", chosen(SWINGING, SWINGING[:-1]))
def test_the_floor_of_an_asymmetric_top(label, n, compensated):
    """Its motion magnifies errors about a hundred times; without compensated sums 5e-14 to 7e-13. Steps that are no
    powers of two add rounding errors of the time, so the median of three numbers of steps counts."""
    assert np.median([error("asymmetric_top", label, one, compensated) for one in np.atleast_1d(n).tolist()]) < 6e-15


def test_errors_do_not_grow_with_shorter_steps():
    """Plain sums walk at random: their errors grow with the root of the number of steps."""
    errors = [error("asymmetric_top", "taylor16", n) for n in (1024, 4096, 16384)]
    assert max(errors) < 8e-15


@pytest.mark.full
@pytest.mark.parametrize("name, steps", [("krysl_fast_top", 2000), ("asymmetric_top", 800)])
def test_the_exact_motion(name, steps):
    m, q = mp_top.end(*ready(name), T, steps)
    with mp.workdps(mp_top.DIGITS):
        found = [float(mp.mpf(a) - b) for a, b in zip(sum(EXACT[name], ()), m + q, strict=True)]
    assert np.abs(found).max() < 1e-27
