"""Runs of heyoka, in all its variants, and of SciPy; and the reference, by heyoka in quadruple precision."""

from __future__ import annotations

from typing import Any

import heyoka as hk
import numpy as np

from peer_cases.runs import Problem, Run, at, distance, front, least, settle

VARIANTS: dict[str, dict[str, bool]] = {
    "": {},
    ", accurate": {"high_accuracy": True},
    ", fast math": {"fast_math": True},
    ", accurate, fast math": {"high_accuracy": True, "fast_math": True},
    ", compact": {"compact_mode": True},
    ", compact, fast math": {"compact_mode": True, "fast_math": True},
}
FINE = tuple(10.0 ** (-k / 3) for k in range(4, 52))
HALVES = tuple(10.0 ** (-k / 2) for k in range(4, 34))
"""The fine grid where several forms are shown."""
QUICK = tuple(10.0**-k for k in range(2, 17))
QUADRUPLE = hk.real128


class Rival:
    """heyoka on a problem in one of its forms and variants."""

    def __init__(self, problem: Problem, form: str, tolerance: float, number: Any = float, **options: bool) -> None:
        equations, start = problem.forms[form](number)
        self.start = [number(float(x)) if number is float else x for x in start]
        options = {"compact_mode": False} | options
        self.number, self.t_end = number, number(problem.t_end)
        self.integrator = hk.taylor_adaptive(
            equations, list(self.start), tol=number(tolerance), fp_type=number, **options
        )
        self.kept = self.integrator.state.copy()
        self.end = lambda: problem.theirs(self.integrator.state.copy(), form)

    def begin(self) -> None:
        self.integrator.time = self.number(0)
        self.integrator.state[:] = self.kept

    def go(self) -> None:
        self.integrator.propagate_until(self.t_end)


def with_heyoka(problem: Problem, form: str, variant: str, tolerance: float) -> Run:
    """A run of heyoka."""
    one = Rival(problem, form, tolerance, **VARIANTS[variant])
    return Run(form + variant, -np.log10(tolerance), one.begin, one.go, one.end)


def reference_of(problem: Problem) -> tuple[Any, float]:
    """The end in quadruple precision, and how far heyoka's other form, or a looser tolerance, is from it."""
    ends = []
    for form, tolerance in zip([*problem.forms, next(iter(problem.forms))][:2], (1e-29, 1e-27), strict=True):
        one = Rival(problem, form, tolerance, QUADRUPLE, compact_mode=True)
        one.go()
        ends.append({k: np.array([[float(x) for x in row] for row in np.atleast_2d(v)]) for k, v in one.end().items()})
    ends = [{k: v[0] if k == "attitude" else v for k, v in end.items()} for end in ends]
    return ends[0], distance(ends[1], ends[0])


def all_variants(problem: Problem, reference: Any, quick: bool = False) -> dict[str, list[Run]]:
    """Runs of the best variants on a fine grid of tolerances: those that win somewhere on a coarse one."""
    names = [name for name, options in VARIANTS.items() if options.get("compact_mode") or not problem.compact]
    variants = [(form, variant) for form in problem.forms for variant in names]
    if quick:
        plain = [pair for pair in variants if "accurate" not in pair[1] and ("compact" in pair[1]) == problem.compact]
        fast = [pair for pair in plain if "fast" in pair[1]]
        variants = fast if len(problem.coarse) < 4 else plain  # some take long to compile

    def runs_of(form, variant, tolerances):
        found = []
        for tolerance in tolerances:
            run = with_heyoka(problem, form, variant, tolerance)
            run.measure(reference)
            for _ in range(3):
                run.clock()
            found.append(run)
        return settle(run for run in found if run.error < 0.1)

    coarse = {form + variant: runs_of(form, variant, QUICK if quick else problem.coarse) for form, variant in variants}
    if quick:
        return coarse
    curves = {name: front(runs) for name, runs in coarse.items()}
    score: dict[str, float] = {}
    for target in problem.targets:
        best = least({name: at(curve, target) for name, curve in curves.items()})[1]
        for name, curve in curves.items():
            ratio = at(curve, target) / best
            if ratio == ratio:
                score[name] = min(score.get(name, np.inf), ratio)
    ranks = sorted(score, key=lambda name: score[name])
    chosen = set(ranks[: problem.most])
    chosen |= {next(name for name in ranks if name.split(",")[0] == form) for form in problem.forms if problem.apart}
    chosen.add(min(coarse, key=lambda name: min((run.certain for run in coarse[name]), default=np.inf)))
    fine = HALVES if problem.apart else FINE
    return {form + variant: runs_of(form, variant, fine) for form, variant in variants if form + variant in chosen}


def columns(problem: Problem, kinds: dict[str, list[Run]]) -> dict[str, dict[str, list[Run]]]:
    """The variants in one column of the table, or a column for each form."""
    if not problem.apart:
        return {"heyoka": kinds}
    return {
        f"heyoka {form}": {name: runs for name, runs in kinds.items() if name.split(",")[0] == form}
        for form in problem.forms
    }


def with_scipy(problem: Problem, reference: Any) -> dict[str, list[Run]]:
    """Runs of DOP853 of SciPy with the right-hand side of the problem compiled by numba."""
    from scipy.integrate import DOP853, solve_ivp

    assert problem.scipy is not None
    rates, start = problem.scipy
    rates(0.0, start)
    runs, form = [], next(iter(problem.forms))
    for k in range(6, 41):
        box: dict[str, Any] = {}

        def go(rtol=10.0 ** (-k / 3), box=box):
            box["y"] = solve_ivp(rates, (0.0, problem.t_end), start, method=DOP853, rtol=rtol, atol=1e-3 * rtol).y[
                :, -1
            ]

        run = Run("DOP853, numba", k / 3, lambda: None, go, lambda box=box: problem.theirs(box["y"], form))
        run.measure(reference)
        runs.append(run)
    return {"DOP853, numba": settle(runs)}
