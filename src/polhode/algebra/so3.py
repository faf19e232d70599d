"""Tuple kernels of the rotation group and its Lie algebra.

Vectors are 3 numbers, quaternions 4 (scalar first), matrices 9 in row order. ``v`` is a rotation vector (angle times
axis) or a Cayley vector, ``w`` any vector. A tangent operator ``d`` of a map E from vectors to rotations is defined by
d/dt E(v) = hat(d_v v') E(v), and acts here on a vector; its matrix has the suffix ``_matrix``. Written with E(v) on the
left, d/dt E(v) = E(v) hat(d_{-v} v').
"""

from math import sqrt

from polhode.algebra.quaternion import canonical, from_matrix, rotate_inverse, to_matrix
from polhode.algebra.series import angle_ratio, cubic, half_sinc, inverse_cubic, inverse_cubic_slope, versine
from polhode.kernel.jit import inlined


@inlined
def add(a, b):
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inlined
def axpy(s, a, b):
    """s a + b."""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@inlined
def scale(s, a):
    """s a."""
    return (s * a[0], s * a[1], s * a[2])


@inlined
def times(a, b):
    """Componentwise product."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


@inlined
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a, b):
    """a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def hat(v):
    """The skew matrix with hat(v) w = v x w."""
    return (0.0, -v[2], v[1], v[2], 0.0, -v[0], -v[1], v[0], 0.0)


@inlined
def vee(m):
    """The vector v whose hat(v) is the skew part of m."""
    return (0.5 * (m[7] - m[5]), 0.5 * (m[2] - m[6]), 0.5 * (m[3] - m[1]))


@inlined
def Ad(m, w):
    """Ad_R w = R w: the vector of the skew matrix R hat(w) R^T, for a rotation matrix R (9 numbers)."""
    return (
        m[0] * w[0] + m[1] * w[1] + m[2] * w[2],
        m[3] * w[0] + m[4] * w[1] + m[5] * w[2],
        m[6] * w[0] + m[7] * w[1] + m[8] * w[2],
    )


@inlined
def columns(a, b, c):
    """The matrix with columns a, b, c."""
    return (a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])


@inlined
def matrix_product(A, B):
    """A B for matrices of 9 numbers."""
    a = Ad(A, (B[0], B[3], B[6]))
    b = Ad(A, (B[1], B[4], B[7]))
    c = Ad(A, (B[2], B[5], B[8]))
    return columns(a, b, c)


@inlined
def exp_quaternion(v):
    """exp of the rotation vector v as a unit quaternion."""
    s, c = half_sinc(dot(v, v))
    return (c, s * v[0], s * v[1], s * v[2])


@inlined
def exp_matrix(v):
    """exp(hat v) as a matrix."""
    return to_matrix(exp_quaternion(v))


@inlined
def log_quaternion(q):
    """The rotation vector of q, length at most pi; q need not be normalised, and q and -q give the same vector."""
    w, x, y, z = canonical(q)
    return scale(angle_ratio(sqrt(x * x + y * y + z * z), w), (x, y, z))


@inlined
def log_matrix(m):
    """The rotation vector of a rotation matrix, length at most pi."""
    return log_quaternion(from_matrix(m))


@inlined
def axis_angle(v):
    """(axis, angle) of a rotation vector as 4 numbers; the axis of the angle 0 is (1, 0, 0)."""
    m = max(abs(v[0]), abs(v[1]), abs(v[2]))
    if m == 0.0:
        return (1.0, 0.0, 0.0, 0.0)
    a = (v[0] / m, v[1] / m, v[2] / m)
    n = sqrt(dot(a, a))
    return (a[0] / n, a[1] / n, a[2] / n, n * m)


@inlined
def cay_quaternion(v):
    """cay(hat v) = (1 - hat v/2)^-1 (1 + hat v/2) as a unit quaternion: a rotation by 2 atan(|v|/2) about v."""
    c = 1.0 / sqrt(1.0 + 0.25 * dot(v, v))
    s = 0.5 * c
    return (c, s * v[0], s * v[1], s * v[2])


@inlined
def cay_matrix(v):
    """cay(hat v) as a matrix."""
    return to_matrix(cay_quaternion(v))


@inlined
def cayinv_quaternion(q):
    """The vector v with cay(hat v) = R(q), 2 (x, y, z)/w; q need not be normalised, but w = 0 (angle pi) has none."""
    s = 2.0 / q[0]
    return (s * q[1], s * q[2], s * q[3])


@inlined
def cayinv_matrix(m):
    """The vector v with cay(hat v) = R."""
    return cayinv_quaternion(from_matrix(m))


@inlined
def dexp(v, w):
    """dexp_v w = w + (1 - cos t)/t^2 v x w + (t - sin t)/t^3 v x (v x w), t = |v|."""
    x = dot(v, v)
    a = cross(v, w)
    return axpy(cubic(x), cross(v, a), axpy(versine(x), a, w))  # [krysl2006, eq. 9]


@inlined
def dexpinv(v, w):
    """The solution u of dexp_v u = w: w - v x w / 2 + (1 - (t/2) cot(t/2))/t^2 v x (v x w); singular at t = 2 pi."""
    a = cross(v, w)
    return axpy(inverse_cubic(dot(v, v)), cross(v, a), axpy(-0.5, a, w))  # [iserles2000]


@inlined
def dcay(v, w):
    """dcay_v w = (w + v x w / 2)/(1 + |v|^2/4)."""
    return scale(1.0 / (1.0 + 0.25 * dot(v, v)), axpy(0.5, cross(v, w), w))  # [iserles2000]


@inlined
def dcayinv(v, w):
    """The solution u of dcay_v u = w: w - v x w / 2 + v (v . w)/4."""
    return axpy(0.25 * dot(v, w), v, axpy(-0.5, cross(v, w), w))  # [iserles2000]


@inlined
def matrix_sum(s, A, B):
    """s A + B for matrices of 9 numbers."""
    a = axpy(s, (A[0], A[1], A[2]), (B[0], B[1], B[2]))
    b = axpy(s, (A[3], A[4], A[5]), (B[3], B[4], B[5]))
    c = axpy(s, (A[6], A[7], A[8]), (B[6], B[7], B[8]))
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@inlined
def outer(a, b):
    """The matrix a b^T."""
    return columns(scale(b[0], a), scale(b[1], a), scale(b[2], a))


@inlined
def turned_back(e, A):
    """R(e)^T A for a matrix of 9 numbers."""
    return columns(
        rotate_inverse(e, (A[0], A[3], A[6])),
        rotate_inverse(e, (A[1], A[4], A[7])),
        rotate_inverse(e, (A[2], A[5], A[8])),
    )


@inlined
def dexpinv_slope(v, w):
    """The matrix of derivatives of ``dexpinv`` by v."""
    x = dot(v, v)
    a = cross(v, w)
    c = inverse_cubic(x)
    inner = matrix_sum(1.0, matrix_product(hat(v), hat(w)), hat(a))
    turning = matrix_sum(-c, inner, hat(scale(0.5, w)))
    return matrix_sum(2.0 * inverse_cubic_slope(x), outer(cross(v, a), v), turning)


@inlined
def dcayinv_slope(v, w):
    """The matrix of derivatives of ``dcayinv`` by v."""
    s = 0.25 * dot(v, w)
    return matrix_sum(0.25, outer(v, w), matrix_sum(0.5, hat(w), (s, 0.0, 0.0, 0.0, s, 0.0, 0.0, 0.0, s)))


E1, E2, E3 = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@inlined
def dexp_matrix(v):
    """The matrix of dexp_v."""
    return columns(dexp(v, E1), dexp(v, E2), dexp(v, E3))


@inlined
def dexpinv_matrix(v):
    """The matrix of dexp_v^-1."""
    return columns(dexpinv(v, E1), dexpinv(v, E2), dexpinv(v, E3))


@inlined
def dcay_matrix(v):
    """The matrix of dcay_v."""
    return columns(dcay(v, E1), dcay(v, E2), dcay(v, E3))


@inlined
def dcayinv_matrix(v):
    """The matrix of dcay_v^-1."""
    return columns(dcayinv(v, E1), dcayinv(v, E2), dcayinv(v, E3))
