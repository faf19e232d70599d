"""What follows from recorded states body by body, of one run or of many members at once: one compiled loop over rows.

Attitudes in the users' frames, momenta, velocities and kinetic energies of all rows of all members come from one call
of a kernel, so that neither rows nor members cost any Python.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.quaternion import conjugate, multiply, rotate, rotate_inverse
from polhode.algebra.short_rows import all_of, any_of
from polhode.algebra.so3 import add, axpy, cross, dot
from polhode.arguments import Array
from polhode.kernel import jit, layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import numbers_at, pointer
from polhode.kernel.many import write_energies
from polhode.kernel.signatures import LOAD_CHANGES, LOADS, QUANTITIES

loads_at = jit.function_at(LOADS)


class Constants(NamedTuple):
    """The constants of the bodies of M members."""

    mass: Array  # (M, N): masses; infinite for pinned bodies
    moments: Array  # (M, N, 3): principal moments; infinite about axes that a body does not turn about
    frames: Array  # (M, N, 4): quaternions from each principal frame to the user's body frame
    parameters: Array  # (M, P): parameters of the roles, with the scratch memory behind them
    # (M, 3) or None: the symmetry axes (user's frame), of systems whose axial angular momentum is conserved
    axis: Array | None = None

    @classmethod
    def alone(cls, *of_system: Array | None) -> Constants:
        """Those of one member, from ``System.for_kernels``."""
        return cls._make(None if one is None else one[None] for one in of_system)

    @property
    def bodies(self) -> Array:
        """What kernels read of the bodies of each member, (M, 12 N): as ``System.bodies``."""
        turns = np.isfinite(self.moments)
        thin = any_of(turns) & ~all_of(turns)
        moments = np.where(thin[..., None] & ~turns, 0.0, self.moments)
        with np.errstate(divide="ignore"):
            parts = [self.mass[..., None], moments, 1.0 / self.mass[..., None], 1.0 / self.moments]
        of_bodies = np.concatenate(parts, axis=-1)
        M = len(self.mass)
        return np.ascontiguousarray(np.concatenate([of_bodies.reshape(M, -1), self.frames.reshape(M, -1)], axis=1))


def writable(values: Array) -> Array:
    """The numbers as kernels take arrays: themselves where they are in order and can be written."""
    here = values.dtype == float and values.flags.c_contiguous and values.flags.writeable
    return values if here else np.require(values, float, ["C", "W"])


class OfBodies(NamedTuple):
    """What follows from states (..., 13 N or more): arrays (..., N, 4) and (..., N, 3), and (...) of all bodies."""

    attitude: Array
    angular_momentum: Array
    angular_velocity: Array
    velocity: Array
    angular_momentum_space: Array
    kinetic_energy: Array


def quantities_of_rows(rows, per, mass, moments, frames, attitude, angular, omega, velocity, spatial, kinetic):
    """Write what follows from each row; ``per`` rows belong to each member, in order."""
    N = mass.shape[1]
    for k in range(rows.shape[0]):
        j = k // per
        y, own, frame_of = pointer(rows[k]), pointer(moments[j]), pointer(frames[j])
        for i in range(N):
            b = L.BODY * i
            frame, q, m = get4(frame_of, 4 * i), get4(y, b + L.ATTITUDE), get3(y, b + L.ANGULAR)
            r, p, inertia = get3(y, b + L.POSITION), get3(y, b + L.MOMENTUM), get3(own, 3 * i)
            w = (m[0] / inertia[0], m[1] / inertia[1], m[2] / inertia[2])
            v = (p[0] / mass[j, i], p[1] / mass[j, i], p[2] / mass[j, i])
            turned, mine = multiply(q, conjugate(frame)), rotate(frame, m)
            put4(pointer(attitude[k]), 4 * i, turned)
            put3(pointer(angular[k]), 3 * i, mine)
            put3(pointer(omega[k]), 3 * i, rotate(frame, w))
            put3(pointer(velocity[k]), 3 * i, v)
            put3(pointer(spatial[k]), 3 * i, add(rotate(turned, mine), cross(r, p)))
            moving = p[0] * v[0] + p[1] * v[1] + p[2] * v[2]
            kinetic[k, i] = 0.5 * moving + 0.5 * (m[0] * w[0] + m[1] * w[1] + m[2] * w[2])


@functools.cache
def _loop() -> Callable[..., None]:
    return jit.compile_kernel(quantities_of_rows, QUANTITIES)


def of_bodies(states: Array, constants: Constants) -> OfBodies:
    """What follows from the states of M members, at n rows each."""
    rows = writable(states)
    K, (M, N) = len(rows), constants.mass.shape
    attitude, kinetic = np.empty((K, 4 * N)), np.empty((K, N))
    three = [np.empty((K, 3 * N)) for _ in range(4)]
    flat = [np.array(a, dtype=float).reshape(M, -1) for a in constants[:3]]  # writable, as kernels take arrays
    _loop()(rows, max(1, K // M), *flat, attitude, *three, kinetic)
    energy = kinetic[:, 0] if N == 1 else kinetic.sum(axis=1)
    angular, omega, velocity, spatial = (a.reshape(K, N, 3) for a in three)
    return OfBodies(attitude.reshape(K, N, 4), angular, omega, velocity, spatial, energy)


PART = jit.hole("PART", "The part of the loads.", default=L.ALL)


def load_changes(N, rotates, translates, times, rows, addresses, speed, most_turn, load, out):
    """Write what loads that change between the states of each group make of the motion of N bodies from the first to
    the last of them, at ``times`` (groups, states): of the turn of a body, in rad, where it ``rotates`` (by angular
    acceleration, of torques as they act in space, in the body frame of the first state; infinite where the body turns
    by more than ``most_turn``), or of its way where it ``translates``, relative to that at its own or the usual
    ``speed``; of several bodies the root mean square. Each is that of the worst state, and NaN where a load is not
    finite. The ``addresses`` are those of ``march``, and ``load`` receives the loads of a group.
    """
    loads, bodies, parameters = loads_at(addresses), numbers_at(addresses, 2), numbers_at(addresses, 3)
    group = times.shape[1]
    for g in range(out.size):
        first, turning, pushing, most, here, spin = pointer(rows[g * group]), 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(group):
            y, mine, own = pointer(rows[g * group + j]), pointer(load[j]), pointer(load[0])
            loads(PART, times[g, j], N, y, bodies, parameters, mine)
            turned, pushed, force = 0.0, 0.0, 0.0
            for i in range(N):
                a, b, c = L.BODY * i, L.LOAD * i, L.CONSTANTS * i
                q, light = get4(first, a + L.ATTITUDE), get3(bodies, c + L.INVERSE_INERTIA)
                now = rotate(get4(y, a + L.ATTITUDE), get3(mine, b + 3))
                change = rotate_inverse(q, axpy(-1.0, rotate(q, get3(own, b + 3)), now))
                spun = (light[0] * change[0], light[1] * change[1], light[2] * change[2])
                turned += dot(spun, spun)
                light_mass, there, then = bodies[c + L.INVERSE_MASS], get3(mine, b), get3(own, b)
                difference = axpy(-1.0, then, there)
                pushed += light_mass * dot(difference, difference)
                force += light_mass * dot(there, there)
                if j == 0:
                    p, m = get3(first, a + L.MOMENTUM), get3(first, a + L.ANGULAR)
                    w = (light[0] * m[0], light[1] * m[1], light[2] * m[2])
                    here, spin = here + light_mass * dot(p, p), max(spin, dot(w, w))
            turning = max(turning, turned) + 0.0 * turned
            pushing = max(pushing, pushed) + 0.0 * pushed
            most = max(most, force) + 0.0 * force
        h, told = abs(times[g, group - 1] - times[g, 0]), 0.0
        if rotates:
            told = np.inf if h * sqrt(spin) > most_turn else h * h * sqrt(turning / N)
        if translates:
            moved = h * max(speed, sqrt(here)) + h * h * sqrt(most)
            way = h * h * sqrt(pushing) / moved if moved > 0.0 else 0.0
            told = way if way > told or not rotates else told
        out[g] = told


@functools.cache
def load_loop(part: int = L.ALL) -> Callable[..., None]:
    """The compiled ``load_changes`` of a part of the loads."""
    changes = load_changes if part == L.ALL else jit.bind(load_changes, PART=part)
    return jit.compile_kernel(changes, LOAD_CHANGES)


def potential_energies(times: Array, states: Array, constants: Constants, potential: Callable[..., Any]) -> Array:
    """Potential energies (M n) of states (M n, 13 N or more) at times (M n), by the compiled role POTENTIAL."""
    found, parameters = np.zeros(len(states)), np.array(constants.parameters, dtype=float)
    write_energies(writable(times), writable(states), constants.bodies, parameters, potential, found)
    return found
