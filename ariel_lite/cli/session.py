"""What every command has: its output, the settings, and the logbook."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ariel_lite.cli.output import Output
from ariel_lite.locations import mask_credentials, scheme_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from ariel_lite.config import ARIELConfig
    from ariel_lite.service import ARIELSearchService

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Session:
    """One run of the command.

    Attributes:
        output: where it prints.
        query: the text that a syntax error's position counts in, once a command has one.
    """

    def __init__(self, output: Output) -> None:
        self.output = output
        self.query: str | None = None
        self._database: str | None = None
        self._config_file: str | None = None

    def choose(self, database: str | None, config_file: str | None) -> None:
        """Note what `--db` and `--config` say."""
        self._database = database
        self._config_file = config_file

    @cached_property
    def config(self) -> ARIELConfig:
        """The settings.

        Raises:
            ConfigurationError: see `load_config`.
        """
        config: ARIELConfig = _settings().load_config(self._config_file)
        return config

    @property
    def zone(self) -> ZoneInfo:
        """The facility's time zone."""
        return self.config.zone

    @cached_property
    def database(self) -> tuple[str, str]:
        """Which logbook is meant (path or URL), and what named it."""
        found: tuple[str, str] = _settings().resolve_database(self._database, self.config)
        return found

    @property
    def location(self) -> str:
        """The logbook's path or URL."""
        return self.database[0] if self.is_server else os.path.expanduser(self.database[0])

    @property
    def is_server(self) -> bool:
        """True when the logbook is on a database server."""
        return scheme_of(self.database[0]) is not None

    @property
    def name(self) -> str:
        """The logbook as it may be shown: its path, or its URL without the password."""
        return mask_credentials(self.location)

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[ARIELSearchService]:
        """The logbook, to change it; `create` makes the file when it is absent.

        Raises:
            ConfigurationError, DatabaseConnectionError: see `create_ariel_service`.
        """
        with closing(_settings().open_for_writing(self.config, self.location, create=create)) as service:
            yield service

    @contextmanager
    def reading(self) -> Iterator[ARIELSearchService]:
        """The logbook, to look at it: never made, and never waiting for another program that writes.

        Raises:
            ConfigurationError, DatabaseConnectionError: see `create_ariel_service`.
        """
        with closing(_settings().open_for_reading(self.config, self.location)) as service:
            yield service


def _settings() -> Any:
    """Settings and logbooks, imported at first use: the list of commands needs neither."""
    return import_module("ariel_lite.cli.opening")


pass_session = click.make_pass_decorator(Session)

json_option = click.option("--json", expose_value=False, is_flag=True, help="Print one JSON document and nothing else.")
"""`--json` of a command; the program looks for it before anything else, so that usage errors obey it too."""


def with_options(command: Decorated, *options: Callable[[Decorated], Decorated]) -> Decorated:
    """A command with options that several commands have, in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def filter_options(command: Decorated) -> Decorated:
    """The filters that every listing has, as parameters author, source, after and before."""
    return with_options(
        command,
        click.option("--author", metavar="NAME", help="Any part of the author's name."),
        click.option("--source", metavar="NAME", help="Any part of the source system's name."),
        click.option("--after", metavar="DATE", help="From this day, month or year on; or a span such as 8h, 7d, 2w."),
        click.option("--before", metavar="DATE", help="Until this day, month or year, which is included."),
    )
