"""The coefficients of the preprocessed discrete Moser-Veselov map against their derivation from the motion itself."""

from __future__ import annotations

import functools
from fractions import Fraction

import numpy as np

from dmv_series import BODIES, Polynomial, derive, modified, power, variable
from each import each
from free_motion import moved
from polhode.flows import dmv

NAMES = (3, 5, 7, 9)
derived = functools.cache(derive)


def mismatches(numerators):
    """Names of the series in which the flow's polynomials are not the derived ones."""
    a, r, w, c = map(variable, "arwc")
    # The symmetric functions by the smallest inverse moment a and r, the sum being 1; the energy by w.
    p3 = 2 * a - 3 * power(a, 2) + r
    r3 = power(a, 2) - 2 * power(a, 3) + a * r
    meant = {"p": p3, "r": r3, "H": a * c + w, "C": c}
    wrong = []
    found = numerators(a, r, w, c)
    for k, (s, t) in enumerate(derived()):
        s, t = substituted(s, meant), substituted(t, meant)
        for name, have, want in (("s", found[2 * k], s), ("g", found[2 * k + 1], a * s + t)):
            if have != want * dmv.DENOMINATORS[k]:
                wrong.append(f"{name}{NAMES[k]}")
    return wrong


def substituted(polynomial, meant):
    total = Polynomial({})
    for key, number in polynomial.terms.items():
        term = Polynomial({(): number})
        for name, n in key:
            term = term * power(meant[name], n)
        total = total + term
    return total


def test_every_coefficient_of_the_flow_is_the_derived_one():
    assert mismatches(dmv.numerators) == []


@each("k", range(8))
def test_one_spoiled_coefficient_is_noticed(k):
    def spoiled(a, r, w, c):
        out = list(dmv.numerators(a, r, w, c))
        out[k] = out[k] + a * r * power(w, k // 2)
        return out

    assert mismatches(spoiled) == [f"{'sg'[k % 2]}{NAMES[k // 2]}"]


def printed(moments, H, C):
    """Table 1 of Vilmart's paper: s3, t3, s5, t5, s7, t7 in its own variables."""
    one, two, three = moments
    delta = one * two * three

    def sigma(n):
        return one**n + two**n + three**n

    def tau(b, c):
        return (two**b + three**b) / one**c + (three**b + one**b) / two**c + (one**b + two**b) / three**c

    s3 = -sigma(-1) / 3 * H + sigma(1) / (6 * delta) * C
    t3 = sigma(1) / (6 * delta) * H - C / (3 * delta)
    s5 = (
        (3 * sigma(1) + 2 * delta * sigma(-2)) / (60 * delta) * H**2
        + (1 - tau(1, 1)) / (30 * delta) * C * H
        + (sigma(2) - delta * sigma(-1)) / (30 * delta**2) * C**2
    )
    t5 = (
        -(9 + tau(1, 1)) / (60 * delta) * H**2
        + (6 * delta * sigma(-1) - sigma(2)) / (60 * delta**2) * C * H
        - sigma(1) / (60 * delta**2) * C**2
    )
    s7 = (
        (15 - delta * sigma(-3) - 2 * tau(1, 1)) / (630 * delta) * H**3
        + (6 * delta * tau(1, 2) - 100 * delta * sigma(-1) + 53 * sigma(2)) / (2520 * delta**2) * C * H**2
        + (9 * sigma(1) + 10 * delta * sigma(-2) - 6 * tau(2, 1)) / (420 * delta**2) * C**2 * H
        + (4 * delta + 17 * sigma(3) - 15 * delta * tau(1, 1)) / (2520 * delta**3) * C**3
    )
    t7 = (
        (9 * delta * sigma(-1) + delta * tau(1, 2) - 11 * sigma(2)) / (1260 * delta**2) * H**3
        + (47 * sigma(1) + 13 * tau(2, 1) - 38 * delta * sigma(-2)) / (2520 * delta**2) * C * H**2
        + (sigma(3) + 2 * delta * tau(1, 1) - 85 * delta) / (1260 * delta**3) * C**2 * H
        + (34 * delta * sigma(-1) - 19 * sigma(2)) / (2520 * delta**3) * C**3
    )
    return s3, t3, s5, t5, s7, t7


@each("integers", BODIES[::4])
def test_the_derived_series_are_those_printed_in_the_paper(integers):
    a = [Fraction(n, sum(integers)) for n in integers]
    m = (Fraction(3), Fraction(-2), Fraction(1, 2))
    H = sum(k * x * x for k, x in zip(a, m, strict=True)) / 2
    S, T = modified(a, m)
    printed_values = printed([1 / k for k in a], H, sum(x * x for x in m) / 2)
    assert [v for pair in zip(S[:3], T[:3], strict=True) for v in pair] == list(printed_values)


@each("order", dmv.ORDERS)
def test_modified_moments_approach_those_of_the_exact_rotation(order):
    """1/I~_j = 2 e_j / (h Y_j) with the exact Cayley vector e: the error of order 2p is of h^2p."""
    a = np.array([0.5, 0.3, 0.2])
    m = np.array([0.3, 0.9, -1.1])
    steps = {2: (0.1, 0.2), 4: (0.2, 0.4), 6: (0.4, 0.8), 8: (0.6, 1.2), 10: (1.0, 2.0)}[order]
    errors = []
    for h in steps:
        q = moved(1 / a, m, h, order=30)[1]
        e = q[1:] / q[0]
        Y = m - np.cross(e, m) + (e @ m) * e
        b, _ = dmv.modified(order, tuple(a), tuple(h * m))
        errors.append(np.abs(np.array(b) - e / (h * Y)).max())
    assert abs(np.log2(errors[1] / errors[0]) - order) < 0.15
