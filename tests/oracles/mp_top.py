"""A heavy top with 40 digits: momentum and quaternion by Taylor series of order 40."""

from __future__ import annotations

import mpmath as mp

DIGITS, ORDER = 40, 40


def rates(I, parameters, m, q):
    """Rates of body momentum and quaternion, principal frame."""
    W, *c = parameters
    w, x, y, z = q
    u = (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
    s = [a / b for a, b in zip(m, I, strict=True)]
    dm = [m[i - 2] * s[i - 1] - m[i - 1] * s[i - 2] - W * (c[i - 2] * u[i - 1] - c[i - 1] * u[i - 2]) for i in range(3)]
    return dm, [
        -(x * s[0] + y * s[1] + z * s[2]) / 2, (w * s[0] + y * s[2] - z * s[1]) / 2,
        (w * s[1] + z * s[0] - x * s[2]) / 2, (w * s[2] + x * s[1] - y * s[0]) / 2,
    ]  # fmt: skip


def step(I, parameters, m, q, h):
    """Momentum and quaternion after a time h."""
    W, *c = parameters
    w, x, y, z = q
    u = [[2 * (x * z - w * y)], [2 * (y * z + w * x)], [1 - 2 * (x * x + y * y)]]
    m, q = [[a] for a in m], [[a] for a in q]
    s = [[m[i][0] / I[i]] for i in range(3)]
    for k in range(ORDER):

        def product(a, b, k=k):
            return mp.fdot(a[: k + 1], b[k::-1])

        def cross(a, b, i):
            return product(a[i - 2], b[i - 1]) - product(a[i - 1], b[i - 2])

        dm = [cross(m, s, i) - W * (c[i - 2] * u[i - 1][k] - c[i - 1] * u[i - 2][k]) for i in range(3)]
        du = [cross(u, s, i) for i in range(3)]
        dq = [
            -product(q[1], s[0]) - product(q[2], s[1]) - product(q[3], s[2]),
            product(q[0], s[0]) + product(q[2], s[2]) - product(q[3], s[1]),
            product(q[0], s[1]) + product(q[3], s[0]) - product(q[1], s[2]),
            product(q[0], s[2]) + product(q[1], s[1]) - product(q[2], s[0]),
        ]
        for i in range(3):
            m[i].append(dm[i] / (k + 1))
            s[i].append(m[i][-1] / I[i])
            u[i].append(du[i] / (k + 1))
        for i in range(4):
            q[i].append(dq[i] / (2 * (k + 1)))
    powers = [h**k for k in range(ORDER + 1)]
    return [mp.fdot(a, powers) for a in m], [mp.fdot(a, powers) for a in q]


def exact_numbers(values):
    """Doubles as mpmath's numbers."""
    return [mp.mpf(float(a)) for a in values]


def end(system, y, t, steps):
    """Momentum and quaternion at the time t from the state y."""
    with mp.workdps(DIGITS):
        I, parameters = exact_numbers(system.moments[0]), exact_numbers(system.parameters)
        m, q = exact_numbers(y[10:13]), exact_numbers(y[6:10])
        size = mp.sqrt(sum(a * a for a in q))
        q = [a / size for a in q]
        for _ in range(steps):
            m, q = step(I, parameters, m, q, mp.mpf(t) / steps)
        return m, q


def moved(system, m, q, dt):
    """Both after a very short time dt, to first order."""
    with mp.workdps(DIGITS):
        dm, dq = rates(exact_numbers(system.moments[0]), exact_numbers(system.parameters), m, q)
        return [a + dt * b for a, b in zip(m, dm, strict=True)], [a + dt * b for a, b in zip(q, dq, strict=True)]


def distance(y, m, q):
    """Of a state from momentum and quaternion: the larger of attitude angle and relative error of the momentum."""
    with mp.workdps(DIGITS):
        off = [a - b for a, b in zip(exact_numbers(y[10:13]), m, strict=True)]
        w, x, v, z = q
        a, b, c, d = exact_numbers(y[6:10])
        turn = (w * b - x * a - v * d + z * c, w * c - v * a - z * b + x * d, w * d - z * a - x * c + v * b)
        angle = 2 * mp.atan2(mp.norm(turn), abs(w * a + x * b + v * c + z * d))
        return float(max(angle, mp.norm(off) / mp.norm(m)))
