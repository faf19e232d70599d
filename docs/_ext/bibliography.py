"""The references page from a BibTeX file, without a bibliography package."""

from __future__ import annotations

import re
import unicodedata

_FIELD = re.compile(r"(\w+)\s*=\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^,\s]+)\s*,")
_ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "v": "\u030c", "c": "\u0327"}
_LETTERS = {r"\o": "ø", r"\O": "Ø", r"\aa": "å", r"\AA": "Å", r"\ss": "ß", r"\ae": "æ", r"\l": "ł", r"\&": "&"}

PLACES = ("journal", "booktitle", "publisher", "school", "institution")
"""Where a work appeared: the first of these fields that it has."""


def plain(tex: str) -> str:
    """TeX accents, dashes and braces as the characters they stand for."""
    accent = re.compile(r"\{?\\(['`\"^~]|[vc](?=[ {]))\s*\{?\\?([A-Za-z])\}?\}?")
    tex = accent.sub(lambda m: unicodedata.normalize("NFC", m[2] + _ACCENTS[m[1]]), tex)
    for letter, character in _LETTERS.items():
        tex = re.sub(r"\{?" + re.escape(letter) + r"(?![A-Za-z])\}?", character, tex)
    return tex.replace("---", "—").replace("--", "–").replace("{", "").replace("}", "").replace("~", " ")


def entries(text: str) -> dict[str, dict[str, str]]:
    """Fields of every entry by key, with the kind under ``kind``."""
    found = {}
    heads = list(_ENTRY.finditer(text))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        body = text[head.end() : after.start() if after else len(text)]
        found[head[2]] = {"kind": head[1].lower(), **{name.lower(): value for name, value in _FIELD.findall(body)}}
    return found


def sentence(entry: dict[str, str]) -> str:
    """One entry as a line of Markdown."""
    e = {name: plain(value) for name, value in entry.items()}
    names = e.get("author", e.get("editor", "")).split(" and ")
    people = [" ".join(reversed(name.split(", ", 1))) for name in names]
    authors = people[0] if len(people) == 1 else ", ".join(people[:-1]) + " and " + people[-1]
    where = next((e[place] for place in PLACES if place in e), "")
    if e.get("volume") and e.get("journal"):
        where += f" **{e['volume']}**" + (f"({e['number']})" if e.get("number") else "")
    elif e.get("volume"):
        where += f", volume {e['volume']}"
    elif e.get("number"):
        where += f", {e['number']}"
    parts = [authors, f"*{e['title']}*", f"{e['edition']} edition" if e.get("edition") else "", where]
    pages = e.get("pages", "")
    parts += [("pages " if "–" in pages else "") + pages, e.get("year", ""), e.get("note", "")]
    line = ", ".join(part for part in parts if part) + "."
    return line + (f" [doi:{e['doi']}](https://doi.org/{e['doi']})" if e.get("doi") else "")
