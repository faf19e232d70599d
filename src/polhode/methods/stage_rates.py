"""Auxiliary variables in the steps of ``stages``: sums of their rates, which the stages store in ``work``.

Where loads read some of them, their values in a stage of an explicit tableau are those of the tableau, and their errors
count: relative to a variable and its change in the step.
"""

from __future__ import annotations

from math import inf

from polhode.kernel import layout as L
from polhode.kernel.jit import inlined
from polhode.methods.stage_layout import STAGES


@inlined
def note_rates(stage, p):
    """Store the rates of auxiliary variables, which follow the loads, for the stage just evaluated."""
    for k in range(p.S):
        p.work[1 + 4 * p.B + stage * p.S + k] = p.load[L.LOAD * p.N + k]


@inlined
def rates_summed(weights, count, k, p):
    """The first ``count`` rates of auxiliary variable k with weights ``coefficients[weights:]``."""
    total = 0.0
    for j in range(count):
        total += p.coefficients[weights + j] * p.work[1 + 4 * p.B + j * p.S + k]
    return total


@inlined
def auxiliary_in_stage(weights, count, h, begin, p):
    """Auxiliary variables of ``begin`` plus h times weighted rates, into the state at which loads are evaluated."""
    for k in range(p.S):
        at = L.BODY * p.N + k
        p.stage_state[at] = begin[at] + h * rates_summed(weights, count, k, p)


@inlined
def error_of_auxiliary(weights, h, p):
    """Largest ratio of an estimated error of the auxiliary variables that loads read to its tolerance."""
    count, worst = p.int_coefficients[STAGES] + 1, 0.0
    for k in range(int(p.step_info[L.READ_FROM]), p.S):
        error = abs(h * rates_summed(weights, count, k, p))
        if error > 0.0:
            fastest = 0.0
            for j in range(count):
                fastest = max(fastest, abs(p.work[1 + 4 * p.B + j * p.S + k]))
            size = abs(p.y[L.BODY * p.N + k]) + abs(h) * fastest
            worst = max(worst, error / (p.step_info[L.ABSOLUTE] + p.step_info[L.RELATIVE] * size))
        if not error < inf:
            return inf
    return worst
