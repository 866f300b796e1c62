"""Bytes to text: encodings, marks, stray Latin-1, gzip, and files that break off."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import SourceFacts
from ariel_lite.ingestion.text_stream import SourceText, repair_utf8, unfinished

TEXT = "Perché il Müller ha µA\n日本語 😀\n"


def decode(path: Path, size: int = 1 << 20) -> tuple[str, SourceFacts, str]:
    facts = SourceFacts()
    source = SourceText(str(path), facts, chunk_bytes=size)
    return "".join(source.chunks()), facts, source.failure


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("size", [1, 3, 1 << 20])
@pytest.mark.parametrize("packed", [False, True])
def test_in08_every_encoding_with_and_without_mark(tmp_path: Path, encoding: str, size: int, packed: bool) -> None:
    data = ("{}\n" + TEXT).encode(encoding)
    path = tmp_path / "source"
    path.write_bytes(gzip.compress(data) if packed else data)
    text, facts, failure = decode(path, size)
    assert (text, failure, facts.repaired_bytes) == ("{}\n" + TEXT, "", 0)
    assert facts.encoding.startswith(encoding[:6])


@pytest.mark.parametrize("size", [1, 2, 5, 1 << 20])
def test_in11_latin1_bytes_are_read_right_and_counted(tmp_path: Path, size: int) -> None:
    path = tmp_path / "source"
    path.write_bytes("Perché il Müller ha µA\n".encode("latin-1") + TEXT.encode("utf-8") + b"\x93quoted\x94 \x81")
    text, facts, _ = decode(path, size)
    assert text == "Perché il Müller ha µA\n" + TEXT + "“quoted” \x81"
    assert facts.repaired_bytes == 6


@given(st.binary(max_size=60), st.integers(1, 7))
@settings(max_examples=300, deadline=None)
def test_any_bytes_decode_and_never_depend_on_the_cut(data: bytes, size: int) -> None:
    mended, strays = repair_utf8(data)
    text = mended.decode("utf-8")
    assert (strays == 0) == (mended == data)
    parts, tail = [], b""
    for at in range(0, len(data), size):
        piece = tail + data[at : at + size]
        cut = len(piece) - unfinished(piece)
        parts.append(repair_utf8(piece[:cut])[0].decode("utf-8"))
        tail = piece[cut:]
    assert "".join(parts) + repair_utf8(tail)[0].decode("utf-8") == text


@pytest.mark.parametrize("cut", [0.3, 0.9])
def test_a_cut_gzip_gives_what_came_before_and_says_so(tmp_path: Path, cut: float) -> None:
    data = gzip.compress("".join(f"line {n} {n * 7919 % 1000}\n" for n in range(20_000)).encode())
    path = tmp_path / "source.gz"
    path.write_bytes(data[: int(len(data) * cut)])
    text, _, failure = decode(path, 1000)
    assert text.startswith("line 0 0\nline 1 919\n")
    assert len(text) > 1000
    assert "cut off" in failure


def test_a_damaged_gzip_says_so_and_joined_ones_are_read(tmp_path: Path) -> None:
    path = tmp_path / "source.gz"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n") + b"\x00" * 20)
    assert decode(path)[::2] == ("one\ntwo\n", "")
    path.write_bytes(gzip.compress(b"one\n") + b"rubbish")
    text, _, failure = decode(path)
    assert text == "one\n"
    assert "damaged" in failure


def test_standard_input_is_read() -> None:
    script = (
        "from ariel_lite.ingestion.base import SourceFacts; from ariel_lite.ingestion.text_stream import SourceText;"
        "import sys; sys.stdout.buffer.write(''.join(SourceText('-', SourceFacts()).chunks()).encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=gzip.compress(TEXT.encode()), capture_output=True, check=True
    )
    assert done.stdout.decode() == TEXT


def test_a_source_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    for source in (tmp_path, tmp_path / "absent", "bad\x00name"):
        with pytest.raises(IngestionError) as caught:
            SourceText(str(source), SourceFacts())
        assert caught.value.hint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = subprocess.Popen([sys.executable, "-c", f"open({str(path)!r}, 'w').write('through the pipe')"])
    assert decode(path)[0] == "through the pipe"
    assert writer.wait() == 0
