"""``polhode methods``: the tables of methods, and one method in full."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from polhode.cli.text import complete_method

if TYPE_CHECKING:
    from polhode.methods import MethodSpec

START = """\
Which one? Without --method a run takes what measurements recommend for its system. Otherwise, to begin with:
  no loads                                           exact
  loads that depend on time and configuration only   rkn6_14a; fg6_5, pmlf6 where the system has commutator loads
  the same, weak beside the free motion              aba10_6_4; pmlf6
  any system to many digits                          taylor with a tolerance; tops, walls: taylor12, taylor16
  orbits about a centre, weakly perturbed            aba10_6_4/kepler, rkn6_14a/kepler; nothing but the centre: kepler
  loads that depend on velocities                    mkrk:cv8; where they are weak, as drag is, s6_10, kl8
  very many coarse steps                             v2, trapm, imid
  steps chosen by a tolerance (rtol)                 taylor; mkrk:dp8 where loads cannot be traced
  eccentric orbits, stiff walls: steps that adapt    logarithmic:kl8; reversible: before any symmetric method
  a temperature instead of an energy                 baoab:temperature=...:friction=..., nose_hoover
  Euler angles or rotation vectors as the state      euler:dp8:ZYX, rotation_vector:gauss4
Then compare: polhode compare scenario.toml --methods rkn6_14a,pmlf6,mkrk:cv8"""


@click.command("methods", short_help="List the methods and what they keep.")
@click.argument("words", nargs=-1, metavar="[NAME]...", shell_complete=complete_method)
@click.option("--json", "as_json", is_flag=True, help="Print the rows for machines.")
def command(words: tuple[str, ...], as_json: bool) -> None:
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
    found = [chosen for word in words for chosen in matching(word)] if words else everything()
    found = list({chosen.label: chosen for chosen in found}.values())
    if as_json:
        click.echo(json.dumps([facts_of(chosen) for chosen in found], indent=2, allow_nan=False))
        return
    if words and len(found) == len(words):
        click.echo("\n\n".join(in_words(chosen) for chosen in found))
        return
    _show(found)


def everything() -> list[MethodSpec]:
    """Every method with its default options."""
    from polhode.methods import each_default

    return list(each_default())


def matching(word: str) -> list[MethodSpec]:
    """The methods of this family, else the method of this name, else those with the word in a name, source or text."""
    from polhode.errors import InvalidInput
    from polhode.methods import FLOW_NAMES, METHODS, method

    if word in ("flow", "flows"):
        return [method(name) for name in FLOW_NAMES]
    family = [c for c in everything() if c.method.family == word and c.method.name not in FLOW_NAMES]
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
            close = str(unknown).partition("; did you mean")[1:]
            hint = "".join(close) or "; `polhode methods` lists them all"
            raise InvalidInput(f"no method, family, source or description has {word!r} in it{hint}") from None
        return found


def facts_of(chosen: MethodSpec) -> dict[str, Any]:
    """A method in JSON's types; None where a number would be infinite."""
    from math import isfinite

    from polhode.capabilities import in_order
    from polhode.methods import FLOW_NAMES, OTHER_NAMES
    from polhode.methods.listing import commutator_loads, flow_of, kind_of

    row, promises, prepared = chosen.method, chosen.promises, chosen.prepare()

    def finite(number: float) -> float | None:
        return number if isfinite(number) else None

    return {
        "name": row.name,
        "method": chosen.label,
        "family": row.family,
        "kind": kind_of(chosen),
        "description": row.description,
        "order": finite(promises.order),
        "order_free": finite(promises.order_free),
        "order_velocity": finite(promises.order_velocity),
        "order_kept_by": promises.kept_by,
        "generalised_order": list(promises.generalised),
        "requires": promises.requires,
        "needs": in_order(prepared.needs),
        "keeps_free": list(promises.keeps_free),
        "keeps_top": list(promises.keeps_top),
        "time_symmetric": promises.time_symmetric,
        "symplectic": promises.symplectic,
        "implicit": promises.implicit,
        "processed": prepared.processed,
        "evaluations": promises.evaluations,
        "commutator_evaluations": commutator_loads(chosen),
        "largest_rotation_rad": finite(row.range),
        "flow": flow_of(row),
        "flows": list(FLOW_NAMES) if row.with_flow is not None else [],
        "options": {
            name: {
                "value": chosen.options[name],
                "default": option.default,
                "choices": list(option.choices()),
                "must_be": option.must,
                "needed": option.needed,
                "description": option.description,
            }
            for name, option in row.options.items()
        },
        "other_names": list(OTHER_NAMES.get(chosen.label, ())),
        "cite": row.cite,
    }


# ------------------------------------------------------------------ text output
def _show(chosen: list[MethodSpec]) -> None:
    from rich import box
    from rich.table import Table

    from polhode.cli.text import show
    from polhode.methods import other_names
    from polhode.methods.listing import listings

    for listing in listings(chosen):
        click.echo(f"{listing.title}\n{listing.about}\n")
        table = Table(*listing.head, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for row in listing.rows:
            table.add_row(*row)
        show(table)
        click.echo()
    click.echo(f"Names of others that are understood. {other_names()}\n")
    click.echo(
        "polhode methods NAME tells all about one, polhode cite NAME what to cite. '1 an iteration': implicit.\n"
    )
    click.echo(START)


def in_words(chosen: MethodSpec) -> str:
    """The full description of one method."""
    from textwrap import fill

    from polhode.methods import FLOW_NAMES
    from polhode.methods.listing import in_full, step_in_words

    row = chosen.method
    pairs = [*in_full(chosen), ("cite", f"{row.cite} (polhode cite {chosen.label})")]
    stages = step_in_words(chosen)
    if stages:
        pairs.append(("one step", stages.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")))
    for name, option in row.options.items():
        choices = option.must or ", ".join(option.choices())
        usual = f"; default {option.default}" if option.default else "; to be given" if option.needed else ""
        equals = "=" if option.must else ""
        pairs.append((f":{name}{equals}", f"{option.description}: {choices}{usual}"))
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
