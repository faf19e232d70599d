"""The directive ``measured``: a table of benchmarks/coming_from.json, so that no figure of these pages is typed.

    ```{measured} scipy
    ```

The rows are those that ``python benchmarks/coming_from.py scipy`` wrote, a column for each program with its version,
and below them when and where. ``all`` in place of a case is a table of all of them: the first error of each, and times.

    ```{peer} rebound_megno
    ```

is a file of benchmarks/peer_examples/howto, with the version that ran it and what it printed (benchmarks/howto.json).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
RESULT = BENCHMARKS / "coming_from.json"
TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def shown(value: Any, unit: str) -> str:
    """A number of a row as text: times in their unit, counts whole, errors with two digits."""
    if value is None:
        return "-"
    if unit == "s":
        size, word = next(((size, word) for size, word in TIMES if value >= size), TIMES[-1])
        number = f"{value / size:.0f}" if value / size >= 100 else f"{value / size:.2g}"
        return f"{number}\N{NO-BREAK SPACE}{word}"
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    return f"{value:.1e}" if abs(value) < 0.1 else f"{value:.3f}"


def rows_of(case: dict[str, Any]) -> list[list[str]]:
    """The cells of a table, the heading first."""
    programs = case["programs"]
    found = [["", *programs.values()]]
    for row in case["rows"]:
        unit = row["unit"]
        what = row["what"] if unit in ("", "s") else f"{row['what']} ({unit})"
        found.append([what, *(shown(row[name], unit) for name in programs)])
    return found


def summary(cases: dict[str, Any]) -> list[list[str]]:
    """The cells of the table of all cases: a row for each other program, beside it polhode."""
    found = [["", "what is compared", "its value", "of polhode", "a run", "of polhode", "with imports", "of polhode"]]
    for case in cases.values():
        error, (again, first) = case["rows"][0], case["rows"][-2:]
        if "energy" in error["what"]:  # at the start, where all are equal
            error = case["rows"][2]
        what = f"{error['what']} ({error['unit']})" if error["unit"] else error["what"]
        for name, program in case["programs"].items():
            if name != "polhode":
                pairs = [shown(row[one], row["unit"]) for row in (error, again, first) for one in (name, "polhode")]
                found.append([program, what, *pairs])
    return found


def table(rows: list[list[str]]) -> nodes.table:
    """A table with a heading."""
    made = nodes.table(classes=["measured"])
    group = nodes.tgroup(cols=len(rows[0]))
    made += group
    for k in range(len(rows[0])):
        group += nodes.colspec(colwidth=3 if k == 0 else 2)
    for part, lines in ((nodes.thead(), rows[:1]), (nodes.tbody(), rows[1:])):
        for line in lines:
            row = nodes.row()
            for cell in line:
                row += nodes.entry("", nodes.paragraph(text=cell))
            part += row
        group += part
    return made


class Measured(SphinxDirective):
    """The table of one case, and a sentence on where it comes from."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(RESULT))
        name = self.arguments[0]
        cases = json.loads(RESULT.read_text(encoding="utf-8"))
        if name == "all":
            return [table(summary(cases))]
        if name not in cases:
            raise self.error(f"coming_from.json has no case {name!r}: python benchmarks/coming_from.py {name}")
        case = cases[name]
        told = nodes.paragraph()
        told += nodes.Text(f"Processor time of one thread, measured on {case['date']}: {case['machine']}. ")
        told += nodes.literal(text=f"python benchmarks/coming_from.py {name}")
        told += nodes.Text(" repeats it with the code of this page.")
        return [table(rows_of(case)), told]


class Peer(SphinxDirective):
    """The same task in another program: its code, its version, what it printed."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        file, result = BENCHMARKS / "peer_examples" / "howto" / f"{name}.py", BENCHMARKS / "howto.json"
        for path in (file, result):
            self.env.note_dependency(str(path))
        told = {one["file"]: (task, one) for task, one in json.loads(result.read_text(encoding="utf-8")).items()}
        if name not in told:
            raise self.error(f"howto.json has no {name!r}: python benchmarks/howto.py --peers FOLDER")
        task, one = told[name]
        code = file.read_text(encoding="utf-8").strip()
        lines = sum(1 for line in code.splitlines() if line.strip())
        before = nodes.paragraph(
            "", "", nodes.strong(text=f"The same in {one['program']}"), nodes.Text(f", {lines} lines:")
        )
        after = nodes.paragraph(
            "", "", nodes.Text("which prints, as "), nodes.literal(text=f"python benchmarks/howto.py {task}")
        )
        after += nodes.Text(" does again beside the line above,")
        shown = [
            nodes.literal_block(text, text, language=kind)
            for text, kind in ((code, "python"), (one["printed"], "text"))
        ]
        return [before, shown[0], after, shown[1]]


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("peer", Peer)
    app.add_directive("measured", Measured)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
