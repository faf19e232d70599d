"""Old names stay away: prints every place that brings back one that gave way to a standard term, and ends with 1 then.

python .ci/names.py
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "polhode"

EVERYWHERE = {
    "Bench": "Integrator", "bench": "integrator", "watching": "event_detection", "Watching": "EventDetection",
    "clocked": "time_transformed", "ClockedRun": "TimeTransformedRun", "team": "thread_pool", "Team": "ThreadPool",
    "Own": "AuxiliaryVariable", "works": "work", "carries": "compensation", "course": "controller_state",
    "SLOPED": "VELOCITY_DEPENDENT", "DIVIDED": "SPLIT_LOADS", "COMMUTATES": "HAS_COMMUTATOR",
    "MUTED": "EVENT_DISABLED", "SILENT": "EVENT_UNARMED", "numbered": "axis_order_dependent",
    "framed": "frame_dependent", "Prepared": "CompiledMethod", "Chosen": "MethodSpec",
    "settle": "resolve_options or set_switches", "pace": "step_settings", "explain": "diagnose_failure",
    "excess": "scaled_error", "pieces_of": "continuation_substeps", "GRAIN": "ROUNDOFF",
    "Ladder": "ConvergenceTable", "look": "what is looked at, as evaluate_loads",
    "tell": "who is told what, as report_progress", "place": "position, or slot, or path",
    "advance": "what is advanced, as take_steps", "BOOKED": "WORK_ONLY", "ROOM": "CACHE_SIZE, or a margin",
    "felt": "effective_torque", "own_numbers": "auxiliary_variables", "OWN_NUMBERS": "FIRST_PARAMETER",
    "ALL_TAUGHT": "MODULE_CODE", "untold": "unreported", "told_apart": "separate_coinciding",
    "Tell": "Reporter", "benches_of": "integrators_of", "benches": "integrators",
    "CLOCKS": "TIME_TRANSFORMATIONS",
}  # fmt: skip
"""Old name: what says it in the field's words."""

ENDINGS = {"_carrying": "_compensated"}
"""The same of the endings of names."""

IN_ROOMS = {
    ("kernel", "flows", "methods"): {
        "table": "coefficients", "layout": "int_coefficients", "report": "step_info",
        "turn": "rotate_free or rotation_map", "clock": "step_density",
    },
    ("kernel", "flows"): {"trial": "stage_state"},
}  # fmt: skip
"""Words that are others' terms elsewhere: a table of TOML, a study's report."""
ALLOWED = {("files.py", "tell"), ("listing.py", "table"), ("__init__.py", "table")}
"""Of Python's files; tables that are printed."""


def names_of(node: ast.AST) -> list[str]:
    """The names a node defines, reads or sets."""
    found = [getattr(node, field, None) for field in ("id", "arg", "attr", "name", "asname")]
    return [name for name in found if isinstance(name, str)]


def main() -> int:
    found = 0
    for path in sorted(SOURCE.parent.rglob("*.py")):
        inside = path.relative_to(SOURCE if SOURCE in path.parents else SOURCE.parent)
        banned = dict(EVERYWHERE)
        for rooms, words in IN_ROOMS.items():
            banned |= words if inside.parts[0] in rooms else {}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for name in names_of(node):
                ending = next((word for word in ENDINGS if name.endswith(word)), None)
                if ending:
                    found += 1
                    print(
                        f"{path}:{getattr(node, 'lineno', 1)}: {name} is said {name.replace(ending, ENDINGS[ending])}"
                    )
                if name in banned and (path.name, name) not in ALLOWED and not isinstance(node, ast.alias):
                    found += 1
                    print(f"{path}:{getattr(node, 'lineno', 1)}: {name} is said {banned[name]}")
        if inside.stem in EVERYWHERE:
            found += 1
            print(f"{path}: {inside.stem} is said {banned[inside.stem]}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
