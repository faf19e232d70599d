"""What a study is: figures that compute data and draw it, and claims that judge it.

A claim is a conjunction of parts. Each part is true or false of the data, so the verdict follows and can fail:
all parts true, it *holds*; some, it *holds partly*; none, it *fails*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polhode.errors import unknown_name

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure as Picture

HOLDS, PARTLY, FAILS = "holds", "holds partly", "fails"
VERDICTS = (HOLDS, PARTLY, FAILS)

Tell = Callable[[str], None]
"""Receives one line about what is being computed."""


@dataclass(frozen=True)
class Finding:
    """What the data say about a claim.

    Attributes
    ----------
    parts : mapping of str to bool
        What the claim says, piece by piece, and whether the data agree.
    numbers : mapping
        The numbers behind it: a number, a word, or a mapping of such by method.
    """

    parts: Mapping[str, bool]
    numbers: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """``holds``, ``holds partly`` or ``fails``."""
        if not self.parts:
            raise ValueError("a finding needs at least one part to be judged")
        true = [bool(value) for value in self.parts.values()]
        return HOLDS if all(true) else PARTLY if any(true) else FAILS


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
    parts: Mapping[str, bool]
    numbers: Mapping[str, Any]


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
        ``compute(quick, tell) -> Dataset``; attributes of the Dataset are remarks for the report.
    draw : function
        ``draw(data) -> {stem of the file: matplotlib Figure}``.
    claims : tuple of Claim
        What the paper says about it.
    """

    name: str
    title: str
    compute: Callable[[bool, Tell], xr.Dataset]
    draw: Callable[[xr.Dataset], Mapping[str, Picture]]
    claims: tuple[Claim, ...] = ()

    def judge(self, data: xr.Dataset) -> tuple[Verdict, ...]:
        """Every claim judged on the data."""
        findings = [(claim, claim.judge(data)) for claim in self.claims]
        return tuple(Verdict(claim, found.verdict, found.parts, found.numbers) for claim, found in findings)


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
        numbered = re.fullmatch(r"(?:figure|fig)0*(\d+)(?:[._]0*(\d+))?", word.lower())
        name = word.lower()
        if numbered:
            name = f"fig{int(numbered[1])}_{int(numbered[2])}" if numbered[2] else f"fig{int(numbered[1]):02d}"
        known = {figure.name: figure for figure in self.figures}
        if name not in known:
            raise unknown_name(f"figure of {self.name!r}", word, known)
        return known[name]
