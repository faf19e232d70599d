"""What is stretched between points of two bodies."""

from __future__ import annotations

from polhode.arguments import number, vector
from polhode.arguments.words import Length, Position, Stiffness
from polhode.errors import answering
from polhode.loads.load import Load, made


def taut(a, b, stiffness, length, of_a, of_b):
    """k (d - length)^2 / 2 where the distance d of the two points is beyond the length."""
    d = b.point(of_b) - a.point(of_a)
    stretch = (d @ d) ** 0.5 - length
    return 0.5 * stiffness * max(stretch, 0.0) ** 2


@answering
def tether(
    stiffness: Stiffness, length: Length, of_a: Position = (0.0, 0.0, 0.0), of_b: Position = (0.0, 0.0, 0.0)
) -> Load:
    """A tether between points of two bodies, which pulls where it is stretched and is slack otherwise.

    Parameters
    ----------
    stiffness : float
        Its stiffness (N/m).
    length : float
        Its length (m).
    of_a, of_b : array_like (3,)
        The point of each body (m, its own axes).

    Returns
    -------
    Load
        On two bodies: say which with ``.on``.

    Raises
    ------
    InvalidInput
        A negative number, or no vector.

    Examples
    --------
    >>> import polhode as ph
    >>> pair = ph.system(ph.body("a", 100.0), ph.body("b", 10.0), ph.loads.tether(5.0, 100.0).on("a", "b"))
    >>> ds = ph.integrate(pair, step=0.1, steps=300, position=[(0, 0, 0), (120, 0, 0)])
    >>> round(float(ds.sel(body="b").position[-1, 0]), 1)
    57.0
    """
    return made(taut, "tether", stiffness=number(stiffness, "stiffness", "N / m", positive=True),
                length=number(length, "length", "m", zero=True),
                of_a=vector(of_a, "of_a", unit="m"), of_b=vector(of_b, "of_b", unit="m"))  # fmt: skip
