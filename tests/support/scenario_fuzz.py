"""Scenarios that are wrong in every way a file can be: the shipped examples and files made from the schema, mutated.

``mutants(seed, count)`` yields (words that say what was done, bytes of the file); the same seed gives the same files.
"""

import copy
import json
import random
import re
import tomllib
from pathlib import Path

from polhode.arguments import words as units
from polhode.methods import METHODS
from polhode.runs import scenario as scenarios
from polhode.systems import PROBLEMS

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
DEEP = 3000
"""Levels of nesting; Python gives up at about a third of that."""


class Raw(str):
    """A value as TOML text, for what no Python value becomes: ``10**400`` in digits, dates, too large hex."""


STRANGE = (
    0, -1, 1, 2, 3, 0.0, -0.0, 0.1, 1e-320, 1e-14, 1e18, 1e300, 1.7e308, -1e308, 2**31, 2**53 + 1, 2**63 - 1, 2**63,
    2**64, 10**18, 10**30, -(10**18), Raw("inf"), Raw("-inf"), Raw("nan"), Raw("1" + "0" * 400),
    Raw("-1" + "0" * 400), Raw("1" + "0" * 4999), Raw("1e400"), Raw("0x" + "f" * 600), Raw("100_000"),
    Raw("2030-01-01T00:00:00Z"), Raw("2030-01-01"), Raw("07:32:00"), True, False, "", " ", "0.1", "nan", "1e5",
    "\N{GREEK SMALL LETTER PSI}\N{COMBINING ACUTE ACCENT}\N{RIGHT-TO-LEFT OVERRIDE}\N{BUG}", "\x00\x07\x7f",
    "\n\r\n", "a" * 5000, "../../../etc/passwd", "mkrk:gauss4:cayley", "mkrk:" + ":" * 500, "/" * 300,
    "mkrk:gauss9998", "taylor99999999", "galerkin99999999", "saba9999", "variational:1e400", "baoab:temperature=1e400",
    "reversible:" * 400 + "v2", "random", "\\", '"quoted"', [], {}, [[]], [{}], {"": 0}, [0, 0, 0], [1, 2, 3],
    [0.0] * 4, [1.0, 0.0, 0.0, 0.0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 2, 3]] * 2, [1, "a", {"b": []}],
    [0.0] * 5000, [[0.0, 0.0, 0.0]] * 700, [Raw("nan"), 1, 1], [1e308] * 3, [Raw("1" + "0" * 400)] * 3,
    {"box": {"mass": 1, "sides": [1, 2, 3]}}, {"box": {"mass": 1, "sides": [1, 2, Raw("1" + "0" * 400)]}},
    Raw("[" * DEEP + "1" + "]" * DEEP), Raw("[" * DEEP), Raw("{a=" * DEEP + "1" + "}" * DEEP),
    Raw("[" * 300 + "1" + "]" * 300), Raw("{a=" * 300 + "1" + "}" * 300), Raw("[" * 90 + "1" + "]" * 90),
)  # fmt: skip
SEPARATORS = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\x80",
    b"\n[run]\n",
    b"=",
    b'"',
    b"'''",
    b"[[",
    b"]",
    b"#",
)


# ------------------------------------------------------------------ text
def key_text(key):
    """A key as TOML writes it."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key).replace("\x7f", "\\u007f")


def value_text(value):
    """A value as TOML writes it, in one line."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key_text(k)} = {value_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return {"inf": "inf", "-inf": "-inf", "nan": "nan"}.get(repr(value), repr(value))


def text_of(table):
    """A scenario as TOML: what is no table first, then tables under their headings."""
    top = [f"{key_text(k)} = {value_text(v)}" for k, v in table.items() if not isinstance(v, dict)]
    for name, inner in table.items():
        if isinstance(inner, dict):
            top += [f"[{key_text(name)}]", *(f"{key_text(k)} = {value_text(v)}" for k, v in inner.items())]
    return "\n".join(top) + "\n"


# ------------------------------------------------------------------ from the schema
def from_schema(chance, full, at):
    """A value that a part of the schema describes: of the right shape, with any numbers."""
    if "$ref" in at:
        return from_schema(chance, full, full["$defs"][at["$ref"].rsplit("/", 1)[1]])
    for several in ("anyOf", "oneOf"):
        if several in at:
            return from_schema(chance, full, chance.choice(at[several]))
    if "const" in at:
        return at["const"]
    if "enum" in at:
        return chance.choice(at["enum"])
    kind = at.get("type")
    if kind == "object":
        needed = at.get("required", [])
        keys = [k for k in at.get("properties", {}) if k in needed or chance.random() < 0.3]
        return {k: from_schema(chance, full, at["properties"][k]) for k in keys}
    if kind == "array":
        count = at.get("minItems", chance.randrange(4))
        return [from_schema(chance, full, at.get("items", {})) for _ in range(count)]
    if kind == "string":
        return "some.py:function" if "pattern" in at else chance.choice(["v2", "XYZ", "a", "out.nc", "exact", "apsis"])
    if kind == "boolean":
        return chance.random() < 0.5
    if kind == "integer":
        return chance.choice([0, 1, 2, 3, 8, 27, 64, 1000])
    return chance.choice([0.0, 1.0, 2, 0.5, 3.0, -1.0, 0.01, 1e-8, 100.0, 7e6, 4e14, 10.0])


def generated(chance, schema):
    """A scenario of a system or a problem that the schema knows, with few further keys, so that most are sound."""
    parts, tree = schema["properties"], {}
    if chance.random() < 0.2:
        tree["problem"] = chance.choice(sorted(PROBLEMS))
    else:
        tree["system"] = from_schema(chance, schema, parts["system"])
        tree["run"] = {"step": 0.01, "steps": 3}
    for name in parts:
        if name not in tree and name not in ("problem", "system") and chance.random() < 0.1:
            tree[name] = from_schema(chance, schema, parts[name])
    if chance.random() < 0.5:
        tree["method"] = chance.choice(sorted(METHODS))
    return tree


# ------------------------------------------------------------------ mutations
def places(value, at=()):
    """Where every entry of a tree is."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*at, key)
        yield from places(inner, (*at, key))


def changed(chance, tree, others):
    """One change of a tree, in words."""
    found = list(places(tree))
    if not found:
        tree["run"] = chance.choice(STRANGE)
        return "run"
    *way, last = chance.choice(found)
    inside = tree
    for key in way:
        inside = inside[key]
    what = chance.choice(["strange"] * 6 + ["delete", "rename", "nest", "move", "unit", "number", "number"])
    words = ".".join(map(str, (*way, last)))
    if what == "delete":
        del inside[last]
    elif what == "rename" and isinstance(inside, dict):
        name = chance.choice(
            [f"{last}s", last[1:], last.upper(), f"{last}_km", f"{last}_deg", f"{last} ", "", "\u00e9"]
        )
        inside[name] = inside.pop(last)
    elif what == "nest":
        inside[last] = chance.choice([[inside[last]], {"a": inside[last]}, [inside[last]] * 2])
    elif what == "move":
        other = chance.choice(others)
        inside[last] = copy.deepcopy(chance.choice(list(other.values())))
    elif what == "unit" and isinstance(inside, dict):
        unit = chance.choice([ending for endings in units.IN_SI.values() for ending in endings])
        inside[f"{last}_{unit}"] = inside[last] if chance.random() < 0.5 else inside.pop(last)
    elif what == "number" and isinstance(inside[last], int | float) and not isinstance(inside[last], bool):
        inside[last] = inside[last] * chance.choice([-1, 0, 2, 3, 1e3, 1e-3, 1e9, 1e100, 10**18])
    else:
        inside[last] = copy.deepcopy(chance.choice(STRANGE))
    return f"{what} {words}"


def torn(chance, data):
    """One change of the bytes of a file, in words."""
    what = chance.choice(["cut", "byte", "insert", "line twice", "line away", "lines swapped", "crlf", "half twice"])
    at = chance.randrange(len(data) + 1)
    lines = data.split(b"\n")
    k, m = chance.randrange(len(lines)), chance.randrange(len(lines))
    if what == "cut":
        return data[:at], what
    if what == "byte":
        return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :], what
    if what == "insert":
        return data[:at] + chance.choice(SEPARATORS) + data[at:], what
    if what == "line twice":
        lines.insert(m, lines[k])
    elif what == "line away":
        del lines[k]
    elif what == "lines swapped":
        lines[k], lines[m] = lines[m], lines[k]
    elif what == "crlf":
        return data.replace(b"\n", b"\r\n"), what
    else:
        return data[: len(data) // 2] * 2, what
    return b"\n".join(lines), what


def mutants(seed, count):
    """So many files: words that say what was done, and the bytes."""
    chance, schema = random.Random(seed), scenarios.json_schema()
    texts = [path.read_bytes() for path in EXAMPLES]
    trees = [tomllib.loads(text.decode()) for text in texts]
    for number in range(count):
        told = []
        if chance.random() < 0.65:
            which = chance.randrange(len(EXAMPLES))
            data, tree = texts[which], copy.deepcopy(trees[which])
            told.append(EXAMPLES[which].stem)
        else:
            tree = generated(chance, schema)
            data = text_of(tree).encode()
            told.append("from the schema")
        if chance.random() < 0.75:
            told += [changed(chance, tree, trees) for _ in range(chance.choice([1, 1, 1, 1, 1, 3]))]
            data = text_of(tree).encode()
        if chance.random() < 0.2:
            data, what = torn(chance, data)
            told.append(what)
        if chance.random() < 0.01:
            data = bytes(chance.randrange(256) for _ in range(chance.randrange(400)))
            told.append("noise")
        yield f"{number}: {', '.join(told)}", data
