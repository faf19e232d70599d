"""Ensembles that are drawn and reduced part by part, so that memory does not grow with the number of members.

What ``polhode.ensembles.sampling.members`` draws need not lie in memory at once: each part of the members is drawn,
integrated and reduced before the next one. Numbers of members in results, messages and progress are those of the whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polhode.display import Progress
from polhode.ensembles import ensemble as home
from polhode.ensembles.ensemble import Ensemble
from polhode.ensembles.outcome import Instead, warn_of, warn_of_instead
from polhode.ensembles.plan import Plan
from polhode.ensembles.reductions import BATCH, Running
from polhode.errors import InvalidInput
from polhode.lazy_packages import xr

if TYPE_CHECKING:
    from polhode.runs.stepping import Run

OF_MEMBER = re.compile(r"member (\d+)")


def part_size(count: int, most: int) -> int:
    """Members of a part, whole batches, so that the last part is not much smaller than the others."""
    parts = -(-count // most)
    return -(-count // (parts * BATCH)) * BATCH


class _Shifted(Running):
    """Reductions of the whole, which take members by their numbers in a part."""

    def __init__(self, reduce: Any, members: int) -> None:
        super().__init__(reduce, members)
        self.offset = 0

    def add(self, first: int, block: xr.Dataset) -> None:
        if not self.added:
            block.attrs["title"] = re.sub(r"^\d+", str(self.members), str(block.attrs.get("title", "")))
            record = json.loads(block.attrs.get("ensemble", "{}"))
            block.attrs["ensemble"] = json.dumps(record | {"members": self.members})
        super().add(self.offset + first, block)


class InParts(Ensemble):
    """One call of ``ensemble`` with ``reduce`` for more members than are drawn at once."""

    def __init__(
        self, plan_of: Callable[[int, int], Plan], count: int, engine: str, workers: int, progress: Any, reduce: Any
    ) -> None:
        self.plan_of, self.total, self.size, self.offset = plan_of, count, part_size(count, home.PART), 0
        self.whole = _Shifted(reduce, count)
        super().__init__(plan_of(0, min(self.size, count)), engine, workers, progress, None, None)
        self.running = self.whole
        report_whole, self.before = self.report_progress, 0.0
        self.all_off: list[tuple[int, int, float]] = []
        self.all_instead: list[Instead] = []

        def report(at: Progress) -> None:
            done = self.offset + at.done
            report_whole(replace(at, done=done, total=count, seconds=self.before + at.seconds, share=done / count))

        self.report_progress = report

    def carry_out(self) -> xr.Dataset:
        """Run all members, part by part."""
        found = None
        while found is None:
            try:
                found = super().carry_out()
            except InvalidInput as problem:
                if not self.offset:
                    raise
                raise InvalidInput(OF_MEMBER.sub(self._of_all, str(problem), count=1)) from None
        return found

    def _of_all(self, match: re.Match[str]) -> str:
        return f"member {self.offset + int(match[1])}"

    def _note(self, first: int, failures: list[str]) -> None:
        super()._note(self.offset + first, failures)

    def _warn(self, run: Run) -> None:
        """Of coarse steps in the first part, of large energy errors after the last one."""
        self.all_off += [(many, first + self.offset, worst) for many, first, worst in self.off]
        self.all_instead += [one._replace(member=one.member + self.offset) for one in self.instead]
        self.off, self.instead = [], []
        if self.offset:
            self.coarse = ""
        super()._warn(run)
        if self.offset + self.count == self.total:
            warn_of(run, self.all_off, self.total)
            self.instead = self.all_instead
            warn_of_instead(self.instead, self.total)

    def _result(self, running: Running, about: Mapping[str, Any], stopped: bool) -> Any:
        last = self.offset + self.count == self.total
        if stopped or last:
            self.count = self.total
            self.seconds += self.before
            return super()._result(running, about, stopped)
        self.offset, self.before = self.offset + self.count, self.before + self.seconds
        self.plan = self.plan_of(self.offset, min(self.offset + self.size, self.total))
        self.count, self.whole.offset = self.plan.varied.count, self.offset
        return None
