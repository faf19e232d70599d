"""State transition matrices past events that end loads, set states and push bodies: against differences of DOP853."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.systems import test_sums_sudden as sudden

import polhode as ph
from cover import some
from polhode.errors import StepFailed
from vectors import cross

STENCIL = ((1, 2 / 3), (2, -1 / 12))


def differences(run, offset=5e-4):
    """The derivative of what a function returns by its argument at 0."""
    return sum(weight * (run(k * offset) - run(-k * offset)) for k, weight in STENCIL) / offset


def column(ds, name, rows):
    """Some rows of a column at the end."""
    return ds.state_transition.sel(column=name, row=list(rows)).values[-1]


TETHER = ["cable.until.most", "cable.stiffness", "cable.length"]
PLACES = [f"position_{axis}.{i}" for i in range(2) for axis in "xyz"]


def of_tether(name, s):
    """Positions at the end by DOP853, with one number changed."""
    y = np.concatenate([*map(np.ravel, (sudden.PAIR["position"], sudden.PAIR["velocity"])), [1, 0, 0, 0],
                        sudden.PAIR["angular_velocity"][0], [0.0]])  # fmt: skip
    stiffness, length, most = 4.0, 1.0, 1.3
    if name in TETHER:
        by = {"cable.until.most": (0, 0, s), "cable.stiffness": (s, 0, 0), "cable.length": (0, s, 0)}[name]
        stiffness, length, most = np.add((stiffness, length, most), by)
    else:
        i = int(name[-1])
        at = (6 if name.startswith("momentum") else 0) + 3 * i + "xyz".index(name[-3])
        y[at] += s / sudden.MASS[i] if at > 5 else s

    def rates(t, y, broken):
        found, d = sudden.of_pair(t, y, True), sudden.reach(y)
        if not broken:
            size = np.sqrt(d @ d)
            F, q = stiffness * (size - length) * d / size, y[12:16]
            found[6:9] += F / sudden.MASS[0]
            found[9:12] -= F / sudden.MASS[1]
            back = np.concatenate([q[:1], -q[1:]])
            found[16:19] += cross(sudden.POINT, sudden.turned(back, F)) / sudden.MOMENTS
        return found

    return sudden.exact(rates, y, sudden.END, lambda t, y: np.linalg.norm(sudden.reach(y)) - most)[0][:6]


@cache
def of_tether_by(name):
    """Its derivative by one number."""
    return differences(lambda s: of_tether(name, s))


@pytest.mark.parametrize("method", some(["mkrk:cv8", "s6_10", "mkrk:gauss6", "rkn6_14a", "mkrk:dp8"], 1))
def test_the_time_at_which_a_tether_breaks_moves_with_start_and_numbers(method, columns_by_fours):
    """Also by a number that is the first of four that are carried along: derivatives by the time of the break are of
    the motion alone."""
    words = {"t_end": sudden.END, **sudden.steps_of(method), **sudden.PAIR}
    ds = ph.integrate(sudden.tethered(), method, tangent=[*TETHER, "a.mass"], **words)
    for name in ("position_x.1", "momentum_z.0", *TETHER):
        wanted = of_tether_by(name)
        np.testing.assert_allclose(column(ds, name, PLACES), wanted, rtol=0, atol=2e-9 * max(1.0, np.abs(wanted).max()))
    assert str(ds.column.values[20]) == "cable.stiffness"
    assert (ds.state_transition.sel(row="cable_on").values[-1] == 0.0).all()


ROCKET = ["next_stage.share", "next_stage.at.height", "weight.gravity"]
LATE = 2.5


def of_rocket(name, s):
    """Position and states at the end by DOP853."""
    y, (share, height, gravity) = np.array([0, 0, 0, 0.1, 0, 0, 0, 0, 0, 4.0]), (0.7, 0.5, 1.0)
    if name in ROCKET:
        share, height, gravity = np.add((share, height, gravity), [s * (name == one) for one in ROCKET])
    else:
        at = {"position_z": 2, "momentum_x": 3, "momentum_z": 5, "thrust.2": 9}[name]
        y[at] += s / 2.0 if at in (3, 5) else s

    def rates(t, y, since):
        found = sudden.of_rocket(t, y, since)
        found[5] += 1.0 - gravity
        return found

    found = sudden.exact(rates, y, LATE, lambda t, y: y[2] - height,
                         lambda t, y: [*y[:6], y[6] - 1.0, 0.0, share * y[5], 0.1 * t])[0]  # fmt: skip
    return found[[0, 1, 2, 6, 7, 8, 9]]


def floor(ball):
    return ball.position[2]


def bounced(z, v, up, gravity=9.81):
    """Height and velocity at the end of what is pushed up wherever it meets the floor, in closed form."""
    t = LATE
    while True:
        fall = (v + np.sqrt(v * v + 2.0 * gravity * z)) / gravity
        if fall > t:
            return np.array([z + v * t - 0.5 * gravity * t * t, v - gravity * t])
        t, z, v = t - fall, 0.0, v - gravity * fall + up


@pytest.mark.parametrize("method", some(["mkrk:cv8", "taylor14", "s6_10", "rkn6_14a", "mkrk:dp8"], 1))
def test_what_functions_set_at_events_and_each_bounce_are_differentiated(method):
    """A rocket whose next stage depends on state and time, and beside it a ball that is pushed up from the floor."""
    at = ph.events.of(sudden.high, height=0.5, direction=1).on("rocket")
    touch = ph.events.of(floor, direction=-1).on("ball")
    pair = ph.system(
        ph.body("rocket", 2.0), ph.body("ball", 2.0), ph.loads.weight(gravity=1.0).on("rocket"),
        ph.loads.of(sudden.staged).on("rocket").states(thrust=(0.0, 0.0, 4.0), burnt=0.0),
        ph.controller(sudden.next_stage, at=at, parameters={"share": 0.7}).on("rocket"),
        ph.loads.weight().on("ball").named("fall"), ph.loads.impulse((0.0, 0.0, 8.0), at=touch).on("ball"),
    )  # fmt: skip
    words = {"steps": ph.Tolerance(1e-12)} if method == "mkrk:dp8" else {"step": 0.01}
    start = {"position": [(0, 0, 0), (0, 0, 1.0)], "velocity": [(0.1, 0, 0), (0.3, 0, 0.5)]}
    ds = ph.integrate(pair, method, t_end=LATE, tangent=[*ROCKET, "impulse.delta_v", "fall.gravity"], **words, **start)
    assert len(ds.event_time) == 4
    rows = [f"position_{axis}.0" for axis in "xyz"] + ["burnt", *(f"thrust.{k}" for k in range(3))]
    for name in ("position_z", "momentum_x", "momentum_z", "thrust.2", *ROCKET):
        wanted = differences(lambda s, name=name: of_rocket(name, s))
        found = column(ds, name + ".0" * name.startswith(("position", "momentum")), rows)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-9 * max(1.0, np.abs(wanted).max()))
    runs = {
        "position_z.1": lambda s: bounced(1.0 + s, 0.5, 8.0),
        "momentum_z.1": lambda s: bounced(1.0, 0.5 + s / 2.0, 8.0),
        "impulse.delta_v.2": lambda s: bounced(1.0, 0.5, 8.0 + s),
        "fall.gravity": lambda s: bounced(1.0, 0.5, 8.0, 9.81 + s),
    }
    for name, run in runs.items():
        found = column(ds, name, ["position_z.1", "momentum_z.1"])
        wanted = differences(run) * (1.0, 2.0)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max(), err_msg=name)
    np.testing.assert_allclose(column(ds, "momentum_x.1", ["position_x.1"]), [2.5 / 2.0], rtol=1e-12)


@pytest.mark.parametrize("method", some(["mkrk:cv8", "s6_10", "mkrk:dp8"], 1))
def test_the_gradient_of_a_function_past_the_break_is_that_of_dop853(method):
    weighing = np.array([1.0, -2.0, 0.5, 0.3, 0.7, -1.1])
    found = ph.gradient(lambda s: (s.position * weighing.reshape(2, 3)).sum(), sudden.tethered(), method, wrt=TETHER,
                        t_end=sudden.END, **sudden.steps_of(method), **sudden.PAIR)  # fmt: skip
    for name in TETHER:
        assert found[name] == pytest.approx(weighing @ of_tether_by(name), abs=1e-8)


def pulled(ball, stiffness, level):
    return {"force": (0.0, 0.0, -stiffness * (ball.position[2] - level))}


def past(ball, way, place):
    return ball.position @ way - place


def released(way, place, level):
    """What pulls a ball to a level, until the ball has gone so far."""
    pull = ph.loads.of(pulled, stiffness=8.0, level=level)
    return ph.system(ph.body("ball", 2.0), pull.until(ph.events.of(past, way=way, place=place).on("ball")))


def test_what_is_met_where_a_step_ends_belongs_to_that_step(columns_by_fours):
    """Derivatives of an inaccurate method are others by the step behind it."""
    ball = released((1.0, 0.0, 0.0), 0.5, 0.0)

    def end(x, **words):
        return ph.integrate(ball, "mkrk:heun", step=0.125, t_end=1.0, position=(x, 0, 1.0), velocity=(1.0, 0, 0.3),
                            **words)  # fmt: skip

    ds = end(0.0, tangent=True)
    assert list(ds.event_time) == [0.5]
    heights = [float(end(s).position[-1, 2]) for s in (-1e-6, 0.0, 1e-6)]
    behind, before = np.diff(heights) / 1e-6
    assert column(ds, "position_x", ["position_z"]) == pytest.approx(before, abs=1e-4)
    assert abs(behind - before) > 1e-2


def test_what_has_no_derivative_there_is_said(columns_by_fours):
    ball = released((0.0, 0.0, 1.0), 0.0, -1.0)
    words = {"step": 0.1, "steps": 5, "position": (0, 0, 1e-300)}  # at rest where it begins to fall
    with pytest.raises(StepFailed, match="only touched"):
        ph.integrate(ball, "mkrk:heun", tangent=True, **words)
    with pytest.raises(StepFailed, match="only touched"):
        ph.gradient(lambda s: s.position[2], ball, "mkrk:heun", **words)


def bond(a, b, stiffness):
    d = b.position - a.position
    return 0.5 * stiffness * (np.sqrt(d @ d) - 1.0) ** 2


def test_impulses_and_settings_at_times_are_those_of_their_bodies():
    """Of the second body; that of the first alone was differentiated before."""

    def system(**more):
        return ph.system(ph.body("a", 2.0), ph.body("b", 1.0), ph.loads.of(bond, stiffness=3.0).on("a", "b"),
                         ph.loads.of(sudden.staged).on("a").states(thrust=(0.1, 0, 0), burnt=0.0),
                         ph.loads.impulse((0.0, 0.2, 0.1), at=0.505, frame="rtn").on("b"),
                         ph.controller(sudden.next_stage, at=0.7, parameters={"share": 0.4}).on("b"))  # fmt: skip

    place, speed = np.array([(0.5, 0, 0), (1.7, 0.2, 0)]), [(0, 0.1, 0), (0, 0.1, 0.2)]
    words = {"step": 0.02, "t_end": 1.0, "velocity": speed}
    ds = ph.integrate(system(), "mkrk:cv8", position=place, tangent=["next_stage.share"], **words)

    def moved(i, s):
        return ph.integrate(system(), "mkrk:cv8", position=place + s * np.eye(6)[i].reshape(2, 3), **words)

    for i, name in enumerate(PLACES):
        wanted = differences(lambda s, i=i: moved(i, s).position.values[-1].ravel())
        np.testing.assert_allclose(column(ds, name, PLACES), wanted, rtol=0, atol=1e-9)
    share = differences(
        lambda s: (
            ph.integrate(system(), "mkrk:cv8", position=place, **words, parameters={"next_stage.share": 0.4 + s})
            .position.values[-1]
            .ravel()
        )
    )
    np.testing.assert_allclose(column(ds, "next_stage.share", PLACES), share, rtol=0, atol=1e-9)
