"""Pressure of the air and of sunlight."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from polhode.arguments import number, unit_vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Acceleration, Length, Position, Positions, Rate, Rows, Times, Unit, Vector
from polhode.errors import InvalidInput, answering
from polhode.loads.load import made
from polhode.loads.surfaces import in_layers, in_light, in_model, in_shade
from polhode.surroundings.air import layers_of
from polhode.surroundings.ephemerides import Ephemerides
from polhode.surroundings.light import sizes_of
from polhode.surroundings.nrlmsis import ROTATION, Air, AirByModel, air_of
from polhode.surroundings.paths import Circle, path_to_sun
from polhode.surroundings.surrounding import Table
from polhode.systems.events import edges_of_shadow
from polhode.systems.forces.record import Force

UNITS = {"kd": "1 / m", "coefficient": "m**2 / kg", "density": "kg / m**3", "radius": "m", "scale": "m"}
"""SI units of the arguments that describe the air."""


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

    See Also
    --------
    polhode.loads.drag : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> air = ph.forces.drag(coefficient=0.02, density=1e-11, radius=6778e3, scale=60e3)
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[air])
    >>> ds = ph.integrate(craft, step=60.0, steps=60, position=(6778e3, 0, 0), velocity=(0, 7.67e3, 0))
    >>> round(float(ds.energy[-1] - ds.energy[0]), 1)
    -154.7
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
    values: dict[str, Any] = {
        name: number(given[name], name, UNITS[name], positive=True) for name in way if name in UNITS
    }
    if air is not None:
        return _in_air(air_of(air), values["coefficient"], rotation, axis)
    if table is None:
        k = values["kd"] if kd is not None else 0.5 * values["coefficient"] * values["density"]
        numbers = Table((1.0, values["radius"], k, 1.0 / values["scale"]))
    else:
        values["table"], numbers = layers_of(table, "radii", 0.5 * values["coefficient"])
    turning = number(0.0 if rotation is None else rotation, "rotation", "rad / s")
    k_axis = unit_vector(axis, "axis")
    arguments = {**values, "rotation": turning, "axis": plain(axis)}
    return Force(
        "drag", "drag in an atmosphere" + (" that turns" if turning else " at rest"), arguments,
        load=made(in_layers, "drag", air=numbers, spin=turning * np.array(k_axis)),
        surface=True, velocity_dependent=True,
    )  # fmt: skip


def _in_air(air: Air, coefficient: float, rotation: Any, axis: Any) -> Force:
    """Drag in air by NRLMSIS."""
    if unit_vector(axis, "axis") != (0.0, 0.0, 1.0):
        raise InvalidInput(f"axis is {plain(axis)}, but air by NRLMSIS turns about z; leave it out")
    turning = ROTATION if rotation is None else number(rotation, "rotation", "rad / s")
    arguments = {"coefficient": coefficient, "air": dict(air.arguments), "rotation": turning, "axis": [0.0, 0.0, 1.0]}
    load = made(in_model, "drag", air=Table(air.numbers), half=0.5 * coefficient, spin=(0.0, 0.0, turning))
    return Force("drag", "drag in air by NRLMSIS", arguments, load=load, surface=True, velocity_dependent=True)


@answering
def radiation_pressure(
    acceleration: Acceleration,
    *,
    direction: Vector | None = None,
    position: Position | None = None,
    times: Times | None = None,
    positions: Positions | None = None,
    circle: Circle | None = None,
    ephemeris: Ephemerides | None = None,
    distance: Length | None = None,
    shadow: Literal["none", "cylinder", "cone"] = "none",
    radius: Length | None = None,
    sun_radius: Length | None = None,
) -> Force:
    """Pressure of sunlight, away from the Sun, with or without the shadow of the centre.

    Parameters
    ----------
    acceleration : float
        In full sunlight, length / time^2: pressure times reflectivity times area over mass.
    direction : array_like (3,), optional
        Towards a Sun infinitely far away; or else its position:
    position, times, positions, circle, ephemeris
        As for ``third_body``.
    distance : float, optional
        Distance from the Sun at which the acceleration holds; elsewhere it follows the inverse square. Without it the
        acceleration has the same size everywhere.
    shadow : {"none", "cylinder", "cone"}
        "cylinder": on or off, as behind a body lit from infinity. "cone": the fraction of the Sun's disc that is not
        covered by the body, with the discs taken as flat. Steps are cut at the edges of either.
    radius : float, optional
        Radius of the body at the centre that casts the shadow.
    sun_radius : float, optional
        Radius of the Sun, for the cone: 6.957e8 in metres.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong or missing.

    See Also
    --------
    polhode.loads.radiation : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> light = ph.forces.radiation_pressure(1e-7, direction=(1.0, 0.0, 0.0), shadow="cylinder", radius=6378e3)
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[light])
    >>> ds = ph.integrate(craft, step=60.0, steps=90, position=(6878e3, 0, 0), velocity=(0, 7.613e3, 0))
    >>> round(float(ds.energy[30] - ds.energy[0]), 3)
    0.945
    """
    strength = number(acceleration, "acceleration", "m / s**2", positive=True)
    path = path_to_sun(direction, position, times, positions, circle, ephemeris)
    for name, value in (("distance", distance), ("sun_radius", sun_radius)):
        if direction is not None and value is not None:
            raise InvalidInput(f"{name} needs a place of the Sun; give position instead of direction")
    sizes = sizes_of(shadow, distance, radius, sun_radius)
    body, sun = sizes.get("radius", 0.0), sizes.get("sun_radius", 0.0)
    behind = {"none": "without shadow", "cylinder": "with a cylindrical shadow", "cone": "with shadow and penumbra"}
    more = {name: sizes[name] for name in ("distance", *("radius", "sun_radius") * (shadow == "cone")) if name in sizes}
    return Force(
        "radiation_pressure", f"pressure of sunlight {behind[shadow]}",
        {"acceleration": strength, **path.arguments, **sizes, "shadow": shadow},
        load=made(in_light if shadow == "none" else in_shade, "radiation", sun=Table((1.0, *path.numbers)),
                  acceleration=strength, far=float(direction is not None), **more),
        conservative=shadow == "none", autonomous=path.still, surface=True,
        watches=edges_of_shadow(path, body, sun, shadow, 0),
    )  # fmt: skip
