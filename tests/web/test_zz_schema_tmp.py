"""The API against its own description: requests made from the OpenAPI document, right ones and wrong ones."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from asking import MakePage
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from logbooks import PICTURE, entry
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

from ariel_lite.web.app import ROUTES

EXAMPLES = 250
LOCAL = {"Host": "localhost"}


def operations(kind: GenerationMode) -> list[tuple[GenerationMode, str, str]]:
    """(kind, method, path) of everything that the API describes; wrong requests where not every request is right."""
    described = FastAPI()
    for routes in ROUTES:
        described.include_router(routes.router)
    return [
        (kind, method.upper(), path)
        for path, methods in described.openapi()["paths"].items()
        for method, operation in methods.items()
        if kind is GenerationMode.POSITIVE or _is_choosy(operation)
    ]


def _is_choosy(operation: dict[str, Any]) -> bool:
    """True when not every text will do: in a form everything is text."""
    takes_json = "application/json" in operation.get("requestBody", {}).get("content", ())
    return takes_json or any(
        parameter["schema"].keys() & {"minimum", "enum"} for parameter in operation.get("parameters", ())
    )


@pytest.fixture
def backend_name() -> str:
    """The storage makes no difference here."""
    return "sqlite"


@pytest.fixture
def page(make_page: MakePage) -> TestClient:
    return make_page(
        [
            entry("E1", "Beam lost\n\nRF trip", author="A. Smith", tags=["rf"]),
            entry("E2", "Vacuum leak", attachments=[PICTURE], linked_to="E1"),
        ],
        {"web": {"expose_config": True}},
    )


@pytest.mark.parametrize(
    ("kind", "method", "path"), operations(GenerationMode.POSITIVE) + operations(GenerationMode.NEGATIVE)
)
def test_answers_are_as_described(page: TestClient, kind: GenerationMode, method: str, path: str) -> None:
    api = schemathesis.openapi.from_asgi("/openapi.json", page.app, headers=LOCAL)

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(case=api[path][method].as_strategy(generation_mode=kind))
    def check(case: schemathesis.Case) -> None:
        # A right shape may hold a date or a cursor that cannot be read: 400, as described.
        case.call_and_validate(headers=LOCAL, excluded_checks=[positive_data_acceptance])

    check()
