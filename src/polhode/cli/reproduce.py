"""``polhode reproduce``: recompute and judge the figures and claims of a paper."""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode.cli.text import complete_study

if TYPE_CHECKING:
    from polhode_papers.report import Result


class _WithStudies(click.Command):
    """A command whose help ends with the list of studies."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        import polhode_papers as studies

        with formatter.section("Studies"):
            formatter.write_dl(list(studies.STUDIES.items()))


@click.command("reproduce", cls=_WithStudies, short_help="Recompute the figures and claims of a paper.")
@click.argument("study", shell_complete=complete_study)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to write into. [results/<study>]")
@click.option("--quick", is_flag=True, help="The reduced form: the same claims on fewer steps and starts.")
@click.option("--json", "as_json", is_flag=True, help="Print the results for machines on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def command(study: str, output: Path | None, quick: bool, as_json: bool, quiet: bool) -> None:
    """Recompute STUDY, a paper such as krysl2006, or one figure of it, such as krysl2006/fig1.

    \b
    Examples:
        polhode reproduce krysl2006
        polhode reproduce krysl2006/fig3 -o fig3
        polhode reproduce krysl2006/claims --quick --json

    Pictures (PNG), data (CSV) and a report (Markdown) are written to the folder. Every claim of the paper is printed
    with its verdict (holds, holds partly, fails; for a misprint also that of its correction) and the numbers behind it.
    A claim that fails is a result, not an error.
    """
    import polhode_papers as studies
    from polhode_papers import report

    name, _, word = study.rstrip("/").partition("/")
    found = studies.study(name)
    figures = [found.figure(word)] if word else list(found.figures)
    folder = output or Path("results") / name
    with _Display(quiet, len(figures)) as display:

        def done(result: Result) -> None:
            display.done(result)
            if not as_json:
                display.out(report.plain(result))

        results, written = report.reproduce(
            found, folder, figures, quick, report_progress=display.report_progress, done=done
        )
    if as_json:
        click.echo(json.dumps(report.as_json(found, results, quick, written), indent=2, allow_nan=False))
    else:
        click.echo(f"{report.counts(results)}; pictures, data and {written.name} are in {folder}")


class _Display:
    """Progress of a study: a bar in a terminal, a line for each figure elsewhere."""

    def __init__(self, quiet: bool, figures: int) -> None:
        self.quiet, self.figures, self.count, self.begun = quiet, figures, 0, time.perf_counter()
        self.bar: Any = None
        self.task: Any = None
        self.watch = ExitStack()

    def __enter__(self) -> _Display:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
            )

            self.bar = Progress(
                SpinnerColumn(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                TextColumn("{task.description}"), console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self.bar.start()
            self.task = self.bar.add_task("preparing", total=self.figures)
        from polhode.kernel import jit

        self.watch.enter_context(jit.watched(self.compiling))
        return self

    def compiling(self) -> None:
        """Show that a kernel is being compiled."""
        if self.bar is not None:
            self.bar.update(self.task, description="compiling")
        elif not self.quiet:
            click.echo("compiling: the first run of a study takes up to a minute longer", err=True)

    def report_progress(self, line: str) -> None:
        """Show what is being computed."""
        if self.bar is not None:
            self.bar.update(self.task, description=line)

    def done(self, result: Result) -> None:
        """Count a finished figure."""
        self.count += 1
        if self.bar is not None:
            self.bar.update(self.task, completed=self.count)
        elif not self.quiet:
            seconds = time.perf_counter() - self.begun
            click.echo(f"{self.count} of {self.figures}: {result.figure.name} done, {seconds:.1f} s so far", err=True)

    def out(self, text: str) -> None:
        """Print results on stdout; the bar is stopped meanwhile, as both may be the same terminal."""
        if self.bar is not None:
            self.bar.stop()
            click.echo(text)
            self.bar.start()
        else:
            click.echo(text)

    def __exit__(self, *_: Any) -> None:
        self.watch.close()
        if self.bar is not None:
            self.bar.stop()
