"""Settings as they may be shown: passwords, keys and tokens are not."""

from __future__ import annotations

import re
from typing import Any

from ariel_lite.locations import mask_credentials

HIDDEN = "***"
SECRET = re.compile(r"passw|token|api_?key|secret|credential|auth(?!ors?$)", re.IGNORECASE)
"""Names of settings that are not shown; numbers are (`max_input_tokens` is one), and nothing where nothing is set."""


def masked(value: Any, *, is_secret: bool = False) -> Any:
    """A JSON value of settings without what is secret; credentials in URLs are masked too."""
    if isinstance(value, dict):
        return {key: masked(item, is_secret=is_secret or bool(SECRET.search(str(key)))) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item, is_secret=is_secret) for item in value]
    if isinstance(value, str) and value:
        return HIDDEN if is_secret else mask_credentials(value)
    return value
