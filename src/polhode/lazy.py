"""Modules and names that a package loads when they are first used, and packages that take long to import."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from contextlib import contextmanager, nullcontext
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from polhode.errors import MissingExtra, missing

Row = TypeVar("Row")


@contextmanager
def no_collections(lasting: bool = False) -> Iterator[None]:
    """A block in which Python does not look for unused objects: it would look at all there are, and find none. Those of
    a block whose objects are ``lasting`` are old ones afterwards."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if lasting and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # into the oldest generation
            gc.enable()


def opened(name: str) -> ModuleType:
    """A module, or the package that it needs in a sentence."""
    try:
        with nullcontext() if name in sys.modules else no_collections(lasting=True):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise missing(error) from None


def later(module: str, name: str) -> Callable[..., Any]:
    """What a module has under a name, loaded when it is called."""
    return lambda *given, **more: getattr(opened(module), name)(*given, **more)


def extra(name: str, told: str) -> Any:
    """A module of a package that need not be there, or the sentence that says what brings it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(told) from None


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


class Unmade(partial[Any]):
    """See ``unmade``."""


def unmade(make: Callable[..., Row], *arguments: object, **more: object) -> Row:
    """The row of a ``Table`` that this function of these arguments makes."""
    return Unmade(make, *arguments, **more)  # type: ignore[return-value]


class Table(dict[str, Row]):
    """A table by name, whose rows may be ``unmade`` until they are asked for."""

    def __getitem__(self, name: str) -> Row:
        row = super().__getitem__(name)
        if isinstance(row, Unmade):
            row = self[name] = row()
        return row

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401

    def values(self) -> ValuesView[Row]:  # type: ignore[override]
        return dict(self.items()).values()

    def items(self) -> ItemsView[str, Row]:  # type: ignore[override]
        return {name: self[name] for name in self}.items()

    def __repr__(self) -> str:
        return repr(dict(self.items()))


class Later(ModuleType):
    """A package that has not been asked for yet."""

    def __getattr__(self, attribute: str) -> Any:
        return getattr(opened(self.__name__), attribute)


if TYPE_CHECKING:
    import matplotlib as matplotlib
    import pandas
    import xarray

    pd, xr = pandas, xarray
else:
    matplotlib, pd, xr = map(Later, ("matplotlib", "pandas", "xarray"))
llvm, numba, shutil, tempfile = map(Later, ("llvmlite.binding", "numba", "shutil", "tempfile"))
cgutils, ir, types = map(Later, ("numba.core.cgutils", "llvmlite.ir", "numba.core.types"))
