"""Figure 10 and table 1: position of a point of the body, proposed approach and standard Lie group method."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.criteria import at_least, at_most, within
from polhode_papers.drawing import GREY, Pictures
from polhode_papers.holzinger2021 import common
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter, Table

MOTION, POINT = common.Motion(common.BESIDE_UNSTABLE, 1.0), (1.0, 1.0, 1.0)  # [holzinger2021, 7.1.4]
STEPS = tuple(0.01 * 0.5**k for k in range(7))
REFERENCE_STEP = 1 / 12800
LIE, VECTOR, ANGLES = "Lie group", "rotation vector", "Cardan angles"
OTHERS = {"Euler parameters": "terze", "Rodrigues parameters": "gibbs_rodrigues",
          "modified Rodrigues parameters": "modified_rodrigues"}  # fmt: skip
COSINE, ENTRIES = "rotation vector, as printed", "Cardan angles, as printed"
METHODS = {LIE: "lie_rk", VECTOR: "rotation_vector", ANGLES: "euler", **OTHERS,
           COSINE: "rotation_vector_as_printed", ENTRIES: "euler_as_printed"}  # fmt: skip
EQUIVALENT = (VECTOR, ANGLES, *OTHERS)
SAME = 1e-12  # differences due to round-off
RESOLVED = 1e-6  # above the round-off amplified by the unstable axis
STARTS = 32


def reference_errors(starts: int) -> list[float]:
    """Position errors of the paper's reference for initial rates 1e-12 apart: samples of its round-off."""
    results = []
    for k in range(starts):
        w1, w2, w3 = common.BESIDE_UNSTABLE
        case = replace(MOTION, angular_velocity=(w1 * (1.0 + 1e-12 * k), w2, w3))
        end, _ = case.end(METHODS[LIE], REFERENCE_STEP)
        results.append(float(np.linalg.norm(position(end) - position(case.exact()))))
    return results


def position(row: common.Row) -> Any:
    return ph.rotation.rotate(row.attitude.values, POINT)


@cache
def runs(starts: int) -> xr.Dataset:
    """Runs of figure 10 and table 1: position errors of all methods and steps."""
    components = {f"position_{x}": lambda row, k=k: float(position(row)[k]) for k, x in enumerate("xyz")}
    data = common.ladder(MOTION, METHODS, STEPS, lambda line: None, more=components)
    positions = np.stack([data[name].values for name in components], axis=-1)
    reference, _ = MOTION.end(METHODS[LIE], REFERENCE_STEP)
    measured = {
        "position_error": positions - position(MOTION.exact()),
        "position_error_by_reference": positions - position(reference), "difference_from_lie": positions - positions[0],
    }  # fmt: skip
    size: dict[str, Any] = {name: (("method", "step"), np.linalg.norm(x, axis=-1)) for name, x in measured.items()}
    omega3 = MOTION.run("exact", 1e-3)[0].angular_velocity.values[:, 2]
    return data.assign(**size, reference_error=("start", reference_errors(starts))).assign_attrs({
        "known attitude": common.from_known(MOTION.t_end),
        "turnovers": int((np.diff(np.sign(omega3)) != 0).sum()),
        "reference_error": f"of the paper's reference, from {starts} starts whose first angular velocity grows by "
        "1e-12 of itself from one to the next",
    })  # fmt: skip


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("runs")
    return runs(8 if quick else STARTS)


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=10.5, height=4.2, sharey=True)
    for ax, name, title in ((left, "position_error", "against the exact motion"),
                            (right, "position_error_by_reference", "against the paper's reference")):  # fmt: skip
        for i, method in enumerate((LIE, VECTOR, ANGLES)):
            line_style = drawing.style(i) | {"markersize": 13 - 4 * i, "linewidth": 4.5 - 1.7 * i}
            ax.loglog(data.step, common.of(data[name], method), label=method, **line_style)
        ax.axhline(float(data.reference_error.median()), color=GREY, linestyle=":", label="round-off of the reference")
        ax.set(ylim=(3e-9, 30), title=title, xlabel="step $h$ (s)")
    left.set_ylabel(r"$\|p_{ref} - p\|$")
    common.slope(left, 4)
    drawing.legend_below(picture, left, 4)
    return {"fig10": picture}


def draw_table(data: xr.Dataset) -> Pictures:
    picture, ((ax,),) = drawing.canvas(1, 1, width=8.5, height=4.2)
    names = (*EQUIVALENT, COSINE, ENTRIES)
    common.error_panel(ax, data.step, {name: common.of(data.difference_from_lie, name).values for name in names},
                "positions: difference from the Lie group method", r"$\|p_{Lie} - p\|$", len(EQUIVALENT))  # fmt: skip
    ax.set_ylim(5e-18, 1e-9)
    ax.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return {"table1": picture}


def tabulate(data: xr.Dataset) -> dict[str, Table]:
    """Position errors by step, as in the paper's table, and against the exact motion."""
    names = (LIE, VECTOR, ANGLES)

    def rows(variable: str, digits: str) -> list[list[str]]:
        result = data[variable].sel({"method": list(names)}).values.T
        return [[f"0.01/{2**k}", *(format(float(x), digits) for x in row)] for k, row in enumerate(result)]

    header = ["h (s)", *names]
    return {
        "Table 1, position error against the paper's reference (Lie group, h = 1/12800)":
            [header, *rows("position_error_by_reference", ".7e")],
        "The same against the exact motion": [header, *rows("position_error", ".7e")],
        "Difference from the Lie group method": [header, *rows("difference_from_lie", ".1e")],
    }  # fmt: skip


# ------------------------------------------------------------------ judges
def errors_of(data: xr.Dataset, method: str, name: str = "position_error") -> dict[str, float]:
    return {f"0.01/{2**k}": float(x) for k, x in enumerate(common.of(data[name], method).values)}


def unstable(data: xr.Dataset) -> Finding:
    m1, m2, m3 = common.BOX.moments[0]
    sign_changes = criteria.count(float(data.attrs["turnovers"]))
    parts = {"J33 is the middle moment": within(m3, min(m1, m2), max(m1, m2)),
             "the axis turns over": at_least(sign_changes, 1)}  # fmt: skip
    return Finding(parts, {"changes of the sign of omega_3 within 1 s": sign_changes})


def order_of(data: xr.Dataset, method: str) -> float:
    return ph.trajectory.convergence.observed_order(
        data.step.values, common.of(data.position_error, method).values, RESOLVED
    )


def same_convergence(data: xr.Dataset) -> Finding:
    lie = common.of(data.position_error, LIE)
    parts: dict[str, Check] = {}
    worst, order = {}, {LIE: order_of(data, LIE)}
    for name in (VECTOR, ANGLES):
        line = common.of(data.position_error, name)
        worst[name] = float(np.abs(line / lie - 1.0).where(lie > RESOLVED).max())
        order[name] = order_of(data, name)
        parts[f"{name}: errors equal, relative difference"] = criteria.at_most(worst[name], 1e-6)
        parts[f"{name}: the order of the Lie group method"] = criteria.order_is(order[name], order_of(data, LIE), 1e-3)
    return Finding(parts, {"largest relative difference": worst, "order": order})


def only_round_off(data: xr.Dataset) -> Finding:
    measured = {name: float(common.of(data.difference_from_lie, name).max()) for name in (*EQUIVALENT, COSINE, ENTRIES)}
    parts = {name: at_most(measured[name], SAME) for name in (VECTOR, ANGLES, COSINE, ENTRIES)}
    return Finding(parts, {"largest difference": measured})


def others(data: xr.Dataset) -> Finding:
    measured = {name: float(common.of(data.difference_from_lie, name).max()) for name in OTHERS}
    return Finding({name: at_most(x, SAME) for name, x in measured.items()}, {"largest difference": measured})


def resolves(data: xr.Dataset) -> Finding:
    sample, line = data.reference_error.values, common.of(data.position_error, LIE)
    parts = {f"errors at h = {name} are ten times the reference's": at_least(float(line[k] / np.median(sample)), 10.0)
             for k, name in ((4, "0.01/16"), (5, "0.01/32"), (6, "0.01/64"))}  # fmt: skip
    return Finding(parts, {
        "error of the reference": {"smallest": sample.min(), "median": np.median(sample), "largest": sample.max()},
        "errors": errors_of(data, LIE), "errors by the reference": errors_of(data, LIE, "position_error_by_reference"),
    })  # fmt: skip


FIGURE = Figure("fig10", "beside the unstable axis: position of a point, against the Lie group method", compute, draw, (
    Claim("An unstable rotation about the third axis is to be expected", "7.1.4", unstable),
    Claim("The proposed approach converges as the standard Lie group method does", "7.1.4, Fig. 10", same_convergence),
    Claim("The reference, Lie group method with h = 1/12800 s, is converged", "7.1.4", resolves),
))  # fmt: skip

TABLE_1 = Figure("table1", "differences from the Lie group method, step by step", compute, draw_table, (
    Claim("The differences from the Lie group method are due to round-off: the methods are equivalent",
          "7.1.4, Table 1", only_round_off),
    Claim("So are Euler, Rodrigues and modified Rodrigues parameters", "polhode", others),
), tabulate)  # fmt: skip
