"""Products fused with sums in the text of a module of LLVM, where nothing else reads the product."""

from __future__ import annotations

import re
from collections import Counter

PRODUCT = re.compile(r"  (%\S+) = fmul contract (\S+|<.*?>) (\S+), (\S+)$")
NEGATIVE = re.compile(r"  (%\S+) = fneg (?:contract )?(\S+|<.*?>) (\S+)$")
SUM = re.compile(r"  (%\S+) = (fadd|fsub) contract (\S+|<.*?>) (\S+), (\S+)$")
NAME = re.compile(r"%[\w.$-]+")
BLOCK = re.compile(r"\S+:")


def fused(text: str) -> str:
    """The text of an optimised module in which each product that nothing but one sum reads is fused with that sum, as
    LLVM does for other processors; then nothing may be fused any more.

    For devices LLVM would fuse products with several readers too, of which some need them rounded: the errors of
    products, by which sums are compensated, would be counted twice.
    """
    lines, found = text.split("\n"), []
    begin = 0
    for end, line in enumerate(lines):
        if line == "}" or end + 1 == len(lines):
            found += _fused_function(lines[begin : end + 1])
            begin = end + 1
    return "\n".join(line.replace(" contract ", " ") if " contract " in line else line for line in found) + "".join(
        f"\ndeclare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})\n"
        for kind, suffix in FUSED.items()
        if f"@llvm.fma.{suffix}(" not in text and any(f"@llvm.fma.{suffix}(" in line for line in found)
    )


FUSED = {"double": "f64", "<2 x double>": "v2f64", "<4 x double>": "v4f64", "<8 x double>": "v8f64"}
"""How the intrinsics of types of numbers end."""


def _fused_function(lines: list[str]) -> list[str]:
    """The lines of a function, likewise."""
    uses = Counter(name for line in lines for name in NAME.findall(line))
    products: dict[str, tuple[int, str, str]] = {}  # of this block: line, factors
    negatives: dict[str, tuple[int, str]] = {}
    left, made = list(lines), 0

    def product(name: str) -> tuple[list[int], str, str, bool] | None:
        """Lines to leave out, factors and sign of a product that has one reader."""
        if uses[name] != 2:  # where it is set, and where it is read
            return None
        if name in products:
            line, a, b = products[name]
            return [line], a, b, False
        if name in negatives and negatives[name][1] in products and uses[negatives[name][1]] == 2:
            line, of = negatives[name]
            inner, a, b = products[of]
            return [line, inner], a, b, True
        return None

    for k, line in enumerate(lines):
        if BLOCK.match(line):
            products, negatives = {}, {}
        elif m := PRODUCT.match(line):
            products[m[1]] = k, m[3], m[4]
        elif m := NEGATIVE.match(line):
            negatives[m[1]] = k, m[3]
        elif m := SUM.match(line):
            result, minus, kind, x, y = m[1], m[2] == "fsub", m[3], m[4], m[5]
            first = product(x)
            taken = first or product(y)
            if taken is None or kind not in FUSED:
                continue
            gone, a, b, negative = taken
            other = y if first else x
            before = []
            if negative != (minus and not first):
                made += 1
                before.append(f"  %fused.{made} = fneg {kind} {a}")
                a = f"%fused.{made}"
            if minus and first:
                made += 1
                before.append(f"  %fused.{made} = fneg {kind} {other}")
                other = f"%fused.{made}"
            for one in gone:
                left[one] = ""
            call = f"tail call {kind} @llvm.fma.{FUSED[kind]}({kind} {a}, {kind} {b}, {kind} {other})"
            left[k] = "\n".join([*before, f"  {result} = {call}"])
    return [line for line, old in zip(left, lines, strict=True) if line or not old]
