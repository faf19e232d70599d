"""Markdown of the generated pages: tables, links, directives; and where the folders of the project are."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
"""The folder of the documentation."""
ROOT = HERE.parent

CITATION = re.compile(r"\[([a-z]+[12][0-9]{3}[a-z]?)(?:, [^\]\n]*)?\]")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def cited(key: str) -> str:
    """A link to an entry of the references page."""
    return f"[{key}](#ref-{key})"


def citations(text: str) -> list[str]:
    """Keys of ``[key, ...]`` markers, in order, each once."""
    return list(dict.fromkeys(CITATION.findall(text)))


def rst(text: str) -> str:
    """A block of reStructuredText in a Markdown page."""
    return f"````{{eval-rst}}\n{text.strip()}\n````\n"


def code(text: str, language: str = "text") -> str:
    """A code block."""
    return f"````{{code-block}} {language}\n{text.rstrip()}\n````\n"


def toctree(*names: str, depth: int = 1, hidden: bool = True) -> str:
    """A table of contents."""
    options = f":maxdepth: {depth}\n" + (":hidden:\n" if hidden else "")
    return "```{toctree}\n" + options + "\n" + "\n".join(names) + "\n```\n"


def first_line(thing: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("``", "`")


def call(function: Any) -> str:
    """A function's call: name, arguments and defaults."""
    parts = []
    for argument in inspect.signature(function).parameters.values():
        default = argument.default
        parts.append(argument.name if default is argument.empty else f"{argument.name}={default!r}")
    return f"{function.__name__}({', '.join(parts)})"


def linked(text: str, source: Path, target: Path) -> str:
    """Markdown of another folder, adapted: existing pictures are copied, other relative links become plain text."""

    def picture(found: re.Match[str]) -> str:
        file = source / found[2]
        if not file.is_file():
            return f"*{found[1]}*"
        target.mkdir(parents=True, exist_ok=True)
        (target / file.name).write_bytes(file.read_bytes())
        return f"![{found[1]}]({file.name})"

    text = re.sub(r"!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)", picture, text)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)[^)\s]+\)", r"\1", text)
