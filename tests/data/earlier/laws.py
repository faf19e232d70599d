"""Functions of the runs in ``earlier.zip``."""

import numpy as np


def torque(t, q, omega, parameters):
    """Damping, and a pulse about x."""
    pulse = 0.05 if t < 1.0 else 0.0
    return (pulse - parameters[0] * omega[0], -parameters[0] * omega[1], -parameters[0] * omega[2])


def well(t, q, parameters):
    """A potential of the attitude."""
    return 0.3 * (q[1] * q[1] + q[2] * q[2])


def reported(t, q, parameters):
    """Before version 0.1 a potential beside a torque was only reported."""
    return 0.1 * q[3] * q[3]


def spring(t, position, parameters):
    """A potential of the place."""
    return 0.5 * parameters[0] * (position[0] ** 2 + 2.0 * position[1] ** 2) + 0.1 * position[2] ** 4


def wind(t, position, velocity, parameters):
    """A force along x that beats."""
    return (0.1 * np.cos(3.0 * t), -0.02 * velocity[1], 0.0)


def pointing(t, position, velocity, q, omega, parameters, states):
    """Torques of wheels."""
    return 0.02 * np.array([q[1], q[2], q[3]]) + 0.5 * omega


def valves(t, position, velocity, q, omega, parameters, states):
    """Seconds for which two thrusters are open."""
    return (0.02 * max(0.0, omega[0]), 0.02 * max(0.0, -omega[0]))
