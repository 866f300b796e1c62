"""`search`."""

from __future__ import annotations

from typing import Any

import click

from ariel_lite.capabilities import SearchModes
from ariel_lite.cli.report import SearchReport, could_not_run
from ariel_lite.cli.session import Session, filter_options, json_option, pass_session
from ariel_lite.errors import InvalidRequestError
from ariel_lite.present import search_document
from ariel_lite.records import MAX_RESULTS
from ariel_lite.registry import Registry
from ariel_lite.search.base import SearchToolDescriptor
from ariel_lite.service import ARIELSearchService

THRESHOLD = "similarity_threshold"
FUZZY = "fuzzy_fallback"


class SearchCommand(click.Command):
    """`search`, whose help names the modes that are enabled, registered ones included."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The modes and the query syntax in short."""
        session = ctx.find_object(Session)
        modes = SearchModes(Registry(), session.config).enabled() if session else []
        with formatter.section("Modes"):
            formatter.write_dl([(mode.search_mode, mode.description) for mode in modes])
        with formatter.section("Queries"):
            formatter.write_dl(
                [
                    ("rf trip", "both words"),
                    ("rf OR (vacuum NOT planned)", "OR, NOT and brackets"),
                    ("'\"beam dump\"'", "words side by side; the shell needs the outer quotes"),
                    ("-- -planned", "everything but; -- ends the options"),
                    ("klyst*", "words that begin so"),
                    ("author:smith date:2024-03", "fields: author date source logbook tag category id has"),
                ]
            )


@click.command("search", cls=SearchCommand)
@click.argument("words", metavar="[QUERY]...", nargs=-1)
@click.option("--mode", metavar="MODE", help="How to search; see Modes.")
@click.option("--limit", type=int, metavar="N", help="How many entries, 1 to 100 (default 10).")
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out the first N.")
@filter_options
@click.option("--no-fuzzy", is_flag=True, help="No approximate matches when nothing matches exactly.")
@click.option("--threshold", type=float, metavar="X", help="The least similarity, -1 to 1, in modes that have one.")
@click.option("--strict-query", is_flag=True, help="Refuse open brackets and quotes instead of mending them.")
@click.option("--explain", is_flag=True, help="Show how the query was read and what the database runs.")
@json_option
@pass_session
def search(
    session: Session,
    words: tuple[str, ...],
    mode: str | None,
    limit: int | None,
    offset: int,
    author: str | None,
    source: str | None,
    after: str | None,
    before: str | None,
    no_fuzzy: bool,
    threshold: float | None,
    strict_query: bool,
    explain: bool,
) -> None:
    """Find entries by words, phrases, fields and dates.

    Without a query, but with a filter, the newest entries that it allows are listed.
    """
    query = session.query = " ".join(words)
    wanted = {"author": author, "source_system": source, "start_date": after, "end_date": before}
    parameters: dict[str, Any] = {key: value for key, value in wanted.items() if value is not None}
    parameters |= {"strict": strict_query, "explain": explain, "offset": offset}
    with session.reading() as service:
        descriptor = service.modes.get(mode or service.modes.default(service.backend))
        parameters |= _mode_parameters(descriptor, service, threshold, no_fuzzy)
        result = service.search_now(query, max_results=limit, mode=descriptor.search_mode, advanced_params=parameters)
    if session.output.as_json:
        session.output.document(search_document(query, result, session.zone))
    else:
        asked = service.config.default_max_results if limit is None else min(limit, MAX_RESULTS)
        SearchReport(session.output, session.zone, result).print(asked=asked, offset=offset)
    if could_not_run(result):
        raise click.exceptions.Exit(1)


def _mode_parameters(
    descriptor: SearchToolDescriptor, service: ARIELSearchService, threshold: float | None, no_fuzzy: bool
) -> dict[str, Any]:
    """The options that only some modes have, as their parameters."""
    known = descriptor.args_schema.model_fields
    chosen: dict[str, Any] = {}
    if threshold is not None:
        if THRESHOLD not in known:
            able = [mode.search_mode for mode in service.modes.enabled() if THRESHOLD in mode.args_schema.model_fields]
            raise InvalidRequestError(
                f"the mode {descriptor.search_mode} has no threshold",
                hint=f"leave out --threshold, or use --mode {' or '.join(able)}" if able else "leave out --threshold",
            )
        chosen[THRESHOLD] = threshold
    if no_fuzzy and FUZZY in known:
        chosen[FUZZY] = False
    return chosen
