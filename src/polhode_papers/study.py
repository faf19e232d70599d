"""Studies, figures, claims and verdicts: the data classes every study is made of.

A figure computes data and draws them; its claims are judged on the data. A claim is split into parts, each true or
false of the data: if all are true, the claim *holds*; if some are, it *holds partly*; if none is, it *fails*. A part
that the measurement cannot decide is left out; if no part remains, or nothing but NaN was measured, the claim is
*undecided*. A part that only the full form can tell is undecided in the reduced one. Where a formula is misprinted, the
parts judge it as printed and the corrected formula is judged separately: *fails as printed; holds corrected*.

A part is a ``Check``: a criterion in words, fixed before the data are seen, and the measured value. The functions of
``criteria`` make them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from math import isnan
from typing import TYPE_CHECKING, Any

import polhode as ph

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

    @property
    def measured_nothing(self) -> bool:
        """Whether nothing but NaN was measured."""
        values = list(self.measured.values()) if isinstance(self.measured, Mapping) else [self.measured]
        return bool(values) and all(isinstance(x, float) and isnan(x) for x in values)


Parts = Mapping[str, Check]
"""The parts of a claim, and whether the data agree with each."""


def verdict_of(parts: Parts, counted: bool = False) -> str:
    """``holds``, ``holds partly``, ``fails`` or ``undecided``; ``counted`` adds how many parts do."""
    if not parts:
        raise ValueError("a finding needs at least one part to be judged")
    true = [bool(check) for check in parts.values() if check.true is not None]
    if not true or all(check.measured_nothing for check in parts.values()):
        return UNDECIDED
    verdict, left_out = HOLDS if all(true) else PARTLY if any(true) else FAILS, len(parts) - len(true)
    if not counted or (verdict != PARTLY and not left_out):
        return verdict
    return f"{verdict} ({sum(true)} of {len(true)}{f', {left_out} undecided' if left_out else ''})"


@dataclass(frozen=True)
class Finding:
    """A claim judged on data: its parts, and the numbers behind them.

    Attributes
    ----------
    parts : mapping of str to Check
        The parts of the claim, as printed.
    numbers : mapping
        The numbers behind it: each a number, a word, or a mapping of these by method.
    corrected : mapping of str to Check
        Misprinted parts, corrected. They do not affect the verdict on the print.

    Raises
    ------
    TypeError
        A part is no ``Check``.
    """

    parts: Parts
    numbers: Mapping[str, Any]
    corrected: Parts = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part, check in (*self.parts.items(), *self.corrected.items()):
            if not isinstance(check, Check):
                raise TypeError(f"the part {part!r} has no criterion; make a Check of it")

    @classmethod
    def joined(cls, findings: Iterable[Finding]) -> Finding:
        """The parts and numbers of several findings as one."""
        parts: dict[str, Check] = {}
        numbers: dict[str, Any] = {}
        corrected: dict[str, Check] = {}
        for found in findings:
            parts |= found.parts
            numbers |= found.numbers
            corrected |= found.corrected
        return cls(parts, numbers, corrected)

    @property
    def verdict(self) -> str:
        """``holds``, ``holds partly``, ``fails`` or ``undecided``; for a corrected misprint, both verdicts."""
        return self._verdict(False)

    @property
    def summary(self) -> str:
        """The verdict, with the number of parts that hold where not all do or some are undecided."""
        return self._verdict(True)

    def _verdict(self, counted: bool) -> str:
        verdicts = {verdict_of(self.parts), verdict_of(self.corrected or self.parts)}
        if not self.corrected or verdict_of(self.parts) == HOLDS or verdicts == {UNDECIDED}:
            return verdict_of(self.parts, counted)
        return f"{verdict_of(self.parts, counted)} as printed; {verdict_of(self.corrected, counted)} corrected"

    def without(self, words: Sequence[str]) -> Finding:
        """This finding with the parts whose names have one of these words undecided."""
        printed, corrected = (
            {
                part: replace(check, true=None) if any(word in part for word in words) else check
                for part, check in parts.items()
            }
            for parts in (self.parts, self.corrected)
        )
        return Finding(printed, self.numbers, corrected)


@dataclass(frozen=True)
class Claim:
    """A claim of a paper: its text, the section it is in, and the function that judges it on the data.

    Attributes
    ----------
    full : tuple of str
        Words in the names of parts that only the full form can tell; ``("",)`` for all parts.
    timed : bool
        Whether its parts are ratios of times, which depend on the machine.
    """

    text: str
    where: str
    judge: Callable[[xr.Dataset], Finding]
    full: tuple[str, ...] = ()
    timed: bool = False


@dataclass(frozen=True)
class Verdict(Finding):
    """A finding with the claim that it is about."""

    claim: Claim = field(kw_only=True)


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

    def judge(self, data: xr.Dataset, quick: bool = False) -> tuple[Verdict, ...]:
        """Judge every claim on the data, those of the reduced form if ``quick``."""
        findings = [claim.judge(data).without(claim.full if quick else ()) for claim in self.claims]
        return tuple(
            Verdict(found.parts, found.numbers, found.corrected, claim=claim)
            for claim, found in zip(self.claims, findings, strict=True)
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

    @classmethod
    def of(cls, package: str, title: str, modules: str) -> Study:
        """The study that a package is, of the figures in these modules of it."""
        found = (vars(import_module(f"{package}.{name}")).values() for name in modules.split())
        return cls(package.rpartition(".")[2], title, tuple(x for one in found for x in one if isinstance(x, Figure)))

    def figure(self, word: str) -> Figure:
        """Find a figure by ``fig1``, ``fig01``, ``fig3.1``, ``fig3_1`` or ``claims``.

        Raises
        ------
        InvalidInput
            Unknown name; the message suggests the closest.
        """
        name = word.lower()
        if match := re.fullmatch(r"(?:figure|fig)0*(\d+)(?:[._]0*(\d+))?", name):
            name = f"fig{match[1]}_{match[2]}" if match[2] else f"fig{int(match[1]):02d}"
        known = {figure.name: figure for figure in self.figures}
        if name not in known:
            raise unknown(f"figure of {self.name!r}", word, known)
        return known[name]


def unknown(what: str, name: str, known: Iterable[str]) -> ph.errors.InvalidInput:
    """The error for an unknown name, which suggests the closest."""
    close = " or ".join(map(repr, get_close_matches(name, known)))
    hint = f"did you mean {close}?" if close else f"known: {', '.join(known)}"
    return ph.errors.InvalidInput(f"unknown {what} {name!r}; {hint}")
