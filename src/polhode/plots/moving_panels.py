"""Panels of a film: the body in space, its polhode, orbits, a box of molecules, the energy error so far.

Each draws what stays once, keeps what moves, and its ``show(k)`` moves it to frame k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array
from polhode.errors import InvalidInput, shown as quoted
from polhode.lazy import matplotlib, xr
from polhode.plots import solids, style
from polhode.plots.axes import bare
from polhode.plots.film_frames import Frames, attitudes, directions, of_body, positions, row_positions
from polhode.plots.rows import extremes, thinned
from polhode.plots.shown import Shown, inverse_inertia
from polhode.plots.sphere_panels import level_curves
from polhode.plots.style import BLUE, COLOURS, GREY, INK, VERMILION, Axes, Line2D
from polhode.trajectory.surroundings import Centre

Show = Callable[[int], None]  # moves a panel to the frame of this number
TRACE = 1200  # most points of a trace
MOMENTUM = VERMILION
"""Colour of the angular momentum, in all panels."""
BODY, TOP = 0.6, 0.78
"""Distance of a body's farthest corner, and of a top's, in units of the half height of its panel."""
PALE_LINE = "#c3c8d2"
SPHERE = "#f2f4f8"


def _stage(axes: Axes, half: float) -> None:
    """Axes without frame, with equal scales, at least ``half`` to each side."""
    wide, high = style.inches(axes)
    least = min(wide, high)
    bare(axes, (half * wide / least, half * high / least))


def _line(axes: Axes, **options: Any) -> Line2D:
    return axes.plot([], [], solid_capstyle="round", **options)[0]


def _arrow(axes: Axes, colour: str) -> Callable[[Array, Array, float], None]:
    """An arrow that can be moved: a function of its two ends on the screen and its height in the stack."""
    from matplotlib.patches import Polygon

    shaft = _line(axes, color=colour, linewidth=2.6)
    head: Any = axes.add_patch(Polygon(np.zeros((3, 2)), closed=True, facecolor=colour, edgecolor="none"))
    size = 0.05 * (axes.get_ylim()[1] - axes.get_ylim()[0])

    def move(start: Array, end: Array, zorder: float) -> None:
        along = np.asarray(end) - np.asarray(start)
        length = float(np.linalg.norm(along))
        along = along / length if length > 0.0 else np.array([0.0, 1.0])
        across = np.array([-along[1], along[0]])
        long = min(size, length)
        base = end - long * along
        shaft.set_data(*np.array([start, base]).T)
        head.set_xy([end, base + 0.42 * long * across, base - 0.42 * long * across])
        shaft.set_zorder(zorder)
        head.set_zorder(zorder)

    return move


# ------------------------------------------------------------------ the body
def solid_of(run: Shown, shape: str) -> tuple[solids.Solid, str]:
    """The solid that is drawn for a body, the largest side 1, and what it is in words."""
    moments, frame = _moments(run)
    if shape == "ellipsoid":
        return solids.ellipsoid(solids.sides(moments) * 0.5, frame), "ellipsoid with these moments of inertia"
    if run.top is not None:
        distance = float(np.linalg.norm(run.top))
        if np.isfinite(distance) and distance > 0.0:
            axis = run.top / distance
            tensor = frame @ np.diag(moments) @ frame.T
            along = float(axis @ tensor @ axis)
            across = 0.5 * (float(np.trace(tensor)) - along)
            ratio = min(along / across, 1.6)
            radius = min(np.sqrt(2.0 * ratio / (1.0 - ratio / 2.0)), solids.WIDEST)
            size = float(np.hypot(1.0, radius))
            return solids.cone(axis, TOP / size, TOP * radius / size), "cone on the fixed point"
    whole = solids.sides(moments)
    return solids.box(
        whole * (2.0 * BODY / float(np.linalg.norm(whole))), frame
    ), "cuboid with these moments of inertia"


def _moments(run: Shown) -> tuple[Array, Array]:
    """Principal moments and axes (columns) of a body; of a cube where they are not known."""
    found = run.inertia or run.fitted
    if not found:
        return np.ones(3), np.eye(3)
    moments, frame = found[0]
    return moments, np.asarray(rotation.matrix_from_quaternion(frame))


def draw_body(axes: Axes, run: Shown, frames: Frames, shape: str, frame: str) -> Show:
    """The body turning: its axes, its angular momentum, and the path that one of its axes has taken."""
    from matplotlib.collections import PolyCollection

    ds = run.ds
    solid, words = solid_of(run, shape)
    R = attitudes(ds, frames)
    m = directions(ds, "angular_momentum", frames)
    largest = float(np.linalg.norm(m, axis=1).max())
    top = run.top is not None
    traced = 2 if top else int(np.argmax(np.abs(m[0]))) if largest > 0.0 else 2
    height = 0.95
    _stage(axes, 1.16)
    camera = solids.camera(0.62, 0.34)
    shift = np.array([0.0, -0.3]) if top else np.zeros(2)
    in_space = frame == "space"

    for j in range(3):  # the axes of space, or of the body, behind everything
        tip = 1.08 * camera[:2, j]
        axes.plot(*np.array([shift, tip + shift]).T, color="#dde0e6", linewidth=1.0, zorder=0.2)
        x, y = 1.1 * tip + shift
        axes.text(x, y, "XYZ"[j] if in_space else "xyz"[j], color="#9aa0aa", fontsize=8.5, ha="center",
                  va="center", zorder=0.2)  # fmt: skip
    faces: Any = axes.add_collection(PolyCollection([], linewidths=0.7, zorder=3))
    arms = [_line(axes, color=0.75 * solids.rgb(colour), linewidth=2.2) for colour in solids.AXIS_COLOURS]
    marks = [axes.text(0, 0, name, color=0.75 * solids.rgb(colour), fontsize=9, fontweight="bold", ha="center",
                       va="center")
             for name, colour in zip("xyz", solids.AXIS_COLOURS, strict=True)]  # fmt: skip
    arrow = _arrow(axes, INK)
    label = axes.text(
        0, 0, "L", color=INK, fontsize=10, fontstyle="italic", fontweight="bold", ha="center", va="center"
    )
    colour = solids.AXIS_COLOURS[traced] if in_space else INK
    near, far = _line(axes, color=colour, linewidth=1.3, zorder=6), _line(axes, color=colour, linewidth=1.1, alpha=0.3,
                                                                          zorder=0.5)  # fmt: skip
    # What leaves a trace: in space the tip of a body axis, in the body frame the angular momentum. Of all rows so far.
    if in_space:
        q = of_body(ds, "attitude", int(frames.row[-1]) + 1)
        trail = height * np.asarray(rotation.matrix_from_quaternion(q))[:, :, traced]
        tips = height * R[:, :, traced]
    else:
        trail = of_body(ds, "angular_momentum", int(frames.row[-1]) + 1) / (largest or 1.0) * height
        tips = m / (largest or 1.0) * height
    joined = _joined(trail)
    of_row = frames.row
    arm = 0.22
    words = f"body in space: {words}" if in_space else f"seen from the body: {words}"
    axes.text(0.0, 0.0, words, transform=axes.transAxes, fontsize=8, color=GREY, va="bottom")

    def show(k: int) -> None:
        view = camera @ (R[k] if in_space else np.eye(3))
        outlines, colours = solid.seen(view)
        faces.set_verts([outline + shift for outline in outlines])
        faces.set(facecolor=colours, edgecolor=colours * 0.82)
        for j in range(3):
            out, face = solid.exit(np.eye(3)[j])
            seen = float(view[2] @ solid.normals[face]) > 0.0
            start, end = out * view[:2, j] + shift, (out + arm) * view[:2, j] + shift
            arms[j].set_data(*np.array([start, end]).T)
            arms[j].set_zorder(5 if seen else 1)
            spot = (out + arm + 0.04) * view[:2, j] + 0.07 * _left(view[:2, j]) + shift
            marks[j].set(position=spot, zorder=5 if seen else 1)
        at = m[k] / (largest or 1.0)
        size = float(np.linalg.norm(at))
        if size > 0.0:
            out, face = solid.exit(at / size)
            seen = float(view[2] @ solid.normals[face]) > 0.0
            tip = max(height * size, 1e-3)
            start = min(out, tip) / size * at
            arrow(view[:2] @ start + shift, view[:2] @ (at / size * tip) + shift, 5.5 if seen else 1.5)
            along = view[:2] @ (at / size)
            label.set_position(along * (tip + 0.02) - 0.085 * _left(along) + shift)
            label.set_zorder(5.5 if seen else 1.5)
        label.set_visible(size > 0.0)
        if joined:
            so_far = np.concatenate([thinned(trail[: of_row[k] + 1], TRACE), tips[k : k + 1]])
            a, b = solids.near_and_far(so_far, camera)
            near.set_data(*(a + shift).T)
            far.set_data(*(b + shift).T)

    return show


def _left(along: Array) -> Array:
    """Unit vector on the screen to the left of a direction; upwards of one that points at the viewer."""
    size = float(np.hypot(*along))
    return np.array([-along[1], along[0]]) / size if size > 0.05 else np.array([0.0, 1.0])


def _joined(trail: Array) -> bool:
    """Whether the points of a trace are close enough to be joined."""
    return len(trail) < 3 or float(np.quantile(np.linalg.norm(np.diff(trail, axis=0), axis=1), 0.95)) < 0.35


# ------------------------------------------------------------------ the polhode
def draw_polhode(axes: Axes, run: Shown, frames: Frames) -> Show:
    """The angular momentum in the body frame, on its sphere, over curves of equal kinetic energy."""
    from matplotlib.patches import Circle

    ds, rows = run.ds, int(frames.row[-1]) + 1
    m = of_body(ds, "angular_momentum", rows)
    w = of_body(ds, "angular_velocity", rows) if "angular_velocity" in ds else None
    sizes = np.linalg.norm(m, axis=1, keepdims=True)
    unit = m / np.where(sizes > 0.0, sizes, 1.0)
    now = directions(ds, "angular_momentum", frames)
    lengths = np.linalg.norm(now, axis=1, keepdims=True)
    now = now / np.where(lengths > 0.0, lengths, 1.0)
    middle = unit.mean(axis=0)
    aside = np.arctan2(middle[1], middle[0]) + 0.5 if np.hypot(*middle[:2]) > 0.3 else 0.62
    camera = solids.camera(float(aside), float(np.clip(0.5 * middle[2] + 0.3, 0.25, 0.8)))
    _stage(axes, 1.3)
    axes.add_patch(Circle((0, 0), 1.0, facecolor=SPHERE, edgecolor="#b4bac6", linewidth=1.0, zorder=0))
    moments, frame = _moments(run)
    with np.errstate(divide="ignore"):
        J = frame @ np.diag(1.0 / moments) @ frame.T if (moments > 0.0).all() else None
    if J is None and w is not None:
        J = inverse_inertia(m, w)
    for curve in [] if J is None else level_curves(J):
        a, b = solids.near_and_far(curve, camera)
        axes.plot(*b.T, color="#e3e6ec", linewidth=0.8, zorder=0.5)
        axes.plot(*a.T, color="#b5bccb", linewidth=0.9, zorder=1)
    for j in range(3):
        tip = camera[:, j]
        behind = tip[2] < 0.0
        reach = 1.0 / max(float(np.hypot(*tip[:2])), 0.15) if behind else 1.0
        if np.hypot(*tip[:2]) > 0.12:
            axes.plot(*np.array([reach * tip[:2], 1.16 * max(reach, 1.0) * tip[:2]]).T, color=solids.AXIS_COLOURS[j],
                      linewidth=1.6, zorder=0.6 if behind else 3)  # fmt: skip
        x, y = 1.24 * max(reach, 1.0) * tip[:2]
        axes.text(x, y, "xyz"[j], color=solids.AXIS_COLOURS[j], fontsize=9.5,
                  fontweight="bold", ha="center", va="center", zorder=3)  # fmt: skip
    near = _line(axes, color=MOMENTUM, linewidth=1.9, zorder=4)
    far = _line(axes, color=MOMENTUM, linewidth=1.2, alpha=0.35, zorder=0.8)
    (point,) = axes.plot([], [], marker="o", markersize=7.5, color=INK, markeredgecolor="white", markeredgewidth=1.2)
    joined = _joined(unit)
    if not joined:
        for line in (near, far):
            line.set(linestyle="", marker="o", markersize=1.8)
    words = "polhode: direction of L seen from the body" if joined else "direction of L seen from the body, at the rows"
    axes.text(0.5, 0.0, words, transform=axes.transAxes, fontsize=8, color=GREY, ha="center", va="bottom")

    def show(k: int) -> None:
        so_far = thinned(unit[: frames.row[k] + 1], TRACE)
        a, b = solids.near_and_far(np.concatenate([so_far, now[k : k + 1]]) if joined else so_far, camera)
        near.set_data(*a.T)
        far.set_data(*b.T)
        at = camera @ now[k]
        point.set_data([at[0]], [at[1]])
        point.set(zorder=5 if at[2] >= 0.0 else 0.9, alpha=1.0 if at[2] >= 0.0 else 0.5)

    return show


# ------------------------------------------------------------------ orbits
def draw_orbit(axes: Axes, run: Shown, frames: Frames) -> Show:
    """Orbits about their centre, drawn to scale: the paths so far, the bodies, the axes of a spacecraft magnified."""
    ds, rows = run.ds, int(frames.row[-1]) + 1
    r = positions(ds, frames)
    paths, _ = row_positions(ds, rows)
    many = r.shape[1]
    middle, attracting = run.centre, run.system == "gravitating_bodies"
    resting = int(np.argmin(np.abs(paths).max(axis=(0, 2)))) if attracting and many > 1 else -1
    centred = middle is not None or attracting
    origin = np.zeros(3) if centred else 0.5 * (paths.min(axis=(0, 1)) + paths.max(axis=(0, 1)))
    r, paths = r - origin, paths - origin
    size = float(np.linalg.norm(paths, axis=-1).max()) or 1.0
    camera = _orbit_camera(paths)
    radius = 0.0 if middle is None or middle.radius is None else middle.radius / size
    half = _around(axes, paths.reshape(-1, 3) / size @ camera.T, radius, centred)
    ball = _planet(axes, camera, radius, middle, frames.times) if middle is not None and radius > 0.0 else None
    if radius == 0.0 and centred:
        axes.plot([0.0], [0.0], marker="o" if resting < 0 else "", color=INK, markersize=4, zorder=3)
    lines = []
    for b in range(many):
        colour = BLUE if many == 1 else COLOURS[b % len(COLOURS)]
        whole = thinned(paths[:, b], TRACE) / size @ camera.T
        if b != resting and _joined(paths[:, b] / size):
            axes.plot(*_hidden(whole, radius).T, color=PALE_LINE, linewidth=0.9, zorder=5)
        front = _line(axes, color=colour, linewidth=1.7, zorder=6)
        (dot,) = axes.plot([], [], marker="o", markersize=8 if b == resting else 6, color=colour,
                           markeredgecolor="white", markeredgewidth=0.9)  # fmt: skip
        lines.append((front, dot, b == resting, _joined(paths[:, b] / size)))
    with_axes = "attitude" in ds and many == 1
    turned = attitudes(ds, frames) if with_axes else np.empty((0, 3, 3))
    arms = [] if not with_axes else [_line(axes, color=colour, linewidth=2.2) for colour in solids.AXIS_COLOURS]
    words = []
    if middle is not None and radius > 0.0:
        words.append(f"{middle.name or 'central body'} to scale")
    elif attracting and many > 1:
        names = run.arguments.get("names")
        words.append(f"about {names[resting] if names else 'the heaviest body'}")
    words += ["axes of the spacecraft magnified"] if arms else []
    axes.text(0.0, 0.0, ", ".join(words), transform=axes.transAxes, fontsize=8, color=GREY, va="bottom")

    def show(k: int) -> None:
        if ball is not None:
            ball(k)
        for b, (front, dot, rests, joined) in enumerate(lines):
            at = camera @ (r[k, b] / size)
            if joined and not rests:
                so_far = thinned(paths[: frames.row[k] + 1, b], TRACE) / size @ camera.T
                front.set_data(*_hidden(np.concatenate([so_far, at[None]]), radius).T)
            behind = at[2] < 0.0 and np.hypot(at[0], at[1]) < radius
            dot.set_data([at[0]], [at[1]])
            dot.set(zorder=8 if not behind else 2.1, alpha=1.0 if not behind else 0.35)
        for j, line in enumerate(arms):
            at = camera @ (r[k, 0] / size)
            tip = at[:2] + 0.15 * half * camera[:2] @ turned[k, :, j]
            line.set_data(*np.array([at[:2], tip]).T)
            line.set_zorder(7 if not (at[2] < 0.0 and np.hypot(at[0], at[1]) < radius) else 1.9)

    return show


def _around(axes: Axes, flat: Array, radius: float, centred: bool) -> float:
    """Limits of the panel such that the orbits and the central body fill it; returns half of its lesser side."""
    low, high = flat[:, :2].min(axis=0), flat[:, :2].max(axis=0)
    if centred:
        low, high = np.minimum(low, -radius), np.maximum(high, radius)
    wide, tall = style.inches(axes)
    shares = (high - low) / 2.0 * min(wide, tall) / np.array([wide, tall])
    half = 1.14 * float(shares.max()) or 1.0
    _stage(axes, half)
    middle = 0.5 * (low + high)
    axes.set_xlim(*(np.array(axes.get_xlim()) + middle[0]))
    axes.set_ylim(*(np.array(axes.get_ylim()) + middle[1]))
    return half


def _orbit_camera(paths: Array) -> Array:
    """Camera that looks at an orbit aslant: from 55 degrees beside its normal, z upwards where possible."""
    flat = thinned(paths.reshape(-1, 3), 2000)
    _, sizes, axes = np.linalg.svd(flat - flat.mean(axis=0) * (len(flat) < 3), full_matrices=False)
    normal = axes[2] if sizes[0] > 0.0 and len(sizes) > 2 and sizes[1] > 1e-9 * sizes[0] else np.array([0.0, 0.0, 1.0])
    up = np.array([0.0, 0.0, 1.0])
    normal = normal if normal @ np.array([0.5, -0.6, 0.8]) >= 0.0 else -normal
    beside = np.cross(normal, np.cross(np.array([0.35, -0.8, 0.25]), normal))
    toward = np.cos(0.9) * normal + np.sin(0.9) * beside / np.linalg.norm(beside)
    if abs(normal @ up) < 0.15:
        return solids.looking_along(toward / np.linalg.norm(toward), up)
    return solids.looking_along(toward / np.linalg.norm(toward), up if toward @ up < 0.95 else normal)


def _hidden(flat: Array, radius: float) -> Array:
    """Points (n, 3) on the screen, those behind the central body NaN."""
    return np.where(solids.hidden(flat, radius)[:, None], np.nan, flat[:, :2])


def _planet(axes: Axes, camera: Array, radius: float, middle: Centre, times: Array) -> Show:
    """The central body: a shaded disk with meridians that turn with it, and circles of latitude."""
    from matplotlib.patches import Circle

    colour = "#7fa8cf" if middle.name in ("Earth", "") else "#c9a27a" if middle.name == "Mars" else "#b9bcc2"
    for k in range(24):  # light from above left: ever smaller, lighter disks
        share = k / 23.0
        shade = solids.rgb(colour) * (0.84 + 0.24 * share)
        axes.add_patch(Circle((-0.30 * radius * share, 0.36 * radius * share), radius * (1.0 - 0.93 * share) ** 0.9,
                              facecolor=np.clip(shade, 0.0, 1.0), edgecolor="none", zorder=3))  # fmt: skip
    u = np.linspace(0.0, 2.0 * np.pi, 91)
    for latitude in np.radians((-60, -30, 0, 30, 60)):
        ring = radius * np.column_stack([np.cos(latitude) * np.cos(u), np.cos(latitude) * np.sin(u),
                                         np.full_like(u, np.sin(latitude))])  # fmt: skip
        a, _ = solids.near_and_far(ring, camera)
        axes.plot(*a.T, color="white", alpha=0.55, linewidth=0.7, zorder=4)
    half = np.linspace(0.0, np.pi, 46)
    lines = [axes.plot([], [], color="white", alpha=0.55, linewidth=0.7, zorder=4)[0] for _ in range(12)]
    rate = middle.rotation or 0.0

    def show(k: int) -> None:
        for j, line in enumerate(lines):
            longitude = np.pi * j / 6.0 + rate * times[k]
            ring = radius * np.column_stack([np.sin(half) * np.cos(longitude), np.sin(half) * np.sin(longitude),
                                             np.cos(half)])  # fmt: skip
            a, _ = solids.near_and_far(ring, camera)
            line.set_data(*a.T)

    return show


# ------------------------------------------------------------------ molecules in their box
def draw_cell(axes: Axes, run: Shown, frames: Frames) -> Show:
    """Molecules as dots in their box, nearer ones larger and in front; coloured by the direction of their dipole."""
    ds = run.ds
    edges = np.asarray(ds["box"].values, dtype=float) if "box" in ds else None
    r = positions(ds, frames, edges)
    low = np.zeros(3) if edges is not None else r.min(axis=(0, 1))
    high = edges if edges is not None else r.max(axis=(0, 1))
    size = 0.62 * float(np.linalg.norm(high - low)) or 1.0
    r = (r - 0.5 * (low + high)) / size
    camera = solids.camera(0.62, 0.34)
    _stage(axes, 1.0)
    corners = (high - low) / size
    for j in range(3):
        for a in (-0.5, 0.5):
            for b in (-0.5, 0.5):
                edge = np.zeros((2, 3))
                edge[:, j] = (-0.5, 0.5)
                edge[:, (j + 1) % 3], edge[:, (j + 2) % 3] = a, b
                flat = edge * corners @ camera.T
                front = flat[:, 2].mean() > 0.2 * corners.max()
                axes.plot(*flat[:, :2].T, color="#b4bac6", linewidth=1.0, alpha=0.6 if front else 1.0,
                          zorder=5 if front else 1)  # fmt: skip
    many = r.shape[1]
    along = None
    if "dipole" in ds and "attitude" in ds:
        q = np.asarray(ds["attitude"].values, dtype=float)[: len(frames.row_times)].reshape(-1, many, 4)[frames.near]
        d = np.broadcast_to(np.asarray(ds["dipole"].values, dtype=float).reshape(-1, 3), (many, 3))
        along = np.asarray(rotation.rotate(q, d)) @ camera.T
        along /= np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-300)
    wide = style.inches(axes)[1] * 72.0
    spacing = float(np.cbrt(np.prod(np.maximum(corners, 1e-9)) / many))
    diameter = float(np.clip(0.30 * spacing * wide / 2.0, 1.2, 16.0))
    dots = axes.scatter(np.zeros(many), np.zeros(many), s=diameter**2, linewidths=0.4, edgecolors="white", zorder=3)
    colours = matplotlib.colormaps["coolwarm"]
    words = f"{many} molecules" if "temperature" in ds else f"{many} bodies"
    words += ", red: dipole upwards, blue: downwards" if along is not None else ""
    axes.text(0.0, 0.0, words, transform=axes.transAxes, fontsize=8, color=GREY, va="bottom")

    def show(k: int) -> None:
        flat = r[k] @ camera.T
        order = np.argsort(flat[:, 2])
        flat = flat[order]
        depth = np.clip(0.5 + flat[:, 2] / (2.0 * 0.62), 0.0, 1.0)
        dots.set_offsets(flat[:, :2])
        dots.set_sizes((diameter * (0.75 + 0.5 * depth)) ** 2)
        shade = colours(np.full(many, 0.15) if along is None else 0.5 + 0.5 * along[k][order, 1])
        shade[:, :3] = shade[:, :3] * (0.35 + 0.65 * depth[:, None]) + (1.0 - (0.35 + 0.65 * depth[:, None])) * 0.93
        dots.set(facecolor=shade)

    return show


# ------------------------------------------------------------------ over time
def draw_energy(axes: Axes, run: Shown, frames: Frames, factor: float, unit: str) -> Show:
    """The energy error so far; of molecules their temperature."""
    ds, rows = run.ds, int(frames.row[-1]) + 1
    warm = "temperature" in ds
    name = "temperature" if warm else "energy_error"
    values = np.asarray(ds[name].values, dtype=float)[:rows]
    times = frames.row_times[:rows] * factor
    if not warm:
        values = np.abs(values)
    chosen = extremes(values, 500)
    values, times = values[chosen], times[chosen]
    finite = values[np.isfinite(values)]
    least, most = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if not warm:
        floor = 1e-17
        values = np.maximum(values, floor)
        axes.set_yscale("log")
        axes.set_ylim(0.5 * floor if least <= floor else 0.3 * least, max(3.0 * most, 1e-15))
        _label_powers(axes, floor if least <= floor else None)
    else:
        room = 0.08 * (most - least) or 0.1 * abs(most) or 1.0
        axes.set_ylim(least - room, most + room)
        axes.locator_params(axis="y", nbins=3)
    axes.set_xlim(*sorted((frames.times[0] * factor, frames.times[-1] * factor)))
    if frames.times[-1] < frames.times[0]:
        axes.invert_xaxis()
    axes.set_xlabel(style.with_units("time", unit), labelpad=1.0, fontsize=8.5)
    words = style.with_units("temperature", str(ds[name].attrs.get("units", ""))) if warm else "energy error, relative"
    axes.set_title(words, fontsize=8.5, fontweight="normal", color="#5a5a5a", pad=3.0)
    axes.tick_params(labelsize=8, length=2.5)
    line = _line(axes, color=VERMILION if warm else BLUE, linewidth=1.1, animated=True)
    (dot,) = axes.plot([], [], marker="o", color=INK, markersize=4.0, clip_on=False, zorder=5, animated=True)
    ahead = 1.0 if frames.times[-1] >= frames.times[0] else -1.0

    def show(k: int) -> None:
        now = int(np.searchsorted(ahead * times, ahead * frames.times[k] * factor * (1.0 + 1e-14), side="right"))
        now = max(now, 1)
        line.set_data(times[:now], values[:now])
        dot.set_data([times[now - 1]], [values[now - 1]])

    return show


def _label_powers(axes: Axes, zero: float | None) -> None:
    """Two labels on a logarithmic axis, powers of ten; the lower one is 0 where zeros are drawn at ``zero``."""
    low, high = axes.get_ylim()
    lower, upper = 10.0 ** np.ceil(np.log10(low)), 10.0 ** np.floor(np.log10(high))
    ticks = sorted({min(lower, upper) if zero is None else zero, upper})
    axes.set_yticks(ticks, ["0" if tick == zero else style.decade(tick) for tick in ticks])
    axes.minorticks_off()


NEEDS = {
    "body": ("attitude", "angular_momentum"), "polhode": ("angular_momentum",), "orbit": ("position",),
    "cell": ("position",), "energy": ("energy_error",),
}  # fmt: skip
"""Variables without which a panel cannot be drawn."""


def usual_panels(ds: xr.Dataset) -> tuple[str, ...]:
    """The panels of a run of which nobody says which."""
    many = ds.sizes.get("body", 1)
    if "temperature" in ds or ("box" in ds and many > 1) or many > 50:
        return ("cell", "energy")
    turns, moves = "attitude" in ds, "position" in ds
    if turns and moves:
        return ("orbit", "body", "energy") if many == 1 else ("orbit", "energy")
    return (*(("body", "polhode") if turns else ("orbit",)), "energy")


def checked_panels(ds: xr.Dataset, panels: str | Iterable[str]) -> tuple[str, ...]:
    """The panels asked for."""
    known = ", ".join(NEEDS)
    words = panels.replace(" ", "").split(",") if isinstance(panels, str) else panels
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise InvalidInput(f"panels must be the name of a panel, or several, of {known}, not {quoted(panels)}")
    for word in words:
        if word not in NEEDS:
            raise InvalidInput(f"panels has {quoted(word)}; the panels of a film are {known}")
        missing = next((name for name in NEEDS[word] if name not in ds), "")
        if missing:
            raise InvalidInput(f"panel {word!r} needs {missing}, which this run does not have; leave the panel out")
    if not words or len(set(words)) < len(words) or len([word for word in words if word != "energy"]) > 3:
        raise InvalidInput(f"panels must be one to three different ones of {known}, and energy below them")
    return tuple(words)
