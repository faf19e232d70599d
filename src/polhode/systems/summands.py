"""The records of a sum: its summands, what it is made from, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import Array
from polhode.kernel import jit
from polhode.kernel.pairs import FIRST_PARAMETER, parameters_of
from polhode.loads import Load
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import Slots
from polhode.surroundings import Surrounding
from polhode.surroundings.surrounding import Table
from polhode.systems.carried import Carried
from polhode.systems.record import Switch

Shape = tuple[int, ...]
COMMANDS = ("wheel_command", "gimbal_command")
"""Quantities of rotors that nothing but controllers changes."""
MOST_WRITTEN_OUT = 3  # most loads of one kind that are written out; more are a loop


class Within(NamedTuple):
    """Where loads on pairs act."""

    edges: Array | None  # (3,) or None: of the periodic box
    cutoff: float  # cutoff, switch, skin: the cut-off, 0 without; where switching begins; margin of the neighbour lists
    switch: float
    skin: float

    def by_hand(self, N: int) -> bool:
        """Whether the pairs of N bodies are named one by one, so that they are a program as other loads are."""
        return N <= FEW_BODIES and not self.cutoff

    def attributes(self, N: int, numbers: Array, serve: Callable[..., Any], width: int) -> dict[str, Any]:
        """The attributes of a system of N bodies of which the pass has so many numbers each."""
        size = (self.cutoff + self.skin) / CROWDED
        numbers, memory = parameters_of(
            N, width, numbers[FIRST_PARAMETER:], self.cutoff, self.skin, self.edges, self.switch, size
        )
        return {"parameters": numbers, "memory": memory, "serve": serve, "box": self.edges}


OPEN = Within(None, 0.0, 0.0, 0.0)
FEW_BODIES = 8  # most bodies whose pairs do without the pass
CROWDED = 4.0  # the memory of neighbour lists is for bodies that are apart by this part of cut-off and skin


@dataclass(frozen=True)
class Summand:
    """A load where it acts, or a quantity of the surroundings."""

    load: Load | Surrounding  # the load, or the quantity, which is that of any body
    on: tuple[tuple[int, ...], ...]  # numbers of the bodies of each call of its function
    parameters: dict[str, tuple[int, Shape]]  # where its numbers stand among the parameters, and their shapes
    # the same of numbers of which each body has its own; the shapes are those of one
    each: Mapping[str, tuple[int, Shape]] = field(default_factory=dict)
    gate: int = -1  # which of the numbers of states that loads read says whether it acts, in a loop; -1 for none

    @property
    def of_pairs(self) -> bool:
        """Whether it is on every two bodies."""
        return isinstance(self.load, Load) and self.load.of_pairs

    @property
    def first(self) -> int:
        """Where its table begins, or without one its parameters."""
        tables = [at for name, (at, _) in self.parameters.items() if isinstance(self.load.parameters[name], Table)]
        return min(tables or [at for at, _ in self.parameters.values()])

    @cached_property
    def switches(self) -> list[Switch]:
        """Those of its parameters that are 1 between two times."""
        if not (self.load.switches or self.load.flagged):
            return []
        found = [Switch(self.parameters[name][0], start, stop, self.load.described)
                 for name, (start, stop) in self.load.switches.items()]  # fmt: skip
        return found + [replace(one, index=self.first + one.index) for one in self.load.flagged]

    @property
    def watches(self) -> list[Any]:
        """Where it jumps or kinks."""
        return [replace(one, flag=self.first + one.flag if one.flag >= 0 else -1) for one in self.load.watches]

    @property
    def flags(self) -> list[int]:
        """Its parameters that a run changes."""
        load = self.load
        if not (load.switches or load.flagged or load.watches):
            return []
        return [one.index for one in self.switches] + [one.flag for one in self.watches if one.flag >= 0]

    def key(self, act: object) -> tuple[Any, ...]:
        """What its program depends on, but for numbers; ``act`` is its function, see ``functions_of``."""
        load, numbers = self.load, (tuple(self.parameters.items()), tuple(self.each.items()))
        return act, load.name, load.form, self.on, numbers, load.impulse is None, tuple(self.flags)


def functions_of(summands: Sequence[Summand]) -> list[Any]:
    """The functions of summands, equal to others that come to the same program."""
    loads = {id(one.load.function): one.load for one in summands}
    found = {key: load.function if load.shipped else getattr(load, "made", None) or jit.Made(load.function)
             for key, load in loads.items()}  # fmt: skip
    return [found[id(one.load.function)] for one in summands]


@dataclass(frozen=True)
class Commands:
    """What a controller sets, as a structure keeps it."""

    role: Callable[..., Any]  # called as loads; it writes the new values where the rates of the states would stand
    sets: tuple[str, ...]  # sets, keeps: the states that it sets, by delay, resolution and limits, and at once
    keeps: tuple[str, ...]


@dataclass(frozen=True)
class Structure:
    """All of a sum but its numbers."""

    loads: Callable[..., Any]  # loads, potential: the roles; no potential where nothing acts
    potential: Callable[..., Any] | None
    work: tuple[str, ...]  # names of the loads whose work is recorded, in order
    moving: bool  # whether loads depend on velocities or on states
    rotors_alone: bool  # whether these are those of rotors only
    conservative: bool  # whether all forces and torques follow from the potential, which does not read the time
    # whether all forces and torques but impulses follow from the potential, which may read the time
    all_potential: bool
    alone: bool  # alone, each: whether there is one body, or the loads are those of one in a loop
    each: bool
    # centred, centre_alone: whether a centre at the origin attracts all bodies, and whether nothing else acts
    centred: bool
    centre_alone: bool
    fixed: Mapping[str, float]  # parameters by which functions decide: it is the structure for these values of theirs
    found: Callable[[], tuple[str, ...]]  # ``found() -> tuple of str``: what is conserved beside the energy
    timed: frozenset[str] = frozenset()  # the works that potentials do by reading the time
    table: tuple[float, ...] = ()  # numbers behind the parameters: on which bodies loops are
    commands: tuple[Commands, ...] = ()  # what each controller sets
    # whether the potential calls a kernel as it is, or has loads of its own: these are not derived from it
    calls: bool = False
    # ``program(part) -> Dynamics``, the loads of a sum that is written out
    program: Callable[[int], Dynamics] | None = None
    closed: Slots | None = None  # numbers behind the parameters: closed ones
    memory: int = 0  # how many numbers behind the parameters the loads remember
    # of loads on pairs: what threads run that share them, and how many numbers of a body the pass has
    pairs: tuple[Callable[..., Any], int] | None = None
    # attributes of the systems that have it, by what else these depend on
    kinds: dict[Any, dict[str, Any]] = field(default_factory=dict, compare=False)

    @cached_property
    def conserves(self) -> tuple[str, ...]:
        """What is conserved beside the energy."""
        return self.found()


@dataclass(frozen=True)
class Sum:
    """What a structure is made from."""

    names: tuple[str, ...]  # of the bodies
    moves: tuple[bool, ...]  # moves, turns: which of them move through space, and about which principal axes they turn
    turns: tuple[tuple[bool, bool, bool], ...]
    turned: tuple[bool, ...]  # whose principal axes are not the body's own axes
    summands: tuple[Summand, ...]  # the loads
    states: tuple[tuple[str, Shape], ...]  # names and shapes of the states, in order
    centred: bool  # whether a centre at the origin attracts all bodies, its gravity parameter being the first parameter
    parameters: Array  # values of the parameters
    carried: tuple[Carried, ...] = ()  # the rotors in the bodies; their states come before the others
    around: tuple[Summand, ...] = ()  # the quantities of the surroundings
    controllers: tuple[Summand, ...] = ()  # what sets states at equal times
    noises: tuple[str, ...] = ()  # names of the states that are noise
    held: Mapping[str, str] = field(default_factory=dict)  # states that have no rates, and why
    registers: int = 0  # how many numbers behind the states hold what is set later
    beside: bool = False  # whether its loads are added to those that are there
    in_turn: bool = False  # whether loads on each body are a loop for any number of bodies
    pins_at: int = -1  # where the places of pins begin in the parameters, 3 a body; -1 where all are at the origin
    joints_at: int = -1  # where the numbers of joints begin in the parameters; -1 without any
    mu_at: int = -1  # which parameter is the gravity parameter of the centre of all bodies, -1 without one
    seen_turned: tuple[bool, ...] = ()  # the same as ``turned`` for controllers, which see the body's own axes
    books: bool = True  # whether works are recorded, and not those of impulses alone
    index: tuple[int, ...] = ()  # numbers of the bodies in the sum that this is a part of; empty for all
    within: Within = OPEN  # the box and the cut-off of loads on pairs

    @property
    def of_pairs(self) -> list[Summand]:
        """The loads that are on every two bodies."""
        return [one for one in self.summands if one.of_pairs]

    @property
    def of_one_kind(self) -> bool:
        """Whether all bodies move and turn alike, none with rotors."""
        return len(set(zip(self.moves, self.turns, strict=True))) == 1 and self.moves[0] and not self.carried

    @property
    def kicked(self) -> bool:
        """Whether velocities change suddenly, so that no momentum is conserved."""
        return any(one.load.impulse is not None for one in self.summands)

    @property
    def passes(self) -> bool:
        """Whether they are in the pass over pairs."""
        return bool(self.of_pairs) and not self.of_pairs[0].on

    @property
    def rotors_at(self) -> int:
        """Where the tables of rotors begin in the parameters, of several bodies their indices; -1 without any."""
        if not self.carried:
            return -1
        return self.carried[0].at - (len(self.names) if len(self.names) > 1 else 0)

    @property
    def of_rotors(self) -> int:
        """How many of the states that loads read are those of rotors; they come first."""
        return sum(one.size for one in self.carried)

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """Of each state by its name its first number among those that loads read, and how many numbers it has; names of
        those of rotors begin with that of their body unless it alone has such."""
        found = {one.label(name) + name: slots for one in self.carried for name, slots in one.states.items()}
        k = self.of_rotors
        for name, shape in self.states:
            n = int(np.prod(shape))
            found[name], k = (k, n), k + n
        return found

    @cached_property
    def commands(self) -> dict[str, tuple[str, str]]:
        """Of each command of rotors by its name the body and the quantity."""
        return {one.label(name) + name: (self.names[one.body], name)
                for one in self.carried for name in one.states if name in COMMANDS}  # fmt: skip

    @cached_property
    def moving(self) -> set[str]:
        """Inputs that are numbers of states with rates."""
        return {f"aux{first + k}" for name, (first, count) in self.places.items() for k in range(count)
                if name not in self.held and name not in self.commands}  # fmt: skip

    @property
    def switches(self) -> tuple[Switch, ...]:
        """The parameters that are on between two times."""
        return tuple(own for one in self.summands for own in one.switches)

    @property
    def tables(self) -> set[str]:
        """Names of the inputs that are numbers of tables."""
        every = ((one, name) for one in (*self.summands, *self.controllers, *self.around) for name in one.parameters)
        places = (one.parameters[name] for one, name in every if isinstance(one.load.parameters[name], Table))
        return {f"p{at + k}" for at, (size,) in places for k in range(size)}

    @cached_property
    def closed(self) -> tuple[list[Any], list[float], dict[Any, int]]:
        """The functions of its loads, equal to others that are the same but for numbers that they close over; these
        numbers; and which of them is read where."""
        acts, numbers, places = list[Any](), list[float](), dict[Any, int]()
        for act in functions_of(self.summands):
            made, *form = act if isinstance(act, tuple) else (act,)
            if isinstance(made, jit.Made):
                made = made.but_numbers
                places |= {at: k + len(numbers) for at, k in made.places.items() if at not in places}
                numbers += [one for _, one in made.numbers]
            acts.append((made, *form) if form else made)
        return acts, numbers, places

    def again(self, loads: Sequence[Load], of_rotors: Sequence[float]) -> Sum:
        """The sum of other loads that differ in numbers alone, with those of rotors."""
        p = self.parameters.copy()
        if self.carried:
            at = self.carried[-1].end
            p[at - len(of_rotors) : at] = of_rotors
        for one, load in zip(self.summands, loads, strict=True):
            for name, value in load.parameters.items():
                at, shape = one.parameters[name]
                if not shape:
                    p[at] = value
                else:
                    p[at : at + prod(shape)] = value if len(shape) == 1 else np.ravel(value)
        made = object.__new__(Sum)
        object.__setattr__(made, "__dict__", {**self.__dict__, "parameters": p})
        return made

    def numbers(self, structure: Structure) -> Array:
        """The parameters of the system: the values, and behind them the closed numbers and the table of loops."""
        behind = structure.closed.values(self.closed[1]) if structure.closed else structure.table
        return np.concatenate([self.parameters, behind]) if behind else self.parameters

    @property
    def each(self) -> bool:
        """Whether all loads are on each of many bodies of one kind, so that they are a loop."""
        same = all(len(set(one)) == 1 for one in (self.moves, self.turns, self.turned))
        apart = all(not one.load.bodies for one in self.summands)  # pairs are bodies, too
        several = len(self.names) > (1 if self.in_turn else MOST_WRITTEN_OUT)
        own = self.states or self.carried or self.pins_at >= 0 or any(one.each for one in self.summands)
        return several and same and apart and not own

    def of(self, bodies: Sequence[int], summands: Sequence[Summand]) -> Sum:
        """The sum of some of the bodies, and of summands by their places among these."""

        def some(whole: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(whole[i] for i in bodies)

        return replace(self, names=some(self.names), moves=some(self.moves), turns=some(self.turns),
                       turned=some(self.turned), summands=tuple(summands), index=tuple(bodies))  # fmt: skip

    @property
    def of_first(self) -> Sum:
        """The sum of the first body alone."""
        return self.of((0,), [replace(one, on=one.on[:1]) for one in self.summands])
