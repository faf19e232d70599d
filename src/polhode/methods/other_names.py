"""Synonyms of methods from other fields and programs.

They are accepted wherever a method is named, in upper or lower case; a run records polhode's name. Synonyms of free
rotations are in ``free_flows``.
"""

from __future__ import annotations

OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "v2": ("leapfrog", "verlet", "stormer_verlet", "stoermer_verlet", "velocity_verlet", "kdk"),
    "v2_dkd": ("position_verlet", "dkd"),
    "dmv2": ("rattle", "moser_veselov"),
    "yoshida4": ("forest_ruth",),
    "mkrk:dp5": ("rk45",),
    "mkrk:dp8": ("dop853",),
    "mkrk:midpoint": ("midpoint",),
}
"""Synonyms by method string. RK45 and DOP853 are SciPy's names; ``midpoint`` is the implicit midpoint rule."""

METHOD_OF = {name: method for method, names in OTHER_NAMES.items() for name in names}
CLOCK_WORDS = ("reversible", "logarithmic", "loads", "distance")
"""Words of a time transformation, which may stand before the name of a method."""


def as_here(text: str) -> str:
    """A method string with polhode's name in place of a synonym.

    Examples
    --------
    >>> as_here("reversible:leapfrog/mr6"), as_here("RK45"), as_here("mkrk:midpoint")
    ('reversible:v2/mr6', 'mkrk:dp5', 'mkrk:midpoint')
    """
    words = text.split(":")
    k = next((k for k, word in enumerate(words) if word not in CLOCK_WORDS), 0)
    name, slash, flow = words[k].partition("/")
    words[k] = METHOD_OF.get(name.lower(), name) + slash + flow
    return ":".join(words)


def other_names() -> str:
    """The table in one line."""
    return "; ".join(f"{', '.join(names)}: {method}" for method, names in OTHER_NAMES.items())
