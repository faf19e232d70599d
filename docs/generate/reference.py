"""Pages of the public names, of the command line, of the trajectory, of errors and of references."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import textwrap
from itertools import pairwise
from typing import Any

import bibliography
from plain_docstrings import as_rst

import polhode
from polhode import errors

from .text import HERE, ROOT, code, first_line, linked, rst, table

ROOMS = {
    "runs.integrate": "Running",
    "display": "Running",
    "runs.state": "Running",
    "runs.steps": "Running",
    "runs.settings": "Running",
    "runs.store": "Running",
    "runs.prepared": "Running",
    "runs.resume": "Running",
    "ensembles.ensemble": "Many members",
    "ensembles.of_scenario": "Many members",
    "systems": "Systems",
    "bodies.body": "Systems",
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
    "plots": "Pictures",
    "estimation.batch": "Estimation",
    "gradients.reverse": "Gradients",
}
"""Heading on the API page for each module of public names; a module not listed gets its own name as heading."""


MODULES = {
    "estimation": "Estimation",
    "chaos": "Indicators of chaos",
    "constrained": "Momentum and attitude as matrices",
    "elliptic": "Elliptic functions",
    "events": "Events of a motion",
    "export": "Exports",
    "forces": "Forces on an orbit",
    "gradients": "Gradients",
    "inertia": "Inertia",
    "initial": "Initial states of many bodies",
    "kepler": "Two-body orbits",
    "loads": "Loads of a system",
    "observables": "Observables",
    "planets": "Constants of planets",
    "plots": "Pictures",
    "poinsot": "Poinsot's picture of a free motion",
    "reduce": "Reductions over members",
    "rotation": "Rotations",
    "sampling": "Distributions of members",
    "states": "States without a body",
    "surroundings": "Surroundings of a system",
    "variational": "Discrete mechanics",
}
"""Title of the page of each module of functions; ``systems``, ``methods``, ``trajectory`` and ``errors`` are on that of
all names."""

LONGEST = 60
"""Characters of the longest value of a constant that is shown."""


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
    known_as = f"polhode.{module}.{name}" if module else f"polhode.{name}"
    if inspect.ismodule(thing):  # a room that is called like a function
        known_as, thing = f"polhode.{name}.{name}", thing.__call__
    if inspect.isclass(thing):
        fields = ", ".join(field.name for field in dataclasses.fields(thing)) if dataclasses.is_dataclass(thing) else ""
        fields = ", ".join(getattr(thing, "_fields", ())) or fields
        besides = f"   :exclude-members: {fields}\n" if fields else ""  # described in the docstring
        shown = "   :show-inheritance:\n" if issubclass(thing, Exception) else ""
        members = "" if issubclass(thing, tuple) else f"   :members:\n{besides}"
        return f".. autoclass:: {known_as}\n{members}{shown}"
    if inspect.isroutine(thing) or inspect.isfunction(thing):
        return f".. autofunction:: {known_as}\n"
    return constant(known_as, thing, home)


def constant(known_as: str, value: Any, home: str) -> str:
    """The directive of a public constant: its value where that is short, and the docstring below it in the source."""
    text = as_rst(described(known_as.rpartition(".")[2], home))
    if dataclasses.is_dataclass(value):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        text += "\n\n" + "\n".join(f"* ``{name}``: ``{one!r}``" for name, one in fields)
    shown = repr(value) if isinstance(value, int | float | str | tuple) else ""
    option = f"   :value: {shown}\n" if 0 < len(shown) <= LONGEST and "\n" not in shown else ""
    return f".. py:data:: {known_as}\n{option}\n{textwrap.indent(text, '   ')}\n"


def described(name: str, home: str) -> str:
    """The docstring below the assignment of a constant in a module or the files of a package.

    Raises
    ------
    LookupError
        There is none.
    """
    package = ROOT / "src" / "polhode" / home.replace(".", "/")
    for path in [package.with_suffix(".py")] if package.with_suffix(".py").exists() else sorted(package.glob("*.py")):
        for node, after in pairwise(ast.parse(path.read_text(encoding="utf-8")).body):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if not any(isinstance(target, ast.Name) and target.id == name for target in targets):
                continue
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                return inspect.cleandoc(str(after.value.value))
    raise LookupError(f"the constant {name} of polhode.{home} has no docstring below it")


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
        groups[ROOMS[home]] += [public(home, name, home) for name in beside(home)]
    text = (
        "# Python reference\n\nEverything here is an attribute of `polhode`, loaded when it is first used. Modules\n"
        "with a page of their own: "
        + ", ".join(f"[`polhode.{name}`]({name}.md)" for name in sorted(MODULES))
        + ". The text `polhode.__version__` is the version.\n"
    )
    for heading, parts in groups.items():
        if parts:
            text += f"\n## {heading}\n\n" + rst("\n".join(parts))
    text += "\n## Exceptions\n\nWhen each is raised: [Errors and exit codes](../errors.md).\n\n"
    text += rst("\n".join(public("errors", name, "errors") for name in polhode._MOVED["errors"]))
    return text


def beside(home: str) -> list[str]:
    """Public names of a module that are not those of polhode itself, those for users first."""
    names = [*polhode._MOVED[home], *getattr(polhode, home).__all__]
    return [
        name for name in dict.fromkeys(names) if not (name in polhode._homes() and name not in polhode._MOVED[home])
    ]


def module_pages() -> dict[str, str]:
    """The pages of modules with a short public name."""
    return {f"{name}.md": module_page(title, name) for name, title in MODULES.items()}


def module_page(title: str, known_as: str) -> str:
    """The page of a module with a short public name: its docstring and its public names, functions last."""
    home = polhode._MODULES[known_as]
    thing = getattr(polhode, known_as)
    parts: dict[str, list[str]] = {"Constants": [], "Classes": [], "Functions": []}
    for name in thing.__all__:
        value = getattr(thing, name)
        kind = "Classes" if inspect.isclass(value) else "Functions" if callable(value) else "Constants"
        parts[kind].append(public(home, name, known_as))
    text = inspect.getdoc(thing) or ""
    return (
        f"# {title}\n\n"
        + rst(as_rst(text))
        + "".join(f"\n## {heading}\n\n" + rst("\n".join(pieces)) for heading, pieces in parts.items() if pieces)
    )


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
