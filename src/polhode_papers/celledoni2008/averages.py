"""Free rotation of random bodies, section 3.2: the data of figure 3.1 and the judges of its claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria
from polhode_papers.celledoni2008 import common, theta
from polhode_papers.measure import named
from polhode_papers.study import Finding, Reporter

COUNTS = tuple(int(n) for n in np.round(np.geomspace(25, 1000, 20)))  # numbers of steps; step sizes from 0.4 to 0.01
QUICK_COUNTS = (25, 50, 200, 1000)
BODIES, QUICK_BODIES, PASSES, QUICK_PASSES = 100, 40, 5, 3
CLOSED = (common.MATRIX, common.QUATERNION)
WAYS = ("none", "each step")
DRAWN = {"any": common.any_moments, "physical": common.physical_moments}
MANY, QUICK_MANY = 10_000, 1000
SHARE_STEPS = (0.4, 0.2, 0.1, 0.04)
CONVERGED = (75, 100)  # [celledoni2008, fig. 3.1]


def averages(quick: bool, report_progress: Reporter) -> xr.Dataset:
    """Mean log error, mean time of a run (s) and share of successful runs, for every flow and step."""
    counts = QUICK_COUNTS if quick else COUNTS
    random = np.random.default_rng(common.SEED)
    count = QUICK_BODIES if quick else BODIES
    bodies = common.Bodies(common.any_moments(random, count), common.random_momenta(random, count))
    truth = common.reference(bodies)
    error, seconds, converged = np.full((3, len(common.FLOWS), len(counts)), np.nan)
    passing: dict[tuple[int, int], common.Bodies] = {}
    for i, (label, flow) in enumerate(common.FLOWS.items()):
        report_progress(label)
        for k, n in enumerate(counts):
            ends = common.turned(flow, n, common.T_END / n, bodies)
            converged[i, k] = ends.good.mean()
            if ends.good.any():
                error[i, k], passing[i, k] = np.nanmean(common.log_errors(ends, truth)), bodies.chosen(ends.good)
    passes = QUICK_PASSES if quick else PASSES
    best: dict[tuple[int, int], Any] = {}
    for number in range(passes):  # flows in turn, so that a disturbance of the machine does not hit one flow only
        report_progress(f"times, pass {number + 1} of {passes}")
        for (i, k), some in passing.items():
            spent = common.seconds_of(list(common.FLOWS.values())[i], counts[k], common.T_END / counts[k], some)
            best[i, k] = np.fmin(best.get((i, k), np.inf), spent)
            seconds[i, k] = best[i, k].sum() / len(some.momenta)
    shares = np.zeros((len(DRAWN), len(common.DMV), len(SHARE_STEPS)))
    for p, draw in enumerate(DRAWN.values()):
        number = QUICK_MANY if quick else MANY
        many = common.Bodies(draw(random, number), common.random_momenta(random, number))
        for i, label in enumerate(common.DMV):
            report_progress(f"{label}, {len(many.momenta)} bodies")
            for k, h in enumerate(SHARE_STEPS):
                shares[p, i, k] = common.turned(common.FLOWS[label], round(common.T_END / h), h, many).good.mean()
    report_progress("round-off")
    ends_of = {label: common.turned(common.FLOWS[label], 1, common.T_END, bodies) for label in CLOSED}
    once = [np.mean(common.log_errors(ends, truth)) for ends in ends_of.values()]
    dims = ("flow", "step")
    return xr.Dataset(
        {
            "log_error": (dims, error),
            "seconds": (dims, seconds),
            "converged": (dims, converged),
            "converged_of_many": (("drawn", "dmv", "share_step"), shares),
            "log_error_of_one_step": ("form", once),
            "log_error_of_products": ("projection", projections(bodies, truth)),
        },
        {"flow": list(common.FLOWS), "step": common.T_END / np.array(counts), "form": list(CLOSED),
         "projection": list(WAYS), "drawn": list(DRAWN), "dmv": list(common.DMV), "share_step": list(SHARE_STEPS)},
        {
            "bodies": f"{count} random ones (seed {common.SEED}), moments three uniform numbers divided by the "
            "largest; runs that fail are left out of the means",
            "shares of many": f"of {len(many.momenta)} bodies, moments drawn like these, or uniformly from physical "
            "bodies",
            "error": f"mean of log10 |Q - Q_ref|, infinity norm, at t = {common.T_END:g}",
            "reference": common.REFERENCE,
            theta.REMARK: theta.DIGITS,
            "time": f"wall time of a run on one thread, mean over the runs that succeed, best of {passes}",
            "products": "quaternions of Kosenko's form over steps of 0.01, multiplied with and without projection; "
            "infinity norm of their error",
        },
    )  # fmt: skip


def projections(bodies: common.Bodies, truth: Any) -> list[float]:
    """Mean log error of the quaternion product of 1000 steps, without and with normalisation in every step."""
    n = 1000
    plain = np.tile(common.UNTURNED, (len(bodies.momenta), 1))
    unit = plain.copy()
    momenta = bodies.momenta
    for _ in range(n):
        present = common.Bodies(bodies.moments, momenta)
        turn, momenta, _ = common.turned(common.FLOWS[common.QUATERNION], 1, common.T_END / n, present)
        plain, unit = (ph.rotation.multiply(q, turn) for q in (plain, unit))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    expected = ph.rotation.quaternion_from_matrix(truth.astype(float))
    signed = [q * np.sign((q * expected).sum(axis=1, keepdims=True)) for q in (plain, unit)]
    gaps = [np.abs(q - expected).max(axis=1) for q in signed]
    return [float(np.log10(np.maximum(gap, common.ROUND_OFF)).mean()) for gap in gaps]


# ------------------------------------------------------------------ judges
def flat(data: xr.DataArray, labels: Sequence[str], k: int) -> dict[str, float]:
    """Values of some flows at the step with index k."""
    return {label: float(data.sel(flow=label)[k]) for label in labels}


def expensive(data: xr.Dataset) -> Finding:
    """Judge whether the closed forms cost more than every approximate method."""
    rivals = data.seconds.sel(flow=[*common.SEMIEXACT, *common.MATRIX_FORM, *common.DMV]).max("flow")
    ratio = {label: float((data.seconds.sel(flow=label) / rivals).median()) for label in (*CLOSED, common.OURS)}
    parts = {f"{label}: time over that of the dearest approximate one": criteria.at_least(ratio[label], 1.25)
             for label in CLOSED}  # fmt: skip
    return Finding(parts, {"time / time of the dearest approximate method, median of the steps": ratio})


def always(data: xr.Dataset) -> Finding:
    """Judge whether no run of an exact or semiexact flow fails."""
    labels = (*CLOSED, *common.SEMIEXACT, *common.MATRIX_FORM, common.OURS)
    shares = {label: float(data.converged.sel(flow=label).min()) for label in labels}
    parts = {"share of runs that succeed, at every step": criteria.every(shares, criteria.at_least, 1.0)}
    return Finding(parts, {"least share of runs": shares})


def three_quarters(data: xr.Dataset) -> Finding:
    """Judge whether about three quarters of the DMV runs converge at the largest step."""
    first = data.converged_of_many.isel(share_step=0)
    shares = {drawn: {k: float(first.sel(drawn=drawn, dmv=k)) for k in common.DMV} for drawn in DRAWN}
    words = {"any": "moments that may break the triangle inequality", "physical": "moments of physical bodies"}
    parts = {
        f"share at the largest step, {words[drawn]}": criteria.every(measured, criteria.share_within, *CONVERGED)
        for drawn, measured in shares.items()
    }
    numbers: dict[str, Any] = {f"all shares at the largest step, {words[drawn]}": x for drawn, x in shares.items()}
    for h in SHARE_STEPS[1:]:
        measured = data.converged_of_many.sel(drawn="any", share_step=h)
        numbers[f"step {h:g}, {words['any']}"] = {label: float(measured.sel(dmv=label)) for label in common.DMV}
    safe = [label for label in common.FLOWS if common.FLOWS[label].guarded]
    numbers["the runs of the figure, largest step"] = flat(data.converged, (*common.DMV, *safe), 0)
    return Finding(parts, numbers)


def one_third(data: xr.Dataset) -> Finding:
    """Judge whether a semiexact flow costs about a third of the closed form in the same variables."""
    pairs = dict.fromkeys(common.SEMIEXACT, common.QUATERNION) | dict.fromkeys(common.MATRIX_FORM, common.MATRIX)
    times = {a: data.seconds.sel(flow=a) / data.seconds.sel(flow=b) for a, b in pairs.items()}
    ratio = {label: float(line.median()) for label, line in times.items()}
    parts = {
        "substantially cheaper": criteria.every(ratio, criteria.at_most, 0.75),
        "about a third": criteria.every(ratio, criteria.within, 0.22, 0.45),
    }
    return Finding(parts, {"time / time of the exact method in the same form, median of the steps": ratio})


def relative(data: xr.Dataset) -> xr.DataArray:
    """Time relative to the cheapest of the paper's methods."""
    flows = [*CLOSED, *common.SEMIEXACT, *common.MATRIX_FORM, *common.DMV]
    return data.seconds / data.seconds.sel(flow=flows).min("flow")


def cheapest(data: xr.Dataset) -> Finding:
    """Judge whether a DMV method is cheapest at every step, and order 10 little more expensive than order 6."""
    cost = relative(data)
    gain = float((data.seconds.sel(flow=common.DMV[-1]) / data.seconds.sel(flow=common.DMV[0])).median())
    share = float((cost.sel(flow=list(common.DMV)).min("flow") < 1.0 + 1e-9).mean())
    parts = {
        "a DMV is the cheapest of the paper's methods, share of the steps": criteria.at_least(share, 0.9),
        "time of dmv10 over dmv6, median": criteria.within(gain, 1.0, 1.5),
    }
    return Finding(parts, {"relative cost, largest step": flat(cost, list(common.FLOWS), 0)})


def large_steps(data: xr.Dataset) -> Finding:
    """Judge whether the relative cost of exact and semiexact flows is lower for large steps."""
    cost = relative(data)
    n = max(1, data.step.size // 4)
    measured = {label: float(cost.sel(flow=label)[-n:].median() / cost.sel(flow=label)[:n].median())
             for label in (*CLOSED, *common.SEMIEXACT, *common.MATRIX_FORM, common.OURS)}  # fmt: skip
    parts = {f"{label}: relative cost at small steps / at large": criteria.at_least(measured[label], 1.1)
             for label in (*CLOSED, *common.SEMIEXACT, *common.MATRIX_FORM)}  # fmt: skip
    return Finding(parts, {"the same, polhode's own": measured[common.OURS]})


@theta.with_long_doubles
def accumulation(data: xr.Dataset) -> Finding:
    """Judge whether the closed forms are less accurate at the smallest step than at the largest, and than DMV 10."""
    error = data.log_error
    best, labels = float(error.sel(flow=common.DMV[-1])[-1]), (*CLOSED, common.SEMIEXACT[-1], common.OURS)
    grown = {label: float(error.sel(flow=label)[-1] - error.sel(flow=label)[0]) for label in (*CLOSED, common.OURS)}
    behind = {label: float(error.sel(flow=label)[-1]) - best for label in labels}
    parts = {f"{label}: digits lost from the largest to the smallest step": criteria.at_least(grown[label], 0.5)
             for label in CLOSED}  # fmt: skip
    parts |= {f"{label}: digits behind dmv10 at the smallest step": criteria.at_least(behind[label], 0.05)
              for label in (*CLOSED, common.SEMIEXACT[-1])}  # fmt: skip
    return Finding(parts, {"polhode's own: digits lost": grown[common.OURS], "behind dmv10": behind[common.OURS]})


@theta.with_long_doubles
def one_step(data: xr.Dataset) -> Finding:
    """Judge whether one step to the end avoids accumulated round-off."""
    once = {label: float(data.log_error_of_one_step.sel(form=label)) for label in CLOSED}
    many = {label: float(data.log_error.sel(flow=label)[-1]) for label in CLOSED}
    parts = {f"{label}: digits gained": criteria.at_least(many[label] - once[label], 0.5) for label in CLOSED}
    return Finding(parts, {"mean log error of one step": once, "of steps of 0.01": many})


@theta.with_long_doubles
def projection(data: xr.Dataset) -> Finding:
    """Judge whether normalising the quaternion improves it."""
    measured = named(data.log_error_of_products)
    gained = measured["none"] - measured["each step"]
    return Finding({"digits gained": criteria.at_least(gained, 0.3)}, {"mean log error, steps of 0.01": measured})


@theta.with_long_doubles
def comparable(data: xr.Dataset) -> Finding:
    """Judge whether matrix and quaternion form have similar accuracy and cost."""
    a, b = (data.sel(flow=label) for label in CLOSED)
    digits = float(np.abs(a.log_error - b.log_error).max())
    ratio = float((a.seconds / b.seconds).median())
    parts = {
        "largest difference of the mean log errors": criteria.at_most(digits, 0.5),
        "time, matrix / quaternion": criteria.ratio_within(ratio, 1.0, 1.5),
    }
    return Finding(parts, {"steps": data.step.size})
