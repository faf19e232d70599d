"""The loads of many members of an ensemble as text: several members at a time in lanes, or as C for a device.

Members are copies of one system, each with its own state, constants and parameters, at one time. The numbers of all
members lie together: where one member has number k of an array at ``k``, of many members that of member i lies at
``count k + i``. So a vector of lanes, or neighbouring threads of a device, read neighbouring numbers. All arrays are
laid out as in ``kernel.layout``; ``out`` receives force and torque of each body, then the rates of the auxiliary
variables, and last, if it is asked for, the potential energy.

A function over lanes takes as many members as it has lanes (``count`` is 4 or 8, or 1: plain numbers) and has the
signature of the role ``loads``. C has one function for a member, and one for all: a loop, or with CUDA a kernel of a
thread for each member.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from polhode.errors import InvalidInput
from polhode.kernel.simd import WIDTHS
from polhode.programs.dynamics import Dynamics
from polhode.programs.factor import factored
from polhode.programs.languages import LANES, PYTHON, C
from polhode.programs.roles import of_flat_memory
from polhode.programs.text import HEAD, HEAD_OF_LANES, Lines
from polhode.programs.written import module_of

HEAD_OF_C = """\
/* The loads of one system, written by polhode; compile with a C compiler, or with CUDA's. */
#include <math.h>

#ifdef __CUDACC__
#define MEMBER __device__
#define MEMBERS extern "C" __global__
#else
#define MEMBER static
#define MEMBERS
#endif
"""
SEGMENT_OF_C = """
/* Index of the last of ``count`` rows of a table whose first number is <= x; 0 if there is none. */
MEMBER long segment(const double *p, long at, long step, long count, double x, long stride)
{
    long low = 0, high = count;
    while (high - low > 1) {
        const long middle = (low + high) / 2;
        if (p[(at + step * middle) * stride] <= x) low = middle; else high = middle;
    }
    return low;
}
"""
FLOOR_OF_C = """
/* Floor of a / b, exactly. */
MEMBER double floor_of_quotient(double a, double b)
{
    const double left = fmod(a, b), q = (a - left) / b;
    return b == 0.0 ? a / b : floor((left != 0.0 && (left < 0.0) != (b < 0.0) ? q - 1.0 : q) + 0.5);
}
"""
ALL_MEMBERS = """\
/* The same of ``count`` members: number k of member i lies at [count * k + i]. */
MEMBERS void {name}_of_all(long count, double t, const double *y, const double *bodies, const double *parameters,
                           double *out)
{{
#ifdef __CUDACC__
    const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {name}(t, y + i, bodies + i, parameters + i, out + i, count);
#else
    for (long i = 0; i < count; i++) {name}(t, y + i, bodies + i, parameters + i, out + i, count);
#endif
}}
"""


def _rows(dynamics: Dynamics, energy: bool) -> list[int]:
    """Rows of all that is written, in order."""
    if not dynamics.traced:
        raise InvalidInput(f"the loads are no program ({dynamics.reason}), so they can only be taken one by one")
    rows: list[int] = []
    for i in range(dynamics.N):
        rows += [*dynamics.force[3 * i : 3 * i + 3], *dynamics.torque[3 * i : 3 * i + 3]]
    rows += dynamics.rates
    if energy:
        if dynamics.potential is None:
            raise InvalidInput("there is no potential, or none that is a program; ask for the loads without energy")
        rows.append(dynamics.potential)
    return factored(dynamics.graph, rows)


@lru_cache(32)
def lanes_text(dynamics: Dynamics, width: int, name: str = "loads", energy: bool = False) -> str:
    """The text of a role ``loads`` of ``width`` members; see ``lanes_of``."""
    if width not in (1, *WIDTHS):
        raise InvalidInput(f"width is {width}; it must be {', '.join(map(str, WIDTHS))}, or 1 for plain numbers")
    g, rows = dynamics.graph, _rows(dynamics, energy)
    language, load = (PYTHON, "{}[{}]") if width == 1 else (LANES, f"load{width}({{}}, {{}})")
    read, given = of_flat_memory(g.names(rows), dynamics.N, lambda array, k: load.format(array, width * k), language)
    body = Lines(g, rows, given, language)
    lines = [*read, *body.lines]
    for k, a in enumerate(rows):
        value = body.names[a]
        if width > 1 and set(g.names([a])) <= {"t"}:  # the same in all lanes
            value = f"spread({value})" if width == 4 else f"spread{width}({value})"
        lines.append(f"out[{k}] = {value}" if width == 1 else f"store{width}(out, {width * k}, {value})")
    return _function(f"def {name}(part, t, N, y, bodies, parameters, out):", lines)


def lanes_of(dynamics: Dynamics, width: int, energy: bool = False) -> Callable[..., None]:
    """The role ``loads`` of ``width`` members as a plain function, for ``jit.compile_kernel``."""
    role: Callable[..., None] = module_of(
        lanes_text(dynamics, width, energy=energy), HEAD if width == 1 else HEAD_OF_LANES
    ).loads
    return role


def device_text(dynamics: Dynamics, name: str = "loads", energy: bool = False) -> str:
    """The text of the loads in C and CUDA: ``NAME(t, y, bodies, parameters, out, stride)`` and ``NAME_of_all``."""
    g, rows = dynamics.graph, _rows(dynamics, energy)
    read, given = of_flat_memory(g.names(rows), dynamics.N, lambda array, k: f"{array}[{k} * stride]", C)
    body = Lines(g, rows, given, C)
    lines = [*read, *body.lines]
    lines += [f"out[{k} * stride] = {body.names[a]};" for k, a in enumerate(rows)]
    head = f"MEMBER void {name}(double t, const double *y, const double *bodies, const double *parameters, double *out,"
    comment = "/* Loads at time t of the member whose number k lies at [stride * k]. */"
    begin = f"{comment}\n{head}\n{' ' * len(f'MEMBER void {name}(')}long stride)\n{{"
    tables = SEGMENT_OF_C if any(" = (double)segment(" in line for line in lines) else ""
    tables += FLOOR_OF_C if any(" = floor_of_quotient(" in line for line in lines) else ""
    return f"{HEAD_OF_C}{tables}\n{_function(begin, lines)}}}\n\n{ALL_MEMBERS.format(name=name)}"


def _function(begin: str, lines: Sequence[str]) -> str:
    return "\n".join([begin, *(f"    {line}" for line in lines)]) + "\n"
