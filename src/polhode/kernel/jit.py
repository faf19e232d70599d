"""Compilation with numba: kernels, helpers, binding of functions into templates, raw pointers, fingerprints.

Three facts shaped this file. A kernel is compiled with an explicit signature, so that numba adds no specialisations of
its own and every process finds the same cache entry. Functions are put into kernels by *binding*: a template such as
the time loop is copied with its holes filled (``holes``), which numba caches, whereas a closure would be recompiled in
every process. And numba does not notice when a callee in another file changes, so the cache file of a kernel is named
by a digest of all that the compiler can reach from it (``cache``, ``reach``).

With ``NUMBA_DISABLE_JIT=1`` everything here returns plain Python functions, for debuggers and coverage.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import functools
import hashlib
import inspect
import itertools
import re
import threading
import warnings
import weakref
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from polhode.kernel import cache
from polhode.kernel.holes import check_filled, hole as hole, holes_among, replaceable as replaceable
from polhode.kernel.interrupts import held
from polhode.kernel.later import (
    DISABLED,
    PLACES,
    apart as apart,
    by_hand,
    call_python as call_python,
    data_behind as data_behind,
    helper as helper,
    inlined as inlined,
    intrinsic,
)
from polhode.kernel.machine import OPTIONS_OF_KERNELS, address_of
from polhode.kernel.reach import PLAIN, attributes_of, compiler, contents
from polhode.kernel.simd import IN_KERNELS
from polhode.lazy import cgutils, ir, numba, opened, types

_lock = threading.RLock()


def disabled() -> bool:
    """Whether compilation is disabled (NUMBA_DISABLE_JIT)."""
    return DISABLED


@intrinsic(lambda array: array)
def pointer(typing, array):
    """``pointer(array)`` is a typed pointer, indexed like an array. It passes as one word, where an array takes seven
    and two changes of a reference count. The array must outlive it. Where compilation is disabled: the array."""

    def build(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), build


def _address(context, builder, kind, array, k):
    data = context.make_array(kind)(context, builder, array).data
    return builder.load(builder.gep(data, [k]))


def function_at(signature):
    """The intrinsic that turns the second number from ``addresses_of`` into a function of this signature."""

    @intrinsic(lambda addresses: addresses[0])
    def restored(typing, addresses):
        kind = types.FunctionType(typed(signature))

        def build(context, builder, signature, arguments):
            function = cgutils.create_struct_proxy(kind)(context, builder)
            one = ir.Constant(ir.IntType(64), 1)
            address = _address(context, builder, signature.args[0], arguments[0], one)
            function.jit_addr = builder.inttoptr(address, cgutils.voidptr_t)
            return function._getvalue()

        return kind(addresses), build

    return restored


def _pointer_at(name):
    """The intrinsic that turns number k from ``addresses_of`` into a pointer to numbers of this type."""

    @intrinsic(lambda addresses, k: addresses[k])
    def restored(typing, addresses, k):
        kind = types.CPointer(getattr(types, name))

        def build(context, builder, signature, arguments):
            address = _address(context, builder, signature.args[0], *arguments)
            return builder.inttoptr(address, context.get_value_type(kind))

        return kind(addresses, types.intp), build

    return restored


numbers_at, integers_at = _pointer_at("float64"), _pointer_at("int64")
"""numbers_at(addresses, k): pointer to the float array whose address is number k of ``addresses``; to integers."""


@inlined
def _viewed(pointer, length):
    return numba.carray(pointer, (length,))


_viewed.in_kernels = "view"  # for ``translate``
view = (lambda array, length: array[:length]) if DISABLED else _viewed
"""view(pointer, length) -> array on the same memory, for functions that need arrays."""


integers = by_hand(
    "integers", lambda pointer: types.CPointer(types.i8)(pointer),
    lambda builder, pointer: builder.bitcast(pointer, ir.IntType(64).as_pointer()), lambda array: array.view(np.int64),
)  # fmt: skip
"""integers(pointer): pointer to the same memory as 64-bit integers."""

lowest_bit = by_hand(
    "lowest_bit", lambda bits: types.i8(types.i8), lambda builder, bits: builder.cttz(bits, cgutils.true_bit),
    lambda bits: int(bits & -bits).bit_length() - 1,
)  # fmt: skip
"""lowest_bit(n): index of the lowest set bit of a positive integer."""


def addresses_of(function: object, *arrays: np.ndarray) -> Any:
    """Addresses of a compiled function and of arrays, which are faster to pass to a kernel than the objects.

    Unpacking a function costs 30 us a call of a kernel, an array 0.1 us. Returns an integer array: 0 and the address of
    the function, then those of the arrays, so that the first array is number 2. Function and arrays must outlive it.
    Where compilation is disabled, a tuple of the objects themselves with the same numbers."""
    for k, array in enumerate(arrays, 2):
        if not (array.dtype == FLOAT or array.dtype == INTEGER) or not array.flags.c_contiguous:
            raise TypeError(
                f"array {k} of a kernel holds {array.dtype}, or has gaps; it must be float64 or int64, flat"
            )
    if DISABLED:
        return (function, None, *arrays)
    return np.array([0, address_of(function), *map(begin_of, arrays)], dtype=np.int64)


def begin_of(array: Any) -> int:
    """Where an array begins; ``array.ctypes.data`` in a third of its time."""
    if array.size and array.flags.writeable:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    return int(array.ctypes.data)


FLOAT, INTEGER = np.dtype(np.float64), np.dtype(np.int64)


def typed(signature: Any) -> Any:
    """A signature as numba has it, of its text (``signatures``)."""
    if not isinstance(signature, str):
        return signature
    arguments, result = numba.core.sigutils.normalize_signature(signature)
    return numba.core.typing.signature(result, *arguments)


def python_of(function) -> FunctionType:
    """The plain Python function of ``function``, which may be compiled."""
    plain = getattr(function, "py_func", None)
    return plain if isinstance(plain, FunctionType) else function  # there are objects that have any attribute


@functools.cache
def global_names(code: CodeType) -> frozenset[str]:
    """The global names that code and its nested functions read; attribute names are not among them."""
    return frozenset(contents(code)[1])


def bind(template, /, **values):
    """Copy ``template`` with some of its holes filled (see ``kernel.holes``).

    Plain functions among ``values`` become helpers, but for those of ``simd``. The name of the copy is made of those of
    the template and of the values; it becomes part of the name of the cache file."""
    source = python_of(template)
    label = "__".join([source.__qualname__, *(_label(value) for value in values.values())])
    if len(label) > 120:  # it becomes part of a file name
        label = label[:80] + hashlib.sha256(label.encode()).hexdigest()[:32]
    names, called = global_names(source.__code__), source.__qualname__
    known = holes_among(names, source.__globals__)
    for name, value in values.items():
        if name not in known:
            holes = f"its holes are {', '.join(known)}" if known else "it has none (jit.hole declares one)"
            raise TypeError(f"{called} has no hole {name!r}; {holes}")
        wrong = known[name].misfit(value)
        if wrong:
            raise TypeError(f"{name!r} cannot be bound into {called}: {wrong}")
        function = python_of(value)
        if isinstance(function, FunctionType):
            check_filled(function.__qualname__, global_names(function.__code__), function.__globals__)
    bound = {name: helper(value) if isinstance(value, FunctionType) and value not in IN_KERNELS else value
             for name, value in values.items()}  # fmt: skip
    namespace = {**source.__globals__, **bound}
    check_filled(called, names, namespace)
    for name in sorted(names):
        if name not in namespace and not hasattr(builtins, name):
            raise TypeError(f"{called} reads the global name {name!r}, which is defined nowhere")
    copy = in_python(template, bound)
    copy.__qualname__ = label
    copy.__module__ = source.__module__
    return copy


def in_python(template, values):
    """A template with these values for its holes as a plain Python function, for a single trial: nothing is checked."""
    source = python_of(template)
    return FunctionType(source.__code__, {**source.__globals__, **values}, source.__name__, source.__defaults__)


def _label(value) -> str:
    """A name for a bound value; with a fingerprint, but for polhode's own functions without closures."""
    function = python_of(value)
    if not isinstance(function, FunctionType):
        return fingerprint(value)
    name = f"{function.__module__}.{function.__qualname__}"
    if not _is_ours(function) or function.__closure__:
        name += fingerprint(function)
    if len(name) > 60:
        name = function.__name__ + hashlib.sha256(name.encode()).hexdigest()[:16]
    return "".join(c if c.isalnum() else "_" for c in name)


def _is_ours(function) -> bool:
    package, _, rest = str(function.__module__).partition(".")
    return package == "polhode" and rest.partition(".")[0] in cache.ROOMS


def fingerprint(value) -> str:
    """Short digest of a value; of a function: its code, defaults, closure, and the globals that it reads.

    Functions that it uses are followed, modules by the content of their files; polhode's own functions enter by
    name, defaults and closure only. The same in every process.
    """
    total = hashlib.sha256()
    _feed(total, value, {}, False)
    return total.hexdigest()[:24]


class Made:
    """A function as a key: equal to another function that compiles to the same code in this process.

    The digest is that of ``fingerprint``, except that the values of module attributes enter instead of the content of
    files, since the compiler reads them, and other objects and classes enter by address and by the attributes that the
    function, their methods and their properties name.
    """

    def __init__(self, function, numbers: bool = True) -> None:
        self.function = function
        self.kept: dict[Any, Any] = {}  # objects known by address, kept alive so that it stays theirs
        # what does not enter, numbered by kind and value, and which of them is where
        self.numbers, self.places = dict[tuple[type, float], int](), dict[Any, int]()
        self.read: dict[str, Any] | None = None  # by their names, of a function that reads libraries alone
        if (read := libraries_read(function)) is not None and function.__defaults__ is None:
            label, self.code = f"{function.__module__}.{function.__qualname__}", function.__code__
            self.digest, self.opaque = _digest_alone(self.code, label, read), False
            self.read = {name: function.__globals__.get(name) for name in global_names(self.code)}
            return
        total = hashlib.sha256()
        _feed(total, function, self.kept, True, without=None if numbers else self)
        self.digest = total.digest()
        self.opaque = any(not isinstance(one, CLEAR) for one in self.kept.values())

    @functools.cached_property
    def but_numbers(self) -> Made:
        """The same, but for the floats that functions read in closures, as globals or defaults."""
        return Made(self.function, False) if self.kept else self

    @property
    def stays(self) -> bool:
        """Whether the function is what it was, for certain: a quick test of one that reads libraries alone."""
        function, read = self.function, self.read
        if read is None or function.__code__ is not self.code or function.__defaults__ is not None:
            return False
        there = function.__globals__
        return all([there.get(name) is one for name, one in read.items()])

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other) -> bool:
        return isinstance(other, Made) and self.digest == other.digest


KEPT_KERNELS = 1024
"""Most compiled kernels, and most compiled functions of users, that a process keeps; numba never frees machine code."""
LIBRARIES = ("numpy", "math", "cmath", "numba", "builtins")
"""Modules whose attributes are taken to be constant."""
CLEAR = (FunctionType, ModuleType, list, tuple, dict, set, frozenset)
"""What enters a digest with all that it holds, so that no change goes unseen."""


ASKING = frozenset({"type", "id", "Real", "Number", "Float", "float64", "floating"})
"""Names in the code of functions that may ask what kind of thing a number is."""


def _feed(total, value, seen, live, names=frozenset(), without=None) -> None:
    """Add a value to the digest ``total``; ``live``: by the rules of ``Made``; ``names``: attributes to be read;
    ``without``: the ``Made`` that takes numbers."""

    def feed(part, at, names=frozenset()) -> None:
        if not without or type(part) not in (float, np.float64) or abs(part) in (0.0, 1.0, np.inf) or part != part:
            return _feed(total, part, seen, live, names, without)
        key = type(part), part  # its kind, its sign, and which other it is equal to
        without.places[at] = without.numbers.setdefault(key, len(without.numbers))
        total.update(f"number {without.places[at]} {key[0]} {part > 0.0}:".encode())

    if (plain := python_of(value)) is not value:  # a compiled function
        total.update(repr(getattr(value, "targetoptions", "")).encode())
    value = plain
    total.update(f"{type(value).__module__}.{type(value).__qualname__}:".encode())
    if isinstance(value, PLAIN):
        text = repr(value).encode()
        total.update(f"{len(text)}:".encode() + text)
    elif id(value) in seen:
        total.update(f"again {list(seen).index(id(value))}".encode())
    elif isinstance(value, FunctionType):
        seen[id(value)] = value
        total.update(f"{value.__module__}.{value.__qualname__}:".encode())
        code = value.__code__
        used, asks = global_names(code), attributes_of(code)
        without = None if ASKING & asks else without
        for k, part in enumerate((*(value.__defaults__ or ()), value.__kwdefaults__)):
            feed(part, (id(value), k))
        for cell in value.__closure__ or ():
            with contextlib.suppress(ValueError):  # an empty cell
                feed(cell.cell_contents, id(cell), asks)
        if _is_ours(value):
            return
        _feed(total, code, seen, live)
        for name in sorted(used):
            if name in value.__globals__:
                total.update(f"{name}=".encode())
                feed(value.__globals__[name], (id(value.__globals__), name), asks)
    elif isinstance(value, CodeType):
        total.update(_of_code(value))
    elif isinstance(value, ModuleType):
        total.update(value.__name__.encode())
        if live and value.__name__.partition(".")[0] not in LIBRARIES and (id(value), names) not in seen:
            seen[id(value), names] = value
            for name in sorted(names):
                if name in vars(value):
                    total.update(f"{name}=".encode())
                    _feed(total, vars(value)[name], seen, live, names, without)
        elif not live:
            with contextlib.suppress(OSError, TypeError):
                total.update(Path(str(getattr(value, "__file__", ""))).read_bytes())
    elif isinstance(value, tuple | list):
        if isinstance(value, list):
            seen[id(value)] = value  # it may hold itself
        total.update(f"{len(value)}:".encode())
        for part in value:
            _feed(total, part, seen, live, names, without)
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        total.update(f"{value.dtype} {value.shape} {value.flags.c_contiguous}:".encode())
        total.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict | set | frozenset) and live:
        seen[id(value)] = value
        parts = value.items() if isinstance(value, dict) else sorted((repr(one), one) for one in value)
        for key, part in parts:
            total.update(f"{key!r}=".encode())
            _feed(total, part, seen, live, names, without)
    elif isinstance(value, MethodType) and live:
        _feed(total, value.__func__, seen, live, without=without)
        inside = getattr(value.__func__, "__code__", None)
        _feed(total, value.__self__, seen, live, attributes_of(inside) if inside else frozenset())
    elif live:
        _feed_object(total, value, seen, names)
    else:
        total.update(repr(value).encode())


@functools.cache
def _of_code(code: CodeType) -> bytes:
    """The digest of code, which stays as it is."""
    total = hashlib.sha256(code.co_code + f"{code.co_argcount} {code.co_flags}".encode())
    for part in (code.co_names, code.co_varnames, code.co_freevars, code.co_consts):
        _feed(total, part, {}, False)
    return total.digest()


@functools.lru_cache(KEPT_KERNELS)
def _digest_alone(code: CodeType, label: str, read: frozenset[tuple[str, Any]]) -> bytes:
    """The digest of code that reads these libraries by these names, and nothing else but its arguments."""
    named = label, sorted((name, one.__name__, id(one)) for name, one in read)
    return hashlib.sha256(_of_code(code) + repr(named).encode()).digest()


def _of_library(value) -> bool:
    """Whether a value is one of ``LIBRARIES`` or a function of theirs."""
    home = getattr(value, "__self__", None) if isinstance(value, type(len)) else value
    if isinstance(value, np.ufunc | type(np.cross)):  # of others too
        return vars(np).get(value.__name__) is value
    return isinstance(home, ModuleType) and home.__name__.partition(".")[0] in LIBRARIES


def libraries_read(function) -> frozenset[tuple[str, Any]] | None:
    """Which of ``LIBRARIES``, and functions of theirs, a function reads, by their names; None if it reads more, beside
    arguments and builtins."""
    if not isinstance(function, FunctionType) or function.__closure__ or function.__kwdefaults__:
        return None
    there = function.__globals__
    read = [(name, there[name]) for name in global_names(function.__code__) if name in there]
    return frozenset(read) if all(_of_library(one) for _, one in read) else None


def self_contained(function) -> bool:
    """Whether a function reads nothing but its arguments, builtins and ``LIBRARIES``, so that it stays as it is."""
    read = libraries_read(function := python_of(function))  # a name of a function may be given to another
    plain = all(isinstance(one, PLAIN) for one in getattr(function, "__defaults__", None) or ())
    return read is not None and plain and all(isinstance(one, ModuleType) for _, one in read)


def _feed_object(total, value, seen, names) -> None:
    """Add an object or class by address, with what is read of it: attributes in ``names``, and those that its own
    methods and properties read."""
    seen[id(value)] = value
    total.update(f"{id(value)}:".encode())
    if not isinstance(value, type) and type(value).__repr__ is not object.__repr__:  # type: ignore[comparison-overlap]
        total.update(repr(value).encode())
    kinds = value.__mro__ if isinstance(value, type) else type(value).__mro__
    held = [vars(one) for one in kinds]
    if inspect.getattr_static(value, "__dict__", None) is not None:  # not what its __getattr__ makes up
        held.insert(0, vars(value))
    wanted: set[str] = {*names, "__call__", "__getitem__", "__getattr__"}
    done: set[str] = set()
    while wanted - done:
        name = min(wanted - done)
        done.add(name)
        found = next((own[name] for own in held if name in own), None)
        if found is None:
            continue
        if isinstance(found, MemberDescriptorType) and not isinstance(value, type):  # of __slots__
            found = getattr(value, name, None)
        if isinstance(found, (property, functools.cached_property, staticmethod, classmethod)):
            found = next(getattr(found, at) for at in ("fget", "func", "__func__") if hasattr(found, at))
        total.update(f"{name}=".encode())
        if isinstance(found, FunctionType):
            wanted |= attributes_of(found.__code__)
            if found.__module__.partition(".")[0] in (*LIBRARIES, "scipy"):
                continue
        _feed(total, found, seen, True, names)


def compile_kernel(function, signature, **how):
    """Compile ``function`` for one explicit signature, or load it from the disk cache; ``thorough=True``: by all of
    LLVM's optimisations, which take twice the time; over so many ``lanes`` (``lane_mode``); with derivatives along so
    many ``directions`` (``tangent_mode``).

    Functions equal as ``Made`` share one kernel. It releases the GIL while it runs. Returns the Python function itself
    when compilation is disabled.
    """
    return python_of(function) if disabled() else _compiled_kernel(Made(function), signature, **how)


def loop(signature):
    """Decorator: a function compiled for this signature when it is first called, or asked for its ``kernel()``."""

    def made(function):
        kernel = functools.cache(lambda: compile_kernel(function, signature))
        called = functools.wraps(function)(lambda *arguments: kernel()(*arguments))
        called.kernel = kernel
        return called

    return made


@functools.lru_cache(KEPT_KERNELS)
def _compiled_kernel(made: Made, signature, copy=0, **how):
    plain, kept_at = python_of(made.function), None
    with _lock, held(always=True):
        if Path(plain.__code__.co_filename).is_file():
            options = {"compiler": compiler()} | how | ({"copy": copy} if copy else {})
            kept_at = cache.place_of(plain, signature, OPTIONS_OF_KERNELS | options)
    with contextlib.nullcontext() if kept_at is None else cache.alone(kept_at[0]), _lock, held(always=True):
        found = kept_at and cache.kernel_in(kept_at, plain)
        return found or _made(plain, signature, OPTIONS_OF_KERNELS, kept_at, **how)


LEAVES = True
"""Whether what ``translate`` does not know is left to numba: functions of users."""


def _made(function, signature, options, kept_at=None, **how):
    """Compile a function, and save it; by numba, which is not saved, where it does not know something."""
    direct, source = opened("polhode.kernel.direct"), opened("polhode.kernel.source")

    cache.report_compiling(function)
    signature = typed(signature)
    try:
        parts = direct.compiled(function, signature, options, **how)
    except source.Unsupported as problem:
        if isinstance(problem, source.Refused) or not LEAVES or {"lanes", "directions"} & how.keys():
            raise
        kernel = numba.jit(**options)(function)
        with numba.core.typeinfer.register_dispatcher(kernel):
            kernel.compile(signature)
        kernel.disable_compile()
        return kernel
    if kept_at is not None:
        cache.save(kept_at, parts)
    return cache.kernel_of(parts, function)


@contextlib.contextmanager
def watched(on_compile):
    """Call ``on_compile`` once, when something is compiled in the block, or waits for a process that compiles."""
    once = functools.cache(on_compile)

    def listener(_):
        once()

    cache.listeners.append(listener)
    try:
        yield
    finally:
        cache.listeners.remove(listener)


_places: dict[int, list[int]] = {}
"""Which places are free in tables (``direct.write_places``), by their addresses."""


def closed(function, signature, behind):
    """A role with these behind it (``data_behind``), of roles two addresses, of Python objects one; it is called by its
    address, and bound into nothing. ``function`` is compiled, and cached, once for all of them."""
    for copy in itertools.count():
        kernel = _compiled_kernel(Made(function), signature, copy=copy)
        free = _places.setdefault(places := kernel.data(), list(range(PLACES)))
        with contextlib.suppress(IndexError):  # none is free, or another thread has taken the last one
            k = free.pop()
            break
    words = [(0, address_of(one)) if hasattr(one, "py_func") else (id(one),) for one in behind]
    data = np.array(sum(words, ()), dtype=np.int64)
    ctypes.c_int64.from_address(places + 8 * k).value = data.ctypes.data
    made = kernel.at(k)
    made.behind = kernel, behind, data
    weakref.finalize(made, free.append, k)
    return made


def compile_uncached(function, signature):
    """Compile without the disk cache, for functions that exist in this process only, such as a user's.

    Returns the compiled function and "", or None and the reason where it cannot be compiled.
    """
    if DISABLED:
        return python_of(function), ""
    try:
        with held(always=True), warnings.catch_warnings():
            warnings.simplefilter("ignore", numba.core.errors.NumbaWarning)  # about the style of the user's code
            options = {"nopython": True, "nogil": True, "error_model": "numpy"}
            return _made(python_of(function), signature, options), ""
    except Exception as problem:  # numba's errors, and internal ones that it lets through
        return None, _reason(problem)


def told(problem: Exception) -> str:
    """What numba found wrong and, where it says so, in which function."""
    called = re.search(r"^\s*def (\w+)\(", str(problem), re.MULTILINE)
    return _reason(problem) + (f" (in the function {called[1]!r})" if called else "")


def _reason(problem: Exception) -> str:
    lines = [line.strip() for line in str(problem).splitlines()]
    kept = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File ", "-"))]
    if len(kept) > 1 and kept[0].endswith(":"):
        return f"{kept[0]} {kept[1].removeprefix('>>> ')}"
    return kept[0] if kept else type(problem).__name__
