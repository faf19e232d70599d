"""Tables and facts as text for terminals and as HTML for notebooks; everything in the HTML is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

CELL = "text-align:left;vertical-align:top;padding:0.15em 1em 0.15em 0"
SHORT = 12  # most rows of a table that is unfolded from the beginning


@dataclass(frozen=True)
class Table:
    """A table with a heading."""

    title: str  # title, about: A heading, and what holds for all rows
    about: str
    head: tuple[str, ...]  # names of the columns
    rows: tuple[tuple[str, ...], ...]  # cells

    def text(self) -> str:
        """The table as text with aligned columns."""
        lines = (self.head, *self.rows)
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.head))]
        table = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join([self.title, self.about, "", *(line.rstrip() for line in table)])

    def html(self) -> str:
        """The table as HTML, folded up if it is long."""
        unfolded = " open" if len(self.rows) <= SHORT else ""
        about = f"<p>{escape(self.about)}</p>" if self.about else ""
        return (
            f"<details{unfolded}><summary><b>{escape(self.title)}</b> ({len(self.rows)})</summary>{about}"
            f"{rows_of(self.head, self.rows)}</details>"
        )


@dataclass(frozen=True)
class Tables:
    """Tables that a terminal prints and a notebook shows."""

    tables: tuple[Table, ...]  # each with ``title``, ``about``, ``head`` and ``rows``
    after: str = ""  # text below them: a line that is its heading, and the rest

    def __str__(self) -> str:
        return "\n\n\n".join([*(one.text() for one in self.tables), *[self.after] * bool(self.after)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        title, _, rest = self.after.partition("\n")
        after = f"<details><summary><b>{escape(title)}</b></summary><p>{escape(rest)}</p></details>" if title else ""
        return f"<div>{''.join(one.html() for one in self.tables)}{after}</div>"


def rows_of(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of text as HTML."""
    top = "".join(f'<th style="{CELL}">{escape(str(name))}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escape(str(cell))}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f"<div style='overflow-x:auto'><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def facts(title: str, about: str, pairs: Iterable[tuple[str, Any]]) -> str:
    """A heading, a sentence, and pairs of a name and what it is, as HTML."""
    body = "".join(
        f'<tr><th style="{CELL}">{escape(str(name))}</th><td style="{CELL}">{escape(str(value))}</td></tr>'
        for name, value in pairs
    )
    said = f" {escape(about)}" if about else ""
    return f"<div style='overflow-x:auto'><p><b>{escape(title)}</b>{said}</p><table><tbody>{body}</tbody></table></div>"
