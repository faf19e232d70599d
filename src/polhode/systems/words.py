"""The words of ``polhode.arguments.words`` by the name that they had in 0.1."""

from __future__ import annotations

import warnings
from typing import Any

from polhode.arguments import words


def __getattr__(name: str) -> Any:
    found = getattr(words, name)
    warnings.warn(f"write: from polhode.arguments.words import {name}", DeprecationWarning, stacklevel=2)
    return found
