"""Every kind of equipment on every kind of body of a sum: it acts, as equations written by hand do, and balances.

The equations by hand are Newton's and Euler's in plain NumPy, integrated by SciPy's DOP853 at 1e-13, piece by piece
where something is switched or sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import polhode as ph
from cover import crossed
from each import each
from polhode.algebra.rotation import quaternions

STEP, STEPS = 0.01, 40
END = STEP * STEPS
EVERY = 0.05
"""Time between samples."""


# ------------------------------------------------------------------ bodies, and what acts on them anyway
@dataclass(frozen=True)
class Bodies:
    """Bodies of a sum, of which the first has the equipment, and forces and torques on all of them by hand."""

    mass: tuple[float, ...]
    inertia: tuple[Any, ...]
    loads: tuple[Any, ...]
    start: dict[str, Any]
    acting: Any


def matrix(q):
    return quaternions.matrix_from_quaternion(q / np.linalg.norm(q))


def weighed(r, R):
    return np.zeros((1, 3)), np.array([np.cross((0.0, 0.0, 1.0), R[0].T @ (0.0, 0.0, -20.0))])


def nothing(r, R):
    return np.zeros((1, 3)), np.zeros((1, 3))


def gradient_on(I, R, r, k):
    """Force and torque of a point of strength k at the origin on the extent of a body."""
    d = np.linalg.norm(r)
    n, J = r / d, R @ np.diag(I) @ R.T
    F = -1.5 * k / d**4 * ((np.trace(J) - 5.0 * n @ J @ n) * n + 2.0 * J @ n)
    return F, R.T @ (3.0 * k / d**3 * np.cross(n, J @ n))


def orbiting(r, R):
    m, I, x, J2, radius = 4.0, (0.5, 0.6, 0.7), r[0], 1e-2, 0.9
    d = np.linalg.norm(x)
    bulge = 1.5 * J2 * (radius / d) ** 2 * (1.0 - 5.0 * (x[2] / d) ** 2 + np.array((0.0, 0.0, 2.0)))
    F, T = gradient_on(I, R[0], x, 1.0)
    return np.array([F - m * x / d**3 * (1.0 + bulge)]), np.array([T])


def gravitating(r, R):
    (m, n), (I, J), d = (2.0, 1.0), ((0.5, 0.6, 0.7), (0.5, 0.6, 0.7)), r[1] - r[0]
    size = np.linalg.norm(d)
    between = -m * n * d / size**3
    F, T = gradient_on(J, R[1], d, m)
    G, S = gradient_on(I, R[0], -d, n)
    return np.array([G - F - between, F - G + between]), np.array([S, T])


def near(a, b, strength):
    d = b.position - a.position
    return strength * (1.0 + d @ d) ** 0.5 * (1.0 + 0.1 * a.in_space((1.0, 0.0, 0.0)) @ b.in_space((1.0, 0.0, 0.0)))


def clustered(r, R):
    F, T = np.zeros((2, 3, 3))
    e = np.array((1.0, 0.0, 0.0))
    for i in range(3):
        for j in range(i):
            d = r[i] - r[j]
            size, turn = np.sqrt(1.0 + d @ d), 1.0 + 0.1 * (R[i] @ e) @ (R[j] @ e)
            F[i] -= 0.3 * turn * d / size
            F[j] += 0.3 * turn * d / size
            for k, other in ((i, j), (j, i)):
                T[k] -= 0.03 * size * np.cross(e, R[k].T @ R[other] @ e)
    return F, T


SMALL = (0.5, 0.6, 0.7)
BODIES = {
    "a top": Bodies((np.inf,), ((5.0, 4.0, 1.0),), (ph.loads.weight(20.0, at=(0, 0, 1)),),
                    {"angular_velocity": [(0.3, 0.8, 2.0)]}, weighed),
    "free": Bodies((2.0,), ((1.0, 2.0, 2.5),), (),
                   {"velocity": [(0.4, 0.2, 0.1)], "angular_velocity": [(1.0, 0.5, 2.0)]}, nothing),
    "in orbit": Bodies((4.0,), (SMALL,), (ph.loads.central(1.0), ph.loads.zonal(1.0, 0.9, 1e-2),
                                          ph.loads.gravity_gradient(1.0)),
                       {"position": [(1.1, 0.1, 0.2)], "velocity": [(0.1, 0.8, 0.4)],
                        "angular_velocity": [(0.5, 0.7, -0.4)]}, orbiting),
    "two that gravitate": Bodies((2.0, 1.0), (SMALL, SMALL), (ph.loads.mutual_gravity(1.0).on("b0", "b1"),),
                                 {"position": [(0, 0, 0), (3.0, 0.2, 0)], "velocity": [(0.1, 0.2, 0), (0, 0.7, 0.1)],
                                  "angular_velocity": [(0.5, 0.7, 0.3), (0.1, 0, 0.4)]}, gravitating),
    "three molecules": Bodies((2.0, 2.0, 2.0), (SMALL,) * 3, (ph.loads.of(near, strength=0.3).on(ph.pairs),),
                              {"position": [(0, 0, 0), (1.5, 0, 0), (0, 1.8, 0.3)], "velocity": [(0.3, 0.1, 0.2)] * 3,
                               "angular_velocity": [(0.5, 0.7, 0.3), (0.2, 0.1, 0.4), (0, 0.3, 0.1)]}, clustered),
}  # fmt: skip


# ------------------------------------------------------------------ equipment
@dataclass(frozen=True)
class Equipment:
    """Summands on the first body, and by hand: force (space), torque (body), rates of states, what is sampled.

    ``by_hand(t, r, v, R, w, s)`` with the states s; ``sampled(w, s)`` returns new values of these.
    """

    summands: Any
    by_hand: Any
    states: tuple[float, ...] = ()
    surroundings: Any = None
    breaks: tuple[float, ...] = ()
    sampled: Any = None
    wheels: Any = None


def rubbed(body, k):
    return {"torque": -k * body.angular_velocity}


def sprung(body, k):
    return 0.5 * k * body.in_space((1.0, 0.0, 0.0))[0] ** 2


def thin(body, density):
    return density * (1.0 + 0.1 * body.position @ body.position)


def blown(body, thinness, k):
    return {"force": -k * thinness * body.velocity, "torque": -k * thinness * body.angular_velocity}


def plated(body, area, normal, arm):
    n = body.in_space(normal)
    speed = n @ (body.velocity + body.in_space(np.cross(body.angular_velocity, arm)))
    push = -area * ph.where(speed > 0.0, speed, 0.0) ** 2
    return {"force": push * n, "torque": push * np.cross(arm, normal)}


def heated(body, heat, k):
    w = body.angular_velocity
    return {"torque": k * heat * np.array((1.0, 0.0, 0.0)), "heat": w @ w - 0.1 * heat}


def commanded(body, command):
    return {"torque": (command, 0.0, 0.0)}


def law(body):
    return {"command": 0.3 * body.angular_velocity[1] + 0.1}


def tilted(body, strength):
    return strength * np.array((0.3, 1.0, 0.2)) * (1.0 + 0.1 * body.position @ body.position)


ARM, NORMAL, DIPOLE = np.array((0.1, 0.4, 0.2)), np.array((0.0, 0.6, 0.8)), np.array((0.5, -0.2, 0.3))
PUSH = np.array((0.3, 0.1, -0.2))


def by_plate(t, r, v, R, w, s):
    n = R @ NORMAL
    push = -0.3 * max(n @ (v + R @ np.cross(w, ARM)), 0.0) ** 2
    return push * n, push * np.cross(ARM, NORMAL), ()


def by_thruster(t, r, v, R, w, s):
    on = float(0.113 <= t < 0.271)
    return on * R @ PUSH, on * np.cross(ARM, PUSH), ()


def by_spring(t, r, v, R, w, s):
    n, a = R.T @ (1.0, 0.0, 0.0), np.array((1.0, 0.0, 0.0))
    return np.zeros(3), -0.8 * (n @ a) * np.cross(a, n), ()


def by_air(t, r, v, R, w, s):
    k = 0.2 * 0.5 * (1.0 + 0.1 * r @ r)
    return -k * v, -k * w, ()


def by_field(t, r, v, R, w, s):
    B = 0.4 * np.array((0.3, 1.0, 0.2)) * (1.0 + 0.1 * r @ r)
    return np.zeros(3), np.cross(DIPOLE, R.T @ B), ()


AXES, SPIN, SPEEDS, MOTOR, VISCOUS = np.eye(3)[:2], 0.05, np.array((8.0, -5.0)), np.array((0.02, -0.05)), 1e-3

EQUIPMENT = {
    "a torque of one's own": Equipment([ph.loads.of(rubbed, k=0.3)],
                                       lambda t, r, v, R, w, s: (np.zeros(3), -0.3 * w, ())),
    "a potential of one's own": Equipment([ph.loads.of(sprung, k=0.8)], by_spring),
    "air": Equipment([ph.loads.of(blown, k=0.2)], by_air,
                     surroundings={"thinness": ph.surroundings.of(thin, density=0.5)}),
    "a plate": Equipment([ph.loads.of(plated, area=0.3, normal=NORMAL, arm=ARM)], by_plate),
    "a thruster that is switched": Equipment([ph.loads.thrust(PUSH, position=ARM, start=0.113, stop=0.271)],
                                             by_thruster, breaks=(0.113, 0.271)),
    "a state with a rate": Equipment([ph.loads.of(heated, k=0.2).states(heat=0.7)],
                                     lambda t, r, v, R, w, s: (np.zeros(3), np.array((0.2 * s[0], 0.0, 0.0)),
                                                               (w @ w - 0.1 * s[0],)), states=(0.7,)),
    "a sampled controller": Equipment([ph.loads.of(commanded).states(command=0.0), ph.controller(law, every=EVERY)],
                                      lambda t, r, v, R, w, s: (np.zeros(3), np.array((s[0], 0.0, 0.0)), (0.0,)),
                                      states=(0.0,), breaks=tuple(np.arange(1, 8) * EVERY),
                                      sampled=lambda w, s: (0.3 * w[1] + 0.1,)),
    "torquers in a field": Equipment([ph.loads.torquers(np.eye(3), command=DIPOLE)], by_field,
                                     surroundings={"field": ph.surroundings.of(tilted, strength=0.4)}),
    "wheels": Equipment([], None, wheels=ph.reaction_wheels(AXES, SPIN, speed=SPEEDS, command=MOTOR, viscous=VISCOUS)),
}  # fmt: skip


def system_of(bodies, equipment):
    parts = [ph.body(f"b{k}", **({"pinned": True} if m == np.inf else {"mass": m}), inertia=I,
                     **({"wheels": equipment.wheels} if k == 0 and equipment and equipment.wheels else {}))
             for k, (m, I) in enumerate(zip(bodies.mass, bodies.inertia, strict=True))]  # fmt: skip
    loads = [one.on("b0") for one in equipment.summands] if equipment else []
    return ph.system(*parts, *bodies.loads, *loads, surroundings=equipment.surroundings if equipment else None)


@cache
def motion_by_hand(name, kind=None):
    """Positions, attitudes and angular velocities at the end."""
    bodies, equipment = BODIES[name], EQUIPMENT.get(kind)
    N, m = len(bodies.mass), np.array(bodies.mass)[:, None]
    J = np.array(bodies.inertia)  # of the body without what wheels add about their axes
    wheeled = equipment is not None and equipment.wheels is not None
    if wheeled:
        J = J - SPIN * (np.arange(N) == 0)[:, None] * (AXES.T @ AXES).diagonal()
    sizes = np.cumsum([3 * N, 3 * N, 4 * N, 3 * N])

    def rates(t, y):
        r, v, q, w, s = (part.reshape(N, -1) if k < 4 else part for k, part in enumerate(np.split(y, sizes)))
        R = np.array([matrix(one) for one in q])
        F, T = bodies.acting(r, R)
        changes = np.zeros(len(s))
        H = np.zeros((N, 3))
        if wheeled:
            h = s
            u = MOTOR - VISCOUS * (h / SPIN - AXES @ w[0])
            H[0] = h @ AXES
            T = T.copy()
            T[0] -= u @ AXES
            changes = u
        elif equipment is not None:
            f, g, changes = equipment.by_hand(t, r[0], v[0], R[0], w[0], s)
            F, T = F.copy(), T.copy()
            F[0] += f
            T[0] += g
        turning = (np.cross(J * w + H, w) + T) / J
        spin = np.array([quaternions.multiply(q[k], (0.0, *w[k])) for k in range(N)])
        return np.concatenate([v.ravel(), (F / m).ravel(), 0.5 * spin.ravel(), turning.ravel(), changes])

    zero = [(0.0, 0.0, 0.0)] * N
    s = np.array(equipment.states if equipment else ())
    w = np.array(bodies.start.get("angular_velocity", zero))
    if wheeled:
        s = SPIN * (SPEEDS + AXES @ w[0])
    y = np.concatenate([np.ravel(bodies.start.get("position", zero)), np.ravel(bodies.start.get("velocity", zero)),
                        np.tile((1.0, 0.0, 0.0, 0.0), N), w.ravel(), s])  # fmt: skip
    times = [0.0, *(equipment.breaks if equipment else ()), END]
    for begin, end in pairwise(times):
        if equipment is not None and equipment.sampled is not None:
            y[sizes[-1] :] = equipment.sampled(y[sizes[2] : sizes[2] + 3], y[sizes[-1] :])
        middle = 0.5 * (begin + end)  # what is switched is as in the middle of a piece, also at its ends

        def inside(t, y, begin=begin, end=end, middle=middle):
            return rates(min(max(t, begin + 1e-9 * middle), end - 1e-9 * middle), y)

        y = solve_ivp(inside, (begin, end), y, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    r, _, q, w, _ = np.split(y, sizes)
    return r.reshape(N, 3), q.reshape(N, 4), w.reshape(N, 3)


def run(bodies, equipment, method="mkrk:cv8"):
    start = bodies.start if len(bodies.mass) > 1 else {name: one[0] for name, one in bodies.start.items()}
    return ph.integrate(system_of(bodies, equipment), method, step=STEP, steps=STEPS, every=STEPS, **start)


def ends(ds, N):
    r = ds.position.values[-1] if "position" in ds else np.zeros(3)
    return [np.reshape(one, (N, -1)) for one in (r, ds.attitude.values[-1], ds.angular_velocity.values[-1])]


@each("name, kind", crossed(BODIES, EQUIPMENT))
def test_equipment_acts_on_any_body_as_by_hand(name, kind):
    bodies, equipment = BODIES[name], EQUIPMENT[kind]
    N = len(bodies.mass)
    ds = run(bodies, equipment)
    found, expected, without = ends(ds, N), motion_by_hand(name, kind), motion_by_hand(name)
    moved = max(abs(a[0] - b[0]).max() / abs(b[0]).max() for a, b in zip(expected, without, strict=True) if b[0].any())
    assert moved > 1e-6
    for a, b in zip(found, expected, strict=True):
        assert abs(a - b).max() < 1e-9
    assert float(abs(ds.energy_error).max()) < 1e-10


@each("name", BODIES)
def test_bodies_without_equipment_move_as_by_hand(name):
    bodies = BODIES[name]
    for a, b in zip(ends(run(bodies, None), len(bodies.mass)), motion_by_hand(name), strict=True):
        assert abs(a - b).max() < 1e-10
