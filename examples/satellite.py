"""The load of examples/satellite.toml: eddy currents damp a satellite's rotation in the Earth's magnetic field."""

import numpy as np


def eddy_currents(satellite, t, field, rate, damping):
    """Torque (N m, body axes): rotation across the field is damped, rotation along it is not.

    ``t`` in s; ``field`` (T) turns in the x-y plane of space at ``rate`` (rad/s); ``damping`` in N m s / T2.
    """
    B = satellite.in_body((field * np.cos(rate * t), field * np.sin(rate * t), 0.0))
    return {"torque": damping * np.cross(np.cross(satellite.angular_velocity, B), B)}
