"""The table of forces in the parameters of ``orbit`` and ``spacecraft``; its layout is that of ``sums``.

A system may have numbers of further forces behind those of the rows, for what is not a force on its centre of mass (the
air that meets the plates). An impulse has no row, as its work is added at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.arguments import array, number
from polhode.errors import InvalidInput, shown
from polhode.kernel import layout as L
from polhode.systems.event_record import Watch
from polhode.systems.forces import FORCES, force_of
from polhode.systems.forces.acting import burns_of, mass_at
from polhode.systems.forces.impulse import Impulse
from polhode.systems.forces.record import Force, is_own
from polhode.systems.forces.sums import COUNT, ROW, ROWS, Kind, kinds_of
from polhode.systems.record import AuxiliaryVariable, Switch


# ------------------------------------------------------------------ construction
@dataclass(frozen=True)
class ForceTable:
    """What a list of forces contributes to a system.

    Attributes
    ----------
    forces : tuple of Force
        The forces.
    kinds : tuple of Kind
        Their kinds, by the numbers in the rows.
    parameters : array
        The table, then the system's own parameters from ``parameters[OWN]`` on.
    places : tuple of int
        Where the numbers of the forces ``beside`` begin.
    auxiliary, switches, impulses, watches, mass_at
        As of ``System``.
    drives : bool
        Whether some force changes the energy, by its work or in time.
    """

    forces: tuple[Force, ...]
    kinds: tuple[Kind, ...]
    parameters: Any
    places: tuple[int, ...]
    auxiliary: tuple[AuxiliaryVariable, ...]
    switches: tuple[Switch, ...]
    impulses: tuple[Impulse, ...]
    watches: tuple[Watch, ...]
    mass_at: Any
    drives: bool

    @property
    def axial(self) -> bool:
        """Whether all forces conserve the angular momentum about z."""
        return all(force.axial for force in self.forces)

    @property
    def all_potential(self) -> bool:
        """Whether all forces but impulses are loads with a potential."""
        rows = self.parameters[ROWS : ROWS + ROW * int(self.parameters[COUNT])].reshape(-1, ROW)
        return bool((rows[:, 2] == L.POTENTIAL_PART).all())

    @property
    def velocity_dependent(self) -> bool:
        """Whether some force depends on the velocity."""
        return any(force.velocity_dependent for force in self.forces)


def force_table(
    mu: float, mass: Any, forces: Any, beside: Sequence[Force] = (), numbers: Sequence[float] = (),
    record_work: bool = True,
) -> ForceTable:  # fmt: skip
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
        Further ones, that only have their numbers in the table.
    numbers : sequence of float
        The system's own parameters.
    record_work : bool
        Whether works of forces are recorded; those of impulses always are.

    Raises
    ------
    InvalidInput
        Names the force by its number; a force whose functions are wrong; burns that would use up all of the mass;
        several bodies with a force that allows only one.
    """
    made = forces_of(forces)
    burns, kinds = burns_of(made, mu, mass), kinds_of(made)
    pulls = [force for force in made if force.impulse is None]
    numbers_at = ROWS + ROW * len(pulls)
    end = numbers_at + sum(len(force.numbers) for force in (*pulls, *beside))
    rows: list[float] = []
    starts = _starts((*made, *beside), numbers_at)
    stored = [0.0] * (end - numbers_at)
    places: list[int] = []
    auxiliary: list[AuxiliaryVariable] = []
    switches: list[Switch] = []
    impulses: list[Impulse] = []
    watches: list[Watch] = []
    drives = False
    for k, force in enumerate((*made, *beside)):
        inside, at = k < len(made), starts[k]
        what = f"forces[{k}], {force.description}"
        falls = bool(burns) and (force.surface or force.flow > 0.0)
        part = L.MOVING if force.velocity_dependent else L.RESTING
        if force.conservative and not falls:
            part = L.POTENTIAL_PART
        changes = inside and (part != L.POTENTIAL_PART or not force.autonomous)
        booked = changes and (record_work or force.impulse is not None)
        drives = drives or changes
        if force.impulse is not None:
            impulses.append(replace(force.impulse, auxiliary=len(auxiliary), what=what))
        else:
            if inside:
                number_of_kind = kinds.index(Kind.of(force))
                rows += [number_of_kind, at, part, len(auxiliary) if booked else -1, end if falls else 0]
            else:
                places.append(at)
            numbers_of = [force.numbers[0] / mass[0], *force.numbers[1:]] if force.flow > 0.0 else force.numbers
            stored[at - numbers_at : at - numbers_at + len(numbers_of)] = numbers_of
            switches += [replace(one, index=at + one.index, what=what) for one in force.switches]
            watches += [replace(one, flag=at + one.flag if one.flag >= 0 else -1) for one in force.watches]
        if booked:
            alike = [n for n, other in enumerate(made) if other.kind == force.kind]
            label = f"{force.kind} {alike.index(k) + 1}" if len(alike) > 1 else force.kind
            auxiliary.append(AuxiliaryVariable("work", label, part != L.POTENTIAL_PART and force.impulse is None))
    table = [len(burns), *(x for burn in burns for x in burn)]
    head = [mu, len(pulls), len(auxiliary), end + len(table)]
    parameters = np.array([*head, *rows, *stored, *table, *numbers], dtype=float)
    return ForceTable(
        tuple(made), kinds, parameters, tuple(places), tuple(auxiliary), tuple(switches), tuple(impulses),
        tuple(watches), mass_at(mass, burns), drives,
    )  # fmt: skip


def _starts(forces: Sequence[Force], first: int) -> list[int]:
    """Where the numbers of forces begin: the longest (tables) last, so that their lengths move no others."""
    starts = [0] * len(forces)
    for k in sorted(range(len(forces)), key=lambda k: len(forces[k].numbers)):
        starts[k] = first
        first += len(forces[k].numbers)
    return starts


def auxiliary_variables(table: ForceTable, labels: Sequence[str]) -> tuple[AuxiliaryVariable, ...]:
    """Auxiliary variables: work of the forces of a table, then of devices and of users' functions, by their labels."""
    return (*table.auxiliary, *(AuxiliaryVariable("work", label, label != "potential") for label in labels))


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
            made[-1].tried()
            _check_kind(made[-1])
        except InvalidInput as refused:
            raise InvalidInput(f"forces[{k}]: {refused}") from None
    return made


def _check_kind(force: Force) -> None:
    """Refuse a force of one's own under the name of another kind, which a file of a run would be read as."""
    functions = (force.acceleration, force.potential, force.potential_rate)
    if all(one is None or is_own(one) for one in functions) or force.kind not in FORCES:
        return
    if Kind.of(force_of(force.arguments)) != Kind.of(force):
        raise InvalidInput(f"force {force.kind!r} has other functions than polhode.forces.{force.kind} gives it; "
                           "change its kind")  # fmt: skip
