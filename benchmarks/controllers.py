"""Controllers that sample and hold: the time of many control cycles.

    python benchmarks/controllers.py [--cycles 1000000]

torque     A rigid body whose torque a PD law sets, one step of v2 a cycle.
wheels     A spacecraft on its orbit with three wheels that a PD law commands, one step of v2/kepler a cycle.
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
    for name, system, method, n, start in (
        ("torque", body, "v2", cycles, START), ("wheels", craft, "v2/kepler", cycles, START | ORBIT),
        ("between", between, "v2", cycles // 100, START),
    ):  # fmt: skip
        ph.integrate(system, method, step=0.1, steps=10, **start)  # compiles
        begun = time.perf_counter()
        ph.integrate(system, method, step=0.1, steps=n, every=n, **start)
        taken = time.perf_counter() - begun
        print(f"{name:8} {n} cycles in {taken:.2f} s, {1e6 * taken / n:.2f} us each")


if __name__ == "__main__":
    main()
