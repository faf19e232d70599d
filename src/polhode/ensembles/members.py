"""What varies from member to member: by name to one array each, and from these to the arrays that engines read.

A name is that of an initial quantity (a word of ``polhode.State``), of an argument of the function that builds the
system, ``parameters`` or one of them (``parameters.0``), a number within an argument (``forces.0.area``), a tolerance
(``rtol``, ``atol``), or an option of the method. Everything is made for all members at once: initial states by the
functions that make one, with the bodies of all members as bodies of one system; constants of systems by comparing a few
of them, which shows what each argument becomes. Where that is not a copy of its numbers, each system is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from polhode.algebra.short_rows import all_of, any_of
from polhode.arguments import UNKNOWN, Array, Indices, array, has, has_quantity, mapping, whole
from polhode.bodies.inertia import principal_of_many
from polhode.ensembles.sampling import Distribution, Members, members as drawn_members
from polhode.ensembles.tables import is_table
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.kernel import layout as L
from polhode.runs.initial_state import SAID, of_arrays, said_of, start_state
from polhode.runs.integrator import extended
from polhode.runs.parameters import arguments_of, system_with
from polhode.runs.request import Request
from polhode.runs.state import FORMS, OF_METHODS, STATE_WORDS, as_kept
from polhode.systems import System
from polhode.systems.joined import told_open
from polhode.trajectory.quantities import Constants
from polhode.trajectory.reduction_kinds import MEMBER

TOLERANCES = ("rtol", "atol")
STARTING = (*(name for name in FORMS if name != "sequence"), *STATE_WORDS[3:], *OF_METHODS)
"""Words of a start that may vary."""
LOOKED_AT = 3
"""Systems that are built and compared, beside those at which a number is smallest or largest."""
SURE = 64
"""Systems by which it is known that a number is a constant times a varied one: other formulas round some otherwise."""


@dataclass(frozen=True, eq=False)
class Varied:
    """What varies among the members of an ensemble."""

    count: int  # number of members, M
    values: Mapping[str, Any]  # (M, ...): values of each member by name
    drawn: Mapping[str, Any] | None = None  # the record of the distributions they were drawn from
    first_number: int | Indices = 0  # (M,): number of the first member, or of each, which their noise follows from
    all_parts: int = 0  # how many members there are, where these are a part of them

    @property
    def total(self) -> int:
        """How many there are in all parts."""
        return self.all_parts or self.count

    @property
    def numbers(self) -> Indices:
        """Numbers (M,) of the members."""
        first = self.first_number
        return first if isinstance(first, np.ndarray) else np.arange(self.count) + first

    def number(self, k: int) -> int:
        """Number of one of them."""
        first = self.first_number
        return int(first[k] if isinstance(first, np.ndarray) else first + k)

    @classmethod
    def of(cls, given: object) -> Varied:
        """What ``members=`` says."""
        if isinstance(given, Varied):
            return given
        if isinstance(given, int | np.integer) and not isinstance(given, bool):
            return cls(whole(given, "members", 1), {})
        if is_table(given) or (isinstance(given, Mapping) and not isinstance(given, Members) and any(
                isinstance(value, Distribution | Mapping) for value in given.values())):  # fmt: skip
            given = drawn_members(given)
        if not isinstance(given, Mapping):
            raise InvalidInput("members must be arrays by name, what polhode.ensembles.sampling.members draws, a "
                               "table (a file that ends in .csv, a DataFrame, a Dataset), or a whole number of "
                               f"members, not {shown(given)}")  # fmt: skip
        found = {name: _one_each(value, name) for name, value in mapping(given, "members").items()}
        if not found:
            raise InvalidInput("members is empty; give arrays by name, or how many members there are")
        lengths = {name: len(value) for name, value in found.items()}
        first = next(iter(lengths))
        for name, length in lengths.items():
            if length != lengths[first]:
                raise InvalidInput(f"members has {lengths[first]} values of {first} but {length} of {name}; give one "
                                   "of each for every member")  # fmt: skip
        return cls(lengths[first], found, given.record() if isinstance(given, Members) else None)

    def at(self, k: int, names: Iterable[str]) -> dict[str, Any]:
        """Values of member k, of some names."""
        return {name: self.values[name][k] for name in names}

    def part(self, begin: int, end: int) -> Varied:
        """Members of a range."""
        values = {name: value[begin:end] for name, value in self.values.items()}
        return Varied(end - begin, values, None, self.numbers[begin:end])


def _one_each(value: Any, name: str) -> Array:
    """An array of finite numbers (M, ...)."""
    if type(value) is np.ndarray and value.dtype == float and value.size and value.ndim and np.isfinite(value).all():
        return np.ascontiguousarray(value)
    if has(value, "as_quat"):
        value = np.roll(value.as_quat(), 1, axis=-1)
    if has_quantity(value):
        raise InvalidInput(f"members has quantities for {name}; give plain numbers in the units of the run")
    if has(value, "values") and not callable(value.values):
        numbers = (value.transpose(MEMBER, ...) if has(value, "dims") and MEMBER in value.dims else value).values
    else:
        numbers = value
    try:
        quick = None if np.iscomplexobj(numbers) else np.asarray(numbers, dtype=float)
    except (TypeError, ValueError, OverflowError):
        quick = None
    if quick is not None and quick.ndim and not np.isfinite(quick).all():
        k = int(np.argwhere(~np.isfinite(quick))[0][0])
        raise InvalidInput(f"members has no finite {name} for member {k}: {shown(quick[k].tolist())}; give numbers, or "
                           "leave the member out")  # fmt: skip
    made = array(numbers, f"members[{name!r}]", UNKNOWN)
    if not made.ndim or not len(made):
        raise InvalidInput(f"members has no array for {name}; give one value for each member, or leave it to start")
    return np.ascontiguousarray(made)


# ------------------------------------------------------------------ names
@dataclass(frozen=True)
class Names:
    """The names that vary, by what they belong to."""

    starting: tuple[str, ...]
    system: tuple[str, ...]
    tolerances: tuple[str, ...]
    options: tuple[str, ...]


def sorted_out(varied: Varied, system: System, options: Mapping[str, Any]) -> Names:
    """Which names belong to what."""
    arguments = arguments_of(system)
    known = {"starting": STARTING, "tolerances": TOLERANCES, "system": arguments, "options": options}
    found: dict[str, list[str]] = {kind: [] for kind in known}
    for name, values in varied.values.items():
        if name == "time":
            raise InvalidInput("members vary in time; all start at the same one, that of start")
        whole = next((name[:k] for k, end in enumerate(name) if end == "." and name[:k] in varied.values), None)
        if whole is not None:
            raise InvalidInput(f"members has values of {whole} as well as of {name}, a part of it; keep one of them")
        head = name.partition(".")[0]
        kind = next((kind for kind, words in known.items() if (head if kind == "system" else name) in words), None)
        if kind is None:
            raise unknown_name("name in members", name, [*STARTING, *TOLERANCES, *arguments, *options])
        if kind in ("tolerances", "options") and values.ndim > 1:
            given = f"{name} must be one number for each member, but has shape {values.shape}"
            raise InvalidInput(f"{given}; give ({len(values)},)")
        found[kind].append(name)
    return Names(**{kind: tuple(names) for kind, names in found.items()})


system_of = partial(system_with, given="members")
"""The system with other values of arguments, by their paths."""


# ------------------------------------------------------------------ constants
@dataclass(frozen=True, eq=False)
class Kind:
    """The systems of an ensemble: one of them, the constants of all, and why they are no one kind if they are not."""

    system: System  # that of the first member
    constants: Constants  # of all members; of length 1 where they are the same
    alone: str = ""  # why each member must be run by itself, a clause; empty where all share one compiled loop

    @cached_property
    def bodies(self) -> Array:
        """What kernels read of the bodies of each member."""
        return self.constants.bodies


def kind_of(system: System, first: System, varied: Varied, names: tuple[str, ...]) -> Kind:
    """The constants of the systems of all members, of which the first is built already."""
    if not names:
        return Kind(first, Constants(*first.for_kernels))
    if first.quantities is not None and not hasattr(first.quantities, "of_members"):
        return Kind(first, Constants(*first.for_kernels), "what it records follows from numbers that vary")
    flat = np.hstack([varied.values[name].reshape(varied.count, -1) for name in names])
    before, low, high, formulas = _known.setdefault(system, {}).get(names, (first, flat[0], flat[0], {}))
    if low.shape == flat.shape[1:] and ((low <= flat) & (flat <= high)).all() and not differences([before, first]):
        first = _with_what_all_conserve(first, [before])
        copied = _by_copies(first, {0: first}, varied, names, formulas)
        if copied is not None:
            return Kind(first, copied, _decided_by(first, copied))
    systems, formulas = {0: first}, {}
    for some in (_looked_at(varied, names, first), np.linspace(0, varied.count - 1, SURE).astype(int).tolist()):
        for k in sorted(set(some) - set(systems)):
            systems[k] = system_of(system, varied.at(k, names))
        why, first = differences(list(systems.values())), _with_what_all_conserve(first, systems.values())
        copied = None if why else _by_copies(first, systems, varied, names, formulas)
        if copied is not None:
            if "axial_angular_momentum" not in first.conserves:  # which numbers between may change
                _known[system][names] = first, flat.min(axis=0), flat.max(axis=0), formulas
            return Kind(first, copied, _decided_by(first, copied))
        if why or varied.count <= SURE:
            break
    built = [systems.get(k) or system_of(system, varied.at(k, names)) for k in range(varied.count)]
    why, first = why or differences(built), _with_what_all_conserve(first, built)
    if not why and len({one.with_memory.size for one in built}) > 1:
        why = "their parameters differ in number"
    if why:
        return Kind(first, Constants(*first.for_kernels), why)
    axis = np.array([one.axis for one in built]) if "axial_angular_momentum" in first.conserves else None
    fields = ("mass", "moments", "frames", "with_memory")
    found = Constants._make((*(np.array([getattr(one, field) for one in built]) for field in fields), axis))
    return Kind(first, found, _decided_by(first, found))


_known: WeakKeyDictionary[System, dict[tuple[str, ...], Any]] = WeakKeyDictionary()
"""Of systems, by names of what varied: the first member's, the least and largest of what varied, and ``formulas``."""


def _looked_at(varied: Varied, names: tuple[str, ...], first: System) -> list[int]:
    """Members whose systems are built: some, those of extreme numbers, the least symmetric about the first's axis."""
    found = {0, *np.linspace(0, varied.count - 1, LOOKED_AT).astype(int).tolist()}
    for name in names:
        if name != "inertia":
            flat = varied.values[name].reshape(varied.count, -1)
            found |= {int(k) for k in (*flat.argmin(axis=0), *flat.argmax(axis=0))}
        elif "axial_angular_momentum" in first.conserves and first.axis is not None:
            found.add(_least_symmetric(varied.values[name], first.axis))
    return sorted(found)


def _least_symmetric(inertia: Array, axis: Array) -> int:
    """The member whose inertia (M, 3) or (M, 3, 3) differs most, relative to it, from one symmetric about the axis."""
    if inertia.shape[1:] not in ((3,), (3, 3)):
        return 0
    tensors = inertia[:, :, None] * np.eye(3) if inertia.ndim == 2 else inertia
    along = np.outer(axis, axis) / np.dot(axis, axis)
    total, about = np.trace(tensors, axis1=1, axis2=2), (tensors * along).sum(axis=(1, 2))
    symmetric = about[:, None, None] * along + 0.5 * (total - about)[:, None, None] * (np.eye(3) - along)
    largest = np.maximum(np.abs(tensors).max(axis=(1, 2)), np.finfo(float).tiny)
    return int((np.abs(tensors - symmetric).max(axis=(1, 2)) / largest).argmax())


def _with_what_all_conserve(first: System, systems: Iterable[System]) -> System:
    """The first system, said to conserve what all of them do."""
    common = tuple(name for name in first.conserves if all(name in one.conserves for one in systems))
    return first if common == first.conserves else replace(first, conserves=common)


def differences(systems: list[System]) -> str:
    """In what systems differ but for numbers, a clause; empty where they do not."""
    first = systems[0]
    for one in systems[1:]:
        if one.N != first.N:
            return "their numbers of bodies differ"
        if one.provides != first.provides or one.auxiliary != first.auxiliary:
            return "what they provide or record differs"
        if one.parameters.shape != first.parameters.shape or (one.blocks != first.blocks).any():
            return "what moves differs"
        if (np.isfinite(one.moments) != np.isfinite(first.moments)).any():
            return "the axes differ about which they turn"
        if one.switches != first.switches:
            return "their loads are switched at different times"
        if [list(w.numbers) for w in one.watches] != [list(w.numbers) for w in first.watches] or [
            (act.time, list(act.numbers)) for act in one.sudden
        ] != [(act.time, list(act.numbers)) for act in first.sudden]:
            return "what is watched or fired differs"
        if [(row.every, row.phase) for row in one.sampled] != [(row.every, row.phase) for row in first.sampled]:
            return "their controllers sample at different times"
        roles = ((getattr(s, name) for name in ("loads", "potential", "commutator", "series")) for s in (first, one))
        called = [s.called and s.called.made for s in (first, one)]
        if called[0] != called[1] or not all(a is b for a, b in zip(*roles, strict=True)):
            return "their loads are not the same functions"
    return ""


def _by_copies(
    first: System, systems: Mapping[int, System], varied: Varied, names: Iterable[str], formulas: dict[Any, Any]
) -> Constants | None:
    """The constants of all members where each number of a system is a constant or a copy of a varied one, which several
    systems tell ``formulas``; else None."""
    some = list(systems)
    sources = {
        (name, e): column for name in names for e, column in enumerate(varied.values[name].reshape(varied.count, -1).T)
    }
    values = {source: column[some] for source, column in sources.items()}

    def spread(field: str) -> Array | None:
        each = np.array([np.ravel(getattr(systems[k], field)) for k in some])
        made = np.empty((varied.count, each.shape[1]))
        made[:] = each[0]
        for p in range(each.shape[1]):
            if (each[:, p] != each[0, p]).any():
                formulas[field, p] = _formula(values, each[:, p])
                if formulas[field, p] is None:
                    return None
            if (field, p) in formulas:
                source, factor = formulas[field, p]
                made[:, p] = sources[source] if factor == 1.0 else sources[source] * factor
        return made if (made[some] == each).all() else None

    mass, parameters = spread("mass"), spread("parameters")
    if mass is None or parameters is None:
        return None
    N, M = first.N, varied.count
    moments, frames = first.moments[None], first.frames[None]
    for name in names:
        body, _, word = name.rpartition(".")
        if word != "inertia" or (body and body not in first.names):
            continue
        given, told = varied.values[name], first.arguments[body] if body else first.arguments
        if given.shape not in ((M, 3), (M, 3, 3)) or (N != 1 and not body):
            return None
        own = principal_of_many(given, triangle=told.get("physical", True))
        plain = (own[1] == (1.0, 0.0, 0.0, 0.0)).all(axis=1)
        if body and plain.any() != plain.all():  # loads of a sum are written for the one or the other
            return None
        i = first.names.index(body) if body else 0
        moments, frames = _for_all(moments, M), _for_all(frames, M)
        moments[:, i], frames[:, i] = np.where(own[0] == 0.0, np.inf, own[0]), own[1]
    same = all(
        np.array_equal(moments[min(k, len(moments) - 1)], systems[k].moments)
        and np.array_equal(frames[min(k, len(frames) - 1)], systems[k].frames)
        for k in some
    )
    if not same or (np.isfinite(moments) != np.isfinite(first.moments)).any():
        return None
    together = np.zeros((M, first.with_memory.size))
    together[:, : parameters.shape[1]] = parameters
    axis = first.axis if "axial_angular_momentum" in first.conserves else None
    if axis is not None and not all(np.array_equal(one.axis, axis) for one in systems.values()):
        return None
    return Constants(
        mass.reshape(M, N), _for_all(moments, M), _for_all(frames, M), together,
        None if axis is None else _for_all(axis[None], M),
    )  # fmt: skip


def _formula(values: Mapping[Any, Any], wanted: Array) -> tuple[Any, float] | None:
    """Which varied number, and times what, gives exactly these values; factors other than 1 where there are many."""
    for source, column in values.items():
        if (column == wanted).all():
            return source, 1.0
    if len(wanted) >= SURE:
        for source, column in values.items():
            if column[0] != 0.0 and (column != column[0]).any():
                near = wanted[0] / column[0]
                for factor in (near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)):
                    if (column * factor == wanted).all():
                        return source, float(factor)
    return None


def _for_all(values: Array, M: int) -> Array:
    """An array (M, ...) of its own memory from that of all members, or of the only row."""
    return np.array(np.broadcast_to(values, (M, *values.shape[1:])), order="C")


def _decided_by(system: System, constants: Constants) -> str:
    """Whether a number by which compiled code was chosen varies, a clause; empty where none does."""
    if len(constants.frames) > 1 and system.called:
        plain_frame = (constants.frames == (1.0, 0.0, 0.0, 0.0)).all(axis=(1, 2))
        if plain_frame.any() != plain_frame.all():
            return "some of them have principal axes along those of the body and others have not"
    if len(constants.parameters) == 1:
        return ""
    parameters, parts = constants.parameters, [L.ALL]
    if system.each_alone or "split_loads" in system.provides:
        parts += [L.ATTRACTION, L.POTENTIAL_PART, L.RESTING, L.MOVING, L.WITHOUT_SOLVED]
    asked = {name for part in parts for name in system.dynamics_of(part).fixed}
    varying = {f"p{k}" for k in np.flatnonzero((parameters != parameters[0]).any(axis=0))}
    return "a function decides by numbers that vary" if varying & asked else ""


# ------------------------------------------------------------------ initial states
def states_of(kind: Kind, request: Request, varied: Varied, names: tuple[str, ...], words: Mapping[str, Any]) -> Array:
    """Initial states (M, width) of all members."""
    M, system, constants = varied.count, kind.system, kind.constants
    first = request.state
    N, pins = system.N, system.pins
    alike = len(constants.mass) == 1 and len(constants.moments) == 1 and len(constants.frames) == 1 and pins is None
    if not names and alike:
        return np.tile(first, (M, 1))
    y = _of_single_bodies(kind, varied, names, words)
    if y is None:
        y = _of_bodies(kind, varied, names, words)
    if system.check is not None:
        for k in range(M):
            wrong = system.check(y[k])
            if wrong:
                raise InvalidInput(f"the run cannot start: {wrong}")
    if wrong := told_open(system, y, constants.parameters, (constants.mass, constants.moments)):
        raise InvalidInput(f"the start does not meet the joints: {wrong}")
    prepared = request.method.prepare()
    if prepared.coordinates is not None:
        return np.array([extended(_of_member(system, constants, k), prepared, y[k]) for k in range(M)])
    states = np.empty((M, len(first)))
    states[:] = first
    states[:, : L.BODY * N] = y
    if "wheels" in system.provides:
        S = len(system.auxiliary)
        own = system.auxiliary_at_start(y, constants.moments, constants.parameters)
        states[:, L.BODY * N : L.BODY * N + S] = own
    return states


def _of_single_bodies(kind: Kind, varied: Varied, names: tuple[str, ...], words: Mapping[str, Any]) -> Array | None:
    """Starts (M, 13) of members that are one body each, by one call of a kernel; None where anything is unusual."""
    system = kind.system
    said = said_of({name: value for name, value in words.items() if name not in names and name != "sequence"})
    if said is None or system.alone is None or system.pins is not None or not SAID.keys() >= {*names}:
        return None
    return of_arrays(
        said, {name: varied.values[name] for name in names}, system.alone, *kind.constants[:3], varied.count
    )


def _of_bodies(kind: Kind, varied: Varied, names: tuple[str, ...], words: Mapping[str, Any]) -> Array:
    """Starts (M, 13 N) of members, as of bodies of one system."""
    M, system, constants, N, pins = varied.count, kind.system, kind.constants, kind.system.N, kind.system.pins
    if pins is not None:
        at = system.made_again.sum.pins_at  # type: ignore[union-attr]
        pins = np.broadcast_to(constants.parameters[:, at : at + 3 * N], (M, 3 * N)).reshape(M * N, 3)
    given: dict[str, Any] = {}
    for name in (*FORMS, *STATE_WORDS[3:]):
        if name in names:
            given[name] = _of_all(varied.values[name], name, M, N)
        elif words.get(name) is not None:
            given[name] = words[name] if name == "sequence" else _repeated(words[name], name, M, N)
    kept = as_kept({name: given.get(name) for name in FORMS})
    mass, moments, frames = (
        (a if len(a) == M else np.broadcast_to(a, (M, *a.shape[1:]))).reshape(M * N, *a.shape[2:])
        for a in (constants.mass, constants.moments, constants.frames)
    )
    turns = np.isfinite(moments)
    all_bodies = SimpleNamespace(
        N=M * N, alone=None, name=system.name, rotates=system.rotates, translates=system.translates, mass=mass,
        moments=moments, pins=pins,
        frames=frames, provides=system.provides, without_thickness=any_of(turns) & ~all_of(turns),
    )  # fmt: skip
    moved = {name: given.get(name) for name in STATE_WORDS[3:]}
    return start_state(all_bodies, **kept, **moved).reshape(M, L.BODY * N)  # type: ignore[arg-type]


def _of_member(system: System, constants: Constants, k: int) -> Any:
    """What the start of member k depends on beside its state."""
    frames, moments, parameters = (
        one[min(k, len(one) - 1)] for one in (constants.frames, constants.moments, constants.parameters)
    )
    at_start = partial(system.auxiliary_at_start, moments=moments, parameters=parameters)
    return SimpleNamespace(N=system.N, auxiliary=system.auxiliary, auxiliary_at_start=at_start, frames=frames)


def _of_all(values: Array, name: str, M: int, N: int) -> Array:
    """Values of all bodies of all members, (M N, ...), from those of each member."""
    if name == "attitude" and values.shape[-2:] == (3, 3):
        values = np.broadcast_to(values[:, None] if values.ndim == 3 else values, (M, N, 3, 3))
        return values.reshape(M * N, 3, 3)
    if values.ndim == 1:
        raise InvalidInput(f"members has one number for each {name}; give an array of shape ({M}, k)")
    if values.ndim == 2:
        values = np.repeat(values[:, None], N, axis=1)
    if values.ndim != 3 or values.shape[1] != N:
        raise InvalidInput(f"members has values of shape {values.shape[1:]} of {name}, for {N} bodies; give numbers of "
                           "one body or of each")  # fmt: skip
    return values.reshape(M * N, values.shape[-1])


def _repeated(value: Any, name: str, M: int, N: int) -> Array:
    """A value that all members have, for all of their bodies."""
    if name == "velocity" and np.ndim(value) == 0 and not has(value, "as_quat"):
        return value
    if name == "attitude" and (has(value, "as_quat") or np.shape(value)[-2:] == (3, 3)):
        value = as_kept({"attitude": value})["attitude"]
    numbers = array(value, name, "")
    return np.tile(np.broadcast_to(numbers, (N, numbers.shape[-1])) if numbers.ndim == 1 else numbers, (M, 1))
