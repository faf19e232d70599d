"""What systems provide and methods need: names, what each means, and what is said where a method lacks one.

``System.provides`` and ``CompiledMethod.needs`` are sets of these names. A run is refused where a need is missing, the
first one in the order of ``CAPABILITIES``. A package may add names of its own to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from polhode.errors import InvalidInput, unknown_name


class Capability(NamedTuple):
    """One name."""

    meaning: str  # what holds for a system that provides it
    # what is said of a ``{method}`` that needs it and a ``{system}`` without it, both as they are to be printed;
    # ``{havers}`` are systems that have it, ``{variables}`` the system's auxiliary variables
    missing: str


CAPABILITIES: dict[str, Capability] = {
    "series": Capability(
        "the Taylor series of a torque that depends on the vertical only",
        "method {method} sums the torque's Taylor series, which {system} does not provide; {havers} do; take a method "
        "that evaluates the loads, such as 'rkn6_14a' or 'mkrk:cv8', or give the System a series",
    ),
    "commutator": Capability(
        "a formula for the commutator load",
        "method {method} needs a formula for the commutator load, which {system} does not provide; {havers} do; take a "
        "method without it, such as 'rkn6_14a', or give the System a commutator",
    ),
    "potential": Capability(
        "a potential, so that energies are known",
        "method {method} needs a potential, which {system} does not have; {havers} do; take a method that needs the "
        "loads only, such as 'mkrk:cv8', or give the System a potential",
    ),
    "central_gravity": Capability(
        "a centre at the origin attracts every body that translates",
        "method {method} follows the motion about a centre of attraction, which {system} does not have; take a system "
        "such as orbit(...) ({havers} have one) or gravitating_bodies(...), or the method without '/kepler'",
    ),
    "mutual_gravity": Capability(
        "points attract each other and nothing else acts on them, the first of them most",
        "method {method} follows orbits of bodies about each other, which {system} does not have; take "
        "gravitating_bodies(...), or the method without '/kepler'",
    ),
    "only_central_gravity": Capability(
        "that attraction is the only load",
        "method {method} is the motion about a centre of attraction and nothing else, but other loads may act in "
        "{system}; take 'rkn6_14a/kepler', or 'mkrk:dp8' with a tolerance",
    ),
    "velocity_independent": Capability(
        "loads do not depend on velocities",
        "method {method} is for loads that do not depend on velocities, but those of {system} may; take 'mkrk:cv8'",
    ),
    "exact_kicks": Capability(
        "a kick at a frozen configuration is exact: neither loads nor their works need the velocities within it",
        "method {method} takes loads for constant while it kicks, but those of {system}, or their works, depend on "
        "velocities; take 'mkrk:cv8'",
    ),
    "split_loads": Capability(
        "loads that do not depend on velocities can be evaluated without those that do",
        "method {method} evaluates loads in parts, which {system} does not; take 'mkrk:cv8'",
    ),
    "no_auxiliary": Capability(
        "no numbers of its own are integrated beside the bodies",
        "method {method} does not advance numbers of the system's own, but {system} has some ({variables}); take "
        "'mkrk:cv8'",
    ),
    "nothing_sampled": Capability(
        "no controllers set states at sampling times",
        "controllers of {system} set states between steps, which method {method} does not take, for its steps advance "
        "other numbers than the state or choose their own times; take 's6_10', or 'mkrk:cv8'",
    ),
    "nothing_read": Capability(
        "loads read no numbers of the system's own",
        "the loads of {system} read numbers of its own ({variables}), which method {method} does not carry along "
        "within its steps; take 'mkrk:cv8', or a splitting such as 's6_10'",
    ),
    "wheels": Capability(
        "the body has wheels, whose momentum a free rotation may carry along",
        "method {method} turns a body with wheels, which {system} does not have; take the method without it",
    ),
    "translation": Capability(
        "some body moves through space",
        "the steps of {method} follow the distance from the origin, but the bodies of {system} do not move through "
        "space; take 'reversible:loads:...'",
    ),
    "fixed_centre": Capability(
        "bodies move about the origin of space, not about each other",
        "the steps of {method} follow distances from a centre at the origin, as in orbit(...), but the bodies of "
        "{system} move about each other; take steps of one size, or a tolerance with 'mkrk:dp8'",
    ),
    "rotation": Capability(
        "some body turns",
        "method {method} turns bodies, but none of {system} turns; take 'mkrk:cv8', or a system of rigid bodies",
    ),
    "unconstrained": Capability(
        "no joints hold its bodies",
        "method {method} moves bodies that no joints hold, but those of {system} have some; take 'kl6b/joints' or "
        "another splitting, or an explicit method such as 'mkrk:cv8'",
    ),
    "joints": Capability(
        "joints hold some of its bodies",
        "method {method} moves bodies on their joints, but {system} has none; take it without '/joints'",
    ),
    "points": Capability(
        "no body turns",
        "method {method} moves bodies through space only, but those of {system} turn; take 'mkrk:gauss6', or a "
        "splitting such as 'rkn6_14a'",
    ),
}
"""Every capability by its name, in the order in which they are asked for."""


def stated(**facts: bool) -> frozenset[str]:
    """The names whose fact is true: ``stated(velocity_independent=not reads, split_loads=True)``."""
    return _stated(*facts.items())


@cache
def _stated(*facts: tuple[str, bool]) -> frozenset[str]:
    return known(name for name, true in facts if true)


def known(names: Iterable[str]) -> frozenset[str]:
    """The names as a set."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidInput(f"capabilities are a set of names, such as {{'velocity_independent'}}, not {names!r}")
    found = frozenset(names)
    if not found <= CAPABILITIES.keys():
        raise unknown_name("capability", min(str(one) for one in found - CAPABILITIES.keys()), CAPABILITIES)
    return found


def in_order(names: Iterable[str]) -> list[str]:
    """The names in the order of ``CAPABILITIES``."""
    wanted = frozenset(names)
    return [name for name in CAPABILITIES if name in wanted]


def listed(names: Iterable[str]) -> str:
    """Names as a list in a sentence."""
    *first, last = list(names) or ["none of those known"]
    return f"{', '.join(first)} and {last}" if first else last


FROM_PROGRAMS = ("series", "commutator")
"""Capabilities that follow from a function of the user's that can be traced."""


def refusal(missing: Iterable[str], method: str, system: str, because: str = "", **more: object) -> InvalidInput:
    """The error for a method and a system by their names, of what is missing the first; ``more`` for the sentence, and
    ``because``, why a function of the user's cannot be traced, of what follows from such functions."""
    first = in_order(missing)[0]
    sentence = CAPABILITIES[first].missing.format(method=repr(method), system=repr(system), **more)
    return InvalidInput(f"{sentence}; {because}" if because and first in FROM_PROGRAMS else sentence)
