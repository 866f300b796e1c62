"""Characters: what is the same letter for a search, whatever was typed.

`normalise` keeps case (units need it) and remembers where each character came from; `fold` takes case, accents and
special Latin letters away. Marks are removed from Latin and Greek letters only: ガ and й are letters of their own.
"""

from __future__ import annotations

import unicodedata

SPECIAL_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "ı": "i", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ŧ": "t"}
)
APOSTROPHES = frozenset("’ʼ＇‛")
HYPHENS = frozenset("\u2010\u2011\u2212\ufe63\uff0d")
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))
MARKED_SCRIPTS = ("LATIN", "GREEK")
SINGLE_CHARACTER_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "BOPOMOFO")


def script(character: str) -> str:
    """The script of a character by its Unicode name ("LATIN", "GREEK", "CJK", …); "" when it has none."""
    if character.isascii():
        return "LATIN" if character.isalpha() else ""
    return unicodedata.name(character, "").split(" ", 1)[0]


def is_single(character: str) -> bool:
    """True for Han, kana and Hangul: each character is a lexeme of its own."""
    return not character.isascii() and character.isalnum() and script(character) in SINGLE_CHARACTER_SCRIPTS


def is_emoji(character: str) -> bool:
    """True for pictographs; each is one lexeme."""
    code = ord(character)
    return (
        0x1F000 <= code <= 0x1FAFF or 0x2600 <= code <= 0x27BF or 0x2B00 <= code <= 0x2BFF or 0x2300 <= code <= 0x23FF
    )


def fold(text: str) -> str:
    """Case, accents and special letters taken away: "Straße" -> "strasse", "Økland" -> "okland", "İ" -> "i"."""
    if text.isascii():
        return text.lower()
    folded: list[str] = []
    keeps_marks = False
    for character in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold()):
        if unicodedata.combining(character):
            if keeps_marks:
                folded.append(character)
        else:
            keeps_marks = script(character) not in MARKED_SCRIPTS
            folded.append(character)
    return unicodedata.normalize("NFC", "".join(folded)).translate(SPECIAL_LETTERS)


def normalise(text: str) -> tuple[str, list[int]]:
    """NFKC with case kept, invisible characters dropped, apostrophes, hyphens and exponents unified.

    Returns:
        The text and, for each of its characters, the offset in `text` of the character it came from
        (one entry more than characters: the end).
    """
    if text.isascii():
        return text, list(range(len(text) + 1))
    characters: list[str] = []
    offsets: list[int] = []
    position = 0
    while position < len(text):
        end = _cluster_end(text, position)
        cluster = _normalise_cluster(text, position, end)
        characters.append(cluster)
        offsets.extend([position] * len(cluster))
        position = end
    offsets.append(len(text))
    return "".join(characters), offsets


def _cluster_end(text: str, start: int) -> int:
    end = start + 1
    while end < len(text) and (unicodedata.combining(text[end]) or text[end] in "\uff9e\uff9f"):
        end += 1
    return end


def _normalise_cluster(text: str, start: int, end: int) -> str:
    cluster = text[start:end]
    first = cluster[0]
    if first in SUPERSCRIPTS:
        before = text[start - 1] if start else ""
        plain = SUPERSCRIPTS[first]
        return "^" + plain if before.isdigit() and before not in SUPERSCRIPTS else plain
    if first in APOSTROPHES:
        return "'"
    if first in HYPHENS:
        return "-"
    if (
        unicodedata.category(first) in ("Cf", "Cs")
        or 0xFE00 <= ord(first) <= 0xFE0F
        or 0x1F3FB <= ord(first) <= 0x1F3FF
    ):
        return ""
    return unicodedata.normalize("NFKC", cluster)
