"""`pull` and `push`: a server's logbook in a file, and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import click

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Progress, VectorModel
from ariel_lite.cli.failures import INTERRUPTED
from ariel_lite.cli.layout import one_line
from ariel_lite.cli.opening import open_for_reading, open_for_writing
from ariel_lite.cli.output import Output
from ariel_lite.cli.progress import progress
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError, InvalidRequestError
from ariel_lite.exchange.pull import PullOptions, PullReport, pull
from ariel_lite.exchange.push import PushReport, push
from ariel_lite.locations import mask_credentials, scheme_of
from ariel_lite.query.nodes import BoundNode, Everything
from ariel_lite.search.base import SearchArguments
from ariel_lite.service import ARIELSearchService

SHOWN = 10


@click.command("pull")
@click.argument("server", metavar="URL")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--since", metavar="DATE", help="Only entries from this day, month or year on; or a span such as 90d.")
@click.option("--author", metavar="NAME", help="Only entries of authors whose name holds this.")
@click.option("--attachments", is_flag=True, help="Take attached files along too.")
@click.option("--no-vectors", is_flag=True, help="Leave the vectors there.")
@click.option("--mirror", is_flag=True, help="Remove here what the server does not hold any more.")
@click.option("--full", is_flag=True, help="Compare every entry, not only those changed since the last pull.")
@json_option
@pass_session
def pull_command(
    session: Session,
    server: str,
    file: str | None,
    since: str | None,
    author: str | None,
    attachments: bool,
    no_vectors: bool,
    mirror: bool,
    full: bool,
) -> None:
    """Take a server's logbook along: copy entries and vectors from URL into FILE (default: --db).

    Run again it copies what is new. It may be stopped at any time; the next run goes on from there.
    """
    target = _file(session, file)
    with ExitStack() as opened:
        remote = opened.enter_context(_server_service(session, _server(server), writing=False))
        tree = _tree(remote, since, author)
        local = opened.enter_context(closing(open_for_writing(session.config, target, create=True)))
        options = PullOptions(
            tree,
            scope=_scope(since, author),
            full=full,
            vectors_of=None if no_vectors else _model(session, local),
            files=attachments,
            mirror=mirror,
        )
        report = _pull(remote.backend, local.backend, options, mask_credentials(server))
        waiting = 0 if options.vectors_of is None else local.backend.vector_counts(options.vectors_of).missing
    if session.output.as_json:
        session.output.document(report.to_dict() | {"file": target, "without_vector": waiting})
    else:
        _print_pull(session.output, report, target, waiting)
    if report.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


@click.command("push")
@click.argument("places", metavar="[FILE] URL", nargs=-1, required=True)
@click.option("--dry-run", is_flag=True, help="Only compare.")
@json_option
@pass_session
def push_command(session: Session, places: tuple[str, ...], dry_run: bool) -> None:
    """Bring entries back that were written here: send what FILE (default: --db) has and the server at URL has not.

    Nothing on the server is overwritten. Exit 1 when the server holds one of the entries with another content.
    """
    if len(places) > 2:
        raise InvalidRequestError("push takes one file and one URL", hint="ariel-lite push FILE postgresql://…")
    server = _server(places[-1])
    source = _file(session, places[0] if len(places) == 2 else None)
    if not Path(source).exists():
        raise InvalidRequestError(f"there is no logbook at {source}", hint="name the file that holds your entries")
    with ExitStack() as opened:
        remote = opened.enter_context(_server_service(session, server, writing=not dry_run))
        local = opened.enter_context(closing(open_for_writing(session.config, source, create=False)))
        bar = opened.enter_context(progress("push", None))
        report = push(local.backend, remote.backend, name=mask_credentials(server), dry_run=dry_run, progress=bar)
    if session.output.as_json:
        session.output.document(report.to_dict() | {"file": source})
    else:
        _print_push(session.output, report)
    if report.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)
    if report.conflicts:
        raise click.exceptions.Exit(1)


def _server(url: str) -> str:
    if scheme_of(url) is None:
        raise InvalidRequestError(f"{one_line(url)} is no server", hint="write postgresql://user@host/database")
    return url


def _file(session: Session, file: str | None) -> str:
    if file is not None and scheme_of(file):
        raise InvalidRequestError("two servers were named", hint="entries go between a server and a file")
    if file is None and session.is_server:
        raise InvalidRequestError("no file was named", hint="name the logbook file after the URL")
    return file or session.location


@contextmanager
def _server_service(session: Session, url: str, *, writing: bool) -> Iterator[ARIELSearchService]:
    """The server's service. It is opened before the file: a wrong URL leaves no empty file behind."""
    opened = open_for_writing(session.config, url, create=False) if writing else open_for_reading(session.config, url)
    with closing(opened) as service:
        yield service


def _pull(server: Backend, logbook: Backend, options: PullOptions, name: str) -> PullReport:
    """Pull with a bar for each part."""
    with ExitStack() as bars:

        def bar(part: str) -> Progress:
            total = server.count(options.tree) if part == "entries" and options.full else None
            return bars.enter_context(progress(part, total))

        return pull(server, logbook, options, name=name, progress=bar)


def _tree(service: ARIELSearchService, since: str | None, author: str | None) -> BoundNode:
    if not since and not author:
        return Everything()
    return service.context.plan(SearchArguments(start_date=since, author=author)).tree


def _scope(since: str | None, author: str | None) -> str:
    """The filters in words: a pull goes on where the last one with the same filters ended."""
    named = (f"since {since}" if since else "", f"author {author}" if author else "")
    return ", ".join(part for part in named if part)


def _model(session: Session, service: ARIELSearchService) -> VectorModel | None:
    """The configured model; None, with a note, where it cannot be used."""
    try:
        embedder = service.context.embedder
        return VectorModel(embedder.name, embedder.dimension, embedder.fingerprint)
    except (ConfigurationError, EmbeddingGenerationError) as fault:
        session.output.note(f"vectors are left there: {fault.message}")
        return None


def _print_pull(output: Output, report: PullReport, file: str, waiting: int) -> None:
    counts = [f"{report.added:,} added", f"{report.updated:,} updated", f"{report.unchanged:,} unchanged"]
    counts += [f"{report.removed:,} removed"] if report.removed else []
    output.text(f"{file}: {', '.join(counts)}; {report.vectors:,} vectors, {report.files:,} files")
    for stored_as in list(report.renamed.items())[:SHOWN]:
        output.label("note", "the id {} belongs to another source here; stored as {}".format(*stored_as))
    if report.interrupted:
        output.label("interrupted", "run it again to go on", "warning")
    elif waiting:
        output.label("note", f"{waiting:,} entries have no vector there either; 'ariel-lite enhance' makes them here")


def _print_push(output: Output, report: PushReport) -> None:
    would = "would be " if report.dry_run else ""
    output.text(
        f"{report.server}: {len(report.sent):,} entries {would}sent with {report.files:,} files,"
        f" {report.known:,} were there, {len(report.conflicts):,} conflicts"
    )
    for conflict in report.conflicts[:SHOWN]:
        output.label("conflict", f"{conflict.entry_id} differs there in {', '.join(conflict.fields)}", "warning")
    if len(report.conflicts) > SHOWN:
        output.label("note", f"and {len(report.conflicts) - SHOWN:,} more; --json has them")
    if report.interrupted:
        output.label("interrupted", "run it again to send the rest", "warning")
