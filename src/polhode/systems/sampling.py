"""What controllers do in a system: rows of a table in its parameters, and functions behind its loads.

The compiled loads answer the part SAMPLE + k with the new values of the states that function k sets, in the places of
their rates; ``kernel.sampling`` asks for them at sampling times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.arguments import Array
from polhode.errors import UserFunctionError
from polhode.kernel import jit, layout as L
from polhode.kernel.sampling import SLACK
from polhode.kernel.signatures import LOADS
from polhode.systems.loads_roles import compiled_with
from polhode.systems.user.chosen import Called
from polhode.systems.user.function import one_call

if TYPE_CHECKING:
    from polhode.systems.controllers import Controller
    from polhode.systems.record import System

plain_loads = jit.hole("plain_loads(part, t, N, y, bodies, parameters, out)", "The loads.")
command = jit.hole("command(part, t, N, y, bodies, parameters, out)", "What sets states.")
number = jit.hole("number", "The part that asks for it.")


def loads_or_command(part, t, N, y, bodies, parameters, out):
    """The loads; under one part the new values of states."""
    if part == number:
        command(part, t, N, y, bodies, parameters, out)
    else:
        plain_loads(part, t, N, y, bodies, parameters, out)


@dataclass(frozen=True, eq=False)
class CommandProgram:
    """A controller, as runs ask for it. Its role is called as loads, and writes the new values behind the 6 N numbers
    of the loads, where the rates of these states would stand."""

    controller: Controller  # it, with what it sets
    role: Callable[..., Any]  # its program
    sizes: tuple[int, int]  # how many bodies and auxiliary variables there are
    at: Mapping[str, Sequence[int]]  # numbers of the auxiliary variables that it sets
    parameters: Array  # parameters of the system
    called: Called | None = None  # the function of one that is handed to a builder

    def values(self, t: float, y: Array, bodies: Array, parameters: Array) -> dict[int, float]:
        """What it sets at a state, by places in the state."""
        N, count = self.sizes
        out, found = np.zeros(L.LOAD * N + count), dict[int, float]()
        one_call[LOADS](jit.compile_kernel(self.role, LOADS), t, y, bodies, np.array(parameters), out)
        for name in (*self.controller.sets, *self.controller.keeps):
            values = out[[L.LOAD * N + k for k in self.at[name]]]
            if not np.isfinite(values).all():
                raise UserFunctionError(f"{self.controller.described} sets {name!r} to {values} at t = {t:g}; every "
                                        "number must be finite", time=t)  # fmt: skip
            found |= {L.BODY * N + k: float(x) for k, x in zip(self.at[name], values, strict=True)}
        return found


@dataclass(frozen=True, eq=False)
class Sampled:
    """A row of the table: a controller, or what sets its states with a delay."""

    every: float  # every, phase: time between samples, and a sampling time
    phase: float
    command: CommandProgram | None  # the function; None of a row without: what is set with a delay, noise, valves
    pulses: bool = False  # whether it opens valves, which close between samples

    def after(self, t: float) -> float:
        """The first sampling time after this one."""
        k = floor((t - self.phase) / self.every + 0.5)
        at = self.phase + k * self.every
        return at if at > t else self.phase + (k + 1) * self.every

    def on_grid(self, t0: float, h: float, final: float) -> bool:
        """Whether all sampling times of a run are starts of its steps, to the round-off of times."""
        k, m = round(self.every / h), round((self.phase - t0) / h)
        if k < 1:
            return False
        off = abs(self.phase - (t0 + m * h)) + abs(self.every - k * h) * (1.0 + abs(final - self.phase) / self.every)
        return off <= SLACK / 4.0 * max(abs(t0), abs(final), abs(self.phase), self.every)


def cut_by(sampled: Sequence[Sampled], t0: float, h: float | None, final: float) -> tuple[Sampled, ...]:
    """Those whose sampling times cut the steps of a run: of size h, or chosen ones."""
    return tuple(one for one in sampled if h is None or not one.on_grid(t0, h, final))


@lru_cache(jit.KEPT_KERNELS)
def _compiled(loads: Callable[..., Any], commands: tuple[Any, ...], cached: bool) -> Callable[..., Any]:
    apart = jit.disabled() or any(hasattr(one, "behind") for one in (loads, *commands))
    role = _answering(loads, commands, compiled_with if apart else jit.bind)
    return role if apart else jit.compile_kernel(role, LOADS) if cached else jit.compile_uncached(role, LOADS)[0]


def _answering(loads: Any, commands: Iterable[Any], bound: Callable[..., Any] = jit.bind) -> Callable[..., Any]:
    """Loads that answer the parts SAMPLE + k by these roles; a template."""
    for k, one in enumerate(commands):
        loads = bound(loads_or_command, plain_loads=loads, command=one, number=L.SAMPLE + k)
    return loads


def _commands(sampled: Sequence[Sampled]) -> list[CommandProgram]:
    """The functions, in the order of their numbers."""
    return [one.command for one in sampled if one.command is not None]


def with_commands(
    loads: Callable[..., Any], sampled: Sequence[Sampled], made: Callable[[Called, Any], Any]
) -> Callable[..., Any]:
    """Compiled loads that answer for controllers, too; ``made`` compiles the role of one that calls a function."""
    commands = _commands(sampled)
    roles = [made(one.called, one.role) if one.called else None for one in commands]
    together = tuple(role or one.role for one, role in zip(commands, roles, strict=True))
    return _compiled(loads, together, not any(roles)) if commands else loads


def untraced(sampled: Sequence[Sampled]) -> str:
    """Which function is no program, and why; empty where all are programs."""
    users = (user for one in _commands(sampled) if one.called for user in one.called.users.values())
    return next((told for user in users if (told := user.untraced)), "")


def loads_for_programs(loads: Callable[..., Any], sampled: Sequence[Sampled]) -> Callable[..., Any]:
    """The same of functions that are programs, as a template, for kernels with derivatives or over lanes."""
    return _answering(loads, (one.role for one in _commands(sampled)))


def check_commands(system: System, t: float, y: Array, bodies: Array) -> None:
    """Say by a UserFunctionError what is wrong with what controllers set where it is their sampling time."""
    for one in system.sampled:
        at = one.phase + one.every * floor((t - one.phase) / one.every + 0.5)
        if one.command is None or abs(t - at) > SLACK * max(abs(t), abs(one.phase), one.every):
            continue
        if one.command.called:
            one.command.called.check(at, y, system)
        else:
            one.command.values(at, y, bodies, one.command.parameters)
