"""Legendre functions with mpmath, from the exact coefficients of the polynomials."""

from __future__ import annotations

import functools
from fractions import Fraction
from math import comb, factorial, perm

import mpmath as mp


@functools.cache
def coefficients(n, m):
    """Of the m-th derivative of the polynomial of degree n, times 2^n, by falling powers."""
    return [(-1) ** k * comb(n, k) * comb(2 * n - 2 * k, n) * perm(n - 2 * k, m) for k in range((n - m) // 2 + 1)]


@functools.cache
def normalisation(n, m, scale, digits):
    """The root of scale (n - m)! / (n + m)!, over 2^n, in mpmath's precision, which is that of ``digits``."""
    share = Fraction(scale * factorial(n - m), factorial(n + m) * 4**n)
    return mp.sqrt(mp.mpf(share.numerator) / share.denominator)


def legendre(n, m, u, root, scale):
    """The associated Legendre function without the sign of Condon and Shortley, times sqrt(scale (n - m)! / (n + m)!),
    of u and the root of 1 - u^2."""
    total, square = mp.mpf(0), u * u
    for c in coefficients(n, m):
        total = total * square + c
    return normalisation(n, m, scale, mp.mp.dps) * root**m * total * u ** ((n - m) % 2)
