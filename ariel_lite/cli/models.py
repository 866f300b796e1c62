"""`models`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from ariel_lite.backends.values import VectorModel
from ariel_lite.cli.layout import Span
from ariel_lite.cli.output import Output
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.embeddings.base import model_table
from ariel_lite.embeddings.manifest import ModelSpec, faults_of, load_manifest
from ariel_lite.errors import ARIELException, DatabaseConnectionError
from ariel_lite.locations import mask_credentials
from ariel_lite.registry import embedding_provider
from ariel_lite.service import ARIELSearchService


@click.command("models")
@json_option
@pass_session
def models(session: Session) -> None:
    """List the embedding models that come along, and the logbook's vectors.

    Each model's files are read and compared with their hashes; exit 1 when one is damaged or absent.
    """
    bundled = [_bundled(spec) for spec in load_manifest().values()]
    document: dict[str, Any] = {
        "configured": {
            "provider": session.config.search_module("semantic").provider or session.config.embedding.provider,
            "model": session.config.vector_model,
        },
        "models": bundled,
        **_logbook(session),
    }
    if session.output.as_json:
        session.output.document(document)
    else:
        _print(session.output, document)
    if any(model["faults"] for model in bundled):
        raise click.exceptions.Exit(1)


def _bundled(spec: ModelSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "dimension": spec.dimension,
        "max_tokens": spec.max_tokens,
        "recommended_threshold": spec.recommended_threshold,
        "licence": spec.licence,
        "source": spec.source,
        "files": sorted(spec.files),
        "faults": faults_of(spec),
    }


def _logbook(session: Session) -> dict[str, Any]:
    """The logbook's tables of vectors and the counts of the configured model's; why there are none, where so."""
    found: dict[str, Any] = {"database": mask_credentials(session.location), "tables": [], "vectors": None, "note": ""}
    try:
        with session.reading() as service:
            found["tables"] = [
                {"table": table.table_name, "entries": table.entry_count, "dimension": table.dimension}
                for table in service.backend.embedding_tables()
            ]
            found["vectors"] = _counts(service)
    except DatabaseConnectionError as fault:
        found["note"] = f"no logbook: {fault.message}"
    except ARIELException as fault:
        found["note"] = f"the configured model cannot be used: {fault.message}; {fault.hint}"
    return found


def _counts(service: ARIELSearchService) -> dict[str, Any]:
    provider = embedding_provider(service.registry, service.config)
    model = VectorModel(provider.name, provider.dimension, provider.fingerprint)
    counts = service.backend.vector_counts(model)
    return {"model": model.name, "table": model_table(model.name), "fingerprint": model.fingerprint, **asdict(counts)}


def _print(output: Output, document: dict[str, Any]) -> None:
    configured = document["configured"]
    for model in document["models"]:
        in_use = configured["provider"] == "onnx" and configured["model"].casefold() == model["name"].casefold()
        output.line(Span(model["name"], "bold"), ", in use" if in_use else "")
        output.text(
            f"{model['dimension']} dimensions, {model['max_tokens']} tokens, threshold"
            f" {model['recommended_threshold']:g}, {model['licence']}",
            indent="  ",
        )
        if not model["faults"]:
            output.text(f"{len(model['files'])} files, all whole", indent="  ")
        for fault in model["faults"]:
            output.text(fault, "error", indent="  ")
    if configured["provider"] != "onnx":
        output.text(f"in use: {configured['model']} of {configured['provider']}")
    output.line()
    output.text(f"vectors in {document['database']}", "dim")
    _print_vectors(output, document)


def _print_vectors(output: Output, document: dict[str, Any]) -> None:
    vectors = document["vectors"]
    for table in document["tables"]:
        in_use = ", in use" if vectors is not None and vectors["table"] == table["table"] else ""
        output.text(f"{table['table']}: {table['entries']:,} entries, {table['dimension']} dimensions{in_use}")
    if not document["tables"] and not document["note"]:
        output.text("none")
    if vectors is not None:
        output.text(
            f"{vectors['model']}: {vectors['current']:,} current, {vectors['missing']:,} missing,"
            f" {vectors['stale']:,} stale, {vectors['blank']:,} without text"
        )
        if vectors["stale"]:
            output.label("hint", "'ariel-lite reembed' makes stale vectors anew")
        elif vectors["missing"]:
            output.label("hint", "'ariel-lite enhance' makes the missing vectors")
    if document["note"]:
        output.label("note", document["note"], "warning")
