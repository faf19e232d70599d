"""Rotating bodies: tops, a satellite, a body under a torque written in Python, a spacecraft on its orbit."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import heyoka as hk
import numba
import numpy as np

import polhode as ph
from peer_cases.runs import CHOSEN, Problem
from polhode.runs.initial_state import start_state
from polhode.systems import System, problem

EVERYWHERE = tuple(10.0**-k for k in range(3, 16))
SERIES = tuple(f"taylor{order}" for order in (8, 10, 12, 14, 16, 20, 24, 30))
TURNING = (
    "rkn6_14a", "rkn6_7", "rkn6_11b", "pmlf6", "fg6_5", "p8", "sp10", "s6_10", "rkn8_17", "aba10_6_4", "mkrk:cv8",
    *SERIES, *CHOSEN,
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ equations of heyoka
def weight_torque(I, parameters, u):
    """weight c x u with a minus sign."""
    W, *c = parameters
    return (W * (c[2] * u[1] - c[1] * u[2]), W * (c[0] * u[2] - c[2] * u[0]), W * (c[1] * u[0] - c[0] * u[1]))


def gradient_torque(I, parameters, u):
    """k u x I u."""
    k, (a, b, c) = parameters[0], I
    return (k * (c - b) * (u[1] * u[2]), k * (a - c) * (u[2] * u[0]), k * (b - a) * (u[0] * u[1]))


def no_torque(I, parameters, u):
    """Of a free body."""
    return (0.0, 0.0, 0.0)


TORQUES = {"heavy_top": weight_torque, "gravity_gradient": gradient_torque}


def vertical(q):
    """R^T e3."""
    w, x, y, z = q
    return 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


def matrix(q):
    """R by rows."""
    w, x, y, z = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


def turning(I, form, torque) -> list[Any]:
    """Equations of (momentum or angular velocity, quaternion) in the principal frame; ``torque(speed, q)``."""
    w, x, y, z = q = hk.make_vars("w", "x", "y", "z")
    m = hk.make_vars("a", "b", "c")
    pairs = (m[1] * m[2], m[2] * m[0], m[0] * m[1])
    if form == "momentum":
        speed = [1.0 / a * k for a, k in zip(I, m, strict=True)]
        half = [0.5 / a * k for a, k in zip(I, m, strict=True)]
        gains = ((I[1] - I[2]) / (I[1] * I[2]), (I[2] - I[0]) / (I[2] * I[0]), (I[0] - I[1]) / (I[0] * I[1]))
        rates = [g * p + t for g, p, t in zip(gains, pairs, torque(speed, q), strict=True)]
    else:
        half = [0.5 * a for a in m]
        gains = ((I[1] - I[2]) / I[0], (I[2] - I[0]) / I[1], (I[0] - I[1]) / I[2])
        rates = [g * p + t / a for g, p, t, a in zip(gains, pairs, torque(list(m), q), I, strict=True)]
    spin = (
        -(x * half[0] + y * half[1] + z * half[2]),
        w * half[0] + y * half[2] - z * half[1],
        w * half[1] + z * half[0] - x * half[2],
        w * half[2] + x * half[1] - y * half[0],
    )
    return list(zip(m, rates, strict=True)) + list(zip(q, spin, strict=True))


def start_of(system, y, form, number) -> list[Any]:
    """Momentum or angular velocity, and quaternion."""
    m = [number(float(x)) for x in y[10:13]]
    if form == "velocity":
        m = [a / number(float(b)) for a, b in zip(m, system.moments[0], strict=True)]
    return m + [number(float(x)) for x in y[6:10]]


def both_forms(system: System, y, torque) -> dict[str, Any]:
    """Equations of momentum and of angular velocity; ``torque(I, speed, q, number)``."""

    def made(form):
        def equations(number):
            I = [number(float(a)) for a in system.moments[0]]
            return turning(I, form, lambda speed, q: torque(I, speed, q, number)), start_of(system, y, form, number)

        return equations

    return {form: made(form) for form in ("momentum", "velocity")}


def ends_of(system: System):
    """The quantities that are compared: momentum and attitude."""
    I = system.moments[0]

    def ours(y):
        return {"momentum": y[10:13], "attitude": y[6:10]}

    def theirs(state, form):
        m = state[:3] if form == "momentum" else [a * float(b) for a, b in zip(state[:3], I, strict=True)]
        return {"momentum": np.array(m), "attitude": state[3:7]}

    return ours, theirs


# ------------------------------------------------------------------------------------------------ the problems
def ready(name: str, t_end: float, title: str) -> Problem:
    """A ready-made problem."""
    made = problem(name)
    initial = dict(made.initial)
    turned = initial.pop("rotation_vector", (0.0, 0.0, 0.0))
    system = made.build()
    initial["attitude"] = ph.rotation.exp_quaternion(turned)
    y = start_state(system, **initial)

    def torque(I, speed, q, number):
        return TORQUES.get(system.name, no_torque)(I, [number(float(a)) for a in system.parameters], vertical(q))

    ours, theirs = ends_of(system)
    return Problem(
        title, t_end, system, y, initial, both_forms(system, y, torque), ours, theirs, TURNING, EVERYWHERE
    )  # fmt: skip


def steering(t, q, omega, parameters):
    """A wheel, damping, and a spring towards an attitude, with a push that swings: as a user writes it."""
    spring, damping, wheel, push, rate = parameters
    return (
        -spring * q[1] - damping * omega[0] + wheel * omega[1],
        -spring * q[2] - damping * omega[1] - wheel * omega[0],
        -spring * q[3] - damping * omega[2] + push * sin(rate * t),
    )


def steered() -> Problem:
    """An asymmetric body under that torque."""
    numbers = (0.8, 0.05, 0.4, 0.1, 1.3)
    inertia = (1.0, 1.5, 2.2)
    system = ph.rigid_body(inertia, torque=steering, parameters=numbers, work=False)
    initial = {"angular_velocity": (0.5, 1.0, 0.3), "attitude": ph.rotation.exp_quaternion((0.3, 0.1, 0.2))}
    y = start_state(system, **initial)

    def torque(I, speed, q, number):
        spring, damping, wheel, push, rate = (number(x) for x in numbers)
        return (
            -spring * q[1] - damping * speed[0] + wheel * speed[1],
            -spring * q[2] - damping * speed[1] - wheel * speed[0],
            -spring * q[3] - damping * speed[2] + push * hk.sin(rate * hk.time),
        )

    compiled = numba.njit(steering)
    a, b, c = (float(x) for x in system.moments[0])

    @numba.njit
    def rates(t, s):
        speed = (s[0] / a, s[1] / b, s[2] / c)
        T = compiled(t, (s[3], s[4], s[5], s[6]), speed, numbers)
        w, x, y, z = s[3], s[4], s[5], s[6]
        return np.array([
            s[1] * speed[2] - s[2] * speed[1] + T[0],
            s[2] * speed[0] - s[0] * speed[2] + T[1],
            s[0] * speed[1] - s[1] * speed[0] + T[2],
            -0.5 * (x * speed[0] + y * speed[1] + z * speed[2]),
            0.5 * (w * speed[0] + y * speed[2] - z * speed[1]),
            0.5 * (w * speed[1] + z * speed[0] - x * speed[2]),
            0.5 * (w * speed[2] + x * speed[1] - y * speed[0]),
        ])  # fmt: skip

    ours, theirs = ends_of(system)
    return Problem(
        "a body under a torque written in Python, t = 20", 20.0, system, y, initial, both_forms(system, y, torque),
        ours, theirs,
        ("rkn6_14a", "rkn6_7", "p8", "s6_10", "mkrk:rk4", "mkrk:cv8", "mkrk:dp5", "mkrk:dp8 (rtol)", *SERIES, *CHOSEN),
        EVERYWHERE, scipy=(rates, np.concatenate([y[10:13], y[6:10]])),
    )  # fmt: skip


def craft() -> Problem:
    """A spacecraft on an orbit about the Earth: a day with the gravity gradient on orbit and attitude.

    In units of the Earth's radius and mu, so that no quantity drowns in the norm by which steps are chosen.
    """
    length, unit = 6378.1363, np.sqrt(6378.1363**3 / 398600.4415)  # km, s
    mass, inertia = 120.0, tuple(I / (1e3 * length) ** 2 for I in (90.0, 70.0, 60.0))
    system = ph.spacecraft(inertia=inertia, mu=1.0, mass=mass)
    speed = 7.6 * unit / length
    initial = {
        "position": (6900.0 / length, 0.0, 0.0), "velocity": (0.0, speed * cos(1.1), speed * sin(1.1)),
        "attitude": ph.rotation.exp_quaternion((0.3, 0.1, 0.2)),
        "angular_velocity": (0.002 * unit, 0.001 * unit, 0.005 * unit),
    }  # fmt: skip
    y = start_state(system, **initial)

    def made(form):
        def equations(number):
            whole = [number(float(a)) for a in system.moments[0]]
            I = [a / whole[0] for a in whole]  # so that the momentum is of the size of the angular velocity
            M = number(mass) / whole[0]
            r, v = hk.make_vars("r0", "r1", "r2"), hk.make_vars("v0", "v1", "v2")
            square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
            D = (I[0] - I[2], I[1] - I[2])
            R = matrix(hk.make_vars("w", "x", "y", "z"))
            x = [R[0][i] * r[0] + R[1][i] * r[1] + R[2][i] * r[2] for i in range(3)]
            cube = square ** number(-1.5)
            tide = cube / square  # mu / r^5
            shaped = D[0] * x[0] * x[0] + D[1] * x[1] * x[1]
            # F / mass in the body frame beside the centre: along x, and along D x
            along = -1.5 / M * tide * (D[0] + D[1] - 5.0 * shaped / square)
            across = -3.0 / M * tide
            parts = (across * D[0] * x[0], across * D[1] * x[1])
            rates = [(along - cube) * r[i] + R[i][0] * parts[0] + R[i][1] * parts[1] for i in range(3)]

            def torque(speed, q):
                t = 3.0 * tide
                return (-D[1] * (t * x[2] * x[1]), D[0] * (t * x[2] * x[0]), (D[1] - D[0]) * (t * x[0] * x[1]))

            pairs = list(zip(r, v, strict=True)) + list(zip(v, rates, strict=True))
            start = start_of(system, y, form, number)
            if form == "momentum":
                start[:3] = [a / whole[0] for a in start[:3]]
            return turning(I, form, torque) + pairs, start + [number(float(a)) for a in y[:3]] + [
                number(float(a)) for a in initial["velocity"]
            ]

        return equations

    turned, state = ends_of(system)

    def ends(s, form):
        found = state(s[:7], form)
        scale = system.moments[0, 0] if form == "momentum" else 1.0
        return found | {"momentum": np.array([a * float(scale) for a in found["momentum"]]), "position": s[7:10]}

    return Problem(
        "spacecraft with gravity gradient, a day", 86400.0 / unit, system, y, initial,
        {form: made(form) for form in ("momentum", "velocity")}, lambda y: turned(y) | {"position": y[:3]}, ends,
        ("rkn6_14a", "rkn6_7", "rkn8_17", "p8", "sp10", "s6_10", "pmlf6", "fg6_5", "aba10_6_4", "mkrk:cv8",
         "sbabc1/kepler:corrected", "rkn6_14a/kepler", "s6_10/kepler", "pmlf6/kepler", "aba10_6_4/kepler",
         "mkrk:dp8 (rtol)",
         "taylor8", "taylor10", "taylor12", "taylor14", "taylor16", "taylor20", *CHOSEN),
        EVERYWHERE, coarse=(1e-5, 1e-9, 1e-15),
    )  # fmt: skip
