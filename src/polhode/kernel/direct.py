"""Compiles kernels by ``translate``, five to nine times as fast as numba; LLVM and calling conventions are numba's.

What ``translate`` does not know is compiled by numba as before: ``Compiler.compile`` chooses. Both write the same
operations in the same order, so results differ at most where LLVM fuses another multiplication into an addition.
"""

from __future__ import annotations

import copy
import functools
import gc
import hashlib
import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from types import CodeType, FunctionType
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import base, config, typing
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.experimental import function_type as function_type  # what numba knows of functions as arguments

from polhode.kernel.cache import OBJECT, object_made
from polhode.kernel.calls import NO_ERROR, Options, Written
from polhode.kernel.later import PLACES, teach
from polhode.kernel.reach import contents, digest_of
from polhode.kernel.source import Refused, Unsupported
from polhode.kernel.text import I32, Block, Builder, Constant
from polhode.kernel.translate import Unit
from polhode.kernel.values import FLOAT, INT, Known, Scalar, Tup, Value, leaves_of, shape_of

_numbers = itertools.count()
COMPILER = (
    "calls", "direct", "lane_memory", "lane_mode", "numba_lanes", "source", "tangent_mode", "text", "translate",
    "values",
)  # fmt: skip
"""The files that write kernels; those of lanes and derivatives are loaded with the first of these."""


@functools.cache
def digest() -> str:
    """Digest of this compiler, part of the key of the kernels on disk."""
    total = hashlib.sha256()
    for name in COMPILER:
        spec: Any = find_spec(f"polhode.kernel.{name}")
        _absorb(total, spec.loader.get_code(spec.name))
    return total.hexdigest()


def _absorb(total: hashlib._Hash, code: CodeType) -> None:
    """Add code to a digest, without line numbers, and without texts that have spaces: docstrings, messages."""
    constants = [
        sorted(map(repr, c)) if isinstance(c, frozenset) else c
        for c in code.co_consts
        if not isinstance(c, CodeType) and not (isinstance(c, str) and " " in c)
    ]
    if "__firstlineno__" in code.co_names:  # the body of a class from Python 3.13 on
        own = tuple(c.co_name if isinstance(c, CodeType) else c for c in code.co_consts)
        total.update(contents(code.replace(co_consts=own))[0])
    else:
        total.update(code.co_code + repr((code.co_names, code.co_varnames, constants)).encode())
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            _absorb(total, inner)


def passes() -> llvm.PipelineTuningOptions:
    """Which optimisations LLVM makes: numba's, but that it unrolls no loops and makes no vectors of them.

    Loops of kernels are long, or short with bodies of several hundred instructions: unrolled, they take a fifth longer
    to compile and run no faster, mostly 1 to 8 % slower.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=int(config.OPT))
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

Loops with steps of variable size are 5 to 10 % faster with all, lanes of bodies that rotate 10 to 20 %."""


def few_passes() -> llvm.ModulePassManager | None:
    """What makes ``PASSES``; None where a version of llvmlite, before 0.45, does not have all of them."""
    manager = llvm.create_new_module_pass_manager()
    if not all(hasattr(manager, f"add_{name}_pass") for name in PASSES):
        return None
    for name in PASSES:
        getattr(manager, f"add_{name}_pass")()
    return manager


class Library(JITCodeLibrary):  # type: ignore[misc]
    """Code that is optimised once as a whole, not function by function before and twice, as numba's is for the sake of
    reference counts, of which there are none."""

    def _optimize_functions(self, ll_module: llvm.ModuleRef) -> None:
        ll_module.data_layout = self._codegen._data_layout

    thorough = False
    """Whether all of LLVM's optimisations are made, not only ``PASSES``."""

    def _optimize_final_module(self) -> None:
        builder = llvm.create_pass_builder(self._codegen._tm, passes())
        few = None if self.thorough else few_passes()
        (few or builder.getModulePassManager()).run(self._final_module, builder)


class Compiler:
    """Stands before numba's compiler of one dispatcher; for so many lanes (see ``lane_mode``), or derivatives along so
    many directions (see ``tangent_mode``), in its place."""

    leaves = True
    """Whether what ``translate`` does not know is left to numba: functions of users."""

    def __init__(self, dispatcher: CPUDispatcher, kept: bool = False, **how: int) -> None:
        teach()
        self.dispatcher, self.numba, self.how, self.kept, self.reason = dispatcher, dispatcher._compiler, how, kept, ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.numba, name)

    def compile(self, args: Sequence[types.Type], return_type: types.Type | None) -> CompileResult:
        """The compiled function; ``reason`` says why it was left to numba, if it was."""
        if self.kept:
            raise Unsupported("their kernel, which is not compiled yet")
        try:
            try:
                return compiled(self.dispatcher, args, return_type, **self.how)
            except NotImplementedError:  # an intrinsic that needs more of numba
                self.dispatcher.targetctx.refresh()
                return compiled(self.dispatcher, args, return_type, **self.how)
        except Unsupported as problem:
            self.reason = str(problem)
            if isinstance(problem, Refused) or not self.leaves or {"lanes", "directions"} & self.how.keys():
                raise
        return self.numba.compile(args, return_type)


def _ready(whole: base.BaseContext) -> base.BaseContext:
    """A copy of numba's context that writes its wrappers without loading all that numba's compiler needs."""
    context = copy.copy(whole)
    context.refresh = lambda: None
    return context


@contextmanager
def _no_collections() -> Iterator[None]:
    """A block in which Python does not look for unused objects: it would look at all there are, and find none."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@global_compiler_lock
@_no_collections()
def compiled(
    dispatcher: CPUDispatcher, arguments: Any, result: Any, lanes: int = 0, directions: int = 0, thorough: bool = False
) -> CompileResult:
    """Compile the function of a dispatcher for these types, over lanes or with derivatives if there are any."""
    function, options = dispatcher.py_func, dict(dispatcher.targetoptions)
    context = _ready(dispatcher.targetctx)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    label = f"{function.__qualname__}.{os.urandom(8).hex()}"
    if result is None:
        raise Unsupported("a result of unknown type")
    descriptor = PythonFunctionDescriptor(
        native=True, modname=function.__module__, qualname=function.__qualname__, unique_name=label, doc="", typemap={},
        restype=result, calltypes={}, args=names, kws=(), argtypes=tuple(arguments), mangler=context.mangler,
        abi_tags=(hashlib.sha256(label.encode()).hexdigest()[:16],), uid=next(_numbers),
    )  # fmt: skip
    library = Library(context.codegen(), function.__qualname__)
    library.enable_object_caching()
    library.thorough = thorough
    module = library.create_ir_module(function.__qualname__)
    if lanes:
        from polhode.kernel.lane_mode import LaneUnit

        unit: Unit = LaneUnit(context, dispatcher.typingctx, module, lanes)
    elif directions:
        from polhode.kernel.tangent_mode import TangentUnit

        unit = TangentUnit(context, dispatcher.typingctx, module, directions, object_of)
    else:
        unit = Unit(context, dispatcher.typingctx, module)
    with context.push_code_library(library):
        entry = write_entry(unit, function, Options(options), descriptor)
    if unit.closed:
        write_places(module, entry)
    if not library.thorough and not lanes:
        unit.copy_into_callers()
    context.declare_env_global(module, context.get_env_name(descriptor))
    library.add_ir_module(entry.module)
    environment = Environment.from_fndesc(descriptor)
    if not any(isinstance(kind, types.CPointer) for kind in arguments):  # Python cannot give a pointer
        rtsys.initialize(dispatcher.targetctx)
        library.add_linking_library(rtsys.library)
        context.create_cpython_wrapper(library, descriptor, environment, None, bool(options.get("nogil")))
    if not any(isinstance(kind, types.Array | types.FunctionType) for kind in arguments):  # roles take none
        context.create_cfunc_wrapper(library, descriptor, environment, None)
    cfunc = context.get_executable(library, descriptor, environment)
    dispatcher.targetctx.insert_user_function(cfunc, descriptor, [library])
    return compile_result(
        typing_context=dispatcher.typingctx, target_context=dispatcher.targetctx, entry_point=cfunc, typing_error=None,
        type_annotation="", library=library, call_helper=None, signature=typing.signature(result, *arguments),
        objectmode=False, lifted=(), fndesc=descriptor, environment=environment, metadata={}, reload_init=[],
    )  # fmt: skip


def object_of(unit: Any, it: CPUDispatcher, given: list[Value], directions: int) -> Written:
    """The function of a helper, with derivatives along so many directions, for arguments of these shapes that is an
    object of its own: compiled once, whatever the kernels that call it."""
    codegen, shapes = unit.context.codegen(), tuple(shape_of(a) for a in given)
    if (it, shapes) in unit.functions:
        return unit.functions[it, shapes]
    key = hashlib.sha256(b"".join(digest_of(one, {}) for one in (it, *unit.rules.values())))
    key.update(repr((digest(), directions, outline(Tup(given)), codegen.magic_tuple())).encode())
    name = OBJECT + key.hexdigest()[:32]

    def make() -> tuple[Library, Any]:
        library = Library(codegen, name)
        library.enable_object_caching()
        module = library.create_ir_module(name)
        own = Unit(unit.context, unit.typing, module)
        if directions:
            own = type(unit)(unit.context, unit.typing, module, directions)
            own.rules = unit.rules
        written = own.written(it.py_func, Options(it.targetoptions), given)
        entry = ir.Function(module, written.function.ftype, name)
        builder = Builder(entry.append_basic_block("entry"))
        found = builder.call(written.function, entry.args)
        builder.ret_void() if isinstance(found.type, ir.VoidType) else builder.ret(found)
        own.copy_into_callers()
        library.add_ir_module(module)
        library.finalize()
        return library, outline(written.result)

    result = with_outline(object_made(name, codegen, make), unit.kind)
    kinds = [unit.struct if leaf is unit.kind else unit.context.get_value_type(leaf) for leaf in leaves_of(result)]
    taken = [leaf.type for a in given for leaf in leaves_of(a)]
    whole = ir.LiteralStructType(kinds) if len(kinds) > 1 else next(iter(kinds), ir.VoidType())
    function = ir.Function(unit.module, ir.FunctionType(whole, taken), name)
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
    """What a tuple of numbers is made of: numbers of OUTLINES, -1 of one with derivatives."""
    if isinstance(value, Tup | Known):  # nothing is known
        return tuple(map(outline, getattr(value, "parts", ())))
    from polhode.kernel.tangent_mode import is_active

    return -1 if is_active(value) else OUTLINES.index(value.kind)  # type: ignore[union-attr]


def with_outline(outline: int | tuple[Any, ...], active: types.Type) -> Value:
    """A value of this outline whose leaves are their types."""
    if isinstance(outline, tuple):
        return Tup([with_outline(part, active) for part in outline])
    kind = active if outline < 0 else OUTLINES[outline]
    return Scalar(kind, kind)


def write_entry(unit: Unit, function: FunctionType, options: Options, descriptor: Any) -> ir.Function:
    """Write the function that numba's wrappers call, by numba's calling convention."""
    context, convention = unit.context, unit.context.call_conv
    arguments, result = descriptor.argtypes, descriptor.restype
    kind = convention.get_function_type(result, arguments)
    entry = ir.Function(unit.module, kind, descriptor.llvm_func_name)
    convention.decorate_function(entry, descriptor.args, arguments, noalias=False)
    writer = unit.writer(function, options)
    builder = writer.builder
    builder.contract = ""
    writer.entry = Block(entry)
    builder.position_at_end(Block(entry))
    begin = builder.block
    packer = convention._get_arg_packer(arguments)
    packed = packer.from_arguments(builder, convention.get_arguments(entry))
    values = [writer.from_numba(v, kind) for v, kind in zip(packed, arguments, strict=True)]
    written = unit.written(function, options, values)
    leaves = [leaf for value in values for leaf in leaves_of(value)]
    if written.fails:
        leaves.insert(0, convention._get_excinfo_argument(entry))
    found = builder.call(written.function, leaves)
    value, code = writer.taken_apart(found, written)
    if code is not None:
        tests = [builder.icmp_signed("!=", code, Constant(code.type, n)) for n in NO_ERROR]
        with builder.if_then(builder.and_(*tests), likely=False):
            builder.ret(code)
    if result == types.none:
        made = context.get_dummy_value()
    else:
        made = context.get_return_value(builder, result, writer.as_numba(value, result))
    convention.return_value(builder, made)
    with builder.goto_block(writer.entry):
        builder.branch(begin)
    return entry
