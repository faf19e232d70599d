"""Generates the pages of the registries: methods, systems, tableaux, studies, commands, errors, references.

``conf.py`` calls ``write`` before every build. Nothing here is a list of names: a new row, system, command or study
has its page in the next build.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["figures", "write"]

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE / "_ext")]

from . import figures  # noqa: E402
from .methods import method_pages, tableaux_page  # noqa: E402
from .reference import (  # noqa: E402
    api_page,
    changelog_page,
    cli_page,
    dataset_page,
    errors_table,
    module_page,
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
        "api.md": api_page(),
        "inertia.md": module_page("Inertia", "polhode.systems.inertia", "polhode.inertia"),
        "initial.md": module_page("Initial states of many bodies", "polhode.systems.initial", "polhode.initial"),
        "forces.md": module_page("Forces on an orbit", "polhode.systems.forces", "polhode.forces"),
        "variational.md": module_page("Discrete mechanics", "polhode.algebra.variational", "polhode.variational"),
        "kepler.md": module_page("Two-body orbits", "polhode.algebra.orbits", "polhode.kepler"),
        "poinsot.md": module_page("Poinsot's picture of a free motion", "polhode.runs.poinsot", "polhode.poinsot"),
        "constrained.md": module_page(
            "Momentum and attitude as matrices", "polhode.systems.constrained", "polhode.constrained"
        ),
        "export.md": module_page("Exports", "polhode.trajectory.export", "polhode.export"),
        "observables.md": module_page("Observables", "polhode.trajectory.observables", "polhode.observables"),
        "sampling.md": module_page("Distributions of members", "polhode.ensembles.sampling", "polhode.sampling"),
        "reduce.md": module_page("Reductions over members", "polhode.ensembles.reductions", "polhode.reduce"),
        "events.md": module_page("Events of a motion", "polhode.systems.events", "polhode.events"),
        "planets.md": module_page("Constants of planets", "polhode.systems.planets", "polhode.planets"),
        "rotation.md": module_page("Rotations", "polhode.algebra.rotation", "polhode.rotation"),
        "references.md": references_page(),
        "changelog.md": changelog_page(),
    }
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
