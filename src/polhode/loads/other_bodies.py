"""Gravity of bodies that are not part of the system; their places are read from the surroundings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polhode.arguments import identifier, number
from polhode.arguments.words import GravitationalParameter
from polhode.errors import InvalidInput, answering
from polhode.loads.load import Load, made
from polhode.surroundings.ephemerides import BODIES
from polhode.surroundings.paths import place_at, receding_at, square_at, velocity_at


def tide(body, other, mu):
    """-m mu (1/|d| - 1/|s| - r . s/|s|^3), d = s - r, of a body at s, and its force -m mu/|d|^3 (r + f s), f of
    q = r . (r - 2 s)/s^2; both without cancellation [battin1999]."""
    level, force, *_ = from_body(body, other, other @ other, mu)
    return {"potential": level, "force": force}


def tide_along(body, t, path, mu):
    """The same of a body on a path, and its rate in time, which has fewer products than if it is derived,

    m mu / |s|^3 (r . s' f / (1 + f) - s . s' (f / (1 + f) + 3 r . s / s^2)), the bracket without cancellation."""
    at = path.p, path.at, t
    s, ds, square = np.array(place_at(*at)), np.array(velocity_at(*at)), square_at(*at)
    level, force, q, w, f, cube = from_body(body, s, square, mu)
    rest = 1.5 * q * q * (1.0 + q / 1.5 - (1.0 + q) / (1.0 + w)) / (1.0 + cube)  # f - 3 q / 2
    bracket = (rest - 1.5 * q * f) / cube + 1.5 * (body.position @ body.position) / square
    slope = (body.position @ ds) * f / cube - receding_at(*at) * bracket
    return {"potential": level, "force": force, "potential_rate": body.mass * mu / (square * square**0.5) * slope}


def from_body(body, s, square, mu):
    """Potential and force for a square s^2, and q, sqrt(1 + q), f and 1 + f."""
    r, near, far = body.position, (s - body.position) @ (s - body.position), square * square**0.5
    q = (r @ (r - 2.0 * s)) / square
    w, cube = (1.0 + q) ** 0.5, near * near**0.5
    f = q * (3.0 + q * (3.0 + q)) / (1.0 + cube / far)
    direct = q * q * (w + 2.0) / (2.0 * w * (1.0 + w) * (1.0 + w))
    level = -body.mass * mu * square**-0.5 * (direct - 0.5 * (r @ r) / square)
    k = -body.mass * mu / cube
    return level, k * f * s + k * r, q, w, f, cube / far


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
    >>> import polhode as ph
    >>> moon = ph.surroundings.ephemeris("moon", "2026-03-20T12:00:00 UTC", 86400.0)
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(3.986004415e14), ph.loads.third_body("moon"),
    ...                   surroundings={"moon": moon})
    >>> ds = ph.integrate(craft, step=600.0, steps=144, position=(4.2164e7, 0, 0), velocity=(0, 3.0747e3, 0))
    >>> round(float(ds.position[-1, 2]))
    -574
    """
    name = identifier(of, "of")
    if mu is None and name not in BODIES:
        raise InvalidInput(f"mu is missing; polhode knows that of {', '.join(BODIES)}, not of {name!r}")
    size = BODIES[name] if mu is None else number(mu, "mu", "m**3 / s**2", positive=True)
    load = made(tide, "third_body", {"of": name, "mu": size}, mu=size)
    return replace(load, name=f"third_body_{name}", reads={"other": name})
