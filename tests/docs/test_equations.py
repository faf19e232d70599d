"""Formulas of docstrings become formulas of pages, and sources in brackets become links."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

import pytest

from each import each

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def extension(monkeypatch):
    """A function that imports an extension of the documentation."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if not name.startswith(("sphinx", "docutils", "latex2mathml")):
            sys.modules.pop(name, None)


def modules():
    from polhode.systems import SYSTEMS

    return sorted({build.__module__ for build in SYSTEMS.values()} | {"polhode.algebra.variational"})


@each("name", modules())
def test_every_formula_of_a_system_is_set_as_one(extension, name):
    doc = extension("plain_docstrings").as_rst(inspect.getdoc(importlib.import_module(name)))
    assert ".. code-block:: text" not in doc, f"docs/equations.toml lacks a formula of {name}"
    assert ".. math::" in doc


def test_every_entry_is_used(extension):
    equations = extension("equations")
    from polhode.loads import LOADS

    docs = [inspect.getdoc(one) for one in (*map(importlib.import_module, modules()), *LOADS.values())]
    said = [equations.plain(doc) for doc in docs]
    for kind in ("block", "words"):
        for text in equations.table(kind):
            assert any(text in doc for doc in said), f"no docstring has {text}"


def test_python_is_shown_as_python_and_other_blocks_as_they_stand(extension):
    as_rst = extension("plain_docstrings").as_rst
    assert ".. code-block:: python" in as_rst("Use it:\n\n    ds = ph.integrate(system, step=1)\n\nMore.")
    assert ".. code-block:: text" in as_rst("The table:\n\n    a  b\n    1  2\n")


def test_source_of_a_formula_stands_below_it(extension):
    lines = extension("equations").displayed("    m' = m x I^-1 m,        R' = R hat(I^-1 m)     [krysl2006, eq. 7]")
    assert lines[0] == ".. math::" and lines[-2].strip() == "[krysl2006, eq. 7]"
    assert extension("equations").displayed("    x = y") is None


def test_marks_of_known_sources_are_cut_out(extension):
    pytest.importorskip("sphinx")
    pieces = extension("citations").pieces
    keys = frozenset({"krysl2006"})
    assert pieces("as [krysl2006, eq. 7] says", keys) == [
        ("as ", ""), ("[krysl2006, eq. 7]", "krysl2006"), (" says", "")
    ]  # fmt: skip
    assert pieces("x[0] and [nobody1999]", keys) == [("x[0] and [nobody1999]", "")]


def test_environments_are_converted_or_refused(extension):
    pytest.importorskip("sphinx")
    pytest.importorskip("latex2mathml")
    mathml = extension("mathml").mathml
    assert mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "block").count("<mtr>") == 2
    with pytest.raises(ValueError, match="no MathML"):
        mathml(r"a & b", "inline")
