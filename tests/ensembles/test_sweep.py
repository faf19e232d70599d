"""Sweeps: which member has which values; stores that are the same however they came about; what can go wrong."""

from __future__ import annotations

import contextlib
import errno
import functools
import gc
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import xarray as xr
import zarr

import polhode as ph
from each import each
from polhode import cli, durable
from polhode.durable import PARTIAL
from polhode.ensembles import designs
from polhode.ensembles.designs import strata
from polhode.ensembles.sweep import call, plan, work, workers
from polhode.ensembles.sweep.picture import picture
from polhode.ensembles.sweep.plan import Design
from polhode.ensembles.sweep.store import Folder, SweepStore
from polhode.errors import FileProblem, Interrupted, InvalidInput, OtherMachineWarning

BODY = """\
method = "v2/mr"
[system]
type = "heavy_top"
inertia = [5.0, 5.0, 1.0]
center_of_mass = [0.0, 0.0, 1.0]
weight = 20.0
[initial]
rotation_vector = [0.3, 0.0, 0.0]
angular_velocity = [0.0, 0.0, 5.0]
[run]
step = 0.01
t_end = 0.2
"""
SWEEP = """\
[sweep]
chunk = 4
[sweep.grid]
"run.step" = [0.02, 0.01]
[sweep.random]
"system.weight" = { uniform = { low = 10.0, high = 20.0 } }
"initial.angular_velocity.2" = { normal = { mean = 5.0, sigma = 0.5 } }
"""
DRAWS = SWEEP.replace("chunk = 4", "chunk = 4\ncount = 7\nseed = 3")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Write a scenario into the folder one is in."""
    monkeypatch.chdir(tmp_path)

    def write(text=BODY + DRAWS, name="study.toml"):
        Path(name).write_text(text)
        return name

    return write


@pytest.fixture
def polhode(capsys, monkeypatch):
    """Run the command line; exit code, stdout, stderr."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["polhode", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def files(store):
    """All that counts of a store: the bytes of its arrays, and its marks without when and how long."""
    found = {}
    for path in sorted(Path(store).rglob("*")):
        name = path.relative_to(store).as_posix()
        assert not name.endswith(PARTIAL), name
        if path.is_file() and name != "sweep.json":
            found[name] = path.read_bytes()
            if name.startswith("done/"):
                mark = json.loads(found[name])
                found[name] = {key: mark[key] for key in ("members", "failures", "failed", "values_sha256")}
    return found


# ------------------------------------------------------------------ which member has which values
MIXED = {
    "grid": {"run.step": [0.1, 0.2], "system": {"weight": {"from": 1, "to": 3, "count": 3}}},
    "list": {"a": [1, 2], "b": ["x", "y"]},
    "random": {
        "q": {"uniform_attitude": {}}, "m": {"uniform": {"low": [1.0, 2.0], "high": [2.0, 3.0]}},
        "initial": {"inertia": {"inertia": {"mean": [3.0, 4.0, 5.0], "relative": 0.1}}},
        "n": {"normal": {"mean": 0.0, "sigma": 1.0}}, "c": {"choice": {"values": [1.0, 2.0]}},
    },
    "count": 5,
    "seed": 3,
}  # fmt: skip


@each("way", ["random", "latin_hypercube", "sobol"])
def test_members_are_known_by_their_number_alone(way):
    design = Design.of({way if key == "random" else key: value for key, value in MIXED.items()}, "x")
    assert design.members == 60 == len(design.columns(0, 60)["a"])
    whole = design.columns(0, 60)
    for first, last in [(0, 3), (4, 6), (3, 4), (7, 19), (8, 11), (59, 60)]:
        part = design.columns(first, last)
        assert all(part[name] == whole[name][first:last] for name in whole)
    assert design.member(17) == {name: values[17] for name, values in whole.items()}
    assert whole["run.step"] == [0.1] * 30 + [0.2] * 30 and whole["system.weight"][::10] == [1, 2, 3] * 2
    assert whole["a"][:10] == [1] * 5 + [2] * 5 and whole["b"][:10] == ["x"] * 5 + ["y"] * 5
    assert whole["n"][:5] == whole["n"][55:]  # the same draws for each combination of the others
    assert np.allclose(np.linalg.norm(whole["q"], axis=1), 1.0, atol=1e-15)
    assert np.all((np.array(whole["m"]) >= [1, 2]) & (np.array(whole["m"]) <= [2, 3])) and set(whole["c"]) <= {1.0, 2.0}
    assert np.shape(whole["initial.inertia"]) == (60, 3, 3) or np.shape(whole["initial.inertia"]) == (60, 3)


def test_hypercube_has_each_stratum_once():
    for count in (1, 2, 7, 64, 1000):
        cells = [strata(5, name, 0, count, count) for name in "abc"]
        assert all(np.array_equal(np.sort(one), np.arange(count)) for one in cells)
    assert not np.array_equal(cells[0], cells[1]) and abs(np.corrcoef(cells)[0, 1]) < 0.1
    assert np.array_equal(strata(5, "a", 10**9 - 3, 10**9, 10**9), strata(5, "a", 10**9 - 5, 10**9, 10**9)[2:])
    u = designs.Design("latin_hypercube", 100, {"a": 2}, 1).rows(0, 100)["a"]
    assert np.array_equal(np.sort(np.floor(100 * u), axis=0), np.stack([np.arange(100.0)] * 2, axis=1))


@each(
    ("table", "words"),
    [
        ({}, "nothing varies"),
        ({"grid": {"a": 3}}, "sweep.grid: a: expected a list of values"),
        ({"grid": {"a": {"from": 0.0, "to": 1.0, "count": 1}}}, "count is 2 or more"),
        ({"grid": {"a": {"from": 0.0, "to": 1.0, "count": 3, "spacing": "log"}}}, "must be positive"),
        ({"list": {"a": [1], "b": [1, 2]}}, "got a 1, b 2"),
        ({"random": {"a": 1.0}, "count": 3}, "expected a distribution"),
        ({"random": {"a": {"uniform": {"low": 2.0, "high": 1.0}}}, "count": 3}, "a: low is 2, above high"),
        ({"random": {"a": {"normal": {"mean": 2.0, "sgma": 1.0}}}, "count": 3}, "sgma"),
        ({"random": {"a": {"nrmal": {"mean": 2.0}}}, "count": 3}, "expected a distribution"),
        ({"random": {"a": {"uniform_attitude": {}}}}, "write count = 1000"),
        ({"grid": {"a": [1]}, "count": 3}, "nothing is drawn"),
        ({"grid": {"a": [1]}, "list": {"a": [1]}}, "a is given twice"),
        ({"grid": {"a": [1], "a.b": [2]}}, "a.b is a part of a"),
        (
            {way: {way: {"uniform_attitude": {}}} for way in ("random", "sobol")} | {"count": 3},
            "random and sobol are given",
        ),
    ],
)
def test_tables_that_are_wrong(table, words):
    with pytest.raises(InvalidInput, match=r"^x\.toml: ") as told:
        Design.of(table, "x.toml")
    assert words in str(told.value)


# ------------------------------------------------------------------ what a sweep finds
def test_members_have_the_bits_of_runs_alone(study):
    path = study()
    ds = ph.sweep(path)
    assert dict(ds.sizes) | {"member": 14} == dict(ds.sizes) and "incomplete" not in ds.attrs
    assert (
        (ds.status == 0).all()
        and (ds.failure == "").all()
        and ds["run.step"].values.tolist() == [0.02] * 7 + [0.01] * 7
    )
    for member in (0, 8, 13):
        alone = ph.ensembles.sweep_member(path, member)
        one = alone.integrate()
        assert alone.changes["system.weight"] == ds["system.weight"].values[member]
        assert json.loads(one.attrs["scenario_changes"]) == alone.changes
        for name in ("attitude", "energy", "angular_momentum_space"):
            assert np.array_equal(ds[name].values[member], one[name].values[-1]), name
        assert ds.largest_energy_error.values[member] == abs(one.energy_error.values).max()
        assert ds.steps.values[member] == one.attrs["steps"] and ds.end_time.values[member] == one.time.values[-1]
    assert ds.identical(ph.ensembles.open_sweep("study-sweep.zarr")) and ds.attitude.attrs["long_name"]
    raw = xr.open_zarr("study-sweep.zarr", chunks=None)
    assert np.array_equal(raw["system.weight"], ds["system.weight"]) and "system.weight" in raw.coords
    assert SweepStore(Folder("study-sweep.zarr")).check() == []


SPACECRAFT = """\
[system]
type = "spacecraft"
inertia = [90.0, 70.0, 60.0]
mass = 120.0
mu = 3.986004418e14
forces = [{ kind = "drag", coefficient = 0.01, density = 1e-12, radius = 6.8e6, scale = 6e4 }]
[initial]
position = [7e6, 0.0, 0.0]
velocity = [0.0, 5336.0, 5336.0]
angular_velocity = [0.0, 0.001, 0.0]
[run]
step = 30.0
t_end = 60.0
t_eval = [0.0, 60.0]
units = "SI"
[sweep]
count = 6
rows = "all"
[sweep.random]
"system.forces.0.coefficient" = { uniform = { low = 0.005, high = 0.02 } }
"system.inertia" = { inertia = { mean = [90.0, 70.0, 60.0], relative = 0.05 } }
"initial.velocity.1" = { normal = { mean = 5336.0, sigma = 10.0 } }
"""


SUM = """\
method = "v2"
[system]
type = "system"
bodies = [{ name = "a", mass = 100.0, inertia = [20.0, 30.0, 25.0] }, { name = "b", mass = 10.0 }]
loads = [{ kind = "tether", stiffness = 5.0, length = 100.0, of_a = [0.0, 1.0, 0.0], on = ["a", "b"] }]
[initial.a]
angular_velocity = [0.0, 0.1, 0.0]
[initial.b]
position = [110.0, 0.0, 0.0]
[run]
step = 0.1
steps = 20
[sweep]
count = 6
[sweep.random]
"tether.stiffness" = { uniform = { low = 4.0, high = 6.0 } }
"system.loads[0].length" = { uniform = { low = 90.0, high = 105.0 } }
"system.loads.tether.of_a.1" = { uniform = { low = 0.5, high = 1.5 } }
"a.inertia.0" = { uniform = { low = 20.0, high = 22.0 } }
"initial.b.position" = { normal = { mean = [110.0, 0.0, 0.0], sigma = 1.0 } }
"initial.a.rotation_vector" = { normal = { mean = [0.3, 0.0, 0.0], sigma = 0.1 } }
"""


@pytest.mark.parametrize(
    "text",
    [
        BODY.replace("5.0]\n[run]", "5.0]\n[run]\nevery = 7")
        + DRAWS.replace("sigma = 0.5", "sigma = 100.0")
        + '"initial.rotation_vector" = { normal = { mean = [0.3, 0.0, 0.0], sigma = 0.1 } }\n'
        + '"system.inertia" = { inertia = { mean = [5.0, 4.0, 3.0], relative = 0.2 } }\n',
        BODY + DRAWS.replace('"run.step" = [0.02, 0.01]', 'method = ["v2/mr", "trapm", "mkrk:rk4"]'),
        SPACECRAFT,
        BODY.replace("step = 0.01", "rtol = 1e-8\nt_eval = [0.0, 0.1, 0.2]").replace("v2/mr", "mkrk:dp8")
        + DRAWS.replace('"run.step" = [0.02, 0.01]', '"run.rtol" = [1e-6, 1e-9]'),
        SUM,
    ],
    ids=["top", "methods", "spacecraft", "tolerances", "sum"],
)
def test_members_together_have_the_bits_of_members_alone(study, monkeypatch, text):
    path, together = study(text), []
    real = work.fill_together

    def counted(block, *rest):
        real(block, *rest)
        together.append(int((block.values["status"] == 0).sum()))

    monkeypatch.setattr(work, "fill_together", counted)
    ds = ph.sweep(path, {"chunk": 40}, store="a.zarr")
    assert together[-1] == int((ds.status == 0).sum()) > 2
    monkeypatch.setattr(work, "fill_together", lambda *_: None)
    assert ph.sweep(path, {"chunk": 40}, store="b.zarr").identical(ds)


def test_chunks_and_parts_change_no_bit(study):
    path = study()
    ds = ph.sweep(path, store="a.zarr")
    assert ph.sweep(path, {"chunk": 3}, store="b.zarr").identical(ds)
    told = []
    part = ph.sweep(path, store="d.zarr", part=(2, 2), progress=told.append)
    assert part.attrs["incomplete"] == "6 of 14 members are computed" and told[-1].done == told[-1].total == 6
    assert np.array_equal(part.status == 0, (np.arange(14) // 4) % 2 == 1) and np.isnan(part.energy.values[0])
    assert ph.sweep(path, store="d.zarr", part=(1, 2)).identical(ds)
    assert files("a.zarr") == files("d.zarr")


def test_a_mark_is_that_of_its_own_task(study):
    """A copy under another name, as of a careless repair, marks nothing as done."""
    ds = ph.sweep(study(), store="a.zarr")
    marks = sorted(Path("a.zarr", "done").iterdir())
    marks[1].write_bytes(marks[0].read_bytes())
    store = SweepStore(Folder("a.zarr"))
    assert store.mark(0) is not None and store.mark(1) is None
    assert ph.sweep("study.toml", store="a.zarr").identical(ds) and store.mark(1)["chunk"] == 1


def test_words_vectors_and_all_rows(study):
    path = study(
        BODY
        + """\
t_eval = [0.0, 0.1, 0.2]
[sweep]
rows = "all"
keep = ["energy_error", "attitude"]
[sweep.grid]
method = ["v2/mr", "s4_6/mr"]
"system.inertia" = [[5.0, 5.0, 1.0], [5.0, 4.0, 1.5]]
"""
    )
    ds = ph.sweep(path)
    assert ds.method.values.tolist() == ["v2/mr"] * 2 + ["s4_6/mr"] * 2
    assert ds["system.inertia"].values[1].tolist() == [5.0, 4.0, 1.5] and ds.time.values.tolist() == [0.0, 0.1, 0.2]
    assert ds.attitude.dims == ("member", "time", "quaternion") and ds["quaternion"].values.tolist() == list("wxyz")
    one = ph.ensembles.sweep_member(path, 3).integrate()
    assert np.array_equal(ds.attitude.values[3], one.attitude.values)
    picture(ds, "bands.png")
    assert Path("bands.png").stat().st_size > 10_000


def test_rows_must_be_those_of_all(study):
    with pytest.raises(InvalidInput, match=r"run\.step varies; name their times, t_eval"):
        ph.sweep(study(), {"rows": "all"})
    with pytest.raises(InvalidInput, match="unknown variable 'enrgy'; did you mean 'energy'"):
        ph.sweep(study(), {"keep": ["enrgy"]})


def test_members_that_fail_are_marked(study):
    text = (
        BODY
        + '[sweep]\nchunk = 2\n[sweep.grid]\n"run.step" = [0.01, 0.03, 1.0, 0.02]\n"system.weight" = [20.0, 21.0]\n'
    )
    ds = ph.sweep(study(text.replace("0.2\n", "2.0\n")))
    assert ds.status.values.tolist() == [0, 0, 1, 1, 3, 3, 0, 0]
    assert "run.t_end" in ds.failure.values[2] and str(ds.failure.values[2]).startswith("study.toml:")
    assert "turns the body" in ds.failure.values[4] and np.isnan(ds.energy.values[2:6]).all()
    now = ph.ensembles.sweep_status("study-sweep.zarr")
    assert (now.members, now.done, now.failed, now.tasks_done) == (8, 8, 4, 4) and len(now.failures) == 4
    picture(ds, "map.png")
    with pytest.raises(
        InvalidInput, match=r"^all 2 members that were tried fail; member 0: study\.toml:1\d: run\.stpe"
    ):
        ph.sweep(study(), {"grid": {"run.stpe": [1, 2]}, "random": {}, "count": None}, store="x.zarr")


def test_warnings_are_counted(study):
    text = 'problem = "krysl_fast_top"\nmethod = "forward_euler_m"\n[run]\nstep = 0.002\nt_end = 0.2\n'
    ph.sweep(study(text + '[sweep.grid]\n"run.t_end" = [0.2, 0.4]\n'))
    warned = ph.ensembles.sweep_status("study-sweep.zarr").warned
    assert all(count <= 2 and isinstance(words, str) for count, _, words in warned.values())


# ------------------------------------------------------------------ stopped, killed, moved
class Stop(Exception):
    """What ends a sweep in the middle."""


def stopping(after):
    def tell(now):
        if now.done >= after:
            raise Stop

    return tell


def test_what_was_stopped_goes_on(study):
    path = study()
    whole = ph.sweep(path, store="whole.zarr")
    for after in (4, 8, 12):
        with pytest.raises(Stop):
            ph.sweep(path, store="cut.zarr", progress=stopping(after))
        assert ph.ensembles.sweep_status("cut.zarr").done == after
    assert ph.ensembles.open_sweep("cut.zarr").attrs["incomplete"] == "12 of 14 members are computed"
    os.rename("cut.zarr", "moved.zarr")
    told = []
    assert ph.sweep(path, store="moved.zarr", progress=told.append).identical(whole)
    assert [now.done for now in told] == [12, 14] and files("moved.zarr") == files("whole.zarr")
    Path("moved.zarr/done/000000001.json").write_text("{ torn")
    Path("moved.zarr/energy/c/1").unlink()
    assert ph.sweep(path, store="moved.zarr").identical(whole) and files("moved.zarr") == files("whole.zarr")


def test_interrupts_keep_what_is_done(study):
    def press(now):
        if now.done >= 8:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

    with pytest.raises(Interrupted, match=r"interrupted; 8 of 14 members are in .*the same command again"):
        ph.sweep(study(), progress=press)


def children(pid="self"):
    """Processes that a process has started and not waited for, but for those that only track resources."""
    found = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += [int(child) for child in (thread / "children").read_text().split()]
    return [child for child in found if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds workers by /proc")
@pytest.mark.full
def test_killed_workers_change_no_bit(study):
    path, chance, killed = study(BODY + DRAWS.replace("count = 7", "count = 18")), random.Random(1), []

    def shoot(now):
        found = children()
        if found and len(killed) < 6:
            time.sleep(0.02 * chance.random())
            killed.append(chance.choice(found))
            os.kill(killed[-1], signal.SIGKILL)

    whole = ph.sweep(path, store="whole.zarr")
    assert ph.sweep(path, store="shot.zarr", workers=2, progress=shoot).identical(whole)
    assert len(killed) == 6 and files("shot.zarr") == files("whole.zarr")


CLIENT = "import sys, polhode as ph; ph.sweep(sys.argv[1], store=sys.argv[2], workers=int(sys.argv[3]))"


def done_in(store):
    """How many members of a sweep are done; none while there is no store."""
    try:
        return ph.ensembles.sweep_status(store).done
    except ph.errors.PolhodeError:  # not yet there, or just being made
        return 0


def shot_clients(path, store, kills, chance, workers=1):
    """A sweep whose client is killed each time it has done something more, until it is over; how often that was."""
    count = 0
    while True:
        seen = done_in(store)
        client = subprocess.Popen([sys.executable, "-c", CLIENT, path, store, str(workers)])
        while count < kills and client.poll() is None and done_in(store) == seen:
            time.sleep(0.01)
        time.sleep(0.1 * chance.random())
        if count < kills and client.poll() is None:
            client.kill()
            client.wait()
            count += 1
        else:
            assert client.wait(300.0) == 0
            return count


@pytest.mark.full
def test_killed_clients_change_no_bit(study):
    path = study(LONG + DRAWS.replace("chunk = 4", "chunk = 1"))
    ph.sweep(path, store="whole.zarr")
    assert shot_clients(path, "shot.zarr", 2, random.Random(2)) >= 1
    assert files("shot.zarr") == files("whole.zarr")


@pytest.mark.full
def test_sixty_kills_change_no_bit(study):
    path = study(LONG + DRAWS.replace("count = 7", "count = 150"))
    ph.sweep(path, store="whole.zarr", workers=2)
    chance, killed = random.Random(3), []

    def shoot(now):
        found = children()
        if found and len(killed) < 40 and chance.random() < 0.7:
            time.sleep(0.3 * chance.random())
            killed.append(chance.choice(found))
            os.kill(killed[-1], signal.SIGKILL)

    ph.sweep(path, store="shot.zarr", workers=2, progress=shoot)
    assert files("shot.zarr") == files("whole.zarr")
    count = shot_clients(path, "clients.zarr", 20, chance, workers=2)
    assert len(killed) == 40 and count >= 15
    time.sleep(5.0)  # the last workers of clients that are gone
    Folder("clients.zarr").tidy()
    assert files("clients.zarr") == files("whole.zarr")


@pytest.mark.full
def test_machines_that_begin_one_store_at_once(study):
    path = study(BODY + DRAWS.replace("chunk = 4\n", ""))
    command = "import sys, polhode as ph; ph.sweep(sys.argv[1], store='parts.zarr', part=(int(sys.argv[2]), 3))"
    parts = [subprocess.Popen([sys.executable, "-c", command, path, str(k)]) for k in (1, 2, 3)]
    assert [part.wait(300.0) for part in parts] == [0, 0, 0]
    assert ph.ensembles.open_sweep("parts.zarr").identical(ph.sweep(path))


DEADLY = """\
import os


def torque(t, q, omega, parameters):
    if parameters[0] == 2.0 and os.environ.get("POLHODE_DEADLY"):
        os._exit(9)
    return (parameters[0], 0.0, 0.0)
"""
USER = """\
method = "v2/mr"
[system]
type = "rigid_body"
inertia = [1.0, 2.0, 3.0]
torque = "deadly.py:torque"
parameters = [0.0]
[run]
step = 0.01
t_end = 0.02
[sweep]
chunk = 2
[sweep.grid]
"system.parameters.0" = [0.0, 1.0, 2.0, 3.0]
"""


def test_a_member_that_kills_its_worker_is_given_up(study, monkeypatch):
    """And what is done is what is done without deaths, in a store that workers are told by its URL; here by workers
    that are careful from the start."""
    Path("deadly.py").write_text(DEADLY) if study(USER) else None
    whole = ph.sweep("study.toml", store="b.zarr", allow_code=True)
    assert (whole.status == 0).all()
    with pytest.raises(InvalidInput, match="--allow-code"):
        ph.sweep("study.toml", store="c.zarr")
    monkeypatch.setenv("POLHODE_DEADLY", "1")
    monkeypatch.setattr(workers, "MOST_DEATHS", 1)
    monkeypatch.setattr(call, "Processes", functools.partial(workers.Processes, careful=True))
    where = f"file://{Path.cwd()}/far.zarr"
    ds = ph.sweep("study.toml", {"chunk": 4}, store=where, workers=2, allow_code=True)  # of which one has nothing to do
    assert ds.status.values.tolist() == [0, 0, 7, 0]
    assert ds.failure.values[2] == "1 worker processes ended at this member, the last one by exit code 9"
    assert ds.drop_sel(member=2).attitude.identical(whole.drop_sel(member=2).attitude)


class Dying:
    """A worker that ends before it has done anything."""

    def __init__(self, first, answers):
        self.answers, self.chunk, self.member, self.useful = answers, None, None, False
        self.process = SimpleNamespace(returncode=-9)

    def say(self, line):
        for said in self.does(line):
            self.answers.put((self, said))

    def does(self, line):
        return [None]

    def end(self):
        pass


class Halfhearted(Dying):
    """Dies of each task that is given to it without care, and twice of member 5."""

    deaths: ClassVar[list[int]] = []

    def does(self, line):
        if line["careful"] and line["chunk"] == 1 and len(self.deaths) < 2:
            self.deaths.append(5)
            return [{"at": 4}, {"at": 5}, None]
        return [{"done": line["chunk"]}] if line["careful"] else [None]


def test_tasks_of_workers_that_die_are_given_out_again(monkeypatch):
    monkeypatch.setattr(workers, "Worker", Halfhearted)
    for most, given_up in ((3, []), (2, [5])):
        monkeypatch.setattr(workers, "MOST_DEATHS", most)
        Halfhearted.deaths.clear()
        done = []
        with workers.Processes("a.zarr", "", {}, False, 2) as processes:
            processes.carry_out(range(4), done.append)
        assert sorted(done) == [0, 1, 2, 3] and processes.deaths == {5: 2} and list(processes.given_up) == given_up
    monkeypatch.setattr(workers, "Worker", Dying)
    with (
        workers.Processes("a.zarr", "", {}, False, 2) as processes,
        pytest.raises(FileProblem, match=r"^10 worker processes .* anything, the last one by SIGKILL; try"),
    ):
        processes.carry_out(range(4), done.append)


def test_functions_travel_with_the_store(study):
    Path("deadly.py").write_text(DEADLY) if study(USER) else None
    ph.sweep("study.toml", {"chunk": 4}, store="a.zarr", allow_code=True)
    moved = SweepStore(Folder("a.zarr")).plan.study
    Path("deadly.py").unlink()
    assert moved.scenario(1, True).integrate().time.size == 3 and moved.file.parent != Path.cwd()


# ------------------------------------------------------------------ a cluster
class Cluster:
    """A scheduler and workers of Dask on this machine, that are started again when they have died; with ``watched``
    each worker by a nanny, which starts it again itself."""

    def __init__(self, workers, watched=True):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.address, self.workers, self.over = f"tcp://127.0.0.1:{self.port}", workers, False
        self.watched = watched
        self.scheduler, self.nannies = None, []
        self.keeper = threading.Thread(target=self.keep, daemon=True)
        self.keeper.start()

    def start(self, module, *words):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words, "--no-dashboard"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, **silent, start_new_session=True)

    def keep(self):
        while not self.over:
            if self.scheduler is None or self.scheduler.poll() is not None:
                self.scheduler = self.start("dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port))
            self.nannies = [nanny for nanny in self.nannies if nanny.poll() is None]
            while len(self.nannies) < self.workers:
                alone = [] if self.watched else ["--no-nanny"]
                self.nannies.append(self.start("dask_worker", self.address, "--nthreads", "1", *alone))
            time.sleep(0.2)

    def kill_worker(self, chance):
        """One of the processes that compute; false while there is none."""
        found = [pid for one in self.nannies for pid in (children(one.pid) if self.watched else [one.pid])]
        if found:
            os.kill(chance.choice(found), signal.SIGKILL)
        return bool(found)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over = True
        self.keeper.join()
        for process in [self.scheduler, *self.nannies]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


LONG = BODY.replace("0.2\n", "10000.0\nevery = 1000\n")
"""Members of about a tenth of a second."""


def peer_of(connection):
    """The port at the other end of a connection, if there still is one."""
    try:
        return connection.getpeername()[1:2]
    except OSError:
        return ()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_changes_no_bit(study):
    """Whose scheduler goes with its workers, and comes again at the same address."""
    distributed = pytest.importorskip("distributed")
    path = study()
    ph.sweep(path, store="whole.zarr")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]

    def cluster():
        return distributed.LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=":0",
                                        protocol="tcp://", host="127.0.0.1", scheduler_port=port)  # fmt: skip

    def shoot(now):
        if now.done >= 6 and not again:
            first.close()
            again.append(cluster())

    first, again = cluster(), []
    try:
        ph.sweep(path, store="far.zarr", scheduler=f"tcp://127.0.0.1:{port}", progress=shoot)
    finally:
        for one in (first, *again):
            one.close()
    assert again and files("far.zarr") == files("whole.zarr")
    for one in gc.get_objects():  # connections that broke, of which Dask leaves sockets open
        if type(one) is socket.socket and one.fileno() >= 0 and port in {*one.getsockname()[1:2], *peer_of(one)}:
            one.close()
    gc.collect()


def test_a_scheduler_that_is_not_there(study, monkeypatch):
    pytest.importorskip("distributed")
    from polhode.ensembles.sweep import workers as cluster

    monkeypatch.setattr(
        cluster.Cluster, "_connect", lambda self, patience, real=cluster.Cluster._connect: real(self, 0.0)
    )
    with pytest.raises(FileProblem, match=r"the scheduler at tcp://127\.0\.0\.1:9 does not answer; start it"):
        ph.sweep(study(), scheduler="tcp://127.0.0.1:9")
    with pytest.raises(InvalidInput, match=r"scheduler must be an address such as"):
        ph.sweep(study(), scheduler=3)


def test_other_versions_on_a_cluster(study, monkeypatch):
    distributed = pytest.importorskip("distributed")
    path = study()
    with (
        distributed.LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=":0") as there,
        distributed.Client(there) as client,
    ):
        assert ph.sweep(path, store="near.zarr", scheduler=client).identical(ph.sweep(path))
        monkeypatch.setattr(work, "maker", lambda: plan.maker() | {"source": "another"})
        with pytest.raises(FileProblem, match=r"worker on .* \(sources another\), .* install the same version there"):
            ph.sweep(path, store="other.zarr", scheduler=client)


@pytest.mark.full
def test_a_member_that_kills_workers_of_a_cluster_is_given_up(study, monkeypatch):
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    study(USER)
    Path("deadly.py").write_text(DEADLY)
    monkeypatch.setenv("POLHODE_DEADLY", "1")
    monkeypatch.setattr(workers, "MOST_DEATHS", 2)  # of this process; workers have their own
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=":0") as there,
    ):
        ds = ph.sweep("study.toml", scheduler=there.scheduler_address, allow_code=True)
    assert ds.status.values.tolist() == [0, 0, 7, 0]
    assert ds.failure.values[2] == "5 worker processes ended at this member, the last one by exit code 9"


@pytest.mark.full
def test_sixty_kills_of_a_cluster_change_no_bit(study):
    pytest.importorskip("distributed")
    path, chance, killed = study(LONG + DRAWS.replace("count = 7", "count = 150")), random.Random(6), Counter()
    ph.sweep(path, store="whole.zarr", workers=2)
    client = "import sys, polhode as ph; ph.sweep('study.toml', store='far.zarr', scheduler=sys.argv[1])"
    with Cluster(2) as cluster:
        while True:
            process = subprocess.Popen([sys.executable, "-c", client, cluster.address])
            while process.poll() is None:
                time.sleep(chance.uniform(0.3, 1.5))
                what = chance.choice(["worker"] * 8 + ["scheduler", "client"])
                if sum(killed.values()) >= 60:
                    continue
                killed[what] += 1 if what != "worker" else cluster.kill_worker(chance)
                if what != "worker":
                    (cluster.scheduler if what == "scheduler" else process).kill()
            if process.returncode == 0:
                break
    assert sum(killed.values()) >= 40 and len(killed) == 3, killed
    assert files("far.zarr") == files("whole.zarr")


# ------------------------------------------------------------------ what can go wrong
def test_a_store_of_another_sweep(study):
    path = study()
    ph.sweep(path)
    for text, what in [
        (BODY.replace("5.0, 5.0, 1.0", "5.0, 5.0, 1.5") + DRAWS, r"\[system\]"),
        (BODY + DRAWS.replace("seed = 3", "seed = 4"), r"sweep\.seed"),
        (BODY.replace("v2/mr", "s4_6/mr") + DRAWS, "method"),
    ]:
        with pytest.raises(
            FileProblem, match=rf"belongs to another sweep, which differs in {what}; name another store"
        ):
            ph.sweep(study(text))
    assert ph.sweep(study("# only words\n" + BODY + DRAWS.replace("chunk = 4", "chunk = 5"))).sizes["member"] == 14
    Path("other.zarr").mkdir()
    Path("other.zarr/notes.txt").write_text("mine")
    with pytest.raises(FileProblem, match="holds something else; name another store"):
        ph.sweep(path, store="other.zarr")
    with pytest.raises(FileProblem, match="there is no sweep in"):
        ph.ensembles.open_sweep("nothing.zarr")
    with pytest.raises(InvalidInput, match=r"must end in \.zarr"):
        ph.sweep(path, store="x.nc")
    Path("study-sweep.zarr/sweep.json").write_text("{}")
    with pytest.raises(FileProblem, match=r"its sweep\.json was changed"):
        ph.ensembles.open_sweep("study-sweep.zarr")


def test_other_versions(study, monkeypatch):
    path = study()
    with pytest.raises(Stop):
        ph.sweep(path, progress=stopping(4))
    mine = plan.maker()
    monkeypatch.setattr(work, "maker", lambda: mine | {"polhode": "0.0.9"})
    with pytest.raises(FileProblem, match=r"worker on .* has polhode 0\.0\.9 .* install the same version there"):
        ph.sweep(path)
    monkeypatch.setattr(call, "maker", lambda: mine | {"polhode": "0.0.9"})
    with pytest.raises(FileProblem, match=r"begun by polhode .*, and this is 0\.0\.9; go on with that version"):
        ph.sweep(path)
    for module in (work, call):
        monkeypatch.setattr(module, "maker", lambda: mine | {"numpy": "1.0"})
    with pytest.warns(OtherMachineWarning, match=r"numpy .* is now 1\.0"):
        assert (ph.sweep(path).status == 0).all()


def test_a_full_disk(study, monkeypatch):
    path, written = study(), []
    real = durable.write

    def until_full(target, data, **options):
        written.append(target)
        if len(written) > 70:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(target, data, **options)

    monkeypatch.setattr(durable, "write", until_full)
    with pytest.raises(FileProblem, match="No space left on device; what is done stays done: make room"):
        ph.sweep(path)
    monkeypatch.setattr(durable, "write", lambda *a, **k: until_full(*a, **k) if len(written) < 3 else real(*a, **k))
    assert ph.sweep(path).identical(ph.sweep(path, store="b.zarr"))
    written.clear()


def test_bits_that_rot_are_found(study):
    ph.sweep(study())
    store = SweepStore(Folder("study-sweep.zarr"))
    zarr.open_group("study-sweep.zarr", mode="r+")["energy"][5] = 1.0
    assert store.check() == [1]
    Path("study-sweep.zarr/energy/c/2").write_bytes(b"torn")
    assert store.check() == [1, 2]


def test_urls(study):
    pytest.importorskip("fsspec")
    path = study()
    whole = ph.sweep(path)
    where = f"file://{Path.cwd()}/far.zarr"
    with pytest.raises(Stop):
        ph.sweep(path, store=where, progress=stopping(8))
    assert ph.sweep(path, store=where).identical(whole) and ph.ensembles.open_sweep(where).identical(whole)
    assert ph.ensembles.sweep_status(where).done == 14
    assert ph.sweep(path, store="memory://s.zarr").identical(whole)
    with pytest.raises(InvalidInput, match="cannot reach the store"):
        ph.sweep(path, store="nosuch://x/s.zarr")


def test_arguments(study):
    path = study()
    for words, options in [
        ("workers is 0", {"workers": 0}), ("both given", {"workers": 2, "scheduler": "tcp://x:1"}),
        (r"part\[0\]", {"part": (3, 2)}), ("k-th of n parts", {"part": 3}), ("progress must be", {"progress": 3}),
    ]:  # fmt: skip
        with pytest.raises(InvalidInput, match=words):
            ph.sweep(path, **options)
    with pytest.raises(InvalidInput, match=r"has a \[members\] beside its \[sweep\]"):
        ph.sweep(study(BODY + DRAWS + "[members]\ncount = 3\n", "both.toml"))
    with pytest.raises(InvalidInput, match="there is no member 14"):
        ph.ensembles.sweep_member(path, 14)
    with pytest.raises(InvalidInput, match=r"study\.toml:\d+: sweep: this is many runs; run them with `polhode sweep`"):
        ph.runs.read_scenario(path)


# ------------------------------------------------------------------ the command line
def test_command(study, polhode):
    path = study()
    code, out, err = polhode("sweep", path)
    assert (code, out) == (0, "") and "14 of 14, 0 failed" in err and "100.0 %  14 of 14 members" in err
    assert Path("study-sweep.png").stat().st_size > 10_000
    code, out, err = polhode("sweep", "--status", "study-sweep.zarr")
    assert code == 0 and "14 of 14 members (100.0 %), 0 failed; 4 of 4 tasks" in out
    assert json.loads(polhode("sweep", "--status", "study-sweep.zarr", "--json")[1])["done"] == 14
    code, out, err = polhode("sweep", path, "--json", "-q", "--no-picture", "--part", "1/2", "--store", "p.zarr")
    assert code == 0 and json.loads(out)["done"] == 8 and err == ""
    code, _, err = polhode("sweep", path, "--member", "3", "-o", "three.nc")
    assert (
        code == 0 and ph.load("three.nc").equals(ph.ensembles.sweep_member(path, 3).integrate()) and "three.nc" in err
    )
    assert polhode("sweep", path, "--part", "3")[0] == 3 and polhode("sweep", path, "-o", "x.nc")[0] == 3
    assert polhode("run", path)[0] == 3 and polhode("sweep", "none.toml")[0] == 5
    assert polhode("sweep", "--check", "study-sweep.zarr")[0] == 0
    Path("study-sweep.zarr/energy/c/0").unlink()
    code, _, err = polhode("sweep", "--check", "study-sweep.zarr")
    assert code == 5 and "1 tasks in study-sweep.zarr" in err
    assert "14 of 14" in polhode("sweep", "--status", "study-sweep.zarr")[1]


def test_what_cannot_be_drawn_is_one_sentence(study, polhode):
    path = study()
    for name in ("attitude", "failure", "nonsense"):
        code, _, err = polhode("sweep", path, "-q", "--show", name)
        assert code == 3 and len(err.splitlines()) == 1
        assert f"--show: there is no variable {name!r} of one number for each member to draw; name one of " in err
        assert "energy_error" in err and err.rstrip().endswith(
            "the results are in " + os.path.abspath("study-sweep.zarr")
        )
    assert polhode("sweep", path, "-q", "--show", "status")[0] == 0
    assert polhode("sweep", path, "-q", "--show", "system.weight")[0] == 0
    every = study(
        BODY + 't_eval = [0.0, 0.1]\n[sweep]\nrows = "all"\n[sweep.grid]\n"system.weight" = [9.0, 8.0]\n', "e.toml"
    )
    code, _, err = polhode("sweep", every, "-q", "--show", "attitude")
    assert code == 3 and "of one number for each member and time to draw" in err


def test_options_that_would_be_ignored_are_refused(study, polhode):
    path = study()
    ph.sweep(path)
    for words, sentence in (
        ((path, "--member", 3, "--store", "x.zarr"), "--store does not go with --member"),
        ((path, "--member", 3, "--json"), "--json does not go with --member"),
        (("study-sweep.zarr", "--status", "--workers", 2), "--workers does not go with --status"),
        (("study-sweep.zarr", "--status", "-o", "x.nc"), "--output does not go with --status"),
        (("study-sweep.zarr", "--check", "--json"), "--json does not go with --check"),
        (("study-sweep.zarr", "--check", "--part", "1/2"), "--part does not go with --check"),
        (("study-sweep.zarr", "--status", "--member", 3), "--status does not go with --member"),
    ):
        code, _, err = polhode("sweep", *words)
        assert code == 3 and sentence in err, err
    assert polhode("sweep", "study-sweep.zarr", "--check", "--status", "--json", "-q")[0] == 0
    assert not Path("x.zarr").exists() and not Path("member-3.nc").exists()
