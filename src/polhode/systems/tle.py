"""Two-line elements of satellites, as text."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from polhode.arguments import text
from polhode.epochs import Epoch, epoch_of
from polhode.errors import InvalidInput, answering, shown
from polhode.systems.mean_elements import DAY, MeanElements, satrec

LONG = 69
"""Characters of a line."""
PLAIN, POWER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)", re.ASCII), re.compile(r"[+-]?\.?\d+[+-]?\d", re.ASCII)
FIELDS = (
    ((19, 20, "year", PLAIN), (21, 32, "day of the year", PLAIN), (34, 43, "change of the mean motion", PLAIN),
     (45, 52, "second change of the mean motion", POWER), (54, 61, "drag term", POWER)),
    ((9, 16, "inclination", PLAIN), (18, 25, "ascending node", PLAIN), (27, 33, "eccentricity", PLAIN),
     (35, 42, "argument of perigee", PLAIN), (44, 51, "mean anomaly", PLAIN), (53, 63, "mean motion", PLAIN)),
)  # fmt: skip
"""First and last column of the numbers of each line; sgp4 takes what it can read of others."""


@answering
def tle(lines: Any, second: str | None = None) -> MeanElements:
    """Two-line elements, read by the package sgp4 (``polhode[tle]``).

    Parameters
    ----------
    lines : str or sequence of str
        Both lines, perhaps with a name before them; or the first, with ``second`` as the second.
    second : str, optional
        The second line.

    Returns
    -------
    MeanElements

    Raises
    ------
    InvalidInput
        No such lines; a wrong checksum, which tells of a character that is not as it was written.
    MissingExtra
        Without sgp4.

    Examples
    --------
    >>> elements = tle('''ISS (ZARYA)
    ... 1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
    ... 2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537''')
    >>> elements.epoch
    '2008-09-20T12:25:40.104192 UTC'
    """
    given = lines.splitlines() if isinstance(lines, str) else list(lines) if isinstance(lines, list | tuple) else None
    if given is None or not all(isinstance(one, str) for one in given):
        raise InvalidInput(f"lines must be the two lines as text, not {shown(lines)}")
    given = [one.rstrip() for one in [*given, *([] if second is None else text(second, "second").splitlines())]]
    rows = [one for one in given if one.strip()]
    name = rows.pop(0).removeprefix("0 ").strip() if len(rows) == 3 else ""
    if len(rows) != 2:
        raise InvalidInput(f"lines are {len(rows)}; give two, that begin with 1 and 2, perhaps a name before them")
    for k, row in enumerate(rows, 1):
        if not row.startswith(f"{k} ") or len(row) < LONG:
            raise InvalidInput(f"line {k} is {shown(row)}; it must begin with {k} and have {LONG} characters")
        total = sum(int(c) if c.isdigit() and c.isascii() else c == "-" for c in row[: LONG - 1]) % 10
        if row[LONG - 1] != str(total):
            raise InvalidInput(f"line {k} has the checksum {row[LONG - 1]}, but its characters have {total}; it has "
                               "been changed, so fetch it again")  # fmt: skip
        for first, last, what, form in FIELDS[k - 1]:
            field = row[first - 1 : last]
            if form.fullmatch(field.strip()) is None:
                raise InvalidInput(f"line {k} has {shown(field)} in columns {first} to {last}, where the {what} "
                                   "stands; fetch it again")  # fmt: skip
    if rows[0][2:7] != rows[1][2:7]:
        raise InvalidInput(f"the lines are of two satellites, {rows[0][2:7].strip()} and {rows[1][2:7].strip()}; give "
                           "those of one")  # fmt: skip
    model = satrec()
    try:
        theory = model.twoline2rv(rows[0][:LONG], rows[1][:LONG])
        year, days = int(rows[0][18:20]), rows[0][20:32].strip()
        of_year, _, part = days.partition(".")
        year += 1900 if year >= 57 else 2000
        begin = epoch_of(f"{year}-{int(of_year):03d} UTC")
    except ValueError as problem:
        raise InvalidInput(f"the lines cannot be read as elements: {problem}; fetch them again") from None
    seconds = round(float(f"0.{part or 0}") * DAY * 1e6)
    instant = Epoch("UTC", begin.since + Decimal(seconds).scaleb(-6))
    return MeanElements(name, theory.satnum, str(instant), float(theory.bstar), theory)


__all__ = ["tle"]
