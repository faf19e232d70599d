"""One of each system, and a torque of a user's."""

import math

import numpy as np

import polhode as ph
from polhode import forces
from polhode.systems.registry import sample_arguments
from public_calls import CALLS


def torque(t, q, omega, parameters):
    return (parameters[0] * q[1] - omega[0], parameters[1] * math.sin(t), omega[0] * q[3] - parameters[0] * omega[2])


def driven(parameters=(0.7, -1.3), inertia=(1.0, 2.0, 2.5)):
    return ph.rigid_body(inertia, torque=torque, parameters=parameters)


EVERY = {
    "rigid_body": driven,
    "heavy_top": lambda: ph.heavy_top((1, 1.2, 2), (0, 0, 1), weight=9.81),
    "gravity_gradient": lambda: ph.systems.gravity_gradient((1.7, 3.7, 4.4), mu=1.0, radius=2.0),
    "soft_wall": lambda: ph.systems.problem("krysl_soft_wall").build(),
    "particle": lambda: ph.particle(2.0, stiffness=(1, 2, 3)),
    "orbit": lambda: ph.orbit(1.0, 2.0, [forces.zonal(J2=1e-3, radius=0.5), forces.thrust(0.1, vector=(1, 0, 0))]),
    "spacecraft": lambda: ph.spacecraft(
        np.diag([1.0, 2.0, 2.5]), 1.0, [2.0], torque=torque, parameters=[0.1, 0.2],
        thrusters=[ph.systems.thruster((0.1, 0, 0), position=(0, 1, 0), start=0.1)],
    ),
    "gravitating_bodies": lambda: ph.gravitating_bodies((1.0, 2.0)),
    "dipoles": lambda: ph.dipoles(8, box=10.0, cutoff=3.0),
    "rigid_water": lambda: ph.rigid_water(8),
}  # fmt: skip
EVERY |= {
    name: lambda build=build: build(**sample_arguments(build))
    for name, build in ph.systems.SYSTEMS.items()
    if name not in {*EVERY, "free_body"}
}


def built(name):
    """A system as its builder is called."""
    return ph.systems.SYSTEMS[name](**(CALLS.get(name) or CALLS[f"systems.{name}"])[0])


def start_of(system):
    """Where the bodies of any system may start: on an orbit, or on a lattice, at rest or turning slowly."""
    start = {}
    if "central_gravity" in system.provides:
        start = {"position": (7.0e6, 1.0e5, -2.0e5), "velocity": (100.0, 7.4e3, 900.0)}
    elif system.translates:
        side = 4.5 if system.name == "dipoles" else 1.5
        corners = side * np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
        start = {"position": corners[: system.N] + 0.1, "velocity": np.zeros((system.N, 3))}
    if system.rotates:
        slow = 1e-3 if "central_gravity" in system.provides or system.name == "gravity_gradient" else 0.3
        start["angular_velocity"] = np.tile((slow, -0.5 * slow, 2.0 * slow), (system.N, 1))
    return start
