"""What a function without source leaves behind, read from its bytecode: more strictly than ``purity`` reads source."""

from __future__ import annotations

import builtins
import dis
import itertools
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

from polhode.kernel.jit import global_names
from polhode.programs.purity_tables import (
    ARGUMENT,
    CHANGERS,
    CONTAINERS,
    MOST_ELEMENTS,
    PLAIN,
    REFLECTING,
    UNKNOWN,
    WHOLE,
)
from polhode.programs.source import codes, full
from polhode.programs.whole_numbers import narrow_kind


def read(reader: Any, function: FunctionType) -> None:
    """Findings without source: any store counts where an object that outlives calls is reached, and what is
    reached counts as called by all names that the function has."""
    code = function.__code__
    line = f"{code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}"
    parts = codes(code)
    steps = [step for part in parts for step in dis.get_instructions(part)]
    for step in steps:
        outer = step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars
        if outer or step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"):
            reader.found("memory", f"writes to {step.argval!r}", line)
    if any(step.opname == "PUSH_EXC_INFO" for step in steps):  # loops in brackets have tables of exceptions, too
        reader.found("handler", "handles exceptions (try, with)", line)
    names = {name for part in parts for name in part.co_names}
    reached = [function.__globals__.get(name, getattr(builtins, name, None)) for name in global_names(code)]
    reached += [one.cell_contents for one in function.__closure__ or () if full(one)]
    reached += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    reached += [sys.modules.get(step.argval) for step in steps if step.opname == "IMPORT_NAME"]
    known: dict[int, Any] = {}
    for one in reached:  # which grows
        for value in vars(one).values() if isinstance(one, type) else (one,):
            if kind := narrow_kind(value):
                what = f"reads numbers of the kind {kind}, in which compiled code does not compute"
                reader.found("integers", what, line)
        if one is None or isinstance(one, PLAIN) or id(one) in known or len(known) > MOST_ELEMENTS:
            continue
        known[id(one)] = one
        if not isinstance(one, type | FunctionType | BuiltinFunctionType):
            reached += [value for name in names for value in reader.values(reader.attribute(reader.of(one), name))]
    for one in known.values():
        if isinstance(one, Iterator):
            reader.found("memory", "uses an iterator, which outlives the call", line)
        elif getattr(one, "__module__", "") == "builtins" and getattr(one, "__name__", "") in REFLECTING:
            reader.found("outside", f"calls {one.__name__}", line)
        elif callable(one) and not isinstance(one, type) and one is not UNKNOWN and one is not ARGUMENT:
            reader.called(one, [], {}, line)
    done = {step.argrepr for step in steps if step.opname == "BINARY_OP"}
    if (names & WHOLE and done & {"//", "%", "**", "<<", "//=", "%=", "**=", "<<="}) or (
        "range" in names and done & {"*=", "**", "<<", "**=", "<<="}
    ):
        reader.found("integers", "may divide whole numbers by zero or make them beyond 63 bits, without source", line)
    if any(isinstance(one, CONTAINERS) for one in known.values()):
        stores = any(step.opname in ("STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR") for step in steps)
        if stores or CHANGERS & names:
            reader.found("memory", "may write to a list, dictionary or array, and has no source to read", line)
        elif _in_place(steps):
            reader.found("log", "may change a list or array in place, and has no source to read", line)


def _in_place(steps: list[Any]) -> set[Any]:
    """Names that are changed in place and may stand for something else than a number that was just computed."""
    changed: set[Any] = set()
    doubtful: set[Any] = set()
    for before, step in itertools.pairwise(steps):
        if step.opname.startswith("STORE_"):  # some versions of Python store and load, or store two, in one instruction
            stored = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            stored = stored[:1] if "LOAD" in step.opname else stored
            if before.opname == "BINARY_OP" and before.argrepr.endswith("="):
                changed.update(stored)
            elif before.opname not in ("BINARY_OP", "LOAD_SMALL_INT", "UNARY_NEGATIVE") and (
                before.opname != "LOAD_CONST" or not isinstance(before.argval, int | float)
            ):
                doubtful.update(stored)
    return changed & doubtful
