"""``polhode chaos``: an indicator of chaos of a scenario, as a number, a curve over time, or a map of its members."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

import polhode as ph
from polhode.cli.options import ALLOW_CODE, JSON, NO_PICTURE, OVERWRITE, QUIET, STEP, argument, as_command, option
from polhode.cli.text import complete_method, complete_scenario, laid_out, noted, show_summary
from polhode.display import duration
from polhode.errors import StepFailed
from polhode.lazy import xr

REGULAR = 2.5  # MEGNO at the end up to which members are counted as regular


@as_command
def command(
    scenario: Path = argument(shell_complete=complete_scenario),
    indicator: Literal["megno", "lyapunov", "fli", "sali", "gali"] = option(
        "--indicator", "Default: megno.", default="megno"
    ),
    output: Path | None = option("-o --output", "Result to write: .nc (netCDF) or .zarr."),
    method: str | None = option(
        "--method", "Method instead of the scenario's, such as rkn6_14a.", shell_complete=complete_method
    ),
    step: float | None = STEP,
    t_end: float | None = option("--t-end", "End of the run instead of the scenario's: chaos takes long to show."),
    vectors: int | None = option("--vectors", "Tangent vectors; of lyapunov how many exponents, of gali its order.",
                                 type=click.IntRange(min=1)),
    seed: int = option("--seed", "Of the tangent vectors, which are drawn.", type=click.IntRange(min=0), default=0),
    threads: int | None = option("--threads", "Processors of many members; default: all of them.",
                                 type=click.IntRange(min=1)),
    no_picture: bool = NO_PICTURE,
    as_json: bool = JSON,
    overwrite: bool = OVERWRITE,
    quiet: bool = QUIET,
    allow_code: bool = ALLOW_CODE,
) -> None:  # fmt: skip
    """Tell whether the motion of SCENARIO, a TOML file, is regular or chaotic.

    \b
    Examples:
        polhode chaos examples/fast-top.toml
        polhode chaos examples/fast-top.toml --t-end 1000 --step 0.02
        polhode chaos examples/fast-top.toml --indicator lyapunov --vectors 6
        polhode chaos examples/many-tops.toml --t-end 50 -o tops.nc
        polhode plot tops.nc -o tops.pdf

    \b
    megno     tends to 2 where motion is regular, grows with time where it is
              chaotic; begin with it
    lyapunov  the rates at which nearby motions part; 0 where regular
    fli       grows as the logarithm of time where regular, as time where
              chaotic
    sali      falls to round-off where chaotic; decides soonest
    gali      the same of --vectors vectors: of more, sooner

    Nearby motions are followed by the exact derivative of the steps, which are of one size. Run long enough: hundreds
    of turns or orbits. Halve the step and compare: steps too long have chaos of their own.

    A scenario with a table [members] gives an indicator of each: a map, where two numbers vary.

    The result goes to <scenario name>-<indicator>.nc in the current folder unless -o says otherwise, its picture beside
    it. A member that fails is a gap, with its reason in `failure`.

    In Python: polhode.chaos.megno(system, method, step=..., t_end=...) and polhode.plots.indicator(ds).
    """
    from polhode.chaos.indicators import indicator_of
    from polhode.cli.run import check_place
    from polhode.trajectory.outputs import check_defaults

    told = ph.runs.read_scenario(scenario, allow_code, method=method, step=step)
    out = output or Path(f"{scenario.stem}-{indicator}.nc")
    check_place(out)
    check_defaults(output, overwrite, out, *([] if no_picture else [out.with_suffix(".png")]))
    with noted():
        ds = indicator_of(
            told, indicator, t_end=t_end, vectors=vectors, seed=seed, threads=threads,
            progress=None if quiet else True,
        )  # fmt: skip
    ph.save(ds, out)
    written, failed = [out], int((ds.status != 0).sum())
    everything = failed == max(1, ds.sizes.get("member", 1))
    if not no_picture and not everything:
        written.append(out.with_suffix(".png"))
        ph.plots.indicator(ds, path=written[-1])
    facts = summary(ds, indicator) | {"scenario": str(scenario), "written": [str(path) for path in written]}
    show_summary(facts, table, as_json, quiet)
    if everything:
        raise StepFailed(f"no member came to its end; the first: {ds.failure.values.flat[0]}", step=0, time=0.0)


def summary(ds: xr.Dataset, indicator: str) -> dict[str, Any]:
    """What an indicator says at the end, in JSON's types: of one run, or least, middle and largest of members."""
    import numpy as np

    finals = ds["exponent" if indicator == "lyapunov" else "final"]
    facts: dict[str, Any] = {
        "title": str(ds.attrs["title"]), "indicator": indicator, "method": str(ds.attrs["method"]),
        "step": float(ds.attrs["step"]), "citation": str(ds.attrs["citation"]),
        "t": [float(ds.time.values[0]), float(ds.time.values[-1])], "seconds": ds.encoding.get("seconds"),
    }  # fmt: skip
    if "member" not in ds.dims:
        facts["final"] = [float(value) if np.isfinite(value) else None for value in np.atleast_1d(finals.values)]
        if indicator == "lyapunov":
            facts["error"] = [float(e) if np.isfinite(e) else None for e in np.atleast_1d(ds.exponent_error.values)]
        return facts
    largest = finals.isel(vector=0) if "vector" in finals.dims else finals
    good = largest.values[np.isfinite(largest.values)]
    failed = np.flatnonzero(ds.status.values != 0)
    facts |= {"members": ds.sizes["member"], "failed": len(failed), "spread": None}
    facts["failures"] = [f"member {k}: {ds.failure.values[k]}" for k in failed[:3]]
    if good.size:
        facts["spread"] = [float(good.min()), float(np.median(good)), float(good.max())]
        if indicator == "megno":
            facts["regular"] = int((good <= REGULAR).sum())
    return facts


def table(facts: dict[str, Any]) -> str:
    """The summary as a short table for people."""
    name, least = {"lyapunov": "exponents"}.get(facts["indicator"], facts["indicator"]), facts.get("spread")
    if "members" in facts:
        found = [
            ("members", f"{facts['members']:,}" + (f", {facts['failed']:,} failed" * bool(facts["failed"]))),
            *(("", why) for why in facts["failures"]),
            (name, least and "{:.4g} least, {:.4g} median, {:.4g} largest".format(*least)),
            ("", "regular" in facts and f"{facts['regular']:,} of members are at most {REGULAR:g}, as where motion is "
             "regular"),
        ]  # fmt: skip
    else:
        errors = facts.get("error", [None] * len(facts["final"]))
        told = [("none, the run failed" if value is None else f"{value:.4g}")
                + (f" +- {error:.2g}" if error is not None else "")
                for value, error in zip(facts["final"], errors, strict=True)]  # fmt: skip
        tends = facts["indicator"] == "megno" and facts["final"][0] is not None
        found = [*zip((name, *[""] * len(told)), told, strict=False),
                 ("", tends and "2: regular; above that, and growing: chaotic")]  # fmt: skip
    return laid_out(facts["title"], [
        ("method", f"{facts['method']}, step {facts['step']:g}; cite {facts['citation']}"),
        *found,
        ("span", f"t = {facts['t'][0]:g} to {facts['t'][1]:g}"),
        ("time", facts["seconds"] is not None and duration(facts["seconds"])),
        ("written", ", ".join(facts["written"])),
    ])  # fmt: skip
