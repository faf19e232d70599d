"""The functions that devices have no library for, against many digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from each import each
from polhode.algebra.library import FARTHEST_ANGLE, LIBRARY

RNG = np.random.default_rng(20)
SIGNED = np.concatenate([np.linspace(-6.0, 6.0, 41), RNG.normal(size=300) * 10.0 ** RNG.uniform(-8, 1.5, 300)])
POSITIVE = np.abs(SIGNED[SIGNED != 0.0]) * 10.0 ** RNG.uniform(-3, 3, np.count_nonzero(SIGNED))
FAR = RNG.uniform(1e5, FARTHEST_ANGLE, 200) * RNG.choice([-1, 1], 200)
TURNS = np.array([float(mpmath.mpf(n) * mpmath.pi / 2) for n in (70_001, 123_456_789, 636_000_000_001)])
CASES = {
    "sin": (0.8, np.concatenate([SIGNED, FAR, TURNS])), "cos": (0.8, np.concatenate([SIGNED, FAR, TURNS])),
    "tan": (2.0, np.concatenate([SIGNED, FAR])), "exp": (0.8, SIGNED), "log": (0.8, POSITIVE), "atan": (0.8, SIGNED),
    "asin": (2.0, SIGNED[abs(SIGNED) <= 1.0]), "acos": (2.0, SIGNED[abs(SIGNED) <= 1.0]), "log2": (2.0, POSITIVE),
    "log10": (4.0, POSITIVE), "expm1": (4.0, SIGNED), "log1p": (4.0, SIGNED[SIGNED > -1.0]), "sinh": (4.0, SIGNED),
    "cosh": (4.0, SIGNED), "tanh": (4.0, SIGNED), "asinh": (4.0, np.append(SIGNED, [1e12, -1e200])),
    "acosh": (4.0, np.append(1.0 + POSITIVE, 1e300)), "atanh": (4.0, SIGNED[abs(SIGNED) < 1.0]),
}  # fmt: skip


def ulps(found, exact):
    """Distance in units of the last place of the exact result."""
    return abs(mpmath.mpf(found) - exact) / mpmath.mpf(math.ulp(float(exact)))


@each("name", CASES)
def test_of_one_number(name):
    bound, arguments = CASES[name]
    with mpmath.workdps(50):
        function = (lambda x: mpmath.log(x, 2)) if name == "log2" else getattr(mpmath, name)
        worst = max(ulps(LIBRARY[name](float(x)), function(mpmath.mpf(float(x)))) for x in arguments)
    assert worst <= bound


@each("name", [*CASES, "hypot", "atan2", "pow"])
def test_where_there_is_no_number(name):
    arguments = (math.nan,) * (2 if name in ("hypot", "atan2", "pow") else 1)
    assert math.isnan(LIBRARY[name](*arguments))


def test_angles_too_far_are_refused():
    assert math.isnan(LIBRARY["sin"](2.0 * FARTHEST_ANGLE))
    assert math.isnan(LIBRARY["cos"](-math.inf))


def test_of_two_numbers():
    x, y = RNG.normal(size=200) * 10.0 ** RNG.uniform(-3, 3, 200), RNG.normal(size=200)
    with mpmath.workdps(50):
        for a, b in zip(x.tolist(), y.tolist(), strict=True):
            assert ulps(LIBRARY["hypot"](a, b), mpmath.hypot(a, b)) <= 2.0
            assert ulps(LIBRARY["atan2"](a, b), mpmath.atan2(a, b)) <= 0.8
            exact = mpmath.power(abs(a), b)
            assert ulps(LIBRARY["pow"](abs(a), b), exact) <= 1.0 + 2.0 * abs(b * math.log(abs(a)))
    assert LIBRARY["hypot"](3e300, 4e300) == 5e300
    assert LIBRARY["hypot"](0.0, 0.0) == 0.0
    assert LIBRARY["hypot"](math.inf, 1.0) == math.inf


@each(
    ("x", "y"),
    [(0.0, 0.0), (0.0, 2.0), (-0.0, 3.0), (-2.0, 3.0), (-2.0, 4.0), (-2.0, -1.0), (1.0, math.inf), (2.0, 0.5),
     (math.inf, 2.0), (-math.inf, 3.0), (-math.inf, 0.5)],
)  # fmt: skip
def test_powers_as_in_python(x, y):
    with np.errstate(all="ignore"):
        found = LIBRARY["pow"](x, y)
    assert found == pytest.approx(math.pow(x, y), rel=1e-15)
    assert math.copysign(1.0, found) == math.copysign(1.0, math.pow(x, y))


def test_odd_powers_of_negative_numbers_and_none():
    assert LIBRARY["pow"](-2.0, 3.0) == pytest.approx(-8.0, rel=1e-15)
    assert math.isnan(LIBRARY["pow"](-2.0, 0.5))


@each(("name", "x", "result"), [
    ("exp", 1000.0, math.inf), ("expm1", -1e9, -1.0), ("expm1", 1000.0, math.inf), ("log1p", -1.0, -math.inf),
    ("log1p", math.inf, math.inf), ("tanh", 1e9, 1.0), ("tanh", -1e9, -1.0), ("sinh", 0.0, 0.0),
    ("cosh", 800.0, math.inf), ("sinh", -800.0, -math.inf), ("atanh", 1.0, math.inf), ("log", 0.0, -math.inf),
])  # fmt: skip
def test_ends(name, x, result):
    with np.errstate(all="ignore"):
        assert LIBRARY[name](x) == result
