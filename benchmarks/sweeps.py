"""What a sweep costs beside its members: a task, its hand-out, its store; and what follows for many members.

    python benchmarks/sweeps.py [members]

Times are the least and the median of many; the table at the end is computed from them. ``members`` (100,000) are run as
one sweep in this process.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polhode as ph
from polhode.ensembles.sweep import work
from polhode.ensembles.sweep.plan import Block, maker
from polhode.ensembles.sweep.store import Folder, SweepStore
from polhode.ensembles.sweep.workers import Processes

SCENARIO = """\
method = "v2/mr"
[system]
type = "heavy_top"
inertia = [5.0, 5.0, 1.0]
center_of_mass = [0.0, 0.0, 1.0]
weight = 20.0
[initial]
rotation_vector = [0.3, 0.0, 0.0]
angular_velocity = [0.0, 0.0, 5.0]
[run]
step = 0.01
t_end = 1.0
every = 100
[sweep]
count = {count}
{words}
[sweep.random]
"system.weight" = {{ uniform = {{ low = 10.0, high = 20.0 }} }}
"initial.angular_velocity.2" = {{ normal = {{ mean = 5.0, sigma = 0.5 }} }}
"""
SHARE = 0.02
"""Of a task that may be lost on what is around it."""


def swept(folder: Path, count: int, words: str = "") -> tuple[SweepStore, float]:
    """A sweep in this process, and what it took."""
    path = folder / f"s{len(list(folder.iterdir()))}.toml"
    path.write_text(SCENARIO.format(count=count, words=words))
    store = path.with_suffix(".zarr")
    began = time.perf_counter()
    ph.sweep(path, store=store)
    return SweepStore(Folder(store)), time.perf_counter() - began


def told(name: str, seconds: list[float]) -> float:
    """Print what something takes, and return the least of it."""
    middle = statistics.median(seconds)
    print(f"{name:48} {1e3 * min(seconds):9.3f} ms least, {1e3 * middle:9.3f} ms median")
    return min(seconds)


def writing(store: SweepStore) -> list[float]:
    """What it takes to write a chunk and its mark."""
    found = []
    for chunk in range(min(20, store.plan.chunks)):
        first, last = store.plan.range(chunk)
        block = Block(store.plan, first, last)
        began = time.perf_counter()
        store.write(chunk, block, 0.0)
        found.append(time.perf_counter() - began)
    return found


def members_each(store: SweepStore, count: int) -> list[float]:
    """What a member takes, of ``count`` together."""
    found = []
    for _ in range(20 if count > 1 else 50):
        block = Block(store.plan, 0, count)
        began = time.perf_counter()
        work.fill(block)
        found.append((time.perf_counter() - began) / count)
    return found


def handing_out(store: SweepStore) -> dict[str, float]:
    """What it takes to give out a task that is done and to hear of it, for worker processes and for Dask."""
    chunks, found = list(range(store.plan.chunks)), {}
    arguments = store.folder.name, store.plan.study.digest, maker()
    with Processes(*arguments, False, 1) as processes:
        processes.carry_out(chunks[:1], lambda mark: None)
        found["worker process"] = least_of(lambda: processes.carry_out(chunks, lambda mark: None)) / len(chunks)
    try:
        import distributed
    except ImportError:
        return found
    from polhode.ensembles.sweep import workers as engine

    with distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=None) as there:
        cluster = engine.Cluster(there.scheduler_address)
        do = partial(work.task, *arguments, allow_code=False)
        cluster.carry_out(do, chunks[:1], lambda mark: None)
        hand_out = partial(cluster.carry_out, do, chunks, lambda mark: None)
        print(f"{'Dask, one after the other, to hear of a task':48} {1e3 * least_of(hand_out) / len(chunks):9.3f} ms")
        engine.AHEAD = len(chunks)
        found["Dask"] = least_of(hand_out) / len(chunks)
        cluster.close()
    return found


def least_of(run: Callable[[], None]) -> float:
    """The least time of five."""
    found = []
    for _ in range(5):
        began = time.perf_counter()
        run()
        found.append(time.perf_counter() - began)
    return min(found)


def size(store: SweepStore) -> float:
    """Bytes of a member on the disk."""
    return (
        sum(path.stat().st_size for path in Path(store.folder.name).rglob("*") if path.is_file()) / store.plan.members
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(dir=".", prefix="sweeps-") as name:
        folder = Path(name)
        small, _ = swept(folder, 2000, "chunk = 10")
        store, _ = swept(folder, 20_000, "chunk = 1000")
        few, _ = swept(folder, 20_000, 'chunk = 1000\nkeep = ["energy_error"]')
        task = told(f"to write a task ({len(store.arrays)} arrays)", writing(store))
        told(f"the same ({len(few.arrays)} arrays)", writing(few))
        together = told("a member of 100 steps, of 1000 together", members_each(store, 1000))
        told("the same alone", members_each(store, 1))
        handed = handing_out(small)
        for engine, seconds in handed.items():
            print(f"{f'to hand out a task: {engine}':48} {1e3 * seconds:9.3f} ms each of {small.plan.chunks}")
        began = time.perf_counter()
        marks = len(list(small.marks()))
        reading = (time.perf_counter() - began) / marks
        print(f"{'to read a mark':48} {1e3 * reading:9.3f} ms each of {marks}")
        large, seconds = swept(folder, count)
        print(f"{count} members in {seconds:.1f} s, {count / seconds:.0f} a second, {large.plan.chunks} tasks of "
              f"{large.plan.chunk}; {size(large):.0f} bytes each, {size(few):.0f} with energy_error alone")  # fmt: skip
        each = task + max(handed.values())
        least = each / SHARE / together
        print(f"\ntasks that lose at most {SHARE:.0%}: {each / SHARE:.1f} s, here {least:,.0f} members\n")
        print("| members | tasks of 10 s | scheduler | core-hours | store | of one variable |")
        for power in range(5, 10):
            members = 10**power
            tasks = max(1.0, members * together / 10.0)
            scheduler, hours = tasks * max(handed.values()), members * together / 3600
            stores = [f"{members * one / 1e9:,.3g} GB" for one in (size(large), size(few))]
            print(f"| 10^{power} | {tasks:,.0f} | {scheduler:,.1f} s | {hours:,.3f} | {' | '.join(stores)} |")


if __name__ == "__main__":
    main()
