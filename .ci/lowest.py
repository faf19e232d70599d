"""Constraints for pip: the lowest version that pyproject.toml declares of each dependency, of all extras.

python .ci/lowest.py > lowest.txt
"""

import itertools
import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lowest() -> dict[str, str]:
    """The versions by package."""
    every = itertools.chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    wanted = [one.partition(";")[0].strip() for one in every]
    pairs = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", one) for one in wanted if not one.startswith("polhode[")]
    return {pair[1]: pair[2] for pair in pairs if pair}


if __name__ == "__main__":
    for name, version in lowest().items():
        print(f"{name}=={version}")
