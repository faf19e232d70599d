"""Scenarios with units in their keys, with elements, and with an epoch."""

import json
import re
from math import pi

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.arguments import words as units
from polhode.errors import InvalidInput
from polhode.runs import scenario as scenarios, state
from polhode.runs.scenario import read_scenario

KM = """\
method = "v2/kepler"
[system]
type = "orbit"
mu_km3_s2 = 3200.9998
mass_kg = 2.0
forces = [
  { kind = "zonal", J2 = 1e-3, radius_km = 1560.8 },
  { kind = "drag", kd_per_km = 2e-6, radius_km = 1664.029, scale_km = 50, rotation_deg_s = 0.001 },
  { kind = "third_body", mu_km3_s2 = 1.26e8, circle = { radius_km = 671100, period_d = 3.5512, phase_deg = 30 } },
  { kind = "thrust", acceleration_km_s2 = 5e-6, direction = "velocity", start_h = 1, stop_min = 90 },
  { kind = "uniform", acceleration_m_s2 = [1e-4, 0, 0] },
]
[initial]
position_km = [0.0, 1664.029, 0.1]
velocity_km_s = [1.550663, 0, 0.3]
[run]
step_min = 1
t_end_h = 2
"""


@pytest.fixture
def read(tmp_path):
    """Write a scenario and read it."""

    def write_and_read(text, **options):
        path = tmp_path / "scenario.toml"
        path.write_text(text)
        return read_scenario(path, **options)

    return write_and_read


def test_units_of_keys_become_si(read):
    scenario = read(KM)
    system = scenario.system.arguments
    assert system["mu"] == 3200.9998e9 and system["mass"] == 2.0
    zonal, drag, jupiter, thrust, uniform = system["forces"]
    assert zonal["radius"] == 1560800.0 and drag["kd"] == 2e-9 and drag["scale"] == 50000.0
    assert drag["rotation"] == pytest.approx(0.001 * pi / 180, rel=1e-15)
    circle = jupiter["circle"]
    assert jupiter["mu"] == 1.26e17 and circle["radius"] == 671.1e6
    assert circle["period"] == 3.5512 * 86400 and circle["phase"] == pytest.approx(pi / 6, rel=1e-15)
    assert (thrust["acceleration"], thrust["start"], thrust["stop"]) == (5e-3, 3600.0, 5400.0)
    assert uniform["acceleration"] == [1e-4, 0, 0]
    given = scenario.arguments
    assert given["position"] == [0.0, 1664029.0, 100.0] and given["velocity"] == [1550.663, 0.0, 300.0]
    assert (given["step"], given["t_end"], given["units"]) == (60.0, 7200.0, "SI")
    ds = scenario.integrate()
    assert ds.position.attrs["units"] == "m" and float(ds.time[-1]) == 7200.0


def test_every_unit_is_what_it_says():
    import scipy.constants as known

    sizes = {"m": 1.0, "km": 1e3, "s": 1.0, "min": known.minute, "h": known.hour, "d": known.day, "kg": 1.0, "rad": 1.0,
             "deg": known.degree, "N": 1.0, "mN": 1e-3, "A": 1.0}  # fmt: skip
    for unit, endings in units.IN_SI.items():
        for ending, factor in endings.items():
            parts, sign, size = ending.replace("_per_", "_").split("_"), 1, 1.0
            sign = -1 if parts[0] == "per" else 1
            for k, part in enumerate(parts[1:] if sign < 0 else parts):
                power = int(part[-1]) if part[-1].isdigit() else 1
                over = (
                    sign
                    if k == 0 or (part.rstrip("0123456789") == "m" and parts[0] == "kg" and ending != "kg_m3")
                    else -1
                )
                size *= sizes[part.rstrip("0123456789")] ** (power * over)
            assert float(factor) == pytest.approx(size, rel=1e-15), ending
        assert float(endings[unit]) == 1.0


@each(
    ("old", "new", "line", "told"),
    [
        ("mu_km3_s2 = 3200.9998", "mu_km3_s2 = -1", 4, "system.mu_km3_s2: mu is -1e+09; it must be positive"),
        ("mu_km3_s2 = 3200.9998", "mu_km = 1", 4, "system.mu_km: unknown key; did you mean"),
        ("mu_km3_s2 = 3200.9998", "mu_km3_s2 = 'a'", 4, "system.mu_km3_s2: expected a number"),
        ("mu_km3_s2 = 3200.9998", "mu_km3_s2 = 1\nmu = 2", 4, "mu is given twice; keep one of the keys"),
        ("velocity_km_s = [1.550663, 0, 0.3]", "velocity_km_s = [1.55, 0]", 15, "initial.velocity_km_s: expected 3"),
        ("velocity_km_s = [1.550663, 0, 0.3]", "velocity_km_s = [1, 0, 'x']", 15, "initial.velocity_km_s[2]: expected"),
        (
            "velocity_km_s = [1.550663, 0, 0.3]",
            "velocity_km_h = [1, 0, 1]",
            15,
            "did you mean 'velocity' or 'velocity_m_s' or 'velocity_km_s'",
        ),
        ("scale_km = 50", "scale_km = -50", 8, "system.forces[1].scale_km: scale is -50000; it must be positive"),
        ("period_d = 3.5512", "period_d = 0", 9, "period of circle is 0"),
        ("step_min = 1", "step_min = 7", 18, "run.t_end_h: from the start to t_end is 7200, 17.1428571 steps"),
        ("step_min = 1", 'step_min = 1\nunits = "consistent"', 18, "system.mu_km3_s2 has a unit in its name"),
        ("step_min = 1", 'step_min = 1\nunits = "SI"\nepoch = "noon"', 19, "run.epoch: epoch is 'noon'"),
    ],
)
def test_mistakes_are_told_by_the_keys_of_the_file(read, old, new, line, told):
    assert KM.count(old) == 1
    with pytest.raises(InvalidInput) as wrong:
        read(KM.replace(old, new))
    assert f"scenario.toml:{line}: " in str(wrong.value) and told in str(wrong.value)


def test_angles_have_units_in_any_set(read):
    text = KM.replace("_km3_s2", "").replace("_km_s2", "").replace("_km_s", "").replace("_per_km", "")
    for ending in ("_km", "_kg", "_min", "_h", "_d =", "_m_s2", "_deg_s"):
        text = text.replace(ending, "" if "=" not in ending else " =")
    scenario = read(text.replace("t_end = 2", "t_end = 60"))
    assert scenario.request.settings.units == "consistent" and scenario.system.arguments["mu"] == 3200.9998
    assert scenario.system.arguments["forces"][2]["circle"]["phase"] == pytest.approx(pi / 6, rel=1e-15)


def test_a_ready_made_problem_keeps_its_units(read):
    with pytest.raises(InvalidInput, match="a ready-made problem has units of its own"):
        read('problem = "carson_elliptic"\n[initial]\nposition_km = [0, 1700, 0]\n')
    found = read('problem = "carson_elliptic"\n[elements]\nsemi_major_axis = 2000\ninclination_deg = 90\n')
    np.testing.assert_allclose(found.arguments["position"], (2000, 0, 0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.arguments["velocity"], (0, 0, np.sqrt(3200.9998 / 2000)), rtol=0, atol=1e-12)
    assert "momentum" not in found.arguments


# ------------------------------------------------------------------ the same in Python
CRAFT = """\
method = "v2"
[system]
type = "rigid_body"
inertia = [2, 3, 4]
mass = 2.0
[initial]
{} = {}
[run]
step = 0.5
steps = 2
"""


@each("word", sorted(state.endings()))
def test_a_start_in_python_takes_the_words_of_a_scenario(read, word):
    given = [0.1, -0.7, 1.3]
    there = read(CRAFT.format(word, given)).integrate()
    system = ph.rigid_body((2, 3, 4), mass=2.0)
    for value in (given, tuple(given), np.array(given)):
        here = ph.integrate(system, "v2", step=0.5, steps=2, start={word: value})
        for name in ("position", "attitude", "angular_velocity", "momentum"):
            assert here[name].identical(there[name]), name
    rows = ph.prepare(system, "v2", step=0.5, steps=2).run({word: given})
    assert (rows.angular_velocity == there.angular_velocity.values).all()
    assert (rows.position == there.position.values).all()
    assert here.position.attrs["units"] == ("length" if "deg" in word or "rad" in word else "m")


def test_bodies_and_members_start_with_units_too(read):
    text = """\
[system]
type = "system"
bodies = [ { name = "a", mass = 2.0 }, { name = "b", mass = 3.0 } ]
[initial.a]
position_km = [1.1, 0, 0]
[initial.b]
velocity_km_s = [0, 0.7, 0]
[run]
step = 0.5
steps = 2
"""
    there = read(text).integrate()
    system = ph.system(ph.body("a", 2.0), ph.body("b", 3.0))
    start = {"a": {"position_km": (1.1, 0, 0)}, "b": {"velocity_km_s": (0, 0.7, 0)}}
    here = ph.integrate(system, step=0.5, steps=2, start=start)
    assert here.position.identical(there.position) and here.momentum.identical(there.momentum)
    ds = ph.ensemble(system, step=0.5, steps=2, members=2, start=start)
    assert (ds.position.values == here.position.values).all() and ds.position.attrs["units"] == "m"
    craft = ph.rigid_body((2, 3, 4), mass=2.0)
    wide = ph.ensemble(craft, "v2", step=0.5, steps=2, members={"mass": [2.0, 3.0]}, start={"position_km": (1.1, 0, 0)})
    assert (wide.position.values[:, 0] == (1100.0, 0.0, 0.0)).all() and wide.position.attrs["units"] == "m"
    assert ph.checks.check_system(craft, start={"position_km": (1.1, 0, 0)}).passed


@each(
    ("start", "told"),
    [
        ({"position": (1, 0, 0), "position_km": (1, 0, 0)}, "position is given twice in start; keep one of them"),
        ({"position_m": (1, 0, 0), "position_km": (1, 0, 0)}, "position is given twice in start"),
        ({"angular_velocity_deg": (1, 0, 0)}, "angular_velocity, angular_velocity_deg_s, angular_velocity_rad_s"),
        ({"position_km": "far"}, "position_km must be real numbers"),
        ({"position_km": (1, 0)}, "position must be 3 numbers"),
        ({"velocity_km_s": (1e306, 0, 0)}, "velocity"),
        ({"velocity_km_s": None, "position_km": "7"}, "position_km must be real numbers"),
    ],
)
def test_mistakes_in_words_with_units_are_told(start, told):
    with pytest.raises(InvalidInput, match=re.escape(told)):
        ph.integrate(ph.rigid_body((2, 3, 4), mass=2.0), "v2", step=0.5, steps=2, start=start)


def test_units_of_its_own_are_kept():
    with pytest.raises(InvalidInput, match="does not turn into nm"):
        ph.integrate(ph.rigid_water(8, box=3.1, cutoff=1.0), step=1e-3, steps=2, start={"position_km": (0, 0, 0)})


# ------------------------------------------------------------------ elements
ELEMENTS = """\
method = "v2/kepler"
[system]
type = "orbit"
mu_m3_s2 = 3.986004415e14
[elements]
semi_major_axis_km = 7000
eccentricity = 0.01
inclination_deg = 98.2
node_deg = 30
argument_of_periapsis_deg = 40
mean_anomaly_deg = 120
[run]
step = 60
t_end_d = 1
"""


def test_an_orbit_begins_with_its_elements(read):
    given = read(ELEMENTS).arguments
    found = ph.kepler.classical_elements(given["position"], given["velocity"], 3.986004415e14)
    assert found.semi_major_axis == pytest.approx(7e6, rel=1e-13)
    assert np.degrees(float(found.inclination)) == pytest.approx(98.2, rel=1e-13)
    assert np.degrees(float(found.node)) == pytest.approx(30, rel=1e-12)
    mean = ph.kepler.mean_from_true(found.true_anomaly, found.eccentricity)
    assert np.degrees(float(mean)) == pytest.approx(120, rel=1e-11)
    ds = read(ELEMENTS).integrate()
    assert float(ds.position[0, 0]) == given["position"][0]


@each(
    ("old", "new", "line", "told"),
    [
        ("semi_major_axis_km = 7000\n", "", 5, "elements: the size of the orbit is missing"),
        ("eccentricity = 0.01", "eccentricity = 1.01", 6, "semi_major_axis has the wrong sign"),
        ("eccentricity = 0.01", "eccentricity = -0.01", 7, "eccentricity is negative"),
        ("inclination_deg = 98.2", "inclination_deg = 181", 8, "elements.inclination_deg: inclination is not from 0"),
        ("inclination_deg = 98.2", "inclination_degrees = 1", 8, "did you mean"),
        ("node_deg = 30", "true_anomaly_deg = 30", 9, "true_anomaly and mean_anomaly are both given"),
        ("[run]", "[initial]\nposition = [1, 0, 0]\n[run]", 13, "position is given beside [elements]"),
        ('type = "orbit"\nmu_m3_s2 = 3.986004415e14', 'type = "particle"', 4, "elements are those of an orbit"),
    ],
)
def test_mistakes_in_elements(read, old, new, line, told):
    with pytest.raises(InvalidInput) as wrong:
        read(ELEMENTS.replace(old, new))
    assert f"scenario.toml:{line}: " in str(wrong.value) and told in str(wrong.value)


# ------------------------------------------------------------------ epochs
@each("epoch", ['"2026-03-01T12:00:00 TDB"', "2026-03-01T12:00:00Z", "2026-03-01"])
def test_a_scenario_says_which_instant_time_0_is(read, tmp_path, epoch):
    ds = read(ELEMENTS.replace("t_end_d = 1", f"t_end_h = 1\nepoch = {epoch}")).integrate()
    scale = "TDB" if "TDB" in epoch else "UTC"
    hour = "12" if "T12" in epoch else "00"
    assert ds.attrs["epoch"] == f"2026-03-01T{hour}:00:00 {scale}"
    text = ph.trajectory.export.oem(ds, tmp_path / "a.oem", object_name="A", center_name="EARTH").read_text()
    assert f"TIME_SYSTEM = {scale}\nSTART_TIME = 2026-03-01T{hour}:00:00.000\n" in text


# ------------------------------------------------------------------ the schema
def test_the_schema_knows_the_units():
    made = scenarios.json_schema()
    orbit = made["$defs"]["Orbit"]
    assert {"mu", "mu_m3_s2", "mu_km3_s2", "mass_kg"} <= set(orbit["properties"])
    assert orbit["properties"]["mu_km3_s2"]["type"] == "number" and orbit["required"] == ["type"]
    assert {"required": ["mu_km3_s2"]} in orbit["allOf"][0]["anyOf"]
    assert {"position_km", "velocity_m_s"} <= set(made["$defs"]["Initial"]["properties"])
    assert "eccentricity_deg" not in json.dumps(made) and "inclination_deg" in made["$defs"]["Elements"]["properties"]
