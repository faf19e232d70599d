"""The build of the documentation fails on what a reader should not see, and computes again when sources change."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from each import each

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def extension(monkeypatch):
    """A function that imports an extension of the documentation."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    loaded = set()

    def load(name):
        loaded.add(name)
        return importlib.import_module(name)

    yield load
    for name in loaded:
        sys.modules.pop(name, None)


def article(body):
    """A page of the site."""
    return f'<html><body><article><section id="top"><h1>T</h1>{body}</section></article></body></html>'


CELL = '<div class="cell docutils container"><div class="cell_output docutils container"><pre>{}</pre></div></div>'

WRONG = {
    "picture gone.png is not there": '<img src="gone.png" alt="x">',
    "picture frame.html is not there": '<iframe src="frame.html"></iframe>',
    "shows <Figure": CELL.format("&lt;Figure size 900x320 with 2 Axes&gt;"),
    "shows ERROR:": CELL.format("ERROR: no such thing"),
    "traceback of a cell": CELL.format("Traceback (most recent call last)"),
    "red box of docutils (system-message)": '<aside class="system-message">Unknown role</aside>',
    "red box of docutils (problematic)": '<span class="problematic">:what:`x`</span>',
    "links to no.html, which does not exist": '<a href="no.html">x</a>',
    "links to other.html#gone, where there is no such place": '<a href="other.html#gone">x</a>',
    "links to #gone, where there is no such place": '<a href="#gone">x</a>',
    "number 3.2e-12 typed in a sentence": CELL.format("fine") + "<p>The error is 3.2e-12 rad.</p>",
}

RIGHT = {
    "a picture": '<img src="there.png" alt="x"><img src="data:image/png;base64,AA==" alt="y">',
    "links": '<a href="other.html#here">x</a><a href="#top">y</a><a href="https://example.org/#z">z</a>',
    "printed": CELL.format("error 3.2e-12"),
    "code": CELL.format("x") + "<p>A <code>step=1e-3</code> and <math>1e-3</math></p>",
    "given in the code": CELL.format("x") + "<pre>Tolerance(1e-12)</pre><p>at a tolerance of 1e-12</p>",
    "a page that runs nothing": "<p>The error is 3.2e-12 rad.</p>",
    "measured elsewhere": CELL.format("x") + "<p>It is 3.2e-12 (<code>python benchmarks/brouwer.py</code>).</p>",
    "listed with a reason": CELL.format("x") + "<p>below 7e-7</p>",
    "code that handles errors": "<pre>except ERROR: pass</pre>",
}


@pytest.fixture
def faults(extension, tmp_path):
    """A function that says what is wrong with a page with this body, in a site with another page and a picture."""
    strict = extension("strict")
    (tmp_path / "there.png").write_bytes(b"x")
    (tmp_path / "other.html").write_text(article('<p id="here">x</p>'))

    def found(body):
        (tmp_path / "page.html").write_text(article(body))
        return strict.examine(tmp_path, {"page": {"7e-7": "a tolerance"}})

    return found


@each("said", WRONG)
def test_faults_are_found(faults, said):
    assert [said in fault for fault in faults(WRONG[said])] == [True]


@each("what", RIGHT)
def test_what_is_in_order_is_not_a_fault(faults, what):
    assert faults(RIGHT[what]) == []


def test_a_number_is_forgiven_in_the_section_that_names_its_source_only(faults):
    other = '<section id="a"><p><code>polhode reproduce krysl2006</code></p></section>'
    assert len(faults(CELL.format("x") + other + "<p>off by 4e-9</p>")) == 1


def test_every_typed_number_has_a_reason_and_stands_on_its_page(extension):
    for page, rows in extension("strict").typed().items():
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        for number, reason in rows.items():
            assert number in text and len(reason) > 10, (page, number)


def test_results_are_kept_for_the_same_sources_only(extension, tmp_path, monkeypatch):
    cache = extension("buildcache")
    monkeypatch.delenv("POLHODE_DOCS_CACHE", raising=False)
    monkeypatch.delenv("POLHODE_DOCS_DIGEST", raising=False)
    source = tmp_path / "src" / "polhode" / "a.py"
    source.parent.mkdir(parents=True)
    source.write_text("x = 1\n")
    first = cache.folder(tmp_path)
    assert first.parent == tmp_path / "docs" / "_build" / "cache" and cache.folder(tmp_path) == first
    source.write_text("x = 2\n")
    assert cache.folder(tmp_path) != first
    source.write_text("x = 1\n")
    assert cache.folder(tmp_path) == first
    (source.parent / "notes.txt").write_text("not a source")
    assert cache.folder(tmp_path) == first


def test_old_results_are_removed(extension, tmp_path, monkeypatch):
    cache = extension("buildcache")
    monkeypatch.setenv("POLHODE_DOCS_CACHE", str(tmp_path / "kept"))
    monkeypatch.delenv("POLHODE_DOCS_DIGEST", raising=False)
    source = tmp_path / "src" / "polhode" / "a.py"
    source.parent.mkdir(parents=True)
    for k in range(cache.KEPT + 2):
        source.write_text(f"x = {k}\n")
        chosen = cache.folder(tmp_path)
    kept = list((tmp_path / "kept").iterdir())
    assert chosen in kept and len(kept) == cache.KEPT
