"""Accuracy of the exact free rotation over stress draws, in units of what the data allow, against 60 digits.

    python benchmarks/exact_accuracy.py [draws [processes]]

Draws and judge are those of ``tests/oracles/free_body_draws.py``, whose docstring says what is drawn and what an error
is divided by. 10,000 draws take about ten minutes on two cores.
"""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "oracles"))

import free_body_draws


def main() -> None:
    """Print the table."""
    draws, processes = (int(word) for word in (sys.argv[1:] + ["10000", "2"][len(sys.argv) - 1 :])[:2])
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        results = pool.map(free_body_draws.judge, range(draws), chunksize=25)
    print("\n".join(free_body_draws.table(results)))
    for row in sorted(results, key=lambda row: -max(row[2:4]))[:5]:
        print("worst:", *row[:2], *(f"{number:.2g}" for number in row[2:]))


if __name__ == "__main__":
    main()
