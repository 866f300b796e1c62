"""`backup` and `restore`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Protocol, runtime_checkable

import click

from ariel_lite.backends.base import Backend
from ariel_lite.cli.files import refuse_logbook
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.errors import ARIELException, InvalidRequestError
from ariel_lite.locations import is_device


@runtime_checkable
class CopiesItself(Protocol):
    """A backend whose logbook is a file."""

    def backup(self, target: Path) -> int:
        """Write a whole, checked copy; the number of entries in it."""

    def restore(self, source: Path) -> int:
        """Replace the contents by a backup's; the number of entries."""


@click.command("backup")
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--overwrite", is_flag=True, help="Replace FILE when it exists.")
@json_option
@pass_session
def backup(session: Session, target: Path, overwrite: bool) -> None:
    """Write a checked copy of the logbook, also while other programs write."""
    refuse_logbook(target, session.location)
    if is_device(target):
        raise InvalidRequestError(f"{target} is no file", hint="name a file")
    if target.exists() and not overwrite:
        raise InvalidRequestError(f"{target} exists already", hint="name another file, or add --overwrite")
    with session.reading() as service:
        entries = _copying(service.backend).backup(target)
    _report(session, "backup", target, entries, f"wrote {entries:,} entries to {target}")


@click.command("restore")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@pass_session
def restore(session: Session, source: Path, yes: bool) -> None:
    """Replace the logbook's contents by a backup's."""
    if session.is_server:
        raise _no_file("postgres")
    refuse_logbook(source, session.location)
    if not source.exists():
        raise InvalidRequestError(f"there is no backup at {source}", hint="check the file's name")
    target = Path(session.location)
    is_new = not target.exists()
    if not (yes or is_new):
        _ask(session)
    try:
        with session.writing(create=True) as service:
            entries = _copying(service.backend).restore(source)
    except ARIELException as fault:
        if is_new:
            _forget(target)
        if str(source) in fault.message:
            fault.hint = "choose another backup; nothing was changed"
        raise
    text = f"{session.name} now holds the {entries:,} entries of {source}"
    _report(session, "restored_from", source, entries, text)


def _copying(backend: Backend) -> CopiesItself:
    if not isinstance(backend, CopiesItself):
        raise _no_file(backend.name)
    return backend


def _no_file(kind: str) -> InvalidRequestError:
    return InvalidRequestError(
        f"a {kind} logbook is not one file", hint="use the database's own tools, such as pg_dump"
    )


def _ask(session: Session) -> None:
    if session.output.as_json or sys.stdin is None or not sys.stdin.isatty():
        raise InvalidRequestError(f"this would replace all entries of {session.name}", hint="add --yes to do it")
    click.confirm(f"replace all entries of {session.name}?", abort=True, err=True)


def _forget(path: Path) -> None:
    """Remove a logbook that was made a moment ago and never filled."""
    for part in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        part.unlink(missing_ok=True)


def _report(session: Session, key: str, path: Path, entries: int, text: str) -> None:
    if session.output.as_json:
        session.output.document({"database": session.name, key: str(path), "entries": entries})
    else:
        session.output.text(text)
