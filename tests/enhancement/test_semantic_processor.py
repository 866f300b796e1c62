"""The enhancer that adds keywords and summaries, offline: stored, searchable, repeated only where needed."""

from __future__ import annotations

import pytest
from logbooks import MakeLogbook, entries, entry, exact, found, fragments
from meanings import CompassProvider

from ariel_lite.backends.base import Backend
from ariel_lite.compose import Logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.enhancement.base import EnhancementReport
from ariel_lite.enhancement.semantic_processor import BATCH, create_enhancer
from ariel_lite.enhancement.text_embedding import TextEmbedding
from ariel_lite.errors import ConfigurationError
from ariel_lite.registry import ENHANCERS, Registry

NAME = "semantic_processor"
LONG = """Water leak in the RF hall

The flow switch of the circulator dropped at 04:12 and took the klystron down with it. We found the hose of the dummy
load split over five centimetres, just behind the clamp. The load was closed off and the klystron ran again from 05:30
at half power. A new hose is on the shelf in the RF hall. The clamp had been tightened too far at the last service, and
the same clamps sit on three more loads. They will be looked at on Monday during the access. All else was quiet."""
TEXTS = [
    "Klystron KLY-3 tripped on reflected power",
    "Ion pump SR03:IP2 shows leakage current",
    LONG,
    "   ",
    "ok",
]


def process(book: Logbook, **options: object) -> EnhancementReport:
    """Run the enhancer with the logbook's settings."""
    return create_enhancer(book.service.config, Registry()).run(book.service.backend, **options)  # type: ignore[arg-type]


def status(book: Logbook, entry_id: str) -> dict[str, str]:
    """What the entry says of the enhancer."""
    statuses = (book.get(entry_id) or {}).get("enhancement_status", {})
    return dict(statuses.get(NAME, {}))


@pytest.fixture
def book(make_logbook: MakeLogbook) -> Logbook:
    """A logbook with a few entries."""
    return make_logbook(TEXTS)


def test_a_run_fills_keywords_and_summary_and_tells_what_it_did(book: Logbook) -> None:
    report = process(book)
    assert (report.module, report.done, report.blank, report.failed) == (NAME, 4, 1, {})
    first, long, blank = (book.get(entry_id) or {} for entry_id in ("E1", "E3", "E4"))
    assert "KLY-3" in first["keywords"]
    assert not first["summary"]
    assert 0 < len(long["summary"]) <= 300
    assert " ".join(LONG.split()).count(long["summary"].split(". ")[0]) == 1
    assert (blank["keywords"], blank["summary"]) == ([], None)
    assert status(book, "E1")["status"] == status(book, "E4")["status"] == "complete"
    assert status(book, "E1")["completed_at"]


def test_a_second_run_does_nothing(book: Logbook) -> None:
    process(book)
    before = book.get("E1")
    report = process(book)
    assert (report.done, report.blank) == (0, 0)
    assert book.get("E1") == before


def test_pending_counts_what_a_run_would_try(book: Logbook) -> None:
    enhancer = create_enhancer(book.service.config, Registry())
    backend = book.service.backend
    assert enhancer.pending(backend) == 5
    enhancer.run(backend, limit=2)
    assert enhancer.pending(backend) == 3
    backend.mark_failed(NAME, {"E5": "no answer"})
    assert backend.enhancement_counts(NAME) == {"complete": 2, "failed": 1, "pending": 2}
    assert enhancer.pending(backend) == 3


def test_only_an_entry_with_another_text_is_read_again(book: Logbook) -> None:
    process(book)
    backend = book.service.backend
    changed = entries(*TEXTS)
    changed[0]["raw_text"] = "Thyratron of the septum pulser exchanged"
    changed[1]["metadata"] = {"tags": ["vacuum"]}
    backend.upsert(changed)
    assert status(book, "E1").get("status") != "complete"
    assert process(book).done == 1
    assert "Thyratron" in (book.get("E1") or {})["keywords"]
    assert (book.get("E2") or {})["metadata"] == {"tags": ["vacuum"]}
    assert "SR03:IP2" in (book.get("E2") or {})["keywords"]


def test_force_reads_everything_anew(book: Logbook) -> None:
    process(book)
    report = process(book, force=True)
    assert (report.done, report.blank) == (4, 1)


def test_what_failed_is_tried_again_after_what_waits(book: Logbook) -> None:
    backend = book.service.backend
    backend.mark_failed(NAME, {"E1": "no answer", "E2": "no answer"})
    assert status(book, "E1")["error"] == "no answer"
    process(book, limit=3)
    assert [status(book, f"E{number}")["status"] for number in range(1, 6)] == ["failed", "failed"] + ["complete"] * 3
    process(book)
    assert status(book, "E1")["status"] == "complete"
    assert "error" not in status(book, "E1")


@pytest.mark.parametrize("limit", [0, 1, BATCH, BATCH + 1, 1000])
def test_a_limit_is_kept_and_progress_adds_up(backend: Backend, limit: int) -> None:
    count = BATCH + 20
    backend.upsert(entries(*[f"pump {number}" for number in range(count)]))
    enhancer = create_enhancer(ARIELConfig(), Registry())
    steps: list[int] = []
    done = enhancer.run(backend, limit=limit, progress=steps.append).done
    assert done == sum(steps) == min(limit, count)
    assert enhancer.pending(backend) == count - done


def test_the_words_are_searched_and_a_hit_by_them_alone_shows_them(make_logbook: MakeLogbook) -> None:
    book = make_logbook([entry("E1", "arc at CAV-2", keywords=["arc detector"], summary="The optical sensor fired.")])
    assert found(book, "detector") == ["E1"]
    assert fragments(book, "detector") == ["keywords: arc <b>detector</b>"]
    assert fragments(book, "optical") == ["summary: The <b>optical</b> sensor fired."]


def test_extraction_finds_no_entry_that_its_text_does_not_match(book: Logbook) -> None:
    queries = ("klystron", "KLY-3", "leak*", "hose AND clamp", '"half power"', "pump NOT leakage", "circulator OR ok")
    before = [sorted(exact(book, query)) for query in queries]
    process(book)
    assert [sorted(exact(book, query)) for query in queries] == before


def test_index_and_vocabulary_agree_afterwards(book: Logbook) -> None:
    process(book)
    process(book, force=True)
    assert book.service.backend.check() == []


def test_vectors_stand_for_the_text_and_stay_current(book: Logbook) -> None:
    backend = book.service.backend
    provider = CompassProvider()
    TextEmbedding(provider).run(backend)
    process(book)
    process(book, force=True)
    backend.reindex(everything=True)
    assert TextEmbedding(provider).pending(backend) == 0
    assert TextEmbedding(provider).run(backend).done == 0


def test_a_hit_in_the_text_shows_the_text_and_words_only_where_it_lacks_one(make_logbook: MakeLogbook) -> None:
    book = make_logbook([entry("E1", "Arc at CAV-2 & more", keywords=["arc", "detector"], summary="An arc was seen.")])
    assert fragments(book, "arc") == ["<b>Arc</b> at CAV-2 &amp; more"]
    assert fragments(book, "arc detector") == ["<b>Arc</b> at CAV-2 &amp; more", "keywords: arc, <b>detector</b>"]
    assert fragments(book, "seen") == ["summary: An arc was <b>seen</b>."]
    assert fragments(book, "keywords OR arc") == ["<b>Arc</b> at CAV-2 &amp; more"]


def test_an_interrupted_run_keeps_its_batches_and_gives_back_the_rest(backend: Backend) -> None:
    backend.upsert(entries(*[f"pump {number}" for number in range(BATCH + 20)]))
    enhancer = create_enhancer(ARIELConfig(), Registry())

    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        enhancer.run(backend, progress=interrupt)
    assert backend.enhancement_counts(NAME) == {"complete": BATCH, "failed": 0, "pending": 20}
    assert enhancer.run(backend).done == 20


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"provider": "openai"}, "model.model_id is not set"),
        ({"model": {"model_id": "small"}}, "provider is not set"),
        ({"provider": "telepathy", "model": {"model_id": "small"}}, "unknown generator 'telepathy'"),
        ({"settings": {"max_keyword": 3}}, "settings.max_keyword"),
        ({"settings": {"max_keywords": -1}}, "settings.max_keywords"),
    ],
)
def test_wrong_settings_are_configuration_errors(settings: dict[str, object], said: str) -> None:
    config = ARIELConfig.from_dict({"enhancement_modules": {NAME: settings}})
    with pytest.raises(ConfigurationError) as fault:
        create_enhancer(config, Registry())
    assert said in fault.value.message
    assert fault.value.hint


def test_settings_bound_keywords_and_summary(make_logbook: MakeLogbook) -> None:
    book = make_logbook([LONG])
    config = ARIELConfig.from_dict(
        {"enhancement_modules": {NAME: {"settings": {"max_keywords": 2, "max_summary_characters": 60}}}}
    )
    create_enhancer(config, Registry()).run(book.service.backend)
    made = book.get("E1") or {}
    assert len(made["keywords"]) == 2
    assert 0 < len(made["summary"]) <= 60


def test_enhancers_are_found_without_their_support_files() -> None:
    assert Registry().names(ENHANCERS)[:2] == ["semantic_processor", "text_embedding"]
    assert create_enhancer(ARIELConfig(), Registry()).order < TextEmbedding.order
