"""Rows that go to a store leave the memory, and the trajectory there is the one computed from all rows at once."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from cover import chosen
from polhode import durable, events, forces
from polhode.runs import rows, stepping, store, streamed
from polhode.trajectory import growing

START = {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.3, -0.2, 4.0)}


def top():
    return ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.zarr"


@pytest.fixture
def small(monkeypatch):
    """All sizes so small that a run of some hundred rows is a long one: rows leave, pieces and chunks are many."""
    for module, name, value in (
        (rows, "SLICE", 1), (rows, "KEPT", 1), (streamed, "PIECE", 5 * 13 * 8), (growing, "BUFFER", 2000),
        (store, "CHUNK", 1000), (store, "SHORT_CHUNK", 12), (streamed, "SECONDS", 0.0),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # thousands of them, for which the disk would be waited for


def three_bodies():
    return ph.gravitating_bodies(mu=(1.0, 1e-3, 1e-4))


def lit():
    light = forces.radiation_pressure(0.01, direction=(-1, 0, 0), shadow="cylinder", radius=0.5)
    return ph.orbit(1.0, forces=[forces.impulse(3.33, 0.05, "velocity"), light])


ORBIT = {"position": (1, 0, 0), "velocity": (0, 1.0, 0.2)}
RUNS = {
    "steps of one size": (top, "trapm", {"step": 0.01, "steps": 120} | START),
    "processed": (top, "pmlf6", {"step": 0.01, "steps": 300, "every": 2} | START),
    "angles near their pole": (top, ph.methods.euler(tableau="gauss4", sequence="ZXZ"), {"step": 0.01, "steps": 100,
                               "attitude": (1, 0, 0, 0), "angular_velocity": (0, 0, 1.0)}),
    "own coordinates": (top, "rotation_vector:gauss4", {"step": 0.01, "steps": 100} | START),
    "a bath": (lambda: ph.particle(mass=2.0, stiffness=3.0), ph.methods.baoab(temperature=1.0, friction=1.0),
               {"step": 0.01, "steps": 200, "position": (1, 0, 0)}),
    "chosen steps": (top, "mkrk:dp5", {"steps": ph.Tolerance(1e-10), "t_end": 9.0} | START),
    "a clock": (top, "reversible:v2", {"step": 0.01, "t_end": 3.0} | START),
    "samples": (top, "trapm", {"step": 0.01, "steps": 120, "t_eval": np.linspace(0.0, 1.2, 77)} | START),
    "compensated": (three_bodies, "v2", {"step": 0.01, "steps": 100, "settings": {"compensated": True},
                    "position": [(0, 0, 0), (1, 0, 0), (0, 1.5, 0)],
                    "velocity": [(0, 0, 0), (0, 1, 0), (-0.8, 0, 0)]}),
    "works, impulses and events": (lit, "mkrk:dp5", {"step": 0.05, "t_end": 12.0, "events": ["periapsis"]} | ORBIT),
    "a terminal event": (lit, "mkrk:dp5", {"steps": ph.Tolerance(1e-9), "t_end": 12.0,
                         "events": [events.altitude(0.3, 1.0, terminal=True)]} | ORBIT),
}  # fmt: skip


@pytest.mark.parametrize("name", chosen(RUNS, ["steps of one size", "own coordinates", "a terminal event"]))
def test_the_trajectory_is_that_of_a_run_in_memory(path, small, name):
    system, method, more = RUNS[name]
    whole = ph.integrate(system(), method, **more)
    ds = ph.integrate(system(), method, **more, store=path)
    assert not ds.variables["energy"]._in_memory
    assert ds.identical(whole) and ph.load(path).identical(whole) and ph.load(path, lazy=True).identical(whole)
    assert ph.resume(path).identical(whole)
    with xr.open_zarr(path / "trajectory", decode_times=False) as other:
        assert other.load().identical(whole)
    assert len(list((path / "state" / "c").iterdir())) > 5
    assert len(list((path / "trajectory" / "energy" / "c").iterdir())) > 2


def looked(run, *more):
    """How rows leave the memory: the first one there, after each commit."""
    seen = []

    def commit(live, *rest, real=store.LiveStore.commit, **words):
        real(live, *rest, **words)
        seen.append((live.record.first, live.record.held))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.LiveStore, "commit", commit)
        return run(*more), seen


def test_rows_leave_the_memory(path, small):
    _, seen = looked(lambda: ph.integrate(top(), "trapm", step=0.01, steps=200, **START, store=path))
    assert max(held for _, held in seen) <= 33 and seen[-1][0] + seen[-1][1] == 201
    samples = np.linspace(0.0, 1.0, 200)  # so do these
    more = {"step": 0.01, "steps": 100, "t_eval": samples, "store": path.with_name("b.zarr")} | START
    _, seen = looked(lambda: ph.integrate(top(), "trapm", **more))
    assert max(held for _, held in seen) <= 35 and seen[-1][0] + seen[-1][1] == 200


def test_a_run_too_long_for_the_memory_needs_a_store(path, monkeypatch, small):
    monkeypatch.setattr(rows, "memory", lambda: 16 * 13 * 100)
    more = {"step": 0.01, "steps": 300} | START
    with pytest.raises(ph.errors.InvalidInput, match=r"larger every, or let them go to a store \(store='run.zarr'\)"):
        ph.integrate(top(), "trapm", **more)
    assert ph.integrate(top(), "trapm", **more, store=path).sizes["time"] == 301


def test_ctrl_c_in_a_long_run(path, small, monkeypatch):
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)  # so that it is told after every slice
    whole = ph.integrate(top(), "trapm", step=0.01, steps=200, **START)

    def interrupt(progress):
        if progress.done >= 100:
            raise KeyboardInterrupt

    with pytest.raises(ph.errors.Interrupted) as caught:
        ph.integrate(top(), "trapm", step=0.01, steps=200, **START, store=path, progress=interrupt)
    so_far = caught.value.trajectory
    n = so_far.sizes["time"]
    assert 100 < n < 201 and not so_far.variables["energy"]._in_memory and so_far.attrs["steps"] == n - 1
    assert so_far.attrs["incomplete"] == str(caught.value) and so_far.attitude.equals(whole.attitude[:n])
    assert ph.resume(path).identical(whole)
    assert so_far.attitude.equals(whole.attitude[:n])  # who has opened it goes on reading


def fading(t, q, parameters):
    return np.inf if t > 0.995 else parameters[0]


def test_a_row_that_fails_ends_a_long_run(path, small):
    """A potential that is infinite: in memory that shows at the end, in a store at the next commit."""
    body = ph.rigid_body((1, 2, 2.5), potential=fading, parameters=[1e-9])
    more = {"step": 0.01, "steps": 200, "angular_velocity": (0.1, 0.2, 0.3), "settings": {"guard": False}}
    with pytest.raises(ph.errors.PolhodeError, match=r"returned inf at t = 1;") as plain:
        ph.integrate(body, "v2/mr", **more)
    with pytest.raises(type(plain.value), match=r"returned inf at t = 1;") as caught:
        ph.integrate(body, "v2/mr", **more, store=path)
    kept = caught.value.trajectory
    assert kept.sizes["time"] == plain.value.trajectory.sizes["time"] == 100
    assert kept.energy.equals(plain.value.trajectory.energy) and "incomplete" in kept.attrs
    assert json.loads((path / "checkpoint.json").read_text())["steps"] < 150
    with pytest.raises(type(plain.value)):
        ph.resume(path, potential=fading)


def test_a_long_run_that_blows_up(path, small):
    dipping = ph.orbit(1.0)
    more = {"step": 0.01, "steps": 3000, "position": (1, 0, 0), "velocity": (0, 1e-4, 0)}
    coarse = pytest.warns(ph.errors.CoarseStepWarning)
    with coarse, pytest.raises(ph.errors.NotFinite, match="blew up between") as plain:
        ph.integrate(dipping, "v2", **more)
    with coarse, pytest.raises(ph.errors.NotFinite, match="blew up between") as caught:
        ph.integrate(dipping, "v2", **more, store=path)
    assert str(caught.value) == str(plain.value)
    assert caught.value.trajectory.position.equals(plain.value.trajectory.position)


def test_warnings_of_a_long_run(path, small):
    coarse = ph.particle(mass=1.0, stiffness=3.9)
    more = {"step": 1.0, "steps": 400, "position": (1, 0, 0), "velocity": (0, 0, 0)}
    with pytest.warns(ph.errors.PolhodeWarning) as plain:
        whole = ph.integrate(coarse, "v2", **more)
    with pytest.warns(ph.errors.PolhodeWarning) as told:
        ds = ph.integrate(coarse, "v2", **more, store=path)
    assert [str(one.message) for one in told] == [str(one.message) for one in plain] and ds.identical(whole)


def test_a_disk_that_is_full_when_the_trajectory_is_written(path, small, monkeypatch):
    whole = ph.integrate(top(), "trapm", step=0.01, steps=300, **START)
    count = 0

    def full(disk, file, data, real=durable.Unsynced.write):
        nonlocal count
        count += 1
        if count > 150:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(disk, file, data)

    with monkeypatch.context() as short, pytest.raises(ph.errors.FileProblem, match=r"No space left .*resume") as no:
        short.setattr(durable.Unsynced, "write", full)
        ph.integrate(top(), "trapm", step=0.01, steps=300, **START, store=ph.Store(path, 0))
    kept = no.value.trajectory
    n = kept.sizes["time"]
    assert 20 < n < 270 and "No space left" in kept.attrs["incomplete"] and "\n" not in str(no.value)
    assert kept.energy.equals(whole.energy[:n]) and ph.load(path).sizes["time"] >= n
    assert ph.resume(path).identical(whole)


def test_reading_what_is_not_there(path, tmp_path):
    ds = ph.integrate(top(), "trapm", step=0.01, steps=10, **START, store=path)
    with pytest.raises(ph.errors.InvalidInput, match="a store read lazily needs none"):
        ph.load(path, lazy=True, torque=fading)
    with pytest.raises(ph.errors.InvalidInput, match="lazy must be True or False, not 'yes'"):
        ph.load(path, lazy="yes")
    ph.save(ds, tmp_path / "a.nc")
    assert ph.load(tmp_path / "a.nc").identical(ds)
    with pytest.raises(ph.errors.InvalidInput, match="is no live store of a run, and is read into memory"):
        ph.load(tmp_path / "a.nc", lazy=True)
    (path / "trajectory" / "zarr.json").unlink()  # as one that an earlier version wrote
    with pytest.raises(ph.errors.FileProblem, match=r"is not written yet; polhode\.load without lazy"):
        ph.load(path, lazy=True)
    assert ph.resume(path).identical(ds) and ph.load(path, lazy=True).identical(ds)


def test_others_read_while_it_grows(path, small, monkeypatch):
    """They see whole rows only, and more of them as the run goes on; which waits for them now and then."""
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)  # it is told of each step
    steps, seen, wrong = 220, [], []
    end = time.monotonic() + 60

    def read():
        while time.monotonic() < end and (not seen or seen[-1] < steps + 1):
            try:
                with xr.open_zarr(path / "trajectory", decode_times=False) as ds:
                    ds.load()
            except FileNotFoundError:
                continue
            wrong.extend(k for k, v in ds.variables.items() if v.dtype.kind == "f" and v.isnull().any())
            assert abs(float(ds.energy_error[-1])) < 1e-3 and ds.attrs["method"] == "trapm"
            seen.append(ds.sizes["time"])
            time.sleep(0.05)

    reader, waited = threading.Thread(target=read), []

    def tell(progress):
        if progress.done >= 50 and reader.ident is None:
            reader.start()
        if progress.done >= 100 * (1 + len(waited)) and len(waited) < 2:
            before = len(seen)
            while len(seen) < before + 2 and reader.is_alive():
                time.sleep(0.01)
            waited.append(seen[-1])

    ph.integrate(top(), "trapm", step=0.01, steps=steps, **START, store=path, progress=tell)
    reader.join()
    assert not wrong and seen == sorted(seen) and seen[-1] == steps + 1 and 1 < waited[0] < waited[1]


MEMORY = """
import json, polhode as ph
found = []
top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
for steps in {steps}:
    ds = ph.integrate(top, "trapm", step=1e-4, steps=steps, attitude=(0.8, 0.6, 0, 0), angular_velocity=(0.3, -0.2, 4),
                      store=f"{folder}/{{steps}}.zarr")
    rows, middle = ds.sizes["time"], float(ds.energy.sel(time=5e-5 * steps, method="nearest"))
    used = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
    found.append((rows, float(used[0]) / 1e3))
print(json.dumps(found))
"""


def memory_of(forked, folder, *steps):
    """Largest memory in MB of a process until it has taken so many steps, and so many, all of them recorded."""
    told = forked(MEMORY.format(folder=folder, steps=(1000, *steps)))
    assert [rows for rows, _ in told] == [1001, *(n + 1 for n in steps)]
    return [used for _, used in told[1:]]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_rows(forked, tmp_path):
    few, many = memory_of(forked, tmp_path, 300_000, 750_000)  # from where all buffers have been full for long
    assert many < 300.0 and many < few + 15.0  # in memory the states alone would take 47 MB more


@pytest.mark.full
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("rows", [10**7, 10**8])
def test_memory_of_very_long_runs(tmp_path, rows):
    import shutil

    if shutil.disk_usage(tmp_path).free < 250 * rows:
        pytest.skip("not enough room on the disk")

    def alone(code):
        return json.loads(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout)

    assert memory_of(alone, tmp_path, rows)[0] < 300.0
    shutil.rmtree(tmp_path)


def test_a_large_error_of_the_energy_is_told_of_a_long_run(path, small):
    """Rows leave the memory on the way, the largest error and when it became large do not."""
    crude = {"step": 0.02, "steps": 200} | START
    told = []
    for more in ({}, {"store": path}):
        with pytest.warns(ph.errors.EnergyWarning) as caught:
            ph.integrate(top(), "mkrk:forward_euler", **crude, **more)
        told.append([str(one.message) for one in caught if one.category is ph.errors.EnergyWarning])
    assert told[0] == told[1] and len(told[0]) == 1
