"""How output looks: 80 columns, colour on terminals only, any console encoding, harmless characters."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from commands import PROGRAM, Call, environment, lines, run, write_entries

from ariel_lite.cli.layout import columns
from ariel_lite.cli.lazy import COMMANDS

QUERIES = (
    "klystron trip",
    '"beam dump"',
    "SR06C:BPM4",
    "klystrn septm",
    "zzqqxyw",
    "Schichtbericht",
    "真空",
    "has:attachment",
)
ESCAPE = "\x1b"


@pytest.fixture
def odd(call: Call, tmp_path: Path) -> str:
    """A logbook of CL01's entry, and of one that tries to write on the terminal."""
    entries = (
        {"id": "E1", "text": "5 µA → 真空 🔥"},
        {
            "id": "E2",
            "title": f"{ESCAPE}[31mred{ESCAPE}]0;owned\x07",
            "text": f"trip{ESCAPE}[2J \u202egnirts\u202c \x9b31m",
        },
    )
    assert call("--db", "odd.db", "ingest", "--source", write_entries(tmp_path / "odd.jsonl", entries)).code == 0
    return "odd.db"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns(call: Call, command: str) -> None:
    called = call(*command.split(), "--help")
    assert called.code == 0
    assert max(columns(line) for line in called.out.splitlines()) <= 80


@pytest.mark.parametrize("command", list(COMMANDS))
def test_the_list_of_commands_says_what_each_command_says(call: Call, command: str) -> None:
    assert COMMANDS[command].load().name == command
    assert call("--help").out.count(f"\n  {command} ") == 1


def test_without_arguments_the_help_is_shown(call: Call) -> None:
    assert call().out == call("--help").out


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("option", [(), ("--explain",)], ids=["plain", "explain"])
def test_search_output_fits_80_columns(call: Call, sample: str, query: str, option: tuple[str, ...]) -> None:
    called = call("--db", sample, "search", query, *option)
    assert called.code == 0
    assert max(columns(line) for line in called.out.splitlines()) <= 80


def test_browse_status_and_quickstart_fit_80_columns(call: Call, sample: str) -> None:
    for command in (("browse", "--limit", "100"), ("status",), ("quickstart",)):
        out = call("--db", Path(sample).name, *command).out
        assert max(columns(line) for line in out.splitlines()) <= 80, command


def test_a_narrow_terminal_is_respected(call: Call, sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert max(columns(line) for line in call("--db", sample, "search", "klystron").out.splitlines()) <= 50


def test_cl05_hits_are_printed_in_every_mode_and_form(call: Call, tmp_path: Path) -> None:
    entry = ({"id": "E1", "text": "x"},)
    assert call("--db", "one.db", "ingest", "--source", write_entries(tmp_path / "one.jsonl", entry)).code == 0
    for mode in ((), ("--mode", "keyword")):
        people = call("--db", "one.db", "search", "x", *mode).out
        assert "\nE1 " in people
        assert "no entry matches" not in people
        document = call("--db", "one.db", "search", "x", "--json", *mode).document
        assert [found["entry_id"] for found in document["entries"]] == ["E1"]
    assert "no entry matches" in call("--db", "one.db", "search", "y").out


def test_matches_are_marked_and_approximate_ones_are_named(call: Call, sample: str) -> None:
    exact = call("--db", sample, "search", "klystron").out
    assert "*klystron*" in exact
    assert "&quot;" not in exact
    assert "approximate" not in exact
    fuzzy = call("--db", sample, "search", "klystrn").out
    assert "(approximate)" in fuzzy
    assert "klystron (for klystrn)" in fuzzy


def test_entries_cannot_reach_the_terminal(call: Call, odd: str) -> None:
    for command in (("search", "trip"), ("show", "E2"), ("browse",), ("sql", "SELECT raw_text FROM enhanced_entries")):
        out = call("--db", odd, *command).out
        assert "trip" in out
        assert not set(out) & {ESCAPE, "\x07", "\x9b", "\u202e", "\x00"}, command
    assert not set(call("--db", odd, "show", f"{ESCAPE}[2J").err) & {ESCAPE}


@pytest.mark.parametrize(
    "changes",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii:strict"},
    ],
    ids=str,
)
def test_cl01_no_console_encoding_breaks_the_command(odd: str, tmp_path: Path, changes: dict[str, str]) -> None:
    env = environment(**changes)
    people = run("--db", odd, "search", "µA", env=env, cwd=tmp_path)
    assert people.returncode == 0
    assert b"E1" in people.stdout
    assert people.stderr == b""
    machine = run("--db", odd, "search", "µA", "--json", env=env, cwd=tmp_path)
    assert json.loads(machine.stdout.decode("utf-8"))["entries"][0]["raw_text"] == "5 µA → 真空 🔥"
    refused = run("--db", odd, "search", "date:真空", env=env, cwd=tmp_path)
    assert refused.returncode == 2
    assert b"Traceback" not in refused.stderr


def test_cl01_files_are_utf8_whatever_the_console(odd: str, tmp_path: Path) -> None:
    env = environment(PYTHONIOENCODING="cp1252")
    assert run("--db", odd, "export", "--output", "out.jsonl", env=env, cwd=tmp_path).returncode == 0
    assert "真空 🔥" in (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    piped = run("--db", odd, "export", "--format", "csv", env=env, cwd=tmp_path)
    assert "真空 🔥" in piped.stdout.decode("utf-8")


def on_terminal(*arguments: str, **changes: str) -> str:
    """What a command prints on a terminal of 80 columns."""
    import pty  # noqa: PLC0415 - POSIX only

    shown: list[bytes] = []

    def read(descriptor: int) -> bytes:
        data = os.read(descriptor, 65536)
        shown.append(data)
        return data

    command = ["env", "COLUMNS=80", "TERM=xterm", *(f"{key}={value}" for key, value in changes.items())]
    pty.spawn([*command, f"PYTHONPATH={environment()['PYTHONPATH']}", *PROGRAM, *arguments], read)
    return b"".join(shown).decode("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
def test_colour_on_a_terminal_only_and_not_with_no_color(sample: str, call: Call) -> None:
    assert ESCAPE not in call("--db", sample, "search", "klystron").out
    assert ESCAPE in on_terminal("--db", sample, "search", "klystron")
    assert ESCAPE not in on_terminal("--db", sample, "search", "klystron", NO_COLOR="1")
    assert ESCAPE not in on_terminal("--db", sample, "search", "klystron", TERM="dumb")


def test_sql_is_a_table_on_a_terminal_and_tabs_elsewhere(sample: str, call: Call) -> None:
    statement = "SELECT entry_id, author FROM enhanced_entries WHERE entry_id = 'TP-0465'"
    assert call("--db", sample, "sql", statement).out == "entry_id\tauthor\nTP-0465\tK. Ferreira\n"
    assert "TP-0465  | K. Ferreira" in on_terminal("--db", sample, "sql", statement)


def test_help_of_a_process_comes_without_a_logbook(tmp_path: Path) -> None:
    done = run("--help", env=environment(ARIEL_LITE_DB="absent.db", ARIEL_LITE_CONFIG="absent.yml"), cwd=tmp_path)
    assert done.returncode == 0
    assert lines(done.stdout)[0].startswith("Usage: ariel-lite")


def test_a_long_word_behind_a_hanging_indent_fits(call: Call, sample: str) -> None:
    for mode in ("keyword", "rag"):
        out = call("--db", sample, "search", "--mode", mode, "klystron" * 50).out
        assert max(columns(line) for line in out.splitlines()) <= 80, mode


def test_a_name_and_its_value_never_run_together(call: Call, sample: str, tmp_path: Path) -> None:
    made = {"id": "L1", "text": "a", "metadata": {"Beam current of the day": "500 mA", "Shift": "owl"}}
    source = write_entries(tmp_path / "l.jsonl", [made])
    assert call("--db", "l.db", "ingest", "--adapter", "generic_json", "--source", source).code == 0
    shown = call("--db", "l.db", "show", "L1").out.splitlines()
    assert shown[shown.index("Beam current of the day") + 1] == "              500 mA"
    assert "Shift         owl" in shown
    assert call("--db", "l.db", "enhance", "--module", "text_embedding").code == 0
    assert "vector tables text_embeddings_all_minilm_l6_v2 1 entries, in use" in call("--db", "l.db", "status").out


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_list_of_commands_imports_nothing_heavy(option: str) -> None:
    done = run(option, env=environment(PYTHONPROFILEIMPORTTIME="1"))
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines(done.stderr)}
    assert "click" in imported
    assert not imported & {"pydantic", "numpy", "httpx", "bs4", "yaml", "rich", "apsw", "psycopg", "onnxruntime"}
