"""The tables of a scenario file, as models that check it, and their JSON schema."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, create_model
from pydantic.json_schema import GenerateJsonSchema

from polhode.runs.scenario.signatures import event_tables, one_of, system_tables
from polhode.runs.scenario.units import unit_keys
from polhode.runs.scenario.values import (
    Angle,
    BodyVectors,
    Cells,
    EachVector,
    Length,
    Number,
    NumbersOrRows,
    Quaternions,
    Table,
    Time,
    Vectors,
    Velocities,
    tables_of,
)
from polhode.systems import initial
from polhode.systems.words import Unit
from polhode.trajectory import UNITS


class Initial(Table):
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


class Elements(Table):
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


class MethodOptions(Table):
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


class Run(Table):
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


class Output(Table):
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
    system: Any = None
    """One of ``system_tables``; see ``scenario_file``."""
    initial: Initial = Field(default_factory=Initial)
    elements: Elements | None = None
    method: (
        Annotated[
            Annotated[str, Tag("<string>")] | Annotated[MethodTable, Tag("<table>")],
            Discriminator(lambda value: "<string>" if isinstance(value, str) else "<table>"),
        ]
        | None
    ) = None
    events: Any = None
    """Words or ``event_tables``; see ``scenario_file``."""
    run: Run = Field(default_factory=Run)
    output: Output = Field(default_factory=Output)


def scenario_file() -> type[ScenarioFile]:
    """The model of a whole file, with the systems, forces and events that are registered now."""
    return _file_with(system_tables(), event_tables())


@lru_cache(maxsize=2)
def _file_with(systems: tuple[type[Table], ...], events: tuple[type[Table], ...]) -> type[ScenarioFile]:
    event: Any = Annotated[
        Annotated[str, Tag("<word>")] | Annotated[one_of(events, "kind"), Tag("<table>")],
        Discriminator(lambda value: "<word>" if isinstance(value, str) else "<table>"),
    ]
    looked_for = Field(description="what to look for: words such as 'periapsis', 'node', or tables with a kind")
    fields: dict[str, Any] = {
        "system": (one_of(systems, "type") | None, None),
        "events": (Annotated[list[event], looked_for] | None, None),
    }
    return create_model("ScenarioFile", __base__=ScenarioFile, __doc__=inspect.getdoc(ScenarioFile), **fields)


class _Schema(GenerateJsonSchema):
    """TOML has no null: what may be left out is not null."""

    def nullable_schema(self, schema: Any) -> Any:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> Any:
        made = super().default_schema(schema)
        return {key: value for key, value in made.items() if (key, value) != ("default", None)}


def json_schema() -> dict[str, Any]:
    """The JSON schema of scenario files."""
    file = scenario_file()
    made = file.model_json_schema(schema_generator=_Schema)
    for model in tables_of(file):
        table = made if model is file else made["$defs"].get(model.__name__)
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
