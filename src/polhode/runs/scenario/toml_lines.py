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


_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.DOTALL
)


class _Locator:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.line = text, 0, 1
        self.lines: dict[Key, int] = {}
        self.lists: dict[Key, int] = {}
        table: Key = ()
        while self.skip("\n"):
            if self.here("["):
                table = self.header()
            else:
                self.pair(table)

    def here(self, start: str) -> bool:
        return self.text.startswith(start, self.at)

    def step_over(self, count: int) -> str:
        passed = self.text[self.at : self.at + count]
        self.line += passed.count("\n")
        self.at += count
        return passed

    def skip(self, also: str = "") -> bool:
        """Pass blanks and comments; False at the end of the text."""
        while self.at < len(self.text):
            if self.here("#"):
                end = self.text.find("\n", self.at)
                self.step_over((end if end >= 0 else len(self.text)) - self.at)
            elif self.text[self.at] in " \t\r" + also:
                self.step_over(1)
            else:
                return True
        return False

    def header(self) -> Key:
        many = self.here("[[")
        line = self.line
        self.step_over(2 if many else 1)
        parts = self.key()
        key: Key = ()
        for depth, part in enumerate(parts):
            key += (part,)
            if many and depth == len(parts) - 1:
                self.lists[key] = self.lists.get(key, -1) + 1
            if key in self.lists:
                key += (self.lists[key],)
        self.step_over(2 if many else 1)
        self.note(key, line)
        return key

    def note(self, key: Key, line: int) -> None:
        for length in range(1, len(key) + 1):
            self.lines.setdefault(key[:length], line)

    def key(self) -> list[str]:
        parts = []
        while True:
            self.skip()
            if self.text[self.at] in "\"'":
                parts.append(self.string()[1:-1])
            else:
                found = re.compile(r"[A-Za-z0-9_-]*").match(self.text, self.at)
                assert found is not None
                parts.append(self.step_over(len(found[0])))
            self.skip()
            if not self.here("."):
                return parts
            self.step_over(1)

    def pair(self, table: Key) -> None:
        line = self.line
        key = (*table, *self.key())
        self.note(key, line)
        self.step_over(1)  # the sign =
        self.value(key)

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        assert found is not None
        return self.step_over(len(found[0]))

    def value(self, key: Key) -> None:
        self.skip()
        if self.here('"') or self.here("'"):
            self.string()
        elif self.here("["):
            self.step_over(1)
            count = 0
            while self.skip("\n,") and not self.here("]"):
                self.note((*key, count), self.line)
                self.value((*key, count))
                count += 1
            self.step_over(1)
        elif self.here("{"):
            self.step_over(1)
            while self.skip("\n,") and not self.here("}"):
                self.pair(key)
            self.step_over(1)
        else:
            found = re.compile(r"[^,\]}\n#]*").match(self.text, self.at)
            assert found is not None
            self.step_over(len(found[0]))
