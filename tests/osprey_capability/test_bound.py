"""The capability as a class of Osprey's, over a stand-in for Osprey: the names and signatures that it offers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from logbooks import entry

import ariel_lite
from ariel_lite import open_logbook

CHECKOUT = Path(ariel_lite.__file__).resolve().parent.parent

OSPREY = {
    "base/errors.py": """
from dataclasses import dataclass
from enum import Enum

class ErrorSeverity(Enum):
    CRITICAL = "critical"
    RETRIABLE = "retriable"

@dataclass
class ErrorClassification:
    severity: ErrorSeverity
    user_message: str | None = None
    metadata: dict | None = None
""",
    "base/examples.py": """
from dataclasses import dataclass
from pydantic import BaseModel, ConfigDict

PlannedStep = dict

@dataclass
class OrchestratorExample:
    step: dict
    scenario_description: str
    context_requirements: dict | None = None
    notes: str | None = None

@dataclass
class ClassifierExample:
    query: str
    result: bool
    reason: str

class ClassifierActions(BaseModel):
    pass

class TaskClassifierGuide(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    instructions: str
    examples: list[ClassifierExample]
    actions_if_true: ClassifierActions

class OrchestratorGuide(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    instructions: str
    examples: list[OrchestratorExample]
    priority: int = 0
""",
    "base/capability.py": """
class BaseCapability:
    objective = ""
    contexts = {}

    def get_task_objective(self):
        return self.objective

    def get_required_contexts(self, constraint_mode="hard"):
        assert constraint_mode == "soft"
        return self.contexts

    def store_output_context(self, context):
        return {context.CONTEXT_TYPE: context.get_summary()}
""",
    "base/decorators.py": "def capability_node(cls):\n    return cls\n",
    "context/base.py": """
from typing import ClassVar
from pydantic import BaseModel

class CapabilityContext(BaseModel):
    CONTEXT_TYPE: ClassVar[str] = ""
    CONTEXT_CATEGORY: ClassVar[str] = ""
""",
    "prompts/base.py": """
from abc import ABC, abstractmethod

class FrameworkPromptBuilder(ABC):
    @abstractmethod
    def get_role(self): ...

    @abstractmethod
    def get_instructions(self): ...
""",
    "utils/config.py": "def get_config_value(name, default=None):\n    return default\n",
}

SCRIPT = """
import asyncio, json
from types import SimpleNamespace
from datetime import datetime, timezone
from ariel_lite.errors import DatabaseQueryError
from ariel_lite.osprey import bound

capability = bound.LogbookSearchCapability()
capability.objective = "klystron trips"
start, end = (datetime(2026, 3, day, tzinfo=timezone.utc) for day in (3, 6))
capability.contexts = {"TIME_RANGE": SimpleNamespace(start_date=start, end_date=end)}
stored = asyncio.run(capability.execute())
guide, tasks = capability._create_orchestrator_guide(), capability._create_classifier_guide()
builder = bound.LogbookSearchPromptBuilder()
print(json.dumps({
    "stored": stored["LOGBOOK_SEARCH_RESULTS"],
    "severity": capability.classify_error(DatabaseQueryError("busy"), {}).severity.name,
    "examples": [len(guide.examples), len(tasks.examples)],
    "steps": [example.step["context_key"] for example in guide.examples],
    "role": builder.get_role(),
    "task": builder.get_task(),
    "instructions": builder.get_instructions(),
}))
"""


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the script says about the bound classes."""
    folder = tmp_path_factory.mktemp("osprey")
    for name, text in OSPREY.items():
        place = folder / "osprey" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    with open_logbook(folder / "logbook.db", config={}) as book:
        book.service.backend.upsert(
            [entry("E1", "Klystron trips.", at="2026-03-01T10:00:00"), entry("E2", "Klystron trips again.")]
        )
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ARIEL_LITE_")}
    search_path = os.pathsep.join((str(CHECKOUT), str(folder)))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**kept, "PYTHONPATH": search_path, "ARIEL_LITE_DB": str(folder / "logbook.db")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_step_searches_within_its_time_range_and_stores_the_results(answer: Any) -> None:
    assert [shown["entry_id"] for shown in answer["stored"]["entries"]] == ["E2"]
    assert answer["stored"]["time_filtered"]


def test_failures_guides_and_prompts_are_ospreys_own(answer: Any) -> None:
    assert answer["severity"] == "RETRIABLE"
    assert answer["examples"] == [3, 8]
    assert all(key.startswith("ls_") for key in answer["steps"])
    assert answer["role"] == "facility logbook search expert"
    assert answer["task"]
    assert answer["instructions"]
