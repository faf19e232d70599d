"""The linter of sizes, ``.ci/shape.py``: what it finds, and that the package passes."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import re
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "shape.py"
ELEVEN = ", ".join(f"a{k}: int" for k in range(11))


@pytest.fixture
def shape(monkeypatch, tmp_path):
    """The script, and a function that writes a file of the tree it looks at."""
    spec = importlib.util.spec_from_file_location("shape", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def write(name, text):
        path = tmp_path / "polhode" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    script.write, script.tree = write, tmp_path / "polhode"
    return script


@pytest.fixture
def small(shape, monkeypatch):
    """The script over a tree of its own."""
    shape.write("../polhode_papers/a.py", "x = 1\n")
    monkeypatch.setattr(shape, "SOURCE", shape.tree)
    monkeypatch.setattr(shape, "PAPERS", shape.tree.parent / "polhode_papers")
    return shape


@pytest.mark.full
def test_the_package_has_the_shape_it_should_have(shape, capsys):
    assert shape.main() == 0, capsys.readouterr().out


def test_what_is_too_large_is_found(small, monkeypatch, capsys):
    monkeypatch.setattr(small, "LONG", {"runs/listed.py", "runs/gone.py", "runs/short.py"})
    small.write("runs/long.py", "x = 1\n" * 701)
    small.write("runs/listed.py", "x = 1\n" * 701)
    small.write("runs/short.py", "x = 1\n" * 700)
    small.write("methods/tableaux.py", "x = 1\n" * 2000)
    small.write("runs/wide.py", f"def wide({ELEVEN}):\n    pass\n\n\ndef ten({ELEVEN.rpartition(',')[0]}):\n    pass\n")
    small.write("runs/integrate.py", f"def integrate({ELEVEN}):\n    pass\n")
    small.write("kernel/loop.py", f"def march({ELEVEN.replace(': int', '')}):\n    pass\n\n\n@inlined\n"
                                  f"def part({ELEVEN}):\n    pass\n")  # fmt: skip
    assert small.main() == 1
    *told, summary = [line.removeprefix(f"{small.tree}/") for line in capsys.readouterr().out.splitlines()]
    assert summary.startswith("polhode: ")
    assert told == [
        "runs/long.py: 701 lines, more than 700; divide it",
        "runs/short.py: no longer too long; take it off the list in shape.py",
        "runs/wide.py:1: wide has 11 parameters, more than 10",
        "runs/gone.py is on the list of long files, and does not exist",
    ]


def test_a_folder_that_grows_is_found(small, monkeypatch, capsys):
    monkeypatch.setattr(small, "LONG", set())
    small.write(
        "runs/a.py", '"""Said."""\n\nx = 1\n\n\ndef f():\n    """Said."""\n    return x\n'
    )  # 8 lines, 3 statements
    small.write("runs/a.js", "x" * 241 + "\n")  # as three lines
    for most, told in (((11, 3), []), ((10, 3), ["11 lines, more than 10"]), ((11, 2), ["3 statements, more than 2"])):
        monkeypatch.setitem(small.SIZES, "runs", most)
        assert small.main() == bool(told)
        out = capsys.readouterr().out
        assert all(one in out for one in told) and out.count("more than") == len(told)
    small.write("new/b.py", "x = 1\n")
    monkeypatch.setitem(small.SIZES, "runs", (11, 3))
    assert small.main() == 1 and "new has 1 lines, more than 0" in capsys.readouterr().out


def test_types_that_are_not_said_are_counted(small, monkeypatch, capsys):
    monkeypatch.setitem(small.SIZES, "runs", (10, 10))
    small.write("runs/a.py", "x: Any = 1\n\n\ndef f(y: Any, z: int) -> None:\n    pass\n")
    for most, passes in ((2, True), (1, False)):
        monkeypatch.setattr(small, "MOST_ANY", most)
        assert small.main() == (not passes)
        out = capsys.readouterr().out
        assert ("2 arguments and variables are Any, more than 1" in out) is not passes and "2 times Any" in out


def bounds_beside(text):
    """Line numbers of ``assert_allclose`` with ``atol`` alone, which has a relative bound of 1e-7 beside it."""
    for found in re.finditer(r"\bassert_allclose\(", text):
        for end in re.finditer(r"\)", text[found.end() :]):
            with contextlib.suppress(SyntaxError):  # a parenthesis inside, or in a string
                call = ast.parse(text[found.start() : found.end() + end.end()], mode="eval").body
                words = {one.arg for one in call.keywords}
                if "atol" in words and "rtol" not in words and len(call.args) < 3:
                    yield text.count("\n", 0, found.start()) + 1
                break


def test_bounds_of_tests_are_those_that_are_written():
    hidden = "np.testing.assert_allclose(f('('),\n    (b),"
    assert [*bounds_beside(f"x = 1\n{hidden} atol=1e-3)")] == [2]
    assert not [*bounds_beside(f"{hidden} rtol=0, atol=1e-3)\n{hidden} 1e-7, atol=1)")]
    tests = [*(SCRIPT.parents[1] / "tests").rglob("*.py")]
    assert len(tests) > 200
    assert not [(path.name, lines) for path in tests if (lines := [*bounds_beside(path.read_text(encoding="utf-8"))])]
