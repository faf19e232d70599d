"""Systems as sums: the same numbers as systems that are built in, and as equations written by hand."""

from __future__ import annotations

import pickle
from array import array

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from each import each
from polhode.errors import InvalidInput, PolhodeError
from polhode.trajectory.surroundings import centre_of_top
from vectors import cross

MU, RADIUS, J2 = 3.986004415e14, 6378136.3, 1.08262668e-3
TENSOR = [[5.0, 0.1, 0.0], [0.1, 4.0, 0.2], [0.0, 0.2, 3.0]]
TOP = {"attitude": ph.rotation.exp_quaternion((0.3, 0.0, 0.0)), "angular_velocity": (0.0, 0.1, 5.0)}
LOW = {"position": (6878136.3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0)}


def spring(body, stiffness):
    return 0.5 * stiffness * body.position @ body.position


def drag(body, rate):
    return {"force": -rate * body.velocity}


def tether(a, b, stiffness, length):
    stretch = np.linalg.norm(b.position - a.position) - length
    return 0.5 * stiffness * ph.where(stretch > 0.0, stretch, 0.0) ** 2


def top_of(inertia=(5.0, 5.0, 1.0), weight=20.0, at=(0.0, 0.0, 1.0)):
    return ph.system(ph.body("top", inertia=inertia, pinned=True), ph.loads.weight(weight, at=at))


@each("method", ["v2", "fg6_5", "rkn6_14a", "mkrk:gauss4", "mkrk:cv8", "trap", "dmv4"])
def test_the_heavy_top_is_that_of_polhode_bit_for_bit(method):
    both = [ph.integrate(one, method, step=1e-2, steps=100, every=20, **TOP)
            for one in (ph.heavy_top((5.0, 5.0, 1.0), (0.0, 0.0, 1.0), 20.0), top_of())]  # fmt: skip
    for name in ("attitude", "angular_velocity", "energy"):
        assert np.array_equal(both[0][name], both[1][name]), name


def test_pictures_of_a_sum_find_the_centre_of_mass_of_a_top():
    ds = ph.integrate(top_of(at=(0.0, 0.0, 0.7)), "v2", step=1e-2, steps=1, **TOP)
    assert centre_of_top(ds).tolist() == [0.0, 0.0, 0.7]
    two = ph.system(ph.body("top", inertia=(5, 5, 1), pinned=True), ph.loads.weight(20.0, at=(0, 0, 1)),
                    ph.loads.weight(3.0, at=(0, 0, 2)).named("hat"))  # fmt: skip
    assert centre_of_top(ph.integrate(two, "v2", step=1e-2, steps=1, **TOP)) is None


def test_a_body_in_axes_of_its_own_is_that_of_polhode():
    def torque(t, q, omega, parameters):
        return (0.3 - 0.1 * omega[0], -0.1 * omega[1], 0.2 * np.cos(t))

    def motor(body, t, damping):
        w = body.angular_velocity
        return {"torque": [0.3 - damping * w[0], -damping * w[1], 0.2 * np.cos(t)]}

    run = {"step": 0.02, "steps": 200, "every": 20, "angular_velocity": (1.0, 0.1, 2.0)}
    before = ph.integrate(ph.rigid_body(TENSOR, torque=torque), "mkrk:cv8", **run)
    ours = ph.system(ph.body("body", inertia=TENSOR, pinned=True), ph.loads.of(motor, damping=0.1))
    after = ph.integrate(ours, "mkrk:cv8", **run)
    for name in ("attitude", "angular_velocity", "work"):
        assert abs(before[name].values - after[name].values).max() < 1e-13, name
    assert float(abs(after.energy_error).max()) < 1e-11


def test_a_craft_in_orbit_is_that_of_polhode():
    ours = ph.system(ph.body("craft", 120.0, TENSOR), ph.loads.central(MU), ph.loads.zonal(MU, RADIUS, J2),
                     ph.loads.gravity_gradient(MU))  # fmt: skip
    built = ph.spacecraft(TENSOR, MU, 120.0, forces=[ph.forces.zonal(J2=J2, radius=RADIUS)])
    assert ours.recommended == built.recommended == "rkn6_14a/kepler"
    start = {**LOW, "angular_velocity": (0.02, 0.03, -0.01)}
    for method in ("rkn6_14a/kepler", "mkrk:cv8"):
        a, b = (ph.integrate(one, method, step=2.0, steps=500, every=100, **start) for one in (built, ours))
        assert abs(a.position.values - b.position.values).max() < 1e-13 * RADIUS
        assert abs(a.attitude.values - b.attitude.values).max() < 1e-12
    assert ours.conserves == ("energy", "vertical_angular_momentum")


def test_two_bodies_are_as_their_equations_say():
    """A tether with points of both bodies off their centres, against quaternions in DOP853."""
    of_a, of_b, k, length = np.array([0.0, 0.3, 1.0]), np.array([0.2, 0.0, -0.3]), 5.0, 2.0
    I_a, I_b, masses = np.array([2.0, 3.0, 2.5]), np.array([0.5, 0.4, 0.6]), (10.0, 2.0)
    pair = ph.system(ph.body("a", masses[0], I_a), ph.body("b", masses[1], I_b),
                     ph.loads.tether(k, length, of_a, of_b).on("a", "b"))  # fmt: skip
    start = {
        "a": {"angular_velocity": (0.1, 0.2, -0.3)},
        "b": {"position": (0.5, 0.0, 4.5), "velocity": (0.1, 0.0, 0.2), "angular_velocity": (0.3, 0.0, 0.1)},
    }
    ds = ph.integrate(pair, "mkrk:cv8", step=0.005, steps=100, every=100, start=start)  # while it is taut

    def rates(t, y):
        bodies = y.reshape(2, 13)
        R = [ph.rotation.matrix_from_quaternion(one[6:10] / np.linalg.norm(one[6:10])) for one in bodies]
        arms = [R[0] @ of_a, R[1] @ of_b]
        d = bodies[1, :3] + arms[1] - bodies[0, :3] - arms[0]
        F = k * max(np.linalg.norm(d) - length, 0.0) * d / np.linalg.norm(d)
        out = np.empty((2, 13))
        for i, (one, force, I) in enumerate(zip(bodies, (F, -F), (I_a, I_b), strict=True)):
            w, (a, b, c, e) = one[10:], one[6:10]
            out[i, :3], out[i, 3:6] = one[3:6], force / masses[i]
            out[i, 6:10] = 0.5 * np.array([-b * w[0] - c * w[1] - e * w[2], a * w[0] + c * w[2] - e * w[1],
                                           a * w[1] + e * w[0] - b * w[2], a * w[2] + b * w[1] - c * w[0]])  # fmt: skip
            out[i, 10:] = (cross(I * w, w) + R[i].T @ cross(arms[i], force)) / I
        return out.ravel()

    y = np.zeros((2, 13))
    y[:, 6], y[0, 10:], y[1, 10:] = 1.0, (0.1, 0.2, -0.3), (0.3, 0.0, 0.1)
    y[1, :6] = (0.5, 0.0, 4.5, 0.1, 0.0, 0.2)
    end = solve_ivp(rates, (0.0, 0.5), y.ravel(), method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1].reshape(2, 13)
    assert abs(ds.position.values[-1] - end[:, :3]).max() < 1e-11
    assert abs(ds.attitude.values[-1] - end[:, 6:10]).max() < 1e-11
    assert abs(ds.angular_velocity.values[-1] - end[:, 10:]).max() < 1e-11
    assert pair.conserves == ("energy", "total_momentum", "total_angular_momentum")
    for name in ("total_momentum", "total_angular_momentum"):
        assert abs(ds[name].values[-1] - ds[name].values[0]).max() < 1e-12


def test_a_binary_keeps_what_it_must():
    alpha, beta = ph.body("alpha", 2.2e12, (1.7e17, 1.8e17, 2.0e17)), ph.body("beta", 1.3e11, (1.9e14, 2.4e14, 2.6e14))
    binary = ph.system(alpha, beta, ph.loads.mutual_gravity().on("alpha", "beta"))
    v = np.sqrt(6.6743e-11 * 2.33e12 / 2500.0)
    start = {
        "alpha": {"position": (-139.5, 0, 0), "velocity": (0, -v * 0.0558, 0), "angular_velocity": (0, 0, 6e-4)},
        "beta": {"position": (2360.5, 0, 0), "velocity": (0, v * 0.9442, 0), "angular_velocity": (1e-5, 0, 1.2e-4)},
    }
    ds = ph.integrate(binary, "rkn6_14a", step=60.0, steps=1000, every=100, start=start)
    assert float(abs(ds.energy_error).max()) < 1e-12
    momentum = ds.total_angular_momentum.values
    assert abs(momentum - momentum[0]).max() < 1e-13 * abs(momentum).max()
    assert list(ds.body.values) == ["alpha", "beta"]
    figure = ph.plots.figure(ds, "polhode")
    assert any(", alpha" in one.get_title(loc="left") for one in figure.axes)


def test_mutual_gravity_is_that_of_the_points_bodies_are_made_of():
    """Two clouds of points: what is left falls as the fourth power of size over distance, beside the mass terms."""
    draw = np.random.default_rng(3)
    clouds = [draw.normal(size=(8, 3)) * (1.0, 0.7, 0.4) for _ in range(2)]
    clouds = [one - one.mean(axis=0) for one in clouds]
    masses = [3.0, 2.0]
    inertias = [m / 8 * (np.trace(c.T @ c) * np.eye(3) - c.T @ c) for m, c in zip(masses, clouds, strict=True)]
    two = ph.system(ph.body("a", masses[0], inertias[0]), ph.body("b", masses[1], inertias[1]),
                    ph.loads.mutual_gravity(G=1.0).on("a", "b"))  # fmt: skip
    turns = [ph.rotation.exp_quaternion(v) for v in ((0.3, 0.2, -0.5), (-0.4, 0.1, 0.2))]
    left = []
    for distance in (10.0, 20.0, 40.0):
        places = [np.zeros(3), distance * np.array([0.6, 0.48, 0.64])]
        ds = ph.integrate(two, "v2", step=1e-9, steps=1, position=places, attitude=turns)
        there = [x + ph.rotation.rotate(q, c) for x, q, c in zip(places, turns, clouds, strict=True)]
        d = np.linalg.norm(there[0][:, None] - there[1][None], axis=-1)
        exact = -masses[0] * masses[1] / 64 * (1.0 / d).sum()
        left.append(abs(float(ds.potential_energy[0]) - exact) / abs(exact + masses[0] * masses[1] / distance))
    assert left[1] < left[0] / 1.7 and left[2] < left[1] / 1.7 and left[2] < 0.05


def test_what_a_body_offers_a_load_is_what_it_is():
    seen = {
        "inertia": lambda body: {"force": body.inertia @ np.array([1.0, 2.0, 3.0])},
        "point": lambda body: {"force": body.point((0.1, 0.2, 0.3))},
        "in_body": lambda body: {"force": body.in_body(body.velocity)},
        "angular_velocity": lambda body: {"force": body.mass * body.angular_velocity},
        "attitude": lambda body: {"force": body.attitude[1:]},
    }
    q = ph.rotation.exp_quaternion((0.3, -0.2, 0.5))
    R = ph.rotation.matrix_from_quaternion(q)
    x, v, w = np.array([1.0, 2.0, -1.0]), np.array([0.3, 0.1, -0.2]), np.array([0.2, -0.4, 0.6])
    wanted = {"inertia": np.array(TENSOR) @ [1.0, 2.0, 3.0], "point": x + R @ [0.1, 0.2, 0.3], "in_body": R.T @ v,
              "angular_velocity": 2.0 * w, "attitude": q[1:]}  # fmt: skip
    h = 1e-4
    for name, load in seen.items():
        one = ph.system(ph.body("a", 2.0, TENSOR), ph.loads.of(load))
        ends = [ph.integrate(one, "mkrk:cv8", step=h, t_end=end, position=x, velocity=v, attitude=q, angular_velocity=w)
                for end in (h, -h)]  # fmt: skip
        force = 2.0 * (ends[0].velocity.values[-1] - ends[1].velocity.values[-1]) / (2.0 * h)
        assert force == pytest.approx(wanted[name], rel=1e-6, abs=1e-6), name


def test_an_acceleration_is_one_whatever_the_mass():
    def wind(body, t, strength):
        return strength * np.array([np.cos(t), 0.0, 0.1])

    for mass in (1.0, 50.0):
        ds = ph.integrate(
            ph.system(ph.body("a", mass), ph.loads.acceleration(wind, strength=2.0)), step=0.01, steps=100
        )
        assert ds.velocity.values[-1] == pytest.approx([2.0 * np.sin(1.0), 0.0, 0.2], rel=1e-12)
        assert float(abs(ds.energy_error).max()) < 1e-13
    fallen = ph.integrate(ph.system(ph.body("a", 3.0), ph.loads.weight()), step=0.01, steps=100)
    assert float(fallen.position[-1, 2]) == pytest.approx(-9.81 / 2.0, rel=1e-13)


def test_what_is_nearly_conserved_is_not_said_to_be():
    def leaning(body, lean):
        return 1.5 * body.position @ body.position + lean * body.position[0] * body.position[1]

    assert ph.system(ph.body("a", 1.0), ph.loads.of(leaning, lean=1e-6)).conserves == ("energy",)
    round_one = ph.system(ph.body("a", 1.0), ph.loads.of(spring, stiffness=3.0))
    assert round_one.conserves == ("energy", "angular_momentum_space")


def test_forces_work_and_potentials_that_read_the_time_do_too():
    def swing(body, t, stiffness):
        return 0.5 * stiffness * (1.0 + 0.5 * np.sin(t)) * body.position @ body.position

    both = ph.system(ph.body("p", 2.0), ph.loads.of(swing, stiffness=3.0), ph.loads.of(drag, rate=0.1))
    ds = ph.integrate(both, step=0.01, steps=1000, every=100, position=(1.0, 0.2, 0.0))
    assert sorted(ds.force.values) == ["drag", "swing"] and float(abs(ds.work).max()) > 0.1
    assert float(abs(ds.energy_error).max()) < 1e-12
    alone = ph.system(ph.body("p", 2.0), ph.loads.of(swing, stiffness=3.0))
    assert "exact_kicks" in alone.provides and "exact_kicks" not in both.provides
    ds = ph.integrate(alone, "rkn6_14a", step=0.01, steps=1000, every=100, position=(1.0, 0.2, 0.0))
    assert list(ds.force.values) == ["swing"] and float(abs(ds.energy_error).max()) < 1e-12


def test_states_follow_their_rates_in_every_method_that_carries_them():
    def warming(body, rate, heat):
        return {"heat": rate - 0.1 * heat}

    def push(body, heat):
        return {"force": heat * np.array([1.0, 0.0, 0.0])}

    craft = ph.system(ph.body("a", 2.0), ph.loads.of(warming, rate=1.0).states(heat=0.5), ph.loads.of(push))
    exact = 10.0 - 9.5 * np.exp(-1.0)
    for method in ("s6_10", "mkrk:cv8", "mkrk:gauss6", "taylor"):
        how = {"steps": ph.Tolerance(1e-12), "t_end": 10.0} if method == "taylor" else {"step": 0.1, "steps": 100}
        ds = ph.integrate(craft, method, **how)
        assert float(ds.heat[-1]) == pytest.approx(exact, rel=1e-11), method
        assert float(abs(ds.energy_error).max()) < 1e-12


def test_a_fast_state_sets_the_steps_of_a_tolerance():
    def turning(body, u, v, rate):
        return {"u": rate * v, "v": -rate * u}

    one = ph.system(ph.body("a", 1.0), ph.loads.of(turning, rate=50.0).states(u=1.0, v=0.0))
    for method in ("taylor", "mkrk:dp8"):
        ds = ph.integrate(one, method, steps=ph.Tolerance(1e-10), t_end=2.0, velocity=(1.0, 0.0, 0.0))
        assert float(ds.u[-1]) == pytest.approx(np.cos(100.0), abs=1e-8), method


def test_a_state_without_a_rate_stays():
    one = ph.system(ph.body("a", 1.0), ph.loads.of(lambda body, x: {"x": 0.0}).states(x=1.5))
    for method in ("v2", "mkrk:cv8"):
        ds = ph.integrate(one, method, step=0.1, steps=3, velocity=(1.0, 0.0, 0.0))
        assert list(ds.x.values) == [1.5] * 4 and float(ds.position[-1, 0]) == pytest.approx(0.3)


def test_an_argument_with_a_default_keeps_it():
    def lean(body, stiffness=2.0):
        return 0.5 * stiffness * body.position @ body.position

    for load, stiffness in ((ph.loads.of(lean), 2.0), (ph.loads.of(lean, stiffness=3.0), 3.0)):
        ds = ph.integrate(ph.system(ph.body("a", 1.0), load), step=0.01, steps=100, position=(1.0, 0.0, 0.0))
        assert float(ds.position[-1, 0]) == pytest.approx(np.cos(np.sqrt(stiffness)), rel=1e-9)


K = [3.0]
CELLS = array("d", [3.0])
VIEW = memoryview(CELLS)  # whose contents no digest sees


class Gains:
    gain = 3.0


def test_what_functions_read_is_read_anew():
    def listed(body):
        return 0.5 * K[0] * body.position @ body.position

    def held(body):
        return 0.5 * Gains.gain * body.position @ body.position

    def viewed(body):
        return 0.5 * VIEW[0] * body.position @ body.position

    run = {"step": 0.01, "steps": 100, "position": (1.0, 0.0, 0.0)}
    for load, change in ((listed, lambda x: K.__setitem__(0, x)), (held, lambda x: setattr(Gains, "gain", x)),
                         (viewed, lambda x: CELLS.__setitem__(0, x))):  # fmt: skip
        one = ph.system(ph.body("p", 1.0), ph.loads.of(load))
        prepared = ph.prepare(one, "rkn6_14a", step=0.01, steps=100)
        for stiffness in (3.0, 12.0, 3.0):
            change(stiffness)
            for system in (one, ph.system(ph.body("p", 1.0), ph.loads.of(load))):
                x = float(ph.integrate(system, **run).position[-1, 0])
                assert x == pytest.approx(np.cos(np.sqrt(stiffness)), rel=1e-9), load
            again = prepared.run({"position": (1.0, 0.0, 0.0)}).position[-1, 0]
            assert again == pytest.approx(np.cos(np.sqrt(stiffness)), rel=1e-9), load


def test_a_sum_is_repeated_from_its_record(tmp_path):
    one = ph.system(ph.body("p", 2.0, TENSOR), ph.loads.of(spring, stiffness=3.0), ph.loads.of(drag, rate=0.1))
    run = {"step": 0.02, "steps": 100, "position": (1.0, 0.0, 0.0), "angular_velocity": (0.1, 0.0, 0.0)}
    ds = ph.integrate(one, **run)
    ph.save(ds, tmp_path / "one.nc")
    again = ph.rerun(ph.load(tmp_path / "one.nc"), spring=spring, drag=drag)
    assert np.array_equal(again.position, ds.position) and np.array_equal(again.attitude, ds.attitude)
    with pytest.raises(InvalidInput, match=r"hand it in again: rerun\(ds, drag=drag\)"):
        ph.rerun(ds)
    with pytest.raises(PolhodeError, match="spring"):
        ph.rerun(ds, spring=tether, drag=drag)
    stored = ph.integrate(one, **run, store=tmp_path / "one.zarr")
    assert np.array_equal(stored.position, ds.position)
    assert np.array_equal(ph.load(tmp_path / "one.zarr", spring=spring, drag=drag).position, ds.position)
    kept = pickle.loads(pickle.dumps(one))
    assert np.array_equal(ph.integrate(kept, **run).position, ds.position)


def test_every_number_of_a_summand_may_vary():
    one = ph.system(ph.body("p", 2.0), ph.loads.of(spring, stiffness=3.0), ph.loads.of(drag, rate=0.1))
    run = {"step": 0.02, "steps": 50, "position": (1.0, 0.0, 0.0)}

    def of(stiffness, mass):
        other = ph.system(ph.body("p", mass), ph.loads.of(spring, stiffness=stiffness), ph.loads.of(drag, rate=0.1))
        return ph.integrate(other, "mkrk:cv8", **run).position.values[-1]

    values = {"spring.stiffness": [3.0, 4.0, 5.0], "p.mass": [2.0, 1.0, 4.0]}
    expected = [of(*both) for both in zip(*values.values(), strict=True)]
    ds = ph.ensemble(one, "mkrk:cv8", engine="threads", members=values, **run)
    assert abs(ds.position.values[:, -1] - expected).max() < 1e-13
    changed = ph.integrate(one, "mkrk:cv8", parameters={"spring.stiffness": 4.0, "p.mass": 1.0}, **run)
    assert np.array_equal(changed.position.values[-1], expected[1])
    assert np.array_equal(ph.rerun(changed, spring=spring, drag=drag).position, changed.position)


def test_a_number_by_which_a_function_decides_decides_for_each_member():
    def one_sided(body, side):
        return 2.0 * body.position[0] ** 2 if side > 0 else 0.5 * body.position[0] ** 2

    one = ph.system(ph.body("p", 1.0), ph.loads.of(one_sided, side=1.0))
    members = {"one_sided.side": [1.0, -1.0, 2.0]}
    ds = ph.ensemble(one, "rkn6_14a", step=0.01, steps=100, members=members, start={"position": (1.0, 0.0, 0.0)})
    assert ds.position.values[:, -1, 0] == pytest.approx(np.cos([2.0, 1.0, 2.0]), rel=1e-9)
    run = {"step": 0.01, "steps": 100, "position": (1.0, 0.0, 0.0)}
    with pytest.raises(InvalidInput, match=r"one_sided\.side decides what the loads"):
        ph.integrate(one, "mkrk:cv8", tangent=["one_sided.side"], **run)
    with pytest.raises(InvalidInput, match="decides by numbers that vary"):
        ph.ensemble(one, "rkn6_14a", engine="lanes", members=members, **run)


def test_the_same_sum_is_put_together_again_without_tracing(monkeypatch):
    first = top_of(weight=20.0)
    monkeypatch.setattr("polhode.systems.structure.Tracing", None)
    other = top_of(weight=30.0, at=(0.0, 0.1, 1.0))
    assert other.potential is first.potential and list(other.parameters) == [30.0, 0.0, 0.1, 1.0]


def test_loads_on_each_of_many_bodies_are_a_loop():
    n, row = 200, ph.bodies(200, 2.0, TENSOR)
    many = ph.system(row, ph.loads.central(MU), ph.loads.zonal(MU, RADIUS, J2), ph.loads.gravity_gradient(MU),
                     ph.loads.of(drag, rate=1e-7))  # fmt: skip
    one = ph.system(row[0], ph.loads.central(MU), ph.loads.zonal(MU, RADIUS, J2), ph.loads.gravity_gradient(MU),
                    ph.loads.of(drag, rate=1e-7))  # fmt: skip
    r = np.array([LOW["position"]]) * (1.0 + 1e-3 * np.arange(n)[:, None])
    run = {"step": 5.0, "steps": 20, "every": 20}
    ds = ph.integrate(many, "rkn6_14a/kepler", position=r, velocity=[LOW["velocity"]] * n, **run)
    for k in (0, 7, n - 1):
        alone = ph.integrate(one, "rkn6_14a/kepler", position=r[k], velocity=LOW["velocity"], **run)
        assert abs(ds.position.values[-1, k] - alone.position.values[-1]).max() < 1e-8
        assert abs(ds.attitude.values[-1, k] - alone.attitude.values[-1]).max() < 1e-14
    assert float(abs(ds.energy_error).max()) < 1e-13 and float(ds.work[-1, 0]) < 0.0
    free = ph.system(ph.bodies(5, 1.0), ph.loads.of(spring, stiffness=1.0))
    for method in ("rkn6_14a", "fg6_5", "mkrk:gauss4"):
        ds = ph.integrate(free, method, step=0.01, steps=100, position=np.eye(5, 3) + 1.0)
        assert ds.position.values[-1] == pytest.approx(np.cos(1.0) * (np.eye(5, 3) + 1.0), rel=1e-8)
        assert float(abs(ds.energy_error).max()) < 1e-8


def apart(a, b):
    return (b.position - a.position) @ (b.velocity - a.velocity)


def far(a, b, most):
    d = b.position - a.position
    return d @ d - most**2


def bond(a, b, stiffness):
    d = b.position - a.position
    return 0.5 * stiffness * d @ d


def test_events_are_of_bodies_by_their_names():
    pair = ph.system(
        ph.body("a", 2.0), ph.body("b", 1.0, (1.0, 2.0, 2.5)), ph.loads.of(bond, stiffness=3.0).on("a", "b")
    )
    run = {"start": {"b": {"position": (1.0, 0.0, 0.0), "velocity": (0.0, 0.5, 0.0)}}, "step": 0.01, "steps": 500}
    closest = ph.events.of(apart, direction=1, name="closest approach").on("a", "b")
    quarter = 0.5 * np.pi / np.sqrt(3.0 * 1.5)
    for method in ("rkn6_14a", "mkrk:cv8"):
        ds = ph.integrate(pair, method, events=[closest], **run)
        assert list(ds.event_kind.values) == ["closest approach"] * 3
        assert ds.event_time.values == pytest.approx(quarter * np.array([1.0, 3.0, 5.0]), abs=1e-12)
        assert ds.event_position.dims == ("event", "body", "axis") and ds.event_attitude.shape == (3, 2, 4)
        d = ds.event_position.sel(body="b") - ds.event_position.sel(body="a")
        assert np.linalg.norm(d, axis=-1) == pytest.approx(0.5 / np.sqrt(4.5), rel=1e-9)
    crossed = ph.events.of(far, direction=-1, terminal=True, most=0.9).on("a", "b")
    ds = ph.integrate(pair, events=[crossed], **run)
    d = ds.position.sel(body="b") - ds.position.sel(body="a")
    assert (
        float(np.linalg.norm(d[-1])) == pytest.approx(0.9, rel=1e-13)
        and "stopped by the event 'far'" in ds.attrs["stopped"]
    )
    again = ph.rerun(ds, bond=bond, far=far)
    assert np.array_equal(again.position, ds.position)
    with pytest.raises(InvalidInput, match=r"the event 'far'; hand it in again: rerun\(ds, far=far\)"):
        ph.rerun(ds, bond=bond)
    for wrong, said in ((ph.events.of(far, most=1.0), "say which with .on"), ("apsis", "say which: body="),
                        (ph.events.of(far, most=1.0).on("a", "c"), "'c'; known: a, b"),
                        (ph.events.of(far).on("a", "b"), "asks for 'most'"),
                        (ph.events.of(lambda a, b: a.position).on("a", "b"), "one number")):  # fmt: skip
        with pytest.raises(PolhodeError, match=said):
            ph.integrate(pair, events=[wrong], **run)


def test_an_event_of_the_one_body_reads_what_loads_read():
    orbit = ph.orbit(1.0)
    run = {"step": 0.01, "steps": 700, "position": (1.0, 0.0, 0.0), "velocity": (0.0, 1.1, 0.0)}
    ours = ph.integrate(orbit, events=[ph.events.of(lambda body: body.position @ body.velocity, name="apsis")], **run)
    built = ph.integrate(orbit, events=["apsis"], **run)
    assert ours.event_time.values == pytest.approx(built.event_time.values, abs=1e-14)


def refused():
    a = ph.body("a", 1.0)

    def remembers(body, seen=[]):  # noqa: B006
        seen.append(1)
        return 0.5 * len(seen) * body.position[0] ** 2

    def jumps(body, t):
        return ph.where(t < 1.0, 1.0, 0.0) * body.position[0]

    return {
        "needs a body": lambda: ph.system(ph.loads.weight()),
        "two summands called 'a'": lambda: ph.system(a, ph.body("a", 2.0)),
        "polhode.loads.of": lambda: ph.system(a, spring),
        "asks for 'b', which nothing gives": lambda: ph.system(a, ph.loads.of(tether, stiffness=1, length=1)),
        "no argument 'rate'": lambda: ph.loads.of(spring, rate=1.0),
        "is on 'c'; known: a": lambda: ph.system(a, ph.loads.of(spring, stiffness=1.0).on("c")),
        "has no mass": lambda: ph.body("b"),
        "must be an identifier": lambda: ph.body("2b", 1.0),
        "takes newtons and at": lambda: ph.loads.weight(20.0),
        "is pinned": lambda: ph.system(ph.body("t", inertia=(1, 1, 1), pinned=True), ph.loads.weight()),
        "numbers of shape (3,) as its potential": lambda: ph.system(a, ph.loads.of(lambda body: (1, 2, 3))),
        "returns 'forse'": lambda: ph.system(a, ph.loads.of(lambda body: {"forse": (1, 2, 3)})),
        "as its force": lambda: ph.system(a, ph.loads.of(lambda body: {"force": (1, 2)})),
        "as its acceleration": lambda: ph.system(a, ph.loads.acceleration(lambda body: 1.0)),
        "it prints": lambda: ph.system(a, ph.loads.of(lambda body: [print("x"), body.position[0]][1])),
        "remembers from call to call": lambda: ph.system(a, ph.loads.of(remembers)),
        "depends on velocities": lambda: ph.system(a, ph.loads.of(lambda body: body.velocity @ body.velocity)),
        "reads 'speed' of a body, which has": lambda: ph.system(a, ph.loads.of(lambda body: body.speed)),
        "decides by the time": lambda: ph.system(a, ph.loads.of(jumps)),
        "is nan": lambda: ph.loads.of(spring, stiffness=np.nan),
        "are two centres": lambda: ph.system(a, ph.loads.central(1.0), ph.loads.central(2.0).named("other")),
        "names of their own": lambda: ph.system(a, ph.loads.of(spring, stiffness=1.0).states(a=0.0)),
        "unknown body of the system, given in start 'c'": lambda: ph.integrate(
            ph.system(a), step=1.0, steps=1, start={"c": {"position": (0, 0, 0)}}
        ),
        "unknown word in start.a 'place'": lambda: ph.integrate(
            ph.system(a), step=1.0, steps=1, start={"a": {"place": (0, 0, 0)}}
        ),
        "hand it in again: spring=": lambda: ph.system(p={"kind": "body", "mass": 1.0}, spring={"stiffness": 1.0}),
    }


@each("said", refused())
def test_what_is_no_sum_is_said_in_a_sentence(said):
    with pytest.raises(PolhodeError) as told:
        refused()[said]()
    assert said in str(told.value) and "\n" not in str(told.value)


def test_a_sum_reads_as_the_sum_it_is():
    pair = ph.system(ph.body("a", 2.0, (1, 2, 2.5)), ph.bodies(2, 1.0, name="b"),
                     ph.loads.tether(3.0, 1.0).on("a", "b0"), ph.loads.of(drag, rate=0.1).on("b1"))  # fmt: skip
    text = repr(pair)
    for part in ("a: body, mass 2, inertia (1, 2, 2.5)", "tether on a, b0: stiffness 3, length 1, of_a (0, 0, 0)",
                 "your function drag on b1: rate 0.1", "the work of drag is recorded"):  # fmt: skip
        assert part in text
    assert "tether on a, b0" in pair._repr_html_()


def test_loads_of_a_centre_take_its_gravity_parameter():
    """Unless they are given one of their own; the number of the centre is that of them all."""
    bodies = [ph.body("a", 100.0, (20, 30, 25)), ph.body("b", 10.0)]
    oblate = {"radius": 6378136.3, "J2": 1.08e-3}
    few = [ph.loads.central(MU), ph.loads.zonal(**oblate), ph.loads.gravity_gradient()]
    single = [ph.loads.central(MU), ph.loads.zonal(MU, **oblate), ph.loads.gravity_gradient(MU)]
    start = {"position": [(7e6, 0, 0), (7.1e6, 0, 0)], "velocity": [(0, 5400.0, 5400.0)] * 2}
    words = {"step": 10.0, "steps": 60, **start}
    runs = [ph.integrate(ph.system(*bodies, *loads), "rkn6_14a/kepler", **words) for loads in (few, single)]
    assert np.array_equal(runs[0].position.values, runs[1].position.values)
    other = ph.integrate(ph.system(*bodies, *few), "rkn6_14a/kepler", parameters={"central.mu": 4e14}, **words)
    mine = [ph.loads.central(4e14), ph.loads.zonal(4e14, **oblate), ph.loads.gravity_gradient(4e14)]
    expected = ph.integrate(ph.system(*bodies, *mine), "rkn6_14a/kepler", **words)
    assert np.array_equal(other.position.values, expected.position.values)
    many = ph.system(*ph.bodies(5, 100.0, (20, 30, 25)), *few)
    assert many.provides >= {"central_gravity"}
    with pytest.raises(InvalidInput, match=r"asks for 'mu', which nothing gives.*central\(mu\)"):
        ph.system(bodies[0], ph.loads.zonal(**oblate))
    with pytest.raises(InvalidInput, match="radius is missing"):
        ph.loads.zonal(MU, J2=1e-3)


def test_two_loads_with_the_same_state_have_it_under_two_names():
    """Torquers on two bodies, each commanded by itself; a friction that wears each of two bodies."""

    def field(body):
        return np.array((1e-5, 3e-5, 0.5e-5)) + 0.0 * body.position

    def damp(a, b):
        return {"left": -2e4 * np.cross(a.in_body((1e-5, 3e-5, 0.5e-5)), a.angular_velocity),
                "right": 1e4 * np.cross(b.in_body((1e-5, 3e-5, 0.5e-5)), b.angular_velocity)}  # fmt: skip

    rods = ph.loads.torquers(np.eye(3))
    parts = [ph.body("a", 2.0, (0.05, 0.04, 0.03)), ph.body("b", 2.0, (0.05, 0.04, 0.03)),
             rods.renamed(dipole_command="left").on("a"), rods.named("others").renamed(dipole_command="right").on("b"),
             ph.controller(damp, every=0.1).on("a", "b")]  # fmt: skip
    both = ph.system(*parts, surroundings={"field": ph.surroundings.of(field)})
    words = {"step": 0.05, "steps": 200, "every": 50}
    spin = (0.3, -0.2, 0.1)
    ds = ph.integrate(both, "mkrk:cv8", angular_velocity=[spin, spin], **words)
    for name, k, sign in (("left", 0, -2e4), ("right", 1, 1e4)):

        def alone(b, sign=sign):
            return {"dipole_command": sign * np.cross(b.in_body((1e-5, 3e-5, 0.5e-5)), b.angular_velocity)}

        one = ph.system(parts[0], rods, ph.controller(alone, every=0.1),
                        surroundings={"field": ph.surroundings.of(field)})  # fmt: skip
        expected = ph.integrate(one, "mkrk:cv8", angular_velocity=spin, **words)
        assert abs(ds.angular_velocity.values[:, k] - expected.angular_velocity.values).max() < 1e-13
        assert abs(ds[name].values - expected.dipole_command.values).max() < 1e-12 * abs(ds[name]).max()
    assert abs(ds.angular_velocity.values[-1, 0] - ds.angular_velocity.values[-1, 1]).max() > 1e-3
    assert np.array_equal(ph.rerun(ds, damp=damp, field=field).left.values, ds.left.values)
    with pytest.raises(InvalidInput, match="has no state 'command'"):
        rods.renamed(command="left")

    def wears(body, wear):
        return {"torque": -0.1 * body.angular_velocity, "wear": body.angular_velocity @ body.angular_velocity - wear}

    rubbed = ph.loads.of(wears).states(wear=0.0)
    two = ph.system(*parts[:2], rubbed.renamed(wear="first").on("a"),
                    rubbed.named("again").renamed(wear="second").on("b"))  # fmt: skip
    ds = ph.integrate(two, "mkrk:cv8", angular_velocity=[spin, (0.0, 0.0, 0.0)], **words)
    assert float(abs(ds["first"]).max()) > 1e-3 and float(abs(ds["second"]).max()) == 0.0


def test_a_load_that_is_switched_is_another_one_than_a_steady_one():
    """Also where its function decides by the switch."""

    def push(body, thrust_on):
        return {"force": (1.0, 0.0, 0.0) if thrust_on else (0.0, 0.0, 0.0)}

    steady = ph.loads.of(push, thrust_on=1.0)
    ends = [
        ph.integrate(ph.system(ph.body("a", 1.0), one), "mkrk:cv8", step=0.1, steps=10, position=(0, 0, 0)).position
        for one in (steady, steady.switched("thrust_on", 0.25, 0.75))
    ]
    np.testing.assert_allclose([float(one[-1, 0]) for one in ends], [0.5, 0.25], rtol=1e-14)


def test_a_sum_may_have_a_name(tmp_path):
    pair = ph.system(ph.body("a", 2.0), ph.body("b", 1.0), ph.loads.tether(5.0, 1.0).on("a", "b"), name="tethered pair")
    assert str(pair).startswith("tethered pair\n") and "name" not in str(pair).partition("\n")[2]
    assert "<b>tethered pair</b>" in pair._repr_html_()
    ds = ph.integrate(pair, "v2", step=0.01, steps=2, position=[(0, 0, 0), (1.2, 0, 0)])
    assert ds.attrs["title"] == "tethered pair, v2, step 0.01" and ds.attrs["system"] == "system"
    assert ph.rerun(ds).attrs["title"] == ds.attrs["title"]
    ph.runs.write_scenario(tmp_path / "pair.toml", pair, "v2", step=0.01, steps=2, start=ph.State.of(ds))
    again = ph.runs.read_scenario(tmp_path / "pair.toml").integrate()
    assert again.attrs["title"].startswith("tethered pair")
    with pytest.raises(InvalidInput, match="name is empty"):
        ph.system(ph.body("a", 1.0), name="")
    with pytest.raises(InvalidInput, match="a summand is called 'name', as an argument of system that is given"):
        ph.system(ph.body("name", 1.0), name="pair")


@each("name", ["box", "name", "surroundings", "switch"])
def test_summands_may_be_called_as_arguments_of_system(name, tmp_path):
    """Records and scenarios keep them, and their order."""

    def pull(body, strength):
        return {"force": -strength * body.position}

    bodies = ph.body(name, 2.0, (1, 2, 2.5)), ph.body("b", 1.0)
    plain = ph.system(*bodies, ph.loads.tether(5.0, 1.0).on(name, "b"))
    pulled = ph.system(*bodies, ph.loads.of(pull, strength=2.0).named("skin").on(name))
    for system, handed in ((plain, {}), (pulled, {"skin": pull})):
        ds = ph.integrate(system, step=0.01, steps=5, position=[(0, 0, 0), (1.2, 0, 0)])
        assert ph.rerun(ds, **handed).equals(ds) and ds["body"].values.tolist() == [name, "b"]
    assert ph.system(**plain.arguments).names == (name, "b")
    other = ph.system(ph.body(name, 3.0, (1, 2, 2.5)), bodies[1], ph.loads.tether(5.0, 1.0).on(name, "b"))
    found, expected = (
        ph.integrate(system, step=0.01, steps=5, position=[(0, 0, 0), (1.2, 0, 0)], parameters=given).position.values
        for system, given in ((plain, {f"{name}.mass": 3.0}), (other, None))
    )
    np.testing.assert_array_equal(found, expected)
    ph.runs.write_scenario(tmp_path / "pair.toml", plain, "v2", step=0.01, steps=2)
    assert ph.runs.read_scenario(tmp_path / "pair.toml").system.names == (name, "b")


def test_sums_without_works():
    """The same motion as with them, no variable, and the energy judges no run; nothing is left out of a potential."""

    def drag(body, rate):
        return {"force": -rate * body.velocity}

    def made(work):
        return ph.system(ph.body("a", 2.0, (1, 2, 2.5)), ph.loads.of(drag, rate=0.5), work=work)

    start = {"velocity": (1.0, 0.0, 0.5), "angular_velocity": (0.1, 0.2, 0.3)}
    whole, bare = (ph.integrate(made(work), "mkrk:cv8", step=0.01, steps=20, **start) for work in (True, False))
    assert "work" in whole and "work" not in bare and made(True).balanced and not made(False).balanced
    np.testing.assert_array_equal(whole.position, bare.position)
    assert "work=False" in bare.energy_error.attrs["note"] and ph.rerun(bare, drag=drag).equals(bare)
    parts = ph.body("a", 2.0), ph.body("b", 1.0), ph.loads.tether(5.0, 1.0).on("a", "b")
    tied = ph.system(*parts, work=False)
    assert tied.balanced and tied.arguments["work"] is False and "work" not in ph.system(*parts).arguments
    with pytest.raises(InvalidInput, match="work must be True or False"):
        ph.system(*parts, work="yes")
