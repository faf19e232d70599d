"""Which method is cheapest for which problem and accuracy: the measurement behind ``System.recommended``.

    python benchmarks/which_method.py [free_body heavy_top fast_top satellite soft_wall particle steered controlled]

For each problem and method the number of steps grows by a fifth until the error (attitude angle or relative position at
the end of the run) stays below 1e-4, 1e-7 and 1e-10. Printed are the time of the compiled loop relative to the cheapest
method, best of many repeats; the load evaluations (those of a commutator load included); and the largest relative
energy error of that run. The reference is mkrk:gauss10 with far smaller steps, checked against mkrk:cv8.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from math import sin
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure, in_turns
from polhode.kernel import layout as L
from polhode.methods import method
from polhode.runs.initial_state import start_state
from polhode.runs.integrate import integrate
from polhode.runs.integrator import Integrator
from polhode.systems import problem

METHODS = (
    "exact", "v2", "s6_10", "rkn4_6b", "rkn6_7", "rkn6_14a", "rkn8_17", "sp10", "fg6_5", "pmlf6", "aba10_6_4", "saba4",
    "taylor8", "taylor12", "taylor16", "imid", "trapm", "liemid_ea",
    "mkrk:rk4", "mkrk:dp5", "mkrk:cv8", "mkrk:gauss4", "mkrk:gauss6", "mkrk:gauss8",
)  # fmt: skip
TARGETS = (1e-4, 1e-7, 1e-10)
MOST_STEPS = 400_000
FINER = 1.2
REPEATS = 7


def steering(t, q, omega, parameters):
    """A torque towards an attitude that moves."""
    return (-q[1] + 0.1 * sin(t), -q[2], -q[3])


def control(t, q, omega, parameters):
    """The same with damping."""
    return (-0.2 * omega[0] - q[1] + 0.1 * sin(t), -0.2 * omega[1] - q[2], -0.2 * omega[2] - q[3])


def ready(name):
    """System and start of a ready-made problem."""
    made = problem(name)
    start = dict(made.initial)
    start["attitude"] = ph.rotation.exp_quaternion(start.pop("rotation_vector", (0.0, 0.0, 0.0)))
    return made.build(), start


PROBLEMS = {
    "free_body": (*ready("krysl_free_body"), 50.0),
    "heavy_top": (*ready("asymmetric_top"), 10.0),
    "fast_top": (*ready("krysl_fast_top"), 4.0),
    "satellite": (*ready("celledoni_satellite"), 20.0),
    "soft_wall": (ph.systems.soft_wall(), {"angular_momentum": (2.0, 2.0, 2.0)}, 20.0),
    "particle": (ph.particle(stiffness=(1.0, 2.0, 3.0)), {"position": (1, 0, 0.5), "velocity": (0, 1, 0)}, 50.0),
    "steered": (ph.rigid_body((1.0, 1.5, 2.2), torque=steering), {"angular_velocity": (0.5, 1.0, 0.3)}, 20.0),
    "controlled": (ph.rigid_body((1.0, 1.5, 2.2), torque=control), {"angular_velocity": (0.5, 1.0, 0.3)}, 20.0),
}


def error(y, reference, moves):
    """Attitude angle, or relative distance, of two states."""
    if moves:
        return float(np.linalg.norm(y[:3] - reference[:3]) / np.linalg.norm(reference[:3]))
    return float(ph.rotation.angle_between(y[6:10], reference[6:10]))


class Runs:
    """Runs of one method on one problem."""

    def __init__(self, name, system, start, t_end):
        self.y, self.t_end, self.system = start_state(system, **start), t_end, system
        self.integrator = Integrator(system, method(name), self.y)

    def end(self, n):
        """Seconds in the compiled loop, load evaluations, and the state at the end (None where a step fails)."""
        integrator, h = self.integrator, self.t_end / n
        integrator.restart(self.y)
        counted = integrator.evaluations
        begun = time.perf_counter()
        status = integrator.prepare(0.0, h)
        status = status if status != L.OK else integrator.march(0, n, n + 1, 0.0, h)
        seconds = time.perf_counter() - begun
        status, y = (status, None) if status != L.OK else integrator.present(self.t_end, h)
        return seconds, integrator.evaluations - counted, y if status == L.OK else None

    def found(self, reference, name, start):
        """For each target: time, load evaluations, energy error; None where it is out of reach."""
        moves, row, n = self.system.name == "particle", [], 8
        for target in TARGETS:
            while n <= MOST_STEPS:
                errors = [
                    np.inf if y is None else error(y, reference, moves)
                    for _, _, y in (self.end(n), self.end(round(n * FINER)))
                ]
                if max(errors) < target:
                    break
                n = round(n * FINER)
            if n > MOST_STEPS:
                row.append(None)
                continue
            best = min(self.end(n)[0] for _ in range(REPEATS))
            record = integrate(
                self.system, name, step=self.t_end / n, t_end=self.t_end, settings={"guard": False}, **start
            )
            row.append((best, self.end(n)[1], float(abs(record.energy_error).max())))
        return row


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: what ``step=`` without a method takes for an error of 1e-9 over what ``taylor`` takes."""
    kinds: dict[str, tuple[Any, Any, float]] = {
        "J2 orbit": (
            ph.orbit(3200.9998, forces=[ph.forces.zonal(J2=1e-3, radius=1560.8)]),
            {"position": (0.0, 1664.029, 0.0), "velocity": (0.9639, 0.0, 1.2147)}, 86400.0,
        ),
        "top": PROBLEMS["heavy_top"],
    }  # fmt: skip
    for kind, (system, start, t_end) in kinds.items():
        name = "position" if kind == "J2 orbit" else "attitude"
        words_of = {"t_end": t_end, "every": 10**9, **start}
        truth = ph.integrate(system, "taylor", steps=ph.Tolerance(1e-15), **words_of)[name].values[-1]
        calls, errors, chosen = {}, [], ""
        for method_of in (None, "taylor"):
            n, k, off = 16.0, 6.0, np.inf
            while off >= 1e-9 and n < 1e6 and k < 15.0:
                how: dict[str, Any] = {"steps": ph.Tolerance(10.0**-k)} if method_of else {"step": t_end / round(n)}
                ds = ph.integrate(system, method_of, settings={"guard": False}, **how, **words_of)
                end = ds[name].values[-1]
                off = float(np.linalg.norm(end - truth) / np.linalg.norm(truth))
                if name == "attitude":
                    off = float(ph.rotation.angle_between(end, truth))
                n, k = n * FINER, k + 0.25
            chosen = chosen or ds.attrs["method"]
            errors.append(off)
            prepared = ph.prepare(system, ds.attrs["method"], t_end=t_end, every=10**9, **how)
            calls[method_of or "ours"] = lambda run=prepared.run, start=start: run(start)
        spent = in_turns(calls, 30 if quick else 200)
        yield Figure(f"default, {kind}", spent["ours"] / spent["taylor"], errors=tuple(errors),
                     note=f"{chosen} {1e6 * spent['ours']:.0f} us, taylor {1e6 * spent['taylor']:.0f} us")  # fmt: skip


def main() -> None:
    """Print the tables."""
    for name in sys.argv[1:] or PROBLEMS:
        system, start, t_end = PROBLEMS[name]
        reference = Runs("mkrk:gauss10", system, start, t_end).end(8192)[2]
        check = error(Runs("mkrk:cv8", system, start, t_end).end(16384)[2], reference, name == "particle")
        print(f"\n{name}, to t = {t_end:g} (references agree to {check:.1e}); recommended: {system.recommended}")
        able = [text for text in METHODS if system.series is not None or not text.startswith("taylor")]
        found = {text: Runs(text, system, start, t_end).found(reference, text, start) for text in able}
        print(f"{'method':<12}" + "".join(f"{f'error {target:g}':>34}" for target in TARGETS))
        cheapest = [min((r[k][0] for r in found.values() if r[k]), default=1.0) for k in range(len(TARGETS))]
        for text, row in found.items():
            cells = [
                f"{r[0] / c:>8.1f}x {r[1]:>8d} loads (dH {r[2]:.0e})" if r else "-"
                for r, c in zip(row, cheapest, strict=True)
            ]
            print(f"{text:<12}" + "".join(f"{cell:>34}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
