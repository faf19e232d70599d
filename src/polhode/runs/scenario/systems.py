"""The tables of a scenario that describe systems, forces on them and events."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from polhode.runs.scenario.units import Unit
from polhode.runs.scenario.values import (
    Acceleration,
    Angle,
    Function,
    Inertia,
    Length,
    Mass,
    Masses,
    Mu,
    Number,
    NumberOrList,
    Numbers,
    Place,
    Rate,
    Table,
    Time,
    Vector,
    VectorOrList,
)


class Particle(Table):
    """A point mass in a potential or under a force."""

    type: Literal["particle"]
    mass: Number = 1.0
    stiffness: (
        Annotated[
            Annotated[Number, Tag("<number>")] | Annotated[Vector, Tag("<vector>")],
            Discriminator(lambda value: "<vector>" if isinstance(value, list) else "<number>"),
        ]
        | None
    ) = None
    gravity: Vector | None = None
    force: Function | None = None
    potential: Function | None = None
    parameters: Numbers | None = None
    work: bool = True


class FreeBody(Table):
    """A rigid body without torque."""

    type: Literal["free_body"]
    inertia: Inertia


class RigidBody(Table):
    """A rigid body under the user's torque, potential or load."""

    type: Literal["rigid_body"]
    inertia: Inertia
    torque: Function | None = None
    potential: Function | None = None
    parameters: Numbers | None = None
    mass: Number | None = None
    load: Function | None = None
    work: bool = True


class HeavyTop(Table):
    """A rigid body with a fixed point, in uniform gravity: its weight is given, or its mass."""

    type: Literal["heavy_top"]
    inertia: Inertia
    center_of_mass: Annotated[Vector, Field(description="from the fixed point")]
    weight: Annotated[Number, Field(description="mass times gravity")] | None = None
    mass: Annotated[Number, Field(description="instead of weight")] | None = None
    gravity: Annotated[Number, Field(description="along -z of space, with mass; default 9.81")] | None = None
    inertia_about: (
        Annotated[
            Literal["fixed_point", "center_of_mass"],
            Field(description="the point of inertia; 'center_of_mass' needs mass; default 'fixed_point'"),
        ]
        | None
    ) = None


class GravityGradient(Table):
    """A rigid body in the gravity gradient of a distant centre along z of space."""

    type: Literal["gravity_gradient"]
    inertia: Inertia
    mu: Annotated[Mu, Field(description="gravity constant times mass of the centre, m^3/s^2 in SI")]
    radius: Annotated[Length, Field(description="distance of the centre, m in SI")]


class SoftWall(Table):
    """The pinned body with soft wall contact of Krysl's section 5.4."""

    type: Literal["soft_wall"]
    inertia: Inertia | None = None
    sign: Literal["printed", "physical"] = "printed"


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


class Orbit(Table):
    """A point mass, or several, that orbit a centre at the origin, under further forces."""

    type: Literal["orbit"]
    mu: Annotated[Mu, Field(description="gravity constant times mass of the centre, m^3/s^2 in SI")]
    mass: Annotated[Masses, Unit("kg")] = 1.0
    forces: list[AnyForce] | None = None
    surface: (
        Annotated[Length, Field(description="radius of the centre; a run that comes down to it ends there")] | None
    ) = None
    force: Function | None = None
    potential: Function | None = None
    parameters: Numbers | None = None


class Thruster(Table):
    """A thruster fixed in the body."""

    force: Annotated[
        Annotated[Number, Tag("<number>")] | Annotated[Vector, Tag("<vector>")],
        Discriminator(lambda value: "<vector>" if isinstance(value, list) else "<number>"),
        Unit("N"),
        Field(description="size, with direction; or 3 numbers in body axes"),
    ]
    direction: Annotated[Vector, Field(description="of the force on the body, body axes")] | None = None
    position: Annotated[Place, Field(description="from the centre of mass, body axes")] | None = None
    start: Time | None = None
    stop: Time | None = None


class Plate(Table):
    """A flat plate fixed in the body, one side of which meets air and sunlight."""

    area: Annotated[Number, Unit("m2")]
    normal: Annotated[Vector, Field(description="of the side that counts, outwards, body axes")]
    position: Annotated[Place, Field(description="from the centre of mass, body axes")] | None = None
    drag_coefficient: Number | None = None
    specular: Annotated[Number, Field(description="share of the light; two of these three")] | None = None
    diffuse: Number | None = None
    absorbed: Number | None = None


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


class Spacecraft(Table):
    """A rigid body that orbits a centre at the origin and turns."""

    type: Literal["spacecraft"]
    inertia: Inertia
    mu: Annotated[Mu, Field(description="gravity constant times mass of the centre, m^3/s^2 in SI")]
    mass: Annotated[Mass, Field(description="that of the body where inertia is a shape, else 1")] | None = None
    gravity_gradient: Annotated[bool, Field(description="whether it acts on orbit and attitude")] = True
    forces: list[AnyForce] | None = None
    thrusters: list[Thruster] | None = None
    plates: list[Plate] | None = None
    atmosphere: Atmosphere | None = None
    sunlight: Sunlight | None = None
    torque: Function | None = None
    force: Function | None = None
    load: Function | None = None
    potential: Function | None = None
    parameters: Numbers | None = None
    surface: (
        Annotated[Length, Field(description="radius of the centre; a run that comes down to it ends there")] | None
    ) = None


class GravitatingBodies(Table):
    """Point masses that attract each other."""

    type: Literal["gravitating_bodies"]
    mu: Annotated[list[Number], Field(description="gravity constant times mass of each")] | None = None
    mass: Annotated[list[Number], Field(description="of each, in the place of mu")] | None = None
    G: Annotated[Number, Field(description="gravity constant")] = 1.0


PeriodicBox = Annotated[NumberOrList, Field(description="edges of the periodic box, or its edge")]
CutOff = Annotated[Number, Field(description="distance of centres beyond which pairs do not act")]
SwitchFrom = Annotated[Number, Field(description="where the energy begins to fall to 0 at the cut-off")]
Skin = Annotated[Number, Field(description="by which lists of neighbours go beyond the cut-off; changes no number")]
Permittivity = Annotated[float, Field(description="relative permittivity beyond the cut-off, 1 or more; inf")]


class Dipoles(Table):
    """Soft spheres with dipoles."""

    type: Literal["dipoles"]
    n: Annotated[int, Field(description="how many bodies")]
    mass: Annotated[NumberOrList, Field(description="of all, or of each; that of a shape, else 1")] | None = None
    inertia: Inertia | None = None
    dipole: Annotated[VectorOrList, Field(description="body frame; of all, or of each")] | None = None
    sigma: Annotated[Number, Field(description="diameter")] = 1.0
    epsilon: Annotated[Number, Field(description="strength of the repulsion")] = 1.0
    attraction: Annotated[Number, Field(description="factor of the attraction; 1: Lennard-Jones")] = 0.0
    cutoff: CutOff | None = None
    switch: SwitchFrom | None = None
    skin: Skin | None = None
    box: PeriodicBox | None = None
    reaction_field: Permittivity | None = None


class RigidWater(Table):
    """Rigid water molecules; nm, ps, u and kJ / mol."""

    type: Literal["rigid_water"]
    n: Annotated[int, Field(description="how many molecules")]
    model: Annotated[Literal["spc/e", "tip3p", "tip4p/2005"], Field(description="geometry and charges")] = "spc/e"
    box: PeriodicBox | None = None
    density: Annotated[Number, Field(description="in the place of box, kg / m^3")] | None = None
    cutoff: CutOff | None = None
    switch: SwitchFrom | None = None
    skin: Skin | None = None
    reaction_field: Permittivity | None = None


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
