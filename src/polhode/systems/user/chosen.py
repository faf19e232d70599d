"""How a run calls the functions of users in its loads: as programs, compiled as they are, or as Python.

They are called in plain Python with arrays first, so that a mistake shows the user's own traceback. A program, and a
compiled form, is used only if it returns the same numbers, at the initial state and at two generic states.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from polhode import errors
from polhode.errors import InvalidInput, SlowFunctionWarning
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, hole, inlined, python_of
from polhode.kernel.signatures import LOADS, POTENTIAL
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import Graph
from polhode.programs.of_arrays import values
from polhode.programs.trace import spread
from polhode.systems.user.acting import opaque_of, taken
from polhode.systems.user.compilable import compilable
from polhode.systems.user.function import TYPICAL_COMPILED_CALL, Looked, UserFunction, near, repeated
from polhode.systems.user.roles import (
    CALLS,
    DIFFERENCE,
    STENCIL,
    Form,
    shift_of,
    turned_by,
    user_attitude,
    user_rate,
    user_velocity,
)
from polhode.systems.user.traced import INPUTS, program_of

call = hole("call(...) -> numbers", "The adapter around the user's function.")
COUNT = hole("COUNT", "How many numbers the user hands to it.")
view = hole("view(pointer, length) -> array", "An array on the memory of a pointer.", default=jit.view)


# ------------------------------------------------------------------ kernels, by how many vectors they take
def of_one(p, at, a, t):
    return call(t, a, view(p, at + COUNT)[at:])


def of_two(p, at, a, b, t):
    return call(t, a, b, view(p, at + COUNT)[at:])


def of_four(p, at, a, b, c, d, t):
    return call(t, a, b, c, d, view(p, at + COUNT)[at:])


def with_states(p, at, a, b, c, d, s, t):
    return call(t, a, b, c, d, view(p, at + COUNT)[at:], s)


KERNELS = {1: of_one, 2: of_two, 4: of_four, 5: with_states}


# The memory, behind the parameters, of the last result of a function that does not read velocities, with its time,
# position and attitude: the power is needed where the load was just evaluated, at other velocities.
@inlined
def recalled(p, m, t, first, a):
    """Whether the cache at ``m`` has the result at this time and these numbers, the first of which are others."""
    same = p[m] == 1.0 and p[m + 1] == t
    for k in range(len(a)):
        same = same and p[m + 2 + first + k] == a[k]
    return same


@inlined
def recall(p, m, t, first, a):
    """Write down time and numbers."""
    p[m], p[m + 1] = 1.0, t
    for k in range(len(a)):
        p[m + 2 + first + k] = a[k]


def two_at_rest(p, at, a, b, t):
    m = max(1, at + COUNT)
    if not recalled(p, m, t, 0, a):
        put3(p, m + 9, call(t, a, b, view(p, at + COUNT)[at:]))
        recall(p, m, t, 0, a)
    return get3(p, m + 9)


def four_at_rest(p, at, a, b, c, d, t):
    m = max(1, at + COUNT)
    if not (recalled(p, m, t, 0, a) and recalled(p, m, t, 3, c)):
        L = call(t, a, b, c, d, view(p, at + COUNT)[at:])
        put3(p, m + 9, (L[0], L[1], L[2]))
        put3(p, m + 12, (L[3], L[4], L[5]))
        recall(p, m, t, 0, a)
        recall(p, m, t, 3, c)
    F, T = get3(p, m + 9), get3(p, m + 12)
    return (F[0], F[1], F[2], T[0], T[1], T[2])


AT_REST = {2: two_at_rest, 4: four_at_rest}


# ------------------------------------------------------------------ derivatives, by differences
def slope_of_place(p, at, r, t):
    """By the coordinates."""
    n = view(p, at + COUNT)[at:]
    h = shift_of(r)
    x = y = z = 0.0
    for k in range(3):
        a, s = h * (k + 1), STENCIL[k] / h
        x += s * (call(t, (r[0] + a, r[1], r[2]), n) - call(t, (r[0] - a, r[1], r[2]), n))
        y += s * (call(t, (r[0], r[1] + a, r[2]), n) - call(t, (r[0], r[1] - a, r[2]), n))
        z += s * (call(t, (r[0], r[1], r[2] + a), n) - call(t, (r[0], r[1], r[2] - a), n))
    return (x, y, z)


@inlined
def of_quaternion(q, d):
    """By the parts of a unit quaternion, along which its length stays, from those by turns about the body's axes."""
    x, y, z = 2.0 * d[0], 2.0 * d[1], 2.0 * d[2]
    return (-(q[1] * x + q[2] * y + q[3] * z), q[0] * x + q[2] * z - q[3] * y, q[0] * y + q[3] * x - q[1] * z,
            q[0] * z + q[1] * y - q[2] * x)  # fmt: skip


def slope_of_attitude(p, at, q, t):
    """By the parts of a unit quaternion."""
    n = view(p, at + COUNT)[at:]
    x = y = z = 0.0
    for k in range(3):
        a, s = DIFFERENCE * (k + 1), STENCIL[k] / DIFFERENCE
        x += s * (call(t, turned_by(q, 0, a), n) - call(t, turned_by(q, 0, -a), n))
        y += s * (call(t, turned_by(q, 1, a), n) - call(t, turned_by(q, 1, -a), n))
        z += s * (call(t, turned_by(q, 2, a), n) - call(t, turned_by(q, 2, -a), n))
    return of_quaternion(q, (x, y, z))


def slope_of_both(p, at, r, q, t):
    """By the coordinates, then by the parts of a unit quaternion."""
    n = view(p, at + COUNT)[at:]
    h = shift_of(r)
    u = v = w = x = y = z = 0.0
    for k in range(3):
        a, s = h * (k + 1), STENCIL[k] / h
        u += s * (call(t, (r[0] + a, r[1], r[2]), q, n) - call(t, (r[0] - a, r[1], r[2]), q, n))
        v += s * (call(t, (r[0], r[1] + a, r[2]), q, n) - call(t, (r[0], r[1] - a, r[2]), q, n))
        w += s * (call(t, (r[0], r[1], r[2] + a), q, n) - call(t, (r[0], r[1], r[2] - a), q, n))
        a, s = DIFFERENCE * (k + 1), STENCIL[k] / DIFFERENCE
        x += s * (call(t, r, turned_by(q, 0, a), n) - call(t, r, turned_by(q, 0, -a), n))
        y += s * (call(t, r, turned_by(q, 1, a), n) - call(t, r, turned_by(q, 1, -a), n))
        z += s * (call(t, r, turned_by(q, 2, a), n) - call(t, r, turned_by(q, 2, -a), n))
    return (u, v, w, *of_quaternion(q, (x, y, z)))


def slope_of_kernel(form: Form) -> Any:
    both = slope_of_both if ", q," in form.arguments else slope_of_place
    return both if "position" in form.arguments else slope_of_attitude


# ------------------------------------------------------------------ what they are bound to
def _leading(array: Any, length: int) -> Any:
    return array[:length]


def _checked(user: UserFunction) -> Callable[..., Any]:
    """The plain function, checked; it takes vectors, the user's numbers, and states."""
    return lambda t, *given: user.checked(t, *given)


def bound(user: UserFunction, calling: Any, remembers: bool, plain: bool = False) -> dict[str, Any]:
    """Kernels by their holes for a function that is called so, and may remember its result; in ``plain`` Python."""
    form, own = user.form, opaque_of(user.form)
    kernels = {own.name: (AT_REST if remembers else KERNELS)[len(taken(form)) + bool(form.states)]}
    if own.slopes is not None:
        kernels[own.slopes.name] = slope_of_kernel(form)
    given = {"call": calling, "COUNT": len(user.parameters)}
    if plain:
        return {name: jit.in_python(one, given | {"view": _leading}) for name, one in kernels.items()}
    return {name: bind(one, **given) for name, one in kernels.items()}


def _holes(role: Any) -> set[str]:
    """Names that a role reads."""
    return set(jit.global_names(python_of(role).__code__))


def _filled(role: Any, kernels: Mapping[str, Any]) -> Any:
    inside = _holes(role)
    return bind(role, **{name: one for name, one in kernels.items() if name in inside})


@dataclass(frozen=True)
class _Key:
    """A function as a key: as it is compiled at present."""

    made: Any
    form: Form
    count: int
    remembers: bool

    @property
    def user(self) -> UserFunction:
        """The function."""
        function = self.made.function if isinstance(self.made, jit.Made) else self.made.value
        return UserFunction(self.form, function, None, (1.0, 0.0, 0.0, 0.0), np.zeros(self.count), looked=LOOKED)  # type: ignore[arg-type]


LOOKED = Looked(False, False)


@functools.lru_cache(jit.KEPT_KERNELS)
def _compiled(role: Any, signature: Any, keys: tuple[_Key, ...], arrays: bool) -> Any:
    """The role with functions compiled as they are: (role, "") or (None, reason)."""
    kernels: dict[str, Any] = {}
    for key in keys:
        form = key.form
        forms = form.adapters[:2] if form.states else CALLS[form.numbers, form.vectors]
        kernels |= bound(key.user, bind(forms[arrays], user=compilable(key.made.function)), key.remembers)
    return jit.compile_uncached(_filled(role, kernels), signature)


@functools.lru_cache(jit.KEPT_KERNELS)
def _bridged(role: Any, signature: Any, keys: tuple[_Key, ...]) -> Any:
    """The role with functions that are called as Python: (role, "") or (None, reason)."""
    kernels: dict[str, Any] = {}
    for key in keys:
        user = key.user
        kernels |= bound(user, jit.python_bridge(_with_so_many(user), opaque_of(key.form).count), key.remembers)
    return jit.compile_uncached(_filled(role, kernels), signature)


def _with_so_many(user: UserFunction) -> Any:
    """The checked function of so many arguments: the compiled loop knows no other."""
    function = user.checked
    if user.form.states:
        return lambda t, a, b, c, d, p, s: function(t, a, b, c, d, p, s)
    return {
        1: lambda t, a, p: function(t, a, p),
        2: lambda t, a, b, p: function(t, a, b, p),
        4: lambda t, a, b, c, d, p: function(t, a, b, c, d, p),
    }[user.form.vectors]  # fmt: skip


_tried: dict[int, Any] = {}
"""Programs that gave the numbers of a plain function, by their addresses."""


# ------------------------------------------------------------------ the choice
@dataclass(frozen=True, eq=False)
class Called:
    """The functions of users in the loads of a system."""

    users: Mapping[str, UserFunction]  # by their names
    no_programs: tuple[str, ...]  # names of those that the roles of the system call as they are
    # ``as_they_are() -> loads, potential``, the roles in which all of them are called
    as_they_are: Callable[[], tuple[Any, Any]]
    size: int  # how many numbers the loads write
    remembers: bool  # whether there is memory for the result of the one function there is, which reads no velocities

    @property
    def made(self) -> tuple[Any, ...]:
        """What those that are called as they are compile to at present."""
        return tuple(self.users[name].made for name in self.no_programs)

    def among(self, signature: Any) -> list[UserFunction]:
        """Those in the loads, or in the potential."""
        energies = ("reported_energy",) if "reported_energy" in self.users else ("potential",)
        return [one for name, one in self.users.items()
                if (name != "reported_energy" if signature is LOADS else name in energies)]  # fmt: skip

    def dynamics(self, N: int) -> Dynamics | None:
        """Why there is no program, of a system of so many bodies; None where there is one."""
        if not self.no_programs:
            return None
        return Dynamics(Graph(), N, reason=program_of(self.users[self.no_programs[0]]).reason)

    @property
    def by_differences(self) -> str:
        """What is to be said of loads that are differences of a potential; empty where they are not."""
        user = self.users.get("potential")
        if user is None or not user.untraced:
            return ""
        count = 3 * 2 * len(STENCIL) * user.form.vectors
        return f"loads are differences of {count} potentials, with errors from 1e-13 on, because {user.untraced}"

    def compiled(self, role: Any, signature: Any, t: float, y: Any, system: Any) -> Any:
        """The role of loads or of the potential, compiled with functions that are called as they are; None where all
        are programs, so that it is compiled as any other."""
        users, bodies = self.among(signature), system.bodies
        told = system.__dict__.setdefault("_told", set())
        fresh = [one for one in users if id(one.function) not in told]
        told |= {id(one.function) for one in users}
        states = [(t, y), *near(t, y, bodies, self.size - L.LOAD)]
        trials = [_trial(one, states, bodies) for one in users]
        for one in fresh:
            if one.logs:
                errors.warn(f"{one.described} runs as Python, slower by far, because {one.uncompiled}",
                            SlowFunctionWarning)  # fmt: skip
        if any(one.logs for one in users):
            return self.bridge(signature)
        if jit.disabled():
            return None if not self._open(role) else self.bridge(signature)
        agree = all(_agrees(one, trial) for one, trial in zip(users, trials, strict=True) if not self._open(role, one))
        role = role if agree else self.as_they_are()[signature is POTENTIAL]
        if not self._open(role):
            return None
        return self._as_it_is(role, signature, [one for one in users if self._open(role, one)], states, system, fresh)

    def _open(self, role: Any, user: UserFunction | None = None) -> bool:
        """Whether a role calls functions, or this one, as they are."""
        wanted = [opaque_of(one.form) for one in (self.users.values() if user is None else [user])]
        inside = _holes(role)
        return any(not inside.isdisjoint((one.name, one.slopes and one.slopes.name)) for one in wanted)

    def _as_it_is(
        self, role: Any, signature: Any, users: list[UserFunction], states: Any, system: Any, fresh: Any
    ) -> Any:
        plain: dict[str, Any] = {}
        for one in users:
            plain |= bound(one, _checked(one), self.remembers, plain=True)
        expected = self._values(jit.in_python(role, plain), signature, states, system)
        keys, reason = self._keys(users), ""
        for one in users:
            if not isinstance(python_of(one.function), FunctionType):
                reason = f"it is no plain function but of type {type(python_of(one.function)).__name__!r}"
            reason = one.uncompiled or reason
        told = self.by_differences if signature is LOADS else ""
        for arrays in (False, True) if not reason else ():
            made, why = _compiled(role, signature, keys, arrays)
            reason = why or reason
            if made is not None and _same(self._values(made, signature, states, system, True), expected):
                if told and fresh:
                    errors.warn(told, SlowFunctionWarning)
                return made
        made = self._bridge(role, signature, users)
        start = time.perf_counter()
        self._values(made, signature, states[:1] * 20, system, True)
        each = (time.perf_counter() - start) / 20
        for one in users:
            why, untraced = reason or "compiled it returned other numbers", program_of(one).reason
            if untraced not in ("", why):
                why = f"tracing: {untraced}; compiling: {why}"
            slower = max(1, round(each / TYPICAL_COMPILED_CALL))
            if one in fresh:
                errors.warn(f"{one.described} could not be compiled and runs as Python: about {each * 1e6:.1f} us a "
                            f"call, some {slower} times slower ({why})" + (f"; {told}" if told else ""),
                            SlowFunctionWarning)  # fmt: skip
        return made

    def _values(self, role: Any, signature: Any, states: Any, system: Any, compiled: bool = False) -> list[Any]:
        """What a role writes at states; None where it raises."""
        found, parameters, bodies = list[Any](), system.with_memory, system.bodies
        for k, (t, y) in enumerate(states):
            out = np.zeros(1 if signature is POTENTIAL else self.size)
            try:
                if compiled:
                    repeated(signature)(role, 1, t, y, bodies, parameters, out)
                elif signature is POTENTIAL:
                    out[0] = role(t, 1, y, bodies, parameters)
                else:
                    role(L.ALL, t, 1, y, bodies, parameters, out)
            except Exception:
                if k == 0 and not compiled:
                    raise
                found.append(None)
            else:
                found.append(out)
        return found

    def _keys(self, users: Any) -> tuple[_Key, ...]:
        return tuple(_Key(one.made, one.form, len(one.parameters), self.remembers) for one in users)

    def bridge(self, signature: Any) -> Any:
        """The role in which all functions are called as Python, and every result is checked."""
        return self._bridge(self.as_they_are()[signature is POTENTIAL], signature, self.among(signature))

    def _bridge(self, role: Any, signature: Any, users: Any) -> Any:
        made, reason = _bridged(role, signature, self._keys(users))
        if made is None:
            raise InvalidInput(f"{users[0].described} cannot be called from the compiled loop: {reason}")
        return made


def _same(found: list[Any], expected: list[Any]) -> bool:
    size = max(np.abs(one).max() for one in expected if one is not None)
    return all(a is not None and np.abs(a - b).max() <= 1e-9 * size
               for a, b in zip(found, expected, strict=True) if b is not None)  # fmt: skip


def _trial(user: UserFunction, states: Any, bodies: Any) -> list[tuple[float, dict[str, Any], Any]]:
    """Times, what a function is given, and what it returns as plain Python; raises what it raises at the first."""
    found = []
    for k, (t, y) in enumerate(states):
        seen = seen_at(user, y, bodies)
        given = [seen[name] for name in taken(user.form)]
        behind = [user.parameters, seen["states"]] if user.form.states else [user.parameters]
        try:
            with np.errstate(all="ignore" if k else None):  # nobody asked for other states than the first
                result = user.checked(t, *given, *behind)
        except errors.UserFunctionError:
            if k == 0:
                raise
            continue
        found.append((t, seen, np.ravel(result)))
    return found


def seen_at(user: UserFunction, y: Any, bodies: Any) -> dict[str, Any]:
    """What a function of the first body sees of a state."""
    turned, at = user.frame != (1.0, 0.0, 0.0, 0.0), L.BODY + user.states_at
    return {
        "position": y[L.POSITION : L.POSITION + 3], "velocity": np.array(user_velocity(y, bodies)),
        "q": np.array(user_attitude(y, bodies, turned)), "omega": np.array(user_rate(y, bodies, turned)),
        "states": y[at : at + user.form.count],
    }  # fmt: skip


def _agrees(user: UserFunction, trial: list[tuple[float, dict[str, Any], Any]]) -> bool:
    """Whether the program of a function gives its numbers."""
    program = program_of(user).program
    if program is None:
        return False
    if _tried.get(id(program)) is program and not (user.looked is not None and user.looked.opaque):
        return True
    size = max([np.abs(wanted).max() for _, _, wanted in trial])
    for t, seen, wanted in trial:
        inputs = {INPUTS[name][0]: seen[name] for name in ("position", "velocity", "q", "omega")}
        given = spread(t=t, p=user.parameters, s=seen["states"], **inputs)
        found = np.array(values(program.graph, program.guarded(list(program.outputs)), given), dtype=float)
        if user.form.numbers > 1:
            if not np.abs(found - wanted).max() <= 1e-9 * size:
                return False
        elif np.isfinite(found).all() and not abs(found[0] - wanted[0]) <= 1e-9 * size + 1e-13:
            raise InvalidInput(
                f"{user.described} gives {found[0]:.9g} when it is traced, but {wanted[0]:.9g} when it is called, at t "
                f"= {t:g}; let it compute with its arguments alone, and the same for arrays of any kind of number, and "
                "by no sign of a zero"
            )
    _tried[id(program)] = program
    while len(_tried) > jit.KEPT_KERNELS:
        _tried.pop(next(iter(_tried)), None)
    return True
