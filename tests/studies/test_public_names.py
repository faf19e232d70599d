"""The studies take what users take: every name of polhode in them is public."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import polhode as ph
import polhode_papers


def inside(text):
    """What a text takes of polhode other than public names, as ``ph.name`` or ``ph.module.name``."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
            if any(name.split(".")[0] == "polhode" for name in names) and ast.unparse(node) != "import polhode as ph":
                yield ast.unparse(node)
        word = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        if re.fullmatch(r"ph(\.\w+)+", word) and not public(word):
            yield word


def public(word):
    """Whether each module on the way to a name lists the next part of it."""
    thing = ph
    for name in word.split(".")[1:]:
        if not isinstance(thing, ModuleType):
            break
        if name not in (dir(thing) if thing is not ph else (*ph.__all__, *ph._PACKAGES)):
            return False
        thing = getattr(thing, name)
    return True


def test_every_name_of_polhode_is_public():
    root = Path(polhode_papers.__file__).parent
    found = {path.relative_to(root): list(inside(path.read_text(encoding="utf-8"))) for path in root.rglob("*.py")}
    assert len(found) > 50 and {path: names for path, names in found.items() if names} == {}


def test_names_of_the_rooms_inside_are_seen():
    for wrong in ("from polhode.kernel import layout", "from polhode import integrate", "import polhode.runs as runs"):
        assert list(inside(f"import polhode as ph\n{wrong}\n")) == [wrong]
    calls = "ph.integrate(ph.methods.method('v2').label, ph.checks.loads_at(y), ph.kernel, ph.checks.stepper)"
    assert sorted(inside(calls)) == ["ph.checks.loads_at", "ph.kernel"]
