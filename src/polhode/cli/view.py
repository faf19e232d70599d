"""``polhode view``: look at a run in a browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click


@click.command("view", short_help="Look at a run in a browser: one page with the moving body in it.")
@click.argument("trajectories", nargs=-1, required=True, type=click.Path(path_type=Path))
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
) -> None:
    """Write TRAJECTORIES (.nc, .zarr, live stores) as one page of HTML, and open it in the default browser.

    \b
    Examples:
        polhode view fast-top.nc
        polhode view craft.nc -o craft.html --mesh craft.stl --no-open
        polhode view trapm.nc rk4.nc --label trapm --label rk4
        polhode view long.zarr --from 0 --to 600

    The page holds everything it needs: it opens without a network, and asks for nothing. The path of the page goes to
    stdout. No browser is opened where there is no display. In Python: polhode.view(ds).
    """
    from polhode.viewer.view import html_path, view

    target = Path(html_path(output)) if output is not None else Path(trajectories[0].name).with_suffix(".html")
    words: dict[str, Any] = {
        "labels": labels or None, "mesh": mesh, "members": list(members) or None, "title": title,
        "frames": frames, "span": _span(first, last),
    }  # fmt: skip
    made = view(*trajectories, **{name: value for name, value in words.items() if value is not None})
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
