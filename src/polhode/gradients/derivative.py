"""Gradients of functions of a run, by its steps with derivatives along all that is asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.algebra.quaternion import to_matrix
from polhode.algebra.rotation import conjugate, multiply
from polhode.arguments import Array, ArrayLike, choice
from polhode.errors import InvalidInput, MissingExtra, PolhodeError, UserFunctionError, answering, shown, unknown_name
from polhode.kernel import layout as L
from polhode.methods import Method, MethodSpec
from polhode.programs.derive import backward
from polhode.programs.trace import NotTraceable, trace
from polhode.runs.integrate import differentiated
from polhode.runs.parameters import arguments_of
from polhode.runs.request import ARGUMENTS, Parameters, requested, with_options
from polhode.runs.settings import Settings
from polhode.runs.state import Start
from polhode.runs.steps import Tolerance
from polhode.runs.tangent.columns import Columns
from polhode.systems import System
from polhode.systems.record import present_system

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

    def __init__(self, time: Time, arrays: Mapping[str, Any]) -> None:
        self.time = time
        self.__dict__.update(arrays)

    def __repr__(self) -> str:
        return f"States({', '.join(self.__dict__)})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InvalidInput(f"an objective is given no {name}; its states have {', '.join(self.__dict__)}")


class Rows:
    """Translates between states of kernels and what an objective sees: of all rows, or of the end alone (``final``)."""

    def __init__(self, columns: Columns, times: Array, final: bool) -> None:
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

    def arrays(self, states: Array) -> dict[str, Any]:
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

    def cotangents(self, states: Array, slopes: Mapping[str, Any]) -> tuple[Any, Any]:
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

    def _checked(self, name: str, value: object, n: int) -> Array:
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


Time = float | Array
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


def checked_value(value: object) -> float:
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
    objective: Callable[..., Any], slopes: Callable[..., Any] | None, language: str, time: Time,
    arrays: dict[str, Any],
) -> tuple[float, Mapping[str, Any]]:  # fmt: skip
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
    return _by_torch(objective, time, arrays) if language == "torch" else _by_program(objective, time, arrays)


def _called(objective: Callable[..., Any], time: Time, arrays: dict[str, Any]) -> Any:
    """What an objective returns; its exceptions become UserFunctionError."""
    try:
        return objective(States(time, arrays))
    except PolhodeError:
        raise
    except Exception as failed:
        raise UserFunctionError(f"the objective raised {type(failed).__name__}: {shown(str(failed))}") from failed


def _by_program(objective: Callable[..., Any], time: Time, arrays: dict[str, Any]) -> tuple[float, dict[str, Any]]:
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


def _by_jax(objective: Callable[..., Any], time: Time, arrays: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    jax = library("jax")
    in_double(jax)

    def of_arrays(given: dict[str, Any]) -> Any:
        result = objective(States(time, given))
        if np.size(result) != 1:
            raise InvalidInput(f"the objective returns {shown(result)}; it must return one number")
        return jax.numpy.reshape(result, ())

    value, found = jax.value_and_grad(of_arrays)({name: jax.numpy.asarray(a) for name, a in arrays.items()})
    return checked_value(value), {name: np.asarray(a) for name, a in found.items()}


def _by_torch(objective: Callable[..., Any], time: Time, arrays: dict[str, Any]) -> tuple[float, dict[str, Any]]:
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


STARTS = {
    "position": "position", "momentum": "momentum", "velocity": "momentum", "attitude": "rotation",
    "angular_momentum": "angular_momentum", "angular_velocity": "angular_momentum",
}  # fmt: skip
"""What of the start there are derivatives by, and the rows of the state by which these are found."""


@dataclass(frozen=True, eq=False)
class Gradient:
    """The value of an objective and its derivatives.

    Attributes
    ----------
    value : float
        The objective.
    by : dict of str to array
        Derivatives by the names asked for, in the shape of what they are by; by an attitude (3,) by the rotation vector
        theta in the body frame, R to R exp[theta]x, rad; with several bodies (N, 3). A number has a float.
    states : States
        What the objective has seen.
    """

    value: float
    by: dict[str, Any]
    states: States

    def __getitem__(self, name: str) -> Any:
        if name not in self.by:
            raise unknown_name("name of a derivative", name, list(self.by))
        return self.by[name]

    def flat(self) -> Array:
        """All derivatives, one behind the other, in the order of the names asked for."""
        return np.concatenate([np.ravel(a) for a in self.by.values()])

    def __repr__(self) -> str:
        lines = [f"value {self.value:.12g}"]
        lines += [f"by {name}: {np.array2string(np.asarray(a), precision=8)}" for name, a in self.by.items()]
        return "\n".join(lines)


def names_of(wrt: object, system: System) -> list[str]:
    """What to differentiate by, checked; None: all of the start."""
    known = [*("position", "momentum", "velocity") * bool(system.translates),
             *("attitude", "angular_momentum", "angular_velocity") * bool(system.rotates)]  # fmt: skip
    if wrt is None:
        return [name for name in known if name not in ("velocity", "angular_velocity")]
    names = [wrt] if isinstance(wrt, str) else wrt
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(f"wrt must be names such as ['attitude', 'inertia'], not {shown(wrt)}")
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"wrt has {name} twice; keep one of them")
        if name in STARTS and name not in known:
            lacks = "does not move through space" if name in ("position", "momentum", "velocity") else "does not turn"
            raise InvalidInput(f"wrt has {name}, but {system.name!r} {lacks}; leave it out")
        if name not in STARTS and name.partition(".")[0] not in arguments_of(system):
            raise unknown_name("name in wrt", name, [*known, *arguments_of(system)])
    for pair in (("velocity", "momentum"), ("angular_velocity", "angular_momentum")):
        if set(pair) <= set(names):
            raise InvalidInput(f"wrt has both {pair[0]} and {pair[1]}, which follow from each other; keep one of them")
    return list(names)


class Derivative:
    """One run with the derivatives of what it shows."""

    def __init__(
        self, system: object, method: str | Method | MethodSpec | None, given: dict[str, Any], wrt: object, final: bool
    ) -> None:
        system = present_system(system)
        self.names = names_of(wrt, system)
        request = requested(system, method, given)
        request.settings.of_whole("a gradient")
        if final:
            request = replace(request, recording=replace(request.recording, every=sys.maxsize))
        request = replace(request, tangent=tuple(name for name in self.names if name not in STARTS))
        self.request, self.system = request, request.system
        self.columns, times, self.carried = differentiated(request, any(name in STARTS for name in self.names))
        self.states = self.carried[0][1]
        self.rows = Rows(self.columns, times, final)

    @property
    def arrays(self) -> dict[str, Any]:
        """What is shown, by name."""
        return self.rows.arrays(self.states)

    def by(self, slopes: Mapping[str, Any]) -> dict[str, Any]:
        """Derivatives by all names of the sum of products of what is shown with the numbers given."""
        cotangents, direct = self.rows.cotangents(self.states, slopes)
        columns, whole = self.columns, np.zeros(len(self.columns.names))
        for part, _, changes in self.carried:
            whole[part] = np.einsum("rw,rwk->k", cotangents, changes)
        whole[len(columns.rows) :] += direct
        labels, found = list(columns.names), {}
        by_state = columns.following(whole[: len(columns.rows)])
        by_parameter = whole[len(columns.rows) :].copy()
        for name in self.names:
            if name in STARTS:
                slope = self._by_start(STARTS[name], by_state)
                if name in ("velocity", "angular_velocity"):
                    slope, more = self._by_rate(name, slope)
                    by_parameter += more  # at a fixed rate the momentum changes with the inertia
                found[name] = slope[0] if self.system.N == 1 else slope
        for name in self.names:
            if name not in STARTS:
                places = [k for k, (_, path, _) in enumerate(columns.parameters) if path == name]
                places = places or [labels.index(name) - len(columns.rows)]
                at = [columns.parameters[k][2] for k in places]
                if not at[0] or labels[len(columns.rows) + places[0]] == name:  # a number, or one of a tensor
                    found[name] = float(by_parameter[places[0]])
                    continue
                found[name] = np.zeros(tuple(np.max(at, axis=0) + 1))
                for k, index in zip(places, at, strict=True):
                    found[name][index] = by_parameter[k]
        return {name: found[name] for name in self.names}

    def _by_start(self, quantity: str, by_state: Array) -> Array:
        """Derivatives (N, 3) by a quantity of all bodies; 0 of those that lack it."""
        found, labels = np.zeros((self.system.N, 3)), self.columns.rows
        for i in range(self.system.N):
            for k, axis in enumerate("xyz"):
                label = f"{quantity}_{axis}" + f".{i}" * (self.system.N > 1)
                found[i, k] = by_state[labels.index(label)] if label in labels else 0.0
        return found

    def _by_rate(self, name: str, slope: Array) -> tuple[Any, Any]:
        """Derivatives by a rate from those by the momentum, and what they add to those by parameters."""
        rows, start = self.rows, self.columns.start.state
        found, more = np.zeros_like(slope), np.zeros(rows.P)
        for i in rows.moving if name == "velocity" else rows.turning:
            at = L.BODY * i
            if name == "velocity":
                p = start[at + L.MOMENTUM : at + L.MOMENTUM + 3]
                found[i] = slope[i] / rows.inverse_mass[i]
                more -= float(slope[i] @ p) / rows.inverse_mass[i] * rows.by_mass[i]
                continue
            F = np.array(to_matrix(tuple(rows.frames[i])), dtype=float).reshape(3, 3)
            inverse = rows.inverse[i]
            moments = np.where(inverse > 0.0, 1.0 / np.where(inverse > 0.0, inverse, 1.0), 0.0)
            m = start[at + L.ANGULAR : at + L.ANGULAR + 3]
            own, rate = F.T @ slope[i], m * inverse
            found[i] = F @ (moments * own)
            # L = F M F^T w: its change at fixed w is F (dM + [turn] M - M [turn]) F^T w
            more += (own * rate) @ (-(moments**2)[:, None] * rows.by_inverse[i])
            more += (np.cross(m, own) - np.cross(rate, moments * own)) @ rows.turn[i]
        return found, more


@answering
def gradient(
    objective: Callable[[Any], Any],
    system: System,
    method: str | Method | MethodSpec | None = None,
    *,
    wrt: str | Sequence[str] | None = None,
    slopes: Callable[[Any], Mapping[str, Any]] | None = None,
    written_in: str = "numpy",
    step: float | None = None,
    steps: int | Tolerance | None = None,
    t_end: float | None = None,
    every: int | None = None,
    t_eval: ArrayLike | None = None,
    start: Start = None,
    attitude: ArrayLike | None = None,
    angular_velocity: ArrayLike | None = None,
    angular_momentum: ArrayLike | None = None,
    position: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    momentum: ArrayLike | None = None,
    parameters: Parameters = None,
    settings: Settings | Mapping[str, Any] | None = None,
    **options: Any,
) -> Gradient:
    """The derivative of a function of a run by its start and by parameters, exact to round-off.

    It is that of the numerical map itself: the product of the derivatives of the objective with ``state_transition`` of
    ``polhode.integrate(tangent=...)``. The steps are taken once with derivatives along all that is asked for, 24
    numbers at a time; loads may change on the way, at sampling times of controllers, burns, impulses and events that
    act.

    Parameters
    ----------
    objective : function
        Of the states, returns one number: ``lambda s: (s.position**2).sum()``. It sees the end of the run, with arrays
        (3,), of attitudes (4,); with ``every`` or ``t_eval`` all rows, (rows, 3). Names: ``time``, ``position``,
        ``momentum``, ``velocity`` (space frame), ``attitude`` (w, x, y, z, body to space), ``angular_momentum``,
        ``angular_velocity`` (body frame); with several bodies (N, 3); and states that loads read, by their names.
    system, method, step, steps, t_end, every, t_eval, start, parameters, settings, **options
        As for ``polhode.integrate``.
    wrt : str or sequence of str, optional
        By what: ``"position"``, ``"momentum"`` or ``"velocity"``, ``"attitude"``, ``"angular_momentum"`` or
        ``"angular_velocity"`` of the start, and arguments of the function that builds the system, by path
        (``"inertia"``, ``"forces.0.coefficient"``, ``"parameters.0"``). By default all of the start. Derivatives by
        parameters are at a fixed start: at fixed momentum and angular momentum, unless ``"velocity"`` or
        ``"angular_velocity"`` is named here, which is then held.
    slopes : function, optional
        Of the states, returns the derivatives of the objective by them, by name, each in the shape of what it is by
        (that by an attitude by the four numbers); what is left out is zero. Without it the objective is traced.
    written_in : {"numpy", "jax", "torch"}
        What differentiates the objective: polhode's tracer of plain Python and numpy, or JAX or PyTorch.
    attitude, angular_velocity, angular_momentum, position, velocity, momentum : array_like
        As for ``polhode.integrate``.

    Returns
    -------
    Gradient
        ``value``, and the derivatives by name, ``found["inertia"]``; the derivative by an attitude is by the rotation
        vector theta in the body frame, R to R exp[theta]x, rad.

    Raises
    ------
    InvalidInput
        An argument is wrong, the objective returns no number or cannot be differentiated, the method or the loads have
        no derivatives.
    MissingExtra
        JAX or PyTorch is asked for and not installed.
    StepFailed
        A step failed.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> found = ph.gradient(lambda s: s.angular_velocity[2], top, "rkn6_14a", step=1e-2, steps=100,
    ...                     wrt=["angular_velocity"], attitude=(1, 0, 0, 0), angular_velocity=(0.1, 0, 8))
    >>> round(float(found["angular_velocity"][2]), 12)
    1.0
    """
    given = {name: value for name, value in locals().items() if name in ARGUMENTS}
    for name, function in (("objective", objective), ("slopes", slopes)):
        if not callable(function) and (name == "objective" or function is not None):
            raise InvalidInput(f"{name} must be a function of the states, not {shown(function)}")
    language = choice(written_in, "written_in", LANGUAGES)
    final = every is None and t_eval is None
    given["every"] = 1 if every is None else every
    method = with_options(method, system, given | options, "gradient")
    found = Derivative(system, method, given, wrt, final)

    arrays = found.arrays
    value, by_states = value_and_slopes(objective, slopes, language, found.rows.times, arrays)
    return Gradient(value, found.by(by_states), States(found.rows.times, arrays))
