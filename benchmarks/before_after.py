"""Is polhode slower than it was? Fifteen kinds of runs in two checkouts, in turns.

    python benchmarks/before_after.py OLD NEW [--only WORD] [--ratios 15] [--bound 1.03]

Each side is a process of its own, with the sources of its checkout and kernels of its own. A block is the least time of
some calls; blocks of the two sides alternate, and which comes first alternates, too. A ratio is NEW over OLD of two
neighbouring blocks. Printed: the median of all ratios, their quartiles, and the time of a call of OLD. After every five
ratios both processes are started anew, since where a process has its code and its arrays changes a time by a few per
cent. Rows whose median is above the bound are marked; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 0.1
"""Seconds of a block."""
OF_A_PAIR = 5
"""Ratios until both processes are started anew."""
SPIN = {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.1, 0.2, 5.0)}
ORBIT = {"position": (7.0e6, 0.0, 0.0), "velocity": (0.0, 7500.0, 100.0)}
MU = 3.986004418e14
MASSES = (1.00000597682, 9.54786104043e-4, 2.85583733151e-4, 4.37273164546e-5, 5.17759138449e-5)
Call = Callable[[], Any]


def run(system: Any, method: str | None, step: float, steps: int, start: Any = SPIN, **others: Any) -> Call:
    """A run of equal steps, of which the last is recorded."""
    import polhode as ph

    return lambda: ph.integrate(system, method, step=step, steps=steps, every=steps, **others, **start)


def top() -> Any:
    import polhode as ph

    return ph.heavy_top((5.0, 4.0, 3.0), (0.1, 0.0, 1.0), weight=20.0)


def taylor() -> Call:
    import polhode as ph

    system = top()
    return lambda: ph.integrate(system, "taylor", steps=ph.Tolerance(1e-12), t_end=4000.0, every=100_000, **SPIN)


def lanes() -> Call:
    import polhode as ph

    system, rng = top(), np.random.default_rng(7)
    members = {"angular_velocity": rng.normal(size=(480, 3))}
    return lambda: ph.ensemble(
        system, "v2", members=members, step=0.005, steps=1500, every=1500, engine="lanes", threads=1
    )


def prepared() -> Call:
    import polhode as ph

    many = ph.prepare(top(), "v2", step=0.01, steps=10)

    def call() -> None:
        for k in range(2000):
            many.run({"angular_velocity": (0.1, 0.2, 5.0 + 1e-3 * k)})

    return call


def orbit() -> Call:
    import polhode as ph

    system = ph.orbit(MU, forces=[ph.forces.zonal(radius=6.378e6, J2=1.08e-3)])
    return run(system, "rkn6_14a/kepler", 60.0, 10_000, ORBIT)


def pd(t: Any, position: Any, velocity: Any, q: Any, omega: Any, parameters: Any, states: Any) -> Any:
    """Torques of wheels that point a craft."""
    return parameters[0] * np.array([q[1], q[2], q[3]]) + parameters[1] * omega


def spacecraft() -> Call:
    import polhode as ph

    system = ph.spacecraft(
        (10.0, 12.0, 14.0), MU, wheels=ph.reaction_wheels(np.eye(3), 0.05), parameters=[0.5, 5.0],
        controllers=[ph.controller(pd, 0.1, "wheel_command", limit=0.2)],
    )  # fmt: skip
    start = ORBIT | {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.01, 0.02, -0.03)}
    return run(system, "v2/kepler", 0.1, 30_000, start)


def dipoles() -> Call:
    import polhode as ph

    lattice = ph.initial.cubic(4, spacing=1.2).state
    start = lattice | ph.initial.random_rotations(64, seed=1)
    return run(
        ph.dipoles(64, inertia=(0.1, 0.1, 0.1), dipole=(0.0, 0.0, 1.0)), "v2", 1e-3, 600, start, settings={"threads": 1}
    )


def water() -> Call:
    import polhode as ph

    system = ph.rigid_water(216, density=997)
    start = ph.initial.cubic(6, spacing=system.box[0] / 6).state | ph.initial.random_rotations(216, seed=1)
    return run(system, "v2", 1e-3, 20, start, settings={"threads": 1})


def planets() -> Call:
    import polhode as ph

    r = np.array([0.0, 5.2, 9.5, 19.2, 30.1])
    angle = np.array([0.0, 1.0, 2.5, 4.0, 5.5])
    along = np.stack([np.cos(angle), np.sin(angle), 0.02 * np.sin(3.0 * angle)], axis=1)
    speed = np.array([0.0, *(2.0 * np.pi / np.sqrt(r[1:]))])
    across = np.stack([-np.sin(angle), np.cos(angle), 0.0 * angle], axis=1)
    start = {"position": r[:, None] * along, "velocity": speed[:, None] * across}
    system = ph.gravitating_bodies(mass=MASSES, G=4.0 * np.pi**2)
    return run(system, "sbab5/kepler", 0.2, 20_000, start)


def torque(t: Any, q: Any, omega: Any, p: Any) -> Any:
    """A torque by attitude and rates."""
    return (p[0] * (q[1] * q[3] - q[0] * q[2]) - 0.01 * omega[0], -p[0] * (q[2] * q[3] + q[0] * q[1]), 0.1 * np.sin(t))


def potential(t: Any, q: Any, parameters: Any) -> Any:
    """A weight and a spring."""
    height = q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3]
    return parameters[0] * height + 0.5 * parameters[1] * (q[1] * q[3] - q[0] * q[2]) ** 2


def users(**given: Any) -> Any:
    import polhode as ph

    return ph.rigid_body((5.0, 4.0, 3.0), parameters=[2.0, 0.5], **given)


def free() -> Call:
    import polhode as ph

    return run(ph.free_body((1.0, 2.0, 2.5)), "exact", 0.1, 200_000)


CASES: dict[str, tuple[str, Callable[[], Call]]] = {
    "splittings": ("rkn6_14a", lambda: run(top(), "rkn6_14a", 0.02, 20_000)),
    "Runge-Kutta": ("mkrk:dp5", lambda: run(top(), "mkrk:dp5", 0.005, 50_000)),
    "implicit": ("imidm", lambda: run(top(), "imidm", 0.01, 30_000)),
    "Taylor": ("taylor", taylor),
    "ensemble in lanes": ("v2", lanes),
    "prepared small calls": ("v2", prepared),
    "orbit with J2": ("rkn6_14a/kepler", orbit),
    "spacecraft, wheels, controller": ("v2/kepler", spacecraft),
    "dipoles": ("v2", dipoles),
    "water": ("v2", water),
    "planets": ("sbab5/kepler", planets),
    "a user's torque": ("v2", lambda: run(users(torque=torque), "v2", 0.01, 100_000)),
    "a user's potential": ("v2", lambda: run(users(potential=potential), "v2", 0.01, 100_000)),
    "free body": ("exact", free),
    "heavy top": ("v2", lambda: run(top(), "v2", 0.01, 150_000)),
}
"""By the name of its row: a method, and what makes the call that is timed."""


def serve() -> None:
    """Answer requests on standard input: a name prepares its case, a number asks for a block of so many calls."""
    answers, sys.stdout = sys.stdout, sys.stderr
    call: Call | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if isinstance(asked, str):
                call = CASES[asked][1]()
                call()
                asked = 3
            assert call is not None
            told: Any = least(call, asked)
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
        print(json.dumps(told), file=answers, flush=True)


def least(call: Call, repeats: int) -> float:
    """Seconds of the fastest of some calls: of the processor, so that others on the machine count for less."""
    found = np.inf
    for _ in range(repeats):
        begun = time.process_time()
        call()
        found = min(found, time.process_time() - begun)
    return found


class Side:
    """A process with the sources of one checkout."""

    def __init__(self, checkout: Path, cache: Path) -> None:
        own = {"PYTHONPATH": str(checkout / "src"), "POLHODE_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **own}, cwd=cache,
        )  # fmt: skip

    def ask(self, what: str | int) -> Any:
        """The answer: seconds, or a sentence where the call failed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(what), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        return json.loads(line) if line else f"the process ended with {self.process.wait()}"

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def ratios(sides: list[Side], name: str, count: int, first: int) -> tuple[list[float], float | str]:
    """NEW over OLD of so many pairs of blocks, and the seconds of a call of OLD; or the sentence of a failure."""
    begun = [side.ask(name) for side in sides]
    for side, told in zip(("OLD", "NEW"), begun, strict=True):
        if isinstance(told, str):
            return [], f"{side}: {told}"
    repeats, found, shortest = max(2, round(BLOCK / begun[0])), [], np.inf
    for k in range(count):
        order = (0, 1) if (first + k) % 2 == 0 else (1, 0)
        seconds = {side: sides[side].ask(repeats) for side in order}
        found.append(seconds[1] / seconds[0])
        shortest = min(shortest, seconds[0])
    return found, shortest


def main() -> int:
    """Print the table; the exit code."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("old", type=Path)
    words.add_argument("new", type=Path)
    words.add_argument("--only", default="", help="rows with this word in their name or method")
    words.add_argument("--ratios", type=int, default=15)
    words.add_argument("--bound", type=float, default=1.03)
    asked = words.parse_args()
    checkouts = [asked.old.resolve(), asked.new.resolve()]
    for checkout in checkouts:
        if not (checkout / "src" / "polhode").is_dir():
            words.error(f"{checkout} is no checkout: it has no src/polhode")
    rows = [name for name, (method, _) in CASES.items() if asked.only in f"{name} {method}"]
    found: dict[str, list[float]] = {name: [] for name in rows}
    told: dict[str, float | str] = {}
    with tempfile.TemporaryDirectory() as folder:
        caches = [Path(folder, side) for side in ("old", "new")]
        for cache in caches:
            cache.mkdir()
        for first in range(0, asked.ratios, OF_A_PAIR):
            sides = [Side(*where) for where in zip(checkouts, caches, strict=True)]
            for name in rows:
                more, seconds = ratios(sides, name, min(OF_A_PAIR, asked.ratios - first), first)
                found[name] += more
                before = told.get(name, np.inf)
                told[name] = seconds if isinstance(seconds, str) or isinstance(before, str) else min(before, seconds)
                print(".", end="", file=sys.stderr, flush=True)
            for side in sides:
                side.close()
    print(f"\n{'':31} {'method':16} {'new/old':>8} {'quartiles':>15} {'old, ms':>9}", flush=True)
    slower = 0
    for name in rows:
        if isinstance(told[name], str):
            print(f"{name:31} {CASES[name][0]:16} {told[name]}")
            slower += 1
            continue
        low, middle, high = np.quantile(found[name], (0.25, 0.5, 0.75))
        mark = f"  above {asked.bound:g}" if middle > asked.bound else ""
        slower += bool(mark)
        print(f"{name:31} {CASES[name][0]:16} {middle:8.3f} {low:7.3f} {high:7.3f} {1e3 * told[name]:9.2f}{mark}")  # type: ignore[operator]
    return int(slower > 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        sys.exit(main())
