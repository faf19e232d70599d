"""Modules and names that a package loads when they are first used, and packages that take long to import."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from polhode.errors import missing


def opened(name: str) -> ModuleType:
    """A module, or the package that it needs in a sentence."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise missing(error) from None


def public_names(names: Sequence[str]) -> Callable[[], list[str]]:
    """``__dir__`` of a module of users: its public names, not what it imports."""
    return lambda: sorted(names)


def loaded(package: str, homes: Mapping[str, str], name: str) -> Any:
    """What a package has under a name: the module that ``homes`` says, or what is called like it in ``module:``."""
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    home, colon, _ = homes[name].partition(":")
    module = opened(f"{package}.{home}")
    return getattr(module, name) if colon else module


class Later(ModuleType):
    """A package that has not been asked for yet."""

    def __getattr__(self, attribute: str) -> Any:
        return getattr(opened(self.__name__), attribute)


if TYPE_CHECKING:
    import matplotlib as matplotlib
    import xarray

    xr = xarray
else:
    matplotlib, xr = Later("matplotlib"), Later("xarray")
llvm, numba, shutil, tempfile = map(Later, ("llvmlite.binding", "numba", "shutil", "tempfile"))
cgutils, ir, types = map(Later, ("numba.core.cgutils", "llvmlite.ir", "numba.core.types"))
