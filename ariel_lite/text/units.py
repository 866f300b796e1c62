"""Units of measurement: what may follow a number without a blank and still is a word of its own.

Case counts here (mA and MA are units, Ma is not), because folding comes later.
"""

from __future__ import annotations

PREFIXES = ("", "f", "p", "n", "u", "μ", "m", "c", "d", "k", "M", "G", "T")
PREFIXED = (
    "V",
    "A",
    "W",
    "Hz",
    "eV",
    "T",
    "G",
    "Pa",
    "bar",
    "Torr",
    "K",
    "C",
    "F",
    "H",
    "J",
    "N",
    "m",
    "s",
    "g",
    "l",
    "Ω",
    "ohm",
    "rad",
)
PLAIN = (
    "%",
    "°C",
    "°F",
    "°",
    "degC",
    "degF",
    "deg",
    "dB",
    "dBm",
    "ppm",
    "ppb",
    "rpm",
    "Å",
    "angstrom",
    "min",
    "h",
    "d",
    "a.u.",
)
SPELLINGS = {"°C": "degc", "°F": "degf", "°": "deg", "Å": "angstrom", "%": "%"}


def _unit_lexemes() -> dict[str, tuple[str, ...]]:
    units: dict[str, tuple[str, ...]] = {}
    for prefix in PREFIXES:
        for unit in PREFIXED:
            spelled = prefix.replace("μ", "u") + unit.replace("Ω", "ohm")
            units[prefix + unit] = (spelled.lower(),)
    for unit in PLAIN:
        units[unit] = (SPELLINGS.get(unit, unit.lower()),)
    units["a.u."] = units["a.u"] = ("a", "u")
    return units


UNITS = _unit_lexemes()
"""Unit as written -> its lexemes (one, or two for a.u.)."""

LONGEST_UNIT = max(map(len, UNITS))


def unit_at(text: str, start: int) -> str | None:
    """The unit that stands at `start` and ends at a word boundary, or None. The longest wins."""
    for length in range(min(LONGEST_UNIT, len(text) - start), 0, -1):
        unit = text[start : start + length]
        if unit in UNITS:
            end = start + length
            if unit == "%" or end == len(text) or not text[end].isalnum():
                return unit
    return None


def is_unit(text: str) -> bool:
    """True when the whole text is a unit ("GeV", "mm", "°C")."""
    return text in UNITS
