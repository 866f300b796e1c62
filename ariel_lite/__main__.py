"""`python -m ariel_lite` is `ariel-lite`."""

from __future__ import annotations

import sys

from ariel_lite.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
