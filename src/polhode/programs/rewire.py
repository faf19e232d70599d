"""A copy of a user's function that can be traced: what it calls is replaced where it would ask for numbers.

``math``, numpy's constructors of arrays, ``min`` and ``max``, polhode's functions of attitudes and compiled helpers are
replaced; functions and modules of the user's are copied likewise. Nothing of the user's is changed.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import linecache
import math
import sys
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

import numpy as np

from polhode.arguments import Indices
from polhode.kernel import jit
from polhode.kernel.reach import WRITTEN
from polhode.programs.attitude import STAND_INS
from polhode.programs.graph import Graph
from polhode.programs.linear import norm
from polhode.programs.memory import STAND_INS as OF_MEMORY
from polhode.programs.purity import findings
from polhode.programs.tracer import SPELLED, NotTraceable, Traced, Tracer, array_of, by_python, holds_tracers, of_floats

OWN_MODULES = ("polhode.programs",)
KEPT_MODULES = ("numpy", "scipy", "numba", "math", "cmath", "builtins", "random", "time", "os", "sys")
"""Packages whose functions are called as they are (numpy by its protocols)."""


class StandIn(ModuleType):
    """A module, or another object with attributes, whose attributes are replaced when they are asked for."""

    def __init__(self, owner: object, replace: Callable[[Any], Any]) -> None:
        super().__init__(getattr(owner, "__name__", type(owner).__name__))
        self.__dict__["_owner"], self.__dict__["_replace"] = owner, replace

    def __getattr__(self, name: str) -> Any:
        return self._replace(getattr(self._owner, name))


# ------------------------------------------------------------------ math, min, max
def _of_numbers(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of ``math`` or of Python that takes tracers too."""

    @functools.wraps(function)
    def call(*arguments: object) -> Any:
        if not holds_tracers(arguments):
            return function(*arguments)
        return by_python(SPELLED.get(name, name), *arguments, of_math=True)

    return call


def _extreme(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **options: object) -> Any:
        values = list(arguments[0]) if len(arguments) == 1 else list(arguments)
        if not holds_tracers(values):
            return function(*arguments, **options)
        if options:
            raise NotTraceable(f"it uses {function.__name__} with options")
        return functools.reduce(functools.partial(by_python, name), values)

    return call


def _fsum(parts: Iterable[float]) -> Any:
    parts = list(parts)
    return sum(parts) if holds_tracers(parts) else math.fsum(parts)


MATH: dict[Any, Any] = {
    value: _of_numbers(value, name)
    for name, value in vars(math).items()
    if callable(value) and not name.startswith("_")
}
MATH |= {
    math.remainder: _of_numbers(math.remainder, "math.remainder"), math.fsum: _fsum,
    math.hypot: lambda *parts: norm(list(parts)) if holds_tracers(parts) else math.hypot(*parts),
    math.dist: lambda a, b: norm(array_of(list(a)) - array_of(list(b))) if holds_tracers((a, b)) else math.dist(a, b),
}  # fmt: skip
EXTREMES = {min: _extreme(min, "minimum"), max: _extreme(max, "maximum")}


# ------------------------------------------------------------------ numpy's constructors
def _array(value: Any, dtype: Any = None, *arguments: Any, **options: Any) -> Any:
    if holds_tracers(value):
        of_floats(dtype)
        return value if isinstance(value, Traced) else array_of(value)
    return np.array(value, dtype, *arguments, **options)


def _copied(value: Any, *arguments: object, **options: object) -> Any:
    made = _array(value, *arguments, **options)
    return made.copy() if made is value else made


def _number(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x=0.0: array_of([x])[0] if holds_tracers(x) else function(x)


class _LikeFloat(type):
    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, float | Tracer)


class _Float(float, metaclass=_LikeFloat):
    """``float`` for a function that is traced: a tracer stands for a float already."""

    dtype = np.dtype(float)

    def __new__(cls, x: Any = 0.0) -> Any:
        return np.asarray(x, dtype=object).item().item() if holds_tracers(x) else float(x)


def _filled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A constructor of arrays of floats, which may be filled with tracers later."""

    @functools.wraps(function)
    def call(*arguments: object, **options: object) -> Any:
        made = function(*arguments, **options)
        return array_of(made) if made.dtype == np.float64 else made

    return call


def _like(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(value: Any, *arguments: Any, **options: Any) -> Any:
        if not isinstance(value, Traced) and not holds_tracers(value):
            return _filled(function)(value, *arguments, **options)
        return _filled(function)(np.zeros(np.shape(value)), *arguments, **options)

    return call


def _full(shape: Any, value: object, dtype: Any = None, **options: object) -> Any:
    if not holds_tracers(value):
        return _filled(np.full)(shape, value, dtype, **options)
    of_floats(dtype)
    made = np.empty(shape, dtype=object).view(Traced)
    made[...] = value
    return made


def _holds_arrays(x: object) -> bool:
    return isinstance(x, np.ndarray) or (isinstance(x, list | tuple) and any(map(_holds_arrays, x)))


def _listed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numpy that takes lists of tracers as arrays."""

    def taken(x: Any) -> Any:
        flat = isinstance(x, list | tuple) and holds_tracers(x)
        if flat and not _holds_arrays(x):
            return array_of(x)
        return type(x)(taken(one) for one in x) if flat and type(x) in (list, tuple) else x

    @functools.wraps(function)
    def call(*arguments: object, **options: object) -> Any:
        return function(*(taken(x) for x in arguments), **options)

    return call


NUMPY: dict[Any, Any] = {
    np.array: _copied, np.asarray: _array, np.asanyarray: _array, np.ascontiguousarray: _array,
    np.float64: _number(np.float64), np.zeros: _filled(np.zeros), np.ones: _filled(np.ones),
    np.empty: _filled(np.zeros), np.eye: _filled(np.eye), np.identity: _filled(np.identity), np.full: _full,
    np.zeros_like: _like(np.zeros_like), np.ones_like: _like(np.ones_like), np.empty_like: _like(np.zeros_like),
}  # fmt: skip


# ------------------------------------------------------------------ polhode's functions of arrays
LOOPS = "polhode.algebra.vectorised"
"""Where kernels are looped over arrays."""


def _of_one(rows: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that is looped over arrays, for one element of each argument."""

    def call(*values: object, plan: Indices | None = None) -> Any:
        if not holds_tracers(values):
            return rows(*values, plan=plan)
        given = []
        for value, (name, operand) in zip(values, rows.operands.items(), strict=True):
            numbers = array_of(value).ravel().tolist()
            if len(numbers) != (operand.length or 1):
                raise NotTraceable(f"it hands several elements at once, as {name}, to a function of polhode")
            given.append(tuple(numbers) if operand.length else numbers[0])
        found = kernel(*given, *(() if plan is None else (plan.tolist(),)))
        return array_of(found).reshape(rows.gives) if rows.gives else found

    return call


# ------------------------------------------------------------------ containers
def _refused(*_: object, **__: object) -> NoReturn:
    raise NotTraceable("it writes to what outlives the call (a list, a dictionary, a set)")


CHANGING = {
    list: "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__",
    dict: "pop popitem clear update setdefault __setitem__ __delitem__ __ior__",
    set: "add discard pop remove clear update intersection_update difference_update symmetric_difference_update "
    "__iand__ __ior__ __isub__ __ixor__",
}
FIXED: dict[type, Any] = {
    kind: type(f"Fixed_{kind.__name__}", (kind,), dict.fromkeys(names.split(), _refused))
    for kind, names in CHANGING.items()
}
"""Kinds of containers that stand in for those of the user's and refuse to be changed: ``purity`` refuses functions that
remember before they are traced, and this what it may not have seen."""


def _fixed(value: Any, replaced: Callable[[Any], Any]) -> Any:
    """A copy of a container that refuses to be changed, and so for the containers in it."""
    if isinstance(value, np.ndarray):
        made = value.copy()
        made.setflags(write=False)
        return made
    parts = {k: replaced(v) for k, v in value.items()} if isinstance(value, dict) else map(replaced, value)
    return FIXED[type(value)](parts)


# ------------------------------------------------------------------ functions
class Rewiring:
    """Copies functions; each one once, so that a function which calls itself calls its copy."""

    def __init__(self, g: Graph | None) -> None:
        self.kept: dict[int, tuple[Any, Any]] = {}
        self.g, self.closed = g, g.closed if g is not None else None
        self.builtins = {**vars(builtins), "min": EXTREMES[min], "max": EXTREMES[max], "__import__": self._imported}
        self.builtins |= {"float": _Float}

    def _imported(self, *arguments: Any, **options: Any) -> Any:
        return self.replaced(builtins.__import__(*arguments, **options))

    def replaced(self, value: object) -> Any:
        """What stands in for a value that a function reads: itself unless it is a function or a module."""
        if id(value) in self.kept:
            return self.kept[id(value)][1]
        if type(value) in FIXED or type(value) is np.ndarray:
            self.kept[id(value)] = value, value  # should it hold itself
            self.kept[id(value)] = value, (made := _fixed(value, self.replaced))
            return made
        if not callable(value) and not isinstance(value, ModuleType):
            return value
        made = self._made(value)
        self.kept.setdefault(id(value), (value, made))  # kept alive, so that no other object gets its id
        return self.kept[id(value)][1]

    def _made(self, value: Any) -> Any:
        module = str(getattr(value, "__module__", None) or "")
        if str(type(value).__module__).startswith(OWN_MODULES):
            return value
        if isinstance(value, ModuleType):
            name = value.__name__
            own = name.startswith(OWN_MODULES) or name.partition(".")[0] in KEPT_MODULES
            return value if own and name.partition(".")[0] not in ("math", "numpy") else StandIn(value, self.replaced)
        for table in (MATH, EXTREMES, NUMPY):
            found = _found(table, value)
            if found is not None:
                return found
        if module.startswith(OWN_MODULES) and not module.startswith(WRITTEN):
            return value
        if type(value).__module__ == LOOPS:
            return _of_one(value, self.replaced(value.kernel))
        key = (module, getattr(value, "__name__", ""))
        stand_in = STAND_INS.get(key) or OF_MEMORY.get(key)
        if stand_in is not None:
            return stand_in
        plain = getattr(value, "py_func", value)
        if isinstance(plain, FunctionType) and not module.startswith("numpy"):
            return self._copied(plain, value)
        if isinstance(value, MethodType):
            return MethodType(self.replaced(value.__func__), value.__self__)
        if isinstance(value, functools.partial):
            return functools.partial(self.replaced(value.func), *value.args, **value.keywords)
        if module.startswith("numpy") and not isinstance(value, type | np.ufunc | BuiltinFunctionType):
            return _listed(value)
        return value

    def _copied(self, function: FunctionType, original: object) -> FunctionType:
        """A copy of a function in a world where what it reads is replaced."""

        def keep(made: FunctionType) -> FunctionType:
            self.kept[id(function)], self.kept[id(original)] = (function, made), (original, made)
            return made

        return copied(function, keep, self._read, self.builtins)

    def _read(self, value: object, at: object) -> Any:
        """What stands in for a value that a function reads there."""
        if self.g is None or self.closed is None or at not in self.closed.read:
            return self.replaced(value)
        self.closed.left.discard(at)
        number, plain = self.closed.read[at]
        return Tracer(self.g, self.g.const(number), plain)


def copied(
    function: FunctionType, keep: Callable[[FunctionType], Any], replaced: Callable[[Any, Any], Any],
    builtins: object = None,
) -> Any:  # fmt: skip
    """A copy of a function in a world of its own, where what it reads is ``replaced(value, at)``, as of ``jit.Made``.

    ``keep`` is given the copy before anything is replaced, so that functions may call each other and themselves; what
    it returns is returned.
    """
    world, cells = dict(function.__globals__), tuple(CellType() for _ in function.__closure__ or ())
    if builtins is not None:
        world["__builtins__"] = builtins
    defaults = enumerate(function.__defaults__ or ())
    given = tuple(replaced(x, (id(function), k)) if isinstance(x, float) else x for k, x in defaults) or None
    copy = FunctionType(function.__code__, world, function.__name__, given, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    made = keep(copy)
    for cell, old in zip(cells, function.__closure__ or (), strict=True):
        try:
            cell.cell_contents = replaced(old.cell_contents, id(old))
        except ValueError:  # an empty cell
            continue
    for name in sorted(jit.global_names(function.__code__) & function.__globals__.keys()):
        world[name] = replaced(function.__globals__[name], (id(function.__globals__), name))
    return made


def _found(table: dict[Any, Any], value: object) -> Any:
    try:
        return table.get(value)
    except TypeError:  # it cannot be hashed
        return None


def rewired(function: Callable[..., Any], g: Graph | None = None) -> Callable[..., Any]:
    """A copy of a function that can be run on tracers; the closed numbers of a graph stand for those that it reads."""
    plain = getattr(function, "py_func", function)
    ours = str(type(plain).__module__).startswith(OWN_MODULES)
    if not ours and not isinstance(plain, FunctionType | MethodType | functools.partial):
        raise NotTraceable(f"it is no plain function but of type {type(function).__name__!r}")
    for one in findings(plain):
        if one.kind != "argument":  # arguments are made for each tracing
            raise NotTraceable(f"it {one.what}", one.line)
    return Rewiring(g).replaced(plain)


def user_line(problem: BaseException, ours: str) -> str:
    """File and line, "orbit.py:12", of the user's code in which an exception was raised; empty if nowhere in it."""
    line, frame = "", problem.__traceback__
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        library = file.startswith((ours, sys.base_prefix, "<__array")) or "/site-packages/" in file
        library = library or str(frame.tb_frame.f_globals.get("__name__", "")).startswith(WRITTEN)
        if not library:
            line = f"{file.rsplit('/', 1)[-1]}:{frame.tb_lineno}"
        frame = frame.tb_next
    return line


def indexes(problem: BaseException, array: object) -> bool:
    """Whether an exception was raised by an index of this very array, as far as the source tells."""
    frame: Any = problem.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    code = frame.tb_frame.f_code
    line, last, begin, end = list(code.co_positions())[frame.tb_lasti // 2]
    with contextlib.suppress(SyntaxError):
        text = (
            linecache.getline(code.co_filename, line or 0).encode()[begin or 0 : end].decode() if line == last else ""
        )
        read = ast.parse(text.strip() or "0", mode="eval").body
        if isinstance(read, ast.Subscript) and isinstance(read.value, ast.Name):
            return frame.tb_frame.f_locals.get(read.value.id) is array
    return False
