"""Runge-Kutta tableaux: the order of every row, what it keeps, its digits, and what the registry refuses."""

import copy
import pickle
import re
from fractions import Fraction
from math import sqrt

import mpmath
import numpy as np
import pytest
from scipy.integrate import DOP853, RK23, RK45, solve_ivp

from cover import some
from each import each
from polhode.errors import InvalidInput
from polhode.methods import tableaux
from polhode.methods.tableaux import (
    TABLEAUX,
    Tableau,
    add_tableau,
    order_residuals,
    rooted_trees,
    simplifying_assumptions,
    tableau,
    tableau_names,
)

# name: (stages, order, flags); e explicit, d diagonally implicit, t symmetric, s symplectic, a stiffly accurate
NAMED = {
    "forward_euler": (1, 1, "e"),
    "explicit_midpoint": (2, 2, "e"),
    "heun": (2, 2, "e"),
    "heun3": (3, 3, "e"),
    "kutta3": (3, 3, "e"),
    "rk4": (4, 4, "e"),
    "rk4_38": (4, 4, "e"),
    "bs3": (3, 3, "e"),
    "dp5": (6, 5, "e"),
    "dp8": (12, 8, "e"),
    "cv8": (11, 8, "e"),
    "backward_euler": (1, 1, "da"),
    "midpoint": (1, 2, "dts"),
    "trapezoid": (2, 2, "dta"),
    "sdirk2": (2, 2, "da"),
    "sdirk3": (2, 3, "d"),
}
FAMILIES = {
    "gauss": (range(2, 15, 2), lambda p: p // 2, "ts"),
    "radau_iia": (range(1, 14, 2), lambda p: (p + 1) // 2, "a"),
    "lobatto_iiia": (range(2, 15, 2), lambda p: p // 2 + 1, "ta"),
    "lobatto_iiib": (range(2, 15, 2), lambda p: p // 2 + 1, "t"),
    "lobatto_iiic": (range(2, 15, 2), lambda p: p // 2 + 1, "a"),
}
SMALL = {"gauss2": "d", "radau_iia1": "d", "lobatto_iiia2": "d", "lobatto_iiib2": "d"}  # triangular because small
EXPECTED = NAMED | {
    f"{stem}{p}": (stages(p), p, flags + SMALL.get(f"{stem}{p}", ""))
    for stem, (orders, stages, flags) in FAMILIES.items()
    for p in orders
}


def with_changed_entry(row, i, j, by):
    A = row.A.copy()
    A[i, j] += by
    return Tableau("spoiled", A, row.b)


# --- what every row promises ------------------------------------------------------------------------------------------


def test_every_row_is_tested_here():
    assert set(tableau_names(14)) == set(EXPECTED)


@each("name", EXPECTED)
def test_stages_order_and_kind(name):
    row = tableau(name)
    stages, order, flags = EXPECTED[name]
    assert (row.name, row.stages, row.order) == (name, stages, order)
    kinds = {
        "e": row.explicit,
        "d": row.diagonally_implicit,
        "t": row.symmetric,
        "s": row.symplectic,
        "a": row.stiffly_accurate,
    }
    assert {key for key, true in kinds.items() if true} == set(flags)
    assert row.cite and row.description


@each("name", [name for name, (_, order, _) in EXPECTED.items() if order <= 10])
def test_conditions_hold_up_to_the_order_and_not_beyond(name):
    row = tableau(name)
    for order in range(1, row.order + 1):
        assert np.abs(order_residuals(row, order)).max() < 2e-15
    assert np.abs(order_residuals(row, row.order + 1)).max() > 1e-6


@each("name", [name for name, (_, order, _) in EXPECTED.items() if order <= 8])
def test_trees_and_simplifying_assumptions_agree(name):
    row = tableau(name)
    by_trees = next(p for p in range(9) if np.abs(order_residuals(row, p + 1)).max() > 1e-10)
    known = simplifying_assumptions(row)
    assert known.guaranteed_order <= by_trees <= known.B
    if name not in NAMED:
        assert known.guaranteed_order == by_trees == known.B


@each("s", [1, 2, 3, 6, 7])
def test_simplifying_assumptions_of_the_families(s):
    # [hairer1996, IV.5]
    assert simplifying_assumptions(tableau(f"gauss{2 * s}")) == (2 * s, s, s)
    assert simplifying_assumptions(tableau(f"radau_iia{2 * s - 1}")) == (2 * s - 1, s, s - 1)
    if s > 1:
        assert simplifying_assumptions(tableau(f"lobatto_iiia{2 * s - 2}")) == (2 * s - 2, s, s - 2)
        assert simplifying_assumptions(tableau(f"lobatto_iiic{2 * s - 2}")) == (2 * s - 2, s - 1, s - 1)
    if s > 2:
        assert simplifying_assumptions(tableau(f"lobatto_iiib{2 * s - 2}")) == (2 * s - 2, s - 2, s)


def test_rooted_trees_are_counted_and_distinct():
    def canonical(tree):
        return tuple(sorted(map(canonical, tree)))

    for order, number in enumerate([1, 1, 2, 4, 9, 20, 48, 115, 286, 719], start=1):  # OEIS A000081
        trees = rooted_trees(order)
        assert len(trees) == len(set(map(canonical, trees))) == number


def test_conditions_are_those_of_the_textbook():
    """The eight conditions up to order 4 as they are printed [hairer1993, II.1], for numbers that satisfy none."""
    A = np.array([[0.3, -0.1, 0.2], [0.5, 0.7, -0.4], [0.1, 0.6, 0.9]])
    b = np.array([0.2, 0.5, 0.3])
    c = A.sum(axis=1)
    printed = {
        1: [b.sum() - 1],
        2: [b @ c - 1 / 2],
        3: [b @ c**2 - 1 / 3, b @ A @ c - 1 / 6],
        4: [b @ c**3 - 1 / 4, (b * c) @ A @ c - 1 / 8, b @ A @ c**2 - 1 / 12, b @ A @ A @ c - 1 / 24],
    }
    for order, residuals in printed.items():
        ours = order_residuals(Tableau("any", A, b), order)
        np.testing.assert_allclose(np.sort(ours), np.sort(residuals), rtol=0, atol=1e-15)


# --- observed order: the equations of a torqued asymmetric top --------------------------------------------------------

MOMENTS = np.array([1.0, 1.5, 2.2])


def top(t, y):
    """Body angular momentum y, shape (..., 3), under a torque that depends on time and on the momentum."""
    t = np.asarray(t)
    torque = np.stack([np.cos(3 * t), 0.5 * np.sin(2 * t), 0.3 * np.cos(t)], axis=-1)
    return np.cross(y, y / MOMENTS) + torque - 0.1 * y * np.sum(y * y, axis=-1, keepdims=True)


# Several tops at once: the error of a single one may pass through zero and fake any slope.
STARTS = np.array([[0.8, 1.1, -0.6], [1.2, -0.3, 0.5], [-0.4, 0.9, 1.0], [0.2, 1.3, 0.1], [-1.0, -0.7, 0.3]])
SPAN = 1.0


def integrate(row, steps, t_end):
    """The Runge-Kutta method written down once more, with fixed-point iteration for the implicit ones."""
    h = t_end / steps
    y = STARTS
    for n in range(steps):
        times = (n + row.c[:, None]) * h  # (s, 1), for slopes of shape (s, tops, 3)
        slopes = np.zeros((row.stages, *y.shape))
        for _ in range(100):
            new = top(times, y + h * np.tensordot(row.A, slopes, 1))
            change = np.abs(new - slopes).max()
            slopes = new
            if change < 1e-15:
                break
        y = y + h * np.tensordot(row.b, slopes, 1)
    return y


@pytest.fixture(scope="module")
def reference():
    def flat(t, y):
        return top(t, y.reshape(STARTS.shape)).ravel()

    found = solve_ivp(flat, (0, SPAN), STARTS.ravel(), method="DOP853", rtol=3e-14, atol=1e-15)
    return found.y[:, -1].reshape(STARTS.shape)


@each("name", some([name for name, (_, order, _) in EXPECTED.items() if order <= 8], 8))
def test_observed_order(name, reference):
    row = tableau(name)
    errors = []
    for steps in (4, 8, 16, 32, 64, 128):
        errors.append(np.linalg.norm(integrate(row, steps, SPAN) - reference))
        if errors[-1] < 1e-11:
            break
    assert errors[-1] > 1e-13  # above round-off
    # Where the leading error is small, as that of dp8, the next one still steepens the slope.
    assert row.order - 0.2 < np.log2(errors[-2] / errors[-1]) < row.order + 0.25


def test_one_step_against_the_methods_as_written_out():
    """Each explicit row is the method its name says, not another one of the same order."""
    t, h, y, f = 0.0, 0.1, STARTS, top
    k1 = f(t, y)
    half = f(t + h / 2, y + h / 2 * k1)
    half2 = f(t + h / 2, y + h / 2 * half)
    third = f(t + h / 3, y + h / 3 * k1)
    two_thirds = f(t + 2 * h / 3, y + h * (third - k1 / 3))
    written_out = {
        "forward_euler": y + h * k1,
        "explicit_midpoint": y + h * half,
        "heun": y + h / 2 * (k1 + f(t + h, y + h * k1)),
        "heun3": y + h / 4 * (k1 + 3 * f(t + 2 * h / 3, y + 2 * h / 3 * third)),
        "kutta3": y + h / 6 * (k1 + 4 * half + f(t + h, y - h * k1 + 2 * h * half)),
        "rk4": y + h / 6 * (k1 + 2 * half + 2 * half2 + f(t + h, y + h * half2)),
        "rk4_38": y + h / 8 * (k1 + 3 * third + 3 * two_thirds + f(t + h, y + h * (k1 - third + two_thirds))),
    }
    for name, expected in written_out.items():
        np.testing.assert_allclose(integrate(tableau(name), 1, h), expected, rtol=0, atol=5e-16)


def test_tables_of_the_documentation_are_true():
    named = re.findall(r"^``(\w+)`` +(\d+) +(\d+) +[a-z]", tableaux.__doc__, flags=re.MULTILINE)
    assert {name: (int(s), int(p)) for name, s, p in named} == {name: row[:2] for name, row in NAMED.items()}
    families = re.findall(r"^``(\w+)\{p\}`` +(\d+), (\d+), (\d+)", tableaux.__doc__, flags=re.MULTILINE)
    assert {stem: tuple(map(int, orders)) for stem, *orders in families} == {
        stem: tuple(orders)[:3] for stem, (orders, _, _) in FAMILIES.items()
    }
    pairs = re.findall(r"^``(\w+)``  +(\d)  +(\d)  +(\d)$", tableaux.__doc__, flags=re.MULTILINE)
    assert {name: tuple(map(int, numbers)) for name, *numbers in pairs} == {
        name: (estimate, order, stages) for name, (_, estimate, order, _, stages) in EMBEDDED.items()
    }


def test_dormand_prince_is_that_of_scipy():
    row = tableau("dp5")
    np.testing.assert_array_equal(row.A[:, :5], RK45.A)
    np.testing.assert_array_equal(row.b, RK45.B)
    np.testing.assert_array_equal(row.c, RK45.C)


# --- embedded pairs ---------------------------------------------------------------------------------------------------

# name: (orders of the embedded methods, order of the estimate, order and degree of the dense output, stages for it)
EMBEDDED = {"bs3": ((2,), 2, 3, 3, 0), "dp5": ((4,), 4, 4, 4, 0), "dp8": ((5, 3), 7, 7, 7, 3)}


def all_slopes(row):
    """Rows of A for stages, end of the step, and dense stages."""
    rows = [*row.A, row.b, *row.dense[0]]
    return np.array([np.pad(a, (0, len(rows) - a.size)) for a in rows])


def test_embedded_rows_are_those():
    assert {name for name in EXPECTED if tableau(name).embedded} == set(EMBEDDED)
    for name in ("rk4", "gauss4"):
        row = tableau(name)
        assert (row.errors, row.estimate, row.dense, row.dense_order) == ((), 0, None, 0)


@each("name", EMBEDDED)
def test_order_of_the_estimate(name):
    row = tableau(name)
    orders, estimate, *_ = EMBEDDED[name]
    A = all_slopes(row)[: row.stages + 1, : row.stages + 1]
    for e, order in zip(row.errors, orders, strict=True):
        other = Tableau("other", A, np.append(row.b, 0.0) - e)
        assert other.order == order < row.order
        for p in range(1, order + 1):
            assert np.abs(order_residuals(other, p)).max() < 4e-15
    assert row.estimate == estimate


@each("name", EMBEDDED)
def test_order_of_the_dense_output(name):
    """The weights at theta satisfy the conditions Phi(tree) = theta^|tree| / gamma(tree) [hairer1993, II.6]."""
    row = tableau(name)
    _, _, order, degree, stages = EMBEDDED[name]
    extra, P = row.dense
    assert (row.dense_order, P.shape, len(extra)) == (order, (row.stages + 1 + stages, degree), stages)
    A = all_slopes(row)
    for theta in (0.1, 0.37, 0.5, 0.81, 1.0):
        weights = P @ theta ** np.arange(1, degree + 1)
        # The method that steps by theta h: its stages are those of the step, its weights sum to 1.
        scaled = Tableau("scaled", A / theta, weights / theta)
        for p in range(1, order + 1):
            assert np.abs(order_residuals(scaled, p)).max() * theta**p < 2e-13
        beyond = np.abs(order_residuals(scaled, order + 1)).max() * theta ** (order + 1)
        assert beyond > 1e-8 or theta == 1.0
    np.testing.assert_allclose(P.sum(axis=1), np.pad(row.b, (0, 1 + stages)), rtol=0, atol=2e-13)


@each("name", EMBEDDED)
def test_dense_output_is_smooth_from_step_to_step(name):
    """Its slopes at both ends are those of the solution."""
    row = tableau(name)
    P = row.dense[1]
    first, last = np.zeros(len(P)), np.zeros(len(P))
    first[0] = last[row.stages] = 1.0
    np.testing.assert_allclose(P[:, 0], first, rtol=0, atol=1e-13)
    np.testing.assert_allclose(P @ np.arange(1, P.shape[1] + 1), last, rtol=0, atol=2e-12)


def test_embedded_rows_are_those_of_scipy():
    for name, theirs in (("bs3", RK23), ("dp5", RK45)):
        row = tableau(name)
        np.testing.assert_allclose(row.errors[0], -theirs.E, rtol=0, atol=1e-17)
        np.testing.assert_allclose(row.dense[1], theirs.P, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(row.b, theirs.B)
    row = tableau("dp8")
    np.testing.assert_array_equal(row.A, DOP853.A)
    np.testing.assert_array_equal(row.b, DOP853.B)
    np.testing.assert_allclose(row.c, DOP853.C, rtol=0, atol=1e-17)
    np.testing.assert_allclose(row.errors, (DOP853.E5, DOP853.E3), rtol=0, atol=1e-16)
    np.testing.assert_array_equal(all_slopes(row)[13:], DOP853.A_EXTRA)


@each("name", EMBEDDED)
@each("theta", [0.2, 0.7])
def test_dense_output_of_one_step_against_scipy(name, theta):
    theirs = {"bs3": RK23, "dp5": RK45, "dp8": DOP853}[name]
    y0, h, row = STARTS[0], 0.3, tableau(name)
    step = theirs(lambda t, y: top(t, y), 0.0, y0, 10.0, first_step=h, rtol=1e3, atol=1e3)
    step.step()
    assert step.t == h
    K = np.zeros((len(row.dense[1]), 3))
    A = all_slopes(row)
    for i, node in enumerate(A.sum(axis=1)):
        K[i] = top(node * h, y0 + h * A[i] @ K)
    at = y0 + h * (row.dense[1] @ theta ** np.arange(1, row.dense[1].shape[1] + 1)) @ K
    np.testing.assert_allclose(at, step.dense_output()(theta * h), rtol=0, atol=3e-14)


@each("name", EMBEDDED)
def test_a_spoiled_number_of_a_pair_is_seen(name):
    row = tableau(name)
    numbers = (row.A, row.b, row.c, "", "")
    error = row.errors[0].copy()
    error[[0, -2]] += (1e-9, -1e-9)
    spoiled = Tableau("spoiled", *numbers, (error, *row.errors[1:]), row.dense)
    assert spoiled.estimate < row.estimate and spoiled.order == row.order
    extra, P = row.dense
    P = P.copy()
    P[0, 1:3] += (1e-9, -1e-9)
    P[-1, 1:3] -= (1e-9, -1e-9)
    assert Tableau("spoiled", *numbers, row.errors, (extra, P)).dense_order < row.dense_order
    if extra:
        first = extra[0].copy()
        first[[0, 6]] += (1e-9, -1e-9)
        assert Tableau("spoiled", *numbers, row.errors, ((first, *extra[1:]), P)).dense_order < row.dense_order


# --- digits -----------------------------------------------------------------------------------------------------------


class Surd:
    """p + q sqrt(21) with rational p and q: exact arithmetic for the Cooper-Verner conditions."""

    def __init__(self, p, q=0):
        self.p, self.q = Fraction(p), Fraction(q)

    def __add__(self, other):
        return Surd(self.p + other.p, self.q + other.q)

    def __mul__(self, other):
        return Surd(self.p * other.p + 21 * self.q * other.q, self.p * other.q + self.q * other.p)

    def __eq__(self, other):
        return (self.p, self.q) == (other.p, other.q)

    __hash__ = None


def test_cooper_verner_satisfies_all_conditions_exactly():
    def exact(entries):
        return [Surd(Fraction(p, r), Fraction(q, r)) for p, q, r in entries]

    A = [exact(row) for row in tableaux._COOPER_VERNER_A]
    b, c = exact(tableaux._COOPER_VERNER_B), exact(tableaux._COOPER_VERNER_C)
    for row, node in zip(A, c, strict=True):
        assert sum(row, Surd(0)) == node

    def size(tree):
        return 1 + sum(map(size, tree))

    def density(tree):
        return size(tree) * np.prod([density(child) for child in tree], dtype=object)

    raised = {}

    def stage_weights(tree):
        weights = [Surd(1)] * 11
        for child in tree:
            if child not in raised:
                inner = stage_weights(child)
                raised[child] = [sum((a * w for a, w in zip(row, inner, strict=False) if a.p), Surd(0)) for row in A]
            weights = [x * y for x, y in zip(weights, raised[child], strict=True)]
        return weights

    for order in range(1, 9):
        for tree in rooted_trees(order):
            weight = sum((x * y for x, y in zip(b, stage_weights(tree), strict=True)), Surd(0))
            assert weight == Surd(Fraction(1, int(density(tree))))


@each("s", [1, 2, 3, 4, 5, 6])
def test_gauss_entries_against_mpmath(s):
    with mpmath.workdps(30):
        half = mpmath.mpf(1) / 2
        starts = np.sort(np.polynomial.legendre.leggauss(s)[0])
        c = [(1 + mpmath.findroot(lambda x: mpmath.legendre(s, x), start)) * half for start in starts]

        def cardinal(j, x):
            return mpmath.fprod((x - c[m]) / (c[j] - c[m]) for m in range(s) if m != j)

        def integral(j, upper):
            return mpmath.quad(lambda x: cardinal(j, x), [0, upper])

        A = [[float(integral(j, c[i])) for j in range(s)] for i in range(s)]
        b = [float(integral(j, 1)) for j in range(s)]
        c = [float(x) for x in c]
    row = tableau(f"gauss{2 * s}")
    assert (row.A.tolist(), row.b.tolist(), row.c.tolist()) == (A, b, c)


def test_printed_tables():
    """The closed forms of [hairer1996, IV.5] and [hairer2006, II.1]."""
    root = sqrt(3)
    gauss4 = tableau("gauss4")
    np.testing.assert_allclose(gauss4.A, [[1 / 4, 1 / 4 - root / 6], [1 / 4 + root / 6, 1 / 4]], rtol=0, atol=1e-16)
    root = sqrt(6)
    radau = [
        [(88 - 7 * root) / 360, (296 - 169 * root) / 1800, (-2 + 3 * root) / 225],
        [(296 + 169 * root) / 1800, (88 + 7 * root) / 360, (-2 - 3 * root) / 225],
        [(16 - root) / 36, (16 + root) / 36, 1 / 9],
    ]
    np.testing.assert_allclose(tableau("radau_iia5").A, radau, rtol=0, atol=1e-16)
    np.testing.assert_allclose(tableau("radau_iia3").A, [[5 / 12, -1 / 12], [3 / 4, 1 / 4]], rtol=0, atol=1e-16)
    lobatto = {
        "a": [[0, 0, 0], [5 / 24, 1 / 3, -1 / 24], [1 / 6, 2 / 3, 1 / 6]],
        "b": [[1 / 6, -1 / 6, 0], [1 / 6, 1 / 3, 0], [1 / 6, 5 / 6, 0]],
        "c": [[1 / 6, -1 / 3, 1 / 6], [1 / 6, 5 / 12, -1 / 12], [1 / 6, 2 / 3, 1 / 6]],
    }
    for letter, A in lobatto.items():
        row = tableau(f"lobatto_iii{letter}4")
        np.testing.assert_array_equal(row.A, A)
        np.testing.assert_array_equal(row.b, [1 / 6, 2 / 3, 1 / 6])
        np.testing.assert_array_equal(row.c, [0, 1 / 2, 1])
    np.testing.assert_array_equal(tableau("lobatto_iiia2").A, [[0, 0], [1 / 2, 1 / 2]])
    np.testing.assert_array_equal(tableau("lobatto_iiib2").A, [[1 / 2, 0], [1 / 2, 0]])
    np.testing.assert_array_equal(tableau("lobatto_iiic2").A, [[1 / 2, -1 / 2], [1 / 2, 1 / 2]])


def test_named_rows_are_members_of_families():
    for name, member in [("midpoint", "gauss2"), ("trapezoid", "lobatto_iiia2"), ("backward_euler", "radau_iia1")]:
        for numbers in "Abc":
            np.testing.assert_array_equal(getattr(tableau(name), numbers), getattr(tableau(member), numbers))


@each("stem", FAMILIES)
def test_more_digits_change_nothing(stem):
    for stages in (2, 5, 12):
        assert tableaux._family_numbers(stem, stages) == tableaux._family_numbers(stem, stages, digits=120)


@each("name", ["gauss40", "radau_iia39", "lobatto_iiia40", "lobatto_iiib40", "lobatto_iiic40"])
def test_large_members(name):
    row = tableau(name)
    assert row.order == int(name.lstrip("abcdefghijklmnopqrstuvwxyz_"))
    assert row.symplectic == name.startswith("gauss")


@each("s", [2, 3, 4, 7])
def test_lobatto_pair_is_symplectic(s):
    first, second = tableau(f"lobatto_iiia{2 * s - 2}"), tableau(f"lobatto_iiib{2 * s - 2}")
    b = first.b
    np.testing.assert_array_equal(b, second.b)
    np.testing.assert_allclose(b[:, None] * second.A + (b[:, None] * first.A).T, np.outer(b, b), rtol=0, atol=1e-16)


@each("name", ["backward_euler", "sdirk2", "radau_iia3", "radau_iia9", "lobatto_iiic2", "lobatto_iiic8"])
def test_stability_function_vanishes_at_infinity(name):
    row = tableau(name)
    assert 1.0 - row.b @ np.linalg.solve(row.A, np.ones(row.stages)) == pytest.approx(0.0, abs=1e-11)


# --- spoiled, added and refused ---------------------------------------------------------------------------------------


@each("name", [name for name, (_, order, _) in EXPECTED.items() if order >= 3])
def test_spoiled_coefficient_lowers_the_order(name):
    row = tableau(name)
    i = int(np.argmax(np.abs(row.b)))  # a stage that counts
    assert with_changed_entry(row, i, 0, 0.0).order == row.order
    assert with_changed_entry(row, i, 0, 1e-9).order < row.order


def test_spoiled_coefficient_is_seen_by_the_flags():
    gauss, radau = tableau("gauss6"), tableau("radau_iia5")
    spoiled = with_changed_entry(gauss, 0, 1, 1e-9)
    assert not spoiled.symmetric and not spoiled.symplectic
    assert not with_changed_entry(radau, -1, 0, 1e-9).stiffly_accurate


def test_order_between_the_bounds_is_found_by_trees():
    rk4 = tableau("rk4")
    assert simplifying_assumptions(rk4).guaranteed_order < rk4.order
    # Simpson's quadrature on Euler stages: B(4) holds, but b . A c = 1/12 instead of 1/6.
    only_quadrature = Tableau("simpson_on_euler", [[], [1 / 2], [1 / 2, 1 / 2]], [1 / 6, 2 / 3, 1 / 6])
    assert (simplifying_assumptions(only_quadrature).B, only_quadrature.order) == (4, 2)


def test_added_tableau_is_found():
    ralston = add_tableau("ralston2", [[], [2 / 3]], [1 / 4, 3 / 4], cite="me", description="Ralston")
    assert tableau("ralston2") is ralston is TABLEAUX["ralston2"]
    assert "ralston2" in tableau_names()
    assert (ralston.order, ralston.explicit, ralston.c.tolist()) == (2, True, [0, 2 / 3])
    assert "ralston2" in repr(ralston) and "order 2" in repr(ralston)
    assert add_tableau("ralston2", [[0, 0], [2 / 3, 0]], [1 / 4, 3 / 4], None, "me", "Ralston") is ralston
    with pytest.raises(InvalidInput, match="already is a different tableau 'ralston2'"):
        add_tableau("ralston2", [[], [1 / 2]], [0, 1])


def test_shipped_rows_cannot_be_replaced():
    for name in ("rk4", "gauss4"):
        with pytest.raises(InvalidInput, match="already is a different tableau"):
            add_tableau(name, [[0]], [1])
    row = tableau("gauss4")
    assert add_tableau("gauss4", row.A, row.b, row.c, row.cite, row.description) is row
    assert "gauss4" not in TABLEAUX
    with pytest.raises(InvalidInput, match="belong to a family"):
        add_tableau("gauss3", [[0]], [1])


def test_registry_is_read_only():
    with pytest.raises(TypeError):
        TABLEAUX["rk4"] = tableau("heun")


def test_record_is_frozen_and_a_value():
    rk4 = tableau("rk4")
    with pytest.raises(AttributeError):
        rk4.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        rk4.A[1, 0] = 1.0
    for row in (rk4, tableau("dp8")):
        for twin in (copy.deepcopy(row), pickle.loads(pickle.dumps(row))):
            assert twin == row and hash(twin) == hash(row)
            numbers = (twin.A, *twin.errors, *(() if twin.dense is None else (*twin.dense[0], twin.dense[1])))
            assert not any(part.flags.writeable for part in numbers)
    dp5 = tableau("dp5")
    for pair in (((), dp5.dense), (dp5.errors, None), (-dp5.errors[0][None], dp5.dense)):
        assert Tableau("dp5", dp5.A, dp5.b, dp5.c, dp5.cite, dp5.description, *pair) != dp5
    assert rk4 != tableau("rk4_38") and rk4 != "rk4"
    assert tableau(rk4) is rk4
    weights = np.array([1.0])
    own = Tableau("own", [[0.0]], weights)
    weights[0] = 5.0
    assert own.b[0] == 1.0


def test_exact_numbers_are_accepted():
    third = Fraction(1, 3)
    row = Tableau("heun3", [[], [third], [0, 2 * third]], [Fraction(1, 4), 0, Fraction(3, 4)], [0, third, 2 * third])
    np.testing.assert_array_equal(row.A, tableau("heun3").A)


HEUN = ("x", [[], [1]], [0.5, 0.5], None, "", "")


@each(
    ("arguments", "message"),
    [
        (("x", [[0, 0], [1, 0]], [1]), "A has 2 rows but b has 1 entries"),
        (("x", [[0, 0], [1, 0, 0]], [0.5, 0.5]), "rows of A have 2, 3 entries; each must have 2"),
        (("x", [[0], [1]], [0.5, 0.5]), "rows of A have 1, 1 entries"),
        (("x", 1.0, [1]), "A must be a list of rows"),
        (("x", "rk4", [1]), "A must be a list of rows"),
        (("x", [1.0], [1]), "row 1 of A must be a plain list"),
        (("x", [["a"]], [1]), "row 1 of A must be real numbers"),
        (("x", [[0]], [[1]]), "b must be a plain list"),
        (("x", [[0]], np.array([1 + 0j])), "b must be real numbers"),
        (("x", [[0, 0], [float("nan"), 0]], [0.5, 0.5]), "row 2 of A is not finite"),
        (("x", [[0]], [float("inf")]), "b is not finite"),
        (("x", [[], [1]], [0.5, 0.6]), "weights b sum to 1.1"),
        (("x", [[], [1]], [0.5, -0.5]), "weights b sum to 0"),
        (("x", [], []), "weights b sum to 0"),
        (("x", [[], [1]], [0.5, 0.5], [0, 0.5]), "row 2 of A sums to 1 but c gives 0.5 there"),
        (("x", [[], [1]], [0.5, 0.5], [0]), "c has 1 entries but b has 2"),
        (("RK 4", [[0]], [1]), "cannot name a tableau"),
        (("a:b", [[0]], [1]), "cannot name a tableau"),
        ((7, [[0]], [1]), "cannot name a tableau"),
        ((*HEUN, 1.0), "errors must be a list of one or two rows"),
        ((*HEUN, [1.0, -1.0, 0.0]), "errors must be a list of one or two rows"),
        ((*HEUN, [[1, -1, 0]] * 3), "errors must be a list of one or two rows"),
        ((*HEUN, [[1, -1]]), "error row 1 has 2 entries; it must have 3, one for each stage and one for the end of"),
        ((*HEUN, [[1, -1, 0], [0.5, -0.4, 0]]), "error row 2 sums to 0.0999"),
        ((*HEUN, [[0, 0, 0]]), "error row 1 sums to 0; it must sum to 0 and not be zero"),
        ((*HEUN, (), [[1, -1]]), "dense must be a pair"),
        ((*HEUN, (), ([], 1.0)), "dense must be a pair"),
        ((*HEUN, (), ([[0.5, 0.5]], [[1]] * 4)), "dense stage 1 has 2 entries; it must have 3"),
        ((*HEUN, (), ([], [[0.5], [0.5]])), "there are 2 dense polynomials; there must be 3"),
        ((*HEUN, (), ([], [[0.5], [0.5], [0, 0]])), "must all have the same degree"),
        ((*HEUN, (), ([], [[1, -0.4], [0, 0.5], [0, -0.1]])), "dense polynomial 1 is 0.59"),
        (
            (*HEUN, (), ([], [[0.9, -0.4], [0, 0.5], [0, 0]])),
            "coefficients of theta^1 of the dense polynomials sum to 0.9",
        ),
    ],
)
def test_bad_numbers_are_refused_in_one_sentence(arguments, message):
    with pytest.raises(InvalidInput) as failure:
        Tableau(*arguments)
    assert message in str(failure.value)
    assert "\n" not in str(failure.value)


@each(
    ("name", "message"),
    [
        ("rk44", "unknown tableau 'rk44'; did you mean 'rk4'"),
        ("RK4", "did you mean 'rk4'"),
        ("gaus4", "did you mean 'gauss4'"),
        ("qqqq", "known: "),
        (4, "named by text such as"),
        ("gauss3", "there is no tableau 'gauss3': there are gauss2, gauss4, gauss6, ..."),
        ("gauss0", "there is no tableau 'gauss0'"),
        ("gauss04", "there is no tableau 'gauss04'"),
        ("gauss102", "up to gauss100"),
        ("gauss" + "8" * 5000, "there is no tableau"),
        ("gauss", "needs a number: there are gauss2"),
        ("radau_iia4", "there are radau_iia1, radau_iia3, radau_iia5, ... up to radau_iia99"),
        ("lobatto_iiic5", "there are lobatto_iiic2, lobatto_iiic4"),
    ],
)
def test_unknown_names_are_answered(name, message):
    with pytest.raises(InvalidInput) as failure:
        tableau(name)
    assert message in str(failure.value)
