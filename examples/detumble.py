"""The load of examples/detumble.toml: thrusters that stop a satellite and hold it, and a leak."""

import numpy as np


def thrusters(satellite, t, stiffness, damping, largest, leak):
    """Torque (N m, body axes), of thrusters that can do so much and no more, and of a leak of a few seconds.

    ``stiffness`` in N m, ``damping`` in N m s, the ``largest`` torque in N m, the time of the ``leak`` and ``t`` in s.
    """
    # Towards the attitude of space, the short way round, which is that of the quaternion with a positive scalar part:
    # 2 w (x, y, z) is the same for q and -q, the sine of the angle times the axis.
    q = satellite.attitude
    wanted = -2.0 * stiffness * q[0] * q[1:] - damping * satellite.angular_velocity
    leaking = 2.0 * np.exp(-(((t - leak) / 3.0) ** 2))
    return {"torque": largest * np.tanh(wanted / largest) + leaking * np.array((0.0, 1.0, 0.0))}
