"""``polhode view``: look at a run in a browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

import polhode as ph
from polhode.cli.options import OVERWRITE, argument, as_command, option
from polhode.cli.text import complete_trajectory
from polhode.display import Display


@as_command
def command(
    trajectories: tuple[Path, ...] = argument(shell_complete=complete_trajectory),
    output: Path | None = option("-o --output", "The page. Default: the trajectory's name, .html."),
    no_open: bool = option("--no-open", "Write the page and open no browser."),
    mesh: Path | None = option("--mesh", "Shape of the body: .stl, .obj, .ply, .off or .glb."),
    labels: tuple[str, ...] = option("--label", "What to call a run; once for each."),
    frames: int | None = option("--frames", "Most frames of each run.  [default: 5000]"),
    first: float | None = option("--from", "Show the run from this time on."),
    last: float | None = option("--to", "Show the run up to this time."),
    members: tuple[int, ...] = option("--member", "Member of an ensemble, from 0; may be repeated."),
    title: str | None = option("--title", "Heading of the page."),
    demo: bool = option("--demo", "Run and show a fast top, for a first look."),
    overwrite: bool = OVERWRITE,
    allow_code: bool = option("--allow-code", "Load the Python functions a scenario names. Read them first."),
) -> None:
    """Write TRAJECTORIES (.nc, .zarr, live stores) as one page of HTML, and open it in the default browser. A scenario
    (.toml) is run first, and its rows are shown without being kept.

    \b
    Examples:
        polhode view --demo
        polhode view fast-top.nc
        polhode view examples/fast-top.toml
        polhode view craft.nc -o craft.html --mesh craft.stl --no-open
        polhode view trapm.nc rk4.nc --label trapm --label rk4
        polhode view long.zarr --from 0 --to 600

    The page holds everything it needs: it opens without a network, and asks for nothing. The path of the page goes to
    stdout. No browser is opened where there is no display. In Python: polhode.view(ds).
    """
    from polhode.trajectory.outputs import check_defaults
    from polhode.viewer.view import html_path

    if not trajectories and not demo:
        raise click.UsageError("Missing argument 'TRAJECTORIES...'; polhode view --demo shows a fast top")
    name = trajectories[0].name if trajectories else "fast-top"
    target = Path(html_path(output)) if output is not None else Path(name).with_suffix(".html")
    check_defaults(target if output is not None else None, overwrite, target)
    largest, span = sys.float_info.max, None
    if first is not None or last is not None:
        span = (-largest if first is None else first), (largest if last is None else last)
    words: dict[str, Any] = {
        "labels": labels or None, "mesh": mesh, "members": list(members) or None, "title": title, "frames": frames,
        "span": span,
    }  # fmt: skip
    runs: list[Any] = []
    if demo:  # the top of the README
        top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
        tilt = ph.rotation.exp_quaternion((0.3, 0, 0))
        ds = ph.integrate(top, "rkn6_14a", step=4e-3, t_end=20.0, attitude=tilt, angular_velocity=(0, 0, 50))
        runs.append(ds.assign_attrs(title="A fast top"))
    for path in trajectories:
        if path.suffix != ".toml":
            runs.append(path)
            continue
        with Display() as display:
            runs.append(ph.runs.read_scenario(path, allow_code).integrate(progress=display))
    made = ph.view(*runs, **{name: value for name, value in words.items() if value is not None})
    written = made.save(target)
    for run in made.scene["runs"]:
        for name, said in run["facts"]:
            if name in ("incomplete", "coarse", "shown"):
                click.echo(f"{run['label']}: {name}: {said}", err=True)
    click.echo(written)
    if not no_open and has_display():
        import webbrowser

        if not webbrowser.open(written.resolve().as_uri()):
            click.echo("no browser was found; open the page yourself", err=True)


def has_display() -> bool:
    """Whether a browser has something to appear on."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"))
