"""polhode's place in xarray: ``ds.polhode`` on every Dataset, and the engine ``"polhode"`` of ``xarray.open_dataset``.

``whenever_imported`` is called when polhode is imported. It registers the accessor at once if xarray is there already,
else as soon as somebody imports xarray, so the order of the imports does not matter and polhode need not import xarray
itself. The accessor, ``polhode.trajectory.accessor``, is loaded when it is first used. ``xarray_engine`` is the entry
point in the group ``xarray.backends``: xarray loads it whenever it opens a file, so there the accessor is registered
even where polhode was never imported.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

NAME = "polhode"


def accessor(ds: Any) -> Any:
    """What ``ds.polhode`` is: see ``polhode.trajectory.accessor``."""
    return importlib.import_module("polhode.trajectory.accessor").TrajectoryAccessor(ds)


def register() -> None:
    """Make ``ds.polhode`` known to xarray, unless it is."""
    xarray = sys.modules["xarray"]
    if hasattr(xarray, "register_dataset_accessor") and NAME not in vars(xarray.Dataset):
        xarray.register_dataset_accessor(NAME)(accessor)


class WithXarray:
    """A finder of modules that finds xarray as the others do, and registers the accessor when it has been imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The specification of xarray, by the other finders; None for every other module."""
        if name != "xarray":
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next((found for one in others if (found := one.find_spec(name, path, target)) is not None), None)
        loader: Any = None if spec is None else spec.loader
        if hasattr(loader, "exec_module"):
            execute = loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                register()

            loader.exec_module = exec_module
        return spec


def whenever_imported() -> None:
    """Register the accessor: now if xarray has been imported, else when it is."""
    if "xarray" in sys.modules:
        register()
    elif not any(isinstance(finder, WithXarray) for finder in sys.meta_path):
        sys.meta_path.insert(0, WithXarray())
