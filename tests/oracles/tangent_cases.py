"""Acceptance data of tangent maps: writes ``tests/data/tangent_maps.json``.

    python tests/oracles/tangent_cases.py            # all cases: 4 minutes with gmpy2 installed, else 12
    python tests/oracles/tangent_cases.py dipoles    # only those whose name contains a word; the others stay

Each case is computed by ``tangent_maps`` in 64 digits: states and transition matrices after the numbers of steps in
``rows``, written with 17. Maps that are symplectic must be so to 1e-25 of their size, else nothing is written; with
``--check`` all results are computed once more in 74 digits, and must be the same.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import mpmath as mp

import tangent_maps

DATA = Path(__file__).parents[1] / "data" / "tangent_maps.json"

TILTED = [0.7, 0.1, -0.5, 0.5]
LYING = [0.4, 0.8, -0.4, 0.2]
GENERAL = [1.0, 1.7, 2.4]
TENSOR = [[2.0, 0.15, -0.1], [0.15, 3.0, 0.25], [-0.1, 0.25, 4.0]]
EARTH, OBLATE = 398600.4415, {"kind": "zonal", "J2": 1.08262668e-3, "radius": 6378.1363, "axis": [0.0, 0.0, 1.0]}
AIR = {"kind": "drag", "coefficient": 2e-8, "density": 0.3, "radius": 6778.0, "scale": 60.0, "rotation": 7.29e-5,
       "axis": [0.0, 0.0, 1.0]}  # fmt: skip
LOW = {"position": [6778.0, 150.0, -300.0], "momentum": [2.0, 45.0, 61.0]}
"""Of 10 kg, km and s."""

FREE = {
    "system": "free_body",
    "arguments": {"inertia": GENERAL},
    "start": {"attitude": TILTED, "angular_momentum": [0.4, 1.1, -0.7]},
    "parameters": ["inertia.0", "inertia.1", "inertia.2"],
}
TOP = {
    "system": "heavy_top",
    "arguments": {"inertia": [1.5, 1.9, 0.8], "center_of_mass": [0.05, -0.1, 0.4], "weight": 3.0},
    "start": {"attitude": TILTED, "angular_momentum": [0.3, -0.5, 2.0]},
    "parameters": ["weight", "center_of_mass.0", "center_of_mass.2", "inertia.0", "inertia.1", "inertia.2"],
}
SKEW_TOP = TOP | {
    "arguments": {"inertia": TENSOR, "center_of_mass": [0.3, -0.2, 0.5], "weight": 4.0},
    "parameters": ["weight", "center_of_mass.1", "inertia.0.0", "inertia.0.1", "inertia.1.2"],
}
SATELLITE = {
    "system": "gravity_gradient",
    "arguments": {"inertia": [17e3, 37e3, 54e3], "mu": 3.986e14, "radius": 6.9e6},
    "start": {"attitude": LYING, "angular_momentum": [40.0, 55.0, -30.0]},
    "parameters": ["mu", "radius", "inertia.0", "inertia.2"],
}
ORBIT = {
    "system": "orbit",
    "arguments": {"mu": EARTH, "mass": 10.0, "forces": [OBLATE]},
    "start": LOW,
    "parameters": ["mu", "forces.0.J2", "mass"],
}
DRAGGED = ORBIT | {
    "arguments": {"mu": EARTH, "mass": 10.0, "forces": [OBLATE, AIR]},
    "parameters": ["mu", "forces.0.J2", "forces.1.coefficient", "forces.1.scale"],
}
CRAFT = {
    "system": "spacecraft",
    "arguments": {
        "inertia": [1.2, 2.1, 2.8],
        "mu": 1.0,
        "mass": 5.0,
        "forces": [{"kind": "zonal", "J2": 0.01, "radius": 0.9, "axis": [0.0, 0.0, 1.0]}],
    },
    "start": {
        "position": [3.0, 0.4, -0.5],
        "momentum": [0.3, 2.4, 1.2],
        "attitude": LYING,
        "angular_momentum": [0.5, -0.3, 0.8],
    },
    "parameters": ["mu", "inertia.0", "inertia.1", "inertia.2", "forces.0.J2"],
}
PAIR = {"system": "dipoles", "arguments": {"n": 2, "mass": 1.0, "inertia": [1.0, 1.88, 2.88], "dipole": [0.0, 1.0, 1.0],
                                          "sigma": 1.0, "epsilon": 1.0},
        "start": {"position": [[0.0, 0.0, 0.0], [1.1, 0.3, -0.2]], "momentum": [[0.1, -0.2, 0.3], [-0.3, 0.1, 0.2]],
                  "attitude": [TILTED, LYING], "angular_momentum": [[0.5, 0.2, -0.4], [-0.3, 0.6, 0.8]]},
        "parameters": []}  # fmt: skip
DAMPED = {
    "system": "damped_body",
    "arguments": {"inertia": TENSOR, "parameters": [0.2, 0.7, 1.3]},
    "start": {"attitude": TILTED, "angular_momentum": [1.0, -2.0, 3.0]},
    "parameters": ["parameters.0", "parameters.1", "parameters.2"],
}
FIELD = {
    "system": "in_a_field",
    "arguments": {"inertia": TENSOR, "parameters": [0.8, -0.5]},
    "start": {"attitude": LYING, "angular_momentum": [1.0, -2.0, 3.0]},
    "parameters": ["parameters.0", "parameters.1"],
}

STEPS = {
    "free_body": 0.3,
    "heavy_top": 0.1,
    "gravity_gradient": 60.0,
    "orbit": 120.0,
    "spacecraft": 0.2,
    "dipoles": 0.02,
    "damped_body": 0.1,
    "in_a_field": 0.1,
}
KEPLER = ("orbit", "spacecraft")
SYMPLECTIC = ("free_body", "heavy_top", "gravity_gradient", "orbit", "spacecraft", "dipoles", "in_a_field")


def with_body(base, inertia, momentum):
    """A case with another body and spin."""
    return base | {
        "arguments": base["arguments"] | {"inertia": inertia},
        "start": base["start"] | {"angular_momentum": momentum},
    }


def cases():
    """Cases by name."""
    found = {}

    def case(name, base, method, rows=(1, 4), step=None, **other):
        found[name] = base | {"method": method, "step": step or STEPS[base["system"]], "rows": list(rows), **other}

    bodies = {"free": FREE, "top": TOP, "satellite": SATELLITE, "j2": ORBIT, "craft": CRAFT, "dipoles": PAIR}
    for method in ("v2", "s4_6", "rkn6_14a", "kl8", "aba10_6_4/kepler", "dmv6", "taylor14"):
        for name, base in bodies.items():
            kepler = base["system"] in KEPLER
            word = method if kepler or "/" not in method else method.partition("/")[0]
            if (name == "dipoles" and method == "taylor14") or (name == "j2" and method == "dmv6"):
                continue  # no program of pairs; no body
            if name == "free" and method not in ("v2", "dmv6", "taylor14"):
                continue  # one flow of the free body, in pieces
            case(f"{name}-{method}".replace("/", "+"), base, word, (1, 3) if name == "dipoles" else (1, 4))
    case("skew_top-rkn6_14a", SKEW_TOP, "rkn6_14a")
    case("skew_top-dmv6", SKEW_TOP, "dmv6")
    case("skew_top-taylor14", SKEW_TOP, "taylor14")
    nearly = {
        "inertia": [[2.0, 0.0, 0.0], [0.0, 2.01, 0.0], [0.0, 0.0, 1.0]],
        "center_of_mass": [0.3, -0.2, 0.5],
        "weight": 4.0,
    }
    case("nearly_top-v2", TOP, "v2", arguments=nearly, parameters=["inertia.0.1"])
    case("free_symmetric-v2", with_body(FREE, [2.0, 2.0, 1.0], [0.4, 1.1, -0.7]), "v2")
    case("free_sphere-v2", with_body(FREE, [1.5, 1.5, 1.5], [0.4, 1.1, -0.7]), "v2")
    case("free_nearly-v2", with_body(FREE, [2.0, 2.000001, 1.0], [0.4, 1.1, -0.7]), "v2")
    case("free_separatrix-v2", with_body(FREE, [1.0, 2.0, 3.0], [1e-7, 2.0, 1e-7]), "v2", (1, 20), 1.0)
    case("free_axis-v2", with_body(FREE, [1.0, 2.0, 3.0], [0.0, 0.0, 2.0]), "v2")
    case("free_rest-v2", with_body(FREE, [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]), "v2")
    case("free_long-v2", FREE, "v2", (1, 3), 20.0)
    for method in ("mkrk:rk4", "mkrk:gauss4", "mkrk:midpoint"):
        for name in ("top", "j2", "craft"):
            case(f"{name}-{method}".replace(":", "_"), bodies[name], method, (1, 3))
    case("top-taylor6", TOP, "taylor6", step=0.4)
    case("skew_top-taylor6", SKEW_TOP, "taylor6", step=0.4)
    case("top-fg6_5", TOP, "fg6_5")
    case("top-mr", TOP, "mr")
    case("top-implicit_midpoint", TOP, "implicit_midpoint")
    case("top-sp6", TOP, "sp6")
    case("j2-wisdom5+kepler", ORBIT, "wisdom5/kepler")
    case("j2-rkn6_14a+kepler", ORBIT, "rkn6_14a/kepler")
    case("craft-rkn6_14a+kepler", CRAFT, "rkn6_14a/kepler")
    case("drag-s4_6+kepler", DRAGGED, "s4_6/kepler")
    case("drag-rkn6_14a", DRAGGED, "rkn6_14a")
    case("drag-taylor14", DRAGGED, "taylor14")
    case("damped-s4_6", DAMPED, "s4_6")
    case("damped-mkrk_gauss4", DAMPED, "mkrk:gauss4")
    case("damped-taylor14", DAMPED, "taylor14")
    case("field-v2", FIELD, "v2")
    case("field-rkn6_14a", FIELD, "rkn6_14a")
    case("field-taylor14", FIELD, "taylor14")
    return found


def is_symplectic(case):
    """Whether the map of a case is symplectic: a splitting of exact or symplectic flows without moving loads."""
    method, forces = case["method"], case["arguments"].get("forces", ())
    return (
        case["system"] in SYMPLECTIC and not method.startswith(("taylor", "mkrk", "implicit", "dmv6"))
        and all(one["kind"] == "zonal" for one in forces)
    )  # fmt: skip


def rounded(x):
    return float(mp.nstr(x, 17))


def result(case, digits=tangent_maps.DIGITS):
    """The case with ``states`` and ``matrices``, checked, and its symplectic error (None where it has none)."""
    with mp.workdps(digits):
        found = tangent_maps.transition(case)
        start = tangent_maps.bodies_of(
            tangent_maps.MODELS[case["system"]](tangent_maps.precise(case["arguments"])),
            tangent_maps.precise(case["start"]),
        )
        error = None
        if is_symplectic(case):
            error = float(max(tangent_maps.symplectic_error(start, end, matrix) for end, matrix in found))
            if error > 1e-25:
                raise ArithmeticError(f"not symplectic: {error:.1e}")
        states = [[[rounded(x) for part in (b.r, b.p, b.q, b.m) for x in part or ()] for b in end] for end, _ in found]
        matrices = [[[rounded(matrix[i, j]) for j in range(matrix.cols)] for i in range(matrix.rows)]
                    for _, matrix in found]  # fmt: skip
    return case | {"states": states, "matrices": matrices}, error


def written(results):
    """JSON with one line for each row of a matrix."""
    blocks = []
    for name, one in results.items():
        short = {key: value for key, value in one.items() if key not in ("states", "matrices")}
        rows = [
            "[\n    " + ",\n    ".join(json.dumps(row, separators=(",", ":")) for row in matrix) + "]"
            for matrix in one["matrices"]
        ]
        blocks.append(
            f' "{name}": {{\n  "case": {json.dumps(short)},\n  "states": {json.dumps(one["states"])},\n'
            f'  "matrices": [{", ".join(rows)}]}}'
        )
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def read():
    """Cases by name, with states and matrices."""
    return {
        name: one["case"] | {key: one[key] for key in ("states", "matrices")}
        for name, one in json.loads(DATA.read_text()).items()
    }


if __name__ == "__main__":
    words, old = [word for word in sys.argv[1:] if word != "--check"], read() if DATA.exists() else {}
    results = {}
    for name, case in cases().items():
        if words and not any(word in name for word in words):
            if name in old:
                results[name] = old[name]
            continue
        began = time.perf_counter()
        results[name], error = result(case)
        if "--check" in sys.argv:
            again, _ = result(case, tangent_maps.DIGITS + 10)
            if again != results[name]:
                raise ArithmeticError(f"{name} depends on the digits")
        symplectic = "" if error is None else f", symplectic to {error:.0e}"
        print(f"{name}: {time.perf_counter() - began:.1f} s{symplectic}", flush=True)
        DATA.write_text(written(results | {k: v for k, v in old.items() if k not in results}))
    DATA.write_text(written(results))
