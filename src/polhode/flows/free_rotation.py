"""Exact free rotation of a rigid body: any principal moments, any momentum, any time, in one step.

Keeps the energy, the spatial angular momentum and the unit quaternion to round-off. The momentum solves Euler's
equations in Jacobi's elliptic functions [celledoni2008, prop. 2.1]; the attitude is the minimal rotation that carries
the momentum to the body axis it circles, a rotation by an angle psi about that axis, and the minimal rotation back,
where psi is an integral of a positive function along the motion. Four measures make this accurate to the conditioning
of the data for every body (spheres, symmetric tops, rods, rotations about any axis, the separatrix) and fast:

* Instead of sn(lambda t) and its modulus, sigma(t) = sn(lambda t)/lambda with sigma'^2 = (1 - alpha sigma^2)
  (1 - beta sigma^2): no body is singular, as alpha and beta are sums of non-negative terms.
* Changes of the momentum are computed directly, with small relative errors.
* Shortest times: a series and a doubling; the integral by a Gauss rule of four nodes from the start, all at once. Short
  times: the series at a quarter of the time and two doublings; a Gauss rule about the middle, four pairs of nodes at
  once. Times longer than about an eighth of a period: theta functions; whole half periods of the integral by the
  trapezoidal rule (which converges exponentially) or, about the first axis, as multiples of pi and a complete elliptic
  integral; the remainder by panels like the short times.
* Near the separatrix the theta functions of the complementary nome, so that no case is slow or loses digits.

Legend: ``I``, ``j`` principal moments and their inverses; ``m`` body angular momentum, ``G`` its length; ``x`` its
component along the axis it circles (made positive), ``y`` along the middle axis, ``z`` along the third; ``r``, ``w``,
``p`` differences of inverse moments between x and y, y and z, x and z axes; ``lambda`` = sqrt(alpha), the modulus
k^2 = beta/alpha, ``kp2`` = 1 - k^2; ``rational(x)`` = (k1 x + c0)/(G + x), the rate of psi minus G/I3.
"""

from __future__ import annotations

from math import cos, exp, factorial, floor, frexp, inf, ldexp, log, nan, pi, sqrt
from typing import NamedTuple

from polhode.algebra.elliptic import cel
from polhode.algebra.series import half_angle, half_sinc
from polhode.algebra.so3 import add, scale
from polhode.flows import sums
from polhode.flows.invariants import apart, product, restoring
from polhode.kernel import layout as slots
from polhode.kernel.access import get3
from polhode.kernel.jit import bind, helper, hole, inlined, replaceable
from polhode.kernel.simd import four, roots, sum4

SHORTEST, SHORT, PANEL = 0.06, 0.2, 0.9
"""Largest |lambda t| for one Gauss rule of 4, 5 and 9 nodes; truncation errors of series and rule are below 1e-16."""

HYPERBOLIC = 0.04
"""Below this k'^2 the theta functions of the complementary nome converge faster; both nomes are below 0.2."""

SEPARATRIX = 1e-139
"""k'^2 below this counts as zero: wherever that makes a difference, the momentum is within 1e-69 of the middle axis."""

REST = 160.0  # |lambda t| after which a momentum on the separatrix has reached the middle axis

SMALLEST, LARGEST = 1e-30, 1e30
"""Momenta and moments outside this range are scaled by powers of two, so that no product over- or underflows."""


class Motion(NamedTuple):
    """Constants of one free motion, see the legend of the module."""

    G: float
    r: float
    w: float
    p: float
    M: float
    alpha: float
    beta: float
    k1: float
    c0: float


@inlined
def exchanged(flag, a, b):
    """(b, -a) where the flag is set: exchange of two axes that keeps them right-handed."""
    if flag:
        return b, -a
    return a, b


@inlined
def restored(flag, a, b):
    """Inverse of ``exchanged``."""
    if flag:
        return -b, a
    return a, b


@inlined
def ordered(flag, a, b):
    """(b, a) where the flag is set, else (a, b)."""
    if flag:
        return b, a
    return a, b


INVERSE = tuple(1.0 / factorial(2 * k + 3) for k in range(9))


@inlined
def series(a, b):
    """Coefficients c of sigma(tau t) = tau t (1 + sum_n c_n tau^(2n)), a = alpha t^2, b = beta t^2."""
    e, f = a + b, a * b
    g = e * e
    h = f * f
    return (
        -INVERSE[0] * e,
        INVERSE[1] * (g + 12.0 * f),
        -INVERSE[2] * (e * (g + 132.0 * f)),
        INVERSE[3] * (g * (g + 1224.0 * f) + 3024.0 * h),
        -INVERSE[4] * (e * (g * (g + 11064.0 * f) + 132624.0 * h)),
        INVERSE[5] * (g * (g * (g + 99636.0 * f) + 4095792.0 * h) + 4390848.0 * h * f),
        -INVERSE[6] * (e * (g * (g * (g + 896796.0 * f) + 111810672.0 * h) + 490287168.0 * h * f)),
        INVERSE[7]
        * (g * (g * (g * (g + 8071248.0 * f) + 2901537504.0 * h) + 35424905472.0 * h * f) + 21224560896.0 * h * h),
        -INVERSE[8]
        * e
        * (
            g * (g * (g * (g + 72641328.0 * f) + 73688590944.0 * h) + 2134087471872.0 * h * f) + 4824426168576.0 * h * h
        ),
    )


@inlined
def sigma_5(tau, t, c):
    """sigma(tau t) from the first five coefficients of its series."""
    z = tau * tau
    v = z * z
    return tau * t * (1.0 + z * (c[0] + v * (c[2] + v * c[4]) + z * (c[1] + v * c[3])))


@inlined
def sigma_9(tau, t, c):
    """sigma(tau t) from all nine coefficients of its series."""
    z = tau * tau
    v = z * z
    odd = c[0] + v * (c[2] + v * (c[4] + v * (c[6] + v * c[8])))
    even = c[1] + v * (c[3] + v * (c[5] + v * c[7]))
    return tau * t * (1.0 + z * (odd + z * even))


@inlined
def doubled(s, alpha, beta):
    """sigma, 1 - cn, 1 - dn at twice the time of s = sigma."""
    A, B = alpha * s * s, beta * s * s
    a, b = 1.0 - A, 1.0 - B
    i = 2.0 / (1.0 - A * B)
    return s * sqrt(a * b) * i, A * b * i, B * a * i


@inlined
def change(x, y, z, s, cb, db, o):
    """Change of the momentum over a time with s = sigma, cb = 1 - cn and db = 1 - dn, as a factor and a vector."""
    t = o.r * o.w * (y * s) * (y * s)
    C, D = 1.0 - cb, 1.0 - db
    return 1.0 / (1.0 - t), (
        x * (t - db) - y * z * C * s * o.w,
        y * (t - cb - C * db) + o.p * s * z * x,
        z * (t - cb) - y * x * s * D * o.r,
    )


@inlined
def carried(s, x, y, z, o):
    """e, f, g for s = sigma, four at a time: x is (f - g)/e at twice the times, and was (f + g)/e as long ago."""
    A, B = o.alpha * s * s, o.beta * s * s
    a, b = 1.0 - A, 1.0 - B
    n, u = 1.0 - A * B, a * b
    e = n * n - 4.0 * o.r * o.w * (y * s) * (y * s) * u
    return e, x * n * (n - 2.0 * B * a), 2.0 * y * z * o.w * s * roots(u) * (n - 2.0 * A * b)


HALVES = (-0.4305681557970263, -0.16999052179242813, 0.16999052179242813, 0.4305681557970263)
SHARES = (0.17392742256872679, 0.3260725774312732, 0.3260725774312732, 0.17392742256872679)
"""Nodes of a Gauss rule on -1/2 ... 1/2, and weights that sum to 1."""


@inlined
def rate(tau, t, c, x, y, z, o):
    """rational(x) at the times 2 tau t after the momentum (x, y, z), for four tau at a time."""
    e, f, g = carried(sigma_5(tau, t, c), x, y, z, o)
    return (o.k1 * (f - g) + o.c0 * e) / (o.G * e + (f - g))


@helper
def shortest_turn(x, y, z, h, way, o):
    """``short_turn`` by one doubling and with all nodes from the start."""
    t, tau = way * h, 0.25 + 0.5 * four(HALVES[0], HALVES[1], HALVES[2], HALVES[3])
    c = series(o.alpha * h * h, o.beta * h * h)
    psi = h * sum4(four(SHARES[0], SHARES[1], SHARES[2], SHARES[3]) * rate(tau, t, c, x, y, z, o))
    s, cb, db = doubled(sigma_5(0.5, t, c), o.alpha, o.beta)
    i, d = change(x, y, z, s, cb, db, o)
    d, rest = product(i, d)
    return d, rest, psi


sigma = hole("sigma(tau, t, c) -> float", "sigma(tau t) from its series.")
NODES = hole("NODES", "Positive nodes of a Gauss rule on -1 ... 1, four.")
WEIGHTS = hole("WEIGHTS", "Weights of the middle and of these nodes.")


@replaceable
@inlined
def pairs(tau, t, c, x, y, z, o):
    """Half the sum of rational(x) at the times +-2 tau t from the momentum (x, y, z), for four tau at a time."""
    e, f, g = carried(sigma(tau, t, c), x, y, z, o)
    d = o.G * e + f
    return (o.k1 * (f * d - g * g) + o.c0 * e * d) / ((d - g) * (d + g))


@replaceable
@helper
def mean(t, c, x, y, z, o):
    """Mean of rational(x) over the times -2 t ... 2 t from the momentum (x, y, z)."""
    nodes = four(NODES[0], NODES[1], NODES[2], NODES[3])
    weights = four(WEIGHTS[1], WEIGHTS[2], WEIGHTS[3], WEIGHTS[4])
    return 0.5 * WEIGHTS[0] * (o.k1 * x + o.c0) / (o.G + x) + sum4(weights * pairs(nodes, t, c, x, y, z, o))


@helper
def short_turn(x, y, z, h, way, o):
    """Change of the momentum in a short time, its rounding error, integral of rational(x); ``way``: sign of sigma."""
    t = 0.25 * h
    c = series(o.alpha * t * t, o.beta * t * t)
    s, cb, db = doubled(way * sigma(1.0, t, c), o.alpha, o.beta)
    i, d = change(x, y, z, s, cb, db, o)
    psi = h * mean(t, c, x + i * d[0], y + i * d[1], z + i * d[2], o)
    s, cb, db = doubled(s, o.alpha, o.beta)
    i, d = change(x, y, z, s, cb, db, o)
    d, rest = product(i, d)
    return d, rest, psi


def with_nodes(sigma, nodes, weights):
    """``mean`` and ``short_turn`` by a Gauss-Legendre rule: a node of each pair (up to four), weights from the middle
    on, as numpy's ``leggauss`` rounds them."""
    average = helper(bind(mean, pairs=inlined(bind(pairs, sigma=sigma)), NODES=nodes, WEIGHTS=weights))
    return average, helper(bind(short_turn, sigma=sigma, mean=average))


_, short_turn_5 = with_nodes(
    sigma_5, (0.5384693101056831, 0.906179845938664, 0.0, 0.0),
    (0.5688888888888887, 0.4786286704993663, 0.23692688505618928, 0.0, 0.0),
)  # fmt: skip
mean_9, short_turn_9 = with_nodes(
    sigma_9, (0.3242534234038089, 0.6133714327005904, 0.8360311073266358, 0.9681602395076261),
    (0.33023935500125984, 0.3123470770400029, 0.2606106964029356, 0.18064816069485737, 0.08127438836157416),
)  # fmt: skip


@inlined
def nome(small, large):
    """q of the modulus k^2 = small, k'^2 = large >= 0.04."""
    k = sqrt(large)
    s = 1.0 + sqrt(k)
    l = 0.5 * small / ((1.0 + k) * s * s)  # (1 - sqrt k')/(1 + sqrt k')/2
    v = (l * l) * (l * l)
    return l * (
        1.0
        + v * (2.0 + v * (15.0 + v * (150.0 + v * (1707.0 + v * (20910.0 + v * (268616.0 + v * (3567400.0
        + v * (48555069.0 + v * 673458874.0))))))))
    )  # fmt: skip


@helper
def long_turn(x, y, z, h, sign, kp2, o):
    """As ``short_turn`` for a long time; last, the parity (0 or 1) of the multiple of pi that the integral lacks."""
    rate = sqrt(o.alpha)
    k2 = min(1.0, o.beta / o.alpha)
    hyperbolic = kp2 < HYPERBOLIC
    if kp2 < SEPARATRIX:
        kp2 = 0.0
    q = nome(*ordered(hyperbolic, k2, kp2))
    q2 = q * q
    q4 = q2 * q2
    q6, q9, q12, q16 = q4 * q2, q4 * q4 * q, q4 * q4 * q4, (q4 * q4) * (q4 * q4)
    q20 = q16 * q4
    # theta_3, theta_4 = C +- X D and theta_1 = sin v (A + X B), theta_2 = cos v (A - X B) with X = cos 2v, the last two
    # without their factor 2 q^(1/4). For imaginary v all cosines are hyperbolic.
    A0, A2, A4 = 1.0 - q2 - q6 + q12 + q20, 4.0 * (q6 - q12) - 12.0 * q20, 16.0 * q20
    B0, B2 = 2.0 * (q6 - q2) + 4.0 * (q12 - q20), 8.0 * (q20 - q12)
    C0, C2, C4 = 1.0 - 2.0 * (q4 - q16), 4.0 * q4 - 16.0 * q16, 16.0 * q16
    D0, D2 = 2.0 * q - 6.0 * q9, 8.0 * q9
    t2 = 1.0 + q2 + q6 + q12 + q20
    t3 = 1.0 + 2.0 * (q + q4 + q9 + q16)
    t4 = 1.0 - 2.0 * (q - q4 + q9 - q16)
    if hyperbolic:
        reach = -0.5 * log(q) if q > 0.0 else 1e300
        to_s, to_c, to_d = t3 / t4, t2 / t4, t2 / t3
    else:
        reach = 0.5 * pi
        to_s, to_c, to_d = t3 / t2, t4 / t2, t4 / t3
    per = 1.0 / (t3 * t3)  # v = per lambda t
    K = reach * t3 * t3  # the quarter period in lambda t
    u = rate * h
    turns = floor(0.5 * u / K + 0.5)
    rest = u - 2.0 * K * turns
    bound = K
    if K > REST:  # for longer times the momentum is at rest at the middle axis
        bound = min(REST, 45.0 + log(2.0 * o.G / x)) if x > 0.0 else 0.0
    rest = min(max(rest, -bound), bound)
    total = 0.0
    X = sqrt(o.M / o.p)
    windings = 0.0
    if turns != 0.0 and o.k1 > 0.0:
        # Each half period adds a precession (complete integral) and exactly pi of rotation about the circled axis. For
        # a rod, which rotates many times while it hardly precesses, their sum would lose digits: kept separate.
        total = 2.0 * turns * o.G * o.w * cel(sqrt(kp2), o.p / o.r, 0.0, o.p / o.r)
        windings = turns
    elif turns != 0.0:
        # About the third axis k1 = 0, and the integral is small: no multiple of pi is split off.
        count = int(K * (1.0 + sqrt(k2))) + 1
        d = 0.5 * reach / count
        c = 0.5 * (exp(d) + exp(-d)) if hyperbolic else cos(d)
        f = 4.0 * c * c - 2.0
        previous, cos_2v = c, c
        for _ in range(count):
            v = cos_2v * cos_2v
            C, D = C0 + v * (C2 + v * C4), cos_2v * (D0 + v * D2)
            below = C - D
            if hyperbolic:
                A, B = A0 + v * (A2 + v * A4), cos_2v * (B0 + v * B2)
                below = sqrt(0.5 * (1.0 + cos_2v)) * (A - B)
            dn = to_d * (C + D) / below
            a, b = X * dn, X * sqrt(kp2) / dn
            total += o.c0 / (o.G + a) + o.c0 / (o.G + b)
            previous, cos_2v = cos_2v, f * cos_2v - previous
        total *= turns * K / count
    elif K > REST:
        total = (u - rest) * o.c0 / o.G
    count = int(abs(rest) * (1.0 / PANEL)) + 1
    step = rest / count
    t = 0.25 * step / rate
    c = series(o.alpha * t * t, o.beta * t * t)
    mean = 0.0
    parity = 1.0 - 2.0 * (turns - 2.0 * floor(0.5 * turns))
    x1, y1, z1 = x, y, z
    for i in range(count + 1):
        v = per * ((i + 0.5) * step if i < count else rest)
        if hyperbolic:
            a = exp(v)
            b = 1.0 / a
            sv, cv = 0.5 * (a - b), 0.5 * (a + b)
            cos_2v = 1.0 + 2.0 * sv * sv
        else:
            sv, cv = half_sinc(4.0 * v * v)
            sv *= 2.0 * v
            cos_2v = 1.0 - 2.0 * sv * sv
        b = cos_2v * cos_2v
        A, B = A0 + b * (A2 + b * A4), cos_2v * (B0 + b * B2)
        C, D = C0 + b * (C2 + b * C4), cos_2v * (D0 + b * D2)
        sn, cn = sv * (A + B), cv * (A - B)
        dn = C + D
        if hyperbolic:
            a = 1.0 / cn
            cn = C - D
        else:
            a = 1.0 / (C - D)
        sn, cn, dn = to_s * sn * a * sign, to_c * cn * a, to_d * dn * a
        if i == count:
            sn *= parity
            cn *= parity
        a = 1.0 / (cn * cn + sn * sn * (o.p * x * x / o.M))
        s = sn / rate
        x1 = a * (x * dn - y * z * cn * s * o.w)
        y1 = a * (y * cn * dn + o.p * s * z * x)
        z1 = a * (z * cn - y * x * s * dn * o.r)
        if i < count:
            mean += mean_9(t, c, x1, y1, z1, o)
    d, rest = apart((x, y, z), *product(o.G / sqrt(x1 * x1 + y1 * y1 + z1 * z1), (x1, y1, z1)))
    return d, rest, (total + step * mean) / rate, windings - 2.0 * floor(0.5 * windings)


@helper
def ordinary(j, I, m, h):
    """``increment`` for a nonzero momentum and data that need no scaling."""
    first = I[0] > I[1]
    i0, i1 = ordered(first, I[0], I[1])
    j0, j1 = ordered(first, j[0], j[1])
    m0, m1 = exchanged(first, m[0], m[1])
    second = i1 > I[2]
    i1, i2 = ordered(second, i1, I[2])
    j1, j2 = ordered(second, j1, j[2])
    m1, m2 = exchanged(second, m1, m[2])
    third = i0 > i1
    i0, i1 = ordered(third, i0, i1)
    j0, j1 = ordered(third, j0, j1)
    m0, m1 = exchanged(third, m0, m1)
    low, high, p = (i1 - i0) * j0 * j1, (i2 - i1) * j1 * j2, (i2 - i0) * j0 * j2
    L = low * m0 * m0 - high * m2 * m2
    about_third = not L > 0.0
    r, w = ordered(about_third, low, high)
    x, z = exchanged(about_third, m0, m2)
    y = m1
    sign = 1.0 if x >= 0.0 else -1.0
    x = abs(x)
    G = sqrt(x * x + y * y + z * z)
    N, M = r * y * y + p * z * z, p * x * x + w * y * y
    alpha, beta = M * r, N * w
    o = Motion(G, r, w, p, M, alpha, beta, 0.0 if about_third else p * G, N if about_third else M)
    way = -sign if about_third else sign
    size = alpha * h * h
    if not size < inf:
        return (nan, nan, nan), (nan, nan, nan, nan)
    windings = 0.0
    if size <= PANEL * PANEL:
        if size <= SHORTEST * SHORTEST:
            d, rest, psi = shortest_turn(x, y, z, h, way, o)
        elif size <= SHORT * SHORT:
            d, rest, psi = short_turn_5(x, y, z, h, way, o)
        else:
            d, rest, psi = short_turn_9(x, y, z, h, way, o)
    else:
        d, rest, psi, windings = long_turn(x, y, z, h, way, min(1.0, p * abs(L) / alpha), o)
    d = add(d, restoring((x, y, z), d, rest, (N, -abs(L), -M), G * G))
    dx, dy, dz = d
    x1, y1, z1 = x + dx, y + dy, z + dz
    psi += h * j2 * G
    s, c = half_angle(psi)
    if windings == 1.0:
        s, c = c, -s
    s *= sign
    g, g1 = G + x, G + x1
    cross, along = z * dy - y * dz, z * z1 + y * y1
    n = 0.5 / (G * sqrt(g * g1))
    e0 = n * (c * (g * g1 + along) + s * cross)
    ex = n * (s * (g * g1 - along) + c * cross)
    ey = n * sign * (c * (g * dz - dx * z) + s * (g * y1 + g1 * y))
    ez = n * sign * (s * (g * z1 + g1 * z) - c * (g * dy - dx * y))
    dx *= sign
    dx, dz = restored(about_third, dx, dz)
    ex, ez = restored(about_third, ex, ez)
    dx, dy = restored(third, dx, dy)
    ex, ey = restored(third, ex, ey)
    dy, dz = restored(second, dy, dz)
    ey, ez = restored(second, ey, ez)
    dx, dy = restored(first, dx, dy)
    ex, ey = restored(first, ex, ey)
    return (dx, dy, dz), (e0, ex, ey, ez)


@inlined
def power_of_two(a):
    """The power of two that scales the largest of three numbers to 1/2 ... 1."""
    return ldexp(1.0, max(-1000, min(1000, -frexp(max(abs(a[0]), abs(a[1]), abs(a[2])))[1])))


@helper
def increment(j, I, m, h):
    """Change of the body angular momentum in a time h of free rotation, and the quaternion of the rotation.

    Both have small relative errors however short the time, so that increments can be summed without bias."""
    size = max(abs(m[0]), abs(m[1]), abs(m[2]))
    if size == 0.0:  # zeros, whose derivatives are those of a small momentum
        return scale(0.0, m), (1.0, 0.5 * h * j[0] * m[0], 0.5 * h * j[1] * m[1], 0.5 * h * j[2] * m[2])
    f = g = 1.0
    if not (SMALLEST < size < LARGEST and min(I[0], I[1], I[2]) > SMALLEST and max(I[0], I[1], I[2]) < LARGEST):
        f, g = power_of_two(m), power_of_two(I)
    dm, e = ordinary(scale(1.0 / g, j), scale(g, I), scale(f, m), h * (g / f))
    return scale(1.0 / f, dm), e


enter_rotation = hole("enter_rotation(i, dm, e, p) -> status", "The sums into the state.", default=sums.enter_rotation)


@inlined
def rotate_free(i, h, p):
    """Rotate body i for a time h; returns OK, or NOT_FINITE where the state or the angle is not finite."""
    a, b = slots.BODY * i, slots.CONSTANTS * i
    m = get3(p.y, a + slots.ANGULAR)
    j, I = get3(p.bodies, b + slots.INVERSE_INERTIA), get3(p.bodies, b + slots.INERTIA)
    angle = h * (abs(j[0] * m[0]) + abs(j[1] * m[1]) + abs(j[2] * m[2]))
    if 0.0 * angle != 0.0:
        return slots.NOT_FINITE
    dm, e = increment(j, I, m, h)
    return enter_rotation(i, dm, e, p)


rotate_free_compensated = inlined(bind(rotate_free, enter_rotation=sums.enter_rotation_compensated))
"""``rotate_free`` with compensated sums."""
