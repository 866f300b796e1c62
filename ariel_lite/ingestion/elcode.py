"""ELCode, the markup of the ELOG, as text: known tags go, everything else in brackets (PV[0], [done]) stays.

[b] [i] [u] [s] [center] [color=] [size=] [font=] [h1] … [anchor=] [quote] [quote=name] [list] [*] [table] |- [line]
[img]address[/img] [url]address[/url] [url=address]text[/url] [email] [code] (left as it is), and \\[ for a bracket
"""

from __future__ import annotations

import re

_CODE = re.compile(r"\[code\](.*?)\[/code\]", re.IGNORECASE | re.DOTALL)
_LINK = re.compile(r"\[(?:url|email|img)=\"?([^\]\"\n]+)\"?\]([^\[\n]*)\[/(?:url|email|img)\]", re.IGNORECASE)
_BARE_LINK = re.compile(r"\[(url|email|img)\]([^\[\n]*)\[/\1\]", re.IGNORECASE)
_QUOTE = re.compile(r"\[quote=\"?([^\]\"\n]+)\"?\]", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*\[\*\][ \t]*", re.IGNORECASE)
_RULE = re.compile(r"\[(?:line|hr)\]", re.IGNORECASE)
_TABLE = re.compile(r"\[table(?:\s[^\]\n]*)?\](.*?)\[/table\]", re.IGNORECASE | re.DOTALL)
_ROW = re.compile(r"^[ \t]*\|-[ \t]*$\n?", re.MULTILINE)
_TAG = re.compile(
    r"\[/?(?:b|i|u|s|em|strong|sub|sup|center|left|right|justify|quote|list|table|url|email|img|code|h[1-6]"
    r"|(?:color|size|font|list|anchor|h[1-6])=[^\]\n]*)\]|\[/(?:color|size|font|anchor)\]",
    re.IGNORECASE,
)
_BLANK_LINES = re.compile(r"\n{3,}")


def elcode_to_text(markup: str) -> str:
    """The text of an ELCode body. Never raises; tags that are not closed go all the same."""
    pieces = _CODE.split(markup)
    # split() gives the text between blocks and the blocks' insides by turns.
    plain = [piece.strip("\n") if number % 2 else _plain(piece) for number, piece in enumerate(pieces)]
    return _BLANK_LINES.sub("\n\n", "".join(plain)).strip()


def _plain(markup: str) -> str:
    text = markup.replace("\r\n", "\n").replace("\\[", "\x1d")
    text = _TABLE.sub(lambda table: _ROW.sub("", table[1]).replace("|", "  ").strip("\n"), text)
    text = _LINK.sub(
        lambda link: f"{link[2].strip()} ({link[1].strip()})" if link[2].strip() else link[1].strip(), text
    )
    text = _BARE_LINK.sub(lambda link: link[2].strip(), text)
    text = _QUOTE.sub(lambda quote: f"{quote[1].strip()} wrote: ", text)
    text = _ITEM.sub("- ", text)
    text = _RULE.sub("\n", text)
    return _TAG.sub("", text).replace("\x1d", "[")
