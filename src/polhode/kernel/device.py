"""Time loops for graphics processors: the loop of one member of an ensemble as PTX, by the compiler of all kernels.

A thread takes one member through its steps. Everything that is constant for all members (numbers of bodies, tables of
the method, slots) is constant in the code, and every call is inlined, so that states and loads are numbers in
registers; loads are called directly where kernels call them by address. The code is written from the same Python as
the loops of ``kernel.drive`` and differs from them in two things: functions such as ``sin`` come from elsewhere
(``Writer.library``), and LLVM chooses on its own which multiplications it fuses into additions.

``PTX`` is the target of a device; ``HOST`` makes the same module run here, one thread after the other, so that its
results can be compared without a device.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import f8, i8, types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from polhode.errors import InvalidInput
from polhode.kernel import drive, jit, layout as L, translate
from polhode.kernel.calls import Options
from polhode.kernel.jit import pointer
from polhode.kernel.later import OPTIONS, Intrinsic, by_hand
from polhode.kernel.machine import features, triple
from polhode.kernel.many import TOO_MANY_STEPS
from polhode.kernel.signatures import Workspace
from polhode.kernel.source import Unsupported
from polhode.kernel.step_size import CONTROLLERS
from polhode.kernel.text import I32, Builder, Constant, F, I
from polhode.kernel.values import FLOAT, INT, Scalar, Tup, Value

TRIPLE = "nvptx64-nvidia-cuda"
ARCHITECTURE = "sm_90"
"""Of Hopper (H100, H200); drivers translate its code for later ones."""
VERSION = "+ptx80"
"""Of PTX: drivers of CUDA 12.0 and later read it."""
THREADS = 128
"""Threads of a block."""
MOST_COPIED = 32
"""Most parameters of which a member keeps a copy of its own in registers."""
CARRIED = (L.SCALE, L.ROW_ITERATIONS, L.TOTAL_ITERATIONS, L.EVALUATIONS)
"""Slots of the step info that a member keeps from launch to launch."""

# ------------------------------------------------------------------ memory of a thread
y_memory = jit.hole("y_memory() -> pointer", "The state.")
stage_memory = jit.hole("stage_memory() -> pointer", "A second state.")
kept_memory = jit.hole("kept_memory() -> pointer", "The state before a step.")
load_memory = jit.hole("load_memory() -> pointer", "Loads.")
work_memory = jit.hole("work_memory() -> pointer", "Scratch memory.")
info_memory = jit.hole("info_memory() -> pointer", "Step info.")
bodies_memory = jit.hole("bodies_memory() -> pointer", "Constants of the bodies.")
parameters_memory = jit.hole("parameters_memory() -> pointer", "Parameters, where they are copied.")
watch_memory = jit.hole("watch_memory() -> pointer", "Addresses of events, which there are none of.")
info_fixed = jit.hole("info_fixed() -> pointer", "Step info at the start.")
coefficients_fixed = jit.hole("coefficients_fixed() -> pointer", "Coefficients of the method.")
integers_fixed = jit.hole("integers_fixed() -> pointer", "Integer coefficients of the method.")
blocks_fixed = jit.hole("blocks_fixed() -> pointer", "Blocks of unknowns.")
WIDTH = jit.hole("WIDTH", "Numbers of a state.")
N = jit.hole("N", "Number of bodies.")
B = jit.hole("B", "Number of blocks.")
LOAD = jit.hole("LOAD", "Numbers of the loads.")
WORK = jit.hole("WORK", "Numbers of scratch memory.")
S = jit.hole("S", "Number of auxiliary variables.")
COPIED = jit.hole("COPIED", "Number of parameters that are copied.")
loads = jit.hole("loads(part, t, N, y, bodies, parameters, out)", "The loads.")
GIVEN = jit.hole("GIVEN", "Number of parameters without the memory behind them.")
marched = jit.hole("marched(...) -> status", "The loop of steps of one size.")
adapted = jit.hole("adapted(...) -> status", "The loop of chosen steps.")
controller_memory = jit.hole("controller_memory() -> pointer", "What an adaptive loop remembers.")


def _local(kind: types.Type, size: int) -> Callable[..., Any]:
    """The intrinsic for so many numbers of a thread's own."""

    @Intrinsic
    def local(typing):
        def build(context, builder, signature, arguments):
            whole = ir.ArrayType(context.get_value_type(kind), max(1, size))
            return builder.gep(cgutils.alloca_once(builder, whole), [Constant(I, 0)] * 2)

        return types.CPointer(kind)(), build

    return local


def fixed_numbers(values: np.ndarray) -> Callable[..., Any]:
    """The intrinsic for numbers that are part of the code."""
    values = np.ravel(values)
    kind = i8 if values.dtype.kind == "i" else f8

    @Intrinsic
    def fixed(typing):
        def build(context, builder, signature, arguments):
            number = context.get_value_type(kind)
            numbers = [Constant(number, x) for x in values.tolist()] or [Constant(number, 0)]
            whole = Constant(ir.ArrayType(number, len(numbers)), numbers)
            return builder.gep(cgutils.global_constant(builder.module, "fixed", whole), [Constant(I, 0)] * 2)

        return types.CPointer(kind)(), build

    return fixed


shifted = by_hand(
    "shifted", lambda memory, k: memory(memory, types.intp), lambda builder, memory, k: builder.gep(memory, [k])
)


@jit.inlined
def view(memory, *lengths):
    """An array on memory, of one or two dimensions."""


view.in_kernels = "view"  # for ``translate``


@jit.inlined
def workspace_of_thread(N, B, y, addresses):
    """The workspace of a member, for ``drive.workspace_at``."""
    bodies, parameters, stage_state, load, work, step_info = addresses
    return Workspace(
        N, B, S, pointer(y), bodies, parameters, loads, coefficients_fixed(), integers_fixed(), blocks_fixed(),
        stage_state, load, work, step_info, shifted(bodies, L.CONSTANTS * N),
    )  # fmt: skip


@jit.replaceable
@jit.inlined
def take_up(i, states, bodies, own_bodies, carried, y, stage, load, work, own, info):
    """Copy a member's state and constants, and set the rest of its memory as at the start of a run."""
    beginning = info_fixed()
    for k in range(L.STEP_INFO):
        info[k] = beginning[k]
    info[L.SCALE] = carried[4 * i]
    info[L.ROW_ITERATIONS] = carried[4 * i + 1]
    info[L.TOTAL_ITERATIONS] = carried[4 * i + 2]
    info[L.EVALUATIONS] = carried[4 * i + 3]
    for k in range(WIDTH):
        y[k] = stage[k] = states[i * WIDTH + k]
    for k in range(LOAD):
        load[k] = 0.0
    for k in range(WORK):
        work[k] = 0.0
    for k in range(L.OF_BODY * N):
        own[k] = bodies[i * own_bodies + k]


@jit.replaceable
@jit.inlined
def put_down(i, states, carried, y, info):
    """Keep a member's state and what a step remembers for the next launch."""
    carried[4 * i] = info[L.SCALE]
    carried[4 * i + 1] = info[L.ROW_ITERATIONS]
    carried[4 * i + 2] = info[L.TOTAL_ITERATIONS]
    carried[4 * i + 3] = info[L.EVALUATIONS]
    for k in range(WIDTH):
        states[i * WIDTH + k] = y[k]


@jit.replaceable
@jit.inlined
def parameters_of(i, parameters, own_parameters, copy):
    """Where a member reads its parameters."""
    if COPIED > 0:
        for k in range(COPIED):
            copy[k] = parameters[i * own_parameters + k] if k < GIVEN else 0.0
        return copy
    return shifted(parameters, i * own_parameters)


def march_member(
    i, task, first, n, every, due, t0, h, limit, states, bodies, own_bodies, parameters, own_parameters, carried, rows,
    counts, statuses, done,
):  # fmt: skip
    """Take member ``i`` through ``n`` steps of size ``h``, unless it has failed before (its status is not OK).

    ``states`` (members, WIDTH) are changed; ``bodies`` and ``parameters`` are those of all members, or of each where
    ``own_bodies`` or ``own_parameters``, the distance from one member to the next, is not 0. ``rows`` (members, due,
    WIDTH) and ``counts`` receive what falls due with its iterations, ``done`` the completed steps, which are added;
    ``carried`` as of ``CARRIED``, all others as of ``drive.march``."""
    if statuses[i] != L.OK:
        return
    y, stage, load, work = view(y_memory(), WIDTH), stage_memory(), load_memory(), work_memory()
    own, info = bodies_memory(), info_memory()
    take_up(i, states, bodies, own_bodies, carried, y, stage, load, work, own, info)
    read = parameters_of(i, parameters, own_parameters, parameters_memory())
    statuses[i] = marched(
        task, first, n, every, t0, h, limit, N, B, y, (own, read, stage, load, work, info),
        view(shifted(rows, i * due * WIDTH), due, WIDTH), view(shifted(counts, i * due), due),
        view(watch_memory(), 3), view(info, 0), view(kept_memory(), 2 * WIDTH),
    )  # fmt: skip
    done[i] += int(info[L.STEPS_DONE])
    put_down(i, states, carried, y, info)


def adapt_member(
    i, attempts, most, q, due, relative, absolute, longest, shortest, end, limit, samples, states, bodies, own_bodies,
    parameters, own_parameters, carried, controls, rows, counts, sizes, statuses, done, left,
):  # fmt: skip
    """Take member ``i`` on by at most ``attempts`` steps of chosen size, unless it has failed or arrived before.

    It may try ``most`` steps in all, by tolerances ``relative`` and ``absolute``, and has ``due`` samples. ``controls``
    is what its loop remembers, ``sizes`` receives those of the steps of each row; ``done`` the rows written, which are
    added; ``left`` is 1 for a member on its way, set to 0 where it ends. Others as of ``march_member``,
    ``march_adaptive``."""
    if left[i] == 0:
        return
    y, stage, load, work = view(y_memory(), WIDTH), stage_memory(), load_memory(), work_memory()
    own, info, controller = bodies_memory(), info_memory(), view(controller_memory(), L.CONTROLLER_STATE)
    take_up(i, states, bodies, own_bodies, carried, y, stage, load, work, own, info)
    info[L.RELATIVE], info[L.ABSOLUTE] = relative, absolute
    read = parameters_of(i, parameters, own_parameters, parameters_memory())
    kept = view(kept_memory(), WIDTH)
    for k in range(WIDTH):
        kept[k] = y[k]
    for k in range(L.CONTROLLER_STATE):
        controller[k] = controls[i * L.CONTROLLER_STATE + k]
    tried = int(controller[L.ACCEPTED] + controller[L.REJECTED])
    at = i * due + done[i]
    there = view(shifted(sizes, at), due - done[i])  # times, which the sizes are written over
    status = adapted(
        min(attempts, most - tried), 0, q, limit, longest, shortest, end, view(samples, due), N, B, y,
        (own, read, stage, load, work, info), controller, kept, there, there,
        view(shifted(rows, at * WIDTH), due - done[i], WIDTH), view(shifted(counts, at), due - done[i]), 0,
        view(watch_memory(), 3), view(info, 0),
    )  # fmt: skip
    done[i] += int(controller[L.ROWS])
    arrived = controller[L.TIME] == end
    if status == L.OK and not arrived and int(controller[L.ACCEPTED] + controller[L.REJECTED]) >= most:
        status = TOO_MANY_STEPS
    statuses[i] = status
    left[i] = 1 if status == L.OK and not arrived else 0
    for k in range(L.CONTROLLER_STATE):
        controls[i * L.CONTROLLER_STATE + k] = controller[k]
    put_down(i, states, carried, y, info)


# ------------------------------------------------------------------ the compiler
Library = Mapping[str, Any]
"""Functions of numbers as helpers, by their names in C, for what devices have no instructions for."""
PLAIN = frozenset({"sqrt", "floor", "ceil", "trunc", "rint", "fabs", "copysign", "fma"})
"""Functions that are instructions of a device."""


class Writer(translate.Writer):
    """Writes one function for a device: what the C library and LLVM do elsewhere comes from ``library``."""

    def library(self, name: str, *arguments: ir.Value) -> ir.Value:
        """A function of numbers by its name in C."""
        unit: Unit = self.unit
        if name in PLAIN:
            return super().intrinsic(f"llvm.{name}.f64", *arguments)
        if name in unit.library:
            found = self.helper(unit.library[name], [Scalar(FLOAT, a) for a in arguments], {})
            return self.cast(found, FLOAT)
        if unit.target.device:
            raise Unsupported(f"a call of {name}, which devices lack")
        return super().extern(name, *arguments)

    def extern(self, name: str, *arguments: ir.Value, pure: bool = True) -> ir.Value:
        return self.library(name, *arguments)

    def intrinsic(self, name: str, *arguments: ir.Value) -> ir.Value:
        return self.library(name.split(".")[1], *arguments)

    def real_division(self, a: ir.Value, b: ir.Value, remainder: bool) -> ir.Value:
        raise Unsupported("a remainder of numbers")

    def function_of_numbers(self, it: Callable[..., Any], x: list[Value]) -> Value:
        if it is math.ldexp and len(x) == 2:
            return Scalar(FLOAT, self.scaled(self.cast(x[0], FLOAT), self.cast(x[1], INT)))
        if it is math.frexp and len(x) == 1:
            part, exponent = self.parted(self.cast(x[0], FLOAT))
            return Tup([Scalar(FLOAT, part), Scalar(INT, exponent)])
        return super().function_of_numbers(it, x)

    def parted(self, x: ir.Value) -> tuple[ir.Value, ir.Value]:
        """x as a number of [1/2, 1) and the exponent of 2, as ``math.frexp``."""
        b, zero = self.builder, Constant(I, 0)

        def exponent_of(bits: ir.Value) -> ir.Value:
            return b.and_(b.lshr(bits, Constant(I, 52)), Constant(I, 0x7FF))

        bits = b.bitcast(x, I)
        small = b.icmp_signed("==", exponent_of(bits), zero)
        bits = b.select(small, b.bitcast(b.fmul(x, Constant(F, 2.0**54)), I), bits)
        plain = b.and_(
            b.fcmp_ordered("!=", x, Constant(F, 0.0)), b.icmp_signed("!=", exponent_of(bits), Constant(I, 0x7FF))
        )
        half = b.or_(b.and_(bits, Constant(I, -(0x7FF << 52) - 1)), Constant(I, 1022 << 52))
        lost = b.select(small, Constant(I, 1022 + 54), Constant(I, 1022))
        return (b.select(plain, b.bitcast(half, F), x), b.select(plain, b.sub(exponent_of(bits), lost), zero))

    def scaled(self, x: ir.Value, n: ir.Value) -> ir.Value:
        """x times 2 to the power n, rounded once, as ``math.ldexp`` for what does not overflow."""
        b = self.builder
        for _ in range(2):  # beyond, the result is 0 or infinite anyway
            for symbol, limit, factor in ((">", 1023, 1023), ("<", -1022, -1022 + 53)):
                beyond = b.icmp_signed(symbol, n, Constant(I, limit))
                x = b.select(beyond, b.fmul(x, Constant(F, 2.0**factor)), x)
                n = b.select(beyond, b.sub(n, Constant(I, factor)), n)
        for symbol, limit in ((">", 1023), ("<", -1022)):
            n = b.select(b.icmp_signed(symbol, n, Constant(I, limit)), Constant(I, limit), n)
        return b.fmul(x, b.bitcast(b.shl(b.add(n, Constant(I, 1023)), Constant(I, 52)), F))


class Unit(translate.Unit):
    """One module for a target, with a library; without one what is no instruction is the C library's."""

    stops = False

    def __init__(self, context: Any, typing: Any, module: ir.Module, target: Target, library: Library) -> None:
        super().__init__(context, typing, module, Writer)
        self.target, self.library = target, library


class Target(NamedTuple):
    """What code is written for, as LLVM calls it; the processor of this machine where that is empty."""

    name: str
    triple: str
    processor: str
    features: str
    apart: bool = False  # whether products and sums are rounded each, so that all processors give the same numbers

    @property
    def device(self) -> bool:
        """Whether it is no processor such as this one."""
        return self.triple == TRIPLE

    def machine(self) -> llvm.TargetMachine:
        """LLVM's target machine."""
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        try:
            found = llvm.Target.from_triple(self.triple)
        except RuntimeError:
            raise InvalidInput(f"this llvmlite has no target {self.triple!r}; take the wheel of llvmlite") from None
        if self.processor:
            return found.create_target_machine(cpu=self.processor, features=self.features, opt=3)
        return found.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features().flatten(), opt=3, jit=True)


def ptx(architecture: str = ARCHITECTURE) -> Target:
    """Devices of an architecture such as "sm_90"."""
    return Target("device", TRIPLE, architecture, VERSION)


HOST = Target("host", triple(), "", "")


class Loop(NamedTuple):
    """What a loop of members is made of; arrays as of a run's ``Integrator``."""

    step: Callable[..., Any]  # step, converter: as of ``drive.loop_for``
    converter: tuple[Callable[..., Any], Callable[..., Any]] | None
    loads: Callable[..., Any]  # the LOADS role, compiled or not
    N: int
    blocks: np.ndarray  # blocks of bodies, as of ``Workspace``
    auxiliary: int  # number of auxiliary variables
    width: int  # lengths of the state, of ``load`` and of ``work``
    load: int
    work: int
    coefficients: np.ndarray  # coefficients, int_coefficients, step_info: as of ``Workspace``
    int_coefficients: np.ndarray
    step_info: np.ndarray
    parameters: int  # numbers of parameters, and of memory of the roles behind them
    memory: int
    processed: bool = False  # whether the method works on states of its own, prepared before the first step
    dense: Callable[..., Any] | None = None  # dense, controller: as of ``drive.adaptive_loop_for``
    controller: str | None = None  # without one steps are of one size

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Types of the arguments of ``march_member`` or ``adapt_member`` but the first, the number of the member."""
        return ARGUMENTS if self.controller is None else ADAPTIVE_ARGUMENTS

    def copied(self) -> int:
        """How many parameters a member copies."""
        whole = self.parameters + self.memory
        return whole if self.memory or whole <= MOST_COPIED else 0

    def template(self) -> FunctionType:
        """``march_member`` or ``adapt_member`` with all of this bound in."""
        workspace = jit.inlined(jit.bind(
            workspace_of_thread, S=self.auxiliary, loads=jit.helper(jit.python_of(self.loads)),
            coefficients_fixed=fixed_numbers(self.coefficients), integers_fixed=fixed_numbers(self.int_coefficients),
            blocks_fixed=fixed_numbers(self.blocks),
        ))  # fmt: skip
        bound = {"step": self.step, "workspace_at": workspace}
        sizes = {"WIDTH": self.width, "N": self.N}
        common = sizes | {
            "B": len(self.blocks) // 2, "y_memory": _local(f8, self.width), "stage_memory": _local(f8, self.width),
            "kept_memory": _local(f8, 2 * self.width), "load_memory": _local(f8, self.load),
            "work_memory": _local(f8, self.work), "info_memory": _local(f8, L.STEP_INFO),
            "bodies_memory": _local(f8, L.OF_BODY * self.N), "parameters_memory": _local(f8, self.copied()),
            "watch_memory": _local(i8, 3),
            "take_up": jit.inlined(jit.bind(
                take_up, **sizes, LOAD=self.load, WORK=self.work, info_fixed=fixed_numbers(self.step_info)
            )),
            "put_down": jit.inlined(jit.bind(put_down, WIDTH=self.width)),
            "parameters_of": jit.inlined(jit.bind(parameters_of, COPIED=self.copied(), GIVEN=self.parameters)),
        }  # fmt: skip
        if self.controller is None:
            if self.converter is not None:
                bound |= {"processed": self.converter[0], "convert": self.converter[1]}
            return jit.bind(march_member, marched=jit.helper(jit.bind(drive.march, **bound)), **common)
        bound |= CONTROLLERS[self.controller]
        if self.dense is not None:
            bound["dense"] = self.dense
        loop = jit.helper(jit.bind(drive.march_adaptive, **bound))
        return jit.bind(adapt_member, adapted=loop, controller_memory=_local(f8, L.CONTROLLER_STATE), **common)


NUMBERS, INTEGERS = types.CPointer(f8), types.CPointer(i8)
ARGUMENTS = (
    INT, INT, INT, INT, INT, FLOAT, FLOAT, FLOAT, NUMBERS, NUMBERS, INT, NUMBERS, INT, NUMBERS, NUMBERS, INTEGERS,
    INTEGERS, INTEGERS,
)  # fmt: skip
"""Types of the arguments of ``march_member`` but the first, the number of the member."""
ADAPTIVE_ARGUMENTS = (
    INT, INT, INT, INT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, NUMBERS, NUMBERS, NUMBERS, INT, NUMBERS, INT, NUMBERS,
    NUMBERS, NUMBERS, INTEGERS, NUMBERS, INTEGERS, INTEGERS, INTEGERS,
)  # fmt: skip
"""Likewise of ``adapt_member``."""
ENTRY = "polhode_members"


@global_compiler_lock
def module_of(loop: Loop, target: Target, library: Library) -> str:
    """The LLVM module of a loop for a target, as text; its ENTRY takes the number of members, then ``Loop.arguments``.
    Raises Unsupported for loads, or a step, that the compiler of kernels does not know."""
    try:
        return _module_of(loop, target, library)
    except NotImplementedError:  # an intrinsic that needs more of numba
        cpu_target.target_context.refresh()
        return _module_of(loop, target, library)


def _module_of(loop: Loop, target: Target, library: Library) -> str:
    context, typing = cpu_target.target_context, cpu_target.typing_context
    module = ir.Module("polhode_device")
    unit = Unit(context, typing, module, target, library)
    kinds = [I, *(context.get_value_type(kind) for kind in loop.arguments)]
    entry = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), ENTRY)
    for argument in entry.args:
        if isinstance(argument.type, ir.PointerType):
            argument.add_attribute("noalias")
    builder = Builder(entry.append_basic_block("entry"))
    template = loop.template()
    values: list[Any] = [Scalar(kind, v) for kind, v in zip((INT, *loop.arguments), entry.args, strict=True)]
    written = unit.written(template, Options(OPTIONS | {"forceinline": True}), values)
    taken = [*([Constant(unit.failure, None)] if written.fails else []), entry.args[0], *entry.args[1:]]

    def member(number: ir.Value) -> None:
        at = len(taken) - len(entry.args)
        builder.call(written.function, [*taken[:at], number, *taken[at + 1 :]])

    if target.device:
        entry.calling_convention = "ptx_kernel"
        block, size, thread = (_register(module, builder, name) for name in ("ctaid", "ntid", "tid"))
        number = builder.add(builder.mul(block, size), thread)
        with builder.if_then(builder.icmp_signed("<", number, entry.args[0])):
            member(number)
    else:
        with cgutils.for_range(builder, entry.args[0]) as each:
            member(each.index)
    builder.ret_void()
    return text_of(module)


def text_of(module: ir.Module) -> str:
    """The text of a module in which everything is inlined but rare paths that work on numbers alone."""
    for function in module.functions:
        if function.linkage == "internal":
            if not any(isinstance(a.type, ir.PointerType) for a in function.args) and "noinline" in function.attributes:
                continue
            function.attributes.discard("noinline")
            function.attributes.add("alwaysinline")
    return str(module)


def _register(module: ir.Module, builder: Builder, name: str) -> ir.Value:
    """A number of the thread that runs, as 64 bits."""
    kind = ir.FunctionType(I32, ())
    function = cgutils.get_or_insert_function(module, kind, f"llvm.nvvm.read.ptx.sreg.{name}.x")
    return builder.zext(builder.call(function, ()), I)


@global_compiler_lock
def optimised(text: str, machine: llvm.TargetMachine, target: Target) -> llvm.ModuleRef:
    """LLVM's module of a text, optimised as a whole; twice, since what the first pass unrolls the second promotes.
    Products are fused with sums (``fused``), unless the target rounds them ``apart``."""
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = True
    for _ in range(2):
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    found = str(module)
    module = llvm.parse_assembly(found.replace(" contract ", " ") if target.apart else fused(found))
    module.verify()
    return module


def written(text: str, target: Target) -> str:
    """The assembly, for a device the PTX, of a module's text.

    All roundings are written down: of plain sums and products a driver may fuse those it likes, and each driver others.
    """
    machine = target.machine()
    found = str(machine.emit_assembly(optimised(text, machine, target)))
    return re.sub(r"\b(add|sub|mul)\.f64", r"\1.rn.f64", found) if target.device else found


def ptx_of(loop: Loop, library: Library, architecture: str = ARCHITECTURE) -> str:
    """The PTX of a loop, with the functions of a library."""
    return written(module_of(loop, ptx(architecture), library), ptx(architecture))


class Simulated:
    """The loop on this machine: the same module with the number of the thread counted by a loop."""

    def __init__(self, loop: Loop, library: Library) -> None:
        machine = HOST.machine()
        module = optimised(module_of(loop, HOST, library), machine, HOST)
        self.engine = llvm.create_mcjit_compiler(module, machine)
        self.engine.finalize_object()
        kinds = [ctypes.c_int64, *(ctypes.c_double if kind is FLOAT else ctypes.c_int64 for kind in loop.arguments)]
        self.call = ctypes.CFUNCTYPE(None, *kinds)(self.engine.get_function_address(ENTRY))

    def __call__(self, *arguments: object) -> None:
        """Run it: the number of members, then ``Loop.arguments``, arrays of float64 and int64 for pointers."""
        self.call(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments))


# ------------------------------------------------------------------ products fused with sums
PRODUCT = re.compile(r"  (%\S+) = fmul contract (\S+|<.*?>) (\S+), (\S+)$")
NEGATIVE = re.compile(r"  (%\S+) = fneg (?:contract )?(\S+|<.*?>) (\S+)$")
SUM = re.compile(r"  (%\S+) = (fadd|fsub) contract (\S+|<.*?>) (\S+), (\S+)$")
NAME = re.compile(r"%[\w.$-]+")
BLOCK = re.compile(r"\S+:")


def fused(text: str) -> str:
    """The text of an optimised module in which each product that nothing but one sum reads is fused with that sum, as
    LLVM does for other processors; then nothing may be fused any more.

    For devices LLVM would fuse products with several readers too, of which some need them rounded: the errors of
    products, by which sums are compensated, would be counted twice.
    """
    lines, found = text.split("\n"), []
    begin = 0
    for end, line in enumerate(lines):
        if line == "}" or end + 1 == len(lines):
            found += _fused_function(lines[begin : end + 1])
            begin = end + 1
    return "\n".join(line.replace(" contract ", " ") if " contract " in line else line for line in found) + "".join(
        f"\ndeclare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})\n"
        for kind, suffix in FUSED.items()
        if f"@llvm.fma.{suffix}(" not in text and any(f"@llvm.fma.{suffix}(" in line for line in found)
    )


FUSED = {"double": "f64", "<2 x double>": "v2f64", "<4 x double>": "v4f64", "<8 x double>": "v8f64"}
"""How the intrinsics of types of numbers end."""


def _fused_function(lines: list[str]) -> list[str]:
    """The lines of a function, likewise."""
    uses = Counter(name for line in lines for name in NAME.findall(line))
    products: dict[str, tuple[int, str, str]] = {}  # of this block: line, factors
    negatives: dict[str, tuple[int, str]] = {}
    left, made = list(lines), 0

    def product(name: str) -> tuple[list[int], str, str, bool] | None:
        """Lines to leave out, factors and sign of a product that has one reader."""
        if uses[name] != 2:  # where it is set, and where it is read
            return None
        if name in products:
            line, a, b = products[name]
            return [line], a, b, False
        if name in negatives and negatives[name][1] in products and uses[negatives[name][1]] == 2:
            line, of = negatives[name]
            inner, a, b = products[of]
            return [line, inner], a, b, True
        return None

    for k, line in enumerate(lines):
        if BLOCK.match(line):
            products, negatives = {}, {}
        elif m := PRODUCT.match(line):
            products[m[1]] = k, m[3], m[4]
        elif m := NEGATIVE.match(line):
            negatives[m[1]] = k, m[3]
        elif m := SUM.match(line):
            result, minus, kind, x, y = m[1], m[2] == "fsub", m[3], m[4], m[5]
            first = product(x)
            taken = first or product(y)
            if taken is None or kind not in FUSED:
                continue
            gone, a, b, negative = taken
            other = y if first else x
            before = []
            if negative != (minus and not first):
                made += 1
                before.append(f"  %fused.{made} = fneg {kind} {a}")
                a = f"%fused.{made}"
            if minus and first:
                made += 1
                before.append(f"  %fused.{made} = fneg {kind} {other}")
                other = f"%fused.{made}"
            for one in gone:
                left[one] = ""
            call = f"tail call {kind} @llvm.fma.{FUSED[kind]}({kind} {a}, {kind} {b}, {kind} {other})"
            left[k] = "\n".join([*before, f"  {result} = {call}"])
    return [line for line, old in zip(left, lines, strict=True) if line or not old]
