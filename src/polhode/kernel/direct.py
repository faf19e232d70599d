"""Compiles kernels by ``translate``, five to nine times as fast as numba; LLVM and calling conventions are numba's.

What ``translate`` does not know is compiled by numba (``jit``). Both write the same operations in the same order, so
results differ at most where LLVM fuses another multiplication into an addition.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import os
from collections.abc import Callable
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.callconv import RETCODE_EXC
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.experimental import function_type as function_type  # what numba knows of functions as arguments

from polhode.kernel.cache import object_made
from polhode.kernel.calls import NO_ERROR, Options, Written
from polhode.kernel.lane_mode import LaneUnit, Mask
from polhode.kernel.later import PLACES, Helper, teach
from polhode.kernel.machine import ARRAY, CALLED, OBJECT, processor
from polhode.kernel.numba_lanes import Lanes
from polhode.kernel.reach import compiler, digest_of
from polhode.kernel.source import Unsupported
from polhode.kernel.text import BIT, I32, Block, Builder, Constant, F, I
from polhode.kernel.translate import Unit
from polhode.kernel.values import BOOL, FLOAT, INT, Known, Scalar, Tup, Value, View, leaves_of, shape_of
from polhode.lazy import no_collections


def passes(level: int) -> llvm.PipelineTuningOptions:
    """Which optimisations LLVM makes: numba's, but that it unrolls no loops and makes no vectors of them.

    Loops of kernels are long, or short with bodies of several hundred instructions: unrolled, they take a fifth longer
    to compile and run no faster, mostly 1 to 8 % slower.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization, options.slp_vectorization = False, bool(config.SLP_VECTORIZE)
    options.loop_unrolling = False
    return options


PASSES = (
    "global_dead_code_eliminate", "always_inliner", "post_order_function_attributes", "sroa", "simplify_cfg",
    "instruction_combine", "loop_simplify", "lcssa", "loop_rotate", "reassociate", "jump_threading", "simplify_cfg",
    "instruction_combine", "dead_code_elimination",
)  # fmt: skip
"""The optimisations of most kernels, in their order: a quarter of the time of all that LLVM knows, for code as fast.
All of them are in its own pipelines; ``new_gvn`` is in none, for it has made wrong code.

Loops with steps of variable size are 5 to 10 % faster with all, lanes of bodies that rotate 10 to 20 %.
For lanes the first level of LLVM's pipelines does as well as the third, in two thirds of its time."""


def few_passes() -> llvm.ModulePassManager | None:
    """What makes ``PASSES``; None where a version of llvmlite, before 0.45, does not have all of them."""
    manager = llvm.create_new_module_pass_manager()
    if not all(hasattr(manager, f"add_{name}_pass") for name in PASSES):
        return None
    for name in PASSES:
        getattr(manager, f"add_{name}_pass")()
    return manager


def compiled(function: FunctionType, signature: Any, options: dict[str, Any], **how: Any) -> tuple[Any, ...]:
    """A function compiled for these types, over so many ``lanes`` or with derivatives along so many ``directions`` if
    there are any: its machine code, the names that this needs, its own, and which of its arguments are functions."""
    codegen = cpu_target.target_context.codegen()
    name, roles, module = optimised(function, signature, options, **how)
    return (*emitted(codegen, module), name, roles)


def emitted(codegen: Any, module: llvm.ModuleRef) -> tuple[bytes, list[str]]:
    """The machine code of a module, and the names that it needs."""
    named = (one for kind in (module.functions, module.global_variables) for one in kind if one.is_declaration)
    return codegen._tm.emit_object(module), [one.name for one in named if not one.name.startswith("llvm.")]


@global_compiler_lock
@no_collections()
def optimised(function: FunctionType, signature: Any, options: dict[str, Any], **how: Any) -> tuple[Any, ...]:
    """The name of a compiled function, which of its arguments are functions, and its module."""
    teach()
    try:
        return _optimised(function, signature, options, **how)
    except NotImplementedError:  # an intrinsic that needs more of numba
        cpu_target.target_context.refresh()
        return _optimised(function, signature, options, **how)


def _optimised(
    function: FunctionType, signature: Any, options: Any, lanes: int = 0, directions: int = 0, thorough: bool = False
) -> tuple[Any, ...]:
    context: Any = copy.copy(cpu_target.target_context)
    context.refresh = lambda: None  # all that numba's compiler needs is not needed here
    codegen, typing = context.codegen(), cpu_target.typing_context
    arguments, result = signature.args, signature.return_type
    if result is None:
        raise Unsupported("a result of unknown type")
    module = codegen._create_empty_module(function.__qualname__)
    if lanes:
        unit: Unit = LaneUnit(context, typing, module, lanes)
    elif directions:
        from polhode.kernel.tangent_mode import TangentUnit

        unit = TangentUnit(context, typing, module, directions)
    else:
        unit = Unit(context, typing, module)
    unit.object_of = object_of
    name = f"polhode_{function.__name__}_{os.urandom(8).hex()}"
    roles = [k for k, kind in enumerate(arguments) if isinstance(kind, types.FunctionType)]
    with context.push_code_library(codegen.create_library(name)):
        entry = write_entry(unit, function, Options(options), arguments, result, name)
        if unit.closed:
            write_places(module, entry)
        if not any(isinstance(kind, types.CPointer) for kind in arguments):  # Python cannot give a pointer
            write_python(unit.writer(function, Options(options)), entry, arguments, result)
    if not (thorough or lanes):
        unit.copy_into_callers()
    return name, roles, optimised_module(codegen, module, thorough * (1 if lanes else int(config.OPT)))


def optimised_module(codegen: Any, module: ir.Module, level: int = 0) -> llvm.ModuleRef:
    """A module that is optimised once as a whole, not function by function before and twice, as numba's is for the sake
    of reference counts, of which there are none; by ``PASSES``, or LLVM's pipeline of a level."""
    codegen._check_llvm_bugs()
    text = str(module)
    if " x double>" in text and " alignstack(" not in text:
        for one in module.functions:  # else spilled vectors may lie in two cache lines, or pages
            one.attributes.alignstack = 64
        text = str(module)
    written = llvm.parse_assembly(cgutils.normalize_ir_text(text))
    written.verify()
    found = llvm.parse_assembly(str(codegen._create_empty_module(module.name)))
    found.link_in(written)  # which puts functions before those that call them
    builder = llvm.create_pass_builder(codegen._tm, passes(level or int(config.OPT)))
    few = None if level else few_passes()
    (few or builder.getModulePassManager()).run(found, builder)
    return found


def object_of(unit: Any, it: Helper, given: list[Value], directions: int = 0) -> Written:
    """The function of a helper, with derivatives along so many directions or over its lanes, for arguments of these
    shapes that is an object of its own: compiled once, whatever the kernels that call it."""
    codegen, shapes = unit.context.codegen(), tuple(shape_of(a) for a in given)
    if (it, shapes) in unit.functions:
        return unit.functions[it, shapes]
    width = unit.width if isinstance(unit, LaneUnit) else 0
    others = unit.replaced if width else unit.rules
    key = hashlib.sha256(b"".join(digest_of(one, {}) for one in (it, *others.values())))
    key.update(repr((compiler(), directions, width, outline(Tup(given)), processor())).encode())
    name = OBJECT + key.hexdigest()[:32]

    def make() -> tuple[Any, ...]:
        module = codegen._create_empty_module(name)
        own, lanes = Unit(unit.context, unit.typing, module), it.targetoptions.get("lanes", width)
        if lanes:
            own = LaneUnit(unit.context, unit.typing, module, lanes)
            own.replaced = unit.replaced if width else {}
        if directions:
            own = type(unit)(unit.context, unit.typing, module, directions)
            own.rules = unit.rules
        written = own.written(it.py_func, Options(it.targetoptions), given)
        entry = ir.Function(module, written.function.ftype, name)
        entry.attributes.alignstack = written.function.attributes.alignstack
        builder = Builder(entry.append_basic_block("entry"))
        found = builder.call(written.function, entry.args)
        builder.ret_void() if isinstance(found.type, ir.VoidType) else builder.ret(found)
        if not lanes:
            own.copy_into_callers()
        for one in own.finished if width else ():  # a call within would hand over numbers of all lanes in memory
            one.function.attributes.add("alwaysinline")
        return (*emitted(codegen, optimised_module(codegen, module, int(lanes > 0))), outline(written.result))

    result = with_outline(object_made(name, make), unit.kind, width)
    kinds = [unit.struct if leaf is unit.kind else unit.context.get_value_type(leaf) for leaf in leaves_of(result)]
    taken = [leaf.type for a in given for leaf in leaves_of(a)]
    whole = ir.LiteralStructType(kinds) if len(kinds) > 1 else next(iter(kinds), ir.VoidType())
    function = unit.module.globals.get(name) or ir.Function(unit.module, ir.FunctionType(whole, taken), name)
    found = unit.functions[it, shapes] = Written(function, result, False)
    return found


def write_places(module: ir.Module, entry: ir.Function) -> None:
    """Behind an entry PLACES more, each of which calls it with data of its own, from a table, where failures go."""
    kind = entry.ftype
    places = ir.GlobalVariable(module, ir.ArrayType(kind.args[1].pointee, PLACES), f"{entry.name}.data")
    places.initializer = ir.Constant(places.value_type, None)
    for k in range(PLACES):
        one = ir.Function(module, kind, f"{entry.name}.{k}")
        builder = Builder(one.append_basic_block("entry"))
        slot = builder.alloca(kind.args[1].pointee)
        builder.store(builder.load(builder.gep(places, [Constant(I32, 0), Constant(I32, k)])), slot)
        code = builder.call(entry, [one.args[0], slot, *one.args[2:]])
        builder.store(builder.load(slot), one.args[1])
        builder.ret(code)


OUTLINES = (FLOAT, INT, types.CPointer(FLOAT))
"""Types without derivatives that objects of their own take and return."""


def outline(value: Value) -> int | tuple[Any, ...]:
    """What a tuple of numbers is made of: numbers of OUTLINES, -1 of one with derivatives, -2 of one in lanes, or of
    which lanes are meant."""
    if isinstance(value, Tup | Known):  # nothing is known
        return tuple(map(outline, getattr(value, "parts", ())))
    from polhode.kernel.tangent_mode import is_active

    kind: Any = value.kind  # type: ignore[union-attr]
    return -2 if isinstance(kind, Lanes | Mask) else -1 if is_active(value) else OUTLINES.index(kind)


def with_outline(outline: int | tuple[Any, ...], active: types.Type, width: int) -> Value:
    """A value of this outline whose leaves are their types."""
    if isinstance(outline, tuple):
        return Tup([with_outline(part, active, width) for part in outline])
    kind = Lanes(width) if outline < -1 else active if outline < 0 else OUTLINES[outline]
    return Scalar(kind, kind)


def write_entry(
    unit: Unit, function: FunctionType, options: Options, arguments: Any, result: types.Type, name: str
) -> ir.Function:
    """Write the function that other kernels call, by numba's calling convention."""
    context, convention = unit.context, unit.context.call_conv
    kind = convention.get_function_type(result, arguments)
    entry = ir.Function(unit.module, kind, name)
    convention.decorate_function(entry, [f"a{k}" for k in range(len(arguments))], arguments, noalias=False)
    writer = unit.writer(function, options)
    builder, begin = begun(writer, entry)
    packed = convention._get_arg_packer(arguments).from_arguments(builder, convention.get_arguments(entry))
    values = [writer.from_numba(v, kind) for v, kind in zip(packed, arguments, strict=True)]
    written = unit.written(function, options, values)
    leaves = [leaf for value in values for leaf in leaves_of(value)]
    if written.fails:
        leaves.insert(0, convention._get_excinfo_argument(entry))
    value, code = writer.taken_apart(builder.call(written.function, leaves), written)
    if code is not None:
        with builder.if_then(is_failure(builder, code), likely=False):
            builder.ret(code)
    if result == types.none:
        made = context.get_dummy_value()
    else:
        made = context.get_return_value(builder, result, writer.as_numba(value, result))
    convention.return_value(builder, made)
    with builder.goto_block(writer.entry):
        builder.branch(begin)
    return entry


def begun(writer: Any, entry: ir.Function) -> tuple[Builder, ir.Block]:
    """The builder of a writer for code around a function, in a block behind that of its variables, and this block."""
    builder: Builder = writer.builder
    builder.contract, writer.entry = "", Block(entry)
    builder.position_at_end(Block(entry))
    return builder, builder.block


def is_failure(builder: Builder, code: ir.Value) -> ir.Value:
    """Whether a code is that of a failure."""
    return builder.and_(*[builder.icmp_signed("!=", code, Constant(code.type, n)) for n in NO_ERROR])


# ------------------------------------------------------------------ for Python
BYTE = ir.IntType(8)
POINTER = BYTE.as_pointer()
HEAD = object.__basicsize__
"""Bytes of an object before what is its own; its type stands at the end of these."""
BEGIN, NUMBER_OF, LENGTHS, KIND_OF, FLAGS = (HEAD + k for k in (0, 8, 16, 40, 48))
"""Where numpy's arrays say where their numbers are, how many dimensions they have, of what lengths, which kind of
numbers they hold (at BEGIN + 10 of these is the order of bytes, at BEGIN + 12 the number of the kind), and flags."""
GOOD = 0x501
"""C-contiguous, aligned, writable: of numpy's flags."""
NUMBERS = {FLOAT: np.dtype(np.float64).num, INT: np.dtype(np.int64).num}
UNBOXED = {FLOAT: ("PyFloat_AsDouble", F), INT: ("PyLong_AsLongLong", I), BOOL: ("PyObject_IsTrue", I32)}


def outside(module: ir.Module, name: str, result: ir.Type, *arguments: ir.Type, more: bool = False) -> ir.Function:
    """A function of Python's, by its name."""
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, arguments, var_arg=more), name)


def read_at(builder: Builder, whole: ir.Value, at: int, kind: ir.Type) -> ir.Value:
    """What stands so many bytes behind an address."""
    return builder.load(builder.bitcast(builder.gep(whole, [Constant(I, at)]), kind.as_pointer()))


def array_test(module: ir.Module) -> ir.Function:
    """The function that says whether an object is an array with so many dimensions, of such numbers, without gaps."""
    test = ir.Function(module, ir.FunctionType(BIT, [POINTER, I32, I32]), "polhode_is_array")
    test.linkage = "internal"
    test.attributes.add("noinline")
    ours = ir.GlobalVariable(module, BYTE, ARRAY)
    whole, dimensions, number = test.args
    builder = Builder(Block(test))
    other, array = Block(test), Block(test)
    builder.cbranch(builder.icmp_signed("==", read_at(builder, whole, HEAD - 8, POINTER), ours), array, other)
    builder.position_at_end(other)
    builder.ret(Constant(BIT, 0))
    builder.position_at_end(array)
    held = read_at(builder, whole, KIND_OF, POINTER)
    flags = builder.and_(read_at(builder, whole, FLAGS, I32), Constant(I32, GOOD))
    tests = (
        (flags, Constant(I32, GOOD)), (read_at(builder, whole, NUMBER_OF, I32), dimensions),
        (read_at(builder, held, BEGIN + 12, I32), number),  # then the order of bytes, which is < or =
        (builder.and_(read_at(builder, held, BEGIN + 10, BYTE), Constant(BYTE, 0xFE)), Constant(BYTE, ord("<"))),
    )  # fmt: skip
    builder.ret(functools.reduce(builder.and_, [builder.icmp_signed("==", a, b) for a, b in tests]))
    return test


def write_python(writer: Any, kernel: ir.Function, arguments: Any, result: types.Type) -> None:
    """Write the function that Python calls: numbers and arrays from objects, without the lock of the interpreter while
    it runs. What is wrong is told to ``machine.failed``, which is the object that it is a method of."""
    module, context, convention = kernel.module, writer.context, writer.context.call_conv
    entry = ir.Function(module, ir.FunctionType(POINTER, [POINTER, POINTER.as_pointer(), I]), kernel.name + CALLED)
    builder, begin = begun(writer, entry)
    told, given, count = entry.args

    def stop(test: ir.Value, result: Callable[[], ir.Value]) -> None:
        end, go_on = Block(entry), Block(entry)
        builder.cbranch(test, end, go_on)
        builder.position_at_end(end)
        builder.ret(result())
        builder.position_at_end(go_on)

    def refused(code: ir.Value, failure: ir.Value) -> ir.Value:
        ask = outside(module, "PyObject_CallFunction", POINTER, POINTER, POINTER, more=True)
        return builder.call(ask, [told, context.insert_const_string(module, "iL"), code, failure])

    def wrong() -> ir.Value:
        return refused(Constant(I32, 0), Constant(I, 0))

    stop(builder.icmp_signed("!=", count, Constant(I, len(arguments))), wrong)
    objects = [builder.load(builder.gep(given, [Constant(I, k)])) for k in range(len(arguments))]
    arrays = [(one, kind) for one, kind in zip(objects, arguments, strict=True) if isinstance(kind, types.Array)]
    if arrays:
        test = array_test(module)
        found = [
            builder.call(test, [one, Constant(I32, kind.ndim), Constant(I32, NUMBERS[kind.dtype])])
            for one, kind in arrays
        ]
        stop(builder.icmp_signed("==", functools.reduce(builder.and_, found), Constant(BIT, 0)), wrong)
    values: list[Value] = []
    for one, kind in zip(objects, arguments, strict=True):
        if isinstance(kind, types.Array):
            lengths = read_at(builder, one, LENGTHS, I.as_pointer())
            sizes = [builder.load(builder.gep(lengths, [Constant(I, k)])) for k in range(kind.ndim)]
            data = read_at(builder, one, BEGIN, context.get_value_type(kind).elements[4])
            values.append(View(kind.dtype, data, sizes))
            continue
        role = isinstance(kind, types.FunctionType)
        if not role and kind not in UNBOXED:
            raise Unsupported(f"an argument that is a {kind}")
        of_python, form = UNBOXED[INT if role else kind]
        number = builder.call(outside(module, of_python, form, POINTER), [one])
        if role:
            struct = cgutils.create_struct_proxy(kind)(context, builder)
            struct.jit_addr = builder.inttoptr(number, POINTER)
            number = struct._getvalue()
        elif kind is BOOL:
            number = builder.icmp_signed("!=", number, Constant(I32, 0))
        values.append(writer.from_numba(number, kind))
    null = Constant(POINTER, None)
    if len(arrays) < len(arguments):
        raised = builder.call(outside(module, "PyErr_Occurred", POINTER), [])
        stop(builder.icmp_signed("!=", raised, null), lambda: null)
    slots = [builder.alloca(kind.pointee) for kind in kernel.ftype.args[:2]]
    given = [writer.as_numba(value, kind) for value, kind in zip(values, arguments, strict=True)]
    state = builder.call(outside(module, "PyEval_SaveThread", POINTER), [])
    code = builder.call(kernel, [*slots, *convention._get_arg_packer(arguments).as_arguments(builder, given)])
    builder.call(outside(module, "PyEval_RestoreThread", ir.VoidType(), POINTER), [state])
    stop(builder.icmp_signed("==", code, Constant(code.type, RETCODE_EXC)), lambda: null)
    stop(is_failure(builder, code), lambda: refused(code, builder.ptrtoint(builder.load(slots[1]), I)))
    value: Any = None
    if result != types.none:
        value = writer.from_numba(context.get_returned_value(builder, result, builder.load(slots[0])), result)
    kinds, form = getattr(result, "types", () if result == types.none else (result,)), ""
    parts = value.parts if isinstance(value, Tup) else (value,)
    numbers = [writer.cast(part, kind) for part, kind in zip(parts, kinds, strict=False)]
    form = "".join("d" if number.type == F else "L" for number in numbers)
    form = f"({form})" if isinstance(result, types.BaseTuple) else form
    build = outside(module, "Py_BuildValue", POINTER, POINTER, more=True)
    builder.ret(builder.call(build, [context.insert_const_string(module, form), *numbers]))
    with builder.goto_block(writer.entry):
        builder.branch(begin)
