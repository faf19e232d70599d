"""Drag in an atmosphere."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from polhode.algebra.so3 import axpy, cross, dot
from polhode.algebra.so3 import scale as times
from polhode.arguments import UNKNOWN, number, unit_vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Length, Rate, Rows, Unit, Vector
from polhode.errors import InvalidInput, answering
from polhode.kernel.access import get3, segment
from polhode.surroundings.nrlmsis import ROTATION, Air, AirByModel, air_of, drag_in_air
from polhode.surroundings.paths import table_of_rows
from polhode.systems.forces.record import Force

COUNT, ROWS, ROW = 3, 4, 3
"""Behind the rotation: number of rows; index of the first, size of each (radius, k there, rate of log k by radius)."""
UNITS = {"kd": "1 / m", "coefficient": "m**2 / kg", "density": "kg / m**3", "radius": "m", "scale": "m"}
"""SI units of the arguments that describe the air."""


def drag_acceleration(p, at, mu, t, r, v):
    """-k(r) |u| u with u = v - rotation x r; log k is linear in r between the rows of a table."""
    u = axpy(-1.0, cross(get3(p, at), r), v)
    size = np.sqrt(dot(r, r))
    i = at + ROWS + ROW * segment(p, at + ROWS, ROW, int(p[at + COUNT]), size)
    k = p[i + 1] * np.exp(-(size - p[i]) * p[i + 2])
    return times(-k * np.sqrt(dot(u, u)), u)


@answering
def drag(
    *,
    kd: Annotated[float, Unit("per_m")] | None = None,
    coefficient: Annotated[float, Unit("m2_kg")] | None = None,
    density: Annotated[float, Unit("kg_m3")] | None = None,
    radius: Length | None = None,
    scale: Length | None = None,
    table: Rows | None = None,
    air: AirByModel | None = None,
    rotation: Rate | None = None,
    axis: Vector = (0.0, 0.0, 1.0),
) -> Force:
    """Quadratic drag ``-(1/2) (Cd A / m) rho(r) |u| u`` in an atmosphere that may co-rotate with the body.

    The density is ``density exp(-(r - radius) / scale)``, or a ``table``, or that of ``air``.

    Parameters
    ----------
    kd : float, optional
        ``(1/2) (Cd A / m) density`` at ``radius``, 1 / length; instead of ``coefficient`` and ``density``.
    coefficient : float, optional
        ``Cd A / m``, drag coefficient times area over mass, length^2 / mass.
    density : float, optional
        Density of the air at ``radius``, mass / length^3.
    radius, scale : float, optional
        Radius (not altitude) at which the density is given, and the scale height.
    table : array_like (n, 2), optional
        Rows of radius and density, n >= 2, radii rising, with ``coefficient``; the logarithm of the density is linear
        between rows and extrapolated beyond the ends. Its kinks at the rows limit methods to order 2 there.
    air : Air, optional
        From ``polhode.surroundings.nrlmsis``, or a mapping of its arguments, with ``coefficient``; SI units.
    rotation : float, optional
        Rotation rate of the atmosphere, rad / time, about ``axis``: u = v - rotation axis x r. By default 0; of ``air``
        that of the Earth.
    axis : array_like (3,)
        Axis of rotation, space frame; of ``air`` it is z.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong or missing.
    """
    given = {"kd": kd, "coefficient": coefficient, "density": density, "radius": radius, "scale": scale, "table": table,
             "air": air}  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    ways = (("kd", "radius", "scale"), ("coefficient", "density", "radius", "scale"), ("coefficient", "table"),
            ("coefficient", "air"))  # fmt: skip
    way = ways[3 if air is not None else 2 if table is not None else 0 if kd is not None else 1]
    for name in way:
        if name not in given:
            raise InvalidInput(f"{name} is missing; drag takes kd, radius and scale, or coefficient and density "
                               "instead of kd, or coefficient and table or air")  # fmt: skip
    for name in given:
        if name not in way:
            beside = way[-1] if way in ways[2:] else way[0]
            raise InvalidInput(f"{name} is given beside {beside}; leave one of them out")
    values = {name: number(given[name], name, UNITS[name], positive=True) for name in way if name in UNITS}
    if air is not None:
        return _in_air(air_of(air), values["coefficient"], rotation, axis)
    if table is None:
        k = values["kd"] if kd is not None else 0.5 * values["coefficient"] * values["density"]
        rows = [(values["radius"], k, 1.0 / values["scale"])]
    else:
        layers = table_of_rows(table, "table", 2, 2, UNKNOWN)
        if not ((np.diff(layers[:, 0]) > 0).all() and (layers > 0).all()):
            raise InvalidInput("table must have rising radii and positive densities; sort its rows")
        rates = -np.diff(np.log(layers[:, 1])) / np.diff(layers[:, 0])
        rows = [(r, 0.5 * values["coefficient"] * rho, rate) for (r, rho), rate in zip(layers[:-1], rates, strict=True)]
        values["table"] = layers.tolist()
    turning = number(0.0 if rotation is None else rotation, "rotation", "rad / s")
    k_axis = unit_vector(axis, "axis")
    arguments = {**values, "rotation": turning, "axis": plain(axis)}
    spin = (turning * k_axis[0], turning * k_axis[1], turning * k_axis[2])
    return Force(
        "drag",
        "drag in an atmosphere" + (" that turns" if turning else " at rest"),
        arguments,
        (*spin, float(len(rows)), *(float(x) for row in rows for x in row)),
        drag_acceleration,
        surface=True,
    )


def _in_air(air: Air, coefficient: float, rotation: Any, axis: Any) -> Force:
    """Drag in air by NRLMSIS."""
    if unit_vector(axis, "axis") != (0.0, 0.0, 1.0):
        raise InvalidInput(f"axis is {plain(axis)}, but air by NRLMSIS turns about z; leave it out")
    turning = ROTATION if rotation is None else number(rotation, "rotation", "rad / s")
    arguments = {"coefficient": coefficient, "air": dict(air.arguments), "rotation": turning, "axis": [0.0, 0.0, 1.0]}
    sun, rate, _, *rest = air.numbers
    numbers = (0.0, 0.0, turning, sun, rate, 0.5 * coefficient, *rest)
    return Force("drag", "drag in air by NRLMSIS", arguments, numbers, drag_in_air, surface=True)
