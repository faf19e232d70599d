"""Systems of which the potential alone is given: loads, commutator, work and program follow from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from each import each
from loads_by_hand import top_commutator, top_loads
from polhode.algebra.quaternion import rotate
from polhode.errors import InvalidInput
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4
from polhode.systems import System
from polhode.systems.loads_roles import no_loads
from polhode.systems.record import AuxiliaryVariable

SPIN = {"attitude": (0.8, 0.4, -0.2, 0.4), "angular_velocity": (0.1, 0.2, 3.0)}
THREE = {"position": [(0, 0, 0), (1.2, 0, 0), (0, 1.1, 0.3)], "velocity": np.zeros((3, 3)),
         "angular_velocity": [(0.1, 0.2, 0.3)] * 3}  # fmt: skip


def linked(t, N, y, bodies, parameters):
    """Springs between all bodies, with their lengths at rest; each body is a dipole in a field that swings."""
    total = 0.0
    for i in range(N):
        a = get3(y, L.BODY * i + L.POSITION)
        for j in range(i):
            b = get3(y, L.BODY * j + L.POSITION)
            d = np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)
            total += 0.5 * parameters[0] * (d - 1.0) ** 2
        axis = rotate(get4(y, L.BODY * i + L.ATTITUDE), (0.0, 0.3, 1.0))
        total += parameters[1] * np.cos(parameters[2] * t) * axis[2] * (1.0 + a[0])
    return total


def terms(t, N, y, bodies, parameters):
    """Of as many terms as the first parameter says; what cannot be compiled (a generator) can be traced."""
    return sum(parameters[1] * y[L.POSITION + k] ** 2 for k in range(int(parameters[0])))


def system_of(potential, N=1, moments=(np.inf,) * 3, parameters=(1.0,), **more):
    return System(
        name="mine", arguments={}, mass=np.arange(1.0, N + 1.0), moments=np.array([moments] * N),
        frames=np.array([(1.0, 0.0, 0.0, 0.0)] * N), potential=potential, parameters=np.array(parameters), **more,
    )  # fmt: skip


def test_the_potential_of_the_top_makes_the_top():
    top = ph.heavy_top((1.0, 1.6, 2.1), (0.1, 0.2, 0.9), weight=3.0)
    mine = replace(top, name="mine", loads=no_loads, commutator=None, series=None, provides=())
    assert mine.loads is top.loads and {"commutator", "velocity_independent"} <= mine.provides
    top = replace(top, loads=top_loads, commutator=top_commutator)
    ph.checks.check_system(mine, **SPIN).raise_for_failure()
    for name in ("v2", "fg6_5", "mkrk:gauss6"):
        a, b = (ph.integrate(system, name, step=0.02, t_end=1.0, **SPIN) for system in (top, mine))
        assert np.abs(a.attitude - b.attitude).max() < 1e-14, name


@each(("name", "below"), [("fg6_5", 1e-11), ("rkn6_14a", 1e-11),
                          pytest.param("taylor20", 1e-13, marks=pytest.mark.full)])  # fmt: skip
def test_bodies_that_act_on_each_other_and_a_field_that_swings(name, below):
    system = system_of(linked, 3, (1.0, 1.5, 2.0), (2.0, 0.3, 1.3))
    assert [one[:3] for one in system.auxiliary] == [("work", "potential", False)]
    assert system.dynamics.traced and len(system.dynamics.rates) == 1
    ph.checks.check_system(system, states=2, **THREE).raise_for_failure()
    ds = ph.integrate(system, name, step=0.04, t_end=1.0, **THREE)
    assert float(abs(ds.energy_error).max()) < below and float(abs(ds.energy_change).max()) > 0.01


def test_parameters_by_which_the_potential_counts():
    system = system_of(terms, parameters=(2.0, 0.5))
    other, more = (replace(system, parameters=np.array(values)) for values in ((2.0, 0.7), (3.0, 0.5)))
    assert other.loads is system.loads and more.loads is not system.loads
    start = {"position": (1, 2, 3), "velocity": (0, 0, 0)}
    for one in (system, other, more):
        ph.checks.check_system(replace(one, conserves=("energy",)), **start).raise_for_failure()


def falling(t, N, y, bodies, parameters):
    return y[L.MOMENTUM] * y[L.POSITION]


def switched(t, N, y, bodies, parameters):
    return y[L.POSITION] if t < 1.0 else 0.0


def rounded(t, N, y, bodies, parameters):
    return round(y[L.POSITION]) * parameters[0]


@each(
    ("potential", "more", "said"),
    [
        (falling, {}, "mine has a potential from which its loads do not follow: it depends on velocities; give the"),
        (switched, {}, "it decides by the time, and may jump; give the System its loads"),
        (rounded, {}, r"it rounds a number it is given \(test_from_potential.py:\d+\); give the System its loads"),
        (terms, {"provides": {"central_gravity"}}, "a potential and no loads, but provides 'central_gravity'"),
        (terms, {"auxiliary": (AuxiliaryVariable("work", "drag"),)}, "mine has auxiliary variables, whose rates loads"),
    ],
)
def test_what_does_not_follow_is_told(potential, more, said):
    with pytest.raises(InvalidInput, match=said):
        system_of(potential, parameters=(1.0, 2.0), **more)


def test_a_potential_with_loads_is_left_alone():
    before = ph.heavy_top((1.0, 1.6, 2.1), (0.1, 0.2, 0.9), weight=3.0)
    top = replace(before, loads=top_loads, commutator=None)
    assert top.potential is before.potential and top.loads is top_loads and top.commutator is None


def test_a_commutator_of_ones_own_or_none_is_left_alone():
    top = ph.heavy_top((1.0, 1.6, 2.1), (0.1, 0.2, 0.9), weight=3.0)
    assert replace(top, commutator=top_commutator).commutator is top_commutator
    bare = replace(top, commutator=None)
    assert bare.loads is top.loads and "commutator" not in bare.provides
    assert replace(top, parameters=2.0 * top.parameters).commutator is top.commutator
