"""Pages for those who come from other programs: their code is what was measured, their tables what was written."""

import importlib.util
import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from each import each

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "coming_from"
MEASURED = json.loads((ROOT / "benchmarks" / "coming_from.json").read_text(encoding="utf-8"))


def loaded(path, monkeypatch):
    """A module outside of packages."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def benchmark(monkeypatch):
    return loaded(ROOT / "benchmarks" / "coming_from.py", monkeypatch)


def test_every_case_is_measured_and_on_its_page(benchmark):
    assert set(MEASURED) == set(benchmark.CASES)
    for case, (files, _) in benchmark.CASES.items():
        page = (PAGES / f"{case}.md").read_text(encoding="utf-8")
        assert re.findall(r"```\{measured\} (\w+)", page) == [case]
        shown = re.findall(r"literalinclude\} \.\./\.\./benchmarks/peer_examples/(\w+\.py)", page)
        assert sorted(shown) == sorted(files.values())
        assert set(MEASURED[case]["programs"]) == {"polhode", *files}
        for row in MEASURED[case]["rows"]:
            numbers = [row[program] for program in MEASURED[case]["programs"]]
            assert all(math.isfinite(number) for number in numbers)
            assert not row["what"].startswith(("the run", "imports")) or min(numbers) > 0


def test_every_page_is_in_the_list_and_says_what_is_missing():
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    for page in PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert page.stem == "index" or (f"({page.name})" in index and f"\n{page.stem}\n" in index)
        missing = re.search(r"^## What (.*) do(es)? that polhode does not$", text, re.MULTILINE)
        assert page.stem == "index" or (missing and re.search(r" \d", missing[1])), f"{page.stem}: of which version?"
        for program, name in MEASURED.get(page.stem, {"programs": {}})["programs"].items():
            version = ".".join(name.split(".")[:2])  # what is said of a program holds for that which was measured
            assert program == "polhode" or version in missing[1], f"{page.stem}: {version}"


PEERS = (
    "SciPy|heyoka|REBOUND|Basilisk|Orekit|hapsira|poliastro|Exudyn|LAMMPS|OpenMM|diffrax|MuJoCo|Skyfield|Drake|tudat"
)
LACKS = "has (?:no|only)|lacks|cannot|can only|does not|do not|compiles|needs|is not"
CLAIMS = rf"\b(?:{PEERS})(?:'s \w+)? (?:{LACKS})\b"


def test_what_other_programs_lack_is_said_of_a_version():
    """Beyond the pages about them, which name their versions, no sentence says what a peer cannot do."""
    root = PAGES.parents[1]
    pages = [root / "README.md", root / "benchmarks" / "README.md", *(root / "docs").rglob("*.md")]
    for page in [*pages, *(root / "src").rglob("*.py")]:
        if page.parent != PAGES and "_build" not in page.parts:
            found = re.search(CLAIMS, " ".join(page.read_text(encoding="utf-8").split()))
            assert not found, f"{page.name}: of which version is this? {found[0]}"
    assert re.search(CLAIMS, "what heyoka lacks") and re.search(CLAIMS, "SciPy's solver has no memory")


@each("page", sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index"))
def test_every_page_shows_bodies_and_loads_in_a_few_lines(page):
    """The best-known example of the other program is a system in at most 15 lines."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    cells = [cell.strip().splitlines() for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", text, re.DOTALL)]
    systems = [cell for cell in cells if any("ph.system(" in line for line in cell)]
    assert systems and all(len(cell) <= 15 for cell in cells)


def test_files_of_peers_have_one_measured_part(benchmark):
    files = {path.name for path in (ROOT / "benchmarks" / "peer_examples").glob("*.py")}
    assert files == {name for files, _ in benchmark.CASES.values() for name in files.values()}
    for name in files:
        before, measured, after = benchmark.theirs(name)
        assert before.strip() and measured.strip() and "result = {" in after
        for part in (before, measured, after):
            compile(part, name, "exec")


@pytest.mark.parametrize("case", ["scipy", "rebound", "basilisk"])
def test_the_code_of_the_page_has_the_errors_of_the_table(case, benchmark):
    before, measured = benchmark.cells(case)
    names = {}
    exec(before, names)
    exec(measured, names)
    exec(benchmark.OURS, names)
    _, compare = benchmark.CASES[case]
    told = {row["what"]: row["polhode"] for row in MEASURED[case]["rows"]}
    for what, unit, value in compare({}):
        found = value(names["result"])
        assert unit in ("", "rad", "m", "au")
        assert found <= 1e-15 or 0.05 < found / told[what] < 20, what


def test_tables_are_shown_in_their_units(monkeypatch):
    pytest.importorskip("sphinx")
    measured = loaded(ROOT / "docs" / "_ext" / "measured.py", monkeypatch)
    times = [measured.shown(x, "s").replace("\N{NO-BREAK SPACE}", " ") for x in (2.345, 0.0123, 3.4e-6, 123.4)]
    assert times == ["2.3 s", "12 ms", "3.4 µs", "123 s"]
    assert [measured.shown(x, "") for x in (28000, 1.23e-9, -2585.8888, None)] == [
        "28 000",
        "1.2e-09",
        "-2585.889",
        "-",
    ]
    rows = measured.rows_of(MEASURED["scipy"])
    assert rows[0][0] == "" and len({len(row) for row in rows}) == 1
    assert any("(rad)" in row[0] for row in rows)
    summary = measured.summary(MEASURED)
    assert len({len(row) for row in summary}) == 1
    assert len(summary) - 1 == sum(len(case["programs"]) - 1 for case in MEASURED.values())


def test_errors_are_those_of_the_last_row(benchmark):
    turn = np.array([np.cos(0.1), np.sin(0.1), 0.0, 0.0])
    matrix = [1, 0, 0, 0, np.cos(0.2), -np.sin(0.2), 0, np.sin(0.2), np.cos(0.2)]
    np.testing.assert_allclose(abs(benchmark.quaternion({"matrix": matrix}) @ turn), 1.0)
    np.testing.assert_allclose(benchmark.quaternion({"attitude": list(3 * turn)}), turn)
