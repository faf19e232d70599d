"""Runs and their transition matrices against 50 digits.

``data/tangent_maps.json`` is made by ``oracles/tangent_cases.py``: differences of the numerical maps themselves, in 50
digits, by formulas of their own.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import tangent_cases
import tangent_maps
from tangent_systems import coordinates, distance, run

CASES = tangent_cases.read()


def test_every_case_is_written():
    """Data and cases are of one date; made again: python tests/oracles/tangent_cases.py"""
    written = {name: {k: v for k, v in one.items() if k not in ("states", "matrices")} for name, one in CASES.items()}
    assert written == tangent_cases.cases()


@pytest.mark.parametrize("name", ["free-v2", "j2-rkn6_14a", "damped-taylor14"])
def test_data_are_what_the_oracle_says(name):
    found, _ = tangent_cases.result(tangent_cases.cases()[name])
    assert found == CASES[name]


@pytest.mark.parametrize("name", CASES)
def test_states_are_those_of_the_map(name):
    case = CASES[name]
    ds = run(case)
    for row, expected in zip(case["rows"], case["states"], strict=True):
        assert distance(coordinates(ds, row), np.array(expected)) < 1e-13


def test_form_and_poisson_matrix_are_inverse():
    """Omega and -J of the docstring of ``tangent_maps``; the flow of J grad H is Euler's equation."""
    m = [mp.mpf(x) for x in (1, -2, 3)]
    omega = tangent_maps.form([tangent_maps.Body(q=[1, 0, 0, 0], m=m)])
    skew = mp.matrix([[0, -m[2], m[1]], [m[2], 0, -m[0]], [-m[1], m[0], 0]])
    J = mp.zeros(6)
    for i in range(3):
        J[i, i + 3], J[i + 3, i] = 1, -1
        for j in range(3):
            J[i + 3, j + 3] = skew[i, j]
    assert mp.mnorm(omega * J + mp.eye(6)) == 0
    slope = mp.matrix([0, 0, 0, 2, 5, 7])  # of H: no torque, angular velocity (2, 5, 7)
    assert list(J * slope) == [2, 5, 7, *tangent_maps.cross(m, [2, 5, 7])]
