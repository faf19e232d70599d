"""What controllers do in a system: rows of a table in its parameters, and functions behind its loads.

The compiled loads answer the part SAMPLE + k with the new values of the states that function k sets, in the places of
their rates; ``kernel.sampling`` asks for them at sampling times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import Any, ClassVar, Protocol

from polhode.errors import InvalidInput
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3
from polhode.kernel.sampling import SLACK
from polhode.kernel.signatures import LOADS
from polhode.kernel.tangent_mode import shifted
from polhode.systems.user import UserFunction
from polhode.systems.user.roles import user_attitude, user_rate, user_velocity
from polhode.systems.user.traced import call_of, program_of

plain_loads = jit.hole("plain_loads(part, t, N, y, bodies, parameters, out)", "The loads.")
command = jit.hole("command(part, t, N, y, bodies, parameters, out)", "What sets states.")
number = jit.hole("number", "The part that asks for it.")
call = jit.hole("call(...) -> numbers", "The function of a controller, as its program.")
states_in = jit.hole("states_in(y) -> numbers", "The numbers of the user's states.")
put_set = jit.hole("put_set(out, numbers)", "Writes the new values of states.")
first = jit.hole("first", "Number of parameters before those of the function.")
turned = jit.hole("turned", "Whether the user's body frame is not the principal one.")


def loads_or_command(part, t, N, y, bodies, parameters, out):
    """The loads; under one part the new values of states."""
    if part == number:
        command(part, t, N, y, bodies, parameters, out)
    else:
        plain_loads(part, t, N, y, bodies, parameters, out)


def command_of_program(part, t, N, y, bodies, parameters, out):
    """New values of states by a program, for kernels with derivatives."""
    v, w = user_velocity(y, bodies), user_rate(y, bodies, turned)
    q = user_attitude(y, bodies, turned)
    put_set(out, call(t, get3(y, L.POSITION), v, q, w, shifted(parameters, first), states_in(y)))


class Command(Protocol):
    """A function that sets states, as runs ask for it. Its roles are called as loads, and write the new values behind
    the 6 N numbers of the loads, where the rates of these states would stand."""

    cached: ClassVar[bool]
    """Whether what is compiled with its role is kept on disk."""

    @property
    def function(self) -> Any:
        """The function that the user wrote."""

    def compile(self, t: float, y: Any, bodies: Any, warn: bool) -> Callable[..., Any]:
        """The role for a compiled loop, tried out at this time and state; whether it warns of slow functions."""

    def bridge(self) -> Callable[..., Any]:
        """The role with the function as plain Python."""

    def for_derivatives(self, name: str) -> Callable[..., Any]:
        """The role for kernels with derivatives, a template; InvalidInput where the system ``name`` has none."""

    def check(self, t: float, y: Any, bodies: Any) -> None:
        """Say by a UserFunctionError what is wrong with what it sets at this time and state."""


@dataclass(frozen=True, eq=False)
class CommandFunction:
    """A function of the form (t, position, velocity, q, omega, parameters, states), of one body."""

    user: UserFunction
    cached: ClassVar[bool] = False

    @property
    def function(self) -> Any:
        """The function that the user wrote."""
        return self.user.function

    def compile(self, t: float, y: Any, bodies: Any, warn: bool) -> Callable[..., Any]:
        """The role for a compiled loop."""
        return self.user.compile(t, y, bodies, warn)

    def bridge(self) -> Callable[..., Any]:
        """The role with the function as plain Python."""
        return self.user.bridge()

    def for_derivatives(self, name: str) -> Callable[..., Any]:
        """The role of its program."""
        one = self.user
        program = program_of(one).program
        if program is None:
            raise InvalidInput(f"runs of {name!r} have no derivatives, because its {one.untraced}")
        access, turns = one.form.access(one.states_at), one.frame != (1.0, 0.0, 0.0, 0.0)
        return jit.bind(  # type: ignore[no-any-return]
            command_of_program, call=call_of(one, program), states_in=access["states_in"], put_set=access["put_set"],
            first=one.first, turned=turns,
        )  # fmt: skip

    def check(self, t: float, y: Any, bodies: Any) -> None:
        """Call the function as plain Python, which says what is wrong."""
        self.user._in_python(t, y, bodies)


@dataclass(frozen=True, eq=False)
class Sampled:
    """A row of the table: a controller, or what sets its states with a delay."""

    every: float  # every, phase: time between samples, and a sampling time
    phase: float
    command: Command | None  # the function; None of a row without: what is set with a delay, noise, valves
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


def with_commands(loads: Any, commands: Sequence[Any]) -> Callable[..., Any]:
    """Loads that answer the parts SAMPLE + k by these roles; a template."""
    for k, one in enumerate(commands):
        loads = jit.bind(loads_or_command, plain_loads=loads, command=one, number=L.SAMPLE + k)
    return loads  # type: ignore[no-any-return]


@lru_cache(jit.KEPT_KERNELS)
def _compiled(loads: Any, commands: tuple[Any, ...], cached: bool) -> Callable[..., Any]:
    role = with_commands(loads, commands)
    return jit.compile_kernel(role, LOADS) if cached else jit.compile_uncached(role, LOADS)[0]  # type: ignore[no-any-return]


def commands_of(sampled: Sequence[Sampled]) -> list[Command]:
    """The functions, in the order of their numbers."""
    return [one.command for one in sampled if one.command is not None]


def compiled_with_commands(
    loads: Any, sampled: Sequence[Sampled], t: float, y: Any, bodies: Any, told: set[int]
) -> Callable[..., Any]:
    """Compiled loads that answer for controllers, whose functions are tried out at this time and state; nothing is said
    of those ``told`` before."""
    commands = commands_of(sampled)
    if not commands:
        return loads  # type: ignore[no-any-return]
    roles = tuple(one.compile(t, y, bodies, id(one.function) not in told) for one in commands)
    told |= {id(one.function) for one in commands}
    return _compiled(loads, roles, all(one.cached for one in commands))


def bridged_with_commands(loads: Any, sampled: Sequence[Sampled]) -> Any:
    """The same with functions that run as plain Python."""
    return _compiled(loads, tuple(one.bridge() for one in commands_of(sampled)), False)


def loads_for_derivatives(loads: Any, sampled: Sequence[Sampled], name: str) -> Any:
    """The same for kernels with derivatives: a template."""
    return with_commands(loads, [one.for_derivatives(name) for one in commands_of(sampled)])


def check_commands(sampled: Sequence[Sampled], t: float, y: Any, bodies: Any) -> None:
    """Call the functions of controllers as plain Python where it is their sampling time."""
    for one in sampled:
        at = one.phase + one.every * floor((t - one.phase) / one.every + 0.5)
        if one.command is not None and abs(t - at) <= SLACK * max(abs(t), abs(one.phase), one.every):
            one.command.check(at, y, bodies)
