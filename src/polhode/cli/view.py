"""``polhode view``: look at a run in a browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from polhode.cli.text import complete_trajectory


@click.command("view", short_help="Look at a run in a browser: one page with the moving body in it.")
@click.argument("trajectories", nargs=-1, type=click.Path(path_type=Path), shell_complete=complete_trajectory)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The page. Default: the trajectory's name, .html."
)
@click.option("--no-open", is_flag=True, help="Write the page and open no browser.")
@click.option("--mesh", type=click.Path(path_type=Path), help="Shape of the body: .stl, .obj, .ply, .off or .glb.")
@click.option("--label", "labels", multiple=True, help="What to call a run; once for each.")
@click.option("--frames", type=int, default=None, help="Most frames of each run.  [default: 5000]")
@click.option("--from", "first", type=float, help="Show the run from this time on.")
@click.option("--to", "last", type=float, help="Show the run up to this time.")
@click.option("--member", "members", type=int, multiple=True, help="Member of an ensemble, from 0; may be repeated.")
@click.option("--title", help="Heading of the page.")
@click.option("--demo", is_flag=True, help="Run and show a fast top, for a first look.")
@click.option("--overwrite", is_flag=True, help="Replace files that polhode did not write.")
@click.option("--allow-code", is_flag=True, help="Load the Python functions a scenario names. Read them first.")
def command(
    trajectories: tuple[Path, ...],
    output: Path | None,
    no_open: bool,
    mesh: Path | None,
    labels: tuple[str, ...],
    frames: int | None,
    first: float | None,
    last: float | None,
    members: tuple[int, ...],
    title: str | None,
    demo: bool,
    overwrite: bool,
    allow_code: bool,
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
    from polhode.viewer.view import html_path, view

    if not trajectories and not demo:
        raise click.UsageError("Missing argument 'TRAJECTORIES...'; polhode view --demo shows a fast top")
    name = trajectories[0].name if trajectories else "fast-top"
    target = Path(html_path(output)) if output is not None else Path(name).with_suffix(".html")
    check_defaults(target if output is not None else None, overwrite, target)
    words: dict[str, Any] = {
        "labels": labels or None, "mesh": mesh, "members": list(members) or None, "title": title,
        "frames": frames, "span": _span(first, last),
    }  # fmt: skip
    runs = [*([_fast_top()] if demo else []), *(_read(path, allow_code) for path in trajectories)]
    made = view(*runs, **{name: value for name, value in words.items() if value is not None})
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


def _fast_top() -> Any:
    """The top of the README."""
    import polhode as ph

    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    tilt = ph.rotation.exp_quaternion((0.3, 0, 0))
    ds = ph.integrate(top, "rkn6_14a", step=4e-3, t_end=20.0, attitude=tilt, angular_velocity=(0, 0, 50))
    return ds.assign_attrs(title="A fast top")


def _read(path: Path, allow_code: bool) -> Any:
    """The path of a trajectory, or the trajectory of a scenario."""
    if path.suffix != ".toml":
        return path
    from polhode.display import Display
    from polhode.runs.scenario import read_scenario

    with Display() as display:
        return read_scenario(path, allow_code).integrate(progress=display)


def _span(first: float | None, last: float | None) -> tuple[float, float] | None:
    if first is None and last is None:
        return None
    largest = sys.float_info.max
    return (-largest if first is None else first), (largest if last is None else last)


def has_display() -> bool:
    """Whether a browser has something to appear on."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"))
