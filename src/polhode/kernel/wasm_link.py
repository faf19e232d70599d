"""Links one relocatable object of WebAssembly, as LLVM emits it, to a module: no other program is needed for that.

Such an object imports its memory and its stack pointer. Both are defined here under the same indices, so that no
function gets another number; what is left is to lay out the data and to write addresses where relocations ask for them.
Source: WebAssembly/tool-conventions, Linking.md, version 2. What one object of a kernel does not have is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from polhode.kernel.source import Unsupported

MAGIC = b"\0asm\1\0\0\0"
PAGE = 1 << 16
"""Bytes of a page of memory."""
OWN, TYPES, IMPORTS, FUNCTIONS, _, MEMORIES, GLOBALS, EXPORTS, _, _, CODE, DATA = range(12)
"""Numbers of sections; OWN ones have a name."""
FUNCTION, TABLE, MEMORY, GLOBAL = range(4)
"""Kinds of what is imported or exported."""
OF_INDEX, LEB, SLEB, WORD, OF_TYPE, OF_GLOBAL = 0, 3, 4, 5, 6, 7
"""Kinds of relocations: the index of a function, a type, a global; an address in code, or as a word of data."""
A_FUNCTION, A_DATUM, A_SECTION = 0, 1, 3
"""Kinds of symbols."""
SEGMENTS, SYMBOLS = 5, 8
"""Parts of the section "linking"."""
UNDEFINED, NAMED, VERSION, ALIGNED = 0x10, 0x40, 2, 16


class Reader:
    """Reads bytes from the first to the last."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        """The next byte."""
        self.at += 1
        return self.data[self.at - 1]

    def number(self, signed: bool = False) -> int:
        """A number of seven bits a byte, the lowest first (LEB128)."""
        value = shift = 0
        while True:
            one = self.byte()
            value |= (one & 127) << shift
            shift += 7
            if one < 128:
                return value - (1 << shift) if signed and one & 64 else value

    def take(self) -> bytes:
        """Bytes behind their number."""
        count = self.number()
        self.at += count
        return self.data[self.at - count : self.at]

    def parts(self) -> Iterator[tuple[int, Reader]]:
        """What is left, in parts: the kind of each, and what is in it."""
        while self.at < len(self.data):
            yield self.byte(), Reader(self.take())


def number(n: int, signed: bool = False) -> bytes:
    """A number that is not negative, of seven bits a byte, the lowest first (LEB128)."""
    found = bytearray()
    while n or not found or (signed and found[-1] & 64):  # of which a sign is the last bit
        found.append(n & 127 | 128)
        n >>= 7
    found[-1] &= 127
    return bytes(found)


def padded(n: int) -> bytes:
    """The same in five bytes, as LLVM leaves room for, with a sign or without one."""
    return bytes([n & 127 | 128, n >> 7 & 127 | 128, n >> 14 & 127 | 128, n >> 21 & 127 | 128, n >> 28])


def section(kind: int, entries: Iterable[bytes]) -> bytes:
    """A section of entries."""
    entries = list(entries)
    return bytes([kind]) + counted(number(len(entries)) + b"".join(entries))


def counted(data: bytes) -> bytes:
    """Bytes behind their number."""
    return number(len(data)) + data


class Symbol(NamedTuple):
    """What relocations name: a function or a global by its index, data by that of a segment and an offset in it."""

    kind: int
    name: str
    of: int
    offset: int = 0


def symbol_at(part: Reader) -> Symbol:
    """The next symbol."""
    kind, flags = part.byte(), part.number()
    if kind == A_SECTION:
        return Symbol(kind, "", part.number())
    if kind != A_DATUM:
        index = part.number()
        return Symbol(kind, "" if flags & UNDEFINED and not flags & NAMED else part.take().decode(), index)
    name = part.take().decode()
    if flags & UNDEFINED:
        raise Unsupported(f"numbers of {name}, which pages lack")
    found = Symbol(kind, name, part.number(), part.number())
    part.number()  # how many bytes
    return found


def check_imports(reader: Reader) -> None:
    """Refuse what a page has not; a table is that of functions called by their address, of which there are none."""
    for _ in range(reader.number()):
        _, name, kind = reader.take(), reader.take().decode(), reader.byte()
        if kind == FUNCTION or (kind == GLOBAL and name != "__stack_pointer"):
            raise Unsupported(f"a call of {name}, which pages lack")
        if kind != MEMORY:
            reader.byte()
        for _ in range(1 if kind == GLOBAL else 1 + (reader.byte() & 1)):
            reader.number()


class Segment(NamedTuple):
    """Data: its address, where it begins in the section, and how many bytes it has."""

    address: int
    begin: int
    size: int


def segments_of(reader: Reader, alignments: list[int], address: int) -> Iterator[Segment]:
    """Segments of data one behind the other, from an address on."""
    for k in range(reader.number()):
        if reader.number() != 0:
            raise Unsupported("data of another kind")
        reader.byte()  # an address, instead of which there will be another
        reader.number(signed=True)
        reader.byte()
        size = reader.number()
        address += -address % (alignments[k] if k < len(alignments) else ALIGNED)
        yield Segment(address, reader.at, size)
        address, reader.at = address + size, reader.at + size


def link(data: bytes, exports: dict[str, str], stack: int) -> tuple[bytes, dict[str, int]]:
    """The module of an object, which exports its ``memory`` and functions, and the addresses of data by their names.

    Memory is a stack of at least so many bytes, which grows down to address 0, so that a program that needs more of it
    traps and overwrites nothing; then the data, zeros of which are not in the module. ``exports``: names of functions
    of the object by those they are to have."""
    if not data.startswith(MAGIC):
        raise Unsupported("an object of another kind than WebAssembly")
    sections: dict[int | str, bytes] = {}
    for kind, part in Reader(data[len(MAGIC) :]).parts():
        name = part.take().decode() if kind == OWN else kind
        sections[name] = part.data[part.at :]
    check_imports(Reader(sections.get(IMPORTS, b"\0")))
    linking, alignments, symbols = Reader(sections["linking"]), list[int](), list[Symbol]()
    if linking.number() != VERSION:
        raise Unsupported("another version of WebAssembly's objects")
    for kind, part in linking.parts():
        for _ in range(part.number() if kind in (SEGMENTS, SYMBOLS) else 0):
            if kind == SYMBOLS:
                symbols.append(symbol_at(part))
            else:
                part.take()
                alignments.append(1 << part.number())
                part.number()
    top = stack + -stack % ALIGNED
    segments = list(segments_of(Reader(sections.get(DATA, b"\0")), alignments, top))
    addresses = [segments[one.of].address + one.offset if one.kind == A_DATUM else one.of for one in symbols]
    relocated = {}
    for kind, name in ((CODE, "reloc.CODE"), (DATA, "reloc.DATA")):
        content, reader = bytearray(sections.get(kind, b"\0")), Reader(sections.get(name, b"\0\0"))
        reader.number()  # which section
        for _ in range(reader.number()):
            what, offset, index = reader.byte(), reader.number(), reader.number()
            if what not in (OF_INDEX, LEB, SLEB, WORD, OF_TYPE, OF_GLOBAL):
                raise Unsupported("a function that is called by its address")
            value = index if what == OF_TYPE else addresses[index]
            value += reader.number(signed=True) if what in (LEB, SLEB, WORD) else 0
            written = value.to_bytes(4, "little") if what == WORD else padded(value)
            content[offset : offset + len(written)] = written
        relocated[kind] = bytes(content)

    def constant(n: int) -> bytes:
        return b"\x41" + number(n, signed=True) + b"\x0b"

    functions = {one.name: one.of for one in symbols if one.kind == A_FUNCTION}
    exported = {"memory": bytes([MEMORY, 0])} | {
        name: bytes([FUNCTION]) + number(functions[own]) for name, own in exports.items()
    }
    parts = [(one.address, relocated[DATA][one.begin : one.begin + one.size]) for one in segments]
    pages = -(-max((one.address + one.size for one in segments), default=top) // PAGE)
    module = (
        MAGIC + bytes([TYPES]) + counted(sections[TYPES]) + bytes([FUNCTIONS]) + counted(sections[FUNCTIONS])
        + section(MEMORIES, [b"\0" + number(pages)]) + section(GLOBALS, [b"\x7f\1" + constant(top)])
        + section(EXPORTS, [counted(name.encode()) + where for name, where in exported.items()])
        + bytes([CODE]) + counted(relocated[CODE])
        + section(DATA, [b"\0" + constant(at) + counted(part) for at, part in parts if part.strip(b"\0")])
    )  # fmt: skip
    return module, {one.name: at for one, at in zip(symbols, addresses, strict=True) if one.kind == A_DATUM}
