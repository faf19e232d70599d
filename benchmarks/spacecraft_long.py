"""A spacecraft that exchanges energy and angular momentum with its orbit, over 100,000 orbits.

    python benchmarks/spacecraft_long.py [orbits [steps in an orbit [method [compensated]]]]

The body's moments are 1e-4 of mass times distance squared, as those of a tether or of a small irregular moon: so the
attitude's share of energy and angular momentum is far above round-off. It tumbles on an orbit of eccentricity 0.1.
Printed, by decades of time: the largest error of the total energy and its mean (a drift would grow in proportion to
time), the largest error of the total angular momentum, and how much energy and spin have gone to and fro.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import polhode as ph

INERTIA = (1.0e-4, 1.4e-4, 2.0e-4)
START = {
    "position": (0.9, 0.0, 0.0),
    "velocity": (0.0, np.sqrt(1.1 / 0.9) * np.cos(0.4), np.sqrt(1.1 / 0.9) * np.sin(0.4)),
    "attitude": (0.8, 0.4, -0.2, 0.4),
    "angular_velocity": (0.3, -0.7, 1.6),
}


def trajectory(orbits: int, steps: int, method: str, rows: int = 1000, mass: float = 1.0, compensated: bool = False):
    """The run, with about so many rows; steps in an orbit."""
    system = ph.spacecraft(mass * np.array(INERTIA), mu=1.0, mass=mass)
    h = 2.0 * np.pi / steps
    every = max(1, orbits * steps // rows)
    return ph.integrate(
        system, method, step=h, steps=orbits * steps, every=every, settings={"compensated": compensated}, **START
    )


def errors(ds) -> dict[str, np.ndarray]:
    """Relative errors of energy and total angular momentum, of each row."""
    L = ds.angular_momentum_space.values
    return {
        "energy": ds.energy_error.values,
        "momentum": np.linalg.norm(L - L[0], axis=1) / np.linalg.norm(L[0]),
    }


def main() -> None:
    """Print the table."""
    words = [*sys.argv[1:], *("100000", "60", "rkn6_14a/kepler", "plain")[len(sys.argv) - 1 :]]
    orbits, steps, method, compensated = int(words[0]), int(words[1]), words[2], words[3] == "compensated"
    trajectory(10, steps, method, compensated=compensated)  # compiled
    begun = time.perf_counter()
    rows_wanted = 20 * orbits if orbits <= 1000 else 100_000
    ds = trajectory(orbits, steps, method, rows_wanted, compensated=compensated)
    seconds = time.perf_counter() - begun
    found, t = errors(ds), ds.time.values / (2.0 * np.pi)
    print(f"{method}, {words[3]} sums, {steps} steps in an orbit, {orbits} orbits in {seconds:.0f} s")
    print("     orbits  energy: largest, mean  angular momentum  energy of attitude, spin: range")
    first = 1.0
    while first < orbits:
        rows = (t > first * (1 - 1e-9)) & (t <= 10 * first * (1 + 1e-9))
        spin = np.linalg.norm(ds.spin.values[rows], axis=1)
        energy = ds.attitude_energy.values[rows]
        print(f"{10 * first:11.0f}  {np.abs(found['energy'][rows]).max():.1e}  {found['energy'][rows].mean():+.1e}"
              f"  {found['momentum'][rows].max():.1e}          {np.ptp(energy):.1e}  {np.ptp(spin):.1e}")  # fmt: skip
        first *= 10.0


if __name__ == "__main__":
    main()
