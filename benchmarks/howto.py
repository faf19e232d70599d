"""The tasks of docs/howto in polhode and in the program that people know for them: both answers, one above the other.

    python benchmarks/howto.py [task ...] [--peers FOLDER]

Runs the code cells of each page, and the file of ``peer_examples/howto`` beside them, whose name begins with that of
its program, by ``FOLDER/PROGRAM/bin/python`` where that is there, else by this Python. The last line that each prints
is its answer; their numbers have to agree within ``WITHIN``. Writes benchmarks/howto.json, from which the pages take
what the peer printed, and its version. A program that is not there leaves its task as it was.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from coming_from import DISTRIBUTIONS, NAMES

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent / "docs" / "howto"
FILES = HERE / "peer_examples" / "howto"
RESULT = HERE / "howto.json"
WITHIN = {"wheels": 1e-3, "detumbling": 0.03, "momentum": 3e-3, "passes": 0.03, "megno": 0.1, "water": 0.02}
"""How far the numbers of a task may be apart; one part in a thousand where nothing is said. SciPy's coils act all the
time, polhode's are sampled; stations stand on a sphere here, on an ellipsoid there; maps have chaos, and baths chance.
"""
VERSION = "\nimport importlib.metadata\nprint(importlib.metadata.version({!r}))\n"


def pages() -> dict[str, str]:
    """The text of each page by its task."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md")) if path.stem != "index"}


def cells(text: str) -> list[str]:
    """The code cells of a page."""
    return re.findall(r"```\{code-cell\} ipython3\n(.*?)```", text, re.DOTALL)


def peer_of(text: str) -> str:
    """The name of the peer's file on a page."""
    (name,) = re.findall(r"```\{peer\} (\w+)", text)
    return name


def ours(text: str) -> str:
    """What the cells of a page print."""
    names: dict[str, Any] = {"__name__": "__main__"}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for cell in cells(text):
            exec(compile(cell, "cell", "exec"), names)
    return said.getvalue().strip()


def theirs(name: str, python: str) -> tuple[str, str] | None:
    """What a peer's file prints, and the version of the peer; nothing where it is not installed."""
    code = (FILES / f"{name}.py").read_text(encoding="utf-8") + VERSION.format(DISTRIBUTIONS[name.partition("_")[0]])
    done = subprocess.run([python, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    if "ModuleNotFoundError" in done.stderr:
        return None
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-1500:]}")
    *said, version = done.stdout.strip().splitlines()
    return "\n".join(said), version


def numbers(said: str) -> list[float]:
    """Those of the last line."""
    return [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?", said.splitlines()[-1])]


def apart(one: str, other: str) -> float:
    """The largest relative difference between the numbers of two answers; infinite where they are not as many."""
    pairs = list(zip(numbers(one), numbers(other), strict=False))
    if len(numbers(one)) != len(numbers(other)) or not pairs:
        return float("inf")
    return max(abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in pairs)


def main() -> int:
    """Run and write; 1 where two answers differ."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("tasks", nargs="*", help=", ".join(pages()))
    words.add_argument("--peers", type=Path, default=Path())
    given = words.parse_args()
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    differ = 0
    for task, text in pages().items():
        if given.tasks and task not in given.tasks:
            continue
        name = peer_of(text)
        program = name.partition("_")[0]
        python = given.peers / program / "bin" / "python"
        answer = ours(text)
        print(f"{task}\n    polhode: {answer.splitlines()[-1]}", flush=True)
        found = theirs(name, str(python) if python.exists() else sys.executable)
        if found is None:
            print(f"    {NAMES[program]} is not installed")
            continue
        said, version = found
        print(f"    {NAMES[program]} {version}: {said.splitlines()[-1]}", flush=True)
        if not apart(answer, said) <= WITHIN.get(task, 1e-3):
            print("    THEY DIFFER")
            differ += 1
            continue
        kept[task] = {"program": f"{NAMES[program]} {version}", "file": name, "printed": said, "polhode": answer}
        RESULT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
