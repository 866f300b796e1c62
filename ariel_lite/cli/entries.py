"""`show` and `browse`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ariel_lite.attachments import safe_filename, stored_url
from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import StoredAttachment
from ariel_lite.cli.files import STANDARD, refuse_logbook, replaced
from ariel_lite.cli.layout import Span, one_line, paragraphs
from ariel_lite.cli.listing import long_time, print_entry
from ariel_lite.cli.session import Session, filter_options, json_option, pass_session
from ariel_lite.errors import EntryNotFoundError, InvalidRequestError
from ariel_lite.present import entry_document
from ariel_lite.records import MAX_RESULTS, EnhancedLogbookEntry, entry_title

FIND_HINT = "'ariel-lite search' and 'ariel-lite browse' show ids"
PAGE = 20


@click.command("show")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--attachment", "attachment_id", metavar="ATT_ID", help="Save this attachment instead.")
@click.option("--output", metavar="FILE", help="Where to save it; - for standard output (default: its own name).")
@json_option
@pass_session
def show(session: Session, ids: tuple[str, ...], attachment_id: str | None, output: str | None) -> None:
    """Print entries in full, or save an attachment."""
    if attachment_id is not None:
        _save(session, ids, attachment_id, output)
        return
    if output is not None:
        raise InvalidRequestError("--output saves an attachment", hint="name it with --attachment ATT_ID")
    if not ids:
        raise InvalidRequestError("which entry?", hint=f"give its id; {FIND_HINT}")
    with session.reading() as service:
        entries = service.backend.get_entries(ids)
        files = {entry["entry_id"]: service.backend.attachments_of(entry["entry_id"]) for entry in entries}
    missing = _missing(ids, entries)
    if session.output.as_json:
        _print_documents(session, entries, files, missing)
        return
    for index, entry in enumerate(entries):
        if index:
            session.output.line()
            session.output.line(Span("-" * session.output.width, "dim"))
        _print_whole(session, entry, files[entry["entry_id"]])
    if missing:
        raise missing


@click.command("browse")
@click.option("--limit", type=click.IntRange(min=1), default=PAGE, metavar="N", help="Entries a page, 1 to 100.")
@click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="Which page.")
@filter_options
@click.option("--oldest", is_flag=True, help="Oldest first.")
@json_option
@pass_session
def browse(
    session: Session,
    limit: int,
    page: int,
    author: str | None,
    source: str | None,
    after: str | None,
    before: str | None,
    oldest: bool,
) -> None:
    """List entries by time, newest first."""
    size = min(limit, MAX_RESULTS)
    if size < limit:
        session.output.note(f"{limit} entries were asked for; a page holds {size}")
    with session.reading() as service:
        found = service.browse(
            start_date=after,
            end_date=before,
            author=author,
            source_system=source,
            limit=size,
            offset=(page - 1) * size,
            order="oldest" if oldest else "newest",
        )
    pages = -(-found.total // size)
    if session.output.as_json:
        entries = [entry_document(entry, session.zone) for entry in found.entries]
        place = {"total": found.total, "page": page, "page_size": size, "total_pages": pages}
        session.output.document({"entries": entries, **place})
        return
    for entry in found.entries:
        print_entry(session.output, entry, session.zone)
    if found.entries:
        session.output.line()
    _print_place(session, found.total, page, pages)


def _print_place(session: Session, total: int, page: int, pages: int) -> None:
    if total == 0:
        session.output.text("no entry matches")
    elif page > pages:
        session.output.text(f"there is no page {page}; the last one is {pages}")
    else:
        following = f"; the next one: --page {page + 1}" if page < pages else ""
        session.output.text(f"page {page} of {pages}, {total:,} entries in all{following}", "dim")


def _missing(ids: Sequence[str], entries: Sequence[EnhancedLogbookEntry]) -> EntryNotFoundError | None:
    known = {entry["entry_id"] for entry in entries}
    missing = [entry_id for entry_id in dict.fromkeys(ids) if entry_id not in known]
    if not missing:
        return None
    what = "no entry has the id" if len(missing) == 1 else "no entries have the ids"
    return EntryNotFoundError(f"{what} {', '.join(missing)}", hint=FIND_HINT)


def _print_documents(
    session: Session,
    entries: Sequence[EnhancedLogbookEntry],
    files: dict[str, list[StoredAttachment]],
    missing: EntryNotFoundError | None,
) -> None:
    documents = [
        entry_document(entry, session.zone) | {"files": [_file(found) for found in files[entry["entry_id"]]]}
        for entry in entries
    ]
    document: dict[str, Any] = {"entries": documents}
    if missing is None:
        session.output.document(document)
        return
    session.output.failure({"error": missing.envelope()} | document)
    raise click.exceptions.Exit(missing.exit_code)


def _file(stored: StoredAttachment) -> dict[str, Any]:
    return {
        "attachment_id": stored.attachment_id,
        "filename": stored.filename,
        "mime_type": stored.mime_type,
        "size_bytes": stored.size_bytes,
    }


def _print_whole(session: Session, entry: EnhancedLogbookEntry, files: Sequence[StoredAttachment]) -> None:
    output = session.output
    output.line(Span(one_line(entry["entry_id"]), "id"), Span(f"  {one_line(entry_title(entry))}", "bold"))
    for name, value in _facts(session, entry):
        output.fact(name, value)
    body = entry["raw_text"].removeprefix(f"{entry_title(entry)}\n\n")
    if body.strip() and body != entry_title(entry):
        output.line()
        output.lines(paragraphs(body, output.width) if output.is_terminal else [[Span(body)]])
    texts = {attachment["url"]: len(attachment.get("text") or "") for attachment in entry["attachments"]}
    for stored in files:
        length = texts.get(stored_url(stored.attachment_id))
        searchable = f", {length:,} characters of text" if length else ""
        output.fact("attached", f"{stored.attachment_id} {stored.filename} ({stored.size_bytes:,} bytes{searchable})")
    named = {stored.attachment_id for stored in files}
    for attachment in entry["attachments"]:
        if attachment["url"].rpartition("/")[2] not in named:
            output.fact("attached", attachment["url"] + (" (missing)" if attachment.get("missing") else ""))


def _facts(session: Session, entry: EnhancedLogbookEntry) -> Iterator[tuple[str, str]]:
    """What is known of an entry beside its text."""
    yield "time", long_time(entry["timestamp"], session.zone)
    yield "author", one_line(entry["author"]) or "-"
    yield "source", one_line(entry["source_system"])
    for key, value in entry["metadata"].items():
        if key not in ("title", "subject") and value not in (None, "", [], {}):
            values = value if isinstance(value, list) else [value]
            yield one_line(key), one_line(", ".join(str(item) for item in values))
    if entry.get("keywords"):
        yield "keywords", one_line(", ".join(entry["keywords"]))
    if entry.get("summary"):
        yield "summary", one_line(str(entry["summary"]))


def _save(session: Session, ids: Sequence[str], attachment_id: str, output: str | None) -> None:
    with session.reading() as service:
        stored = _attachment(service.backend, ids, attachment_id)
    data = stored.data or b""
    if output == STANDARD:
        if session.output.as_json:
            raise InvalidRequestError("--json and --output - both want standard output", hint="name a file")
        session.output.write(data)
        session.output.flush()
        return
    target = Path(output or safe_filename(stored.filename))
    refuse_logbook(target, session.location)
    if output is None and target.exists():
        raise InvalidRequestError(f"{target} exists already", hint="name another file with --output")
    with replaced(target) as handle:
        handle.write(data)
    if session.output.as_json:
        session.output.document(_file(stored) | {"saved_as": str(target)})
    else:
        session.output.text(f"saved {target} ({len(data):,} bytes)")


def _attachment(backend: Backend, ids: Sequence[str], attachment_id: str) -> StoredAttachment:
    stored = backend.get_attachment(attachment_id)
    if stored is None or (ids and stored.entry_id not in ids):
        where = f" in {', '.join(ids)}" if ids else ""
        raise EntryNotFoundError(
            f"there is no attachment {attachment_id}{where}", hint="'ariel-lite show ID' lists an entry's attachments"
        )
    return stored
