"""Sphinx configuration. The site is built without network, and needs none to be read."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_ext")]

import buildcache  # noqa: E402
import forked  # noqa: E402
import generate  # noqa: E402

project = "polhode"
author = "The polhode developers"
copyright = "the polhode developers"
release = version = installed("polhode")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "mathml",
    "citations",
    "strict",
    "plain_docstrings",
    "gallery",
    "measured",
    "navigation",
    "cells",
]
# Tables are parts of other pages, which include them.
exclude_patterns = [
    "_build",
    "generated/errors_table.md",
    "generated/methods/table_*.md",
    "_ext",
    "jupyter_execute",
    "**.ipynb_checkpoints",
]
nitpicky = False

html_theme = "furo"
html_title = f"polhode {release}"
html_static_path = ["_static", "generated/static"]
html_css_files = ["polhode.css"]
html_js_files = ["hero.js"]
html_favicon = "_static/favicon.svg"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"

# Docstrings: NumPy style; types stand in the text, not in the signatures.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
python_use_unqualified_type_names = True
add_module_names = False

# Markdown, and the pages that are executed: every code cell runs again when polhode's source, an example or a package
# that computes has changed, and a failure fails the build.
cache = buildcache.folder()
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "substitution"]
myst_heading_anchors = 4
myst_update_mathjax = False
nb_execution_mode = "cache"
nb_execution_cache_path = str(cache / "notebooks")
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_merge_streams = True
os.environ.setdefault("COLUMNS", "88")
os.environ.pop("MPLBACKEND", None)  # pages draw with the backend of notebooks

studies = Path(os.environ.get("POLHODE_STUDIES") or cache / "studies")
generate.figures.draw(studies)
forked.several([partial(generate.landing.draw, cache / "landing")])  # here no threads may begin
generate.landing.place(cache / "landing", HERE / "generated" / "landing", HERE / "generated" / "static")
generate.write(HERE / "generated", studies)
