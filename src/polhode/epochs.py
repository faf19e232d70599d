"""Epochs in four time scales: parsing what users give, conversion, and the text that messages need.

====== ========================================================================================================
scale  definition
====== ========================================================================================================
TAI    SI seconds, atomic clocks
TT     TAI + 32.184 s
TDB    TT + a periodic relativistic term below 2 ms: in texts and messages by astropy's erfa, in what is computed of
       the Earth, the Sun and the Moon by ``tdb_less_tt`` within 10 us
UTC    SI seconds with leap seconds, so that a day may have 86401: TAI less a whole number of seconds, from 1972 on
====== ========================================================================================================

An epoch is stored as its scale and the SI seconds since 2000-01-01T00:00:00 of that scale, as an exact decimal number.
In UTC leap seconds are counted, so a run may cross one: rows within it are written with second 60, as the standards
require. Leap seconds are those announced up to ``LEAPS[-1]``.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import has
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.lazy import extra

SCALES = ("UTC", "TAI", "TT", "TDB")

LEAPS = (
    "1972-07-01", "1973-01-01", "1974-01-01", "1975-01-01", "1976-01-01", "1977-01-01", "1978-01-01", "1979-01-01",
    "1980-01-01", "1981-07-01", "1982-07-01", "1983-07-01", "1985-07-01", "1988-01-01", "1990-01-01", "1991-01-01",
    "1992-07-01", "1993-07-01", "1994-07-01", "1996-01-01", "1997-07-01", "1999-01-01", "2006-01-01", "2009-01-01",
    "2012-07-01", "2015-07-01", "2017-01-01",
)  # fmt: skip
"""UTC days that began right after a leap second (IERS, Bulletin C)."""

DAY = 86400
ORIGIN = datetime.date(2000, 1, 1)
_DAYS = [(datetime.date.fromisoformat(text) - ORIGIN).days for text in LEAPS]
_BEFORE = sum(day <= 0 for day in _DAYS)
STARTS = [DAY * day + k + 1 - _BEFORE for k, day in enumerate(_DAYS)]
"""SI seconds from 2000-01-01T00:00:00 UTC to the beginning of each of these days."""
FIRST_UTC = DAY * (datetime.date(1972, 1, 1) - ORIGIN).days - _BEFORE
"""1972-01-01, from which UTC is TAI less whole seconds, on the same count."""
FIRST_DATE, LAST_DATE = (DAY * (day - ORIGIN).days for day in (datetime.date(1, 1, 2), datetime.date.max))

TO_TAI = {"UTC": Decimal(10 + _BEFORE), "TAI": Decimal(0), "TT": Decimal("-32.184")}
"""TAI minus each scale (s); constant, since the count of UTC seconds includes leap seconds."""

ISO = re.compile(
    r"(\d{4})-(?:(\d{2})-(\d{2})|(\d{3}))(?:[Tt ](\d{2}):(\d{2})(?::(\d{2}(?:\.\d*)?))?)?"
    r"(?:\s*(?:([Zz])|([+-])(\d{2}):?(\d{2})|([A-Za-z]+\d?)))?"
)
EXPECTED = "expected such as '2026-03-01T12:00:00', with UTC, TAI, TT or TDB behind it, a datetime or an astropy Time"


class Epoch(NamedTuple):
    """An instant."""

    scale: str  # one of SCALES
    since: Decimal  # SI seconds since 2000-01-01T00:00:00 of that scale

    def __str__(self) -> str:
        """Text that ``epoch_of`` reads."""
        return f"{self.text()} {self.scale}"

    def text(self, digits: int | None = None) -> str:
        """Calendar date and time of day in the epoch's own scale, with ``digits`` decimals of the second or all."""
        return texts(self.scale, [self.since], digits)[0]


def epoch_of(value: Any, scale: str = "UTC", name: str = "epoch") -> Epoch:
    """Convert user input to an Epoch."""
    if scale not in SCALES:
        raise unknown_name("time system", scale, SCALES)
    if isinstance(value, Epoch):
        return value
    if isinstance(value, datetime.datetime):
        value = value.isoformat()
    if type(value).__module__.partition(".")[0] == "astropy" and has(value, "jd1"):
        return _from_astropy(value, name)
    match = ISO.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise InvalidInput(f"{name} is {shown(value)}; {EXPECTED}")
    year, month, day, of_year, hour, minute, second, zulu, sign, hours, minutes, named = match.groups()
    if zulu or sign:
        scale = "UTC"
    if named:
        if named.upper() not in SCALES:
            raise unknown_name(f"time scale in {name} {value!r}:", named, SCALES)
        scale = named.upper()
    try:
        if of_year:
            days = (datetime.date(int(year), 1, 1) - ORIGIN).days + int(of_year) - 1
            if not 1 <= int(of_year) <= (datetime.date(int(year), 12, 31) - datetime.date(int(year), 1, 1)).days + 1:
                raise ValueError
        else:
            days = (datetime.date(int(year), int(month), int(day)) - ORIGIN).days
    except ValueError:
        raise InvalidInput(f"{name} is {value!r}, but there is no such day; correct the date") from None
    h, m, s = int(hour or 0), int(minute or 0), Decimal(second or 0)
    if h > 23 or m > 59 or s >= 61:
        raise InvalidInput(
            f"{name} is {value!r}, but there is no such time of day; correct the hours, minutes, seconds"
        )
    shift = 60 * (60 * int(hours) + int(minutes)) * (-1 if sign == "+" else 1) if sign else 0
    if s >= 60 and (scale != "UTC" or shift or (h, m) != (23, 59) or days + 1 not in _DAYS):
        raise InvalidInput(f"{name} is {value!r}, but no leap second was there; seconds go to 59")
    naive = DAY * days + 3600 * h + 60 * m + shift + s
    if scale != "UTC":
        return Epoch(scale, naive)
    counted = bisect_right(_DAYS, _day(naive - (1 if s >= 60 else 0))) - _BEFORE
    if naive + counted < FIRST_UTC:
        raise InvalidInput(f"{name} is {value!r}, before 1972, when UTC had no whole seconds; give it in TAI or TT")
    return Epoch(scale, naive + counted)


def _day(since: Decimal | int) -> int:
    """Number of the day (0 is 2000-01-01) that contains this second."""
    day = int(since // DAY)  # towards 0
    return day if since >= DAY * day else day - 1


def _from_astropy(value: Any, name: str) -> Epoch:
    """Epoch from a scalar astropy Time of any scale except ``local``."""
    if not value.isscalar:
        raise InvalidInput(f"{name} holds {value.size} times; give one")
    if value.scale == "local":
        raise InvalidInput(
            f"{name} is in the scale 'local', which is tied to no other; give one of {', '.join(SCALES)}"
        )
    target = value.scale.upper() if value.scale.upper() in SCALES else "TDB" if value.scale == "tcb" else "TT"
    exact = value.tai if target == "UTC" or value.scale == "ut1" else getattr(value, target.lower())
    with localcontext() as many:
        many.prec = 50
        days = Decimal(float(exact.jd1)) - Decimal("2451544.5") + Decimal(float(exact.jd2))
        since = (days * DAY).quantize(Decimal("1e-9")).normalize()
    if exact.scale == "tai" and target != "TAI":
        since -= TO_TAI[target]
    return Epoch(target, since)


def texts(scale: str, since: Sequence[Decimal], digits: int | None = None) -> list[str]:
    """Calendar dates and times of day, with ``digits`` decimals of the second, or all that each one has."""
    step = None if digits is None else Decimal(1).scaleb(-digits)
    out = []
    for exact in since:
        t = exact if step is None else exact.quantize(step)
        inside = 0
        if scale == "UTC":
            k = bisect_right(STARTS, t)
            if k < len(STARTS) and t >= STARTS[k] - 1:
                inside = 1  # within the leap second before day k
            t -= k - _BEFORE + inside
        days = _day(t)
        minutes, s = divmod(t - DAY * days, 60)
        h, m = divmod(int(minutes), 60)
        s += inside
        whole, _, part = f"{s:f}".partition(".")
        if step is None:
            part = part.rstrip("0")
        date = datetime.date.fromordinal(ORIGIN.toordinal() + days)
        out.append(f"{date.isoformat()}T{h:02d}:{m:02d}:{int(whole):02d}" + (f".{part}" if part else ""))
    return out


def instants(epoch: Epoch, times: Iterable[float], scale: str) -> list[Decimal]:
    """Convert times (s after an epoch) to seconds since 2000-01-01T00:00:00 in the given scale."""
    found = _instants(epoch, times, scale)
    if scale == "UTC" and found and min(found) < FIRST_UTC:
        raise InvalidInput("some times are before 1972, when UTC had no whole seconds; write them in TAI or TT")
    return found


def _instants(epoch: Epoch, times: Iterable[float], scale: str) -> list[Decimal]:
    in_own_scale = [epoch.since + Decimal(repr(float(t))) for t in times]
    if in_own_scale and not (min(in_own_scale) > FIRST_DATE and max(in_own_scale) < LAST_DATE):
        raise InvalidInput("time has entries outside the years 1 to 9999 of calendar dates; are they in seconds?")
    if scale == epoch.scale:
        return in_own_scale
    near = {"TDB": "TT"}
    shift = TO_TAI[near.get(epoch.scale, epoch.scale)] - TO_TAI[near.get(scale, scale)]
    moved = [t + shift for t in in_own_scale]
    if scale == "TDB":
        return [t + difference for t, difference in zip(moved, _tdb_less_tt(moved), strict=True)]
    if epoch.scale == "TDB":
        return [t - difference for t, difference in zip(moved, _tdb_less_tt(in_own_scale), strict=True)]
    return moved


def _tdb_less_tt(since: Sequence[Decimal]) -> list[Decimal]:
    """TDB - TT (s) at the Earth's centre, from erfa; ``since`` may be in either scale."""
    needed = ("between TDB and other time systems astropy is needed; pip install 'polhode[astropy]', or give the epoch "
              "in the time system of the message")  # fmt: skip
    found = extra("erfa", needed).dtdb(2451544.5, [float(t) / DAY for t in since], 0.0, 0.0, 0.0, 0.0)
    return [Decimal(float(x)).quantize(Decimal("1e-12")) for x in found]


PERIODIC = (
    (1657e-6, 628.3076, 6.2401), (22e-6, 575.3385, 4.2970), (14e-6, 1256.6152, 6.1969), (5e-6, 606.9777, 4.0212),
    (5e-6, 52.9691, 0.4444), (2e-6, 21.3299, 5.5431),
)  # fmt: skip
"""Amplitudes (s), rates (rad a century) and phases of TDB - TT."""
CENTURY = 36525.0 * DAY
J2000 = 43200.0
"""Its epoch in seconds from the beginning of the year 2000, TT."""


def tdb_less_tt(since: Any) -> Any:
    """TDB - TT (s) within 10 us from 1900 to 2100, without astropy; ``since`` (s from 2000-01-01) in either scale."""
    T = (since - J2000) / CENTURY
    found = 1e-5 * T * np.sin(628.3076 * T + 4.2490)
    for size, rate, phase in PERIODIC:
        found = found + size * np.sin(rate * T + phase)
    return found  # [kaplan2005, eq. 2.6]


def without_tdb(epoch: Epoch) -> Epoch:
    """The instant in TT where it is in TDB, for what needs no more than ``tdb_less_tt`` gives; any other as it is."""
    if epoch.scale != "TDB":
        return epoch
    return Epoch("TT", epoch.since - Decimal(float(tdb_less_tt(float(epoch.since)))).quantize(Decimal("1e-9")))
