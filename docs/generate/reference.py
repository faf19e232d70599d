"""Pages of the public names, of the command line, of the trajectory, of errors and of references."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re

import bibliography
from plain_docstrings import as_rst

import polhode
from polhode import errors

from .text import HERE, ROOT, code, first_line, linked, rst, table

ROOMS = {
    "runs.integrate": "Running",
    "runs.display": "Running",
    "runs.state": "Running",
    "runs.steps": "Running",
    "runs.settings": "Running",
    "runs.store": "Running",
    "runs.prepared": "Running",
    "runs.resume": "Running",
    "ensembles.ensemble": "Many members",
    "ensembles.of_scenario": "Many members",
    "systems": "Systems",
    "programs.tracer": "Systems",
    "methods": "Methods",
    "trajectory": "Trajectories and citations",
    "runs.point_motion": "Trajectories and citations",
    "references": "Trajectories and citations",
    "runs.scenario": "Scenarios",
    "runs.compare": "Comparing and checking",
    "checks": "Comparing and checking",
    "runs.free_motion": "Free motion",
    "ensembles.sweep": "Sweeps",
}
"""Heading on the API page for each module of public names; a module not listed gets its own name as heading."""


def cli_page() -> str:
    """The page with the output of every ``--help``."""
    from click.testing import CliRunner

    from polhode.cli import COMMANDS, group

    def help_of(*arguments: str) -> str:
        result = CliRunner().invoke(group, [*arguments, "--help"], prog_name="polhode", env={"COLUMNS": "88"})
        if result.exit_code:
            raise RuntimeError(f"polhode {' '.join(arguments)} --help failed: {result.output} {result.exception!r}")
        return code(result.output)

    text = (
        "# The command line\n\n"
        "`polhode` and `python -m polhode` are the same command. Results go to standard output, everything said to a\n"
        "person goes to standard error, and the exit code says how it ended: [Errors and exit codes](../errors.md).\n"
        "What a scenario file may contain is listed by `polhode schema`; [examples](examples.md) show some.\n\n"
        "## polhode\n\n" + help_of()
    )
    for name, line in COMMANDS.items():
        if not (ROOT / "src" / "polhode" / "cli" / f"{name}.py").exists():
            continue
        text += f"\n## polhode {name}\n\n{line}\n\n" + help_of(name)
    return text


def errors_table() -> str:
    """The exceptions, from the most general to the most special, with their exit codes."""
    kinds = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, errors.PolhodeError)]
    kinds.sort(key=lambda kind: (kind is not errors.PolhodeError, kind.exit_code))
    rows = [
        (f"`{kind.__name__}`", re.sub(r" \(exit code \d+\)", "", first_line(kind)).rstrip("."), str(kind.exit_code),
         ", ".join(f"`{base.__name__}`" for base in kind.__bases__))
        for kind in kinds
    ]  # fmt: skip
    return table(("exception", "when", "exit code", "is also a"), rows)


def dataset_page() -> str:
    """The specification of the trajectory."""
    from polhode.trajectory import schema

    title, _, rest = (inspect.getdoc(schema) or "").partition("\n")
    units = [(f"`{key}`", schema.UNITS["consistent"][key], si) for key, si in schema.UNITS["SI"].items()]
    return (
        f"# The trajectory\n\n{title}\n\n"
        + rst(as_rst(rest))
        + "\n## Conventions written into every file\n\n"
        + "".join(f"* {part}\n" for part in schema.CONVENTIONS.split("; "))
        + "\n## Units\n\nNo number is ever converted; the argument `units` of `integrate` is a label.\n\n"
        + table(("variable", '`units="consistent"`', '`units="SI"`'), units)
    )


def public(home: str, name: str, module: str = "") -> str:
    """The directive that documents one public name, of polhode itself or of a module of it."""
    thing = getattr(getattr(polhode, module), name) if module else getattr(polhode, name)
    name = f"{module}.{name}" if module else name
    if inspect.isclass(thing):
        fields = ", ".join(field.name for field in dataclasses.fields(thing)) if dataclasses.is_dataclass(thing) else ""
        besides = f"   :exclude-members: {fields}\n" if fields else ""  # described in the docstring
        shown = "   :show-inheritance:\n" if issubclass(thing, Exception) else ""
        return f".. autoclass:: polhode.{name}\n   :members:\n{besides}{shown}"
    if inspect.isroutine(thing) or inspect.isfunction(thing):
        return f".. autofunction:: polhode.{name}\n"
    name = name.rpartition(".")[2]
    return f".. autodata:: {home_of_data(home, name)}.{name}\n   :no-value:\n"


def home_of_data(home: str, name: str) -> str:
    """The module in which a public table is defined."""
    for path in sorted((ROOT / "src" / "polhode" / home.replace(".", "/")).glob("*.py")):
        if re.search(rf"^{name}\b[^=\n]*= ", path.read_text(encoding="utf-8"), re.MULTILINE):
            return f"polhode.{home}" + ("" if path.stem == "__init__" else f".{path.stem}")
    return f"polhode.{home}"


def api_page() -> str:
    """Every public name, grouped by its module."""
    groups: dict[str, list[str]] = {heading: [] for heading in ROOMS.values()}
    for name, home in polhode._homes().items():
        try:
            importlib.import_module(f"polhode.{home}")
        except ModuleNotFoundError:
            continue
        groups.setdefault(ROOMS.get(home, home), []).append(public(home, name))
    for home in ("systems", "methods", "trajectory"):
        groups[ROOMS[home]] += [public(home, name, home) for name in polhode._MOVED[home]]
    text = "# Python reference\n\nEverything here is an attribute of `polhode`, loaded when it is first used.\n"
    for heading, parts in groups.items():
        if parts:
            text += f"\n## {heading}\n\n" + rst("\n".join(parts))
    text += "\n## Pictures\n\n" + rst(".. autofunction:: polhode.plots.dashboard")
    text += "\n## Exceptions\n\nWhen each is raised: [Errors and exit codes](../errors.md).\n\n"
    text += rst("\n".join(public("errors", name, "errors") for name in polhode._MOVED["errors"]))
    return text


def module_page(title: str, module: str, known_as: str) -> str:
    """The page of a module with a short public name: its docstring and its public functions."""
    thing = importlib.import_module(module)
    names = getattr(thing, "__all__", None) or [
        name
        for name, value in vars(thing).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module
    ]
    text = inspect.getdoc(thing) or ""
    parts = []
    for name in names:
        value = getattr(thing, name)
        kind = "autoclass" if inspect.isclass(value) else "autofunction" if callable(value) else "autodata"
        members = inspect.isclass(value) and not issubclass(value, tuple)
        parts.append(f".. {kind}:: {known_as}.{name}\n" + ("   :members:\n" if members else ""))
    return f"# {title}\n\n" + rst(as_rst(text)) + "\n## Functions\n\n" + rst("\n".join(parts))


def bib_text() -> str:
    """The text of the BibTeX file."""
    for path in (ROOT / "src" / "polhode" / "references.bib", ROOT / "references.bib"):
        if path.exists():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError("references.bib")


def references_page() -> str:
    """The page of references, each a link target."""
    text = "# References\n\n"
    text += "`polhode cite OUT` prints the BibTeX entry that belongs to a trajectory, `polhode.cite(key)` any entry.\n"
    for key, entry in sorted(bibliography.entries(bib_text()).items()):
        text += f"\n(ref-{key})=\n`{key}`\n: {bibliography.sentence(entry)}\n"
    return text


def changelog_page() -> str:
    """The page of the changelog, where there is one."""
    path = ROOT / "CHANGELOG.md"
    if not path.exists():
        return "# Changes\n\nThis is the first version.\n"
    return linked(path.read_text(encoding="utf-8"), ROOT, HERE / "generated")
