"""The command group, and the one place where every error becomes a line, a hint and an exit code."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence

import click

from ariel_lite import __version__
from ariel_lite.cli.failures import CLOSED_PIPE, INTERRUPTED, describe
from ariel_lite.cli.lazy import LazyGroup
from ariel_lite.cli.output import Output, OutputClosed
from ariel_lite.cli.session import Session, pass_session

PROGRAM = "ariel-lite"


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=f"Start with '{PROGRAM} quickstart'. '{PROGRAM} COMMAND --help' tells more about a command.",
)
@click.option("--db", metavar="FILE|URL", help="The logbook: a file, or a postgresql:// URL. [env: ARIEL_LITE_DB]")
@click.option("--config", metavar="FILE", help="A YAML file of settings. [env: ARIEL_LITE_CONFIG]")
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM, message="%(prog)s %(version)s")
@pass_session
def cli(session: Session, db: str | None, config: str | None) -> None:
    """Search a logbook: one file, answered like a server would."""
    session.choose(db, config)


def run(arguments: Sequence[str]) -> int:
    """Run the command line.

    Args:
        arguments: what follows the program's name.

    Returns:
        The exit code: 0, 2 for bad usage or a bad query, 130 for Ctrl-C, 141 when the reader of the output went
        away, 1 for anything else.
    """
    given = [as_text(argument) for argument in arguments]
    output = Output(as_json=asks_for_json(given))
    session = Session(output)
    try:
        return _invoke(given, session)
    except OutputClosed:
        return CLOSED_PIPE


def asks_for_json(arguments: Sequence[str]) -> bool:
    """True when `--json` stands among the options; behind `--` it is a word."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def as_text(argument: str) -> str:
    """An argument as it was typed: where the locale says nothing of an encoding, UTF-8 is meant."""
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "surrogateescape")
    return argument


def _invoke(arguments: list[str], session: Session) -> int:
    try:
        code = cli.main(arguments or ["--help"], prog_name=PROGRAM, standalone_mode=False, obj=session)
    except OutputClosed:
        raise
    except SystemExit as ended:  # what click makes of a reader of the help that went away
        raise OutputClosed from ended
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the one boundary: whatever happens, no traceback
        if os.environ.get("ARIEL_LITE_DEBUG"):
            traceback.print_exc()
        failure = describe(error, session.query)
        if failure.exit_code == INTERRUPTED:
            session.output.leave_echoed_keys()
        session.output.failure(failure.document, failure.lines)
        return failure.exit_code
    return code if isinstance(code, int) else 0
