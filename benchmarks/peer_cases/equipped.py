"""A spacecraft with three reaction wheels: J2 and gravity gradient; with friction, motors and drag, too.

In units of the orbit's radius and mu, and heyoka's angular momenta over a moment, so that no quantity drowns in the
norm by which steps are chosen. Neither integrates the works of motors and drag (work=False in polhode).
"""

from __future__ import annotations

from math import cos, sin
from typing import Any

import heyoka as hk
import numpy as np

import polhode as ph
from peer_cases.bodies import matrix
from peer_cases.runs import CHOSEN, Problem
from polhode.algebra.quaternion import multiply
from polhode.runs.initial_state import start_state

MU, RADIUS, J2 = 3.986004415e14, 6378136.3, 1.0826e-3  # m, s
LENGTH = 6.878e6
UNIT = (LENGTH**3 / MU) ** 0.5
MASS, MOMENTS, ROTOR = 60.0, np.array([40.0, 44.0, 25.0]), 2e-3  # kg, kg m2
SPEEDS, COMMAND, VISCOUS = np.array([100.0, -150.0, 120.0]), (1e-5, -2e-5, 1.5e-5), 2e-6
AIR = {"kd": 0.5 * 2.2 * 1.2 / MASS * 2.8e-12, "radius": 6.778e6, "scale": 5.9e4, "rotation": 7.2921e-5}
VELOCITY, RATES, SECONDS = 7612.6, np.array([0.03, -0.03, 0.03]), 28500.0
METHODS = ("rkn6_14a/kepler", "s6_10/kepler", "mkrk:cv8", *(f"taylor{k}" for k in (8, 10, 12, 14, 16, 20)), *CHOSEN)


def wheels(friction: bool) -> Problem:
    """Free wheels, or such with motors and friction, and drag; 28,500 s."""
    inertia, rotor = MOMENTS / LENGTH**2, ROTOR / LENGTH**2
    command = tuple(u * UNIT**2 / LENGTH**2 for u in COMMAND) if friction else 0.0
    viscous = VISCOUS * UNIT / LENGTH**2 if friction else 0.0
    air = {"kd": AIR["kd"] * LENGTH, "radius": AIR["radius"] / LENGTH, "scale": AIR["scale"] / LENGTH,
           "rotation": AIR["rotation"] * UNIT}  # fmt: skip
    forces = [ph.forces.zonal(J2=J2, radius=RADIUS / LENGTH), *([ph.forces.drag(**air)] if friction else [])]
    system = ph.spacecraft(
        inertia=inertia, mu=1.0, mass=MASS, forces=forces, work=False,
        wheels=ph.reaction_wheels(np.eye(3), rotor, speed=SPEEDS * UNIT, command=command, viscous=viscous),
    )  # fmt: skip
    speed = VELOCITY * UNIT / LENGTH
    initial: dict[str, Any] = {
        "position": (1.0, 0.0, 0.0), "velocity": (0.0, speed * cos(0.9), speed * sin(0.9)),
        "attitude": ph.rotation.exp_quaternion((0.5, -1.0, 0.8)), "angular_velocity": RATES * UNIT,
    }  # fmt: skip
    y = start_state(system, **initial)
    w, i, j, k = system.frames[0]

    def ours(y):
        return {"position": y[:3], "attitude": np.array(multiply(tuple(y[6:10]), (w, -i, -j, -k)))}

    def theirs(state, form):
        return {"position": state[:3], "attitude": state[6:10]}

    def equations(n):
        names = (("x", "y", "z"), ("u", "v", "w"), ("q0", "q1", "q2", "q3"), ("a", "b", "c"), ("h0", "h1", "h2"))
        r, v, q, o, h = (hk.make_vars(*some) for some in names)
        whole = [n(float(x / MOMENTS[0])) for x in MOMENTS]
        body, ratio = [n(float((x - ROTOR) / MOMENTS[0])) for x in MOMENTS], n(float(ROTOR / MOMENTS[0]))
        mass = n(float(MASS * LENGTH**2 / MOMENTS[0]))
        square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
        size = hk.sqrt(square)
        inverse = n(1) / size
        i2 = inverse * inverse
        i3 = inverse * i2
        f, z = n(1.5) * n(J2) * n(RADIUS / LENGTH) * n(RADIUS / LENGTH) * i2, n(5) * (r[2] * r[2]) * i2
        across = -i3 * (n(1) + f * (n(1) - z))
        rates = [across * r[0], across * r[1], -i3 * (n(1) + f * (n(3) - z)) * r[2]]
        if friction:
            air_speed = [v[0] + n(air["rotation"]) * r[1], v[1] - n(air["rotation"]) * r[0], v[2]]
            fast = hk.sqrt(air_speed[0] * air_speed[0] + air_speed[1] * air_speed[1] + air_speed[2] * air_speed[2])
            thick = n(air["kd"]) * hk.exp((n(air["radius"]) - size) * n(1.0 / air["scale"]))
            rates = [a - thick * fast * u for a, u in zip(rates, air_speed, strict=True)]
        R = matrix(q)
        x = [(R[0][m] * r[0] + R[1][m] * r[1] + R[2][m] * r[2]) * inverse for m in range(3)]
        D = (whole[0] - whole[2], whole[1] - whole[2])
        tide = n(1.5) * i3
        along = tide * inverse * (D[0] + D[1] - n(5) * (D[0] * x[0] * x[0] + D[1] * x[1] * x[1]))
        twice = n(2) * tide * inverse
        F = [-(along * x[0] + twice * D[0] * x[0]), -(along * x[1] + twice * D[1] * x[1]), -(along * x[2])]
        rates = [a + (R[m][0] * F[0] + R[m][1] * F[1] + R[m][2] * F[2]) / mass for m, a in enumerate(rates)]
        t = n(3) * i3
        torque = [t * (whole[2] - whole[1]) * (x[1] * x[2]), t * (whole[0] - whole[2]) * (x[2] * x[0]),
                  t * (whole[1] - whole[0]) * (x[0] * x[1])]  # fmt: skip
        motor = [n(0.0)] * 3
        if friction:
            scale, rub = UNIT**2 / MOMENTS[0], n(float(VISCOUS * UNIT / MOMENTS[0]))
            motor = [n(float(u * scale)) - rub * (h[m] / ratio - o[m]) for m, u in enumerate(COMMAND)]
        carried = list(h) if friction else [n(float(x)) for x in start_h]
        L = [body[m] * o[m] + carried[m] for m in range(3)]
        turns = [L[1] * o[2] - L[2] * o[1], L[2] * o[0] - L[0] * o[2], L[0] * o[1] - L[1] * o[0]]
        spins = [(turns[m] + torque[m] - motor[m]) / body[m] for m in range(3)]
        half = n(0.5)
        dq = [
            -half * (q[1] * o[0] + q[2] * o[1] + q[3] * o[2]), half * (q[0] * o[0] + q[2] * o[2] - q[3] * o[1]),
            half * (q[0] * o[1] + q[3] * o[0] - q[1] * o[2]), half * (q[0] * o[2] + q[1] * o[1] - q[2] * o[0]),
        ]  # fmt: skip
        pairs = list(zip((*r, *v, *q, *o), (*v, *rates, *dq, *spins), strict=True))
        begun = [*initial["position"], *initial["velocity"], *initial["attitude"], *initial["angular_velocity"]]
        if friction:
            pairs += list(zip(h, motor, strict=True))
            begun += list(start_h)
        return pairs, [n(float(x)) for x in begun]

    start_h = ROTOR / MOMENTS[0] * (SPEEDS + RATES) * UNIT
    title = "a spacecraft with three wheels, " + (
        "friction, motors and drag, no works" if friction else "J2 and gravity gradient"
    )
    return Problem(
        title, SECONDS / UNIT, system, y, initial, {"velocity": equations}, ours, theirs, METHODS,
        (1e-4, 1e-6, 1e-8, 1e-10), coarse=(1e-5, 1e-9, 1e-13), most=2,
    )  # fmt: skip
