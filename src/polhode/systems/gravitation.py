"""The attraction of point masses, all on each other; see ``gravitating_bodies``.

What is left of the forces beside their orbits in Jacobi coordinates: body i orbits the centre of mass R_(i-1) of those
before it at c_i = r_i - R_(i-1); that attraction acts on the pair of i and each j < i as if they were c_i apart
(``flows.jacobi``). What is left of the pair, by which i is accelerated mu_j times and j -mu_i times, is

    d/|d|^3 + c_i/|c_i|^3,     d = r_j - r_i.

Near the first body d = -c_i - e_i with a small e_i = R_(i-1) - r_0, and the sum is computed without cancellation
[battin1999]:

    (c (1 - 1/x) - e/x) / |c|^3,     x = (1 + q)^(3/2),     q = e . (2 c + e) / |c|^2.

The sums over pairs run in lanes: eight bodies are accelerated at once by one after another. What all j < i have in
common is multiplied by the sum of their masses, and what a body has from all behind it is summed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.so3 import axpy, dot, scale
from polhode.arguments import Array
from polhode.bodies.body import Body
from polhode.errors import InvalidInput
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import helper, inlined
from polhode.kernel.simd import below, greater, load8, roots, store8
from polhode.loads import Load
from polhode.systems.record import System

LANES = 8
FIXED = 4
"""N parameters each that are not for this file alone: mu, sums of mu, shares in them, G; then two tables: sums of mu
between the first body and each other one, in a whole number of lanes, and ``OWN``."""
OWN = LANES * (LANES + 1)
"""Length of the table of what is added to the squared distance of a body from itself: row k has FAR in lane k, the last
row is zero."""
FAR = 1e200
PLACE, FROM_CENTRE, APART, PULL, FROM_FIRST, SUM, SPEED, ROWS = 0, 3, 6, 9, 12, 15, 18, 21
"""Rows of the scratch memory, three each: r, c, e (or the change of c), c/|c|^3 (or its change), what is left beside
the first body, accelerations (or their change), displacements; number of rows."""
NOWHERE = 1e-60  # least |c|^2: that of lanes without a body
NEAR = 0.5  # largest |q| for the formula without cancellation


@inlined
def width_of(N):
    """Length of a row: the number of bodies behind the first in whole lanes."""
    return (N + (LANES - 2)) // LANES * LANES


def memory_of(N: int) -> int:
    """Scratch memory behind the parameters."""
    return ROWS * int(width_of(N))


@inlined
def put_row(a, k, width, x):
    """Write a vector to three rows."""
    a[k], a[k + width], a[k + 2 * width] = x[0], x[1], x[2]


@inlined
def get_row(a, k, width):
    """The vector in three rows."""
    return (a[k], a[k + width], a[k + 2 * width])


@inlined
def get_lanes(a, k, width):
    """The vectors of eight bodies in three rows, in lanes."""
    return load8(a, k), load8(a, k + width), load8(a, k + 2 * width)


@inlined
def put_lanes(a, k, width, x, y, z):
    """Write the vectors of eight bodies to three rows."""
    store8(a, k, x)
    store8(a, k + width, y)
    store8(a, k + 2 * width, z)


@inlined
def inverse_cubes(square):
    """The power -3/2, in lanes."""
    return 1.0 / (square * roots(square))


@inlined
def direct(c, e):
    """c/|c|^3 - (c + e)/|c + e|^3."""
    u = axpy(1.0, c, e)
    square, other = dot(c, c), dot(u, u)
    return axpy(1.0 / (square * sqrt(square)), c, scale(-1.0 / (other * sqrt(other)), u))


@helper
def collect(N, factor, memory, width, bodies, parameters, out):
    """Write mass times ``factor`` times the accelerations of all bodies, from the rows SUM, PULL and FROM_FIRST."""
    behind, of_first = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for n in range(1, N):
        i = N - n
        at, mu = memory + i - 1, parameters[i]
        a = axpy(-1.0, behind, get_row(parameters, at + SUM * width, width))
        put3(out, L.LOAD * i, scale(factor * bodies[L.CONSTANTS * i + L.MASS], a))
        put3(out, L.LOAD * i + 3, (0.0, 0.0, 0.0))
        behind = axpy(mu, get_row(parameters, at + PULL * width, width), behind)
        of_first = axpy(-mu, get_row(parameters, at + FROM_FIRST * width, width), of_first)
    put3(out, 0, scale(factor * bodies[L.MASS], of_first))
    put3(out, 3, (0.0, 0.0, 0.0))


@helper
def between_orbits(N, y, bodies, parameters, out):
    """Forces of all pairs without those that hold the bodies on their orbits."""
    p, width = parameters, width_of(N)
    table = FIXED * N
    own = table + width
    memory = own + OWN
    R, e = get3(y, L.POSITION), (0.0, 0.0, 0.0)
    for i in range(1, N):
        r, share, at = get3(y, L.BODY * i + L.POSITION), p[2 * N + i], memory + i - 1
        c = axpy(-1.0, R, r)
        put_row(p, at + PLACE * width, width, r)
        put_row(p, at + FROM_CENTRE * width, width, c)
        put_row(p, at + APART * width, width, e)
        R, e = axpy(share, c, R), axpy(share, c, e)
    for b in range(0, width, LANES):
        x, y1, z = get_lanes(p, memory + FROM_CENTRE * width + b, width)
        u, v, w = get_lanes(p, memory + APART * width + b, width)
        square = greater(x * x + y1 * y1 + z * z, 0.0 * x + NOWHERE)
        k = inverse_cubes(square)
        q = (u * (2.0 * x + u) + v * (2.0 * y1 + v) + w * (2.0 * z + w)) / square
        cube = (1.0 + q) * roots(greater(1.0 + q, 0.0 * q))
        f, g = q * (3.0 + q * (3.0 + q)) / (cube + 1.0), k / cube
        put_lanes(p, memory + PULL * width + b, width, k * x, k * y1, k * z)
        put_lanes(p, memory + FROM_FIRST * width + b, width, g * (f * x - u), g * (f * y1 - v), g * (f * z - w))
        if below(greater(q, 0.0 - q), NEAR) != 255:
            for i in range(b + 1, min(b + LANES + 1, N)):
                at = memory + i - 1
                c, e = get_row(p, at + FROM_CENTRE * width, width), get_row(p, at + APART * width, width)
                if not abs(dot(e, axpy(2.0, c, e))) < NEAR * dot(c, c):
                    put_row(p, at + FROM_FIRST * width, width, direct(c, e))
    for b in range(0, width, LANES):
        inner, at = load8(p, table + b), memory + PULL * width + b
        u, v, w = inner * load8(p, at), inner * load8(p, at + width), inner * load8(p, at + 2 * width)
        at = memory + FROM_FIRST * width + b
        u, v, w = u + p[0] * load8(p, at), v + p[0] * load8(p, at + width), w + p[0] * load8(p, at + 2 * width)
        at = memory + PLACE * width
        x, y1, z = load8(p, at + b), load8(p, at + width + b), load8(p, at + 2 * width + b)
        for j in range(N - 1):
            if p[j + 1] == 0.0:
                continue
            lane = j - b if 0 <= j - b < LANES else LANES
            dx, dy, dz = p[at + j] - x, p[at + width + j] - y1, p[at + 2 * width + j] - z
            k = p[j + 1] * inverse_cubes(dx * dx + dy * dy + dz * dz + load8(p, own + LANES * lane))
            u, v, w = u + k * dx, v + k * dy, w + k * dz
        put_lanes(p, memory + SUM * width + b, width, u, v, w)
    collect(N, 1.0, memory, width, bodies, p, out)


@helper
def commutator_between_orbits(N, y, bodies, parameters, out):
    """Twice the change of the forces in ``out``, those of ``between_orbits``, as each body moves by its acceleration
    by them. What cancels near the first body is small beside the forces by the square of its share."""
    p, width = parameters, width_of(N)
    table = FIXED * N
    own = table + width
    memory = own + OWN
    first, moved = get3(y, L.POSITION), scale(bodies[L.INVERSE_MASS], get3(out, 0))
    R, A = first, moved
    for i in range(1, N):
        r, share, at = get3(y, L.BODY * i + L.POSITION), p[2 * N + i], memory + i - 1
        a = scale(bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(out, L.LOAD * i))
        c, e = axpy(-1.0, R, r), axpy(-1.0, A, a)
        put_row(p, at + PLACE * width, width, r)
        put_row(p, at + SPEED * width, width, a)
        put_row(p, at + FROM_CENTRE * width, width, c)
        put_row(p, at + APART * width, width, e)
        R, A = axpy(share, c, R), axpy(share, e, A)
    for b in range(0, width, LANES):
        x, y1, z = get_lanes(p, memory + FROM_CENTRE * width + b, width)
        u, v, w = get_lanes(p, memory + APART * width + b, width)
        square = greater(x * x + y1 * y1 + z * z, 0.0 * x + NOWHERE)
        k, q = inverse_cubes(square), -3.0 * (x * u + y1 * v + z * w) / square
        px, py, pz = k * (u + q * x), k * (v + q * y1), k * (w + q * z)
        x, y1, z = get_lanes(p, memory + PLACE * width + b, width)
        u, v, w = get_lanes(p, memory + SPEED * width + b, width)
        dx, dy, dz, ex, ey, ez = first[0] - x, first[1] - y1, first[2] - z, moved[0] - u, moved[1] - v, moved[2] - w
        square = greater(dx * dx + dy * dy + dz * dz, 0.0 * x + NOWHERE)
        k, q = inverse_cubes(square), -3.0 * (dx * ex + dy * ey + dz * ez) / square
        fx, fy, fz = k * (ex + q * dx) + px, k * (ey + q * dy) + py, k * (ez + q * dz) + pz
        inner = load8(p, table + b)
        sx, sy, sz = inner * px + p[0] * fx, inner * py + p[0] * fy, inner * pz + p[0] * fz
        at, by = memory + PLACE * width, memory + SPEED * width
        for j in range(N - 1):
            if p[j + 1] == 0.0:
                continue
            lane = j - b if 0 <= j - b < LANES else LANES
            dx, dy, dz = p[at + j] - x, p[at + width + j] - y1, p[at + 2 * width + j] - z
            ex, ey, ez = p[by + j] - u, p[by + width + j] - v, p[by + 2 * width + j] - w
            square = dx * dx + dy * dy + dz * dz + load8(p, own + LANES * lane)
            k, q = p[j + 1] * inverse_cubes(square), -3.0 * (dx * ex + dy * ey + dz * ez) / square
            sx, sy, sz = sx + k * (ex + q * dx), sy + k * (ey + q * dy), sz + k * (ez + q * dz)
        put_lanes(p, memory + PULL * width + b, width, px, py, pz)
        put_lanes(p, memory + FROM_FIRST * width + b, width, fx, fy, fz)
        put_lanes(p, memory + SUM * width + b, width, sx, sy, sz)
    collect(N, 2.0, memory, width, bodies, p, out)


# parameters: mu of each body; from N, of the first i + 1 bodies together; from 2 N, the body's share of that; from 3 N,
# G, or 0 of a test particle; from 4 N, the tables of ``between_orbits``, and its scratch memory


@inlined
def both_test(i, j, N, parameters):
    """Whether both are test particles. A program traced from the loads is that of these, for any masses."""
    return parameters[3 * N + i] == 0.0 and parameters[3 * N + j] == 0.0


@inlined
def add_pairs(N, y, bodies, parameters, out, changing):
    """Add the forces of all pairs; where they are ``changing``, twice their change by the accelerations in the slots of
    the torques."""
    for i in range(N):
        for j in range(i):
            if both_test(i, j, N, parameters):
                continue
            masses = bodies[L.CONSTANTS * i + L.MASS] * bodies[L.CONSTANTS * j + L.MASS]
            on_i, on_j = parameters[3 * N + j] * masses, parameters[3 * N + i] * masses
            d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
            square = dot(d, d)
            k, w = 1.0 / (square * sqrt(square)), d
            if changing:
                a = axpy(-1.0, get3(out, L.LOAD * i + 3), get3(out, L.LOAD * j + 3))
                k, w = 2.0 * k, axpy(-3.0 * dot(d, a) / square, d, a)
            put3(out, L.LOAD * i, axpy(k * on_i, w, get3(out, L.LOAD * i)))
            put3(out, L.LOAD * j, axpy(-(k * on_j), w, get3(out, L.LOAD * j)))


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
    add_pairs(N, y, bodies, parameters, out, False)
    if part == L.COMMUTATOR:
        for i in range(N):
            put3(out, L.LOAD * i + 3, scale(bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(out, L.LOAD * i)))
            put3(out, L.LOAD * i, (0.0, 0.0, 0.0))
        add_pairs(N, y, bodies, parameters, out, True)
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


def numbers_of(mu: Array, G: Array) -> Array:
    """The parameters of these gravity parameters and constants of gravitation, 0 of a test particle."""
    N, together = len(mu), np.cumsum(mu)
    between = np.zeros(width_of(N))
    between[1 : N - 1] = np.cumsum(mu[1 : N - 1])
    return np.concatenate([mu, together, mu / together, G, between, (FAR * np.eye(LANES + 1, LANES)).ravel()])


class Attraction(NamedTuple):
    """The attraction of bodies, as loads beside it read it of a system."""

    loads: Callable[..., Any]
    potential: Callable[..., Any]
    with_memory: Array
    provides: frozenset[str]
    conserves: tuple[str, ...]


def gravitation(bodies: Sequence[Body], load: Load) -> Attraction:
    """That of these bodies on each other."""
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
    return Attraction(gravity_loads, gravity_potential, numbers, provided(points), CONSERVES)


CONSERVES = ("energy", "total_momentum", "total_angular_momentum")


def provided(points: bool) -> frozenset[str]:
    """Capabilities of the attraction of bodies, which may be points."""
    return frozenset({"velocity_independent", *["mutual_gravity"] * points})


def attracting(arguments: Mapping[str, Any], mass: Array, moments: Array, frames: Array, numbers: Array) -> System:
    """The system of bodies that attract each other, with these parameters."""
    return System(
        name="gravitating_bodies", arguments=arguments, mass=mass, moments=moments, frames=frames, loads=gravity_loads,
        potential=gravity_potential, commutator=gravity_loads, parameters=numbers, memory=memory_of(len(mass)),
        provides=provided(not np.isfinite(moments).any()), conserves=CONSERVES,
    )  # fmt: skip
