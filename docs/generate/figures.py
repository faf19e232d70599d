"""The figures of the studies: every study is run once in its quick form, and drawn again only when sources change; the
tests leave those that they have run in the folder ``POLHODE_STUDIES``."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import forked

from polhode_papers import STUDIES, report, study

RESULTS = "results.json"


def draw(folder: Path) -> None:
    """Run every study that has no results in the folder yet, several at a time; those that have are left alone."""
    missing = [name for name in STUDIES if not (folder / name / RESULTS).exists()]
    forked.several([partial(_draw, folder, name) for name in missing], os.cpu_count() or 1)


def _draw(folder: Path, name: str) -> None:
    """Run a study in this process; of its files the pictures and the results are kept."""
    target, found = folder / name, study(name)
    made, written = report.reproduce(found, target, quick=True, tables=False)
    draft = target / f"{RESULTS}.part"
    draft.write_text(json.dumps(report.as_json(found, made, True, written), allow_nan=False), encoding="utf-8")
    draft.replace(target / RESULTS)  # only now are they complete


def results(folder: Path | None, name: str) -> dict[str, Any]:
    """Figures of a study by name, with titles, pictures and claims; empty if the study was not run."""
    file = folder / name / RESULTS if folder else None
    if file is None or not file.exists():
        return {}
    figures = json.loads(file.read_text(encoding="utf-8"))["figures"]
    for figure in figures.values():
        figure["pictures"] = [file.parent / Path(one).name for one in figure["files"] if one.endswith(".png")]
    return dict(figures)
