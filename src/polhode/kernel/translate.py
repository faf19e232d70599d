"""Translates plain Python functions to LLVM, past numba's type inference.

Kernels are written in a small part of Python: numbers, tuples of them, pointers and arrays read and written by index,
``if``, ``for ... in range``, ``while``, calls of helpers and of roles. The types of the arguments are known, so all
others follow forwards, statement by statement, while the code is written. A function is written once for each
combination of types (and of functions) that it is called with.

A variable that is set in one block only is a value; others have a slot in memory, which LLVM turns into registers.
Where a variable turns out to need a slot, or a wider type than its first value has, the function is written again.
"""

from __future__ import annotations

import ast
import builtins
import collections
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType, UnionType
from typing import Any

from llvmlite import ir
from numba import types

from polhode.kernel.calls import CODE, Again, Calls, Options, Unfinished, Written
from polhode.kernel.source import Unsupported, tree_of
from polhode.kernel.text import Block, Constant, I, Made, Whole
from polhode.kernel.values import (
    BOOL,
    INT,
    NOTHING,
    Known,
    Scalar,
    Tup,
    Value,
    View,
    leaves_of,
    opened,
    rebuilt,
    settled,
    shape_of,
)

LONGEST_NAME = 60
SHORT = 60
"""Most instructions of a function that is copied into all its callers."""
LEFT = "masked"
"""What a statement returns after which no lane goes on here, though the code does."""


class Unit:
    """One LLVM module and the functions in it, which writers of one kind write (``Writer`` unless given)."""

    stops = True
    """Whether a function can end a call by a failure of its own."""
    roles = True
    """Whether a function can call another by its address."""
    closed = False
    """Whether a function reads data behind the role."""
    kind: Any = None
    rules: Any = {}  # noqa: RUF012
    object_of: Any = None
    """``object_of(unit, helper, arguments, directions=0)``: the function of a helper that is an object of its own."""

    def __init__(self, context: Any, typing: Any, module: Any, writers: Any = None) -> None:
        self.context, self.typing, self.module, self.writers = context, typing, module, writers or Writer
        self.functions: dict[Any, Any] = {}
        self.kept: list[Any] = []
        self.finished: list[Written] = []
        self.failure = context.call_conv.get_function_type(types.none, ()).args[1]

    def found(self, function: FunctionType, options: Options, arguments: list[Value]) -> Written | None:
        """What ``written`` returned for arguments of these shapes, or None."""
        found = self.functions.get((function, *options.key, tuple(map(shape_of, arguments))))
        return found if isinstance(found, Written) else None

    def written(self, function: FunctionType, options: Options, arguments: list[Value]) -> Written:
        """The LLVM function for arguments of these shapes."""
        key = (function, *options.key, tuple(map(shape_of, arguments)))
        if key in self.functions:
            found = self.functions[key]
            if isinstance(found, Written):
                return found
            found.calls_itself = True
            if found.result is None or found.whole:
                raise Unfinished(f"{function.__qualname__}, which calls itself")
            found.whole = True
            raise Again(found)
        self.kept.append(arguments)  # shapes know objects by address
        notes = Notes()
        while True:
            self.functions[key] = notes
            try:
                found = self.writers(self, function, options, arguments, notes).write(key)
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
            self.finished.append(found)
            return found

    def copy_into_callers(self) -> None:
        """Mark the functions that LLVM copies into their callers: short ones, and those called in one place."""
        copies = collections.Counter({self.finished[-1].function: 1})
        for one in reversed(self.finished):  # callers before what they call
            function, count = one.function, copies[one.function]
            if count and "noinline" not in function.attributes and (count == 1 or one.size <= SHORT):
                function.attributes.add("alwaysinline")
            for callee in one.calls:
                copies[callee] += count if "alwaysinline" in function.attributes else count > 0

    def writer(self, function: FunctionType, options: Options) -> Writer:
        """A writer without a function, for code around one."""
        return self.writers(self, function, options, [], Notes())


class Notes:
    """What is learnt about a function while it is written: variables with a slot, their types, the result."""

    def __init__(self) -> None:
        self.slotted: set[str] | None = None
        self.kinds: dict[str, Value] = {}
        self.result: Value | None = None
        self.fails = False
        self.line = 0
        self.calls_itself = self.whole = False


class Writer(Calls):
    """Writes one function."""

    partial = False
    """Whether the code at hand may be carried out for some of several lanes only."""

    def __init__(
        self, unit: Unit, function: FunctionType, options: Options, arguments: list[Value], notes: Notes
    ) -> None:
        super().__init__(unit.context, options.contract)
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
        self.called: list[Any] = []
        if notes.slotted is None:
            notes.slotted = set(getattr(self.tree, "several", ()))

    # -------------------------------------------------------------- the function
    def write(self, key: object) -> Written:
        """Write the function; its type is filled in at the end, when its result is known."""
        module, name = self.unit.module, self.code.co_qualname[-LONGEST_NAME:]
        leaves = [leaf for a in self.arguments for leaf in leaves_of(a)]
        kinds = [self.unit.failure] * self.notes.fails + [leaf.type for leaf in leaves]
        name = module.get_unique_name("".join(c if c.isalnum() else "_" for c in name))
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), ()), name)
        function.ftype = ir.FunctionType(ir.VoidType(), kinds)
        function.args = tuple([Made(kind, f"%a{k}", f"{kind} %a{k}") for k, kind in enumerate(kinds)])
        if self.notes.whole:
            self.give_type(function)
            self.unit.functions[key] = Written(function, self.notes.result or NOTHING, self.notes.fails)
        try:
            return self.fill(function)
        except (Again, Unsupported):
            del module.globals[name]
            raise

    def fill(self, function: ir.Function) -> Written:
        self.entry = Block(function)
        self.builder.position_at_end(Block(function))
        begin = self.builder.block
        given = iter(function.args[1:] if self.notes.fails else function.args)
        self.failure = function.args[0] if self.notes.fails else None
        self.take(self.arguments, given)
        if isinstance(self.tree, ast.Lambda):
            self.give_back(self.value(self.tree.body))
        elif not self.body(self.tree.body):
            self.give_back(NOTHING)
        self.finish()
        with self.builder.goto_block(self.entry):
            self.builder.branch(begin)
        result = NOTHING if self.notes.result is None else self.notes.result
        for block, code in self.failures:
            self.builder.position_at_end(block)
            self.leave([code, *(Constant(leaf.type, ir.Undefined) for leaf in leaves_of(result))])
        self.give_type(function)
        function.linkage = "internal"
        function.attributes.add("nounwind")
        if self.options.inlined:
            function.attributes.add("alwaysinline")
        if self.options.apart:
            function.attributes.add("noinline")
        return Written(function, result, self.notes.fails, self.called, self.builder.count)

    def take(self, arguments: list[Value], given: Iterator[Any]) -> None:
        """Set the parameters of the function."""
        if self.code.co_argcount != len(arguments) or self.code.co_kwonlyargcount or self.code.co_flags & 0x0C:
            raise Unsupported("arguments by star")
        for name, argument in zip(self.code.co_varnames, arguments, strict=False):
            self.assign(name, rebuilt(argument, given))

    def finish(self) -> None:
        """End the function, where there is more to do than to return."""

    def give_type(self, function: ir.Function) -> None:
        """Fill in the type of the result of a function."""
        kinds = [CODE] * self.notes.fails + [leaf.type for leaf in leaves_of(self.notes.result or NOTHING)]
        kind = ir.VoidType() if not kinds else kinds[0] if len(kinds) == 1 else ir.LiteralStructType(kinds)
        function.ftype = ir.FunctionType(kind, function.ftype.args)
        function.type = function.ftype.as_pointer()
        function.return_value = ir.values.ReturnValue(function, kind)

    def give_back(self, value: Value) -> bool | str:
        """Return a value; what stands here of a statement that leaves the function."""
        value = settled(value)
        self.leave([Constant(CODE, 0)] * self.notes.fails + self.result_leaves(value))
        return True

    def result_leaves(self, value: Value) -> list[Any]:
        """The LLVM values of a result, in the shape of all results of the function."""
        if self.notes.result is None:
            self.notes.result = value
        like = self.common(self.notes.result, value)
        if shape_of(like) != shape_of(self.notes.result):
            self.notes.result = like
            raise Again(self.notes)
        return leaves_of(self.converted(value, like))

    def leave(self, leaves: list[Any]) -> None:
        if not leaves:
            self.builder.ret_void()
        else:
            whole = Whole(self.builder, ir.LiteralStructType([leaf.type for leaf in leaves]), leaves)
            self.builder.ret(leaves[0] if len(leaves) == 1 else whole)

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
        if name not in self.notes.slotted:
            self.bound[name] = (value, self.open[-1])
            return
        value = self.stored(value)
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
            self.keep(leaf, slot)

    def stored(self, value: Value) -> Value:
        """A value as variables keep it."""
        return settled(value)

    def keep(self, leaf: ir.Value, slot: ir.Value) -> None:
        """Write part of a variable to its slot."""
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
            self.notes.slotted.add(name)
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
    def body(self, statements: list[ast.stmt]) -> bool | str:
        """Write statements; whether the last of them leaves the function or the loop's body."""
        return any(self.statement(s) for s in statements)

    def statement(self, s: ast.stmt) -> bool | str:
        kind = type(s).__name__
        method = getattr(self, f"_{kind}", None)
        self.notes.line = s.lineno
        if method is None:
            raise Unsupported(f"the statement {kind}")
        return method(s) or False

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
            owner, where = self.value(s.target.value), self.value(s.target.slice)
            self.write_to(owner, where, lambda read: self.binary(operator, read(), self.value(s.value)))
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
            owner = self.value(target.value)
            self.write_to(owner, self.value(target.slice), lambda read: value)
        else:
            raise Unsupported("an attribute is set")

    def _Return(self, s: ast.Return) -> bool | str:
        return self.give_back(NOTHING if s.value is None else self.value(s.value))

    def _Break(self, s: ast.Break) -> bool | str:
        self.builder.branch(self.loops[-1][1])
        return True

    def _Continue(self, s: ast.Continue) -> bool | str:
        self.builder.branch(self.loops[-1][0])
        return True

    def _If(self, s: ast.If) -> bool | str:
        builder = self.builder
        test = self.test(s.test)
        if isinstance(test, bool):
            return self.body(s.body if test else s.orelse)
        if isinstance(getattr(test, "type", None), ir.VectorType):
            return self.masked_if(test, s)
        then, otherwise = builder.append_basic_block(), builder.append_basic_block()
        self.forks(test, then, otherwise)
        end = builder.append_basic_block() if s.orelse else otherwise
        left: list[Any] = []
        partial, after = self.partial, self.partial
        for block, statements in ((then, s.body), (otherwise, s.orelse)):
            if not statements:
                left.append(False)
                continue
            builder.position_at_end(block)
            self.partial = partial
            depth = len(self.open), len(self.loops)
            try:
                with self.block():
                    left.append(self.body(statements))
            except Unfinished:
                del self.open[depth[0] :], self.loops[depth[1] :]
                builder.unreachable()
                left.append(True)
            after |= self.partial
            if left[-1] is not True:
                builder.branch(end)
        self.partial = after
        builder.position_at_end(end)
        if all(one is True for one in left):
            builder.unreachable()
            return True
        return LEFT if all(left) else False

    def masked_if(self, test: ir.Value, s: ast.If) -> bool | str:
        """Both sides of an ``if``, each for the lanes that take it."""
        raise Unsupported("the truth of lanes")

    def _While(self, s: ast.While) -> bool | str:
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
        if test is True and not any(leaves_loop(part) for part in s.body):
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
        builder.store(builder.add(builder.load(slot), Constant(I, step), flags=("nsw",)), slot)
        builder.branch(head)
        builder.position_at_end(end)

    def steps(self, e: ast.expr) -> tuple[Any, Any, int, Tup | None]:
        """First number, end and step of a loop, and the tuple whose parts it takes, if it is not over ``range``."""
        if not (isinstance(e, ast.Call) and self.is_known(e.func, range) and not e.keywords):
            several = opened(self.value(e))
            if not isinstance(several, Tup) or not several.parts:
                raise Unsupported("a loop over something else than range or a tuple")
            return Constant(I, 0), Constant(I, len(several.parts)), 1, several
        numbers = [self.value(a) for a in e.args]
        step: Value = numbers[2] if len(numbers) == 3 else Known(1)
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

    def forks(self, test: Any, then: ir.Block, otherwise: ir.Block) -> None:
        """End the block by a branch on what ``test`` returned."""
        builder = self.builder
        if isinstance(test, ast.AST):
            test = self.test(test)  # type: ignore[arg-type]
        if isinstance(test, bool):
            builder.branch(then if test else otherwise)
        elif not isinstance(test, tuple):
            if isinstance(test.type, ir.VectorType):
                raise Unsupported("the truth of lanes")
            builder.cbranch(test, then, otherwise)
        elif test[0] == "not":
            self.forks(test[1], otherwise, then)
        else:
            for part in test[1][:-1]:
                following = builder.append_basic_block()
                self.forks(part, *((then, following) if test[0] == "or" else (following, otherwise)))
                builder.position_at_end(following)
            self.forks(test[1][-1], then, otherwise)

    def joined(self, test: Any, first: Callable[[], Value], second: Callable[[], Value]) -> Value:
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
            leaves.append(
                [Made(leaf.type, leaf.get_reference(), "") for leaf in leaves_of(self.converted(value, like))]
            )
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
        return method(e)

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
        return self.binary(type(e.op).__name__, self.value(e.left), self.value(e.right))

    def _UnaryOp(self, e: ast.UnaryOp) -> Value:
        if isinstance(e.op, ast.Not):
            truth = self.truth(self.value(e.operand))
            return Known(not truth) if isinstance(truth, bool) else self.as_truth(self.builder.not_(truth))
        x = self.value(e.operand)
        if isinstance(e.op, ast.USub):
            return self.negative(x)
        if isinstance(e.op, ast.Invert):  # + makes an int of a bool
            return Known(~+x.it) if isinstance(x, Known) else self.binary("BitXor", x, Known(-1))
        return self.number(x)

    def _Compare(self, e: ast.Compare) -> Value:
        x, y = self.value(e.left), self.value(e.comparators[0])
        if isinstance(e.ops[0], ast.In | ast.NotIn) and len(e.ops) == 1:
            return self.among(x, opened(y), isinstance(e.ops[0], ast.In))
        found = self.compared(type(e.ops[0]).__name__, x, y)
        for op, operand in zip(e.ops[1:], e.comparators[1:], strict=True):
            x, y = y, self.value(operand)
            found = self.binary("BitAnd", found, self.compared(type(op).__name__, x, y))
        return found

    def among(self, x: Value, several: Value, wanted: bool) -> Value:
        """Whether a number is among those of a tuple."""
        if not isinstance(several, Tup):
            raise Unsupported("membership in something else than a tuple")
        either = functools.partial(self.binary, "BitOr")
        tests: list[Value] = [Known(False), *(self.compared("Eq", x, part) for part in several.parts)]
        found = functools.reduce(either, tests)
        if isinstance(found, Known):
            return Known(found.it == wanted)
        return found if wanted else self.as_truth(self.builder.not_(self.truth(found)))

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
            return owner.parts[owner.cls._fields.index(e.attr)]
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


def _cells(function: FunctionType) -> dict[str, Any]:
    """The variables of enclosing functions."""
    try:
        return {
            name: cell.cell_contents
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        }
    except ValueError:
        raise Unsupported("an empty cell") from None


def leaves_loop(s: ast.AST, how: type[ast.AST] | UnionType = ast.Break) -> bool:
    """Whether a statement contains a ``break``, or a ``continue``, of the loop around it."""
    inside = () if isinstance(s, ast.For | ast.While | ast.expr) else ast.iter_child_nodes(s)
    return isinstance(s, how) or any(leaves_loop(inner, how) for inner in inside)
