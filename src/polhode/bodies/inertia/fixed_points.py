"""Bodies with a fixed point: their inertia about it, and whether that is symmetric."""

from __future__ import annotations

from math import frexp, sqrt
from typing import Any

import numpy as np

from polhode.arguments import Array, ArrayLike, choice, in_unit, number, vector
from polhode.arguments.recorded import plain
from polhode.bodies.inertia.mass_properties import MassProperties, mass_of
from polhode.bodies.inertia.principal_axes import moments_and_frame
from polhode.bodies.inertia.second_moments import KG_M2, parallel_axis, parallel_axis_inverse
from polhode.errors import InvalidInput

STANDARD_GRAVITY = 9.81
POINTS = ("fixed_point", "center_of_mass")


def symmetry_axis(inertia: ArrayLike, center: Array) -> Array | None:
    """The body axis through the fixed point and the centre of mass if the inertia is symmetric about it, else None."""
    tensor, c = np.asarray(inertia, dtype=float), np.asarray(center, dtype=float)
    if not any(c.tolist()):
        return None
    # Scaling by powers of two is exact and avoids overflow of squares and sums.
    tensor, c = (np.ldexp(a, -frexp(max(map(abs, a.ravel().tolist())))[1]) for a in (tensor, c))
    a, t = (axis := c / sqrt(c @ c)).tolist(), (tensor if tensor.ndim == 2 else np.diag(tensor)).tolist()
    along = sum(a[i] * t[i][j] * a[j] for i in range(3) for j in range(3))
    across = (t[0][0] + t[1][1] + t[2][2] - along) / 2
    beside = [t[i][j] - (along - across) * a[i] * a[j] - across * (i == j) for i in range(3) for j in range(3)]
    return axis if max(map(abs, beside)) <= 1e-14 * max(abs(entry) for row in t for entry in row) else None


def about_fixed_point(inertia: Array, center: Array, mass: float, about: str, physical: bool) -> Array:
    """The inertia about the fixed point of a body with this mass; refused if physically impossible."""
    moments_and_frame(inertia, physical)  # checks it as given
    if about == "center_of_mass":
        try:
            return parallel_axis(inertia, mass, center)
        except InvalidInput as refused:
            raise InvalidInput(str(refused).replace("offset", "center_of_mass")) from None
    if not physical:
        return inertia
    try:
        parallel_axis_inverse(inertia, mass, center)
    except InvalidInput:
        raise InvalidInput(
            f"inertia is too small to be about the fixed point of a body with mass {mass:g} at that center_of_mass; "
            "if it is about the centre of mass, say so with inertia_about='center_of_mass'"
        ) from None
    return inertia


def held_at_a_point(
    inertia: Any, center_of_mass: object, weight: object, mass: Any, gravity: object, inertia_about: Any, physical: bool
) -> tuple[Any, ...]:
    """A body with a fixed point from the arguments of ``heavy_top``: its inertia about that, principal moments and
    axes, centre of mass and weight, and what it was made from."""
    inertia = in_unit(inertia, KG_M2, "inertia")
    if center_of_mass is None:
        if not isinstance(inertia, MassProperties):
            raise InvalidInput("center_of_mass is missing; give its position relative to the fixed point")
        if not inertia.center_of_mass.any():
            raise InvalidInput("the centre of mass of inertia is the origin of its axes, which is the fixed point; "
                               "move the body with translated, or give center_of_mass")  # fmt: skip
        center_of_mass = inertia.center_of_mass
    center = vector(center_of_mass, "center_of_mass", unit="m")
    if isinstance(inertia, MassProperties):  # its inertia is about its centre of mass, its mass known
        own = mass_of(inertia, mass)
        mass = own if weight is None else mass
        inertia, inertia_about = parallel_axis(inertia.inertia, own, center), "fixed_point"
    choice(inertia_about, "inertia_about", POINTS)
    if mass is None:
        if weight is None:
            raise InvalidInput("neither weight nor mass is given; give the weight, or the mass (and gravity)")
        if inertia_about != "fixed_point":
            raise InvalidInput(
                f"inertia_about is {inertia_about!r}, but the mass is not given; give mass (and gravity) instead of "
                "weight"
            )
        if number(gravity, "gravity", "m / s**2") != STANDARD_GRAVITY:
            raise InvalidInput("gravity and weight are both given; keep the weight, or give mass and gravity")
        weight, tensor = number(weight, "weight", "N"), inertia
        recorded: dict[str, Any] = {"weight": weight}
    else:
        if weight is not None:
            raise InvalidInput("weight and mass are both given; keep one of them (the weight is mass times gravity)")
        mass, gravity = number(mass, "mass", "kg", positive=True), number(gravity, "gravity", "m / s**2")
        weight = mass * gravity
        tensor = about_fixed_point(inertia, center, mass, inertia_about, physical)
        recorded = {"mass": mass, "gravity": gravity, "inertia_about": inertia_about}
    moments, frame = moments_and_frame(tensor, physical)
    recorded = {"inertia": plain(inertia), "center_of_mass": center.tolist(), **recorded}
    return tensor, moments, frame, center, weight, recorded
