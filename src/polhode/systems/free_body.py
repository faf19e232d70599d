"""A rigid body without torque (Euler's free rigid body).

Equations of motion, in the body frame, with angular momentum ``m``, moments ``I`` and attitude ``R`` (body to space):

    m' = m x I^-1 m,        R' = R hat(I^-1 m)                                            [krysl2006, eq. 7]

Conserved: the kinetic energy ``m . I^-1 m / 2`` and the spatial angular momentum ``R m`` (so also ``|m|``).
"""

from __future__ import annotations

import numpy as np

from polhode.arguments import in_unit
from polhode.errors import answering
from polhode.systems.inertia import KG_M2, principal
from polhode.systems.loads_roles import no_loads, no_series
from polhode.systems.record import System, plain
from polhode.systems.words import Inertia


@answering
def free_body(inertia: Inertia) -> System:
    """A rigid body that rotates freely.

    Parameters
    ----------
    inertia : array_like (3,) or (3, 3)
        Principal moments in any order, or the full tensor in the user's body frame.

    Returns
    -------
    System

    Raises
    ------
    InvalidInput
        The inertia is invalid or physically impossible; the message names the entry.
    """
    inertia = in_unit(inertia, KG_M2, "inertia")
    moments, frame = principal(inertia)
    return System(
        name="free_body",
        arguments={"inertia": plain(inertia)},
        mass=np.array([np.inf]),
        moments=moments[None],
        frames=frame[None],
        commutator=no_loads,
        series=no_series,
        provides={"velocity_independent"},
        conserves=("energy", "angular_momentum_space"),
    )
