"""Where a run starts, as its user says it: ``State``, with attitudes in their several forms and rates seen from space.

``polhode.integrate`` and the table [initial] of scenarios take the same words for it, and read them here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import ArrayLike, InSI, array, has, has_quantity, mapping, number, text, truth, whole
from polhode.arguments.words import (
    AngularMomenta,
    AngularVelocities,
    Beside,
    Momenta,
    Numbers,
    NumbersOrRows,
    Places,
    Quaternions,
    VectorOrVectors,
    Velocities,
    arguments_of,
    endings_of,
    in_units_of,
    spelled_like,
)
from polhode.errors import InvalidInput, naming, unknown_name
from polhode.lazy import xr
from polhode.methods import MethodSpec, method as find_method
from polhode.trajectory.schema import COMMANDS, ROLE, renamed, trajectory

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

    from polhode.systems import System

ATTITUDES = ("attitude", "rotation_vector", "euler_angles", "euler_angles_deg")
ANGLES = ("euler_angles", "euler_angles_deg")
TURNING = ("angular_velocity", "angular_momentum", "angular_velocity_space", "angular_momentum_space")
FORMS = (*ATTITUDES, "sequence", *TURNING)
"""How bodies are turned and turn."""
UNITS_OF_STATE = {
    "attitude": "", "angular_velocity": "rad / s", "angular_momentum": "kg * m**2 / s", "position": "m",
    "velocity": "m / s", "momentum": "kg * m / s",
}  # fmt: skip
STATE_WORDS = tuple(UNITS_OF_STATE)
"""Words that are arguments of ``integrate`` as well."""
STATE_SET = frozenset(STATE_WORDS)
OF_METHODS = ("coordinates", "thermostat", "compensation", "time_variables")
"""Numbers that methods keep beside the bodies."""
RECORDED = ("attitude", "angular_momentum", "position", "momentum")
AS_GIVEN = ("coordinates", "clock", "thermostat", "compensation")
"""Of these numbers the method knows more; runs that go on from others have them."""
COMPENSATIONS = (
    ("position_compensation", 3), ("momentum_compensation", 3), ("attitude_compensation", 4),
    ("angular_momentum_compensation", 3),
)  # fmt: skip
"""The variables that make up ``compensation``, and how many numbers of a body each has."""


class AtStart(TypedDict, total=False):
    """The words of a ``State`` that are arguments of ``integrate`` as well."""

    attitude: ArrayLike | Rotation | None
    angular_velocity: ArrayLike | None
    angular_momentum: ArrayLike | None
    position: ArrayLike | None
    velocity: ArrayLike | None
    momentum: ArrayLike | None


@dataclass(frozen=True, eq=False)
class State:
    """Where a run starts: ``polhode.integrate(system, start=polhode.State(...))``, or a mapping of the same names.

    All is optional: bodies are at rest at the origin, turned as the axes of space, unless something is said. What is
    said of several bodies is one for all, or one for each (shape (N, k)). Quantities of astropy become plain numbers
    where the units of the run are known. Words of a mapping may end in a unit, as in scenarios: ``position_km``,
    ``velocity_km_s``, ``angular_velocity_deg_s``; once one beside angles does, the run is in SI.

    Attributes
    ----------
    time : float
        Time of the state, 0 by default.
    attitude : array_like (4,) or (3, 3), or scipy.spatial.transform.Rotation
        Unit quaternion (w, x, y, z), rotation matrix or SciPy ``Rotation``, body to space.
    rotation_vector, euler_angles, euler_angles_deg : array_like (3,)
        In the place of ``attitude``: a rotation vector (rad), or Euler angles (rad, or degrees) in the order of
        ``sequence``.
    sequence : str
        Of the Euler angles, ``"XYZ"`` unless given; as SciPy: ``"ZXZ"`` intrinsic, ``"zxz"`` extrinsic.
    angular_velocity, angular_momentum : array_like (3,)
        In the body frame, one of them, or instead
    angular_velocity_space, angular_momentum_space : array_like (3,)
        in the space frame, the latter about the body's centre of mass or fixed point.
    position, velocity, momentum : array_like (3,)
        In the space frame; ``velocity=0`` is a release from rest.
    coordinates : array_like (k,)
        Of a method that keeps attitudes as numbers of its own (rotation vector, Euler angles of its sequence), in the
        place of ``attitude``; also longer than principal ones.
    thermostat : array_like (k,)
        Of a method with a heat bath: the last row of ``thermostat``.
    compensation : array_like (13,) or (6,)
        Of compensated sums: what rounding has left out so far of position and momentum, three numbers each, and of
        attitude and angular momentum, four and three.
    time_variables : array_like (4,)
        Of a method with a time transformation, to go on with its steps.
    states : mapping of str to array_like
        States of the system's own that loads read, in the place of those it was built with, by the names of their
        variables in the Dataset: ``{"wheel_momentum": (0.1, 0, 0)}``, commands, states of the user's.
    since : float
        When the first run began, of which this is the rest: what is switched or fired between then and ``time`` is
        past, and so is an impulse at ``time``.
    commanded : bool
        Whether controllers have set their states at ``time`` already, as in a row of a trajectory.

    Raises
    ------
    InvalidInput
        Two forms of one thing, a sequence without angles, or a value that is none of its kind.

    Examples
    --------
    >>> State(euler_angles_deg=(90, 0, 0), sequence="ZXZ", angular_velocity=(0, 0, 1)).given["sequence"]
    'ZXZ'
    """

    time: float = 0.0
    attitude: ArrayLike | Rotation | None = None
    rotation_vector: ArrayLike | None = None
    euler_angles: ArrayLike | None = None
    euler_angles_deg: ArrayLike | None = None
    sequence: str | None = None
    angular_velocity: ArrayLike | None = None
    angular_momentum: ArrayLike | None = None
    angular_velocity_space: ArrayLike | None = None
    angular_momentum_space: ArrayLike | None = None
    position: ArrayLike | None = None
    velocity: ArrayLike | None = None
    momentum: ArrayLike | None = None
    coordinates: ArrayLike | None = None
    thermostat: ArrayLike | None = None
    compensation: ArrayLike | None = None
    time_variables: ArrayLike | None = None
    states: Mapping[str, ArrayLike] | None = None
    since: float | None = None
    commanded: bool = False

    def __post_init__(self) -> None:
        check_forms(self.given)
        for name in ("time", "since"):
            value = getattr(self, name)
            if name == "time" or value is not None:
                number(value, name, "s")
        for name in (*FORMS, *STATE_WORDS[3:], *OF_METHODS):
            value = getattr(self, name)
            if name == "sequence" and value is not None:
                text(value, name)
            elif value is not None and not has_quantity(value) and not has(value, "as_quat"):
                array(value, name)
        truth(self.commanded, "commanded")
        for name, value in mapping({} if self.states is None else self.states, "states").items():
            array(value, name)

    def __repr__(self) -> str:
        told = ", ".join(
            f"{name}={np.array2string(x, separator=', ', threshold=12) if isinstance(x, np.ndarray) else repr(x)}"
            for name, x in self.given.items()
        )
        return f"State({told})"

    @property
    def given(self) -> dict[str, Any]:
        """What is said, by name; of the time that it is another than 0."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value for name, value in found.items()
            if value is not None and value is not False
            and not (name == "time" and type(value) in (int, float) and value == 0)
        }  # fmt: skip

    @classmethod
    def of(cls, ds: xr.Dataset, row: int = -1, method: MethodSpec | None = None) -> State:
        """The state in a row of a trajectory, with the numbers that its method keeps beside the bodies, and the momenta
        of wheels, commands and other states of the system's own.

        Parameters
        ----------
        ds : xarray.Dataset
            From ``integrate`` or read from disk.
        row : int
            Which one, from 0, or from -1 backwards; the last unless given.
        method : MethodSpec, optional
            For a run by another method: only numbers are taken that this one keeps.

        Raises
        ------
        InvalidInput
            No trajectory, or one without this row.
        """
        rows = trajectory(ds).sizes.get("time", 0)
        if not rows:
            if "time" in ds.coords and ds.sizes.get("time") is None:
                raise InvalidInput("start is one row without an axis of time; give it with its axis, isel(time=[k])")
            raise InvalidInput("start has no rows; give a trajectory that has some")
        if not -rows <= whole(row, "row", -(2**53)) < rows:
            raise InvalidInput(f"row is {row}, but the trajectory has {rows} rows, 0 to {rows - 1}")
        kept, there = record_of(ds), renamed(ds.isel(time=row))
        if method is None:
            its_own = find_method(kept.get("method") or ds.attrs.get("method", ""))
            method = replace(its_own, compensated=kept.get("compensated", False))
        prepared = method.prepare()
        found: dict[str, Any] = {name: there[name].values for name in RECORDED if name in there}
        own = prepared.coordinates
        if own is not None and own.name in there:  # these, for an attitude does not say how often it has turned
            found.pop("attitude", None)
            found["coordinates"] = there[own.name].values
        if prepared.bath is not None and "thermostat" in there:
            found["thermostat"] = there["thermostat"].values
        of_points = not (prepared.compensates_rotation and "attitude_compensation" in there)
        kept_sums = COMPENSATIONS[:2] if of_points else COMPENSATIONS
        if prepared.compensation and any(name in there for name, _ in kept_sums):
            bodies = [there.sizes["body"]] if "body" in there.sizes else []
            found["compensation"] = np.concatenate(
                [there[name].values if name in there else np.zeros([*bodies, k]) for name, k in kept_sums], axis=-1
            )
        if prepared.step_density and "time_variables" in there:
            found["time_variables"] = there["time_variables"].values
        states = {str(name): one.values for name, one in there.data_vars.items() if one.attrs.get("role") == ROLE}
        if states:
            found["states"] = states
        if COMMANDS.items() <= ds.attrs.items():
            found["commanded"] = True
        begun = kept.get("since", kept.get("t0"))
        return cls(time=float(there["time"]), since=float(ds["time"][0]) if begun is None else begun, **found)


def given_state(
    attitude: Quaternions | None = None,
    rotation_vector: VectorOrVectors | None = None,
    euler_angles: VectorOrVectors | None = None,
    euler_angles_deg: VectorOrVectors | None = None,
    sequence: Annotated[str | None, Beside(ANGLES)] = None,
    angular_velocity: AngularVelocities | None = None,
    angular_momentum: AngularMomenta | None = None,
    angular_velocity_space: AngularVelocities | None = None,
    angular_momentum_space: AngularMomenta | None = None,
    coordinates: NumbersOrRows | None = None,
    clock: Numbers | None = None,
    thermostat: Numbers | None = None,
    compensation: NumbersOrRows | None = None,
    position: Places | None = None,
    velocity: Velocities | None = None,
    momentum: Momenta | None = None,
) -> dict[str, Any]:
    """Initial state: attitude in one of four forms, one angular velocity or momentum, and the motion through space.

    Of many bodies also drawn at random: places by a draw or on a lattice, attitudes by rotations, momenta by a
    temperature or an energy. Random numbers come from the seed.

    Parameters
    ----------
    attitude : array_like
        unit quaternion (w, x, y, z), body to space; of several bodies a list, or one for all
    rotation_vector : array_like
        rad
    euler_angles : array_like
        rad, in the order of the sequence
    euler_angles_deg : array_like
        degrees, in the order of the sequence
    sequence : str
        'ZXZ' intrinsic, 'zxz' extrinsic; default 'XYZ'
    angular_velocity, angular_momentum : array_like
        body frame; of several bodies a list of vectors, or one for all
    angular_velocity_space, angular_momentum_space : array_like
        space frame
    coordinates : array_like
        of a method with numbers of its own for attitudes
    clock : array_like
        of a method with a clock, to go on with its steps
    thermostat : array_like
        of a method with a heat bath, to go on with it
    compensation : array_like
        of compensated sums, to go on with them: of each body 6 numbers, or 13 where those of rotations are compensated
    position, velocity, momentum : array_like
        space frame; of several bodies a list of vectors, or one for all

    Returns
    -------
    dict
        Arguments of ``integrate``: attitude as a quaternion, angular velocity and momentum in the body frame.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    turns = {name: np.asarray(value).tolist() for name, value in as_kept(given).items()}
    return {name: given[name] for name in (*STATE_WORDS[3:], *AS_GIVEN) if name in given} | turns


def state_of(start: object) -> State:
    """The state that a mapping, or a ``State``, is."""
    if start is None:
        return AT_REST
    if isinstance(start, State):
        return start
    words = {name: value for name, value in mapping(start, "start").items() if value is not None}
    if not words.keys() <= KNOWN:
        words = in_si(words)
    for name in words:
        if name == "clock":
            raise InvalidInput("clock is called time_variables: write start={'time_variables': ...}")
        if name not in KNOWN:
            raise unknown_name("name in start", name, spelled_like(name, endings()) or KNOWN)
    return State(**words)


@cache
def endings() -> dict[str, tuple[str, str, Decimal | float]]:
    """Words of a start with a unit behind them, as in [initial] of a scenario."""
    return endings_of(arguments_of(given_state))


def in_si(words: Mapping[str, Any], where: str = "start") -> dict[str, Any]:
    """Words of a start, those that end in a unit under their plain names: quantities in SI, angles in radians."""
    made = {word: value for word, value in words.items() if word not in endings()}
    for word in words.keys() - made.keys():
        base, _, factor = endings()[word]
        if words[word] is None:
            continue
        if base in made:
            raise InvalidInput(f"{base} is given twice in {where}; keep one of them")
        numbers = in_units_of(array(words[word], word).tolist(), factor)
        made[base] = InSI(numbers, UNITS_OF_STATE[base.removesuffix("_space")]) if type(factor) is Decimal else numbers
    return made


def record_of(start: Any) -> dict[str, Any]:
    """What a start records of its run, where it is a Dataset that does."""
    if not hasattr(type(start), "isel"):
        return {}
    try:
        kept = json.loads(start.attrs.get("run", "{}"))
    except Exception:  # of whatever kind the text is
        kept = None
    if not isinstance(kept, dict):
        raise InvalidInput(
            "the record of the run in start is not one that polhode wrote; give a mapping of its last row"
        )
    return kept


def check_forms(given: Mapping[str, Any]) -> None:
    """Refuse two forms of one thing, and a sequence without angles."""
    for group in (ATTITUDES, TURNING):
        several = [name for name in group if given.get(name) is not None]
        if len(several) > 1:
            both = "both " if len(several) == 2 else ""
            raise InvalidInput(f"{' and '.join(several)} are {both}given; keep one of them")
    if given.get("sequence") is not None and all(given.get(name) is None for name in ANGLES):
        raise InvalidInput("a sequence belongs to euler_angles or euler_angles_deg; leave it out")


def as_kept(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same start with an attitude as quaternions and what turns in the body frame."""
    found = {name: given[name] for name in FORMS if given.get(name) is not None}
    check_forms(found)
    angles = next((name for name in ANGLES if name in found), None)
    made = {name: found[name] for name in TURNING[:2] if name in found}
    if angles is not None:
        if angles != ANGLES[0] and has_quantity(found[angles]):
            raise InvalidInput("euler_angles_deg is a quantity; give it as euler_angles, which turns it into radians, "
                               "or give plain numbers of degrees")  # fmt: skip
        radians = found[angles] if angles == ANGLES[0] else np.deg2rad(array(found[angles], angles))
        with naming(angles=angles):
            made["attitude"] = rotation.quaternion_from_euler(radians, found.get("sequence", "XYZ"))
    elif "rotation_vector" in found:
        with naming(v="rotation_vector"):
            made["attitude"] = rotation.exp_quaternion(found["rotation_vector"])
    elif "attitude" in found:
        q = found["attitude"]
        other = has(q, "as_quat") or array(q, "attitude").shape[-2:] == (3, 3)
        made["attitude"] = rotation.as_quaternion(q) if other else q  # quaternions are read where bodies are known
    for name in TURNING[2:]:
        if name in found:
            attitude = made.get("attitude", (1.0, 0.0, 0.0, 0.0))
            with naming(q="attitude", v=name):
                made[name.removesuffix("_space")] = rotation.rotate_inverse(attitude, array(found[name], name))
    return made


def refuse_own_states(system: System, start: Any, who: str) -> None:
    """Refuse a start with states that loads read, which would not be carried on."""
    before, own = hasattr(type(start), "isel"), [one.quantity for one in system.auxiliary[system.read_from :]]
    said = own if before else start.states if has(start, "states") else None
    said = start.get("states") if isinstance(start, Mapping) and not before else said
    if said:
        name, what = next(iter(said)), "is a trajectory" if before else "has states of its own"
        raise InvalidInput(f"start {what}, but {who} would begin with the {name} that {system.name!r} begins with, not "
                           f"with that of the {'trajectory' if before else 'start'}; give the state as a mapping, and "
                           f"build the system with the {name} it shall have")  # fmt: skip


Start: TypeAlias = "State | Mapping[str, Any] | xr.Dataset | None"
"""Where a run starts, as users say it."""
KNOWN = frozenset(field.name for field in fields(State))
AT_REST = State()
"""The state of which nothing is said."""
