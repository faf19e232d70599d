"""``taylor.rotate_free`` with plain numbers, one after another: the same map, in a form that derivatives are taken of.

Series of the vertical u and of the angular velocity w, the smallest rotation from u to its end, and the turn about it
by a quadrature; see there. Sums are not compensated.
"""

from __future__ import annotations

from math import inf, pi, sqrt

from polhode.algebra.quaternion import compose, rotate_inverse
from polhode.algebra.series import half_angle
from polhode.algebra.so3 import add, axpy, cross, dot, scale, times
from polhode.flows.taylor import NODES, POWERS, WEIGHTS
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import hole

ORDER = hole("ORDER", "The order of the series.")
COUNT = hole("COUNT", "The number of nodes.")
series = hole("series(part, t, k, u, bodies, parameters, out)", "The Taylor coefficients of the torque.")

W = L.SERIES_SIZE
"""Where the coefficients of w begin in ``work``; those of u, and the memory of the series, are before."""


def rotate_free(i, t, h, p):
    """Advance attitude and angular momentum of body i from time t by a time h; returns the status."""
    a, c = L.BODY * i, L.CONSTANTS * i
    m, q = get3(p.y, a + L.ANGULAR), get4(p.y, a + L.ATTITUDE)
    j, I = get3(p.bodies, c + L.INVERSE_INERTIA), get3(p.bodies, c + L.INERTIA)
    g = (I[1] - I[2], I[2] - I[0], I[0] - I[1])
    r = p.work
    u = rotate_inverse(q, (0.0, 0.0, 1.0))
    put3(r, 0, u)
    put3(r, W, times(j, m))
    dm, du = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(ORDER):
        series(L.SERIES, t, k, r, p.bodies, p.parameters, p.load)
        x = y = z = 0.0
        turned = (0.0, 0.0, 0.0)
        for n in range(k + 1):
            v, w = get3(r, W + 3 * n), get3(r, W + 3 * (k - n))
            x += v[1] * w[2]
            y += v[2] * w[0]
            z += v[0] * w[1]
            turned = add(turned, cross(get3(r, 3 * n), w))
        f = h / (k + 1)
        gain = scale(f, add(times(g, (x, y, z)), get3(p.load, 0)))
        turned = scale(f, turned)
        put3(r, 3 * (k + 1), turned)
        put3(r, W + 3 * (k + 1), times(j, gain))
        dm, du = add(dm, gain), add(du, turned)
        if k == 0 and p.step_info[L.GUARDED] != 0.0 and dot(turned, turned) > pi * pi:
            return L.TOO_LARGE
    u1 = add(u, du)
    s, x3 = add(u, u1), cross(du, u)
    d, f = 1.0 + dot(u, u1), 1.0 / sqrt(dot(s, s))
    n1 = 1.0 / sqrt(d * d + dot(x3, x3))
    e, b = scale(n1, x3), scale(f, s)
    psi = 0.0
    for node in range(COUNT):
        v, w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(ORDER + 1):
            power = p.coefficients[POWERS + node + NODES * k]
            v, w = axpy(power, get3(r, 3 * k), v), axpy(power, get3(r, W + 3 * k), w)
        psi += p.coefficients[WEIGHTS + node] * dot(w, add(v, b)) / (1.0 + dot(v, b))
    sn, cs = half_angle(h * psi)
    e = axpy(sn, b, scale(cs, e))
    put4(p.y, a + L.ATTITUDE, compose(q, (cs * n1 * d, e[0], e[1], e[2])))
    put3(p.y, a + L.ANGULAR, add(m, dm))
    return L.OK if abs(dot(dm, dm) + psi) < inf else L.NOT_FINITE
