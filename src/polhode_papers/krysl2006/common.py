"""Shared by the figures of this paper: its methods, its two kinds of plot, the soft-wall runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.drawing import GREY
from polhode_papers.measure import NORMS, attempt, observed_orders, relative_energy_error
from polhode_papers.study import Check, Finding, Reporter

RIVALS = ("AKW", "BBTRAP", "SWC1")
PRESENT = ("TRAP", "IMID", "TRAPM", "IMIDM")
PRINTED = {label: label.lower() for label in (*RIVALS, *PRESENT)}
ALL = PRINTED | {"BBTRAPWD": "bbtrapwd"}
"""The seven methods plotted in the paper, and BBTRAPWD, which it describes but does not plot."""

AXIS = {
    "angular_momentum_error": r"error in body momentum, $\|\Pi-\Pi_c\|_2$",
    "attitude_error": r"error in attitude matrix, $\|R-R_c\|_2$",
}


def by_method(data: xr.DataArray, methods: Sequence[str] = ()) -> dict[str, float]:
    """Values along ``method`` as a mapping by method."""
    chosen = data.sel({"method": list(methods)}) if methods else data
    return {str(label): float(value) for label, value in zip(chosen.method.values, chosen.values, strict=True)}


# ------------------------------------------------------------------ figures 1 to 3
def second_order(data: xr.Dataset, case: str = "") -> Finding:
    """Judge whether every plotted method converges with order 2 in both norms, over the three smallest steps."""
    data = data.isel(step=slice(-3, None))
    parts: dict[str, Check] = {}
    numbers: dict[str, object] = {}
    for norm, word in NORMS.items():
        orders = observed_orders(data, norm)
        plotted = {label: orders[label] for label in PRINTED}
        parts[f"order 2 in {word}{case}"] = criteria.every(plotted, criteria.order_is, 2)
        numbers[f"order in {word}{case}"] = orders
    return Finding(parts, numbers)


def convergence_picture(rows: Mapping[str, xr.Dataset]) -> Picture:
    """Errors in body momentum (left) and attitude (right), one row per title."""
    picture, axes = drawing.canvas(len(rows), 2)
    for pair, (title, data) in zip(axes, rows.items(), strict=True):
        for ax, norm in zip(pair, NORMS, strict=True):
            drawing.convergence_panel(ax, data, norm, (r"step $\Delta t$", AXIS[norm]), PRESENT)
            ax.set_title(title)
    drawing.legend_below(picture, axes[0, 0], 8)
    return picture


# ------------------------------------------------------------------ figures 4 and 5
INERTIA = (2.0, 3.0, 4.5)  # [krysl2006, 5.4]
MOMENTUM = (2.0, 2.0, 2.0)
STEP, STEPS = 0.5, 40_000
FELL = 0.1  # |H/H0 - 1| beyond which the body has left the range of the published figures
SLIGHTLY = 1.5  # the largest factor that "slightly" and "somewhat" mean
NUDGE = 1e-13  # relative change of the initial momentum from one run of an ensemble to the next
USABLE = 0.05  # the largest step at which the wall of the physical sign is resolved


def kept(ratio: np.ndarray) -> int:
    """Number of steps until |H/H0 - 1| exceeds ``FELL`` (the body fell into the well) or the run ended."""
    out = np.flatnonzero(~(np.abs(ratio - 1.0) <= FELL))
    return int(out[0]) if out.size else len(ratio) - 1


def half_range(ratio: np.ndarray) -> float:
    """Half the difference between maximum and minimum."""
    return float(ratio.max() - ratio.min()) / 2.0


def peak(values: np.ndarray, step: float) -> tuple[float, float]:
    """Frequency of the strongest spectral line of a series (Hann window), and its share of the power."""
    power = np.abs(np.fft.rfft((values - values.mean()) * np.hanning(len(values)))) ** 2
    top = int(power.argmax())
    line = power[max(top - 2, 0) : top + 3].sum()  # a window spreads a line over five frequencies
    return float(np.fft.rfftfreq(len(values), step)[top]), float(line / power.sum())


def wander(ratio: np.ndarray) -> float:
    """Spread of the means of the ten tenths of a run, relative to the half-range of the whole."""
    means = [tenth.mean() for tenth in np.array_split(ratio, 10)]
    return float(max(means) - min(means)) / half_range(ratio)


_CACHED_RUNS: dict[bool, xr.Dataset] = {}
"""Soft-wall runs by ``quick``; figures 4 and 5 show the same runs."""


def shown(methods: Sequence[str]) -> Callable[[bool, Reporter], xr.Dataset]:
    """A ``compute`` function: the soft-wall runs, with H/H0 of these methods only, along the dimension ``shown``."""

    def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
        data = soft_wall_runs(quick, report_progress)
        series = data.energy_ratio.sel({"method": list(methods)}).rename(method="shown")
        return data.drop_vars("energy_ratio").assign(energy_ratio=series)

    return compute


def soft_wall_runs(quick: bool, report_progress: Reporter) -> xr.Dataset:
    """H/H0 of all methods at the paper's step, with perturbed initial momenta; the physical sign at several steps."""
    if quick in _CACHED_RUNS:
        return _CACHED_RUNS[quick]
    labels = list(PRINTED)
    printed, physical = (ph.systems.soft_wall(INERTIA, sign) for sign in ("printed", "physical"))
    ratios = np.full((len(labels), STEPS + 1), np.nan)
    starts = range(8 if quick else 64)
    falls, ranges = np.full((2, len(labels), len(starts)), np.nan)
    single: dict[str, list[float]] = {}
    outcomes, lowest = [], []
    for i, label in enumerate(labels):
        report_progress(f"{label}, sign as printed")
        for k in starts if label in RIVALS else starts[:4]:
            perturbed = (MOMENTUM[0] * (1.0 + k * NUDGE), *MOMENTUM[1:])
            ds, outcome = attempt(printed, PRINTED[label], step=STEP, steps=STEPS, angular_momentum=perturbed)
            ratio = ds.energy.values / ds.energy.values[0]
            falls[i, k] = kept(ratio)
            good = ratio[: kept(ratio) + (kept(ratio) == STEPS)]
            ranges[i, k] = half_range(good)
            if k:
                continue
            ratios[i, : len(ratio)] = ratio
            outcomes.append(outcome)
            frequency, share = peak(good, STEP)
            angle = np.degrees(np.linalg.norm(ds.angular_velocity.values[: len(good)], axis=1) * STEP)
            measured = {
                "peak_frequency": frequency,
                "peak_share": share,
                "wander": wander(good),
                "rotation_median_deg": float(np.median(angle)),
                "rotation_max_deg": float(angle.max()),
                "share_over_30_deg": float((angle > 30.0).mean()),
            }
            for name, value in measured.items():
                single.setdefault(name, []).append(value)
            lowest.append(float(ds.energy[0]))
    ladder = (0.5, 0.1, 0.05, 0.02) if quick else (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
    span = 100.0 if quick else 2000.0
    worst, done = np.zeros((2, len(labels), len(ladder)))
    ends = np.full(worst.shape, "", dtype=object)
    for i, label in enumerate(labels):
        report_progress(f"{label}, physical sign, steps from {ladder[0]} to {ladder[-1]}")
        for j, h in enumerate(ladder):
            steps = max(round(span / h), 0 if quick or h < STEP else STEPS)
            ds, ends[i, j] = attempt(physical, PRINTED[label], step=h, steps=steps, angular_momentum=MOMENTUM)
            worst[i, j], done[i, j] = float(np.abs(relative_energy_error(ds)).max()), ds.attrs["steps"]
    both, of = ("method", "physical_step"), ("method", "start")
    _CACHED_RUNS[quick] = xr.Dataset(
        {
            "energy_ratio": (("method", "time"), ratios),
            "steps_kept": (of, falls),
            "half_range": (of, ranges),
            "outcome": ("method", outcomes),
            **{name: ("method", values) for name, values in single.items()},
            "physical_largest_error": (both, worst),
            "physical_steps_done": (both, done.astype(int)),
            "physical_outcome": (both, ends.astype(str)),
        },
        {"method": labels, "time": STEP * np.arange(STEPS + 1), "start": list(starts), "physical_step": list(ladder)},
        {
            "H0 of the printed sign": repr(lowest[0]),
            "H0 of the physical sign": repr(float(ds.energy[0])),
            "starts": f"{len(starts)} for the reference methods, 4 for the others: the printed one, and others whose "
            f"first momentum component grows by {NUDGE:g} of itself from one to the next",
            "step guard": "on; it refuses rotations over half a turn and acts on no run of the printed sign in the "
            "range of the picture",
            "span of the physical runs": f"t = {span:g}",
        },
    )
    return _CACHED_RUNS[quick]


def by_step(counts: xr.DataArray) -> dict[str, int]:
    """Counts along ``physical_step`` as a mapping by step."""
    return {f"{float(h):g}": int(n) for h, n in zip(counts.physical_step.values, counts.values, strict=True)}


def wall_pictures(
    data: xr.Dataset, stem: str, methods: Sequence[str], columns: int, window: tuple[float, float]
) -> dict[str, Picture]:
    """H/H0 in the paper's window; for the physical sign, the largest error against the step."""
    rows = len(methods) // columns
    main, axes = drawing.canvas(rows, columns, height=2.6, sharex=True, sharey=True)
    for k, (ax, label) in enumerate(zip(axes.flat, methods, strict=True)):
        steps = int(data.steps_kept.sel({"method": label, "start": 0}))
        fell = "" if steps == STEPS else f", lost at step {steps}"
        x = data.time / STEP / 1000
        names = ("steps / 1000" if k >= len(methods) - columns else "", "$H/H_0$" if k % columns == 0 else "")
        drawing.series_panel(ax, x, {label: data.energy_ratio.sel(shown=label)}, window, names, label + fell)
        ax.set_xlim(0, STEPS / 1000)
    other, ((ax,),) = drawing.canvas(1, 1, width=5.2)
    for label in methods:
        line, line_style = data.sel({"method": label}), drawing.style(list(PRINTED).index(label))
        completed = line.physical_outcome.values == "completed"
        steps, errors = line.physical_step.values, line.physical_largest_error.values
        ax.loglog(steps[completed], errors[completed], label=label, **line_style)
        ax.loglog(steps[~completed], errors[~completed], "x", color=line_style["color"], markersize=6)
    ax.set_xticks(data.physical_step.values, [f"{h:g}" for h in data.physical_step.values])
    ax.set_xticks([], minor=True)
    drawing.separate_coinciding(ax)
    ax.axvline(USABLE, color=GREY, linewidth=0.8, linestyle=":")
    ax.annotate("usable", (USABLE, 1.0), (-4, -4), ("data", "axes fraction"), "offset points", ha="right", va="top")
    ax.set(xlabel=r"step $\Delta t$", ylabel=r"largest $|H/H_0-1|$", title="physical sign (crosses: ended early)")
    drawing.legend_below(other, ax, 4)
    return {stem: main, f"{stem}_physical": other}
