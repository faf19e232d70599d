"""The syntax tree of a function's source, checked against its code."""

from __future__ import annotations

import ast
import functools
import linecache
from types import CodeType
from typing import Any

LONGEST_TAIL = 8
"""Lines of closing brackets that may follow the last line with an instruction."""
GENERATOR = 0x3A0
"""The flags of code of generators and coroutines."""
FUTURE = 0x1FE0000
"""The flags of code that ``from __future__ import`` sets."""


class Unsupported(Exception):
    """A function is, at ``where``, outside the part of Python that ``translate`` knows; numba compiles it instead."""

    where: str | None = None

    def __str__(self) -> str:
        return super().__str__() + (f" ({self.where})" if self.where else "")


class Refused(Unsupported):
    """Something that numba does not compile either, such as a number times a tuple."""


@functools.lru_cache(4096)
def tree_of(code: CodeType) -> ast.FunctionDef | ast.Lambda:
    """The syntax tree of the function with this code."""
    lines = linecache.getlines(code.co_filename)
    first = code.co_firstlineno
    last = max((end for _, end, _, _ in code.co_positions() if end), default=first)
    if code.co_flags & GENERATOR or len(lines) < last:
        raise Unsupported("no source")
    indented = lines[first - 1][:1].isspace()
    before = "\n" * (first - 1 - indented) + "if True:\n" * indented  # so that lines have their numbers
    for tail in range(LONGEST_TAIL):
        try:
            tree = ast.parse(before + "".join(lines[first - 1 : last + tail]))
        except SyntaxError:
            continue
        statements = tree.body[0].body if indented else tree.body  # type: ignore[attr-defined]
        plain = [node for node in statements[:1] if isinstance(node, ast.FunctionDef)]
        for node in plain or ast.walk(tree):
            if isinstance(node, ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef):
                if isinstance(node, ast.FunctionDef):
                    if node.name != code.co_name:
                        continue
                    node.decorator_list = []
                if any(_same(code, _compiled(node, code, imports)) for imports in (False, True)):
                    if isinstance(node, ast.FunctionDef):
                        Variables(code).separate(node)
                    return node
    raise Unsupported("the source has changed")


def _compiled(node: ast.FunctionDef | ast.Lambda, code: CodeType, imports: bool) -> CodeType | None:
    """The code of a node, compiled where it finds the same variables of enclosing functions, and ``imports``: calls of
    attributes of an imported name have other code."""
    body: list[ast.stmt] = [node if isinstance(node, ast.FunctionDef) else ast.Expr(node)]
    if code.co_freevars:
        names: list[ast.expr] = [ast.Name(name, ast.Store()) for name in code.co_freevars]
        body.insert(0, ast.Assign(names, ast.Constant(None)))
        nothing = ast.arguments([], [], None, [], [], None, [])
        body = [ast.FunctionDef("_", nothing, body, [])]
    if imports and code.co_names:
        body.insert(0, ast.Import([ast.alias(name) for name in code.co_names]))
    module = ast.Module(body, [])
    if len(body) > 1 or body[0] is not node:
        ast.fix_missing_locations(module)
    try:
        outer = compile(module, "", "exec", code.co_flags & FUTURE, True, 0)
    except (SyntaxError, ValueError):
        return None
    return _inner(outer, code.co_name)


def _inner(outer: CodeType, name: str) -> CodeType | None:
    for part in outer.co_consts:
        if isinstance(part, CodeType):
            found = part if part.co_name == name else _inner(part, name)
            if found is not None:
                return found
    return None


def _same(a: CodeType, b: CodeType | None) -> bool:
    return b is not None and all(
        getattr(a, name) == getattr(b, name) for name in ("co_code", "co_names", "co_varnames", "co_freevars")
    ) and _plain(a) == _plain(b)  # fmt: skip


def _plain(code: CodeType) -> list[tuple[type, str]]:
    return [(type(value), repr(value)) for value in code.co_consts if not isinstance(value, CodeType)]


Reaching = dict[str, frozenset[int]]
NEVER: frozenset[int] = frozenset()
"""The settings that reach a variable which is not set before."""


def names_in(e: ast.AST) -> list[ast.Name]:
    """The names in an expression or target."""
    found: list[ast.Name] = []
    waiting: list[Any] = [e]
    while waiting:
        node = waiting.pop()
        if type(node) is ast.Name:
            found.append(node)
        elif type(node) is not ast.Constant:
            for field in node._fields:
                value = getattr(node, field)
                if type(value) is list:
                    waiting += [part for part in value if isinstance(part, ast.AST)]
                elif isinstance(value, ast.AST) and value._fields:
                    waiting.append(value)
    return found


class Variables:
    """Gives names of their own to uses of a name that no setting of it reaches both, such as two loops' ``k``; the tree
    has the names that are set in more than one block of statements as its attribute ``several``."""

    def __init__(self, code: CodeType) -> None:
        self.local = frozenset(code.co_varnames)
        self.parameters = code.co_varnames[: code.co_argcount]
        self.settings: list[tuple[ast.Name, int]] = []
        self.uses: list[tuple[ast.Name, frozenset[int]]] = []
        self.parents = list(range(len(self.parameters)))
        self.blocks: list[int] = []
        self.numbers: dict[int, int] = {}
        self.found: dict[int, tuple[list[ast.Name], list[ast.Name]]] = {}
        self.block = 0
        self.loops: list[tuple[list[Reaching], list[Reaching]]] = []

    def separate(self, tree: ast.FunctionDef) -> None:
        """Rename the variables in a tree; of a name that is read and set (``x += 1``), ``read`` is the name read."""
        begin = {name: frozenset([k]) for k, name in enumerate(self.parameters)}
        self.blocks = [id(tree.body)] * len(self.parameters)
        self.body(tree.body, begin)
        for _, reaching in self.uses:
            if len(reaching) > 1:
                first, *others = reaching
                for other in others:
                    self.parents[self.root(other)] = self.root(first)
        labels = {(name, self.root(k)): name for k, name in enumerate(self.parameters)}
        blocks: dict[str, set[int]] = {name: {id(tree.body)} for name in self.parameters}
        for node, reaching in self.uses:
            node.read = self.label(labels, node.id, next(iter(reaching))) if reaching else node.id  # type: ignore[attr-defined]
        for node, number in self.settings:
            node.label = self.label(labels, node.id, number)  # type: ignore[attr-defined]
            blocks.setdefault(node.label, set()).add(self.blocks[number])  # type: ignore[attr-defined]
        for node, _ in self.uses:
            if isinstance(node.ctx, ast.Load):
                node.id = node.read  # type: ignore[attr-defined]
        for node, _ in self.settings:
            node.id = node.label  # type: ignore[attr-defined]
        tree.several = {name for name, where in blocks.items() if len(where) > 1}  # type: ignore[attr-defined]

    def label(self, labels: dict[tuple[str, int], str], name: str, number: int) -> str:
        return labels.setdefault((name, self.root(number)), f"{name} {len(labels)}")

    def root(self, number: int) -> int:
        while self.parents[number] != number:
            number = self.parents[number]
        return number

    def names(self, e: ast.AST) -> tuple[list[ast.Name], list[ast.Name]]:
        """The local variables that an expression or target reads, and those that it sets, found once."""
        found = self.found.get(id(e))
        if found is None:
            found = self.found[id(e)] = [], []
            for node in names_in(e):
                if node.id in self.local:
                    found[type(node.ctx) is ast.Store].append(node)
        return found

    def reads(self, e: ast.AST, reaching: Reaching) -> None:
        """Note the variables that an expression reads."""
        self.uses += [(node, reaching.get(node.id, NEVER)) for node in self.names(e)[0]]

    def sets(self, target: ast.AST, reaching: Reaching, block: int) -> None:
        """Note the variables that a target sets."""
        for node in self.names(target)[1]:
            number = self.numbers.setdefault(id(node), len(self.parents))
            if number == len(self.parents):
                self.parents.append(number)
                self.blocks.append(block)
                self.settings.append((node, number))
            reaching[node.id] = frozenset([number])

    def body(self, statements: list[ast.stmt], reaching: Reaching | None) -> Reaching | None:
        """Which settings reach the end of statements, from those that reach the beginning; None: it is not reached."""
        if reaching is not None:
            reaching = dict(reaching)
        block, self.block = self.block, id(statements)
        for s in statements:
            if reaching is None:
                break
            reaching = self.statement(s, reaching)
        self.block = block
        return reaching

    def statement(self, s: ast.stmt, reaching: Reaching) -> Reaching | None:
        if isinstance(s, ast.If):
            self.reads(s.test, reaching)
            return merged([self.body(s.body, reaching), self.body(s.orelse, reaching)])
        if isinstance(s, ast.For | ast.While):
            return self.loop(s, reaching)
        if isinstance(s, ast.Break | ast.Continue):
            if self.loops:
                self.loops[-1][isinstance(s, ast.Continue)].append(reaching)
            return None
        self.reads(s, reaching)
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            self.uses.append((s.target, reaching.get(s.target.id, NEVER)))
        self.sets(s, reaching, self.block)
        return None if isinstance(s, ast.Return | ast.Raise) else reaching

    def loop(self, s: ast.For | ast.While, reaching: Reaching) -> Reaching | None:
        if isinstance(s, ast.For):
            self.reads(s.iter, reaching)
        head = reaching
        for _ in range(2):
            self.loops.append(([], []))
            inside = dict(head)
            if isinstance(s, ast.For):
                self.sets(s.target, inside, id(s.body))
            else:
                self.reads(s.test, inside)
            end = self.body(s.body, inside)
            stopped, continued = self.loops.pop()
            head = merged([reaching, end, *continued]) or reaching
        endless = isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and s.test.value
        return merged([None if endless else head, *stopped])


def merged(several: list[Reaching | None]) -> Reaching | None:
    """The settings that reach a place from several others."""
    known = [one for one in several if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    found = dict(known[0])
    for one in known[1:]:
        for name, numbers in one.items():
            old = found.get(name)
            found[name] = numbers if old is None or old is numbers else old | numbers
    return found
