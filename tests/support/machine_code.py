"""Machine code of kernels, as text."""

from numba.core.registry import cpu_target

from polhode.kernel import direct, jit
from polhode.kernel.machine import OPTIONS_OF_KERNELS

CODEGEN = cpu_target.target_context.codegen()


def module(function, signature, **how):
    """The module of a kernel, from which its instructions have been made."""
    found = direct.optimised(function, jit.typed(signature), OPTIONS_OF_KERNELS, **how)[2]
    direct.emitted(CODEGEN, found)
    return found


def assembly(function, signature, lanes):
    """The instructions of a kernel over so many lanes."""
    return CODEGEN._tm.emit_assembly(module(function, signature, lanes=lanes))
