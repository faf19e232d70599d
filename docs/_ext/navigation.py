"""Pages of source code share the tree of navigation at their side: it is resolved once for each depth of folders, for
in no toctree is such a page the present one."""

from __future__ import annotations

import functools
from typing import Any


def share(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The same tree for all pages of this depth."""
    if pagename.startswith("_modules/") and "toctree" in context:
        own, trees = context["toctree"], app.__dict__.setdefault("trees_of_navigation", {})

        @functools.wraps(own)
        def shared(**words: Any) -> Any:
            key = (pagename.count("/"), *sorted(words.items()))
            if key not in trees:
                trees[key] = own(**words)
            return trees[key]

        context["toctree"] = shared


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", share, priority=400)  # before the theme asks
    return {"parallel_read_safe": True, "parallel_write_safe": True}
