"""Turns the user's plain Python functions into roles that a compiled loop can call.

A function is compiled with tuples as arguments; if that fails, with arrays; if that fails, it runs as Python through a
bridge, more slowly and with one warning. It is always called in plain Python with arrays first, so that a mistake shows
the user's own traceback. A compiled form is used only if it returns the same numbers, at the initial state and at two
generic states (at rest, ``omega + omega`` of tuples and of arrays may agree by accident).
"""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import inspect
import textwrap
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from polhode.algebra.quaternion import multiply, rotate, rotate_inverse
from polhode.algebra.so3 import add, axpy, dot, scale, times
from polhode.errors import InvalidInput, SlowFunctionWarning, UserFunctionError, shown
from polhode.kernel import jit
from polhode.kernel import layout as slots
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import bind, inlined, python_of, view
from polhode.kernel.signatures import LOADS, POTENTIAL, REPEATED_LOADS, REPEATED_POTENTIAL

TYPICAL_COMPILED_CALL = 2e-8  # seconds; reference for the slowdown in the warning

# Filled in by jit.bind.
user = call = turned = resting = memory_at = count = built = first = own = None


BOOKED = {"own": 0, "size": slots.LOAD + 1}
"""Arguments of ``UserFunction`` if the function's work is the only auxiliary variable of the system."""


def read_only(array: Any) -> Any:
    """A read-only copy."""
    copy = np.array(array)
    copy.setflags(write=False)
    return copy


@dataclass(frozen=True)
class Form:
    """One kind of user function: arguments and result as described in messages, and how many numbers it returns."""

    what: str
    arguments: str
    returns: str
    numbers: int

    @property
    def vectors(self) -> int:
        """Number of vector arguments, those between the time and the parameters."""
        return self.arguments.count(",") - 1


FORMS = {
    "torque": Form("torque", "t, q, omega, parameters", "3 numbers (x, y, z) in the body frame", 3),
    "force": Form("force", "t, position, velocity, parameters", "3 numbers (x, y, z) in the space frame", 3),
    "load": Form(
        "load",
        "t, position, velocity, q, omega, parameters",
        "a force (x, y, z) in the space frame and a torque (x, y, z) in the body frame",
        6,
    ),
    "potential": Form("potential", "t, q, parameters", "one number", 1),
    "position_potential": Form("potential", "t, position, parameters", "one number", 1),
    "event": Form("event", "t, position, velocity, q, omega, parameters", "one number", 1),
    "place_potential": Form("potential", "t, position, q, parameters", "one number", 1),
}


# ------------------------------------------------------------------ ways to call the user's function
@inlined
def three(r):
    if len(r) != 3:
        raise ValueError("not 3 numbers")
    return (float(r[0]), float(r[1]), float(r[2]))


@inlined
def six(r):
    if len(r) != 2 or len(r[0]) != 3 or len(r[1]) != 3:
        raise ValueError("not two times 3 numbers")
    return (float(r[0][0]), float(r[0][1]), float(r[0][2]), float(r[1][0]), float(r[1][1]), float(r[1][2]))


def two_tuples(t, a, b, p):
    return three(user(t, a, b, p))


def two_arrays(t, a, b, p):
    return three(user(t, np.array(a), np.array(b), p))


def four_tuples(t, a, b, c, d, p):
    return six(user(t, a, b, c, d, p))


def four_arrays(t, a, b, c, d, p):
    return six(user(t, np.array(a), np.array(b), np.array(c), np.array(d), p))


def one_tuple(t, a, p):
    return float(user(t, a, p))


def one_array(t, a, p):
    return float(user(t, np.array(a), p))


def one_of_four_tuples(t, a, b, c, d, p):
    return float(user(t, a, b, c, d, p))


def one_of_four_arrays(t, a, b, c, d, p):
    return float(user(t, np.array(a), np.array(b), np.array(c), np.array(d), p))


def one_of_two_tuples(t, a, b, p):
    return float(user(t, a, b, p))


def one_of_two_arrays(t, a, b, p):
    return float(user(t, np.array(a), np.array(b), p))


CALLS = {
    (1, 1): (one_tuple, one_array), (1, 2): (one_of_two_tuples, one_of_two_arrays), (3, 2): (two_tuples, two_arrays),
    (6, 4): (four_tuples, four_arrays), (1, 4): (one_of_four_tuples, one_of_four_arrays),
}  # fmt: skip
"""Adapters (with tuples, with arrays) by (how many numbers a function returns, how many vectors it takes)."""


# ------------------------------------------------------------------ roles of one body, in the user's body frame
@inlined
def user_attitude(y, bodies, turned):
    if not turned:
        return get4(y, slots.ATTITUDE)
    w, x, z, v = get4(bodies, slots.CONSTANTS)
    return multiply(get4(y, slots.ATTITUDE), (w, -x, -z, -v))


@inlined
def user_rate(y, bodies, turned):
    omega = times(get3(bodies, slots.INVERSE_INERTIA), get3(y, slots.ANGULAR))
    return rotate(get4(bodies, slots.CONSTANTS), omega) if turned else omega


@inlined
def felt(T, bodies, i):
    """A torque on body i (principal frame), zero about every axis that the body does not rotate about."""
    j = get3(bodies, slots.CONSTANTS * i + slots.INVERSE_INERTIA)
    return (T[0] if j[0] > 0.0 else 0.0, T[1] if j[1] > 0.0 else 0.0, T[2] if j[2] > 0.0 else 0.0)


@inlined
def principal_torque(T, bodies, turned):
    return felt(rotate_inverse(get4(bodies, slots.CONSTANTS), T) if turned else T, bodies, 0)


ROOM = 15
"""Size of the cache, behind the parameters, of the last result of a function that does not read velocities, with its
time, position and attitude: the power is needed where the load was just evaluated, at other velocities."""


@inlined
def remembered(parameters, memory_at, t, y):
    """Whether the cache holds the load at this time, position and attitude."""
    same = parameters[memory_at] == 1.0 and parameters[memory_at + 1] == t
    for k in range(3):
        same = same and parameters[memory_at + 2 + k] == y[slots.POSITION + k]
    for k in range(4):
        same = same and parameters[memory_at + 5 + k] == y[slots.ATTITUDE + k]
    return same


@inlined
def remember(parameters, memory_at, t, y, F, T):
    """Cache the load at this time, position and attitude."""
    parameters[memory_at], parameters[memory_at + 1] = 1.0, t
    put3(parameters, memory_at + 2, get3(y, slots.POSITION))
    put4(parameters, memory_at + 5, get4(y, slots.ATTITUDE))
    put3(parameters, memory_at + 9, F)
    put3(parameters, memory_at + 12, T)


@inlined
def written(part, F, T, power, bodies, out, resting, turned, own):
    """Write the load of a function if its part is requested, and its power if that is requested."""
    if part & (slots.RESTING if resting else slots.MOVING) == 0:
        F = T = (0.0, 0.0, 0.0)
    put3(out, 0, F)
    put3(out, 3, principal_torque(T, bodies, turned))
    if own >= 0:
        out[slots.LOAD + own] = power if part & slots.MOVING != 0 else 0.0


def torque_loads(part, t, N, y, bodies, parameters, out):
    w = user_rate(y, bodies, turned)
    if memory_at >= 0 and remembered(parameters, memory_at, t, y):
        T = get3(parameters, memory_at + 12)
    else:
        T = call(t, user_attitude(y, bodies, turned), w, view(parameters, count))
        if memory_at >= 0:
            remember(parameters, memory_at, t, y, (0.0, 0.0, 0.0), T)
    written(part, (0.0, 0.0, 0.0), T, dot(T, w), bodies, out, resting, turned, own)


def force_loads(part, t, N, y, bodies, parameters, out):
    v = scale(bodies[slots.INVERSE_MASS], get3(y, slots.MOMENTUM))
    if memory_at >= 0 and remembered(parameters, memory_at, t, y):
        F = get3(parameters, memory_at + 9)
    else:
        F = call(t, get3(y, slots.POSITION), v, view(parameters, count))
        if memory_at >= 0:
            remember(parameters, memory_at, t, y, F, (0.0, 0.0, 0.0))
    written(part, F, (0.0, 0.0, 0.0), dot(F, v), bodies, out, resting, turned, own)


def general_loads(part, t, N, y, bodies, parameters, out):
    v, w = scale(bodies[slots.INVERSE_MASS], get3(y, slots.MOMENTUM)), user_rate(y, bodies, turned)
    if memory_at >= 0 and remembered(parameters, memory_at, t, y):
        F, T = get3(parameters, memory_at + 9), get3(parameters, memory_at + 12)
    else:
        L = call(t, get3(y, slots.POSITION), v, user_attitude(y, bodies, turned), w, view(parameters, count))
        F, T = (L[0], L[1], L[2]), (L[3], L[4], L[5])
        if memory_at >= 0:
            remember(parameters, memory_at, t, y, F, T)
    written(part, F, T, dot(F, v) + dot(T, w), bodies, out, resting, turned, own)


def attitude_potential(t, N, y, bodies, parameters):
    return call(t, user_attitude(y, bodies, turned), view(parameters, count))


def position_potential(t, N, y, bodies, parameters):
    return call(t, get3(y, slots.POSITION), view(parameters, count))


def event_function(t, N, y, bodies, parameters):
    velocity = scale(bodies[slots.INVERSE_MASS], get3(y, slots.MOMENTUM))
    attitude, rate = user_attitude(y, bodies, turned), user_rate(y, bodies, turned)
    return call(t, get3(y, slots.POSITION), velocity, attitude, rate, view(parameters, count))


DIFFERENCE = 1e-2
# Central differences of order 6: error about DIFFERENCE^6/140 of the seventh derivative, and round-off of 1e-14.
STENCIL = (45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)


@inlined
def unit(k):
    return (1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2))


@inlined
def turned_by(q, k, angle):
    s = np.sin(0.5 * angle)
    return multiply(q, (np.cos(0.5 * angle), s * (k == 0), s * (k == 1), s * (k == 2)))


@inlined
def shift_of(r):
    size = np.sqrt(dot(r, r))
    return DIFFERENCE * size if size > 0.0 else DIFFERENCE


def attitude_gradient_loads(part, t, N, y, bodies, parameters, out):
    q = user_attitude(y, bodies, turned)
    p = view(parameters, count)
    total = (0.0, 0.0, 0.0)
    for k in range(3):
        d = 0.0
        for n in range(3):
            a = DIFFERENCE * (n + 1)
            d += STENCIL[n] * (call(t, turned_by(q, k, a), p) - call(t, turned_by(q, k, -a), p))
        total = axpy(-d / DIFFERENCE, unit(k), total)
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, principal_torque(total, bodies, turned))


def position_gradient_loads(part, t, N, y, bodies, parameters, out):
    r = get3(y, slots.POSITION)
    p = view(parameters, count)
    h = shift_of(r)
    for k in range(3):
        d = 0.0
        for n in range(3):
            e = scale(h * (n + 1), unit(k))
            d += STENCIL[n] * (call(t, add(r, e), p) - call(t, axpy(-1.0, e, r), p))
        out[k] = -d / h
    put3(out, 3, (0.0, 0.0, 0.0))


# ------------------------------------------------------------------ roles that add a function to a built-in one
# For one body. ``built`` is the built-in role, whose parameters come first. Functions that may read velocities belong
# to the velocity-dependent part of the loads. Their power is the rate of auxiliary variable ``own``, unless negative.
@inlined
def add_to(out, bodies, F, T):
    put3(out, 0, add(get3(out, 0), F))
    put3(out, 3, felt(add(get3(out, 3), T), bodies, 0))


def force_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if part & slots.MOVING != 0:
        p = view(parameters, count)[first:]
        v = scale(bodies[slots.INVERSE_MASS], get3(y, slots.MOMENTUM))
        F = call(t, get3(y, slots.POSITION), v, p)
        add_to(out, bodies, F, (0.0, 0.0, 0.0))
        if own >= 0:
            out[slots.LOAD + own] = dot(F, v)


def torque_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if part & slots.MOVING != 0:
        p = view(parameters, count)[first:]
        w = user_rate(y, bodies, turned)
        T = call(t, user_attitude(y, bodies, turned), w, p)
        add_to(out, bodies, (0.0, 0.0, 0.0), principal_torque(T, bodies, turned))
        if own >= 0:
            out[slots.LOAD + own] = dot(T, w)


def load_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if part & slots.MOVING != 0:
        p = view(parameters, count)[first:]
        velocity = scale(bodies[slots.INVERSE_MASS], get3(y, slots.MOMENTUM))
        attitude, rate = user_attitude(y, bodies, turned), user_rate(y, bodies, turned)
        L = call(t, get3(y, slots.POSITION), velocity, attitude, rate, p)
        F, T = (L[0], L[1], L[2]), (L[3], L[4], L[5])
        add_to(out, bodies, F, principal_torque(T, bodies, turned))
        if own >= 0:
            out[slots.LOAD + own] = dot(F, velocity) + dot(T, rate)


def position_gradient_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if part & slots.POTENTIAL_PART != 0:
        p = view(parameters, count)[first:]
        r = get3(y, slots.POSITION)
        h = shift_of(r)
        for k in range(3):
            d = 0.0
            for n in range(3):
                e = scale(h * (n + 1), unit(k))
                d += STENCIL[n] * (call(t, add(r, e), p) - call(t, axpy(-1.0, e, r), p))
            out[k] -= d / h


def place_gradient_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if part & slots.POTENTIAL_PART != 0:
        p = view(parameters, count)[first:]
        r, q = get3(y, slots.POSITION), user_attitude(y, bodies, turned)
        h = shift_of(r)
        F, T = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(3):
            d = g = 0.0
            for n in range(3):
                e, a = scale(h * (n + 1), unit(k)), DIFFERENCE * (n + 1)
                d += STENCIL[n] * (call(t, add(r, e), q, p) - call(t, axpy(-1.0, e, r), q, p))
                g += STENCIL[n] * (call(t, r, turned_by(q, k, a), p) - call(t, r, turned_by(q, k, -a), p))
            F = axpy(-d / h, unit(k), F)
            T = axpy(-g / DIFFERENCE, unit(k), T)
        add_to(out, bodies, F, principal_torque(T, bodies, turned))


def position_potential_added(t, N, y, bodies, parameters):
    p = view(parameters, count)[first:]
    return built(t, N, y, bodies, parameters) + call(t, get3(y, slots.POSITION), p)


def place_potential_added(t, N, y, bodies, parameters):
    p = view(parameters, count)[first:]
    return built(t, N, y, bodies, parameters) + call(t, get3(y, slots.POSITION), user_attitude(y, bodies, turned), p)


POTENTIALS = (
    attitude_potential, position_potential, position_potential_added, place_potential_added, event_function,
)  # fmt: skip
"""The roles in this file that return one number; all others are loads."""


# ------------------------------------------------------------------ the adapter
@dataclass(frozen=True)
class UserFunction:
    """A function given by the user, with the role that calls it.

    Attributes
    ----------
    form : Form
        What the function must take and return.
    function : callable
        The user's function, or its compiled form.
    template : function
        The role that calls it.
    frame : 4-tuple
        Quaternion from the principal to the user's body frame.
    parameters : array
        Parameters of the role, read-only; those from ``first`` on are passed to the function.
    built : function or None
        The built-in role that the function is added to.
    first : int
        Number of parameters of the built-in role, which precede those of the function.
    own, size : int
        Index of the auxiliary variable that is the function's work, or -1; how many numbers the role writes.
    """

    form: Form
    function: Callable[..., Any]
    template: Callable[..., Any]
    frame: tuple[float, float, float, float]
    parameters: Any
    built: Callable[..., Any] | None = None
    first: int = 0
    own: int = -1
    size: int = slots.LOAD

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(self.parameters))
        try:
            if not callable(self.function):
                raise RuntimeError
            inspect.signature(python_of(self.function)).bind(*self.form.arguments.split(","))
        except TypeError:
            raise InvalidInput(
                f"{self.described} must take the arguments ({self.form.arguments}), in this order"
            ) from None
        except ValueError:  # some callables hide their signature; the first call checks it
            pass
        except Exception:  # not callable, or its inspection fails
            given = shown(self.function)
            raise InvalidInput(f"{self.form.what} must be a function of ({self.form.arguments}), not {given}") from None

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(python_of(self.function), "__name__", type(self.function).__name__)

    @property
    def described(self) -> str:
        """The function for messages, with file and line."""
        code = getattr(python_of(self.function), "__code__", None)
        source_text = f" ({code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno})" if code else ""
        return f"{self.form.what} {self.name!r}{source_text}"

    def record(self) -> dict[str, str]:
        """Name, source and digest, for the record only; the source is never executed."""
        try:
            source = textwrap.dedent(inspect.getsource(python_of(self.function)))
        except (OSError, TypeError):
            source = f"(no source: {self.name})"
        return {"function": self.name, "source": source, "sha256": hashlib.sha256(source.encode()).hexdigest()}

    @property
    def velocity_dependent(self) -> bool:
        """Whether the function may depend on velocities; False only if it provably does not read them."""
        names = [name.strip() for name in self.form.arguments.split(",")]
        return any(may_read(self.function, k) for k, name in enumerate(names) if name in ("velocity", "omega"))

    @property
    def autonomous(self) -> bool:
        """Whether the function does not depend on time; True only if it provably does not read it."""
        return not may_read(self.function, 0)

    @property
    def _signature(self) -> Any:
        return _signature_of(self.template)

    @property
    def memory_at(self) -> int:
        """Index in the parameters of the role's cache of ROOM numbers, behind the user's parameters; -1 without."""
        alone = self.own >= 0 and self.built is None and not self.velocity_dependent
        return max(1, len(self.parameters)) if alone else -1

    @property
    def made(self) -> Any:
        """What the function compiles to at present, for comparison; the object itself if it is no plain function."""
        function = python_of(self.function)
        return jit.Made(function) if isinstance(function, FunctionType) else _Same(function)

    def _bound(self, memory_at: int = -1) -> tuple[tuple[str, Any], ...]:
        """What is bound to the role besides the function, by name; ``memory_at`` only if it is compiled."""
        used = jit.global_names(python_of(self.template).__code__)
        turned = self.frame != (1.0, 0.0, 0.0, 0.0)
        values = {"count": len(self.parameters), "first": self.first, "own": self.own, "turned": turned}
        values["memory_at"] = memory_at
        if "resting" in used:
            values["resting"] = not self.velocity_dependent
        return tuple((name, value) for name, value in values.items() if name in used)

    def checked(self, *arguments: Any) -> Any:
        """Call the plain function with arrays and check what it returns.

        Raises
        ------
        UserFunctionError
            The function raised, or did not return the finite numbers it must return.
        """
        t = arguments[0]
        inputs = [np.array(a, dtype=float) for a in arguments[1:]]
        try:
            result = python_of(self.function)(t, *inputs)
        except Exception as problem:
            raise UserFunctionError(
                f"{self.described} raised {type(problem).__name__}: {problem} (at t = {t:g})", time=t
            ) from problem
        numbers = _numbers(result)
        shape = {1: (), 3: (3,), 6: (2, 3)}[self.form.numbers]
        if numbers is not None and self.form.numbers == 1 and numbers.size == 1:
            numbers = numbers.reshape(())
        if numbers is None or numbers.shape != shape:
            text = repr(result)
            text = text if len(text) < 60 else text[:57] + "..."
            raise UserFunctionError(
                f"{self.described} returned {text} at t = {t:g}; it must return {self.form.returns}", time=t
            )
        # If the state itself is not finite, the time loop reports that.
        if not np.isfinite(numbers).all() and all(np.isfinite(a).all() for a in inputs):
            raise UserFunctionError(
                f"{self.described} returned {np.array2string(numbers)} at t = {t:g}; every number must be finite",
                time=t,
            )
        if self.form.numbers == 1:
            return float(numbers)
        return tuple(float(x) for x in numbers.ravel())

    def bridge(self) -> Callable[..., Any]:
        """The role that calls the plain Python function and checks every result."""
        role, reason = bridged(_Same(self.function), self.form, self.template, self._bound(), self.built)
        if role is None:
            raise InvalidInput(f"{self.described} cannot be called from the compiled loop: {reason}")
        return role

    def compile(self, t: float, y: Any, bodies: Any, warn: bool = True) -> Callable[..., Any]:
        """The role, compiled if possible; it is tried out at ``t``, ``y``, ``bodies``.

        Warns
        -----
        SlowFunctionWarning
            The function has to run as Python (not if ``warn`` is False: the user has been warned before).
        """
        trials = [(t, y, self._in_python(t, y, bodies)), *self._trials(t, y, bodies)]
        if jit.disabled():
            return self.bridge()
        function, reason = python_of(self.function), ""
        if not isinstance(function, FunctionType):
            reason = f"it is no plain function but of type {type(function).__name__!r}"
        for form in CALLS[self.form.numbers, self.form.vectors] if not reason else ():
            role, why = compiled(self.made, form, self.template, self._bound(self.memory_at), self.built)
            reason = why or reason
            if role is not None and self._agrees(role, trials, bodies):
                return role
        bridge = self.bridge()
        self._evaluate(bridge, t, y, bodies)
        start = time.perf_counter()
        self._evaluate(bridge, t, y, bodies, 20)
        each = (time.perf_counter() - start) / 20
        reason = reason or "compiled it returned other numbers"
        if warn:
            warnings.warn(
                f"{self.described} could not be compiled and runs as Python: about {each * 1e6:.1f} us a call, some "
                f"{max(1, round(each / TYPICAL_COMPILED_CALL))} times slower ({reason})",
                SlowFunctionWarning,
                stacklevel=2,
            )
        return bridge

    def _trials(self, t: float, y: Any, bodies: Any) -> list[tuple[float, Any, Any]]:
        """Two generic states near the given one, with the loads from the plain function."""
        trials = []
        for k in (1, 2):
            at, other = t + 0.37 * k, y.copy()
            other[slots.POSITION : slots.POSITION + 3] += (
                0.1 * (1.0 + abs(y[slots.POSITION : slots.POSITION + 3])) * np.cos((k, k + 1, k + 2))
            )
            rate = np.sin((2 * k, 3 * k, 5 * k))
            if bodies[slots.INVERSE_MASS] > 0.0:
                other[slots.MOMENTUM : slots.MOMENTUM + 3] += bodies[slots.MASS] * rate
            if bodies[slots.INVERSE_INERTIA] > 0.0:
                other[slots.ANGULAR : slots.ANGULAR + 3] += bodies[slots.INERTIA : slots.INERTIA + 3] * rate
            turned = np.array(multiply(tuple(y[slots.ATTITUDE : slots.ATTITUDE + 4]), (1.0, *(0.2 * rate))))
            other[slots.ATTITUDE : slots.ATTITUDE + 4] = turned / np.linalg.norm(turned)
            # The user did not ask for these states, so warnings and errors there are ignored.
            with np.errstate(all="ignore"), warnings.catch_warnings(), contextlib.suppress(UserFunctionError):
                warnings.simplefilter("ignore")
                trials.append((at, other, self._in_python(at, other, bodies)))
        return trials

    def _agrees(self, role: Callable[..., Any], trials: list[tuple[float, Any, Any]], bodies: Any) -> bool:
        size = max(np.abs(expected).max() for _, _, expected in trials)
        for t, y, expected in trials:
            try:
                result = self._evaluate(role, t, y, bodies)
            except Exception:
                return False
            if not np.abs(result - expected).max() <= 1e-9 * size:
                return False
        return True

    def _in_python(self, t: float, y: Any, bodies: Any) -> Any:
        """Result of the role in plain Python, nothing compiled."""

        # None of these is a plain function, which bind would turn into compiled code.
        values = dict(self._bound()) | {"call": self.checked, "view": functools.partial(_leading)}
        if self.built is not None:
            values["built"] = functools.partial(python_of(self.built))
        role = bind(self.template, **values)
        out = np.zeros(self.size)
        if self._signature is POTENTIAL:
            return np.array([role(t, 1, y, bodies, self.parameters)])
        role(slots.ALL, t, 1, y, bodies, self.parameters, out)
        return out

    def _evaluate(self, role: Callable[..., Any], t: float, y: Any, bodies: Any, times: int = 1) -> Any:
        out = np.zeros(1 if self._signature is POTENTIAL else self.size)
        parameters = np.concatenate([self.parameters, np.zeros(1 + ROOM)])
        repeated(self._signature)(role, times, t, y, bodies, parameters, out)
        return out


# ------------------------------------------------------------------ cached roles, shared by systems
@dataclass(frozen=True)
class _Same:
    """Compares and hashes an object by identity, and keeps it alive."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


def _leading(array: Any, length: int) -> Any:
    return array[:length]


def _signature_of(template: Callable[..., Any]) -> Any:
    return POTENTIAL if template in POTENTIALS else LOADS


def _role(template: Any, calling: Any, bound: tuple[tuple[str, Any], ...], built: Any) -> Callable[..., Any]:
    values = {"call": calling, **dict(bound)}
    if built is not None:
        values["built"] = jit.compile_kernel(built, _signature_of(template))
    return bind(template, **values)


@functools.lru_cache(jit.KEPT_KERNELS)
def compiled(made: jit.Made, form: Any, template: Any, bound: tuple[tuple[str, Any], ...], built: Any) -> Any:
    """Compile a role around a user's function: (role, "") or (None, reason). Equal functions share one role."""
    calling = bind(form, user=inlined(python_of(made.function)))
    return jit.compile_uncached(_role(template, calling, bound, built), _signature_of(template))


@functools.lru_cache(jit.KEPT_KERNELS)
def bridged(same: _Same, form: Form, template: Any, bound: tuple[tuple[str, Any], ...], built: Any) -> Any:
    """A role that calls a user's function as plain Python: (role, "") or (None, reason). One per function."""
    function = UserFunction(form, same.value, template, (1.0, 0.0, 0.0, 0.0), np.zeros(0)).checked
    plain = {
        1: lambda t, a, p: function(t, a, p),
        2: lambda t, a, b, p: function(t, a, b, p),
        4: lambda t, a, b, c, d, p: function(t, a, b, c, d, p),
    }[form.vectors]
    calling = jit.python_bridge(plain, form.numbers)
    return jit.compile_uncached(_role(template, calling, bound, built), _signature_of(template))


# ------------------------------------------------------------------ functions added to built-in loads
@dataclass(frozen=True)
class AddedFunctions:
    """Roles of a system with the user's functions included, and the record of the functions.

    Attributes
    ----------
    loads, potential : function or UserFunction
        The roles.
    parameters : array
        The built-in parameters, then the user's.
    work : str
        The function whose work is an auxiliary variable, after the built-in ones; empty if none.
    given : mapping of str to UserFunction
        The functions by keyword.
    arguments : mapping
        Records of the functions and the user's parameters; empty without functions.
    """

    loads: Any
    potential: Any
    parameters: Any
    work: str
    given: dict[str, UserFunction]
    arguments: dict[str, Any]

    @property
    def conservative(self) -> bool:
        """Whether there are no functions, or only a potential that does not read the time."""
        return not set(self.given) - {"potential"} and all(one.autonomous for one in self.given.values())

    @property
    def velocity_dependent(self) -> bool:
        """Whether the user's function may depend on velocities."""
        return isinstance(self.loads, UserFunction) and self.loads.velocity_dependent


def added_functions(
    functions: Mapping[str, tuple[Any, ...]],
    loads: Callable[..., Any],
    potential: Callable[..., Any],
    numbers: Any,
    own: int,
    parameters: Any,
    N: int = 1,
    frame: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0),
) -> AddedFunctions:
    """Add the user's functions to built-in roles.

    Parameters
    ----------
    functions : mapping
        By keyword: the function or None, the role that adds it and, for a potential, the role of its derivative.
    loads, potential : function
        The built-in roles.
    numbers : array
        Their parameters.
    own : int
        Number of their auxiliary variables.
    parameters : array, optional
        The user's parameters.
    N : int
        Number of bodies.
    frame : 4-tuple
        Quaternion from the principal to the user's body frame.

    Raises
    ------
    InvalidInput
        More than one load; a function with several bodies; parameters without a function.
    """
    names = [name for name, (function, *_) in functions.items() if function is not None]
    forces = [name for name in names if name != "potential"]
    if not names:
        if parameters is not None:
            raise InvalidInput(f"parameters are handed to a function ({', '.join(functions)}), but none is given")
        return AddedFunctions(loads, potential, numbers, "", {}, {})
    if len(forces) > 1:
        raise InvalidInput(f"{' and '.join(forces)} are given; keep one of them, a load contains force and torque")
    if N > 1:
        raise InvalidInput(f"{names[0]} is a function of one body, but there are {N}; build a system for each of them")
    user_values = np.zeros(0) if parameters is None else parameters
    every = np.concatenate([numbers, user_values])
    work = forces[0] if forces and "potential" not in names else ""
    work_slots = {"own": own if work else -1, "size": slots.LOAD + own + bool(work)}
    given: dict[str, UserFunction] = {}
    roles: dict[str, Any] = {"loads": loads, "potential": potential}
    for name in names:
        function, role, *slope = functions[name]
        form = FORMS[role.__name__.removesuffix("_added")]
        built = potential if name == "potential" else loads
        given[name] = UserFunction(form, function, role, frame, every, built, len(numbers), **work_slots)
        roles["potential" if name == "potential" else "loads"] = given[name]
        if slope and not forces:
            roles["loads"] = UserFunction(form, function, slope[0], frame, every, loads, len(numbers), **work_slots)
    arguments = {name: function.record() for name, function in given.items()}
    return AddedFunctions(
        roles["loads"], roles["potential"], every, work, given,
        arguments if parameters is None else {**arguments, "parameters": user_values.tolist()},
    )  # fmt: skip


REVEALING = {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack"}
"""Names through which a function can read its arguments without naming them."""


def may_read(function: Any, position: int) -> bool:
    """Whether a function may read its positional argument with this index; False only if its code never names it."""
    function = python_of(function)
    if not isinstance(function, FunctionType) or position >= function.__code__.co_argcount:
        return True
    code = function.__code__
    name = code.co_varnames[position]
    if name in code.co_cellvars or REVEALING & {*code.co_names, *code.co_freevars}:
        return True
    # Some versions of Python load two variables with one instruction, whose argument is a pair.
    mentioned = (step.argval for step in dis.get_instructions(code) if "FAST" in step.opname)
    return any(name in (value if isinstance(value, tuple) else (value,)) for value in mentioned)


def _numbers(result: Any) -> Any:
    """``result`` as an array of floats, or None if an entry is not a number."""
    try:
        array = np.asarray(result)
        if array.dtype.kind == "O":
            return np.array([float(x) for x in array.ravel()]).reshape(array.shape)
        return array.astype(float) if array.dtype.kind in "biuf" else None
    except (TypeError, ValueError):
        return None


def _loads_repeated(role, times, t, y, bodies, parameters, out):
    for _ in range(times):
        role(slots.ALL, t, 1, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters), jit.pointer(out))


def _potential_repeated(role, times, t, y, bodies, parameters, out):
    for _ in range(times):
        out[0] = role(t, 1, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters))


@functools.cache
def repeated(signature: Any) -> Callable[..., Any]:
    """A compiled function that calls a role a number of times and stores the last result."""
    if signature is POTENTIAL:
        return jit.compile_kernel(_potential_repeated, REPEATED_POTENTIAL)
    return jit.compile_kernel(_loads_repeated, REPEATED_LOADS)
