"""Outer planets against REBOUND: time for an error of the positions, on one core.

    python benchmarks/planets.py [--years 1000 10000] [--rounds 5] [--finer 1.12] [--steps]
                                 [--methods v2/kepler ...] [--rivals "WHFast" ...] [--rebound FOLDER]

Needs REBOUND (``pip install rebound``, or in the folder that is given), which polhode does not. REBOUND, which is under
the GPL, runs in a process of its own and is told by a pipe what to do. Sun, Jupiter, Saturn, Uranus, Neptune, Pluto
from [hairer2006, I.2.4], au and days, about their centre of mass.

Each integrator runs on a ladder of step sizes, each finer than the one before by the same ratio. The error is the
largest of all coordinates at the end (au), against ``rkn8_17`` with compensated sums at 20 days, which IAS15 confirms
(their distance is printed). A run within the goal by luck does not count as one: the error at a step is the larger of
its own and that of the next finer step. The table interpolates log time over log error.

polhode is timed from the initial state to the final one: its compiled loop, with the conversions that correctors need.
REBOUND is timed for the call of its compiled function with ``safe_mode = 0``, which corrects and synchronises once at
either end. Every time is the smallest of several rounds, in which all integrators take turns, and that of the processor
for this thread, which other processes disturb less.

``--steps`` prints every run: step, error, ns a step.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure
from polhode.methods import method
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator

YEAR = 365.25
G = 2.95912208286e-4
MASSES = np.array(
    (1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1.0 / 1.3e8)
)
PLACES = np.array((
    (0.0, 0.0, 0.0), (-3.5023653, -3.8169847, -1.5507963), (9.0755314, -3.0458353, -1.6483708),
    (8.3101420, -16.2901086, -7.2521278), (11.4707666, -25.7294829, -10.8169456),
    (-15.5387357, -25.2225594, -3.1902382),
))  # fmt: skip
VELOCITIES = np.array((
    (0.0, 0.0, 0.0), (0.00565429, -0.00412490, -0.00190589), (0.00168318, 0.00483525, 0.00192462),
    (0.00354178, 0.00137102, 0.00055029), (0.00288930, 0.00114527, 0.00039677), (0.00276725, -0.00170702, -0.00136504),
))  # fmt: skip
PLACES -= MASSES @ PLACES / MASSES.sum()
VELOCITIES -= MASSES @ VELOCITIES / MASSES.sum()

METHODS = (
    "rkn6_14a", "v2/kepler", "v2/kepler:corrected", "sbabc1/kepler:corrected", "sbab5/kepler", "rkn4_6b/kepler",
    "aba8_6_4/kepler", "aba10_6_4/kepler",
)  # fmt: skip
REBOUND: dict[str, dict[str, Any]] = {
    "WHFast": {"corrector": 0},
    "WHFast corrector 11": {"corrector": 11},
    "WHFast corrector 17": {"corrector": 17},
    "WHFast 17, lazy kernel": {"corrector": 17, "kernel": "lazy"},
    "WHFast 17, modified kick": {"corrector": 17, "kernel": "modifiedkick"},
    "SABA 4": {"type": "4"},
    "SABA CL 4": {"type": "CL_4"},
    "SABA 8,6,4": {"type": "8_6_4"},
    "SABA 10,6,4": {"type": "10_6_4"},
}
COARSEST, FINEST = 900.0, 18.0
"""Steps of the ladder, days."""
GOALS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def outer_planets() -> ph.systems.System:
    """The six bodies."""
    return ph.gravitating_bodies(mass=MASSES, G=G)


def of_polhode(label: str, span: float, n: int) -> Callable[[], tuple[float, Any]]:
    """A run that can be repeated: ``run() -> (seconds, positions)``."""
    system = outer_planets()
    y, h = start_state(system, position=PLACES, velocity=VELOCITIES), span / n
    integrator = Integrator(system, method(label), y)

    def run() -> tuple[float, Any]:
        integrator.restart(y)
        begun = time.thread_time()
        integrator.prepare(0.0, h)
        status = integrator.march(0, n, n + 1, 0.0, h)
        _, end = integrator.present(span, h)
        seconds = time.thread_time() - begun
        return seconds, end.reshape(6, 13)[:, :3] if status == 0 else np.full((6, 3), np.inf)

    return run


def serve() -> None:
    """The other end of the pipe: runs of REBOUND, as lines of JSON say."""
    import ctypes

    import rebound

    library = rebound.clibrebound
    print(json.dumps(rebound.__version__), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        sim = rebound.Simulation()
        sim.G = G
        for m, r, v in zip(MASSES, PLACES, VELOCITIES, strict=True):
            sim.add(m=m, x=r[0], y=r[1], z=r[2], vx=v[0], vy=v[1], vz=v[2])
        sim.integrator = job["integrator"]
        for name, value in job["settings"].items():
            setattr(sim.integrator, name, value)
        span, n = job["span"], job["steps"]
        if n:
            sim.dt = span / n
            there = ctypes.byref(sim)
            begun = time.thread_time()
            library.reb_simulation_steps(there, ctypes.c_uint(n))
            library.reb_simulation_synchronize(there)
        else:
            begun = time.thread_time()
            sim.integrate(span)
        seconds = time.thread_time() - begun
        assert abs(sim.t - span) < 1e-6 * span
        print(json.dumps([seconds, [list(body.xyz) for body in sim.particles]]), flush=True)


class Rebound:
    """The process of REBOUND."""

    def __init__(self, folder: str) -> None:
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH", "")]))
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        answer = self.process.stdout.readline()  # type: ignore[union-attr]
        if not answer:
            raise SystemExit("REBOUND is not here; pip install rebound, or give --rebound FOLDER")
        self.version = json.loads(answer)

    def run(self, integrator: str, settings: dict[str, Any], span: float, n: int = 0) -> tuple[float, Any]:
        """Seconds, and positions at the end."""
        job = {"integrator": integrator, "settings": settings, "span": span, "steps": n}
        self.process.stdin.write(json.dumps(job) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        seconds, end = json.loads(self.process.stdout.readline())  # type: ignore[union-attr]
        return seconds, np.array(end)

    def repeated(self, settings: dict[str, Any], span: float, n: int) -> Callable[[], tuple[float, Any]]:
        """As ``of_polhode``."""
        name = "saba" if "type" in settings else "whfast"
        return lambda: self.run(name, {"safe_mode": 0, **settings}, span, n)


def reference(span: float, rebound: Rebound) -> Any:
    """Positions at the end; prints how far IAS15 is from them."""
    n = round(span / 20.0)
    exact = ph.integrate(
        outer_planets(), "rkn8_17", step=span / n, steps=n, every=n, position=PLACES, velocity=VELOCITIES,
        settings={"compensated": True},
    ).position.values[-1]  # fmt: skip
    _, other = rebound.run("ias15", {}, span)
    print(f"REBOUND {rebound.version}; its IAS15 ends {np.abs(other - exact).max():.1e} au from the reference")
    return exact


def seconds_for(goal: float, errors: Any, seconds: Any) -> float:
    """Time for a goal, from runs ordered from the coarse to the fine; nan where it is not reached."""
    sure = np.maximum(errors, np.append(errors[1:], errors[-1:]))
    k = int(np.argmax(sure < goal))
    if not sure[k] < goal or k == 0:
        return float("nan")
    x = np.log([sure[k], sure[k - 1]]), np.log([seconds[k], seconds[k - 1]])
    return float(np.exp(np.interp(np.log(goal), *x))) if np.isfinite(x[0]).all() else float(seconds[k])


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: milliseconds of the best of each side for an error of the positions after 1,000 years."""
    rebound, span, finer = Rebound(""), 1000.0 * YEAR, 1.3 if quick else 1.12
    counts = np.unique(np.round(span / (COARSEST / finer ** np.arange(np.log(COARSEST / FINEST) / np.log(finer)))))
    exact, goals = reference(span, rebound), (1e-5, 1e-6, 1e-7)
    chosen = ("v2/kepler:corrected", "sbabc1/kepler:corrected", "aba10_6_4/kepler")
    ours = {name: [of_polhode(name, span, int(n)) for n in counts] for name in chosen}
    theirs = {name: [rebound.repeated(settings, span, int(n)) for n in counts] for name, settings in REBOUND.items()}
    errors = {name: [np.abs(run()[1] - exact).max() for run in runs] for name, runs in (ours | theirs).items()}
    seconds = {name: np.full(len(counts), np.inf) for name in errors}
    for _ in range(3 if quick else 9):
        for name, runs in (ours | theirs).items():
            seconds[name] = np.minimum(seconds[name], [run()[0] for run in runs])
    for goal in goals:
        best = [min((seconds_for(goal, np.array(errors[name]), seconds[name]), name) for name in side
                    if not np.isnan(seconds_for(goal, np.array(errors[name]), seconds[name])))
                for side in (ours, theirs)]  # fmt: skip
        yield Figure(f"planets {goal:.0e}", 1e3 * best[0][0], 1e3 * best[1][0], (goal, goal),
                     f"{best[0][1]}; {best[1][1]}")  # fmt: skip


def main() -> None:
    """Print the tables."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--years", type=float, nargs="*", default=[1000.0, 10000.0])
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--finer", type=float, default=1.12)
    words.add_argument("--methods", nargs="*", default=list(METHODS))
    words.add_argument("--rivals", nargs="*", default=list(REBOUND))
    words.add_argument("--steps", action="store_true")
    words.add_argument("--rebound", default="")
    words.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.serve:
        serve()
        return
    rebound = Rebound(given.rebound)
    rivals = {name: REBOUND[name] for name in given.rivals}
    warnings.simplefilter("ignore")
    ladder = COARSEST / given.finer ** np.arange(1 + np.floor(np.log(COARSEST / FINEST) / np.log(given.finer)))
    for years in given.years:
        span = years * YEAR
        counts = np.unique(np.round(span / ladder).astype(int))
        print(f"\n{years:g} years")
        exact = reference(span, rebound)
        runs = {name: [of_polhode(name, span, int(n)) for n in counts] for name in given.methods}
        runs |= {name: [rebound.repeated(settings, span, int(n)) for n in counts] for name, settings in rivals.items()}
        errors = {name: np.zeros(len(counts)) for name in runs}
        seconds = {name: np.full(len(counts), np.inf) for name in runs}
        for _ in range(given.rounds):
            for k in range(len(counts)):
                for name, of_name in runs.items():
                    spent, end = of_name[k]()
                    seconds[name][k] = min(seconds[name][k], spent)
                    errors[name][k] = np.abs(end - exact).max()
        print(f"{'ms for an error of':<28}" + "".join(f"{goal:>9.0e}" for goal in GOALS) + f"{'ns a step':>12}")
        for name in runs:
            cells = [1e3 * seconds_for(goal, errors[name], seconds[name]) for goal in GOALS]
            pace = 1e9 * (seconds[name] / counts).min()
            print(f"{name:<28}" + "".join(f"{x:>9.2f}" for x in cells) + f"{pace:>12.0f}", flush=True)
            if given.steps:
                for n, error, spent in zip(counts, errors[name], seconds[name], strict=True):
                    print(f"    {span / n:8.1f} d {error:10.2e} au {1e9 * spent / n:8.0f} ns")


if __name__ == "__main__":
    main()
