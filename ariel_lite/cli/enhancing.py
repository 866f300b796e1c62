"""`enhance` and `reembed`: run the enhancers over the entries that wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import click

from ariel_lite.cli.failures import INTERRUPTED
from ariel_lite.cli.layout import one_line
from ariel_lite.cli.output import Output
from ariel_lite.cli.progress import progress
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.embeddings.base import model_table
from ariel_lite.enhancement.base import EnhancementReport, Enhancer
from ariel_lite.errors import ARIELException, InvalidRequestError, ModuleNotEnabledError
from ariel_lite.present import error_document
from ariel_lite.registry import ENHANCERS
from ariel_lite.service import ARIELSearchService

EMBEDDING = "text_embedding"
FAILURES_SHOWN = 5


@click.command("enhance")
@click.option("--module", metavar="NAME", help="Run only this enhancer.")
@click.option("--force", is_flag=True, help="Enhance every entry anew.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N entries for each enhancer.")
@json_option
@pass_session
def enhance(session: Session, module: str | None, force: bool, limit: int | None) -> None:
    """Add what entries lack: keywords and summaries, then vectors for searching by meaning.

    Only entries that are new or were edited are worked on, and after them those that failed in an earlier run. It may
    be stopped and run again, and several may run at once: they share the work, and what a dead one held is taken over
    after some minutes. Exit 1 when an entry failed; an enhancer that cannot work does not keep the others from it.
    """
    with session.writing() as service:
        runs = run_enhancers(service, enabled_enhancers(service, module), limit=limit, force=force)
    conclude(session, runs, "run 'ariel-lite enhance' again to go on")


@click.command("reembed")
@click.option("--model", metavar="NAME", help="The model, if not the configured one.")
@click.option("--continue", "proceed", is_flag=True, help="Go on with a run that was stopped.")
@click.option("--drop", is_flag=True, help="Only forget the model's vectors.")
@json_option
@pass_session
def reembed(session: Session, model: str | None, proceed: bool, drop: bool) -> None:
    """Make the vectors of all entries anew, as after another version of a model."""
    if drop and proceed:
        raise InvalidRequestError("--drop and --continue were both given", hint="choose one of them")
    name = model or session.config.vector_model
    with session.writing() as service:
        if drop:
            dropped = _drop(service, name)
        else:
            config = service.config.with_vector_model(name)
            enhancer = service.registry.load(ENHANCERS, EMBEDDING).create_enhancer(config, service.registry)
            runs = run_enhancers(service, [enhancer], force=not proceed)
    if not drop:
        option = f" --model {model}" if model else ""
        conclude(session, runs, f"run 'ariel-lite reembed{option} --continue' to go on")
    elif session.output.as_json:
        session.output.document({"model": name, "dropped": dropped})
    else:
        session.output.text(f"forgot the vectors of {dropped:,} entries")


@dataclass(frozen=True)
class EnhancerRun:
    """What an enhancer did, how many entries still wait for it, the fault that ended it early, and whether it was to
    do all there was."""

    report: EnhancementReport
    waiting: int | None
    fault: ARIELException | None = None
    unlimited: bool = False


def enabled_enhancers(service: ARIELSearchService, only: str | None = None) -> list[Enhancer]:
    """The enhancers that the configuration does not switch off, in the order they are to run; or the one named.

    Raises:
        ConfigurationError: an unknown name (ModuleNotEnabledError: a disabled one), or an enhancer cannot be made.
    """
    registry, config = service.registry, service.config
    if only is not None:
        registry.load(ENHANCERS, only)
        if not config.is_enhancement_module_enabled(only):
            raise ModuleNotEnabledError(f"the enhancer {only} is switched off in the configuration", hint="enable it")
    names = (
        [only] if only else [name for name in registry.names(ENHANCERS) if config.is_enhancement_module_enabled(name)]
    )
    made: list[Enhancer] = [registry.load(ENHANCERS, name).create_enhancer(config, registry) for name in names]
    return sorted(made, key=lambda enhancer: enhancer.order)


def run_enhancers(
    service: ARIELSearchService, enhancers: Sequence[Enhancer], *, limit: int | None = None, force: bool = False
) -> list[EnhancerRun]:
    """Run enhancers one after the other, with a bar. Ctrl-C ends it: the last report says so then.

    Raises:
        ConfigurationError, EmbeddingGenerationError, GenerationError: the only enhancer cannot work at all. Of several,
            the others go on, and its run holds the fault.
    """
    runs: list[EnhancerRun] = []
    for enhancer in enhancers:
        partial = EnhancementReport(enhancer.name, interrupted=True)
        try:
            report = _run(service, enhancer, partial, limit=limit, force=force)
        except KeyboardInterrupt:
            report = partial
        except ARIELException as fault:
            if len(enhancers) == 1:
                raise
            runs.append(EnhancerRun(replace(partial, interrupted=False), None, fault))
            continue
        waiting = max(enhancer.pending(service.backend) - len(report.failed), 0)
        runs.append(EnhancerRun(report, waiting, unlimited=limit is None))
        if report.interrupted:
            break
    return runs


def conclude(session: Session, runs: Sequence[EnhancerRun], how_to_go_on: str) -> None:
    """Print what was done; exit 130 after Ctrl-C, 1 when entries failed, and as the fault of an enhancer says."""
    if session.output.as_json:
        session.output.document({"modules": [run_document(run) for run in runs]})
    else:
        for run in runs:
            _print_run(session.output, run)
    if any(run.report.interrupted for run in runs):
        session.output.note(f"interrupted; what is done stays: {how_to_go_on}")
        raise click.exceptions.Exit(INTERRUPTED)
    for run in runs:
        if run.fault is not None:
            raise click.exceptions.Exit(run.fault.exit_code)
    if any(run.report.failed for run in runs):
        raise click.exceptions.Exit(1)


def run_document(run: EnhancerRun) -> dict[str, object]:
    """The JSON shape of an enhancer's run."""
    report = run.report
    document = {
        "module": report.module,
        "done": report.done,
        "blank": report.blank,
        "failed": report.failed,
        "waiting": run.waiting,
        "interrupted": report.interrupted,
    }
    return document | (error_document(run.fault) if run.fault is not None else {})


def _run(
    service: ARIELSearchService, enhancer: Enhancer, partial: EnhancementReport, *, limit: int | None, force: bool
) -> EnhancementReport:
    """Run an enhancer; `partial` holds what is stored so far, for when it is interrupted."""
    backend = service.backend
    waiting = backend.status().entries if force else enhancer.pending(backend)
    with progress(enhancer.name, waiting if limit is None else min(waiting, limit)) as advance:

        def count(done: int) -> None:
            partial.done += done
            advance(done)

        return enhancer.run(backend, limit=limit, force=force, progress=count)


def _drop(service: ARIELSearchService, name: str) -> int:
    tables = [table.table_name for table in service.backend.embedding_tables()]
    if model_table(name) not in tables:
        raise InvalidRequestError(
            f"there are no vectors of a model {name}", hint=f"tables of vectors: {', '.join(tables) or 'none'}"
        )
    return service.backend.drop_vectors(name)


def _print_run(output: Output, run: EnhancerRun) -> None:
    report = run.report
    parts = [f"{report.done:,} entries done"]
    parts += [f"{report.blank:,} without text"] if report.blank else []
    parts += [f"{len(report.failed):,} failed"] if report.failed else []
    parts += [f"{run.waiting:,} still waiting"] if run.waiting else []
    output.text(f"{report.module}: {', '.join(parts)}")
    if run.fault is not None:
        output.label(f"{report.module} stopped", f"{run.fault.message}; {run.fault.hint}", "error")
    if run.waiting and run.unlimited and not report.interrupted:
        output.label(
            "note", "another run holds those that wait, or they are new; what a dead run held is free again soon"
        )
    for entry_id, reason in list(report.failed.items())[:FAILURES_SHOWN]:
        output.label(one_line(entry_id), reason, "warning")
    if len(report.failed) > FAILURES_SHOWN:
        output.text(f"and {len(report.failed) - FAILURES_SHOWN:,} more failed", "warning")
