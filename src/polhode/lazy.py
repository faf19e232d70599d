"""Names that a package loads when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from polhode.errors import missing


def loaded(package: str, homes: Mapping[str, str], name: str) -> Any:
    """What a package has under a name: the module that ``homes`` says, or what is called like it in ``module:``."""
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    home, colon, _ = homes[name].partition(":")
    try:
        module = importlib.import_module(f"{package}.{home}")
    except ModuleNotFoundError as error:
        raise missing(error) from None
    return getattr(module, name) if colon else module
