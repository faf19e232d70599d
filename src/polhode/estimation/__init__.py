"""Estimation: motions and parameters from measurements, with exact derivatives of the numerical motion.

``polhode.fit`` is batch least squares, ``polhode.estimation.kalman`` the extended Kalman filter on the group. The other
functions state what was measured.
"""

from polhode.estimation.data import read
from polhode.estimation.kalman import kalman
from polhode.estimation.measurements import (
    KINDS,
    Measurement,
    attitude,
    direction,
    gyro,
    position,
    range,
    range_rate,
    velocity,
)
from polhode.estimation.observability import Unobservable
from polhode.estimation.result import Convergence, Fit
from polhode.lazy import public_names

__all__ = [
    "KINDS", "Convergence", "Fit", "Measurement", "Unobservable", "attitude", "direction", "gyro", "kalman", "position",
    "range", "range_rate", "read", "velocity",
]  # fmt: skip
__dir__ = public_names(__all__)
