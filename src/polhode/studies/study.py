"""What a study is: figures that compute data and draw it, and claims that judge it.

A claim is a conjunction of parts. Each part is true or false of the data, so the verdict follows and can fail:
all parts true, it *holds*; some, it *holds partly*; none, it *fails*. A part whose measurement cannot tell is left
out; where none is left, the claim is *undecided*. Where a formula is misprinted the parts judge
the print and nothing else; what the corrected formula does stands beside them: it *fails as printed; holds corrected*.

A part is decided by a ``Check``: a criterion in words that is known before the data are, and what was measured.
``criteria`` makes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polhode.errors import unknown_name

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure as Picture

HOLDS, PARTLY, FAILS = "holds", "holds partly", "fails"
UNDECIDED = "undecided"
MISPRINT = f"{FAILS} as printed; {HOLDS} corrected"
VERDICTS = (HOLDS, PARTLY, FAILS)

Table = Sequence[Sequence[Any]]
"""Rows of words and numbers; the first has the names of the columns."""

Tell = Callable[[str], None]
"""Receives one line about what is being computed."""


@dataclass(frozen=True)
class Check:
    """One piece of a claim, decided. True or false like a bool.

    Attributes
    ----------
    criterion : str
        When it is true, in words that do not depend on the data.
    measured : number, str or mapping of such
        What was held against it.
    true : bool or None
        Whether it is; None where the measurement is too coarse to tell.
    """

    criterion: str
    measured: Any
    true: bool | None

    def __bool__(self) -> bool:
        return bool(self.true)


Parts = Mapping[str, bool | Check]
"""What a claim says, piece by piece, and whether the data agree."""


def verdict_of(parts: Parts) -> str:
    """``holds``, ``holds partly``, ``fails`` or ``undecided``."""
    if not parts:
        raise ValueError("a finding needs at least one part to be judged")
    true = [bool(value) for value in parts.values() if not (isinstance(value, Check) and value.true is None)]
    if not true:
        return UNDECIDED
    return HOLDS if all(true) else PARTLY if any(true) else FAILS


@dataclass(frozen=True)
class Finding:
    """What the data say about a claim.

    Attributes
    ----------
    parts : mapping of str to Check or bool
        What the claim says, piece by piece, as printed.
    numbers : mapping
        The numbers behind it: a number, a word, or a mapping of such by method.
    corrected : mapping of str to Check or bool
        The pieces that are wrong in print, corrected. They decide nothing about what is printed.
    """

    parts: Parts
    numbers: Mapping[str, Any]
    corrected: Parts = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """``holds``, ``holds partly``, ``fails``, ``undecided``; of a corrected misprint, both verdicts."""
        found = verdict_of(self.parts)
        if found == HOLDS or not self.corrected:
            return found
        return f"{found} as printed; {verdict_of(self.corrected)} corrected"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper: its words, the section they are in, and the function that judges them on the data."""

    text: str
    where: str
    judge: Callable[[xr.Dataset], Finding]


@dataclass(frozen=True)
class Verdict:
    """A claim judged."""

    claim: Claim
    verdict: str
    parts: Parts
    numbers: Mapping[str, Any]
    corrected: Parts = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, or a group of claims that need data of their own.

    Attributes
    ----------
    name : str
        ``fig01``, ... (``fig3_1`` where a paper counts within sections) or a word; also the stem of its files.
    title : str
        One line.
    compute : function
        ``compute(quick, report_progress) -> Dataset``; attributes of the Dataset are remarks for the report.
    draw : function
        ``draw(data) -> {stem of the file: matplotlib Figure}``.
    claims : tuple of Claim
        What the paper says about it.
    tabulate : function, optional
        ``tabulate(data) -> {caption: table}``, of a table of the paper: printed as a table in the report.
    """

    name: str
    title: str
    compute: Callable[[bool, Tell], xr.Dataset]
    draw: Callable[[xr.Dataset], Mapping[str, Picture]]
    claims: tuple[Claim, ...] = ()
    tabulate: Callable[[xr.Dataset], Mapping[str, Table]] | None = None

    def judge(self, data: xr.Dataset) -> tuple[Verdict, ...]:
        """Every claim judged on the data."""
        findings = [(claim, claim.judge(data)) for claim in self.claims]
        return tuple(
            Verdict(claim, found.verdict, found.parts, found.numbers, found.corrected) for claim, found in findings
        )


@dataclass(frozen=True)
class Study:
    """A paper.

    Attributes
    ----------
    name : str
        Its key in ``references.bib``.
    title : str
        Title of the paper.
    figures : tuple of Figure
        In the order of the paper.
    """

    name: str
    title: str
    figures: tuple[Figure, ...] = field(default_factory=tuple)

    def figure(self, word: str) -> Figure:
        """The figure a user means by ``fig1``, ``fig01``, ``fig3.1``, ``fig3_1`` or ``claims``.

        Raises
        ------
        InvalidInput
            Unknown name; the message names the closest.
        """
        with_numbers = re.fullmatch(r"(?:figure|fig)0*(\d+)(?:[._]0*(\d+))?", word.lower())
        name = word.lower()
        if with_numbers:
            name = (
                f"fig{int(with_numbers[1])}_{int(with_numbers[2])}"
                if with_numbers[2]
                else f"fig{int(with_numbers[1]):02d}"
            )
        known = {figure.name: figure for figure in self.figures}
        if name not in known:
            raise unknown_name(f"figure of {self.name!r}", word, known)
        return known[name]
