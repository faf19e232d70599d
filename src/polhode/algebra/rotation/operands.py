"""The arguments of ``polhode.rotation``: vectors, quaternions, attitudes, matrices, and how they are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra.vectorised import Operand, vectors
from polhode.arguments import UNKNOWN, Array, array, choice
from polhode.errors import InvalidInput

MATRIX_TOLERANCE = 1e-6
"""Largest deviation from orthogonal (any entry of R R^T - 1), or from skew (relative to the largest entry)."""

HALF_TURN = 1e-15
"""|w| of a unit quaternion below which it counts as a half turn (rotation by pi), which has no Cayley vector."""


def read_quaternions(value: ArrayLike, name: str) -> Array:
    """Quaternions (..., 4) of any norm."""
    a = array(value, name)
    if a.shape[-1:] != (4,):
        raise InvalidInput(f"{name} has shape {a.shape}; its last axis must have length 4, ordered w, x, y, z")
    return a


def read_attitudes(value: ArrayLike, name: str) -> Array:
    """Attitude quaternions: not zero, and scaled by a power of two where squares would overflow or underflow."""
    a = read_quaternions(value, name)
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("...i,...i->...", a, a)
    if squares.min(initial=1.0) > 1e-200 and squares.max(initial=1.0) < 1e200:
        return a
    largest = np.abs(a).max(axis=-1, keepdims=True)
    if not largest.all():
        raise InvalidInput(f"{name} contains a zero quaternion, which is no attitude; the identity is (1, 0, 0, 0)")
    exponent = np.frexp(largest)[1]
    return np.ldexp(a, np.where(np.abs(exponent) > 300, -exponent, 0))


def read_matrices(value: ArrayLike, name: str, unit: str = "") -> Array:
    """Matrices (..., 3, 3)."""
    a = array(value, name, unit)
    if a.shape[-2:] != (3, 3):
        raise InvalidInput(f"{name} has shape {a.shape}; its last two axes must be 3 by 3")
    return a


def flat(a: Array) -> Array:
    """Matrices as rows of 9 (..., 9)."""
    return a.reshape((*a.shape[:-2], 9))


def read_rotations(value: ArrayLike, name: str) -> Array:
    """Rotation matrices, checked, as rows of 9."""
    a = read_matrices(value, name)
    if a.size:
        if np.abs(a).max() > 2.0:
            raise InvalidInput(f"{name} is not a rotation matrix: it has entries beyond 1; orthogonalise it first")
        defect = np.abs(a @ np.swapaxes(a, -1, -2) - np.eye(3)).max()
        if defect > MATRIX_TOLERANCE:
            raise InvalidInput(
                f"{name} is not a rotation matrix: R R^T differs from 1 by {defect:.1e}; orthogonalise it first"
            )
        if np.linalg.det(a).min() < 0.0:
            raise InvalidInput(f"{name} is a reflection (determinant -1), not a rotation; flip the sign of one column")
    return flat(a)


def no_half_turns(q: Array, name: str) -> Array:
    """Attitudes, of which none may be a half turn."""
    if q.size and (np.abs(q[..., 0]) <= HALF_TURN * np.linalg.norm(q, axis=-1)).any():
        raise InvalidInput(f"{name} contains a half turn, which has no Cayley vector; use log_quaternion or log_matrix")
    return q


def lookup(what: str, name: str, table: Any) -> Any:
    """The entry of a table, or an error that names the known ones."""
    return table[choice(name, what, table)]


VECTOR, ROTATION_VECTOR, CAYLEY_VECTOR = vectors(UNKNOWN), vectors("rad"), vectors()
QUATERNION = Operand(4, read_quaternions)
ATTITUDE = Operand(4, read_attitudes, (1e-74, 1e74), ("a zero quaternion",))
ROTATION = Operand(9, read_rotations, None, ("not a rotation within 1e-6",))
