"""What the builders of systems share: the sum that bodies, loads and what a user hands in come to.

What a user hands in: functions such as ``torque(t, q, omega, parameters)`` with their numbers, states, controllers, and
further loads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from polhode.arguments import LISTS, Array, has, numbers, truth
from polhode.arguments.recorded import STAYS, FrozenDict, FrozenList, frozen, plain
from polhode.bodies.body import Body, rotors
from polhode.bodies.wheels import rest_of
from polhode.errors import InvalidInput, UserFunctionError
from polhode.kernel import jit
from polhode.loads import Load
from polhode.programs.parts import REMEMBERED
from polhode.surroundings.surrounding import Table
from polhode.systems.controllers import HELD, Controller, Steered, controllers_of, parted
from polhode.systems.record import AuxiliaryVariable, System
from polhode.systems.registry import built, handed_in, key_of
from polhode.systems.states import States, states_of
from polhode.systems.structure import structure_of
from polhode.systems.sum import (
    NO_PARTS,
    NO_STATES,
    first_of_kind,
    ground_about,
    in_pairs,
    loads_of,
    of_kind,
    own_of,
    parts_of,
    roles_of,
    sum_of,
    whole_of,
)
from polhode.systems.summands import Structure, Sum
from polhode.systems.tracing import Program
from polhode.systems.user.acting import HANDED
from polhode.systems.user.chosen import Called
from polhode.systems.user.forms import ACTS, ENERGIES, FORMS, Form, Sizes, sizes_read
from polhode.systems.user.function import UserFunction, record_of

_no_programs: dict[Any, set[str]] = {}
"""Which functions are called as they are, by the functions and their numbers."""


@dataclass(frozen=True)
class Given:
    """What a user hands to a builder beside what its body is."""

    users: Mapping[str, UserFunction]  # functions by their keywords
    values: Array  # the numbers that they and controllers are handed
    steered: tuple[Controller, ...]  # the controllers
    states: States  # states that controllers set, then those whose rates functions return
    more: tuple[Load, ...]  # further loads
    worked: bool  # whether the work of functions is recorded; beside a ``reported_energy`` it is not
    arguments: Mapping[str, Any]  # the records of all of it but further loads
    of_rotors: Sizes = ()  # the states of rotors, which stand before others

    @property
    def acts(self) -> bool:
        """Whether there are functions or loads: they see the user's axes."""
        return bool(self.users or self.more)


EMPTY: list[Any] = FrozenList()
NOTHING, BY_MU = FrozenDict(), FrozenDict({"mu": (0, True)})
LOADS_AND_POTENTIAL = attrgetter("loads", "potential")
NO_FUNCTIONS, ROWS = frozenset({type(None)}), frozenset(LISTS)
NONE_GIVEN = Given({}, np.zeros(0), (), NO_STATES, (), True, NOTHING)


def bodies_of(masses: Sequence[float], axes: Sequence[Any]) -> list[Body]:
    """The body called "body" with this mass, its principal moments and their frame, or several: body0, body1, ..."""
    names = ["body"] if len(masses) == 1 else [f"body{i}" for i in range(len(masses))]
    return [Body(name, m, I, q) for name, m, (I, q) in zip(names, masses, axes, strict=True)]


def empty(*given: object) -> bool:
    """Whether all of these are empty lists or tuples."""
    return ROWS.issuperset(map(type, given)) and not any(given)


def of_one(name: str, N: int) -> None:
    """Refuse equipment of several bodies."""
    if N > 1:
        raise InvalidInput(f"{name} are those of one spacecraft, but there are {N}; build a system for each of them")


def carrying(bodies: list[Body], wheels: object, gyros: object) -> list[Body]:
    """These bodies with rotors, if they are given; what the bodies are includes locked wheels.

    Parameters
    ----------
    wheels : Wheels, optional
        From ``polhode.reaction_wheels``, or a mapping of its arguments, for one body. ``inertia`` is then that of the
        whole with locked wheels; the angular momentum in the trajectory that of the body without what wheels add about
        their axes, and ``spin`` that of the whole, in space. Torques may read the states ``wheel_momentum`` and
        ``wheel_command``.
    gyros : Gyros, optional
        From ``polhode.control_moment_gyros``, or a mapping of its arguments, for one body; ``inertia`` is then without
        what their rotors add about their spin axes. Torques may read the states ``gimbal_angle`` and
        ``gimbal_command``.
    """
    if wheels is None and gyros is None:
        return bodies
    spun, turned = rotors(wheels, gyros)
    of_one("gyros" if spun is None else "wheels", len(bodies))
    (one,) = bodies
    return [Body(one.name, one.mass, *rest_of((one.moments, one.frame), spun), one.arguments, spun, turned)]


def told(given: Any) -> Any:
    """An argument that is no simple one, or what was made of it, as records keep it."""
    if isinstance(given, list) and given and has(given[0], "arguments"):
        return FrozenList([frozen(one.arguments) for one in given])
    return frozen(plain(given) if isinstance(given, LISTS) or not has(given, "arguments") else given.arguments)


def given_of(
    functions: Mapping[str, Any], of: str = "", parameters: object = None, states: object = None,
    controllers: object = (), loads: object = (), work: object = True, of_rotors: Sizes = (),
    variables: Sequence[AuxiliaryVariable] = (),
) -> Given:  # fmt: skip
    """What a user hands in, checked; ``of`` says what energies among the functions are of.

    Parameters
    ----------
    parameters : sequence of float, optional
        Passed to the functions as an array.
    work : bool
        Record the work of loads without a potential, or with one that reads the time and can be traced, so that the
        energy error is that of the method. Without it, that of impulses alone; Taylor series then have up to a quarter
        fewer products, other methods as much as two evaluations of the loads less per step.
    states : mapping, optional
        States of your own, integrated beside the body: a name to how many numbers it has, to its values at the start,
        or to a table with ``size`` or ``start`` and ``unit``. ``torque``, ``force`` or ``load`` then takes one more
        argument, ``states``, with the state ``states.name``, a number or a vector, and returns the rate of each state
        behind the load: ``return torque, rate_of_first, rate_of_second``. They start at zero, are recorded under their
        names, and keep the order of the method. A table with ``noise`` (standard deviation) and ``every``, perhaps
        ``seed``, ``walk``, ``time_constant`` and ``phase``, is noise, drawn at these intervals and held between them.
    controllers : sequence, optional
        From ``polhode.controller``, or mappings of its arguments: functions that set states at equal intervals of time.
        ``torque``, ``force`` or ``load`` returns no rates of the states that they set.
    loads : sequence of Load
        What acts besides, from ``polhode.loads``; the body is called "body", several are body0, body1 and so on.
    """
    nothing = parameters is states is None and work is True and empty(controllers, loads)
    if nothing and NO_FUNCTIONS.issuperset(map(type, functions.values())):
        if not (of_rotors or variables):
            return NONE_GIVEN
        there = States(sizes_read(variables), (*variables,), {})
        return Given({}, NONE_GIVEN.values, (), there, (), True, NOTHING, of_rotors)
    values, steered, worked = numbers(parameters, "parameters"), controllers_of(controllers), truth(work, "work")
    of_user, sizes = states_of(states), sizes_read(variables)
    commands = tuple(one for one in (*of_rotors, *sizes) if one[0].endswith("_command"))
    held, rated = parted(of_user, steered, commands)
    others = (*of_rotors, *sizes, *held.sizes)
    missed = bool(rated.sizes or (held.sizes and not commands))
    check_together(functions, parameters, missed, bool(steered))
    users: dict[str, UserFunction] = {}
    for name, function in functions.items():
        if function is None:
            continue
        form = replace(FORMS[f"{of}_potential"], what=name) if name in ENERGIES else FORMS[name]
        if name not in ENERGIES and (missed or (others and form.takes_states(function))):
            form = form.with_states((*others, *rated.sizes), len(others))
        users[name] = UserFunction(form, function, values)
    there = States((*sizes, *held.sizes, *rated.sizes),
                   (*variables, *held.auxiliary, *rated.auxiliary), {}, of_user.noises)  # fmt: skip
    records = {} if parameters is None else {"parameters": values.tolist()}
    records |= ({"states": rated.arguments} if rated.arguments else {}) | ({} if worked else {"work": False})
    records |= records_of(users)
    if steered:
        records["controllers"] = [one.sampling | {"command": record_of(one.function)} for one in steered]
    return Given(users, values, steered, there, tuple(loads_of(loads)), worked, records, of_rotors)


def commands_of(given: Given, states: States) -> dict[str, UserFunction]:
    """The functions of controllers, by the names by which they are handed in again."""
    sizes = (*given.of_rotors, *states.sizes)
    found: dict[str, UserFunction] = {}
    for n, one in enumerate(given.steered):
        names = one.sets + one.keeps
        returns = f"the new value of {names[0]}" if len(names) == 1 else f"a tuple of new values: {', '.join(names)}"
        form = Form("command", f"{FORMS['load'].arguments}, states", returns, (), sizes, sets=names)
        found[key_of(n, len(given.steered))] = UserFunction(form, one.function, given.values)
    return found


def assembled(
    name: str, bodies: Sequence[Body], loads: Sequence[Load], arguments: Mapping[str, Any], given: Given = NONE_GIVEN,
    axis: Array | None = None, alone: Mapping[str, Any] = NOTHING, how: Mapping[str, Any] = NOTHING,
    quantities: Callable[[Any], Any] | None = None, **attributes: Any,
) -> System:  # fmt: skip
    """The system of bodies under loads and what a user hands in, whose numbers are its last parameters.

    About the ``axis`` of symmetry angular momentum is conserved where the user hands in no functions and no loads;
    ``alone`` are attributes then; ``how`` goes to ``sum_of``, ``quantities`` makes them from those of rotors, and all
    others are attributes of the system.
    """
    users = given.users
    if users and len(bodies) > 1:
        raise InvalidInput(f"{next(iter(users))} is a function of one body, but there are {len(bodies)}; build a "
                           "system for each of them")  # fmt: skip
    more, states = NO_PARTS, given.states
    further: list[Load] = []
    if given.more:
        more, named = parts_of([*bodies, *given.more], {*users, *dict(states.sizes)}), {one.name for one in loads}
        further = [replace(in_pairs(one), name=f"loads.{one.name}" if one.name in named else one.name)
                   for one in more.loads]  # fmt: skip
        a, b = states, more.states
        states = States(a.sizes + b.sizes, a.auxiliary + b.auxiliary, {}, a.noises + b.noises)
    commands = commands_of(given, states) if given.steered else {}
    every = {**users, **commands}

    def made(called: Collection[str]) -> tuple[Sum, Structure]:
        steered = steered_by(given, commands, called, bodies[0].name) if commands else ()
        whole = sum_of(
            bodies, [*loads, *acting_of(users, called), *further, *steered], states, books=given.worked, **how
        )
        if len(every) > 1:  # all of them read the numbers of the first one
            whole = sharing(whole)
        return whole, structure_of(whole)

    if every:
        whole, structure, called = _of_programs(made, every)
    else:
        whole, structure, called = *whole_of(bodies, [*loads, *further], states, books=given.worked, **how), ()
    functions, records = frozen({**more.functions, **every}) if every or further else NOTHING, given.arguments
    kept = {key: one if type(one) in STAYS else told(one) for key, one in arguments.items()}
    if further:
        records = {**given.arguments, "loads": {one.name: more.arguments[one.name] for one in given.more}}
        attributes = {"ground": ground_about(further, bodies), **attributes}
    own = {"arguments": FrozenDict(kept, **frozen(records)), "functions": functions,
           "made_again": made_anew(functions), **attributes}  # fmt: skip
    if not (users or further):
        own["axis"] = axis if axis is None else frozen(axis)
    if whole.carried or whole.controllers or whole.states:
        own |= own_of(whole, structure, states, bodies, _called_of(commands, lambda: made({*every})[1], called))
    bare = not (loads or given.more or whole.carried)
    if quantities is not None:
        own["quantities"] = quantities(own.get("quantities"))
    if users:
        at_rest = bare and given.worked and len(users) == 1 and users.keys().isdisjoint(ENERGIES)
        holes = tuple(one for one in called if one in users)
        own["called"] = Called(MappingProxyType(users), holes, lambda: LOADS_AND_POTENTIAL(made({*every})[1]), at_rest)
    kind = None if further else (name, *users, *called, given.worked, bool(loads), axis is None, *alone.items())
    numbers, known = of_kind(whole, structure, bodies, kind, own)
    if known is not None:
        return known
    roles = roles_of(whole, structure, own if "auxiliary" in own else own_of(whole, structure, states, bodies))
    worked = given.worked or "energy" in roles["conserves"]
    worked = worked or (bare and (len(users) < 2 or "reported_energy" in users))
    if users:
        roles |= _roles_called(roles, whole, structure, given, loads, own["called"])
    elif not further:
        roles |= {"conserves": roles["conserves"] + ("axial_angular_momentum",) * (axis is not None), **alone}
    roles |= {"name": name, "names": whole.names if further else (), "records_work": worked}
    return first_of_kind(whole, structure, kind, numbers, System(**{**numbers, **roles}))


def _of_programs(
    made: Callable[[Collection[str]], tuple[Sum, Structure]], users: Mapping[str, UserFunction]
) -> tuple[Sum, Structure, Collection[str]]:
    """The sum in which functions are programs so far as they can be, and the names of the others."""
    called = (_no_programs and _no_programs.get(_key_of(users))) or {
        name for name, one in users.items() if one.logs or type(jit.python_of(one.function)) is not FunctionType
    }
    for attempt in range(3):
        try:
            whole, structure = made(called)
            break
        except (InvalidInput, UserFunctionError):
            if attempt == 2:
                raise
            found = {name for name, one in users.items() if one.traced.program is None}
            called = {*users} if attempt or found <= called else called | found
    if called and not any(one.looked.opaque for one in users.values()):
        _no_programs[_key_of(users)] = called
        while len(_no_programs) > jit.KEPT_KERNELS:
            _no_programs.pop(next(iter(_no_programs)), None)
    return whole, structure, called


def _key_of(users: Mapping[str, UserFunction]) -> tuple[Any, ...]:
    """The functions and their numbers as a key."""
    return (*((name, one.looked, one.form, one.parameters.tobytes()) for name, one in users.items()),)


def _roles_called(
    roles: dict[str, Any], whole: Sum, structure: Structure, given: Given, loads: Sequence[Load], called: Called
) -> dict[str, Any]:
    """What the attributes of a system with functions are otherwise."""
    users = given.users
    steady = not {*users} - {"potential"} and all(one.autonomous for one in users.values())
    found: dict[str, Any] = {}
    if not (loads or given.more) and users.keys().isdisjoint(ENERGIES):
        found["potential"] = None
        found["program"] = (isinstance(structure.program, Program) and structure.program.of_loads) or None
    if not (loads or given.more or whole.carried) and called.moving:  # some splittings step otherwise
        found["provides"] = roles["provides"] - {"split_loads"}
    return found | {
        "conserves": tuple(name for name in roles["conserves"] if steady or name != "energy"),
        "memory": REMEMBERED if called.remembers else structure.memory,
    }


def _called_of(
    commands: Mapping[str, UserFunction], as_they_are: Callable[[], Structure], called: Collection[str]
) -> dict[str, Called]:
    """How the functions of controllers are called, by the names of these, which are the last ones."""
    found = {}
    for n, (name, user) in enumerate(commands.items()):

        def role(k: int = n - len(commands)) -> tuple[Any, Any]:
            return as_they_are().commands[k].role, None

        found[f"controllers[{n}]"] = Called({name: user}, (name,) if name in called else (), role)
    return found


def records_of(functions: Mapping[str, UserFunction]) -> dict[str, Any]:
    """Records of functions, among the arguments of a system."""
    found: dict[str, Any] = {name: record_of(user.function) for name, user in functions.items()}
    if "potential" in found and len(found) > 1:
        found["potential"] |= ACTS
    return found


def check_together(functions: Mapping[str, Any], parameters: object, states: bool, handed: bool = False) -> None:
    """Refuse functions that cannot be combined, or are missing: those by keyword that are given, or None."""
    names = [name for name, function in functions.items() if function is not None]
    forces = [name for name in names if name not in ENERGIES]
    takers = " or ".join(name for name in functions if name not in ENERGIES)
    if "reported_energy" in names and "potential" in names:
        raise InvalidInput("potential and reported_energy are both given; the energy of the potential is reported "
                           "anyway, so leave reported_energy out")  # fmt: skip
    if "reported_energy" in names and not forces:
        raise InvalidInput(f"reported_energy is only reported, beside a {takers}, but none is given; a potential that "
                           "acts is given as potential")  # fmt: skip
    if states and not forces:
        raise InvalidInput(f"states are read and changed by a {takers}, but none is given; write it, with states as "
                           "its last argument")  # fmt: skip
    if not names and parameters is not None and not handed:
        raise InvalidInput(f"parameters are handed to a function ({', '.join(functions)}), but none is given")
    if len(forces) > 1:
        raise InvalidInput(f"{' and '.join(forces)} are given; keep one of them, a load contains force and torque")


def acting_of(users: Mapping[str, UserFunction], called: Collection[str]) -> list[Load]:
    """Functions as loads, some of which are called as they are; the numbers are those of the first one."""
    found = []
    for k, (name, user) in enumerate(sorted(users.items(), key=lambda one: one[0] != "potential")):
        as_it_is, values = name in called, () if k else user.parameters.tolist()
        booked = user.autonomous or user.drives if name == "potential" else "reported_energy" not in users
        found.append(Load(name=name, parameters=handed(values, as_it_is), books=booked,
                          returns="reported" * (name == "reported_energy"), **user.on_body(as_it_is)))  # fmt: skip
    return found


def steered_by(given: Given, commands: Mapping[str, UserFunction], called: Collection[str], body: str) -> list[Steered]:
    """Controllers on this body, some called as they are; the numbers are those of the first function that there is."""
    found = []
    for n, (one, (name, user)) in enumerate(zip(given.steered, commands.items(), strict=True)):
        as_it_is, values = name in called, () if n or given.users else user.parameters.tolist()
        asked = {word: getattr(one, word) for word in ("every", "sets", "keeps", *HELD)}
        found.append(Steered(name=f"controllers[{n}]", bodies=(body,), parameters=handed(values, as_it_is), **asked,
                             **user.on_body(as_it_is)))  # fmt: skip
    return found


def handed(values: Sequence[float], as_it_is: bool) -> dict[str, Any]:
    """Numbers as the parameter of a function that is handed them."""
    return {HANDED: Table(tuple(values)) if as_it_is else np.array(values)}


def sharing(whole: Sum) -> Sum:
    """A sum of whose functions all that are handed numbers read those of the first one."""
    first = next(one.parameters for one in (*whole.summands, *whole.controllers) if HANDED in one.parameters)
    summands, controllers = (
        tuple(replace(one, parameters=first) if HANDED in one.parameters else one for one in some)
        for some in (whole.summands, whole.controllers)
    )
    return replace(whole, summands=summands, controllers=controllers)


def made_anew(functions: Mapping[str, Any]) -> Callable[[System], System] | None:
    """The system at present, of one that is built again where its functions read other things than before; None where
    they stay what they are."""
    if not functions:
        return None
    users = tuple(one for one in functions.values() if not jit.self_contained(one.function))
    before = tuple(one.looked if isinstance(one, UserFunction) else one.made for one in users)

    def again(system: System) -> System:
        if (made := tuple(one.made for one in users)) == before:
            return system
        kept: dict[Any, System] = system.__dict__.setdefault("_again", {})
        if made not in kept:  # the last one that was built
            kept.clear()
            kept[made] = built(system.name, system.arguments, handed_in(system))
            kept[made].__dict__["_told"] = system.__dict__.get("_told", set())
        return kept[made]

    return again if users else None
