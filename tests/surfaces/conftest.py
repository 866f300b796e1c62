"""Logbooks for the tests of the surfaces, and the command line inside this process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from commands import HASHING, Call, Called

from ariel_lite.cli.main import main


@pytest.fixture
def no_input() -> Iterator[TextIO]:
    """Standard input that ends at once."""
    with Path(os.devnull).open(encoding="utf-8") as stream:
        yield stream


@pytest.fixture
def call(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_input: TextIO
) -> Call:
    """Calls the command line in this process, in an empty folder, without settings from outside."""
    for name in ("ARIEL_LITE_DB", "ARIEL_LITE_CONFIG", "ARIEL_LITE_AUTHOR", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", no_input)

    def called(*arguments: str) -> Called:
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Called(code, out.decode("utf-8"), err.decode("utf-8"))

    return called


@pytest.fixture(scope="session")
def sample_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled sample as a logbook; copy it before you change it."""
    path = tmp_path_factory.mktemp("sample") / "sample.db"
    assert main(["--db", str(path), "quickstart"]) == 0
    return path


@pytest.fixture
def sample(sample_file: Path, tmp_path: Path) -> str:
    """A copy of the sample logbook that a test may change."""
    return str(shutil.copy(sample_file, tmp_path / "logbook.db"))


@pytest.fixture
def ours(call: Call, sample: str, tmp_path: Path) -> Call:
    """Commands on a copy of the sample, with the hashing provider; the settings are in settings.yml."""
    (tmp_path / "settings.yml").write_text(HASHING, encoding="utf-8")

    def called(*arguments: str) -> Called:
        return call("--db", sample, "--config", "settings.yml", *arguments)

    return called
