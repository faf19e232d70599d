"""What moves and what is seen on the first page: a view, its animation, and a picture on each of five doors.

Everything is computed and drawn by polhode when the site is built, once for the same sources.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

import polhode as ph
from polhode.errors import PolhodeError
from polhode.plots import style

from .drawing import GROUND, Scene, matrices, ramp

SIZE = (720, 420)
TEAL, AMBER, CORAL = (64, 160, 190), (236, 174, 72), (222, 100, 82)
BOX = (1.9, 1.25, 0.5)
"""Edges of the tumbling box."""
INERTIA = tuple((sum(e * e for e in BOX) - BOX[k] ** 2) / 12 for k in range(3))
MOMENTUM = (0.004, INERTIA[1], 0.0)
"""Nearly about the middle axis, which is unstable."""
FRAMES, RATE = 96, 24


def draw(folder: Path) -> None:
    """Make all files that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in DOORS.items():
        if not (folder / f"{name}.webp").exists():
            picture().save(folder / f"{name}.webp", quality=88)
    if not (folder / "tumbling.webp").exists():
        first, *rest = tumbling()
        options = {"save_all": True, "append_images": rest, "duration": 1000 // RATE, "loop": 0}
        first.save(folder / "tumbling.webp", quality=70, method=3, **options)
        first.save(folder / "tumbling.png")
    if not (folder / "view.html").exists():
        body = ph.free_body(inertia=INERTIA)
        period = ph.runs.poinsot.free_motion_periods(INERTIA, MOMENTUM).polhode
        title = "A body that spins about its middle axis"
        try:
            live = ph.interactive(body, "exact", step=period / 1500, angular_momentum=MOMENTUM, title=title)
            live.save(folder / "view.html")
        except PolhodeError:
            return  # without it the first page shows the animation


HERO = """<figure class="hero" data-view="{view}">
<picture>
<source media="(prefers-reduced-motion: reduce)" srcset="{still}">
<img src="{moving}" width="{width}" height="{height}"
alt="A box spun about its middle axis turns over and over; its angular momentum runs along a polhode on the sphere">
</picture>
<figcaption>{caption}</figcaption>
</figure>
"""
SHOWN = (
    "Exact, not integrated: a body spun about its middle axis turns over, while its angular momentum follows a polhode."
)


def place(drawn: Path | None, folder: Path, static: Path) -> None:
    """Put the files where pages find them: pictures into ``folder``, what the moving body needs into ``static``.

    Without ``drawn`` the pieces of the first page are there, and empty.
    """
    for target in (folder, static):
        target.mkdir(parents=True, exist_ok=True)
    for path in sorted(drawn.iterdir()) if drawn else ():
        copied = (folder if path.stem in DOORS else static) / path.name
        if not copied.exists() or copied.read_bytes() != path.read_bytes():
            copied.write_bytes(path.read_bytes())
    view = "_static/view.html" if (static / "view.html").exists() else ""
    caption = SHOWN + (' <button type="button" hidden>Throw it yourself</button>' if view else "")
    hero = HERO.format(
        view=view, still="_static/tumbling.png", moving="_static/tumbling.webp", width=SIZE[0], height=SIZE[1],
        caption=caption,
    )  # fmt: skip
    (folder / "hero.html").write_text(hero, encoding="utf-8")


# ------------------------------------------------------------------ the moving body
def tumbling() -> list[Image.Image]:
    """Frames of one period of a free body that flips over, beside its momentum on the sphere with the polhodes."""
    period = ph.runs.poinsot.free_motion_periods(INERTIA, MOMENTUM).polhode
    t = np.linspace(0, period, FRAMES, endpoint=False)
    motion = ph.free_motion(INERTIA, MOMENTUM, t)
    rotations, momenta = matrices(motion.attitude), np.asarray(motion.angular_momentum)
    momenta = momenta / np.linalg.norm(MOMENTUM)
    own = ph.runs.poinsot.polhode_curve(INERTIA, MOMENTUM, 500).angular_momentum / np.linalg.norm(MOMENTUM)
    sphere = Scene(SIZE, (0.8, 0.75, 0.45), 1.25, (0.75, 0.5))
    polhodes(sphere, own)
    frames = []
    for k in range(FRAMES):
        scene = Scene(SIZE, (0.85, -0.75, 0.5), 1.45, (0.27, 0.5))
        scene.image.paste(sphere.image)
        scene.box(BOX, rotations[k], (0, 0, 0), (TEAL, AMBER, CORAL))
        at = Scene(SIZE, (0.8, 0.75, 0.45), 1.25, (0.75, 0.5))
        at.image, at.pen = scene.image, scene.pen
        seen = at.seen(momenta[k])
        if seen[2] > -0.02:
            at.ball(1.02 * momenta[k], 0.065, (255, 255, 255), ambient=0.7)
        frames.append(scene.done())
    return frames


def polhodes(scene: Scene, own: np.ndarray | None = None) -> None:
    """The momentum sphere with polhodes about its three axes, and one of them bright."""
    scene.ball((0, 0, 0), 1.0, (40, 62, 96), ambient=0.55)
    order = np.argsort(INERTIA)
    least, most = int(order[0]), int(order[2])
    moments = np.asarray(INERTIA)[order]
    edge = np.arctan(np.sqrt((1 / moments[0] - 1 / moments[1]) / (1 / moments[1] - 1 / moments[2])))
    edges = {least: edge, most: np.pi / 2 - edge}
    for axis, names in ((least, "Blues"), (most, "Oranges")):
        for share in np.linspace(0.12, 0.96, 7):
            for sign in (1.0, -1.0):
                start = np.zeros(3)
                other = most if axis == least else least
                start[axis], start[other] = sign * np.cos(share * edges[axis]), np.sin(share * edges[axis])
                curve = ph.runs.poinsot.polhode_curve(INERTIA, start, 240).angular_momentum
                over(scene, curve, ramp(1 - share, names, 0.3, 0.75), 1.1, 150)
    if own is not None:
        over(scene, own, (255, 255, 255), 2.0, 255)


def over(scene: Scene, points: np.ndarray, colour: object, width: float, alpha: int) -> None:
    """A curve on the sphere, with its far side left out."""
    near = scene.seen(points)[:, 2] > 0.0
    scene.curve(points, colour, width, np.where(near, alpha, 0))


# ------------------------------------------------------------------ doors
def spacecraft() -> Image.Image:
    """One revolution of a tumbling satellite about the Earth; the body is shown far too large."""
    earth = ph.planets.EARTH
    craft = ph.spacecraft(inertia=(90.0, 70.0, 60.0), mu=earth.mu, mass=120.0)
    a = 1.45 * earth.radius
    speed, tilt = np.sqrt(earth.mu / a), np.radians(55.0)
    period = 2 * np.pi * a / speed
    ds = ph.integrate(
        craft, step=period / 480, steps=480, settings={"units": "SI"}, position=(a, 0, 0),
        velocity=(0, speed * np.cos(tilt), speed * np.sin(tilt)), angular_velocity=(1e-4, 2e-4, 1.6e-3),
    )  # fmt: skip
    path = ds.position.values.reshape(-1, 3) / earth.radius
    rotations = matrices(ds.attitude.values.reshape(-1, 4))
    scene = Scene(SIZE, (0.75, -0.9, 0.42), 1.62)
    depth = scene.seen(path)[:, 2]
    colours = ramp(np.linspace(0, 1, len(path)), "viridis", 0.45, 0.95)
    scene.curve(path, colours, 1.8, np.where(depth < 0, 120, 0))
    for k in sorted(range(0, 480, 40), key=lambda k: depth[k]):
        if depth[k] < 0:
            satellite(scene, path[k], rotations[k])
    scene.ball((0, 0, 0), 1.0, (46, 104, 168), ambient=0.16)
    angles = np.linspace(0, 2 * np.pi, 181)
    for latitude in np.radians((-60, -30, 0, 30, 60)):
        ring = [np.cos(latitude) * np.cos(angles), np.cos(latitude) * np.sin(angles), np.sin(latitude) + 0 * angles]
        over(scene, np.stack(ring, axis=-1), (255, 255, 255), 0.6, 42)
    for longitude in np.radians(range(0, 180, 30)):
        ring = [np.cos(angles) * np.cos(longitude), np.cos(angles) * np.sin(longitude), np.sin(angles)]
        over(scene, np.stack(ring, axis=-1), (255, 255, 255), 0.6, 42)
    scene.curve(path, colours, 1.8, np.where(depth >= 0, 255, 0))
    for k in sorted(range(0, 480, 40), key=lambda k: depth[k]):
        if depth[k] >= 0:
            satellite(scene, path[k], rotations[k])
    return scene.done()


def satellite(scene: Scene, place: np.ndarray, rotation: np.ndarray) -> None:
    """A body with two panels."""
    for side in sorted((-1, 1), key=lambda side: float(scene.seen(side * rotation[:, 1])[2])):
        panel = place + rotation @ np.array((0.0, side * 0.15, 0.0))
        scene.box((0.10, 0.2, 0.012), rotation, panel, ((60, 100, 190),) * 3)
    scene.box((0.09, 0.09, 0.12), rotation, place, (AMBER, (235, 225, 205), CORAL))


def orbits() -> Image.Image:
    """An eccentric orbit about an oblate Earth whose ellipse turns: one revolution of every forty, over 720."""
    earth = ph.planets.EARTH
    a, e = 2.2 * earth.radius, 0.5
    system = ph.orbit(earth.mu, forces=[ph.forces.zonal(radius=earth.radius, J2=earth.zonal["J2"])])
    period = 2 * np.pi * np.sqrt(a**3 / earth.mu)
    speed = np.sqrt(earth.mu / a * (1 + e) / (1 - e))
    revolutions, steps = 720, 120
    start = {"position": (a * (1 - e), 0, 0), "velocity": (0, speed, 0)}
    ds = ph.integrate(system, "rkn6_14a", step=period / steps, steps=revolutions * steps, **start)
    path = ds.position.values.reshape(-1, 3) / earth.radius
    scene = Scene(SIZE, (0.0, -0.62, 0.8), 2.95, (0.5, 0.5))
    scene.ball((0, 0, 0), 1.0, (46, 104, 168), ambient=0.2)
    for first in range(0, revolutions, 40):
        one = path[first * steps : (first + 1) * steps + 4]
        hidden = (scene.seen(one)[:, 2] < 0) & (np.hypot(*scene.seen(one)[:, :2].T) < 1)
        scene.curve(one, ramp(first / revolutions), 1.4, np.where(hidden, 0, 225))
    return scene.done()


def tops() -> Image.Image:
    """The path of the axis of a heavy top that nutates while it precesses once, and the top at one moment of it."""
    top = ph.heavy_top(inertia=(1, 1, 0.4), center_of_mass=(0, 0, 1), weight=3.0)
    ds = ph.integrate(
        top, "rkn6_14a", step=5e-3, t_end=30.0, attitude=ph.rotation.exp_quaternion((0.75, 0, 0)),
        angular_velocity=(0, 0, 15.0),
    )  # fmt: skip
    rotations = matrices(ds.attitude.values.reshape(-1, 4))
    turned = np.unwrap(np.arctan2(rotations[:, 1, 2], rotations[:, 0, 2]))
    rotations = rotations[np.abs(turned - turned[0]) < 1.97 * np.pi]
    axis = rotations[:, :, 2]
    scene = Scene(SIZE, (0.8, -0.6, 0.42), 0.68, (0.5, 0.84))
    angles = np.linspace(0, 2 * np.pi, 181)
    for radius in (0.25, 0.5, 0.75):
        ring = np.stack([radius * np.cos(angles), radius * np.sin(angles), 0 * angles], axis=-1)
        scene.curve(ring, (255, 255, 255), 0.7, 36)
    seen = scene.seen(axis)
    near = seen[:, 2] > seen[:, 2].mean()
    colours = ramp(np.linspace(0, 1, len(axis)), "plasma", 0.35, 0.95)
    scene.curve(axis, colours, 1.7, np.where(near, 0, 190))
    body(scene, rotations[np.argmin(seen[:, 0])])
    scene.curve(axis, colours, 1.7, np.where(near, 255, 0))
    return scene.done()


def body(scene: Scene, rotation: np.ndarray) -> None:
    """A top: a disc on a rod that ends at the fixed point."""
    axis, angles = rotation[:, 2], np.linspace(0, 2 * np.pi, 61)
    rim = (np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ rotation[:, :2].T) * 0.24
    scene.curve([0 * axis, 0.6 * axis], (200, 205, 215), 3.5)
    for height in np.linspace(0.56, 0.62, 13):
        scene.pen.polygon(scene.pixels(scene.seen(rim + height * axis)), fill=tuple(int(c * 0.55) for c in TEAL))
    scene.pen.polygon(scene.pixels(scene.seen(rim + 0.62 * axis)), fill=TEAL)
    for k in range(0, 60, 10):
        scene.curve([0.62 * axis, 0.62 * axis + rim[k]], (255, 255, 255), 0.8, 120)
    scene.curve([0.62 * axis, axis], (235, 238, 245), 2.5)


def molecules() -> Image.Image:
    """Water after a quarter of a picosecond at 300 K, each molecule with its three atoms."""
    water = ph.rigid_water(64, density=997)
    edge = float(water.box[0])
    start = ph.initial.cubic(4, spacing=edge / 4).state | ph.initial.random_rotations(64, seed=1)
    ds = ph.integrate(
        water, ph.methods.baoab(temperature=300, friction=5, seed=2), step=0.002, t_end=0.25, every=25, **start
    )  # fmt: skip
    last = ds.isel(time=-1)
    places = np.mod(last.position.values, edge) - edge / 2
    rotations = matrices(last.attitude.values)
    half, arm = np.radians(104.5 / 2), 0.096
    hydrogens = arm * np.array([(np.sin(half), 0, np.cos(half)), (-np.sin(half), 0, np.cos(half))])
    scene = Scene(SIZE, (0.8, -0.55, 0.38), 0.98 * edge)
    atoms = []
    for place, rotation in zip(places, rotations, strict=True):
        atoms.append((place, 0.14, (214, 72, 62)))
        atoms += [(place + rotation @ one, 0.09, (232, 236, 242)) for one in hydrogens]
    corners = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * edge / 2
    lines = [(p, q) for p in corners for q in corners if np.isclose(np.abs(p - q).sum(), edge) and p.sum() < q.sum()]
    for p, q in lines:
        scene.curve([p, q], (150, 180, 220), 1.0, 110)
    far = [scene.seen(place)[2] for place, _, _ in atoms]
    low, high = min(far), max(far)
    for (place, radius, colour), z in sorted(zip(atoms, far, strict=True), key=lambda pair: pair[1]):
        near = 0.35 + 0.65 * (z - low) / (high - low)
        scene.ball(place, radius, np.asarray(colour) * near + np.asarray(GROUND) * (1 - near))
    return scene.done()


def methods() -> Image.Image:
    """The energy error of a satellite that tumbles in the gravity gradient, by four methods at the same step."""
    import io

    import matplotlib
    from matplotlib.figure import Figure

    system = ph.systems.gravity_gradient(inertia=(2.0, 2.6, 3.1), mu=1.0, radius=1.0)
    start = {"attitude": ph.rotation.exp_quaternion((0.4, 0.3, 0.2)), "angular_velocity": (0.3, 0.5, 1.4)}
    bright = {"mkrk:rk4": "#9aa7bd", "v2": "#f2b34b", "rkn6_14a": "#5cb8e6", "taylor20": "#6fd39a"}
    with matplotlib.rc_context(style.RC):
        figure = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), facecolor=np.array(GROUND) / 255)
        axes = figure.add_axes((0.12, 0.17, 0.68, 0.76), facecolor=np.array(GROUND) / 255)
        for name, colour in bright.items():
            ds = ph.integrate(system, name, step=0.1, t_end=2000.0, every=10, **start)
            error = np.maximum.accumulate(np.abs(ds.energy_error.values))[1:]
            axes.plot(ds.time.values[1:], np.maximum(error, 1e-17), color=colour, linewidth=2.2)
            axes.text(2250, error[-1], name, color=colour, va="center", fontsize=13)
        axes.set(xscale="log", yscale="log", xlim=(1, 2000), xlabel="time", ylabel="largest energy error so far")
        axes.tick_params(colors="#b8c2d3", which="both", labelsize=10)
        axes.grid(True, color="#26344f", linewidth=0.7)
        for part in (axes.xaxis.label, axes.yaxis.label):
            part.set(color="#b8c2d3", fontsize=12)
        for spine in axes.spines.values():
            spine.set_color("#3a4a68")
        axes.minorticks_off()
        with io.BytesIO() as file:
            figure.savefig(file, dpi=100, facecolor=figure.get_facecolor())
            return Image.open(io.BytesIO(file.getvalue())).convert("RGB")


def sphere() -> Image.Image:
    """The momentum sphere with its polhodes."""
    scene = Scene(SIZE, (0.8, 0.75, 0.45), 1.15)
    polhodes(scene)
    return scene.done()


DOORS: dict[str, Callable[[], Image.Image]] = {
    "spacecraft": spacecraft, "orbits": orbits, "tops": tops, "molecules": molecules, "methods": methods,
    "gallery": sphere,
}  # fmt: skip
"""The picture of each door."""
