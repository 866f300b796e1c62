"""HTML bodies as text: blocks become lines, scripts and styles go, entities are decoded."""

from __future__ import annotations

import html
import re

from bs4 import BeautifulSoup
from bs4.element import CData, NavigableString, PageElement, Tag
from bs4.exceptions import ParserRejectedMarkup

from ariel_lite.ingestion.text_cleaning import clean_text

_DROPPED = frozenset(("script", "style", "template"))
_PARAGRAPHS = frozenset((
    "article", "blockquote", "body", "dl", "fieldset", "figure", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head",
    "hr", "html", "ol", "p", "pre", "section", "table", "ul",
))  # fmt: skip
_LINES = frozenset((
    "address", "aside", "caption", "center", "dd", "details", "dialog", "dir", "div", "dt", "figcaption", "footer",
    "header", "li", "main", "menu", "nav", "option", "summary", "tbody", "tfoot", "thead", "title", "tr",
))  # fmt: skip
_CELLS = frozenset(("td", "th"))
_PARAGRAPH_EDGE = "\x1d"
_LINE_EDGE = "\x1e"
_CELL_EDGE = "\x1f"
_EDGES = re.compile(r" *[\x1d\x1e][\x1d\x1e ]*")
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*>", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\n\f\v\xa0]+")
_AROUND_LINE_END = re.compile(r" *\n *")
_MANY_BLANKS = re.compile(r" {2,}")
_MANY_LINE_ENDS = re.compile(r"\n{3,}")


def is_html(declared: object) -> bool:
    """True when a source's format or content type says that a body is HTML."""
    if not isinstance(declared, str):
        return False
    kind = declared.split(";")[0].strip().lower()
    return kind in ("html", "text/html", "application/xhtml+xml", "xhtml")


def html_to_text(markup: str) -> str:
    """The text of a piece of HTML, or of a whole page. Never raises; markup that no parser takes stays as it is."""
    if "<" not in markup:
        return _tidy(html.unescape(markup))
    try:
        soup = BeautifulSoup(_XML_DECLARATION.sub("", markup), "html.parser")
    except (ParserRejectedMarkup, RecursionError):
        return markup.strip()
    return _tidy("".join(_pieces(soup)))


def _pieces(soup: BeautifulSoup) -> list[str]:
    """Text and line ends in reading order, without recursion: logbook pages can nest thousands deep."""
    pieces: list[str] = []
    waiting: list[tuple[PageElement | str, bool]] = [(child, False) for child in reversed(soup.contents)]
    while waiting:
        node, preformatted = waiting.pop()
        if isinstance(node, str) and not isinstance(node, NavigableString):
            pieces.append(node)
        elif isinstance(node, Tag):
            waiting.extend(_opened(node, preformatted, pieces))
        elif type(node) in (NavigableString, CData):
            text = str(node)
            pieces.append(text.replace("\r\n", "\n") if preformatted else _BLANKS.sub(" ", text))
    return pieces


def _opened(tag: Tag, preformatted: bool, pieces: list[str]) -> list[tuple[PageElement | str, bool]]:
    """What a tag puts on the stack, last first; line ends before it go to `pieces`."""
    name = tag.name.lower()
    if name in _DROPPED:
        return []
    if name == "br":
        pieces.append("\n")
        return [(child, preformatted) for child in reversed(tag.contents)]
    inside: list[tuple[PageElement | str, bool]] = [
        (child, preformatted or name == "pre") for child in reversed(tag.contents)
    ]
    edge = _PARAGRAPH_EDGE if name in _PARAGRAPHS else _LINE_EDGE if name in _LINES else ""
    if edge:
        pieces.append(edge)
        return [(edge, False), *inside]
    return [(_CELL_EDGE, False), *inside] if name in _CELLS else inside


def _tidy(text: str) -> str:
    text = _MANY_BLANKS.sub(" ", text.replace("\xa0", " ").replace("\t", " "))
    text = text.replace(_CELL_EDGE, "  ")
    text = _EDGES.sub(lambda edges: "\n\n" if _PARAGRAPH_EDGE in edges[0] else "\n", text)
    text = _MANY_LINE_ENDS.sub("\n\n", _AROUND_LINE_END.sub("\n", text))
    return clean_text(text)[0].strip()
