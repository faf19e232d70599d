"""Many cases as one test: each is asked, and those that fail are named."""

from pathlib import Path

import pytest

from cover import some
from each import each

SETTINGS = Path(__file__).resolve().parent.parent / "pyproject.toml"
TESTS = """
import pytest
from cover import some
from each import each

@each("b", [1, 0])
@each("a", some(range(5), 2))
def test_two_axes(a, b):
    assert a * b < 4, "too large"
    assert a != 3

@pytest.mark.parametrize("c", "xy")
@each("a", [1, 2, 3], ids="one two three".split())
def test_beside_an_axis(a, c):
    if a == 2:
        pytest.skip("no twos")
    assert (a, c) != (3, "y")

@each("word", ["left", "right"])
def test_own_folder_and_patches(word, tmp_path, monkeypatch, capsys):
    assert not list(tmp_path.iterdir()) and capsys.readouterr().out == "" and "seen" not in dir(pytest)
    (tmp_path / word).touch()
    monkeypatch.setattr(pytest, "seen", word, raising=False)
    print(word)

@each("k", [1, 2])
def test_own_rows(k):
    import polhode as ph
    ph.methods.add_tableau("mine", A=[[0, 0], [2 / 3, 0]], b=[1 / 4, 3 / 4])
"""


@pytest.fixture
def outcomes(tmp_path, monkeypatch):
    """What becomes of these tests, by name."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "test_them.py").write_text(TESTS)

    def run():
        told = {}

        class Reports:
            def pytest_runtest_logreport(_, report):
                if report.when == "call":
                    told[report.nodeid.partition("::")[2]] = (report.outcome, str(report.longrepr))

        alone = ["-o", "addopts=", "--tb", "short", "-p", "no:cacheprovider", "--import-mode", "importlib"]
        places = ["-c", str(SETTINGS), "--rootdir", str(tmp_path), str(tmp_path)]
        pytest.main([*alone, *places], plugins=[Reports()])
        return told

    return run


def test_every_case_is_asked_and_those_that_fail_are_named(outcomes, capsys):
    told = outcomes()
    assert {name: outcome for name, (outcome, _) in told.items()} == {
        "test_two_axes[some]": "failed",
        "test_two_axes[full]": "failed",
        "test_beside_an_axis[x]": "skipped",
        "test_beside_an_axis[y]": "failed",
        "test_own_folder_and_patches": "passed",
        "test_own_rows": "passed",
    }
    assert "1 of 4 cases: 4-1" in told["test_two_axes[some]"][1] and "too large" in told["test_two_axes[some]"][1]
    assert "2 of 6 cases: 3-1, 3-0" in told["test_two_axes[full]"][1], "long cases are a test of their own"
    assert "1 of 3 cases: three" in told["test_beside_an_axis[y]"][1]
    assert "[two] no twos" in told["test_beside_an_axis[x]"][1]


def test_cases_are_the_product_of_their_axes():
    @each("b", "xy")
    @each("a", some(range(3), 2))
    def test(a, b):
        seen.append((a, b))

    seen = []
    test()
    assert seen == [(0, "x"), (0, "y"), (2, "x"), (2, "y")]
    test(7, "z")
    assert seen.pop() == (7, "z")
    assert [(row.name, row.full) for row in test.each[1]] == [(f"{a}-{b}", a == 1) for a in range(3) for b in "xy"]
