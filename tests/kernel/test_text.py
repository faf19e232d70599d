"""The builder that writes LLVM's text, where it differs from llvmlite's."""

from __future__ import annotations

import llvmlite.binding as llvm
from llvmlite import ir

from polhode.kernel.text import Builder, Constant, F, I, Whole

FOUR = ir.VectorType(F, 4)


def test_a_vector_of_negative_zeros_keeps_its_sign():
    assert Constant(FOUR, [0.0] * 4).get_reference() == "zeroinitializer"
    assert Constant(FOUR, [-0.0] * 4).get_reference() == ir.Constant(FOUR, [-0.0] * 4).get_reference()
    assert Constant(F, 0.1).get_reference() == ir.Constant(F, 0.1).get_reference()


def test_a_structure_is_put_together_where_it_is_read_and_a_number_repeated_once_in_a_block():
    module = ir.Module()
    kind = ir.LiteralStructType([F, FOUR])
    function = ir.Function(module, ir.FunctionType(kind, [F, I]), "f")
    builder = Builder(function.append_basic_block())
    x = function.args[0]
    whole = Whole(builder, kind, (x, builder.repeated(x, FOUR)))
    assert builder.parts(whole)[1] is builder.repeated(x, FOUR)
    assert "insertvalue" not in str(function)
    builder.ret(whole)
    llvm.parse_assembly(str(module)).verify()
    assert str(function).count("insertvalue") == 2 and str(function).count("shufflevector") == 1
