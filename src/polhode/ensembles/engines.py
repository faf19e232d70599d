"""What an engine of an ensemble does: it takes a block of members through their steps.

An engine is asked for by ``engine_for(system, method)`` of its module, which returns it or one sentence that says why
it cannot serve this pair. Any engine may be given any block; the arrays of a block lie by members, and what an engine
needs otherwise (members in lanes, or fastest in memory) it makes of them itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from polhode.arguments import Array, Indices

NOT_RUN = -1
"""Status of a member whose turn has not come; others are those of ``kernel.layout`` and ``kernel.many``."""
RAISED = 101
"""Status of a member for which a function of the user raised an exception."""


@dataclass
class Block:
    """M members of an ensemble, and where their rows go. All arrays are contiguous, of float64 or int64."""

    # (M, width): where the members start: N bodies of 13 numbers, auxiliary variables, numbers of the method; not
    # written to
    states: Any
    # (M or 1, 12 N): masses, principal moments and their inverses, 8 numbers a body; then the quaternions of the
    # frames, 4 a body, as kernels read them (``System.bodies``). One row where all members have the same, here and
    # below
    bodies: Array
    frames: Array  # (M or 1, 4 N): the latter alone
    parameters: Array  # (M or 1, P): parameters of the system, without the scratch memory behind them
    t0: float  # t0, h: time of the start, and the signed step; with a tolerance the signed span
    h: float
    n: int  # number of steps; with a tolerance 1
    every: int  # steps from one row to the next
    # (M, R, width): receives the states: at the start, after each multiple of ``every`` steps, and at the end where
    # that is none (``R`` = 1 + ceil(n / every)). Of a member that fails, what is behind its last good row does not
    # matter
    rows: Any
    iterations: Any  # (M, R): receives the most solver iterations of a step since the row before
    status: Any  # (M,): receives 0, or the status of the step that failed (``kernel.layout``)
    done: Any  # (M,): receives the number of steps completed; with a tolerance the number of rows written
    samples: Any = None  # (R,): with a tolerance: the times of the rows, in the order of the run
    # (M, R): with a tolerance: receives the size of the step that contains or ends at each row, 0 at the start
    sizes: Any = None
    first: int = 0  # number of the first member in the ensemble
    # whether a member that takes long is to be left unfinished, with the status NOT_RUN
    stopped: Callable[[], bool] | None = None

    def part(self, first: int, last: int) -> Block:
        """Members ``first`` to ``last - 1`` alone, on the same memory."""

        def of_all(values: Any) -> Array:
            return values if len(values) == 1 else values[first:last]

        def each(values: Any) -> Array | Indices | None:
            return None if values is None else values[first:last]

        return Block(
            each(self.states), of_all(self.bodies), of_all(self.frames), of_all(self.parameters), self.t0, self.h,
            self.n, self.every, each(self.rows), each(self.iterations), each(self.status), each(self.done),
            self.samples, each(self.sizes), self.first + first, self.stopped,
        )  # fmt: skip


class Engine(Protocol):
    """What takes blocks of members through their steps.


    Attributes
    ----------
    name : str
        ``"threads"``, ``"lanes"`` or ``"device"``.
    about : str
        A clause for the attribute ``engine`` of the Dataset, such as ``"8 members at a time"``.
    """

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    def run(self, block: Block) -> None:
        """Fill ``rows``, ``iterations``, ``status`` and ``done`` of a block; may be called by several threads at once.

        A member's numbers depend on nothing but its own.
        """
        ...
