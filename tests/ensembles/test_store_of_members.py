"""Members that go to disk as they are done are those of an ensemble in memory."""

from __future__ import annotations

import errno
import os
import signal
import tracemalloc

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from polhode import durable
from polhode.ensembles import ensemble as ensembles, store_of_members
from polhode.trajectory import growing


@pytest.fixture
def small(monkeypatch):
    """Blocks and chunks of a few members, which do not end together."""
    monkeypatch.setattr(store_of_members, "BUFFER", 20_000)
    monkeypatch.setattr(ensembles, "MOST_OF_BLOCK", 20_000)
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "members.zarr"


def spins(M, seed=0):
    return np.random.default_rng(seed).normal(size=(M, 3))


BODY = {"members": {"angular_velocity": spins(50), "inertia": np.array([1.0, 2.0, 2.5]) + spins(50, 1) * 0.01}}
RUNS = {
    "threads": (lambda: ph.free_body((1, 2, 2.5)), "v2/mr", BODY | {"step": 0.01, "steps": 20}),
    "lanes": (
        lambda: ph.heavy_top((1, 2, 2.5), (0, 0, 1), 2.0), "v2/mr",
        BODY | {"step": 0.01, "steps": 20, "engine": "lanes"},
    ),
    "a tolerance": (
        lambda: ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0), "mkrk:dp5",
        {"members": {"angular_velocity": spins(30)}, "steps": ph.Tolerance(1e-8), "t_end": 1.0,
         "t_eval": np.linspace(0.0, 1.0, 9)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", RUNS)
def test_the_members_are_those_in_memory(small, path, name, threads):
    system, method, more = RUNS[name]
    whole = ph.ensemble(system(), method, **more)
    ds = ph.ensemble(system(), method, **more, threads=threads, store=path)
    assert not ds.variables["attitude"]._in_memory and len(list((path / "attitude" / "c").iterdir())) > 2
    assert ds.identical(whole) and ds.encoding["seconds"] > 0.0
    with xr.open_zarr(path, decode_times=False) as other:
        assert other.load().identical(whole)


def test_members_that_fail(small, path):
    more = {"members": {"angular_velocity": [[0, 0.1, 0.2 + 3.0 * (k % 7 == 3)] for k in range(40)]}, "step": 1.0,
            "steps": 10}  # fmt: skip
    whole = ph.ensemble(ph.free_body((1, 2, 2.5)), "trapm", **more)
    assert 0 < (whole.status != 0).sum() < 40
    ds = ph.ensemble(ph.free_body((1, 2, 2.5)), "trapm", **more, store=path)
    assert ds.identical(whole) and ds.failure.dtype.kind == "U"


def test_ctrl_c_leaves_the_members_that_were_done(small, path):
    pressed = []

    def interrupt(progress):
        if progress.done >= 10 and not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    more = {"members": {"angular_velocity": spins(500)}, "step": 0.01, "steps": 20}
    whole = ph.ensemble(ph.free_body((1, 2, 2.5)), "v2/mr", **more)
    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(ph.errors.Interrupted, match=r"in .*members\.zarr") as told,
    ):
        patch.setattr(ensembles, "BLOCK_SECONDS", 0.0)
        ph.ensemble(ph.free_body((1, 2, 2.5)), "v2/mr", **more, threads=1, store=path, progress=interrupt)
    ds = told.value.trajectory
    done = ds.status.values == 0
    assert 10 <= done.sum() < 500 and (ds.status.values[~done] == -1).all()
    np.testing.assert_array_equal(ds.attitude[done], whole.attitude[done])
    assert np.isnan(ds.attitude[~done]).all() and ds.member.values.tolist() == list(range(500))


def test_what_is_refused(small, path):
    body, more = ph.free_body((1, 2, 2.5)), {"members": 3, "step": 0.01, "steps": 5}
    for words, told in (
        ({"store": path.with_suffix(".nc")}, r"must end in \.zarr"),
        ({"store": path, "reduce": {"energy": ["mean"]}}, "of which reduce keeps none"),
        ({"store": path, "events": [ph.events.user(lambda t, position, velocity, q, omega, parameters: q[0])]},
         "runs by themselves, with rows of their own"),
    ):  # fmt: skip
        with pytest.raises(ph.errors.InvalidInput, match=told):
            ph.ensemble(body, "v2/mr", **more, **words)
        assert not path.exists()
    ph.ensemble(body, "v2/mr", **more, store=path)
    with pytest.raises(ph.errors.FileProblem, match=r"exists already; name another store"):
        ph.ensemble(body, "v2/mr", **more, store=path)


def test_a_full_disk_is_one_sentence(small, path, monkeypatch):
    count = 0

    def full(file, data, real=durable.write):
        nonlocal count
        count += 1
        if count > 60:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, data)

    monkeypatch.setattr(durable, "write", full)
    with pytest.raises(ph.errors.FileProblem, match=r"^cannot write .*No space left on device; make room.*again$"):
        ph.ensemble(ph.free_body((1, 2, 2.5)), "v2/mr", **BODY, step=0.01, steps=20, store=path)
    assert not (path / "zarr.json").exists()  # no mark that all is written


def memory_of(members, store=None):
    """The largest memory in MB that objects and arrays took for so many members of 61 rows each."""
    tracemalloc.start()
    ds = ph.ensemble(ph.free_body((1, 2, 2.5)), "v2/mr", members={"angular_velocity": spins(members)}, step=0.01,
                     steps=60, threads=1, engine="threads", store=store)  # fmt: skip
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    assert ds.sizes["member"] == members and float(ds.energy[members - 1, 60]) > 0.0
    return most


def test_memory_does_not_grow_with_the_rows_of_members(tmp_path, monkeypatch):
    monkeypatch.setattr(ensembles, "BLOCK_SECONDS", 1e-2)  # blocks are small on any machine
    memory_of(300, tmp_path / "warm.zarr")
    few, many = memory_of(3_000, tmp_path / "few.zarr"), memory_of(10_000, tmp_path / "many.zarr")
    assert many < few + 20.0 and memory_of(10_000) > few + 80.0


def test_many_members_stay_on_disk(small, path, monkeypatch):
    monkeypatch.setattr(growing, "INDEXED", 20)
    ds = ph.ensemble(ph.free_body((1, 2, 2.5)), "v2/mr", **BODY, step=0.01, steps=20, store=path)
    whole = ph.ensemble(ph.free_body((1, 2, 2.5)), "v2/mr", **BODY, step=0.01, steps=20)
    assert ds.sel(member=37).energy.equals(whole.sel(member=37).energy)
    assert not ds.variables["failure"]._in_memory and not ds.variables["member"]._in_memory
