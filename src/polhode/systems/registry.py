"""The systems by name, how one is added, and how one is built again from what its record keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from polhode.arguments.words import Argument, Form, arguments_of
from polhode.capabilities import known
from polhode.errors import InvalidInput
from polhode.plugins import Registry
from polhode.systems.user.forms import ACTS

if TYPE_CHECKING:
    from polhode.systems.record import System

SYSTEMS: Registry[Callable[..., System]] = Registry({})
"""The systems by the name of the function that builds them."""
BUILDERS: dict[str, Callable[..., System]] = {}
"""Functions that build systems of further names, which no scenario knows."""


def builder(name: str) -> Callable[..., System] | None:
    """The function that builds systems of a name; None for one that was put together by hand."""
    return SYSTEMS.get(name) or BUILDERS.get(name)


def add_system(build: Callable[..., System]) -> Callable[..., System]:
    """Add a system of one's own under the name of the function that builds it; returns the function.

    From then on scenarios, their schema, ``polhode systems`` and ``rerun`` know it, and ``polhode.<name>`` is the
    function. Adding the same function twice does nothing.

    Parameters
    ----------
    build : function
        Its arguments are annotated with words of ``polhode.arguments.words`` and described in the section Parameters of
        its docstring. The ``System`` it returns has its name, and the arguments from which it builds the same again.

    Raises
    ------
    InvalidInput
        Not a function, a name that another system has, or an argument whose annotation says nothing to a scenario.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from polhode.arguments.words import Acceleration, Mass
    >>> def falling(mass: Mass, gravity: Acceleration = 9.81) -> System:
    ...     made = particle(mass, gravity=(0.0, 0.0, -gravity))
    ...     return replace(made, name="falling", arguments={"mass": mass, "gravity": gravity})
    >>> add_system(falling)(2.0).conserves  # doctest: +SKIP
    ('energy',)
    """
    return SYSTEMS.add(build, "a system", "a System")


SAMPLES: dict[str, Any] = {"radius": 2.0, "n": 8}
"""Values of required arguments by name, with which ``sample_of`` builds a system; of others by their types."""
ONE_OF_TWO: dict[str, dict[str, Any]] = {
    "heavy_top": {"center_of_mass": (0.0, 0.0, 1.0), "weight": 1.0}, "gravitating_bodies": {"mass": (1.0, 2.0)},
}  # fmt: skip
"""The same of systems that need arguments with a default, because another argument may take their place."""


OF_TYPES: dict[Any, Any] = {
    float: 1.0, int: 1, bool: False, Form.NUMBER: 1.0, Form.NUMBER_OR_INFINITY: 1.0, Form.NUMBERS: (1.0, 2.0),
    Form.TIME_OR_EVENT: 1.0,
    Form.NUMBER_OR_NUMBERS: 1.0, Form.ROWS: ((1.0, 2.0), (3.0, 4.0)), Form.VECTOR: (0.0, 0.0, 1.0),
    Form.NUMBER_OR_VECTOR: 1.0, Form.VECTORS: ((0.0, 0.0, 1.0),), Form.VECTOR_OR_VECTORS: (0.0, 0.0, 1.0),
    Form.INERTIA: (1.0, 1.2, 2.0), Form.FORCES: (), Form.LOADS: (), Form.CELLS: 2, Form.INDICES: (0,), Form.SEED: 0,
}  # fmt: skip
"""A value of each type of argument."""


def sample_value(argument: Argument) -> Any:
    """A value of the kind that an argument takes; None where there is none, as for a function."""
    if get_origin(argument.type) is Literal:
        return get_args(argument.type)[0]
    return OF_TYPES.get(argument.type)


def provided_by(build: Callable[..., System]) -> frozenset[str] | None:
    """Capabilities of the systems that a function builds without its optional arguments, or those of its attribute
    ``provides``; None where that fails."""
    stated: Iterable[str] | None = getattr(build, "provides", None)
    if stated is not None:
        return known(stated)
    try:
        return frozenset(build(**sample_arguments(build)).provides)
    except InvalidInput:
        return None


def sample_arguments(build: Callable[..., System]) -> dict[str, Any]:
    """Values for the required arguments of a function that builds a system."""
    needed = {name: argument for name, argument in arguments_of(build).items() if argument.required}
    given = {name: SAMPLES.get(name, sample_value(argument)) for name, argument in needed.items()}
    missing = [name for name, value in given.items() if value is None]
    if missing:
        raise InvalidInput(f"there is no sample of argument {missing[0]!r} of {getattr(build, '__name__', build)}")
    return given | ONE_OF_TWO.get(getattr(build, "__name__", ""), {})


def built(name: str, arguments: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> System:
    """Rebuild a system from its name, its recorded arguments and the user's functions by keyword.

    Parameters
    ----------
    name : str
        Of the function that builds it, such as ``"heavy_top"``.
    arguments : mapping
        As ``System.arguments`` records them.
    functions : mapping
        The user's functions by keyword.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> ph.systems.built("heavy_top", top.arguments, {}).arguments == top.arguments
    True
    """
    build = builder(name)
    if build is None:
        raise KeyError(name)
    return build(**with_functions(name, arguments, functions))


# ------------------------------------------------------------------ functions by the names by which they are handed in
def key_of(k: int, count: int) -> str:
    """By what the function of a controller is handed in again."""
    return "command" if count == 1 else f"command_{k}"


def _controllers(arguments: Mapping[str, Any]) -> Sequence[Any]:
    """The records of the controllers of a system of one body; in a sum something else may be called so."""
    given = arguments.get("controllers") or ()
    return () if isinstance(given, Mapping) else given


def _with_loads(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Recorded arguments, and those of further loads by their names."""
    further = arguments.get("loads")
    return {**arguments, **further} if isinstance(further, Mapping) else dict(arguments)


def with_functions(system: str, arguments: Mapping[str, Any], functions: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a system with the user's functions in their places."""
    found, functions = named_now(system, arguments, functions)
    given = _controllers(found)
    keys = [key_of(k, len(given)) for k in range(len(given))]
    if given:
        found["controllers"] = [
            {**one, "command": functions[key]} if key in functions and isinstance(one, Mapping) else one
            for key, one in zip(keys, given, strict=True)
        ]
    keys += [key for key, *_ in _functions(_with_loads(found))]
    if isinstance(found.get("loads"), Mapping):
        found["loads"] = _with(found["loads"], functions)
    return _with(found, functions) | {name: one for name, one in functions.items() if name not in keys}


def recorded_functions(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The records of the user's functions among recorded arguments, by the names by which they are handed in again."""
    found = {key: value for key, value in arguments.items() if isinstance(value, dict) and "sha256" in value}
    found |= {key: record["function"] for key, *_, record in _functions(_with_loads(arguments))}
    given = _controllers(arguments)
    return found | {key_of(k, len(given)): one["command"] for k, one in enumerate(given)}


def handed_in(system: System) -> dict[str, Callable[..., Any]]:
    """The user's functions of a system by the names by which they are handed in again; loads that were added are found
    by their kinds."""
    records = _with_loads(system.arguments)
    by_kind = {name for name, one in records.items() if isinstance(one, Mapping) and "kind" in one}
    kept = {name for name in by_kind if "function" not in records[name]}
    return {name: user.function for name, user in system.functions.items() if name not in kept}


AT_EVENTS = ("at", "until", "after")
"""Arguments of summands that may be events; their functions are handed in as NAME_at, ..."""


def _functions(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """The records with functions: how they are handed in again, name of the summand, argument of the event, record."""
    for name, one in arguments.items():
        if isinstance(one, Mapping):
            events = ((f"{name}_{word}", name, word, one[word]) for word in AT_EVENTS if word in one)
            for found in ((name, name, "", one), *events):
                if isinstance(found[3], Mapping) and isinstance(found[3].get("function"), Mapping):
                    yield found


def _with(arguments: Mapping[str, Any], functions: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with these in the places of the records of functions."""
    found = dict(arguments)
    for key, name, word, record in _functions(arguments):
        if key in functions:
            other = {"function": functions[key]}
            found[name] = {**found[name], **({word: {**record, **other}} if word else other)}
    return found


REPORTED = ("rigid_body", "particle", "orbit", "spacecraft")
"""Systems of which a potential beside a load was only reported, before there was ``reported_energy``."""


def named_now(
    name: str, arguments: Mapping[str, Any], functions: Mapping[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Recorded arguments of a system, and functions handed in again, by their present names: a potential beside a load
    was only reported, where its record does not say that it acts."""
    records = recorded_functions(arguments)
    before = records.get("potential")
    acts = before is None or before.items() >= ACTS.items() or not {"torque", "force", "load"} & records.keys()
    if acts or name not in REPORTED:
        return dict(arguments), functions
    new = {"potential": "reported_energy"}
    both = ({new.get(key, key): value for key, value in one.items()} for one in (arguments, functions))
    return next(both), next(both)


def without_functions(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Recorded arguments but for the records of functions."""
    kept = {key: value for key, value in arguments.items() if not (isinstance(value, dict) and "sha256" in value)}
    kept = _with(kept, dict.fromkeys(recorded_functions(kept)))
    if isinstance(kept.get("loads"), Mapping):
        kept["loads"] = without_functions(kept["loads"])
    if given := _controllers(kept):
        kept["controllers"] = [{k: v for k, v in one.items() if k != "command"} for one in given]
    return kept
