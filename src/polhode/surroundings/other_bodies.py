"""Where another body is."""

from __future__ import annotations

from polhode.arguments.words import Position, Positions, Times
from polhode.errors import answering
from polhode.surroundings.ephemerides import Ephemerides
from polhode.surroundings.paths import Circle, path_of, place_at
from polhode.surroundings.surrounding import Surrounding, Table, made


def along_path(body, t, numbers):
    """The place at time t."""
    return place_at(numbers.p, numbers.at, t)


@answering
def path(
    *,
    position: Position | None = None,
    times: Times | None = None,
    positions: Positions | None = None,
    circle: Circle | None = None,
    ephemeris: Ephemerides | None = None,
) -> Surrounding:
    """Where another body is, such as the Sun or the Moon: at rest, along a table, on a circle or by an ephemeris.

    Parameters
    ----------
    position : array_like (3,), optional
        Its position (m), if at rest; or
    times, positions : array_like (n,), (n, 3), optional
        A table (s, m), n >= 4, interpolated by a cubic spline; the run must lie within it; or
    circle : mapping, optional
        A circle about the origin: ``radius``, ``period``, and optionally ``phase`` and ``normal``, as of
        ``polhode.forces.third_body``; or
    ephemeris : Ephemeris, optional
        From ``polhode.surroundings.ephemeris``, or a mapping of its arguments: Sun, Moon and planets, in SI units.

    Returns
    -------
    Surrounding
        A place (m, space), such as the ``sun`` or ``moon`` that ``polhode.loads.third_body`` reads.

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.

    Examples
    --------
    >>> import polhode as ph
    >>> moon = ph.surroundings.path(circle={"radius": 3.844e8, "period": 2.36e6})
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(3.986004415e14), ph.loads.third_body("moon"),
    ...                   surroundings={"moon": moon})
    >>> ds = ph.integrate(craft, step=600.0, steps=144, position=(4.2164e7, 0, 0), velocity=(0, 3.0747e3, 0))
    >>> round(float(ds.position[-1, 0]) / 1e3)
    42158
    """
    found = path_of(position, times, positions, circle, ephemeris)
    return made(along_path, "path", found.arguments, numbers=Table(found.numbers))
