"""Shared by figures 11 to 18: the heavy top of section 7.2, runs of it, and its motion by a power series.

The series is an independent reference that shares no formula with the library. Equations (74) to (76) are quadratic in
the angular velocity w, gravity g in the body frame and the attitude quaternion q,

    J w' = J w x w + m r x g,     g' = g x w,     q' = q (0, w)/2,

so the coefficients of the power series follow by recursion. They are computed in decimal arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from functools import cache
from math import cos, sin
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

import polhode as ph
from polhode_papers.criteria import at_most
from polhode_papers.drawing import COLOURS, GREY, canvas
from polhode_papers.measure import unwarned
from polhode_papers.study import Finding, Reporter

MASS, CENTRE, GRAVITY = 15.0, (0.0, 1.0, 0.0), 9.81  # [holzinger2021, 7.2]
MOMENTS = (0.234375, 0.46875, 0.234375)  # about the centre of mass
OMEGA = (0.0, 150.0, -4.61538)
TOP = ph.heavy_top(MOMENTS, CENTRE, mass=MASS, gravity=GRAVITY, inertia_about="center_of_mass")
STEP = 1e-3
SPAN = 2.0  # s; the paper gives none for figures 11 to 16; this is more than two nutations

CHARTS = {"rotation vector": "rotation_vector", "Cardan angles": "euler"}
VECTOR, ANGLES = CHARTS
SERIES = "power series"
ALIKE = 1e-12  # equal up to round-off
CLOSE = 1e-3  # relative error of runs with steps of 1e-3 over 2 s

DIGITS, ORDER, SEGMENT = 30, 24, 0.01  # the printed top rotates by 1.5 rad in a segment (s)


# ------------------------------------------------------------------ the motion by a power series
def coefficients(start: Any) -> Any:
    """Coefficients of the power series of (w, g, q), shape (ORDER + 1, 10), from their values at time 0."""
    r, J, mass = np.array([*map(Decimal, CENTRE)]), np.array([*map(Decimal, MOMENTS)]), Decimal(MASS)
    J = J + mass * (r @ r - r * r)  # [holzinger2021, eq. 75]
    c = np.full((ORDER + 1, 10), Decimal(0))
    c[0] = start
    for k in range(ORDER):
        back, w, g, q0, qv = c[k::-1, :3], c[: k + 1, :3], c[: k + 1, 3:6], c[: k + 1, 6:7], c[: k + 1, 7:]
        c[k + 1, :3] = (np.cross(J * w, back).sum(axis=0) + mass * np.cross(r, g[k])) / J
        c[k + 1, 3:6] = np.cross(g, back).sum(axis=0)
        c[k + 1, 6] = -(qv * back).sum() / 2
        c[k + 1, 7:] = (q0 * back + np.cross(qv, back)).sum(axis=0) / 2
        c[k + 1] /= k + 1
    return c


@cache
def exact(t_end: float, rows: int = 1, tilt: float = 0.0, spin: float = OMEGA[1]) -> xr.Dataset:
    """The motion by power series: an attitude whose sign does not jump, and the angular velocity.

    ``t_end`` is a whole number of segments, each with so many ``rows``; ``tilt`` (rad) and ``spin`` (rad/s): initial
    angle and angular velocity about axis 2.
    """
    gravity = (GRAVITY * sin(tilt), 0.0, -GRAVITY * cos(tilt))
    state = np.array([*map(Decimal, (0.0, spin, OMEGA[2], *gravity, cos(tilt / 2), 0.0, sin(tilt / 2), 0.0))])
    results = []
    with localcontext(prec=DIGITS):
        powers = np.array([Decimal(SEGMENT) ** k for k in range(ORDER + 1)])[:, None]
        for _ in range(round(t_end / SEGMENT)):
            c = coefficients(state) * powers
            results.append(np.polynomial.polynomial.polyval(np.arange(rows) / rows, c.astype(float)).T)
            state = c.sum(axis=0)
    values = np.vstack([*results, state.astype(float)])
    return xr.Dataset(
        {"attitude": (("time", "quaternion"), values[:, 6:]), "angular_velocity": (("time", "axis"), values[:, :3])},
        {"time": SEGMENT / rows * np.arange(len(values))},
    )


# ------------------------------------------------------------------ runs
@cache
@unwarned()
def run(method: str, t_end: float = SPAN) -> xr.Dataset:
    """Run the top from the printed initial state; every step of 1e-3 s is recorded."""
    return ph.integrate(TOP, method, step=STEP, t_end=t_end, angular_velocity=OMEGA)


def truth() -> xr.Dataset:
    """The exact motion by power series, at the times of ``run``."""
    return exact(SPAN, round(SEGMENT / STEP))


def centre_of_mass(quantity: str, report_progress: Reporter) -> xr.Dataset:
    """Position (m) or velocity (m/s) of the centre of mass, by both charts and by the power series."""
    report_progress("both charts")
    values = [ph.runs.point_motion(run(method), CENTRE)[quantity].values for method in CHARTS.values()]
    report_progress(SERIES)
    R = ph.rotation.matrix_from_quaternion(truth().attitude.values)
    arm = {"position": np.array(CENTRE), "velocity": np.cross(truth().angular_velocity, CENTRE)}[quantity]
    values.append(np.einsum("tij,tj->ti", R, np.broadcast_to(arm, (len(R), 3))))
    return compared(quantity, values)


def compared(quantity: str, values: Any) -> xr.Dataset:
    """Dataset of vectors over time by both charts and by the power series; step and span as an attribute."""
    return xr.Dataset(
        {quantity: (("by", "time", "axis"), np.array(values))},
        {"by": [*CHARTS, SERIES], "time": STEP * np.arange(len(values[0])), "axis": [1, 2, 3]},
        {"run": f"steps of {STEP:g} for {SPAN:g} s (the paper names no span), RK4 with the exponential map"},
    )


def apart(data: xr.DataArray, a: str, b: str) -> xr.DataArray:
    """Distance between two vectors at every time."""
    difference = data.sel(by=a, drop=True) - data.sel(by=b, drop=True)
    result: xr.DataArray = (difference**2).sum("axis") ** 0.5
    return result


def alike(quantity: str, data: xr.Dataset) -> Finding:
    """Judge whether both charts agree to round-off, and with the power series to 1e-3 of the size."""
    size = float(np.sqrt((data[quantity] ** 2).sum("axis", skipna=False)).max())
    between = float(apart(data[quantity], VECTOR, ANGLES).max())
    deviation = float(apart(data[quantity], VECTOR, SERIES).max())
    parts = {"the same by both, but for round-off": at_most(between / size, ALIKE),
             "that of (74) to (76), to 1e-3 of its size": at_most(deviation / size, CLOSE)}  # fmt: skip
    return Finding(parts, {"largest size": size, "largest difference": between, f"from the {SERIES}": deviation})


# ------------------------------------------------------------------ pictures
def components(ax: Axes, time: Any, values: Any, names: tuple[str, ...], label: str) -> None:
    """Three components over time."""
    for y, name, colour in zip(np.asarray(values).T, names, COLOURS, strict=False):
        ax.plot(time, y, color=colour, label=name, linewidth=1.0)
    ax.set(xlim=(float(time[0]), float(time[-1])), ylabel=label)
    ax.legend(frameon=False, ncols=len(names), loc="lower right", bbox_to_anchor=(1.0, 1.0), borderpad=0.0)


def differences(ax: Axes, time: Any, lines: Mapping[str, Any], label: str) -> None:
    """Distances over time on a logarithmic axis; zeros are left out."""
    for (name, y), colour in zip(lines.items(), (GREY, *COLOURS[3:]), strict=False):
        ax.semilogy(time, np.where(np.asarray(y) > 0.0, y, np.nan), color=colour, label=name, linewidth=0.8)
    ax.set(xlim=(float(time[0]), float(time[-1])), xlabel="time (s)", ylabel=label)
    ax.legend(frameon=False, ncols=len(lines), loc="lower right")


def picture_of(data: xr.Dataset, quantity: str, names: tuple[str, ...], unit: str) -> Picture:
    """Components by the rotation vector; below, their distance from the Cardan angles and from the power series."""
    picture, axes = canvas(2, 1, height=2.9, sharex=True)
    x = data[quantity]
    components(axes[0, 0], data.time, x.sel(by=VECTOR), names, f"{quantity.replace('_', ' ')} ({unit})")
    lines = {f"from {name}": apart(x, VECTOR, name) for name in (ANGLES, SERIES)}
    differences(axes[1, 0], data.time, lines, f"distance ({unit})")
    return picture
