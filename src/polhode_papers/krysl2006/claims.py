"""Claims of sections 2 to 4 that belong to no figure: compositions, adjoints, conserved quantities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers.criteria import at_least, at_most, every, order_is
from polhode_papers.drawing import COLOURS, Pictures, canvas, legend_below
from polhode_papers.krysl2006 import tableaux
from polhode_papers.krysl2006.common import ALL, by_method
from polhode_papers.krysl2006.fig01 import BODY as BODY_OF_5_1, INITIAL
from polhode_papers.measure import derivative, relative_energy_error, unwarned
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

# An asymmetric body with and without torque, and the symmetric top of 5.2, tilted.
INERTIA, ARM, WEIGHT = (1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0
FREE, TORQUED = ph.free_body(INERTIA), ph.heavy_top(INERTIA, ARM, WEIGHT)
TOP = ph.heavy_top((5.0, 5.0, 1.0), (0.0, 0.0, 1.0), 20.0)
MASSES = (1.0, 0.5)
PARTICLES = ph.gravitating_bodies(mass=MASSES)  # a system of interacting particles, for section 2
START_OF_PARTICLES = {
    "position": ((1.0, 0.2, -0.3), (-0.4, 0.5, 0.6)),
    "velocity": ((0.1, 0.7, -0.2), (-0.3, -0.6, 0.4)),
}
START = dict[str, Any](attitude=ph.rotation.exp_quaternion((0.3, 0.1, 0.2)), angular_momentum=(0.6, 1.0, 0.5))
TOP_START = dict[str, Any](attitude=ph.rotation.exp_quaternion((0.3, 0.0, 0.0)), angular_momentum=(1.0, -2.0, 8.0))
H = 0.4  # step of the one-step measurements: a rotation of some 20 degrees
EXACT = 1e-13  # per step: equal up to round-off
KEPT = 1e-12  # over a run: constant up to round-off
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
    "BE(h/2) after IMID = TRAP after BE(h/2)": ((("imid", 1), (BE, 0.5)), ((BE, 0.5), ("trap", 1))),
    "BE(h/2) after IMIDM = TRAPM after BE(h/2)": ((("imidm", 1), (BEM, 0.5)), ((BEM, 0.5), ("trapm", 1))),
    "IMIDM = MKRK midpoint": ((("imidm", 1),), (("mkrk:midpoint", 1),)),
    "FE = MKRK forward Euler": (((FEM, 1),), (("mkrk:forward_euler", 1),)),
    "BE = MKRK backward Euler": (((BEM, 1),), (("mkrk:backward_euler", 1),)),
    "TRAPM = MKRK trapezoid": ((("trapm", 1),), (("mkrk:trapezoid", 1),)),
    "SWC1 = BBTRAP": ((("swc1", 1),), (("bbtrap", 1),)),
}
"""Pairs of step sequences (method, fraction of h); whether both are the same map is measured."""


VECTOR_IDENTITIES = {name: moves for name, moves in IDENTITIES.items() if set(dict(moves[0])) & {FE, BE, "imid"}} | {
    "TRAP = BE(h/2) after FE(h/2)": (((FE, 0.5), (BE, 0.5)), (("trap", 1),)),
    "IMID = FE(h/2) after BE(h/2)": (((BE, 0.5), (FE, 0.5)), (("imid", 1),)),
}
"""The identities that section 2 states on a vector space."""
VECTOR_STEPS = ("TRAP", "IMID as printed", "IMID corrected")


def vector_residual(label: str, h: float, a: Any, b: Any) -> float:
    """Residual of a step of ``PARTICLES`` from a to b in equation (4), or in (5) as printed or corrected."""
    a, b = (np.reshape(x, (2, 13)) for x in (a, b))
    (u0, p0), (u1, p1) = ((x[:, :3], x[:, 3:6]) for x in (a, b))
    masses = np.array(MASSES)[:, None]

    def force(u: Any) -> Any:
        separation = u[1] - u[0]
        pull = MASSES[0] * MASSES[1] * separation / np.linalg.norm(separation) ** 3
        return np.array([pull, -pull])

    if label == "TRAP":
        residuals = (
            p1 - p0 - h / 2 * (force(u0) + force(u1)),
            u1 - u0 - h / 2 * (p0 + p1) / masses,
        )  # [krysl2006, eq. 4]
    else:
        middle = p0 + h / 2 * force((u0 + u1) / 2)
        share = h / 2 if label == "IMID as printed" else h
        residuals = p1 - p0 - h * force((u0 + u1) / 2), u1 - u0 - share * middle / masses  # [krysl2006, eq. 5]
    return float(max(np.abs(residual).max() for residual in residuals))


def printed_residual(label: str, h: float, a: Any, b: Any) -> float:
    """Distance of state b from the step the paper's equations give from state a, with the torque of ``TORQUED``."""
    q0, m0, q1, m1 = (x[k] for x in (a, b) for k in (ph.runs.ATTITUDE, ph.runs.ANGULAR_MOMENTUM))
    turn: Any = ph.rotation.exp_quaternion
    multiply: Any = ph.rotation.multiply
    back: Any = lambda psi, v: ph.rotation.rotate(turn(-np.asarray(psi)), v)  # noqa: E731
    torque: Any = lambda q: WEIGHT * np.cross(ph.rotation.rotate_inverse(q, (0.0, 0.0, 1.0)), ARM)  # noqa: E731
    moments = np.array(INERTIA)
    w0, w1, mean = m0 / moments, m1 / moments, (m0 + m1) / 2
    T0, T1, w = torque(q0), torque(q1), mean / moments
    psi = ph.rotation.log_quaternion(multiply(ph.rotation.conjugate(q0), q1))
    middle = torque(multiply(q0, turn(psi / 2)))
    rate: Any = lambda m: np.cross(m, m / moments)  # noqa: E731
    two = multiply(turn(h / 2 * w0), turn(h / 2 * w1))  # [krysl2006, eq. 14]
    equations: dict[str, Callable[[], tuple[Any, Any]]] = {
        "TRAP": lambda: (two, m0 + h / 2 * (rate(m0) + T0 + rate(m1) + T1)),
        "IMID": lambda: (turn(h * w), m0 + h * (rate(mean) + torque(multiply(q0, turn(h / 2 * w))))),
        "TRAPM": lambda: (two, ph.rotation.rotate_inverse(two, m0 + h / 2 * T0) + h / 2 * T1),
        "IMIDM": lambda: (
            turn(h * (back(psi / 2, m0) + h / 2 * middle) / moments), back(psi, m0) + h * back(psi / 2, middle)
        ),
        "SWC1": lambda: (turn(h * w), back(psi, m0) + h * back(psi / 2, middle)),
        "AKW": lambda: (ph.rotation.cay_quaternion(h * w), m0 + h * rate(mean) + h / 2 * (T0 + T1)),
        "BBTRAP": lambda: (turn(h * w), back(psi, m0 + h / 2 * T0) + h / 2 * T1),
        "BBTRAPWD": lambda: (
            turn(h / 2 * (ph.rotation.dexpinv(-psi, w1) + w0)), back(psi, m0 + h / 2 * T0) + h / 2 * T1
        ),
    }  # fmt: skip
    expected_rotation, expected_momentum = equations[label]()
    expected = b.copy()
    expected[ph.runs.ATTITUDE], expected[ph.runs.ANGULAR_MOMENTUM] = multiply(q0, expected_rotation), expected_momentum
    return ph.checks.state_distance(expected, b, TORQUED)


@unwarned()
def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    free, torqued = (ph.runs.start_state(system, **START) for system in (FREE, TORQUED))
    top = ph.runs.start_state(TOP, **TOP_START)
    particles = ph.runs.start_state(PARTICLES, **START_OF_PARTICLES)
    labels = list(ALL)
    report_progress("identities")

    def gap(system: Any, y: Any, name: str) -> float:
        ends = []
        for moves in (IDENTITIES | VECTOR_IDENTITIES)[name]:
            z, t = y, 0.0
            for method, fraction in moves:
                z, t = ph.checks.stepper(method, system, z)(z, t, fraction * H), t + fraction * H
            ends.append(z)
        return ph.checks.state_distance(ends[0], ends[1], system)

    drift = np.zeros((2, len(labels), len(ph.checks.QUANTITIES)))
    single: dict[str, list[float]] = {name: [] for name in SINGLE}
    end = ph.checks.exact_state(TORQUED, torqued, 0.3, 1.0)
    for i, (label, method) in enumerate(ALL.items()):
        report_progress(label)
        for k, (system, y, h) in enumerate(((FREE, free, 0.25), (TOP, top, 0.025))):
            result = ph.checks.drifts(method, system, y, h, 120 if quick else 1200)
            drift[k, i] = [result[name] for name in ph.checks.QUANTITIES]
        step = ph.checks.stepper(method, TORQUED, torqued)
        single["printed_residual"].append(printed_residual(label, H, torqued, step(torqued, 0.0, H)))
        single["there_and_back"].append(ph.checks.symmetry_defect(method, TORQUED, torqued, t=0.0, h=H))
        single["order"].append(ph.checks.measure_order(method, TORQUED, torqued, end, t=0.3, span=1.0).order)
        for name, system, y in (("symplectic_free", FREE, free), ("symplectic_torqued", TORQUED, torqued)):
            single[name].append(ph.checks.symplectic_defect(map_of(method, system, y, H), system, y))
        half = ph.checks.symplectic_defect(map_of(method, TORQUED, torqued, H / 2), TORQUED, torqued)
        single["symplectic_exponent"].append(float(np.log2(single["symplectic_torqued"][-1] / half)))
    steps_taken = {name: ph.checks.stepper(name, PARTICLES, particles)(particles, 0.0, H) for name in ("trap", "imid")}
    printed = {
        label: vector_residual(label, H, particles, steps_taken[label.split()[0].lower()]) for label in VECTOR_STEPS
    }
    report_progress("series of TRAPM")
    maps = {"TRAPM": tableaux.trapm, "trapezoid": tableaux.munthe_kaas(np.array([[0, 0], [0.5, 0.5]]), np.full(2, 0.5))}
    misfits = [[tableaux.misfit(order, step) for order in tableaux.TREES] for step in maps.values()]
    control = ph.checks.symplectic_defect(map_of("mkrk:gauss8", FREE, free, H, 32), FREE, free)
    span = 1000.0 if quick else 10_000.0
    report_progress(f"energy of TRAPM and IMIDM, t = {span:g}")
    energy = [
        [
            relative_energy_error(
                ph.integrate(BODY_OF_5_1, ALL[name], step=h, t_end=span, every=round(STEPS[0] / h), **START_OF_5_1)
            ).values
            for h in STEPS
        ]
        for name in OSCILLATING
    ]
    return xr.Dataset(
        {
            "vector_defect": ("vector_identity", [gap(PARTICLES, particles, name) for name in VECTOR_IDENTITIES]),
            "vector_residual": ("vector_step", list(printed.values())),
            "equation_residual": ("equation", [spatial_torque(), tangent_of_exp()]),
            "series_misfit": (("series_of", "series_order"), misfits),
            "relative_energy_error": (("oscillating", "step", "time"), np.array(energy)),
            "defect_torqued": ("identity", [gap(TORQUED, torqued, name) for name in IDENTITIES]),
            "defect_free": ("identity", [gap(FREE, free, name) for name in IDENTITIES]),
            "drift_free": (("method", "quantity"), drift[0]),
            "drift_top": (("method", "quantity"), drift[1]),
            **{name: ("method", values) for name, values in single.items()},
        },
        {"oscillating": list(OSCILLATING), "step": list(STEPS), "time": STEPS[0] * np.arange(len(energy[0][0])),
         "vector_identity": list(VECTOR_IDENTITIES), "vector_step": list(VECTOR_STEPS), "series_of": list(maps),
         "series_order": list(tableaux.TREES), "identity": list(IDENTITIES),
         "method": labels, "quantity": list(ph.checks.QUANTITIES), "equation": ["torque of 5.2", "dexp"]},
        {
            "one-step measurements": f"step {H}, body with moments {INERTIA}, free or as a heavy top",
            "what is kept": f"{120 if quick else 1200} steps of 0.25 (free body) and 0.025 (the top of 5.2)",
            "symplectic defect of the exact flow": f"{control:.1e} (mkrk:gauss8, 32 substeps; floor of the measure)",
        },
    )  # fmt: skip


SINGLE = ("printed_residual", "there_and_back", "symplectic_free", "symplectic_torqued", "symplectic_exponent", "order")
"""What is measured of each method by one number."""


def spatial_torque(attempts: int = 5) -> float:
    """Largest difference between the torque printed in 5.2 and the rate of R Pi in exact motion, over the weight."""
    worst = 0.0
    for k in range(attempts):
        y = ph.runs.start_state(TOP, **{**TOP_START, "attitude": ph.rotation.exp_quaternion((0.3 + k, -0.7 * k, 0.2))})

        def momentum(t: float, y: Any = y) -> Any:
            z = ph.checks.exact_state(TOP, y, 0.0, t) if t else y
            return ph.rotation.rotate(z[ph.runs.ATTITUDE], z[ph.runs.ANGULAR_MOMENTUM])

        rate = derivative(momentum, 1e-3)
        R = ph.rotation.matrix_from_quaternion(y[ph.runs.ATTITUDE])
        worst = max(worst, float(np.abs(rate / 20.0 + np.cross(R[:, 2], (0.0, 0.0, 1.0))).max()))
    return worst


def tangent_of_exp() -> float:
    """Largest difference between (9) and the derivative of exp(skew Psi), by a complex step, up to |Psi| = 6."""
    random, worst = np.random.default_rng(0), 0.0

    def skew(a: Any) -> Any:
        return np.cross(np.eye(3), a)  # columns e_k x a: the transpose of a x e_k

    for size in (0.1, 1.0, 3.0, 6.0):
        a, rate = random.normal(size=(2, 3))
        a = size * a / np.linalg.norm(a)
        b = a + 1e-30j * rate
        p = np.sqrt(b @ b)
        K = skew(b).T
        moved = np.eye(3) + np.sin(p) / p * K + 2 * (np.sin(p / 2) / p) ** 2 * K @ K
        spin = 1e30 * moved.imag @ moved.real.T
        K = skew(a).T
        printed = np.eye(3) + (1 - np.cos(size)) / size**2 * K + (1 - np.sin(size) / size) / size**2 * K @ K
        worst = max(worst, float(np.abs(spin - skew(printed @ rate).T).max()))  # [krysl2006, eq. 9]
    return worst


def map_of(method: str, system: Any, y: Any, h: float, substeps: int = 1) -> Callable[[Any], Any]:
    """The map of one step h (in so many substeps) as a function of the state."""
    take_steps = ph.checks.stepper(method, system, y)
    return lambda z: take_steps(z, 0.0, h / substeps, substeps)


def draw(data: xr.Dataset) -> Pictures:
    picture, axes = canvas(2, 2, height=2.6, sharey="col")
    last = float(data.time[-1])
    for row, (low, high) in zip(axes, ((0.0, 60.0), (last - 60.0, last)), strict=True):
        for ax, label in zip(row, OSCILLATING, strict=True):
            for i, h in enumerate(STEPS):
                part = data.relative_energy_error.sel(oscillating=label, step=h, time=slice(low, high))
                ax.plot(part.time, part / h**2, color=COLOURS[i], linewidth=1.0, label=rf"$\Delta t = {h}$")
            ax.set(title=f"{label}, free body", xlabel="time")
        row[0].set_ylabel(r"$(K - K_0) / (K_0 \Delta t^2)$")
    legend_below(picture, axes[0, 0], 3)
    return {"claims": picture}


# ------------------------------------------------------------------ judges
def identical(
    data: xr.Dataset, names: Sequence[str], variable: str = "defect_torqued", over: str = "identity"
) -> Finding:
    """Judge whether these identities hold to round-off."""
    measured = {name: float(data[variable].sel({over: name})) for name in names}
    return Finding({name: at_most(value, EXACT) for name, value in measured.items()}, {"defects": measured})


def vector(data: xr.Dataset, word: str) -> Finding:
    """Judge the identities of section 2 whose names contain this word."""
    return identical(data, [name for name in VECTOR_IDENTITIES if word in name], "vector_defect", "vector_identity")


def vector_trapezoid(data: xr.Dataset) -> Finding:
    measured = identical(data, ["TRAP = BE(h/2) after FE(h/2)"], "vector_defect", "vector_identity")
    residual = float(data.vector_residual.sel(vector_step="TRAP"))
    return Finding({**measured.parts, "residual of (4)": at_most(residual, EXACT)}, {"residual of (4)": residual})


def vector_midpoint(data: xr.Dataset) -> Finding:
    """Equation (5) is printed with the factor dt/2 where it needs dt."""
    printed, corrected = (
        float(data.vector_residual.sel(vector_step=f"IMID {word}")) for word in ("as printed", "corrected")
    )
    return Finding(
        {"residual of (5)": at_most(printed, EXACT)},
        {"residual of (5)": printed, "with the factor dt in the displacements": corrected},
        {"residual with the factor dt in the displacements": at_most(corrected, EXACT)},
    )


def as_printed(data: xr.Dataset, *labels: str) -> Finding:
    """Judge whether steps of these methods satisfy the printed equations."""
    measured = by_method(data.printed_residual, labels)
    parts = {f"{label} as printed": at_most(value, EXACT) for label, value in measured.items()}
    return Finding(parts, {"residuals": measured})


def kept(data: xr.Dataset, quantity: str, labels: Sequence[str], variable: str = "drift_free") -> dict[str, float]:
    return by_method(data[variable].sel(quantity=quantity), labels)


def matching(data: xr.Dataset, word: str) -> Finding:
    """Judge the identities of rotations whose names contain this word."""
    return identical(data, [name for name in IDENTITIES if word in name])


def equation(data: xr.Dataset, name: str, bound: float) -> Finding:
    """Judge whether an equation holds, up to what its check leaves."""
    residual = float(data.equation_residual.sel(equation=name))
    return Finding({"largest difference": at_most(residual, bound)}, {"largest difference": residual})


def no_momentum(data: xr.Dataset) -> Finding:
    measured = kept(data, "spatial_momentum", ("TRAP", "IMID"))
    length = kept(data, "momentum_length", ("TRAP", "IMID"))
    return Finding({f"change by {label}": at_least(value, BROKEN) for label, value in measured.items()},
                   {"change of the spatial momentum": measured, "change of its length": length})  # fmt: skip


def imid_energy(data: xr.Dataset) -> Finding:
    measured = kept(data, "energy", ("IMID",))
    return Finding({"change of the kinetic energy": at_most(measured["IMID"], KEPT)}, {"change": measured})


def trap_energy(data: xr.Dataset) -> Finding:
    nodes, middle = kept(data, "energy", ("TRAP",))["TRAP"], kept(data, "midpoint_energy", ("TRAP",))["TRAP"]
    parts = {"not conserved at the time stations": at_least(nodes, BROKEN),
             "conserved half a step further": at_most(middle, KEPT)}  # fmt: skip
    return Finding(parts, {"change at the stations": nodes, "change at the midpoints": middle})


def momentum(data: xr.Dataset) -> Finding:
    measured = kept(data, "spatial_momentum", OSCILLATING)
    parts = {f"change by {label}": at_most(value, KEPT) for label, value in measured.items()}
    return Finding(parts, {"change of the spatial momentum": measured})


def no_energy(data: xr.Dataset) -> Finding:
    measured = kept(data, "energy", OSCILLATING)
    return Finding(
        {f"change by {label}": at_least(value, BROKEN) for label, value in measured.items()}, {"change": measured}
    )


def bounded(data: xr.Dataset) -> Finding:
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for label in OSCILLATING:
        e = np.abs(data.relative_energy_error.sel(oscillating=label))
        n = e.time.size // 10
        growth = float((e[:, -n:].max("time") / e[:, :n].max("time")).max())
        slopes = np.diff(np.log(e.max("time"))) / np.diff(np.log(e.step))
        powers = {f"steps {a:g} to {b:g}": float(x) for a, b, x in zip(STEPS, STEPS[1:], slopes, strict=False)}
        parts[f"{label}: largest error in the last tenth over that in the first"] = at_most(growth, 1.05)
        parts[f"{label}: power of the step with which it falls"] = every(powers, order_is, 2)
        numbers[f"{label}: last tenth / first tenth"] = growth
        numbers[f"{label}: exponent of the step"] = float(slopes[-1])
    return Finding(parts, numbers)


def symmetric(data: xr.Dataset) -> Finding:
    measured = by_method(data.there_and_back)
    present = {
        f"{label}, there and back": at_most(measured[label], EXACT) for label in ("TRAP", "IMID", "TRAPM", "IMIDM")
    }
    return Finding(present, {"there-and-back defect": measured})


def symplectic(data: xr.Dataset, label: str) -> Finding:
    """Judge whether a step of this method preserves the symplectic form, without and with torque."""
    free, torqued = (float(data[name].sel({"method": label})) for name in ("symplectic_free", "symplectic_torqued"))
    parts = {"defect, free body": at_most(free, 10 * KEPT), "defect, with torque": at_most(torqued, 10 * KEPT)}
    return Finding(parts, {"defect of the form, free": by_method(data.symplectic_free),
                           "with torque": by_method(data.symplectic_torqued),
                           "exponent of the step": by_method(data.symplectic_exponent)})  # fmt: skip


def trapezoid(data: xr.Dataset) -> Finding:
    residual = float(data.printed_residual.sel({"method": "BBTRAPWD"}))
    other = float(data.defect_torqued.sel(identity="TRAPM = MKRK trapezoid"))
    parts = {"its step satisfies the equations of BBTRAPWD": at_most(residual, EXACT),
             "distance from TRAPM": at_least(other, BROKEN)}  # fmt: skip
    return Finding(parts, {"residual": residual, "distance from TRAPM": other})


def no_tableau(data: xr.Dataset) -> Finding:
    """Judge whether no weights fit TRAPM's coefficient of h^4; the control, a method with a tableau, is fitted."""
    measured = {
        str(name): {f"h^{n}": float(x) for n, x in zip(data.series_order.values, row.values, strict=True)}
        for name, row in zip(data.series_of.values, data.series_misfit, strict=True)
    }
    parts = {"what all tableaux together leave of TRAPM's coefficient of h^4": at_least(measured["TRAPM"]["h^4"], 1e-2),
             "of the trapezoidal tableau's (which has one)": at_most(measured["trapezoid"]["h^4"], 1e-6)}  # fmt: skip
    return Finding(parts, {f"left of {name}": values for name, values in measured.items()})


def momentum_and_energy(data: xr.Dataset, *labels: str) -> Finding:
    """Judge whether these methods conserve energy and spatial momentum of the free body."""
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for quantity in ("energy", "spatial_momentum"):
        measured, words = kept(data, quantity, labels), quantity.replace("_", " ")
        parts |= {f"{label}: change of {words}": at_most(value, KEPT) for label, value in measured.items()}
        numbers[f"change of {words}"] = measured
    return Finding(parts, numbers)


def akw_top(data: xr.Dataset) -> Finding:
    by_quantity = {name: by_method(data.drift_top.sel(quantity=name)) for name in ("energy", "vertical_momentum")}
    parts = {
        f"change of {name.replace('_', ' ')}": at_most(measured["AKW"], KEPT) for name, measured in by_quantity.items()
    }
    return Finding(parts, {f"change of {name.replace('_', ' ')}": measured for name, measured in by_quantity.items()})


def truncation(data: xr.Dataset) -> Finding:
    energy, order = kept(data, "energy", ("BBTRAP", "BBTRAPWD")), by_method(data.order, ("BBTRAP", "BBTRAPWD"))
    parts = {"change of the energy by BBTRAP": at_most(energy["BBTRAP"], KEPT),
             "by BBTRAPWD": at_least(energy["BBTRAPWD"], BROKEN),
             "orders": every(order, order_is, 2)}  # fmt: skip
    return Finding(parts, {"change of the energy": energy, "order": order})


def same_when_free(data: xr.Dataset) -> Finding:
    free, torqued = (float(data[name].sel(identity="SWC1 = BBTRAP")) for name in ("defect_free", "defect_torqued"))
    parts = {"distance without torque": at_most(free, EXACT), "distance with one": at_least(torqued, BROKEN)}
    return Finding(parts, {"distance, free": free, "distance, with torque": torqued})


FIGURE = Figure("claims", "sections 2 to 4: compositions, adjoints, what is kept", compute, draw, (
    Claim("On a vector space, forward and backward Euler are mutual adjoints", "2", lambda d: vector(d, "(-h)")),
    Claim("Half steps of forward and backward Euler in this order are there the trapezoidal rule (4)", "2",
          vector_trapezoid),
    Claim("In the other order they are the midpoint rule", "2", lambda d: vector(d, "IMID = FE")),
    Claim("The midpoint rule is (5)", "2", vector_midpoint),
    Claim("The midpoint rule and the trapezoidal rule are dynamically equivalent on a vector space", "1, 2",
          lambda d: vector(d, " after TRAP")),
    Claim("Forward and backward Euler are mutual adjoints, in rate and in momentum form", "3.2",
          lambda d: matching(d, "(-h)")),
    Claim("Composed half steps of forward and backward Euler are TRAP and IMID as printed", "3.3, 3.4",
          lambda d: as_printed(d, "TRAP", "IMID")),
    Claim("Neither TRAP nor IMID conserves spatial momenta in free motion", "3.5", no_momentum),
    Claim("IMID conserves kinetic energy in free motion", "3.5", imid_energy),
    Claim("TRAP conserves the midpoint energy exactly, not the energy at the time stations", "3.5", trap_energy),
    Claim("TRAP and IMID, TRAPM and IMIDM are conjugate by half a forward Euler step", "3.5, 3.7",
          lambda d: matching(d, " after TRAP")),
    Claim("The midpoint rules are the trapezoidal ones between half a backward Euler step and its inverse", "3.5, 3.7",
          lambda d: matching(d, " = TRAP")),
    Claim("Composed half steps of the momentum form are TRAPM, IMIDM as printed", "3.6",
          lambda d: as_printed(d, "TRAPM", "IMIDM")),
    Claim("TRAPM and IMIDM conserve spatial momentum in free motion", "3.6, 3.7", momentum),
    Claim("Neither TRAPM nor IMIDM conserves kinetic energy exactly in free motion", "3.7", no_energy),
    Claim("Their energy error oscillates, is bounded for long times, and scales with the step squared", "3.7", bounded),
    Claim("Both pairs are self-adjoint (time symmetric)", "3.7, 6", symmetric),
    Claim("IMIDM is symplectic (numerical evidence and an incomplete proof)", "3.7", lambda d: symplectic(d, "IMIDM")),
    Claim("TRAPM is symplectic (the paper leaves it open: it may or may not be)", "3.7",
          lambda d: symplectic(d, "TRAPM")),
    Claim("IMIDM and its Euler halves are Munthe-Kaas methods with the printed tableaux", "3.7",
          lambda d: identical(d, ["IMIDM = MKRK midpoint", "FE = MKRK forward Euler", "BE = MKRK backward Euler"])),
    Claim("The trapezoidal tableau gives BBTRAPWD, not TRAPM", "3.7, 4", trapezoid),
    Claim("TRAPM does not seem to be associated to any Munthe-Kaas Runge-Kutta method", "3.7", no_tableau),
    Claim("SWC1 conserves momentum and energy of the free body", "4", lambda d: momentum_and_energy(d, "SWC1")),
    Claim("BBTRAP conserves momentum and energy of the free body", "5.1", lambda d: momentum_and_energy(d, "BBTRAP")),
    Claim("AKW conserves spatial momentum and energy of the free body", "4", lambda d: momentum_and_energy(d, "AKW")),
    Claim("AKW conserves the Hamiltonian of the heavy top, and the vertical momentum", "4", akw_top),
    Claim("SWC1, AKW, BBTRAP as implemented satisfy the printed equations", "4",
          lambda d: as_printed(d, "SWC1", "AKW", "BBTRAP")),
    Claim("Truncating the tangent map gives BBTRAP energy conservation and keeps the order", "4", truncation),
    Claim("BBTRAP is identical to the algorithm of Simo and Wong for torque-free motion", "4", same_when_free),
    Claim("Equation (9) is the tangent map of the exponential", "3.1, (9)", lambda d: equation(d, "dexp", 1e-12)),
    Claim("The spatial torque of the top is -20 R(:, 3) x [0; 0; 1]", "5.2",
          lambda d: equation(d, "torque of 5.2", 1e-8)),
))  # fmt: skip
