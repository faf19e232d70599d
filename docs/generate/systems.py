"""Pages of the systems."""

from __future__ import annotations

import importlib
import inspect
import re

from plain_docstrings import as_rst

from polhode import __all__ as AT_THE_TOP
from polhode.arguments.words import arguments_of
from polhode.capabilities import CAPABILITIES, in_order
from polhode.systems import PROBLEMS, SYSTEMS
from polhode.systems.registry import provided_by

from .text import call, citations, cited, rst, table, toctree


def capability_rows() -> list[tuple[str, ...]]:
    """Of every capability its meaning and the systems with it."""
    provided = {name: provided_by(build) or frozenset() for name, build in SYSTEMS.items()}
    return [
        (
            f"`{name}`",
            one.meaning,
            ", ".join(f"[{system}]({system}.md)" for system in SYSTEMS if name in provided[system]),
        )
        for name, one in CAPABILITIES.items()
    ]


def si(unit: str | None) -> str:
    """The SI unit of an argument, as on paper: m^3 / s^2 for ``m3_s2``."""
    words = [re.sub(r"(\d)$", r"^\1", word) for word in (unit or "-").split("_")]
    if words[0] == "per":
        return f"1 / {words[1]}"
    above = words[:1] if len(words) == 1 else [word for word in words if not word.startswith("s")]
    below = [word for word in words if word not in above]
    return " ".join(above) + (f" / {' '.join(below)}" if below else "")


def system_pages() -> dict[str, str]:
    """One page per system from the docstring of its file, and an overview with the ready-made problems."""
    pages, rows = {}, []
    for name, build in SYSTEMS.items():
        module = importlib.import_module(build.__module__)
        text = inspect.getdoc(module) or ""
        title, _, rest = text.partition("\n")
        rows.append((f"[{name}]({name}.md)", title.rstrip("."), f"`{call(build)}`"))
        page = f"(system-{name})=\n# `{name}`\n\n{title}\n\n"
        page += rst(as_rst(rest))
        provided = ", ".join(f"`{one}`" for one in in_order(provided_by(build) or ()))
        page += f"\nProvides, without optional arguments ([what these are](index.md)): {provided}.\n"
        keys = citations(text)
        if keys:
            page += "\nSources: " + ", ".join(map(cited, keys)) + ".\n"
        arguments = [
            (f"`{one.name}`" + " (optional)" * (not one.required), one.description[:1].upper() + one.description[1:],
             si(one.unit))
            for one in arguments_of(build).values()
        ]  # fmt: skip
        page += (
            "\n## Arguments\n\nIn any consistent set of units where the text names none; keys of scenarios that end\n"
        )
        page += "in a unit are converted to SI.\n\n"
        page += table(("argument", "what", "in SI"), arguments)
        built = [name, *(other for other in getattr(module, "__all__", ()) if other != name)]
        pieces = [
            f".. autofunction:: polhode.{'' if one in AT_THE_TOP else 'systems.'}{one}\n   :no-index:" for one in built
        ]
        page += "\n## Building it\n\n" + rst("\n\n".join(pieces))
        pages[f"systems/{name}.md"] = page
    problems = [
        (f"`{key}`", ready.description, f"{ready.step:g}", f"{ready.t_end:g}", cited(ready.cite))
        for key, ready in PROBLEMS.items()
    ]
    index = (
        "# Systems\n\n"
        "A system is its bodies and the loads on them; it knows nothing of time steps. In a shell: `polhode systems`.\n"
        "In Python: `polhode.systems.SYSTEMS`.\n\n"
        f"{table(('system', 'what it is', 'built by'), rows)}\n"
        "## Ready-made problems\n\n"
        "Systems with the initial state, a step that suits them and the span of a paper: the key `problem` of a\n"
        "scenario, `polhode.systems.problem(name)` in Python.\n\n"
        f"{table(('problem', 'what it is', 'step', 'until', 'from'), problems)}\n"
        "## What systems provide\n\n"
        "`System.provides` holds names of what a system has; the `needs` of a method are such names, and a run is\n"
        "refused where one is missing. `polhode.capabilities` defines them.\n\n"
        f"{table(('name', 'what holds', 'systems, without their optional arguments'), capability_rows())}\n"
        "Moments of inertia from shapes, point masses and meshes: [Inertia](../inertia.md). Places, attitudes and\n"
        "momenta of many bodies: [Initial states](../initial.md). What acts on an `orbit` or a `spacecraft`:\n"
        "[Forces](../forces.md), with [constants of planets](../planets.md).\n\n"
        f"{toctree(*SYSTEMS)}"
    )
    return {"systems/index.md": index, **pages}
