"""Pages of the methods, of their tables, and of tableaux."""

from __future__ import annotations

import importlib
import inspect

from plain_docstrings import as_rst

from polhode.kernel.jit import python_of
from polhode.methods import FLOW_NAMES, METHODS, OTHER_NAMES, MethodSpec, method, tableau
from polhode.methods.free_flows import free_flow
from polhode.methods.listing import (
    commutator_loads,
    generalised_words,
    in_full,
    kicks,
    kind_of,
    listings,
    order_words,
)
from polhode.methods.tableaux import TABLEAUX

from .text import HERE, citations, cited, code, first_line, rst, table, toctree

USES = (
    (
        "A free body, without any torque",
        "nothing: [`ph.free_motion`](../api/free_motion.md) is exact at any time; in a run `v2`, exact without loads",
        "free_rotations",
    ),
    (
        "A top, a satellite in the gravity gradient: torques of time and attitude",
        "`fg6_5`, or `pmlf6` where few steps are recorded; `rkn6_14a` with a torque of your own; "
        "`aba10_6_4` where it is weak",
        "splitting",
    ),
    (
        "A body under damping or control: torques that read the velocity",
        "`mkrk:cv8`, or `mkrk:gauss6` (implicit); `s6_10` and `kl8` where they are weak",
        "which_method",
    ),
    (
        "A spacecraft: orbit and attitude",
        "`rkn6_14a`; with drag `s6_10`; steps are cut at burns and shadows",
        "orbits",
    ),
    (
        "An orbit that small forces disturb",
        "`rkn4_6b/kepler:corrected` where few rows are recorded; `kepler` for the two-body motion alone",
        "splitting",
    ),
    (
        "An eccentric orbit, a close passage",
        "`logarithmic:kl8`, `reversible:distance:rkn6_14a`, or `taylor` with a tolerance",
        "variable_steps",
    ),
    (
        "Planets of a star",
        "`sbabc1/kepler:corrected`, or `aba10_6_4/kepler` where many rows are recorded",
        "orbits",
    ),
    (
        "Molecules",
        "`v2` or `rkn4_6b` at constant energy; `baoab` at a temperature, `nose_hoover` without noise",
        "molecules",
    ),
    (
        "Anything, to the last digits",
        "`taylor` with a tolerance: for systems whose loads can be traced",
        "which_method",
    ),
    (
        "An attitude kept as Euler angles or a rotation vector",
        "`euler`, `rotation_vector` with any tableau, through their singular points",
        "rotation_parameters",
    ),
    (
        "What a paper used, to compare with",
        "`trapm`, `imid`, `swc1`, `akw`, `bbtrap`, `dmv10`, and all in the tables below",
        "formulas",
    ),
)
"""What is integrated, the method to take, and the page of the documentation that says why."""

GROUPS = {
    "Splittings, for torques and forces of time and configuration": ("splitting",),
    "Any load on bodies that turn": ("krysl", "munthe_kaas", "commutator_free", "rotation_parameters"),
    "The most digits": ("taylor",),
    "Bodies that move through space and do not turn": ("variational", "conic"),
    "At a temperature": ("thermostats",),
}
"""Headings of the tables, with the families of methods below them."""

KEPT = {
    "energy": "the total energy",
    "midpoint_energy": "the energy of the state pushed half a step by forward Euler",
    "momentum_length": "the length of the angular momentum",
    "spatial_momentum": "the angular momentum vector in space",
    "vertical_momentum": "the vertical component of the spatial angular momentum",
    "axial_momentum": "the angular momentum about the body's symmetry axis",
}


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
    index += "## What do you integrate?\n\n" + table(
        ("what", "method", "why"), [(what, which, f"[](../../{page}.md)") for what, which, page in USES]
    )
    index += "\nMeasured costs of them are on the page [Which method to take](../../which_method.md).\n\n"
    pages = {}
    sections: dict[str, str] = dict.fromkeys(GROUPS, "")
    for listing in listings(chosen):
        own = all(has_page(method(name)) for names in listing.members for name in names)
        rows = [
            (f"[{row[0]}]({row[0]}.md)" if own else f"`{row[0]}`", *row[1:-1], cited(row[-1])) for row in listing.rows
        ]
        first = listing.members[0][0]
        family = METHODS[first].family if first in METHODS else "splitting"
        heading = next((group for group, families in GROUPS.items() if family in families), "Others")
        sections[heading] = sections.get(heading, "") + (
            f"### {listing.title}\n\n{listing.about}\n\n{table(listing.head, rows)}\n"
        )
    index += "".join(f"## {heading}\n\n{text}" for heading, text in sections.items() if text)
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
    family = importlib.import_module(row.prepare.__module__)
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
        '`"mkrk:gauss4"`; add one with [`polhode.methods.add_tableau`](api/methods.add_tableau.md).\n\n'
        + rst(as_rst(body[0].partition("\n")[2]))
        + "\n## Rows with a name of their own\n\nStages, order and the rest are derived from the numbers, "
        "not declared. Symmetric and\nsymplectic are properties of the tableau on a vector space; what `mkrk` keeps of "
        "them on the rotation group\nis on [its page](methods/mkrk.md).\n\n"
        + table(head, rows)
        + "\n## Families of any size\n\n"
        + rst(as_rst("Families of any size" + families[2]))
    )
