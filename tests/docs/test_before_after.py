"""benchmarks/before_after.py: which blocks make a ratio, what it says of a side that fails, and its exit code."""

import importlib.util
import sys
from pathlib import Path

import pytest

import polhode as ph

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("before_after", ROOT / "benchmarks" / "before_after.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Side:
    """A side whose calls take so many seconds, or that cannot do one of the cases."""

    asked = ()

    def __init__(self, checkout, cache):
        self.name, self.seconds = checkout.name, 1.0 if checkout.name == "old" else 1.2

    def ask(self, what):
        Side.asked += ((self.name, what),)
        if what == "water" and self.name == "new":
            return "InvalidInput: no water"
        return 0.5 * self.seconds if what == "free body" else self.seconds

    def close(self):
        pass


@pytest.fixture
def table(script, tmp_path, monkeypatch, capsys):
    for side in ("old", "new"):
        (tmp_path / side / "src" / "polhode").mkdir(parents=True)
    monkeypatch.setattr(script, "Side", Side)

    def made(*words):
        Side.asked = ()
        monkeypatch.setattr(sys, "argv", ["before_after.py", str(tmp_path / "old"), str(tmp_path / "new"), *words])
        return script.main(), capsys.readouterr().out.splitlines()

    return made


def test_fifteen_kinds_of_runs_by_methods_of_the_table(script):
    assert len(script.CASES) == 15
    for method, _ in script.CASES.values():
        ph.methods.method(method)


def test_blocks_of_the_sides_alternate_and_rows_above_the_bound_are_marked(table):
    code, lines = table("--only", "planets", "--ratios", "4")
    blocks = [name for name, what in Side.asked if what != "planets"]
    assert blocks == ["old", "new", "new", "old"] * 2
    assert code == 1 and "1.200" in lines[-1] and lines[-1].endswith("above 1.03")
    code, lines = table("--only", "planets", "--ratios", "4", "--bound", "1.3")
    assert code == 0 and "above" not in lines[-1]


def test_a_side_that_fails_says_so_in_its_row(table):
    code, lines = table("--only", "water")
    assert code == 1 and lines[-1].endswith("NEW: InvalidInput: no water")
