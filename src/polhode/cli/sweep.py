"""``polhode sweep``: many runs of one scenario, on one machine or many."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import polhode as ph
from polhode.cli.options import ALLOW_CODE, JSON, NO_PICTURE, QUIET, argument, as_command, option
from polhode.cli.text import complete_scenario, laid_out, noted, show_summary
from polhode.display import duration
from polhode.errors import FileProblem, InvalidInput, PolhodeError
from polhode.lazy import xr

if TYPE_CHECKING:
    from polhode.ensembles.sweep import SweepStatus

MOST_LINES = 12  # variables in the table at the end


@as_command
def command(
    scenario: str = argument(shell_complete=complete_scenario),
    store: str | None = option(
        "--store", "Zarr folder of the results, *.zarr; on a disk, or the URL of object storage."
    ),
    workers: int = option("--workers", "Processes on this machine.", type=click.IntRange(min=1), default=1),
    scheduler: str | None = option(
        "--scheduler", "Address of a Dask scheduler, tcp://HOST:8786; needs polhode[cluster]."
    ),
    part: str | None = option("--part", "K/N: only the K-th of N parts, as in an array of jobs that share the store."),
    member: int | None = option(
        "--member", "Run only this member, and write its trajectory (-o).", type=click.IntRange(min=0)
    ),
    output: Path | None = option("-o --output", "Trajectory of --member; default member-K.nc."),
    status: bool = option("--status", "Tell how far the sweep in the store SCENARIO is."),
    check: bool = option("--check", "Compare the numbers in the store SCENARIO with the digests in its marks."),
    show: str | None = option("--show", "Variable in the picture; default the largest energy error."),
    no_picture: bool = NO_PICTURE,
    as_json: bool = JSON,
    quiet: bool = QUIET,
    allow_code: bool = ALLOW_CODE,
) -> None:
    """Run SCENARIO, a TOML file with a table [sweep], for all the values that stand there.

    \b
    Examples:
        polhode sweep examples/sweeps/affordable-step.toml --workers 2
        polhode sweep --status affordable-step-sweep.zarr
        polhode sweep examples/sweeps/affordable-step.toml --member 17 -o one.nc
        polhode sweep study.toml --store s3://bucket/study.zarr --scheduler tcp://10.0.0.1:8786
        polhode sweep study.toml --store /shared/study.zarr --part 3/20

    The results go to <scenario>-sweep.zarr unless --store or the table says otherwise; xarray.open_zarr and
    polhode.ensembles.open_sweep read them, also while the sweep goes on. Give the same command again to go on after
    Ctrl-C, kill, a full disk or a power cut: to the same bits, with any number of workers. A member that fails is
    marked with its reason and stops nobody. In Python: polhode.sweep.
    """
    from polhode.trajectory.outputs import check_replaceable

    if status or check or member is not None:
        _alone(status=status, check=check, member=member is not None)
    if check:
        _check(scenario, quiet)
    if status:
        _tell(ph.ensembles.sweep_status(scenario), scenario, as_json)
    if status or check:
        return
    if member is not None:
        out = output or Path(f"member-{member}.nc")
        if output is None:
            check_replaceable(out, "name another file with -o")
        run = ph.ensembles.sweep_member(scenario, member, allow_code=allow_code)
        try:
            ph.save(run.integrate(), out)
        except PolhodeError as failed:
            if failed.trajectory is not None:
                ph.save(failed.trajectory, out)
                failed.args = (f"{failed}; the rows so far are in {out}",)
            raise
        if not quiet:
            click.echo(f"member {member}, {json.dumps(run.changes)}, is in {out}", err=True)
        return
    if output is not None:
        raise InvalidInput("-o names the trajectory of one --member; the store of a sweep is named by --store")
    parts = re.fullmatch(r"(\d{1,9})/(\d{1,9})", part or "")
    if part is not None and parts is None:
        raise InvalidInput(f"--part {part!r}: expected K/N, such as 3/20, the third of twenty parts")
    only = (int(parts[1]), int(parts[2])) if parts else None
    with noted():
        ds = ph.sweep(
            scenario, store=store, workers=workers, scheduler=scheduler, part=only, allow_code=allow_code,
            progress=None if quiet else True,
        )  # fmt: skip
    path = ds.encoding["store"]
    facts = summary(ds, ph.ensembles.sweep_status(path)) | {"store": path}
    if not no_picture and "incomplete" not in ds.attrs and "://" not in path:
        from polhode.ensembles.sweep.picture import picture

        facts["picture"] = str(Path(path).with_suffix(".png"))
        check_replaceable(Path(facts["picture"]), f"the results are in {path}, and --no-picture draws none")
        try:
            picture(ds, facts["picture"], show)
        except InvalidInput as wrong:
            raise InvalidInput(f"--show: {wrong}; the results are in {path}") from None
    show_summary(facts, table, as_json, quiet)


def _alone(*, status: bool, check: bool, member: bool) -> None:
    """Refuse what the command would not look at."""
    context = click.get_current_context()
    main = "--member" if member else "--status" if status else "--check"
    known = {"scenario", "quiet"} | ({"member", "output", "allow_code"} if member else {"status", "check"})
    if status and not member:
        known.add("as_json")
    for one in context.command.params:
        name = str(one.name)
        if name not in known and context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            raise InvalidInput(f"{one.opts[-1]} does not go with {main}; leave one of them out")


def _check(store: str, quiet: bool) -> None:
    from polhode.ensembles.sweep.store import Folder, SweepStore

    found = SweepStore(Folder(store))
    wrong = found.check()
    if wrong:
        first, last = found.plan.range(wrong[0])
        raise FileProblem(
            f"{len(wrong)} tasks in {store} do not have the numbers their marks speak of, the first of them members "
            f"{first} to {last - 1}; remove {store}/done/{wrong[0]:09d}.json, and so on, and give the "
            "command of the sweep again"
        )
    if not quiet:
        click.echo(f"{store}: all numbers are those the marks speak of", err=True)


def _tell(now: SweepStatus, store: str, as_json: bool) -> None:
    """How far a sweep is."""
    known = now.rate == now.rate and now.done < now.members
    if as_json:
        facts = {name: getattr(now, name) for name in ("members", "done", "failed", "tasks", "tasks_done", "seconds")}
        facts |= {"since": now.since if now.since == now.since else None, "to_go": now.to_go if known else None}
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo(f"{store}: {now.done} of {now.members} members ({100.0 * now.done / now.members:.1f} %), {now.failed} "
               f"failed; {now.tasks_done} of {now.tasks} tasks")  # fmt: skip
    if now.tasks_done:
        speed = f"; {now.rate:.3g} members/s, {duration(now.to_go)} to go at that pace" if known else ""
        click.echo(f"{duration(now.seconds)} of computing, the last task {duration(now.since)} ago{speed}")
    for line in reasons(now):
        click.echo(line)


def reasons(now: SweepStatus) -> list[str]:
    """Why members failed, each kind in a line with the first of them; and warnings likewise."""
    from polhode.ensembles.sweep.plan import STATUS

    found: dict[int, list[tuple[int, str]]] = {}
    for number, code, why in sorted(now.failures):
        found.setdefault(code, []).append((number, why))
    lines = [f"{len(those)} {STATUS.get(code, 'failed')}; the first, member {those[0][0]}: {those[0][1]}"
             for code, those in sorted(found.items())]  # fmt: skip
    return lines + [f"note: {count} with {kind}; the first, member {first}: {words}"
                    for kind, (count, first, words) in sorted(now.warned.items())]  # fmt: skip


def summary(ds: xr.Dataset, now: SweepStatus) -> dict[str, Any]:
    """What a sweep found, in JSON's types: of each variable of one number least, middle and largest of its size."""
    import numpy as np

    spans: dict[str, Any] = {}
    for name, part in ds.data_vars.items():
        if part.dims == ("member",) and part.dtype.kind == "f":
            values = np.abs(part.values[np.isfinite(part.values)])
            if values.size:
                spans[str(name)] = [float(values.min()), float(np.median(values)), float(values.max())]
    return {
        "title": ds.attrs["title"], "members": now.members, "done": now.done, "failed": now.failed,
        "seconds": now.seconds, "reasons": reasons(now), "sizes": spans,
    }  # fmt: skip


def table(facts: dict[str, Any]) -> str:
    """The summary as a short table for people."""
    sizes, done = list(facts["sizes"].items()), max(1, facts["done"])
    return laid_out(facts["title"], [
        ("members", f"{facts['done']} of {facts['members']}, {facts['failed']} failed"),
        *(("", line) for line in facts["reasons"]),
        ("computing", f"{duration(facts['seconds'])}, {duration(facts['seconds'] / done)} each"),
        ("sizes", sizes and "least, median, largest"),
        *((name, "{:.4g}, {:.4g}, {:.4g}".format(*three)) for name, three in sizes[:MOST_LINES]),
        ("", len(sizes) > MOST_LINES and f"and {len(sizes) - MOST_LINES} more"),
        ("written", ", ".join(facts[name] for name in ("store", "picture") if name in facts)),
    ])  # fmt: skip
