"""Files and functions stay small: prints files of more than 700 lines, and functions of more than 10 parameters outside
kernels; ends with 1 where there are some.

python .ci/shape.py
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "polhode"
PAPERS = SOURCE.parent / "polhode_papers"

MOST_LINES, MOST_PARAMETERS = 700, 10
TABLES = {"methods/tableaux.py", "methods/splitting_tables.py"}
"""Files of numbers, of any length."""
LONG: set[str] = set()
"""Files that are still longer; none may join them, and one that no longer is has to leave."""
FRONT_DOORS = {
    "runs/integrate.py: integrate", "ensembles/ensemble.py: ensemble",
    "cli/run.py: command", "cli/view.py: command", "cli/export.py: command", "cli/sweep.py: command",
    "cli/animate.py: command",
    "systems/dipoles.py: dipoles",
    "systems/spacecraft.py: spacecraft", "systems/orbit.py: orbit", "systems/heavy_top.py: heavy_top",
    "systems/particle.py: particle",
    "trajectory/export.py: oem", "trajectory/export.py: aem",
    "runs/scenario/initial_state.py: given_state",
    "estimation/batch.py: fit", "estimation/kalman.py: kalman", "cli/fit.py: command", "cli/chaos.py: command",
    "gradients/reverse.py: gradient", "bodies/wheels.py: reaction_wheels", "systems/rigid_body.py: rigid_body",
    "surroundings/magnetic.py: magnetic_field",
    "systems/controllers.py: controller", "systems/devices.py: sunlight", "systems/events.py: eclipse",
    "systems/forces/surfaces.py: radiation_pressure",
}  # fmt: skip
"""What users call, with an argument for everything they may say."""


def kernels(tree: ast.Module) -> set[str]:
    """Names of functions that numba compiles: decorated by ``inlined`` or ``helper``, without annotations, or put into
    one of these by name."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            decorated = any("inlined" in ast.unparse(d) or "helper" in ast.unparse(d) for d in node.decorator_list)
            if decorated or not any(one.annotation for one in every):
                found.add(node.name)
    return found


def functions(path: Path) -> Iterator[tuple[ast.FunctionDef, int]]:
    """Functions of a file that are no kernels, with the number of their parameters, ``self`` not counted."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    compiled = kernels(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in compiled:
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            yield node, sum(one.arg not in ("self", "cls") for one in every)


def main() -> int:
    found = []
    for path in sorted([*SOURCE.rglob("*.py"), *PAPERS.rglob("*.py")]):
        name = path.relative_to(PAPERS if PAPERS in path.parents else SOURCE).as_posix()
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MOST_LINES and name not in TABLES | LONG:
            found.append(f"{path}: {lines} lines, more than {MOST_LINES}; divide it")
        if lines <= MOST_LINES and name in LONG:
            found.append(f"{path}: no longer too long; take it off the list in {Path(__file__).name}")
        for node, count in functions(path):
            if count > MOST_PARAMETERS and f"{name}: {node.name}" not in FRONT_DOORS:
                found.append(f"{path}:{node.lineno}: {node.name} has {count} parameters, more than {MOST_PARAMETERS}")
    found += [f"{SOURCE / name} is on the list of long files, and does not exist" for name in sorted(LONG)
              if not (SOURCE / name).exists()]  # fmt: skip
    print("\n".join(found), end="\n" * bool(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
