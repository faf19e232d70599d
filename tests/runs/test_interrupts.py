"""Ctrl-C at any moment: exit code 130, nothing half written, and nothing broken for what is run next."""

from __future__ import annotations

import os
import random
import re
import signal
import time

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.kernel import cache
from polhode.kernel.interrupts import held, never_lost

SCENARIO = """\
problem = "krysl_fast_top"
method = "forward_euler_m"
[run]
step = 0.001
t_end = 0.1
"""


def press():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.001)


# ------------------------------------------------------------------ blocks
def test_held_until_the_end():
    before, done = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), held():
        press()
        done.append("whole")
    assert done == ["whole"] and signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt), held():
        press()
        press()
        done.append("a second one waits for nothing")
    assert done == ["whole"]
    with pytest.raises(KeyboardInterrupt), held():  # whatever else went wrong
        press()
        raise ValueError
    with pytest.raises(KeyboardInterrupt), held(always=True):
        press()
        press()
        done.append("waited for")
    assert done == ["whole", "waited for"]
    with held():
        pass


@each("other", [None, RuntimeError("a symbol is missing"), SystemExit(0)], ids=str)
def test_never_lost(other):
    with pytest.raises(KeyboardInterrupt), never_lost():
        try:
            press()
        except KeyboardInterrupt:  # what a callback of compiled code does
            if other is not None:
                raise other from None
    with pytest.raises(ph.errors.Interrupted, match="in so many words"), never_lost():
        try:
            press()
        except KeyboardInterrupt:
            raise ph.errors.Interrupted("in so many words") from None


def test_what_ctrl_c_does_not_concern():
    """A process in the background ignores Ctrl-C, and goes on doing so."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for block in (held, never_lost):
            with block():
                assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
                press()
        ds = ph.integrate(ph.free_body((1, 2, 3)), "trapm", step=0.1, steps=1, progress=lambda state: press())
        assert ds.attrs["steps"] == 1
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_press_when_the_run_is_over(monkeypatch):
    """It is told, with all of the trajectory."""
    from polhode.runs import integrate

    whole = ph.integrate(ph.free_body((1, 2, 3)), "trapm", step=0.1, steps=3, angular_velocity=(1, 2, 3))
    finish = integrate.finish
    monkeypatch.setattr(integrate, "finish", lambda *words: (press(), finish(*words))[1])
    with pytest.raises(ph.errors.Interrupted, match="when the run was over") as caught:
        ph.integrate(ph.free_body((1, 2, 3)), "trapm", step=0.1, steps=3, angular_velocity=(1, 2, 3))
    assert caught.value.trajectory.identical(whole)


# ------------------------------------------------------------------ while it compiles
SHELL = """
import atexit, os, sys
os.chdir({folder!r})
sys.argv = {words!r}
from polhode.cli import main
try:
    main()
    code = 0
except SystemExit as ended:
    code = ended.code or 0
atexit._run_exitfuncs()
sys.stdout.flush()
os._exit(code)
"""


def interrupted(forked, folder, seconds, *words):
    """Run a scenario on a cold cache, press Ctrl-C so long after its first words, and see what is left."""
    folder.mkdir()
    (folder / "top.toml").write_text(SCENARIO)
    place = folder / "cache"
    code = SHELL.format(folder=str(folder), words=["polhode", *words, "top.toml"])
    run, deadline = forked.start(code, POLHODE_CACHE_DIR=str(place)), time.monotonic() + 120
    while "\n" not in (first := run.told("err")) and time.monotonic() < deadline:
        time.sleep(0.002)
    assert "compil" in first or "reference" in first
    time.sleep(seconds)
    os.kill(run.pid, signal.SIGINT)
    code, said = run.end()
    left = {path.name for path in folder.iterdir()} - {"top.toml", "cache"}
    # Once the interpreter shuts down, Ctrl-C is the system's again: then all has been written and told.
    over = code in (0, -signal.SIGINT) and re.search("written(:|  )", said)
    if not over:
        assert code == 130, said
        assert said.splitlines()[-1].startswith("polhode: interrupted"), said
    assert not {name for name in left if name.startswith(".")}
    files = [path for path in place.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert {path.suffix for path in files} <= {".kernel", ".py"}  # kernels, and the texts of programs
    for path in files:
        content = path.read_bytes()
        whole = content.startswith(cache.FORMAT) and len(content) > 1000
        assert whole if path.suffix == ".kernel" else compile(content, path.name, "exec")
    return left, said


@pytest.mark.full
@pytest.mark.parametrize("seconds", [0.0, 0.4, 1.5])
def test_exit_code_while_compiling(forked, tmp_path, seconds):
    """Or while it runs, or when all is done: what is left is told."""
    left, said = interrupted(forked, tmp_path / "here", seconds, "run", "--no-picture")
    assert not left or any(words in said for words in ("when the run was over", "rows up to", "written  "))


def test_a_store_of_which_nothing_was_computed_goes(forked, tmp_path):
    left, said = interrupted(forked, tmp_path / "here", 0.2, "run", "--no-picture", "--store", "run.zarr")
    assert left == set() or "rows up to" in said


@pytest.mark.full
def test_many_moments(forked, tmp_path):
    rng = random.Random(5)
    for k in range(60):
        words = rng.choice((["run"], ["run", "--store", "run.zarr"], ["compare", "--methods", "forward_euler_m"]))
        left, said = interrupted(forked, tmp_path / str(k), rng.uniform(0.0, 8.0), *words)
        assert not left & {"run.zarr"} or any(words in said for words in ("rows up to", "written"))


RETRIED = """
    import _thread, importlib, json, pkgutil, random, threading
    import polhode as ph

    for module in pkgutil.walk_packages(ph.__path__, "polhode."):  # what is half imported Python itself leaves broken
        if "__main__" not in module.name:
            importlib.import_module(module.name)

    rng, presses, k = random.Random({seed}), 0, 0
    start = dict(step=0.01, steps=20, angular_velocity=(0.1, 0.2, 0.3))
    while True:
        timer = threading.Timer(rng.uniform(0.0, 0.1) * 1.2**k, _thread.interrupt_main)
        timer.start()
        try:
            ds = ph.integrate(ph.free_body((1, 2, 2.5)), "{method}", **start)
            timer.cancel()
            break
        except (KeyboardInterrupt, ph.errors.Interrupted):
            presses += 1
        k += 1
    print(json.dumps([presses, ds.angular_momentum.values.tolist()]))
"""


@pytest.mark.full
@pytest.mark.parametrize("method", ["forward_euler_m", "trapm"])
def test_a_session_goes_on_after_interrupted_compilations(python, tmp_path, method):
    """In one process: what an interrupted compilation left behind must not break the next."""
    start = {"step": 0.01, "steps": 20, "angular_velocity": (0.1, 0.2, 0.3)}
    whole = ph.integrate(ph.free_body((1, 2, 2.5)), method, **start).angular_momentum.values
    for seed in range(4):
        presses, found = python(RETRIED.format(seed=seed, method=method), POLHODE_CACHE_DIR=str(tmp_path / str(seed)))
        assert presses > 0
        np.testing.assert_array_equal(found, whole)
