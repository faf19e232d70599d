r"""The gravity gradient of forces with a potential, such as harmonics of a field or third bodies, on a rigid body.

To second order in its size a body feels the potential as six points would, two on each principal axis e_k of its
inertia I, at a distance h from the centre of mass on either side, with the potential phi of a unit mass:

    V = -1/2 sum I_k (e_k . grad)^2 phi  =  -sum I_k / (2 h^2) (phi(r + h e_k) + phi(r - h e_k) - 2 phi(r))

where phi has no sources, so that a sphere feels nothing and the third axis may be left out. Force and torque are those
on the points, the exact gradient of the second form. With h a ten-thousandth of the distance both forms differ by
(n h / r)^2 / 12 for harmonics of degree n, 3e-7 for 20, of a part that is itself a thousandth of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from polhode.kernel import jit
from polhode.loads import Load
from polhode.loads.harmonics import LEVEL
from polhode.programs.attitude import matrix_of
from polhode.programs.memory import MOST_TERMS
from polhode.surroundings.harmonics import DEGREE, gravity_field_potential
from polhode.systems.forces.acting import called, is_traceable
from polhode.systems.forces.record import Force, is_own

REACH = 1e-4
"""Distance of the points from the centre of mass, over that from the centre of attraction."""


@lru_cache(jit.KEPT_KERNELS)
def on_points(acceleration: jit.Made, potential: jit.Made, rate: jit.Made | None, kernel: Any) -> Callable[..., Any]:
    """The function of a load on the points, of a force with these functions, or with this kernel."""
    pull, depth, change = (one and one.function for one in (acceleration, potential, rate))

    def here(numbers, t, mu, r):
        """Acceleration, potential and rate of the potential at a place."""
        if kernel is not None:
            more = (mu,) * (len(kernel.takes) > 2)
            slopes = kernel.slopes(numbers, t, r, *more)
            return -slopes[1:], kernel(numbers, t, r, *more), slopes[0]
        at = (numbers.p, numbers.at, mu, t, tuple(r))
        slope = 0.0 if change is None else change(*at)
        return np.array(pull(*at, (0.0, 0.0, 0.0))), depth(*at), slope

    def acting(body, t, numbers, mu, axes, moments=None):
        r, R, I = body.position, matrix_of(body.principal), body.moments if moments is None else moments
        h = REACH * (r @ r) ** 0.5
        pulled, level, rate = here(numbers, t, mu, r)
        total = {"potential": 0.0, "potential_rate": 0.0, "force": np.zeros(3), "torque": np.zeros(3)}
        for k in range(len(axes)):
            weight, d = (I[2] - I[k]) / (2.0 * h * h), R @ axes[k]
            over, under = here(numbers, t, mu, r + h * d), here(numbers, t, mu, r - h * d)
            total = {
                "potential": total["potential"] + weight * (over[1] + under[1] - 2.0 * level),
                "potential_rate": total["potential_rate"] + weight * (over[2] + under[2] - 2.0 * rate),
                "force": total["force"] + weight * (over[0] + under[0] - 2.0 * pulled),
                "torque": total["torque"] + weight * h * body.in_body(np.cross(d, over[0] - under[0])),
            }
        return total

    return acting


def loads_on_points(forces: Sequence[Force], loads: Sequence[Load], axes: Any, moments: Any) -> list[Load]:
    """The loads on the points of those forces that have a potential."""
    found = []
    for force, load in zip(forces, loads, strict=True):
        if force.impulse is not None or not force.conservative:
            continue
        kernel: Any = None
        if force.compiled[1] is gravity_field_potential and force.numbers[DEGREE] > MOST_TERMS:
            kernel = LEVEL
        elif not all(is_own(one) for one in force.compiled if one is not None) and not is_traceable(force):
            kernel = called(force)
        given = {**load.parameters, "axes": axes} | ({} if moments is None else {"moments": moments})
        found.append(replace(load, function=on_points(*force.made, kernel), parameters=given, kind="points"))
    return found
