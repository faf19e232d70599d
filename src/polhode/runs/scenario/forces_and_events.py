"""The tables of a scenario that describe forces, what plates meet, and events."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from polhode.runs.scenario.values import (
    Acceleration,
    Angle,
    Function,
    Length,
    Mu,
    Number,
    Place,
    Rate,
    Table,
    Time,
    Vector,
)
from polhode.systems.words import Unit


class CirclePath(Table):
    """A circle about the centre."""

    radius: Length
    period: Annotated[Time, Field(description="time of one turn; negative: clockwise")]
    phase: Annotated[Angle, Field(description="rad, at time 0, from the ascending node on z = 0, or from x")] = 0.0
    normal: Vector | None = None


class ZonalForce(Table):
    """Gravity of a centre that is not a sphere but the same all around an axis."""

    kind: Literal["zonal"]
    radius: Annotated[Length, Field(description="reference radius of the coefficients")]
    J2: Number | None = None
    J3: Number | None = None
    J4: Number | None = None
    J5: Number | None = None
    J6: Number | None = None
    axis: Vector | None = None


class UniformForce(Table):
    """A constant acceleration."""

    kind: Literal["uniform"]
    acceleration: Annotated[Vector, Unit("m_s2")]


class ThirdBodyForce(Table):
    """Gravity of another body, less its pull on the centre."""

    kind: Literal["third_body"]
    mu: Mu
    position: Place | None = None
    times: Annotated[list[Number], Unit("s")] | None = None
    positions: Annotated[list[Vector], Unit("m")] | None = None
    circle: CirclePath | None = None


class DragForce(Table):
    """Quadratic drag in an atmosphere that turns."""

    kind: Literal["drag"]
    kd: Annotated[Number, Unit("per_m"), Field(description="(1/2) (Cd A / m) density at radius, 1 / length")] | None = (
        None
    )
    coefficient: Annotated[Number, Unit("m2_kg"), Field(description="Cd A / m")] | None = None
    density: Annotated[Number, Unit("kg_m3"), Field(description="at radius")] | None = None
    radius: Length | None = None
    scale: Annotated[Length, Field(description="height in which the density falls by e")] | None = None
    table: Annotated[list[list[Number]], Field(description="rows of radius and density")] | None = None
    rotation: Annotated[Rate, Field(description="of the atmosphere, rad / time")] | None = None
    axis: Vector | None = None


class RadiationPressureForce(Table):
    """Pressure of sunlight, with or without the shadow of the centre."""

    kind: Literal["radiation_pressure"]
    acceleration: Annotated[Acceleration, Field(description="in full light")]
    direction: Annotated[Vector, Field(description="towards a Sun infinitely far away")] | None = None
    position: Place | None = None
    times: Annotated[list[Number], Unit("s")] | None = None
    positions: Annotated[list[Vector], Unit("m")] | None = None
    circle: CirclePath | None = None
    distance: Annotated[Length, Field(description="from the Sun, where the acceleration is the one given")] | None = (
        None
    )
    shadow: Literal["none", "cylinder", "cone"] | None = None
    radius: Annotated[Length, Field(description="of the body that casts the shadow")] | None = None
    sun_radius: Length | None = None


class ThrustForce(Table):
    """Thrust of constant acceleration, or of a constant force that uses up mass."""

    kind: Literal["thrust"]
    acceleration: Acceleration | None = None
    direction: Literal["inertial", "velocity", "radial"] | None = None
    vector: Annotated[Vector, Field(description="for direction 'inertial'")] | None = None
    start: Time | None = None
    stop: Time | None = None
    force: (
        Annotated[Number, Unit("N"), Field(description="instead of acceleration, with one of the next two")] | None
    ) = None
    specific_impulse: Annotated[Number, Unit("s"), Field(description="where lengths are in metres")] | None = None
    exhaust_velocity: Annotated[Number, Unit("m_s")] | None = None


class ImpulseForce(Table):
    """A sudden change of velocity at a time."""

    kind: Literal["impulse"]
    time: Time
    delta_v: Annotated[
        Annotated[Number, Tag("<number>")] | Annotated[Vector, Tag("<vector>")],
        Discriminator(lambda value: "<vector>" if isinstance(value, list) else "<number>"),
        Unit("m_s"),
        Field(description="three numbers; one for frame 'velocity', negative to brake"),
    ]
    frame: Annotated[
        Literal["inertial", "rtn", "velocity"] | None,
        Field(description="axes of space (default); radial, transverse, normal; or along the velocity"),
    ] = None


AnyForce = Annotated[
    ZonalForce | UniformForce | ThirdBodyForce | DragForce | RadiationPressureForce | ThrustForce | ImpulseForce,
    Field(discriminator="kind"),
]


class Atmosphere(Table):
    """Air that plates meet."""

    density: Annotated[Number, Unit("kg_m3"), Field(description="at radius")] | None = None
    radius: Length | None = None
    scale: Annotated[Length, Field(description="height in which the density falls by e")] | None = None
    table: Annotated[list[list[Number]], Field(description="rows of radius and density")] | None = None
    rotation: Annotated[Rate, Field(description="rad / time")] | None = None
    axis: Vector | None = None


class Sunlight(Table):
    """Light that plates meet."""

    pressure: Annotated[Number, Unit("N_m2"), Field(description="in full light, on a black plate that faces the Sun")]
    direction: Annotated[Vector, Field(description="towards a Sun infinitely far away")] | None = None
    position: Place | None = None
    times: Annotated[list[Number], Unit("s")] | None = None
    positions: Annotated[list[Vector], Unit("m")] | None = None
    circle: CirclePath | None = None
    distance: Annotated[Length, Field(description="from the Sun, where the pressure is the one given")] | None = None
    shadow: Literal["none", "cylinder", "cone"] | None = None
    radius: Annotated[Length, Field(description="of the body that casts the shadow")] | None = None
    sun_radius: Length | None = None


Terminal = Annotated[bool, Field(description="the run ends at the first")]


class ApsisEvent(Table):
    """Least and greatest distance from the centre."""

    kind: Literal["apsis"]
    which: Literal["periapsis", "apoapsis"] | None = None
    terminal: Terminal = False


class NodeEvent(Table):
    """Crossings of a plane through the centre."""

    kind: Literal["node"]
    which: Literal["ascending", "descending"] | None = None
    normal: Annotated[Vector, Field(description="of the plane; default z")] | None = None
    terminal: Terminal = False


class AltitudeEvent(Table):
    """A height above a sphere."""

    kind: Literal["altitude"]
    height: Length
    radius: Annotated[Length, Field(description="of the sphere")]
    which: Literal["rising", "falling"] | None = None
    terminal: Terminal = False


class EclipseEvent(Table):
    """The edges of the shadow of the centre."""

    kind: Literal["eclipse"]
    radius: Annotated[Length, Field(description="of the body that casts the shadow")]
    direction: Annotated[Vector, Field(description="towards a Sun infinitely far away")] | None = None
    position: Place | None = None
    times: Annotated[list[Number], Unit("s")] | None = None
    positions: Annotated[list[Vector], Unit("m")] | None = None
    circle: CirclePath | None = None
    shadow: Literal["cylinder", "cone"] | None = None
    sun_radius: Length | None = None
    which: Literal["entry", "exit"] | None = None
    terminal: Terminal = False


class UserEvent(Table):
    """Zeros of a Python function (t, position, velocity, q, omega, parameters) -> number."""

    kind: Literal["user"]
    function: Function
    direction: Annotated[Literal[-1, 0, 1], Field(description="1 rising, -1 falling, 0 both")] = 0
    terminal: Terminal = False
    name: str | None = None


AnyEvent = Annotated[ApsisEvent | NodeEvent | AltitudeEvent | EclipseEvent | UserEvent, Field(discriminator="kind")]
