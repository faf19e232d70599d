"""Elliptic functions and integrals against mpmath, in ulps of their own sensitivity, down to mc = 1e-100."""

from functools import partial

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from altered import altered
from cover import some
from each import each
from polhode.algebra import elliptic
from polhode.errors import InvalidInput

EPS = 2.0**-52
MCS = (1e-100, 1e-30, 1e-14, 1e-6, 1e-3, 0.04, 0.3, 0.9, 1.0)
BEYOND_ONE = (1.7, 30.0, 1e4)
RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def digits():
    """mpmath works in 40 digits, or more where a test says so."""
    with mp.workdps(40):
        yield


def quiet(error, unit):
    """Error in units, as a float."""
    return float(abs(error) / unit)


def by_phases(u, mc):
    """(sn, cn, dn, am) by the phases of the arithmetic-geometric mean [abramowitz1964, 16.4], in many digits."""
    with mp.workdps(40 + int(-2.2 * mp.log10(mc)) if mc < 1 else 40):
        u, mc = mp.mpf(float(u)), mp.mpf(float(mc))
        a, b, c = [mp.mpf(1)], [mp.sqrt(mc)], [mp.sqrt(1 - mc)]
        while abs(c[-1]) > a[-1] * mp.eps:
            a.append((a[-1] + b[-1]) / 2)
            c.append((a[-2] - b[-1]) / 2)
            b.append(mp.sqrt(a[-2] * b[-1]))
        phases = [2 ** (len(a) - 1) * a[-1] * u]
        for k in range(len(a) - 1, 0, -1):
            phases.insert(0, (phases[0] + mp.asin(c[k] / a[k] * mp.sin(phases[0]))) / 2)
        s, k = mp.sin(phases[0]), mp.cos(phases[0])
        return [s, k, mp.sqrt(k * k + mc * s * s), phases[0]]


def arguments(mc):
    """Arguments through several periods, others next to the ends and zeros, tiny ones."""
    quarter = float(elliptic.K(mc))
    near = [k * quarter * (1 + d) for k in (1, 2, 3) for d in (-1e-3, 1e-9)]
    return [1e-200, 1e-59, 3e-9, -0.7, *RNG.uniform(-9 * quarter, 9 * quarter, 5), *RNG.uniform(0, quarter, 3), *near]


@each("mc", MCS + BEYOND_ONE)
def test_jacobi_keeps_the_relative_accuracy_its_argument_allows(mc):
    m = 1 - mp.mpf(mc)
    for u in arguments(mc):
        s, c, d, phi = by_phases(u, mc)
        slopes = [c * d, -s * d, -m * s * c, d]
        for got, value, slope in zip(elliptic.jacobi(u, mc), (s, c, d, phi), slopes, strict=True):
            unit = EPS * (abs(value) + abs(u * slope))
            assert quiet(mp.mpf(float(got)) - value, unit) < 3.0, (u, mc)


def test_the_oracle_itself():
    for u, mc in ((0.8, 0.3), (-7.0, 0.04), (30.0, 1e-6), (2.0, 1.7)):
        with mp.workdps(50):
            m = 1 - mp.mpf(mc)
            known = [mp.ellipfun(k, mp.mpf(u), m=m) for k in ("sn", "cn", "dn")]
            assert all(abs(a - b) < 1e-30 for a, b in zip(by_phases(u, mc)[:3], known, strict=True))


def test_scipy_fails_silently_where_mc_is_tiny():
    """1 - mc is 1 to double precision: SciPy then has no period at all, and says nothing."""
    for mc in (1e-17, 1e-30, 1e-100):
        u = 3.0 * float(elliptic.K(mc))
        assert special.ellipj(u, 1.0 - mc)[0] == 1.0
        assert abs(elliptic.sn(u, mc) + 1.0) < 1e-15
        assert elliptic.am(u, mc) == pytest.approx(1.5 * np.pi, rel=1e-15)
    u, mc = 1.5 * float(elliptic.K(1e-12)), 1e-12
    value = by_phases(u, mc)[1]
    assert abs(special.ellipj(u, 1.0 - mc)[1] / value - 1) > 1e-7
    assert abs(elliptic.cn(u, mc) / value - 1) < 2e-14


def test_circle_and_separatrix():
    u = np.array([-30.0, -2.0, 0.0, 1e-3, 0.5, 700.0, 1e5])
    sn, cn, dn, am = elliptic.jacobi(u, 1.0)
    assert np.allclose([sn, cn, am], [np.sin(u), np.cos(u), u], rtol=1e-15, atol=3e-16 * abs(u)) and (dn == 1.0).all()
    sn, cn, dn, am = elliptic.jacobi(u, 0.0)
    sech = 2 * np.exp(-abs(u)) / (1 + np.exp(-2 * abs(u)))
    assert np.allclose(cn, sech, rtol=4e-16, atol=0) and (cn == dn).all()
    assert np.allclose([sn, am], [np.tanh(u), 2 * np.arctan(np.tanh(u / 2))], rtol=4e-16, atol=0)
    assert elliptic.F(1.2, 0.0) == pytest.approx(np.arctanh(np.sin(1.2)), rel=1e-15)
    assert elliptic.F(2.0, 0.0) == np.inf and elliptic.F(-9.0, 0.0) == -np.inf


@each("mc", MCS)
def test_amplitude_and_first_kind_are_inverse_on_the_whole_line(mc):
    quarter = elliptic.K(mc)
    u = np.concatenate([RNG.uniform(-11 * quarter, 11 * quarter, 20), [0.0, 1e-20]])
    sn, cn, dn, am = elliptic.jacobi(u, mc)
    assert (np.diff(am[np.argsort(u)]) >= 0).all()
    # Near odd multiples of K the amplitude hardly moves: there F magnifies the rounding of am by 1/dn.
    assert np.all(abs(elliptic.F(am, mc) - u) <= 4 * EPS * (abs(u) + abs(am) / dn))
    assert np.allclose(elliptic.am(u + 2 * quarter, mc), am + np.pi, rtol=1e-15, atol=6e-15 * quarter)
    assert np.allclose(sn**2 + cn**2, 1.0, rtol=0, atol=1e-15)


def symmetric(x, y, z, p=None):
    """RF, or RJ where p is given, from the defining integral: the trapezium rule in log t, to 20 digits."""
    with mp.workdps(25):
        x, y, z = mp.mpf(x), mp.mpf(y), mp.mpf(z)
        sizes = [abs(a) for a in (x, y, z, p or z) if a]
        low, high = int(mp.log(min(sizes))) - 100, int(mp.log(max(sizes))) + 100
        total = mp.mpf(0)
        for k in range(3 * low, 3 * high):
            t = mp.exp(mp.mpf(k) / 3)
            f = t / mp.sqrt((t + x) * (t + y) * (t + z))
            total += f if p is None else 3 * f / (t + p)
        return total / 6


def third_kind(phi, n, mc):
    """Pi in 30 digits: Carlson's integrals of the reduced amplitude, and complete ones for every half turn."""
    with mp.workdps(40):
        n, mc, phi = mp.mpf(n), mp.mpf(mc), mp.mpf(phi)
        turns = mp.nint(phi / mp.pi)

        def part(s, c2):
            d2 = c2 + mc * s * s
            return s * symmetric(c2, d2, 1) + n * s**3 / 3 * symmetric(c2, d2, 1, c2 + (1 - n) * s * s)

        r = phi - turns * mp.pi
        return part(mp.sin(r), mp.cos(r) ** 2) + (2 * turns * complete_third_kind(n, mc) if turns else 0)


def complete_third_kind(n, mc):
    """The same at a quarter turn."""
    with mp.workdps(40):
        return symmetric(0, mc, 1) + n / mp.mpf(3) * symmetric(0, mc, 1, 1 - mp.mpf(n))


def test_the_oracle_of_integrals_itself():
    assert abs(symmetric(0.1, 0.2, 3.0) / mp.elliprf(0.1, 0.2, 3.0) - 1) < 1e-14
    assert abs(symmetric(0.1, 0.2, 3.0, 0.7) / mp.elliprj(0.1, 0.2, 3.0, 0.7) - 1) < 1e-14
    assert abs(third_kind(2.0, 0.6, 0.3) / mp.ellippi(0.6, 2.0, 0.7) - 1) < 1e-14

    def integrand(t):
        return 1 / ((1 - 0.6 * mp.sin(t) ** 2) * mp.sqrt(1 - 0.7 * mp.sin(t) ** 2))

    assert abs(third_kind(9.0, 0.6, 0.3) / mp.quad(integrand, [0, 2, 4, 6, 8, 9]) - 1) < 1e-14


@each("mc", some(MCS + BEYOND_ONE, 4))
def test_complete_integrals(mc):
    with mp.workdps(250 if mc < 1e-20 else 40):
        m = 1 - mp.mpf(mc)
        assert quiet(mp.mpf(float(elliptic.K(mc))) / mp.ellipk(m) - 1, EPS) < 3
        assert quiet(mp.mpf(float(elliptic.E(mc))) / mp.ellipe(m) - 1, EPS) < 3
    for n in (-1e8, -3.0, 0.999):
        exact = complete_third_kind(n, mc)
        assert quiet(mp.mpf(float(elliptic.Pi_complete(n, mc))) / exact - 1, EPS) < 3, n


@each("n", (1.5, 20.0))
def test_complete_third_kind_beyond_its_pole_is_the_principal_value(n):
    """By K(m) - Pi(m/n, m) [abramowitz1964, 17.7.7]."""
    for mc in (1e-3, 0.5, 0.9):
        exact = elliptic.K(mc) - elliptic.Pi_complete((1 - mc) / n, mc)
        assert abs(elliptic.Pi_complete(n, mc) - exact) < 1e-14


@each("mc", some((1e-100, 1e-14, 1e-3, 0.3, 1.0, 1.7), 2))
def test_third_kind_is_continued_over_all_amplitudes(mc):
    """Errata of a paper that defines it up to a quarter turn only: over half a period more has to be added."""
    for n, angles in ((-1e6, (-1.5, 14.3)), (0.99, (1e-8, 2.0))):
        for phi in angles:
            exact, got = third_kind(phi, n, mc), mp.mpf(float(elliptic.Pi(phi, n, mc)))
            slope = 1 / ((1 - n * np.sin(phi) ** 2) * np.sqrt(np.cos(phi) ** 2 + mc * np.sin(phi) ** 2))
            unit = EPS * (abs(exact) + abs(phi * slope) + abs(exact * n / (1 - n)))
            assert quiet(got - exact, unit) < 4, (n, phi)


def test_third_kind_without_characteristic_is_the_first():
    phi = np.linspace(-20, 20, 41)
    assert np.allclose(elliptic.Pi(phi, 0.0, 1e-9), elliptic.F(phi, 1e-9), rtol=1e-15, atol=0)


def principal_value(f, pole, end):
    """Integral of f from 0 to end, the two sides of a simple pole taken together."""
    d = pole if 2 * pole < end else end - pole
    with mp.workdps(25):
        near = mp.quad(lambda t: f(pole + t) + f(pole - t), [0, d / 8, d], method="gauss-legendre")
        return near + mp.quad(f, [2 * pole, 4 * pole, end] if 2 * pole < end else [0, (pole - d) / 2, pole - d])


@each("n", (1.5, 7.0))
def test_third_kind_beyond_its_pole_is_the_principal_value(n):
    def integrand(t):
        return 1 / ((1 - n * mp.sin(t) ** 2) * mp.sqrt(1 - mp.mpf(0.7) * mp.sin(t) ** 2))

    exact = principal_value(integrand, mp.asin(1 / mp.sqrt(n)), mp.mpf(1.3))
    assert abs(elliptic.Pi(1.3, n, 0.3) - exact) < 1e-14 and abs(elliptic.Pi(-1.3, n, 0.3) + exact) < 1e-14


CARLSON = (
    (0.0, 1e-100, 1.0), (1e-30, 1e-20, 1.0), (0.1, 0.2, 0.3), (0.0, 1.0, 2.0), (2.0, 2.0, 2.0), (1.0, 1.0 + 1e-9, 1.0),
    (3e5, 2.0, 0.7),
)  # fmt: skip


@each("a", CARLSON)
def test_carlson(a):
    assert quiet(mp.mpf(float(elliptic.RF(*a))) / symmetric(*a) - 1, EPS) < 3
    assert quiet(mp.mpf(float(elliptic.RD(*a))) / symmetric(*a, a[2]) - 1, EPS) < 4
    for p in (1e-10, 0.15, 1e10)[CARLSON.index(a) % 3 :: 2]:
        assert quiet(mp.mpf(float(elliptic.RJ(*a, p))) / symmetric(*a, p) - 1, EPS) < 5, p
    assert elliptic.RJ(*a[:2], a[2], a[2]) == pytest.approx(elliptic.RD(*a), rel=2e-15)
    assert elliptic.RF(*a) == pytest.approx(elliptic.RF(a[2], a[0], a[1]), rel=5e-16)


@each("p", (-0.05, -0.17, -3.0))
def test_carlson_principal_values(p):
    for a in ((0.1, 0.2, 0.3),) if p == -0.17 else ((2.0, 0.4, 1.1),):

        def integrand(t, a=a):
            return 1.5 / ((t + p) * mp.sqrt((t + a[0]) * (t + a[1]) * (t + a[2])))

        assert abs(elliptic.RJ(*a, p) - principal_value(integrand, mp.mpf(-p), mp.inf)) < 1e-14
        exact = principal_value(lambda t, a=a: 0.5 / ((t + p) * mp.sqrt(t + a[2])), mp.mpf(-p), mp.inf)
        assert abs(elliptic.RC(a[2], p) - exact) < 1e-14


@each(("x", "y"), ((0.0, 1.0), (1.0, 1.0), (1.0, 1 + 1e-9), (1 + 1e-9, 1.0), (3.0, 1e-50), (1e-50, 3.0)))
def test_carlson_c(x, y):
    with mp.workdps(40):
        assert quiet(mp.mpf(float(elliptic.RC(x, y))) / mp.elliprc(x, y) - 1, EPS) < 2


def test_arguments_broadcast_and_scalars_stay_scalars():
    u, mc = np.linspace(0, 3, 4)[:, None], np.array([0.0, 0.2, 1.0])
    assert elliptic.sn(u, mc).shape == (4, 3)
    assert elliptic.sn(u, mc)[2, 1] == elliptic.sn(2.0, 0.2) == elliptic.jacobi(2.0, 0.2)[0]
    assert elliptic.RJ(1.0, u + 1, 2.0, mc + 1).shape == (4, 3)
    assert np.ndim(elliptic.Pi(0.3, 0.1, 0.5)) == 0 and elliptic.K(np.zeros((0, 2))).shape == (0, 2)


@each(
    ("call", "words"),
    [
        (lambda: elliptic.sn(0.3, -0.1), "mc"),
        (lambda: elliptic.sn(0.3, 1e40), "mc"),
        (lambda: elliptic.sn(np.nan, 0.1), "u is nan"),
        (lambda: elliptic.K([0.1, np.nan]), "mc is not finite"),
        (lambda: elliptic.am(1e15, 0.1), "lost the phase"),
        (lambda: elliptic.Pi(0.1, np.inf, 0.2), "n is inf"),
        (lambda: elliptic.cn(np.zeros(2), np.ones(3)), "do not broadcast"),
        (lambda: elliptic.RF(np.ones(2), np.ones(3), 1.0), "do not broadcast"),
        (lambda: elliptic.RF(0.0, 0.0, 1.0), "diverges"),
        (lambda: elliptic.RF(-1.0, 0.0, 1.0), "x lies between"),
        (lambda: elliptic.RJ(1.0, 1.0, 1.0, 0.0), "diverges"),
        (lambda: elliptic.RC(1.0, 0.0), "diverges"),
        (lambda: elliptic.RD(1.0, 1.0, 0.0), "diverges"),
        (lambda: elliptic.RF(1e-300, 1.0, 1.0), "below 1e-200"),
        (lambda: elliptic.E("a"), "mc must be real numbers"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()


@each(("name", "value"), (("FAR", 2.0), ("NEARLY_EQUAL", 1e-3)))
def test_the_checks_notice_a_spoiled_constant(name, value):
    if name == "FAR":
        spoiled = partial(altered(elliptic.RF_kernel, FAR=value), 0.1, 0.2, 3.0)
        good = mp.elliprf(0.1, 0.2, 3.0)
    else:
        spoiled = partial(altered(elliptic.cel, NEARLY_EQUAL=value), 0.1, 1.0, 1.0, 1.0)
        good = mp.ellipk(0.99)
    assert quiet(spoiled() / good - 1, EPS) > 20
