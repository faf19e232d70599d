"""The figures of the studies: every study is run once in its quick form, and drawn again only when sources change; the
tests leave those that they have run in the folder ``POLHODE_STUDIES``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from polhode_papers import STUDIES

RESULTS = "results.json"


def draw(folder: Path) -> None:
    """Run every study that has no results in the folder yet, several at a time; those that have are left alone."""
    missing = [name for name in STUDIES if not (folder / name / RESULTS).exists()]
    with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as several:
        for problem in several.map(lambda name: _draw(folder, name), missing):
            if problem:
                raise RuntimeError(problem)


def _draw(folder: Path, name: str) -> str:
    """Run a study; the empty string, or what went wrong."""
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "polhode", "reproduce", name, "--quick", "--json", "--quiet", "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"polhode reproduce {name} --quick ended with {done.returncode}: {done.stderr[-2000:]}"
    for table in target.glob("*.csv"):
        table.unlink()
    draft = target / f"{RESULTS}.part"
    draft.write_text(done.stdout, encoding="utf-8")
    draft.replace(target / RESULTS)  # only now are they complete
    return ""


def results(folder: Path | None, name: str) -> dict[str, Any]:
    """Figures of a study by name, with titles, pictures and claims; empty if the study was not run."""
    file = folder / name / RESULTS if folder else None
    if file is None or not file.exists():
        return {}
    figures = json.loads(file.read_text(encoding="utf-8"))["figures"]
    for figure in figures.values():
        figure["pictures"] = [file.parent / Path(one).name for one in figure["files"] if one.endswith(".png")]
    return dict(figures)
