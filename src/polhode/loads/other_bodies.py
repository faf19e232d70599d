"""Gravity of bodies that are not part of the system; their places are read from the surroundings."""

from __future__ import annotations

from dataclasses import replace

from polhode.arguments import identifier, number
from polhode.arguments.words import GravitationalParameter
from polhode.errors import InvalidInput, answering
from polhode.loads.load import Load, made
from polhode.surroundings.ephemerides import BODIES


def tide(body, other, mu):
    """-m mu (1/|d| - 1/|s| - r . s/|s|^3), d = s - r, and its force -m mu/|d|^3 (r + f s), f of q = r . (r - 2 s)/s^2;
    both without cancellation [battin1999]."""
    r, s = body.position, other
    square, near = s @ s, (s - r) @ (s - r)
    q = (r @ (r - 2.0 * s)) / square
    w = (1.0 + q) ** 0.5
    direct = q * q * (w + 2.0) / (2.0 * w * (1.0 + w) * (1.0 + w))
    cube = near * near**0.5
    f = q * (3.0 + q * (3.0 + q)) / (1.0 + cube / (square * square**0.5))
    return {
        "potential": -body.mass * mu * square**-0.5 * (direct - 0.5 * (r @ r) / square),
        "force": -body.mass * mu / cube * (r + f * s),
    }


@answering
def third_body(of: str, mu: GravitationalParameter | None = None) -> Load:
    """Gravity of another body less its pull on the origin, where the centre of the system falls with it.

    It acts on the centre of mass, and reads the place of the other body (m, space) from the surroundings.

    Parameters
    ----------
    of : str
        Its name there: ``"moon"`` reads ``moon``.
    mu : float, optional
        Its gravity parameter (m3/s2); by default that of the body of this name: sun, moon, earth, or a planet.

    Returns
    -------
    Load

    Raises
    ------
    InvalidInput
        No positive number, or none for a name that polhode does not know.

    Examples
    --------
    >>> third_body("moon").name
    'third_body_moon'
    """
    name = identifier(of, "of")
    if mu is None and name not in BODIES:
        raise InvalidInput(f"mu is missing; polhode knows that of {', '.join(BODIES)}, not of {name!r}")
    size = BODIES[name] if mu is None else number(mu, "mu", "m**3 / s**2", positive=True)
    load = made(tide, "third_body", {"of": name, "mu": size}, mu=size)
    return replace(load, name=f"third_body_{name}", reads={"other": name})
