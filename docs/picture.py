"""The picture of the README: ``python docs/picture.py [file.png]``. Torque-free motions are exact, not integrated."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import polhode as ph
from polhode.plots import style

FILE = Path(__file__).parent / "images" / "free-motion.png"
INERTIA = (1.0, 1.6, 2.4)
EYE = np.array([0.75, 0.55, 0.42])
LONG_RUN = (
    ("mkrk:rk4", style.GREY, 4),
    ("v2", style.ORANGE, 1),
    ("rkn6_14a", style.BLUE, 14),
    ("aba10_6_4", style.VERMILION, 8),
)
"""Methods, their colours, and load evaluations per step."""
LOADS_PER_SECOND, SPAN = 280, 1000.0


def projected(points: Any) -> tuple[Any, Any, Any]:
    """Coordinates of points in the view from direction EYE: right, up, towards the viewer."""
    towards = EYE / np.linalg.norm(EYE)
    right = np.cross((0.0, 0.0, 1.0), towards)
    right /= np.linalg.norm(right)
    return points @ right, points @ np.cross(towards, right), points @ towards


def curve(axes: Any, points: Any, colour: Any, width: float = 1.3) -> None:
    """Draw a curve on the unit sphere, faint where it is behind."""
    x, y, depth = projected(points)
    for near, strength in ((depth >= -0.02, 1.0), (depth <= 0.02, 0.18)):
        axes.plot(np.where(near, x, np.nan), np.where(near, y, np.nan), color=colour, linewidth=width, alpha=strength)


def polhodes(axes: Any) -> None:
    """Draw paths of the angular momentum in the body, around the axes of the smallest and the largest moment."""
    axes.add_patch(matplotlib.patches.Circle((0, 0), 1.0, facecolor="#f7f8fa", edgecolor=style.FAINT))
    shades = matplotlib.colormaps
    for angle in np.linspace(0.06, 0.97, 8):
        for axis, shade in ((0, shades["Blues"]), (2, shades["Oranges"])):
            for sign in (1.0, -1.0):
                # Angle from this axis, as a fraction of that of the separatrix.
                edge = separatrix(axis)
                start = np.zeros(3)
                start[axis], start[2 - axis] = sign * np.cos(angle * edge), np.sin(angle * edge)
                curve(axes, ph.poinsot.polhode_curve(INERTIA, start, 400).angular_momentum, shade(0.95 - 0.5 * angle))
    for axis in (0, 2):
        edge = separatrix(axis)
        for sign in (1.0, -1.0):
            start = np.zeros(3)
            start[axis], start[2 - axis] = sign * np.cos(edge), np.sin(edge)
            curve(axes, ph.poinsot.polhode_curve(INERTIA, start, 800).angular_momentum, style.INK, 1.0)
    for k, word in enumerate(("smallest moment", "middle moment", "largest moment")):
        x, y, _ = projected(np.eye(3)[k])
        axes.plot(x, y, "o", color=style.INK, markersize=3)
        axes.annotate(
            word, (x, y), (0, 9), textcoords="offset points", ha="center", va="center", fontsize=8.5,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}, zorder=9,
        )  # fmt: skip
    axes.set(xlim=(-1.2, 1.2), ylim=(-1.1, 1.2), aspect="equal")
    axes.axis("off")
    axes.set_title("Polhodes: momentum in the body")


def separatrix(axis: int) -> float:
    """Angle from this axis to the separatrix in the plane of the axes of the smallest and the largest moment."""
    low, high = 1 / INERTIA[0] - 1 / INERTIA[1], 1 / INERTIA[1] - 1 / INERTIA[2]
    return float(np.arctan(np.sqrt(low / high if axis == 0 else high / low)))


def herpolhode(axes: Any) -> None:
    """Draw the path of the angular velocity in the invariable plane."""
    momentum = (0.02, 0.5, 1.0)
    period = ph.poinsot.free_motion_periods(INERTIA, momentum).polhode
    x, y = ph.poinsot.herpolhode_curve(INERTIA, momentum, np.linspace(0.0, 24 * period, 9000)).in_plane.T
    axes.plot(x, y, color=style.BLUE, linewidth=0.7)
    axes.set_aspect("equal", "datalim")
    axes.margins(0.08)
    axes.axis("off")
    axes.set_title("Herpolhode: velocity in space")


def long_run(axes: Any) -> None:
    """Draw the energy error of a satellite that tumbles in a gravity gradient, with equally many loads per second."""
    ready = ph.problem("celledoni_satellite")
    for name, colour, loads in LONG_RUN:
        step = loads / LOADS_PER_SECOND
        steps = round(SPAN / step)
        ds = ph.integrate(
            ready.build(), name, step=SPAN / steps, steps=steps, every=max(1, steps // 4000), start=ready.initial
        )
        error = np.maximum.accumulate(abs(ds.energy_error.values))[1:]
        axes.plot(ds.time[1:], error, color=colour, linewidth=1.6)
        axes.annotate(name, (ds.time[-1], error[-1]), (5, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, SPAN)
    axes.set_xlabel(f"time (s); every method evaluates {LOADS_PER_SECOND} torques a second")
    axes.set_title("Energy error of a tumbling satellite")


def draw(path: str | Path) -> None:
    """Write the picture."""
    with matplotlib.rc_context(style.RC):
        figure = Figure(figsize=(12, 4.1), dpi=style.DPI)
        polhodes(figure.add_axes((0.005, 0.02, 0.31, 0.86)))
        herpolhode(figure.add_axes((0.325, 0.02, 0.255, 0.86)))
        long_run(figure.add_axes((0.645, 0.13, 0.275, 0.75)))
        style.write(figure, path)


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else FILE)
