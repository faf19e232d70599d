"""Stages that share a Jacobian are solved mode by mode: the same corrections as from the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.kernel import layout as L, solve
from polhode.methods import method, tableau, tableau_names
from polhode.methods.stage_layout import MODES, MODES_AT, modes_of
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator

IMPLICIT = [name for name in tableau_names() if not tableau(name).explicit]
ONE_BY_ONE = ["backward_euler", "midpoint", "gauss2", "radau_iia1"]  # one stage: nothing to gain
DEFECTIVE = ["sdirk2", "sdirk3"]  # a double eigenvalue with one eigenvector
TOO_SMALL = ["trapezoid", "lobatto_iiia2", "lobatto_iiib2"]  # two real eigenvalues: no smaller than the whole


def test_which_tableaux_have_modes():
    without = {name for name in IMPLICIT if not modes_of(tableau(name).A)}
    assert without == {*ONE_BY_ONE, *DEFECTIVE, *TOO_SMALL}


@each("name", sorted({*IMPLICIT, "gauss12"} - {*ONE_BY_ONE, *DEFECTIVE, *TOO_SMALL}))
def test_modes_solve_what_the_whole_matrix_does(name):
    A = tableau(name).A
    s, d, h = len(A), 3, 0.7
    random = np.random.default_rng(2)
    J, b = random.normal(size=(d, d)), random.normal(size=(s, d))
    found = np.zeros((s, d))
    for mode in modes_of(A):
        row, column = (mode[2 + k : 2 + k + s] + 1j * mode[2 + k + s : 2 + k + 2 * s] for k in (0, 2 * s))
        part = np.linalg.solve(np.eye(d) - h * (mode[0] + 1j * mode[1]) * J, row @ b)
        found += np.outer(column, part).real
    expected = np.linalg.solve(np.eye(s * d) - h * np.kron(A, J), b.ravel()).reshape(s, d)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)


@each("n", [1, 2, 6, 7])
def test_factors_of_complex_matrices(n):
    random = np.random.default_rng(n)
    matrix, b = (random.normal(size=size) + 1j * random.normal(size=size) for size in ((n, n), n))
    matrix[0, 0] = 0.0 if n > 1 else matrix[0, 0]  # rows must be exchanged
    work = np.concatenate([matrix.real.ravel(), matrix.imag.ravel(), np.zeros(n), b.real, b.imag])
    pivots, at = 2 * n * n, 2 * n * n + n
    assert solve.factor_complex(work, 0, n, pivots)
    solve.substitute_complex(work, 0, n, pivots, at)
    expected = np.linalg.solve(matrix, b)
    assert work[at : at + n] + 1j * work[at + n :] == pytest.approx(expected, rel=1e-12)
    work[: 2 * n * n] = 0.0
    assert not solve.factor_complex(work, 0, n, pivots)


CASES = {
    "top": (lambda: ph.heavy_top((5.0, 4.0, 1.0), (0.1, 0.2, 1.0), weight=20.0),
            {"angular_momentum": (0.3, 0.1, 5.0), "attitude": (0.8, 0.6, 0.0, 0.0)}, 0.02),
    "fast top": (lambda: ph.heavy_top((5.0, 4.0, 1.0), (0.1, 0.2, 1.0), weight=20.0),
                 {"angular_momentum": (0.3, 0.1, 5.0), "attitude": (0.8, 0.6, 0.0, 0.0)}, 0.2),
    "planets": (lambda: ph.gravitating_bodies(mu=[1.0, 0.1]),
                {"position": [(0, 0, 0), (1, 0.1, 0.2)], "velocity": [(0, 0, 0), (0, 1, 0)]}, 0.05),
}  # fmt: skip


@each("name", ["gauss4", "gauss6", "gauss12", "radau_iia5", "lobatto_iiia4", "lobatto_iiic6"])
@each("case", CASES)
def test_steps_are_those_of_the_whole_matrix(case, name):
    """To rounding, and with about as many iterations; at large steps stages get Jacobians of their own after some."""
    make, start, h = CASES[case]
    system = make()
    y, runs = start_state(system, **start), []
    for whole in (False, True):
        run = Integrator(system, method(f"mkrk:{name}"), y)
        assert run.int_coefficients[MODES] > 0 and run.int_coefficients[MODES_AT] < run.coefficients.size
        if whole:
            run.int_coefficients[MODES] = 0
        assert run.march(0, 20, 21, 0.0, h) == L.OK
        runs.append((run.y.copy(), run.step_info[L.TOTAL_ITERATIONS]))
    (found, count), (expected, iterations) = runs
    assert found == pytest.approx(expected, rel=0, abs=1e-13)
    assert count == pytest.approx(iterations, rel=0.05)


def test_charts_centred_on_the_middle_of_the_step_have_no_modes():
    for name, none in (("rotation_vector:gauss4", True), ("rotation_vector:gauss4:start", False)):
        assert (method(name).prepare().int_coefficients[MODES] == 0) == none
