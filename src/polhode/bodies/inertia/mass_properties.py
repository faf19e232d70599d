"""Mass, centre of mass and inertia of a body, and how two bodies become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from polhode.algebra.quaternion import to_matrix
from polhode.arguments import array
from polhode.bodies.inertia.second_moments import (
    LARGEST,
    RELATIVE_TOLERANCE,
    Array,
    bounded,
    mass_from,
    parallel_axis,
    point_inertia,
    position_from,
    second_moments_from_inertia,
    tensor_from,
)
from polhode.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, centre of mass and inertia of a body, in some axes.

    ``+`` joins two bodies into one (also ``sum(parts)``): masses add, the centre of mass is the weighted mean, and the
    tensors add with the parallel-axis term of the reduced mass, m_1 m_2 / (m_1 + m_2).

    Attributes
    ----------
    mass : float
        Mass, positive.
    center_of_mass : ndarray, shape (3,)
        Centre of mass, from the origin of the axes.
    inertia : ndarray, shape (3, 3)
        Inertia tensor **about the centre of mass**, along the axes, in mass length^2; may be given as three moments.
        Zero moments (a point, a rod) are allowed for parts of a body; ``principal`` accepts a rod, but not a point.

    Raises
    ------
    InvalidInput
        On construction: wrong shape, not finite, not symmetric, a mass that is not positive, or a tensor that is
        physically impossible (a moment negative, or above the sum of the other two, by more than 1e-9 relative).
    """

    mass: float
    center_of_mass: Array
    inertia: Array

    def __post_init__(self) -> None:
        tensor = tensor_from(self.inertia, "inertia")
        bounded(tensor, "inertia", LARGEST**3)
        for k in range(3):
            if tensor[k, k] < 0.0:
                raise InvalidInput(f"inertia[{k},{k}] = {float(tensor[k, k])!r} is negative, which no body can have")
        half_trace = 0.5 * float(np.trace(tensor))
        lowest = float(np.linalg.eigvalsh(second_moments_from_inertia(tensor))[0])
        if lowest < -RELATIVE_TOLERANCE * half_trace:
            raise InvalidInput(
                f"the largest principal moment of inertia, {half_trace - lowest:.10g}, exceeds the sum of the other "
                f"two, {half_trace + lowest:.10g}, which no body can have; check the entries, and whether inertia is "
                "about the centre of mass"
            )
        object.__setattr__(self, "mass", mass_from(self.mass, "mass"))
        object.__setattr__(self, "center_of_mass", position_from(self.center_of_mass, "center_of_mass"))
        object.__setattr__(self, "inertia", tensor)
        self.center_of_mass.setflags(write=False)
        self.inertia.setflags(write=False)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """The inertia tensor about the centre of mass, so that a body can be passed as an inertia."""
        return np.array(self.inertia, dtype=dtype)

    def about(self, point: ArrayLike) -> Array:
        """Inertia tensor (3, 3) about ``point`` (3,), along the same axes, by the parallel-axis theorem."""
        return parallel_axis(self.inertia, self.mass, position_from(point, "point") - self.center_of_mass)

    def rotated(self, q: ArrayLike) -> MassProperties:
        """The body rotated by R(q) about the origin of the axes: centre R c, inertia R I R^T.

        To express a fixed body in other axes, use the inverse: if ``q`` maps new components to old ones, pass its
        conjugate. ``q`` is (w, x, y, z); a norm off by more than 1e-9 raises InvalidInput.
        """
        quaternion = array(q, "q")
        if quaternion.shape != (4,):
            raise InvalidInput(f"q must be 4 numbers (w, x, y, z), but its shape is {quaternion.shape}")
        norm = float(np.linalg.norm(quaternion))
        if abs(norm - 1.0) > RELATIVE_TOLERANCE:
            raise InvalidInput(f"q has norm {norm:.10g}, but a rotation needs a unit quaternion (w, x, y, z)")
        rotation = np.array(to_matrix(tuple(quaternion / norm))).reshape(3, 3)
        return MassProperties(self.mass, rotation @ self.center_of_mass, rotation @ self.inertia @ rotation.T)

    def translated(self, v: ArrayLike) -> MassProperties:
        """The body translated by ``v`` (3,): the centre of mass moves, the inertia about it stays."""
        return MassProperties(self.mass, self.center_of_mass + position_from(v, "v"), self.inertia)

    def __add__(self, other: object) -> MassProperties:
        if not isinstance(other, MassProperties):
            return NotImplemented
        total = self.mass + other.mass
        between = other.center_of_mass - self.center_of_mass
        reduced = self.mass * (other.mass / total)
        center = self.center_of_mass + (other.mass / total) * between
        return MassProperties(total, center, self.inertia + other.inertia + point_inertia(reduced, between))

    def __radd__(self, other: object) -> MassProperties:
        """``0 + body``, the first addition of ``sum``."""
        return self if isinstance(other, int) and other == 0 else NotImplemented


def mass_of(inertia: Any, mass: ArrayLike | None, usual: Any = None) -> Any:
    """The mass that belongs to an inertia: the given one, else that of ``MassProperties``, else the default.

    Parameters
    ----------
    inertia : MassProperties, sequence of them, or any inertia
        The user's inertia; only ``MassProperties`` have a mass.
    mass : float, array_like or None
        The user's mass.
    usual : anything
        Default, if neither gives a mass.

    Raises
    ------
    InvalidInput
        A mass that differs from that of the body.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.inertia.mass_of(ph.inertia.sphere(4.0, 0.3), None), ph.inertia.mass_of((1.0, 2.0, 2.5), 12.0)
    (4.0, 12.0)
    """
    bodies = inertia if isinstance(inertia, list | tuple) else [inertia]
    if (
        not bodies
        or not isinstance(bodies[0], MassProperties)
        or not all(isinstance(b, MassProperties) for b in bodies)
    ):
        return usual if mass is None else mass
    masses = [body.mass for body in bodies]
    if mass is not None and np.any(array(mass, "mass", "kg") != np.array(masses)):
        of = masses[0] if len(masses) == 1 else masses
        raise InvalidInput(f"mass is {mass!r}, but inertia is that of a body of mass {of!r}; leave mass out")
    if mass is not None:
        return mass
    return masses[0] if isinstance(inertia, MassProperties) else masses
