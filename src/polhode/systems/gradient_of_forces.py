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
from types import SimpleNamespace
from typing import Any

import numpy as np

from polhode.kernel import jit
from polhode.loads import Load
from polhode.loads.load import around
from polhode.programs.attitude import matrix_of
from polhode.systems.forces.record import Force

REACH = 1e-4
"""Distance of the points from the centre of mass, over that from the centre of attraction."""


@lru_cache(jit.KEPT_KERNELS)
def on_points(act: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a load on the points, from that on a point."""

    def acting(body, axes, moments=None, **given):
        r, R, I = body.position, matrix_of(body.principal), body.moments if moments is None else moments

        def at(position):
            found = act(SimpleNamespace(position=position, mass=1.0), **given)
            return found if isinstance(found, dict) else {"potential": found}

        h, here, torque = REACH * (r @ r) ** 0.5, at(r), np.zeros(3)
        total = dict.fromkeys(here, 0.0)
        for k in range(len(axes)):
            weight, d = (I[2] - I[k]) / (2.0 * h * h), R @ axes[k]
            over, under = at(r + h * d), at(r - h * d)
            total = {key: total[key] + weight * (over[key] + under[key] - 2.0 * here[key]) for key in here}
            if "force" in here:
                torque = torque + weight * h * body.in_body(np.cross(d, over["force"] - under["force"]))
        return {**total, "torque": torque} if "force" in here else total

    return around(acting, act)


def loads_on_points(forces: Sequence[Force], loads: Sequence[Load], axes: Any, moments: Any) -> list[Load]:
    """The loads on the points of those forces that have a potential."""
    more = {"axes": axes} | ({} if moments is None else {"moments": moments})
    return [
        replace(load, function=on_points(load.function), parameters={**load.parameters, **more})
        for force, load in zip(forces, loads, strict=True)
        if force.conservative
    ]
