"""What the parts of every claim came out as in the full form, and what the tables of the studies' READMEs say."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path

from tests.support.mutants import blind_claims

import polhode_papers as studies
from polhode_papers import report
from polhode_papers.study import UNDECIDED

KNOWN = json.loads((Path(__file__).parents[1] / "studies" / "parts.json").read_text(encoding="utf-8"))
"""By study, figure and number of the claim: the verdict of the full form; the parts that are true, false or undecided
where not all are true; the measured ratios where they are ratios of times."""
NOISE = 8.0
"""How far a ratio of times may be from the known one, either way, on another machine that is busy."""


def quick_form(study, folders, figures=()):
    """The quick form of a study: results by name of their figure, folder and report. Of all figures they are left in
    the folder ``POLHODE_STUDIES``, if that is set, from which the documentation takes them (``docs/generate/figures``).
    """
    kept = os.environ.get("POLHODE_STUDIES") if not figures else None
    folder = Path(kept) / study.name if kept else folders.mktemp("results")
    results, written = report.reproduce(study, folder, figures, quick=True)
    if kept:
        facts = report.as_json(study, results, True, written)
        (folder / "results.json").write_text(json.dumps(facts, allow_nan=False), encoding="utf-8")
    return {result.figure.name: result for result in results}, folder, written


def check_parts(study, results, quick=True):
    """Parts that both forms decide agree with the known ones, and every judge sees its data."""
    for result in results:
        for number, verdict in enumerate(result.verdicts, start=1):
            known = KNOWN[study.name][result.figure.name][str(number)]
            where = (result.figure.name, verdict.claim.text)
            if verdict.claim.timed:
                check_ratios(verdict, known["ratios"], where)
                continue
            if "not decided" in verdict.numbers and verdict.verdict == UNDECIDED:
                continue  # long doubles of this machine have no more digits than doubles
            found = {**verdict.parts, **{f"corrected: {part}": check for part, check in verdict.corrected.items()}}
            for part, check in found.items():
                assert check.criterion, (where, part)
                told = "no" not in known or part in known["no"] or part in known.get("yes", ())
                if told and check.true is not None and part not in known.get("undecided", ()):
                    assert check.true == (part not in known.get("no", ())), (where, part, check)
            if not quick:
                assert verdict.summary == known["verdict"], where
        if quick:
            assert blind_claims(result.figure, result.data) == [], result.figure.name


def check_ratios(verdict, known, where):
    """Ratios of times are near the known ones; whether they meet their criterion depends on the machine."""
    for part, ratios in known.items():
        if part in verdict.parts:
            measured = verdict.parts[part].measured
            for name, x in (measured if isinstance(measured, dict) else {"": measured}).items():
                assert x > 0.0 and math.isfinite(x), (where, part, name, x)
                if name in ratios and ratios[name] > 0.05:
                    assert ratios[name] / NOISE < x < ratios[name] * NOISE, (where, part, name, x)


def rows_of_readme(name):
    """Verdicts of the table in the README of a study, by figure and number of the claim."""
    folder = Path(studies.__file__).parent / name
    known, rows = {figure.name for figure in studies.study(name).figures}, {}
    for line in (folder / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 6 or not cells[1].endswith(".py"):
            continue
        figure, numbers = cells[1].removesuffix(".py"), cells[2]
        if match := re.fullmatch(r"([a-z]\w*) (.*)", numbers):
            figure, numbers = match.groups()
        assert figure in known, line
        claims = []
        for part in numbers.split(","):
            first, _, last = part.strip().partition("-")
            claims += range(int(first), int(last or first) + 1)
        verdicts = [cell.strip().strip("*") for cell in cells[4].split(" / ")]
        verdicts = verdicts * len(claims) if len(verdicts) == 1 else verdicts
        for number, verdict in zip(claims, verdicts, strict=True):
            assert (figure, number) not in rows, line
            rows[figure, number] = verdict
    return rows
