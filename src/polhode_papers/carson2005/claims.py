"""Claims that belong to no figure: table 1, the proofs, the solution by Newton's method.

z = (q, p) in km and kg km/s, for a mass of 1 kg; J = [[0, I], [-I, 0]].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_least, at_most, rising, within
from polhode_papers.drawing import BLUE, GREY, VERMILION, Pictures, canvas
from polhode_papers.measure import named, relative_energy_error
from polhode_papers.study import Claim, Figure, Finding, Reporter

PRINTED = {common.CIRCULAR: -0.96182211, common.ELLIPTIC: -0.72136658}  # [carson2005, table 1]
MOMENTA = ("as printed", "before it was rounded")
DIGIT = 1e-8  # the last one of the printed energies
# speeds (km/s) of an exact circle and at the periapsis of an orbit of eccentricity 1/4
CIRCLE, QUARTER = np.sqrt(common.MU / common.R0), np.sqrt(1.25 * common.MU / common.R0)
H = 100.0  # step of the one-step measurements, s
EXACT = 1e-12  # relative, equal up to round-off
BROKEN = 1e-6
BLOCK = slice(0, 6)
J = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
LADDER = (1.0, 10.0, 60.0, 200.0)
SCALE = np.repeat([common.R0, CIRCLE], 3)  # units of positions (km) and momenta (kg km/s)


# ------------------------------------------------------------------ the formulas of the paper
def gradient(z: Any) -> Any:
    """Gradient of H [carson2005, eq. 1]."""
    q = z[:3]
    return np.concatenate([common.MU * q / np.linalg.norm(q) ** 3, z[3:]])


def hessian(z: Any) -> Any:
    q = z[:3]
    r = np.linalg.norm(q)
    result = np.eye(6)
    result[:3, :3] = common.MU / r**3 * (np.eye(3) - 3.0 * np.outer(q, q) / r**2)
    return result


def factor(z: Any, h: float) -> Any:
    """The matrix A at the midpoint of a step [carson2005, eq. 5]."""
    return 0.5 * h * J @ hessian(z)


def cayley(A: Any) -> Any:
    """(I - A)^-1 (I + A) [carson2005, eq. 6]."""
    return np.linalg.solve(np.eye(6) - A, np.eye(6) + A)


def newton(z: Any, h: float, jacobian: Callable[[Any], Any], most: int = 100) -> tuple[int, Any]:
    """Number of iterations of (7) and (8) from the guess z until round-off (``most`` if not reached), and the state."""
    guess = z.copy()
    for k in range(most):
        f = guess - z - h * J @ gradient(0.5 * (guess + z))  # [carson2005, eq. 7]
        if not np.isfinite(f).all():
            return most, guess
        if np.abs(f / SCALE).max() < 1e-14:
            return k, guess
        guess = guess - np.linalg.solve(jacobian(factor(0.5 * (guess + z), h)), f)  # [carson2005, eq. 8]
    return most, guess


def force(q: Any) -> Any:
    """-grad V at positions (..., 3), V = -mu/|q|."""
    return -common.MU * q / np.linalg.norm(q, axis=-1, keepdims=True) ** 3


def slots(a: Any, b: Any, h: float, alpha: float = 0.5) -> tuple[Any, Any]:
    """D1 and D2 of L_d^{sym,alpha}(a, b) at rows of positions [carson2005, eq. 14; eqs. 16 and 17 for alpha = 1/2]."""
    near, far = force((1.0 - alpha) * a + alpha * b), force(alpha * a + (1.0 - alpha) * b)
    velocity = (b - a) / h
    return (0.5 * h * ((1.0 - alpha) * near + alpha * far) - velocity,
            0.5 * h * (alpha * near + (1.0 - alpha) * far) + velocity)  # fmt: skip


def residuals(ds: xr.Dataset, alpha: float = 0.5) -> dict[str, float]:
    """Residuals of a run in the discrete equations with this alpha, relative to the smallest momentum."""
    q, p = ds.position.values, ds.momentum.values
    D1, D2 = slots(q[:-1], q[1:], common.STEP, alpha)
    size = np.linalg.norm(p, axis=1).min()
    defects = {"(12)": D1[1:] + D2[:-1], "(18)": p[:-1] + D1, "(19)": p[1:] - D2}
    return {name: float(np.abs(x).max() / size) for name, x in defects.items()}


# ------------------------------------------------------------------ measurements
def step_of(label: str, h: float) -> Callable[[Any], Any]:
    """One step of a method as a map of z."""
    system = ph.orbit(common.MU)
    y = ph.runs.start_state(system, **common.STARTS[common.ELLIPTIC])
    take_steps = ph.checks.stepper(common.METHODS.get(label, label), system, y)

    def step(z: Any) -> Any:
        state = y.copy()
        state[BLOCK] = z
        return take_steps(state, 0.0, h)[BLOCK]

    return step


def derivative(f: Callable[[Any], Any], z: Any) -> Any:
    """Jacobian of a map at z, by differences of order 6 in units of ``SCALE``."""
    columns = []
    for k in range(6):
        d = np.zeros(6)
        d[k] = 2e-3 * SCALE[k]
        parts = [w * (f(z + n * d) - f(z - n * d)) for n, w in ((1, 45.0), (2, -9.0), (3, 1.0))]
        columns.append(sum(parts) / (60.0 * d[k]))
    return np.array(columns).T


def scaled(M: Any) -> Any:
    """A Jacobian in units of ``SCALE``."""
    return M * SCALE / SCALE[:, None]


def symplectic_defect(M: Any) -> float:
    """Largest entry of M^T J M - J, in units of ``SCALE``."""
    return float(np.abs((M.T @ J @ M - J) * np.outer(SCALE, SCALE)).max() / (common.R0 * CIRCLE))


def transforms(count: int = 20) -> tuple[float, float]:
    """Largest entry of M^T J M - J over Cayley transforms M of random Hamiltonian matrices J S; smallest of others."""
    random = np.random.default_rng(0)
    results: dict[bool, list[float]] = {True: [], False: []}
    for S in random.normal(size=(count, 6, 6)) / 6.0:
        for symmetric, A in ((True, J @ (S + S.T) / 2.0), (False, S)):
            M = cayley(A)
            results[symmetric].append(float(np.abs(M.T @ J @ M - J).max()))
    return max(results[True]), min(results[False])


def of_motion(t: float, h: float = 0.5) -> tuple[float, float]:
    """Residuals of velocity (km/s) and acceleration (km/s^2) of J grad H on the conic, by differences."""
    (q0, _), (q1, _), (q2, _) = (common.conic(common.ELLIPTIC, t + k * h) for k in (-1, 0, 1))
    slope = J @ gradient(np.concatenate(common.conic(common.ELLIPTIC, t)))
    return (float(np.abs((q2 - q0) / (2 * h) - slope[:3]).max()),
            float(np.abs((q2 - 2 * q1 + q0) / h**2 - slope[3:]).max()))  # fmt: skip


def symplectic_euler(z: Any, h: float) -> Any:
    """One step of symplectic Euler: p += h f(q), then q += h p."""
    p = z[3:] - h * gradient(z)[:3]
    return np.concatenate([z[:3] + h * p, p])


def first_order(h: float) -> float:
    """Distance (km) from the conic after an hour by symplectic Euler."""
    z = np.concatenate([*common.STARTS[common.ELLIPTIC].values()])
    for _ in range(round(3600.0 / h)):
        z = symplectic_euler(z, h)
    return float(np.linalg.norm(z[:3] - common.conic(common.ELLIPTIC, 3600.0)[0]))


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    z = np.concatenate([*common.STARTS[common.ELLIPTIC].values()])
    report_progress("one step")
    labels = (common.SYMPLECTIC, common.RK4, common.HEUN)
    jacobians = {label: derivative(step_of(label, H), z) for label in labels}
    step = step_of(common.SYMPLECTIC, H)
    middle = 0.5 * (z + step(z))
    A = factor(middle, H)
    f_of_7 = derivative(lambda x: x - z - H * J @ gradient(0.5 * (x + z)), step(z))
    right, wrong = (lambda A: np.eye(6) - A), cayley
    solved = [[newton(z, h, way) for h in LADDER] for way in (right, wrong)]
    ends = [step_of(common.SYMPLECTIC, h)(z) for h in LADDER]
    difference = [float(np.abs((x - end) / SCALE).max()) for (_, x), end in zip(solved[0], ends, strict=True)]
    report_progress("a day")
    day, end = common.run(common.SYMPLECTIC, common.ELLIPTIC), common.conic(common.ELLIPTIC, common.DAY)[0]
    residual = residuals(day)
    verlet = common.run(common.VERLET, common.ELLIPTIC)  # Stoermer-Verlet is alpha = 0
    residual["verlet in (12)"] = residuals(verlet)["(12)"]
    steps = (40.0, 20.0, 10.0, 5.0)
    last = [common.last(common.SYMPLECTIC, common.ELLIPTIC, step=h).position.values for h in steps]
    errors = [float(np.linalg.norm(x - end)) for x in last]
    hamiltonian_matrices, general_matrices = transforms()
    velocity, acceleration = of_motion(1000.0)
    momentum = day.angular_momentum_space[:, 2]
    speeds = {common.CIRCULAR: CIRCLE, common.ELLIPTIC: QUARTER}
    vectors = [ph.kepler.eccentricity_vector(x["position"], x["momentum"], common.MU) for x in common.STARTS.values()]
    single = {
        "skew": float(np.abs(J @ A + A.T @ J).max()),
        "jacobian_against_6": float(np.abs(scaled(jacobians[common.SYMPLECTIC] - cayley(A))).max()),
        "jacobian_of_7_against_I_minus_A": float(np.abs(scaled(f_of_7 - (np.eye(6) - A))).max()),
        "jacobian_of_7_against_6": float(np.abs(scaled(f_of_7 - cayley(A))).max()),
        "smallest_singular_value": float(np.linalg.svd(scaled(np.eye(6) - A))[1].min()),
        "cayley_of_hamiltonian": hamiltonian_matrices,
        "cayley_of_general": general_matrices,
        "velocity": velocity,
        "acceleration": acceleration,
        "euler_defect": symplectic_defect(derivative(lambda x: symplectic_euler(x, H), z)),
        "euler_order": common.order_of((2.0, 1.0, 0.5), [first_order(h) for h in (2.0, 1.0, 0.5)]),
        "order": common.order_of(steps, errors),
        "momentum_drift": float(np.abs(momentum / momentum[0] - 1.0).max()),
        "energy_drift": float(np.abs(relative_energy_error(day)).max()),
    }
    return xr.Dataset(
        {
            "defect": ("scheme", [symplectic_defect(M) for M in jacobians.values()]),
            "iterations": (("by", "step"), [[count for count, _ in row] for row in solved]),
            "newton_apart": ("step", difference),
            "residual": ("equation", list(residual.values())),
            "measured": ("quantity", list(single.values())),
            "energy": (("orbit", "momentum"), [[common.energy_of(x), speeds[x] ** 2 / 2 - common.MU / common.R0]
                                               for x in common.STARTS]),
            "eccentricity": ("orbit", np.linalg.norm(vectors, axis=1)),
        },
        {"scheme": list(labels), "by": ["I - A", "(6)"], "step": list(LADDER), "equation": list(residual),
         "quantity": list(single), "orbit": list(common.STARTS), "momentum": list(MOMENTA)},
        {"one-step measurements": f"a step of {H:g} s from the start of the elliptic orbit; lengths in units of "
                                  f"{common.R0:g} km, momenta of {CIRCLE:.6g} kg km/s"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, right),) = canvas(1, 2, width=9.6, height=3.6)
    names = [str(x) for x in data.scheme.values] + ["(12)", "(18)", "(19)"]
    values = [*data.defect.values, *data.residual.values[:3]]
    left.barh(names[::-1], values[::-1], color=[VERMILION if v > 1e-11 else BLUE for v in values[::-1]], height=0.6)
    left.set(xscale="log", xlim=(1e-17, 1.0), title="defects: $M^TJM = J$; discrete equations")
    for way, colour in zip(data.by.values, (BLUE, VERMILION), strict=True):
        right.semilogx(data.step, data.iterations.sel(by=way), "o-", color=colour, label=f"Jacobian {way}")
    right.set(xlabel="step (s)", title="Newton iterations to round-off", ylim=(0, None))
    right.set_xticks(data.step, [f"{h:g}" for h in data.step.values])
    right.minorticks_off()
    right.axhline(0, color=GREY, linewidth=0.5)
    right.legend(frameon=False)
    return {"claims": picture}


# ------------------------------------------------------------------ verdicts
def measured(data: xr.Dataset, name: str) -> float:
    return float(data.measured.sel(quantity=name))


def table(data: xr.Dataset) -> Finding:
    """The printed energies are those of the printed momenta, rounded, or of unrounded ones, cut off towards zero."""
    energy = {x: {m: float(data.energy.sel(orbit=x, momentum=m)) for m in MOMENTA} for x in PRINTED}
    cut = {x: -float(np.floor(abs(energy[x][MOMENTA[1]]) / DIGIT)) * DIGIT for x in PRINTED}
    ways = (("printed momentum", {x: energy[x][MOMENTA[0]] for x in PRINTED}, DIGIT / 2),
            ("momentum before it was rounded, cut off", cut, DIGIT / 100))  # fmt: skip
    parts = {f"{x}, from the {words}: difference": at_most(abs(values[x] - E), bound)
             for words, values, bound in ways for x, E in PRINTED.items()}  # fmt: skip
    return Finding(parts, {f"from the momentum {m}": {x: f"{energy[x][m]:.11f}" for x in PRINTED} for m in MOMENTA})


def conics(data: xr.Dataset) -> Finding:
    e, energy = named(data.eccentricity), named(data.energy.sel(momentum=MOMENTA[0]))
    parts = {"both energies are negative": at_most(max(energy.values()), 0.0),
             "one orbit is a circle, to the digits printed": at_most(e[common.CIRCULAR], 1e-6),
             "the other is an ellipse": within(e[common.ELLIPTIC], 0.01, 1.0)}  # fmt: skip
    return Finding(parts, {"eccentricity": e, "energy": energy})


def hamiltonian(data: xr.Dataset) -> Finding:
    """J grad H is velocity and acceleration on the conic, up to what differences leave."""
    return Finding({"velocity, km/s: difference": at_most(measured(data, "velocity"), 1e-6),
                    "acceleration, km/s^2: difference": at_most(measured(data, "acceleration"), 1e-9)},
                   {"compared": "with differences of positions on the conic"})  # fmt: skip


def transform(data: xr.Dataset) -> Finding:
    parts = {"M^T J M - J of Hamiltonian matrices, largest": at_most(measured(data, "cayley_of_hamiltonian"), EXACT),
             "of general ones, smallest": at_least(measured(data, "cayley_of_general"), BROKEN)}  # fmt: skip
    return Finding(parts, {"matrices": "20 random ones of either kind"})


def symplectic(data: xr.Dataset) -> Finding:
    defect = named(data.defect)
    ours, theirs = defect[common.SYMPLECTIC], min(defect[common.RK4], defect[common.HEUN])
    seen = rising({common.SYMPLECTIC: ours, "the smaller of theirs": theirs}, 1e4)
    parts = {"the Jacobian of a step keeps the form": at_most(ours, 1e-11),
             "the measurement sees that RK4's and RK2's do not": seen}  # fmt: skip
    return Finding(parts, {"M^T J M - J": defect})


def skew(data: xr.Dataset) -> Finding:
    names = ("skew", "smallest_singular_value", "jacobian_against_6")
    defect, smallest, difference = (measured(data, name) for name in names)
    parts = {
        "J A + A^T J = 0": at_most(defect, EXACT),
        "I - A is invertible": at_least(smallest, 0.1),
        "the Jacobian of the step is (I - A)^-1 (I + A)": at_most(difference, 1e-11),
    }
    numbers = {"J A + A^T J": defect, "smallest singular value of I - A": smallest, "Jacobian less (6)": difference}
    return Finding(parts, numbers)


def of_equation(data: xr.Dataset, name: str) -> float:
    return float(data.residual.sel(equation=name))


def theorem(data: xr.Dataset) -> Finding:
    values = {name: of_equation(data, name) for name in ("(12)", "(18)", "(19)")}
    other = of_equation(data, "verlet in (12)")
    parts = {f"{name} to round-off, at every step of a day": at_most(x, EXACT) for name, x in values.items()}
    parts["Verlet's path, of alpha = 0, does not satisfy (12) with alpha = 1/2"] = at_least(other, 1e3 * EXACT)
    return Finding(parts, {"largest residual, relative to the momentum": values, "Verlet": other})


def by_step(data: xr.Dataset, way: str) -> dict[str, float]:
    """Iterations with this Jacobian, by step."""
    return {f"{h:g} s": float(n) for h, n in zip(data.step.values, data.iterations.sel(by=way).values, strict=True)}


def implicit(data: xr.Dataset) -> Finding:
    counts = by_step(data, "I - A")
    difference = float(data.newton_apart.max())
    parts = {"few iterations from the guess z_n (at most 4 up to 60 s)": at_most(max(list(counts.values())[:3]), 4),
             "the state is that of the integrator used here": at_most(difference, EXACT)}  # fmt: skip
    return Finding(parts, {"iterations": counts, "largest difference": difference})


def printed_jacobian(data: xr.Dataset) -> Finding:
    """f' is (6) as printed; it is I - A, with which the iteration is the faster one at every step."""
    counts = {way: by_step(data, way) for way in map(str, data.by.values)}
    right, wrong = measured(data, "jacobian_of_7_against_I_minus_A"), measured(data, "jacobian_of_7_against_6")
    share = float((data.iterations.sel(by="I - A") / data.iterations.sel(by="(6)")).max())
    return Finding({"f' less (6)": at_most(wrong, 1e-9)}, {"iterations to round-off": counts}, {
        "f' less I - A": at_most(right, 1e-9),
        "iterations with I - A over those with (6), largest": at_most(share, 1.0),
    })  # fmt: skip


def first(data: xr.Dataset) -> Finding:
    order = measured(data, "order")
    return Finding({"order 1": common.keeps(order, 1)}, {"order": order}, {"order 2": common.keeps(order, 2)})


def lowest(data: xr.Dataset) -> Finding:
    """Symplectic Euler is the counterexample, if it is both symplectic and of order 1."""
    defect, order = measured(data, "euler_defect"), measured(data, "euler_order")
    return Finding(
        {"symplectic Euler, of lower order, is not symplectic": at_least(defect, BROKEN)},
        {"defect": defect, "order": order},
        {"the lowest is symplectic Euler: symplectic": at_most(defect, 1e-11), "of order 1": common.keeps(order, 1)},
    )


def intrinsic(data: xr.Dataset) -> Finding:
    momentum, energy = measured(data, "momentum_drift"), measured(data, "energy_drift")
    parts = {"angular momentum": at_most(momentum, EXACT), "energy": at_most(energy, EXACT)}
    return Finding(parts, {"largest change of the angular momentum, relative": momentum, "of the energy": energy})


CLAIMS = (
    Claim("These numerical techniques intrinsically conserve energy, momentum, the Hamiltonian", "abstract", intrinsic),
    Claim(
        "The Hamiltonian governs the equations of motion: velocity p/m, acceleration -mu q / q^3",
        "(1), (2)",
        hamiltonian,
    ),
    Claim("The midpoint rule is symplectic", "prop. 1", symplectic),
    Claim("Its Jacobian is (I - A)^-1 (I + A), where A is Hamiltonian, provided I - A is invertible", "(4)-(6)", skew),
    Claim("The Cayley transform of a matrix is symplectic if and only if the matrix is Hamiltonian", "(6)", transform),
    Claim("The implicit equation can be solved by Newton's method from the guess z_n", "(7), (8)", implicit),
    Claim("The Jacobian of f in (7) is given by equation 6", "(8)", printed_jacobian),
    Claim("The midpoint rule is variational, with the discrete Lagrangian L^{sym,1/2}", "theorem 1", theorem),
    Claim("The symplectic integration scheme from equation 3 is first-order", "circular orbits", first),
    Claim("The midpoint rule is the lowest-order symplectic integrator", "future steps", lowest),
    Claim("Table 1: the energies that the initial conditions set", "table 1", table),
    Claim("The energies are negative, which corresponds to circular and elliptic orbits", "table 1", conics),
)
FIGURE = Figure("claims", "table 1 and the proofs", compute, draw, CLAIMS)
