"""Which adapter reads a source, and the source opened with it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ariel_lite.cli.files import STANDARD
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import InvalidRequestError
from ariel_lite.ingestion.base import AdapterOptions, FacilityAdapter
from ariel_lite.registry import ADAPTERS, Registry

SAMPLED_BYTES = 65536
GZIP_MAGIC = b"\x1f\x8b"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

SIGNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "jlab_logbook": ("lognumber",),
        "ornl_logbook": ("event_time", "entry_time"),
        "als_logbook": ("subject", "details"),
        "generic_json": ("raw_text",),
    }
)
"""Keys that only one format has; all of them must stand in a file's beginning."""

GENERIC_SIGNS = ("timestamp", "when")


class Source(NamedTuple):
    """A source with its adapter; `chosen_by` says what named the adapter."""

    adapter: FacilityAdapter
    adapter_name: str
    label: str
    chosen_by: str


def open_source(
    config: ARIELConfig,
    registry: Registry,
    *,
    source: str | None,
    adapter: str | None,
    timezone: str | None = None,
    date_format: str | None = None,
) -> Source:
    """Open what `--source` and `--adapter` name, else what the configuration names; an adapter may be guessed.

    Raises:
        InvalidRequestError: no source, an unknown time zone, or a format that cannot be guessed.
        AdapterNotFoundError: an unknown adapter.
        IngestionError: the source cannot be opened.
    """
    label = source or config.ingestion.source_url
    if not label:
        raise InvalidRequestError("which source?", hint="name a file or URL with --source, or in ingestion.source_url")
    name, chosen_by = _adapter_name(config, registry, label, adapter)
    options = AdapterOptions(label, _zone(config, timezone), date_format, config.ingestion)
    opened: FacilityAdapter = registry.load(ADAPTERS, name).create_adapter(options)
    return Source(opened, name, label, chosen_by)


def guess_adapter(beginning: str) -> str | None:
    """The adapter whose format a file's beginning shows, or None."""
    keys = set(re.findall(r'"(\w+)"\s*:', beginning))
    for name, signs in SIGNS.items():
        if keys.issuperset(signs):
            return name
    return "generic_json" if keys.intersection(GENERIC_SIGNS) and keys.intersection(("title", "text")) else None


def _adapter_name(config: ARIELConfig, registry: Registry, label: str, wanted: str | None) -> tuple[str, str]:
    if wanted:
        return wanted, "--adapter"
    if config.ingestion.adapter:
        return config.ingestion.adapter, "configuration"
    guessed = None if label == STANDARD else guess_adapter(_beginning(Path(label)))
    if guessed is None:
        names = ", ".join(registry.names(ADAPTERS))
        raise InvalidRequestError(f"the format of {label} is not known", hint=f"name it with --adapter: {names}")
    return guessed, "guessed from the file"


def _beginning(path: Path) -> str:
    """The first characters of a file, "" for what is none; the adapter reports what is wrong with it."""
    try:
        with path.open("rb") as handle:
            data = handle.read(SAMPLED_BYTES)
        if data.startswith(GZIP_MAGIC):
            with gzip.open(path) as unpacked:
                data = unpacked.read(SAMPLED_BYTES)
    except FileNotFoundError as fault:
        raise InvalidRequestError(f"there is no file {path}", hint="check --source") from fault
    except (OSError, EOFError):
        return ""
    return data.decode("utf-16" if data.startswith(UTF16_MARKS) else "utf-8", "replace")


def _zone(config: ARIELConfig, name: str | None) -> ZoneInfo:
    if name is None:
        return config.zone
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as fault:
        raise InvalidRequestError(
            f"unknown time zone {name!r}", hint="use an IANA name such as Europe/Berlin or America/Los_Angeles"
        ) from fault
