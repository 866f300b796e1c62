"""A run that is stopped: Ctrl-C between batches, kill -9 anywhere; the next run completes it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ariel_lite.backends.sqlite.backend import open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.interrupts import InterruptShield

PROGRAM = """
import json, sys
from ariel_lite.backends.sqlite.backend import open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.ingestion import pipeline
from ariel_lite.ingestion.adapters.generic_json import create_adapter
from ariel_lite.ingestion.base import AdapterOptions

pipeline.BATCH_ENTRIES = int(sys.argv[3])
backend = open_backend(sys.argv[1], ARIELConfig(), create=True)
adapter = create_adapter(AdapterOptions(sys.argv[2]))

def told(done):
    print(done, flush=True)

report = pipeline.ingest(backend, adapter, source_label="s", progress=told)
backend.close()
print(json.dumps(report.to_dict()), flush=True)
sys.exit(report.exit_code)
"""


def start(database: Path, source: Path, batch: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", PROGRAM, str(database), str(source), str(batch)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def source_of(folder: Path, count: int) -> Path:
    (folder / "note.txt").write_text("a note")
    lines = [
        {
            "id": str(n),
            "timestamp": 1772700000 + n,
            "text": f"entry {n} of the run",
            "attachments": ["note.txt"] if n % 40 == 0 else [],
        }
        for n in range(count)
    ]
    path = folder / "source.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


@pytest.mark.skipif(os.name == "nt", reason="signals of a console are another matter there")
def test_ctrl_c_finishes_the_batch_and_the_next_run_goes_on(tmp_path: Path) -> None:
    source, database = source_of(tmp_path, 3000), tmp_path / "logbook.db"
    process = start(database, source, 20)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "20"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    report = json.loads(out.splitlines()[-1])
    assert (process.returncode, err, report["interrupted"]) == (1, "", True)
    assert report["added"] % 20 == 0
    backend = open_backend(str(database), ARIELConfig())
    assert backend.status().entries == report["added"]
    assert backend.check() == []
    (run,) = backend.runs()
    assert (run.status, run.metadata["interrupted"], run.metadata.get("watermark")) == ("failed", True, None)
    backend.close()
    out, _ = start(database, source, 4000).communicate(timeout=60)
    again = json.loads(out.splitlines()[-1])
    assert (again["unchanged"], again["added"]) == (report["added"], 3000 - report["added"])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
@pytest.mark.parametrize(("kills", "entries"), [(5, 200), pytest.param(20, 4000, marks=pytest.mark.slow)])
def test_in26_kill_9_at_random_points_loses_nothing_acknowledged(tmp_path: Path, kills: int, entries: int) -> None:
    source, database, chance = source_of(tmp_path, entries), tmp_path / "logbook.db", random.Random(26)
    acknowledged = 0
    for _ in range(kills):
        process = start(database, source, 10)
        time.sleep(chance.uniform(0.3, 1.0))
        process.kill()
        out, _ = process.communicate(timeout=60)
        counts = [int(line) for line in out.splitlines() if line.isdigit()]
        acknowledged = max(acknowledged, sum(counts))
        if database.exists() and database.stat().st_size:
            backend = open_backend(str(database), ARIELConfig())
            assert backend.status().entries >= acknowledged
            assert backend.check() == []
            backend.close()
    process = start(database, source, 10)
    out, err = process.communicate(timeout=60)
    report = json.loads(out.splitlines()[-1])
    assert (process.returncode, err) == (0, "")
    assert report["added"] + report["unchanged"] == entries
    backend = open_backend(str(database), ARIELConfig())
    assert sorted(backend.entry_ids(), key=int) == [str(n) for n in range(entries)]
    assert backend.check() == []
    assert backend.status().attachments == entries // 40
    backend.close()


def write(shield: InterruptShield, interrupts: int, steps: list[str]) -> None:
    with shield.writing():
        for _ in range(interrupts):
            signal.raise_signal(signal.SIGINT)
        steps.append(f"finished after {interrupts}")


def test_an_interrupt_while_writing_waits_and_a_second_does_not() -> None:
    before = signal.getsignal(signal.SIGINT)
    steps: list[str] = []
    with InterruptShield() as shield:
        write(shield, 0, steps)
        with pytest.raises(KeyboardInterrupt):
            write(shield, 1, steps)
        write(shield, 0, steps)
        with pytest.raises(KeyboardInterrupt):
            write(shield, 2, steps)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert steps == ["finished after 0", "finished after 1", "finished after 0"]
    assert signal.getsignal(signal.SIGINT) is before
