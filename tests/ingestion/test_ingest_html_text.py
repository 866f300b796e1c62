"""HTML bodies become readable text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ariel_lite.ingestion.html_text import html_to_text, is_html


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "<p>beam&nbsp;lost <b>at</b> 3&mu;A<br>RF&lt;50%</p><script>var secretword=1</script><style>.x{}</style>",
            "beam lost at 3μA\nRF<50%",
        ),
        ("<ul><li>one</li><li>two</li></ul>after", "one\ntwo\n\nafter"),
        ("<table><tr><th>Q</th><th>V</th></tr><tr><td>&nu;<sub>x</sub></td><td>10</td></tr></table>", "Q  V\nνx  10"),
        ("a <!-- hidden --> b", "a b"),
        ("no tags &lt;&amp;&#321;", "no tags <&Ł"),
        ("<?xml version='1.0'?><div>x</div><div>y</div>", "x\ny"),
        ("<p>never <b>closed<p>next", "never closed\n\nnext"),
        ("I<5 and <3", "I<5 and <3"),
        ("x<br><br><br><br>y", "x\n\ny"),
        ("a&#1;b&#127;<i>c</i>", "a b c"),
        ("", ""),
        ("<p></p>", ""),
    ],
)
def test_in16_blocks_become_lines_and_entities_text(markup: str, text: str) -> None:
    assert html_to_text(markup) == text


def test_deep_nesting_is_no_problem() -> None:
    assert html_to_text("<div>" * 20_000 + "deep" + "</div>" * 20_000) == "deep"


@given(st.text() | st.text(st.sampled_from("<>/!-[]&;#x0aéb= \"'?")))
@settings(max_examples=300, deadline=None)
def test_any_markup_is_read(markup: str) -> None:
    assert isinstance(html_to_text(markup), str)


@pytest.mark.parametrize(
    ("declared", "answer"),
    [("html", True), ("text/html; charset=utf-8", True), ("HTML", True), ("text", False), (None, False), (1, False)],
)
def test_only_declared_html_is_html(declared: object, answer: bool) -> None:
    assert is_html(declared) is answer
