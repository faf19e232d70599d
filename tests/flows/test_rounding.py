"""What rounding does to a free motion in many steps: errors of invariants grow as a random walk, never step by step."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from cover import chosen
from each import each
from polhode.flows import sums
from polhode.kernel import drive, layout as L
from polhode.kernel.jit import python_of
from polhode.methods.free_flows import free_flow

BODIES = (
    # moments, angular velocity: general, symmetric about the largest, the smallest moment, rods, near an axis
    ((0.6584, 0.7521, 0.8427), (0.5623, 0.4928, 0.6641)),
    ((0.9738, 0.5705, 0.7891), (0.2309, -0.7214, -0.6529)),
    ((0.9144, 1.098, 1.66), (0.4555, 0.8262, 0.0348)),
    ((1.0, 2.0, 2.0), (0.7, 0.25, -0.15)),
    ((0.52, 0.52, 0.85), (0.41, -0.63, 0.66)),
    ((0.71, 0.44, 0.44), (-0.35, 0.21, 0.91)),
    ((1e-3, 0.7677, 0.518), (1.0, 2.6e-4, 4.4e-3)),
    ((0.5082, 0.8481, 0.8513), (0.58, 6.4e-3, -5e-3)),
)


@cache
def swept(name, h, n):
    """States after n steps, and the moments."""
    I = np.array([body[0] for body in BODIES])
    y = np.zeros((len(I), 13))
    y[:, 6:10], y[:, 10:] = 0.5, I * np.array([body[1] for body in BODIES])
    bodies = np.column_stack([np.ones(len(I)), I, np.ones(len(I)), 1.0 / I])
    status, iterations = np.zeros(len(I), np.int64), np.zeros(len(I), np.int64)
    drive.sweep_of(free_flow(name).build())(n, np.full(len(I), h), y, bodies, np.zeros(L.STEP_INFO), status, iterations)
    assert not status.any()
    return y, I


def invariants(y, I):
    """Twice the energy, length of the momentum and that of q, of every body."""
    q, m = y[:, 6:10].astype(np.longdouble), y[:, 10:].astype(np.longdouble)
    return (m * m / I).sum(axis=1), np.sqrt((m * m).sum(axis=1)), np.sqrt((q * q).sum(axis=1))


def in_space(y):
    """Momentum of every body in space."""
    w, v, m = (a.astype(np.longdouble) for a in (y[:, 6:7], y[:, 7:10], y[:, 10:]))
    t = 2 * np.cross(v, m)
    return m + w * t + np.cross(v, t)


def drifts(name, h, n):
    """Relative errors of energy and length of the momentum, and that of |q|, of every body."""
    (energy, length, _), found = invariants(*swept(name, h, 0)), invariants(*swept(name, h, n))
    return np.abs(found[0] / energy - 1), np.abs(found[1] / length - 1), np.abs(found[2] - 1)


MANY = 50_000


@each(
    ("name", "h"),
    chosen(
        product(["exact", "semiexact6", "kosenko", "dmv6", "implicit_midpoint"], [0.1, 0.9]),
        [("exact", 0.1), ("semiexact6", 0.9), ("kosenko", 0.1), ("dmv6", 0.1), ("implicit_midpoint", 0.9)],
    ),
)
def test_no_rounding_of_energy_and_length_goes_one_way(name, h):
    """A step of the same size from the same orbit rounds alike; 100,000 of them were off by up to 3e-12."""
    energy, length, unit = drifts(name, h, MANY)
    assert energy.max() < 2e-13 and length.max() < 1e-13 and unit.max() < 2e-14


@each("name", ["mr", "symmetric", "three_rotation"])
def test_rotors_keep_both_lengths(name):
    """Those of the momentum and of the quaternion, also where all angles are the same in every step."""
    _, length, unit = drifts(name, 0.3, MANY)
    assert length.max() < 1e-13 and unit.max() < 2e-14


def veered(name, h, n):
    """Angle (rad) by which the momentum in space has left its direction, of every body."""
    y, _ = swept(name, h, 0)
    begin = in_space(y)
    y, _ = swept(name, h, n)
    return np.linalg.norm(np.cross(begin, in_space(y)), axis=1) / (begin * begin).sum(axis=1)


@each(
    ("name", "h"),
    chosen(
        product(["exact", "semiexact6", "kosenko", "exact_matrix", "semiexact6_matrix", "dmv6"], [1e-3, 0.1]),
        [("exact", 0.1), ("kosenko", 0.1), ("dmv6", 0.1), ("exact_matrix", 1e-3), ("semiexact6_matrix", 1e-3)],
    ),
)
def test_the_momentum_in_space_does_not_veer(name, h):
    """As products of matrices 100,000 turns were off by 1.2e-12, and a million by ten times as much."""
    assert veered(name, h, MANY).max() < 3e-13


@pytest.mark.full
@pytest.mark.parametrize("name", ["exact", "semiexact6", "exact_matrix"])
def test_the_momentum_in_space_after_ten_million_steps(name):
    assert veered(name, 1e-3, 10_000_000).max() < 5e-12


@pytest.mark.full
@pytest.mark.parametrize("name", ["exact", "symmetric"])
def test_a_hundred_million_steps(name):
    energy, length, unit = drifts(name, 1e-3, 12_500_000)
    assert length.max() < 1e-12 and unit.max() < 2e-14
    assert name != "exact" or energy.max() < 2e-12


def test_a_small_component_is_corrected_with_the_others():
    """The correction of a length is 1e-16 of each, though the change to which it is added has an ulp of 7e-18."""
    rng, correction = np.random.default_rng(1), 2.0**-53
    q = 0.01 * rng.uniform(1.0, 2.0, (4, 4000))
    q[3] = np.sqrt(1.0 - (q[:3] ** 2).sum(axis=0))
    e = 0.1 * rng.uniform(0.5, 1.0, (4, 4000))
    e[0] = np.sqrt(1.0 - (e[1:] ** 2).sum(axis=0))
    turn = python_of(sums.swing)
    changes = [np.subtract(turn(*rows, correction), turn(*rows, 0.0)) for rows in zip(q.T, e.T, strict=True)]
    assert np.mean(changes, axis=0) / (correction * q.mean(axis=1)) == pytest.approx(np.ones(4), rel=0.1)
