"""Generates the pages of the registries: methods, systems, tableaux, studies, commands, errors, references.

``conf.py`` calls ``write`` before every build. Nothing here is a list of names: a new row, system, command or study
has its page in the next build.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext")]

import bibliography  # noqa: E402
from plain_docstrings import as_rst  # noqa: E402

import polhode  # noqa: E402
from polhode import errors  # noqa: E402
from polhode.capabilities import CAPABILITIES, in_order  # noqa: E402
from polhode.kernel.jit import python_of  # noqa: E402
from polhode.methods import FLOW_NAMES, METHODS, OTHER_NAMES, MethodSpec, method, tableau  # noqa: E402
from polhode.methods.free_flows import free_flow  # noqa: E402
from polhode.methods.listing import (  # noqa: E402
    commutator_loads,
    generalised_words,
    in_full,
    kicks,
    kind_of,
    listings,
    order_words,
)
from polhode.methods.tableaux import TABLEAUX  # noqa: E402
from polhode.studies import STUDIES  # noqa: E402
from polhode.systems import PROBLEMS, SYSTEMS, provided_by  # noqa: E402
from polhode.systems.words import arguments_of  # noqa: E402

CITATION = re.compile(r"\[([a-z]+[12][0-9]{3}[a-z]?)(?:, [^\]\n]*)?\]")

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

KEPT = {
    "energy": "the total energy",
    "midpoint_energy": "the energy of the state pushed half a step by forward Euler",
    "momentum_length": "the length of the angular momentum",
    "spatial_momentum": "the angular momentum vector in space",
    "vertical_momentum": "the vertical component of the spatial angular momentum",
    "axial_momentum": "the angular momentum about the body's symmetry axis",
}


def write(folder: Path) -> list[Path]:
    """Write all pages below ``folder``; files whose text is unchanged are not touched, obsolete ones are removed."""
    pages: dict[str, str] = {}
    pages |= method_pages() | {"tableaux.md": tableaux_page()} | system_pages() | study_pages() | example_pages()
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
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()
    return sorted(folder / name for name in pages)


# ------------------------------------------------------------------ Markdown
def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def cited(key: str) -> str:
    """A link to an entry of the references page."""
    return f"[{key}](#ref-{key})"


def citations(text: str) -> list[str]:
    """Keys of ``[key, ...]`` markers, in order, each once."""
    return list(dict.fromkeys(CITATION.findall(text)))


def rst(text: str) -> str:
    """A block of reStructuredText in a Markdown page."""
    return f"````{{eval-rst}}\n{text.strip()}\n````\n"


def code(text: str, language: str = "text") -> str:
    """A code block."""
    return f"````{{code-block}} {language}\n{text.rstrip()}\n````\n"


def toctree(*names: str, depth: int = 1, hidden: bool = True) -> str:
    """A table of contents."""
    options = f":maxdepth: {depth}\n" + (":hidden:\n" if hidden else "")
    return "```{toctree}\n" + options + "\n" + "\n".join(names) + "\n```\n"


def first_line(thing: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("``", "`")


def call(function: Any) -> str:
    """A function's call: name, arguments and defaults."""
    parts = []
    for argument in inspect.signature(function).parameters.values():
        default = argument.default
        parts.append(argument.name if default is argument.empty else f"{argument.name}={default!r}")
    return f"{function.__name__}({', '.join(parts)})"


# ------------------------------------------------------------------ methods
def character(symmetric: bool, symplectic: bool) -> str:
    """The text of a table cell."""
    return ", ".join(["symmetric"] * symmetric + ["symplectic"] * symplectic) or "-"


def has_page(chosen: MethodSpec) -> bool:
    """Whether a method has its own page; splittings, and free rotations, are too many and too similar for that."""
    return chosen.method.family != "splitting"


def method_pages() -> dict[str, str]:
    """The tables of methods, and one page for each method that is not a splitting."""
    formulas = (HERE / "formulas.md").read_text(encoding="utf-8")
    chosen = [method(name) for name in METHODS]
    alone = [row for row in chosen if has_page(row)]
    kept = "".join(f"{name.replace('_', ' ')}\n: {meaning}\n\n" for name, meaning in KEPT.items())
    index = (
        "# Methods\n\n"
        "Every method, with its default options. What a row promises here is kept by a test: the order is measured, what\n"  # noqa: E501
        "is kept is kept to round-off, and a yes is as tested as a no. In a shell: `polhode methods`; in Python:\n"
        "`polhode.methods.method_table()` prints the tables and `polhode.methods.METHODS` holds the rows. A method is\n"
        "written "
        "`name[/flow][:option...]`, such as `trapm`, `mkrk:gauss4:cayley` or `s6_10/mr6`. The maps behind the names are\n"  # noqa: E501
        "written out on the page [Formulas](../../formulas.md).\n\n"
    )
    pages = {}
    for listing in listings(chosen):
        own = all(has_page(method(name)) for names in listing.members for name in names)
        rows = [
            (f"[{row[0]}]({row[0]}.md)" if own else f"`{row[0]}`", *row[1:-1], cited(row[-1])) for row in listing.rows
        ]
        index += f"## {listing.title}\n\n{listing.about}\n\n{table(listing.head, rows)}\n"
    others = [(", ".join(f"`{name}`" for name in names), f"`{here}`") for here, names in OTHER_NAMES.items()]
    index += (
        "## Names of others\n\n"
        "Other fields and programs have names of their own, which are understood wherever a method is named. Runs\n"
        "record the name here.\n\n" + table(("there", "here"), others) + "\n"
        "## What is kept\n\n" + kept + "Symmetric: a step back undoes a step. Symplectic: the step preserves the "
        "symplectic form. A dash: nothing.\n\n"
        "## Cost\n\n"
        "The column *loads* counts evaluations of all torques and forces in a step, of an implicit method in a Newton\n"
        "iteration; the variable `iterations` of a trajectory says how many of these there were, and its attribute\n"
        "`load_evaluations` counts them all. `3 + 1 c`: three of the loads and one commutator load. More on\n"
        "[splittings](../../splitting.md) and [free rotations](../../free_rotations.md).\n\n"
        + toctree(*(row.method.name for row in alone))
    )
    pages["methods/index.md"] = index
    pages |= {
        f"methods/{row.method.name}.md": method_page(row, f"(formula-{row.method.name})=" in formulas) for row in alone
    }
    pages |= {
        f"methods/table_{kind}.md": splitting_table(kind, chosen) for kind in ("any", "nystrom", "gradient", "near")
    }
    return pages | {"methods/table_flow.md": flow_table()}


def splitting_table(kind: str, rows: list[MethodSpec]) -> str:
    """The table of all splittings of a kind."""
    lines = []
    for row in (row for row in rows if kind_of(row) == kind):
        prepared, c = row.prepare(), commutator_loads(row)
        stages, number = int(prepared.int_coefficients[0]), len(kicks(prepared))
        lines.append(
            (
                f"`{row.method.name}`", row.method.description, str(row.promises.order),
                generalised_words(row.promises.generalised), row.promises.requires or "-",
                f"{stages - number} + {number}", str(row.promises.evaluations), str(c) if c else "-",
                "yes" if row.promises.time_symmetric else "no", "yes" if prepared.processed else "no",
                cited(row.method.cite),
            )
        )  # fmt: skip
    head = ("scheme", "what it is", "order", "generalised", "needs", "turns + kicks", "loads", "commutator loads",
            "symmetric", "processed", "from")  # fmt: skip
    same = [k for k in (3, 4, 7) if all(line[k] == "-" for line in lines)]
    keep = [k for k in range(len(head)) if k not in same]
    return table(tuple(head[k] for k in keep), [tuple(line[k] for k in keep) for line in lines])


def flow_table() -> str:
    """The table of all free rotations."""
    lines = []
    for name in FLOW_NAMES:
        flow = free_flow(name)
        kept = ["spatial momentum", *["energy"] * flow.keeps_energy, *["axial momentum"] * flow.keeps_axial]
        limits = ["refuses large steps"] * (flow.largest is not None)
        limits += ["depends on how axes are numbered"] * flow.axis_order_dependent
        options = [f"`:{choice}`" for option in flow.options.values() for choice in option.choices()]
        lines.append(
            (
                f"`{name}`", flow.description, order_words(flow.order), ", ".join(kept),
                "yes" if flow.symmetric else "no", "yes" if flow.symplectic else "no",
                ", ".join(limits) or "-", " ".join(options) or "-", cited(flow.cite),
            )
        )  # fmt: skip
    head = ("flow", "what it is", "order", "keeps", "symmetric", "symplectic", "limits", "options", "from")
    return table(head, lines)


def method_page(chosen: MethodSpec, has_formula: bool) -> str:
    """The page of one method."""
    row = chosen.method
    facts = [*in_full(chosen), ("citation", cited(row.cite))]
    text = f"(method-{row.name})=\n# `{row.name}`\n\n{row.description[0].upper()}{row.description[1:]}.\n\n"
    text += table(("promise", "with default options"), facts) + "\n"
    text += "Names of what is kept are explained [in the overview](index.md#what-is-kept).\n\n"
    if row.options:
        text += "## Options\n\nWritten after colons in this order, or by name as keywords of `polhode.integrate`.\n\n"
        options = [
            (
                f"`{name}=`" if option.must else f"`{name}`",
                option.description,
                f"`{option.default}`" if option.default else "to be given" if option.needed else "-",
                option.must or ", ".join(f"`{c}`" for c in option.choices()),
            )
            for name, option in row.options.items()
        ]
        text += table(("option", "what", "default", "values"), options) + "\n"
        if "tableau" in row.options:
            text += "Families such as `gauss{p}` go to any order; see [Tableaux](../tableaux.md).\n\n"
    step = python_of(row.prepare(**chosen.options).step)
    file = f"src/{row.prepare.__module__.replace('.', '/')}.py"
    family = importlib.import_module(f"polhode.methods.{row.family}")
    text += "## Formulas\n\n"
    if has_formula:
        text += f"Written out in [Formulas](#formula-{row.name}). "
    text += f"In the code: `{file}`, whose step is `{step.__name__}`"
    about = first_line(step)
    text += f" ({about[0].lower()}{about[1:].rstrip('.')}).\n\n" if about else ".\n\n"
    sources = [key for key in citations(family.__doc__ or "") if key != row.cite]
    if sources:
        text += "The family also draws on " + ", ".join(map(cited, sources)) + ".\n\n"
    text += "## Use\n\n" + code(f'ds = ph.integrate(system, "{chosen.usage}", step=1e-3, t_end=1.0)', "python")
    text += "\n" + code(f"polhode run scenario.toml --method {chosen.usage}", "shell")
    return text


def tableaux_page() -> str:
    """The page of tableaux: the docstring of their module, and a table of the named rows."""
    module = importlib.import_module("polhode.methods.tableaux")
    rows = []
    for name in TABLEAUX:
        t = tableau(name)
        rows.append(
            (f"`{name}`", t.description, str(t.stages), str(t.order), character(t.symmetric, t.symplectic),
             cited(t.cite) if t.cite else "-")
        )  # fmt: skip
    head = ("name", "remark", "stages", "order", "besides", "from")
    body = inspect.getdoc(module) or ""
    body = body.partition("Rows with a name of their own")
    families = body[2].partition("Families of any size")
    return (
        "# Tableaux\n\n"
        "The numbers that `mkrk` takes as its option, on the rotation group as in vector spaces. Use one as\n"
        '`"mkrk:gauss4"`; add one with [`polhode.methods.add_tableau`](api.md).\n\n'
        + rst(as_rst(body[0].partition("\n")[2]))
        + "\n## Rows with a name of their own\n\nStages, order and the rest are derived from the numbers, "
        "not declared. Symmetric and\nsymplectic are properties of the tableau on a vector space; what `mkrk` keeps of "
        "them on the rotation group\nis on [its page](methods/mkrk.md).\n\n"
        + table(head, rows)
        + "\n## Families of any size\n\n"
        + rst(as_rst("Families of any size" + families[2]))
    )


# ------------------------------------------------------------------ systems
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
        pieces = [f".. autofunction:: polhode.{one}\n   :no-index:" for one in built]
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
        "scenario, `polhode.problem(name)` in Python.\n\n"
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


# ------------------------------------------------------------------ studies, examples
def linked(text: str, source: Path, target: Path) -> str:
    """Markdown of another folder, adapted: existing pictures are copied, other relative links become plain text."""

    def picture(found: re.Match[str]) -> str:
        file = source / found[2]
        if not file.is_file():
            return f"*{found[1]}*"
        target.mkdir(parents=True, exist_ok=True)
        (target / file.name).write_bytes(file.read_bytes())
        return f"![{found[1]}]({file.name})"

    text = re.sub(r"!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)", picture, text)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)[^)\s]+\)", r"\1", text)


def study_pages() -> dict[str, str]:
    """The README of every study, where it has one."""
    pages = {}
    for name, subject in STUDIES.items():
        folder = ROOT / "src" / "polhode" / "studies" / name
        readme = folder / "README.md"
        if readme.exists():
            text = linked(readme.read_text(encoding="utf-8"), folder, HERE / "generated" / "studies")
        else:
            text = f"# {name}\n\n{subject}. {cited(name)}\n\n"
            text += "Recompute its figures and claims with " + f"`polhode reproduce {name}`.\n"
        pages[f"studies/{name}.md"] = text
    index = (
        "# Studies\n\n"
        "A study recomputes the figures and claims of a paper with the paper's parameters and says, in numbers,\n"
        "whether each claim holds. `polhode reproduce NAME` runs one and writes its pictures, tables and report; a\n"
        "claim that fails is reported as failing.\n\n"
        + table(("study", "subject", "paper"), [(f"[{n}]({n}.md)", s, cited(n)) for n, s in STUDIES.items()])
        + "\n"
        + toctree(*STUDIES)
    )
    return {"studies/index.md": index, **pages}


def example_pages() -> dict[str, str]:
    """The page with the files of ``examples/``."""
    text = "# Examples\n\nScenario files and scripts from the folder `examples/`, as they are.\n"
    for path in sorted((ROOT / "examples").glob("*.toml")):
        script = path.with_suffix(".py")
        needs = " --allow-code" if re.search(r'\.py:\w+"', path.read_text(encoding="utf-8")) else ""
        text += f"\n## {path.name}\n\n" + code(f"polhode run examples/{path.name}{needs}", "shell")
        text += "\n" + listing(path)
        if script.exists():
            text += f"\n`{script.name}`:\n\n{listing(script)}"
    others = [p for p in sorted((ROOT / "examples").glob("*.py")) if not p.with_suffix(".toml").exists()]
    return {"examples.md": text + "".join(f"\n## {path.name}\n\n{listing(path)}" for path in others)}


def listing(path: Path) -> str:
    """A directive that includes an example file."""
    language = {".toml": "toml", ".py": "python"}[path.suffix]
    return f"```{{literalinclude}} ../../examples/{path.name}\n:language: {language}\n```\n"


# ------------------------------------------------------------------ command line, errors
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


# ------------------------------------------------------------------ reference
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


if __name__ == "__main__":
    for page in write(HERE / "generated"):
        print(page.relative_to(HERE))
