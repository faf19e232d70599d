"""Elementary functions without library calls or branches, so that they run on plain numbers, in lanes and on devices.

Each is a few dozen additions, products and choices of numbers: a vector of lanes computes them at the speed of one. The
same operations are done everywhere, so results differ at most where a processor fuses another product into a sum.

============================ =================================== ==================================================
function                     range                               largest error, in ulp of the result
============================ =================================== ==================================================
``sine_cosine``              |x| <= 1e5, beyond it the library   0.8 each
``exponential``              all                                 0.7; 1 where the result is below 2.3e-308
``logarithm``                all                                 0.8
``arctangent2``, ``arctangent``  results of 1e-290 and more      0.8
``arcsine``, ``arccosine``   all                                 2, and 2
============================ =================================== ==================================================

Measured against 60 digits, on 1e5 random arguments each, on those closest to where a function vanishes, and at the ends
of all ranges. The constants of the polynomials are near-minimax fits (Chebyshev); the reduction of angles takes pi/2 in
three parts of 36, 36 and 53 bits, so that the products with whole numbers up to 2^17 are exact [cody1980].
"""

from math import copysign, cos, inf, nan, pi, sin, sqrt

from polhode.kernel.jit import inlined
from polhode.kernel.simd import exponent_and_fraction, product_error, two_to

LARGEST_ANGLE = 1e5  # larger angles (rad) are left to the library, which reduces them by hundreds of digits of pi
WHOLE = 6755399441055744.0
"""1.5 * 2^52: a number below 2^51 plus and minus this is the nearest whole number, halves to even."""

HALF_PI = (1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23)  # pi/2 in three parts
SINE = (
    -0.16666666666666666, 0.008333333333333331, -0.0001984126984126506, 2.7557319219335453e-06,
    -2.5052106231157904e-08, 1.605853141458901e-10, -7.586685070091267e-13,
)  # fmt: skip
"""(sin r / r - 1) / r^2 in powers of r^2, for |r| <= pi/4."""
COSINE = (
    0.041666666666666664, -0.0013888888888888887, 2.4801587301584645e-05, -2.755731922140076e-07,
    2.0876755790363397e-09, -1.1470460773969325e-11, 4.7458652037874553e-14,
)  # fmt: skip
"""(cos r - 1 + r^2/2) / r^4 in powers of r^2."""
LOG_2 = (0.6931471805598903, 5.497923018708371e-14)  # log 2 in two parts, the first of 42 bits
EXPONENTIAL = (
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326136, 0.0013888888888883748, 0.00019841269874820627,
    2.4801587325547743e-05, 2.7557255400206422e-06, 2.75572736431103e-07, 2.5105217004720745e-08,
    2.0914686968086876e-09,
)  # fmt: skip
"""(exp r - 1 - r) / r^2 in powers of r, for |r| <= log(2)/2."""
LOGARITHM = (
    0.6666666666666666, 0.4000000000000089, 0.28571428570795937, 0.2222222239345263, 0.181817954545265,
    0.15386249788196105, 0.1326850331279476, 0.13089445145246312,
)  # fmt: skip
"""(2 atanh s / s - 2) / s^2 in powers of s^2, for |s| <= (sqrt 2 - 1) / (sqrt 2 + 1)."""
ARCTANGENT = (
    -0.3333333333333333, 0.19999999999999804, -0.14285714285659729, 0.11111111105145725, -0.09090908753017178,
    0.07692296361048218, -0.06666424634599337, 0.05878926110528101, -0.052304330074828924, 0.0455149623749493,
    -0.034568068014968874, 0.016282993238924487,
)  # fmt: skip
"""(atan t / t - 1) / t^2 in powers of t^2, for |t| <= sqrt 2 - 1."""
ROOT_2, EIGHTH_TURN = 1.4142135623730951, 0.41421356237309503  # sqrt 2, and sqrt 2 - 1, the tangent of pi/8
REST_OF_HALF_PI = 6.123233995736766e-17  # pi/2 minus the number closest to it


@inlined
def nearest(x):
    """The nearest whole number, halves to even, of |x| < 2^51."""
    return (x + WHOLE) - WHOLE


@inlined
def sum_of_two(a, b):
    """The rounded sum of two numbers, and what rounding cut off."""
    s = a + b
    c = s - a
    return s, (a - (s - c)) + (b - c)


@inlined
def reduced(x):
    """Quarter turns in an angle, modulo 4 as -2 ... 2, and the rest in two parts, for |x| <= LARGEST_ANGLE."""
    n = nearest(x * (1.0 / (HALF_PI[0] + HALF_PI[1])))
    a, b = sum_of_two(x - n * HALF_PI[0], -(n * HALF_PI[1]))
    high = a + (b - n * HALF_PI[2])
    low = (a - high) + (b - n * HALF_PI[2])
    return n - 4.0 * nearest(0.25 * n), high, low


@inlined
def small_sine_cosine(r, low):
    """Sine and cosine of r + low, for |r| <= pi/4 and ``low`` a rounding error of r."""
    z = r * r
    a = z * (SINE[1] + z * (SINE[2] + z * (SINE[3] + z * (SINE[4] + z * (SINE[5] + z * SINE[6])))))
    b = COSINE[0] + z * (
        COSINE[1] + z * (COSINE[2] + z * (COSINE[3] + z * (COSINE[4] + z * (COSINE[5] + z * COSINE[6]))))
    )
    s = r + (z * r * (SINE[0] + a) + (low - 0.5 * z * low))
    w = 1.0 - 0.5 * z
    return s, w + (((1.0 - w) - 0.5 * z) + (z * z * b - r * low))


@inlined
def near_sine_cosine(x):
    """Sine and cosine of an angle of at most LARGEST_ANGLE."""
    n, r, low = reduced(x)
    s, c = small_sine_cosine(r, low)
    odd = n * n == 1.0
    first, second = (c, s) if odd else (s, c)
    return -first if abs(n - 0.5) > 1.0 else first, -second if abs(n + 0.5) > 1.0 else second


@inlined
def sine_cosine(x):
    """sin x and cos x, x in rad; nan where x is not finite."""
    if abs(x) > LARGEST_ANGLE:
        return sin(x), cos(x)
    return near_sine_cosine(x)


@inlined
def sine(x):
    """sin x."""
    return sine_cosine(x)[0]


@inlined
def cosine(x):
    """cos x."""
    return sine_cosine(x)[1]


@inlined
def near_sine(x):
    """sin x; nan beyond LARGEST_ANGLE, for where a call of the library would cost every other number."""
    return near_sine_cosine(x)[0] if abs(x) <= LARGEST_ANGLE else nan


@inlined
def near_cosine(x):
    """cos x; nan beyond LARGEST_ANGLE."""
    return near_sine_cosine(x)[1] if abs(x) <= LARGEST_ANGLE else nan


@inlined
def exponential(x):
    """exp x; infinite above 709.78, 0 below -745.13."""
    y = 710.0 if x > 710.0 else (-746.0 if x < -746.0 else x)
    n = nearest(y * (1.0 / (LOG_2[0] + LOG_2[1])))
    a, low = y - n * LOG_2[0], -(n * LOG_2[1])
    r = a + low
    c = EXPONENTIAL
    p = c[5] + r * (c[6] + r * (c[7] + r * (c[8] + r * (c[9] + r * c[10]))))
    p = c[0] + r * (c[1] + r * (c[2] + r * (c[3] + r * (c[4] + r * p))))
    s = 1.0 + a
    f = s + (((1.0 - s) + a) + (low + r * r * p))
    half = nearest(0.5 * n)
    return f * two_to(half) * two_to(n - half)


@inlined
def logarithm(x):
    """The natural logarithm; -inf of 0, nan of negative numbers."""
    tiny = x < 2.2250738585072014e-308
    n, m = exponent_and_fraction(18014398509481984.0 * x if tiny else x)
    large = m > ROOT_2
    n = (n - 54.0 if tiny else n) + (1.0 if large else 0.0)
    f = (0.5 * m if large else m) - 1.0
    s = f / (2.0 + f)
    z = s * s
    c = LOGARITHM
    R = z * (c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * (c[4] + z * (c[5] + z * (c[6] + z * c[7])))))))
    half = 0.5 * f * f
    found = n * LOG_2[0] - ((half - (s * (half + R) + n * LOG_2[1])) - f)
    return (found if x < inf else x) if x > 0.0 else (-inf if x == 0.0 else nan)


@inlined
def arctangent2(y, x):
    """The angle (rad, -pi ... pi) of the point (x, y), as the library's atan2, with signed zeros and infinities."""
    a, b = abs(x), abs(y)
    steep = b > a
    large, small = (b, a) if steep else (a, b)
    if_infinite = 1.0 if small == inf else 0.0
    small, large = (if_infinite, 1.0) if large == inf else (small, large)
    factor = 1e-200 if large > 1e200 else (1e200 if large < 1e-200 else 1.0)
    small, large = factor * small, (factor * large if large > 0.0 else 1.0)
    wide = small > EIGHTH_TURN * large
    n, n_rest = sum_of_two(small, -large)
    d, d_rest = sum_of_two(large, small)
    n, n_rest = (n, n_rest) if wide else (small, 0.0)
    d, d_rest = (d, d_rest) if wide else (large, 0.0)
    t = n / d
    p = t * d
    rest = (((n - p) - product_error(t, d, p)) + (n_rest - t * d_rest)) / d
    z = t * t
    c = ARCTANGENT
    even = c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * (c[4] + z * c[5]))))
    odd = c[6] + z * (c[7] + z * (c[8] + z * (c[9] + z * (c[10] + z * c[11]))))
    q = z * z * z
    rest = rest * (1.0 - z) + z * t * (even + q * q * odd)
    turns = 0.5 if wide else 0.0
    t, rest, turns = (-t, -rest, 1.0 - turns) if steep else (t, rest, turns)
    back = copysign(1.0, x) < 0.0
    t, rest, turns = (-t, -rest, 2.0 - turns) if back else (t, rest, turns)
    base = turns * (0.5 * pi)
    s = base + t
    found = copysign(s + (((base - s) + t) + (rest + turns * REST_OF_HALF_PI)), y)
    return found if a + b >= 0.0 else nan


@inlined
def arctangent(x):
    """atan x."""
    return arctangent2(x, 1.0)


@inlined
def arcsine(x):
    """asin x; nan beyond -1 ... 1."""
    return arctangent2(x, sqrt((1.0 - x) * (1.0 + x)))


@inlined
def arccosine(x):
    """acos x; nan beyond -1 ... 1."""
    return arctangent2(sqrt((1.0 - x) * (1.0 + x)), x)
