"""The small-angle series against 60 digits, in ulps, on both sides of every switch."""

from functools import partial
from math import pi

import mpmath as mp
import numpy as np

from altered import altered
from each import each
from mp_rotations import EPS, precise
from polhode.algebra import series


def root(x):
    return mp.sqrt(mp.mpf(x))


EXACT = {
    "sinc": lambda x: mp.sin(root(x)) / root(x),
    "half_sinc": lambda x: mp.sin(root(x) / 2) / root(x),
    "half_cosine": lambda x: mp.cos(root(x) / 2),
    "versine": lambda x: (1 - mp.cos(root(x))) / x,
    "cubic": lambda x: (root(x) - mp.sin(root(x))) / root(x) ** 3,
    "inverse_cubic": lambda x: (1 - root(x) / 2 * mp.cot(root(x) / 2)) / x,
}
AT_ZERO = {"sinc": 1.0, "half_sinc": 0.5, "half_cosine": 1.0, "versine": 0.5, "cubic": 1 / 6, "inverse_cubic": 1 / 12}
COMPUTED = {
    "sinc": series.sinc,
    "half_sinc": lambda x: series.half_sinc(x)[0],
    "half_cosine": lambda x: series.half_sinc(x)[1],
    "versine": series.versine,
    "cubic": series.cubic,
    "inverse_cubic": series.inverse_cubic,
}
BOUND = {"sinc": 1.5, "half_sinc": 1.0, "half_cosine": 1.0, "versine": 2.5, "cubic": 1.5, "inverse_cubic": 2.5}
"""Largest error up to theta = pi in units of 2^-52 of the value and of its condition number, where that exceeds 1."""


def around(x):
    """The six floats next to x on both sides, and others further and further away."""
    near = [x]
    for _ in range(6):
        near = [np.nextafter(near[0], 0.0), *near, np.nextafter(near[-1], np.inf)]
    away = np.geomspace(1e-14, 0.1, 40)
    return [*near, *(x * (1 + away)), *(x * (1 - away))]


def squared_angles(largest):
    """Squared angles from 1e-300 up, dense around the switches and near the half turn."""
    rng = np.random.default_rng(7)
    switches = [*around(series.SWITCH), *around(series.SWITCH / 4)]
    ends = [float((pi - d) ** 2) for d in (0.0, 1e-12, 1e-8, 1e-4)]
    xs = [1e-300, 1e-30, 1e-17, *10.0 ** rng.uniform(-16, 0, 80), *rng.uniform(0, largest, 300), *switches, *ends]
    return [float(x) for x in xs if x <= largest]


@precise
def worst_error(function, name, xs):
    """Largest error in units of 2^-52 times the value times its condition number, where that exceeds 1."""
    exact, worst, h = EXACT[name], 0.0, mp.mpf(10) ** -20
    with mp.workdps(90):
        for x in xs:
            if x < 1e-25:  # the limit is nearer than the closed form in 90 digits
                value, unit = mp.mpf(AT_ZERO[name]), EPS * AT_ZERO[name]
            else:
                X = mp.mpf(x)
                value = exact(X)
                condition = abs((exact(X * (1 + h)) - exact(X * (1 - h))) / (2 * h) / value)
                unit = EPS * abs(value) * max(1, condition)
            worst = max(worst, float(abs(mp.mpf(float(function(x))) - value) / unit))
    return worst


@each("name", EXACT)
def test_accurate_to_an_ulp_or_two_up_to_the_half_turn(name):
    assert worst_error(COMPUTED[name], name, squared_angles(pi**2)) <= BOUND[name]


@each("name", EXACT)
def test_accurate_beyond_the_switch(name):
    xs = [x for x in squared_angles((2 * pi - 1e-6) ** 2) if x > 9.0]
    assert worst_error(COMPUTED[name], name, xs) <= 4.0


def test_cubic_stays_accurate_at_any_angle():
    assert worst_error(series.cubic, "cubic", np.geomspace(10, 1e4, 200)) <= 2.0


def test_inverse_cubic_close_to_its_pole():
    xs = [float((2 * pi - d) ** 2) for d in (1e-2, 1e-5, 1e-8, 1e-11)]
    assert worst_error(series.inverse_cubic, "inverse_cubic", xs) <= 4.0


@each("name", EXACT)
def test_value_at_zero_is_exact(name):
    assert COMPUTED[name](0.0) == AT_ZERO[name]


@precise
def test_angle_ratio():
    for theta in (1e-12, 1e-3, 0.7, 2.0, 3.1, pi):
        n, w = float(mp.sin(theta / 2)), float(mp.cos(theta / 2))
        exact = 2 * mp.atan2(mp.mpf(n), mp.mpf(w)) / n
        assert abs(series.angle_ratio(n, w) - exact) <= 2 * EPS * exact
    assert series.angle_ratio(0.0, 1.0) == 2.0
    assert series.angle_ratio(0.0, 0.5) == 4.0


@each(
    ("name", "table", "k", "change"),
    [("cubic", "CUBIC", k, 1e-10) for k in (1, 3, 5)]
    + [("inverse_cubic", "INVERSE", 2, 1e-10), ("half_sinc", "SINE", 4, 1e-10), ("half_sinc", "COSINE", 2, 1e-10)],
)
def test_the_check_notices_a_spoiled_coefficient(name, table, k, change):
    good = getattr(series, table)
    spoiled = tuple(c * (1 + change) if j == k else c for j, c in enumerate(good))
    function = altered(getattr(series, name), **{table: spoiled})
    pick = {"SINE": 0, "COSINE": 1}.get(table)
    shown = "half_cosine" if table == "COSINE" else name
    call = function if pick is None else partial(lambda x, part: function(x)[part], part=pick)
    assert worst_error(call, shown, squared_angles(pi**2)) > 2 * BOUND[shown]


def test_the_check_notices_a_switch_too_early():
    early = altered(series.cubic, SWITCH=1e-2)
    assert worst_error(early, "cubic", squared_angles(pi**2)) > 2 * BOUND["cubic"]
