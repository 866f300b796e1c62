"""Reading `ingestion.settings`: an unknown key or a value of the wrong kind is an error that says what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from ariel_lite.errors import ConfigurationError

PLACE = "ingestion.settings"


def known_settings(settings: Mapping[str, Any], known: Sequence[str], place: str = PLACE) -> None:
    """Raise ConfigurationError for a key that is not known, with the nearest that is."""
    for key in settings:
        if key not in known:
            near = get_close_matches(str(key), known, n=1, cutoff=0.4)
            hint = f"did you mean {place}.{near[0]}?" if near else f"known: {', '.join(sorted(known))}"
            raise ConfigurationError(f"unknown setting {place}.{key}", hint=hint)


def text_setting(settings: Mapping[str, Any], key: str) -> str | None:
    """A text, None where it is not set.

    Raises:
        ConfigurationError: another kind of value.
    """
    value = settings.get(key)
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise ConfigurationError(f"setting {PLACE}.{key} must be a text", hint=f"got {value!r}")


def names_setting(settings: Mapping[str, Any], key: str, place: str = PLACE) -> list[str]:
    """A name, or a list of names, as a list; [] where it is not set.

    Raises:
        ConfigurationError: another kind of value.
    """
    value = settings.get(key)
    names = [value] if isinstance(value, str | int) and not isinstance(value, bool) else value
    if names is None:
        return []
    if not isinstance(names, list) or not all(isinstance(name, str | int) and str(name).strip() for name in names):
        raise ConfigurationError(f"setting {place}.{key} must be a name or a list of names", hint=f"got {value!r}")
    return [str(name) for name in names]


def flag_setting(settings: Mapping[str, Any], key: str, *, default: bool) -> bool:
    """True or false.

    Raises:
        ConfigurationError: another kind of value.
    """
    value = settings.get(key, default)
    if not isinstance(value, bool):
        raise ConfigurationError(f"setting {PLACE}.{key} must be true or false", hint=f"got {value!r}")
    return value


def number_setting(settings: Mapping[str, Any], key: str, *, default: int) -> int:
    """A whole number above 0.

    Raises:
        ConfigurationError: another kind of value.
    """
    value = settings.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"setting {PLACE}.{key} must be a whole number above 0", hint=f"got {value!r}")
    return value
