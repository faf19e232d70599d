"""Pages that integrate: sizes of their kernels, the time of a step, what they compute, and how they run in a browser.

    python benchmarks/interactive.py [--steps 20000] [--seconds 4]

For each system and method: bytes of the module, and compressed as the page holds it; the time of a step in wasmtime
(Cranelift), and over that of the same code compiled for this processor; whether the states have the same bits after
1,000 steps; their largest difference from ``integrate``, over the largest number of the state. Needs wasmtime.

Then the page itself, where there is a Chromium (see ``tests/support/browser.py``), 1000 by 800 pixels: when its kernel
was ready, whether the bits are the same there, pictures a second while it runs, and milliseconds of script in a
picture, steps included. A browser without a graphics processor draws triangles by software, which takes most of the
time of a picture; so everything is measured again with WebGL's draw calls left out.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import wasmtime

import polhode as ph
from polhode.ensembles.interactive import CHECKED, program_of
from polhode.kernel import wasm
from polhode.runs.request import requested
from polhode.runs.stepping import Run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
import browser as browsers

LEANING = {"attitude": ph.rotation.exp_quaternion((0.6, 0, 0)), "angular_velocity": (0.0, 0.0, 8.0)}
AXES = [[1, 1, 1], [1, -1, 1], [1, -1, -1], [1, 1, -1]]
ROUNDS = 5
WATCHED = """
globalThis.spent = [];
const ask = requestAnimationFrame;
globalThis.requestAnimationFrame = (draw) => ask((now) => {
  const begun = performance.now();
  draw(now);
  spent.push(performance.now() - begun);
});
"""
"""Before a page's own scripts: how long it takes over each picture."""
NOT_DRAWN = """
for (const kind of ["Arrays", "Elements"]) {
  for (const many of ["", "Instanced"]) WebGL2RenderingContext.prototype[`draw${kind}${many}`] = () => {};
}
"""


def torque(t: float, q: Any, omega: Any, parameters: Any) -> tuple[float, float, float]:
    """A swinging field, and damping."""
    swing, damping = parameters
    return (swing * math.cos(2.0 * t) * q[1] - damping * omega[0], -damping * omega[1], -damping * omega[2])


def cases() -> dict[str, tuple[Any, tuple[str, ...], dict[str, Any], float]]:
    """Systems, methods, starts and steps."""
    wheels = ph.reaction_wheels(AXES, 2e-4, speed=(300.0, 0.0, 0.0, 0.0), viscous=2e-6)
    tether = ph.loads.tether(5.0, 10.0, of_a=(1, 0, 0)).on("a", "b")
    pair = ph.system(ph.body("a", 100.0, (3, 4, 5)), ph.body("b", 10.0, (1, 2, 2.5)), tether)
    angles = np.linspace(0.0, 2.0 * np.pi, 10, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles), 0.1 * np.cos(3.0 * angles)], axis=1)
    return {
        "heavy top": (ph.heavy_top((2.4, 2.4, 0.9), (0, 0, 1), 20.0), ("v2", "rkn6_14a", "mkrk:rk4", "taylor"),
                      LEANING, 0.01),
        "user's torque": (ph.rigid_body((2.0, 2.2, 0.4), torque=torque, parameters=[0.5, 0.1]), ("v2", "mkrk:gauss4"),
                          LEANING, 0.01),
        "CubeSat, four wheels": (ph.rigid_body((0.06, 0.05, 0.03), wheels=wheels), ("v2",),
                                 {"angular_velocity": (0.02, 0.3, 0.03)}, 0.02),
        "tethered pair": (pair, ("v2",), {"position": [(0, 0, 0), (12, 0, 0)],
                                          "angular_velocity": [(0.1, 0, 0.3), (0, 0.2, 0)]}, 0.01),
        "ten bodies": (ph.gravitating_bodies(mu=[0.1] * 10), ("v2",),
                       {"position": ring, "velocity": 0.4 * np.cross((0, 0, 1.0), ring)}, 0.001),
    }  # fmt: skip


def least(call: Callable[[], Any]) -> float:
    """The least time of some calls."""
    spent = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        call()
        spent.append(time.perf_counter() - begun)
    return min(spent)


def pages(seconds: float) -> None:
    """The pages in a browser, one system at a time."""
    print("in Chromium: ready after, bits; pictures a second, ms of script in a picture (median); without draw calls")
    with tempfile.TemporaryDirectory() as folder, browsers.Browser() as browser:
        for name, (system, methods, start, h) in cases().items():
            path, told = Path(folder) / "page.html", []
            path.write_text(ph.interactive(system, methods[0], step=h, **start).html(), encoding="utf-8")
            for before in (WATCHED, WATCHED + NOT_DRAWN):
                page = browser.open(path.as_uri(), (1000, 800), before)
                page.wait("globalThis.polhodeHandle")
                page.do("polhodeHandle.play()")
                page.do(f"(spent.length = 0, new Promise((done) => setTimeout(done, {1000 * seconds})))")
                taken, same = page.do("spent"), page.do("polhodeHandle.state().same")
                told.append(f"{len(taken) / seconds:.0f}, {np.median(taken):.1f}")
                ready = page.do("document.body.textContent.match(/began in ([0-9.]+ ms)/)?.[1]")
                page.close()
            print(f"{name}, {methods[0]}: {ready}, {'the same' if same else 'OTHERS'}; {'; '.join(told)}", flush=True)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--steps", type=int, default=20_000)
    reader.add_argument("--seconds", type=float, default=4.0)
    given = reader.parse_args()
    steps = given.steps
    print("system, method: bytes, compressed; us a step in wasmtime, over this processor; bits; from integrate")
    for name, (system, methods, start, h) in cases().items():
        for method in methods:
            live = ph.interactive(system, method, step=h, **start).scene["live"]
            packed = base64.b64decode(live["module"])
            begin, end = (np.frombuffer(base64.b64decode(live[word])) for word in ("begin", "end"))
            store = wasmtime.Store()
            module = wasmtime.Module(store.engine, gzip.decompress(packed))
            exports: Any = wasmtime.Instance(store, module, []).exports(store)
            run = Run(requested(system, method, {"step": h, "steps": CHECKED, "start": start}))
            program = program_of(run)
            here = wasm.Here(program, wasm.compiled(program).text)

            def there(n: int) -> None:
                exports["memory"].write(store, begin.tobytes(), live["at"]["begin"])  # noqa: B023
                exports["march"](store, 0.0, float(n), float(n), 0.0, h)  # noqa: B023

            def own(n: int) -> None:
                here.numbers[: len(begin)] = begin  # noqa: B023
                here.calls["march"](0, n, n, 0.0, h)  # noqa: B023

            there(CHECKED)
            at = live["at"]["begin"]
            same = bytes(exports["memory"].read(store, at, at + 8 * live["width"])) == end.tobytes()
            run.integrator.march(0, CHECKED, 2 * CHECKED, 0.0, h)
            off = np.abs(run.integrator.y - end).max() / np.abs(end).max()
            n = steps if name != "ten bodies" else steps // 10
            spent, ours = least(lambda: there(n)) / n, least(lambda: own(n)) / n  # noqa: B023
            print(f"{name}, {method}: {live['bytes']:,}, {len(packed):,}; {1e6 * spent:.3f}, {spent / ours:.2f}; "
                  f"{'the same' if same else 'OTHERS'}; {off:.0e}", flush=True)  # fmt: skip
    if browsers.found():
        pages(given.seconds)
    else:
        print("in Chromium: not run, there is none")


if __name__ == "__main__":
    main()
