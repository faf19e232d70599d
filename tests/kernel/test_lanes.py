"""Vectors of four and eight numbers: parts, permutations, conditions, compiled and as plain Python."""

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import types

from machine_code import module
from polhode.kernel import cache, direct, jit, simd, work_sharing
from polhode.kernel.machine import OPTIONS_OF_KERNELS
from polhode.kernel.simd import (
    cycled,
    eight,
    four,
    high,
    load4,
    load8,
    low,
    pick,
    reciprocal_roots,
    store4,
    store8,
    transposed,
    up_to,
)
from polhode.kernel.source import Unsupported

SIGNATURE = types.void(*[types.float64[::1]] * 2)


def elsewhere(monkeypatch, triple=None):
    """Kernels are written for a processor without AVX-512, or for another triple, and are not kept."""
    monkeypatch.setattr(simd, "has_avx512", lambda: False)
    monkeypatch.setattr(cache, "place_of", lambda *_: None)
    if triple:
        monkeypatch.setattr(work_sharing, "triple", lambda: triple)


@jit.helper
def rearrange(a, out):
    """Halves of eight numbers, exchanged, and both in cyclic order."""
    x = load8(a, 0)
    store8(out, 0, eight(high(x), low(x)))
    store4(out, 8, cycled(low(x)))
    store4(out, 12, cycled(four(a[5], a[6], a[7], a[4])))


def rearranged(a, out):
    rearrange(jit.pointer(a), jit.pointer(out))


@pytest.mark.parametrize("compiled", [True, False])
def test_halves_and_cyclic_order(compiled):
    a, out = np.arange(8.0), np.zeros(16)
    if compiled:
        jit.compile_kernel(rearranged, SIGNATURE)(a, out)
    else:
        jit.python_of(rearrange)(a, out)
    assert out.tolist() == [4, 5, 6, 7, 0, 1, 2, 3, 1, 2, 0, 3, 6, 7, 5, 4]


def chosen(a, out):
    w = jit.integers(jit.pointer(out))
    w[8] = pick(w, 1, 0, 0b10100001)


@pytest.mark.parametrize("compiled", [True, False, "without AVX-512"])
def test_integers_by_their_bits(compiled, monkeypatch):
    out = np.zeros(17)
    if compiled == "without AVX-512":
        elsewhere(monkeypatch)
    whole = out.view(np.int64)
    whole[:8] = range(10, 18)
    if compiled:
        jit.compile_kernel(chosen, SIGNATURE)(out, out)
    else:
        whole[8] = pick(whole, 1, 0, 0b10100001)
    assert whole[:4].tolist() == [10, 10, 15, 17] and whole[8] == 3


@jit.helper
def mirror(a, out):
    """Four columns of eight rows of four, two of eight rows of eight, the first three numbers, and reciprocal roots."""
    x, y, z, w = transposed(
        load4(a, 0), load4(a, 8), load4(a, 16), load4(a, 24), load4(a, 32), load4(a, 40), load4(a, 48), load4(a, 56)
    )
    store8(out, 0, x)
    store8(out, 8, y)
    store8(out, 16, z)
    store8(out, 24, w)
    first, _, _, _, _, _, _, last = transposed(
        load8(a, 0), load8(a, 8), load8(a, 16), load8(a, 24), load8(a, 32), load8(a, 40), load8(a, 48), load8(a, 56)
    )
    store8(out, 32, first)
    store8(out, 40, last)
    store8(out, 48, up_to(last, 3))
    store8(out, 56, reciprocal_roots(last))
    store4(out, 64, reciprocal_roots(load4(a, 4)))
    out[68] = reciprocal_roots(a[7])


def mirrored(a, out):
    mirror(jit.pointer(a), jit.pointer(out))


@pytest.mark.parametrize("compiled", [True, False, "without AVX-512"])
def test_columns_first_numbers_and_reciprocal_roots(compiled, monkeypatch):
    """Roots to two units in the last place, of sizes from 1e-200 to 1e200; alike in vectors and alone."""
    a, out = np.logspace(-200.0, 200.0, 64), np.zeros(69)
    if compiled == "without AVX-512":
        elsewhere(monkeypatch)
    if compiled:
        jit.compile_kernel(mirrored, SIGNATURE)(a, out)
    else:
        jit.python_of(mirror)(a, out)
    rows = a.reshape(8, 8)
    assert out[:48].tolist() == [*rows.T[:4].ravel(), *rows.T[0], *rows.T[7]]
    assert out[48:56].tolist() == [*rows[:3, 7], *[0.0] * 5]
    assert out[56:64] == pytest.approx(rows[:, 7] ** -0.5, rel=4.5e-16, abs=0.0)
    assert out[64:68] == pytest.approx(a[4:8] ** -0.5, rel=4.5e-16, abs=0.0)
    assert out[56] == out[67] == out[68]


def conditional(a, out):
    """The smaller of two, chosen where two conditions hold at once, a power, and a number of each."""
    p, q = jit.pointer(a), jit.pointer(out)
    x, y = load4(p, 0), load4(p, 4)
    store4(q, 0, min(x, y))
    store4(q, 4, np.where((x > 1.0) & (y < 7.0), x**3, np.floor(y)))


def test_conditions_choose_for_each_lane():
    a, out = np.array([0.5, 2.0, 9.0, 3.0, 5.5, 1.0, 6.0, 7.5]), np.zeros(8)
    jit.compile_kernel(conditional, SIGNATURE)(a, out)
    assert out.tolist() == [0.5, 1.0, 6.0, 3.0, 5.0, 8.0, 729.0, 7.0]


def branching(a, out):
    """A branch, which lanes may take differently."""
    if load4(jit.pointer(a), 0) > 1.0:
        out[0] = 1.0


def test_lanes_do_not_branch():
    with pytest.raises(Unsupported, match="truth of lanes"):
        module(branching, SIGNATURE)


def waiting(a, out):
    out[0] = work_sharing.wait(work_sharing.PATIENCE - 1)


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
@pytest.mark.parametrize("triple", ["aarch64-unknown-linux-gnu", "arm64-apple-darwin", "x86_64-pc-windows-msvc"])
def test_what_is_written_by_hand_can_be_of_other_processors(monkeypatch, triple):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    elsewhere(monkeypatch, triple)
    machine = llvm.Target.from_triple(triple).create_target_machine()
    for function in (mirrored, chosen, waiting, conditional):
        text = str(direct.optimised(function, jit.typed(SIGNATURE), OPTIONS_OF_KERNELS)[2])  # not emitted for the host
        assert triple.startswith("x86") or "llvm.x86" not in text
        assert "windows" not in triple or "sched_yield" not in text
        assert function is not waiting or ("sse2.pause" in text) == triple.startswith("x86")
        one = llvm.parse_assembly(text)
        one.triple, one.data_layout = triple, str(machine.target_data)
        assert one.triple == triple and machine.emit_object(one)
