"""Stress draws of the exact free rotation and their judge, for the tests and for ``benchmarks/exact_accuracy.py``.

A draw is a body, a momentum and a time. The error of a step is divided by what the data allow: the largest change of
the exact result over five changes of all inputs by one unit in the last place, up or down at random, plus 4 units of
2^-53. Bodies are generic, flat, rods (down to I1 = 1e-8), nearly spherical or symmetric (down to differences of 1e-13),
or no bodies at all (moments over six decades, triangle inequality or not); momenta are random, near one axis, or near
the separatrix (down to 1e-14), of length 1e-3 ... 1e3; the turn h |omega| is 1e-6 ... 1e4 of either sign.
"""

import mpmath as mp
import numpy as np

from mp_free_body import closed_form
from polhode.flows import free_rotation
from polhode.kernel import drive, layout as L

UNIT = 2.0**-53
DIGITS = 60
BODIES = ("generic", "flat", "rod", "near-spherical", "near-symmetric", "wild")
MOMENTA = ("random", "near axis 1", "near axis 2", "near axis 3", "near separatrix")


def body(kind, random):
    """Principal moments in ascending order."""
    tiny = 10.0 ** random.uniform(-13, -1)
    a, b, c = random.uniform(0.1, 1.0, 3)
    if kind == "generic":
        I = (a + b, b + c, a + c)
    elif kind == "flat":
        I = (a, b, a + b + tiny)
    elif kind == "rod":
        I = (10.0 ** random.uniform(-8, -1), b, b + random.uniform(-1, 1) * 10.0 ** random.uniform(-8, -2))
    elif kind == "near-spherical":
        I = a * (1.0 + tiny * random.uniform(-1, 1, 3))
    elif kind == "near-symmetric":
        I = (a, a * (1.0 + tiny), 2.0 * a * b)
    else:
        I = 10.0 ** random.uniform(-3, 3, 3)
    return np.sort(np.array(I))


def momentum(kind, I, random):
    """Angular momentum in the axes of the ascending moments, of length about one."""
    v = random.normal(size=3)
    tiny = 10.0 ** random.uniform(-14, -1)
    if kind.startswith("near axis"):
        v *= tiny
        v[int(kind[-1]) - 1] = random.choice([-1.0, 1.0])
    elif kind == "near separatrix":
        low, high = (I[1] - I[0]) * I[2], (I[2] - I[1]) * I[0]
        v[0] = np.sqrt(high / (low + high)) * (1.0 + tiny * random.choice([-1.0, 1.0]))
        v[2] = np.sqrt(low / (low + high))
        v[[0, 2]] *= random.choice([-1.0, 1.0], 2) * random.uniform(0.05, 1.0)
        v[1] = random.uniform(-1.0, 1.0)
    return v / np.linalg.norm(v)


def draw(number, seed=0):
    """Draw of this number: kinds of body and momentum, moments, momentum, time."""
    random = np.random.default_rng([seed, number])
    kinds = BODIES[number % len(BODIES)], MOMENTA[number // len(BODIES) % len(MOMENTA)]
    I = body(kinds[0], random)
    m = momentum(kinds[1], I, random) * 10.0 ** random.uniform(-3, 3)
    h = random.choice([-1.0, 1.0]) * 10.0 ** random.uniform(-6, 4) / np.linalg.norm(m / I)
    order = random.permutation(3)
    return *kinds, I[order], m[order], float(h)


def differences(exact, m, q):
    """Angle between attitudes, and distance of momenta relative to their length, in floats."""
    with mp.workdps(DIGITS):
        m0, q0 = exact
        length = mp.sqrt(mp.fsum(mp.mpf(x) ** 2 for x in q))
        chord = min(mp.sqrt(mp.fsum((x / length - s * y) ** 2 for x, y in zip(q, q0, strict=True))) for s in (1, -1))
        turn = 4 * mp.asin(min(mp.mpf(1), chord / 2))
        away = mp.sqrt(mp.fsum((x - y) ** 2 for x, y in zip(m, m0, strict=True)))
        return float(turn), float(away / mp.sqrt(mp.fsum(x * x for x in m0)))


def turned(I, m, h, n=1, attitude=(1.0, 0.0, 0.0, 0.0)):
    """Momentum and attitude after ``n`` steps of polhode's exact flow."""
    y = np.array([[0.0] * 6 + [*attitude, *m]])
    bodies = np.array([[1.0, *I, 1.0, *(1.0 / np.asarray(I))]])
    status, none = np.zeros(1, np.int64), np.zeros(1, np.int64)
    drive.sweep_of(free_rotation.rotate_free)(n, np.array([float(h)]), y, bodies, np.zeros(L.STEP_INFO), status, none)
    if status[0]:
        raise ArithmeticError(f"status {status[0]}")
    return y[0, 10:], y[0, 6:10]


def judge(number, step=turned, seed=0):
    """Errors of ``step(I, m, h) -> (m, q)`` for one draw: attitude and momentum, each divided by the conditioning.

    Returns
    -------
    kinds : str, str
        Of body and momentum.
    ratios : float, float
        Attitude and momentum errors over what the data allow.
    errors : float, float
        The errors themselves: radians, and relative to the length of the momentum.
    kept : float
        Change of the spatial momentum, relative to its length.
    """
    kind, way, I, m, h = draw(number, seed)
    random = np.random.default_rng([seed, number, 1])
    m1, q1 = (np.array(a, dtype=float) for a in step(I, m, h))
    exact = closed_form(I, m, h, DIGITS)
    allowed = np.zeros(2)
    for _ in range(5):
        inputs = np.array([*I, *m, h])
        inputs = np.nextafter(inputs, inputs * random.choice([-2.0, 2.0], 7))
        other = closed_form(inputs[:3], inputs[3:6], inputs[6], DIGITS)
        allowed = np.maximum(allowed, differences(exact, *other))
    errors = np.array(differences(exact, m1, q1))
    ratios = errors / (allowed + 4.0 * UNIT)
    return kind, way, *ratios, *errors, change_of_spatial(m, m1, q1)


def change_of_spatial(m, m1, q1):
    """|Q m1 - m|/|m|, computed in many digits."""
    with mp.workdps(40):
        w, v = mp.mpf(q1[0]), [mp.mpf(x) for x in q1[1:]]
        b = [mp.mpf(x) for x in m1]
        norm = w * w + mp.fsum(x * x for x in v)
        dot = mp.fsum(x * y for x, y in zip(v, b, strict=True))
        vv = mp.fsum(x * x for x in v)
        turned = [
            ((w * w - vv) * b[k] + 2 * dot * v[k] + 2 * w * (v[k - 2] * b[k - 1] - v[k - 1] * b[k - 2])) / norm
            for k in range(3)
        ]
        away = mp.sqrt(mp.fsum((x - mp.mpf(y)) ** 2 for x, y in zip(turned, m, strict=True)))
        return float(away / mp.sqrt(mp.fsum(mp.mpf(x) ** 2 for x in m)))


def table(results):
    """Distribution of the ratios by kind of body and of momentum, as lines of text."""
    yield f"{'':16s} {'draws':>6s}  attitude: median   99%     max  momentum: median   99%     max  |Qm - Qm0|/|m0|"
    groups = [("all", None, 0)] + [(k, k, 0) for k in BODIES] + [(k, k, 1) for k in MOMENTA]
    for label, kind, column in groups:
        rows = np.array([r[2:] for r in results if kind is None or r[column] == kind])
        if rows.size:
            a, m = (np.quantile(rows[:, k], [0.5, 0.99, 1.0]) for k in (0, 1))
            spread = "  ".join(f"{x[0]:16.2f} {x[1]:6.2f} {x[2]:7.2f}" for x in (a, m))
            yield f"{label:16s} {len(rows):6d}  {spread}  {rows[:, 4].max():15.1e}"
