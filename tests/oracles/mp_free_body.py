"""Free rotation of a rigid body in many digits: the oracle of the exact step. Shares nothing with polhode.

``closed_form`` is the textbook solution: Euler's angles of the body against the fixed angular momentum, the momentum by
elliptic functions of a phase, the precession by an elliptic integral of the third kind, continued over whole periods
[Landau and Lifshitz, Mechanics, section 37]. ``gyrostat.motion`` sums power series of Euler's equations in short steps;
it knows no elliptic function and checks this one. Both take floats exactly and start from the identity attitude.
"""

import mpmath as mp

DIGITS = 60


def multiply(a, b):
    """Hamilton product of lists (w, x, y, z)."""
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def half_turn(axis, c, s):
    """Quaternion of the turn by an angle with cos c and sin s about a coordinate axis."""
    q = [mp.sqrt((1 + c) / 2), mp.mpf(0), mp.mpf(0), mp.mpf(0)]
    q[axis] = s / (2 * q[0]) if c > 0 else mp.sign(s or 1) * mp.sqrt((1 - c) / 2)
    if c <= 0:
        q[0] = abs(s) / (2 * abs(q[axis]))
    return q


def about(axis, angle):
    """Quaternion of a turn about a coordinate axis."""
    q = [mp.cos(angle / 2), mp.mpf(0), mp.mpf(0), mp.mpf(0)]
    q[axis] = mp.sin(angle / 2)
    return q


def distinct(I, m):
    """Moments and momentum moved by 1e-30 of themselves where the textbook's formulas divide by zero."""
    tiny, G = mp.mpf(10) ** -(mp.mp.dps // 2), mp.sqrt(sum(x * x for x in m))
    if len(set(I)) < 3:
        I = [x * (1 + k * k * tiny) for k, x in enumerate(I, 1)]
    if sum(x != 0 for x in m) < 2:
        m = [x + k * tiny * G for k, x in enumerate(m, 1)]
    return I, m


def closed_form(inertia, momentum, t, digits=DIGITS):
    """(m, q) after a time t."""
    with mp.workdps(digits):
        I, m = distinct([mp.mpf(x) for x in inertia], [mp.mpf(x) for x in momentum])
        t = mp.mpf(t)
        GG = sum(x * x for x in m)
        EE = sum(x * x / i for x, i in zip(m, I, strict=True))  # twice the energy
        G = mp.sqrt(GG)
        first, middle, last = sorted(range(3), key=lambda k: I[k])
        if EE * I[middle] == GG:
            raise ValueError("on the separatrix")
        a, c = (first, last) if EE * I[middle] > GG else (last, first)
        b = middle
        hand = 1 if (b - a) % 3 == 1 else -1  # b points the other way where a, b, c are left-handed
        x, y, z = m[a], hand * m[b], m[c]
        A, B, C = I[a], I[b], I[c]
        X = mp.sqrt(A * (GG - EE * C) / (A - C))
        Y = mp.sqrt(B * (EE * A - GG) / (A - B))
        Z = mp.sqrt(C * (EE * A - GG) / (A - C))
        rate = mp.sqrt((GG - EE * C) * (A - B) / (A * B * C)) * mp.sign(x) * (1 if A < C else -1)
        kk = (B - C) * (EE * A - GG) / ((A - B) * (GG - EE * C))
        K, n = mp.ellipk(kk), -X * X * kk / (GG - X * X)
        start = mp.atan2(y / Y, z / Z)
        wraps = mp.floor(start / mp.pi + mp.mpf(1) / 2)
        u = mp.ellipf(start - wraps * mp.pi, kk) + 2 * K * wraps + rate * t
        turns = mp.floor(u / (2 * K) + mp.mpf(1) / 2)
        v = u - 2 * K * turns
        sn, cn, dn = (mp.ellipfun(f, v, m=kk) for f in ("sn", "cn", "dn"))
        way = -1 if int(turns) % 2 else 1
        x1, y1, z1 = mp.sign(x) * X * dn, Y * way * sn, Z * way * cn
        third = mp.ellippi(n, mp.atan2(sn, cn), kk) - mp.ellippi(n, start - wraps * mp.pi, kk)
        third += 2 * (turns - wraps) * mp.ellippi(n, kk)
        precession = G * t / A + G * (EE - GG / A) * third / (rate * (GG - X * X))

        def against(x, y, z):  # attitude against the momentum: cos theta = x/G, and chi with y : z = sin : cos
            side = mp.sqrt(y * y + z * z)
            return multiply(half_turn(1, x / G, side / G), half_turn(3, z / side, y / side))

        p0, p1 = against(x, y, z), against(x1, y1, z1)
        p0 = [p0[0], -p0[1], -p0[2], -p0[3]]
        e = multiply(multiply(p0, about(3, precession)), p1)
        m1, q = [None] * 3, [e[0], None, None, None]
        m1[a], m1[b], m1[c] = x1, hand * y1, z1
        q[1 + b], q[1 + c], q[1 + a] = hand * e[1], e[2], e[3]
        return m1, q
