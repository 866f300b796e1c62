"""Every check in one command: style, types, layers, tests. Run as `python tests/check.py`; stops at the first failure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMANDS = (
    (sys.executable, "-m", "ruff", "check", "."),
    (sys.executable, "-m", "ruff", "format", "--check", "."),
    (sys.executable, "-m", "mypy"),
    (sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile"),
)


def main() -> int:
    for command in COMMANDS:
        shown = " ".join(command[2:])
        sys.stdout.write(f"== {shown}\n")
        sys.stdout.flush()
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        if code:
            sys.stderr.write(f"{shown} failed\n")
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
