"""The exact free rotation: its oracle, its accuracy over stress draws, and what must hold for every body and time."""

import time
from fractions import Fraction
from math import inf, nan, sqrt

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, strategies as st

import free_body_draws as draws
import gyrostat
import mp_free_body as oracle
from cover import chosen, some
from each import each
from free_body_draws import differences, turned
from polhode.algebra import rotation
from polhode.flows import free_rotation
from polhode.kernel import drive, layout as L
from samples import attitudes, law, vectors

EPS = 2.0**-52
SEPARATRIX = (0.5, 0.75, 1.5)
"""Moments whose separatrix holds floats exactly: |m1| = |m3|."""

moments = st.tuples(*[st.floats(0.05, 2.0)] * 3)
angles = st.floats(-3.0, 3.0, allow_subnormal=False)
momenta = vectors.filter(lambda m: np.abs(m).max() > 1e-3)


def time_of(angle, I, m):
    """The time of a turn by this angle at the initial rate."""
    return angle / np.linalg.norm(np.asarray(m) / I)


def angle_between(a, b):
    """Angle between two attitudes."""
    return float(rotation.angle_between(a, b))


def by_series(I, m, t):
    """Momentum and attitude by power series in steps of less than half a radian: of a gyrostat without rotors."""
    pieces = int(2 * abs(t) * np.linalg.norm(m) / min(I)) + 1
    return gyrostat.motion(m, (1, 0, 0, 0), (0, 0, 0), I, float(t), pieces=pieces)


# ------------------------------------------------------------------ the oracle
def test_oracle_agrees_with_power_series():
    """Two formulations that share no formula, to 35 digits; all orders of axes, both families of orbits."""
    random = np.random.default_rng(1)
    circled = set()
    with mp.workdps(60):
        for _ in range(16):
            I, m = random.uniform(0.2, 1.5, 3), random.normal(size=3)
            t = random.choice([-1.0, 1.0]) * 10.0 ** random.uniform(-3, 0.3)
            circled.add((tuple(np.argsort(I)), sum(m * m / I) * np.sort(I)[1] > m @ m))
            exact, series = oracle.closed_form(I, m, t), by_series(I, m, t)
            assert max(abs(x - y) for x, y in zip(exact[0], series[0], strict=True)) < 1e-35
            assert min(max(abs(x - s * y) for x, y in zip(exact[1], series[1], strict=True)) for s in (1, -1)) < 1e-35
    assert len(circled) > 8


def test_oracle_does_not_depend_on_its_digits():
    for number in range(0, 300, 53):
        _, _, I, m, h = draws.draw(number)
        assert max(differences(oracle.closed_form(I, m, h, 110), *oracle.closed_form(I, m, h, draws.DIGITS))) < 1e-22


# ------------------------------------------------------------------ accuracy
def judged(numbers):
    """Rows of the judge, and the claims every set of draws must meet."""
    results = [draws.judge(number) for number in numbers]
    ratios, kept = np.array([row[2:4] for row in results]), max(row[6] for row in results)
    assert ratios.max() <= 10.0 and np.quantile(ratios, 0.99, axis=0).max() <= 3.0
    assert kept <= 2e-15
    return results


def test_errors_are_those_of_the_data():
    judged([n for n in range(30) if (n % 6 + n // 6) % 2])  # each kind of body with kinds of momenta in turn


@pytest.mark.full
def test_errors_are_those_of_the_data_in_10000_draws(capsys):
    results = judged(range(10_000))
    with capsys.disabled():
        print("\n" + "\n".join(draws.table(results)))


@each("number", some([1064, 2747, 3647, 5087], 2))
def test_rods_that_wind_thousands_of_times_while_they_turn_little(number):
    """Near the middle axis, with psi some 100 times the turn; a sum over the windings was wrong by 17 to 70 times."""
    row = draws.judge(number)
    assert max(row[2:4]) < 3.0


def test_the_judge_notices_small_errors():
    """The judge judged: an error of 1e-13 in one component is many times what ordinary data allow."""

    def spoiled(I, m, h):
        m1, q = turned(I, m, h)
        return m1 * (1 + 1e-13), q + np.array([0, 0, 1e-13, 0])

    number = next(n for n in range(0, 600, 6) if abs(draws.draw(n)[4]) < 1 and draws.draw(n)[1] == "random")
    row = draws.judge(number, spoiled)
    assert min(row[2:4]) > 20.0 and row[6] > 2e-14


ULP = 1.0 + EPS
DEGENERATE = [
    (1.0, 1.0, 1.0), (1.0, 1.0, ULP), (1.0, ULP, ULP), (2.0, 2.0, 1.3), (1.3, 2.0, 2.0), (2.0, 1.3, 2.0),
    (2.0 * ULP, 1.3, 2.0), (1.3, 2.0 * ULP, 2.0), (1e-8, 1.0, 1.0), (1.0, 1e-8, 1.0 + 1e-8), (1.0, 1.5, 2.5),
    SEPARATRIX,
]  # fmt: skip
AXES = [s * v for v in np.eye(3) for s in (1.0, -1.0)]
PLANES = [np.array(v) for v in ((0.6, 0.8, 0.0), (0.0, -0.6, 0.8), (0.8, 0.0, -0.6), (0.5, -0.7, 0.4))]


def exact_motion(I, m, h):
    """The oracle, where it applies: one axis is a uniform rotation, and the separatrix is left to the power series."""
    if np.count_nonzero(m) == 1:
        angle = mp.mpf(h) * mp.fsum(mp.mpf(x) / mp.mpf(i) for x, i in zip(m, I, strict=True))
        return list(m), [mp.cos(angle / 2), *(mp.sin(angle / 2) * abs(int(x)) for x in m)]
    if tuple(I) == SEPARATRIX and abs(m[0]) == abs(m[2]):
        return by_series(I, m, h)
    return oracle.closed_form(I, m, h)


@each("I", DEGENERATE)
def test_degenerate_bodies_and_momenta(I):
    """Spheres, symmetric bodies, one-ulp differences, rods; axes and planes. No formula has an exception for them."""
    for k, m in enumerate(AXES + PLANES[DEGENERATE.index(I) % 2 :: 2]):
        h = time_of((0.01, -0.7, 2.5)[k % 3], I, m)
        m1, q = turned(I, m, h)
        assert max(differences(exact_motion(I, m, h), m1, q)) < 3e-15
        assert draws.change_of_spatial(m, m1, q) < 1e-15


@each(("a", "b"), [(1, 3), (5, 2), (7, 1)])
def test_coefficients_of_the_series_are_those_of_its_equation(a, b):
    """sigma'' = 2 a b sigma^3 - (a + b) sigma; the last ones are below round-off where they are used."""
    s = [Fraction(0), Fraction(1)]
    for n in range(18):
        squares = [sum(s[i] * s[k - i] for i in range(k + 1)) for k in range(n + 1)]
        cube = sum(squares[k] * s[n - k] for k in range(n + 1))
        s.append((2 * a * b * cube - (a + b) * s[n]) / ((n + 1) * (n + 2)))
    found = free_rotation.series(float(a), float(b))
    assert found == pytest.approx([float(x) for x in s[3::2]], rel=1e-14)


@each("longest", [free_rotation.SHORTEST, free_rotation.SHORT, free_rotation.PANEL])
def test_rules_and_series_are_exact_as_far_as_they_are_used(longest):
    """Just below |lambda t| of each, where its truncation is largest."""
    for number in (*range(24, 600, 60), 42, 186, 312, 390):  # most of them near the separatrix, where it is largest
        _, _, I, m, _ = draws.draw(number)
        j = 1.0 / np.sort(I)
        a, b, c = (m / np.linalg.norm(m))[np.argsort(I)] ** 2
        low, high, all_of = j[0] - j[1], j[1] - j[2], j[0] - j[2]
        x, r, w = (a, low, high) if low * a > high * c else (c, high, low)
        rate = sqrt(max(r * (all_of * x + w * b), 0.0)) * np.linalg.norm(m)
        omega = np.linalg.norm(m / I)
        if rate < 0.05 * omega:
            continue
        h = 0.999 * longest / rate
        m1, q = turned(I, m, h)
        assert max(differences(oracle.closed_form(I, m, h), m1, q)) < 3 * EPS * (1.0 + omega * h)


@each("angle", chosen([1e-12, 0.5, -2.0, 6.0], [1e-12, -2.0]))
def test_the_exact_separatrix(angle):
    for m in ((1.0, 1.0, 1.0), (-0.5, 1.0, 0.5), (0.1, -1.0, -0.1)):
        h = time_of(angle, SEPARATRIX, m)
        assert max(differences(exact_motion(SEPARATRIX, m, h), *turned(SEPARATRIX, m, h))) < 2e-14


def test_the_separatrix_ends_at_the_middle_axis_however_long_it_takes():
    begun = time.perf_counter()
    for h in (60.0, -1e3, 1e6, 1e15, -1e100):
        m, q = turned(SEPARATRIX, (0.25, 1.0, 0.25), h)
        assert np.allclose(np.abs(m), [0, sqrt(1.125), 0], rtol=0, atol=1e-15)
        assert abs(q @ q - 1.0) < 1e-15
    assert time.perf_counter() - begun < 5.0  # it is microseconds; without a bound 1e15 never returns


# ------------------------------------------------------------------ laws
def stretch(I, m, h):
    """A bound of how much nearby motions separate."""
    return 1.0 + np.exp(abs(h) * np.linalg.norm(m) * (1.0 / min(I) - 1.0 / max(I)))


@law
@given(moments, momenta, attitudes, angles)
def test_there_and_back(I, m, q, angle):
    h = time_of(angle, I, m)
    m1, q1 = turned(I, m, h, attitude=q)
    m2, q2 = turned(I, m1, -h, attitude=q1)
    assert np.linalg.norm(m2 - m) <= 4 * EPS * np.linalg.norm(m) * stretch(I, m, h)
    assert angle_between(q, q2) <= 8 * EPS * stretch(I, m, h)


@law
@given(moments, momenta, angles, angles)
def test_two_times_in_a_row_are_their_sum(I, m, one, two):
    h, g = time_of(one, I, m), time_of(two, I, m)
    m1, q1 = turned(I, m, h)
    m1, q1 = turned(I, m1, g, attitude=q1)
    m2, q2 = turned(I, m, h + g)
    assert np.linalg.norm(m1 - m2) <= 4 * EPS * np.linalg.norm(m) * stretch(I, m, abs(h) + abs(g))
    assert angle_between(q1, q2) <= 8 * EPS * stretch(I, m, abs(h) + abs(g))


@law
@given(moments, momenta, attitudes, st.floats(-6.0, 12.0), st.sampled_from([-1.0, 1.0]))
def test_energy_spatial_momentum_and_unit_length_are_kept(I, m, q, size, sign):
    """For any time: they do not depend on where on its orbit the body is."""
    m1, q1 = turned(I, m, time_of(sign * 10.0**size, I, m), attitude=q)
    assert abs(sum(m1 * m1 / I) / sum(m * m / I) - 1.0) < 8 * EPS
    assert draws.change_of_spatial(rotation.rotate(q, m), m1, q1) < 2e-15
    assert abs(np.linalg.norm(q1) - 1.0) < 3 * EPS


@law
@given(moments, momenta, angles, st.sampled_from([2.0**200, 2.0**-200, 2.0**-500]), st.sampled_from([2.0**220, 1.0]))
def test_units_do_not_matter(I, m, angle, force, inertia):
    """Powers of two change no digit, out to where squares of the numbers themselves would overflow."""
    m = np.round(m, 9)  # nothing so small that it underflows
    h = time_of(round(angle, 9), I, m)
    m1, q1 = turned(I, m, h)
    m2, q2 = turned(np.array(I) * inertia, m * force, h * (inertia / force))
    assert np.array_equal(m1 * force, m2) and np.array_equal(q1, q2)


@each("factor", [1e60, 1e-60, 1e75, 1e-75])
def test_powers_of_ten_do_not_matter_either(factor):
    I, m = np.array([0.7, 1.1, 1.5]), np.array([0.4, -0.3, 0.8])
    for h in (0.02, 3.0):
        m1, q1 = turned(I, m, h)
        for scaled in ((I, m * factor, h / factor), (I * factor, m, h * factor), (I * factor, m * factor, h)):
            m2, q2 = turned(*scaled)
            assert np.allclose(m2 / np.linalg.norm(m2), m1 / np.linalg.norm(m1), rtol=0, atol=2e-15)
            assert angle_between(q1, q2) < 2e-15


# ------------------------------------------------------------------ short and long times
@law
@given(moments, momenta, st.sampled_from([1e-12, -1e-9, 1e-5]))
def test_increments_have_small_relative_errors(I, m, angle):
    """Of momentum and of the vector part of the turn, against two terms of their series where these are enough."""
    I, h = np.array(I), time_of(angle, I, m)
    dm, e = (np.array(a) for a in free_rotation.increment(tuple(1.0 / I), tuple(I), tuple(m), h))
    torque = np.cross(m, m / I)
    thin = max(I) / min(I) * abs(angle)
    rounding = 4 * EPS * abs(h) * np.linalg.norm(m) * np.linalg.norm(m / I)  # of the difference that a cross product is
    assert np.linalg.norm(dm - h * torque) <= 4 * thin * np.linalg.norm(h * torque) + rounding
    middle = 0.5 * h * (m / I + 0.5 * h * torque / I)
    assert np.linalg.norm(e[1:] - middle) <= (8 * EPS + thin**2) * np.linalg.norm(middle)


def test_no_time_nothing_happens():
    m, q = np.array([0.4, -0.3, 0.8]), np.array([0.5, -0.5, 0.5, 0.5])
    for I in DEGENERATE:
        m1, q1 = turned(I, m, 0.0, attitude=q)
        assert np.array_equal(m, m1) and np.array_equal(q, q1)
    m1, q1 = turned((1.0, 2.0, 3.0), np.zeros(3), 5.0, attitude=q)
    assert np.array_equal(m1, np.zeros(3)) and np.array_equal(q, q1)


def test_short_and_long_times_meet():
    """Where one branch takes over from the other both are exact, for every modulus: there the series is longest."""
    random = np.random.default_rng(5)
    for number in range(10):
        I, m = np.sort(random.uniform(0.3, 1.0, 3)), random.normal(size=3)
        low, high, p = 1 / I[0] - 1 / I[1], 1 / I[1] - 1 / I[2], 1 / I[0] - 1 / I[2]
        if number % 2:
            m[0] = m[2] * sqrt(high / low) * (1.0 + 0.1 * random.normal())  # nearer the separatrix
        first = low * m[0] ** 2 > high * m[2] ** 2
        M = p * m[0] ** 2 + high * m[1] ** 2 if first else p * m[2] ** 2 + low * m[1] ** 2
        h = free_rotation.PANEL / sqrt(M * (low if first else high))
        for side in (1 - 1e-14, 1 + 1e-14):
            allowed = (3.0 + h * np.linalg.norm(m) / I[0]) * EPS
            assert max(differences(oracle.closed_form(I, m, h * side), *turned(I, m, h * side))) < 4 * allowed


@each("side", [1 - 1e-13, 1 + 1e-13])
def test_both_kinds_of_theta_functions_where_they_meet(side):
    I, y = np.array([0.5, 0.75, 1.5]), 0.4
    for x in (0.6, -0.8):  # k'^2 = p L/(M r) with r = w, p = 2 r: of z^2 = (1 - k'^2 (...)) x^2
        k = free_rotation.HYPERBOLIC * side
        z = sqrt(x * x - 0.5 * k * (2 * x * x + y * y))
        for h in (3.0, -50.0):
            exact = oracle.closed_form(I, (x, y, z), h)
            assert max(differences(exact, *turned(I, (x, y, z), h))) < 1e-13


# ------------------------------------------------------------------ many steps
@each("steps, allowed", [(10_000, 5e-13), (1_000_000, 1e-11)])
def test_errors_of_many_small_steps_add_up_at_random(steps, allowed):
    """Unit length in the last digit; attitudes and momenta as after a random walk of rounding errors."""
    for I, m in (((0.6, 0.8, 1.0), (0.3, 0.6, -0.8)), ((0.9144, 1.098, 1.66), (0.4165, 0.9072, 0.0577))):
        h = 41.0 / steps
        with mp.workdps(40):
            exact = oracle.closed_form(I, m, mp.mpf(h) * steps)
        m1, q = turned(I, m, h, n=steps)
        assert max(differences(exact, m1, q)) < allowed
        assert abs(q @ q - 1.0) < 2 * EPS


# ------------------------------------------------------------------ what is refused
@each("bad", [nan, inf, -inf, 1e308])
def test_what_is_not_finite_is_refused(bad):
    good = np.array([1.0, 0.5, -0.5, 0.5, 0.3, 0.2, 0.1, 0.4])  # time, attitude, momentum
    for k in range(8):
        values = good.copy()
        values[k] = bad
        y = np.array([[0.0] * 6 + list(values[1:])])
        before = y.copy()
        I = np.array([1.0, 1e-3, 2.0])
        status, none = np.zeros(1, np.int64), np.zeros(1, np.int64)
        sweep = drive.sweep_of(free_rotation.rotate_free)
        with np.errstate(over="ignore", invalid="ignore"):
            sweep(3, values[:1], y, np.array([[1.0, *I, 1.0, *(1 / I)]]), np.zeros(L.STEP_INFO), status, none)
        assert status[0] == L.NOT_FINITE and np.array_equal(y, before, equal_nan=True)
