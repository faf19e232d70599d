"""The torque of examples/satellite.toml: eddy currents damp a satellite's rotation in the Earth's magnetic field."""

from math import cos, sin


def torque(t, q, omega, parameters):
    """Torque (N m) in the body frame.

    ``t`` in s, ``q`` the attitude (w, x, y, z) from body to space, ``omega`` in rad/s in the body frame,
    ``parameters`` the numbers of the scenario. polhode compiles functions of this kind; plain arithmetic goes best.
    """
    field, rate, damping = parameters[0], parameters[1], parameters[2]
    w, x, y, z = q[0], q[1], q[2], q[3]

    # The field turns in the x-y plane of space ...
    c, s = field * cos(rate * t), field * sin(rate * t)
    # ... and this is what the body sees of it: c times the first row of R(q) and s times the second.
    bx = c * (1 - 2 * (y * y + z * z)) + s * (2 * (x * y + w * z))
    by = c * (2 * (x * y - w * z)) + s * (1 - 2 * (x * x + z * z))
    bz = c * (2 * (x * z + w * y)) + s * (2 * (y * z - w * x))

    # Rotation across the field is damped, rotation along it is not: damping (B x omega) x B.
    along = bx * omega[0] + by * omega[1] + bz * omega[2]
    square = field * field
    return (
        damping * (along * bx - square * omega[0]),
        damping * (along * by - square * omega[1]),
        damping * (along * bz - square * omega[2]),
    )
