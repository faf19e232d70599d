"""The shell command ``polhode``. Options stand in the signatures of its functions; files are imported when they run.

Exit codes: 0 ok, 1 a fault of the installation or the GPU, 2 usage, 3 invalid scenario or value, 4 did not converge or
step too large, 5 file or disk, 6 the user's function failed, 130 interrupted. Results go to stdout, messages to stderr.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from polhode.lazy import opened

COMMANDS = {
    "new": "Write a scenario to begin with, with every key of a system explained.",
    "run": "Integrate a scenario and write the trajectory and its picture.",
    "resume": "Go on with a run from its live store, after Ctrl-C, kill or a power cut.",
    "info": "How far the run of a live store is: rows, size, rate, time to go.",
    "tail": "The last rows of a live store, also while it grows.",
    "fit": "Fit initial values and parameters of a scenario to measured data.",
    "sweep": "Run a scenario for many values of its keys, on one machine or many.",
    "chaos": "Tell order from chaos: MEGNO, Lyapunov exponents, FLI, SALI or GALI of a scenario.",
    "view": "Look at a run in a browser: one page with the moving body in it.",
    "plot": "Draw a trajectory again, or panels of it, as PNG, PDF or SVG.",
    "methods": "List the methods and what they keep.",
    "systems": "List the systems and ready-made problems.",
    "compare": "Compare methods on a scenario: errors, orders, cost.",
    "animate": "Write a film of a trajectory: GIF, animated PNG, MP4, WebM.",
    "export": "Write a trajectory for flight software (CCSDS) or molecular dynamics.",
    "reproduce": "Recompute the figures and claims of a paper.",
    "schema": "Print the JSON schema of scenario files.",
    "doctor": "Check this installation: versions, cache, processors, GPU, a short run.",
    "cite": "Print what to cite for a trajectory or a method.",
}
"""Every subcommand and its line in ``--help``; the command itself is ``polhode.cli.<name>.command``, or in HOMES."""
HOMES = dict.fromkeys(("resume", "info", "tail"), "stores") | dict.fromkeys(
    ("methods", "systems", "new", "schema", "cite"), "listings"
)
"""Modules with several commands, by the names of these."""


class _Commands(click.Group):
    """Subcommands that are imported when they run, so that ``--help`` is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = getattr(opened(f"polhode.cli.{HOMES.get(name, name)}"), name if name in HOMES else "command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            from polhode.errors import unknown_name

            raise click.UsageError(str(unknown_name("command", args[0], COMMANDS)), ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; Ctrl-C becomes ``Interrupted`` (exit code 130), since click would exit with 1."""
        from polhode.errors import Interrupted

        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="polhode")
def group() -> None:
    """Simulate what spins and orbits - tops, satellites, asteroids, rigid molecules - and trust the result after a
    million steps.

    \b
    A first run, the moving body, a scenario of one's own, and which methods there are:
        polhode run examples/fast-top.toml
        polhode view examples/fast-top.toml
        polhode new spacecraft
        polhode methods

    A method is written name[/flow][:option...]: trapm, mkrk:gauss6, s6_10/dmv10.

    Words complete with the TAB key after eval "$(_POLHODE_COMPLETE=bash_source polhode)" (or zsh_source).

    \b
    Exit codes: 0 ok, 1 a fault of the installation or the GPU, 2 usage,
    3 invalid scenario or value, 4 did not converge or step too large,
    5 file or disk, 6 your function failed, 130 interrupted.
    """


def main() -> None:
    """Entry point of the ``polhode`` command."""
    from polhode.errors import Interrupted, PolhodeError
    from polhode.kernel.interrupts import never_lost

    try:
        with never_lost():
            group(prog_name="polhode", standalone_mode=True)
    except PolhodeError as problem:
        click.echo(f"polhode: {problem}", err=True)
        sys.exit(problem.exit_code)
    except KeyboardInterrupt:
        click.echo("polhode: interrupted", err=True)
        sys.exit(Interrupted.exit_code)
