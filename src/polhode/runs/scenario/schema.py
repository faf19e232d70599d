"""The tables of a scenario file, made from the annotated signatures of what they call (systems, forces, loads, events,
initial states) and from the table of methods; and their JSON schema."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Literal, get_args, get_origin

from polhode.arguments.words import Argument, Form, ListOf, TableOf, arguments_of, summary
from polhode.loads import LOADS
from polhode.methods import options_by_name
from polhode.runs.scenario.initial_state import keys
from polhode.runs.scenario.tables import FUNCTION, Part, Table
from polhode.runs.scenario.toml_lines import Key
from polhode.runs.state import AS_GIVEN, given_state
from polhode.surroundings.surrounding import OWN
from polhode.systems import SYSTEMS
from polhode.systems.events import EVENTS
from polhode.systems.forces import FORCES
from polhode.systems.listing import SUMMANDS
from polhode.systems.sum import system
from polhode.trajectory import UNITS


def listed(of: Part, count: int | None = None) -> dict[str, Any]:
    """A list of things, of so many."""
    return {"type": "array", "items": of} | ({} if count is None else {"minItems": count, "maxItems": count})


def either(*parts: Part, **words: object) -> dict[str, Any]:
    """One of several, told apart by their shapes, or tables by a key."""
    return {"oneOf": [*parts], **words}


def one_word(*words: str | int) -> dict[str, Any]:
    """One of some words, or numbers."""
    return {"type": "string" if isinstance(words[0], str) else "integer", "enum": [*words]}


def one_of(tables: Iterable[Table], word: str) -> dict[str, Any]:
    """One of several tables, told apart by a key."""
    return either(*tables, by=word, discriminator=True)


def from_least(least: int) -> dict[str, Any]:
    """A whole number."""
    return {"type": "integer", "minimum": least}


NUMBER, WHOLE, TEXT, TRUTH = ({"type": kind} for kind in ("number", "integer", "string", "boolean"))
NUMBERS, VECTOR, QUATERNION = listed(NUMBER), listed(NUMBER, 3), listed(NUMBER, 4)
NAMED = {"type": "object", "additionalProperties": True}
FUNCTION_NAME = {"type": "string", "pattern": FUNCTION}
NAMED_NUMBERS = {"type": "object", "additionalProperties": {"anyOf": [NUMBER, NUMBERS]}}
NUMBER_OR_LIST, WORDS = either(NUMBER, NUMBERS), either(TEXT, listed(TEXT))
STATES = {"type": "object", "additionalProperties": {"anyOf": [WHOLE, NUMBER, NUMBERS, NAMED]}}
TIME_OR_EVENT = either(NUMBER, NAMED)


def part_of(kind: Any) -> Part:
    """What the type of an argument stands for in a scenario."""
    if isinstance(kind, dict | Table):
        return kind
    if isinstance(kind, ListOf | TableOf):
        return listed(table_of(kind.build)) if isinstance(kind, ListOf) else table_of(kind.build)
    if kind is Form.FORCES:
        return listed(one_of((table_of(build, "kind", "Force") for build in FORCES.values()), "kind"))
    if kind is Form.LOADS:
        return listed(of_group("loads", LOADS))
    return one_word(*get_args(kind)) if get_origin(kind) is Literal else PARTS[kind]


def key(name: str, kind: object, about: str = "", unit: str | None = None, default: object = None) -> Argument:
    """A key that may be left out."""
    return Argument(name, kind, unit, about, False, default)


def needed(name: str, kind: object, about: str = "") -> Argument:
    """A key that may not be left out."""
    return Argument(name, kind, None, about, True, None)


def table(name: str, about: str, *keys: Argument, tag: str = "", further: Part | None = None) -> Table:
    """A table with these keys."""
    return Table(name, about, {one.name: one for one in keys}, part_of, tag, further)


# ------------------------------------------------------------------ values
MASS, RADIUS, HOLLOW = needed("mass", float), needed("radius", float), key("inner_radius", float, default=0.0)
SHAPES = {
    "box": table("Box", "Homogeneous box.", MASS, needed("sides", VECTOR)),
    "ellipsoid": table("Ellipsoid", "Homogeneous ellipsoid.", MASS, needed("semi_axes", VECTOR)),
    "sphere": table("Sphere", "Homogeneous sphere or shell.", MASS, RADIUS, HOLLOW),
    "cylinder": table("Cylinder", "Homogeneous cylinder or tube, axis along z.", MASS, RADIUS, needed("height", float),
                      HOLLOW),
    "disk": table("Disk", "Flat disk or ring, axis along z.", MASS, RADIUS, HOLLOW),
    "thin_rod": table("ThinRod", "Rod along z without thickness.", MASS, needed("length", float)),
    "point_masses": table("PointMasses", "Rigidly connected point masses.", needed("masses", NUMBERS),
                          needed("positions", listed(VECTOR))),
}  # fmt: skip
"""The tables of shapes, whose inertia functions of these names compute."""
BODY = table(
    "Body", "Inertia from a shape: exactly one of the shapes, and the point it is about (default: the centre of mass).",
    *(key(name, shape) for name, shape in SHAPES.items()), key("about", VECTOR),
)  # fmt: skip
AT_REST = {"type": "number", "minimum": 0, "maximum": 0, "description": "0: at rest"}
PARTS: dict[Any, Part] = {
    float: NUMBER, int: WHOLE, str: TEXT, bool: TRUTH, Form.NUMBER: NUMBER,
    Form.NUMBER_OR_INFINITY: {"type": "number", "finite": False}, Form.NUMBERS: NUMBERS,
    Form.TIME_OR_EVENT: TIME_OR_EVENT, Form.FUNCTION_OR_NUMBERS: either(FUNCTION_NAME, NAMED_NUMBERS),
    Form.NUMBER_OR_NUMBERS: NUMBER_OR_LIST, Form.ROWS: listed(NUMBERS), Form.VECTOR: VECTOR,
    Form.NUMBER_OR_VECTOR: either(NUMBER, VECTOR), Form.VECTORS: listed(VECTOR),
    Form.VECTOR_OR_VECTORS: either(VECTOR, listed(VECTOR)), Form.INERTIA: either(VECTOR, listed(VECTOR, 3), BODY),
    Form.FUNCTION: FUNCTION_NAME, Form.QUATERNIONS: either(QUATERNION, listed(QUATERNION)),
    Form.VELOCITIES: either(VECTOR, listed(VECTOR), AT_REST), Form.NUMBERS_OR_ROWS: either(NUMBERS, listed(NUMBERS)),
    Form.CELLS: either(WHOLE, listed(WHOLE, 3)), Form.INDICES: listed(WHOLE), Form.SEED: from_least(0),
    Form.WORDS: WORDS, Form.FILE: TEXT, Form.NAMED_NUMBERS: NAMED_NUMBERS, Form.STATES: STATES,
}  # fmt: skip
"""What checks a value, for each type of an argument that needs no tables made of signatures."""
OF_ONE = {Form.VECTOR_OR_VECTORS: Form.VECTOR, Form.VELOCITIES: Form.VECTOR}
"""Words for what is said of one body alone."""
SPELLED = {
    Form.INERTIA: "or a shape such as { box = { mass, sides } }",
    Form.FUNCTION: "written 'file.py:function', a Python file beside the scenario",
    Form.FILE: "its name is relative to the scenario",
}
"""What follows the description of an argument, which speaks of Python."""


def spelled(one: Argument) -> Argument:
    """An argument as a key of a scenario."""
    words = "; ".join(filter(None, (one.description, SPELLED.get(one.type, ""))))
    default = one.default if isinstance(one.default, float | int | str) else None
    if default is not None and PARTS.get(one.type) is NUMBER:
        default = float(default)
    return replace(one, description=words, default=default)


@cache
def table_of(build: Callable[..., Any], word: str = "", suffix: str = "", group: str = "") -> Table:
    """The table of the arguments of a function beside the keys of its group; the key ``word``, if any, has its name."""
    name = build.__name__
    title = "".join(part.capitalize() for part in name.split("_")) + suffix
    tag = [needed(word, one_word(name))] if word else []
    arguments = map(spelled, arguments_of(build).values())
    more = GROUPS[group][1] if group else ()
    return table(title, summary(build), *more, *tag, *arguments, tag=name if word else "")


# ------------------------------------------------------------------ summands
PLACED = (
    key("name", str, "its name in the system; by default that of its function"),
    key("on", WORDS, "names of the bodies it is on; by default each"),
    key("states", STATES, "states that it brings: their values at the start"),
    key("renamed", {"type": "object", "additionalProperties": TEXT},
        "states and surroundings that have other names than in its function"),
)  # fmt: skip
"""Keys of what has a name of its own and is on bodies."""
OF_LOADS = (
    *PLACED,
    key("each", {"type": "object", "additionalProperties": listed(NUMBER_OR_LIST)},
        "numbers of which each body has its own"),
    key("after", TIME_OR_EVENT, f"when it begins: {Form.TIME_OR_EVENT.value}"),
    key("until", TIME_OR_EVENT, f"when it ends: {Form.TIME_OR_EVENT.value}"),
)  # fmt: skip
KIND = needed("kind", FUNCTION_NAME, "'file.py:function', or 'package.module:function'")
USER_LOAD = table(
    "UserLoad", "A load that is a function of yours; its parameters stand beside these keys, by their names.",
    *OF_LOADS, KIND,
    key("returns", one_word("acceleration", "states"),
        "'acceleration' of one that returns that, not a force; 'states' of one that is on no body"), further={},
)  # fmt: skip
USER_EVENT = table(
    "EventOfBodies",
    "Where a function of yours of bodies changes sign; its parameters stand beside these keys, by their names.",
    KIND, key("on", WORDS, "names of the bodies; by default the only one"),
    key("direction", one_word(-1, 0, 1), "only rising (1) or falling (-1) changes", default=0),
    key("terminal", bool, "whether the run ends there", default=False),
    key("name", str, "name of the event; by default that of its function"), further={},
)  # fmt: skip
USER_SURROUNDING = table(
    "UserSurrounding",
    "A quantity of the surroundings that is a function of yours; its parameters stand beside its kind.",
    KIND, further={},
)  # fmt: skip
GROUPS: dict[str, tuple[str, tuple[Argument, ...], Table | None]] = {
    "bodies": ("OfSystem", (), None), "loads": ("Load", OF_LOADS, USER_LOAD),
    "joints": ("Joint", (needed("on", WORDS, "names of the two bodies; the second may be 'ground'"),), None),
    "controllers": ("OfSystem", PLACED, None), "surroundings": ("Around", (), USER_SURROUNDING),
}  # fmt: skip
"""Of each group of summands the end of the names of its tables, the keys they all have, and the table of one that is a
function of the user's."""
TYPE = "system"
"""The type of a [system] that is a sum, and the name of such systems."""


def of_group(group: str, makers: Mapping[str, Callable[..., Any]]) -> Part:
    """A summand of a group: one of the tables of its kinds, or that of a function of the user's."""
    suffix, _, own = GROUPS[group]
    tables = [table_of(build, "kind" if own or len(makers) > 1 else "", suffix, group) for build in makers.values()]
    if own is None:
        return tables[0] if len(tables) == 1 else one_of(tables, "kind")
    return either(*tables, own, by="kind")


def of_whole() -> dict[str, Argument]:
    """The keys of [system] that are of the whole sum."""
    return arguments_of(system, ("summands", "surroundings", "recorded"))


def sum_table() -> Table:
    """The table ``[system]`` of a sum, with the kinds of summands that are registered now."""
    groups = {group: of_group(group, makers) for group, makers in SUMMANDS.items()}
    said = "What surrounds bodies: quantities that loads and controllers read by these names."
    around = table("Surroundings", said, further=groups.pop("surroundings"))
    return table(
        "Sum", "A system as the sum of bodies and of what acts on them.", needed("type", one_word(TYPE)),
        *map(spelled, of_whole().values()), *(key(group, listed(one)) for group, one in groups.items()),
        key("surroundings", around), tag=TYPE,
    )  # fmt: skip


def as_record(told: dict[str, Any]) -> dict[str, Any]:
    """The words of a summand as its record has them: a controller's function and parameters as those of loads."""
    if told.get("kind") == "controller" and "command" in told:
        told["function"] = told.pop("command")
        told |= told.pop("parameters", {})
    return told


def entries(table: Mapping[str, Any]) -> Iterator[tuple[Key, Callable[..., Any] | None, dict[str, Any]]]:
    """Of each summand its slot, the function that makes it (None for one of the user's), and its record with its name
    in it."""
    for group, makers in SUMMANDS.items():
        found = table.get(group) or ()
        for slot, one in found.items() if isinstance(found, dict) else enumerate(found):
            build, given = entry(one, makers, {"kind": OWN} if group == "surroundings" else {})
            yield (TYPE, group, slot), build, given | ({"name": slot} if isinstance(slot, str) else {})


def entry(
    told: dict[str, Any], makers: Mapping[str, Callable[..., Any]] = LOADS, own: Mapping[str, str] = {}
) -> tuple[Callable[..., Any] | None, dict[str, Any]]:
    """The function that makes a summand, one of these (None for one of the user's), and its record with its name in
    it."""
    given: dict[str, Any] = {"kind": next(iter(makers))} | told
    if ":" not in given["kind"]:
        return makers[given["kind"]], given
    return None, given | {"function": given.pop("kind"), "kind": given.pop("returns", None) or "", **own}


# ------------------------------------------------------------------ the file
ELEMENTS = table(
    "Elements",
    "Classical elements of an orbit, instead of position and velocity: one of the three sizes, at most one anomaly.",
    key("semi_major_axis", float, "negative for a hyperbola", "m"),
    key("semi_latus_rectum", float, unit="m"),
    key("periapsis", float, "distance from the centre", "m"),
    key("eccentricity", float, default=0.0),
    key("inclination", float, "rad, from 0 to pi", "rad", 0.0),
    key("node", float, "rad, longitude of the ascending node from x", "rad", 0.0),
    key("argument_of_periapsis", float, "rad, from the node", "rad", 0.0),
    key("true_anomaly", float, "rad; default 0, the periapsis", "rad"),
    key("mean_anomaly", float, "rad, instead of the true one", "rad"),
)
RUN = table(
    "Run", "Step or tolerance, span, and what is recorded.",
    key("step", float, "positive", "s"),
    key("rtol", float, "instead of step: tolerance of a step, rad or relative, that chooses it"),
    key("atol", float, "absolute part of the tolerance; default 1e-3 rtol"),
    key("t_end", float, "with step a whole number of them from t0", "s"),
    key("steps", int, "instead of t_end, with step"),
    key("first_step", float, "with rtol: the first step to try", "s"),
    key("max_step", float, "with rtol: the largest step", "s"),
    key("max_steps", from_least(1), "with rtol: most steps to try"),
    key("t0", float, unit="s", default=0.0),
    key("since", float, "of a run that is the rest of another: where that began", "s"),
    key("commanded", bool, "of the rest of another run: controllers have set states at t0", default=False),
    key("every", from_least(1), "record every this many steps", default=1),
    key("t_eval", NUMBERS, "record at exactly these times instead", "s"),
    key("breaks", NUMBERS, "times at which loads of your own jump: steps are cut there", "s"),
    key("tangent", {"anyOf": [TRUTH, listed(TEXT)]},
        "derivatives by the state at the start (true), and by parameters, such as ['inertia']"),
    key("project", bool, "change a start that does not meet the joints to the nearest that does", default=False),
    key("reduce", NAMED, "statistics of the rows, of which the last one alone is kept: energy = ['mean', 'extremes']"),
    key("guard", bool, "refuse steps that turn a body too far for the method", default=True),
    key("compensated", bool, "carry what rounding leaves out of positions and momenta; by default with wheels"),
    key("units", one_word(*UNITS), "how variables are labelled; by default SI about a known planet, else consistent"),
    key("epoch", str, "instant of time 0, such as '2030-01-01T00:00:00 TDB'; UTC unless it says so"),
)  # fmt: skip
OUTPUT = table(
    "Output", "Where results go, relative to the folder one is in.",
    key("file", str, "ends in .nc or .zarr"),
    key("picture", str, "ends in .png, .pdf or .svg"),
    key("store", str, "live store of a long run, ends in .zarr; `polhode resume` goes on from it"),
)  # fmt: skip
SWEEP = table(
    "Sweep", 'Many runs of this scenario, for `polhode sweep`: values for keys of the file, such as "system.weight".',
    key("grid", NAMED, "every combination of these values"),
    key("list", NAMED, "values that belong together, as many for each key"),
    key("random", NAMED, "drawn, such as { uniform = { low = 1.0, high = 2.0 } }"),
    key("latin_hypercube", NAMED, "drawn, evenly in each key"),
    key("sobol", NAMED, "drawn along a Sobol sequence"),
    key("count", from_least(1), "how many are drawn"),
    key("seed", from_least(0), "of what is drawn", default=0),
    key("keep", listed(TEXT), "variables that are kept; default all that have a time"),
    key("rows", one_word("last", "all"), "what is kept of them", default="last"),
    key("chunk", from_least(1), "members in a task; measured by default"),
    key("store", str, "Zarr folder, ends in .zarr, or a URL of object storage"),
)  # fmt: skip
MEMBERS = table(
    "Members", "Many members, for `polhode run`: what varies, in the place of the values of [system] and [initial].",
    key("vary", NAMED, "values by name, or how they are drawn: weight = { normal = { ... } }"),
    key("table", str, "CSV file with a column for each name, beside the scenario"),
    key("count", from_least(1), "how many are drawn"),
    key("design", str, "random, latin_hypercube or sobol", default="random"),
    key("seed", from_least(0), "of what is drawn", default=0),
    key("reduce", NAMED, "statistics that are kept alone: attitude = ['mean', 'covariance']"),
    key("engine", one_word("auto", "threads", "lanes", "device"), "what computes", default="auto"),
)  # fmt: skip
MOST_WORDS = 8
"""Values of an option that its description lists."""


def option_keys() -> Iterator[Argument]:
    """The keys of the options of all methods that there are now; the method checks their values."""
    for name, options in options_by_name().items():
        first = options[0]
        words = list(dict.fromkeys(word for option in options for word in option.choices() if first.kind is str))
        about = [first.description, *[", ".join(map(repr, words))] * (0 < len(words) <= MOST_WORDS)]
        least = {} if first.least is None else {"least": min(option.least or 0 for option in options)}
        kind = PARTS[first.kind] | ({"finite": False} if first.kind is float else {}) | least
        yield key(name, kind, "; ".join(filter(None, about)))


def initial_table() -> Table:
    """The table ``[initial]``, with the keys of all recipes that there are now."""
    about = (inspect.getdoc(given_state) or "").split("\n\nParameters\n")[0]
    said = "Initial state of one body of a system, by its name."
    further = table("InitialOfBody", said, *map(spelled, of_one_body()))
    return table("Initial", about, *map(spelled, keys().values()), further=further)


def of_one_body() -> list[Argument]:
    """The keys of ``[initial.NAME]``, of one body of a sum."""
    known = [one for name, one in arguments_of(given_state).items() if name not in AS_GIVEN]
    return [
        replace(one, type=OF_ONE.get(one.type, one.type), description=one.description.partition("; of several")[0])
        for one in known
    ]


def scenario_file() -> Table:
    """The table of a whole file, with the systems, forces, events, recipes and methods that are registered now."""
    options = [*option_keys()]
    named = needed("name", str, "such as 'trapm' or 'mkrk:gauss4:cayley'; see `polhode methods`")
    method = table("MethodTable", "A method with its options by name.", named, *options)
    events = [table_of(build, "kind", "Event") for build in EVENTS.values()]
    event = either(TEXT, either(*events, USER_EVENT, by="kind"), **{"else": 1})
    return table(
        "ScenarioFile",
        "A polhode scenario: one run, written down. Options of a method may stand beside its name or in its table.",
        key("title", str),
        key("version", one_word(2), "2: a potential beside a torque, force or load of [system] acts, too"),
        key("problem", str, "a ready-made problem, see `polhode systems`"),
        key("system", one_of([*(table_of(SYSTEMS[name], "type") for name in SYSTEMS), sum_table()], "type")),
        key("initial", initial_table()), key("elements", ELEMENTS),
        key("method", either(TEXT, method, **{"else": 1})),
        key("events", listed(event), "what to look for: words such as 'periapsis', 'node', or tables with a kind"),
        key("run", RUN), key("output", OUTPUT), key("sweep", SWEEP), key("members", MEMBERS), *options,
    )  # fmt: skip


def json_schema() -> dict[str, Any]:
    """The JSON schema of scenario files."""
    tables: dict[str, Any] = {}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": tables, **scenario_file().published(tables)
    }  # fmt: skip
