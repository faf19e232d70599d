"""Figure 7: the energy of the elliptic orbit."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_least, at_most, falling
from polhode_papers.study import Claim, Figure, Finding, Reporter

LABELS = (common.SYMPLECTIC, *common.RK2, common.RK4, common.CONIC)
STEPS = (40.0, 20.0, 10.0, 5.0)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("five methods, and the offset at other steps")
    data = common.shown(common.ELLIPTIC, LABELS, "energy")
    T, means = common.period(common.ELLIPTIC), []
    for h in STEPS:
        E = common.run(common.SYMPLECTIC, common.ELLIPTIC, step=h)
        means.append(common.revolutions(E.time.values, E.energy.values, T).mean() / E.energy.values[0] - 1.0)
    return data.assign(mean_offset=("step", means)).assign_coords(step=list(STEPS))


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=10.4, height=4.0)
    few = (common.SYMPLECTIC, common.RK4, common.CONIC)
    titles = "energy (km²/s² for 1 kg)", "without the methods of order 2"
    for ax, labels, title in zip((left, right), (LABELS, few), titles, strict=True):
        common.lines(ax, data.energy, labels)
        common.digits(ax, 6)
        ax.set_title(title)
    drawing.legend_below(picture, left, 5)
    return {"fig07": picture}


def means(data: xr.Dataset, label: str) -> tuple[float, np.ndarray]:
    """Initial energy, and its mean over each revolution."""
    E = common.of(data.energy, label)
    return float(E[0]), common.revolutions(data.time.values, E, common.period(common.ELLIPTIC))


def decay(data: xr.Dataset) -> Finding:
    moves = {label: float(means(data, label)[1][-1] - means(data, label)[1][0]) for label in common.RK2}
    steady = {label: bool((np.diff(means(data, label)[1]) * np.sign(moves[label]) > 0.0).all()) for label in common.RK2}
    parts = {f"{label}: the energy falls in every revolution": falling(means(data, label)[1]) for label in common.RK2}
    start = abs(means(data, common.HEUN)[0])
    E = {label: common.of(data.energy, label) for label in common.RK2}
    numbers = {
        "change from start to end, relative": {label: float(e[-1] - e[0]) / start for label, e in E.items()},
        "of the mean in a revolution, relative": {
            label: x / start / (means(data, label)[1].size - 1) for label, x in moves.items()
        },
        "of the same sign in every revolution": {k: "yes" if v else "no" for k, v in steady.items()},
    }
    return Finding(parts, numbers)


def oscillates(data: xr.Dataset) -> Finding:
    start, mean = means(data, common.SYMPLECTIC)
    E = common.of(data.energy, common.SYMPLECTIC)
    swing, bias, move = (float(x) / abs(start) for x in (E.max() - E.min(), mean.mean() - start, mean[-1] - mean[0]))
    order = common.order_of(STEPS, np.abs(data.mean_offset.values).tolist())
    parts = {
        "not constant": at_least(swing, 1e-8),
        "the mean does not move (by 1 % of the swing in the day)": at_most(abs(move) / swing, 0.01),
        "the mean is off the actual energy by over a tenth of the swing": at_least(abs(bias) / swing, 0.1),
        "the offset goes with the square of the step": common.keeps(order, 2),
    }
    return Finding(parts, {"half the swing, relative": swing / 2, "mean less the actual energy, relative": bias,
                           "move of the mean in the day": move, "exponent of the step": order})  # fmt: skip


def appears(data: xr.Dataset) -> Finding:
    E, S = common.of(data.energy, common.RK4), common.of(data.energy, common.SYMPLECTIC)
    ratio = float(np.ptp(E) / np.ptp(S))
    parts = {"its change is below one hundredth of the symplectic swing": at_most(ratio, 0.01)}
    return Finding(parts, {"ratio": ratio})


CLAIMS = (
    Claim("RK2 decays", "fig. 7", decay),
    Claim(
        "Symplectic, though not constant in energy, oscillates about a mean value, offset from the actual energy",
        "fig. 7",
        oscillates,
    ),
    Claim("RK4 appears to conserve energy in figure 7", "fig. 7", appears),
)
FIGURE = Figure(
    "fig07", f"energy of the elliptic orbit, {common.DAY:g} s, steps of {common.STEP:g} s", compute, draw, CLAIMS
)
