"""Data that comes along with the package: beside it in a checkout, inside it (`_data/…`) once installed."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from ariel_lite.errors import ConfigurationError

SAMPLE_FOLDER = "sample_data"
SAMPLE_LOGBOOK = "logbook.json"


def bundled_folder(name: str, marker: str) -> Path:
    """The bundled folder of a name, recognised by a file that it holds.

    Raises:
        ConfigurationError: neither the package nor the checkout has it.
    """
    package = Path(str(resources.files("ariel_lite")))
    for folder in (package / "_data" / name, package.parent / name):
        if (folder / marker).is_file():
            return folder
    raise ConfigurationError(f"the folder {name} with {marker} is missing", hint="reinstall ariel-lite")


def sample_logbook() -> Path:
    """The sample facility's logbook, in the generic JSON format.

    Raises:
        ConfigurationError: it did not come along.
    """
    return bundled_folder(SAMPLE_FOLDER, SAMPLE_LOGBOOK) / SAMPLE_LOGBOOK
