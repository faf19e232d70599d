"""Many cases as one test: what a test costs beside what it asks is paid once, and every case that fails is named."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import pytest

ONLY = os.environ.get("POLHODE_CASE", "")
"""Cases whose name contains this are taken; all by default."""
LATE = {
    "polhode.systems.events": "EVENTS", "polhode.systems.forces": "FORCES", "polhode.loads": "LOADS",
    "polhode.systems.recipes": "RECIPES", "polhode.systems.registry": "SYSTEMS",
}  # fmt: skip
"""Tables of modules that tests may not have imported."""


class Case(NamedTuple):
    name: str
    values: dict[str, Any]
    full: bool


def each(names: str | tuple[str, ...], cases: Iterable[Any], ids: Any = None) -> Callable[[Any], Any]:
    """As ``pytest.mark.parametrize``, but all cases are one test, which goes on behind a case that fails and ends with
    the names of all that did. Cases with the mark ``full`` are a second test."""
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    if ids is not None and not callable(ids):
        ids = [*ids]
    table = [_case(listed, k, case, ids) for k, case in enumerate(cases)]

    def decorate(function: Any) -> Any:
        inner, before = getattr(function, "each", (function, [Case("", {}, False)]))
        rows = [
            Case("-".join(filter(None, (old.name, new.name))), old.values | new.values, old.full or new.full)
            for old in before
            for new in table
        ]
        marks = [mark for mark in getattr(function, "pytestmark", []) if mark.args[:1] != ("_cases",)]
        return _together(inner, rows, marks)

    return decorate


def _together(function: Any, rows: list[Case], marks: list[Any]) -> Any:
    """One test of these cases, or two where some are long."""
    signature = inspect.signature(function)
    taken = [parameter for name, parameter in signature.parameters.items() if name not in rows[0].values]
    usual, long = ([row for row in rows if row.full == full] for full in (False, True))

    @functools.wraps(function)
    def test(*args: Any, _cases: list[Case] = usual, **fixtures: Any) -> None:
        if args:  # called by other tests, as the function that it was
            return function(*args, **fixtures)
        failed, skipped = {}, {}
        for k, row in enumerate(_cases):
            if ONLY not in row.name:
                continue
            try:
                with ExitStack() as stack:
                    stack.enter_context(tables_kept())
                    function(**_of_one_case(fixtures, k, stack), **row.values)
            except pytest.skip.Exception as problem:
                skipped[row.name] = problem
            except (Exception, pytest.fail.Exception) as problem:
                failed[row.name] = problem
        if failed:
            told = "".join(f"\n[{name}] {type(problem).__name__}: {problem}" for name, problem in failed.items())
            first = next(iter(failed.values()))
            raise AssertionError(f"{len(failed)} of {len(_cases)} cases: {', '.join(failed)}{told}") from first
        if skipped:
            pytest.skip("; ".join(f"[{name}] {problem}" for name, problem in skipped.items()))

    test.each, test.pytestmark = (function, rows), marks  # type: ignore[attr-defined]
    if long:
        taken.append(inspect.Parameter("_cases", inspect.Parameter.KEYWORD_ONLY))
        halves = [pytest.param(usual, id="some"), pytest.param(long, id="full", marks=pytest.mark.full)]
        test = pytest.mark.parametrize("_cases", halves if usual else halves[1:])(test)
    test.__signature__ = signature.replace(parameters=taken)  # type: ignore[attr-defined]
    return test


def _of_one_case(fixtures: dict[str, Any], k: int, stack: ExitStack) -> dict[str, Any]:
    """A folder and patches of its own for each case, and nothing that an earlier one printed."""
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / str(k)
        own["tmp_path"].mkdir()
    if "monkeypatch" in own:
        own["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
    for name in {"capsys", "capfd"} & own.keys():
        own[name].readouterr()
    return own


def _case(names: list[str], k: int, case: Any, ids: Any) -> Case:
    marks = [mark.name for mark in getattr(case, "marks", ())]
    assert {*marks} <= {"full"}, marks
    values = case.values if hasattr(case, "marks") else case if len(names) > 1 else (case,)
    given = dict(zip(names, values, strict=True))
    if getattr(case, "id", None):
        return Case(case.id, given, bool(marks))
    if isinstance(ids, list):
        return Case(str(ids[k]), given, bool(marks))
    told = [(ids and ids(value)) or _told(value, f"{name}{k}") for name, value in given.items()]
    return Case(" ".join("-".join(map(str, told)).split()), given, bool(marks))


def _told(value: Any, otherwise: str) -> str:
    if value is None or isinstance(value, str | int | float | complex):
        return str(value)
    return getattr(value, "__name__", None) or otherwise


@contextmanager
def tables_kept() -> Iterator[None]:
    """What is added to tables of methods, systems, loads, forces, events and recipes here is gone afterwards."""
    from polhode.methods import METHODS, tableaux

    if "polhode.systems.recipes" in sys.modules:
        for module in ("initial", "start_files"):  # whose rows are there to stay, whoever imports them first
            importlib.import_module(f"polhode.systems.{module}")
    tables = [METHODS, tableaux._rows]
    tables += [vars(sys.modules[module])[name] for module, name in LATE.items() if module in sys.modules]
    before = [(table, dict(table)) for table in tables]
    try:
        yield
    finally:
        for table, old in before:
            for name in table.keys() - old.keys():
                del table[name]
