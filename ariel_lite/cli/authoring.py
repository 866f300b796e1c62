"""`add`."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import click

from ariel_lite.attachments import stored_id
from ariel_lite.cli.files import STANDARD
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.errors import InvalidRequestError
from ariel_lite.ingestion.authoring import CLI_SOURCE
from ariel_lite.ingestion.drafts import EntryContent, read_file, store_entry
from ariel_lite.ingestion.publishing import Publication, publish_entry, writable_adapter
from ariel_lite.query.source_times import parse_source_time
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.registry import Registry

AUTHOR = "ARIEL_LITE_AUTHOR"


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
@click.option("--publish", is_flag=True, help="Publish it at the configured source as well.")
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
    publish: bool,
) -> None:
    """Write a new entry.

    The text comes from --text, from standard input, or from $EDITOR, where the first line is the title.
    """
    if publish:
        _check_publishable(session, files)
    moment = _moment(session, written) if written is not None else None
    title, text = _texts(title, text, edit)
    content = EntryContent(
        subject=_whole(title),
        details=_whole(text),
        author=_whole(author),
        logbook=_whole(logbook) if logbook else None,
        shift=_whole(shift) if shift else None,
        tags=[_whole(tag) for tag in tags],
    )
    attached = [read_file(Path(name)) for name in files]
    with session.writing(create=True) as service:
        entry = store_entry(service.backend, content, source_system=CLI_SOURCE, files=attached, timestamp=moment)
        published = (
            publish_entry(service.backend, service.config, service.registry, entry["entry_id"]) if publish else None
        )
    _report(session, entry, published)


def _check_publishable(session: Session, files: tuple[str, ...]) -> None:
    """Say what stands against publishing before anything is written."""
    writable_adapter(session.config, Registry())
    if files:
        raise InvalidRequestError("files are not published", hint="add the entry without --attach or --publish")


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


def _whole(text: str) -> str:
    """A text in which bytes of the command line that are no text are replacement characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _report(session: Session, entry: EnhancedLogbookEntry, published: Publication | None) -> None:
    message = f"added {entry['entry_id']} to {session.name}"
    attached = entry["attachments"]
    if session.output.as_json:
        document = {
            "entry_id": entry["entry_id"],
            "message": message,
            "source_system": CLI_SOURCE,
            "attachment_count": len(attached),
            "attachments": [
                {"attachment_id": stored_id(file["url"]), "filename": file.get("filename")} for file in attached
            ],
        }
        session.output.document(document | (published.to_dict() if published else {}))
        return
    files = f", with {len(attached)} attachment{'s' if len(attached) > 1 else ''}" if attached else ""
    session.output.text(message + files)
    if published:
        session.output.text(published.message)
