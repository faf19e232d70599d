"""Figure 3: length of the rotation vector passing through zero, by integrating its rates and by the proposed update."""

from __future__ import annotations

from math import nan, pi

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

import polhode as ph
from polhode_papers.criteria import at_least, at_most
from polhode_papers.drawing import INK, canvas, legend_below
from polhode_papers.holzinger2021.common import Motion, by_epsilon, ended_or_off, epsilon_label, halvings, history_panel
from polhode_papers.measure import named, whole
from polhode_papers.study import Claim, Figure, Finding, Reporter

EPSILONS = (0.0, 1e-7, 1e-5, 1.0)  # [holzinger2021, eq. 71]
V0, RATE = (0.0, -pi / 2, 0.0), 2 * pi
PRINTED, SLOWER, FARTHER = "as printed", "|omega0| = pi", "v0 = (0, -pi, 0)"
READINGS = {PRINTED: (V0, RATE), SLOWER: (V0, pi), FARTHER: ((0.0, -pi, 0.0), RATE)}
"""Initial rotation vector and rate: as printed, and two choices that reach the singular point after 0.5 s."""
RATES, REGULAR, PROPOSED = "(87) as printed", "(87) regularised", "proposed"
FORMS = {
    RATES: "rotation_vector_direct:rk4:printed", REGULAR: "rotation_vector_direct:rk4:regularised",
    PROPOSED: "rotation_vector",
}  # fmt: skip
STEP, T_END = 1 / 32, 1.0
OFF = 1e-2  # rad; larger than the method's error at this step


def motion(reading: str, epsilon: float, t_end: float = T_END) -> Motion:
    v0, rate = READINGS[reading]
    return Motion((0.0, rate, rate * epsilon), t_end, v0)


def history(reading: str, epsilon: float) -> xr.Dataset:
    """|v| and the attitude error over time (rad), NaN after a run ended."""
    case, n = motion(reading, epsilon), whole(T_END, STEP)
    exact = case.run("exact", STEP)[0].attitude.values
    lengths, errors, outcomes = np.full((len(FORMS), n + 1), nan), np.full((len(FORMS), n + 1), nan), []
    for i, method in enumerate(FORMS.values()):
        ds, outcome = case.run(method, STEP)
        rows = ds.sizes["time"]
        lengths[i, :rows] = np.linalg.norm(ds.rotation_vector.values, axis=1)
        errors[i, :rows] = ph.rotation.angle_between(ds.attitude.values, exact[:rows])
        outcomes.append(outcome)
    dims = ("form", "time")
    return xr.Dataset(
        {"length": (dims, lengths), "attitude_error": (dims, errors), "outcome": ("form", outcomes)},
        {"form": list(FORMS), "time": STEP * np.arange(n + 1)},
    )


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    parts = []
    for reading in READINGS:
        report_progress(f"initial conditions {reading}")
        parts.append(by_epsilon({e: history(reading, e) for e in EPSILONS}))
    data = xr.concat(parts, xr.DataArray(list(READINGS), dims="reading", name="reading"))
    steps = halvings(1, 11 if quick else 14)
    ends = [[motion(r, 0.0).end(FORMS[RATES], h)[1] for h in steps] for r in READINGS]
    return data.assign(outcome_at_zero=(("reading", "step"), ends)).assign_coords(step=list(steps)).assign_attrs(
        {"step": f"{STEP:g} s; the paper prints none for this figure", "regularised": "the coefficient of (87) by its "
         "series at small angles: phi = 0 is no singular point of (87), the division by zero is removable"}
    )  # fmt: skip


def rows_of(data: xr.Dataset, readings: tuple[str, ...]) -> Picture:
    picture, axes = canvas(len(readings), len(FORMS), width=11.0, height=2.9, sharex=True, sharey=True)
    for row, reading in zip(axes, readings, strict=True):
        for ax, form in zip(row, FORMS, strict=True):
            part = data.length.sel(reading=reading, form=form)
            title = form if reading == PRINTED else f"{form}; {reading.replace('omega0', 'ω₀').replace('pi', 'π')}"
            lines = {epsilon_label(e): part.sel(epsilon=e) for e in EPSILONS}
            history_panel(ax, data.time, lines, title, ("time (s)", r"$\|v\|$ (rad)"))
            ended = part.sel(epsilon=0.0).dropna("time")
            if ended.size < part.time.size:
                ax.plot(ended.time[-1], ended[-1], "x", color=INK, markersize=8, label="not a number")
            ax.label_outer()
    axes[0, 0].set_ylim(0.0, 5.2)
    legend_below(picture, axes[0, 0], 5)
    return picture


def draw(data: xr.Dataset) -> dict[str, Picture]:
    return {"fig03": rows_of(data, (PRINTED,)), "fig03_other_readings": rows_of(data, (SLOWER, FARTHER))}


# ------------------------------------------------------------------ judges
def reached(data: xr.Dataset) -> Finding:
    measured = {}
    for reading in READINGS:
        length = data.length.sel(reading=reading, epsilon=0.0, form=PROPOSED)
        measured[reading] = float(data.time[np.argmin(length.values)]) if length.notnull().all() else nan
    parts = {name: at_most(abs(t - 0.5), 1e-9) for name, t in measured.items()}
    return Finding(parts, {"phi = 0 is reached at": measured})


def undetermined(data: xr.Dataset) -> Finding:
    zero = data.sel(reading=PRINTED, epsilon=0.0)
    late = zero.attitude_error.isel(time=-1)
    lost = {
        form: ended_or_off(float(late.sel(form=form)), zero.outcome.sel(form=form).item(), OFF)
        for form in (RATES, REGULAR)
    }
    stops = data.outcome_at_zero.sel(reading=PRINTED) != "completed"
    hit = data.step.values[stops.values]
    parts = {
        f"{RATES}, step 1/32": lost[RATES],
        f"{RATES}, every step": at_least(float(stops.mean()), 1.0),
        REGULAR: lost[REGULAR],
    }
    return Finding(parts, {"outcome at 1/32": str(zero.outcome.sel(form=RATES).item()),
                           "no number at the steps 1/": ", ".join(f"{1 / h:.0f}" for h in hit) or "none",
                           "attitude error at 1 s, regularised": float(late.sel(form=REGULAR))})  # fmt: skip


def passes(data: xr.Dataset) -> Finding:
    worst = data.attitude_error.sel(form=PROPOSED).max("time", skipna=False).max("reading", skipna=False)
    measured = named(worst)
    return Finding({f"eps = {e}": at_most(x, OFF) for e, x in measured.items()}, {"largest attitude error": measured})


FIGURE = Figure("fig03", "rotation vector through zero: its length over time", compute, draw, (
    Claim("The singular point phi = 0 is reached after 0.5 s", "7.1.1", reached),
    Claim("At phi = 0 the rotation vector can no longer be determined by integrating (87)", "7.1.1, Fig. 3(a)",
          undetermined),
    Claim("The proposed approach passes through phi = 0 without failing", "7.1.1, Fig. 3(b)", passes),
))  # fmt: skip
