"""Runs and their transition matrices against 64 digits.

``data/tangent_maps.json`` is made by ``oracles/tangent_cases.py``: differences of the numerical maps themselves, in 64
digits, by formulas of their own.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
import tangent_cases
import tangent_maps
from cover import some
from each import each
from polhode.errors import InvalidInput
from tangent_systems import coordinates, distance, run

pytestmark = pytest.mark.usefixtures("columns_by_twos")
CASES = tangent_cases.read()
SHORT = (
    "free_separatrix-v2", "top-rkn6_14a", "top-dmv6", "j2-taylor14", "craft-v2", "nearly_top-v2", "damped-s4_6",
)  # fmt: skip
"""Cases of every run of the tests; kernels are compiled for each kind of them."""
NAMES = [pytest.param(name, marks=() if name in SHORT else pytest.mark.full) for name in CASES]


def test_every_case_is_written():
    """Data and cases are of one date; made again: python tests/oracles/tangent_cases.py"""
    written = {name: {k: v for k, v in one.items() if k not in ("states", "matrices")} for name, one in CASES.items()}
    assert written == tangent_cases.cases()


@each("name", some(["j2-rkn6_14a", "free-v2", "damped-taylor14", "free_sphere-v2"], 2))
def test_data_are_what_the_oracle_says(name):
    found, _ = tangent_cases.result(tangent_cases.cases()[name])
    assert found == CASES[name]


@each("name", NAMES)
def test_states_and_matrices_are_those_of_the_map(name):
    case = CASES[name]
    ds = run(case, tangent=case["parameters"] or True)
    with mp.workdps(tangent_maps.DIGITS):
        arguments, start = tangent_maps.precise(case["arguments"]), tangent_maps.precise(case["start"])
        begin = tangent_maps.bodies_of(tangent_maps.MODELS[case["system"]](arguments), start)
        sizes = np.array([float(x) for x in tangent_maps.sizes(begin)])
    states = len(ds.row)
    assert ds.column.values.tolist() == [*ds.row.values, *case["parameters"]]
    for row, expected, end in zip(case["rows"], case["matrices"], case["states"], strict=True):
        assert distance(coordinates(ds, row), np.array(end)) < 1e-13
        found, expected = ds.state_transition.values[row], np.array(expected)
        off, largest = np.abs(found - expected), np.abs(expected)
        assert off.max() <= (1e-10 if name.startswith("nearly") else 1e-12) * largest.max()  # axes turn fast
        assert (off.max(axis=0) <= 1e-12 * largest.max(axis=0))[:states].all()
        if tangent_cases.is_symplectic(case):
            # By round-off of products of two of its entries, in units in which the coordinates are about 1
            growth = np.abs(found[:, :states] * sizes / sizes[:, None]).max() ** 2
            assert abs(np.linalg.det(found[:, :states]) - 1) < 1e-13 * growth
            gap = tangent_maps.symplectic_error(begin, bodies(begin, end), mp.matrix(found[:, :states].tolist()))
            assert gap < 1e-14 * growth


@each("third", [1.0, 2.0])
def test_axes_of_equal_moments_are_refused(third):
    """They turn by any angle when the tensor changes a little."""
    body = ph.free_body(np.diag([2.0, 2.0, third]))
    with pytest.raises(InvalidInput, match=r"no derivative by inertia[.]0[.]1: principal axes"):
        ph.integrate(body, "v2", step=0.1, steps=1, angular_momentum=(1, 2, 3), tangent=["inertia.0.1"])


def bodies(like, states):
    """Bodies from rows of numbers."""
    found = []
    for b, numbers in zip(like, states, strict=True):
        rest, parts = [mp.mpf(x) for x in numbers], {}
        for name, n in (("r", 3), ("p", 3), ("q", 4), ("m", 3)):
            if getattr(b, name) is not None:
                parts[name], rest = rest[:n], rest[n:]
        found.append(tangent_maps.Body(**parts))
    return found


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
