"""The satellite of section 3.3.2: data and plots of figures 3.6 and 3.7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

import polhode as ph
from polhode_papers.drawing import BLUE, FAINT, GREEN, VERMILION
from polhode_papers.measure import relative_energy_error
from polhode_papers.study import Reporter

SATELLITE = ph.systems.problem("celledoni_satellite")
SATELLITE_STEPS = (0.1, 0.05)


def satellite(methods: Sequence[str], report_progress: Reporter) -> xr.Dataset:
    """Relative energy errors of methods at both steps, every 0.1, and u = Q^T e3 by the first method."""
    system = SATELLITE.build()
    given: dict[str, Any] = dict(t_end=SATELLITE.t_end, settings={"guard": False}, start=SATELLITE.initial)
    pointing, energy, largest = [], [], []
    for name in methods:
        for h in SATELLITE_STEPS:
            report_progress(f"{name}, step {h:g}")
            ds = ph.integrate(system, name, step=h, **given)
            shown = ds.isel(time=slice(None, None, round(SATELLITE_STEPS[0] / h)))
            pointing.append(ph.rotation.rotate_inverse(shown.attitude.values, (0.0, 0.0, 1.0)))
            error = relative_energy_error(ds)
            energy.append(error.sel(time=shown.time).values)
            largest.append(float(np.abs(error).max()))
    shape, both = (len(methods), len(SATELLITE_STEPS)), ("method", "step")
    return xr.Dataset(
        {
            "u": (("step", "time", "axis"), np.array(pointing[: len(SATELLITE_STEPS)])),
            "relative_energy_error": ((*both, "time"), np.reshape(energy, (*shape, -1))),
            "largest_energy_error": (both, np.reshape(largest, shape)),
        },
        {"method": list(methods), "step": list(SATELLITE_STEPS), "axis": list("xyz"), "time": shown.time.values},
        {
            "H0": repr(float(ds.energy[0])),
            "energy error": "relative to H0; the largest is over every step, the series shows every 0.1",
        },
    )


COLOURS = (BLUE, VERMILION, GREEN)
DOT = 2.2
"""Marker size in points."""


def satellite_picture(data: xr.Dataset) -> Picture:
    """Left: u on the unit sphere by the first method; right: energy errors of all. One row per step."""
    names = [str(name) for name in data["method"].values]
    picture = Picture(figsize=(9.0, 7.0), layout="constrained")
    grid = picture.add_gridspec(len(SATELLITE_STEPS), 2, width_ratios=(1.0, 1.35))
    for k, h in enumerate(SATELLITE_STEPS):
        sphere(picture.add_subplot(grid[k, 0], projection="3d"), data.u.sel(step=h).values, f"{names[0]}, h = {h:g}")
        ax = picture.add_subplot(grid[k, 1])
        for name, colour in zip(names, COLOURS, strict=False):
            error = data.relative_energy_error.sel({"method": name, "step": h})[1:]
            if len(names) > 1:
                ax.semilogy(error.time, np.abs(error), ".", color=colour, markersize=DOT, markeredgewidth=0)
            else:
                ax.plot(error.time, error, ".", color=colour, markersize=DOT, markeredgewidth=0)
        ax.set(title=f"h = {h:g}", xlabel="time", ylabel=r"$|H/H_0 - 1|$" if len(names) > 1 else "$H/H_0 - 1$")
        if len(names) > 1:
            keys = [Line2D([], [], color=colour, linestyle="", marker="o", markersize=4, label=name)
                    for name, colour in zip(names, COLOURS, strict=False)]  # fmt: skip
            if k == 0:
                picture.legend(handles=keys, loc="outside lower center", ncols=len(names), frameon=False)
    return picture


def sphere(ball: Any, u: Any, title: str) -> None:
    """Directions as points on the unit sphere; those on the far side are pale."""
    up, around = np.radians(ball.elev), np.radians(ball.azim)
    near = u @ (np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)) > 0.0
    turn = np.linspace(0.0, 2.0 * np.pi, 97)
    for angle in np.arange(6) * np.pi / 6:
        ball.plot(np.sin(turn) * np.cos(angle), np.sin(turn) * np.sin(angle), np.cos(turn), color=FAINT, linewidth=0.5)
    for height in np.sin(np.radians((-60, -30, 0, 30, 60))):
        radius = np.sqrt(1.0 - height * height)
        ball.plot(radius * np.cos(turn), radius * np.sin(turn), height, color=FAINT, linewidth=0.5)
    for part, colour in ((~near, "#a9c9de"), (near, BLUE)):
        ball.scatter(*u[part].T, s=2.0, color=colour, depthshade=False, linewidths=0)
    ball.set(xlabel="$u_1$", ylabel="$u_2$", zlabel="$u_3$", title=f"$u = Q^T e_3$, {title}")
    ball.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(-1, 0, 1))
    ball.set_box_aspect((1, 1, 1), zoom=0.95)


def largest(data: xr.Dataset, name: str) -> dict[str, float]:
    """Largest energy error of a method at each step."""
    return {f"h = {h:g}": float(data.largest_energy_error.sel({"method": name, "step": h})) for h in SATELLITE_STEPS}
