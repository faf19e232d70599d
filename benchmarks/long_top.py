"""A free top for long: do the errors of its momentum and energy grow as round-off of no preferred sign?

    python benchmarks/long_top.py [--steps 1000000000] [--starts 16]

An asymmetric body, ``exact`` with steps of 0.1, from so many starts in lanes. The root mean square error over them is
fitted by a power of the number of steps over the last three decades: 0.5 is Brouwer's law.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator

import numpy as np

import polhode as ph
from figure import Figure

ROWS = 1000


def powers(steps: int, starts: int) -> dict[str, tuple[float, float]]:
    """Power and last error of the momentum in space, and of the energy."""
    rng = np.random.default_rng(11)
    body = ph.free_body((1.0, 1.7, 2.3))
    every = max(1, steps // ROWS)
    members = {"angular_velocity": rng.normal(size=(starts, 3))}
    ds = ph.ensemble(body, "exact", members=members, step=0.1, steps=steps, every=every, engine="lanes")
    spin = ds.angular_momentum_space.values
    size = np.linalg.norm(spin[:, 0], axis=-1)
    found = {
        "momentum": np.linalg.norm(spin - spin[:, :1], axis=-1) / size[:, None],
        "energy": abs(ds.energy_error.values),
    }
    counts = np.arange(ROWS + 1) / ROWS
    result = {}
    for name, errors in found.items():
        mean = np.sqrt((errors**2).mean(axis=0))
        some = np.unique(np.geomspace(1, ROWS, 40).astype(int))
        good = some[mean[some] > 0.0]
        power = np.polyfit(np.log(counts[good]), np.log(mean[good]), 1)[0] if len(good) > 2 else 0.0
        result[name] = (float(power), float(mean[-1]))
    return result


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``; ``quick``: 10^7 steps."""
    steps = 10**7 if quick else 10**9
    for name, (power, last) in powers(steps, 16).items():
        yield Figure(name, power, note=f"{last:.1e} after {steps:.0e} steps")
    yield Figure("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Print powers and errors."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--steps", type=int, default=10**9)
    reader.add_argument("--starts", type=int, default=16)
    given = reader.parse_args()
    for name, (power, last) in powers(given.steps, given.starts).items():
        print(f"{name}: power {power:.2f}, {last:.1e} after {given.steps:.0e} steps")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
