"""The loop of one system as a WebAssembly module, for a page that takes the steps itself.

It is the loop of one member of an ensemble (``kernel.device``) behind functions of plain numbers, over memory with
fixed slots. The module imports nothing. As WebAssembly has no fma, products and sums are rounded each, and errors of
products are found by splitting; the same code for this processor gives the same numbers, bit for bit (``Here``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from polhode.kernel import device, jit, layout as L, simd
from polhode.kernel.calls import Options
from polhode.kernel.device import shifted
from polhode.kernel.later import OPTIONS, Intrinsic
from polhode.kernel.source import Unsupported
from polhode.kernel.text import Builder, Constant, F, I
from polhode.kernel.values import FLOAT, INT, Scalar
from polhode.kernel.wasm_link import link

TARGET = device.Target("page", "wasm32-unknown-unknown", "generic", "", apart=True)
PREFIX = "polhode_"
"""How names begin within a module; what it exports is called without that."""
ROWS = 64
"""Most rows of a call of ``march``."""
OBSERVED, PUSHED = 9, 6
"""Numbers that are told of a state, and that say what pushes a body."""
SPARE = 1 << 14
"""Bytes of the stack beside a member's own memory."""
LARGEST = 1e300
"""What stands for no limit."""
FOREIGN = tuple(f"llvm.{name}." for name in ("x86", "aarch64", "arm", "nvvm"))
"""How functions of LLVM begin that are instructions of another processor: LLVM would end the process for them."""

numbers = jit.hole("numbers() -> pointer", "The numbers of the module.")
integers = jit.hole("integers() -> pointer", "Status, steps done, and iterations of rows.")
member = jit.hole("member(...)", "The loop of a member.")
LIMIT = jit.hole("LIMIT", "Largest rotation of a body in a step.")
WIDTH = jit.hole("WIDTH", "Numbers of a state.")
BODIES = jit.hole("BODIES", "Slot of the constants of the bodies.")
PARAMETERS = jit.hole("PARAMETERS", "Slot of the parameters.")
CARRIED = jit.hole("CARRIED", "Slot of what steps carry from call to call.")
KEPT = jit.hole("KEPT", "Slot of the state before a call.")
PROGRESS = jit.hole("PROGRESS", "Slot of the status and the steps done.")
RECORDED = jit.hole("RECORDED", "Slot of the rows.")


def march(first, n, every, t0, h):
    """Take n steps of size h from number ``first`` of those that began at t0; a row after each multiple of ``every``.

    After a failure the state is that after the last good step, to which the steps are taken once more."""
    y, counts, steps = numbers(), integers(), int(n)
    for k in range(WIDTH):
        y[KEPT + k] = y[k]
    for k in range(4):
        y[KEPT + WIDTH + k] = y[CARRIED + k]
    for attempt in range(2):
        counts[0], counts[1] = L.OK, 0
        member(
            0, L.MARCHING, int(first), steps, int(every), ROWS, t0, h, LIMIT, y, shifted(y, BODIES), 0,
            shifted(y, PARAMETERS), 0, shifted(y, CARRIED), shifted(y, RECORDED), shifted(counts, 2), counts,
            shifted(counts, 1),
        )  # fmt: skip
        if attempt == 0:
            y[PROGRESS], y[PROGRESS + 1] = float(counts[0]), float(counts[1])
        if counts[0] == L.OK:
            break
        steps = counts[1]
        for k in range(WIDTH):
            y[k] = y[KEPT + k]
        for k in range(4):
            y[CARRIED + k] = y[KEPT + WIDTH + k]


def _memory(name: str, kind: types.Type, size: int) -> Intrinsic:
    """The intrinsic for memory of the module, which is found by its name."""

    @Intrinsic
    def memory(typing):
        def build(context, builder, signature, arguments):
            whole = builder.module.globals.get(PREFIX + name)
            if whole is None:
                array = ir.ArrayType(context.get_value_type(kind), size)
                whole = ir.GlobalVariable(builder.module, array, PREFIX + name)
                whole.initializer, whole.align = ir.Constant(array, None), 16
            return builder.gep(whole, [Constant(I, 0)] * 2)

        return types.CPointer(kind)(), build

    return memory


class Program:
    """All that a module is made of: the loop of a member, the largest rotation in a step, a library; ``slots`` in its
    memory, by their names; and its functions of so many numbers, to which others are added."""

    def __init__(self, loop: device.Loop, limit: float, library: device.Library) -> None:
        self.loop, self.library, self.size, self.slots = loop, library, 0, dict[str, int]()
        for name, size in {
            "begin": loop.width, "bodies": L.OF_BODY * loop.N, "parameters": loop.parameters + loop.memory,
            "carried": 4, "kept": loop.width + 4, "progress": 2, "observed": OBSERVED, "push": PUSHED,
            "rows": ROWS * loop.width,
        }.items():  # fmt: skip
            self.slots[name], self.size = self.size, self.size + size
        self.numbers, at = _memory("numbers", FLOAT, self.size), self.slots
        marched = jit.bind(
            march, numbers=self.numbers, integers=_memory("integers", INT, ROWS + 2), member=loop.template(),
            WIDTH=loop.width, LIMIT=min(limit, LARGEST), BODIES=at["bodies"], PARAMETERS=at["parameters"],
            CARRIED=at["carried"], KEPT=at["kept"], PROGRESS=at["progress"], RECORDED=at["rows"],
        )  # fmt: skip
        self.functions: dict[str, tuple[Callable[..., Any], int]] = {"march": (marched, 5)}


product_error = jit.inlined(simd.product_error)


@jit.inlined
def fused(a, b, c):
    """a b + c, nearly as if rounded once: the product, its error [dekker1971] and c, summed by TwoSum [knuth1998]."""
    p = a * b
    s = p + c
    z = s - p
    return s + ((p - (s - z)) + (c - z) + product_error(a, b, p))


class Writer(device.Writer):
    """Writes one function for a processor without fma."""

    def call(self, it, arguments, named):
        if it is simd.product_error:
            return self.helper(product_error, arguments, named)
        if it is simd.fused and isinstance(arguments[0], Scalar):
            return self.helper(fused, arguments, named)
        return super().call(it, arguments, named)


def text_of(program: Program) -> str:
    """The module of a program as text."""
    module = ir.Module("polhode_page")
    unit = device.Unit(cpu_target.target_context, cpu_target.typing_context, module, TARGET, program.library)
    unit.writers = Writer
    for name, (template, count) in program.functions.items():
        entry = ir.Function(module, ir.FunctionType(ir.VoidType(), [F] * count), PREFIX + name)
        builder = Builder(entry.append_basic_block("entry"))
        values: list[Any] = [Scalar(FLOAT, a) for a in entry.args]
        written = unit.written(template, Options(OPTIONS | {"forceinline": True}), values)  # type: ignore[arg-type]
        builder.call(written.function, [*([Constant(unit.failure, None)] if written.fails else []), *entry.args])
        builder.ret_void()
    return device.text_of(module)


class Module(NamedTuple):
    """A WebAssembly module, where its numbers are in its memory, and what it was made of."""

    code: bytes
    at: dict[str, int]  # addresses in bytes, by the names of ``Program.slots``
    text: str  # LLVM's


@global_compiler_lock
def compiled(program: Program) -> Module:
    """The WebAssembly module; the same program gives the same bytes. Raises Unsupported for what the compiler of
    kernels does not know, and for calls of functions from elsewhere."""
    try:
        text = text_of(program)
    except NotImplementedError:  # an intrinsic that needs more of numba
        cpu_target.target_context.refresh()
        text = text_of(program)
    loop, machine = program.loop, TARGET.machine()
    try:
        module = device.optimised(text, machine, TARGET)
        for function in module.functions:
            if function.is_declaration and (not function.name.startswith("llvm.") or function.name.startswith(FOREIGN)):
                raise Unsupported(f"a call of {function.name}, which pages lack")
        text = str(module)  # before LLVM writes into it what WebAssembly has
        emitted = machine.emit_object(module)
    finally:  # of which LLVM has all of the process branch by tables from two cases on
        llvm.set_option("polhode", "-min-jump-table-entries=4")
    own = loop.load + loop.work + 5 * loop.width + loop.copied() + L.STEP_INFO + L.OF_BODY * loop.N
    exports = {name: PREFIX + name for name in program.functions}
    code, data = link(emitted, exports, 8 * own + SPARE)
    return Module(code, {name: data[PREFIX + "numbers"] + 8 * k for name, k in program.slots.items()}, text)


class Here:
    """The same operations by this processor: ``numbers`` are the memory of the module, ``calls`` its functions."""

    def __init__(self, program: Program, text: str) -> None:
        machine, module = device.HOST.machine(), llvm.parse_assembly(text)
        module.triple, module.data_layout = device.HOST.triple, str(machine.target_data)
        self.engine = llvm.create_mcjit_compiler(module, machine)
        self.engine.finalize_object()
        memory = (ctypes.c_double * program.size).from_address(self.engine.get_global_value_address(PREFIX + "numbers"))
        self.numbers = np.ctypeslib.as_array(memory)
        self.calls = {
            name: ctypes.CFUNCTYPE(None, *[ctypes.c_double] * count)(self.engine.get_function_address(PREFIX + name))
            for name, (_, count) in program.functions.items()
        }
