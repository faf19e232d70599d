"""Writes calls of kernels and their access to memory: helpers, functions of numbers, intrinsics, roles, arrays.

A role may fail with an exception (a user's function). Functions that call one return a code beside their value.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import RETCODE_EXC, RETCODE_USEREXC

from polhode.kernel import simd
from polhode.kernel.later import Intrinsic, call_python, data_behind
from polhode.kernel.numba_lanes import BY_HAND
from polhode.kernel.source import Unsupported
from polhode.kernel.text import EXTERNS, I32, INTRINSICS, TO_INTEGER, Constant, F, I
from polhode.kernel.values import (
    BOOL,
    FLOAT,
    INT,
    NOTHING,
    TESTS,
    Arithmetic,
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
    width_of,
)

CODE = I32
DATA = types.CPointer(INT)
NO_ERROR = (0, -2)
"""Codes of numba's calling convention for success (with a value, with None)."""
SETTLED = {
    "nopython", "nogil", "no_cpython_wrapper", "no_cfunc_wrapper", "error_model", "fastmath", "forceinline", "inline",
    "boundscheck", "lanes",
}  # fmt: skip
"""Options of a helper that are known here."""


class Again(Exception):
    """A function, known by its notes, has to be written again, with more known about it."""


class Unfinished(Unsupported):
    """A function calls itself before the type of its result is known."""


class Options:
    """What the options of a helper say about its code."""

    __slots__ = ("apart", "checked", "contract", "inlined")

    def __init__(self, given: dict[str, Any]) -> None:
        fast = given.get("fastmath", False)
        unknown = {name for name in given if name not in SETTLED and given[name]}
        self.apart = given.get("inline") == "never"
        known = given.get("error_model") == "numpy" and fast in (False, {"contract"})
        if not known or unknown or not (self.apart or "inline" not in given):
            raise Unsupported("a function compiled with other options")
        self.contract, self.inlined = bool(fast), bool(given.get("forceinline"))
        self.checked = bool(given.get("boundscheck"))

    @property
    def key(self) -> tuple[bool, ...]:
        """Equal for options that make equal code."""
        return (self.apart, self.checked, self.contract, self.inlined)


class Written:
    """A function that has been written: the LLVM function, its result, whether it may fail and, over lanes, must know
    which of them call it (``masked``), the LLVM functions that it calls, and the number of its instructions."""

    __slots__ = ("calls", "fails", "function", "masked", "result", "size")

    def __init__(self, function: ir.Function, result: Value, fails: bool, calls: Any = (), size: int = 0) -> None:
        self.function, self.result, self.fails, self.masked = function, result, fails, False
        self.calls, self.size = calls, size


class Calls(Arithmetic):
    """The part of a writer that calls other functions and reads and writes memory."""

    called: list[ir.Function]
    code: CodeType
    entry: ir.Block
    failure: ir.Value
    failures: list[tuple[ir.Block, ir.Value]]
    notes: Any
    options: Options
    unit: Any

    def value(self, e: ast.expr) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def variable(self, name: str) -> Value:
        """The value of a name."""
        raise NotImplementedError

    def several(self, elements: list[ast.expr]) -> list[Value]:
        """The values of expressions."""
        raise NotImplementedError

    # -------------------------------------------------------------- memory
    def index(self, value: Value, length: ir.Value = None) -> ir.Value:
        """An integer index; negative ones count from the end where a length is given."""
        settled_index = settled(value)
        if not isinstance(settled_index, Scalar) or settled_index.kind not in (INT, BOOL):
            raise Unsupported("an index that is no integer")
        k = self.cast(settled_index, INT)
        if length is None or (isinstance(value, Known) and value.it >= 0):
            return k
        if isinstance(value, Known) and isinstance(length, Constant):
            return Constant(I, value.it + length.constant)
        builder = self.builder
        return builder.select(builder.icmp_signed("<", k, Constant(I, 0)), builder.add(k, length), k)

    def checked_index(self, k: ir.Value, length: ir.Value) -> ir.Value:
        """An index; in a user's function one that is outside ends the call with an IndexError."""
        known = isinstance(k, Constant) and isinstance(length, Constant) and 0 <= k.constant < length.constant
        if known or not self.options.checked:
            return k
        if not self.unit.stops:
            raise Unsupported("an index that may be outside its array")
        builder, failure = self.builder, self.where_failures_go()
        go_on = self.stop_where(builder.icmp_unsigned(">=", k, length), RETCODE_USEREXC)
        told = (IndexError, ("an index is out of bounds",), None)
        builder.store(self.context.get_python_api(builder).serialize_object(told), failure)
        builder.position_at_end(go_on)
        return k

    def write_to(self, owner: Value, where: Value, make: Callable[[Any], Value]) -> None:
        """Write to memory what ``make`` returns, given a function that reads what is there."""
        slot, kind = self.slot(owner, where)
        self.put(make(lambda: self.loaded(slot, kind)), slot, kind)

    def slot(self, owner: Value, where: Value) -> tuple[Any, Any]:
        """The address of a number in memory, and its type."""
        found = self.element(owner, where)
        if found is None:
            raise Unsupported("memory that is neither a pointer nor an array")
        return found

    def read(self, owner: Value, where: Value) -> Value | None:
        """A number in memory; None of anything else."""
        found = self.element(owner, where)
        return None if found is None else self.loaded(*found)

    def loaded(self, slot: ir.Value, kind: types.Type) -> Scalar:
        """The number at an address."""
        return Scalar(kind, self.builder.load(slot))

    def put(self, value: Value, slot: ir.Value, kind: types.Type) -> None:
        """Write a number to an address."""
        self.builder.store(self.cast(value, kind), slot)

    def element(self, owner: Value, where: Value) -> tuple[Any, Any] | None:
        builder = self.builder
        if isinstance(owner, Scalar) and isinstance(owner.kind, types.CPointer):
            return builder.gep(owner.v, [self.index(where)]), owner.kind.dtype
        if isinstance(owner, View):
            indices = where.parts if isinstance(where, Tup) else [where]
            if len(indices) == len(owner.lengths):
                return builder.gep(owner.data, [self.offset(owner, indices)]), owner.dtype
        return None

    def offset(self, owner: View, indices: Sequence[Value]) -> ir.Value:
        """How many numbers into an array the element, or the part, with these first indices is."""
        builder = self.builder
        at = None
        for k, index in enumerate(indices):
            i = self.checked_index(self.index(index, owner.lengths[k]), owner.lengths[k])
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
        if isinstance(owner, Tup) and not hasattr(owner.cls, "known"):
            return self.part(owner, where)
        found = self.read(owner, where)
        if found is not None:
            return found
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
            return owner.parts[where.it]
        n = len(owner.parts)
        k = self.checked_index(self.index(where, Constant(I, n)), Constant(I, n))
        parts = [settled(part) for part in owner.parts]
        constants = [part.v for part in parts if isinstance(part, Scalar) and isinstance(part.v, Constant)]
        if n and len(constants) == n:
            like = functools.reduce(self.common, parts)
            if isinstance(like, Scalar) and like.kind in (FLOAT, INT):
                return self.constant(constants, like, k)
        found = parts[0]
        for i in range(1, n):
            same = self.builder.icmp_signed("==", k, Constant(I, i))
            found = self.chosen(same, parts[i], found)
        return found

    def constant(self, parts: list[Constant], like: Scalar, k: ir.Value) -> Value:
        """Entry k of a table of constants."""
        kind = F if like.kind == FLOAT else I
        numbers = [(float if kind is F else int)(part.constant) for part in parts]
        whole = Constant(ir.ArrayType(kind, len(parts)), [Constant(kind, x) for x in numbers])
        constants = cgutils.global_constant(self.unit.module, "constants", whole)
        slot = self.builder.gep(constants, [Constant(I, 0), k])
        return Scalar(like.kind, self.builder.load(slot))

    def sliced(self, owner: Value, cut: ast.Slice) -> Value:
        ends = [None if x is None else self.value(x) for x in (cut.lower, cut.upper, cut.step)]
        if isinstance(owner, Row):
            return Row(self.sliced(Tup(owner.parts), cut).parts)  # type: ignore[union-attr]
        if isinstance(owner, Tup):
            if not all(x is None or isinstance(x, Known) for x in ends):
                raise Unsupported("a variable slice of a tuple")
            return Tup(owner.parts[slice(*(None if x is None else x.it for x in ends))])  # type: ignore[union-attr]
        if not isinstance(owner, View) or ends[2] is not None:
            raise Unsupported("a slice of something else")
        builder, n, zero = self.builder, owner.lengths[0], Constant(I, 0)
        found = []
        for x, default in ((ends[0], zero), (ends[1], n)):
            k = default if x is None else self.index(x, n)
            k = builder.select(builder.icmp_signed("<", k, zero), zero, k)
            found.append(builder.select(builder.icmp_signed(">", k, n), n, k))
        length = builder.sub(found[1], found[0])
        length = builder.select(builder.icmp_signed("<", length, zero), zero, length)
        at = functools.reduce(builder.mul, owner.lengths[1:], found[0])
        return View(owner.dtype, builder.gep(owner.data, [at]), [length, *owner.lengths[1:]])

    # -------------------------------------------------------------- calls
    def is_known(self, e: ast.expr, thing: object) -> bool:
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

    def call(self, it: Callable[..., Any], arguments: list[Value], named: dict[str, Value]) -> Value:
        """Call something known."""
        if hasattr(it, "py_func"):
            return self.helper(it, arguments, named)
        if isinstance(it, type) and issubclass(it, tuple) and hasattr(it, "_fields"):
            return Tup(_ordered(it._fields, getattr(it, "_field_defaults", {}), arguments, named), it)
        if named:
            raise Unsupported("arguments by name")
        if it is data_behind or it is call_python:
            return self.data() if it is data_behind else self.python(*arguments)
        if isinstance(it, Intrinsic):
            return self.written_by_hand(it, arguments)
        if it in simd.IN_KERNELS:
            return self.written_by_hand(BY_HAND[it], arguments)
        return self.function_of_numbers(it, arguments)

    def function_of_numbers(self, it: Callable[..., Any], x: list[Value]) -> Value:
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
        if it is np.where and len(x) == 3:
            return self.where(*x)
        if width_of(*x):
            return self.of_lanes(it, [self.number(a) for a in x])
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
            function = cgutils.insert_pure_function(builder.module, kind, "ldexp")
            power = builder.trunc(self.cast(x[1], INT), I32)
            return Scalar(FLOAT, builder.call(function, [self.cast(x[0], FLOAT), power]))
        if it is math.frexp and len(x) == 1:
            with builder.goto_block(self.entry):
                slot = builder.alloca(I32)
            builder.store(Constant(I32, 0), slot)  # of a number without an exponent
            kind = ir.FunctionType(F, [F, I32.as_pointer()])
            function = cgutils.get_or_insert_function(builder.module, kind, "frexp")
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
        if it in TESTS:
            return self.tested(it, numbers[0])
        raise Unsupported(f"a call of {it.__name__}")

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        """``np.where`` of numbers or lanes: the first where the condition holds, else the second; both are computed."""
        test = self.truth(condition)
        if isinstance(test, bool):
            return a if test else b
        return self.chosen(test, self.number(a), self.number(b))

    def function_of_rows(self, it: Callable[..., Any], x: list[Value]) -> Value:
        """Functions of numpy on small arrays."""
        if it is np.cross and len(x) == 2:
            (a, b, c), (d, e, f) = (self.row(v).parts for v in x)
            pairs = ((b, f, c, e), (c, d, a, f), (a, e, b, d))
            return Row(
                [self.binary("Sub", self.binary("Mult", p, q), self.binary("Mult", r, s)) for p, q, r, s in pairs]
            )
        if it is np.dot and len(x) == 2:
            return self.row_by_row("MatMult", *x)
        if it is np.linalg.norm and len(x) == 1:
            return self.function_of_numbers(math.sqrt, [self.row_by_row("MatMult", x[0], x[0])])
        if it is np.sum and len(x) == 1:
            return functools.reduce(functools.partial(self.binary, "Add"), x[0].parts)  # type: ignore[union-attr]
        if len(x) == 1 and (it in INTRINSICS or it in EXTERNS or it in (abs, np.abs)) and isinstance(x[0], Row):
            return Row([self.function_of_numbers(it, [part]) for part in x[0].parts])
        raise Unsupported("a function of arrays")

    def sum_of_four(self, x: Value) -> Value:
        """The sum of a small array of at most four numbers: of halves."""
        if not isinstance(x, Row):
            raise Unsupported("a sum of four lanes")
        add = functools.partial(self.binary, "Add")
        return functools.reduce(add, [functools.reduce(add, x.parts[k : k + 2]) for k in (0, 2) if x.parts[k:]])

    def helper(self, it: Any, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Call a compiled function by its Python function."""
        if getattr(it, "in_kernels", None) == "view":
            lengths = [self.index(length) for length in arguments[1:]]
            return View(arguments[0].kind.dtype, arguments[0].v, lengths)  # type: ignore[union-attr]
        function = it.py_func
        if function.__kwdefaults__ or not isinstance(function, FunctionType):
            raise Unsupported("arguments by name alone")
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        last = function.__defaults__ or ()
        defaults = dict(zip(names[len(names) - len(last) :], last, strict=True))
        given = [settled(a) for a in _ordered(names, defaults, arguments, named)]
        if it.targetoptions.get("lanes"):
            return self.call_written(self.unit.object_of(self.unit, it, given), given)
        return self.call_function(function, Options(it.targetoptions), given)

    def call_function(self, function: FunctionType, options: Options, given: list[Value]) -> Value:
        """Call a Python function, which is written for arguments of these shapes."""
        return self.call_written(self.unit.written(function, options, given), given)

    def call_written(self, written: Written, given: list[Value]) -> Value:
        builder = self.builder
        leaves = [leaf for a in given for leaf in leaves_of(a)]
        self.called.append(written.function)
        if written.fails:
            leaves.insert(0, self.where_failures_go())
        value, code = self.taken_apart(builder.call(written.function, leaves), written)
        if code is not None:
            self.stop_after(code)
        return value

    def taken_apart(self, found: ir.Value, written: Written) -> tuple[Value, ir.Value | None]:
        """The value that a call of a written function returned, and the code, if it may fail."""
        parts = [] if isinstance(found.type, ir.VoidType) else [found]
        if isinstance(found.type, ir.LiteralStructType) and len(leaves_of(written.result)) + written.fails > 1:
            parts = list(self.builder.parts(found))
        code = parts.pop(0) if written.fails else None
        return rebuilt(written.result, iter(parts)), code

    def where_failures_go(self) -> ir.Value:
        """Where a function that fails describes the exception."""
        if not self.notes.fails:
            self.notes.fails = True
            raise Again(self.notes)
        return self.failure

    def stop_after(self, code: ir.Value) -> None:
        """Return the code of a function just called, where it reports a failure."""
        builder = self.builder
        tests = [builder.icmp_signed("!=", code, Constant(CODE, n)) for n in NO_ERROR]
        builder.position_at_end(self.stop_where(builder.and_(*tests), code))

    def stop_where(self, test: ir.Value, code: ir.Value) -> ir.Block:
        """Return a code where a test holds, which it seldom does; what is written next is for that case, and what
        goes on is to be written to the block that is given back."""
        builder = self.builder
        stop, go_on = builder.append_basic_block(), builder.append_basic_block()
        builder.cbranch(test, stop, go_on).set_weights([1, 99])
        builder.position_at_end(stop)
        self.failures.append((stop, code))
        return go_on

    def role(self, callee: Scalar, arguments: list[Value]) -> Value:
        """Call a function by its address, as numba does."""
        if not self.unit.roles:
            raise Unsupported("a function that is called by its address")
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
        function = builder.bitcast(struct.jit_addr, kind.as_pointer())
        self.stop_after(builder.call(function, [slot, failure, *packed]))
        if signature.return_type == types.none:
            return NOTHING
        raw = builder.load(slot)
        return self.from_numba(context.get_returned_value(builder, signature.return_type, raw), signature.return_type)

    def data(self) -> Value:
        """The data behind the role, which stand where its failures go (``direct.write_places``)."""
        if not (self.unit.stops and self.unit.roles):
            raise Unsupported("Python called from a loop")
        self.unit.closed = True
        slot = self.builder.bitcast(self.where_failures_go(), self.context.get_value_type(DATA).as_pointer())
        return Scalar(DATA, self.builder.load(slot))

    def python(self, address: Value, numbers: Any, handed: Any, count: Any) -> Value:
        """Call a Python object (``call_python``); its exceptions are those of the role."""
        builder, api = self.builder, self.context.get_python_api(self.builder)
        with builder.goto_block(self.entry):
            found = builder.alloca(F, Constant(I, count.it))
        given = [self.cast(number, FLOAT) for number in numbers.parts] + [builder.ptrtoint(handed.data, I)]
        form = self.context.insert_const_string(builder.module, "d" * len(numbers.parts) + "LL")
        call = ir.FunctionType(api.pyobj, [api.pyobj, api.cstring], var_arg=True)
        call = cgutils.get_or_insert_function(builder.module, call, "PyObject_CallFunction")
        lock = [ir.FunctionType(I32, []), ir.FunctionType(ir.VoidType(), [I32])]
        names = ("PyGILState_Ensure", "PyGILState_Release")
        take, release = map(functools.partial(cgutils.get_or_insert_function, builder.module), lock, names)
        state, one = builder.call(take, []), builder.inttoptr(self.cast(address, INT), api.pyobj)
        result = builder.call(call, [one, form, *given, builder.ptrtoint(found, I)])
        api.decref(result)
        builder.call(release, [state])
        failed = cgutils.is_null(builder, result)
        builder.position_at_end(self.stop_where(failed, Constant(CODE, RETCODE_EXC)))
        return View(FLOAT, found, [Constant(I, count.it)])

    def written_by_hand(self, it: Intrinsic, arguments: list[Value]) -> Value:
        """Call an intrinsic."""
        arguments = [settled(a) for a in arguments]
        signature, build = it.definition(self.unit.typing, *(self.kind(a) for a in arguments))
        values = [self.as_numba(a, kind) for a, kind in zip(arguments, signature.args, strict=True)]
        made = build(self.context, self.builder, signature, values)
        return NOTHING if signature.return_type == types.none else self.from_numba(made, signature.return_type)

    # -------------------------------------------------------------- numba's view of values
    def kind(self, value: Value) -> types.Type:
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

    def as_numba(self, value: Value, kind: types.Type) -> ir.Value:
        """A value as numba represents it."""
        value, context = settled(value), self.context
        if isinstance(value, View) and isinstance(kind, types.Array):
            array = context.make_array(kind)(context, self.builder)
            array.data, array.shape = value.data, cgutils.pack_array(self.builder, value.lengths, I)
            size: ir.Value = Constant(I, 8)
            steps: list[Any] = []
            for n in reversed(value.lengths):
                steps.insert(0, size)
                size = self.builder.mul(size, n)
            array.strides, array.itemsize = cgutils.pack_array(self.builder, steps, I), Constant(I, 8)
            array.nitems = self.builder.sdiv(size, Constant(I, 8))
            return array._getvalue()
        if isinstance(value, Tup):
            parts = [self.as_numba(p, k) for p, k in zip(value.parts, kind.types, strict=True)]
            return context.make_tuple(self.builder, kind, parts)
        if isinstance(value, Known) and kind == types.none:
            return context.get_dummy_value()
        if isinstance(value, Scalar) and value.kind is kind:
            return value.v
        return self.cast(value, kind)

    def from_numba(self, v: ir.Value, kind: types.Type) -> Value:
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
