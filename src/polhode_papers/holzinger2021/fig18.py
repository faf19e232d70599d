"""Figure 18: heavy top, error at t = 1 against the step, proposed updates and direct integration of the rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.criteria import at_most
from polhode_papers.holzinger2021 import top
from polhode_papers.measure import unwarned, whole
from polhode_papers.study import Claim, Figure, Finding, Reporter

TILT = 0.52359877  # [holzinger2021, 7.2], about axis 2, in v0 and alpha0
T_END = 1.0
STEPS = [1e-2 * 2.0 ** (1 - n) for n in range(1, 12)]
REFERENCE = 1.0 / 204800
PAIRS = {
    "rotation vector": ("rotation_vector", "rotation_vector_direct:rk4:printed", "rotation_vector"),
    "Cardan angles": ("euler", "euler_direct", "euler_angles"),
}
WAYS = ("proposed", "direct")
NORMS = ("attitude", "parameters")
USABLE = slice(2, None)  # excludes larger steps, where no error is below 0.1 rad
FINE = slice(6, None)  # steps of 1.6e-4 and less, where all methods have order 4


@unwarned()
def end(method: str, step: float) -> xr.Dataset:
    """The state at t = 1 s."""
    n = whole(T_END, step)
    return ph.integrate(
        top.TOP, method, step=step, steps=n, every=n, start={"coordinates": (0.0, TILT, 0.0)},
        angular_velocity=top.OMEGA, settings={"guard": False},
    ).isel(time=-1)  # fmt: skip


def apart(difference: Any, pair: str) -> Any:
    """Differences of parameters; angles modulo 2 pi, as integrated rates accumulate whole turns."""
    return difference if pair == "rotation vector" else np.remainder(difference + np.pi, 2 * np.pi) - np.pi


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress(top.SERIES)
    truth = top.exact(T_END, tilt=TILT).attitude.values[-1]
    steps = STEPS[:9] if quick else STEPS
    error = np.empty((len(PAIRS), len(WAYS), len(NORMS), len(steps)))
    reference_errors = {}
    for i, (pair, (*methods, chart)) in enumerate(PAIRS.items()):
        report_progress(f"{pair}, the paper's reference")
        converged = end(methods[0], REFERENCE)
        off = float(ph.rotation.angle_between(converged.attitude, truth))
        reference_errors[f"{pair}: attitude of the paper's reference"] = off
        for j, (way, method) in enumerate(zip(WAYS, methods, strict=True)):
            report_progress(f"{pair}, {way}")
            for k, h in enumerate(steps):
                ds = end(method, h)
                error[i, j, 0, k] = ph.rotation.angle_between(ds.attitude, truth)
                error[i, j, 1, k] = np.linalg.norm(apart(ds[chart].values - converged[chart].values, pair))
    return xr.Dataset(
        {"error": (("parameters", "way", "norm", "step"), error)},
        {"parameters": list(PAIRS), "way": list(WAYS), "norm": list(NORMS), "step": steps},
        {"norms": "attitude: angle from a power series, rad; parameters: the paper's, |v - v_converged|, from "
                  "the proposed update with a step of 1/204800",
         **{name: f"{x:.1e} from the power series" for name, x in reference_errors.items()}},
    )  # fmt: skip


def panel(ax: Axes, data: xr.Dataset, pair: str) -> None:
    for i, way in enumerate(WAYS):
        for norm in NORMS:
            size = data.error.sel(parameters=pair, way=way, norm=norm)
            large = {} if norm == "attitude" else {"markersize": 9.5}  # visible around the other where they coincide
            ax.loglog(data.step, size, label=f"{way}, {norm}", **drawing.style(i, norm == "attitude") | large)
    ax.set_ylim(1e-13, 10.0 * float(data.error.where(np.isfinite(data.error)).max()))
    drawing.triangle(ax, 4)
    ax.set(xlabel="step $h$ (s)", title=pair)


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=10.0, height=4.8, sharey=True)
    for ax, mark, pair in ((left, "(a)", "rotation vector"), (right, "(b)", "Cardan angles")):
        panel(ax, data, pair)
        ax.set_title(f"{mark} {pair}")
    left.set_ylabel("error at $t = 1$ s (rad)")
    drawing.legend_below(picture, left, 4)
    return {"fig18": picture}


# ------------------------------------------------------------------ judges
def fourth_order(data: xr.Dataset) -> Finding:
    error = data.error.sel(way="proposed", norm="attitude")
    observed, steps = ph.trajectory.convergence.observed_order, data.step.values
    orders = {pair: observed(steps, error.sel(parameters=pair).values, 1e-12) for pair in PAIRS}
    parts = {f"{pair}: order 4": criteria.order_is(order, 4.0, 0.1) for pair, order in orders.items()}
    sizes = by_step(error.sel(parameters="rotation vector"))
    return Finding(parts, {"order": orders, "errors, rotation vector": sizes})


def by_step(sizes: xr.DataArray) -> dict[str, float]:
    return {f"{float(h):.3g}": float(x) for h, x in zip(sizes.step.values, sizes.values, strict=True)}


def ratios(data: xr.Dataset) -> xr.DataArray:
    """Errors of the proposed update relative to those of direct integration."""
    return data.error.sel(way="proposed", drop=True) / data.error.sel(way="direct", drop=True)


def smaller(data: xr.Dataset) -> Finding:
    measured, fine = ratios(data).isel(step=USABLE), ratios(data).isel(step=FINE)
    parts: dict[str, Any] = {}
    numbers: dict[str, Any] = {}
    for norm in NORMS:
        largest, at_fine = float(measured.sel(norm=norm).max(skipna=False)), fine.sel(norm=norm)
        parts[f"smaller at every step from 2.5e-3 on, {norm}"] = at_most(largest, 1.0)
        each = {f"{pair}, {h}": x for pair in PAIRS for h, x in by_step(at_fine.sel(parameters=pair)).items()}
        parts[f"by about 1e-2, {norm}"] = criteria.every(each, criteria.ratio_within, 1e-2, 1.9)
        for pair in PAIRS:
            numbers[f"ratio at each step, {pair}, {norm}"] = by_step(measured.sel(norm=norm, parameters=pair))
    return Finding(parts, numbers)


def at_large_steps(data: xr.Dataset) -> Finding:
    error = data.error.sel(norm="attitude", parameters="rotation vector").isel(step=slice(2, 6))
    ours, theirs = (by_step(error.sel(way=way)) for way in WAYS)
    parts = {"less than a tenth, from 2.5e-3 to 3.1e-4": at_most(max(ours[h] / theirs[h] for h in ours), 0.1)}
    return Finding(parts, {"proposed": ours, "direct": theirs})


FIGURE = Figure("fig18", "heavy top: errors at t = 1 against the step", compute, draw, (
    Claim("The order depends only on the integrator: 4 with RK4", "8, Fig. 18", fourth_order),
    Claim("Smaller errors, of about the order of 1e-2, for each step than by integrating the rates", "7.2", smaller),
    Claim("Especially the rotation vector has a much smaller error at larger steps", "7.2", at_large_steps),
))  # fmt: skip
