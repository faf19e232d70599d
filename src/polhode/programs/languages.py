"""Languages that programs are written in: Python for kernels, the same over lanes, C for devices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from polhode.errors import InvalidInput
from polhode.programs.primitives import FIRST, MEMORY, TEXTS

Given = Mapping[str, str]


@dataclass(frozen=True)
class Language:
    """How a language writes what programs need."""

    # expressions of functions of ``graph.FUNCTIONS``, with ``{0}``, ``{1}``, ... for the arguments; of a function that
    # is not among them, a call by its name
    functions: Mapping[str, str]
    assignment: str = "{0} = {1}"  # A line that names (``{0}``) an expression (``{1}``)
    # expressions of rows of ``PRIMITIVES``, as these have them for Python; None where there are none
    primitives: Mapping[str, str] | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)  # what numbers are called that are not finite

    def call(self, name: str, *arguments: str) -> str:
        """The expression of a function."""
        if name == "choose" and arguments[1] == "nan" and "nan_if" in self.functions:
            name = "nan_if"
        form = self.functions.get(name)
        return f"{name}({', '.join(arguments)})" if form is None else form.format(*arguments)

    def primitive(self, name: str, given: Given, *arguments: str) -> str:
        """The expression of a row of PRIMITIVES."""
        if self.primitives is None:
            raise InvalidInput(
                "the program looks up a table (a path by time), which has no form over lanes; take one member at a time"
            )
        return self.primitives[name].format(
            *arguments, p=given.get(MEMORY, "parameters"), first=given.get(FIRST, "")
        )  # fmt: skip

    def line(self, name: str, expression: str) -> str:
        """The line of an assignment."""
        for word, other in self.numbers.items():
            expression = re.sub(rf"\b{word}\b", other, expression)
        return self.assignment.format(name, expression)


AS_WRITTEN = {"plus": "{0} + {1}", "minus": "{0} - {1}", "times": "{0} * {1}", "over": "{0} / {1}"}
PYTHON = Language(
    {
        "choose": "{1} if {0} != 0.0 else {2}", "min": "{0} if {0} < {1} else {1}", "max": "{1} if {0} < {1} else {0}",
        "less": "one_if({0} < {1})", "sign": "copysign(1.0, {0})", "pow": "{0} ** {1}", "nan_if": "nan_if({0}, {2})",
        "outweighs": "one_if(abs({0}) > abs({1}))", "floordiv": "{0} // {1}",
        "at_most": "one_if({0} <= {1})", **AS_WRITTEN,
    },
    primitives=TEXTS,
)  # fmt: skip
"""Plain Python, for kernels of one body or system; ``numba.cuda`` takes it too."""

LANES = Language({
    "choose": "where({0} != 0.0, {1}, {2})", "min": "where({0} < {1}, {0}, {1})", "max": "where({0} < {1}, {1}, {0})",
    "less": "where({0} < {1}, 1.0, 0.0)", "sign": "copysign(1.0, {0})", "pow": "{0} ** {1}",
    "outweighs": "where(abs({0}) > abs({1}), 1.0, 0.0)", "floordiv": "floor({0} / {1})",
    "at_most": "where({0} <= {1}, 1.0, 0.0)", **AS_WRITTEN,
})  # fmt: skip
"""Python whose variables are lanes of ``kernel.simd``, or arrays of numpy: nothing branches."""
ARRAY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
"""Numpy's names of functions, where they differ."""

C = Language(
    {
        "choose": "{0} != 0.0 ? {1} : {2}", "min": "{0} < {1} ? {0} : {1}", "max": "{0} < {1} ? {1} : {0}",
        "less": "{0} < {1} ? 1.0 : 0.0", "sign": "copysign(1.0, {0})", "abs": "fabs({0})",
        "outweighs": "fabs({0}) > fabs({1}) ? 1.0 : 0.0", "floordiv": "floor_of_quotient({0}, {1})",
        "at_most": "{0} <= {1} ? 1.0 : 0.0", **AS_WRITTEN,
    },
    assignment="const double {0} = {1};",
    primitives={
        "segment": "(double)segment({p}, {first}(long)({0}), (long)({1}), (long)({2}), {3}, stride)",
        "entry": "{p}[({first}(long)({0})) * stride]",
    },
    numbers={"1e999": "HUGE_VAL", "nan": "NAN"},
)  # fmt: skip
"""C, which CUDA takes too; the numbers of a member lie ``stride`` apart."""
