"""Reaction wheels: what is kept over many steps, and what the free gyrostat costs beside the exact free rotation.

    python benchmarks/wheels.py [--steps 1000000]

kept       The momentum of body and wheels in space, and the energy less the work of the motors, relative, over steps of
           0.05 s of a body with four wheels: free, and with motors and friction; plain and compensated sums.
cost       A step of the free gyrostat over one of the exact free rotation, for bodies at the same rates.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import polhode as ph

INERTIA = np.array([[10.0, 0.3, -0.2], [0.3, 14.0, 0.1], [-0.2, 0.1, 18.0]])
AXES = np.array([[1.0, 0.0, 0.3], [0.0, 1.0, 0.2], [0.1, 0.0, 1.0], [1.0, 1.0, 1.0]])
START = {"attitude": np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95), "angular_velocity": [0.05, -0.1, 0.2]}
SPEEDS = (100.0, -50.0, 80.0, 30.0)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--steps", type=int, default=1_000_000)
    steps = reader.parse_args().steps
    driven = ph.reaction_wheels(AXES, 0.05, speed=SPEEDS, command=(0.02, -0.01, 0.03, 0.0), viscous=1e-3)
    free = ph.reaction_wheels(AXES, 0.05, speed=SPEEDS)
    for name, wheels, method in (("free", free, "exact"), ("motors", driven, "v2")):
        for compensated in (False, True):
            ds = ph.integrate(
                ph.rigid_body(INERTIA, wheels=wheels), method, step=0.05, steps=steps, every=max(1, steps // 100),
                settings={"compensated": compensated}, **START,
            )  # fmt: skip
            spin = ds.spin.values
            kept = np.abs(spin - spin[0]).max() / np.linalg.norm(spin[0])
            energy = float(np.abs(ds.energy_error).max())
            print(f"kept     {name:7} {'compensated' if compensated else 'plain':12} momentum {kept:.1e}   energy "
                  f"{energy:.1e}")  # fmt: skip
    found = []
    for system in (ph.free_body(INERTIA), ph.rigid_body(INERTIA, wheels=free)):
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            ph.integrate(
                system, "exact", step=0.05, steps=200_000, every=200_000, settings={"compensated": False}, **START
            )
            times.append(time.perf_counter() - begun)
        found.append(min(times))
    print(f"cost     free gyrostat {found[1] / found[0]:.1f} times the exact free rotation")


if __name__ == "__main__":
    main()
