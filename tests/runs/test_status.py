"""``polhode info`` and ``polhode tail``: what is told of a run that goes on, has stopped, or is over."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time

import numpy as np
import pytest

import polhode as ph
from polhode import cli
from polhode.runs import status, stepping, store, streamed
from polhode.runs.status import Status, last_rows

START = {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.3, -0.2, 4.0)}


class Stop(Exception):
    """What ends a run in the middle."""


def top():
    return ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)


@pytest.fixture
def often(monkeypatch):
    """Slices of eight steps, and a checkpoint and a show after each."""
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(stepping, "FIRST_SLICE", 8)
    monkeypatch.setattr(stepping.Run, "adjust", lambda run, elapsed: None)
    monkeypatch.setattr(streamed, "SECONDS", 0.0)
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "run.zarr"


@pytest.fixture
def polhode(monkeypatch, capsys):
    """Call the command; returns exit code, stdout and stderr."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["polhode", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


def stopped_at(path, after, meanwhile=lambda: None, **more):
    def tell(progress):
        if progress.done >= after:
            meanwhile()
            raise Stop

    words = {"step": 0.01, "steps": 100} | START | more
    with pytest.raises(Stop):
        ph.integrate(top(), "trapm", **words, store=ph.Store(path, checkpoint_seconds=0), progress=tell)


def test_of_a_run_that_goes_on_stops_and_is_over(often, path, polhode):
    found = []
    stopped_at(path, 50, lambda: found.append(status.status(path)))
    (running,) = found
    assert (running.state, running.steps, running.of, running.rows) == ("running", 56, 100, 57)
    assert (running.start, running.now, running.end) == (0.0, 0.56, 1.0) and running.share == pytest.approx(0.56)
    assert running.rows_safe == 57 and running.bytes > 1000 and running.bytes_per_row == running.bytes / 57
    assert running.left == pytest.approx(44 / running.steps_per_second)
    assert 0.0 < running.seconds < 56 / running.steps_per_second  # which took the writing, too
    stopped = status.status(path)
    assert (stopped.state, stopped.left, stopped.rows) == ("stopped", None, 57)
    code, out, err = polhode("info", "run.zarr")
    assert code == 0 and err == "" and out.startswith("heavy_top, trapm, step 0.01\n")
    assert "stopped: the run was at step 56 of 100 (t = 0.56)" in out and "polhode resume run.zarr" in out
    assert "56 %, t = 0 to 0.56, asked for up to 1\n" in out and "57, of which 57 are safe" in out
    ph.resume(path)
    progress = json.loads((path / "checkpoint.json").read_text())["progress"]
    assert progress["steps_before"] == 56 and progress["share_before"] == pytest.approx(0.56)
    told = json.loads(polhode("info", "run.zarr", "--json")[1])
    assert told["state"] == "complete" and told["rows"] == 101 and told["share"] == 1.0 and told["left"] is None
    assert Status(**told).to_json() == told
    assert "complete\n" in polhode("info", "run.zarr")[1]


@pytest.mark.parametrize("backwards", [False, True])
def test_rows_that_are_there_before_the_first_checkpoint(often, path, polhode, backwards):
    """As a run is seen in its first half minute, or one that was killed then."""
    span = {"steps": None, "t_end": -1.0} if backwards else {}
    stopped_at(path, 50, **span)
    file = path / "checkpoint.json"
    body = json.loads(file.read_text()) | {"rows": 0, "steps": 0, "state": None, "progress": {}}
    del body["sha256"]
    file.write_text(json.dumps(body | {"sha256": store._sealed(body)}))
    found = status.status(path)
    sign = -1.0 if backwards else 1.0
    assert (found.rows, found.rows_safe, found.start, found.end) == (57, 0, 0.0, sign)
    assert found.now == pytest.approx(0.56 * sign) and found.share == pytest.approx(0.56)
    code, out, _ = polhode("info", path)
    assert code == 0 and "?" not in out and "57, of which 0 are safe" in out
    times = path / "trajectory" / "time" / "c" / "0"
    times.unlink()  # as a full disk leaves it
    found = status.status(path)
    assert (found.rows, found.now, found.share) == (0, None, None)


def test_of_a_tolerance_and_backwards(often, path):
    more = {"steps": ph.Tolerance(1e-8), "start": {"time": 2.0}, "t_end": 0.0, "step": None} | START
    ph.integrate(top(), "mkrk:dp5", **more, store=path)
    found = status.status(path)
    assert (found.start, found.now, found.end, found.share, found.of) == (2.0, 0.0, 0.0, 1.0, None)


def test_of_a_run_that_has_failed_at_its_end(path, polhode):
    def jump(t, q, parameters):
        return np.inf if t > 0.505 else parameters[0]

    body = ph.rigid_body((1, 2, 2.5), potential=jump, parameters=[1e-9])
    with pytest.raises(ph.errors.UserFunctionError):
        ph.integrate(body, "v2/mr", step=0.01, steps=100, angular_velocity=(0.1, 0.2, 0.3), store=path)
    found = status.status(path)
    assert found.state == "failed" and "returned inf at t = 0.51" in found.told
    assert "failed: potential" in polhode("info", "run.zarr")[1]


def test_of_a_store_without_what_came_later(often, path):
    """Checkpoints of an earlier version tell no times, and there is no trajectory beside them."""
    stopped_at(path, 50)
    file = path / "checkpoint.json"
    body = json.loads(file.read_text())
    del body["sha256"], body["progress"]
    file.write_text(json.dumps(body | {"sha256": store._sealed(body)}))
    shutil.rmtree(path / "trajectory")
    found = status.status(path)
    assert (found.rows, found.share, found.end, found.title) == (57, None, 1.0, "heavy_top, trapm")
    with pytest.raises(ph.errors.FileProblem, match=r"is not written yet"):
        next(last_rows(path, 5))
    assert ph.resume(path).sizes["time"] == 101 and status.status(path).share == 1.0


def test_nothing_to_tell_of(path, polhode, tmp_path):
    for command in ("info", "tail"):
        code, _, err = polhode(command, "run.zarr")
        assert code == 5 and err == "polhode: there is no store 'run.zarr'; check the name\n"
        code, _, err = polhode(command, "run.nc")
        assert code == 3 and "must end in .zarr" in err
    ds = ph.integrate(top(), "trapm", step=0.01, steps=5, **START)
    ph.save(ds, path)
    assert polhode("info", "run.zarr")[2].endswith(
        "is not the live store of a run; polhode.load reads other trajectories\n"
    )


def test_the_last_rows(often, path, polhode):
    whole = ph.integrate(top(), "trapm", step=0.01, steps=100, **START)
    stopped_at(path, 50)
    code, out, err = polhode("tail", "run.zarr")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0 and err == "" and len(lines) == 6
    assert lines[0] == ["time", *(f"attitude.{k}" for k in "wxyz"), *(f"angular_velocity.{k}" for k in "xyz"),
                        "energy_error", "iterations"]  # fmt: skip
    assert [row[0] for row in lines[1:]] == ["0.52", "0.53", "0.54", "0.55", "0.56"]
    np.testing.assert_allclose(np.array(lines[-1][1:5], float), whole.attitude[56], rtol=1e-8)
    code, out, _ = polhode("tail", "run.zarr", "-n", 1, "--variables", "energy, angular_momentum_space", "--json")
    row = json.loads(out)
    assert row["time"] == 0.56 and row["energy"] == float(whole.energy[56])
    assert row["angular_momentum_space.z"] == float(whole.angular_momentum_space[56, 2])
    code, _, err = polhode("tail", "run.zarr", "--variables", "enrgy")
    assert code == 3 and "unknown variable 'enrgy'; did you mean 'energy' or" in err


def test_the_last_rows_of_several_bodies(path, polhode):
    two = ph.gravitating_bodies(mu=(1.0, 1e-3))
    ph.integrate(two, "rkn6_14a", step=0.01, steps=5, position=[(0, 0, 0), (1, 0, 0)],
                 velocity=[(0, 0, 0), (0, 1, 0)], store=path)  # fmt: skip
    names = polhode("tail", "run.zarr")[1].split("\n")[0].split()
    assert names[1:7] == [f"position[{body}].{axis}" for body in (0, 1) for axis in "xyz"]


def test_whoever_stops_a_run_all_its_rows_are_shown(often, path, monkeypatch, polhode):
    """Those that were computed since the last show are written when an exception ends the run."""
    monkeypatch.setattr(streamed, "SECONDS", 1e9)
    stopped_at(path, 50)
    assert ph.load(path, lazy=True).sizes["time"] == 57
    assert polhode("tail", "run.zarr", "-n", 1)[1].split("\n")[1].split()[0] == "0.56"


def test_rows_that_come_are_followed(path, polhode, monkeypatch):
    """Those of a run that is killed: where it is (test_store)."""
    for module, name, value in ((status, "LOOK_SECONDS", 0.02), (stepping, "SLICE_SECONDS", 0.0),
                                (streamed, "SECONDS", 0.0), (stepping, "FIRST_SLICE", 1000)):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(stepping.Run, "adjust", lambda run, elapsed: None)
    more = {"step": 1e-4, "steps": 30_000, "every": 100, "progress": lambda progress: time.sleep(0.02)} | START
    run = threading.Thread(target=lambda: ph.integrate(top(), "trapm", **more, store=ph.Store(path, 0.0)))
    run.start()
    deadline = time.monotonic() + 60
    while not (path / "trajectory" / "zarr.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    going = status.status(path).state
    code, out, err = polhode("tail", path, "--follow", "-n", "100000", "--variables", "energy")
    run.join()
    times = np.array([float(line.split()[0]) for line in out.splitlines()[1:]])
    assert code == 0 and err == "the run is complete\n" and going == "running"
    np.testing.assert_allclose(times, 0.01 * np.arange(301), rtol=0, atol=1e-9)  # each row once
