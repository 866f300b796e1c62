"""What is searched of attached files, and what is shown of them."""

from __future__ import annotations

from typing import Any

import pytest
from logbooks import entry

from ariel_lite.records import own_text, searchable_text, without_text


def test_texts_of_files_follow_what_was_written() -> None:
    made = entry(
        "E1", "trip", summary="short", keywords=["arc"], attachments=[{"url": "a.txt", "text": "log"}, {"url": "b.png"}]
    )
    assert own_text(made) == "trip\nlog"
    assert searchable_text(made) == "trip\nshort\narc\nlog"


@pytest.mark.parametrize("text", [None, "", 7, ["x"]])
def test_what_is_no_text_is_left_out_of_both(text: Any) -> None:
    made = entry("E1", "trip", attachments=[{"url": "a.txt", "text": text}])
    assert own_text(made) == searchable_text(made) == "trip"


def test_an_attachment_is_shown_without_its_text() -> None:
    assert without_text({"url": "a.txt", "filename": "a.txt", "text": "long"}) == {"url": "a.txt", "filename": "a.txt"}
