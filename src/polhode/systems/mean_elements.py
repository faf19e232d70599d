"""Mean elements of a satellite, and its position and velocity by SGP4 [vallado2006].

The package sgp4 evaluates the theory, in the axes of the true equator and mean equinox of date (TEME). From these
positions come to the equator and equinox of J2000 by the precession of IAU 1976 and the four largest terms of nutation
[vallado2013, sec. 3.7], within 10 m of astropy in a low orbit; the elements themselves are worth a kilometre at their
epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.arguments import array, choice
from polhode.errors import InvalidInput, MissingExtra
from polhode.surroundings.earth_axes import to_j2000

FRAMES = ("J2000", "TEME")
DAY = 86400.0
J2000_UTC = 2451544.5
"""Julian date of 2000-01-01T00:00:00."""


def satrec() -> Any:
    """The class of the package sgp4 that evaluates elements."""
    try:
        from sgp4.api import Satrec
    except ImportError:
        raise MissingExtra("mean elements need sgp4: pip install 'polhode[tle]'") from None
    return Satrec


@dataclass(frozen=True)
class MeanElements:
    """Mean elements of a satellite; ``polhode.initial.tle`` and ``polhode.initial.omm`` make them."""

    name: str  # of the satellite, or empty
    number: int  # of its catalogue, NORAD's
    epoch: str  # the instant of the elements, UTC
    bstar: float  # their drag term, 1 / Earth radius
    theory: Any

    def at(self, t: Any = 0.0, frame: str = "J2000") -> tuple[Any, Any]:
        """Position (m) and velocity (m / s) by SGP4."""
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
        return f"MeanElements({self.name or f'{self.number:05d}'!r}, {self.epoch})"


__all__ = ["DAY", "MeanElements", "satrec"]
