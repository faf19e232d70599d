"""Gravity fields: the time of an evaluation by degree.

    python benchmarks/gravity_field.py [--degrees 2 10 20 70 200]

A field of random coefficients, of the size of the Earth's; ``rkn6_14a/kepler`` with steps of a minute, the time of a
run over its evaluations of the loads, of a field that is still and of one that turns and does work.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import polhode as ph
from polhode.surroundings.gravity_fields import GravityField

MU = 3.986004415e14
START = {"position": (7e6, 0.0, 1e5), "velocity": (0.0, 5400.0, 5400.0)}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--degrees", type=int, nargs="+", default=[2, 10, 20, 70, 200])
    degrees = reader.parse_args().degrees
    top = max(degrees)
    rng = np.random.default_rng(1)
    C, S = (np.tril(rng.normal(size=(top + 1, top + 1))) for _ in range(2))
    size = 1e-6 / np.maximum(np.arange(top + 1.0), 1.0)[:, None] ** 2
    field = GravityField("random", MU, 6378136.3, C * size, S * size)
    for degree in degrees:
        found = []
        for rotation in (0.0, 7.292115e-5):
            system = ph.orbit(MU, forces=[ph.forces.gravity_field(field, degree=degree, rotation=rotation)])
            steps = max(20, 40_000 // degree**2)
            ph.integrate(system, "rkn6_14a/kepler", step=60.0, steps=5, **START)
            best = np.inf
            for _ in range(3):
                begun = time.perf_counter()
                ds = ph.integrate(system, "rkn6_14a/kepler", step=60.0, steps=steps, every=steps, **START)
                best = min(best, time.perf_counter() - begun)
            found.append(best / ds.attrs["load_evaluations"] * 1e9)
        print(f"degree {degree:4}   still {found[0]:9.0f} ns   turning {found[1]:9.0f} ns an evaluation")


if __name__ == "__main__":
    main()
