"""`web`."""

from __future__ import annotations

import webbrowser
from importlib import import_module
from typing import Any

import click

from ariel_lite.cli.session import Session, pass_session
from ariel_lite.errors import ConfigurationError

EXTRA = ("fastapi", "uvicorn", "starlette", "multipart")
"""What the extra `web` brings along."""

MISSING = "the web server is not installed"
MISSING_HINT = "install it: pip install 'ariel-lite[web]'"


@click.command("web")
@click.option("--host", metavar="ADDRESS", help="The address to listen on (default: web.host, 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="The port (default: web.port, 8085); 0: any.")
@click.option("--token", metavar="TEXT", help="What clients have to show (default: web.token).")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@pass_session
def web(session: Session, host: str | None, port: int | None, token: str | None, opens: bool) -> None:
    """Serve the page and the REST API until Ctrl-C."""
    server = _server()
    settings = session.config.web
    listener = server.Listener(
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
        token=settings.token if token is None else token,
    )
    with session.writing() as service, listener:
        session.output.line(f"{listener.address}")
        session.output.note(f"the logbook is {session.name}; Ctrl-C stops")
        session.output.flush()
        listener.serve(service, on_start=lambda: webbrowser.open(listener.address) if opens else None)


def _server() -> Any:
    try:
        return import_module("ariel_lite.web.server")
    except ModuleNotFoundError as fault:
        if fault.name is None or fault.name.partition(".")[0] not in EXTRA:
            raise
        raise ConfigurationError(MISSING, hint=MISSING_HINT) from fault
