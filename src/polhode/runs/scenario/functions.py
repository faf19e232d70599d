"""Functions that a scenario names: ``file.py:function``, a file beside it, or ``package.module:function``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from polhode import reading
from polhode.errors import InvalidInput, UserFunctionError, closest


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
    return getattr(module, wanted)  # type: ignore[no-any-return]


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
