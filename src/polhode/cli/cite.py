"""``polhode cite``: whom to cite for a trajectory or a method."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("cite", short_help="Print what to cite for a trajectory.")
@click.argument("what")
def command(what: str) -> None:
    """Print what to cite for WHAT: a trajectory file, or the name of a method.

    \b
    Examples:
        polhode cite fast-top.nc
        polhode cite mkrk:gauss4
        polhode cite fast-top.nc >> paper.bib
    """
    from polhode.references import bibtex, cite, sentence

    if Path(what).suffix in (".nc", ".zarr") or Path(what).exists():
        from polhode.trajectory import load

        click.echo(cite(load(what)))
        return
    from polhode import __version__
    from polhode.methods import method

    chosen = method(what)
    click.echo(f"% {sentence(__version__, chosen.label, chosen.method.description)}\n{bibtex(chosen.method.cite)}")
