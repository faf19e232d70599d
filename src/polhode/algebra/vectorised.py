"""Functions of arrays made from tuple kernels: their arguments read and checked, broadcast, and looped over.

``Rows(kernel, gives, **operands)`` is a function of array_like: each ``Operand`` says how many numbers of an argument
make one element, and how it is read and checked; the leading axes broadcast against each other, and the kernel runs
over all elements in one compiled loop. A loop is compiled on its first call and cached on disk.

One element given as plain numbers, the usual case in a user's own loop, is taken straight to the same loop: the reading
of arrays costs more than any kernel. What is unusual in any way is read as an array, so that there is one set of
messages.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from polhode.arguments import NUMBERS, Array, Indices, array, room_for
from polhode.errors import InvalidInput, sections_of
from polhode.kernel import jit

LARGEST = 1e100
"""Largest entry of a vector; much larger ones would overflow when squared."""

FLOAT = np.dtype(np.float64)
Named = TypeVar("Named", bound=Callable[..., Any])


# Loops: each template is compiled once for every kernel bound into it.


def number(a, i):
    """The number in row i."""
    return a[i, 0]


def read3(a, i):
    """Row i as 3 numbers."""
    return (a[i, 0], a[i, 1], a[i, 2])


def read4(a, i):
    """Row i as 4 numbers."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


def read6(a, i):
    """Row i as 6 numbers."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])


def read9(a, i):
    """Row i as 9 numbers."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8])


def read_plan(order, i):
    """The plan of an Euler sequence, the same for all rows."""
    return (order[0], order[1], order[2], order[3])


def write1(out, i, r):
    """Write one number to row i."""
    out[i, 0] = r


def write_all(out, i, r):
    """Write the tuple ``r`` to row i."""
    for k in range(len(r)):
        out[i, k] = r[k]


formula = jit.hole("formula(...) -> numbers", "A kernel.")
first = jit.hole("first(a, i) -> numbers", "Reads row i of the first operand.")
second = jit.hole("second(a, i) -> numbers", "Reads row i of the second operand.")
third = jit.hole("third(a, i) -> numbers", "Reads row i of the third operand.")
fourth = jit.hole("fourth(a, i) -> numbers", "Reads row i of the fourth operand.")
write = jit.hole("write(out, i, r)", "Writes a result to row i.")


def each_1(a, out):
    """out = formula(a), row by row."""
    for i in range(out.shape[0]):
        write(out, i, formula(first(a, i)))


def each_2(a, b, out):
    """out = formula(a, b), row by row."""
    for i in range(out.shape[0]):
        write(out, i, formula(first(a, i), second(b, i)))


def each_3(a, b, c, out):
    """out = formula(a, b, c), row by row."""
    for i in range(out.shape[0]):
        write(out, i, formula(first(a, i), second(b, i), third(c, i)))


def each_4(a, b, c, d, out):
    """out = formula(a, b, c, d), row by row."""
    for i in range(out.shape[0]):
        write(out, i, formula(first(a, i), second(b, i), third(c, i), fourth(d, i)))


TEMPLATES = {1: each_1, 2: each_2, 3: each_3, 4: each_4}
READERS = {0: number, 3: read3, 4: read4, 6: read6, 9: read9}


@functools.cache
def loop_for(kernel, takes, gives, planned=False):
    """Compile the loop of a kernel over rows.

    ``takes`` are the lengths of its arguments, 0 for a number; ``gives`` is the length of its result, 1 for a number;
    if ``planned``, its last argument is the plan of an Euler sequence (4 integers).
    """
    readers = [READERS[length] for length in takes] + [read_plan] * planned
    bound = dict(zip(("first", "second", "third", "fourth"), readers, strict=False))
    rows = ["f8[:, ::1]"] * len(takes) + ["i8[::1]"] * planned
    template = jit.bind(TEMPLATES[len(readers)], formula=kernel, write=write1 if gives == 1 else write_all, **bound)
    return jit.compile_kernel(template, f"void({', '.join(rows)}, f8[:, ::1])")


# Operands.


def never(numbers: object) -> bool:
    """No numbers pass: the argument is always read as an array."""
    return False


class Operand(NamedTuple):
    """One argument of a function over rows."""

    length: int
    """Numbers of one element, the last axis; 0: one number, without an axis."""
    read: Callable[[Any, str], Array]
    """``read(value, name)``: the checked array, of shape (..., length) or (...)."""
    fits: Callable[[Any], bool] | None = None
    """Whether plain numbers of at most 1e100, a list or one number, need no further check; None: they never do."""
    refused: tuple[str, ...] = ()
    """What is refused beside a wrong shape and what is not finite, for docstrings."""


def plain(value: Any, length: int) -> Any:
    """The numbers of one element, a list or one number; None where they are not plain, finite and at most 1e100."""
    kind = type(value)
    if not length:
        return value if kind in NUMBERS and -LARGEST <= value <= LARGEST else None
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
    **operands : Operand
        The arguments, by the names that messages give them.
    """

    def __init__(self, kernel: Any, gives: tuple[int, ...], planned: bool = False, **operands: Operand) -> None:
        self.kernel, self.gives, self.planned, self.operands = kernel, gives, planned, operands
        self.length = prod(gives)
        self._each = tuple(operands.values())

    @functools.cached_property
    def loop(self) -> Callable[..., None]:
        """The compiled loop."""
        return loop_for(self.kernel, tuple(operand.length for operand in self._each), self.length, self.planned)

    def __call__(self, *values: object, plan: Indices | None = None) -> Array:
        """The result for the values of the operands, (..., *gives)."""
        rows: list[Any] = []
        for value, (length, _, fits, _) in zip(values, self._each, strict=True):
            if (one := plain(value, length)) is None or (fits is not None and not fits(one)):
                named = zip(values, self.operands.items(), strict=True)
                return self.over(*(operand.read(value, name) for value, (name, operand) in named), plan=plan)
            rows.append(np.array((one,) if length else ((one,),), FLOAT))
        if plan is not None:
            rows.append(plan)
        out = np.empty((1, self.length))
        self.loop(*rows, out)
        return out[0] if len(self.gives) == 1 else out.reshape(self.gives)[()]

    def over(self, *arrays: Array, plan: object = None) -> Any:
        """The same for arrays that have been read and checked."""
        leading = leading_axes(
            **{
                name: a.shape[:-1] if operand.length else a.shape
                for a, (name, operand) in zip(arrays, self.operands.items(), strict=True)
            }
        )
        count, widths = prod(leading), [operand.length or 1 for operand in self._each]
        room_for(count * (self.length + sum(widths)), "the arguments together")
        rows: list[Any] = []
        for a, operand, width in zip(arrays, self._each, widths, strict=True):
            shape = leading + (width,) * bool(operand.length)
            full = a if a.shape == shape else np.broadcast_to(a, shape)
            rows.append(np.require(full.reshape(count, width), requirements=("C", "A", "W")))
        if plan is not None:
            rows.append(plan)
        out = np.empty((count, self.length))
        self.loop(*rows, out)
        return out.reshape(leading + self.gives)[()]


def over_rows(kernel: Callable[..., Any], gives: tuple[int, ...], **operands: Operand) -> Callable[[Named], Named]:
    """Decorator: a kernel as a function of array_like, with the name and the text of a function without a body, to
    which is added what it returns and raises where that follows from the operands."""
    rows, shape = Rows(kernel, gives, False, **operands), ", ".join(["...", *map(str, gives)])
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
