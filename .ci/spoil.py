"""Whether the tests see: spoils lines of the source, one at a time, and runs the tests until one fails.

    python .ci/spoil.py                         # three lines of each folder; hours
    python .ci/spoil.py --seed 2 --each 1       # others, one of each
    python .ci/spoil.py --folder loads          # of one folder
    python .ci/spoil.py --near                  # only by the tests that speak of the file; an hour
    python .ci/spoil.py --tests OTHER/tests     # the same lines, seen by other tests

Which lines, the seed says. A line is spoiled by another sign, coefficient, index or comparison, or by a lock that is
left out, in a copy of the repository; the tests that speak of its file come first, then all. Prints a row for each:
the line, what became of it, and the test that noticed or "nothing". Ends with 1 if fewer than nine of ten are noticed.
What is spoiled may be without effect, such as a margin of round-off: look at each row of "nothing".
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS = 1800.0
"""Most for the tests of one line; what takes longer hangs, and is noticed."""
OTHER_WAY = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
             ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"}  # fmt: skip


class Spoil(NamedTuple):
    """A piece of a line and what stands there instead."""

    line: int
    begin: int
    end: int
    instead: str
    kind: str


def spoils(text: str) -> Iterator[Spoil]:
    """All that can be spoiled in a file, in functions and tables, but for annotations and defaults."""
    lines = text.splitlines()

    def piece(node: ast.expr, instead: str, kind: str) -> Iterator[Spoil]:
        if node.lineno == node.end_lineno and lines[node.lineno - 1].isascii():
            yield Spoil(node.lineno, node.col_offset, node.end_col_offset or 0, instead, kind)

    def between(left: ast.expr, right: ast.expr, instead: str, kind: str) -> Iterator[Spoil]:
        if left.end_lineno == right.lineno and lines[right.lineno - 1].isascii():
            begin, end = left.end_col_offset or 0, right.col_offset
            written = lines[right.lineno - 1][begin:end]
            if not set(written) & set("()[]{}#"):
                yield Spoil(right.lineno, begin, end, f" {instead} ", kind)

    def look(node: ast.AST) -> Iterator[Spoil]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            yield from between(node.left, node.right, "-" if isinstance(node.op, ast.Add) else "+", "sign")
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
            yield from between(node.target, node.value, "-=" if isinstance(node.op, ast.Add) else "+=", "sign")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield from piece(
                node, ast.unparse(node.operand) if not isinstance(node.operand, ast.BinOp) else "0", "sign"
            )
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OTHER_WAY:
            yield from between(node.left, node.comparators[0], OTHER_WAY[type(node.ops[0])], "comparison")
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            if isinstance(node.slice.value, int):
                yield from piece(node.slice, str(node.slice.value + 1), "index")
        elif isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value not in (0.0, 1.0):
            yield from piece(node, repr(node.value * 1.1), "coefficient")
        elif isinstance(node, ast.With) and len(node.items) == 1:
            held = node.items[0].context_expr
            if "lock" in ast.unparse(held).lower():
                yield from piece(held, "__import__('contextlib').nullcontext()", "lock")
        for name, inside in () if isinstance(node, ast.JoinedStr) else ast.iter_fields(node):
            if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(node, ast.Call):
                continue
            for one in inside if isinstance(inside, list) else [inside]:
                if isinstance(one, ast.AST):
                    yield from look(one)

    yield from look(ast.parse(text))


def drawn(seed: int, each: int, only: str) -> Iterator[tuple[Path, Spoil]]:
    """Lines of each folder: first a kind of spoiling, then one of its places."""
    for folder in sorted({path.relative_to(ROOT / "src").parts[:2] for path in (ROOT / "src").rglob("*.py")}):
        inside = ROOT.joinpath("src", *folder)
        if only and only not in (inside.stem, inside.name):
            continue
        if not inside.is_dir() and inside.name.startswith("__"):
            continue
        chance = random.Random(f"{seed} {'/'.join(folder)}")
        places: dict[str, list[tuple[Path, Spoil]]] = {}
        for path in sorted(inside.rglob("*.py") if inside.is_dir() else [inside]):
            for one in spoils(path.read_text(encoding="utf-8")):
                places.setdefault(one.kind, []).append((path.relative_to(ROOT), one))
        for _ in range(each if inside.is_dir() else min(each, 1)):
            if places:
                yield chance.choice(places[chance.choice(sorted(places))])


def first_to_look(path: Path, tests: Path) -> list[str]:
    """The files of tests that say the name of this file most often, or of its folder."""
    words = re.compile(rf"\b({path.stem}|{path.parent.name})\b")
    counted = []
    for one in sorted(tests.rglob("test_*.py")):
        near = 20 * (one.parent.name == path.parts[2]) + 40 * (path.stem in one.stem)
        counted.append((-near - len(words.findall(one.read_text(encoding="utf-8"))), str(one)))
    return [name for count, name in sorted(counted)[:12] if count]


def noticed_by(copy: Path, named: list[str], near: bool) -> str:
    """The first test that fails; "" if none does, "it hangs" after the most seconds."""
    for which in (named,) if near else (named, []):
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *which]
        where = {**os.environ, "PYTHONPATH": str(copy / "src")}
        try:
            done = subprocess.run(
                command, cwd=copy, env=where, capture_output=True, text=True, timeout=MOST_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "it hangs"
        if done.returncode:
            found = re.search(r"(?m)^(?:FAILED|ERROR) (\S+)", done.stdout)
            return found[1] if found else f"tests end with {done.returncode}"
    return ""


def main() -> int:
    """Spoil, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="which lines (default 1)")
    parser.add_argument("--each", type=int, default=3, help="lines of each folder (default 3)")
    parser.add_argument("--folder", default="", help="one folder of the source only")
    parser.add_argument("--near", action="store_true", help="only the tests that speak of the file")
    parser.add_argument("--tests", type=Path, default=ROOT / "tests", help="other tests than those here")
    parser.add_argument("--list", action="store_true", help="only say which lines")
    given = parser.parse_args()
    seen = total = 0
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "polhode"
        if not given.list:
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".pytest_cache"))
            shutil.rmtree(copy / "tests")
            shutil.copytree(given.tests, copy / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        for path, spoil in drawn(given.seed, given.each, given.folder):
            text = (ROOT / path).read_text(encoding="utf-8")
            lines = text.splitlines(keepends=True)
            before = lines[spoil.line - 1]
            lines[spoil.line - 1] = before[: spoil.begin] + spoil.instead + before[spoil.end :]
            row = f"{path}:{spoil.line}\t{spoil.kind}\t{before.strip()} -> {lines[spoil.line - 1].strip()}"
            if given.list:
                print(row)
                continue
            (copy / path).write_text("".join(lines), encoding="utf-8")
            try:
                test = noticed_by(copy, first_to_look(path, copy / "tests"), given.near)
            finally:
                (copy / path).write_text(text, encoding="utf-8")
            seen, total = seen + bool(test), total + 1
            print(f"{row}\t{test or 'nothing'}", flush=True)
    if not given.list:
        print(f"{seen} of {total} noticed")
    return int(10 * seen < 9 * total)


if __name__ == "__main__":
    sys.exit(main())
