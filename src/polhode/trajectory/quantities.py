"""What follows from recorded states body by body, of one run or of many members: one compiled loop over all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.quaternion import conjugate, multiply, rotate
from polhode.algebra.short_rows import all_of, any_of
from polhode.algebra.so3 import add, cross
from polhode.arguments import Array
from polhode.kernel import jit, layout as L, many
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import pointer
from polhode.kernel.many import write_energies
from polhode.kernel.signatures import BALANCE, OF_RUN, QUANTITIES, TURNED

LARGE = 0.1  # error over the scale from which on a run warns
BEYOND = 100.0
"""Error over what else there was from which on a run counts as blown up; steps that are merely large stay below 1."""
ROUNDING = 2.0**-40  # error over the energy of the start up to which it is taken for rounding of the energies
FLOAT = np.dtype(float)


class Constants(NamedTuple):
    """The constants of the bodies of M members."""

    mass: Array  # (M, N): masses; infinite for pinned bodies
    moments: Array  # (M, N, 3): principal moments; infinite about axes that a body does not turn about
    frames: Array  # (M, N, 4): quaternions from each principal frame to the user's body frame
    parameters: Array  # (M, P): parameters of the roles, with the scratch memory behind them
    # (M, 3) or None: the symmetry axes (user's frame), of systems whose axial angular momentum is conserved
    axis: Array | None = None

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
    flags = values.flags
    here = values.dtype == FLOAT and flags.c_contiguous and flags.writeable
    return values if here else np.require(values, float, ["C", "W"])


class OfBodies(NamedTuple):
    """What follows from states (..., 13 N or more): arrays (..., N, 4) and (..., N, 3), and (...) of all bodies."""

    attitude: Array
    angular_momentum: Array
    angular_velocity: Array
    velocity: Array
    angular_momentum_space: Array
    kinetic_energy: Array


@jit.loop(QUANTITIES)
def quantities_of_rows(rows, per, mass, moments, frames, attitude, angular, omega, velocity, spatial, kinetic):
    """Write what follows from each row; ``per`` rows belong to each member, in order."""
    N = mass.shape[1]
    for k in range(rows.shape[0]):
        j = k // per
        y = pointer(rows[k])
        for i in range(N):
            b = L.BODY * i
            frame, q, m = get4(pointer(frames[j, i]), 0), get4(y, b + L.ATTITUDE), get3(y, b + L.ANGULAR)
            r, p, inertia = get3(y, b + L.POSITION), get3(y, b + L.MOMENTUM), get3(pointer(moments[j, i]), 0)
            w = (m[0] / inertia[0], m[1] / inertia[1], m[2] / inertia[2])
            v = (p[0] / mass[j, i], p[1] / mass[j, i], p[2] / mass[j, i])
            turned, mine = multiply(q, conjugate(frame)), rotate(frame, m)
            put4(pointer(attitude[k, i]), 0, turned)
            put3(pointer(angular[k, i]), 0, mine)
            put3(pointer(omega[k, i]), 0, rotate(frame, w))
            put3(pointer(velocity[k, i]), 0, v)
            put3(pointer(spatial[k, i]), 0, add(rotate(turned, mine), cross(r, p)))
            moving = p[0] * v[0] + p[1] * v[1] + p[2] * v[2]
            kinetic[k, i] = 0.5 * moving + 0.5 * (m[0] * w[0] + m[1] * w[1] + m[2] * w[2])


@jit.loop(TURNED)
def turned_rows(rows, first, per, frames, attitude, angular):
    """Write the attitude and the angular momentum in the users' frames of numbers that stand in each row, from the
    first on, as those of bodies do."""
    for k in range(rows.shape[0]):
        for i in range(frames.shape[1]):
            frame, b, y = get4(pointer(frames[k // per, i]), 0), first + L.BODY * i, pointer(rows[k])
            put4(pointer(attitude[k, i]), 0, multiply(get4(y, b + L.ATTITUDE), conjugate(frame)))
            put3(pointer(angular[k, i]), 0, rotate(frame, get3(y, b + L.ANGULAR)))


def of_bodies(states: Array, constants: Constants) -> OfBodies:
    """What follows from the states of M members, at n rows each."""
    rows, mass, moments, frames = map(writable, (states, *constants[:3]))
    K, (M, N) = len(rows), mass.shape
    kinetic, of = np.empty((K, N)), (K, N, 3)
    made = [np.empty((K, N, 4)), np.empty(of), np.empty(of), np.empty(of), np.empty(of)]
    quantities_of_rows(rows, max(1, K // M), mass, moments, frames, *made, kinetic)
    return OfBodies._make((*made, kinetic[:, 0] if N == 1 else kinetic.sum(axis=1)))


@jit.inlined
def above(top, one):
    """The larger of two numbers; NaN where one of them is."""
    return one if top == top and not top >= one else top


@jit.loop(BALANCE)
def balance_of_rows(kinetic, potential, work, before, begins, energy, change, error, largest, first, worst):
    """Write the balance of each run j from energies of its rows, run after run, and ``work`` [row, f]; ``potential`` is
    empty where there is none, and ``before`` [j] is the largest of rows that were between the first and the second.

    What explodes must not be its own scale: for that the kinetic energy is counted as at the start, all else as it is,
    and the error has to be beyond its largest so far, too. One crude step has hardly changed the potential yet: in the
    row after the start (the second here, if it ``begins``) the energy of the start counts besides. From rest, that row
    tells nothing. An error that is no more than rounding of the energies themselves is none.
    """
    n, P = kinetic.size // max(1, worst.size), min(1, potential.size)
    for j in range(worst.size):
        begin = j * n
        first[j, 0], first[j, 1], worst[j] = n, n, 0.0
        for k in range(n):
            row = begin + k
            energy[row] = kinetic[row] + potential[row] if P else kinetic[row]
            change[row] = energy[row] - energy[begin]
            done, scale, there, others = 0.0, 0.0, 0.0, 0.0
            for i in range(largest.shape[1]):
                size = kinetic[row]
                if i > P:
                    more = work[row, i - 1 - P] - work[begin, i - 1 - P]
                    size, done = abs(more), done + more
                elif i > 0:
                    size = abs(potential[row] - potential[begin])
                top = size if k == 0 else above(largest[j, i], size)
                largest[j, i] = above(top, before[j, i]) if k == 1 else top
                scale += largest[j, i]
                if i > 0:
                    there, others = there + size, others + largest[j, i]
            off = change[row] - done
            error[row] = 0.0 if scale == 0.0 else off / scale
            off, there = abs(off), kinetic[begin] + there
            if off <= ROUNDING * abs(energy[begin]):
                off = 0.0
            if k == 1 and begins:
                off, there = off * float(kinetic[begin] != 0.0), there + abs(energy[begin])
            if first[j, 0] == n and not off <= above(BEYOND * there, others):
                first[j, 0] = k
            if first[j, 1] == n and not off <= LARGE * scale:
                first[j, 1] = k
            worst[j] = above(worst[j], off)


quantities, potentials, balances = (
    jit.helper(one.__wrapped__) for one in (quantities_of_rows, many.potential_energies, balance_of_rows)
)


@jit.loop(OF_RUN)
def rows_of_run(
    times, rows, mass, moments, frames, attitude, angular, omega, velocity, spatial, kinetic, of, own, address,
    potential, virials, work, before, total, energy, change, error, largest, first, worst,
):  # fmt: skip
    """All that follows from the rows of one body, or of that of each run; ``total`` is the memory of ``kinetic``."""
    n = rows.shape[0]
    quantities(rows, n // mass.shape[0], mass, moments, frames, attitude, angular, omega, velocity, spatial, kinetic)
    if potential.size > 0:
        potentials(times, rows, n // of.shape[0], of, own, address, potential, virials)
    balances(total, potential, work, before, True, energy, change, error, largest, first, worst)


def potential_energies(times: Array, states: Array, constants: Constants, potential: Callable[..., Any]) -> Array:
    """Potential energies (M n) of states (M n, 13 N or more) at times (M n), by the compiled role POTENTIAL."""
    found, parameters = np.zeros(len(states)), np.array(constants.parameters, dtype=float)
    write_energies(writable(times), writable(states), constants.bodies, parameters, potential, found)
    return found
