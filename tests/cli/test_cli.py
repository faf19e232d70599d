"""The command line: what it prints, writes and exits with."""

import json
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each
from polhode import cli
from polhode.cli.run import InterruptHandler
from polhode.methods import FLOW_NAMES, method
from polhode.references import bibtex, cite, entries

ROOT = Path(__file__).parents[2]
SCENARIO = """\
title = "A top"
problem = "krysl_fast_top"
method = "trapm"
[run]
step = 0.001
t_end = 0.1
every = 10
"""
HEAVY = ("numba", "numpy", "xarray", "matplotlib", "rich", "scipy")


@pytest.fixture
def polhode(monkeypatch, capsys, tmp_path):
    """Call the command in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "top.toml").write_text(SCENARIO)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["polhode", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


# ------------------------------------------------------------------ help
@each("words", [["--help"], ["run", "--help"], ["cite", "--help"], ["doctor", "--help"], ["--version"]], ids=" ".join)
def test_help_loads_nothing_heavy(words):
    code = (
        "import sys; from polhode.cli import main; sys.argv = ['polhode', *sys.argv[1:]]\n"
        "try:\n    main()\nfinally:\n"
        f"    print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]" and "polhode" in done.stdout


@pytest.mark.parametrize(
    "name",
    ["run", "resume", "view", "animate", "methods", "systems", "schema", "cite", "compare", "export", "doctor", "new"],
)
def test_help_teaches_by_example(polhode, name):
    code, out, _ = polhode(name, "--help")
    assert code == 0 and re.search(r"Examples?:\n +polhode " + name, out)
    examples = re.findall(r"^ {6,}polhode (?:methods|cite|compare|run) .*$", out, re.MULTILINE)
    for line in examples:  # what help shows can be typed
        for methods in re.findall(r"--methods? (\S+)", line):
            assert all(method(text) for text in methods.split(","))
        for file in re.findall(r"examples/\S+", line):
            assert (ROOT / file).exists()


def test_help_names_every_command_and_exit_code(polhode):
    code, out, _ = polhode("--help")
    assert code == 0
    for name in cli.COMMANDS:
        assert re.search(rf"^  {name} ", out, re.MULTILINE)
    for number in ("0", "2", "3", "4", "5", "6", "130"):
        assert re.search(rf"\b{number} [a-z]", out)


# ------------------------------------------------------------------ run
def test_run_writes_trajectory_and_picture(polhode, tmp_path):
    code, out, err = polhode("run", "top.toml")
    assert code == 0 and out == ""
    ds = ph.load(tmp_path / "top.nc")
    assert len(ds.time) == 11 and ds.attrs["title"] == "A top" and ds.attrs["scenario"] == SCENARIO
    assert (tmp_path / "top.png").read_bytes()[:4] == b"\x89PNG"
    for words in ("running 100.0 %", "A top", "trapm, order 2; cite krysl2006", "energy error",
                  "vertical momentum error", "axial momentum error", "|q| - 1", "iterations", " per step",
                  "top.nc, top.png"):  # fmt: skip
        assert words in err


def test_run_in_silence_and_for_machines(polhode, tmp_path):
    assert polhode("run", "top.toml", "-q", "--no-picture", "-o", "a/b.zarr") == (0, "", "")
    assert ph.load("a/b.zarr").equals(ph.runs.read_scenario("top.toml").integrate())
    assert not list(tmp_path.rglob("*.png"))
    code, out, err = polhode("run", "top.toml", "--json", "-q", "--no-picture", "--method", "imid", "--step", "0.002")
    facts = json.loads(out)
    assert code == 0 and err == ""
    assert (facts["method"], facts["step"], facts["steps"], facts["rows"]) == ("imid", 0.002, 50, 6)
    assert facts["complete"] and facts["error"] is None and facts["written"] == ["top.nc"]
    assert 0 < facts["energy_error"] < 1e-3 and facts["attitude_norm_error"] < 1e-14
    assert set(facts["momentum_errors"]) == {"vertical_angular_momentum", "axial_angular_momentum"}
    assert facts["iterations"]["most"] >= facts["iterations"]["mean"] > 1 and facts["ns_per_step"] > 0
    ds = ph.load("top.nc")
    assert json.loads(ds.attrs["scenario_changes"]) == {"method": "imid", "step": 0.002}
    vertical = ds.vertical_angular_momentum
    error = float(abs(vertical - vertical[0]).max() / abs(vertical[0]))
    assert facts["momentum_errors"]["vertical_angular_momentum"] == pytest.approx(error, rel=1e-12, abs=1e-300)


def test_energy_that_need_not_stay(polhode):
    Path("mine.py").write_text("def torque(t, q, omega, parameters):\n    return (0.0, 0.0, 1.0)\n")
    for work, told in (("", ("work", "torque 5e-05", "energy less work")),
                       ("work = false\n", ("energy change", "not conserved by this system"))):  # fmt: skip
        Path("mine.toml").write_text(
            'method = "trapm"\n[system]\ntype = "rigid_body"\ninertia = [2, 3, 4]\ntorque = "mine.py:torque"\n'
            f"{work}[run]\nstep = 0.001\nsteps = 20\n"
        )
        code, out, err = polhode("run", "mine.toml", "--allow-code", "--no-picture", "--json")
        assert code == 0 and json.loads(out)["energy_conserved"] is False
        assert [word for word in told if word not in err] == [], err


def test_slow_user_function_is_noted(polhode):
    text = (
        "from fractions import Fraction\n\n\ndef torque(t, q, omega, parameters):\n    return Fraction(t), 0.0, 0.0\n"
    )
    Path("slow.py").write_text(text)
    Path("slow.toml").write_text(
        'method = "trapm"\n[system]\ntype = "rigid_body"\ninertia = [2, 3, 4]\ntorque = "slow.py:torque"\n'
        "[run]\nstep = 0.001\nsteps = 5\n"
    )
    code, _, err = polhode("run", "slow.toml", "--allow-code", "--no-picture")
    assert code == 0 and "polhode: note: torque 'torque' (slow.py:4) could not be compiled" in err


LEFT = """
import atexit, os, runpy, sys, threading, time
os.chdir({!r})
log = open("log", "w")
log.write("kept")
atexit.register(lambda: open("last", "w").close())
threading.Thread(target=lambda: (time.sleep(0.7), open("thread", "w").close())).start()
sys.argv, watch = ["polhode", "cite", "nobody"], {!r}
sys.setprofile((lambda *_: None) if watch else None)
try:
    runpy.run_module("polhode", run_name="__main__", alter_sys=True)
except SystemExit:
    sys.setprofile(None)
    open("freed", "w").close()
"""


@each("watch", [False, True])
def test_the_command_ends_at_once_when_all_is_written(tmp_path, forked, watch):
    """Files, functions of ``atexit`` and threads as at Python's own end, which comes where a profiler waits for it."""
    status, told = forked.start(LEFT.format(str(tmp_path), watch)).end()
    assert "unknown method 'nobody'" in told and status == (0 if watch else 3)
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert watch or found == {"log": "kept", "last": "", "thread": ""}
    assert ("freed" in found) == watch


INTERRUPTED = """
import os, runpy, sys
os.chdir({!r})
sys.argv = ["polhode", "run", "long.toml", "--step", "0.002", "--no-picture"]
try:
    runpy.run_module("polhode", run_name="__main__", alter_sys=True)
except SystemExit as end:
    sys.stderr.flush()
    os._exit(end.code)
"""


@each("presses", some([2, 1], 1))
def test_ctrl_c_keeps_what_was_computed(tmp_path, presses, forked):
    (tmp_path / "long.toml").write_text(SCENARIO.replace("t_end = 0.1", "t_end = 1e7").replace("= 10\n", "= 10_000\n"))
    run = forked.start(INTERRUPTED.format(str(tmp_path)))
    while "running" not in run.told("err"):
        time.sleep(0.05)
    time.sleep(0.3)
    for _ in range(presses):
        os.kill(run.pid, signal.SIGINT)
        time.sleep(0.002)
    status, told = run.end()
    assert status == 130, told
    said = told.splitlines()[-1]
    ds = ph.load(tmp_path / "long.nc")
    steps = int(ds.attrs["steps"])
    assert len(ds.time) >= steps // 10_000 + 1 and float(ds.time[-1]) == pytest.approx(0.002 * steps)
    assert said.startswith(f"polhode: interrupted after {steps} of 5000000000 steps")
    assert f"{len(ds.time)} rows up to t = " in said and "are in long.nc" in said
    on = shlex.split(said.partition("; go on with: ")[2])
    assert on == ["polhode", "run", "long.toml", "--step", "0.002", "--from", "long.nc", "-o", "long-rest.nc",
                  "--no-picture"]  # fmt: skip
    assert "interrupted" in ds.attrs["incomplete"]


def test_ctrl_c_beside_the_run_is_noted_once():
    """Before the first step it raises; while the rows are saved it does at the second time."""
    with pytest.raises(KeyboardInterrupt):
        InterruptHandler().press()
    handler = InterruptHandler()
    handler.begun = True
    try:
        handler.press()
    except KeyboardInterrupt:
        pytest.fail("it raised at the first time")
    assert handler.pressed
    with pytest.raises(KeyboardInterrupt):
        handler.press()


def test_going_on_after_an_interruption(polhode, tmp_path):
    Path("half.toml").write_text(SCENARIO.replace("t_end = 0.1", "t_end = 0.05"))
    assert polhode("run", "half.toml", "-q", "--no-picture")[0] == 0
    assert polhode("run", "top.toml", "-q", "--no-picture", "--from", "half.nc", "-o", "rest.nc")[0] == 0
    assert polhode("run", "top.toml", "-q", "--no-picture")[0] == 0
    rest, whole = ph.load("rest.nc"), ph.load("top.nc")
    assert float(rest.time[0]) == 0.05
    np.testing.assert_allclose(rest.attitude[-1], whole.attitude[-1], rtol=0, atol=1e-13)


def test_steps_chosen_by_a_tolerance(polhode):
    words = ("--method", "mkrk:dp5", "--rtol", "1e-6", "--no-picture")
    code, out, err = polhode("run", "top.toml", *words, "--json", "-o", "chosen.nc")
    facts, ds = json.loads(out), ph.load("chosen.nc")
    assert code == 0 and (facts["step"], facts["rtol"]) == (None, 1e-6)
    assert (facts["steps"], facts["steps_rejected"]) == (ds.attrs["steps_accepted"], ds.attrs["steps_rejected"])
    assert facts["step_sizes"] == [ds.attrs["step_smallest"], ds.attrs["step_largest"]]
    assert f", {facts['steps']} steps accepted and {facts['steps_rejected']} rejected with rtol 1e-06, " in err
    assert re.search(r"^  steps +[\d.e-]+ smallest, [\d.e-]+ largest$", err, re.MULTILINE)
    assert re.search(rf"running 100.0 %  {facts['steps']} steps$", err, re.MULTILINE)
    half = SCENARIO.replace("t_end = 0.1", "t_end = 0.05")
    Path("half.toml").write_text(half)
    chosen = (*words, "-q")
    assert polhode("run", "half.toml", *chosen)[0] == 0
    assert polhode("run", "top.toml", *chosen, "--from", "half.nc", "-o", "rest.nc")[0] == 0
    rest = ph.load("rest.nc")
    assert float(rest.time[0]) == 0.05 and float(rest.time[-1]) == 0.1
    np.testing.assert_allclose(rest.attitude[-1], ds.attitude[-1], rtol=0, atol=1e-4)
    code, _, err = polhode("run", "top.toml", "--rtol", "1e-6")
    assert code == 3 and "does not estimate its error" in err
    Path("rtol.toml").write_text(re.sub(r"\nstep = .*", "\nrtol = 1e-6", SCENARIO.replace("trapm", "mkrk:dp5")))
    code, _, err = polhode("compare", "rtol.toml")
    assert code == 3 and "rtol.toml chooses its steps by rtol" in err and "add --steps" in err


def test_trajectory_survives_a_full_disk(polhode, monkeypatch):
    from polhode import trajectory
    from polhode.errors import FileProblem

    kept = []

    def full(ds, path):
        kept.append(path)
        if len(kept) == 1:
            raise FileProblem(f"cannot write {path}: No space left on device")
        return trajectory.files.save(ds, path)

    monkeypatch.setattr(ph, "save", full)
    code, _, err = polhode("run", "top.toml", "-q", "--no-picture")
    assert code == 5 and "No space left on device; the trajectory was kept in" in err
    assert len(ph.load(kept[1]).time) == 11


# ------------------------------------------------------------------ tables
def test_methods(polhode):
    from polhode.methods import each_default
    from polhode.methods.listing import listings

    code, out, err = polhode("methods")
    assert code == 0 and err == ""
    tables = listings(each_default())
    assert sorted(name for table in tables for names in table.members for name in names) == sorted(ph.methods.METHODS)
    for table in tables:
        assert table.title in out and table.about in out
        for row in table.rows:
            assert re.search(rf"^ *{re.escape(row[0])} ", out, re.MULTILINE)
    assert len(out.splitlines()) < len(ph.methods.METHODS) + 70  # numbered families take one line
    rows = json.loads(polhode("methods", "--json")[1])
    assert [row["name"] for row in rows] == list(ph.methods.METHODS)
    assert {row["cite"] for row in rows} <= set(entries())
    tableau = next(row for row in rows if row["name"] == "mkrk")["options"]["tableau"]
    assert tableau["default"] == "rk4" and "gauss6" in tableau["choices"]


def test_methods_of_a_kind_or_with_a_word(polhode):
    def names(*words):
        return [row["name"] for row in json.loads(polhode("methods", *words, "--json")[1])]

    flows = names("flows")
    assert flows == list(FLOW_NAMES) and not set(flows) & set(names("splitting"))
    families = {row.family for row in ph.methods.METHODS.values()}
    assert families >= {"splitting", "krysl", "munthe_kaas", "rotation_parameters", "thermostats", "taylor", "conic"}
    assert set(flows).union(*map(names, families)) == set(ph.methods.METHODS)
    assert names("blanes2002") == ["s4_6", "s6_10", "rkn4_6b", "rkn6_11b", "rkn6_14a"]
    assert names("Yoshida") == names("yoshida1990") and "yoshida8" in names("yoshida")
    assert names("trapm", "rkn6_14a", "trapm") == ["trapm", "rkn6_14a"]
    code, out, _ = polhode("methods", "laskar2001")
    assert code == 0 and re.search(r"^saba1 \.\.\. saba10 +2 +\(2,2\) \.\.\. \(20,2\) ", out, re.MULTILINE)
    assert "trapm  " not in out and "rkn6_14a  " not in out.partition("Which one?")[0]


def test_one_method_in_full(polhode):
    code, out, _ = polhode("methods", "pmlf6")
    facts = dict(re.findall(r"^  (\S.*?)  +(.*)$", out, re.MULTILINE))
    assert code == 0 and out.startswith("pmlf6: ")
    assert facts["order"] == "6; exact for a free body; order 2 where loads depend on velocities"
    assert facts["with such loads"] == "s6_10 keeps order 6"
    assert facts["needs"] == "loads that depend on time and configuration only, and their commutator load"
    assert facts["load evaluations in a step"] == "3 + 1 c" and facts["processed"] == "yes"
    assert facts["largest rotation in a step"] == "no limit" and facts["cite"].startswith("blanes2001rkn ")
    stages = out.partition("one step")[2].partition("other free rotations")[0]
    assert re.findall(r"turn|kick|c 0\.0164", stages) == [
        "turn",
        "kick",
        "turn",
        "kick",
        "c 0.0164",
        "turn",
        "kick",
        "turn",
    ]
    assert all(name in out for name in FLOW_NAMES)
    code, out, _ = polhode("methods", "s6_10/mr6")
    assert code == 0 and out.startswith("s6_10/mr6: ") and "order 2 where" not in out and "numbering" in out
    assert "exact for a free body" not in out
    code, out, _ = polhode("methods", "mkrk:gauss6")
    assert code == 0 and out.startswith("mkrk:gauss6: ") and "3 an iteration" in out and "one step" not in out
    facts = json.loads(polhode("methods", "v2/dmv6:substep", "--json")[1])[0]
    assert (facts["flow"], facts["order"], facts["order_free"]) == ("dmv6", 2, 6)
    assert facts["options"]["large"]["value"] == "substep" and facts["options"]["solver"]["value"] == "newton"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rnk6_14a", "did you mean 'rkn6_14a'"),
        ("s6_10/mr5", "unknown free flow 'mr5'; did you mean"),
        ("trapm/exact", "composes no flows"),
        ("nothinglikeit", "`polhode methods` lists them all"),
    ],
)
def test_methods_that_do_not_exist(polhode, word, said):
    code, out, err = polhode("methods", word)
    assert code == 3 and out == "" and said in err


def test_run_answers_an_unknown_flow_with_the_closest(polhode):
    code, _, err = polhode("run", "top.toml", "--method", "s6_10/mr5")
    assert code == 3 and re.search(r"unknown free flow 'mr5'; did you mean 'mr'", err)


@each(
    ("typed", "known"),
    [
        ("rkn6_1", ["rkn6_11b", "rkn6_14a"]),
        ("trap,v2/mr", ["trap,v2/mr", "trap,v2/mr4", "trap,v2/mr6", "trap,v2/mr8"]),
        ("mkrk:gauss", ["mkrk:gauss2", "mkrk:gauss4", "mkrk:gauss6", "mkrk:gauss8"]),
        ("v2/dmv6:s", ["v2/dmv6:substep"]),
        ("trapm/", []),
        ("nothing:", []),
    ],
)
def test_words_a_shell_completes(typed, known):
    from polhode.cli.text import complete_method

    assert complete_method(None, None, typed) == known


def test_usual_methods_of_a_comparison_fit_the_system():
    from polhode.cli.compare import usual_methods

    def spun(t, q, omega, parameters):
        return (-omega[0], 0.0, 0.0)

    def held(t, q, omega, parameters):
        return (-q[1], 0.0, 0.0)

    spun_body, held_body = (ph.rigid_body((2, 3, 4), torque=torque) for torque in (spun, held))
    sinking = ph.orbit(1.0, forces=[ph.forces.drag(kd=1e-3, radius=1.0, scale=0.1)])
    for system in (spun_body, held_body, ph.particle(), sinking):
        rows = [method(name) for name in usual_methods(system)]
        assert len({row.label for row in rows}) == len(rows) <= 9
        for row in rows:
            order = row.promises.order_velocity if system.velocity_dependent else row.promises.order
            assert order == row.promises.order, row.label
    assert "rkn6_14a" in usual_methods(ph.systems.problem("celledoni_satellite").build())
    assert all("s6_10" in usual_methods(system) for system in (spun_body, sinking))  # a splitting that keeps its order


def test_systems(polhode):
    code, out, err = polhode("systems")
    assert code == 0 and err == ""
    for name in [*ph.systems.SYSTEMS, *ph.systems.PROBLEMS]:
        assert re.search(rf"^ *{name} ", out, re.MULTILINE)
    assert "those of [celledoni2008, section 3.4]" in " ".join(out.split())  # no word is taken for markup
    found = json.loads(polhode("systems", "--json")[1])
    assert [row["name"] for row in found["systems"]] == list(ph.systems.SYSTEMS)
    uniform = next(row for row in found["forces"] if row["name"] == "uniform")
    assert uniform["arguments"]["acceleration"]["unit"] == "m_s2"
    assert [row["name"] for row in found["problems"]] == list(ph.systems.PROBLEMS)
    assert {row["cite"] for row in found["problems"]} <= set(entries())


def test_schema(polhode):
    code, out, _ = polhode("schema")
    assert code == 0 and json.loads(out) == json.loads((ROOT / "schema" / "scenario.schema.json").read_text())


# ------------------------------------------------------------------ references
def test_cite(polhode):
    assert polhode("run", "top.toml", "-q", "--no-picture")[0] == 0
    code, out, _ = polhode("cite", "top.nc")
    assert code == 0 and out.startswith(f"% Computed with polhode {ph.__version__}, method trapm (trapezoidal rule")
    assert "\n@article{krysl2006,\n" in out and out.rstrip().endswith("}")
    assert out.strip() == cite(ph.load("top.nc"))
    code, out, _ = polhode("cite", "mkrk:gauss4")
    assert code == 0 and "method mkrk:gauss4" in out and "@article{munthekaas1998," in out
    assert polhode("run", "top.toml", "-q", "--no-picture", "--method", "s4_6/mr")[0] == 0
    for what in ("top.nc", "s4_6/mr"):  # the splitting, and the free rotation in it
        code, out, _ = polhode("cite", what)
        assert code == 0 and re.findall(r"^@\w+\{(\w+)", out, re.MULTILINE) == ["blanes2002", "dullweber1997"]


@each("key", entries())
def test_every_field_of_an_entry_is_printed(key):
    given = entries()[key]
    shown = bibtex(key)
    assert re.sub(r"\s|,(?=\s*\})", "", shown) == re.sub(r"\s|,(?=\s*\})", "", given)
    assert shown.count("{") == shown.count("}")


# ------------------------------------------------------------------ examples
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"), key=lambda path: path.stem != "satellite")  # others are drawn too


@pytest.mark.parametrize("path", some(EXAMPLES, 1), ids=lambda path: path.stem)
def test_examples_run(polhode, path, tmp_path):
    code, _, err = polhode("run", path, "--allow-code")
    assert code == 0, err
    ds = ph.load(tmp_path / f"{path.stem}.nc")
    assert np.isfinite(ds.energy).all() and (tmp_path / f"{path.stem}.png").stat().st_size > 10_000


def test_free_motion_script(capsys):
    runpy.run_path(os.fspath(ROOT / "examples" / "free_motion_script.py"))
    lines = capsys.readouterr().out.splitlines()
    half = float(lines[0].split()[-1])
    middle = [line.split() for line in lines[3:8]]
    assert 29 < half < 30 and [int(row[0]) for row in middle] == [0, 1, 2, 1001, 1_000_000]
    for n, momentum, *errors in middle:
        assert float(momentum) == pytest.approx(6.0 * (-1) ** int(n), abs=1e-4)
        assert all(float(error) < 1e-14 for error in errors)
    strength, verlet, rotors, small = np.array([[float(x) for x in line.split()] for line in lines[-3:]]).T  # noqa: RUF059
    assert (abs(np.log10(verlet[:-1] / verlet[1:]) - 2) < 0.5).all()  # in proportion to the torque,
    assert rotors.min() > 0.01 and (small < 1e-9).all()  # which it is with the exact rotation only


def test_euler_rates_script(capsys):
    text = (ROOT / "examples" / "euler_rates_script.py").read_text()
    exec(text.replace("(1000, 2000, 4000)", "(100, 200, 400)"), {})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    table = np.array([[float(x) for x in row[:3]] for row in rows if row and row[0] in ("100", "200", "400")])
    steps, before, after = table.T
    assert (before > 5e-3).all()  # the rates lose the attitude,
    assert after * steps == pytest.approx(after[0] * steps[0], rel=0.1)  # the increments have order 1


def test_euler_angles_example():
    ds = ph.runs.read_scenario(ROOT / "examples" / "euler-angles.toml").integrate()
    angles = ds.euler_angles
    assert (angles.attrs["sequence"], angles.attrs["branch"]) == ("ZXZ", "continuous")
    assert abs(float(angles[0, 1])) == 0.0 and float(abs(ds.energy_error).max()) < 1e-13
    assert float(abs(angles.diff("time")).max()) < 0.2


def test_detumble_example():
    scenario = ph.runs.read_scenario(ROOT / "examples" / "detumble.toml", allow_code=True)
    ds = scenario.integrate()
    assert ds.step.values[1:-1].max() > 100 * ds.step.values[1:-1].min()
    state = {name: value for name, value in scenario.arguments.items() if name in ("attitude", "angular_velocity")}
    fixed = ph.integrate(scenario.system, "mkrk:cv8", step=0.05, t_end=1850.0, t_eval=[60.0, 1840.0], **state)
    tight = ph.integrate(
        scenario.system,
        ph.methods.method("euler:dp8", sequence="ZYX"),
        steps=ph.Tolerance(1e-9, max_step=10.0),
        t_end=1850.0,
        t_eval=[60.0, 1840.0],
        **state,
    )
    assert ph.rotation.angle_between(tight.attitude.values, fixed.attitude.values).max() < 1e-6


def test_gravity_gradient_example_is_as_accurate_as_the_paper_says():
    scenario = ph.runs.read_scenario(ROOT / "examples" / "gravity-gradient.toml")
    assert scenario.method == "rkn6_14a"
    assert 1e-10 < float(abs(scenario.integrate().energy_error).max()) < 1e-9


def test_satellite_script(monkeypatch, capsys):
    monkeypatch.syspath_prepend(os.fspath(ROOT / "examples"))
    runpy.run_path(os.fspath(ROOT / "examples" / "satellite_script.py"))
    errors = [float(line.split()[1]) for line in capsys.readouterr().out.splitlines()[-4:]]
    orders = np.log2(errors[:-1]) - np.log2(errors[1:])
    assert (abs(orders - 4) < 0.3).all()


@pytest.mark.full
def test_monte_carlo_script(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(os.fspath(ROOT / "examples" / "monte_carlo_spacecraft_script.py"))
    rows = np.array([[float(x) for x in line.split()] for line in capsys.readouterr().out.splitlines()[1:]])
    hours, low, middle, high, tilt, most = rows.T[:6]
    assert hours.tolist() == list(range(7)) and (np.diff(middle) > 10).all()
    # The drop is in proportion to the coefficient of drag, whose logarithm spreads by 0.2.
    quantiles = np.exp(0.2 * 1.645 * np.array([-1.0, 1.0]))
    np.testing.assert_allclose([low[-1] / middle[-1], high[-1] / middle[-1]], quantiles, rtol=0.01)
    assert (tilt < 7).all() and (most < 13).all()  # it hangs
    assert (tmp_path / "monte_carlo_bands.png").stat().st_size > 20_000


def test_satellite_script_is_the_scenario():
    scenario = ph.runs.read_scenario(ROOT / "examples" / "satellite.toml", allow_code=True)
    script = (ROOT / "examples" / "satellite_script.py").read_text()
    for row in scenario.system.arguments["satellite"]["inertia"]:
        assert str(row) in script
    assert str(scenario.arguments["angular_velocity"]) in script
