"""All pages share the tree of navigation at their side: Sphinx and the theme make it once; of a page only the relative
links and the marks of what is open are its own."""

from __future__ import annotations

import functools
import re
from typing import Any

from sphinx.environment.adapters.toctree import TocTree
from sphinx.util.osutil import relative_uri

TAG = re.compile(r'(</?ul>|<li class="[^"]*">|</li>|<a class="reference internal" href="[^"]*">|<input )')


class Tree:
    """The tree, from its HTML on a page of the uppermost folder that is not in it."""

    def __init__(self, html: str):
        self.parts = TAG.split(html)
        self.in_folder = functools.cache(self.linked)
        self.places: dict[str, list[list[int]]] = {}
        """Addresses, with the numbers of the parts that are open around each of their links, and of the link."""
        around: list[int] = []
        for k, part in enumerate(self.parts):
            if part in ("</ul>", "</li>"):
                while self.parts[around.pop()] == "<input ":
                    pass
            elif part.startswith(("<ul", "<li", "<input")):
                around.append(k)
            elif part.startswith("<a "):
                own = [k, k + 2] if self.parts[k + 2] == "<input " else [k]
                self.places.setdefault(part.split('"')[3], []).append([*around, *own])

    def linked(self, folder: str) -> list[str]:
        """The parts, with their links from a folder."""
        return [
            re.sub(r'(?<=href=")[^"]*', lambda found: relative_uri(folder, found[0]), part)
            if part[:3] == "<a "
            else part
            for part in self.parts
        ]

    def on(self, uri: str) -> str:
        """The tree on the page of an address, with the way to it open and marked."""
        parts = list(self.in_folder(uri[: uri.rfind("/") + 1]))
        for place in self.places.get(uri, ()):
            for k in place:
                parts[k] = marked(self.parts[k])
        for place in self.places.get(uri, ())[-1:]:
            entry = max(k for k in place if parts[k].startswith("<li"))
            parts[entry] = parts[entry].replace('">', ' current-page">')
        return "".join(parts)


def marked(tag: str) -> str:
    """A tag of the tree, on the way to the present page."""
    if tag.startswith("<a "):
        return '<a class="current reference internal" href="#">'
    if tag.startswith("<li"):
        return re.sub(r"toctree-l\d+", r"\g<0> current", tag)
    return {"<ul>": '<ul class="current">', "<input ": '<input checked="" '}[tag]


def tree(app: Any) -> Tree:
    """That of the build, made before its pages are written, and by several processes."""
    if "tree_of_navigation" not in app.__dict__:
        from furo.navigation import get_navigation_tree

        found = TocTree(app.env).get_toctree_for(
            "genindex", app.builder, collapse=False, titles_only=True, maxdepth=-1, includehidden=True
        )
        app.tree_of_navigation = Tree(get_navigation_tree(app.builder.render_partial(found)["fragment"]))
    return app.tree_of_navigation


def withhold(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Leave the theme nothing to make a tree of."""
    context.pop("toctree", None)


def share(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the page its tree."""
    context["furo_navigation_tree"] = tree(app).on(app.builder.get_target_uri(pagename))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", withhold, priority=400)  # the theme has 500
    app.connect("html-page-context", share, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
