"""Runs: a method driven over a system and recorded.

``integrate`` is one run: a record of ``request`` says what is asked, ``stepping`` takes the steps, ``result`` makes the
Dataset. ``store`` is its live store, and ``resume`` goes on from it; ``scenario`` reads and checks TOML files,
``compare`` measures errors, orders and cost of several methods. Files, pictures, words for the shell and the checks of
methods and systems (``polhode.checks``) live elsewhere. For users, beside what ``polhode`` itself has:
``read_scenario`` and ``write_scenario``, ``point_motion`` of points fixed in bodies, and ``poinsot``, the curves of a
free motion.
"""

from __future__ import annotations

from typing import Any

from polhode.lazy import loaded, public_names

_HOMES = {"poinsot": "poinsot", "point_motion": "points:", "read_scenario": "scenario:", "write_scenario": "scenario:"}
__all__ = [*_HOMES]
__dir__ = public_names(__all__)


def __getattr__(name: str) -> Any:
    return loaded(__name__, _HOMES, name)
