"""Translates plain Python functions to LLVM, past numba's type inference.

Kernels are written in a small part of Python: numbers, tuples of them, pointers and arrays read and written by index,
``if``, ``for ... in range``, ``while``, calls of helpers and of roles. The types of the arguments are known, so all
others follow forwards, statement by statement, while the code is written. A function is written once for each
combination of types (and of functions) that it is called with.

A variable that is set in one block only is a value; others have a slot in memory, which LLVM turns into registers.
Where a variable turns out to need a slot, or a wider type than its first value has, the function is written again.

A role may fail with an exception (a user's function). Functions that call one return a code beside their value.
"""

from __future__ import annotations

import ast
import builtins
import functools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from polhode.kernel import simd
from polhode.kernel.source import Unsupported, tree_of
from polhode.kernel.values import (
    BOOL,
    EXTERNS,
    FLOAT,
    I32,
    INT,
    INTRINSICS,
    NOTHING,
    TO_INTEGER,
    Arithmetic,
    F,
    I,
    Known,
    Row,
    Scalar,
    Tup,
    Value,
    View,
    is_number,
    leaves_of,
    opened,
    rebuilt,
    settled,
    shape_of,
)

CODE = I32
NO_ERROR = (0, -2)
"""Codes of numba's calling convention for success (with a value, with None)."""
ROUNDED = ("fadd", "fsub", "fmul", "fdiv", "frem", "fcmp")
SETTLED = {"nopython", "nogil", "no_cpython_wrapper", "no_cfunc_wrapper", "error_model", "fastmath", "forceinline"}
"""Options of a helper that are known here."""
LONGEST_NAME = 60


class Again(Exception):
    """A function, known by its notes, has to be written again, with more known about it."""


class Unfinished(Unsupported):
    """A function calls itself before the type of its result is known."""


class Options:
    """What the options of a helper say about its code."""

    __slots__ = ("contract", "inlined")

    def __init__(self, given: dict[str, Any]) -> None:
        fast = given.get("fastmath", False)
        unknown = {name for name in given if name not in SETTLED and given[name]}
        if given.get("error_model") != "numpy" or unknown or fast not in (False, {"contract"}):
            raise Unsupported("a function compiled with other options")
        self.contract, self.inlined = bool(fast), bool(given.get("forceinline"))


class Written:
    """A function that has been written: the LLVM function, its result, and whether it may fail."""

    __slots__ = ("fails", "function", "result")

    def __init__(self, function: Any, result: Value, fails: bool) -> None:
        self.function, self.result, self.fails = function, result, fails


class Unit:
    """One LLVM module and the functions in it."""

    def __init__(self, context: Any, typing: Any, module: Any) -> None:
        self.context, self.typing, self.module = context, typing, module
        self.functions: dict[Any, Any] = {}
        self.kept: list[Any] = []
        self.failure = context.call_conv.get_function_type(types.none, ()).args[1]

    def written(self, function: Any, options: Options, arguments: list[Value]) -> Written:
        """The LLVM function for arguments of these shapes."""
        key = (function, options.contract, options.inlined, tuple(shape_of(a) for a in arguments))
        if key in self.functions:
            found = self.functions[key]
            if isinstance(found, Written):
                return found
            found.calls_itself = True
            if found.result is None or found.whole:
                raise Unfinished
            found.whole = True
            raise Again(found)
        self.kept.append(arguments)  # shapes know objects by address
        notes = Notes()
        while True:
            self.functions[key] = notes
            try:
                found = Writer(self, function, options, arguments, notes).write(key)
            except Again as again:
                del self.functions[key]
                if again.args[0] is not notes:
                    raise
                continue
            except Unfinished:
                del self.functions[key]
                raise
            except Unsupported as problem:
                if problem.where is None:
                    problem.where = f"{function.__qualname__}, line {notes.line}"
                raise
            if notes.calls_itself and not notes.whole:
                notes.whole = True  # written again, now that the result is known
                del self.module.globals[found.function.name]
                continue
            self.functions[key] = found
            return found

    def writer(self, function: Any, options: Options) -> Writer:
        """A writer without a function, for code around one."""
        return Writer(self, function, options, [], Notes())


class Notes:
    """What is learnt about a function while it is written: variables with a slot, their types, the result."""

    def __init__(self) -> None:
        self.slotted: set[str] | None = None
        self.kinds: dict[str, Value] = {}
        self.result: Value | None = None
        self.fails = False
        self.line = 0
        self.calls_itself = self.whole = False


class Writer(Arithmetic):
    """Writes one function."""

    def __init__(self, unit: Unit, function: Any, options: Options, arguments: list[Value], notes: Notes) -> None:
        super().__init__(unit.context)
        self.unit, self.source, self.options, self.arguments, self.notes = unit, function, options, arguments, notes
        self.tree = tree_of(function.__code__)
        self.code = function.__code__
        self.known = _cells(function)
        self.bound: dict[str, tuple[Value, int]] = {}
        self.slots: dict[str, tuple[Value, list[Any]]] = {}
        self.open: list[int] = [0]
        self.blocks = 0
        self.loops: list[tuple[Any, Any]] = []
        self.failures: list[tuple[Any, Any]] = []
        if notes.slotted is None:
            notes.slotted = set(getattr(self.tree, "several", ()))

    # -------------------------------------------------------------- the function
    def write(self, key: Any) -> Written:
        """Write the function; its type is filled in at the end, when its result is known."""
        module, name = self.unit.module, self.code.co_qualname[-LONGEST_NAME:]
        leaves = [leaf for a in self.arguments for leaf in leaves_of(a)]
        kinds = [self.unit.failure] * self.notes.fails + [leaf.type for leaf in leaves]
        name = module.get_unique_name("".join(c if c.isalnum() else "_" for c in name))
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
        if self.notes.whole:
            self.give_type(function)
            self.unit.functions[key] = Written(function, self.notes.result or NOTHING, self.notes.fails)
        try:
            return self.fill(function)
        except (Again, Unsupported):
            del module.globals[name]
            raise

    def fill(self, function: Any) -> Written:
        self.entry = function.append_basic_block("entry")
        self.builder.position_at_end(function.append_basic_block("body"))
        begin = self.builder.block
        given = iter(function.args[1:] if self.notes.fails else function.args)
        self.failure = function.args[0] if self.notes.fails else None
        if self.code.co_argcount != len(self.arguments) or self.code.co_kwonlyargcount or self.code.co_flags & 0x0C:
            raise Unsupported("arguments by star")
        for name, argument in zip(self.code.co_varnames, self.arguments, strict=False):
            self.assign(name, rebuilt(argument, given))
        if isinstance(self.tree, ast.Lambda):
            self.give_back(self.value(self.tree.body))
        elif not self.body(self.tree.body):
            self.give_back(NOTHING)
        with self.builder.goto_block(self.entry):
            self.builder.branch(begin)
        result = NOTHING if self.notes.result is None else self.notes.result
        for block, code in self.failures:
            self.builder.position_at_end(block)
            self.leave([code, *(ir.Constant(leaf.type, ir.Undefined) for leaf in leaves_of(result))])
        self.give_type(function)
        function.linkage = "internal"
        function.attributes.add("nounwind")
        if self.options.inlined:
            function.attributes.add("alwaysinline")
        if self.options.contract:
            contract(function)
        return Written(function, result, self.notes.fails)

    def give_type(self, function: Any) -> None:
        """Fill in the type of the result of a function."""
        kinds = [CODE] * self.notes.fails + [leaf.type for leaf in leaves_of(self.notes.result or NOTHING)]
        kind = ir.VoidType() if not kinds else kinds[0] if len(kinds) == 1 else ir.LiteralStructType(kinds)
        function.ftype = ir.FunctionType(kind, function.ftype.args)
        function.type = function.ftype.as_pointer()
        function.return_value = ir.values.ReturnValue(function, kind)

    def give_back(self, value: Value) -> None:
        """Return a value."""
        value = settled(value)
        if self.notes.result is None:
            self.notes.result = value
        like = self.common(self.notes.result, value)
        if shape_of(like) != shape_of(self.notes.result):
            self.notes.result = like
            raise Again(self.notes)
        leaves = leaves_of(self.converted(value, like))
        self.leave([ir.Constant(CODE, 0)] * self.notes.fails + leaves)

    def leave(self, leaves: list[Any]) -> None:
        if not leaves:
            self.builder.ret_void()
        elif len(leaves) == 1:
            self.builder.ret(leaves[0])
        else:
            whole = ir.Constant(ir.LiteralStructType([leaf.type for leaf in leaves]), ir.Undefined)
            for k, leaf in enumerate(leaves):
                whole = self.builder.insert_value(whole, leaf, k)
            self.builder.ret(whole)

    # -------------------------------------------------------------- variables
    @contextmanager
    def block(self) -> Iterator[None]:
        """A block of statements that may be carried out or not: what is set in it alone is unknown after it."""
        self.blocks += 1
        self.open.append(self.blocks)
        yield
        del self.open[-1]

    def assign(self, name: str, value: Value) -> None:
        """Set a variable."""
        if name in self.known:
            raise Unsupported("a variable of an enclosing function is set")
        if name not in self.notes.slotted:  # type: ignore[operator]
            self.bound[name] = (value, self.open[-1])
            return
        value = settled(value)
        if name not in self.slots:
            like = self.notes.kinds.get(name, value)
            like = self.notes.kinds[name] = self.common(like, value)
            with self.builder.goto_block(self.entry):
                slots = [self.builder.alloca(leaf.type) for leaf in leaves_of(like)]
            self.slots[name] = (like, slots)
        like, slots = self.slots[name]
        wider = self.common(like, value)
        if shape_of(wider) != shape_of(like):
            self.notes.kinds[name] = wider
            raise Again(self.notes)
        for leaf, slot in zip(leaves_of(self.converted(value, like)), slots, strict=True):
            self.builder.store(leaf, slot)

    def variable(self, name: str) -> Value:
        """The value of a name."""
        if name in self.slots:
            like, slots = self.slots[name]
            return rebuilt(like, iter([self.builder.load(slot) for slot in slots]))
        if name in self.bound:
            value, block = self.bound[name]
            if block in self.open:
                return value
            self.notes.slotted.add(name)  # type: ignore[union-attr]
            raise Again(self.notes)
        if " " in name or name in self.code.co_varnames:
            raise Unsupported(f"{name} is read before it is set")
        if name in self.known:
            return Known(self.known[name])
        if name in self.source.__globals__:
            return Known(self.source.__globals__[name])
        if hasattr(builtins, name):
            return Known(getattr(builtins, name))
        raise Unsupported(f"the name {name} is not known")

    # -------------------------------------------------------------- statements
    def body(self, statements: list[ast.stmt]) -> bool:
        """Write statements; whether the last of them leaves the function or the loop's body."""
        return any(self.statement(s) for s in statements)

    def statement(self, s: ast.stmt) -> bool:
        kind = type(s).__name__
        method = getattr(self, f"_{kind}", None)
        self.notes.line = s.lineno
        if method is None:
            raise Unsupported(f"the statement {kind}")
        return bool(method(s))

    def _Expr(self, s: ast.Expr) -> None:
        if not isinstance(s.value, ast.Constant):
            self.value(s.value)

    def _Pass(self, s: ast.Pass) -> None:
        pass

    def _Assign(self, s: ast.Assign) -> None:
        value = self.value(s.value)
        for target in s.targets:
            self.store(target, value)

    def _AnnAssign(self, s: ast.AnnAssign) -> None:
        if s.value is not None:
            self.store(s.target, self.value(s.value))

    def _AugAssign(self, s: ast.AugAssign) -> None:
        operator = type(s.op).__name__
        if isinstance(s.target, ast.Name):
            old = self.variable(s.target.read)  # type: ignore[attr-defined]
            self.assign(s.target.id, self.binary(operator, old, self.value(s.value)))
        elif isinstance(s.target, ast.Subscript):
            slot, kind = self.slot(s.target)
            old = Scalar(kind, self.builder.load(slot))
            self.builder.store(self.cast(self.binary(operator, old, self.value(s.value)), kind), slot)
        else:
            raise Unsupported("an attribute is set")

    def store(self, target: ast.expr, value: Value) -> None:
        """Set a variable, several, or a slot in memory."""
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, ast.Tuple):
            parts = opened(value)
            if not isinstance(parts, Tup) or len(parts.parts) != len(target.elts):
                raise Unsupported("unpacking of something else than a tuple")
            for inner, part in zip(target.elts, parts.parts, strict=True):
                self.store(inner, part)
        elif isinstance(target, ast.Subscript):
            slot, kind = self.slot(target)
            self.builder.store(self.cast(value, kind), slot)
        else:
            raise Unsupported("an attribute is set")

    def _Return(self, s: ast.Return) -> bool:
        self.give_back(NOTHING if s.value is None else self.value(s.value))
        return True

    def _Break(self, s: ast.Break) -> bool:
        self.builder.branch(self.loops[-1][1])
        return True

    def _Continue(self, s: ast.Continue) -> bool:
        self.builder.branch(self.loops[-1][0])
        return True

    def _If(self, s: ast.If) -> bool:
        builder = self.builder
        test = self.test(s.test)
        if isinstance(test, bool):
            return self.body(s.body if test else s.orelse)
        then, otherwise = builder.append_basic_block(), builder.append_basic_block()
        self.forks(test, then, otherwise)
        end = builder.append_basic_block() if s.orelse else otherwise
        left = []
        for block, statements in ((then, s.body), (otherwise, s.orelse)):
            if not statements:
                left.append(False)
                continue
            builder.position_at_end(block)
            depth = len(self.open), len(self.loops)
            try:
                with self.block():
                    left.append(self.body(statements))
            except Unfinished:
                del self.open[depth[0] :], self.loops[depth[1] :]
                builder.unreachable()
                left.append(True)
            if not left[-1]:
                builder.branch(end)
        builder.position_at_end(end)
        if all(left):
            builder.unreachable()
        return all(left)

    def _While(self, s: ast.While) -> bool:
        if s.orelse:
            raise Unsupported("else after a loop")
        builder = self.builder
        head, body, end = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        with self.block():
            test = self.test(s.test)
            if isinstance(test, bool):
                builder.branch(body if test else end)
            else:
                self.forks(test, body, end)
            builder.position_at_end(body)
            self.loops.append((head, end))
            with self.block():
                if not self.body(s.body):
                    builder.branch(head)
            self.loops.pop()
        builder.position_at_end(end)
        if test is True and not any(_leaves_loop(part) for part in s.body):
            builder.unreachable()
            return True
        return False

    def _For(self, s: ast.For) -> None:
        if s.orelse or not isinstance(s.target, ast.Name):
            raise Unsupported("a loop with else, or over several variables")
        first, last, step, several = self.steps(s.iter)
        builder = self.builder
        with builder.goto_block(self.entry):
            slot = builder.alloca(I)
        builder.store(first, slot)
        head, body, after, end = (builder.append_basic_block() for _ in range(4))
        builder.branch(head)
        builder.position_at_end(head)
        builder.cbranch(builder.icmp_signed("<" if step > 0 else ">", builder.load(slot), last), body, end)
        builder.position_at_end(body)
        self.loops.append((after, end))
        with self.block():
            k = Scalar(INT, builder.load(slot))
            self.assign(s.target.id, k if several is None else self.part(several, k))
            if not self.body(s.body):
                builder.branch(after)
        self.loops.pop()
        builder.position_at_end(after)
        builder.store(builder.add(builder.load(slot), ir.Constant(I, step), flags=("nsw",)), slot)
        builder.branch(head)
        builder.position_at_end(end)

    def steps(self, e: ast.expr) -> tuple[Any, Any, int, Tup | None]:
        """First number, end and step of a loop, and the tuple whose parts it takes, if it is not over ``range``."""
        if not (isinstance(e, ast.Call) and self.is_known(e.func, range) and not e.keywords):
            several = opened(self.value(e))
            if not isinstance(several, Tup) or not several.parts:
                raise Unsupported("a loop over something else than range or a tuple")
            return ir.Constant(I, 0), ir.Constant(I, len(several.parts)), 1, several
        numbers = [self.value(a) for a in e.args]
        step: Any = numbers[2] if len(numbers) == 3 else Known(1)
        if len(numbers) not in (1, 2, 3) or not isinstance(step, Known) or not isinstance(step.it, int) or not step.it:
            raise Unsupported("a range of variable step")
        limits = [settled(x) for x in (numbers if len(numbers) > 1 else [Known(0), *numbers])[:2]]
        if any(not isinstance(x, Scalar) or x.kind not in (INT, BOOL) for x in limits):
            raise Unsupported("a range of numbers that are no integers")
        return self.cast(limits[0], INT), self.cast(limits[1], INT), step.it, None

    def _Raise(self, s: ast.Raise) -> None:
        raise Unsupported("an exception is raised")

    # -------------------------------------------------------------- conditions
    def test(self, e: ast.expr) -> Any:
        """A condition: True or False where it is known, else itself if ``forks`` can take it apart, else a bit."""
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
            inner = self.test(e.operand)
            return not inner if isinstance(inner, bool) else ("not", inner)
        if isinstance(e, ast.BoolOp):
            decides = isinstance(e.op, ast.Or)
            rest = list(e.values)
            while rest:
                first = self.test(rest[0])
                if not isinstance(first, bool):
                    return ("or" if decides else "and", [first, *rest[1:]])
                if first == decides:
                    return decides
                rest.pop(0)
            return not decides
        return self.truth(self.value(e))

    def forks(self, test: Any, then: Any, otherwise: Any) -> None:
        """End the block by a branch on what ``test`` returned."""
        builder = self.builder
        if isinstance(test, ast.AST):
            test = self.test(test)  # type: ignore[arg-type]
        if isinstance(test, bool):
            builder.branch(then if test else otherwise)
        elif not isinstance(test, tuple):
            builder.cbranch(test, then, otherwise)
        elif test[0] == "not":
            self.forks(test[1], otherwise, then)
        else:
            for part in test[1][:-1]:
                following = builder.append_basic_block()
                self.forks(part, *((then, following) if test[0] == "or" else (following, otherwise)))
                builder.position_at_end(following)
            self.forks(test[1][-1], then, otherwise)

    def joined(self, test: Any, first: Any, second: Any) -> Value:
        """The value of one of two expressions (given as functions), by a condition."""
        builder = self.builder
        starts = [builder.append_basic_block() for _ in range(2)]
        self.forks(test, *starts)
        found, ends = [], []
        for start, make in zip(starts, (first, second), strict=True):
            builder.position_at_end(start)
            with self.block():
                found.append(settled(make()))
            ends.append(builder.block)
        like = self.common(*found)
        end = builder.append_basic_block()
        leaves = []
        for value, block in zip(found, ends, strict=True):
            builder.position_at_end(block)
            leaves.append(leaves_of(self.converted(value, like)))
            builder.branch(end)
        builder.position_at_end(end)
        merged = []
        for a, b in zip(*leaves, strict=True):
            phi = builder.phi(a.type)
            phi.add_incoming(a, ends[0])
            phi.add_incoming(b, ends[1])
            merged.append(phi)
        return rebuilt(like, iter(merged))

    # -------------------------------------------------------------- expressions
    def value(self, e: ast.expr) -> Value:
        kind = type(e).__name__
        method = getattr(self, f"_{kind}", None)
        if method is None:
            raise Unsupported(f"the expression {kind}")
        return method(e)  # type: ignore[no-any-return]

    def _Constant(self, e: ast.Constant) -> Value:
        return Known(e.value)

    def _Name(self, e: ast.Name) -> Value:
        return self.variable(e.id)

    def _Tuple(self, e: ast.Tuple) -> Value:
        return Tup(self.several(e.elts))

    def several(self, elements: list[ast.expr]) -> list[Value]:
        """The values of expressions, those with a star unpacked."""
        found: list[Value] = []
        for element in elements:
            if isinstance(element, ast.Starred):
                whole = opened(self.value(element.value))
                if not isinstance(whole, Tup):
                    raise Unsupported("a star before something else than a tuple")
                found += whole.parts
            else:
                found.append(self.value(element))
        return found

    def _BinOp(self, e: ast.BinOp) -> Value:
        x = self.value(e.left)
        return self.binary(type(e.op).__name__, x, self.value(e.right))

    def _UnaryOp(self, e: ast.UnaryOp) -> Value:
        if isinstance(e.op, ast.Not):
            truth = self.truth(self.value(e.operand))
            return Known(not truth) if isinstance(truth, bool) else Scalar(BOOL, self.builder.not_(truth))
        x = self.value(e.operand)
        if isinstance(e.op, ast.USub):
            return self.negative(x)
        if isinstance(e.op, ast.Invert):
            return Known(~x.it) if isinstance(x, Known) else self.binary("BitXor", x, Known(-1))
        return self.number(x)

    def _Compare(self, e: ast.Compare) -> Value:
        x, y = self.value(e.left), self.value(e.comparators[0])
        if isinstance(e.ops[0], ast.In | ast.NotIn) and len(e.ops) == 1:
            return self.among(x, opened(y), isinstance(e.ops[0], ast.In))
        found = self.compared(type(e.ops[0]).__name__, x, y)
        for op, operand in zip(e.ops[1:], e.comparators[1:], strict=True):
            x, y = y, self.value(operand)
            then = self.compared(type(op).__name__, x, y)
            found = self.both(found, then)
        return found

    def among(self, x: Value, several: Value, wanted: bool) -> Value:
        """Whether a number is among those of a tuple."""
        if not isinstance(several, Tup):
            raise Unsupported("membership in something else than a tuple")
        found = [self.cast(self.compared("Eq", x, part), BOOL) for part in several.parts]
        test = functools.reduce(self.builder.or_, found, ir.Constant(found[0].type, 0)) if found else None
        if test is None:
            return Known(not wanted)
        return Scalar(BOOL, test if wanted else self.builder.not_(test))

    def both(self, a: Value, b: Value) -> Value:
        if isinstance(a, Known) and isinstance(b, Known):
            return Known(a.it and b.it)
        return Scalar(BOOL, self.builder.and_(self.cast(a, BOOL), self.cast(b, BOOL)))

    def _BoolOp(self, e: ast.BoolOp) -> Value:
        return self.connected(e.values, isinstance(e.op, ast.Or))

    def connected(self, values: list[ast.expr], either: bool) -> Value:
        first = self.value(values[0])
        if len(values) == 1:
            return first
        test = self.truth(first)
        if isinstance(test, bool):
            return first if test == either else self.connected(values[1:], either)
        makes = ((lambda: first), (lambda: self.connected(values[1:], either)))
        return self.joined(test, *(makes if either else makes[::-1]))

    def _IfExp(self, e: ast.IfExp) -> Value:
        test = self.test(e.test)
        if isinstance(test, bool):
            return self.value(e.body if test else e.orelse)
        return self.joined(test, lambda: self.value(e.body), lambda: self.value(e.orelse))

    def _Attribute(self, e: ast.Attribute) -> Value:
        owner = self.value(e.value)
        if isinstance(owner, Tup) and owner.cls is not None and e.attr in owner.cls._fields:
            return owner.parts[owner.cls._fields.index(e.attr)]  # type: ignore[no-any-return]
        if isinstance(owner, View):
            if e.attr == "shape":
                return Tup([Scalar(INT, n) for n in owner.lengths])
            if e.attr == "size":
                size = owner.lengths[0]
                for n in owner.lengths[1:]:
                    size = self.builder.mul(size, n)
                return Scalar(INT, size)
            if e.attr == "ndim":
                return Known(len(owner.lengths))
        if isinstance(owner, Known):
            if isinstance(owner.it, ModuleType) and hasattr(owner.it, e.attr):
                return Known(getattr(owner.it, e.attr))
            if isinstance(owner.it, tuple) and e.attr in getattr(owner.it, "_fields", ()):
                return Known(getattr(owner.it, e.attr))
        raise Unsupported(f"the attribute {e.attr}")

    # -------------------------------------------------------------- memory
    def index(self, value: Value, length: Any = None) -> Any:
        """An integer index; negative ones count from the end where a length is given."""
        settled_index = settled(value)
        if not isinstance(settled_index, Scalar) or settled_index.kind not in (INT, BOOL):
            raise Unsupported("an index that is no integer")
        k = self.cast(settled_index, INT)
        if length is None or (isinstance(value, Known) and value.it >= 0):
            return k
        builder = self.builder
        return builder.select(builder.icmp_signed("<", k, ir.Constant(I, 0)), builder.add(k, length), k)

    def slot(self, target: ast.Subscript) -> tuple[Any, Any]:
        """The address of a number in memory, and its type."""
        owner = self.value(target.value)
        found = self.element(owner, self.value(target.slice))
        if found is None:
            raise Unsupported("memory that is neither a pointer nor an array")
        return found

    def element(self, owner: Value, where: Value) -> tuple[Any, Any] | None:
        builder = self.builder
        if isinstance(owner, Scalar) and isinstance(owner.kind, types.CPointer):
            return builder.gep(owner.v, [self.index(where)]), owner.kind.dtype
        if isinstance(owner, View):
            indices = where.parts if isinstance(where, Tup) else [where]
            if len(indices) == len(owner.lengths):
                return builder.gep(owner.data, [self.offset(owner, indices)]), owner.dtype
        return None

    def offset(self, owner: View, indices: Any) -> Any:
        """How many numbers into an array the element, or the part, with these first indices is."""
        builder = self.builder
        at = None
        for k, index in enumerate(indices):
            i = self.index(index, owner.lengths[k])
            at = i if at is None else builder.add(at, i)
            if k + 1 < len(owner.lengths):
                at = builder.mul(at, owner.lengths[k + 1])
        for n in owner.lengths[len(indices) + 1 :]:
            at = builder.mul(at, n)
        return at

    def _Subscript(self, e: ast.Subscript) -> Value:
        owner = opened(self.value(e.value))
        if isinstance(e.slice, ast.Slice):
            return self.sliced(owner, e.slice)
        where = self.value(e.slice)
        if isinstance(owner, Row):
            if not isinstance(where, Known):
                raise Unsupported("a variable index of a small array")
            return self.part(Tup(owner.parts), where)
        if isinstance(owner, Tup):
            return self.part(owner, where)
        found = self.element(owner, where)
        if found is not None:
            return Scalar(found[1], self.builder.load(found[0]))
        if isinstance(owner, View):
            indices = where.parts if isinstance(where, Tup) else [where]
            if len(indices) < len(owner.lengths):
                data = self.builder.gep(owner.data, [self.offset(owner, indices)])
                return View(owner.dtype, data, owner.lengths[len(indices) :])
        raise Unsupported("an index of something else")

    def part(self, owner: Tup, where: Value) -> Value:
        """Part of a tuple by its index."""
        if isinstance(where, Known) and isinstance(where.it, int):
            if not -len(owner.parts) <= where.it < len(owner.parts):
                raise Unsupported("an index outside the tuple")
            return owner.parts[where.it]  # type: ignore[no-any-return]
        n = len(owner.parts)
        k = self.index(where, ir.Constant(I, n))
        parts = [settled(part) for part in owner.parts]
        if n and all(isinstance(part, Scalar) and isinstance(part.v, ir.Constant) for part in parts):
            like = parts[0]
            for part in parts:
                like = self.common(like, part)
            if isinstance(like, Scalar) and like.kind in (FLOAT, INT):
                return self.constant(owner.parts, like, k)
        found = parts[0]
        for i in range(1, n):
            same = self.builder.icmp_signed("==", k, ir.Constant(I, i))
            found = self.chosen(same, parts[i], found)
        return found

    def constant(self, parts: Any, like: Scalar, k: Any) -> Value:
        """Entry k of a table of constants."""
        kind = F if like.kind == FLOAT else I
        numbers = [(float if kind is F else int)(part.it) for part in parts]
        whole = ir.Constant(ir.ArrayType(kind, len(parts)), [ir.Constant(kind, x) for x in numbers])
        constants = cgutils.global_constant(self.unit.module, "constants", whole)
        slot = self.builder.gep(constants, [ir.Constant(I, 0), k])
        return Scalar(like.kind, self.builder.load(slot))

    def sliced(self, owner: Value, cut: ast.Slice) -> Value:
        ends = [None if x is None else self.value(x) for x in (cut.lower, cut.upper, cut.step)]
        if isinstance(owner, Row):
            return Row(self.sliced(Tup(owner.parts), cut).parts)  # type: ignore[union-attr]
        if isinstance(owner, Tup):
            if not all(x is None or isinstance(x, Known) for x in ends):
                raise Unsupported("a variable slice of a tuple")
            return Tup(owner.parts[slice(*(None if x is None else x.it for x in ends))])  # type: ignore[union-attr]
        if not isinstance(owner, View) or len(owner.lengths) != 1 or ends[2] is not None:
            raise Unsupported("a slice of something else")
        builder, n, zero = self.builder, owner.lengths[0], ir.Constant(I, 0)
        found = []
        for x, default in ((ends[0], zero), (ends[1], n)):
            k = default if x is None else self.index(x, n)
            k = builder.select(builder.icmp_signed("<", k, zero), zero, k)
            found.append(builder.select(builder.icmp_signed(">", k, n), n, k))
        length = builder.sub(found[1], found[0])
        length = builder.select(builder.icmp_signed("<", length, zero), zero, length)
        return View(owner.dtype, builder.gep(owner.data, [found[0]]), [length])

    # -------------------------------------------------------------- calls
    def is_known(self, e: ast.expr, thing: Any) -> bool:
        found = self.variable(e.id) if isinstance(e, ast.Name) else None
        return isinstance(found, Known) and found.it is thing

    def _Call(self, e: ast.Call) -> Value:
        callee = self.value(e.func)
        if isinstance(callee, Known) and callee.it in (np.array, np.asarray):
            arguments = [Tup(self.several(a.elts)) if isinstance(a, ast.List) else self.value(a) for a in e.args]
        else:
            arguments = self.several(e.args)
        named = {}
        for keyword in e.keywords:
            if keyword.arg is None:
                raise Unsupported("arguments by two stars")
            named[keyword.arg] = self.value(keyword.value)
        if isinstance(callee, Scalar) and isinstance(callee.kind, types.FunctionType) and not named:
            return self.role(callee, arguments)
        if not isinstance(callee, Known):
            raise Unsupported("a call of something else than a function")
        return self.call(callee.it, arguments, named)

    def call(self, it: Any, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Call something known."""
        if hasattr(it, "py_func"):
            return self.helper(it, arguments, named)
        if isinstance(it, type) and issubclass(it, tuple) and hasattr(it, "_fields"):
            return Tup(_ordered(it._fields, getattr(it, "_field_defaults", {}), arguments, named), it)
        if named:
            raise Unsupported("arguments by name")
        if type(it).__name__ == "_Intrinsic":
            return self.written_by_hand(it, arguments)
        if it in simd.IN_KERNELS:
            arguments = [settled(a) for a in arguments]
            choose: Any = simd.IN_KERNELS[it]
            return self.written_by_hand(choose(*(self.kind(a) for a in arguments)), arguments)
        return self.function_of_numbers(it, arguments)

    def function_of_numbers(self, it: Any, x: list[Value]) -> Value:
        builder = self.builder
        if it in (min, max):
            parts = opened(x[0])
            return self.least(parts.parts if len(x) == 1 and isinstance(parts, Tup) else x, "<" if it is min else ">")
        if it is len:
            owner = opened(x[0])
            if isinstance(owner, Tup | Row):
                return Known(len(owner.parts))
            if isinstance(owner, View):
                return Scalar(INT, owner.lengths[0])
            raise Unsupported("a length of something else")
        if it in (np.array, np.asarray) and len(x) == 1:
            return self.row(x[0])
        if any(isinstance(a, Row) for a in x):
            return self.function_of_rows(it, x)
        if it is tuple and len(x) == 1 and isinstance(opened(x[0]), Tup):
            return Tup(opened(x[0]).parts)  # type: ignore[union-attr]
        if any(isinstance(a, Scalar) and a.kind is simd.LANES for a in x):
            raise Unsupported("a function of lanes")
        if len(x) == 1 and isinstance(x[0], Known) and it in (int, float, bool) and is_number(x[0].it):
            return Known(it(x[0].it))
        if it is float and len(x) == 1 and isinstance(x[0], Known) and x[0].it in ("nan", "inf", "-inf"):
            return Known(float(x[0].it))
        if it is bool:
            truth = self.truth(x[0])
            return Known(truth) if isinstance(truth, bool) else Scalar(BOOL, truth)
        if it in (int, float) and len(x) == 1:
            kind = INT if it is int else FLOAT
            return Scalar(kind, self.cast(x[0], kind))
        if it in (abs, np.abs):
            return self.size(x[0])
        if not callable(it) or not isinstance(it, type(math.sin) | np.ufunc):
            raise Unsupported(f"a call of {getattr(it, '__name__', it)}")
        if it in (math.ldexp,) and len(x) == 2:
            kind = ir.FunctionType(F, [F, I32])
            function = cgutils.insert_pure_function(builder.module, kind, "numba_ldexp")
            power = builder.trunc(self.cast(x[1], INT), I32)
            return Scalar(FLOAT, builder.call(function, [self.cast(x[0], FLOAT), power]))
        if it is math.frexp and len(x) == 1:
            with builder.goto_block(self.entry):
                slot = builder.alloca(I32)
            kind = ir.FunctionType(F, [F, I32.as_pointer()])
            function = cgutils.get_or_insert_function(builder.module, kind, "numba_frexp")
            part = builder.call(function, [self.cast(x[0], FLOAT), slot])
            return Tup([Scalar(FLOAT, part), Scalar(INT, builder.sext(builder.load(slot), I))])
        numbers = [self.cast(a, FLOAT) for a in x]
        if it in INTRINSICS and len(x) == 1:
            return Scalar(FLOAT, self.intrinsic(f"llvm.{INTRINSICS[it]}.f64", *numbers))
        if it in EXTERNS and len(x) == 1 + (EXTERNS[it] == "atan2"):
            return Scalar(FLOAT, self.extern(EXTERNS[it], *numbers))
        if it in TO_INTEGER and len(x) == 1:
            return Scalar(INT, builder.fptosi(self.extern(TO_INTEGER[it], *numbers), I))
        if it in (math.copysign, np.copysign) and len(x) == 2:
            return Scalar(FLOAT, self.intrinsic("llvm.copysign.f64", *numbers))
        if it in (math.hypot, np.hypot) and len(x) == 2:
            return Scalar(FLOAT, self.extern("hypot", *numbers, pure=False))
        if it is math.pow and len(x) == 2:
            return Scalar(FLOAT, self.intrinsic("llvm.pow.f64", *numbers))
        if it in (math.isnan, np.isnan):
            return Scalar(BOOL, builder.fcmp_unordered("uno", numbers[0], numbers[0]))
        if it in (math.isfinite, np.isfinite):
            zero = builder.fsub(numbers[0], numbers[0])
            return Scalar(BOOL, builder.fcmp_ordered("ord", zero, zero))
        raise Unsupported(f"a call of {it.__name__}")

    def function_of_rows(self, it: Any, x: list[Value]) -> Value:
        """Functions of numpy on small arrays."""
        if it is np.cross and len(x) == 2:
            (a, b, c), (d, e, f) = (self.row(v).parts for v in x)
            pairs = ((b, f, c, e), (c, d, a, f), (a, e, b, d))
            return Row([
                self.binary("Sub", self.binary("Mult", p, q), self.binary("Mult", r, s)) for p, q, r, s in pairs
            ])  # fmt: skip
        if it is np.dot and len(x) == 2:
            return self.row_by_row("MatMult", *x)
        if it is np.linalg.norm and len(x) == 1:
            square = self.cast(self.row_by_row("MatMult", x[0], x[0]), FLOAT)
            return Scalar(FLOAT, self.extern("sqrt", square))
        if it is np.sum and len(x) == 1:
            return functools.reduce(functools.partial(self.binary, "Add"), x[0].parts)  # type: ignore[union-attr]
        if len(x) == 1 and (it in INTRINSICS or it in EXTERNS or it in (abs, np.abs)) and isinstance(x[0], Row):
            return Row([self.function_of_numbers(it, [part]) for part in x[0].parts])
        raise Unsupported("a function of arrays")

    def helper(self, it: Any, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Call a compiled function by its Python function."""
        if getattr(it, "in_kernels", None) == "view":
            length = self.index(arguments[1])
            return View(arguments[0].kind.dtype, arguments[0].v, [length])  # type: ignore[union-attr]
        function = it.py_func
        if function.__kwdefaults__ or not isinstance(function, FunctionType):
            raise Unsupported("arguments by name alone")
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        last = function.__defaults__ or ()
        defaults = dict(zip(names[len(names) - len(last) :], last, strict=True))
        given = [settled(a) for a in _ordered(names, defaults, arguments, named)]
        return self.call_written(self.unit.written(function, Options(it.targetoptions), given), given)

    def call_written(self, written: Written, given: list[Value]) -> Value:
        builder = self.builder
        leaves = [leaf for a in given for leaf in leaves_of(a)]
        if written.fails:
            leaves.insert(0, self.where_failures_go())
        value, code = self.taken_apart(builder.call(written.function, leaves), written)
        if code is not None:
            self.stop_after(code)
        return value

    def taken_apart(self, found: Any, written: Written) -> tuple[Value, Any]:
        """The value that a call of a written function returned, and the code, if it may fail."""
        parts = [] if isinstance(found.type, ir.VoidType) else [found]
        if isinstance(found.type, ir.LiteralStructType) and len(leaves_of(written.result)) + written.fails > 1:
            parts = [self.builder.extract_value(found, k) for k in range(len(found.type.elements))]
        code = parts.pop(0) if written.fails else None
        return rebuilt(written.result, iter(parts)), code

    def where_failures_go(self) -> Any:
        """Where a function that fails describes the exception."""
        if not self.notes.fails:
            self.notes.fails = True
            raise Again(self.notes)
        return self.failure

    def stop_after(self, code: Any) -> None:
        """Return the code of a function just called, where it reports a failure."""
        builder = self.builder
        tests = [builder.icmp_signed("!=", code, ir.Constant(CODE, n)) for n in NO_ERROR]
        stop, go_on = builder.append_basic_block(), builder.append_basic_block()
        builder.cbranch(builder.and_(*tests), stop, go_on).set_weights([1, 99])
        builder.position_at_end(stop)
        self.failures.append((stop, code))
        builder.position_at_end(go_on)

    def role(self, callee: Scalar, arguments: list[Value]) -> Value:
        """Call a function by its address, as numba does."""
        failure = self.where_failures_go()
        builder, context = self.builder, self.context
        signature = callee.kind.signature
        if len(arguments) != len(signature.args):
            raise Unsupported("a role with other arguments")
        values = [self.as_numba(a, kind) for a, kind in zip(arguments, signature.args, strict=True)]
        struct = cgutils.create_struct_proxy(callee.kind)(context, builder, value=callee.v)
        convention = context.call_conv
        kind = convention.get_function_type(signature.return_type, signature.args)
        with builder.goto_block(self.entry):
            slot = builder.alloca(kind.args[0].pointee)
        packed = convention._get_arg_packer(signature.args).as_arguments(builder, values)
        fast, slow, end = (builder.append_basic_block() for _ in range(3))
        builder.cbranch(cgutils.is_not_null(builder, struct.jit_addr), fast, slow).set_weights([99, 1])
        builder.position_at_end(fast)
        function = builder.bitcast(struct.jit_addr, kind.as_pointer())
        code = builder.call(function, [slot, failure, *packed])
        after_fast = builder.block
        builder.branch(end)
        builder.position_at_end(slow)
        result = context.get_value_type(signature.return_type)
        plain = ir.FunctionType(result, [v.type for v in values])
        found = builder.call(builder.bitcast(struct.c_addr, plain.as_pointer()), values)
        builder.store(context.get_return_value(builder, signature.return_type, found), slot)
        after_slow = builder.block
        builder.branch(end)
        builder.position_at_end(end)
        phi = builder.phi(CODE)
        phi.add_incoming(code, after_fast)
        phi.add_incoming(ir.Constant(CODE, 0), after_slow)
        self.stop_after(phi)
        if signature.return_type == types.none:
            return NOTHING
        raw = builder.load(slot)
        return self.from_numba(context.get_returned_value(builder, signature.return_type, raw), signature.return_type)

    def written_by_hand(self, it: Any, arguments: list[Value]) -> Value:
        """Call an intrinsic."""
        arguments = [settled(a) for a in arguments]
        signature, build = it._defn(self.unit.typing, *(self.kind(a) for a in arguments))
        values = [self.as_numba(a, kind) for a, kind in zip(arguments, signature.args, strict=True)]
        made = build(self.context, self.builder, signature, values)
        return NOTHING if signature.return_type == types.none else self.from_numba(made, signature.return_type)

    # -------------------------------------------------------------- numba's view of values
    def kind(self, value: Value) -> Any:
        """The numba type of a settled value."""
        if isinstance(value, Scalar):
            return value.kind
        if isinstance(value, View):
            return types.Array(value.dtype, len(value.lengths), "C")
        if isinstance(value, Tup):
            kinds = [self.kind(part) for part in value.parts]
            return types.BaseTuple.from_types(kinds, value.cls)
        if isinstance(value, Known) and value.it is None:
            return types.none
        raise Unsupported("an object as an argument")

    def as_numba(self, value: Value, kind: Any) -> Any:
        """A value as numba represents it."""
        value, context = settled(value), self.context
        if isinstance(value, View) and isinstance(kind, types.Array):
            array = context.make_array(kind)(context, self.builder)
            array.data, array.shape = value.data, cgutils.pack_array(self.builder, value.lengths, I)
            size: Any = ir.Constant(I, 8)
            steps: list[Any] = []
            for n in reversed(value.lengths):
                steps.insert(0, size)
                size = self.builder.mul(size, n)
            array.strides, array.itemsize = cgutils.pack_array(self.builder, steps, I), ir.Constant(I, 8)
            array.nitems = self.builder.sdiv(size, ir.Constant(I, 8))
            return array._getvalue()
        if isinstance(value, Tup):
            parts = [self.as_numba(p, k) for p, k in zip(value.parts, kind.types, strict=True)]
            return context.make_tuple(self.builder, kind, parts)
        if isinstance(value, Known) and kind == types.none:
            return context.get_dummy_value()
        if isinstance(value, Scalar) and value.kind == kind:
            return value.v
        return self.cast(value, kind)

    def from_numba(self, v: Any, kind: Any) -> Value:
        """A value from numba's representation."""
        if isinstance(kind, types.Array):
            if (not kind.is_c_contig and kind.ndim) or kind.dtype not in (types.float64, types.int64):
                raise Unsupported("an array with gaps")
            array = self.context.make_array(kind)(self.context, self.builder, value=v)
            return View(kind.dtype, array.data, cgutils.unpack_tuple(self.builder, array.shape, kind.ndim))
        if isinstance(kind, types.BaseTuple):
            parts = cgutils.unpack_tuple(self.builder, v, len(kind.types))
            cls = getattr(kind, "instance_class", None)
            return Tup([self.from_numba(p, k) for p, k in zip(parts, kind.types, strict=True)], cls)
        if (isinstance(kind, types.Integer) and kind != INT) or (isinstance(kind, types.Float) and kind != FLOAT):
            raise Unsupported("a number of another precision")
        return Scalar(kind, v)


def contract(function: Any) -> None:
    """Let LLVM fuse multiplications and additions in a function."""
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opname in ROUNDED:
                if not instruction.flags:
                    instruction.flags.append("contract")
            elif instruction.opname == "call" and instruction.type is F:
                instruction.fastmath.add("contract")


def _cells(function: Any) -> dict[str, Any]:
    """The variables of enclosing functions."""
    try:
        return {
            name: cell.cell_contents
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        }
    except ValueError:
        raise Unsupported("an empty cell") from None


def _ordered(names: Any, defaults: dict[str, Any], arguments: list[Value], named: dict[str, Value]) -> list[Value]:
    """Arguments in the order of the names."""
    if len(arguments) > len(names) or any(name not in names[len(arguments) :] for name in named):
        raise Unsupported("other arguments than the function takes")
    found = list(arguments)
    for name in names[len(arguments) :]:
        if name not in named and name not in defaults:
            raise Unsupported("an argument is missing")
        found.append(named[name] if name in named else Known(defaults[name]))
    return found


def _leaves_loop(s: ast.AST) -> bool:
    """Whether a statement contains a ``break`` of the loop around it."""
    if isinstance(s, ast.Break):
        return True
    if isinstance(s, ast.For | ast.While):
        return False
    return any(_leaves_loop(inner) for inner in ast.iter_child_nodes(s))
