"""``polhode cite``: what to cite for a trajectory or a method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from polhode.cli.text import complete_method

if TYPE_CHECKING:
    from polhode.methods import MethodSpec


@click.command("cite", short_help="Print what to cite for a trajectory or a method.")
@click.argument("what", shell_complete=complete_method)
def command(what: str) -> None:
    """Print what to cite for WHAT: a trajectory file, or the name of a method.

    \b
    Examples:
        polhode cite fast-top.nc
        polhode cite mkrk:gauss4
        polhode cite s6_10/dmv6               the splitting, and its free rotation
        polhode cite fast-top.nc >> paper.bib
    """
    from polhode.methods import method
    from polhode.references import bibtex, cite, sentence

    if Path(what).suffix in (".nc", ".zarr") or Path(what).exists():
        from polhode.runs.resume import load

        ds = load(what)
        click.echo(cite(ds))
        besides(method(ds.attrs["method"]) if "method" in ds.attrs else None)
        return
    from polhode import __version__

    chosen = method(what)
    click.echo(f"% {sentence(__version__, chosen.label, chosen.method.description)}\n{bibtex(chosen.method.cite)}")
    besides(chosen)


def besides(chosen: MethodSpec | None) -> None:
    """Print the source of a splitting's free rotation, where it differs from that of the scheme."""
    from polhode.methods.free_flows import free_flow
    from polhode.methods.listing import flow_of
    from polhode.references import bibtex

    flow = flow_of(chosen.method) if chosen is not None else None
    if chosen is not None and flow is not None and free_flow(flow).cite != chosen.method.cite:
        click.echo(f"% Its free rotation: {free_flow(flow).description}.\n{bibtex(free_flow(flow).cite)}")
