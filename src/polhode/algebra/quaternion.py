"""Tuple kernels of quaternions: scalar first (w, x, y, z), Hamilton product, body to space.

Kernels that rotate a vector or return a matrix expect a unit quaternion, see ``normalize``.
"""

from math import atan2, sqrt

from polhode.kernel.jit import inlined


@inlined
def multiply(a, b):
    """Hamilton product: R(multiply(a, b)) = R(a) R(b)."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inlined
def bounded(r):
    """Renormalize a product of unit quaternions if its length has drifted by more than 1e-14.

    The same increment rounds the same way in every step, so the length drifts by up to an ulp per step (measured:
    3.5e-9 after 3e7 steps). Correcting it in every step would be worse: the correction rounds each component, which
    rotates the attitude systematically (3.5e-11 rad after 1e7 steps, against 1e-13).
    """
    n = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]
    if abs(n - 1.0) > 2e-14:
        f = 1.5 - 0.5 * n
        return (f * r[0], f * r[1], f * r[2], f * r[3])
    return r


@inlined
def compose(q, e):
    """q e for unit quaternions, see ``bounded``."""
    return bounded(multiply(q, e))


@inlined
def conjugate(q):
    """(w, -x, -y, -z): the inverse of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


@inlined
def norm(q):
    """Euclidean length; over- and underflows outside 1e-150 ... 1e150."""
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])


@inlined
def normalize(q):
    """q divided by its norm, which must not be zero."""
    n = norm(q)
    return (q[0] / n, q[1] / n, q[2] / n, q[3] / n)


@inlined
def canonical(q):
    """Of q and -q, which are the same attitude, the one whose first nonzero component is positive."""
    if q[0] < 0.0 or (q[0] == 0.0 and (q[1] < 0.0 or (q[1] == 0.0 and (q[2] < 0.0 or (q[2] == 0.0 and q[3] < 0.0))))):
        return (-q[0], -q[1], -q[2], -q[3])
    return (q[0], q[1], q[2], q[3])


@inlined
def rotate(q, v):
    """R(q) v: body to space for an attitude quaternion."""
    a = q[2] * v[2] - q[3] * v[1] + q[0] * v[0]
    b = q[3] * v[0] - q[1] * v[2] + q[0] * v[1]
    c = q[1] * v[1] - q[2] * v[0] + q[0] * v[2]
    return (v[0] + 2.0 * (q[2] * c - q[3] * b), v[1] + 2.0 * (q[3] * a - q[1] * c), v[2] + 2.0 * (q[1] * b - q[2] * a))


@inlined
def rotate_inverse(q, v):
    """R(q)^T v: space to body for an attitude quaternion."""
    return rotate(conjugate(q), v)


@inlined
def to_matrix(q):
    """R(q), 9 numbers in row order: x_space = R x_body."""
    x, y, z = 2.0 * q[1], 2.0 * q[2], 2.0 * q[3]
    wx, wy, wz = q[0] * x, q[0] * y, q[0] * z
    xx, xy, xz = q[1] * x, q[1] * y, q[1] * z
    yy, yz, zz = q[2] * y, q[2] * z, q[3] * z
    return (
        1.0 - (yy + zz), xy - wz, xz + wy,
        xy + wz, 1.0 - (xx + zz), yz - wx,
        xz - wy, yz + wx, 1.0 - (xx + yy),
    )  # fmt: skip


@inlined
def from_matrix(m):
    """Unit quaternion of a rotation matrix (9 numbers in row order), in its ``canonical`` sign.

    Starts from the largest of the four components (Shepperd's method), so there is no cancellation at any attitude. A
    matrix that is orthogonal only to a small error e gives a rotation that differs from it by O(e).
    """
    trace = m[0] + m[4] + m[8]
    if trace >= m[0] and trace >= m[4] and trace >= m[8]:
        q = (1.0 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1])
    elif m[0] >= m[4] and m[0] >= m[8]:
        q = (m[7] - m[5], 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6])
    elif m[4] >= m[8]:
        q = (m[2] - m[6], m[1] + m[3], 1.0 + m[4] - m[8] - m[0], m[5] + m[7])
    else:
        q = (m[3] - m[1], m[2] + m[6], m[5] + m[7], 1.0 + m[8] - m[0] - m[4])
    return canonical(normalize(q))


@inlined
def angle_between(a, b):
    """Angle, 0 ... pi, of the rotation from attitude a to attitude b, which need not be normalised.

    The vector part of conjugate(a) b is computed as that of conjugate(a) (b - a), the same in exact arithmetic, so it
    is accurate where a and b nearly agree, and zero where they are equal.
    """
    c = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    if c < 0.0:
        b = (-b[0], -b[1], -b[2], -b[3])
    r = multiply(conjugate(a), (b[0] - a[0], b[1] - a[1], b[2] - a[2], b[3] - a[3]))
    return 2.0 * atan2(sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3]), abs(c))
