"""Settings: ARIEL's `ariel:` block with ariel-lite's additions. An unknown key is an error that names the nearest one.

Precedence: the command line, then the environment (`ARIEL_LITE_DB`, `ARIEL_LITE_CONFIG`), then the file, then the
defaults here.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import platformdirs
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ariel_lite.errors import ConfigurationError

SEARCH_MODULES = ("keyword", "semantic", "hybrid", "rag")
ENHANCEMENT_MODULES = ("text_embedding", "semantic_processor")
DEFAULT_MODEL = "all-minilm-l6-v2"
YEAR_SECONDS = 31_536_000
"""The longest wait: what the system's clocks and timers can surely count."""


class Settings(BaseModel):
    """A block of settings that refuses unknown keys, and numbers that are none (.nan, .inf)."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False)


class DatabaseConfig(Settings):
    """Where the logbook is: a file path, or a postgresql:// URL."""

    uri: str = ""
    search_uri: str = ""
    synchronous: str = "NORMAL"
    pool_size: int = Field(default=4, ge=1, le=64)


class SearchModuleConfig(Settings):
    """One search mode: `settings` are its own parameters (similarity_threshold, fusion_depth, …)."""

    enabled: bool = True
    provider: str | None = None
    model: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)


class EmbeddingModelConfig(Settings):
    """A model whose vectors are kept."""

    name: str
    dimension: int | None = Field(default=None, ge=1)
    max_input_tokens: int | None = Field(default=None, ge=1)
    query_prefix: str = ""
    document_prefix: str = ""


class LanguageModelConfig(Settings):
    """A generator model of an enhancer."""

    model_id: str = ""
    max_tokens: int = Field(default=512, ge=1)


class EnhancementModuleConfig(Settings):
    """One enhancer."""

    enabled: bool = True
    provider: str | None = None
    models: list[EmbeddingModelConfig] = Field(default_factory=list)
    model: LanguageModelConfig | None = None
    settings: dict[str, Any] = Field(default_factory=dict)


class EmbeddingConfig(Settings):
    """The embedding provider that modules use unless they name their own."""

    provider: str = "onnx"
    model: str = DEFAULT_MODEL
    base_url: str = ""
    timeout_seconds: float = Field(default=30.0, gt=0, le=YEAR_SECONDS)


class WatchConfig(Settings):
    """How `watch` polls."""

    poll_interval_seconds: float | None = Field(default=None, gt=0, le=YEAR_SECONDS)
    require_initial_ingest: bool = True
    max_consecutive_failures: int = Field(default=10, ge=1)
    backoff_multiplier: float = Field(default=2.0, ge=1, le=1000)
    max_interval_seconds: float = Field(default=3600, gt=0, le=YEAR_SECONDS)


class WriteConfig(Settings):
    """Publishing entries at the source."""

    enabled: bool = False
    write_url: str | None = None
    auth_user: str | None = None
    auth_password: str | None = None


class IngestionConfig(Settings):
    """Where entries come from."""

    adapter: str = ""
    source_url: str | None = None
    poll_interval_seconds: float = Field(default=3600, gt=0, le=YEAR_SECONDS)
    proxy_url: str | None = None
    verify_ssl: bool = True
    chunk_days: int = Field(default=365, ge=1, le=36_500)
    request_timeout_seconds: float = Field(default=60, gt=0, le=YEAR_SECONDS)
    max_retries: int = Field(default=3, ge=0)
    retry_delay_seconds: float = Field(default=5, ge=0, le=YEAR_SECONDS)
    overlap_seconds: float = Field(default=86400, ge=0, le=100 * YEAR_SECONDS)
    watch: WatchConfig = Field(default_factory=WatchConfig)
    write: WriteConfig = Field(default_factory=WriteConfig)
    settings: dict[str, Any] = Field(default_factory=dict)


class FacilityConfig(Settings):
    """The facility: its time zone decides what a day is."""

    name: str = ""
    timezone: str = "UTC"

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as fault:
            raise ValueError(f"unknown time zone {value!r}; use an IANA name such as Europe/Berlin") from fault
        return value


class ProviderConfig(Settings):
    """An HTTP endpoint of models."""

    base_url: str = ""
    api_key: str = ""
    timeout_seconds: float = Field(default=60.0, gt=0, le=YEAR_SECONDS)


class ApiConfig(Settings):
    """Endpoints by provider name."""

    providers: dict[str, ProviderConfig] = Field(default_factory=dict)


class WebConfig(Settings):
    """The page and the REST API."""

    host: str = "127.0.0.1"
    port: int = Field(default=8085, ge=0, le=65535)
    token: str = ""
    expose_config: bool = False
    allowed_hosts: list[str] = Field(default_factory=list)


class McpConfig(Settings):
    """The server for agents: `file_folders` are where files may be attached from; `allowed_hosts` its other names."""

    host: str = "127.0.0.1"
    port: int = Field(default=8086, ge=0, le=65535)
    token: str = ""
    allow_write: bool = False
    allowed_hosts: list[str] = Field(default_factory=list)
    file_folders: list[str] = Field(default_factory=list)


class ARIELConfig(Settings):
    """All settings of a logbook.

    Build it with `from_dict` (ARIEL's block, with or without the `ariel:` level) or `load_config`.
    """

    database: DatabaseConfig = Field(default_factory=DatabaseConfig)
    default_search_mode: str | None = None
    search_modules: dict[str, SearchModuleConfig] = Field(default_factory=dict)
    enhancement_modules: dict[str, EnhancementModuleConfig] = Field(default_factory=dict)
    embedding: EmbeddingConfig = Field(default_factory=EmbeddingConfig)
    ingestion: IngestionConfig = Field(default_factory=IngestionConfig)
    default_max_results: int = Field(default=10, ge=1, le=100)
    cache_embeddings: bool = True
    search_timeout_seconds: float = Field(default=30.0, gt=0, le=YEAR_SECONDS)
    entry_url_template: str | None = None
    facility: FacilityConfig = Field(default_factory=FacilityConfig)
    api: ApiConfig = Field(default_factory=ApiConfig)
    web: WebConfig = Field(default_factory=WebConfig)
    mcp: McpConfig = Field(default_factory=McpConfig)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ARIELConfig:
        """Read ARIEL's configuration mapping.

        Accepts the block itself, or a mapping with `ariel:` beside `facility:` and `api:`.

        Raises:
            ConfigurationError: an unknown key (with the nearest known one) or a value of the wrong kind.
        """
        flat = dict(data)
        block = flat.pop("ariel", None)
        if not isinstance(block, dict | None):
            raise ConfigurationError("setting ariel: input should be a mapping of settings", hint=f"got {block!r}")
        flat = {**(block or {}), **flat}
        try:
            return cls.model_validate(flat)
        except ValidationError as fault:
            raise _explain(cls, fault) from fault

    @property
    def zone(self) -> ZoneInfo:
        """The facility's time zone."""
        return ZoneInfo(self.facility.timezone)

    def search_module(self, name: str) -> SearchModuleConfig:
        """The settings of a mode; a mode that the file does not name has the defaults."""
        return self.search_modules.get(name) or SearchModuleConfig()

    def is_search_module_enabled(self, name: str) -> bool:
        """True unless the configuration switches the mode off."""
        return self.search_module(name).enabled

    def get_enabled_search_modules(self) -> list[str]:
        """Names of the built-in and configured modes that are not switched off."""
        names = list(SEARCH_MODULES) + [name for name in self.search_modules if name not in SEARCH_MODULES]
        return [name for name in names if self.is_search_module_enabled(name)]

    @property
    def vector_model(self) -> str:
        """The model whose vectors are made and searched: semantic mode's own, else the one of all."""
        return self.search_module("semantic").model or self.embedding.model

    def with_vector_model(self, name: str) -> ARIELConfig:
        """These settings with another model for vectors."""
        semantic = self.search_module("semantic").model_copy(update={"model": name})
        embedding = self.embedding.model_copy(update={"model": name})
        modules = {**self.search_modules, "semantic": semantic}
        return self.model_copy(update={"search_modules": modules, "embedding": embedding})

    def get_search_model(self) -> str | None:
        """The model that searches by meaning use; None when they are switched off."""
        return self.vector_model if self.is_search_module_enabled("semantic") else None

    def is_enhancement_module_enabled(self, name: str) -> bool:
        """True unless the configuration switches the enhancer off."""
        module = self.enhancement_modules.get(name)
        return module.enabled if module else True

    def get_enabled_enhancement_modules(self) -> list[str]:
        """Names of the built-in and configured enhancers that are not switched off."""
        names = list(ENHANCEMENT_MODULES) + [n for n in self.enhancement_modules if n not in ENHANCEMENT_MODULES]
        return [name for name in names if self.is_enhancement_module_enabled(name)]


def load_config(path: str | Path | None = None) -> ARIELConfig:
    """Read a YAML configuration file: the one given, else `ARIEL_LITE_CONFIG`, else none.

    Raises:
        ConfigurationError: the file cannot be read, is not YAML, or holds an unknown or wrong setting.
    """
    named = path or os.environ.get("ARIEL_LITE_CONFIG")
    if not named:
        return ARIELConfig()
    try:
        text = Path(named).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        raise ConfigurationError(f"cannot read the configuration {named}: {reason}", hint="check --config") from fault
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as fault:
        where = getattr(fault, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise ConfigurationError(f"{named} is not valid YAML{line}", hint="check indentation and quotes") from fault
    if data is None:
        return ARIELConfig()
    if not isinstance(data, dict):
        raise ConfigurationError(f"{named} must hold a mapping of settings", hint="start with 'ariel:'")
    return ARIELConfig.from_dict(data)


def default_database() -> Path:
    """The file used when nothing names one: `logbook.db` in the platform's data folder."""
    return Path(platformdirs.user_data_dir("ariel-lite", appauthor=False)) / "logbook.db"


def resolve_database(option: str | None, config: ARIELConfig) -> tuple[str, str]:
    """Which logbook to use, and why: (path or URL, one of "--db", "ARIEL_LITE_DB", "configuration", "default")."""
    if option:
        return option, "--db"
    if os.environ.get("ARIEL_LITE_DB"):
        return os.environ["ARIEL_LITE_DB"], "ARIEL_LITE_DB"
    if config.database.uri:
        return config.database.uri, "configuration"
    return str(default_database()), "default"


def _explain(model: type[BaseModel], fault: ValidationError) -> ConfigurationError:
    first = fault.errors()[0]
    location = [str(part) for part in first["loc"]]
    dotted = ".".join(location)
    if first["type"] == "extra_forbidden":
        near = get_close_matches(location[-1], _known_keys(model, location[:-1]), n=1, cutoff=0.4)
        hint = f"did you mean {'.'.join([*location[:-1], near[0]])}?" if near else "see the README's settings"
        return ConfigurationError(f"unknown setting {dotted}", hint=hint)
    message = first["msg"].removeprefix("Value error, ")
    return ConfigurationError(f"setting {dotted}: {message[:1].lower()}{message[1:]}", hint=f"got {first['input']!r}")


def _known_keys(model: type[BaseModel], path: list[str]) -> list[str]:
    current: Any = model
    for part in path:
        if not (isinstance(current, type) and issubclass(current, BaseModel)):
            args = getattr(current, "__args__", ())
            models = [a for a in args if isinstance(a, type) and issubclass(a, BaseModel)]
            if not models:
                return []
            current = models[0]
            if part not in current.model_fields:
                continue
        if part in current.model_fields:
            current = current.model_fields[part].annotation
    args = getattr(current, "__args__", ())
    for candidate in (current, *args):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return list(candidate.model_fields)
    return []
