"""Taylor ensembles: members in lanes against one by one, and against heyoka's batches, by the error that they reach.

    python benchmarks/taylor_ensembles.py [j2] [top] [craft] [--members 1000] [--rounds 7]

Needs heyoka (``pip install heyoka``) for its rows only. All run on one thread and take turns; compilation is left out.

j2         Elliptic orbits about Europa with an uncertain mu and J2, one day.
top        Asymmetric heavy tops with uncertain moments, weights and lever arms, to t = 20.
craft      Spacecraft with gravity gradient and J2 to J6, orbit and attitude in one, a day; without heyoka.
gradient, wheels
           Spacecraft of ``peers.py``: with the gravity gradient, a day; with three free wheels, six hours.

A row is a tolerance: microseconds a member (the smallest of the rounds, without making the Dataset; heyoka: states and
parameters in, states out, eight members at a time), the median and the largest error of a member against order 22 at
1e-17, of positions (relative), or of angular momenta.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

import polhode as ph
from figure import Figure
from polhode.ensembles import ensemble, repeated

try:
    import heyoka as hk
except ImportError:
    hk = None

BATCH = 8
TOLERANCES = (1e-9, 1e-10, 1e-11, 1e-12, 1e-13)
DAY, RADIUS, MU, J2 = 86400.0, 1560.8, 3200.9998, 1e-3
Row = tuple[str, Callable[[], Any]]


class Case:
    """Members of one kind: ``run(engine, rtol)`` gives a Dataset, ``state(ds)`` what errors are measured by."""

    def __init__(self, system: Any, members: dict[str, Any], t_end: float, measured: str) -> None:
        self.system, self.members, self.t_end, self.measured = system, members, t_end, measured
        self.start: dict[str, Any] = {}

    def run(self, engine: str, rtol: float, method: str = "taylor") -> Any:
        return ph.ensemble(
            self.system, method, members=self.members, t_end=self.t_end, steps=ph.Tolerance(rtol), engine=engine,
            threads=1, **self.start,
        )  # fmt: skip

    def rows(self) -> list[tuple[str, Callable[[], tuple[float, Any]]]]:
        """Name, and what runs: seconds and the final states."""

        def ours(engine: str, rtol: float) -> tuple[float, Any]:
            ds = self.run(engine, rtol)
            return ds.encoding["seconds"], ds[self.measured].values[:, -1]

        found: list[Any] = [
            (f"{engine} {rtol:.0e}", lambda engine=engine, rtol=rtol: ours(engine, rtol))
            for rtol in TOLERANCES for engine in ("threads", "lanes")
        ]  # fmt: skip
        return found + [(f"heyoka {tol:.0e}", one) for tol, one in self.heyoka(TOLERANCES)]

    def heyoka(self, tolerances: tuple[float, ...]) -> list[tuple[float, Any]]:
        """Runs of heyoka by tolerance."""
        return []

    def batches(
        self, equations: Any, states: Any, numbers: Any, measured: slice, tolerances: tuple[float, ...]
    ) -> list[tuple[float, Any]]:
        """Those of equations with a row of parameters for each member."""

        def made(tol: float) -> Callable[[], tuple[float, Any]]:
            given = {"pars": np.ones((numbers.shape[1], BATCH))} if numbers.shape[1] else {}
            ta = hk.taylor_adaptive_batch(
                equations, np.ones((states.shape[1], BATCH)), tol=tol, compact_mode=False, fast_math=True, **given
            )

            def run() -> tuple[float, Any]:
                out, begun = np.empty_like(states), time.process_time()
                for i in range(0, len(states), BATCH):
                    ta.set_time(0.0)
                    ta.state[:] = states[i : i + BATCH].T
                    if given:
                        ta.pars[:] = numbers[i : i + BATCH].T
                    ta.propagate_until(self.t_end)
                    out[i : i + BATCH] = ta.state.T
                return time.process_time() - begun, out[:, measured]

            return run

        return [(tol, made(tol)) for tol in tolerances] if hk else []


class Orbits(Case):
    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(3)
        r = np.array([0.0, 1664.029, 0.0]) + 50.0 * rng.normal(size=(count, 3)).clip(-2, 2)
        v = np.array([1.550663 * np.cos(0.9), 0.0, 1.550663 * np.sin(0.9)])
        v = v + 0.03 * rng.normal(size=(count, 3)).clip(-2, 2)
        mu, j2 = MU * (1.0 + 0.02 * rng.normal(size=count).clip(-2, 2)), J2 * rng.uniform(0.5, 1.5, count)
        system = ph.orbit(mu=MU, forces=[ph.forces.zonal(radius=RADIUS, J2=J2)])
        super().__init__(system, {"position": r, "velocity": v, "mu": mu, "forces.0.J2": j2}, DAY, "position")

    def heyoka(self, tolerances: tuple[float, ...]) -> list[tuple[float, Any]]:
        if hk is None:
            return []
        x, y, z, a, b, c = hk.make_vars("x", "y", "z", "u", "v", "w")
        square = x * x + y * y + z * z
        inverse, f = square**-1.5, hk.par[1] / square
        tilt, pull = 5.0 * (z * z) / square, -hk.par[0] * inverse
        k = pull * (1.0 + f * (1.0 - tilt))
        equations = [(x, a), (y, b), (z, c), (a, k * x), (b, k * y), (c, pull * (1.0 + f * (3.0 - tilt)) * z)]
        m = self.members
        numbers = np.stack([m["mu"], 1.5 * m["forces.0.J2"] * RADIUS**2], axis=1)
        return self.batches(equations, np.hstack([m["position"], m["velocity"]]), numbers, slice(0, 3), tolerances)


class Tops(Case):
    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(3)
        moments = np.array((1.0, 1.8, 2.5)) * rng.uniform(0.96, 1.04, (count, 3))
        centre = np.array((0.3, -0.2, 0.9)) * rng.uniform(0.8, 1.2, (count, 3))
        weight = 4.0 * rng.uniform(0.8, 1.2, count)
        w = np.array((2.0, 1.5, 3.0)) + 0.3 * rng.normal(size=(count, 3)).clip(-2, 2)
        q = rng.normal(size=(count, 4))
        q /= np.linalg.norm(q, axis=1)[:, None]
        system = ph.heavy_top((1.0, 1.8, 2.5), (0.3, -0.2, 0.9), weight=4.0)
        members = {
            "inertia": moments, "center_of_mass": centre, "weight": weight, "angular_velocity": w, "attitude": q,
        }  # fmt: skip
        super().__init__(system, members, 20.0, "angular_momentum")

    def heyoka(self, tolerances: tuple[float, ...]) -> list[tuple[float, Any]]:
        if hk is None:
            return []
        par = hk.par
        a, b, c, w, x, y, z = hk.make_vars("a", "b", "c", "w", "x", "y", "z")
        u = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))
        j, o = [par[4], par[5], par[6]], [par[4] * a, par[5] * b, par[6] * c]
        arm = [par[1], par[2], par[3]]
        torque = [-par[0] * (arm[k - 2] * u[k - 1] - arm[k - 1] * u[k - 2]) for k in range(3)]
        equations = [
            (a, (j[2] - j[1]) * (b * c) + torque[0]), (b, (j[0] - j[2]) * (a * c) + torque[1]),
            (c, (j[1] - j[0]) * (a * b) + torque[2]), (w, -0.5 * (x * o[0] + y * o[1] + z * o[2])),
            (x, 0.5 * (w * o[0] + y * o[2] - z * o[1])), (y, 0.5 * (w * o[1] + z * o[0] - x * o[2])),
            (z, 0.5 * (w * o[2] + x * o[1] - y * o[0])),
        ]  # fmt: skip
        m = self.members
        numbers = np.hstack([m["weight"][:, None], m["center_of_mass"], 1.0 / m["inertia"]])
        states = np.hstack([m["inertia"] * m["angular_velocity"], m["attitude"]])
        return self.batches(equations, states, numbers, slice(0, 3), tolerances)


class Craft(Case):
    def __init__(self, count: int) -> None:
        rng, earth = np.random.default_rng(3), ph.planets.EARTH
        system = ph.spacecraft(inertia=(90, 70, 60), mu=earth.mu, mass=120, forces=[ph.forces.zonal(**earth.zonal)])
        members = {
            "position": np.array([7e6, 0.0, 0.0]) + 5e4 * rng.normal(size=(count, 3)),
            "velocity": np.array([0.0, 5336.0, 5336.0]) + 30.0 * rng.normal(size=(count, 3)),
            "angular_velocity": np.array([0.0, 0.0, 2e-3]) + 1e-4 * rng.normal(size=(count, 3)),
        }
        super().__init__(system, members, DAY, "position")


class OfProblem(Case):
    """Members of a problem of ``peers.py`` at other places; ``at``: heyoka's slots of position and attitude."""

    def __init__(self, count: int, problem: Any, t_end: float, at: tuple[slice, slice]) -> None:
        self.problem, self.at = problem, at
        places = np.asarray(problem.initial["position"]) + 1e-2 * np.random.default_rng(3).normal(size=(count, 3))
        super().__init__(problem.system, {"position": places}, t_end, "attitude")
        self.start = {name: value for name, value in problem.initial.items() if name != "position"}

    def heyoka(self, tolerances: tuple[float, ...]) -> list[tuple[float, Any]]:
        if hk is None:
            return []
        equations, start = self.problem.forms["velocity"](float)
        places, turned = self.at
        states = np.tile(start, (len(self.members["position"]), 1))
        states[:, places] = self.members["position"]
        q = states[0, turned]  # of the principal frame; that of the user turns with it
        frame = ph.rotation.multiply(ph.rotation.conjugate(q), np.asarray(self.problem.initial["attitude"]))

        def users(run: Callable[[], tuple[float, Any]]) -> tuple[float, Any]:
            seconds, out = run()
            return seconds, ph.rotation.multiply(out, frame)

        runs = self.batches(equations, states, np.ones((len(states), 0)), turned, tolerances)
        return [(tol, lambda run=run: users(run)) for tol, run in runs]


def with_wheels(count: int) -> Case:
    """Three free wheels, six hours."""
    from peer_cases.equipped import UNIT, wheels

    return OfProblem(count, wheels(False), 21600.0 / UNIT, (slice(0, 3), slice(6, 10)))


def with_gradient(count: int) -> Case:
    """The spacecraft of ``peers.py`` with the gravity gradient, a day."""
    from peer_cases.bodies import craft

    problem = craft()
    return OfProblem(count, problem, problem.t_end, (slice(7, 10), slice(3, 7)))


CASES: dict[str, Callable[[int], Case]] = {
    "j2": Orbits, "top": Tops, "craft": Craft, "gradient": with_gradient, "wheels": with_wheels,
}  # fmt: skip


@contextmanager
def by_processor() -> Iterator[None]:
    """``encoding["seconds"]`` is the processor's time, in first calls and in those that take what these have left."""
    clock = time.process_time
    of_first = mock.patch.object(ensemble, "time", SimpleNamespace(perf_counter=clock))
    with of_first, mock.patch.object(repeated, "perf_counter", clock):
        yield


def beside_heyoka(
    name: str, case: Case, engine: str, errors: tuple[float, ...], rounds: int, tolerances: Any, whole: bool = False
) -> Iterator[Figure]:
    """Microseconds a member by the median error, interpolated, ours by an engine and heyoka's batches, in turns.

    Time is the processor's: of whole calls, or without what makes the Dataset. Each side runs twice in a row, for the
    first run after those of the other finds nothing in the caches, whichever tolerance it has.
    """
    truth = case.run("lanes", 1e-17, "taylor22")[case.measured].values[:, -1]

    def ours(rtol: float) -> tuple[float, Any]:
        begun = time.process_time()
        ds = case.run(engine, rtol)
        spent = time.process_time() - begun
        return spent if whole else ds.encoding["seconds"], ds[case.measured].values[:, -1]

    sides = [[lambda rtol=rtol: ours(rtol) for rtol in tolerances], [run for _, run in case.heyoka(tolerances)]]
    off = [[np.median(np.linalg.norm(run()[1] - truth, axis=1) / np.linalg.norm(truth, axis=1)) for run in side]
           for side in sides]  # fmt: skip
    best = [np.full(len(side), np.inf) for side in sides]
    with by_processor():
        for _ in range(rounds):
            for side, spent in zip(sides, best, strict=True):
                for k, run in enumerate(side):
                    spent[k] = min(spent[k], run()[0], run()[0])

    def at(side: int, error: float) -> float:
        found = sorted(zip(off[side], best[side], strict=True), reverse=True)
        if not found or found[-1][0] > error:
            return float("nan")
        x, y = np.log([e for e, _ in found]), np.log([s for _, s in found])
        return float(np.exp(np.interp(-np.log(error), -x, y))) / len(truth) * 1e6

    for error in errors:
        peer = at(1, error) if sides[1] else None
        yield Figure(f"{name} {error:.0e}", at(0, error), peer, (error, error))


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: a case, or ``gain``: of lanes over one by one."""
    rounds = 12 if quick else 40
    if words == ["gain"]:
        for name in ("j2", "top"):
            case = CASES[name](count := 200)
            with by_processor():
                spent = {engine: min(case.run(engine, 1e-10).encoding["seconds"] for _ in range(1 + rounds))
                         for engine in ("threads", "lanes")}  # fmt: skip
            yield Figure(f"gain {name}", spent["lanes"] / count * 1e6, spent["threads"] / count * 1e6,
                         note=f"{spent['threads'] / spent['lanes']:.1f} times one by one")  # fmt: skip
        return
    errors = {"j2": (1e-3, 1e-4, 1e-6, 1e-8), "top": (1e-4, 1e-6, 1e-9, 1e-12), "gradient": (1e-3, 1e-4, 1e-6, 1e-8),
              "wheels": (1e-5, 1e-7, 1e-9)}[words[0]]  # fmt: skip
    count = {"wheels": 320}.get(words[0], 64 if quick else 200)
    coarse = tuple(10.0 ** (-0.5 * k) for k in range(4 if words[0] != "top" else 6, 27, 2 if quick else 1))
    if words == ["wheels"]:
        rounds //= 4
    yield from beside_heyoka(words[0], CASES[words[0]](count), "lanes", errors, rounds, coarse, words == ["wheels"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=["j2", "top"], choices=[*CASES, []])
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    for name in asked.cases:
        case = CASES[name](asked.members)
        truth = case.run("lanes", 1e-17, "taylor22")[case.measured].values[:, -1]
        rows = case.rows()
        best = {label: run() for label, run in rows}
        for _ in range(asked.rounds):
            for label, run in rows:
                best[label] = min(best[label], run(), key=lambda one: one[0])
        print(f"{name}, {asked.members} members")
        for label, (spent, state) in best.items():
            error = np.linalg.norm(state - truth, axis=1) / np.linalg.norm(truth, axis=1)
            print(
                f"  {label:16s} {spent / asked.members * 1e6:9.2f} us a member  error {np.median(error):.1e}  "
                f"largest {error.max():.1e}"
            )


if __name__ == "__main__":
    main()
