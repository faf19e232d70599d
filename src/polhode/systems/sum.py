"""Systems as sums: bodies, and what acts on them.

    pair = ph.system(ph.body("a", 100.0, (20, 30, 25)), ph.body("b", 10.0, (1, 1, 1)),
                     ph.loads.tether(5.0, 100.0).on("a", "b"), ph.loads.central(mu))

Names of bodies, loads and states are one space of names. Equations of motion: those of each body under the sum of all
forces and torques; loads that are potentials act by their derivatives, and a potential that reads the time does work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import identifier, mapping, text, truth
from polhode.arguments.recorded import called, frozen, plain
from polhode.arguments.words import NumberOrNumbers
from polhode.bodies.body import POINT, Body, body
from polhode.capabilities import stated
from polhode.errors import InvalidInput, answering, shown, unknown_name
from polhode.joints import JOINTS, Joint
from polhode.kernel import jit, layout as L
from polhode.kernel.pairs import FIRST_PARAMETER
from polhode.loads import LOADS, Load
from polhode.loads.added import makes_loads
from polhode.loads.load import PAIRS, RETURNS, bodies_of, names_of, of_user
from polhode.surroundings import SURROUNDINGS, Surrounding
from polhode.surroundings.planets import Ground, ground_of
from polhode.surroundings.surrounding import OWN, Table
from polhode.systems.around import edges_of, places as places_of, surrounding_of, surroundings_of
from polhode.systems.carried import Spin, carried_by, numbers_of, watches_of
from polhode.systems.commands import bodies_read, sampled_by
from polhode.systems.controllers import SAMPLING, Controller, controller
from polhode.systems.event_record import Watch
from polhode.systems.events import impact
from polhode.systems.gravitation import Attraction, gravitation
from polhode.systems.loads_roles import no_loads, no_series, roles_of_both
from polhode.systems.mechanisms import check_joints, kept_by, mechanism_of, numbers_of as numbers_of_joints
from polhode.systems.pairs import measured, numbers_of_each, within_of_loads
from polhode.systems.record import IDENTITY, AuxiliaryVariable, System
from polhode.systems.states import States, states_of
from polhode.systems.structure import structure_of
from polhode.systems.sudden import WHEN, changes, events_of_load, functions_of as functions_at, gated, settings
from polhode.systems.summands import OPEN, Structure, Sum, Summand, Within
from polhode.systems.user.acting import HANDED
from polhode.systems.user.chosen import Called
from polhode.systems.user.function import findings_of, record_of, refusal

Core = System | Attraction | None
ARGUMENTS = ("surroundings", "name", "work", "box", "cutoff", "switch", "skin")
"""Arguments of a system beside its summands."""
ORDER = "order"
"""Names of all summands in a record where some are called as arguments, to which Python gives no place among others."""
OF_JOINTS = "kl6b/joints"
"""The usual method where there are joints."""
NO_BOX = dict.fromkeys(ARGUMENTS[3:])


@answering
def system(
    *summands: Body | Load | Joint | Sequence[Any],
    surroundings: Mapping[str, Any] | None = None,
    box: NumberOrNumbers | None = None,
    cutoff: float | None = None,
    switch: float | None = None,
    skin: float | None = None,
    name: str | None = None,
    work: bool = True,
    **recorded: Mapping[str, Any],
) -> System:
    """A system as the sum of bodies and of what acts on them.

    Parameters
    ----------
    *summands : Body, Load, Joint, Controller, or lists of them
        From ``polhode.body``, ``polhode.bodies``, ``polhode.loads``, ``polhode.joints`` and ``polhode.controller``, in
        any order; that of the bodies is that of the rows of states, that of the controllers the order in which they
        are called. A load says by ``.on`` which bodies it is on; without, it is on every body in turn. A joint is on
        two, or on one and ``polhode.ground``.
    surroundings : mapping, optional
        What loads, controllers and events read of the surroundings of a body, by the names by which they ask for it:
        from ``polhode.surroundings`` (an ephemeris is the place of its body), or mappings of their arguments with a
        ``kind``.
    box : float or array_like (3,), optional
        Of loads on ``polhode.pairs``: edges of the periodic box, each at least twice the cut-off; free space without
        it. Bodies feel the nearest images of others. Where there are no other loads, runs have ``temperature`` and
        ``pressure``, with k_B = 1.
    cutoff : float, optional
        Likewise: distance of centres beyond which pairs do not interact; without it all pairs do.
    switch : float, optional
        Distance at which the energy of a pair begins to be switched off; by default 0.9 of the cut-off.
    skin : float, optional
        Margin of the neighbour lists beyond the cut-off; by default 0.12 of it. No result depends on it.
    name : str, optional
        What the system is called where it is printed, and in titles; by default "system".
    work : bool
        Record the work of loads without a potential, and of those that read the time, so that the energy error is that
        of the method. Without it, that of impulses alone; Taylor series then have up to a quarter fewer products.
    **recorded : mapping
        The same as in ``arguments`` of a system: by name, a mapping with ``kind`` and the arguments.

    Returns
    -------
    System
        Energy is conserved if all loads are potentials that do not read the time; the work of others is recorded.

    Raises
    ------
    InvalidInput
        No body, a name twice, a load or a joint on a body that is not there, a joint of a body that is pinned, or a
        function that cannot be a load.

    Examples
    --------
    >>> import polhode as ph
    >>> pair = ph.system(ph.body("a", 2.0), ph.body("b", 1.0), ph.loads.tether(5.0, 1.0).on("a", "b"))
    >>> ds = ph.integrate(pair, step=0.01, steps=100, position=[(0, 0, 0), (1.2, 0, 0)])
    >>> ds.sel(body="b").position[-1].values.round(3)
    array([0.911, 0.   , 0.   ])
    """
    given: dict[str, Any] = {"surroundings": surroundings, "name": name, "work": work}
    given |= {"box": box, "cutoff": cutoff, "switch": switch, "skin": skin}
    alike = {word: one for word, one in given.items() if _is_record(one)}  # of summands that are called so
    around, called, books, *rest = (None if word in alike else one for word, one in given.items())
    about = ({"name": called} if called else {}) | ({} if books is None or truth(books, "work") else {"work": False})
    every = recorded | alike
    if alike and isinstance(order := recorded.get(ORDER), list | tuple):
        every = {word: every[word] for word in (*order, *every) if word in every and word != ORDER}
    if called is not None and not text(called, "name", 80):
        raise InvalidInput("name is empty; leave it out")
    return composed([*_flat(summands), *(summand(key, one) for key, one in every.items()),
                     *surroundings_of(around)],
                    within=dict(zip(NO_BOX, rest, strict=True)), about=about)  # fmt: skip


def _is_record(given: object) -> bool:
    """Whether it is the record of a summand."""
    return isinstance(given, Mapping) and (isinstance(given.get("kind"), str) or callable(given.get("function")))


class Parts(NamedTuple):
    """Summands that are checked."""

    bodies: list[Body]  # bodies, loads, around, joints: they
    loads: list[Load]
    around: list[Surrounding]
    joints: list[Joint]
    states: States  # those that loads bring
    functions: dict[str, Any]  # those of the user's among them
    arguments: dict[str, Any]  # the record of each


def parts_of(parts: Sequence[Body | Load | Joint | Surrounding], taken: Collection[str] = ()) -> Parts:
    """Summands, checked; ``taken`` are names that something else has."""
    bodies = [one for one in parts if isinstance(one, Body)]
    loads = [one for one in parts if isinstance(one, Load)]
    around = [one for one in parts if isinstance(one, Surrounding)]
    joints = [one for one in parts if isinstance(one, Joint)]
    named = {*taken}
    every: list[Body | Load | Joint | Surrounding] = [*bodies, *loads, *around, *joints]
    for one in every:
        if one.name in named or one.name == PAIRS:
            other = "name one of them otherwise" + " with .named" * isinstance(one, Load | Joint)
            said = f"there are two summands called {one.name!r}" if one.name in named else (
                f"a summand is called {one.name!r}, which stands for every two bodies")  # fmt: skip
            raise InvalidInput(f"{said}; {other}")
        named.add(one.name)
    for one in bodies:
        for word in one.rotors:
            if any(load.name == word for load in loads):
                raise InvalidInput(f"{word!r} is the name of the work of the {word} in body {one.name!r}; call the "
                                   "load otherwise, with .named")  # fmt: skip
    starts: dict[str, Any] = {}
    given, loads = loads, gated(loads)
    for load in loads:
        for name, start in load.starts.items():
            if name in starts or name in named:
                raise InvalidInput(f"{load.what} {load.name!r} has a state {name!r}, as something else is called; "
                                   "bodies, loads and states have names of their own")  # fmt: skip
            starts[name] = start
    acting: list[Load | Surrounding] = [*given, *around]
    own = [one for one in acting if not one.shipped]
    distinct = {id(one.function): one.function for one in own}
    looked = {key: findings_of(jit.Made(function)) for key, function in distinct.items()}
    functions = {one.name: _checked(one, looked[id(one.function)]) for one in own}
    functions |= {key: LoadFunction(act, one.described) for one in given for key, act in functions_at(one).items()}
    arguments = {one.name: {"kind": "body", **one.arguments} for one in bodies}
    for act in acting:
        record = {} if act.kind else {"function": record_of(act.function)}
        arguments[act.name] = (
            record | act.arguments | {word: event.arguments for word, event in events_of_load(act).items()}
        )
    arguments |= {one.name: one.arguments for one in joints}
    states = states_of(starts, {name for load in loads if load.kind for name in load.starts})
    return Parts(bodies, loads, around, joints, states, functions, arguments)


def composed(
    parts: Iterable[Body | Load | Joint | Surrounding], core: Core = None,
    within: Mapping[str, Any] = NO_BOX, about: Mapping[str, Any] = MappingProxyType({}),
) -> System:  # fmt: skip
    """The system of summands, perhaps beside a core, with box and cut-off of loads on pairs and further arguments."""
    bodies, loads, around, joints, states, functions, arguments = parts_of(list(parts))
    alone = not bodies and any(one.returns == "states" for one in loads)
    if not (bodies or alone):
        raise InvalidInput("a system needs a body; give polhode.body('name', mass, inertia)")
    beside = {**{name: plain(value) for name, value in within.items() if value is not None}, **about}
    beside |= {ORDER: list(arguments)} if arguments.keys() & {*ARGUMENTS} else {}
    for name in sorted(arguments.keys() & beside.keys()):
        raise InvalidInput(f"a summand is called {name!r}, as an argument of system that is given; name it otherwise")
    arguments |= beside
    bodies = bodies or [NOWHERE]
    for load in loads:
        if load.kind == "gravitation" and not load.bodies and core is None:
            core, loads = gravitation(bodies, load), [one for one in loads if one is not load]
    inside = within_of_loads(loads, **within)
    by_kernel = core is not None or (any(load.of_pairs for load in loads) and not inside.by_hand(len(bodies)))
    rows = numbers_of_joints(check_joints(joints, bodies, by_kernel), bodies) if joints else ()
    acting, books = [in_pairs(one) for one in loads], about.get("work", True)
    whole, structure = whole_of(bodies, acting, states, around, core, inside, rows, books=books)
    kept = functions or around or whole.pins_at >= 0
    own = {
        "arguments": frozen(arguments), "functions": frozen(functions), "ground": ground_about(loads, bodies),
        "made_again": Again(whole, structure, states, tuple(bodies), core) if kept else None,
    }  # fmt: skip
    if joints:
        own["mechanism"] = mechanism_of(joints, bodies, whole.joints_at)
    kind = None if core or joints or any(surfaces(whole)) else ("system",)
    numbers, known = of_kind(whole, structure, bodies, kind, own)
    if known is None:
        found = {"name": "system", "names": whole.names} | own_of(whole, structure, states, bodies)
        roles = roles_of(whole, structure, found, core)
        roles |= {"names": (), "potential": None, "conserves": ()} if alone else {}
        roles |= {"records_work": books or "energy" in roles["conserves"]}
        roles |= {"conserves": kept_by(joints, roles["conserves"]), "recommended": OF_JOINTS} if joints else {}
        known = first_of_kind(whole, structure, kind, numbers, System(**{**numbers, **roles}))
    return measured(known, structure)


def in_pairs(load: Load) -> Load:
    """A load with the attraction of all bodies on each other as one on every two of them."""
    return load.on(PAIRS) if load.kind == "gravitation" and not load.bodies else load


def with_loads(system: System, loads: object, names: object = ()) -> System:
    """A system with these names of its bodies, and with further loads beside its own."""
    further = loads_of(loads)
    has = next(iter(system.functions), "") or next((one.quantity for one in system.auxiliary if one.read), "")
    if further and has:
        raise InvalidInput(f"{system.name} has {has} and loads; put it together by polhode.system(...), or make a "
                           "load of each function")  # fmt: skip
    given = (names,) if isinstance(names, str) else names
    if not isinstance(given, list | tuple):
        raise InvalidInput(f"names must be names of the bodies, such as ('a', 'b'), not {shown(names)}")
    if given and len(given) != system.N:
        raise InvalidInput(f"names has {len(given)} entries, but there are {system.N} bodies; give one for each")
    named = {"names": list(given)} if given else {}
    called = tuple(identifier(one, f"names[{k}]") for k, one in enumerate(given))
    if not further:
        return replace(system, names=called, arguments={**system.arguments, **named}) if called else system
    called = called or tuple(f"body{k}" for k in range(system.N))
    rows = zip(called, system.mass.tolist(), system.moments.tolist(), system.frames.tolist(), strict=True)
    bodies = [Body(name, mass, tuple(moments), tuple(frame)) for name, mass, moments, frame in rows]
    made = composed([*bodies, *further], system)
    record = {name: one for name, one in made.arguments.items() if name not in called}
    usual = "velocity_independent" in made.provides and system.commutator is None
    return replace(
        system, names=called, arguments={**system.arguments, **named, "loads": record}, commutator=None, series=None,
        memory=0, recommended=system.recommended if usual else "", **{name: getattr(made, name) for name in TAKEN},
    )  # fmt: skip


TAKEN = ("loads", "potential", "provides", "parameters", "auxiliary", "conserves", "functions", "made_again", "decided",
         "switches", "watches", "impulses")  # fmt: skip
"""Attributes of a system that are those of its sum with further loads."""


def loads_of(given: object) -> list[Load]:
    """Loads from the argument ``loads`` of a system: a list of them, or of their records; or their records by name."""
    if isinstance(given, Mapping):
        found = [summand(name, one) for name, one in given.items()]
    elif isinstance(given, Load):
        found = [given]
    elif isinstance(given, list | tuple):
        found = [_named(one, k) if isinstance(one, Mapping) else one for k, one in enumerate(given)]
    else:
        raise InvalidInput(f"loads must be a list of loads (polhode.loads), not {shown(given)}")
    loads = []
    for one in _flat(found):
        if not isinstance(one, Load):
            raise InvalidInput(f"loads has {shown(one)}; it must be loads (polhode.loads)")
        loads.append(one)
    return loads


def _named(record: Mapping[str, Any], k: int) -> Body | Load | Joint | Surrounding:
    """A summand from the record with its name, by default its kind, that is number k of a list."""
    told = dict(record)
    name = told.pop("name", None) or told.get("kind")
    if not isinstance(name, str):
        raise InvalidInput(f"loads[{k}] has no kind; give one of {', '.join(LOADS)}")
    return summand(name, told)


MOST_DEEP = 20  # most lists in lists of summands


def _flat(summands: Iterable[Any], depth: int = 0) -> Iterable[Any]:
    """Bodies and loads, from lists too."""
    if depth > MOST_DEEP:
        raise InvalidInput("summands are in lists of lists of lists; give one list of them")
    for one in summands:
        if isinstance(one, Body | Load | Joint):
            yield one
        elif isinstance(one, list | tuple):
            yield from _flat(one, depth + 1)
        elif callable(one):
            raise InvalidInput(f"a summand is the function {shown(one)}; make a load of it: polhode.loads.of(...)")
        else:
            raise InvalidInput("a summand must be a body, a load, a joint or a controller (polhode.body, "
                               f"polhode.loads, polhode.joints, polhode.controller), not {shown(one)}")  # fmt: skip


def summand(name: str | None, given: object) -> Body | Load | Joint | Surrounding:
    """A summand from its record; a load without a name has that of its function."""
    told = dict(mapping(given, name or "a load"))
    kind = text(told.pop("kind", ""), f"kind of {name or 'a load'}")
    if kind == "body":
        return called(body, {"name": name, **told})
    if kind == OWN or kind in SURROUNDINGS:
        return surrounding_of(name or kind, {"kind": kind, **told})
    if kind in JOINTS:
        held = bodies_of(told.pop("on", ()))
        joint = called(JOINTS[kind], told | ({} if name is None else {"name": name}))
        return joint.on(*held) if held else joint
    sampling = {word: told.pop(word) for word in SAMPLING if word in told} if kind == "controller" else {}
    own, renamed = told.pop("each", {}), told.pop("renamed", {})
    when = {} if kind == "controller" else {word: told.pop(word) for word in WHEN if word in told}
    on, starts = bodies_of(told.pop("on", ())), told.pop("states", {})
    if kind in (*RETURNS, "controller"):
        function = told.pop("function", None)
        if kind == "controller" and function is None and "at" in sampling:
            function, told = told, {}
        elif not callable(function) and not ("at" in sampling and isinstance(function, Mapping)):
            raise InvalidInput(f"{kind or 'load'} {name!r} is a function of yours, which no record keeps; hand it in "
                               f"again: {name}=...")  # fmt: skip
        if kind == "controller":
            made: Load = called(controller, {"command": function, "parameters": told, **sampling})
        else:
            made = called(function, told) if makes_loads(function) else of_user(function, told, kind)
    elif kind in LOADS:
        made = called(LOADS[kind], told)
    else:
        kinds = ["body", "controller", *LOADS, *JOINTS]
        told_of = str(unknown_name(f"kind of {name}" if name else "kind of load", kind, kinds))
        more = "; polhode.loads.add_load makes one of your own known" * ("did you mean" not in told_of)
        raise InvalidInput(told_of + more)
    made = replace(made, name=made.name if name is None else identifier(name, "name of a load"))
    made = made.renamed(**mapping(renamed, "renamed")) if renamed else made
    made = made.states(**mapping(starts, "states")) if starts else made
    made = made.each(**mapping(own, "each")) if own else made
    for word, at in when.items():
        made = getattr(made, word)(at)
    return made.on(*on) if on else made


# ------------------------------------------------------------------ numbers of a sum
NO_STATES = States((), (), {})
NO_PARTS = Parts([], [], [], [], NO_STATES, {}, {})
NOWHERE = Body("", inf, POINT, IDENTITY)
"""What stands for a body where there are states alone: it neither moves nor turns."""


def is_centre(load: Load) -> bool:
    """Whether a load is the gravity of a centre at the origin on every body."""
    return load.kind == "central" and not load.bodies and not load.gate


def surface_of(centre: Load) -> float | None:
    """The radius at which runs about a centre end; 0 for none, None for the usual one."""
    return None if centre.recorded is None else centre.recorded.get("surface")


def ground_about(loads: Sequence[Load], bodies: Sequence[Body]) -> Ground | None:
    """The ground of one body that moves about a centre."""
    centre = next((one for one in loads if is_centre(one)), None)
    if centre is None or len(bodies) > 1 or not isfinite(bodies[0].mass):
        return None
    return ground_of(surface_of(centre), float(centre.parameters["mu"]), 1)


def surfaces(sum: Sum) -> Iterator[tuple[float, int]]:
    """Radii of centres that other bodies meet, and which."""
    for one in sum.summands:
        load = one.load
        if isinstance(load, Load) and load.kind == "central" and not (len(sum.names) == 1 and is_centre(load)):
            radius = surface_of(load)
            yield from ((radius, i) for (i,) in one.on if radius)


def sum_of(
    bodies: Sequence[Body], loads: Sequence[Load], states: States = NO_STATES, around: Sequence[Surrounding] = (),
    core: Core = None, within: Within = OPEN, joints: Sequence[float] = (), in_turn: bool = False,
    principal: bool = False, books: bool = True,
) -> Sum:  # fmt: skip
    """The sum of bodies, loads and controllers, its numbers one after another: those of a core, or the gravity
    parameter of a centre, then those of each load, then those of the surroundings. Before them are the settings of the
    pass over pairs, if loads are on pairs; a centre is then as other loads. With ``principal`` loads see the
    principal axes of bodies as the bodies' own. ``joints`` are the numbers of these, behind those of the bodies."""
    centres = [load for load in loads if is_centre(load) and core is None]
    if len(centres) > 1:
        raise InvalidInput(f"loads {centres[0].name!r} and {centres[1].name!r} are two centres at the origin; add up "
                           "their gravity parameters")  # fmt: skip
    at = {one.name: i for i, one in enumerate(bodies)}
    pairs = any(load.of_pairs for load in loads) and not within.by_hand(len(bodies))
    if pairs and core is not None:
        raise InvalidInput("a load is on polhode.pairs beside loads that come from a kernel, such as gravitation; give "
                           "all of them as plain functions")  # fmt: skip
    centres = [] if pairs else centres
    numbers = [float(one.parameters["mu"]) for one in centres] if core is None else core.with_memory.tolist()
    numbers = [0.0] * FIRST_PARAMETER if pairs else numbers
    carried = carried_by(bodies, len(numbers))
    numbers += numbers_of(bodies, carried)
    pins_at = len(numbers) if any(any(one.pin) for one in bodies) else -1
    numbers += [x for one in bodies for x in one.pin] if pins_at >= 0 else []
    joints_at = len(numbers) if joints else -1
    numbers += [*joints]
    summands: list[Summand] = []
    late: list[tuple[bool, int, int, str, Any]] = []
    known, nearby = {name for name, _ in states.sizes}, {one.name for one in around}
    for load in loads:
        central = any(load is one for one in centres)
        tables = {key: one for key, one in load.parameters.items() if isinstance(one, Table) or key == HANDED}
        plainly = {key: one for key, one in load.parameters.items() if key not in tables} if tables else load.parameters
        late += [(key == HANDED, len(one), len(summands), key, one) for key, one in tables.items()]
        places, more = places_of(plainly, 0 if central else len(numbers))
        numbers += [] if central else more
        on = _places(load, at, pairs)
        if isinstance(load, Controller) and not load.bodies:
            on = (tuple(range(bodies_read(load, len(at), known, nearby))),)
        each, more = numbers_of_each(load, len(bodies), len(numbers)) if load.own else ({}, [])
        numbers += more
        each = each if pins_at < 0 else {**each, "pin": (pins_at, (3,))}  # which rows of a loop read
        summands.append(Summand(load, on, places, each))
    for _, size, k, key, table in sorted(late):  # the longest last, so that its length moves no others
        summands[k].parameters[key] = (len(numbers), (size,))
        numbers += list(table)
    mu_at = next((one.parameters["mu"][0] for one, load in zip(summands, loads, strict=True) if is_centre(load)), -1)
    mu_at = 0 if core is not None and "central_gravity" in core.provides else mu_at
    numbers = numbers or [0.0]
    quantities: list[Summand] = []
    turned = tuple(one.frame != IDENTITY for one in bodies)
    for one in around:
        flags = {flag for _, flag in one.edges if flag}  # of which each body has its own
        places, more = places_of({key: x for key, x in one.parameters.items() if key not in flags}, len(numbers))
        numbers += more
        each = {flag: (len(numbers) + k * len(bodies), ()) for k, flag in enumerate(sorted(flags))}
        numbers += [1.0] * (len(flags) * len(bodies))
        quantities.append(Summand(one, (), places, each))
        quantities += [Summand(replace(one, function=edge, name=one.name_of_edge(k), edges=()), (), places, each)
                       for k, (edge, _) in enumerate(one.edges)]  # fmt: skip
        summands = [_reading(load, one.name, each, nearby) for load in summands] if each else summands
    return Sum(
        tuple(at), tuple(isfinite(one.mass) for one in bodies),
        tuple((0.0 < x < inf, 0.0 < y < inf, 0.0 < z < inf) for x, y, z in (one.moments for one in bodies)),
        (False,) * len(bodies) if principal else turned,
        tuple(one for one in summands if not isinstance(one.load, Controller)),
        tuple((key, (size,) if size else ()) for key, size in states.sizes), bool(centres), np.array(numbers),
        carried, tuple(quantities), tuple(one for one in summands if isinstance(one.load, Controller)),
        tuple(name for name, _ in states.noises), beside=core is not None, within=within,
        in_turn=in_turn, pins_at=pins_at, joints_at=joints_at, mu_at=mu_at, seen_turned=turned, books=books,
    )  # fmt: skip


_known: dict[Any, tuple[Sum, Structure]] = {}
"""Sums of polhode's own loads, by all that they are but numbers."""


def whole_of(
    bodies: Sequence[Body], loads: Sequence[Load], states: States = NO_STATES, around: Sequence[Surrounding] = (),
    core: Core = None, within: Within = OPEN, joints: Sequence[float] = (), **how: bool,
) -> tuple[Sum, Structure]:  # fmt: skip
    """The sum as of ``sum_of`` and its structure; those of the last one of its kind with other numbers, if all loads
    are polhode's own and nothing else is there."""
    kind: Any = [one.but_numbers for one in loads]
    if states.sizes or None in kind or around or core is not None or joints:
        whole = sum_of(bodies, loads, states, around, core, within, joints, **how)
        return whole, structure_of(whole)
    for name, mass, moments, frame, _, _, _, pin in bodies:
        turns = tuple([0.0 < x < inf for x in moments]) if 0.0 in moments or inf in moments else True
        kind += (name, mass < inf, turns, frame == IDENTITY, pin)
    kind = (*kind, carried_by(bodies, 0), *how.items())
    known = _known.get(kind)
    if known is not None:
        whole = known[0].again(loads, numbers_of(bodies, known[0].carried) if known[0].carried else [])
        if all([whole.parameters[int(name[1:])] == value for name, value in known[1].fixed.items()]):
            return whole, known[1]
    whole = sum_of(bodies, loads, states, (), None, within, (), **how)
    known = _known[kind] = whole, structure_of(whole)
    while len(_known) > jit.KEPT_KERNELS:
        _known.pop(next(iter(_known)), None)
    return replace(whole, parameters=whole.parameters.copy()), known[1]


def _reading(summand: Summand, name: str, flags: Mapping[str, tuple[int, Any]], around: Collection[str]) -> Summand:
    """A summand with the flags of the quantity of this name, if it asks for surroundings: a loop has them by rows."""
    asked = {summand.load.reads.get(one, one) for one in names_of(summand.load.function)}
    own = {f"{name} {flag}": slots for flag, slots in flags.items()} if asked & {*around} else {}
    return replace(summand, each={**summand.each, **own}) if own else summand


def own_of(
    sum: Sum, structure: Structure, states: States, bodies: Sequence[Body], called: Mapping[str, Called] | None = None
) -> dict[str, Any]:
    """The attributes of a system that hold numbers of its own. ``called`` as of ``commands.sampled_by``."""
    auxiliary = [AuxiliaryVariable("work", name, name not in structure.timed) for name in structure.work]
    first = L.BODY * len(bodies) + len(auxiliary)
    auxiliary += [own for one in sum.carried for own in one.variables(bodies[one.body])]
    sampled = sampled_by(sum, structure, (*auxiliary, *states.auxiliary), states.noises, called or {})
    sudden = [own for one in sum.summands for own in changes(one, structure, sum)]
    sudden += settings(sampled.pop("programs"), sum)
    at_events = [own for own in sudden if isinstance(own, Watch)]
    at_events += [impact(radius, bodies[i].name) for radius, i in surfaces(sum) if isfinite(bodies[i].mass)]
    found: dict[str, Any] = {
        "watches": (*(own for one in sum.carried for own in watches_of(one, bodies[one.body], first)), *edges_of(sum),
                    *(own for one in sum.summands for own in one.watches), *at_events),
        "impulses": tuple(own for own in sudden if own not in at_events), "switches": sum.switches, **sampled,
    }  # fmt: skip
    if sum.carried:
        about = next((name for name in structure.conserves if name.endswith("angular_momentum")), "")
        found |= {"wheels_at": sum.rotors_at, "quantities": Spin(sum.carried, found["parameters"], about)}
    return found


def roles_of(sum: Sum, structure: Structure, numbers: Mapping[str, Any], core: Core = None) -> dict[str, Any]:
    """The attributes of a system that follow from its structure, beside a core, with those of ``own_of``."""
    reads = bool(sum.states or sum.carried)
    found: dict[str, Any] = {
        "potential": structure.potential, "conserves": ("energy",) * structure.conservative + structure.conserves,
        "memory": structure.memory, "decided": frozenset(int(name[1:]) for name in structure.fixed),
        "closed": len(structure.closed.made) if structure.closed else 0, **numbers,
    }  # fmt: skip
    if structure.pairs:
        found |= sum.within.attributes(len(sum.names), found["parameters"], *structure.pairs)
    if sum.carried and structure.rotors_alone and structure.centred:
        found["recommended"] = "rkn6_14a/kepler"
    if core is not None:
        return found | beside(core, structure, not reads)
    if structure.potential is None and not found["auxiliary"]:  # free
        return found | {"commutator": no_loads, "series": no_series if structure.alone and any(sum.turns[0]) else None,
                        "provides": stated(velocity_independent=True)}  # fmt: skip
    if structure.conservative and not (
        structure.centred or structure.each or structure.table or structure.calls or structure.pairs or reads
    ):  # loads and commutator follow from it
        return found | {"loads": no_loads, "commutator": None}
    alone = (structure.alone or structure.each) and structure.all_potential and not reads
    return found | {
        "loads": structure.loads, "program": structure.program, "each_alone": alone,
        "all_potential": structure.all_potential,
        "provides": stated(
            central_gravity=structure.centred, only_central_gravity=structure.centre_alone and not sum.kicked,
            split_loads=not structure.pairs or bool(structure.table),
            velocity_independent=not structure.moving and not reads,
        ),
    }  # fmt: skip


def beside(core: System | Attraction, structure: Structure, still: bool) -> dict[str, Any]:
    """The attributes of a system with the loads of a core and those of a structure beside them; ``still`` where no
    auxiliary variable of these is read."""
    loads, potential = roles_of_both(False, core.loads, core.potential, structure.loads, structure.potential)
    also = ("energy",) * structure.conservative + structure.conserves
    whole = not {"angular_momentum_space", "total_angular_momentum"}.isdisjoint(also)
    also += ("vertical_angular_momentum",) * whole
    unmoved = {"velocity_independent"} if still and not structure.moving else set()
    return {
        "loads": loads, "potential": potential, "conserves": tuple(name for name in core.conserves if name in also),
        "provides": {"split_loads"} | (({"mutual_gravity", "central_gravity"} | unmoved) & core.provides),
    }  # fmt: skip


def of_kind(
    sum: Sum, structure: Structure, bodies: Sequence[Body], kind: tuple[Any, ...] | None, own: Mapping[str, Any]
) -> tuple[dict[str, Any], System | None]:
    """The attributes of a system that hold numbers, ``own`` ones among them; and the system, if there has been one of
    this structure and kind: it is its numbers alone then."""
    _, masses, moments, frames, *_ = zip(*bodies, strict=True)
    numbers = {"mass": np.array(masses), "moments": np.array(moments), "frames": np.array(frames),
               "parameters": sum.numbers(structure), **own}  # fmt: skip
    known = structure.kinds.get(kind)
    return numbers, None if known is None else System.like(known, numbers)


def first_of_kind(
    sum: Sum, structure: Structure, kind: tuple[Any, ...] | None, numbers: Mapping[str, Any], made: System
) -> System:
    """The system, whose attributes but numbers are kept for its kind; None where they hold numbers, too."""
    apart = kind is None or sum.around or structure.pairs
    if not apart and (attributes := made.of_kind(numbers)) is not None:
        structure.kinds[kind] = attributes
    return made


@dataclass(frozen=True)
class LoadFunction:
    """A function of the user's in a load, as a system keeps it."""

    function: Callable[..., Any]
    described: str  # what it is, for messages
    logs = False
    untraced = ""
    autonomous = True

    @property
    def made(self) -> Any:
        """What it compiles to at present, for comparison; nothing else is the same where a digest may not see all."""
        made = jit.Made(self.function)
        return (made, object()) if made.opaque else made


def _checked(load: Load | Surrounding, found: Iterable[Any]) -> LoadFunction:
    """The function of a load, or of a quantity of the surroundings, of the user's, in which this was found."""
    for one in found:
        if one.kind in ("memory", "outside"):
            raise InvalidInput(refusal(load.described, one, isinstance(load, Controller), True))
        raise InvalidInput(f"{load.described} cannot be a part of a sum: it {one.what}, {one.line}; leave that out")
    return LoadFunction(load.function, load.described)


@dataclass(frozen=True)
class Again:
    """A system made again where its functions read other things than before."""

    sum: Sum  # what it is made from
    structure: Structure  # that of the system
    states: States  # its states
    bodies: tuple[Body, ...]  # its bodies
    core: Core = None  # what its loads are beside

    def __call__(self, system: System) -> System:
        """The system at present: the last one made for a structure."""
        whole = replace(self.sum)
        structure = structure_of(whole)
        key = (id(structure), *(whole.closed[1] if structure.closed else ()))
        if key == (id(self.structure), *(self.sum.closed[1] if structure.closed else ())):
            return system
        made: dict[Any, System] = system.__dict__.setdefault("_again", {})
        if key not in made:
            made.clear()
            found = {"quantities": None} | own_of(whole, structure, self.states, self.bodies)
            new = replace(self, sum=whole, structure=structure)
            again = replace(system, **roles_of(whole, structure, found, self.core) | {"made_again": new})
            made[key] = measured(again, structure)
        return made[key]


def _places(load: Load, at: Mapping[str, int], passes: bool) -> tuple[tuple[int, ...], ...]:
    """Numbers of the bodies of each call of the function of a load; none of one on pairs that is in the pass."""
    if load.returns == "states":
        return ((),)
    if load.of_pairs:
        if len(at) < 2:
            raise InvalidInput(f"{load.what} {load.name!r} is on all pairs of bodies, but there is one body")
        if isinstance(load, Controller):
            raise InvalidInput(f"controller {load.name!r} is on all pairs; a controller is on bodies: name them")
        return () if passes else tuple(combinations(at.values(), 2))
    for one in load.bodies:
        if one not in at:
            raise unknown_name(f"body that {load.what} {load.name!r} is on", one, at)
    if load.bodies:
        on = tuple(at[one] for one in load.bodies)
        return tuple(combinations(on, 2)) if load.kind == "gravitation" else (on,)
    return tuple((i,) for i in at.values())
