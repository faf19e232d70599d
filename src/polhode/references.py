"""Citations: BibTeX for trajectories and reference keys, from ``references.bib`` in the package.

The file has one entry a line, ``@kind{key, field={...}, ...}``; methods, problems and comments refer to the keys.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from polhode.arguments import has
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.lazy import public_names

_FIELD = re.compile(r"(\w+)=\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")


__all__ = ["cite"]
__dir__ = public_names(__all__)


@functools.cache
def entries() -> dict[str, str]:
    """All BibTeX entries by key, in the order of the file."""
    text = files("polhode").joinpath("references.bib").read_text(encoding="utf-8")
    by_key = {}
    for block in re.split(r"^(?=@)", text, flags=re.MULTILINE):
        head = re.match(r"@\w+\{\s*([^,\s]+)\s*,", block)
        if head:
            by_key[head[1]] = block.strip()
    return by_key


def bibtex(key: str) -> str:
    """One entry as BibTeX, one field per line."""
    if key not in entries():
        raise unknown_name("reference", key, entries())
    entry = entries()[key]
    kind = entry[1 : entry.index("{")]
    fields = _FIELD.findall(entry)
    width = max(len(name) for name, _ in fields)
    return f"@{kind}{{{key},\n" + "".join(f"  {name.ljust(width)} = {{{value}}},\n" for name, value in fields) + "}"


def cite(what: Any) -> str:
    """BibTeX for a trajectory, or for the key of a reference.

    Parameters
    ----------
    what : xarray.Dataset or str
        A trajectory (its attributes name the method, its paper and the version of polhode), or a key such as
        ``"krysl2006"``.

    Returns
    -------
    str
        The entry; for a trajectory, after a BibTeX comment that names version and method.

    Raises
    ------
    InvalidInput
        Unknown key, or a value without a citation attribute.

    Examples
    --------
    >>> print(cite("goldstein2002").splitlines()[0])
    @book{goldstein2002,
    """
    if isinstance(what, str):
        return bibtex(what)
    attributes = what.attrs if has(what, "attrs") else {}
    if not isinstance(attributes, Mapping) or "citation" not in attributes:
        raise InvalidInput(f"only a trajectory or the key of a reference can be cited, but what is {shown(what)}")
    about = sentence(
        attributes.get("polhode_version", "(unknown version)"),
        attributes.get("method", "?"),
        attributes.get("method_description", ""),
    )
    return f"% {about}\n{bibtex(str(attributes['citation']))}"


def sentence(release: str, method: str, description: str) -> str:
    """The sentence that names version and method, for a paper."""
    described = f" ({description})" if description else ""
    return f"Computed with polhode {release}, method {method}{described}."
