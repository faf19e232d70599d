"""``python -m polhode`` is the command."""

from polhode.cli import main

if __name__ == "__main__":
    main()
