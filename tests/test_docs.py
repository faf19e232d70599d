"""The documentation has its material: docstrings, citations that resolve, pages that can be generated."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import polhode

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src" / "polhode").rglob("*.py"))
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.fixture(scope="module")
def generate():
    """The generator of ``docs/``, as a module; it leaves no trace in the import system."""
    before = list(sys.path), set(sys.modules)
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before[0]
    for name in ("bibliography", "plain_docstrings"):
        if name not in before[1]:
            sys.modules.pop(name, None)


def described_tables() -> set[str]:
    """Names assigned at the top of a module with a docstring below them."""
    found = set()
    for path in SOURCES:
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node, after in pairwise(body):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            described = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if described and isinstance(after.value.value, str):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize("name", [name for name in polhode.__all__ if name != "__version__"])
def test_every_public_name_is_described(name):
    thing = getattr(polhode, name)
    if inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing):
        assert (inspect.getdoc(thing) or "").strip()
    else:
        assert name in described_tables()


def test_every_citation_resolves(generate):
    from polhode.methods import METHODS
    from polhode.methods.tableaux import TABLEAUX, tableau
    from polhode.systems import PROBLEMS

    known = set(generate.bibliography.entries(generate.bib_text()))
    used = {row.cite: f"method {row.name}" for row in METHODS.values()}
    used |= {tableau(name).cite: f"tableau {name}" for name in TABLEAUX if tableau(name).cite}
    used |= {ready.cite: f"problem {name}" for name, ready in PROBLEMS.items()}
    for path in SOURCES:
        used |= {key: path.name for key in generate.citations(path.read_text(encoding="utf-8"))}
    for path in PAGES:
        used |= {key: path.name for key in re.findall(r"\(#ref-(\w+)\)", path.read_text(encoding="utf-8"))}
    assert {key: place for key, place in used.items() if key not in known} == {}


def test_references_become_plain_sentences(generate):
    for key, entry in generate.bibliography.entries(generate.bib_text()).items():
        sentence = generate.bibliography.sentence(entry)
        assert entry["year"] in sentence, key
        assert not set("{}\\") & set(sentence), sentence


def test_tex_accents(generate):
    plain = generate.bibliography.plain
    assert plain(r"N{\o}rsett, S{\"a}fstr{\"o}m, Fass{\`o}, Veseli{\'c}, Kre{\v s}imir, {\"U}ber, 1--2") == (
        "Nørsett, Säfström, Fassò, Veselić, Krešimir, Über, 1–2"
    )


def test_pages_are_generated(generate, tmp_path):
    from polhode.methods import METHODS
    from polhode.systems import SYSTEMS

    written = {path.relative_to(tmp_path).as_posix() for path in generate.write(tmp_path)}
    assert written >= {f"methods/{name}.md" for name in METHODS} | {f"systems/{name}.md" for name in SYSTEMS}
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    (tmp_path / "methods" / "gone.md").write_text("a method that is no more")
    generate.write(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")} == before


def test_pages_link_to_what_exists(generate, tmp_path):
    """Links between files; Sphinx checks the rest."""
    generate.write(tmp_path)
    for path in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text(encoding="utf-8")):
            generated = target.removeprefix("generated/")
            place = tmp_path / generated if generated != target else path.parent / target
            assert place.exists(), f"{path.name}: {target}"


def snippets(page):
    """The Python blocks of a Markdown page at the root."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(
    "page, k", [(page, k) for page in ("README.md", "CONTRIBUTING.md") for k in range(len(snippets(page)))]
)
def test_snippets_run_as_printed(page, k, tmp_path):
    file = tmp_path / "snippet.py"  # a file, because the step of a new method is read from it
    file.write_text(snippets(page)[k], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, file], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "FAIL" not in done.stdout
    if "check_method" in snippets(page)[k]:
        assert re.search(r"(\d+) of \1 checks passed", done.stdout)
