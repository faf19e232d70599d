"""How a run calls the functions of users in a role: as programs, compiled as they are, or as Python.

They are called in plain Python with arrays first, so that a mistake shows the user's own traceback. A program, and a
compiled form, is used only if it returns the same numbers, at the initial state and at two generic states (at rest,
``omega + omega`` of tuples and of arrays may agree by accident).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from polhode import errors
from polhode.algebra.quaternion import multiply, rotate
from polhode.algebra.so3 import dot
from polhode.errors import InvalidInput, SlowFunctionWarning
from polhode.kernel import jit, layout as L
from polhode.kernel.jit import bind, hole, inlined, python_of
from polhode.kernel.signatures import EVENT, LOADS, POTENTIAL
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import Graph
from polhode.programs.of_arrays import values
from polhode.programs.trace import spread
from polhode.systems.user.acting import opaque_of
from polhode.systems.user.compilable import compilable
from polhode.systems.user.forms import ENERGIES, Form
from polhode.systems.user.function import Looked, UserFunction, repeated
from polhode.systems.user.traced import INPUTS, adapters, program_of

TYPICAL_COMPILED_CALL = 2e-8  # seconds; reference for the slowdown in the warning

call = hole("call(...) -> numbers", "The adapter around the user's function.")
COUNT = hole("COUNT", "How many numbers the user hands to it.")
view = hole("view(pointer, length) -> array", "An array on the memory of a pointer.", default=jit.view)


# ------------------------------------------------------------------ derivatives, by differences
DIFFERENCE = 1e-2
# Central differences of order 6: error about DIFFERENCE^6/140 of the seventh derivative, and round-off of 1e-14.
STENCIL = (45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)


@inlined
def turned_by(q, k, angle):
    s = np.sin(0.5 * angle)
    return multiply(q, (np.cos(0.5 * angle), s * (k == 0), s * (k == 1), s * (k == 2)))


@inlined
def shift_of(r):
    size = np.sqrt(dot(r, r))
    return DIFFERENCE * size if size > 0.0 else DIFFERENCE


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


def bound(user: UserFunction, calling: Any, remembers: bool, plain: bool = False) -> dict[str, Any]:
    """Kernels by their holes for a function that is called so, and may remember its result; in ``plain`` Python."""
    own, how = opaque_of(user.form), adapters(user.form)
    kernels = {own.name: how.at_rest if remembers else how.kernel}
    if own.slopes is not None:
        kernels[own.slopes.name] = slope_of_kernel(user.form)
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
        return UserFunction(self.form, function, (1.0, 0.0, 0.0, 0.0), np.zeros(self.count), looked=LOOKED)  # type: ignore[arg-type]


LOOKED = Looked(False, False)


@functools.lru_cache(jit.KEPT_KERNELS)
def _compiled(role: Any, signature: Any, keys: tuple[_Key, ...], arrays: bool) -> Any:
    """The role with functions compiled as they are: (role, "") or (None, reason)."""
    kernels: dict[str, Any] = {}
    for key in keys:
        calling = bind(adapters(key.form)[arrays], user=compilable(key.made.function))
        kernels |= bound(key.user, calling, key.remembers)
    return jit.compile_uncached(_filled(role, kernels), signature)


@functools.lru_cache(jit.KEPT_KERNELS)
def _bridged(role: Any, signature: Any, keys: tuple[_Key, ...]) -> Any:
    """The role with functions that are called as Python: (role, "") or (None, reason)."""
    kernels: dict[str, Any] = {}
    for key in keys:
        user = key.user
        own = once(user.checked) if key.form.what == "command" else user.checked
        plain = jit.in_python(adapters(key.form).as_it_is, {"user": own})  # of so many arguments
        kernels |= bound(user, jit.python_bridge(plain, key.form.count_wanted), key.remembers)
    return jit.compile_uncached(_filled(role, kernels), signature)


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is not called again for what it was called with last: a row asks for what the step that begins
    there has set, or will."""
    last: list[tuple[Any, Any]] = [((), None)]

    def called(*given: Any) -> Any:
        now = tuple(np.asarray(one).tobytes() for one in given)
        before, result = last[0]
        if now != before:
            result = function(*given)
            last[0] = now, result
        return result

    return called


_tried: dict[int, Any] = {}
"""Programs that gave the numbers of a plain function, by their addresses."""


# ------------------------------------------------------------------ the choice
@dataclass(frozen=True, eq=False)
class Called:
    """The functions of users in a role of a system: in its loads and its potential, in a controller, in events."""

    users: Mapping[str, UserFunction]  # by their names
    no_programs: tuple[str, ...]  # names of those that the roles of the system call as they are
    # ``as_they_are() -> loads, potential``, the roles in which all of them are called
    as_they_are: Callable[[], tuple[Any, Any]]
    alone: bool = False  # whether there is one function and nothing else
    table: Any = None  # that of events

    @cached_property
    def moving(self) -> bool:
        """Whether loads depend on velocities."""
        return any(one.velocity_dependent for name, one in self.users.items() if name not in ENERGIES)

    @property
    def remembers(self) -> bool:
        """Whether there is memory for the result of the one function, which reads no velocities."""
        return self.alone and not self.moving

    @property
    def made(self) -> tuple[Any, ...]:
        """What those that are called as they are compile to at present."""
        return tuple(self.users[name].made for name in self.no_programs)

    def among(self, signature: Any) -> list[UserFunction]:
        """Those in the potential, or in the other roles."""
        energies = ("reported_energy",) if "reported_energy" in self.users else ("potential",)
        return [one for name, one in self.users.items()
                if (name in energies if signature is POTENTIAL else name != "reported_energy")]  # fmt: skip

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
        count = 3 * 2 * len(STENCIL) * len(user.form.taken)
        return f"loads are differences of {count} potentials, with errors from 1e-13 on, because {user.untraced}"

    def check(self, t: float, y: Any, system: Any) -> None:
        """Say what is wrong with what a function returns at a state."""
        for one in self.users.values():
            _trial(one, [(t, y)], system)

    def compiled(self, role: Any, signature: Any, t: float, y: Any, system: Any) -> Any:
        """The role, compiled with functions that are called as they are, or the one that calls them; None where all are
        programs, so that it is compiled as any other."""
        users = self.among(signature)
        told = system.__dict__.setdefault("_told", set())
        fresh = [one for one in users if id(one.function) not in told]
        told |= {id(one.function) for one in users}
        for one in fresh:
            if one.logs:
                errors.warn(f"{one.described} runs as Python, slower by far, because {one.uncompiled}",
                            SlowFunctionWarning)  # fmt: skip
        if any(one.logs for one in users):  # nothing calls these but the run
            return self.bridge(signature)
        programs, states = [program_of(one).program for one in users], [(t, y)]
        known = [_is_known(one, program) for one, program in zip(users, programs, strict=True)]
        states += [] if all(known) else near(t, y, system.bodies, len(system.auxiliary))
        trials = [_trial(one, states[:1] if tried else states, system) for one, tried in zip(users, known, strict=True)]
        if jit.disabled():
            return None if not self._open(role) else self.bridge(signature)
        agree = all(tried or _agrees(one, program, trial)
                    for one, program, tried, trial in zip(users, programs, known, trials, strict=True)
                    if not self._open(role, one))  # fmt: skip
        role = role if agree else self.as_they_are()[signature is POTENTIAL]
        if not self._open(role):
            return None
        states = states if len(states) > 1 else [*states, *near(t, y, system.bodies, len(system.auxiliary))]
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
            plain |= bound(one, one.checked, self.remembers, plain=True)
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
        events = 0 if self.table is None else int(self.table[0])
        size = {POTENTIAL: 1, EVENT: events}.get(signature, L.LOAD + len(system.auxiliary))
        for k, (t, y) in enumerate(states):
            out, table = np.zeros(size), (self.table,) if signature is EVENT else ()
            try:
                if compiled:
                    repeated(signature)(role, 1, t, y, bodies, parameters, *table, out)
                elif signature is POTENTIAL:
                    out[0] = role(t, 1, y, bodies, parameters)
                elif signature is EVENT:
                    out[:] = [role(n, t, 1, y, bodies, parameters, *table) for n in range(size)]
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


def near(t: float, y: Any, bodies: Any, count: int) -> list[tuple[float, Any]]:
    """Two generic times and states of one body near the given one, and of its ``count`` auxiliary variables."""
    found = []
    for k in (1, 2):
        other = y.copy()
        r = y[L.POSITION : L.POSITION + 3]
        other[L.POSITION : L.POSITION + 3] += 0.1 * (1.0 + abs(r)) * np.cos((k, k + 1, k + 2))
        rate = np.sin((2 * k, 3 * k, 5 * k))
        if bodies[L.INVERSE_MASS] > 0.0:
            other[L.MOMENTUM : L.MOMENTUM + 3] += bodies[L.MASS] * rate
        if bodies[L.INVERSE_INERTIA] > 0.0:
            other[L.ANGULAR : L.ANGULAR + 3] += bodies[L.INERTIA : L.INERTIA + 3] * rate
        states = other[L.BODY : L.BODY + count]
        states += (0.1 + 0.3 * abs(states)) * np.sin(np.arange(1.0, len(states) + 1.0) * (k + 1))
        turned = np.array(multiply(tuple(y[L.ATTITUDE : L.ATTITUDE + 4]), (1.0, *(0.2 * rate))))
        other[L.ATTITUDE : L.ATTITUDE + 4] = turned / np.linalg.norm(turned)
        found.append((t + 0.37 * k, other))
    return found


def _trial(user: UserFunction, states: Any, system: Any) -> list[tuple[float, dict[str, Any], Any]]:
    """Times, what a function is given, and what it returns as plain Python; raises what it raises at the first."""
    found = []
    for k, (t, y) in enumerate(states):
        seen = seen_at(user, y, system)
        given = [seen[name] for name in user.form.taken]
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


def seen_at(user: UserFunction, y: Any, system: Any) -> dict[str, Any]:
    """What a function of the first body sees of a state."""
    at, bodies = L.BODY + system.read_from, system.bodies
    w, a, b, c = map(float, bodies[L.CONSTANTS : L.CONSTANTS + 4])
    q, omega = y[L.ATTITUDE : L.ATTITUDE + 4], y[L.ANGULAR : L.ANGULAR + 3]
    omega = bodies[L.INVERSE_INERTIA : L.INVERSE_INERTIA + 3] * omega
    if user.frame != (1.0, 0.0, 0.0, 0.0):
        q, omega = multiply(tuple(q), (w, -a, -b, -c)), rotate((w, a, b, c), tuple(omega))
    return {
        "position": y[L.POSITION : L.POSITION + 3], "q": np.array(q), "omega": np.array(omega),
        "velocity": bodies[L.INVERSE_MASS] * y[L.MOMENTUM : L.MOMENTUM + 3], "states": y[at : at + user.form.count],
    }  # fmt: skip


def _is_known(user: UserFunction, program: Any) -> bool:
    """Whether the program of a function has given its numbers before."""
    opaque = user.looked is None or user.looked.opaque
    return program is not None and _tried.get(id(program)) is program and not opaque


def _agrees(user: UserFunction, program: Any, trial: list[tuple[float, dict[str, Any], Any]]) -> bool:
    """Whether the program of a function gives its numbers."""
    if program is None:
        return False
    size = max([np.abs(wanted).max() for _, _, wanted in trial])
    for t, seen, wanted in trial:
        inputs = {INPUTS[name][0]: seen[name] for name in ("position", "velocity", "q", "omega")}
        given = spread(t=t, p=user.parameters, s=seen["states"], **inputs)
        found = np.array(values(program.graph, program.guarded(list(program.outputs)), given), dtype=float)
        if user.form.what not in ENERGIES:
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
