"""`add`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import click

from ariel_lite.attachments import attachment_id, check_size, mime_type, safe_filename, stored_url
from ariel_lite.cli.files import STANDARD
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.errors import ARIELException, InvalidRequestError
from ariel_lite.ingestion.authoring import CLI_SOURCE, new_entry
from ariel_lite.ingestion.text_cleaning import clean_text
from ariel_lite.query.source_times import parse_source_time
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.service import ARIELSearchService

AUTHOR = "ARIEL_LITE_AUTHOR"


class AttachedFile(NamedTuple):
    """A file that was read to go with an entry."""

    attachment_id: str
    filename: str
    mime_type: str
    data: bytes


@click.command("add")
@click.option("--title", "--subject", default="", metavar="TEXT", help="What it is about, in one line.")
@click.option("--text", metavar="TEXT", help="What happened; - reads standard input.")
@click.option("--author", default="", envvar=AUTHOR, metavar="NAME", help=f"Who writes. [env: {AUTHOR}]")
@click.option("--logbook", metavar="NAME", help="Which logbook it belongs to.")
@click.option("--shift", metavar="NAME", help="The shift.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; several times for several.")
@click.option("--attach", "files", multiple=True, metavar="FILE", help="A file to keep with it, at most 10 MB each.")
@click.option("--time", "written", metavar="TIME", help="When it happened, in the facility's zone (default: now).")
@click.option("--edit", is_flag=True, help="Write the text in $EDITOR.")
@json_option
@pass_session
def add(
    session: Session,
    title: str,
    text: str | None,
    author: str,
    logbook: str | None,
    shift: str | None,
    tags: tuple[str, ...],
    files: tuple[str, ...],
    written: str | None,
    edit: bool,
) -> None:
    """Write a new entry.

    The text comes from --text, from standard input, or from $EDITOR, where the first line is the title.
    """
    moment = _moment(session, written) if written is not None else None
    title, text = _texts(title, text, edit)
    entry = new_entry(
        _clean(title),
        _clean(text),
        author=_clean(author),
        logbook=_clean(logbook) if logbook else None,
        shift=_clean(shift) if shift else None,
        tags=[_clean(tag) for tag in tags],
        timestamp=moment,
    )
    attached = [_read(entry, Path(name)) for name in files]
    entry["attachments"] = [
        {"url": stored_url(file.attachment_id), "filename": file.filename, "type": file.mime_type} for file in attached
    ]
    with session.writing(create=True) as service:
        _store(service, entry, attached)
    _report(session, entry, attached)


def _texts(title: str, text: str | None, edit: bool) -> tuple[str, str]:
    """Title and text: --text, else what is piped in, else the editor when there is no title either."""
    if edit or (text is None and not title and _is_typed()):
        return _edited(title, text or "")
    if text == STANDARD or (text is None and not _is_typed()):
        return title, _standard_input()
    return title, text or ""


def _is_typed() -> bool:
    """True when standard input is a person at a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def _moment(session: Session, written: str) -> datetime:
    try:
        return parse_source_time(written, zone=session.zone)
    except InvalidRequestError as fault:
        raise InvalidRequestError(fault.message, hint="write --time as 2026-03-05T10:00") from fault


def _standard_input() -> str:
    if sys.stdin is None:
        return ""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InvalidRequestError(
            f"standard input is not UTF-8 text (byte {fault.start})", hint="convert it, or attach it with --attach"
        ) from fault


def _edited(title: str, text: str) -> tuple[str, str]:
    start = "\n\n".join(part for part in (title, text) if part)
    written = click.edit(start, extension=".txt")
    if written is None or not written.strip():
        raise InvalidRequestError("nothing was written, nothing is added", hint="save the file in the editor")
    first, _, rest = written.strip().partition("\n")
    return first, rest.strip()


def _clean(text: str) -> str:
    """A text that every store can hold; bytes of the command line that are no text become replacement characters."""
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return clean_text(whole)[0]


def _read(entry: EnhancedLogbookEntry, path: Path) -> AttachedFile:
    try:
        check_size(path.name, path.stat().st_size)
        data = path.read_bytes()
    except OSError as fault:
        raise InvalidRequestError(
            f"cannot read the attachment {path}: {fault.strerror}", hint="nothing was added; check --attach"
        ) from fault
    name = safe_filename(path.name)
    owner = f"{entry['source_system']}/{entry['entry_id']}"
    return AttachedFile(attachment_id(owner, name, data), name, mime_type(name, data), data)


def _store(service: ARIELSearchService, entry: EnhancedLogbookEntry, attached: Sequence[AttachedFile]) -> None:
    """Keep the entry with all its files, or nothing."""
    service.backend.upsert([entry])
    try:
        for file in attached:
            service.backend.store_attachment(
                entry["entry_id"], file.attachment_id, file.filename, file.mime_type, file.data
            )
    except ARIELException:
        service.backend.delete([entry["entry_id"]])
        raise


def _report(session: Session, entry: EnhancedLogbookEntry, attached: Sequence[AttachedFile]) -> None:
    message = f"added {entry['entry_id']} to {session.name}"
    if session.output.as_json:
        session.output.document(
            {
                "entry_id": entry["entry_id"],
                "message": message,
                "source_system": CLI_SOURCE,
                "attachment_count": len(attached),
                "attachments": [{"attachment_id": file.attachment_id, "filename": file.filename} for file in attached],
            }
        )
        return
    files = f", with {len(attached)} attachment{'s' if len(attached) > 1 else ''}" if attached else ""
    session.output.text(message + files)
