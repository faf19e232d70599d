"""``integrate(tangent=)`` of runs whose loads change: breaks, burns, impulses, shadows, against differences of runs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import polhode as ph
from cover import some
from each import each
from polhode.errors import InvalidInput
from polhode.runs.tangent import passage

MU, RADIUS, MASS = 398600.4418, 6378.137, 100.0
POSITION = np.array([7000.0, 100.0, 50.0])
MOMENTUM = MASS * np.array([0.3, 5.5, 5.6])
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
ALONG = np.array([0.6, -0.4, 0.5, 0.06, 0.05, -0.04])
"""The change of position and momentum of differences; larger ones move crossings into other steps."""
FIXED = {"step": 30.0, "steps": 40, "every": 5}
SAMPLED = {"step": 30.0, "t_end": 1200.0, "t_eval": [0.0, 100.0, 403.0, 410.0, 777.0, 800.3, 905.0, 1200.0]}
ECLIPSE = {"step": 30.0, "t_end": 6000.0, "t_eval": [0.0, 700.0, 900.0, 4000.0, 6000.0]}
LIT = {"cylinder": {"direction": [-1.0, 0.2, 0.1]}, "cone": {"position": [-1.496e8, 1e7, 1e6], "sun_radius": 6.957e5}}
INERTIAL, RTN, VELOCITY = (0.01, 0.02, -0.005), (0.02, 0.01, -0.01), 0.02
BURN = (403.0, 901.3)


def orbit(mu=MU, mass=MASS, thrust=1e-4, delta_v=None, frame="inertial", time=777.0, shadow=None, radius=RADIUS,
          pressure=1e-6, burn=(), surface=None):  # fmt: skip
    forces = [ph.forces.zonal(J2=1.08e-3, radius=RADIUS)]
    if shadow:
        forces.append(ph.forces.radiation_pressure(pressure, shadow=shadow, radius=radius, **LIT[shadow]))
    if burn:
        forces.append(ph.forces.thrust(thrust, "velocity", start=burn[0], stop=burn[1]))
    if delta_v is not None:  # last: of it no kernel knows
        forces.append(ph.forces.impulse(time, delta_v, frame))
    return ph.orbit(mu, mass, forces=forces, surface=surface)


def differences(run, offset):
    """The derivative of what a function returns by its argument at 0."""
    return sum(weight * (run(k * offset) - run(-k * offset)) for k, weight in STENCIL) / offset


def check(method, words, system, parameters=(), tolerance=1e-9):
    """The matrix of a run against differences: its columns of the state along one direction, others each by itself.

    Parameters
    ----------
    system : dict
        Arguments of ``orbit``.
    parameters : sequence of (name, argument of orbit, its value, offset)
    """

    def rows(k, s):
        changed = {} if k is None else {k[0]: k[1] + s}
        change = np.zeros(6) if k else s * ALONG
        ds = ph.integrate(orbit(**system | changed), method, position=POSITION + change[:3],
                          momentum=MOMENTUM + change[3:], **words)  # fmt: skip
        return np.concatenate([ds.position.values, ds.momentum.values], axis=1)

    names = list(SHADED if "shadow" in system else BURNING if "burn" in system else PLAIN)
    ds = ph.integrate(orbit(**system), method, position=POSITION, momentum=MOMENTUM, tangent=names, **words)
    matrix = ds.state_transition.values
    assert list(ds.column.values[6:]) == names
    error = np.abs(matrix[:, :, :6] @ ALONG - differences(lambda s: rows(None, s), 1.0))
    error /= np.abs(matrix[:, :, :6] * ALONG).max(axis=(0, 2))
    assert error.max() <= tolerance, ("state", error.max())
    for name, *k, offset in parameters:
        expected = differences(lambda s, k=k: rows(k, s), offset)
        error = np.abs(matrix[:, :, 6 + names.index(name)] - expected) / np.abs(expected).max(axis=0)
        assert error.max() <= tolerance, (name, error.max())
    return ds


BY_MU, BY_MASS = ("mu", "mu", MU, 40.0), ("mass", "mass", MASS, 0.1)
BY_THRUST = ("forces.1.acceleration", "thrust", 1e-4, 1e-5)
BURNING, SHADED = ("mu", "forces.1.acceleration", "mass"), ("mu", "forces.1.radius", "mass")
PLAIN = ("mu", "forces.0.J2", "mass")
"""Columns of runs, by the force beside the impulses; runs with the same ones share kernels."""
IMPULSE = {"delta_v": RTN, "frame": "rtn"}
CHANGED = {"burn": BURN} | IMPULSE
SHADOW = {"shadow": "cylinder", "pressure": 1e-5} | IMPULSE
METHOD = "mkrk:cv8"
"""Of which derivatives are compiled in a third of the time of those of a splitting."""


KEPT = {"settings": {"compensated": True}}


@each(("method", "words"), some([
    (METHOD, SAMPLED), (METHOD, FIXED), ("sp10", SAMPLED), ("sp10", FIXED), ("sp10", SAMPLED | KEPT),
    ("rkn6_14a", SAMPLED), ("rkn6_14a", FIXED), ("imidm", FIXED), ("rkn6_14a", FIXED | KEPT),
], 2) + [pytest.param("aba10_6_4/kepler", words, marks=pytest.mark.full) for words in (FIXED, SAMPLED)])  # fmt: skip
def test_a_burn_and_an_impulse_are_differentiated(method, words):
    check(method, words, CHANGED, [BY_MU, BY_THRUST, BY_MASS], 3e-9)


@each(("frame", "delta_v"), [("inertial", INERTIAL), ("velocity", VELOCITY)])
def test_impulses_of_all_frames_are_differentiated(frame, delta_v):
    check(METHOD, FIXED, {"burn": BURN, "delta_v": delta_v, "frame": frame})


@each("time", [0.0, 600.0, 1200.0])
def test_impulses_at_the_start_at_a_step_and_at_the_end_are_in_the_row_there(time):
    check(METHOD, FIXED, CHANGED | {"time": time}, [BY_MASS])


@each("frame", ["rtn", "velocity"])
def test_runs_backwards_undo_impulses(frame):
    words = {"step": 30.0, "t_end": -1200.0, "every": 10}
    impulse = {"delta_v": RTN if frame == "rtn" else VELOCITY, "frame": frame, "time": -777.0}
    check(METHOD, words, {"burn": (-901.3, -403.0)} | impulse, [BY_MASS])


def test_two_impulses_at_once_are_undone_in_turn():
    """Derivatives of steps that lead elsewhere than the run are refused."""
    turns = (ph.forces.impulse(-777.0, (0.5, 0.0, 0.2), "inertial"), ph.forces.impulse(-777.0, 1.0, "velocity"))
    forces = [*orbit(burn=(-901.3, -403.0)).arguments["forces"], *turns]
    ph.integrate(ph.orbit(MU, MASS, forces=forces), METHOD, position=POSITION, momentum=MOMENTUM, tangent=BURNING,
                 step=30.0, t_end=-1200.0)  # fmt: skip


def test_components_of_an_impulse_have_columns():
    system = orbit(**CHANGED)
    start = {"position": POSITION, "momentum": MOMENTUM}
    ds = ph.integrate(system, METHOD, tangent=["forces.2.delta_v"], **FIXED, **start)
    assert list(ds.column.values[6:]) == [f"forces.2.delta_v.{k}" for k in range(3)]
    for k in range(3):

        def final(s, k=k):
            size = np.array(RTN)
            size[k] += s
            return ph.integrate(orbit(**CHANGED | {"delta_v": size}), METHOD, **FIXED, **start).position.values[-1]

        found = ds.state_transition.values[-1, :3, 6 + k]
        assert_allclose(found, differences(final, 1e-3), rtol=0, atol=1e-9 * np.abs(found).max())


@pytest.mark.parametrize("method", some([METHOD, "rkn6_14a", "aba10_6_4/kepler"], 1))
def test_the_edge_of_a_shadow_moves_with_the_state(method):
    radius = ("forces.1.radius", "radius", RADIUS, 4.0)  # round-off of its differences is 1e-9 here
    ds = check(method, ECLIPSE, SHADOW | {"pressure": 1e-4}, [radius], 3e-9)
    dark = ph.integrate(orbit(**SHADOW | {"pressure": 1e-12}), method, position=POSITION, momentum=MOMENTUM,
                        tangent=SHADED, **ECLIPSE)  # fmt: skip
    assert np.abs(ds.state_transition.values[-1, :, :6] - dark.state_transition.values[-1, :, :6]).max() > 1e-3


def test_an_edge_and_an_impulse_may_be_in_one_step():
    system = SHADOW | {"pressure": 1e-4, "time": 777.0}
    words = {**ECLIPSE, "t_eval": [0.0, 770.0, 779.0, 900.0], "t_end": 900.0}
    ds = check(METHOD, words, system, [BY_MASS])
    assert float(ds.event_time.values[0]) == 777.0


def test_rows_far_apart_are_reached_from_one_to_the_next(monkeypatch):
    start = {"position": POSITION, "momentum": MOMENTUM, "tangent": SHADED, **ECLIPSE}
    found = []
    for few in (64, 0):
        monkeypatch.setattr(passage, "FEW_BETWEEN", few)
        found.append(ph.integrate(orbit(**SHADOW), METHOD, **start).state_transition.values)
    assert_allclose(found[1], found[0], rtol=1e-10, atol=1e-10 * np.abs(found[0][..., :6]).max())


@pytest.mark.full
def test_penumbras_are_cut_and_differentiated():
    check(METHOD, ECLIPSE, {"shadow": "cone", "pressure": 1e-6}, tolerance=1e-9)


def test_shadows_backwards_in_time():
    words = {"step": 30.0, "t_end": -6000.0, "every": 50}
    check(METHOD, words, SHADOW | {"time": -777.0}, [BY_MASS])


def test_steps_of_a_tolerance_end_at_breaks_and_edges():
    words = {"steps": ph.Tolerance(1e-12), "t_end": 6000.0, "t_eval": [0.0, 403.0, 777.0, 4000.0, 6000.0]}
    check("mkrk:dp8", words, SHADOW)


def test_taylor_series_begin_again_at_breaks_and_impulses():
    words = {"breaks": [111.0], "steps": ph.Tolerance(1e-12), "t_end": 1500.0, "t_eval": [0.0, 500.0, 777.0, 1500.0]}
    check("taylor", words, IMPULSE)


@pytest.mark.full
def test_taylor_series_of_one_size_begin_again_too():
    check("taylor14", {**FIXED, "breaks": [111.0, 600.0]}, IMPULSE)


# ------------------------------------------------------------------ loads of users that jump
def torque(t, q, omega, parameters):
    size = parameters[0] * (1.0 + t) if t < 0.33 else -parameters[1]
    return tuple(size * w for w in omega)


START = {"attitude": np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95), "angular_momentum": np.array([0.3, 0.4, 2.0])}


@each(("method", "tangent"), some([
    (METHOD, ["parameters", "inertia.0"]), (METHOD, True), ("v2", ["parameters", "inertia.0"]), ("v2", True),
], 1))  # fmt: skip
def test_a_load_of_the_users_is_seen_from_one_side_of_a_break(method, tangent):
    words = {"breaks": [0.33, 0.6], "step": 0.05, "t_end": 1.0, "t_eval": [0.0, 0.32, 0.33, 0.34, 0.6, 1.0]}

    def body(inertia):
        return ph.rigid_body(inertia, torque=torque, parameters=[0.2, 0.3])

    inertia = np.array([1.0, 1.7, 2.3])
    ds = ph.integrate(body(inertia), method, tangent=tangent, **words, **START)

    def rows(column, s):
        start, moments, values = dict(START), inertia.copy(), [0.2, 0.3]
        name, _, axis = column.rpartition("_")
        if name == "rotation":
            turn = Rotation.from_rotvec(s * np.eye(3)["xyz".index(axis)])
            first = Rotation.from_quat(np.roll(START["attitude"], -1))
            start["attitude"] = np.roll((first * turn).as_quat(), 1)
        elif name == "angular_momentum":
            start["angular_momentum"] = START["angular_momentum"] + s * np.eye(3)["xyz".index(axis)]
        else:
            (moments if column.startswith("inertia") else values)[int(column[-1])] += s
        run = ph.integrate(body(moments), method, parameters=values, **words, **start)
        reference = ds.attitude.values
        turned = Rotation.from_quat(np.roll(reference, -1, axis=1)).inv() * Rotation.from_quat(
            np.roll(run.attitude.values, -1, axis=1)
        )
        return np.concatenate([turned.as_rotvec(), run.angular_momentum.values], axis=1)

    for c, column in enumerate(map(str, ds.column.values)):
        expected = differences(lambda s, column=column: rows(column, s), 4e-3)
        assert_allclose(ds.state_transition.values[:, :, c], expected, rtol=0, atol=1e-9, err_msg=column)
    if tangent is not True:  # before the break nothing follows from it, and it has its column
        assert not ds.state_transition.sel(column="parameters.1").values[:3].any()


def test_thrusters_of_a_spacecraft_switch():
    craft = ph.spacecraft(
        (10.0, 14.0, 18.0), MU, MASS,
        thrusters=[ph.systems.thruster((1e-3, 2e-3, 0.0), position=(0.0, 1e-2, 2e-2), start=47.0, stop=100.0)],
    )  # fmt: skip
    start = {"attitude": START["attitude"], "position": POSITION, "momentum": MOMENTUM}
    words = {"step": 10.0, "steps": 15, "every": 5}

    def rows(s):
        ds = ph.integrate(craft, METHOD, angular_momentum=[0.01 + s, 0.02, 0.015], **words, **start)
        return np.concatenate([ds.position.values, ds.momentum.values, ds.angular_momentum.values], axis=1)

    ds = ph.integrate(craft, METHOD, angular_momentum=[0.01, 0.02, 0.015], tangent=True, **words, **start)
    found = ds.state_transition.sel(column="angular_momentum_x").values[:, [*range(6), 9, 10, 11]]
    expected = differences(rows, 1e-3)
    assert_allclose(found, expected, rtol=0, atol=2e-08 * np.abs(expected).max())


# ------------------------------------------------------------------ rows at events, files
@each("method", [METHOD, "mkrk:dp8"])
def test_the_row_at_an_event_that_ends_the_run_is_at_a_fixed_time(method):
    words = {"step": 30.0} if method == METHOD else {"steps": ph.Tolerance(1e-12)}
    changed, names = (CHANGED, BURNING) if method == METHOD else (SHADOW, SHADED)
    start = {"position": POSITION, "momentum": MOMENTUM, "t_end": 6000.0, "tangent": names, **words}
    system = orbit(**changed)
    ended = ph.integrate(system, method, events=[ph.events.apsis("apoapsis", terminal=True)], **start)
    t = float(ended.time.values[-1])
    assert 777.0 < t < 6000.0
    whole = ph.integrate(system, method, t_eval=[0.0, t], **start)
    assert_array_equal(whole.state_transition.values[-1], ended.state_transition.values[-1])


def test_a_surface_ends_a_run_with_derivatives():
    system = orbit(burn=BURN, thrust=0.0, delta_v=INERTIAL, surface=RADIUS)
    ds = ph.integrate(system, METHOD, position=POSITION, momentum=0.9 * MOMENTUM, step=30.0, t_end=6000.0,
                      tangent=BURNING)  # fmt: skip
    assert "impact" in ds.attrs["stopped"]
    assert_allclose(np.linalg.det(ds.state_transition.values[..., :6]), 1.0, rtol=1e-10)


def test_runs_with_changing_loads_are_repeated_from_files(tmp_path):
    ds = ph.integrate(orbit(**SHADOW), METHOD, position=POSITION, momentum=MOMENTUM, tangent=SHADED, **FIXED)
    ph.save(ds, tmp_path / "run.nc")
    again = ph.rerun(ph.load(tmp_path / "run.nc"))
    assert_array_equal(again.state_transition.values, ds.state_transition.values)


# ------------------------------------------------------------------ what is refused
@each("name", ["forces.1.start", "forces.1.stop", "forces.2.time"])
def test_names_that_decide_when_loads_change_are_refused(name):
    system = orbit(**CHANGED)
    with pytest.raises(InvalidInput, match=f"{name} decides when the loads of 'orbit' change") as caught:
        ph.integrate(system, "v2", position=POSITION, momentum=MOMENTUM, tangent=[name], **FIXED)
    assert type(caught.value) is InvalidInput


def test_names_from_which_nothing_follows_are_refused():
    system = ph.orbit(MU, MASS, surface=RADIUS)
    with pytest.raises(InvalidInput, match="nothing in a run of 'orbit' follows from surface"):
        ph.integrate(system, "v2", position=POSITION, momentum=MOMENTUM, tangent=["surface"], **FIXED)


@pytest.mark.parametrize("method", [METHOD, "mkrk:dp8"])
def test_gradients_are_those_of_the_matrix(method):
    system = orbit(**CHANGED)
    words = {"position": POSITION, "momentum": MOMENTUM}
    words |= FIXED if method == METHOD else {"steps": ph.Tolerance(1e-9), "t_end": 1200.0}
    ds = ph.integrate(system, method, tangent=BURNING, **words)
    found = ph.gradient(lambda s: s.position[..., 0][-1] if "every" in words else s.position[0], system, method,
                        wrt=["position", "momentum", *BURNING], **words)  # fmt: skip
    wanted = ds.state_transition.isel(time=-1).sel(row="position_x").values
    assert_allclose(found.flat(), wanted, rtol=1e-11, atol=1e-11 * abs(wanted).max())
