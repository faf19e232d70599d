"""What users write is understood: names of other programs, rows in the place of names, and near misses are answered."""

import dataclasses
import inspect
import json
import pickle
import re
import runpy
import secrets
from importlib.resources import files

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from each import each
from polhode.cli import group
from polhode.display import duration
from polhode.kernel import jit
from polhode.methods import METHODS, OTHER_NAMES, each_default, method, tableau_names
from polhode.methods.free_flows import FLOW_NAMES
from polhode.runs.request import SET, STARTED, TOLERANCE
from polhode.runs.scenario import schema
from polhode.runs.scenario.schema import initial_table, table_of
from polhode.runs.state import FORMS, STATE_WORDS
from polhode.systems import start_files

BODY = {"inertia": (1.0, 2.0, 2.5)}
START = {"angular_velocity": (0.3, 1.0, 0.5)}
SHORT = {"step": 0.1, "steps": 3}


# ------------------------------------------------------------------ names of methods
@each(
    ("written", "meant"),
    [
        ("leapfrog", "v2"), ("verlet", "v2"), ("stormer_verlet", "v2"), ("RK45", "mkrk:dp5"), ("DOP853", "mkrk:dp8"),
        ("midpoint", "mkrk:midpoint"), ("rattle", "dmv2"), ("RATTLE", "dmv2"), ("Leapfrog/mr6", "v2/mr6"),
        ("reversible:verlet", "reversible:v2"), ("reversible:distance:leapfrog", "reversible:distance:v2"),
        ("logarithmic:leapfrog/mr6", "logarithmic:v2/mr6"), ("midpoint:cayley", "mkrk:midpoint:cayley"),
        ("mkrk:midpoint", "mkrk:midpoint"), ("position_verlet", "v2_dkd"),
    ],
)  # fmt: skip
def test_names_of_others_are_understood(written, meant):
    assert method(written).label == meant


def test_the_name_recorded_is_the_one_here():
    ds = ph.integrate(ph.free_body(**BODY), "leapfrog", **SHORT, **START)
    assert ds.attrs["method"] == "v2" and ds.equals(ph.integrate(ph.free_body(**BODY), "v2", **SHORT, **START))


def test_every_other_name_is_that_of_a_method_and_of_no_other():
    names = [name for names in OTHER_NAMES.values() for name in names]
    assert len(set(names)) == len(names) and all(name == name.lower() for name in names)
    assert not set(names) & {*METHODS, *FLOW_NAMES}
    assert all(method(meant).label == meant for meant in OTHER_NAMES)
    assert set(names) & set(tableau_names()) == {"midpoint"}  # which is what is meant
    with pytest.raises(ph.errors.InvalidInput, match="'leapfrog' is another name of 'v2'"):
        ph.methods.add_method(dataclasses.replace(METHODS["v2"], name="leapfrog"))
    with pytest.raises(ph.errors.InvalidInput, match="did you mean 'leapfrog'"):
        method("leap_frog")


def test_the_shell_shows_other_names():
    def said(*words):
        ended = CliRunner().invoke(group, ["methods", *words])
        assert ended.exit_code == 0
        return ended.output

    assert said("rattle").startswith("dmv2: discrete Moser-Veselov algorithm")
    assert "also called" in said("dmv2") and "rattle" in said("dmv2")
    listed = said()
    assert all(name in listed for names in OTHER_NAMES.values() for name in names)
    assert "rk45" in ph.methods.method_table()


def test_a_row_in_the_place_of_a_name():
    body = ph.free_body(**BODY)
    named = ph.integrate(body, "v2/mr6", **SHORT, **START)
    assert method("implicit_midpoint").label == "implicit_midpoint"  # the free rotation between two kicks
    for row in (method("v2/mr6").method, method("v2/mr6"), METHODS["v2"].with_flow("mr6")):
        assert ph.integrate(body, row, **SHORT, **START).identical(named)
    with_option = ph.integrate(body, METHODS["mkrk"](tableau="gauss2"), **SHORT, **START)
    assert with_option.attrs["method"] == method(method("mkrk"), tableau="gauss2").label == "mkrk:gauss2"
    table = ph.compare(body, [METHODS["v2"], "trapm"], [0.1, 0.05], t_end=0.3, **START)
    assert table.integrator.values.tolist() == ["v2", "trapm"]


# ------------------------------------------------------------------ other processes
def test_every_row_and_choice_can_be_pickled():
    names = ("v2/mr6", "reversible:v2", "logarithmic:kl8", "taylor14", "galerkin10", "mkrk:gauss4:cayley",
             "baoab:temperature=3:friction=1:seed=7", "v2/kepler+mr6")  # fmt: skip
    for chosen in [*each_default(), *map(method, names)]:
        again = pickle.loads(pickle.dumps(chosen))
        assert again == dataclasses.replace(chosen, method=again.method) and again.label == chosen.label
        np.testing.assert_array_equal(
            again.with_trials.prepare().coefficients, chosen.with_trials.prepare().coefficients
        )


def test_a_row_that_its_name_does_not_find_is_refused():
    halves = [("B", "1/4"), ("A", 1), ("B", "3/4")]
    of_mine = ph.methods.splitting(ph.methods.Scheme("of_mine", "mine", "", 1, halves))
    same_name = ph.methods.splitting(
        dataclasses.replace(ph.methods.Scheme("v2", METHODS["v2"].description, "strang1968", 2, halves))
    )
    for row in (of_mine, same_name, dataclasses.replace(METHODS["trapm"], range=1.0)):
        with pytest.raises(ph.errors.InvalidInput, match=f"method '{row.name}' cannot be pickled"):
            pickle.dumps(row)
    scheme = ph.methods.Scheme("of_mine", "mine", "", 1, halves)
    assert pickle.loads(pickle.dumps(scheme)) == scheme


def steady(t, q, omega, parameters):
    """A torque that a module has by its name."""
    return (0.0, 0.0, 0.1)


def test_systems_can_be_pickled():
    systems = [
        ph.free_body(**BODY), ph.heavy_top((5, 5, 1), (0, 0, 1), mass=2.0), ph.dipoles(3, attraction=True),
        ph.orbit(1.0, forces=[ph.forces.uniform((0, 0, 0.1)), ph.forces.impulse(1.0, (0, 0.1, 0))]),
        ph.rigid_body(**BODY, torque=steady), ph.rigid_water(8, box=2.0), ph.systems.problem("krysl_fast_top").build(),
    ]  # fmt: skip
    for system in systems:
        again = pickle.loads(pickle.dumps(system))
        assert repr(again) == repr(system)
        np.testing.assert_array_equal(again.bodies, system.bodies)
    turned = pickle.loads(pickle.dumps(systems[4]))
    assert ph.integrate(turned, "v2", **SHORT, **START).equals(ph.integrate(systems[4], "v2", **SHORT, **START))


def test_systems_that_cannot_be_pickled_say_why():
    with pytest.raises(ph.errors.InvalidInput, match="rigid_body cannot be pickled, for its function 'torque' cannot"):
        pickle.dumps(ph.rigid_body(**BODY, torque=lambda t, q, omega, parameters: (0.0, 0.0, 0.0)))
    heavier = dataclasses.replace(ph.free_body(**BODY), moments=np.array([[2.0, 3.0, 4.0]]))
    with pytest.raises(ph.errors.InvalidInput, match="free_body cannot be pickled: no function of polhode builds it"):
        pickle.dumps(heavier)


def test_types_are_told_to_checkers():
    assert files("polhode").joinpath("py.typed").is_file()


# ------------------------------------------------------------------ how far a run is
def test_progress_true_tells_on_stderr(capsys):
    body = ph.free_body(**BODY)
    ph.integrate(body, "v2", progress=True, **SHORT, **START)
    told = capsys.readouterr()
    assert told.out == "" and "running 100.0 %  3 of 3 steps" in told.err
    ds = ph.integrate(body, "v2", progress=False, **SHORT, **START)
    assert capsys.readouterr().err == ""
    assert ph.rerun(ds, progress=True).equals(ds) and "3 of 3 steps" in capsys.readouterr().err
    with pytest.raises(ph.errors.InvalidInput, match="progress must be True or a function, not 3"):
        ph.integrate(body, "v2", progress=3, **SHORT, **START)


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
def test_compiling_is_said_only_where_something_is_compiled(capsys, tmp_path):
    (tmp_path / "fresh.py").write_text(  # with a number that is in nobody's cache
        f"def torque(t, q, omega, parameters):\n    return (0.0, 0.0, 1.0 + {secrets.randbelow(10**15)}e-15 * t)\n"
    )
    fresh_one = ph.rigid_body(torque=runpy.run_path(str(tmp_path / "fresh.py"))["torque"], **BODY)
    stages = []
    ph.integrate(fresh_one, "mkrk:rk4", progress=lambda told: stages.append(told.stage), **SHORT, **START)
    assert list(dict.fromkeys(stages)) == ["preparing", "compiling", "running"]
    stages.clear()
    ph.integrate(fresh_one, "mkrk:rk4", progress=lambda told: stages.append(told.stage), **SHORT, **START)
    assert list(dict.fromkeys(stages)) == ["preparing", "running"]
    ph.integrate(fresh_one, "mkrk:rk4", progress=True, **SHORT, **START)
    assert "compiling" not in capsys.readouterr().err


@each(
    ("seconds", "told"),
    [
        (2.2e-8, "22 ns"), (9.996e-7, "1 us"), (1.4e-6, "1.4 us"), (0.03123, "31.2 ms"), (1.0, "1 s"), (45.2, "45.2 s"),
        (119.0, "119 s"), (5400.0, "90 min"), (86400.0, "24 h"), (9.9e-10, "0.99 ns"), (8.64e6, "2400 h"),
        (0.0, "0 s"),
    ],
)  # fmt: skip
def test_times_are_told_in_the_unit_that_fits(seconds, told):
    assert duration(seconds) == told


def test_summaries_tell_units_of_temperature_and_pressure(tmp_path):
    text = '[system]\ntype = "rigid_water"\nn = 27\nbox = 1.2\ncutoff = 0.55\n[initial]\nlattice = "cubic"\n'
    text += 'rotations = "random"\ntemperature = 300.0\n[run]\nstep = 0.0005\nsteps = 2\n'
    path = tmp_path / "water.toml"
    path.write_text(text)
    ended = CliRunner().invoke(group, ["run", str(path), "-o", str(tmp_path / "water.nc"), "--no-picture"])
    assert ended.exit_code == 0, ended.output
    assert re.search(r"temperature +\d+\.?\d* K in the second half; translation \d+\.?\d* K, rotation", ended.stderr)
    assert re.search(r"pressure +-?\d+\.?\d* kJ / mol / nm3 in the second half", ended.stderr)


def test_a_notebook_shows_the_dashboard():
    ds = ph.integrate(ph.free_body(**BODY), "v2", **SHORT, **START)
    picture = ph.plots.dashboard(ds)
    assert picture._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"


# ------------------------------------------------------------------ near misses
@each(
    ("call", "told"),
    {
        "omega": (lambda: integrate(omega=(0, 0, 1)), "'omega'; did you mean 'angular_velocity'"),
        "q": (lambda: integrate(q=(1, 0, 0, 0)), "'q'; did you mean 'attitude'"),
        "dt": (lambda: ph.integrate(ph.free_body(**BODY), "v2", dt=0.1, t_end=1.0), "'dt'; did you mean 'step'"),
        "tolerance": (lambda: integrate(tolerance=1e-10), "'tolerance'; did you mean steps=polhode.Tolerance(1e-10)?"),
        "t_span": (lambda: integrate(t_span=(0, 1)), "'t_span'; did you mean t_end=..., and start={'time': ...}?"),
        "y0": (lambda: integrate(y0=[0.0]), "'y0'; did you mean start={'position': ..., ...}?"),
        "no steps": (lambda: ph.compare(ph.free_body(**BODY), ["v2"], t_end=1.0), "a required argument: 'steps'"),
        "misspelled": (lambda: integrate(angular_velocty=(0, 0, 1)), "did you mean 'angular_velocity'"),
        "of a method": (lambda: integrate("mkrk", tablau="rk4"), "method 'mkrk' 'tablau'; did you mean 'tableau'"),
        "comparison": (lambda: compare(omega=(0, 0, 1)), "did you mean 'angular_velocity"),
        "builder": (lambda: ph.free_body(inertie=(1, 2, 2)), "argument of free_body 'inertie'; did you mean 'inertia'"),
        "builder, other word": (lambda: ph.orbit(GM=1.0), "unknown argument of orbit 'GM'; did you mean 'mu'"),
        "unit misspelled": (
            lambda: ph.integrate(ph.orbit(1.0), **SHORT, start={"position_kmm": (1, 0, 0)}),
            "known: position, position_km, position_m",
        ),
        "no system": (lambda: ph.integrate(step=0.1), "integrate: missing a required argument: 'system' (System: From"),
        "system, missing": (lambda: ph.checks.check_system(), "check_system: missing a required argument: 'system'"),
        "gradient, missing": (lambda: ph.gradient(), "gradient: missing a required argument: 'objective'"),
        "builder, missing": (lambda: ph.heavy_top(), "heavy_top: missing a required argument: 'inertia"),
        "ensemble, missing": (
            lambda: ph.ensemble(ph.free_body(**BODY), t_end=1.0),
            "'members' (mapping, table or int: What varies: arrays with one value for each member",
        ),
        "builder, one of two ways": (lambda: ph.heavy_top((1, 2, 2)), "center_of_mass is missing; give its position"),
        "builder, too many": (lambda: ph.free_body((1, 2, 2), 3), "free_body: too many positional arguments"),
        "force": (lambda: ph.forces.drag(kds=1.0), "unknown argument of drag 'kds'; did you mean 'kd'"),
        "event": (lambda: ph.events.altitude(hight=1.0), "unknown argument of altitude 'hight'; did you mean 'height'"),
        "shape": (lambda: ph.inertia.box(mass=1, side=(1, 1, 1)), "argument of box 'side'; did you mean 'sides'"),
        "start": (lambda: ph.initial.cubic(2, sed=3), "unknown argument of cubic 'sed'; did you mean 'seed'"),
        "part": (lambda: ph.systems.plate(aera=1.0), "unknown argument of plate 'aera'; did you mean 'area'"),
        "model": (lambda: ph.rigid_water(8, "SPC/E", box=2.0), "did you mean 'spc/e'"),
    }.values(),
)
def test_near_misses_are_answered(call, told):
    with pytest.raises(ph.errors.InvalidInput) as refused:
        call()
    assert told in str(refused.value)


def compare(**more):
    """A short comparison."""
    return ph.compare(ph.free_body(**BODY), "v2", 0.1, t_end=0.1, **more)


def integrate(method="v2", **more):
    """A short run of a free body."""
    return ph.integrate(ph.free_body(**BODY), method, **{**SHORT, **more})


@each(
    ("line", "told"),
    [
        ("[initial]\nomega = [0, 0, 1]", "initial.omega: unknown key; did you mean 'angular_velocity'"),
        ("[initial]\nq = [1, 0, 0, 0]", "initial.q: unknown key; did you mean 'attitude'"),
        ("[initial]\nangular_velocty = [0, 0, 1]", "did you mean 'angular_velocity'"),
        ("[run]\ndt = 0.1", "run.dt: unknown key; did you mean 'step'"),
        ('[system]\ntype = "rigid_water"\nn = 8\nmodel = "SPC/E"', "did you mean 'spc/e'"),
        ('[system]\ntype = "Free_Body"', "did you mean 'free_body'"),
    ],
)
def test_near_misses_in_scenarios_are_answered(tmp_path, line, told):
    path = tmp_path / "scenario.toml"
    path.write_text(line)
    with pytest.raises(ph.errors.InvalidInput) as refused:
        ph.runs.read_scenario(path)
    assert told in str(refused.value)


# ------------------------------------------------------------------ one vocabulary
def test_integrate_and_scenarios_take_the_same_words():
    whole = {"start", "settings", "at_start"}  # a scenario has their words
    in_python = set(inspect.signature(ph.integrate).parameters) - whole
    in_python |= {*STARTED, *FORMS, *STATE_WORDS, *SET, *TOLERANCE}  # flat, and those of a Tolerance
    keys = {name for table in (initial_table(), schema.RUN) for name in table.keys}
    made = (ph.initial.gaussian_draw, ph.initial.cubic, ph.initial.thermal, ph.initial.at_energy)
    of_functions = {name for make in made for name in inspect.signature(make).parameters}
    whole_file = {"system", "method", "events", "store"}  # keys of the file and of [output]
    of_the_process = {"progress"}  # and of the command line
    drawn = {"draw", "lattice", "rotations", "exact_temperature", "energy_bodies"}  # names of these functions
    assembled = {"joints", "joint_rates"}  # of polhode.assemble
    of_the_system = {"parameters"}  # a key of [system]
    assert in_python - keys == whole_file | of_the_process | of_the_system
    assert of_the_system <= set(table_of(ph.rigid_body).keys)
    assert keys - in_python - of_functions == drawn | assembled | set(start_files.READERS)
    assert whole_file - {"store"} <= set(schema.scenario_file().keys) and "store" in schema.OUTPUT.keys


def test_attitudes_in_every_form_are_one():
    Rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    angles = np.array([0.1, -0.2, 0.3])
    turned = Rotation.from_euler("zyx", angles)
    q = np.roll(turned.as_quat(), 1)
    plain = integrate(attitude=q, **START)
    forms = [
        {"attitude": turned}, {"attitude": turned.as_matrix()}, {"attitude": turned.as_matrix().tolist()},
        {"rotation_vector": turned.as_rotvec()}, {"euler_angles": angles, "sequence": "zyx"},
        {"euler_angles_deg": np.rad2deg(angles), "sequence": "zyx"},
    ]  # fmt: skip
    for form in forms:
        ds = integrate(start=form, **START)
        np.testing.assert_allclose(ds.attitude, plain.attitude, rtol=0, atol=2e-15)
        assert ph.rerun(ds).equals(ds)
    omega = np.array(START["angular_velocity"])
    seen = integrate(attitude=turned, start={"angular_velocity_space": turned.apply(omega)})
    np.testing.assert_allclose(seen.angular_velocity[0], omega, rtol=1e-14)
    body = ph.free_body(**BODY)
    seen = integrate(attitude=turned, start={"angular_momentum_space": turned.apply(omega * body.moments[0])})
    np.testing.assert_allclose(seen.angular_velocity[0], omega, rtol=1e-14)


def test_many_attitudes_in_every_form_are_one():
    Rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    several = ph.dipoles(3)
    turned = Rotation.from_rotvec([(0.1, 0, 0), (0, 0.2, 0), (0.3, 0, -0.4)])
    start = {"position": [(0, 0, 0), (2, 0, 0), (0, 2, 0)], "step": 0.01, "steps": 1}
    rows = [ph.integrate(several, "v2", start=form, **start) for form in (
        {"attitude": turned}, {"attitude": turned.as_matrix()}, {"rotation_vector": turned.as_rotvec()})]  # fmt: skip
    for ds in rows:
        np.testing.assert_allclose(ds.attitude[0], np.roll(turned.as_quat(), 1, axis=1), rtol=0, atol=4e-16)


@each(
    ("start", "told"),
    [
        (
            {"attitude": (1, 0, 0, 0), "rotation_vector": (0, 0, 1)},
            "attitude and rotation_vector are both given; keep one",
        ),
        ({"angular_velocity": (1, 0, 0), "angular_momentum_space": (0, 0, 1)}, "are both given; keep one of them"),
        ({"sequence": "ZXZ"}, "a sequence belongs to euler_angles or euler_angles_deg; leave it out"),
        ({"euler_angles": (0, 0, 1), "sequence": "ZXX"}, "unknown Euler sequence 'ZXX'"),
        ({"attitude": np.diag([1.0, 1.0, -1.0])}, "attitude"),
    ],
)
def test_starts_that_are_refused(start, told):
    with pytest.raises(ph.errors.InvalidInput) as refused:
        integrate(start=start)
    assert told in str(refused.value)


def test_a_sequence_of_angles_and_of_a_method():
    angles = (0.4, 0.5, 0.6)
    ds = integrate(ph.methods.euler(sequence="ZXZ"), start={"euler_angles": angles}, **START)
    assert ds.attrs["method"] == "euler:rk4:exp:ZXZ"
    np.testing.assert_allclose(ds.euler_angles[0], angles, rtol=1e-14)
    assert integrate(ph.methods.euler(sequence="ZXZ"), **START).attrs["method"] == "euler:rk4:exp:ZXZ"
    again = integrate(ph.methods.euler(sequence="ZXZ"), start={"euler_angles": angles}, **START)
    assert again.identical(
        integrate(ph.methods.euler(sequence="ZXZ"), start={"euler_angles": angles, "sequence": "ZXZ"}, **START)
    )
    with pytest.raises(ph.errors.InvalidInput, match="given twice"):
        method("euler:rk4:exp:XYX", sequence="ZXZ")


# ------------------------------------------------------------------ bodies as inertias
def test_a_body_is_an_inertia_everywhere():
    box = ph.inertia.box(mass=5.0, sides=(1.0, 2.0, 3.0))
    I = box.inertia
    pairs = [
        (ph.free_body(box), ph.free_body(I)), (ph.rigid_body(box), ph.rigid_body(I)),
        (ph.rigid_body(box, mass=5.0), ph.rigid_body(I, mass=5.0)),
        (ph.systems.soft_wall(box), ph.systems.soft_wall(I)),
        (ph.systems.gravity_gradient(box, 1.0, 5.0), ph.systems.gravity_gradient(I, 1.0, 5.0)),
        (ph.spacecraft(box, mu=1.0), ph.spacecraft(I, mu=1.0, mass=5.0)),
        (ph.spacecraft([box, box], mu=1.0), ph.spacecraft([I, I], mu=1.0, mass=[5.0, 5.0])),
        (ph.dipoles(4, inertia=box), ph.dipoles(4, inertia=I, mass=5.0)),
        (ph.heavy_top(box, (0, 0, 1)), ph.heavy_top(I, (0, 0, 1), mass=5.0, inertia_about="center_of_mass")),
    ]  # fmt: skip
    for one, other in pairs:
        np.testing.assert_array_equal(one.moments, other.moments)
        np.testing.assert_array_equal(one.bodies, other.bodies)
        np.testing.assert_array_equal(one.frames, other.frames)
        assert json.loads(json.dumps(one.arguments)) == dict(one.arguments)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).bodies, one.bodies)
    by_weight = ph.heavy_top(box, (0, 0, 1), weight=49.0)
    np.testing.assert_array_equal(by_weight.moments, pairs[-1][0].moments)
    assert by_weight.parameters[0] == 49.0 and pairs[-1][0].parameters[0] == 5.0 * 9.81
    np.testing.assert_array_equal(ph.inertia.principal(box).moments, ph.inertia.principal(I).moments)
    periods = [ph.runs.poinsot.free_motion_periods(inertia, (1.0, 2.0, 3.0)) for inertia in (box, I)]
    assert repr(periods[0]) == repr(periods[1])


@each(
    "make",
    [
        lambda box: ph.spacecraft(box, mu=1.0, mass=1.0), lambda box: ph.rigid_body(box, mass=4.0),
        lambda box: ph.heavy_top(box, (0, 0, 1), mass=4.0), lambda box: ph.dipoles(3, mass=1.0, inertia=box),
    ],
)  # fmt: skip
def test_a_mass_other_than_that_of_the_body_is_refused(make):
    with pytest.raises(ph.errors.InvalidInput, match=r"mass is [14]\.0, but inertia is that of a body of mass 5\.0"):
        make(ph.inertia.box(mass=5.0, sides=(1.0, 2.0, 3.0)))


def test_numbers_beyond_all_range_are_refused_without_warnings():
    with pytest.raises(ph.errors.InvalidInput, match=r"angular_velocity has entries beyond 1e\+100; check its units"):
        ph.integrate(ph.free_body((3.0, 2.0, 2.0)), "v2", angular_velocity=(1e308, 0, 0), **SHORT)
    for scale in (1.0, 1e100, 1e-300):
        top = ph.heavy_top(np.array((5.0, 5.0, 1.0)) * scale, (0, 0, scale), weight=2.0)
        np.testing.assert_array_equal(top.axis, (0, 0, 1))
    assert ph.heavy_top((1e308, 1e308, 1e308), (1e200, 1e200, 0.0), weight=1.0).axis is not None
