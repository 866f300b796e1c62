"""The commands by name, each imported only when it is used: a new command is one line of COMMANDS and one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from itertools import groupby
from types import MappingProxyType
from typing import Any

import click

FINDING = "Search and read"
WRITING = "Fill"
KEEPING = "Look after"


@dataclass(frozen=True)
class LazyCommand:
    """Where a command is (`module:attribute` under this package) and how the list of commands shows it."""

    section: str
    target: str
    summary: str

    def load(self) -> click.Command:
        """Import the command."""
        module, _, attribute = self.target.partition(":")
        command: click.Command = getattr(import_module(f"ariel_lite.cli.{module}"), attribute)
        return command


_COMMANDS = {
    "search": LazyCommand(FINDING, "searching:search", "Find entries by words, phrases, fields and dates."),
    "show": LazyCommand(FINDING, "entries:show", "Print entries in full, or save an attachment."),
    "browse": LazyCommand(FINDING, "entries:browse", "List entries by time."),
    "sql": LazyCommand(FINDING, "statements:sql", "Run one read-only SELECT."),
    "web": LazyCommand(FINDING, "serving_pages:web", "Serve the page and the REST API."),
    "mcp": LazyCommand(FINDING, "serving_agents:mcp", "Serve the logbook to agents, over stdio or HTTP."),
    "export": LazyCommand(FINDING, "exporting:export", "Write entries as JSONL, CSV or Markdown."),
    "quickstart": LazyCommand(WRITING, "tour:quickstart", "Make a logbook from the bundled sample and search it."),
    "ingest": LazyCommand(WRITING, "ingesting:ingest", "Read a logbook's entries from a file or a source."),
    "sync": LazyCommand(WRITING, "syncing:sync_command", "Bring the logbook up to date with its source."),
    "watch": LazyCommand(WRITING, "syncing:watch_command", "Follow the source, run by run."),
    "add": LazyCommand(WRITING, "authoring:add", "Write a new entry, with attachments."),
    "enhance": LazyCommand(WRITING, "enhancing:enhance", "Make keywords, summaries and vectors."),
    "reembed": LazyCommand(WRITING, "enhancing:reembed", "Make all vectors anew, or forget a model's."),
    "pull": LazyCommand(WRITING, "exchanging:pull_command", "Take a server's logbook along in a file."),
    "push": LazyCommand(WRITING, "exchanging:push_command", "Bring entries back to the server that were written here."),
    "status": LazyCommand(KEEPING, "upkeep:status", "Say which logbook is used, what is in it, how it does."),
    "migrate": LazyCommand(KEEPING, "upkeep:migrate", "Make the tables, or bring them up to date."),
    "reindex": LazyCommand(KEEPING, "reindexing:reindex", "Index what other programs wrote, or everything."),
    "doctor": LazyCommand(KEEPING, "upkeep:doctor", "Compare entries with the index; repair it."),
    "backup": LazyCommand(KEEPING, "copies:backup", "Write a checked copy, also while others write."),
    "restore": LazyCommand(KEEPING, "copies:restore", "Replace the logbook by a backup."),
    "models": LazyCommand(KEEPING, "models:models", "List embedding models and the logbook's vectors."),
    "eval": LazyCommand(KEEPING, "evaluating:evaluation", "Measure how well searches find what judges want."),
    "bench": LazyCommand(KEEPING, "bench:bench", "Measure speed on a synthetic logbook."),
    "purge": LazyCommand(KEEPING, "upkeep:purge", "Empty the logbook."),
}

COMMANDS: Mapping[str, LazyCommand] = MappingProxyType(_COMMANDS)


class Interrupted(Exception):
    """Ctrl-C during a command."""


class LazyGroup(click.Group):
    """A group of commands that lists them without importing them."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C becomes `Interrupted`, of which click makes nothing of its own."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as fault:
            raise Interrupted from fault

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now."""
        found = COMMANDS.get(cmd_name)
        return found.load() if found else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with; a wrong name is answered with the nearest one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = get_close_matches(name, COMMANDS, n=1)
            ctx.fail(f"there is no command {name!r}" + (f"; did you mean {near[0]}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, by section."""
        for section, commands in groupby(COMMANDS.items(), key=lambda item: item[1].section):
            with formatter.section(section):
                formatter.write_dl([(name, command.summary) for name, command in commands])
