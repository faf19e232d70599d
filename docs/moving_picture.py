"""The README's moving picture: a box thrown about its middle axis, which turns over and over again (Dzhanibekov).

    python docs/moving_picture.py [docs/images/tumbling.gif]

The motion is exact, at any time, by ``polhode.free_motion``. The throw is chosen such that after one period of the
polhode the body has turned about its angular momentum a whole number of times: so the film has neither beginning nor
end. The background is opaque: the same on light and on dark pages.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from scipy.optimize import brentq

import polhode as ph
from polhode.plots import animation, solids
from polhode.plots.sphere_panels import level_curves

SIDES = np.array([1.55, 1.0, 0.34])
"""Of the box, along x, y and z; it is thrown about y."""
TURNS = 6
"""Times that the body turns about its angular momentum until it is as it was."""
SIZE, FPS, SECONDS = (720, 360), 25, 8.8
NIGHT, PALE, FAINT, GLOW = "#0f1726", "#d7deea", "#31405a", "#ffb347"
FACES = ("#ff7f50", "#3fc1a5", "#5aa9ff")
"""Colours of the faces across x, y and z."""
TAIL = 0.30
"""Part of the period that a bright trace is long."""


def motion(frames: int) -> tuple[Any, Any, Any]:
    """Attitudes (frames, 3, 3), momenta in the body (frames, 3) and the inertia of the throw that closes."""
    squares = SIDES**2
    inertia = squares.sum() - squares
    inertia /= inertia[1]

    def momentum(aside: float) -> Any:
        return np.array([aside, np.sqrt(1.0 - aside**2), 0.0])

    def excess(aside: float) -> float:
        return (
            float(ph.runs.poinsot.free_motion_periods(inertia, momentum(aside)).precession_angle) - 2.0 * np.pi * TURNS
        )

    aside = brentq(excess, 1e-6, 0.3, xtol=1e-15)
    period = float(ph.runs.poinsot.free_motion_periods(inertia, momentum(aside)).polhode)
    times = period * (np.arange(frames) / frames + 0.235)  # the first frame is amid a flip
    upright = ph.rotation.quaternion_from_matrix(_turning(momentum(aside), np.array([0.0, 0.0, 1.0])))
    q, m = ph.free_motion(inertia, momentum(aside), times, attitude=upright)
    return ph.rotation.matrix_from_quaternion(q), m, inertia


def _turning(a: Any, b: Any) -> Any:
    """The rotation that takes the unit vector a to b."""
    axis = np.cross(a, b)
    return np.asarray(ph.rotation.exp_matrix(axis / np.linalg.norm(axis) * np.arccos(a @ b)))


def _trace(curve: Any, camera: Any, k: int, colour: str, dim: float) -> tuple[Any, Any, Any]:
    """Segments on the screen of a closed curve, their colours fading into the past, and which are on the near side."""
    n = len(curve)
    back = int(TAIL * n)
    points = curve[np.arange(k - back, k + 1) % n] @ camera.T
    segments = np.stack([points[:-1, :2], points[1:, :2]], axis=1)
    near = points[1:, 2] >= 0.0
    share = np.linspace(0.0, 1.0, back)[:, None] ** 1.3
    share = np.where(near[:, None], share, dim * share)
    return segments, np.hstack([np.tile(solids.rgb(colour), (back, 1)), share]), near


def picture() -> tuple[Figure, Any, int]:
    """The figure, a function that shows a frame in it, and the number of frames."""
    frames = round(FPS * SECONDS)
    R, m, inertia = motion(frames)
    figure = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), dpi=100, facecolor=NIGHT)
    FigureCanvasAgg(figure)
    left, right = figure.add_axes((0.0, 0.0, 0.5, 1.0)), figure.add_axes((0.5, 0.0, 0.5, 1.0))
    for axes in (left, right):
        axes.set(xlim=(-1.42, 1.42), ylim=(-1.44, 1.40), aspect="equal")
        axes.axis("off")
    shows = [_body(left, R), _polhode(right, m, inertia)]
    for axes, words in ((left, "in space: a box thrown about its middle axis"), (right, "in the body: its polhode")):
        axes.text(0.0, -1.38, words, color="#8fa0bb", fontsize=10.5, ha="center", va="bottom")

    def show(k: int) -> None:
        for one in shows:
            one(k)

    return figure, show, frames


def _body(axes: Any, R: Any) -> Any:
    camera = solids.camera(0.62, 0.30)
    size = 1.36 * SIDES / np.linalg.norm(SIDES)
    faces, colours = [], []
    for k, colour in enumerate(FACES):
        box = solids.box(size)
        for side, share in ((2 * k, 1.0), (2 * k + 1, 0.72)):
            faces.append(box.faces[side])
            colours.append(share * solids.rgb(colour) + (1.0 - share) * solids.rgb("#ffffff"))
    solid = solids.Solid(faces, solids.box(size).normals, np.array(colours), 1.0)
    up = camera[:2, 2]
    axes.plot(*np.array([-1.12 * up, 1.12 * up]).T, color=FAINT, linewidth=1.2, zorder=0)
    circle = np.linspace(0.0, 2.0 * np.pi, 121)
    ring = 1.1 * np.column_stack([np.cos(circle), np.sin(circle), 0.0 * circle]) @ camera.T
    axes.plot(*ring[:, :2].T, color=FAINT, linewidth=0.9, zorder=0)
    tips = 1.1 * R[:, :, 1]
    far, near = LineCollection([], linewidths=1.6, zorder=1), LineCollection([], linewidths=2.4, zorder=6)
    skin = PolyCollection([], linewidths=1.0, zorder=3)
    for one in (far, near, skin):
        axes.add_collection(one)
    (rod,) = axes.plot([], [], color=PALE, linewidth=2.2, solid_capstyle="round")
    (tip,) = axes.plot([], [], marker="o", markersize=7, color=FACES[1], markeredgecolor=NIGHT, markeredgewidth=1.0)
    (shaft,) = axes.plot([], [], color=GLOW, linewidth=2.6, solid_capstyle="butt")
    (head,) = axes.plot([], [], marker="^", markersize=9, color=GLOW, markeredgewidth=0)
    label = axes.text(0.09, 0.0, "L", color=GLOW, fontsize=12, fontstyle="italic", va="center")

    def show(k: int) -> None:
        view = camera @ R[k]
        outlines, shades = solid.seen(view)
        skin.set(verts=outlines, facecolor=shades, edgecolor=0.82 * shades)
        segments, fading, front = _trace(tips, camera, k, FACES[1], 0.45)
        far.set(segments=segments[~front], color=fading[~front])
        near.set(segments=segments[front], color=fading[front])
        out, face = solid.exit(np.array([0.0, 1.0, 0.0]))
        above = 5 if view[2] @ solid.normals[face] > 0.0 else 2
        end = camera[:2] @ tips[k]
        rod.set(data=np.array([out * view[:2, 1], end]).T, zorder=above)
        tip.set(data=np.array([end]).T, zorder=7 if above == 5 else 2)
        along = R[k][2]  # the angular momentum, upright in space, in the body
        out, face = solid.exit(along)
        shown = 5.5 if view[2] @ solid.normals[face] > 0.0 else 1.5
        shaft.set(data=np.array([out * up, 1.12 * up]).T, zorder=shown)
        head.set(data=np.array([1.15 * up]).T, zorder=8)
        label.set(position=1.15 * up + np.array([0.1, 0.0]), zorder=8)

    return show


def _polhode(axes: Any, m: Any, inertia: Any) -> Any:
    camera = solids.camera(1.02, 0.36)
    for k in range(30):  # light from above left
        share = k / 29.0
        shade = solids.rgb("#182338") * (1.0 - share) + solids.rgb("#2a3b59") * share
        axes.add_patch(
            Circle((-0.22 * share, 0.28 * share), 1.0 - 0.62 * share, facecolor=shade, linewidth=0, zorder=0)
        )
    axes.add_patch(Circle((0, 0), 1.0, facecolor="none", edgecolor="#4a5d80", linewidth=1.2, zorder=5))
    for curve in level_curves(np.diag(1.0 / inertia), 4):
        a, b = solids.near_and_far(curve, camera)
        axes.plot(*b.T, color="#2b3a55", linewidth=0.8, zorder=1)
        axes.plot(*a.T, color="#61769c", linewidth=0.9, zorder=2)
    for j, colour in enumerate(FACES):
        along = camera[:2, j]
        axes.plot(*np.array([along, 1.2 * along]).T, color=colour, linewidth=2.2, zorder=3)
        axes.text(*(1.2 * along + 0.1 * along / np.linalg.norm(along)), "xyz"[j], color=colour, fontsize=11,
                  fontweight="bold", ha="center", va="center", zorder=3)  # fmt: skip
    unit = m / np.linalg.norm(m, axis=1, keepdims=True)
    far, near = LineCollection([], linewidths=1.8, zorder=1.5), LineCollection([], linewidths=3.0, zorder=4)
    axes.add_collection(far)
    axes.add_collection(near)
    (point,) = axes.plot([], [], marker="o", markersize=9, color=GLOW, markeredgecolor="white", markeredgewidth=1.3)

    def show(k: int) -> None:
        segments, fading, front = _trace(unit, camera, k, GLOW, 0.5)
        far.set(segments=segments[~front], color=fading[~front])
        near.set(segments=segments[front], color=fading[front])
        at = camera @ unit[k]
        point.set(data=np.array([at[:2]]).T, zorder=6 if at[2] >= 0.0 else 1.7, alpha=1.0 if at[2] >= 0.0 else 0.55)

    return show


def write(path: Path) -> Path:
    """Write the film."""
    figure, show, frames = picture()
    canvas: Any = figure.canvas

    def pixels(k: int) -> Any:
        show(k)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    animation.write_film(pixels, SIZE, frames, FPS, path)
    return path


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images" / "tumbling.gif"
    print(f"{write(target)}: {target.stat().st_size / 1e6:.2f} MB")
