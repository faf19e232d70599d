"""Rotations of arrays: the public interface of the algebra, as ``polhode.rotation``.

Every function takes array_like with any leading axes, which broadcast against each other, and returns float64 arrays
with the same leading axes; a vector is the last axis of length 3, a quaternion the last axis of length 4 (w, x, y, z),
a matrix the last two axes of length 3. Angles are radians. Attitudes are body to space, ``x_space = R(q) x_body``.

An attitude quaternion need not be normalised, and q and -q are the same attitude. Input that has the wrong shape, is
not finite, or does not describe a rotation raises ``polhode.errors.InvalidInput``.

The formulas are the tuple kernels of ``quaternion``, ``so3``, ``euler`` and ``charts``; ``vectorised`` loops them over
arrays. Rotation vectors are converted to quaternions and back
by ``exp_quaternion`` and ``log_quaternion``, to matrices and back by ``exp_matrix`` and ``log_matrix``.
"""

from polhode.algebra.rotation.maps import (
    Ad,
    cay_matrix,
    cay_quaternion,
    cayinv_matrix,
    cayinv_quaternion,
    dcay,
    dcayinv,
    dexp,
    dexpinv,
    exp_matrix,
    exp_quaternion,
    hat,
    log_matrix,
    log_quaternion,
    vee,
)
from polhode.algebra.rotation.parameters import (
    angular_velocity_from_euler_rates,
    compose,
    euler_from_quaternion,
    euler_increment,
    euler_rates,
    quaternion_from_euler,
)
from polhode.algebra.rotation.quaternions import (
    angle_between,
    as_quaternion,
    axis_angle_from_quaternion,
    conjugate,
    from_scipy,
    from_xyzw,
    matrix_from_quaternion,
    multiply,
    normalize,
    quaternion_from_axis_angle,
    quaternion_from_matrix,
    rotate,
    rotate_inverse,
    to_scipy,
    to_xyzw,
)
from polhode.lazy import public_names

__all__ = [
    "Ad", "angle_between", "angular_velocity_from_euler_rates", "as_quaternion", "axis_angle_from_quaternion",
    "cay_matrix", "cay_quaternion", "cayinv_matrix", "cayinv_quaternion", "compose", "conjugate", "dcay", "dcayinv",
    "dexp", "dexpinv", "euler_from_quaternion", "euler_increment", "euler_rates", "exp_matrix", "exp_quaternion",
    "from_scipy", "from_xyzw", "hat", "log_matrix", "log_quaternion", "matrix_from_quaternion", "multiply",
    "normalize", "quaternion_from_axis_angle", "quaternion_from_euler", "quaternion_from_matrix", "rotate",
    "rotate_inverse", "to_scipy", "to_xyzw", "vee",
]  # fmt: skip
__dir__ = public_names(__all__)
