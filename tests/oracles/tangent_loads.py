"""Systems in many digits, written by hand from the equations in books: loads, masses, inertias. Shares nothing with
polhode.

Loads use only + - * / and ``power`` and ``exponential``, so that they also take ``Series``, truncated power series in
time. All is in the user's frames: positions, momenta and forces in space, angular momenta and torques in the body frame
of the user, in which the inertia may be any tensor. A quaternion (w, x, y, z) has length 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mpmath as mp


# ------------------------------------------------------------------ vectors and quaternions
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def plus(*vectors):
    return [sum(parts[1:], parts[0]) for parts in zip(*vectors, strict=True)]


def times(s, a):
    return [s * x for x in a]


def minus(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


def transform(A, v):
    """A v for a matrix in rows."""
    return [row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in A]


def product(a, b):
    """Hamilton's product."""
    u, v = a[1:], b[1:]
    return [a[0] * b[0] - dot(u, v), *plus(times(a[0], v), times(b[0], u), cross(u, v))]


def conjugate(q):
    return [q[0], -q[1], -q[2], -q[3]]


def rotate(q, v):
    """R(q) v: from the body to space."""
    t = times(2, cross(q[1:], v))
    return plus(v, times(q[0], t), cross(q[1:], t))


def unrotate(q, v):
    """R(q)^T v: from space to the body."""
    return rotate(conjugate(q), v)


def unit(q):
    """A quaternion of length 1."""
    size = mp.sqrt(mp.fsum(x * x for x in q))
    return [x / size for x in q]


def exponential_map(v):
    """Quaternion of the turn by the rotation vector v."""
    angle = mp.sqrt(mp.fsum(x * x for x in v))
    return [mp.cos(angle / 2), *times(mp.sin(angle / 2) / angle if angle else mp.mpf(1) / 2, v)]


def rotation_vector(q):
    """The inverse of ``exponential_map``, of an angle below pi."""
    q = q if q[0] >= 0 else [-x for x in q]
    size = mp.sqrt(mp.fsum(x * x for x in q[1:]))
    return times(2 * mp.atan2(size, q[0]) / size if size else mp.mpf(2), q[1:])


# ------------------------------------------------------------------ power series in time
class Series:
    """Coefficients c_0 ... c_n of a function of time; operations are truncated to the shorter operand."""

    def __init__(self, coefficients):
        self.c = list(coefficients)

    def __add__(self, other):
        if isinstance(other, Series):
            return Series(x + y for x, y in zip(self.c, other.c, strict=False))
        return Series([self.c[0] + other, *self.c[1:]])

    def __mul__(self, other):
        if isinstance(other, Series):
            n = min(len(self.c), len(other.c))
            return Series(mp.fdot(self.c[: k + 1], other.c[k::-1]) for k in range(n))
        return Series(x * other for x in self.c)

    def __neg__(self):
        return Series(-x for x in self.c)

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self * (power(other, -1) if isinstance(other, Series) else 1 / other)

    def __rtruediv__(self, other):
        return power(self, -1) * other

    __radd__, __rmul__ = __add__, __mul__


def power(a, e):
    """a^e: k a_0 y_k = sum over j = 1 ... k of (e j - (k - j)) a_j y_(k-j)."""
    if not isinstance(a, Series):
        return mp.mpf(a) ** e
    y = [mp.mpf(a.c[0]) ** e]
    for k in range(1, len(a.c)):
        y.append(mp.fsum((e * j - (k - j)) * a.c[j] * y[k - j] for j in range(1, k + 1)) / (k * a.c[0]))
    return Series(y)


def exponential(a):
    """exp a: k y_k = sum over j = 1 ... k of j a_j y_(k-j)."""
    if not isinstance(a, Series):
        return mp.exp(a)
    y = [mp.exp(a.c[0])]
    for k in range(1, len(a.c)):
        y.append(mp.fsum(j * a.c[j] * y[k - j] for j in range(1, k + 1)) / k)
    return Series(y)


def sine(a):
    """sin of a number or of a series a_0 + a_1 t."""
    if not isinstance(a, Series):
        return mp.sin(a)
    if any(a.c[2:]):
        raise ValueError("sines of straight lines only")
    rate = a.c[1] if len(a.c) > 1 else mp.mpf(0)
    return Series(mp.sin(a.c[0] + k * mp.pi / 2) * rate**k / mp.factorial(k) for k in range(len(a.c)))


# ------------------------------------------------------------------ bodies
@dataclass
class Body:
    """Position and momentum in space; attitude, and angular momentum in the body. None for what it lacks."""

    r: Any = None
    p: Any = None
    q: Any = None
    m: Any = None


@dataclass
class Model:
    """A system: masses (None for what is pinned), inertia tensors (None for points), loads.

    ``loads(t, bodies)`` gives [(F, T)] for all but what the other two give: ``centre(bodies)``, the attraction that
    Kepler motion about ``mu`` solves, and ``moving(t, bodies)``, what depends on velocities. ``by_vertical(u)`` is the
    torque of a single body, where it depends on the vertical in the body alone.
    """

    mass: list
    inertia: list
    loads: Any
    moving: Any = None
    centre: Any = None
    mu: Any = None
    by_vertical: Any = None
    inverse: list = field(default_factory=list)

    def __post_init__(self):
        self.inverse = [None if I is None else (mp.matrix(I) ** -1).tolist() for I in self.inertia]

    def resting(self, t, bodies, with_centre=True):
        """Loads that do not depend on velocities."""
        found = self.loads(t, bodies)
        return added(found, self.centre(bodies)) if self.centre and with_centre else found

    def all(self, t, bodies):
        """All loads."""
        found = self.resting(t, bodies)
        return added(found, self.moving(t, bodies)) if self.moving else found


def added(a, b):
    """Sums of loads, None being none."""

    def both(x, y):
        return y if x is None else x if y is None else plus(x, y)

    return [(both(F, G), both(T, S)) for (F, T), (G, S) in zip(a, b, strict=True)]


def tensor(inertia):
    """3 moments or 3 rows as a tensor."""
    if isinstance(inertia[0], list):
        return inertia
    return [[inertia[i] if i == j else mp.mpf(0) for j in range(3)] for i in range(3)]


# ------------------------------------------------------------------ systems: a dictionary of arguments to a Model
def free_body(a):
    return upright(a, lambda u: [0 * x for x in u])


def upright(a, torque):
    """A body without a place, whose torque depends on the vertical in it alone."""

    def loads(t, bodies):
        return [(None, torque(unrotate(bodies[0].q, [0, 0, 1])))]

    return Model([None], [tensor(a["inertia"])], loads, by_vertical=torque)


def heavy_top(a):
    """Torque -W c x u, u the upward vertical in the body."""
    return upright(a, lambda u: times(-a["weight"], cross(a["center_of_mass"], u)))


def gravity_gradient(a):
    """Torque 3 mu / R^3 u x I u, u the direction of the centre in the body."""
    I, strength = tensor(a["inertia"]), 3 * a["mu"] / a["radius"] ** 3
    return upright(a, lambda u: times(strength, cross(u, transform(I, u))))


def oblateness(mu, J2, radius, r):
    """Acceleration -grad mu J2 R^2 (3 z^2 - r^2) / (2 r^5)."""
    rr, z = dot(r, r), r[2]
    i5 = power(rr, mp.mpf(-5) / 2)
    k = mu * J2 * radius**2 / 2
    along = 15 * z * z * i5 / rr - 3 * i5
    return plus(times(k * along, r), [0 * z, 0 * z, -6 * k * z * i5])


def air(given, r, v):
    """Acceleration -kd exp(-(r - radius)/scale) |u| u, u the velocity in air that turns about z."""
    u = minus(v, cross([0, 0, given["rotation"]], r))
    kd = given["kd"] if "kd" in given else given["coefficient"] * given["density"] / 2
    k = kd * exponential((given["radius"] - power(dot(r, r), mp.mpf(1) / 2)) / given["scale"])
    return times(-1 * (k * power(dot(u, u), mp.mpf(1) / 2)), u)


def accelerations(a):
    """Of the forces in the list: those of the position, and those of position and velocity or None."""
    zonal = [one for one in a["forces"] if one["kind"] == "zonal"]
    drag = [one for one in a["forces"] if one["kind"] == "drag"]

    def of_position(r):
        return plus([0 * x for x in r], *(oblateness(a["mu"], one["J2"], one["radius"], r) for one in zonal))

    def of_velocity(r, v):
        return plus(*(air(one, r, v) for one in drag))

    return of_position, of_velocity if drag else None


def orbit(a):
    of_position, of_velocity = accelerations(a)
    mass, mu = a["mass"], a["mu"]

    def loads(t, bodies):
        return [(times(mass, of_position(bodies[0].r)), None)]

    def moving(t, bodies):
        b = bodies[0]
        return [(times(mass, of_velocity(b.r, times(1 / mass, b.p))), None)]

    return Model([mass], [None], loads, moving if of_velocity else None, attraction(mu, mass), mu)


def attraction(mu, mass):
    """Force -mu m r / r^3 on one body."""

    def centre(bodies):
        r = bodies[0].r
        return [(times(-mu * mass * power(dot(r, r), mp.mpf(-3) / 2), r), None)]

    return centre


def spacecraft(a):
    """Orbit and attitude: the gravity gradient's force and torque beside the forces on an orbit."""
    of_position, of_velocity = accelerations(a)
    mass, mu, I = a["mass"], a["mu"], tensor(a["inertia"])
    trace = I[0][0] + I[1][1] + I[2][2]

    def loads(t, bodies):
        b = bodies[0]
        rr = dot(b.r, b.r)
        s = unrotate(b.q, b.r)  # r n
        Is = transform(I, s)
        i5 = power(rr, mp.mpf(-5) / 2)
        # F = -3 mu / (2 r^4) ((tr I - 5 n.In) n + 2 I n)
        pull = plus(times(trace - 5 * dot(s, Is) / rr, b.r), times(2, rotate(b.q, Is)))
        F = plus(times(mass, of_position(b.r)), times(-3 * mu / 2 * i5, pull))
        return [(F, times(3 * mu * i5, cross(s, Is)))]

    def moving(t, bodies):
        b = bodies[0]
        return [(times(mass, of_velocity(b.r, times(1 / mass, b.p))), None)]

    return Model([mass], [I], loads, moving if of_velocity else None, attraction(mu, mass), mu)


def dipoles(a):
    """Soft spheres 4 epsilon (sigma/r)^12 with dipoles, in free space."""
    n, epsilon, sigma = int(a["n"]), a["epsilon"], a["sigma"]

    def loads(t, bodies):
        F = [[mp.mpf(0)] * 3 for _ in range(n)]
        E = [[mp.mpf(0)] * 3 for _ in range(n)]
        at = [rotate(b.q, a["dipole"]) for b in bodies]
        for i in range(n):
            for j in range(n):
                if i != j:
                    d = minus(bodies[i].r, bodies[j].r)
                    rr = dot(d, d)
                    i3, i5 = power(rr, mp.mpf(-3) / 2), power(rr, mp.mpf(-5) / 2)
                    mine, other, both = dot(at[i], d), dot(at[j], d), dot(at[i], at[j])
                    core = 48 * epsilon * sigma**12 * power(rr, -7)
                    along = core + 3 * both * i5 - 15 * mine * other * i5 / rr
                    F[i] = plus(F[i], times(along, d), times(3 * i5 * other, at[i]), times(3 * i5 * mine, at[j]))
                    E[i] = plus(E[i], times(-1 * i3, at[j]), times(3 * other * i5, d))
        return [(F[i], cross(a["dipole"], unrotate(bodies[i].q, E[i]))) for i in range(n)]

    return Model([a["mass"]] * n, [tensor(a["inertia"])] * n, loads)


def damped_body(a):
    """A rigid body with the torque -k omega + s sin(w t) e1 of a user, parameters (k, s, w)."""
    I, (k, s, w) = tensor(a["inertia"]), a["parameters"]
    inverse = (mp.matrix(I) ** -1).tolist()

    def loads(t, bodies):
        push = s * sine(w * t)
        return [(None, [push, 0 * push, 0 * push])]

    def moving(t, bodies):
        return [(None, times(-k, transform(inverse, bodies[0].m)))]

    return Model([None], [I], loads, moving)


def in_a_field(a):
    """A rigid body in the potential c u_0^2 u_1 + d w_2 u_0 of a user, u and w the third and first row of R."""
    I, (c, d) = tensor(a["inertia"]), a["parameters"]

    def loads(t, bodies):
        q = bodies[0].q
        u, w = unrotate(q, [0, 0, 1]), unrotate(q, [1, 0, 0])
        # a turn by e changes u by u x e, so the torque is u x dV/du + w x dV/dw
        du = [2 * c * u[0] * u[1] + d * w[2], c * u[0] * u[0], 0 * u[0]]
        dw = [0 * u[0], 0 * u[0], d * u[0]]
        return [(None, plus(cross(u, du), cross(w, dw)))]

    return Model([None], [I], loads)


def henon_heiles(a):
    """A particle of the plane potential (x^2 + y^2)/2 + k (x^2 y - y^3/3), with a stiff third axis z^2/2."""
    k = a["parameters"][0]

    def loads(t, bodies):
        x, y, z = bodies[0].r
        return [([-x - 2 * k * x * y, -y - k * (x * x - y * y), -z], None)]

    return Model([a["mass"]], [None], loads)


MODELS = {
    "free_body": free_body, "heavy_top": heavy_top, "gravity_gradient": gravity_gradient, "orbit": orbit,
    "spacecraft": spacecraft, "dipoles": dipoles, "damped_body": damped_body, "in_a_field": in_a_field,
    "henon_heiles": henon_heiles,
}  # fmt: skip
