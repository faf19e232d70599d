"""``polhode.interactive``: a page that takes the steps of a run itself, by the kernel that polhode wrote of it.

What is sent is the recorded run of the first steps, as ``polhode.view`` shows one, and beside it the kernel as a module
of WebAssembly (``kernel.wasm``) with the numbers it begins with. A page computes no physics of its own: energies and
momenta are told by the function ``observe``, which is compiled of the same roles, as ``push`` is. A slider is what
varies among the members of an ensemble: a number that a system is built with, or that it starts with.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from polhode.algebra.library import LIBRARY
from polhode.arguments import Array, mapping, vector
from polhode.arguments.words import arguments_of as described, spelled
from polhode.ensembles.device import MOST_MEMORY, loop_of
from polhode.ensembles.members import STARTING
from polhode.ensembles.plan import words_of_start
from polhode.errors import InvalidInput, answering, unknown_name
from polhode.flows import observing
from polhode.flows.gyrostat import momentum_of_rotors
from polhode.kernel import jit, layout as L, wasm
from polhode.kernel.device import fixed_numbers
from polhode.kernel.source import Unsupported
from polhode.methods import Method, MethodSpec
from polhode.runs.integrate import carry_out
from polhode.runs.parameters import arguments_of, system_with, value_at
from polhode.runs.request import GIVEN_IN, Request, in_units_of, requested
from polhode.runs.settings import Settings
from polhode.runs.state import AtStart, Start
from polhode.runs.stepping import Run
from polhode.systems import System
from polhode.systems.listing import SUMMANDS
from polhode.systems.record import present_system
from polhode.systems.registry import SYSTEMS
from polhode.trajectory import UNITS
from polhode.viewer.scene import scene_of
from polhode.viewer.shapes import mesh_of
from polhode.viewer.view import FRAMES, View

VERSION = 1
CHECKED = 1000
"""Steps of the recorded run, which the page takes as well and compares bit by bit."""
MAKERS = {kind: make for made in SUMMANDS.values() for kind, make in made.items()}
"""What makes bodies, loads and others of a sum, by kind."""
LARGEST = 60_000
"""Most bytes of a module."""
LONGER = 20.0
"""How much longer or shorter than asked for the page may make the steps."""
MIDDLE = 0.375
"""Where between the ends of a slider a third system is built: not in the middle, which odd functions would pass."""
STATUSES = {
    L.NOT_CONVERGED: "the solver did not reach round-off", L.TOO_LARGE: "a body turns too far in one step",
    L.NOT_FINITE: "the state became infinite", L.SINGULAR: "the equations of a step became singular",
    L.LOST: "the solution of a step was lost",
}  # fmt: skip


def program_of(run: Run) -> wasm.Program:
    """The loop of a run, and ``observe`` and ``push`` beside it."""
    system, loop = run.system, loop_of(run.integrator)
    made = wasm.Program(loop, run.integrator.limit, LIBRARY)
    words: dict[str, Any] = {"numbers": made.numbers, "BODIES": made.slots["bodies"]}
    seen: Any = jit.bind(
        observing.observe, told=fixed_numbers(loop.step_info), N=system.N, WORKS=len(system.work_columns),
        potential=observing.no_potential if run.potential is None else jit.python_of(run.potential),
        rotors=momentum_of_rotors if system.wheels_at >= 0 else observing.no_rotors,
        SLOT=made.slots["observed"], PARAMETERS=made.slots["parameters"], **words,
    )  # type: ignore[no-untyped-call]  # fmt: skip
    pushed: Any = jit.bind(observing.push, SLOT=made.slots["push"], **words)  # type: ignore[no-untyped-call]
    made.functions |= {"observe": (seen, 1), "push": (pushed, 1)}
    return made


# ------------------------------------------------------------------ what cannot be taken
RATHER = "show a run of it by polhode.view"


def reason_against(request: Request) -> str:
    """Why a page cannot take the steps of a run, a clause with what to do; empty where it can."""
    system, prepared = request.system, request.method.prepare().suited(request.system.provides)
    if jit.disabled():
        return "nothing is compiled in this process; unset NUMBA_DISABLE_JIT"
    if prepared.step_density:
        return "its steps follow a time transformation; take a method with steps of one size, such as 'v2'"
    if prepared.processed:
        return "the method works on states of its own; take one without a processor, such as 'rkn6_14a'"
    if system.serve is not None or system.memory > MOST_MEMORY:
        return f"its loads are shared among threads, which a page has none of; {RATHER}"
    if system.sampled:
        return f"controllers set states between its steps, where the page calls nothing; leave them out, or {RATHER}"
    if system.watched or system.switches or system.impulses or (system.ground and not system.ground.assumed):
        return f"it has burns, impulses or events, at which a run stops by itself; leave them out, or {RATHER}"
    return ""


# ------------------------------------------------------------------ sliders
class Asked(NamedTuple):
    """A run as it was asked for: its request follows for other values of what a slider changes."""

    system: System
    method: str | Method | MethodSpec | None
    step: float
    start: Mapping[str, Any]
    settings: Settings | Mapping[str, Any] | None

    def request(self, values: Mapping[str, float]) -> Request:
        """The request with these values, by the names of sliders."""
        own = {name: x for name, x in values.items() if name.partition(".")[0] not in STARTING}
        start = dict(self.start)
        for name in set(values) - set(own):
            word, *way = name.split(".")
            start[word] = np.array(start[word], dtype=float)
            start[word][tuple(map(int, way))] = values[name]
        system = system_with(self.system, own, "knobs")
        words = {"step": self.step, "steps": CHECKED, "start": start, "settings": self.settings}
        return requested(system, self.method, words)

    def value(self, name: str) -> float:
        """The value of what a slider changes."""
        word, *way = name.split(".")
        if word in STARTING:
            if self.start.get(word) is None:
                raise InvalidInput(f"knobs has {name}, but nothing is said of {word} at the start; give it there")
            found = self.start[word]
        elif word in arguments_of(self.system):
            found, way = value_at(self.system, name, "knobs"), []
        else:
            raise unknown_name("number in knobs", name, ["step", *STARTING, *arguments_of(self.system)])
        try:
            return float(np.array(found, dtype=float)[tuple(map(int, way))])
        except (TypeError, ValueError, IndexError):
            raise InvalidInput(f"{name} in knobs is not one number; give a part of it, such as {word}.0") from None


def begin_of(request: Request) -> Array:
    """The numbers with which a module begins: state, constants, parameters, and what steps carry."""
    system = request.system
    return np.concatenate([request.state, np.ravel(system.bodies), system.with_memory, np.zeros(4)])


def changed(before: Array, after: Array) -> Array:
    """By how much numbers have changed; 0 of those that are infinite in both."""
    return np.subtract(after, before, out=np.zeros(len(before)), where=after != before)


def words_of(system: System, name: str, units: str) -> dict[str, str]:
    """What a slider is called, and the unit of its number where that is known."""
    word, *way = name.split(".")
    plain = word.removesuffix("_space")
    unit = UNITS[units][plain] if plain in GIVEN_IN.get(units, ()) else ""
    if plain in GIVEN_IN["SI"]:  # a vector
        way[-1] = "xyz"[int(way[-1])]
    elif units == "SI":
        made = system.arguments.get(word)
        kind = made.get("kind") if way and isinstance(made, Mapping) else None
        build, argument = (MAKERS.get(kind), way[0]) if kind else (SYSTEMS.get(system.name), word)
        found = described(build).get(argument) if build else None
        unit = spelled(found.unit or "") if found else ""
    return {"label": " ".join((word.replace("_", " "), *way)), "unit": unit}


def knob(asked: Asked, name: str, ends: object, width: int) -> dict[str, Any]:
    """A slider: the slots that it changes, each with its slope, as systems tell that are built for some values."""
    low, high = vector(ends, f"knobs[{name!r}]", 2).tolist()
    value = asked.value(name)
    if not low <= value <= high or low == high:
        raise InvalidInput(
            f"{name} is {value:g}, and its slider goes from {low:g} to {high:g}; give two ends around it"
        )
    requests = [asked.request({name: x}) for x in (low, low + MIDDLE * (high - low), high, value)]
    if len({wasm.text_of(program_of(Run(one))) for one in requests}) > 1:
        raise InvalidInput(f"{name} cannot have a slider: it changes the kernel itself; make a page for each value")
    first, third, last, now = map(begin_of, requests)
    change = changed(first, last)
    off = [changed(first, third) - MIDDLE * change, changed(first, now) - (value - low) / (high - low) * change]
    if not (np.abs(off) <= 1e-12 * np.maximum(1.0, np.abs(change))).all():
        raise InvalidInput(f"{name} cannot have a slider: what the kernel reads does not change along a line with it; "
                           "make a page for each value")  # fmt: skip
    slots = np.flatnonzero(change)
    return {
        "name": name, "low": low, "high": high, "value": value,
        **words_of(asked.system, name, requests[0].settings.units),
        "restarts": bool((slots < width).any()),
        "slots": [[k, slope] for k, slope in zip(slots.tolist(), (change[slots] / (high - low)).tolist(), strict=True)],
    }  # fmt: skip


def check_together(asked: Asked, begin: Array, knobs: list[dict[str, Any]]) -> None:
    """Refuse sliders that are multiplied with each other, which their ends farthest from now show."""
    far = {one["name"]: one["low" if 2.0 * one["value"] > one["low"] + one["high"] else "high"] for one in knobs}
    expected = begin.copy()
    for one in knobs:
        for k, slope in one["slots"]:
            expected[k] += slope * (far[one["name"]] - one["value"])
    found = begin_of(asked.request(far))
    if not np.allclose(found, expected, rtol=1e-11, atol=1e-12):
        raise InvalidInput(f"{' and '.join(far)} change the same numbers together; give a slider to one of them")


def packed(values: bytes | Array) -> str:
    """Bytes, or numbers bit for bit (JSON knows no infinity), in base 64."""
    return base64.b64encode(values if isinstance(values, bytes) else values.astype("<f8").tobytes()).decode("ascii")


@answering
def interactive(
    system: System, method: str | Method | MethodSpec | None = None, *, step: float,
    knobs: Mapping[str, Sequence[float]] | None = None, start: Start = None, mesh: Any = None, title: str | None = None,
    settings: Settings | Mapping[str, Any] | None = None, **at_start: Unpack[AtStart],
) -> View:  # fmt: skip
    """A page in which the integrator itself runs, as WebAssembly: see a motion that does not end, change numbers by
    sliders, push the body, and watch what the method conserves.

    The page is one file that asks for nothing. It holds the kernel that is compiled of this system and this method, the
    one of ``polhode.integrate`` but that each product and each sum is rounded; it takes the first 1,000 steps when it
    opens and says whether they have the bits that they had here.

    Parameters
    ----------
    system : System
        What moves: bodies of your own, tops, craft with wheels, orbits, with loads and functions of yours. Controllers,
        burns, impulses, events, molecules and functions that run as Python are refused.
    method : str or MethodSpec, optional
        As for ``polhode.integrate``; no processed one, none with a time transformation.
    step : float
        Step size, in the system's unit of time (s in SI); a slider changes it, from a twentieth to the twentyfold
        unless ``knobs`` has ``"step"``.
    knobs : mapping of (float, float), optional
        Sliders by what they change, each with its ends: arguments of the function that builds the system, by path
        (``"weight"``, ``"parameters.0"``, ``"forces.0.area"``), numbers of the start (``"angular_velocity.2"``), as
        ``members`` of ``polhode.ensemble`` are called, and ``"step"``. The numbers of the kernel must change along a
        line with each: so a moment of inertia, which is inverted, has none.
    start : State, mapping or xarray.Dataset, optional
        As for ``polhode.integrate``, and so are ``settings`` and ``**at_start``.
    mesh, title
        As for ``polhode.view``.
    settings : Settings or mapping, optional
        Of the method and the units: ``compensated``, ``guard``, ``units``.
    **at_start : array_like
        ``attitude`` (4,), body to space, ``angular_velocity`` (3,) in the body frame, ``position`` (3,) in space and so
        on, as for ``polhode.integrate``; of several bodies a row each.

    Returns
    -------
    View
        As ``polhode.view`` returns it: a notebook displays it, ``save(path)`` writes the page.

    Raises
    ------
    InvalidInput
        What a page cannot take, or a slider cannot change; the sentence says which and what to do.
    StepFailed
        One of the first 1,000 steps failed; take shorter ones.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> leaning = ph.rotation.exp_quaternion((0.3, 0, 0))
    >>> ph.interactive(top, "v2", step=0.01, knobs={"weight": (0, 40)}, attitude=leaning, angular_velocity=(0, 0, 20))
    <View of 1 run, 1,001 frames: show(), save(path), html()>
    """
    system = present_system(system)
    words = words_of_start(system, start)
    for name, value in at_start.items():
        if value is not None and words.get(name) is not None:
            raise InvalidInput(f"{name} is given, and start has it too; keep one of them")
        words[name] = value
    settings = Settings.of(settings)
    units, words = in_units_of(system.units, system.name, system.arguments, settings.units, words)
    asked = Asked(system, method, step, words, replace(settings, units=units))
    request = asked.request({})
    what, why = f"a page cannot take the steps of {system.name!r} by {request.method.label!r}", reason_against(request)
    if why:
        raise InvalidInput(f"{what}: {why}")
    run, h = Run(request), request.steps.h  # type: ignore[union-attr]
    if any(hasattr(role, "behind") for role in (run.integrator.loads, run.potential)):
        raise InvalidInput(f"{what}: a function of it runs as Python, which a page has not; write it with numbers, "
                           f"tuples and functions of these, or {RATHER}")  # fmt: skip
    begin, ends = begin_of(request), dict(mapping(knobs or {}, "knobs"))
    steps = vector(ends.pop("step", (h / LONGER, h * LONGER)), "knobs['step']", 2)
    if not 0.0 < steps[0] < steps[1]:
        raise InvalidInput(
            f"step goes from {steps[0]:g} to {steps[1]:g} in knobs; give two positive sizes, the smaller first"
        )
    try:
        program = program_of(run)
        moved = [knob(asked, name, two, len(request.state)) for name, two in ends.items()]
        module = wasm.compiled(program)
    except Unsupported as problem:
        raise InvalidInput(f"{what}: its kernel has {problem}; {RATHER}") from None
    if len(moved) > 1:
        check_together(asked, begin, moved)
    if len(module.code) > LARGEST:
        raise InvalidInput(f"{what}: its kernel has {len(module.code):,} bytes, more than {LARGEST:,}; take a method "
                           "with fewer stages")  # fmt: skip
    scene, arrays = scene_of([("", carry_out(request))], FRAMES, None, mesh_of(mesh), title)
    here = wasm.Here(program, module.text)
    here.numbers[: len(begin)] = begin
    here.calls["march"](0, CHECKED, CHECKED, request.t0, h)
    scene["live"] = {
        "version": VERSION, "method": request.method.label, "module": packed(gzip.compress(module.code, 9, mtime=0)),
        "bytes": len(module.code), "step": h, "time": request.t0, "unit": scene["runs"][0]["clock"]["unit"],
        "bodies": system.N, "width": len(request.state), "checked": CHECKED, "begin": packed(begin), "at": module.at,
        "end": packed(here.numbers[: len(request.state)]),
        "wheels": [L.BODY * system.N + k for k, one in enumerate(system.auxiliary) if one.quantity == "wheel_momentum"],
        "rows": wasm.ROWS, "observed": list(observing.TOLD), "conserves": list(system.conserves),
        "frames": np.asarray(system.frames, dtype=float).tolist(), "steps": steps.tolist(),
        "statuses": {str(status): f"{told}; take shorter steps" for status, told in STATUSES.items()}, "knobs": moved,
    }  # fmt: skip
    return View(scene, arrays)
