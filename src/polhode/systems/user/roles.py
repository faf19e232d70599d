"""The roles that call a user's function: templates, into which ``user/function.py`` binds the function.

A template reads time, state and the user's frame, hands them to ``call`` and writes what it returns: of events and of
controllers; the functions of loads are parts of sums (``acting``).
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.algebra.quaternion import multiply, rotate
from polhode.algebra.so3 import dot, scale, times
from polhode.kernel import jit
from polhode.kernel import layout as slots
from polhode.kernel.access import get3, get4
from polhode.kernel.jit import hole, inlined
from polhode.systems.user import states as of_states

user = hole("user(...) -> numbers", "The user's function.")
call = hole("call(...) -> numbers", "The adapter around the user's function.")
turned = hole("turned", "Whether the user's body frame is not the principal one.")
count = hole("count", "Number of parameters.")
first = hole("first", "Number of parameters before those of the user.")
states_in = hole("states_in(y) -> numbers", "The numbers of the user's states.")
put_set = hole("put_set(out, numbers)", "Writes the new values of states.")
view = hole("view(pointer, length) -> array", "An array on the memory of a pointer.", default=jit.view)


@dataclass(frozen=True)
class Form:
    """One kind of user function: arguments and result as described in messages, and how many numbers it returns."""

    what: str
    arguments: str
    returns: str
    numbers: int
    states: tuple[tuple[str, int], ...] = ()
    held: int = 0
    sets: tuple[str, ...] = ()

    @property
    def vectors(self) -> int:
        """Number of vector arguments, those between the time and the parameters."""
        return self.arguments.count(",") - 1 - bool(self.states)

    def with_states(self, sizes: tuple[tuple[str, int], ...], held: int = 0) -> Form:
        """The form of a function that takes states, and returns the rates of those behind the first ``held``, too."""
        if not sizes:
            return self
        names, returns = ", ".join(name for name, _ in sizes[held:]), self.returns
        if names:
            returns = f"a tuple: {returns}, then the rate of each state ({names})"
        return Form(self.what, f"{self.arguments}, states", returns, self.numbers, sizes, held)

    def takes_states(self, function: Any) -> bool:
        """Whether a function takes one argument more than those of this form without states."""
        try:
            inspect.signature(jit.python_of(function)).bind(*self.arguments.split(","), "states")
        except Exception:  # no function: what it is given to says so
            return False
        return True

    @property
    def rated(self) -> tuple[tuple[str, int], ...]:
        """The states whose rates the function returns, of a controller those that it sets."""
        if self.sets:
            sizes = dict(self.states)
            return tuple((name, sizes.get(name, 0)) for name in self.sets)
        return self.states[self.held :]

    @property
    def adapters(self) -> of_states.Adapters:
        """What calls a function that takes states."""
        return of_states.adapters(self.arguments, self.states, self.held, self.sets)

    def access(self, states_at: int) -> dict[str, Any]:
        """What reads its states, and writes what it sets."""
        at: dict[str, list[int]] = {}
        behind = 0
        for name, size in self.states:
            at[name] = list(range(behind, behind := behind + (size or 1)))
        places = tuple(k for name in self.sets for k in at.get(name, ()))
        return of_states.access(states_at, self.count, places)

    @property
    def count(self) -> int:
        """How many numbers the states have."""
        return sum(size or 1 for _, size in self.states)

    @property
    def count_rated(self) -> int:
        """How many numbers those have whose rates it returns."""
        return sum(size or 1 for _, size in self.rated)


FORMS = {
    "torque": Form("torque", "t, q, omega, parameters", "3 numbers (x, y, z) in the body frame", 3),
    "force": Form("force", "t, position, velocity, parameters", "3 numbers (x, y, z) in the space frame", 3),
    "load": Form(
        "load",
        "t, position, velocity, q, omega, parameters",
        "a force (x, y, z) in the space frame and a torque (x, y, z) in the body frame",
        6,
    ),
    "attitude_potential": Form("potential", "t, q, parameters", "one number", 1),
    "position_potential": Form("potential", "t, position, parameters", "one number", 1),
    "event": Form("event", "t, position, velocity, q, omega, parameters", "one number", 1),
    "place_potential": Form("potential", "t, position, q, parameters", "one number", 1),
}


ENERGIES = ("potential", "reported_energy")
"""Functions that are energies; all others are loads."""
ACTS = {"acts": True}
"""In the record of a potential beside a load. In records that were written before there was ``reported_energy`` it is
missing, and such a potential was only reported."""


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
def user_velocity(y, bodies):
    return scale(bodies[slots.INVERSE_MASS], get3(y, slots.MOMENTUM))


@inlined
def user_rate(y, bodies, turned):
    omega = times(get3(bodies, slots.INVERSE_INERTIA), get3(y, slots.ANGULAR))
    return rotate(get4(bodies, slots.CONSTANTS), omega) if turned else omega


def states_set(part, t, N, y, bodies, parameters, out):
    """Of a controller: the new values of states, where their rates would stand."""
    p = view(parameters, count)[first:]
    v, w = user_velocity(y, bodies), user_rate(y, bodies, turned)
    put_set(out, call(t, get3(y, slots.POSITION), v, user_attitude(y, bodies, turned), w, p, states_in(y)))


def event_function(t, N, y, bodies, parameters):
    velocity = user_velocity(y, bodies)
    attitude, rate = user_attitude(y, bodies, turned), user_rate(y, bodies, turned)
    return call(t, get3(y, slots.POSITION), velocity, attitude, rate, view(parameters, count))


def event_with_states(t, N, y, bodies, parameters):
    velocity, p = user_velocity(y, bodies), view(parameters, count)
    attitude, rate = user_attitude(y, bodies, turned), user_rate(y, bodies, turned)
    return call(t, get3(y, slots.POSITION), velocity, attitude, rate, p, states_in(y))[slots.LOAD]


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


EVENTS = (event_function, event_with_states)
"""The roles in this file that return one number; the other one writes as loads do."""
