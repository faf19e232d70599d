"""Derivatives of runs with valves, which close at times that move with their commands: against differences, DOP853."""

from __future__ import annotations

import functools
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import polhode as ph
from cover import chosen, some
from each import each
from polhode.kernel import jit

pytestmark = [
    pytest.mark.skipif(jit.disabled(), reason="derivatives need compiled kernels"),
    pytest.mark.usefixtures("columns_by_twos"),
]
MOMENTS = np.array([30.0, 35.0, 40.0])
FORCES, PLACES = [(1, 0, 0), (-1, 0, 0), (0, 1, 0)], [(0, -0.8, 0), (0, -0.8, 0), (0, 0, 0.6)]
TORQUES = np.cross(PLACES, FORCES) * 0.2
START = {"angular_velocity": np.array([0.01, 0.02, 0.15]), "attitude": (np.cos(0.02), 0.0, 0.0, np.sin(0.02))}
LOW = {"position": (7e6, 0, 0), "velocity": (0, 5300, 5300)}
STEPS = {"steps": ph.Tolerance(1e-12)}
END = 7.25


def shares(q, omega, gains):
    wanted = -gains[0] * q[3] * np.sign(q[0]) - gains[1] * omega[2]
    return max(wanted, 0.0), max(-wanted, 0.0), 0.3 + gains[2] * omega[0]


def law(t, position, velocity, q, omega, parameters, states):
    wanted = shares(q, omega, parameters)
    return wanted[0] + parameters[3], wanted[1] + parameters[4], wanted[2] + parameters[5]


def craft(gains=(12.0, 5.0, 2.0), given=(0.0, 0.0, 0.0), **words):
    """Valves that open as three gains command and by given shares beside."""
    jets = ph.systems.pulsed_thrusters(0.2, FORCES, every=0.5, positions=PLACES, min_on_time=0.02, **words)
    return ph.spacecraft(MOMENTS, ph.planets.EARTH.mu, 100.0, pulsed_thrusters=jets, parameters=[*gains, *given],
                         controllers=[ph.controller(law, every=0.5, sets="thruster_command")])  # fmt: skip


def of_sum(bus, gains, given):
    return {"thruster_command": np.array(shares(bus.attitude, bus.angular_velocity, gains)) + given}


def free(gains=(12.0, 5.0, 2.0), given=(0.0, 0.0, 0.0)):
    """The same without an orbit: derivatives of Taylor series and of solvers are compiled in a third of the time."""
    jets = ph.loads.pulsed_thrusters(0.2, FORCES, every=0.5, positions=PLACES, min_on_time=0.02)
    law = ph.controller(of_sum, every=0.5, parameters={"gains": [*gains], "given": [*given]})
    return ph.system(ph.body("bus", 100.0, MOMENTS), jets, law)


def case(method, word):
    """The system of a method, where it starts, and the names of its three gains or given shares."""
    if method in ("taylor", "mkrk:gauss4", "mkrk:cv8"):
        return free, START, [f"of_sum.{word}.{k}" for k in range(3)]
    return craft, LOW | START, [f"parameters.{k + 3 * (word == 'given')}" for k in range(3)]


def run(method, step=0.25, gains=(12.0, 5.0, 2.0), **words):
    build, start, _ = case(method, "gains")
    steps = {"step": step} if step else STEPS
    return ph.integrate(build(gains), method, t_end=END, **{**start, **steps, **words})


def read(ds):
    names = ("position", "momentum", "angular_momentum_body", "thruster_command", "thruster_closes", "thruster_fired")
    body = ds.assign(angular_momentum_body=ds.angular_velocity * MOMENTS)
    return np.concatenate([body[name].values[-1] for name in names])


ROWS = [f"{word}_{axis}" for word in ("position", "momentum", "angular_momentum") for axis in "xyz"]
SPINS = ROWS[6:]
ROWS += [f"thruster_{word}.{k}" for word in ("command", "closes", "fired") for k in range(3)]


@each(("method", "step"), chosen([
    ("v2", 0.25), ("s4_6", 0.29), ("rkn6_14a/kepler", 0.125), ("mkrk:cv8", 0.725), ("mkrk:gauss4", 0.25),
    ("mkrk:dp8", 0), ("taylor", 0),
], [("v2", 0.25), ("mkrk:cv8", 0.725)]))  # fmt: skip
def test_the_matrix_is_that_of_differences(method, step):
    """By the spin at the start and by gains; steps that end where samples are, shorter ones, others, chosen ones."""
    names = case(method, "gains")[2]
    columns = [*SPINS, *names]
    ds = run(method, step, tangent=names)
    matrix = ds.state_transition.sel(row=ROWS, column=columns).values[-1]
    for j, name in enumerate(columns):
        k = j % 3
        if name in names:
            d = 1e-4
            moved = [run(method, step, tuple(np.array((12.0, 5.0, 2.0)) + s * d * np.eye(3)[k])) for s in (1, -1)]
        else:
            d = 1e-4 * MOMENTS[k]
            spins = [START["angular_velocity"] + s * 1e-4 * np.eye(3)[k] for s in (1, -1)]
            moved = [run(method, step, angular_velocity=spin) for spin in spins]
        found = (read(moved[0]) - read(moved[1])) / (2.0 * d)
        if name not in names[:1]:
            assert abs(matrix[12:, j]).max() > 1e-3
        assert_allclose(matrix[3:6, j], found[3:6], rtol=1e-6, atol=2e-10 * 7e5 / d)  # round-off of momenta
        assert_allclose(matrix[6:, j], found[6:], rtol=1e-6, atol=1e-7 * abs(matrix[6:, j]).max())


@functools.cache
def dop853(spin, gains):
    """Spin at the end by equations of motion written here, from one time at which a valve moves to the next."""

    I1, I2, I3 = MOMENTS

    def rate(t, x, on, torque):
        a, b, c, d, u, v, w = x[:7].tolist()
        turned = (-b * u - c * v - d * w, a * u + c * w - d * v, a * v + d * u - b * w, a * w + b * v - c * u)
        spun = ((I2 - I3) * v * w, (I3 - I1) * w * u, (I1 - I2) * u * v)
        return [*(0.5 * z for z in turned), *((n + z) / m for n, z, m in zip(torque, spun, MOMENTS, strict=True)), *on]

    x = np.concatenate([START["attitude"], spin, np.zeros(3)])
    t = 0.0
    while t < END:
        cmd = np.clip(shares(x[:4], x[4:7], gains), 0.0, 1.0)
        pulses = np.where(0.5 * cmd < 0.02, 0.0, 0.5 * cmd)
        stop = min(t + 0.5, END)
        times = sorted({t, stop, *(min(t + one, stop) for one in pulses)})
        for a, b in pairwise(times):
            on = (t + pulses > a).astype(float)
            x = solve_ivp(rate, (a, b), x, "DOP853", rtol=1e-13, atol=1e-14, args=(on, on @ TORQUES)).y[:, -1]
        t = stop
    return x[4:]


@each("method", some(["mkrk:cv8", "taylor"], 1))
def test_the_derivative_is_that_of_the_motion(method):
    """Equations by hand, without the gravity gradient, whose difference is below what is compared."""
    steps = {"step": 0.25} if method != "taylor" else STEPS
    ds = ph.integrate(free(), method, t_end=END, tangent=["of_sum.gains"], **START, **steps)
    rows = [*SPINS, *(f"thruster_fired.{k}" for k in range(3))]
    columns = [*SPINS, *(name for name in map(str, ds.column.values) if "gains" in name)]
    matrix = ds.state_transition.sel(row=rows, column=columns).values[-1]
    gains, spin, size = np.array([12.0, 5.0, 2.0]), START["angular_velocity"], np.array([*MOMENTS, 1.0, 1.0, 1.0])
    for j, name in enumerate(columns):
        along = np.eye(3)[j % 3]

        def moved(s, along=along, name=name):
            if name.startswith("angular"):
                return size * dop853(tuple(spin + s * along / MOMENTS), tuple(gains))
            return size * dop853(tuple(spin), tuple(gains + s * along))

        d = 4e-3
        found = (8.0 * (moved(d) - moved(-d)) - moved(2 * d) + moved(-2 * d)) / (12.0 * d)
        assert_allclose(matrix[:, j], found, rtol=1e-6, atol=1e-8 * abs(found).max())


@each("method", some(["v2", "v2/kepler", "mkrk:cv8", "mkrk:gauss4", "taylor"], 3))
def test_valves_that_close_at_once_have_their_own_derivatives(method):
    """Two of them at the same time, a third that is open to the end of its period. Numbers of a method have other
    slopes, by its error, where the first closes before the second and where it does so behind it."""
    build, start, names = case(method, "given")
    words = {"t_end": 1.0, **start, **(STEPS if method == "taylor" else {"step": 0.5})}

    def opened(first, second):
        """Valves of given shares alone; the third has 1.0 in all."""
        return build((0.0, 0.0, 0.0), (first, second, 0.7))

    ds = ph.integrate(opened(0.4, 0.4), method, tangent=names, **words)
    by = ds.state_transition.sel(column=names)
    fired = by.sel(row=[f"thruster_fired.{k}" for k in range(3)]).values[-1]
    assert_allclose(fired, np.diag([1.0, 1.0, 0.0]), rtol=0, atol=1e-12)
    matrix = by.sel(row=ROWS[:9]).values[-1]
    for k in range(2):
        d = (-1e-3, 1e-3)[k]
        here, one, two = (read(ph.integrate(opened(*(0.4 + s * d * np.eye(2)[k])), method, **words)) for s in range(3))
        found = (4.0 * one - two - 3.0 * here) / (2.0 * d)
        assert_allclose(matrix[3:6, k], found[3:6], rtol=0, atol=2e-6)  # round-off of momenta of 7e5
        assert_allclose(matrix[6:, k], found[6:9], rtol=1e-6, atol=1e-9)


def test_resolved_pulses_are_constant():
    names = case("v2", "gains")[2]
    ds = ph.integrate(craft(resolution=0.05), "v2", step=0.25, t_end=END, tangent=names, **LOW, **START)
    fired = ds.state_transition.sel(row=["thruster_fired.0", "thruster_fired.1"])
    assert not fired.sel(column=names).values.any()
    assert float(ds.thruster_fired[-1].max()) > 1.0


def test_gradients_and_growth_know_them():
    def spin(rows):
        return rows.angular_velocity[2]

    words = {"step": 0.25, "t_end": END, **START}
    found = ph.gradient(spin, free(), "mkrk:cv8", wrt=case("mkrk:cv8", "gains")[2], **words)
    for k, by in enumerate(found.flat()):
        ends = [run("mkrk:cv8", gains=tuple(np.array((12.0, 5.0, 2.0)) + s * 1e-4 * np.eye(3)[k])) for s in (1, -1)]
        differences = float(ends[0].angular_velocity[-1, 2] - ends[1].angular_velocity[-1, 2]) / 2e-4
        assert by == pytest.approx(differences, rel=1e-6, abs=1e-10)
    grown = ph.chaos.lyapunov(free(), "mkrk:cv8", step=0.25, steps=29, vectors=2, every=29, **START)
    assert np.isfinite(grown.exponent.values).all()
