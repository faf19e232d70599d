"""Docstrings as they are written here: an indented block is a formula of ``equations.toml``, Python, or shown as it
stands; and |x| is a length."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence

import equations

_STARTS_SOMETHING = re.compile(r"\s*([-*+] |\d+\. |\.\. |>>> |=+( =+)*$|-{3,}|\||:)")

_BORDER = re.compile(r"=+( =+)+")


def indented(lines: Sequence[str]) -> list[str]:
    """The indented lines at the start, with empty ones between them."""
    end = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith("    ")), len(lines))
    return list("\n".join(lines[:end]).rstrip().split("\n"))


def is_python(block: Sequence[str]) -> bool:
    """Whether a block is Python that does something."""
    try:
        body = ast.parse(textwrap.dedent("\n".join(block))).body
    except SyntaxError:
        return False
    return any(not isinstance(one, ast.Expr) or isinstance(one.value, ast.Call) for one in body)


def literal_blocks(lines: Sequence[str]) -> list[str]:
    """Lines in which every indented block at the start or under an unindented paragraph has become a literal block.

    Sources far behind an equation come near to it, but not those in a column of a table.
    """
    result: list[str] = []
    before = border = ""  # the last line that is not empty; the last border of a table
    skip = 0  # lines that a formula has replaced
    for k, line in enumerate(lines):
        opens = line.startswith("    ") and k > 0 and not lines[k - 1].strip()
        continues = before.startswith(" ") or before.endswith("::") or _STARTS_SOMETHING.match(before)
        if skip:
            skip -= 1
            continue
        if opens and not continues:
            block = indented(lines[k:])
            formula = equations.displayed("\n".join(block))
            if formula is not None:
                result += formula
                before, skip = "", len(block) - 1
                continue
            result += [f".. code-block:: {'python' if is_python(block) else 'text'}", ""]
        border = line if _BORDER.fullmatch(line) else border
        at = line.find("[")
        result.append(line if border[at - 1 : at + 1] == " =" else re.sub(r" {6,}\[", "    [", line))
        if line.strip():
            before = line.rstrip()
    return result


def plain_bars(lines: Sequence[str]) -> list[str]:
    """Lines with every ``|`` of the prose escaped; code, literal blocks and formulas stay."""
    result: list[str] = []
    inside: int | None = None  # indentation of the line that opened a block
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if inside is not None and line.strip() and depth <= inside:
            inside = None
        if inside is None:
            pieces = re.split(r"(``.*?``|:math:`.*?`)", line)
            result.append("".join(p if k % 2 else p.replace("|", "\\|") for k, p in enumerate(pieces)))
            if line.rstrip().endswith("::") or line.lstrip().startswith((".. math::", ".. code-block::")):
                inside = depth
        else:
            result.append(line)
    return result


def as_rst(text: str) -> str:
    """A module docstring, or a part of one, as reStructuredText."""
    return "\n".join(plain_bars(equations.in_sentences(literal_blocks(text.splitlines()))))


def _process(app, what, name, obj, options, lines):
    lines[:] = plain_bars(equations.in_sentences(literal_blocks(lines) if what == "module" else lines))


def setup(app):
    """Look at every module docstring before it is parsed."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
