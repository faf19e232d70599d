"""The changing-chart algorithm of reference 3: its properties, and the paper's claims that use it as an example.

The paper mentions the algorithm of [benettin2001] three times (1, twice in 3.3.1) without any comparison, so the claims
on accuracy and cost are our own; ``charts.py`` is a reconstruction. Bodies are symmetric, as in that reference.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.celledoni2008 import charts
from polhode_papers.celledoni2008.claims import EACH, FORM, KEPT
from polhode_papers.celledoni2008.common import FLOWS, OURS, SEED, Bodies, turned
from polhode_papers.celledoni2008.perturbed import seconds_per_step
from polhode_papers.drawing import BLUE, GREEN, INK, VERMILION, Pictures
from polhode_papers.study import Claim, Figure, Finding, Reporter

I3, CENTRE, WEIGHT = 0.6, (0.8, 0.0, 0.6), 0.3
"""I = 1; the centre of mass is off the symmetry axis, so that no momentum of an angle is conserved."""
START: dict[str, Any] = {"attitude": ph.rotation.exp_quaternion((0.3, 0.1, 0.2)), "angular_momentum": (0.6, 1.0, 0.5)}
STEP = 0.1
LIMITS = (0.72, charts.LIMIT, 0.9)
COUNTS = (1, 10, 100, 1000)
FREE_COUNT, FREE_TIME = 100, 10.0
SPAN, ORDER_STEPS = 4.0, (20, 40, 80, 160, 320)
EPSILONS, STEPS = (1e-3, 1e-6), (0.2, 0.1, 0.05, 0.025)
PERTURBED_COUNT, QUICK_PERTURBED, PERTURBED_SPAN = 20, 4, 100.0
LONG, QUICK_LONG, LONG_STEP = 6, 5, 0.05
"""LONG and QUICK_LONG: decimal exponents of the number of steps."""
TIMED, REPEATS = 2_000, 15
MAPS = ("step in chart 0", "step in chart 1", "step that changes the chart", "change of the chart")
NEAR = 0.01
"""Largest change of a nearby Hamiltonian over epsilon at the smallest step."""
GROWN, BOUNDED = 10.0, 1.5
"""Growth factors of the largest energy error: required from 100 to 10,000 steps, and allowed from there to the end."""


def drawn(count: int) -> list[tuple[float, Any]]:
    """Random symmetric bodies: I3 for I = 1, and momenta of kinetic energy 1."""
    random = np.random.default_rng(SEED)
    results = []
    for _ in range(count):
        moment, m = random.uniform(0.2, 1.9), random.normal(size=3)
        results.append((moment, m / np.sqrt((m * m / (1.0, 1.0, moment)).sum() / 2.0)))
    return results


# ------------------------------------------------------------------ measurements
def free_errors(count: int) -> Any:
    """Infinity norm of the attitude error, relative errors of momentum length and energy, (3, count)."""
    bodies = drawn(count)
    states = Bodies(np.array([(1.0, 1.0, moment) for moment, _ in bodies]), np.array([m for _, m in bodies]))
    truth = ph.rotation.matrix_from_quaternion(turned(FLOWS[OURS], 1, FREE_TIME, states).attitude)
    result = np.zeros((3, count))
    for k, (moment, m) in enumerate(bodies):
        chart, x = charts.in_a_chart(np.eye(3), m)
        for _ in range(100):  # pieces short enough to change the chart between them
            if abs(np.cos(x[1])) > charts.LIMIT:
                chart, x = 1 - chart, charts.changed(chart, x)
            x = charts.free(FREE_TIME / 100, x, (1.0, moment))
        Q, end = charts.on_the_manifold(chart, x)
        inertia = np.array((1.0, 1.0, moment))
        result[:, k] = (
            np.abs(Q - truth[k]).sum(axis=1).max(), abs(end @ end / (m @ m) - 1.0),
            abs((end**2 / inertia).sum() / (m**2 / inertia).sum() - 1.0),
        )  # fmt: skip
    return result


def far(a: Any, b: Any) -> float:
    """Largest difference of two states (matrix, momentum)."""
    return float(max(np.abs(x - y).max() for x, y in zip(a, b, strict=True)))


def state_of(y: Any) -> tuple[Any, Any]:
    """Rotation matrix and momentum of a state of the library."""
    return ph.rotation.matrix_from_quaternion(y[ph.runs.ATTITUDE]), y[ph.runs.ANGULAR_MOMENTUM]


def canonical_defect(step: Callable[[Any], Any], x: Any) -> float:
    """Largest entry of M^T J M - J, M the Jacobian of a map in angles and momenta.

    By central differences of order 8 with two sizes, of which the better counts; accurate to about 1e-13.
    """
    J = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
    results = []
    for size in (0.02, 0.005):
        M = np.zeros((6, 6))
        for i in range(6):
            for n, weight in enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280)):
                shift = np.eye(6)[i] * size * (n + 1)
                difference = np.array(step(tuple(x + shift))) - step(tuple(x - shift))
                difference[:3] -= 2.0 * np.pi * np.round(difference[:3] / (2.0 * np.pi))
                M[:, i] += weight / size * difference
        results.append(float(np.abs(M.T @ J @ M - J).max()))
    return min(results)


def led_to(goal: int, limit: float, chart: int, body: Any, x: Any) -> Any:
    """One leapfrog step, with its result in the coordinates of chart ``goal``."""
    end, y, _ = charts.leapfrog(limit, chart, STEP, x, body)
    return y if end == goal else charts.changed(end, y)


def symplectic(body: Any, start: Any) -> tuple[Any, float, float]:
    """Symplectic defects of MAPS; largest differences of state and of energy between the charts."""
    run = charts.Run(start, body)
    positions: dict[str, Any] = {}
    gap, energy = 0.0, 0.0
    for _ in range(400):
        before = run.chart, tuple(map(float, run.x))
        run.take_steps(1, STEP)
        c = abs(np.cos(before[1][1]))
        other = 1 - before[0], charts.changed(*before)
        if 0.2 < c < charts.LIMIT:
            gap = max(gap, far(charts.on_the_manifold(*before), charts.on_the_manifold(*other)))
            H = [sum(charts.energies(*position, body)) for position in (before, other)]
            energy = max(energy, abs(H[1] - H[0]))
        if c < 0.5:
            positions.setdefault(f"step in chart {before[0]}", before)
        if run.chart != before[0]:
            positions.setdefault("step that changes the chart", before)
        if max(c, abs(np.cos(other[1][1]))) < 0.6:
            positions.setdefault("change of the chart", before)
    defects = []
    for name in MAPS:
        chart, x = positions[name]
        goal = 1 - chart if "change" in name else chart
        map_ = partial(charts.changed, chart) if name == MAPS[3] else partial(led_to, goal, charts.LIMIT, chart, body)
        defects.append(canonical_defect(map_, np.array(x)))
    return np.array(defects), gap, energy


def long_runs(body: Any, start: Any, powers: int, report_progress: Reporter) -> tuple[Any, Any, Any]:
    """Numbers of steps, and the largest energy errors and numbers of chart changes up to them, (rule, number)."""
    counts = np.unique(np.round(10.0 ** np.arange(1.0, powers + 0.1, 0.25)).astype(int))
    worst, changes = np.zeros((2, len(charts.RULES), len(counts)))
    for i, rule in enumerate(charts.RULES):
        report_progress(rule)
        run, done = charts.Run(start, body, rule), 0
        for k, n in enumerate(counts):
            if k and not np.isfinite(worst[i, k - 1]):
                worst[i, k], changes[i, k] = np.inf, run.changes
                continue
            run.take_steps(n - done, LONG_STEP)
            worst[i, k], changes[i, k], done = run.worst, run.changes, n
    return counts, worst, changes


def seconds(body: Any, start: Any) -> tuple[float, float]:
    """Time (s) of a step in charts, and of the same map by the library, without recording."""
    top = ph.heavy_top((1.0, 1.0, I3), CENTRE, WEIGHT)
    charts.Run(start, body).take_steps(1, STEP, charts.hurry)  # compile
    best = other = np.inf
    for _ in range(REPEATS):  # alternating, so that other work on the machine affects both
        run, begun = charts.Run(start, body), time.perf_counter()
        run.take_steps(TIMED, STEP, charts.hurry)
        best = min(best, (time.perf_counter() - begun) / TIMED)
        other = min(other, seconds_per_step(top, "v2/exact", START, STEP, REPEATS))
    return float(best), other


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    top, body = ph.heavy_top((1.0, 1.0, I3), CENTRE, WEIGHT), np.array((1.0, I3, WEIGHT, *CENTRE))
    y = ph.runs.start_state(top, **START)
    start = charts.in_a_chart(*state_of(y))
    report_progress("free rotations")
    free = free_errors(FREE_COUNT // 10 if quick else FREE_COUNT)
    report_progress("the same map")
    take_steps = ph.checks.stepper("v2/exact", top, y)
    apart, changes = np.zeros((2, len(LIMITS), len(COUNTS)))
    for k, n in enumerate(COUNTS):
        truth = state_of(take_steps(y, 0.0, STEP, n))
        for i, limit in enumerate(LIMITS):
            run = charts.Run(start, body, limit=limit).take_steps(n, STEP)
            apart[i, k], changes[i, k] = far(run.state, truth), run.changes
    defects, gap, energy = symplectic(body, start)
    back = far(charts.Run(start, body).take_steps(20, STEP).take_steps(20, -STEP).state, state_of(y))
    end = state_of(ph.checks.exact_state(top, y, 0.0, SPAN))
    errors = [far(charts.Run(start, body).take_steps(n, SPAN / n).state, end) for n in ORDER_STEPS]
    report_progress("perturbed bodies")
    bodies = drawn(QUICK_PERTURBED if quick else PERTURBED_COUNT)
    worst = np.zeros((2, len(EPSILONS), len(STEPS)))
    for e, eps in enumerate(EPSILONS):
        for k, h in enumerate(STEPS):
            runs = [
                charts.Run(charts.in_a_chart(np.eye(3), m), (1.0, moment, eps, *CENTRE)).take_steps(
                    round(PERTURBED_SPAN / h), h
                )
                for moment, m in bodies
            ]
            worst[:, e, k] = np.mean([(run.worst, run.worst_doubled) for run in runs], axis=0)
    counts, grown, often = long_runs(body, start, QUICK_LONG if quick else LONG, report_progress)
    report_progress("times")
    spent = seconds(body, start)
    return xr.Dataset(
        {
            "free_error": (("quantity", "body"), free),
            "apart": (("limit", "count"), apart), "changes": (("limit", "count"), changes.astype(int)),
            "defect": ("of", defects),
            "kept": ("what", [gap, energy, back]),
            "error": ("step", errors),
            "energy_error": (("epsilon", "h"), worst[0]), "doubled_error": (("epsilon", "h"), worst[1]),
            "long_error": (("rule", "steps"), grown), "long_changes": (("rule", "steps"), often.astype(int)),
            "seconds": ("program", list(spent)),
        },
        {"quantity": ["attitude", "momentum_length", "energy"], "limit": list(LIMITS), "count": list(COUNTS),
         "of": list(MAPS), "what": ["state over a change", "energy over a change", "there and back"],
         "step": [SPAN / n for n in ORDER_STEPS], "epsilon": list(EPSILONS), "h": list(STEPS),
         "rule": list(charts.RULES), "steps": counts, "program": ["charts", "polhode"]},
        {
            "body": f"I = 1, I3 = {I3:g}, weight {WEIGHT:g} at {CENTRE}, which is off the axis",
            "free rotations": f"{free.shape[1]} random symmetric bodies, time {FREE_TIME:g}, against polhode's own",
            "perturbed bodies": f"{len(bodies)} random symmetric ones (seed {SEED}), kinetic energy 1, attitude 1, "
            f"where chart 0 is singular; mean of the largest |H - H0| over {PERTURBED_SPAN:g} units of time",
            "long run": f"step {LONG_STEP:g}; midpoint: the implicit midpoint rule in the coordinates of each chart",
            "midpoint is lost after": f"{lost_after(grown[1], counts)} steps",
        },
    )  # fmt: skip


def lost_after(errors: Any, counts: Any) -> str:
    """The number of steps up to which the energy of a run is finite, in words."""
    good = np.isfinite(errors)
    return str(int(counts[good][-1])) if not good.all() else "more than " + str(int(counts[-1]))


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, middle, right),) = drawing.canvas(1, 3, width=13.0, height=4.2)
    left.loglog(data["count"], data.apart.sel(limit=charts.LIMIT), "o-", color=BLUE)
    left.set(xlabel="steps", ylabel="difference of the states", title="charts against v2/exact")
    for name, words, colour in (("doubled_error", r"H + \varepsilon V", VERMILION), ("energy_error", "H", BLUE)):
        for eps, marker, size, fill in zip(EPSILONS, "so", (4.0, 9.0), (colour, "none"), strict=True):
            middle.loglog(data.h, data[name].sel(epsilon=eps) / eps, marker + "-", color=colour, markersize=size,
                          markerfacecolor=fill, label=rf"${words}$, $\varepsilon$ = {eps:g}")  # fmt: skip
    middle.set(xlabel="step", ylabel=r"largest change over $\varepsilon$", title="the nearby Hamiltonian")
    middle.set_xticks(data.h.values, [f"{h:g}" for h in data.h.values])
    middle.minorticks_off()
    for rule, colour, marker in zip(data.rule.values, (GREEN, INK), "^D", strict=True):
        line = data.long_error.sel(rule=rule)
        finite = np.isfinite(line)
        words = str(rule) if finite.all() else f"{rule}, lost after the last mark"
        right.loglog(data.steps, line.where(finite), marker + "-", color=colour, markersize=4.0, label=words)
    right.set(xlabel="steps", ylabel="largest $|H - H_0|$", title="charts changed for long")
    middle.legend(edgecolor="none")
    right.legend(edgecolor="none")
    return {"changing_chart": picture}


# ------------------------------------------------------------------ judges
def free(data: xr.Dataset) -> Finding:
    largest = {str(name): float(data.free_error.sel(quantity=name).max()) for name in data.quantity.values}
    return Finding({f"{name}: largest error": criteria.at_most(x, EACH) for name, x in largest.items()},
                   {"median": {str(name): float(data.free_error.sel(quantity=name).median())
                               for name in data.quantity.values}})  # fmt: skip


def one_map(data: xr.Dataset) -> Finding:
    """Judge whether the result is independent of the charts and of where they are changed."""
    last, limits = data.isel(count=-1), {f"{x:g}": x for x in data.limit.values}
    apart = {name: float(last.apart.sel(limit=x)) for name, x in limits.items()}
    changes = {name: criteria.count(last.changes.sel(limit=x)) for name, x in limits.items()}
    words = ("state over a change", "energy over a change")
    parts = {name: criteria.at_most(float(data.kept.sel(what=name)), EACH) for name in words}
    parts[f"{int(last['count'])} steps: difference from v2/exact"] = criteria.every(apart, criteria.at_most, KEPT)
    parts["changes of the chart meanwhile"] = criteria.at_least(float(last.changes.min()), 10)
    return Finding(parts, {"changes, by limit": changes})


def form(data: xr.Dataset) -> Finding:
    """Judge symplecticity within a chart and across, reversibility and order 2."""
    parts = {f"{name}: defect": criteria.at_most(float(data.defect.sel(of=name)), FORM) for name in data.of.values}
    parts["20 steps there and back"] = criteria.at_most(float(data.kept.sel(what="there and back")), EACH)
    parts["order"] = criteria.order_within(data.step.values, data.error.values, 2.0, 0.1)
    return Finding(parts, {"error at the smallest step": float(data.error.isel(step=-1))})


def nearby(data: xr.Dataset) -> Finding:
    """Judge whether H + eps V, or H itself, is conserved up to eps O(h^2)."""
    last = f"h = {float(data.h[-1]):g}"

    def parts(name: str, words: str) -> dict[str, Any]:
        checks: dict[str, Any] = {}
        for eps in data.epsilon.values:
            line, case = data[name].sel(epsilon=eps).values, f"{words}, epsilon {eps:g}"
            checks[f"{case}: power of the step"] = criteria.order_within(data.h.values, line, 2.0, 0.1)
            checks[f"{case}: largest change over epsilon, {last}"] = criteria.at_most(float(line[-1] / eps), NEAR)
        return checks

    shrinks = {words: float((data[name][:, 0] / data[name][:, -1]).mean())
               for name, words in (("doubled_error", "H + epsilon V"), ("energy_error", "H"))}  # fmt: skip
    return Finding(parts("doubled_error", "H + epsilon V"),
                   {f"largest change at the largest step over that with {last}": shrinks},
                   parts("energy_error", "H"))  # fmt: skip


def below(data: xr.Dataset) -> Finding:
    largest = (data.energy_error / data.epsilon).max("h")
    over = {f"{eps:g}": float(largest.sel(epsilon=eps)) for eps in data.epsilon.values}
    ratios = (data.energy_error.isel(epsilon=0) / data.energy_error.isel(epsilon=1)).values
    shrinks = {f"h = {h:g}": float(x) for h, x in zip(data.h.values, ratios, strict=True)}
    expected = EPSILONS[0] / EPSILONS[1]
    parts = {
        "error over epsilon, every step": criteria.every(over, criteria.at_most, 1.0),
        "in proportion, error at 1e-3 over 1e-6": criteria.every(shrinks, criteria.ratio_within, expected, 1.25),
    }
    return Finding(parts, {"error over epsilon at the smallest step": float((data.energy_error / data.epsilon)[0, -1])})


def up_to(data: xr.Dataset, n: int, rule: str) -> float:
    """Largest energy error within about n steps."""
    return float(data.long_error.sel(rule=rule).sel(steps=n, method="nearest"))


def conserved(data: xr.Dataset) -> Finding:
    """Judge whether the energy error does not grow after 10,000 steps."""
    n = int(data.steps[-1])
    late, end = (up_to(data, k, "leapfrog") for k in (10_000, n))
    parts = {
        f"error after {n} steps over that after 10,000": criteria.at_most(end / late, BOUNDED),
        "changes of the chart": criteria.at_least(float(data.long_changes.sel(rule="leapfrog")[-1]), 1000),
    }
    return Finding(parts, {"largest energy error": {"10,000 steps": late, f"{n} steps": end}})


def not_enough(data: xr.Dataset) -> Finding:
    """Judge the control, whose step is a different map in each chart."""
    early, late, end = (up_to(data, k, "midpoint") for k in (100, 10_000, int(data.steps[-1])))
    return Finding(
        {"midpoint: error after 10,000 steps over that after 100": criteria.at_least(late / early, GROWN)},
        {"largest energy error": {"100 steps": early, "10,000 steps": late, f"{int(data.steps[-1])} steps": end},
         "changes of the chart": criteria.count(data.long_changes.sel(rule="midpoint")[-1])},
    )  # fmt: skip


def dearer(data: xr.Dataset) -> Finding:
    ns = {str(name): 1e9 * float(data.seconds.sel(program=name)) for name in data.program.values}
    ratio = ns["charts"] / ns["polhode"]
    return Finding({"time in charts over that of v2/exact": criteria.at_least(ratio, 1.0)}, {"ns a step": ns})


FIGURE = Figure("changing_chart", "the changing-chart algorithm of reference 3", compute, draw, (
    Claim("If two moments are equal the free rotation needs trigonometric functions only, and splittings are made with "
          "it, as in reference 3", "1", free),
    Claim("Reference 3: the algorithm is one map of the manifold, whatever charts it is computed in", "3.3.1", one_map),
    Claim("Reference 3: it is symplectic in every chart and across; leapfrog is reversible, of order 2", "3.3.1", form),
    Claim("Where the rotation is exact, the nearby Hamiltonian is H + epsilon V + O(epsilon h^p)", "3.3.1", nearby),
    Claim("With small steps the error is smaller than the perturbation, see reference 3", "3.3.1", below),
    Claim("Reference 3: it has an interpolating Hamiltonian, so energy is conserved for long", "3.3.1", conserved),
    Claim("Own: a rule that is symplectic in the coordinates of each chart, but another map in each, loses the energy",
          "-", not_enough),
    Claim("Own: charts cost more than the same map with quaternions", "-", dearer, timed=True),
))  # fmt: skip
