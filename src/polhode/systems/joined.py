"""Joints in states of a system, by NumPy: how far they are open, their coordinates and rates, and the nearest state
that meets them. Rows are in space: force and torque of a unit impulse on the first body, then on the second."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from polhode.algebra.quaternion import to_matrix
from polhode.algebra.rotation import exp_quaternion, multiply, quaternion_from_matrix, rotate
from polhode.arguments import Array, Indices
from polhode.errors import InvalidInput
from polhode.flows.mechanism import BALL, DIRECTION, NUMBERS, NUMBERS_AT, ROD, SLIDE
from polhode.joints.kinds import frame_about, shortest
from polhode.kernel import layout as L
from polhode.systems.mechanisms import Joined, Mechanism
from polhode.systems.record import System

MET = 1e-9
"""Gaps count as none at a start that are smaller than this part of the joint, in rad, or of the speeds there."""
RANK, DEFINITE = 1e-10, 1e-3
"""Smallest part by which a row differs from others: of one that is not implied by them, and where squares will do."""
ROUNDED = 64 * np.finfo(float).eps
COORDINATES = {"hinge": "angle", "slider": "length"}
"""The joints that have a coordinate."""
NEXT, LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])


class Configuration:
    """The joints of a system in states (n, N, 13), perhaps with other parameters, masses and moments, pieces in the
    order of the joints."""

    def __init__(self, system: System, body: Array, parameters: Array | None = None,
                 constants: tuple[Array, Array] | None = None) -> None:  # fmt: skip
        assert system.mechanism is not None
        self.mechanism, self.frames, self.body, n = system.mechanism, system.frames, body, len(body)
        self.kind, self.a, self.b, self.row, self.joint = system.mechanism.pieces
        self.of_rows = system.mechanism.of_rows
        p = np.atleast_2d(system.parameters if parameters is None else parameters)
        first = int(system.mechanism.integers[NUMBERS_AT])
        self.numbers = p[:, first : first + NUMBERS * len(self.kind)].reshape(len(p), -1, 3, 3)
        self.mass, self.moments = (system.mass, system.moments) if constants is None else constants
        self.x = np.concatenate([body[..., L.POSITION : L.MOMENTUM], np.zeros((n, 1, 3))], axis=1)
        R = np.stack(to_matrix(np.moveaxis(body[..., L.ATTITUDE : L.ANGULAR], -1, 0)), axis=-1)
        self.R = np.concatenate([R.reshape(n, -1, 3, 3), np.tile(np.eye(3), (n, 1, 1, 1))], axis=1)
        self.u = (self.R[:, self.a] @ self.numbers[..., 0, :, None])[..., 0]
        self.w, self.n = np.moveaxis(np.einsum("...ij,...kj->...ki", self.R[:, self.b], self.numbers[..., 1:, :]), 2, 0)
        self.d = self.x[:, self.a] + self.u - self.x[:, self.b] - self.w
        rod = self.kind == ROD
        self.length = np.where(rod, self.numbers[..., 2, 0], 0.0) + np.zeros((n, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            along = self.d / _size(self.d)[..., None]
        self.n = np.where(rod[:, None], along, self.n)

    @cached_property
    def turns(self) -> Array:
        """The rotation vectors (n, joints, 3), space, by which first bodies have to be turned to meet their joints."""
        found = np.zeros((len(self.body), len(self.mechanism.joints), 3))
        directions = np.flatnonzero(self.kind == DIRECTION)
        joints, first, count = np.unique(self.joint[directions], return_index=True, return_counts=True)
        two, three = (directions[first[count == k, None] + np.arange(k)] for k in (2, 3))
        with np.errstate(divide="ignore", invalid="ignore"):
            if len(two):  # axes are to coincide
                p, other = self.u[:, two[:, 0]], self.w[:, two[:, 0]]
                axis = _cross(p, self.u[:, two[:, 1]])
                across = _cross(axis, other)
                sine = _size(across)[..., None]
                angle = np.arctan2(sine, (axis * other).sum(axis=-1, keepdims=True))
                found[:, joints[count == 2]] = np.where(sine > 0.0, across * (angle / sine), p * angle)
            if len(three):  # the own axes with those of the other, which stand in turn
                turn = np.swapaxes(self.w[:, three[:, [2, 0, 1]]], -1, -2) @ self.u[:, three]
                q = quaternion_from_matrix(turn)
                sine = _size(q[..., 1:])[..., None]
                angle = 2.0 * np.arctan2(sine, q[..., :1])
                found[:, joints[count == 3]] = np.where(sine > 0.0, q[..., 1:] * (angle / sine), 0.0)
        return found

    @property
    def residuals(self) -> Array:
        """What must stay zero (n, rows), as ``polhode.flows.mechanism`` says."""
        of, square = self.of_rows, (self.d**2).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            rod = 0.5 * (square / self.length - self.length)
        found = np.where(self.kind == ROD, rod, (self.n * self.d).sum(axis=-1))
        found = np.where(self.kind == DIRECTION, (self.u * self.w).sum(axis=-1), found)[:, of]
        return np.where(self.kind[of] == BALL, (self.d[:, of] * self.axes).sum(axis=-1), found)

    @cached_property
    def axes(self) -> Array:
        """Directions (rows, 3) of the three rows of balls."""
        return np.eye(3)[np.arange(len(self.of_rows)) - self.row[self.of_rows]]

    @cached_property
    def rows(self) -> Array:
        """The derivatives of the residuals (n, rows, 12); of a rod along its present direction."""
        of = self.of_rows
        u, w, kind = self.u[:, of], self.w[:, of], self.kind[of, None]
        n = np.where(kind == BALL, self.axes, self.n[:, of])
        sliding = np.where(kind == SLIDE, _cross(n, self.d[:, of]), 0.0)
        turn = _cross(u, w)
        return np.where(kind == DIRECTION, np.concatenate([0 * turn, turn, 0 * turn, -turn], axis=-1),
                        _row(n, u, w, sliding))  # fmt: skip

    @cached_property
    def velocities(self) -> Array:
        """Velocities and angular velocities (n, N + 1, 6), space, the ground's among them."""
        v = self.body[..., L.MOMENTUM : L.ATTITUDE] / np.asarray(self.mass)[..., None]
        spin = (self.R[:, :-1] @ (self.body[..., L.ANGULAR :] / self.moments)[..., None])[..., 0]
        return np.concatenate([np.concatenate([v, spin], axis=-1), np.zeros((len(v), 1, 6))], axis=1)

    def along(self, rows: Array, a: Indices, b: Indices) -> Array:
        """Rates (n, k) of rows (n, k, 12) between bodies a and b."""
        v = self.velocities
        return (rows[..., :6] * v[:, a]).sum(axis=-1) + (rows[..., 6:] * v[:, b]).sum(axis=-1)

    @property
    def gaps(self) -> Array:
        """How far joints are open, m and rad, and how fast these open, m/s and rad/s, (n, joints, 4); zero where it is
        no more than rounding, and numbers that were written down, make of it."""
        of, a, b, straight = self.of_rows, self.a, self.b, self.kind != DIRECTION
        gap = np.where(self.kind == BALL, _size(self.d), (self.n * self.d).sum(axis=-1) - self.length) * straight
        rate = self.along(self.rows, a[of], b[of])
        lever = (_size(self.u) + _size(self.w) + _size(self.d)) * straight
        far, v, spin = _size(self.x), *(_size(self.velocities[..., k : k + 3]) for k in (0, 3))
        fast, longest = v.max(axis=1, keepdims=True), lever.max(axis=1, keepdims=True)  # of all that moves
        turning = spin.max(axis=1, keepdims=True) + fast / np.where(longest > 0.0, longest, np.inf)
        found = [self._sizes(gap), _size(self.turns), self._sizes((rate * straight[of]), of),
                 self._sizes((rate * ~straight[of]), of)]  # fmt: skip
        rounded = ROUNDED / MET * (far.max(axis=1, keepdims=True) + longest)
        allowed = [self._sizes(lever) + rounded, np.ones_like(found[1]), self._sizes(fast + lever * turning),
                   self._sizes(turning + 0.0 * lever)]  # fmt: skip
        return np.stack([one * ~(one <= MET * most) for one, most in zip(found, allowed, strict=True)], axis=-1)

    def _sizes(self, values: Array, of: Indices | slice = slice(None)) -> Array:
        """Roots of the sums of squares over the pieces, or rows, of each joint."""
        found = np.zeros((len(values), len(self.mechanism.joints)))
        np.add.at(found.T, self.joint[of], values.T**2)
        return np.sqrt(found)

    def coordinate(self, one: Joined) -> tuple[Array, Array]:
        """Angles (n,), -pi to pi, or lengths of a hinge or a slider, and the rows (n, 12) of their rates."""
        first, last = one.piece, one.piece + one.pieces - 1
        b = one.bodies[1]
        if one.kind == "slider":
            n = _cross(self.n[:, first], self.n[:, first + 1])
            row = _row(n, self.u[:, first], self.w[:, first], _cross(n, self.d[:, first]))
            return (n * self.d[:, first]).sum(axis=-1), row
        axis, zero = self.w[:, last], np.zeros((len(self.x), 3))
        p, q = np.moveaxis((self.R[:, None, b] @ self.zero(one)[..., None])[..., 0], 1, 0)
        own = self.u[:, first + 1]
        angle = np.arctan2((own * q).sum(axis=-1), (own * p).sum(axis=-1))
        return angle, np.concatenate([zero, axis, zero, -axis], axis=-1)

    def zero(self, one: Joined) -> Array:
        """Where the two directions of the first body of a hinge stand in the principal axes of the second when its
        angle is zero, (2, 3); by the numbers of the first state."""
        p, q = self.numbers[0, one.piece + 1 : one.piece + 3, 0]
        own, other = (np.asarray(self.frames[k]) if k < len(self.frames) else UNTURNED for k in one.bodies)
        p, q, w = rotate(own, p), rotate(own, q), rotate(other, self.numbers[0, one.piece + 1, 1])
        found: Array = rotate(other * (1.0, -1.0, -1.0, -1.0), np.stack([p, q]) @ shortest(_cross(p, q), w).T)
        return found

    def rate(self, one: Joined, row: Array) -> Array:
        """The rate (n,) of a coordinate with this row."""
        return self.along(row[:, None], *np.array(one.bodies).reshape(2, 1))[:, 0]


def _row(n: Array, u: Array, w: Array, more: Array | float = 0.0) -> Array:
    """The row of a force n on the first body at u and against it on the second at w."""
    return np.concatenate([n, _cross(u, n), -n, more - _cross(w, n)], axis=-1)


def _cross(a: Array, b: Array) -> Array:
    """As NumPy's, in a third of the time for few."""
    return a[..., NEXT] * b[..., LAST] - a[..., LAST] * b[..., NEXT]


def _size(v: Array) -> Array:
    return np.sqrt((v**2).sum(axis=-1))


# ------------------------------------------------------------------ starts
MOST_TOLD = 3  # most joints of which a message tells the gaps


def told_open(system: System, y: Array, parameters: Array | None = None,
              constants: tuple[Array, Array] | None = None) -> str:  # fmt: skip
    """What is said of the joints that the first of states (n, 13 N) does not meet that does not; empty where all do."""
    if system.mechanism is None:
        return ""
    body = np.asarray(y)[..., : L.BODY * system.N].reshape(-1, system.N, L.BODY)
    gaps = Configuration(system, body, parameters, constants).gaps
    return next((told_gaps(system.mechanism, one) for one in gaps if one.any()), "")


def told_gaps(mechanism: Mechanism, gaps: Array) -> str:
    """Gaps (joints, 4) in words, the largest first."""
    there = [k for k in np.argsort(-gaps.max(axis=1), kind="stable") if gaps[k].any()]
    said = []
    for k in there[:MOST_TOLD]:
        told = [f"{x:.3g} {unit}" for x, unit in zip(gaps[k], ("m", "rad", "m/s", "rad/s"), strict=True) if x]
        said.append(f"{mechanism.joints[k].kind} {mechanism.joints[k].name!r} by {' and '.join(told)}")
    return ", ".join(said) + f" and {len(there) - len(said)} more" * (len(there) > len(said))


MOST_CORRECTIONS = 30
LARGEST_TURN = 0.5  # rad, of a body in a correction


class Meeting:
    """Corrections, small against the masses, of one state (N, 13) until it meets the joints of a system, with further
    conditions: values of coordinates, and bodies that stay."""

    def __init__(self, system: System, y: Array, given: dict[int, float] | None = None,
                 rates: dict[int, float] | None = None, staying: tuple[int, ...] = ()) -> None:  # fmt: skip
        self.system, self.body = system, np.array(y[: L.BODY * system.N]).reshape(1, system.N, L.BODY)
        self.given, self.rates, self.staying = given or {}, rates or {}, staying
        with np.errstate(divide="ignore"):
            inverse = np.concatenate([1.0 / system.mass[:, None] + np.zeros((1, 3)), 1.0 / system.moments], axis=1)
        self.light = np.sqrt(inverse)  # (N, 6): roots of inverse masses and moments, principal axes

    @property
    def here(self) -> Configuration:
        """The joints in the present state."""
        return Configuration(self.system, self.body)

    def conditions(self, here: Configuration, values: dict[int, float]) -> tuple[Array, Indices, Array]:
        """Rows (k, 12) and their bodies (k, 2) of all conditions, and what they lack."""
        joints, of = here.mechanism.joints, here.of_rows
        rows, bodies, lacks = [*here.rows[0]], [*np.stack([here.a, here.b], axis=1)[of]], -here.residuals[0]
        rods = here.kind[of] == ROD
        lacks[rods] = (here.length - _size(here.d))[0, of[rods]]
        for k in np.unique(here.joint[here.kind == DIRECTION]):  # turns by rotation vectors, which know the way back
            some = np.flatnonzero((here.joint[of] == k) & (here.kind[of] == DIRECTION))
            axes = frame_about(here.w[0, of[some[-1]]])[:2] if len(some) == 2 else np.eye(3)
            for r, axis in zip(some, axes, strict=True):
                rows[r], lacks[r] = np.array([0, 0, 0, *axis, 0, 0, 0, *-axis]), axis @ here.turns[0, k]
        for k, value in values.items():
            now, row = here.coordinate(joints[k])
            rows.append(row[0])
            bodies.append(np.array(joints[k].bodies))
            lacks = np.append(lacks, _less(joints[k], value, now[0]))
        return np.array(rows), np.array(bodies), lacks

    def weighted(self, here: Configuration, rows: Array, bodies: Indices) -> Array:
        """The matrix (k, 6 N) of rows, columns in principal axes times the roots of inverse masses."""
        N, found = self.system.N, np.zeros((len(rows), self.system.N + 1, 6))
        for side in range(2):
            which = bodies[:, side]
            own = rows[:, 6 * side : 6 * side + 6].copy()
            own[:, 3:] = (own[:, None, 3:] @ here.R[0, which])[:, 0]
            found[np.arange(len(rows)), which] += own
        light = self.light.copy()
        light[list(self.staying)] = 0.0
        return (found[:, :N] * light).reshape(len(rows), 6 * N)

    def solved(self, matrix: Array, lacks: Array) -> Array:
        """The least change (N, 6), principal axes, that makes up for what is lacking."""
        from scipy.linalg import lstsq, solve_triangular  # late: a tenth of a second

        size = np.sqrt((matrix**2).sum(axis=1))
        size[size == 0.0] = 1.0
        matrix, lacks = matrix / size[:, None], lacks / size
        try:
            root = np.linalg.cholesky(matrix @ matrix.T)
        except np.linalg.LinAlgError:
            root = np.zeros((1, 1))
        if np.diagonal(root).min() > DEFINITE:
            found = matrix.T @ solve_triangular(root, solve_triangular(root, lacks, lower=True), trans=1, lower=True)
        else:  # some rows are implied by others
            found = lstsq(matrix, lacks, cond=RANK, lapack_driver="gelsy")[0]
        return found.reshape(-1, 6) * self.light

    def placed(self) -> bool:
        """Positions and attitudes brought to where all is met; whether they are."""
        before = np.inf
        if not self.unmet():
            return True
        for _ in range(MOST_CORRECTIONS):
            here = self.here
            rows, bodies, lacks = self.conditions(here, self.given)
            change = self.solved(self.weighted(here, rows, bodies), lacks)
            if not np.isfinite(change).all():
                return False
            turn = np.sqrt((change[:, 3:] ** 2).sum(axis=1)).max()
            change *= min(1.0, LARGEST_TURN / max(turn, 1e-300))
            self.body[0, :, L.POSITION : L.MOMENTUM] += change[:, :3]
            q = self.body[0, :, L.ATTITUDE : L.ANGULAR]
            q[:] = multiply(q, exp_quaternion(change[:, 3:]))
            size = np.abs(self.body[0, :, :3]).max() + np.abs(here.u).max() + 1e-300
            now = np.abs(change[:, :3]).max() / size + np.abs(change[:, 3:]).max()
            if now < 1e-15 or (now < 1e-11 and now >= 0.5 * before):
                break
            before = now
        return self.unmet() == ""

    def unmet(self) -> str:
        """The gaps that are left, in words, with those of coordinates; empty without."""
        here = self.here
        gaps, joints = here.gaps[0] * (1, 1, 0, 0), here.mechanism.joints
        said = [told_gaps(here.mechanism, gaps)] if gaps.any() else []
        for k, value in self.given.items():
            lack = abs(_less(joints[k], value, here.coordinate(joints[k])[0][0]))
            if lack > MET * (1.0 + abs(value)):
                said.append(f"{COORDINATES[joints[k].kind]} of {joints[k].name!r} from {value:.6g} by {lack:.3g}")
        return ", ".join(said)

    def moved(self) -> bool:
        """Momenta with which no joint opens, and coordinates have their rates; whether there are such."""
        wanted = np.array([*np.zeros(self.system.mechanism.rows), *self.rates.values()])  # type: ignore[union-attr]
        rows, bodies, _ = self.conditions(here := self.here, self.rates)
        lacks = wanted - here.along(rows[None], bodies[:, 0], bodies[:, 1])[0]
        change, own, turns = self.solved(self.weighted(here, rows, bodies), lacks), self.body[0], self.system.moments
        own[:, L.MOMENTUM : L.ATTITUDE] += change[:, :3] * self.system.mass[:, None]
        own[:, L.ANGULAR :] += change[:, 3:] * np.where(np.isfinite(turns), turns, 0.0)
        here = self.here
        left = wanted - here.along(rows[None], bodies[:, 0], bodies[:, 1])[0]
        return bool((np.abs(left) <= MET * (np.abs(here.velocities).max() + np.abs(lacks).max())).all())


def _less(one: Joined, value: float, now: float) -> float:
    """What a coordinate lacks to a value; an angle the shorter way round."""
    return float((value - now + np.pi) % (2.0 * np.pi) - np.pi if one.kind == "hinge" else value - now)


def met(system: System, y: Array, project: bool) -> Array:
    """The state (13 N) of a start if it meets the joints, or the nearest that does where ``project`` says so."""
    if system.mechanism is None:
        if project:
            raise InvalidInput(f"project is for systems with joints, and {system.title} has none; leave it out")
        return y
    open_ = told_open(system, y)
    if not open_:
        return y
    if not project:
        raise InvalidInput(f"the start does not meet the joints: {open_}; take start=polhode.assemble(system, ...), or "
                           "project=True for the nearest state that does")  # fmt: skip
    found = Meeting(system, y)
    if not found.placed():
        raise InvalidInput(f"no state near the start meets the joints: {found.unmet()}; take "
                           "start=polhode.assemble(system, ...)")  # fmt: skip
    found.moved()
    return np.asarray(found.body).ravel()
