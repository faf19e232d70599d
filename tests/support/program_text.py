"""Programs as functions of their own, for tests of what is written of them."""

from __future__ import annotations

from polhode.programs.factor import factored
from polhode.programs.roles import of_flat_memory
from polhode.programs.text import HEAD_OF_LANES, LANES, Lines, matrix_rows
from polhode.programs.written import module_of


def places(arguments):
    """Expressions of inputs that are arguments of a function: numbers (size 0), tuples, "attitude" a quaternion."""
    given = {}
    for name, size in arguments.items():
        if size == "attitude":
            parts = [f"{name}[{k}]" for k in range(4)]
            given |= {f"{name}{k}": part for k, part in enumerate(parts)} | matrix_rows(name, parts)
        else:
            given |= {name: name} if size == 0 else {f"{name}{k}": f"{name}[{k}]" for k in range(size or 0)}
    return given


def function(g, outputs, name, arguments, given=None):
    """The text of a function that returns rows: one number, or a tuple."""
    rows = factored(g, outputs)
    body = Lines(g, rows, places(arguments) | dict(given or {}))
    results = [body.names[a] for a in rows]
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    lines = [f"def {name}({', '.join(arguments)}):", *(f"    {line}" for line in body.lines), f"    return {returned}"]
    return "\n".join(lines) + "\n"


def over_lanes(dynamics, width):
    """The role ``loads`` of 4 or 8 members: number k of an array of one member lies, of many, at ``width k + i``."""
    g, rows = dynamics.graph, []
    for i in range(dynamics.N):
        rows += [*dynamics.force[3 * i : 3 * i + 3], *dynamics.torque[3 * i : 3 * i + 3]]
    rows = factored(g, [*rows, *dynamics.rates])
    read, given = of_flat_memory(g.names(rows), dynamics.N, lambda array, k: f"load{width}({array}, {width * k})")
    body = Lines(g, rows, given, LANES)
    lines = [*read, *body.lines]
    for k, a in enumerate(rows):
        value = body.names[a]
        if set(g.names([a])) <= {"t"}:  # the same in all lanes
            value = f"spread({value})" if width == 4 else f"spread8({value})"
        lines.append(f"store{width}(out, {width * k}, {value})")
    text = "\n    ".join(["def loads(part, t, N, y, bodies, parameters, out):", *lines]) + "\n"
    head = f"{HEAD_OF_LANES}from polhode.kernel.simd import load8, spread, spread8, store4, store8\n"
    return module_of(text, head).loads
