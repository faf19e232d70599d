"""A constant acceleration."""

from __future__ import annotations

from typing import Annotated, Any

from polhode.algebra.so3 import dot
from polhode.arguments import vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Form, Unit
from polhode.errors import answering
from polhode.kernel.access import get3
from polhode.systems.forces.record import Force


def uniform_potential(p, at, mu, t, r):
    """-a . r, per unit mass."""
    return -dot(get3(p, at), r)


@answering
def uniform(
    acceleration: Annotated[Any, Form.VECTOR, Unit("m_s2")],
) -> Force:
    """A constant acceleration, such as sunlight from infinity without shadow.

    Parameters
    ----------
    acceleration : array_like (3,)
        Space frame, length / time^2.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.
    """
    a = vector(acceleration, "acceleration", unit="m / s**2")
    return Force(
        "uniform",
        "uniform acceleration",
        {"acceleration": plain(a)},
        tuple(a.tolist()),
        potential=uniform_potential,
        axial=not (a[0] or a[1]),
    )
