"""Scenarios to begin with: a commented TOML file for each system, in which every key stands with its meaning.

Values are those of ``STARTERS``, which describe a motion worth looking at; of systems that are not listed there, as
those of plug-ins, samples of what their arguments take.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from polhode.arguments import choice
from polhode.arguments.words import FUNCTIONS, Argument, Form, ListOf, TableOf, arguments_of, summary
from polhode.bodies.body import body
from polhode.errors import InvalidInput
from polhode.joints import JOINTS
from polhode.loads import LOADS
from polhode.runs.scenario.schema import OUTPUT, RUN, SPELLED as WRITTEN, of_one_body
from polhode.runs.state import AS_GIVEN, given_state
from polhode.surroundings import SURROUNDINGS
from polhode.systems import SYSTEMS, System, start_files
from polhode.systems.controllers import controller
from polhode.systems.forces import FORCES
from polhode.systems.recipes import keys_of_recipes
from polhode.systems.registry import sample_arguments, sample_value

WIDTH = 100
ABOUT = {"t0": "time at the start"}
"""What keys mean that are not described elsewhere."""
OF_THE_REST = ("since", "commanded")
OF_JOINTS = ("joints", "joint_rates")  # keys of [initial] that are of mechanisms
"""Keys of [run] that only continued runs have."""
SPELLED_OUT = {**WRITTEN, Form.FUNCTION: f"{WRITTEN[Form.FUNCTION]}; such a scenario is run with --allow-code"}
"""What follows the description of a key."""
SPELLED = {
    "kg": "kg", "m": "m", "s": "s", "rad": "rad", "N": "N", "m2": "m2", "m_s": "m/s", "m_s2": "m/s2",
    "m3_s2": "m3/s2", "rad_s": "rad/s", "kg_m": "kg m", "kg_m2": "kg m2", "kg_m_s": "kg m/s", "kg_m2_s": "kg m2/s",
    "per_m": "1/m", "N_per_m": "N/m", "N_m2": "N/m2", "A_m2": "A m2", "N_m": "N m", "N_m_s": "N m s",
    "kg_m3": "kg/m3", "m2_kg": "m2/kg",
}  # fmt: skip
"""Units for people, by their spelling in keys."""
ROTATION = (
    "attitude", "rotation_vector", "euler_angles", "euler_angles_deg", "sequence", "angular_velocity",
    "angular_momentum", "angular_velocity_space", "angular_momentum_space",
)  # fmt: skip
TRANSLATION = ("position", "velocity", "momentum")
EXAMPLES: dict[str, Any] = {
    "attitude": (1.0, 0.0, 0.0, 0.0), "rotation_vector": (0.3, 0.0, 0.0), "euler_angles": (0.3, 0.0, 0.0),
    "euler_angles_deg": (20.0, 0.0, 0.0), "sequence": "XYZ", "velocity": (0.0, 0.0, 0.0),
    "lattice": "cubic", "draw": "gaussian", "rtol": 1e-9, "atol": 1e-12, "steps": 1000, "first_step": 0.01,
    "max_step": 0.1, "max_steps": 1000000, "since": 0.0, "commanded": False, "t_eval": (0.0, 0.5, 1.0),
    "breaks": (0.5,), "compensated": True, "units": "SI", "epoch": "2030-01-01T00:00:00 TDB", "work": False,
    "parameters": (1.0,),
    "reaction_field": math.inf, "box": (4.0, 4.0, 4.0), "mu": (1.0, 0.001), "sunlight": {"pressure": 4.56e-6},
    "atmosphere": {"density": 1e-12}, "surface": 6378137.0, "tangent": True, "reduce": {"energy": "mean"},
    "states": {"integral": 3}, "wheels": {"axes": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), "inertia": 0.01},
    "oem": "chief.oem", "aem": "chief.aem", "tle": "iss.tle", "omm": "iss.xml",
    "magnetic_field": {"kind": "dipole"}, "torquers": {"axes": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), "max_dipole": 0.2},
    "gyros": {"gimbal_axes": ((0.0, 0.0, 1.0),), "spin_axes": ((1.0, 0.0, 0.0),), "momentum": 2.0, "max_rate": 1.0},
    "pulsed_thrusters": {"force": 0.5, "directions": ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)), "every": 1.0},
}  # fmt: skip
"""Values of keys that stand in a comment and have no default, where a sample of their type would say less."""


@dataclass(frozen=True)
class Starter:
    """What a scenario to begin with says; the tables of the file, as in TOML."""

    title: str
    # system, initial, run: values of the keys that are given; all others stand in comments
    system: Mapping[str, Any] = field(default_factory=dict)
    initial: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)


EARTH = 3.986004418e14
STARTERS: dict[str, Starter] = {
    "particle": Starter(
        "A mass on a spring", {"mass": 1.0, "stiffness": 1.0},
        {"position": (1.0, 0.0, 0.0), "velocity": (0.0, 0.5, 0.0)}, {"step": 0.05, "t_end": 50.0},
    ),
    "free_body": Starter(
        "A free body that tumbles about its middle axis", {"inertia": (1.0, 1.5, 2.0)},
        {"angular_velocity": (0.01, 1.0, 0.01)}, {"step": 0.05, "t_end": 100.0},
    ),
    "rigid_body": Starter(
        "A rigid body with loads of one's own", {"inertia": (1.0, 1.5, 2.0)},
        {"angular_velocity": (0.3, -0.2, 1.1)}, {"step": 0.05, "t_end": 50.0},
    ),
    "heavy_top": Starter(
        "A fast heavy top", {"inertia": (5.0, 5.0, 1.0), "center_of_mass": (0.0, 0.0, 1.0), "weight": 20.0},
        {"rotation_vector": (0.3, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 50.0)},
        {"step": 0.0025, "t_end": 20.0, "every": 4},
    ),
    "gravity_gradient": Starter(
        "A satellite held in place, in the gravity gradient of the Earth",
        {"inertia": (1.7e4, 3.7e4, 5.4e4), "mu": EARTH, "radius": 7.0e6},
        {"rotation_vector": (0.1, 0.0, 0.0), "angular_velocity": (0.0005, 0.002, 0.0005)},
        {"step": 20.0, "t_end": 20000.0, "units": "SI"},
    ),
    "soft_wall": Starter(
        "A pinned body that bounces off a soft wall", {"inertia": (2.0, 3.0, 4.5), "sign": "printed"},
        {"angular_momentum": (2.0, 2.0, 2.0)}, {"step": 0.5, "t_end": 1000.0},
    ),
    "orbit": Starter(
        "An orbit about the Earth", {"mu": EARTH, "mass": 100.0, "surface": 6378137.0},
        {"position": (7.0e6, 0.0, 0.0), "velocity": (0.0, 7000.0, 3500.0)},
        {"step": 30.0, "t_end": 86400.0, "units": "SI"},
    ),
    "spacecraft": Starter(
        "A satellite that swings about the vertical, and its orbit",
        {"inertia": (150.0, 165.0, 15.0), "mu": EARTH, "mass": 120.0},
        {"position": (7.0e6, 0.0, 0.0), "velocity": (0.0, 7546.05, 0.0), "euler_angles_deg": (80.0, 0.0, -86.0),
         "sequence": "ZYX", "angular_velocity_space": (0.0, 0.0, 1.078e-3)},
        {"step": 60.0, "t_end": 86400.0, "units": "SI"},
    ),
    "gravitating_bodies": Starter(
        "A star and two planets", {"mass": (1.0, 0.001, 0.0003), "G": 1.0},
        {"position": ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.6, 0.0)),
         "velocity": ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-0.79, 0.0, 0.02))}, {"step": 0.05, "t_end": 100.0},
    ),
    "dipoles": Starter(
        "Eight soft dipolar spheres", {"n": 8}, {"draw": "gaussian", "seed": 7}, {"step": 0.01, "t_end": 5.0},
    ),
    "rigid_water": Starter(
        "Liquid water, 64 molecules of SPC/E", {"n": 64, "model": "spc/e", "density": 997.0},
        {"lattice": "cubic", "noise": 0.02, "rotations": "random", "temperature": 300.0, "seed": 7},
        {"step": 0.001, "t_end": 0.5, "every": 5},
    ),
}  # fmt: skip
"""The scenarios of polhode's own systems."""


def starter(name: str, stem: str = "") -> str:
    """The text of a scenario file for a system, which runs as it is."""
    choice(name, "system", [*SYSTEMS, "bodies"])
    if name == "bodies":
        return starter_of_sum(stem or name)
    build, stem = SYSTEMS[name], stem or name
    chosen = STARTERS.get(name) or sampled(name, build)
    lines = begun(plainly(build), stem, chosen.title, name)
    for argument in arguments_of(build).values():
        lines += entry(argument, chosen.system)
    lines += ["", "[initial]"]
    for argument in of_initial(build, chosen):
        lines += entry(argument, chosen.initial)
    return "\n".join(lines + ended(chosen, stem)) + "\n"


def begun(about: str, stem: str, title: str, kind: str) -> list[str]:
    """The lines of a scenario up to the type of its system."""
    return [
        *said(f"{about} `polhode systems` lists the others."), "#",
        f"#     polhode run {stem}.toml", "#",
        *said("Keys behind a # may be left out; what stands there is the default or an example, as it says. Units "
              "are those in square brackets, or any consistent ones; a key may have its unit in its name, such as "
              "mass_kg or t_end_d, and all is in SI then. `polhode schema` lists every key there is."),
        f"title = {as_toml(title)}",
        *said("Left out, it is what measurements recommend for the system; `polhode methods` lists them all."),
        '# method = "mkrk:cv8"', "", "[system]", f"type = {as_toml(kind)}",
    ]  # fmt: skip


def ended(chosen: Starter, stem: str) -> list[str]:
    """The lines of its run and of its results."""
    lines = ["", "[run]"]
    for argument in RUN.keys.values():
        if argument.name not in OF_THE_REST:
            lines += entry(replace(argument, type=Any), chosen.run)
    lines += ["", "[output]"]
    endings = {"file": f"{stem}.nc", "picture": f"{stem}.png", "store": f"{stem}.zarr"}
    for argument in OUTPUT.keys.values():
        lines += entry(replace(argument, type=Any), {}, endings)
    return lines


BODIES = Starter(
    "Two bodies on a tether, in orbit about the Earth",
    {
        "bodies": ({"name": "a", "mass": 100.0, "inertia": (20.0, 30.0, 25.0)}, {"name": "b", "mass": 10.0}),
        "loads": (
            {"kind": "tether", "stiffness": 5.0, "length": 100.0, "of_a": (0.0, 0.0, 1.0), "on": ("a", "b")},
            {"kind": "central", "mu": EARTH},
        ),
    },
    {
        "a": {"position": (7.0e6, 0.0, 0.0), "velocity": (0.0, 7546.05, 0.0), "angular_velocity": (0.0, 0.0, 1.078e-3)},
        "b": {"position": (7000101.0, 0.0, 0.0), "velocity": (0.0, 7546.16, 0.0)},
    },
    {"step": 0.5, "t_end": 5400.0, "every": 20, "units": "SI"},
)
"""The scenario of a sum."""


def starter_of_sum(stem: str) -> str:
    """The text of a scenario file of bodies and loads."""
    lines = begun("Bodies, and what acts on them: a system of your own.", stem, BODIES.title, "system")
    for one in BODIES.system["bodies"]:
        lines += ["", "[[system.bodies]]", *listed(body, one, one is BODIES.system["bodies"][0])]
    for one in BODIES.system["loads"]:
        build = LOADS[one["kind"]]
        lines += ["", "[[system.loads]]", *said(plainly(build)), f"kind = {as_toml(one['kind'])}"]
        lines += listed(build, one, True)
        lines += [f"on = {as_toml(one['on'])}"] if "on" in one else ['# on = ["a"]  # example']
    lines += ["", *said("Other loads; `on` says which bodies one is on, by default each in turn, and `name` what it is "
                        "called in the system, by default as its kind.")]  # fmt: skip
    for kind, build in LOADS.items():
        if all(one["kind"] != kind for one in BODIES.system["loads"]):
            lines += ["#", "# [[system.loads]]", *said(plainly(build)), f"# kind = {as_toml(kind)}"]
            lines += listed(build, {}, True)
    lines += [
        "#", *said("A function of yours, in a file beside this one; such a scenario is run with --allow-code. Its "
                   "arguments are the bodies it is on, then those of its states and numbers, by their names."),
        "# [[system.loads]]", '# kind = "laws.py:friction"', "# rate = 0.1  # example",
    ]  # fmt: skip
    lines += ["", *said("What holds two bodies together, or one to the ground:")]
    for kind, joint in JOINTS.items():
        lines += ["#", "# [[system.joints]]", *said(plainly(joint)), f"# kind = {as_toml(kind)}"]
        lines += [*listed(joint, {}, True), '# on = ["a", "b"]  # example']
    lines += ["", *said("What surrounds a body, under the name by which loads and controllers ask for it:")]
    for kind, around in SURROUNDINGS.items():
        lines += ["#", f"# [system.surroundings.{kind}]", *said(plainly(around)), f"# kind = {as_toml(kind)}"]
        lines += listed(around, {}, True)
    lines += ["", *said(plainly(controller)), "# [[system.controllers]]", *listed(controller, {}, True)]
    for name, start in BODIES.initial.items():
        lines += ["", f"[initial.{name}]"]
        shown = sorted(of_one_body(), key=lambda one: one.name not in start)
        first = name == next(iter(BODIES.initial))
        for argument in [one for one in shown if first or one.name in start]:
            lines += entry(argument, start)
    return "\n".join(lines + ended(BODIES, stem)) + "\n"


def listed(build: Callable[..., Any], given: Mapping[str, Any], whole: bool) -> Iterator[str]:
    """The lines of the arguments of a function; those that are not given only where the whole shall be shown."""
    for argument in arguments_of(build).values():
        if whole:
            yield from entry(argument, given, {})
        elif argument.name in given:
            yield f"{argument.name} = {as_toml(given[argument.name])}"


def plainly(build: Callable[..., Any]) -> str:
    """The first line of a docstring without marks."""
    return summary(build).replace("``", "")


def entry(argument: Argument, given: Mapping[str, Any], examples: Mapping[str, Any] = EXAMPLES) -> Iterator[str]:
    """The lines of one key: what it means, and its value, behind a # where it is not given."""
    name, default = argument.name, argument.default
    spelled = SPELLED.get(argument.unit or "", argument.unit)
    about = [
        argument.description.replace(f" ({spelled})", "") or ABOUT.get(name, ""),
        SPELLED_OUT.get(argument.type, ""),
    ]
    if argument.type is Form.FORCES:
        about.append(f"each a table [[system.{name}]] with a kind: {', '.join(FORCES)}")
    if isinstance(argument.type, ListOf):
        about.append(f"each a table [[system.{name}]]")
    about += [f"default {as_toml(default)}"] * (default is not None and name in given)
    unit = f" [{spelled}]" if argument.unit else ""
    yield from said("; ".join(filter(None, about)) + unit)
    if name in given:
        yield f"{name} = {as_toml(given[name])}"
    elif default is not None:
        yield f"# {name} = {as_toml(default)}  # default"
    else:
        yield f"# {name} = {as_toml(example(argument, examples))}  # example"


def example(argument: Argument, examples: Mapping[str, Any]) -> object:
    """What stands behind the # of a key without a default."""
    if argument.type in FUNCTIONS:
        return f"functions.py:{argument.name}"
    if isinstance(argument.type, ListOf):
        return ()
    if argument.name in examples:
        return examples[argument.name]
    value = {} if isinstance(argument.type, TableOf) else sample_value(argument)
    return "" if value is None else value


def said(text: str) -> list[str]:
    """Comment lines."""
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def as_toml(value: object) -> str:
    """A value as TOML writes it, whole."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {as_toml(inner)}" for name, inner in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, float):
        shortest = (f"{value:.{digits}e}" for digits in range(17))
        large = math.isfinite(value) and abs(value) >= 1e10
        return next(text for text in shortest if float(text) == value).replace("e+", "e") if large else repr(value)
    return json.dumps(value)


def of_initial(build: Callable[..., System], chosen: Starter) -> list[Argument]:
    """The keys of [initial] that mean something to a system: what the file gives, and other ways to give it."""
    numbers, recipes = arguments_of(given_state), keys_of_recipes()
    try:
        system = build(**chosen.system)
        rotates, moves, several = system.rotates, system.translates, system.N > 1
        orbits = "central_gravity" in system.provides and not several
    except InvalidInput:  # it needs a function of the user
        rotates = moves = several = orbits = True
    names = [name for name in numbers if name not in AS_GIVEN]
    names = [name for name in names if (rotates and name in ROTATION) or (moves and name in TRANSLATION)]
    files = [key for key in start_files.READERS if orbits and (rotates or key in start_files.IN_SI)]
    names += files + [key for key in recipes if several and moves and key not in (*start_files.READERS, *OF_JOINTS)]
    every = {name: numbers.get(name) or recipes[name] for name in names}
    return sorted(every.values(), key=lambda argument: argument.name not in chosen.initial)


def sampled(name: str, build: Callable[..., System]) -> Starter:
    """A scenario of a system that has none: samples of its required arguments, bodies apart, turning."""
    given = sample_arguments(build)
    system = build(**given)
    initial: dict[str, Any] = {}
    if system.translates:
        initial["position"] = tuple((1.0 + 2.0 * k, 0.0, 0.0) for k in range(system.N))
        initial["velocity"] = tuple((0.0, 0.1, 0.0) for _ in range(system.N))
    if system.rotates:
        initial["angular_velocity"] = (0.1, 0.2, 1.0)
    if system.N == 1:
        initial |= {key: initial[key][0] for key in ("position", "velocity") if key in initial}
    return Starter(name.replace("_", " "), given, initial, {"step": 0.01, "t_end": 1.0})
