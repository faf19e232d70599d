"""The loop that evaluates the potential energy of recorded states."""

from __future__ import annotations

import functools
from typing import Any

from polhode.kernel import jit, layout as L
from polhode.kernel.jit import numbers_at, pointer
from polhode.kernel.signatures import ENERGIES, POTENTIAL

potential_at = jit.function_at(POTENTIAL)


def potential_energies(N, times, rows, addresses, out):
    """Write the potential energy of each recorded state to ``out``; ``addresses`` of the role, bodies, parameters."""
    potential, bodies, parameters = potential_at(addresses), numbers_at(addresses, 2), numbers_at(addresses, 3)
    for k in range(times.size):
        out[k] = potential(times[k], N, pointer(rows[k]), bodies, parameters)


@functools.cache
def energy_loop():
    """The compiled ``potential_energies``."""
    return jit.compile_kernel(potential_energies, ENERGIES)


def write_energies(times: Any, rows: Any, bodies: Any, parameters: Any, potential: Any, out: Any) -> None:
    """Write the potential energies of states (n, 13 N or more) at times (n,) to ``out``.

    ``potential`` is the compiled role; ``bodies`` and ``parameters`` are as it reads them.
    """
    addresses = jit.addresses_of(potential, POTENTIAL, bodies, parameters)
    energy_loop()(bodies.size // L.OF_BODY, times, rows, addresses, out)
