"""Values and derivatives of objectives: given by the user, traced as a program, or by JAX or PyTorch."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polhode.errors import InvalidInput, MissingExtra, PolhodeError, UserFunctionError, shown
from polhode.gradients.rows import States
from polhode.programs.derive import backward
from polhode.programs.trace import NotTraceable, trace

LANGUAGES = ("numpy", "jax", "torch")


def library(name: str) -> Any:
    """JAX or PyTorch."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(f"{'JAX' if name == 'jax' else 'PyTorch'} is not installed; "
                           f"pip install 'polhode[{name}]'") from None  # fmt: skip


def in_double(jax: Any) -> None:
    """Refuse JAX with 32 bits."""
    if not jax.config.jax_enable_x64:
        raise InvalidInput("JAX computes with 32 bits here; call jax.config.update('jax_enable_x64', True) first")


def checked_value(value: Any) -> float:
    """The value of an objective as a number."""
    try:
        if value is None:
            raise TypeError
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(f"the objective returns {shown(value)}; it must return one number") from None
    if array.size != 1:
        raise InvalidInput(f"the objective returns an array of shape {array.shape}; it must return one number, such "
                           "as a sum of squares")  # fmt: skip
    number = float(array.reshape(()))
    if not np.isfinite(number):
        raise InvalidInput(f"the objective is {number} at this run; it must be finite")
    return number


def value_and_slopes(
    objective: Callable[..., Any], slopes: Callable[..., Any] | None, language: str, time: Any, arrays: dict[str, Any]
) -> tuple[float, Mapping[str, Any]]:
    """The value of an objective, and its derivatives by the arrays that it sees."""
    if slopes is not None:
        value = checked_value(_called(objective, time, arrays))
        found = slopes(States(time, arrays))
        if not isinstance(found, Mapping):
            raise InvalidInput(f"slopes returns {shown(found)}; it must return a mapping of names of the states, such "
                               "as {'attitude': array of 4}")  # fmt: skip
        return value, found
    if language == "jax":
        return _by_jax(objective, time, arrays)
    if language == "torch":
        return _by_torch(objective, time, arrays)
    return _by_program(objective, time, arrays)


def _called(objective: Callable[..., Any], time: Any, arrays: dict[str, Any]) -> Any:
    """What an objective returns; its exceptions become UserFunctionError."""
    try:
        return objective(States(time, arrays))
    except PolhodeError:
        raise
    except Exception as failed:
        raise UserFunctionError(f"the objective raised {type(failed).__name__}: {shown(str(failed))}") from failed


def _by_program(objective: Callable[..., Any], time: Any, arrays: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    value = checked_value(_called(objective, time, arrays))
    sizes = np.cumsum([a.size for a in arrays.values()])
    splits = [int(k) for k in sizes[:-1]]
    numbers = np.concatenate([a.ravel() for a in arrays.values()])
    shapes = [a.shape for a in arrays.values()]

    def of_numbers(x):  # type: ignore[no-untyped-def]
        begins, parts = [0, *splits], {}
        for name, begin, shape in zip(arrays, begins, shapes, strict=True):
            count = 1
            for k in shape:
                count *= k
            parts[name] = x[begin : begin + count].reshape(shape)
        return objective(States(time, parts))

    of_numbers.__name__ = getattr(objective, "__name__", "objective")
    try:
        program = trace(of_numbers, {"x": len(numbers)}, None, "objective", {"x": numbers})
    except NotTraceable as problem:
        raise InvalidInput(f"the objective cannot be differentiated, because {problem}; give slopes=, or write it with "
                           "JAX and say written_in='jax'") from problem  # fmt: skip
    g = program.graph
    leaves = [g.input(f"x{k}") for k in range(len(numbers))]
    given = {f"x{k}": float(v) for k, v in enumerate(numbers)}
    found = np.array(g.evaluate(backward(g, program.outputs[0], leaves), given), dtype=float)
    parts = np.split(found, splits)
    return value, {name: part.reshape(shape) for name, part, shape in zip(arrays, parts, shapes, strict=True)}


def _by_jax(objective: Callable[..., Any], time: Any, arrays: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    jax = library("jax")
    in_double(jax)

    def of_arrays(given: dict[str, Any]) -> Any:
        result = objective(States(time, given))
        if np.size(result) != 1:
            raise InvalidInput(f"the objective returns {shown(result)}; it must return one number")
        return jax.numpy.reshape(result, ())

    value, found = jax.value_and_grad(of_arrays)({name: jax.numpy.asarray(a) for name, a in arrays.items()})
    return checked_value(value), {name: np.asarray(a) for name, a in found.items()}


def _by_torch(objective: Callable[..., Any], time: Any, arrays: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    torch = library("torch")
    given = {name: torch.tensor(a, dtype=torch.float64, requires_grad=True) for name, a in arrays.items()}
    result = objective(States(time, given))
    if not isinstance(result, torch.Tensor) or result.numel() != 1:
        raise InvalidInput(f"the objective returns {shown(result)}; it must return a tensor of one number")
    value = checked_value(result.detach().numpy())
    if not result.requires_grad:
        return value, {}
    found = torch.autograd.grad(result.reshape(()), list(given.values()), allow_unused=True)
    return value, {name: a.numpy() for name, a in zip(given, found, strict=True) if a is not None}
