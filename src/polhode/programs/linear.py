"""Linear algebra of small matrices while a function is traced: elimination and orthogonalisation, written out.

Pivots are chosen at run time, by ``outweighs``: whichever row is taken, what is computed is the same function of the
entries, so that derivatives hold on either side and no Taylor step ends where another row becomes the larger. Entries
that are zero whatever the function is given cost nothing. A matrix that is singular at run time gives infinite numbers
or none, by which the run ends.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from polhode.programs.tracer import RULES, NotTraceable, Traced, Tracer, array_of, chosen, row_of, traced

LARGEST_MATRIX = 12
"""Most rows and columns of a matrix whose elimination is written out."""
Matrix = list[list[Any]]


class SingularValues:
    """What stands for the singular values that ``lstsq`` returns, which are not computed."""

    def _refused(self, *_: object, **__: object) -> NoReturn:
        raise NotTraceable("it uses the singular values of np.linalg.lstsq, for which there is no rule")

    __array__ = __getitem__ = __iter__ = _refused


def _matrix(a: Any, name: str, square: bool = True) -> Matrix:
    a = array_of(a)
    if a.ndim != 2 or max(a.shape) > LARGEST_MATRIX or (square and a.shape[0] != a.shape[1]):
        kind = "square matrices" if square else "matrices"
        raise NotTraceable(f"it uses {name} of other than {kind} of at most {LARGEST_MATRIX} rows")
    return [list(row) for row in a.tolist()]


def _columns(b: Any, rows: int, name: str) -> tuple[Matrix, bool]:
    """Right-hand sides by rows, and whether they are one vector."""
    b = array_of(b)
    if b.ndim not in (1, 2) or b.shape[0] != rows:
        raise NotTraceable(f"it uses {name} of a matrix and a right-hand side that do not fit")
    return ([[x] for x in b.tolist()] if b.ndim == 1 else [list(row) for row in b.tolist()]), b.ndim == 1


def _zero(x: object) -> bool:
    return bool((x.graph.value(x.row) if isinstance(x, Tracer) else x) == 0.0)


def outweighs(x: Any, y: Any) -> Tracer | bool:
    """Whether the first of two numbers is the larger in size."""
    graph = next((one.graph for one in (x, y) if isinstance(one, Tracer)), None)
    if graph is None:
        return abs(x) > abs(y)
    return Tracer(graph, graph.fun("outweighs", row_of(graph, x), row_of(graph, y)))


def _less(low: list[Any], factor: object, top: list[Any], first: int = 0) -> None:
    """Subtract a multiple of a row from another, from a column on."""
    for j in range(first, len(top)):
        if not _zero(top[j]):
            low[j] = low[j] - factor * top[j]


def _eliminated(a: Matrix, b: Matrix) -> Tracer | float:
    """Reduce a to upper triangular form with partial pivoting, the rows of b with it; the sign of the permutation."""
    n, sign = len(a), 1.0
    for k in range(n):
        below = [i for i in range(k + 1, n) if not _zero(a[i][k])]
        for i in below:
            exchange = True if _zero(a[k][k]) else outweighs(a[i][k], a[k][k])
            for top, low, first in ((a[k], a[i], k), (b[k], b[i], 0)):
                for j in range(first, len(top)):
                    top[j], low[j] = chosen(exchange, low[j], top[j]), chosen(exchange, top[j], low[j])
            sign = chosen(exchange, -sign, sign)
        for i in below:
            factor = a[i][k] / a[k][k]
            _less(a[i], factor, a[k], k + 1)
            _less(b[i], factor, b[k])
    return sign


def _substituted(a: Matrix, b: Matrix) -> Matrix:
    """The solutions of upper triangular equations, in the place of the right-hand sides."""
    for k in reversed(range(len(a))):
        for j in range(k + 1, len(a)):
            if not _zero(a[k][j]):
                _less(b[k], a[k][j], b[j])
        b[k] = [x / a[k][k] for x in b[k]]
    return b


def solve(a: object, b: object) -> Traced:
    """``numpy.linalg.solve`` of one matrix."""
    rows = _matrix(a, "np.linalg.solve")
    columns, flat = _columns(b, len(rows), "np.linalg.solve")
    _eliminated(rows, columns)
    found = array_of(_substituted(rows, columns))
    return found[:, 0] if flat else found


def determinant(a: object) -> Tracer | float:
    """``numpy.linalg.det`` of one matrix."""
    rows = _matrix(a, "np.linalg.det")
    sign = _eliminated(rows, [[] for _ in rows])
    return functools.reduce(lambda x, y: x * y, (row[k] for k, row in enumerate(rows)), sign)


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return sum((p * q for p, q in zip(x, y, strict=True) if not (_zero(p) or _zero(q))), 0.0)


def _orthogonal(columns: Matrix, least: float) -> tuple[Matrix, Matrix]:
    """Orthonormal columns Q and the rows of R, upper triangular, whose product the columns are: by Gram and Schmidt,
    each column twice. Nothing has a value where one depends on those before, to ``least`` of the size of the matrix."""
    n = len(columns)
    total = sum((_dot(c, c) for c in columns), 0.0) * (least * least / n)
    Q: Matrix = []
    R: Matrix = [[0.0] * n for _ in range(n)]
    for k, column in enumerate(columns):
        left = list(column)
        for _ in range(2):
            for j, q in enumerate(Q):
                part = _dot(q, left)
                R[j][k] = R[j][k] + part
                _less(left, part, q)
        square = _dot(left, left)
        if isinstance(square, Tracer):
            g = square.graph
            square = chosen(outweighs(total, square), Tracer(g, g.nan()), square)
        R[k][k] = traced("sqrt", square)
        Q.append([x / R[k][k] for x in left])
    return Q, R


def least_squares(a: object, b: object, rcond: Any = None) -> tuple[Any, Any, int, SingularValues]:
    """``numpy.linalg.lstsq`` of a matrix of full rank; where that fails at run time, nothing has a value."""
    rows = _matrix(a, "np.linalg.lstsq", False)
    sides, flat = _columns(b, len(rows), "np.linalg.lstsq")
    m, n = len(rows), len(rows[0])
    own = isinstance(rcond, int | float) and rcond >= 0.0
    least = float(rcond) if own else float(np.finfo(float).eps) * max(m, n)
    given = [list(c) for c in zip(*sides, strict=True)]
    if m >= n:
        Q, R = _orthogonal([list(c) for c in zip(*rows, strict=True)], least)
        found = array_of(_substituted(R, [[_dot(q, c) for c in given] for q in Q]))
    else:  # the shortest of all solutions: with the transpose Q R, it is Q times the solution of R^T y = b
        Q, R = _orthogonal(rows, least)
        transposed = [[R[m - 1 - j][m - 1 - k] for j in range(m)] for k in range(m)]  # upper triangular, from the end
        y = _substituted(transposed, [list(row) for row in reversed(sides)])[::-1]
        found = array_of([[_dot([q[i] for q in Q], c) for c in zip(*y, strict=True)] for i in range(n)])
    left = array_of(rows) @ found - array_of(sides)
    residuals = np.sum(left * left, axis=0) if m > n else np.zeros(0)
    return (found[:, 0] if flat else found), residuals, min(m, n), SingularValues()


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """``numpy.linalg.norm``, of vectors of any order, of matrices but by their singular values."""
    x = array_of(x)
    size: Any = np.absolute(x)
    add: Any = np.add.reduce
    vectors = isinstance(axis, int) or (axis is None and x.ndim == 1)
    if ord is None or (ord == "fro" and not vectors) or (ord == 2 and vectors):
        return np.sqrt(add(x * x, axis=axis, keepdims=keepdims))
    if vectors and ord in (np.inf, -np.inf):
        return RULES[np.max if ord > 0 else np.min](size, axis=axis, keepdims=keepdims)
    if vectors and isinstance(ord, int | float) and ord != 0:
        return add(size if ord == 1 else size**ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)
    if axis is None and not keepdims and ord in (1, -1, np.inf, -np.inf):
        return RULES[np.max if ord > 0 else np.min](add(size, axis=int(abs(ord) != 1)))
    raise NotTraceable("it uses np.linalg.norm with an order for which there is no rule")


RULES |= {
    np.linalg.solve: solve, np.linalg.det: determinant, np.linalg.lstsq: least_squares, np.linalg.norm: norm,
    np.linalg.inv: lambda a: solve(a, np.eye(len(_matrix(a, "np.linalg.inv")))),
    np.linalg.pinv: lambda a: least_squares(a, np.eye(len(_matrix(a, "np.linalg.pinv", False))), 1e-15)[0],
}  # fmt: skip
