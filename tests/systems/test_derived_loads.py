"""Loads and commutator loads that systems derive from their potentials, against formulas written by hand."""

from __future__ import annotations

from dataclasses import replace

import mpmath as mp
import numpy as np

import loads_by_hand as written
import polhode as ph
from each import each
from polhode.kernel import jit, layout as L
from polhode.systems.loads_roles import no_loads

SYSTEMS = {
    "top": (lambda I: ph.heavy_top(I, (0.1, 0.2, 1.0), weight=20.0), written.top_loads, written.top_commutator),
    "gradient": (lambda I: ph.systems.gravity_gradient(I, 2.0, 1.7), written.gradient_loads,
                 written.gradient_commutator),
    "wall": (lambda I: ph.systems.soft_wall(I), written.wall_loads, written.wall_commutator),
    "field": (lambda I: ph.particle(2.0, stiffness=I, gravity=(0.1, 0.2, -9.8)), written.field_loads,
              written.field_commutator),
}  # fmt: skip


def states(n, N=1):
    draw = np.random.default_rng(5)
    for _ in range(n):
        y = draw.normal(size=(N, L.BODY))
        y[:, L.ATTITUDE + 1 : L.ATTITUDE + 3] *= 0.5  # the wall is far where the third axis is up
        y[:, L.ATTITUDE : L.ANGULAR] /= np.linalg.norm(y[:, L.ATTITUDE : L.ANGULAR], axis=1)[:, None]
        yield y.ravel()


def evaluated(role, system, y, digits=None):
    """A role in plain Python; in numbers of so many digits."""
    numbers = [mp.mpf(x) if digits else float(x) for x in y], [system.bodies, system.parameters]
    bodies, parameters = ([mp.mpf(x) if digits else float(x) for x in array] for array in numbers[1])
    if digits:  # the inverse moments and masses to all digits
        for i in range(system.N):
            for k in range(4):
                bodies[8 * i + 4 + k] = 1 / bodies[8 * i + k] if np.isfinite(float(bodies[8 * i + k])) else mp.mpf(0)
    out = [0.0] * (L.LOAD * system.N)
    jit.python_of(role)(L.ALL, 0.0, system.N, numbers[0], bodies, parameters, out)
    return out


def unit(y):
    """The same with attitudes of length 1 to all digits."""
    y = [mp.mpf(x) for x in y]
    size = mp.sqrt(sum(x * x for x in y[L.ATTITUDE : L.ANGULAR]))
    y[L.ATTITUDE : L.ANGULAR] = [x / size for x in y[L.ATTITUDE : L.ANGULAR]]
    return y


@each("name", SYSTEMS)
def test_derived_loads_equal_those_written_by_hand(name):
    make, loads, commutator = SYSTEMS[name]
    system = make((5.0, 4.0, 1.5))
    with mp.workdps(40):
        for y in states(30):
            for mine, theirs, allowed in ((system.loads, loads, 2e-15), (system.commutator, commutator, 4e-15)):
                found = np.array(evaluated(mine, system, y))
                exact = np.array(evaluated(theirs, system, unit(y), 40))
                powers = 12 / (1.1 + ph.rotation.rotate(y[6:10], (0, 0, 1.0))[2]) if name == "wall" else 1.0
                size = max(float(np.abs(exact).max()), 1.0 if name == "gradient" else 0.0)  # it may cancel
                assert float(np.abs(found - exact).max()) <= allowed * powers * size


def test_nearly_spherical_bodies_keep_their_digits():
    """Differences of moments stay such: every component has all its digits."""
    make, loads, commutator = SYSTEMS["gradient"]
    system = make((5.0, 5.0 * (1 + 1e-10), 5.0 * (1 - 2e-10)))
    with mp.workdps(40):
        for y in states(30):
            y[L.ATTITUDE : L.ANGULAR] = np.round(y[L.ATTITUDE : L.ANGULAR], 3)
            for mine, theirs, allowed in ((system.loads, loads, 4e-15), (system.commutator, commutator, 1e-13)):
                found = np.array(evaluated(mine, system, [float(x) for x in unit(y)])[3:])
                exact = np.array(evaluated(theirs, system, unit([float(x) for x in unit(y)]), 40)[3:])
                assert float(np.abs(found - exact).max() / np.abs(exact).max()) <= allowed


def test_close_to_the_wall_powers_keep_their_digits():
    """d = 1.1 + R33 near its least value 0.1: the repelling part is 10^9 times the attracting one."""
    make, loads, commutator = SYSTEMS["wall"]
    system = make((5.0, 4.0, 1.5))
    with mp.workdps(40):
        for angle in (3.0, 3.1, 3.14):
            y = np.zeros(L.BODY)
            y[L.ATTITUDE : L.ANGULAR] = np.cos(angle / 2), 0.6 * np.sin(angle / 2), 0.8 * np.sin(angle / 2), 0.0
            d = 1.1 + np.cos(angle)
            for mine, theirs in ((system.loads, loads), (system.commutator, commutator)):
                found = np.array(evaluated(mine, system, y)[3:])
                exact = np.array(evaluated(theirs, system, unit(y), 40)[3:])
                # R33 is rounded once; d loses digits to 1.1, the powers multiply what is lost by their exponent
                assert float(np.abs(found - exact).max() / np.abs(exact).max()) <= 30 * 2.2e-16 / d


@each("N", [2, 3, 5])
def test_derived_loads_of_bodies_that_attract_each_other(N):
    """What is written as loops over pairs, for any number of bodies, follows from the potential too."""
    system = ph.gravitating_bodies(mu=np.arange(1.0, N + 1.0))
    derived = replace(system, loads=no_loads, commutator=None, provides=frozenset())
    for y in states(10, N):
        by_hand, out = np.zeros(L.LOAD * N), np.zeros(L.LOAD * N)
        for part, mine in ((L.ALL, derived.loads), (L.COMMUTATOR, derived.commutator)):
            arrays = (y, system.bodies, system.with_memory)
            jit.python_of(system.loads)(part, 0.0, N, *arrays, by_hand)
            jit.python_of(mine)(part, 0.0, N, *arrays, out)
            assert np.abs(out - by_hand).max() <= 2e-15 * np.abs(by_hand).max()
