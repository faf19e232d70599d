"""Functions of the user's as scenarios name them, and the source of those that no file of their own holds."""

from __future__ import annotations

import ast
import builtins
import dis
import importlib
import importlib.util
import inspect
import math
import os
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from polhode import reading
from polhode.errors import InvalidInput, UserFunctionError, closest
from polhode.kernel.jit import python_of

MOST = 1000
"""Most numbers of an array that is written."""


class Sources:
    """References to functions of the user's, and the text of a Python file with those that need one."""

    def __init__(self, folder: Path, file: str) -> None:
        self.folder, self.file = folder, file
        self.imports: dict[str, str] = {}
        self.parts: dict[str, str] = {}
        self.values: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """The Python file; empty where none is needed."""
        if not self.parts:
            return ""
        parts = [one for one in self.parts.values() if "\n" not in one]
        whole = [one for one in self.parts.values() if "\n" in one]
        top = ["from __future__ import annotations", "", *sorted(self.imports.values()), "", *parts]
        return "\n".join(top).rstrip() + "\n\n\n" + "\n\n\n".join(whole) + "\n"

    def reference(self, function: Callable[..., Any]) -> str:
        """How a scenario in the folder names a function; its source is noted where no module has it."""
        function = python_of(function)
        home = self.home(function)
        if home:
            return f"{home}:{function.__name__}"
        self.define(function.__name__, function)
        return f"{self.file}:{function.__name__}"

    def home(self, function: object) -> str:
        """The module or the file beside the scenario that has a function by its name; empty where none has."""
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        name = getattr(function, "__name__", "")
        if module is None or module.__name__ == "__main__" or getattr(module, name, None) is not function:
            return ""
        source = Path(getattr(module, "__file__", None) or "")
        if module.__package__ or source.suffix != ".py" or _installed(source):
            return module.__name__
        relative = os.path.relpath(source.resolve(), self.folder.resolve())
        return "" if ":" in relative else relative.replace(os.sep, "/")

    def define(self, name: str, value: object) -> None:
        """Note what makes a name mean this value in the file."""
        if name in self.values:
            if not _same(self.values[name], value):
                raise InvalidInput(f"two different things are called {name!r}, which one file, {self.file}, cannot "
                                   "hold; give one of them another name")  # fmt: skip
            return
        self.values[name] = value
        told = self.imported(name, value)
        if told:
            self.imports[name] = told
        elif isinstance(value, FunctionType):
            self.function(name, value)
        else:
            self.parts[name] = f"{name} = {self.written(name, value)}"

    def imported(self, name: str, value: object) -> str:
        """The line that imports a value under a name; empty where nothing that is installed has it."""
        if isinstance(value, ModuleType):
            whole, file = value.__name__, _file_of(value)
            beside = file.suffix == ".py" and file.resolve().parent == self.folder.resolve()
            if whole == "__main__" or not (value.__package__ or _installed(file) or beside):
                raise InvalidInput(f"the module {whole!r} cannot be imported by another process; {REMEDY}")
            return f"import {whole}" if whole == name else f"import {whole} as {name}"
        homes = [getattr(value, "__module__", None), getattr(type(value), "__module__", None), "numpy"]
        for home in homes:
            module = sys.modules.get(home or "")
            if module is None or home in ("__main__", "builtins") or isinstance(value, NO_OBJECTS):
                continue
            if isinstance(value, FunctionType) and not (module.__package__ or _installed(_file_of(module))):
                continue
            own = next((word for word, one in vars(module).items() if one is value and word.isidentifier()), "")
            if own:
                return f"from {home} import {own}" + (f" as {name}" if own != name else "")
        return ""

    def function(self, name: str, function: FunctionType) -> None:
        """Note the source of a function, and before it all that this reads."""
        source = source_of(function)
        free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
        for word in sorted(read_by(function, source)):
            if word != name:
                try:
                    value = free[word].cell_contents if word in free else function.__globals__[word]
                except (KeyError, ValueError):
                    raise InvalidInput(
                        f"function {function.__name__!r} reads {word!r}, which is not there; define it"
                    ) from None
                self.define(word, value)
        self.parts[name] = source if function.__name__ == name else f"{source}\n\n\n{name} = {function.__name__}"

    def written(self, name: str, value: Any) -> str:
        """A value as Python writes it."""
        if value is None or (isinstance(value, bool | int | str) and type(value) in (bool, int, str)):
            return repr(value)
        if isinstance(value, float):
            return repr(float(value)) if math.isfinite(value) else f'float("{float(value)!r}")'
        if isinstance(value, np.ndarray | np.number) and value.dtype.kind in "biuf" and value.size <= MOST:
            self.imports["numpy"] = "import numpy"
            return f"numpy.array({self.written(name, value.tolist())}, dtype={value.dtype.name!r})" + "[()]" * (
                not value.ndim
            )
        if type(value) is dict:
            inside = ", ".join(f"{self.written(name, k)}: {self.written(name, one)}" for k, one in value.items())
            return f"{{{inside}}}"
        if type(value) in (tuple, list, set, frozenset):
            inside = ", ".join(self.written(name, one) for one in value)
            return f"[{inside}]" if type(value) is list else f"{type(value).__name__}([{inside}])"
        raise InvalidInput(f"{name} is {_kind(value)}, which cannot be written to {self.file}; {REMEDY}")


NO_OBJECTS = (int, float, str, tuple, type(None))
"""What is the same wherever it is found."""
REMEDY = "put the function into a file of its own, with all that it reads, and import it from there"


def source_of(function: FunctionType) -> str:
    """The source of a function, which is that of what runs."""
    name = function.__name__
    try:
        source = textwrap.dedent(inspect.getsource(function)).rstrip()
        tree = ast.parse(source)
        defined = tree.body[0]
        compiled = compile(tree, "<source>", "exec", dont_inherit=True)
    except (OSError, TypeError, SyntaxError, IndentationError, IndexError):
        raise InvalidInput(f"the source of function {name!r} is not to be had; {REMEDY}") from None
    if not isinstance(defined, ast.FunctionDef):
        raise InvalidInput(f"function {name!r} is a lambda or no plain def, whose source cannot be written; write it "
                           "as a def")  # fmt: skip
    found = next((one for one in _codes(compiled) if one.co_name == name), None)
    free = function.__code__.co_freevars
    if found is None or (not free and _digest(found) != _digest(function.__code__)):
        raise InvalidInput(f"the source of function {name!r} has changed since it was made; run its definition again")
    return source


def read_by(function: FunctionType, source: str) -> set[str]:
    """Names that a function reads from outside: those of its code, of its defaults and decorators."""
    every = (one for code in _codes(function.__code__) for one in dis.get_instructions(code))
    found = {str(one.argval) for one in every if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    found |= set(function.__code__.co_freevars)
    defined: Any = ast.parse(source).body[0]
    outside = [*defined.decorator_list, *defined.args.defaults, *(one for one in defined.args.kw_defaults if one)]
    found |= {one.id for part in outside for one in ast.walk(part) if isinstance(one, ast.Name)}
    hints = [one.annotation for one in (*defined.args.posonlyargs, *defined.args.args, *defined.args.kwonlyargs)]
    hinted = {one.id for part in hints if part is not None for one in ast.walk(part) if isinstance(one, ast.Name)}
    known = {word for word in hinted if word in function.__globals__}
    return {word for word in found | known if not hasattr(builtins, word) or word in function.__globals__}


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code and those within it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _digest(code: CodeType) -> tuple[object, ...]:
    """What a code does, but for where it stands: a compiler may call a method of a module in two ways."""
    found: list[Any] = []
    for one in dis.get_instructions(code):
        if one.opname in ("PUSH_NULL", "PRECALL", "CACHE"):
            continue
        jumps = one.opcode in dis.hasjrel or one.opcode in dis.hasjabs
        value = _digest(one.argval) if isinstance(one.argval, CodeType) else None if jumps else one.argval
        found.append(("LOAD_ATTR" if one.opname == "LOAD_METHOD" else one.opname, type(value), value))
    return code.co_varnames, found


def _same(one: object, other: object) -> bool:
    """Whether two values are the same, arrays by their numbers."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return type(one) is type(other) and one.shape == other.shape and bool((one == other).all())
    return type(one) is type(other) and isinstance(one, int | float | str | tuple | list | dict) and one == other


def _file_of(module: ModuleType) -> Path:
    return Path(getattr(module, "__file__", None) or "")


def _installed(file: Path) -> bool:
    """Whether a file is one of an installed package, or of Python."""
    roots = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib")}
    return file.suffix != ".py" or any(file.resolve().is_relative_to(root) for root in roots)


def _kind(value: object) -> str:
    """What a value is, in words."""
    return f"a {type(value).__name__}" + (" of many numbers" if isinstance(value, np.ndarray) else "")


def function_of(folder: Path, name: str, allowed: bool, loaded: dict[Path, ModuleType]) -> Callable[..., Any]:
    """The function of this name, of a scenario in this folder; nothing is run unless that is allowed, and no file
    twice."""
    file, _, wanted = name.partition(":")
    if not allowed:
        raise InvalidInput(f"{name!r} is Python code, which a scenario runs only when allowed; read {file}, then add "
                           "--allow-code (in Python: allow_code=True)")  # fmt: skip
    if file.endswith(".py"):
        source = folder / file
        if not source.is_file():
            raise InvalidInput(f"there is no file {str(source)!r}; the path is relative to the scenario")
        module = loaded.get(source) or loaded.setdefault(source, _load(source))
    else:
        module = _imported(file, wanted)
    if not callable(getattr(module, wanted, None)):
        known = [word for word, value in vars(module).items() if callable(value) and not word.startswith("_")]
        close = closest(wanted, known, 1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; it has {', '.join(known) or 'no functions'}"
        raise InvalidInput(f"{file} has no function {wanted!r}{hint}")
    return getattr(module, wanted)


def _imported(name: str, wanted: str) -> ModuleType:
    """A module that is installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        raise InvalidInput(f"there is no module {missing.name!r}; install it, or name a file beside the scenario, "
                           f"'file.py:{wanted}'") from None  # fmt: skip
    except Exception as failed:
        raise UserFunctionError(f"importing {name} raised {type(failed).__name__}: {failed}") from failed


def _load(source: Path) -> ModuleType:
    """Run a Python file as a module of its own; its folder can be imported from while it runs."""
    name = f"polhode_scenario_{source.stem}_{sha256(str(source.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, source)
    assert spec is not None and spec.loader is not None
    reading.check(source, "python")
    module = importlib.util.module_from_spec(spec)
    folder = str(source.parent.resolve())
    sys.modules[name] = module
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except Exception as failed:
        del sys.modules[name]
        raise UserFunctionError(f"loading {source} raised {type(failed).__name__}: {failed}") from failed
    finally:
        sys.path.remove(folder)
    return module
