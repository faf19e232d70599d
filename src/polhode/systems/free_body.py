"""A rigid body without torque (Euler's free rigid body).

Equations of motion, in the body frame, with angular momentum ``m``, moments ``I`` and attitude ``R`` (body to space):

    m' = m x I^-1 m,        R' = R hat(I^-1 m)                                            [krysl2006, eq. 7]

Conserved: the kinetic energy ``m . I^-1 m / 2`` and the spatial angular momentum ``R m`` (so also ``|m|``).
"""

from __future__ import annotations

from math import inf

from polhode.arguments import in_unit, truth
from polhode.arguments.words import Inertia, Loads, described_by
from polhode.bodies.body import Body
from polhode.bodies.inertia import KG_M2, moments_and_frame
from polhode.errors import answering
from polhode.systems.builders import assembled, given_of
from polhode.systems.record import System


@answering
@described_by(given_of)
def free_body(inertia: Inertia, *, physical: bool = True, loads: Loads = ()) -> System:
    """A rigid body that rotates freely.

    Parameters
    ----------
    inertia : array_like (3,) or (3, 3)
        Principal moments in any order, or the full tensor in the user's body frame.
    physical : bool
        Whether a moment above the sum of the two others, which no body can have, is refused. Euler's equations alone
        are defined for any positive moments: those of textbooks, or of a body in a fluid with its added inertia.

    Raises
    ------
    InvalidInput
        The inertia is invalid, or impossible and ``physical``; the message names the entry.

    See Also
    --------
    rigid_body : a body under torques, with wheels and gyros.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.free_body((2, 1, 2 / 3), physical=False)
    >>> ds = ph.integrate(body, step=0.1, steps=200, angular_velocity=(0.01, 1, 0))
    >>> body.moments.round(3), bool(abs(ds.energy_error).max() < 1e-12)
    (array([[2.   , 1.   , 0.667]]), True)
    """
    inertia = in_unit(inertia, KG_M2, "inertia")
    one = Body("body", inf, *moments_and_frame(inertia, truth(physical, "physical")))
    arguments = {"inertia": inertia, **({} if physical else {"physical": False})}
    return assembled("free_body", [one], [], arguments, given_of({}, loads=loads))
