"""Functions of arrays made from tuple kernels: their arguments read and checked, broadcast, and looped over.

``Rows(kernel, gives, **operands)`` is a function of array_like: each ``Operand`` says how many numbers of an argument
make one element, and how it is read and checked; the leading axes broadcast against each other, and the kernel runs
over all elements in one compiled loop. A loop is compiled on its first call and cached on disk.

One element given as plain numbers, the usual case in a user's own loop, is taken straight to the kernel, which checks
it: the reading of arrays costs more than any kernel. What is unusual in any way is read as an array, so that there is
one set of messages.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from polhode.arguments import NUMBERS, Array, Indices, array, room_for
from polhode.errors import InvalidInput, sections_of
from polhode.kernel import jit
from polhode.kernel.access import get3, get4, get9
from polhode.kernel.later import as_lanes, lane_numbers
from polhode.kernel.simd import aligned
from polhode.lazy import opened

LARGEST = 1e100  # largest entry of a vector; much larger ones would overflow when squared

MANY = 64  # elements from which a kernel is computed over lanes, whose loop takes longer to compile

FLOAT = np.dtype(np.float64)
NEVER = (1.0, 0.0)
"""Limits between which nothing lies."""
Named = TypeVar("Named", bound=Callable[..., Any])


# Loops: the template is compiled once for every kernel bound into it.


@jit.inlined
def number(a, k):
    """The number at place k."""
    return a[k]


@jit.inlined
def get6(a, k):
    """The 6-tuple at place k."""
    return get3(a, k) + get3(a, k + 3)


@jit.inlined
def get7(a, k):
    """The 7-tuple at place k."""
    return get3(a, k) + get4(a, k + 3)


@jit.inlined
def plan_at(a, k):
    """The plan of an Euler sequence."""
    return (int(a[k]), int(a[k + 1]), int(a[k + 2]), int(a[k + 3]))


def write1(out, i, r):
    """Write one number to row i."""
    out[i] = r


def write_all(out, i, r):
    """Write the tuple ``r`` to row i."""
    for k in range(len(r)):
        out[len(r) * i + k] = r[k]


formula = jit.hole("formula(...) -> numbers", "A kernel.")
get = jit.hole("get(a, k) -> numbers", "Reads one element of an operand.")
operands = jit.hole("operands(same, a, at, n, i) -> tuple", "Row i of the operands from number n on.")
common = jit.hole("common(same, a, at, n, i) -> tuple", "The same, for those that are the same in all rows.")
write = jit.hole("write(out, i, r)", "Writes a result to row i.")


def no_more(same, a, at, n, i):
    """Behind the last operand."""
    return ()


def row_of(same, a, at, n, i):
    """An operand that begins at a place, whose rows lie as far apart as stands behind it, and those behind it."""
    return (get(a, at[2 * n] + at[2 * n + 1] * i),) + operands(same, a, at, n + 1, i)


def in_common(same, a, at, n, i):
    """An operand that is the same for all rows, and those behind it."""
    return (same[n],) + operands(same, a, at, n + 1, i)


def each(a, at, out, rows, lanes):
    """The kernel, row by row."""
    for i in range(rows):
        write(out, i, formula(*operands((), a, at, 0, i)))


def several(a, at, out, rows, lanes):
    """The kernel, several rows at a time; number j of the results of all rows is column j."""
    groups, found, same = -(-rows // lanes), as_lanes(jit.pointer(out)), common((), a, at, 0, 0)
    for k in range(groups):
        r = formula(*operands(same, a, at, 0, min(lane_numbers() + lanes * k, rows - 1)))
        for j in range(len(r)):
            found[groups * j + k] = r[j]


PLAN, PLACES = 4, ("first", "second", "third", "fourth")
GETTERS = {0: number, 3: get3, 4: get4, 6: get6, 7: get7, 9: get9}


@functools.cache
def loop_for(kernel, takes, gives, planned=False, same=()):
    """Compile the loop of a kernel over rows, or over lanes where it is told which arguments are the ``same`` in all
    rows; and the number of lanes.

    ``takes`` are the lengths of its arguments, 0 for a number; ``gives`` is the length of its result, 1 for a number;
    if ``planned``, its last argument is the plan of an Euler sequence (4 integers).
    """
    read = first = no_more
    lanes = opened("polhode.kernel.lane_drive").lane_width() if same else 0
    for k, getter in reversed([*enumerate([GETTERS[length] for length in takes] + [plan_at] * planned)]):
        first = jit.bind(row_of, get=getter, operands=first)
        read = jit.bind(in_common, operands=read) if same and same[k] else jit.bind(row_of, get=getter, operands=read)
    how = {"common": first} if same else {"write": write1 if gives == 1 else write_all}
    loop = jit.bind(several if same else each, formula=kernel, operands=read, **how)
    signature = "void(f8[::1], i8[::1], f8[::1], i8, i8)"
    return jit.compile_kernel(loop, signature, lanes=lanes, thorough=lanes > 0), lanes or 1


# One element.


@jit.inlined
def size_of(r):
    """The sum of the sizes of some numbers; not a number where one is not."""
    total = 0.0
    for k in range(len(r)):
        total += abs(r[k])
    return total


def one_number(a):
    """Of an argument: what is checked, and the element."""
    return a, (a,)


def one_row(a):
    """The same of an array."""
    return size_of(get(a, 0)), (get(a, 0),)


def one_plan(a):
    """The same of the plan of an Euler sequence."""
    return 0.0, (plan_at(a, 0),)


def nothing(a):
    """The same of an argument that the kernel does not take."""
    return 0.0, ()


first, second, third, fourth = (jit.hole(f"{name}(a) -> number, tuple", "Reads an argument.") for name in PLACES)


def one(a, b, c, d, limits, out):
    """The kernel for one element; whether it was computed, which it is where the arguments lie within their limits."""
    i, x = first(a)
    j, y = second(b)
    k, z = third(c)
    n, w = fourth(d)
    if not (limits[0] <= i <= limits[1] and limits[2] <= j <= limits[3]):
        return False
    if not (limits[4] <= k <= limits[5] and limits[6] <= n <= limits[7]):
        return False
    write(out, 0, formula(*(x + y + z + w)))
    return True


@functools.cache
def kernel_of_one(kernel, takes, gives, planned=False):
    """Compile ``one`` for a kernel; arguments as of ``loop_for``."""
    reads = [jit.bind(one_row, get=GETTERS[length]) if length else one_number for length in takes]
    kinds = ["f8[::1]" if length else "f8" for length in takes]
    if planned:
        reads, kinds = [*reads, one_plan], [*kinds, "i8[::1]"]
    rest = len(PLACES) - len(reads)
    bound = dict(zip(PLACES, reads + [nothing] * rest, strict=True))
    function = jit.bind(one, formula=kernel, write=write1 if gives == 1 else write_all, **bound)
    return jit.compile_kernel(function, f"b1({', '.join(kinds + ['f8'] * rest)}, f8[::1], f8[::1])")


# Operands.


class Operand(NamedTuple):
    """One argument of a function over rows."""

    length: int
    """Numbers of one element, the last axis; 0: one number, without an axis."""
    read: Callable[[Any, str], Array]
    """``read(value, name)``: the checked array, of shape (..., length) or (...)."""
    fits: tuple[float, float] | None = (-LARGEST, LARGEST)
    """What a plain number, or the sum of the sizes of several, lies between if it needs no further check; None: any
    does."""
    refused: tuple[str, ...] = ()
    """What is refused beside a wrong shape and what is not finite, for docstrings."""


def plain(value: Any, length: int) -> Any:
    """The numbers of one element, a list or one number; None where they are not plain or beyond 1e100."""
    kind = type(value)
    if not length:
        if kind not in NUMBERS or not -LARGEST <= value <= LARGEST:
            return None
    else:
        if kind is np.ndarray:
            if value.dtype is not FLOAT or value.shape != (length,):
                return None
            value = value.tolist()
        elif (kind is not tuple and kind is not list) or len(value) != length:
            return None
        for x in value:
            if type(x) not in NUMBERS or not -LARGEST <= x <= LARGEST:
                return None
    return value


def read_vectors(value: object, name: str, unit: str = "") -> Array:
    """Vectors (..., 3), checked."""
    a = array(value, name, unit)
    if a.shape[-1:] != (3,):
        raise InvalidInput(f"{name} has shape {a.shape}; its last axis must have length 3")
    if a.size and np.abs(a).max() > LARGEST:
        raise InvalidInput(f"{name} has entries beyond {LARGEST:g}; check its units")
    return a


def vectors(unit: str = "") -> Operand:
    """An argument (..., 3) in this unit."""
    return Operand(3, functools.partial(read_vectors, unit=unit), refused=("entries beyond 1e100",))


def numbers(unit: str = "") -> Operand:
    """An argument (...) in this unit."""
    return Operand(0, functools.partial(array, unit=unit))


def leading_axes(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common leading axes of arguments with these ones."""
    different = {shape for shape in shapes.values() if shape}
    if len(different) < 2:
        return different.pop() if different else ()
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InvalidInput(
            f"leading axes do not broadcast: {given}; give them the same leading axes, or one of them none"
        ) from None


class Rows:
    """A kernel as a function of array_like, see the module.

    Parameters
    ----------
    kernel : function
        Takes a tuple or a number for each operand (then the plan of an Euler sequence) and returns a tuple or a number.
    gives : tuple of int
        Shape of one result.
    planned : bool
        Whether calls bring ``plan``, an array of 4 integers.
    lanes : bool
        Whether many elements are computed several at a time.
    **operands : Operand
        The arguments, by the names that messages give them.
    """

    def __init__(
        self, kernel: Any, gives: tuple[int, ...], planned: bool = False, lanes: bool = False, **operands: Operand
    ) -> None:
        self.kernel, self.gives, self.planned, self.operands = kernel, gives, planned, operands
        self.length, self.lanes = prod(gives), lanes
        self._each = tuple(operands.values())
        takes = tuple(operand.length for operand in self._each)
        self.loop = functools.partial(loop_for, kernel, takes, self.length, planned)
        self._widths = [length or 1 for length in takes] + [PLAN] * planned
        self._first = [length for length in takes if length]  # usually before all numbers
        usual = [np.ndarray if length else float for length in sorted(takes, key=bool, reverse=True)]
        self._usual = usual * (not jit.disabled())
        self._lengths, self._rest = takes, (0.0,) * (len(PLACES) - len(self._widths))
        limits = [operand.fits or NEVER for operand in self._each] + [(0.0, 0.0)] * len(PLACES)
        self._limits = np.array(limits).ravel()

    @functools.cached_property
    def of_one(self) -> Callable[..., bool]:
        """The compiled kernel for one element."""
        kernel = kernel_of_one(self.kernel, self._lengths, self.length, self.planned)
        return getattr(kernel, "_called", kernel)  # past the method that would look for functions among arguments

    def __call__(self, *values: object, plan: Indices | None = None) -> Array:
        """The result for the values of the operands, (..., *gives)."""
        given: Sequence[object] | None = values
        try:
            if [*map(type, values)] != self._usual or [*map(len, values[: len(self._first)])] != self._first:  # type: ignore[arg-type]
                given = self.plain(values)
            if given is not None:
                out = np.empty(self.length)
                if self.of_one(*given, *(() if plan is None else (plan,)), *self._rest, self._limits, out):
                    return out if len(self.gives) == 1 else out.reshape(self.gives)[()]
        except (TypeError, OverflowError):  # an array of another kind; a number beyond 1e308
            pass
        return self.over(*map(self.read, values, self.operands), plan=plan)

    def plain(self, values: Sequence[object]) -> Sequence[object] | None:
        """Values of one element as the kernel takes them; None where they are not plain."""
        given = [*values]
        for k, length in reversed([*enumerate(self._lengths)]):
            if (one := plain(values[k], length)) is None:
                return None
            given[k] = np.array(one, FLOAT) if length else one
        return given

    def read(self, value: object, name: str) -> Array:
        """One argument, checked, as an array."""
        operand = self.operands[name]
        one, (low, high) = plain(value, operand.length), operand.fits or NEVER
        if one is not None and low <= (sum(map(abs, one)) if operand.length else one) <= high:
            return value if type(value) is np.ndarray else np.array(one, FLOAT)
        return operand.read(value, name)

    def over(self, *arrays: Array, plan: Indices | None = None) -> Array:
        """The same for arrays that have been read and checked."""
        shapes = [a.shape[:-1] if length else a.shape for a, length in zip(arrays, self._lengths, strict=True)]
        leading = leading_axes(**dict(zip(self.operands, shapes, strict=True)))
        count = prod(leading)
        room_for(count * (self.length + sum(self._widths)), "the arguments together")
        flat: list[Array | Indices] = []
        begin, places = 0, [0] * 0
        for a, shape, width in zip(arrays, shapes, self._widths, strict=False):
            if a.size != width and a.size != width * count:
                a = np.broadcast_to(a, leading + a.shape[len(shape) :])
            flat.append(a.ravel())
            places += (begin, 0 if a.size == width else width)
            begin += a.size
        if plan is not None:
            flat.append(plan)
            places += (begin, 0)
        lanes = self.lanes and count >= MANY and not jit.disabled()
        loop, width = self.loop(tuple([step == 0 for step in places[1::2]]) if lanes else ())
        whole = -(-count // width) * width
        out = aligned(self.length * whole, np.empty) if lanes else np.empty(self.length * whole)
        loop(np.concatenate(flat), np.array(places, np.int64), out, count, width)
        if not lanes:
            return out.reshape(leading + self.gives)[()]
        found = out.reshape(self.length, whole)[:, :count].reshape(self.gives + leading)
        return found.transpose(*range(len(self.gives), found.ndim), *range(len(self.gives)))


def over_rows(kernel: Callable[..., Any], gives: tuple[int, ...], **operands: Operand) -> Callable[[Named], Named]:
    """Decorator: a kernel as a function of array_like, with the name and the text of a function without a body, to
    which is added what it returns and raises where that follows from the operands."""
    rows, shape = Rows(kernel, gives, False, False, **operands), ", ".join(["...", *map(str, gives)])
    refused = ["Wrong shape", "not finite", *dict.fromkeys(word for one in operands.values() for word in one.refused)]
    *words, last = refused
    said = f"{', '.join(words)}{',' * (len(words) > 1)} or {last}."

    names = ", ".join(operands)

    def made(function: Named) -> Named:
        """A plain function of one call, as users' functions are traced and compiled through it."""
        function.__doc__ = sections_of(function, f"array ({shape})", said)
        over = functools.update_wrapper(eval(f"lambda {names}: rows({names})", {"rows": rows}), function)
        del over.__wrapped__
        return cast(Named, over)

    return made


def columns(out: Array) -> tuple[Any, ...]:
    """The numbers along the last axis, each as an array of the leading axes."""
    return tuple(out[..., k][()] for k in range(out.shape[-1]))
