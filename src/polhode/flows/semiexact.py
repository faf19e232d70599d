"""Free rotation with the momentum exact and the angle of the attitude by quadrature [celledoni2008, sec. 3.1].

The integral of the third kind of ``elliptic_forms`` is replaced by a quadrature rule, everything else is the same. So
the flow keeps the energy and Q m to round-off at any step, is time-symmetric, and its error is a rotation about the
momentum only.

``semiexact(nodes, form)``
    Gauss-Legendre in the amplitude: the sum of b_i / ((1 - n sin^2) sqrt(1 - m sin^2)) at phi0 + a_i dphi
    [celledoni2008, eq. 3.1]; order 2 * nodes for any number of nodes >= 1 (the paper has 3, 4 and 5).
``hermite(derivatives, form)``
    In the argument u: the integral of the polynomial that agrees with 1/(1 - n sn^2) and its first derivatives at both
    ends [vanzon2007b]; order 2 * derivatives + 2. No function is evaluated inside the step.

``form`` selects frame, psi and how the attitude is computed, as in ``elliptic_forms``, with the same limits: "matrix"
(``turn_matrix``) or "quaternion" (``turn_kosenko``). Whole half periods of a long step are integrated exactly, so that
the rule covers less than one: where a half turn is in range, every step is. The paper has no such reduction: with
``half_turns="as_printed"`` one rule spans the whole step, exactly as (3.1), which is the same in steps of less than
half a turn of the amplitude, and far less accurate in longer ones.

Near the separatrix the integrand is peaked, and for thin rods the momentum circles many times while the body rotates
little: the order is then seen for small steps only, and steps of half a radian may be off by 3 rad. For h omega <= 1
the error of five nodes is 2e-16 in the median and less than 4e-9 for 99 of 100 ordinary, flat and nearly symmetric
bodies, that of ten nodes less than 7e-16 (bodies as in ``elliptic_forms``).

Two things differ from the closed forms, both to reduce round-off. The momentum is advanced by the addition theorems,
without recovering a phase, and in small steps as an increment. The amplitudes at both ends are never computed, only the
angle between them, which stays accurate close to the unstable axis, where the cosine of the amplitude is tiny.

The range of a guarded step follows from the singularities of the rate of psi in the complex plane. It has poles of
residue 1/2: in the amplitude at i artanh(s), with s^2 = M/(p G^2) in case (i) and r/p in case (ii), for the matrix form
at pi/2 + i artanh(k' s) with s^2 = r/p; in the argument at i F(arcsin s, k'), for the matrix form shifted by K; all
repeated by half turns. In the amplitude there is also a branch point, pi/2 + i artanh(k'). A pole at the height y above
the middle, in units of half the length of the step, causes an error of Gauss's rule of
2 pi (y + sqrt(1 + y^2))^-(2 nodes + 1) (its error for 1/(z - x) is 2 Q(z)/P(z) with Legendre's functions; this is the
limit of many nodes), the branch point as much times the factor of its root; for Hermite's rule with k values at each
end, the error is the integral of (1 - x^2)^k over y (1 + y^2)^k. The sum for the worst step of the motion, without
whole half turns, must be at most LARGEST_ERROR. Only the step and constants of the motion enter, so that in a free
motion all steps are in range or none. Where a step is out of range, so are all larger ones: that some leave only a
short remainder after whole half turns is not used.

Legend: as in ``elliptic_forms``; ``S, C, D`` are sn, cn, dn of lam h; ``a, b`` nodes and weights on -1/2 ... 1/2.
"""

from __future__ import annotations

import functools
from math import asinh, atan, atan2, comb, cos, exp, factorial, floor, gamma, inf, log, pi, sin, sinh, sqrt, tan
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.elliptic import F_part, K_kernel, Pi_complete_kernel, jacobi_kernel
from polhode.algebra.so3 import add, dot
from polhode.errors import InvalidInput, unknown_name
from polhode.flows.elliptic_forms import Arc, by_matrix, by_quaternion, orbit_of, slopes, smallest, sort, stays
from polhode.flows.invariants import apart, product, restoring
from polhode.kernel import jit
from polhode.kernel.jit import inlined

# The momentum.


@inlined
def by_addition(o, h):
    """The arc by the addition theorems, from elliptic functions of lam h only."""
    lam = sqrt(o.M * o.r)
    mc = min(o.p * o.L / (o.M * o.r), 1.0)
    S, C, D, phi = jacobi_kernel(lam * h, mc)
    over = S * S * o.w * o.y * o.y / o.M
    wz, py, rz = S * o.w / lam, S * o.p / lam, S * sqrt(o.r / o.M)
    start = (o.x, o.y, o.z)
    c, square = slopes(start, o)
    if phi * phi < 1.0:
        near_c, near_d = S * S / (1.0 + C), o.w * o.N / (o.r * o.M) * S * S / (1.0 + D)  # 1 - C, 1 - D
        d, rest = product(1.0 / (1.0 - over), (
            o.x * (over - near_d) - o.y * o.z * C * wz,
            o.y * (over - near_c - C * near_d) + py * o.z * o.x,
            o.z * (over - near_c) - o.y * o.x * D * rz,
        ))  # fmt: skip
    else:
        f = 1.0 / (C * C + S * S * o.p * o.x * o.x / o.M)
        end = (
            f * (o.x * D - o.y * o.z * C * wz), f * (o.y * C * D + py * o.z * o.x), f * (o.z * C - o.y * o.x * D * rz)
        )  # fmt: skip
        d, rest = apart(start, *product(sqrt(square / dot(end, end)), end))
    d = add(d, restoring(start, d, rest, c, square))
    x, y, z = add(start, d)
    dy, dz = d[1], d[2]
    ry, pz = sqrt(o.r / o.N), sqrt(o.p / o.N)
    s0, c0, s1, c1 = o.y * ry, o.z * pz, y * ry, z * pz
    # The amplitude changes by am(lam h) to within less than a half turn; the angle between both ends fixes the rest.
    turned = atan2((dy * o.z - dz * o.y) * ry * pz, c1 * c0 + s1 * s0)
    turned = turned + 2.0 * pi * floor((phi - turned) / (2.0 * pi) + 0.5)
    m = (x, y, z) if o.around_1 else (z, y, x)
    return Arc(s0, c0, s1, c1, turned, m, lam * h, lam, mc)


# The integral of the third kind along an arc.


HALF_NODES = jit.hole("HALF_NODES", "Positive nodes of a Gauss rule on -1/2 ... 1/2.")
HALF_WEIGHTS = jit.hole("HALF_WEIGHTS", "Weights of these nodes.")
MID_WEIGHT = jit.hole("MID_WEIGHT", "Weight of the middle.")
REDUCED = jit.hole("REDUCED", "Whether whole half turns are integrated exactly.", default=True)


@inlined
def by_gauss(a, nc):
    """Gauss-Legendre rule between the amplitudes of both ends, nodes in pairs about the middle.

    [celledoni2008, eq. 3.1]; where REDUCED, whole half turns are integrated exactly.
    """
    j = int(a.turned / pi) if REDUCED and a.mc > 0.0 else 0
    width = a.turned - j * pi
    sb, cb = sin(0.5 * width), cos(0.5 * width)
    s, c = a.s0 * cb + a.c0 * sb, a.c0 * cb - a.s0 * sb
    s2, c2 = s * s, c * c
    total = MID_WEIGHT / ((c2 + nc * s2) * sqrt(c2 + a.mc * s2))
    for i in range(len(HALF_NODES)):
        sb, cb = sin(HALF_NODES[i] * width), cos(HALF_NODES[i] * width)
        right, left = s * cb + c * sb, s * cb - c * sb
        s2, t2 = right * right, left * left
        right, left = c * cb - s * sb, c * cb + s * sb
        c2, d2 = right * right, left * left
        pair = 1.0 / ((c2 + nc * s2) * sqrt(c2 + a.mc * s2)) + 1.0 / ((d2 + nc * t2) * sqrt(d2 + a.mc * t2))
        total = total + HALF_WEIGHTS[i] * pair
    total = width * total
    return total if j == 0 else total + 2.0 * j * Pi_complete_kernel(nc, a.mc)


WEIGHTS = jit.hole("WEIGHTS", "Weights of a Hermite rule, four.")


@inlined
def derivatives_of(s, c, nc, mc):
    """1/(1 - n sn^2) and its first three derivatives in u, by those of y = sn^2: y'^2 = 4 y (1 - y)(1 - m y)."""
    y, v, n, m = s * s, c * c, 1.0 - nc, 1.0 - mc
    d2 = v + mc * y
    f = 1.0 / (v + nc * y)
    y1 = 2.0 * s * c * sqrt(d2)
    y2 = 2.0 * (v * d2 - y * d2 - m * y * v)
    y3 = (12.0 * m * y - 4.0 * (1.0 + m)) * y1
    g = n * f
    f1 = f * g * y1
    f2 = f * g * (2.0 * g * y1 * y1 + y2)
    f3 = f * g * (6.0 * g * g * y1 * y1 * y1 + 6.0 * g * y1 * y2 + y3)
    return f, f1, f2, f3


@inlined
def by_hermite(a, nc):
    """Two-point Hermite rule: h c0 (f0 + f1) + h^2 c1 (f0' - f1') + h^3 c2 (f0'' + f1'') + ..., h the length in u."""
    j = int(a.turned / pi) if a.mc > 0.0 else 0
    h = a.u if j == 0 else a.u - 2.0 * j * K_kernel(a.mc)
    f, g = derivatives_of(a.s0, a.c0, nc, a.mc), derivatives_of(a.s1, a.c1, nc, a.mc)
    low = WEIGHTS[0] * (f[0] + g[0]) + h * WEIGHTS[1] * (f[1] - g[1])
    total = h * (low + h * h * (WEIGHTS[2] * (f[2] + g[2]) + h * WEIGHTS[3] * (f[3] - g[3])))
    return total if j == 0 else total + 2.0 * j * Pi_complete_kernel(nc, a.mc)


# The range, see the module.

LARGEST_ERROR = 0.05
"""Largest error (rad) of the rule in a guarded step, by the bound. Of 24,000 steps of 0.01 to 100 rad (general, flat,
nearly symmetric and nearly spherical bodies and rods down to 1e-6; a quarter of the momenta close to the separatrix),
each from 19 points of the motion, none in range was off by more than 0.0502. Of the steps out of range, 2 in 100 of
those of less than a half turn of the momentum (matrix form: 16; a single node: 5, in matrix form 24) and 1 in 3 of the
longer ones (1 in 2) were off by no more than that from every point."""

LEAST = 1e-100
"""Least k' = sqrt(mc) used: below, distances from a quarter turn are proportional to k', which cancels."""


@inlined
def pole_of_quaternion(o, G, lam):
    """Squares of the pole's s and of sqrt(1 - s^2), and the factor of the branch point."""
    if o.around_1:
        square = o.p * G * G
        return o.M / square, o.N / square, o.w * G / lam
    return o.r / o.p, o.w / o.p, o.N / (G * lam)


@inlined
def pole_of_matrix(o, G, lam):
    """As ``pole_of_quaternion``; where r and p are close, branch point and pole are, too, and the factor is limited."""
    return o.r / o.p, o.w / o.p, min(o.N / (G * lam), 0.5 * pi * sqrt(o.N / o.p) / G)


pole = jit.hole("pole(o, G, lam) -> 3-tuple", "The pole of the integrand, as ``pole_of_quaternion`` gives it.")
AT_QUARTER_TURN = jit.hole("AT_QUARTER_TURN", "Whether the pole is above the amplitude pi/2, not 0.")
DOUBLED = jit.hole("DOUBLED", "2 * nodes + 1.")


@inlined
def over(a, b):
    """a/b, infinite for b = 0."""
    return a / b if b > 0.0 else inf


@inlined
def missed_by_gauss(u, o, G, lam, mc):
    """Bound of the error (rad) of Gauss-Legendre in the worst step of length u of a motion."""
    v = 0.5 * abs(u)
    if REDUCED:
        v = min(v, K_kernel(mc))
    k = max(sqrt(mc), LEAST)
    s, c, _, wide = jacobi_kernel(v, mc)  # wide, late: half the change of amplitude about 0 and pi/2
    late = atan2(k * s, c)
    late = late + 2.0 * pi * floor((wide - late) / (2.0 * pi) + 0.5)
    square, rest, strength = pole(o, G, lam)
    if AT_QUARTER_TURN:
        y = asinh(over(k * sqrt(square * o.M), sqrt(o.w) * G)) / late
    else:
        y = asinh(over(sqrt(square), sqrt(rest))) / wide
    z = asinh(over(k, sqrt(min(o.w * o.N / (o.M * o.r), 1.0)))) / late
    whole = 1.0 + (0.0 if REDUCED else max(wide, late) / pi)  # in a step of many half turns there are as many poles
    return 2.0 * pi * whole * (exp(-DOUBLED * asinh(y)) + strength * exp(-DOUBLED * asinh(z)))


AREA = jit.hole("AREA", "Integral of (1 - x^2)^VALUES from -1 to 1.")
VALUES = jit.hole("VALUES", "Number of derivatives, and 1.")


@inlined
def missed_by_hermite(u, o, G, lam, mc):
    """Bound of the error (rad) of Hermite's rule in the worst step of length u of a motion."""
    v = min(0.5 * abs(u), K_kernel(mc))
    square, rest, _ = pole(o, G, lam)
    m = min(o.w * o.N / (o.M * o.r), 1.0)
    low = F_part(min(sqrt(square), 1.0), sqrt(rest), m)
    high = 2.0 * K_kernel(m) - low if low < inf else inf
    total = 0.0
    for y in (low / v, high / v):
        total = total + min(pi, AREA / y) * (1.0 + y * y) ** -VALUES
    return total


missed = jit.hole("missed(u, o, G, lam, mc) -> float", "The bound of the error.")
CLEAR = jit.hole("CLEAR", "Largest squared ratio of step to distance of the pole that is in range.")
WEAK = jit.hole("WEAK", "Largest factor of the branch point that is, too.", default=inf)


@inlined
def within(o, a, G, h):
    """Whether a step is in range.

    Two inequalities decide most cases: the imaginary time to the pole is at least s/lam.
    """
    by_first = o.around_1 and not AT_QUARTER_TURN
    x, strength = (o.r * G * G, o.w * G) if by_first else (o.M, o.N / G)
    if o.p * x * h * h <= CLEAR and strength * abs(h) <= WEAK:
        return True
    return missed(a.u, o, G, a.lam, a.mc) <= LARGEST_ERROR


# Coefficients of the rules, computed on demand.


@functools.cache
def gauss_legendre(nodes):
    """(positive nodes on 0 ... 1/2, their weights, weight of the middle) for the interval -1/2 ... 1/2.

    NumPy's nodes, refined by Newton's method in extended precision: for 3, 4, 5 nodes they agree with printed tables to
    the last digit.
    """
    x = np.polynomial.legendre.leggauss(nodes)[0].astype(np.longdouble)
    for _ in range(3):
        p, before = x, np.ones_like(x)
        for k in range(2, nodes + 1):
            p, before = ((2 * k - 1) * x * p - (k - 1) * before) / k, p
        slope = nodes * (x * p - before) / (x * x - 1)
        x = x - p / slope
    b = 1 / ((1 - x * x) * slope * slope)
    half = [(float(node / 2), float(weight)) for node, weight in zip(x, b, strict=True)][(nodes + 1) // 2 :]
    return tuple(a for a, _ in half), tuple(w for _, w in half), float(b[nodes // 2]) if nodes % 2 else 0.0


HALF_TURNS = ("exact", "as_printed")
ASSEMBLIES = {"matrix": (by_matrix, {}), "quaternion": (by_quaternion, {"frame": smallest})}
POLES = {"matrix": (pole_of_matrix, True), "quaternion": (pole_of_quaternion, False)}


class Rule(NamedTuple):
    """A quadrature rule for the angle, and the check whether a step is in its range."""

    third_kind: Any
    in_range: Any


def _rule(form, third_kind, bound, far, doubled=0.0, **values):
    """The rule ``third_kind`` with its range check in a form.

    ``far``: distance of a pole, in half steps, at which the bound is half of LARGEST_ERROR.
    """
    if form not in ASSEMBLIES:
        raise unknown_name("form of the attitude", form, ASSEMBLIES)
    at, quarter = POLES[form]
    values = {"pole": at, **values}
    limits = {"AT_QUARTER_TURN": quarter}
    if doubled:
        values |= {"DOUBLED": doubled, "AT_QUARTER_TURN": quarter}
        # sc v <= tan v: for lam h <= 2 s/far both bounds stay below half of LARGEST_ERROR.
        far = max(1.0, 1.0 / atan(1.0 / far) if quarter else far)
        limits["WEAK"] = LARGEST_ERROR / (2.0 * pi * far * tan(0.5 / far) ** doubled)
    limits["CLEAR"] = 4.0 / (far * far)
    in_range = jit.bind(within, missed=inlined(jit.bind(bound, **values)), **limits)
    return Rule(third_kind, inlined(in_range))


def _turn(form, rule):
    template, values = ASSEMBLIES[form]
    return jit.bind(template, motion=by_addition, third_kind=rule.third_kind, in_range=rule.in_range, **values)


@functools.cache
def gauss_rule(nodes, form, half_turns):
    """The ``Rule`` of ``semiexact``."""
    if half_turns not in HALF_TURNS:
        raise unknown_name("treatment of half turns", half_turns, HALF_TURNS)
    if not (isinstance(nodes, int) and 1 <= nodes <= 64):
        raise InvalidInput(f"the number of nodes is a whole number from 1 to 64, got {nodes!r}")
    a, b, middle = gauss_legendre(nodes)
    values = {"HALF_NODES": a or (0.5,), "HALF_WEIGHTS": b or (0.0,), "MID_WEIGHT": middle}
    reduced = {} if half_turns == "exact" else {"REDUCED": False}
    doubled = 2.0 * nodes + 1.0
    far = sinh(log(5.6 * pi / LARGEST_ERROR) / doubled)  # 2.8 pi: with the further poles of a step as printed
    return _rule(form, jit.bind(by_gauss, **values, **reduced), missed_by_gauss, far, doubled, **reduced)


@functools.cache
def hermite_rule(derivatives, form):
    """The ``Rule`` of ``hermite``."""
    if derivatives not in (1, 2, 3):
        raise InvalidInput(f"the number of derivatives is 1, 2 or 3, got {derivatives!r}")
    k = derivatives + 1
    c = [factorial(2 * k - j) * comb(k, j) / factorial(2 * k) for j in range(1, k + 1)]
    area = sqrt(pi) * gamma(k + 1.0) / gamma(k + 1.5)  # of (1 - x^2)^k from -1 to 1
    far = (2.0 * area / LARGEST_ERROR) ** (1.0 / (2 * k + 1))
    return _rule(form, jit.bind(by_hermite, WEIGHTS=tuple(c + [0.0] * (4 - k))), missed_by_hermite, far,
                 AREA=area, VALUES=float(k))  # fmt: skip


@functools.cache
def semiexact(nodes, form="quaternion", half_turns="exact"):
    """The flow ``rotate_free(i, h, p)`` whose angle comes from Gauss-Legendre quadrature with ``nodes`` nodes.

    Order 2 * nodes: the error of the angle of a step is O(h^(2 nodes + 1)). See the module for ``form`` and
    ``half_turns``, which is "exact" or "as_printed". A guarded step out of range returns TOO_LARGE.
    """
    return _turn(form, gauss_rule(nodes, form, half_turns))


@functools.cache
def hermite(derivatives=1, form="quaternion"):
    """The flow whose angle comes from the two-point Hermite rule with 1, 2 or 3 derivatives.

    Order 2 * derivatives + 2: the error of the angle of a step is O(h^(2 derivatives + 3)). A guarded step out of range
    returns TOO_LARGE.
    """
    return _turn(form, hermite_rule(derivatives, form))


def largest_step(rule, m, j):
    """The largest step from a state such that all smaller ones are in the range of a rule."""
    j = tuple(map(float, j))
    if not all(x > 0.0 for x in j):
        return inf
    m, moments, _ = sort(tuple(map(float, m)), tuple(1.0 / x for x in j))
    o = orbit_of(m, moments)
    if stays(o):
        return inf
    G, lam = sqrt(dot(m, m)), sqrt(o.M * o.r)
    mc = min(o.p * o.L / (o.M * o.r), 1.0)

    def accepted(u):
        return rule.in_range(o, Arc(0.0, 1.0, 0.0, 1.0, 0.0, m, u, lam, mc), G, u / lam)

    low, high = 1e-6, 1e9
    if accepted(high):
        return inf
    while not accepted(low):
        low, high = 0.1 * low, low
    while high > 1.001 * low:
        middle = sqrt(low * high)
        low, high = (middle, high) if accepted(middle) else (low, middle)
    return low / lam
