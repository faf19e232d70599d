"""The kinds of forces: gravity, drag and sunlight, thrust and impulses."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Annotated, Any, Literal

import numpy as np

from polhode import loads
from polhode.arguments import ArrayLike, choice, number, unit_vector, vector, words
from polhode.arguments.recorded import plain
from polhode.errors import InvalidInput, answering
from polhode.loads.gravity import harmonics, oblate, of_harmonics, tide_along, uniform_pull
from polhode.loads.load import made
from polhode.loads.surfaces import in_layers, in_light, in_model, in_shade
from polhode.loads.thrust import FRAMES, changed_by, pushed_along, pushed_forwards, pushed_outwards, times_of
from polhode.surroundings.air import ROTATION, AirByModel, air_of, layers_of
from polhode.surroundings.gravity_fields import GravityField, harmonics_of
from polhode.surroundings.light import sizes_of, sunlight
from polhode.surroundings.paths import Circle, Ephemerides, ephemeris_of, path, path_of, path_to_sun
from polhode.surroundings.planets import Orientation
from polhode.surroundings.surrounding import Table
from polhode.systems.events import edges_of_shadow
from polhode.systems.forces.record import Force
from polhode.systems.record import Switch


@answering
def zonal(
    *,
    radius: words.Length,
    J2: float = 0.0,
    J3: float = 0.0,
    J4: float = 0.0,
    J5: float = 0.0,
    J6: float = 0.0,
    axis: words.Vector = (0.0, 0.0, 1.0),
) -> Force:
    """Zonal gravity: the field of a centre that is symmetric about an axis but not spherical.

    Parameters
    ----------
    radius : float
        Reference radius R of the coefficients, length.
    J2, J3, J4, J5, J6 : float
        Zonal coefficients, unnormalised: the potential per unit mass is ``mu / r sum J_n (R / r)^n P_n``, in addition
        to ``-mu / r``. An oblate body has a positive J2.
    axis : array_like (3,)
        Axis of symmetry towards the north pole, space frame.

    See Also
    --------
    polhode.loads.zonal : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> flattening = ph.forces.zonal(radius=6378136.3, J2=1.0826e-3)
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[flattening])
    >>> ds = ph.integrate(craft, step=60.0, steps=1440, position=(7078e3, 0, 0), velocity=(0, -1.04e3, 7.43e3))
    >>> last = ph.kepler.classical_elements(ds.position[-1], ds.velocity[-1], ph.planets.EARTH.mu)
    >>> round(float(last.node), 4)
    0.0168
    """
    coefficients = [number(value, f"J{n}") for n, value in enumerate((J2, J3, J4, J5, J6), 2)]
    if not any(coefficients):
        raise InvalidInput("J2 to J6 are all zero; give at least one of them, or leave this force out")
    top = max(n for n, J in enumerate(coefficients, 2) if J)
    k = unit_vector(axis, "axis")
    arguments = {f"J{n}": J for n, J in enumerate(coefficients, 2) if J} | {
        "radius": number(radius, "radius", "m", positive=True),
        "axis": plain(axis),
    }
    numbers = {"radius": arguments["radius"], "axis": k}
    numbers |= {f"J{n}": J for n, J in enumerate(coefficients[: top - 1], 2)}
    return Force(
        "zonal", f"zonal gravity up to degree {top}", arguments, load=made(oblate, "zonal", **numbers),
        conservative=True,
    )  # fmt: skip


@answering
@words.described_by(harmonics)
def gravity_field(
    field: str | GravityField,
    *,
    degree: int | None = None,
    order: int | None = None,
    rotation: words.Rate | None = None,
    angle: words.Angle = 0.0,
    axis: words.Vector = (0.0, 0.0, 1.0),
    orientation: Orientation | None = None,
    digest: str = "",
) -> Force:
    """Gravity of the centre by spherical harmonics, beyond that of a point.

    Parameters
    ----------
    field : str or GravityField
        Name of a field that comes with polhode (``"egm2008"``, degree 20), path of an ICGEM file (``.gfc``), or what
        ``polhode.surroundings.gravity_field`` has read; of one that was changed since, runs cannot be repeated. Units
        are those of the field, SI: those of the run must be the same.

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong; a file that cannot be read, by its line.

    See Also
    --------
    polhode.loads.harmonics : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> field = ph.forces.gravity_field("egm2008", degree=8)
    >>> craft = ph.orbit(3.986004415e14, forces=[field])
    >>> ds = ph.integrate(craft, step=60.0, steps=60, position=(6778e3, 0, 0), velocity=(0, 4.8e3, 6.0e3))
    >>> bool(abs(ds.energy_error).max() < 1e-6)
    True
    """
    found = harmonics_of(field, degree, order, rotation, angle, axis, orientation, digest)
    told = found.arguments
    return Force(
        "gravity_field", f"gravity field {found.name} to degree {told['degree']} and order {told['order']}", told,
        load=of_harmonics(found), conservative=True, autonomous=found.still, centre=found.mu,
    )  # fmt: skip


@answering
def uniform(acceleration: Annotated[ArrayLike, words.Form.VECTOR, words.Unit("m_s2")]) -> Force:
    """A constant acceleration, such as sunlight from infinity without shadow.

    Parameters
    ----------
    acceleration : array_like (3,)
        Space frame, length / time^2.

    Examples
    --------
    >>> import polhode as ph
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[ph.forces.uniform((1e-6, 0.0, 0.0))])
    >>> ds = ph.integrate(craft, step=60.0, steps=60, position=(6778e3, 0, 0), velocity=(0, 7.67e3, 0))
    >>> bool(abs(ds.energy_error).max() < 1e-6)
    True
    """
    a = vector(acceleration, "acceleration", unit="m / s**2")
    return Force(
        "uniform", "uniform acceleration", {"acceleration": plain(a)},
        load=made(uniform_pull, "uniform", acceleration=Table(a.tolist())), conservative=True,
    )  # fmt: skip


@answering
@words.described_by(path)
def third_body(
    mu: words.GravitationalParameter | None = None,
    *,
    position: words.Position | None = None,
    times: words.Times | None = None,
    positions: words.Positions | None = None,
    circle: Circle | None = None,
    ephemeris: Ephemerides | None = None,
) -> Force:
    """Gravity of another body, minus its pull on the centre, the origin of the frame.

    Near the centre the direct and the indirect term nearly cancel; their difference is computed by a formula without
    cancellation [battin1999].

    Parameters
    ----------
    mu : float, optional
        Gravity constant times mass of the body; by default that of the ephemeris' body.

    See Also
    --------
    polhode.loads.third_body : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> moon = ph.forces.third_body(4.9028e12, circle={"radius": 3.844e8, "period": 2.3606e6})
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[moon])
    >>> ds = ph.integrate(craft, step=600.0, steps=144, position=(42164e3, 0, 0), velocity=(0, 3.0747e3, 0))
    >>> round(float(ds.position[-1, 0]) / 1e3)
    42158
    """
    path = path_of(position, times, positions, circle, ephemeris)
    if mu is None and ephemeris is None:
        raise InvalidInput("mu is missing; give the gravity parameter of the body, or an ephemeris, which has it")
    mu = number(ephemeris_of(ephemeris).mu if mu is None else mu, "mu", "m**3 / s**2", positive=True)
    if path.still and not any(path.numbers[1:]):
        raise InvalidInput("position is zero, the place of the centre; give the place of the other body")
    return Force(
        "third_body", f"gravity of another body {path.words}", {"mu": mu, **path.arguments},
        load=made(tide_along, "third_body", path=Table(path.numbers), mu=mu), conservative=True, autonomous=path.still,
    )  # fmt: skip


UNITS = {"kd": "1 / m", "coefficient": "m**2 / kg", "density": "kg / m**3", "radius": "m", "scale": "m"}
"""SI units of the arguments that describe the air."""


@answering
def drag(
    *,
    kd: Annotated[float, words.Unit("per_m")] | None = None,
    coefficient: Annotated[float, words.Unit("m2_kg")] | None = None,
    density: Annotated[float, words.Unit("kg_m3")] | None = None,
    radius: words.Length | None = None,
    scale: words.Length | None = None,
    table: words.Rows | None = None,
    air: AirByModel | None = None,
    rotation: words.Rate | None = None,
    axis: words.Vector = (0.0, 0.0, 1.0),
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
        made_air, C = air_of(air), values["coefficient"]
        if unit_vector(axis, "axis") != (0.0, 0.0, 1.0):
            raise InvalidInput(f"axis is {plain(axis)}, but air by NRLMSIS turns about z; leave it out")
        turning = ROTATION if rotation is None else number(rotation, "rotation", "rad / s")
        told = {"coefficient": C, "air": dict(made_air.arguments), "rotation": turning, "axis": [0.0, 0.0, 1.0]}
        load = made(in_model, "drag", air=Table(made_air.numbers), half=0.5 * C, spin=(0.0, 0.0, turning))
        return Force("drag", "drag in air by NRLMSIS", told, load=load, surface=True, velocity_dependent=True)
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


@answering
@words.described_by(path, sunlight)
def radiation_pressure(
    acceleration: words.Acceleration,
    *,
    direction: words.Vector | None = None,
    position: words.Position | None = None,
    times: words.Times | None = None,
    positions: words.Positions | None = None,
    circle: Circle | None = None,
    ephemeris: Ephemerides | None = None,
    distance: words.Length | None = None,
    shadow: Literal["none", "cylinder", "cone"] = "none",
    radius: words.Length | None = None,
    sun_radius: words.Length | None = None,
) -> Force:
    """Pressure of sunlight, away from the Sun, with or without the shadow of the centre.

    Parameters
    ----------
    acceleration : float
        In full sunlight, length / time^2: pressure times reflectivity times area over mass.
    direction : array_like (3,), optional
        Towards a Sun infinitely far away; or else its position:
    distance : float, optional
        Distance from the Sun at which the acceleration holds; elsewhere it follows the inverse square. Without it the
        acceleration has the same size everywhere.

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


STANDARD_GRAVITY = 9.80665  # m/s^2, by definition: exhaust velocity in m/s over specific impulse in s
DIRECTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "inertial": (pushed_along, "thrust in a fixed direction"),
    "velocity": (pushed_forwards, "thrust along the velocity"),
    "radial": (pushed_outwards, "radial thrust"),
}
"""Function of the load and description, by the direction."""


@answering
def thrust(
    acceleration: words.Acceleration | None = None,
    direction: Literal["inertial", "velocity", "radial"] = "inertial",
    *,
    vector: words.Vector | None = None,
    start: words.Time | None = None,
    stop: words.Time | None = None,
    force: words.Newtons | None = None,
    specific_impulse: words.Time | None = None,
    exhaust_velocity: words.Speed | None = None,
) -> Force:
    """Thrust for start <= t < stop: a constant acceleration, or a constant force that uses up mass.

    With a force, the acceleration is ``force / m(t)`` and the mass falls at the rate ``|force| / exhaust_velocity``
    from the mass given to ``orbit``, that before all burns. Several burns add up. Accelerations by drag and sunlight
    then grow as the mass falls.

    Parameters
    ----------
    acceleration : float
        Length / time^2; negative: against the direction. Propellant mass is neglected. Or give ``force``.
    direction : {"inertial", "velocity", "radial"}
        Along ``vector``, along the velocity, or radially outwards.
    vector : array_like (3,), optional
        Direction for "inertial", space frame; any length.
    start, stop : float, optional
        Times of ignition and cut-off, at which steps are cut; always on without them. A force needs both.
    force : float, optional
        Mass length / time^2; negative: against the direction.
    specific_impulse : float, optional
        For a force, in seconds: the exhaust velocity over 9.80665 m/s^2; lengths must be metres.
    exhaust_velocity : float, optional
        Instead of ``specific_impulse``: length / time in any units.

    See Also
    --------
    polhode.loads.thrust : a force fixed in a body, as a load of ``polhode.system``.
    impulse : a change of velocity at once.

    Examples
    --------
    >>> import polhode as ph
    >>> burn = ph.forces.thrust(force=0.08, direction="velocity", specific_impulse=1600.0, start=600.0, stop=3000.0)
    >>> craft = ph.orbit(ph.planets.EARTH.mu, mass=300.0, forces=[burn])
    >>> ds = ph.integrate(craft, step=60.0, steps=60, position=(6778e3, 0, 0), velocity=(0, 7.67e3, 0))
    >>> round(300.0 - float(ds.mass[-1]), 4)
    0.0122
    """
    if (acceleration is None) == (force is None):
        problem = "both given; keep one of them" if force is not None else "both missing; thrust needs one of them"
        raise InvalidInput(f"acceleration and force are {problem}")
    size = number(acceleration, "acceleration", "m / s**2") if force is None else number(force, "force", "N")
    given = {"specific_impulse": specific_impulse, "exhaust_velocity": exhaust_velocity}
    units = {"specific_impulse": "s", "exhaust_velocity": "m / s"}
    burn = {name: number(value, name, units[name], positive=True) for name, value in given.items() if value is not None}
    if len(burn) != (force is not None):
        raise InvalidInput(
            "specific_impulse and exhaust_velocity are both given; keep one of them" if len(burn) == 2 else
            f"{next(iter(burn))} is given without force; give force instead of acceleration" if burn else
            "specific_impulse is missing; a force uses up mass: give it, or exhaust_velocity"
        )  # fmt: skip
    choice(direction, "direction", DIRECTIONS)
    if (direction == "inertial") != (vector is not None):
        problem = "is missing; thrust with direction 'inertial' needs it" if vector is None else (
            f"is given, but direction is {direction!r}; leave it out or choose direction 'inertial'"
        )  # fmt: skip
        raise InvalidInput(f"vector {problem}")
    along = {} if vector is None else {"direction": unit_vector(vector, "vector")}
    times = times_of(start, stop)
    for name in ("start", "stop"):
        if burn and name not in times:
            raise InvalidInput(f"{name} is missing; a force uses up mass and needs both times")
    speed = burn.get("exhaust_velocity", STANDARD_GRAVITY * burn.get("specific_impulse", inf))
    arguments: dict[str, Any] = {"acceleration" if force is None else "force": size}
    arguments |= {"direction": direction} | ({} if vector is None else {"vector": plain(vector)}) | times | burn
    pushing, words = DIRECTIONS[direction]
    what = words + ", using up mass" * bool(burn)
    return Force(
        "thrust", what, arguments, load=made(pushing, "thrust", firing=1.0, size=size, **along),
        velocity_dependent=direction == "velocity", autonomous=not times, flow=abs(size) / speed,
        switches=(Switch(0, times.get("start", -inf), times.get("stop", inf), what),) if times else (),
    )  # fmt: skip


@answering
@words.described_by(loads.impulse)
def impulse(
    time: words.Time,
    delta_v: Annotated[ArrayLike, words.Form.NUMBER_OR_VECTOR, words.Unit("m_s")],
    frame: Literal["inertial", "rtn", "velocity"] = "inertial",
) -> Force:
    """An instantaneous change of velocity at exactly this time, between two steps.

    Parameters
    ----------
    time : float
        Time at which it is applied, also at the first and last time of a run; rows at that time are after it.

    See Also
    --------
    thrust : an acceleration or force that lasts.
    polhode.loads.impulse : the same as a load of ``polhode.system``.

    Examples
    --------
    >>> import polhode as ph
    >>> burn = ph.forces.impulse(600.0, 50.0, frame="velocity")
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[burn])
    >>> ds = ph.integrate(craft, step=60.0, steps=20, position=(6778e3, 0, 0), velocity=(0, 7.67e3, 0))
    >>> round(float(ds.velocity[10].dot(ds.velocity[10]) ** 0.5), 1)
    7719.4
    """
    sudden = changed_by(number(time, "time", "s"), delta_v, frame)
    shown = sudden.delta_v[0] if frame == "velocity" else list(sudden.delta_v)
    return Force(
        "impulse", FRAMES[frame], {"time": sudden.time, "delta_v": shown, "frame": frame}, velocity_dependent=False,
        autonomous=False, impulse=sudden,
    )  # fmt: skip
