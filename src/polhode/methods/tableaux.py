r"""Runge-Kutta tableaux: the coefficients A, b, c of each method, and properties derived from them.

A :class:`Tableau` has a name, the coefficients and a citation. Everything else (number of stages, explicit or implicit,
order, symmetric, symplectic) is computed from the coefficients on request. The same tableau serves a Munthe-Kaas method
on a group and a Runge-Kutta method on a vector space.

One step of size h of y' = f(t, y) is

.. math::

    Y_i = y_0 + h \sum_j a_{ij} f(t_0 + c_j h, Y_j), \qquad y_1 = y_0 + h \sum_j b_j f(t_0 + c_j h, Y_j).

Rows with a name of their own

=====================  ======  =====  ===================================================
name                   stages  order  remark
=====================  ======  =====  ===================================================
``forward_euler``      1       1      explicit
``explicit_midpoint``  2       2      explicit
``heun``               2       2      explicit trapezoid
``heun3``              3       3      explicit
``kutta3``             3       3      explicit, Simpson weights
``rk4``                4       4      explicit, "the" Runge-Kutta method
``rk4_38``             4       4      explicit, 3/8 rule
``bs3``                3       3      explicit, embedded 3(2), Bogacki-Shampine
``dp5``                6       5      explicit, embedded 5(4), Dormand-Prince
``dp8``                12      8      explicit, embedded 8(5,3), Dormand-Prince and Hairer
``cv8``                11      8      explicit, Cooper-Verner
``backward_euler``     1       1      implicit, the same numbers as ``radau_iia1``
``midpoint``           1       2      implicit, the same numbers as ``gauss2``
``trapezoid``          2       2      implicit, the same numbers as ``lobatto_iiia2``
``sdirk2``             2       2      diagonally implicit, stiffly accurate
``sdirk3``             2       3      diagonally implicit
=====================  ======  =====  ===================================================

An embedded method also has an error estimate and dense output, for adaptive steps. With the slopes K_1 ... K_s of the
stages and K_(s+1), the slope at the end of the step, the error estimates are h times the sum of these slopes weighted
by ``errors``; the dense output, with further stages where it needs them, is

.. math::

    y(t_0 + \theta h) = y_0 + h \sum_j P_j(\theta) K_j, \qquad P_j(\theta) = \sum_k p_{jk} \theta^k.

========  ==================  =========================  =========================
name      order of estimate   order of the dense output  stages for it alone
========  ==================  =========================  =========================
``bs3``   2                   3                          0
``dp5``   4                   4                          0
``dp8``   7                   7                          3
========  ==================  =========================  =========================

Families of any size, named by their order

===================  ============  =========  ======================================
name                 orders p      stages     kept
===================  ============  =========  ======================================
``gauss{p}``         2, 4, 6, ...  p/2        symmetric, symplectic
``radau_iia{p}``     1, 3, 5, ...  (p + 1)/2  stiffly accurate
``lobatto_iiia{p}``  2, 4, 6, ...  p/2 + 1    symmetric, stiffly accurate
``lobatto_iiib{p}``  2, 4, 6, ...  p/2 + 1    symmetric; with IIIA a symplectic pair
``lobatto_iiic{p}``  2, 4, 6, ...  p/2 + 1    stiffly accurate
===================  ============  =========  ======================================

The families are computed in decimal arithmetic of at least 50 digits and rounded once, so that every entry is the
double nearest to the true number.

Sources: [butcher2016], [hairer1993, II], [hairer1996, IV.5 and IV.6], [hairer2006, II.1].
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from math import comb, prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import array, text
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.lazy import Table, unmade
from polhode.plugins import load_plugins

__all__ = [
    "LARGEST_FAMILY_ORDER", "LARGEST_TREE_ORDER", "TABLEAUX", "Assumptions", "Tableau", "add_tableau",
    "order_residuals", "rooted_trees", "simplifying_assumptions", "tableau", "tableau_names",
]  # fmt: skip

# Tolerance of identities between coefficients, relative to the sum of the absolute values of the terms: far above the
# error of rounding to doubles (1e-15), far below that of a misprinted digit (1e-10).
TOLERANCE = 1e-12

# Order conditions are evaluated tree by tree up to this order (1205 trees).
LARGEST_TREE_ORDER = 10

# Guards against typing errors such as gauss4000, which would compute for hours; not a limit of the arithmetic.
LARGEST_FAMILY_ORDER = 100

# Larger coefficients are taken for typing errors; their products in the order conditions would overflow.
_LARGEST_ENTRY = 1e6

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FAMILY_NAME = re.compile(r"([a-z_]+)([0-9]*)")

Tree = tuple[Any, ...]  # a rooted tree is the tuple of the trees hanging from its root


# --- the record -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Tableau:
    """The coefficients of one Runge-Kutta method; checked when built, immutable afterwards.

    Parameters
    ----------
    name : str
        Lower-case name; letters, digits and underscores.
    A : array_like, shape (s, s)
        Stage coefficients. For an explicit method the rows may end before the diagonal, as printed (row i, counted
        from 0, has i entries; the first row is ``()``).
    b : array_like, shape (s,)
        Weights; their sum is 1.
    c : array_like, shape (s,), optional
        Nodes; must be the row sums of `A`, which is the default.
    cite : str, optional
        Key of the source in the bibliography.
    description : str, optional
        One line for tables of methods.
    errors : sequence of one or two array_like, shape (s + 1,), optional
        The error of a step is estimated by h times the s slopes and the slope at the end of the step with these
        weights: b minus the weights of an embedded method of another order. The norms E_1 and E_2 of two estimates are
        combined to ``E_1^2 / sqrt(E_1^2 + 0.01 E_2^2)`` [hairer1993, II.10].
    dense : pair (extra, P), optional
        Dense output. ``extra``: rows of A of additional stages, row k (from 0) with s + 1 + k entries: for the s
        stages, the end of the step, the additional stages before. ``P``: coefficients of theta, theta^2, ... for each
        slope, shape (s + 1 + number of additional stages, degree).

    Attributes
    ----------
    A, b, c : ndarray of float64, read-only
        As above; `c` is always present.
    errors : tuple of ndarray, read-only
        As above; empty where there is no estimate.
    dense : pair of a tuple of ndarray and an ndarray, read-only, or None
        As above.

    Raises
    ------
    InvalidInput
        The shapes do not fit, an entry is not a finite real number, the weights do not sum to 1, or a node is not the
        sum of its row; the weights of an error estimate do not sum to 0; dense output does not end at the result of
        the step, or is not even of order 1. Sums are compared to 1e-12, relative to the absolute values summed.

    Notes
    -----
    Two tableaux are equal when name, coefficients, citation and description are; tableaux are hashable.
    """

    name: str
    A: Any
    b: Any
    c: Any = None
    cite: str = ""
    description: str = ""
    errors: Any = ()
    dense: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InvalidInput(
                f"{shown(self.name)} cannot name a tableau: use at most 64 lower-case letters, digits and underscores, "
                "a letter first"
            )
        b = self._checked_vector("b", self.b)
        A = self._checked_matrix(self.A, b.size)
        sums = A.sum(axis=1)
        c = sums if self.c is None else self._checked_vector("c", self.c)
        if c.size != b.size:
            raise InvalidInput(f"tableau {self.name!r}: c has {c.size} entries but b has {b.size}")
        if abs(b.sum() - 1.0) > TOLERANCE * np.abs(b).sum() or not b.any():
            raise InvalidInput(f"tableau {self.name!r}: the weights b sum to {b.sum():.17g}, they must sum to 1")
        wrong = np.flatnonzero(np.abs(c - sums) > TOLERANCE * (np.abs(A).sum(axis=1) + np.abs(c)))
        if wrong.size:
            i = int(wrong[0])
            raise InvalidInput(
                f"tableau {self.name!r}: row {i + 1} of A sums to {sums[i]:.17g} but c gives {c[i]:.17g} there; "
                "correct one of them, or leave c out"
            )
        errors = self._checked_errors(b.size)
        dense = None if self.dense is None else self._checked_dense(b)
        for key, numbers in (("A", A), ("b", b), ("c", c)):
            object.__setattr__(self, key, _locked(numbers))
        object.__setattr__(self, "errors", tuple(map(_locked, errors)))
        if dense is not None:
            object.__setattr__(self, "dense", (tuple(map(_locked, dense[0])), _locked(dense[1])))

    def _checked_vector(self, what: str, values: object) -> np.ndarray:
        """The values as a one-dimensional array of finite floats, checked."""
        row = array(values, f"tableau {self.name!r}: {what}")
        if row.ndim != 1:
            raise InvalidInput(f"tableau {self.name!r}: {what} must be a plain list of real numbers")
        usable = np.abs(row) < _LARGEST_ENTRY  # False for NaN
        if not usable.all():
            j = int(np.flatnonzero(~usable)[0])
            raise InvalidInput(
                f"tableau {self.name!r}: entry {j + 1} of {what} is {row[j]}, it must be finite "
                f"and smaller than {_LARGEST_ENTRY:g}"
            )
        return row

    def _checked_matrix(self, rows: Any, stages: int) -> np.ndarray:
        """The full (s, s) matrix, from full rows or from the rows below the diagonal."""
        if not _is_list(rows):
            raise InvalidInput(f"tableau {self.name!r}: A must be a list of rows of real numbers")
        if len(rows) != stages:
            raise InvalidInput(f"tableau {self.name!r}: A has {len(rows)} rows but b has {stages} entries")
        given = [self._checked_vector(f"row {i + 1} of A", rows[i]) for i in range(stages)]
        lengths = [row.size for row in given]
        if lengths != [stages] * stages and lengths != list(range(stages)):
            raise InvalidInput(
                f"tableau {self.name!r}: the rows of A have {', '.join(map(str, lengths))} entries; "
                f"each must have {stages}, or only those below the diagonal"
            )
        A = np.zeros((stages, stages))
        for i, row in enumerate(given):
            A[i, : row.size] = row
        return A

    def _checked_rows(self, what: str, rows: Any, lengths: Sequence[int], counted: str) -> list[np.ndarray]:
        """The rows as arrays, their lengths checked; ``counted`` explains the lengths in the error message."""
        given = [self._checked_vector(f"{what} {i + 1}", row) for i, row in enumerate(rows)]
        for i, (row, length) in enumerate(zip(given, lengths, strict=True)):
            if row.size != length:
                raise InvalidInput(
                    f"tableau {self.name!r}: {what} {i + 1} has {row.size} entries; it must have {length}, {counted}"
                )
        return given

    def _checked_errors(self, stages: int) -> list[np.ndarray]:
        """The error rows, checked: each is a difference of two rows of weights and sums to 0."""
        if not _is_list(self.errors) or len(self.errors) > 2 or not all(map(_is_list, self.errors)):
            raise InvalidInput(f"tableau {self.name!r}: errors must be a list of one or two rows of real numbers")
        lengths = [stages + 1] * len(self.errors)
        rows = self._checked_rows(
            "error row", self.errors, lengths, "one for each stage and one for the end of the step"
        )
        for i, row in enumerate(rows):
            if abs(row.sum()) > TOLERANCE * np.abs(row).sum() or not row.any():
                raise InvalidInput(
                    f"tableau {self.name!r}: error row {i + 1} sums to {row.sum():.17g}; it must sum to 0 and not be "
                    "zero throughout"
                )
        return rows

    def _checked_dense(self, b: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """The additional stages and the polynomials of dense output, checked."""
        if not _is_list(self.dense) or len(self.dense) != 2 or not all(map(_is_list, self.dense)):
            raise InvalidInput(f"tableau {self.name!r}: dense must be a pair: rows of further stages, and polynomials")
        rows, polynomials = self.dense
        first = b.size + 1
        extra = self._checked_rows(
            "dense stage", rows, range(first, first + len(rows)),
            "one for each stage, the end of the step, and the dense stages before it",
        )  # fmt: skip
        slopes = first + len(extra)
        if len(polynomials) != slopes:
            raise InvalidInput(
                f"tableau {self.name!r}: there are {len(polynomials)} dense polynomials; there must be {slopes}, one "
                "for each stage, the end of the step, and each dense stage"
            )
        given = [self._checked_vector(f"dense polynomial {j + 1}", row) for j, row in enumerate(polynomials)]
        if len({row.size for row in given}) != 1 or not given[0].size:
            raise InvalidInput(f"tableau {self.name!r}: the dense polynomials must all have the same degree, 1 or more")
        P = np.array(given)
        ends = np.pad(b, (0, slopes - b.size))
        for j, row in enumerate(P):
            if abs(row.sum() - ends[j]) > TOLERANCE * max(np.abs(row).sum(), abs(ends[j])):
                raise InvalidInput(
                    f"tableau {self.name!r}: dense polynomial {j + 1} is {row.sum():.17g} at the end of the step, "
                    f"where it must be the weight {ends[j]:.17g}"
                )
        for k, column in enumerate(P.T):
            if abs(column.sum() - (k == 0)) > TOLERANCE * max(np.abs(column).sum(), 1.0):
                raise InvalidInput(
                    f"tableau {self.name!r}: the coefficients of theta^{k + 1} of the dense polynomials sum to "
                    f"{column.sum():.17g}, they must sum to {int(k == 0)}"
                )
        return extra, P

    def _key(self) -> tuple[Any, ...]:
        errors = tuple(row.tobytes() for row in self.errors)
        dense = self.dense and (tuple(row.tobytes() for row in self.dense[0]), self.dense[1].tobytes())
        numbers = (self.A.tobytes(), self.b.tobytes(), self.c.tobytes(), errors, dense)
        return (self.name, *numbers, self.cite, self.description)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Tableau) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        # By way of the constructor, so that a pickled copy is checked and read-only too.
        return (Tableau, (self.name, self.A, self.b, self.c, self.cite, self.description, self.errors, self.dense))

    def __repr__(self) -> str:
        kind = "explicit" if self.explicit else "diagonally implicit" if self.diagonally_implicit else "implicit"
        return f"<Tableau {self.name}: order {self.order}, {kind}, stages {self.stages}>"

    @property
    def stages(self) -> int:
        """Number of stages s."""
        return int(self.b.size)

    @cached_property
    def explicit(self) -> bool:
        """Whether every stage needs earlier stages only: A is strictly lower triangular."""
        return not np.triu(self.A).any()

    @cached_property
    def diagonally_implicit(self) -> bool:
        """Whether implicit with stages that can be solved one by one: A is lower triangular, its diagonal not zero."""
        return not self.explicit and not np.triu(self.A, 1).any()

    @cached_property
    def order(self) -> int:
        """Order of convergence on smooth problems, derived from the order conditions.

        It is at most the order of the quadrature b, c, and at least what the simplifying assumptions guarantee
        (:func:`simplifying_assumptions`). Where the two agree, as for all implicit families, that is the order;
        otherwise the conditions of the rooted trees decide, up to order 10. A method of higher order that the
        simplifying assumptions do not prove is reported with order 10.
        """
        known = simplifying_assumptions(self)
        order = known.guaranteed_order
        while order < min(known.B, LARGEST_TREE_ORDER) and _conditions_hold(self, order + 1):
            order += 1
        return order

    @property
    def embedded(self) -> bool:
        """Whether the method has an error estimate."""
        return bool(self.errors)

    @cached_property
    def estimate(self) -> int:
        """Order q of the error estimate, which is O(h^(q + 1)); 0 where there is none.

        With one estimate, the lower order of the two methods compared; with two, that of the combination
        ``E_1^2 / sqrt(E_1^2 + 0.01 E_2^2)``.
        """
        if not self.errors:
            return 0
        A = self._slopes()[: self.stages + 1, : self.stages + 1]
        b = np.append(self.b, 0.0)
        orders = [min(self.order, Tableau("embedded", A, b - row).order) for row in self.errors]
        return orders[0] if len(orders) == 1 else 2 * orders[0] - orders[1]

    @cached_property
    def dense_order(self) -> int:
        """Order p of the dense output: y(t_0 + theta h) has the error O(h^(p + 1)) for every theta; 0 without one.

        Computed from the conditions Phi(tree)(theta) = theta^|tree| / gamma(tree), coefficient by coefficient.
        """
        if self.dense is None:
            return 0
        A, P = self._slopes(), self.dense[1]
        order = 0
        while order < min(P.shape[1], LARGEST_TREE_ORDER) and _dense_conditions_hold(A, P, order + 1):
            order += 1
        return order

    def _slopes(self) -> np.ndarray:
        """Rows of A for the stages, the end of the step, and the stages for dense output."""
        rows = [*self.A, self.b, *(() if self.dense is None else self.dense[0])]
        A = np.zeros((len(rows), len(rows)))
        for i, row in enumerate(rows):
            A[i, : row.size] = row
        return A

    @cached_property
    def symmetric(self) -> bool:
        """Whether a step with -h undoes one with h: b_i = b_(s+1-i) and a_(s+1-i, s+1-j) + a_ij = b_j.

        Sufficient for every method, and necessary for those whose stages are distinct and in the order of their nodes
        [hairer2006, V.2].
        """
        A, b = self.A, self.b
        return _vanishes(b - b[::-1], b) and _vanishes(A + A[::-1, ::-1] - b, A)

    @cached_property
    def symplectic(self) -> bool:
        """Whether quadratic invariants are kept: b_i a_ij + b_j a_ji = b_i b_j [hairer2006, IV.2 and VI.4].

        Sufficient for every method, and necessary for those whose stages are distinct.
        """
        M = self.b[:, None] * self.A
        return _vanishes(M + M.T - np.outer(self.b, self.b), M)

    @cached_property
    def stiffly_accurate(self) -> bool:
        """Whether the last stage is the result: the last row of A is b [hairer1996, IV.3]."""
        return _vanishes(self.A[-1] - self.b, self.b)


def _locked(numbers: np.ndarray) -> np.ndarray:
    """A read-only copy with 0.0 for -0.0."""
    copy = numbers + 0.0
    copy.flags.writeable = False
    return copy


def _is_list(given: object) -> bool:
    return isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)


def _vanishes(residual: np.ndarray, scale: np.ndarray) -> bool:
    """Whether a residual is round-off, relative to ``scale`` or 1."""
    return bool(np.abs(residual).max() <= TOLERANCE * max(1.0, np.abs(scale).max()))


# --- order: rooted trees ----------------------------------------------------------------------------------------------


@cache
def rooted_trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees with a given number of vertices."""
    smaller = [(tree, size) for size in range(1, order) for tree in rooted_trees(size)]

    def forests(vertices: int, last: int) -> list[Tree]:
        # Multisets of smaller[: last + 1] with that many vertices in total; the falling index keeps them distinct.
        if vertices == 0:
            return [()]
        multisets = []
        for index in range(last, -1, -1):
            tree, size = smaller[index]
            if size <= vertices:
                multisets += [(tree, *rest) for rest in forests(vertices - size, index)]
        return multisets

    return tuple(forests(order - 1, len(smaller) - 1))


@cache
def _vertices(tree: Tree) -> int:
    return 1 + sum(map(_vertices, tree))


@cache
def _density(tree: Tree) -> int:
    """gamma(tree): the product of the sizes of all its subtrees."""
    return _vertices(tree) * prod(map(_density, tree))


def _stage_weights(A: np.ndarray, order: int) -> list[np.ndarray]:
    """For each tree of an order, g(tree) = product over its branches of A g(branch), shape (s,)."""
    raised: dict[Tree, np.ndarray] = {}

    def branch(tree: Tree) -> np.ndarray:
        if tree not in raised:
            raised[tree] = A @ stage_weights(tree)
        return raised[tree]

    def stage_weights(tree: Tree) -> np.ndarray:
        weights = np.ones(len(A))
        for child in tree:
            weights = weights * branch(child)
        return weights

    return [stage_weights(tree) for tree in rooted_trees(order)]


def _elementary_weights(A: np.ndarray, b: np.ndarray, order: int) -> np.ndarray:
    """Phi(tree) = b . g(tree) for each tree of an order."""
    return np.array([b @ weights for weights in _stage_weights(A, order)])


def order_residuals(method: Tableau, order: int) -> np.ndarray:
    """Residuals of the order conditions of one order."""
    exact = np.array([1.0 / _density(tree) for tree in rooted_trees(order)], dtype=np.float64)
    return _elementary_weights(method.A, method.b, order) - exact


def _conditions_hold(method: Tableau, order: int) -> bool:
    """Whether the conditions of one order hold to round-off."""
    scale = _elementary_weights(np.abs(method.A), np.abs(method.b), order)
    return bool((np.abs(order_residuals(method, order)) <= TOLERANCE * np.maximum(scale, 1.0)).all())


def _dense_conditions_hold(A: np.ndarray, P: np.ndarray, order: int) -> bool:
    """Whether the conditions of one order hold for dense output, for every theta."""
    g = np.array(_stage_weights(A, order))
    wrong = g @ P
    wrong[:, order - 1] -= [1.0 / _density(tree) for tree in rooted_trees(order)]
    return bool((np.abs(wrong) <= TOLERANCE * np.maximum(np.abs(g) @ np.abs(P), 1.0)).all())


# --- order: simplifying assumptions -----------------------------------------------------------------------------------


class Assumptions(NamedTuple):
    """The largest p, eta, zeta of Butcher's simplifying assumptions B(p), C(eta), D(zeta); eta and zeta at most s.

    B is the order of the quadrature formula b, c and an upper bound of the order of the method.
    """

    B: int
    C: int
    D: int

    @property
    def guaranteed_order(self) -> int:
        """The order that B, C and D imply [hairer1996, IV.5]; the true one may be higher, up to B."""
        return min(self.B, 2 * self.C + 2, self.C + self.D + 1)


def simplifying_assumptions(method: Tableau) -> Assumptions:
    r"""The largest p, eta, zeta for which B(p), C(eta), D(zeta) hold.

    For all polynomials q of degree below p, eta, zeta respectively,

    .. math::

        \sum_i b_i q(c_i) = \int_0^1 q, \qquad
        \sum_j a_{ij} q(c_j) = \int_0^{c_i} q, \qquad
        \sum_i b_i q(c_i) a_{ij} = b_j \int_{c_j}^1 q .

    The usual form has q = x^(k-1). Here q runs through the Legendre polynomials of [0, 1], which is equivalent and
    stays well conditioned: in powers, a Gauss method of 12 stages violates its first condition by 5e-15 only.

    Parameters
    ----------
    method : Tableau

    Returns
    -------
    Assumptions
        B, at most 2 s, and C and D, at most s, the number of stages.
    """
    A, b, c, s = method.A, method.b, method.c, method.stages
    P = np.polynomial.legendre.legvander(2.0 * c - 1.0, 2 * s + 1).T  # P[k, i] = P_k(2 c_i - 1)
    integral = np.empty((2 * s + 1, s))  # over [0, c_i]
    integral[0] = c
    for k in range(1, 2 * s + 1):
        integral[k] = (P[k + 1] - P[k - 1]) / (4 * k + 2)
    full = np.eye(2 * s + 1)[0]  # over [0, 1]

    def holds(left: np.ndarray, right: np.ndarray, terms: np.ndarray) -> bool:
        return bool((np.abs(left - right) <= TOLERANCE * np.maximum(terms, 1.0)).all())

    def count(condition: Callable[[int], bool], most: int) -> int:
        return next((k for k in range(most) if not condition(k)), most)

    return Assumptions(
        B=count(lambda k: holds(P[k] @ b, full[k], np.abs(P[k]) @ np.abs(b)), 2 * s),
        C=count(lambda k: holds(A @ P[k], integral[k], np.abs(A) @ np.abs(P[k])), s),
        D=count(lambda k: holds((b * P[k]) @ A, b * (full[k] - integral[k]), np.abs(b * P[k]) @ np.abs(A)), s),
    )


# --- the implicit families --------------------------------------------------------------------------------------------


def _legendre_coefficients(n: int) -> list[int]:
    """Integer coefficients of x^0 ... x^n of the Legendre polynomial P_n on [0, 1] (Rodrigues' formula)."""
    return [(-1) ** (n + k) * comb(n, k) * comb(n + k, k) for k in range(n + 1)]


def _value(coefficients: Sequence[Any], x: Decimal) -> Decimal:
    """Value of a polynomial at x by Horner's rule; constant term first."""
    total = Decimal(0)
    for a in reversed(coefficients):
        total = total * x + a
    return total


def _nodes(stages: int, below: int) -> list[Decimal]:
    """The zeros of P_s (below = 0: Gauss) or P_s - P_(s - below) (1: right Radau; 2: Lobatto) on [0, 1], ascending.

    Tricomi's formula (Gauss) or eigenvalues give the first digits, Newton's method with the exact integer coefficients
    the rest.
    """
    series, starts = np.eye(stages + 1)[stages], -np.cos(np.pi * (np.arange(stages) + 0.75) / (stages + 0.5))
    p = _legendre_coefficients(stages)
    if below:
        series[stages - below] = -1.0
        for k, a in enumerate(_legendre_coefficients(stages - below)):
            p[k] -= a
        starts = np.sort(np.real(np.polynomial.legendre.legroots(series)))
    slope = [k * a for k, a in enumerate(p)][1:]
    zeros = []
    for start in starts:
        x = (Decimal(float(start)) + 1) / 2
        for _ in range(8):  # 2 -> 4 -> 8 -> 16 -> 32 -> 64 -> 125 -> ... digits
            x -= _value(p, x) / _value(slope, x)
        zeros.append(x)
    return zeros


def _lagrange_basis(nodes: Sequence[Decimal]) -> list[list[Decimal]]:
    """The Lagrange polynomials, 1 at one node and 0 at the others; constant term first."""
    master = [Decimal(1)]
    for x in nodes:
        master = [low - x * high for low, high in zip([Decimal(0), *master], [*master, Decimal(0)], strict=True)]
    basis = []
    for x in nodes:
        quotient = [Decimal(0)] * len(nodes)  # master / (t - x), by synthetic division
        carry = Decimal(0)
        for k in range(len(nodes), 0, -1):
            carry = master[k] + x * carry
            quotient[k - 1] = carry
        norm = _value(quotient, x)
        basis.append([a / norm for a in quotient])
    return basis


def _integral(p: Sequence[Decimal], x: Decimal) -> Decimal:
    """The integral of a polynomial over [0, x]."""
    return x * _value([a / (k + 1) for k, a in enumerate(p)], x)


Numbers = tuple[list[list[Decimal]], list[Decimal], list[Decimal]]


def _collocation(nodes: list[Decimal]) -> Numbers:
    """A, b, c of the collocation method: the Lagrange polynomials integrated [hairer1993, II.7]."""
    basis = _lagrange_basis(nodes)
    return [[_integral(p, x) for p in basis] for x in nodes], [_integral(p, Decimal(1)) for p in basis], nodes


def nodes_and_weights(stages: int, below: int) -> tuple[list[Decimal], list[Decimal]]:
    """Nodes and weights of the Gauss (below = 0) or Lobatto (2) quadrature on [0, 1]."""
    nodes = _nodes(stages, below)
    return nodes, [_integral(p, Decimal(1)) for p in _lagrange_basis(nodes)]


def lobatto_numbers(stages: int) -> Numbers:
    """A, b, c of Lobatto collocation (IIIA), in decimals."""
    return _collocation(_nodes(stages, 2))


def _lobatto_iiib(stages: int) -> Numbers:
    """The partner of IIIA in a symplectic pair: b_i a'_ij + b_j a_ji = b_i b_j [hairer2006, IV.2 and VI.4].

    With two stages the row sums are (1/2, 1/2), not the Lobatto nodes (0, 1); on its own it is the midpoint rule.
    """
    A, b, c = lobatto_numbers(stages)
    A = [[b[j] - b[j] * A[j][i] / b[i] for j in range(stages)] for i in range(stages)]
    return A, b, [sum(row, Decimal(0)) for row in A] if stages == 2 else c


def _lobatto_iiic(stages: int) -> Numbers:
    """a_i1 = b_1 and C(s - 1) [hairer1996, IV.5]: the other columns interpolate on the nodes after the first."""
    nodes = _nodes(stages, 2)
    b = [_integral(p, Decimal(1)) for p in _lagrange_basis(nodes)]
    basis = _lagrange_basis(nodes[1:])
    return [[b[0]] + [_integral(p, x) - b[0] * p[0] for p in basis] for x in nodes], b, nodes


class _Family(NamedTuple):
    first: int  # smallest order; the others follow in steps of 2
    stages_of: Callable[[int], int]
    numbers: Callable[[int], Numbers]
    cite: str
    description: str

    def contains(self, order: int) -> bool:
        return self.first <= order <= LARGEST_FAMILY_ORDER and (order - self.first) % 2 == 0


_FAMILIES: Mapping[str, _Family] = MappingProxyType({
    "gauss": _Family(
        2, lambda p: p // 2, lambda stages: _collocation(_nodes(stages, 0)), "butcher1964",
        "Gauss collocation: implicit, symmetric, symplectic, A-stable",
    ),
    "radau_iia": _Family(
        1, lambda p: (p + 1) // 2, lambda stages: _collocation(_nodes(stages, 1)), "axelsson1969",
        "Radau IIA collocation: implicit, L-stable",
    ),
    "lobatto_iiia": _Family(
        2, lambda p: p // 2 + 1, lobatto_numbers, "ehle1969",
        "Lobatto IIIA collocation: implicit with explicit first stage, symmetric, A-stable",
    ),
    "lobatto_iiib": _Family(
        2, lambda p: p // 2 + 1, _lobatto_iiib, "ehle1969",
        "Lobatto IIIB: implicit, symmetric, A-stable, symplectic partner of Lobatto IIIA",
    ),
    "lobatto_iiic": _Family(
        2, lambda p: p // 2 + 1, _lobatto_iiic, "chipman1971", "Lobatto IIIC: implicit, L-stable"
    ),
})  # fmt: skip


def _rounded(x: Decimal) -> float:
    """The nearest double; 0.0 for round-off of the decimal arithmetic."""
    return 0.0 if abs(x) < Decimal("1e-35") else float(x)


@cache
def _family_numbers(stem: str, stages: int, digits: int = 50) -> tuple[Any, Any, Any]:
    """A, b, c of one member of a family, rounded once from `digits` correct digits."""
    # Cancellation of powers of x loses up to 0.8 digits per stage, twice.
    with decimal.localcontext(decimal.Context(prec=digits + 3 * stages)):
        A, b, c = _FAMILIES[stem].numbers(stages)
        return tuple(tuple(map(_rounded, row)) for row in A), tuple(map(_rounded, b)), tuple(map(_rounded, c))


@cache
def _family_member(stem: str, order: int) -> Tableau:
    family = _FAMILIES[stem]
    A, b, c = _family_numbers(stem, family.stages_of(order))
    return Tableau(f"{stem}{order}", A, b, c, family.cite, family.description)


def _in_family(name: str) -> Tableau | None:
    """The member of a family by name, None for other names."""
    parts = _FAMILY_NAME.fullmatch(name)
    if parts is None or parts[1] not in _FAMILIES:
        return None
    stem, digits = parts[1], parts[2]
    family = _FAMILIES[stem]
    orders = f"{stem}{family.first}, {stem}{family.first + 2}, {stem}{family.first + 4}, ... up to "
    orders += f"{stem}{LARGEST_FAMILY_ORDER - family.first % 2} (the number is the order)"
    if not digits:
        raise InvalidInput(f"the tableau {name!r} needs a number: there are {orders}")
    if len(digits) > 6 or digits[0] == "0" or not family.contains(int(digits)):
        raise InvalidInput(f"there is no tableau {name!r}: there are {orders}")
    return _family_member(stem, int(digits))


# --- the registry -----------------------------------------------------------------------------------------------------

_rows: Table[Tableau] = Table()

TABLEAUX: Mapping[str, Tableau] = MappingProxyType(_rows)
"""All named tableaux except the families (see :func:`tableau`), including those added by users; read-only."""


def tableau(name: str | Tableau) -> Tableau:
    """The tableau of this name.

    Parameters
    ----------
    name : str or Tableau
        A name of :func:`tableau_names`, or a family with any order that it has, such as ``"gauss14"``.
        A tableau is returned unchanged.

    Returns
    -------
    Tableau

    Raises
    ------
    InvalidInput
        Unknown name, or an order which the family does not have.

    Examples
    --------
    >>> tableau("rk4")
    <Tableau rk4: order 4, explicit, stages 4>
    >>> tableau("gauss6").symplectic
    True
    """
    if isinstance(name, Tableau):
        return name
    if not isinstance(name, str):
        raise InvalidInput(f"a tableau is named by text such as 'gauss4', not {shown(name)}")
    row = _rows.get(name) or _in_family(name)
    if row is None:
        load_plugins()
        row = _rows.get(name)
    if row is None:
        raise unknown_name("tableau", name, tableau_names())
    return row


def is_tableau(name: str) -> bool:
    """Whether there is a tableau of this name."""
    if name not in _rows and _in_family(name) is None:
        load_plugins()
    return name in _rows or _in_family(name) is not None


def tableau_names(largest_order: int = 8) -> tuple[str, ...]:
    """The names that :func:`tableau` knows.

    Parameters
    ----------
    largest_order : int, optional
        Largest order of the families to list; :func:`tableau` knows higher ones.

    Returns
    -------
    tuple of str
        First the named tableaux in the order in which they were added, then the families.

    Examples
    --------
    >>> import polhode as ph
    >>> "gauss4" in ph.methods.tableau_names(), ph.methods.tableau("gauss4").order
    (True, 4)
    """
    load_plugins()
    return tuple(_rows) + tuple(
        f"{stem}{order}"
        for stem, family in _FAMILIES.items()
        for order in range(family.first, min(largest_order, LARGEST_FAMILY_ORDER) + 1, 2)
    )


def add_tableau(
    name: str, A: Any, b: Any, c: Any = None, cite: str = "", description: str = "", errors: Any = (), dense: Any = None
) -> Tableau:
    """Add a Runge-Kutta method to the table; its name is then valid wherever a tableau is named.

    Parameters
    ----------
    name, A, b, c, cite, description, errors, dense
        As for :class:`Tableau`.

    Returns
    -------
    Tableau

    Raises
    ------
    InvalidInput
        The coefficients are not a tableau, or the name already belongs to a different one. Adding the same tableau
        twice does nothing.

    Examples
    --------
    >>> add_tableau("ralston2", [[], [2 / 3]], [1 / 4, 3 / 4], description="Ralston, explicit")
    <Tableau ralston2: order 2, explicit, stages 2>
    """
    new = Tableau(text(name, "name"), A, b, c, text(cite, "cite"), text(description, "description"), errors, dense)
    old = _rows.get(name)
    if old is None:
        try:
            old = _in_family(name)
        except InvalidInput:
            raise InvalidInput(
                f"{name!r} cannot be added: such names belong to a family; choose another name"
            ) from None
    if old is None:
        _rows[name] = new
        return new
    if old != new:
        raise InvalidInput(f"there already is a different tableau {name!r} ({old.description}); choose another name")
    return old


def _row(name: str, *words: object, **more: object) -> None:
    _rows[name] = unmade(Tableau, name, *words, **more)


# --- rows: explicit ---------------------------------------------------------------------------------------------------

_row("forward_euler", [[]], [1], cite="hairer1993", description="Euler, explicit")
_row(
    "explicit_midpoint", [[], [1 / 2]], [0, 1], cite="runge1895",
    description="midpoint rule with an Euler predictor, explicit",
)  # fmt: skip
_row(
    "heun", [[], [1]], [1 / 2, 1 / 2], cite="heun1900", description="trapezoidal rule with an Euler predictor, explicit"
)
_row(
    "heun3", [[], [1 / 3], [0, 2 / 3]], [1 / 4, 0, 3 / 4], cite="heun1900",
    description="Heun's method of order 3, explicit",
)  # fmt: skip
_row(
    "kutta3", [[], [1 / 2], [-1, 2]], [1 / 6, 2 / 3, 1 / 6], cite="kutta1901",
    description="Kutta's method of order 3 with Simpson weights, explicit",
)  # fmt: skip
_row(
    "rk4", [[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], cite="kutta1901",
    description="the classical Runge-Kutta method, explicit",
)  # fmt: skip
_row(
    "rk4_38", [[], [1 / 3], [-1 / 3, 1], [1, -1, 1]], [1 / 8, 3 / 8, 3 / 8, 1 / 8], cite="kutta1901",
    description="Kutta's 3/8 rule, explicit",
)  # fmt: skip


def _interpolation(b: Sequence[Any], further: Sequence[Sequence[Any]] = ()) -> list[list[float]]:
    """Polynomials of a dense output in nested Hermite form, computed in exact arithmetic and rounded once.

    y_0 + theta (F_0 + (1 - theta) (F_1 + theta (F_2 + (1 - theta) (F_3 + ...)))), where F_0 is the change of y, F_1 and
    F_2 make the cubic Hermite polynomial, and ``further`` has the weights of all slopes in F_3, F_4, ...; the first
    stage must be the start of the step [hairer1993, II.6].
    """
    count = len(further[0]) if further else len(b) + 1
    change = [*b, *[0] * (count - len(b))]
    first, last = ([int(j == k) for j in range(count)] for k in (0, len(b)))
    rows: list[Any] = [change, [f - d for f, d in zip(first, change, strict=True)]]
    rows += [[2 * d - f - g for d, f, g in zip(change, first, last, strict=True)], *further]
    polynomials = []
    for weights in zip(*rows, strict=True):
        p: list[Any] = [0]  # constant term first
        for k in range(len(weights) - 1, -1, -1):
            p[0] += weights[k]
            raised = [0, *p]
            p = raised if k % 2 == 0 else [low - high for low, high in zip([*p, 0], raised, strict=True)]
        polynomials.append([float(x) for x in p[1:]])
    return polynomials


_BOGACKI_SHAMPINE_B = [Fraction(2, 9), Fraction(1, 3), Fraction(4, 9)]
_row(
    "bs3", [[], [1 / 2], [0, 3 / 4]], _BOGACKI_SHAMPINE_B, c=[0, 1 / 2, 3 / 4], cite="bogacki1989",
    description="Bogacki-Shampine 3(2), explicit, embedded", errors=[[-5 / 72, 1 / 12, 1 / 9, -1 / 8]], dense=([],
    _interpolation(_BOGACKI_SHAMPINE_B)),
)  # fmt: skip

_DORMAND_PRINCE_B = [Fraction(*x) for x in ((35, 384), (0, 1), (500, 1113), (125, 192), (-2187, 6784), (11, 84))]
_DORMAND_PRINCE_DENSE = [
    Fraction(-12715105075, 11282082432), Fraction(0), Fraction(87487479700, 32700410799), Fraction(-10690763975,
    1880347072), Fraction(701980252875, 199316789632), Fraction(-1453857185, 822651844), Fraction(69997945, 29380423),
]  # fmt: skip
"""Weights of F_3 in the dense output of order 4 of the code DOPRI5 [hairer1993, II.6]."""
_row(
    "dp5", [[], [1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9], [19372 / 6561, -25360 / 2187, 64448 / 6561,
    -212 / 729], [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]], _DORMAND_PRINCE_B, c=[0, 1 / 5,
    3 / 10, 4 / 5, 8 / 9, 1], cite="dormand1980",
    description="Dormand-Prince RK5(4)7M, its seventh stage for the error alone, explicit, embedded",
    errors=[[71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]], dense=([],
    _interpolation(_DORMAND_PRINCE_B, [_DORMAND_PRINCE_DENSE])),
)  # fmt: skip

# The 12 stages of order 8 by Dormand and Prince, in the manner of [prince1981], with the estimates of orders 5 and 3
# and the dense output of order 7 of the code DOP853 [hairer1993, II.5, II.6 and II.10]. Entries that are not 0, by
# column.
_DOP853_A: Sequence[Mapping[int, str]] = (
    {},
    {0: "0.0526001519587677318785587544488"},
    {0: "0.0197250569845378994544595329183", 1: "0.0591751709536136983633785987549"},
    {0: "0.0295875854768068491816892993775", 2: "0.0887627564304205475450678981324"},
    {
        0: "0.241365134159266685502369798665", 2: "-0.884549479328286085344864962717",
        3: "0.924834003261792003115737966543",
    },
    {
        0: "0.037037037037037037037037037037", 3: "0.170828608729473871279604482173",
        4: "0.125467687566822425016691814123",
    },
    {
        0: "0.037109375", 3: "0.170252211019544039314978060272", 4: "0.0602165389804559606850219397283",
        5: "-0.017578125",
    },
    {
        0: "0.0370920001185047927108779319836", 3: "0.170383925712239993810214054705",
        4: "0.107262030446373284651809199168", 5: "-0.0153194377486244017527936158236",
        6: "0.00827378916381402288758473766002",
    },
    {
        0: "0.624110958716075717114429577812", 3: "-3.36089262944694129406857109825",
        4: "-0.868219346841726006818189891453", 5: "27.5920996994467083049415600797",
        6: "20.1540675504778934086186788979", 7: "-43.4898841810699588477366255144",
    },
    {
        0: "0.477662536438264365890433908527", 3: "-2.48811461997166764192642586468",
        4: "-0.590290826836842996371446475743", 5: "21.2300514481811942347288949897",
        6: "15.2792336328824235832596922938", 7: "-33.2882109689848629194453265587",
        8: "-0.0203312017085086261358222928593",
    },
    {
        0: "-0.93714243008598732571704021658", 3: "5.18637242884406370830023853209",
        4: "1.09143734899672957818500254654", 5: "-8.14978701074692612513997267357",
        6: "-18.5200656599969598641566180701", 7: "22.7394870993505042818970056734",
        8: "2.49360555267965238987089396762", 9: "-3.0467644718982195003823669022",
    },
    {
        0: "2.27331014751653820792359768449", 3: "-10.5344954667372501984066689879",
        4: "-2.00087205822486249909675718444", 5: "-17.9589318631187989172765950534",
        6: "27.9488845294199600508499808837", 7: "-2.85899827713502369474065508674",
        8: "-8.87285693353062954433549289258", 9: "12.3605671757943030647266201528",
        10: "0.643392746015763530355970484046",
    },
)  # fmt: skip
_DOP853_B = {
    0: "0.0542937341165687622380535766363", 5: "4.45031289275240888144113950566",
    6: "1.89151789931450038304281599044", 7: "-5.8012039600105847814672114227",
    8: "0.31116436695781989440891606237", 9: "-0.152160949662516078556178806805",
    10: "0.201365400804030348374776537501", 11: "0.0447106157277725905176885569043",
}  # fmt: skip
_DOP853_B3 = {
    0: "0.244094488188976377952755905512", 8: "0.733846688281611857341361741547",
    11: "0.0220588235294117647058823529412",
}  # fmt: skip
"""Weights b of the embedded method of order 3, by stage."""
_DOP853_E5 = {
    0: "0.01312004499419488073250102996", 5: "-1.225156446376204440720569753", 6: "-0.4957589496572501915214079952",
    7: "1.664377182454986536961530415", 8: "-0.3503288487499736816886487290", 9: "0.3341791187130174790297318841",
    10: "0.08192320648511571246570742613", 11: "-0.02235530786388629525884427845",
}  # fmt: skip
"""Weights b minus those of the embedded method of order 5, by stage."""
_DOP853_EXTRA = (
    {
        0: "0.0561675022830479523392909219681", 6: "0.253500210216624811088794765333",
        7: "-0.246239037470802489917441475441", 8: "-0.124191423263816360469010140626",
        9: "0.15329179827876569731206322685", 10: "0.00820105229563468988491666602057",
        11: "0.00756789766054569976138603589584", 12: "-0.008298",
    },
    {
        0: "0.0318346481635021405060768473261", 5: "0.0283009096723667755288322961402",
        6: "0.0535419883074385676223797384372", 7: "-0.0549237485713909884646569340306",
        10: "-0.000108347328697249322858509316994", 11: "0.000382571090835658412954920192323",
        12: "-0.000340465008687404560802977114492", 13: "0.141312443674632500278074618366",
    },
    {
        0: "-0.428896301583791923408573538692", 5: "-4.69762141536116384314449447206",
        6: "7.68342119606259904184240953878", 7: "4.06898981839711007970213554331",
        8: "0.356727187455281109270669543021", 12: "-0.00139902416515901462129418009734",
        13: "2.9475147891527723389556272149", 14: "-9.15095847217987001081870187138",
    },
)  # fmt: skip
_DOP853_DENSE = (
    {
        0: "-8.4289382761090128651353491142", 5: "0.56671495351937776962531783590",
        6: "-3.0689499459498916912797304727", 7: "2.3846676565120698287728149680", 8: "2.1170345824450282767155149946",
        9: "-0.87139158377797299206789907490", 10: "2.2404374302607882758541771650",
        11: "0.63157877876946881815570249290", 12: "-0.088990336451333310820698117400",
        13: "18.148505520854727256656404962", 14: "-9.1946323924783554000451984436",
        15: "-4.4360363875948939664310572000",
    },
    {
        0: "10.427508642579134603413151009", 5: "242.28349177525818288430175319", 6: "165.20045171727028198505394887",
        7: "-374.54675472269020279518312152", 8: "-22.113666853125306036270938578", 9: "7.7334326684722638389603898808",
        10: "-30.674084731089398182061213626", 11: "-9.3321305264302278729567221706",
        12: "15.697238121770843886131091075", 13: "-31.139403219565177677282850411",
        14: "-9.3529243588444783865713862664", 15: "35.816841486394083752465898540",
    },
    {
        0: "19.985053242002433820987653617", 5: "-387.03730874935176555105901742", 6: "-189.17813819516756882830838328",
        7: "527.80815920542364900561016686", 8: "-11.573902539959630126141871134", 9: "6.8812326946963000169666922661",
        10: "-1.0006050966910838403183860980", 11: "0.77771377980534432092869265740",
        12: "-2.7782057523535084065932004339", 13: "-60.196695231264120758267380846",
        14: "84.320405506677161018159903784", 15: "11.992291136182789328035130030",
    },
    {
        0: "-25.693933462703749003312586129", 5: "-154.18974869023643374053993627",
        6: "-231.52937917604549567536039109", 7: "357.63911791061412378285349910", 8: "93.405324183624310003907691704",
        9: "-37.458323136451633156875139351", 10: "104.09964950896230045147246184",
        11: "29.840293426660503123344363579", 12: "-43.533456590011143754432175058",
        13: "96.324553959188282948394950600", 14: "-39.177261675615439165231486172",
        15: "-149.72683625798562581422125276",
    },
)  # fmt: skip
"""Weights of F_3 to F_6 of the dense output, by slope."""


def _full(length: int, entries: Mapping[int, str]) -> list[Decimal]:
    """A row of this length from its entries that are not 0."""
    return [Decimal(entries.get(j, "0")) for j in range(length)]


_DOP853_ROWS = [_full(i, row) for i, row in enumerate(_DOP853_A)]
_row(
    "dp8", _DOP853_ROWS, _full(12, _DOP853_B), c=[sum(row, Decimal(0)) for row in _DOP853_ROWS], cite="hairer1993",
    description="Dormand-Prince of order 8 with the estimates of DOP853, explicit, embedded", errors=[_full(13,
    _DOP853_E5), [x - y for x, y in zip(_full(13, _DOP853_B), _full(13, _DOP853_B3), strict=True)]],
    dense=([_full(13 + k, row) for k, row in enumerate(_DOP853_EXTRA)], _interpolation(_full(12, _DOP853_B), [_full(16,
    row) for row in _DOP853_DENSE])),
)  # fmt: skip


def _surds(root: int, entries: Sequence[tuple[int, int, int]]) -> list[float]:
    """(p + q sqrt(root)) / r for each (p, q, r), rounded once."""
    with decimal.localcontext(decimal.Context(prec=50)):
        return [float((p + q * Decimal(root).sqrt()) / r) for p, q, r in entries]


_ZERO = (0, 0, 1)

# Entries (p, q, r) stand for (p + q sqrt(21)) / r.
_COOPER_VERNER_C = (
    _ZERO, (1, 0, 2), (1, 0, 2), (7, 1, 14), (7, 1, 14), (1, 0, 2), (7, -1, 14), (7, -1, 14), (1, 0, 2), (7, 1, 14), (1,
    0, 1),
)  # fmt: skip
_COOPER_VERNER_A: tuple[tuple[tuple[int, int, int], ...], ...] = (
    (),
    ((1, 0, 2),),
    ((1, 0, 4), (1, 0, 4)),
    ((1, 0, 7), (-7, -3, 98), (21, 5, 49)),
    ((11, 1, 84), _ZERO, (18, 4, 63), (21, -1, 252)),
    ((5, 1, 48), _ZERO, (9, 1, 36), (-231, 14, 360), (63, -7, 80)),
    ((10, -1, 42), _ZERO, (-432, 92, 315), (633, -145, 90), (-504, 115, 70), (63, -13, 35)),
    ((1, 0, 14), _ZERO, _ZERO, _ZERO, (14, -3, 126), (13, -3, 63), (1, 0, 9)),
    ((1, 0, 32), _ZERO, _ZERO, _ZERO, (91, -21, 576), (11, 0, 72), (-385, -75, 1152), (63, 13, 128)),
    ((1, 0, 14), _ZERO, _ZERO, _ZERO, (1, 0, 9), (-733, -147, 2205), (515, 111, 504), (-51, -11, 56), (132, 28, 245)),
    (*[_ZERO] * 4, (-42, 7, 18), (-18, 28, 45), (-273, -53, 72), (301, 53, 72), (28, -28, 45), (49, -7, 18)),
)
_COOPER_VERNER_B = ((1, 0, 20), *[_ZERO] * 6, (49, 0, 180), (16, 0, 45), (49, 0, 180), (1, 0, 20))
_row(
    "cv8", [_surds(21, row) for row in _COOPER_VERNER_A], _surds(21, _COOPER_VERNER_B), c=_surds(21, _COOPER_VERNER_C),
    cite="cooper1972", description="Cooper-Verner method of order 8 with 11 stages, explicit",
)  # fmt: skip

# --- rows: implicit ---------------------------------------------------------------------------------------------------

_row("backward_euler", [[1]], [1], cite="hairer1996", description="Euler, implicit, L-stable")
_row(
    "midpoint", [[1 / 2]], [1], cite="hairer2006", description="implicit midpoint rule: symmetric, symplectic, A-stable"
)
_row(
    "trapezoid", [[0, 0], [1 / 2, 1 / 2]], [1 / 2, 1 / 2], cite="hairer2006",
    description="implicit trapezoidal rule: symmetric, A-stable",
)  # fmt: skip
_row(
    "sdirk2", [_surds(2, [(2, -1, 2), _ZERO]), _surds(2, [(0, 1, 2), (2, -1, 2)])], _surds(2, [(0, 1, 2), (2, -1, 2)]),
    cite="alexander1977", description="diagonally implicit of order 2, L-stable",
)  # fmt: skip
_row(
    "sdirk3", [_surds(3, [(3, 1, 6), _ZERO]), _surds(3, [(0, -1, 3), (3, 1, 6)])], [1 / 2, 1 / 2], c=_surds(3, [(3, 1,
    6), (3, -1, 6)]), cite="crouzeix1975", description="diagonally implicit of order 3, A-stable",
)  # fmt: skip
