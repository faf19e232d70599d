"""What is fixed in the body of a ``spacecraft``: thrusters, plates and magnetic dipoles; the air and light they meet,
which are those of ``polhode.forces``, with a pressure for the acceleration; and what does as it is commanded, magnetic
torquers and thrusters that fire in pulses.

These are ``polhode.loads.torquers`` and ``polhode.loads.pulsed_thrusters``, and the states that those bring. The force
on torquers, some 1e-11 N per A m^2 in a low orbit, is neglected.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from types import SimpleNamespace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from polhode import loads
from polhode.arguments import UNKNOWN, Array, ArrayLike, array, in_unit, number, unit_vector, vector, words
from polhode.arguments.recorded import called, each_made, made_by, plain
from polhode.bodies.body import Body
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel import jit
from polhode.loads import Load, pulsed_thrusters as pulsed_load, torquers as torquers_load
from polhode.loads.load import around
from polhode.loads.magnetism import of_moment
from polhode.loads.surfaces import lit, struck
from polhode.loads.thrust import CLOSES, COMMAND, FIRED, OPEN, nothing, pushed_by, times_of
from polhode.surroundings.air import AirByModel
from polhode.surroundings.magnetic import field_of, quantity
from polhode.surroundings.paths import Circle, Ephemerides
from polhode.surroundings.surrounding import Surrounding
from polhode.systems.builders import EMPTY, empty, of_one
from polhode.systems.forces import Force, drag, radiation_pressure
from polhode.systems.forces.acting import axes_of
from polhode.systems.record import AuxiliaryVariable, Switch


# ------------------------------------------------------------------ devices as loads
@functools.lru_cache(jit.KEPT_KERNELS)
def on_plates(act: Callable[..., Any], light: bool) -> Callable[..., Any]:
    """A load on plates, of air or of light, whose pressure is the force of another load on a unit of mass."""

    def pressure(body, given):
        return act(SimpleNamespace(position=body.position, velocity=body.velocity, mass=1.0), **given)["force"]

    def in_air(body, area, normal, position, **given):
        return struck(body, pressure(body, given), area, normal, position)

    def in_light(body, along, mirrored, scattered, normal, position, **given):
        return lit(body, pressure(body, given), along, mirrored, scattered, normal, position)

    return around(in_light if light else in_air, act)


# ------------------------------------------------------------------ devices fixed in the body
@dataclass(frozen=True)
class Device:
    """A thruster, a plate or a magnetic dipole."""

    arguments: Mapping[str, Any]  # its arguments in JSON types
    # its vectors, user's body frame: force and torque of a thruster; normal and position of a plate; the moment
    vectors: tuple[Array, ...]
    numbers: tuple[float, ...]  # its other numbers


@answering
@words.described_by(loads.thrust)
def thruster(
    force: Annotated[ArrayLike, words.Form.NUMBER_OR_VECTOR, words.Unit("N")],
    *,
    direction: words.Vector | None = None,
    position: words.Position = (0.0, 0.0, 0.0),
    start: words.Time | None = None,
    stop: words.Time | None = None,
) -> Device:
    """A thruster fixed in the body, firing for start <= t < stop; steps are cut at both times.

    Parameters
    ----------
    force : float or array_like (3,)
        Magnitude of the force on the body, with ``direction``; or the force vector, in body axes.
    direction : array_like (3,), optional
        Direction of the force on the body, in body axes; any length.

    Examples
    --------
    >>> import polhode as ph
    >>> jet = ph.systems.thruster(0.5, direction=(1, 0, 0), position=(0, 0.8, 0), start=10.0, stop=12.0)
    >>> craft = ph.spacecraft((9.0, 7.0, 6.0), ph.planets.EARTH.mu, mass=120.0, thrusters=[jet])
    >>> ds = ph.integrate(craft, step=0.5, steps=40, position=(6878e3, 0, 0), velocity=(0, 7.613e3, 0))
    >>> round(float(ds.angular_velocity[-1, 2]), 3)
    -0.133
    """
    force, direction = in_unit(force, "N", "force"), in_unit(direction, UNKNOWN, "direction")
    if not isinstance(force, list | tuple | np.ndarray) or np.ndim(array(force, "force")) == 0:
        size = number(force, "force", "N")
        if direction is None:
            raise InvalidInput("direction is missing; give it beside the size of the force, or the force as 3 numbers")
        F = size * np.array(unit_vector(direction, "direction"))
    else:
        if direction is not None:
            raise InvalidInput("direction is given beside a force of 3 numbers; give the size of the force alone")
        F = vector(force, "force", unit="N")
    x = vector(position, "position", unit="m")
    with np.errstate(over="ignore", invalid="ignore"):
        torque = np.cross(x, F)
    if not np.isfinite(torque).all():
        raise InvalidInput("position times force is a torque beyond 1e308; check their units")
    when = times_of(start, stop)
    arguments = {"force": plain(force), "direction": plain(direction), "position": plain(x), **when}
    return Device(
        {name: value for name, value in arguments.items() if value is not None},
        (F, torque), (when.get("start", -inf), when.get("stop", inf)),
    )  # fmt: skip


@answering
def plate(
    area: Annotated[float, words.Unit("m2")],
    normal: words.Vector,
    *,
    position: words.Position = (0.0, 0.0, 0.0),
    drag_coefficient: float | None = None,
    specular: float | None = None,
    diffuse: float | None = None,
    absorbed: float | None = None,
) -> Device:
    """A flat plate fixed in the body, with one side exposed to air and sunlight.

    Parameters
    ----------
    area : float
        Area, length^2.
    normal : array_like (3,)
        Outward normal of the exposed side, in body axes; any length. For both sides give two plates.
    position : array_like (3,)
        Centre of the plate relative to the centre of mass, in body axes.
    drag_coefficient : float, optional
        Drag coefficient; without it the plate has no drag.
    specular, diffuse, absorbed : float, optional
        Fractions of the light that are reflected specularly, reflected diffusely and absorbed; give at least two, of
        sum 1. Without them light exerts no force.

    Examples
    --------
    >>> import polhode as ph
    >>> panel = ph.systems.plate(0.5, (0, 1, 0), position=(0.8, 0, 0), drag_coefficient=2.2)
    >>> craft = ph.spacecraft((9.0, 7.0, 6.0), ph.planets.EARTH.mu, mass=120.0, plates=[panel],
    ...                       atmosphere={"density": 1e-12, "radius": 6.878e6, "scale": 6e4})
    >>> ds = ph.integrate(craft, step=10.0, steps=60, position=(6878e3, 0, 0), velocity=(0, 7.613e3, 0))
    >>> round(float(ds.angular_velocity[-1, 2]), 5)
    -0.0019
    """
    size, e = number(area, "area", "m**2", positive=True), np.array(unit_vector(normal, "normal"))
    x = vector(position, "position", unit="m")
    against = 0.0 if drag_coefficient is None else number(drag_coefficient, "drag_coefficient", positive=True)
    given = {"specular": specular, "diffuse": diffuse, "absorbed": absorbed}
    shares = {name: number(value, name) for name, value in given.items() if value is not None}
    for name, value in shares.items():
        if not 0.0 <= value <= 1.0:
            raise InvalidInput(f"{name} is {value:g}; a share of the light lies between 0 and 1")
    reflected = (0.0, 0.0, 0.0)
    if shares:
        left = 1.0 - sum(shares.values())
        if len(shares) == 1 or left < -1e-9 or (len(shares) == 3 and left > 1e-9):
            raise InvalidInput(
                f"specular, diffuse and absorbed must have the sum 1, but {' + '.join(shares)} are "
                f"{sum(shares.values()):g}; give two of them, or three that fit"
            )
        mirrored = shares.get("specular", max(left, 0.0))
        scattered = shares.get("diffuse", max(left, 0.0))
        reflected = (size * (1.0 - mirrored), 2.0 * size * mirrored, 2.0 / 3.0 * size * scattered)
    arguments = {"area": size, "normal": plain(normal), "position": plain(x)}
    arguments |= ({} if drag_coefficient is None else {"drag_coefficient": against}) | shares
    return Device(arguments, (e, x), (against * size, *reflected))


@answering
def magnetic_dipole(moment: Annotated[ArrayLike, words.Form.VECTOR, words.Unit("A_m2")]) -> Device:
    """A magnetic moment fixed in the body of a spacecraft: a permanent magnet, or what its currents leave.

    Its torque is ``moment x B``, with B from ``magnetic_field``; the force on it, some 1e-11 N per A m^2
    in a low orbit, is neglected.

    Parameters
    ----------
    moment : array_like (3,)
        Magnetic moment in body axes, torque / field (A m^2).

    Raises
    ------
    InvalidInput
        The moment is not 3 finite numbers.

    Examples
    --------
    >>> import polhode as ph
    >>> rod = ph.systems.magnetic_dipole((0.0, 0.0, 0.3))
    >>> craft = ph.spacecraft((0.02, 0.03, 0.03), ph.planets.EARTH.mu, dipoles=[rod], magnetic_field={"kind": "dipole"})
    >>> ds = ph.integrate(craft, step=1.0, steps=60, position=(6878e3, 0, 0), velocity=(0, 4.8e3, 5.9e3))
    >>> bool(abs(ds.angular_velocity[-1]).max() > 1e-3)
    True
    """
    M = vector(moment, "moment", unit="A m**2")
    return Device({"moment": plain(M)}, (M,), ())


def devices_of(given: object, make: Callable[..., Device], name: str) -> list[Device]:
    """Devices as records; errors name the device by its number."""

    def made(one: object) -> Device:
        if not isinstance(one, Device | Mapping):
            raise InvalidInput(f"it must be made by polhode.systems.{make.__name__}, or a mapping of its arguments")
        return one if isinstance(one, Device) else called(make, one)

    return each_made(given, made, name, f"what polhode.systems.{make.__name__} makes")


@words.described_by(drag)
def atmosphere(
    *,
    density: Annotated[float, words.Unit("kg_m3")] | None = None,
    radius: words.Length | None = None,
    scale: words.Length | None = None,
    table: words.Rows | None = None,
    air: AirByModel | None = None,
    rotation: words.Rate | None = None,
    axis: words.Vector = (0.0, 0.0, 1.0),
) -> Force:
    """Air that plates meet.

    It is that of ``forces.drag``, with a coefficient of 1.

    Parameters
    ----------
    density : float, optional
        At radius, mass / length^3.
    table : array_like (n, 2), optional
        Rows of radius and density.
    air : Air, optional
        From ``polhode.surroundings.nrlmsis``, or a mapping of its arguments.
    """
    return drag(
        coefficient=1.0, density=density, radius=radius, scale=scale, table=table, air=air, rotation=rotation,
        axis=axis,
    )  # fmt: skip


@words.described_by(radiation_pressure)
def sunlight(
    pressure: Annotated[float, words.Unit("N_m2")],
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
    """Light that plates meet.

    It is that of ``forces.radiation_pressure``, with a pressure for the acceleration.

    Parameters
    ----------
    pressure : float
        In full light, on a black plate that faces the Sun, mass / (length time^2).
    distance : float, optional
        Distance from the Sun where the pressure is the one given; elsewhere it follows the inverse square.
    """
    try:
        return radiation_pressure(
            in_unit(pressure, "Pa", "pressure"), direction=direction, position=position, times=times,
            positions=positions, circle=circle, ephemeris=ephemeris, distance=distance, shadow=shadow, radius=radius,
            sun_radius=sun_radius,
        )  # fmt: skip
    except InvalidInput as refused:
        raise InvalidInput(str(refused).replace("acceleration", "pressure")) from None


def met_by(plates: Sequence[Device], air: object, light: object) -> tuple[list[Force], dict[str, Any]]:
    """Air and sunlight on plates from their arguments, as forces, and the record of their arguments."""
    made: list[Force] = []
    arguments: dict[str, Any] = {}
    for build, given, own, what, meets in (
        (atmosphere, air, "coefficient", "a drag_coefficient", any(one.numbers[0] for one in plates)),
        (sunlight, light, "acceleration", "shares of light (specular, diffuse)",
         any(any(one.numbers[1:]) for one in plates)),
    ):  # fmt: skip
        name = build.__name__
        if given is None:
            if meets:
                raise InvalidInput(f"plates have {what}, but there is no {name}; give it, or leave them out")
            continue
        if not isinstance(given, Mapping):
            raise InvalidInput(f"{name} must be a mapping of its arguments, not {shown(given)}")
        if not meets:
            raise InvalidInput(f"{name} is given, but no plate has {what}; give one of them, or leave it out")
        try:
            force = called(build, given)
        except InvalidInput as refused:
            raise InvalidInput(f"{name}: {refused}") from None
        made.append(force)
        arguments[name] = {key: value for key, value in force.arguments.items() if key not in ("kind", own)}
        if build is sunlight:
            arguments[name]["pressure"] = force.arguments[own]
    return made, arguments


# ------------------------------------------------------------------ what controllers command
WORDS = {
    "dipole_command": "commanded dipole moments of magnetic torquers",
    COMMAND: "commanded shares of the period in which thrusters fire", OPEN: "whether the valves of thrusters are open",
    CLOSES: "times at which the valves of thrusters close", FIRED: "how long thrusters have fired",
}  # fmt: skip


@dataclass(frozen=True)
class Equipment:
    """What is fixed in the body of a spacecraft and does what it is commanded."""

    maker: str  # the function that makes it
    arguments: Mapping[str, Any]  # what it is made from, in JSON types
    acting: Load
    dimension: str  # along which the labels of its states stand

    @property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """Its states, the commands first."""
        starts = ((name, one["start"] if isinstance(one, Mapping) else one) for name, one in self.acting.starts.items())
        return tuple(AuxiliaryVariable(name, str(k), True, True, float(x), self.dimension, "", WORDS[name])
                     for name, start in starts for k, x in enumerate(start))  # fmt: skip

    def load(self, axes: Array) -> Load:
        """Its load, with vectors in these axes."""
        numbers = {name: one @ axes if one.ndim == 2 else one for name, one in self.acting.parameters.items()}
        return replace(self.acting, parameters=numbers, starts={})

    def __repr__(self) -> str:
        return f"{self.maker}({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


@answering
@functools.wraps(torquers_load, assigned=("__doc__", "__annotations__"))
def magnetic_torquers(axes: ArrayLike, max_dipole: ArrayLike | None = None, *, command: ArrayLike = 0.0) -> Equipment:
    acting = torquers_load(axes, max_dipole, command=command)
    given = {"max_dipole": max_dipole, "command": command}
    sizes = {name: plain(in_unit(one, "A * m**2", name)) for name, one in given.items() if one is not None}
    return Equipment("magnetic_torquers", {"axes": plain(axes), **sizes}, acting, "torquer")


@answering
@functools.wraps(pulsed_load, assigned=("__doc__", "__annotations__"))
def pulsed_thrusters(*arguments: Any, **given: Any) -> Equipment:
    acting = pulsed_load(*arguments, **given)
    return Equipment("pulsed_thrusters", acting.recorded or {}, replace(acting, kind="thrust"), "pulsed_thruster")


# ------------------------------------------------------------------ all of it
COMMANDED: dict[str, Any] = {"torquers": magnetic_torquers, "pulsed_thrusters": pulsed_thrusters}


IDLE = {name: Load(nothing, name, kind="idle") for name in ("wheels", "gyros")}
"""Where the works of rotors stand among those of loads."""


class Fitted(NamedTuple):
    """What is fixed in the bodies of spacecraft."""

    thrusters: list[Device]
    plates: list[Device]
    magnets: list[Device]
    meets: list[Force]  # the air and the light that plates meet
    moved: list[Equipment]  # torquers, pulsed thrusters
    rotors: Iterable[str]  # "wheels", "gyros"
    around: list[Surrounding]  # the field
    arguments: dict[str, Any]  # all of it but thrusters and plates by argument

    @property
    def empty(self) -> bool:
        """Whether there is nothing."""
        return not (self.thrusters or self.plates or self.magnets or self.moved or self.rotors)

    @property
    def variables(self) -> list[AuxiliaryVariable]:
        """The states of what is commanded but rotors."""
        return [variable for one in self.moved for variable in one.variables]

    def loads(self, frame: Iterable[float]) -> list[Load]:
        """Its loads, with vectors in the axes of this frame."""
        if not (self.thrusters or self.plates or self.magnets or self.moved):
            return [IDLE[name] for name in self.rotors]
        axes = axes_of(frame)

        def turned(devices: Sequence[Device], k: int) -> Array:
            return np.array([one.vectors[k] for one in devices]) @ axes

        found = []
        if self.thrusters:
            times = [one.numbers for one in self.thrusters]
            switches = tuple(Switch(k, start, stop, f"thrusters[{k}]") for k, (start, stop) in enumerate(times)
                             if (start, stop) != (-inf, inf))  # fmt: skip
            given = {"firing": np.ones(len(times)), "force": turned(self.thrusters, 0),
                     "torque": turned(self.thrusters, 1)}  # fmt: skip
            found.append(Load(pushed_by, "thrusters", given, kind="thrust", flagged=switches))
        for force in self.meets:
            load: Any = force.load
            light, sizes = force.kind != "drag", np.array([one.numbers for one in self.plates]).T
            own = zip(("along", "mirrored", "scattered") if light else ("area",), sizes[light:], strict=False)
            numbers = {"normal": turned(self.plates, 0), "position": turned(self.plates, 1), **dict(own)}
            found.append(replace(load, function=on_plates(load.function, light), name=f"{force.kind} on plates",
                                 watches=force.watches, parameters={**load.parameters, **numbers}))  # fmt: skip
        if self.magnets:
            moment = np.sum([one.vectors[0] for one in self.magnets], axis=0) @ axes
            found.append(Load(of_moment, "dipoles", {"moment": moment}, kind="magnet"))
        found += [IDLE[name] for name in self.rotors]
        return found + [one.load(axes) for one in self.moved]


def fitted(
    bodies: Sequence[Body], thrusters: object, plates: object, atmosphere: object, sunlight: object,
    magnetic_field: object, dipoles: object, torquers: object, pulsed_thrusters: object,
) -> Fitted:  # fmt: skip
    """What is fixed in these bodies, checked.

    Parameters
    ----------
    thrusters : sequence
        From ``polhode.systems.thruster``, or mappings of its arguments.
    plates : sequence
        From ``polhode.systems.plate``, or mappings of its arguments.
    atmosphere : mapping, optional
        For plates with a drag coefficient: arguments of ``forces.drag`` that describe the air (``density``, ``radius``,
        ``scale``, or ``table`` or ``air``, ``rotation``, ``axis``).
    sunlight : mapping, optional
        For plates that reflect or absorb light: ``pressure`` and the other arguments of ``forces.radiation_pressure``.
    magnetic_field : MagneticField, optional
        From ``polhode.surroundings.magnetic_field``, or a mapping of its arguments: the field that dipoles and torquers
        meet.
    dipoles : sequence
        From ``polhode.systems.magnetic_dipole``, or mappings of its arguments; their torque is moment x field.
    torquers : Torquers, optional
        From ``polhode.systems.magnetic_torquers``, or a mapping of its arguments, for one spacecraft: coils or rods
        whose moments are the state ``dipole_command``, which controllers set.
    pulsed_thrusters : PulsedThrusters, optional
        From ``polhode.systems.pulsed_thrusters``, or a mapping of its arguments, for one spacecraft: thrusters that
        fire for a share of each period, the state ``thruster_command``, which controllers set.
    """
    own = bodies[0].rotors
    bare = atmosphere is sunlight is magnetic_field is torquers is pulsed_thrusters is None
    if bare and empty(thrusters, plates, dipoles):
        return Fitted(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, own, EMPTY, own)
    field = None if magnetic_field is None else field_of(magnetic_field)
    moved = {}
    for (name, make), given in zip(COMMANDED.items(), (torquers, pulsed_thrusters), strict=True):
        if given is not None:
            moved[name] = made_by(make, Equipment, given, name, f"systems.{make.__name__}")
            if name == "torquers" and field is None:
                raise InvalidInput("torquers are given, but there is no magnetic_field; give it, or leave them out")
            of_one(name, len(bodies))
    burning = devices_of(thrusters, thruster, "thrusters")
    panels = devices_of(plates, plate, "plates")
    meets, record = met_by(panels, atmosphere, sunlight)
    magnets = devices_of(dipoles, magnetic_dipole, "dipoles")
    if magnets and field is None:
        raise InvalidInput("dipoles are given, but there is no magnetic_field; give it, or leave them out")
    record |= {} if field is None else {"magnetic_field": field, "dipoles": magnets}
    around = [] if field is None else [quantity(field).named("field")]
    return Fitted(burning, panels, magnets, meets, [*moved.values()], own, around, {**record, **own, **moved})
