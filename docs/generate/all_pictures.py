"""The dashboard and the page of every kind of system, wide and narrow, side by side on one index page, to be looked at.

    python docs/generate/all_pictures.py FOLDER              # all; pages need chromium
    python docs/generate/all_pictures.py FOLDER water top    # those whose names have one of these words
    python docs/generate/all_pictures.py FOLDER --dashboards # without pages

Run it before and after a change of pictures. A narrow dashboard is its panels below each other, as in a column of a
paper; a page is drawn by the browser of the tests, each of its views too. The runs are those of ``examples/``, shorter
where the pictures do not need all of them.
"""

from __future__ import annotations

import argparse
import html
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph
from polhode.plots.dashboard import checked
from polhode.plots.panels import usual

ROOT = Path(__file__).resolve().parents[2]
WIDE, NARROW = 1400, 400
"""Widths of pictures, pixels."""
READY = "globalThis.polhodeHandle"


def scenario(name: str, **changes: float) -> Callable[[], Any]:
    """A file of ``examples/``, with other values of ``[run]``."""
    path = ROOT / "examples" / f"{name}.toml"
    set_ = {f"run.{key}": value for key, value in changes.items()}
    return lambda: ph.runs.read_scenario(path, True, changes=set_ or None).integrate()


def gyrostat() -> Any:
    """A body with a wheel that keeps its momentum."""
    wheel = ph.reaction_wheels([(0, 1, 0)], 0.1, speed=3.4)
    craft = ph.system(ph.body("craft", inertia=(8.0, 10.1, 13.0), pinned=True, wheels=wheel))
    return ph.integrate(craft, "exact", step=0.5, t_end=400.0, angular_velocity=(2e-3, 0.2, 2e-3))


def bdot() -> Any:
    """A small satellite that coils detumble within four orbits."""

    def law(craft: Any, field: Any, gain: Any) -> Any:
        return {"dipole_command": gain * np.cross(craft.angular_velocity, craft.in_body(field))}

    earth, radius = ph.planets.EARTH, 6.9e6
    craft = ph.system(
        ph.body("craft", 4.0, (0.04, 0.05, 0.02)), ph.loads.central(earth.mu), ph.loads.gravity_gradient(),
        ph.loads.torquers(np.eye(3), max_dipole=0.2), ph.controller(law, every=1.0, parameters={"gain": 4e4}),
        surroundings={"field": ph.surroundings.dipole_field()},
    )  # fmt: skip
    r, v = ph.kepler.state(earth.mu, semi_major_axis=radius, inclination=np.radians(97.5))
    tumble = np.radians([6.0, -7.0, 4.0])
    return ph.integrate(craft, step=1.0, t_end=23000.0, every=2, settings={"units": "SI"},
                        position=r, velocity=v, angular_velocity=tumble)  # fmt: skip


def particle() -> Any:
    """A point in three unlike springs."""
    point = ph.particle(2.0, stiffness=(1, 2, 3))
    return ph.integrate(point, step=0.05, t_end=60.0, position=(1.0, 0.4, -0.2), velocity=(0.0, 0.5, 0.6))


def two_bodies() -> Any:
    """Two rigid bodies in space, on a spring."""

    def spring(a: Any, b: Any, stiffness: Any, length: Any) -> Any:
        apart = b.point((0.0, 0.0, -0.5)) - a.point((0.0, 0.0, 1.0))
        return 0.5 * stiffness * (np.sqrt(apart @ apart) - length) ** 2

    pair = ph.system(
        ph.body("bus", 100.0, (20.0, 30.0, 25.0)), ph.body("arm", 20.0, (2.0, 3.0, 4.0)),
        ph.loads.of(spring, stiffness=5.0, length=1.0).on("bus", "arm"),
    )  # fmt: skip
    start = {"bus": {"angular_velocity": (0.0, 0.0, 0.3)},
             "arm": {"position": (0.0, 0.2, 2.7), "angular_velocity": (0.2, 0.1, 0.0)}}  # fmt: skip
    return ph.integrate(pair, step=0.02, t_end=60.0, settings={"units": "SI"}, start=start)


RUNS: dict[str, Callable[[], Any]] = {
    "fast top": scenario("fast-top", t_end=10.0, every=50), "slow top": scenario("slow-top"),
    "free body": scenario("free-body"), "gyrostat": gyrostat, "satellite dynamics": scenario("gravity-gradient"),
    "eddy currents": scenario("satellite"), "detumbling by a tolerance": scenario("detumble"),
    "detumbling in orbit": scenario("detumble-in-orbit"), "magnetic detumbling": bdot,
    "cubesat with wheels": scenario("cubesat"), "gravity gradient": scenario("gravity-gradient-satellite"),
    "orbit with J2": scenario("sun-synchronous"), "decay": scenario("leo-decay"), "comet": scenario("eccentric"),
    "solar sail": scenario("solar-sail"), "tethered pair": scenario("tethered-pair"), "two rigid bodies": two_bodies,
    "planets": scenario("outer-planets", t_end=2e5, every=5), "water": scenario("water", t_end=2.0),
    "dipoles in a bath": scenario("dipole-liquid", t_end=4.0), "dipoles": scenario("dipoles"),
    "soft wall": scenario("soft-wall", t_end=2000.0), "euler angles": scenario("euler-angles"), "particle": particle,
}  # fmt: skip
"""Runs by the names of their pictures."""


def of_members(path: Path) -> Any:
    """Bands of a thousand tops."""
    told = ph.runs.read_scenario(ROOT / "examples" / "many-tops.toml")
    return ph.plots.bands(ph.ensembles.ensemble_of(told), path=path)


def of_chaos(path: Path) -> Any:
    """MEGNO of a few tops, over time."""
    spins = [(0.1, 0.1, spin) for spin in np.linspace(1.0, 4.0, 8)]
    top = ph.heavy_top((1.0, 1.4, 0.8), (0.3, 0.0, 1.0), weight=1.0)
    found = ph.chaos.megno(top, members={"angular_velocity": spins}, step=0.05, t_end=100.0)
    return ph.plots.indicator(found, x="time", path=path)


def of_methods(path: Path) -> Any:
    """Errors of methods against their work."""
    top, spin = ph.heavy_top((5, 5, 1), (0, 0, 1), weight=20.0), {"angular_velocity": (0.0, 0.5, 20.0)}
    compared = ph.compare(top, ["trapm", "v2", "s4_6", "rkn6_14a"], [0.02, 0.01, 0.005], t_end=2.0, start=spin)
    return ph.plots.work_precision(compared, path=path)


OTHERS: dict[str, Callable[[Path], Any]] = {"members": of_members, "chaos": of_chaos, "methods": of_methods}
"""Pictures of other things than runs."""


# ------------------------------------------------------------------ pictures
def dashboards(ds: Any, folder: Path, name: str) -> Iterator[Path]:
    """The dashboard, wide and in a column."""
    for width in (WIDE, NARROW):
        path = folder / f"{name}-{width}.png"
        if width == WIDE:
            picture = ph.plots.dashboard(ds)
        else:
            picture = ph.plots.figure(ds, [panel.name for panel in usual(checked(ds))], size="column")
        picture.savefig(path, dpi=width / picture.get_figwidth())
        yield path


def others(draw: Callable[[Path], Any], folder: Path, name: str) -> Iterator[Path]:
    """A picture of something else, wide and narrow."""
    picture = draw(folder / f"{name}.png")
    for width in (WIDE, NARROW):
        path = folder / f"{name}-{width}.png"
        picture.savefig(path, dpi=width / picture.get_figwidth())
        yield path


def pages(browser: Any, ds: Any, folder: Path, name: str) -> Iterator[Path]:
    """The whole page, and the picture of each of its views, in the middle of the run; wide and narrow."""
    address = ph.view(ds).save(folder / f"{name}.html").as_uri()
    for width in (WIDE, NARROW):
        page = browser.open(address, (width, 1000 if width == WIDE else 800))
        page.wait(READY)
        page.do("(() => { const h = polhodeHandle; h.setFrame(Math.floor(0.5 * (h.ticks || [0]).length) || 200); })()")
        page.drawn()
        whole = folder / f"{name}-page-{width}.png"
        save(page, whole)
        yield whole
        views = page.do("[...document.querySelectorAll('.pv-bar [aria-label=View] button')].map((b) => b.textContent)")
        for k, view in enumerate(views):
            page.do(f"document.querySelectorAll('.pv-bar [aria-label=View] button')[{k}].click()")
            page.drawn()
            path = folder / f"{name}-{view.lower().replace(' ', '-')}-{width}.png"
            save(page, path, ".pv-left")
            yield path
        for complaint in page.complaints:
            print(f"{name}: the page complained of {complaint}")
        page.close()


def save(page: Any, path: Path, part: str = "#polhode-view") -> None:
    """What is seen of a part of a page, also below the edge of the window."""
    import base64

    box = page.do(f"(() => {{ scrollTo(0, 0); const r = document.querySelector('{part}').getBoundingClientRect();"
                  " return [r.left, r.top, r.width, r.height]; })()")  # fmt: skip
    clip = dict(zip(("x", "y", "width", "height"), box, strict=True)) | {"scale": 1}
    seen = page.send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
    path.write_bytes(base64.b64decode(seen["data"]))


def index(folder: Path, made: dict[str, list[Path]]) -> Path:
    """One page with all pictures."""
    text = '<!doctype html><meta charset="utf-8"><title>All pictures</title><style>img{border:1px solid #ccc;'
    text += "vertical-align:top;margin:4px}</style>"
    for name, paths in made.items():
        text += f"<h2>{html.escape(name)}</h2>" + "".join(
            f'<a href="{html.escape(path.name)}"><img src="{html.escape(path.name)}" alt="{html.escape(path.stem)}" '
            f'loading="lazy" width="{WIDE // 2 if path.stem.endswith(str(WIDE)) else NARROW}"></a>' for path in paths
        )  # fmt: skip
    (folder / "index.html").write_text(text, encoding="utf-8")
    return folder / "index.html"


def main() -> None:
    """Draw what the command line names."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    asked.add_argument("folder", type=Path)
    asked.add_argument("words", nargs="*")
    asked.add_argument("--dashboards", action="store_true", help="without pages")
    given = asked.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    chosen = [name for name in (*RUNS, *OTHERS) if not given.words or any(word in name for word in given.words)]
    made: dict[str, list[Path]] = {}
    browser = None
    if not given.dashboards and any(name in RUNS for name in chosen):
        sys.path.insert(0, str(ROOT / "tests" / "support"))
        from browser import Browser

        browser = Browser()
    try:
        for name in chosen:
            stem = name.replace(" ", "-")
            if name in OTHERS:
                made[name] = list(others(OTHERS[name], given.folder, stem))
                continue
            ds = RUNS[name]()
            made[name] = list(dashboards(ds, given.folder, stem))
            if browser is not None:
                made[name] += pages(browser, ds, given.folder, stem)
            print(name, flush=True)
    finally:
        if browser is not None:
            browser.close()
    print(index(given.folder, made))


if __name__ == "__main__":
    main()
