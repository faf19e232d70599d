"""Derivatives along many directions: by the chain rule where that is shorter, with the numbers of few at a time."""

import numpy as np
import pytest

import polhode as ph
from polhode.methods import method as find_method
from polhode.programs import series_lanes
from polhode.programs.chained import chained_text
from polhode.runs.request import requested
from polhode.runs.tangent import columns, engine
from polhode.runs.tangent.engine import method_and_loads, series_of
from polhode.runs.tangent.transition import Transition

EARTH = ph.planets.EARTH


def bent(t, q, omega, p):
    """A torque of twelve numbers, three of which meet each other."""
    out = [p[9] * p[10], p[11] * q[0], 0.0]
    for k in range(3):
        for i in range(3):
            out[i] = out[i] - p[3 * k + i] * omega[i] * q[k]
    return (out[0], out[1], out[2])


NUMBERS = list(0.01 * np.cos(np.arange(12.0)))
BODY = ph.rigid_body((1.0, 1.7, 2.3), torque=bent, parameters=NUMBERS, work=False)
SPIN = {"angular_velocity": (0.3, 0.4, 2.0)}
NAMES = [f"parameters.{k}" for k in range(12)]
ORBIT = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 5500.0, 5500.0)}
CRAFT = ph.spacecraft((10.0, 14.0, 18.0), EARTH.mu, 100.0, forces=[ph.forces.zonal(J2=1e-3, radius=EARTH.radius)])
TURNING = ORBIT | {"attitude": (0.5, 0.5, 0.5, 0.5), "angular_velocity": (1e-3, 2e-3, 1e-3)}


def matrix(system, name, wanted, start, h):
    """The last matrix of a few steps."""
    ds = ph.integrate(system, name, step=h, steps=8, every=8, tangent=wanted, **start)
    return ds.state_transition.isel(time=-1)


@pytest.mark.parametrize(
    ("system", "name", "wanted", "start", "h"),
    [
        (BODY, "rkn6_14a", NAMES, SPIN, 0.05),
        (BODY, "taylor14", NAMES, SPIN, 0.05),
        (CRAFT, "s6_10/kepler", ["forces.0.J2", "inertia", "mass", "mu"], TURNING, 20.0),
        (CRAFT, "rkn6_14a", ["forces.0.J2", "forces.0.radius"], TURNING, 20.0),
    ],
    ids=["turning", "series", "orbit", "constants stay"],
)
def test_many_directions_are_those_of_few(monkeypatch, system, name, wanted, start, h):
    whole = matrix(system, name, wanted, start, h)
    monkeypatch.setattr(columns, "FEW", 100)  # each number by systems of its own
    rest = matrix(system, name, True, start, h)
    size = np.abs(whole).max("column")
    assert float((abs(whole.sel(column=rest.column) - rest) / size).max()) < 1e-12
    for column in map(str, whole.column.values[rest.sizes["column"] :]):
        one = matrix(system, name, [column], start, h).sel(column=column)
        own = whole.sel(column=column)
        assert float(abs(own - one).max() / abs(one).max()) < 2e-12, column


def test_numbers_that_stand_as_they_are_take_two_systems(monkeypatch):
    made = []
    build = columns.system_with
    monkeypatch.setattr(columns, "system_with", lambda *given: made.append(given) or build(*given))
    body = ph.rigid_body((1.0, 1.7, 2.3), torque=bent, parameters=NUMBERS, work=False)
    found = matrix(body, "v2", NAMES, SPIN, 0.05)
    assert len(made) == 2
    for factor in (2.0, 1.0):  # which other starts need not make again
        again = matrix(body, "v2", NAMES, {"angular_velocity": factor * np.array(SPIN["angular_velocity"])}, 0.05)
    assert np.array_equal(found, again) and len(made) == 2
    monkeypatch.setattr(columns, "FEW", 100)
    assert np.allclose(found, matrix(body, "v2", NAMES, SPIN, 0.05), rtol=1e-13, atol=1e-15) and len(made) == 50


def carried(system, name, wanted, start, h):
    """How many columns are carried along."""
    words = {"step": h, "steps": 8, "tangent": wanted, **start, **dict.fromkeys(("t_end", "t_eval", "breaks"))}
    return sum(map(len, Transition(requested(system, name, words)).parts))


def nearer(t, r, v, p):
    """Two forces towards the centre, of which one is that of the orbit itself."""
    size = (p[0] - p[1] - 2.0 * p[2]) / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) ** 1.5
    return (-size * r[0], -size * r[1], -size * r[2])


@pytest.mark.parametrize(
    ("system", "name", "wanted", "start", "h", "count"),
    [
        (ph.rigid_body((1.0, 1.7, 2.3), torque=lambda t, q, w, p: ((p[0] + p[1]) * q[0], p[2] * p[3], p[1] + p[4]),
                       parameters=NUMBERS[:6]), "v2", NAMES[:5], SPIN, 0.05, 11),
        (ph.rigid_body((1.0, 1.7, 2.3), torque=lambda t, q, w, p: (sum(p[1::3]) * q[0], sum(p[::3]), sum(p[2::3])),
                       parameters=NUMBERS), "taylor6", [*NAMES, "inertia"], SPIN, 0.05, 6 + 3 + 3),
        (ph.orbit(EARTH.mu, force=nearer, parameters=[3e12, 2e12, 1e11]), "v2",
         ["mu", *NAMES[:3]], ORBIT, 20.0, 6 + 4),
        (ph.orbit(EARTH.mu, force=lambda t, r, v, p: (p[0] + p[1] - p[2], p[0] + p[1], p[0] + p[1]),
                  parameters=[3e-3, 2e-3, 1e-3]), "s6_10/kepler", ["mu", *NAMES[:3]], ORBIT, 20.0, 6 + 3),
    ],
    ids=["products", "sums", "mu", "split"],
)  # fmt: skip
def test_numbers_that_meet_in_a_sum_are_carried_once(monkeypatch, system, name, wanted, start, h, count):
    found = matrix(system, name, wanted, start, h)
    assert carried(system, name, wanted, start, h) == count
    monkeypatch.setattr(columns.Columns, "alike", lambda self, part: np.arange(len(self.names)))
    each = matrix(system, name, wanted, start, h)
    assert carried(system, name, wanted, start, h) == len(each.column)
    assert float((abs(found - each) / abs(each).max("column")).max()) < 1e-13


def test_numbers_that_are_made_into_others_are_not_taken_for_them(monkeypatch):
    monkeypatch.setattr(columns, "FEW", 1)
    names = ["forces.0.J2", "forces.0.radius", "inertia", "mass", "mu"]
    found = matrix(CRAFT, "v2", names, TURNING, 20.0)
    monkeypatch.setattr(columns, "FEW", 100)
    one_by_one = matrix(CRAFT, "v2", names, TURNING, 20.0)
    assert float((abs(found - one_by_one) / abs(one_by_one).max("row")).max()) < 1e-12


def test_loads_go_by_the_chain_rule_where_that_is_shorter():
    text = chained_text(BODY.dynamics, 3)
    assert text is not None and "with_derivatives" in text
    rooted = ph.rigid_body(
        (1.0, 1.7, 2.3), torque=lambda t, q, w, p: ((w @ w) ** 0.5 * p[0], 0.0, 0.0), parameters=[1.0]
    )
    assert chained_text(rooted.dynamics, 3) is None  # which has no slope at rest
    wide, few = (method_and_loads(BODY, find_method("rkn6_14a"), False, vectors)[1] for vectors in (3, 1))
    assert wide is not few


def drag(t, q, omega, p):
    """A torque with a sum and a product of numbers, roots and quotients."""
    size = (1.0 + omega @ omega) ** 0.5
    return (-(p[0] + p[1]) * omega[0] * size, p[2] * p[3] - p[2] * omega[1] / size, np.sin(t) * p[3] * omega[2])


DRAG = ph.heavy_top((1.0, 1.7, 2.3), (0.1, 0.2, 1.0), 2.0, torque=drag, parameters=[0.1, 0.2, 0.05, 0.3])
OBLATE = ph.orbit(EARTH.mu, forces=[ph.forces.zonal(J2=1e-3, radius=EARTH.radius)])


@pytest.mark.parametrize("order", [2, 7, 14, 30])
@pytest.mark.parametrize(
    ("system", "wanted", "start", "h"),
    [
        (BODY, NAMES, SPIN, 0.05),
        (DRAG, ["parameters", "weight", "inertia"], SPIN, 0.05),
        (OBLATE, ["mu", "forces.0.J2"], ORBIT, 20.0),
    ],
    ids=["turning", "top", "orbit"],
)
def test_slopes_of_series_give_the_derivatives_of_forward_mode(monkeypatch, system, wanted, start, h, order):
    found = matrix(system, f"taylor{order}", wanted, start, h)
    made = []
    monkeypatch.setattr(engine, "series_with_slopes", lambda *given: made.append(given))
    forward = matrix(system, f"taylor{order}", wanted, start, h)
    assert made and not np.array_equal(found, forward)  # each in its own way
    assert float((abs(found - forward) / abs(forward).max("column")).max()) < 1e-13


def test_sums_that_are_made_in_fewer_turns_are_the_same(monkeypatch):
    monkeypatch.setattr(engine, "series_with_slopes", lambda *given: None)
    found = matrix(BODY, "taylor14", NAMES, SPIN, 0.05)
    before = series_of(BODY, 3)
    monkeypatch.setattr(series_lanes, "AT_ONCE", 100)
    series_lanes.series_of_lanes.cache_clear()
    assert series_of(BODY, 3).series is not before.series
    assert np.array_equal(found, matrix(BODY, "taylor14", NAMES, SPIN, 0.05))
    series_lanes.series_of_lanes.cache_clear()
