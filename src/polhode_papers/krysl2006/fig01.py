"""Figure 1: free body rotation, convergence in body momentum and attitude at t = 100."""

from __future__ import annotations

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers.criteria import at_least, at_most, every, ratio_within, within
from polhode_papers.drawing import Pictures
from polhode_papers.krysl2006.common import ALL, PRINTED, SLIGHTLY, by_method, convergence_picture, second_order
from polhode_papers.measure import NORMS, REFERENCE, convergence, whole
from polhode_papers.study import Claim, Figure, Finding, Reporter

BODY = ph.free_body((0.9144, 1.098, 1.66))  # [krysl2006, 5.1]
INITIAL = {"angular_velocity": (0.45549, 0.82623, 0.03476)}
T_END = 100.0
STEPS = (0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125)
AT = 0.125  # where methods are compared

# The state at t = 100 by two Taylor series in 50 digits and by elliptic functions, which agree to 1e-31.
KNOWN = {
    "angular_momentum": (0.66156860385276528085, 0.63413070903878400696, 0.40002477087941280957),
    "attitude": (0.93577514808309028114, -0.30547678777252397765, -0.13960465463153249979, 0.10732821049221556991),
}


def shifted(h: float) -> list[float]:
    """Errors of TRAP in both norms when initial and final states are advanced by half a forward Euler step."""
    y = ph.runs.start_state(BODY, **INITIAL)
    half, trapezoid, exact = (ph.checks.stepper(name, BODY, y) for name in ("forward_euler", "trap", REFERENCE[0]))
    n = whole(T_END, h)
    value, truth = half(trapezoid(y, 0.0, h, n), T_END, h / 2), exact(half(y, 0.0, h / 2), 0.0, h, n)
    R, R_c = (ph.rotation.matrix_from_quaternion(z[ph.runs.ATTITUDE]) for z in (value, truth))
    return [float(np.linalg.norm((value - truth)[ph.runs.ANGULAR_MOMENTUM])), float(np.linalg.norm(R - R_c, 2))]


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    data = convergence(BODY, INITIAL, ALL, STEPS[1:4] if quick else STEPS, T_END, 0.125, report_progress, KNOWN)
    report_progress("TRAP shifted by half a step")
    return data.assign_coords(norm=list(NORMS)).assign(trap_shifted_error=("norm", shifted(AT)))


def draw(data: xr.Dataset) -> Pictures:
    return {"fig01": convergence_picture({"free body, $t = 100$": data})}


def best(data: xr.Dataset) -> Finding:
    p, a = (by_method(data[norm].sel(step=AT), list(PRINTED)) for norm in NORMS)
    parts = {
        f"error in {word}, over the smallest of all (ties within 1% count)": at_most(e["IMID"] / min(e.values()), 1.01)
        for word, e in (("body momentum", p), ("attitude", a))
    }
    return Finding(parts, {f"momentum errors at step {AT}": p, f"attitude errors at step {AT}": a})


def akw(data: xr.Dataset) -> Finding:
    p, a = (float(e["AKW"] / e["IMID"]) for e in (by_method(data[norm].sel(step=AT)) for norm in NORMS))
    parts = {
        "error of AKW over that of IMID in body momentum: the same": ratio_within(p, 1.0, 1.01),
        "in attitude: 10 is the nearest power of ten": within(a, 10**0.5, 10**1.5),
    }
    return Finding(parts, {"AKW / IMID in momentum": p, "AKW / IMID in attitude": a})


def over_imid(data: xr.Dataset, *labels: str) -> dict[str, float]:
    """Errors in body momentum relative to that of IMID."""
    e = by_method(data.angular_momentum_error.sel(step=AT))
    return {f"{label} / IMID": e[label] / e["IMID"] for label in labels}


def slightly(data: xr.Dataset) -> Finding:
    (ratio,) = over_imid(data, "TRAP").values()
    momentum, attitude = (
        float(data.trap_shifted_error.sel(norm=norm)) / float(data[norm].sel({"step": AT, "method": "IMID"}))
        for norm in NORMS
    )
    parts = {
        "less accurate: error over that of IMID": at_least(ratio, 1.01),
        "slightly: the same ratio": at_most(ratio, SLIGHTLY),
        "because of the half-step shift: the ratio where start and end are pushed on by half a forward Euler step":
        ratio_within(momentum, 1.0, 1.1),
    }  # fmt: skip
    return Finding(parts, {"TRAP / IMID": ratio, "shifted, in momentum": momentum, "shifted, in attitude": attitude})


def inaccurate(data: xr.Dataset) -> Finding:
    measured = over_imid(data, "BBTRAP", "SWC1")
    return Finding({"error over that of IMID": every(measured, at_least, 10.0)}, measured)


FIGURE = Figure("fig01", "free body, t = 100: errors against the step", compute, draw, (
    Claim("All the algorithms are of second order in both norms", "5.1", second_order),
    Claim("The most accurate algorithm in body momentum and in attitude is IMID", "5.1", best),
    Claim("AKW matches IMID in body momenta, an order of magnitude less accurate in attitude", "5.1", akw),
    Claim("TRAP is slightly less accurate than IMID in body momenta because of the half-step shift", "5.1", slightly),
    Claim("BBTRAP and SWC1 are rather inaccurate in body momenta", "5.1", inaccurate),
))  # fmt: skip
