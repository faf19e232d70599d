"""Solutions of implicit steps by continuation in the step, for many states at once, in numpy alone.

A residual is ``residual(x, h) -> (n, d)`` for unknowns ``x`` (n, d); its solution at h = 0 is known. The step grows in
equal increments, and after each Newton's method with central differences of the whole residual, loads and all, goes to
1e-9 or less, at the last to round-off, from a parabola through the last three solutions. Where a branch turns back, or
may have, the answer is NaN: the increments of an unknown must go on changing little, and the determinant of the
Jacobian must stay positive.
"""

import numpy as np


def cross(a, b):
    """a x b over the last axis; for few vectors much faster than numpy's, the same to the last bit."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for k, i, j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., k] = a[..., i] * b[..., j] - a[..., j] * b[..., i]
    return out


def quaternion(v):
    """Unit quaternion of a rotation vector, (..., 4)."""
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), np.sinc(angle / (2 * np.pi)) * v / 2], -1)


def cayley(v):
    """Unit quaternion of the Cayley transform of a rotation vector."""
    q = np.concatenate([np.ones((*v.shape[:-1], 1)), v / 2], -1)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def product(a, b):
    """Hamilton product."""
    w, v, u, r = a[..., :1], a[..., 1:], b[..., 1:], b[..., :1]
    return np.concatenate([w * r - (v * u).sum(-1, keepdims=True), w * u + r * v + cross(v, u)], -1)


def back(q, v):
    """The vector v seen from a body with the attitude q."""
    t = 2 * cross(v, q[..., 1:])
    return v + q[..., :1] * t + cross(t, q[..., 1:])


def jacobian(residual, x, h):
    """Central differences, (n, d, d)."""
    n, d = x.shape
    out = np.empty((n, d, d))
    size = 1e-6 * (1 + np.abs(x).max(1, keepdims=True))
    for c in range(d):
        e = np.zeros((1, d))
        e[0, c] = 1.0
        out[:, :, c] = (residual(x + size * e, h) - residual(x - size * e, h)) / (2 * size)
    return out


def connected(residual, start, h, increments=200):
    """The solutions at h that are connected to ``start`` at 0, (n, d); NaN where the branch ends before."""
    older, before, x = start.copy(), start.copy(), start.copy()
    ended = np.zeros(len(x), bool)
    sign = None
    for k in range(1, increments + 1):
        g, small = h * k / increments, 1e-9 if k == increments else 1e-6  # one more step of Newton's makes it 1e-12
        guess = 2 * x - before
        y = guess + (x - 2 * before + older) * (k > 3)
        for _ in range(8):
            J = jacobian(residual, y, g)
            J[ended | ~np.isfinite(J).all((1, 2))] = np.eye(x.shape[1])
            correction = np.linalg.solve(J, np.nan_to_num(residual(y, g))[..., None])[..., 0]
            y = y - correction
            if np.abs(correction[~ended]).max(initial=0.0) < small:
                break
        now = np.sign(np.linalg.det(J))
        sign = now if sign is None else sign
        left = np.linalg.norm(residual(y, g), axis=1)
        bent = np.linalg.norm(y - guess, axis=1) > 0.02 * (1 + np.linalg.norm(start, axis=1))
        ended |= bent | (now != sign) | ~(left < 1e-9 * (1 + np.linalg.norm(start, axis=1)))
        older, before, x = before, x, np.where(ended[:, None], x, y)
    x = x.copy()
    x[ended] = np.nan
    return x


def krysl_step(method, torque, inverse, q0, m0):
    """The printed equations of a step of one body, ``residual(x, h)`` of the new momentum [krysl2006]."""
    T0 = torque(q0, m0)
    rate = lambda m: cross(m, inverse * m)  # noqa: E731

    def residual(x, h):
        mean = (m0 + x) / 2
        if method == "bbtrap":
            e = quaternion(h * inverse * mean)
            return x - back(e, m0 + h / 2 * T0) - h / 2 * torque(product(q0, e), x)
        if method == "akw":
            end = product(q0, cayley(h * inverse * mean))
            return x - m0 - h * rate(mean) - h / 2 * (T0 + torque(end, x))
        if method == "swc1":
            half = quaternion(h / 2 * inverse * mean)
            return x - back(half, back(half, m0) + h * torque(product(q0, half), mean))
        e = quaternion(h * inverse * x)
        T = torque(product(q0, e), x)
        return x - back(e, m0) - h * T if method == "backward_euler_m" else x - m0 - h * (rate(x) + T)

    return residual


def tangent(v, w):
    """Rate of the rotation vector v of a turn whose angular velocity, in the turned body, is w."""
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    half = angle / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        c = np.where(angle > 1e-3, (1 - half / np.tan(half)) / angle**2, 1 / 12 + angle**2 / 720)
    return w + cross(v, w) / 2 + c * cross(v, cross(v, w))


def stages(A, torque, inverse, q0, m0, turned):
    """Slopes of a Runge-Kutta step in the rotation vector and the momentum, ``residual(x, h)``, and their start.

    ``turned``: the momentum is that in the body frame of the start [krysl2006, MKRK], else in the turning body's
    [holzinger2021, eq. 51].
    """
    A = np.asarray(A)
    s, n = len(A), len(m0)

    def slopes(psi, mu):
        e = quaternion(psi)
        m = back(e, mu) if turned else mu
        T = torque(product(q0, e) if psi.ndim == 2 else product(q0[:, None], e), m)
        w = inverse * m
        return np.concatenate([tangent(psi, w), back(e * [1, -1, -1, -1], T) if turned else T + cross(m, w)], -1)

    def residual(x, h):
        k = x.reshape(n, s, 6)
        z = h * np.einsum("ij,njc->nic", A, k)
        return (k - slopes(z[..., :3], m0[:, None] + z[..., 3:])).reshape(n, 6 * s)

    start = np.repeat(slopes(0 * m0, m0)[:, None], s, 1).reshape(n, 6 * s)
    return residual, start


def stages_end(x, b, h, m0, turned):
    """The momentum at the end of such a step, from its slopes."""
    z = h * np.einsum("j,njc->nc", np.asarray(b), x.reshape(len(m0), len(b), 6))
    return back(quaternion(z[:, :3]), m0 + z[:, 3:]) if turned else m0 + z[:, 3:]
