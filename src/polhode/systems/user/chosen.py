"""How a run calls the functions of users in a role: as programs, compiled as they are, or as Python.

They are called in plain Python with arrays first, so that a mistake shows the user's own traceback. A program, and a
compiled form, is used only if it returns the same numbers, at the initial state and at two generic states (at rest,
``omega + omega`` of tuples and of arrays may agree by accident).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_double
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from polhode import errors
from polhode.algebra.quaternion import multiply, rotate
from polhode.arguments import Array
from polhode.errors import InvalidInput, SlowFunctionWarning
from polhode.kernel import jit, layout as L
from polhode.kernel.jit import python_of
from polhode.kernel.signatures import EVENT, LOADS, POTENTIAL
from polhode.programs.dynamics import Dynamics, Role
from polhode.programs.graph import Graph
from polhode.programs.of_arrays import values
from polhode.programs.trace import spread
from polhode.systems.user.acting import STENCIL, adapters, opaque_of
from polhode.systems.user.compilable import compilable
from polhode.systems.user.forms import ENERGIES, Form
from polhode.systems.user.function import INPUTS, UserFunction, one_call

if TYPE_CHECKING:
    from polhode.systems.record import System

States = list[tuple[float, Array]]
"""Times and states at which roles are tried."""
TYPICAL_COMPILED_CALL = 2e-8  # seconds; reference for the slowdown in the warning


# ------------------------------------------------------------------ roles with functions that are called as they are
@jit.inlined
def _same(numbers):
    return numbers


VECTORS = {"tuples": _same, "arrays": np.array}  # how compiled functions take vectors


def _holes(role: Role) -> set[str]:
    """Names that a role reads."""
    return set(jit.global_names(python_of(role).__code__))


def _filled(role: Role, forms: Sequence[tuple[Form, int]], calls: Sequence[Any], remembers: bool) -> Role:
    """The role with functions of these forms, handed so many numbers, called by these; they may remember results."""
    inside, kernels = _holes(role), dict[str, Any]()
    for (form, count), call in zip(forms, calls, strict=True):
        own, adapted = opaque_of(form), adapters(form)
        wanted = {own.name: adapted.at_rest if remembers else adapted.kernel}
        wanted |= {own.slopes.name: adapted.slopes} if own.slopes else {}
        kernels |= {name: jit.bind(one, call=call, COUNT=count) for name, one in wanted.items() if name in inside}
    return jit.bind(role, **kernels)


@lru_cache(jit.KEPT_KERNELS)
def _compiled(role: Role, signature: Any, users: tuple[Any, ...], remembers: bool, how: str) -> tuple[Any, str]:
    """The role with functions that are compiled as they are at present: (role, "") or (None, reason)."""
    calls = [jit.bind(adapters(form).ask, user=compilable(one.function), vector=VECTORS[how]) for one, form, _ in users]
    return jit.compile_uncached(_filled(role, [one[1:] for one in users], calls, remembers), signature)


def behind(role: Role, signature: Any, users: Sequence[UserFunction], remembers: bool) -> Role:
    """The role with functions that are called in plain Python."""
    forms, read = [(one.form, len(one.parameters)) for one in users], list[Callable[..., None]]()
    calls = [once(one.checked) if one.form.what == "command" else one.checked for one in users]
    if jit.disabled():
        return _filled(role, forms, calls, remembers)
    asked = [jit.bind(adapters(form).python, NUMBER=k) for k, (form, _) in enumerate(forms)]
    for call, (form, count) in zip(calls, forms, strict=True):
        handed, wanted = (cast(Any, c_double * n) for n in (count, form.count_wanted))
        numbers = lru_cache(64)(lambda address, handed=handed: np.frombuffer(handed.from_address(address)))
        read.append(adapters(form).behind(call, numbers, lru_cache(64)(wanted.from_address)))
    return jit.closed(_filled(role, forms, asked, remembers), signature, read)


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is not called again for what it was called with last: a row asks for what the step that begins
    there has set, or will."""

    @lru_cache(1)
    def called(t: float, *given: bytes) -> Any:
        return function(t, *map(np.frombuffer, given))

    return lambda t, *given: called(t, *(np.asarray(one, dtype=float).tobytes() for one in given))


# ------------------------------------------------------------------ the choice
@dataclass(frozen=True, eq=False)
class Called:
    """The functions of users in a role of a system: in its loads and its potential, in a controller, in events."""

    users: Mapping[str, UserFunction]  # by their names
    no_programs: tuple[str, ...]  # names of those that the roles of the system call as they are
    # ``as_they_are() -> loads, potential``, the roles in which all of them are called
    as_they_are: Callable[[], tuple[Any, Any]]
    alone: bool = False  # whether there is one function and nothing else
    table: Array | None = None  # that of events

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
        return Dynamics(Graph(), N, reason=self.users[self.no_programs[0]].traced.reason)

    @property
    def by_differences(self) -> str:
        """What is to be said of loads that are differences of a potential; empty where they are not."""
        user = self.users.get("potential")
        if user is None or "potential" not in self.no_programs or not user.untraced:
            return ""
        count = 3 * 2 * len(STENCIL) * len(user.form.taken)
        return f"loads are differences of {count} potentials, with errors from 1e-13 on, because {user.untraced}"

    def check(self, t: float, y: Array, system: System) -> None:
        """Say what is wrong with what a function returns at a state."""
        for one in self.users.values():
            _trial(one, [(t, y)], system)

    def compiled(self, role: Role, signature: Any, t: float, y: Array, system: System) -> Role | None:
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
        known = [bool(_agreed(role, one.looked.but_numbers)) and not one.looked.opaque for one in users]
        states = [(t, y)]
        states += [] if all(known) else near(t, y, system)
        trials = [_trial(one, states[:1] if tried else states, system) for one, tried in zip(users, known, strict=True)]
        if jit.disabled():
            return self.bridge(signature) if self._as_they_are_in(role) else None
        called = self._as_they_are_in(role)
        if not all(tried or one in called or _agrees(role, one, trial)
                   for one, tried, trial in zip(users, known, trials, strict=True)):  # fmt: skip
            role = self.as_they_are()[signature is POTENTIAL]
        called = [one for one in self._as_they_are_in(role) if one in users]
        states = states if len(states) > 1 else [*states, *near(t, y, system)]
        return self._as_it_is(role, signature, called, states, system, fresh) if called else None

    def _as_they_are_in(self, role: Role) -> list[UserFunction]:
        """The functions that a role calls as they are."""
        inside = _holes(role)
        names = ((one, opaque_of(one.form)) for one in self.users.values())
        return [one for one, own in names if own.name in inside or (own.slopes and own.slopes.name in inside)]

    def _as_it_is(
        self, role: Role, signature: Any, users: list[UserFunction], states: States, system: System,
        fresh: list[UserFunction],
    ) -> Role:  # fmt: skip
        made = behind(role, signature, users, self.remembers)
        expected = self._values(made, signature, states, system, True)
        reason = next((why for one in reversed(users) if (why := one.uncompiled)), "")
        told = self.by_differences if signature is LOADS else ""
        for how in VECTORS if not reason else ():
            kept = tuple((one.made, one.form, len(one.parameters)) for one in users)
            compiled, why = _compiled(role, signature, kept, self.remembers, how)
            reason = why or reason
            if compiled is not None and _agree(self._values(compiled, signature, states, system), expected):
                if told and fresh:
                    errors.warn(told, SlowFunctionWarning)
                return compiled
        made = self._bridge(role, signature, users)
        start = time.perf_counter()
        self._values(made, signature, states[:1] * 20, system)
        each = (time.perf_counter() - start) / 20
        for one in users:
            why, untraced = reason or "compiled it returned other numbers", one.traced.reason
            if untraced not in ("", why):
                why = f"tracing: {untraced}; compiling: {why}"
            slower = max(1, round(each / TYPICAL_COMPILED_CALL))
            if one in fresh:
                errors.warn(f"{one.described} could not be compiled and runs as Python: about {each * 1e6:.1f} us a "
                            f"call, some {slower} times slower ({why})" + (f"; {told}" if told else ""),
                            SlowFunctionWarning)  # fmt: skip
        return made

    def _values(self, role: Role, signature: Any, states: States, system: System, whole: bool = False) -> list[Any]:
        """What a role writes at states; None where it raises, but of a ``whole`` list at the first."""
        found, parameters, bodies = list[Any](), system.with_memory, system.bodies
        size = {POTENTIAL: 1, EVENT: 0 if self.table is None else int(self.table[0])}.get(
            signature, L.LOAD + len(system.auxiliary)
        )
        for t, y in states:
            out, table = np.zeros(size), (self.table,) if signature is EVENT else ()
            try:
                one_call[signature](role, t, y, bodies, parameters, *table, out)
            except Exception:
                if whole and not found:
                    raise
                found.append(None)
            else:
                found.append(out)
        return found

    def bridge(self, signature: Any) -> Role:
        """The role in which all functions are called as Python, and every result is checked."""
        return self._bridge(self.as_they_are()[signature is POTENTIAL], signature, self.among(signature))

    def _bridge(self, role: Role, signature: Any, users: list[UserFunction]) -> Role:
        return behind(role, signature, users, self.remembers)


def _agree(found: list[Any], expected: list[Any]) -> bool:
    size = max(np.abs(one).max() for one in expected if one is not None)
    return all(a is not None and np.abs(a - b).max() <= 1e-9 * size
               for a, b in zip(found, expected, strict=True) if b is not None)  # fmt: skip


def near(t: float, y: Array, system: System) -> States:
    """Two generic times and states of the one body of a system near the given one."""
    found, bodies, count = [], system.bodies, len(system.auxiliary)
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


def _trial(user: UserFunction, states: States, system: System) -> list[tuple[float, dict[str, Any], Any]]:
    """Times, what a function is given, and what it returns as plain Python; raises what it raises at the first."""
    found = []
    for k, (t, y) in enumerate(states):
        seen = seen_at(user, y, system)
        given = [seen[name] for name in user.form.names[1:]]
        try:
            with np.errstate(all="ignore" if k else None):  # nobody asked for other states than the first
                result = user.checked(t, *given)
        except errors.UserFunctionError:
            if k == 0:
                raise
            continue
        found.append((t, seen, np.ravel(result)))
    return found


def seen_at(user: UserFunction, y: Array, system: System) -> dict[str, Any]:
    """What a function of the first body sees of a state."""
    at, bodies = L.BODY + system.read_from, system.bodies
    w, a, b, c = map(float, bodies[L.CONSTANTS : L.CONSTANTS + 4])
    q, omega = y[L.ATTITUDE : L.ATTITUDE + 4], y[L.ANGULAR : L.ANGULAR + 3]
    omega = bodies[L.INVERSE_INERTIA : L.INVERSE_INERTIA + 3] * omega
    if (w, a, b, c) != (1.0, 0.0, 0.0, 0.0):
        q, omega = multiply(tuple(q), (w, -a, -b, -c)), rotate((w, a, b, c), tuple(omega))
    return {
        "position": y[L.POSITION : L.POSITION + 3], "q": np.array(q), "omega": np.array(omega),
        "velocity": bodies[L.INVERSE_MASS] * y[L.MOMENTUM : L.MOMENTUM + 3], "parameters": user.parameters,
        "states": y[at : at + user.form.count],
    }  # fmt: skip


@lru_cache(jit.KEPT_KERNELS)
def _agreed(role: Role, made: Any) -> list[bool]:
    """Whether a function, whatever numbers it reads, has given the numbers of its program in a role; filled then."""
    return []


def _agrees(role: Role, user: UserFunction, trial: list[tuple[float, dict[str, Any], Any]]) -> bool:
    """Whether the program of a function gives its numbers."""
    if (program := user.traced.program) is None:
        return False
    size = max([np.abs(wanted).max() for _, _, wanted in trial])
    for t, seen, wanted in trial:
        given = spread(t=t, **{key: seen[name] for name, (key, _) in INPUTS.items() if name != "t"},
                       p=seen["parameters"], s=seen["states"])  # fmt: skip
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
    _agreed(role, user.looked.but_numbers)[:] = [True]
    return True
