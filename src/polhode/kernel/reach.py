"""Digests of kernels for the cache: of a function and of all that the compiler can reach from it.

Called functions are followed, and so are the numbers, tuples, arrays, types and modules that they read by name, with
their present values. Comments, docstrings and line numbers do not count, nor source that the kernel does not use. For
an object that this file has no rule for, ``Unknown`` is raised, and the kernel is not cached.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import sys
from importlib.util import find_spec
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from polhode.kernel.holes import Hole, check_filled
from polhode.kernel.later import Intrinsic
from polhode.lazy import types

LIBRARIES = frozenset({"numpy", "numba", "llvmlite", "builtins", "math", "cmath", "operator", "sys", "platform"})
"""Packages whose objects enter by name only; versions are part of the name of the cache folder."""
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)
OF_ARRAYS = type(np.where)
"""The type of functions of numpy that are no ufuncs."""
CONSTANT = frozenset(dis.hasconst)
CACHE, EXTENDED_ARG, LOAD_GLOBAL, LOAD_NAME, STORE_NAME = (
    dis.opmap[name] for name in ("CACHE", "EXTENDED_ARG", "LOAD_GLOBAL", "LOAD_NAME", "STORE_NAME")
)
TOLD = getattr(inspect, "CO_HAS_DOCSTRING", 0)  # from Python 3.14 on
OF_THE_PLACE = ("__doc__", "__firstlineno__", "__static_attributes__")
WRITTEN = "polhode.programs.written_"
"""How names of modules begin whose text polhode wrote; a digest of the text follows, which stands for their code."""
MODULE_CODE = "MODULE_CODE"
"""Global name of the code of a module that registers ``overload``s: no function reads them by name, it enters whole."""


class Unknown(Exception):
    """An object is reached for whose content this file has no rule."""


def digest_of(function: object, options: dict[str, Any]) -> bytes:
    """Digest of a function, of all that it reaches, and of the compiler options; the same in every process."""
    walk = _Walk()
    walk.absorb("options", _options(options))
    walk.feed(function)
    return walk.total.digest()


def digest_of_signature(signature: object) -> bytes:
    """Digest of a kernel's signature, in any form that numba accepts."""
    walk = _Walk()
    walk.signature(signature)
    return walk.total.digest()


def _is_library(value: object) -> bool:
    return str(getattr(value, "__module__", None)).partition(".")[0] in LIBRARIES


class _Walk:
    """Walks through all that is reached and digests it; an object met again enters as the number of its first visit."""

    def __init__(self) -> None:
        self.total = hashlib.sha256()
        self.seen: dict[Any, tuple[int, Any]] = {}
        self.through_modules = 0

    def absorb(self, *words: object) -> None:
        text = repr(words).encode()
        self.total.update(f"{len(text)}:".encode() + text)

    def is_new(self, key: object, value: object) -> bool:
        """Whether this is met for the first time; otherwise digests the number of the first visit."""
        if key in self.seen:
            self.absorb("again", self.seen[key][0])
            return False
        self.seen[key] = len(self.seen), value  # kept alive, so that no other object gets the same id
        return True

    def feed(self, value: Any, names: frozenset[str] = frozenset()) -> None:
        """Digest a value; ``names``: the attributes that may be read of it."""
        if not isinstance(value, ModuleType) and hasattr(value, "targetoptions"):  # a helper
            self.absorb("options", _options(value.targetoptions))
            value = value.py_func
        self.absorb(type(value).__module__, type(value).__qualname__)
        if isinstance(value, PLAIN):
            self.absorb(value)
        elif isinstance(value, tuple):
            self.absorb(len(value))
            if type(value) is not tuple:
                self.feed(type(value))
            for part in value:
                self.feed(part, names)
        elif isinstance(value, FunctionType):
            self.function(value)
        elif isinstance(value, ModuleType):
            self.module(value, names)
        elif isinstance(value, Hole):
            self.absorb(value.signature)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            self.absorb(value.dtype.str, value.shape, value.flags.c_contiguous, value.flags.f_contiguous)
            self.total.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, type):
            self.type(value)
        elif "numba" in sys.modules and isinstance(value, types.Type):
            self.kind(value)
        elif isinstance(value, np.ufunc) or (isinstance(value, BuiltinFunctionType | OF_ARRAYS) and _is_library(value)):
            self.absorb(getattr(value, "__module__", None), value.__name__)
        elif isinstance(value, Intrinsic):
            self.function(value.definition)
        elif type(value).__module__.startswith("llvmlite.ir"):
            self.written(value)
        else:
            raise Unknown(f"{type(value).__module__}.{type(value).__qualname__}")

    def function(self, value: FunctionType) -> None:
        """Digest the code, defaults, closure and globals of a function."""
        self.absorb(value.__module__, value.__qualname__)
        if not self.is_new(id(value), value) or _is_library(value):
            return
        code, attributes = value.__code__, attributes_of(value.__code__)
        if str(value.__module__).startswith(WRITTEN):
            used = tuple(sorted(attributes))
        else:
            code_digest, used = contents(code)
            if not self.through_modules:
                check_filled(value.__qualname__, used, value.__globals__)
            self.total.update(code_digest)
        self.feed(value.__defaults__)
        for name, default in sorted((value.__kwdefaults__ or {}).items()):
            self.absorb(name)
            self.feed(default)
        for cell in value.__closure__ or ():
            try:
                inside = cell.cell_contents
            except ValueError:
                raise Unknown("an empty cell") from None
            self.feed(inside, attributes)
        for name in used:
            self.absorb(name)
            if name in value.__globals__:
                self.feed(value.__globals__[name], attributes)
        taught = value.__globals__.get(MODULE_CODE)
        if taught is not None:
            self.total.update(contents(taught)[0])

    def module(self, value: ModuleType, names: frozenset[str]) -> None:
        """Digest those attributes of a module that may be read, as the compiler does; there may be unfilled holes."""
        self.absorb(value.__name__)
        if value.__name__.partition(".")[0] in LIBRARIES or not self.is_new((id(value), names), value):
            return
        self.through_modules += 1
        for name in sorted(names & vars(value).keys()):
            self.absorb(name)
            self.feed(vars(value)[name], names)
        self.through_modules -= 1

    def type(self, value: Any) -> None:
        """Digest a class: a named tuple with its fields, library classes and exceptions by name."""
        self.absorb(value.__module__, value.__qualname__)
        if issubclass(value, tuple) and hasattr(value, "_fields"):
            self.absorb(value._fields)
            for name, default in sorted(getattr(value, "_field_defaults", {}).items()):
                self.absorb(name)
                self.feed(default)
        elif not (_is_library(value) or issubclass(value, BaseException)):
            raise Unknown(f"the class {value.__module__}.{value.__qualname__}")

    def kind(self, value: object) -> None:
        """Digest a numba type: its text, and the types it contains."""
        self.written(value)
        if not self.is_new(id(value), value):
            return
        if hasattr(value, "instance_class"):
            self.feed(value.instance_class)
        inner = [getattr(value, name, None) for name in ("dtype", "yield_type", "return_type")]
        signature = getattr(value, "signature", None)
        if signature is not None:
            inner += [signature.return_type, *signature.args]
        several = getattr(value, "types", ())
        for part in (*inner, *(several if isinstance(several, tuple) else ())):
            if isinstance(part, types.Type):
                self.kind(part)

    def written(self, value: object) -> None:
        """Digest an object by its ``repr``, which must not contain an address."""
        text = repr(value)
        if " at 0x" in text:
            raise Unknown(text)
        self.absorb(text)

    def signature(self, value: Any) -> None:
        """Digest a signature: its text and its types."""
        self.absorb(str(value))
        if not isinstance(value, str):
            for part in (value.return_type, *value.args) if hasattr(value, "return_type") else value:
                self.kind(part)


def _options(given: dict[str, Any]) -> list[Any]:
    return [(name, sorted(value) if isinstance(value, set) else value) for name, value in sorted(given.items())]


@functools.cache
def contents(code: CodeType) -> tuple[bytes, tuple[str, ...]]:
    """Digest of code, but line numbers and constants that are never loaded, such as docstrings; and the global names
    that it and its nested functions read."""
    steps: list[Any] = []
    names: set[str] = set()
    argument = 0
    for opcode, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):  # as dis, in a fifth of the time
        if opcode == CACHE:
            continue
        argument = argument << 8 | low
        if opcode == EXTENDED_ARG:
            continue
        if opcode in CONSTANT:
            steps.append((opcode, _constant(code.co_consts[argument], names)))
        elif opcode == STORE_NAME and code.co_names[argument] in OF_THE_PLACE:
            steps.pop()  # the value stored there
        else:
            if opcode == LOAD_GLOBAL:
                names.add(code.co_names[argument >> 1])  # the lowest bit is a flag for calls
            elif opcode == LOAD_NAME:
                names.add(code.co_names[argument])
            steps.append(argument << 8 | opcode)
        argument = 0
    parts = (
        steps, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & ~TOLD, code.co_names,
        code.co_varnames, code.co_freevars, code.co_cellvars, code.co_exceptiontable,
    )  # fmt: skip
    return hashlib.sha256(repr(parts).encode()).digest(), tuple(sorted(names))


def _constant(value: object, names: set[str]) -> object:
    if isinstance(value, CodeType):
        digest, used = contents(value)
        names.update(used)
        return digest
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return value


COMPILER = (
    "calls", "direct", "lane_memory", "lane_mode", "machine", "numba_lanes", "source", "tangent_mode", "text",
    "translate", "values",
)  # fmt: skip
"""The files that write kernels; those of lanes and derivatives are loaded with the first of these."""


@functools.cache
def compiler() -> str:
    """Digest of the compiler, part of the key of the kernels on disk."""
    total = hashlib.sha256()
    for name in COMPILER:
        spec: Any = find_spec(f"polhode.kernel.{name}")
        _absorb(total, spec.loader.get_code(spec.name))
    return total.hexdigest()


def _absorb(total: Any, code: CodeType) -> None:
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


@functools.cache
def attributes_of(code: CodeType) -> frozenset[str]:
    """All global and attribute names in code and its nested functions."""
    inner = (attributes_of(part) for part in code.co_consts if isinstance(part, CodeType))
    return frozenset(code.co_names).union(*inner)
