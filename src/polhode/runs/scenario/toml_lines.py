"""The line of every key of a TOML text."""

from __future__ import annotations

import re

Key = tuple[str | int, ...]


def key_lines(text: str) -> dict[Key, int]:
    """The line of every key and every list entry of a TOML text that is known to be valid."""
    return _Locator(text).lines


MANY_PARTS = re.compile(r"""(?:\.[ \t]*+(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+){32}""")
"""In a key with more dots than any has; each line below such a heading would cost as much time as that is long."""


def line_of_many_parts(text: str) -> int | None:
    """The line of a key with more dots than any has, before anything else reads the text."""
    found = MANY_PARTS.search(text)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def deepest(text: str) -> int:
    """Where in a text most brackets are open."""
    level = most = at = 0
    for found in re.finditer(r'"""|\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[][{}]', text):
        level += (found[0] in "[{") - (found[0] in "]}")
        if level > most:
            most, at = level, found.start()
    return at


_STRING = r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:\\.|[^"\\])*"|\'[^\']*\''
KEY, VALUE = (re.compile(f"{_STRING}|{bare}", re.DOTALL) for bare in ("[A-Za-z0-9_-]*", r"[^,\]}\n#]*"))
BLANK, LINES, ENTRIES = (re.compile(rf"(?:[{blank}]|#[^\n]*)*") for blank in (r" \t\r", r" \t\r\n", r" \t\r\n,"))
DOT, EQUALS, OPEN, CLOSE = map(re.compile, (r"\.?", "=", r"\[*", r"\]*"))


class _Locator:
    """Reads a text once, and notes where keys begin."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.line, table = text, 0, 1, ()  # type: str, int, int, Key
        self.lines: dict[Key, int] = {}
        self.lists: dict[Key, int] = {}
        self.take(LINES)
        while self.at < len(text):
            table = self.header() if text[self.at] == "[" else self.pair(table)
            self.take(LINES)

    def take(self, pattern: re.Pattern[str]) -> str:
        """What stands here of a pattern, which is passed."""
        found = pattern.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        self.line += found[0].count("\n")
        return found[0]

    def header(self) -> Key:
        line, many = self.line, self.take(OPEN) == "[["
        parts, key = self.key(), ()  # type: tuple[str, ...], Key
        for part in parts:
            key += (part,)
            if many and len(key) - sum(isinstance(one, int) for one in key) == len(parts):
                self.lists[key] = self.lists.get(key, -1) + 1
            if key in self.lists:
                key += (self.lists[key],)
        self.take(CLOSE)
        self.note(key, line)
        return key

    def note(self, key: Key, line: int) -> None:
        for length in range(1, len(key) + 1):
            self.lines.setdefault(key[:length], line)

    def key(self) -> tuple[str, ...]:
        parts, dot = [], "."
        while dot:
            self.take(BLANK)
            part = self.take(KEY)
            parts.append(part[1:-1] if part[:1] in ("'", '"') else part)
            self.take(BLANK)
            dot = self.take(DOT)
        return tuple(parts)

    def pair(self, table: Key) -> Key:
        line, key = self.line, (*table, *self.key())
        self.note(key, line)
        self.take(EQUALS)
        self.take(BLANK)
        self.value(key)
        return table

    def value(self, key: Key) -> None:
        opened, count = self.text[self.at], 0
        if opened not in "[{":
            self.take(VALUE)
            return
        self.at += 1
        self.take(ENTRIES)
        while self.text[self.at] not in "]}":
            if opened == "{":
                self.pair(key)
            else:
                self.note((*key, count), self.line)
                self.value((*key, count))
            count += 1
            self.take(ENTRIES)
        self.at += 1
