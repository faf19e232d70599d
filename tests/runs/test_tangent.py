"""``integrate(tangent=)``: the matrix against differences of runs, its names and coordinates, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import polhode as ph
import solar_system
from cover import some
from each import each
from polhode.errors import InvalidInput
from polhode.runs.parameters import system_with
from polhode.runs.tangent import columns, transition

pytestmark = pytest.mark.usefixtures("columns_by_twos")
Q = np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95)
START = {"attitude": Q, "angular_momentum": [0.3, 0.4, 2.0]}
TURN = Rotation.from_rotvec([0.3, 0.2, -0.5]).as_matrix()
TENSOR = TURN @ np.diag([1.0, 1.7, 2.3]) @ TURN.T
MU, RADIUS = 398600.4418, 6378.137
ORBIT = {"position": [7000.0, 0.0, 0.0], "velocity": [0.3, 5.5, 5.6]}
CRAFT = {**ORBIT, "attitude": Q, "angular_velocity": [1e-3, 2e-3, 1e-3]}
STENCIL = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
OFFSET = 2e-3


def top(inertia=(1.0, 1.7, 2.3), center_of_mass=(0.1, 0.2, 1.0), weight=2.0):
    return ph.heavy_top(list(inertia), list(center_of_mass), weight)


def craft(inertia=(10.0, 14.0, 18.0), mu=MU, **more):
    return ph.spacecraft(inertia, mu, 100.0, forces=[ph.forces.zonal(J2=1.08e-3, radius=RADIUS)], **more)


def coordinates(ds, first):
    """Minimal coordinates of the rows of a run about those of another."""
    parts = []
    if "position" in ds:
        parts += [ds.position.values - first.position.values, ds.momentum.values - first.momentum.values]
    if "attitude" in ds:
        here, there = (Rotation.from_quat(np.roll(one.attitude.values, -1, axis=-1)) for one in (ds, first))
        parts += [(there.inv() * here).as_rotvec(), ds.angular_momentum.values - first.angular_momentum.values]
    return np.concatenate(parts, axis=1)


def slope(run, size=1.0):
    """The derivative of the coordinates of all rows by the argument of ``run`` at 0, differences of order 6."""
    first, total = run(0.0), 0.0
    for k, weight in STENCIL:
        for sign in (1.0, -1.0):
            total = total + sign * weight * coordinates(run(sign * k * OFFSET * size), first)
    return total / (OFFSET * size)


def moved(start, name, k, s):
    """A start whose coordinate is changed by s; the angular momentum must be given."""
    found = {key: np.array(value, dtype=float) for key, value in start.items()}
    if name == "rotation":
        turn = Rotation.from_rotvec(s * np.eye(3)[k])
        found["attitude"] = np.roll((Rotation.from_quat(np.roll(found["attitude"], -1)) * turn).as_quat(), 1)
    else:
        found[name][k] += s
    return found


def check_state(system, method, start, sizes, tolerance=1e-9, tangent=True, **words):
    """The state's columns of a run against differences."""
    ds = ph.integrate(system, method, tangent=tangent, **start, **words)
    names = list(map(str, ds.row.values))
    assert list(map(str, ds.column.values[:6])) == names[:6]
    for k, full in enumerate(names):
        name, axis = full[:-2], "xyz".index(full[-1])
        size = sizes.get(name, 1.0)
        expected = slope(lambda s, n=name, a=axis: ph.integrate(system, method, **moved(start, n, a, s), **words), size)
        error = np.abs(ds.state_transition.values[:, :, k] - expected)
        scale = np.abs(ds.state_transition.values[..., : len(names)]).max(axis=(0, 2))
        assert (error <= tolerance * scale).all(), (full, (error / scale).max())
    return ds


@each("method", some(["v2", "rkn6_14a", "kl8", "dmv6", "mr6", "taylor14", "mkrk:rk4"], 2))
def test_columns_of_the_state_are_derivatives_of_a_top(method):
    ds = check_state(top(), method, START, {}, step=0.02, steps=30, every=10)
    assert ds.state_transition.shape == (4, 6, 6)
    assert_allclose(ds.state_transition.values[0], np.eye(6), rtol=0, atol=1e-15)


def test_columns_are_derivatives_for_a_tensor_in_any_frame():
    check_state(ph.free_body(TENSOR), "trapm", START, {}, tangent="inertia", step=0.1, steps=12, every=4)


@pytest.mark.full
@each("method", ["v2", "aba10_6_4/kepler"])
def test_columns_are_derivatives_of_a_spacecraft(method):
    system, sizes = craft(), {"position": 1.0, "momentum": 0.5, "angular_momentum": 0.3, "rotation": 1.0}
    start = {
        "position": ORBIT["position"], "momentum": 100.0 * np.array(ORBIT["velocity"]), "attitude": Q,
        "angular_momentum": np.array([10.0, 14.0, 18.0]) * CRAFT["angular_velocity"],
    }  # fmt: skip
    check_state(system, method, start, sizes, 1e-8, step=30.0, steps=40, every=20)


@pytest.mark.full
def test_parameters_have_columns_at_a_fixed_momentum():
    ds = ph.integrate(
        top(), "v2", step=0.02, steps=30, every=10, tangent=["inertia", "weight", "center_of_mass.2"], **START
    )
    assert list(ds.column.values[6:]) == ["inertia.0", "inertia.1", "inertia.2", "weight", "center_of_mass.2"]

    def by(name, k=None):
        values = {"inertia": np.array([1.0, 1.7, 2.3]), "center_of_mass": np.array([0.1, 0.2, 1.0]), "weight": 2.0}

        def run(s):
            changed = {n: np.array(v, dtype=float) for n, v in values.items()}
            changed[name][k if k is not None else ()] += s
            return ph.integrate(top(**changed), "v2", step=0.02, steps=30, every=10, **START)

        return slope(run)

    expected = [by("inertia", 0), by("inertia", 1), by("inertia", 2), by("weight"), by("center_of_mass", 2)]
    assert_allclose(ds.state_transition.values[:, :, 6:], np.stack(expected, axis=-1), rtol=0, atol=1e-10)


def test_a_tensor_has_columns_for_each_of_its_numbers_once():
    words = {"step": 0.1, "t_end": 4.0, "t_eval": [0.0, 1.23, 4.0]}
    ds = ph.integrate(ph.free_body(TENSOR), "trapm", tangent="inertia", **words, **START)
    assert list(ds.column.values[6:]) == [f"inertia.{i}.{j}" for i in range(3) for j in range(i, 3)]
    for i, j in ((0, 0), (0, 1), (1, 2)):
        change = np.zeros((3, 3))
        change[i, j] = change[j, i] = 1.0
        expected = slope(lambda s, c=change: ph.integrate(ph.free_body(TENSOR + s * c), "trapm", **words, **START))
        assert_allclose(ds.state_transition.sel(column=f"inertia.{i}.{j}"), expected, rtol=0, atol=2e-10)


def test_numbers_within_arguments_and_of_users_have_columns():
    def torque(t, q, omega, parameters):
        return tuple(-parameters[0] * w - parameters[1] * w**3 for w in omega)

    body = ph.rigid_body([1.0, 1.7, 2.3], torque=torque, parameters=[0.2, 0.1])
    ds = ph.integrate(body, "v2", step=0.05, steps=20, tangent=["parameters.1"], **START)
    other = ph.integrate(body, "v2", step=0.05, steps=20, tangent=["parameters"], **START)
    assert_array_equal(ds.state_transition.values[..., 6], other.state_transition.values[..., 7])
    expected = slope(lambda s: ph.integrate(body, "v2", step=0.05, steps=20, parameters=[0.2, 0.1 + s], **START))
    assert_allclose(ds.state_transition.values[..., 6], expected, rtol=0, atol=1e-10)
    orbit = ph.integrate(craft(), "v2", step=30.0, steps=4, tangent=["forces.0.J2", "mu"], **CRAFT)
    assert list(orbit.column.values[12:]) == ["forces.0.J2", "mu"]
    words = ("position", "momentum", "rotation", "angular_momentum")
    assert list(orbit.row.values) == [f"{n}_{a}" for n in words for a in "xyz"]


def test_rows_between_steps_and_dense_samples_change_no_step():
    plain = ph.integrate(top(), "rkn6_14a", step=0.1, steps=10, tangent=True, **START)
    times = np.sort(np.concatenate([plain.time.values, [0.234, 0.87]]))
    dense = ph.integrate(top(), "rkn6_14a", step=0.1, t_end=1.0, t_eval=times, tangent=True, **START)
    on_grid = np.isin(times, plain.time.values)
    assert_allclose(dense.state_transition.values[on_grid], plain.state_transition.values, rtol=1e-12, atol=1e-13)
    assert_allclose(np.linalg.det(dense.state_transition.values), 1.0, rtol=1e-13)


def test_backwards_undoes_forwards():
    there = ph.integrate(top(), "v2", step=0.05, steps=40, tangent=True, **START)
    last = there.isel(time=-1)
    back = ph.integrate(top(), "v2", step=0.05, t_end=-2.0, tangent=True, attitude=last.attitude.values,
                        angular_momentum=last.angular_momentum.values)  # fmt: skip
    assert_allclose(back.state_transition.values[-1] @ there.state_transition.values[-1], np.eye(6), rtol=0, atol=1e-12)


@pytest.mark.full
def test_a_tolerance_has_the_derivatives_of_its_steps():
    words = {"steps": ph.Tolerance(1e-11), "t_end": 2.0, "t_eval": [0.0, 0.7, 2.0]}
    for method in ("mkrk:dp8", "taylor"):
        ds = ph.integrate(top(), method, tangent=["weight"], **words, **START)
        reference = ph.integrate(
            top(), "kl8", step=0.01, t_end=2.0, t_eval=[0.0, 0.7, 2.0], tangent=["weight"], **START
        )
        assert_allclose(ds.state_transition.values, reference.state_transition.values, rtol=0, atol=3e-9)


def test_processed_and_compensated_runs_have_them_too():
    reference = ph.integrate(top(), "kl8", step=0.02, steps=50, every=50, tangent=True, **START).state_transition
    names = [row for row in ("p8_10", "rkn6_14a") if row]
    for name in names:
        for compensated in (False, True):
            try:
                ds = ph.integrate(top(), name, step=0.02, steps=50, every=50, tangent=True,
                                  settings={"compensated": compensated}, **START)  # fmt: skip
            except InvalidInput as problem:
                assert "unknown method" in str(problem)
                continue
            assert_allclose(ds.state_transition.values, reference.values, rtol=0, atol=1e-8)


def test_many_columns_are_carried_at_once(monkeypatch):
    monkeypatch.setattr(transition, "MOST_AT_ONCE", 24)
    system = ph.gravitating_bodies(mass=[1.0, 2e-3], G=1.0)
    angles, radii = np.array([1.0]), np.array([1.7])
    position = np.concatenate([[[0, 0, 0]], np.stack([radii * np.cos(angles), radii * np.sin(angles), 0 * radii], 1)])
    speed = radii**-0.5
    velocity = np.concatenate([[[0, 0, 0]], np.stack([-speed * np.sin(angles), speed * np.cos(angles), 0 * radii], 1)])
    ds = ph.integrate(system, "v2", step=0.05, steps=20, every=20, position=position, velocity=velocity, tangent=True)
    P = ds.state_transition.values[-1]
    assert P.shape == (12, 12) and ds.row.values[6] == "position_x.1"
    J = np.kron(np.eye(2), np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]]))
    assert_allclose(P.T @ J @ P, J, rtol=0, atol=1e-11)


def test_it_is_kept_in_files_and_repeated(tmp_path):
    ds = ph.integrate(top(), "v2", step=0.02, steps=20, tangent=True, **START)
    path = tmp_path / "run.nc"
    ph.save(ds, path)
    kept = ph.load(path)
    assert_array_equal(kept.state_transition.values, ds.state_transition.values)
    assert list(kept.column.values) == list(ds.column.values)
    assert_array_equal(ph.rerun(kept).state_transition.values, ds.state_transition.values)


def test_quaternions_take_the_place_of_rotations():
    ds = ph.integrate(top(), "v2", step=0.02, steps=20, tangent=True, **START)
    found = ds.polhode.transition("quaternion")
    assert found.shape == (21, 7, 7)
    q, p = ds.attitude.values, found.values
    assert_allclose(np.einsum("tq,tqc->tc", q, p[:, :4]), 0.0, rtol=0, atol=1e-14)  # along the sphere
    assert_allclose(p[0, :4, :4], np.eye(4) - np.outer(q[0], q[0]), rtol=0, atol=4e-15)
    assert_allclose(p[:, :, :4] @ q[0], 0.0, rtol=0, atol=1e-14)
    assert ds.polhode.transition().equals(ds.state_transition)


def test_elements_of_a_kepler_orbit_stay_but_for_the_anomaly():
    ds = ph.integrate(ph.orbit(MU, 100.0), "kepler", step=60.0, steps=30, tangent=True, **ORBIT)
    found = ds.polhode.transition("elements").values
    assert_allclose(found[0], np.eye(6), rtol=0, atol=1e-11)
    assert_allclose(found[-1][1:5], np.eye(6)[1:5], rtol=0, atol=4e-10)
    assert_allclose(found[-1][0] / 7e3, np.eye(6)[0] / 7e3, rtol=0, atol=1e-10)
    assert abs(found[-1][5, 5] - 1.0) > 0.01


CASES = {
    "name": ({"tangent": ["mass_of_it"]}, "unknown name in tangent"),
    "kind": ({"tangent": 3}, "tangent must be True, 'state', or names"),
    "no number": ({"tangent": ["inertia.0.1"]}, "no such argument"),
    "twice": ({"tangent": ["weight", "weight"]}, "twice"),
    "path": ({"tangent": ["inertia.7"]}, "no such argument"),
    "no value": ({"tangent": ["mass"]}, "was built without"),
    "store": ({"tangent": True, "store": "run.zarr"}, "store"),
}


@each("name", CASES)
def test_what_cannot_be_is_refused_in_a_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words, told = CASES[name]
    with pytest.raises(InvalidInput, match=told):
        ph.integrate(top(), "v2", step=0.02, steps=20, **words, **START)


def test_loads_that_are_no_program_are_refused():
    def torque(t, q, omega, parameters):
        total = 0.0
        while total < omega[0]:
            total += 0.1
        return total, 0.0, 0.0

    body = ph.rigid_body([1.0, 1.7, 2.3], torque=torque)
    with pytest.raises(InvalidInput, match="no derivatives, because they are no program"):
        ph.integrate(body, "v2", step=0.02, steps=20, tangent=True, **START)


def test_elements_need_an_orbit_with_a_node_and_a_periapsis():
    ds = ph.integrate(ph.orbit(1.0), "kepler", step=0.1, steps=3, tangent=True, position=[1, 0, 0], velocity=[0, 1, 0])
    with pytest.raises(InvalidInput, match="nearly circular in row 0"):
        ds.polhode.transition("elements")
    with pytest.raises(InvalidInput, match="ask for it"):
        ph.integrate(
            ph.orbit(1.0), "v2", step=0.1, steps=3, position=[1, 0, 0], velocity=[0, 1, 0]
        ).polhode.transition()
    with pytest.raises(InvalidInput, match="no orbit of one body"):
        ph.integrate(top(), "v2", step=0.02, steps=2, tangent=True, **START).polhode.transition("elements")


@pytest.mark.full
def test_planets_about_the_centre_of_those_before_them_have_derivatives():
    system = solar_system.outer_planets()
    words = {"step": 50.0, "steps": 20, "every": 20, "position": solar_system.PLACES}

    def run(s):
        velocity = np.array(solar_system.VELOCITIES)
        velocity[2, 1] += s
        ds = ph.integrate(system, "v2/kepler", velocity=velocity, **words)
        return np.concatenate([ds.position.values[-1], ds.momentum.values[-1]], axis=1).ravel()

    ds = ph.integrate(system, "v2/kepler", tangent=True, velocity=solar_system.VELOCITIES, **words)
    expected = sum(w * (run(k * 1e-6) - run(-k * 1e-6)) for k, w in STENCIL) / 1e-6
    found = ds.state_transition.sel(column="momentum_y.2").values[-1] * solar_system.MASSES[2]
    assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_ensembles_say_who_has_derivatives_of_members():
    with pytest.raises(InvalidInput, match="indicators of polhode"):
        ph.ensemble(top(), "v2", members=2, step=0.02, steps=2, tangent=True, **START)


def test_straight_constants_take_four_systems(monkeypatch):
    """A moment moves nothing but itself, and that of a tensor the axes too."""
    built = []

    def counted(system, changes):
        built.append(changes)
        return system_with(system, changes)

    monkeypatch.setattr(columns, "system_with", counted)
    ph.integrate(ph.free_body((1.0, 1.7, 2.3)), "trapm", step=0.1, steps=1, tangent=["inertia.0"], **START)
    assert len(built) == 4
    tensor = [[1.0, 0.1, 0.0], [0.1, 1.7, 0.2], [0.0, 0.2, 2.3]]
    ph.integrate(ph.free_body(tensor), "trapm", step=0.1, steps=1, tangent=["inertia.0.0"], **START)
    assert len(built) - 4 > 8
