"""Loads that change formula again and again: the method that a tolerance chose gives way, wherever runs are taken."""

from __future__ import annotations

import inspect
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode import cli
from polhode.runs import stepping, store
from polhode.runs.scenario import read_scenario

GAVE_WAY = "taken with 'mkrk:dp8' in the place of 'taylor'"


def held(t, position, velocity, parameters):
    """On the surface x + v = 0, where the motion stays, x' = -x."""
    return -np.sign(position[0] + velocity[0]) * np.array([1.0, 0.0, 0.0]) - 2.0 * velocity


def push(t, position, velocity, parameters):
    """The same where the first parameter is 1; a spring where it is 0."""
    return (-np.sign(position[0] + velocity[0]) * parameters[0] - (1.0 - parameters[0]) * position[0]) * np.array(
        [1.0, 0.0, 0.0]
    ) - 2.0 * velocity


START = {"position": (0.1, 0, 0), "velocity": 0}
HOW = {"steps": ph.Tolerance(1e-3), "t_end": 1.0, "settings": {"guard": False}}


class Stop(Exception):
    """What ends a run in the middle, as nothing of polhode's does."""


def particle():
    return ph.particle(force=held)


@pytest.fixture(scope="module")
def outright():
    return ph.integrate(particle(), "mkrk:dp8", **HOW, **START)


def once(caught):
    """Whether it was said once, and nothing else."""
    return [str(one.message).count(GAVE_WAY) for one in caught] == [1]


# ------------------------------------------------------------------ a tippe top
RADIUS, OFFSET, MASS, STIFFNESS, TILT = 0.02, 0.003, 0.015, 2e3, 0.1


def contact(t, position, velocity, q, omega, parameters):
    """A sphere on a plane whose centre of mass lies below its centre: a spring and a damper upwards, which never pull,
    and friction against the slip wherever that is more than 1 mm/s."""
    w, x, y, z = q
    to_space = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    radius, offset, weight, stiffness, damping, friction = parameters
    arm = to_space @ np.array([0.0, 0.0, offset]) - np.array([0.0, 0.0, radius])
    slip = velocity + np.cross(to_space @ omega, arm)
    depth = -(position[2] + arm[2])
    normal = np.where(depth > 0.0, np.maximum(0.0, stiffness * depth - damping * slip[2]), 0.0)
    size = np.sqrt(slip[0] * slip[0] + slip[1] * slip[1])
    rubbing = np.where(size > 1e-3, friction * normal / size, 0.0)
    force = np.array([-rubbing * slip[0], -rubbing * slip[1], normal])
    return force - np.array([0.0, 0.0, weight]), to_space.T @ np.cross(arm, force)


def test_a_tippe_top_in_contact():
    weight = 9.81 * MASS
    square = MASS * RADIUS * RADIUS
    system = ph.rigid_body(
        (0.42 * square, 0.42 * square, 0.4 * square), load=contact, mass=MASS,
        parameters=(RADIUS, OFFSET, weight, STIFFNESS, 0.5, 0.3),
    )  # fmt: skip
    how = {
        "position": (0, 0, RADIUS - OFFSET * np.cos(TILT) - weight / STIFFNESS), "velocity": 0,
        "attitude": (np.cos(TILT / 2), np.sin(TILT / 2), 0, 0), "angular_velocity": (0, 0, 150.0),
        "steps": ph.Tolerance(1e-4), "t_end": 0.06,
    }  # fmt: skip
    with pytest.warns(ph.errors.PolhodeWarning, match=GAVE_WAY) as caught:
        ds = ph.integrate(system, **how)
    assert once(caught) and ds.time.values[-1] == 0.06 and "incomplete" not in ds.attrs
    assert ds.identical(ph.integrate(system, "mkrk:dp8", **how))
    slid = np.abs(ds.velocity.values[-1, :2]).max()
    assert slid > 0.01  # friction has set it moving
    with pytest.raises(ph.errors.StepFailed, match="take 'mkrk:dp8'"):
        ph.integrate(system, "taylor", **how)


# ------------------------------------------------------------------ one run, wherever it is asked for
def test_runs_and_what_repeats_them(outright):
    with pytest.warns(ph.errors.PolhodeWarning, match=GAVE_WAY) as caught:
        ds = ph.integrate(particle(), **HOW, **START)
    assert once(caught) and ds.identical(outright)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ph.rerun(ds, force=held).identical(ds)


def test_a_run_that_goes_on_from_one_that_a_tolerance_chose():
    short = ph.integrate(particle(), **HOW | {"t_end": 0.01}, **START)
    assert short.attrs["method"] == "taylor" and json.loads(short.attrs["run"])["by_tolerance"] is True
    assert ph.rerun(short, force=held).identical(short)
    rest = {"t_end": 1.0, "settings": {"guard": False}}
    with pytest.warns(ph.errors.PolhodeWarning, match=GAVE_WAY):
        ds = ph.integrate(particle(), start=short, **rest)
    assert ds.attrs["method"] == "mkrk:dp8"
    asked = ph.integrate(particle(), "taylor", **HOW | {"t_end": 0.01}, **START)
    with pytest.raises(ph.errors.StepFailed, match="take 'mkrk:dp8'"):
        ph.integrate(particle(), start=asked, **rest)


def test_where_the_other_method_cannot_take_its_place():
    with pytest.raises(ph.errors.StepFailed, match="again and again"):  # below what the errors of dp8 resolve
        ph.integrate(particle(), **HOW | {"steps": ph.Tolerance(1e-15, 1e-15)}, **START)


def test_a_store_has_the_run_of_the_other_method(tmp_path, outright):
    with pytest.warns(ph.errors.PolhodeWarning, match=GAVE_WAY) as caught:
        ds = ph.integrate(particle(), **HOW, **START, store=tmp_path / "run.zarr")
    assert once(caught) and ds.load().identical(outright)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for again in (ph.load(tmp_path / "run.zarr", force=held), ph.resume(tmp_path / "run.zarr", force=held)):
            assert again.load().identical(outright)
    assert json.loads(store.LiveStore.opened(store.Store(tmp_path / "run.zarr")).run_text)["method"] == "mkrk:dp8"


@pytest.fixture
def slices(monkeypatch):
    """Slices of two steps."""
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(stepping, "FIRST_SLICE", 2)
    monkeypatch.setattr(stepping.Run, "adjust", lambda run, elapsed: None)


@pytest.mark.parametrize("stopped", ["before the failure", "while it begins anew", "after it began anew"])
def test_a_store_that_is_stopped_goes_on(slices, tmp_path, monkeypatch, outright, stopped):
    path, told = tmp_path / "run.zarr", {"shares": [], "created": 0}
    create = store.LiveStore._create

    def creating(live, request):
        told["created"] += 1
        if stopped == "while it begins anew" and told["created"] == 2:
            raise Stop
        create(live, request)

    def tell(progress):
        told["shares"].append(progress.share)
        before = told["created"] == 1
        if progress.share > 0.01 and before == (stopped == "before the failure"):
            raise Stop

    monkeypatch.setattr(store.LiveStore, "_create", creating)
    refused = ph.errors.FileProblem if "while" in stopped else Stop
    with warnings.catch_warnings(record=True) as before, pytest.raises(refused):
        warnings.simplefilter("always")
        ph.integrate(particle(), **HOW, **START, store=ph.Store(path, checkpoint_seconds=0), progress=tell)
    monkeypatch.undo()
    with warnings.catch_warnings(record=True) as after:
        warnings.simplefilter("always")
        ds = ph.resume(path, force=held)
    assert once([*before, *after]) and ds.load().identical(outright)


def test_prepared_runs(outright):
    prepared = ph.prepare(particle(), **HOW)
    with pytest.warns(ph.errors.PolhodeWarning, match=GAVE_WAY) as caught:
        rows = [prepared.run(START), prepared.run(START | {"position": (5.0, 0, 0)}), prepared.run(START)]
    assert once(caught)
    for k in (0, 2):
        assert np.array_equal(rows[k].position, outright.position) and np.array_equal(rows[k].time, outright.time)
    alone = ph.integrate(particle(), "taylor", **HOW, **START | {"position": (5.0, 0, 0)})
    assert np.array_equal(rows[1].position, alone.position)  # which needs no other method
    with pytest.warns(ph.errors.PolhodeWarning, match=GAVE_WAY):
        assert prepared.dataset(START).identical(outright)


SCENARIO = """
[system]
type = "particle"
force = "held.py:held"
[initial]
position = [0.1, 0.0, 0.0]
velocity = [0.0, 0.0, 0.0]
[run]
t_end = 1.0
rtol = 1e-3
guard = false
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("held.py").write_text("import numpy as np\n\n\n" + inspect.getsource(held))
    Path("run.toml").write_text(SCENARIO)


def test_scenarios(folder, outright):
    scenario = read_scenario("run.toml", allow_code=True)
    assert scenario.method == "taylor"
    with pytest.warns(ph.errors.PolhodeWarning, match=GAVE_WAY):
        ds = scenario.integrate(store="run.zarr")
    assert ds.attrs["method"] == "mkrk:dp8" and np.array_equal(ds.position, outright.position)
    assert np.array_equal(ph.resume("run.zarr", force=held).position, outright.position)
    with pytest.raises(ph.errors.StepFailed, match="take 'mkrk:dp8'"):
        read_scenario("run.toml", method="taylor", allow_code=True).integrate()


def test_the_command(folder, outright, monkeypatch, capsys):
    Path("run.toml").write_text(SCENARIO + '[output]\nfile = "run.nc"\n')
    monkeypatch.setattr("sys.argv", ["polhode", "run", "run.toml", "--allow-code"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0 and " ".join(capsys.readouterr().err.split()).count(GAVE_WAY) == 1
    assert np.array_equal(ph.load("run.nc").position, outright.position)


# ------------------------------------------------------------------ many runs
GAINS = np.array([0.0, 1.0, 0.0, 1.0, 0.0])


def members():
    return ph.particle(force=push, parameters=[0.0]), {"parameters": GAINS[:, None]}


@each("engine", ["threads", "auto"])
def test_members_of_an_ensemble(engine):
    """Each has the bits it has alone."""
    system, vary = members()
    with pytest.warns(ph.errors.PolhodeWarning, match=GAVE_WAY) as caught:
        ds = ph.ensemble(system, members=vary, engine=engine, **HOW, **START)
    assert once(caught) and "2 of 5 members, the first of them 1, were taken" in str(caught[0].message)
    assert (ds.status == 0).all() and ds.attrs["method_note"] == "members 1, 3: mkrk:dp8"
    for k, gain in enumerate(GAINS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = ph.integrate(system, parameters=[gain], t_eval=(0.0, 1.0), **HOW, **START)
        assert alone.attrs["method"] == ("mkrk:dp8" if gain else "taylor")
        assert np.array_equal(ds.position[k], alone.position)


def test_members_that_are_reduced_or_stored_or_alone(tmp_path):
    system, vary = members()
    with pytest.warns(ph.errors.PolhodeWarning, match=GAVE_WAY) as caught:
        kept = ph.ensemble(system, members=vary, **HOW, **START, store=tmp_path / "members.zarr")
        ph.ensemble(system, members=vary, **HOW, **START, reduce={"position": "mean"})
        alone = ph.ensemble(system, members=vary, **HOW, **START, events=[ph.events.user(falls)])
    assert [str(one.message).count(GAVE_WAY) for one in caught] == [1, 1, 1]
    for ds in (kept, alone):
        assert ds.attrs["method_note"] == "members 1, 3: mkrk:dp8" and (ds.status == 0).all()
    whole = np.array([kept.position.values[k, -1] for k in range(5)])
    assert np.array_equal(whole, [of_member.position.values[-1] for of_member in map(last, range(5))])


def falls(t, position, velocity, q, omega, parameters):
    return position[0] + 3.0


def last(k):
    system, vary = members()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ph.integrate(system, parameters=vary["parameters"][k], **HOW, **START)


@pytest.mark.parametrize("together", [False, True])
def test_members_of_a_sweep(folder, outright, together):
    text = SCENARIO.replace("rtol", "t_eval = [0.0, 1.0]\nrtol") if together else SCENARIO
    values = '[sweep]\nchunk = 4\n[sweep.grid]\n"initial.position.0" = [0.1, 5.0, 0.1, 6.0]\n'
    Path("study.toml").write_text(text + values)
    ds = ph.sweep("study.toml", store="a.zarr", workers=1, allow_code=True)
    assert (ds.status == 0).all()
    for k in (0, 2):
        assert np.array_equal(ds.position.values[k], outright.position.values[-1])
    _, first, words = ph.ensembles.sweep_status("a.zarr").warned["PolhodeWarning"]
    assert first == 0 and GAVE_WAY in words
