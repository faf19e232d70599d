"""What looks wrong in data: other units, gaps, residuals far beyond the noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.errors import EstimationWarning, warn
from polhode.estimation.measurements import Measurement
from polhode.estimation.models import residual_among
from polhode.estimation.problem import Linearisation, Problem, rows_of

NEAR = 0.2
"""How near a ratio must be to a factor between units, relative."""
DEGREES = 180.0 / np.pi
FACTORS = {
    "gyro": {DEGREES: ("degrees", "multiply it by pi / 180")},
    "length": {1e-3: ("km, the run in m", "multiply it by 1000"), 1e3: ("m, the run in km", "divide it by 1000")},
}  # fmt: skip
LONG_GAP = 10.0
"""Gaps longer than this many of the usual intervals are noted."""
POOR = 100.0
"""Chi squared per degree of freedom beyond which model, noise or data are wrong."""


def gaps(measurements: Sequence[Measurement]) -> list[str]:
    """A note for each instrument whose data have gaps."""
    found = []
    for one in measurements:
        times = np.unique(one.times)
        between = np.diff(times)
        if len(between) < 5:
            continue
        long = np.flatnonzero(between > LONG_GAP * np.median(between))
        if long.size:
            k = int(between.argmax())
            more = "" if long.size == 1 else f", the longest of {long.size} gaps"
            found.append(f"{one.name} has no data between t = {times[k]:g} and {times[k + 1]:g}{more}")
    return found


def suspicious_units(problem: Problem) -> bool:
    """Warn where sizes of data and of the first guess differ by a factor between units, and say whether they do."""
    point = problem.point(problem.start)
    ds = problem.run(point, tangent=False)
    if "stopped" in ds.attrs:  # it met the surface of the planet, before the last of the data
        return False
    rows = rows_of(ds, point)
    rates = _rates_of_attitudes(problem.measurements)
    for one, of, index in zip(problem.measurements, problem.of, problem.indices, strict=True):
        kind = "gyro" if one.kind == "gyro" else "length" if one.kind in ("position", "velocity", "range") else None
        if kind is None:
            continue
        residual, _ = residual_among(one, of, rows, index)
        measured = float(np.median(np.linalg.norm(one.values, axis=1)))
        predicted = float(np.median(np.linalg.norm(one.values - residual, axis=1)))
        for size in (predicted, rates if kind == "gyro" else None):
            if not size or not measured:
                continue
            for factor, (units, remedy) in FACTORS[kind].items():
                if abs(measured / size / factor - 1.0) < NEAR:
                    ratio = f"{measured / size:.3g}"
                    warn(f"{one.name} may be in {units}: it is {ratio} times what the guess or other data say; "
                         f"{remedy}", EstimationWarning)  # fmt: skip
                    return True
    return False


def _rates_of_attitudes(measurements: Sequence[Measurement]) -> float | None:
    """The usual angular velocity between measured attitudes, where these are close enough to tell."""
    for one in measurements:
        if one.kind != "attitude" or len(one.times) < 5:
            continue
        times, index = np.unique(one.times, return_index=True)
        q = one.values[index]
        angles = rotation.angle_between(q[:-1], q[1:])
        if float(angles.max()) < 1.0:
            return float(np.median(angles / np.diff(times)))
    return None


def poor(problem: Problem, at: Linearisation, ratio: float) -> None:
    """Warn where residuals are far beyond the noise, with the worst of them."""
    if ratio < POOR:
        return
    worst: tuple[float, Any, int] = (0.0, "", 0)
    for one, residual in zip(problem.measurements, at.residuals, strict=True):
        size = np.linalg.norm((one.whitening @ residual[:, :, None])[:, :, 0], axis=1)
        k = int(size.argmax())
        worst = max(worst, (float(size[k]), one.name, k), key=lambda found: found[0])
    warn(f"residuals are {np.sqrt(ratio):.3g} times the noise, the largest that of {worst[1]} in row {worst[2]}; check "
         "units, noise and guess, or take a loss that bears outliers, loss='soft_l1'", EstimationWarning)  # fmt: skip
