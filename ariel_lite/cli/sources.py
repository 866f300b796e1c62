"""Which adapter reads a source, and the source opened with it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ariel_lite.cli.files import STANDARD
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import InvalidRequestError
from ariel_lite.ingestion.base import AdapterOptions, FacilityAdapter
from ariel_lite.ingestion.http_source import is_web_address
from ariel_lite.ingestion.sync import SyncSource
from ariel_lite.locations import mask_credentials
from ariel_lite.registry import ADAPTERS, Registry

SAMPLED_BYTES = 65536
GZIP_MAGIC = b"\x1f\x8b"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

SIGNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "jlab_logbook": ("lognumber",),
        "ornl_logbook": ("event_time", "entry_time"),
        "als_logbook": ("subject", "details"),
        "olog": ("createdDate", "logbooks"),
        "generic_json": ("raw_text",),
    }
)
"""Keys that only one format has; all of them must stand in a file's beginning."""

GENERIC_SIGNS = ("timestamp", "when")
ELOG_SIGN = "$@MID@$:"
TABLES = frozenset((".csv", ".tsv"))


class Source(NamedTuple):
    """A source with its adapter; `label` is without credentials, `chosen_by` says what named the adapter."""

    adapter: FacilityAdapter
    adapter_name: str
    label: str
    chosen_by: str


class ChosenSource(NamedTuple):
    """A source that is not open yet: the adapter's name, what named it, its module, and what it is opened with."""

    adapter_name: str
    chosen_by: str
    module: Any
    options: AdapterOptions

    @property
    def label(self) -> str:
        """The source without credentials."""
        return mask_credentials(self.options.source)

    def open(self) -> FacilityAdapter:
        """The adapter. Raises IngestionError when the source cannot be opened."""
        opened: FacilityAdapter = self.module.create_adapter(self.options)
        return opened

    def opened(self) -> Source:
        """The source with its adapter. Raises IngestionError when the source cannot be opened."""
        return Source(self.open(), self.adapter_name, self.label, self.chosen_by)

    def to_sync(self) -> SyncSource:
        """The source as `sync` and `watch` take it: opened anew for each run."""
        return SyncSource(self.label, self.module.source_system_name, self.open)


def choose_source(
    config: ARIELConfig,
    registry: Registry,
    *,
    source: str | None,
    adapter: str | None,
    timezone: str | None = None,
    date_format: str | None = None,
) -> ChosenSource:
    """What `--source` and `--adapter` name, else what the configuration names; a file's adapter may be guessed.

    Raises:
        InvalidRequestError: no source, an unknown time zone, or a format that cannot be guessed.
        AdapterNotFoundError: an unknown adapter.
    """
    label = source or config.ingestion.source_url
    if not label:
        raise InvalidRequestError("which source?", hint="name a file or URL with --source, or in ingestion.source_url")
    name, chosen_by = _adapter_name(config, registry, label, adapter)
    options = AdapterOptions(label, _zone(config, timezone), date_format, config.ingestion)
    return ChosenSource(name, chosen_by, registry.load(ADAPTERS, name), options)


def guess_adapter(beginning: str) -> str | None:
    """The adapter whose format a file's beginning shows, or None."""
    if ELOG_SIGN in beginning:
        return "elog"
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
    unseen = label == STANDARD or is_web_address(label)
    guessed = None if unseen else _guessed(Path(label))
    if guessed is None:
        names, shown = ", ".join(registry.names(ADAPTERS)), mask_credentials(label)
        raise InvalidRequestError(f"the format of {shown} is not known", hint=f"name it with --adapter: {names}")
    return guessed, "guessed from the file"


def _guessed(path: Path) -> str | None:
    """What a path looks like: only the ELOG's logbooks are folders, and tables are told by their names."""
    if path.is_dir():
        return "elog"
    beginning = _beginning(path)
    named = [suffix.lower() for suffix in path.suffixes[-2:] if suffix.lower() != ".gz"]
    return guess_adapter(beginning) or ("csv" if named and named[-1] in TABLES else None)


def _beginning(path: Path) -> str:
    """The first characters of a file, "" for a compressed one that is damaged: the adapter says what is wrong with it.

    Raises:
        InvalidRequestError: it cannot be read.
    """
    try:
        with path.open("rb") as handle:
            data = handle.read(SAMPLED_BYTES)
    except FileNotFoundError as fault:
        raise InvalidRequestError(f"there is no file {path}", hint="check --source") from fault
    except OSError as fault:
        raise InvalidRequestError(f"cannot read {path}: {fault.strerror}", hint="check --source") from fault
    if data.startswith(GZIP_MAGIC):
        try:
            with gzip.open(path) as unpacked:
                data = unpacked.read(SAMPLED_BYTES)
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
