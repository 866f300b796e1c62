"""Windows: exact substrings in order, covering the text, none too long, of nearly one size."""

from __future__ import annotations

import pytest

from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import windows_of
from ariel_lite.embeddings.manifest import configured_model
from ariel_lite.embeddings.onnx import OnnxProvider
from ariel_lite.embeddings.windows import cut, word_windows

ROUTINE = "Routine check of the water pumps, valves and filters of the cooling plant was without findings. "
LATE = "The stripline kicker arced and was replaced."


def numbered(unit: str, count: int, gap: str = " ") -> str:
    """A unit many times, each with its number, so that no stretch of the text stands in it twice."""
    return "".join(f"{number}{gap}{unit}" for number in range(count))


LONG = ROUTINE * 38 + LATE
TEXTS = {
    "prose": numbered(ROUTINE, 40) + LATE,
    "names": " ".join(f"SR{n:02d}C:BPM{n % 7}:X=1.{n}e-{n % 9}" for n in range(200)),
    "japanese": numbered("加速器のビームが失われた。", 60),
    "korean": numbered("한국어 가속기 빔 손실 기록 ", 80),
    "accents": numbered("Cafe\u0301 Økland Straße Paweł ", 120),
    "emoji": numbered("\U0001f642\U0001f680 ", 300),
    "one word": numbered("x", 2000, gap=""),
    "blanks at both ends": "\n\n  " + numbered(ROUTINE, 40) + "  \n",
    "more than one stretch": numbered(ROUTINE, 700),
    "surrogates": numbered("beam \ud800 lost \x00 ", 150),
}


def assert_covers(windows: list[str], text: str) -> None:
    """Every window is a substring that begins no later than where the one before ends; the last ends the text."""
    end = 0
    for window in windows:
        start = text.find(window)
        assert 0 <= start <= end, "a gap between windows"
        assert start + len(window) > end, "a window that adds nothing"
        end = start + len(window)
    assert end == len(text)


@pytest.mark.parametrize("name", TEXTS)
def test_em01_windows_of_the_model_cover_the_text_and_fit(provider: OnnxProvider, name: str) -> None:
    windows = windows_of(provider, TEXTS[name])
    assert_covers(windows, TEXTS[name])
    assert all(len(provider.token_ids(window)) <= 256 for window in windows)


@pytest.mark.parametrize("name", TEXTS)
def test_em01_windows_by_words_cover_the_text(name: str) -> None:
    assert_covers(word_windows(TEXTS[name]), TEXTS[name])


def test_em01_the_end_of_a_long_entry_is_found(provider: OnnxProvider) -> None:
    query = provider.embed(["stripline kicker arcing"], query=True)[0]
    with_end = provider.embed(windows_of(provider, LONG)) @ query
    without = provider.embed(windows_of(provider, ROUTINE * 38)) @ query
    assert with_end.argmax() == len(with_end) - 1
    assert with_end.max() > without.max() + 0.1


def test_short_text_is_one_window_as_it_stands(provider: OnnxProvider) -> None:
    assert windows_of(provider, "  Beam lost.\n") == ["  Beam lost.\n"]
    assert word_windows("  Beam lost.\n") == ["  Beam lost.\n"]


def test_text_of_exactly_the_window_is_not_cut(provider: OnnxProvider) -> None:
    assert len(windows_of(provider, "beam " * 254)) == 1
    assert len(windows_of(provider, "beam " * 255)) == 2


def test_windows_are_of_nearly_one_size_and_overlap(provider: OnnxProvider) -> None:
    windows = windows_of(provider, "beam " * 300)
    counts = [window.count("beam") for window in windows]
    assert len(counts) == 2
    assert min(counts) > 140
    assert 32 <= sum(counts) - 300 <= 64


def test_a_configured_token_limit_makes_windows_smaller() -> None:
    models = [{"name": "all-minilm-l6-v2", "max_input_tokens": 64, "document_prefix": "entry: "}]
    config = ARIELConfig.from_dict({"enhancement_modules": {"text_embedding": {"models": models}}})
    small = OnnxProvider(configured_model(config, "all-minilm-l6-v2"))
    windows = small.windows(TEXTS["prose"])
    assert_covers(windows, TEXTS["prose"])
    assert max(len(small.token_ids("entry: " + window)) for window in windows) in range(50, 65)


def test_a_piece_larger_than_a_window_stands_alone() -> None:
    assert cut("aa bb cc", [0, 3, 6], [9, 1, 9], 4, 1) == ["aa ", "bb ", "cc"]


def test_no_pieces_no_windows() -> None:
    assert cut("   ", [], [], 4, 1) == []
    assert word_windows("   ") == []
