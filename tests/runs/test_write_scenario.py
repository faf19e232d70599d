"""Systems made in Python, written as scenarios: what they say is what Python said, and the shell runs them."""

from __future__ import annotations

import linecache
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from each import each
from polhode.cli import group
from polhode.errors import FileProblem, InvalidInput
from polhode.runs.request import grouped
from polhode.runs.scenario import read_scenario

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.toml"))
SCRIPT = """\
import numpy as np
import polhode as ph
from math import pi
from numpy import sin as sine
from polhode import planets

earth = planets.EARTH
RATE = 0.1
AXIS = np.array([0.0, 0.0, 1.0])
FACTORS = [1.0, (2.0, 3.0)]

def halved(x):
    return x / (2.0 * pi)

def drag(body, rate=RATE):
    force = -rate * halved(body.velocity) * FACTORS[1][0]
    return {"force": force, "torque": -rate * body.angular_velocity + 1e-3 * AXIS * sine(earth.radius)}

def spring_of(k):
    def spring(a, b, stiffness):
        d = b.position - a.position
        return k * stiffness * d @ d
    return spring

def damping(a, gain):
    return {"command": -gain * a.angular_velocity}

def actuator(a, command):
    return {"torque": command}

def near(a, b):
    return (b.position - a.position) @ (b.velocity - a.velocity)

def windy(body, t, speed):
    return speed * np.cos(t) * AXIS

def blown(body, wind):
    return {"force": wind}

damper = ph.controller(damping, every=0.5, parameters={"gain": 0.3}).on("a").states(command=(0.0, 0.0, 0.0))
pair = ph.system(
    ph.body("a", 100.0, (20, 30, 25), wheels=ph.reaction_wheels(np.eye(3), 0.01, speed=(3.0, 2.0, 1.0))),
    ph.body("b", 10.0), ph.loads.of(drag, rate=0.2), ph.loads.of(spring_of(0.7), stiffness=2.0).on("a", "b"),
    ph.loads.of(actuator).on("a"), damper, ph.loads.tether(5.0, 1.0).on("a", "b"), ph.loads.of(blown),
    surroundings={"wind": ph.surroundings.of(windy, speed=3.0)})
start = {"a": {"rotation_vector": (0.1, 0, 0), "angular_velocity": (0, 0.1, 0.2)},
         "b": {"position": (1.2, 0, 0), "velocity": (0, 1, 0)}}
run = dict(step=0.05, steps=100, every=10, start=start)
run["events"] = [ph.events.of(near, direction=1).on("a", "b")]
ds = ph.integrate(pair, "mkrk:cv8", **run)
print(*ph.runs.write_scenario("pair.toml", pair, "mkrk:cv8", **run))
ph.save(ds, "mine.nc")
"""


def test_a_system_of_a_script_is_run_by_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    runpy.run_path("script.py", run_name="__main__")
    assert capsys.readouterr().out.split() == ["pair.toml", "pair_functions.py"]
    (tmp_path / "script.py").unlink()
    shell = CliRunner().invoke(group, ["run", "pair.toml", "--allow-code", "-q", "--no-picture"])
    assert (shell.exit_code, shell.stdout, shell.stderr) == (0, "", "")
    one, other = ph.load(tmp_path / "mine.nc"), ph.load(tmp_path / "pair.nc")
    for name in ("position", "attitude", "angular_velocity", "command", "wheel_momentum", "work", "event_time"):
        assert np.array_equal(one[name], other[name]), name
    assert float(abs(one.command).max()) > 0.01 and float(abs(one.position[-1, 1] - one.position[0, 1]).max()) > 0.1
    assert one.event_time.size and "run" not in (tmp_path / "pair_functions.py").read_text()


@each("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_what_is_written_is_what_was_read(tmp_path, path):
    scenario = read_scenario(path, allow_code=True)
    out = tmp_path / path.name
    ph.runs.write_scenario(out, scenario.system, scenario.method, title=scenario.title, **grouped(scenario.arguments))
    again = read_scenario(out, allow_code=True)
    assert again.title == scenario.title
    one, other = scenario.request.to_json(), again.request.to_json()
    assert one.keys() == other.keys()
    assert all(one[name] == other[name] for name in one), [name for name in one if one[name] != other[name]]


def test_functions_of_modules_are_named(tmp_path, monkeypatch):
    (tmp_path / "laws_of_mine.py").write_text(
        "def well(body, depth):\n    return depth * body.position @ body.position\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import laws_of_mine  # type: ignore[import-not-found]

    ours = ph.system(ph.body("a", 1.0), ph.loads.of(laws_of_mine.well, depth=2.0))
    assert ph.runs.write_scenario(tmp_path / "well.toml", ours, step=0.1, steps=2) == [tmp_path / "well.toml"]
    assert 'kind = "laws_of_mine.py:well"' in (tmp_path / "well.toml").read_text()
    del sys.modules["laws_of_mine"]


def made_of(source, name="law"):
    """A function as a notebook has it: its source is in the line cache alone."""
    file = f"<cell {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    inside = {"np": np, "ph": ph, "__name__": "__main__"}
    exec(compile(source, file, "exec"), inside)
    return inside[name]


def test_states_of_no_body_are_written(tmp_path):
    decay = made_of("def decay(x, rate):\n    return {'x': -rate * x}\n", "decay")
    ours = ph.system(ph.states.of(decay, {"rate": 0.5}, x=2.0))
    ph.runs.write_scenario(tmp_path / "x.toml", ours, "taylor", step=0.1, steps=10)
    ds = read_scenario(tmp_path / "x.toml", allow_code=True).integrate()
    np.testing.assert_allclose(ds.x, 2.0 * np.exp(-0.5 * ds.time), rtol=1e-13)


def written(tmp_path, *functions, **words):
    loads = [ph.loads.of(one).named(f"load{k}") for k, one in enumerate(functions)]
    ours = ph.system(ph.body("a", 1.0), loads)
    return ph.runs.write_scenario(tmp_path / "x.toml", ours, step=0.1, steps=2, **words)


def test_a_function_of_a_notebook_is_written_beside(tmp_path):
    law = made_of("K = np.float64(2.0)\nTABLE = {'a': (1.0, float('inf'))}\ndef law(body):\n"
                  "    return K * TABLE['a'][0] * body.position @ body.position\n")  # fmt: skip
    assert [one.name for one in written(tmp_path, law)] == ["x.toml", "x_functions.py"]
    again = read_scenario(tmp_path / "x.toml", allow_code=True)
    ds = ph.integrate(again.system, "v2", step=0.1, steps=20, position=(1.0, 0.0, 0.0))
    assert float(ds.energy[0]) == 2.0 and float(abs(ds.position[-1]).max()) < 0.99


CLOSED = """\
def make():
    class Box:
        k = 1.0
    box = Box()
    def law(body):
        return box.k * body.mass
    return law
law = make()
"""
REFUSED = {
    "lambda": (lambda: [made_of("law = lambda body: body.mass\n")], "is a lambda"),
    "closure": (lambda: [made_of(CLOSED)], "box is a Box, which cannot be written to x_functions.py; put the function"),
    "many numbers": (lambda: [made_of("T = np.zeros(2000)\ndef law(body):\n    return T[0] * body.mass\n")],
                     "T is a ndarray of many numbers"),
    "two": (lambda: [made_of("def law(body):\n    return body.mass\n"),
                     made_of("def law(body):\n    return 2.0 * body.mass\n")], "two different things are called 'law'"),
    "globals that differ": (lambda: [made_of("K = 1.0\ndef one(body):\n    return K * body.mass\n", "one"),
                                     made_of("K = 2.0\ndef law(body):\n    return K * body.mass\n")],
                            "two different things are called 'K'"),
}  # fmt: skip


@each("case", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_written_is_told(tmp_path, case):
    functions, told = case
    with pytest.raises(InvalidInput) as refused:
        written(tmp_path, *functions())
    assert told in str(refused.value) and "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_source_that_has_changed_is_not_written(tmp_path):
    law = made_of("def law(body):\n    return body.mass * 2.0\n")
    file = law.__code__.co_filename
    source = "def law(body):\n    return body.mass + 2.0\n"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    with pytest.raises(InvalidInput, match="has changed since it was made; run its definition again"):
        written(tmp_path, law)


def test_what_is_no_scenario_is_told(tmp_path):
    body = ph.free_body((1.0, 2.0, 3.0))
    run = {"step": 0.1, "steps": 2, "angular_velocity": (0.0, 0.1, 1.0)}
    ph.runs.write_scenario(tmp_path / "body.toml", body, **run)
    with pytest.raises(FileProblem, match="there is already a file"):
        ph.runs.write_scenario(tmp_path / "body.toml", body, **run)
    assert ph.runs.write_scenario(tmp_path / "body.toml", body, overwrite=True, **run)
    with pytest.raises(InvalidInput, match=r"must end in \.toml"):
        ph.runs.write_scenario(tmp_path / "body.json", body, **run)
    with pytest.raises(InvalidInput, match="start is a trajectory"):
        ph.runs.write_scenario(tmp_path / "b.toml", body, step=0.1, steps=2, start=ph.integrate(body, "v2", **run))
    with pytest.raises(FileProblem, match="cannot write"):
        ph.runs.write_scenario(tmp_path / "body.toml" / "b.toml", body, **run)
    assert [one.name for one in tmp_path.iterdir()] == ["body.toml"]


def test_loads_beside_those_of_a_builder_are_written(tmp_path):
    drag = made_of("def drag(body, rate):\n    return {'force': -rate * body.velocity}\n", "drag")
    ours = ph.particle(1.0, 2.0, loads=[ph.loads.of(drag, rate=0.1), ph.loads.weight().named("pull")])
    start = {"position": (1.0, 0.0, 0.0)}
    assert len(ph.runs.write_scenario(tmp_path / "x.toml", ours, "v2", step=0.1, steps=50, **start)) == 2
    ds = read_scenario(tmp_path / "x.toml", allow_code=True).integrate()
    same = ph.integrate(ours, "v2", step=0.1, steps=50, **start)
    assert np.array_equal(ds.position, same.position) and np.array_equal(ds.work, same.work)
    assert float(ds.position[-1, 2]) < -0.1 and float(ds.work[-1, 0]) < -0.01


def test_loads_on_every_two_bodies_are_written(tmp_path):
    source = "def charges(a, b, k, charge=None):\n    d = b.position - a.position\n"
    source += "    return k * a.charge * b.charge / np.sqrt(d @ d)\n"
    charges = ph.loads.of(made_of(source, "charges"), k=2.0).on(ph.pairs).each(charge=[1.0, -1.0, 1.0, -1.0])
    sites = ph.loads.sites([(0.0, 0.0, 0.1)], epsilon=1.0, sigma=0.5).on(ph.pairs)
    ours = ph.system(ph.bodies(4, 1.0, (1.0, 1.2, 1.5)), charges, sites, box=8.0, cutoff=3.0)
    start = {"position": [(1.2 * k, 0.3 * k, 0.0) for k in range(4)]}
    ph.runs.write_scenario(tmp_path / "x.toml", ours, "v2", step=0.01, steps=50, start=start)
    ds = read_scenario(tmp_path / "x.toml", allow_code=True).integrate()
    same = ph.integrate(ours, "v2", step=0.01, steps=50, start=start)
    assert np.array_equal(ds.position, same.position) and float(abs(ds.position[-1] - ds.position[0]).max()) > 0.01
