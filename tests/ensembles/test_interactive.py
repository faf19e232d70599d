"""Pages that take the steps themselves: their kernels in wasmtime have the bits of the same module here; sliders; what
is refused."""

import base64
import functools
import gzip
import math
import subprocess
from types import SimpleNamespace

import llvmlite.binding as llvm
import numpy as np
import pytest
from click.testing import CliRunner
from llvmlite import ir
from numba import types

import polhode as ph
from polhode import cli
from polhode.ensembles import interactive as pages
from polhode.errors import InvalidInput
from polhode.kernel import device, jit, layout as L, wasm, wasm_link
from polhode.kernel.later import Intrinsic
from polhode.kernel.source import Unsupported
from polhode.runs.request import requested
from polhode.runs.stepping import Run
from polhode.viewer import page

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
EARTH = ph.planets.EARTH
LEANING = {"attitude": ph.rotation.exp_quaternion((0.6, 0, 0)), "angular_velocity": (0.1, 0.2, 8.0)}
LOW = {"position": (7e6, 0, 0), "velocity": (0, 7500.0, 1000.0)}
AXES = [[1, 1, 1], [1, -1, 1], [1, -1, -1], [1, 1, -1]]


def torque(t, q, omega, parameters):
    swing, damping = parameters
    return (swing * math.cos(2.0 * t) * q[1] - damping * omega[0], -damping * omega[1], -damping * omega[2])


def top(**words):
    return ph.heavy_top(**{"inertia": (2.4, 2.4, 0.9), "center_of_mass": (0, 0, 1), "weight": 20.0} | words)


def driven():
    return ph.rigid_body((2.0, 2.2, 0.4), torque=torque, parameters=[0.5, 0.1])


def cubesat():
    return ph.rigid_body((0.06, 0.05, 0.03), wheels=ph.reaction_wheels(AXES, 2e-4, speed=(300, 0, 0, 0), viscous=2e-6))


def pair():
    a, b = ph.body("a", 100.0, (3, 4, 5)), ph.body("b", 10.0, (1, 2, 2.5))
    return ph.system(a, b, ph.loads.tether(5.0, 10.0, of_a=(1, 0, 0)).on("a", "b"))


PAIR = {"position": [(0, 0, 0), (12, 0, 0)], "angular_velocity": [(0.1, 0, 0.3), (0, 0.2, 0)]}
CASES = {
    "v2": (top, "v2", LEANING, 0.01), "rkn": (top, "rkn6_14a", LEANING, 0.01), "mkrk": (top, "mkrk:rk4", LEANING, 0.01),
    "torque": (driven, "v2", LEANING, 0.01), "wheels": (cubesat, "v2", {"angular_velocity": (0.02, 0.3, 0.03)}, 0.02),
    "pair": (pair, "v2", PAIR, 0.01),
}  # fmt: skip


@functools.cache
def live(case):
    build, method, start, h = CASES[case]
    return ph.interactive(build(), method, step=h, **start).scene["live"]


def numbers(text):
    return np.frombuffer(base64.b64decode(text))


class Kernel:
    """The module of a page, as a page uses it."""

    def __init__(self, live):
        wasmtime = pytest.importorskip("wasmtime", reason="wasmtime runs the modules of pages; it is in polhode[test]")
        self.live, self.store = live, wasmtime.Store()
        code = gzip.decompress(base64.b64decode(live["module"]))
        module = wasmtime.Module(self.store.engine, code)
        assert not module.imports and len(code) == live["bytes"] <= 60_000
        self.exports = wasmtime.Instance(self.store, module, []).exports(self.store)
        self.write("begin", numbers(live["begin"]))

    def write(self, name, values):
        self.exports["memory"].write(self.store, np.asarray(values, "<f8").tobytes(), self.live["at"][name])

    def read(self, name, count):
        at = self.live["at"][name]
        return np.frombuffer(bytes(self.exports["memory"].read(self.store, at, at + 8 * count)))

    def call(self, name, *arguments):
        self.exports[name](self.store, *map(float, arguments))

    def march(self, first, n, every, t0, h):
        self.call("march", first, n, every, t0, h)
        status, done = self.read("progress", 2)
        return int(status), int(done)

    @property
    def state(self):
        return self.read("begin", self.live["width"])

    def observe(self, t):
        self.call("observe", t)
        return dict(zip(self.live["observed"], self.read("observed", len(self.live["observed"])), strict=True))


# ------------------------------------------------------------------ kernels
@pytest.mark.parametrize("case", CASES)
def test_a_page_takes_the_steps_with_the_bits_of_here(case):
    build, method, start, h = CASES[case]
    kernel = Kernel(live(case))
    assert kernel.march(0, 1000, 1000, 0.0, h) == (L.OK, 1000)
    assert kernel.state.tobytes() == numbers(live(case)["end"]).tobytes()
    run = Run(requested(build(), method, {"step": h, "steps": 1000, "start": start}))
    run.integrator.march(0, 1000, 2000, 0.0, h)  # no row
    assert np.allclose(kernel.state, run.integrator.y, rtol=1e-12, atol=1e-12)
    assert kernel.read("rows", 13)[:13].tobytes() == kernel.state[:13].tobytes()


@pytest.mark.parametrize("case", ["torque", "wheels", "pair"])
def test_energies_and_momenta_are_those_of_the_dataset(case):
    build, method, start, h = CASES[case]
    kernel = Kernel(live(case))
    kernel.march(0, 500, 500, 0.0, h)
    told, ds = kernel.observe(500 * h), ph.integrate(build(), method, step=h, steps=500, **start).isel(time=-1)
    energy = told["kinetic_energy"] + told["potential_energy"]
    assert energy == pytest.approx(float(ds.energy), rel=1e-11)
    assert told["work"] == pytest.approx(float(ds.work.sum()) if "work" in ds else 0.0, rel=1e-9, abs=1e-12)
    whole = next(ds[name] for name in ("total_angular_momentum", "spin", "angular_momentum_space") if name in ds)
    found = [told[f"angular_momentum_{axis}"] for axis in "xyz"]
    assert np.allclose(found, whole, rtol=1e-10, atol=1e-12)


def test_steps_go_on_from_call_to_call_and_rows_are_written():
    kernel, other = Kernel(live("torque")), Kernel(live("torque"))
    kernel.march(0, 100, 10, 0.0, 0.01)
    rows = kernel.read("rows", 10 * kernel.live["width"]).reshape(10, -1)
    for k, row in enumerate(rows):
        assert other.march(10 * k, 10, 10, 0.0, 0.01) == (L.OK, 10)
        assert other.state.tobytes() == row.tobytes()


def test_after_a_failure_the_state_is_the_last_good_one():
    kernel, other = Kernel(live("torque")), Kernel(live("torque"))
    for one in (kernel, other):
        one.write("parameters", [0.5, -40.0])  # which drives it
    status, done = kernel.march(0, 2000, 2000, 0.0, 0.01)
    assert str(status) in kernel.live["statuses"] and 0 < done < 2000
    assert other.march(0, done, 2000, 0.0, 0.01) == (L.OK, done)
    assert kernel.state.tobytes() == other.state.tobytes()
    carried, counted = kernel.read("carried", 4), other.read("carried", 4)
    assert (
        carried.tobytes() == counted.tobytes() and counted[3] >= done
    )  # load evaluations, those of the failure forgotten


def test_a_push_is_an_impulse_at_a_point():
    kernel = Kernel(live("pair"))
    before, (arm, impulse) = kernel.observe(0.0), ((0.5, -1.0, 2.0), (0.3, 0.2, -0.1))
    kernel.write("push", [*arm, *impulse])
    kernel.call("push", 1)
    after = kernel.observe(0.0)
    change = [after[f"momentum_{axis}"] - before[f"momentum_{axis}"] for axis in "xyz"]
    turn = [after[f"angular_momentum_{axis}"] - before[f"angular_momentum_{axis}"] for axis in "xyz"]
    assert np.allclose(change, impulse, rtol=1e-12)
    assert np.allclose(turn, np.cross(np.add((12, 0, 0), arm), impulse), rtol=1e-12, atol=1e-12)
    pinned = Kernel(live("v2"))
    pinned.write("push", [*arm, *impulse])
    pinned.call("push", 0)
    assert not pinned.state[3:6].any() and (pinned.state[10:13] != numbers(live("v2")["begin"])[10:13]).all()


def test_no_other_program_is_needed_and_the_same_call_gives_the_same_page(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("another program was started"))
    again = ph.interactive(top(), "v2", step=0.01, **LEANING)
    assert again.scene["live"] == live("v2")
    assert again.scene["runs"][0]["clock"]["values"]["shape"] == [1001]


# ------------------------------------------------------------------ sliders
def asked(system, start=LEANING, method="v2"):
    return pages.Asked(system, method, 0.01, start, None)


def test_a_slider_writes_the_numbers_of_another_system():
    one = asked(top())
    begin = pages.begin_of(one.request({}))
    weight, spin = (pages.knob(one, *of, 13) for of in (("weight", (0, 60)), ("angular_velocity.2", (0.0, 30.0))))
    assert (weight["restarts"], spin["restarts"], spin["label"]) == (False, True, "angular velocity z")
    pages.check_together(one, begin, [weight, spin])
    for knob, values in ((weight, {"weight": 37.0}), (spin, {"angular_velocity.2": 1.5})):
        moved = begin.copy()
        for k, slope in knob["slots"]:
            moved[k] += slope * (values[knob["name"]] - knob["value"])
        assert np.allclose(moved, pages.begin_of(one.request(values)), rtol=1e-14) and (moved != begin).any()


@pytest.mark.parametrize(("name", "ends", "told"), [
    ("inertia.0", (2.5, 3.0), "is 2.4, and its slider goes from 2.5"),
    ("inertia.2", (0.5, 1.0), "inertia.2 cannot have a slider: what the kernel reads does not change along a line"),
    ("inertia", (0.5, 1.0), "is not one number"), ("speed", (0, 1), "unknown number in knobs 'speed'"),
    ("position.0", (0, 1), "nothing is said of position"), ("weight", (0, 1, 2), "knobs"),
    ("step", (0.1, 0.01), "step goes from 0.1"), ("weight", (20, 20), "give two ends around it"),
])  # fmt: skip
def test_sliders_that_cannot_be(name, ends, told):
    with pytest.raises(InvalidInput, match=told):
        ph.interactive(top(), "v2", step=0.01, knobs={name: ends}, **LEANING)


def test_sliders_have_units():
    """Of a run in SI those that arguments have there; none where the user's are not known."""
    summed = ph.system(ph.body("top", inertia=(1, 1, 0.5), pinned=True), ph.loads.weight(20.0, at=(0, 0, 1)))
    for system, name, told in (
        (summed, "weight.newtons", ("weight newtons", "N")), (summed, "weight.at.2", ("weight at 2", "m")),
        (summed, "top.inertia.0", ("top inertia 0", "kg m2")), (ph.orbit(EARTH.mu), "mu", ("mu", "m3 s-2")),
        (summed, "angular_velocity.2", ("angular velocity z", "rad s-1")), (top(), "weight", ("weight", "N")),
    ):  # fmt: skip
        assert tuple(pages.words_of(system, name, "SI").values()) == told
        assert tuple(pages.words_of(system, name, "consistent").values()) == (told[0], "")


def test_a_start_with_units_behind_its_words_is_in_si():
    start = {"position_km": (7000, 0, 0), "velocity_km_s": (0, 7.5, 0)}
    with pytest.raises(InvalidInput, match=r"position\.0 is 7e\+06, and its slider goes from 0 to 1"):
        ph.interactive(ph.orbit(3.986e14), "v2", step=1.0, knobs={"position.0": (0, 1)}, start=start)


def test_sliders_that_are_multiplied(monkeypatch):
    monkeypatch.setattr(pages, "begin_of", lambda given: np.array([given.get("x", 2.0) * given.get("y", 3.0)]))
    asked = SimpleNamespace(request=lambda values: values)
    x, y = (
        {"name": name, "low": 0.0, "high": 4.0, "value": value, "slots": [[0, 6.0 / value]]}
        for name, value in {"x": 2.0, "y": 3.0}.items()
    )
    pages.check_together(asked, np.array([6.0]), [x])
    with pytest.raises(InvalidInput, match="x and y change the same numbers"):
        pages.check_together(asked, np.array([6.0]), [x, y])


def test_sliders_of_wheels():
    one = asked(cubesat(), {"angular_velocity": (0.02, 0.3, 0.03)})
    slots = pages.knob(one, "wheels.speed.0", (-600, 600), len(one.request({}).state))["slots"]
    assert slots == [[14, pytest.approx(2e-4)]]
    with pytest.raises(InvalidInput, match=r"wheels\.coulomb cannot have a slider: it changes the kernel itself"):
        pages.knob(one, "wheels.coulomb", (0.0, 1e-3), 26)


# ------------------------------------------------------------------ what is refused
kept = []


def remembering(t, q, omega, parameters):
    kept.append(t)
    return (0.0, 0.0, 0.0)


def steer(t, states):
    return {"wheel_command": (0.0, 0.0, 0.0, 0.0)}


def water():
    return ph.rigid_water(125, box=1.5, cutoff=0.5)


def burning():
    return ph.orbit(
        mu=EARTH.mu, forces=[ph.forces.thrust(direction="velocity", acceleration=1e-3, start=5.0, stop=9.0)]
    )


@pytest.mark.parametrize(("system", "method", "start", "told"), [
    (lambda: ph.free_body((1, 2, 3)), "p6_7", {"angular_velocity": (1, 2, 3)}, "works on states of its own; take one"),
    (lambda: ph.orbit(mu=EARTH.mu), "reversible:v2", LOW, "time transformation; take a method with steps of one size"),
    (burning, "v2", LOW, "burns, impulses or events, .*; leave them out"),
    (water, "v2", {"start": ph.initial.cubic(5, 0.3).state}, "shared among threads, .*; show a run of it by"),
])  # fmt: skip
def test_what_pages_cannot_take(system, method, start, told):
    with pytest.raises(InvalidInput, match=f"a page cannot take the steps of .*{told}"):
        ph.interactive(system(), method, step=0.01, **start)


@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
def test_functions_that_run_as_python():
    system = ph.rigid_body((1, 2, 3), torque=remembering, parameters=[1.0])
    with pytest.raises(InvalidInput, match=r"a function of it runs as Python, .*; write it with numbers"):
        ph.interactive(system, "v2", step=0.01, **LEANING)


def test_a_kernel_that_is_too_large(monkeypatch):
    monkeypatch.setattr(pages, "LARGEST", 1000)
    with pytest.raises(InvalidInput, match="more than 1,000; take a method with fewer stages"):
        ph.interactive(top(), "mkrk:rk4", step=0.01, **LEANING)


call = jit.hole("call() -> float", "A function from elsewhere.")


def asking(t):
    return call()


@pytest.mark.parametrize("name", ["llvm.x86.sse2.pause", "outside"])
def test_calls_for_which_llvm_would_end_the_process(name):
    def calling(typing):
        def build(context, builder, signature, arguments):
            builder.call(ir.Function(builder.module, ir.FunctionType(ir.VoidType(), []), name), [])
            return ir.Constant(ir.DoubleType(), 0.0)

        return types.float64(), build

    program = pages.program_of(Run(asked(top()).request({})))
    program.functions = {"f": (jit.bind(asking, call=Intrinsic(calling)), 1)}
    with pytest.raises(Unsupported, match=f"a call of {name}, which pages lack"):
        wasm.compiled(program)


def linked(text):
    machine = wasm.TARGET.machine()
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = wasm.TARGET.triple, str(machine.target_data)
    return wasm_link.link(machine.emit_object(module), {"f": "f"}, 1024)


def test_the_linker():
    code, data = linked("""
@a = global [3 x double] zeroinitializer, align 16
@b = constant [2 x double] [double 1.5, double 2.5], align 8
@c = global ptr getelementptr ([2 x double], ptr @b, i32 0, i32 1)
define double @f(i32 %k) { %p = load ptr, ptr @c
  %q = getelementptr double, ptr %p, i32 %k
  %v = load double, ptr %q
  store double %v, ptr @a
  ret double %v }
""")
    wasmtime = pytest.importorskip("wasmtime", reason="wasmtime runs the modules of pages; it is in polhode[test]")
    store = wasmtime.Store()
    exports = wasmtime.Instance(store, wasmtime.Module(store.engine, code), []).exports(store)
    assert exports["f"](store, 0) == 2.5 and exports["f"](store, -1) == 1.5
    assert bytes(exports["memory"].read(store, data["a"], data["a"] + 8)) == np.float64(1.5).tobytes()
    assert min(data.values()) >= 1024 and data["a"] % 16 == 0


@pytest.mark.parametrize(("text", "told"), [
    ("declare double @g()\ndefine double @f() { %y = call double @g()\nret double %y }", "call of g"),
    ("@g = external global double\ndefine double @f() { %y = load double, ptr @g\nret double %y }", "numbers of g"),
    ("define void @g() { ret void }\ndefine ptr @f() { ret ptr @g }", "called by its address"),
])  # fmt: skip
def test_what_the_linker_does_not_take(text, told):
    with pytest.raises(Unsupported, match=told):
        linked(text)
    with pytest.raises(Unsupported, match="another kind"):
        wasm_link.link(b"ELF", {}, 0)


# ------------------------------------------------------------------ pages
def test_only_live_pages_may_compile(monkeypatch, tmp_path):
    texts = {"three.min.js": "", "order.txt": "a.js", "a.js": "globalThis.polhodeViewer = {};", "viewer.css": "",
             "live.js": "let live = 1;"}  # fmt: skip
    monkeypatch.setattr(page, "asset", texts.__getitem__)
    scenario = tmp_path / "top.toml"
    scenario.write_text("""method = "mkrk:rk4"
[system]
type = "heavy_top"
inertia = [5.0, 5.0, 1.0]
center_of_mass = [0.0, 0.0, 1.0]
weight = 20.0
[initial]
rotation_vector = [0.3, 0.0, 0.0]
angular_velocity = [0.0, 0.0, 5.0]
[run]
step = 0.01
t_end = 20.0
""")
    target = tmp_path / "page.html"
    run = CliRunner().invoke(cli.group, [
        "view", "--interactive", str(scenario), "--knob", "weight=0:40", "-o", str(target), "--no-open",
    ])  # fmt: skip
    assert run.exit_code == 0, run.output
    text = target.read_text()
    assert "'wasm-unsafe-eval'" in text and "let live = 1;" in text and "await globalThis.polhodeLive.mount(" in text
    assert '"name":"weight"' in text
    plain = ph.view(ph.integrate(ph.free_body((1, 2, 3)), step=0.1, steps=10, angular_velocity=(0, 1, 0))).html()
    assert "wasm" not in plain and "let live" not in plain
    for words in (["--knob", "weight"], []):
        given = [str(scenario)] if words else []
        assert CliRunner().invoke(cli.group, ["view", "--interactive", *given, *words]).exit_code != 0


def test_llvm_writes_other_kernels_as_before():
    """Its target of WebAssembly would have all of the process branch by tables where a condition has two cases."""
    live("v2")
    module = llvm.parse_assembly(
        "define double @f(i64 %k, double %x) {\nbegin:\n  switch i64 %k, label %end [i64 0, label %a i64 1, label %b "
        "i64 2, label %c]\na:\n  %u = fadd double %x, 1.0\n  br label %end\nb:\n  %v = fmul double %x, 3.0\n  br label "
        "%end\nc:\n  %w = fdiv double %x, 7.0\n  br label %end\nend:\n"
        "  %y = phi double [0.0, %begin], [%u, %a], [%v, %b], [%w, %c]\n  ret double %y\n}"
    )
    module.triple = device.ptx().triple
    assert "brx.idx" not in device.ptx().machine().emit_assembly(module)
