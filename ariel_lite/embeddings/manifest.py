"""The models that come along: where they are, what the manifest says of them, and whether their files are whole.

The folder `models/` stands beside the package in a checkout, and inside it (`_data/models`) once installed.
A file is hashed as it is read for use, so what runs is what was checked; nothing about a check is remembered.
"""

from __future__ import annotations

import hashlib
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from ariel_lite.config import ARIELConfig, Settings
from ariel_lite.embeddings.base import DEFAULT_THRESHOLD, make_fingerprint, model_settings
from ariel_lite.embeddings.windows import CHUNKER_VERSION
from ariel_lite.errors import ConfigurationError

MANIFEST = "MANIFEST.toml"
MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
REINSTALL = "reinstall ariel-lite, or rebuild the model with models/recipe/make_model.sh"


class ModelSpec(Settings):
    """A model of the manifest. Sizes are in tokens, `files` maps file names to sha256 (hexadecimal)."""

    name: str = Field(min_length=1)
    folder: Path
    dimension: int = Field(ge=1)
    pooling: str
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = Field(ge=8)
    window_tokens: int = Field(ge=8)
    window_overlap: int = Field(ge=0)
    recommended_threshold: float = Field(default=DEFAULT_THRESHOLD, ge=-1, le=1)
    licence: str
    source: str
    files: dict[str, str]
    built_with: dict[str, str] = Field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Differs when the model, its tokenizer, prefixes, sizes or the way of cutting windows differ."""
        parts = self.model_dump(
            include={"query_prefix", "document_prefix", "max_tokens", "window_tokens", "window_overlap"}
        )
        hashes = [self.files.get(MODEL_FILE), self.files.get(TOKENIZER_FILE)]
        return make_fingerprint("onnx", {**parts, "files": hashes, "chunker": CHUNKER_VERSION})


def models_folder() -> Path:
    """The folder of the manifest: in the installed package, else beside it in a checkout.

    Raises:
        ConfigurationError: neither place has a manifest.
    """
    package = Path(str(resources.files("ariel_lite")))
    for folder in (package / "_data" / "models", package.parent / "models"):
        if (folder / MANIFEST).is_file():
            return folder
    raise ConfigurationError(f"the models folder with {MANIFEST} is missing", hint="reinstall ariel-lite")


def load_manifest(folder: Path | None = None) -> dict[str, ModelSpec]:
    """The models by name, as `folder` (default: `models_folder()`) lists them.

    Raises:
        ConfigurationError: the manifest cannot be read, or a model of it is described wrongly.
    """
    root = folder or models_folder()
    path = root / MANIFEST
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8")).get("model", [])
        specs = [ModelSpec.model_validate({**entry, "folder": root / entry["folder"]}) for entry in listed]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValidationError) as fault:
        raise ConfigurationError(f"{path} cannot be read: {_first_line(fault)}", hint="reinstall ariel-lite") from fault
    return {spec.name: spec for spec in specs}


def find_model(name: str, folder: Path | None = None) -> ModelSpec:
    """A model by its name (case is ignored).

    Raises:
        ConfigurationError: the manifest has no such model; the hint names those it has.
    """
    specs = load_manifest(folder)
    for spec in specs.values():
        if spec.name.casefold() == name.casefold():
            return spec
    raise ConfigurationError(
        f"no model named {name!r} comes with ariel-lite",
        hint=f"set embedding.model to one of: {', '.join(specs)}; or embedding.provider to ollama or openai",
    )


def configured_model(config: ARIELConfig, name: str, folder: Path | None = None) -> ModelSpec:
    """A model of the manifest with the prefixes and the token limit of the configuration, which only can lower it.

    Raises:
        ConfigurationError: no such model, or the configuration names another dimension than the model has.
    """
    spec, settings = find_model(name, folder), model_settings(config, name)
    if settings.dimension not in (None, spec.dimension):
        raise ConfigurationError(
            f"model {spec.name} has {spec.dimension} dimensions, the configuration says {settings.dimension}",
            hint=f"set the dimension to {spec.dimension}, or leave it out",
        )
    changes: dict[str, Any] = {
        "query_prefix": settings.query_prefix or spec.query_prefix,
        "document_prefix": settings.document_prefix or spec.document_prefix,
        "max_tokens": min(settings.max_input_tokens or spec.max_tokens, spec.max_tokens),
    }
    return ModelSpec.model_validate({**spec.model_dump(), **changes})


def read_checked(spec: ModelSpec, file_name: str) -> bytes:
    """The content of a model's file, once its hash was found right.

    Raises:
        ConfigurationError: the file is not listed, absent, unreadable, or differs from its hash; the message names
            the file and, where it differs, both hashes.
    """
    path = spec.folder / file_name
    expected = spec.files.get(file_name)
    if expected is None:
        raise ConfigurationError(f"{MANIFEST} lists no {file_name} for model {spec.name}", hint=REINSTALL)
    try:
        content = path.read_bytes()
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise ConfigurationError(
            f"model file {path} (sha256 {expected}) cannot be read: {reason}", hint=REINSTALL
        ) from fault
    actual = hashlib.sha256(content).hexdigest()
    if actual != expected:
        raise ConfigurationError(
            f"model file {path} is damaged: its sha256 is {actual}, {MANIFEST} says {expected}", hint=REINSTALL
        )
    return content


def faults_of(spec: ModelSpec) -> list[str]:
    """One line for each file of a model that is absent or damaged; [] when all are whole."""
    found = []
    for file_name in spec.files:
        try:
            read_checked(spec, file_name)
        except ConfigurationError as fault:
            found.append(fault.message)
    return found


def _first_line(fault: Exception) -> str:
    if isinstance(fault, ValidationError):
        first = fault.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    if isinstance(fault, KeyError):
        return f"a model without {fault}"
    return str(fault).splitlines()[0]
