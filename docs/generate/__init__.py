"""Generates the pages of the registries: methods, systems, tableaux, studies, commands, errors, references.

``conf.py`` calls ``write`` before every build. Nothing here is a list of names: a new row, system, command or study
has its page in the next build.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["figures", "landing", "write"]

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE / "_ext")]

from . import figures, landing  # noqa: E402
from .methods import method_pages, tableaux_page  # noqa: E402
from .reference import (  # noqa: E402
    api_pages,
    changelog_page,
    cli_page,
    dataset_page,
    errors_table,
    module_pages,
    references_page,
)
from .studies import example_pages, study_pages  # noqa: E402
from .systems import system_pages  # noqa: E402

WRITTEN_BY_OTHERS = {"gallery"}
"""Folders of generated pages that an extension writes."""


def write(folder: Path, drawn: Path | None = None) -> list[Path]:
    """Write all pages below ``folder``; files whose text is unchanged are not touched, obsolete ones are removed.

    ``drawn`` is the folder with the results of the studies, see ``figures.draw``; without it their pages have no
    figures.
    """
    pages: dict[str, str] = {}
    pages |= method_pages() | {"tableaux.md": tableaux_page()} | system_pages() | study_pages(drawn) | example_pages()
    pages |= {
        "cli.md": cli_page(),
        "errors_table.md": errors_table(),
        "dataset.md": dataset_page(),
        "references.md": references_page(),
        "changelog.md": changelog_page(),
    }
    pages |= module_pages() | api_pages()
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        name = path.relative_to(folder)
        if name.as_posix() not in pages and name.parts[0] not in WRITTEN_BY_OTHERS:
            path.unlink()
    return sorted(folder / name for name in pages)
