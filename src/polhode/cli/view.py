"""``polhode view``: look at a run in a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import polhode as ph
from polhode.cli.options import OVERWRITE, argument, as_command, option
from polhode.cli.text import complete_trajectory
from polhode.display import Display
from polhode.errors import InvalidInput
from polhode.operating_system import has_display, show_page


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
    interactive: bool = option("--interactive", "Write a page that takes the steps of a scenario itself."),
    knobs: tuple[str, ...] = option("--knob", "A slider of such a page, as weight=0:40; may be repeated."),
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
        polhode view --interactive examples/fast-top.toml --knob weight=0:40

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
    if interactive or knobs:
        made = interactive_page(trajectories, allow_code, knobs, {"mesh": mesh, "title": title})
    else:
        made = ph.view(
            *runs_of(trajectories, allow_code, demo), **{n: one for n, one in words.items() if one is not None}
        )
    written = made.save(target)
    for run in made.scene["runs"]:
        for name, said in run["facts"]:
            if name in ("incomplete", "coarse", "shown"):
                click.echo(f"{run['label']}: {name}: {said}", err=True)
    click.echo(written)
    if not no_open and has_display() and not show_page(written):
        click.echo("no browser was found; open the page yourself", err=True)


def runs_of(trajectories: tuple[Path, ...], allow_code: bool, demo: bool) -> list[Any]:
    """Trajectories, or their files; those of scenarios are made."""
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
    return runs


def interactive_page(
    scenarios: tuple[Path, ...], allow_code: bool, knobs: tuple[str, ...], words: dict[str, Any]
) -> Any:
    """The page that takes the steps of one scenario itself."""
    from polhode.runs.request import grouped
    from polhode.runs.state import STATE_WORDS

    if len(scenarios) != 1 or scenarios[0].suffix != ".toml":
        raise click.UsageError("--interactive takes one scenario (.toml), whose steps the page takes itself")
    scenario, sliders = ph.runs.read_scenario(scenarios[0], allow_code), dict[str, Any]()
    given = grouped(scenario.arguments)
    if scenario.members is not None or given.get("events") or given.get("breaks"):
        raise InvalidInput(f"{scenarios[0]} has members, events or breaks, which a page that takes the steps itself "
                           "has not; leave them out")  # fmt: skip
    for knob in knobs:
        name, _, ends = knob.partition("=")
        try:
            sliders[name] = [float(end) for end in ends.split(":")]
        except ValueError:
            raise click.UsageError(f"--knob is {knob!r}; write it as weight=0:40") from None
    start = {name: given[name] for name in ("start", "step", "settings", *STATE_WORDS) if given.get(name) is not None}
    words["title"] = words["title"] or scenario.title
    return ph.interactive(scenario.system, scenario.asked, knobs=sliders, **start, **words)
