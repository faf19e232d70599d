"""Panels of translation: orbits with their central body to scale, paths, ground track, phase plane; molecules."""

from __future__ import annotations

from functools import partial

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array
from polhode.lazy import matplotlib, pd, xr
from polhode.plots import solids, style
from polhode.plots.axes import bare, name_plane, plain_ticks, title
from polhode.plots.rows import beside, filled, joined, scattered, thinned, unresolved
from polhode.plots.shown import DEGREE, Shown, coastline, in_units
from polhode.plots.sphere_panels import graticule
from polhode.plots.style import BLUE, FAINT, GREEN, GREY, INK, ORANGE, SKY, VERMILION, Axes, Axes3D
from polhode.plots.time_panels import XYZ, coordinates, heaviest, names_of
from polhode.trajectory.frames import ground_track, relative_motion
from polhode.trajectory.surroundings import place_of_sun

TURNS = 12.0  # of more turns the first and the last are drawn as lines, the others as dots
DOTS = 6000
ROUND = np.linspace(0.0, 2.0 * np.pi, 181)
COAST = "#a9b2bd"
APART = "dots: rows are too far apart for a line"


def _curve(r: Array, v: Array, t: Array) -> tuple[Array, Array, bool]:
    """The path (m, 3) through rows with NaN in gaps, the rows beside gaps, and whether there are gaps."""
    gaps = unresolved(t, r, v, 0.5 * float(np.linalg.norm(np.ptp(r, axis=0))) or 1.0)
    _, path = filled(t, r, v, gaps)
    return path, r[beside(gaps)], bool(gaps.any())


def _moving(shown: Shown, body: int = 0) -> tuple[Array, Array, Array]:
    """Times (of the trajectory), positions and velocities of one body, rows that are finite and increase in time."""
    t, r, v = shown.seconds, shown.all_bodies("position")[:, body], shown.all_bodies("velocity")[:, body]
    usable = np.isfinite(r).all(axis=1) & np.isfinite(v).all(axis=1) & np.append(True, np.diff(t) > 0.0)
    return t[usable], r[usable], v[usable]


# ------------------------------------------------------------------ about a centre
def _seen_from(r: Array, v: Array, tilt: float) -> Array:
    """Camera matrix (right, up, towards the viewer): an angle off the normal of the orbit, z upwards."""
    normal = np.cross(r, v).mean(axis=0)
    size = float(np.linalg.norm(normal))
    n = normal / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    if n[2] < 0.0:
        n = -n
    up = np.array([0.0, 0.0, 1.0]) - n[2] * n
    if np.linalg.norm(up) < 0.25:  # nearly equatorial: lean towards -y
        lean = np.array([0.42, -0.91, 0.0])
        lean -= (lean @ n) * n
    else:
        side = np.cross(n, up / np.linalg.norm(up))
        lean = 0.8 * side / np.linalg.norm(side) + 0.6 * up / np.linalg.norm(up)
    toward = np.cos(tilt) * n + np.sin(tilt) * lean / np.linalg.norm(lean)
    return solids.looking_along(toward / np.linalg.norm(toward), np.array([0.0, 0.0, 1.0]))


def _strand(axes: Axes, path: Array, radius: float, colour: str, width: float, zorder: float) -> None:
    """A path as the camera sees it: behind the centre's plane paler, behind the centre itself not at all."""
    behind = path[:, 2] < 0.0
    hidden = solids.hidden(path, radius) if radius else np.zeros(len(path), dtype=bool)
    for side, strength, order in ((~behind, 1.0, zorder + 2.0), (behind, 0.5, zorder)):
        shown = solids.grown(side) & ~hidden
        if shown.any():
            x, y = np.where(shown, path[:, :2].T, np.nan)
            axes.plot(x, y, color=colour, linewidth=width, alpha=strength, zorder=order, solid_capstyle="round")


def _globe(axes: Axes, camera: Array, radius: float) -> None:
    """The central body to scale, with its equator and some circles."""
    from matplotlib.patches import Circle

    axes.add_patch(Circle((0, 0), radius, facecolor="#e4ecf4", edgecolor="#9fb2c6", linewidth=0.8, zorder=4.0))
    equator = np.column_stack([np.cos(ROUND), np.sin(ROUND), np.zeros_like(ROUND)])
    for circles, colour, width in ((graticule(), "#c3d0dd", 0.5), (equator, "#8fa5bc", 0.8)):
        seen = radius * circles @ camera.T
        axes.plot(*np.where(seen[:, 2] >= 0.0, seen[:, :2].T, np.nan), color=colour, linewidth=width, zorder=4.5)


def _scale_bar(axes: Axes, middle: Array, half: tuple[float, float], units: str, reach: float) -> None:
    """A bar of a round length in the lower right corner."""
    most = 0.5 * half[0]
    power = 10.0 ** np.floor(np.log10(most))
    length = float(next(k for k in (5.0, 2.0, 1.0) if k * power <= most * (1.0 + 1e-12)) * power)
    factor, unit = in_units(units, reach)
    size = length * factor
    text = f"{size:,.0f}" if 1.0 <= size < 1e5 else style.scientific(size, 1) if size >= 1e5 else f"{size:g}"
    y, right = middle[1] - 0.95 * half[1], middle[0] + 0.96 * half[0]
    axes.plot([right - length, right], [y, y], color=INK, linewidth=1.4, zorder=9, solid_capstyle="butt")
    axes.annotate(
        f"{text} {style.pretty_units(unit)}".strip(), (right - 0.5 * length, y), (0, 3), textcoords="offset points",
        ha="center", va="bottom", zorder=9, fontsize=_small(),
    )  # fmt: skip


def _small() -> float:
    return style.points() - 1.0


def _triad(axes: Axes, shown: Shown, camera: Array, middle: Array, half: tuple[float, float]) -> None:
    """The axes of space, and the direction to the Sun at the start, in the lower left corner."""
    size = 0.14 * min(half)
    at = middle + np.array([-half[0] + 1.4 * size, -half[1] + 1.4 * size])
    ways = [(name, GREY, "#5a5a5a", camera[:2, k]) for k, name in enumerate("xyz")]
    sun = place_of_sun(shown.ds, np.asarray(shown.ds["time"].values[:1], dtype=float))
    if sun is not None and np.isfinite(sun).all():
        ways.append(("Sun", ORANGE, "#a06a00", (camera @ (sun[0] / np.linalg.norm(sun[0])))[:2]))
    placed: list[Array] = []
    for name, colour, ink, way in ways:
        long = float(np.linalg.norm(way))
        if long < 0.25:
            continue
        tip = (1.25 if name == "Sun" else 1.0) * size * way
        arrow = {
            "arrowstyle": "-|>", "color": colour, "linewidth": 0.9, "mutation_scale": 6, "shrinkA": 0, "shrinkB": 0,
        }  # fmt: skip
        axes.annotate("", at + tip, at, arrowprops=arrow, zorder=8)
        position = at + tip + 0.34 * size * way / long
        while any(float(np.linalg.norm(position - other)) < 0.75 * size for other in placed):
            position = position + 0.2 * size * way / long
        placed.append(position)
        axes.text(
            position[0], position[1], name, ha="center", va="center", color=ink, fontsize=_small() - 0.5, zorder=8
        )


def _periods(shown: Shown) -> tuple[float, float, float]:
    """Period at the first and at the last row, and how many turns there are; nan, nan, 0 of an open orbit."""
    period = shown.derived(shown.elements["period"])
    period = period if period.ndim == 1 else period[:, 0]
    good = period[np.isfinite(period)]
    if not good.size:
        return float("nan"), float("nan"), 0.0
    return float(good[0]), float(good[-1]), float((shown.seconds[-1] - shown.seconds[0]) / np.median(good))


def draw_orbit(axes: Axes, shown: Shown) -> None:
    """Plot the orbits about the central body, to scale, as seen from the side."""
    centre = shown.centre
    assert centre is not None
    paths = [_moving(shown, k) for k in range(min(shown.bodies, 12))]
    reach = max(float(np.sqrt(np.einsum("ij,ij->i", r, r)).max()) for _, r, _ in paths if len(r))
    least = min(float(np.sqrt(np.einsum("ij,ij->i", r, r)).min()) for _, r, _ in paths if len(r))
    radius = centre.radius if centre.radius is not None and centre.radius <= 1.02 * least else 0.0
    some = scattered(len(paths[0][0]), 3000)
    camera = _seen_from(paths[0][1][some], paths[0][2][some], 0.87 if radius else 0.5)
    corners = radius * np.array([[1.0, 1.0], [-1.0, -1.0]]) if radius else np.zeros((1, 2))
    outer = [(thinned(r, 2000) @ camera.T)[:, :2] for _, r, _ in paths if len(r)]
    middle, half = _window(axes, np.concatenate([corners, *outer]))
    if radius:
        _globe(axes, camera, radius)
    else:
        axes.plot([0], [0], marker="o", markersize=5, color=ORANGE, zorder=4.5)
    first, last, turns = _periods(shown)
    apart, many = False, shown.bodies == 1 and turns > TURNS
    for (t, r, v), (_, colour) in zip(paths, names_of(shown), strict=False):
        if len(r) < 2:
            continue
        if many:
            dots = thinned(r, DOTS) @ camera.T
            style.dots(axes, dots[~solids.hidden(dots, radius), :2], 0.9, SKY, zorder=3.5, alpha=0.6)
            pieces = [(t <= t[0] + first, ORANGE), (t >= t[-1] - last, colour)]
        else:
            some = scattered(len(r), 20_000)
            pieces = [(some, colour)]
        for chosen, ink in pieces:
            if len(r[chosen]) < 2:
                continue
            path, ends, broken = _curve(r[chosen], v[chosen], t[chosen])
            apart |= broken
            _strand(axes, path @ camera.T, radius, ink, 1.2, 3.0)
            if broken:
                seen = ends @ camera.T
                style.dots(axes, seen[~solids.hidden(seen, radius), :2], 1.8, ink, zorder=6)
    _marks(axes, shown, camera, radius, reach)
    _scale_bar(axes, middle, half, shown.units("position"), reach)
    _triad(axes, shown, camera, middle, half)
    where = f" about {'the ' if centre.name in ('Earth', 'Moon', 'Sun') else ''}{centre.name}" if centre.name else ""
    notes = ["first turn orange, last blue"] if many else []
    notes += [APART] if apart else []
    notes += ["centre to scale"] if radius else []
    title(axes, f"Orbit{'s' if shown.bodies > 1 else ''}{where}", "; ".join(notes))


def _window(axes: Axes, points: Array) -> tuple[Array, tuple[float, float]]:
    """Limits of a picture without axes about points (n, 2); returns its middle, half its width and height."""
    wide, high = style.inches(axes)
    low, high_end = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    middle, reach = 0.5 * (low + high_end), 0.5 * (high_end - low)
    scale = 1.14 * max(reach[0] / wide, reach[1] / (0.92 * high)) or 1.0
    half = (scale * wide, scale * high)
    middle = middle - np.array([0.0, 0.05 * half[1]])
    bare(axes, half, middle)
    return middle, half


def _marks(axes: Axes, shown: Shown, camera: Array, radius: float, reach: float) -> None:
    """Start and end, and of a spacecraft its axes at the end."""
    r = shown.run("position")
    r = r[np.isfinite(r).all(axis=1)]
    ends = r[[0, -1]] @ camera.T
    hidden = solids.hidden(ends, radius)
    if shown.bodies == 1:
        if not hidden[0]:
            axes.plot(*ends[0, :2], marker="o", color="white", markeredgecolor=INK, markeredgewidth=1.2, markersize=6,
                      zorder=7)  # fmt: skip
        if not hidden[1]:
            axes.plot(*ends[1, :2], marker="o", color=INK, markersize=4.5, zorder=7.5)
    if "attitude" in shown and shown.bodies == 1 and not hidden[1]:
        q = shown.run("attitude")[-1]
        if np.isfinite(q).all():
            for axis, (_, colour) in zip(np.eye(3), XYZ, strict=True):
                tip = ends[1, :2] + 0.16 * reach * (camera @ rotation.rotate(q, axis))[:2]
                axes.plot(*np.column_stack([ends[1, :2], tip]), color=colour, linewidth=1.6, zorder=7.2)


# ------------------------------------------------------------------ bodies that attract each other
def draw_system(axes: Axes, shown: Shown) -> None:
    """Plot all orbits in their common plane, relative to the heaviest body or the centre of mass."""
    central = heaviest(shown)
    r, v = map(shown.increasing, relative_motion(shown.thin.ds, "barycentre" if central is None else None)[:2])
    weights = shown.pulling
    good = np.isfinite(r).all(axis=(1, 2)) & np.isfinite(v).all(axis=(1, 2))
    r, v, t = r[good], v[good], shown.thin.seconds[good]
    normal = np.einsum("i,ij->j", np.asarray(weights), np.cross(r[0], v[0]))
    size = float(np.linalg.norm(normal))
    n = normal / size if size > 1e-12 * float(np.abs(r).max() * np.abs(v).max()) else np.array([0.0, 0.0, 1.0])
    first = np.eye(3)[0] if abs(n[0]) < 0.9 else np.eye(3)[1]
    e1 = first - (first @ n) * n
    e1 /= np.linalg.norm(e1)
    plane = np.array([e1, np.cross(n, e1)])
    flat = n[2] > 1.0 - 1e-12
    drawn = [k for k in range(min(shown.bodies, 12)) if k != central]
    reach = max(float(np.linalg.norm(r[:, k], axis=1).max()) for k in drawn)
    factor, unit = in_units(shown.units("position"), reach)
    conics = _conics(shown, central) if central is not None else {}
    notes: list[str] = []
    ends = []
    for (name, colour), k in zip(names_of(shown, central), drawn, strict=True):
        some = scattered(len(r), 20_000)
        path, _, broken = _curve(r[some, k], v[some, k], t[some]) if len(some) > 1 else (r[some, k], None, False)
        rows = factor * r[:, k] @ plane.T
        if broken:
            style.dots(axes, thinned(rows, 1500), 1.5, colour, alpha=0.45)
            if k in conics:
                axes.plot(*(factor * conics[k] @ plane.T).T, color=colour, linewidth=1.0)
                notes = ["dots: rows; lines: osculating orbits at the end"]
            else:
                notes = [APART]
        else:
            axes.plot(*(factor * path @ plane.T).T, color=colour, linewidth=1.0)
        axes.plot(*rows[-1], marker="o", markersize=4, color=colour, zorder=6)
        ends.append((rows[-1], name.removeprefix("body "), colour))
    if central is not None:
        axes.plot([0], [0], marker="o", markersize=6, color=ORANGE, markeredgecolor=INK, markeredgewidth=0.6, zorder=6)
    name_plane(axes, ("x", "y") if flat else ("x′", "y′"), unit, factor * reach, margin=0.08, ticks=5)
    if not flat and not notes:
        notes = ["seen along the angular momentum"]
    for k, (at, name, colour) in enumerate(ends):  # numbers beside bodies not close to each other or to the centre
        others = [float(np.linalg.norm(at - other)) for j, (other, _, _) in enumerate(ends) if j != k]
        if min([*others, 2.0 * float(np.linalg.norm(at))]) > 0.1 * factor * reach:
            axes.annotate(
                name, (at[0], at[1]), (5, 4), "data", "offset points", color=colour, fontsize=_small(), zorder=7
            )
    about = "the centre of mass" if central is None else f"{shown.names[central]}, the heaviest"
    title(axes, f"Orbits about {about}", "; ".join(notes))


def _conics(shown: Shown, central: int) -> dict[int, Array]:
    """The osculating ellipse (181, 3) of each body at the last row."""
    from polhode.trajectory.frames import elements

    last = elements(shown.ds.isel(time=[-1 if shown.seconds[-1] == float(shown.ds["time"].values[-1]) else 0]))
    found = {}
    for k in range(min(shown.bodies, 12)):
        row = {name: float(last[name].values[0, k]) for name in (
            "semi_major_axis", "eccentricity", "inclination", "node", "argument_of_periapsis")}  # fmt: skip
        a, e, i, node, w = row.values()
        if k == central or not (np.isfinite(a) and a > 0.0 and e < 1.0):
            continue
        x, y = a * (np.cos(ROUND) - e), a * np.sqrt(1.0 - e * e) * np.sin(ROUND)
        q = rotation.quaternion_from_euler((node, i, w), "ZXZ")
        found[k] = rotation.rotate(q, np.column_stack([x, y, np.zeros_like(x)]))
    return found


# ------------------------------------------------------------------ point masses
def _path_of(shown: Shown) -> tuple[Array, Array, bool]:
    """The path through rows, dots for rows beside gaps, whether there are gaps."""
    t, r, v = _moving(shown) if "velocity" in shown else (shown.seconds, shown.values("position"), None)
    if v is None or len(r) < 2:
        return r, r, False
    some = scattered(len(r), 20_000)
    return _curve(r[some], v[some], t[some])


def draw_plane(axes: Axes, shown: Shown) -> None:
    moving = (coordinates(shown) + [k for k in (0, 1, 2) if k not in coordinates(shown)])[:2]
    path, ends, broken = _path_of(shown)
    reach = float(np.nanmax(np.abs(path))) if np.isfinite(path).any() else 1.0
    factor, unit = in_units(shown.units("position"), reach)
    axes.plot(*(factor * path[:, moving]).T, color=BLUE)
    if broken:
        style.dots(axes, factor * ends[:, moving], 1.8, BLUE)
    r = factor * shown.run("position")[:, moving]
    r = r[np.isfinite(r).all(axis=1)]
    style.mark_ends(axes, r[0], r[-1], sizes=(6.0, 4.5), zorder=6)
    name_plane(axes, ["xyz"[k] for k in moving], unit, factor * reach, margin=0.06, ticks=6)
    title(axes, f"Path{shown.of_body}", APART if broken else "")


def draw_space(axes: Axes3D, shown: Shown) -> None:
    path, ends, broken = _path_of(shown)
    r = shown.run("position")
    r = r[np.isfinite(r).all(axis=1)]
    low, high = r.min(axis=0), r.max(axis=0)
    reach = float((high - low).max()) or float(np.abs(r[0]).max()) or 1.0
    factor, unit = in_units(shown.units("position"), float(np.abs(r).max()))
    axes.plot(*(factor * path).T, color=BLUE, linewidth=1.0)
    if broken:
        style.dots(axes, factor * ends, 1.4, BLUE)
    middle = (low + high) / 2
    for k, name in enumerate("xyz"):
        half = 0.55 * (reach if high[k] - low[k] > 0.02 * reach else 0.5 * reach)
        getattr(axes, f"set_{name}lim")(factor * (middle[k] - half), factor * (middle[k] + half))
        side = getattr(axes, f"{name}axis")
        exponent = plain_ticks(side, factor * float(np.abs(r).max()))
        getattr(axes, f"set_{name}label")(name, labelpad=-2)
        side.set_pane_color((1.0, 1.0, 1.0, 0.0))
        side.set_tick_params(pad=-2, labelsize=_small())
        side.get_major_locator().set_params(nbins=4)
    axes.set_box_aspect((1, 1, 1), zoom=0.86)
    style.mark_ends(axes, factor * r[0], factor * r[-1])
    title(axes, style.with_units(f"Path in space{shown.of_body}", unit, exponent), APART if broken else "")


def draw_phase(axes: Axes, shown: Shown) -> None:
    """Plot momentum against position, for the coordinate with the largest range."""
    t, r, p = shown.seconds, shown.values("position"), shown.values("momentum")
    k = int(np.argmax(np.ptp(np.nan_to_num(r), axis=0)))
    name = "xyz"[k]
    usable = np.isfinite(r[:, k]) & np.isfinite(p[:, k])
    t, r, p = t[usable], r[usable, k], p[usable, k]
    factor, unit = in_units(shown.units("position"), float(np.abs(r).max()) if len(r) else 0.0)
    chosen = scattered(len(r), DOTS)
    x, y = factor * r[chosen], p[chosen]
    scales = np.array([float(np.ptp(x)) or 1.0, float(np.ptp(y)) or 1.0])
    if joined(np.column_stack([x, y]) / scales, len(r), 1.0):
        axes.plot(x, y, color=VERMILION, linewidth=1.0)
    else:
        style.dots(axes, np.column_stack([x, y]), 3.0 if len(r) <= 400 else 1.4, VERMILION)
    ends = shown.run("position")[[0, -1], k] * factor, shown.run("momentum")[[0, -1], k]
    style.mark_ends(axes, (ends[0][0], ends[1][0]), (ends[0][1], ends[1][1]), sizes=(6.0, 4.5))
    axes.locator_params(nbins=6)
    exponents = [
        plain_ticks(axes.xaxis, float(np.abs(x).max()) if len(x) else 0.0),
        plain_ticks(axes.yaxis, float(np.abs(y).max()) if len(y) else 0.0),
    ]
    title(axes, f"Phase plane of {name}{shown.of_body}")
    axes.set_xlabel(style.with_units(f"position {name}", unit, exponents[0]), labelpad=2)
    axes.set_ylabel(style.with_units(f"momentum {name}", shown.units("momentum"), exponents[1]))


# ------------------------------------------------------------------ ground track
def draw_ground_track(axes: Axes, shown: Shown) -> None:
    """Plot longitude and latitude below the body, of a run of many turns its last day."""
    centre = shown.centre
    assert centre is not None and centre.rotation is not None
    t, r, v = _moving(shown)
    notes = []
    _, last, turns = _periods(shown)
    if turns > 2.0 * TURNS:
        keep = t >= t[-1] - TURNS * last
        t, r, v = t[keep], r[keep], v[keep]
        notes.append(f"the last {TURNS:g} turns")
    some = scattered(len(t), 12_000)
    t, r, v = t[some], r[some], v[some]
    gaps = unresolved(t, r, v, float(np.abs(r).max()) or 1.0) if len(t) > 1 else np.zeros(0, dtype=bool)
    times, path = filled(t, r, v, gaps)
    longitude, latitude = _below(shown, times, path)
    if centre.name == "Earth":
        axes.plot(*coastline().T, color=COAST, linewidth=0.6, zorder=1.2)
    at = np.flatnonzero(np.abs(np.diff(longitude)) > 180.0) + 1
    axes.plot(np.insert(longitude, at, np.nan), np.insert(latitude, at, np.nan), color=BLUE, linewidth=0.9)
    dots = _below(shown, t, r)
    if gaps.any():
        style.dots(axes, np.transpose(dots), 1.8, BLUE)
        notes.append(APART)
    style.mark_ends(axes, (dots[0][0], dots[1][0]), (dots[0][-1], dots[1][-1]), sizes=(6.0, 4.5), zorder=6)
    every = 60 if min(style.inches(axes)[0], 2.0 * style.inches(axes)[1]) > 3.0 else 90
    axes.set(xlim=(-180, 180), ylim=(-90, 90), xticks=range(-180, 181, every), yticks=range(-90, 91, 30))
    _ = plain_ticks(axes.xaxis, 0.0), plain_ticks(axes.yaxis, 0.0)  # else by mathtext, 10 ms each
    axes.axhline(0.0, color=FAINT, linewidth=0.9, zorder=1)
    axes.set(aspect="equal", ylabel="latitude (deg)")
    axes.set_xlabel("longitude (deg)", labelpad=2)
    title(axes, f"Ground track{shown.of_body}", "; ".join(notes))


def _below(shown: Shown, times: Array, places: Array) -> tuple[Array, Array]:
    """Longitudes and latitudes (deg) below places at times."""
    plain = partial(xr.Variable, fastpath=True)  # without a look into dask
    when = plain("time", pd.Index(times))
    found = ground_track(
        xr.Dataset({"position": plain(("time", "axis"), places)}, {"time": when}, dict(shown.ds.attrs))
    )
    return np.asarray(found["longitude"].values) * DEGREE, np.asarray(found["latitude"].values) * DEGREE


# ------------------------------------------------------------------ molecules
MOST_ROWS = 60  # most rows over which distances are averaged
MOST_BODIES = 4000  # most bodies drawn
SHELLS = 120
ARROW = 0.45  # length of a dipole's arrow in units of the mean distance between neighbours


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
    units = str(distribution.r.attrs.get("units", ""))
    axes.set(xlabel=style.with_units("r", units), xlim=(0.0, float(distribution.r[-1])), ylim=(0.0, None))
    exponent = plain_ticks(axes.yaxis, float(axes.get_ylim()[1]))
    axes.set_ylabel("g" if name == "g" else style.with_units("density", "", exponent))
