"""Systems, methods, forces and the like from installed packages, by the entry-point group ``polhode.plugins``.

A package names a function without arguments, which adds what it has by ``polhode.systems.add_system``,
``polhode.loads.add_load``, ``polhode.methods.add_method``, ``polhode.methods.add_tableau``,
``polhode.forces.add_force``, ``polhode.events.add_event`` and ``polhode.initial.add_recipe``:

    [project.entry-points."polhode.plugins"]
    mine = "my_package.for_polhode:add"

It is called once in a process, when a name is looked for that is not polhode's own, or when all names are listed.
"""

from __future__ import annotations

import sys
import warnings
from types import FunctionType
from typing import Any

from polhode.arguments.words import arguments_of
from polhode.errors import InvalidInput, PolhodeWarning, shown
from polhode.lazy import Row, Table

GROUP = "polhode.plugins"
_loaded: list[bool] = []


def load_plugins() -> None:
    """Call every plug-in once; one that cannot be loaded, or raises, is skipped with a PolhodeWarning."""
    if _loaded or _importing():
        return
    from importlib.metadata import entry_points  # with what reads mail

    _loaded.append(True)  # first, for plug-ins look names up themselves
    for plugin in entry_points(group=GROUP):
        try:
            plugin.load()()
        except Exception as failed:
            warnings.warn(
                f"plug-in {plugin.name!r} ({plugin.value}) is skipped, for it raised {type(failed).__name__}: "
                f"{failed}; mend or uninstall its package",
                PolhodeWarning,
                stacklevel=3,
            )


def _importing() -> bool:
    """Whether the tables of polhode are being made at this moment."""
    rooms = (sys.modules.get(f"polhode.{room}") for room in ("systems", "methods"))
    return any(getattr(getattr(room, "__spec__", None), "_initializing", False) for room in rooms)


def _with_plugins(name: str) -> Any:
    """The method of a dict that tells all its names, once plug-ins are loaded."""

    def method(table: dict[str, Any]) -> Any:
        load_plugins()
        return getattr(dict, name)(table)

    return method


class Registry(Table[Row]):
    """A table by name; packages add their rows before a name is missed, or all are listed."""

    def add(self, build: Any, what: str, made: str) -> Any:
        """Add a function that makes ``made``, for a kind of ``what``, under its own name; returns it. Adding the same
        function twice does nothing.

        Raises
        ------
        InvalidInput
            Not a function, a name that another one has, or an argument whose annotation says nothing to a scenario.
        """
        name = build.__name__ if isinstance(build, FunctionType) else ""
        if not name.isidentifier():
            raise InvalidInput(f"build must be a function that returns {made}, not {shown(build)}")
        if self.get(name, build) is not build:
            raise InvalidInput(f"there is already {what} {name!r}; give the function another name")
        arguments_of(build)
        self[name] = build
        return build

    def __missing__(self, name: str) -> Row:
        load_plugins()
        if dict.__contains__(self, name):
            return dict.__getitem__(self, name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        if not dict.__contains__(self, name):
            load_plugins()
        return dict.__contains__(self, name)

    __iter__, __len__, keys = map(_with_plugins, ("__iter__", "__len__", "keys"))
