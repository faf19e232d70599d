"""Pages of the public names, of the command line, of the trajectory, of errors and of references."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from itertools import pairwise
from operator import attrgetter
from typing import Any

import bibliography
from plain_docstrings import as_rst

import polhode
from polhode import errors

from .text import HERE, ROOT, code, first_line, linked, rst, table

ROOMS = {
    "runs": "Running",
    "ensembles": "Many members",
    "systems": "Systems",
    "bodies": "Systems",
    "loads": "Systems",
    "joints": "Systems",
    "programs": "Systems",
    "methods": "Methods",
    "trajectory": "Trajectories and citations",
    "references": "Trajectories and citations",
    "checks": "Checks",
    "viewer": "Pictures",
    "estimation": "Estimation",
    "gradients": "Gradients",
    "display": "Running",
}
"""Heading on the API page for each package of public names."""

MODULES = {
    "estimation": "Estimation",
    "chaos": "Indicators of chaos",
    "trajectory.convergence": "Errors and orders of convergence",
    "systems.constrained": "Momentum and attitude as matrices",
    "algebra.elliptic": "Elliptic functions",
    "events": "Events of a motion",
    "trajectory.export": "Exports",
    "forces": "Forces on an orbit",
    "gradients": "Gradients",
    "inertia": "Inertia",
    "initial": "Initial states",
    "joints": "Joints of a system",
    "kepler": "Two-body orbits",
    "loads": "Loads of a system",
    "trajectory.observables": "Observables",
    "planets": "Constants of planets",
    "plots": "Pictures",
    "runs.poinsot": "Poinsot's picture of a free motion",
    "ensembles.reductions": "Reductions over members",
    "rotation": "Rotations",
    "ensembles.sampling": "Distributions of members",
    "states": "States without a body",
    "surroundings": "Surroundings of a system",
    "algebra.variational": "Discrete mechanics",
}
"""Title of the page of each module of functions; the names that users need of others are on that of all names."""

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


def public(name: str) -> str:
    """The directive that documents one public name, of polhode itself or, with dots, of a module of it."""
    thing, known_as = attrgetter(name)(polhode), f"polhode.{name}"
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
    module = name.rpartition(".")[0]
    home = attrgetter(module)(polhode).__name__ if module else polhode._HOMES[name]
    return constant(known_as, thing, home.removeprefix("polhode."))


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


def api_pages() -> dict[str, str]:
    """A page of each public name, one of the exceptions, and their index, grouped by package."""
    groups: dict[str, list[str]] = {heading: [] for heading in ROOMS.values()}
    for name, home in polhode._HOMES.items():
        groups[ROOMS[home.partition(".")[0]]].append(name)
    for name in beside():
        groups[ROOMS[name.partition(".")[0]]].append(name)
    pages = {
        f"api/{name}.md": f"# polhode.{name}\n\n" + rst(public(name)) for names in groups.values() for name in names
    }
    pages["api/errors.md"] = "# Exceptions\n\nWhen each is raised: [Errors and exit codes](../../errors.md).\n\n" + rst(
        "\n".join(public(name) for name in in_errors())
    )
    text = (
        "# Python reference\n\nNames without a module are what a first week needs, loaded when they are first used.\n"
        "The rest has one place each. Modules with a page of their own: "
        + ", ".join(f"[`polhode.{name}`]({page_of(name)})" for name in sorted(MODULES))
        + ". The [exceptions](api/errors.md). The text `polhode.__version__` is the version.\n"
    )
    for heading, names in groups.items():
        rows = [(f"[`polhode.{name}`](api/{name}.md)", first_sentence(name)) for name in names]
        text += f"\n## {heading}\n\n" + table(("name", "what it is"), rows)
    listed = "".join(f"{page.removesuffix('.md')}\n" for page in pages)
    pages["api.md"] = text + f"\n```{{toctree}}\n:hidden:\n\n{listed}```\n"
    return pages


def first_sentence(name: str) -> str:
    """What a public name is, in the first line of its docstring."""
    thing, module = attrgetter(name)(polhode), name.rpartition(".")[0]
    if inspect.ismodule(thing):
        thing = thing.__call__
    if callable(thing):
        return first_line(thing)
    home = attrgetter(module)(polhode).__name__ if module else polhode._HOMES[name]
    return described(name.rpartition(".")[2], home.removeprefix("polhode.")).partition("\n")[0].replace("``", "`")


def beside() -> list[str]:
    """Public names of packages that are not at the top and on no page of a module; first those that were at the top."""
    moved = [name for name in polhode._MOVED.values() if not inspect.ismodule(attrgetter(name)(polhode))]
    homes = ("systems", "methods", "trajectory", "runs", "checks")
    rest = [f"{home}.{name}" for home in homes for name in getattr(polhode, home).__all__]
    return [
        name for name in dict.fromkeys([*moved, *rest])
        if name.rpartition(".")[0] not in (*MODULES, "errors") and name.rpartition(".")[2] not in polhode.__all__
        and not inspect.ismodule(attrgetter(name)(polhode))
    ]  # fmt: skip


def in_errors() -> list[str]:
    """The exceptions and warnings."""
    return [f"errors.{name}" for name, kind in vars(errors).items()
            if inspect.isclass(kind) and issubclass(kind, errors.PolhodeError | errors.PolhodeWarning)]  # fmt: skip


def page_of(module: str) -> str:
    """The file of the page of a module."""
    return f"{module.rpartition('.')[2]}.md"


def module_pages() -> dict[str, str]:
    """The pages of modules of functions."""
    return {page_of(name): module_page(title, name) for name, title in MODULES.items()}


def module_page(title: str, known_as: str) -> str:
    """The page of a module: its docstring and its public names, functions last."""
    thing = attrgetter(known_as)(polhode)
    parts: dict[str, list[str]] = {"Constants": [], "Classes": [], "Functions": []}
    for name in thing.__all__:
        value = getattr(thing, name)
        kind = "Classes" if inspect.isclass(value) else "Functions" if callable(value) else "Constants"
        parts[kind].append(public(f"{known_as}.{name}"))
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
    text += (
        "`polhode cite OUT` prints the BibTeX entry that belongs to a trajectory, `polhode.references.cite(key)` any.\n"
    )
    for key, entry in sorted(bibliography.entries(bib_text()).items()):
        text += f"\n(ref-{key})=\n`{key}`\n: {bibliography.sentence(entry)}\n"
    return text


def changelog_page() -> str:
    """The page of the changelog, where there is one."""
    path = ROOT / "CHANGELOG.md"
    if not path.exists():
        return "# Changes\n\nThis is the first version.\n"
    return linked(path.read_text(encoding="utf-8"), ROOT, HERE / "generated")
