"""The tables of a scenario file, as models that check it, and their JSON schema."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, create_model
from pydantic.json_schema import GenerateJsonSchema

from polhode.arguments.words import Unit
from polhode.methods import options_by_name
from polhode.runs.scenario.signatures import (
    EventOfBodies,
    event_tables,
    initial_table,
    one_of,
    one_of_kinds,
    option_fields,
    sum_table,
    system_tables,
)
from polhode.runs.scenario.values import Angle, Length, Number, Table, Time, tables_of, unit_keys
from polhode.trajectory import UNITS


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

    def chosen(self) -> dict[str, Any]:
        """Those that are given."""
        given = {name: getattr(self, name, None) for name in options_by_name()}
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
    commanded: Annotated[bool, Field(description="of the rest of another run: controllers have set states at t0")] = (
        False
    )
    every: Annotated[int, Field(ge=1, description="record every this many steps")] = 1
    t_eval: Annotated[list[Number], Unit("s"), Field(description="record at exactly these times instead")] | None = None
    breaks: (
        Annotated[
            list[Number], Unit("s"), Field(description="times at which loads of your own jump: steps are cut there")
        ]
        | None
    ) = None
    tangent: (
        Annotated[
            bool | list[str],
            Field(description="derivatives by the state at the start (true), and by parameters, such as ['inertia']"),
        ]
        | None
    ) = None
    guard: Annotated[bool, Field(description="refuse steps that turn a body too far for the method")] = True
    compensated: (
        Annotated[
            bool, Field(description="carry what rounding leaves out of positions and momenta; by default with wheels")
        ]
        | None
    ) = None
    units: Annotated[Literal[tuple(UNITS)], Field(description="how variables are labelled")] = "consistent"  # type: ignore[valid-type]
    epoch: (
        Annotated[str, Field(description="instant of time 0, such as '2030-01-01T00:00:00 TDB'; UTC unless it says so")]
        | None
    ) = None


class Output(Table):
    """Where results go, relative to the folder one is in."""

    file: Annotated[str, Field(description="ends in .nc or .zarr")] | None = None
    picture: Annotated[str, Field(description="ends in .png, .pdf or .svg")] | None = None
    store: (
        Annotated[str, Field(description="live store of a long run, ends in .zarr; `polhode resume` goes on from it")]
        | None
    ) = None


Words = list[str]
ByKey = dict[str, Any]


class Sweep(Table):
    """Many runs of this scenario, for `polhode sweep`: values for keys of the file, such as "system.weight"."""

    grid: Annotated[ByKey, Field(description="every combination of these values")] | None = None
    list: Annotated[ByKey, Field(description="values that belong together, as many for each key")] | None = None
    random: Annotated[ByKey, Field(description="drawn, such as { uniform = { low = 1.0, high = 2.0 } }")] | None = None
    latin_hypercube: Annotated[ByKey, Field(description="drawn, evenly in each key")] | None = None
    sobol: Annotated[ByKey, Field(description="drawn along a Sobol sequence")] | None = None
    count: Annotated[int, Field(ge=1, description="how many are drawn")] | None = None
    seed: Annotated[int, Field(ge=0, description="of what is drawn")] = 0
    keep: Annotated[Words, Field(description="variables that are kept; default all that have a time")] | None = None
    rows: Annotated[Literal["last", "all"], Field(description="what is kept of them")] = "last"
    chunk: Annotated[int, Field(ge=1, description="members in a task; measured by default")] | None = None
    store: Annotated[str, Field(description="Zarr folder, ends in .zarr, or a URL of object storage")] | None = None


class Members(Table):
    """Many members, for `polhode run`: what varies, in the place of the values of [system] and [initial]."""

    vary: (
        Annotated[ByKey, Field(description="values by name, or how they are drawn: weight = { normal = { ... } }")]
        | None
    ) = None
    table: Annotated[str, Field(description="CSV file with a column for each name, beside the scenario")] | None = None
    count: Annotated[int, Field(ge=1, description="how many are drawn")] | None = None
    design: Annotated[str, Field(description="random, latin_hypercube or sobol")] = "random"
    seed: Annotated[int, Field(ge=0, description="of what is drawn")] = 0
    reduce: (
        Annotated[ByKey, Field(description="statistics that are kept alone: attitude = ['mean', 'covariance']")] | None
    ) = None
    engine: Annotated[Literal["auto", "threads", "lanes", "device"], Field(description="what computes")] = "auto"


class ScenarioFile(MethodOptions):
    """A polhode scenario: one run, written down. Options of a method may stand beside its name or in its table."""

    title: str | None = None
    version: Annotated[
        Literal[2] | None, Field(description="2: a potential beside a torque, force or load of [system] acts, too")
    ] = None
    problem: Annotated[str, Field(description="a ready-made problem, see `polhode systems`")] | None = None
    system: Any = None
    """One of ``system_tables``; see ``scenario_file``."""
    initial: Any = None
    """The ``initial_table``; see ``scenario_file``."""
    elements: Elements | None = None
    method: Any = None
    """A string, or a ``MethodTable``; see ``scenario_file``."""
    events: Any = None
    """Words or ``event_tables``; see ``scenario_file``."""
    run: Run = Field(default_factory=Run)
    output: Output = Field(default_factory=Output)
    sweep: Sweep | None = None
    members: Members | None = None


def scenario_file() -> type[ScenarioFile]:
    """The model of a whole file, with the systems, forces, events, recipes and methods that are registered now."""
    return _file_with((*system_tables(), sum_table()), event_tables(), initial_table(), option_fields())


@lru_cache(maxsize=2)
def _file_with(
    systems: tuple[type[Table], ...], events: tuple[type[Table], ...], initial: type[Table],
    options: tuple[tuple[str, Any], ...],
) -> type[ScenarioFile]:  # fmt: skip
    event: Any = Annotated[
        Annotated[str, Tag("<word>")] | Annotated[one_of_kinds(list(events), EventOfBodies), Tag("<table>")],
        Discriminator(lambda value: "<word>" if isinstance(value, str) else "<table>"),
    ]
    looked_for = Field(description="what to look for: words such as 'periapsis', 'node', or tables with a kind")
    by_name: dict[str, Any] = {name: (kind, None) for name, kind in options}
    table: Any = create_model("MethodTable", __base__=MethodTable, __doc__=MethodTable.__doc__, **by_name)
    method: Any = Annotated[
        Annotated[str, Tag("<string>")] | Annotated[table, Tag("<table>")],
        Discriminator(lambda value: "<string>" if isinstance(value, str) else "<table>"),
    ]
    fields: dict[str, Any] = {
        "system": (one_of(systems, "type") | None, None),
        "initial": (initial, Field(default_factory=initial)),
        "method": (method | None, None),
        "events": (Annotated[list[event], looked_for] | None, None),
    }
    return create_model("ScenarioFile", __base__=ScenarioFile, __doc__=inspect.getdoc(ScenarioFile), **by_name | fields)


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
