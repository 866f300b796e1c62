"""/docs: the API's schema as one plain page. It comes from this server alone and runs no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

Schema = Mapping[str, Any]

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
section { border-top: 1px solid GrayText; padding: .5rem 0 1rem; }
h2 { font-size: 1.1rem; margin: .5rem 0; }
h3 { font-size: 1rem; margin: .75rem 0 .25rem; }
.method { font-weight: bold; text-transform: uppercase; }
dl { display: grid; gap: .1rem 1rem; grid-template-columns: minmax(8rem, max-content) 1fr; margin: 0 0 .5rem 1rem; }
dt { font-family: ui-monospace, monospace; font-size: .9em; }
dd { margin: 0; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin: 0 0 .4rem 1rem; } }
"""

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The page."""
    return HTMLResponse("".join(page(request.app.openapi())))


@router.get("/docs/style.css")
async def style() -> Response:
    """Its style sheet."""
    return Response(STYLE, media_type="text/css")


def page(document: Schema) -> Iterator[str]:
    """An OpenAPI document as HTML."""
    title = escape(f"{document['info']['title']} {document['info']['version']}: REST API")
    yield (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><link rel="stylesheet" href="/docs/style.css"><main><h1>{title}</h1>'
        f"<p>{escape(document['info']['description'])}</p>"
        '<p>For programs: <a href="/openapi.json">/openapi.json</a>. The page: <a href="/">/</a>.</p>'
    )
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield from _operation(path, method, operation)
    yield "<h1>Shapes</h1>"
    for name, schema in document["components"]["schemas"].items():
        described = escape(schema.get("description", ""))
        yield f'<section id="{escape(name)}"><h2>{escape(name)}</h2><p>{described}</p>'
        yield from _properties(schema)
        yield "</section>"
    yield "</main></html>"


def _operation(path: str, method: str, operation: Schema) -> Iterator[str]:
    yield f'<section><h2><span class="method">{escape(method)}</span> <code>{escape(path)}</code></h2>'
    yield f"<p>{escape(operation.get('description', operation.get('summary', '')))}</p>"
    parameters = operation.get("parameters", [])
    if parameters:
        yield "<h3>Parameters</h3><dl>"
        for parameter in parameters:
            about = _about(parameter["schema"], parameter.get("description", ""))
            yield f"<dt>{escape(parameter['name'])} ({escape(parameter['in'])})</dt><dd>{about}</dd>"
        yield "</dl>"
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<h3>Body ({escape(kind)})</h3><p>{_type(body['schema'])}</p>"
        yield from _properties(body["schema"])
    yield "<h3>Answers</h3><dl>"
    for status, answer in operation["responses"].items():
        shapes = ", ".join(_type(content["schema"]) for content in answer.get("content", {}).values())
        yield f"<dt>{escape(status)}</dt><dd>{escape(answer['description'])}{': ' if shapes else ''}{shapes}</dd>"
    yield "</dl></section>"


def _properties(schema: Schema) -> Iterator[str]:
    properties = schema.get("properties")
    if not properties:
        return
    required = schema.get("required", [])
    yield "<dl>"
    for name, inner in properties.items():
        needed = " *" if name in required else ""
        yield f"<dt>{escape(name)}{needed}</dt><dd>{_about(inner, inner.get('description', ''))}</dd>"
    yield "</dl>"


def _about(schema: Schema, description: str) -> str:
    parts = [_type(schema)]
    limits = [f"{word} {schema[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in schema]
    if limits:
        parts.append(escape(" ".join(limits)))
    if schema.get("default") not in (None, ""):
        parts.append(escape(f"default {schema['default']}"))
    return "; ".join(parts) + (f". {escape(description)}" if description else "")


def _type(schema: Schema) -> str:
    """A schema in a word or two, as HTML."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return escape(" | ".join(map(str, schema["enum"])))
    if "const" in schema:
        return escape(str(schema["const"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("type", "anything")))
