"""Figure 5: norm of the Cardan angles as the middle one passes pi/2, by integrating the rates and as proposed."""

from __future__ import annotations

from math import nan, pi

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import drawing
from polhode_papers.criteria import at_most
from polhode_papers.holzinger2021.common import ANGLES, Motion, by_epsilon, ended_or_off, epsilon_label, history_panel
from polhode_papers.measure import named, whole
from polhode_papers.study import Claim, Figure, Finding, Reporter

EPSILONS = (0.0, 1e-5, 1e-2, 1e-1)  # [holzinger2021, eq. 72]
DIRECT, PROPOSED = "(88)", "proposed"
FORMS = {DIRECT: "euler_direct:rk4:XYZ", PROPOSED: "euler"}
STEP, T_END = 1 / 64, 1.0
LOST = 1e-2  # rad
OFF = 1e-4  # rad; larger than the method's error at this step


def motion(epsilon: float, t_end: float = T_END) -> Motion:
    return Motion((0.0, pi, pi * epsilon), t_end, chart=ANGLES)


def history(epsilon: float) -> xr.Dataset:
    """|alpha|, the middle angle and the attitude error over time (rad)."""
    case, n = motion(epsilon), whole(T_END, STEP)
    exact = case.run("exact", STEP)[0].attitude.values
    (norm, error, middle), outcomes = np.full((3, len(FORMS), n + 1), nan), []
    for i, method in enumerate(FORMS.values()):
        ds, outcome = case.run(method, STEP)
        outcomes.append(outcome)
        rows = ds.sizes["time"]
        norm[i, :rows] = np.linalg.norm(ds.euler_angles.values, axis=1)
        middle[i, :rows] = ds.euler_angles.values[:, 1]
        error[i, :rows] = ph.rotation.angle_between(ds.attitude.values, exact[:rows])
    dims = ("form", "time")
    return xr.Dataset(
        dict(norm=(dims, norm), middle_angle=(dims, middle), attitude_error=(dims, error), outcome=("form", outcomes)),
        {"form": list(FORMS), "time": STEP * np.arange(n + 1)},
    )


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("angles over time")
    return by_epsilon({e: history(e) for e in EPSILONS}).assign_attrs(
        {"step": f"{STEP:g} s; the paper prints none for this figure"}
    )


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, axes = drawing.canvas(2, 2, width=9.5, height=2.9, sharex=True)
    for (upper, lower), form in zip(axes.T, FORMS, strict=True):
        part = data.sel(form=form)
        history_panel(upper, data.time, {epsilon_label(e): part.norm.sel(epsilon=e) for e in EPSILONS}, form,
                      ("", r"$\|\alpha\|$ (rad)"))  # fmt: skip
        upper.set_ylim(0.0, 16.0)
        for i, e in enumerate(EPSILONS):
            error = np.maximum(part.attitude_error.sel(epsilon=e), 1e-17)
            lower.semilogy(data.time, error, color=drawing.style(i)["color"])
        lower.set(ylim=(3e-18, 30), xlabel="time (s)", ylabel="attitude error (rad)")
        for ax in (upper, lower):
            ax.label_outer()
    drawing.legend_below(picture, axes[0, 0], 4)
    return {"fig05": picture}


# ------------------------------------------------------------------ judges
def reached(data: xr.Dataset) -> Finding:
    middle = data.middle_angle.sel(form=PROPOSED, epsilon=0.0)
    t = float(data.time[int(np.argmax(middle.values))])
    off = float(np.abs(middle - pi / 2).sel(time=0.5, method="nearest"))
    parts = {
        "it is pi/2 at 0.5 s: difference": at_most(off, 1e-12),
        "it is largest then: difference, s": at_most(abs(t - 0.5), 1e-9),
    }
    return Finding(parts, {"reached at": t, "middle angle - pi/2": float(middle.max()) - pi / 2})


def ends(data: xr.Dataset, form: str) -> dict[str, float]:
    return named(data.attitude_error.sel(form=form).max("time", skipna=False))


def undetermined(data: xr.Dataset) -> Finding:
    measured, last = ends(data, DIRECT), data.norm.sel(form=DIRECT).isel(time=-1)
    outcome = data.outcome.sel(form=DIRECT)
    return Finding({f"eps = {e:g}": ended_or_off(measured[f"{e:g}"], outcome.sel(epsilon=e).item(), LOST)
             for e in (0.0, 1e-5, 1e-2)}, {"largest attitude error": measured,
                           "norm of the angles at 1 s": named(last),
                           "cosine of the rounded pi/2": float(np.cos(pi / 2))})  # fmt: skip


def passes(data: xr.Dataset) -> Finding:
    measured = ends(data, PROPOSED)
    return Finding({f"eps = {e}": at_most(x, OFF) for e, x in measured.items()}, {"largest attitude error": measured})


FIGURE = Figure("fig05", "Cardan angles through a middle angle of pi/2: their norm over time", compute, draw, (
    Claim("The singular point at a middle angle of pi/2 is reached after 0.5 s", "7.1.2", reached),
    Claim("At 0.5 s the angles can no longer be determined by integrating (88)", "7.1.2, Fig. 5(a)", undetermined),
    Claim("The proposed approach passes through without failing", "7.1.2, Fig. 5(b)", passes),
))  # fmt: skip
