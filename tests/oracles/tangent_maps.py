"""Steps of methods in many digits, and their transition matrices by differences: the oracle of tangent maps.

Written from the equations of the methods; of polhode only the coefficients of splitting schemes are used, in decimals.
The exact free rotation is a Taylor series of Euler's equations and the quaternion, summed until nothing changes, so no
elliptic function is shared; Kepler motion is ``mp_kepler``, classical conics.

A transition matrix is the derivative of n steps *of the numerical map* by central differences: every coordinate is
moved by 1e-22 of its size, in 64 digits, so that the error is about 1e-40 (next to a separatrix 1e-28). Rows and
columns, body after body, without what it lacks:

    position (3), momentum (3), rotation (3), angular momentum (3)

A rotation is the rotation vector theta in the body frame of the user, R -> R exp [theta]x; position and momentum are
in space, angular momentum in the body. So ``dR = R [theta]x dt`` and the canonical one-form is p . dr + m . theta. Its
negative differential is the symplectic form

    omega(1, 2) = dr1 . dp2 - dp1 . dr2 + theta1 . mu2 - mu1 . theta2 + m . (theta1 x theta2)

as [e_i, e_j] = e_i x e_j for left-invariant fields: with Omega(m) = [[-[m]x, 1], [-1, 0]] for (theta, mu) a symplectic
map from m0 to m1 with the matrix M fulfils M^T Omega(m1) M = Omega(m0). The inverse of -Omega is the Poisson matrix
J(m) = [[0, 1], [-1, [m]x]], with (theta, m)' = J grad H: theta' = I^-1 m, m' = T + m x I^-1 m; and M J(m0) M^T = J(m1).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import mpmath as mp

import dmv_series
import mp_kepler
from polhode.methods.splitting_tables import scheme
from tangent_loads import (
    MODELS,
    Body,
    Series,
    conjugate,
    cross,
    dot,
    exponential_map,
    minus,
    plus,
    product,
    rotate,
    rotation_vector,
    times,
    transform,
    unit,
    unrotate,
)

DIGITS = 64
SHIFT = mp.mpf(10) ** -22


def tiny():
    """A number that changes none of the digits."""
    return mp.mpf(10) ** -(mp.mp.dps + 3)


def settled():
    """Relative change of an iteration that has converged."""
    return mp.mpf(10) ** -(mp.mp.dps - 4)


def solved(gap, x):
    """The zero of three functions of three numbers near x, by Newton's method with differences."""
    d = mp.mpf(10) ** -(mp.mp.dps // 3)
    for _ in range(60):
        f = gap(*x)
        columns = [times(1 / d, minus(gap(*[y + d * (i == k) for i, y in enumerate(x)]), f)) for k in range(3)]
        change = list(mp.lu_solve(mp.matrix(columns).T, mp.matrix(f)))
        x = minus(x, change)
        if mp.norm(change) <= settled() * mp.norm(x):
            return x
    raise ArithmeticError("no zero found")


# ------------------------------------------------------------------ free rotations
def exact_rotation(inverse, q, m, h):
    """m' = m x A m and q' = q (0, A m)/2 for the time h, by Taylor series in pieces of a third of a radian."""
    speed = mp.sqrt(dot(m, m)) * max(sum(abs(x) for x in row) for row in inverse)
    pieces = int(3 * abs(h) * speed) + 1
    for _ in range(pieces):
        m, e = _rotation_piece(inverse, m, h / pieces)
        q = product(q, e)
    return unit(q), m


def _rotation_piece(inverse, m, h):
    """Momentum after the time h, and the rotation, as a quaternion."""
    M, W, Q = [[x] for x in m], [[x] for x in transform(inverse, m)], [[mp.mpf(x)] for x in (1, 0, 0, 0)]
    size, small, k = mp.sqrt(dot(m, m)), 0, 0
    while small < 3:

        def c(a, b, k=k):
            return mp.fdot(a[: k + 1], b[k::-1])

        dm = [c(M[i - 2], W[i - 1]) - c(M[i - 1], W[i - 2]) for i in range(3)]
        w, x, y, z = Q
        dq = [
            -c(x, W[0]) - c(y, W[1]) - c(z, W[2]), c(w, W[0]) + c(y, W[2]) - c(z, W[1]),
            c(w, W[1]) + c(z, W[0]) - c(x, W[2]), c(w, W[2]) + c(x, W[1]) - c(y, W[0]),
        ]  # fmt: skip
        k += 1
        new = [h * x / k for x in dm]  # the coefficients carry the powers of h
        for row, x in zip(M, new, strict=True):
            row.append(x)
        for row, x in zip(W, transform(inverse, new), strict=True):
            row.append(x)
        for row, x in zip(Q, dq, strict=True):
            row.append(h * x / (2 * k))
        largest = max(max(abs(x) for x in new) / (size or 1), max(abs(row[-1]) for row in Q))
        small = small + 1 if largest < tiny() else 0
    return [mp.fsum(row) for row in M], [mp.fsum(row) for row in Q]


@cache
def dmv_polynomials():
    """s3, t3, s5, t5 ... of ``dmv_series``, derived there from the equations of motion."""
    return dmv_series.derive()


def dmv_rotation(order):
    """The preprocessed discrete Moser-Veselov map: e = k Y, Y = m - e x m + (e . m) e, k = h/2 (S A + T)."""

    def rotation(inverse, q, m, h):
        total = inverse[0][0] + inverse[1][1] + inverse[2][2]
        a = [times(1 / total, row) for row in inverse]
        g = h * total
        squares = sum(a[i][j] * a[j][i] for i in range(3) for j in range(3))
        at = {"p": (1 - squares) / 2, "r": mp.det(mp.matrix(a)), "H": dot(m, transform(a, m)) / 2, "C": dot(m, m) / 2}

        def value(polynomial):
            return mp.fsum(
                mp.mpf(v.numerator) / v.denominator * mp.fprod(at[name] ** n for name, n in key)
                for key, v in polynomial.terms.items()
            )

        S, T = mp.mpf(1), mp.mpf(0)
        for k in range(1, order // 2):
            s, t = dmv_polynomials()[k - 1]
            S, T = S + g ** (2 * k) * value(s), T + g ** (2 * k) * value(t)
        half = [[g / 2 * (S * a[i][j] + (T if i == j else 0)) for j in range(3)] for i in range(3)]

        def gap(*e):
            return minus(e, transform(half, plus(m, times(-1, cross(e, m)), times(dot(e, m), e))))

        e = solved(gap, transform(half, m))
        n = 1 + dot(e, e)
        root = mp.sqrt(n)
        turn = [1 / root, *times(1 / root, e)]
        return product(q, turn), unrotate(turn, m)

    return rotation


def axes_rotation(inverse, q, m, h):
    """McLachlan and Reich: turns about the axes 1, 2, 3, 2, 1 by h j_k m_k, the outer ones by half of it."""
    for axis, share in ((0, 0.5), (1, 0.5), (2, 1), (1, 0.5), (0, 0.5)):
        turn = exponential_map([share * h * inverse[k][k] * m[k] if k == axis else mp.mpf(0) for k in range(3)])
        q, m = product(q, turn), unrotate(turn, m)
    return q, m


def midpoint_rotation(inverse, q, m, h):
    """The implicit midpoint rule of Euler's equation, attitude by the Cayley map of h A Y."""

    def gap(*Y):
        return minus(Y, plus(m, times(h / 2, cross(Y, transform(inverse, Y)))))

    Y = solved(gap, m)
    e = times(h / 2, transform(inverse, Y))
    return product(q, unit([mp.mpf(1), *e])), plus(times(2, Y), times(-1, m))


def midpoint_lie_rotation(inverse, q, m, h):
    """LIEMID: x = exp(-psi/2) m with psi = h A x, then exp(-psi/2) again."""

    def gap(*x):
        return minus(x, unrotate(exponential_map(times(h / 2, transform(inverse, x))), m))

    x = solved(gap, m)
    half = exponential_map(times(h / 2, transform(inverse, x)))
    return product(product(q, half), half), unrotate(half, x)


ROTATIONS = {
    "exact": exact_rotation, "mr": axes_rotation, "implicit_midpoint": midpoint_rotation,
    "midpoint_lie": midpoint_lie_rotation, **{f"dmv{n}": dmv_rotation(n) for n in (2, 4, 6, 8, 10)},
}  # fmt: skip


# ------------------------------------------------------------------ splittings
def decimals(steps):
    """Steps of a scheme as precise numbers."""
    return [(letter, *(mp.mpf(str(x)) for x in numbers)) for letter, *numbers in steps]


def splitting(name):
    """``step(model, t, h, bodies)`` of "scheme/flow", where the flow may be a free rotation, kepler, or kepler+it.

    With it come ``before`` and ``after``, the processor of the scheme and its inverse.
    """
    word, _, flow = name.partition("/")
    if word in ROTATIONS:
        word, flow = "v2", word
    kepler, flow = flow.startswith("kepler"), (flow.removeprefix("kepler").lstrip("+") or "exact")
    rule, turn = scheme(word), ROTATIONS[flow]
    stages, pre = decimals(rule.exact_stages), decimals(rule.exact_pre)
    post = [(letter, *(-x for x in numbers)) for letter, *numbers in reversed(pre)]
    order = min(rule.order, {"nystrom": 4, "gradient": 2}.get(rule.requires, rule.order))
    order = min(order, int(flow[3:])) if flow.startswith("dmv") else 2 if flow != "exact" else order
    ahead = mp.fsum(numbers[0] for letter, *numbers in pre if letter == "A")
    gauss = gauss_rule((order + 1) // 2)

    def run(steps, model, t, h, bodies):
        for letter, fraction, *factor in steps:
            if letter == "A":
                bodies, t = free_motion(model, fraction * h, bodies, turn, kepler), t + fraction * h
            else:
                bodies = kick(model, t, fraction * h, factor[0] * h**3, bodies, kepler, gauss)
        return bodies

    def step(model, t, h, bodies):
        return run(stages, model, t + ahead * h, h, bodies)

    def before(model, t, h, bodies):
        return run(pre, model, t, h, bodies)

    def after(model, t, h, bodies):
        return run(post, model, t + ahead * h, h, bodies)

    return step, before, after


def free_motion(model, h, bodies, turn, kepler):
    """Rotate freely; drift, or follow the conic."""
    found = []
    for k, b in enumerate(bodies):
        if b.r is not None and kepler:
            v = times(1 / model.mass[k], b.p)
            r, v = mp_kepler.propagate(model.mu, b.r, v, h, mp.mp.dps)
            b = replace(b, r=r, p=times(model.mass[k], v))
        elif b.r is not None:
            b = replace(b, r=plus(b.r, times(h / model.mass[k], b.p)))
        if b.q is not None:
            q, m = turn(model.inverse[k], b.q, b.m, h)
            b = replace(b, q=q, m=m)
        found.append(b)
    return found


def pushed(bodies, h, loads):
    """Momenta changed by h times the loads."""
    return [
        replace(
            b,
            p=b.p if F is None or b.p is None else plus(b.p, times(h, F)),
            m=b.m if T is None or b.m is None else plus(b.m, times(h, T)),
        )
        for b, (F, T) in zip(bodies, loads, strict=True)
    ]


def kick(model, t, h, g, bodies, kepler, gauss):
    """Loads for the time h at a frozen configuration, and g times the commutator load; Gauss collocation where they
    depend on velocities."""
    resting = model.resting(t, bodies, with_centre=not kepler)
    if g:
        bodies = pushed(bodies, g, commutator(model, t, bodies, kepler))
    if model.moving is None:
        return pushed(bodies, h, resting)
    if g:
        raise ValueError("no commutator beside moving loads")
    A, b = gauss
    stages, before = [model.moving(t, bodies)] * len(b), None
    while before is None or gap_of(before, stages) > settled():
        before, found = stages, []
        for row in A:
            at = pushed(bodies, h * mp.fsum(row), resting)
            for a, load in zip(row, stages, strict=True):
                at = pushed(at, h * a, load)
            found.append(model.moving(t, at))
        stages = found
    bodies = pushed(bodies, h, resting)
    for weight, load in zip(b, stages, strict=True):
        bodies = pushed(bodies, h * weight, load)
    return bodies


def gap_of(a, b):
    """Largest relative difference of loads of stages."""
    largest = mp.mpf(0)
    for one, other in zip(a, b, strict=True):
        for loads, others in zip(one, other, strict=True):
            for x, y in zip(loads, others, strict=True):
                if x is not None:
                    size = mp.sqrt(dot(y, y))
                    largest = max(largest, mp.sqrt(dot(minus(x, y), minus(x, y))) / (size or 1))
    return largest


def commutator(model, t, bodies, kepler):
    """2 D F and 2 (D T + w x T) with D along F/mass and I^-1 T, by central differences of order 4."""
    loads = model.resting(t, bodies, with_centre=not kepler)
    inverse = model.inverse

    def along(s):
        at = []
        for k, (b, (F, T)) in enumerate(zip(bodies, loads, strict=True)):
            r = b.r if F is None else plus(b.r, times(s / model.mass[k], F))
            q = b.q if T is None else product(b.q, exponential_map(times(s, transform(inverse[k], T))))
            at.append(replace(b, r=r, q=q))
        return model.resting(t, at, with_centre=not kepler)

    d = mp.mpf(10) ** -(mp.mp.dps // 5)
    near, far = (along(d), along(-d)), (along(2 * d), along(-2 * d))

    def slope(k, which):
        a, b, c, e = (x[k][which] for x in (*near, *far))
        return (
            None if a is None else [(8 * (w - x) - (y - z)) / (12 * d) for w, x, y, z in zip(a, b, c, e, strict=True)]
        )

    found = []
    for k, (F, T) in enumerate(loads):
        dF = None if F is None else times(2, slope(k, 0))
        dT = None if T is None else times(2, plus(slope(k, 1), cross(transform(inverse[k], T), T)))
        found.append((dF, dT))
    return found


# ------------------------------------------------------------------ Runge-Kutta on the group
@cache
def _gauss(s, digits):
    """``gauss_rule``, once for a number of digits."""
    with mp.workdps(digits + 10):
        nodes, weights = _nodes(s)
        # a_ij is the integral of the j-th Lagrange polynomial up to node i: solved from its moments
        V = mp.matrix([[c**k for c in nodes] for k in range(s)])
        A = [list(mp.lu_solve(V, mp.matrix([c ** (k + 1) / (k + 1) for k in range(s)]))) for c in nodes]
        return A, weights


def _nodes(s):
    """Nodes and weights of Gauss on 0 ... 1, by Newton's method on the Legendre polynomial."""
    nodes, weights = [], []
    for i in range(s):
        x = mp.cos(mp.pi * (s - i - mp.mpf(1) / 4) / (s + mp.mpf(1) / 2))
        for _ in range(10):
            value, before = mp.mpf(1), mp.mpf(0)
            for n in range(s):
                value, before = ((2 * n + 1) * x * value - n * before) / (n + 1), value
            slope = s * (x * value - before) / (x * x - 1)
            x -= value / slope
        nodes.append((1 + x) / 2)
        weights.append(1 / ((1 - x * x) * slope * slope))
    return nodes, weights


def gauss_rule(s):
    """Coefficients A and b of the Gauss collocation of s stages."""
    return _gauss(s, mp.mp.dps)


def tableau(name):
    """A and b of rk4, midpoint or gauss4, gauss6 ..."""
    if name == "rk4":
        half = mp.mpf(1) / 2
        return [[0, 0, 0, 0], [half, 0, 0, 0], [0, half, 0, 0], [0, 0, 1, 0]], [mp.mpf(x) / 6 for x in (1, 2, 2, 1)]
    return gauss_rule(1 if name == "midpoint" else int(name.removeprefix("gauss")) // 2)


def munthe_kaas(name):
    """psi' = dexp^-1_(-psi) w, mu' = exp(psi) T in a step that starts at psi = 0; positions and momenta as they are."""

    def step(model, t, h, bodies):
        A, b = tableau(name)
        explicit = all(x == 0 for i, row in enumerate(A) for x in row[i:])
        start = [(z.r, z.p, None if z.q is None else [mp.mpf(0)] * 3, z.m) for z in bodies]

        def state(local):
            """Bodies for local coordinates."""
            found = []
            for z, (r, p, psi, mu) in zip(bodies, local, strict=True):
                turn = None if psi is None else exponential_map(psi)
                q, m = (None, None) if psi is None else (product(z.q, turn), unrotate(turn, mu))
                found.append(Body(r, p, q, m))
            return found

        def field(t, local):
            at = state(local)
            rates = []
            for k, ((_, p, psi, _), (F, T)) in enumerate(zip(local, model.all(t, at), strict=True)):
                dr = None if p is None else times(1 / model.mass[k], p)
                dp = None if p is None else (F or [mp.mpf(0)] * 3)
                dpsi = dmu = None
                if psi is not None:
                    dpsi = inverse_tangent(psi, transform(model.inverse[k], at[k].m))
                    dmu = rotate(exponential_map(psi), T or [mp.mpf(0)] * 3)
                rates.append((dr, dp, dpsi, dmu))
            return rates

        def moved(weights, slopes):
            local = start
            for a, rates in zip(weights, slopes, strict=False):
                if a:
                    local = [
                        tuple(x if d is None else plus(x, times(h * a, d)) for x, d in zip(one, rate, strict=True))
                        for one, rate in zip(local, rates, strict=True)
                    ]
            return local

        nodes = [mp.fsum(row) for row in A]
        if explicit:
            slopes = []
            for c, row in zip(nodes, A, strict=True):
                slopes.append(field(t + c * h, moved(row, slopes)))
        else:
            slopes, gap = [field(t, start)] * len(b), mp.inf
            while gap > settled():
                new = [field(t + c * h, moved(row, slopes)) for c, row in zip(nodes, A, strict=True)]
                gap = max(
                    mp.sqrt(dot(minus(x, y), minus(x, y)) / (dot(x, x) or 1))
                    for one, other in zip(new, slopes, strict=True)
                    for body, before in zip(one, other, strict=True)
                    for x, y in zip(body, before, strict=True)
                    if x is not None
                )
                slopes = new
        return state(moved(b, slopes))

    return step, None, None


def inverse_tangent(psi, w):
    """dexp^-1 of -psi on w: w + psi x w/2 + (1 - a/2 cot a/2)/a^2 psi x (psi x w)."""
    a = mp.sqrt(dot(psi, psi))
    c = (1 - a / 2 * mp.cot(a / 2)) / (a * a) if a else mp.mpf(1) / 12
    s = cross(psi, w)
    return plus(w, times(mp.mpf(1) / 2, s), times(c, cross(psi, s)))


# ------------------------------------------------------------------ Taylor series
def horner(coefficients, x):
    """The sum of c_k x^k."""
    total = mp.mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def taylor(order):
    """The series of all states to this order, summed; quaternions are then scaled to length 1.

    A body whose torque depends on the vertical alone is turned by ``by_the_vertical``.
    """

    def step(model, t, h, bodies):
        if model.by_vertical:
            return by_the_vertical(model, h, bodies, order)
        states = [[[x] for part in (b.r, b.p, b.q, b.m) for x in part or ()] for b in bodies]

        def reading():
            """Bodies whose numbers are the series so far."""
            found = []
            for b, rows in zip(bodies, states, strict=True):
                rest = [Series(row) for row in rows]
                parts = []
                for part in (b.r, b.p, b.q, b.m):
                    n = len(part or ())
                    parts.append(rest[:n] if n else None)
                    rest = rest[n:]
                found.append(Body(*parts))
            return found

        for k in range(order):
            at = reading()
            loads = model.all(Series([t, mp.mpf(1)] + [mp.mpf(0)] * (k - 1) if k else [t]), at)
            for i, (b, (F, T)) in enumerate(zip(at, loads, strict=True)):
                rates = []
                if b.r is not None:
                    rates += times(1 / model.mass[i], b.p) + (F or [mp.mpf(0)] * 3)
                if b.q is not None:
                    w = transform(model.inverse[i], b.m)
                    rates += [x / 2 for x in product(b.q, [mp.mpf(0), *w])]
                    gain = cross(b.m, w)
                    rates += gain if T is None else plus(gain, T)
                for row, rate in zip(states[i], rates, strict=True):
                    row.append((rate.c[k] if isinstance(rate, Series) else mp.mpf(0) if k else rate) / (k + 1))
        ends = []
        for b, rows in zip(bodies, states, strict=True):
            values = [horner(row, h) for row in rows]
            parts = []
            for part in (b.r, b.p, b.q, b.m):
                n = len(part or ())
                parts.append(values[:n] if n else None)
                values = values[n:]
            ends.append(Body(parts[0], parts[1], None if parts[2] is None else unit(parts[2]), parts[3]))
        return ends

    return step, None, None


def by_the_vertical(model, h, bodies, order):
    """Series of the vertical u in the body, u' = u x w, and of w = I^-1 m; the attitude by a quadrature.

    The rotation of the step is the smallest one that takes the vertical from u to its end u1, and a turn about it by
    the integral of w . (u + b)/(1 + u . b), b being the direction half-way: by Gauss, 4 nodes for every 8 orders.
    """
    q, m, inverse = bodies[0].q, bodies[0].m, model.inverse[0]
    u = unrotate(q, [mp.mpf(0), mp.mpf(0), mp.mpf(1)])
    U, M = [[x] for x in u], [[x] for x in m]
    for k in range(order):
        us, ms = [Series(row) for row in U], [Series(row) for row in M]
        ws = transform(inverse, ms)
        gain = plus(cross(ms, ws), model.by_vertical(us))
        for rows, rates in ((U, cross(us, ws)), (M, gain)):
            for row, rate in zip(rows, rates, strict=True):
                row.append(rate.c[k] / (k + 1))

    def at(rows, share):
        return [horner(row, share * h) for row in rows]

    u1 = at(U, 1)
    s = plus(u, u1)
    b = times(1 / mp.sqrt(dot(s, s)), s)
    smallest = unit([1 + dot(u, u1), *cross(u1, u)])
    nodes, weights = _nodes(4 * ((order + 7) // 8))
    angle = mp.mpf(0)
    for node, weight in zip(nodes, weights, strict=True):
        v = at(U, node)
        angle += h * weight * dot(transform(inverse, at(M, node)), plus(v, b)) / (1 + dot(v, b))
    c, s = mp.cos(angle / 2), mp.sin(angle / 2)
    turn = [c * smallest[0], *plus(times(c, smallest[1:]), times(s, b))]
    return [replace(bodies[0], q=unit(product(q, turn)), m=at(M, 1))]


# ------------------------------------------------------------------ runs
def method(name):
    """``step, before, after`` of a method by the name it has in polhode."""
    if name.startswith("mkrk:"):
        return munthe_kaas(name.removeprefix("mkrk:"))
    if name.startswith("taylor"):
        return taylor(int(name.removeprefix("taylor")))
    return splitting("v2" if name == "exact" else name)


def march(model, name, h, bodies, rows):
    """Bodies after each number of steps in ``rows``."""
    step, before, after = method(name)
    found, t = [], mp.mpf(0)
    if before:
        bodies = before(model, t, h, bodies)
    for k in range(1, max(rows) + 1):
        bodies, t = step(model, t, h, bodies), k * h
        if k in rows:
            found.append(after(model, t, h, bodies) if after else bodies)
    return found


# ------------------------------------------------------------------ coordinates
def sizes(bodies):
    """What a change of each coordinate is small against."""
    found = []
    for b in bodies:
        for part in (b.r, b.p):
            if part is not None:
                found += [mp.sqrt(dot(part, part)) or mp.mpf(1)] * 3
        if b.q is not None:
            found += [mp.mpf(1)] * 3 + [mp.sqrt(dot(b.m, b.m)) or mp.mpf(1)] * 3
    return found


def shifted(bodies, column, by):
    """Bodies with one coordinate changed."""
    found = []
    for b in bodies:
        parts = {}
        for name in ("r", "p", "q", "m"):
            part = getattr(b, name)
            if part is not None and 0 <= column < 3:
                d = [by if k == column else mp.mpf(0) for k in range(3)]
                parts[name] = product(part, exponential_map(d)) if name == "q" else plus(part, d)
            column -= 3 * (part is not None)
        found.append(replace(b, **parts))
    return found


def difference(above, below):
    """Coordinates of one state against another."""
    found = []
    for a, b in zip(above, below, strict=True):
        for name in ("r", "p", "q", "m"):
            x, y = getattr(a, name), getattr(b, name)
            if x is not None:
                found += rotation_vector(product(conjugate(y), x)) if name == "q" else minus(x, y)
    return found


def precise(given):
    """Floats in nested lists and dictionaries, exactly."""
    if isinstance(given, dict):
        return {key: precise(value) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [precise(value) for value in given]
    return mp.mpf(float(given)) if isinstance(given, int | float) and not isinstance(given, bool) else given


def put(given, path, by):
    """A copy of nested lists and dictionaries with the number at a path changed, and that number."""
    head, _, rest = path.partition(".")
    copy = list(given) if isinstance(given, list) else dict(given)
    key = int(head) if isinstance(given, list) else head
    if rest:
        copy[key], value = put(given[key], rest, by)
    else:
        copy[key], value = given[key] + by, given[key]
    return copy, value


def with_number(arguments, name, by):
    """Arguments with one number changed; of a tensor, ``inertia.0.1`` and its mirror image."""
    changed = put(arguments, name, by)[0]
    head, *where = name.split(".")
    if head == "inertia" and len(where) == 2 and where[0] != where[1]:
        changed = put(changed, ".".join([head, *reversed(where)]), by)[0]
    return changed


def bodies_of(model, start):
    """The bodies at the start."""
    found = []
    for k in range(len(model.mass)):

        def part(name, k=k):
            value = start.get(name)
            return value if value is None or not isinstance(value[0], list) else value[k]

        moves, turns = model.mass[k] is not None, model.inertia[k] is not None
        q = part("attitude") or [mp.mpf(x) for x in (1, 0, 0, 0)]
        zero = [mp.mpf(0)] * 3
        found.append(Body(
            part("position") if moves else None, part("momentum") if moves else None,
            unit(q) if turns else None, (part("angular_momentum") or zero) if turns else None,
        ))  # fmt: skip
    return found


def transition(case):
    """States and transition matrices of a case at its ``rows``, as ``[(bodies, matrix), ...]`` of precise numbers.

    A case is a dictionary: ``system`` (a name in ``MODELS``), ``arguments``, ``method``, ``step``, ``rows`` (numbers of
    steps), ``start`` (position, momentum, attitude, angular_momentum) and ``parameters`` (names of columns).
    """
    arguments, start = precise(case["arguments"]), precise(case["start"])
    h, rows = mp.mpf(float(case["step"])), case["rows"]
    build = MODELS[case["system"]]
    model = build(arguments)
    bodies = bodies_of(model, start)
    ends = march(model, case["method"], h, bodies, rows)
    columns = []
    for column, size in enumerate(sizes(bodies)):
        d = SHIFT * size
        pair = [march(model, case["method"], h, shifted(bodies, column, by), rows) for by in (d, -d)]
        columns.append([times(1 / (2 * d), difference(*both)) for both in zip(*pair, strict=True)])
    for name in case.get("parameters", ()):
        d = SHIFT * (abs(put(arguments, name, 0)[1]) or 1)
        pair = [march(build(with_number(arguments, name, by)), case["method"], h, bodies, rows) for by in (d, -d)]
        columns.append([times(1 / (2 * d), difference(*both)) for both in zip(*pair, strict=True)])
    return [(ends[n], mp.matrix([c[n] for c in columns]).T) for n in range(len(rows))]


def form(bodies):
    """The matrix of the symplectic form at a state."""
    n = len(sizes(bodies))
    omega, k = mp.zeros(n), 0
    for b in bodies:
        for first, second in (("r", "p"), ("q", "m")):
            if getattr(b, first) is not None:
                for i in range(3):
                    omega[k + i, k + 3 + i], omega[k + 3 + i, k + i] = 1, -1
                if first == "q":
                    x, y, z = getattr(b, second)
                    for i, row in enumerate([[0, z, -y], [-z, 0, x], [y, -x, 0]]):  # -[m]x
                        for j in range(3):
                            omega[k + i, k + j] = row[j]
                k += 6
    return omega


def symplectic_error(start, end, matrix):
    """Largest entry of M^T Omega(m1) M - Omega(m0), relative to the sizes of the coordinates."""
    scale = mp.diag(sizes(start))
    n = scale.rows
    M = matrix[:, :n]
    gap = scale * (M.T * form(end) * M - form(start)) * scale
    whole = scale * form(start) * scale
    return max(abs(x) for x in gap) / max(abs(x) for x in whole)
