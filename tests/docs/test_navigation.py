"""The tree of navigation, made once, is on every page what the theme would have made of it there."""

import re
import sys
from pathlib import Path

import pytest

from each import each

sphinx = pytest.importorskip("sphinx")
theme = pytest.importorskip("furo.navigation")
sys.path.append(str(Path(__file__).parents[2] / "docs" / "_ext"))
import navigation  # noqa: E402
from sphinx.util.osutil import relative_uri  # noqa: E402

PAGES = {"start.html": {"course/index.html": {"course/top.html": {}, "course/wheel.html": {}}},
         "which.html": {}, "generated/api.html": {"generated/api/run.html": {}}}  # fmt: skip


def within(pages, uri):
    """Whether a page is among these or below them."""
    return any(page == uri or within(below, uri) for page, below in pages.items())


def made(pages, uri, level=1):
    """The lists that Sphinx makes for the page of an address."""
    current = ' class="current"' if within(pages, uri) else ""
    entries = ""
    for page, below in pages.items():
        on, own = " current" * within({page: below}, uri), "current " * (page == uri)
        link = f'<a class="{own}reference internal" href="{relative_uri(uri, page) or "#"}">{page}</a>'
        entries += f'<li class="toctree-l{level}{on}">{link}{made(below, uri, level + 1) if below else ""}</li>\n'
    return f"<ul{current}>\n{entries}</ul>\n"


def in_order(tree):
    """A tree with the attributes of its boxes in the order of the alphabet."""
    return re.sub(r"<input (.*?)/>", lambda found: " ".join(sorted(re.findall(r'[\w-]+="[^"]*"', found[1]))), tree)


@each("uri", ["search.html", "generated/other.html", "start.html", "which.html", "course/index.html", "course/top.html",
              "generated/api/run.html"])  # fmt: skip
def test_a_page_has_the_tree_of_the_theme(uri):
    shared = navigation.Tree(theme.get_navigation_tree(made(PAGES, "genindex.html")))
    expected = theme.get_navigation_tree(made(PAGES, uri))
    assert in_order(shared.on(uri)) == in_order(expected)
    assert ("current-page" in expected) == within(PAGES, uri)
