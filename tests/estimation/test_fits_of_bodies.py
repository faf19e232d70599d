"""Fits and filters of sums: masses and inertias by the names of bodies, several bodies, distances between them."""

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InvalidInput
from polhode.estimation.batch import run_words
from polhode.estimation.bodies import values_of
from polhode.estimation.data import read, with_noise
from polhode.estimation.guesses import guess_of
from polhode.estimation.kalman import Filter, Row
from polhode.estimation.problem import Problem
from polhode.estimation.quantities import quantities
from polhode.estimation.solve import Arc, Joined, nodes_of
from stencils import by_fours

pytestmark = pytest.mark.usefixtures("columns_by_fours")
START = {
    "a": {"position": (1.5, 0.0, 0.1), "velocity": (0.0, 0.3, 0.0)},
    "b": {"velocity": (0.1, -0.2, 0.2), "attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.1, 0.3, 1.0)},
}
OF_B = (0.0, 0.2, 0.1)


def drag(body, rate):
    return {"force": -rate * body.velocity}


def spring(a, b, stiffness):
    apart = b.point(OF_B) - a.position
    return 0.5 * stiffness * (apart @ apart)


def pair(stiffness=5.0, mass=1.0, inertia=(1.0, 2.0, 2.5)):
    """A point and a body that a spring beside its centre of mass holds together."""
    return ph.system(ph.body("a", mass), ph.body("b", 2.0, inertia),
                     ph.loads.of(spring, stiffness=stiffness).on("a", "b"))  # fmt: skip


def run_of(system, start=None, **words):
    return ph.integrate(system, "mkrk:cv8", step=0.02, t_end=2.0, every=4, start=START if start is None else start,
                        **words)  # fmt: skip


def data_of(ds):
    """Data of all kinds of both bodies."""
    t, (a, b), (u, v) = ds.time.values, *(np.moveaxis(ds[one].values, 1, 0) for one in ("position", "velocity"))
    apart = a - b
    distance = np.linalg.norm(apart, axis=1)
    rate = np.einsum("ij,ij->i", apart, u - v) / distance
    return [
        ph.estimation.position(t, a, 1e-3, body="a"), ph.estimation.velocity(t, u, 1e-3, body="a"),
        ph.estimation.gyro(t, ds.angular_velocity.values[:, 1], 1e-3, body="b"),
        ph.estimation.attitude(t, ds.attitude.values[:, 1], 1e-3, body="b"),
        ph.estimation.range(t, distance, "b", 1e-3, body="a"),
        ph.estimation.range_rate(t, rate, "a", 1e-3, body="b"),
    ]  # fmt: skip


def problem_of(system, data, free, start, method="mkrk:cv8", step=0.02):
    measurements = with_noise(read(data), None)
    guess, t0 = guess_of(system, start, {}, free, measurements)
    words = run_words(system, method, step, None, t0, measurements, None, {})
    return Problem(system, measurements, quantities(system, free, guess, measurements), guess, words)


def check_jacobian(problem):
    x = problem.start + 0.01 * np.sin(np.arange(len(problem.start)))
    J = problem.evaluate(x).J
    for direction in by_fours(len(x)):
        h = 1e-4 * direction
        found = (problem.evaluate(x + h).f - problem.evaluate(x - h).f) / 2e-4
        np.testing.assert_allclose(J @ direction, found, atol=3e-7 * np.abs(J).max(), rtol=2e-6)


FREE = ["a.position", "a.velocity", "b.momentum", "b.attitude", "b.angular_velocity", "a.mass", "b.mass", "b.inertia",
        "spring.stiffness", "b.gyro.bias"]  # fmt: skip


def test_jacobian_of_two_bodies_at_held_rates():
    """Masses and inertias change momenta of rates that are held, and what velocities and gyros measure."""
    start = {**START, "b": {**START["b"], "momentum": (0.2, -0.4, 0.4)}}
    del start["b"]["velocity"]
    check_jacobian(problem_of(pair(), data_of(run_of(pair())), FREE, start))


def turned(**rotors):
    """A body beside a point, whose axes are not its principal ones."""
    inertia = [[3.0, 0.3, -0.2], [0.3, 2.0, 0.4], [-0.2, 0.4, 2.5]]
    return ph.system(ph.body("a", 1.0), ph.body("b", 2.0, inertia, **rotors),
                     ph.loads.of(spring, stiffness=5.0).on("a", "b"))  # fmt: skip


def test_jacobian_with_wheels_in_a_body_that_is_not_along_its_principal_axes():
    """Momenta of wheels, which keep their speeds, follow the angular velocity of their body."""
    system = turned(wheels=ph.reaction_wheels(np.eye(3), (0.2, 0.3, 0.4), speed=(3.0, 2.0, 1.0), command=(0.1, 0, 0)))
    data = [one for one in data_of(run_of(system)) if one.body == "b"]
    check_jacobian(problem_of(system, data, ["b.angular_velocity", "b.attitude"], START))


def test_jacobian_of_arcs_whose_states_are_turned():
    """By changes of the state where the second arc begins: of both the data in it and the gap before it."""
    problem = problem_of(turned(), data_of(run_of(turned())), ["stiffness", "b.angular_velocity"], START)
    begin, middle, end = nodes_of(problem, 2)
    pieces = [Arc(problem, begin, middle, False), Arc(problem, middle, end, True)]
    point, blocks = problem.point(problem.start), problem.blocks
    states = [point.start, values_of(pieces[0].run(point, point.start), blocks, -1)]
    joined, h = Joined(problem, pieces, problem.start, states, 1.0), 1e-4
    at = joined.n + 3 * [one.name for one in blocks].index("rotation")
    z = np.zeros(joined.total)
    z[at : at + 3] = (0.3, -0.2, 0.25)
    J = joined.evaluate(z)[1]
    for step in h * by_fours(joined.total):
        found = (joined.evaluate(z + step)[0] - joined.evaluate(z - step)[0]) / (2 * h)
        np.testing.assert_allclose(J @ step / h, found, atol=3e-7 * np.abs(J).max(), rtol=2e-6)


def test_an_update_of_the_filter_is_that_of_differences():
    """Slopes by the errors of state, inertia and mass, and the covariance in the axes of the updated attitude."""
    system, truth = turned(), run_of(turned())
    off = ph.rotation.exp_quaternion((0.4, -0.3, 0.2))
    data = [ph.estimation.attitude([0.0], ph.rotation.multiply(START["b"]["attitude"], off)[None], 0.1, body="b"),
            *(one.part(np.array([0])).with_noise(0.1) for one in data_of(truth) if one.kind != "attitude")]  # fmt: skip
    guess, t0 = guess_of(system, START, {}, None, data)
    free = quantities(system, ["b.inertia", "a.mass"], guess, data)
    own = Filter(system, data, free, run_words(system, "mkrk:cv8", 0.02, None, t0, data, None, {}))
    names = {"position": 0.3, "velocity": 0.2, "attitude": (0.5, 0.2, 0.1), "angular_velocity": 0.1}
    prior = {f"b.{name}": s for name, s in names.items()} | {"a.position": 0.1, "a.velocity": 0.2}
    state, P = own.begin(guess, prior | {"b.inertia": 0.3, "a.mass": 0.1})

    def residuals(e):
        moved, at = own.moved(state, e), np.array([0])
        rows = own.rows_at(moved)
        return np.concatenate([own.seen(one.part(at), rows, moved)[0].ravel() for one in data])

    h, zero = 1e-4, np.zeros(own.n)
    slopes = []
    for e in h * np.eye(own.n):
        slopes.append((residuals(-e) - residuals(e)) / (2 * h))
    H, r, row = np.stack(slopes, axis=1), residuals(zero), Row(0.0, state, P, np.eye(own.n), state, P)
    gain = P @ H.T @ np.linalg.inv(H @ P @ H.T + np.eye(len(r)))
    error, left = gain @ r, P - gain @ H @ P
    here = own.moved(state, error)
    ahead, behind = (
        [own.difference(own.moved(state, error + s * e), here) for e in h * np.eye(own.n)] for s in (1, -1)
    )
    turn = (np.array(ahead) - behind).T / (2 * h)
    own.update(row, [(one, np.array([0])) for one in data], None)
    assert np.linalg.norm(error[:3]) > 0.0 and np.abs(own.difference(row.state, here)).max() < 1e-6
    np.testing.assert_allclose(row.P, turn @ left @ turn.T, rtol=0, atol=1e-6 * np.abs(P).max())


def test_two_bodies_are_found():
    data = data_of(run_of(pair()))
    guess = {**START, "a": {"position": (1.45, 0.0, 0.1), "velocity": (0.0, 0.32, 0.0)}}
    free = ["stiffness", "a.mass", "b.inertia", "a.position", "a.velocity"]
    found = ph.fit(pair(4.0, 1.2, (1.1, 2.0, 2.4)), data, free, "mkrk:cv8", step=0.02, start=guess)
    assert found.convergence.converged
    assert found.values["spring.stiffness"] == pytest.approx(5.0, abs=1e-7)
    assert found.values["a.mass"] == pytest.approx(1.0, abs=1e-7)
    np.testing.assert_allclose(found.values["b.inertia"], (1.0, 2.0, 2.5), rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.values["a.velocity"], START["a"]["velocity"], rtol=0, atol=1e-8)
    assert {"a.position_x", "b.inertia.2"} <= set(found.covariance["parameter"].values)
    ahead = found.predict([2.0, 2.5])
    assert ahead["state_covariance"].shape == (2, 18, 18)
    np.testing.assert_allclose(ahead.position[0], run_of(pair()).position[-1], rtol=0, atol=1e-8)


@pytest.mark.full
def test_arcs_of_two_bodies():
    start = {**START, "a": {**START["a"], "velocity": (0.0, 0.28, 0.0)}}
    found = ph.fit(pair(4.9), data_of(run_of(pair())), ["stiffness", "a.velocity"], "mkrk:cv8", step=0.02, arcs=3,
                   start=start)  # fmt: skip
    assert found.values["spring.stiffness"] == pytest.approx(5.0, abs=1e-7)


def test_a_recorded_trajectory_is_data_of_its_bodies():
    truth = run_of(pair())
    names = [(one.name, one.body) for one in read(truth)]
    assert ("a.position", "a") in names and ("b.gyro", "b") in names and ("b.attitude", "b") in names
    assert not any(name in ("a.gyro", "a.attitude") for name, _ in names)
    told = {"a.position": (truth.time, truth.position[:, 0]), "b.star_tracker": (truth.time, truth.attitude[:, 1])}
    assert [(one.name, one.kind, one.body) for one in read(told)] == [
        ("a.position", "position", "a"), ("b.star_tracker", "attitude", "b")]  # fmt: skip
    found = ph.fit(pair(4.5), truth, ["stiffness"], "mkrk:cv8", noise=dict.fromkeys([one for one, _ in names], 1e-3),
                   step=0.02, start=START)  # fmt: skip
    assert found.values["spring.stiffness"] == pytest.approx(5.0, abs=1e-8)


@pytest.mark.parametrize("name", ["mass", "a.mass"])
def test_the_mass_of_a_sum_of_one_body_at_a_held_velocity(name):
    def thrown(mass):
        return ph.system(ph.body("a", mass), ph.loads.of(drag, rate=0.5))

    ds = ph.integrate(thrown(2.0), "mkrk:cv8", step=0.01, t_end=2.0, every=10, velocity=(1.0, 0.0, 3.0))
    found = ph.fit(thrown(3.0), {"position": (ds.time, ds.position, 1e-6)}, [name], "mkrk:cv8", step=0.01,
                   velocity=(1.0, 0.0, 3.0))  # fmt: skip
    assert found.values["a.mass"] == pytest.approx(2.0, abs=1e-7)


def test_the_inertia_of_a_sum_of_one_body_is_that_of_a_builder():
    """By name, with numbers of its own, and one moment alone: the same values and errors."""
    truth = ph.integrate(ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0), "mkrk:cv8", step=0.01, t_end=2, every=10,
                         attitude=(0.96, 0.28, 0, 0), angular_velocity=(0.1, 0.2, 8))  # fmt: skip
    data = {"gyro": (truth.time, truth.angular_velocity, 1e-3), "attitude": (truth.time, truth.attitude, 1e-3)}
    start = {"attitude": (0.96, 0.28, 0, 0), "angular_velocity": (0.1, 0.25, 8)}
    built = ph.heavy_top((5.2, 5.1, 1.1), (0, 0, 1), 20.0)
    summed = ph.system(ph.body("top", inertia=(5.2, 5.1, 1.1), pinned=True), ph.loads.weight(20.0, at=(0, 0, 1)))
    one, other = (ph.fit(system, data, ["inertia", "angular_velocity"], "mkrk:cv8", step=0.01, start=start)
                  for system in (built, summed))  # fmt: skip
    np.testing.assert_allclose(other.values["top.inertia"], one.values["inertia"], rtol=1e-9)
    np.testing.assert_allclose(other.std["top.inertia"], one.std["inertia"], rtol=1e-6)
    assert other.values["angular_velocity"] == pytest.approx(truth.angular_velocity[0].values, abs=1e-7)
    check_jacobian(problem_of(built, data, ["inertia.0", "angular_velocity"], start, "mkrk:cv8", 0.01))


def test_bodies_without_names_and_masses_that_follow_from_parameters():
    """The mass of a planet is its gravity parameter over G: at a held velocity its momentum changes with it."""
    planets = ph.gravitating_bodies(mu=[1.0, 0.01, 0.02])
    start = {"position": [(0, 0, 0), (1, 0, 0), (0, 1.5, 0)], "velocity": [(0, 0, 0), (0, 1, 0), (-0.8, 0, 0.1)]}
    ds = ph.integrate(planets, "mkrk:cv8", step=0.02, steps=100, every=10, start=start)
    data = {f"{i}.position": (ds.time, ds.position[:, i], 1e-4) for i in range(3)}
    data |= {"2.velocity": (ds.time, ds.velocity[:, 2], 1e-4)}
    check_jacobian(problem_of(planets, data, ["mu.1", "mu.2", "1.velocity", "2.position"], start))
    guess = ph.gravitating_bodies(mu=[1.0, 0.02, 0.01])
    found = ph.fit(guess, data, ["mu.1", "mu.2"], "mkrk:cv8", step=0.02, start=start)
    assert (found.values["mu.1"], found.values["mu.2"]) == pytest.approx((0.01, 0.02), abs=1e-8)


def test_a_filter_of_two_bodies_apart_is_a_filter_of_each():
    """Bodies that do not act on each other have the estimates of two filters, to rounding; here, of the second one."""
    alone = ph.system(ph.body("b", 2.0, (1, 2, 2.5)), ph.loads.of(drag, rate=0.3))
    both = ph.system(ph.body("a", 2.0), ph.body("b", 2.0, (1, 2, 2.5)), ph.loads.of(drag, rate=0.3))
    ds, rng = run_of(both), np.random.default_rng(3)
    t, n = ds.time.values, ds.sizes["time"]
    measured = {
        "a": [ph.estimation.position(t, ds.position.values[:, 0] + 1e-2 * rng.standard_normal((n, 3)), 1e-2, body="a")],
        "b": [ph.estimation.velocity(t, ds.velocity.values[:, 1] + 1e-2 * rng.standard_normal((n, 3)), 1e-2, body="b"),
              ph.estimation.attitude(t, ds.attitude.values[:, 1], 1e-2, body="b")],
    }  # fmt: skip
    prior = {"a": {"position": 0.1, "velocity": 0.1},
             "b": {"position": 0.1, "velocity": 0.1, "attitude": 0.1, "angular_velocity": 0.1}}  # fmt: skip
    noise = {"velocity": 1e-2}
    words = {"step": 0.04, "smooth": True}
    kalman = ph.estimation.kalman
    whole = kalman(both, [*measured["a"], *measured["b"]], "mkrk:cv8", start=START,
                   prior={f"{body}.{name}": s for body, of in prior.items() for name, s in of.items()},
                   process_noise={f"{body}.velocity": 1e-2 for body in "ab"}, **words)  # fmt: skip
    own = kalman(alone, measured["b"], "mkrk:cv8", prior=prior["b"], start=START["b"], process_noise=noise, **words)
    for name in ("position", "velocity", "attitude", "angular_velocity"):
        np.testing.assert_allclose(whole[name].values[:, 1], own[name].values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(whole["std"].values[:, 6:18], own["std"].values, rtol=1e-9)
    assert list(whole["body"].values) == ["a", "b"]


def test_a_filter_of_a_distance_and_a_mass():
    """A mass, and where the other body is, from the distance between two bodies alone."""
    truth = run_of(pair())
    link = data_of(truth)[4]
    ds = ph.estimation.kalman(
        pair(mass=1.1), [link, data_of(truth)[0]], "mkrk:cv8", step=0.02, free=["a.mass"], start=START,
        prior={"a.position": 1e-2, "a.velocity": 1e-2, "b.position": 1e-2, "b.velocity": 1e-2, "b.attitude": 1e-2,
               "b.angular_velocity": 1e-2, "a.mass": 0.2})  # fmt: skip
    assert float(ds["a.mass"][-1]) == pytest.approx(1.0, abs=1e-2)
    assert np.abs(ds.position.values[-1] - truth.position.values[-1]).max() < 5e-3


@pytest.mark.parametrize(
    ("data", "free", "said"),
    [
        ({"position": ([0.0, 1.0], np.zeros((2, 3)), 1.0)}, ["stiffness"],
         "position is of one of 2 bodies; say of which: body='a', or call it a.position"),
        ({"c.position": ([0.0, 1.0], np.zeros((2, 3)), 1.0)}, ["stiffness"], "unknown body that c.position is of 'c'"),
        ({"a.position": ([0.0, 1.0], np.zeros((2, 3)), 1.0)}, ["position"],
         "position is that of one of 2 bodies; say of which: a.position or b.position"),
        ({"a.position": ([0.0, 1.0], np.zeros((2, 3)), 1.0)}, ["a.attitude"],
         "free has a.attitude, but body 'a' of 'system' does not turn"),
        ({"a.gyro": ([0.0, 1.0], np.zeros((2, 3)), 1.0)}, ["stiffness"],
         "the data have a.gyro, but the body of this system does not turn"),
        (ph.estimation.range([0.0, 1.0], [1.0, 1.0], "a", 1.0, body="a"), ["stiffness"],
         "a.range is the distance of a body from itself"),
        ({"a.position": ([0.0, 1.0], np.zeros((2, 3)), 1.0)}, ["a.velocity", "a.momentum"],
         "free has both a.velocity and a.momentum; keep one of them"),
    ],
)  # fmt: skip
def test_what_is_of_no_body_is_refused(data, free, said):
    with pytest.raises(InvalidInput) as refused:
        ph.fit(pair(), data, free, "mkrk:cv8", step=0.02, start=START)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"c": {"position": (1.0, 0.0, 0.0)}}, "unknown body of the system, given in start 'c'; known: a, b"),
        ({"a": {"posiiton": (1.0, 0.0, 0.0)}}, "unknown word in start.a 'posiiton'; did you mean 'position'"),
        ({"a": {"wheel_momentum": (0.1, 0.0, 0.0)}}, "start has states of its own"),
        ({"position": np.zeros((2, 3)), "a": {"position": (1.0, 0.0, 0.0)}}, "start has position of all bodies and of"),
    ],
)
def test_a_start_of_no_body_is_refused(start, said):
    with pytest.raises(InvalidInput) as refused:
        ph.fit(pair(), {"a.position": ([0.0, 1.0], np.zeros((2, 3)), 1.0)}, ["stiffness"], step=0.02, start=start)
    assert said in str(refused.value)


def test_the_one_body_of_a_builder_is_called_body():
    rates = ([0.0, 1.0], np.ones((2, 3)), 1.0)
    free = ph.free_body((1, 2, 2.5))
    assert "angular_velocity" in ph.fit(free, {"body.gyro": rates}, ["angular_velocity"], "trapm", step=0.1).values
    with pytest.raises(InvalidInput, match=r"unknown body that a\.gyro is of 'a'; known: body"):
        ph.fit(free, {"a.gyro": rates}, ["angular_velocity"], step=0.1)


def test_the_velocity_of_a_station_that_is_a_body_is_known():
    with pytest.raises(InvalidInput, match=r"the station of a\.range_rate is body 'b', whose velocity is known"):
        ph.estimation.range_rate([0.0], [1.0], "b", body="a", station_velocity=(0, 0, 0))


def test_predictions_of_a_body_with_wheels():
    """Momenta of wheels are rows of the transition, but no errors of the fit."""
    wheels = ph.reaction_wheels(np.eye(3), 1e-2)
    body = ph.system(ph.body("a", 100.0, (20, 30, 25), wheels=wheels))
    truth = ph.integrate(body, step=0.5, t_end=10, start={"angular_velocity": (0.01, 0.02, 0.3)})
    gyro = ph.estimation.gyro(truth.time, truth.angular_velocity, sigma=1e-4)
    found = ph.fit(body, gyro, ["angular_velocity"], step=0.5, start={"angular_velocity": (0.01, 0.02, 0.29)})
    ds = found.predict([0.0, 5.0])
    C, inertia = ds.state_covariance[0], np.diag(body.moments[0])
    names = [f"angular_momentum_{axis}" for axis in "xyz"]
    np.testing.assert_allclose(C.sel(row=names, row_=names), inertia @ found.covariance.values @ inertia, rtol=1e-9)


def test_guesses_of_several_bodies_keep_their_units():
    """Quantities, and words with a unit, with a row for each body are those of plain numbers in SI."""
    u = pytest.importorskip("astropy.units")
    system = ph.system(*(ph.body(name, 2.0, (1, 2, 2.5)) for name in "ab"))
    places = np.array([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])
    plain = {"position": places, "euler_angles": 2.0 * places, "angular_velocity": 3.0 * places}
    (expected, _) = guess_of(system, plain, {}, None, [])
    for start in (
        {"position": 1e-3 * places * u.km, "euler_angles": np.degrees(2.0 * places) * u.deg,
         "angular_velocity": np.degrees(3.0 * places) * u.deg / u.s},
        {"position": [1e-3 * row * u.km for row in places], "euler_angles_deg": np.degrees(2.0 * places),
         "angular_velocity_deg_s": np.degrees(3.0 * places)},
        {"position_km": 1e-3 * places, "euler_angles": 2.0 * places, "angular_velocity": 3.0 * places},
    ):  # fmt: skip
        found, _ = guess_of(system, start, {}, None, [])
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-13, err_msg=name)


def test_a_number_is_the_noise_of_all_instruments_of_a_kind():
    one, other = (ph.estimation.position([0.0, 1.0], np.ones((2, 3)), body=body) for body in "ab")
    for found in with_noise([one, other], 0.5):
        np.testing.assert_array_equal(found.whitening, [2.0 * np.eye(3)])
    with pytest.raises(InvalidInput, match=r"the data have a\.position, gyro"):
        with_noise([one, ph.estimation.gyro([0.0, 1.0], np.ones((2, 3)))], 0.5)
