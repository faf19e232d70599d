"""Mechanisms: polhode's joints beside MuJoCo and Exudyn, time for an error; what a step costs; what long runs keep.

    python benchmarks/joints.py [precision] [speed] [long] [--quick] [--mechanism NAME ...] [--every]

MuJoCo and Exudyn come from pip (``pip install mujoco exudyn``) and run in this process; a row without its peer is "not
run". Mechanisms, starts and ends are those of ``tests/data/mechanisms.json``; an error is the largest of any place (m)
or entry of a rotation matrix at the end.

precision  Milliseconds of the processor for errors of 1e-4 to 1e-10: a triple pendulum in space with hinges along
           different axes (5 s), a satellite with two panels on hinges with springs (20 s), the double four-bar of
           IFToMM's library (A02, 10 s, some nine passages of a singular position), Bricard's mechanism (A04, 5 s), a
           slider-crank (4 s). Steps of one size are halved until the error is met; between two runs the logarithm of
           the time is interpolated over that of the error. Ours is ``run`` of ``ph.prepare``, from a start to arrays;
           of MuJoCo ``mj_step`` with all steps in one call, of Exudyn ``SolveDynamic`` without output. Nobody has
           Python in the loop. ``--every`` prints each method's times, too; ``its steps`` is ours less a
           run of one step.
speed      Microseconds a step of order 2 of chains of 2 to 128 bodies on ball joints, at two sizes of step; seconds to
           compose 128 bodies, and of the first run of a new process whose cache of kernels is empty, over that of a
           system without joints.
long       Ten links in space, order 2, 10^6 steps of 2.5e-3: gaps, slope of the energy over its standard error by means
           of blocks, momentum about the vertical, and how far a thousand steps there and back end from the start.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure, in_turns

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
import jointed_systems as js
import mechanisms as mx
from peer_cases import jointed

OURS = {
    "structure": ("suzuki4/joints", "kl6b/joints", "kl8/joints", "rkn6_14a/joints"),
    "loads": ("mkrk:cv8", "mkrk:dp5"),
}
"""Methods by kind: those that keep the structure, and explicit ones with the forces of joints as loads."""
ORDER_2, REVERSED = "v2/joints", ("v2/joints", "kl6b/joints")
ERRORS = (1e-4, 1e-6, 1e-8, 1e-10)
MECHANISMS = {
    "triple_pendulum": "triple pendulum", "satellite": "satellite, two panels", "four_bars": "double four-bar, A02",
    "bricard": "Bricard, A04", "slider_crank": "slider-crank",
}  # fmt: skip
FEWEST = {"triple_pendulum": 24, "satellite": 24, "four_bars": 100, "bricard": 8, "slider_crank": 64}
ASKED = {1e-3: {2: 1.5, 8: 6.0, 32: 25.0, 128: 100.0}, 1e-2: {2: 2.0, 8: 9.0, 32: 36.0, 128: 150.0}}
"""Microseconds a step of order 2, by its size and the number of bodies."""
LIMIT = 1.5
"""Seconds of a run beyond which no more steps are tried."""


# ------------------------------------------------------------------ time for an error
class Run:
    """A run that is ready: an error, and the least time so far."""

    def __init__(self, begin: Callable[[], Any], go: Callable[[], Any], state: Callable[[], Any], end: Any) -> None:
        self.begin, self.go, self.seconds = begin, go, np.inf
        self.clock()
        found = state()
        ok = all(np.isfinite(found[key]).all() for key in ("position", "attitude"))
        self.error = mx.apart(found, end) if ok else np.inf

    def clock(self) -> None:
        """Once more; the least time counts."""
        self.begin()
        begun = time.process_time()
        self.go()
        self.seconds = min(self.seconds, time.process_time() - begun)


def ours(given: Any, method: str, steps: int, system: Any) -> Run:
    """A run of polhode."""
    prepared = ph.prepare(system, method, step=given.stop / steps, steps=steps, every=steps)
    start, last = js.start_of(given), {}

    def go() -> None:
        last["run"] = prepared.run(start)

    def state() -> dict[str, Any]:
        return {
            key: np.reshape(getattr(last["run"], key)[-1], (len(given.bodies), -1)) for key in ("position", "attitude")
        }

    go()
    return Run(lambda: None, go, state, given.end)


def theirs(given: Any, method: str, steps: int) -> Run:
    """A run of a peer."""
    made = jointed.peer(method, given, steps)
    return Run(made.begin, made.go, made.state, given.end)


def ladder(make: Callable[[int], Run], fewest: int, least: float) -> list[Run]:
    """Runs with steps halved until an error is met, or it takes too long, or does not become smaller any more."""
    runs: list[Run] = []
    steps = fewest
    while not runs or (runs[-1].seconds < LIMIT and len(runs) < 16):
        try:
            runs.append(make(steps))
        except LookupError:  # the peer cannot have it
            return []
        except Exception:  # it stops with steps so large: smaller ones may pass
            if steps > 64 * fewest:
                break
        steps *= 2
        if runs and runs[-1].error < least:
            break
    return runs


def at(runs: list[Run], target: float) -> tuple[float, float]:
    """Seconds for an error and that error, by the first step from which on it is met; infinite where it is not."""
    curve = [(max(one.error, *(other.error for other in runs[k:])), one.seconds) for k, one in enumerate(runs)]
    for k, (error, seconds) in enumerate(curve):
        if error <= target:
            if k == 0 or not np.isfinite(curve[k - 1][0]) or error == 0.0:
                return seconds, error
            before, spent = curve[k - 1]
            part = np.log(before / target) / np.log(before / error)
            return float(np.exp((1 - part) * np.log(spent) + part * np.log(seconds))), target
    return np.inf, curve[-1][0] if curve else np.inf


def curves(name: str, quick: bool) -> tuple[dict[str, list[Run]], dict[str, list[Run]]]:
    """All runs of a mechanism, ours and those of peers; then all take turns."""
    given, least = mx.mechanism(name), 1e-8 if quick else 1e-10
    system = js.system_of(given)
    mine: dict[str, list[Run]] = {}
    for method in (one for kind in OURS.values() for one in kind):
        mine[method] = ladder(lambda steps, method=method: ours(given, method, steps, system), FEWEST[name], least)
    others = {
        method: ladder(lambda steps, method=method: theirs(given, method, steps), FEWEST[name], least)
        for method in jointed.METHODS if jointed.present(method)
    }  # fmt: skip
    for _ in range(2 if quick else 7):
        for run in (run for side in (mine, others) for runs in side.values() for run in runs):
            if run.seconds < 0.3:
                run.clock()
    return mine, others


def best(side: dict[str, list[Run]], names: Any, target: float) -> tuple[float, float, str]:
    """The least milliseconds of some methods for an error, that error, and the name."""
    found = [(*at(side[name], target), name) for name in names if side.get(name)]
    seconds, error, name = min(found) if found else (np.inf, np.inf, "-")
    return 1e3 * seconds, error, name


def precision(words: list[str], quick: bool, every: bool = False) -> Iterator[Figure]:
    """Of each mechanism and error: the best of each kind of ours against the best of all peers."""
    for name in words or MECHANISMS:
        mine, others = curves(name, quick)
        if every:
            table(name, {**mine, **others})
        fixed = {method: run.seconds for method, run in ones(name).items()}
        for kind, methods in OURS.items():
            for error in ERRORS[: 3 if quick else 4]:
                spent, own, method = best(mine, methods, error)
                other, its, peer = best(others, others, error)
                note = f"{method}; {peer}"
                if method in fixed and np.isfinite(spent):
                    note += f"; its steps {spent - 1e3 * fixed[method]:.3g}"
                errors = (own, its) if others else (own,)
                yield Figure(f"{name}, {kind}, {error:.0e}", spent, other if others else None, errors, note)


def ones(name: str) -> dict[str, Run]:
    """Runs of one step: what is not steps in a run of ours."""
    given = mx.mechanism(name)
    system, made = js.system_of(given), {}
    short = replace(given, stop=given.stop / 5000)
    for method in (one for kind in OURS.values() for one in kind):
        try:
            made[method] = ours(short, method, 1, system)
        except Exception:  # it has none of these
            continue
        for _ in range(9):
            made[method].clock()
    return made


def table(name: str, runs_of: dict[str, list[Run]]) -> None:
    """Every method's milliseconds for each error."""
    print(f"{MECHANISMS[name]}: milliseconds for " + ", ".join(f"{error:.0e}" for error in ERRORS))
    for method, runs in runs_of.items():
        told = " ".join(f"{1e3 * x:9.3g}" if np.isfinite(x) else "        -" for x in (at(runs, e)[0] for e in ERRORS))
        floor = min((run.error for run in runs), default=np.nan)
        print(
            f"  {method:26} {told}   least error {floor:.0e}" if runs else f"  {method:26} cannot have it", flush=True
        )


# ------------------------------------------------------------------ chains
def chain(count: int, bend: float = 0.1) -> tuple[Any, dict[str, Any]]:
    """Bodies on ball joints, hanging from the ground, and a start at rest in space."""
    up, down = np.array((0.0, 0.0, 0.3)), np.array((0.0, 0.0, -0.3))
    bodies = [ph.body(f"b{k}", 1.0, (0.1, 0.12, 0.05)) for k in range(count)]
    joints = [ph.joints.ball(at=up, of_other=down if k else 0 * down, name=f"j{k}")
              .on(f"b{k}", f"b{k - 1}" if k else ph.ground)
              for k in range(count)]  # fmt: skip
    attitude, position, x = [], [], np.zeros(3)
    for k in range(count):
        q = mx.turned((1.2 + bend * np.sin(k), 0.05 * k, 0.0))
        attitude.append(q)
        position.append(x - mx.matrix(q) @ up)
        x = position[-1] + mx.matrix(q) @ down
    return ph.system(*bodies, *joints, ph.loads.weight()), {"attitude": attitude, "position": position}


FIRST = """
import sys, time
sys.path[:0] = {paths!r}
import joints
top = joints.ph.heavy_top((1, 2, 3), (0, 0, 1.0), 1.0)
system, start = joints.chain(8) if {jointed} else (top, {{"angular_velocity": (0, 1, 9)}})
begun = time.process_time()
joints.ph.integrate(system, "v2/joints" if {jointed} else "v2", step=1e-3, steps=10, **start)
print("TOOK", time.process_time() - begun)
"""


def first(on_joints: bool) -> float:
    """Seconds of the first run of a process whose cache is empty."""
    with tempfile.TemporaryDirectory() as folder:
        code = FIRST.format(paths=[str(Path(__file__).resolve().parent)], jointed=on_joints)
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                              env=os.environ | {"POLHODE_CACHE_DIR": folder}).stdout  # fmt: skip
    return float(told.rsplit("TOOK", 1)[1])


def speed(words: list[str], quick: bool) -> Iterator[Figure]:
    """A step of chains, composing, and the first run; the peer's column is what is asked."""
    for step, asked in ASKED.items():
        for count, most in asked.items():
            system, start = chain(count)
            steps = max(300, (5_000 if quick else 20_000) // count)
            prepared = ph.prepare(system, ORDER_2, step=step, steps=steps, every=steps)
            spent = in_turns({"chain": lambda run=prepared.run, start=start: run(start)}, 3 if quick else 7)["chain"]
            yield Figure(f"chain of {count}, step {step:g}", 1e6 * spent / steps, most, note="us a step, order 2")
    yield Figure("compose 128 bodies", in_turns({"one": lambda: chain(128)}, 3)["one"], 0.15, note="s")
    if not quick:
        yield Figure(
            "first run, nothing compiled", first(True), 2.5 + first(False), note="s; asked: 2.5 beyond a top's"
        )


# ------------------------------------------------------------------ long runs
def slope(values: Any, blocks: int = 20) -> tuple[float, float]:
    """Change over the run of a quantity by a line through means of blocks, and its standard error."""
    means = np.array([part.mean() for part in np.array_split(np.asarray(values), blocks)])
    x = np.linspace(-0.5, 0.5, blocks)
    rise = (x @ means) / (x @ x)
    rest = means - means.mean() - rise * x
    return float(rise), float(np.sqrt(rest @ rest / (blocks - 2) / (x @ x)))


def long(words: list[str], quick: bool) -> Iterator[Figure]:
    """Ten links; the peer's column is what is asked."""
    steps, links, length = 200_000 if quick else 1_000_000, 10, 0.6
    system, start = chain(links)
    begun = time.process_time()
    ds = ph.integrate(system, ORDER_2, step=2.5e-3, steps=steps, every=steps // 1000, **start)
    spent = (time.process_time() - begun) / steps
    x, q, v, L = (ds[key].values for key in ("position", "attitude", "velocity", "angular_momentum"))
    R = np.array([[mx.matrix(one) for one in row] for row in q])
    ends = [x + R @ np.array((0.0, 0.0, z)) for z in (0.3, -0.3)]
    gap = max(np.abs(ends[0][:, 0]).max(), np.abs(ends[0][:, 1:] - ends[1][:, :-1]).max())
    vertical = (np.cross(x, v)[..., 2] + (R @ L[..., None])[..., 2, 0]).sum(axis=1)  # masses of 1, momenta in body axes
    size = np.abs(np.cross(x, v)).sum(axis=1).max()
    rise, error = slope(ds.energy_error.values[1:])
    yield Figure("gaps", float(gap), 1e-14, note=f"m, of a chain of {links * length:g} m; {1e6 * spent:.3g} us a step")
    yield Figure(
        "slope of the energy over its error", abs(rise) / error, 2.0, note=f"{rise:.1e} +- {error:.1e} over the run"
    )
    yield Figure("momentum about the vertical", float(np.ptp(vertical) / size), 1e-13, note="relative")
    for method in REVERSED:
        there = ph.integrate(system, method, step=2.5e-3, steps=1000, every=1000, **start)
        back = ph.integrate(
            system, method, step=2.5e-3, steps=1000, every=1000, project=True, **js.reversed_start(there)
        )
        off = mx.apart(js.state_of(back), {key: np.array(value) for key, value in start.items()})
        yield Figure(f"1,000 steps undone, {method}", off / (links * length), 1e-13, note="of the chain's length")


# ------------------------------------------------------------------ rows
KINDS: dict[str, Callable[[list[str], bool], Iterator[Figure]]] = {"precision": precision, "speed": speed, "long": long}


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: of one kind; for ``precision`` of the mechanisms named."""
    warnings.simplefilter("ignore")
    yield from KINDS[words[0]](words[1:], quick)


def told(one: Figure) -> str:
    """A row: ours, the peer or what is asked, how many times the other is ours, both errors."""
    number = {"ours": one.ours, "peer": one.peer}
    ours, other = ("not run" if x is None else f"{x:.3g}" if np.isfinite(x) else "-" for x in number.values())
    ratio = f"{one.peer / one.ours:.2f}" if one.peer is not None and one.ours and np.isfinite(one.ours) else ""
    errors = "  ".join(f"{error:.0e}" for error in one.errors)
    return f"{one.name:38} {ours:>9} | {other:>9} | {ratio:>6} | {errors}  {one.note}"


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("kinds", nargs="*", default=[*KINDS], help=", ".join(KINDS))
    reader.add_argument("--quick", action="store_true", help="fewer rounds, shorter runs, errors from 1e-8 on")
    reader.add_argument("--mechanism", nargs="*", default=[*MECHANISMS], help=", ".join(MECHANISMS))
    reader.add_argument("--every", action="store_true", help="the times of every method of precision, too")
    given = reader.parse_args()
    warnings.simplefilter("ignore")
    for kind in given.kinds:
        print(f"{kind:38} {'ours':>9} | {'peer' if kind == 'precision' else 'asked':>9} | {'ratio':>6} | errors")
        rows = (
            precision(given.mechanism, given.quick, given.every)
            if kind == "precision"
            else KINDS[kind]([], given.quick)
        )
        for one in rows:
            print(told(one), flush=True)


if __name__ == "__main__":
    main()
