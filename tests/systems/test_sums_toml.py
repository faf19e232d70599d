"""Sums in scenario files, and loads of one's own that are added to those of polhode."""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from each import each
from polhode import plugins
from polhode.arguments.words import Length
from polhode.cli import group
from polhode.errors import InvalidInput
from polhode.loads import LOADS
from polhode.runs.scenario import json_schema, read_scenario

PAIR = """\
method = "v2"
[system]
type = "system"

[[system.bodies]]
name = "a"
mass = 100.0
inertia = [20.0, 30.0, 25.0]

[[system.bodies]]
name = "b"
mass_kg = 10.0

[[system.loads]]
kind = "tether"
stiffness = 5.0
length_km = 0.1
on = ["a", "b"]

[[system.loads]]
kind = "laws.py:warming"
name = "mine"
gain = 2.0
on = "a"
states = { heat = 0.0 }

[initial.a]
rotation_vector = [0.1, 0.0, 0.0]
angular_velocity_space = [0.0, 0.0, 0.2]
[initial.b]
position_km = [0.12, 0.0, 0.0]
velocity = [0.0, 1.0, 0.0]

[run]
step = 0.1
steps = 100
"""
LAWS = '''\
"""What acts on a."""


def warming(body, heat, gain):
    return {"heat": gain * (body.velocity @ body.velocity) - 0.01 * heat}
'''


@pytest.fixture
def read(tmp_path):
    (tmp_path / "laws.py").write_text(LAWS)

    def write_and_read(text, **options):
        path = tmp_path / "scenario.toml"
        path.write_text(text)
        return read_scenario(path, **options)

    return write_and_read


def warming(body, heat, gain):
    return {"heat": gain * (body.velocity @ body.velocity) - 0.01 * heat}


def test_a_scenario_is_the_sum_that_python_makes(read):
    ours = ph.system(
        ph.body("a", 100.0, (20.0, 30.0, 25.0)), ph.body("b", 10.0), ph.loads.tether(5.0, 100.0).on("a", "b"),
        ph.loads.of(warming, gain=2.0).on("a").named("mine").states(heat=0.0),
    )  # fmt: skip
    start = {
        "a": {"rotation_vector": (0.1, 0.0, 0.0), "angular_velocity_space": (0.0, 0.0, 0.2)},
        "b": {"position": (120.0, 0.0, 0.0), "velocity": (0.0, 1.0, 0.0)},
    }
    same = ph.integrate(ours, "v2", step=0.1, steps=100, start=start, settings={"units": "SI"})
    scenario = read(PAIR, allow_code=True)
    ds = scenario.integrate()
    assert ds.equals(same) and float(ds.heat[-1]) > 10.0 and abs(float(ds.position[-1, 0, 0])) > 1.0
    assert scenario.system.arguments.keys() == ours.arguments.keys()
    again = ph.rerun(ds, **scenario.functions)
    assert np.array_equal(again.position, ds.position) and np.array_equal(again.heat, ds.heat)


def test_code_is_not_run_unless_that_is_allowed(read, tmp_path):
    (tmp_path / "laws.py").write_text("raise RuntimeError('run')\n")
    with pytest.raises(InvalidInput, match=r":21: system\.loads\[1\]\.kind: .* add --allow-code"):
        read(PAIR)


def test_functions_of_modules_are_loads(read, tmp_path, monkeypatch):
    (tmp_path / "package_of_laws.py").write_text(LAWS)
    monkeypatch.syspath_prepend(tmp_path)
    text = PAIR.replace("laws.py:", "package_of_laws:")
    with pytest.raises(InvalidInput, match="add --allow-code"):
        read(text)
    assert read(text, allow_code=True).functions["mine"].__module__ == "package_of_laws"
    with pytest.raises(InvalidInput, match="there is no module 'no_such_module'; install it, or name a file"):
        read(PAIR.replace("laws.py:", "no_such_module:"), allow_code=True)


WRONG = [
    ("stiffness = 5.0\n", "", "14: system.loads[0].stiffness: expected this key (got nothing)"),
    ("stiffness = 5.0", "stiffnss = 5.0", "unknown key; did you mean 'stiffness'"),
    ("stiffness = 5.0", "stiffness = -5.0", "16: system.loads[0].stiffness: stiffness is -5; it must be positive"),
    ("stiffness = 5.0", "stiffness = [5.0]", "16: system.loads[0].stiffness: expected a number"),
    ("length_km = 0.1", "length_kg = 0.1", "did you mean 'length' or 'length_m' or 'length_km'"),
    ('"tether"', '"tehter"', "did you mean 'tether'?"),
    ('kind = "tether"\n', "", "system.loads[0]: expected a key kind, one of central"),
    ('"laws.py:warming"', '"laws.py"', "'file.py:function'"),
    ('"laws.py:warming"', '"laws.py:warmth"', "laws.py has no function 'warmth'; did you mean 'warming'?"),
    ('"laws.py:warming"', '"lows.py:warming"', "there is no file"),
    ("gain = 2.0", 'gain = "2"', "23: system.loads[1].gain: gain of load 'warming' must be real numbers"),
    ("gain = 2.0", "gian = 2.0", "has no argument 'gian'"),
    ('on = "a"', 'on = "c"', "system.loads[1].on: unknown body that load 'mine' is on 'c'"),
    ('on = "a"', "on = 3", "24: system.loads[1].on: expected text in quotes (got 3)"),
    ('name = "mine"', 'name = "a"', "there are two summands called 'a'"),
    ('name = "mine"', 'name = "no name"', "22: system.loads[1].name: name of a load must be an identifier"),
    ('name = "b"\n', "", "10: system.bodies[1].name: expected this key"),
    ("mass_kg = 10.0", "mass_kg = -10.0", "12: system.bodies[1].mass_kg: mass of body 'b' is -10"),
    ("mass_kg = 10.0", "mass_kg = 10.0\nwheel = 3", "system.bodies[1].wheel: unknown key"),
    ("inertia = [20.0,", "inertia = [2000.0,", "8: system.bodies[0].inertia"),
    ("[initial.b]", "[initial.c]", "30: initial.c: there is no body 'c' in [system]; its bodies are a, b"),
    ("[initial.b]\nposition_km", "[initial.b]\npostion_km", "did you mean"),
    ("rotation_vector =", "attitude = [1.0, 0.0, 0.0, 0.0]\nrotation_vector =", "are both given; keep one of them"),
    ("[initial.a]", "[initial]\npositoin = [1, 2, 3]\n[initial.a]", "unknown key; did you mean 'position'"),
    ('type = "system"', 'type = "systemm"', "did you mean 'system'?"),
]


@each(("old", "new", "told"), WRONG, ids=[new or f"without {old}" for old, new, _ in WRONG])
def test_what_is_wrong_is_told_at_its_place(read, old, new, told):
    assert old in PAIR
    with pytest.raises(InvalidInput) as refused:
        read(PAIR.replace(old, new), allow_code=True)
    assert told in str(refused.value), str(refused.value)


def test_bodies_by_name_belong_to_sums(read):
    with pytest.raises(InvalidInput, match=r"initial.a: there is no body 'a' in \[system\]; its bodies are none"):
        read('problem = "krysl_fast_top"\n[initial.a]\nrotation_vector = [0.1, 0.0, 0.0]\n')


AIR = """\
[system]
type = "system"
[[system.bodies]]
name = "a"
mass = 100.0
inertia = [20.0, 30.0, 25.0]
wheels = { axes = [[1.0, 0.0, 0.0]], inertia = 0.01, speed = [30.0] }
[[system.loads]]
kind = "central"
mu_km3_s2 = 398600.4415
[[system.loads]]
kind = "drag"
Cd = 2.2
area = 1.0
[system.surroundings.air_density]
kind = "exponential_air"
density = 1e-12
radius_km = 6878
scale_km = 60.0
[system.surroundings.wind]
kind = "laws.py:windy"
speed = 3.0
[initial.a]
position_km = [6878, 0, 0]
velocity = [0.0, 7600.0, 0.0]
[run]
step = 1.0
steps = 10
"""


def test_surroundings_and_wheels_stand_in_scenarios(read, tmp_path):
    (tmp_path / "laws.py").write_text("def windy(body, t, speed):\n    return speed * body.position\n")
    ds = read(AIR, allow_code=True).integrate()
    ours = ph.system(
        ph.body("a", 100.0, (20.0, 30.0, 25.0), wheels=ph.reaction_wheels([(1.0, 0.0, 0.0)], 0.01, speed=[30.0])),
        ph.loads.central(3.986004415e14), ph.loads.drag(Cd=2.2, area=1.0),
        surroundings={"air_density": ph.surroundings.exponential_air(1e-12, 6878e3, 60e3)},
    )  # fmt: skip
    start = {"position": (6878e3, 0.0, 0.0), "velocity": (0.0, 7600.0, 0.0)}
    same = ph.integrate(ours, step=1.0, steps=10, settings={"units": "SI"}, **start)
    assert np.array_equal(ds.position, same.position) and np.array_equal(ds.work, same.work)
    assert float(ds.work.sel(force="drag")[-1]) < -1.0 and float(abs(ds.energy_error).max()) < 1e-12


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("scale_km", "scael_km", "did you mean 'scale'"),
        ('"exponential_air"', '"exponential"', ":15: system.surroundings.air_density: expected kind ="),
        ('kind = "exponential_air"\n', "", "expected a key kind, one of dipole_field"),
        ("density = 1e-12\n", "", "system.surroundings.air_density.density: expected this key"),
        ("axes = ", "axis = ", ":7: system.bodies[0].wheels.axis: unknown key; did you mean 'axes'"),
        ("laws.py:windy", "laws.py:wind", "system.surroundings.wind.kind: laws.py has no function 'wind'"),
        ("surroundings.wind]", "surroundings.a]", "there are two summands called 'a'"),
        ("surroundings.air_density]", "surroundings.density]", "air_density"),
    ],
)
def test_what_is_wrong_about_surroundings_is_told_at_its_place(read, tmp_path, old, new, told):
    (tmp_path / "laws.py").write_text("def windy(body, t, speed):\n    return speed * body.position\n")
    assert old in AIR
    with pytest.raises(InvalidInput) as refused:
        read(AIR.replace(old, new), allow_code=True)
    assert told in str(refused.value), str(refused.value)


def test_events_of_bodies_stand_in_scenarios(read, tmp_path):
    near = "def near(a, b, least):\n    d = b.position - a.position\n    return d @ d - least**2\n"
    (tmp_path / "laws.py").write_text(LAWS + "\n\n" + near)
    event = '[[events]]\nkind = "laws.py:near"\non = ["a", "b"]\nleast = 119.0\ndirection = -1\n[run]'
    text = PAIR.replace("[run]", event)
    with pytest.raises(InvalidInput, match=r"events\[0\]\.kind: .* add --allow-code"):
        read(text)
    scenario = read(text, allow_code=True)
    ds = scenario.integrate()
    d = ds.event_position.values[0, 1] - ds.event_position.values[0, 0]
    assert ds.event_time.size == 1 and float(np.linalg.norm(d)) == pytest.approx(119.0, abs=1e-9)
    assert ph.rerun(ds, **scenario.functions).equals(ds)
    for old, new, told in (
        ("least = 119.0", "lest = 119.0", "no argument 'lest'"),
        ("near", "nera", "no function"),
        ('on = ["a", "b"]', 'on = ["a", "c"]', "'c'"),
        ("direction = -1", "direction = 2", "direction"),
    ):
        with pytest.raises(InvalidInput) as refused:
            read(text.replace(old, new), allow_code=True)
        assert told in str(refused.value), str(refused.value)


DAMPED = """\
[system]
type = "system"
[[system.bodies]]
name = "bus"
mass = 4.0
inertia = [2.0, 2.5, 3.0]
[[system.loads]]
kind = "laws.py:actuator"
[[system.controllers]]
name = "damper"
command = "laws.py:damping"
every = 0.1
parameters = { gain = 0.5 }
limit = 0.04
on = "bus"
states = { command = [0.0, 0.0, 0.0] }
[initial.bus]
angular_velocity = [0.1, 0.2, -0.1]
[run]
step = 0.05
steps = 400
"""
CONTROL = """\
def actuator(bus, command):
    return {"torque": command}


def damping(bus, gain):
    return {"command": -gain * bus.angular_velocity}
"""


def test_controllers_stand_in_scenarios(read, tmp_path):
    (tmp_path / "laws.py").write_text(CONTROL)
    with pytest.raises(InvalidInput, match=r"11: system\.controllers\[0\]\.command: .* add --allow-code"):
        read(DAMPED)
    scenario = read(DAMPED, allow_code=True)
    ds = scenario.integrate()

    def damping(bus, gain):
        return {"command": -gain * bus.angular_velocity}

    def actuator(bus, command):
        return {"torque": command}

    damper = ph.controller(damping, every=0.1, parameters={"gain": 0.5}, limit=0.04).on("bus").named("damper")
    ours = ph.system(ph.body("bus", 4.0, (2.0, 2.5, 3.0)), ph.loads.of(actuator),
                     damper.states(command=(0.0, 0.0, 0.0)))  # fmt: skip
    same = ph.integrate(ours, step=0.05, steps=400, angular_velocity=(0.1, 0.2, -0.1))
    assert np.array_equal(ds.angular_velocity, same.angular_velocity)
    assert float(abs(ds.angular_velocity[-1]).max()) < 0.02 and float(abs(ds.command).max()) == 0.04
    assert ph.rerun(ds, **scenario.functions).equals(ds)
    other = read(DAMPED, allow_code=True, changes={"damper.parameters.gain": 1.0})
    assert other.system.arguments["damper"]["gain"] == 1.0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("every = 0.1\n", "", "system.controllers[0]: every is missing"),
        ("every = 0.1", "every = -0.1", "12: system.controllers[0].every: every is -0.1"),
        ("laws.py:damping", "laws.py:dumping", "system.controllers[0].command: laws.py has no function 'dumping'"),
        ("gain = 0.5", "gian = 0.5", "no argument 'gian'"),
        ('on = "bus"', 'on = "bos"', "system.controllers[0].on: unknown body"),
        ("limit = 0.04", "limits = 0.04", "did you mean 'limit'"),
    ],
)
def test_what_is_wrong_about_a_controller_is_told_at_its_place(read, tmp_path, old, new, told):
    (tmp_path / "laws.py").write_text(CONTROL)
    assert old in DAMPED
    with pytest.raises(InvalidInput) as refused:
        read(DAMPED.replace(old, new), allow_code=True)
    assert told in str(refused.value), str(refused.value)


def test_the_shell_sets_other_values(read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wind = AIR[AIR.index("[system.surroundings.wind]") : AIR.index("[initial.a]")]
    (tmp_path / "air.toml").write_text(AIR.replace(wind, ""))
    words = ["run", "air.toml", "-q", "--no-picture", "--set", "drag.area=4.0", "--set", "system.bodies[0].mass=50.0",
             "--set", "run.steps=5", "--set", "method=v2/kepler"]  # fmt: skip
    assert CliRunner().invoke(group, words).exit_code == 0
    ds = ph.load("air.nc")
    assert ds.sizes["time"] == 6 and ds.attrs["method"] == "v2/kepler"
    record = json.loads(ds.attrs["run"])["system"]["arguments"]
    assert record["drag"]["area"] == 4.0 and record["a"]["mass"] == 50.0
    assert json.loads(ds.attrs["scenario_changes"])["drag.area"] == 4.0
    for told, words in (("is no KEY=VALUE", "drag.area"), ("did you mean 'area'", "drag.aera=3.0")):
        ended = CliRunner().invoke(group, ["run", "air.toml", "--set", words])
        assert isinstance(ended.exception, InvalidInput) and told in str(ended.exception)


# ------------------------------------------------------------------ loads that are added
def yukawa(body, strength: float, reach: Length = 2.0):
    """A well of finite reach.

    Parameters
    ----------
    strength : float
        How deep.
    reach : float
        How far.
    """
    r = np.linalg.norm(body.position)
    return -STRONGER * strength / r * np.exp(-r / reach)


def motor(torque: float, tau: float = 1.0) -> ph.loads.Load:
    """A motor that comes to its torque."""
    return ph.loads.of(driven, torque=torque, tau=tau).states(drive=0.0)


def driven(body, drive, torque, tau):
    return {"torque": drive * np.array([0.0, 0.0, 1.0]), "drive": (torque - drive) / tau}


STRONGER = 1.0


@pytest.fixture
def added():
    yield [ph.loads.add_load(one) for one in (yukawa, motor)]
    for name in ("yukawa", "motor"):
        LOADS.pop(name, None)


def test_an_added_load_is_one_of_polhode(added, read):
    assert ph.loads.yukawa is added[0] and ph.loads.add_load(yukawa) is added[0]
    ours = ph.system(ph.body("a", 2.0, (1.0, 1.5, 2.0)), ph.loads.yukawa(3.0), ph.loads.motor(0.1).named("wound"))
    assert ours.arguments["yukawa"] == {"kind": "yukawa", "strength": 3.0, "reach": 2.0}
    start = {"position": (1.0, 0.0, 0.0), "velocity": (0.0, 1.0, 0.0)}
    ds = ph.integrate(ours, step=0.01, steps=100, **start)
    assert float(abs(ds.energy_error).max()) < 1e-12 and float(ds.drive[-1]) > 0.06
    assert ph.rerun(ds).equals(ds)  # no function is handed in
    text = """\
[system]
type = "system"
bodies = [{ name = "a", mass = 2.0, inertia = [1.0, 1.5, 2.0] }]
loads = [{ kind = "yukawa", strength = 3.0, reach_m = 2.0 }, { kind = "motor", name = "wound", torque = 0.1 }]
[initial.a]
position = [1.0, 0.0, 0.0]
velocity = [0.0, 1.0, 0.0]
[run]
step = 0.01
steps = 100
"""
    same = read(text).integrate()
    assert np.array_equal(same.position, ds.position) and np.array_equal(same.drive, ds.drive)
    assert read(text).functions == {}
    keys = json_schema()["$defs"]["YukawaLoad"]["properties"]
    assert keys["reach"]["description"] == "How far" and "reach_km" in keys
    other = pickle.loads(pickle.dumps(ours))
    assert other.arguments == ours.arguments
    many = ph.ensemble(ours, step=0.01, steps=100, members={"yukawa.strength": [3.0, 4.0]}, **start)
    assert np.allclose(many.position[0], ds.position, rtol=0, atol=1e-13)
    assert abs(many.position[1, -1] - many.position[0, -1]).max() > 0.01


def test_a_number_of_an_added_load_may_be_left_out():
    def spring(body, stiffness: float, rest: float | None = None):
        r = np.linalg.norm(body.position)
        return stiffness * (r * r if rest is None else (r - rest) ** 2)

    try:
        ph.loads.add_load(spring)
        loose, at_rest = ph.loads.spring(3.0), ph.loads.spring(3.0, rest=1.0)
        energies = [float(ph.integrate(ph.system(ph.body("a", 2.0), one), "v2", step=0.01, steps=1,
                                       position=(2.0, 0, 0)).energy[0]) for one in (loose, at_rest)]  # fmt: skip
        assert energies == [12.0, 3.0] and set(at_rest.parameters) == {"stiffness", "rest"}
    finally:
        LOADS.pop("spring", None)


def test_what_an_added_load_reads_is_read_anew(added, monkeypatch):
    ours = ph.system(ph.body("a", 2.0), ph.loads.yukawa(3.0))
    run = {"step": 0.01, "steps": 20, "position": (1.0, 0.0, 0.0)}
    before = ph.integrate(ours, "v2", **run)
    monkeypatch.setattr(f"{__name__}.STRONGER", 2.0)
    after = ph.integrate(ours, "v2", **run)
    assert float(after.energy[0]) == pytest.approx(2.0 * float(before.energy[0]), rel=1e-14)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: ph.loads.add_load(yukawa, name="tether"), "there is already a load 'tether'"),
        (lambda: ph.loads.add_load(driven, name="body"), "there is already a load 'body'"),
        (lambda: ph.loads.add_load(driven, name="yukawa"), "there is already a load 'yukawa'"),
        (lambda: ph.loads.add_load(3), "function must be a plain function of bodies"),
        (lambda: ph.loads.add_load(lambda body: 1.0), "name of a load must be an identifier"),
        (lambda: ph.loads.yukawa(), "yukawa: missing a required argument: 'strength'"),
        (lambda: ph.loads.yukawa(1.0, reech=2.0), "did you mean 'reach'?"),
        (lambda: ph.loads.yukawa("deep"), "strength of load 'yukawa' must be real numbers"),
        (lambda: ph.system(ph.body("a", 1.0), q={"kind": "yukava"}), "did you mean 'yukawa'?"),
        (lambda: ph.system(ph.body("a", 1.0), q={"kind": "homemade"}), "add_load makes one of your own known"),
    ],
)
def test_what_cannot_be_added_is_told(added, call, told):
    with pytest.raises(InvalidInput) as refused:
        call()
    assert told in str(refused.value) and "\n" not in str(refused.value)


ONE_FILE = '''\
"""A well of finite reach: a load of one's own, everywhere."""

import numpy as np

import polhode as ph
from polhode.arguments.words import Length


def yukawa(body, strength: float, reach: Length = 2.0):
    """A well of finite reach.

    Parameters
    ----------
    strength : float
        How deep.
    reach : float
        How far.
    """
    r = np.linalg.norm(body.position)
    return -strength / r * np.exp(-r / reach)


def add():
    """Makes it known: by a script, or as an entry point of the group polhode.plugins."""
    ph.loads.add_load(yukawa)
'''
SHORT = """\
[system]
type = "system"
bodies = [{ name = "a", mass = 2.0 }]
[[system.loads]]
kind = "yukawa"
strength = 3.0
reach_m = 1.5
[initial.a]
position = [1.0, 0.0, 0.0]
velocity = [0.0, 1.0, 0.0]
[run]
step = 0.01
steps = 100
"""


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """What a shell says where the file of the load is a plug-in of an installed package."""
    about = tmp_path / "wells-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: wells\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[polhode.plugins]\nwells = wells:add\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins, "_loaded", [])

    def said(words):
        ended = CliRunner().invoke(group, words.split(), catch_exceptions=False)
        assert ended.exit_code == 0 and not ended.stderr
        return ended.stdout

    yield said
    sys.modules.pop("wells", None)


def test_one_file_of_thirty_lines_is_a_load_everywhere(tmp_path, shell):
    """In Python, in scenarios by its file or as a plug-in, in the shell, in listings and in the schema."""
    assert len(ONE_FILE.splitlines()) <= 30
    (tmp_path / "wells.py").write_text(ONE_FILE)
    (tmp_path / "by_name.toml").write_text(SHORT)
    (tmp_path / "by_file.toml").write_text(SHORT.replace('"yukawa"', '"wells.py:yukawa"').replace("reach_m", "reach"))
    shell("run by_name.toml -q --no-picture")
    shell("run by_file.toml -q --no-picture --allow-code")
    systems, schema, new = map(shell, ("systems --json", "schema", "new bodies -q"))
    one, other = ph.load(tmp_path / "by_name.nc"), ph.load(tmp_path / "by_file.nc")
    assert np.array_equal(one.position, other.position) and float(abs(one.energy_error).max()) < 1e-12
    assert float(abs(one.position[-1] - one.position[0]).max()) > 0.1
    listed = next(row for row in json.loads(systems)["loads"] if row["name"] == "yukawa")
    assert listed["description"] == "A well of finite reach." and listed["arguments"]["reach"]["unit"] == "m"
    assert "reach_km" in json.loads(schema)["$defs"]["YukawaLoad"]["properties"]
    assert 'kind = "yukawa"' in (new or (tmp_path / "bodies.toml").read_text())


def test_a_function_that_makes_loads_is_a_kind_of_its_file(read, tmp_path):
    (tmp_path / "laws.py").write_text(
        "import polhode as ph\ndef drive(a, turn, rate):\n    return {'torque': turn, 'turn': -rate * turn}\n"
        "def fading(turn: float, rate: float = 0.5) -> ph.loads.Load:\n"
        "    return ph.loads.of(drive, rate=rate).states(turn=[0.0, 0.0, turn])\n"
    )
    text = SHORT.replace("mass = 2.0", "mass = 2.0, inertia = [1.0, 1.5, 2.0]").replace("reach_m = 1.5\n", "")
    text = text.replace('"yukawa"', '"laws.py:fading"').replace("strength = 3.0", "turn = 0.1")
    ds = read(text, allow_code=True).integrate()
    assert float(ds.angular_velocity[-1, 2]) == pytest.approx(0.1 * (1.0 - np.exp(-0.5)), rel=1e-6)
    with pytest.raises(InvalidInput, match=r"system.loads\[0\]: turn is missing; fading needs it"):
        read(text.replace("turn = 0.1", "rate = 0.1"), allow_code=True)


# ------------------------------------------------------------------ members
TWO = (ph.body("a", 100.0, (20.0, 30.0, 25.0)), ph.body("b", 10.0))


@each("engine", ["threads", pytest.param("lanes", marks=pytest.mark.full)])
def test_members_start_by_the_names_of_bodies_as_single_runs_do(engine):
    places = np.array([[110.0, 0.0, 0.0], [105.0, 1.0, 0.0], [101.0, 2.0, 3.0]])
    run = {"step": 0.1, "steps": 100}
    still, turning = {"velocity": (0.0, 1.0, 0.0)}, {"angular_velocity": (0.0, 0.0, 0.1)}
    pair = ph.system(*TWO, ph.loads.tether(5.0, 100.0).on("a", "b"))
    members = {"b": {"position": places}, "a": {"rotation_vector": 1e-3 * places, "mass": [100.0, 90.0, 80.0]}}
    ds = ph.ensemble(pair, "v2", start={"a": turning, "b": still}, members=members, engine=engine, **run)
    for k, mass in enumerate((100.0, 90.0, 80.0)):
        one = ph.system(ph.body("a", mass, (20.0, 30.0, 25.0)), TWO[1], ph.loads.tether(5.0, 100.0).on("a", "b"))
        start = {"a": {**turning, "rotation_vector": 1e-3 * places[k]}, "b": {**still, "position": places[k]}}
        alone = ph.integrate(one, "v2", start=start, **run)
        for name in ("position", "attitude"):
            assert abs(ds[name].values[k] - alone[name].values).max() < 1e-12, name
    assert ds["initial_b.position"].dims == ("member", "axis") and "a.mass" in ds.coords


def test_drawn_starts_of_bodies_are_recorded_by_name():
    pair = ph.system(*TWO, ph.loads.tether(5.0, 100.0).on("a", "b"))
    drawn = ph.ensembles.sampling.members(
        {"b.position": ph.ensembles.sampling.normal((110.0, 0.0, 0.0), 1.0)}, 5, seed=1
    )
    ds = ph.ensemble(pair, "v2", step=0.1, steps=2, members=drawn)
    assert np.array_equal(ds.position[:, 0, 1], ds["initial_b.position"]) and "b.position" in ds.attrs["ensemble"]


@each(
    ("given", "told"),
    [
        ({"start": {"b": {"position": (1.0, 0, 0)}}, "members": {"b": {"position": np.ones((2, 3))}}},
         "b.position varies among the members, and is given for all too"),
        ({"members": {"c": {"position": np.ones((2, 3))}}}, "unknown body of the system, given in members 'c'"),
        ({"members": {"b": {"position": np.ones((2, 2))}}}, "members has values of shape (2,) of b.position"),
        ({"members": {"b.position": np.ones((2, 3)), "position": np.ones((2, 3))}}, "position of all bodies and of"),
    ],
)  # fmt: skip
def test_what_members_cannot_say_of_bodies_is_told(given, told):
    pair = ph.system(*TWO, ph.loads.tether(5.0, 100.0).on("a", "b"))
    with pytest.raises(InvalidInput) as refused:
        ph.ensemble(pair, "v2", step=0.1, steps=2, **given)
    assert told in str(refused.value)


# ------------------------------------------------------------------ other values
@each(
    "key",
    [
        "tether.stiffness", "system.loads[0].stiffness", "system.loads.0.stiffness", "system.loads.tether.stiffness",
        "mine.gain", "a.mass", "system.bodies.a.mass",
    ],
)  # fmt: skip
def test_values_are_changed_by_the_names_of_summands(read, key):
    name, number = "tether", "stiffness"
    if "tether" not in key and "loads" not in key:
        name, number = key.removeprefix("system.bodies.").split(".")
    changed = read(PAIR, allow_code=True, changes={key: 7.0}).system
    assert changed.arguments[name][number] == 7.0
    assert read(PAIR, allow_code=True).system.arguments[name][number] != 7.0


def test_a_change_of_what_is_not_there_is_told(read):
    told = {"system.loads.rope.stiffness": "asks for entry 'rope' of system.loads",
            "tether.stiffnss": "did you mean 'stiffness'", "system.loads[2].x": "has 2 entries"}  # fmt: skip
    for key, words in told.items():
        with pytest.raises(InvalidInput) as refused:
            read(PAIR, allow_code=True, changes={key: 7.0})
        assert words in str(refused.value)
