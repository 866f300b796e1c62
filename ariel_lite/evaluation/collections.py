"""Judged collections: documents, queries, and which documents answer which query.

Two forms are read. A folder with `docs.jsonl` (id, title, text), `queries.jsonl` (id, text) and `qrels.tsv` (query,
document, grade; a header line may stand above): its queries are plain text. And a golden file of judged queries over a
logbook in the generic JSON format (id, class, query, relevant: id -> grade, kept): its queries are sent as users type
them; those without a relevant entry ask for what is not there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from ariel_lite.bundled import SAMPLE_LOGBOOK, sample_logbook
from ariel_lite.errors import InvalidRequestError
from ariel_lite.ingestion.adapters.generic_json import create_adapter
from ariel_lite.ingestion.base import AdapterOptions, IncomingEntry, Reject, SourceFailure
from ariel_lite.records import EnhancedLogbookEntry

DOCUMENTS, QUERIES, JUDGEMENTS = "docs.jsonl", "queries.jsonl", "qrels.tsv"
GOLDEN = "golden.jsonl"
SAMPLE_ZONE = "America/Halifax"
SOURCE_SYSTEM = "Judged collection"
FIRST_DOCUMENT = datetime(2000, 1, 1, tzinfo=UTC)
"""Documents have no time; each is stored a second after the one before it."""

FORMS = {
    DOCUMENTS: 'each line is {"id": …, "title": …, "text": …}',
    QUERIES: 'each line is {"id": …, "text": …}',
    JUDGEMENTS: "each line is query, document and grade, with tabs between",
    GOLDEN: 'each line is {"id": …, "class": …, "query": …, "relevant": {entry: grade}, "kept": …}',
}

Kept = Literal["all", "only", "without"]


@dataclass(frozen=True)
class JudgedQuery:
    """A query and what answers it: entry id -> grade (1 or more), {} when nothing does.

    `group` is its class, "" in collections without; `kept` ones are for checking, never tuned on.
    """

    query_id: str
    text: str
    relevant: Mapping[str, int]
    group: str = ""
    kept: bool = False


@dataclass(frozen=True)
class Collection:
    """Documents and judged queries.

    Attributes:
        name: the folder's name, or "golden".
        queries: those that have a relevant document, and those that nothing answers.
        documents: how many documents there are.
        entries: reads the documents, as entries.
        zone: the facility's time zone.
        plain: True when queries are mere words.
        documents_hash, fingerprint: of the documents; of documents, queries and judgements (hexadecimal).
        notes: what is odd about the files.
    """

    name: str
    queries: tuple[JudgedQuery, ...]
    documents: int
    entries: Callable[[], Iterator[EnhancedLogbookEntry]]
    zone: str
    plain: bool
    documents_hash: str
    fingerprint: str
    notes: tuple[str, ...] = ()

    def chosen(self, kept: Kept) -> tuple[JudgedQuery, ...]:
        """All queries, only the kept ones, or the others."""
        return tuple(query for query in self.queries if kept == "all" or query.kept == (kept == "only"))


def read_collection(folder: Path) -> Collection:
    """The collection of a folder.

    Raises:
        InvalidRequestError: a file is missing, empty or malformed (the message names file and line), or no query has
            a relevant document.
    """
    paths = {name: folder / name for name in (DOCUMENTS, QUERIES, JUDGEMENTS)}
    known = _document_ids(paths[DOCUMENTS])
    texts = _query_texts(paths[QUERIES])
    judged = _judgements(paths[JUDGEMENTS])
    queries = tuple(JudgedQuery(key, text, judged[key]) for key, text in texts.items() if judged.get(key))
    if not queries:
        raise InvalidRequestError(
            f"no query of {folder} has a relevant document", hint=f"the ids of {JUDGEMENTS} must be those of {QUERIES}"
        )
    documents_hash = _hash(paths[DOCUMENTS])
    return Collection(
        name=folder.resolve().name,
        queries=queries,
        documents=len(known),
        entries=lambda: _documents(paths[DOCUMENTS]),
        zone="UTC",
        plain=True,
        documents_hash=documents_hash,
        fingerprint=_combined(documents_hash, _hash(paths[QUERIES]), _hash(paths[JUDGEMENTS])),
        notes=tuple(_oddities(known, texts, judged)),
    )


def read_golden(path: Path | None = None) -> Collection:
    """The golden set of a file (by default the bundled one), over the `logbook.json` beside it, else the sample.

    Raises:
        InvalidRequestError: a file is missing, empty or malformed; the message names file and line.
        ConfigurationError: the sample did not come along.
    """
    golden = path or sample_logbook().with_name(GOLDEN)
    beside = golden.with_name(SAMPLE_LOGBOOK)
    logbook = beside if beside.is_file() else sample_logbook()
    queries = tuple(_golden_queries(golden))
    entries = list(_logbook_entries(logbook))
    unknown = {key for query in queries for key in query.relevant} - {entry["entry_id"] for entry in entries}
    documents_hash = _hash(logbook)
    return Collection(
        name=golden.stem,
        queries=queries,
        documents=len(entries),
        entries=lambda: iter(entries),
        zone=SAMPLE_ZONE,
        plain=False,
        documents_hash=documents_hash,
        fingerprint=_combined(documents_hash, _hash(golden)),
        notes=(f"{len(unknown)} judged entries are not in {logbook.name}",) if unknown else (),
    )


def _document_ids(path: Path) -> set[str]:
    seen: set[str] = set()
    for line, record in _json_lines(path):
        key = _identifier(path, line, record)
        if key in seen:
            raise _fault(path, line, f"the id {key!r} comes twice")
        seen.add(key)
        _text(path, line, record, "title")
        _text(path, line, record, "text")
    return seen


def _documents(path: Path) -> Iterator[EnhancedLogbookEntry]:
    for place, (line, record) in enumerate(_json_lines(path)):
        title, text = _text(path, line, record, "title"), _text(path, line, record, "text")
        moment = FIRST_DOCUMENT + timedelta(seconds=place)
        yield {
            "entry_id": _identifier(path, line, record),
            "source_system": SOURCE_SYSTEM,
            "timestamp": moment,
            "author": "",
            "raw_text": f"{title}\n\n{text}".strip(),
            "attachments": [],
            "metadata": {"title": title} if title else {},
            "created_at": moment,
            "updated_at": moment,
        }


def _query_texts(path: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    for line, record in _json_lines(path):
        key = _identifier(path, line, record)
        if key in texts:
            raise _fault(path, line, f"the id {key!r} comes twice")
        texts[key] = _required_text(path, line, record, "text")
    return texts


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    """Query id -> document id -> grade, the relevant ones only; queries without any are there too."""
    judged: dict[str, dict[str, int]] = {}
    for line, text in _lines(path):
        fields = [field.strip() for field in (text.split("\t") if "\t" in text else text.split())]
        grade = _grade(fields[2]) if len(fields) == 3 else None
        if grade is None and line == 1 and len(fields) == 3:
            continue
        if grade is None:
            raise _fault(path, line, "there are not three fields with a whole number at the end")
        grades = judged.setdefault(fields[0], {})
        if grade > 0:
            grades[fields[1]] = max(grade, grades.get(fields[1], 0))
    return judged


def _golden_queries(path: Path) -> Iterator[JudgedQuery]:
    seen: set[str] = set()
    for line, record in _json_lines(path):
        key = _identifier(path, line, record)
        relevant = record.get("relevant")
        if key in seen:
            raise _fault(path, line, f"the id {key!r} comes twice")
        if not isinstance(relevant, dict) or not all(type(grade) is int for grade in relevant.values()):
            raise _fault(path, line, "relevant must map entry ids to whole grades")
        seen.add(key)
        yield JudgedQuery(
            key,
            _required_text(path, line, record, "query"),
            {entry_id: grade for entry_id, grade in relevant.items() if grade > 0},
            str(record.get("class") or ""),
            record.get("kept") is True,
        )


def _logbook_entries(path: Path) -> Iterator[EnhancedLogbookEntry]:
    options = AdapterOptions(source=str(path), zone=ZoneInfo(SAMPLE_ZONE))
    for record in create_adapter(options).read():
        if isinstance(record, IncomingEntry):
            yield record.entry
        elif isinstance(record, Reject | SourceFailure):
            raise InvalidRequestError(f"{path} cannot be read as a whole: {record.reason}", hint="repair the logbook")


def _oddities(known: set[str], texts: Mapping[str, str], judged: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Remarks on ids that do not fit together."""
    relevant = {document for grades in judged.values() for document in grades}
    unanswered = sum(not judged.get(key) for key in texts)
    counts = {
        f"queries have no relevant document in {JUDGEMENTS} and do not count": unanswered,
        f"queries of {JUDGEMENTS} are not in {QUERIES}": len(judged.keys() - texts.keys()),
        f"relevant documents are not in {DOCUMENTS} and count as not found": len(relevant - known),
    }
    return (f"{count} {remark}" for remark, count in counts.items() if count)


def _json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line that is not blank."""
    for line, text in _lines(path):
        try:
            record = json.loads(text)
        except ValueError as fault:
            raise _fault(path, line, "it is not JSON") from fault
        if not isinstance(record, dict):
            raise _fault(path, line, "it is not an object")
        yield line, record


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of each line that is not blank; there is at least one."""
    empty = True
    hint = _form(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    empty = False
                    yield number, line.rstrip("\r\n")
    except OSError as fault:
        raise InvalidRequestError(f"{path} cannot be read: {fault.strerror}", hint=hint) from fault
    except UnicodeDecodeError as fault:
        raise InvalidRequestError(f"{path} is not UTF-8", hint="save it as UTF-8") from fault
    if empty:
        raise InvalidRequestError(f"{path} is empty", hint=hint)


def _identifier(path: Path, line: int, record: Mapping[str, Any]) -> str:
    value = record.get("id", record.get("_id"))
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise _fault(path, line, "it has no id")
    return str(value).strip()


def _text(path: Path, line: int, record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise _fault(path, line, f"its {name} is no text")
    return (value or "").strip()


def _required_text(path: Path, line: int, record: Mapping[str, Any], name: str) -> str:
    text = _text(path, line, record, name)
    if not text:
        raise _fault(path, line, f"its {name} is empty")
    return text


def _grade(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _fault(path: Path, line: int, message: str) -> InvalidRequestError:
    return InvalidRequestError(f"{path}, line {line}: {message}", hint=_form(path))


def _form(path: Path) -> str:
    """What a file should look like; a golden file may have any name."""
    return FORMS.get(path.name, FORMS[GOLDEN])


def _hash(path: Path) -> str:
    """Of the lines, however they end."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for line in file:
            digest.update(line.rstrip(b"\r\n") + b"\n")
    return digest.hexdigest()


def _combined(*hashes: str) -> str:
    return hashlib.sha256("".join(hashes).encode("ascii")).hexdigest()
