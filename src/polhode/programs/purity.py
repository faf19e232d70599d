"""What a function of a user does besides returning numbers, read from its source before it is ever called.

A function that is traced or compiled is not run as Python runs it: it is called on tracers, in any order, more often
than a run has steps. That is the same only if a call depends on its arguments alone and leaves nothing behind. The
reader walks through the source of the function and of all plain functions that it reaches, with the present values of
globals, closures and defaults, and follows which names stand for objects that outlive a call. Nothing is called.
Without source the bytecode decides, more strictly.
"""

from __future__ import annotations

import ast
import builtins
import collections
import functools
import inspect
import sys
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from polhode.kernel.jit import python_of
from polhode.programs.purity_rules import (
    ADDERS,
    ARGUMENT,
    CAREFUL,
    CHANGERS,
    CONTAINERS,
    MOST_ELEMENTS,
    MOST_PASSES,
    OPERATORS,
    OUTSIDE,
    PLAIN,
    REFLECTING,
    TELLING,
    UNKNOWN,
    VIEWS,
    WHOLE,
    WRITERS,
    Function,
    codes,
    full,
    narrow,
    narrow_kind,
    node_of,
    of_a_user,
    read_bytecode,
    unbounded,
    whole,
)


class Finding(NamedTuple):
    """What keeps a function from being traced or compiled."""

    # "memory" (what it leaves behind it reads again), "outside" (random numbers, clocks, files), "log" (what it leaves
    # behind it does not read), "handler" (exceptions), "integers" (beyond 63 bits, divided by zero), "argument" (it
    # writes to the parameters), "generator" or "unknown" (an object that cannot be looked into)
    kind: str
    what: str  # A clause about the function: "writes to 'on'"
    line: str  # where: "law.py:12"


class Fresh(NamedTuple):
    """A tuple, list or dictionary that the call makes, with what its elements may be."""

    inside: frozenset[int]


class Inner(NamedTuple):
    """A function that the call defines, with the body in which it does."""

    node: Function
    body: _Body


Given = list[frozenset[int]] | None
"""Arguments of a call, what each may be; None of one by the run, whose arguments are copies."""
NEW: frozenset[int] = frozenset()
"""What a value may be if it is a number or made by the call: none of the objects that outlive it."""


def findings(function: object) -> tuple[Finding, ...]:
    """All findings about a function and what it reaches, the worst first; empty for a pure one."""
    if str(getattr(function, "__module__", "")).startswith("polhode."):
        return ()
    reader = _Reader()
    reader.called(function, None, {}, "")
    order = ("memory", "outside", "log")
    found = (one if key not in reader.read else one._replace(kind="memory") for one, key in reader.written)
    return tuple(sorted(dict.fromkeys(found), key=lambda one: order.index(one.kind) if one.kind in order else 3))


def handed_over(writing: object, reading: object) -> Finding | None:
    """What a function leaves behind that another one reads."""
    first, second = _Reader(), _Reader()
    first.called(writing, None, {}, "")
    second.called(reading, None, {}, "")
    return next((one for one, key in first.written if key is not None and key in second.read), None)


class _Reader:
    """What is known of the objects that a function reaches; ``written`` pairs findings with what was written to."""

    def __init__(self) -> None:
        self.written: list[tuple[Finding, Any]] = []
        self.read: set[Any] = set()
        self.objects: dict[int, Any] = {id(UNKNOWN): UNKNOWN, id(ARGUMENT): ARGUMENT}
        self.literals: dict[int, Any] = {}
        self.methods: dict[Any, Any] = {}
        self.results: dict[Any, frozenset[int]] = {}

    def found(self, kind: str, what: str, line: str | None, key: object = None) -> None:
        if line is not None:
            self.written.append((Finding(kind, what, line), key))

    # ---------------------------------------------------------- objects
    def of(self, value: object) -> frozenset[int]:
        """An object that outlives the call, as what a name may stand for."""
        if value is not UNKNOWN and (isinstance(value, PLAIN) or value is None) and not narrow_kind(value):
            return NEW
        self.objects.setdefault(id(value), value)
        return frozenset([id(value)])

    def values(self, what: Iterable[int]) -> list[Any]:
        return [self.objects[key] for key in what]

    def elements(self, what: frozenset[int]) -> frozenset[int]:
        """What the elements of containers may be."""
        found = NEW
        for value in self.values(what):
            if isinstance(value, Fresh):
                found |= value.inside
            elif isinstance(value, Inner):
                continue
            elif isinstance(value, dict | list | tuple | set | frozenset | collections.deque):
                for one in list(value.values() if isinstance(value, dict) else value)[:MOST_ELEMENTS]:
                    found |= self.of(one)
            elif value is ARGUMENT or (isinstance(value, np.ndarray) and value.dtype.kind != "O"):
                found |= self.of(value)
            elif not isinstance(value, FunctionType | type | ModuleType):
                found |= self.of(UNKNOWN)
        return found

    def attribute(self, what: frozenset[int], name: str) -> frozenset[int]:
        """What an attribute of objects may be; properties are read like calls."""
        found = NEW
        for value in self.values(what):
            if isinstance(value, Fresh | Inner):
                continue
            self.read.add(name)
            if value is UNKNOWN or value is ARGUMENT or isinstance(value, np.ndarray) or name == "__dict__":
                found |= self.of(UNKNOWN if name == "__dict__" else value)
                continue
            if isinstance(value, CONTAINERS) and name in CHANGERS:
                found |= self.of(self.methods.setdefault((id(value), name), getattr(value, name, None)))
                continue
            try:
                one = getattr(value, name) if isinstance(value, ModuleType) else inspect.getattr_static(value, name)
            except Exception:
                dynamic = inspect.getattr_static(type(value), "__getattr__", None)
                if isinstance(dynamic, FunctionType):
                    self.called(dynamic, [self.of(value), NEW], {}, "")
                found |= self.of(value)
                continue
            if isinstance(one, property | functools.cached_property):
                got = one.fget if isinstance(one, property) else one.func
                found |= self.called(got, [self.of(value)], {}, "")
            elif isinstance(one, staticmethod):
                found |= self.of(one.__func__)
            elif isinstance(one, classmethod):
                found |= self.of(MethodType(one.__func__, value if isinstance(value, type) else type(value)))
            elif isinstance(one, FunctionType) and not isinstance(value, type | ModuleType):
                found |= self.of(MethodType(one, value))
            elif type(one).__name__ in ("member_descriptor", "getset_descriptor"):
                found |= self.of(getattr(value, name, UNKNOWN))
            else:
                found |= self.of(one)
        return found

    # ---------------------------------------------------------- calls
    def called(self, function: Any, given: Given, named: dict[str, frozenset[int]], line: str | None) -> frozenset[int]:
        """What a call of an object may return; ``given`` None: by the run, whose arguments are copies."""
        function = python_of(function)
        if not isinstance(function, FunctionType | type) and hasattr(function, "__wrapped__"):  # lru_cache
            function = function.__wrapped__
        arguments = [] if given is None else given
        if isinstance(function, functools.partial):
            first = [self.of(one) for one in function.args]
            return self.called(
                function.func, first + arguments if given is not None or first else None,
                {**{k: self.of(v) for k, v in function.keywords.items()}, **named}, line,
            )  # fmt: skip
        if isinstance(function, MethodType):
            return self.called(function.__func__, [self.of(function.__self__), *arguments], named, line)
        package = str(getattr(function, "__module__", None) or type(function).__module__)
        room = package.partition(".")[0]
        if isinstance(function, FunctionType):
            if function.__module__ and room in CAREFUL and not package.startswith("numpy.random"):
                return NEW
            if room in OUTSIDE or room in TELLING:
                self.found("outside" if room in OUTSIDE else "log", f"calls {package}.{function.__name__}", line)
                return NEW
            return self.function(function, given, named)
        if isinstance(function, type):
            if room not in CAREFUL and not issubclass(function, tuple | BaseException):
                for name in ("__new__", "__init__", "__post_init__"):
                    one = inspect.getattr_static(function, name, None)
                    if isinstance(one, FunctionType):
                        self.function(one, [NEW, *arguments], named)
            return NEW
        if isinstance(function, BuiltinFunctionType) or room in CAREFUL:
            mine = type(getattr(function, "__self__", None)).__module__
            if room in OUTSIDE or any(one.startswith(("numpy.random", "random")) for one in (package, mine)):
                name = getattr(function, "__name__", type(function).__name__)
                self.found("outside", f"calls {name} of {package if room in OUTSIDE else 'random numbers'}", line)
            return NEW
        call = inspect.getattr_static(type(function), "__call__", None)
        if isinstance(call, FunctionType):
            return self.function(call, [self.of(function), *arguments], named)
        if room not in OUTSIDE:
            self.found("unknown", f"calls an object of type {type(function).__name__!r}", line)
        return NEW

    def function(self, function: FunctionType, given: Given, named: dict[str, frozenset[int]]) -> frozenset[int]:
        code = function.__code__
        cells = tuple(id(one) for one in function.__closure__ or ())
        key = code, cells, None if given is None else tuple(given), tuple(sorted(named.items()))
        if key not in self.results:
            self.results[key] = NEW  # for a function that calls itself
            node = node_of(code)
            if node is None:
                read_bytecode(self, function)
            else:
                self.results[key] = _Body(self, function, node, given, named).result
        return self.results[key]


class _Body:
    """The body of one function, read until nothing new is learned of its names, then once more for its findings."""

    def __init__(
        self, reader: _Reader, function: Any, node: Function, given: Given, named: dict[str, frozenset[int]],
    ) -> None:  # fmt: skip
        self.reader, self.function = reader, function
        self.names: dict[str, frozenset[int]] = {}
        self.wide: set[str] = set()  # names of whole numbers without a bound
        self.small: set[str] = set()  # names of small ones
        self.result = NEW
        self.file = function.__code__.co_filename.rsplit("/", 1)[-1]
        code = function.__code__
        self.free = set(code.co_freevars)
        self.local = set().union(*({*part.co_varnames, *part.co_cellvars} for part in codes(code))) - self.free
        self.outer = {name for one in ast.walk(node) if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names
                      if isinstance(one, ast.Global) or name in self.free}  # fmt: skip
        self.local -= self.outer
        self._take(node, given, named)
        self.handing: set[int] = set()
        self.reporting = False
        for _ in range(MOST_PASSES):
            before = dict(self.names), self.result, set(self.wide), set(self.small)
            self.result = self._read(node) | self.result
            if before == (self.names, self.result, self.wide, self.small):
                break
        self.reporting = True
        self.result = self._read(node) | self.result

    def _take(self, node: Function, given: Given, named: dict[str, frozenset[int]]) -> None:
        """Arguments and defaults."""
        of, code = self.reader.of, self.function.__code__
        places = code.co_varnames[: code.co_argcount]
        defaults = self.function.__defaults__ or ()
        last = places[len(places) - len(defaults) :]
        self.names |= {name: of(value) for name, value in zip(last, defaults, strict=True)}
        self.names |= {name: of(value) for name, value in (self.function.__kwdefaults__ or {}).items()}
        if given is None:  # the run gives copies of all but the parameters
            self.names |= {name: of(ARGUMENT) for name in {"parameters", "p"} & set(places)}
        else:
            self.names |= dict(zip(places, given, strict=False))
            if code.co_flags & inspect.CO_VARARGS:
                rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
                self.names[rest] = self._container(given[len(places) :], node)
        self.names |= named

    def _container(self, parts: Iterable[frozenset[int]], node: object) -> frozenset[int]:
        """A new container with these elements; one for each place in the source."""
        inside = NEW.union(*parts)
        if not inside:
            return NEW
        kept = self.reader.literals.get(id(node))
        if kept is None or kept.inside != inside:
            self.reader.literals[id(node)] = kept = Fresh(inside)
        return self.reader.of(kept)

    def _read(self, node: Function) -> frozenset[int]:
        """Read a body; what it is, if it is an expression."""
        if isinstance(node, ast.Lambda):
            return self.of(node.body)
        for one in node.body:
            self.statement(one)
        return NEW

    def found(self, kind: str, what: str, node: ast.stmt | ast.expr, key: object = None) -> None:
        if self.reporting:
            self.reader.found(kind, what, f"{self.file}:{node.lineno}", key)

    def _integers(self, left: ast.expr, op: ast.operator, right: ast.expr, node: ast.stmt | ast.expr) -> None:
        if told := unbounded(left, op, right, self):
            self.found("integers", told, node)

    # ---------------------------------------------------------- statements
    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._inner(node)
            case ast.Assign():
                for target in node.targets:
                    self.bind(target, self.of(node.value), node.value)
            case ast.AnnAssign(value=ast.expr()):
                self.bind(node.target, self.of(node.value), node.value)
            case ast.AugAssign():
                self.augmented(node)
            case ast.Return():
                self.result |= self.of(node.value)
            case ast.Delete():
                for target in node.targets:
                    if isinstance(target, ast.Attribute | ast.Subscript):
                        self.stored(target)
            case ast.Import() | ast.ImportFrom():
                self.imported(node)
            case ast.ClassDef():
                self.found("unknown", f"defines the class {node.name}", node)
            case _:
                self._begun(node)
                for _, value in ast.iter_fields(node):
                    self._below(value)

    def _begun(self, node: ast.stmt) -> None:
        """What a statement with others inside does itself."""
        match node:
            case ast.For():
                self.bind(node.target, self.reader.elements(self.of(node.iter)), None)
                if isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) in ("range", "enumerate"):
                    self.small |= {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
            case ast.Try() | ast.TryStar() if node.handlers:
                self.found("handler", "handles exceptions (try, except)", node)
            case ast.With() | ast.AsyncWith():
                self._with(node)
            case ast.Match():
                subject = self.of(node.subject)
                for one in ast.walk(node):
                    if isinstance(one, ast.MatchAs | ast.MatchStar) and one.name:
                        self._name_is(one.name, subject | self.reader.elements(subject))
                    elif isinstance(one, ast.MatchMapping) and one.rest:
                        self._name_is(one.rest, self.reader.elements(subject))

    def _below(self, value: object) -> None:
        for one in value if isinstance(value, list) else [value]:
            match one:
                case ast.stmt():
                    self.statement(one)
                case ast.expr():
                    self.of(one)
                case ast.ExceptHandler() | ast.match_case():
                    for _, part in ast.iter_fields(one):
                        self._below(part)

    def _with(self, node: Any) -> None:
        for item in node.items:
            one = item.context_expr
            name = ast.unparse(one.func) if isinstance(one, ast.Call) else ast.unparse(one)
            quiet = name in ("np.errstate", "numpy.errstate") and all(
                isinstance(word.value, ast.Constant) and word.value.value in ("ignore", "warn") for word in one.keywords
            )
            if not quiet:
                self.found("handler", f"runs with {ast.unparse(one)}", node)
            self.of(one)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, self.reader.of(UNKNOWN), None)

    def _inner(self, node: Function) -> frozenset[int]:
        """A function defined in the body: its body shares the names of this one."""
        what = self.reader.of(self.reader.literals.setdefault(id(node), Inner(node, self)))
        if not isinstance(node, ast.Lambda):
            self._name_is(node.name, what)
        arguments = node.args
        places = [*arguments.posonlyargs, *arguments.args]
        for one, default in zip(places[len(places) - len(arguments.defaults) :], arguments.defaults, strict=True):
            self._name_is(one.arg, self.of(default))
        self._read(node)
        return what

    def _hand(self, inner: Inner, arguments: list[frozenset[int]], named: dict[str, frozenset[int]]) -> frozenset[int]:
        """Arguments for a function defined in a body; what it may return is what that body may return."""
        body, node = inner.body, inner.node
        places = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        for name, what in (*zip(places, arguments, strict=False), *named.items()):
            body._name_is(name, what)
        if id(node) in body.handing:  # it calls itself
            return NEW
        body.handing.add(id(node))
        returns = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
        found = NEW.union(*[body.of(one) for one in ([node.body] if isinstance(node, ast.Lambda) else returns)])
        body.handing.discard(id(node))
        return found

    def imported(self, node: ast.Import | ast.ImportFrom) -> None:
        for one in node.names:
            if isinstance(node, ast.Import):
                name = one.asname or one.name.partition(".")[0]
                value = sys.modules.get(one.name if one.asname else name, UNKNOWN)
            else:
                name, value = one.asname or one.name, getattr(sys.modules.get(node.module or ""), one.name, UNKNOWN)
            self._name_is(name, self.reader.of(value))

    def _name_is(self, name: str, what: frozenset[int]) -> None:
        self.names[name] = self.names.get(name, NEW) | what

    def _outer_key(self, name: str) -> tuple[int, str]:
        """A name that outlives the call, as what is read and written."""
        code = self.function.__code__
        if name in self.free:
            return id(self.function.__closure__[code.co_freevars.index(name)]), "cell"
        return id(self.function.__globals__), name

    def bind(self, target: ast.expr, what: frozenset[int], value: Any) -> None:
        if isinstance(target, ast.Name):
            if target.id in self.outer:
                self.found(
                    "log", f"writes to {target.id!r}, which outlives the call", target, self._outer_key(target.id)
                )
            self._name_is(target.id, what)
            kind = whole(value, self) if value is not None else ""
            (self.wide if kind == "wide" else self.small if kind == "small" else set()).add(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            known = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            for k, one in enumerate(target.elts):
                if known and not isinstance(one, ast.Starred):
                    self.bind(one, self.of(value.elts[k]), value.elts[k])
                else:
                    self.bind(one, self.reader.elements(what), None)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, what, None)
        else:
            self.stored(target)

    def stored(self, target: Any) -> None:
        """A store to an item or an attribute."""
        base = self.base(target.value)
        if isinstance(target, ast.Subscript):
            self.of(target.slice)
        for value in self.reader.values(base):
            if isinstance(value, Fresh | Inner):
                continue
            text = ast.unparse(target)
            if value is ARGUMENT:
                self.found("argument", f"writes to {text}", target)
                continue
            attribute = isinstance(target, ast.Attribute)
            key = target.attr if attribute else id(value)
            kind = "memory" if value is UNKNOWN else "log"
            self.found(kind, f"writes to {text}, which outlives the call", target, key)
            one = inspect.getattr_static(type(value), "__setattr__" if attribute else "__setitem__", None)
            if isinstance(one, FunctionType):
                self.reader.called(MethodType(one, value), [NEW, NEW], {}, None)

    def augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        self.of(node.value)
        self._integers(target, node.op, node.value, node)
        if not isinstance(target, ast.Name):
            self.stored(target)
            return
        if target.id in self.outer:
            self.found("log", f"writes to {target.id!r}, which outlives the call", node, self._outer_key(target.id))
        for value in self.reader.values(self.names.get(target.id, NEW)):
            if value is UNKNOWN or isinstance(value, CONTAINERS):
                self.found("memory", f"changes {target.id!r} in place, which outlives the call", node)
            elif value is ARGUMENT:
                self.found("argument", f"changes {target.id!r} in place", node)
        if whole(node.value, self) and isinstance(node.op, ast.Mult | ast.Pow | ast.LShift) and target.id in self.small:
            self.found("integers", "multiplies whole numbers without a bound", node)

    # ---------------------------------------------------------- expressions
    def base(self, node: ast.expr) -> frozenset[int]:
        """What is written to: not read thereby."""
        before = set(self.reader.read)
        what = self.of(node)
        if isinstance(node, ast.Name | ast.Attribute):
            self.reader.read &= before | {key for key in self.reader.read if not isinstance(key, int)}
        return what

    def of(self, node: ast.expr | None) -> frozenset[int]:
        """What an expression may be, of the objects that outlive the call."""
        reader = self.reader
        match node:
            case ast.Name():
                return self._used(self._named(node.id), node)
            case ast.Attribute():
                return self._used(reader.attribute(self.of(node.value), node.attr), node)
            case ast.Subscript():
                base = self.of(node.value)
                self.of(node.slice)
                self.operated(base, "__getitem__")
                part = any(isinstance(one, ast.Slice) or (isinstance(one, ast.Constant) and one.value is Ellipsis)
                           for one in ast.walk(node.slice))  # fmt: skip
                if not part:  # an element of a vector is a number
                    base = frozenset(k for k in base if getattr(reader.objects[k], "ndim", 2) != 1)
                return self._used(reader.elements(base), node, False)
            case ast.Tuple() | ast.List() | ast.Set():
                return self._container([self.of(one) for one in node.elts], node)
            case ast.Dict():
                for one in node.keys:
                    self.of(one)
                return self._container([self.of(one) for one in node.values], node)
            case ast.Call():
                return self.call(node)
            case ast.Lambda():
                return self._inner(node)
            case ast.IfExp():
                self.of(node.test)
                return self.of(node.body) | self.of(node.orelse)
            case ast.BoolOp():
                return NEW.union(*[self.of(one) for one in node.values])
            case ast.NamedExpr():
                what = self.of(node.value)
                self.bind(node.target, what, node.value)
                return what
            case ast.Starred():
                return self.of(node.value)
            case ast.BinOp():
                self._integers(node.left, node.op, node.right, node)
                name = OPERATORS.get(type(node.op).__name__, "add")
                self.operated(self.of(node.left), f"__{name}__")
                self.operated(self.of(node.right), f"__r{name}__")
            case ast.Compare():
                self.operated(self.of(node.left), "__eq__")
                for one in node.comparators:
                    self.of(one)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for loop in node.generators:
                    self.bind(loop.target, reader.elements(self.of(loop.iter)), None)
                    for condition in loop.ifs:
                        self.of(condition)
                parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                return self._container([self.of(one) for one in parts], node)
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                if len(reader.results) <= 1:
                    self.found("generator", "is a generator", node)
                return self.of(node.value)
            case ast.expr():
                for _, value in ast.iter_fields(node):
                    self._below(value)
        return NEW

    def _used(self, what: frozenset[int], node: ast.expr, read: bool = True) -> frozenset[int]:
        """What is used, and found out if it is an iterator, which moves on, or of numbers of few bits."""
        self.reader.read |= what if read else NEW
        for one in self.reader.values(what):
            if isinstance(one, Iterator):
                self.found("memory", f"uses the iterator {ast.unparse(node)}, which outlives the call", node)
            elif kind := narrow_kind(one):
                self.found("integers", f"reads {ast.unparse(node)} of the kind {kind}, in which compiled code does not "
                                       "compute (numbers of 64 bits may be compiled)", node)  # fmt: skip
        return what

    def _named(self, name: str) -> frozenset[int]:
        if name in self.local:
            return self.names.get(name, NEW)
        self.reader.read.add(self._outer_key(name))
        what = self.names.get(name, NEW)
        code = self.function.__code__
        if name in self.free:
            cell = self.function.__closure__[code.co_freevars.index(name)]
            return what | (self.reader.of(cell.cell_contents) if full(cell) else NEW)
        if name in self.function.__globals__:
            return what | self.reader.of(self.function.__globals__[name])
        return what | (self.reader.of(getattr(builtins, name)) if hasattr(builtins, name) else NEW)

    def operated(self, what: frozenset[int], name: str) -> None:
        """An operator of objects of the user's classes."""
        for value in self.reader.values(what):
            one = inspect.getattr_static(type(value), name, None)
            if isinstance(one, FunctionType) and str(type(value).__module__).partition(".")[0] not in CAREFUL:
                self.reader.called(MethodType(one, value), [NEW], {}, "" if self.reporting else None)

    def call(self, node: ast.Call) -> frozenset[int]:
        reader, function = self.reader, node.func
        method = isinstance(function, ast.Attribute)
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        text = ast.unparse(function)
        adds = method and name in ADDERS
        base = (self.base if adds else self.of)(function.value) if isinstance(function, ast.Attribute) else NEW
        arguments = [self.of(one) for one in node.args]
        named = {one.arg: self.of(one.value) for one in node.keywords if one.arg}
        for one in node.keywords:
            if one.arg is None:
                arguments.append(reader.elements(self.of(one.value)))
        huge = any(isinstance(one, ast.Constant) and isinstance(one.value, int | float) and abs(one.value) >= 2**53
                   for a in node.args for one in ast.walk(a))  # fmt: skip
        if name in WHOLE and huge:
            self.found("integers", "makes whole numbers that may be beyond 63 bits", node)
        if kind := narrow(node):
            self.found("integers", f"computes in {kind}, as compiled code does not", node)
        result = NEW
        if method:
            if name in CHANGERS:
                built_in = (list, dict, set, bytearray, collections.deque)  # whose methods are objects: see _follow
                self._changed(
                    frozenset(key for key in base if not isinstance(reader.objects[key], built_in)), name, text, node
                )
            if name in VIEWS and not any(isinstance(one, ModuleType) for one in reader.values(base)):
                whole = name not in ("get", "setdefault", "values", "items", "pop", "__getitem__")
                result |= base if whole else reader.elements(base)
        elif name not in self.local:
            if name == "print":
                self.found("log", "prints", node)
            elif name in REFLECTING:
                self.found("outside", f"calls {name}", node)
        if named.get("out"):
            self.found("memory", "writes to an array that outlives the call (out=)", node)
        if name in VIEWS:
            result = result.union(*arguments, *map(reader.elements, arguments))
        targets = reader.attribute(base, name) if method else self.of(function)
        if name in WRITERS and arguments and arguments[0] and not any(map(of_a_user, reader.values(targets))):
            self.found("memory", f"calls {text}, which writes to what outlives the call", node)
        if isinstance(function, ast.Call):  # itemgetter("n")(kept)
            result = result.union(*arguments, *map(reader.elements, arguments))
        return result | self._follow(targets, arguments, named, node)

    def _changed(self, base: frozenset[int], name: str, text: str, node: ast.Call) -> None:
        for value in self.reader.values(base):
            if value is ARGUMENT:
                self.found("argument", f"calls {text}", node)
            elif value is UNKNOWN:
                self.found("memory", f"calls {text}, which changes what outlives the call", node)
            elif isinstance(value, CONTAINERS) or (name in ADDERS and hasattr(value, "write")):
                kind = "log" if name in ADDERS else "memory"
                self.found(kind, f"calls {text}, which changes what outlives the call", node, id(value))

    def _follow(
        self, targets: frozenset[int], arguments: list[Any], named: dict[str, Any], node: Any
    ) -> frozenset[int]:
        """What calls of these objects may return; functions handed to map, reduce, partial are called, too."""
        reader, line = self.reader, f"{self.file}:{node.lineno}" if self.reporting else None
        result = NEW
        for value in reader.values(targets):
            if value is UNKNOWN or value is ARGUMENT or isinstance(value, np.ndarray | Fresh):
                continue
            if isinstance(value, Inner):
                result |= self._hand(value, arguments, named)
                continue
            if isinstance(value, np.ufunc) and any(arguments[value.nin :]):
                self.found("memory", "writes to an array that outlives the call", node)
            if not isinstance(python_of(value), FunctionType | MethodType):
                for k, one in enumerate([*arguments, *named.values()]):
                    for handed in map(python_of, reader.values(one)):
                        whole = value is functools.partial
                        rest = [a if whole else reader.elements(a) for a in arguments[k + 1 :]]
                        if isinstance(handed, Inner):
                            self._hand(handed, rest, {})
                        elif isinstance(handed, FunctionType | MethodType):
                            result |= reader.called(handed, rest, {}, line)
                        else:
                            self._bound(handed, node)
            if callable(value):
                self._bound(value, node)
                result |= reader.called(value, arguments, named, line)
        return result

    def _bound(self, method: object, node: ast.Call) -> None:
        """A call of a method of a container, by whatever name."""
        owner = getattr(method, "__self__", None)
        if isinstance(method, BuiltinFunctionType) and method.__name__ in CHANGERS and isinstance(owner, CONTAINERS):
            text = ast.unparse(node.func) if isinstance(node, ast.Call) else method.__name__
            self._changed(self.reader.of(owner), method.__name__, text, node)
