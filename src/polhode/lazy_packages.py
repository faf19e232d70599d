"""Packages that take long to import, imported when something of them is first asked for."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from polhode.lazy import opened


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
