"""Runge-Kutta methods whose rotations are products of exponentials: Crouch and Grossman's, and commutator-free ones.

A stage turns the attitude at the start of the step by one exponential after the other, each of h times a combination of
the angular velocities so far, and so does the end of the step [crouch1993] [celledoni2003cf]:

    q_i = q_0 exp(h sum_j a^1_ij w_j) exp(h sum_j a^2_ij w_j) ...

The sums of all factors, a_ij = a^1_ij + a^2_ij + ..., are an ordinary tableau. By it go position, momentum and the
angular momentum in space, so that of a free body is kept to round-off. A method of Crouch and Grossman has an
exponential for each angular velocity. Nothing here needs the inverse tangent map of ``munthe_kaas``, nor covers only
part of the rotations.

Legend: ``e`` rotation of a block from its attitude at the start of the step, ``mu`` angular momentum in that frame.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polhode.algebra.quaternion import compose, conjugate, multiply, rotate, rotate_inverse
from polhode.algebra.so3 import exp_quaternion, scale, times
from polhode.flows.kick import loads_at
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import bind, hole, inlined
from polhode.methods import stages
from polhode.methods.record import CompiledMethod, Method, Promises
from polhode.methods.stage_layout import (
    AUXILIARY,
    MODES_AT,
    STAGES,
    UNKNOWNS,
    auxiliary_size,
    coefficients,
    origin,
    work_size,
)
from polhode.methods.stage_rates import auxiliary_in_stage, note_rates
from polhode.methods.stages import enter_rates, start_values
from polhode.methods.tableaux import Tableau

READS = hole("READS", "Whether loads read auxiliary variables.", default=False)

unknowns = inlined(bind(stages.unknowns, UNKNOWNS=UNKNOWNS))
combined = inlined(bind(stages.combined, unknowns=unknowns))
weighted_sum = inlined(bind(stages.weighted_sum, unknowns=unknowns))


@inlined
def put_stage(stage, count, h, out, p):
    """The state of a stage from ``count`` slopes, or of the end of the step, into ``out``."""
    s, o = p.int_coefficients[STAGES], origin(p)
    z, slopes = o + UNKNOWNS * p.B, o + 2 * UNKNOWNS * p.B
    weighted_sum(stage * s, count, h, slopes, z, p)
    for k in range(p.B):
        a, at = L.BODY * p.blocks[2 * k], z + UNKNOWNS * k
        if p.blocks[2 * k + 1] == L.ROTATION:
            e = (1.0, 0.0, 0.0, 0.0)
            for row in range(p.int_coefficients[AUXILIARY + stage], p.int_coefficients[AUXILIARY + stage + 1]):
                weights = p.int_coefficients[MODES_AT] + row * s
                e = multiply(e, exp_quaternion(combined(weights, count, UNKNOWNS * k, h, slopes, p)))
            put4(out, a + L.ATTITUDE, compose(get4(p.work, 1 + 4 * k), e))
            put3(out, a + L.ANGULAR, rotate_inverse(e, get3(p.work, at + 3)))
        else:
            put3(out, a + L.POSITION, get3(p.work, at))
            put3(out, a + L.MOMENTUM, get3(p.work, at + 3))


@inlined
def rates(to, p):
    """Angular velocities and d mu/dt, or velocities and forces, of the state of a stage into ``work[to:]``."""
    for k in range(p.B):
        i, at = p.blocks[2 * k], to + UNKNOWNS * k
        a, b, c = L.BODY * i, L.CONSTANTS * i, L.LOAD * i
        if p.blocks[2 * k + 1] == L.ROTATION:
            m, q = get3(p.stage_state, a + L.ANGULAR), get4(p.stage_state, a + L.ATTITUDE)
            e = multiply(conjugate(get4(p.work, 1 + 4 * k)), q)
            put3(p.work, at, times(get3(p.bodies, b + L.INVERSE_INERTIA), m))
            put3(p.work, at + 3, rotate(e, get3(p.load, c + 3)))
        else:
            put3(p.work, at, scale(p.bodies[b + L.INVERSE_MASS], get3(p.stage_state, a + L.MOMENTUM)))
            put3(p.work, at + 3, get3(p.load, c))


def product_step(t, h, p):
    """One step: each stage, then the end of the step, by its product of exponentials."""
    s = p.int_coefficients[STAGES]
    d = UNKNOWNS * p.B
    slopes = origin(p) + 2 * d
    start_values(p)
    for i in range(s):
        put_stage(i, i, h, p.stage_state, p)
        if READS:
            auxiliary_in_stage(i * s, i, h, p.y, p)
        loads_at(L.ALL, t + p.coefficients[s * s + s + i] * h, p.stage_state, p.load, p)
        rates(slopes + i * d, p)
        note_rates(i, p)
    put_stage(s, s, h, p.y, p)
    enter_rates(s * s, s, h, p.y, p.y, p)
    return L.OK


STEPS = {reads: bind(product_step, READS=reads) for reads in (False, True)}
"""The step by whether loads read auxiliary variables."""


class Products(NamedTuple):
    """Coefficients: the exponentials of each stage after the first, and those of the end of the step, in the order in
    which they turn the body; each is a list of weights of the angular velocities so far."""

    name: str
    title: str
    cite: str
    stages: tuple[tuple[tuple[float, ...], ...], ...]
    end: tuple[tuple[float, ...], ...]


def one_by_one(weights):
    """An exponential for each angular velocity."""
    return tuple((0.0,) * k + (weight,) for k, weight in enumerate(weights))


def crouch_grossman(name, title, cite, A, b):
    """The products of a tableau with an exponential for each of its coefficients."""
    return Products(name, title, cite, tuple(map(one_by_one, A)), one_by_one(b))


SCHEMES = (
    crouch_grossman(
        "cg3", "Crouch and Grossman's method of order 3, an exponential for each angular velocity", "crouch1993",
        [[3 / 4], [119 / 216, 17 / 108]], [13 / 51, -2 / 3, 24 / 17],
    ),
    crouch_grossman(
        "cg4", "Crouch-Grossman method of order 4 by Owren and Marthinsen, 15 exponentials", "owren1999",
        [
            [0.8177227988124852], [0.3199876375476427, 0.0659864263556022],
            [0.9214417194464946, 0.4997857776773573, -1.0969984448371582],
            [0.3552358559023322, 0.2390958372307326, 1.3918565724203246, -1.1092979392113465],
        ],
        [0.1370831520630755, -0.0183698531564020, 0.7397813985370780, -0.1907142565505889, 0.3322195591068374],
    ),
    Products(
        "cf3", "commutator-free method of order 3, two exponentials at the end", "celledoni2003cf",
        (((1 / 3,),), ((0.0, 2 / 3),)), ((1 / 3,), (-1 / 12, 0.0, 3 / 4)),
    ),
    Products(
        "cf4", "commutator-free form of the classical Runge-Kutta method, two exponentials at the end",
        "celledoni2003cf",
        (((1 / 2,),), ((0.0, 1 / 2),), ((1 / 2,), (-1 / 2, 0.0, 1.0))),
        ((1 / 4, 1 / 6, 1 / 6, -1 / 12), (-1 / 12, 1 / 6, 1 / 6, 1 / 4)),
    ),
)  # fmt: skip


def padded(rows, length):
    """The rows with zeros behind, as a matrix."""
    return np.array([[*row, *(length - len(row)) * [0.0]] for row in rows]).reshape(-1, length)


def row_of(scheme: Products) -> Method:
    """The row of the table."""
    s = len(scheme.stages) + 1
    products = [padded(rows, s) for rows in ((), *scheme.stages, scheme.end)]
    sums = [rows.sum(axis=0) for rows in products]
    tableau = Tableau(scheme.name, sums[:-1], sums[-1])
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in products])])
    numbers, int_coefficients = coefficients(tableau, *starts)
    numbers = np.concatenate([numbers, *map(np.ravel, products)])

    def prepare(reads=False):
        return CompiledMethod(
            STEPS[reads], lambda bodies, blocks: work_size(blocks, tableau), numbers, int_coefficients,
            auxiliary_work=auxiliary_size(tableau), reading=None if reads else lambda wheels: prepare(True),
        )  # fmt: skip

    promises = Promises(
        tableau.order, ("momentum_length", "spatial_momentum"), ("vertical_momentum",), implicit=False, evaluations=s
    )
    return Method(scheme.name, "commutator_free", scheme.title, scheme.cite, prepare, lambda: promises)


ROWS = tuple(map(row_of, SCHEMES))
"""Orders 3 and 4 of both kinds. That the order with rotations is that of the tableau is a condition on the
exponentials, which ``tests/methods/test_commutator_free.py`` measures."""
