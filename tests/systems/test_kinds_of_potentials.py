"""Potentials as users write them, of ten kinds: what each gains from being traced, and that it is right."""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.algebra import rotation
from polhode.kernel import jit

pytestmark = pytest.mark.skipif(jit.disabled(), reason="functions run through the bridge")
PLACE = {"position": (1.1, -0.4, 0.6), "velocity": (0.2, 0.9, -0.3)}
SPIN = {"attitude": (0.5, -0.1, 0.7, 0.5), "angular_velocity": (0.3, -0.2, 1.1)}
TENSOR = ((2.0, 0.1, 0.0), (0.1, 1.5, 0.2), (0.0, 0.2, 1.0))
STIFFNESS = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, -0.2], [0.0, -0.2, 1.5]])
HEIGHTS, DEPTHS = np.array([-9.0, -4.0, 4.0, 9.0]), np.array([4.0, 1.0, 0.1, -1.0])


def power_law(t, position, parameters):
    strength, exponent = parameters
    return -strength * np.linalg.norm(position) ** exponent


def yukawa(t, position, parameters):
    x, y, z = position
    r = math.sqrt(x * x + y * y + z * z)
    return -parameters[0] * math.exp(-r / parameters[1]) / r


def double_well(t, position, parameters):
    return parameters[0] * (position[0] ** 2 - 1.0) ** 2 + 0.5 * (position[1] ** 2 + position[2] ** 2)


def spring(t, position, parameters):
    return 0.5 * position @ STIFFNESS @ position


def multipoles(t, position, parameters):
    """As many terms as the first parameter says, by a recursion."""
    r = np.linalg.norm(position)
    before, legendre, total = 1.0, position[2] / r, -1.0 / r
    for n in range(1, int(parameters[0]) + 1):
        total = total + parameters[n] * legendre / r ** (n + 1)
        before, legendre = legendre, ((2 * n + 1) * position[2] / r * legendre - n * before) / (n + 1)
    return total


def dipole(t, q, parameters):
    """A magnet along the body's axis z in a uniform field."""
    w, x, y, z = q
    return -parameters[0] * (2.0 * (x * z + w * y) + 1.0 - 2.0 * (x * x + y * y))


def tidal(t, q, parameters):
    """Gravity gradient of a body on a circular orbit: 3/2 n^2 u . I u, u the direction of the centre."""
    u = rotation.rotate_inverse(q, (0.0, 0.0, 1.0))
    return 1.5 * parameters[0] ** 2 * np.dot(u, np.array(TENSOR) @ u)


def rotating_dipole(t, q, parameters):
    field = (math.cos(parameters[1] * t), math.sin(parameters[1] * t), 0.2)
    return -parameters[0] * np.dot(rotation.rotate(q, (0.0, 0.3, 1.0)), field)


def travelling_wave(t, position, parameters):
    size, number, rate = parameters
    return 0.5 * np.sum(position**2) + size * np.cos(number * position[0] - rate * t)


def soft_floor(t, position, parameters):
    depth = position[2] - 0.8
    if depth > 0.0:
        return parameters[0] * position[2]
    return parameters[0] * position[2] + parameters[1] * depth**4


def tabulated(t, position, parameters):
    return parameters[0] * np.interp(position[2], HEIGHTS, DEPTHS)


def compared(t, position, parameters):
    """What no program is: it compares with no number."""
    nothing = float("nan")
    return 0.0 if nothing < position[2] else parameters[0] * position[2] * position[2]


def boom(t, position, q, parameters):
    """A field of the place that acts on a magnet fixed to the body."""
    axis = rotation.rotate(q, (0.0, 0.0, 1.0))
    r = np.linalg.norm(position)
    return parameters[0] * (np.dot(axis, position) / r**4 + 0.1 * np.cos(parameters[1] * t) * axis[0])


def particle(potential, *parameters):
    return lambda: ph.particle(2.0, potential=potential, parameters=parameters)


def body(potential, *parameters):
    return lambda: ph.rigid_body(TENSOR, potential=potential, parameters=parameters)


KINDS = {
    "power law": (particle(power_law, 1.3, -1.2), PLACE), "Yukawa": (particle(yukawa, 0.8, 1.5), PLACE),
    "double well": (particle(double_well, 0.4), PLACE), "anisotropic spring": (particle(spring), PLACE),
    "multipoles": (particle(multipoles, 3, 0.0, 0.05, -0.02), PLACE), "dipole": (body(dipole, 0.7), SPIN),
    "gravity gradient": (body(tidal, 0.9), SPIN), "rotating dipole": (body(rotating_dipole, 0.7, 1.3), SPIN),
    "travelling wave": (particle(travelling_wave, 0.1, 2.0, 1.3), PLACE),
    "decides by the place": (particle(soft_floor, 0.3, 0.5), PLACE), "table": (particle(tabulated, 0.3), PLACE),
    "no program": (particle(compared, 0.3), PLACE),
    "place, in an orbit": (lambda: ph.orbit(1.0, potential=yukawa, parameters=(0.1, 1.5)), PLACE),
    "place and attitude": (
        lambda: ph.spacecraft(TENSOR, 1.0, 2.0, gravity_gradient=False, potential=boom, parameters=(0.1, 1.3)),
        PLACE | SPIN,
    ),
}  # fmt: skip
CHANGING = {"rotating dipole", "travelling wave", "place and attitude"}


PARTS = {"power law", "Yukawa", "double well", "anisotropic spring", "dipole", "gravity gradient", "travelling wave",
         "table", "place, in an orbit"}  # fmt: skip
"""Whose operations others have too, and one that takes numba long."""
UNTRACED = {"table": "np.interp", "no program": "cannot be traced"}
"""Those that are called as they are, and what is told."""


@each("kind", [pytest.param(kind, marks=pytest.mark.full) if kind in PARTS else kind for kind in KINDS])
def test_a_potential_is_enough(kind):
    """Loads to all digits, so that energies drift by round-off; commutator loads, works and a program of the motion."""
    make, start = KINDS[kind]
    slow, told = kind in UNTRACED, nullcontext()
    if slow:
        told = pytest.warns(ph.errors.SlowFunctionWarning, match=UNTRACED[kind])
    with told:
        system = make()
        assert system.dynamics.traced == (not slow)
        assert ("commutator" in system.provides) == (not slow)
        assert [one.label for one in system.auxiliary] == ["potential"] * (kind in CHANGING)
        ph.checks.check_system(system, states=2, **start).raise_for_failure()
        ds = ph.integrate(system, "mkrk:gauss8", step=0.02, t_end=1.0, every=10, **start)
    assert float(abs(ds.energy_error).max()) < (1e-9 if slow else 1e-12)
    assert ("loads_note" in ds.attrs) == slow
    assert ("energy" in system.conserves) == (kind not in CHANGING) and system.balanced


def test_a_hand_written_gravity_gradient_moves_as_the_built_in_one():
    built_in = ph.systems.gravity_gradient(TENSOR, 0.9**2, 1.0)
    runs = [
        ph.integrate(system, "fg6_5", step=0.05, t_end=2.0, **SPIN)
        for system in (built_in, ph.rigid_body(TENSOR, potential=tidal, parameters=[0.9]))
    ]
    assert np.abs(runs[0].attitude - runs[1].attitude).max() < 1e-13
