"""A folder that cannot be written, as on a DVD: its rights are taken away, and with them what root may do beyond them."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_CAPABILITY_VERSION = 0x20080522
_DAC_OVERRIDE = 1 << 1
_Sets = ctypes.c_uint32 * 6
"""Effective, permitted and inheritable, each of the capabilities 0 to 31 and then of 32 to 63 (capget(2))."""


@contextmanager
def read_only_media(folder: Path) -> Iterator[None]:
    """Nothing in a folder can be written by this thread, and nothing added to it, until the end of the block."""
    files = [path for path in folder.iterdir() if path.is_file()]
    for file in files:
        file.chmod(0o444)
    folder.chmod(0o555)
    try:
        with _as_any_user():
            probe = folder / "probe"
            with pytest.raises(PermissionError):
                probe.write_bytes(b"")
            yield
    finally:
        folder.chmod(0o755)
        for file in files:
            file.chmod(0o644)


@contextmanager
def _as_any_user() -> Iterator[None]:
    """Root's right to write everywhere is laid down in this thread (Linux); other users have none."""
    if os.name == "nt":
        pytest.skip("rights of folders are another matter on Windows")
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("root cannot lay down its rights here")
    before = _capabilities()
    _set_capabilities([before[0] & ~_DAC_OVERRIDE, *before[1:]])
    try:
        yield
    finally:
        _set_capabilities(before)


def _capabilities() -> list[int]:
    sets = _Sets()
    if _libc().capget(_header(), sets):
        raise OSError(ctypes.get_errno(), "capget")
    return list(sets)


def _set_capabilities(values: list[int]) -> None:
    if _libc().capset(_header(), _Sets(*values)):
        raise OSError(ctypes.get_errno(), "capset")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _header() -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
