"""Formulas as MathML: every current browser draws it, so the site needs no script and no network."""

from __future__ import annotations

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

KNOWN_AS = {"aligned": "align*", "gathered": "gather*"}
"""Environments under the names that the converter knows."""


BAR = re.compile("<mo( [^>]*>&#x0007C;</mo>)")
"""A bar of a length, which would stand apart as that of a relation."""


def mathml(tex, display):
    """A formula as MathML.

    Raises
    ------
    ValueError
        The converter left TeX in it.
    """
    for name, known in KNOWN_AS.items():
        tex = re.sub(r"\\(begin|end)\{" + name + r"\}", lambda found, known=known: f"\\{found[1]}{{{known}}}", tex)
    made = convert(tex, display=display)
    if re.search(r">(&(?!#?\w+;)|\\)", made):
        raise ValueError(f"no MathML for the formula {tex}")
    return BAR.sub(r'<mo lspace="0" rspace="0"\1', made)


def inline(writer, node):
    """A formula in a line."""
    writer.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def block(writer, node):
    """A formula of its own."""
    writer.body.append(f'<div class="formula" tabindex="0">{mathml(node.astext(), "block")}</div>')
    raise SkipNode


def setup(app):
    """Make ``html_math_renderer = "mathml"`` known to Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
