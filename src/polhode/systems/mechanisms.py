"""The mechanism of a sum: its joints, checked, in the order of their elimination (``polhode.flows.mechanism``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import NamedTuple

import numpy as np

from polhode.algebra.quaternion import rotate_inverse
from polhode.arguments import Indices
from polhode.bodies.body import Body
from polhode.errors import InvalidInput, unknown_name
from polhode.flows.mechanism import DIRECTION, HEAD, NODE, NUMBERS, PIECE, PIECES, ROWS, ROWS_OF, SLIDE
from polhode.joints.joint import GROUND, Joint


class Joined(NamedTuple):
    """A joint in a mechanism."""

    name: str
    kind: str
    bodies: tuple[int, int]  # numbers of both; that of the ground is the number of all bodies
    row: int  # row, rows: its first row, and how many it has
    rows: int
    piece: int  # piece, pieces: its first piece in the order of the joints, and how many it has
    pieces: int


@dataclass(frozen=True, eq=False)
class Mechanism:
    """What the joints of a system come to, but for their numbers, which stand among the parameters."""

    joints: tuple[Joined, ...]  # in the order in which they were given
    integers: Indices  # the table, as ``polhode.flows.mechanism`` says

    @property
    def rows(self) -> int:
        """How many rows all joints have."""
        return int(self.integers[ROWS])

    @cached_property
    def pieces(self) -> Indices:
        """Of the pieces in the order of the joints kinds, both bodies, first rows, and joints, (5, P)."""
        table = self.integers[HEAD : HEAD + PIECE * self.integers[PIECES]].reshape(-1, PIECE)
        joints = np.repeat(range(len(self.joints)), [one.pieces for one in self.joints])
        return np.stack([*table[np.argsort(table[:, 4]), :4].T, joints])

    @cached_property
    def of_rows(self) -> Indices:
        """The piece of each row, as in ``pieces``."""
        kind, _, _, row, _ = self.pieces
        found = np.repeat(np.arange(len(kind)), np.array(ROWS_OF)[kind])
        return found[np.argsort(row[found], kind="stable")]


def check_joints(joints: Sequence[Joint], bodies: Sequence[Body], by_kernel: bool) -> Sequence[Joint]:
    """The joints, if they can hold these bodies; ``by_kernel``: whether loads are in the pass over pairs, or come from
    a kernel."""
    known = {one.name: one for one in bodies}
    if GROUND in known:
        raise InvalidInput("a body is called 'ground', as polhode.ground is; call it otherwise beside joints")
    for one in joints:
        if not one.bodies:
            raise InvalidInput(f"joint {one.name!r} is on no bodies; say .on('a', 'b'), or .on('a', polhode.ground)")
        for name, point in zip(one.bodies, ("u", "w"), strict=True):
            if name == GROUND:
                continue
            if name not in known:
                raise unknown_name(f"body that joint {one.name!r} is on", name, [*known, GROUND])
            body = known[name]
            if not isfinite(body.mass):
                raise InvalidInput(f"body {name!r} is pinned, and joint {one.name!r} holds it; give it a mass in place "
                                   f"of the pin, and polhode.joints.ball().on({name!r}, polhode.ground)")  # fmt: skip
            if any(map(isfinite, body.moments)):
                continue
            if any(piece.kind in (DIRECTION, SLIDE) for piece in one.pieces):
                raise InvalidInput(f"body {name!r} is a point, which has no axes that the {one.kind} {one.name!r} "
                                   "could hold; give it an inertia, or take a ball or a rod")  # fmt: skip
            if any(any(getattr(piece, point)) for piece in one.pieces):
                raise InvalidInput(f"body {name!r} is a point, but joint {one.name!r} holds it beside its centre; "
                                   f"leave {'at' if point == 'u' else 'of_other'} out, or give an inertia")  # fmt: skip
    if by_kernel:
        raise InvalidInput("joints hold bodies whose loads on each other come from a kernel of many bodies (box, "
                           "cutoff, pairs, gravitation on all); put such loads on bodies by name")  # fmt: skip
    return joints


def numbers_of(joints: Sequence[Joint], bodies: Sequence[Body]) -> list[float]:
    """The numbers of all pieces, in the order of the joints, with vectors in principal axes."""
    frames = {one.name: one.frame for one in bodies}
    found: list[float] = []
    for one in joints:
        a, b = (frames.get(name) for name in one.bodies)
        for piece in one.pieces:
            found += _own(a, piece.u)
            found += _own(b, piece.w)
            found += _own(b if piece.kind == SLIDE else None, piece.n)
    return found


def _own(frame: Sequence[float] | None, v: tuple[float, float, float]) -> tuple[float, ...]:
    return v if frame is None or tuple(frame) == (1.0, 0.0, 0.0, 0.0) else rotate_inverse(frame, v)


def mechanism_of(joints: Sequence[Joint], bodies: Sequence[Body], numbers_at: int) -> Mechanism:
    """The mechanism of joints whose numbers begin there: a tree breadth first from the ground, else from any body of a
    group that floats, the joint of most rows first; rows of joints that close loops are the last."""
    N = len(bodies)
    at = {one.name: i for i, one in enumerate(bodies)} | {GROUND: N}
    edges = [(at[one.bodies[0]], at[one.bodies[1]]) for one in joints]
    sizes = [sum(ROWS_OF[piece.kind] for piece in one.pieces) for one in joints]
    touching: list[list[int]] = [[] for _ in range(N + 1)]
    for e in sorted(range(len(joints)), key=lambda e: -sizes[e]):
        for i in edges[e]:
            touching[i].append(e)
    parent, entry, order = dict[int, int](), dict[int, int](), list[int]()
    for root in (N, *range(N)):
        if root in parent:
            continue
        parent[root], front = N, [root]
        for node in front:
            for e in touching[node]:
                other = edges[e][1] if edges[e][0] == node else edges[e][0]
                if other not in parent:
                    parent[other], entry[other] = node, e
                    front.append(other)
        order += front
    rows, nodes, r = dict[int, int](), list[int](), 0
    for i in (i for i in reversed(order) if i < N):
        e = entry.get(i, -1)
        nodes += (i, parent[i], r, 0 if e < 0 else sizes[e], int(e >= 0 and edges[e][0] != i))
        if e >= 0:
            rows[e], r = r, r + sizes[e]
    tree, closing = r, list[int]()
    for e in range(len(joints)):
        if e not in rows:
            rows[e], r = r, r + sizes[e]
            closing += edges[e] * sizes[e]
    pieces, joined, k = list[tuple[int, ...]](), list[Joined](), 0
    for e, one in enumerate(joints):
        row = rows[e]
        joined.append(Joined(one.name, one.kind, edges[e], row, sizes[e], k, len(one.pieces)))
        for piece in one.pieces:
            pieces.append((piece.kind, *edges[e], row, NUMBERS * k))
            row, k = row + ROWS_OF[piece.kind], k + 1
    pieces.sort(key=lambda one: one[0])
    table = np.array([N, r, tree, k, numbers_at, *(x for one in pieces for x in one), *nodes, *closing], dtype=np.int64)
    assert len(table) == HEAD + PIECE * k + NODE * N + 2 * (r - tree)
    table.setflags(write=False)
    return Mechanism(tuple(joined), table)


def kept_by(joints: Sequence[Joint], laws: Sequence[str]) -> tuple[str, ...]:
    """Of what loads conserve that which joints do, too: those between bodies all, those to the ground the energy, the
    angular momentum about the origin where they hold points there, or about the vertical where along it."""
    held = [(one, piece) for one in joints if one.bodies[1:] == (GROUND,) for piece in one.pieces]
    if not held:
        return tuple(laws)
    centre = not any(any(piece.w) for _, piece in held)  # directions are not zero
    upright = all(not any(piece.w[:2]) and (piece.kind != SLIDE or piece.n[2] == 0.0) for _, piece in held)
    whole = {"angular_momentum_space", "total_angular_momentum"}
    found = tuple(name for name in laws if name == "energy" or (centre and name in whole))
    turning = not whole.isdisjoint(laws) or "vertical_angular_momentum" in laws
    return found + ("vertical_angular_momentum",) * (turning and upright and whole.isdisjoint(found))
