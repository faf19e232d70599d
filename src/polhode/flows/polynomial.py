"""Steps along the Taylor polynomial of all that moves, whose coefficients the role of the loads computes [jorba2005].

The coefficients of order k of the states are X_k, in powers of (time - t)/s with a scale s, and a step of f s is

    y(t + f s) = y(t) + sum over k = 1 ... K of X_k f^k,

after which quaternions are scaled to unit length; sums are compensated. Steps of one size have s = h and f = 1. Chosen
steps are as long as terms K - 2 and K - 1 allow: |X_k| f^k at most a quarter of the tolerance; so none is refused.
Their scale is a power of two, of the size of the last step: one of another size changes the exponents of coefficients
and no digit.

Where a condition (see ``programs.series_role``) changes its sign within a step, the step ends just beyond, where the
sign is clear of rounding, and the next one begins with the formulas that hold there. Signs are compared at eight places
of a step; what changes twice between two of them is not seen. Where formulas meet they may lack derivatives, and
coefficients are then but rounding: so chosen steps of such loads are made shorter until the derivative of the
polynomial at their end is that of the motion there.

``work``: scale, scale of the coefficients that are there, spare | coefficients | conditions | memory | SUMS sums.
"""

from __future__ import annotations

from math import inf, sqrt

from polhode.algebra.kepler import two_sum
from polhode.flows.sums import shortfall
from polhode.kernel import layout as L
from polhode.kernel.access import get4
from polhode.kernel.jit import helper, inlined, integers
from polhode.kernel.simd import fused, load4, spread, store4

# int coefficients: order | states | width of a row | conditions | where they begin | where sums are | where the
# table of a series is | its length | the table
ORDER, STATES, WIDTH, CONDITIONS, CONDITIONS_AT, SUMS, CODE_AT, LENGTH, CODE = 0, 1, 2, 3, 4, 5, 6, 7, 8
# work
SCALE, SCALED, SPARE, HEAD = 0, 1, 2, 16
SMALLEST_ORDER, LARGEST_ORDER = 2, 30
SUMS_ROWS = 5  # rows of the sums: the sum, its slope, and three of coefficients put aside
LARGEST_RATIO = 2.0**20
"""Largest step over the scale: beyond, coefficients may have been too small to be represented."""
DEFECT = 1e3  # largest error of the derivatives at the end of a step, times the step, over the tolerance
STUB, LONGER = 1e-12, 16.0
"""Change over size of what moves as far as a straight line is followed; doubled so often where it leads nowhere."""
INSIDE = 0.999  # where derivatives are compared in a step that ends where formulas change
LOOKS = 8  # places of a step at which the signs of conditions are compared
CLEAR = 8.0 * 2.0**-52
"""Part of the numbers it is the difference of that a condition must have to be clear of rounding."""
NEAREST = 1.5 * 2.0**52
SHARE = 0.25  # part of the tolerance that terms K - 2 and K - 1 may have: errors of steps add up
RESOLVED = 1e-15  # shortest step over the time
AT_ONCE, FEW_CUTS, MOST_CUTS = 1e-6, 30, 100
"""Part of a step that counts as none where loads change their formulas; how often that may happen in a row until a
straight line is followed, and until the run ends."""
MOST_PIECES = 1000  # most pieces of a step of one size
SMALLER, MOST_SCALES = 2.0**-16, 64
"""Factor on a scale at which coefficients are infinite, and how often it is tried."""


@inlined
def rough_log2(x, spare):
    """log2 of a positive number to 0.01; of 0 -1023 or less."""
    spare[SPARE] = x
    bits = integers(spare)[SPARE]
    integers(spare)[SPARE] = (bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000
    m = spare[SPARE]
    return float((bits >> 52) - 1023) - 1.6798 + m * (2.0246 - 0.3448 * m)


@inlined
def rough_exp2(x, spare):
    """2^x to 0.002, for -1000 < x < 1000; the nearest integer to x is in the last bits of x + NEAREST."""
    spare[SPARE] = x + NEAREST
    f = x - (spare[SPARE] - NEAREST)
    integers(spare)[SPARE] = (integers(spare)[SPARE] + 1023) << 52
    return spare[SPARE] * (1.0 + f * (0.6931 + f * (0.2402 + 0.0555 * f)))


@inlined
def power_below(x, spare):
    """The largest power of two that is at most x > 0."""
    spare[SPARE] = x
    integers(spare)[SPARE] = integers(spare)[SPARE] & 0x7FF0000000000000
    return spare[SPARE]


@inlined
def square3(r, k):
    """Squared length of three numbers."""
    return r[k] * r[k] + r[k + 1] * r[k + 1] + r[k + 2] * r[k + 2]


@inlined
def turning3(r, k, j):
    """The same of the rates that belong to three components of angular momentum; j: inverse moments."""
    x, y, z = r[k] * j[0], r[k + 1] * j[1], r[k + 2] * j[2]
    return x * x + y * y + z * z


@inlined
def larger(a, b):
    """The larger of two numbers, not a number where one is not."""
    return a if a > b else b if b >= a else a + b


@inlined
def share(x, allowed):
    """The square of a number over what it may be; nothing where it is nothing."""
    part = x / allowed if x != 0.0 else 0.0
    return part * part


@helper
def last_two(k, p):
    """Largest squared ratio of coefficient k - 1 of a body to its tolerance, and of coefficient k; nan if one is.

    Those of attitudes count as angles (rad) and have the relative tolerance; those of positions, velocities and angular
    velocities have the absolute one and the relative one times the size of the vector. Of the auxiliary variables those
    that loads read count, each with its value and its change in a scale as its size.
    """
    relative, absolute = SHARE * p.step_info[L.RELATIVE], SHARE * p.step_info[L.ABSOLUTE]
    width, r = p.int_coefficients[WIDTH], p.work
    a, b = HEAD + width * (k - 1), HEAD + width * k
    s, before, last = HEAD, 0.0, 0.0
    for block in range(p.B):
        if p.blocks[2 * block + 1] == L.ROTATION:
            c = L.CONSTANTS * p.blocks[2 * block] + L.INVERSE_INERTIA
            j = (p.bodies[c], p.bodies[c + 1], p.bodies[c + 2])
            allowed = absolute + relative * sqrt(turning3(r, s, j))
            allowed = 1.0 / (allowed * allowed)
            angle = 4.0 / (relative * relative)
            before = larger(before, turning3(r, a, j) * allowed + (square3(r, a + 3) + r[a + 6] * r[a + 6]) * angle)
            last = larger(last, turning3(r, b, j) * allowed + (square3(r, b + 3) + r[b + 6] * r[b + 6]) * angle)
            s, a, b = s + 7, a + 7, b + 7
        else:
            allowed = absolute + relative * sqrt(square3(r, s))
            allowed = 1.0 / (allowed * allowed)
            speed = absolute + relative * sqrt(square3(r, s + 3))
            speed = 1.0 / (speed * speed)
            before = larger(before, square3(r, a) * allowed + square3(r, a + 3) * speed)
            last = larger(last, square3(r, b) * allowed + square3(r, b + 3) * speed)
            s, a, b = s + 6, a + 6, b + 6
    for n in range(int(p.step_info[L.READ_FROM]), p.S):
        allowed = absolute + relative * (abs(r[s + n]) + abs(r[s + n + width]))
        before = larger(before, share(r[a + n], allowed))
        last = larger(last, share(r[b + n], allowed))
    return before, last


@helper
def increments(f, K, p):
    """Write the sum of X_k f^k over k = 1 ... K to ``work``: every fourth order in a sum of its own."""
    width, sums, r = p.int_coefficients[WIDTH], p.int_coefficients[SUMS], p.work
    top, one, four = K - K % 4, spread(f), spread(f * f * (f * f))
    for g in range(0, p.int_coefficients[STATES], 4):
        a, first = spread(0.0), HEAD + width * top + g
        for k in range(K, top, -1):
            a = fused(a, one, load4(r, HEAD + width * k + g))
        a = one * a
        if top > 0:
            a, b = a + load4(r, first), load4(r, first - width)
            c, d = load4(r, first - 2 * width), load4(r, first - 3 * width)
            for order in range(top - 4, 0, -4):
                k = HEAD + width * order + g
                a, b = fused(a, four, load4(r, k)), fused(b, four, load4(r, k - width))
                c, d = fused(c, four, load4(r, k - 2 * width)), fused(d, four, load4(r, k - 3 * width))
            a = one * fused(fused(fused(a, one, b), one, c), one, d)
        store4(r, sums + g, a)


@inlined
def entered(at, x, begin, y, p):
    """Write number ``at`` of a state plus x to the state y, compensated."""
    c = int(p.step_info[L.COMPENSATION_AT]) + at
    y[at], y[c] = two_sum(begin[at], begin[c] + x)


@inlined
def added(begin, y, p):
    """Write a state plus the sum to another, compensated; quaternions are scaled to unit length. Returns the sum of all
    changes."""
    r, s, x = p.work, p.int_coefficients[SUMS], 0.0
    for k in range(p.B):
        i = p.blocks[2 * k]
        a = L.BODY * i
        if p.blocks[2 * k + 1] == L.ROTATION:
            for c in range(3):
                entered(a + L.ANGULAR + c, r[s + c], begin, y, p)
            a += L.ATTITUDE
            q, d = get4(begin, a), get4(begin, int(p.step_info[L.COMPENSATION_AT]) + a)
            d = (d[0] + r[s + 3], d[1] + r[s + 4], d[2] + r[s + 5], d[3] + r[s + 6])
            # longer: the square of the length after the step, minus 1
            longer = 2.0 * (q[0] * d[0] + q[1] * d[1] + q[2] * d[2] + q[3] * d[3] - shortfall(q)) + (
                d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]
            )
            size = sqrt(1.0 + longer)
            f = -longer / (size * (1.0 + size))
            for c in range(4):
                entered(a + c, r[s + 3 + c] + f * (q[c] + d[c]), begin, y, p)
            x += r[s] + r[s + 1] + r[s + 2] + f
            s += 7
        else:
            mass = p.bodies[L.CONSTANTS * i + L.MASS]
            for c in range(3):
                entered(a + L.POSITION + c, r[s + c], begin, y, p)
                entered(a + L.MOMENTUM + c, mass * r[s + 3 + c], begin, y, p)
                x += r[s + c] + r[s + 3 + c]
            s += 6
    for k in range(L.BODY * p.N, L.BODY * p.N + p.S):
        entered(k, r[s], begin, y, p)
        x += r[s]
        s += 1
    return x


@helper
def condition(c, f, K, p):
    """Condition c at f scales from the start; of its series the term of order K is not known."""
    n, at = p.int_coefficients[CONDITIONS], p.int_coefficients[CONDITIONS_AT] + c
    x = p.work[at + n * (K - 1)]
    for k in range(K - 2, -1, -1):
        x = x * f + p.work[at + n * k]
    return x


@inlined
def changed(x, below, clear):
    """Whether a condition that was below zero, or not, is clearly not so any more."""
    return x > clear if below else x < -clear


@helper
def unchanged(f, K, p):
    """How far up to f all conditions keep their signs, or to where one has clearly changed."""
    n, at = p.int_coefficients[CONDITIONS], p.int_coefficients[CONDITIONS_AT]
    whole = f
    for c in range(n):
        below = p.work[at + c] < 0.0
        clear = CLEAR * (p.work[at + n * LARGEST_ORDER + c] + abs(p.work[at + n + c] * whole))
        last = 0.0
        for k in range(1, LOOKS + 1):
            x = min(whole * k / LOOKS, f)
            if changed(condition(c, x, K, p), below, clear):
                for _ in range(60):
                    middle = 0.5 * (last + x)
                    if changed(condition(c, middle, K, p), below, clear):
                        x = middle
                    else:
                        last = middle
                f = x
                break
            last = x
            if x == f:
                break
    return f


@helper
def defect(f, t, K, p):
    """The square of the error of the derivatives at f, which is at time t, times the step, over the tolerance."""
    width, r, first = p.int_coefficients[WIDTH], p.work, p.int_coefficients[SUMS]
    slope, kept = first + width, first + 2 * width
    increments(f, K, p)
    added(p.y, p.stage_state, p)
    for g in range(0, width, 4):
        x = spread(0.0)
        for k in range(K, 0, -1):
            x = fused(x, spread(f), float(k) * load4(r, HEAD + width * k + g))
        store4(r, slope + g, x)
    for g in range(0, 3 * width, 4):
        store4(r, kept + g, load4(r, HEAD + g))
    p.loads(2, t, p.N, p.stage_state, p.bodies, p.parameters, r)
    for g in range(0, width, 4):
        store4(r, HEAD + 2 * width + g, load4(r, HEAD + width + g) - load4(r, slope + g))
    _, error = last_two(2, p)
    for g in range(0, 3 * width, 4):
        store4(r, HEAD + g, load4(r, kept + g))
    return error * f * f


@helper
def past(t, scale, K, p):
    """How far to follow a straight line where the polynomial is of no use though the loads are finite; 0: no way on."""
    r, width = p.work, p.int_coefficients[WIDTH]
    r[SCALE] = scale
    p.loads(2, t, p.N, p.y, p.bodies, p.parameters, r)
    p.step_info[L.CUTS] += 1.0
    _, first = last_two(1, p)
    if not (first < inf and p.step_info[L.CUTS] <= MOST_CUTS):
        return 0.0
    for n in range(HEAD + 2 * width, HEAD + (K + 1) * width):
        r[n] = 0.0
    change = SHARE * p.step_info[L.RELATIVE] * sqrt(first)
    return max(STUB * 2.0 ** min(p.step_info[L.CUTS], LONGER) / change, 4.0 * RESOLVED * abs(t / scale))


@helper
def looked_after(f, size, t, K, p):
    """How far to follow a polynomial of loads that choose between formulas, at most to f; ``size``: by coefficients."""
    whole, scale = f, p.work[SCALED]
    f = min(max(unchanged(f, K, p), RESOLVED * max(f, abs(t / scale))), whole)
    if f > AT_ONCE * size:
        p.step_info[L.CUTS] = 0.0
    elif f < whole:
        p.step_info[L.CUTS] += 1.0
    if p.step_info[L.CUTS] > FEW_CUTS:
        return 0.0
    inside = f if f == whole else INSIDE * f
    while inside > 4.0 * RESOLVED * max(whole, abs(t / scale)):
        if defect(inside, t + inside * scale, K, p) <= DEFECT * DEFECT:
            return f
        f = inside = 0.25 * inside
        p.step_info[L.SCALE] = power_below(f * abs(scale), p.work)
    p.step_info[L.SCALE] = power_below(whole * abs(scale), p.work)
    return 0.0


def taylor_step(t, h, p):
    """A step of h, or the first part of it that the tolerance allows; NEXT_TIME becomes the time at its end."""
    K, r = p.int_coefficients[ORDER], p.work
    p.step_info[L.LOADED] = 0.0
    if p.int_coefficients[LENGTH] > 0 and integers(r)[p.int_coefficients[CODE_AT]] == 0:
        for k in range(p.int_coefficients[LENGTH]):
            integers(r)[p.int_coefficients[CODE_AT] + k] = p.int_coefficients[CODE + k]
    if p.step_info[L.RELATIVE] > 0.0:
        if p.step_info[L.SCALE] == 0.0:
            p.step_info[L.SCALE] = power_below(abs(h), r)
        scale = p.step_info[L.SCALE] if h > 0.0 else -p.step_info[L.SCALE]
        f, large, k = 0.0, inf, max(K - 1, SMALLEST_ORDER)  # known while the last ones are computed
        r[SCALE] = scale
        for _ in range(MOST_SCALES):
            p.loads(K, t, p.N, p.y, p.bodies, p.parameters, r)
            p.step_info[L.EVALUATIONS] += 1.0
            before, last = last_two(k, p)
            large = before + last
            if large < inf:
                break
            r[SCALE] *= SMALLER
        if large < inf:
            r[SCALED], parts = r[SCALE], 1.0 / r[SCALE]
            exponent = max(rough_log2(before, r) * (0.5 / (k - 1)), rough_log2(last, r) * (0.5 / k))
            size = min(rough_exp2(-exponent, r), LARGEST_RATIO) if exponent > -40.0 else LARGEST_RATIO
            f = min(size, h * parts)
            p.step_info[L.SCALE] = power_below(f * abs(r[SCALED]), r)
            if p.int_coefficients[CONDITIONS] > 0:
                f = looked_after(f, size, t, K, p)
        if f == 0.0:
            scale = p.step_info[L.SCALE] if h > 0.0 else -p.step_info[L.SCALE]
            r[SCALED], parts = scale, 1.0 / scale
            f = min(past(t, scale, K, p), h * parts)
            if f == 0.0:
                return L.TOO_SMALL if large < inf else L.NOT_FINITE
        if f < h * parts:
            after = t + f * r[SCALED]
            f = (after - t) * parts
            if f == 0.0:
                return L.TOO_SMALL
            p.step_info[L.NEXT_TIME] = after
        return land(f, K, p)
    left = h
    for piece in range(MOST_PIECES):
        r[SCALE] = r[SCALED] = left
        p.loads(K, t, p.N, p.y, p.bodies, p.parameters, r)
        p.step_info[L.EVALUATIONS] += 1.0
        if p.int_coefficients[CONDITIONS] == 0:
            return land(1.0, K, p)
        f = max(unchanged(1.0, K, p), RESOLVED)
        status = land(f, K, p)
        if f == 1.0 or status != L.OK:
            return status
        p.step_info[L.ITERATIONS] = piece + 1.0
        t += f * left
        left -= f * left
    return L.NOT_CONVERGED


@helper
def land(f, K, p):
    """Take the state to f scales from the start; NOT_FINITE where it is not finite."""
    increments(f, K, p)
    return L.OK if 0.0 * added(p.y, p.y, p) == 0.0 else L.NOT_FINITE


def polynomial_state(begin, theta, t, h, out, p):
    """Write the state at t + theta h to ``out``, by the coefficients of the step from ``begin`` at time t."""
    increments(theta * h / p.work[SCALED], p.int_coefficients[ORDER], p)
    added(begin, out, p)
    return L.OK
