"""Two-line elements: the mean elements of a satellite, and its position and velocity by SGP4 [vallado2006].

The package sgp4 evaluates the theory, in the axes of the true equator and mean equinox of date (TEME). From these
positions come to the equator and equinox of J2000 by the precession of IAU 1976 and the four largest terms of nutation
[vallado2013, sec. 3.7], within 10 m of astropy in a low orbit; the elements themselves are worth a kilometre at their
epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from polhode.arguments import array, choice, text
from polhode.epochs import Epoch, epoch_of
from polhode.errors import InvalidInput, MissingExtra, answering, shown
from polhode.systems.earth_axes import to_j2000

FRAMES = ("J2000", "TEME")
LONG = 69
"""Characters of a line."""
DAY = 86400.0
J2000_UTC = 2451544.5
"""Julian date of 2000-01-01T00:00:00."""


@dataclass(frozen=True)
class TwoLineElements:
    """Mean elements of a satellite.

    Attributes
    ----------
    name : str
        From a first line without number, or empty.
    lines : (str, str)
        The two lines.
    epoch : str
        The instant of the elements, UTC.
    bstar : float
        Their drag term, 1 / Earth radius.
    """

    name: str
    lines: tuple[str, str]
    epoch: str
    bstar: float
    theory: Any

    def at(self, t: Any = 0.0, frame: str = "J2000") -> tuple[Any, Any]:
        """Position (m) and velocity (m / s) by SGP4.

        Parameters
        ----------
        t : float or array_like (n,)
            s from the epoch of the elements.
        frame : {"J2000", "TEME"}
            Axes: equator and equinox of J2000, or true equator and mean equinox of date.

        Returns
        -------
        position, velocity : array (3,) or (n, 3)

        Raises
        ------
        InvalidInput
            SGP4 cannot tell, as of a satellite that has decayed.
        """
        choice(frame, "frame", FRAMES)
        times = array(t, "t", "s")
        flat = times.ravel()
        days, parts = np.full(flat.shape, self.theory.jdsatepoch), self.theory.jdsatepochF + flat / DAY
        wrong, r, v = self.theory.sgp4_array(days, parts)
        if wrong.any():
            from sgp4.api import SGP4_ERRORS

            k = int(np.argmax(wrong != 0))
            raise InvalidInput(f"SGP4 has no position at t = {flat[k]:g}: {SGP4_ERRORS[int(wrong[k])]}; take a time "
                               "nearer to the epoch, or newer elements")  # fmt: skip
        r, v = 1e3 * np.asarray(r), 1e3 * np.asarray(v)
        if frame == "J2000":
            R = to_j2000((days - J2000_UTC - 0.5 + parts) / 36525.0)
            r, v = np.einsum("nij,nj->ni", R, r), np.einsum("nij,nj->ni", R, v)
        return r.reshape(*times.shape, 3), v.reshape(*times.shape, 3)

    def start(self, t: float = 0.0, frame: str = "J2000") -> dict[str, Any]:
        """Position and velocity as arguments of ``integrate``: ``integrate(orbit, ..., **elements.start())``.

        Time 0 of the run is then t seconds after the epoch of the elements.
        """
        r, v = self.at(t, frame)
        return {"position": r, "velocity": v}

    def __repr__(self) -> str:
        return f"TwoLineElements({self.name or self.lines[0][2:7].strip()!r}, {self.epoch})"


@answering
def tle(lines: Any, second: str | None = None) -> TwoLineElements:
    """Two-line elements, read by the package sgp4 (``polhode[tle]``).

    Parameters
    ----------
    lines : str or sequence of str
        Both lines, perhaps with a name before them; or the first, with ``second`` as the second.
    second : str, optional
        The second line.

    Returns
    -------
    TwoLineElements

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
    if rows[0][2:7] != rows[1][2:7]:
        raise InvalidInput(f"the lines are of two satellites, {rows[0][2:7].strip()} and {rows[1][2:7].strip()}; give "
                           "those of one")  # fmt: skip
    try:
        from sgp4.api import Satrec
    except ImportError:
        raise MissingExtra("two-line elements need sgp4: pip install 'polhode[tle]'") from None
    try:
        theory = Satrec.twoline2rv(rows[0][:LONG], rows[1][:LONG])
        year, days = int(rows[0][18:20]), rows[0][20:32].strip()
        of_year, _, part = days.partition(".")
        year += 1900 if year >= 57 else 2000
        begin = epoch_of(f"{year}-{int(of_year):03d} UTC")
    except ValueError as problem:
        raise InvalidInput(f"the lines cannot be read as elements: {problem}; fetch them again") from None
    seconds = round(float(f"0.{part or 0}") * DAY * 1e6)
    instant = Epoch("UTC", begin.since + Decimal(seconds).scaleb(-6))
    return TwoLineElements(name, (rows[0], rows[1]), str(instant), float(theory.bstar), theory)


__all__ = ["TwoLineElements", "tle"]
