"""Runs of polhode: a number of equal steps, or a tolerance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import polhode as ph
from peer_cases.runs import Problem, Run, finished, settle
from polhode.errors import InvalidInput
from polhode.kernel import layout as slots
from polhode.methods import method
from polhode.runs.integrator import Integrator

FINER = 1.25
"""Ratio of the numbers of steps of neighbouring runs; of tolerances, its sixth power."""
USELESS = 0.1
"""Errors above are not looked at."""
PATIENCE = 20.0
"""Runs that take so many times the slowest of the others are not of interest."""
CHOSEN = " (rtol)"
"""What follows the name of a method that is given tolerances; others take equal steps."""


def equal_steps(problem: Problem, name: str, n: int) -> Run:
    """A run in n equal steps.

    They end at n times the step as a double has it; what is measured is moved from there to the time asked for.
    """
    bench, y = Integrator(problem.system, method(name), problem.y), problem.y
    h, t_end = problem.t_end / n, problem.t_end
    late, mover = float(n * Fraction(h) - Fraction(t_end)), Integrator(problem.system, method("v2"), problem.y)

    def begin():
        bench.restart(y)

    def go():
        bench.prepare(0.0, h)
        if bench.march(0, n, n + 1, 0.0, h) != slots.OK:
            bench.y[:] = np.nan
        if bench.prepared.processed:
            bench.y[:] = bench.present(t_end, h)[1]

    def whole():
        return ph.integrate(problem.system, name, step=h, steps=n, every=n, **problem.initial)

    ready = ph.prepare(problem.system, name, step=h, steps=n, every=n)

    def end():
        mover.restart(bench.y[: mover.y.size])
        if late and np.isfinite(bench.y).all():
            mover.march(0, 1, 2, t_end, -late)
        return problem.ours(mover.y.copy())

    return Run(name, n, begin, go, end, whole, lambda: ready.run(problem.initial).states[-1])


def by_tolerance(problem: Problem, name: str, rtol: float) -> Run:
    """A run whose steps are chosen by a tolerance; the absolute one does not bind."""
    bench, y = Integrator(problem.system, method(name), problem.y, adaptive=True), problem.y
    none, rows = np.empty(0), np.empty((2, bench.y.size))
    times, sizes, counts = np.empty(2), np.empty(2), np.zeros(2, np.int64)

    def begin():
        bench.restart(y)
        bench.adapt(0.0, rtol, 1e-3 * rtol)

    def go():
        status = bench.march_adaptive(10**7, 0, problem.t_end, none, times, sizes, rows, counts)
        if status != slots.OK:
            bench.y[:] = np.nan

    def whole():
        return ph.integrate(
            problem.system, name, steps=ph.Tolerance(rtol), t_end=problem.t_end, t_eval=[problem.t_end],
            **problem.initial,
        )  # fmt: skip

    begin()
    ready = ph.prepare(problem.system, name, steps=ph.Tolerance(rtol), t_end=problem.t_end, every=10**9)
    return Run(name + CHOSEN, -np.log10(rtol), begin, go, lambda: problem.ours(bench.y.copy()), whole,
               lambda: ready.run(problem.initial).states[-1])  # fmt: skip


def ladder(problem: Problem, name: str, reference: Any, slowest: float) -> list[Run]:
    """Runs of a method in equal steps from an error of about 1 to its floor of round-off."""
    runs: list[Run] = []
    n = 4.0
    while n < 5e6 and not finished(runs):
        run = equal_steps(problem, name, round(n))
        run.measure(reference)
        run.clock()  # the first time everything is new
        if run.error < USELESS:
            runs.append(run)
        if run.seconds > PATIENCE * slowest:
            break
        n *= FINER if run.error < USELESS else 1.5
    return settle(runs)


def tolerances(problem: Problem, name: str, reference: Any, slowest: float) -> list[Run]:
    """Runs of a method by tolerance, from coarse to fine."""
    runs: list[Run] = []
    for k in range(3, 51 if name.startswith("taylor") else 43):  # below which no tolerance is taken
        run = by_tolerance(problem, name, 10.0 ** (-k / 3))
        run.measure(reference)
        run.clock()
        if run.error < USELESS:
            runs.append(run)
        if run.seconds > PATIENCE * slowest or finished(runs):
            break
    return settle(runs)


def all_methods(problem: Problem, names: Any, reference: Any, slowest: float) -> dict[str, list[Run]]:
    """Every method's runs; those that the system refuses are said and left out."""
    found: dict[str, list[Run]] = {}
    for name in names:
        make = tolerances if name.endswith(CHOSEN) else ladder
        try:
            runs = make(problem, name.removesuffix(CHOSEN), reference, slowest)
        except InvalidInput as refused:
            print(f"  without {name}: {refused}")
            continue
        if runs:
            found[name] = runs
    return found
