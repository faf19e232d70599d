"""A user's function: its checks, and what is found when it is read."""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import os
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments.frozen import read_only
from polhode.errors import InvalidInput, UserFunctionError, shown
from polhode.kernel import jit, layout as slots
from polhode.kernel.jit import python_of
from polhode.kernel.signatures import EVENT, LOADS, POTENTIAL, REPEATED_EVENTS, REPEATED_LOADS, REPEATED_POTENTIAL
from polhode.programs.purity import Finding, findings
from polhode.programs.rewire import indexes, user_line
from polhode.systems.user.forms import FORMS, Form
from polhode.systems.user.remembering import refusal
from polhode.systems.user.traced import jumps, packed, program_of

HERE = str(Path(__file__).parents[2]) + os.sep
"""Where polhode is, whose lines are not the user's."""
NAMES = {name for form in FORMS.values() for name in form.arguments.split(", ")}
"""Names of all arguments of functions."""


class Looked(NamedTuple):
    """What was found of a function when its source was read: whether it logs, whether it reads objects of which its
    digest may not see all, so that its compiled form is tried again, and what it compiled to."""

    logs: bool
    opaque: bool
    made: Any = None

    @classmethod
    def of(cls, made: Any) -> Looked:
        """What is found of a function that compiles to this."""
        return cls(any(one.kind == "log" for one in findings_of(made)), getattr(made, "opaque", True), made)


@dataclass(frozen=True)
class UserFunction:
    """A function given by the user."""

    form: Form  # what the function must take and return
    function: Callable[..., Any]  # the user's function, or its compiled form
    frame: tuple[float, float, float, float]  # quaternion from the principal to the user's body frame
    parameters: Any  # the numbers that it is handed, read-only
    looked: Looked | None = None  # what was found when its source was read; read if None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(self.parameters))
        if self.looked is not None:  # one that was checked
            return
        try:
            if not callable(self.function):
                raise RuntimeError
            plain, asked = python_of(self.function), self.form.arguments.split(",")
            code = plain.__code__ if type(plain) is FunctionType else None
            if code is None or code.co_argcount != len(asked) or code.co_kwonlyargcount:  # else they fit
                inspect.signature(plain).bind(*asked)
        except TypeError:
            raise InvalidInput(
                f"{self.described} must take the arguments ({self.form.arguments}), in this order, not "
                f"{inspect.signature(python_of(self.function))}"
            ) from None
        except ValueError:  # some callables hide their signature; the first call checks it
            pass
        except Exception:  # not callable, or its inspection fails
            given = shown(self.function)
            raise InvalidInput(f"{self.form.what} must be a function of ({self.form.arguments}), not {given}") from None
        self._check_names()
        self._check_memory()

    def _check_memory(self) -> None:
        """Refuse a function that remembers: it would be called in another order, and more often, than a run has
        steps."""
        found = findings_of(made := self.made)
        object.__setattr__(self, "looked", Looked.of(made))
        if found and found[0].kind in ("memory", "outside"):
            raise InvalidInput(refusal(self.described, found[0], self.form.what == "command"))

    @property
    def logs(self) -> bool:
        """Whether it leaves something behind that it does not read; then nothing calls it but the run."""
        return self.looked is not None and self.looked.logs

    @property
    def uncompiled(self) -> str:
        """Why it is not compiled, a clause about it with its line; empty where it may be."""
        return f"it {one.what}, {one.line}" if (one := next(iter(findings_of(self.made)), None)) else ""

    def _check_names(self) -> None:
        """Refuse a function that calls an argument by the name of another one: it would get the wrong numbers."""
        code = getattr(python_of(self.function), "__code__", None)
        if not isinstance(python_of(self.function), FunctionType) or code is None:
            return
        wanted = self.form.arguments.split(", ")
        for found, name in zip(code.co_varnames[: code.co_argcount], wanted, strict=False):
            elsewhere = found in wanted or (found in NAMES and found != "q")  # a place may be called q
            if found != name and elsewhere:
                raise InvalidInput(
                    f"{self.described} has the argument {found!r} where it is given {name}; it must take the arguments "
                    f"({self.form.arguments}), in this order"
                )

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

    def record(self) -> dict[str, str]:
        """Name, source and digest, for the record only; the source is never executed."""
        return record_of(self.function)

    @property
    def velocity_dependent(self) -> bool:
        """Whether the function may depend on velocities; False only if it provably does not read them."""
        names = [name.strip() for name in self.form.arguments.split(",")]
        return bool(self.form.states) or any(
            may_read(self.function, k) for k, name in enumerate(names) if name in ("velocity", "omega")
        )

    @property
    def autonomous(self) -> bool:
        """Whether the function does not depend on time; True only if it provably does not read it."""
        return not may_read(self.function, 0)

    @property
    def drives(self) -> bool:
        """Whether it is a potential that reads the time, and whose work in doing so can be recorded: a program without
        jumps in time."""
        program = None if self.autonomous else program_of(self).program
        return program is not None and not jumps(program.graph, program.outputs)

    @property
    def made(self) -> Any:
        """What the function compiles to at present, for comparison; the object itself if it is no plain function."""
        function = python_of(self.function)
        return jit.Made(function) if isinstance(function, FunctionType) else _Same(function)

    @property
    def untraced(self) -> str:
        """Why there is no program of the function, a sentence without its full stop; empty where there is one."""
        reason = program_of(self).reason
        return f"{self.described} cannot be traced: {reason}" if reason else ""

    def checked(self, t: float, *given: Any) -> Any:
        """Call the plain function with arrays, which are what it takes behind the time, and check what it returns: a
        number, or all numbers in one tuple."""
        form, inputs = self.form, [np.array(a, dtype=float) for a in given]
        handed = [*inputs[:-1], packed(form.states, inputs[-1])] if form.states else inputs
        try:
            result = python_of(self.function)(t, *handed)
        except Exception as problem:
            told, line = f"{type(problem).__name__}: {problem}", user_line(problem, HERE)
            parameters = inputs[len(form.taken)]
            if isinstance(problem, IndexError) and indexes(problem, parameters):
                told += f"; parameters is an array of {len(parameters)} number{'s' * (len(parameters) != 1)}"
            where = f"{line}, at t = {t:g}" if line else f"at t = {t:g}"
            raise UserFunctionError(f"{self.described} raised {told} ({where})", time=t) from problem
        finite = all(np.isfinite(a).all() for a in inputs)  # if the state is not, the time loop reports that
        found = self._numbers(result, t, finite)
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
            if numbers is None or numbers.shape != ((size,) if size else ()):
                needed = (
                    f"be {f'{size} numbers' if size else 'one number'}" if form.states else f"return {form.returns}"
                )
                plain = ", plain and without a unit" if _has_unit(item) else ""
                raise UserFunctionError(f"{self.described} returned {told}; it must {needed}{plain}", time=t)
            if finite and not np.isfinite(numbers).all():
                told = told if form.states else f"{np.array2string(numbers)} at t = {t:g}"
                raise UserFunctionError(f"{self.described} returned {told}; every number must be finite", time=t)
            found += numbers.ravel().tolist()
        return found


@functools.lru_cache(jit.KEPT_KERNELS)
def findings_of(made: Any) -> tuple[Finding, ...]:
    return findings(made.function if isinstance(made, jit.Made) else made.value)


def record_of(function: Any) -> dict[str, str]:
    """Name, source and digest of a function, for the record only; the source is never executed."""
    function = python_of(function)
    name, code = getattr(function, "__name__", type(function).__name__), getattr(function, "__code__", None)
    kept = _sources.get(id(code))
    if code is not None and kept is not None and kept[0] is code:
        source = kept[1]
    else:
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            source = f"(no source: {name})"
        _sources[id(code)] = code, source
        while len(_sources) > jit.KEPT_KERNELS:
            _sources.pop(next(iter(_sources)), None)
    return {"function": name, "source": source, "sha256": hashlib.sha256(source.encode()).hexdigest()}


_sources: dict[int, Any] = {}
"""Code of functions and its source, by the address of the code."""


@dataclass(frozen=True)
class _Same:
    """Compares and hashes an object by identity, and keeps it alive."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


REVEALING = {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack"}
"""Names through which a function can read its arguments without naming them."""


def may_read(function: Any, position: int) -> bool:
    """Whether a function may read its positional argument with this index; False only if its code never names it."""
    function = python_of(function)
    return not isinstance(function, FunctionType) or _may_read(function.__code__, position)


@functools.lru_cache(jit.KEPT_KERNELS)
def _may_read(code: Any, position: int) -> bool:
    if position >= code.co_argcount:
        return True
    name = code.co_varnames[position]
    if name in code.co_cellvars or REVEALING & {*code.co_names, *code.co_freevars}:
        return True
    # Some versions of Python load two variables with one instruction, whose argument is a pair.
    mentioned = (step.argval for step in dis.get_instructions(code) if "FAST" in step.opname)
    return any(name in (value if isinstance(value, tuple) else (value,)) for value in mentioned)


def _has_unit(result: Any) -> bool:
    """Whether a result, or a number in it, has a unit."""
    if isinstance(result, list | tuple):
        return any(_has_unit(one) for one in result)
    return hasattr(result, "unit")


def _numbers(result: Any) -> Any:
    """``result`` as an array of floats, or None if an entry is not a number or has a unit."""
    if _has_unit(result):
        return None
    try:
        array = np.asarray(result)
        if array.dtype.kind == "O":
            return np.array([float(x) for x in array.ravel()]).reshape(array.shape)
        return array.astype(float) if array.dtype.kind in "biuf" else None
    except (TypeError, ValueError):
        return None


def _loads_repeated(role, times, t, y, bodies, parameters, out):
    for _ in range(times):
        role(slots.ALL, t, 1, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters), jit.pointer(out))


def _potential_repeated(role, times, t, y, bodies, parameters, out):
    for _ in range(times):
        out[0] = role(t, 1, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters))


def _events_repeated(role, times, t, y, bodies, parameters, table, out):
    for _ in range(times):
        for k in range(len(out)):
            out[k] = role(k, t, 1, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters), jit.pointer(table))


@functools.cache
def repeated(signature: Any) -> Callable[..., Any]:
    """A compiled function that calls a role a number of times and stores the last result."""
    function, of_it = {
        LOADS: (_loads_repeated, REPEATED_LOADS), POTENTIAL: (_potential_repeated, REPEATED_POTENTIAL),
        EVENT: (_events_repeated, REPEATED_EVENTS),
    }[signature]  # fmt: skip
    return jit.compile_kernel(function, of_it)
