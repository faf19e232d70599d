"""Pages of the studies, and of the files of ``examples/``."""

from __future__ import annotations

import re
from pathlib import Path

from polhode.studies import STUDIES

from .text import HERE, ROOT, cited, code, linked, table, toctree


def study_pages() -> dict[str, str]:
    """The README of every study, where it has one."""
    pages = {}
    for name, subject in STUDIES.items():
        folder = ROOT / "src" / "polhode" / "studies" / name
        readme = folder / "README.md"
        if readme.exists():
            text = linked(readme.read_text(encoding="utf-8"), folder, HERE / "generated" / "studies")
        else:
            text = f"# {name}\n\n{subject}. {cited(name)}\n\n"
            text += "Recompute its figures and claims with " + f"`polhode reproduce {name}`.\n"
        pages[f"studies/{name}.md"] = text
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
