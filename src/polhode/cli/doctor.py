"""``polhode doctor``: whether this installation works, and what it computes with."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import click

from polhode.cli.options import as_command, option

PACKAGES = ("polhode", "numpy", "numba", "llvmlite", "xarray", "zarr", "scipy", "matplotlib")
"""Packages whose versions are always told."""
FOR_USERS = {
    "astropy": "quantities and times of astropy in any argument, paths of planets, axes of the Earth",
    "cluster": "polhode sweep on machines of a Dask cluster",
    "gpu": "ph.ensemble(engine='device')",
    "jax": "ph.gradients.jax_run",
    "magnetic": "ph.surroundings.magnetic_field of IGRF",
    "md": "GSD files of molecules",
    "mesh": "bodies in the shape of a mesh, in ph.view",
    "msis": "air by NRLMSIS",
    "notebook": "ph.view(live=True), which follows a run",
    "tle": "orbits from two-line elements",
    "torch": "ph.gradients.torch_run",
}
"""Extras that add something to polhode, and what; the others are for its development."""
REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*([^;\[]*)(?:;\s*(.*))?$")
EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
AT_MOST = 1e-9  # largest error of the self check, rad; it is about 1e-13


@as_command
def command(as_json: bool = option("--json", "Print it for machines.")) -> None:
    """Tell what polhode runs with here, and check that it works: versions and extras, the cache of compiled kernels,
    processors, vector registers, the GPU, the compiler; and a top that is compiled, run and compared with its known
    motion, which takes a second, or some more the first time.

    \b
    Examples:
        polhode doctor
        polhode doctor --json > doctor.json

    The exit code is 0 if all is well; else it is 1, and the last lines say what to do. An extra or a GPU that is not
    there is no fault. Put the output into a report of a problem.
    """
    facts = diagnosis()
    click.echo(json.dumps(facts, indent=2, allow_nan=False) if as_json else in_words(facts))
    if facts["problems"]:
        click.get_current_context().exit(1)


def diagnosis() -> dict[str, Any]:
    """All that ``polhode doctor`` tells, in JSON's types; ``problems`` lists what is wrong, each with its remedy."""
    problems: list[str] = []
    facts: dict[str, Any] = {"python": platform.python_version(), "platform": platform.platform()}
    facts |= {"versions": versions(problems), "extras": extras()}
    for name, found in (
        ("cache", cache), ("processors", processors), ("simd", simd), ("gpu", gpu), ("compiler", compiler),
        ("check", self_check),
    ):  # fmt: skip
        try:
            facts[name] = found(problems)
        except Exception as failed:  # a broken installation may fail in any way; the other facts are still told
            facts[name] = None
            problems.append(f"{name}: {type(failed).__name__}: {failed}; install polhode again, in a fresh environment")
    return facts | {"problems": list(dict.fromkeys(problems))}


def pip(what: str) -> str:
    """The pip line that brings a package."""
    return f'python -m pip install "{what}"'


def requirements() -> list[tuple[str, str, str]]:
    """Package, versions and extra of each requirement in the metadata of polhode; no extra: always needed."""
    try:
        lines = metadata.requires("polhode") or []
    except metadata.PackageNotFoundError:
        return []
    found = []
    for parsed in filter(None, map(REQUIREMENT.match, lines)):
        extra = EXTRA.search(parsed[3] or "")
        found.append((parsed[1], parsed[2].strip(" ()"), extra[1] if extra else ""))
    return found


def version_of(package: str) -> str | None:
    """The installed version, without importing the package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def versions(problems: list[str]) -> dict[str, str | None]:
    """Versions of what polhode needs."""
    needed = [(name, wanted) for name, wanted, extra in requirements() if extra in ("", "all")]
    found = {name: version_of(name) for name in dict.fromkeys((*PACKAGES, *(name for name, _ in needed)))}
    if found["polhode"] is None:
        problems.append("polhode is found, but not installed; in its folder: python -m pip install .")
    for name, wanted in needed:
        installed, least = found[name], re.search(r">=\s*([0-9.]+)", wanted)
        if installed is None:
            problems.append(f"{name} is missing; install it: {pip(name + wanted)}")
        elif least and numbers(installed) < numbers(least[1]):
            problems.append(f"{name} {installed} is too old; bring it up to date: {pip(name + wanted)}")
    return found


def numbers(version: str) -> tuple[int, ...]:
    """The first numbers of a version, for comparisons."""
    leading = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    parts = [int(part) for part in leading[0].split(".")] if leading else []
    return tuple((parts + [0, 0, 0])[:3])


def extras() -> dict[str, dict[str, Any]]:
    """For each extra what it is for, its packages with versions, whether all are there, and the pip line for it."""
    found: dict[str, dict[str, Any]] = {}
    for name, what in FOR_USERS.items():
        packages = {package: version_of(package) for package, _, extra in requirements() if extra == name}
        present = bool(packages) and None not in packages.values()
        found[name] = {"for": what, "present": present, "packages": packages, "pip": pip(f"polhode[{name}]")}
    return found


def cache(problems: list[str]) -> dict[str, Any]:
    """The folder of compiled kernels, its size, and whether it can be written."""
    from polhode.errors import FileProblem
    from polhode.kernel.cache import cache_folder, cache_root

    root, remedy = cache_root(), "set POLHODE_CACHE_DIR to a folder of your own"
    writable = False
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            writable = cache_folder().parent == root
        except FileProblem as unsafe:
            problems.append(str(unsafe))
    if told:
        problems.append(str(told[0].message))
    elif not writable and not any(str(root) in problem for problem in problems):
        problems.append(f"the cache of compiled kernels, {root}, cannot be written; {remedy}")
    sizes = sizes_of(root)
    return {"folder": str(root), "writable": writable, "files": len(sizes), "bytes": sum(sizes)}


def sizes_of(root: Path) -> list[int]:
    """Sizes of all files in a folder; those that go meanwhile, or cannot be read, are left out."""
    found = []
    for file in (os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names):
        with contextlib.suppress(OSError):
            found.append(os.stat(file, follow_symlinks=False).st_size)
    return found


def processors(problems: list[str]) -> dict[str, Any]:
    """Processors of the machine, and those that this process may use: so many threads has an ensemble."""
    from polhode.operating_system import processors as usable

    return {"machine": os.cpu_count(), "threads": usable(), "name": platform.processor() or platform.machine()}


def simd(problems: list[str]) -> dict[str, Any]:
    """Doubles in a vector register, and members of an ensemble that take a step together."""
    from polhode.kernel.lane_drive import lane_width
    from polhode.kernel.machine import features

    known = features()
    return {"doubles": 8 if known.get("avx512f") else 4 if known.get("avx") else 2, "members": lane_width()}


def gpu(problems: list[str]) -> dict[str, Any]:
    """The first GPU, or why there is none."""
    from polhode.ensembles import cuda

    why = cuda.why_none()
    if why:
        return {"present": False, "why": why}
    try:
        device = cuda.Device()
    except cuda.DeviceProblem as problem:
        return {"present": False, "why": str(problem)}
    return {"present": True, "name": device.name, "architecture": device.architecture,
            "multiprocessors": device.multiprocessors, "free_bytes": device.free_memory}  # fmt: skip


def compiler(_problems: list[str]) -> dict[str, Any]:
    """What compiles kernels, and the environment variable that turns it off."""
    from polhode.kernel import jit

    uses = "polhode's, and numba for functions that it does not know"
    if jit.disabled():
        uses = "none: NUMBA_DISABLE_JIT is set, so everything runs as plain Python, hundreds of times slower"
    return {"uses": uses, "environment": {"NUMBA_DISABLE_JIT": os.environ.get("NUMBA_DISABLE_JIT")}}


def self_check(problems: list[str]) -> dict[str, Any]:
    """Compile and run a top in steady precession, and compare its axis at the end with the known one.

    A symmetric top with tilt theta precesses steadily at the rate W if I3 w3 W = m g l + I1 W^2 cos theta, where w3 is
    its angular velocity about its axis: its axis turns by W t about the vertical.
    """
    from math import cos, hypot, sin

    import polhode as ph

    begun = time.perf_counter()
    first, last, weight, tilt, rate, t_end = 5.0, 1.0, 20.0, 0.3, 0.5, 1.0
    spin = (weight + first * rate**2 * cos(tilt)) / (last * rate)
    top = ph.heavy_top(inertia=(first, first, last), center_of_mass=(0.0, 0.0, 1.0), weight=weight)
    ds = ph.integrate(
        top, "mkrk:cv8", step=0.01, t_end=t_end,
        start={"rotation_vector": (tilt, 0.0, 0.0), "angular_velocity": (0.0, rate * sin(tilt), spin)},
    )  # fmt: skip
    w, x, y, z = (float(value) for value in ds["attitude"].values[-1])
    axis = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    known = (sin(tilt) * sin(rate * t_end), -sin(tilt) * cos(rate * t_end), cos(tilt))
    error = hypot(*(a - b for a, b in zip(axis, known, strict=True)))
    passed = error <= AT_MOST
    if not passed:
        problems.append(
            f"the self check is wrong by {error:.1e} rad, more than {AT_MOST:g}: compiled code does not compute what "
            "it should; remove the cache folder and try again, and report it"
        )
    return {"passed": passed, "error": error if error == error else None, "at_most": AT_MOST,
            "seconds": round(time.perf_counter() - begun, 3)}  # fmt: skip


def in_words(facts: dict[str, Any]) -> str:
    """The diagnosis for people."""
    rows = [("Python", f"{facts['python']}, {facts['platform']}")]
    rows += [(name, version or "missing") for name, version in facts["versions"].items()]
    for name, extra in facts["extras"].items():
        there = ", ".join(f"{package} {version}" for package, version in extra["packages"].items() if version)
        rows.append(
            (f"extra {name}", (there if extra["present"] else f"absent; {extra['pip']}") + f"; for {extra['for']}")
        )
    told: dict[str, Callable[[Any], str]] = {
        "cache": lambda one: f"{one['folder']}, {one['files']} files, {one['bytes'] / 1e6:,.1f} MB, "
        f"{'' if one['writable'] else 'not '}writable",
        "processors": lambda one: f"{one['machine']} ({one['name']}), {one['threads']} threads for ensembles",
        "simd": lambda one: f"{one['doubles']} doubles in a register, {one['members']} members take a step together",
        "gpu": lambda one: f"{one['name']}, {one['architecture']}, {one['multiprocessors']} multiprocessors, "
        f"{one['free_bytes'] / 1e9:,.1f} GB free" if one["present"] else f"none: {one['why']}",
        "compiler": lambda one: one["uses"],
        "check": lambda one: ("passed" if one["passed"] else "failed")
        + (f", error {one['error']:.0e} rad" if one["error"] is not None else "") + f", {one['seconds']:.1f} s",
    }  # fmt: skip
    rows += [(name, say(facts[name]) if facts[name] else "failed, see below") for name, say in told.items()]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {value}" for name, value in rows]
    return "\n".join([*lines, "", *([f"problem: {problem}" for problem in facts["problems"]] or ["all is well"])])
