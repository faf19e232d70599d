"""What every test shares: a folder for compiled kernels that is not the user's, and fresh Python processes."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from each import tables_kept
from forks import Forks

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(config, items):
    """Long forms, and what needs a whole study, run only where they are asked for: ``-m full``, ``-m papers``, or by a
    name after ``::``."""
    for item in items:
        if item.path.parent.name == "studies" and "quick" in item.fixturenames:
            item.add_marker(pytest.mark.papers)
    out = {"full", "papers"} - {*re.findall(r"\w+", config.getoption("markexpr"))}
    if any("::" in one for one in config.args):
        return
    long = [item for item in items if any(item.get_closest_marker(name) for name in out)]
    left = {*long}
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=long)


def pytest_ignore_collect(collection_path, config):
    """Of files none of whose tests is quick, not even the names are asked for by ``-m quick``."""
    if config.getoption("markexpr") == "quick" and collection_path.name.startswith("test_"):
        return True if "mark.quick" not in collection_path.read_text(encoding="utf-8") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Each worker begins with other files than the rest: what one has translated, which takes ten seconds for all of
    them, the others find."""
    config, folder = session.config, Path(__file__).parent
    here = getattr(config, "workerinput", None)
    if here is None or [Path(one).resolve() for one in config.args] != [folder] or config.getoption("markexpr"):
        return
    for file in sorted(folder.rglob("test_*.py"))[int(here["workerid"].removeprefix("gw")) :: here["workercount"]]:
        sys.path[:0] = {str(file.parent)} - {*sys.path}
        with contextlib.suppress(Exception, pytest.skip.Exception):  # told when its tests are asked for
            importlib.import_module(file.stem)


def pytest_sessionstart(session):
    """Before the first dot: how long it takes, and that there is more."""
    if not hasattr(session.config, "workerinput") and session.config.args == session.config.getini("testpaths"):
        print("about 5 minutes on two processors the first time; long forms: -m full, a short one: -m quick")


def _processor_seconds():
    """Of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """What a test costs is told with its end, also by the workers of xdist."""
    begun = _processor_seconds()
    item.user_properties.append(("begun", begun))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "teardown":
        report.user_properties = [("cost", _processor_seconds() - dict(item.user_properties)["begun"])]
    return report


def pytest_terminal_summary(terminalreporter):
    """With ``POLHODE_COSTS`` set: the files that cost most, in seconds of a processor."""
    if "POLHODE_COSTS" not in os.environ:
        return
    costs = {}
    for report in terminalreporter.stats.get("", []):
        if report.when == "teardown":
            file = report.nodeid.partition("::")[0]
            costs[file] = costs.get(file, 0.0) + dict(report.user_properties).get("cost", 0.0)
    terminalreporter.write_line(f"the tests took {sum(costs.values()):.0f} s of processors, most of it in")
    for file in sorted(costs, key=costs.get, reverse=True)[:10]:
        terminalreporter.write_line(f"{costs[file]:7.1f} s  {file}")


def pytest_sessionfinish(session):
    """With ``POLHODE_SKIPS=reasons``, where all packages are installed, a skip without a reason of its own fails."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("POLHODE_SKIPS") == "reasons" and reporter is not None:
        told = {str(report.longrepr) for report in reporter.stats.get("skipped", ())}
        unexplained = sorted(one for one in told if re.search(r"could not import|unconditional skip|\(extra", one))
        if unexplained:
            print("\nskipped without a reason:", *unexplained, sep="\n")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_collection_finish():
    """What lives as long as the tests is not looked through again at every collection of garbage; there are fewer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # compiling makes many objects in passing


# A shell that starts the tests in the background lets them ignore Ctrl-C, and so would their children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Before polhode is imported, for this process, its children and every xdist worker. One folder for all of them, kept
# between sessions: kernels are named by all that they reach, so an old one is never taken for a new one.
if "POLHODE_CACHE_DIR" not in os.environ:
    _KERNELS = ROOT / ".pytest_cache" / "kernels"
    _KERNELS.mkdir(parents=True, exist_ok=True)
    _KERNELS.chmod(0o700)  # whatever the umask: code is loaded from there
    os.environ["POLHODE_CACHE_DIR"] = str(_KERNELS)

# Tests look at what is written and in what order, not at what a failure of power leaves: the disk would be waited for
# thousands of times. Those of synchronisation put a function of theirs in its place.
os.fsync = lambda handle: None

# Where Python is told to keep no bytecode, each of many children would translate all sources again, for two seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(autouse=True)
def registries():
    """What a test adds to tables is gone after it."""
    with tables_kept():
        yield


@pytest.fixture(autouse=True, scope="session")
def worth_lanes():
    """Lanes, which take longer to compile, are for more members than most tests have."""
    from polhode.ensembles import ensemble

    ensemble.WORTH_LANES, worth = 1000, ensemble.WORTH_LANES
    yield worth


@pytest.fixture
def columns_by_twos(monkeypatch):
    """Columns of derivatives are carried in twos: such kernels are compiled in half the time of those of many."""
    monkeypatch.setattr("polhode.runs.tangent.transition.MOST_AT_ONCE", 2)


@pytest.fixture
def columns_by_fours(monkeypatch):
    """Likewise in fours, where there are more of them."""
    monkeypatch.setattr("polhode.runs.tangent.transition.MOST_AT_ONCE", 4)


@pytest.fixture(scope="session")
def python():
    """``python(code, cwd=None, **environment)``: the JSON that ``code`` prints last, run in a process of its own."""

    def run(code, cwd=None, **environment):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
            cwd=cwd, env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture(scope="session")
def forked():
    """As ``python``, in a process that has loaded numpy, numba and xarray before, and nothing of polhode; ``start``
    does not wait for its end."""
    if not hasattr(os, "fork"):
        pytest.skip("there are no forks on this platform")
    forks = Forks()
    yield forks
    forks.close()
