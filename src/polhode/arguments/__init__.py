"""Validation of arguments: every public function reads and checks its arguments with the functions in this file.

A number is a real number of Python or NumPy, or anything that converts to one. Text, bytes, True and False, complex
numbers, dates and masked entries are rejected, though NumPy would take them; so are nan, infinity, integers beyond
1e308, and arrays that do not fit into the memory of the machine.

**Quantities with units** (of astropy, pint or unyt; also lists of them) are converted to the SI unit of the argument,
radians for angles, and rejected where their dimension is another one. A dimensionless argument takes plain numbers and
dimensionless quantities. polhode itself works in any consistent set of units, but quantities arrive in SI, so plain
numbers given beside them must be in SI too. An argument whose unit only the caller knows (the parameters of a user's
function) takes plain numbers only. Labels (``attrs["units"]`` of xarray) are ignored.

Every rejection is an ``InvalidInput`` of one sentence that names the argument.
"""

from __future__ import annotations

import keyword
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from math import isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike as ArrayLike, NDArray

from polhode.errors import InvalidInput, shown, unknown_name
from polhode.operating_system import memory_allowed

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.integer]

FLOATS, LISTS = frozenset({float, np.float64}), (list, tuple)
NUMBERS = FLOATS | {int, np.int64}  # types that are plain numbers, without units

NO_NUMBERS = (str, bytes, bool, type(None))  # types that NumPy converts to numbers, but that are rejected here

NO_WHOLE = (bool, np.timedelta64)  # subtypes of Python's and NumPy's integers that are rejected as whole numbers

LONGEST_PATH, LONGEST_NAME = 4096, 255  # most characters of a path, and of each of its parts

LONGEST_WORD = 64  # most characters of a name that a user gives, such as that of a body

DEEPEST = 8  # most levels of nested lists that are searched for quantities

UNKNOWN = "unknown"  # the unit of an argument whose unit polhode cannot know


# ------------------------------------------------------------------ units
def is_quantity(value: object) -> bool:
    """Whether a value is a number with a unit; decided without importing any package of units."""
    kind = type(value)
    if kind in NUMBERS or kind is np.ndarray or kind is str or isinstance(value, type):
        return False
    units = has(value, "units")
    return units or has(value, "unit") if has(value, "to_value") else units and has(value, "magnitude")  # pint


def has(value: object, name: str) -> bool:
    """``hasattr``, but False where the object raises another error."""
    try:
        return hasattr(value, name)
    except Exception:
        return False


class InSI:
    """Numbers in a unit of SI: a quantity of no other package's, with the interface of those of pint."""

    def __init__(self, magnitude: Any, units: str) -> None:
        self.magnitude, self.units = magnitude, units

    def __repr__(self) -> str:
        return f"{self.magnitude} {self.units}"

    def m_as(self, unit: str) -> Any:
        """The numbers, in their own unit alone."""
        if unit != self.units:
            raise ValueError
        return self.magnitude


def has_quantity(value: Any) -> bool:
    """Whether a value is a quantity, or a list or an array that contains one."""
    kind = type(value)
    if value is None or kind in NUMBERS or ((kind is tuple or kind is list) and NUMBERS.issuperset(map(type, value))):
        return False
    if isinstance(value, np.ndarray) and value.dtype == object:
        return any(map(is_quantity, value.flat))
    return is_quantity(value) or any(
        is_quantity(part) or (isinstance(part, list | tuple) and any(map(is_quantity, part)))
        for part in (value if isinstance(value, list | tuple) else ())
    )


def in_unit(value: Any, unit: str, name: str) -> Any:
    """Quantities, also in lists, converted to plain numbers in a unit; anything else is unchanged."""
    if (kind := type(value)) in NUMBERS or (isinstance(value, LISTS) and NUMBERS.issuperset(map(type, value))):
        return value
    return value if kind is np.ndarray and value.dtype != object else _stripped(value, unit, name, 0)


def _stripped(value: Any, unit: str, name: str, depth: int) -> Any:
    if isinstance(value, list | tuple):
        if NUMBERS.issuperset(map(type, value)):
            return value
        if depth == DEEPEST:
            raise InvalidInput(f"{name.partition('[')[0]} has lists more than {DEEPEST} deep; give a regular array")
        return [_stripped(part, unit, f"{name}[{k}]", depth + 1) for k, part in enumerate(value)]
    if isinstance(value, np.ndarray) and value.dtype == object and value.size:
        flat = [_stripped(part, unit, name, DEEPEST) for part in value.ravel()]
        return np.array(flat, dtype=object).reshape(value.shape) if any(map(is_quantity, value.flat)) else value
    return _converted(value, unit, name) if is_quantity(value) else value


def _converted(value: Any, unit: str, name: str) -> Any:
    units = str(getattr(value, "unit", None) or getattr(value, "units", "")) or "none"
    if unit == UNKNOWN:
        raise InvalidInput(f"{name} is a quantity in {units}, but polhode does not know which unit is meant here; give "
                           "plain numbers")  # fmt: skip
    try:
        astropy = sys.modules.get("astropy.units")
        if astropy is None or not isinstance(value, astropy.Quantity):
            convert = value.m_as if hasattr(value, "m_as") else value.to_value
            return np.asarray(convert(unit or "dimensionless"), dtype=float)[()]
        # Such as an inertia given as torque over angular acceleration, N m s^2 / rad: take rad as 1.
        angles = astropy.dimensionless_angles() if unit and "rad" not in unit else []
        return np.asarray(value.to_value(unit, equivalencies=angles), dtype=float)[()]
    except Exception:  # each package raises errors of its own
        raise InvalidInput(f"{name} is a quantity in {units}, which does not turn into {unit or 'a pure number'}; "
                           "check what it is") from None  # fmt: skip


# ------------------------------------------------------------------ numbers
def room_for(entries: float, name: str) -> None:
    """Check that so many float64 numbers fit into half of the memory that this process may take: that of the machine,
    or its own limit."""
    if entries > SMALL and 8 * entries > memory_allowed() // 2:
        raise InvalidInput(f"{name} asks for {float(entries):.3g} numbers, {8e-9 * entries:.3g} GB, more than the "
                           "memory of this machine holds; take fewer at a time")  # fmt: skip


FEW, SMALL = 16, 2**16  # so many numbers numpy looks at no faster than Python; so many fit wherever Python does
MOST_SQUARED = 1e150  # largest number of those that are squared and summed


def array(value: object, name: str, unit: str = "") -> Array:
    """Finite real numbers of any shape, as float64; a float64 array is returned without a copy."""
    small = value if type(value) is np.ndarray and value.dtype == np.float64 and value.size <= SMALL else None
    if small is not None and np.count_nonzero(np.isfinite(small)) == small.size:
        return small
    try:
        few = value if isinstance(value, LISTS) and len(value) <= FEW else ()
        if few and NUMBERS.issuperset(map(type, few)) and all(map(isfinite, few)):
            return np.array(few, dtype=float)
        value = in_unit(value, unit, name)
        raw = np.asarray(value)
        kind = raw.dtype.kind
        if kind not in "iufO" or (kind == "O" and any(isinstance(part, NO_NUMBERS) for part in raw.flat)):
            raise TypeError
        # Where nobody has imported numpy.ma, which takes 10 ms, nothing is masked.
        if "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise InvalidInput(f"{name} has masked entries; fill them or leave them out")
        room_for(raw.size, name)
        a = raw.astype(np.float64, copy=False)
    except InvalidInput:
        raise
    except OverflowError:
        raise InvalidInput(f"{name} has numbers beyond 1e308; check its units") from None
    except Exception:  # an object may raise anything when it is converted to numbers
        raise InvalidInput(f"{name} must be real numbers in a regular array, not {shown(value)}") from None
    if not (all(map(isfinite, a.ravel().tolist())) if a.size <= FEW else np.isfinite(a).all()):
        index = ",".join(str(int(k)) for k in np.argwhere(~np.isfinite(a))[0])
        wrong = a[~np.isfinite(a)][0]
        if not index:
            raise InvalidInput(f"{name} is {wrong}; it must be a finite number")
        raise InvalidInput(f"{name} is not finite: {name}[{index}] is {wrong}; give a finite number")
    return a


def squares(a: Array, name: str) -> Array:
    """The array, which has squares that are numbers, too."""
    if a.size and not np.abs(a).max() <= MOST_SQUARED:
        raise InvalidInput(f"{name} has entries beyond {MOST_SQUARED:g}, whose squares overflow; choose other units")
    return a


def vector(value: object, name: str, length: int = 3, unit: str = "") -> Array:
    """A new flat array of ``length`` finite numbers."""
    a = array(value, name, unit)
    if a.shape != (length,):
        raise InvalidInput(f"{name} must be {length} numbers, but has shape {a.shape}")
    return a.copy() if a is value or a.base is not None else a


def unit_vector(value: object, name: str) -> Any:
    """A vector of any length, normalised."""
    v = vector(value, name, unit=UNKNOWN)
    largest = max(map(abs, v.tolist()))
    if not largest:
        raise InvalidInput(f"{name} is zero; give a direction")
    v = v / largest  # so that the square does not overflow
    return tuple((v / sqrt(v @ v)).tolist())


def unit_vectors(value: object, name: str) -> Array:
    """One vector or several, normalised, as an array (n, 3)."""
    rows = np.atleast_2d(array(value, name, UNKNOWN))
    if rows.ndim != 2 or rows.shape[1] != 3 or not len(rows):
        raise InvalidInput(f"{name} must be one or more rows of 3 numbers, but has shape {rows.shape}")
    return np.array([unit_vector(row, f"{name}[{k}]") for k, row in enumerate(rows)])


def number(
    value: Any, name: str, unit: str = "", *, positive: bool = False, zero: bool = False, most: float = np.inf
) -> float:
    """One finite number with absolute value at most ``most``; ``positive``: above 0; ``zero``: 0 or above."""
    if type(value) not in FLOATS:
        a = array(value, name, unit) if value is not None and not isinstance(value, str | bool) else None
        if a is None or a.shape:
            raise InvalidInput(f"{name} must be a number, not {shown(value)}")
        value = a
    if not isfinite(value := float(value)):
        raise InvalidInput(f"{name} is {value}; it must be a finite number")
    if (positive and not value > 0.0 and not (zero and value == 0.0)) or (zero and value < 0.0):
        raise InvalidInput(f"{name} is {value:g}; it must be {'0 or ' if zero else ''}positive")
    if abs(value) > most:
        raise InvalidInput(f"{name} is {value:g}; it must be at most {most:g}, so check its units")
    return value


def numbers(value: object, name: str, unit: str = UNKNOWN) -> Array:
    """A new flat array of any length; empty for None."""
    a = np.zeros(0) if value is None else array(value, name, unit)
    if a.ndim > 1:
        raise InvalidInput(f"{name} must be a flat sequence of numbers, but has shape {a.shape}")
    return np.atleast_1d(a).copy()


def of_each(
    value: object, name: str, count: int, what: str, unit: str = UNKNOWN, kept: dict[str, Any] | None = None
) -> Array:
    """One number for all of so many things, or one for each, as a new array (count,); ``kept`` gets it as given."""
    a = array(value, name, unit)
    if a.shape not in ((), (count,)):
        raise InvalidInput(f"{name} must be one number or one for each of {count} {what}, but has shape {a.shape}")
    if kept is not None:
        kept[name] = a.tolist()
    return a.copy() if a.ndim else np.full(count, a)


def whole(value: object, name: str, least: int = 0, most: float = 2**53) -> int:
    """An integer of Python or NumPy (no float) from ``least`` to ``most``."""
    if isinstance(value, NO_WHOLE) or not isinstance(value, int | np.integer):
        raise InvalidInput(f"{name} must be a whole number, not {shown(value)}")
    if not least <= value <= most:
        limit = f"{least} or more" if value < least else f"at most {most:g}"
        raise InvalidInput(f"{name} is {shown(value)}; it must be {limit}")
    return int(value)


# ------------------------------------------------------------------ words and things
def choice(value: object, name: str, known: Iterable[str]) -> str:
    """One of the known words."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        raise unknown_name(name, value, words)
    return value


def text(value: object, name: str, most: float = np.inf) -> str:
    """Any text of at most ``most`` characters."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {shown(value)}")
    if len(value) > most:
        raise InvalidInput(f"{name} is {shown(value)}, of {len(value)} characters; take at most {most:g}")
    return value


def identifier(value: Any, name: str) -> str:
    """``value`` as a name that Python could have, not a keyword and without a leading underscore."""
    if text(value, name, LONGEST_WORD).isidentifier() and not keyword.iskeyword(value) and not value.startswith("_"):
        return str(value)
    raise InvalidInput(f"{name} must be an identifier such as 'a' or 'main_body', not {shown(value)}")


def truth(value: object, name: str) -> bool:
    """True or False."""
    if type(value) is not bool and not isinstance(value, np.bool_):
        raise InvalidInput(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def function(value: object, name: str) -> Callable[..., Any]:
    """A callable."""
    if not callable(value):
        raise InvalidInput(f"{name} must be a function, not {shown(value)}")
    return value


def path(value: object, name: str = "path") -> str:
    """The path of a file or folder, as text."""
    try:
        given = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    except Exception:  # an object may raise anything in __fspath__
        given = None
    if not isinstance(given, str) or not given or "\0" in given:
        raise InvalidInput(f"{name} must be the name of a file, not {shown(value)}")
    if len(given) > LONGEST_PATH or any(len(part) > LONGEST_NAME for part in given.replace("\\", "/").split("/")):
        raise InvalidInput(f"{name} is {shown(given)}, which is too long for the name of a file; take a shorter one")
    return given


def mapping(value: object, name: str) -> Mapping[str, Any]:
    """A mapping of names to values."""
    if not isinstance(value, dict | Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInput(f"{name} must be a mapping of names to values, not {shown(value)}")
    return value
