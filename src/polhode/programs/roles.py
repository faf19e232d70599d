"""Programs of one body as roles of a system: loads, commutator and potential that read the flat state.

Inputs of such a program by name:

======== ==================================================== ======
t        time
r        position, space frame                                3
v        velocity, space frame                                3
q        attitude, with the rows q_u, q_v, q_w of its matrix  4
m        angular momentum, principal body frame               3
p        parameters of the system                             any
mass0    mass, and its inverse ``lightness0``
I        principal moments                                    3
j        their inverses                                       3
======== ==================================================== ======
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from polhode.kernel import layout as L
from polhode.programs import derive
from polhode.programs.attitude import ROWS
from polhode.programs.factor import factored
from polhode.programs.graph import Graph
from polhode.programs.languages import PYTHON, Language
from polhode.programs.text import Lines, matrix_rows
from polhode.programs.trace import Program
from polhode.programs.tracer import Tracer, array_of
from polhode.programs.written import module_of


def angular_velocity(g: Graph) -> Any:
    """Angular velocity in the principal body frame, as an array of tracers."""
    return array_of([Tracer(g, g.mul(a, b)) for a, b in zip(g.inputs("j", 3), g.inputs("m", 3), strict=True)])


def plain(array: str, k: int) -> str:
    """The expression of number k of an array."""
    return f"{array}[{k}]"


def of_flat_memory(
    names: Iterable[str], N: int = 1, at: Callable[[str, int], str] = plain, language: Language = PYTHON
) -> tuple[list[str], dict[str, str]]:
    """Lines that read the attitudes of N bodies, and expressions of all inputs that may be among these names.

    ``at(array, k)`` is the expression of number k of ``y``, ``bodies`` or ``parameters``.
    """
    names = set(names)
    given = {"t": "t"} | {name: at("parameters", int(name[1:])) for name in names if name[0] == "p"}
    read: list[str] = []
    for i in range(N):
        y, b = L.BODY * i, L.CONSTANTS * i
        lightness = at("bodies", b + L.INVERSE_MASS)
        given |= {f"mass{i}": at("bodies", b + L.MASS), f"lightness{i}": lightness}
        for k in range(3):
            c = 3 * i + k
            given |= {
                f"r{c}": at("y", y + L.POSITION + k), f"v{c}": f"{lightness} * {at('y', y + L.MOMENTUM + k)}",
                f"m{c}": at("y", y + L.ANGULAR + k), f"I{c}": at("bodies", b + L.INERTIA + k),
                f"j{c}": at("bodies", b + L.INVERSE_INERTIA + k),
            }  # fmt: skip
        parts = [f"q{4 * i + k}_" for k in range(4)]
        rows = matrix_rows("q", parts)
        turning = {f"q_{row}{3 * i + k}": rows[f"q_{row}{k}"] for row in ROWS for k in range(3)}
        turning |= {f"q{4 * i + k}": part for k, part in enumerate(parts)}
        given |= turning | {f"f{4 * i + k}": at("bodies", L.CONSTANTS * N + 4 * i + k) for k in range(4)}
        if not names.isdisjoint(turning):
            read += [language.line(part, at("y", y + L.ATTITUDE + k)) for k, part in enumerate(parts)]
    return read, given


def _text(name: str, arguments: str, lines: Sequence[str]) -> str:
    return "\n".join([f"def {name}({arguments}):", *(f"    {line}" for line in lines)]) + "\n"


def loads_text(g: Graph, force: Sequence[int], torque: Sequence[int], name: str = "loads") -> str:
    """The text of a role ``loads``, which writes force and torque; those that are missing as zeros."""
    rows = factored(g, [*force, *torque])
    read, given = of_flat_memory(g.names(rows))
    body = Lines(g, rows, given)
    values = [body.names[a] for a in rows]
    values = (values if force else ["0.0"] * 3 + values) + ([] if torque else ["0.0"] * 3)
    stores = [f"out[{k}] = {x}" for k, x in enumerate(values)]
    return _text(name, "part, t, N, y, bodies, parameters, out", [*read, *body.lines, *stores])


def potential_text(g: Graph, potential: int, name: str = "potential") -> str:
    """The text of a role ``potential``."""
    (row,) = factored(g, [potential])
    read, given = of_flat_memory(g.names([row]))
    body = Lines(g, [row], given)
    return _text(name, "t, N, y, bodies, parameters", [*read, *body.lines, f"return {body.names[row]}"])


@dataclass(frozen=True)
class Roles:
    """Plain functions for ``jit.compile_kernel`` with the signatures of the roles.

    Attributes
    ----------
    loads, commutator : function
        Of signature LOADS.
    potential : function
        Of signature POTENTIAL.
    """

    loads: Any
    commutator: Any
    potential: Any


def of_potential(program: Program, r: str = "r", q: str = "q") -> Roles:
    """All roles of a body in a potential.

    Parameters
    ----------
    program : Program
        Of one number, the potential energy, with inputs named as above.
    r, q : str
        Names of place and attitude; empty where the body does not move or turn.
    """
    g, (potential,) = program.graph, program.outputs
    force, torque = derive.loads(g, potential, r, q)
    # Common factors first: the derivative of a factored load has fewer terms, and differences of moments stay such.
    rows = factored(g, [*force, *torque])
    pushed, twisted = derive.commutator(
        g, rows[: len(force)], rows[len(force) :], r, q, g.input("lightness0"), g.inputs("j", 3)
    )
    module = module_of(
        "\n\n".join([
            loads_text(g, force, torque), loads_text(g, pushed, twisted, "commutator"), potential_text(g, potential)
        ])
    )  # fmt: skip
    return Roles(module.loads, module.commutator, module.potential)
