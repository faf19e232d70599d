"""Trigonometric functions of a squared angle x = theta^2 that are smooth at x = 0: all small-angle branches are here.

Up to theta = sqrt(10), just beyond pi, where most methods stop anyway, each function is one polynomial in x: no square
root, no division by a small number, no cancellation, and about half the time of the library's sine and cosine (18
against 30 ns for ``half_sinc`` with a quaternion product around it, 2.9 GHz Xeon). Beyond, the closed form is used,
which has no cancellation there. Errors are in units of 2^-52 of the value, measured against 60 digits with x taken as
exact; near a zero or a pole of a function they grow with the condition number |x f'(x) / f(x)|.
"""

from math import atan2, cos, factorial, sin, sqrt

from polhode.kernel.jit import inlined

SWITCH = 10.0
"""Squared angle up to which the polynomials hold: their first neglected term is below 2^-57 of the value there."""

TERMS = range(14)
SINE = tuple((-1) ** k / (2 * 4**k * factorial(2 * k + 1)) for k in TERMS)
COSINE = tuple((-1) ** k / (4**k * factorial(2 * k)) for k in TERMS)
VERSINE = tuple((-1) ** k / factorial(2 * k + 2) for k in TERMS)
CUBIC = tuple((-1) ** k / factorial(2 * k + 3) for k in TERMS)
INVERSE = tuple((-1) ** k * (k + 1) / (4 ** (k + 1) * factorial(2 * k + 3)) for k in TERMS)
"""Taylor coefficients in x of sin(theta/2)/theta, cos(theta/2), (theta - sin theta)/theta^3, and
(sin(theta/2)/theta - cos(theta/2)/2)/theta^2: all four functions are entire."""

SLOPE = (1 / 720, 1 / 15120, 1 / 403200, 1 / 11975040, 691 / 261534873600, 1 / 12454041600, 3617 / 1524374691840000)
"""Those of the derivative of (1 - (theta/2) cot(theta/2))/theta^2, Bernoulli numbers over factorials."""


@inlined
def polynomial(c, x):
    """Sum of c[k] x^k for 14 coefficients; even and odd powers are summed apart, so that they run in parallel."""
    z = x * x
    even = c[2] + z * (c[4] + z * (c[6] + z * (c[8] + z * (c[10] + z * c[12]))))
    odd = c[3] + z * (c[5] + z * (c[7] + z * (c[9] + z * (c[11] + z * c[13]))))
    return c[0] + x * (c[1] + x * (even + x * odd))


@inlined
def half_sinc(x):
    """sin(theta/2)/theta and cos(theta/2).

    Error: 1 unit up to theta = pi for both (the cosine in units of 1, which is what a quaternion needs).
    """
    if x < SWITCH:
        return polynomial(SINE, x), polynomial(COSINE, x)
    t = sqrt(x)
    return sin(0.5 * t) / t, cos(0.5 * t)


@inlined
def half_angle(theta):
    """sin(theta/2) and cos(theta/2), the sine to full relative accuracy."""
    x = theta * theta
    if x < SWITCH:
        s, c = half_sinc(x)
        return s * theta, c
    return sin(0.5 * theta), cos(0.5 * theta)


@inlined
def sinc(x):
    """sin(theta)/theta. Error: 1.5 units; near its zero theta = pi, times the condition number."""
    return 2.0 * half_sinc(4.0 * x)[0]


@inlined
def versine(x):
    """(1 - cos theta)/theta^2. Error: 2 units up to theta = pi."""
    s = half_sinc(x)[0]
    return 2.0 * s * s


@inlined
def cubic(x):
    """(theta - sin theta)/theta^3. Error: 1.5 units at any angle."""
    if x < SWITCH:
        return polynomial(CUBIC, x)
    t = sqrt(x)
    return (t - sin(t)) / (x * t)


@inlined
def inverse_cubic(x):
    """(1 - (theta/2) cot(theta/2))/theta^2. Error: 2 units up to theta = pi; pole at theta = 2 pi."""
    s, c = half_sinc(x)
    if x < SWITCH:
        return polynomial(INVERSE, x) / s
    return (1.0 - 0.5 * c / s) / x


@inlined
def inverse_cubic_slope(x):
    """Derivative of ``inverse_cubic`` by x. Error: 1e-10 of the value, for Jacobians; pole at theta = 2 pi."""
    if x < 1.0:
        return SLOPE[0] + x * (
            SLOPE[1] + x * (SLOPE[2] + x * (SLOPE[3] + x * (SLOPE[4] + x * (SLOPE[5] + x * SLOPE[6]))))
        )
    g = 1.0 - x * inverse_cubic(x)
    return (0.125 * x + 0.5 * g * g + 0.5 * g - 1.0) / (x * x)


@inlined
def angle_ratio(n, w):
    """theta/n where n and w >= 0 are proportional to sin(theta/2) and cos(theta/2), n >= 0. Error: 2 units."""
    if n == 0.0:
        return 2.0 / w
    return 2.0 * atan2(n, w) / n
