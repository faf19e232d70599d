"""Machine code in this process: LLVM's engine, to which compiled objects are added, and the kernels in it.

That needs llvmlite alone: what takes a kernel's arguments from Python is compiled with it (``direct.write_python``), so
that a process whose kernels are all on disk never imports numba.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polhode.kernel.later import OPTIONS, Helper
from polhode.lazy import llvm, numba

OBJECT = "polhode_object_"
"""How names begin of functions that are objects of their own, which kernels call; a digest of the source follows."""
ARRAY = "polhode_type_of_arrays"
"""The name by which kernels know ``numpy.ndarray``."""
CALLED, FORM = ".python", 0x80
"""Behind the name of a kernel that of the function for Python; METH_FASTCALL."""
OPTIONS_OF_KERNELS = OPTIONS | {"nopython": True, "nogil": True}
SETTINGS = ("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX", "OPT", "SLP_VECTORIZE")
"""Numba's settings that change machine code."""


def triple() -> str:
    """What machine code is made for: processor, maker, system."""
    return llvm.get_process_triple()


def features() -> Any:
    """What the processor can, by LLVM's names; nothing where LLVM does not know."""
    try:
        return llvm.get_host_cpu_features()
    except RuntimeError:
        return llvm.targets.FeatureMap()


def has_avx512() -> bool:
    """Whether kernels may use masks of vectors of eight numbers: numba's settings count."""
    return "+avx512vl" in numba.core.codegen.get_host_cpu_features().split(",")


@functools.cache
def processor() -> str:
    """What machine code is made for: the processor, what it can, and numba's settings."""
    found: list[Any] = [os.environ.get(f"NUMBA_{name}") for name in SETTINGS]
    settings = Path(".numba_config.yaml")
    found += [
        features().flatten(),
        triple(),
        llvm.get_host_cpu_name(),
        settings.read_bytes() if settings.is_file() else b"",
    ]
    return repr(found)


@functools.cache
def engine() -> Any:
    """LLVM's engine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.add_symbol(ARRAY, id(np.ndarray))
    maker = llvm.Target.from_triple(triple()).create_target_machine(jit=True)
    module = llvm.parse_assembly("")
    module.triple, module.data_layout = triple(), str(maker.target_data)
    return llvm.create_mcjit_compiler(module, maker)


def load(code: bytes, needs: Sequence[str]) -> bool:
    """Add an object to the engine; False where functions that it calls, by these names, are nowhere."""
    engine()
    if not all(map(llvm.address_of_symbol, needs)):
        numba.core.registry.cpu_target.target_context.refresh()  # some are numba's
        if not all(map(llvm.address_of_symbol, needs)):
            return False
    engine().add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
    engine().finalize_object()
    return True


class Method(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (("name", ctypes.c_char_p), ("begin", ctypes.c_void_p), ("form", ctypes.c_int), ("doc", ctypes.c_char_p))


class Failure(ctypes.Structure):
    """What numba's calling convention says of an exception."""

    _fields_ = (
        ("text", ctypes.c_void_p), ("size", ctypes.c_int32), ("values", ctypes.c_void_p), ("unwrap", ctypes.c_void_p),
        ("dynamic", ctypes.c_int32),
    )  # fmt: skip


def failed(code: int, at: int) -> None:
    """Raise the exception of a kernel that ended with this code; ``at``: where ``Failure`` stands, if it does."""
    if not at:
        raise TypeError("a kernel was given something else than numbers, and arrays of its kinds without gaps")
    found = Failure.from_address(at)
    told: Any = ctypes.string_at(found.text, found.size)
    if found.dynamic > 0:
        values = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(found.unwrap)(found.values)
        told = numba.core.serialize.runtime_build_excinfo_struct(told, values)
    else:
        told = pickle.loads(told)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(told))  # which is taken
    address = numba._helperlib.c_helpers["do_raise"]
    ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(address)(told)


class Kernel(Helper):
    """A function compiled for one signature; in other kernels it is a helper.

    ``roles``: which of its arguments are functions, called by their addresses; ``loaded``: it was on disk."""

    def __init__(self, function: Any, name: str, roles: Sequence[int], loaded: bool) -> None:
        super().__init__(function, OPTIONS_OF_KERNELS)
        self.name, self.roles, self.loaded = name, roles, loaded

    @functools.cached_property
    def address(self) -> int:
        """What other kernels call it by."""
        return int(engine().get_function_address(self.name))

    @functools.cached_property
    def _called(self) -> Callable[..., Any]:
        """The function for Python."""
        self._method = Method(self.name.encode(), engine().get_function_address(self.name + CALLED), FORM, None)
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        address = ctypes.cast(ctypes.pythonapi.PyCFunction_NewEx, ctypes.c_void_p).value
        return make(address)(ctypes.addressof(self._method), failed, None)  # type: ignore[arg-type, no-any-return]

    def __call__(self, *arguments: Any) -> Any:
        if self.roles:
            return self._called(*[address_of(a) if k in self.roles else a for k, a in enumerate(arguments)])
        return self._called(*arguments)

    def data(self) -> int:
        """The address of the table of data behind its places (``direct.write_places``)."""
        return int(engine().get_global_value_address(f"{self.name}.data"))

    def at(self, k: int) -> Kernel:
        """Place k of it, which is bound into nothing."""
        return Kernel(lambda *behind: behind.alone, f"{self.name}.{k}", (), self.loaded)


def address_of(function: Any) -> int:
    """What kernels call a compiled function by; of one that numba compiled, whose signature is its only one, it is kept
    with it."""
    if not hasattr(function, "address"):
        (result,) = function.overloads.values()
        function.address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    return int(function.address)
