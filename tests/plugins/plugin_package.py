"""A small third-party package, as a wheel that pip installs: a mode, an adapter, an enhancer, a provider, a backend."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

NAME, VERSION = "tunnel_tools", "1.0"

MODE = '''
"""Entries by the number of their words."""
import anyio.to_thread
from pydantic import Field
from ariel_lite.backends.values import SearchPlan
from ariel_lite.query.nodes import Everything
from ariel_lite.search.base import FoundEntry, ParameterDescriptor, SearchArguments, SearchOutcome, SearchToolDescriptor

class LongestArguments(SearchArguments):
    least_words: int = Field(default=1, ge=1)

def run(context, arguments):
    ids = [hit.entry_id for hit in context.backend.search(SearchPlan(Everything(), 1000))]
    entries = [e for e in context.backend.get_entries(ids) if len(e["raw_text"].split()) >= arguments.least_words]
    entries.sort(key=lambda e: -len(e["raw_text"].split()))
    found = tuple(FoundEntry(e, float(len(e["raw_text"].split()))) for e in entries[: arguments.max_results])
    return SearchOutcome(found, sentence="the longest entries")

async def execute(context, arguments):
    return await anyio.to_thread.run_sync(run, context, arguments)

def format_result(outcome):
    return {"results_found": len(outcome.found)}

def get_parameter_descriptors():
    return [ParameterDescriptor("least_words", "Least words", "How many words at least", "int", 1, 1)]

def get_tool_descriptor():
    return SearchToolDescriptor(
        "longest_search", "The longest entries first.", "longest", LongestArguments, execute, format_result, run=run
    )
'''

ADAPTER = '''
"""One entry a line: id, time, text, between bars."""
from datetime import datetime
from pathlib import Path
from ariel_lite.ingestion.base import IncomingEntry, SourceFacts

source_system_name = "Tunnel Diary"

class DiaryAdapter:
    source_system_name = source_system_name
    supports_write = False
    requires_write_auth = False

    def __init__(self, options):
        self._path = Path(options.source)
        self.facts = SourceFacts()

    def fetch_entries(self, since=None, until=None, limit=None):
        return self._all()

    async def _all(self):
        for number, line in enumerate(self._path.read_text(encoding="utf-8").splitlines(), start=1):
            entry_id, time, text = line.split("|", 2)
            yield IncomingEntry(
                {
                    "entry_id": entry_id, "source_system": source_system_name,
                    "timestamp": datetime.fromisoformat(time), "author": "", "raw_text": text, "metadata": {},
                },
                number,
            )
        self.facts.complete = True

    async def count_entries(self):
        return None

def create_adapter(options):
    return DiaryAdapter(options)
'''

ENHANCER = '''
"""Counts the entries."""
from ariel_lite.enhancement.base import EnhancementReport

class Counter:
    """Counts the entries and leaves them as they are."""

    name = "entry_counter"
    order = 90

    def pending(self, backend):
        return 0

    def run(self, backend, *, limit=None, force=False, progress=lambda done: None):
        return EnhancementReport(self.name, done=backend.status().entries)

def create_enhancer(config, registry):
    return Counter()
'''

PROVIDER = '''
"""Vectors from the letters of a text."""
import numpy as np

class Letters:
    name = "letters"
    dimension = 27
    fingerprint = "letters-1"
    recommended_threshold = 0.1

    def embed(self, texts, *, query=False):
        made = np.zeros((len(texts), 27), dtype=np.float32)
        made[:, 26] = 0.01
        for row, text in enumerate(texts):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    made[row, ord(letter) - 97] += 1
        return made / np.linalg.norm(made, axis=1, keepdims=True)

def create_provider(config, model):
    return Letters()
'''

BACKEND = '''
"""The SQLite backend under an address of its own: tunnel://<file>."""
from ariel_lite.backends.sqlite.backend import open_backend as open_file

def open_backend(location, config, *, create=False, read_only=False):
    return open_file(location.removeprefix("tunnel://"), config, create=create, read_only=read_only)
'''

ENTRY_POINTS = f"""\
[ariel_lite.search_modules]
longest = {NAME}.mode
[ariel_lite.adapters]
tunnel_diary = {NAME}.adapter
[ariel_lite.enhancers]
entry_counter = {NAME}.enhancer
[ariel_lite.embedding_providers]
letters = {NAME}.provider
[ariel_lite.backends]
tunnel = {NAME}.backend
"""

FILES = {
    f"{NAME}/__init__.py": "",
    f"{NAME}/mode.py": MODE,
    f"{NAME}/adapter.py": ADAPTER,
    f"{NAME}/enhancer.py": ENHANCER,
    f"{NAME}/provider.py": PROVIDER,
    f"{NAME}/backend.py": BACKEND,
    f"{NAME}-{VERSION}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n",
    f"{NAME}-{VERSION}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{NAME}-{VERSION}.dist-info/entry_points.txt": ENTRY_POINTS,
}


def write_wheel(folder: Path) -> Path:
    """The package as a wheel; its path."""
    wheel = folder / f"{NAME}-{VERSION}-py3-none-any.whl"
    record = f"{NAME}-{VERSION}.dist-info/RECORD"
    with zipfile.ZipFile(wheel, "w") as archive:
        lines = []
        for name, text in FILES.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(text.encode())}")
        archive.writestr(record, "\n".join([*lines, f"{record},,", ""]))
    return wheel
