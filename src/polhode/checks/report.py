"""The result of a check: a ``Report`` with one ``Line`` for each measurement.

report = ph.checks.check_method("trapm")
report.passed                       # True when every line passed
report.failures                     # the lines that failed
report["time symmetry"].numbers     # what was measured on one line
print(report)                       # the table
report.raise_for_failure()          # PromiseBroken with the failures: one line in a test suite
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from polhode.errors import PolhodeError
from polhode.html import rows_of


class PromiseBroken(PolhodeError, AssertionError):
    """A method or a system does not do what it declares."""


@dataclass(frozen=True)
class Line:
    """One thing that was checked.

    Attributes
    ----------
    what : str
        What was measured.
    passed : bool
        Whether the promise was kept.
    promised, measured : str
        Both in words.
    numbers : mapping of str to numbers
        The numbers behind ``measured``, for further use.
    """

    what: str
    passed: bool
    promised: str
    measured: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{'ok  ' if self.passed else 'FAIL'}  {self.what:32}  {self.promised:44}  {self.measured}"


@dataclass(frozen=True)
class Report:
    """What ``check_method`` or ``check_system`` found; ``str(report)`` is a table.

    Attributes
    ----------
    subject : str
        The method string, or the system.
    lines : tuple of Line
        One for each check; ``report[what]`` is the line of that name.
    """

    subject: str
    lines: tuple[Line, ...]

    @property
    def passed(self) -> bool:
        """True when every line passed."""
        return all(line.passed for line in self.lines)

    @property
    def failures(self) -> tuple[Line, ...]:
        """The lines that failed."""
        return tuple(line for line in self.lines if not line.passed)

    def __getitem__(self, what: str) -> Line:
        for line in self.lines:
            if line.what == what:
                return line
        raise KeyError(f"{what!r} was not checked; the lines are: {', '.join(line.what for line in self.lines)}")

    def __str__(self) -> str:
        head = f"{self.subject}: {len(self.lines) - len(self.failures)} of {len(self.lines)} checks passed"
        title = f"      {'checked':32}  {'promised':44}  measured"
        return "\n".join([head, title, *map(str, self.lines)])

    def _repr_html_(self) -> str:
        head = f"{len(self.lines) - len(self.failures)} of {len(self.lines)} checks passed"
        rows = [("ok" if line.passed else "FAIL", line.what, line.promised, line.measured) for line in self.lines]
        shown = rows_of(("", "checked", "promised", "measured"), rows)
        return f"<div><p><b>{escape(self.subject)}</b> {head}</p>{shown}</div>"

    def raise_for_failure(self) -> None:
        """Do nothing when every check passed.

        Raises
        ------
        PromiseBroken
            With the lines that failed.
        """
        if not self.passed:
            raise PromiseBroken("\n".join([f"{self.subject} breaks its promises:", *map(str, self.failures)]))
