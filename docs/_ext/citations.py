"""``[key, eq. n]`` is a link to the entry of the page of references, in docstrings, tables and pages alike."""

from __future__ import annotations

import re
from pathlib import Path

import bibliography
from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

MARK = re.compile(r"\[([a-z]+[12][0-9]{3}[a-z]*)((?:[,;]\s[^\]]*)?)\]")
PAGE = "generated/references"
BIB = Path(__file__).resolve().parents[2] / "src" / "polhode" / "references.bib"
TEXT = ("text", "none", "default", "")
"""Languages of code blocks that are no code."""


def pieces(text: str, keys: frozenset[str]) -> list[tuple[str, str]]:
    """Text in pieces, each with the key it cites, or with none."""
    found, end = [], 0
    for mark in MARK.finditer(text):
        if mark[1] in keys:
            found += [(text[end : mark.start()], ""), (mark[0], mark[1])]
            end = mark.end()
    return [(piece, key) for piece, key in [*found, (text[end:], "")] if piece]


class Citations(SphinxPostTransform):
    """Makes links of marks in the text of a document, its code apart."""

    default_priority = 600

    def run(self, **kwargs) -> None:
        if self.app.builder.format != "html" or self.env.docname == PAGE:
            return
        keys = frozenset(bibliography.entries(BIB.read_text(encoding="utf-8")))
        page = self.app.builder.get_relative_uri(self.env.docname, PAGE)
        for node in list(self.document.findall(nodes.Text)):
            parts = pieces(node.astext(), keys)
            if not any(key for _, key in parts) or not self.may_link(node):
                continue
            made = [
                nodes.reference("", piece, refuri=f"{page}#ref-{key}", internal=True, classes=["citation-link"])
                if key
                else nodes.Text(piece)
                for piece, key in parts
            ]
            node.parent.replace(node, made)

    def may_link(self, node: nodes.Text) -> bool:
        """Whether a link may stand here: not in code, not in another link, not in a heading."""
        above = node.parent
        while above is not None:
            if isinstance(above, nodes.reference | nodes.literal | nodes.title | nodes.raw | nodes.math):
                return False
            if isinstance(above, nodes.literal_block):
                return above.get("language", "") in TEXT and len(above.children) == 1
            above = above.parent
        return True


def setup(app):
    """Add the transform."""
    app.add_post_transform(Citations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
