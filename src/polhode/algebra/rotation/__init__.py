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

from polhode.algebra.rotation import maps, parameters, quaternions
from polhode.algebra.rotation.maps import *  # noqa: F403
from polhode.algebra.rotation.parameters import *  # noqa: F403
from polhode.algebra.rotation.quaternions import *  # noqa: F403
from polhode.lazy import public_names

__all__ = sorted([*maps.__all__, *parameters.__all__, *quaternions.__all__])
__dir__ = public_names(__all__)
