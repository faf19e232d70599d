"""What splittings are on joints: how many glides each of their free motions is, and what a run keeps of a mechanism."""

from __future__ import annotations

from functools import cache

import numpy as np

from polhode.arguments import Indices
from polhode.flows import glide, mechanism as J
from polhode.kernel import layout as L
from polhode.methods.splitting_tables import Scheme, scheme

GLIDES = {4: "suzuki4", 6: "kl6b", 8: "kl8", 10: "sp10"}
"""For each order a composition of v2, whose steps are those of the glides of a free motion."""


def composes_v2(rule: Scheme) -> bool:
    """Whether a scheme is steps of v2 behind each other, each of which is one of RATTLE on joints."""
    flows = [float(one[1]) for one in rule.stages if one[0] == "A"]
    kicks = [float(one[1]) for one in rule.stages if one[0] == "B"]
    if rule.stages[0][0] != "B" or len(kicks) != len(flows) + 1:
        return False
    return bool(np.allclose(kicks, 0.5 * (np.array([0.0, *flows]) + np.array([*flows, 0.0])), rtol=0.0, atol=1e-12))


@cache
def glides_of(rule: Scheme) -> tuple[float, ...]:
    """The fractions of a free motion that its glides are."""
    if rule.order <= 2 or composes_v2(rule):
        return (1.0,)
    order = min(one for one in GLIDES if one >= rule.order)
    return tuple(float(one[1]) for one in scheme(GLIDES[order]).stages if one[0] == "A")


def plan_of(
    integers: Indices, N: int, S: int, first: int, flows: int = 0, fractions: int = 0, at: int = 0, nodes: int = 0
) -> tuple[Indices, int, int]:
    """The whole numbers of a run on the joints of N bodies with S auxiliary variables, and how many numbers of scratch
    memory there are, and are remembered: of a step with so many free motions, of each so many ``fractions`` at this
    index of the coefficients, and kicks of so many nodes, to which the ``first`` numbers of the memory belong."""
    rows, tree, pieces = (int(integers[k]) for k in (J.ROWS, J.TREE, J.PIECES))
    loops, glides = rows - tree, flows * fractions
    lengths = {
        J.STATE: glide.STATE_SIZE, J.END: L.BODY * N, J.RECENT: 2 * rows,
        J.HISTORY: glides * ((glide.OLDER + 2) * rows + 2), J.START: L.BODY * N, J.ROTATIONS: 2 * (9 * N + 9),
        J.ROWS_AT: 2 * J.ROW * rows, J.RESIDUAL: rows, J.IMPULSE: 6 * N + 6, J.MATRIX: 36 * N, J.RIGHT: 6 * N + 6,
        J.MOTION: 6 * N + 6, J.LEFT: 6 * rows, J.RATIO: 6 * rows, J.PIVOT: 36 * N, J.MULTIPLIER: rows, J.CHANGE: rows,
        J.FOLLOWED: 2 * rows, J.LOOP_MOTION: 6 * (N + 1) * loops, J.LOOP_MULTIPLIER: tree * loops,
        J.LOOP: loops * loops + loops, J.ORDER: loops, J.STAGES: nodes * (L.LOAD * N + S), J.BEGUN: L.BODY * N + S,
    }  # fmt: skip
    plan = np.zeros(J.PLAN, dtype=np.int64)
    begin = first
    for slot, length in lengths.items():
        plan[slot], begin = begin, begin + length
    plan[: J.HEAD] = integers[: J.HEAD]
    plan[J.PIECES_AT] = J.PLAN + J.HEAD
    plan[J.NODES_AT] = plan[J.PIECES_AT] + J.PIECE * pieces
    plan[J.OWNERS_AT] = plan[J.NODES_AT] + J.NODE * N
    plan[J.FRACTIONS], plan[J.FRACTIONS_AT], plan[J.GLIDES], plan[J.SIZE] = fractions, at, glides, begin
    return np.concatenate([plan, integers]), begin, int(plan[J.START])
