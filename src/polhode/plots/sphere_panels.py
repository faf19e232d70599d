"""Panels of the dashboard on a unit sphere: the polhode, and the path of the body's axis in space."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import cast

import numpy as np

from polhode.arguments import Array
from polhode.plots import style
from polhode.plots.axes import bare, title
from polhode.plots.rows import beside, filled, joined, scattered, slopes_of, thinned, unresolved
from polhode.plots.shown import Shown, inverse_inertia
from polhode.plots.solids import camera as looking_from, grown
from polhode.plots.style import BLUE, FAINT, GREY, INK, VERMILION, Axes, Figure


def _camera(directions: Array) -> Array:
    """Camera matrix with rows right, up and towards the viewer: seen from near the mean direction, z pointing up."""
    middle = directions.mean(axis=0)
    length = float(np.linalg.norm(middle))
    flat = float(np.hypot(middle[0], middle[1]))
    azimuth = np.arctan2(middle[1], middle[0]) + 0.45 if flat > 0.2 else 0.6
    height = np.arcsin(np.clip(middle[2] / length, -1.0, 1.0)) if length > 0.2 else 0.4
    elevation = float(np.clip(height, -0.95, 0.95))
    if abs(elevation) < 0.3:
        elevation = 0.3 if elevation >= 0.0 else -0.3
    return looking_from(azimuth, elevation)


def _draw(axes: Axes, camera: Array, points: Array, colour: str, width: float, far: float, zorder: float = 2.0) -> None:
    """Draw a curve on the unit sphere: its near side opaque, its far side with opacity ``far``."""
    projected = points @ camera.T
    near = projected[:, 2] >= 0.0
    for side, strength in ((near, 1.0), (~near, far)):
        if side.any() and strength > 0.0:
            x, y = np.where(grown(side), projected[:, :2].T, np.nan)
            order = zorder if strength == 1.0 else 1.5
            axes.plot(x, y, color=colour, linewidth=width, alpha=strength, zorder=order)


@functools.cache
def graticule() -> Array:
    """Circles of latitude and longitude on the unit sphere, every 30 degrees, with NaN between them."""
    u = np.linspace(0.0, 2 * np.pi, 121)
    zero = np.zeros_like(u)
    rings = [np.column_stack([np.cos(b) * np.cos(u), np.cos(b) * np.sin(u), zero + np.sin(b)])
             for b in np.radians((-60, -30, 0, 30, 60))]  # fmt: skip
    rings += [np.column_stack([np.cos(u) * np.cos(a), np.cos(u) * np.sin(a), np.sin(u)])
              for a in np.radians(np.arange(0, 180, 30))]  # fmt: skip
    return strung(rings)


def strung(curves: Sequence[Array]) -> Array:
    """Curves (k, 3) as one, with NaN between them: one line is drawn much faster than many."""
    gap = np.full((1, 3), np.nan)
    return np.concatenate([part for curve in curves for part in (curve, gap)])


def _sphere(axes: Axes, camera: Array, names: str) -> None:
    """Draw the sphere, its circles of latitude and longitude, and its axes."""
    from matplotlib.patches import Circle

    wide, high = style.inches(axes)
    bare(axes, (1.26 * wide / high, 1.26))
    axes.add_patch(Circle((0, 0), 1.0, facecolor="#f7f8fa", edgecolor="#b9bdc4", linewidth=1.0, zorder=0))
    _draw(axes, camera, graticule(), "#dfe2e7", 0.7, 0.35, 1.0)
    named: list[tuple[float, float]] = []
    for k in range(3):
        x, y, depth = camera[:, k]
        if np.hypot(x, y) < 0.1:
            axes.plot([x], [y], marker="+", color=GREY, markersize=7, zorder=2)
        else:
            arrow = {"arrowstyle": "-|>", "color": GREY, "linewidth": 0.9, "mutation_scale": 9,
                     "alpha": 1.0 if depth >= 0.0 or 1.16 * np.hypot(x, y) > 1.0 else 0.35}  # fmt: skip
            root = (x, y) if depth >= 0.0 or np.hypot(x, y) < 0.9 else (x / np.hypot(x, y), y / np.hypot(x, y))
            axes.annotate("", (1.16 * x, 1.16 * y), root, arrowprops=arrow, zorder=2)
        out = max(np.hypot(x, y), 0.09)
        scale = (1.16 * out + 0.07) / out if np.hypot(x, y) > 0.1 else 1.0
        dx = 0.06 if np.hypot(x, y) <= 0.1 else 0.0
        while any(np.hypot(scale * x + dx - u, scale * y - v) < 0.14 for u, v in named):
            scale, dx = (scale + 0.13 / out, dx) if np.hypot(x, y) > 0.1 else (scale, dx + 0.1)
        named.append((scale * x + dx, scale * y))
        axes.text(
            scale * x + dx, scale * y, names[k], ha="center", va="center", fontsize=9.5, color="#5a5a5a", zorder=9
        )


def _enlarged_inset(axes: Axes, camera: Array, directions: Array, colour: str) -> None:
    """Draw an enlarged inset of a path that is too small to see on the sphere."""
    middle = directions.mean(axis=0)
    if len(directions) < 3 or float(np.linalg.norm(middle)) < 0.9 or float(middle @ camera[2]) <= 0.0:
        return
    across = np.cross(camera[1], middle)
    across /= np.linalg.norm(across)
    upward = np.cross(middle, across) / np.linalg.norm(middle)
    chosen = thinned(directions)
    flat = (chosen - middle) @ np.column_stack([across, upward])
    size = float(np.abs(flat).max())
    if not 1e-9 < size < 0.1:
        return
    corner = axes.inset_axes((0.0, 0.0, 0.24, 0.28))
    limits = (-1.2 * size, 1.2 * size)
    corner.set(xticks=[], yticks=[], facecolor="#f7f8fa", aspect="equal", anchor="SW", xlim=limits, ylim=limits)
    corner.grid(False)
    for side in corner.spines.values():
        side.set(visible=True, color=FAINT)
    if joined(chosen, len(directions), 2 * size):
        corner.plot(*flat.T, color=colour, linewidth=1.0 if len(flat) < 1000 else 0.35)
    else:
        style.dots(corner, flat, 1.2, colour)
    style.mark_ends(corner, flat[0], flat[-1], sizes=(5.5, 4.0), edge=1.2, zorder=6)
    enlarged = f"{0.26 / size:.2g}"
    corner.set_title(f"enlarged {float(enlarged):,.0f} times", fontsize=8.5, fontweight="normal", loc="center", pad=3)


def _curve(axes: Axes, camera: Array, times: Array, directions: Array, colour: str, exact: Array | None = None) -> str:
    """Draw the path on the sphere, a line where rows resolve it, else dots, with start and end. Returns a note."""
    n, note = len(directions), ""
    if exact is not None:
        _draw(axes, camera, exact, colour, 1.4, 0.3, 3.0)
        if n <= 400:
            _dots(axes, camera, directions, colour, 2.5)
    else:
        some = scattered(n, MOST_RESOLVED)
        t, rows = times[some], directions[some]
        slopes = slopes_of(t, rows)
        gaps = unresolved(t, rows, slopes, 3.0) | (np.linalg.norm(np.diff(rows, axis=0), axis=1) > 0.8)
        _, path = filled(t, rows, slopes, gaps)
        with np.errstate(invalid="ignore"):
            path = path / np.linalg.norm(path, axis=1, keepdims=True)
        _draw(axes, camera, path, colour, 1.4 if n < 3000 else 1.0, 0.3, 3.0)
        if gaps.any():
            _dots(axes, camera, rows[beside(gaps)], colour, 3.0 if n <= 400 else 1.6)
            note = "dots: rows are too far apart for a line"
    _ends(axes, (directions[[0, -1]] @ camera.T)[:, :2])
    _enlarged_inset(axes, camera, directions, colour)
    return note


MOST_RESOLVED = 20_000  # most rows between which cubics are drawn


def _dots(axes: Axes, camera: Array, points: Array, colour: str, size: float) -> None:
    """Draw points, those on the far side pale."""
    projected = points @ camera.T
    near = projected[:, 2] >= 0.0
    style.dots(axes, projected[near, :2], size, colour, zorder=3)
    style.dots(axes, projected[~near, :2], size, colour, alpha=0.25)


PLACES = ((7, 7), (7, -7), (-7, 7), (-7, -7), (12, 0), (-12, 0), (0, 13), (0, -13))
"""Where a label may stand beside its point (points), the first that is free."""


def _ends(axes: Axes, ends: Array) -> None:
    """Mark start and end, with labels that overlap neither the points nor other labels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(cast("Figure", axes.figure)).get_renderer()  # type: ignore[no-untyped-call]
    same = float(np.linalg.norm(ends[0] - ends[1])) < 0.02
    style.mark_ends(axes, ends[0], ends[1], sizes=(7.0, 4.0 if same else 6.0), zorder=6)
    for k, word in enumerate(["start, end"] if same else ["start", "end"]):
        taken = [text.get_window_extent(renderer) for text in axes.texts if text.get_text()]
        other = axes.transData.transform(ends[1 - k])
        places = PLACES if k == 0 or ends[0][1] < ends[1][1] else (PLACES[1], PLACES[0], *PLACES[2:])
        for right, up in places:
            text = axes.annotate(
                word, ends[k], (right, up), textcoords="offset points", color=INK, zorder=8,
                ha="left" if right > 0 else "right" if right < 0 else "center",
                va="bottom" if up > 0 else "top" if up < 0 else "center",
                bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
                fontsize=min(8.5, style.points()),
            )  # fmt: skip
            box = text.get_window_extent(renderer)
            if (same or not box.contains(*other)) and not any(box.overlaps(one) for one in taken):
                break
            text.remove()
        else:
            axes.annotate(word, ends[k], (7, 7), textcoords="offset points", color=INK, zorder=8, va="bottom",
                          fontsize=min(8.5, style.points()))  # fmt: skip


def level_curves(J: Array, levels: int = 3) -> list[Array]:
    """Curves of constant kinetic energy on the unit sphere of momentum directions: ``n . J n`` constant."""
    values, axes = np.linalg.eigh(J)
    low, mid, high = values
    if high - low <= 1e-6 * abs(high):
        return []
    u = np.linspace(0.0, 2 * np.pi, 181)
    curves = []
    fractions = [(k / (levels + 1)) ** 2 for k in range(1, levels + 1)]
    split = mid - low > 1e-6 * high and high - mid > 1e-6 * high
    for pole in (0, 2):
        gap = mid - values[pole]
        if abs(gap) <= 1e-6 * abs(high):
            continue
        first, second = [k for k in range(3) if k != pole]
        for fraction in [*([1.0] if split and pole == 0 else []), *fractions]:
            reach = fraction * gap
            point = np.zeros((len(u), 3))
            point[:, first] = np.sqrt(reach / (values[first] - values[pole])) * np.cos(u)
            point[:, second] = np.sqrt(reach / (values[second] - values[pole])) * np.sin(u)
            rest = np.sqrt(np.maximum(0.0, 1.0 - point[:, first] ** 2 - point[:, second] ** 2))
            for sign in (1.0, -1.0):
                point[:, pole] = sign * rest
                curves.append(point @ axes.T)
    return curves


def polhode_loop(J: Array, direction: Array) -> Array | None:
    """The closed curve of constant energy on the unit sphere through a direction; None where it is a point."""
    values, axes = np.linalg.eigh(J)
    n = np.asarray(direction) @ axes
    level = float(n * n @ values)
    pole = 2 if level > values[1] else 0
    first, second = [k for k in range(3) if k != pole]
    reach = level - values[pole]
    gaps = values[[first, second]] - values[pole]
    if (np.abs(gaps) <= 1e-9 * abs(values[2])).any() or reach / gaps[0] < 0.0:
        return None
    u = np.linspace(0.0, 2.0 * np.pi, 721)
    point = np.zeros((len(u), 3))
    point[:, first], point[:, second] = np.sqrt(reach / gaps[0]) * np.cos(u), np.sqrt(reach / gaps[1]) * np.sin(u)
    rest = 1.0 - point[:, first] ** 2 - point[:, second] ** 2
    if rest.min() < 0.0:
        return None
    point[:, pole] = np.copysign(1.0, n[pole]) * np.sqrt(rest)
    return point @ axes.T


def _timed(shown: Shown, vectors: Array) -> tuple[Array, Array]:
    """Times and directions of the rows whose vectors are finite and not zero, in the order of the run."""
    times = np.asarray(shown.ds["time"].values, dtype=float)
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    usable = np.isfinite(length) & (length > 0.0)
    return times[usable], vectors[usable] / length[usable, None]


def draw_polhode(axes: Axes, shown: Shown) -> None:
    """Plot the direction of the angular momentum in the body frame, among curves of equal energy."""
    m = shown.run("angular_momentum")
    times, directions = _timed(shown, m)
    words, note = f"Polhode: angular momentum, body frame{shown.of_body}", ""
    if not len(directions):
        _sphere(axes, _camera(np.array([[1.0, 0.5, 0.5]])), "xyz")
        axes.text(0.0, 0.0, "no angular momentum", ha="center", va="center", fontsize=9.5, color=GREY)
    else:
        camera = _camera(thinned(directions))
        _sphere(axes, camera, "xyz")
        J = inverse_inertia(m, shown.run("angular_velocity"))
        levels = [] if J is None else level_curves(J)
        if levels:
            _draw(axes, camera, strung(levels), "#b5bccb", 0.8, 0.3, 1.8)
        exact = None
        if J is not None and shown.system == "free_body":  # all rows are on one curve of equal energy
            energy = np.einsum("ij,jk,ik->i", directions, J, directions)
            if float(np.ptp(energy)) < 1e-4 * float(np.linalg.norm(J)):
                exact = polhode_loop(J, directions[0])
        note = _curve(axes, camera, times, directions, BLUE, exact)
        note = "; ".join(part for part in ("" if J is None else "grey: equal energy", note) if part)
    title(axes, words, note)


def draw_axis_in_space(axes: Axes, shown: Shown) -> None:
    """Plot the path of the body's z axis in space."""
    w, x, y, z = shown.run("attitude").T
    tips = np.column_stack([2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z])
    times, directions = _timed(shown, tips)
    camera = _camera(thinned(directions))
    _sphere(axes, camera, "XYZ")
    note = _curve(axes, camera, times, directions, VERMILION)
    title(axes, f"Path of the body's z axis in space{shown.of_body}", note)
