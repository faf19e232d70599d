"""Loops for devices without a device: their PTX, what ptxas says of it, and the same module run by this processor."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir
from numba.core.registry import cpu_target

import polhode as ph
from cover import some
from polhode.algebra.library import LIBRARY
from polhode.ensembles.device import loop_of
from polhode.kernel import device, jit, layout as L
from polhode.kernel.device import fused
from polhode.kernel.jit import helper
from polhode.kernel.machine import OPTIONS_OF_KERNELS
from polhode.methods import method
from polhode.runs.integrator import Integrator
from ptx import Text

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
EARTH = ph.planets.EARTH


def torque(t, q, omega, parameters):
    return (-parameters[0] * omega[0] + 0.1 * math.sin(3.0 * t), -parameters[0] * omega[1], -parameters[0] * omega[2])


@functools.cache
def system(name):
    if name == "top":
        return ph.heavy_top(inertia=(3, 2, 1), center_of_mass=(0, 0, 1), weight=20.0)
    if name == "user":
        return ph.rigid_body([[2, 0.1, 0], [0.1, 3, 0.2], [0, 0.2, 4]], torque=torque, parameters=[0.05])
    if name == "orbit":
        return ph.orbit(mu=EARTH.mu, forces=[ph.forces.zonal(**EARTH.zonal)])
    return ph.spacecraft(inertia=(90, 70, 60), mu=EARTH.mu, mass=120, forces=[ph.forces.zonal(**EARTH.zonal)])


STARTS = {
    "top": ((0.98, 0.2, 0, 0), (0.1, 0.2, 5.0), 0.01),
    "user": ((1, 0, 0, 0), (1.0, 2.0, 3.0), 0.01),
    "orbit": ((1, 0, 0, 0), (0, 0, 0), 10.0),
    "spacecraft": ((1, 0, 0, 0), (0.1, 0.2, 0.05), 10.0),
}


def integrator_of(name, chosen, members=3):
    """A bench, and states of members near each other."""
    one, (q, m, h) = system(name), STARTS[name]
    y = np.zeros(L.BODY)
    y[L.ATTITUDE : L.ATTITUDE + 4] = np.array(q) / np.linalg.norm(q)
    y[L.ANGULAR : L.ANGULAR + 3] = m
    if one.translates:
        y[:3], y[3:6] = (7e6, 0, 0), np.array((0, 5336.0, 5336.0)) * one.mass[0]
    chosen = method(chosen)
    bench = Integrator(one, chosen, y, limit=chosen.method.range)
    states = np.repeat(bench.y[None], members, 0)
    states[:, L.ANGULAR : L.ANGULAR + 3] *= 1.0 + 1e-3 * np.random.default_rng(1).normal(size=(members, 3))
    states[:, L.POSITION] *= 1.0 + 1e-3 * np.arange(members)
    return bench, states, h


def simulated(run, bench, states, n, h, every, limit=None):
    """Rows, statuses and steps done of members by the simulator."""
    M, count = len(states), n // every
    y, carried = states.copy(), np.zeros((M, len(device.CARRIED)))
    rows, counts = np.zeros((M, count, states.shape[1])), np.zeros((M, count), np.int64)
    statuses, done = np.zeros(M, np.int64), np.zeros(M, np.int64)
    bound = bench.limit if limit is None else limit
    run(M, L.MARCHING, 0, n, every, count, 0.0, h, bound, y, bench.bodies, 0, bench.parameters, 0, carried, rows,
        counts, statuses, done)  # fmt: skip
    return rows, statuses, done


def scalar(bench, states, n, h, every):
    """Rows of the same members by the loop of runs."""
    rows = np.zeros((len(states), n // every, states.shape[1]))
    for y, row in zip(states, rows, strict=True):
        bench.y[:] = y
        bench.forget()
        assert bench.march(0, n, every, 0.0, h, row, np.zeros(n // every, np.int64)) == L.OK
    return rows


def difference(found, expected):
    """Largest difference of bodies in ulp of the largest component of each vector."""
    worst = 0.0
    for first, last in ((0, 3), (3, 6), (6, 10), (10, 13)):
        a, b = found[..., first:last], expected[..., first:last]
        worst = max(worst, float(np.abs(a - b).max() / np.spacing(max(np.abs(b).max(), 1e-300))))
    return worst


CASES = [
    ("top", "v2/mr", 4), ("top", "v2/dmv6", 4), ("top", "v2/exact", 8), ("top", "mkrk:rk4", 4),
    ("top", "mkrk:gauss4", 4), ("top", "taylor16", 4), ("user", "v2/mr", 2), ("user", "mkrk:rk4", 2),
    ("orbit", "rkn6_14a", 2), ("orbit", "rkn6_14a/kepler", 0), ("orbit", "taylor16", 8),
    ("spacecraft", "rkn6_14a/kepler+mr6", 4),
]  # fmt: skip
"""Systems, methods, and how many ulp the rows of ten steps may differ from those of the loop of runs."""


FEW = [("top", "v2/mr"), ("user", "mkrk:rk4"), ("orbit", "rkn6_14a/kepler")]


@functools.cache
def module(name, chosen):
    """The loop of a device, compiled for this processor; the numbers of systems are none of it."""
    return device.Simulated(loop_of(integrator_of(name, chosen)[0]), LIBRARY)


@pytest.mark.parametrize(
    ("name", "chosen", "ulps"), [pytest.param(*c, marks=() if c[:2] in FEW else pytest.mark.full) for c in CASES]
)
def test_the_module_of_a_device_gives_the_numbers_of_a_run(name, chosen, ulps):
    bench, states, h = integrator_of(name, chosen)
    rows, statuses, done = simulated(module(name, chosen), bench, states, 10, h, 5)
    assert statuses.tolist() == [L.OK] * 3
    assert done.tolist() == [10] * 3
    assert difference(rows, scalar(bench, states, 10, h, 5)) <= ulps


@pytest.mark.full
@pytest.mark.parametrize(("name", "chosen", "ulps"), CASES)
def test_a_thousand_steps(name, chosen, ulps):
    bench, states, h = integrator_of(name, chosen)
    rows, _, _ = simulated(module(name, chosen), bench, states, 1000, h, 500)
    assert difference(rows, scalar(bench, states, 1000, h, 500)) <= 4000 * ulps


def test_members_do_not_depend_on_their_number_or_launches():
    bench, states, h = integrator_of("top", "v2/mr", 5)
    run = module("top", "v2/mr")
    rows, _, _ = simulated(run, bench, states, 12, h, 4)
    alone, _, _ = simulated(run, bench, states[3:4], 12, h, 4)
    np.testing.assert_array_equal(rows[3:4], alone)
    y, carried, statuses, done = states.copy(), np.zeros((5, 4)), np.zeros(5, np.int64), np.zeros(5, np.int64)
    for first in (0, 4, 8):
        row, counts = np.zeros((5, 1, y.shape[1])), np.zeros((5, 1), np.int64)
        run(5, L.MARCHING, first, 4, 4, 1, 0.0, h, bench.limit, y, bench.bodies, 0, bench.parameters, 0, carried, row,
            counts, statuses, done)  # fmt: skip
        np.testing.assert_array_equal(row[:, 0], rows[:, first // 4])
    np.testing.assert_array_equal(y, rows[:, -1])


def test_a_row_counts_the_iterations_of_launches_before():
    bench, states, h = integrator_of("top", "v2/mr")
    carried, statuses, done = np.zeros((3, 4)), np.zeros(3, np.int64), np.zeros(3, np.int64)
    rows, counts = np.zeros((3, 1, states.shape[1])), np.zeros((3, 1), np.int64)
    carried[:, 1] = (7.0, 0.0, 9.0)  # the most so far
    module("top", "v2/mr")(3, L.MARCHING, 6, 6, 12, 1, 0.0, h, bench.limit, states, bench.bodies, 0, bench.parameters,
                           0, carried, rows, counts, statuses, done)  # fmt: skip
    assert counts[0] == 7 and counts[2] == 9 and 0 <= counts[1] < 7 and not carried[:, 1].any()


def test_each_member_has_its_own_bodies_and_parameters():
    bench, states, h = integrator_of("user", "mkrk:rk4")
    run = module("user", "mkrk:rk4")
    bodies, parameters = np.repeat(bench.bodies[None], 3, 0), np.array([[0.05], [0.1], [0.0]])
    bodies[1, L.INVERSE_INERTIA] *= 1.5
    rows, counts = np.zeros((3, 1, states.shape[1])), np.zeros((3, 1), np.int64)
    y = states.copy()
    run(3, L.MARCHING, 0, 10, 10, 1, 0.0, h, bench.limit, y, bodies, bodies.shape[1], parameters, 1, np.zeros((3, 4)),
        rows, counts, np.zeros(3, np.int64), np.zeros(3, np.int64))  # fmt: skip
    for k in range(3):
        bench.bodies[:], bench.parameters[:1] = bodies[k], parameters[k]
        assert difference(rows[k : k + 1], scalar(bench, states[k : k + 1], 10, h, 10)) <= 4


def test_a_member_that_fails_is_left_alone():
    bench, states, h = integrator_of("top", "v2/mr")
    states[1, L.ANGULAR] = 1e4  # too fast for a step
    states[2, L.ANGULAR] = math.nan
    rows, statuses, done = simulated(module("top", "v2/mr"), bench, states, 10, h, 5)
    assert statuses.tolist() == [L.OK, L.TOO_LARGE, L.TOO_LARGE]
    assert done.tolist() == [10, 0, 0]
    assert not rows[1:].any()


@pytest.mark.full
def test_processed_methods_are_prepared_and_presented():
    bench, states, h = integrator_of("orbit", "v2/kepler:corrected")
    run = module("orbit", "v2/kepler:corrected")
    assert bench.prepared.processed
    y, statuses, none = states.copy(), np.zeros(3, np.int64), np.zeros((3, 1))
    rows, counts, rest = np.zeros((3, 1, states.shape[1])), np.zeros((3, 1), np.int64), (np.zeros(3, np.int64),)
    for task, n in ((L.PREPARING, 0), (L.MARCHING, 4)):
        run(3, task, 0, n, 4, 1, 0.0, h, bench.limit, y, bench.bodies, 0, bench.parameters, 0, np.zeros((3, 4)), rows,
            counts, statuses, *rest)  # fmt: skip
    assert not statuses.any() and not none.any()
    for k, start in enumerate(states):
        bench.y[:] = start
        assert bench.prepare(0.0, h) == L.OK
        row = np.zeros((1, start.size))
        assert bench.march(0, 4, 4, 0.0, h, row, np.zeros(1, np.int64)) == L.OK
        assert difference(rows[k : k + 1], row[None]) <= 2
        assert difference(y[None, k : k + 1], bench.y[None, None]) <= 2


REGISTERS = {"ctaid": "load i32, ptr @polhode_thread", "ntid": "add i32 0, 1", "tid": "add i32 0, 0"}


class AsOptimised:
    """The module as it is optimised for a device, run by this processor: a thread, and so a block, for each member."""

    def __init__(self, loop):
        target = device.ptx()
        text = str(device.optimised(device.module_of(loop, target, LIBRARY), target.machine(), target))
        text = re.sub(r"^target .*$", "", text, flags=re.MULTILINE).replace("ptx_kernel ", "")
        for name, value in REGISTERS.items():
            own = f"define i32 @its_{name}() {{\n%v = {value}\nret i32 %v\n}}"
            text = re.sub(rf"^declare .*sreg\.{name}\.x\(\).*$", own, text, flags=re.MULTILINE)
            text = text.replace(f"@llvm.nvvm.read.ptx.sreg.{name}.x", f"@its_{name}")
        machine = device.HOST.machine()
        module = llvm.parse_assembly(text + "\n@polhode_thread = global i32 0\n")
        module.triple, module.data_layout = device.HOST.triple, str(machine.target_data)
        self.engine = llvm.create_mcjit_compiler(module, machine)
        self.engine.finalize_object()
        kinds = [ctypes.c_int64, *(ctypes.c_double if k is device.FLOAT else ctypes.c_int64 for k in loop.arguments)]
        self.call = ctypes.CFUNCTYPE(None, *kinds)(self.engine.get_function_address(device.ENTRY))
        self.thread = ctypes.c_int32.from_address(self.engine.get_global_value_address("polhode_thread"))

    def __call__(self, M, *arguments):
        for k in (*reversed(range(M)), M, M + 7):  # in any order; threads beyond the last member do nothing
            self.thread.value = k
            self.call(M, *(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments))


@functools.cache
def as_optimised(name, chosen):
    return AsOptimised(loop_of(integrator_of(name, chosen)[0]))


OPTIMISED = [("top", "v2/mr"), ("user", "mkrk:rk4"), ("orbit", "rkn6_14a/kepler")]


@pytest.mark.parametrize(("name", "chosen"), some(OPTIMISED, 1))
def test_what_is_optimised_for_a_device_gives_the_same_numbers(name, chosen):
    bench, states, h = integrator_of(name, chosen)
    rows, statuses, done = simulated(as_optimised(name, chosen), bench, states, 10, h, 5)
    here, _, _ = simulated(module(name, chosen), bench, states, 10, h, 5)
    assert statuses.tolist() == [L.OK] * 3
    assert done.tolist() == [10] * 3
    assert difference(rows, here) <= 2
    assert difference(rows, scalar(bench, states, 10, h, 5)) <= 4


# ------------------------------------------------------------------ PTX
@functools.cache
def ptx(name, chosen):
    return device.ptx_of(loop_of(integrator_of(name, chosen)[0]), LIBRARY)


ptxas = next(
    (str(found) for place in sys.path for found in Path(place).glob("nvidia/*/bin/ptxas")), shutil.which("ptxas") or ""
)
FULL = pytest.mark.full
WITHOUT_SPILLS = [("top", "v2/mr"), ("top", "rkn6_14a/mr6"), ("orbit", "rkn6_14a"), ("user", "v2/mr")]
SPILLS = [pytest.param(*one, marks=() if one[1] == "v2/mr" else FULL) for one in WITHOUT_SPILLS]


@pytest.mark.parametrize(("name", "chosen"), [
    *SPILLS, pytest.param("top", "taylor16", marks=FULL), pytest.param("spacecraft", "mkrk:rk4", marks=FULL)
])  # fmt: skip
def test_ptx_is_written(name, chosen):
    text = ptx(name, chosen)
    assert f".visible .entry {device.ENTRY}(" in text
    assert text.count("fma.rn.f64") > 50
    assert ".target sm_90" in text
    assert ".rn.f64" in text and not re.search(r"\b(add|sub|mul)\.f64", text), "drivers may fuse what has no rounding"
    called = set(re.findall(r"call\.uni[^;]*?\b([a-z]\w*),", text))
    assert ".extern" not in text
    assert all("far_sine_cosine" in one or "param" in one for one in called), "a rare angle alone is a call"
    if (name, chosen) in WITHOUT_SPILLS:
        assert ".local" not in text, "states and loads are in registers"


@pytest.mark.skipif(not ptxas, reason="ptxas is not installed: pip install nvidia-cuda-nvcc")
@pytest.mark.parametrize(("name", "chosen"), SPILLS)
def test_registers_suffice(name, chosen, tmp_path):
    (tmp_path / "a.ptx").write_text(ptx(name, chosen))
    done = subprocess.run([ptxas, "-arch=sm_90", "-v", str(tmp_path / "a.ptx"), "-o", str(tmp_path / "a.cubin")],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "0 bytes spill stores, 0 bytes spill loads" in done.stderr
    assert int(re.search(r"Used (\d+) registers", done.stderr)[1]) <= 255


def test_the_same_text_in_every_process(forked):
    """So that what drivers keep of it is found again."""
    code = """
        import hashlib, json
        import polhode as ph
        from polhode.algebra.library import LIBRARY
        from polhode.ensembles import device as engines
        from polhode.kernel import device
        from polhode.methods import method
        from polhode.runs.integrator import Integrator
        top = ph.heavy_top(inertia=(3, 2, 1), center_of_mass=(0, 0, 1), weight=20.0)
        start = [0.0] * 6 + [1.0] + [0.0] * 6
        chosen = method("v2/mr")
        bench = Integrator(top, chosen, start, limit=chosen.method.range)
        text = device.module_of(engines.loop_of(bench), device.ptx(), LIBRARY)
        print(json.dumps(hashlib.sha256(text.encode()).hexdigest()))
    """
    text = device.module_of(loop_of(integrator_of("top", "v2/mr")[0]), device.ptx(), LIBRARY)
    assert forked(code) == hashlib.sha256(text.encode()).hexdigest()


@helper
def twice(x):
    return 2.0 * x


def test_the_library_takes_the_place_of_functions():
    loop = loop_of(integrator_of("user", "v2/mr")[0])
    assert 'declare double @"sin"' in device.module_of(loop, device.HOST, {})
    assert 'declare double @"sin"' not in device.module_of(loop, device.HOST, LIBRARY)
    with pytest.raises(device.Unsupported, match=r"a call of (sin|cos), which devices lack"):
        device.module_of(loop, device.ptx(), {"exp": twice})


def parts_and_back(x, y, out):
    f, n = math.frexp(x)
    out[0], out[1], out[2], out[3] = f, float(n), math.ldexp(x, int(y)), math.sin(x) + math.sqrt(abs(y))


def of_two_numbers(function, library):
    """A function of two numbers that writes four to memory, compiled as for a device but for this processor."""
    module = ir.Module()
    unit = device.Unit(cpu_target.target_context, cpu_target.typing_context, module, device.HOST, library)
    kinds = [ir.DoubleType(), ir.DoubleType(), ir.DoubleType().as_pointer()]
    entry = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), "entry")
    builder = ir.IRBuilder(entry.append_basic_block())
    known = (device.FLOAT, device.FLOAT, device.NUMBERS)
    values = [device.Scalar(kind, v) for kind, v in zip(known, entry.args, strict=True)]
    builder.call(unit.written(function, device.Options(OPTIONS_OF_KERNELS), values).function, entry.args)
    builder.ret_void()
    machine = device.HOST.machine()
    engine = llvm.create_mcjit_compiler(device.optimised(str(module), machine, device.HOST), machine)
    engine.finalize_object()
    form = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_double, ctypes.c_void_p)
    call = form(engine.get_function_address("entry"))

    def run(x, y, kept=engine):
        out = np.zeros(4)
        call(x, y, out.ctypes.data)
        return out

    return run


def test_a_branch_by_an_index_is_carried_out():
    """LLVM writes one where a condition has several cases, as it likes."""
    cases = "".join(f"c{k}:\n  {one}\n  br label %end\n" for k, one in enumerate((
        "%v0 = fadd double %x, 1.0", "%v1 = fmul double %x, 3.0", "%v2 = fdiv double %x, 7.0",
        "%v3 = fsub double 2.0, %x",
    )))  # fmt: skip
    joined = ", ".join(["[0.0, %begin]", *(f"[%v{k}, %c{k}]" for k in range(4))])
    named = " ".join(f"i64 {k}, label %c{k}" for k in range(4))
    module = llvm.parse_assembly(
        'target triple = "nvptx64-nvidia-cuda"\ndefine ptx_kernel void @f(i64 %k, double %x, ptr addrspace(1) %out) {\n'
        f"begin:\n  switch i64 %k, label %end [{named}]\n{cases}end:\n  %v = phi double {joined}\n"
        "  store double %v, ptr addrspace(1) %out\n  ret void\n}"
    )
    text = device.ptx().machine().emit_assembly(module)
    assert "brx.idx" in text
    for k, expected in enumerate((3.5, 7.5, 2.5 / 7.0, -0.5, 0.0)):
        out = np.zeros(1)
        Text(text).run("f", [k, 2.5, out], 0, writable=[out])
        assert out[0] == expected


def test_parts_of_numbers():
    run = of_two_numbers(parts_and_back, {"sin": twice})
    numbers = (1.0, -0.75, 0.0, -0.0, 1e300, -3e-310, 5e-324, 7.25, 2.0**-1022, math.inf, -math.inf)
    for x in numbers:
        for n in (0, 1, -1, 40, -1000, 1000, -1074, 2000, -2100):
            f, k, scaled, last = run(x, n)
            assert (f, k) == math.frexp(x)
            try:
                assert scaled == math.ldexp(x, n)
            except OverflowError:
                assert scaled == math.copysign(math.inf, x)
            assert last == 2.0 * x + math.sqrt(abs(n))
    assert math.isnan(run(math.nan, 3)[0])


@pytest.mark.parametrize(
    ("name", "chosen", "steps", "t0"),
    [("top", "v2/mr", 3, 0.0), ("user", "v2/mr", 1, 1e6), *(pytest.param(*one, marks=FULL) for one in (
        ("top", "v2/exact", 1, 0.0), ("user", "mkrk:rk4", 2, 0.0), ("orbit", "rkn6_14a/kepler", 1, 0.0),
        ("top", "taylor16", 1, 0.0)))],
)  # fmt: skip
def test_ptx_carried_out_gives_the_numbers_of_a_run(name, chosen, steps, t0):
    """An instruction at a time, in a thread of the second block: from Python to the text for the driver."""
    bench, states, h = integrator_of(name, chosen, 2)
    states = np.repeat(states, 65, 0)
    text, M = Text(ptx(name, chosen)), len(states)
    y, carried = states.copy(), np.zeros((M, len(device.CARRIED)))
    rows, counts = np.zeros((M, 1, y.shape[1])), np.zeros((M, 1), np.int64)
    statuses, done = np.zeros(M, np.int64), np.zeros(M, np.int64)
    arguments = (M, L.MARCHING, 0, steps, steps, 1, t0, h, float(bench.limit), y, bench.bodies, 0, bench.parameters, 0,
                 carried, rows, counts, statuses, done)  # fmt: skip
    for thread in (129, 130):  # the last member, and one beyond
        text.run(device.ENTRY, arguments, thread, writable=(y, carried, rows, counts, statuses, done))
    assert not statuses.any()
    assert done.tolist() == [0] * 129 + [steps]
    np.testing.assert_array_equal(y[-1], rows[-1, 0])
    np.testing.assert_array_equal(y[:-1], states[:-1])
    wanted = np.zeros((1, y.shape[1]))
    bench.y[:] = states[-1]
    bench.forget()
    assert bench.march(0, steps, steps, t0, h, wanted, np.zeros(1, np.int64)) == L.OK
    assert difference(rows[-1:], wanted[None]) <= 4
    assert sum(text.carried_out.values()) > 500 * steps
    if t0 > 0.0:
        assert text.carried_out["call.uni"] > 0, "the angle of the torque is beyond what is reduced at once"
    again = np.zeros_like(rows[-1:]), counts[-1:].copy(), np.zeros(1, np.int64), np.zeros(1, np.int64)
    as_optimised(name, chosen)(
        1, *arguments[1:9], states[-1:].copy(), *arguments[10:14], np.zeros((1, len(device.CARRIED))), *again
    )
    np.testing.assert_array_equal(rows[-1:], again[0])


MODULE = """
define double @compensated(double %a, double %b, double %c) {
body:
  %p = fmul contract double %a, %b
  %d = fsub contract double %c, %p
  %e = fneg contract double %p
  %r = tail call contract double @llvm.fma.f64(double %a, double %b, double %e)
  %s = fsub contract double %d, %r
  %q = fmul contract double %a, %a
  %t = fsub contract double %s, %q
  %u = fmul contract double %b, %b
  %v = fneg contract double %u
  %w = fadd contract double %t, %v
  %x = fmul contract double %c, %c
  %y = fsub contract double %x, %w
  ret double %y
}
"""


def test_products_that_two_read_are_rounded():
    lines = fused(MODULE).splitlines()
    assert "  %p = fmul double %a, %b" in lines
    assert "  %d = fsub double %c, %p" in lines
    call = "tail call double @llvm.fma.f64"
    assert lines.count("  %fused.1 = fneg double %a") == 1
    assert f"  %t = {call}(double %fused.1, double %a, double %s)" in lines
    assert f"  %w = {call}(double %fused.2, double %b, double %t)" in lines
    assert f"  %y = {call}(double %c, double %c, double %fused.3)" in lines
    assert not any("contract" in line or "%q" in line or "%u" in line or "%v" in line for line in lines)


@FULL
def test_ptx_of_chosen_steps():
    bench, states, _ = integrator_of("top", "mkrk:dp5", 1)
    bench.adapt(0.0, 1e-6, 1e-9)
    text = Text(device.ptx_of(loop_of(bench, True), LIBRARY))
    samples, y, carried = np.array([0.0, 0.01, 0.05]), states.copy(), np.zeros((1, len(device.CARRIED)))
    controls, left = bench.controller_state[None].copy(), np.ones(1, np.int64)
    rows, counts, sizes = np.zeros((1, 3, y.shape[1])), np.zeros((1, 3), np.int64), np.zeros((1, 3))
    statuses, done = np.zeros(1, np.int64), np.zeros(1, np.int64)
    written = (y, carried, controls, rows, counts, sizes, statuses, done, left)
    q = bench.prepared.estimate + 1
    given = (1, 2, 100, q, 3, 1e-6, 1e-9, math.inf, 1e-15, 0.05, float(bench.limit), samples, y, bench.bodies, 0,
             bench.parameters, 0, *written[1:])  # fmt: skip
    while left[0]:
        text.run(device.ENTRY, given, 0, writable=written)
    assert (statuses[0], done[0]) == (L.OK, 3)
    found = np.zeros((3, y.shape[1]))
    bench.y[:] = states[0]
    status = bench.march_adaptive(
        100, 0, 0.05, samples, np.zeros(3), np.zeros(3), found, np.zeros(3, np.int64), shortest=1e-15
    )
    assert status == L.OK
    assert difference(rows, found[None]) <= 100
    np.testing.assert_array_equal(rows[0, -1], y[0])
