"""``polhode plot``: draw a trajectory again from its file, as a dashboard or in panels of choice."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

import click

import polhode as ph
from polhode.cli.members import is_ensemble, picture_of_members
from polhode.cli.options import OVERWRITE, QUIET, argument, as_command, option
from polhode.errors import InvalidInput
from polhode.lazy import xr


class _WithPanels(click.Command):
    """A command whose help ends with the table of panels."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from polhode.plots.panels import GROUPS, PANELS

        rows = {name: panel.words for name, panel in PANELS.items()}
        rows |= {name: ", ".join(names) for name, names in GROUPS.items()}
        with formatter.section("Panels (--list FILE: those of a file)"):
            for name, words in rows.items():
                formatter.write(f"  {name:{max(map(len, PANELS))}}  {words}\n")


def _complete(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Names of panels, after the commas that are there."""
    from polhode.plots.panels import GROUPS, PANELS

    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in (*PANELS, *GROUPS) if name.startswith(last)]


@partial(as_command, kind=_WithPanels)
def command(
    trajectory: Path = argument(),
    panels: str | None = option(
        "--panels", "Names with commas, such as energy,lvlh; default: the dashboard.", shell_complete=_complete
    ),
    output: Path | None = option("-o --output", "Picture to write: .png, .pdf or .svg."),
    size: Literal["page", "column"] | None = option("--size", "Width of --panels: 7 in (default) or 3.4 in."),
    listing: bool = option("--list", "Print the panels that this file offers, and draw nothing."),
    overwrite: bool = OVERWRITE,
    quiet: bool = QUIET,
) -> None:
    """Draw TRAJECTORY (.nc or .zarr): its dashboard, or with --panels a figure for a paper.

    \b
    Examples:
        polhode plot run.nc
        polhode plot run.nc --list
        polhode plot run.nc --panels energy,lvlh -o figure.pdf
        polhode plot run.nc --panels polhode --size column -o polhode.svg

    The picture goes beside the trajectory, with its name and .png, unless -o names it. PDF and SVG hold their fonts and
    no date. In Python: polhode.plots.dashboard(ds, path) and polhode.plots.figure(ds, panels, size, path).
    """
    from polhode.plots.indicators import kind_of
    from polhode.trajectory.outputs import check_defaults

    ds = ph.load(trajectory)
    path = output if output is not None else trajectory.with_suffix(".png")
    if output is None and not listing:
        check_defaults(None, overwrite, path)
    held = "a comparison of methods" if "integrator" in ds.dims else "an indicator of chaos" if kind_of(ds) else ""
    held = held or ("an ensemble" if is_ensemble(ds) else "")
    given = [name for name, value in (("--panels", panels), ("--size", size), ("--list", listing)) if value]
    if held and given:
        raise InvalidInput(f"{' and '.join(given)} are for single runs, and this file holds {held}; leave them out")
    if "integrator" in ds.dims:
        ph.plots.work_precision(ds, path)
    elif kind_of(ds):
        ph.plots.indicator(ds, path=path)
    elif held:
        if not picture_of_members(ds, path):
            raise InvalidInput(f"{trajectory} is an ensemble without a variable along time that could be drawn")
    elif listing:
        click.echo(_offered(ds))
        return
    elif panels is not None:
        ph.plots.figure(ds, panels, size or "page", path)
    elif size is not None:
        raise InvalidInput("--size is the width of --panels; name some, or leave it out")
    else:
        ph.plots.dashboard(ds, path)
    if not quiet:
        click.echo(f"written: {path}", err=True)


def _offered(ds: xr.Dataset) -> str:
    """The panels of a trajectory, one a line; those of its dashboard are marked."""
    from polhode.plots.dashboard import checked
    from polhode.plots.panels import kind_of, offered, usual

    shown = checked(ds)
    own, found = {panel.name for panel in usual(shown)}, offered(shown)
    width = max(len(panel.name) for panel in found)
    rows = [f"{'*' if panel.name in own else ' '} {panel.name:{width}}  {panel.words}" for panel in found]
    return "\n".join([f"{kind_of(shown).name}; * in its dashboard", *rows])
