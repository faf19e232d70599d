"""Controllers that sample and hold: the time of many control cycles.

    python benchmarks/controllers.py [--cycles 1000000]

torque     A rigid body whose torque a PD law sets, one step of v2 a cycle.
wheels     A spacecraft on its orbit with three wheels that a PD law commands, one step of v2/kepler a cycle.
gyros      The same with four gyros in a pyramid, steered by the pseudo-inverse.
pulses     The same with six thrusters in pulses, whose valves close within the steps.
between    The first one with samples between the steps, which cut them; cycles/100 of them.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import polhode as ph

ORBIT = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 7546.0, 0.0)}
START = {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.01, 0.02, -0.03)}


def actuator(t, q, omega, parameters, states):
    return states.command


def pd(t, position, velocity, q, omega, parameters, states):
    return parameters[0] * np.array([q[1], q[2], q[3]]) + parameters[1] * omega


TILT = np.arctan(np.sqrt(2.0))
GIMBALS = np.array([(np.sin(TILT) * np.cos(x), np.sin(TILT) * np.sin(x), np.cos(TILT))
                    for x in 0.5 * np.pi * np.arange(4)])  # fmt: skip
SPINS = np.array([(-np.sin(x), np.cos(x), 0.0) for x in 0.5 * np.pi * np.arange(4)])


def steer(t, position, velocity, q, omega, parameters, states):
    A = np.zeros((3, 4))
    for k in range(4):
        angle = states.gimbal_angle[k]
        A[:, k] = np.cos(angle) * np.cross(GIMBALS[k], SPINS[k]) - np.sin(angle) * SPINS[k]
    wanted = parameters[0] * np.array([q[1], q[2], q[3]]) + parameters[1] * omega
    return np.linalg.solve(A @ A.T + 0.01 * np.eye(3), wanted) @ A


def pairs(t, position, velocity, q, omega, parameters, states):
    shares = np.zeros(6)
    for k in range(3):
        wanted = -2.0 * q[k + 1] - 20.0 * omega[k] + 0.1
        shares[2 * k], shares[2 * k + 1] = max(wanted, 0.0), max(-wanted, 0.0)
    return shares


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--cycles", type=int, default=1_000_000)
    cycles = reader.parse_args().cycles
    words = {"torque": actuator, "parameters": [-0.5, -5.0], "states": {"command": 3}}
    body = ph.rigid_body((10.0, 12.0, 14.0), controllers=[ph.controller(pd, 0.1, "command")], **words)
    between = ph.rigid_body((10.0, 12.0, 14.0), controllers=[ph.controller(pd, 0.1, "command", phase=0.03)], **words)
    craft = ph.spacecraft(
        (10.0, 12.0, 14.0), 3.986004418e14, wheels=ph.reaction_wheels(np.eye(3), 0.05), parameters=[0.5, 5.0],
        controllers=[ph.controller(pd, 0.1, "wheel_command", limit=0.2)],
    )  # fmt: skip
    agile = ph.spacecraft(
        (10.0, 12.0, 14.0), 3.986004418e14, gyros=ph.control_moment_gyros(GIMBALS, SPINS, 0.5, max_rate=0.5),
        parameters=[0.5, 5.0], controllers=[ph.controller(steer, 0.1, "gimbal_command")],
    )  # fmt: skip
    jets = ph.systems.pulsed_thrusters(
        0.2, [(0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0)], 0.1, min_on_time=1e-3,
        positions=[(0, 0, -0.5), (0, 0, -0.5), (-0.5, 0, 0), (-0.5, 0, 0), (0, -0.5, 0), (0, -0.5, 0)],
    )  # fmt: skip
    pushed = ph.spacecraft((10.0, 12.0, 14.0), 3.986004418e14, 50.0, pulsed_thrusters=jets,
                           controllers=[ph.controller(pairs, 0.1, "thruster_command")])  # fmt: skip
    for name, system, method, n, start in (
        ("torque", body, "v2", cycles, START), ("wheels", craft, "v2/kepler", cycles, START | ORBIT),
        ("gyros", agile, "v2/kepler", cycles, START | ORBIT), ("pulses", pushed, "v2/kepler", cycles, START | ORBIT),
        ("between", between, "v2", cycles // 100, START),
    ):  # fmt: skip
        ph.integrate(system, method, step=0.1, steps=10, **start)  # compiles
        begun = time.perf_counter()
        ph.integrate(system, method, step=0.1, steps=n, every=n, **start)
        taken = time.perf_counter() - begun
        print(f"{name:8} {n} cycles in {taken:.2f} s, {1e6 * taken / n:.2f} us each")


if __name__ == "__main__":
    main()
