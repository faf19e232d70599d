"""The live store of a run: whenever and however a run is stopped, what goes on has the bits of one in one piece."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from cover import crossed, some
from each import each
from polhode import cli, events, forces
from polhode.runs import status as status_module, stepping, store
from polhode.runs.status import last_rows, status
from polhode.systems import System
from polhode.systems.loads_roles import no_loads

START = {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.3, -0.2, 4.0)}


def top():
    return ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)


def spin(t, q, omega, parameters):
    return (0.1 * omega[1], parameters[0], np.sin(t))


def looked_up(t, q, omega, parameters):
    return np.interp(omega, [-1.0, 1.0], [0.1, -0.1])


def spinning():
    return ph.rigid_body((1, 2, 2.5), torque=spin, parameters=[0.3])


def three_bodies():
    return ph.gravitating_bodies(mu=(1.0, 1e-3, 1e-4))


class Stop(Exception):
    """What ends a run in the middle, as nothing of polhode's does."""


@pytest.fixture
def slices(monkeypatch):
    """Slices of sixteen steps, between any two of which a run may be stopped."""
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(stepping, "FIRST_SLICE", 16)
    monkeypatch.setattr(stepping.Run, "adjust", lambda run, elapsed: None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.zarr"


def stopping(after):
    """A ``progress`` that breaks off a run between two slices after so many steps."""

    def tell(progress):
        if progress.done >= after:
            raise Stop

    return tell


RUNS = {
    "steps of one size": (top, "trapm", {"step": 0.01, "steps": 100}),
    "rows that end no slice": (top, "mkrk:rk4", {"step": 0.01, "steps": 100, "every": 7}),
    "processed": (top, "pmlf6", {"step": 0.01, "steps": 100, "every": 3}),
    "evaluation reused": (top, "s6_10/mr6", {"step": 0.01, "steps": 100}),
    "own coordinates": (top, "rotation_vector:gauss4", {"step": 0.01, "steps": 100}),
    "several bodies, carries of sums": (
        three_bodies,
        "rkn6_14a",
        {"step": 0.01, "steps": 100, "every": 3, "angular_velocity": None, "attitude": None}
        | {"settings": {"compensated": True}}
        | {"position": [(0, 0, 0), (1, 0, 0), (0, 2, 0)], "velocity": [(0, 0, 0), (0, 1, 0), (-0.7, 0, 0)]},
    ),
    "wheels, whose sums are compensated": (
        lambda: ph.rigid_body(
            (1, 2, 2.5),
            wheels=ph.reaction_wheels([[1, 0, 0], [0, 0.6, 0.8]], 0.01, speed=(5.0, 9.0), command=(1e-3, -2e-3)),
        ),
        "s4_6",
        {"step": 0.01, "steps": 100},
    ),
    "backwards": (top, "trapm", {"step": 0.01, "start": {"time": 1.0}, "t_end": 0.0}),
    "samples": (top, "trapm", {"step": 0.01, "steps": 100, "t_eval": [0.0, 0.1, 0.153, 0.1531, 0.4, 0.999, 1.0]}),
    "chosen steps": (top, "mkrk:dp5", {"steps": ph.Tolerance(1e-8), "t_end": 2.0}),
    "chosen steps, samples": (
        top,
        "mkrk:dp5",
        {"steps": ph.Tolerance(1e-8), "t_end": 2.0, "t_eval": np.linspace(0, 2, 31)},
    ),
    "Taylor series": (
        lambda: ph.systems.gravity_gradient((1.0, 2.0, 2.5), 1.0, 1.0),
        "taylor",
        {"steps": ph.Tolerance(1e-8), "t_end": 200.0},
    ),
    "a clock": (top, "reversible:v2", {"step": 0.01, "t_end": 1.0, "every": 2}),
    "a clock, samples": (top, "reversible:v2", {"step": 0.01, "t_end": 1.0, "t_eval": [0.1, 0.333, 0.7]}),
}


@pytest.mark.parametrize(("name", "after"), crossed(RUNS, [1, 40, 90]))
def test_a_run_stopped_anywhere_goes_on_bit_for_bit(slices, path, name, after):
    system, method, more = RUNS[name]
    more = START | more
    whole = ph.integrate(system(), method, **more)
    with pytest.raises(Stop):
        ph.integrate(system(), method, **more, store=ph.Store(path, checkpoint_seconds=0), progress=stopping(after))
    so_far = ph.load(path)
    rows = so_far.sizes["time"]
    assert so_far.attrs["incomplete"].startswith("the run was at step") and rows <= whole.sizes["time"]
    assert so_far.identical(whole.isel(time=slice(rows)).assign_attrs(so_far.attrs))
    steps = []
    again = ph.resume(path, progress=lambda progress: steps.append(progress.done))
    assert again.identical(whole) and again.attrs["load_evaluations"] == whole.attrs["load_evaluations"]
    assert steps[0] == 0 and min(steps[1:]) >= so_far.attrs["steps"] >= after  # no step is taken again
    assert ph.load(path).identical(whole) and ph.resume(path).identical(whole)


@pytest.mark.parametrize("name", ["processed", "evaluation reused", "chosen steps", "a clock"])
def test_looks_at_the_energy_of_a_long_run_change_no_count(slices, monkeypatch, name):
    """They come by the time of day, and would make the counts of two runs differ."""
    system, method, more = RUNS[name]
    whole = ph.integrate(system(), method, **START | more)
    monkeypatch.setattr(sys.modules["polhode.runs.integrate"], "BETWEEN_LOOKS", -1.0)
    assert ph.integrate(system(), method, **START | more).identical(whole)


PACES = {"equal": {"step": 0.1, "t_end": 12.0}, "chosen": {"steps": ph.Tolerance(1e-12), "t_end": 12.0}}


@pytest.mark.parametrize(("after", "pace", "terminal"), crossed([1, 17, 30], PACES, [False, True]))
def test_events_impulses_and_switches_go_on(slices, path, pace, after, terminal):
    light = forces.radiation_pressure(0.01, direction=(-1, 0, 0), shadow="cylinder", radius=0.5)
    burn = forces.thrust(0.01, "velocity", start=2.05, stop=7.77)
    system = ph.orbit(1.0, forces=[forces.impulse(3.33, 0.05, "velocity"), burn, light])
    asked = ["periapsis", events.altitude(0.1, 1.0, "rising"), events.node()]
    if terminal:
        asked.append(events.altitude(0.35, 1.0, terminal=True))
    more = {"position": (1, 0, 0), "velocity": (0, 1.0, 0.2), "events": asked} | PACES[pace]
    whole = ph.integrate(system, "mkrk:dp5", **more)
    assert whole.sizes["event"] > 3 and ("stopped" in whole.attrs) is terminal
    with pytest.raises(Stop):
        ph.integrate(system, "mkrk:dp5", **more, store=ph.Store(path, checkpoint_seconds=0), progress=stopping(after))
    assert ph.load(path).attrs["steps"] < whole.attrs["steps"]
    assert ph.resume(path).identical(whole)
    assert ph.load(path).identical(whole)


def test_stopped_on_the_way_to_an_edge(slices, path, monkeypatch):
    """A step of chosen size has been refused, for it crosses the edge of a shadow, at which the next one is to end."""
    light = forces.radiation_pressure(0.01, direction=(-1, 0, 0), shadow="cylinder", radius=0.5)
    more = {"steps": ph.Tolerance(1e-10), "t_end": 12.0, "position": (1, 0, 0), "velocity": (0, 1.0, 0.2)}
    whole = ph.integrate(ph.orbit(1.0, forces=[light]), "mkrk:dp5", **more)

    def watched(live, real=store.LiveStore.commit_if_due):
        real(live)
        if live.run.edge is not None:
            raise Stop

    with monkeypatch.context() as stops, pytest.raises(Stop):
        stops.setattr(store.LiveStore, "commit_if_due", watched)
        ph.integrate(ph.orbit(1.0, forces=[light]), "mkrk:dp5", **more, store=ph.Store(path, checkpoint_seconds=0))
    assert 0 < ph.load(path).attrs["steps"] < whole.attrs["steps"]
    assert ph.resume(path).identical(whole)


def test_a_store_changes_nothing_and_can_be_opened_by_others(path):
    whole = ph.integrate(top(), "trapm", step=0.01, steps=100, **START)
    assert ph.integrate(top(), "trapm", step=0.01, steps=100, **START, store=str(path)).identical(whole)
    last = path.with_name("last.zarr")  # the end is a row that is no multiple of every
    ph.integrate(top(), "trapm", step=0.01, steps=100, every=30, **START, store=last)
    with xr.open_zarr(last) as raw:
        np.testing.assert_array_equal(raw.time[:5], [0.0, 0.3, 0.6, 0.9, 1.0])
    none = path.with_name("none.zarr")
    assert ph.integrate(top(), "trapm", step=0.01, steps=0, **START, store=none).identical(ph.load(none))
    with xr.open_zarr(path) as raw:
        np.testing.assert_array_equal(raw.time[:101], whole.time)
        assert np.isnan(raw.time[101:]).all() and raw.state.dims == ("time", "number")
        np.testing.assert_allclose(raw.state[:101, 6:10], whole.attitude, rtol=0, atol=1e-15)
        assert "polhode.resume goes on" in raw.attrs["about"]
    names = {item.name for item in path.iterdir()}
    assert names == {"zarr.json", "checkpoint.json", "time", "step", "state", "iterations", "trajectory"}
    told = json.loads((path / "checkpoint.json").read_text())
    assert (told["steps"], told["of"], told["rows"], told["over"]) == (100, 100, 101, True)


def test_more_rows_than_guessed_and_chunks_of_one_row(slices, path, monkeypatch):
    monkeypatch.setattr(store, "GUESSED_ROWS", 4)
    monkeypatch.setattr(store, "CHUNK", 8)
    monkeypatch.setattr(store, "SHORT_CHUNK", 3)
    more = START | {"step": 0.01, "t_end": 0.4}  # of a method with a clock
    whole = ph.integrate(top(), "reversible:v2", **more)
    with pytest.raises(Stop):
        ph.integrate(top(), "reversible:v2", **more, store=ph.Store(path, checkpoint_seconds=0), progress=stopping(24))
    assert len(list((path / "state" / "c").iterdir())) == ph.load(path).sizes["time"] > 24
    assert ph.resume(path).identical(whole)
    with xr.open_zarr(path) as raw:
        np.testing.assert_array_equal(raw.time[: whole.sizes["time"]], whole.time)


def test_checkpoints_are_written_when_it_is_time(slices, path, monkeypatch):
    written = []
    monkeypatch.setattr(store, "write_durably", lambda file, data, real=store.write_durably: (
        written.append(file.name), real(file, data)))  # fmt: skip
    ph.integrate(top(), "trapm", step=0.01, steps=400, **START, store=path)
    assert written.count("checkpoint.json") == 2  # at the start and at the end
    rows_first = [name for name in written if name in ("0", "checkpoint.json")]
    assert rows_first == ["checkpoint.json", "0", "0", "0", "0", "checkpoint.json"]  # chunks, then what names them
    other = path.with_name("often.zarr")
    ph.integrate(top(), "trapm", step=0.01, steps=400, **START, store=ph.Store(other, checkpoint_seconds=0))
    assert written.count("checkpoint.json") > 10


def test_files_are_synced_before_they_take_their_place(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(("sync", os.path.realpath(f"/proc/self/fd/{handle}"))))
    monkeypatch.setattr(os, "replace", lambda a, b, real=os.replace: (done.append(("replace", str(b))), real(a, b)))
    store.write_durably(tmp_path / "folder" / "file", b"new")
    folder = os.path.realpath(tmp_path / "folder")
    assert [kind for kind, _ in done] == ["sync", "replace", "sync"]
    assert done[0][1] == f"{folder}/file.partial" and done[2][1] == folder
    assert (tmp_path / "folder" / "file").read_bytes() == b"new"


# ------------------------------------------------------------------ killed
LONG = """
import sys, time, polhode as ph
from polhode.runs import stepping
stepping.SLICE_SECONDS = 0.002
ph.integrate(ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0), {method!r}, step=1e-4,
             steps={steps}, every=10, attitude=(0.8, 0.6, 0, 0), angular_velocity=(0.3, -0.2, 4),
             store=ph.Store({path!r}, 0.05), progress=lambda progress: time.sleep({sleep}))
"""


def steps_in(path):
    """Steps the checkpoint of a store names; 0 where there is none yet."""
    try:
        return json.loads((path / "checkpoint.json").read_text())["steps"]
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("method", some(["trapm", "pmlf6"], 1))
def test_killed_twice(forked, tmp_path, path, monkeypatch, method):
    """SIGKILL at any moment, also while chunks are written, once while its rows are followed, once while it goes on."""
    steps = 150_000
    monkeypatch.setattr(status_module, "LOOK_SECONDS", 0.02)
    pytest.importorskip("zarr")  # which takes a second to be loaded, in which rows would be written
    code = LONG.format(method=method, steps=steps, path=os.fspath(path), sleep=0.5)
    on = f"import time, polhode as ph\nfrom polhode.runs import stepping\nstepping.SLICE_SECONDS = 0.002\n" \
         f"ph.resume(ph.Store({os.fspath(path)!r}, 0.05), progress=lambda progress: time.sleep(0.5))"  # fmt: skip
    before, kills = 0, 0
    for turn, wait in enumerate((0.013, 0.037)):
        process = forked.start(on if turn else code)
        deadline = time.monotonic() + 120
        while steps_in(path) <= before and time.monotonic() < deadline:
            time.sleep(0.002)
        seen = []
        for ds, left_out in () if turn else last_rows(path, 3, follow=True):  # which ends with the process
            assert ds.sizes["time"] <= 3 and (not seen or ds.time[0] > seen[-1]) and left_out >= 0
            seen.append(float(ds.time[-1]))
            if len(seen) == 2:
                os.kill(process.pid, signal.SIGKILL)
        time.sleep(wait)
        os.kill(process.pid, signal.SIGKILL)
        kills += process.end()[0] == -signal.SIGKILL
        assert (turn or len(seen) >= 2) and status(path).state == "stopped"
        assert steps_in(path) > before
        before = steps_in(path)
    assert kills == 2 and before < steps
    whole = ph.integrate(top(), method, step=1e-4, steps=steps, every=10, attitude=(0.8, 0.6, 0, 0),
                         angular_velocity=(0.3, -0.2, 4))  # fmt: skip
    assert ph.load(path).sizes["time"] < whole.sizes["time"]
    assert ph.resume(path).identical(whole)


def test_ctrl_c(slices, path):
    def interrupt(progress):
        if progress.done >= 30:
            os.kill(os.getpid(), signal.SIGINT)

    whole = ph.integrate(top(), "trapm", step=0.01, steps=100, every=7, **START)
    with pytest.raises(
        ph.errors.Interrupted, match=r"interrupted after \d+ of 100 .*, which are in .*run\.zarr"
    ) as caught:
        ph.integrate(top(), "trapm", step=0.01, steps=100, every=7, **START, store=path, progress=interrupt)
    done = caught.value.trajectory.attrs["steps"]
    assert 30 <= done < 100 and steps_in(path) == done  # without waiting for the next checkpoint
    assert ph.load(path).attrs["steps"] == done
    assert ph.resume(path).identical(whole)


def test_a_failing_step_keeps_the_rows_before(slices, path):
    limit = {"steps": 60}

    def slow(t, q, omega, parameters):
        if t > 0.01 * limit["steps"]:
            raise RuntimeError("no more")
        try:  # of which nothing is compiled
            return 0.1, 0.0, 0.0
        except RuntimeError:
            return None

    def run(**more):
        return ph.integrate(ph.rigid_body((1, 2, 2.5), torque=slow), "mkrk:rk4", step=0.01, steps=100, **more)

    with pytest.warns(ph.errors.SlowFunctionWarning), pytest.raises(ph.errors.UserFunctionError) as caught:
        run(store=path)
    assert 0 < steps_in(path) <= 60 and caught.value.trajectory.attrs["steps"] >= steps_in(path)
    with pytest.warns(ph.errors.SlowFunctionWarning), pytest.raises(ph.errors.UserFunctionError):
        ph.resume(path, torque=slow)
    limit["steps"] = 1000
    with pytest.warns(ph.errors.SlowFunctionWarning):
        again, whole = ph.resume(path, torque=slow), run()
    assert again.identical(whole)


# ------------------------------------------------------------------ what a store needs
def test_functions_are_handed_in_again(slices, path):
    whole = ph.integrate(spinning(), "mkrk:rk4", step=0.01, steps=100, **START)
    with pytest.raises(Stop):
        ph.integrate(spinning(), "mkrk:rk4", step=0.01, steps=100, **START, store=ph.Store(path, checkpoint_seconds=0),
                     progress=stopping(50))  # fmt: skip
    for name, call in (("resume", ph.resume), ("load", ph.load)):
        with pytest.raises(
            ph.errors.InvalidInput, match=rf"used a function for 'torque'.*{name}\(.*run\.zarr', torque=spin"
        ):
            call(path)
    assert 50 < ph.load(path, torque=spin).sizes["time"] < 101

    def spin_otherwise(t, q, omega, parameters):
        return (0.1 * omega[1], parameters[0], np.sin(t))

    with pytest.warns(ph.errors.OtherMachineWarning, match="the source of 'torque' is another"):
        assert ph.resume(path, torque=spin_otherwise).attitude.identical(whole.attitude)
    assert ph.resume(path, torque=spin).identical(whole)


GAIN = 0.4


def braking(rate):
    return lambda t, q, omega, parameters: (-rate * omega[0], parameters[0], -GAIN * rate * omega[2])


def braked(**more):
    body = ph.rigid_body((1, 2, 2.5), torque=braking(0.3), parameters=[0.3])
    return ph.integrate(body, "mkrk:rk4", step=0.01, steps=100, **START, **more)


def test_functions_that_read_other_numbers_are_refused(slices, path, monkeypatch):
    with pytest.raises(Stop):
        braked(store=ph.Store(path, checkpoint_seconds=0), progress=stopping(50))
    with pytest.raises(ph.errors.InvalidInput, match=r"'torque' reads other numbers .*\(rate = 0\.3 there\)"):
        ph.resume(path, torque=braking(0.31))
    with monkeypatch.context() as there:
        there.setitem(globals(), "GAIN", 0.5)
        with pytest.raises(ph.errors.InvalidInput, match=r"\(GAIN = 0\.4 there\)"):
            ph.resume(path, torque=braking(0.3))
    assert ph.resume(path, torque=braking(0.3)).identical(braked())


def falling(body):
    return {"torque": -GAIN * body.angular_velocity}


def slowing(t, position, velocity, q, omega, parameters):
    return omega[0] - GAIN


def test_the_record_of_a_run_has_the_numbers_that_it_read(slices, path, monkeypatch):
    """Not those of the day the system and the event were made."""
    body = ph.system(ph.body("a", 1.0, (1, 2, 2.5)), ph.loads.of(falling))
    event = ph.events.user(slowing)
    monkeypatch.setitem(globals(), "GAIN", 0.6)
    for k in (0.6, 0.7):
        monkeypatch.setitem(globals(), "GAIN", k)
        there = path.with_name(f"{k}.zarr")
        ds = ph.integrate(body, "mkrk:rk4", step=0.01, steps=20, **START, events=[event], store=there)
        assert json.loads(ds.attrs["run"])["numbers"] == {"falling": {"GAIN": k}, "slowing": {"GAIN": k}}
        assert ph.resume(there, falling=falling, slowing=slowing).sizes["time"] == 21
    with pytest.raises(ph.errors.InvalidInput, match=r"'falling' reads other numbers .*\(GAIN = 0\.6 there\)"):
        ph.resume(path.with_name("0.6.zarr"), falling=falling, slowing=slowing)


def test_parameters_that_were_laid_out_otherwise_are_made_again(slices, path):
    with pytest.raises(Stop):
        braked(store=ph.Store(path, checkpoint_seconds=0), progress=stopping(50))
    file = path / "checkpoint.json"
    body = json.loads(file.read_text())
    del body["sha256"], body["state"]["memory"]["parameters"][1:]
    file.write_text(json.dumps(body | {"sha256": store._sealed(body)}))
    assert ph.resume(path, torque=braking(0.3)).identical(braked())


def test_an_event_of_the_users(slices, path):
    def ahead(t, position, velocity, q, omega, parameters):
        return q[0] * q[0] + q[1] * q[1] - q[2] * q[2] - q[3] * q[3]

    more = START | {"step": 0.01, "steps": 300, "events": [events.user(ahead)]}
    whole = ph.integrate(top(), "trapm", **more)
    with pytest.raises(Stop):
        ph.integrate(top(), "trapm", **more, store=ph.Store(path, checkpoint_seconds=0), progress=stopping(150))
    with pytest.raises(ph.errors.InvalidInput, match=r"event 'ahead'; .*: resume\("):
        ph.resume(path)
    assert whole.sizes["event"] > 2 and ph.resume(path, ahead=ahead).identical(whole)


def two_bodies(mass=1.0):
    moments = np.array([(1.0, 2.0, 3.0), (2.0, 2.0, 1.0)])
    frames = np.array([(1.0, 0, 0, 0)] * 2)
    return System(
        "two", {"mass": mass}, np.full(2, mass), moments, frames, loads=no_loads, provides={"velocity_independent"}
    )


def test_a_system_of_ones_own_is_handed_in_again(slices, path):
    more = {"step": 0.01, "steps": 60, "angular_velocity": [(0.1, 2, 0.3), (1, 0, 2)]}
    whole = ph.integrate(two_bodies(), "mkrk:rk4", **more)
    with pytest.raises(Stop):
        ph.integrate(
            two_bodies(), "mkrk:rk4", **more, store=ph.Store(path, checkpoint_seconds=0), progress=stopping(30)
        )
    with pytest.raises(ph.errors.InvalidInput, match=r"builds the system 'two'; hand it in: resume\(.*, system="):
        ph.resume(path)
    with pytest.raises(ph.errors.InvalidInput, match="this run is of a system 'two'; 'heavy_top' of 1 bodies"):
        ph.resume(path, system=top())
    with pytest.raises(ph.errors.InvalidInput, match="has other arguments"):
        ph.resume(path, system=two_bodies(2.0))
    assert ph.resume(path, system=two_bodies()).identical(whole)


def test_another_machine_or_version_is_told_once(slices, path, monkeypatch):
    whole = ph.integrate(top(), "trapm", step=0.01, steps=100, **START)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(store, "here", lambda real=store.here: real() | {"processor": "z80", "numba": "0.1"})
        with pytest.raises(Stop):
            ph.integrate(top(), "trapm", step=0.01, steps=100, **START, store=ph.Store(path, checkpoint_seconds=0),
                         progress=stopping(50))  # fmt: skip
    with pytest.warns(
        ph.errors.OtherMachineWarning, match=r"numba 0\.1 is now .*, processor z80 is now .*may differ"
    ) as told:
        assert ph.resume(path).identical(whole)
    assert len(told) == 1 and ph.resume(path).identical(whole)  # without a warning
    makers = json.loads((path / "checkpoint.json").read_text())["made_by"]
    assert [maker["processor"] == "z80" for maker in makers] == [True, False]


# ------------------------------------------------------------------ stores that are no good
@pytest.fixture
def stopped(slices, path):
    """A store with half a run in it."""
    with pytest.raises(Stop):
        ph.integrate(top(), "trapm", step=0.01, steps=100, **START, store=ph.Store(path, checkpoint_seconds=0),
                     progress=stopping(50))  # fmt: skip
    return path


def test_a_checkpoint_that_is_torn_edited_or_missing(stopped):
    file = stopped / "checkpoint.json"
    good = file.read_text()
    for bad, told in (
        (good[: len(good) // 2], r"checkpoint\.json is torn"),
        ("", r"checkpoint\.json is torn"),
        ("[1, 2]", r"checkpoint\.json is torn"),
        (good.replace('"steps": ', '"steps": 1'), "was changed: its digest"),
        (good.replace('\\"step\\": 0.01', '\\"step\\": 0.02'), "was changed: its digest"),
    ):
        assert bad != good
        file.write_text(bad)
        for call in (ph.resume, ph.load):
            with pytest.raises(ph.errors.FileProblem, match=told) as caught:
                call(stopped)
            assert caught.value.exit_code == 5
    file.unlink()
    for call in (ph.resume, ph.load):
        with pytest.raises(
            ph.errors.FileProblem, match=r"checkpoint\.json is missing.*remove .*run\.zarr and run it again"
        ):
            call(stopped)
    file.write_text(good)
    assert ph.resume(stopped).attrs["steps"] == 100


def test_a_checkpoint_of_another_format(stopped):
    file = stopped / "checkpoint.json"
    body = json.loads(file.read_text())
    del body["sha256"]
    body["format"] = "polhode live store 99"
    file.write_text(json.dumps(body | {"sha256": store._sealed(body)}))
    with pytest.raises(ph.errors.FileProblem, match="has the format 'polhode live store 99', but this version reads"):
        ph.resume(stopped)


@each("end", [1.0, -1.0])
def test_switches_of_a_store_of_an_earlier_version_follow_from_the_time(slices, tmp_path, end):
    path = tmp_path / "run.zarr"
    start, stop = sorted((0.4 * end, 0.605 * end))  # begins where the run was stopped
    system = ph.orbit(1.0, forces=[forces.thrust(0.3, "velocity", start=start, stop=stop)])
    run = {"step": 0.01, "t_end": end, "position": (1, 0, 0), "velocity": (0, 1, 0)}
    with pytest.raises(Stop):
        ph.integrate(system, "v2", **run, store=ph.Store(path, checkpoint_seconds=0), progress=stopping(40))
    file = path / "checkpoint.json"
    body = json.loads(file.read_text())
    del body["sha256"], body["state"]["memory"]["parameters"]
    file.write_text(json.dumps(body | {"sha256": store._sealed(body)}))
    assert ph.resume(path).identical(ph.integrate(system, "v2", **run))


@pytest.mark.parametrize("name", ["time", "state", "iterations", "step"])
def test_rows_that_are_torn_missing_or_others(stopped, name):
    chunk = next(file for file in (stopped / name / "c").rglob("*") if file.is_file())
    good = chunk.read_bytes()
    for bad in (None, good[: len(good) // 2], good[:-6] + bytes([good[-6] ^ 1]) + good[-5:]):
        chunk.unlink() if bad is None else chunk.write_bytes(bad)
        for call in (ph.resume, ph.load):
            with pytest.raises(ph.errors.FileProblem, match="the rows of"):
                call(stopped)
    chunk.write_bytes(good)
    import zarr

    group = zarr.open_group(stopped, mode="r+")
    group[name][5] += 1
    with pytest.raises(ph.errors.FileProblem, match=f"{name!r} was changed, or a chunk of it is missing"):
        ph.resume(stopped)


def test_rows_behind_the_checkpoint_do_not_count(stopped):
    import zarr

    rows = ph.load(stopped).sizes["time"]
    group = zarr.open_group(stopped, mode="r+")
    group["state"][rows:] = 7.0
    group["time"][rows:] = 7.0
    assert ph.load(stopped).sizes["time"] == rows
    assert ph.resume(stopped).identical(ph.integrate(top(), "trapm", step=0.01, steps=100, **START))


def test_what_is_there_is_not_overwritten(stopped, tmp_path):
    before = (stopped / "checkpoint.json").read_bytes()
    with pytest.raises(
        ph.errors.FileProblem, match=r"a run in .*run\.zarr already; go on .*resume\('.*or name another store"
    ):
        ph.integrate(top(), "trapm", step=0.01, steps=5, **START, store=stopped)
    ds = ph.integrate(top(), "trapm", step=0.01, steps=5, **START)
    with pytest.raises(ph.errors.FileProblem, match="the live store of a run is there"):
        ph.save(ds, stopped)
    assert (stopped / "checkpoint.json").read_bytes() == before
    with pytest.raises(ph.errors.FileProblem, match=r"is the live store of a run, which polhode\.load reads"):
        ph.trajectory.load(stopped)
    other = tmp_path / "other.zarr"
    other.mkdir()
    ph.integrate(top(), "trapm", step=0.01, steps=5, **START, store=other)  # an empty folder will do
    ph.save(ds, tmp_path / "saved.zarr")
    for name in ("saved.zarr", "note.zarr"):
        (tmp_path / "note.zarr").write_text("mine")
        with pytest.raises(ph.errors.FileProblem, match="exists already and holds something else; name another store"):
            ph.integrate(top(), "trapm", step=0.01, steps=5, **START, store=tmp_path / name)
        with pytest.raises(ph.errors.FileProblem, match=r"is not the live store of a run|there is no store"):
            ph.resume(tmp_path / name)
    assert ph.load(tmp_path / "saved.zarr").identical(ds)


def test_a_few_wrong_arguments(tmp_path, path):
    for more, told in (
        ({"store": tmp_path / "run.nc"}, "must end in .zarr"),
        ({"store": path, "step": -0.1}, "step is -0.1"),
        ({"store": path, "method": "taylor4", "system": ph.rigid_body((1, 2, 2.5), torque=looked_up)}, "Taylor series"),
    ):
        with pytest.raises(ph.errors.InvalidInput, match=re.escape(told)):
            ph.integrate(**{"system": top(), "method": "trapm", "step": 0.01, "steps": 5} | START | more)
        assert not path.exists()
    for seconds, told in ((-1, "checkpoint_seconds is -1"), ("30", "checkpoint_seconds must be a number, not '30'")):
        with pytest.raises(ph.errors.InvalidInput, match=re.escape(told)):
            ph.Store(path, seconds)
    with pytest.raises(ph.errors.FileProblem, match="there is no store"):
        ph.resume(path)
    with pytest.raises(ph.errors.InvalidInput, match="only a live store needs them"):
        ph.load(tmp_path / "some.nc", torque=spin)
    for read, told in ((ph.load, "lazy"), (ph.resume, "threads")):
        with pytest.raises(ph.errors.InvalidInput, match=f"argument of {read.__name__} .*did you mean '{told}'"):
            read(path, **{told[:-1]: True})


def test_a_run_that_fails_at_once_leaves_no_store(path):
    with pytest.raises(ph.errors.StepTooLarge):
        ph.integrate(top(), "trapm", step=1.0, steps=5, **START, store=path)
    assert not path.exists()
    ph.integrate(top(), "trapm", step=0.01, steps=5, **START, store=path)


def test_an_unwritable_place(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(ph.errors.FileProblem, match=r"cannot make the store .*: .*; name another place") as caught:
        ph.integrate(top(), "trapm", step=0.01, steps=5, **START, store=blocked / "run.zarr")
    assert caught.value.exit_code == 5 and caught.value.trajectory is None

    def refuse(folder, *_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ph.errors.FileProblem, match=r"cannot make the store .*Permission denied"):
        ph.integrate(top(), "trapm", step=0.01, steps=5, **START, store=tmp_path / "run.zarr")


@pytest.mark.parametrize("torn", ["checkpoint.json", "0"])
def test_a_full_disk(slices, path, monkeypatch, torn):
    """What was computed rides on the exception, the last checkpoint stays, and with room again the run goes on."""
    whole = ph.integrate(top(), "trapm", step=0.01, steps=100, **START)
    count = 0

    def full(file, data, real=store.write_durably):
        nonlocal count
        count += file.name == torn
        if count > 6:
            file.with_name(f"{file.name}.partial").write_bytes(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, data)

    with (
        monkeypatch.context() as short,
        pytest.raises(ph.errors.FileProblem, match=r"No space left on device; .*resume") as no,
    ):
        short.setattr(store, "write_durably", full)
        ph.integrate(top(), "trapm", step=0.01, steps=100, **START, store=ph.Store(path, checkpoint_seconds=0))
    kept = no.value.trajectory
    rows = kept.sizes["time"]
    assert no.value.exit_code == 5 and "No space left" in kept.attrs["incomplete"]
    np.testing.assert_array_equal(kept.attitude, whole.attitude[:rows])
    assert 1 < ph.load(path).sizes["time"] < rows
    assert ph.resume(path).identical(whole)


def test_a_real_full_disk_leaves_the_old_file(tmp_path):
    """The draft is removed and the old file is whole where the write itself is refused."""
    file = tmp_path / "checkpoint.json"
    store.write_durably(file, b"old")
    resource = pytest.importorskip("resource", reason="limits of processes are of Unix")
    before, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            store.write_durably(file, bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert file.read_bytes() == b"old" and [item.name for item in tmp_path.iterdir()] == ["checkpoint.json"]


def test_one_process_writes(slices, path):
    seen = []

    def meanwhile(progress):
        if progress.done >= 50 and not seen:
            seen.append(ph.load(path).sizes["time"])
            with pytest.raises(ph.errors.FileProblem, match=r"another process is writing .*stop that one first"):
                ph.resume(path)

    def run():
        ph.integrate(top(), "trapm", step=0.01, steps=100, **START, store=ph.Store(path, checkpoint_seconds=0),
                     progress=meanwhile)  # fmt: skip

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert 50 < seen[0] < 101 and ph.resume(path).sizes["time"] == 101


# ------------------------------------------------------------------ scenarios and the command line
SCENARIO = """\
title = "A top"
problem = "krysl_fast_top"
method = "trapm"
[run]
step = 0.001
t_end = 0.1
every = 10
"""


@pytest.fixture
def polhode(monkeypatch, capsys, tmp_path):
    """Call the command in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "top.toml").write_text(SCENARIO)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["polhode", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


def test_run_with_a_store_and_resume(polhode, monkeypatch):
    monkeypatch.setattr(ph.plots, "dashboard", lambda ds, path: Path(path).touch())
    assert polhode("run", "top.toml", "-q", "--no-picture")[0] == 0
    whole = ph.load("top.nc")
    assert polhode("run", "top.toml", "-q", "--no-picture", "--store", "run.zarr", "-o", "a.nc") == (0, "", "")
    assert ph.load("a.nc").identical(whole) and ph.load("run.zarr").identical(whole)
    code, out, err = polhode("resume", "run.zarr", "--json")
    facts = json.loads(out)
    assert code == 0 and "A top" in err and facts["complete"] and facts["written"] == ["run.nc", "run.png"]
    assert facts["scenario"].endswith("top.toml") and ph.load("run.nc").identical(whole)
    code, _, err = polhode("run", "top.toml", "--store", "run.zarr")
    assert code == 5 and "go on with it" in err and "`polhode resume run.zarr`" in err
    code, _, err = polhode("run", "top.toml", "--store", "out.zarr", "-o", "out.zarr")
    assert code == 3 and "out.zarr is the store" in err and not Path("out.zarr").exists()
    code, _, err = polhode("resume", "nothing.zarr")
    assert code == 5 and "there is no store 'nothing.zarr'" in err
    Path("run.zarr/checkpoint.json").write_text("{")
    code, _, err = polhode("resume", "run.zarr")
    assert code == 5 and "is torn" in err
    assert polhode("cite", "run.nc")[0] == 0


def test_a_store_named_by_the_scenario(polhode, tmp_path):
    Path("named.toml").write_text(SCENARIO + '[output]\nstore = "live.zarr"\n')
    assert polhode("run", "named.toml", "-q", "--no-picture")[0] == 0
    assert ph.load("live.zarr").identical(ph.load("named.nc"))
    assert polhode("cite", "live.zarr")[1] == polhode("cite", "named.nc")[1]
    Path("wrong.toml").write_text(SCENARIO + '[output]\nstore = "live.nc"\n')
    code, _, err = polhode("run", "wrong.toml")
    assert code == 3 and "output.store: expected a name that ends in .zarr (got 'live.nc')" in err
    Path("twice.toml").write_text(SCENARIO + '[output]\nfile = "a.zarr"\nstore = "a.zarr"\n')
    code, _, err = polhode("run", "twice.toml")
    assert code == 3 and "output.store: expected another name than that of file" in err


def test_a_long_trajectory_stays_in_its_store(polhode, monkeypatch):
    from polhode.cli import run

    monkeypatch.setattr(ph.plots, "dashboard", lambda ds, path: Path(path).touch())
    monkeypatch.setattr(run, "LONG", 1000)
    monkeypatch.setattr(run, "LOOKED_AT", 5)
    assert polhode("run", "top.toml", "-q", "--no-picture", "-o", "whole.nc")[0] == 0
    whole = ph.load("whole.nc")
    code, out, err = polhode("run", "top.toml", "--store", "run.zarr", "--json")
    facts = json.loads(out)
    assert code == 0 and facts["written"] == ["run.zarr", "top.png"] and not Path("top.nc").exists()
    assert (facts["rows"], facts["rows_looked_at"], facts["t"]) == (11, 5, [0.0, 0.1])
    assert "11 rows\n" in err and "5 rows among them, for what follows and for the picture" in err
    assert ph.load("run.zarr", lazy=True).identical(whole)
    code, _, err = polhode("resume", "run.zarr", "-q")
    assert (code, err) == (0, "") and Path("run.png").exists() and not Path("run.nc").exists()
    assert polhode("resume", "run.zarr", "-q", "--no-picture", "-o", "asked.nc")[0] == 0
    assert ph.load("asked.nc").identical(whole)


def test_a_scenario_too_long_for_the_memory(polhode, monkeypatch):
    from polhode.runs import rows

    for name, value in (("memory", lambda: 16 * 13 * 60), ("SLICE", 1), ("KEPT", 1)):
        monkeypatch.setattr(rows, name, value)
    text = SCENARIO.replace("every = 10\n", "")
    Path("top.toml").write_text(text)
    code, _, err = polhode("run", "top.toml", "-q")
    assert code == 3 and "let them go to a store" in err
    assert polhode("run", "top.toml", "-q", "--no-picture", "--store", "run.zarr", "-o", "a.nc") == (0, "", "")
    Path("named.toml").write_text(text + '[output]\nstore = "live.zarr"\n')
    assert polhode("run", "named.toml", "-q", "--no-picture") == (0, "", "")


def test_ctrl_c_prints_the_command_that_goes_on(slices, polhode, tmp_path, monkeypatch):
    steps = 1000
    text = SCENARIO.replace("t_end = 0.1", f"steps = {steps}").replace("every = 10\n", "every = 100\n")
    (tmp_path / "long.toml").write_text(text)

    def pressed(live, real=store.LiveStore.commit_if_due):
        real(live)
        if live.run.done >= 300:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as key:
        key.setattr(store.LiveStore, "commit_if_due", pressed)
        code, _, err = polhode("run", "long.toml", "--store", "live.zarr", "--no-picture")
    said = err.splitlines()[-1]
    done = steps_in(tmp_path / "live.zarr")
    assert code == 130 and said.startswith(f"polhode: interrupted after {done} of {steps} steps") and 0 < done < steps
    assert ", which are in live.zarr" in said
    on = shlex.split(said.partition("; go on with: ")[2])
    assert on == ["polhode", "resume", "live.zarr", "-o", "long.nc", "--no-picture"]
    code, _, err = polhode(*on[1:], "--json")
    assert code == 0 and f"of {steps} steps" in err
    first = float(re.search(r"running +([\d.]+) %", err)[1])
    assert first > 100.0 * done / steps - 0.1
    resumed, whole = ph.load("long.nc"), ph.runs.read_scenario("long.toml").integrate()
    assert resumed.identical(whole)


def test_functions_of_a_scenario(polhode, tmp_path):
    Path("mine.py").write_text("def torque(t, q, omega, parameters):\n    return (0.0, 0.1, 1.0)\n")
    Path("mine.toml").write_text(
        'method = "trapm"\n[system]\ntype = "rigid_body"\ninertia = [2, 3, 4]\ntorque = "mine.py:torque"\n'
        "[run]\nstep = 0.001\nsteps = 20\n"
    )
    assert polhode("run", "mine.toml", "--allow-code", "-q", "--no-picture", "--store", "run.zarr")[0] == 0
    code, _, err = polhode("resume", "run.zarr", "-q", "--no-picture")
    assert code == 3 and "mine.toml names; read them, then add --allow-code" in err
    assert polhode("resume", "run.zarr", "--allow-code", "-q", "--no-picture") == (0, "", "")
    assert ph.load("run.nc").identical(ph.load("mine.nc"))
    Path("mine.py").write_text("def torque(t, q, omega, parameters):\n    return (0.0, 0.2, 1.0)\n")
    code, _, err = polhode("resume", "run.zarr", "--allow-code", "-q", "--no-picture")
    assert code == 0 and "polhode: note: the run in run.zarr was made elsewhere (the source of 'torque'" in err
