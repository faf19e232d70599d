"""Files, functions and folders stay small: prints files of more than 700 lines, functions of more than 10 parameters
outside kernels, folders of more lines or statements than SIZES says, and more than 500 times Any where a type could
stand; ends with 1 where there are some.

    python .ci/shape.py           # also how large all is
    python .ci/shape.py --less    # writes the present sizes into the table, where they are smaller

Lines are physical ones at a width of 120 of every .py, .js and .css of our own, statements those of Python without
docstrings. A change may lower a number; it raises one by hand, and only for a capability that it names.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "polhode"
PAPERS = SOURCE.parent / "polhode_papers"

MOST_LINES, MOST_PARAMETERS, MOST_ANY = 700, 10, 501
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
    "runs/state.py: given_state",
    "estimation/batch.py: fit", "estimation/kalman.py: kalman", "cli/fit.py: command", "cli/chaos.py: command",
    "gradients/derivative.py: gradient", "bodies/wheels.py: reaction_wheels", "systems/rigid_body.py: rigid_body",
    "surroundings/magnetic.py: magnetic_field",
    "systems/controllers.py: controller", "systems/devices.py: sunlight", "systems/events.py: eclipse",
    "systems/forces/kinds.py: radiation_pressure",
}  # fmt: skip
"""What users call, with an argument for everything they may say."""


SIZES = {
    "algebra": (6476, 2317),
    "arguments": (719, 432),
    "bodies": (1952, 766),
    "chaos": (791, 382),
    "checks": (2041, 950),
    "cli": (2779, 1373),
    "ensembles": (6938, 4275),
    "estimation": (3714, 2093),
    "flows": (5221, 3191),
    "gradients": (843, 495),
    "joints": (391, 118),
    "kernel": (10756, 7032),
    "loads": (2148, 677),
    "methods": (7847, 3730),
    "plots": (5287, 3380),
    "polhode": (2007, 989),
    "polhode_papers": (14724, 8208),
    "programs": (6270, 3984),
    "runs": (13070, 7867),
    "surroundings": (2602, 1183),
    "systems": (14341, 7514),
    "trajectory": (7364, 3791),
    "viewer": (4856, 1195),
}
"""Lines and statements of each folder, at most."""
WIDTH = 120
OTHERS = {"three.min.js"}
"""Files that somebody else has written."""


def size_of(paths: list[Path]) -> tuple[int, int]:
    """Lines and statements of files."""
    lines = statements = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines += sum(max(1, -(-len(line) // WIDTH)) for line in text.splitlines())
        if path.suffix == ".py":
            every = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
            told = (node for node in every if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            statements += len(every) - sum(isinstance(node.value.value, str) for node in told)
    return lines, statements


def sizes() -> dict[str, tuple[int, int]]:
    """Lines and statements of each folder of ``polhode``, of the files beside them, and of ``polhode_papers``."""
    folders: dict[str, list[Path]] = {}
    for root in (SOURCE, PAPERS):
        for path in sorted(root.rglob("*")):
            if path.suffix in (".py", ".js", ".css") and path.name not in OTHERS:
                folder, *inside = path.relative_to(root).parts
                folders.setdefault(folder if root is SOURCE and inside else root.name, []).append(path)
    return {name: size_of(paths) for name, paths in sorted(folders.items())}


def grown(now: dict[str, tuple[int, int]]) -> Iterator[str]:
    """Folders that are larger than the table says, or that it does not know."""
    for name, found in now.items():
        for what, count, most in zip(("lines", "statements"), found, SIZES.get(name, (0, 0)), strict=True):
            if count > most:
                yield f"{name} has {count:,} {what}, more than {most:,}; make it smaller, or say why in {__file__}"


def write_less(now: dict[str, tuple[int, int]]) -> None:
    """Write the smaller of the present sizes and those of the table into it; folders that are gone leave it."""
    kept = {name: tuple(map(min, found, SIZES.get(name, found))) for name, found in now.items()}
    rows = "".join(f'    "{name}": ({lines}, {statements}),\n' for name, (lines, statements) in kept.items())
    here = Path(__file__)
    text = here.read_text(encoding="utf-8")
    here.write_text(
        re.sub(r"(?s)(\nSIZES = \{\n).*?(\n?\})", lambda found: found[1] + rows + "}", text, count=1), encoding="utf-8"
    )


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
    now = sizes()
    if "--less" in sys.argv:
        write_less(now)
        return 0
    found += grown(now)
    unknown = sum(len(re.findall(r": Any\b", path.read_text(encoding="utf-8"))) for path in SOURCE.rglob("*.py"))
    if unknown > MOST_ANY:
        found.append(f"{unknown} arguments and variables are Any, more than {MOST_ANY}; say their types")
    print("\n".join(found), end="\n" * bool(found))
    library = [sum(column) for column in zip(*(one for name, one in now.items() if name != PAPERS.name), strict=True)]
    print(
        f"polhode: {library[0]:,} lines, {library[1]:,} statements; {PAPERS.name}: {now[PAPERS.name][0]:,} lines; "
        f"{unknown} times Any"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
