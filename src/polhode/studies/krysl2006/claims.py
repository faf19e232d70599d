"""The claims of sections 3 and 4 that belong to no figure: compositions, adjoints, what each method keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

from polhode.algebra import rotation
from polhode.errors import unwarned
from polhode.kernel.signatures import ANGULAR, ATTITUDE, BODY
from polhode.plots.style import COLOURS
from polhode.runs.check import (
    QUANTITIES,
    drifts,
    exact_state,
    measure_order,
    state_distance,
    stepper,
    symmetry_defect,
    symplectic_defect,
)
from polhode.runs.single import integrate, start_state
from polhode.studies import drawing
from polhode.studies.krysl2006.common import ALL, by_method
from polhode.studies.krysl2006.fig01 import BODY as BODY_OF_5_1
from polhode.studies.krysl2006.fig01 import INITIAL
from polhode.studies.study import Claim, Figure, Finding, Tell
from polhode.systems import free_body, heavy_top

# A body without symmetry, with and without a torque, and the symmetric top of 5.2 leaning over.
INERTIA, ARM, WEIGHT = (1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0
FREE, TORQUED = free_body(INERTIA), heavy_top(INERTIA, ARM, WEIGHT)
TOP = heavy_top((5.0, 5.0, 1.0), (0.0, 0.0, 1.0), 20.0)
START = {"attitude": rotation.exp_quaternion((0.3, 0.1, 0.2)), "angular_momentum": (0.6, 1.0, 0.5)}
TOP_START = {"attitude": rotation.exp_quaternion((0.3, 0.0, 0.0)), "angular_momentum": (1.0, -2.0, 8.0)}
H = 0.4  # the step of one-step measurements: a rotation of some 20 degrees
EXACT = 1e-13  # per step: equal but for round-off
KEPT = 1e-12  # over a run: constant but for round-off
BROKEN = 1e-6  # clearly not constant
START_OF_5_1: dict[str, Any] = dict(INITIAL)
OSCILLATING = ("TRAPM", "IMIDM")
STEPS = (0.5, 0.25, 0.125)

FE, BE, FEM, BEM = "forward_euler", "backward_euler", "forward_euler_m", "backward_euler_m"
IDENTITIES: dict[str, tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]]] = {
    "BE(-h) after FE(h)": (((FE, 1), (BE, -1)), ()),
    "FE(-h) after BE(h)": (((BE, 1), (FE, -1)), ()),
    "momentum BE(-h) after FE(h)": (((FEM, 1), (BEM, -1)), ()),
    "momentum FE(-h) after BE(h)": (((BEM, 1), (FEM, -1)), ()),
    "IMID after FE(h/2) = FE(h/2) after TRAP": (((FE, 0.5), ("imid", 1)), (("trap", 1), (FE, 0.5))),
    "IMIDM after FE(h/2) = FE(h/2) after TRAPM": (((FEM, 0.5), ("imidm", 1)), (("trapm", 1), (FEM, 0.5))),
    "IMIDM = MKRK midpoint": ((("imidm", 1),), (("mkrk:midpoint", 1),)),
    "FE = MKRK forward Euler": (((FEM, 1),), (("mkrk:forward_euler", 1),)),
    "BE = MKRK backward Euler": (((BEM, 1),), (("mkrk:backward_euler", 1),)),
    "TRAPM = MKRK trapezoid": ((("trapm", 1),), (("mkrk:trapezoid", 1),)),
    "SWC1 = BBTRAP": ((("swc1", 1),), (("bbtrap", 1),)),
}  # fmt: skip
"""Two sequences of steps (method, fraction of h) that should, or should not, be the same map."""


def printed_residual(label: str, h: float, a: Any, b: Any) -> float:
    """How far a step from state a to state b is from the paper's equations for it, with the torque of ``TORQUED``."""
    q0, m0, q1, m1 = (*(x[k] for x in (a, b) for k in (slice(ATTITUDE, ANGULAR), slice(ANGULAR, BODY))),)
    turn: Any = rotation.exp_quaternion
    multiply: Any = rotation.multiply
    back: Any = lambda psi, v: rotation.rotate(turn(-np.asarray(psi)), v)  # noqa: E731
    torque: Any = lambda q: WEIGHT * np.cross(rotation.rotate_inverse(q, (0.0, 0.0, 1.0)), ARM)  # noqa: E731
    moments = np.array(INERTIA)
    w0, w1, mean = m0 / moments, m1 / moments, (m0 + m1) / 2
    T0, T1, w = torque(q0), torque(q1), mean / moments
    psi = rotation.log_quaternion(multiply(rotation.conjugate(q0), q1))
    middle = torque(multiply(q0, turn(psi / 2)))
    rate: Any = lambda m: np.cross(m, m / moments)  # noqa: E731
    two = multiply(turn(h / 2 * w0), turn(h / 2 * w1))  # [krysl2006, eq. 14]
    equations: dict[str, Callable[[], tuple[Any, Any]]] = {
        "TRAP": lambda: (two, m0 + h / 2 * (rate(m0) + T0 + rate(m1) + T1)),
        "IMID": lambda: (turn(h * w), m0 + h * (rate(mean) + torque(multiply(q0, turn(h / 2 * w))))),
        "TRAPM": lambda: (two, rotation.rotate_inverse(two, m0 + h / 2 * T0) + h / 2 * T1),
        "IMIDM": lambda: (
            turn(h * (back(psi / 2, m0) + h / 2 * middle) / moments), back(psi, m0) + h * back(psi / 2, middle)
        ),
        "SWC1": lambda: (turn(h * w), back(psi, m0) + h * back(psi / 2, middle)),
        "AKW": lambda: (rotation.cay_quaternion(h * w), m0 + h * rate(mean) + h / 2 * (T0 + T1)),
        "BBTRAP": lambda: (turn(h * w), back(psi, m0 + h / 2 * T0) + h / 2 * T1),
        "BBTRAPWD": lambda: (
            turn(h / 2 * (rotation.dexpinv(-psi, w1) + w0)), back(psi, m0 + h / 2 * T0) + h / 2 * T1
        ),
    }  # fmt: skip
    want_q, want_m = equations[label]()
    wanted = b.copy()
    wanted[ATTITUDE:ANGULAR], wanted[ANGULAR:BODY] = multiply(q0, want_q), want_m
    return state_distance(wanted, b, TORQUED)


@unwarned()
def compute(quick: bool, tell: Tell) -> xr.Dataset:
    free, torqued, top = start_state(FREE, **START), start_state(TORQUED, **START), start_state(TOP, **TOP_START)
    labels = list(ALL)
    tell("identities")

    def gap(system: Any, y: Any, name: str) -> float:
        ends = []
        for moves in IDENTITIES[name]:
            z, t = y, 0.0
            for method, fraction in moves:
                z, t = stepper(method, system, z)(z, t, fraction * H), t + fraction * H
            ends.append(z)
        return state_distance(ends[0], ends[1], system)

    kept = np.zeros((2, len(labels), len(QUANTITIES)))
    single: dict[str, list[float]] = {
        name: []
        for name in (
            "printed_residual",
            "there_and_back",
            "symplectic_free",
            "symplectic_torqued",
            "symplectic_exponent",
            "order",
        )
    }
    end = exact_state(TORQUED, torqued, 0.3, 1.0)
    for i, (label, method) in enumerate(ALL.items()):
        tell(label)
        for k, (system, y, h) in enumerate(((FREE, free, 0.25), (TOP, top, 0.025))):
            found = drifts(method, system, y, h, 120 if quick else 1200)
            kept[k, i] = [found[name] for name in QUANTITIES]
        step = stepper(method, TORQUED, torqued)
        single["printed_residual"].append(printed_residual(label, H, torqued, step(torqued, 0.0, H)))
        single["there_and_back"].append(symmetry_defect(method, TORQUED, torqued, t=0.0, h=H))
        single["order"].append(measure_order(method, TORQUED, torqued, end, t=0.3, span=1.0).order)
        for name, system, y in (("symplectic_free", FREE, free), ("symplectic_torqued", TORQUED, torqued)):
            single[name].append(symplectic_defect(map_of(method, system, y, H), system, y))
        half = symplectic_defect(map_of(method, TORQUED, torqued, H / 2), TORQUED, torqued)
        single["symplectic_exponent"].append(float(np.log2(single["symplectic_torqued"][-1] / half)))
    control = symplectic_defect(map_of("mkrk:gauss8", FREE, free, H, 32), FREE, free)
    span = 1000.0 if quick else 10_000.0
    tell(f"energy of TRAPM and IMIDM, t = {span:g}")
    energy = [[integrate(BODY_OF_5_1, ALL[label], step=h, t_end=span, every=round(STEPS[0] / h), **START_OF_5_1)
               .energy_error.values for h in STEPS] for label in OSCILLATING]  # fmt: skip
    return xr.Dataset(
        {
            "energy_error": (("oscillating", "step", "time"), np.array(energy)),
            "defect_torqued": ("identity", [gap(TORQUED, torqued, name) for name in IDENTITIES]),
            "defect_free": ("identity", [gap(FREE, free, name) for name in IDENTITIES]),
            "drift_free": (("method", "quantity"), kept[0]),
            "drift_top": (("method", "quantity"), kept[1]),
            **{name: ("method", values) for name, values in single.items()},
        },
        {"oscillating": list(OSCILLATING), "step": list(STEPS), "time": STEPS[0] * np.arange(len(energy[0][0])),
         "identity": list(IDENTITIES), "method": labels, "quantity": list(QUANTITIES)},
        {
            "one-step measurements": f"step {H}, body with moments {INERTIA}, free or as a heavy top",
            "what is kept": f"{120 if quick else 1200} steps of 0.25 (free body) and 0.025 (the top of 5.2)",
            "symplectic defect of the exact flow": f"{control:.1e} (mkrk:gauss8, 32 substeps; floor of the measure)",
        },
    )  # fmt: skip


def map_of(method: str, system: Any, y: Any, h: float, substeps: int = 1) -> Callable[[Any], Any]:
    """The step as a function of the state."""
    advance = stepper(method, system, y)
    return lambda z: advance(z, 0.0, h / substeps, substeps)


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture, axes = drawing.canvas(2, 2, height=2.6, sharey="col")
    last = float(data.time[-1])
    for row, (low, high) in zip(axes, ((0.0, 60.0), (last - 60.0, last)), strict=True):
        for ax, label in zip(row, OSCILLATING, strict=True):
            for i, h in enumerate(STEPS):
                part = data.energy_error.sel(oscillating=label, step=h, time=slice(low, high))
                ax.plot(part.time, part / h**2, color=COLOURS[i], linewidth=1.0, label=rf"$\Delta t = {h}$")
            ax.set_title(f"{label}, free body")
            ax.set_xlabel("time")
        row[0].set_ylabel(r"$(K - K_0) / (K_0 \Delta t^2)$")
    drawing.legend_below(picture, axes[0, 0], 3)
    return {"claims": picture}


# ------------------------------------------------------------------ judges
def identical(data: xr.Dataset, names: Sequence[str], variable: str = "defect_torqued") -> Finding:
    """These identities hold to round-off."""
    found = {name: float(data[variable].sel(identity=name)) for name in names}
    return Finding({name: value < EXACT for name, value in found.items()}, {"defects": found})


def as_printed(*labels: str) -> Any:
    """Steps of these methods satisfy the printed equations."""

    def judge(data: xr.Dataset) -> Finding:
        found = by_method(data.printed_residual, labels)
        return Finding({f"{label} as printed": value < EXACT for label, value in found.items()}, {"residuals": found})

    return judge


def kept(data: xr.Dataset, quantity: str, labels: Sequence[str], variable: str = "drift_free") -> dict[str, float]:
    return by_method(data[variable].sel(quantity=quantity), labels)


def adjoint(data: xr.Dataset) -> Finding:
    return identical(data, [name for name in IDENTITIES if "(-h)" in name])


def conjugate(data: xr.Dataset) -> Finding:
    return identical(data, [name for name in IDENTITIES if " after TRAP" in name])


def no_momentum(data: xr.Dataset) -> Finding:
    found = kept(data, "spatial_momentum", ("TRAP", "IMID"))
    length = kept(data, "momentum_length", ("TRAP", "IMID"))
    return Finding({f"{label} does not": value > BROKEN for label, value in found.items()},
                   {"change of the spatial momentum": found, "change of its length": length})  # fmt: skip


def imid_energy(data: xr.Dataset) -> Finding:
    found = kept(data, "energy", ("IMID",))
    return Finding({"constant to round-off": found["IMID"] < KEPT}, {"change of the kinetic energy": found})


def trap_energy(data: xr.Dataset) -> Finding:
    nodes, middle = kept(data, "energy", ("TRAP",))["TRAP"], kept(data, "midpoint_energy", ("TRAP",))["TRAP"]
    parts = {"not conserved at the time stations": nodes > BROKEN, "conserved half a step further": middle < KEPT}
    return Finding(parts, {"change at the stations": nodes, "change at the midpoints": middle})


def momentum(data: xr.Dataset) -> Finding:
    found = kept(data, "spatial_momentum", OSCILLATING)
    return Finding({label: value < KEPT for label, value in found.items()}, {"change of the spatial momentum": found})


def no_energy(data: xr.Dataset) -> Finding:
    found = kept(data, "energy", OSCILLATING)
    return Finding({f"{label} does not": value > BROKEN for label, value in found.items()}, {"change": found})


def bounded(data: xr.Dataset) -> Finding:
    parts: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for label in OSCILLATING:
        e = np.abs(data.energy_error.sel(oscillating=label))
        n = e.time.size // 10
        growth = float((e[:, -n:].max("time") / e[:, :n].max("time")).max())
        slopes = np.diff(np.log(e.max("time"))) / np.diff(np.log(e.step))
        parts[f"{label}: no larger in the last tenth than in the first"] = growth < 1.05
        parts[f"{label}: falls with the square of the step"] = bool((np.abs(slopes - 2.0) < 0.1).all())
        numbers[f"{label}: last tenth / first tenth"] = growth
        numbers[f"{label}: exponent of the step"] = float(slopes[-1])
    return Finding(parts, numbers)


def symmetric(data: xr.Dataset) -> Finding:
    found = by_method(data.there_and_back)
    present = {label: found[label] < EXACT for label in ("TRAP", "IMID", "TRAPM", "IMIDM")}
    return Finding(present, {"there-and-back defect": found})


def symplectic(label: str) -> Any:
    """The step of this method preserves the symplectic form, without and with a torque."""

    def judge(data: xr.Dataset) -> Finding:
        free, torqued = (float(data[name].sel({"method": label})) for name in ("symplectic_free", "symplectic_torqued"))
        parts = {"free body": free < KEPT * 10, "with torque": torqued < KEPT * 10}
        return Finding(parts, {"defect of the form, free": by_method(data.symplectic_free),
                               "with torque": by_method(data.symplectic_torqued),
                               "exponent of the step": by_method(data.symplectic_exponent)})  # fmt: skip

    return judge


def munthe_kaas(data: xr.Dataset) -> Finding:
    return identical(data, ["IMIDM = MKRK midpoint", "FE = MKRK forward Euler", "BE = MKRK backward Euler"])


def trapezoid(data: xr.Dataset) -> Finding:
    residual = float(data.printed_residual.sel({"method": "BBTRAPWD"}))
    other = float(data.defect_torqued.sel(identity="TRAPM = MKRK trapezoid"))
    parts = {"its step satisfies the equations of BBTRAPWD": residual < EXACT, "it is not TRAPM": other > BROKEN}
    return Finding(parts, {"residual": residual, "distance from TRAPM": other})


def momentum_and_energy(*labels: str) -> Any:
    """These keep energy and spatial momentum of the free body."""

    def judge(data: xr.Dataset) -> Finding:
        parts: dict[str, bool] = {}
        numbers: dict[str, Any] = {}
        for quantity in ("energy", "spatial_momentum"):
            found = kept(data, quantity, labels)
            parts |= {f"{label}: {quantity.replace('_', ' ')}": value < KEPT for label, value in found.items()}
            numbers[f"change of {quantity.replace('_', ' ')}"] = found
        return Finding(parts, numbers)

    return judge


def akw_top(data: xr.Dataset) -> Finding:
    every = {quantity: by_method(data.drift_top.sel(quantity=quantity)) for quantity in ("energy", "vertical_momentum")}
    parts = {quantity.replace("_", " "): found["AKW"] < KEPT for quantity, found in every.items()}
    return Finding(parts, {f"change of {quantity.replace('_', ' ')}": found for quantity, found in every.items()})


def truncation(data: xr.Dataset) -> Finding:
    energy, order = kept(data, "energy", ("BBTRAP", "BBTRAPWD")), by_method(data.order, ("BBTRAP", "BBTRAPWD"))
    parts = {"BBTRAP keeps the energy, BBTRAPWD does not": energy["BBTRAP"] < KEPT < BROKEN < energy["BBTRAPWD"],
             "both are of order 2": all(abs(value - 2.0) < 0.2 for value in order.values())}  # fmt: skip
    return Finding(parts, {"change of the energy": energy, "order": order})


def same_when_free(data: xr.Dataset) -> Finding:
    free, torqued = (float(data[name].sel(identity="SWC1 = BBTRAP")) for name in ("defect_free", "defect_torqued"))
    parts = {"identical without torque": free < EXACT, "not identical with one": torqued > BROKEN}
    return Finding(parts, {"distance, free": free, "distance, with torque": torqued})


FIGURE = Figure("claims", "sections 3 and 4: compositions, adjoints, what is kept", compute, draw, (
    Claim("Forward and backward Euler are mutual adjoints, in rate and in momentum form", "3.2", adjoint),
    Claim("Composed half steps of forward and backward Euler are TRAP and IMID as printed", "3.3, 3.4",
          as_printed("TRAP", "IMID")),
    Claim("Neither TRAP nor IMID conserves spatial momenta in free motion", "3.5", no_momentum),
    Claim("IMID conserves kinetic energy in free motion", "3.5", imid_energy),
    Claim("TRAP conserves the midpoint energy exactly, not the energy at the time stations", "3.5", trap_energy),
    Claim("TRAP and IMID, TRAPM and IMIDM are conjugate by half a forward Euler step", "3.5, 3.7", conjugate),
    Claim("Composed half steps of the momentum form are TRAPM, IMIDM as printed", "3.6", as_printed("TRAPM", "IMIDM")),
    Claim("TRAPM and IMIDM conserve spatial momentum in free motion", "3.6, 3.7", momentum),
    Claim("Neither TRAPM nor IMIDM conserves kinetic energy exactly in free motion", "3.7", no_energy),
    Claim("Their energy error oscillates, is bounded for long times, and scales with the step squared", "3.7", bounded),
    Claim("Both pairs are self-adjoint (time symmetric)", "3.7, 6", symmetric),
    Claim("IMIDM is symplectic (numerical evidence and an incomplete proof)", "3.7", symplectic("IMIDM")),
    Claim("TRAPM is symplectic (the paper leaves it open: it may or may not be)", "3.7", symplectic("TRAPM")),
    Claim("IMIDM and its Euler halves are Munthe-Kaas methods with the printed tableaux", "3.7", munthe_kaas),
    Claim("The trapezoidal tableau gives BBTRAPWD, not TRAPM", "3.7, 4", trapezoid),
    Claim("SWC1 conserves momentum and energy of the free body", "4", momentum_and_energy("SWC1")),
    Claim("AKW conserves spatial momentum and energy of the free body", "4", momentum_and_energy("AKW")),
    Claim("AKW conserves the Hamiltonian of the heavy top, and the vertical momentum", "4", akw_top),
    Claim("SWC1, AKW, BBTRAP as implemented satisfy the printed equations", "4", as_printed("SWC1", "AKW", "BBTRAP")),
    Claim("Truncating the tangent map gives BBTRAP energy conservation and keeps the order", "4", truncation),
    Claim("BBTRAP is identical to the algorithm of Simo and Wong for torque-free motion", "4", same_when_free),
))  # fmt: skip
