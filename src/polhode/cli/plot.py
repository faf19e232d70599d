"""``polhode plot``: draw a trajectory again from its file, as a dashboard or in panels of choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from polhode.errors import InvalidInput
from polhode.lazy_packages import xr


def _listed() -> str:
    from polhode.plots.panels import GROUPS, PANELS

    width = max(map(len, PANELS))
    rows = [f"{name:{width}}  {panel.words}" for name, panel in PANELS.items()]
    rows += [f"{name:{width}}  {', '.join(names)}" for name, names in GROUPS.items()]
    return "\n".join(rows)


class _WithPanels(click.Command):
    """A command whose help ends with the table of panels."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Panels (--list FILE: those of a file)"):
            for row in _listed().splitlines():
                formatter.write(f"  {row}\n")


def _complete(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Names of panels, after the commas that are there."""
    from polhode.plots.panels import GROUPS, PANELS

    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in (*PANELS, *GROUPS) if name.startswith(last)]


@click.command("plot", cls=_WithPanels, short_help="Draw a trajectory from its file, or panels of it for a paper.")
@click.argument("trajectory", type=click.Path(path_type=Path))
@click.option(
    "--panels", shell_complete=_complete, help="Names with commas, such as energy,lvlh; default: the dashboard."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Picture to write: .png, .pdf or .svg.")
@click.option("--size", type=click.Choice(["page", "column"]), help="Width of --panels: 7 in (default) or 3.4 in.")
@click.option("--list", "listing", is_flag=True, help="Print the panels that this file offers, and draw nothing.")
@click.option("--overwrite", is_flag=True, help="Replace files that polhode did not write.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def command(
    trajectory: Path,
    panels: str | None,
    output: Path | None,
    size: str | None,
    listing: bool,
    overwrite: bool,
    quiet: bool,
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
    from polhode.cli.members import is_ensemble, picture_of_members
    from polhode.plots.indicators import kind_of
    from polhode.runs.resume import load
    from polhode.trajectory.outputs import check_defaults

    ds = load(trajectory)
    path = output if output is not None else trajectory.with_suffix(".png")
    if output is None and not listing:
        check_defaults(None, overwrite, path)
    if "integrator" in ds.dims:
        _refuse(panels, size, listing, "a comparison of methods")
        from polhode.plots import work_precision

        work_precision(ds, path)
    elif kind_of(ds) is not None:
        _refuse(panels, size, listing, "an indicator of chaos")
        from polhode.plots import indicator

        indicator(ds, path=path)
    elif is_ensemble(ds):
        _refuse(panels, size, listing, "an ensemble")
        if not picture_of_members(ds, path):
            raise InvalidInput(f"{trajectory} is an ensemble without a variable along time that could be drawn")
    elif listing:
        click.echo(_offered(ds))
        return
    elif panels is None:
        if size is not None:
            raise InvalidInput("--size is the width of --panels; name some, or leave it out")
        from polhode.plots import dashboard

        dashboard(ds, path)
    else:
        from polhode.plots import figure

        figure(ds, panels, size or "page", path)
    if not quiet:
        click.echo(f"written: {path}", err=True)


def _offered(ds: xr.Dataset) -> str:
    """The panels of a trajectory, one a line; those of its dashboard are marked."""
    from polhode.plots.dashboard import checked
    from polhode.plots.panels import kind_of, offered, usual

    shown = checked(ds)
    own = {panel.name for panel in usual(shown)}
    found = offered(shown)
    width = max(len(panel.name) for panel in found)
    rows = [f"{'*' if panel.name in own else ' '} {panel.name:{width}}  {panel.words}" for panel in found]
    return "\n".join([f"{kind_of(shown).name}; * in its dashboard", *rows])


def _refuse(panels: Any, size: Any, listing: bool, what: str) -> None:
    given = [name for name, value in (("--panels", panels), ("--size", size), ("--list", listing)) if value]
    if given:
        raise InvalidInput(f"{' and '.join(given)} are for single runs, and this file holds {what}; leave them out")
