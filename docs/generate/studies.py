"""Pages of the studies, and of the files of ``examples/``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from polhode_papers import STUDIES, report

from . import figures
from .text import HERE, ROOT, cited, code, linked, table, toctree


def study_pages(drawn: Path | None = None) -> dict[str, str]:
    """The README of every study, where it has one, with its figures where ``figures.draw`` has drawn them."""
    pages = {}
    target = HERE / "generated" / "studies"
    for name, subject in STUDIES.items():
        folder = ROOT / "src" / "polhode_papers" / name
        readme = folder / "README.md"
        if readme.exists():
            text = linked(readme.read_text(encoding="utf-8"), folder, target)
        else:
            text = f"# {name}\n\n{subject}. {cited(name)}\n\n"
            text += "Recompute its figures and claims with " + f"`polhode reproduce {name}`.\n"
        pages[f"studies/{name}.md"] = text + figures_section(name, figures.results(drawn, name), target)
    index = (
        "# Studies\n\n"
        "A study recomputes the figures and claims of a paper with the paper's parameters and says, in numbers,\n"
        "whether each claim holds. `polhode reproduce NAME` runs one and writes its pictures, tables and report; a\n"
        "claim that fails is reported as failing.\n\n"
        + table(("study", "subject", "paper"), [(f"[{n}]({n}.md)", s, cited(n)) for n, s in STUDIES.items()])
        + "\n"
        + toctree(*STUDIES)
    )
    return {"studies/index.md": index, **pages}


def figures_section(name: str, drawn: dict[str, Any], target: Path) -> str:
    """The figures of a study and the verdicts on its claims, in the quick form, with what was measured folded away."""
    if not drawn:
        return ""
    text = (
        "\n## Figures\n\nDrawn when this site was built, in the quick form (`polhode reproduce "
        f"{name} --quick`): fewer step sizes, initial states and\nshorter spans than the numbers above are from.\n"
    )
    for figure, result in drawn.items():
        title = result["title"]
        text += f"\n### {figure}: {title}\n\n"
        for picture in result["pictures"]:
            copied = target / name / picture.name
            copied.parent.mkdir(parents=True, exist_ok=True)
            if not copied.exists() or copied.read_bytes() != picture.read_bytes():
                copied.write_bytes(picture.read_bytes())
            text += f"```{{image}} {name}/{picture.name}\n:alt: {figure} of {name}, {title}\n:class: figure\n```\n\n"
        rows = [(one["where"], prose(one["claim"]), verdict(one["summary"])) for one in result["claims"]]
        if rows:
            text += table(("where", "claim", "quick form"), rows)
            text += "\n:::{dropdown} What was measured\n" + "".join(map(measured, result["claims"])) + ":::\n"
    return text


def verdict(word: str) -> str:
    """A verdict as in the tables of the studies: what fails is bold."""
    return f"**{word}**" if word.startswith("fails") else word


def prose(text: str) -> str:
    """Plain text as Markdown that shows the same characters."""
    return re.sub(r"([\\`*_<>\[\]#$~^{}])", r"\\\1", text)


def measured(claim: dict[str, Any]) -> str:
    """A claim with its parts, their criteria and what was found."""
    text = f"\n**{claim['summary']}**: {prose(claim['claim'])}\n\n"
    for part, true in {**claim["parts"], **claim["corrected"]}.items():
        word = "undecided" if true is None else "yes" if true else "no"
        check = claim["criteria"].get(part)
        found = f" ({prose(check['criterion'])}; found {prose(words(check['found']))})" if check else ""
        text += f"* {word}: {prose(part)}{found}\n"
    return text


def words(value: Any) -> str:
    """A number, a word or a mapping of these from JSON, as text; what is not finite was stored as None."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {words(inner)}" for key, inner in value.items())
    return "not finite" if value is None else report.words(value)


def example_pages() -> dict[str, str]:
    """The page with the files of ``examples/``."""
    text = "# Examples\n\nScenario files and scripts from the folder `examples/`, as they are.\n"
    for path in sorted((ROOT / "examples").glob("*.toml")):
        script = path.with_suffix(".py")
        needs = " --allow-code" if re.search(r'\.py:\w+"', path.read_text(encoding="utf-8")) else ""
        text += f"\n## {path.name}\n\n" + code(f"polhode run examples/{path.name}{needs}", "shell")
        text += "\n" + listing(path)
        if script.exists():
            text += f"\n`{script.name}`:\n\n{listing(script)}"
    others = [p for p in sorted((ROOT / "examples").glob("*.py")) if not p.with_suffix(".toml").exists()]
    return {"examples.md": text + "".join(f"\n## {path.name}\n\n{listing(path)}" for path in others)}


def listing(path: Path) -> str:
    """A directive that includes an example file."""
    language = {".toml": "toml", ".py": "python"}[path.suffix]
    return f"```{{literalinclude}} ../../examples/{path.name}\n:language: {language}\n```\n"
