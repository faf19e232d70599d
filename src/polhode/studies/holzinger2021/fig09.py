"""Figure 9: errors against the step, beside the unstable axis, for Runge-Kutta methods of several orders."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

from polhode.plots.style import GREY
from polhode.studies import drawing
from polhode.studies.holzinger2021.common import (
    BESIDE_UNSTABLE,
    NEAR,
    Motion,
    error_panel,
    from_known,
    ladder,
    of,
    slope,
)
from polhode.studies.study import Claim, Figure, Finding, Tell
from polhode.trajectory.convergence import observed_order

MOTION = Motion(BESIDE_UNSTABLE, 0.5)
COUNTS = (10, 100, 1000, 10_000, 100_000)  # [holzinger2021, 7.1.3], h = 0.5/n
BETWEEN = (50, 64, 80, 128, 160, 200, 256, 320, 500, 640, 2000, 20_000, 50_000)  # ours, to read orders from
REFERENCE_STEP = 1 / 2_000_000
RK1, FORWARD, RK4, RK5, RK8, GAUSS = "RK1, (53)-(55)", "RK1, tableau", "RK4", "RK5 (DP5)", "RK8 (CV8)", "Gauss 4"
TABLEAUS = {
    RK1: "semi_implicit_euler", FORWARD: "forward_euler", RK4: "rk4", RK5: "dp5", RK8: "cv8", GAUSS: "gauss4",
}  # fmt: skip
EXPECTED = {RK1: 1, FORWARD: 1, RK4: 4, RK5: 5, RK8: 8, GAUSS: 4}
ANGLES, PARAMETERS = "Cardan angles", "Euler parameters"
CHARTS = {ANGLES: "euler", PARAMETERS: "terze"}
METHODS = {name: f"rotation_vector:{word}" for name, word in TABLEAUS.items()} | {
    f"{name}, {chart}": f"{method}:{TABLEAUS[name]}" for chart, method in CHARTS.items() for name in (RK1, RK4)
}
RESOLVED = 3e-8  # rad; round-off, amplified by the unstable axis, is below
TOLERANCE = {1: NEAR, 4: 0.35, 5: 0.5, 8: 1.0}  # few steps are small enough and yet above round-off


def compute(quick: bool, tell: Tell) -> xr.Dataset:
    counts = sorted({*COUNTS, *BETWEEN} - ({50_000, 100_000} if quick else set()))
    tell("the paper's reference")
    reference, _ = MOTION.end(METHODS[RK4], REFERENCE_STEP)
    data = ladder(MOTION, METHODS, [0.5 / n for n in counts], tell, reference=reference)
    off = ladder(MOTION, {"": METHODS[RK4]}, [REFERENCE_STEP], lambda line: None).attitude_error.item()
    return data.assign_attrs({
        "known attitude": from_known(MOTION.t_end),
        "the paper's reference": f"proposed, RK4, h = 1/2000000, is {off:.1e} rad from the exact motion",
        "largest step": "0.05 s, where the body turns by 5 rad: " + ", ".join(
            f"{name} {of(data.outcome, name).isel(step=0).item()}" for name in TABLEAUS),
        "guard": "off; it refuses steps in which a stage turns by more than 5.5 rad",
    })  # fmt: skip


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture, ((left, right),) = drawing.canvas(1, 2, width=11.0, height=4.4, sharex=True)
    error_panel(left, data.step, {name: of(data.attitude_error, name).values for name in METHODS},
                "attitude against the exact motion", "attitude error (rad)", len(TABLEAUS))  # fmt: skip
    printed = np.isclose(data.step.values[:, None] * COUNTS, 0.5, rtol=1e-9).any(axis=1)
    shown = data.isel(step=printed)
    error_panel(right, shown.step, {name: of(shown.parameter_error, name).values for name in TABLEAUS},
                "the paper's error and steps", r"$\|v_{ref} - v\|$ (rad)")  # fmt: skip
    for ax in (left, right):
        ax.axhline(RESOLVED, color=GREY, linewidth=0.8, linestyle=":")
        ax.set_ylim(1e-11, 1e3)
    slope(left, 4)
    slope(left, 1, 0.25)
    drawing.legend_below(picture, left, 5)
    return {"fig09": picture}


# ------------------------------------------------------------------ judges
def order_of(data: xr.Dataset, name: str) -> float:
    """Order over the last three decades of errors above round-off."""
    line = of(data.attitude_error, name)
    least = line.where(line > RESOLVED).min()
    return observed_order(data.step.values, line.where(line < 1000 * least).values, RESOLVED)


def have_orders(data: xr.Dataset, names: tuple[str, ...]) -> Finding:
    found = {name: order_of(data, name) for name in names}
    parts = {f"{name}: order {EXPECTED[name]}": abs(x - EXPECTED[name]) < TOLERANCE[EXPECTED[name]]
             for name, x in found.items()}  # fmt: skip
    return Finding(parts, {"order": found})


def alike(data: xr.Dataset, chart: str) -> Finding:
    """Errors above round-off agree with those of the rotation vector to 1 %."""
    parts, numbers = {}, {}
    for name in (RK1, RK4):
        mine, theirs = of(data.attitude_error, f"{name}, {chart}"), of(data.attitude_error, name)
        worst = float(np.abs(mine / theirs - 1.0).where(theirs > 100 * RESOLVED).max())
        parts[name], numbers[name] = worst < 0.01, worst
    return Finding(parts, {"largest relative difference of the errors": numbers,
                           "order": {name: order_of(data, f"{name}, {chart}") for name in (RK1, RK4)}})  # fmt: skip


def readings(data: xr.Dataset) -> Finding:
    smallest = data.isel(step=-1)
    ratio = float(of(smallest.attitude_error, RK1) / of(smallest.attitude_error, FORWARD))
    return Finding({"same error to 5 %": abs(ratio - 1.0) < 0.05}, {"ratio at the smallest step": ratio})


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
