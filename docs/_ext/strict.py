"""Reads the finished pages and fails the build on what a reader should not see.

Found are: pictures and frames that are not there; ``<Figure ...>`` in place of a picture; ``ERROR:`` and tracebacks in
what a page printed; red boxes of docutils; links to pages and places of this site that do not exist; and, on pages that
run code, results in scientific notation typed into a sentence, unless the code of the page has the same number, their
section names the benchmark or study that prints them, or ``typed_numbers.toml`` gives a reason for them.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

REASONS = Path(__file__).parent.parent / "typed_numbers.toml"
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
NO_PROSE = frozenset(["pre", "code", "script", "style", "math", "svg", "kbd", "samp", "title"])
TREE = re.compile(r'<div class="sidebar-tree">.*?</div>', re.DOTALL)
"""The navigation, which is the same on all pages of a folder."""
COLOURED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')
"""A word of code, with its colour."""
FORMULA = re.compile(r"(?<=<math)[^>]*>.*?(?=</math>)", re.DOTALL)
RESULT = re.compile(r"(?<![\w.^/-])\d+(?:\.\d+)?e[-+]?\d+\b")
"""A number in scientific notation."""
MEASURES = re.compile(r"python benchmarks/\w+\.py|polhode reproduce \w+")
"""A command that prints the numbers of its section."""


@dataclass
class Page:
    """What is looked at in a page."""

    pictures: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    text: list[str] = field(default_factory=list)
    """All text that is shown."""
    printed: list[str] = field(default_factory=list)
    """Text within the outputs of cells."""
    sections: list[tuple[list[str], list[str]]] = field(default_factory=lambda: [([], [])])
    """Of every section its text outside code, formulas and outputs, and its code."""

    @property
    def prose(self) -> str:
        """Text of the article outside code, formulas and outputs."""
        return "".join(text for words, _ in self.sections for text in words)


class Reader(HTMLParser):
    """Collects a ``Page``."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.open: list[tuple[str, frozenset[str]]] = []
        self.inside = [0]  # numbers of the sections that are open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = frozenset(given.get("class", "").split())
        self.page.classes |= classes
        if given.get("id"):
            self.page.places.add(given["id"])
        if tag == "a":
            self.page.places.add(given.get("name", ""))
            self.page.links.append(given.get("href", ""))
        for name in ("src", "poster", "srcset", "data-view"):
            if name in given and tag in ("img", "iframe", "video", "source", "embed", "figure") and given[name]:
                self.page.pictures.append(given[name])
        if tag == "section":
            self.inside.append(len(self.page.sections))
            self.page.sections.append(([], []))
        if tag not in VOID:
            self.open.append((tag, classes))

    def handle_endtag(self, tag: str) -> None:
        while any(tag == name for name, _ in self.open):
            closed = self.open.pop()[0]
            if closed == "section":
                self.inside.pop()
            if closed == tag:
                break

    def handle_data(self, data: str) -> None:
        tags = {tag for tag, _ in self.open}
        classes = frozenset().union(*(given for _, given in self.open))
        if tags & {"script", "style"}:
            return
        self.page.text.append(data)
        if "cell_output" in classes:
            self.page.printed.append(data)
        elif "article" in tags and "formula" not in classes and not tags & (NO_PROSE - {"pre", "code"}):
            self.page.sections[self.inside[-1]][bool(tags & NO_PROSE)].append(data)


def read(text: str) -> Page:
    """A page from its HTML, of whose formulas and code the text is enough."""
    text = FORMULA.sub(lambda found: ">" + re.sub(r"^[^>]*>|<[^>]*>", "", found[0]), COLOURED.sub(r"\1", text))
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader.page


def faults(name: str, page: Page, site: dict[str, Page], folder: Path, reasons: dict[str, str]) -> Iterator[str]:
    """What is wrong with one page, in sentences; ``site`` holds all pages by path below ``folder``."""
    for target in page.pictures:
        place = urlsplit(target)
        if not target or (not place.scheme and place.path and not (folder / _path(name, place.path)).is_file()):
            yield f"the picture {target or 'without a source'} is not there"
    shown = "".join(page.text)
    if "<Figure" in shown:
        yield "shows <Figure ...> where a picture should be"
    printed = "\n".join(page.printed)
    if re.search(r"\bERROR\b:", f"{page.prose}\n{printed}"):
        yield "shows ERROR:"
    if "Traceback (most recent call last)" in printed or "traceback" in page.classes:
        yield "shows the traceback of a cell"
    for red in ("system-message", "problematic"):
        if red in page.classes:
            yield f"has a red box of docutils ({red})"
    for target in dict.fromkeys(page.links):
        yield from broken(name, target, site, folder)
    if "cell" in page.classes:
        bare = ["".join(words) for words, code in page.sections if not MEASURES.search("".join(code))]
        given = set(RESULT.findall("\n".join("".join(code) for _, code in page.sections)))
        for number in dict.fromkeys(RESULT.findall("\n".join(bare))):
            if number not in given and number not in reasons:
                yield f"has the number {number} typed in a sentence: print it, or say in {REASONS.name} why it stands"


def broken(name: str, target: str, site: dict[str, Page], folder: Path) -> Iterator[str]:
    """Whether a link within the site leads nowhere."""
    link = urlsplit(target)
    if link.scheme or link.netloc or not target:
        return
    path = _path(name, link.path) if link.path else name
    if path not in site and not (folder / path).exists():
        yield f"links to {target}, which does not exist"
        return
    place, other = unquote(link.fragment), site.get(path)
    if place and other is not None and place not in other.places:
        yield f"links to {target}, where there is no such place"


def _path(name: str, path: str) -> str:
    """Where a page finds something, from the folder of the site."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(path)))


def typed(path: Path = REASONS) -> dict[str, dict[str, str]]:
    """Reasons for typed numbers: page, number, why."""
    if not path.exists():
        return {}
    return {page: dict(rows) for page, rows in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def examine(folder: Path, reasons: dict[str, dict[str, str]], skip: Iterable[str] = ()) -> list[str]:
    """Faults of all pages of a finished site, each after the name of its page."""
    site, seen = {}, set()
    for path in sorted(folder.rglob("*.html")):
        place = path.relative_to(folder)
        if place.parts[0] not in {"_static", "_downloads", *skip}:
            text = path.read_text(encoding="utf-8")
            site[place.as_posix()] = read(TREE.sub("", text) if place.parent in seen else text)
            seen.add(place.parent)
    return [
        f"{name}: {fault}"
        for name, page in site.items()
        for fault in faults(name, page, site, folder, reasons.get(name.removesuffix(".html"), {}))
    ]


def _finished(app, exception):
    if exception is None and app.builder.name == "html":
        from sphinx.util import logging

        for fault in examine(Path(app.outdir), typed(), skip=("_modules",)):
            logging.getLogger(__name__).warning("%s", fault, type="strict")


def setup(app):
    """Look at the site when it is finished."""
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
