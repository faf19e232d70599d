"""Commands from their functions: each parameter says how its option is called, what it means, and what it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click


def option(names: str, told: str, **settings: Any) -> Any:
    """The default of a parameter that is an option: its names, its line of help, and settings of click."""
    return names.split(), {"help": told, **settings}


def argument(**settings: Any) -> Any:
    """The default of a parameter that is an argument, with settings of click."""
    return [], settings


OUTPUT = option("-o --output", "Trajectory to write: .nc (netCDF) or .zarr.")
STEP = option("--step", "Step instead of the scenario's.")
THREADS = option("--threads", "Processors that share the loads of many bodies.", type=click.IntRange(min=1), default=1)
NO_PICTURE = option("--no-picture", "Write no PNG.")
JSON = option("--json", "Print a summary for machines on stdout.")
OVERWRITE = option("--overwrite", "Replace files that polhode did not write.")
QUIET = option("-q --quiet", "Say nothing unless something is wrong.")
ALLOW_CODE = option("--allow-code", "Load the Python functions the scenario names. Read them first.")


def as_command(function: Callable[..., None], kind: type[click.Command] = click.Command) -> click.Command:
    """The command of a function, with its name and help; of one called ``command`` the name is that of its file."""
    name = function.__name__ if function.__name__ != "command" else function.__module__.rpartition(".")[2]
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return kind(name, callback=function, help=function.__doc__, params=[_parameter(one) for one in parameters])


def _parameter(one: inspect.Parameter) -> click.Parameter:
    """What click makes of a parameter: its annotation is the type of its value, of a tuple that of each of several."""
    names, settings = one.default
    either = get_origin(one.annotation) in (Union, UnionType)
    (hint,) = set(get_args(one.annotation)) - {NoneType} if either else (one.annotation,)
    several = get_origin(hint) is tuple
    hint = get_args(hint)[0] if several else hint
    if hint is bool:
        settings = {"is_flag": True, **settings}
    else:
        choices = click.Choice(get_args(hint)) if get_origin(hint) is Literal else hint
        settings = {"type": click.Path(path_type=Path) if hint is Path else choices, **settings}
    if several:
        settings = {"multiple": True, **settings} if names else {"nargs": -1, **settings}
    made: type[click.Parameter] = click.Option if names else click.Argument
    return made([*names, one.name], **settings)
