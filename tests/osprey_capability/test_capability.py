"""The capability without Osprey: one service for all, results, errors, guides, records."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, make_dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import anyio
import pytest
from logbooks import entry

from ariel_lite import open_logbook, osprey
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import (
    ARIELException,
    ConfigurationError,
    DatabaseConnectionError,
    DatabaseQueryError,
    EmbeddingGenerationError,
    SearchTimeoutError,
)
from ariel_lite.osprey import adapters
from ariel_lite.osprey.registration import registrations
from ariel_lite.records import Attachment


@pytest.fixture
def config(tmp_path: Path) -> Iterator[ARIELConfig]:
    """Settings of a logbook with two entries; the service is given back afterwards."""
    path = tmp_path / "logbook.db"
    with open_logbook(path, config={}) as book:
        book.service.backend.upsert(
            [
                entry("E1", "Klystron KLY-3 tripped on cathode overcurrent.", at="2026-03-01T10:00:00"),
                entry("E2", "Klystron KLY-3 tripped again, " + "see the long report. " * 30, at="2026-03-04T10:00:00"),
            ]
        )
    yield ARIELConfig.from_dict({"ariel": {"database": {"uri": str(path)}}})
    anyio.run(osprey.close_ariel_service)


def searched(config: ARIELConfig, objective: str, contexts: dict[str, Any]) -> osprey.LogbookSearchResultsContext:
    async def asked() -> osprey.LogbookSearchResultsContext:
        await osprey.get_ariel_search_service(config)
        return await osprey.LogbookSearchCapability().search(objective, contexts)

    return anyio.run(asked)


def test_the_service_is_made_once_and_again_after_it_was_closed(config: ARIELConfig) -> None:
    async def services() -> list[object]:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(osprey.get_ariel_search_service, config)
        first = await osprey.get_ariel_search_service(config)
        same = await osprey.get_ariel_search_service()
        await osprey.close_ariel_service()
        return [first, same, await osprey.get_ariel_search_service(config)]

    first, same, other = anyio.run(services)
    assert first is same
    assert first is not other


def test_a_reset_forgets_the_service_without_closing_it(config: ARIELConfig) -> None:
    first = anyio.run(osprey.get_ariel_search_service, config)
    osprey.reset_ariel_service()
    assert anyio.run(osprey.get_ariel_search_service, config) is not first
    assert first.status().entry_count == 2
    first.close()


def test_settings_come_from_the_environment_without_osprey(
    config: ARIELConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.yml"
    file.write_text(f"ariel: {{database: {{uri: {json.dumps(config.database.uri)}}}}}", encoding="utf-8")
    monkeypatch.setenv("ARIEL_LITE_CONFIG", str(file))
    monkeypatch.delenv("ARIEL_LITE_DB", raising=False)
    assert anyio.run(osprey.get_ariel_search_service).status().entry_count == 2


def test_settings_come_from_osprey_where_it_is(config: ARIELConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {
        "ariel": {"database": {"uri": config.database.uri}},
        "facility": {"name": "Ring", "timezone": "Europe/Berlin", "beamlines": 40},
    }
    theirs = ModuleType("osprey.utils.config")
    theirs.get_config_value = lambda name, default=None: settings.get(name, default)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "osprey", ModuleType("osprey"))
    monkeypatch.setitem(sys.modules, "osprey.utils", ModuleType("osprey.utils"))
    monkeypatch.setitem(sys.modules, "osprey.utils.config", theirs)
    service = anyio.run(osprey.get_ariel_search_service)
    assert service.status().entry_count == 2
    assert service.config.zone.key == "Europe/Berlin"


def test_a_question_gives_entries_and_an_answer(config: ARIELConfig) -> None:
    found = searched(config, "why did the klystron trip?", {})
    assert {hit["entry_id"] for hit in found.entries} == {"E1", "E2"}
    assert found.search_modes_used == ("rag",)
    assert found.answer
    assert "[1]" in found.answer
    assert set(found.sources) <= {"E1", "E2"}
    assert not found.time_range_applied


@pytest.mark.parametrize("as_list", [False, True])
def test_a_time_range_limits_the_search(config: ARIELConfig, as_list: bool) -> None:
    limits = SimpleNamespace(start_date=datetime(2026, 3, 3, tzinfo=UTC), end_date=datetime(2026, 3, 5, tzinfo=UTC))
    found = searched(config, "klystron trips", {"TIME_RANGE": [limits] if as_list else limits})
    assert [hit["entry_id"] for hit in found.entries] == ["E2"]
    assert found.time_range_applied


def test_the_summary_shows_short_previews(config: ARIELConfig) -> None:
    found = searched(config, "klystron trips", {})
    summary = found.get_summary()
    assert summary["entries_found"] == 2
    assert summary["query"] == "klystron trips"
    previews = {shown["entry_id"]: shown["raw_text"] for shown in summary["entries"]}
    assert previews["E1"] == "Klystron KLY-3 tripped on cathode overcurrent."
    assert len(previews["E2"]) == 203
    assert previews["E2"].endswith("...")
    json.dumps(summary)


def test_texts_of_attached_files_stay_behind(config: ARIELConfig) -> None:
    with open_logbook(config.database.uri, config={}) as book:
        file: Attachment = {"url": "a.txt", "filename": "a.txt", "text": "thermocouple log " * 50}
        book.service.backend.upsert([entry("E3", "septum drifts", attachments=[file])])
    (found,) = searched(config, "septum drifts", {}).entries
    assert found["attachments"] == [{"url": "a.txt", "filename": "a.txt"}]


def test_later_steps_learn_how_to_reach_the_results() -> None:
    details = osprey.LogbookSearchResultsContext(query="x").get_access_details("ls_x")
    assert details["access_pattern"] == "context.LOGBOOK_SEARCH_RESULTS.ls_x"
    assert set(details["fields"]) == {"entries", "answer", "sources", "search_modes_used", "query"}
    assert (osprey.LogbookSearchResultsContext.CONTEXT_TYPE, osprey.LogbookSearchResultsContext.CONTEXT_CATEGORY) == (
        "LOGBOOK_SEARCH_RESULTS",
        "DATA",
    )


@pytest.mark.parametrize(
    ("fault", "severity", "said"),
    [
        (DatabaseConnectionError("no file"), "CRITICAL", "ariel-lite status"),
        (DatabaseQueryError('relation "enhanced_entries" does not exist'), "CRITICAL", "ariel-lite migrate"),
        (DatabaseQueryError("no such table: enhanced_entries"), "CRITICAL", "ariel-lite migrate"),
        (DatabaseQueryError("disk I/O error"), "RETRIABLE", "trying again"),
        (EmbeddingGenerationError("no model"), "CRITICAL", "search_modules.semantic.enabled"),
        (ConfigurationError("unknown mode 'x'", hint="enabled modes: keyword"), "CRITICAL", "enabled modes: keyword"),
        (SearchTimeoutError("too slow"), "CRITICAL", "too slow"),
        (RuntimeError("broken"), "CRITICAL", "broken"),
    ],
)
def test_failures_are_classified(fault: Exception, severity: str, said: str) -> None:
    found = osprey.LogbookSearchCapability.classify_error(fault, {})
    assert found.severity.name == severity
    assert said in found.user_message
    assert found.metadata["technical_details"] == str(fault)


def test_every_error_of_ours_has_a_classification() -> None:
    kinds = [ARIELException]
    for kind in kinds:
        kinds += [known for known in kind.__subclasses__() if known.__module__ == ARIELException.__module__]
        assert osprey.classify_error(kind("it failed")).user_message


def test_the_guides_teach_keys_times_and_tasks() -> None:
    builder = osprey.LogbookSearchPromptBuilder()
    guide, tasks = builder.get_orchestrator_guide(), builder.get_classifier_guide()
    assert builder.get_role() == "facility logbook search expert"
    assert builder.get_role() in builder.build_prompt()
    assert "ls_<topic>" in guide.instructions
    assert "time_range_parsing" in guide.instructions
    assert all(example.step.context_key.startswith("ls_") for example in guide.examples)
    assert all(example.step.capability == "logbook_search" for example in guide.examples)
    assert [example.result for example in tasks.examples] == [True, True, False, True, False, True, True, False]


def test_records_name_what_can_be_imported() -> None:
    known = registrations()
    assert {record.name for record in known.ariel_search_modules} >= {"keyword", "semantic", "hybrid", "rag"}
    assert {record.name for record in known.ariel_ingestion_adapters} >= {"als_logbook", "generic_json"}
    for record in known.ariel_ingestion_adapters:
        assert record.module_path == adapters.__name__
        assert getattr(adapters, record.class_name).adapter_name == record.name
        assert record.description
    orders = {record.name: record.execution_order for record in known.ariel_enhancement_modules}
    assert orders["semantic_processor"] < orders["text_embedding"]


def test_an_adapter_gives_plain_entries_as_ariels_do(tmp_path: Path) -> None:
    source = tmp_path / "entries.jsonl"
    source.write_text('{"id": "A1", "timestamp": "2026-03-05T10:00:00Z", "text": "pump"}\nnot json\n', encoding="utf-8")
    config = ARIELConfig.from_dict({"ariel": {"ingestion": {"source_url": str(source)}}})
    adapter = adapters.GenericJsonAdapter(config)

    async def read() -> list[Any]:
        return [one async for one in adapter.fetch_entries()]

    assert [one["entry_id"] for one in anyio.run(read)] == ["A1"]
    assert adapter.source_system_name == "Generic JSON"
    with pytest.raises(ConfigurationError, match="source_url"):
        adapters.GenericJsonAdapter(ARIELConfig())
    with pytest.raises(AttributeError):
        _ = adapters.NobodyAdapter


def test_records_become_the_frameworks_own(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ModuleType("their_registry")
    for record in (registrations().capabilities[0], registrations().ariel_search_modules[0]):
        names = [one.name for one in fields(record)]
        setattr(theirs, type(record).__name__, make_dataclass(type(record).__name__, names))
    monkeypatch.setitem(sys.modules, "their_registry", theirs)
    made = registrations().as_framework_records("their_registry")
    assert set(made) == {"capabilities", "ariel_search_modules"}
    assert made["capabilities"][0].name == "logbook_search"
    assert type(made["capabilities"][0]).__module__ != registrations.__module__


def test_the_package_is_imported_without_osprey() -> None:
    script = "import sys, ariel_lite.osprey; sys.exit(any(name.partition('.')[0] == 'osprey' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0
