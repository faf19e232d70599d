"""The attraction of point masses, all on each other: a core of loads; see ``gravitating_bodies``."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np

from polhode.algebra.so3 import axpy, dot, scale
from polhode.bodies.body import Body
from polhode.errors import InvalidInput
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import inlined
from polhode.loads import Load
from polhode.systems.between_orbits import between_orbits, commutator_between_orbits, memory_of, tables
from polhode.systems.core import Core

# parameters: mu of each body; from N, of the first i + 1 bodies together; from 2 N, the body's share of that; from 3 N,
# G, or 0 of a test particle; from 4 N, the tables of ``between_orbits``, and its scratch memory


@inlined
def pulls(i, j, N, bodies, parameters):
    """What the pair attracts body i with and what body j, as forces times the square of their distance."""
    masses = bodies[L.CONSTANTS * i + L.MASS] * bodies[L.CONSTANTS * j + L.MASS]
    return parameters[3 * N + j] * masses, parameters[3 * N + i] * masses


@inlined
def both_test(i, j, N, parameters):
    """Whether both are test particles. A program traced from the loads is that of these, for any masses."""
    return parameters[3 * N + i] == 0.0 and parameters[3 * N + j] == 0.0


@inlined
def inverse_cube(square):
    """The power -3/2."""
    return 1.0 / (square * sqrt(square))


@inlined
def add_pair(i, j, on_i, on_j, w, out):
    """Add on_i w to the force on body i and -on_j w to that on body j."""
    put3(out, L.LOAD * i, axpy(on_i, w, get3(out, L.LOAD * i)))
    put3(out, L.LOAD * j, axpy(-on_j, w, get3(out, L.LOAD * j)))


def gravity_loads(part, t, N, y, bodies, parameters, out):
    """Forces of all pairs, under WITHOUT_SOLVED what is left beside the orbits in Jacobi coordinates; under COMMUTATOR
    the pair sums of 2 mu_i m_j D(d) (a_j - a_i), with D the derivative of d / |d|^3."""
    if N == 2 and part in (L.WITHOUT_SOLVED, L.COMMUTATOR_OF_REST):
        for k in range(2 * L.LOAD):
            out[k] = 0.0
        return
    if part == L.COMMUTATOR_OF_REST:
        commutator_between_orbits(N, y, bodies, parameters, out)
        return
    if part == L.WITHOUT_SOLVED:
        between_orbits(N, y, bodies, parameters, out)
        return
    for i in range(N):
        put3(out, L.LOAD * i, (0.0, 0.0, 0.0))
        put3(out, L.LOAD * i + 3, (0.0, 0.0, 0.0))
    for i in range(N):
        for j in range(i):
            if both_test(i, j, N, parameters):
                continue
            on_i, on_j = pulls(i, j, N, bodies, parameters)
            d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
            k = inverse_cube(dot(d, d))
            add_pair(i, j, k * on_i, k * on_j, d, out)
    if part == L.COMMUTATOR:
        # The slots of the torques hold the accelerations until the pairs are done.
        for i in range(N):
            put3(out, L.LOAD * i + 3, scale(bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(out, L.LOAD * i)))
            put3(out, L.LOAD * i, (0.0, 0.0, 0.0))
        for i in range(N):
            for j in range(i):
                if both_test(i, j, N, parameters):
                    continue
                on_i, on_j = pulls(i, j, N, bodies, parameters)
                d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
                w = axpy(-1.0, get3(out, L.LOAD * i + 3), get3(out, L.LOAD * j + 3))
                square = dot(d, d)
                k = 2.0 * inverse_cube(square)
                add_pair(i, j, k * on_i, k * on_j, axpy(-3.0 * dot(d, w) / square, d, w), out)
        for i in range(N):
            put3(out, L.LOAD * i + 3, (0.0, 0.0, 0.0))


def gravity_potential(t, N, y, bodies, parameters):
    """Sum of -G m_i m_j / |d| over all pairs."""
    total = 0.0
    for i in range(N):
        for j in range(i):
            if both_test(i, j, N, parameters):
                continue
            d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
            total -= parameters[i] * bodies[L.CONSTANTS * j + L.MASS] / sqrt(dot(d, d))
    return total


CONSERVES = ("energy", "total_momentum", "total_angular_momentum")


def numbers_of(mu: Any, G: Any) -> Any:
    """The parameters of these gravity parameters and constants of gravitation, 0 of a test particle."""
    together = np.cumsum(mu)
    return np.concatenate([mu, together, mu / together, G, tables(mu)])


def gravitation(bodies: Sequence[Body], load: Load) -> Core:
    """The core of these bodies."""
    for one in bodies:
        if not isfinite(one.mass):
            raise InvalidInput(f"load {load.name!r} is the attraction of all bodies on each other, but {one.name!r} is "
                               "pinned; say with .on which two attract each other")  # fmt: skip
    if len(bodies) < 2:
        raise InvalidInput(f"load {load.name!r} is the attraction of bodies on each other, but there is one; give "
                           "another, or polhode.loads.central(mu)")  # fmt: skip
    G = float(load.parameters["G"])
    mu = G * np.array([one.mass for one in bodies])
    numbers = np.concatenate([numbers_of(mu, np.full(len(mu), G)), np.zeros(memory_of(len(mu)))])
    points = not any(isfinite(one) for body in bodies for one in body.moments)
    provides = {"velocity_independent"} | ({"mutual_gravity"} if points else set())
    return Core(gravity_loads, gravity_potential, numbers, frozenset(provides), CONSERVES)
