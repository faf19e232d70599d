"""Weakly perturbed random bodies, section 3.3.1: the data of figure 3.5 and the judges of its claims."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import ceil, sqrt
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria
from polhode_papers.celledoni2008.common import SEED, UNGUARDED, physical_moments
from polhode_papers.measure import named
from polhode_papers.study import Check, Finding, Reporter

EPSILONS = (1e-3, 1e-6)  # [celledoni2008, 3.3.1]
BASIC_STEPS = (8.0, 5.0, 4.0, 2.0, 1.75, 1.5, 1.25, 1.0, 0.5)
QUICK_STEPS = (8.0, 2.0, 1.0)
SPAN, COUNT, QUICK_COUNT = 20.0, 20, 4
SCHEMES = {"V2": (1, 2), "S4_6": (6, 4), "RKN4_6b": (6, 4), "S6_10": (10, 6), "RKN6_14a": (14, 6)}
"""Stages and order. With basic step h a scheme of s stages takes steps s h / 10, for equal load evaluations."""
EXACT, MR = "exact", "MR"
HIGH = ("S6_10", "RKN6_14a")
"""Schemes with a large number of stages."""
TIMED = 200
DRAWS = 10
"""Number of further draws of the random bodies for the largest step."""


def perturbed_bodies(seed: int, count: int) -> list[tuple[Any, tuple[float, float, float]]]:
    """Moments with I1 = 1, and momenta of kinetic energy 1 whose first two components are uniform in (0, 1)."""
    random = np.random.default_rng(seed)
    results = []
    for x, y, z in physical_moments(random, count):
        moments = np.array([1.0, y / x, z / x])
        a, b = random.random(2)
        results.append((moments, (a, b, sqrt(2.0 * moments[2] * (1.0 - a * a / 2.0 - b * b / (2.0 * moments[1]))))))
    return results


def method_of(scheme: str, flow: str) -> str:
    """Method string; MR is boosted to the order of the scheme."""
    order = SCHEMES[scheme][1]
    return f"{scheme.lower()}/{'exact' if flow == EXACT else 'mr' if order == 2 else f'mr{order}'}"


def mean_errors(
    bodies: Sequence[Any], eps: float, scheme: str, flow: str, basic: float, repeats: int = 5
) -> tuple[float, float, float, int]:
    """Mean largest and mean final relative energy error over bodies, median seconds and load evaluations of a run."""
    name, h = method_of(scheme, flow), SCHEMES[scheme][0] * basic / 10.0
    n = ceil(SPAN / h - 1e-9)
    results = []
    for moments, momentum in bodies:
        top = ph.heavy_top(moments, (0.0, 0.0, 1.0), eps)
        start = {"angular_momentum": momentum}
        runs = ph.prepare(top, name, step=h, steps=n, settings=UNGUARDED)
        energies = energy(moments, eps, runs.run(start).states)
        errors = np.abs(energies / energies[0] - 1.0)
        results.append((errors.max(), errors[-1], n * seconds_per_step(top, name, start, h, repeats)))
    worst, last, _ = np.mean(results, axis=0)
    return worst, last, float(np.median(results, axis=0)[2]), runs.dataset(start).load_evaluations


def energy(moments: Any, eps: float, states: Any) -> Any:
    """Kinetic energy plus eps u3, u = Q^T e3, of states (n, 13).  [celledoni2008, eq. 3.7]"""
    w, x, y, z = states[:, ph.runs.ATTITUDE].T
    m = states[:, ph.runs.ANGULAR_MOMENTUM]
    return (m**2 / moments).sum(axis=1) / 2.0 + eps * (w * w - x * x - y * y + z * z)


def seconds_per_step(top: ph.systems.System, name: str, start: Any, h: float, repeats: int) -> float:
    """Wall time (s) of a step without recording, best of some repeats; over many steps, to exclude the call itself."""
    y, best = ph.runs.start_state(top, **start), float("inf")
    take_steps = ph.checks.stepper(name, top, y)
    for _ in range(repeats):
        begun = time.perf_counter()
        take_steps(y, 0.0, h, TIMED)
        best = min(best, time.perf_counter() - begun)
    return best / TIMED


def perturbed(quick: bool, report_progress: Reporter) -> xr.Dataset:
    """Energy errors and cost of all schemes with both free rotations."""
    steps, count = (QUICK_STEPS, QUICK_COUNT) if quick else (BASIC_STEPS, COUNT)
    flows, labels = (EXACT, MR), list(SCHEMES)
    bodies = perturbed_bodies(SEED, count)
    result = np.zeros((4, len(EPSILONS), len(labels), len(flows), len(steps)))
    for i, scheme in enumerate(labels):
        for k, flow in enumerate(flows):
            report_progress(method_of(scheme, flow))
            for e, eps in enumerate(EPSILONS):
                for s, basic in enumerate(steps):
                    result[:, e, i, k, s] = mean_errors(bodies, eps, scheme, flow, basic)
    draws = range(2 if quick else DRAWS)
    again = np.zeros((len(labels), len(draws)))
    for d in draws:
        report_progress(f"other bodies, draw {d + 1}")
        others = perturbed_bodies(SEED + 1 + d, count)
        for i, scheme in enumerate(labels):
            again[i, d] = mean_errors(others, EPSILONS[0], scheme, EXACT, steps[0], 0)[0] / EPSILONS[0]
    dims = ("epsilon", "scheme", "flow", "basic_step")
    names = ("energy_error", "last_energy_error", "seconds")
    return xr.Dataset(
        {
            **{name: (dims, values) for name, values in zip(names, result, strict=False)},
            "evaluations": (dims[1:], result[3, 0].astype(int)),
            "error_over_epsilon": (("scheme", "draw"), again),
        },
        {"epsilon": list(EPSILONS), "scheme": labels, "flow": list(flows), "basic_step": list(steps),
         "draw": list(draws)},
        {
            "bodies": f"{count} random ones (seed {SEED}), I1 = 1, kinetic energy 1 at the start",
            "energy error": f"mean over the bodies of the largest |H/H0 - 1| over [0, {SPAN:g}]; last: at the end",
            "steps": "s/10 of the basic step for s stages; where they do not divide the span, one ends after it",
            "time": "wall time of the steps without recording, median of the bodies, best of 5, one thread",
        },
    )  # fmt: skip


# ------------------------------------------------------------------ judges
def same_loads(data: xr.Dataset) -> Finding:
    """Judge whether all schemes evaluate the loads equally often, except at the start and the end of the span."""
    counts = data.evaluations.sel(flow=EXACT)
    spread = (counts.max("scheme") / counts.min("scheme")).max()
    measured = {
        f"basic step {h:g}": ", ".join(str(criteria.count(n)) for n in counts.sel(basic_step=h)) for h in (8.0, 1.0)
    }
    return Finding(
        {"largest count over smallest": criteria.at_most(float(spread), 1.25)},
        {f"load evaluations, {', '.join(SCHEMES)}": measured},
    )


def below_epsilon(data: xr.Dataset) -> Finding:
    """Judge whether errors at the largest step are below epsilon with the exact rotation in every draw, not with MR."""
    first = data.energy_error.isel(basic_step=0) / data.epsilon
    exact, boosted = first.sel(flow=EXACT), first.sel(flow=MR)
    low, high = named(data.error_over_epsilon.min("draw")), named(data.error_over_epsilon.max("draw"))
    worst = {name: max(high[name], float(exact.sel(scheme=name).max())) for name in SCHEMES}
    parts = {f"{name}, exact: error/epsilon, all draws": criteria.at_most(worst[name], 1.0) for name in SCHEMES}
    parts["MR, every scheme: error/epsilon"] = criteria.at_least(float(boosted.min()), 1.0)
    words = "error/epsilon at the largest step"
    numbers: dict[str, Any] = {
        f"{words}, {flow}, {eps:g}": named(values.sel(epsilon=eps))
        for flow, values in ((EXACT, exact), (MR, boosted)) for eps in EPSILONS
    }  # fmt: skip
    draws = {name: f"{low[name]:.2g} to {high[name]:.2g}" for name in SCHEMES}
    return Finding(parts, numbers | {f"{words}, exact, {EPSILONS[0]:g}, {data.draw.size} other draws of bodies": draws})


def scales(data: xr.Dataset) -> Finding:
    """Judge whether the error scales with epsilon for the exact rotation, but decreases only with the step for MR."""
    first = data.energy_error.isel(basic_step=0)
    gained = named((first / data.energy_error.isel(basic_step=-1)).sel(flow=MR).min("epsilon"))
    shrinks = {flow: named((first.isel(epsilon=0) / first.isel(epsilon=1)).sel(flow=flow)) for flow in (EXACT, MR)}
    ratio = EPSILONS[0] / EPSILONS[1]
    in_proportion = criteria.every(shrinks[EXACT], criteria.ratio_within, ratio, 1.25)
    parts = {
        "exact: in proportion, error at 1e-3 over 1e-6": in_proportion,
        "MR: not at all": criteria.every(shrinks[MR], criteria.ratio_within, 1.0, 1.8),
        "MR: error at the largest over that at the smallest step": criteria.every(gained, criteria.at_least, 10.0),
    }
    numbers = {f"error at 0.001 / at 1e-06, largest step, {flow}": x for flow, x in shrinks.items()}
    return Finding(parts, numbers | {"error at the largest / at the smallest step, MR, least": gained})


def cost(data: xr.Dataset) -> Finding:
    """Judge whether the saving by MR decreases with the order to which it is boosted."""
    ratio = named((data.seconds.sel(flow=MR) / data.seconds.sel(flow=EXACT)).median(("epsilon", "basic_step")))
    rising = {f"order {order}": max(x for name, x in ratio.items() if SCHEMES[name][1] == order) for order in (2, 4, 6)}
    parts = {
        "time with MR over time with the exact rotation": criteria.rising(rising),
        "of order 2": criteria.at_most(ratio["V2"], 1.0),
        "boosted to order 6": criteria.every({name: ratio[name] for name in HIGH}, criteria.ratio_within, 1.0, 1.9),
    }
    return Finding(parts, {"time with MR / time with the exact rotation": ratio})


def leading_error(data: xr.Dataset) -> Finding:
    """Judge whether the error of boosted MR dominates that of the optimised scheme."""
    ratio = data.energy_error.sel(flow=MR) / data.energy_error.sel(flow=EXACT)
    lowest = named(ratio.min(("epsilon", "basic_step")))
    parts = {f"{name}: error with MR over exact, least": criteria.at_least(lowest[name], 100.0)
             for name in SCHEMES if name != "V2"}  # fmt: skip
    return Finding(parts, {"the same, V2": lowest["V2"]})


def of_interest(data: xr.Dataset) -> Finding:
    """Judge whether the exact rotation has the smaller error at equal time and at equal load evaluations."""
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for variable, words in (("seconds", "time"), ("evaluations", "load evaluations")):
        gains = {f"{k}, {e:g}": gain(data.sel(scheme=k, epsilon=e), variable) for k in SCHEMES for e in EPSILONS}
        parts[f"error with MR over exact at equal {words}"] = criteria.every(gains, criteria.at_least, 10.0)
        numbers[f"error with MR / with the exact rotation at equal {words}, least"] = gains
    return Finding(parts, numbers)


def gain(data: xr.Dataset, variable: str) -> float:
    """Smallest ratio of errors, MR over exact rotation, at equal cost.

    A run with MR that costs more than all exact ones is compared with the most expensive of them.
    """
    curves = []
    for flow in (EXACT, MR):
        line = data.sel(flow=flow)
        x, y = np.log(line[variable].values.astype(float)), np.log(line.energy_error.values)
        curves.append((np.sort(x), y[np.argsort(x)]))
    (x, y), (u, v) = curves
    return float(np.exp(v - np.interp(u, x, y))[~(u < x[0])].min())
