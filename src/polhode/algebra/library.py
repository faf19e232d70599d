"""Functions of the C library as plain Python, for devices that have none: by ``elementary``, and what follows from it.

================================== =============================== =================================================
function                           range                           largest error, in ulp of the result
================================== =============================== =================================================
``sin``, ``cos``                   |x| <= 1e12, nan beyond         0.8
``exp``, ``log``, ``atan``,        as in ``elementary``            0.8
``atan2``
``asin``, ``acos``, ``tan``,       all (angles as above)           2
``hypot``, ``log2``
``log10``, ``expm1``, ``log1p``,   all                             4
``sinh``, ``cosh``, ``tanh``,
``asinh``, ``acosh``, ``atanh``
``pow``                            results that are normal         1 + 2 |y log x|
================================== =============================== =================================================
"""

from math import copysign, inf, nan, sqrt

from polhode.algebra.elementary import (
    LARGEST_ANGLE,
    arccosine,
    arcsine,
    arctangent,
    arctangent2,
    exponential,
    logarithm,
    near_sine_cosine,
    nearest,
    small_sine_cosine,
    sum_of_two,
)
from polhode.kernel.jit import apart, helper, inlined
from polhode.kernel.simd import product_error

FARTHEST_ANGLE = 1e12  # angles (rad) beyond have no digits left of 1e-4, and are refused
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)  # pi/2 in three numbers of 53 bits
LOG_10, LOG_2 = 2.302585092994046, 0.6931471805599453


@apart
def far_sine_cosine(x):
    """Sine and cosine of an angle of at most FARTHEST_ANGLE: the products with pi/2 are exact pairs of numbers."""
    if not abs(x) <= FARTHEST_ANGLE:
        return nan, nan
    n = nearest(x * (1.0 / HALF_PI[0]))
    p, q = n * HALF_PI[0], n * HALF_PI[1]
    p_rest, q_rest = product_error(n, HALF_PI[0], p), product_error(n, HALF_PI[1], q)
    a, b = sum_of_two(x - p, -p_rest)
    c, d = sum_of_two(a, -q)
    high, low = sum_of_two(c, b + (d - (q_rest + n * HALF_PI[2])))
    s, c = small_sine_cosine(high, low)
    n = n - 4.0 * nearest(0.25 * n)
    first, second = (c, s) if n * n == 1.0 else (s, c)
    return -first if abs(n - 0.5) > 1.0 else first, -second if abs(n + 0.5) > 1.0 else second


@inlined
def sine_cosine(x):
    """Sine and cosine."""
    near = near_sine_cosine(x)
    if abs(x) > LARGEST_ANGLE:
        return far_sine_cosine(x)
    return near


@inlined
def sine(x):
    """sin x."""
    return sine_cosine(x)[0]


@inlined
def cosine(x):
    """cos x."""
    return sine_cosine(x)[1]


@inlined
def tangent(x):
    """tan x."""
    s, c = sine_cosine(x)
    return s / c


@inlined
def exponential_less_1(x):
    """exp x - 1."""
    u = exponential(x)
    w = u - 1.0
    if u == 1.0 or x != x:
        return x
    return w if w == -1.0 or u == inf or abs(x) > 1.0 else w * (x / logarithm(u))


@inlined
def logarithm_of_1_plus(x):
    """log(1 + x)."""
    u = 1.0 + x
    w = u - 1.0
    return x if w == 0.0 else (logarithm(u) if u == inf or u <= 0.0 or u != u else logarithm(u) * (x / w))


@inlined
def hyperbolic_sine(x):
    """sinh x."""
    a = abs(x)
    half = exponential(0.5 * a)
    e = exponential_less_1(a)
    return copysign(0.5 * half * half if a > 40.0 else 0.5 * (e + e / (e + 1.0)), x)


@inlined
def hyperbolic_cosine(x):
    """cosh x."""
    half = exponential(0.5 * abs(x))
    return 0.5 * half * half + 0.5 / half / half


@inlined
def hyperbolic_tangent(x):
    """tanh x."""
    e = exponential_less_1(2.0 * min(abs(x), 40.0)) if x == x else x
    return copysign(e / (e + 2.0), x)


@inlined
def area_sine(x):
    """asinh x."""
    a = abs(x)
    far = logarithm(a) + LOG_2
    return copysign(far if a > 1e10 else logarithm_of_1_plus(a + a * a / (1.0 + sqrt(1.0 + a * a))), x)


@inlined
def area_cosine(x):
    """acosh x; nan below 1."""
    d = x - 1.0
    return logarithm(x) + LOG_2 if x > 1e10 else logarithm_of_1_plus(d + sqrt(d * (x + 1.0)))


@inlined
def area_tangent(x):
    """atanh x; nan beyond -1 ... 1."""
    a = abs(x)
    return copysign(inf if a == 1.0 else 0.5 * logarithm_of_1_plus(2.0 * a / (1.0 - a)), x)


@inlined
def length_of_2(x, y):
    """sqrt(x^2 + y^2) without overflow."""
    a, b = abs(x), abs(y)
    large, small = (a, b) if a > b else (b, a)
    if large == 0.0 or large == inf:
        return large
    r = small / large
    return large * sqrt(1.0 + r * r)


@inlined
def logarithm_2(x):
    """The logarithm to base 2."""
    return logarithm(x) * (1.0 / LOG_2)


@inlined
def logarithm_10(x):
    """The logarithm to base 10."""
    return logarithm(x) * (1.0 / LOG_10)


@helper
def power(x, y):
    """x to the power y; of negative x for whole y."""
    if y == 0.0 or x == 1.0:
        return 1.0
    size = exponential(y * logarithm(abs(x)))
    if x > 0.0 or x != x or y != y:
        return size
    if x == 0.0:
        size = 0.0 if y > 0.0 else inf
    half = 0.5 * y
    if abs(y) > 9007199254740992.0 or half == nearest(half):
        return size
    if y == nearest(y):
        return copysign(size, x)
    return size if x == 0.0 or x == -inf else nan


LIBRARY = {
    "sin": sine, "cos": cosine, "tan": tangent, "exp": exponential, "log": logarithm, "atan": arctangent,
    "atan2": arctangent2, "asin": arcsine, "acos": arccosine, "expm1": exponential_less_1,
    "log1p": logarithm_of_1_plus, "sinh": hyperbolic_sine, "cosh": hyperbolic_cosine, "tanh": hyperbolic_tangent,
    "asinh": area_sine, "acosh": area_cosine, "atanh": area_tangent, "hypot": length_of_2, "log2": logarithm_2,
    "log10": logarithm_10, "pow": power,
}  # fmt: skip
"""All of them, by their names in C."""
