"""A Dataset that grows on disk: what others see of it at any time, and how it is read when it is large."""

from __future__ import annotations

import errno
import json
import pickle

import numpy as np
import pytest
import xarray as xr

from cover import crossed
from each import each
from polhode import durable
from polhode.trajectory import foreign, growing
from polhode.trajectory.growing import Growing, opened


def whole(n=100, sign=1.0):
    time = sign * np.linspace(0.0, 9.9, n)
    return xr.Dataset(
        {
            "attitude": (("time", "quaternion"), np.outer(np.sin(time), [1.0, 2.0, 3.0, 4.0]), {"units": "1"}),
            "energy": ("time", np.cos(time), {"long_name": "energy", "note": "of all"}),
            "iterations": ("time", np.arange(n)),
            "mass": ((), 2.5),
            "kinds": ("kind", np.array(["periapsis", "a", "Umläufe"])),
            "none": ("nothing", np.empty(0)),
        },
        {"time": ("time", time, {"units": "time"}), "quaternion": list("wxyz")},
        {"title": "a run", "steps": np.int64(7), "step": 0.1},
    )


def grown(folder, ds, pieces, **more):
    writer = Growing(folder, **more)
    for begin in range(0, ds.sizes["time"], pieces):
        writer.add(ds.isel(time=slice(begin, begin + pieces)))
    return writer


@each(("pieces", "buffer"), crossed([1, 7, 50], [1, 56 * 9, 10**6]))
def test_what_is_written_is_read(tmp_path, pieces, buffer):
    ds, folder = whole(50), tmp_path / "a.zarr"
    grown(folder, ds, pieces, buffer=buffer).show(ds.attrs, last=True)
    foreign.check_folder(folder)
    foreign.check_zarr(folder)
    back = opened(folder)
    assert not back.variables["energy"]._in_memory and back.identical(ds)
    assert back.quaternion.dtype.kind == "U" and back.attitude.sel(quaternion="x").equals(
        ds.attitude.sel(quaternion="x")
    )
    with xr.open_zarr(folder, decode_times=False) as other:  # as anybody opens it
        assert other.load().identical(ds)
    with xr.open_zarr(folder, decode_times=False, consolidated=False) as other:
        assert other.load().identical(ds)


def test_others_see_rows_that_are_shown_and_all_of_them(tmp_path):
    ds, folder = whole(), tmp_path / "a.zarr"
    writer = Growing(folder, buffer=56 * 9)
    seen = []
    for begin in range(0, 100, 25):
        writer.add(ds.isel(time=slice(begin, begin + 25)))
        if seen:
            assert opened(folder).sizes["time"] == begin  # not those that are not shown
        writer.show({"title": f"{begin}"})
        with xr.open_zarr(folder, decode_times=False) as other:
            seen.append(other)
            assert other.drop_attrs(deep=False).identical(ds.drop_attrs(deep=False).isel(time=slice(begin + 25)))
        assert opened(folder).attrs == {"title": f"{begin}"}
    early = opened(folder)
    assert [other.sizes["time"] for other in seen] == [25, 50, 75, 100]
    for other in seen:  # those that opened it early still read what they saw
        np.testing.assert_array_equal(other.energy, ds.energy[: other.sizes["time"]])
    # The same grows again, to fewer rows; who has opened the first one goes on reading.
    again = grown(folder, ds.isel(time=slice(55)), 11, buffer=56 * 9)
    np.testing.assert_array_equal(early.energy[:55], ds.energy[:55])
    again.show(ds.attrs, last=True)
    assert opened(folder).identical(ds.isel(time=slice(55)))
    assert len(list((folder / "energy" / "c").iterdir())) == -(-55 // again.chunk)


def test_nothing_but_variables(tmp_path):
    ds = whole().isel(time=slice(0))
    writer = Growing(tmp_path / "a.zarr")
    writer.add(ds)
    writer.show(ds.attrs, last=True)
    assert opened(tmp_path / "a.zarr").identical(ds)


def test_attributes_that_are_known_at_the_end_only(tmp_path):
    ds, folder = whole(), tmp_path / "a.zarr"
    writer = grown(folder, ds, 50)
    writer.nodes["energy"]["attributes"] = {"note": "of some"}
    writer.put(xr.Dataset({"kinds": ("kind", ["b"]), "event_time": ("event", [1.0, 2.0])}))
    writer.show({}, last=True)
    back = opened(folder)
    assert back.energy.attrs == {"note": "of some"} and back.kinds.values.tolist() == ["b"]
    assert back.event_time.values.tolist() == [1.0, 2.0] and back.attrs == {}


def test_a_full_disk_leaves_what_was_seen(tmp_path, monkeypatch):
    ds, folder = whole(), tmp_path / "a.zarr"
    writer = grown(folder, ds.isel(time=slice(40)), 10, buffer=56 * 9)
    writer.show(ds.attrs)
    written = []

    def full(file, data, real=durable.write):
        written.append(file)
        if len(written) > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, data)

    monkeypatch.setattr(durable, "write", full)
    with pytest.raises(OSError, match="No space left"):
        writer.add(ds.isel(time=slice(40, 100)))
    assert opened(folder).identical(ds.isel(time=slice(40)))
    monkeypatch.undo()  # room was made, and the run, which has failed, is closed
    writer.show(ds.attrs, last=True)
    left = opened(folder)
    assert 40 <= left.sizes["time"] < 60 and left.identical(ds.isel(time=slice(left.sizes["time"])))


def same(a, b):
    """Whether two Datasets are identical but for how rows are found."""
    a, b = (ds.drop_indexes("time") if "time" in ds.xindexes else ds for ds in (a, b))
    return a.identical(b)


@each("sign", [1.0, -1.0])
def test_a_long_coordinate_stays_on_disk(tmp_path, monkeypatch, sign):
    ds, folder = whole(sign=sign), tmp_path / "a.zarr"
    grown(folder, ds, 30, buffer=56 * 9).show(ds.attrs, last=True)
    monkeypatch.setattr(growing, "INDEXED", 20)
    back = opened(folder)
    assert not back.variables["time"]._in_memory and not isinstance(back.xindexes["time"], xr.indexes.PandasIndex)
    exact, between = float(ds.time[37]), sign * 3.14
    some = [exact, float(ds.time[3])]
    for at in (
        slice(sign * 2.0, sign * 5.05), slice(None, sign * 1.0), slice(sign * 3.0, None, 4), exact, some,
        xr.DataArray(some, dims="at"),
    ):  # fmt: skip
        assert same(back.sel(time=at), ds.sel(time=at))
    for method in ("nearest", "ffill", "bfill"):
        for at in (between, exact, [between, exact]):
            assert same(back.sel(time=at, method=method), ds.sel(time=at, method=method))
    for at, more in ((between, {}), (between, {"method": "nearest", "tolerance": 1e-6}), (-sign, {"method": None})):
        with pytest.raises(KeyError):
            back.sel(time=at, **more)
    assert not back.variables["time"]._in_memory
    assert same(pickle.loads(pickle.dumps(back)).sel(time=exact), ds.sel(time=exact))  # as another process gets it
    few = back.isel(time=slice(None, None, 10))
    assert few.identical(ds.isel(time=slice(None, None, 10)))  # with an index in memory
    many = back.isel(time=slice(10, 90))
    assert same(many.sel(time=exact), ds.sel(time=exact)) and (many.energy + many.energy).sizes["time"] == 80
    assert back.isel(time=[3, 5]).identical(ds.isel(time=[3, 5])) and back.isel(time=-1).identical(ds.isel(time=-1))
    assert same(back, ds)


def test_the_metadata_are_those_of_zarr(tmp_path):
    import zarr

    grown(tmp_path / "a.zarr", whole(), 30, buffer=56 * 9).show({}, last=True)
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    for name, array in group.arrays():
        assert json.loads((tmp_path / "a.zarr" / name / "zarr.json").read_text())["shape"] == list(array.shape)
    assert group["attitude"].chunks == (9, 4) and group["energy"].chunks == (9,)


def test_files_that_wait_are_synced(tmp_path, monkeypatch):
    """With all of their names, however many they are; they are whole before."""
    import os

    done = []
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(os.path.realpath(f"/proc/self/fd/{handle}")))
    monkeypatch.setattr(durable, "MANY", 3)
    disk = durable.Unsynced()
    for k in range(4):
        disk.write(tmp_path / "folder" / str(k), b"new")
        assert (tmp_path / "folder" / str(k)).read_bytes() == b"new"
        assert len(done) == (0 if k < 2 else 4)
    disk.sync()
    folder = os.path.realpath(tmp_path / "folder")
    assert sorted(done[:3]) == [f"{folder}/{k}" for k in range(3)] and done[3:] == [folder, f"{folder}/3", folder]
