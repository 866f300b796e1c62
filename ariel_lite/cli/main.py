"""`ariel-lite`: the way in. It imports next to nothing, so that Ctrl-C is answered in one line from the start.

A signal to end (SIGTERM) is Ctrl-C to every command: what was done is reported, and the exit code is the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code.

    Args:
        arguments: what follows the program's name; None takes them from the process.
    """
    try:
        with import_module("ariel_lite.interrupts").ending_as_interrupt():
            code: int = import_module("ariel_lite.cli.program").run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        return INTERRUPTED
    return code


if __name__ == "__main__":
    sys.exit(main())
