"""Figure 1: free body rotation, convergence in body momentum and attitude at t = 100."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure as Picture

from polhode.studies.krysl2006.common import ALL, PRINTED, by_method, convergence_picture, second_order
from polhode.studies.measure import NORMS, convergence
from polhode.studies.study import Claim, Figure, Finding, Tell
from polhode.systems import free_body

BODY = free_body((0.9144, 1.098, 1.66))  # [krysl2006, 5.1]
INITIAL = {"angular_velocity": (0.45549, 0.82623, 0.03476)}
T_END = 100.0
STEPS = (0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125)
AT = 0.125  # where methods are compared

# The state at t = 100 from two Taylor series in 50-digit arithmetic and from elliptic functions; they agree to 1e-31.
KNOWN = {
    "angular_momentum": (0.66156860385276528085, 0.63413070903878400696, 0.40002477087941280957),
    "attitude": (0.93577514808309028114, -0.30547678777252397765, -0.13960465463153249979, 0.10732821049221556991),
}


def compute(quick: bool, tell: Tell) -> xr.Dataset:
    return convergence(BODY, INITIAL, ALL, STEPS[1:4] if quick else STEPS, T_END, 0.125, tell, KNOWN)


def draw(data: xr.Dataset) -> dict[str, Picture]:
    return {"fig01": convergence_picture({"free body, $t = 100$": data})}


def best(data: xr.Dataset) -> Finding:
    p, a = (by_method(data[norm].sel(step=AT), list(PRINTED)) for norm in NORMS)
    parts = {"most accurate in body momentum (ties within 1% count)": p["IMID"] <= 1.01 * min(p.values())}
    parts |= {"most accurate in attitude": a["IMID"] <= 1.01 * min(a.values())}
    return Finding(parts, {f"momentum errors at step {AT}": p, f"attitude errors at step {AT}": a})


def akw(data: xr.Dataset) -> Finding:
    p, a = (float(e["AKW"] / e["IMID"]) for e in (by_method(data[norm].sel(step=AT)) for norm in NORMS))
    parts = {"AKW matches IMID in body momentum": abs(p - 1) < 0.01, "about ten times worse in attitude": 5 < a < 50}
    return Finding(parts, {"AKW / IMID in momentum": p, "AKW / IMID in attitude": a})


def times_imid(data: xr.Dataset, low: float, high: float, *labels: str) -> Finding:
    e = by_method(data.angular_momentum_error.sel(step=AT))
    found = {f"{label} / IMID": e[label] / e["IMID"] for label in labels}
    return Finding({f"{low} to {high} times the error of IMID": all(low < x < high for x in found.values())}, found)


FIGURE = Figure("fig01", "free body, t = 100: errors against the step", compute, draw, (
    Claim("All the algorithms are of second order in both norms", "5.1", second_order),
    Claim("The most accurate algorithm in body momentum and in attitude is IMID", "5.1", best),
    Claim("AKW matches IMID in body momenta, an order of magnitude less accurate in attitude", "5.1", akw),
    Claim("TRAP is slightly less accurate than IMID in body momenta", "5.1", lambda d: times_imid(d, 1, 3, "TRAP")),
    Claim("BBTRAP and SWC1 are rather inaccurate in body momenta", "5.1",
          lambda d: times_imid(d, 10, 1000, "BBTRAP", "SWC1")),
))  # fmt: skip
