"""Runs: a method driven over a system and recorded.

``integrate`` is one run: a record of ``request`` says what is asked, ``stepping`` takes the steps, ``result`` makes the
Dataset. ``store`` is its live store, and ``resume`` goes on from it; ``scenario`` reads and checks TOML files,
``compare`` measures errors, orders and cost of several methods. Files, pictures, words for the shell and the checks of
methods and systems (``polhode.checks``) live elsewhere. For users, beside what ``polhode`` itself has:
``read_scenario`` and ``write_scenario``, ``point_motion`` of points fixed in bodies, ``joint_forces``, ``poinsot``, the
curves of a free motion, ``free_rotation`` of many bodies, and the flat states that methods step: ``start_state``, and
the slices ``ATTITUDE`` and ``ANGULAR_MOMENTUM`` of them.
"""

from __future__ import annotations

from typing import Any

from polhode.lazy import loaded, public_names

_HOMES = {
    "poinsot": "poinsot", "point_motion": "points:", "joint_forces": "points:",
    "read_scenario": "scenario:", "write_scenario": "scenario:",
    "free_rotation": "free_motion:", "start_state": "initial_state:", "ATTITUDE": "initial_state:",
    "ANGULAR_MOMENTUM": "initial_state:",
}  # fmt: skip
__all__ = [*_HOMES]
__dir__ = public_names(__all__)


def __getattr__(name: str) -> Any:
    return loaded(__name__, _HOMES, name)
