"""Two-body motion against classical equations in 80 digits, in units of what rounding of the data would change.

The orbits of a day's flight are those of Carson (table 1 there: a circle and an ellipse about a moon).
"""

from fractions import Fraction
from math import pi, sin

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mp_kepler as oracle
from cover import chosen, some
from each import each
from kepler_draws import draw, excess, fall, on_conic, pace, turned
from polhode.algebra import kepler, orbits
from polhode.flows.drift import kepler_drift
from polhode.kernel import drive, jit, layout as L
from samples import law

EPS = 2.0**-52
ALLOWED = 3.0
"""Errors over the change that relative changes of 2^-52 in the data make, added up. Largest ever seen: 2.2."""

MU, RADIUS = 3200.9998, 1664.029


def by_taylor(mu, r, v, t):
    """The motion by its power series in the time, step by step, in 50 digits."""
    with mp.workdps(60):
        mu, r, v = mp.mpf(mu), oracle.vector(r), oracle.vector(v)
        steps, order = 16, 40
        h = mp.mpf(t) / steps
        for _ in range(steps):
            # w = |r|^-3 by the recurrence of a power, s = r . r.
            x, s, w = [r, v], [oracle.dot(r, r)], [oracle.dot(r, r) ** mp.mpf("-1.5")]
            for n in range(order):
                pull = [sum(x[k][c] * w[n - k] for k in range(n + 1)) for c in range(3)]
                x.append([-mu * f / ((n + 1) * (n + 2)) for f in pull])
                s.append(sum(oracle.dot(x[k], x[n + 1 - k]) for k in range(n + 2)))
                w.append(
                    sum((-1.5 * j - (n + 1 - j)) * s[j] * w[n + 1 - j] for j in range(1, n + 2)) / ((n + 1) * s[0])
                )
            r = [mp.fsum(x[n][c] * h**n for n in range(order)) for c in range(3)]
            v = [mp.fsum(n * x[n][c] * h ** (n - 1) for n in range(1, order)) for c in range(3)]
        return r, v


@each("speed", some([0.0, 0.7, 1.0, 2**0.5, 1.7], 2))
def test_the_oracle_itself(speed):
    """Also for a fall, a circle and a parabola, the last as near as a rounded square root of 2 comes."""
    r, v = (1.0, 0.0, 0.0), (0.1 if speed else -0.3, 0.0, speed)
    t = 1.5 if speed else 0.7
    x, y = oracle.propagate(1.0, r, v, t)
    a, b = by_taylor(1.0, r, v, t)
    assert oracle.size(oracle.combine(1, x, -1, a)) < 1e-25 and oracle.size(oracle.combine(1, y, -1, b)) < 1e-25


def test_the_oracle_on_an_exact_parabola():
    r, v = (2.0, 0.0, 0.0), (-0.6, 0.8, 0.0)
    a, b = by_taylor(1.0, r, v, 2.5)
    x, y = oracle.propagate(1.0, r, v, 2.5)
    assert oracle.size(oracle.combine(1, x, -1, a)) < 1e-25 and oracle.size(oracle.combine(1, y, -1, b)) < 1e-25


def test_conics_of_every_kind_for_any_time():
    rng = np.random.default_rng(1)
    worst = [excess(*draw(rng)) for _ in range(30)]
    assert max(worst) < ALLOWED and np.median(worst) < 0.3


def test_falls_towards_the_centre():
    rng = np.random.default_rng(2)
    worst = [excess(*fall(rng)) for _ in range(20)]
    assert max(worst) < ALLOWED and np.median(worst) < 0.4


def test_fast_points_aimed_almost_at_the_centre():
    """Far away still: a relative error of the angular momentum of 1e-9 must not turn the velocity."""
    rng = np.random.default_rng(8)
    for number, lean in enumerate((1e-9, 4e-8, 1e-6, 1e-4)):
        for part in ((0.3, 0.9), (0.5, 1.5))[number % 2]:
            r, v = turned(rng, np.array([1.0, 0.0, 0.0]), 1.4e4 * np.array([-1.0, lean, 0.0]))
            assert excess(1.0, r, v, part / 1.4e4) < ALLOWED


@pytest.mark.full
def test_many_conics_and_falls():
    rng = np.random.default_rng(3)
    assert max(excess(*draw(rng)) for _ in range(10_000)) < ALLOWED
    assert max(excess(*fall(rng)) for _ in range(10_000)) < ALLOWED


@settings(law, max_examples=25)
@given(st.floats(-1.0, 1.0), st.floats(-16.0, 2.0), st.floats(-3.14, 3.14), st.floats(-12.0, 4.0), st.booleans())
def test_extremes_searched(side, closeness, anomaly, length, backwards):
    """e = 1 -+ 10^closeness, the anomaly as far as the conic reaches."""
    e = max(1.0 + np.sign(side) * 10.0**closeness, 0.0)
    reach = np.arccos(-1 / e) / pi if e >= 1 else 1.0
    r, v = on_conic(e, 0.999 * reach * anomaly, 1.0)
    t = pace(1.0, r, v) * 10.0**length * (-1 if backwards else 1)
    assert excess(1.0, r, v, t) < ALLOWED


# Carson's orbits.


@each(("speed", "period"), [(1.386955, 7538.38576696), (1.550663, 11606.11006131), (1.55066285801155, 11606.10474767)])
def test_a_day_of_flight(speed, period):
    r, v = (0.0, RADIUS, 0.0), (speed, 0.0, 0.0)
    assert float(orbits.period(r, v, MU)) == pytest.approx(period, abs=1e-8)
    x, y = orbits.propagate(r, v, 86400.0, MU)
    exact = oracle.propagate(MU, r, v, 86400.0)
    assert oracle.size(oracle.combine(1, oracle.vector(x), -1, exact[0])) < 2e-12  # km
    assert oracle.size(oracle.combine(1, oracle.vector(y), -1, exact[1])) < 2e-15  # km/s
    energy = orbits.specific_energy(r, v, MU)
    assert abs(orbits.specific_energy(x, y, MU) - energy) < 1e-15 * abs(energy)
    assert orbits.specific_energy(r, v, MU) == pytest.approx(-0.96182215336 if speed < 1.5 else -0.721366, abs=1e-6)


def test_ten_thousand_periods_lose_no_phase():
    """The error of the data's own orbit is that of one revolution, however many there are."""
    r, v = (1.0, 0.0, 0.0), (0.0, 1.2, 0.1)
    for t in (7.0, 7e4, -7e8):
        x, _ = orbits.propagate(r, v, t, 1.0)
        exact, _ = oracle.propagate(1.0, r, v, t)
        assert oracle.size(oracle.combine(1, oracle.vector(x), -1, exact)) < 4e-15


# The group.


def conics():
    """States of many shapes, moderate times."""
    rng = np.random.default_rng(4)
    rows = []
    for e in (0.0, 0.1, 0.6, 0.95, 1.0, 1.3, 5.0):
        for _ in range(8):
            r, v = turned(rng, *on_conic(e, rng.uniform(-1.6, 1.6), 1.0))
            rows.append((r, v, rng.uniform(-3.0, 3.0)))
    return [np.array(column) for column in zip(*rows, strict=True)]


def test_two_halves_are_one_and_back_again_is_nothing():
    r, v, t = conics()
    whole = orbits.propagate(r, v, t, 1.0)
    halves = orbits.propagate(*orbits.propagate(r, v, 0.375 * t, 1.0), 0.625 * t, 1.0)
    back = orbits.propagate(*whole, -t, 1.0)
    for a, b in zip((*whole, r, v), (*halves, *back), strict=True):
        assert np.allclose(a, b, rtol=0, atol=4e-14)
    assert not np.allclose(whole[0], r, rtol=0, atol=1e-3)


def test_backwards_is_the_mirror_image_to_the_last_bit():
    r, v, t = conics()
    a, b = orbits.propagate(r, v, -t, 1.0)
    x, y = orbits.propagate(r, -v, t, 1.0)
    assert (a == x).all() and (b == -y).all()
    a, b = orbits.propagate(r, v, 0.0, 1.0)
    assert (a == r).all() and (b == v).all()


@each("t", [1e-300, 1e-160, 1e-30, 1e-12, 1e-6, 1e-3, 0.3, 1.5, 3.0])
def test_small_steps_lose_nothing(t):
    """On the unit circle the increments themselves are seen."""
    x, y = orbits.propagate((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), t, 1.0)
    assert x[1] == pytest.approx(sin(t), rel=4e-16) and y[0] == pytest.approx(-sin(t), rel=4e-16)


def test_units_do_not_matter():
    r, v, t = conics()
    a, b = orbits.propagate(r, v, t, 1.0)
    for k, j in ((100, 50), (-100, -200), (7, 40)):
        long, slow = 2.0**k, 2.0**j
        x, y = orbits.propagate(long * r, long / slow * v, slow * t, long * (long / slow) * (long / slow))
        assert (x == long * a).all() and (y == long / slow * b).all()


# Round-off in long runs.


def drift(i, h, p):
    """The flow with its centre bound."""
    return kepler_drift(i, h, MU, p)


class Points:
    """Points on ellipses, and steps of them in the compiled loop."""

    def __init__(self, e, mass=1.0, count=16):
        rng = np.random.default_rng(5)
        q = RADIUS
        self.period = 2 * pi * np.sqrt((q / (1 - e)) ** 3 / MU)
        self.mass = mass
        self.y = np.zeros((count, 13))
        for row in self.y:
            r, v = turned(rng, *on_conic(e, rng.uniform(-pi, pi), MU, q))
            row[:3], row[3:6] = r, mass * v

    def step(self, n, fraction):
        """Take n steps of this fraction of the period; the statuses."""
        count = len(self.y)
        bodies = np.tile([self.mass, 1.0, 1.0, 1.0, 1.0 / self.mass, 1.0, 1.0, 1.0], (count, 1))
        status, iterations = np.zeros(count, np.int64), np.zeros(count, np.int64)
        h = np.full(count, fraction * self.period)
        drive.sweep_of(drift)(n, h, self.y, bodies, np.zeros(L.STEP_INFO), status, iterations)
        return status

    def invariants(self):
        """Energy and angular momentum per mass, in longer numbers where there are any."""
        y = self.y.astype(np.longdouble)
        r, v = y[:, :3], y[:, 3:6] / np.longdouble(self.mass)
        energy = 0.5 * (v * v).sum(axis=1) - np.longdouble(MU) / np.sqrt((r * r).sum(axis=1))
        return energy, np.sqrt((np.cross(r, v) ** 2).sum(axis=1))


@pytest.mark.skipif(jit.disabled(), reason="millions of steps need the compiler")
@each(
    ("e", "fraction", "mass"),
    chosen(
        [(0.0, 0.313, 1.0), (0.25, 0.05, 1.0), (0.25, 0.313, 0.3), (0.7, 0.05, 1.7), (0.9, 0.2, 1.0)],
        [(0.0, 0.313, 1.0), (0.25, 0.313, 0.3)],
    ),
)
def test_roundoff_of_invariants_is_a_random_walk(e, fraction, mass):
    """Without twice the digits in the coefficients most of these rows grow in proportion to the steps: to 1e-11."""
    points = Points(e, mass)
    begun = points.invariants()
    sizes = []
    for n in (1000, 99_000):
        assert not points.step(n, fraction).any()
        sizes.append(
            [float(np.sqrt(np.mean((a / b - 1) ** 2))) for a, b in zip(points.invariants(), begun, strict=True)]
        )
    for early, late in zip(*sizes, strict=True):
        assert late < 3.0 * 100**0.5 * early and late < 3e-13


def test_one_step_keeps_energy_and_momentum():
    for e in (0.0, 0.1, 0.3):
        for fraction in (1e-3, 0.05, 0.4, 0.77, 12.3, 1e4):
            points = Points(e)
            begun = points.invariants()
            assert not points.step(1, fraction).any()
            for a, b in zip(points.invariants(), begun, strict=True):
                assert abs(a / b - 1).max() < 1.5e-15


@each(("e", "most"), [(0.0, 1.0), (0.01, 1.0), (0.3, 1.8), (0.6, 1.9), (0.9, 2.0), (0.999, 2.1)])
def test_few_evaluations_find_the_anomaly(monkeypatch, e, most):
    """On the average over a turn; of short steps one each."""
    calls = []
    for name, shares in (("universal", 1), ("brief", 2)):
        function = getattr(kepler, name)
        counted = getattr(function, "py_func", function)
        monkeypatch.setattr(
            kepler, name, lambda *x, counted=counted, shares=shares: calls.append(1 / shares) or counted(*x)
        )
    r, v = (tuple(map(float, x)) for x in on_conic(e, 1.0, 1.0))
    period = 2.0 * pi / (1.0 - e) ** 1.5
    for k in range(100):
        assert kepler.kepler_motion(1.0, 1.0, r, v, period * (0.05 + 0.009 * k))[0] == L.OK
    assert sum(calls) <= 100 * most
    calls.clear()
    for k in range(1, 101):
        kepler.kepler_motion(1.0, 1.0, r, v, 3e-3 * k)
    assert sum(calls) == 100


# Statuses, and the arithmetic below.


@each("e", [0.0, 0.02, 0.5, 0.99, 0.9999, 0.999999])
def test_the_anomaly_does_not_depend_on_the_guess(e):
    """From either apsis and from between them; on a circle all derivatives of the time but the first vanish."""
    for start in (0.0, 2.5, 3.14159):
        r0, eta, zeta = 1.0 - e * np.cos(start), e * np.sin(start), e * np.cos(start)
        for s in (1e-3, 0.4, 2.0 * pi - start, pi - start + 1e-6, 3.0):
            with mp.workdps(40):
                t = float(mp.mpf(r0) * s + mp.mpf(eta) * (1 - mp.cos(s)) + mp.mpf(zeta) * (s - mp.sin(s)))
            r = r0 + eta * sin(s) + zeta * (1.0 - np.cos(s))
            for off in (-0.999, 30.0, *(sign * 10.0**-k for k in np.arange(0.5, 9.0, 0.25) for sign in (-1, 0, 1))):
                G1, G2 = kepler.anomaly(1.0, r0, eta, zeta, t, s * (1.0 + off))
                found = s + np.arctan2(G1 * np.cos(s) - (1.0 - G2) * sin(s), (1.0 - G2) * np.cos(s) + G1 * sin(s))
                assert abs(found - s) < 2.0 * EPS * (s + t / r), (start, s, off)


def test_statuses():
    motion = kepler.kepler_motion
    zero, one = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    assert motion(1.0, 1.0, zero, one, 1.0) == (L.NOT_FINITE, zero, one)
    assert motion(1.0, 1.0, (np.inf, 0.0, 0.0), one, 1.0)[0] == L.NOT_FINITE
    assert motion(1.0, 1.0, one, zero, np.nan)[0] == L.NOT_FINITE
    assert motion(1.0, 1.0, one, (0.0, 1.0, 0.0), 1e17)[0] == L.NOT_CONVERGED
    # A straight fall from 3/2 with the speed of escape, 1, reaches the centre at the time 1.
    fallen = motion(0.75, 1.0, (1.5, 0.0, 0.0), (-1.0, 0.0, 0.0), 1.0)
    assert fallen == (L.NOT_FINITE, (1.5, 0.0, 0.0), (-1.0, 0.0, 0.0))
    status, r, v = motion(0.75, 1.0, (1.5, 0.0, 0.0), (-1.0, 0.0, 0.0), 2.0)
    assert status == L.OK and r == pytest.approx((1.5, 0.0, 0.0)) and v == pytest.approx((1.0, 0.0, 0.0))


def test_the_flow_of_a_body():
    points = Points(0.3, mass=2.5, count=3)
    y = points.y.copy()
    assert (points.step(1, 0.2) == L.OK).all()
    r, v = orbits.propagate(y[:, :3], y[:, 3:6] / 2.5, 0.2 * points.period, MU)
    assert np.allclose(points.y[:, :3], r, rtol=1e-14) and np.allclose(points.y[:, 3:6], 2.5 * v, rtol=1e-14)
    assert (points.y[:, 6:] == y[:, 6:]).all()
    points.y[1, :3] = 0.0
    assert list(points.step(1, 0.2)) == [L.OK, L.NOT_FINITE, L.OK] and not points.y[1, :3].any()


def test_a_pinned_body_stays():
    class Bare:
        y = np.arange(13.0)
        bodies = np.zeros(8)

    assert kepler_drift(0, 1.0, MU, Bare) == L.OK and (Bare.y == np.arange(13.0)).all()


def products(a, out):
    """two_product and two_sum, row by row."""
    for i in range(out.shape[0]):
        out[i, 0], out[i, 1] = kepler.two_product(a[i, 0], a[i, 1])
        out[i, 2], out[i, 3] = kepler.two_sum(a[i, 0], a[i, 1])


def test_twice_the_digits_is_exact_when_compiled():
    rng = np.random.default_rng(6)
    a = rng.normal(size=(500, 2)) * 10.0 ** rng.integers(-20, 20, size=(500, 2))
    out = np.empty((500, 4))
    jit.compile_kernel(products, "void(f8[:, ::1], f8[:, ::1])")(a, out)
    for (x, y), (p, dp, s, ds) in zip(a, out, strict=True):
        assert Fraction(p) + Fraction(dp) == Fraction(x) * Fraction(y)
        assert Fraction(s) + Fraction(ds) == Fraction(x) + Fraction(y)


def test_roots_and_their_inverses_have_twice_the_digits():
    rng = np.random.default_rng(7)
    for x in 10.0 ** rng.uniform(-20, 20, size=50):
        s, ds, w, dw = kepler.two_root(x, 1e-17 * x)
        with mp.workdps(50):
            root = mp.sqrt(mp.mpf(x) + mp.mpf(1e-17 * x))
            assert abs((mp.mpf(s) + ds) / root - 1) < 1e-30 and abs((mp.mpf(w) + dw) * root - 1) < 1e-30


@each("b", [1.0, -1.0])
def test_universal_functions_on_both_sides_of_their_switch(b):
    for s in (1e-9, 0.3, 1.0, 10**0.5 * (1 - 1e-12), 10**0.5 * (1 + 1e-12), 4.6, *([] if b > 0 else [30.0, 300.0])):
        with mp.workdps(50):
            x = mp.mpf(s)
            f, g = (mp.sin(x), mp.cos(x)) if b > 0 else (mp.sinh(x), mp.cosh(x))
            known = (f, b * (1 - g), b * (x - f))
            for got, value in zip(kepler.universal(b, s), known, strict=True):
                assert abs(got - value) < 2.5 * EPS * (abs(value) + abs(x) * (1 if b > 0 else abs(value)))
            if s < 3:
                assert all(
                    abs(got / value - 1) < 2.5 * EPS for got, value in zip(kepler.universal(b, s), known, strict=True)
                )
