"""``polhode reproduce``: recompute and judge the figures and claims of a paper."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path

import click

from polhode.cli.options import argument, as_command, option
from polhode.cli.text import complete_study, laid_out
from polhode.display import Display


class _WithStudies(click.Command):
    """A command whose help ends with the list of studies."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        import polhode_papers as studies

        with formatter.section("Studies"):
            formatter.write_dl(list(studies.STUDIES.items()))


@partial(as_command, kind=_WithStudies)
def command(
    study: str | None = argument(shell_complete=complete_study, required=False),
    output: Path | None = option("-o --output", "Folder to write into. [results/<study>]"),
    quick: bool = option("--quick", "The reduced form: the same claims on fewer steps and starts."),
    as_json: bool = option("--json", "Print the results for machines on stdout."),
    quiet: bool = option("-q --quiet", "Show no progress."),
) -> None:
    """Recompute STUDY, a paper such as krysl2006, or one figure of it, such as krysl2006/fig1.
    Without STUDY, list them.

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
    from polhode.kernel import jit
    from polhode_papers import report

    if study is None:
        click.echo(laid_out("Papers recomputed and judged: polhode reproduce NAME", studies.STUDIES.items()))
        return
    name, _, word = study.rstrip("/").partition("/")
    found = studies.study(name)
    figures = [found.figure(word)] if word else list(found.figures)
    folder, begun, many, count = output or Path("results") / name, time.perf_counter(), len(figures), 0

    def show(line: str) -> None:
        display.show(line, count / many, f"{count} of {many}")

    def compiling() -> None:
        show("compiling")
        if display.bar is None and not quiet:
            display.say("compiling: the first run of a study takes up to a minute longer")

    def done(result: report.Result) -> None:
        nonlocal count
        count += 1
        show(result.figure.name)
        if display.bar is None and not quiet:
            seconds = time.perf_counter() - begun
            display.say(f"{count} of {many}: {result.figure.name} done, {seconds:.1f} s so far")
        if display.bar is not None:  # both may be the same terminal
            display.bar.stop()
        if not as_json:
            click.echo(report.plain(result))
        if display.bar is not None:
            display.bar.start()

    with Display(quiet) as display, jit.watched(compiling):
        if display.bar is not None:
            display.bar.live.transient = True
        results, written = report.reproduce(found, folder, figures, quick, report_progress=show, done=done)
    if as_json:
        click.echo(json.dumps(report.as_json(found, results, quick, written), indent=2, allow_nan=False))
    else:
        click.echo(f"{report.counts(results)}; pictures, data and {written.name} are in {folder}")
