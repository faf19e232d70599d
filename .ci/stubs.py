"""What a type checker and an editor read of names that are loaded when they are first used: writes ``__init__.pyi``
beside each ``__init__.py`` with such names.

    python .ci/stubs.py           # writes them
    python .ci/stubs.py --check   # ends with 1 where one is not what it would be, or where mypy misses a wrong call
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

SOURCE = Path(__file__).resolve().parent.parent / "src"
PACKAGES = ("polhode", "polhode.runs", "polhode.ensembles", "polhode.algebra")
HEAD = '"""Written by .ci/stubs.py from the names of `__init__.py`."""\n\n'
WRONG = {
    "ph.integrat(top)": "integrat",
    'ph.integrate(top, step="ten")': "step",
    "ph.heavy_top(1.0, 2.0, wieght=3.0)": "wieght",
    "ph.kepler.propagat()": "propagat",
    "ph.runs.read_scenari('a.toml')": "read_scenari",
    "ph.rerun(ds, threads='two')": "threads",
}
"""Wrong calls, and the word in which mypy must find what is wrong."""


RIGHT = (
    "ph.system(ph.bodies(3, 1.0), ph.loads.weight(9.81))",
    "ph.integrate(top, 'v2', step=0.1, steps=10, angular_velocity=(0.1, 0.2, 0.3)).energy.values[-1]",
    "ph.integrate(top, steps=ph.Tolerance(1e-9), t_end=1.0, start={'time': 2.0}, parameters={'weight': 2.0})",
    "ph.ensemble(top, 'v2', members={'weight': [1.0, 2.0]}, step=0.1, steps=3)",
    "ph.surroundings.igrf_field(), ph.planets.EARTH.mu, ph.rotation, ph.plots.dashboard(ds)",
    "ph.controller(lambda body: {'command': 1.0}, every=0.5).states(command=0.0).on('a')",
    "ph.ensembles.sampling.attitude((1, 0, 0, 0), sigma=0.1), ph.runs.start_state(top, angular_velocity=(0, 0, 2.0))",
    "ph.trajectory.convergence.observed_order([0.4, 0.2, 0.1], [1.6e-3, 4e-4, 1e-4])",
    "ph.trajectory.frames.pointing_error(ds, toward=(0, 0, 1)), ph.ensembles.reductions.quantiles('energy', (0.1, 1))",
    "ph.compare(top, ['v2', 'trapm'], [0.1, 0.05], t_end=1.0, start={'angular_velocity': (0, 0, 1.0)})",
    "ph.methods.method('baoab', temperature=300.0, seed=2), ph.forces.gravity_field('EGM2008', orientation='earth')",
    "ph.gradient(sum, top, 'v2', step=0.1, steps=3, attitude=(1, 0, 0, 0), parameters={'weight': 2.0})",
)
"""Calls that mypy must take."""


def line_of(name: str, value: object, package: str) -> str:
    """The import of a name."""
    home = importlib.import_module(package)._HOMES.get(name, "")
    if (package == "polhode" and home) or home.endswith(":"):
        return f"from {package}.{home.removesuffix(':')} import {name} as {name}"
    assert isinstance(value, ModuleType), name
    parent, _, last = value.__name__.rpartition(".")
    return f"from {parent} import {last} as {name}"


def stub_of(package: str) -> str:
    """The text of a stub."""
    module = importlib.import_module(package)
    names = [name for name in module.__all__ if name != "__version__"]
    names += [name for name in getattr(module, "_PACKAGES", ()) if name not in names]
    lines = sorted(line_of(name, getattr(module, name), package) for name in names)
    version = ["", "__version__: str"] if "__version__" in module.__all__ else []
    every = (
        [f'__all__ = ["{names[0]}"]']
        if len(names) == 1
        else ["__all__ = [", *(f'    "{name}",' for name in sorted(names)), "]"]
    )
    return HEAD + "\n".join([*lines, "", *every, *version]) + "\n"


def missed() -> list[str]:
    """Wrong calls that mypy takes, and right ones that it refuses."""
    calls = (*WRONG, *RIGHT)
    text = "import polhode as ph\nfrom typing import Any\ntop: Any = None\nds: Any = None\n" + "\n".join(calls)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wrong.py"
        path.write_text(text + "\n", encoding="utf-8")
        words = [sys.executable, "-m", "mypy", "--no-error-summary", "--config-file=", "--cache-dir", folder, str(path)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=SOURCE)
    told = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    first = 5
    at = {call: [one for one in told if f"wrong.py:{first + k}:" in one] for k, call in enumerate(calls)}
    found = [f"mypy finds nothing wrong with {call} ({'; '.join(told)})" for call, word in WRONG.items()
             if not any(word in one for one in at[call])]  # fmt: skip
    return found + [f"mypy refuses {call}: {'; '.join(at[call])}" for call in RIGHT if at[call]]


def main() -> int:
    wrong = []
    for package in PACKAGES:
        path = SOURCE / Path(*package.split(".")) / "__init__.pyi"
        text = stub_of(package)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            wrong.append(f"{path} is not what .ci/stubs.py writes; run it")
    wrong += missed() if "--check" in sys.argv and not wrong else []
    print("\n".join(wrong), end="\n" * bool(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
