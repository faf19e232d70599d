"""A body as the function of a load or event sees it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from polhode.programs.attitude import Attitude, attitude, conjugate, matrix_of, multiply, vector
from polhode.programs.graph import Graph
from polhode.programs.tracer import NotTraceable, Traced, Tracer, array_of
from polhode.systems.carried import OF_GYROS, OF_WHEELS
from polhode.systems.carried_loads import Rotors
from polhode.systems.summands import Sum


class Seen:
    """A body as a load sees it; one that is pinned stays at its pin, a point does not turn."""

    def __init__(self, g: Graph, i: int, sum: Sum) -> None:
        self.g, self.i, self.turned, self._name = g, i, sum.turned[i], sum.names[i]
        self.asked: set[str] = set()  # shared by copies
        self.moves, self.turns = sum.moves[i], any(sum.turns[i])
        pinned = sum.pins_at >= 0 and not self.moves
        self.pin_at = sum.pins_at + 3 * (sum.index[i] if sum.index else i) if pinned else -1
        self.rotors = next((Rotors(g, one) for one in sum.carried if one.body == i), None)

    def __getattr__(self, name: str) -> Any:
        if name in OF_ROTORS:
            found = None if self.rotors is None else self.rotors.read(name, self.turning)
            if found is not None:
                return found
            kind = "gyros" if name in OF_GYROS else "imbalanced wheels" if name == "wheel_angle" else "wheels"
            raise NotTraceable(f"it reads {name!r} of {self._name!r}, which has no {kind}")
        raise NotTraceable(f"it reads {name!r} of a body, which has {', '.join(OFFERED)}")

    def with_numbers(self, numbers: Mapping[str, Any]) -> Seen:
        """The same body with numbers of its own by name, which a load gives each body."""
        seen = object.__new__(Seen)
        seen.__dict__.update(self.__dict__ | dict(numbers))
        return seen

    def _vector(self, name: str, there: bool) -> Traced:
        """Three inputs, or nothing."""
        return vector(self.g, name, 3, 3 * self.i) if there else array_of([0.0, 0.0, 0.0])

    @property
    def name(self) -> str:
        """Its name; what reads it is the program of this body alone."""
        self.asked.add("name")
        return self._name

    @cached_property
    def position(self) -> Traced:
        """Place of the centre of mass, or of the pin, in space."""
        return vector(self.g, "p", 3, self.pin_at) if self.pin_at >= 0 else self._vector("r", self.moves)

    @cached_property
    def velocity(self) -> Traced:
        """Its velocity, in space."""
        return self._vector("v", self.moves)

    @cached_property
    def principal(self) -> Attitude:
        """The attitude of the principal frame."""
        return attitude(self.g, "q", body=self.i) if self.turns else array_of([1.0, 0.0, 0.0, 0.0])

    @cached_property
    def frame(self) -> Traced:
        """Quaternion from the principal frame to the body's axes."""
        return vector(self.g, "f", 4, 4 * self.i)

    @cached_property
    def to_body(self) -> Any:
        """Its matrix; None where both are one."""
        return matrix_of(self.frame) if self.turned else None

    @cached_property
    def attitude(self) -> Any:
        """Quaternion, body to space."""
        return multiply(self.principal, conjugate(self.frame)) if self.turned else self.principal

    @cached_property
    def moments(self) -> Any:
        """Principal moments."""
        return self._vector("I", self.turns)

    @cached_property
    def turning(self) -> Any:
        """Angular velocity in the principal frame."""
        return self._vector("j", self.turns) * self._vector("m", self.turns)

    @cached_property
    def angular_velocity(self) -> Traced:
        """Angular velocity in the body's axes."""
        return self.to_body @ self.turning if self.turned else self.turning

    @property
    def mass(self) -> Tracer:
        """The mass."""
        if not self.moves:
            raise NotTraceable(f"it reads the mass of {self._name!r}, which is pinned")
        return Tracer(self.g, self.g.input(f"mass{self.i}"))

    @property
    def inertia(self) -> Traced:
        """The inertia tensor in the body's axes, locked wheels included."""
        tensor = array_of([[self.moments[k] if k == n else 0.0 for n in range(3)] for k in range(3)])
        tensor = tensor if self.rotors is None else tensor + self.rotors.inertia()
        return self.to_body @ tensor @ self.to_body.T if self.turned else tensor

    def in_space(self, v: object) -> Traced:
        """A vector of the body's axes in space."""
        return matrix_of(self.attitude) @ array_of(v) if self.turns else array_of(v)

    def in_body(self, v: object) -> Traced:
        """A vector of space in the body's axes."""
        return matrix_of(self.attitude).T @ array_of(v) if self.turns else array_of(v)

    def point(self, x: object) -> Any:
        """The place in space of a point of the body's axes; of a point mass the place where it is."""
        return self.position + self.in_space(x) if self.turns else self.position

    def gradient_of_inertia(self, n: object, square: Any = 1.0) -> Any:
        """trace(I) - 3 n . I n / n^2 for a vector n in space of this square, by differences of moments, locked wheels
        included."""
        if not self.turns:
            return 0.0
        u, I = matrix_of(self.principal).T @ array_of(n), self.moments
        if self.rotors is not None:
            I = I + self.rotors.moments()
        D = (I[0] - I[2], I[1] - I[2])
        along = D[0] * u[0] ** 2 + D[1] * u[1] ** 2
        if self.rotors is not None and "aligned" not in self.rotors.one.kinds:
            K = self.rotors.products()
            along = along + 2.0 * (K[0] * u[1] * u[2] + K[1] * u[2] * u[0] + K[2] * u[0] * u[1])
        return D[0] + D[1] - 3.0 * along / square


OF_ROTORS = (*OF_WHEELS, "wheel_speed", *OF_GYROS)
OFFERED = ("position", "velocity", "attitude", "angular_velocity", "mass", "inertia", "name", "point(x)", "in_space(v)",
           "in_body(v)", "gradient_of_inertia(n)", *OF_ROTORS)  # fmt: skip
"""What a load may read of a body."""
