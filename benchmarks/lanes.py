"""Members in lanes against one by one: steps a second on one core, by system and method, and how far results differ.

    python benchmarks/lanes.py [--members 480] [--steps 200] [--rounds 20]

``lanes`` and ``threads`` are million steps of a member a second by the engine of this name, on one core, the fastest of
the rounds, which take turns; ``ratio`` is of the two. ``differs`` is the largest difference of a number of the state at
the end, over the largest number of its kind. What both compile is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure

CASES = {
    "top": ("v2", "v2/mr", "v2/dmv6", "s6_10", "fg6_5", "mkrk:cv8", "v2/implicit_midpoint"),
    "torque": ("v2", "v2/mr"),
    "damped": ("v2", "v2/mr"),
    "orbit": ("rkn6_14a", "rkn6_14a/kepler"),
}


def torque(t: Any, q: Any, omega: Any, p: Any) -> Any:
    """A torque by the attitude."""
    return (p[0] * (q[1] * q[3] - q[0] * q[2]), -p[0] * (q[2] * q[3] + q[0] * q[1]), 0.1 * q[0])


def damped(t: Any, q: Any, omega: Any, p: Any) -> Any:
    """A torque by attitude and rates."""
    x, y, z = torque(t, q, omega, p)
    return (x - 0.01 * omega[0], y - 0.01 * omega[1], z - 0.02 * omega[2])


SYSTEMS = {
    "top": lambda: ph.heavy_top((5.0, 4.0, 3.0), (0.1, 0.0, 1.0), weight=20.0),
    "torque": lambda: ph.rigid_body((5.0, 4.0, 3.0), torque=torque, parameters=(2.0,)),
    "damped": lambda: ph.rigid_body((5.0, 4.0, 3.0), torque=damped, parameters=(2.0,)),
    "orbit": lambda: ph.orbit(mu=1.0, forces=[{"kind": "zonal", "J2": 1e-3, "radius": 1.0}]),
}


def members(name: str, count: int) -> dict[str, Any]:
    """What differs between members."""
    rng = np.random.default_rng(7)
    if name == "orbit":
        near = rng.normal(size=(2, count, 3))
        return {"position": [1.5, 0.0, 0.0] + 0.1 * near[0], "velocity": [0.0, 0.8, 0.2] + 0.05 * near[1]}
    moments = (5.0, 4.0, 3.0)
    return {"inertia": moments * rng.uniform(0.97, 1.03, (count, 3)), "angular_velocity": rng.normal(size=(count, 3))}


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: what ``engine="auto"`` takes for few members, and 64 asymmetric tops beside heyoka's batches."""
    from taylor_ensembles import Tops, beside_heyoka

    few: Any = {"members": {"angular_velocity": np.random.default_rng(1).normal(size=(8, 3))}, "step": 0.005}
    engine = str(ph.ensemble(SYSTEMS["top"](), "v2", steps=2000, every=2000, **few).attrs["engine"])
    lanes = engine.startswith("lanes")
    yield Figure("engine of 8", float(not lanes), refused="" if lanes else engine)
    yield from beside_heyoka("64 tops", Tops(64), "auto", (1e-4, 1e-6, 1e-9), 15 if quick else 50,
                             (1e-2, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11), True)  # fmt: skip


def main() -> None:
    """Print a row for each system and method."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, default in (("members", 480), ("steps", 200), ("rounds", 20)):
        reader.add_argument(f"--{name}", type=int, default=default)
    asked = reader.parse_args()
    print(f"{'':8} {'':22} {'lanes':>8} {'threads':>8} {'ratio':>6} {'differs':>8}")
    for system, labels in CASES.items():
        for label in labels:
            best, last = {"lanes": np.inf, "threads": np.inf}, {}
            for _ in range(asked.rounds):
                for engine in best:
                    ds = ph.ensemble(
                        SYSTEMS[system](), label, members=members(system, asked.members), step=0.005, steps=asked.steps,
                        every=asked.steps, engine=engine, threads=1,
                    )  # fmt: skip
                    best[engine], last[engine] = min(best[engine], ds.encoding["seconds"]), ds
            kind = "position" if system == "orbit" else "attitude"
            a, b = (last[engine][kind].values[:, -1] for engine in best)
            speed = {engine: asked.members * asked.steps / seconds / 1e6 for engine, seconds in best.items()}
            ratio = speed["lanes"] / speed["threads"]
            differs = np.abs(a - b).max() / np.abs(b).max()
            print(
                f"{system:8} {label:22} {speed['lanes']:8.1f} {speed['threads']:8.2f} {ratio:6.1f} {differs:8.0e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
