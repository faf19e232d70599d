"""Stages, order and effective error of every splitting scheme: the numbers behind "the same cost, a smaller error".

    python benchmarks/effective_errors.py [name ...]

The effective error of a scheme with s stages and order p is s |leading error|^(1/p): of two schemes of one order, the
one with half the effective error needs half the load evaluations. It is measured in the Lyndon basis of
tests/oracles/order_conditions.py, in the quotient by [B,[B,[B,A]]] for the schemes made for it, at eps = 1 for those
made for a small B. Of a processed scheme it is the error of the whole step, of which a part only shifts the variables
and does not grow with time. Compare within one order and one entry of `requires` only.
"""

from __future__ import annotations

import sys
from pathlib import Path

from polhode.methods.splitting_tables import SCHEMES, scheme, stages_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "oracles"))

from order_conditions import effective_error


def main(names: list[str]) -> None:
    rows = [scheme(name) for name in names] or sorted(SCHEMES.values(), key=lambda row: row.order)
    print(f"{'name':16s} {'requires':9s} {'stages':>6s} {'order':>5s} {'E_f':>8s}")
    for row in rows:
        stages = stages_of(row)
        print(f"{row.name:16s} {row.requires:9s} {stages:6d} {row.order:5d} {effective_error(row, stages):8.4f}")


if __name__ == "__main__":
    main(sys.argv[1:])
