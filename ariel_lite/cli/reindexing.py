"""`reindex`."""

from __future__ import annotations

import click

from ariel_lite.cli.progress import progress
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.cli.upkeep import make_index
from ariel_lite.ingestion.attachment_backfill import TextsRead, read_missing_texts


@click.command("reindex")
@click.option("--all", "everything", is_flag=True, help="Drop the index and make it anew.")
@click.option("--attachments", is_flag=True, help="Also read the text of attached files that was not read yet.")
@json_option
@pass_session
def reindex(session: Session, everything: bool, attachments: bool) -> None:
    """Index what other programs wrote or changed, or everything."""
    texts = TextsRead()
    with session.writing() as service:
        indexed = make_index(service.backend, everything=everything)
        if attachments:
            with progress("reading attachments", None) as advance:
                texts = read_missing_texts(service.backend, advance)
    if session.output.as_json:
        found = {"attachment_texts": texts.entries, "notes": texts.notes} if attachments else {}
        session.output.document({"database": session.name, "indexed": indexed, **found})
        return
    session.output.text(f"indexed {indexed:,} entries")
    if attachments:
        session.output.text(f"read the files of {texts.entries:,} entries")
    for note in texts.notes:
        session.output.label("note", note)
