"""Derivatives of flows that are not those of their source: of solutions that an iteration finds."""

from __future__ import annotations

from typing import Any

RULES: tuple[tuple[Any, Any], ...] = ()
"""Pairs (helper, rule) for ``kernel.tangent_mode.derivative_rules``."""
