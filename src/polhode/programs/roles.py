"""Where the inputs of programs lie in the flat memory that roles read: state, constants of bodies, parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from polhode.kernel import layout as L
from polhode.programs.attitude import ROWS
from polhode.programs.dynamics import Dynamics
from polhode.programs.factor import factored
from polhode.programs.graph import Graph
from polhode.programs.text import Lines, matrix_rows


def plain(array: str, k: int) -> str:
    """The expression of number k of an array."""
    return f"{array}[{k}]"


def of_each(array: str, k: int) -> str:
    """The same of body i of N, of numbers that belong to a body."""
    if array == "y":
        return f"y[{L.BODY} * i + {k}]"
    if array == "bodies":
        inner = k - L.CONSTANTS
        return f"bodies[{L.CONSTANTS} * i + {k}]" if inner < 0 else f"bodies[{L.CONSTANTS} * N + 4 * i + {inner}]"
    return f"{array}[{k}]"


def of_flat_memory(
    names: Iterable[str], N: int = 1, at: Callable[[str, int], str] = plain, before: int = 0
) -> tuple[list[str], dict[str, str]]:
    """Lines that read the attitudes of N bodies, and expressions of all inputs that may be among these names.

    ``at(array, k)`` is the expression of number k of ``y``, ``bodies`` or ``parameters``; so many auxiliary variables
    stand ``before`` the inputs."""
    names = set(names)
    given = {"t": "t"} | {name: at("parameters", int(name[1:])) for name in names if name[0] == "p"}
    given |= {name: at("y", L.BODY * N + before + int(name[3:])) for name in names if name.startswith("aux")}
    closed = sorted(name for name in names if name[0] == "P")  # first, as the compiler orders constants
    read = [f"{name} = {at('parameters', int(name[1:]))}" for name in closed]
    given |= {name: name for name in closed}
    for i in range(N):
        y, b = L.BODY * i, L.CONSTANTS * i
        lightness = at("bodies", b + L.INVERSE_MASS)
        given[f"mass{i}"] = at("bodies", b + L.MASS)
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
            read += [f"{part} = {at('y', y + L.ATTITUDE + k)}" for k, part in enumerate(parts)]
    return read, given


def text_of_rows(
    name: str, g: Graph, rows: Sequence[int], N: int, places: Iterable[int] | None = None, before: int = 0
) -> str:
    """The text of a role of signature LOADS that writes rows of a program, to these places or one after the other."""
    rows = factored(g, rows)
    read, given = of_flat_memory(g.names(rows), N, before=before)
    body = Lines(g, rows, given)
    stores = (f"out[{k}] = {body.names[a]}" for k, a in zip(places or range(len(rows)), rows, strict=True))
    return "\n    ".join([f"def {name}(part, t, N, y, bodies, parameters, out):", *read, *body.lines, *stores]) + "\n"


def by_bodies(force: Sequence[int], torque: Sequence[int]) -> list[int]:
    """Force and torque of each body in turn."""
    return [a for k in range(0, len(force), 3) for a in (*force[k : k + 3], *torque[k : k + 3])]


@lru_cache(32)
def member_text(dynamics: Dynamics) -> str:
    """The text of the role ``loads`` of a system: force and torque of each body, then rates of auxiliary variables."""
    rows = [*by_bodies(dynamics.force, dynamics.torque), *dynamics.rates]
    return text_of_rows("loads", dynamics.graph, rows, dynamics.N)
