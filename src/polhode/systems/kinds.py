"""What sums are made of, in one table: scenarios, their schema, listings and examples read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polhode.bodies.body import body
from polhode.loads import LOADS
from polhode.surroundings import SURROUNDINGS
from polhode.systems.controllers import controller

SUMMANDS: dict[str, Mapping[str, Callable[..., Any]]] = {
    "bodies": {"body": body}, "loads": LOADS, "controllers": {"controller": controller}, "surroundings": SURROUNDINGS,
}  # fmt: skip
"""By the name of their list, or table, in a scenario, the functions that make summands, by kind."""
