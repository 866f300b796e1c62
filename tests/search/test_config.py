"""The configuration: ARIEL's block as it is, and a mistake in it named with what was probably meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ariel_lite.config import ARIELConfig, load_config
from ariel_lite.errors import ConfigurationError

ARIELS: dict[str, Any] = {
    "database": {"uri": "postgresql://ariel@localhost:5432/ariel"},
    "default_search_mode": "semantic",
    "search_modules": {
        "keyword": {"enabled": True},
        "semantic": {
            "enabled": True,
            "provider": "ollama",
            "model": "nomic-embed-text",
            "settings": {"similarity_threshold": 0.7, "embedding_dimension": 768},
        },
    },
    "enhancement_modules": {
        "text_embedding": {
            "enabled": True,
            "provider": "ollama",
            "models": [{"name": "nomic-embed-text", "dimension": 768, "max_input_tokens": 8192}],
        },
        "semantic_processor": {
            "enabled": False,
            "provider": "ollama",
            "model": {"model_id": "mistral:7b", "max_tokens": 256},
        },
    },
    "embedding": {"provider": "ollama"},
    "ingestion": {
        "adapter": "als_logbook",
        "source_url": "https://elog.facility.example/rpc.php",
        "poll_interval_seconds": 3600,
        "proxy_url": "socks5://127.0.0.1:1080",
        "verify_ssl": False,
        "chunk_days": 365,
        "request_timeout_seconds": 60,
        "max_retries": 3,
        "retry_delay_seconds": 5,
        "write": {"enabled": False, "write_url": None, "auth_user": None, "auth_password": None},
    },
    "entry_url_template": "https://elog.facility.example/{entry_id}",
}


def test_ariels_block_is_taken_as_it_is() -> None:
    config = ARIELConfig.from_dict(ARIELS)
    assert config.database.uri == ARIELS["database"]["uri"]
    assert config.default_search_mode == "semantic"
    assert config.search_module("semantic").settings["similarity_threshold"] == 0.7
    assert config.vector_model == config.get_search_model() == "nomic-embed-text"
    assert not config.is_enhancement_module_enabled("semantic_processor")
    assert (config.ingestion.chunk_days, config.ingestion.verify_ssl) == (365, False)


@pytest.mark.parametrize(
    ("block", "unknown", "meant"),
    [
        ({"search_module": {}}, "search_module", "search_modules"),
        ({"ingestion": {"adaptor": "als_logbook"}}, "ingestion.adaptor", "ingestion.adapter"),
        ({"ingestion": {"write": {"enable": True}}}, "ingestion.write.enable", "ingestion.write.enabled"),
        ({"database": {"url": "x"}}, "database.url", "database.uri"),
        (
            {"search_modules": {"semantic": {"modle": "m"}}},
            "search_modules.semantic.modle",
            "search_modules.semantic.model",
        ),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(block: dict[str, Any], unknown: str, meant: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ARIELConfig.from_dict({**ARIELS, **block})
    assert caught.value.message == f"unknown setting {unknown}"
    assert caught.value.hint == f"did you mean {meant}?"


def test_a_key_like_no_other_is_refused_too() -> None:
    with pytest.raises(ConfigurationError, match="unknown setting zzzzqqqq") as caught:
        ARIELConfig.from_dict({"zzzzqqqq": 1})
    assert "did you mean" not in caught.value.hint


@pytest.mark.parametrize(
    ("block", "setting"),
    [
        ({"ingestion": {"chunk_days": "many"}}, "ingestion.chunk_days"),
        ({"ingestion": {"max_retries": -1}}, "ingestion.max_retries"),
        ({"search_modules": []}, "search_modules"),
    ],
)
def test_a_wrong_value_is_named_with_its_setting(block: dict[str, Any], setting: str) -> None:
    with pytest.raises(ConfigurationError, match=f"setting {setting}: ") as caught:
        ARIELConfig.from_dict(block)
    assert "\n" not in caught.value.message


def test_a_file_holds_the_block_beside_other_settings(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text("ariel: {ingestion: {chunk_dais: 3}}\nfacility: {timezone: Europe/Berlin}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"unknown setting .*chunk_dais") as caught:
        load_config(str(path))
    assert "chunk_days" in caught.value.hint
