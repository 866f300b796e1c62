"""The one search service of a process, as Osprey's capabilities share it."""

from __future__ import annotations

import asyncio
import threading
from importlib import import_module
from typing import Any

from ariel_lite.compose import create_ariel_service
from ariel_lite.config import ARIELConfig, load_config
from ariel_lite.errors import ConfigurationError
from ariel_lite.service import ARIELSearchService

# The contract allows this state: Osprey makes a capability anew for each step and expects one service behind them all.
_service: ARIELSearchService | None = None
_making = threading.Lock()


async def get_ariel_search_service(config: ARIELConfig | None = None) -> ARIELSearchService:
    """The service of this process, made at the first call.

    Args:
        config: the settings; else those of Osprey's `config.yml` where Osprey is installed and has an `ariel:` block,
            else those of `ARIEL_LITE_CONFIG`.

    Raises:
        ConfigurationError: a wrong setting.
        DatabaseConnectionError: the logbook cannot be opened.
    """
    return _service if _service is not None else await asyncio.to_thread(_made, config)


def reset_ariel_service() -> None:
    """Forget the service without closing it; the next call makes another."""
    global _service
    _service = None


async def close_ariel_service() -> None:
    """Close the service, if there is one, and forget it."""
    global _service
    service, _service = _service, None
    if service is not None:
        await asyncio.to_thread(service.close)


def _made(config: ARIELConfig | None) -> ARIELSearchService:
    global _service
    with _making:
        if _service is None:
            _service = create_ariel_service(config or _settings())
        return _service


def _settings() -> ARIELConfig:
    block = _osprey_setting("ariel")
    if not block:
        return load_config()
    shared = {name: value for name in ("facility", "api") if (value := _known(name, _osprey_setting(name)))}
    return ARIELConfig.from_dict({"ariel": block, **shared})


def _known(name: str, block: Any) -> dict[str, Any]:
    """The part of a block that belongs to us: Osprey keeps more under the same names."""
    if not isinstance(block, dict):
        return {}
    fields = ARIELConfig.model_fields[name].annotation
    known: set[str] = set(getattr(fields, "model_fields", ()))
    return {key: value for key, value in block.items() if key in known}


def _osprey_setting(name: str) -> Any:
    """A value of Osprey's configuration, None without Osprey.

    Raises:
        ConfigurationError: Osprey has no configuration here.
    """
    try:
        theirs = import_module("osprey.utils.config")
    except ModuleNotFoundError:
        return None
    try:
        return theirs.get_config_value(name, None)
    except (FileNotFoundError, ValueError, KeyError) as fault:
        raise ConfigurationError(
            f"Osprey's configuration cannot be read: {fault}", hint="start in the project's folder, or set CONFIG_FILE"
        ) from fault
