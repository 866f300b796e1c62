"""The models that come along: found in both places, whole, and refused by name and hash when they are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ariel_lite.config import DEFAULT_MODEL, ARIELConfig
from ariel_lite.embeddings.manifest import (
    MANIFEST,
    ModelSpec,
    configured_model,
    faults_of,
    find_model,
    load_manifest,
    models_folder,
    read_checked,
)
from ariel_lite.embeddings.onnx import OnnxProvider, create_provider
from ariel_lite.errors import ConfigurationError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copied(tmp_path: Path) -> ModelSpec:
    """The default model in a folder of its own, free to be damaged."""
    shutil.copytree(models_folder(), tmp_path / "models")
    return find_model(DEFAULT_MODEL, tmp_path / "models")


def configured(**settings: object) -> ARIELConfig:
    """A configuration with settings for the default model."""
    models = [{"name": DEFAULT_MODEL, **settings}]
    return ARIELConfig.from_dict({"enhancement_modules": {"text_embedding": {"models": models}}})


def test_every_file_of_every_model_is_listed_and_whole() -> None:
    specs = load_manifest()
    assert DEFAULT_MODEL in specs
    for spec in specs.values():
        assert {path.name for path in spec.folder.iterdir()} == {*spec.files, "SHA256SUMS"}
        assert faults_of(spec) == []
        sums = (spec.folder / "SHA256SUMS").read_text(encoding="ascii")
        assert sums == "".join(f"{value}  {name}\n" for name, value in spec.files.items())


def test_the_manifest_describes_the_model(provider: OnnxProvider) -> None:
    spec = find_model("All-MiniLM-L6-v2")
    assert (spec.dimension, spec.max_tokens, spec.recommended_threshold) == (384, 256, 0.25)
    assert spec.licence == "Apache-2.0"
    assert (provider.name, provider.dimension, provider.recommended_threshold) == (DEFAULT_MODEL, 384, 0.25)
    assert provider.fingerprint == spec.fingerprint


@pytest.mark.parametrize("file_name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_refused_by_name_and_hash(copied: ModelSpec, file_name: str) -> None:
    path = copied.folder / file_name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ConfigurationError) as refused:
        OnnxProvider(copied).embed(["beam"])
    assert file_name in refused.value.message
    assert copied.files[file_name] in refused.value.message
    assert "damaged" in refused.value.message
    assert refused.value.hint
    assert len(faults_of(copied)) == 1


@pytest.mark.parametrize("file_name", ["model.onnx", "tokenizer.json"])
def test_an_absent_file_is_refused_by_name_and_hash(copied: ModelSpec, file_name: str) -> None:
    (copied.folder / file_name).unlink()
    with pytest.raises(ConfigurationError) as refused:
        OnnxProvider(copied).windows("beam")
    assert file_name in refused.value.message
    assert copied.files[file_name] in refused.value.message


def test_a_file_that_is_no_model_is_refused(copied: ModelSpec) -> None:
    listed = copied.model_copy(update={"files": {**copied.files, "model.onnx": copied.files["NOTICE"]}})
    shutil.copy(copied.folder / "NOTICE", copied.folder / "model.onnx")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        OnnxProvider(listed).embed(["beam"])


def test_a_model_of_another_dimension_is_refused(copied: ModelSpec) -> None:
    with pytest.raises(ConfigurationError, match="of 512 numbers"):
        OnnxProvider(copied.model_copy(update={"dimension": 512})).embed(["beam"])


def test_a_file_that_is_not_listed_is_not_read() -> None:
    with pytest.raises(ConfigurationError, match=r"lists no extra\.bin"):
        read_checked(find_model(DEFAULT_MODEL), "extra.bin")


def test_an_unknown_model_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match="no model named 'nomic'") as refused:
        create_provider(ARIELConfig(), "nomic")
    assert DEFAULT_MODEL in refused.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "not toml [",
        '[[model]]\nname = "x"\n',
        '[[model]]\nname = "x"\nfolder = "x"\n',
        'model = "x"\n',
    ],
)
def test_a_broken_manifest_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=MANIFEST) as refused:
        load_manifest(tmp_path)
    assert "\n" not in refused.value.message


def test_the_configuration_changes_prefixes_and_lowers_the_limit() -> None:
    spec = configured_model(configured(query_prefix="ask: ", max_input_tokens=128), DEFAULT_MODEL)
    assert (spec.query_prefix, spec.document_prefix, spec.max_tokens) == ("ask: ", "", 128)
    assert configured_model(configured(max_input_tokens=8192), DEFAULT_MODEL).max_tokens == 256


def test_a_configured_dimension_must_be_the_models() -> None:
    assert configured_model(configured(dimension=384), DEFAULT_MODEL).dimension == 384
    with pytest.raises(ConfigurationError, match="384 dimensions, the configuration says 768"):
        configured_model(configured(dimension=768), DEFAULT_MODEL)


@pytest.mark.parametrize(
    "change",
    [
        {"query_prefix": "ask: "},
        {"document_prefix": "entry: "},
        {"max_tokens": 128},
        {"window_tokens": 128},
        {"window_overlap": 16},
        {"files": {"model.onnx": "0" * 64}},
    ],
)
def test_em08_fingerprint_changes_with_whatever_changes_vectors(change: dict[str, object]) -> None:
    spec = find_model(DEFAULT_MODEL)
    assert spec.model_copy(update=change).fingerprint != spec.fingerprint


def test_em08_fingerprint_does_not_change_with_the_place_or_the_licence_text(copied: ModelSpec) -> None:
    spec = find_model(DEFAULT_MODEL)
    files = {**spec.files, "LICENSE": "0" * 64}
    assert copied.model_copy(update={"files": files}).fingerprint == spec.fingerprint


def test_models_are_found_inside_an_installed_package(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    shutil.copytree(ROOT / "ariel_lite", site / "ariel_lite", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(models_folder(), site / "ariel_lite" / "_data" / "models")
    script = (
        "from ariel_lite.config import ARIELConfig\n"
        "from ariel_lite.embeddings import manifest, onnx\n"
        "print(manifest.models_folder())\n"
        "print(onnx.create_provider(ARIELConfig(), 'all-minilm-l6-v2').embed(['beam']).shape)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [str(site / "ariel_lite" / "_data" / "models"), "(1, 384)"]


def test_without_models_the_fault_is_named(tmp_path: Path) -> None:
    package = shutil.copytree(
        ROOT / "ariel_lite", tmp_path / "lib" / "ariel_lite", ignore=shutil.ignore_patterns("__pycache__")
    )
    script = "from ariel_lite.embeddings import manifest\nmanifest.models_folder()\n"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        timeout=120,
    )
    assert "ConfigurationError: the models folder with MANIFEST.toml is missing" in done.stderr
