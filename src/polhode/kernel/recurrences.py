"""The recurrences of Taylor series by a table of integers, order by order.

Series stand in slots: the states, the time, 1, and behind them those that rules make. Rules of one kind that do not
wait for each other are made eight at a time. A row of the table is such a block,

    kind, first slot of the results, where they are remembered (0: nowhere), two numbers of its kind | slots of operands

Factors of products are remembered, eight of one order after those of the order before, and summed over in lanes.
Operands that stand one after the other are loaded at once: their first slot has a minus. Blocks are made one after
another as each is needed, so that what they read is still at hand.
"""

from __future__ import annotations

from math import cos, exp, log, sin

from polhode.kernel.jit import helper, inlined, integers
from polhode.kernel.simd import eight, four, fused, load8, roots, spread8, store8

HEAD, SCALE, LARGEST_ORDER = 16, 0, 30
"""Numbers before the coefficients, of which the first is the scale; the largest order."""
SUM, PRODUCT, SQUARE, QUOTIENT, POWER, SCALED, SLOPE, STEADY, INTEGRAL, KEPT, END = range(11)
TIMES, PLUS, OVER, COPIED, OF_STATE, OF_BODIES, OF_PARAMETERS = range(7)
FUNCTIONS = ("exp", "sin", "cos", "log")
HEADER, RECORD = 5, 8 * (LARGEST_ORDER + 1)
"""Numbers before the slots of a block, and those that it remembers of eight factors."""


@inlined
def gathered(x, code, k):
    """Eight numbers at the places that a table has from k on."""
    if code[k] < 0:
        return load8(x, -code[k])
    a = four(x[code[k]], x[code[k + 1]], x[code[k + 2]], x[code[k + 3]])
    return eight(a, four(x[code[k + 4]], x[code[k + 5]], x[code[k + 6]], x[code[k + 7]]))


@inlined
def convolved(x, a, b, first, k):
    """The sum over j = first ... k of a_j b_(k-j), of factors that are remembered at a and b."""
    s, c = spread8(0.0), spread8(0.0)
    for j in range(first, k, 2):
        s = fused(load8(x, a + 8 * j), load8(x, b + 8 * (k - j)), s)
        c = fused(load8(x, a + 8 * j + 8), load8(x, b + 8 * (k - j) - 8), c)
    if (k - first) % 2 == 0:
        s = fused(load8(x, a + 8 * k), load8(x, b), s)
    return s + c


@inlined
def function_of(which, x):
    """One of FUNCTIONS."""
    if which == 0:
        return exp(x)
    if which == 1:
        return sin(x)
    return cos(x) if which == 2 else log(x)


@inlined
def power_of(x, code, k, exponents, halves, to):
    """Powers of eight numbers, with exponents of so many halves, or, of 0, those that stand there."""
    base = gathered(x, code, k)
    if halves == 0:
        store8(x, to, base)
        for i in range(8):
            x[to + i] = x[to + i] ** x[exponents + i]
        return load8(x, to)
    base = 1.0 / base if halves < 0 else base
    made = roots(base) if halves % 2 != 0 else spread8(1.0)
    for _ in range(abs(halves) // 2):
        made = made * base
    return made


@helper
def order_of(k, h, at, x):
    """Coefficient k of all series, by the rows of the table from ``at`` on."""
    code, ik = integers(x), 1.0 / max(float(k), 1.0)
    while code[at] != END:
        kind, to, kept, one, two = code[at], code[at + 1], code[at + 2], code[at + 3], code[at + 4]
        first, count = at + HEADER, 1
        if kind == SUM:
            made = load8(x, two) if k == 0 else spread8(0.0)
            for j in range(one):
                made = fused(load8(x, two + 8 * j + 8), gathered(x, code, first + 8 * j), made)
            count = one
        elif kind == PRODUCT:
            made, count = convolved(x, one, two, 0, k), 0
        elif kind == SQUARE:
            made, count = spread8(0.0), 0
            for j in range((k + 1) // 2):
                made = fused(load8(x, one + 8 * j), load8(x, one + 8 * (k - j)), made)
            made = made + made
            if k % 2 == 0:
                half = load8(x, one + 4 * k)
                made = fused(half, half, made)
        elif kind == QUOTIENT:
            made = gathered(x, code, first)
            made = (made - convolved(x, one, kept, 1, k) if k > 0 else made) / load8(x, one)
        elif kind == SCALED:
            made = float(k) * gathered(x, code, first)
        elif kind == KEPT:
            made = gathered(x, code, first)
        elif kind == POWER:
            numbers, halves = code[first], code[first + 1]
            if k == 0:
                made = power_of(x, code, first + 2, numbers, halves, to)
            else:
                made = ik * load8(x, numbers) * convolved(x, one, kept, 1, k)
            first = first + 2
        else:
            numbers, which = code[first], code[first + 1]
            if k == 0:
                store8(x, to, gathered(x, code, first + 2))
                for i in range(8):
                    x[to + i] = function_of(which, x[to + i])
                made = load8(x, to)
            elif kind == SLOPE:
                made = ik * load8(x, numbers) * convolved(x, one, two, 1, k)
            elif kind == STEADY:
                made = (ik * h) * load8(x, numbers) * load8(x, two + 8 * k - 8)
            else:
                made = ik * load8(x, one + 8 * k)
            first = first + 2
        if kind != KEPT:
            store8(x, to, made)
        if kept > 0:
            store8(x, kept + 8 * k, made)
        at = first + 8 * count


@helper
def begin(y, bodies, parameters, at, x):
    """Numbers that stay while a call goes on, and the states."""
    code = integers(x)
    while code[at] != END:
        kind, to, a, b = code[at], code[at + 1], code[at + 2], code[at + 3]
        if kind == TIMES:
            x[to] = x[a] * x[b]
        elif kind == PLUS:
            x[to] = x[a] + x[b]
        elif kind == OVER:
            x[to] = x[a] / x[b]
        elif kind == COPIED:
            x[to] = x[a]
        elif kind == OF_STATE:
            x[to] = y[a]
        else:
            x[to] = bodies[a] if kind == OF_BODIES else parameters[a]
        at += 4


@helper
def follow(K, t, y, bodies, parameters, slots, rates, states, width, begins, rows, x):
    """Coefficients 0 to K of the states, in slots that have the time and 1 behind them."""
    h = x[SCALE]
    x[slots + states], x[slots + states + 1] = t, 1.0
    begin(y, bodies, parameters, begins, x)
    for i in range(states):
        x[HEAD + i] = x[slots + i]
    for order in range(K):
        order_of(order, h, rows, x)
        step = h / float(order + 1)
        for i in range(states):
            x[slots + i] = x[HEAD + width * (order + 1) + i] = step * x[rates + i]
        x[slots + states], x[slots + states + 1] = h if order == 0 else 0.0, 0.0
