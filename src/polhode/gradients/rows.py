"""Rows of a run as an objective sees them, and derivatives by them as derivatives by the numbers of kernels."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polhode.algebra.quaternion import to_matrix
from polhode.algebra.rotation import conjugate, multiply
from polhode.errors import InvalidInput, MissingExtra, PolhodeError, UserFunctionError, shown, unknown_name
from polhode.kernel import layout as L
from polhode.programs.derive import backward
from polhode.programs.trace import NotTraceable, trace
from polhode.runs.tangent.columns import Columns

NAMES = ("position", "momentum", "velocity", "attitude", "angular_momentum", "angular_velocity")
TRANSLATION, ROTATION = NAMES[:3], NAMES[3:]


class States:
    """States of a run, handed to an objective: arrays (rows, 3), attitudes (rows, 4); with several bodies (rows, N, 3).

    Of the end of a run alone, the first axis is missing. What a system lacks is no attribute.

    Attributes
    ----------
    time : array (rows,) or float
        Times of the rows.
    position, momentum, velocity : array
        In the space frame.
    attitude : array
        Unit quaternions (w, x, y, z), body to space.
    angular_momentum, angular_velocity : array
        In the body frame of the user.

    States of its own, which loads read, have their names: arrays (rows,), or (rows, k) of several numbers.
    """

    def __init__(self, time: Any, arrays: Mapping[str, Any]) -> None:
        self.time = time
        self.__dict__.update(arrays)

    def __repr__(self) -> str:
        return f"States({', '.join(self.__dict__)})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InvalidInput(f"an objective is given no {name}; its states have "
                           f"{', '.join(self.__dict__)}")  # fmt: skip


class Rows:
    """Translates between states of kernels and what an objective sees: of all rows, or of the end alone (``final``)."""

    def __init__(self, columns: Columns, times: Any, final: bool) -> None:
        self.final, self.system, self.times = final, columns.system, float(times[-1]) if final else times
        start, system, N = columns.start, self.system, self.system.N
        self.moving = [i for i in range(N) if np.isfinite(system.mass[i])]
        self.turning = [i for i in range(N) if np.isfinite(system.moments[i]).any()]
        self.own: dict[str, list[int]] = {}  # where the states of the system's own stand, which loads read
        self.single = {one.quantity for one in system.auxiliary[system.read_from :] if not one.label}
        for k, one in enumerate(system.auxiliary[system.read_from :], L.BODY * N + system.read_from):
            self.own.setdefault(one.quantity, []).append(k)
        self.names = [*TRANSLATION * bool(self.moving), *ROTATION * bool(self.turning), *self.own]
        constants = start.bodies[: L.CONSTANTS * N].reshape(N, L.CONSTANTS)
        self.inverse_mass = constants[:, L.INVERSE_MASS]
        self.inverse = constants[:, L.INVERSE_INERTIA : L.INVERSE_INERTIA + 3]
        self.frames = start.frames.reshape(N, 4)
        self.turns = np.array([to_matrix(tuple(f)) for f in self.frames], dtype=float).reshape(N, 3, 3)
        self.P = len(columns.parameters)
        first = len(columns.rows)
        self.by_mass, self.by_inverse = np.zeros((N, self.P)), np.zeros((N, 3, self.P))
        self.turn = np.zeros((N, 3, self.P))
        if columns.varied is not None:
            bodies, frames, _ = (a[0][:, first:] for a in columns.varied)
            slopes = bodies[: L.CONSTANTS * N].reshape(N, L.CONSTANTS, self.P)
            self.by_mass = slopes[:, L.INVERSE_MASS]
            self.by_inverse = slopes[:, L.INVERSE_INERTIA : L.INVERSE_INERTIA + 3]
            changes = np.moveaxis(frames.reshape(N, 4, self.P), 2, 1)
            self.turn = 2.0 * np.moveaxis(multiply(conjugate(self.frames)[:, None], changes)[..., 1:], 1, 2)

    def arrays(self, states: Any) -> dict[str, Any]:
        """What an objective sees of states (rows, width)."""
        n, N = len(states), self.system.N
        body = states[:, : L.BODY * N].reshape(n, N, L.BODY)
        r, p = body[..., L.POSITION : L.POSITION + 3], body[..., L.MOMENTUM : L.MOMENTUM + 3]
        q, m = body[..., L.ATTITUDE : L.ATTITUDE + 4], body[..., L.ANGULAR : L.ANGULAR + 3]
        found: dict[str, Any] = {}
        if self.moving:
            found |= {"position": r, "momentum": p, "velocity": p * self.inverse_mass[:, None]}
        if self.turning:
            found |= {
                "attitude": multiply(q, conjugate(self.frames)[None]),
                "angular_momentum": np.einsum("ijk,nik->nij", self.turns, m),
                "angular_velocity": np.einsum("ijk,nik->nij", self.turns, m * self.inverse),
            }
        found = {name: np.array(a[:, 0] if N == 1 else a) for name, a in found.items()}
        found |= {name: states[:, at[0] if name in self.single else at] for name, at in self.own.items()}
        return {name: a[-1] for name, a in found.items()} if self.final else found

    def cotangents(self, states: Any, slopes: Mapping[str, Any]) -> tuple[Any, Any]:
        """Derivatives (rows, width) by numbers of states, and by parameters (P,), from those by what is seen."""
        n, N = len(states), self.system.N
        body = states[:, : L.BODY * N].reshape(n, N, L.BODY)
        q, m = body[..., L.ATTITUDE : L.ATTITUDE + 4], body[..., L.ANGULAR : L.ANGULAR + 3]
        given = {name: self._checked(name, value, n) for name, value in slopes.items()}
        found, direct = np.zeros(states.shape), np.zeros(self.P)
        into = found[:, : L.BODY * N].reshape(n, N, L.BODY)
        r, p = into[..., L.POSITION : L.POSITION + 3], into[..., L.MOMENTUM : L.MOMENTUM + 3]
        at_q, at_m = into[..., L.ATTITUDE : L.ATTITUDE + 4], into[..., L.ANGULAR : L.ANGULAR + 3]
        for name in given.keys() & self.own.keys():
            found[:, self.own[name]] += given[name]
        turned = np.zeros((N, 3))  # by small rotations of the principal frames
        if "position" in given:
            r += given["position"]
        if "momentum" in given:
            p += given["momentum"]
        if "velocity" in given:
            p += given["velocity"] * self.inverse_mass[:, None]
            momenta = body[..., L.MOMENTUM : L.MOMENTUM + 3]
            direct += np.einsum("nij,nij,ik->k", given["velocity"], momenta, self.by_mass)
        if "attitude" in given:
            own = multiply(given["attitude"], self.frames[None])  # q to q f^-1 is orthogonal
            at_q += own
            turned -= 0.5 * multiply(conjugate(q), own)[..., 1:].sum(axis=0)
        if "angular_momentum" in given:
            g = np.einsum("ijk,nij->nik", self.turns, given["angular_momentum"])
            at_m += g
            turned += np.cross(m, g).sum(axis=0)
        if "angular_velocity" in given:
            g = np.einsum("ijk,nij->nik", self.turns, given["angular_velocity"])
            at_m += g * self.inverse
            turned += np.cross(m * self.inverse, g).sum(axis=0)
            direct += np.einsum("nij,nij,ijk->k", g, m, self.by_inverse)
        direct += np.einsum("ij,ijk->k", turned, self.turn)
        return found, direct

    def _checked(self, name: str, value: Any, n: int) -> Any:
        """A derivative as an array (rows, N, 3 or 4); of the end alone in the last row."""
        if name not in self.names:
            raise unknown_name("name in the derivative of the objective", name, self.names)
        N, at = self.system.N, self.own.get(name)
        row: tuple[int, ...] = (N, 4 if name == "attitude" else 3) if at is None else (len(at),)
        shape = (*(() if self.final else (n,)), *(row[1:] if N == 1 and at is None else row))
        shape = shape[:-1] if name in self.single else shape
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            array = np.zeros(0)
        if array.shape != shape:
            raise InvalidInput(f"the derivative of the objective by {name} must be an array of shape {shape}, not "
                               f"{shown(value) if array.size == 0 else array.shape}")  # fmt: skip
        if not np.isfinite(array).all():
            raise InvalidInput(f"the derivative of the objective by {name} is not finite; mend the objective where its "
                               "slope is infinite or undefined, such as a square root of 0")  # fmt: skip
        whole = np.zeros((n, *row))
        whole[-1 if self.final else slice(None)] = array.reshape(row if self.final else whole.shape)
        return whole


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
