"""The roles that call a user's function: templates, into which ``user/function.py`` binds the function.

A template reads time, state and the user's frame, hands them to ``call`` and writes what it returns. Those whose names
end in ``_added`` add it to a built-in role.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.algebra.quaternion import multiply, rotate, rotate_inverse
from polhode.algebra.so3 import add, axpy, dot, scale, times
from polhode.kernel import jit
from polhode.kernel import layout as slots
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import hole, inlined
from polhode.systems.user import states as of_states

user = hole("user(...) -> numbers", "The user's function.")
call = hole("call(...) -> numbers", "The adapter around the user's function.")
rated = hole("rated(...) -> numbers", "The partial time derivative of the user's potential.")
built = hole("built(...)", "The built-in role that the function is added to.")
turned = hole("turned", "Whether the user's body frame is not the principal one.")
count = hole("count", "Number of parameters.")
first = hole("first", "Number of parameters of the built-in role.")
own = hole("own", "Index of the auxiliary variable that is the function's work; -1 without.")
states_in = hole("states_in(y) -> numbers", "The numbers of the user's states.")
put_rates = hole("put_rates(out, numbers)", "Writes their rates.")
no_rates = hole("no_rates(out)", "Writes zeros for their rates.")
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
    cleared: int = 0
    sets: tuple[str, ...] = ()

    @property
    def vectors(self) -> int:
        """Number of vector arguments, those between the time and the parameters."""
        return self.arguments.count(",") - 1 - bool(self.states)

    def with_states(self, sizes: tuple[tuple[str, int], ...], held: int = 0, cleared: int = 0) -> Form:
        """The form of a function that takes states, and returns the rates of those behind the first ``held``, too; of
        the last ``cleared`` numbers of these the role writes zero rates."""
        if not sizes:
            return self
        names, returns = ", ".join(name for name, _ in sizes[held:]), self.returns
        if names:
            returns = f"a tuple: {returns}, then the rate of each state ({names})"
        return Form(self.what, f"{self.arguments}, states", returns, self.numbers, sizes, held, cleared)

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
        """What reads its states, and writes what it returns."""
        at: dict[str, list[int]] = {}
        behind = 0
        for name, size in self.states:
            at[name] = list(range(behind, behind := behind + (size or 1)))
        places = tuple(k for name in self.sets for k in at.get(name, ()))
        return of_states.access(states_at, self.count, 0 if self.sets else self.count_rated, self.cleared, places)

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


@inlined
def effective_torque(T, bodies, i):
    """A torque on body i (principal frame), zero about every axis that the body does not rotate about."""
    j = get3(bodies, slots.CONSTANTS * i + slots.INVERSE_INERTIA)
    return (T[0] if j[0] > 0.0 else 0.0, T[1] if j[1] > 0.0 else 0.0, T[2] if j[2] > 0.0 else 0.0)


@inlined
def principal_torque(T, bodies, turned):
    return effective_torque(rotate_inverse(get4(bodies, slots.CONSTANTS), T) if turned else T, bodies, 0)


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


# ------------------------------------------------------------------ roles that add a function to a built-in one
# For one body. ``built`` is the built-in role, whose parameters come first. Functions that may read velocities belong
# to the velocity-dependent part of the loads. Their power is the rate of auxiliary variable ``own``, unless negative.
@inlined
def add_to(out, bodies, F, T):
    put3(out, 0, add(get3(out, 0), F))
    put3(out, 3, effective_torque(add(get3(out, 3), T), bodies, 0))


def force_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if own >= 0:
        out[slots.LOAD + own] = 0.0
    if part & slots.MOVING != 0:
        p = view(parameters, count)[first:]
        v = user_velocity(y, bodies)
        F = call(t, get3(y, slots.POSITION), v, p)
        add_to(out, bodies, F, (0.0, 0.0, 0.0))
        if own >= 0:
            out[slots.LOAD + own] = dot(F, v)


def torque_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if own >= 0:
        out[slots.LOAD + own] = 0.0
    if part & slots.MOVING != 0:
        p = view(parameters, count)[first:]
        w = user_rate(y, bodies, turned)
        T = call(t, user_attitude(y, bodies, turned), w, p)
        add_to(out, bodies, (0.0, 0.0, 0.0), principal_torque(T, bodies, turned))
        if own >= 0:
            out[slots.LOAD + own] = dot(T, w)


def load_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if own >= 0:
        out[slots.LOAD + own] = 0.0
    if part & slots.MOVING != 0:
        p = view(parameters, count)[first:]
        velocity = user_velocity(y, bodies)
        attitude, rate = user_attitude(y, bodies, turned), user_rate(y, bodies, turned)
        L = call(t, get3(y, slots.POSITION), velocity, attitude, rate, p)
        F, T = (L[0], L[1], L[2]), (L[3], L[4], L[5])
        add_to(out, bodies, F, principal_torque(T, bodies, turned))
        if own >= 0:
            out[slots.LOAD + own] = dot(F, velocity) + dot(T, rate)


def load_with_states_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if part & slots.MOVING != 0:
        p = view(parameters, count)[first:]
        v, w = user_velocity(y, bodies), user_rate(y, bodies, turned)
        q, s = user_attitude(y, bodies, turned), states_in(y)
        L = call(t, get3(y, slots.POSITION), v, q, w, p, s)
        F, T = (L[0], L[1], L[2]), (L[3], L[4], L[5])
        add_to(out, bodies, F, principal_torque(T, bodies, turned))
        if own >= 0:
            out[slots.LOAD + own] = dot(F, v) + dot(T, w)
        put_rates(out, L)
    else:
        if own >= 0:
            out[slots.LOAD + own] = 0.0
        no_rates(out)


def position_gradient_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if own >= 0:
        out[slots.LOAD + own] = 0.0
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
        if own >= 0:
            out[slots.LOAD + own] = rated(t, r, p)


def place_gradient_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if own >= 0:
        out[slots.LOAD + own] = 0.0
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
        if own >= 0:
            out[slots.LOAD + own] = rated(t, r, q, p)


def position_potential_added(t, N, y, bodies, parameters):
    p = view(parameters, count)[first:]
    return built(t, N, y, bodies, parameters) + call(t, get3(y, slots.POSITION), p)


def place_potential_added(t, N, y, bodies, parameters):
    p = view(parameters, count)[first:]
    return built(t, N, y, bodies, parameters) + call(t, get3(y, slots.POSITION), user_attitude(y, bodies, turned), p)


POTENTIALS = (
    position_potential_added, place_potential_added, event_function, event_with_states,
)  # fmt: skip
"""The roles in this file that return one number; all others are loads."""
