"""`export`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from ariel_lite.attachments import stored_id
from ariel_lite.backends.base import AttachmentStore, Backend
from ariel_lite.backends.values import batched
from ariel_lite.cli.files import STANDARD, refuse_logbook, replaced
from ariel_lite.cli.layout import safe
from ariel_lite.cli.session import Session, filter_options, json_option, pass_session
from ariel_lite.errors import InvalidRequestError
from ariel_lite.export import FORMATS
from ariel_lite.query.nodes import BoundNode, Everything
from ariel_lite.records import Attachment, EnhancedLogbookEntry
from ariel_lite.search.base import SearchArguments
from ariel_lite.service import ARIELSearchService

SUFFIXES = {".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".markdown": "markdown"}
LINES_AT_ONCE = 100


@click.command("export")
@click.argument("words", metavar="[QUERY]...", nargs=-1)
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="Default: what FILE's suffix says, else jsonl."
)
@click.option("--output", default=STANDARD, metavar="FILE", help="Where to write (default: standard output).")
@click.option("--attachments", is_flag=True, help="Save attached files too, in the folder FILE.files.")
@filter_options
@click.option("--newest", is_flag=True, help="Newest first; otherwise oldest first.")
@json_option
@pass_session
def export(
    session: Session,
    words: tuple[str, ...],
    form: str | None,
    output: str,
    attachments: bool,
    author: str | None,
    source: str | None,
    after: str | None,
    before: str | None,
    newest: bool,
) -> None:
    """Write entries as JSON Lines, CSV or Markdown: all, or those that a query and filters allow.

    JSON Lines can be read back with 'ariel-lite ingest --adapter generic_json'.
    """
    if session.output.as_json and output == STANDARD:
        raise InvalidRequestError("--json and the entries both want standard output", hint="name a file with --output")
    if attachments and output == STANDARD:
        raise InvalidRequestError("--attachments needs a file beside which to save them", hint="add --output FILE")
    session.query = " ".join(words)
    arguments = SearchArguments(
        query=session.query, author=author, source_system=source, start_date=after, end_date=before, strict=True
    )
    chosen = form or SUFFIXES.get(Path(output).suffix.lower(), "jsonl")
    with session.reading() as service:
        entries = _Counted(service.backend, _tree(service, arguments), newest)
        if output == STANDARD:
            _print(session, FORMATS[chosen](entries, session.zone))
            return
        target = Path(output)
        refuse_logbook(target, session.location)
        files = target.with_name(f"{target.name}.files")
        kept = _with_files(entries, service.backend, files) if attachments else entries
        with replaced(target) as handle:
            for chunk in _chunks(FORMATS[chosen](kept, session.zone)):
                handle.write(chunk.encode("utf-8", "replace"))
    _report(session, target, chosen, entries.count)


class _Counted:
    """The entries of a tree, counted as they pass."""

    def __init__(self, backend: Backend, tree: BoundNode, newest: bool) -> None:
        self._backend = backend
        self._tree = tree
        self._newest = newest
        self.count = 0

    def __iter__(self) -> Iterator[EnhancedLogbookEntry]:
        for entry in self._backend.iterate_entries(self._tree, "newest" if self._newest else "oldest"):
            self.count += 1
            yield entry


def _with_files(
    entries: Iterable[EnhancedLogbookEntry], store: AttachmentStore, folder: Path
) -> Iterator[EnhancedLogbookEntry]:
    """The entries, their stored files saved in `folder/<attachment id>/`; their urls lead there from beside it."""
    for entry in entries:
        attachments = [_saved(attachment, store, folder) for attachment in entry["attachments"]]
        yield {**entry, "attachments": attachments}


def _saved(attachment: Attachment, store: AttachmentStore, folder: Path) -> Attachment:
    identifier = stored_id(attachment["url"])
    stored = store.get_attachment(identifier) if identifier else None
    if stored is None or stored.data is None:
        return attachment
    place = folder / stored.attachment_id
    place.mkdir(parents=True, exist_ok=True)
    (place / stored.filename).write_bytes(stored.data)
    return {**attachment, "url": f"{folder.name}/{stored.attachment_id}/{stored.filename}"}


def _tree(service: ARIELSearchService, arguments: SearchArguments) -> BoundNode:
    wanted = arguments.model_dump(include={"query", "author", "source_system", "start_date", "end_date"})
    if not any(value is not None and str(value).strip() for value in wanted.values()):
        return Everything()
    planned = service.context.plan(arguments)
    if planned.nothing is not None:
        raise InvalidRequestError(f"nothing to export: {planned.nothing}", hint="search for at least one word")
    return planned.tree


def _print(session: Session, lines: Iterable[str]) -> None:
    for chunk in _chunks(lines):
        shown = safe(chunk) if session.output.is_terminal else chunk
        session.output.write(shown.encode("utf-8", "replace"))
    session.output.flush()


def _chunks(lines: Iterable[str]) -> Iterator[str]:
    return ("".join(part) for part in batched(lines, LINES_AT_ONCE))


def _report(session: Session, target: Path, form: str, count: int) -> None:
    if session.output.as_json:
        session.output.document({"file": str(target), "format": form, "entries": count})
    else:
        session.output.text(f"wrote {count:,} entries to {target}")
