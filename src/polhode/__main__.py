"""``python -m polhode`` is the command."""

from __future__ import annotations

import sys

from polhode.errors import MissingExtra, missing


def main() -> None:
    """Entry point of the ``polhode`` command, whose packages may not be there."""
    try:
        from polhode.cli import main as command

        command()
    except ModuleNotFoundError as error:
        told = missing(error)
        if not isinstance(told, MissingExtra):
            raise
        print(f"polhode: {told}", file=sys.stderr)
        sys.exit(told.exit_code)


if __name__ == "__main__":
    main()
