"""The source of compiled code, as a syntax tree."""

from __future__ import annotations

import ast
import functools
import linecache
from types import CodeType
from typing import Any


def full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def codes(code: CodeType) -> list[CodeType]:
    """Code and that of the functions in it."""
    return [code, *(inner for part in code.co_consts if isinstance(part, CodeType) for inner in codes(part))]


@functools.lru_cache(256)
def _module(text: str) -> Any:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


@functools.lru_cache(1024)
def node_of(code: CodeType) -> Any:
    """The syntax tree of code; None where there is no source, or it is no longer that of the code."""
    tree = _module("".join(linecache.getlines(code.co_filename)))
    kinds = (ast.Lambda,) if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    fits = []
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, kinds):
            continue
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        if first != code.co_firstlineno or getattr(node, "name", "<lambda>") != code.co_name:
            continue
        if [one.arg for one in (*node.args.posonlyargs, *node.args.args)] == list(code.co_varnames[: code.co_argcount]):
            fits.append(node)
    if len(fits) > 1:  # several lambdas in one line, told apart by columns
        places = [one for one in code.co_positions() if one[0] is not None and one[0] == one[1]]
        low = max((one[2] or 0 for one in places if one[0] == code.co_firstlineno), default=0)
        fits = [one for one in fits if one.col_offset <= low <= (one.end_col_offset or 0)]
    return fits[0] if len(fits) == 1 else None
