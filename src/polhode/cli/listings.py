"""``polhode methods``, ``systems``, ``new``, ``schema`` and ``cite``: what there is, and how to begin with it."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

import polhode as ph
from polhode.cli.options import QUIET, argument, as_command, option
from polhode.cli.text import complete_method, complete_system, laid_out, show
from polhode.errors import FileProblem, InvalidInput

if TYPE_CHECKING:
    from polhode.methods import MethodSpec

START = """\
Which one? Without --method a run takes what measurements recommend for its system. Otherwise, to begin with:
  no loads                                           exact
  loads that depend on time and configuration only   rkn6_14a; fg6_5, pmlf6 where the system has commutator loads
  the same, weak beside the free motion              aba10_6_4; pmlf6
  any system to many digits                          taylor with a tolerance; tops, walls: taylor12, taylor16
  orbits about a centre, weakly perturbed            abah10_6_4/kepler, rkn6_14a/kepler; nothing but the centre: kepler
  loads that depend on velocities                    mkrk:cv8; where they are weak, as drag is, s6_10, kl8
  very many coarse steps                             v2, trapm, imid
  steps chosen by a tolerance (rtol)                 taylor; mkrk:dp8 where loads cannot be traced
  eccentric orbits, stiff walls: steps that adapt    logarithmic:kl8; reversible: before any symmetric method
  a temperature instead of an energy                 baoab:temperature=...:friction=..., nose_hoover
  Euler angles or rotation vectors as the state      euler:dp8:ZYX, rotation_vector:gauss4
Then compare: polhode compare scenario.toml --methods rkn6_14a,pmlf6,mkrk:cv8"""
EXAMPLE = """\
Use a problem, or a system of your own, in a scenario:

    problem = "krysl_fast_top"            [system]
                                          type = "heavy_top"
    [run]                                 inertia = [5.0, 5.0, 1.0]
    step = 0.001                          center_of_mass = [0.0, 0.0, 1.0]
                                          weight = 20.0

In Python: polhode.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0).

Of bodies and loads a system of your own is put together, in Python by polhode.system(...); `polhode new bodies` writes
such a scenario."""


# ------------------------------------------------------------------ methods
@as_command
def methods(
    words: tuple[str, ...] = argument(metavar="[NAME]...", shell_complete=complete_method),
    as_json: bool = option("--json", "Print the rows for machines."),
) -> None:
    """List the methods: order, conserved quantities, cost, what to cite. With a NAME, describe that method in full, or
    list the methods of a kind, of a paper, or with that word in their description.

    \b
    Examples:
        polhode methods                       everything, a table a kind
        polhode methods splitting             one family
        polhode methods flows                 the free rotations that go after a slash
        polhode methods rkn6_14a              one method in full
        polhode methods s6_10/dmv6            ... with another free rotation
        polhode methods rattle                by a name that others use: leapfrog, RK45, ...
        polhode methods yoshida               whatever has that in its name or source
        polhode methods --json
        polhode run examples/fast-top.toml --method mkrk:gauss4:cayley

    A method is written name[/flow][:option...]. The free rotation of a splitting follows after a slash; options follow
    after colons, in any order; options left out take their defaults. "3 + 1 c" loads: three load evaluations and one
    of the commutator load per step.
    """
    from polhode.methods import each_default, listing, other_names

    found = [chosen for word in words for chosen in matching(word)] if words else [*each_default()]
    found = list({chosen.label: chosen for chosen in found}.values())
    if as_json:
        click.echo(json.dumps([facts_of(chosen) for chosen in found], indent=2, allow_nan=False))
        return
    if words and len(found) == len(words):
        click.echo("\n\n".join(in_words(chosen) for chosen in found))
        return
    from rich import box

    for one in listing.listings(found):
        click.echo(f"{one.title}\n{one.about}\n")
        show(one.head, one.rows, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        click.echo()
    click.echo(f"Names of others that are understood. {other_names()}\n")
    click.echo(
        "polhode methods NAME tells all about one, polhode cite NAME what to cite. '1 an iteration': implicit.\n"
    )
    click.echo(START)


def matching(word: str) -> list[MethodSpec]:
    """The methods of this family, else the method of this name, else those with the word in a name, source or text."""
    from polhode.methods import FLOW_NAMES, METHODS, each_default, method

    if word in ("flow", "flows"):
        return [method(name) for name in FLOW_NAMES]
    family = [c for c in each_default() if c.method.family == word and c.method.name not in FLOW_NAMES]
    if family:
        return family
    try:
        return [method(word)]
    except InvalidInput as unknown:
        if "/" in word or ":" in word:
            raise
        wanted_word = word.lower()
        found = [
            method(name) for name, row in METHODS.items()
            if wanted_word in name or wanted_word in row.cite or wanted_word in row.description.lower()
        ]  # fmt: skip
        if not found:
            hint = "".join(str(unknown).partition("; did you mean")[1:]) or "; `polhode methods` lists them all"
            raise InvalidInput(f"no method, family, source or description has {word!r} in it{hint}") from None
        return found


def facts_of(chosen: MethodSpec) -> dict[str, Any]:
    """A method in JSON's types; None where a number would be infinite."""
    from polhode.capabilities import in_order
    from polhode.methods import FLOW_NAMES, OTHER_NAMES, listing

    row, promises, prepared = chosen.method, chosen.promises, chosen.prepare()

    def finite(number: float) -> float | None:
        return number if isfinite(number) else None

    return {
        "name": row.name, "method": chosen.label, "family": row.family, "kind": listing.kind_of(chosen),
        "description": row.description, "order": finite(promises.order), "order_free": finite(promises.order_free),
        "order_velocity": finite(promises.order_velocity), "order_kept_by": promises.kept_by,
        "generalised_order": list(promises.generalised), "requires": promises.requires,
        "needs": in_order(prepared.needs), "keeps_free": list(promises.keeps_free),
        "keeps_top": list(promises.keeps_top), "time_symmetric": promises.time_symmetric,
        "symplectic": promises.symplectic, "implicit": promises.implicit, "processed": prepared.processed,
        "evaluations": promises.evaluations, "commutator_evaluations": listing.commutator_loads(chosen),
        "largest_rotation_rad": finite(row.range), "flow": listing.flow_of(row),
        "flows": list(FLOW_NAMES) if row.with_flow is not None else [],
        "options": {
            name: {
                "value": chosen.options[name], "default": one.default, "choices": list(one.choices()),
                "must_be": one.must, "needed": one.needed, "description": one.description,
            }
            for name, one in row.options.items()
        },
        "other_names": list(OTHER_NAMES.get(chosen.label, ())), "cite": row.cite,
    }  # fmt: skip


def in_words(chosen: MethodSpec) -> str:
    """The full description of one method."""
    from polhode.methods import FLOW_NAMES, listing

    row = chosen.method
    pairs = [*listing.in_full(chosen), ("cite", f"{row.cite} (polhode cite {chosen.label})")]
    stages = listing.step_in_words(chosen)
    if stages:
        pairs.append(("one step", stages.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")))
    for name, one in row.options.items():
        choices = one.must or ", ".join(one.choices())
        usual = f"; default {one.default}" if one.default else "; to be given" if one.needed else ""
        pairs.append((f":{name}{'=' if one.must else ''}", f"{one.description}: {choices}{usual}"))
    if row.with_flow is not None:
        pairs.append(("other free rotations", f"after a slash, such as {row.name.partition('/')[0]}/mr6: "
                      + ", ".join(FLOW_NAMES)))  # fmt: skip
    width = max(len(head) for head, _ in pairs) + 2
    lines = [
        fill(text, 110, initial_indent="  " + head.ljust(width), subsequent_indent=" " * (width + 2),
             break_on_hyphens=False, break_long_words=False)
        for head, text in pairs
    ]  # fmt: skip
    use = f"  polhode run scenario.toml --method {chosen.usage}"
    text = "\n".join([f"{chosen.label}: {row.description}", "", *lines, "", use])
    return text.replace("\N{NO-BREAK SPACE}", " ")


# ------------------------------------------------------------------ systems and scenarios
@as_command
def systems(as_json: bool = option("--json", "Print the tables for machines.")) -> None:
    """List the systems, the bodies and loads of sums, and the forces of orbits with their arguments, the ready-made
    problems of the papers, and what systems can provide that methods may need.

    \b
    Examples:
        polhode systems
        polhode systems --json
    """
    from polhode.systems.listing import system_facts

    found = system_facts()
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    from rich.markup import escape

    kinds = {"system": "systems", "body": "bodies", "load": "loads", "joint": "joints", "controller": "controllers",
             "surroundings": "surroundings", "force": "forces"}  # fmt: skip
    tables: list[tuple[tuple[str, ...], list[tuple[str, ...]]]] = [
        ((what, "what", "arguments (optional)"), [
            (row["name"], escape(row["description"].replace("``", "")),
             ", ".join(name if about["required"] else f"({name})" for name, about in row["arguments"].items()))
            for row in found[rows]])
        for what, rows in kinds.items()
    ]  # fmt: skip
    tables.append((("problem", "what", "step", "t_end", "cite"), [
        (row["name"], escape(row["description"]), f"{row['step']:g}", f"{row['t_end']:g}", row["cite"])
        for row in found["problems"]]))  # fmt: skip
    tables.append((("capability", "what a system with it has", "systems, without their optional arguments"), [
        (name, escape(about["meaning"]), ", ".join(about["systems"]))
        for name, about in found["capabilities"].items()]))  # fmt: skip
    for head, cells in tables:
        show(head, cells, box=None)
        click.echo()
    click.echo(EXAMPLE)


@as_command
def new(
    system: str | None = argument(shell_complete=complete_system, required=False),
    output: Path | None = option("-o --output", "File to write. [<system>.toml]"),
    force: bool = option("--force", "Overwrite the file if there is one."),
    quiet: bool = QUIET,
) -> None:
    """Write a scenario of SYSTEM, one of `polhode systems`, or `bodies` for bodies and loads of your own: a TOML file
    that runs as it is, in which every key stands with its unit, meaning and default. Without SYSTEM, list them.

    \b
    Examples:
        polhode new
        polhode new heavy_top
        polhode run heavy_top.toml
        polhode new bodies -o pair.toml
        polhode new orbit -o first-orbit.toml
        polhode new orbit -o first-orbit.toml --force

    Keys that may be left out stand behind a #.
    """
    from polhode.runs.scenario.starters import starter

    if system is None:
        from polhode.systems.listing import system_facts

        told = [(row["name"], row["description"]) for row in system_facts()["systems"]]
        click.echo(
            laid_out("Scenarios to begin with: polhode new NAME", [("bodies", "Bodies and loads of your own."), *told])
        )
        return
    path = output if output is not None else Path(f"{system}.toml")
    text = starter(system, path.stem)
    if path.suffix != ".toml":
        raise InvalidInput(f"-o {str(output)!r} must end in .toml, as a scenario does")
    try:
        with open(path, "w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FileProblem(f"there is already a file {path}; choose another with -o, or add --force") from None
    except OSError as refused:
        raise FileProblem(f"cannot write {path}: {refused.strerror}; choose another place with -o") from refused
    if not quiet:
        click.echo(f"written: {path}; next: polhode run {path}", err=True)


@as_command
def schema() -> None:
    """Print the JSON schema of scenario files.

    \b
    Example:
        polhode schema > scenario.schema.json

    Editors that know TOML schemas complete and check keys with it; put this on the first line of a scenario:

    \b
        #:schema scenario.schema.json
    """
    from polhode.runs.scenario import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


# ------------------------------------------------------------------ citations
@as_command
def cite(what: str = argument(shell_complete=complete_method)) -> None:
    """Print what to cite for WHAT: a trajectory file, or the name of a method.

    \b
    Examples:
        polhode cite fast-top.nc
        polhode cite mkrk:gauss4
        polhode cite s6_10/dmv6               the splitting, and its free rotation
        polhode cite fast-top.nc >> paper.bib
    """
    from polhode import references
    from polhode.methods import free_flows, listing, method

    if Path(what).suffix in (".nc", ".zarr") or Path(what).exists():
        ds = ph.load(what)
        click.echo(references.cite(ds))
        if "method" not in ds.attrs:
            return
        chosen = method(ds.attrs["method"])
    else:
        chosen = method(what)
        about = references.sentence(ph.__version__, chosen.label, chosen.method.description)
        click.echo(f"% {about}\n{references.bibtex(chosen.method.cite)}")
    flow = listing.flow_of(chosen.method)
    own = None if flow is None else free_flows.free_flow(flow)
    if own is not None and own.cite != chosen.method.cite:
        click.echo(f"% Its free rotation: {own.description}.\n{references.bibtex(own.cite)}")
