"""Loads that begin and end, and states that are set, at events and times: against SciPy's events and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from cover import some
from each import each
from polhode.errors import InvalidInput, PolhodeError, UserFunctionError
from polhode.runs import stepping
from vectors import cross

ADAPTIVE = {"steps": ph.Tolerance(1e-13)}
METHODS = {"v2": 2e-5, "s6_10": 0.01, "rkn6_14a": 0.02, "mkrk:cv8": 0.02, "mkrk:gauss6": 0.01, "taylor": None,
           "mkrk:dp8": None}  # fmt: skip
"""Steps by method; None for those that a tolerance chooses."""
EXACT = [one for one in METHODS if one != "v2"]


def steps_of(method):
    return ADAPTIVE if METHODS[method] is None else {"step": METHODS[method]}


def exact(rates, y, t_end, event, acts=lambda t, y: y):
    """The state at the end by DOP853, and when it finds the event rise through zero, after which ``acts`` says how it
    goes on; ``rates(t, y, since)`` are others then."""
    event.terminal, event.direction = True, 1.0
    words = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
    first = solve_ivp(lambda t, y: rates(t, y, False), (0.0, t_end), y, events=[event], **words)
    ((when,),) = first.t_events
    y = np.array(acts(when, first.y_events[0][0]))
    return solve_ivp(lambda t, y: rates(t, y, True), (when, t_end), y, **words).y[:, -1], when


# ------------------------------------------------------------------ loads that end
MASS, MOMENTS, POINT = (3.0, 1.0), np.array([0.2, 0.3, 0.25]), np.array([0.0, 0.1, 0.3])


def cable(a, b, stiffness, length, point):
    d = b.position - a.point(point)
    return 0.5 * stiffness * (np.sqrt(d @ d) - length) ** 2


def stretched(a, b, most, point):
    d = b.position - a.point(point)
    return np.sqrt(d @ d) - most


def trap(body):
    return 0.5 * 0.4 * body.mass * body.position @ body.position


def tethered(**more):
    """A point on a cable that is fixed in a body, out of its centre of mass, and breaks."""
    breaks = ph.events.of(stretched, most=1.3, point=POINT, direction=1).on("a", "b")
    line = ph.loads.of(cable, stiffness=4.0, length=1.0, point=POINT).on("a", "b")
    return ph.system(ph.body("a", MASS[0], MOMENTS), ph.body("b", MASS[1]), ph.loads.of(trap), line.until(breaks))


PAIR = {"position": [(0, 0, 0), (1.1, 0, 0.2)], "velocity": [(0, -0.2, 0), (1.0, 0.4, 0.1)],
        "angular_velocity": [(0.3, -0.2, 0.5), (0, 0, 0)]}  # fmt: skip
END = 2.0


def turned(q, x):
    w, v = q[0], q[1:4]
    return x + 2.0 * cross(v, cross(v, x) + w * x)


def reach(y):
    return y[3:6] - y[0:3] - turned(y[12:16], POINT)


def of_pair(t, y, broken):
    """Newton's and Euler's equations with quaternions, and the power of the cable; no code of polhode."""
    d, q, w = reach(y), y[12:16], y[16:19]
    size = np.sqrt(d @ d)
    F = np.zeros(3) if broken else 4.0 * (size - 1.0) * d / size  # on a
    back = np.concatenate([q[:1], -q[1:]])
    about = cross(POINT, turned(back, F))
    torque = about + cross(MOMENTS * w, w)
    v = y[6:12]
    spin = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + cross(q[1:], w)])
    power = F @ v[:3] - F @ v[3:] + about @ w
    forces = np.concatenate([F / MASS[0], -F / MASS[1]]) - 0.4 * y[:6]
    return np.concatenate([v, forces, spin, torque / MOMENTS, [power]])


@pytest.fixture(scope="module")
def broken_pair():
    start = np.concatenate([*map(np.ravel, (PAIR["position"], PAIR["velocity"])), [1, 0, 0, 0],
                            PAIR["angular_velocity"][0], [0.0]])  # fmt: skip
    return exact(of_pair, start, END, lambda t, y: np.linalg.norm(reach(y)) - 1.3)


@each("method", [*some(EXACT, 3), pytest.param("v2", marks=pytest.mark.full)])
def test_a_tether_that_breaks_is_that_of_scipy(method, broken_pair):
    y, when = broken_pair
    ds = ph.integrate(tethered(), method, t_end=END, **steps_of(method), **PAIR)
    assert ds.event_kind.values.tolist() == ["cable_ends"]
    close = 1e-9 if method != "v2" else 1e-8
    np.testing.assert_allclose(float(ds.event_time[0]), when, rtol=close)
    np.testing.assert_allclose(np.ravel(ds.position[-1]), y[:6], rtol=0, atol=close * np.abs(y[:6]).max())
    np.testing.assert_allclose(np.ravel(ds.velocity[-1]), y[6:12], rtol=0, atol=close * np.abs(y[6:12]).max())
    q = ds.attitude.values[-1, 0]
    np.testing.assert_allclose(q * np.sign(q @ y[12:16]), y[12:16], rtol=0, atol=close)
    assert float(ds.work.sel(force="cable")[-1]) == pytest.approx(y[19], rel=10 * close)
    assert float(abs(ds.energy_error).max()) < close
    assert ds.cable_on.values[0] == 1.0 and ds.cable_on.values[-1] == 0.0
    assert (np.diff(ds.work.values[ds.time > when], axis=0) == 0.0).all() and "energy" not in ds.attrs["conserves"]


@each(("method", "order"), [("v2", 2), ("s4_6", 4), ("mkrk:rk4", 4), ("mkrk:gauss4", 4)])
def test_methods_keep_their_order_across_the_end_of_a_load(method, order, broken_pair):
    errors = []
    for steps in (40, 80):
        ds = ph.integrate(tethered(), method, t_end=END, step=END / steps, **PAIR)
        errors.append(np.abs(np.ravel(ds.position[-1]) - broken_pair[0][:6]).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.4


def beside(a):
    return a.position[0]


@each("on", ["a", ""])
@each("method", EXACT)
def test_what_is_released_from_a_circle_flies_straight_on(method, on):
    """Also where the centre is that of all bodies, which methods solve exactly while it does not end."""
    centre = ph.loads.central(1.0).on("a") if on else ph.loads.central(1.0)
    loose = ph.system(ph.body("a", 2.0), centre.until(ph.events.of(beside, direction=-1).on("a")))
    ds = ph.integrate(loose, method, t_end=4.0, position=(1, 0, 0), velocity=(0, 1, 0), **steps_of(method))
    quarter = np.pi / 2
    np.testing.assert_allclose(ds.event_time, [quarter], rtol=1e-9)
    np.testing.assert_allclose(ds.position[-1], (quarter - 4.0, 1.0, 0.0), rtol=0, atol=1e-8)
    assert "central_gravity" not in loose.provides and float(abs(ds.energy_error).max()) < 1e-9


def test_a_load_acts_from_one_event_to_the_other_each_time():
    """A motor between the nodes of a path on a spring, whose motion is known in closed form."""

    def spring(body):
        return 0.5 * body.mass * body.position @ body.position

    def motor(body, size):
        return {"force": (size, 0.0, 0.0)}

    down, up = (ph.events.node(one, body="a") for one in ("descending", "ascending"))
    cart = ph.system(ph.body("a", 2.0), ph.loads.of(spring), ph.loads.of(motor, size=0.6).on("a").after(down).until(up))
    assert [one["kind"] for one in (cart.arguments["motor"]["after"], cart.arguments["motor"]["until"])] == ["node"] * 2
    ds = ph.integrate(cart, "mkrk:cv8", step=0.02, t_end=14.0, position=(1, 0, 0.0), velocity=(0, 0, 1.0))
    assert ds.event_kind.values.tolist() == ["motor_begins", "motor_ends"] * 2
    np.testing.assert_allclose(ds.event_time, np.pi * np.arange(1, 5), rtol=1e-11)
    x, v = 1.0, 0.0
    for k in range(5):  # half revolutions about 0, and about size / mass
        about, span = 0.3 * (k % 2), min(np.pi, 14.0 - k * np.pi)
        x, v = about + (x - about) * np.cos(span) + v * np.sin(span), v * np.cos(span) - (x - about) * np.sin(span)
    np.testing.assert_allclose((ds.position[-1, 0], ds.velocity[-1, 0]), (x, v), rtol=0, atol=1e-11)
    assert float(abs(ds.energy_error).max()) < 1e-12 and cart.conserves == ()


@each("method", ["v2", "mkrk:cv8", "taylor"])
def test_a_load_ends_at_a_time_and_a_state_may_begin_there(method):
    """Weight up to t = 1 between two steps; a state of a load ends with it, and another is set then."""

    def rusting(body, rust):
        return {"rust": 0.5 - 0.25 * rust}

    fall = ph.system(ph.body("a", 2.0), ph.loads.weight().until(1.005),
                     ph.loads.of(rusting).states(rust=0.0).until(1.005),
                     ph.controller({"rust": 7.0}, at=1.505))  # fmt: skip
    ds = ph.integrate(fall, method, step=0.01, t_end=2.0)
    z, speed = -0.5 * 9.81 * 1.005**2, -9.81 * 1.005
    np.testing.assert_allclose(ds.position[-1], (0, 0, z + 0.995 * speed), rtol=1e-12)
    np.testing.assert_allclose(ds.velocity[-1], (0, 0, speed), rtol=1e-12)
    np.testing.assert_allclose(ds.rust.sel(time=1.5), 2.0 * (1.0 - np.exp(-0.25 * 1.005)), rtol=1e-5)
    assert float(ds.rust[-1]) == 7.0
    assert ds.event_kind.values.tolist() == ["setting"] and ds.event_time.values.tolist() == [1.505]


@each("method", some(["mkrk:cv8", "taylor", "s6_10"], 2))
def test_a_load_between_two_times_is_as_a_burn(method):
    """As the thrust that knows its times itself; also backwards, and with derivatives."""
    burn, times = (0.0, 0.3, 0.1), {"start": 0.55, "stop": 1.234}
    own = ph.system(ph.body("a", 2.0), ph.loads.of(trap), ph.loads.thrust(burn, **times))
    mine = ph.system(ph.body("a", 2.0), ph.loads.of(trap), ph.loads.thrust(burn).after(0.55).until(1.234))
    words = {"step": 0.05, "t_end": 2.0, "position": (1.0, 0, 0), "velocity": (0, 0.2, 0)}
    by = {"tangent": ["thrust.force.1"]} if method == "mkrk:cv8" else {}
    there, wanted = (ph.integrate(one, method, **by, **words) for one in (mine, own))
    for name in ("position", "velocity", "work", *(["state_transition"] if by else [])):
        np.testing.assert_allclose(there[name], wanted[name], rtol=0, atol=1e-13)
    back = ph.integrate(mine, method, step=0.05, t_end=0.0, start=there)
    np.testing.assert_allclose(back.position[-1], (1.0, 0, 0), rtol=0, atol=1e-9)
    six = [ph.loads.of(link, stiffness=2.0).on(f"body{k}", f"body{k + 1}").named(f"link{k}").until(0.5 + 0.1 * k)
           for k in range(6)]  # fmt: skip
    row = ph.integrate(ph.system(ph.bodies(7, 1.0), six), method, step=0.05, t_end=2.0,
                       position=[(1.2 * k, 0, 0) for k in range(7)])  # fmt: skip
    assert float(abs(row.energy_error).max()) < 1e-9 and (row.work.values[-1] == row.work.values[-10]).all()


def link(a, b, stiffness):
    d = b.position - a.position
    return 0.5 * stiffness * (np.sqrt(d @ d) - 1.0) ** 2


def apart(a, b, most):
    d = b.position - a.position
    return np.sqrt(d @ d) - most


def chain(links, most):
    """Points on springs in a row, each of which breaks; more than three are loops."""
    loads = []
    for k in range(links):
        pair = (f"body{k}", f"body{k + 1}")
        breaks = ph.events.of(apart, most=most[k], direction=1, name=f"breaks{k}").on(*pair)
        loads.append(ph.loads.of(link, stiffness=20.0).on(*pair).named(f"link{k}").until(breaks))
    return ph.system(ph.bodies(links + 1, 1.0), loads)


def stretches(y, count):
    r = y[: 3 * count].reshape(count, 3)
    d = r[1:] - r[:-1]
    return d, np.linalg.norm(d, axis=1)


def of_chain(t, y, whole):
    count = len(whole) + 1
    d, size = stretches(y, count)
    F = (20.0 * whole * (size - 1.0) / size)[:, None] * d
    zero = np.zeros((1, 3))
    return np.concatenate([y[3 * count :], np.ravel(np.concatenate([F, zero]) - np.concatenate([zero, F]))])


@pytest.fixture(scope="module")
def broken_chain():
    """Of a start: what breaks when, which links are whole at the end, and the places and velocities then, by SciPy,
    stopped at each event."""
    most, count = np.array([1.3, 1.25, 1.2, 1.15, 1.3, 1.1]), 7
    r, v = np.zeros((count, 3)), np.zeros((count, 3))
    r[:, 0], v[:, 0], v[0, 1], v[-1, 2] = np.arange(count), 0.6 * (np.arange(count) - 2.0), 0.3, 0.2
    y, t, whole, found = np.concatenate([np.ravel(r), np.ravel(v)]), 0.0, np.ones(6), []
    while t < 3.0:
        events = [lambda t, y, whole, k=k: stretches(y, count)[1][k] - most[k] for k in range(6)]
        for k, one in enumerate(events):
            one.terminal, one.direction = bool(whole[k]), 1.0
        got = solve_ivp(of_chain, (t, 3.0), y, "DOP853", events=events, args=(whole,), rtol=1e-13, atol=1e-14)
        t, y = got.t[-1], got.y[:, -1]
        met = [k for k in range(6) if whole[k] and got.status == 1 and got.t_events[k].size]
        found += [(f"link{k}_ends", t) for k in met]
        whole = np.where(np.isin(np.arange(6), met), 0.0, whole)
    return {"position": r, "velocity": v}, most, found, whole, y


@each("method", some(["s6_10", "taylor", "mkrk:cv8"], 2))
def test_links_of_a_chain_break_one_after_the_other(method, broken_chain):
    """The kinds are told in their order."""
    start, most, found, whole, y = broken_chain
    words = steps_of(method) if METHODS[method] else {"steps": ph.Tolerance(1e-13, max_step=0.05)}
    ds = ph.integrate(chain(6, most), method, t_end=3.0, **start, **words)
    assert len(found) > 2 and ds.event_kind.values.tolist() == [kind for kind, _ in found]
    np.testing.assert_allclose(ds.event_time, [when for _, when in found], rtol=1e-9)
    np.testing.assert_allclose(np.ravel(ds.position[-1]), y[:21], rtol=0, atol=1e-9 * np.abs(y).max())
    np.testing.assert_allclose(np.ravel(ds.velocity[-1]), y[21:], rtol=0, atol=1e-9)
    assert [float(ds[f"link{k}_on"][-1]) for k in range(6)] == whole.tolist()
    assert float(abs(ds.energy_error).max()) < 1e-11


def test_thirty_links_cost_a_kernel_as_few_do():
    """Events of one function on other bodies share their kernel, as loads do: else there is no end of compiling."""
    ds = ph.integrate(chain(30, [1.2] * 30), "v2", step=0.02, steps=100, every=50,
                      position=[(k, 0, 0) for k in range(31)], velocity=[(-2, 0, 0)] + [(0, 0, 0)] * 30)  # fmt: skip
    assert ds.event_kind.values.tolist() == ["link0_ends"]


def test_an_event_is_that_of_its_own_body_in_its_own_axes():
    """Of three bodies with principal axes of their own: the function that is watched vanishes where each is met."""

    def tip(body, height):
        return body.point((0.0, 1.0, 0.5))[2] - height

    names, inertia = ("a", "b", "c"), [(1.0, 2.0, 2.5), [[2, 0.2, 0], [0.2, 3, 0.1], [0, 0.1, 4]], (3.0, 2.0, 2.2)]
    bodies = [ph.body(name, 1.0, one) for name, one in zip(names, inertia, strict=True)]
    tips = [ph.events.of(tip, height=0.6, name=f"tip_{name}", direction=1).on(name) for name in names]
    ds = ph.integrate(ph.system(*bodies), "mkrk:cv8", step=0.02, t_end=6.0, events=tips, position=[(0, 0, -0.2)] * 3,
                      angular_velocity=[(1, 0, 0.3), (0.8, 0.4, 0), (0.9, 0.2, 0.2)])  # fmt: skip
    kinds = ds.event_kind.values.tolist()
    assert set(kinds) == {f"tip_{name}" for name in names}
    for k, kind in enumerate(kinds):
        i = names.index(kind[-1])
        place = ds.event_position.values[k, i] + turned(ds.event_attitude.values[k, i], np.array([0.0, 1.0, 0.5]))
        assert abs(place[2] - 0.6) < 1e-12


# ------------------------------------------------------------------ states that are set
def charging(v, current):
    return {"v": current - v}


def threshold(v, most):
    return v - most


@each("method", ["mkrk:cv8", "mkrk:dp8", "taylor", "mkrk:gauss6"])
def test_a_neuron_fires_again_and_again_or_once(method):
    fires = ph.events.of(threshold, most=1.0, direction=1)
    words = {"t_end": 5.0} | (steps_of(method) if METHODS[method] is None else {"step": 0.05})
    for once in (False, True):
        neuron = ph.system(ph.states.of(charging, {"current": 1.5}, v=0.0),
                           ph.controller({"v": -0.5}, at=fires, once=once).named("fires"))  # fmt: skip
        ds = ph.integrate(neuron, method, events=[fires], **words)
        first, again = np.log(3.0), np.log(4.0)
        spikes = [first] if once else [first, first + again, first + 2 * again]
        np.testing.assert_allclose(ds.event_time[ds.event_kind == "fires"], spikes, rtol=1e-10)
        np.testing.assert_allclose(ds.v[-1], 1.5 - 2.0 * np.exp(spikes[-1] - 5.0), rtol=1e-9)
        assert ds.event_kind.values.tolist()[:2] == ["threshold", "fires"]


def staged(body, thrust, burnt):
    return {"force": body.in_space(thrust), "burnt": np.sqrt(thrust @ thrust)}


def high(body, height):
    return body.position[2] - height


def next_stage(body, t, burnt, share):
    return {"thrust": np.array([0.0, share * body.velocity[2], 0.1 * t]), "burnt": burnt - 1.0}


def of_rocket(t, y, since):
    return np.concatenate([y[3:6], y[7:10] / 2.0 - np.array([0, 0, 1.0]), [np.linalg.norm(y[7:10])], np.zeros(3)])


@each("method", EXACT)
def test_values_are_those_of_a_function_of_what_loads_read(method):
    at = ph.events.of(high, height=0.5, direction=1).on("rocket")
    rocket = ph.system(
        ph.body("rocket", 2.0), ph.loads.weight(gravity=1.0),
        ph.loads.of(staged).states(thrust=(0.0, 0.0, 4.0), burnt=0.0),
        ph.controller(next_stage, at=at, parameters={"share": 0.7}).on("rocket"),
    )  # fmt: skip
    y, when = exact(of_rocket, [0, 0, 0, 0.1, 0, 0, 0, 0, 0, 4.0], 2.0, lambda t, y: y[2] - 0.5,
                    lambda t, y: [*y[:6], y[6] - 1.0, 0.0, 0.7 * y[5], 0.1 * t])  # fmt: skip
    ds = ph.integrate(rocket, method, t_end=2.0, velocity=(0.1, 0, 0), **steps_of(method))
    np.testing.assert_allclose(ds.event_time, [when], rtol=1e-9)
    np.testing.assert_allclose(ds.position[-1], y[:3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ds.velocity[-1], y[3:6], rtol=0, atol=1e-9)
    np.testing.assert_allclose((ds.burnt[-1], *ds.thrust[-1]), y[6:], rtol=0, atol=1e-9)
    assert float(abs(ds.energy_error).max()) < 1e-9
    assert np.array_equal(ph.rerun(ds, staged=staged, next_stage=next_stage, next_stage_at=high).position, ds.position)


def test_a_command_of_wheels_is_set_at_an_event():
    def fast(bus, most):
        return bus.angular_velocity[2] - most

    wheels = ph.reaction_wheels([(0.0, 0.0, 1.0)], 0.01, max_torque=1.0, command=(-0.2,))
    craft = ph.system(ph.body("bus", 4.0, (2.0, 2.0, 2.0), wheels=wheels),
                      ph.controller({"wheel_command": [0.05]},
                                    at=ph.events.of(fast, most=0.1, direction=1)))  # fmt: skip
    ds = ph.integrate(craft, "mkrk:cv8", step=0.02, t_end=3.0)
    free = ph.integrate(
        ph.system(ph.body("bus", 4.0, (2.0, 2.0, 2.0), wheels=wheels)), "mkrk:cv8", step=0.02, t_end=3.0
    )
    slope = float(free.angular_velocity[-1, 2]) / 3.0
    np.testing.assert_allclose(ds.event_time, [0.1 / slope], rtol=1e-10)
    np.testing.assert_allclose(ds.angular_velocity[-1, 2], 0.1 - 0.25 * slope * (3.0 - 0.1 / slope), rtol=1e-10)


def test_what_happens_at_one_event_happens_all_of_it():
    """Impulses on each of two bodies, a load that ends and a state that is set, at one event."""
    at = ph.events.of(beside, direction=-1).on("a")
    both = ph.system(ph.body("a", 1.0), ph.body("b", 1.0), ph.loads.impulse((0, 0, 1.0), at=at),
                     ph.loads.weight(gravity=2.0).on("b").until(at),
                     ph.loads.of(staged).on("b").states(thrust=np.zeros(3), burnt=0.0),
                     ph.controller({"burnt": 3.0}, at=at))  # fmt: skip
    ds = ph.integrate(both, "mkrk:cv8", step=0.1, t_end=3.0, position=[(1, 0, 0), (0, 0, 0)],
                      velocity=[(-1, 0, 0), (0, 0, 0)])  # fmt: skip
    assert sorted(ds.event_kind.values) == ["impulse", "impulse", "setting", "weight_ends"]
    np.testing.assert_allclose(ds.event_time, np.ones(4), rtol=1e-12)
    np.testing.assert_allclose(ds.velocity[-1], [(-1, 0, 1), (0, 0, -1)], rtol=0, atol=1e-12)
    assert float(ds.burnt[-1]) == 3.0


# ------------------------------------------------------------------ runs of all kinds
def test_runs_are_repeated_go_on_and_are_scenarios(tmp_path):
    functions = {"trap": trap, "cable": cable, "cable_until": stretched}
    words = {"step": 0.02, "steps": 100, **PAIR}
    ds = ph.integrate(tethered(), "s6_10", **words)
    assert np.array_equal(ph.rerun(ds, **functions).position, ds.position)
    with pytest.raises(InvalidInput, match="cable_until"):
        ph.rerun(ds, trap=trap, cable=cable)
    half = ph.integrate(tethered(), "s6_10", step=0.02, steps=60, **PAIR)
    assert float(half.cable_on[-1]) == 0.0 and np.linalg.norm(half.position[-1, 1] - half.position[-1, 0]) > 1.3
    further = ph.integrate(tethered(), "s6_10", step=0.02, steps=40, start=half)
    np.testing.assert_allclose(further.position[-1], ds.position[-1], rtol=0, atol=1e-13)
    start = {"a": {"velocity": (0, -0.2, 0), "angular_velocity": (0.3, -0.2, 0.5)},
             "b": {"position": (1.1, 0, 0.2), "velocity": (1.0, 0.4, 0.1)}}  # fmt: skip
    file, *_ = ph.runs.write_scenario(tmp_path / "pair.toml", tethered(), "s6_10", step=0.02, steps=100, start=start)
    assert "until = { kind = " in file.read_text()
    with pytest.raises(InvalidInput, match="allow"):
        ph.runs.read_scenario(file)
    assert np.array_equal(ph.runs.read_scenario(file, allow_code=True).integrate().position, ds.position)


@each("after", [20, 80])
def test_a_run_that_was_cut_off_goes_on_from_its_store(tmp_path, monkeypatch, after):
    """Before and after the tether has broken."""
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(stepping, "FIRST_SLICE", 8)
    monkeypatch.setattr(stepping.Run, "adjust", lambda run, elapsed: None)

    def stop(progress):
        if progress.done >= after:
            raise InterruptedError

    words, path = {"step": 0.02, "steps": 100, **PAIR}, tmp_path / "run.zarr"
    whole = ph.integrate(tethered(), "s6_10", **words)
    with pytest.raises(InterruptedError):
        ph.integrate(tethered(), "s6_10", store=ph.Store(path, checkpoint_seconds=0), progress=stop, **words)
    functions = {"trap": trap, "cable": cable, "cable_until": stretched}
    assert ph.load(path, **functions).attrs["steps"] < 100
    assert ph.resume(path, **functions).identical(whole)


def test_accelerations_of_rows_know_whether_a_load_acts():
    ds = ph.integrate(tethered(), "s6_10", step=0.02, steps=100, **PAIR)
    found = ph.runs.point_motion(ds, (0, 0, 0), body=1, trap=trap, cable=cable, cable_until=stretched).acceleration
    r, q = ds.position.values, ds.attitude.values[:, 0]
    d = r[:, 1] - r[:, 0] - np.array([turned(one, POINT) for one in q])
    size = np.linalg.norm(d, axis=1, keepdims=True)
    pull = ds.cable_on.values[:, None] * 4.0 * (1.0 - size) * d / size
    np.testing.assert_allclose(found, pull - 0.4 * r[:, 1], rtol=0, atol=1e-13)


def test_members_of_an_ensemble_break_each_at_its_own_time():
    most = [1.2, 1.3, 9.0]
    words = {"step": 0.02, "steps": 100, **PAIR}
    many = ph.ensemble(tethered(), "s6_10", members={"cable.until.most": most}, **words)
    for k, one in enumerate(most):
        alone = ph.integrate(tethered(), "s6_10", parameters={"cable.until.most": one}, **words)
        assert len(alone.event_time) == (one < 5.0)
        np.testing.assert_allclose(many.position[k], alone.position, rtol=0, atol=1e-14)


def test_further_loads_of_a_builder_end_and_setters_are_loads_of_it():
    words = {"step": 0.05, "t_end": 8.0, "position": (1.0, 0, 0), "velocity": (0, 1.1, 0)}
    push = ph.loads.thrust((0.02, 0, 0))
    apoapsis = ph.events.apsis("apoapsis")
    ds = ph.integrate(ph.orbit(1.0, 2.0, loads=[push.until(apoapsis)]), "rkn6_14a/kepler", **words)
    when = float(ds.event_time[0])
    known = ph.orbit(1.0, 2.0, loads=[ph.loads.thrust((0.02, 0, 0), stop=when)])
    np.testing.assert_allclose(
        ds.position, ph.integrate(known, "rkn6_14a/kepler", **words).position, rtol=0, atol=1e-10
    )
    assert ds.event_kind.values.tolist() == ["thrust_ends"] and np.array_equal(ph.rerun(ds).position, ds.position)


# ------------------------------------------------------------------ what is refused
def test_what_cannot_be_done_is_said():
    pair = tethered()
    with pytest.raises(InvalidInput, match="'cable_ends' sets states, and happens forwards in time only"):
        ph.integrate(pair, "s6_10", step=0.02, t_end=-1.0, **PAIR)
    at, law = ph.events.apsis(body="b"), {"x": 1.0}
    for wrong, match in (
        (lambda: ph.loads.impulse((1, 0, 0), at=1.0).until(2.0), "single times"),
        (lambda: ph.controller(next_stage, 1.0).until(2.0), "single times"),
        (lambda: ph.loads.weight().until("noon"), "until"),
        (lambda: ph.system(ph.body("a", 1.0), ph.loads.weight().after(2.0).until(1.0)), "not after it begins"),
        (lambda: ph.loads.weight().until(None), "until"),
        (lambda: ph.system(ph.body("a", 1.0), ph.loads.weight().until(at)), "'b'"),
        (lambda: ph.system(ph.body("a", 1.0), ph.loads.weight().until({"kind": "nowhere"})), "unknown kind of event"),
        (lambda: ph.system(ph.body("a", 1.0), ph.loads.weight().until(ph.events.eclipse(1.0, position=(1, 0, 0),
                           shadow="cone", sun_radius=0.1))), "none of a sum"),
        (lambda: ph.system(*ph.bodies(2, 1.0), ph.loads.gravitation(1.0).until(1.0)), "name two by .on"),
        (lambda: ph.system(ph.body("a", 1.0), ph.controller(law, at=1.0)), "no state"),
        (lambda: ph.controller(law, 1.0), "must be a function"),
        (lambda: ph.controller(law, 1.0, at=2.0), "every is given beside at"),
        (lambda: ph.controller(law, at=2.0, delay=1.0), "delay is given beside at"),
        (lambda: ph.controller(law, at=2.0, once=True), "once is given, but at is a time"),
        (lambda: ph.controller(next_stage, 1.0, once=True), "once is given without at"),
        (lambda: ph.controller(law, at=2.0, parameters={"k": 1.0}), "parameters are given beside numbers"),
        (lambda: ph.controller({}, at=2.0), "no states"),
        (lambda: ph.controller(next_stage), "every is missing"),
        (lambda: ph.rigid_body((1, 2, 2.5), controllers=[ph.controller(next_stage, sets="x", at=1.0)]), "every="),
    ):  # fmt: skip
        with pytest.raises(PolhodeError, match=match):
            wrong()

    def infinite(body, burnt):
        return {"burnt": burnt / 0.0}

    broken = ph.system(ph.body("rocket", 2.0), ph.loads.of(staged).states(thrust=np.zeros(3), burnt=1.0),
                       ph.controller(infinite, at=0.5))  # fmt: skip
    with pytest.raises(UserFunctionError, match="finite"):
        ph.integrate(broken, "mkrk:cv8", step=0.1, steps=10)
