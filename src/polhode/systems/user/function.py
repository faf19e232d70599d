"""A user's function: its checks, what is found when its source is read, and its program where it can be traced."""

from __future__ import annotations

import dis
import hashlib
import inspect
import linecache
import math
import os
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from polhode.arguments import Array, ArrayLike
from polhode.arguments.recorded import read_only
from polhode.errors import InvalidInput, UserFunctionError, shown
from polhode.kernel import jit, layout as slots
from polhode.kernel.drive import event_values
from polhode.kernel.jit import python_of
from polhode.kernel.signatures import EVENT, LOADS, ONE_LOADS, ONE_POTENTIAL, POTENTIAL
from polhode.programs.graph import Graph
from polhode.programs.purity import Finding, findings, handed_over
from polhode.programs.purity_rules import CHANGERS
from polhode.programs.rewire import indexes, user_line
from polhode.programs.trace import NotTraceable, Program, trace
from polhode.systems.user.acting import STATE, acting, adapters, as_it_is
from polhode.systems.user.forms import FORMS, Form, named, split

HERE = str(Path(__file__).parents[2]) + os.sep
"""Where polhode is, whose lines are not the user's."""
NAMES = {name for form in FORMS.values() for name in form.names}  # names of all arguments of functions
INPUTS: dict[str, tuple[str, Any]] = {
    "t": ("t", 0), "position": ("r", 3), "velocity": ("v", 3), "q": ("q", "attitude"), "omega": ("w", 3),
}  # fmt: skip
"""Names and sizes of the inputs of a program, by the names of the arguments of a user's function."""


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function given by the user."""

    form: Form  # what the function must take and return
    function: Callable[..., Any]  # the user's function, or its compiled form
    parameters: Array  # the numbers that it is handed, read-only
    looked: jit.Made | Same = field(init=False, repr=False)  # what it compiled to when its source was read

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(self.parameters))
        self._check_arguments()
        object.__setattr__(self, "looked", self.made)
        found = findings_of(self.looked)
        if found and found[0].kind in ("memory", "outside"):  # a run calls it in another order, and more often
            raise InvalidInput(refusal(self.described, found[0], self.form.what == "command"))

    def _check_arguments(self) -> None:
        """Refuse what does not take the arguments, or calls one by the name of another and would get its numbers."""
        wanted, takes, code = self.form.names, f"the arguments ({self.form.arguments})", None
        try:
            plain = python_of(self.function)
            code = plain.__code__ if isinstance(plain, FunctionType) else None
            if not callable(self.function):
                raise RuntimeError
            if code is None or code.co_argcount != len(wanted) or code.co_kwonlyargcount:  # else they fit
                inspect.signature(plain).bind(*wanted)
        except TypeError:
            raise InvalidInput(
                f"{self.described} must take {takes}, in this order, not {inspect.signature(plain)}"
            ) from None
        except ValueError:  # some callables hide their signature; the first call checks it
            pass
        except Exception:  # not callable, or its inspection fails
            given = shown(self.function)
            raise InvalidInput(f"{self.form.what} must be a function of ({self.form.arguments}), not {given}") from None
        for found, name in zip(code.co_varnames[: code.co_argcount] if code else (), wanted, strict=False):
            if found != name and (found in wanted or (found in NAMES and found != "q")):  # a place may be called q
                raise InvalidInput(f"{self.described} has the argument {found!r} where it is given {name}; it must "
                                   f"take {takes}, in this order")  # fmt: skip

    @property
    def logs(self) -> bool:
        """Whether it leaves something behind that it does not read; then nothing calls it but the run."""
        return any(one.kind == "log" for one in findings_of(self.looked))

    @property
    def uncompiled(self) -> str:
        """Why it is not compiled, a clause about it with its line; empty where it may be."""
        for one in findings_of(self.made):
            return f"it {one.what}, {one.line}"
        return "" if isinstance(python_of(self.function), FunctionType) else self._no_function

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(python_of(self.function), "__name__", type(self.function).__name__)

    @property
    def described(self) -> str:
        """The function for messages, with file and line."""
        code = getattr(python_of(self.function), "__code__", None)
        source_text = f" ({code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno})" if code else ""
        return f"{self.form.what} {self.name!r}{source_text}"

    @property
    def velocity_dependent(self) -> bool:
        """Whether the function may depend on velocities; False only if it provably does not read them."""
        moving = (k for k, name in enumerate(self.form.names) if name in ("velocity", "omega"))
        return bool(self.form.states) or any(may_read(self.function, k) for k in moving)

    @property
    def autonomous(self) -> bool:
        """Whether the function does not depend on time; True only if it provably does not read it."""
        return not may_read(self.function, 0)

    @property
    def made(self) -> jit.Made | Same:
        """What the function compiles to at present, for comparison; the object itself if it is no plain function."""
        before, function = self.__dict__.get("looked"), python_of(self.function)
        if isinstance(before, jit.Made) and before.stays:
            return before
        return jit.Made(function) if isinstance(function, FunctionType) else Same(function)

    @property
    def _no_function(self) -> str:
        return f"it is no plain function but of type {type(self.function).__name__!r}"

    @property
    def traced(self) -> Traced:
        """Its program as it was when its source was read; only of a plain function."""
        if not isinstance(self.looked.function, FunctionType):
            return Traced(None, self._no_function, {})
        made, arguments, shape = _to_trace(self.looked, self.form, len(self.parameters))
        return traced(made, arguments, shape, self.form.what, self.parameters)

    @property
    def untraced(self) -> str:
        """Why there is no program of the function, a sentence without its full stop; empty where there is one."""
        reason = self.traced.reason
        return f"{self.described} cannot be traced: {reason}" if reason else ""

    @property
    def drives(self) -> bool:
        """Whether it is a potential that reads the time, and whose work in doing so can be recorded: a program without
        jumps in time."""
        program = None if self.autonomous else self.traced.program
        return program is not None and not jumps(program.graph, program.outputs)

    def on_body(self, called: bool) -> dict[str, Any]:
        """What a load, controller or event has that is this function of a body, perhaps ``called`` as it is."""
        form, function = self.form, python_of(self.function)
        return {
            "function": acting(as_it_is(form), form, self.velocity_dependent) if called else acting(function, form),
            "kind": "called" if called else "", "made": None if self.looked.opaque else (self.looked, form),
            "reads": {STATE + one: one for one, _ in form.states},
        }  # fmt: skip

    def checked(self, t: float, *given: ArrayLike) -> float | tuple[float, ...]:
        """Call the plain function with arrays, which are what it takes behind the time, and check what it returns: a
        number, or all numbers in one tuple."""
        form, inputs = self.form, [np.array(a, dtype=float) for a in given]
        handed = [*inputs[:-1], named(form.states)(*split(form.states, inputs[-1]))] if form.states else inputs
        try:
            result = python_of(self.function)(t, *handed)
        except Exception as problem:
            told, line = f"{type(problem).__name__}: {problem}", user_line(problem, HERE)
            parameters = inputs[len(form.taken)]
            if isinstance(problem, IndexError) and indexes(problem, parameters):
                told += f"; parameters is an array of {len(parameters)} number{'s' * (len(parameters) != 1)}"
            where = f"{line}, at t = {t:g}" if line else f"at t = {t:g}"
            raise UserFunctionError(f"{self.described} raised {told} ({where})", time=t) from problem
        found = self._numbers(result, t, all(np.isfinite(a).all() for a in inputs))  # else the time loop reports that
        return tuple(found) if len(found) > 1 else found[0]

    def _numbers(self, result: Any, t: float, finite: bool) -> list[float]:
        """The numbers of all that it returns."""
        form, found, alone = self.form, list[float](), f"{shown(result)} at t = {t:g}"
        several = isinstance(result, tuple | list) or (isinstance(result, np.ndarray) and result.ndim)
        items = list(result) if several and len(form.wanted) > 1 else [result]
        if len(items) != len(form.wanted):
            told = f"{len(items)} things at t = {t:g}" if form.states else alone
            raise UserFunctionError(f"{self.described} returned {told}; it must return {form.returns}", time=t)
        for k, ((name, size), item) in enumerate(zip(form.wanted, items, strict=True)):
            what = name if k < len(form.acts) or form.sets else f"the rate of {name}" if name else "the value"
            told, numbers = f"{shown(item)} as {what} at t = {t:g}" if form.states else alone, _numbers(item)
            if numbers is not None and not size and numbers.size == 1:
                numbers = numbers.reshape(())
            wrong = ""
            if numbers is None or numbers.shape != ((size,) if size else ()):
                of_states = f"be {f'{size} numbers' if size else 'one number'}"
                wrong = f"it must {of_states if form.states else f'return {form.returns}'}"
                wrong += ", plain and without a unit" if _has_unit(item) else ""
            elif finite and not np.isfinite(numbers).all():
                told = told if form.states else f"{np.array2string(numbers)} at t = {t:g}"
                wrong = "every number must be finite"
            if numbers is None or wrong:
                raise UserFunctionError(f"{self.described} returned {told}; {wrong}", time=t)
            found += numbers.ravel().tolist()
        return found


def _has_unit(result: object) -> bool:
    """Whether a result, or a number in it, has a unit."""
    return any(map(_has_unit, result)) if isinstance(result, list | tuple) else hasattr(result, "unit")


def _numbers(result: object) -> Array | None:
    """``result`` as an array of floats, or None if an entry is not a number or has a unit."""
    try:
        array = None if _has_unit(result) else np.asarray(result)
        if array is not None and array.dtype.kind == "O":
            return np.array([float(x) for x in array.ravel()]).reshape(array.shape)
        return array.astype(float) if array is not None and array.dtype.kind in "biuf" else None
    except (TypeError, ValueError):
        return None


# ------------------------------------------------------------------ its source
@dataclass(frozen=True, eq=False)
class Same:
    """Compares and hashes an object by identity, and keeps it alive."""

    function: Any
    opaque = True
    but_numbers = property(lambda self: self)

    def __hash__(self) -> int:
        return id(self.function)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.function is self.function


@lru_cache(jit.KEPT_KERNELS)
def findings_of(made: jit.Made | Same) -> tuple[Finding, ...]:
    """What is found when the source is read of what compiles to this."""
    return findings(made.function)


def record_of(function: Callable[..., Any]) -> dict[str, str]:
    """Name, source and digest of a function, for the record only; the source is never executed."""
    function = python_of(function)
    name = getattr(function, "__name__", type(function).__name__)
    code, module = Same(getattr(function, "__code__", function)), getattr(function, "__module__", None)
    source = (isinstance(code.function, CodeType) and _source_of(code, module)) or f"(no source: {name})"
    return {"function": name, "source": source, "sha256": hashlib.sha256(source.encode()).hexdigest()}


def numbers_read(function: Callable[..., Any]) -> dict[str, float]:
    """The floats that a function reads at present, in closures or as globals, by their names."""
    if not isinstance(function := python_of(function), FunctionType):
        return {}
    read = {key: function.__globals__.get(key) for key in jit.global_names(function.__code__)}
    for key, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty cell
            read[key] = cell.cell_contents
    return {key: float(x) for key, x in sorted(read.items()) if isinstance(x, float) and math.isfinite(x)}


@lru_cache(jit.KEPT_KERNELS)
def _source_of(code: Same, module: str | None) -> str:
    """As ``inspect.getsource``, which looks at the files of all modules to find one that is known."""
    linecache.checkcache(path := code.function.co_filename)
    of = sys.modules.get(module or "")  # its loader knows its own file only
    lines = linecache.getlines(path, of.__dict__ if getattr(of, "__file__", None) == path else None)
    return textwrap.dedent("".join(inspect.getblock(lines[code.function.co_firstlineno - 1 :])))


REVEALING = {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack"}
"""Names through which a function can read its arguments without naming them."""


def may_read(function: Callable[..., Any], position: int) -> bool:
    """Whether a function may read its positional argument with this index; False only if its code never names it."""
    function = python_of(function)
    return not isinstance(function, FunctionType) or _may_read(function.__code__, position)


@lru_cache(jit.KEPT_KERNELS)
def _may_read(code: CodeType, position: int) -> bool:
    name = code.co_varnames[position] if position < code.co_argcount else None
    if name is None or name in code.co_cellvars or REVEALING & {*code.co_names, *code.co_freevars}:
        return True
    # Some versions of Python load two variables with one instruction, whose argument is a pair.
    mentioned = (step.argval for step in dis.get_instructions(code) if "FAST" in step.opname)
    return any(name in (value if isinstance(value, tuple) else (value,)) for value in mentioned)


def refusal(described: str, worst: Finding, command: bool, summand: bool = False) -> str:
    """The sentence that refuses a function that remembers, or depends on more than its arguments, with the same law as
    a state; ``command``: it is that of a controller, ``summand``: it is a part of a sum."""
    told = f"it {worst.what}" + (f" ({worst.line})" if worst.line else "")
    if worst.kind == "outside":
        drawn = "{'noise': 1.0, 'every': 0.1}"
        noise = f".states(noise={drawn})" if summand else f"states={{'noise': {drawn}}}"
        return (
            f"{described} depends on more than its arguments: {told}; compute such numbers beforehand and give them in "
            f"parameters=, and draw noise as a state, {noise}"
        )
    name = (re.findall(r"[A-Za-z_]\w*", worst.what.partition(", which")[0]) or ["memory"])[-1]
    name = name if name not in CHANGERS else "memory"
    states = f".states({name}=0.0)" if summand else f"states={{{name!r}: 0.0}}"
    keeps = f"{states} and polhode.controller(..., keeps={name!r})"
    read = f"read {name!r} by its name" if summand else f"read states.{name}"
    law = (
        f"give {keeps}, {read}, and return its new value {'' if summand else 'behind the command'}".rstrip()
        if command
        else f"give {states}, {read}, and return its rate, or let a controller set it: {keeps}"
    )
    cache = "; for a cache, use functools.lru_cache" if re.search(r"\[[^\]\d'\"]", told) else ""
    return (
        f"{described} remembers from call to call: {told}; a run calls it in no fixed order and more often than it has "
        f"steps, so what it remembers must be part of the state: {law}{cache}"
    )


def check_shared(users: Sequence[UserFunction]) -> None:
    """Refuse functions of one run of which one reads what another leaves behind."""
    for one, other in product((one for one in users if one.logs), users):
        told = None if one is other else handed_over(python_of(one.function), python_of(other.function))
        if told is not None:
            raise InvalidInput(f"{other.described} reads what {one.described} leaves behind; "
                               f"{refusal(one.described, told, one.form.what == 'command')}")  # fmt: skip


# ------------------------------------------------------------------ its program
@dataclass
class Traced:
    """A user's function that was traced, or why it was not."""

    program: Program | None  # what it computes
    reason: str  # why there is none, a clause about the function ("it decides by ...")
    fixed: Mapping[str, float]  # the parameters for which there is this program, or none


Arguments = tuple[tuple[str, Any], ...]


@lru_cache(jit.KEPT_KERNELS)
def _known(made: jit.Made, arguments: Arguments, shape: tuple[int, ...], changing: frozenset[int]) -> list[Traced]:
    """What is known of a function: its programs for several values of the parameters that it asks for."""
    return []


@lru_cache(jit.KEPT_KERNELS)
def _to_trace(made: jit.Made, form: Form, size: int) -> tuple[jit.Made, Arguments, tuple[int, ...]]:
    """What is traced of a function that is handed so many numbers, its arguments, and the shape of its result."""
    inputs = INPUTS | {"parameters": ("p", size or ()), "states": ("s", form.count)}
    arguments, count = tuple(inputs[name] for name in form.names), form.count_wanted
    if not form.states:
        return made, arguments, {1: (), 3: (3,), 6: (2, 3)}[count]
    adapter = jit.in_python(adapters(form).ask, {"user": made.function, "vector": np.array})
    adapter.__module__ = made.function.__module__  # so that it is known by the function that it calls
    return jit.Made(adapter), arguments, (count,) if count > 1 else ()


def traced(
    made: jit.Made, arguments: Arguments, shape: tuple[int, ...], what: str, values: Sequence[float] | Array,
    changing: frozenset[int] = frozenset(),
) -> Traced:  # fmt: skip
    """The program of a function, traced once for all values of its parameters p that it does not ask for."""
    known = _known(made, arguments, shape, changing)
    for one in known:
        if all(values[int(name[1:])] == value for name, value in one.fixed.items()):
            return one
    numbers = {f"p{k}": float(x) for k, x in enumerate(values) if k not in changing}
    try:
        program = trace(made.function, dict(arguments), shape, what, numbers or None)
        found = Traced(program, "", program.fixed)
    except (NotTraceable, UserFunctionError) as problem:  # the plain call finds again what is wrong, with its state
        found = Traced(None, str(problem), numbers)
    known[:] = [*(one for one in known if one.program is not None), found]  # of failures, the last is kept
    return found


def jumps(g: Graph, outputs: Sequence[int]) -> bool:
    """Whether rows may jump at some time, as they decide by the time or round it."""
    rows = [(a, g.rows[a]) for a in g.needed(outputs) if g.rows[a][0] == "fun"]
    ends = {row[2][0] for _, row in rows if row[1] == "choose" and g.nan() in row[2]}  # where a table ends
    steps = (row for a, row in rows if row[1] in ("less", "at_most", "floor", "floordiv", "sign") and a not in ends)
    return any("t" in g.names(row[2]) for row in steps)


# ------------------------------------------------------------------ roles, called once
@jit.loop(ONE_LOADS)
def _loads(role, t, y, bodies, parameters, out):
    role(slots.ALL, t, 1, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters), jit.pointer(out))


@jit.loop(ONE_POTENTIAL)
def _potential(role, t, y, bodies, parameters, out):
    out[0] = role(t, 1, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters))


one_call = {LOADS: _loads, POTENTIAL: _potential, EVENT: event_values}
"""Functions that call a compiled role once and store what it says."""
