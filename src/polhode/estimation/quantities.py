"""What is fitted: names of initial values, parameters and biases, and the numbers that a solver changes in their place.

An attitude is changed by a rotation vector on its right, ``q = q0 exp(x)``, inertia as in ``inertias``. All other
numbers are themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import UNKNOWN, Array, array
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.estimation import inertias
from polhode.estimation.bodies import LETTERS, MOVING, TURNING, body_and_word, does, key_of, lacks
from polhode.estimation.measurements import KINDS, Measurement
from polhode.estimation.models import right_jacobian
from polhode.systems import System


@dataclass(frozen=True, eq=False)
class Quantity:
    """One free quantity."""

    name: str  # as the user wrote it, or the full path of a parameter
    kind: str  # how its numbers enter
    guess: Array  # (k,): its value before the fit
    # names of the k numbers of its error: those of an attitude are ``rotation_x`` and so on (rad, body frame)
    labels: tuple[str, ...]
    body: int = 0  # whose it is, of a state or an inertia
    word: str = ""  # of a state what it is

    @property
    def size(self) -> int:
        """Numbers that a solver changes."""
        return len(self.labels)

    @property
    def start(self) -> Array:
        """These numbers at the guess."""
        if self.kind == "attitude":
            return np.zeros(3)
        return inertias.start(self.guess) if self.kind == "inertia" else self.guess.copy()

    def value(self, x: Array) -> Array:
        """The quantity itself at the numbers x."""
        if self.kind == "attitude":
            return rotation.multiply(self.guess, rotation.exp_quaternion(x))
        return inertias.value(x) if self.kind == "inertia" else np.array(x, dtype=float)

    def jacobian(self, x: Array) -> Array:
        """Derivative (k, k) of the error of the value by the numbers x."""
        if self.kind == "attitude":
            return right_jacobian(x)
        return inertias.slope(x) if self.kind == "inertia" else np.eye(self.size)

    def offset(self, x: Array) -> Array:
        """Error (k,) of the value at x relative to the guess."""
        if self.kind == "attitude":
            return np.array(x, dtype=float)
        return self.flat(self.value(x)) - self.flat(self.guess)

    def flat(self, value: Array) -> Array:
        """The numbers of a value: those of a tensor are xx, xy, xz, yy, yz, zz."""
        return inertias.flat(value) if self.kind == "inertia" else value

    def shown(self, value: Array) -> Array | float:
        """A value as users see it: a number where it is one."""
        return float(value[0]) if self.kind in ("parameter", "bias") and np.size(value) == 1 and self.scalar else value

    @property
    def scalar(self) -> bool:
        """Whether it is one number and no array of one."""
        return self.labels == (self.name,)


def at_path(arguments: Mapping[str, Any], path: str) -> Any:
    """The argument at a path such as ``forces.0.j2``; None where there is none."""
    value: Any = arguments
    for word in path.split("."):
        try:
            value = value[int(word)] if isinstance(value, list | tuple) else value[word]
        except (LookupError, TypeError, ValueError):
            return None
    return value


def paths_ending(arguments: object, word: str, before: str = "") -> list[str]:
    """All paths to a number, or an inertia, whose last name is this one, in capitals or not."""
    found = []
    pairs: Any = enumerate(arguments) if isinstance(arguments, list | tuple) else getattr(arguments, "items", dict)()
    for name, value in pairs:
        here = f"{before}{name}"
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if str(name).lower() == word.lower() and (number or (name == "inertia" and isinstance(value, list))):
            found.append(here)
        found += paths_ending(value, word, f"{here}.")
    return found


def list_of_names(free: Any) -> Sequence[str]:
    """What ``free=`` says, a list of names."""
    names = isinstance(free, Sequence) and not isinstance(free, str) and all(isinstance(name, str) for name in free)
    if not names or not len(free):
        raise InvalidInput(f"free must be a list of names such as ['attitude', 'angular_velocity'], not {shown(free)}")
    return cast(Sequence[str], free)


def quantities(
    system: System, names: Sequence[str], guess: Mapping[str, Any], measurements: Sequence[Measurement]
) -> list[Quantity]:
    """The free quantities of these names."""
    for i in range(system.N):
        for pair in (("angular_velocity", "angular_momentum"), ("velocity", "momentum")):
            first, second = (key_of(system, i, word) for word in pair)
            if {first, second} <= {key_of(system, *of) for of in map(partial(body_and_word, system), names) if of}:
                raise InvalidInput(f"free has both {first} and {second}; keep one of them")
    found = [_quantity(system, name, guess, measurements) for name in names]
    seen: set[str] = set()
    for one in found:
        if one.name in seen:
            raise InvalidInput(f"free has {one.name} twice; name it once")
        seen.add(one.name)
    return found


def _quantity(system: System, name: str, guess: Mapping[str, Any], measurements: Sequence[Measurement]) -> Quantity:
    biased = {f"{one.name}.bias": one for one in measurements if KINDS[one.kind].bias}
    if (found := body_and_word(system, name)) is not None:
        body, word = found
        if not does(system, body, word):
            raise InvalidInput(f"free has {name}, {lacks(system, body, word)}")
        kind, key = "attitude" if word == "attitude" else "state", key_of(system, body, word)
        labels = tuple(f"{key_of(system, body, 'rotation' if kind == 'attitude' else word)}_{a}" for a in LETTERS)
        return Quantity(key, kind, np.array(guess[key], dtype=float), labels, body, word)
    if name in biased:
        k = KINDS[biased[name].kind].bias
        return Quantity(name, "bias", np.zeros(k), (name,) if k == 1 else tuple(f"{name}_{a}" for a in LETTERS))
    if name.endswith(".bias"):
        raise unknown_name("bias in free", name, biased or ["(none: the data have no instrument with a bias)"])
    path = _path_of(system, name, biased)
    numbers = array(at_path(system.arguments, path), path, UNKNOWN)
    whose, _, last = path.rpartition(".")
    if last == "inertia" and (whose in system.names or (not whose and system.N == 1)):
        first = inertias.thickened(numbers.astype(float))  # three moments, or a tensor, by second moments of mass
        places = [(k,) for k in range(3)] if first.ndim == 1 else list(zip(*inertias.UPPER, strict=True))
        labels = tuple(".".join([path, *map(str, at)]) for at in places)
        return Quantity(path, "inertia", first, labels, system.names.index(whose) if whose else 0)
    if numbers.ndim > 1:
        raise InvalidInput(f"free has {path}, which is an array of shape {numbers.shape}; name its numbers one by one, "
                           f"such as {path}.0")  # fmt: skip
    labels = (path,) if not numbers.ndim else tuple(f"{path}.{k}" for k in range(numbers.size))
    return Quantity(path, "parameter", np.atleast_1d(numbers).astype(float), labels)


def _path_of(system: System, name: str, biased: Mapping[str, Any]) -> str:
    """The full path of a parameter: as given, or of the only number that is called so."""
    own = [key_of(system, i, word) for i in range(system.N) for word in (*TURNING, *MOVING) if does(system, i, word)]
    known = [*own, *system.arguments, *biased]
    found = at_path(system.arguments, name)
    if found is not None and not isinstance(found, str | bool | Mapping):
        return name
    paths = paths_ending(system.arguments, name)
    if len(paths) == 1:
        return paths[0]
    if paths:
        raise InvalidInput(f"free has {name}, which may be {' or '.join(paths)}; write one of these")
    raise unknown_name("name in free", name, known)
