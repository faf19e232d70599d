"""Formulas of docstrings as formulas: ``equations.toml`` has the TeX of each, found by the text of the docstring."""

from __future__ import annotations

import re
import textwrap
import tomllib
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent.parent / "equations.toml"
SOURCE = re.compile(r"\s*\[[a-z]+[12][0-9]{3}[a-z]?(?:, [^\]]*)?\]")


def plain(text: str) -> str:
    """Text of a formula without its source in brackets, with single spaces."""
    return " ".join(SOURCE.sub("", text).split())


@cache
def table(kind: str) -> dict[str, str]:
    """TeX by text: of ``block``s, or of formulas within sentences (``words``)."""
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))[kind]
    return {" ".join(row["text"].split()): row["tex"].strip() for row in rows}


def displayed(block: str) -> list[str] | None:
    """An indented block of a docstring as lines with a displayed formula and its source; None if it is no formula."""
    tex = table("block").get(plain(block))
    if tex is None:
        return None
    lines = [".. math::", "", *textwrap.indent(tex, "   ").splitlines(), ""]
    sources = " ".join(found.strip() for found in SOURCE.findall(block))
    return lines + ([".. container:: equation-source", "", f"   {sources}", ""] if sources else [])


def in_sentences(lines: list[str]) -> list[str]:
    """Lines of reStructuredText with the formulas of sentences set as formulas."""
    text = "\n".join(lines)
    for words, tex in table("words").items():
        pattern = r"\s+".join(map(re.escape, words.split()))
        text = re.sub(pattern, lambda _, tex=tex: f":math:`{tex}`", text)
    return text.split("\n")
