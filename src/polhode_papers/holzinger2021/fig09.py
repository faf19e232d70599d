"""Figure 9: errors against the step near the unstable axis, for Runge-Kutta methods of several orders."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers import criteria, drawing
from polhode_papers.drawing import GREY, Pictures
from polhode_papers.holzinger2021.common import BESIDE_UNSTABLE, FLOOR, Motion, from_known, ladder, of, slope
from polhode_papers.study import Claim, Figure, Finding, Reporter

MOTION = Motion(BESIDE_UNSTABLE, 0.5)
COUNTS = (10, 100, 1000, 10_000, 100_000)  # [holzinger2021, 7.1.3], h = 0.5/n
BETWEEN = (50, 64, 80, 128, 160, 200, 256, 320, 500, 640, 2000, 20_000, 50_000)  # added here, to measure orders
REFERENCE_STEP = 1 / 2_000_000
RK1, FORWARD, RK4, RK5, RK8, GAUSS = "RK1, (53)-(55)", "RK1, tableau", "RK4", "RK5 (DP5)", "RK8 (CV8)", "Gauss 4"
TABLEAUS = {RK1: "semi_implicit_euler", FORWARD: "forward_euler", RK4: "rk4", RK5: "dp5", RK8: "cv8", GAUSS: "gauss4"}
EXPECTED = {RK1: 1, FORWARD: 1, RK4: 4, RK5: 5, RK8: 8, GAUSS: 4}
ANGLES, PARAMETERS = "Cardan angles", "Euler parameters"
CHARTS = {ANGLES: "euler", PARAMETERS: "terze"}
METHODS = {name: f"rotation_vector:{word}" for name, word in TABLEAUS.items()} | {
    f"{name}, {chart}": f"{method}:{TABLEAUS[name]}" for chart, method in CHARTS.items() for name in (RK1, RK4)
}
RESOLVED = 3e-8  # rad; above the round-off amplified by the unstable axis
EARLY, EARLY_COUNTS = 0.1, (16, 20, 26, 32, 40, 51, 64, 100, 200, 400, 1600, 6400)
"""Time (s) and numbers of steps for measuring orders; round-off is amplified less by then than at 0.5 s."""
EARLY_RESOLVED = 1e-13
TOLERANCE = {1: 0.1, 4: 0.15, 5: 0.2, 8: 0.3}
CROSSES = 0.035  # spacing of the crosses of different methods, as a fraction of the panel height


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    counts = sorted({*COUNTS, *BETWEEN} - ({50_000, 100_000} if quick else set()))
    report_progress("the paper's reference")
    reference, _ = MOTION.end(METHODS[RK4], REFERENCE_STEP)
    data = ladder(MOTION, METHODS, [0.5 / n for n in counts], report_progress, reference=reference)
    reference_error = ladder(MOTION, {"": METHODS[RK4]}, [REFERENCE_STEP], lambda line: None).attitude_error.item()
    report_progress("orders, at 0.1 s")
    early = ladder(Motion(BESIDE_UNSTABLE, EARLY), {name: METHODS[name] for name in TABLEAUS},
                   [EARLY / n for n in EARLY_COUNTS], lambda line: None)  # fmt: skip
    data["early_error"] = (("tableau", "early_step"), early.attitude_error.values)
    data = data.assign_coords(tableau=list(TABLEAUS), early_step=early.step.values)
    return data.assign_attrs({
        "known attitude": from_known(MOTION.t_end),
        "the paper's reference": f"proposed, RK4, h = 1/2000000, is {reference_error:.1e} rad from the exact motion",
        "largest step": "0.05 s, where the body turns by 5 rad: " + ", ".join(
            f"{name} {of(data.outcome, name).isel(step=0).item()}" for name in TABLEAUS),
        "guard": "off; it refuses steps in which a stage turns by more than 5.5 rad",
    })  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, middle, right),) = drawing.canvas(1, 3, width=15.0, height=4.4)
    printed = np.isclose(data.step.values[:, None] * COUNTS, 0.5, rtol=1e-9).any(axis=1)
    shown = data.isel(step=printed)
    for ax, steps, variable in ((left, data.step, data.attitude_error), (middle, shown.step, shown.parameter_error)):
        for i, name in enumerate(TABLEAUS):
            # both forms of RK1 have nearly the same errors: the second is drawn larger, open and dashed
            large = {"markersize": 10, "markerfacecolor": "none"} if name == FORWARD else {}
            line_style = drawing.style(i, name != FORWARD) | large
            y = of(variable, name).values
            ax.loglog(steps, np.where(y > 0.0, y, np.nan), label=name, **line_style)
            lost = steps.values[np.isnan(y)]
            at = np.full(lost.size, 0.03 + CROSSES * i)
            ax.plot(lost, at, "x", color=line_style["color"], transform=ax.get_xaxis_transform())
        ax.axhline(RESOLVED, color=GREY, linewidth=0.8, linestyle=":")
        ax.set(xlabel="step $h$ (s)", ylim=(1e-12, 1e3))
    left.set(title="attitude against the exact motion", ylabel="attitude error (rad)")
    middle.set(title="the paper's error and steps", ylabel=r"$\|v_{ref} - v\|$ (rad)")
    slope(left, 4)
    slope(left, 1, 0.25)
    for i, chart in enumerate(CHARTS):
        for name in (RK1, RK4):
            theirs = of(data.attitude_error, name)
            deviation = np.abs(of(data.attitude_error, f"{name}, {chart}") / theirs - 1.0).where(theirs > RESOLVED)
            line_style = drawing.style(list(TABLEAUS).index(name), i == 0)
            line_style |= {"marker": "os"[i], "markersize": (9, 4.5)[i]}
            right.loglog(data.step, np.maximum(deviation, FLOOR), **line_style, label=f"{name}, {chart}")
    right.set(title="other charts: their error over the vector's, less 1", xlabel="step $h$ (s)")
    right.legend(frameon=False, fontsize=8.5, loc="lower left", bbox_to_anchor=(0.0, -0.4), ncols=2)
    picture.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=6, frameon=False)
    return {"fig09": picture}


# ------------------------------------------------------------------ judges
def have_orders(data: xr.Dataset, names: tuple[str, ...]) -> Finding:
    parts = {}
    for name in names:
        p, h, e = EXPECTED[name], data.early_step.values, data.early_error.sel(tableau=name).values
        parts[f"{name}: order {p}"] = criteria.order_within(h, e, p, TOLERANCE[p], EARLY_RESOLVED)
    return Finding(parts, {f"smallest error at {EARLY:g} s": {
        name: float(data.early_error.sel(tableau=name).min()) for name in names}})  # fmt: skip


def alike(data: xr.Dataset, chart: str) -> Finding:
    """Judge whether errors above round-off agree with those of the rotation vector to 1 %."""
    parts, numbers = {}, {}
    for name in (RK1, RK4):
        mine, theirs = of(data.attitude_error, f"{name}, {chart}"), of(data.attitude_error, name)
        worst = float(np.abs(mine / theirs - 1.0).where(theirs > 100 * RESOLVED).max())
        parts[name], numbers[name] = criteria.at_most(worst, 0.01), worst
    return Finding(parts, {"largest relative difference of the errors": numbers,
                           "compared at": "errors above a hundred times the round-off"})  # fmt: skip


def readings(data: xr.Dataset) -> Finding:
    smallest = data.isel(step=-1)
    ratio = float(of(smallest.attitude_error, RK1) / of(smallest.attitude_error, FORWARD))
    return Finding({"the same error": criteria.ratio_within(ratio, 1.0, 1.05)}, {"ratio at the smallest step": ratio})


FIGURE = Figure("fig09", "beside the unstable axis: Runge-Kutta methods of several orders", compute, draw, (
    Claim("First and fourth order with RK1 and RK4", "7.1.3, Fig. 9", lambda d: have_orders(d, (RK1, FORWARD, RK4))),
    Claim("The order can be selected: it is that of the integrator of (51)", "6.2, 7.1.3",
          lambda d: have_orders(d, tuple(TABLEAUS))),
    Claim("The same is observed with Euler angles", "7.1.3", lambda d: alike(d, ANGLES)),
    Claim("The same is observed with Euler parameters, the scheme of Terze et al.", "7.1.3",
          lambda d: alike(d, PARAMETERS)),
    Claim("RK1 with the angular velocity of the end, (54), is as accurate as with that of the start", "polhode",
          readings),
))  # fmt: skip
