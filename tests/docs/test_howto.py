"""The pages of common tasks: each stands beside a file of a peer, and both give the same answer."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

from each import each

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "howto").glob("*.md")) if path.stem != "index"}
SHORT = {"eclipses", "hohmann", "low_thrust", "passes", "section"}
"""Tasks that take little to run."""


@pytest.fixture
def howto(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("howto")


@pytest.fixture
def told():
    return json.loads((ROOT / "benchmarks" / "howto.json").read_text(encoding="utf-8"))


def test_every_task_is_in_the_list_beside_one_peer(howto, told):
    index = (PAGES["wheels"].parent / "index.md").read_text(encoding="utf-8")
    files = {howto.peer_of(text) for text in howto.pages().values()}
    assert files == {path.stem for path in howto.FILES.glob("*.py")} and set(told) == set(PAGES)
    for task, text in howto.pages().items():
        assert f"({task}.md)" in index and f"\n{task}\n" in index, task
        assert re.match(r"(?s)---.*?---\n\n# [^\n]+\?\n", text), f"{task}: its title is a question"
        assert max(len(cell.splitlines()) for cell in howto.cells(text)) <= 25, task
        one = told[task]
        assert one["file"] == howto.peer_of(text) and re.search(r" \d+(\.\d+)+$", one["program"]), task
        assert howto.apart(one["printed"], one["polhode"]) <= howto.WITHIN.get(task, 1e-3), task


@each("task", [pytest.param(task, marks=[] if task in SHORT else pytest.mark.full) for task in PAGES])
def test_the_page_gives_the_answer_of_its_peer(task, howto, told, monkeypatch):
    answer = howto.ours(PAGES[task].read_text(encoding="utf-8"))
    assert howto.apart(answer, told[task]["printed"]) <= howto.WITHIN.get(task, 1e-3), answer


def test_answers_that_differ_are_told_apart(howto):
    assert howto.apart("at 2.50 m", "a line\nat 2.45 m") == pytest.approx(0.02)
    assert howto.apart("at 2.50 m", "at 2.50 m and 1 s") == howto.apart("none", "none") == float("inf")
