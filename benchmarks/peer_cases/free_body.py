"""The free body of Krysl, section 5.1: the exact rotation against heyoka, and both against Jacobi's functions."""

from __future__ import annotations

import time
from dataclasses import replace

import mpmath as mp
import numpy as np

import polhode as ph
from peer_cases.bodies import ready
from peer_cases.rivals import with_heyoka
from peer_cases.runs import Run
from polhode.kernel import drive, layout as slots
from polhode.methods.free_flows import free_flow


def closed_form(moments, momentum, t: float):
    """Body momentum and quaternion after t with 50 digits, from the attitude 1 [celledoni2008, prop. 2.1].

    The momentum by Jacobi's functions in the case that it circles the axis of the largest or the smallest moment; the
    quaternion from the turn about the constant spatial momentum, whose rate is integrated numerically: (G + M/(...))
    as Kosenko's psi, with the minimal rotations that carry the momentum to an axis at both ends.
    """
    mp.mp.dps = 50
    I, m = [mp.mpf(float(a)) for a in moments], [mp.mpf(float(a)) for a in momentum]
    j = [1 / a for a in I]
    d12, d23, p = j[0] - j[1], j[1] - j[2], j[0] - j[2]
    L = d12 * m[0] ** 2 - d23 * m[2] ** 2
    around_1 = L > 0
    # Axis e is the one that is circled; the other two in the order that keeps the frame right-handed.
    e, b, c = (0, 1, 2) if around_1 else (2, 1, 0)
    hand = 1 if around_1 else -1
    r, w = (d12, d23) if around_1 else (d23, d12)
    sign = 1 if m[e] > 0 else -1
    x, y, z = abs(m[e]), m[b], m[c]
    M, N = p * x**2 + w * y**2, r * y**2 + p * z**2
    lam, k2 = mp.sqrt(M * r), N * w / (M * r)
    way = hand * sign  # dy/dt = way * p z x and so on, for both cases
    u0 = mp.ellipf(mp.atan2(y * mp.sqrt(r), z * mp.sqrt(p)), k2)

    def state(s):
        u = u0 + way * lam * s
        return (
            mp.sqrt(M / p) * mp.ellipfun("dn", u, m=k2),
            mp.sqrt(N / r) * mp.ellipfun("sn", u, m=k2),
            mp.sqrt(N / p) * mp.ellipfun("cn", u, m=k2),
        )

    G = mp.sqrt(x**2 + y**2 + z**2)
    T2 = j[e] * x**2 + j[b] * y**2 + j[c] * z**2

    def rate(s):  # of the turn about e while the minimal rotation carries the momentum there
        a = state(s)[0]
        return (T2 + G * j[e] * a) / (G + a)

    period = 2 * mp.ellipk(k2) / lam
    whole = mp.floor(t / period)
    psi = whole * mp.quad(rate, mp.linspace(0, period, 7)) + mp.quad(rate, mp.linspace(period * whole, mp.mpf(t), 7))
    after = [mp.mpf(0)] * 3
    after[e], after[b], after[c] = state(mp.mpf(t))
    after[e] *= sign

    def minimal(v):  # quaternion that turns v/G into sign e
        axis = [mp.mpf(0)] * 3
        axis[e] = mp.mpf(sign)
        dot = sum(a * k for a, k in zip(v, axis, strict=True)) / G
        turn = [v[1] * axis[2] - v[2] * axis[1], v[2] * axis[0] - v[0] * axis[2], v[0] * axis[1] - v[1] * axis[0]]
        n = mp.sqrt(2 * (1 + dot))
        return [n / 2] + [a / G / n for a in turn]

    def product(a, k):
        return [
            a[0] * k[0] - a[1] * k[1] - a[2] * k[2] - a[3] * k[3],
            a[0] * k[1] + a[1] * k[0] + a[2] * k[3] - a[3] * k[2],
            a[0] * k[2] - a[1] * k[3] + a[2] * k[0] + a[3] * k[1],
            a[0] * k[3] + a[1] * k[2] - a[2] * k[1] + a[3] * k[0],
        ]

    first, last = minimal(m), minimal(after)
    middle = [mp.cos(psi / 2), mp.mpf(0), mp.mpf(0), mp.mpf(0)]
    middle[1 + e] = sign * mp.sin(psi / 2)
    q = product([first[0], -first[1], -first[2], -first[3]], product(middle, last))
    return np.array([float(a) for a in after]), np.array([float(a) for a in q])


def free_body(rounds: int) -> None:
    """Print the table of the free body."""
    problem = ready("krysl_free_body", 100.0, "free body")
    system, y = problem.system, problem.y
    constants = system.constants_of_bodies.copy()
    loop = drive.sweep_of(free_flow("exact").build())
    status, counts, step_info = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(slots.STEP_INFO)
    state = y[None].copy()

    def exactly(label, n, h):
        h = np.array([h])

        def begin():
            state[0] = y

        return Run(label, 0, begin, lambda: loop(n, h, state, constants, step_info, status, counts),
                   lambda: problem.ours(state[0].copy()))  # fmt: skip

    for t_end, steps in ((100.0, (4.0, 1.0, 0.1)), (1e5, (100.0, 1.0, 0.1))):
        reference = closed_form(system.moments[0], y[10:13], t_end)
        runs = [exactly("polhode, one exact step", 1, t_end)]
        runs += [exactly(f"polhode, exact steps of {h:g}", round(t_end / h), h) for h in steps]
        for tolerance in (1e-16, 1e-12, 1e-9):
            for form in problem.forms:
                run = with_heyoka(replace(problem, t_end=t_end), form, "", tolerance)
                run.label = f"heyoka, {form}, {tolerance:g}"
                runs.append(run)
        print(f"\nfree body, t = {t_end:g}\n{'':<34}{'microseconds':>13}{'omega':>10}{'attitude':>10}")
        for run in runs:
            run.begin()
            run.go()
            m, q = run.end()["momentum"], run.end()["attitude"]
            speed, speed0 = m / system.moments[0], reference[0] / system.moments[0]
            run.shown["omega"] = np.linalg.norm(speed - speed0) / np.linalg.norm(speed0)
            run.shown["q"] = float(ph.rotation.angle_between(q / np.linalg.norm(q), reference[1]))
        for _ in range(rounds):
            for run in runs:
                run.clock()
        for run in runs:
            print(f"{run.label:<34}{1e6 * run.seconds:>13.1f}{run.shown['omega']:>10.1e}{run.shown['q']:>10.1e}")
        many = 10_000
        begun = [np.inf]
        for _ in range(rounds):
            state[0] = y
            start = time.perf_counter()
            loop(many, np.array([t_end]), state, constants, step_info, status, counts)
            begun.append((time.perf_counter() - start) / many)
        print(f"{'   of which the exact step itself':<34}{1e6 * min(begun):>13.2f}")
