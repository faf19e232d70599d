"""Writes the results of a study: figures (PNG), data (CSV), report (Markdown), JSON."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

import matplotlib.style
import xarray as xr

import polhode as ph
from polhode_papers.drawing import STYLE
from polhode_papers.study import VERDICTS, Check, Figure, Reporter, Study, Verdict


@dataclass(frozen=True)
class Result:
    """A computed figure: its data, verdicts, remarks, files and computing time."""

    figure: Figure
    data: xr.Dataset
    verdicts: tuple[Verdict, ...]
    remarks: Mapping[str, str]
    pictures: tuple[Path, ...]
    tables: tuple[Path, ...]
    seconds: float


def reproduce(
    study: Study, folder: str | os.PathLike[str], figures: Sequence[Figure] = (), quick: bool = False,
    report_progress: Reporter = lambda line: None, done: Callable[[Result], None] = lambda _: None, tables: bool = True,
) -> tuple[list[Result], Path]:  # fmt: skip
    """Compute figures, judge their claims, and write everything into a folder.

    Parameters
    ----------
    figures : sequence of Figure
        Figures to compute; all of the study by default.
    quick, tables : bool
        Compute the reduced form; write the data, too, as CSV.
    report_progress, done : function
        Called with a line about what is being computed, and with the result of every finished figure.

    Returns
    -------
        list of Result, Path
            Results, and the path of the report: ``report.md``, or ``<figure>.md`` if one figure was requested.

    Raises
    ------
    FileProblem
        The folder cannot be written.
    """
    target = Path(folder)
    results: list[Result] = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for figure in figures or study.figures:
            begun = time.perf_counter()
            data = figure.compute(quick, partial(_progress_of_figure, report_progress, figure.name))
            report_progress(f"{figure.name}: files")
            verdicts = figure.judge(data, quick)
            remarks = {str(key): str(value) for key, value in data.attrs.items()}
            data_files = write_tables(data, target, figure.name) if tables else ()
            pictures = write_pictures(figure, data, target)
            results.append(Result(figure, data, verdicts, remarks, pictures, data_files, time.perf_counter() - begun))
            done(results[-1])
        report = target / (f"{figures[0].name}.md" if len(figures) == 1 else "report.md")
        whole(report, partial(Path.write_text, data=markdown(study, results, quick), encoding="utf-8"))
    except OSError as problem:
        raise ph.errors.FileProblem(
            f"cannot write into {target}: {problem.strerror or problem}; choose another folder with -o"
        ) from problem
    return results, report


def whole(path: Path, fill: Callable[[Path], Any]) -> Path:
    """Have a file filled under another name, so that it appears whole."""
    draft = path.with_name(f".{path.name}")
    try:
        fill(draft)
        return draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _progress_of_figure(report_progress: Reporter, name: str, line: str) -> None:
    report_progress(f"{name}: {line}")


def write_tables(data: xr.Dataset, folder: Path, stem: str) -> tuple[Path, ...]:
    """Variables as CSV, one file per set of dimensions; the largest set gets the plain name."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, variable in data.data_vars.items():
        groups.setdefault(tuple(map(str, variable.dims)), []).append(str(name))
    paths: list[Path] = []
    for dims in sorted(groups, key=lambda dims: -data[groups[dims][0]].size):
        path = folder / (f"{stem}_by_{'_'.join(dims)}.csv" if paths else f"{stem}.csv")
        table = data[groups[dims]].to_dataframe().reset_index()
        paths.append(whole(path, partial(table.to_csv, index=False, float_format="%.10g")))
    return tuple(paths)


def write_pictures(figure: Figure, data: xr.Dataset, folder: Path) -> tuple[Path, ...]:
    """Draw a figure and write its PNG files."""
    with matplotlib.style.context(STYLE):
        return tuple(whole(folder / f"{stem}.png", picture.savefig) for stem, picture in figure.draw(data).items())


# ------------------------------------------------------------------ words
def words(value: Any) -> str:
    """A number (three digits), a word, or a mapping of these, as readable text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {words(inner)}" for key, inner in value.items())
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    return f"{float(value):#.3g}"


def details(verdict: Verdict) -> list[str]:
    """Lines for the parts, the corrected parts and the numbers."""
    lines = [part_line(part, check) for part, check in verdict.parts.items()]
    lines += [part_line(f"corrected: {part}", check) for part, check in verdict.corrected.items()]
    return lines + [f"{name}: {words(value)}" for name, value in verdict.numbers.items()]


def part_line(part: str, check: Check) -> str:
    """Whether a part is true, its criterion and its measured value."""
    measured = words(check.measured)
    word = "undecided" if check.true is None else "yes" if check else "no"
    return f"{word}: {part} [{check.criterion}{f'; found {measured}' if measured else ''}]"


def counts(results: Sequence[Result]) -> str:
    """How many claims have each verdict, in words."""
    verdicts = [verdict.verdict for result in results for verdict in result.verdicts]
    names = [*VERDICTS, *sorted(set(verdicts) - set(VERDICTS))]
    return ", ".join(
        f"{verdicts.count(name)} {name.replace('holds', 'hold').replace('fails', 'fail')}" for name in names
    )


def tables_of(result: Result) -> dict[str, list[list[str]]]:
    """Tables of the paper, with cells as text."""
    tables = {} if result.figure.tabulate is None else result.figure.tabulate(result.data)
    return {caption: [[words(cell) for cell in row] for row in table] for caption, table in tables.items()}


def plain(result: Result) -> str:
    """A figure's claims, verdicts and numbers as text."""
    lines = [f"{result.figure.name}  {result.figure.title}"]
    for caption, table in tables_of(result).items():
        widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
        lines += ["", f"  {caption}"]
        for first, *rest in table:
            cells = [first.ljust(widths[0]), *(x.rjust(width) for x, width in zip(rest, widths[1:], strict=True))]
            lines.append("    " + "  ".join(cells).rstrip())
    for verdict in result.verdicts:
        lines += ["", f"  {verdict.summary:<12}  [{verdict.claim.where}] {verdict.claim.text}"]
        lines += [f"{'':<16}{line}" for line in details(verdict)]
    return "\n".join(lines) + "\n"


def markdown(study: Study, results: Sequence[Result], quick: bool) -> str:
    """The report as Markdown."""
    form = "reduced (--quick)" if quick else "full"
    lines = [
        f"# {study.title}", "",
        f"Study `{study.name}`, {form} form, computed with polhode {version('polhode')}. "
        f"Of the claims below {counts(results)}.",
        "", "| figure | where | claim | verdict |", "| --- | --- | --- | --- |",
    ]  # fmt: skip
    for result in results:
        for verdict in result.verdicts:
            lines.append(f"| {result.figure.name} | {verdict.claim.where} | {verdict.claim.text} | {verdict.summary} |")
    for result in results:
        lines += ["", f"## {result.figure.name}: {result.figure.title}", ""]
        lines += [f"![{path.stem}]({path.name})" for path in result.pictures]
        lines += ["", "Data: " + ", ".join(f"[{path.name}]({path.name})" for path in result.tables) + ".", ""]
        for caption, (header, *rows) in tables_of(result).items():
            lines += [f"{caption}:", "", "| " + " | ".join(header) + " |", "| --- |" + " ---: |" * (len(header) - 1)]
            lines += ["| " + " | ".join(row) + " |" for row in rows] + [""]
        lines += [f"* {key.replace('_', ' ')}: {value}" for key, value in result.remarks.items()]
        for verdict in result.verdicts:
            lines += ["", f"**{verdict.summary}** ({verdict.claim.where}): {verdict.claim.text}", ""]
            lines += [f"* {line}" for line in details(verdict)]
    return "\n".join(lines) + "\n"


def as_json(study: Study, results: Sequence[Result], quick: bool, report: Path) -> dict[str, Any]:
    """The results as JSON-compatible objects."""
    return {
        "study": study.name,
        "quick": quick,
        "report": str(report),
        "figures": {
            result.figure.name: {
                "title": result.figure.title,
                "seconds": round(result.seconds, 3),
                "files": [str(path) for path in (*result.pictures, *result.tables)],
                "remarks": dict(result.remarks),
                "claims": [
                    {
                        "claim": verdict.claim.text, "where": verdict.claim.where, "verdict": verdict.verdict,
                        "summary": verdict.summary,
                        "parts": {part: check.true for part, check in verdict.parts.items()},
                        "corrected": {part: check.true for part, check in verdict.corrected.items()},
                        "criteria": {
                            part: {"criterion": check.criterion, "found": bare(check.measured)}
                            for part, check in (*verdict.parts.items(), *verdict.corrected.items())
                        },
                        "numbers": bare(verdict.numbers),
                    }
                    for verdict in result.verdicts
                ],
            }
            for result in results
        },
    }  # fmt: skip


def bare(value: Any) -> Any:
    """Numbers and words as JSON types; numbers that are not finite become None."""
    if isinstance(value, Mapping):
        return {str(key): bare(inner) for key, inner in value.items()}
    if isinstance(value, str | int):
        return value
    return float(value) if isfinite(value) else None
