"""Dashboard panels for molecules: temperatures, bodies with their dipoles, radial distribution function."""

from __future__ import annotations

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array
from polhode.lazy_packages import matplotlib, xr
from polhode.plots import style
from polhode.plots.axes import plain_ticks, title
from polhode.plots.style import BLUE, FAINT, GREEN, GREY, INK, VERMILION, Axes, Axes3D

MOST_ROWS = 60
"""Most rows over which distances are averaged."""
MOST_BODIES = 4000
"""Most bodies drawn."""
SHELLS = 120
ARROW = 0.45
"""Length of a dipole's arrow in units of the mean distance between neighbours."""


def draw_temperatures(axes: Axes, ds: xr.Dataset, times: Array) -> str:
    """Plot the temperatures of translation and rotation; returns a note with their means over the second half."""
    curves = {
        "translation": (ds.temperature_translational, BLUE),
        "rotation": (ds.temperature_rotational, VERMILION),
        "both": (ds.temperature, INK),
    }
    for _, (values, colour) in curves.items():
        axes.plot(times, values.values, color=colour, linewidth=0.9 if colour != INK else 1.4)
    latter = slice(len(times) // 2, None)
    finite = np.concatenate([np.asarray(values.values)[np.isfinite(values.values)] for values, _ in curves.values()])
    if finite.size:
        room = 0.05 * (float(finite.max() - finite.min()) or 1.0)
        axes.set_ylim(float(finite.min()) - room, float(finite.max()) + room)
    ends = [(float(np.mean(values.values[latter])), name, colour) for name, (values, colour) in curves.items()]
    style.label_ends(axes, ends)
    means = [np.mean(values.values[latter]) for values, _ in list(curves.values())[:2]]
    return f"second half: translation {means[0]:.4g}, rotation {means[1]:.4g}"


def draw_bodies(axes: Axes3D, ds: xr.Dataset) -> None:
    """Plot the last row in space: a dot for each body, an arrow along its dipole, coloured by its z component."""
    last = ds.isel(time=-1)
    r = np.array(last.position.values)[:MOST_BODIES]
    box = ds["box"].values if "box" in ds else None
    if box is not None:
        r = np.mod(r, box)
    low, high = (np.zeros(3), box) if box is not None else (r.min(axis=0), r.max(axis=0))
    near = (np.prod(np.maximum(high - low, 1e-300)) / max(len(r), 1)) ** (1.0 / 3.0)
    axes.scatter(*r.T, s=6.0, c=GREY, depthshade=True, linewidths=0.0)
    if "dipole" in ds and "attitude" in ds:
        u = rotation.rotate(last.attitude.values[: len(r)], ds.dipole.values[: len(r)])
        length = np.linalg.norm(u, axis=1, keepdims=True)
        u = u / np.where(length > 0.0, length, 1.0)
        colours = matplotlib.colormaps["coolwarm"](0.5 + 0.5 * u[:, 2])
        axes.quiver(*r.T, *(ARROW * near * u).T, colors=colours, linewidth=1.0, arrow_length_ratio=0.35)
    if box is not None:
        for k in range(3):
            for a in (0.0, box[(k + 1) % 3]):
                for b in (0.0, box[(k + 2) % 3]):
                    edge = np.zeros((2, 3))
                    edge[1, k], edge[:, (k + 1) % 3], edge[:, (k + 2) % 3] = box[k], a, b
                    axes.plot(*edge.T, color=FAINT, linewidth=0.8)
    for name, lo, hi in zip("xyz", low, high, strict=True):
        getattr(axes, f"set_{name}lim")(lo, hi if hi > lo else lo + 1.0)
        getattr(axes, f"{name}axis").set_pane_color((1.0, 1.0, 1.0, 0.0))
    axes.set_box_aspect(np.maximum(high - low, 1e-3 * np.max(high - low) or 1.0))
    axes.grid(False)
    axes.tick_params(labelsize=7.5, pad=-1)
    axes.locator_params(nbins=4)
    title(axes, f"Bodies and dipoles at t = {float(last.time):.6g}")


def draw_distances(axes: Axes, ds: xr.Dataset) -> None:
    """Plot the radial distribution function of the second half of the run; in free space the pair-distance density."""
    from polhode.trajectory.observables import radial_distribution

    n = ds.sizes["time"]
    rows = slice(n // 2, None, max(1, (n - n // 2) // MOST_ROWS))
    distribution = radial_distribution(ds, SHELLS, rows=rows)
    name = "g" if "g" in distribution else "pair_density"
    axes.plot(distribution.r, distribution[name], color=GREEN)
    if name == "g":
        axes.axhline(1.0, color=GREY, linewidth=0.8, zorder=1)
        title(axes, "Radial distribution function, second half")
    else:
        title(axes, "Density of the distances of pairs, second half")
    axes.set_xlabel(style.with_units("r", str(distribution.r.attrs.get("units", ""))))
    axes.set_xlim(0.0, float(distribution.r[-1]))
    axes.set_ylim(bottom=0.0)
    exponent = plain_ticks(axes.yaxis, float(axes.get_ylim()[1]))
    axes.set_ylabel("g" if name == "g" else style.with_units("density", "", exponent))
