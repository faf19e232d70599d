"""The torque of examples/detumble-in-orbit.toml: wheels that damp a tumble and then hold the body against the Earth."""


def torque(t, q, omega, parameters):
    """Torque (N m) in the body frame: damping of the rate against the orbit's, bounded on each axis.

    ``t`` in s, ``q`` the attitude (w, x, y, z) from body to space, ``omega`` in rad/s in the body frame,
    ``parameters`` the numbers of the scenario.
    """
    damping, largest, rate = parameters[0], parameters[1], parameters[2]
    w, x, y, z = q[0], q[1], q[2], q[3]

    # The orbit turns about z of space; here as seen from the body.
    wanted = (2.0 * rate * (x * z - w * y), 2.0 * rate * (y * z + w * x), rate * (1.0 - 2.0 * (x * x + y * y)))

    a = min(largest, max(-largest, -damping * (omega[0] - wanted[0])))
    b = min(largest, max(-largest, -damping * (omega[1] - wanted[1])))
    c = min(largest, max(-largest, -damping * (omega[2] - wanted[2])))
    return a, b, c
