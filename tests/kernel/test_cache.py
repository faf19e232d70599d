"""The cache of compiled kernels is code: whose it must be, and what becomes of files that are not whole."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import random
import shutil
import signal
import stat
import sys
import textwrap
import threading
import time
import types
from math import atan2, hypot
from pathlib import Path

import pytest

import polhode as ph
from polhode.kernel import cache, jit, machine

try:
    import fcntl
except ImportError:
    fcntl = None
from polhode.kernel.signatures import f8

POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
KEY = bytes(range(32))
RUN = """
    import json
    import polhode as ph
    from polhode.kernel import drive
    from polhode.methods import method

    body, start = ph.free_body((1, 2, 2.5)), (0.1, 0.2, 0.3)
    ds = ph.integrate(body, "forward_euler_m", step=0.01, steps=5, angular_velocity=start)
    loop = drive.loop_for(method("forward_euler_m").prepare().step, None)
    print(json.dumps([ds.angular_momentum.values[-1].tolist(), int(loop.loaded)]))
"""


def wrecked(whole, rng):
    """The content of a file after one mishap: a bit flipped, a block zeroed or swapped with another, the end lost."""
    content, n = bytearray(whole), len(whole)
    at, size = rng.randrange(n), rng.choice((1, 16, 512, 4096))
    match rng.choice(("flip", "zero", "swap", "cut", "grow")):
        case "flip":
            content[at] ^= 1 << rng.randrange(8)
        case "zero":
            content[at : at + size] = bytes(len(content[at : at + size]))
        case "swap":
            other = rng.randrange(n)
            a, b = content[at : at + size], content[other : other + size]
            content[at : at + len(b)], content[other : other + len(a)] = b, a
            content = content[:n]
        case "cut":
            del content[at:]
        case "grow":
            content += bytes(size)
    return bytes(content)


# ------------------------------------------------------------------ files
def test_a_file_is_opened_only_whole_and_in_its_place(tmp_path):
    path, content = tmp_path / "a.kernel", random.Random(1).randbytes(9000)
    assert cache.opened(path, KEY) is None
    cache.write_sealed(path, KEY, content)
    assert cache.opened(path, KEY) == content
    assert cache.opened(path, KEY[::-1]) is None  # the file of another kernel, renamed
    whole, rng, mishaps = path.read_bytes(), random.Random(2), 0
    for _ in range(300):
        torn = wrecked(whole, rng)
        path.write_bytes(torn)
        if torn == whole:
            continue
        mishaps += 1
        assert cache.opened(path, KEY) is None
    assert mishaps > 250
    cache.write_sealed(path, KEY, content)
    assert cache.opened(path, KEY) == content
    assert [p.name for p in tmp_path.iterdir()] == ["a.kernel"]


@POSIX
def test_a_file_that_others_could_write_is_not_opened(tmp_path):
    path = tmp_path / "a.kernel"
    cache.write_sealed(path, KEY, b"code")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for mode in (0o620, 0o602):
        path.chmod(mode)
        assert cache.opened(path, KEY) is None
    path.chmod(0o644)
    assert cache.opened(path, KEY) == b"code"
    (tmp_path / "link.kernel").symlink_to(path)
    assert cache.opened(tmp_path / "link.kernel", KEY) is None


def test_a_write_that_fails_leaves_the_file_before(tmp_path, monkeypatch):
    path = tmp_path / "a.kernel"
    cache.write_sealed(path, KEY, b"before")
    for refusal in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def refuse(*_, refusal=refusal):
            raise refusal

        with monkeypatch.context() as patch:
            patch.setattr(cache.os, "replace", refuse)
            with pytest.raises(type(refusal)):
                cache.write_sealed(path, KEY, b"after")
        assert cache.opened(path, KEY) == b"before" and len(list(tmp_path.iterdir())) == 1


WRITER = """
    import json, sys
    from pathlib import Path
    from polhode.kernel import cache
    path, key = Path({path!r}), bytes(range(32))
    content = bytes([{k}]) * 300_000
    seen = 0
    for _ in range(60):
        cache.write_sealed(path, key, content)
        found = cache.opened(path, key)
        assert found is not None and len(set(bytes(found))) == 1 and len(found) == 300_000
        seen += found[0] != {k}
    print(json.dumps(seen))
"""


def test_two_processes_write_one_file(forked, tmp_path):
    path = str(tmp_path / "a.kernel")
    for one in [forked.start(WRITER.format(path=path, k=k)) for k in (1, 2)]:
        one.answer()
    assert [p.name for p in tmp_path.iterdir()] == ["a.kernel"]


def kernels(folder):
    return sorted(Path(folder).rglob("*.kernel"))


def angle(x, y):
    return atan2(y, x) + hypot(x, y)


@pytest.mark.skipif(jit.disabled(), reason="about compiled kernels")
def test_torn_files_are_compiled_again(tmp_path, monkeypatch):
    def made():
        jit._compiled_kernel.cache_clear()  # as another process would
        return jit.compile_kernel(angle, f8(f8, f8))

    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    cache.cache_folder.cache_clear()
    try:
        kernel = made()
        (file,) = kernels(tmp_path)
        whole, rng = file.read_bytes(), random.Random(3)
        again = made()
        assert again.loaded and again(3.0, 4.0) == kernel(3.0, 4.0) == angle(3.0, 4.0)
        two_hours_ago = file.stat().st_mtime - 7200.0
        os.utime(file, (two_hours_ago, two_hours_ago))
        assert made().loaded and file.stat().st_mtime > two_hours_ago + 3600.0  # what is used is kept
        for _ in range(12):
            torn = wrecked(whole, rng)
            file.write_bytes(torn)
            again = made()
            assert again.loaded == (torn == whole) and again(3.0, 4.0) == angle(3.0, 4.0)
            assert made().loaded  # it was written again
    finally:
        cache.cache_folder.cache_clear()


@pytest.mark.skipif(jit.disabled(), reason="about compiled kernels")
def test_another_processor_setting_or_compiler_has_kernels_of_its_own(tmp_path, monkeypatch):
    import llvmlite.binding as llvm

    def kernels_known_by():
        cache.digest.cache_clear(), machine.processor.cache_clear()
        return cache.digest(), machine.processor()

    found, changes = [kernels_known_by()], []
    monkeypatch.chdir(tmp_path)
    for package in ("numba", "llvmlite"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "_version.py").write_text("version = '99'")
        origin = types.SimpleNamespace(origin=str(tmp_path / package / "__init__.py"))
        real = importlib.util.find_spec
        changes.append((importlib.util, "find_spec", lambda n, p=package, o=origin, r=real: o if n == p else r(n)))
    changes += [(llvm, "get_host_cpu_name", lambda: "z80"), (llvm, "get_process_triple", lambda: "z80-unknown")]
    changes += [(llvm, "get_host_cpu_features", lambda: types.SimpleNamespace(flatten=lambda: "+none"))]
    for change in changes:
        with monkeypatch.context() as patch:
            patch.setattr(*change)
            found.append(kernels_known_by())
    for name in machine.SETTINGS:
        with monkeypatch.context() as patch:
            patch.setenv(f"NUMBA_{name}", "7")
            found.append(kernels_known_by())
    (tmp_path / ".numba_config.yaml").write_text("opt: 1")
    found.append(kernels_known_by())
    assert len(set(found)) == len(found)
    (tmp_path / ".numba_config.yaml").unlink()
    assert kernels_known_by() == found[0]


@pytest.mark.skipif(jit.disabled(), reason="about compiled kernels")
def test_code_that_calls_what_is_nowhere_is_not_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    cache.cache_folder.cache_clear()
    try:
        jit._compiled_kernel.cache_clear()
        jit.compile_kernel(angle, f8(f8, f8))
        (file,) = kernels(tmp_path)
        options = machine.OPTIONS_OF_KERNELS | {"compiler": jit.compiler()}
        kept_at = cache.place_of(angle, f8(f8, f8), options)
        assert kept_at[0] == file
        code, needs, *rest = pickle.loads(cache.opened(*kept_at))
        assert "atan2" in needs and cache.kernel_in(kept_at, angle)(3.0, 4.0) == angle(3.0, 4.0)
        for nowhere in ("atan2_of_nobody", "polhode_object_of_nobody"):
            cache.save(kept_at, (code, [*needs, nowhere], *rest))
            assert cache.kernel_in(kept_at, angle) is None
    finally:
        cache.cache_folder.cache_clear()


def test_files_that_are_not_used_go(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "KEPT_FILES", 10)
    for k in range(11):
        path = tmp_path / f"{k}0.kernel"
        path.touch()
        os.utime(path, (k, 100.0 - k))
        cache.prune(tmp_path / "11.kernel")  # of which nobody looks
        assert len(list(tmp_path.iterdir())) == k + 1
        cache.prune(path)
        assert len(list(tmp_path.iterdir())) == (k + 1 if k < 10 else 8)
    assert {path.stem for path in tmp_path.iterdir()} == {f"{k}0" for k in range(8)}  # the newest


# ------------------------------------------------------------------ one process at a time
TOGETHER = """
    import json, sys, time
    from pathlib import Path
    from polhode.kernel import cache, jit
    from polhode.kernel.signatures import LOADS
    from polhode.systems.loads_roles import no_loads

    here = Path({here!r})
    (here / "ready{k}").touch()
    while len(list(here.glob("ready*"))) < 2:
        time.sleep(0.01)
    done = []
    cache.listeners.append(done.append)
    jit.compile_kernel(no_loads, LOADS)
    print(json.dumps(no_loads in done))
"""


@pytest.mark.skipif(jit.disabled() or fcntl is None, reason="nothing is compiled, or no locks")
def test_two_processes_compile_a_kernel_once(forked, tmp_path):
    codes = [TOGETHER.format(here=str(tmp_path), k=k) for k in (1, 2)]
    both = [forked.start(code, POLHODE_CACHE_DIR=str(tmp_path / "cache")) for code in codes]
    assert sorted(one.answer() for one in both) == [False, True]
    assert [path.suffix for path in (tmp_path / "cache" / cache.digest()).iterdir()] == [".kernel"]


WARM = """
    import json
    import numpy as np
    import polhode as ph
    from numba.core.runtime import rtsys
    from polhode.kernel import jit
    from polhode.kernel.signatures import LOADS, f8

    def total(x):
        return x[0] + x[1]

    def loads(part, t, N, y, bodies, parameters, out):
        out[0] = {factor} * y[0]

    whole = jit.compile_kernel(total, "f8(f8[::1])")(np.array([1.5, 2.0]))
    after_arrays = rtsys._init
    jit.compile_kernel(loads, LOADS)
    body = ph.rigid_body((1, 2, 2.5))
    ds = ph.integrate(body, "forward_euler_m", step=0.01, steps=3, angular_velocity=(0.1, 0.2, 0.3))
    print(json.dumps([whole, ds.angular_momentum.values[-1].tolist(), after_arrays]))
"""


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
def test_kernels_need_no_memory_functions(forked, tmp_path):
    """Numba's functions of memory take 20 ms to compile, in every process."""
    found, file = [], tmp_path / "warm.py"
    for factor in (0.5, 0.75):  # the second loads all but a role, which it compiles
        file.write_text(textwrap.dedent(WARM.format(factor=factor)))
        code = f"import runpy; runpy.run_path({str(file)!r})"
        found.append(forked(code, POLHODE_CACHE_DIR=str(tmp_path / "cache")))
    assert found[0][:2] == found[1][:2] and found[0][0] == 3.5
    assert found[0][2] is found[1][2] is False


LOCKED = pytest.mark.skipif(fcntl is None, reason="no locks on this platform")
OWNER = """
    import signal, time
    from pathlib import Path
    from polhode.kernel import cache
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with cache.alone(Path({path!r})):
        print("mine", flush=True)
        time.sleep(600)
"""


@pytest.fixture
def owner(forked, tmp_path):
    """A process that goes on making a file for ever, and the file."""
    path = tmp_path / "a.kernel"
    process = forked.start(OWNER.format(path=str(path)))
    while not process.told():
        time.sleep(0.01)
    yield process, path
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
        process.end()


@pytest.fixture
def taken(tmp_path):
    """A file that is being made for as long as the test lasts, by a thread: to locks of files one is as another."""
    path, begun, end = tmp_path / "a.kernel", threading.Event(), threading.Event()

    def make():
        with cache.alone(path):
            begun.set()
            end.wait(60)

    thread = threading.Thread(target=make)
    thread.start()
    assert begun.wait(60)
    yield path
    end.set()
    thread.join()


@LOCKED
def test_a_file_that_is_there_is_not_waited_for(taken):
    taken.touch()
    with cache.alone(taken):
        pass
    assert taken.with_suffix(".lock").exists()  # another's


@LOCKED
def test_one_that_waits_is_not_kept_for_ever(taken, monkeypatch):
    monkeypatch.setattr(cache, "PATIENCE", 0.2)
    with cache.alone(taken):
        pass
    assert taken.with_suffix(".lock").exists()


@LOCKED
def test_who_waits_is_told_that_kernels_are_compiled(taken, monkeypatch):
    monkeypatch.setattr(cache, "PATIENCE", 0.2)
    told = []
    with jit.watched(lambda: told.append("compiling")), cache.alone(taken):
        pass
    assert told == ["compiling"]


@LOCKED
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT] if os.name == "posix" else [])
def test_an_owner_that_is_gone_keeps_nobody(owner, end):
    process, path = owner
    waits = []

    def ask():
        with cache.alone(path):
            waits.append(path.exists())

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()
    os.kill(process.pid, end)
    assert process.end()[0] == (-end if end == signal.SIGKILL else 1)
    thread.join(60)
    assert not thread.is_alive() and len(waits) == 1
    assert list(path.parent.iterdir()) == []


@LOCKED
def test_ctrl_c_while_it_waits(taken, monkeypatch):
    def pressed(seconds):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cache.time, "sleep", pressed)
        with pytest.raises(KeyboardInterrupt), cache.alone(taken):
            raise AssertionError("entered")
    with pytest.raises(KeyboardInterrupt), cache.alone(taken.with_name("b.kernel")):
        raise KeyboardInterrupt
    with cache.alone(taken.with_name("b.kernel")):  # it was let go
        assert len(list(taken.parent.iterdir())) == 2
    assert [p.name for p in taken.parent.iterdir()] == ["a.lock"]


@LOCKED
def test_places_without_locks(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(37, "No locks available")

    path = tmp_path / "a.kernel"
    for broken in ("flock", None):
        with monkeypatch.context() as patch:
            if broken:
                patch.setattr(fcntl, broken, refuse)
            else:
                patch.setitem(sys.modules, "fcntl", None)
            with cache.alone(path):
                pass
    with cache.alone(tmp_path / "missing" / "a.kernel"):  # nothing can be written
        pass


@pytest.mark.full
def test_every_file_of_a_run(forked, tmp_path):
    """As flipped, zeroed and shortened files once ended in SIGSEGV, SIGABRT and UnicodeDecodeError."""
    numbers, hits = forked(RUN, POLHODE_CACHE_DIR=str(tmp_path / "whole"))
    assert hits == 0
    rng = random.Random(4)
    for k in range(40):
        torn = tmp_path / str(k)
        shutil.copytree(tmp_path / "whole", torn)
        for file in rng.sample(kernels(torn), 2):
            file.write_bytes(wrecked(file.read_bytes(), rng))
        assert forked(RUN, POLHODE_CACHE_DIR=str(torn))[0] == numbers


# ------------------------------------------------------------------ the folder
def folder_of(monkeypatch, chosen=None, default=None):
    """The cache folder, found anew."""
    monkeypatch.setattr("sys.platform", "linux")
    if chosen:
        monkeypatch.setenv("POLHODE_CACHE_DIR", str(chosen))
    else:
        monkeypatch.delenv("POLHODE_CACHE_DIR", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(default))
    return cache.cache_folder.__wrapped__()


def test_the_folder_is_closed_to_others(tmp_path, monkeypatch):
    before = os.umask(0)
    try:
        folder = folder_of(monkeypatch, tmp_path / "deep" / "mine")
    finally:
        os.umask(before)
    assert folder == tmp_path / "deep" / "mine" / cache.digest()
    if os.name == "posix":
        assert {stat.S_IMODE(place.stat().st_mode) for place in (folder, folder.parent)} == {0o700}


def open_to_others(root):
    (root / cache.digest()).mkdir(parents=True)
    (root / cache.digest()).chmod(0o777)
    return "others may write to"


def planted_link(root):
    (root / "elsewhere").mkdir(parents=True)
    (root / cache.digest()).symlink_to("elsewhere")
    return "is a link"


def of_another(root):
    (root / cache.digest()).mkdir(parents=True)
    return "belongs to another user"


@POSIX
@pytest.mark.parametrize("make", [open_to_others, planted_link, of_another])
def test_a_folder_that_is_not_ours(tmp_path, monkeypatch, make):
    root = tmp_path / "polhode"
    told = make(root)
    if make is of_another:
        me = os.geteuid()
        monkeypatch.setattr(cache, "user", lambda: me + 1)
    with pytest.raises(ph.errors.FileProblem, match=f"{told}.*run as code.*remove it.*set POLHODE_CACHE_DIR") as caught:
        folder_of(monkeypatch, chosen=root)
    assert caught.value.exit_code == 5
    with pytest.warns(UserWarning, match=f"{told}.*compiled in every process"):
        folder = folder_of(monkeypatch, default=tmp_path)
    assert folder.name.startswith("polhode-") and stat.S_IMODE(folder.stat().st_mode) == 0o700


@POSIX
def test_a_folder_in_a_folder_of_all(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)  # as /tmp: nobody renames what is another's
    assert folder_of(monkeypatch, chosen=shared).parent == shared
    shared.chmod(0o777)
    with pytest.raises(ph.errors.FileProblem, match="others may write to"):
        folder_of(monkeypatch, chosen=shared)
    assert folder_of(monkeypatch, chosen=shared / "mine").parent == shared / "mine"
    old = tmp_path / "polhode"
    old.mkdir()
    old.chmod(0o775)  # the default place, made by an earlier version
    assert folder_of(monkeypatch, default=tmp_path).parent == old
    assert stat.S_IMODE(old.stat().st_mode) == 0o700


@POSIX
def test_what_was_planted_is_not_run(forked, tmp_path):
    """Files as an attacker would leave them, where the index of another version was found and unpickled."""
    import pickle

    class Planted:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    root = tmp_path / "cache"
    (root / cache.digest()).mkdir(parents=True)
    (root / cache.digest()).chmod(0o777)
    (root / cache.digest() / "march.kernel").write_bytes(pickle.dumps(Planted()))
    code = "import polhode as ph; ph.integrate(ph.free_body((1, 2, 3)), 'trapm', step=0.1, steps=1)"
    status, said = forked.start(code, POLHODE_CACHE_DIR=str(root)).end()
    assert status == 1 and "FileProblem: others may write to the cache" in said
    assert not (tmp_path / "executed").exists()
