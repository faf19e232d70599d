"""Derivatives of steps of every family of methods, on systems of every kind, against differences of runs.

Differences are of order 8 along a direction in which all numbers of the state change. What is checked are steps in
which iterations take many rounds, as derivatives lag behind the numbers there.
"""

from __future__ import annotations

import functools

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import mp_kepler
import polhode as ph
from each import each
from each_system import EVERY
from polhode.algebra import rotation
from polhode.errors import InvalidInput

pytestmark = pytest.mark.usefixtures("columns_by_twos")
WEIGHTS = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
Q = np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95)
BODY = {"attitude": Q, "angular_momentum": [0.3, 0.4, 2.0]}
POINT = {"position": [1.0, 0.1, 0.2], "momentum": [0.2, 1.8, 0.6]}
STEPS = 3


def drawn(n, spacing, size, spin):
    """Places near those of a lattice, momenta, attitudes and angular momenta of n^3 bodies."""
    rng = np.random.default_rng(3)
    places = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 3) * spacing
    attitude = rng.standard_normal((n**3, 4))
    return {
        "position": places + 0.02 * spacing * rng.standard_normal(places.shape),
        "momentum": size * rng.standard_normal(places.shape),
        "attitude": attitude / np.linalg.norm(attitude, axis=1)[:, None],
        "angular_momentum": spin * rng.standard_normal(places.shape),
    }


SYSTEMS = {
    "particle": (lambda: ph.particle(2.0, stiffness=(1, 2, 3)), POINT, 0.3),
    "free_body": (lambda: ph.free_body([1.0, 1.7, 2.3]), BODY, 0.3),
    "rigid_body": (EVERY["rigid_body"], BODY, 0.2),
    "heavy_top": (lambda: ph.heavy_top([1.0, 1.7, 2.3], [0.1, 0.2, 1.0], 2.0), BODY, 0.3),
    "round_top": (lambda: ph.heavy_top([1.7, 1.7, 2.3], [0.0, 0.0, 1.0], 2.0), BODY, 0.3),
    "gravity_gradient": (EVERY["gravity_gradient"], BODY, 0.3),
    "soft_wall": (EVERY["soft_wall"], {"attitude": Q, "angular_momentum": [0.03, 0.04, 0.2]}, 1e-3),
    "orbit": (lambda: ph.orbit(1.0, 2.0, [ph.forces.zonal(J2=1e-3, radius=0.5)]), POINT, 0.2),
    "thrust": (EVERY["orbit"], POINT, 0.2),
    "spacecraft": (
        lambda: ph.spacecraft([1.0, 2.0, 2.5], 1.0, [2.0], forces=[ph.forces.zonal(J2=1e-3, radius=0.5)]),
        POINT | {"attitude": Q, "angular_momentum": [0.1, 0.4, 0.6]}, 0.1,
    ),
    "gravitating_bodies": (
        lambda: ph.gravitating_bodies((1.0, 2.0, 0.1)),
        {"position": [[1, 0, 0], [-0.5, 0, 0], [2, 2, 0.5]],
         "momentum": [[0, 1.0, 0.1], [0, -1.0, 0], [-0.03, 0.03, 0.01]]}, 0.05,
    ),
    "dipoles": (lambda: ph.dipoles(8, box=10.0, cutoff=3.0), drawn(2, 1.6, 0.1, 0.1), 0.005),
    "rigid_water": (lambda: ph.rigid_water(8, box=3.0, cutoff=1.0), drawn(2, 0.35, 0.5, 0.05), 5e-4),
}  # fmt: skip
"""Systems, where they start, and steps of them."""
SCALES = {"rigid_water": np.tile([0.02] * 6 + [0.1] * 3 + [0.02] * 3, 8)}
"""Sizes of the changes of each number of a state, where they are not 1."""

ROTATING = ("backward_euler", "trapm", "akw", "mkrk", "rotation_vector", "v2", "v2/jacobi", "rkn6_14a", "dmv10", "mr8",
            "semiexact10", "implicit_midpoint", "taylor8", "mkrk:gauss6")  # fmt: skip
MOVING = ("variational", "galerkin6", "v2/kepler")
SHORT = {
    ("heavy_top", "trapm"), ("heavy_top", "mkrk:gauss6"), ("orbit", "variational"),
}  # fmt: skip
"""Those of every run of the tests; kernels are compiled for each."""
ONLY_POINTS = ("particle", "orbit", "thrust", "gravitating_bodies")
POSSIBLE = [
    (system, method)
    for system, (_, start, _) in SYSTEMS.items()
    for method in (*(ROTATING if "attitude" in start else ("mkrk:gauss6", "v2", "rkn6_14a", "taylor8")),
                   *(MOVING if system in ONLY_POINTS else ()))
    if (method, system) not in (("v2/kepler", "particle"), ("taylor8", "dipoles"), ("taylor8", "rigid_water"))
]  # fmt: skip
PAIRS = [pytest.param(*one, marks=() if one in SHORT else pytest.mark.full) for one in POSSIBLE]


def turn_between(a, b):
    """Rotation vectors, in the body frame, that take attitudes a to b."""
    between = rotation.multiply(a * [1.0, -1.0, -1.0, -1.0], b)
    between = between * np.where(between[:, :1] < 0.0, -1.0, 1.0)
    length = np.linalg.norm(between[:, 1:], axis=1, keepdims=True)
    factor = 2.0 * np.arctan2(length, between[:, :1]) / np.where(length > 0.0, length, 1.0)
    return np.where(length > 0.0, factor, 2.0) * between[:, 1:]


def coordinates(ds, first):
    """Kinds of coordinates of the last row of a run about that of another: (bodies, kinds, 3)."""
    here, there = ({n: np.atleast_2d(one[n].values[-1]) for n in (*POINT, *BODY) if n in one} for one in (ds, first))
    parts = [turn_between(there[n], x) if n == "attitude" else x - there[n] for n, x in here.items()]
    return np.stack(parts, axis=1)


def moved(start, change):
    """A start whose coordinates have been changed."""
    found, at = {}, 0
    change = change.reshape(len(np.atleast_2d(next(iter(start.values())))), -1, 3)
    for name, value in start.items():
        x = np.atleast_2d(np.array(value, dtype=float))
        c, at = change[:, at], at + 1
        turned = name == "attitude"
        x = rotation.multiply(x, np.array([rotation.exp_quaternion(d) for d in c])) if turned else x + c
        found[name] = x if np.ndim(value) == 2 else x[0]
    return found


def error(name, method, sizes=(0.04, 0.01)):
    """The relative error of the derivatives along a direction, of the kind of coordinates that has the largest."""
    build, start, step = SYSTEMS[name]
    run = functools.partial(
        ph.integrate, build(), method, step=step, steps=STEPS, every=STEPS, settings={"guard": False}
    )
    first = run(**start, tangent=True)
    P = first.state_transition.values[-1]
    along = np.random.default_rng(1).standard_normal(P.shape[1])
    along *= SCALES.get(name, 1.0) / np.linalg.norm(along)
    found, off = None, []
    for size in sizes:  # the one that suits
        expected = 0.0
        for k, weight in WEIGHTS:
            for sign in (1, -1):
                ds = run(**moved(start, sign * k * size * along))
                expected = expected + sign * weight / size * coordinates(ds, first)
        found = (P @ along).reshape(expected.shape)
        off.append((np.abs(found - expected).max(axis=(0, 2)) / np.abs(expected).max(axis=(0, 2))).max())
    return min(off)


@pytest.mark.filterwarnings("ignore:the energy error of 'backward_euler'")
@each(("system", "method"), PAIRS)
def test_derivatives_are_those_of_differences(system, method):
    assert error(system, method) < 5e-12


REFUSED = {
    "baoab:temperature=1:friction=0.1": "has a heat bath, so that its runs have no derivatives",
    "nose_hoover:temperature=1:tau=0.5": "has a heat bath, so that its runs have no derivatives",
    "reversible:v2": "chooses its steps along the motion; derivatives are for steps of one size",
    "logarithmic:v2": "chooses its steps along the motion; derivatives are for steps of one size",
}


@each("method", REFUSED)
def test_methods_without_derivatives_are_refused(method):
    with pytest.raises(InvalidInput, match=REFUSED[method]):
        ph.integrate(SYSTEMS["orbit"][0](), method, step=0.1, steps=2, tangent=True, **POINT)


@each("system", ["rigid_body", "rigid_water"])
def test_a_commutator_by_differences_is_refused(system):
    build, start, step = SYSTEMS[system]
    with pytest.raises(InvalidInput, match="by differences only; take a splitting without it, such as 'rkn6_14a'"):
        ph.integrate(build(), "chin4b", step=step, steps=2, tangent=True, **start)


MOTIONS = {
    "ellipse": (1.0 - 1e-6, -2.4, 10.8),
    "ellipse, outward": (1.0 - 5e-6, 1.32, 0.75),
    "hyperbola": (1.0 + 2e-6, -1.0, 3.0),
    "parabola": (1.0, 0.5, 4.0),
    "backwards": (1.0 - 4e-6, 1.4, -2.6),
    "circle": (0.0, 0.3, 1.0),
    "short": (0.3, 1.0, 1e-3),
    "several turns": (0.2, 2.0, 31.0),
    "open": (3.0, -1.0, 30.0),
}
"""Eccentricity, true anomaly (rad) at the start, time; the distance of the periapsis and mu are 1."""


@each("name", MOTIONS)
def test_kepler_motion(name):
    """Against differences in 80 digits; near a parabola the anomaly since periapsis is of the order of what divides by
    the energy."""
    e, anomaly, t = MOTIONS[name]
    r, w = (1.0 + e) / (1.0 + e * np.cos(anomaly)), 1.0 / np.sqrt(1.0 + e)
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    ds = ph.integrate(
        ph.orbit(1.0), "kepler", step=abs(t), t_end=t, tangent=["mu"],
        position=turn @ [r * np.cos(anomaly), r * np.sin(anomaly), 0.0],
        momentum=turn @ [-w * np.sin(anomaly), w * (e + np.cos(anomaly)), 0.0],
    )  # fmt: skip
    begin = [*ds.position.values[0], *ds.momentum.values[0], 1.0]
    expected = np.empty((6, 7))
    with mp.workdps(mp_kepler.DIGITS):
        size = mp.mpf(10) ** -12
        for k in range(7):
            ends = []
            for sign in (1, -1):
                x = mp_kepler.vector(begin)
                x[k] += sign * size
                ends.append([c for part in mp_kepler.propagate(x[6], x[:3], x[3:6], t) for c in part])
            expected[:, k] = [float((a - b) / (2 * size)) for a, b in zip(*ends, strict=True)]
    found = ds.state_transition.values[-1]
    assert_allclose(found, expected, rtol=0.0, atol=2e-14 * np.abs(expected).max())

    pair, still = ph.gravitating_bodies((0.75, 0.25)), np.zeros(3)  # a quarter of a change moves the centre of mass
    ds = ph.integrate(
        pair, "v2/kepler", step=abs(t), t_end=t, tangent=True, position=[still, begin[:3]], velocity=[still, begin[3:6]]
    )
    found, size = ds.state_transition.values[-1, 6:, 6:], np.repeat([1.0, pair.mass[1]], 3)
    uniform = np.kron([[1.0, t], [0.0, 1.0]], np.eye(3))
    expected = 0.25 * uniform + 0.75 * expected[:, :6]
    assert_allclose(found / size[:, None] * size, expected, rtol=0.0, atol=2e-14 * np.abs(expected).max())


def test_attraction_beside_orbits():
    """Strong kicks between orbits, and their gravity parameters, by differences of runs."""
    mu = np.array([1.0, 0.03, 0.02])
    begin = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [-0.2, 1.7, 0.0]])
    speeds = np.array([[0.0, -0.01, 0.0], [0.0, 1.0, 0.1], [-0.75, 0.0, 0.05]])
    words = {"method": "v2/kepler", "step": 0.2, "steps": 20, "every": 20}

    def end(numbers):
        """Places and momenta at the end, by those at the start and the gravity parameters."""
        x, p, mu = numbers[:9].reshape(3, 3), numbers[9:18].reshape(3, 3), numbers[18:]
        ds = ph.integrate(ph.gravitating_bodies(mu), position=x, momentum=p, **words)
        return np.concatenate([ds.position.values[-1].ravel(), ds.momentum.values[-1].ravel()])

    numbers = np.concatenate([begin.ravel(), (mu[:, None] * speeds).ravel(), mu])
    expected = np.empty((18, 21))
    for k, e in enumerate(1e-4 * np.eye(21) * np.where(np.arange(21) < 9, 1.0, 0.02)[:, None]):
        near, far = (end(numbers + n * e) - end(numbers - n * e) for n in (1.0, 2.0))
        expected[:, k] = (8.0 * near - far) / (12.0 * e[k])
    ds = ph.integrate(ph.gravitating_bodies(mu), tangent=["mu"], position=begin, momentum=mu[:, None] * speeds, **words)
    rows = [f"{kind}_{axis}.{i}" for kind in ("position", "momentum") for i in range(3) for axis in "xyz"]
    found = ds.state_transition.sel(row=rows, column=[*rows, "mu.0", "mu.1", "mu.2"]).values[-1]
    scale = np.abs(expected).max(axis=0)
    assert_allclose(found / scale, expected / scale, rtol=0.0, atol=1e-8)
