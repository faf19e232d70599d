"""Scenarios: a run written down as a TOML file, checked before anything is computed.

    title = "Fast Lagrangian top"
    problem = "krysl_fast_top"        # or a [system] of one's own
    method = "trapm"                  # left out: the recommended one. Its options (tableau, sequence, ...) stand
                                      # beside it, or with its name in a table [method]

    [run]
    step = 2e-5                       # or rtol = 1e-8: steps chosen by this tolerance
    t_end = 20.0
    every = 100

A key may have its unit behind its name: ``position_km``, ``mu_m3_s2``, ``t_end_d``, ``inclination_deg``. Once one
beside angles has, the run is in SI: such values are turned into metres, kilograms and seconds, all others are taken to
be in them. An orbit may begin with its [elements] instead of a position and a velocity. Many bodies may begin on a
lattice, with attitudes and momenta drawn at random, by the functions of ``polhode.initial``:

    [initial]
    lattice = "cubic"                 # or "bcc", "fcc"; or draw = "gaussian"
    cells = 5
    noise = 0.01
    rotations = "random"
    temperature = 1.0                 # and/or energy = 20.0: momenta scaled to that total energy
    seed = 7

Every mistake in a file is reported at once, each with file, line and key. Python code named by a scenario
(``torque = "satellite.py:torque"``) is loaded only where the caller allows it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import tomllib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from math import pi
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
import xarray as xr
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from polhode.algebra import orbits, rotation
from polhode.arguments import path as checked_path
from polhode.arguments import truth
from polhode.errors import FileProblem, InvalidInput, PolhodeError, UserFunctionError, closest
from polhode.kernel import layout as L
from polhode.methods import method as find_method
from polhode.runs import turning
from polhode.runs.integrator import check_estimate
from polhode.runs.single import (
    ADAPTIVE,
    MOST_STEPS,
    Progress,
    check_moving,
    checked_breaks,
    integrate,
    sample_times,
    span,
    start_state,
    time_transformed_span,
    tolerances,
    whole,
)
from polhode.runs.store import SECONDS, LiveStore
from polhode.systems import SYSTEMS, System, inertia, initial, problem
from polhode.systems.events import EVENTS, Event, event_of, events_of
from polhode.systems.forces import FORCES, force_of
from polhode.trajectory import UNITS, suffix_of
from polhode.trajectory.epochs import epoch_of

# ------------------------------------------------------------------ what a file may say
Number = Annotated[float, Field(allow_inf_nan=False)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Matrix = Annotated[list[Vector], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[Number], Field(min_length=4, max_length=4)]
FUNCTION = r"^[^:]+\.py:[A-Za-z_]\w*$"
Function = Annotated[
    str, Field(pattern=FUNCTION, description="Python function as 'file.py:function', the file beside the scenario")
]
Numbers = Annotated[list[Number], Field(description="numbers handed to the functions")]


@dataclass(frozen=True)
class Unit:
    """Mark of a key that has a unit: which of IN_SI."""

    name: str


IN_SI: dict[str, dict[str, Decimal | float]] = {
    "m": {"m": Decimal(1), "km": Decimal(1000)},
    "s": {"s": Decimal(1), "min": Decimal(60), "h": Decimal(3600), "d": Decimal(86400)},
    "kg": {"kg": Decimal(1)},
    "m_s": {"m_s": Decimal(1), "km_s": Decimal(1000)},
    "m_s2": {"m_s2": Decimal(1), "km_s2": Decimal(1000)},
    "m3_s2": {"m3_s2": Decimal(1), "km3_s2": Decimal(10) ** 9},
    "kg_m_s": {"kg_m_s": Decimal(1)},
    "kg_m2": {"kg_m2": Decimal(1)},
    "kg_m2_s": {"kg_m2_s": Decimal(1)},
    "N": {"N": Decimal(1), "mN": Decimal("0.001")},
    "N_m2": {"N_m2": Decimal(1)},
    "m2": {"m2": Decimal(1)},
    "kg_m3": {"kg_m3": Decimal(1)},
    "m2_kg": {"m2_kg": Decimal(1)},
    "per_m": {"per_m": Decimal(1), "per_km": Decimal("0.001")},
    "rad": {"rad": 1.0, "deg": pi / 180.0},
    "rad_s": {"rad_s": 1.0, "deg_s": pi / 180.0},
}
"""Endings of keys, and how much of the SI unit each has; a decimal where it is exact."""
Length = Annotated[Number, Unit("m")]
Place = Annotated[Vector, Unit("m")]
Velocity = Annotated[Vector, Unit("m_s")]
Time = Annotated[Number, Unit("s")]
Angle = Annotated[Number, Unit("rad")]
Rate = Annotated[Number, Unit("rad_s")]
Mass = Annotated[Number, Unit("kg")]
Acceleration = Annotated[Number, Unit("m_s2")]
Mu = Annotated[Number, Unit("m3_s2")]


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Box(_Table):
    """Homogeneous box."""

    mass: Number
    sides: Vector


class Ellipsoid(_Table):
    """Homogeneous ellipsoid."""

    mass: Number
    semi_axes: Vector


class Sphere(_Table):
    """Homogeneous sphere or shell."""

    mass: Number
    radius: Number
    inner_radius: Number = 0.0


class Cylinder(_Table):
    """Homogeneous cylinder or tube, axis along z."""

    mass: Number
    radius: Number
    height: Number
    inner_radius: Number = 0.0


class Disk(_Table):
    """Flat disk or ring, axis along z."""

    mass: Number
    radius: Number
    inner_radius: Number = 0.0


class ThinRod(_Table):
    """Rod along z without thickness."""

    mass: Number
    length: Number


class PointMasses(_Table):
    """Rigidly connected point masses."""

    masses: list[Number]
    positions: list[Vector]


class Body(_Table):
    """Inertia from a shape: exactly one of the shapes, and the point it is about (default: the centre of mass)."""

    box: Box | None = None
    ellipsoid: Ellipsoid | None = None
    sphere: Sphere | None = None
    cylinder: Cylinder | None = None
    disk: Disk | None = None
    thin_rod: ThinRod | None = None
    point_masses: PointMasses | None = None
    about: Vector | None = None


def _kind_of_inertia(value: Any) -> str:
    if isinstance(value, Mapping | BaseModel):
        return "<body>"
    return "<tensor>" if isinstance(value, list) and value and isinstance(value[0], list) else "<moments>"


Inertia = Annotated[
    Annotated[Vector, Tag("<moments>")] | Annotated[Matrix, Tag("<tensor>")] | Annotated[Body, Tag("<body>")],
    Discriminator(_kind_of_inertia),
    Field(description="3 principal moments in any order, a 3x3 tensor, or a shape such as { box = { mass, sides } }"),
    Unit("kg_m2"),
]


class Particle(_Table):
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


class FreeBody(_Table):
    """A rigid body without torque."""

    type: Literal["free_body"]
    inertia: Inertia


class RigidBody(_Table):
    """A rigid body under the user's torque, potential or load."""

    type: Literal["rigid_body"]
    inertia: Inertia
    torque: Function | None = None
    potential: Function | None = None
    parameters: Numbers | None = None
    mass: Number | None = None
    load: Function | None = None
    work: bool = True


class HeavyTop(_Table):
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


class GravityGradient(_Table):
    """A rigid body in the gravity gradient of a distant centre along z of space."""

    type: Literal["gravity_gradient"]
    inertia: Inertia
    mu: Annotated[Mu, Field(description="gravity constant times mass of the centre, m^3/s^2 in SI")]
    radius: Annotated[Length, Field(description="distance of the centre, m in SI")]


class SoftWall(_Table):
    """The pinned body with soft wall contact of Krysl's section 5.4."""

    type: Literal["soft_wall"]
    inertia: Inertia | None = None
    sign: Literal["printed", "physical"] = "printed"


class CirclePath(_Table):
    """A circle about the centre."""

    radius: Length
    period: Annotated[Time, Field(description="time of one turn; negative: clockwise")]
    phase: Annotated[Angle, Field(description="rad, at time 0, from the ascending node on z = 0, or from x")] = 0.0
    normal: Vector | None = None


class ZonalForce(_Table):
    """Gravity of a centre that is not a sphere but the same all around an axis."""

    kind: Literal["zonal"]
    radius: Annotated[Length, Field(description="reference radius of the coefficients")]
    J2: Number | None = None
    J3: Number | None = None
    J4: Number | None = None
    J5: Number | None = None
    J6: Number | None = None
    axis: Vector | None = None


class UniformForce(_Table):
    """A constant acceleration."""

    kind: Literal["uniform"]
    acceleration: Annotated[Vector, Unit("m_s2")]


class ThirdBodyForce(_Table):
    """Gravity of another body, less its pull on the centre."""

    kind: Literal["third_body"]
    mu: Mu
    position: Place | None = None
    times: Annotated[list[Number], Unit("s")] | None = None
    positions: Annotated[list[Vector], Unit("m")] | None = None
    circle: CirclePath | None = None


class DragForce(_Table):
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


class RadiationPressureForce(_Table):
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


class ThrustForce(_Table):
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


class ImpulseForce(_Table):
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


Masses = Annotated[
    Annotated[Number, Tag("<number>")] | Annotated[list[Number], Tag("<list>")],
    Discriminator(lambda value: "<list>" if isinstance(value, list) else "<number>"),
    Field(description="one number, or one for each of several"),
]


class Orbit(_Table):
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


class Thruster(_Table):
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


class Plate(_Table):
    """A flat plate fixed in the body, one side of which meets air and sunlight."""

    area: Annotated[Number, Unit("m2")]
    normal: Annotated[Vector, Field(description="of the side that counts, outwards, body axes")]
    position: Annotated[Place, Field(description="from the centre of mass, body axes")] | None = None
    drag_coefficient: Number | None = None
    specular: Annotated[Number, Field(description="share of the light; two of these three")] | None = None
    diffuse: Number | None = None
    absorbed: Number | None = None


class Atmosphere(_Table):
    """Air that plates meet."""

    density: Annotated[Number, Unit("kg_m3"), Field(description="at radius")] | None = None
    radius: Length | None = None
    scale: Annotated[Length, Field(description="height in which the density falls by e")] | None = None
    table: Annotated[list[list[Number]], Field(description="rows of radius and density")] | None = None
    rotation: Annotated[Rate, Field(description="rad / time")] | None = None
    axis: Vector | None = None


class Sunlight(_Table):
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


class Spacecraft(_Table):
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


class GravitatingBodies(_Table):
    """Point masses that attract each other."""

    type: Literal["gravitating_bodies"]
    mu: Annotated[list[Number], Field(description="gravity constant times mass of each")] | None = None
    mass: Annotated[list[Number], Field(description="of each, in the place of mu")] | None = None
    G: Annotated[Number, Field(description="gravity constant")] = 1.0


NumberOrList = Annotated[
    Annotated[Number, Tag("<number>")] | Annotated[list[Number], Tag("<list>")],
    Discriminator(lambda value: "<list>" if isinstance(value, list) else "<number>"),
]
VectorOrList = Annotated[
    Annotated[Vector, Tag("<one>")] | Annotated[list[Vector], Tag("<each>")],
    Discriminator(lambda value: "<each>" if isinstance(value, list) and value[:1] and isinstance(value[0], list)
                  else "<one>"),
]  # fmt: skip
PeriodicBox = Annotated[NumberOrList, Field(description="edges of the periodic box, or its edge")]
CutOff = Annotated[Number, Field(description="distance of centres beyond which pairs do not act")]
SwitchFrom = Annotated[Number, Field(description="where the energy begins to fall to 0 at the cut-off")]
Skin = Annotated[Number, Field(description="by which lists of neighbours go beyond the cut-off; changes no number")]
Permittivity = Annotated[float, Field(description="relative permittivity beyond the cut-off, 1 or more; inf")]


class Dipoles(_Table):
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


class RigidWater(_Table):
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


class ApsisEvent(_Table):
    """Least and greatest distance from the centre."""

    kind: Literal["apsis"]
    which: Literal["periapsis", "apoapsis"] | None = None
    terminal: Terminal = False


class NodeEvent(_Table):
    """Crossings of a plane through the centre."""

    kind: Literal["node"]
    which: Literal["ascending", "descending"] | None = None
    normal: Annotated[Vector, Field(description="of the plane; default z")] | None = None
    terminal: Terminal = False


class AltitudeEvent(_Table):
    """A height above a sphere."""

    kind: Literal["altitude"]
    height: Length
    radius: Annotated[Length, Field(description="of the sphere")]
    which: Literal["rising", "falling"] | None = None
    terminal: Terminal = False


class EclipseEvent(_Table):
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


class UserEvent(_Table):
    """Zeros of a Python function (t, position, velocity, q, omega, parameters) -> number."""

    kind: Literal["user"]
    function: Function
    direction: Annotated[Literal[-1, 0, 1], Field(description="1 rising, -1 falling, 0 both")] = 0
    terminal: Terminal = False
    name: str | None = None


AnyEvent = Annotated[ApsisEvent | NodeEvent | AltitudeEvent | EclipseEvent | UserEvent, Field(discriminator="kind")]


def _kind_of_vectors(value: Any) -> str:
    if isinstance(value, int | float):
        return "<zero>"
    return "<vectors>" if isinstance(value, list) and value[:1] and isinstance(value[0], list) else "<vector>"


SPACE = Field(description="space frame; of several bodies a list of vectors, or one for all")
Vectors = Annotated[
    Annotated[Vector, Tag("<vector>")] | Annotated[list[Vector], Tag("<vectors>")],
    Discriminator(lambda value: "<vectors>" if _kind_of_vectors(value) == "<vectors>" else "<vector>"),
    SPACE,
]
Velocities = Annotated[
    Annotated[Vector, Tag("<vector>")]
    | Annotated[list[Vector], Tag("<vectors>")]
    | Annotated[Number, Tag("<zero>"), Field(ge=0, le=0, description="0: at rest")],
    Discriminator(_kind_of_vectors),
    SPACE,
]


def _one_or_each(value: Any) -> str:
    several = isinstance(value, list) and value[:1] and isinstance(value[0], list)
    return "<each>" if several else "<one>"


Quaternions = Annotated[
    Annotated[Quaternion, Tag("<one>")] | Annotated[list[Quaternion], Tag("<each>")],
    Discriminator(_one_or_each),
    Field(description="unit quaternion (w, x, y, z), body to space; of several bodies a list, or one for all"),
]
BodyVectors = Annotated[
    Annotated[Vector, Tag("<one>")] | Annotated[list[Vector], Tag("<each>")],
    Discriminator(_one_or_each),
    Field(description="body frame; of several bodies a list of vectors, or one for all"),
]
EachVector = Annotated[
    Annotated[Vector, Tag("<one>")] | Annotated[list[Vector], Tag("<each>")], Discriminator(_one_or_each)
]
NumbersOrRows = Annotated[
    Annotated[list[Number], Tag("<one>")] | Annotated[list[list[Number]], Tag("<each>")], Discriminator(_one_or_each)
]
Cells = Annotated[
    Annotated[int, Tag("<number>")] | Annotated[list[int], Tag("<list>"), Field(min_length=3, max_length=3)],
    Discriminator(lambda value: "<list>" if isinstance(value, list) else "<number>"),
    Field(description="of the lattice, along x, y, z; as many as hold all bodies unless given"),
]


class Initial(_Table):
    """Initial state: attitude in one of four forms, one angular velocity or momentum, and the motion through space.

    Of many bodies also drawn at random: places by a draw or on a lattice, attitudes by rotations, momenta by a
    temperature or an energy. Random numbers come from the seed.
    """

    attitude: Quaternions | None = None
    rotation_vector: Annotated[EachVector, Field(description="rad")] | None = None
    euler_angles: Annotated[EachVector, Field(description="rad, in the order of the sequence")] | None = None
    euler_angles_deg: Annotated[EachVector, Field(description="degrees, in the order of the sequence")] | None = None
    sequence: Annotated[str, Field(description="'ZXZ' intrinsic, 'zxz' extrinsic; default 'XYZ'")] | None = None
    angular_velocity: Annotated[BodyVectors, Unit("rad_s")] | None = None
    angular_momentum: Annotated[BodyVectors, Unit("kg_m2_s")] | None = None
    angular_velocity_space: Annotated[EachVector, Unit("rad_s"), Field(description="space frame")] | None = None
    angular_momentum_space: Annotated[EachVector, Unit("kg_m2_s"), Field(description="space frame")] | None = None
    coordinates: (
        Annotated[NumbersOrRows, Field(description="of a method with numbers of its own for attitudes")] | None
    ) = None
    clock: Annotated[list[Number], Field(description="of a method with a clock, to go on with its steps")] | None = None
    thermostat: Annotated[list[Number], Field(description="of a method with a heat bath, to go on with it")] | None = (
        None
    )
    compensation: (
        Annotated[NumbersOrRows, Field(description="of compensated sums, to go on with them: 6 numbers of each body")]
        | None
    ) = None
    position: Annotated[Vectors, Unit("m")] | None = None
    velocity: Annotated[Velocities, Unit("m_s")] | None = None
    momentum: Annotated[Vectors, Unit("kg_m_s")] | None = None
    draw: Annotated[Literal["gaussian"], Field(description="normal positions and random attitudes")] | None = None
    scale: Annotated[Length, Field(description="standard deviation of the draw; default: number of bodies")] | None = (
        None
    )
    lattice: Annotated[Literal[tuple(initial.LATTICES)], Field(description="of positions")] | None = None  # type: ignore[valid-type]
    cells: Cells | None = None
    spacing: (
        Annotated[Length, Field(description="edge of a cell; default: the largest that fits the box, else 1")] | None
    ) = None
    noise: Annotated[Number, Field(description="standard deviation of sites, in units of the spacing")] | None = None
    rotations: Annotated[Literal["random"], Field(description="attitudes uniform over all rotations")] | None = None
    temperature: (
        Annotated[Number, Field(description="of momenta and angular momenta from the Maxwell-Boltzmann distribution")]
        | None
    ) = None
    zero_total_momentum: Annotated[bool, Field(description="with temperature; default true")] | None = None
    exact_temperature: Annotated[bool, Field(description="scale momenta to the temperature; default false")] | None = (
        None
    )
    energy: Annotated[Number, Field(description="total energy, reached by scaling momenta")] | None = None
    energy_bodies: (
        Annotated[list[int], Field(description="whose momenta make up the energy, counted from 0; default: all")] | None
    ) = None
    seed: Annotated[int, Field(ge=0, description="of all random numbers; default 0, recorded")] | None = None


class Elements(_Table):
    """Classical elements of an orbit, instead of position and velocity: one of the three sizes, at most one anomaly."""

    semi_major_axis: Annotated[Length, Field(description="negative for a hyperbola")] | None = None
    semi_latus_rectum: Length | None = None
    periapsis: Annotated[Length, Field(description="distance from the centre")] | None = None
    eccentricity: Number = 0.0
    inclination: Annotated[Angle, Field(description="rad, from 0 to pi")] = 0.0
    node: Annotated[Angle, Field(description="rad, longitude of the ascending node from x")] = 0.0
    argument_of_periapsis: Annotated[Angle, Field(description="rad, from the node")] = 0.0
    true_anomaly: Annotated[Angle, Field(description="rad; default 0, the periapsis")] | None = None
    mean_anomaly: Annotated[Angle, Field(description="rad, instead of the true one")] | None = None


class MethodOptions(_Table):
    """Options of a method by name; which a method has, `polhode methods NAME` tells."""

    tableau: Annotated[str, Field(description="Runge-Kutta tableau")] | None = None
    map: Annotated[str, Field(description="'exp' or 'cayley'")] | None = None
    sequence: Annotated[str, Field(description="Euler angles: 'ZXZ' intrinsic, 'zxz' extrinsic")] | None = None
    branch: Annotated[str, Field(description="'principal', 'continuous' or 'tracked'")] | None = None
    center: Annotated[str, Field(description="chart of an implicit step: 'middle' or 'start'")] | None = None
    form: Annotated[str, Field(description="rates: 'printed', 'regularised', ...")] | None = None

    temperature: Annotated[float, Field(ge=0.0, description="of a heat bath, 'baoab'")] | None = None
    friction: Annotated[float, Field(ge=0.0, description="of a Langevin bath, 1/time")] | None = None
    friction_rotation: Annotated[float, Field(ge=0.0, description="the same of angular momenta")] | None = None
    seed: Annotated[int, Field(ge=0, description="of the random numbers of a Langevin bath")] | None = None
    tau: Annotated[float, Field(gt=0.0, description="relaxation time of Nose-Hoover chains")] | None = None
    chain: Annotated[int, Field(ge=1, description="links of a Nose-Hoover chain")] | None = None
    baths: Annotated[str, Field(description="Nose-Hoover chains: 'joint' or 'separate'")] | None = None

    def chosen(self) -> dict[str, Any]:
        """Those that are given."""
        given = {name: getattr(self, name) for name in MethodOptions.model_fields}
        return {name: value for name, value in given.items() if value is not None}


class MethodTable(MethodOptions):
    """A method with its options by name."""

    name: Annotated[str, Field(description="such as 'trapm' or 'mkrk:gauss4:cayley'; see `polhode methods`")]


class Run(_Table):
    """Step or tolerance, span, and what is recorded."""

    step: Annotated[Time, Field(description="positive")] | None = None
    rtol: (
        Annotated[Number, Field(description="instead of step: tolerance of a step, rad or relative, that chooses it")]
        | None
    ) = None
    atol: Annotated[Number, Field(description="absolute part of the tolerance; default 1e-3 rtol")] | None = None
    t_end: Annotated[Time, Field(description="with step a whole number of them from t0")] | None = None
    steps: Annotated[int, Field(description="instead of t_end, with step")] | None = None
    first_step: Annotated[Time, Field(description="with rtol: the first step to try")] | None = None
    max_step: Annotated[Time, Field(description="with rtol: the largest step")] | None = None
    max_steps: Annotated[int, Field(ge=1, description="with rtol: most steps to try")] | None = None
    t0: Time = 0.0
    since: Annotated[Time, Field(description="of a run that is the rest of another: where that began")] | None = None
    every: Annotated[int, Field(ge=1, description="record every this many steps")] = 1
    t_eval: Annotated[list[Number], Unit("s"), Field(description="record at exactly these times instead")] | None = None
    breaks: (
        Annotated[
            list[Number], Unit("s"), Field(description="times at which loads of your own jump: steps are cut there")
        ]
        | None
    ) = None
    guard: Annotated[bool, Field(description="refuse steps that turn a body too far for the method")] = True
    compensated: (
        Annotated[bool, Field(description="carry what rounding leaves out of positions and momenta")] | None
    ) = None
    units: Annotated[Literal[tuple(UNITS)], Field(description="how variables are labelled")] = "consistent"  # type: ignore[valid-type]
    epoch: (
        Annotated[str, Field(description="instant of time 0, such as '2030-01-01T00:00:00 TDB'; UTC unless it says so")]
        | None
    ) = None


class Output(_Table):
    """Where results go, relative to the folder one is in."""

    file: Annotated[str, Field(description="ends in .nc or .zarr")] | None = None
    picture: Annotated[str, Field(description="ends in .png")] | None = None
    store: (
        Annotated[str, Field(description="live store of a long run, ends in .zarr; `polhode resume` goes on from it")]
        | None
    ) = None


class ScenarioFile(MethodOptions):
    """A polhode scenario: one run, written down. Options of a method may stand beside its name or in its table."""

    title: str | None = None
    problem: Annotated[str, Field(description="a ready-made problem, see `polhode systems`")] | None = None
    system: (
        Annotated[
            Particle
            | FreeBody
            | RigidBody
            | HeavyTop
            | GravityGradient
            | SoftWall
            | Orbit
            | Spacecraft
            | GravitatingBodies
            | Dipoles
            | RigidWater,
            Field(discriminator="type"),
        ]
        | None
    ) = None
    initial: Initial = Field(default_factory=Initial)
    elements: Elements | None = None
    method: (
        Annotated[
            Annotated[str, Tag("<string>")] | Annotated[MethodTable, Tag("<table>")],
            Discriminator(lambda value: "<string>" if isinstance(value, str) else "<table>"),
        ]
        | None
    ) = None
    events: (
        Annotated[
            list[
                Annotated[
                    Annotated[str, Tag("<word>")] | Annotated[AnyEvent, Tag("<table>")],
                    Discriminator(lambda value: "<word>" if isinstance(value, str) else "<table>"),
                ]
            ],
            Field(description="what to look for: words such as 'periapsis', 'node', or tables with a kind"),
        ]
        | None
    ) = None
    run: Run = Field(default_factory=Run)
    output: Output = Field(default_factory=Output)


class _Schema(GenerateJsonSchema):
    """TOML has no null: what may be left out is not null."""

    def nullable_schema(self, schema: Any) -> Any:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> Any:
        made = super().default_schema(schema)
        return {key: value for key, value in made.items() if (key, value) != ("default", None)}


def schema() -> dict[str, Any]:
    """The JSON schema of scenario files."""
    made = ScenarioFile.model_json_schema(schema_generator=_Schema)
    for model in _every(ScenarioFile):
        table = made if model is ScenarioFile else made["$defs"].get(model.__name__)
        known = unit_keys(model)
        if table is None or not known:
            continue
        for key, (name, unit, _) in known.items():
            words = table["properties"][name]
            about = f"{words['description']}; " if "description" in words else ""
            table["properties"][key] = words | {"title": key, "description": f"{about}in {unit}"}
        needed = [name for name in table.get("required", []) if any(name == base for base, _, _ in known.values())]
        if needed:
            table["required"] = [name for name in table["required"] if name not in needed]
            spelled = {name: [name, *(key for key, (base, _, _) in known.items() if base == name)] for name in needed}
            table["allOf"] = [{"anyOf": [{"required": [key]} for key in keys]} for keys in spelled.values()]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


# ------------------------------------------------------------------ the scenario
@dataclass(frozen=True)
class Files:
    """Where the results of a scenario go; None where it does not say."""

    file: Path | None = None
    picture: Path | None = None
    store: Path | None = None


@dataclass(frozen=True)
class Scenario:
    """A checked scenario.

    Attributes
    ----------
    path : Path
        The file.
    text : str
        What it says.
    title : str
        Its title, or what the ready-made problem is, or the name of the system.
    system : System
        What moves.
    method : str
        Method string; the recommended one where the file names none.
    arguments : dict
        Keyword arguments of ``polhode.integrate`` besides system and method.
    output : Files
        Where results go.
    changes : dict
        What the caller changed (``method``, ``step``, ``rtol``).
    seed : int or None
        Of the random numbers of its initial state, where that has some.
    """

    path: Path
    text: str
    title: str
    system: System
    method: str
    arguments: dict[str, Any]
    output: Files
    changes: dict[str, Any]
    seed: int | None = None

    def integrate(
        self,
        progress: Callable[[Progress], None] | bool | None = None,
        store: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = SECONDS,
        threads: int = 1,
    ) -> xr.Dataset:
        """Run it; the trajectory carries the text of the scenario and its title, and so does a store.

        Raises
        ------
        PolhodeError
            As ``polhode.integrate``.
        """
        try:
            live = None
            if store is not None:
                live = LiveStore(store, checkpoint_seconds, self.labels, os.fspath(self.path.resolve()))
            return self._label(
                integrate(self.system, self.method, progress=progress, store=live, threads=threads, **self.arguments)
            )
        except PolhodeError as failed:
            if failed.trajectory is not None:
                self._label(failed.trajectory)
            if isinstance(failed, InvalidInput):
                failed.args = (f"{self.path}: {failed}",)
            raise

    def continued(self, ds: xr.Dataset) -> Scenario:
        """The rest of this scenario, from where a trajectory of it stopped.

        The numbers agree with those of an uninterrupted run to round-off, not bit for bit; with ``rtol`` to the
        tolerance, for the choice of steps begins anew, from the size of the last one.

        Parameters
        ----------
        ds : xarray.Dataset
            What had been computed, such as the ``trajectory`` of an ``Interrupted``.

        Raises
        ------
        InvalidInput
            A trajectory of something else, or one with nothing left to compute.
        """
        if ds.attrs.get("system") != self.system.name:
            raise InvalidInput(
                f"that trajectory is of {ds.attrs.get('system')!r}, but {self.path} describes {self.system.name!r}"
            )
        keep = dict(self.arguments)
        time_transformed = _clocked(self.method)
        h, n, start = _span(keep, time_transformed)
        last = ds.isel(time=-1)
        now = float(last.time)
        left = n - (now - start) / h
        if time_transformed and "steps" in keep:
            left = n = keep["steps"] - int(ds.attrs["steps"])
        least = 0.0 if "rtol" in keep or time_transformed else 0.5
        if not least < left <= n + least:
            raise InvalidInput(
                f"nothing is left to compute: that trajectory ends at t = {now:g}"
                + ("" if time_transformed else f", the run at t = {start + n * h:g}")
            )
        keep = {name: value for name, value in keep.items() if name not in (*STATE, "angular_velocity", "velocity")}
        keep |= {name: last[name].values.tolist() for name in STATE if name in last}
        own = find_method(self.method).prepare().coordinates
        if own is not None and own.name in last:  # these, for an attitude does not say how often it has turned
            del keep["attitude"]
            keep["coordinates"] = last[own.name].values.tolist()
        if "thermostat" in last:
            keep["thermostat"] = last.thermostat.values.tolist()
        if "position_carry" in last:
            keep["carries"] = np.concatenate([last.position_carry, last.momentum_carry], axis=-1).tolist()
        keep |= {"t0": now, "t_end": self.arguments.get("t_end", start + n * h), "since": keep.get("since", start)}
        if keep.pop("steps", None) is not None and time_transformed:
            del keep["t_end"]
            keep["steps"] = n
        if time_transformed:
            del keep["since"]
            if "clock" in last:
                keep["clock"] = last.step_density.values.tolist()
        if "rtol" in keep and "step" in last and float(last.step) > 0.0:
            keep["first_step"] = float(last.step)
        if "t_eval" in keep:
            keep["t_eval"] = [t for t in keep["t_eval"] if (t - now) * h > 0] or [keep["t_end"]]
        return replace(self, arguments=keep, changes=self.changes | {"continued_from": now})

    def _label(self, ds: xr.Dataset) -> xr.Dataset:
        ds.attrs |= self.labels
        return ds

    @property
    def labels(self) -> dict[str, Any]:
        """The attributes a scenario gives to its trajectory."""
        changes = {"scenario_changes": json.dumps(self.changes)} if self.changes else {}
        seed = {} if self.seed is None else {"seed": self.seed}
        return {"title": self.title, "scenario": self.text} | seed | changes

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The Python functions it names, by what ``rerun`` and ``resume`` call them."""
        found = {name: user.function for name, user in self.system.functions.items()}
        for event in self.arguments.get("events", ()):
            for watch in event.watches:
                if watch.function is not None:
                    found[event.arguments["name"]] = watch.function.function
        return found


def read_scenario(
    path: str | os.PathLike[str],
    allow_code: bool = False,
    *,
    method: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
) -> Scenario:
    """Read and check a scenario.

    Parameters
    ----------
    path : path
        A TOML file; ``polhode schema`` describes it.
    allow_code : bool
        Whether Python functions named in it may be loaded, which runs their file.
    method, step, rtol : str, float, float, optional
        Instead of the file's; ``step`` also instead of its ``rtol``, and the other way round.

    Returns
    -------
    Scenario

    Raises
    ------
    FileProblem
        The file cannot be read.
    InvalidInput
        All mistakes in it, one a line: file, line, key, what was expected, what was found.
    UserFunctionError
        The Python file it names cannot be loaded.

    Examples
    --------
    >>> read_scenario("examples/fast-top.toml").integrate()                                       # doctest: +SKIP
    """
    if step is not None and rtol is not None:
        raise InvalidInput("step and rtol are both given; keep one of them")
    allow_code = truth(allow_code, "allow_code")
    return _Reader(Path(checked_path(path)), allow_code).scenario(method, step, rtol)


def _clocked(label: str) -> bool:
    """Whether a method has a clock of its own; no method has none."""
    return bool(label and find_method(label).prepare().step_density)


def _span(times: Mapping[str, Any], time_transformed: bool = False) -> tuple[float, int, float]:
    """Signed step, number of steps and start time of the arguments of a run; one with chosen steps counts as one step.

    Raises
    ------
    InvalidInput
        As ``integrate``.
    """
    given = {"t0": 0.0, "t_end": None, "steps": None} | dict(times)
    if "step" in given and "rtol" in given:
        raise InvalidInput("rtol and step are both given; keep one of them")
    if "rtol" in given:
        names = ("rtol", "atol", "t_end", "steps", "t0", "first_step", "max_step")
        asked = {name: given.get(name) for name in names}
        return whole(tolerances(**asked, max_steps=given.get("max_steps", MOST_STEPS)))
    for name in ("atol", "first_step", "max_step", "max_steps"):
        if name in given:
            raise InvalidInput(f"{name} is given without rtol, to which it belongs; leave it out")
    if time_transformed:
        return whole(time_transformed_span(given["step"], given["t_end"], given["steps"], given["t0"]))
    return span(given["step"], given["t_end"], given["steps"], given["t0"])


# ------------------------------------------------------------------ reading
Key = tuple[str | int, ...]
DEEPEST = 16
"""Levels of lists and tables in each other; no key of a scenario is deeper than half of that."""
WHOLE = "those of TOML are between -2^63 and 2^63 - 1; write 1e30 for a number as large as that"


class _Begun(Exception):
    """A run has begun: its arguments are in order."""


class _Reader:
    """Reads one file, collecting what is wrong with it."""

    def __init__(self, path: Path, allow_code: bool) -> None:
        self.path, self.allow_code = path, allow_code
        try:
            self.text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as wrong:
            raise InvalidInput(f"{path} is not a text file in UTF-8 (byte {wrong.start})") from None
        except OSError as refused:
            why = "there is no such file; check the name" if not path.exists() else refused.strerror
            raise FileProblem(f"cannot read the scenario {str(path)!r}: {why}") from None
        self.raw: dict[str, Any] = self.tables()
        self.seed: int | None = None
        self.spelled: dict[Key, str] = {}
        self.si: Key | None = None  # the first key with a unit of length, time or mass
        self.problems: list[tuple[int, str]] = []
        self.bad: set[str | int] = set()  # sections whose shape is wrong

    @cached_property
    def lines(self) -> dict[Key, int]:
        """The line of every key, looked for where there is a mistake."""
        return key_lines(self.text)

    def tables(self) -> dict[str, Any]:
        """What the text says as TOML.

        Raises
        ------
        InvalidInput
            No TOML, a number that none of 64 bits is, or tables in tables without end.
        """
        try:
            raw = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as torn:
            found = re.search(r"line (\d+)", str(torn))
            line = int(found[1]) if found else self.text.count("\n") + 1
            said = re.sub(r"\s*\(at .*\)$", "", str(torn))
            what = f"not valid TOML: {said[:1].lower() + said[1:]}; see https://toml.io for the syntax"
        except RecursionError:
            line = self.text.count("\n", 0, _deepest(self.text)) + 1
            what = f"lists and tables in each other; a scenario has at most {DEEPEST} levels, so close some"
        except ValueError:  # an integer of more digits than Python reads
            line = (
                self.text.count("\n", 0, max(re.finditer(r"\w+", self.text), key=lambda word: len(word[0])).start()) + 1
            )
            what = f"a whole number of very many digits; {WHOLE}"
        else:
            return raw
        raise InvalidInput(f"{self.path}:{line}: {what}") from None

    def bounded(self, value: Any, key: Key = ()) -> Any:
        """The same without what no key of a scenario can be, which is noted."""
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            self.wrong(key, f"expected a number of 64 bits (got {_shown(value)}); {WHOLE}")
            return 0
        if isinstance(value, dict | list) and len(key) >= DEEPEST:
            self.wrong(key, f"expected at most {DEEPEST} levels of lists and tables in each other; close some")
            return type(value)()
        if isinstance(value, dict):
            return {name: self.bounded(part, (*key, name)) for name, part in value.items()}
        if isinstance(value, list):
            return [self.bounded(part, (*key, k)) for k, part in enumerate(value)]
        return value

    def wrong(self, key: Key, message: str) -> None:
        """Note a mistake at a key."""
        at = written = tuple(self.spelled.get(key[: n + 1], part) for n, part in enumerate(key))
        while at and at not in self.lines:
            at = at[:-1]
        line = self.lines.get(at, 1)
        name = _dotted(written)
        where = f"{self.path}:{line}: {name}" if name else f"{self.path}:{line}"
        self.problems.append((line, f"{where}: {message}"))

    def refused(self, section: Key, problem: PolhodeError) -> None:
        """Note what another part of polhode says about a section, at the key it speaks of."""
        table: Any = self.raw
        for part in section:
            inside = (isinstance(table, dict) and part in table) or isinstance(table, list)
            table = table[part] if inside else {}
        words = re.findall(r"\w+", str(problem)) if isinstance(table, dict) else []
        named = next((word for word in words if word in table), None)
        self.wrong((*section, named) if named else section, str(problem))

    def scenario(self, method: str | None, step: float | None, rtol: float | None) -> Scenario:
        """The whole file."""
        parsed = self.parsed()
        if method is not None:
            parsed.method = method
        run = parsed.run
        if step is not None:
            run.step, run.rtol, run.atol, run.first_step, run.max_step, run.max_steps = step, *[None] * 5
        if rtol is not None:
            if run.step is not None and run.steps is not None:
                run.t_end = run.t0 + run.step * run.steps
            run.rtol, run.step, run.steps = rtol, None, None
        sound = {name for name in ScenarioFile.model_fields if name not in self.bad}
        ready = None
        if parsed.problem is not None:
            try:
                ready = problem(parsed.problem)
            except InvalidInput as unknown:
                self.refused(("problem",), unknown)
        if "problem" in sound and "system" in sound:
            if "problem" in self.raw and "system" in self.raw:
                self.wrong(("system",), "a system is given, but problem brings its own; keep one of them")
            elif "problem" not in self.raw and "system" not in self.raw:
                self.wrong((), "no system; write a [system] table, or name a problem (`polhode systems` lists both)")
        system = self.system(parsed.system) if parsed.system is not None else ready.build() if ready else None
        label = self.method(parsed, system) if "method" in sound else ""
        state: dict[str, Any] = {}
        if "initial" in sound and "elements" in sound:
            start = dict(ready.initial) if ready else {}
            if parsed.elements is not None:
                start = {name: value for name, value in start.items() if name not in (*PLACES, *MOVING)}
                start |= self.elements(parsed.elements, system)
            state = self.state(parsed.initial, start, system)
        timed = "run" in sound and (ready or "problem" not in self.raw)
        times = self.times(parsed.run, ready, _clocked(label)) if timed else {}
        output = self.output(parsed.output) if "output" in sound else Files()
        events = self.events(parsed.events or [], system) if "events" in sound else []
        if events:
            times["events"] = events
        if system is not None and not self.problems:
            self.tried(system, label, times | state)
        if self.problems:
            self.problems.sort(key=lambda found: found[0])
            told = [message for _, message in self.problems]
            if len(told) > 1:
                told.insert(0, f"{len(told)} mistakes in {self.path}:")
            raise InvalidInput("\n".join(told))
        assert system is not None
        title = parsed.title or (ready.description if ready else system.name)
        asked = (("method", method), ("step", step), ("rtol", rtol))
        changes = {key: value for key, value in asked if value is not None}
        return Scenario(self.path, self.text, title, system, label, times | state, output, changes, self.seed)

    def tried(self, system: System, label: str, arguments: Mapping[str, Any]) -> None:
        """Note what ``integrate`` refuses before anything is compiled."""

        def stop(_: Progress) -> None:
            raise _Begun

        try:
            integrate(system, label, progress=stop, **arguments)
        except _Begun:
            pass
        except InvalidInput as refused:
            words = re.findall(r"\w+", str(refused))
            sections = ["initial", "system", "run"]
            named = [name for name in sections if any(word in self.raw.get(name, {}) for word in words)]
            self.refused(((named or sections)[-1],), refused)

    # -------------------------------------------------------------- shape
    def parsed(self) -> ScenarioFile:
        """The file as tables; sections with mistakes are left out after noting them."""
        self.raw = self.in_si(self.bounded(self.raw), [ScenarioFile], (), ())
        run = self.raw.get("run")
        if self.si is not None and isinstance(run, dict | None):
            name = _dotted(self.si)
            if "problem" in self.raw:
                self.wrong(self.si, "a ready-made problem has units of its own, which a unit in a key cannot change; "
                           "leave out the ending of this key")  # fmt: skip
            elif (run or {}).get("units", "SI") == "SI":
                self.raw["run"] = (run or {}) | {"units": "SI"}
            else:
                self.wrong(("run", "units"), f"{name} has a unit in its name, which makes the run one in SI; write "
                           "units = \"SI\", or leave it out")  # fmt: skip
        try:
            return _validated(self.raw)
        except ValidationError as wrong:
            for error in wrong.errors(include_url=False):
                key = _plain_key(error["loc"])
                self.bad.add(key[0])
                self.wrong(key, _expected(error))
        return _validated({name: part for name, part in self.raw.items() if name not in self.bad})

    def in_si(self, table: dict[str, Any], models: list[type[BaseModel]], key: Key, written: Key) -> dict[str, Any]:
        """A table with the values of keys that end in a unit turned into SI, under their plain names."""
        made: dict[str, Any] = {}
        tag = table.get("type", table.get("kind"))
        models = [model for model in models if tag in _tags(model)] or models
        endings = {ending: what for model in models for ending, what in unit_keys(model).items()}
        for name, value in table.items():
            fields = [model.model_fields[name] for model in models if name in model.model_fields]
            inside = [inner for field in fields for inner in _models(field.annotation)]
            here, there = (*key, name), (*written, name)
            if not fields and name in endings:
                base, _, factor = endings[name]
                if base in table or base in made:
                    self.wrong(there, f"{base} is given twice; keep one of the keys")
                    continue
                self.spelled[(*key, base)] = name
                if isinstance(factor, Decimal) and self.si is None:
                    self.si = there
                made[base] = _times(value, factor)
            elif isinstance(value, dict):
                made[name] = self.in_si(value, inside, here, there)
            elif isinstance(value, list):
                made[name] = [
                    self.in_si(part, inside, (*here, k), (*there, k)) if isinstance(part, dict) else part
                    for k, part in enumerate(value)
                ]
            else:
                made[name] = value
        return made

    # -------------------------------------------------------------- meaning
    def system(self, table: Any) -> System | None:
        """Build the system of the [system] table."""
        arguments: dict[str, Any] = {}
        before = len(self.problems)
        for name in type(table).model_fields:
            value = getattr(table, name)
            if name == "type" or value is None:
                continue
            if isinstance(value, Body):
                value = self.body(value)
            elif name in ("torque", "force", "potential", "load"):
                value = self.function(("system", name), value)
            elif name == "forces":
                value = [self.force(("system", "forces", k), force) for k, force in enumerate(value)]
            elif name in ("thrusters", "plates"):
                value = [one.model_dump(exclude_none=True) for one in value]
            elif isinstance(value, Atmosphere | Sunlight):
                value = value.model_dump(exclude_none=True)
            arguments[name] = value
        if len(self.problems) > before:
            return None
        try:
            return SYSTEMS[table.type](**arguments)
        except InvalidInput as refused:
            self.refused(("system",), refused)
            return None

    def body(self, table: Body) -> Any:
        """The inertia tensor of a shape."""
        at: Key = ("system", "inertia")
        shapes = [name for name in Body.model_fields if name != "about"]
        given = [name for name in shapes if getattr(table, name) is not None]
        if len(given) != 1:
            self.wrong(at, f"expected one shape of {', '.join(shapes)} (got {' and '.join(given) or 'none'})")
            return None
        try:
            made = getattr(inertia, given[0])(**getattr(table, given[0]).model_dump())
        except InvalidInput as refused:
            self.refused((*at, given[0]), refused)
            return None
        return made if table.about is None else made.about(table.about)

    def force(self, key: Key, table: Any) -> Any:
        """One force on an orbit."""
        try:
            return force_of(table.model_dump(exclude_none=True))
        except InvalidInput as refused:
            self.refused(key, refused)
            return None

    def events(self, tables: list[Any], system: System | None) -> list[Event]:
        """What to look for."""
        made: list[Event] = []
        for k, table in enumerate(tables):
            key: Key = ("events", k)
            given = table
            if not isinstance(table, str):
                given = table.model_dump(exclude_none=True)
                if "function" in given:
                    given["function"] = self.function((*key, "function"), given["function"])
                    if given["function"] is None:
                        continue
            try:
                made.append(event_of(given))
                if system is not None:
                    events_of(made[-1:], system)
            except InvalidInput as refused:
                if isinstance(table, str) or str(refused).startswith("events[0]"):
                    self.wrong(key, str(refused).removeprefix("events[0]: "))
                else:
                    self.refused(key, refused)
        return made

    def function(self, key: Key, name: str) -> Callable[..., Any] | None:
        """The function ``file.py:function``, loaded when that is allowed."""
        file, _, wanted = name.partition(":")
        if not self.allow_code:
            self.wrong(
                key,
                f"{name!r} is Python code, which a scenario runs only when allowed; read {file}, then add --allow-code "
                "(in Python: allow_code=True)",
            )
            return None
        source = self.path.parent / file
        if not source.is_file():
            self.wrong(key, f"there is no file {str(source)!r}; the path is relative to the scenario")
            return None
        module = _load(source)
        if not callable(getattr(module, wanted, None)):
            known = [word for word, value in vars(module).items() if callable(value) and not word.startswith("_")]
            close = closest(wanted, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; it has {', '.join(known) or 'no functions'}"
            self.wrong(key, f"{file} has no function {wanted!r}{hint}")
            return None
        return getattr(module, wanted)  # type: ignore[no-any-return]

    def method(self, parsed: ScenarioFile, system: System | None) -> str:
        """The method string, checked."""
        chosen, adaptive = parsed.method, parsed.run.rtol is not None
        at: Key = ()
        options = parsed.chosen()
        if chosen is None:
            for key in options:
                self.wrong((key,), f"{key} belongs to a method, and none is named; write method = ... too")
            return ADAPTIVE if adaptive else system.recommended if system else ""
        if isinstance(chosen, MethodTable):
            for key in options:
                self.wrong((key,), "the method has a table; write this key there, under [method]")
            options, chosen = chosen.chosen(), chosen.name
            at = ("method",)
        wrong = len(self.problems)
        try:
            find_method(chosen)
            for key, value in options.items():
                try:
                    find_method(chosen, **{key: value})
                except InvalidInput as refused:
                    self.refused((*at, key), refused)
            if len(self.problems) > wrong:
                return ""
            found = find_method(chosen, **options)
            found.method.check_complete(found.options)
            if adaptive:
                check_estimate(found)
            return found.label
        except InvalidInput as refused:
            self.refused(("method",), refused)
            return ""

    def elements(self, table: Elements, system: System | None) -> dict[str, Any]:
        """Position and velocity from the [elements] table."""
        at: Key = ("elements",)
        before = len(self.problems)
        for name in (*PLACES, *MOVING):
            if name in self.raw.get("initial", {}):
                self.wrong(("initial", name), f"{name} is given beside [elements], which already says it; keep one")
        if system is not None and not (system.attracted and system.N == 1):
            self.wrong(at, f"elements are those of an orbit about a centre, but the system is {system.name!r}; leave "
                       "them out")  # fmt: skip
        if system is None or len(self.problems) > before:
            return {}
        try:
            r, v = orbits.state(float(system.parameters[0]), **table.model_dump(exclude_none=True))
        except InvalidInput as refused:
            self.refused(at, refused)
            return {}
        return {"position": r.tolist(), "velocity": v.tolist()}

    def state(self, table: Initial, ready: Mapping[str, Any], system: System | None) -> dict[str, Any]:
        """Initial state as arguments of ``integrate``; what the file leaves out comes from the ready-made problem."""
        at: Key = ("initial",)
        given: dict[str, Any] = {name: getattr(table, name) for name in Initial.model_fields}
        given = {name: value for name, value in given.items() if value is not None}
        before = len(self.problems)
        for group in (ATTITUDES, TURNING, PLACES, MOVING):
            several = [name for name in group if name in given]
            if len(several) > 1:
                self.wrong((*at, several[1]), f"{' and '.join(several)} are given; keep one of them")
            if not several:
                given |= {name: value for name, value in ready.items() if name in group}
        for name, owners in BELONGS.items():
            if name in given and not set(owners) & set(given):
                self.wrong((*at, name), f"{name} belongs to {' or '.join(owners)}; leave it out")
        if len(self.problems) > before:
            return {}
        if set(BELONGS["seed"]) & set(given):
            self.seed = given.setdefault("seed", 0)
        try:
            state = _state(given)
            if system is not None:
                state = _drawn(given, state, system)
                start_state(system, **state)
                check_moving(system, state.get("velocity"), state.get("momentum"))
        except InvalidInput as refused:
            self.refused(at, refused)
            return {}
        return state | {name: given[name] for name in AS_GIVEN if name in given}

    def times(self, table: Run, ready: Any, time_transformed: bool) -> dict[str, Any]:
        """Step or tolerance, span and recording as arguments of ``integrate``."""
        at: Key = ("run",)
        if table.step is None and table.rtol is None:
            if ready is None:
                self.wrong(
                    at, "expected a step (got none); write step = 0.01 or the like under [run], or rtol = 1e-8 instead"
                )
                return {}
            table.step = ready.step
        if table.t_end is None and table.steps is None and ready is not None:
            table.t_end = table.t0 + ready.t_end
        times = {name: getattr(table, name) for name in Run.model_fields}
        times = {name: value for name, value in times.items() if value is not None}
        if table.epoch is not None:
            try:
                epoch_of(table.epoch)
            except InvalidInput as refused:
                self.refused((*at, "epoch"), refused)
        try:
            h, n, start = _span(times, time_transformed)
            if table.t_eval is not None:
                sample_times(table.t_eval, table.every, start, h, n)
            if table.breaks is not None:
                checked_breaks(table.breaks, start, start + n * h)
        except InvalidInput as refused:
            self.refused(at, refused)
        return times

    def output(self, table: Output) -> Files:
        """Where results go, with their suffixes checked."""
        if table.file is not None:
            try:
                suffix_of(table.file)
            except InvalidInput as refused:
                self.refused(("output", "file"), refused)
        if table.picture is not None and Path(table.picture).suffix != ".png":
            self.wrong(("output", "picture"), f"expected a name that ends in .png (got {table.picture!r})")
        if table.store is not None and Path(table.store).suffix != ".zarr":
            self.wrong(("output", "store"), f"expected a name that ends in .zarr (got {table.store!r})")
        elif table.store is not None and table.file is not None and Path(table.store) == Path(table.file):
            self.wrong(("output", "store"), "expected another name than that of file, which is written at the end")
        return Files(*(Path(name) if name else None for name in (table.file, table.picture, table.store)))


ATTITUDES = (*turning.ATTITUDES, "coordinates", "rotations", "draw")
TURNING = (*turning.TURNING, "temperature")
AS_GIVEN = ("coordinates", "clock", "thermostat", "carries")
"""Of these numbers the method knows more; runs that go on from others have them."""
PLACES = ("position", "lattice", "draw")
MOVING = ("velocity", "momentum", "temperature")
BELONGS = {
    "sequence": turning.ANGLES, "scale": ("draw",),
    "cells": ("lattice",), "spacing": ("lattice",), "noise": ("lattice",),
    "zero_total_momentum": ("temperature",), "exact_temperature": ("temperature",), "energy_bodies": ("energy",),
    "seed": ("draw", "noise", "rotations", "temperature", "energy"),
}  # fmt: skip
"""Keys of [initial] that mean something beside others only."""
STATE = ("attitude", "angular_momentum", "position", "momentum")


def _state(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``integrate`` from the keys of [initial]: attitude as a quaternion, turning in the body frame."""
    turns = {name: np.asarray(value).tolist() for name, value in turning.as_kept(given).items()}
    return {name: given[name] for name in ("position", *MOVING[:2]) if name in given} | turns


def _drawn(given: Mapping[str, Any], state: dict[str, Any], system: System) -> dict[str, Any]:
    """The state with what [initial] asks for of many bodies: places, attitudes and momenta."""
    seed, made = given.get("seed", 0), dict(state)
    if "draw" in given:
        drawn = initial.gaussian_draw(system.N, seed, given.get("scale"))
        made["position"] = drawn["position"]
        if system.rotates:
            made["attitude"] = drawn["attitude"]
    if "lattice" in given:
        made["position"] = _on_lattice(given, system)
    if "rotations" in given:
        made |= initial.random_rotations(system.N, seed)
    if "temperature" in given:
        zero, exact = given.get("zero_total_momentum", True), given.get("exact_temperature", False)
        made |= initial.thermal(system, given["temperature"], seed, zero_total_momentum=zero, exact=exact)
    if "energy" in given:
        if {"velocity", "angular_velocity"} & set(made):
            rows = start_state(system, **made).reshape(-1, L.BODY)
            made = {name: made[name] for name in ("position", "attitude") if name in made}
            made["momentum"] = rows[:, L.MOMENTUM : L.MOMENTUM + 3]
            if system.rotates:
                made["angular_momentum"] = rotation.rotate(system.frames, rows[:, L.ANGULAR : L.ANGULAR + 3])
        made = initial.at_energy(system, made, given["energy"], seed, bodies=given.get("energy_bodies"))
    return made


def _on_lattice(given: Mapping[str, Any], system: System) -> Any:
    """Positions on the lattice of [initial], which holds all bodies of the system and fits into its box."""
    lattice, cells, spacing = initial.LATTICES[given["lattice"]], given.get("cells"), given.get("spacing")
    if cells is None:
        cells = round((system.N / len(lattice(1).state["position"])) ** (1.0 / 3.0)) or 1
    along = [cells] * 3 if isinstance(cells, int) else list(cells)
    cell = len(lattice(1).state["position"])
    sites = cell * along[0] * along[1] * along[2]
    if sites != system.N and min(along) > 0:
        what, fits = f"cells is {cells!r}: this", ""
        if "cells" not in given:
            cubes = [cell * k**3 for k in range(1, cells + 2)]
            below, above = [n for n in cubes if n < system.N][-1:], [n for n in cubes if n > system.N][:1]
            what, fits = "cells is missing: a", f"; cubes of it hold {' or '.join(map(str, below + above))}"
        raise InvalidInput(
            f"{what} {given['lattice']} lattice of {cells!r} cells has {sites} sites, but the system has {system.N} "
            f"bodies{fits}"
        )
    if spacing is None:
        spacing = 1.0 if system.box is None else float(np.min(np.asarray(system.box) / lattice(cells).box))
    made, box = lattice(cells, spacing, given.get("noise", 0.0), given.get("seed", 0))
    if system.box is not None and (box > np.asarray(system.box) * (1.0 + 1e-9)).any():
        edges = " x ".join(f"{edge:g}" for edge in box)
        largest = float(np.min(np.asarray(system.box) / (box / spacing)))
        raise InvalidInput(
            f"spacing is {spacing:g}: the lattice fills {edges}, more than the box of the system, so that bodies would "
            f"overlap; the largest that fits is {largest:.9g}"
        )
    return made["position"]


def _load(source: Path) -> types.ModuleType:
    """Run a Python file as a module of its own; its folder can be imported from while it runs."""
    name = f"polhode_scenario_{source.stem}_{sha256(str(source.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = str(source.parent.resolve())
    sys.modules[name] = module
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except Exception as failed:
        del sys.modules[name]
        raise UserFunctionError(f"loading {source} raised {type(failed).__name__}: {failed}") from failed
    finally:
        sys.path.remove(folder)
    return module


def _deepest(text: str) -> int:
    """Where in a text most brackets are open."""
    level = most = at = 0
    for found in re.finditer(r'"""|\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[][{}]', text):
        level += (found[0] in "[{") - (found[0] in "]}")
        if level > most:
            most, at = level, found.start()
    return at


# ------------------------------------------------------------------ mistakes in words
def _validated(raw: Mapping[str, Any]) -> ScenarioFile:
    return ScenarioFile.model_validate_json(json.dumps(raw, default=str), strict=True)


def _plain_key(loc: tuple[str | int, ...]) -> Key:
    """Where pydantic found a mistake, without the tags of its unions."""
    key = [part for part in loc if not str(part).startswith("<")]
    if key[:1] == ["system"] and len(key) > 1 and key[1] in SYSTEMS:
        del key[1]
    if key[:2] == ["system", "forces"] and len(key) > 3 and key[3] in FORCES:
        del key[3]
    if key[:1] == ["events"] and len(key) > 2 and key[2] in EVENTS:
        del key[2]
    return tuple(key)


def _dotted(key: Key) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).lstrip(".")


SHAPES = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "finite_number": "a finite number",
    "list_type": "a list",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
}


def _expected(error: Any) -> str:
    """What a mistake is, in the words of the file."""
    kind, context, found = error["type"], error.get("ctx", {}), _shown(error["input"])
    if kind == "extra_forbidden":
        models, wrong = _tables(error["loc"][:-1]), str(error["loc"][-1])
        known = sorted({name for model in models for name in model.model_fields})
        endings = {key: base for model in models for key, (base, _, _) in unit_keys(model).items()}
        close = [key for key, base in endings.items() if wrong.startswith(f"{base}_")]
        close = close or closest(wrong, known, 2, 0.6)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"known here: {', '.join(known)}"
        return f"unknown key; {_elsewhere(wrong) or hint}"
    if kind == "missing":
        return "expected this key (got nothing); add it"
    if kind in ("too_short", "too_long"):
        wanted = context.get("min_length", context.get("max_length"))
        return f"expected {wanted} entries (got {context['actual_length']}: {found})"
    if kind == "literal_error":
        return f"expected {context['expected']} (got {found}){_near(error['input'], context['expected'])}"
    if kind == "union_tag_invalid":
        tags, tag = context["expected_tags"], context["tag"]
        return f"expected {_word(context)} = {tags} (got {_shown(tag)}){_near(tag, tags)}"
    if kind == "union_tag_not_found":
        word = _word(context)
        names: Iterable[str] = EVENTS if error["loc"][0] == "events" else SYSTEMS if word == "type" else FORCES
        return f"expected a key {word}, one of {', '.join(sorted(names))} (got {found})"
    if kind == "string_pattern_mismatch":
        return f"expected 'file.py:function' (got {found})"
    if kind == "greater_than_equal":
        return f"expected a whole number, {context['ge']} or more (got {found})"
    return f"expected {SHAPES.get(kind, error['msg'])} (got {found})"


def _elsewhere(wrong: str) -> str:
    """Where a key belongs that is known in another part of the file."""
    if wrong in ScenarioFile.model_fields:
        return "it belongs at the top of the file, before the first [table]"
    tables: dict[str, type[BaseModel]] = {"run": Run, "initial": Initial, "output": Output}
    return next((f"it belongs under [{name}]" for name, table in tables.items() if wrong in table.model_fields), "")


def _word(context: Mapping[str, Any]) -> str:
    """The key that tells tables apart."""
    return str(context["discriminator"]).strip("'")


def _near(found: object, expected: str) -> str:
    close = closest(found, re.findall(r"'([^']+)'", expected), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _shown(value: Any) -> str:
    """A value as TOML would write it, shortened."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _tables(loc: Iterable[str | int]) -> list[type[BaseModel]]:
    """The models a table may have, found by walking them along a pydantic location."""
    models: list[type[BaseModel]] = [ScenarioFile]
    for part in loc:
        if isinstance(part, int):
            continue
        fields = [model.model_fields[part] for model in models if part in model.model_fields]
        inside = [model for field in fields for model in _models(field.annotation)]
        chosen = [model for model in models if part in _tags(model)]
        models = inside or chosen or models
    return models


def unit_keys(model: type[BaseModel]) -> dict[str, tuple[str, str, Decimal | float]]:
    """Keys of a table with a unit in their names: the plain key, the unit, and how much of SI's it has."""
    found = {}
    for name, field in model.model_fields.items():
        units = [mark for mark in (*field.metadata, *_marks(field.annotation)) if isinstance(mark, Unit)]
        for ending, factor in IN_SI[units[0].name].items() if units else ():
            found[f"{name}_{ending}"] = (name, ending, factor)
    return found


def _marks(annotation: Any) -> Iterator[Any]:
    """What is written behind the types of a key, but not inside lists and tables."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        yield from (*marks, *_marks(inner))
    elif get_origin(annotation) in (Union, types.UnionType):
        for inner in get_args(annotation):
            yield from _marks(inner)


def _every(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A table and those in it, each once."""
    left, seen = [model], []
    while left:
        table = left.pop()
        if table not in seen:
            seen.append(table)
            yield table
            left += [inner for field in table.model_fields.values() for inner in _models(field.annotation)]


def _times(value: Any, factor: Decimal | float) -> Any:
    """Numbers, in lists or not, times a factor, rounded once; what is no number stays, to be refused later."""
    if isinstance(value, list):
        return [_times(part, factor) for part in value]
    if isinstance(value, bool) or not isinstance(value, int | float) or factor == 1:
        return value
    return float(Decimal(repr(value)) * factor) if isinstance(factor, Decimal) else value * factor


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("type") or model.model_fields.get("kind")
    return get_args(field.annotation) if field else ()


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, types.UnionType, Annotated, list):
        for inner in get_args(annotation):
            yield from _models(inner)


# ------------------------------------------------------------------ lines of keys
def key_lines(text: str) -> dict[Key, int]:
    """The line of every key and every list entry of a TOML text that is known to be valid.

    Parameters
    ----------
    text : str
        What ``tomllib`` has accepted.

    Returns
    -------
    dict
        From the path of a key, such as ``("system", "inertia", 0)``, to its line, counted from 1.
    """
    return _Locator(text).lines


_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.DOTALL
)


class _Locator:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.line = text, 0, 1
        self.lines: dict[Key, int] = {}
        self.lists: dict[Key, int] = {}
        table: Key = ()
        while self.skip("\n"):
            if self.here("["):
                table = self.header()
            else:
                self.pair(table)

    def here(self, start: str) -> bool:
        return self.text.startswith(start, self.at)

    def step_over(self, count: int) -> str:
        passed = self.text[self.at : self.at + count]
        self.line += passed.count("\n")
        self.at += count
        return passed

    def skip(self, also: str = "") -> bool:
        """Pass blanks and comments; False at the end of the text."""
        while self.at < len(self.text):
            if self.here("#"):
                end = self.text.find("\n", self.at)
                self.step_over((end if end >= 0 else len(self.text)) - self.at)
            elif self.text[self.at] in " \t\r" + also:
                self.step_over(1)
            else:
                return True
        return False

    def header(self) -> Key:
        many = self.here("[[")
        line = self.line
        self.step_over(2 if many else 1)
        parts = self.key()
        key: Key = ()
        for depth, part in enumerate(parts):
            key += (part,)
            if many and depth == len(parts) - 1:
                self.lists[key] = self.lists.get(key, -1) + 1
            if key in self.lists:
                key += (self.lists[key],)
        self.step_over(2 if many else 1)
        self.note(key, line)
        return key

    def note(self, key: Key, line: int) -> None:
        for length in range(1, len(key) + 1):
            self.lines.setdefault(key[:length], line)

    def key(self) -> list[str]:
        parts = []
        while True:
            self.skip()
            if self.text[self.at] in "\"'":
                parts.append(self.string()[1:-1])
            else:
                found = re.compile(r"[A-Za-z0-9_-]*").match(self.text, self.at)
                assert found is not None
                parts.append(self.step_over(len(found[0])))
            self.skip()
            if not self.here("."):
                return parts
            self.step_over(1)

    def pair(self, table: Key) -> None:
        line = self.line
        key = (*table, *self.key())
        self.note(key, line)
        self.step_over(1)  # the sign =
        self.value(key)

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        assert found is not None
        return self.step_over(len(found[0]))

    def value(self, key: Key) -> None:
        self.skip()
        if self.here('"') or self.here("'"):
            self.string()
        elif self.here("["):
            self.step_over(1)
            count = 0
            while self.skip("\n,") and not self.here("]"):
                self.note((*key, count), self.line)
                self.value((*key, count))
                count += 1
            self.step_over(1)
        elif self.here("{"):
            self.step_over(1)
            while self.skip("\n,") and not self.here("}"):
                self.pair(key)
            self.step_over(1)
        else:
            found = re.compile(r"[^,\]}\n#]*").match(self.text, self.at)
            assert found is not None
            self.step_over(len(found[0]))
