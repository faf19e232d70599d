"""The words of ``polhode.arguments.words`` by the name that they had in 0.1."""

from __future__ import annotations

from typing import Any

from polhode.arguments import words
from polhode.errors import OldNameWarning, warn


def __getattr__(name: str) -> Any:
    found = getattr(words, name)
    warn(f"polhode.systems.words.{name} is now polhode.arguments.words.{name}", OldNameWarning)
    return found
