"""The numbers and arrays that a function is run on: they write down what is done to them.

A ``Tracer`` stands for a number and a ``Traced`` array holds tracers. Both follow numpy's protocols
(``__array_ufunc__``, ``__array_function__``), so most of numpy runs on them as on any array of objects; what numpy
would decide by comparing numbers, and what it has in compiled form only, has a rule here or cannot be traced.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.kernel.later import overload
from polhode.lazy import types
from polhode.programs.decisions import TooManyWays
from polhode.programs.graph import ARITHMETIC, Closed, Graph

MODULE_CODE = sys._getframe().f_code
"""The code of this file, for the digest of every kernel that uses ``where``: its ``overload`` has no name."""
DECIDES = (
    "it decides too often by the numbers it is given (if, while, and, or, ==, sorted); write polhode.where, min, max "
    "or abs instead"
)
ASKS = "it asks for the value of a number it is given (an index, float, int, range, a compiled function)"


class NotTraceable(Exception):
    """A function decides by the numbers it is given, or hands them to something that has no rule.

    ``reason`` is a clause about the function ("it decides by ..."), ``line`` the user's file and line, where it is
    known."""

    def __init__(self, reason: str, line: str = "") -> None:
        super().__init__(f"{reason} ({line})" if line else reason)
        self.reason, self.line = reason, line


# ------------------------------------------------------------------ operations on rows
def _same(g: Graph, x: int, y: int) -> int:
    return g.mul(g.fun("at_most", x, y), g.fun("at_most", y, x))


def _power(g: Graph, x: int, y: int) -> int:
    exponent = None if g.value(y) is None else g.exactly(y)
    return g.fun("pow", x, y) if exponent is None else g.power(x, exponent)


AS_WRITTEN = {"add": "plus", "subtract": "minus", "multiply": "times", "divide": "over"}
"""Functions of rows that are rounded as Python rounds these operations."""
OPERATIONS: dict[str, Callable[..., int]] = {
    **{name: ARITHMETIC[function] for name, function in AS_WRITTEN.items()},
    "negative": lambda g, x: g.negative(x), "positive": lambda g, x: x, "conjugate": lambda g, x: x,
    "power": _power, "sqrt": lambda g, x: g.power(x, 0.5),
    "cbrt": lambda g, x: g.mul(g.fun("sign", x), g.power(g.fun("abs", x), 1.0 / 3.0)),
    "square": lambda g, x: g.mul(x, x), "reciprocal": lambda g, x: g.power(x, -1.0),
    "hypot": lambda g, x, y: g.power(g.sum((g.mul(x, x), 1.0), (g.mul(y, y), 1.0)), 0.5),
    "less": lambda g, x, y: g.fun("less", x, y), "greater": lambda g, x, y: g.fun("less", y, x),
    "less_equal": lambda g, x, y: g.fun("at_most", x, y), "greater_equal": lambda g, x, y: g.fun("at_most", y, x),
    "equal": _same, "not_equal": lambda g, x, y: g.difference(g.const(1.0), _same(g, x, y)),
    "logical_and": lambda g, x, y: g.fun("choose", x, g.fun("choose", y, g.const(1.0), g.const(0.0)), g.const(0.0)),
    "logical_or": lambda g, x, y: g.fun("choose", x, g.const(1.0), g.fun("choose", y, g.const(1.0), g.const(0.0))),
    "logical_not": lambda g, x: g.fun("choose", x, g.const(0.0), g.const(1.0)),
    "minimum": lambda g, x, y: g.fun("min", x, y), "maximum": lambda g, x, y: g.fun("max", x, y),
    "absolute": lambda g, x: g.fun("abs", x), "copysign": lambda g, x, y: g.mul(g.fun("abs", x), g.fun("sign", y)),
    "sign": lambda g, x: g.fun("choose", x, g.fun("sign", x), g.const(0.0)),
    "floor": lambda g, x: g.fun("floor", x), "ceil": lambda g, x: g.negative(g.fun("floor", g.negative(x))),
    "floor_divide": lambda g, x, y: g.fun("floordiv", x, y),
    "arctan2": lambda g, x, y: g.fun("atan2", x, y), "arcsin": lambda g, x: g.fun("asin", x),
    "arccos": lambda g, x: g.fun("acos", x), "arctan": lambda g, x: g.fun("atan", x),
    "exp2": lambda g, x: g.fun("pow", g.const(2.0), x),
    "log2": lambda g, x: g.mul(g.fun("log", x), g.const(1.4426950408889634)),
    "log10": lambda g, x: g.mul(g.fun("log", x), g.const(0.4342944819032518)),
    "deg2rad": lambda g, x: g.mul(x, g.const(0.017453292519943295)),
    "rad2deg": lambda g, x: g.mul(x, g.const(57.29577951308232)),
}  # fmt: skip
"""Rows of numpy's functions of numbers, by their names."""
MATH = ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")
for _name in MATH:
    OPERATIONS[_name] = functools.partial(lambda name, g, x: g.fun(name, x), _name)
SPELLED = {
    "fabs": "absolute", "abs": "absolute", "float_power": "power", "pow": "power", "true_divide": "divide",
    "fmin": "minimum", "fmax": "maximum", "mod": "remainder", "conj": "conjugate", "bitwise_and": "logical_and",
    "bitwise_or": "logical_or", "invert": "logical_not", "radians": "deg2rad", "degrees": "rad2deg",
    "atan2": "arctan2", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
}  # fmt: skip
"""Other names of the same, in numpy, ``math`` and Python."""


DECIDING = frozenset({
    "less", "greater", "less_equal", "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not",
    "sign", "floor", "ceil", "floor_divide",
})  # fmt: skip
"""Operations whose results jump, where one rounding makes all the difference."""


def traced(name: str, *operands: object, numpy: bool = True) -> Any:
    """The result of an operation on numbers, of which some are tracers.

    What decides by the time computes as it is written: times of steps are where it jumps, as ``t / 0.1 >= 3``."""
    name = SPELLED.get(name, name)
    graph = next((x.graph for x in operands if isinstance(x, Tracer)), None)
    if graph is None:  # elements of an array that are plain numbers
        return getattr(np, name)(*operands)
    rows = [row_of(graph, x) for x in operands]
    values = [graph.value(row) for row in rows]
    if None not in values and any(isinstance(x, Closed) for x in values):  # rounded as the function itself rounds
        own = hasattr(np, name) and name != "power" and (numpy or name not in MATH)
        if own and np.isfinite(found := graph.applied(f"np.{name}", values)):
            return Tracer(graph, graph.const(found))
    if name == "remainder":
        x, y = operands
        return traced("subtract", x, traced("multiply", y, traced("floor_divide", x, y)))
    if name not in OPERATIONS:
        raise NotTraceable(f"it uses {name!r}, for which there is no rule")
    as_written = [_written(graph, x, row) for x, row in zip(operands, rows, strict=True)]
    if name in DECIDING:
        rows = [row if one is None else one for row, one in zip(rows, as_written, strict=True)]
    made = OPERATIONS[name](graph, *rows)
    known = [one for one in as_written if one is not None]
    if len(known) < len(rows):
        return Tracer(graph, made)
    written = graph.fun(AS_WRITTEN[name], *known) if name in AS_WRITTEN else OPERATIONS[name](graph, *known)
    return Tracer(graph, made, written=written)


def _written(g: Graph, x: object, row: int) -> int | None:
    """The row of a number as it is written, if it is one of the time and of parameters."""
    if isinstance(x, Tracer) and x.written is not None:
        return x.written
    kind, what = g.rows[row][:2]
    return row if kind == "const" or (kind == "in" and (what == "t" or what[0] == "p")) else None


RAISES = frozenset({"divide", "floor_divide", "remainder", "power"})
"""Operations by which floats of Python raise where those of numpy have no finite value."""


def by_python(name: str, *operands: object, of_math: bool = False) -> Any:
    """The result of an operator, or of a function of ``math``, which raises for floats of Python."""
    made = traced(name, *operands, numpy=False)
    plain = of_math or all(x.plain if isinstance(x, Tracer) else type(x) in (float, int, bool) for x in operands)
    if not plain or not isinstance(made, Tracer):
        return made
    divided = SPELLED.get(name, name) in RAISES - {"power"} and (
        made.graph.value(operands[1].row) if isinstance(operands[1], Tracer) else operands[1]
    )
    if of_math or (SPELLED.get(name, name) in RAISES and not divided):
        made.graph.raising.append(made.row)
    return made.item()


def row_of(graph: Graph, x: object) -> int:
    """The row of a tracer or of a plain number."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.item()
    if isinstance(x, Tracer):
        return x.row
    if isinstance(x, bool | int | float | np.bool_ | np.integer | np.floating):
        return graph.const(float(x))
    if isinstance(x, complex | np.complexfloating):
        raise NotTraceable("it computes with complex numbers; write real and imaginary part")
    raise NotTraceable(f"it computes with an object of type {type(x).__name__!r}")


class Tracer:
    """A number that writes down what is done to it: a row of a graph.

    ``plain`` is whether it stands for a float of Python, not of numpy; ``written`` is the same number of the time and
    of parameters, rounded as it is written."""

    __slots__ = ("graph", "plain", "row", "written")

    def __init__(self, graph: Graph, row: int, plain: bool = False, written: int | None = None) -> None:
        self.graph, self.row, self.plain, self.written = graph, row, plain, written

    @property
    def real(self) -> Tracer:
        """The number itself."""
        return self

    @property
    def imag(self) -> float:
        """Zero."""
        return 0.0

    def item(self) -> Tracer:
        """The number itself, as a float of Python."""
        return Tracer(self.graph, self.row, True, self.written)

    def __bool__(self) -> bool:
        if self.graph.decisions is None:
            raise NotTraceable(DECIDES)
        try:
            return bool(self.graph.decisions.holds(self.graph, self.row))
        except TooManyWays:
            raise NotTraceable(DECIDES) from None

    def _value(self, reason: str) -> float:
        """Its value where those of the inputs it is made of are known."""
        known = self.graph.exactly(self.row)
        if known is None:
            raise NotTraceable(reason)
        return float(known)

    def __float__(self) -> float:
        return self._value(ASKS)

    def __int__(self) -> int:
        return int(self._value(ASKS))

    __index__ = __int__

    def __complex__(self) -> complex:
        raise NotTraceable("it computes with complex numbers; write real and imaginary part")

    def __str__(self) -> str:
        return str(self._value("it makes a string of a number it is given"))

    def __format__(self, form: str) -> str:
        return format(self._value("it makes a string of a number it is given"), form)

    def __repr__(self) -> str:
        return f"Tracer({self.row})"

    def __hash__(self) -> int:
        return id(self) if self.graph.value(self.row) is None else hash(float(self))

    __trunc__ = __int__

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._value("it rounds a number it is given"), digits)

    def __array_ufunc__(self, ufunc: object, method: str, *inputs: object, **options: object) -> Any:
        return _called(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: object, arguments: Any, options: Any) -> Any:
        return _applied(function, arguments, options)


def _method(name: str, swapped: bool = False) -> Callable[..., Any]:
    def operate(self: Tracer, *others: object) -> Any:
        for x in others:
            if isinstance(x, np.ndarray) and x.ndim:
                return NotImplemented  # the array takes it element by element
            if isinstance(x, list | tuple | str) or x is None:
                return NotImplemented
        return by_python(name, *others, self) if swapped else by_python(name, self, *others)

    return operate


for _symbol, _name in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("pow", "power"),
    ("mod", "remainder"), ("floordiv", "floor_divide"), ("and", "logical_and"), ("or", "logical_or"),
):  # fmt: skip
    setattr(Tracer, f"__{_symbol}__", _method(_name))
    setattr(Tracer, f"__r{_symbol}__", _method(_name, True))
for _symbol, _name in (
    ("neg", "negative"), ("pos", "positive"), ("abs", "absolute"), ("lt", "less"), ("gt", "greater"),
    ("le", "less_equal"), ("ge", "greater_equal"), ("eq", "equal"), ("ne", "not_equal"), ("invert", "logical_not"),
    ("floor", "floor"), ("ceil", "ceil"),
):  # fmt: skip
    setattr(Tracer, f"__{_symbol}__", _method(_name))
for _name in ("sqrt", "conjugate"):  # what numpy's loops over objects ask for
    setattr(Tracer, _name, _method(_name))


# ------------------------------------------------------------------ arrays
class Traced(np.ndarray):
    """An array of tracers and numbers."""

    def __getitem__(self, k: Any) -> Any:
        found = super().__getitem__(k)
        plain = isinstance(found, Tracer) and found.plain  # a float of numpy now
        return Tracer(found.graph, found.row, False, found.written) if plain else found

    __array_ufunc__ = Tracer.__array_ufunc__  # type: ignore[assignment]
    __array_function__ = Tracer.__array_function__  # type: ignore[assignment]

    def max(self, *arguments: object, **options: object) -> Any:
        """As ``numpy.max``."""
        return _extreme("maximum", self, *arguments, **options)

    def min(self, *arguments: object, **options: object) -> Any:
        """As ``numpy.min``."""
        return _extreme("minimum", self, *arguments, **options)

    def clip(self, low: object = None, high: object = None) -> Any:  # type: ignore[override]
        """As ``numpy.clip``."""
        return _clipped(self, low, high)

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> Any:
        """The array itself where floats are asked for: tracers stand for floats."""
        if holds_tracers(self):
            of_floats(dtype)
            return self.copy()
        return super().astype(dtype, *arguments, **options)


def of_floats(dtype: Any) -> None:
    """Refuse numbers of another kind than floats of 64 bits, for which tracers stand."""
    kind = np.dtype(dtype)  # of None too
    if kind.kind == "c":
        raise NotTraceable("it computes with complex numbers; write real and imaginary part")
    if kind not in (np.float64, object):
        raise NotTraceable(f"it makes numbers of the kind {kind} of those it is given")


def boxed(x: object) -> Any:
    """A tracer as an array without dimensions; an array as one of objects, of no subclass."""
    if isinstance(x, Tracer):
        box = np.empty((), dtype=object)
        box[()] = x
        return box
    return x.view(np.ndarray) if isinstance(x, Traced) else x


def holds_tracers(x: object) -> bool:
    """Whether a number, array or nested sequence holds a tracer."""
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(isinstance(one, Tracer) for one in x.ravel().tolist())
    return isinstance(x, Tracer) or (isinstance(x, list | tuple) and any(holds_tracers(one) for one in x))


def array_of(x: object) -> Any:
    """A number, array or nested sequence as a ``Traced`` array."""
    return np.array(boxed(x) if not isinstance(x, list | tuple) else x, dtype=object).view(Traced)


def opened(result: object) -> Any:
    """The result of a function of numpy on arrays of objects: arrays as ``Traced``, numbers as such."""
    if isinstance(result, np.ndarray):
        if result.dtype != object:
            return result
        return result.view(Traced) if result.ndim else result.item()
    if isinstance(result, list | tuple) and type(result) in (list, tuple):
        return type(result)(opened(x) for x in result)
    return result


def elementwise(function: Callable[..., Any], *operands: object) -> Any:
    """A function of numbers on operands that are broadcast."""
    operands = tuple(np.array(x, dtype=object) if isinstance(x, list | tuple) else boxed(x) for x in operands)
    if not any(isinstance(x, np.ndarray) and x.ndim for x in operands):
        return function(*(x.item() if isinstance(x, np.ndarray) else x for x in operands))
    return opened(np.asarray(np.frompyfunc(function, len(operands), 1)(*operands), dtype=object))


PRODUCTS = (np.matmul, *(getattr(np, name) for name in ("vecdot", "matvec", "vecmat") if hasattr(np, name)))
REORDERED = (np.add, np.multiply)


def _called(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ufunc of arrays with tracers, called or applied along an axis."""
    out = options.pop("out", (None,))[0]
    of_floats(options.pop("dtype", None))
    if ufunc is np.divmod and method == "__call__" and out is None and not options:
        return np.floor_divide(*inputs), np.remainder(*inputs)
    if method == "__call__" and ufunc not in PRODUCTS:
        if ufunc.nout > 1 or any(options.get(name) is not None for name in ("where", "axis")):
            raise NotTraceable(f"it uses np.{ufunc.__name__}, for which there is no rule")
        result = elementwise(functools.partial(traced, ufunc.__name__), *inputs)
    else:
        function = ufunc
        if ufunc not in PRODUCTS and ufunc not in REORDERED:
            function = np.frompyfunc(functools.partial(traced, ufunc.__name__), 2, 1)
            if method == "reduce" and options.get("axis", 0) is None:
                inputs, options = (np.ravel(boxed(inputs[0])), *inputs[1:]), {**options, "axis": 0}
        inputs = tuple(np.array(x, dtype=object) if isinstance(x, list | tuple) else boxed(x) for x in inputs)
        result = opened(np.asarray(getattr(function, method)(*inputs, **options), dtype=object))
    if out is None:
        return result
    out[...] = result
    return out


def _applied(function: Any, arguments: Any, options: dict[str, Any]) -> Any:
    """A function of numpy of arguments that hold tracers: by its rule, else on arrays of objects."""
    if function in RULES:
        return RULES[function](*arguments, **options)
    name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
    try:
        return opened(function(*(_stripped(x) for x in arguments), **{k: _stripped(x) for k, x in options.items()}))
    except (NotTraceable, TypeError) as problem:
        if isinstance(problem, NotTraceable) and problem.reason not in (DECIDES, ASKS):
            raise
        raise NotTraceable(f"it uses {name}, for which there is no rule") from problem


def _stripped(x: object) -> Any:
    """Arrays in arguments as plain arrays, of floats where they hold no tracer."""
    if isinstance(x, Tracer):
        return boxed(x)
    if isinstance(x, Traced):
        return boxed(x) if holds_tracers(x) else np.array(x.tolist(), dtype=float)
    if isinstance(x, list | tuple) and type(x) in (list, tuple):
        return type(x)(_stripped(one) for one in x)
    return x


# ------------------------------------------------------------------ rules of functions of numpy
def where(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``: numbers, arrays, or what stands for them while a function is traced.

    Both are computed wherever the condition leads.

    Parameters
    ----------
    condition : bool or array_like of bool
        What decides.
    a, b : float or array_like
        The values where it holds and where it does not; broadcast.

    Returns
    -------
    float or array

    Examples
    --------
    >>> import polhode as ph
    >>> def floor(t, position, velocity, parameters):
    ...     return 0.0, 0.0, ph.where(position[2] < 0.0, -2e3 * position[2], 0.0) - 9.81
    >>> ds = ph.integrate(ph.particle(1.0, force=floor), step=0.01, steps=60, position=(0, 0, 1))
    >>> round(float(ds.position[-1, 2]), 3)
    0.308
    """
    if not any(holds_tracers(x) for x in (condition, a, b)):
        result = np.where(condition, a, b)
        return result if result.ndim else result[()]

    return elementwise(chosen, condition, a, b)


def chosen(condition: object, x: object, y: object) -> Any:
    """The first of two numbers where the condition holds, else the second."""
    if not isinstance(condition, Tracer):
        return x if condition else y
    g = condition.graph
    return Tracer(g, g.fun("choose", condition.row, row_of(g, x), row_of(g, y)))


@functools.partial(overload, where)
def _where_in_kernels(condition, a, b):  # type: ignore[no-untyped-def]
    """In functions of users that are compiled: numbers chosen, arrays by numpy."""
    if any(isinstance(one, types.Array) for one in (condition, a, b)):
        return lambda condition, a, b: np.where(condition, a, b)
    return lambda condition, a, b: a if condition else b


def _clipped(x: object, low: object = None, high: object = None, **options: object) -> Any:
    x = x if low is None else elementwise(functools.partial(traced, "maximum"), x, low)
    return x if high is None else elementwise(functools.partial(traced, "minimum"), x, high)


def _cross(a: Any, b: Any, **options: Any) -> Any:
    a, b = array_of(a), array_of(b)
    if options or a.shape[-1:] != (3,) or b.shape[-1:] != (3,):
        raise NotTraceable("it uses np.cross of other arrays than vectors of 3 numbers")
    (x, y, z), (u, v, w) = (tuple(c[..., k] for k in range(3)) for c in (a, b))
    return np.stack([array_of(c) for c in (y * w - z * v, z * u - x * w, x * v - y * u)], axis=-1)


def _extreme(name: str, x: object, axis: object = None, **options: object) -> Any:
    return getattr(np, name).reduce(array_of(x), axis=axis, **options)


def _asks_for_nan(*given: object, **options: object) -> Any:
    raise NotTraceable("it asks whether numbers are nan")


RULES: dict[Any, Callable[..., Any]] = {
    np.where: where, np.clip: _clipped, np.cross: _cross,
    np.max: functools.partial(_extreme, "maximum"), np.min: functools.partial(_extreme, "minimum"),
    np.amax: functools.partial(_extreme, "maximum"), np.amin: functools.partial(_extreme, "minimum"),
    np.real: lambda x: x, np.copy: lambda x, **_: array_of(x),
    np.prod: lambda x, **options: functools.reduce(operator.mul, array_of(x).ravel().tolist()) if not options
    else np.multiply.reduce(x, **options),
}  # fmt: skip
RULES |= {value: _asks_for_nan for name, value in vars(np).items() if name.startswith("nan") and callable(value)}
"""Functions of numpy with rules of their own; ``linear`` adds those of linear algebra."""
