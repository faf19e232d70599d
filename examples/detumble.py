"""The torque of examples/detumble.toml: thrusters that stop a satellite and hold it, and a leak."""

from math import exp, tanh


def torque(t, q, omega, parameters):
    """Torque (N m) in the body frame.

    ``t`` in s, ``q`` the attitude (w, x, y, z) from body to space, ``omega`` in rad/s in the body frame,
    ``parameters`` the numbers of the scenario.
    """
    stiffness, damping, largest, leak = parameters[0], parameters[1], parameters[2], parameters[3]

    # Towards the attitude of space, the short way round, which is that of the quaternion with a positive scalar part:
    # 2 w (x, y, z) is the same for q and -q, the sine of the angle times the axis.
    pull = 2.0 * stiffness * q[0]
    wanted_x = -pull * q[1] - damping * omega[0]
    wanted_y = -pull * q[2] - damping * omega[1]
    wanted_z = -pull * q[3] - damping * omega[2]

    # Thrusters can do so much and no more.
    x = largest * tanh(wanted_x / largest)
    y = largest * tanh(wanted_y / largest)
    z = largest * tanh(wanted_z / largest)

    # A leak of a few seconds.
    return x, y + 2.0 * exp(-(((t - leak) / 3.0) ** 2)), z
