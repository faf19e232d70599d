"""Studies, figures, claims and verdicts: the data classes every study is made of.

A figure computes data and draws them; its claims are judged on the data. A claim is split into parts, each true or
false of the data: if all are true, the claim *holds*; if some are, it *holds partly*; if none is, it *fails*. A part
that the measurement cannot decide is left out; if no part remains, the claim is *undecided*. Where a formula is
misprinted, the parts judge it as printed and the corrected formula is judged separately: *fails as printed; holds
corrected*.

A part is decided by a ``Check``: a criterion in words, fixed before the data are seen, and the measured value.
The functions of ``criteria`` make them.
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
"""Rows of words and numbers; the first row holds the column names."""

Reporter = Callable[[str], None]
"""Progress callback: receives one line about what is being computed."""


@dataclass(frozen=True)
class Check:
    """One part of a claim, decided; its truth value is that of the part.

    Attributes
    ----------
        criterion : str
            The condition for it to be true, in words that do not depend on the data.
    measured : number, str or mapping of such
        The measured value or values.
    true : bool or None
        Whether the criterion is met; None if the measurement cannot decide.
    """

    criterion: str
    measured: Any
    true: bool | None

    def __bool__(self) -> bool:
        return bool(self.true)


Parts = Mapping[str, bool | Check]
"""The parts of a claim, and whether the data agree with each."""


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
    """A claim judged on data: its parts, and the numbers behind them.

    Attributes
    ----------
        parts : mapping of str to Check or bool
            The parts of the claim, as printed.
    numbers : mapping
        The numbers behind it: each a number, a word, or a mapping of these by method.
    corrected : mapping of str to Check or bool
        Misprinted parts, corrected. They do not affect the verdict on the print.
    """

    parts: Parts
    numbers: Mapping[str, Any]
    corrected: Parts = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """``holds``, ``holds partly``, ``fails`` or ``undecided``; for a corrected misprint, both verdicts."""
        printed = verdict_of(self.parts)
        if printed == HOLDS or not self.corrected:
            return printed
        return f"{printed} as printed; {verdict_of(self.corrected)} corrected"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper: its text, the section it is in, and the function that judges it on the data."""

    text: str
    where: str
    judge: Callable[[xr.Dataset], Finding]


@dataclass(frozen=True)
class Verdict:
    """A claim with its verdict, parts and numbers."""

    claim: Claim
    verdict: str
    parts: Parts
    numbers: Mapping[str, Any]
    corrected: Parts = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, or a group of claims with data of their own.

    Attributes
    ----------
    name : str
        ``fig01``, ... (``fig3_1`` where a paper numbers figures by section) or a word; also the stem of its files.
    title : str
        One-line description.
    compute : function
        ``compute(quick, report_progress) -> Dataset``; attributes of the Dataset are printed as remarks in the report.
    draw : function
        ``draw(data) -> {file stem: matplotlib Figure}``.
    claims : tuple of Claim
        The claims judged on its data.
    tabulate : function, optional
        ``tabulate(data) -> {caption: table}``, for tables of the paper; printed as tables in the report.
    """

    name: str
    title: str
    compute: Callable[[bool, Reporter], xr.Dataset]
    draw: Callable[[xr.Dataset], Mapping[str, Picture]]
    claims: tuple[Claim, ...] = ()
    tabulate: Callable[[xr.Dataset], Mapping[str, Table]] | None = None

    def judge(self, data: xr.Dataset) -> tuple[Verdict, ...]:
        """Judge every claim on the data."""
        findings = [(claim, claim.judge(data)) for claim in self.claims]
        return tuple(
            Verdict(claim, finding.verdict, finding.parts, finding.numbers, finding.corrected)
            for claim, finding in findings
        )


@dataclass(frozen=True)
class Study:
    """A paper and its figures.

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
        """Find a figure by ``fig1``, ``fig01``, ``fig3.1``, ``fig3_1`` or ``claims``.

        Raises
        ------
        InvalidInput
            Unknown name; the message suggests the closest.
        """
        number_match = re.fullmatch(r"(?:figure|fig)0*(\d+)(?:[._]0*(\d+))?", word.lower())
        name = word.lower()
        if number_match:
            name = (
                f"fig{int(number_match[1])}_{int(number_match[2])}"
                if number_match[2]
                else f"fig{int(number_match[1]):02d}"
            )
        known = {figure.name: figure for figure in self.figures}
        if name not in known:
            raise unknown_name(f"figure of {self.name!r}", word, known)
        return known[name]
