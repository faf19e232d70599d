"""The free rotation by elliptic functions: closed forms and semiexact flows, against Taylor series in 36 digits."""

from __future__ import annotations

import functools
from itertools import permutations, product
from math import atan2, pi, sqrt
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

import gyrostat
import polhode as ph
from cover import chosen, crossed, some
from each import each
from mp_free_body import closed_form
from polhode.errors import InvalidInput
from polhode.flows import elliptic_forms as forms
from polhode.flows.semiexact import by_gauss, gauss_legendre, hermite, semiexact
from polhode.kernel import jit, layout as slots
from polhode.kernel.drive import sweep_of
from polhode.methods import method

FORMS = {
    "matrix": forms.turn_matrix,
    "kosenko": forms.turn_kosenko,
    "van_zon": forms.turn_van_zon,
    "jacobi": forms.turn_jacobi,
}
BODY = (0.6, 0.8, 1.0)
AROUND_1, AROUND_3 = (0.9, -0.4, 0.3), (0.3, 0.4, -0.8)
"""Momenta of case (i) and case (ii) of the body above."""


@jit.inlined
def constructed(m, g1, g2):
    """p = (v2 + v1 m)/|v2 + v1 m| for v1 = (g1, g2, 0), v2 = (-g2, g1, 0), g1^2 + g2^2 = 1 [celledoni2008, eq. 2.22].

    Printed with v2 = (g2, -g1, 0), which makes the frame left-handed and maps m to -e3. Undefined at m = +e3. psi has
    + [atan2(m2, m1)] instead of - [atan2(m2, m1)].
    """
    p = (-g1 * m[0] - g2 * m[1], g2 * m[2] - g2, g1 - g1 * m[2], g1 * m[1] - g2 * m[0])
    n = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
    return (p[0] / n, p[1] / n, p[2] / n, p[3] / n)


@functools.cache
def exact(inertia, m, t):
    """Momentum and attitude after a time t from the identity: of a gyrostat without rotors; a long motion that is not
    on the separatrix by the closed form of ``test_free_rotation``."""
    fast = np.linalg.norm(np.divide(m, inertia)) + np.linalg.norm(m) / sqrt(min(inertia) * np.median(inertia))
    pieces = int(np.ceil(abs(t) * fast / 0.2)) + 1
    with mpmath.workdps(50):
        if pieces > 20 and inertia != SEPARATRIX:
            found = closed_form(inertia, m, float(t))
        else:
            found = gyrostat.motion(m, (1, 0, 0, 0), (0, 0, 0), inertia, float(t), 24, pieces)
        return tuple(np.array(one, dtype=float) for one in found)


def moved(turn, inertia, m, h, n=1, expect=slots.OK):
    """Momentum and attitude after n applications of a flow from the identity."""
    inertia = np.array(inertia, dtype=float)
    y = np.zeros((1, 13))
    y[0, 6], y[0, 10:] = 1.0, m
    bodies = np.concatenate([[1.0], inertia, [1.0], 1.0 / inertia])[None]
    status = np.zeros(1, dtype=np.int64)
    sweep_of(turn)(n, np.array([float(h)]), y, bodies, np.zeros(slots.STEP_INFO), status, status.copy())
    assert status[0] == expect
    return y[0, 10:], y[0, 6:10]


def errors(turn, inertia, m, h, n=1):
    """Errors of momentum (relative to its length) and attitude (angle), and of Q m."""
    end, q = moved(turn, inertia, m, h, n)
    truth, attitude = exact(tuple(inertia), tuple(m), h * n)
    size = np.linalg.norm(m)
    kept = np.abs(ph.rotation.rotate(q, end) - m).max() / size
    return np.abs(end - truth).max() / size, float(ph.rotation.angle_between(q, attitude)), kept


# ------------------------------------------------------------------ the oracle
def test_the_oracle_itself():
    """A symmetric top in closed form, and one step against two."""
    t, j, m3 = 3.0, np.array([0.5, 0.5, 0.25]), 0.6
    m = (0.3, 0.4, m3)
    q = ph.rotation.multiply(
        ph.rotation.exp_quaternion(t * j[0] * np.array(m)),
        ph.rotation.exp_quaternion((0.0, 0.0, t * (j[2] - j[0]) * m3)),
    )
    assert ph.rotation.angle_between(exact((2.0, 2.0, 4.0), m, t)[1], q) < 1e-15
    middle, first = exact(BODY, AROUND_1, 2.0)
    assert np.allclose(exact(BODY, tuple(middle), 2.0)[0], exact(BODY, AROUND_1, 4.0)[0], rtol=0, atol=2e-15)
    assert np.linalg.norm(first) == pytest.approx(1.0, rel=1e-15)


# ------------------------------------------------------------------ the closed forms
@each(
    ("name", "m"),
    chosen(
        product(FORMS, [AROUND_1, AROUND_3, (-0.5, 1.5, 0.2), (0.2, -1.5, -1.1)]),
        zip(FORMS, 2 * [AROUND_1, AROUND_3], strict=True),
    ),
)
def test_forms_are_exact_in_both_cases_over_many_periods(name, m):
    """Up to 40 rad, several periods of the momentum; both signs of the step; any length of the momentum."""
    for h in (-3.0, 0.3, 20.0):
        e = errors(FORMS[name], BODY, m, h)
        assert max(e[:2]) < 2e-15 * (1 + abs(h)) and e[2] < 2e-15, h


@each("name", FORMS)
def test_forms_take_the_axes_in_any_order_and_momenta_of_any_sign_and_length(name):
    rng = np.random.default_rng(4)
    for order in permutations(range(3)):
        inertia = tuple(np.array(BODY)[list(order)])
        m = tuple(rng.choice([-1, 1], 3) * np.abs(rng.normal(size=3)) * 3.0)
        e = errors(FORMS[name], inertia, m, 0.9)
        assert max(e) < 6e-15, (inertia, m)


SEPARATRIX = (1.0, 3.0, 6.0)
"""d12 = 4 d23 here, in floating point too: |m3| = 2 |m1| is exactly on the separatrix."""


@each("name", FORMS)
@each("sigma", (-1, 1))
@each("other", (-1, 1))
def test_all_four_branches_of_the_separatrix(name, sigma, other):
    """m = (s s' B13 sech, tanh, s' B31 sech) at s lam t - nu: the first sign is not in print."""
    for m2 in (-0.4, 0.9):
        m = np.array((sigma * other * 0.5, m2, other * 1.0))
        orbit = forms.orbit_of(*forms.sort(tuple(m), SEPARATRIX)[:2])
        assert orbit.L == 0.0 and orbit.around_1
        e = errors(FORMS[name], SEPARATRIX, tuple(m), 2.5)
        assert max(e) < 2e-14
        size = np.linalg.norm(m)
        lam = sigma * size * sqrt((1 - 1 / 3) * (1 / 3 - 1 / 6))
        u = lam * 2.5 + np.arctanh(m2 / size)
        branch = size * np.array([sigma * other * sqrt(0.2) / np.cosh(u), np.tanh(u), other * sqrt(0.8) / np.cosh(u)])
        assert np.allclose(moved(FORMS[name], SEPARATRIX, m, 2.5)[0], branch, rtol=0, atol=2e-14)


DEGENERATE = [
    ((1.0, 1.0, 2.0), (0.3, 0.2, 0.5)), ((1.0, 2.0, 2.0), (0.3, 0.2, 0.5)), ((2.0, 1.0, 2.0), (0.3, -0.2, 0.5)),
    ((1.0, 1.0, 1.0), (0.3, 0.2, 0.5)), ((1.0, 1.0, 2.0), (0.3, 0.2, 0.0)), ((1.0, 2.0, 2.0), (0.0, 0.2, 0.3)),
    ((1.0, 2.0, 3.0), (0.0, 1.0, 0.0)), ((1.0, 2.0, 3.0), (-1.0, 0.0, 0.0)), ((1.0, 3.0, 2.0), (0.0, -1.0, 0.0)),
    ((1.0, 2.0, 3.0), (0.0, 0.0, -1.0)), ((1.0, 2.0, 3.0), (0.0, 0.0, 0.0)), ((1.0, 2.0, 3.0), (0.0, 1.0, 1.0)),
    ((1.0, 2.0, 3.0), (1.0, 1.0, 0.0)), ((1.0, 2.0, 3.0), (1.0, 0.0, 1.0)), ((1.0, 2.0, 3.0), (1e-200, 1.0, 1e-200)),
]  # fmt: skip


@each("name", [*FORMS, "semiexact", "hermite"])
@each(("inertia", "m"), DEGENERATE)
def test_equilibria_equal_moments_and_coordinate_planes(name, inertia, m):
    flow = {**FORMS, "semiexact": semiexact(10), "hermite": hermite(3)}[name]
    end, q = moved(flow, inertia, m, 0.7)
    truth, attitude = exact(inertia, m, 0.7)
    assert np.allclose(end, truth, rtol=0, atol=1e-15)
    assert ph.rotation.angle_between(q, attitude) < (1e-3 if name == "hermite" else 2e-15)


def test_no_time_is_no_motion():
    for name, flow in FORMS.items():
        end, q = moved(flow, BODY, AROUND_1, 0.0)
        assert np.allclose(end, AROUND_1, rtol=4e-16) and ph.rotation.angle_between(q, (1, 0, 0, 0)) < 1e-15, name


# ------------------------------------------------------------------ frames
@each(("c0", "c3"), [(sqrt(0.5), 0.0), (0.5, 0.5), (-0.1, sqrt(0.49))])
def test_every_member_of_the_family_turns_the_momentum_into_e3(c0, c3):
    rng = np.random.default_rng(0)
    for m in rng.normal(size=(20, 3)):
        m /= np.linalg.norm(m)
        p = forms.family(tuple(m), c0, c3)
        assert np.linalg.norm(p) == pytest.approx(1, abs=4e-16 / (1 + m[2]))
        assert np.allclose(ph.rotation.rotate(p, m), (0, 0, 1), rtol=0, atol=1e-15 / (1 + m[2]))
        b = constructed(tuple(m), 0.6, -0.8)
        assert np.allclose(ph.rotation.rotate(b, m), (0, 0, 1), rtol=0, atol=1e-15 / (1 - m[2]))


def test_the_construction_as_printed_turns_the_momentum_into_minus_e3():
    """v2 = (g2, -g1, 0): left-handed with v1 = (g1, g2, 0) and v3 = e3."""
    m, g = np.array([0.48, -0.6, 0.64]), np.array([0.6, -0.8, 0.0])
    printed = np.concatenate([[0.0], (g[1], -g[0], 0.0)]) + ph.rotation.multiply(np.r_[0.0, g], np.r_[0.0, m])
    assert np.allclose(ph.rotation.rotate(printed, m), (0, 0, -1), rtol=0, atol=1e-15)


def member(m):
    """Another frame of the family, with Kosenko's angle."""
    return forms.family(m, -0.1, sqrt(0.49)), -atan2(m[1], m[0])


def built(m):
    """The frame of two constants (g1, g2), whose angle has the azimuth with the other sign."""
    return constructed(m, 0.6, -0.8), atan2(m[1], m[0])


@each("frame", chosen([member, built], [built]))
def test_other_frames_give_the_same_motion(frame):
    flow = jit.bind(forms.by_quaternion, frame=frame)
    for m in (AROUND_1, AROUND_3):
        assert max(errors(flow, BODY, m, 4.0)) < 1e-14


# ------------------------------------------------------------------ what is printed
def power_half(a, nc):
    """The characteristic of the matrix form as printed: to the power 1/2."""
    return forms.by_carlson(a, 1.0 - sqrt(1.0 - nc))


def inverse_square(a, nc):
    """n = -B31^-2 B13^-2 as printed, for -B31^2 B13^-2: B13^2 = 1/nc, B31^2 = 1 - B13^2."""
    return forms.by_carlson(a, 1.0 + nc * nc / (nc - 1.0))


def opposite(a, nc):
    """The other sign of the integral, as printed for case (i) of the matrix form."""
    return -forms.by_carlson(a, nc)


def unreduced(a, nc):
    """The integral of an amplitude folded into a quarter turn, as its printed definition has it."""
    return forms.Pi_carlson(a.s1, abs(a.c1), nc, a.mc) - forms.Pi_carlson(a.s0, a.c0, nc, a.mc)


def printed_azimuth(m):
    """Kosenko's angle with the printed sign of f."""
    return forms.family(m, sqrt(0.5), 0.0), atan2(m[1], m[0])


def printed_product(m):
    """Van Zon's p with the printed sign of 4 p0 p3 = v2 - w1."""
    p, angle = forms.across((-m[0], m[1], m[2]))
    c0, c3 = p[0] / sqrt(1.0 + m[2]), p[3] / sqrt(1.0 + m[2])
    return forms.family(m, c0, c3), angle


MISPRINTS = {
    "exponent of n": (forms.by_matrix, {"third_kind": power_half}),
    "sign of Pi": (forms.by_matrix, {"third_kind": opposite}),
    "n of van Zon": (forms.by_quaternion, {"third_kind": inverse_square, "frame": forms.across}),
    "sign of f": (forms.by_quaternion, {"frame": printed_azimuth}),
    "sign of p0 p3": (forms.by_quaternion, {"frame": printed_product}),
    "Pi within a quarter turn": (forms.by_quaternion, {"third_kind": unreduced}),
}


@each("name", some(MISPRINTS, 2))
def test_formulas_as_printed_are_wrong_and_the_check_sees_it(name):
    template, changed = MISPRINTS[name]
    assert errors(jit.bind(template, **changed), BODY, AROUND_1, 9.0)[1] > 1e-2


# ------------------------------------------------------------------ limits
def test_kosenko_and_van_zon_lose_digits_for_rods():
    """p G/lam multiplies the round-off of Pi."""
    rod, m = (1e-6, 0.999, 1.0), (1e-6, 0.05, 0.06)
    assert errors(forms.turn_matrix, rod, m, 0.5)[1] < 1e-14
    assert errors(semiexact(10), rod, m, 0.5)[1] < 1e-14
    for name in ("kosenko", "van_zon"):
        assert 1e-13 < errors(FORMS[name], rod, m, 0.5)[1] < 1e-9


def test_the_printed_modulus_loses_half_the_digits_near_the_unstable_axis():
    m = (1e-6, 1.0, 1e-6)
    assert 1e-11 < errors(forms.turn_jacobi, BODY, m, 2.0)[0] < 1e-8
    assert errors(forms.turn_kosenko, BODY, m, 2.0)[0] < 1e-15
    moved(forms.turn_jacobi, BODY, (0.0, 1.0, 1e-12), 2.0, expect=slots.NOT_FINITE)  # k rounds to 1


def test_recovering_the_phase_accumulates_round_off():
    n = 2**14
    phase, addition = (errors(flow, BODY, AROUND_3, 20.0 / n, n)[0] for flow in (forms.turn_kosenko, semiexact(5)))
    assert addition < 1e-13 and phase > 4 * addition and phase < 1e-10


# ------------------------------------------------------------------ semiexact flows
ASSEMBLIES = ("matrix", "quaternion")


RULES = {
    "1": (functools.partial(semiexact, 1), 2, (0.1, 0.05, 0.025)),
    "2": (functools.partial(semiexact, 2), 4, (0.2, 0.1, 0.05)),
    "3": (functools.partial(semiexact, 3), 6, (0.4, 0.3, 0.2)),
    "4": (functools.partial(semiexact, 4), 8, (0.6, 0.45, 0.3)),
    "5": (functools.partial(semiexact, 5), 10, (0.7, 0.55, 0.4)),
    "hermite 1": (functools.partial(hermite, 1), 4, (0.1, 0.05, 0.025)),
    "hermite 2": (functools.partial(hermite, 2), 6, (0.24, 0.12, 0.06)),
    "hermite 3": (functools.partial(hermite, 3), 8, (0.4, 0.3, 0.2)),
}


@each(
    ("form", "rule"),
    chosen(
        product(ASSEMBLIES, RULES),
        [("quaternion", "1"), ("matrix", "5"), ("matrix", "hermite 1"), ("matrix", "hermite 2"),
         ("quaternion", "hermite 3")],
    ),
)  # fmt: skip
def test_angle_of_one_step_errs_with_the_order_plus_one(form, rule):
    """Steps with the same middle: there the error has odd powers of the step only, and shows its first one early."""
    flow, order, steps = RULES[rule]
    turn, body = flow(form=form), (0.5, 0.8, 1.0)
    middles = [(0.5, 0.5, 0.7), (-0.3, 0.2, 0.9), (0.8, -0.6, 0.1), (0.6, 0.3, -0.7)]
    e = []
    for h in steps:
        starts = [tuple(exact(body, m, -0.5 * h)[0]) for m in middles]
        e.append(max(errors(turn, body, m, h)[1] for m in starts))
    slopes = np.log(np.divide(e[:-1], e[1:])) / np.log(np.divide(steps[:-1], steps[1:]))
    assert np.abs(slopes - (order + 1)).max() < 0.4, (slopes, e)


@each("form", ASSEMBLIES)
def test_semiexact_errs_about_the_momentum_only(form):
    """Momentum, energy and Q m to round-off, at any step, however poor the quadrature."""
    for flow in (semiexact(1, form), semiexact(5, form), hermite(1, form)):
        for m in (AROUND_1, AROUND_3):
            for h in (0.3, -3.0, 20.0):
                e = errors(flow, BODY, m, h)
                assert e[0] < 3e-16 * (4 + abs(h)) and e[2] < 2e-15


@each("form", ASSEMBLIES)
def test_semiexact_is_time_symmetric(form):
    for flow in (semiexact(1, form), hermite(1, form)):
        there, q = moved(flow, BODY, AROUND_1, 1.3)
        back, p = moved(flow, BODY, there, -1.3)
        assert np.allclose(back, AROUND_1, rtol=0, atol=1e-15)
        assert ph.rotation.angle_between(ph.rotation.multiply(q, p), (1, 0, 0, 0)) < 2e-15


def test_whole_half_periods_are_integrated_exactly():
    """After any number of them nothing is left for the rule, here one of a single node."""
    o = forms.orbit_of(*forms.sort(AROUND_1, BODY)[:2])
    lam, mc = sqrt(o.M * o.r), o.p * o.L / (o.M * o.r)
    for count in (1, -2):
        h = 2 * count * float(forms.Pi_complete_kernel(1.0, mc)) / lam
        for flow in (semiexact(1), semiexact(1, "matrix"), hermite(1)):
            assert errors(flow, BODY, AROUND_1, h)[1] < 5e-15 * (1 + abs(h))


@each(("form", "m"), crossed(ASSEMBLIES, [AROUND_1, AROUND_3]))
def test_as_printed_one_rule_spans_the_whole_step(form, m):
    """(3.1) by NumPy's nodes over the whole amplitude, where the library takes the half turns out of it."""
    printed, ours = semiexact(5, form, "as_printed"), semiexact(5, form)
    (m0, moments, _), h = forms.sort(m, BODY), 20.0
    o = forms.orbit_of(m0, moments)
    a = forms.by_phase(o, h)
    assert a.turned > 2 * pi
    G2 = sum(x * x for x in m)
    n = 1 - (o.L / o.M if form == "matrix" else G2 / (o.M / o.p) if o.around_1 else o.p / o.r)
    x, w = np.polynomial.legendre.leggauss(5)
    theta = atan2(a.s0, a.c0) + a.turned * (x + 1) / 2
    k2 = 1 - a.mc
    rule = a.turned / 2 * (w / ((1 - n * np.sin(theta) ** 2) * np.sqrt(1 - k2 * np.sin(theta) ** 2))).sum()
    exactly = float(mpmath.quad(
        lambda t: 1 / ((1 - n * mpmath.sin(t) ** 2) * mpmath.sqrt(1 - k2 * mpmath.sin(t) ** 2)),
        np.linspace(atan2(a.s0, a.c0), atan2(a.s0, a.c0) + a.turned, 9),
    ))  # fmt: skip
    factor = o.L / G2**0.5 / a.lam if form == "matrix" else o.p * G2**0.5 / a.lam
    wrong = abs((factor * (rule - exactly) + pi) % (2 * pi) - pi)
    assert errors(printed, BODY, m, h)[1] == pytest.approx(wrong, rel=1e-6)
    assert errors(ours, BODY, m, h)[1] < wrong / 100
    short = moved(printed, BODY, m, 0.3)[1] - moved(ours, BODY, m, 0.3)[1]  # of kernels that fuse other products
    assert np.abs(short).max() <= 2.3e-16


def in_python(turn, m, h):
    """The attitude after one step, without the compiler."""
    y, step_info = np.array([0.0] * 6 + [1.0, 0.0, 0.0, 0.0, *m]), np.zeros(slots.STEP_INFO)
    bodies = np.array([1.0, *BODY, 1.0, *np.divide(1.0, BODY)])
    assert turn(0, h, SimpleNamespace(y=y, bodies=bodies, step_info=step_info)) == slots.OK
    return y[6:10]


@each("form", ASSEMBLIES)
@each("m", [AROUND_1, AROUND_3])
def test_within_a_half_turn_what_is_printed_is_ours_bit_for_bit(form, m):
    """In plain Python: compiled, kernels fuse products of their own."""
    printed, ours = (in_python(semiexact(5, form, half), m, 0.3) for half in ("as_printed", "exact"))
    assert printed.tolist() == ours.tolist() and ours[0] < 1.0


@each("c3", some([sqrt(0.5), 0.25], 1))
def test_the_family_of_frames_gives_one_motion(c3):
    for m in (AROUND_1, AROUND_3):
        assert max(errors(forms.kosenko(c3), BODY, m, 4.0)) < 1e-14
    assert forms.kosenko(0.0) is forms.turn_kosenko and forms.kosenko(c3) is forms.kosenko(c3)


def test_options_of_published_forms():
    assert method("v2/semiexact10:as_printed").label == "v2/semiexact10:as_printed"
    assert method("kosenko:c3=0.5").label == "kosenko:c3=0.5" and method("kosenko:c3=0").label == "kosenko"
    for text, words in (("kosenko:c3=0.8", "at most 0.70"), ("semiexact6:printed", "did you mean 'as_printed'")):
        with pytest.raises(InvalidInput, match=words):
            method(text)


def test_semiexact_on_the_separatrix_and_close_to_the_unstable_axis():
    for m, h in (((0.5, 0.3, 1.0), 0.6), ((0.5, -2.0, -1.0), 0.4), ((1e-13, 1.0, 2e-13), 0.9)):
        for form in ASSEMBLIES:
            assert max(errors(semiexact(20, form), SEPARATRIX, m, h)) < 3e-15
    across = (1e-17, -1.0, 2e-17)
    end, _ = moved(semiexact(20), SEPARATRIX, across, 300.0)
    assert np.isfinite(end).all() and end[1] == pytest.approx(1.0, rel=1e-12)


def test_nodes_and_weights_as_printed():
    """Appendix B of the paper, to all digits of a double."""
    half, weights, middle = gauss_legendre(5)
    assert list(half) == [0.26923465505284154552, 0.453089922969331996399]
    assert list(weights) == pytest.approx([0.23931433524968323402, 0.11846344252809454376], abs=3e-17)
    assert middle == pytest.approx(0.28444444444444444444, abs=3e-17)
    for n in range(1, 41):
        half, weights, middle = gauss_legendre(n)
        for power in range(0, 2 * n, 2):
            integral = 2 * sum(w * (2 * a) ** power for a, w in zip(half, weights, strict=True))
            integral += middle * (power == 0)
            assert integral == pytest.approx(1 / (power + 1), abs=4e-16)


def test_a_spoiled_weight_is_seen():
    half, weights, middle = gauss_legendre(5)
    spoiled = jit.bind(by_gauss, HALF_NODES=half, HALF_WEIGHTS=(weights[0] * (1 + 1e-9), weights[1]), MID_WEIGHT=middle)
    flow = jit.bind(forms.by_quaternion, third_kind=spoiled)
    assert errors(flow, BODY, AROUND_1, 0.3)[1] > 1e-12


@each(
    ("call", "words"),
    [
        (lambda: semiexact(0), "number of nodes"),
        (lambda: semiexact(2.5), "number of nodes"),
        (lambda: semiexact(3, "quaternions"), "did you mean 'quaternion'"),
        (lambda: semiexact(3, "matrix", "printed"), "did you mean 'as_printed'"),
        (lambda: hermite(4), "number of derivatives"),
    ],
)
def test_unknown_rules_are_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()


def test_flows_are_made_once():
    assert semiexact(5) is semiexact(5) and sweep_of(semiexact(5)) is sweep_of(semiexact(5))
