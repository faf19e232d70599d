"""A day of Carson's elliptic orbit to 1e-10 relative: polhode, heyoka and REBOUND, one after another in one run.

    python benchmarks/elliptic_day.py [table ...] [--rounds 15] [--goal 1e-10] [--rebound FOLDER]

conic       The end of the day, in whatever steps are best for each. The motion about a centre is exact at any time, so
            that polhode's flow and WHFast need one step; Taylor series and IAS15 do not know this.
days        Ten thousand such days, a step each: what a step costs without the call that enters the loop.
ephemeris   The day with a state every minute, 1440 of them; heyoka sums its series between its steps.
integrated  The end of the day by methods that do not know of conics.
oblate      With J2 = 1e-3, where nobody is exact.

Needs heyoka (``pip install heyoka``) for its part and REBOUND (``pip install rebound``, or in the folder that is given)
for its own. Neither is needed by polhode. REBOUND, which is under the GPL, runs in a process of its own and is told by
a pipe what to do; what it is timed for is the call of its compiled function.

Setting up and compilation are left out on all sides. Each contestant runs with numbers of steps or tolerances from
coarse to fine; the first that is within the goal, with the next two, is taken with its time. polhode's is that of its
compiled loop, entered from Python; a whole call of ``ph.integrate``, with its checks and its Dataset, is in a column of
its own. Errors are relative ones of the position at the end, against universal variables with 40 digits, and with J2
against ``tests/data/orbit_cases.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from figure import Figure

MU, R0, DAY = 3200.9998, 1664.029, 86400.0
J2, RADIUS = 1e-3, 1560.8
PLANAR = ((0.0, R0, 0.0), (1.550663, 0.0, 0.0))
TILTED = ((0.0, R0, 0.0), (1.550663 * np.cos(0.9), 0.0, 1.550663 * np.sin(0.9)))
MINUTES, DAYS = 1440, 10000
FINER = 1.12


@dataclass
class Run:
    """Something that can be run again from the start, and timed.

    Attributes
    ----------
    label, setting : str
        Who, and with how many steps or which tolerance.
    go : function
        ``go(repeats) -> (seconds of the fastest, position at the end)``.
    whole : function, optional
        The same for a call that does everything.
    """

    label: str
    setting: str
    go: Callable[[int], tuple[float, Any]]
    whole: Callable[[], Any] | None = None
    seconds: float = np.inf
    error: float = np.nan

    def clock(self, repeats: int = 3) -> None:
        """One turn."""
        self.seconds = min(self.seconds, self.go(repeats)[0])


def conic_end(days: int = 1) -> Any:
    """Where the orbit is after so many days, by universal variables."""
    from mpmath import mp, mpf

    with mp.workdps(40):
        mu, r, v, t = mpf(MU), [mpf(x) for x in PLANAR[0]], [mpf(x) for x in PLANAR[1]], mpf(DAY * days)
        d, q = mp.norm(r), mp.sqrt(mu)
        alpha = 2 / d - mp.fdot(v, v) / mu

        def S(x):
            w = mp.sqrt(alpha) * x
            return (w - mp.sin(w)) / w**3

        x = mp.findroot(lambda x: (1 - alpha * d) * x**3 * S(x) + d * x - q * t, q * alpha * t)
        f, g = 1 - (1 - mp.cos(mp.sqrt(alpha) * x)) / (alpha * d), t - x**3 * S(x) / q
        return np.array([float(f * a + g * b) for a, b in zip(r, v, strict=True)])


def oblate_end() -> Any:
    """The same with J2."""
    path = Path(__file__).resolve().parent.parent / "tests" / "data" / "orbit_cases.json"
    return np.array([float(x) for x in json.loads(path.read_text())["cases"]["oblate"]["position"][-1]])


# ------------------------------------------------------------------------------------------------------- polhode


def orbit(oblate: bool):
    """The system and its start."""
    import polhode as ph

    forces = [ph.forces.zonal(J2=J2, radius=RADIUS)] if oblate else []
    return ph.orbit(MU, forces=forces), dict(zip(("position", "velocity"), TILTED if oblate else PLANAR, strict=True))


def with_polhode(label: str, n: int, oblate: bool = False, every: int = 0, days: int = 1) -> Run:
    """n steps of one size; rows after each ``every`` of them."""
    import polhode as ph
    from polhode.kernel import layout as L
    from polhode.methods import method
    from polhode.runs.initial_state import start_state
    from polhode.runs.integrator import Integrator

    system, start = orbit(oblate)
    y, h = start_state(system, **start), DAY * days / n
    bench = Integrator(system, method(label), y)
    rows = np.empty((n // every, y.size)) if every else None
    counts = np.zeros(len(rows), np.int64) if every else None

    def go(repeats):
        best = np.inf
        for _ in range(repeats):
            bench.y[:], bench.left_at = y, None
            begun = time.perf_counter()
            bench.prepare(0.0, h)
            status = bench.march(0, n, every or n + 1, 0.0, h, rows, counts)
            if bench.prepared.processed and not every:
                bench.y[:] = bench.present(n * h, h)[1]
            best = min(best, time.perf_counter() - begun)
            if status != L.OK:
                return best, np.full(3, np.nan)
        return best, bench.y[:3].copy()

    def whole():
        return ph.integrate(system, label, step=h, steps=n, every=every or n, settings={"guard": False}, **start)

    return Run(f"polhode {label}", f"{n} steps", go, whole)


def with_tolerance(label: str, rtol: float, oblate: bool = False) -> Run:
    """Steps chosen by a tolerance."""
    import polhode as ph
    from polhode.kernel import layout as L
    from polhode.methods import method
    from polhode.runs.initial_state import start_state
    from polhode.runs.integrator import Integrator

    system, start = orbit(oblate)
    y = start_state(system, **start)
    bench = Integrator(system, method(label), y, adaptive=True)
    bench.adapt(0.0, rtol, 1e-3 * rtol)
    stops, none, rows = np.array([DAY]), np.empty(0), np.empty((2, y.size))
    times, sizes, counts = np.empty(2), np.empty(2), np.zeros(2, np.int64)

    def go(repeats):
        best = np.inf
        for _ in range(repeats):
            bench.y[:] = y
            bench.adapt(0.0, rtol, 1e-3 * rtol)
            begun = time.perf_counter()
            status = bench.march_adaptive(10**7, 0, stops, none, times, sizes, rows, counts)
            best = min(best, time.perf_counter() - begun)
            if status != L.OK:
                return best, np.full(3, np.nan)
        return best, bench.y[:3].copy()

    def whole():
        return ph.integrate(
            system, label, steps=ph.Tolerance(rtol), t_end=DAY, t_eval=[DAY], settings={"guard": False}, **start
        )

    return Run(f"polhode {label}", f"rtol {rtol:.1e}", go, whole)


def with_flow(n: int, days: int = 1) -> Run:
    """The exact flow alone in polhode's loop over steps."""
    import polhode as ph
    from polhode.flows.drift import kepler_drift
    from polhode.kernel import drive, layout as L

    def drift(i, h, p):
        return kepler_drift(i, h, MU, p)

    loop = drive.sweep_of(drift)
    y, bodies, step_info = np.zeros((1, 13)), np.ones((1, 8)), np.zeros(L.STEP_INFO)
    h, status, counts = np.array([DAY * days / n]), np.zeros(1, np.int64), np.zeros(1, np.int64)

    def go(repeats):
        best = np.inf
        for _ in range(repeats):
            y[0, :6] = np.concatenate(PLANAR)
            begun = time.perf_counter()
            loop(n, h, y, bodies, step_info, status, counts)
            best = min(best, time.perf_counter() - begun)
        return best, y[0, :3].copy() if not status[0] else np.full(3, np.nan)

    return Run("polhode, the flow", f"{n} steps", go, lambda: ph.kepler.propagate(*PLANAR, DAY, MU))


# -------------------------------------------------------------------------------------------------------- heyoka


def with_heyoka(tolerance: float, variant: str, oblate: bool = False, every: int = 0) -> Run:
    """Taylor series of the order that the tolerance asks for."""
    import heyoka as hk

    x, y, z, a, b, c = hk.make_vars("x", "y", "z", "a", "b", "c")
    s = x * x + y * y + z * z
    w = -MU * s**-1.5
    rates = [w * x, w * y, w * z]
    if oblate:
        k = 1.5 * MU * J2 * RADIUS**2 * s**-2.5
        q = 5.0 * z * z / s
        rates = [w * x + k * x * (q - 1.0), w * y + k * y * (q - 1.0), w * z + k * z * (q - 3.0)]
    pairs = [(x, a), (y, b), (z, c), (a, rates[0]), (b, rates[1]), (c, rates[2])]
    options = {"high_accuracy": "accurate" in variant, "fast_math": "fast" in variant}
    start = np.concatenate(TILTED if oblate else PLANAR)
    integrator = hk.taylor_adaptive(pairs, list(start), tol=tolerance, compact_mode=False, **options)
    grid = np.linspace(0.0, DAY, MINUTES + 1)

    def go(repeats):
        best = np.inf
        for _ in range(repeats):
            integrator.time, integrator.state[:] = 0.0, start
            begun = time.perf_counter()
            if every:
                integrator.propagate_grid(grid)
            else:
                integrator.propagate_until(DAY)
            best = min(best, time.perf_counter() - begun)
        return best, integrator.state[:3].copy()

    return Run(f"heyoka{variant}", f"tol {tolerance:.1e}", go)


# ------------------------------------------------------------------------------------------------------- REBOUND


def serve() -> None:
    """The other end of the pipe: runs of REBOUND, as lines of JSON say."""
    import ctypes
    import warnings

    import rebound

    warnings.simplefilter("ignore")
    library = rebound.clibrebound
    print(json.dumps(rebound.__version__), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        best = np.inf
        for _ in range(job["repeats"]):
            sim = rebound.Simulation()
            sim.G = 1.0
            sim.add(m=MU)
            sim.add(m=0.0, y=R0, vx=PLANAR[1][0])
            sim.integrator = job["integrator"]
            for name, value in job.get("options", {}).items():
                setattr(sim.integrator, name, value)
            sim.dt = DAY * job.get("days", 1) / job.get("steps", MINUTES)
            if "steps" in job:
                n, there = ctypes.c_uint(job["steps"]), ctypes.byref(sim)
                begun = time.perf_counter()
                library.reb_simulation_steps(there, n)
                library.reb_simulation_synchronize(there)
            else:
                begun = time.perf_counter()
                sim.integrate(DAY)
            best = min(best, time.perf_counter() - begun)
        p, q = sim.particles[1], sim.particles[0]
        print(json.dumps([best, [p.x - q.x, p.y - q.y, p.z - q.z]]), flush=True)


class Rebound:
    """The process of REBOUND."""

    def __init__(self, folder: str) -> None:
        paths = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])]) if folder else None
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | ({"PYTHONPATH": paths} if paths else {}), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        answer = self.process.stdout.readline()
        self.version = json.loads(answer) if answer else ""

    def run(self, integrator: str, setting: str, **job: Any) -> Run:
        """One contestant."""

        def go(repeats):
            self.process.stdin.write(json.dumps({"integrator": integrator, "repeats": repeats, **job}) + "\n")
            self.process.stdin.flush()
            seconds, end = json.loads(self.process.stdout.readline())
            return seconds, np.array(end)

        return Run(f"REBOUND {integrator}", setting, go)


# -------------------------------------------------------------------------------------------------------- tables


def cheapest(runs: list[Run], end: Any, goal: float) -> Run | None:
    """Of runs from coarse to fine, the first from which on all, up to three of them, are within the goal."""
    for run in runs:
        _, place = run.go(1)
        error = np.linalg.norm(place - end) / np.linalg.norm(end)
        run.error = float(error) if np.isfinite(error) else np.inf
    for k, run in enumerate(runs):
        if all(other.error <= goal for other in runs[k : k + 3]):
            return run
    return None


def show(title: str, runs: list[Run | None], rounds: int) -> None:
    """Time all in turns, and print."""
    found = [run for run in runs if run is not None]
    for _ in range(rounds):
        for run in found:
            run.clock()
    print(f"\n{title}\n{'':<30}{'setting':>15}{'error':>10}{'us':>10}{'whole call':>12}{'of the best':>12}")
    ours = min((run.seconds for run in found if run.label.startswith("polhode")), default=np.nan)
    for run in sorted(found, key=lambda run: run.seconds):
        whole = ""
        if run.whole is not None:
            times = []
            for _ in range(max(3, rounds)):
                begun = time.perf_counter()
                run.whole()
                times.append(time.perf_counter() - begun)
            whole = f"{1e6 * min(times):.0f}"
        print(
            f"{run.label:<30}{run.setting:>15}{run.error:>10.1e}{1e6 * run.seconds:>10.2f}{whole:>12}"
            f"{run.seconds / ours:>12.2f}",
            flush=True,
        )


def steps_from(first: int, last: float) -> list[int]:
    """Numbers of steps, each finer than the one before."""
    numbers, n = [], float(first)
    while n < last:
        numbers.append(round(n))
        n *= FINER
    return numbers


def best_of_heyoka(end: Any, goal: float, oblate: bool = False, every: int = 0) -> list[Run | None]:
    """Every variant at its largest tolerance."""
    try:
        import heyoka  # noqa: F401
    except ImportError:
        return []
    tolerances = [10.0 ** (-k / 3) for k in range(24, 49)]
    variants = ("", ", accurate", ", fast math", ", accurate, fast math")
    return [cheapest([with_heyoka(t, name, oblate, every) for t in tolerances], end, goal) for name in variants]


INTEGRATORS = {
    "rkn6_14a": 500, "rkn8_17": 300, "p8": 500, "sp10": 300, "s6_10": 1000, "pmlf6": 700, "fg6_5": 700,
    "mkrk:cv8": 500, "mkrk:gauss8": 300, "mkrk:gauss12": 150, "mkrk:gauss16": 100,
}  # fmt: skip
"""Methods for equations of any kind, and a number of steps that is too small for them."""


def integrators(end: Any, goal: float, oblate: bool) -> list[Run | None]:
    """polhode's, each at its cheapest."""
    found = [
        cheapest([with_polhode(label, n, oblate) for n in steps_from(first, 16 * first)], end, goal)
        for label, first in INTEGRATORS.items()
    ]
    tolerances = [10.0 ** (-k / 4) for k in range(36, 57)]
    return [*found, cheapest([with_tolerance("mkrk:dp8", t, oblate) for t in tolerances], end, goal)]


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: microseconds of a day on an ellipse in one step, and of ten thousand of them, beside WHFast."""
    rebound, n, rounds = Rebound(""), 1000 if quick else DAYS, 10 if quick else 40
    cases = {
        "conic, a day": (conic_end(), 1e-10, with_flow(1), {"steps": 1}),
        f"conic, {n} days": (conic_end(n), 1e-6, with_flow(n, n), {"steps": n, "days": n}),
    }
    for name, (end, goal, ours, job) in cases.items():
        theirs = rebound.run("whfast", "safe_mode 0", options={"safe_mode": 0}, **job)
        found = [cheapest([ours], end, goal), cheapest([theirs], end, goal)]
        for _ in range(rounds):
            for run in (ours, theirs):
                run.clock()
        errors = ours.error, theirs.error
        if None in found:
            yield Figure(name, errors=errors, note=f"not within {goal:g} on both sides")
        else:
            yield Figure(name, 1e6 * ours.seconds, 1e6 * theirs.seconds, errors)


def main() -> None:
    """Print the tables that are asked for."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("tables", nargs="*", default=[], help="conic, days, ephemeris, integrated, oblate")
    words.add_argument("--rounds", type=int, default=15)
    words.add_argument("--goal", type=float, default=1e-10)
    words.add_argument("--rebound", default="")
    words.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.serve:
        serve()
        return
    tables, goal = given.tables or ["conic", "days", "ephemeris", "integrated", "oblate"], given.goal
    rebound = Rebound(given.rebound)
    print(f"REBOUND {rebound.version or 'is not here'}; goal {goal:g}")
    end = conic_end()
    if "conic" in tables:
        runs = [cheapest([with_flow(1)], end, goal), cheapest([with_polhode("v2/kepler", 1)], end, goal)]
        runs += best_of_heyoka(end, goal)
        if rebound.version:
            for n in (1, 12, 100):
                options = {"safe_mode": 0}
                runs.append(cheapest([rebound.run("whfast", f"{n} steps", steps=n, options=options)], end, goal))
            eps = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
            many = [rebound.run("ias15", f"epsilon {e:.0e}", options={"epsilon": e}) for e in eps]
            runs.append(cheapest(many, end, goal))
        show("conic: the end of the day", runs, given.rounds)
    if "days" in tables:
        n, far, loose = DAYS, conic_end(DAYS), 1e-6
        runs = [cheapest([with_flow(n, n)], far, loose), cheapest([with_polhode("v2/kepler", n, days=n)], far, loose)]
        for mode in (1, 0) if rebound.version else ():
            job = {"steps": n, "days": n, "options": {"safe_mode": mode}}
            runs.append(cheapest([rebound.run("whfast", f"safe_mode {mode}", **job)], far, loose))
        show(f"days: {n} of them", runs, given.rounds)
    if "ephemeris" in tables:
        runs = [with_flow(MINUTES), with_polhode("v2/kepler", MINUTES, every=1)]
        runs = [cheapest([run], end, goal) for run in runs] + best_of_heyoka(end, goal, every=1)
        if rebound.version:
            for mode in (1, 0):
                job = {"steps": MINUTES, "options": {"safe_mode": mode}}
                runs.append(cheapest([rebound.run("whfast", f"safe_mode {mode}", **job)], end, goal))
        show(f"ephemeris: {MINUTES} states (WHFast with safe_mode 0 does not show them)", runs, given.rounds)
    if "integrated" in tables:
        runs = integrators(end, goal, False) + best_of_heyoka(end, goal)
        if rebound.version:
            eps = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
            many = [rebound.run("ias15", f"epsilon {e:.0e}", options={"epsilon": e}) for e in eps]
            runs.append(cheapest(many, end, goal))
        show("integrated: the end of the day without conics", runs, given.rounds)
    if "oblate" in tables:
        end = oblate_end()
        runs = integrators(end, goal, True) + best_of_heyoka(end, goal, True)
        for label, first in {"rkn6_14a": 80, "s6_10": 150, "rkn8_17": 60, "pmlf6": 80, "aba10_6_4": 100,
                             "aba8_6_4": 100, "p8": 80}.items():  # fmt: skip
            many = [with_polhode(f"{label}/kepler", n, True) for n in steps_from(first, 32 * first)]
            runs.append(cheapest(many, end, goal))
        show("oblate: the end of the day with J2", runs, given.rounds)


if __name__ == "__main__":
    main()
