"""Pages that integrate: sizes of their kernels, the time of a step, and what they compute.

    python benchmarks/interactive.py [--steps 20000]

For each system and method: bytes of the module, and compressed as the page holds it; the time of a step in wasmtime
(Cranelift), and over that of the same code compiled for this processor; whether the states have the same bits after
1,000 steps; their largest difference from ``integrate``, over the largest number of the state. Needs wasmtime.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import wasmtime

import polhode as ph
from polhode.ensembles.interactive import CHECKED, program_of
from polhode.kernel import wasm
from polhode.runs.request import requested
from polhode.runs.stepping import Run

LEANING = {"attitude": ph.rotation.exp_quaternion((0.6, 0, 0)), "angular_velocity": (0.0, 0.0, 8.0)}
AXES = [[1, 1, 1], [1, -1, 1], [1, -1, -1], [1, 1, -1]]
ROUNDS = 5


def torque(t: float, q: Any, omega: Any, parameters: Any) -> tuple[float, float, float]:
    """A swinging field, and damping."""
    swing, damping = parameters
    return (swing * math.cos(2.0 * t) * q[1] - damping * omega[0], -damping * omega[1], -damping * omega[2])


def cases() -> dict[str, tuple[Any, tuple[str, ...], dict[str, Any], float]]:
    """Systems, methods, starts and steps."""
    wheels = ph.reaction_wheels(AXES, 2e-4, speed=(300.0, 0.0, 0.0, 0.0), viscous=2e-6)
    tether = ph.loads.tether(5.0, 10.0, of_a=(1, 0, 0)).on("a", "b")
    pair = ph.system(ph.body("a", 100.0, (3, 4, 5)), ph.body("b", 10.0, (1, 2, 2.5)), tether)
    angles = np.linspace(0.0, 2.0 * np.pi, 10, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles), 0.1 * np.cos(3.0 * angles)], axis=1)
    return {
        "heavy top": (ph.heavy_top((2.4, 2.4, 0.9), (0, 0, 1), 20.0), ("v2", "rkn6_14a", "mkrk:rk4", "taylor"),
                      LEANING, 0.01),
        "user's torque": (ph.rigid_body((2.0, 2.2, 0.4), torque=torque, parameters=[0.5, 0.1]), ("v2", "mkrk:gauss4"),
                          LEANING, 0.01),
        "CubeSat, four wheels": (ph.rigid_body((0.06, 0.05, 0.03), wheels=wheels), ("v2",),
                                 {"angular_velocity": (0.02, 0.3, 0.03)}, 0.02),
        "tethered pair": (pair, ("v2",), {"position": [(0, 0, 0), (12, 0, 0)],
                                          "angular_velocity": [(0.1, 0, 0.3), (0, 0.2, 0)]}, 0.01),
        "ten bodies": (ph.gravitating_bodies(mu=[0.1] * 10), ("v2",),
                       {"position": ring, "velocity": 0.4 * np.cross((0, 0, 1.0), ring)}, 0.001),
    }  # fmt: skip


def least(call: Callable[[], Any]) -> float:
    """The least time of some calls."""
    spent = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        call()
        spent.append(time.perf_counter() - begun)
    return min(spent)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--steps", type=int, default=20_000)
    steps = reader.parse_args().steps
    print("system, method: bytes, compressed; us a step in wasmtime, over this processor; bits; from integrate")
    for name, (system, methods, start, h) in cases().items():
        for method in methods:
            live = ph.interactive(system, method, step=h, **start).scene["live"]
            packed = base64.b64decode(live["module"])
            begin, end = (np.frombuffer(base64.b64decode(live[word])) for word in ("begin", "end"))
            store = wasmtime.Store()
            module = wasmtime.Module(store.engine, gzip.decompress(packed))
            exports: Any = wasmtime.Instance(store, module, []).exports(store)
            run = Run(requested(system, method, {"step": h, "steps": CHECKED, "start": start}))
            program = program_of(run)
            here = wasm.Here(program, wasm.compiled(program).text)

            def there(n: int) -> None:
                exports["memory"].write(store, begin.tobytes(), live["at"]["begin"])  # noqa: B023
                exports["march"](store, 0.0, float(n), float(n), 0.0, h)  # noqa: B023

            def own(n: int) -> None:
                here.numbers[: len(begin)] = begin  # noqa: B023
                here.calls["march"](0, n, n, 0.0, h)  # noqa: B023

            there(CHECKED)
            at = live["at"]["begin"]
            same = bytes(exports["memory"].read(store, at, at + 8 * live["width"])) == end.tobytes()
            run.integrator.march(0, CHECKED, 2 * CHECKED, 0.0, h)
            off = np.abs(run.integrator.y - end).max() / np.abs(end).max()
            n = steps if name != "ten bodies" else steps // 10
            spent, ours = least(lambda: there(n)) / n, least(lambda: own(n)) / n  # noqa: B023
            print(f"{name}, {method}: {live['bytes']:,}, {len(packed):,}; {1e6 * spent:.3f}, {spent / ours:.2f}; "
                  f"{'the same' if same else 'OTHERS'}; {off:.0e}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
