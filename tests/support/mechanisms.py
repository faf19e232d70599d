"""Mechanisms, and their motion by formulations that share no line with polhode.

``mechanism(name)`` reads one of ``tests/data/mechanisms.json``, which ``tests/data/make_mechanisms.py`` writes. Points
and axes are in the axes of their body, whose origin is its centre of mass, those of the ground in space; attitudes are
quaternions w, x, y, z from body to space, angular velocities in body axes. Of sliders and welds both bodies have the
same attitude; a hinge with a spring has the same axis in both, and its angle is zero where the attitudes are equal.

Formulations:

``Redundant``     all coordinates of all bodies. The joints are functions of Taylor jets, from which their derivatives
                  follow: no Jacobian is written down. Accelerations and reactions are a least-squares solution, so rows
                  that others imply do no harm; nothing is stabilised
                  (Udwadia and Kalaba, Proc. R. Soc. A 439, 1992).
``Tree``          the coordinates of hinges and sliders of a tree that stands on the ground, by partial velocities
                  (Kane and Levinson, "Dynamics: theory and applications", 1985).
``planar_chain``, ``slider_crank_motion``, ``four_bar_motion``, ``pendulum_angle``
                  written out for one mechanism, the last one in Jacobi's functions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipkinc

DATA = Path(__file__).resolve().parent.parent / "data" / "mechanisms.json"
UNITS = np.eye(3)


# ------------------------------------------------------------------ records
@dataclass(frozen=True)
class Body:
    """A body: mass, inertia about its centre of mass (3 x 3)."""

    name: str
    mass: float
    inertia: np.ndarray


@dataclass(frozen=True)
class Joint:
    """A joint of two bodies; ``second`` is None for the ground.

    Kinds are ball, hinge, slider, weld, rod, and point, which keeps a point of the first on planes through one of the
    second whose normals, in space, are the rows of ``along``.
    """

    kind: str
    first: str
    second: str | None
    at: np.ndarray
    of_other: np.ndarray
    name: str = ""
    axis: np.ndarray | None = None
    axis_of_other: np.ndarray | None = None
    length: float = 0.0
    along: np.ndarray | None = None
    stiffness: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Mechanism:
    """Bodies, joints, gravity (3 numbers, space), the start and the reference at the time ``stop``.

    ``start`` and ``end`` have position, velocity, attitude, angular_velocity, a row a body, and ``reactions``, a row a
    joint: force (space) on the first body, then the torque (space) on it about its point ``at``; without them where
    rows are implied by others, for then they are not unique.
    """

    name: str
    bodies: list[Body]
    joints: list[Joint]
    gravity: np.ndarray
    start: dict[str, np.ndarray]
    stop: float
    end: dict[str, np.ndarray] | None = None
    note: str = ""
    implied: int = 0
    accuracy: float = 0.0

    @property
    def names(self) -> list[str]:
        return [body.name for body in self.bodies]

    def undamped(self) -> Mechanism:
        """The same without dampers."""
        return replace(self, joints=[replace(joint, damping=0.0) for joint in self.joints])

    def as_text(self) -> dict:
        """For JSON."""

        def plain(x):
            if isinstance(x, np.ndarray):
                return x.tolist()
            if isinstance(x, dict):
                return {key: plain(value) for key, value in x.items()}
            if isinstance(x, (list, tuple)):
                return [plain(one) for one in x]
            if isinstance(x, (Body, Joint)):
                return {key: plain(value) for key, value in vars(x).items() if value is not None or key == "second"}
            return x

        return plain(dict(vars(self)))


def of_text(words: dict) -> Mechanism:
    """From JSON."""

    def arrays(given):
        return None if given is None else {key: np.array(value) for key, value in given.items()}

    bodies = [Body(one["name"], one["mass"], np.array(one["inertia"])) for one in words["bodies"]]
    joints = [Joint(**{key: np.array(value) if isinstance(value, list) else value for key, value in one.items()})
              for one in words["joints"]]  # fmt: skip
    more = {"gravity": np.array(words["gravity"]), "start": arrays(words["start"]), "end": arrays(words["end"])}
    return Mechanism(**(words | {"bodies": bodies, "joints": joints} | more))


def all_mechanisms() -> dict[str, Mechanism]:
    """All of the file."""
    return {name: of_text(one) for name, one in json.loads(DATA.read_text()).items()}


def mechanism(name: str) -> Mechanism:
    """One of the file."""
    return of_text(json.loads(DATA.read_text())[name])


# ------------------------------------------------------------------ rotations
def cross(a, b):
    """The vector product along the last axis; that of NumPy takes ten times as long for few vectors."""
    a, b = np.asarray(a), np.asarray(b)
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def product(p, q):
    """Of quaternions."""
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + cross(p[1:], q[1:]))])


def conjugate(q):
    return np.array([q[0], -q[1], -q[2], -q[3]])


def turned(vector):
    """The quaternion of a rotation vector."""
    vector = np.asarray(vector, float)
    angle = np.linalg.norm(vector)
    return np.array([np.cos(angle / 2), *(0.5 * np.sinc(angle / 2 / np.pi) * vector)])


def matrix(q):
    """The rotation matrix of a quaternion, of whatever length."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip


def across(axis):
    """Two unit vectors that make a right-handed frame with an axis."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    one = cross(axis, UNITS[np.argmin(np.abs(axis))])
    one = one / np.linalg.norm(one)
    return one, cross(axis, one)


# ------------------------------------------------------------------ all coordinates
def dot(a, b):
    """The jets (value, rate, second derivative) of the product of two vectors."""
    return np.array([(a[0] * b[0]).sum(-1), (a[1] * b[0] + a[0] * b[1]).sum(-1),
                     (a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2]).sum(-1)])  # fmt: skip


class Redundant:
    """The equations in all coordinates: y is position, attitude, velocity, angular velocity of one body after another.

    Rows of G are found by 6 N motions with unit rates and no accelerations, and what a joint's second derivative is
    without accelerations by the true motion; all are jets of one call.
    """

    def __init__(self, given: Mechanism) -> None:
        self.given = given
        self.count = len(given.bodies)
        self.number = {name: i for i, name in enumerate(given.names)} | {None: self.count}
        self.mass = np.array([body.mass for body in given.bodies])
        self.inertia = np.array([body.inertia for body in given.bodies])
        roots = [np.linalg.cholesky(np.linalg.inv(J)) for J in self.inertia]  # M^-1 = S S'
        self.root = np.zeros((6 * self.count, 6 * self.count))
        for i, root in enumerate(roots):
            self.root[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / np.sqrt(self.mass[i])
            self.root[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = root

    # -------------------------------------------------------------- states
    def flat(self, state):
        return np.concatenate([np.concatenate([np.atleast_2d(state[key])[i] for key in
                               ("position", "attitude", "velocity", "angular_velocity")])
                               for i in range(self.count)])  # fmt: skip

    def state(self, y):
        rows = np.reshape(y, (self.count, 13))
        q = rows[:, 3:7] / np.linalg.norm(rows[:, 3:7], axis=1)[:, None]
        return {"position": rows[:, :3].copy(), "attitude": q, "velocity": rows[:, 7:10].copy(),
                "angular_velocity": rows[:, 10:].copy()}  # fmt: skip

    # -------------------------------------------------------------- joints
    def jets(self, y, rates):
        """Functions of (body, point): jets of the place of a point, and of a vector, for rates (K, N, 6)."""
        rows = np.reshape(y, (self.count, 13))
        R = [matrix(row[3:7]) for row in rows]

        def arrow(i, c):
            c = np.asarray(c, float)
            if i == self.count:
                return np.array([np.broadcast_to(c, (len(rates), 3)), *np.zeros((2, len(rates), 3))])
            w = rates[:, i, 3:]
            once = cross(w, c)
            return np.array([np.broadcast_to(R[i] @ c, (len(rates), 3)), once @ R[i].T, cross(w, once) @ R[i].T])

        def spot(i, c):
            place = arrow(i, c)
            if i < self.count:
                place[0] = place[0] + rows[i, :3]
                place[1] = place[1] + rates[:, i, :3]
            return place

        return spot, arrow

    def residuals(self, y, rates):
        """Jets of all rows (3, M, K), and which joint each belongs to."""
        spot, arrow = self.jets(y, rates)
        rows, owners = [], []
        for number, joint in enumerate(self.given.joints):
            a, b = self.number[joint.first], self.number[joint.second]
            gap = spot(a, joint.at) - spot(b, joint.of_other)
            mine = []
            if joint.kind in ("ball", "hinge", "weld"):
                mine += [gap[..., k] for k in range(3)]
            if joint.kind == "hinge":
                mine += [dot(arrow(a, n), arrow(b, joint.axis_of_other)) for n in across(joint.axis)]
            if joint.kind == "slider":
                mine += [dot(arrow(b, n), gap) for n in across(joint.axis_of_other)]
            if joint.kind in ("slider", "weld"):
                mine += [dot(arrow(a, UNITS[k]), arrow(b, UNITS[k - 1])) for k in range(3)]
            if joint.kind == "rod":
                square = dot(gap, gap)
                square[0] -= joint.length**2
                mine.append(square / (2 * joint.length))
            if joint.kind == "point":
                mine += [gap @ n for n in joint.along]
            rows += mine
            owners += [number] * len(mine)
        return np.array(rows).transpose(1, 0, 2), owners

    def rates(self, y):
        """Units along all directions, then the true ones."""
        rows = np.reshape(y, (self.count, 13))
        return np.concatenate([np.eye(6 * self.count).reshape(-1, self.count, 6), rows[None, :, 7:]])

    def gaps(self, y):
        """Residuals and their rates."""
        jets, _ = self.residuals(y, self.rates(y)[-1:])
        return jets[0, :, 0], jets[1, :, 0]

    def rank(self, y):
        """Singular values of G, all lengths being 1."""
        jets, _ = self.residuals(y, self.rates(y)[:-1])
        return np.linalg.svd(jets[1], compute_uv=False)

    # -------------------------------------------------------------- loads
    def angle(self, joint, y):
        """Of a hinge, and its rate."""
        rows = np.reshape(y, (self.count, 13))
        a, b = self.number[joint.first], self.number[joint.second]
        q, w = rows[a, 3:7], rows[a, 10:] @ joint.axis
        if b < self.count:
            q, w = product(conjugate(rows[b, 3:7]), q), w - rows[b, 10:] @ joint.axis
        return 2 * np.arctan2(q[1:] @ joint.axis, q[0]), w

    def loads(self, y):
        """Forces (space) and torques (body axes) but for those of joints, less the gyroscopic ones."""
        rows = np.reshape(y, (self.count, 13))
        out = np.zeros((self.count, 6))
        for i, row in enumerate(rows):
            out[i, :3] = self.mass[i] * self.given.gravity
            out[i, 3:] = -cross(row[10:], self.inertia[i] @ row[10:])
        for joint in self.given.joints:
            if joint.stiffness or joint.damping:
                a, b = self.number[joint.first], self.number[joint.second]
                angle, rate = self.angle(joint, y)
                torque = -(joint.stiffness * angle + joint.damping * rate) * joint.axis
                out[a, 3:] += torque
                if b < self.count:
                    out[b, 3:] -= torque
        return out.ravel()

    def energy(self, y):
        rows = np.reshape(y, (self.count, 13))
        total = sum(
            0.5 * joint.stiffness * self.angle(joint, y)[0] ** 2 for joint in self.given.joints if joint.stiffness
        )
        for i, row in enumerate(rows):
            total += 0.5 * self.mass[i] * row[7:10] @ row[7:10] + 0.5 * row[10:] @ self.inertia[i] @ row[10:]
            total -= self.mass[i] * self.given.gravity @ row[:3]
        return float(total)

    def momentum(self, y):
        """Linear and angular momentum about the origin, in space."""
        rows = np.reshape(y, (self.count, 13))
        linear = sum(self.mass[i] * row[7:10] for i, row in enumerate(rows))
        angular = sum(self.mass[i] * cross(row[:3], row[7:10]) + matrix(row[3:7]) @ self.inertia[i] @ row[10:]
                      for i, row in enumerate(rows))  # fmt: skip
        return linear, angular

    # -------------------------------------------------------------- motion
    def solved(self, y):
        """Accelerations, multipliers, G and owners of rows; the rank is that of the start, off the joints as well."""
        jets, owners = self.residuals(y, self.rates(y))
        G = jets[1, :, :-1]
        wide = G @ self.root
        free = self.root.T @ self.loads(y)  # of M^(1/2) a
        U, s, V = np.linalg.svd(wide, full_matrices=False)
        rank = len(G) - self.given.implied
        U, s, V = U[:, :rank], s[:rank], V[:rank]
        lack = (U.T @ (-jets[2, :, -1] - wide @ free)) / s
        return self.root @ (free + V.T @ lack), U @ (lack / s), G, owners

    def slope(self, _, y):
        rows = np.reshape(y, (self.count, 13))
        rise = self.solved(y)[0].reshape(self.count, 6)
        out = np.empty_like(rows)
        for i, row in enumerate(rows):
            out[i, :3] = row[7:10]
            out[i, 3:7] = 0.5 * product(row[3:7], np.array([0.0, *row[10:]]))
            out[i, 7:] = rise[i]
        return out.ravel()

    def reactions(self, y):
        """A row a joint: force on the first body, torque on it about its point, both in space."""
        _, forces, G, owners = self.solved(y)
        rows, out = np.reshape(y, (self.count, 13)), []
        for number, joint in enumerate(self.given.joints):
            i = self.number[joint.first]
            wrench = sum((forces[r] * G[r, 6 * i : 6 * i + 6] for r, owner in enumerate(owners) if owner == number),
                         np.zeros(6))  # fmt: skip
            R = matrix(rows[i, 3:7])
            out.append([*wrench[:3], *(R @ wrench[3:] - cross(R @ joint.at, wrench[:3]))])
        return np.array(out)

    def closed(self, y, places=False):
        """The nearest velocities (by the masses) with which no joint opens; if asked, first the nearest places."""
        rows = np.reshape(np.array(y, float), (self.count, 13)).copy()
        for turn in range(3 if places else 1):
            moving = turn < 2 and places
            jets, _ = self.residuals(rows.ravel(), self.rates(rows.ravel()))
            answer = np.linalg.pinv(jets[1, :, :-1] @ self.root, rcond=1e-9) @ jets[0 if moving else 1, :, -1]
            step = (self.root @ answer).reshape(self.count, 6)
            if not moving:
                rows[:, 7:] -= step
            for row, by in zip(rows, step if moving else (), strict=False):
                row[:3] -= by[:3]
                row[3:7] = product(row[3:7] / np.linalg.norm(row[3:7]), turned(-by[3:]))
        return rows.ravel()

    def motion(self, stop, start=None, accuracy=1e-13, pieces=1):
        """The state at the end, by DOP853; what opens is closed after each of some pieces only."""
        y = self.flat(self.given.start if start is None else start)
        for k in range(pieces):
            found = solve_ivp(self.slope, (k * stop / pieces, (k + 1) * stop / pieces), y, "DOP853", rtol=accuracy,
                              atol=accuracy)  # fmt: skip
            assert found.success, found.message
            y = found.y[:, -1] if pieces == 1 else self.closed(found.y[:, -1], places=True)
        return y


def distance(one, other):
    """Of two states: the largest difference of any position (m), rotation matrix, velocity or angular velocity."""
    worst = 0.0
    for key in ("position", "velocity", "angular_velocity"):
        worst = max(worst, np.abs(np.atleast_2d(one[key]) - np.atleast_2d(other[key])).max())
    for p, q in zip(np.atleast_2d(one["attitude"]), np.atleast_2d(other["attitude"]), strict=True):
        worst = max(worst, np.abs(matrix(p) - matrix(q)).max())
    return float(worst)


def apart(one, other):
    """Of two states: the largest difference of any position (m) or rotation matrix."""
    worst = np.abs(np.atleast_2d(one["position"]) - np.atleast_2d(other["position"])).max()
    for p, q in zip(np.atleast_2d(one["attitude"]), np.atleast_2d(other["attitude"]), strict=True):
        worst = max(worst, np.abs(matrix(p) - matrix(q)).max())
    return float(worst)


# ------------------------------------------------------------------ coordinates of a tree
class Tree:
    """Hinges and sliders from the ground up: accelerations of their coordinates by partial velocities.

    Joint k leads to body k (its first) from the ground or from a body of a smaller number. At coordinate zero the body
    is turned against its parent as it is at the start, and moved as it is there.
    """

    def __init__(self, given: Mechanism) -> None:
        self.given, self.whole = given, Redundant(given)
        start, number = given.start, self.whole.number
        assert [number[joint.first] for joint in given.joints] == list(range(len(given.bodies)))
        assert all(joint.kind in ("hinge", "slider") for joint in given.joints)
        self.parent = [number[joint.second] for joint in given.joints]
        self.rest, self.offset, rates = [], [], []
        for i, joint in enumerate(given.joints):
            p = self.parent[i]
            on_ground = p == len(given.bodies)
            q = np.array([1.0, 0, 0, 0]) if on_ground else start["attitude"][p]
            self.rest.append(product(conjugate(q), start["attitude"][i]))
            place = start["position"][i] + matrix(start["attitude"][i]) @ joint.at
            base = joint.of_other if on_ground else start["position"][p] + matrix(q) @ joint.of_other
            axis = matrix(q) @ joint.axis_of_other / np.linalg.norm(joint.axis_of_other)
            self.offset.append(axis @ (place - base))
            if joint.kind == "hinge":
                w = matrix(start["attitude"][i]) @ start["angular_velocity"][i]
                v = np.zeros(3) if on_ground else matrix(q) @ start["angular_velocity"][p]
                rates.append(axis @ (w - v))
            else:
                at = self.whole.flat(start).reshape(-1, 13)
                v = at[i, 7:10] + cross(matrix(at[i, 3:7]) @ at[i, 10:], place - at[i, :3])
                u = np.zeros(3) if on_ground else at[p, 7:10] + cross(matrix(q) @ at[p, 10:], place - at[p, :3])
                rates.append(axis @ (v - u))
        self.rates = np.array(rates)

    def frames(self, c, rate):
        """Of each body: place, quaternion, velocity, angular velocity (space), both velocities for unit rates of
        coordinates (n, 3), and accelerations without those of coordinates."""
        n, bodies = len(c), []
        ground = (np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3), np.zeros((n, 3)), np.zeros((n, 3)),
                  np.zeros(3), np.zeros(3))  # fmt: skip
        for i, joint in enumerate(self.given.joints):
            x, q, v, w, V, W, a, b = ground if self.parent[i] == n else bodies[self.parent[i]]
            R = matrix(q)
            axis = R @ (joint.axis_of_other / np.linalg.norm(joint.axis_of_other))
            arm = R @ joint.of_other
            V, W, own = V.copy(), W.copy(), np.eye(n)[i][:, None] * axis
            if joint.kind == "hinge":
                arm = arm + self.offset[i] * axis
                turn = turned(c[i] * joint.axis_of_other / np.linalg.norm(joint.axis_of_other))
                q = product(product(q, turn), self.rest[i])
                v, V, a = v + cross(w, arm), V + cross(W, arm), a + cross(b, arm) + cross(w, cross(w, arm))
                b = b + cross(w, axis * rate[i])
                w, W = w + axis * rate[i], W + own
            else:
                arm, q = arm + (self.offset[i] + c[i]) * axis, product(q, self.rest[i])
                a = a + cross(b, arm) + cross(w, cross(w, arm)) + 2 * cross(w, axis * rate[i])
                v, V = v + cross(w, arm) + axis * rate[i], V + cross(W, arm) + own
            back = -matrix(q) @ joint.at
            x = x + arm + back
            a = a + cross(b, back) + cross(w, cross(w, back))
            v, V = v + cross(w, back), V + cross(W, back)
            bodies.append((x, q, v, w, V, W, a, b))
        return bodies

    def slope(self, _, y):
        n = len(y) // 2
        M, f = np.zeros((n, n)), np.zeros(n)
        for body, (_, q, _, w, V, W, a, b) in zip(self.given.bodies, self.frames(y[:n], y[n:]), strict=True):
            J = matrix(q) @ body.inertia @ matrix(q).T
            M += body.mass * V @ V.T + W @ J @ W.T
            f += body.mass * V @ (self.given.gravity - a) - W @ (J @ b + cross(w, J @ w))
        for i, joint in enumerate(self.given.joints):
            f[i] -= joint.stiffness * y[i] + joint.damping * y[n + i]
        return np.concatenate([y[n:], np.linalg.solve(M, f)])

    def motion(self, stop, accuracy=1e-13):
        """The state at the end."""
        n = len(self.rates)
        y = solve_ivp(self.slope, (0.0, stop), [*np.zeros(n), *self.rates], "DOP853", rtol=accuracy, atol=accuracy).y[
            :, -1
        ]
        bodies = self.frames(y[:n], y[n:])
        return {"position": np.array([one[0] for one in bodies]), "attitude": np.array([one[1] for one in bodies]),
                "velocity": np.array([one[2] for one in bodies]),
                "angular_velocity": np.array([matrix(one[1]).T @ one[3] for one in bodies])}  # fmt: skip


# ------------------------------------------------------------------ one mechanism each
def planar_chain(masses, moments, halves, gravity, angles, rates, stop, accuracy=1e-13):
    """Angles and rates of links that hang from each other, from the downward vertical, centres in their middles."""
    m, I, h = (np.asarray(x, float) for x in (masses, moments, halves))
    n = len(m)
    # the arm of centre i that turns with angle j
    arm = np.array([[2 * h[j] if j < i else (h[j] if j == i else 0.0) for j in range(n)] for i in range(n)])
    K = arm.T @ (m[:, None] * arm)

    def slope(_, y):
        a, w = y[:n], y[n:]
        d = a[:, None] - a[None, :]
        pull = gravity * (m @ arm) * np.sin(a)
        return np.concatenate([w, np.linalg.solve(K * np.cos(d) + np.diag(I), -(K * np.sin(d)) @ w**2 - pull)])

    return solve_ivp(slope, (0.0, stop), [*angles, *rates], "DOP853", rtol=accuracy, atol=accuracy).y[:, -1]


def slider_crank_motion(given: Mechanism, stop: float, accuracy: float = 1e-13):
    """Crank angle (from x to -z, about y) and rate of the classical slider-crank in the plane of x and z.

    The kinetic energy is I(angle) rate^2 / 2, so I angle'' = -V' - I' rate^2 / 2; derivatives by a complex step.
    """
    crank, rod, block = given.bodies
    r, l = (2 * np.linalg.norm(given.joints[k].of_other) for k in (1, 2))
    weight = -given.gravity[2]

    def slopes(a):
        """Rates of the rod's angle, of its centre, of the block, for a unit rate of the crank."""
        s = r * np.sin(a) / l  # sine of the rod's angle
        c = np.sqrt(1 - s * s)
        turn = r * np.cos(a) / (l * c)
        centre = (-r * np.sin(a) - 0.5 * l * s * turn, -r * np.cos(a) + 0.5 * l * c * turn)
        return turn, centre, -r * np.sin(a) - l * s * turn

    def inertia(a):
        turn, centre, slide = slopes(a)
        return (crank.inertia[1, 1] + crank.mass * (0.5 * r) ** 2 + rod.inertia[1, 1] * turn**2
                + rod.mass * (centre[0] ** 2 + centre[1] ** 2) + block.mass * slide**2)  # fmt: skip

    def slope(_, y):
        a, w = y
        force = -weight * (crank.mass * (-0.5 * r * np.cos(a)) + rod.mass * slopes(a)[1][1])
        return w, (force - 0.5 * (inertia(a + 1e-30j).imag / 1e-30) * w * w) / inertia(a)

    w = given.start["angular_velocity"][0] @ UNITS[1]
    q = given.start["attitude"][0]
    angle = 2 * np.arctan2(q[2], q[0])
    return solve_ivp(slope, (0.0, stop), [angle, w], "DOP853", rtol=accuracy, atol=accuracy).y[:, -1]


def four_bar_motion(windows, stop, angle=0.0, rate=1.0, gravity=9.81, length=1.0, accuracy=1e-13):
    """Angle of the cranks from the upward vertical of N four-bars in a row (2 N + 1 uniform bars), and its rate.

    The couplers only move, the cranks turn about their ends: (N + 1) m l^2 / 3 + N m l^2 is the inertia, and the weight
    has the arm (N + 1) / 2 + N lengths.
    """
    k = ((windows + 1) / 2 + windows) / ((windows + 1) / 3 + windows) * gravity / length
    return solve_ivp(lambda _, y: (y[1], k * np.sin(y[0])), (0.0, stop), [angle, rate], "DOP853", rtol=accuracy,
                     atol=accuracy).y[:, -1]  # fmt: skip


def placed_four_bars(angle, rate):
    """State of the double four-bar, its cranks at an angle from the upward vertical, about y."""
    x, y, z = UNITS
    up, across = np.sin(angle) * x + np.cos(angle) * z, rate * (np.cos(angle) * x - np.sin(angle) * z)
    q, flat = turned(angle * y), turned(np.pi / 2 * y)
    return {"position": np.array([k * x + up / 2 for k in range(3)] + [(k + 0.5) * x + up for k in range(2)]),
            "attitude": np.array([q] * 3 + [flat] * 2), "velocity": np.array([across / 2] * 3 + [across] * 2),
            "angular_velocity": np.array([rate * y] * 3 + [0 * y] * 2)}  # fmt: skip


def pendulum_angle(t, angle, k):
    """Angle and rate from the downward vertical at times t of a pendulum released at rest: angle'' = -k sin(angle)."""
    m = np.sin(angle / 2) ** 2
    sn, cn, _, _ = ellipj(ellipkinc(np.pi / 2, m) - np.sqrt(k) * np.asarray(t, float), m)
    return 2 * np.arcsin(np.sqrt(m) * sn), 2 * np.sqrt(k * m) * -cn
