"""Scenarios: what a file means, where its mistakes are, and that it runs as the Python interface does."""

import dataclasses
import inspect
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.arguments import words
from polhode.errors import InvalidInput
from polhode.methods import options_by_name
from polhode.runs import scenario as scenarios
from polhode.runs.scenario import key_lines, read_scenario
from polhode.runs.scenario.schema import initial_table, of_whole, scenario_file
from polhode.runs.scenario.tables import check, inside
from polhode.systems import SYSTEMS
from polhode.systems.initial import on_lattice
from polhode.systems.listing import SUMMANDS
from polhode.systems.recipes import RECIPES

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
TOP = """\
[system]
type = "heavy_top"
inertia = [5.0, 5.0, 1.0]
center_of_mass = [0.0, 0.0, 1.0]
weight = 20.0
"""


@pytest.fixture
def read(tmp_path):
    """Write a scenario and read it."""

    def write_and_read(text, **options):
        path = tmp_path / "scenario.toml"
        path.write_text(text)
        return read_scenario(path, **options)

    return write_and_read


# ------------------------------------------------------------------ the specification
def test_systems_of_scenarios_are_those_of_python():
    tables = {table.tag: set(table.keys) - {"type"} for table in inside(scenario_file().keys["system"].type)}
    assert tables.pop("system") == {*SUMMANDS, *of_whole()}
    assert tables == {name: set(inspect.signature(build).parameters) for name, build in SYSTEMS.items()}


def test_committed_schema_is_the_generated_one():
    committed = json.loads((ROOT / "schema" / "scenario.schema.json").read_text())
    assert committed == scenarios.json_schema(), "run: polhode schema > schema/scenario.schema.json"


@each("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid(path):
    scenario = read_scenario(path, allow_code=True)
    assert scenario.title and scenario.text == path.read_text() and scenario.path == path


# ------------------------------------------------------------------ lines
TRICKY = '''\
# a comment with = and [brackets]
title = "a = [1, 2] # no comment" # a comment
"quoted.key" = 'single "quotes"'
dotted.inner = 1

[table]
list = [
    1, # one
    2,

    [3,
     4], { a = 1, b = { c = [5,
       6] } },
]
text = """
[not.a.table]
x = 1 \\""" y = 2
"""
literal = \'\'\'
[nor.this]\'\'\'
date = 2020-01-02T03:04:05Z
last = true

[table.sub."odd key"]
x=1e-3
[[many]]
name = 1
[[many]]
name = 2
[many.part]
deep = 3
[[many.more]]
z = 4'''


def walk(value, key=()):
    if key:
        yield key
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in inside:
        yield from walk(inner, (*key, name))


@each("text", [TRICKY, "", "a=1", *(path.read_text() for path in EXAMPLES)])
def test_every_key_has_a_line(text):
    assert set(key_lines(text)) == set(walk(tomllib.loads(text)))


def test_lines_of_keys():
    lines = key_lines(TRICKY)
    places = {
        ("title",): 2, ("quoted.key",): 3, ("dotted", "inner"): 4, ("table", "list"): 7, ("table", "list", 0): 8,
        ("table", "list", 2): 11, ("table", "list", 2, 1): 12, ("table", "list", 3, "b", "c", 1): 13,
        ("table", "text"): 15, ("table", "literal"): 19, ("table", "last"): 22, ("table", "sub", "odd key", "x"): 25,
        ("many", 1): 28, ("many", 1, "name"): 29, ("many", 1, "part", "deep"): 31, ("many", 1, "more", 0, "z"): 33,
    }  # fmt: skip
    assert {key: lines[key] for key in places} == places


WRONG_VALUES = {
    "run.tangent = 3": "run.tangent: expected true or false or a list (got 3)",
    "run.every = 0": "run.every: expected a whole number, 1 or more (got 0)",
    "run.units = 'km'": "run.units: expected 'consistent', 'SI' or 'molecular' (got \"km\")",
    "initial.velocity = 5": "initial.velocity: expected 0 (got 5)",
    "initial.position = [1, 2, 3, 'x']": 'initial.position: expected 3 entries (got 4: [1, 2, 3, "x"])',
    "initial.position = [1, 'x']": 'initial.position[1]: expected a number (got "x")',
    "initial.position = [[1, 2, inf]]": "initial.position[0][2]: expected a finite number (got inf)",
    "initial.a = 1": "initial.a: unknown key; known here: aem, ",
    "system.bax = 1": "system.bax: unknown key; did you mean 'box'?",
    "events = [{ kind = 3 }]": "events[0]: expected kind = 'apsis', ",
    "events = [{}]": "events[0]: expected a key kind, one of altitude, apsis, ",
    "version = true": "version: expected 2 (got true)",
}


@each("line", WRONG_VALUES)
def test_what_a_value_has_to_be_is_told(read, line):
    top = f'{line}\nsystem.type = "dipoles"\nsystem.n = 2\nrun.step = 0.1\nrun.t_end = 1.0\n'
    with pytest.raises(InvalidInput) as refused:
        read(top)
    assert f"scenario.toml:1: {WRONG_VALUES[line]}" in str(refused.value)


def test_all_mistakes_at_once(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(
        """\
ttle = "x"
method = "trapmm"
[system]
type = "heavy_top"
inertia = { box = { mass = 1.0, sides = [1,
   2, -3], foo = 2 } }
weight = true
[initial]
attitude = [1, 0, 0, 0]
rotation_vector = [0, 0, 0]
[run]
step = "0.1"
every = 0
[output]
file = "a.txt"
"""
    )
    with pytest.raises(InvalidInput) as caught:
        read_scenario(path)
    found = [line.removeprefix(str(path)) for line in str(caught.value).splitlines()]
    assert found == [
        f"8 mistakes in {path}:",
        ":1: ttle: unknown key; did you mean 'title'?",
        ":2: method: unknown method 'trapmm'; did you mean 'trapm' or 'trap' or 'bbtrap'?",
        ":6: system.inertia.box.foo: unknown key; known here: mass, sides",
        ":7: system.weight: expected a number (got true)",
        ":10: initial.rotation_vector: attitude and rotation_vector are given; keep one of them",
        ':12: run.step: expected a number (got "0.1")',
        ":13: run.every: expected a whole number, 1 or more (got 0)",
        ":15: output.file: 'a.txt' must end in .nc (netCDF) or .zarr (Zarr folder)",
    ]


# ------------------------------------------------------------------ meaning
RUN = "[run]\nstep = 0.001\nsteps = 10\n"


def test_attitude_in_four_forms(read):
    angles = np.array([0.1, -0.2, 0.3])
    expected = ph.rotation.quaternion_from_euler(angles, "zyx")
    forms = [
        f"attitude = {expected.tolist()}",
        f"rotation_vector = {ph.rotation.log_quaternion(expected).tolist()}",
        f'euler_angles = {angles.tolist()}\nsequence = "zyx"',
        f'euler_angles_deg = {np.rad2deg(angles).tolist()}\nsequence = "zyx"',
    ]
    for form in forms:
        found = read(f"{TOP}[initial]\n{form}\n{RUN}").arguments["attitude"]
        np.testing.assert_allclose(found, expected, rtol=0, atol=4e-16)


@each("name", ["angular_velocity", "angular_momentum"])
def test_turning_given_in_space(read, name):
    scenario = read(f"{TOP}[initial]\nrotation_vector = [0.3, 0.1, 0.0]\n{name}_space = [1.0, 2.0, 3.0]\n{RUN}")
    seen = ph.rotation.rotate(scenario.arguments["attitude"], scenario.arguments[name])
    np.testing.assert_allclose(seen, [1.0, 2.0, 3.0], rtol=1e-15)


def test_particle_with_one_stiffness_or_three(read):
    start = f"[initial]\nposition = [1, 0, 0]\nvelocity = [0, 1, 0]\n{RUN}"
    one = read(f'[system]\ntype = "particle"\nmass = 2\nstiffness = 3\n{start}')
    three = read(f'[system]\ntype = "particle"\nmass = 2\nstiffness = [3, 3, 3.0]\n{start}')
    assert (one.system.parameters == three.system.parameters).all()
    assert one.arguments["velocity"] == [0.0, 1.0, 0.0]


def test_inertia_from_shapes(read):
    shapes = {
        "box": ({"mass": 2.0, "sides": [1.0, 2.0, 3.0]}, "{ mass = 2.0, sides = [1, 2, 3] }"),
        "cylinder": (
            {"mass": 2.0, "radius": 0.3, "height": 1.0, "inner_radius": 0.1},
            "{ mass = 2.0, radius = 0.3, height = 1.0, inner_radius = 0.1 }",
        ),
        "ellipsoid": ({"mass": 2.0, "semi_axes": [1.0, 2.0, 3.0]}, "{ mass = 2.0, semi_axes = [1, 2, 3] }"),
        "sphere": ({"mass": 2.0, "radius": 0.3}, "{ mass = 2.0, radius = 0.3 }"),
        "disk": ({"mass": 2.0, "radius": 0.3}, "{ mass = 2.0, radius = 0.3 }"),
        "point_masses": (
            {"masses": [1.0, 2.0, 1.0], "positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0]]},
            "{ masses = [1, 2, 1], positions = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] }",
        ),
    }
    for name, (arguments, text) in shapes.items():
        body = getattr(ph.inertia, name)(**arguments)
        made = read(f'[system]\ntype = "free_body"\ninertia = {{ {name} = {text} }}\n{RUN}').system
        assert made.arguments["inertia"] == body.inertia.tolist()
        made = read(f'[system]\ntype = "free_body"\ninertia.{name} = {text}\ninertia.about = [0, 0, 1]\n{RUN}').system
        assert made.arguments["inertia"] == body.about([0, 0, 1]).tolist()


def test_a_top_by_its_mass(read):
    text = TOP.replace("weight = 20.0", 'mass = 2.0\ngravity = 1.62\ninertia_about = "center_of_mass"') + RUN
    made = read(text).system
    same = ph.heavy_top((5, 5, 1), (0, 0, 1), mass=2.0, gravity=1.62, inertia_about="center_of_mass")
    assert made.arguments == {**same.arguments, "inertia": [5.0, 5.0, 1.0]}
    np.testing.assert_array_equal(made.moments, [(7.0, 7.0, 1.0)])
    assert read(TOP.replace("weight = 20.0", "mass = 2.0") + RUN).system.parameters[0] == 2 * 9.81


def test_ready_made_problem_and_what_overrides_it(read):
    ready = ph.systems.problem("krysl_slow_top")
    plain = read('problem = "krysl_slow_top"')
    assert plain.title == ready.description and plain.method == plain.system.recommended
    assert plain.arguments["step"] == ready.step and plain.arguments["t_end"] == ready.t_end
    assert tuple(plain.arguments["angular_velocity"]) == ready.initial["angular_velocity"]
    assert plain.arguments["attitude"] == ph.rotation.exp_quaternion(ready.initial["rotation_vector"]).tolist()
    changed = read(
        'title = "mine"\nproblem = "krysl_slow_top"\nmethod = "imid"\n[initial]\nangular_momentum = [0, 0, 2.0]\n'
        '[run]\nsteps = 7\nt0 = 1.0\nguard = false\nunits = "SI"'
    )
    assert changed.title == "mine" and changed.method == "imid"
    assert changed.arguments["angular_momentum"] == [0, 0, 2] and "angular_velocity" not in changed.arguments
    assert changed.arguments["attitude"] == plain.arguments["attitude"]
    assert changed.arguments["steps"] == 7 and "t_end" not in changed.arguments
    assert (changed.arguments["t0"], changed.arguments["guard"], changed.arguments["units"]) == (1.0, False, "SI")
    later = read('problem = "krysl_slow_top"\n[run]\nt0 = 1.0')
    assert later.arguments["t_end"] == 1.0 + ready.t_end


def test_method_as_string_and_as_table(read):
    problem = 'problem = "krysl_slow_top"\n'
    table = read(problem + '[method]\nname = "mkrk"\ntableau = "gauss4"\nmap = "cayley"').method
    assert table == read(problem + 'method = "mkrk:gauss4:cayley"').method == "mkrk:gauss4:cayley"


def test_method_with_a_sequence_and_a_branch(read):
    text = 'problem = "krysl_slow_top"\n[method]\nname = "euler"\nsequence = "ZXZ"\nbranch = "continuous"\n'
    beside = 'problem = "krysl_slow_top"\nmethod = "euler"\nsequence = "ZXZ"\nbranch = "continuous"\n'
    assert read(text).method == read(beside).method == "euler:rk4:exp:ZXZ:continuous"
    with pytest.raises(InvalidInput, match="under \\[method\\]"):
        read('map = "exp"\n' + text)
    with pytest.raises(InvalidInput, match="none is named"):
        read('problem = "krysl_slow_top"\nsequence = "ZXZ"\n')
    with pytest.raises(InvalidInput, match=r"'principle'.*did you mean 'principal'"):
        read(text.replace("continuous", "principle"))
    with pytest.raises(InvalidInput, match=r":4: method.sequence: .*\n.*:5: method.branch: "):
        read(text.replace("continuous", "principle").replace("ZXZ", "ZXX"))
    with pytest.raises(InvalidInput, match="sequence"):
        read(text.replace('"euler"', '"trapm"'))


def test_changes_by_the_caller(read):
    scenario = read('problem = "krysl_slow_top"\nmethod = "imid"', method="trapm", step=0.025)
    assert (scenario.method, scenario.arguments["step"]) == ("trapm", 0.025)
    with pytest.raises(InvalidInput, match="method: a method is named by a string"):
        read('problem = "krysl_slow_top"', method={"tableau": "gauss4"})
    assert scenario.changes == {"method": "trapm", "step": 0.025}
    with pytest.raises(InvalidInput, match="the nearest step that fits"):
        read('problem = "krysl_slow_top"', step=0.03)


# ------------------------------------------------------------------ running
def test_runs_as_integrate_does(read):
    text = f'title = "A top"\nmethod = "trapm"\n{TOP}[initial]\nrotation_vector = [0.3, 0, 0]\n{RUN}'
    ds = read(text).integrate()
    start = ph.rotation.exp_quaternion((0.3, 0.0, 0.0))
    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    assert ds.equals(ph.integrate(top, "trapm", step=0.001, steps=10, attitude=start))
    assert ds.attrs["scenario"] == text and ds.attrs["title"] == "A top"
    assert ds.equals(ph.rerun(ds))


def test_going_on_from_what_was_computed(read):
    text = f'method = "trapm"\n{TOP}[initial]\nrotation_vector = [0.3, 0, 0]\nangular_velocity = [0, 0, 5]\n[run]\n'
    whole = read(text + "step = 0.001\nt_end = 0.05\nevery = 10")
    half = read(text + "step = 0.001\nt_end = 0.02\nevery = 10").integrate()
    rest = whole.continued(half)
    assert rest.arguments["t0"] == 0.02 and rest.changes == {"continued_from": 0.02}
    found, expected = rest.integrate(), whole.integrate()
    assert json.loads(found.attrs["scenario_changes"]) == {"continued_from": 0.02}
    np.testing.assert_allclose(found.time, expected.time[2:], rtol=1e-14)
    np.testing.assert_allclose(found.attitude, expected.attitude[2:], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.angular_momentum, expected.angular_momentum[2:], rtol=0, atol=1e-13)
    with pytest.raises(InvalidInput, match="nothing is left"):
        whole.continued(expected)
    with pytest.raises(InvalidInput, match="is of 'heavy_top'"):
        read('problem = "krysl_free_body"').continued(half)


def test_going_on_with_angles_that_count_turns(read):
    """Of angles beyond their ranges an attitude knows nothing."""
    text = f'{TOP}[initial]\nangular_velocity = [0, 0.1, 50]\n[method]\nname = "euler"\nbranch = "continuous"\n'
    whole = read(text + "[run]\nstep = 0.01\nt_end = 2.0\nevery = 10")
    half = read(text + "[run]\nstep = 0.01\nt_end = 1.0\nevery = 10").integrate()
    found, expected = whole.continued(half).integrate(), whole.integrate()
    assert float(expected.euler_angles.max()) > 90.0
    np.testing.assert_allclose(found.euler_angles, expected.euler_angles[10:], rtol=0, atol=1e-11)


def test_a_tolerance_in_the_place_of_the_step(read):
    text = (
        'problem = "krysl_slow_top"\n[run]\nrtol = 1e-7\natol = 1e-9\nt_end = 0.3\nmax_step = 0.05\nmax_steps = 500\n'
    )
    scenario = read(text)
    assert scenario.method == "taylor" and "step" not in scenario.arguments
    ds = scenario.integrate()
    ready = ph.systems.problem("krysl_slow_top")
    start = dict(ready.initial)
    start["attitude"] = ph.rotation.exp_quaternion(start.pop("rotation_vector"))
    same = ph.integrate(ready.build(), steps=ph.Tolerance(1e-7, 1e-9, max_step=0.05, max_steps=500), t_end=0.3, **start)
    assert ds.equals(same) and ds.attrs["scenario"] == text and ds.attrs["rtol"] == 1e-7
    fixed = read(text, method="trapm", step=0.025)
    assert fixed.arguments["step"] == 0.025 and not {"rtol", "atol", "max_step", "max_steps"} & set(fixed.arguments)
    assert fixed.integrate().attrs["steps"] == 12
    chosen = read('problem = "krysl_slow_top"\nmethod = "mkrk:dp5"\n[run]\nstep = 0.01\nsteps = 30', rtol=1e-5)
    assert chosen.arguments["rtol"] == 1e-5 and chosen.arguments["t_end"] == pytest.approx(0.3)
    assert not {"step", "steps"} & set(chosen.arguments) and chosen.changes == {"rtol": 1e-5}
    with pytest.raises(InvalidInput, match="step and rtol are both given"):
        read(text, step=0.1, rtol=1e-3)


@each(
    ("lines", "told"),
    [
        ("rtol = 1e-7\nstep = 0.1", "rtol and step are both given"),
        ("step = 0.1\natol = 1e-7", "atol is given without rtol"),
        ("step = 0.1\nmax_steps = 7", "max_steps is given without rtol"),
        ("rtol = 1e-20", "rtol is 1e-20; it must be at least 1e-17"),
        ("rtol = 1e-7\nmax_step = 0.0", "max_step is 0; it must be positive"),
        ("rtol = 1e-7\nmax_steps = 0", "expected a whole number, 1 or more"),
        ("rtol = 1e-7\nt_eval = [0.1, 0.5]", "t_eval must lie between"),
    ],
)
def test_mistakes_about_tolerances(read, lines, told):
    with pytest.raises(InvalidInput, match=re.escape(told)) as caught:
        read(f'problem = "krysl_slow_top"\nmethod = "mkrk:dp5"\n[run]\nt_end = 0.3\n{lines}')
    assert "scenario.toml:" in str(caught.value) and "run" in str(caught.value)


def test_a_tolerance_needs_a_method_that_estimates(read):
    with pytest.raises(InvalidInput, match=r"scenario\.toml:2: method: method 'trapm' does not estimate its error"):
        read('problem = "krysl_slow_top"\nmethod = "trapm"\n[run]\nrtol = 1e-7\nt_end = 0.3')


@each("more", ["every = 3", "t_eval = [0.0, 0.1, 0.25, 0.3]"])
def test_going_on_with_a_tolerance(read, more):
    text = f'problem = "krysl_slow_top"\nmethod = "mkrk:dp5"\n[run]\nrtol = 1e-9\n{more}\n'
    whole = read(text + "t_end = 0.3")
    ds = whole.integrate()
    half = ds.isel(time=slice(None, 3))
    rest = whole.continued(half)
    now = float(half.time[-1])
    assert (rest.arguments["t0"], rest.arguments["t_end"]) == (now, 0.3)
    assert rest.arguments["first_step"] == float(half.step[-1]) and "steps" not in rest.arguments
    found = rest.integrate()
    assert found.time[-1] == 0.3
    np.testing.assert_allclose(found.angular_momentum[-1], ds.angular_momentum[-1], rtol=1e-6)
    np.testing.assert_allclose(found.attitude[-1], ds.attitude[-1], rtol=0, atol=1e-6)
    with pytest.raises(InvalidInput, match="nothing is left"):
        whole.continued(ds)


# ------------------------------------------------------------------ the user's code
CODE = "from pathlib import Path\nfrom beside import SIZE\n\nPath(__file__).with_suffix('.ran').touch()\n\n\n"
CODE += "def torque(t, q, omega, parameters):\n    return (0.0, 0.0, SIZE * parameters[0])\n"
WITH_CODE = f'method = "trapm"\n[system]\ntype = "rigid_body"\ninertia = [2, 3, 4]\ntorque = "mine.py:torque"\n{RUN}'


def test_code_runs_only_when_allowed(read, tmp_path):
    (tmp_path / "mine.py").write_text(CODE)
    (tmp_path / "beside.py").write_text("SIZE = 0.5\n")
    text = WITH_CODE.replace("torque =", "parameters = [4.0]\ntorque =")
    with pytest.raises(InvalidInput, match=r"scenario\.toml:6: system\.torque: .* add --allow-code"):
        read(text)
    assert not (tmp_path / "mine.ran").exists()
    ds = read(text, allow_code=True).integrate()
    assert (tmp_path / "mine.ran").exists()
    np.testing.assert_allclose(ds.angular_momentum[-1], [0, 0, 2.0 * 0.01], rtol=1e-12)


# ------------------------------------------------------------------ many bodies
EIGHT = """\
method = "rkn6_14a"
[system]
type = "gravitating_bodies"
mass = [1, 1, 1, 1, 1, 1, 1, 2]
[run]
step = 0.01
steps = 3
[initial]
"""


def test_many_bodies_begin_on_a_lattice_with_a_temperature_and_an_energy(read):
    found = read(EIGHT + "lattice = 'cubic'\nspacing = 2\nnoise = 0.01\ntemperature = 0.3\nenergy = 4\nseed = 7\n")
    sites = ph.initial.cubic(2, spacing=2.0, noise=0.01, seed=7).state
    state = sites | ph.initial.thermal(found.system, 0.3, 7)
    state = ph.initial.at_energy(found.system, state, 4.0)
    np.testing.assert_array_equal(found.arguments["position"], state["position"])
    np.testing.assert_array_equal(found.arguments["momentum"], state["momentum"])
    ds = found.integrate()
    assert float(ds.energy[0]) == pytest.approx(4.0, rel=1e-14)
    again = ph.rerun(ds)
    np.testing.assert_array_equal(again.position, ds.position)


def test_the_other_ways_in_which_many_bodies_begin(read):
    drawn = read(EIGHT + "draw = 'gaussian'\nscale = 3\nseed = 1\n").arguments
    usual, given = (read(EIGHT + f"lattice = 'cubic'\nnoise = 0.1\n{seed}") for seed in ("", "seed = 0"))
    assert usual.arguments["position"].tolist() == given.arguments["position"].tolist()
    assert (
        usual.integrate().attrs["seed"] == given.seed == 0 and "seed" not in read(EIGHT + "lattice = 'cubic'\n").labels
    )
    np.testing.assert_array_equal(drawn["position"], ph.initial.gaussian_draw(8, 1, 3.0)["position"])
    assert set(drawn) & {"attitude", "momentum", "angular_momentum"} == set()  # of points
    slab = read(EIGHT + "lattice = 'fcc'\ncells = [2, 1, 1]\n").arguments["position"]
    np.testing.assert_array_equal(slab, ph.initial.fcc((2, 1, 1)).state["position"])
    exact = "temperature = 2\nexact_temperature = true\nzero_total_momentum = false\nseed = 5\n"
    hot = read(EIGHT + "lattice = 'cubic'\n" + exact)
    kinetic = np.sum(hot.arguments["momentum"] ** 2 / hot.system.mass[:, None])
    assert kinetic == pytest.approx(8 * 3 * 2.0, rel=1e-14)
    energy = "velocity = [0, 0, 1]\nenergy = 9\nenergy_bodies = [7]\n"
    fast = read(EIGHT + "lattice = 'cubic'\nspacing = 4\n" + energy)
    assert float(fast.integrate().energy[0]) == pytest.approx(9.0, rel=1e-14)
    np.testing.assert_array_equal(fast.arguments["momentum"][:7], [(0.0, 0.0, 1.0)] * 7)


def test_one_body_turns_at_random(read):
    text = (
        "[system]\ntype = 'free_body'\ninertia = [1, 1.88, 2.88]\n[run]\nstep = 0.1\nsteps = 2\n[initial]\nseed = 3\n"
    )
    found = read(text + "rotations = 'random'\ntemperature = 0.5\nexact_temperature = true\n")
    assert float(found.integrate().energy[0]) == pytest.approx(0.75, rel=1e-14)
    np.testing.assert_array_equal(found.arguments["attitude"], ph.initial.random_rotations(1, 3)["attitude"])


@each(
    ("text", "told"),
    [
        (
            "lattice = 'cubik'\n",
            "9: initial.lattice: expected 'cubic', 'bcc' or 'fcc' (got \"cubik\"); did you mean 'cu",
        ),
        ("lattise = 'cubic'\n", "9: initial.lattise: unknown key; did you mean 'lattice'"),
        (
            "lattice = 'bcc'\n",
            "9: initial.lattice: cells is missing: a bcc lattice of 2 cells has 16 sites, but the system has 8 bodies; "
            "cubes of it hold 2 or 16",
        ),
        ("lattice = 'fcc'\n", "has 8 bodies; cubes of it hold 4 or 32"),
        ("friction = 1.0\n", "9: initial.friction: unknown key; it belongs at the top of the file, before the first"),
        ("store = 'a.zarr'\n", "9: initial.store: unknown key; it belongs under [output]"),
        ("lattice = 'cubic'\ncells = 3\n", "10: initial.cells: cells is 3: this cubic lattice of 3 cells has 27 sites"),
        ("lattice = 'cubic'\ncells = 0\n", "10: initial.cells: cells is 0; it must be 1 or more"),
        ("lattice = 'cubic'\ncells = [2, 2]\n", "10: initial.cells: expected 3 entries (got 2: [2, 2])"),
        ("lattice = 'cubic'\nposition = [1, 0, 0]\n", "9: initial.lattice: position and lattice are given; keep one"),
        ("lattice = 'cubic'\nspacing = -1\n", "10: initial.spacing: spacing is -1; it must be positive"),
        ("lattice = 'cubic'\ntemperature = -1\nseed = 1\n", "10: initial.temperature: temperature is -1; it must be"),
        ("lattice = 'cubic'\nseed = -1\n", "10: initial.seed: expected a whole number, 0 or more (got -1)"),
        (
            "lattice = 'cubic'\nseed = 1\n",
            "10: initial.seed: seed belongs to draw or noise or rotations or temperature",
        ),
        ("lattice = 'cubic'\nenergy = -90\nseed = 1\n", "10: initial.energy: energy is -90, but the state has -"),
        ("cells = 2\n", "9: initial.cells: cells belongs to lattice; leave it out"),
        ("lattice = 'cubic'\ntemperature = 1\nvelocity = [0, 0, 0]\nseed = 1\n", "velocity and temperature are given"),
        (
            "lattice = 'cubic'\nrotations = 'random'\nseed = 1\n",
            "attitude is given, but the bodies of 'gravitating_bod",
        ),
    ],
)
def test_mistakes_about_many_bodies(read, text, told):
    with pytest.raises(InvalidInput) as refused:
        read(EIGHT + text)
    assert told in str(refused.value)


def test_a_lattice_fills_the_box_of_a_system_and_no_more(read):
    system = dataclasses.replace(ph.gravitating_bodies(mass=np.ones(8)), box=np.array([6.0, 6.0, 6.0]))
    filled = on_lattice(system, "cubic")["position"]
    np.testing.assert_array_equal(filled, ph.initial.cubic(2, spacing=3.0).state["position"])
    np.testing.assert_array_equal(on_lattice(system, "cubic", spacing=2.0)["position"], filled * (2.0 / 3.0))
    with pytest.raises(
        InvalidInput, match=r"fills 8 x 8 x 8, more than the box of the system.*the largest that fits is 3$"
    ):
        on_lattice(system, "cubic", spacing=4.0)


def test_attitudes_and_turns_of_each_body(read):
    given, told = {"attitude": [[1, 0, 0, 0], [0, 1, 0, 0]], "angular_momentum": [[1, 2, 3], [4, 5, 6]]}, []
    assert check(initial_table(), given, (), lambda *wrong: told.append(wrong)) == given and not told


# ------------------------------------------------------------------ recipes and options of one's own
@pytest.fixture
def ring():
    """A recipe of the user's, with a key of its own beside the one that asks for it."""

    def ring(system: ph.systems.System, ring: words.Length, lift: float = 0.0, seed: words.Seed = 0) -> dict[str, Any]:
        """Bodies on a circle.

        Parameters
        ----------
        ring : float
            radius of the circle
        lift : float
            height of the circle
        """
        angle = 2.0 * np.pi * np.arange(system.N) / system.N + seed
        return {"position": np.stack([ring * np.cos(angle), ring * np.sin(angle), np.full(system.N, lift)], axis=1)}

    yield ph.initial.add_recipe(ring, sets=["position"])
    del RECIPES["ring"]


def test_a_recipe_of_ones_own_is_a_key_of_initial(read, ring):
    assert ph.initial.add_recipe(ring, sets=["position"]) is ring
    found = read(EIGHT + "ring_km = 0.002\nlift = 1\nenergy = 9\nseed = 3\n").arguments
    made = ring(read(EIGHT).system, 2.0, 1.0, 3)["position"]
    np.testing.assert_allclose(found["position"], made, rtol=1e-15)
    properties = scenarios.json_schema()["$defs"]["Initial"]["properties"]
    assert properties["lift"]["description"] == "height of the circle" and properties["ring_km"]["title"] == "ring_km"
    for text, told in (
        ("ring = 1\nlattice = 'cubic'\n", "lattice and ring are given; keep one of them"),
        ("lift = 1\n", "initial.lift: lift belongs to ring; leave it out"),
        ("ring = 'wide'\n", "initial.ring: expected a number"),
        ("position = [1, 0, 0]\nring = 1\n", "position and ring are given"),
    ):
        with pytest.raises(InvalidInput) as refused:
            read(EIGHT + text)
        assert told in str(refused.value)


def test_a_recipe_that_cannot_be_added_says_why(ring):
    def cells(system: ph.systems.System, mine: float, cells: int = 1) -> dict[str, Any]:
        return {}

    def keyless(system: ph.systems.System) -> dict[str, Any]:
        return {}

    for build, sets, told in (
        (cells, (), "recipe 'on_lattice' has a key 'cells' already"),
        (keyless, (), "recipe 'keyless' has no key"),
        (3, (), "build must be a function that returns an initial state, not 3"),
        (ring, ("spin",), "unknown quantity of an initial state 'spin'"),
    ):
        with pytest.raises(InvalidInput, match=told):
            ph.initial.add_recipe(build, sets)
    assert "mine" not in RECIPES


def test_options_of_all_methods_are_keys(read):
    """They come from the table of methods, also those of free rotations and of processors."""
    text = f"{TOP}[initial]\nangular_velocity = [0, 0.1, 5]\n{RUN}"
    assert read(f'method = "dmv6"\nsolver = "fixed_point"\n{text}').method == "dmv6:fixed_point"
    assert read(f'method = "variational"\nalpha = 0.25\n{text}').method == "variational:0.25"
    for name, value, told in (
        ("friction", "-1", "friction of method 'baoab' is -1; it must be a number, 0 or more"),
        ("chain", "0", "chain of method 'nose_hoover' is 0; it must be a whole number, 1 or more, at most 20"),
        ("friction", "'much'", "friction: expected a number"),
        ("seed", "1.5", "seed: expected a whole number"),
    ):
        chosen = "nose_hoover:temperature=1:tau=1" if name == "chain" else "baoab:temperature=1"
        with pytest.raises(InvalidInput) as refused:
            read(f'method = "{chosen}"\n{name} = {value}\n{text}')
        assert told in str(refused.value)
    assert set(options_by_name()) <= set(scenarios.json_schema()["properties"])
