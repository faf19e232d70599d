"""Where the laws are tried: rotation vectors from 0 to pi, dense near both ends and about the series switch."""

from math import pi, sqrt

import numpy as np
from hypothesis import settings, strategies as st

from polhode.algebra import series

try:
    from hypothesis.internal.conjecture import providers
except ImportError:  # earlier versions read no modules
    providers = None

SWITCH_ANGLE = sqrt(series.SWITCH)

law = settings(deadline=None, derandomize=True, database=None, max_examples=80)
"""Laws are searched in the same way every time."""
if hasattr(providers, "_get_local_constants"):  # reads all modules that happen to be loaded, and tries their numbers
    providers._get_local_constants = lambda: providers._local_constants

NEAR_ZERO = (0.0, 1e-300, 1e-170, 1e-160, 1e-100, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3)
NEAR_PI = tuple(pi - d for d in (0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-4, 1e-2))
ANGLES = NEAR_ZERO + (0.05, 0.3, 1.0, 1.7, 2.4, 3.0) + NEAR_PI
BEYOND = tuple(SWITCH_ANGLE * (1 + d) for d in (-1e-15, 0.0, 1e-15, 1e-9)) + (3.5, 4.5, 5.5)


def directions():
    """Unit vectors: the axes, a plane diagonal, one with mixed signs, and one almost along an axis."""
    rows = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (1, 1, 0), (-0.6, 0.3, 0.7), (0.2, -0.9, -0.4), (1e-9, 1, -1e-5)]
    return [np.array(r, dtype=float) / np.linalg.norm(r) for r in rows]


def rotation_vectors(angles=ANGLES):
    """Every direction at every angle, as rows."""
    return np.array([a * d for a in angles for d in directions()])


def unit_quaternions(count, seed):
    """Attitudes spread evenly over the group."""
    q = np.random.default_rng(seed).normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


coordinate = st.floats(-1.0, 1.0, allow_subnormal=False)
triples = st.tuples(coordinate, coordinate, coordinate)
quadruples = st.tuples(coordinate, coordinate, coordinate, coordinate)


def _attitude(raw):
    q = np.array(raw)
    return q / np.linalg.norm(q)


attitudes = quadruples.filter(lambda q: max(map(abs, q)) > 1e-3).map(_attitude)
"""Unit quaternions of either sign."""

vectors = triples.map(np.array)
"""Vectors of length up to sqrt(3), many of them tiny or along an axis."""
