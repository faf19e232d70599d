"""The room of the checks: what it offers, how it is cut, and what a report says."""

import ast
import inspect
import re
import runpy
from pathlib import Path

import pytest

import polhode as ph
from each import each
from polhode import checks

FILES = sorted(Path(checks.__file__).parent.glob("*.py"))


def test_public_checks_live_in_the_room():
    assert ph.checks.check_method is checks.check_method and ph.checks.check_system is checks.check_system
    assert ph.checks.check_method.__module__ == "polhode.checks.method"
    assert ph.checks.check_system.__module__ == "polhode.checks.system"
    for name in checks.__all__:
        thing = getattr(checks, name)
        assert not callable(thing) or (inspect.getdoc(thing) or "").strip(), name


def test_files_are_short_and_say_what_they_hold():
    names = {path.stem for path in FILES}
    assert names >= {"loads", "method", "method_measures", "problems", "report", "steps", "system", "system_measures"}
    room = checks.__doc__
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 400 and ast.get_docstring(ast.parse(text)), path.name
        assert path.stem == "__init__" or f"``{path.stem}``" in room, f"the room says nothing about {path.stem}"


def test_a_report_is_a_table_that_can_be_asked():
    kept = checks.Line("order", True, "2", "2.01", {"order": 2.01})
    broken = checks.Line("time symmetry", False, "a step back undoes a step", "defect 1.0e-03")
    report = checks.Report("mine", (kept, broken))
    assert not report.passed and report.failures == (broken,) and report["order"].numbers["order"] == 2.01
    head, title, first, second = str(report).splitlines()
    assert head == "mine: 1 of 2 checks passed" and title.split() == ["checked", "promised", "measured"]
    assert first.startswith("ok    order ") and second.startswith("FAIL  time symmetry ")
    with pytest.raises(checks.PromiseBroken, match="mine breaks its promises") as caught:
        report.raise_for_failure()
    assert "time symmetry" in str(caught.value) and "order" not in str(caught.value)
    assert isinstance(caught.value, AssertionError) and isinstance(caught.value, ph.errors.PolhodeError)
    with pytest.raises(KeyError, match="'energy' was not checked; the lines are: order, time symmetry"):
        report["energy"]
    checks.Report("mine", (kept,)).raise_for_failure()


def test_orders_come_from_a_table_of_errors():
    system, y = checks.trial_problem("potential")
    end = checks.exact_state(system, y, 0.0, 1.0)
    table = checks.measure_order("mkrk:rk4", system, y, end, 0.0, 1.0)
    assert isinstance(table, checks.ConvergenceTable) and table.steps[:4] == (2, 3, 4, 6)
    assert len(table.errors) == len(table.steps)
    assert table.order == pytest.approx(4, abs=0.1) and table.fitted == pytest.approx(4, abs=0.4)


def test_the_page_of_the_checks_shows_a_pass_and_a_wrong_sign(tmp_path, capsys):
    page = (Path(__file__).resolve().parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", page, re.DOTALL)
    file = tmp_path / "cells.py"  # a file, because functions of a user are read from it
    file.write_text("\n".join(cells[:2]), encoding="utf-8")
    runpy.run_path(str(file))
    printed = capsys.readouterr().out
    assert "ok   loads and potential" in printed and "ok   conserves energy" in printed
    assert "loads and potential | loads are -dU | relative difference 2.0e+00" in printed


@each("check, name", [(ph.checks.check_method, "trapm"), (ph.checks.check_system, ph.free_body((1.0, 1.5, 2.0)))])
def test_every_line_of_a_report_is_explained(check, name):
    said = inspect.getdoc(check)
    for line in check(name).lines:
        kind = re.split("[, ]", line.what)[0] if line.what.startswith(("order", "conserves")) else line.what
        assert kind in said.replace("symplectic, ...", line.what), line.what
    assert "When a line fails" in said


def bond(a, b, stiffness):
    d = b.position - a.position
    return 0.5 * stiffness * d @ d + 0.1 * a.position[2]


def test_a_start_by_names_of_bodies_is_that_of_rows():
    pair = ph.system(ph.body("a", 2.0, (1, 2, 2.5)), ph.body("b", 1.0), ph.loads.of(bond, stiffness=3.0).on("a", "b"))
    by_name = {"b": {"position": (1.2, 0.1, 0.0)}, "a": {"rotation_vector": (0.1, 0.0, 0.2), "velocity": (0, 1, 0)}}
    rows = {"position": [(0, 0, 0), (1.2, 0.1, 0.0)], "velocity": [(0, 1, 0), (0, 0, 0)],
            "attitude": [ph.rotation.exp_quaternion((0.1, 0.0, 0.2)), (1, 0, 0, 0)]}  # fmt: skip
    once = {"states": 2, "span": 0.5}
    report = ph.checks.check_system(pair, start=by_name, **once)
    assert report.passed and str(report) == str(ph.checks.check_system(pair, **rows, **once))
    assert str(report) != str(ph.checks.check_system(pair, **once))
    ds = ph.integrate(pair, "v2", step=0.01, steps=3, start=by_name)
    last = {name: ds[name][-1].values for name in ("attitude", "angular_momentum", "position", "velocity")}
    assert str(ph.checks.check_system(pair, start=ds, **once)) == str(ph.checks.check_system(pair, **last, **once))
    with pytest.raises(ph.errors.InvalidInput, match="trajectory of 'system', but the check would be of 'free_body'"):
        ph.checks.check_system(ph.free_body((1, 2, 2.5)), start=ds)
    with pytest.raises(ph.errors.InvalidInput, match="velocity is given, and start has it too"):
        ph.checks.check_system(pair, start=ph.State(velocity=rows["velocity"]), velocity=rows["velocity"])


def test_a_word_that_check_system_does_not_know_is_a_sentence():
    body = ph.free_body((1, 2, 2.5))
    with pytest.raises(ph.errors.InvalidInput, match=r"unknown argument of check_system 'foo'.*angular_velocity"):
        ph.checks.check_system(body, foo=1)
    with pytest.raises(ph.errors.InvalidInput, match="did you mean 'angular_velocity'"):
        ph.checks.check_system(body, angular_velocty=(0, 0, 1))


@each("kind", ["heavy_top", "rigid_body", "free_body"])
def test_a_rod_is_checked_without_momentum_about_its_axis(kind):
    """It does not turn about its axis, about which its moment of inertia is zero; a top keeps that momentum, zero."""
    rod = (1.0, 1.0, 0.0)
    made = {
        "heavy_top": lambda: ph.heavy_top(rod, (0.0, 0.0, 1.0), weight=1.0),
        "rigid_body": lambda: ph.rigid_body(rod, potential=lambda t, q, p: 1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2)),
        "free_body": lambda: ph.free_body(rod),
    }[kind]()
    told = checks.check_system(made)
    assert told.passed and len(told.lines) > 6, told
