"""The controllers of examples/cubesat.toml: coils that detumble and later unload wheels, and wheels that face the Sun.

Units are SI; the attitude ``q`` turns body axes into those of space, ``omega`` is in body axes.
"""

import numpy as np

import polhode as ph

EPOCH = "2026-03-20T12:00:00 UTC"
SUN = ph.surroundings.ephemeris("sun", EPOCH, stop=2 * 86400.0)
FIELD = ph.surroundings.magnetic_field("dipole", epoch=2026.2, orientation=EPOCH)


def coils(t, position, velocity, q, omega, parameters, states):
    """Dipole moments (A m2): against the change of the field; later, against the momentum of the wheels."""
    damping, _stiffness, _rate_gain, _slew, unloading, wheels_from = parameters
    B = ph.rotation.rotate_inverse(q, FIELD.at(t, position))
    detumble = damping * np.cross(omega, B)
    unload = unloading * np.cross(states.wheel_momentum, B) / (B @ B)
    return ph.where(t < wheels_from, detumble, unload)


def wheels(t, position, velocity, q, omega, parameters, states):
    """Torques on the wheels (N m): the panels, along z, face the Sun, and x lies along the normal of the orbit."""
    _damping, stiffness, rate_gain, slew, _unloading, wheels_from = parameters
    z = unit(SUN.at(t) - position)
    y = unit(np.cross(z, np.cross(position, velocity)))
    x = np.cross(y, z)
    # The error as a vector of the body: half the sum of what turns each axis to where it should be.
    aims = [ph.rotation.rotate_inverse(q, aim) for aim in (x, y, z)]
    error = 0.5 * sum(np.cross(axis, aim) for axis, aim in zip(np.eye(3), aims, strict=True))
    wanted = stiffness / rate_gain * error
    wanted = wanted * np.minimum(1.0, slew / np.sqrt(wanted @ wanted + 1e-12))  # a slew no faster than that
    torque = rate_gain * (wanted - omega) + np.cross(omega, states.wheel_momentum)
    return ph.where(t < wheels_from, np.zeros(3), -torque)


def unit(v):
    """A vector of length 1."""
    return v / np.sqrt(v @ v)
