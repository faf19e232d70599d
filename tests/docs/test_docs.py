"""The documentation has its material: docstrings, citations that resolve, pages that can be generated."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import os
import re
import runpy
import sys
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

import pytest

import polhode
from each import each

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.fixture(scope="module")
def generate():
    """The generator of ``docs/``, as a package; it leaves no trace in the import system."""
    before = list(sys.path), set(sys.modules)
    sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "_ext")]
    yield importlib.import_module("generate")
    sys.path[:] = before[0]
    for name in set(sys.modules) - before[1]:
        if name.partition(".")[0] in ("generate", "bibliography", "plain_docstrings"):
            del sys.modules[name]


@pytest.fixture(scope="module")
def pages(generate, tmp_path_factory):
    """The folder with all that is generated."""
    folder = tmp_path_factory.mktemp("pages")
    generate.write(folder)
    return folder


@functools.cache
def described_tables() -> set[str]:
    """Names assigned at the top of a module with a docstring below them, of those that are public."""
    found = set()
    assigned = re.compile(rf"^({'|'.join({name.rpartition('.')[2] for name in PUBLIC})})\b[^\n(]*=", re.MULTILINE)
    for path in SOURCES:
        if not assigned.search(text := path.read_text(encoding="utf-8")):
            continue
        for node, after in pairwise(ast.parse(text).body):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            described = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if described and isinstance(after.value.value, str):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


PUBLIC = sorted({*polhode.__all__, *polhode._PACKAGES, *polhode._MOVED.values()} - {"__version__"})


@each("name", PUBLIC)
def test_every_public_name_is_described(name):
    thing = attrgetter(name)(polhode)
    if inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing):
        assert (inspect.getdoc(thing) or "").strip()
    else:
        assert name.rpartition(".")[2] in described_tables()


def test_every_citation_resolves(generate):
    from polhode.methods import FLOW_NAMES, METHODS
    from polhode.methods.free_flows import free_flow
    from polhode.methods.tableaux import TABLEAUX, tableau
    from polhode.systems import PROBLEMS

    known = set(generate.reference.bibliography.entries(generate.reference.bib_text()))
    used = {row.cite: f"method {row.name}" for row in METHODS.values()}
    used |= {free_flow(name).cite: f"free rotation {name}" for name in FLOW_NAMES}
    used |= {tableau(name).cite: f"tableau {name}" for name in TABLEAUX if tableau(name).cite}
    used |= {ready.cite: f"problem {name}" for name, ready in PROBLEMS.items()}
    for path in SOURCES:
        used |= {key: path.name for key in generate.text.citations(path.read_text(encoding="utf-8"))}
    for path in PAGES:
        used |= {key: path.name for key in re.findall(r"\(#ref-(\w+)\)", path.read_text(encoding="utf-8"))}
    assert {key: place for key, place in used.items() if key not in known} == {}


def test_references_become_plain_sentences(generate):
    for key, entry in generate.reference.bibliography.entries(generate.reference.bib_text()).items():
        sentence = generate.reference.bibliography.sentence(entry)
        assert entry["year"] in sentence, key
        assert not set("{}\\") & set(sentence), sentence


def test_sources_in_tables_keep_their_column(generate):
    doc = inspect.getdoc(importlib.import_module("polhode.systems.rigid_water"))
    rows = [line for line in doc.splitlines() if line.endswith("[berendsen1987]")]
    assert rows and set(rows) <= set(generate.reference.as_rst(doc).splitlines())
    assert generate.reference.as_rst("x = 1            [krysl2006]") == "x = 1    [krysl2006]"


def test_tex_accents(generate):
    plain = generate.reference.bibliography.plain
    assert plain(r"N{\o}rsett, S{\"a}fstr{\"o}m, Fass{\`o}, Veseli{\'c}, Kre{\v s}imir, {\"U}ber, 1--2") == (
        "Nørsett, Säfström, Fassò, Veselić, Krešimir, Über, 1–2"
    )


def test_pages_are_generated(generate, pages):
    from polhode.methods import METHODS
    from polhode.systems import SYSTEMS

    before = {path: path.stat().st_mtime_ns for path in pages.rglob("*.md")}
    written = {path.relative_to(pages).as_posix() for path in before}
    alone = {name for name, row in METHODS.items() if row.family != "splitting"}
    assert {"trapm", "mkrk"} <= alone and len(alone) < 60
    assert written >= {f"methods/{name}.md" for name in alone} | {f"systems/{name}.md" for name in SYSTEMS}
    (pages / "methods" / "gone.md").write_text("a method that is no more")
    assert {path.relative_to(pages).as_posix() for path in generate.write(pages)} >= written
    assert {path: path.stat().st_mtime_ns for path in pages.rglob("*.md")} == before


def test_no_page_has_a_table_of_its_own_contents(pages):
    """The theme has one beside every page, and shows a red box where there is a second one."""
    for path in [*PAGES, *(path for path in pages.rglob("*") if path.is_file())]:
        assert not re.search(r"\{contents\}|\.\. contents::", path.read_text(encoding="utf-8")), path.name


def test_every_public_name_has_its_place_in_the_reference(pages):
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages.rglob("*.md"))
    shown = set(re.findall(r"^\.\. (?:auto\w+|py:data):: polhode\.([\w.]+)$", text, re.MULTILINE))
    for name in PUBLIC:
        thing = attrgetter(name)(polhode)
        if not inspect.ismodule(thing):
            assert name in shown
        elif name not in ("checks", "errors", "references", "display"):  # those for users are in PUBLIC
            modules = {one for one in thing.__all__ if inspect.ismodule(getattr(thing, one))} - {"bodies"}
            assert not {one for one in {*thing.__all__} - modules if {one, f"{name}.{one}"}.isdisjoint(shown)}, name


def test_constants_have_their_own_words(generate):
    """Not those of their type, such as "Convert a string or number to an integer"."""
    directive = generate.reference.public("planets.ASTRONOMICAL_UNIT")
    assert directive.startswith(".. py:data:: polhode.planets.ASTRONOMICAL_UNIT\n   :value: 149597870700")
    assert "metres" in directive.lower() or " m" in directive
    with pytest.raises(LookupError, match="no docstring"):
        generate.reference.described("nothing", "surroundings.planets")


def test_names_of_others_are_on_the_page_of_methods(pages):
    from polhode.methods import OTHER_NAMES

    page = (pages / "methods" / "index.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for names in OTHER_NAMES.values() for name in names)


def test_every_splitting_and_free_rotation_is_in_a_table(pages):
    from polhode.methods import FLOW_NAMES, METHODS
    from polhode.methods.free_flows import free_flow

    tables = {}
    for kind in ("any", "nystrom", "gradient", "near", "flow"):
        assert f"generated/methods/table_{kind}.md" in "".join(page.read_text() for page in PAGES)
        head, _, *lines = (pages / "methods" / f"table_{kind}.md").read_text().splitlines()
        heads = [cell.strip() for cell in head.split("|")[1:-1]]
        for line in lines:
            cells = dict(zip(heads, (cell.strip() for cell in line.split("|")[1:-1]), strict=True))
            tables[cells[heads[0]].strip("`")] = {"kind": kind, **cells}
    splittings = [name for name, row in METHODS.items() if row.family == "splitting"]
    assert sorted(tables) == sorted(splittings)
    assert sorted(name for name, row in tables.items() if row["kind"] == "flow") == sorted(FLOW_NAMES)
    for name in FLOW_NAMES:
        order = free_flow(name).order
        assert tables[name]["order"] == ("exact" if order == float("inf") else str(int(order)))
    known = {
        "v2": ("any", "2", "1 + 2", "1"), "s6_10": ("any", "6", "11 + 10", "10"),
        "rkn6_14a": ("nystrom", "6", "15 + 14", "14"), "rkn4_6b": ("nystrom", "4", "6 + 7", "6"),
        "pmlf6": ("gradient", "6", "4 + 3", "3"), "saba4": ("near", "2", "5 + 4", "4"),
    }  # fmt: skip
    for name, (kind, order, stages, loads) in known.items():
        row = tables[name]
        assert (row["kind"], row["order"], row["turns + kicks"], row["loads"]) == (kind, order, stages, loads), name
    assert tables["pmlf6"]["commutator loads"] == "1" and tables["sabac4"]["commutator loads"] == "1"
    assert tables["pmlf6"]["processed"] == "yes" and tables["s6_10"]["processed"] == "no"
    assert tables["aba10_6_4"]["generalised"] == "(10,6,4)"


def test_pages_link_to_what_exists(pages):
    """Links between files; Sphinx checks the rest."""
    for path in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text(encoding="utf-8")):
            generated = target.removeprefix("generated/")
            if generated.startswith("gallery/"):
                continue  # written when notebooks are run
            place = pages / generated if generated != target else path.parent / target
            assert place.exists(), f"{path.name}: {target}"


def snippets(page):
    """The Python blocks of a Markdown page at the root."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@each(
    "page, k",
    [(page, k) for page in ("README.md", "CONTRIBUTING.md", "docs/ensembles.md") for k in range(len(snippets(page)))],
)
def test_snippets_run_as_printed(page, k, tmp_path, monkeypatch, capsys):
    file = tmp_path / "snippet.py"  # a file, because the step of a new method is read from it
    file.write_text(snippets(page)[k].replace("10_000, seed", "64, seed"), encoding="utf-8")  # the largest one smaller
    monkeypatch.chdir(tmp_path)
    runpy.run_path(os.fspath(file), run_name="__main__")
    said = capsys.readouterr().out
    assert "FAIL" not in said
    if "check_method" in snippets(page)[k]:
        assert re.search(r"(\d+) of \1 checks passed", said)


# ------------------------------------------------------------------ numbers on pages
def tables_of_numbers(text):
    """Tables of a page of which over a third of the cells are figures, with the words of their section before them."""
    figure = re.compile(r"^(`?)[-+<]?(\d[\d ,.eE+-]*|-|1/\d[\d.]*)( / .*)?\1$")
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
        for table in re.finditer(r"(^\|.*\n)+", section, flags=re.MULTILINE):
            cells = [cell.strip() for line in table[0].splitlines()[2:] for cell in line.split("|")[2:-1]]
            if sum(bool(figure.match(cell)) for cell in cells) > len(cells) / 3:
                yield section[: table.start()], table[0]


@each("page", PAGES, ids=lambda page: page.stem)
def test_tables_of_numbers_name_what_prints_them(page):
    """What is not computed when the site is built says which benchmark or study prints it, and that one exists."""
    from polhode_papers import STUDIES

    for before, table in tables_of_numbers(page.read_text(encoding="utf-8")):
        named = re.findall(r"`python benchmarks/(\w+\.py)`|`polhode reproduce (\w+)`", before)
        assert named, f"{page.name}: nothing says what prints\n{table}"
        for benchmark, study in named:
            assert study in STUDIES if study else (ROOT / "benchmarks" / benchmark).is_file()


TIMES, SPANS = r"nanoseconds|[0-9] [nu]s\b|% longer", r"[0-9],000 (orbits|revolutions|turns)"
MEASURED = rf"{TIMES}|times (fewer|better|slower|faster|cheaper)|{SPANS}"


@each("page", PAGES, ids=lambda page: page.stem)
def test_sentences_about_long_measurements_name_what_prints_them(page):
    for section in re.split(r"^#+ ", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
        words = re.sub(r"```.*?```", "", section, flags=re.DOTALL)
        named = re.findall(r"python benchmarks/(\w+\.py)|polhode reproduce (\w+)", words)
        assert named or not re.search(MEASURED, words), f"{page.name}: nothing says what measures\n{section[:400]}"
        assert all((ROOT / "benchmarks" / benchmark).is_file() for benchmark, _ in named if benchmark)


def test_a_table_without_a_source_would_be_found():
    bare = "# A\n\n| method | x | y |\n|---|---|---|\n| `v2` | 1.5 | 200 |\n| `s6_10` | 3 / 4.5 / - | 1e-3 |\n"
    assert len(list(tables_of_numbers(bare))) == 1
    assert not list(tables_of_numbers("# A\n\n| exit code | meaning |\n|---|---|\n| 0 | done |\n| 2 | usage |\n"))


def _orders_under_velocities(kind):
    from polhode.methods import METHODS
    from polhode.methods.splitting_tables import SCHEMES

    rows = [
        (METHODS[name].promises(), rule) for name, rule in SCHEMES.items() if rule.requires == kind and name in METHODS
    ]
    return {(p.order_velocity == p.order, int(p.order_velocity), rule.symmetric) for p, rule in rows if p.order > 2}


def test_pages_say_what_velocities_cost_a_splitting():
    """Kept by loads-of-any-kind rows; 4 (3 without symmetry) and 2 for the others, as docs and command line say."""
    assert all(kept for kept, _, _ in _orders_under_velocities("any") | _orders_under_velocities("near"))
    nystrom = _orders_under_velocities("nystrom")
    assert nystrom and all(order == (4 if symmetric else 3) or kept for kept, order, symmetric in nystrom)
    assert {order for kept, order, _ in _orders_under_velocities("gradient")} == {2}
    said = {path.name: " ".join(path.read_text(encoding="utf-8").split()) for path in PAGES}
    assert "the order is 4, or 3 without symmetry" in said["splitting.md"]
    assert (
        "Nyström splittings fall to order 4 and those with commutator loads to 2; splittings for any loads keep"
        in (said["concepts.md"])
    )
    for name, text in said.items():
        assert not re.search(r"splittings (are of|fall to) order 2", text), name


NUMBERS = {
    "docs/molecules.md": [(r"(\d+) bytes for each body and row", lambda: (_bytes_of_a_row(),))],
}
"""Numbers in sentences, and what computes them."""


def _bytes_of_a_row():
    import numpy as np

    n, rows = 8, 5
    state = polhode.initial.cubic(2, 3.0).state
    ds = polhode.integrate(polhode.dipoles(n), "v2", step=0.01, steps=rows - 1, **state)
    kept = {name: v for name, v in ds.data_vars.items() if {"time", "body"} <= set(v.dims)}
    assert np.prod([kept["position"].sizes[d] for d in ("time", "body")]) == n * rows
    return sum(v.nbytes for v in kept.values()) // (n * rows)


@pytest.mark.parametrize("page", NUMBERS)
def test_numbers_in_sentences_are_computed(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for pattern, compute in NUMBERS[page]:
        found = re.search(pattern, text)
        assert found, f"{page} says nothing like {pattern}"
        assert tuple(int(number) for number in found.groups()) == compute()


def test_the_index_of_methods_begins_with_what_is_integrated(generate, pages):
    from polhode.methods import METHODS, method

    page = (pages / "methods" / "index.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert heads[0] == "What do you integrate?" and "Others" not in heads
    assert set(generate.methods.GROUPS) <= set(heads)
    assert {family for names in generate.methods.GROUPS.values() for family in names} == {
        row.family for row in METHODS.values()
    }
    for _, which, page in generate.methods.USES:
        assert (ROOT / "docs" / f"{page}.md").exists()
        for name in re.findall(r"`([a-z][\w/:]*)`", which):
            if name != "ph.free_motion":
                assert method(name).promises is not None
