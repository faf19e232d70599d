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
    "mkrk": ("rkmk4",),
    "mkrk:gauss4": ("gl4",),
    "mkrk:gauss6": ("gl6",),
    "cg4": ("crouch_grossman",),
    "cf4": ("commutator_free",),
}
"""Synonyms by method string. RK45 and DOP853 are SciPy's names; ``midpoint`` is the implicit midpoint rule, gl4 the
method of Gauss and Legendre of order 4."""

LANGEVIN = "'baoab', with temperature= and friction=, is Langevin's equation; 'aboba' and 'obabo' are others"
WISDOM_HOLMAN = (
    "Wisdom and Holman's map is 'v2/kepler', with its corrector 'v2/kepler:corrected'; 'sbab5/kepler' errs less"
)
ALPHA = (
    "it is for stiff flexible parts and constraints, which no system has: 'trapm' and 'imidm' are implicit, of order "
    "2, 'mkrk:radau_iia5' damps what is fast"
)
CONSTRAINTS = (
    "bodies are rigid here, no bond needs to be held by constraints: 'v2' turns them exactly, 'dmv2' is RATTLE for them"
)
NEWMARK = (
    "Newmark's rule on the rotation group is 'swc1', or explicit 'liemid_ea'; the explicit one of positions is 'v2'"
)
INSTEAD: dict[str, str] = {
    "langevin": LANGEVIN,
    "brownian": "Brownian motion without inertia is not here: 'baoab' has inertia, and with much friction it moves so",
    "whfast": WISDOM_HOLMAN, "wisdom_holman": WISDOM_HOLMAN,
    "generalized_alpha": ALPHA, "generalised_alpha": ALPHA, "hht": ALPHA,
    "shake": CONSTRAINTS, "settle": CONSTRAINTS,
    "ias15": "with a tolerance, 'taylor' does what IAS15 does: steps=polhode.Tolerance(1e-14)",
    "newmark": NEWMARK, "newmark_beta": NEWMARK,
    "symplectic_euler": "the impulse, then free motion is 'liemid_e1', of order 1, its adjoint 'liemid_e2'; 'v2' is "
                        "symplectic, of order 2, and costs the same",
}  # fmt: skip
"""What is said of methods by names of other fields that are not here under any: which one does the job."""

METHOD_OF = {name: method for method, names in OTHER_NAMES.items() for name in names}
CLOCK_WORDS = ("reversible", "logarithmic", "loads", "distance")
"""Words of a time transformation, which may stand before the name of a method."""


def as_here(text: str) -> str:
    """A method string with polhode's name in place of a synonym.

    Parameters
    ----------
    text : str
        A method string, such as ``"leapfrog"``.

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
    """The table in one line.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.methods.other_names().split("; ")[0]
    'leapfrog, verlet, stormer_verlet, stoermer_verlet, velocity_verlet, kdk: v2'
    """
    return "; ".join(f"{', '.join(names)}: {method}" for method, names in OTHER_NAMES.items())
