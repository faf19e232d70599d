"""The table of forces in the parameters of ``orbit`` and ``spacecraft``, and the compiled functions that evaluate it.

Layout of the parameters: mu; number of forces; index of the system's own parameters; one row per force; the numbers of
the forces; the burns; the system's own parameters. A row is: code of the force, index of its numbers, the part of the
loads it belongs to, index of the auxiliary variable that is its work or -1, and index of the burns if its acceleration
depends on the falling mass, else 0.

A system may add rows behind the counted ones, for what is not a force on its centre of mass (the air that meets the
plates). The row of an impulse belongs to no part, as its work is added at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from polhode.algebra.so3 import add, dot, scale
from polhode.arguments import array, number
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.kernel import layout as L
from polhode.kernel.jit import helper, python_of
from polhode.systems.events import ALTITUDE, CYLINDER, PENUMBRA, WITHIN
from polhode.systems.forces import (
    CODES,
    FIRING,
    FRAMES,
    LIT,
    NO_LEVEL,
    NOWHERE,
    RADIATION,
    SHADOWS,
    THRUST,
    Force,
    Impulse,
    acceleration_of,
    force_of,
    mass_share,
    potential_of,
    potential_rate_of,
)
from polhode.systems.record import AuxiliaryVariable, Switch, Watch

COUNT, AUXILIARY, ROWS, ROW = 1, 2, 3, 5


# ------------------------------------------------------------------ evaluation
@helper
def acceleration(part, p, t, r, v, mass, out, work_at):
    """Acceleration of a point by the centre and the forces of the table, or by the requested parts of them.

    Adds to ``out[work_at:]`` the rates of work on the mass: the power of a force, or the partial time derivative of a
    potential.
    """
    mu = p[0]
    a = (0.0, 0.0, 0.0)
    if part & L.ATTRACTION != 0:
        square = dot(r, r)
        a = scale(-mu / (square * np.sqrt(square)), r)
    for k in range(int(p[COUNT])):
        row = ROWS + ROW * k
        code, at, kind = int(p[row]), int(p[row + 1]), int(p[row + 2])
        auxiliary, burns = int(p[row + 3]), int(p[row + 4])
        requested = part & kind != 0
        working = auxiliary >= 0 and part & (L.POTENTIAL_PART if kind == L.POTENTIAL_PART else L.MOVING) != 0
        if requested or (working and kind == L.RESTING):
            b = acceleration_of(code, p, at, mu, t, r, v)
            if burns > 0:
                b = scale(1.0 / mass_share(p, burns, t), b)
            if requested:
                a = add(a, b)
            if working:
                rate = potential_rate_of(code, p, at, mu, t, r) if kind == L.POTENTIAL_PART else dot(b, v)
                out[work_at + auxiliary] += mass * rate
    return a


@helper
def level(p, t, r):
    """Potential per unit mass of the centre and of the forces that have one."""
    mu = p[0]
    total = -mu / np.sqrt(dot(r, r))
    for k in range(int(p[COUNT])):
        row = ROWS + ROW * k
        if p[row + 2] == L.POTENTIAL_PART:
            total += potential_of(int(p[row]), p, int(p[row + 1]), mu, t, r)
    return total


# ------------------------------------------------------------------ construction
@dataclass(frozen=True)
class ForceTable:
    """What a list of forces contributes to a system.

    Attributes
    ----------
    forces : tuple of Force
        The forces.
    parameters : array
        The table, then the system's own parameters from ``parameters[AUXILIARY]`` on.
    places : tuple of int
        Where the numbers of the rows of ``beside`` begin.
    auxiliary, switches, impulses, watches, mass_at
        As of ``System``.
    """

    forces: tuple[Force, ...]
    parameters: Any
    places: tuple[int, ...]
    auxiliary: tuple[AuxiliaryVariable, ...]
    switches: tuple[Switch, ...]
    impulses: tuple[Impulse, ...]
    watches: tuple[Watch, ...]
    mass_at: Any

    @property
    def axial(self) -> bool:
        """Whether all forces conserve the angular momentum about z."""
        return all(force.axial for force in self.forces)

    @property
    def velocity_dependent(self) -> bool:
        """Whether some force depends on the velocity."""
        return any(force.velocity_dependent for force in self.forces)


def force_table(
    mu: float, mass: Any, forces: Any, beside: Sequence[Force] = (), numbers: Sequence[float] = (), surface: Any = None
) -> ForceTable:
    """The table of a list of forces.

    Parameters
    ----------
    mu : float
        Gravitational constant times mass of the centre.
    mass : array (N,)
        Masses of the points.
    forces : sequence of Force
        The forces, or mappings of their arguments.
    beside : sequence of Force
        Further rows, behind the counted ones.
    numbers : sequence of float
        The system's own parameters.
    surface : float, optional
        Radius of the central body.

    Raises
    ------
    InvalidInput
        Names the force by its number; burns that would use up all of the mass; several bodies with a force or surface
        that allows only one.
    """
    made = forces_of(forces)
    members = [*made, *beside]
    if len(mass) > 1 and any(force.flow > 0.0 for force in made):
        raise InvalidInput(
            "thrust that uses up mass is that of one body; build a system for each of them, or give acceleration"
        )
    burns = _burns(made, float(mass[0]))
    numbers_at = ROWS + ROW * len(members)
    end = numbers_at + sum(len(force.numbers) for force in members if force.kind != "impulse")
    rows: list[float] = []
    stored: list[float] = []
    auxiliary: list[AuxiliaryVariable] = []
    switches: list[Switch] = []
    impulses: list[Impulse] = []
    watches: list[Watch] = []
    for k, force in enumerate(members):
        what, at = f"forces[{k}], {force.description}", numbers_at + len(stored)
        inside = k < len(made)
        falls = bool(burns) and (force.surface or force.flow > 0.0)
        part = (
            L.POTENTIAL_PART
            if force.conservative and not falls
            else L.MOVING
            if force.velocity_dependent
            else L.RESTING
        )
        work_at = inside and (part != L.POTENTIAL_PART or not force.autonomous)
        if force.kind == "impulse":
            t, x, y, z, frame = force.numbers
            impulses.append(Impulse(t, (x, y, z), FRAMES[int(frame)], len(auxiliary), what))
            rows += [0, at, 0, len(auxiliary), 0]
        else:
            if force.kind not in CODES:
                raise InvalidInput(f"forces[{k}]: {unknown_name('kind of force', force.kind, CODES)}")
            rows += [CODES[force.kind], at, part, len(auxiliary) if work_at else -1, end if falls else 0]
            first, *others = force.numbers
            stored += [first / mass[0] if force.flow > 0.0 else first, *others]
            if CODES[force.kind] == THRUST and not force.autonomous:
                switches.append(Switch(at + FIRING, force.numbers[5], force.numbers[6], what))
            elif CODES[force.kind] == RADIATION:
                watches += _edges(force, at)
        if work_at:
            alike = [n for n, other in enumerate(made) if other.kind == force.kind]
            label = f"{force.kind} {alike.index(k) + 1}" if len(alike) > 1 else force.kind
            auxiliary.append(AuxiliaryVariable("work", label, part != L.POTENTIAL_PART and force.kind != "impulse"))
    if surface is not None:
        watches.append(
            Watch(ALTITUDE, (number(surface, "surface", "m", positive=True),), falling="impact", terminal=True)
        )
    if len(mass) > 1 and watches:
        raise InvalidInput(
            f"{'a surface' if surface is not None else 'a shadow'} is met by one body at a time, but there are "
            f"{len(mass)}; build a system for each of them"
        )
    table = [len(burns), *(x for burn in burns for x in burn)]
    parameters = np.array([mu, len(made), end + len(table), *rows, *stored, *table, *numbers], dtype=float)
    for k, force in enumerate(members):
        if force.kind != "impulse":
            _check_known(force, f"forces[{k}]" if k < len(made) else force.kind, parameters, ROWS + ROW * k)
    return ForceTable(
        tuple(made), parameters, tuple(int(rows[ROW * k + 1]) for k in range(len(made), len(members))),
        tuple(auxiliary),
        tuple(switches), tuple(impulses), tuple(watches), partial(_mass_at, float(mass[0]), burns) if burns else None,
    )  # fmt: skip


def _check_known(force: Force, name: str, parameters: Any, row: int) -> None:
    """Refuse a force whose code the compiled loads do not handle."""
    code, at, part = (int(x) for x in parameters[row : row + 3])
    arguments = (parameters, at, parameters[0], 0.0, np.array((0.8, 0.5, 0.3)))
    with np.errstate(all="ignore"):
        lacking = python_of(acceleration_of)(code, *arguments, arguments[-1]) is NOWHERE
        if part == L.POTENTIAL_PART:
            lacking |= python_of(potential_of)(code, *arguments) is NO_LEVEL
            lacking |= not force.autonomous and python_of(potential_rate_of)(code, *arguments) is NO_LEVEL
    if lacking:
        raise InvalidInput(f"{name}: the compiled loads know no force of the kind {force.kind!r}")


def own_numbers(table: ForceTable, work: str, devices: Sequence[str] = ()) -> tuple[AuxiliaryVariable, ...]:
    """Auxiliary variables: work of the forces of a table, of devices, and of a user's function if there is one."""
    return (*table.auxiliary, *(AuxiliaryVariable("work", label) for label in (*devices, *[work] * bool(work))))


def masses_of(mass: Any) -> Any:
    """One mass or several as an array (N,)."""
    given = array(mass, "mass", "kg")
    if given.ndim > 1 or not given.size:
        raise InvalidInput(f"mass must be one number or a flat sequence of them, but has shape {given.shape}")
    if not given.ndim:
        return np.array([number(float(given), "mass", positive=True)])
    return np.array([number(float(m), f"mass[{i}]", positive=True) for i, m in enumerate(given)])


def forces_of(forces: Any) -> list[Force]:
    """The forces as records; errors name the force by its number."""
    if isinstance(forces, Force):
        return [forces]
    if not isinstance(forces, Sequence) or isinstance(forces, str):
        raise InvalidInput(f"forces must be a list of what polhode.forces makes, not {shown(forces)}")
    made = []
    for k, force in enumerate(forces):
        try:
            made.append(force_of(force))
        except InvalidInput as refused:
            raise InvalidInput(f"forces[{k}]: {refused}") from None
    return made


def _burns(made: Sequence[Force], mass: float) -> list[tuple[float, float, float]]:
    """Begin, end and fraction of the mass used per unit time, of every burn."""
    burns = [
        (force.arguments["start"], force.arguments["stop"], force.flow / mass) for force in made if force.flow > 0.0
    ]
    used = sum((end - begin) * share for begin, end, share in burns)
    if not used < 1.0:
        raise InvalidInput(
            f"the burns would use up a mass of {used * mass:g}, but mass is {mass:g}; let them end sooner, or give a "
            "smaller force or a larger mass"
        )
    return burns


def _mass_at(mass: float, burns: Sequence[tuple[float, float, float]], t: Any) -> Any:
    """Mass at times (n,), of shape (n, 1)."""
    t = np.asarray(t, dtype=float)
    used = sum((np.clip(t, begin, end) - begin) * share for begin, end, share in burns)
    return (mass * (1.0 - used))[:, None]


def _edges(force: Force, at: int) -> list[Watch]:
    """Shadow edges, where the light of a force with numbers from ``at`` on jumps or its derivatives do."""
    shadow, radius, sun = int(force.numbers[2]), force.numbers[3], force.numbers[4]
    path = force.numbers[6:]
    if shadow == SHADOWS["cylinder"]:
        return [Watch(CYLINDER, (radius, 0.0, *path), cuts=True, flag=at + LIT)]
    if shadow == SHADOWS["cone"]:
        return [Watch(code, (radius, sun, *path), cuts=True) for code in (PENUMBRA, WITHIN)]
    return []
