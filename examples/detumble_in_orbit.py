"""The load of examples/detumble-in-orbit.toml: wheels that damp a tumble and then hold the body against the Earth."""

import numpy as np


def wheels(satellite, damping, largest, rate):
    """Torque (N m, body axes): ``damping`` (N m s) of the rate against the orbit's, at most ``largest`` on each axis.

    The orbit turns about z of space at ``rate`` (rad/s).
    """
    against = satellite.angular_velocity - satellite.in_body((0.0, 0.0, rate))
    return {"torque": np.clip(-damping * against, -largest, largest)}
