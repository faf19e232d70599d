"""Torques of a magnetic field on what is fixed in bodies; they read it from the surroundings."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from polhode.arguments import ArrayLike, of_each, unit_vectors, vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Form, Unit, Vectors
from polhode.errors import InvalidInput, answering
from polhode.loads.load import Load, made

Moments = Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("A_m2")]


def of_moment(body, field, moment):
    """moment x B."""
    return {"torque": np.cross(moment, body.in_body(field))}


def of_commands(body, field, dipole_command, axes):
    """sum d_k a_k x B."""
    return of_moment(body, field, dipole_command @ axes)


def within_limits(body, field, dipole_command, axes, max_dipole):
    """sum d_k a_k x B, d_k the commands within their limits."""
    return of_commands(body, field, np.clip(dipole_command, -max_dipole, max_dipole), axes)


@answering
def magnet(moment: Annotated[ArrayLike, Form.VECTOR, Unit("A_m2")]) -> Load:
    """A permanent magnetic dipole fixed in a body: the torque ``moment x B``; its force, far smaller, is neglected.

    It reads ``field`` (T, space) from the surroundings.

    Parameters
    ----------
    moment : array_like (3,)
        Magnetic dipole moment (A m2, body axes).

    Examples
    --------
    >>> import polhode as ph
    >>> craft = ph.system(ph.body("craft", 4.0, (0.02, 0.03, 0.03)), ph.loads.central(3.986004415e14),
    ...                   ph.loads.magnet((0, 0, 0.1)), surroundings={"field": ph.surroundings.dipole_field()})
    >>> ds = ph.integrate(craft, step=1.0, steps=60, position=(6.878e6, 0, 0), velocity=(0, 4.8e3, 5.9e3))
    >>> ds.angular_velocity[-1].values.round(4)
    array([ 0.001 , -0.0007,  0.    ])
    """
    return made(of_moment, "magnet", moment=vector(moment, "moment", unit="A * m**2"))


@answering
def torquers(axes: Vectors, max_dipole: Moments | None = None, *, command: Moments = 0.0) -> Load:
    """Magnetic torquers fixed in a body: coils or rods with commanded dipole moments, in the field that they meet.

    They read ``field`` (T, space) from the surroundings, and bring the state ``dipole_command`` (n,), A m2, which stays
    until a controller sets it. Their torque is ``sum d_k a_k x B``, with the moments d_k along the axes a_k.

    Parameters
    ----------
    axes : array_like (n, 3)
        Axes, body axes; any length.
    max_dipole : float or array_like (n,), optional
        Largest dipole moments (A m2); larger commands are cut.
    command : float or array_like (n,)
        Dipole moments (A m2) at the start.

    Returns
    -------
    Load
        For a ``spacecraft`` take ``polhode.systems.magnetic_torquers``, which has the same arguments.

    Raises
    ------
    InvalidInput
        Names the invalid argument; a command beyond the limit.

    Examples
    --------
    >>> import polhode as ph
    >>> coils = ph.loads.torquers([(1, 0, 0), (0, 1, 0)], 0.2, command=(0.1, 0.0))
    >>> craft = ph.system(ph.body("craft", 4.0, (0.02, 0.03, 0.03)), ph.loads.central(3.986004415e14), coils,
    ...                   surroundings={"field": ph.surroundings.dipole_field()})
    >>> ds = ph.integrate(craft, step=1.0, steps=60, position=(6.878e6, 0, 0), velocity=(0, 4.8e3, 5.9e3))
    >>> ds.angular_velocity[-1].values.round(4)
    array([ 0.    , -0.0047, -0.0008])
    """
    e = unit_vectors(axes, "axes")
    first = of_each(command, "command", len(e), "torquers", "A * m**2")
    starts = {"dipole_command": {"start": first.tolist(), "unit": "A m2"}}
    if max_dipole is None:
        return made(of_commands, "torquers", {"axes": plain(axes)}, axes=e).states(**starts)
    most = of_each(max_dipole, "max_dipole", len(e), "torquers", "A * m**2")
    if not (most > 0.0).all():
        raise InvalidInput(f"max_dipole is {float(most.min()):g}; give a positive number")
    if (np.abs(first) > most).any():
        k = int(np.argmax(np.abs(first) > most))
        raise InvalidInput(f"torquer {k} is saturated from the start: its command is {abs(first[k]):g}, the largest "
                           f"moment {most[k]:g}; give a smaller command, or raise max_dipole")  # fmt: skip
    recorded = {"axes": plain(axes), "max_dipole": plain(most)}
    return made(within_limits, "torquers", recorded, axes=e, max_dipole=most).states(**starts)
