"""One step of every splitting row against a transcription that shares no code with it.

The schemes: kicks and free motions carried out stage by stage as the table lists them, free motion by SciPy's DOP853,
torque and commutator load by complex differences of the potential. The rotor flows: products of rotation matrices. The
flows that solve equations or evaluate elliptic functions have files of their own.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

import polhode as ph
from cover import some
from each import each
from polhode.flows.rotors import triple_jumps
from polhode.methods import FLOW_NAMES, METHODS
from polhode.methods.splitting_tables import SCHEMES

INERTIA = np.array([1.0, 1.6, 2.1])
MOMENTUM = np.array([0.8, -0.5, 1.1])
TURN = np.array([0.4, -0.7, 0.3])
STEP = 0.3
CENTER, WEIGHT = np.array([0.6, -0.4, 1.4]), 0.7
ROTORS = {"mr", "mr4", "mr6", "mr8", "symmetric", "three_rotation"}
ELSEWHERE = {
    "exact": "test_free_rotation.py",
    **dict.fromkeys(("exact_matrix", "kosenko", "van_zon", "jacobi"), "test_elliptic_forms.py"),
    **dict.fromkeys(("semiexact6", "semiexact8", "semiexact10", "hermite4"), "test_elliptic_forms.py"),
    **dict.fromkeys(("dmv2", "dmv4", "dmv6", "dmv8", "dmv10", "implicit_midpoint"), "test_dmv.py"),
}

NAMED = {"lgvi": "test_commutator_free.py"}  # a scheme with one of the flows, by a name of its own


def hat(v):
    return np.array([[0 * v[0], -v[2], v[1]], [v[2], 0 * v[0], -v[0]], [-v[1], v[0], 0 * v[0]]])


def turned(v):
    """Rotation matrix by Rodrigues' formula."""
    angle = np.sqrt(np.dot(v, v))
    if angle == 0.0:
        return np.eye(3)
    k = hat(v) / angle
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def potential(R):
    return WEIGHT * (R @ CENTER)[2]


def gradient(function, R):
    """Left-trivialised derivative by a complex step."""
    return np.array([function(R @ (np.eye(3) + 1e-20j * hat(e))).imag / 1e-20 for e in np.eye(3)])


def torque(R):
    return -gradient(potential, R)


def commutator(R):
    """Derivative of torque . I^-1 torque, the torque in closed form so that a complex step goes through it."""
    return gradient(lambda Q: np.sum(np.cross(CENTER, Q[2]) ** 2 * WEIGHT**2 / INERTIA), R)


def free(R, m, t):
    def rates(_, z):
        w = z[9:] / INERTIA
        return np.concatenate([(z[:9].reshape(3, 3) @ hat(w)).ravel(), np.cross(z[9:], w)])

    if t == 0.0:
        return R, m
    z = solve_ivp(rates, (0, t), np.concatenate([R.ravel(), m]), "DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    return z[:9].reshape(3, 3), z[9:]


def carried_out(steps, R, m, h):
    for letter, fraction, *factor in steps:
        if letter == "A":
            R, m = free(R, m, fraction * h)
        else:
            m = m + fraction * h * torque(R)
            if factor and factor[0]:
                m = m + factor[0] * h**3 * commutator(R)
    return R, m


def found(name):
    top = ph.heavy_top(INERTIA, CENTER, WEIGHT)
    q = ph.rotation.exp_quaternion(TURN)
    ds = ph.integrate(top, name, step=STEP, steps=1, attitude=q, angular_momentum=MOMENTUM, settings={"guard": False})
    return ph.rotation.matrix_from_quaternion(ds.attitude.values[-1]), ds.angular_momentum.values[-1]


@each("name", some(SCHEMES, 24))
def test_schemes(name):
    scheme = SCHEMES[name]
    R, m = turned(TURN), MOMENTUM
    for steps in (scheme.pre, scheme.stages, scheme.post):
        R, m = carried_out(steps, R, m, STEP)
    Q, y = found(name)
    amplified = max(1.0, max(abs(step[1]) for step in scheme.stages)) ** 2  # yoshida8a runs 97 steps back and forth
    assert np.abs(Q - R).max() < 3e-12 * amplified and np.abs(y - m).max() < 3e-12 * amplified


def rotor(axis, share, R, m, h):
    """Exact flow of share * m_axis^2 / 2."""
    w = np.zeros(3)
    w[axis] = share * m[axis]
    return R @ turned(h * w), turned(-h * w) @ m


def rotors(name, R, m, h):
    j = 1.0 / INERTIA
    if name == "symmetric":  # the closest are axes 2 and 3, of which 2 is the lighter
        R, m = rotor(1, j[1] - j[2], R, m, 0.5 * h)
        R, m = (
            R @ turned(h * j[2] * m) @ turned(h * (j[0] - j[2]) * np.array([m[0], 0, 0])),
            turned(-h * (j[0] - j[2]) * np.array([m[0], 0, 0])) @ m,
        )
        return rotor(1, j[1] - j[2], R, m, 0.5 * h)
    axes = (2, 1, 0, 1, 2) if name == "three_rotation" else (0, 1, 2, 1, 0)
    order = int(name.removeprefix("mr") or 2) if name.startswith("mr") else 2
    for part in triple_jumps(order):
        for k, axis in enumerate(axes):
            R, m = rotor(axis, j[axis], R, m, part * h * (1.0 if k == 2 else 0.5))
    return R, m


@each("name", sorted(ROTORS))
def test_rotor_flows(name):
    R, m = turned(TURN), MOMENTUM + 0.5 * STEP * torque(turned(TURN))
    R, m = rotors(name, R, m, STEP)
    m = m + 0.5 * STEP * torque(R)
    Q, y = found(name)
    assert np.abs(Q - R).max() < 1e-14 and np.abs(y - m).max() < 1e-14


def test_every_row_has_a_transcription():
    rows = {name for name, row in METHODS.items() if row.family == "splitting"}
    assert rows == {*SCHEMES, *ROTORS, *ELSEWHERE, *NAMED}
    assert set(FLOW_NAMES) == {*ROTORS, *ELSEWHERE}


def test_triple_jumps_solve_their_equations():
    """Yoshida's: the fractions sum to 1, and the cubes of the three of order 4 cancel."""
    for order in (4, 6, 8):
        fractions = np.array(triple_jumps(order))
        assert abs(fractions.sum() - 1.0) < 1e-14
    assert abs(np.sum(np.array(triple_jumps(4)) ** 3)) < 1e-14
