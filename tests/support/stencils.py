"""Directions along which derivatives are compared with differences."""

import numpy as np


def by_fours(n):
    """Sums of four of n unit vectors: every column of a Jacobian is in one of them, at a quarter of the calls."""
    return np.add.reduceat(np.eye(n), np.arange(0, n, 4))
