"""Reaction wheels: what is kept over many steps, and what the free gyrostat costs beside the exact free rotation.

    python benchmarks/wheels.py [--steps 1000000]

kept       The momentum of body and wheels in space, and the energy less the work of the motors, relative, over steps of
           0.05 s of a body with four wheels: free, and with motors and friction; plain and compensated sums.
cost       A step of the free gyrostat over one of the exact free rotation, for bodies at the same rates.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure, in_turns

INERTIA = np.array([[10.0, 0.3, -0.2], [0.3, 14.0, 0.1], [-0.2, 0.1, 18.0]])
AXES = np.array([[1.0, 0.0, 0.3], [0.0, 1.0, 0.2], [0.1, 0.0, 1.0], [1.0, 1.0, 1.0]])
START = {"attitude": np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95), "angular_velocity": [0.05, -0.1, 0.2]}
SPEEDS = (100.0, -50.0, 80.0, 30.0)


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: the cost of a step of the free gyrostat over one of the exact free rotation."""
    steps = 50_000 if quick else 200_000
    kinds: dict[str, Any] = {
        "four wheels": (INERTIA, AXES, SPEEDS),
        "one wheel on a principal axis": ((10.0, 14.0, 18.0), [[0.0, 0.0, 1.0]], 100.0),
        "three along principal axes": ((10.0, 14.0, 18.0), np.eye(3), (100.0, -50.0, 80.0)),
    }

    def call(system: Any) -> Callable[[], Any]:
        words: Any = {"step": 0.05, "steps": steps, "every": steps, "settings": {"compensated": False}}
        return lambda: ph.integrate(system, "exact", **words, **START)

    calls = {name: call(ph.rigid_body(inertia, wheels=ph.reaction_wheels(axes, 0.05, speed=speed)))
             for name, (inertia, axes, speed) in kinds.items()}  # fmt: skip
    spent = in_turns({"free": call(ph.free_body(INERTIA))} | calls, 5)
    for name in kinds:
        yield Figure(f"gyrostat, {name}", spent[name] / spent["free"])


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
    for one in figures(["cost"], False):
        print(f"cost     {one.name} {one.ours:.1f} times the exact free rotation")


if __name__ == "__main__":
    main()
