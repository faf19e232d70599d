"""The table of samples in the parameters of a system (``kernel.sampling``): rows of noise, controllers and valves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InvalidInput
from polhode.kernel.sampling import COPY, NOISE, PULSE
from polhode.loads import Load
from polhode.loads.thrust import CLOSES, COMMAND, OPEN
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.sampling import Sampled
from polhode.systems.states import Noise

if TYPE_CHECKING:
    from polhode.systems.commands import CommandProgram
    from polhode.systems.controllers import Controller

UNLIMITED = 1e300

Row = tuple[list[float], Sampled]
"""A row as numbers, and as runs see it."""
Places = Mapping[str, Sequence[int]]
"""Numbers of the auxiliary variables of each state."""


def noise_rows(noises: Sequence[tuple[str, Noise]], at: Places) -> list[Row]:
    """The rows of states that are noise."""
    found = []
    for stream, (name, noise) in enumerate(noises):
        drawn = [[index, index, noise.kept, noise.fresh, noise.seed, 2**20 * stream + n]
                 for n, index in enumerate(at[name])]  # fmt: skip
        row = [noise.every, noise.phase, NOISE, len(drawn), *chain(*drawn)]
        found.append((row, Sampled(noise.every, noise.phase, None)))
    return found


def valve_row(load: Load, at: Places) -> Row:
    """The row of thrusters that fire in pulses."""
    every, (count, period, phase, shortest, resolution) = [], load.valves
    places = (at[load.reads.get(name, name)] for name in (COMMAND, OPEN, CLOSES))
    for command, valve, closes in zip(*places, strict=True):
        every += [command, valve, shortest, resolution, 0, closes]
    return [period, phase, PULSE, count, *every], Sampled(period, phase, None, True)


def controller_rows(one: Controller, k: int, command: CommandProgram, at: Places) -> list[Row]:
    """The rows of a controller whose function is number ``k``: what it sets now, and what it sets between samples."""
    whole, beyond = one.late
    own = [index for name in one.sets for index in at[name]]
    limits, steps = (_each(value, len(own), f"{one.described}: {word}") for value, word in (
        (one.limit, "limit"), (one.resolution, "resolution")))  # fmt: skip
    now, later = [], []
    slot = 0
    for name in one.sets:
        size = len(at[name])
        register = at.get(register_of(name), [0])[0] if whole or beyond else 0
        for n, index in enumerate(at[name]):
            limit, step = limits[slot] or UNLIMITED, steps[slot]
            slot += 1
            mine = register + n * whole
            pending = register + size * whole + n  # the last registers hold what is set later
            now.append([index, pending if beyond else index, limit, step, whole, mine])
            later.append([pending, index, UNLIMITED, 0.0, 0, 0])
    now += [[index, index, UNLIMITED, 0.0, 0, 0] for name in one.keeps for index in at[name]]
    rows = [([one.every, one.phase, k, len(now), *chain(*now)], Sampled(one.every, one.phase, command))]
    if beyond:
        row = [one.every, one.phase + beyond, COPY, len(later), *chain(*later)]
        rows.append((row, Sampled(one.every, one.phase + beyond, None)))
    return rows


def with_table(numbers: Any, rows: Sequence[Row]) -> dict[str, Any]:
    """The attributes of a system with these parameters and rows."""
    table = [float(len(rows)), *(x for row, _ in rows for x in row)]
    sampled = tuple(one for _, one in rows)
    return {"parameters": np.concatenate([numbers, table]), "samples_at": len(numbers), "sampled": sampled}


def register_of(name: str) -> str:
    """The name of the registers in which values of a state are on their way."""
    return f"{name.replace('.', '_')}_delayed"


def registers(one: Controller, name: str, starts: Sequence[float]) -> list[AuxiliaryVariable]:
    """The registers of a state with these values at the start: those of whole samples number by number, then those of
    what is set between samples."""
    whole, beyond = one.late
    register, words = register_of(name), f"values of {name!r} on their way"
    held = [x for x in starts for _ in range(whole)] + list(starts) * (beyond > 0.0)
    return [AuxiliaryVariable(register, str(k), True, True, x, f"{register}_component", "", words)
            for k, x in enumerate(held)]  # fmt: skip


def _each(given: Any, count: int, name: str) -> list[float]:
    """A number for each; 0 without."""
    if isinstance(given, tuple):
        if len(given) != count:
            raise InvalidInput(f"{name} has {len(given)} numbers, but the controller sets {count}; give one for each")
        return list(given)
    return [given or 0.0] * count
