"""What differs between operating systems, with each of them pretended; and runs where what only Unix has is missing."""

import os
import sys
import webbrowser
from pathlib import Path

import pytest

import polhode as ph
from polhode import durable, operating_system as here
from polhode.cli import doctor
from polhode.ensembles import cuda
from polhode.errors import InvalidInput
from polhode.kernel import lane_drive, machine
from polhode.runs import store

OF_UNIX = {"fcntl", "resource", "pwd", "grp", "termios"}


def without(monkeypatch, *names):
    """Modules, and functions of ``os``, that are not there."""
    for name in names:
        if name in OF_UNIX:
            monkeypatch.setitem(sys.modules, name, None)
        else:
            monkeypatch.delattr(os, name, raising=False)


def test_files_have_no_owners_everywhere(tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    assert here.user() is None or not here.is_ours(tmp_path.stat())
    without(monkeypatch, "geteuid")
    assert here.user() is None and here.is_ours(tmp_path.stat())


def test_locks(tmp_path, monkeypatch):
    pytest.importorskip("fcntl")
    handle = here.lock(tmp_path, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        here.lock(tmp_path, os.O_RDONLY, shared=True)
    assert store.in_use(tmp_path)
    here.unlock(handle)
    assert not store.in_use(tmp_path)
    shared = [here.lock(tmp_path, os.O_RDONLY, shared=True) for _ in range(2)]
    with pytest.raises(BlockingIOError):
        here.lock(tmp_path, os.O_RDONLY)
    for one in shared:
        here.unlock(one)
    without(monkeypatch, "fcntl")
    with pytest.raises(OSError, match="files have no locks here"):
        here.lock(tmp_path, os.O_RDONLY)
    assert not store.in_use(tmp_path)


def test_folders_cannot_be_opened_everywhere(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    here.sync_folder(tmp_path)
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError):
        here.sync_folder(tmp_path)
    without(monkeypatch, "geteuid")
    here.sync_folder(tmp_path)
    durable.write_durably(tmp_path / "a", b"1")
    assert (tmp_path / "a").read_bytes() == b"1"


def test_memory_and_processors(monkeypatch):
    assert 1 << 20 < here.memory_allowed() <= here.memory()
    assert 1 <= here.processors() <= os.cpu_count()
    without(monkeypatch, "resource", "sysconf", "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert here.processors() == 1
    here.memory.cache_clear()
    assert 1 << 20 < here.memory_allowed() == here.memory() <= 16 << 30
    here.memory.cache_clear()
    with pytest.raises(InvalidInput, match="more than the memory"):
        ph.arguments.room_for(1e12, "n")


@pytest.mark.parametrize(("system", "found"), [("win32", "nvcuda.dll"), ("linux", "libcuda.so.1")])
def test_the_driver_of_devices(monkeypatch, system, found):
    monkeypatch.setattr(sys, "platform", system)
    asked = []
    monkeypatch.setattr(cuda.ctypes, "CDLL", asked.append)
    cuda.driver.__wrapped__()
    assert asked == [found]


def test_pages_are_shown_where_there_is_a_screen(tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    shown = []
    monkeypatch.setattr(webbrowser, "open", lambda page: bool(shown.append(page)))
    for system, screen in (("linux", False), ("darwin", True), ("win32", True)):
        monkeypatch.setattr(sys, "platform", system)
        assert here.has_display() is screen
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert here.has_display()
    monkeypatch.chdir(tmp_path)
    assert not here.show_page(Path("a.html")) and shown == [(tmp_path / "a.html").as_uri()]


# ------------------------------------------------------------------ processors
def test_a_processor_that_llvm_does_not_know(monkeypatch):
    def refuse():
        raise RuntimeError("no features are known")

    monkeypatch.setattr(machine.llvm, "get_host_cpu_features", refuse)
    assert dict(machine.features()) == {} and machine.features().flatten() == ""
    assert repr("") in machine.processor.__wrapped__()
    assert [lane_drive.lane_width.__wrapped__(series) for series in (False, True)] == [8, 4]


@pytest.mark.parametrize(("known", "width", "doubles"), [
    ({"avx512f": True, "avx": True}, 16, 8), ({"avx": True}, 8, 4), ({"neon": True}, 8, 2), ({}, 8, 2),
])  # fmt: skip
def test_lanes_follow_the_registers(monkeypatch, known, width, doubles):
    monkeypatch.setattr(machine.llvm, "get_host_cpu_features", lambda: known)
    monkeypatch.setattr(lane_drive, "lane_width", lane_drive.lane_width.__wrapped__)
    assert doctor.simd([]) == {"doubles": doubles, "members": width}


# ------------------------------------------------------------------ a whole run
def test_runs_need_nothing_that_unix_alone_has(tmp_path, forked):
    """A process in which it is all missing: a kernel that is compiled or loaded, a store, its resumption, members,
    files, a page."""
    code = f"""
    import os, sys
    os.chdir({str(tmp_path)!r})
    for name in {sorted(OF_UNIX)}:
        sys.modules[name] = None
    for name in ("geteuid", "getuid", "sched_getaffinity", "sysconf", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY"):
        vars(os).pop(name, None)
    import json
    import polhode as ph
    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    words = dict(step=0.01, t_end=0.2, angular_velocity=(0.1, 0, 20))
    ds = ph.integrate(top, "v2", store="run.zarr", **words).load()
    again = ph.resume("run.zarr").load()
    many = ph.ensemble(top, "v2", members={{"weight": [20.0, 21.0]}}, threads=1, **words)
    ph.trajectory.save(ds, "run.nc")
    ph.view("run.nc").save("run.html")
    assert (again.attitude == ds.attitude).all() and (ph.load("run.nc").attitude == ds.attitude).all()
    print(json.dumps([ds.attitude.values[-1].tolist(), many.attitude.values[0, -1].tolist()]))
    """
    run = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    found = forked(code)
    ds = ph.integrate(run, "v2", step=0.01, t_end=0.2, angular_velocity=(0.1, 0, 20))
    assert found[0] == ds.attitude.values[-1].tolist() == pytest.approx(found[1], abs=1e-13)
