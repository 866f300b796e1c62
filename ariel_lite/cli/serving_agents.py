"""`mcp`."""

from __future__ import annotations

import gc
import sys
from functools import partial
from importlib import import_module
from typing import Any

import click

from ariel_lite.cli.session import Session, pass_session
from ariel_lite.errors import ConfigurationError
from ariel_lite.mcp_server.wire import take_wire

TOKEN = "ARIEL_LITE_MCP_TOKEN"


@click.command("mcp")
@click.option("--http", "over_http", is_flag=True, help="Serve over HTTP at /mcp instead of standard input and output.")
@click.option("--host", metavar="ADDRESS", help="Where to listen, with --http (default: 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="The port, with --http (default: 8086).")
@click.option("--token", envvar=TOKEN, metavar="TEXT", help=f"What clients must show, with --http. [env: {TOKEN}]")
@click.option("--allow-write", is_flag=True, help="Offer the tools that add and publish entries.")
@click.option("--files", "folders", multiple=True, metavar="FOLDER", help="Agents may attach files from here.")
@pass_session
def mcp(
    session: Session,
    over_http: bool,
    host: str | None,
    port: int | None,
    token: str | None,
    allow_write: bool,
    folders: tuple[str, ...],
) -> None:
    """Serve the logbook to agents (Model Context Protocol).

    Over standard input and output, where nothing but the protocol is written; or over HTTP.
    """
    if not over_http and (host is not None or port is not None):
        raise click.UsageError("--host and --port need --http")
    if not over_http and sys.stdin is not None and sys.stdin.isatty():
        session.output.note(
            "waiting for a client on standard input; clients start this themselves (README: For agents)"
        )
    wire = None if over_http else take_wire()
    gc.disable()  # a fifth of the start would go into looking for garbage among new modules, where there is none
    running = _running()
    served = _served(session, running, allow_write, folders)
    gc.freeze()
    gc.enable()
    if wire is not None:
        running.run_stdio(served, wire)
        return
    settings = session.config.mcp
    door = running.Door(
        settings.host if host is None else host,
        settings.port if port is None else port,
        settings.token if token is None else token,
        tuple(settings.allowed_hosts),
    )
    running.run_http(served, door, lambda address: session.output.note(f"serving {session.name} at {address}"))


def _running() -> Any:
    """The server, imported now."""
    try:
        return import_module("ariel_lite.mcp_server.running")
    except ImportError as fault:
        raise ConfigurationError(
            f"the server for agents is not installed: {fault}", hint="run: pip install 'ariel-lite[mcp]'"
        ) from fault


def _served(session: Session, running: Any, allow_write: bool, folders: tuple[str, ...]) -> Any:
    settings = session.config.mcp
    may_write = allow_write or settings.allow_write
    return running.ServedLogbook(
        session.config,
        _opener(session, may_write),
        None if session.is_server else session.location,
        session.name,
        allow_write=may_write,
        file_folders=(*settings.file_folders, *folders),
    )


def _opener(session: Session, may_write: bool) -> Any:
    opening = import_module("ariel_lite.cli.opening")
    if may_write:
        return partial(opening.open_for_writing, session.config, session.location, create=False)
    return partial(opening.open_for_reading, session.config, session.location)
