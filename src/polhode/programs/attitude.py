"""Attitudes in a function that is traced: a quaternion that knows the rows of its matrix.

The rows u, v, w of R(q) are the axes of space seen from the body, inputs in their own right. A function that turns
vectors by polhode's ``rotate``, ``rotate_inverse``, ``to_matrix`` or ``matrix_from_quaternion`` computes with them, and
the derivative of a row u along a turn about the body axis e is ``u x e``: shorter than by way of the quaternion, and
torques come out as one would write them. A formula of the user's in the quaternion itself works as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.programs.graph import Graph
from polhode.programs.tracer import Traced, Tracer, array_of

ROWS = "uvw"
"""Names of the rows of the matrix: the inputs of attitude ``q`` are q0 ... q3, q_u0 ... q_w2."""


class Attitude(Traced):
    """A quaternion (w, x, y, z), body to space, with its matrix; what is computed from it is a plain array."""

    matrix: Any = None


def vector(g: Graph, name: str, size: int, first: int = 0) -> Traced:
    """The inputs name0, name1, ..., or those from another number on, as an array."""
    return array_of([Tracer(g, g.input(f"{name}{first + k}")) for k in range(size)])


def inputs(g: Graph, name: str, first: int, shape: tuple[int, ...]) -> Any:
    """The inputs from a number on, as a number or an array of this shape."""
    found = vector(g, name, int(np.prod(shape)), first)
    return found.reshape(shape) if shape else found[0]


def attitude(g: Graph, name: str, frame: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0), body: int = 0) -> Attitude:
    """The attitude of a body as a function of the user sees it."""
    q = vector(g, name, 4, 4 * body).view(Attitude)
    q.matrix = np.stack([vector(g, f"{name}_{row}", 3, 3 * body) for row in ROWS])
    return q if tuple(frame) == (1.0, 0.0, 0.0, 0.0) else multiply(q, conjugate(frame))


def _formula(q: Any) -> Traced:
    """R(q) of a unit quaternion."""
    w, x, y, z = q
    rows = [
        [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.array(rows, dtype=object).view(Traced)


def matrix_of(q: object) -> Traced:
    """R(q), body to space, 3 x 3."""
    if isinstance(q, Attitude) and q.matrix is not None and q.shape == (4,):
        return q.matrix
    return _formula(q)


def multiply(a: Attitude, b: Any) -> Any:
    """Hamilton product; of an attitude and another quaternion, an attitude."""
    w, x, y, z = a
    k, l, m, n = b
    q = array_of(
        [w * k - x * l - y * m - z * n, w * l + x * k + y * n - z * m,
         w * m - x * n + y * k + z * l, w * n + x * m - y * l + z * k]
    )  # fmt: skip
    if isinstance(a, Attitude) and a.matrix is not None and a.shape == (4,):
        q = q.view(Attitude)
        q.matrix = a.matrix @ _formula(b)
    return q


def conjugate(q: Any) -> Any:
    """(w, -x, -y, -z)."""
    return array_of([q[0], -q[1], -q[2], -q[3]])


def normalize(q: object) -> Any:
    """q over its norm; an attitude of the state has length 1 and is itself."""
    return q if isinstance(q, Attitude) and q.matrix is not None else array_of(q) / np.linalg.norm(array_of(q))


BOTH: dict[str, Any] = {
    "rotate": lambda q, v: matrix_of(q) @ array_of(v), "rotate_inverse": lambda q, v: matrix_of(q).T @ array_of(v),
    "multiply": multiply, "conjugate": conjugate, "normalize": normalize,
}  # fmt: skip
STAND_INS = {
    **{("polhode.algebra.quaternion", name): one for name, one in BOTH.items()},
    **{("polhode.algebra.rotation.quaternions", name): one for name, one in BOTH.items()},
    ("polhode.algebra.quaternion", "to_matrix"): lambda q: tuple(matrix_of(q).ravel()),
    ("polhode.algebra.rotation.quaternions", "matrix_from_quaternion"): matrix_of,
}
"""What a traced function calls in the place of polhode's functions, by module and name."""
