"""Functions of users, such as ``torque(t, q, omega, parameters)``, as loads of the sum that a builder makes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from polhode.arguments.frozen import frozen
from polhode.bodies.body import Body
from polhode.errors import InvalidInput, UserFunctionError
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.loads import Load
from polhode.programs.parts import REMEMBERED
from polhode.surroundings.surrounding import Table
from polhode.systems.record import System
from polhode.systems.registry import built, handed_in
from polhode.systems.states import States
from polhode.systems.structure import structure_of
from polhode.systems.sum import roles_of, sum_of
from polhode.systems.sum_program import Program
from polhode.systems.summands import Structure, Sum
from polhode.systems.user.acting import load_of
from polhode.systems.user.added import ENERGIES, check_together, takes_states
from polhode.systems.user.chosen import Called
from polhode.systems.user.derived import program_of
from polhode.systems.user.function import UserFunction
from polhode.systems.user.roles import FORMS
from polhode.systems.user.states import Sizes

NOTHING = States((), (), {})
_no_programs: dict[Any, set[str]] = {}
"""Which functions are called as they are, by the functions and their numbers."""


def users_of(
    given: Mapping[str, tuple[Any, str]], parameters: Any, frame: Any = (1.0, 0.0, 0.0, 0.0), held: States = NOTHING,
    rated: States = NOTHING, of_rotors: Sizes = (), handed: bool = False,
) -> dict[str, UserFunction]:  # fmt: skip
    """The functions that are given, checked.

    Parameters
    ----------
    given : mapping
        By keyword the function or None, and its form (``FORMS``).
    parameters : array
        The numbers that they are handed.
    frame : array (4,)
        Quaternion from the principal to the user's body frame.
    held, rated : States
        The states whose rates they do not return, and those whose rates a load returns.
    of_rotors : tuple of (str, int)
        States of rotors, which they may read, too.
    handed : bool
        Whether others take the numbers, too.

    Raises
    ------
    InvalidInput
        Functions that are none, that cannot be combined, or are missing.
    """
    cleared = 0 if of_rotors else len(held.auxiliary)
    check_together(given, parameters if len(parameters) else None, bool(rated.sizes or cleared), handed)
    others = (*of_rotors, *held.sizes)
    users, (w, x, y, z) = dict[str, UserFunction](), map(float, frame)
    for name, (function, kind) in given.items():
        if function is None:
            continue
        form = replace(FORMS[kind], what=name) if name in ENERGIES else FORMS[kind]
        if name not in ENERGIES and (rated.sizes or cleared or (others and takes_states(form, function))):
            form = form.with_states((*others, *rated.sizes), len(others))
        same = users.get("potential") if name == "reported_energy" else None
        users[name] = UserFunction(form, function, None, (w, x, y, z), parameters, looked=same and same.looked)  # type: ignore[arg-type]
    return users


def summed(
    body: Body, loads: Sequence[Load], users: Mapping[str, UserFunction], worked: bool = True, held: States = NOTHING,
    rated: States = NOTHING,
) -> dict[str, Any]:  # fmt: skip
    """The attributes of a system of this body under loads and functions; their numbers are its last parameters.

    Parameters
    ----------
    body : Body
        The body.
    loads : sequence of Load
        What acts beside the functions.
    users : mapping
        From ``users_of``.
    worked : bool
        Whether the work of the functions is recorded; beside a ``reported_energy`` it is not.
    held, rated : States
        As of ``users_of``.
    """
    states = States((*held.sizes, *rated.sizes), (*held.auxiliary, *rated.auxiliary), {})
    books = worked and "reported_energy" not in users

    def made(called: Collection[str]) -> tuple[Sum, Structure]:
        whole = _sum(body, loads, users, states, books, called)
        return whole, structure_of(whole)

    key = tuple((name, one.looked, one.form, one.parameters.tobytes()) for name, one in users.items())
    called = _no_programs.get(key) or {
        name for name, one in users.items() if one.logs or type(jit.python_of(one.function)) is not FunctionType
    }
    for attempt in range(3):
        try:
            whole, structure = made(called)
            break
        except (InvalidInput, UserFunctionError):
            if attempt == 2:
                raise
            found = {name for name, one in users.items() if program_of(one).program is None}
            called = {*users} if attempt or found <= called else called | found
    if called and not any(one.looked.opaque for one in users.values()):  # type: ignore[union-attr]
        _no_programs[key] = called
        while len(_no_programs) > jit.KEPT_KERNELS:
            _no_programs.pop(next(iter(_no_programs)), None)
    roles = roles_of(whole, structure, states, [body])
    if not users:
        return roles
    reading = len(structure.work)
    users = {name: replace(one, states_at=reading) if one.form.states else one for name, one in users.items()}

    @cache
    def as_they_are() -> tuple[Any, Any]:
        every = made({*users})[1]
        return every.loads, every.potential

    steady = not {*users} - {"potential"} and all(one.autonomous for one in users.values())
    bare, moving = not (loads or whole.carried), any(one.velocity_dependent for one in users.values())
    at_rest = bare and books and len(users) == 1 and users.keys().isdisjoint(ENERGIES) and not moving
    if not loads and users.keys().isdisjoint(ENERGIES):
        roles["potential"] = None
        roles["program"] = (isinstance(structure.program, Program) and structure.program.of_loads) or None
    if bare and moving:  # some splittings step otherwise
        roles["provides"] -= {"split_loads"}
    size = L.LOAD + len(roles["auxiliary"])
    return roles | {
        "functions": users, "called": Called(frozen(users), tuple(called), as_they_are, size, at_rest),
        "conserves": tuple(name for name in roles["conserves"] if steady or name != "energy"),
        "memory": REMEMBERED if at_rest else structure.memory, "made_again": Anew.of(users),
    }  # fmt: skip


def _sum(
    body: Body, loads: Sequence[Load], users: Mapping[str, UserFunction], states: States, books: bool,
    called: Collection[str],
) -> Sum:  # fmt: skip
    """The sum of loads and functions, some of which are called as they are; all functions read the same numbers."""
    acting = list(loads)
    for k, (name, user) in enumerate(sorted(users.items(), key=lambda one: one[0] != "potential")):
        as_it_is, values = name in called, () if k else user.parameters.tolist()
        given = {"parameters": Table(values) if as_it_is else np.array(values)}
        booked = (books and (name != "potential" or user.drives)) or (name == "potential" and user.autonomous)
        acting.append(load_of(user, name, given, booked, as_it_is))
    whole = sum_of([body], acting, states)
    if len(users) < 2:
        return whole
    own = whole.summands[: len(loads)], whole.summands[len(loads) :]
    return replace(whole, summands=(*own[0], *(replace(one, parameters=own[1][0].parameters) for one in own[1])))


@dataclass(frozen=True)
class Anew:
    """A system built again where its functions read other things than before.

    Attributes
    ----------
    users : tuple of UserFunction
        Those that read more than their arguments.
    made : tuple
        What they were.
    """

    users: tuple[UserFunction, ...]
    made: tuple[Any, ...]

    @classmethod
    def of(cls, users: Mapping[str, UserFunction]) -> Callable[[System], System] | None:
        """For a system of these functions; None where they stay what they are."""
        reading = tuple(one for one in users.values() if not jit.self_contained(one.function))
        return cls(reading, tuple(one.looked.made for one in reading)) if reading else None  # type: ignore[union-attr]

    def __call__(self, system: System) -> System:
        """The system at present: the last one that was built."""
        made = tuple(one.made for one in self.users)
        if made == self.made:
            return system
        kept: dict[Any, System] = system.__dict__.setdefault("_again", {})
        if made not in kept:
            kept.clear()
            kept[made] = built(system.name, system.arguments, handed_in(system))
            kept[made].__dict__["_told"] = system.__dict__.get("_told", set())
        return kept[made]
