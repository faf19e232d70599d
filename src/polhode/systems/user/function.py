"""A user's function: its checks, its compiled form, and the bridge where it runs as Python."""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import inspect
import os
import textwrap
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from polhode import errors
from polhode.algebra.quaternion import multiply
from polhode.arguments.frozen import read_only
from polhode.errors import InvalidInput, SlowFunctionWarning, UserFunctionError, shown
from polhode.kernel import jit
from polhode.kernel import layout as slots
from polhode.kernel.jit import bind, python_of
from polhode.kernel.signatures import LOADS, POTENTIAL, REPEATED_LOADS, REPEATED_POTENTIAL
from polhode.programs.purity import Finding, findings
from polhode.programs.rewire import indexes, user_line
from polhode.systems.user import states as of_states
from polhode.systems.user.compilable import compilable
from polhode.systems.user.remembering import refusal
from polhode.systems.user.roles import CALLS, EVENTS, FORMS, Form
from polhode.systems.user.traced import jumps, program_of, role_of

HERE = str(Path(__file__).parents[2]) + os.sep
"""Where polhode is, whose lines are not the user's."""
NAMES = {name for form in FORMS.values() for name in form.arguments.split(", ")}
"""Names of all arguments of functions."""
TYPICAL_COMPILED_CALL = 2e-8  # seconds; reference for the slowdown in the warning


class Looked(NamedTuple):
    """What was found of a function when its source was read: whether it logs, whether it reads objects of which its
    digest may not see all, so that its compiled form is tried again, and what it compiled to."""

    logs: bool
    opaque: bool
    made: Any = None


@dataclass(frozen=True)
class UserFunction:
    """A function given by the user, with the role that calls it."""

    form: Form  # what the function must take and return
    function: Callable[..., Any]  # the user's function, or its compiled form
    template: Callable[..., Any] | None  # the role that calls it, of one that is no load
    frame: tuple[float, float, float, float]  # quaternion from the principal to the user's body frame
    parameters: Any  # parameters of the role, read-only
    first: int = 0  # number of the parameters before those that are passed to the function
    size: int = slots.LOAD  # how many numbers the role writes
    states_at: int = 0  # index of the auxiliary variable that is the first number of the states it takes
    looked: Looked | None = None  # what was found when its source was read; read if None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(self.parameters))
        if self.looked is not None:  # another role of a function that was checked
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
        made = self.made
        found = findings_of(made)
        looked = Looked(any(one.kind == "log" for one in found), getattr(made, "opaque", True), made)
        object.__setattr__(self, "looked", looked)
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
    def _signature(self) -> Any:
        return _signature_of(self.template)

    @property
    def made(self) -> Any:
        """What the function compiles to at present, for comparison; the object itself if it is no plain function."""
        function = python_of(self.function)
        return jit.Made(function) if isinstance(function, FunctionType) else _Same(function)

    def _bound(self) -> tuple[tuple[str, Any], ...]:
        """What is bound to the role besides the function, by name."""
        used = jit.global_names(python_of(self.template).__code__)
        turned = self.frame != (1.0, 0.0, 0.0, 0.0)
        values: dict[str, Any] = {"count": len(self.parameters), "first": self.first, "turned": turned}
        if self.form.states:
            values |= self.form.access(self.states_at)
        return tuple((name, value) for name, value in values.items() if name in used)

    def checked(self, *arguments: Any) -> Any:
        """Call the plain function with arrays and check what it returns."""
        t = arguments[0]
        given = self._in_order(arguments[1:]) if self.form.states else arguments[1:]
        inputs = [np.array(a, dtype=float) for a in given]
        handed = inputs
        if self.form.states:
            handed = [*inputs[:-1], of_states.packed(self.form.states, inputs[-1])]
        try:
            result = python_of(self.function)(t, *handed)
        except Exception as problem:
            told, line = f"{type(problem).__name__}: {problem}", user_line(problem, HERE)
            parameters = inputs[-2 if self.form.states else -1]
            if isinstance(problem, IndexError) and indexes(problem, parameters):
                told += f"; parameters is an array of {len(parameters)} number{'s' * (len(parameters) != 1)}"
            where = f"{line}, at t = {t:g}" if line else f"at t = {t:g}"
            raise UserFunctionError(f"{self.described} raised {told} ({where})", time=t) from problem
        if self.form.states:
            return self._checked_with_rates(result, t, all(np.isfinite(a).all() for a in inputs))
        numbers = _numbers(result)
        shape = {1: (), 3: (3,), 6: (2, 3)}[self.form.numbers]
        if numbers is not None and self.form.numbers == 1 and numbers.size == 1:
            numbers = numbers.reshape(())
        if numbers is None or numbers.shape != shape:
            text = " ".join(repr(result).split())
            text = text if len(text) < 60 else text[:57] + "..."
            plain = ", plain and without a unit" if _has_unit(result) else ""
            raise UserFunctionError(
                f"{self.described} returned {text} at t = {t:g}; it must return {self.form.returns}{plain}", time=t
            )
        # If the state itself is not finite, the time loop reports that.
        if not np.isfinite(numbers).all() and all(np.isfinite(a).all() for a in inputs):
            raise UserFunctionError(
                f"{self.described} returned {np.array2string(numbers)} at t = {t:g}; every number must be finite",
                time=t,
            )
        if self.form.numbers == 1:
            return float(numbers)
        return tuple(float(x) for x in numbers.ravel())

    def _in_order(self, given: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments of a function with states behind the time, from position, velocity, attitude, angular velocity,
        parameters and states."""
        named = dict(zip(("position", "velocity", "q", "omega", "parameters", "states"), given, strict=True))
        return tuple(named[name] for name in self.form.arguments.split(", ")[1:])

    def _checked_with_rates(self, result: Any, t: float, finite: bool) -> Any:
        """Force, torque and rates in one tuple, from what a function with states has returned."""
        names = self.form.arguments
        sets = bool(self.form.sets)
        wanted = [("force", 3)] * ("position" in names) + [("torque", 3)] * (", q," in names)
        wanted = [] if sets else wanted
        wanted += [(name if sets else f"the rate of {name}", size) for name, size in self.form.rated]
        items = list(result) if isinstance(result, tuple | list) and len(wanted) > 1 else [result]
        if len(items) != len(wanted):
            raise UserFunctionError(
                f"{self.described} returned {len(items)} things at t = {t:g}; it must return {self.form.returns}",
                time=t,
            )
        found: list[float] = [0.0] * 6 if sets else [] if "position" in names else [0.0] * 3
        for k, ((what, size), item) in enumerate(zip(wanted, items, strict=True)):
            if k == ("position" in names) and ", q," not in names and not sets:
                found += [0.0] * 3
            numbers = _numbers(item)
            if numbers is None or numbers.shape != (() if size == 0 else (size,)):
                needed = "one number" if size == 0 else f"{size} numbers"
                raise UserFunctionError(
                    f"{self.described} returned {shown(item)} as {what} at t = {t:g}; it must be {needed}", time=t
                )
            if finite and not np.isfinite(numbers).all():
                raise UserFunctionError(
                    f"{self.described} returned {shown(item)} as {what} at t = {t:g}; every number must be finite",
                    time=t,
                )
            found += numbers.ravel().tolist()
        return (*found, *[0.0] * (slots.LOAD - len(found)))

    def bridge(self) -> Callable[..., Any]:
        """The role that calls the plain Python function and checks every result."""
        role, reason = bridged(_Same(self.function), self.form, self.template, self._bound())
        if role is None:
            raise InvalidInput(f"{self.described} cannot be called from the compiled loop: {reason}")
        return role

    def compile(self, t: float, y: Any, bodies: Any, warn: bool = True) -> Callable[..., Any]:
        """The role, compiled if possible; it is tried out at ``t``, ``y``, ``bodies``."""
        if self.logs:
            if warn:
                told = f"{self.described} runs as Python, slower by far, because {self.uncompiled}"
                errors.warn(told, SlowFunctionWarning)
            return self.bridge()
        trials = [(t, y, self._in_python(t, y, bodies))]  # which tells what is wrong there
        if jit.disabled():
            return self.bridge()
        role, program = self._traced()
        key = id(role), id(program)  # other functions may have the same role, but a program of their own
        kept = _tried.get(key, (None, None))
        known = role is not None and kept[0] is role and kept[1] is program  # by a system before
        if role is not None and known and (not self.looked.opaque or self._agrees(role, trials, bodies)):  # type: ignore[union-attr]
            return role
        trials += self._trials(t, y, bodies)
        if role is not None and self._agrees(role, trials, bodies):
            _remember(_tried, key, (role, program))
            return role
        function, reason = python_of(self.function), self.uncompiled
        if not reason and not isinstance(function, FunctionType):
            reason = f"it is no plain function but of type {type(function).__name__!r}"
        for form in self._calls if not reason else ():
            role, why = compiled(self.made, form, self.template, self._bound())
            reason = why or reason
            if role is not None and self._agrees(role, trials, bodies):
                return role
        bridge = self.bridge()
        self._evaluate(bridge, t, y, bodies)
        start = time.perf_counter()
        self._evaluate(bridge, t, y, bodies, 20)
        each = (time.perf_counter() - start) / 20
        reason, untraced = reason or "compiled it returned other numbers", program_of(self).reason
        if untraced not in ("", reason):
            reason = f"tracing: {untraced}; compiling: {reason}"
        if warn:
            errors.warn(
                f"{self.described} could not be compiled and runs as Python: about {each * 1e6:.1f} us a call, some "
                f"{max(1, round(each / TYPICAL_COMPILED_CALL))} times slower ({reason})",
                SlowFunctionWarning,
            )
        return bridge

    @property
    def _calls(self) -> tuple[Any, ...]:
        """What may call the function in a compiled role: with tuples, with arrays."""
        if self.form.states:
            return self.form.adapters[:2]
        return CALLS[self.form.numbers, self.form.vectors]

    @property
    def untraced(self) -> str:
        """Why there is no program of the function, a sentence without its full stop; empty where there is one."""
        reason = program_of(self).reason
        return f"{self.described} cannot be traced: {reason}" if reason else ""

    def _traced(self) -> tuple[Callable[..., Any] | None, Any]:
        """The role of the program that the function is, if it can be traced, and the program; see ``traced``."""
        program = program_of(self).program
        if program is None:
            return None, None
        return role_of(self, program, self._signature, dict(self._bound())), program

    def _trials(self, t: float, y: Any, bodies: Any) -> list[tuple[float, Any, Any]]:
        """Two generic states near the given one, with the loads from the plain function."""
        trials, count = [], self.form.count if self.form.states else 0
        for at, other in near(t, y, bodies, count, self.states_at):
            # The user did not ask for these states, so warnings and errors there are ignored.
            with np.errstate(all="ignore"), warnings.catch_warnings(), contextlib.suppress(UserFunctionError):
                warnings.simplefilter("ignore")
                trials.append((at, other, self._in_python(at, other, bodies)))
        return trials

    def _agrees(self, role: Callable[..., Any], trials: list[tuple[float, Any, Any]], bodies: Any) -> bool:
        size = max(np.abs(expected).max() for _, _, expected in trials)
        for t, y, expected in trials:
            try:
                result = self._evaluate(role, t, y, bodies)
            except Exception:
                return False
            if not np.abs(result - expected).max() <= 1e-9 * size:
                return False
        return True

    @property
    def _plain(self) -> Callable[..., Any]:
        """The role in plain Python, nothing compiled."""
        return jit.in_python(self.template, dict(self._bound()) | {"call": self.checked, "view": _leading})

    def _in_python(self, t: float, y: Any, bodies: Any) -> Any:
        """Result of the role in plain Python."""
        role = self._plain
        out = np.zeros(self.size)
        if self._signature is POTENTIAL:
            return np.array([role(t, 1, y, bodies, self.parameters)])
        role(slots.ALL, t, 1, y, bodies, self.parameters, out)
        return out

    def _evaluate(self, role: Callable[..., Any], t: float, y: Any, bodies: Any, times: int = 1) -> Any:
        out = np.zeros(1 if self._signature is POTENTIAL else self.size)
        parameters = np.concatenate([self.parameters, np.zeros(1)])
        repeated(self._signature)(role, times, t, y, bodies, parameters, out)
        return out


def near(t: float, y: Any, bodies: Any, count: int, first: int = 0) -> list[tuple[float, Any]]:
    """Two generic times and states of one body near the given one, with auxiliary variables from ``first`` on."""
    found = []
    for k in (1, 2):
        other = y.copy()
        r = y[slots.POSITION : slots.POSITION + 3]
        other[slots.POSITION : slots.POSITION + 3] += 0.1 * (1.0 + abs(r)) * np.cos((k, k + 1, k + 2))
        rate = np.sin((2 * k, 3 * k, 5 * k))
        if bodies[slots.INVERSE_MASS] > 0.0:
            other[slots.MOMENTUM : slots.MOMENTUM + 3] += bodies[slots.MASS] * rate
        if bodies[slots.INVERSE_INERTIA] > 0.0:
            other[slots.ANGULAR : slots.ANGULAR + 3] += bodies[slots.INERTIA : slots.INERTIA + 3] * rate
        states = other[slots.BODY + first : slots.BODY + first + count]
        states += (0.1 + 0.3 * abs(states)) * np.sin(np.arange(1.0, len(states) + 1.0) * (k + 1))
        turned = np.array(multiply(tuple(y[slots.ATTITUDE : slots.ATTITUDE + 4]), (1.0, *(0.2 * rate))))
        other[slots.ATTITUDE : slots.ATTITUDE + 4] = turned / np.linalg.norm(turned)
        found.append((t + 0.37 * k, other))
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
        _remember(_sources, id(code), (code, source))
    return {"function": name, "source": source, "sha256": hashlib.sha256(source.encode()).hexdigest()}


# ------------------------------------------------------------------ cached roles, shared by systems
_sources: dict[int, Any] = {}
"""Code of functions and its source, by the address of the code."""
_tried: dict[tuple[int, int], tuple[Any, Any]] = {}
"""Compiled roles that gave the numbers of a plain function, and its program, by their addresses."""


def _remember(kept: dict[Any, Any], key: Any, value: Any) -> None:
    kept[key] = value
    while len(kept) > jit.KEPT_KERNELS:
        kept.pop(next(iter(kept)), None)


@dataclass(frozen=True)
class _Same:
    """Compares and hashes an object by identity, and keeps it alive."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


def _leading(array: Any, length: int) -> Any:
    return array[:length]


def _signature_of(template: Any) -> Any:
    return POTENTIAL if template in EVENTS else LOADS


@functools.lru_cache(jit.KEPT_KERNELS)
def compiled(made: jit.Made, form: Any, template: Any, bound: tuple[tuple[str, Any], ...]) -> Any:
    """Compile a role around a user's function: (role, "") or (None, reason). Equal functions share one role."""
    calling = bind(form, user=compilable(python_of(made.function)))
    return jit.compile_uncached(bind(template, call=calling, **dict(bound)), _signature_of(template))


@functools.lru_cache(jit.KEPT_KERNELS)
def bridged(same: _Same, form: Form, template: Any, bound: tuple[tuple[str, Any], ...]) -> Any:
    """A role that calls a user's function as plain Python: (role, "") or (None, reason). One per function."""
    function = UserFunction(form, same.value, template, (1.0, 0.0, 0.0, 0.0), np.zeros(0)).checked
    if form.states:
        calling = jit.python_bridge(
            lambda t, a, b, c, d, p, s: function(t, a, b, c, d, p, s), slots.LOAD + form.count_rated
        )
        return jit.compile_uncached(bind(template, call=calling, **dict(bound)), _signature_of(template))
    plain = {
        1: lambda t, a, p: function(t, a, p),
        2: lambda t, a, b, p: function(t, a, b, p),
        4: lambda t, a, b, c, d, p: function(t, a, b, c, d, p),
    }[form.vectors]
    calling = jit.python_bridge(plain, form.numbers)
    return jit.compile_uncached(bind(template, call=calling, **dict(bound)), _signature_of(template))


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


@functools.cache
def repeated(signature: Any) -> Callable[..., Any]:
    """A compiled function that calls a role a number of times and stores the last result."""
    if signature is POTENTIAL:
        return jit.compile_kernel(_potential_repeated, REPEATED_POTENTIAL)
    return jit.compile_kernel(_loads_repeated, REPEATED_LOADS)
