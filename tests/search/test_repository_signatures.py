"""The repository's methods have ARIEL's names, parameters and defaults."""

from __future__ import annotations

import inspect

import pytest

from ariel_lite.config import ARIELConfig
from ariel_lite.repository import ARIELRepository
from ariel_lite.service import ARIELSearchService

SIGNATURES = {
    "get_entry": "(entry_id)",
    "get_entries_by_ids": "(entry_ids)",
    "upsert_entry": "(entry)",
    "search_by_time_range": "(start=None, end=None, limit=100, offset=0, author=None, source_system=None)",
    "count_entries": "(start=None, end=None, author=None, source_system=None)",
    "get_distinct_authors": "()",
    "get_distinct_source_systems": "()",
    "store_attachment": "(entry_id, attachment_id, filename, mime_type, data, size_bytes)",
    "get_attachment": "(attachment_id)",
    "get_attachments_for_entry": "(entry_id)",
    "get_incomplete_entries": "(module_name=None, status=None, limit=100)",
    "get_enhancement_stats": "()",
    "mark_enhancement_complete": "(entry_id, module_name)",
    "mark_enhancement_failed": "(entry_id, module_name, error)",
    "get_embedding_tables": "()",
    "validate_search_model_table": "(model)",
    "store_text_embedding": "(entry_id, embedding, model_name)",
    "semantic_search": "(query_embedding, model_name, max_results=10, similarity_threshold=0.5, start_date=None,"
    " end_date=None, author=None, source_system=None)",
    "start_ingestion_run": "(source_system)",
    "complete_ingestion_run": "(run_id, entries_added, entries_updated, entries_failed)",
    "fail_ingestion_run": "(run_id, error_message)",
    "get_last_successful_run": "(source_system)",
    "health_check": "()",
}
TAKE_A_PLAN = {"keyword_search", "fuzzy_search"}
"""The deliberate difference: ARIEL's take SQL."""


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_method_is_a_coroutine_with_ariels_parameters(name: str) -> None:
    method = getattr(ARIELRepository, name)
    assert inspect.iscoroutinefunction(method)
    parameters = list(inspect.signature(method).parameters.values())[1:]
    assert all(parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    assert str(inspect.Signature(bare)) == SIGNATURES[name]


def test_there_are_no_other_methods() -> None:
    public = {name for name in vars(ARIELRepository) if not name.startswith("_")}
    assert public == SIGNATURES.keys() | TAKE_A_PLAN


SERVICE = {
    "search": "(query, *, max_results=None, time_range=None, mode=None, advanced_params=None)",
    "ainvoke": "(request)",
    "get_status": "()",
    "health_check": "()",
}


@pytest.mark.parametrize("name", SERVICE)
def test_the_services_methods_are_ariels(name: str) -> None:
    method = getattr(ARIELSearchService, name)
    assert inspect.iscoroutinefunction(method)
    parameters = list(inspect.signature(method).parameters.values())[1:]
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    assert str(inspect.Signature(bare)) == SERVICE[name]


def test_the_model_of_searches_by_meaning() -> None:
    assert ARIELConfig().get_search_model() == ARIELConfig().embedding.model
    named = ARIELConfig.from_dict({"search_modules": {"semantic": {"model": "nomic-embed-text"}}})
    assert named.get_search_model() == "nomic-embed-text"
    off = ARIELConfig.from_dict({"search_modules": {"semantic": {"enabled": False}}})
    assert off.get_search_model() is None
