"""Formulas as MathML: every current browser draws it, so the site needs no script and no network."""

from __future__ import annotations

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def inline(writer, node):
    """A formula in a line."""
    writer.body.append(convert(node.astext(), display="inline"))
    raise SkipNode


def block(writer, node):
    """A formula of its own."""
    writer.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise SkipNode


def setup(app):
    """Make ``html_math_renderer = "mathml"`` known to Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
