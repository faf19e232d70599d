"""Loads and commutator loads of systems, written by hand from their formulas: roles in Python."""

from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.so3 import axpy, cross, dot, scale, times
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3


def top_loads(part, t, N, y, bodies, parameters, out):
    """Torque of the weight about the fixed point."""
    u = rotate_inverse(get4(y, L.ATTITUDE), (0.0, 0.0, 1.0))
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, scale(-parameters[0], cross(get3(parameters, 1), u)))


def top_commutator(part, t, N, y, bodies, parameters, out):
    """Gradient of T . I^-1 T, T the torque: 2 weight (c x w) x u with w = I^-1 T.

    It is the commutator of [vilmart2013]; the components printed there are not this gradient.
    """
    u = rotate_inverse(get4(y, L.ATTITUDE), (0.0, 0.0, 1.0))
    g = scale(parameters[0], get3(parameters, 1))
    w = times(get3(bodies, L.INVERSE_INERTIA), cross(u, g))
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, scale(2.0, cross(cross(g, w), u)))


def gradient_loads(part, t, N, y, bodies, parameters, out):
    """Torque k u x I u."""
    u = rotate_inverse(get4(y, L.ATTITUDE), (0.0, 0.0, 1.0))
    I = get3(bodies, L.INERTIA)
    k = parameters[0]
    put3(out, 0, (0.0, 0.0, 0.0))
    out[3] = k * (I[2] - I[1]) * u[1] * u[2]
    out[4] = k * (I[0] - I[2]) * u[2] * u[0]
    out[5] = k * (I[1] - I[0]) * u[0] * u[1]


def gradient_commutator(part, t, N, y, bodies, parameters, out):
    """Gradient of T . I^-1 T = k^2 (d1 u2^2 u3^2 + d2 u3^2 u1^2 + d3 u1^2 u2^2), d1 = (I3 - I2)^2 / I1 and so on."""
    u = rotate_inverse(get4(y, L.ATTITUDE), (0.0, 0.0, 1.0))
    I = get3(bodies, L.INERTIA)
    a, b, c = I[2] - I[1], I[0] - I[2], I[1] - I[0]
    d = times((a * a, b * b, c * c), get3(bodies, L.INVERSE_INERTIA))
    s = times(u, u)
    k = 2.0 * parameters[0] * parameters[0]
    put3(out, 0, (0.0, 0.0, 0.0))
    out[3] = k * u[1] * u[2] * (d[0] * (s[2] - s[1]) + (d[2] - d[1]) * s[0])
    out[4] = k * u[2] * u[0] * (d[1] * (s[0] - s[2]) + (d[0] - d[2]) * s[1])
    out[5] = k * u[0] * u[1] * (d[2] * (s[1] - s[0]) + (d[1] - d[0]) * s[2])


def wall_loads(part, t, N, y, bodies, parameters, out):
    """Torque V'(R33) u x e3 in the body frame, with u the vertical in the body frame."""
    e = get3(parameters, 1)
    u = rotate_inverse(get4(y, L.ATTITUDE), (0.0, 0.0, 1.0))
    d = 1.1 + dot(u, e)
    slope = parameters[0] * (0.01 * d**-11 - d**-2)
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, scale(slope, cross(u, e)))


def wall_commutator(part, t, N, y, bodies, parameters, out):
    """Gradient of T . I^-1 T, T the torque: 2 (V' e x w + V'' (e . w x u) e) x u with w = I^-1 T."""
    e = get3(parameters, 1)
    u = rotate_inverse(get4(y, L.ATTITUDE), (0.0, 0.0, 1.0))
    d = 1.1 + dot(u, e)
    slope = parameters[0] * (0.01 * d**-11 - d**-2)
    curve = parameters[0] * (2.0 * d**-3 - 0.11 * d**-12)
    w = times(get3(bodies, L.INVERSE_INERTIA), scale(slope, cross(u, e)))
    G = axpy(curve * dot(e, cross(w, u)), e, scale(slope, cross(e, w)))
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, scale(2.0, cross(G, u)))


def field_loads(part, t, N, y, bodies, parameters, out):
    """Spring and weight."""
    r = get3(y, L.POSITION)
    for k in range(3):
        out[k] = parameters[3 + k] - parameters[k] * r[k]
    put3(out, 3, (0.0, 0.0, 0.0))


def field_commutator(part, t, N, y, bodies, parameters, out):
    """Gradient of F . F / mass."""
    r = get3(y, L.POSITION)
    for k in range(3):
        out[k] = -2.0 * parameters[k] * bodies[L.INVERSE_MASS] * (parameters[3 + k] - parameters[k] * r[k])
    put3(out, 3, (0.0, 0.0, 0.0))
