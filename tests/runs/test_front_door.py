"""The arguments of ``integrate``: at most seventeen, one way to say a thing, and a sentence for those of before."""

from __future__ import annotations

import dataclasses
import inspect
import json

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.runs.settings import MOVED
from polhode.runs.state import STATE_WORDS, AtStart
from polhode.trajectory.schema import RENAMED

ARGUMENTS = [
    "system", "method", "step", "steps", "t_end", "every", "t_eval", "start", "parameters", "events", "breaks",
    "tangent", "store", "progress", "settings", "project", "at_start",
]  # fmt: skip
BODY = ph.free_body((1.0, 1.5, 2.0))
SPIN = {"angular_velocity": (0.3, -0.2, 1.1)}
SHORT = {"step": 0.05, "steps": 4}
HALF = 0.5**0.5


def test_the_front_door_has_seventeen_parameters():
    parameters = inspect.signature(ph.integrate).parameters
    assert list(parameters) == ARGUMENTS and parameters["at_start"].kind is inspect.Parameter.VAR_KEYWORD
    assert len(parameters) == 17
    assert tuple(AtStart.__annotations__) == STATE_WORDS and set(STATE_WORDS) < set(
        inspect.signature(ph.State).parameters
    )


OLD_WORDS = {
    "integrate": lambda method, **words: ph.integrate(BODY, method, **SHORT, **SPIN, **words).attrs["method"],
    "prepare": lambda method, **words: ph.prepare(BODY, method, **SHORT, **words).dataset(SPIN).attrs["method"],
    "ensemble": lambda method, **words: ph.ensemble(BODY, method, members=2, **SHORT, **SPIN, **words).attrs["method"],
    "gradient": lambda method, **words: (
        ph.gradient(lambda s: s.angular_velocity[2], BODY, method, **SHORT, **SPIN, **words) and method
    ),
}


@pytest.mark.parametrize("door", OLD_WORDS)
def test_options_of_a_method_among_the_arguments_go_on_with_a_warning(door):
    call = OLD_WORDS[door]
    for method in ("mkrk", ph.methods.mkrk):
        with pytest.warns(ph.errors.OldNameWarning) as told:
            found = call(method, tableau="heun", map="cayley")
        new = "polhode.methods.mkrk(tableau='heun', map='cayley')"
        assert [str(one.message) for one in told] == [f"tableau and map are options of the method: write method={new}"]
        assert told[0].filename == __file__
    assert door == "gradient" or found == call(ph.methods.mkrk(tableau="heun", map="cayley")) == "mkrk:heun:cayley"
    with pytest.raises(ph.errors.InvalidInput, match="option of method 'mkrk' 'tablaeu'; did you mean 'tableau'"):
        call("mkrk", tablaeu="heun")


FORMS = {
    "rtol": (1e-9, "steps=polhode.Tolerance(1e-09)"),
    "atol": (1e-12, "steps=polhode.Tolerance(rtol, atol=1e-12)"),
    "max_step": (0.5, "steps=polhode.Tolerance(rtol, max_step=0.5)"),
    "first_step": (np.float64(0.25), "steps=polhode.Tolerance(rtol, first_step=0.25)"),
    "max_steps": (7, "steps=polhode.Tolerance(rtol, max_steps=7)"),
    "t0": (1.5, "start={'time': 1.5}"),
    "time": (1.5, "start={'time': 1.5}"),
    "rotation_vector": ((0, 0, 1), "start={'rotation_vector': ...}"),
    "euler_angles": ((0, 0, 1), "start={'euler_angles': ...}"),
    "euler_angles_deg": ((0, 0, 1), "start={'euler_angles_deg': ...}"),
    "sequence": ("ZXZ", "start={'euler_angles': ..., 'sequence': 'ZXZ'}"),
    "angular_velocity_space": ((0, 0, 1), "start={'angular_velocity_space': ...}"),
    "angular_momentum_space": ((0, 0, 1), "start={'angular_momentum_space': ...}"),
    "since": (0.0, "start={'since': 0.0}"),
    "coordinates": ((0, 0, 1), "start={'coordinates': ...}"),
    "thermostat": ((0, 0), "start={'thermostat': ...}"),
    "compensation": ([0.0] * 6, "start={'compensation': ...}"),
    "carries": ([0.0] * 6, "start={'compensation': ...}"),
    "clock": ([0.0] * 4, "start={'time_variables': ...}"),
    "time_variables": ([0.0] * 4, "start={'time_variables': ...}"),
    "compensated": (True, "settings={'compensated': True}"),
    "guard": (False, "settings={'guard': False}"),
    "units": ("SI", "settings={'units': 'SI'}"),
    "epoch": ("2030-01-01", "settings={'epoch': '2030-01-01'}"),
    "threads": (2, "settings={'threads': 2}"),
    "checkpoint_seconds": (5.0, "store=polhode.Store(path, checkpoint_seconds=5.0)"),
}


@each("name", MOVED)
def test_arguments_of_before_are_answered_with_what_is_written_now(name):
    value, form = FORMS[name]
    told = f"{name} is no longer an argument: write {form}"
    for call in (
        lambda: ph.integrate(BODY, "v2/mr", **SHORT, **SPIN, **{name: value}),
        lambda: ph.integrate(BODY, **{name: value}),
        lambda: ph.prepare(BODY, "v2/mr", **SHORT, **{name: value}).run(SPIN),
        lambda: ph.compare(BODY, ["v2/mr"], [0.1], t_end=1.0, **SPIN, **{name: value}),
    ):
        with pytest.raises(ph.errors.InvalidInput) as refused:
            call()
        assert str(refused.value) == told


def test_a_misspelling_of_an_argument_of_before_is_answered_too():
    for name, told in (("tol", "steps=polhode.Tolerance(1)"), ("rotvec", "start={'rotation_vector': 1}")):
        with pytest.raises(ph.errors.InvalidInput, match="unknown argument of integrate") as refused:
            ph.integrate(BODY, "v2/mr", **SHORT, **{name: 1})
        assert f"did you mean {told}?" in str(refused.value)


def test_resume_and_rerun_answer_as_well(tmp_path):
    ds = ph.integrate(BODY, "v2/mr", **SHORT, **SPIN, store=ph.Store(tmp_path / "a.zarr", 5.0))
    for call in (lambda **words: ph.resume(tmp_path / "a.zarr", **words), lambda **words: ph.rerun(ds, **words)):
        with pytest.raises(ph.errors.InvalidInput, match="checkpoint_seconds is no longer an argument: write store="):
            call(checkpoint_seconds=5.0)
        assert call(threads=2).equals(ds)


# ------------------------------------------------------------------ states
def test_a_state_is_the_mapping_of_its_names():
    words = {"time": 2.0, "euler_angles_deg": (90, 0, 0), "sequence": "ZXZ", "angular_velocity_space": (0, 0, 1)}
    ds = ph.integrate(BODY, "v2/mr", **SHORT, start=words)
    same = ph.integrate(BODY, "v2/mr", **SHORT, start=ph.State(**words))
    flat = ph.integrate(
        BODY, "v2/mr", **SHORT, start={"time": 2.0}, attitude=ds.attitude[0], angular_velocity=(0, 0, 1)
    )
    assert ds.identical(same) and flat.equals(ds) and ds.time[0] == 2.0
    np.testing.assert_allclose(ds.attitude[0], (HALF, 0, 0, HALF), rtol=1e-15)
    assert repr(ph.State(**SPIN)) == "State(angular_velocity=(0.3, -0.2, 1.1))" and ph.State().given == {}


def test_a_word_given_twice_is_refused():
    for start in ({"attitude": (1, 0, 0, 0)}, ph.State(attitude=(1, 0, 0, 0))):
        with pytest.raises(ph.errors.InvalidInput, match="attitude is given, and start has it too; keep one of them"):
            ph.integrate(BODY, "v2/mr", **SHORT, start=start, attitude=(1, 0, 0, 0))
    with pytest.raises(ph.errors.InvalidInput, match="attitude and rotation_vector are both given"):
        ph.integrate(BODY, "v2/mr", **SHORT, start={"rotation_vector": (0, 0, 1)}, attitude=(1, 0, 0, 0))


@each(("words", "told"), [
    ({"time": "noon"}, "time must be a number"), ({"since": np.nan}, "since is nan"), ({"time": None}, "time must be"),
    ({"attitude": "up"}, "attitude must be"), ({"velocity": [1, np.inf, 0]}, "velocity"), ({"sequence": 3}, "sequence"),
    ({"attitude": (1, 0, 0, 0), "euler_angles": (0, 0, 1)}, "attitude and euler_angles are both given"),
    ({"angular_velocity": (1, 0, 0), "angular_momentum_space": (0, 0, 1)}, "are both given; keep one of them"),
    ({"sequence": "ZXZ"}, "a sequence belongs to euler_angles"),
])  # fmt: skip
def test_a_wrong_state_is_refused_where_it_is_made(words, told):
    with pytest.raises(ph.errors.InvalidInput, match=told):
        ph.State(**words)


def test_a_run_goes_on_from_the_state_of_any_row():
    """Bit for bit, with the numbers that its method keeps; by another method without them."""
    how = {"step": 0.01, "method": ph.methods.rotation_vector(tableau="rk4")}
    whole = ph.integrate(BODY, steps=30, **how, **SPIN)
    state = ph.State.of(whole, row=10)
    assert state.time == whole.time[10] and state.attitude is None and state.since == 0.0
    rest = ph.integrate(BODY, t_end=0.3, **how, start=state)
    assert (rest.rotation_vector.values == whole.rotation_vector.values[10:]).all()
    last = ph.State.of(ph.integrate(BODY, "v2/mr", **SHORT, **SPIN))
    assert set(last.given) == {"time", "attitude", "angular_momentum", "since"}
    anew = dataclasses.replace(last, time=0.0, since=None)
    assert "since" not in json.loads(ph.integrate(BODY, "v2/mr", **SHORT, start=anew).attrs["run"])
    with pytest.raises(ph.errors.InvalidInput, match="row is 99, but the trajectory has 5 rows, 0 to 4"):
        ph.State.of(ph.integrate(BODY, "v2/mr", **SHORT, **SPIN), row=99)


def test_prepared_runs_and_comparisons_take_states():
    state = ph.State(rotation_vector=(0, 0, 0.4), angular_velocity_space=(0.3, 0, 1.0))
    prepared = ph.prepare(BODY, "v2/mr", **SHORT)
    ds = ph.integrate(BODY, "v2/mr", **SHORT, start=state)
    assert (prepared.run(state).attitude == ds.attitude.values).all()
    plain = ph.State(**SPIN)
    ds = ph.integrate(BODY, "v2/mr", **SHORT, **SPIN)
    assert (prepared.run(plain).attitude == ds.attitude.values).all()
    assert (prepared.run(plain).attitude == ds.attitude.values).all()  # by the short way
    late = dataclasses.replace(state, time=1.0)
    table = ph.compare(BODY, ["v2/mr"], [0.1, 0.05], t_end=2.0, start=late)
    same = ph.compare(BODY, ["v2/mr"], [0.1, 0.05], t_end=1.0, start=state)
    np.testing.assert_allclose(table.attitude_error, same.attitude_error, rtol=1e-6)
    assert table.attrs["t0"] == 1.0
    begun = ph.integrate(BODY, "v2/mr", step=0.1, steps=10, start=state)
    table = ph.compare(BODY, ["v2/mr", "mkrk:rk4"], [0.1, 0.05], t_end=2.0, start=begun)
    assert (table.status == "ok").all() and table.attrs["t0"] == 1.0
    with pytest.raises(ph.errors.InvalidInput, match="coordinates has no place in a comparison"):
        ph.compare(BODY, ["v2/mr"], [0.1], t_end=1.0, start={"coordinates": (0, 0, 1)})


def test_free_motion_takes_states():
    inertia = [[2.0, 0.1, 0.0], [0.1, 3.0, 0.2], [0.0, 0.2, 4.0]]
    omega, t = np.array((0.3, -0.2, 1.1)), np.array([1.0, 2.5])
    plain = ph.free_motion(inertia, inertia @ omega, t, ph.rotation.exp_quaternion((0.1, 0.2, 0.3)))
    state = ph.State(time=10.0, rotation_vector=(0.1, 0.2, 0.3), angular_velocity=omega)
    for found, expected in zip(ph.free_motion(inertia, state, 10.0 + t), plain, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    for wrong, told in ((ph.State(position=(1, 0, 0)), "position is given, but the free motion"),):
        with pytest.raises(ph.errors.InvalidInput, match=told):
            ph.free_motion(inertia, wrong, t)
    with pytest.raises(ph.errors.InvalidInput, match="attitude is given, but a State has it"):
        ph.free_motion(inertia, state, t, (1, 0, 0, 0))


# ------------------------------------------------------------------ settings
def test_settings_are_the_mapping_of_their_names():
    words = {"guard": False, "units": "SI", "epoch": "2030-01-01"}
    ds = ph.integrate(BODY, "v2/mr", **SHORT, **SPIN, settings=words)
    assert ds.identical(ph.integrate(BODY, "v2/mr", **SHORT, **SPIN, settings=ph.Settings(**words)))
    kept = json.loads(ds.attrs["run"])
    assert kept["guard"] is False and kept["units"] == "SI" and kept["epoch"] == ds.attrs["epoch"]
    assert not {"settings", "threads", "start"} & set(kept) and ph.rerun(ds).identical(ds)


@each(("words", "told"), [
    ({"guard": 1}, "guard must be True or False"), ({"compensated": 1}, "compensated must be True or False"),
    ({"units": "cgs"}, "unknown units 'cgs'"), ({"epoch": "noon"}, "epoch is 'noon'"), ({"threads": 0}, "threads is 0"),
])  # fmt: skip
def test_wrong_settings_are_refused(words, told):
    with pytest.raises(ph.errors.InvalidInput, match=told):
        ph.Settings(**words)
    with pytest.raises(ph.errors.InvalidInput, match=told):
        ph.integrate(BODY, "v2/mr", **SHORT, settings=words)


def test_settings_with_unknown_names_are_refused():
    with pytest.raises(ph.errors.InvalidInput, match="unknown name in settings 'gard'; did you mean 'guard'"):
        ph.integrate(BODY, "v2/mr", **SHORT, settings={"gard": False})
    with pytest.raises(ph.errors.InvalidInput, match="settings must be a mapping"):
        ph.integrate(BODY, "v2/mr", **SHORT, settings=3)


# ------------------------------------------------------------------ the end of a run
def test_a_run_ends_with_the_rows_asked_for():
    """Where nothing says when it ends, with steps of one size and by a tolerance; counted steps say it."""
    asked = [0.0, 0.1, 0.3]
    for how in ({"step": 0.1}, {"steps": ph.Tolerance(1e-8), "method": "mkrk:dp5"}, {}):
        ds = ph.integrate(BODY, t_eval=asked, **how, **SPIN)
        assert ds.equals(ph.integrate(BODY, t_eval=asked, t_end=0.3, **how, **SPIN)) and ds.time[-1] == 0.3
    assert ph.integrate(BODY, t_eval=asked, step=0.1, steps=5, **SPIN).time.values.tolist() == asked
    with pytest.raises(ph.errors.InvalidInput, match="t_eval must be a flat sequence of at least one"):
        ph.integrate(BODY, t_eval=[], step=0.1, **SPIN)


# ------------------------------------------------------------------ stores
def test_a_store_says_how_often(tmp_path):
    place = ph.Store(tmp_path / "run.zarr", checkpoint_seconds=0.5)
    ds = ph.integrate(BODY, "v2/mr", **SHORT, **SPIN, store=place)
    assert ph.load(place.path).equals(ds) and ph.resume(place).equals(ds)
    for words, told in (
        ((3,), "store must be"),
        (("run.nc",), "must end in .zarr"),
        (("a.zarr", -1), "checkpoint_sec"),
    ):
        with pytest.raises(ph.errors.InvalidInput, match=told):
            ph.Store(*words)


# ------------------------------------------------------------------ names of before in files
@each("suffix", [".nc", ".zarr"])
def test_files_with_names_of_before_are_read_and_go_on(tmp_path, suffix):
    """Variables get their names of now; runs go on from them bit for bit."""
    orbit, start = ph.orbit(1.0), {"position": (1.0, 0, 0), "velocity": (0, 1.1, 0)}
    before = {new: old for old, new in RENAMED.items()}
    hows = [{"method": "reversible:v2"}, {"method": "kl8", "settings": {"compensated": True}}]
    for how in hows[: 2 if suffix == ".nc" else 1]:
        whole = ph.integrate(orbit, step=0.01, steps=40, **how, **start)
        ds = ph.integrate(orbit, step=0.01, steps=20, **how, **start)
        old = ds.rename({name: before[name] for name in [*ds.variables, *ds.dims] if name in before})
        assert set(old.variables) & set(RENAMED) and not set(old.variables) & set(before)
        read = ph.load(ph.save(old, tmp_path / f"{how['method'][:2]}{suffix}"))
        assert read.identical(ds) and ph.rerun(read).identical(ds)
        for begun in (read, old):
            rest = ph.integrate(orbit, start=begun, steps=20)
            assert (rest.position.values == whole.position.values[20:]).all()
