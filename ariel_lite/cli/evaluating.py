"""`eval`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ariel_lite.cli.layout import Line, Span, cut, padded
from ariel_lite.cli.output import Output
from ariel_lite.cli.progress import progress
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import InvalidRequestError
from ariel_lite.evaluation.answers import AnswerSummary
from ariel_lite.evaluation.baseline import (
    BUNDLED,
    Baseline,
    Changes,
    Fall,
    changes,
    falls,
    read_baseline,
    require_fit,
    write_baseline,
)
from ariel_lite.evaluation.collections import Collection, JudgedQuery, Kept, read_collection, read_golden
from ariel_lite.evaluation.metrics import METRICS, Difference, Summary, load_measures
from ariel_lite.evaluation.scorecard import (
    MODES,
    OVERALL,
    ModeScores,
    Scorecard,
    embed,
    embedder,
    evaluate,
    judged_logbook,
    needs_vectors,
    store,
)
from ariel_lite.records import MAX_RESULTS

ALL = "all"
NAME_WIDTH = 17
QUERIES_WIDTH = 7
METRIC_WIDTH = 11
LEAST_DEPTH = 50
FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("eval")
@click.option("--collection", type=FOLDER, metavar="DIR", help="Judge on docs.jsonl, queries.jsonl and qrels.tsv.")
@click.option("--golden", type=FILE, metavar="FILE", help="Judge on this golden set instead of the bundled one.")
@click.option("--mode", metavar="MODE", default=ALL, help="keyword, semantic, hybrid, another mode, or all (default).")
@click.option(
    "--kept",
    type=click.Choice(["all", "only", "without"]),
    default="all",
    help="Of a golden set: all queries, only those kept for checking, or the others.",
)
@click.option(
    "--depth",
    type=click.IntRange(LEAST_DEPTH, MAX_RESULTS),
    default=MAX_RESULTS,
    show_default=True,
    metavar="N",
    help=f"Results asked for, {LEAST_DEPTH} to {MAX_RESULTS}.",
)
@click.option("--work", type=FOLDER, metavar="FOLDER", help="Keep the logbook with its vectors here, to use it again.")
@click.option("--baseline", type=FILE, metavar="FILE", help="Compare with this file, or record it.")
@click.option("--record", is_flag=True, help="Record the figures as the baseline instead of comparing.")
@json_option
@pass_session
def evaluation(
    session: Session,
    collection: Path | None,
    golden: Path | None,
    mode: str,
    kept: Kept,
    depth: int,
    work: Path | None,
    baseline: Path | None,
    record: bool,
) -> None:
    """Measure how well the search modes find what judges call relevant.

    The bundled golden set is used unless another is named. The documents are put into a logbook made for it; yours is
    not touched. Collections are asked in plain words without a threshold, golden sets as users ask.

    mrr counts the first relevant result of all that were asked for. Intervals are 95 % bootstrap intervals. A change
    against the baseline is better, worse, or noise (its paired interval holds 0). The exit code is 1 when a class of
    queries is below the baseline by more than 0.02 in nDCG@10 or recall@50.

    For a mode that answers (rag), besides: how many queries of each class it answered, how many of the entries it
    cites are relevant (precision), how many of its sentences stand word for word in their source.
    """
    load_measures()
    judged = _judged(collection, golden)
    _check_recording(judged, collection, kept, baseline, record=record)
    path, stored = (None, None) if record else _stored(judged, baseline)
    queries = judged.chosen(kept)
    if not queries:
        raise InvalidRequestError("no query is left", hint="a collection has no kept queries; leave out --kept")
    card = _run(session.config, judged, queries, mode, depth, work)
    outcome = _Outcome(
        card, depth, path, changes(card, stored) if stored else {}, falls(card, stored) if stored else []
    )
    if session.output.as_json:
        session.output.document(_document(outcome))
    else:
        _print(session.output, outcome)
    if record:
        write_baseline(baseline or BUNDLED, card, session.config.vector_model)
        session.output.note(f"recorded as {baseline or BUNDLED}")
    if outcome.fallen:
        raise click.exceptions.Exit(1)


@dataclass(frozen=True)
class _Outcome:
    """What there is to tell: the figures, and how they stand to those of a baseline's file."""

    card: Scorecard
    depth: int
    baseline: Path | None
    changes: Changes
    fallen: list[Fall]


def _judged(folder: Path | None, golden: Path | None) -> Collection:
    if folder is not None and golden is not None:
        raise InvalidRequestError("--collection and --golden were both given", hint="choose one of them")
    return read_golden(golden) if folder is None else read_collection(folder)


def _check_recording(
    judged: Collection, folder: Path | None, kept: Kept, baseline: Path | None, *, record: bool
) -> None:
    """A baseline is of all queries, and the package's is of its own golden set."""
    if not record:
        return
    if kept != "all":
        raise InvalidRequestError("--record needs all queries", hint="leave out --kept")
    own = folder is None and judged.fingerprint == read_golden().fingerprint
    if baseline is None and not own:
        raise InvalidRequestError("--record needs a file", hint="name it with --baseline")


def _stored(judged: Collection, path: Path | None) -> tuple[Path | None, Baseline | None]:
    """The baseline to compare with and its file: the one named, else the package's where it is of this set."""
    if path is not None:
        named = read_baseline(path)
        require_fit(named, judged, path)
        return path, named
    if not BUNDLED.is_file():
        return None, None
    bundled = read_baseline(BUNDLED)
    return (BUNDLED, bundled) if bundled.fits(judged) else (None, None)


def _run(
    config: ARIELConfig,
    judged: Collection,
    queries: tuple[JudgedQuery, ...],
    mode: str,
    depth: int,
    work: Path | None,
) -> Scorecard:
    with judged_logbook(judged, config, work) as service:
        modes = [name for name in MODES if config.is_search_module_enabled(name)] if mode == ALL else [mode]
        embeds = needs_vectors(service, modes)
        with progress("storing", judged.documents) as storing:
            store(service, judged, storing)
        if embeds:
            with progress("embedding", embedder(service).pending(service.backend)) as embedding:
                embed(service, embedding)
        scores = []
        for name in modes:
            with progress(name, len(queries)) as asking:
                found = evaluate(service, queries, name, plain=judged.plain, depth=depth, progress=asking)
            scores.append(found)
    return Scorecard(judged, tuple(scores))


def _document(outcome: _Outcome) -> dict[str, Any]:
    document = outcome.card.to_dict() | {"depth": outcome.depth}
    for mode, groups in outcome.changes.items():
        document["modes"][mode]["compared"] = {
            group: {metric: _difference(change) for metric, change in metrics.items()}
            for group, metrics in groups.items()
        }
    return document | {
        "baseline": str(outcome.baseline) if outcome.baseline else None,
        "below_floor": [
            {"mode": fall.mode, "class": fall.group, "metric": fall.metric, "value": fall.value, "floor": fall.floor}
            for fall in outcome.fallen
        ],
    }


def _difference(change: Difference) -> dict[str, Any]:
    return {"change": change.change, "interval": [change.low, change.high], "verdict": change.verdict}


def _print(output: Output, outcome: _Outcome) -> None:
    judged = outcome.card.collection
    output.text(f"{judged.name}: {judged.documents:,} documents, {outcome.depth} results asked for", "dim")
    for note in judged.notes:
        output.label("note", note)
    output.line()
    output.line(Span(_row("", "queries", METRICS), "bold"))
    for scores in outcome.card.modes:
        output.lines(_mode_lines(scores))
        for text in _change_texts(outcome.changes.get(scores.mode, {})):
            output.text(text, "dim", indent="  ")
        output.line()
    for fall in outcome.fallen:
        output.label("below the floor", str(fall), "error")


def _mode_lines(scores: ModeScores) -> Iterator[Line]:
    """The table's part of a mode."""
    if scores.summary is not None:
        yield [Span(_figures(scores.mode, scores.summary), "bold")]
        intervals = [scores.summary.intervals[metric] for metric in METRICS]
        yield [Span(_row("  95 %", "", (f"{_short(low)}-{_short(high)}" for low, high in intervals)), "dim")]
    for name, summary in scores.groups.items():
        yield [Span(_figures(f"  {name}", summary))]
    asked = len(scores.without_answer)
    if asked:
        approximate = f", {len(scores.approximate)} approximate only" if scores.approximate else ""
        text = f"{len(scores.unanswered) / asked:.0%} rightly without a result{approximate}"
        yield [Span(f"{padded('  no answer', NAME_WIDTH)}{asked:>{QUERIES_WIDTH}}  {text}")]
    if scores.answers:
        yield from _answer_lines(scores.answered)


def _answer_lines(answered: Mapping[str, AnswerSummary]) -> Iterator[Line]:
    """The answers' part of a mode: by class, "all" first."""
    yield [Span(_row("  answers", "queries", ("answered", "refused", "cited", "precision", "verbatim")), "bold")]
    for name, summary in answered.items():
        shares = [f"{share:.3f}" for share in (summary.precision, summary.verbatim)]
        cells = (f"{summary.answered:.3f}", f"{1 - summary.answered:.3f}", str(summary.cited), *shares)
        yield [Span(_row(f"  {name}", str(summary.queries), cells))]


def _change_texts(groups: Mapping[str, Mapping[str, Difference]]) -> Iterator[str]:
    """What changed: every metric over all queries, and of the classes what is more than noise."""
    for group, metrics in groups.items():
        told = [
            f"{m} {c.change:+.3f} {c.verdict}" for m, c in metrics.items() if group == OVERALL or c.verdict != "noise"
        ]
        if told:
            yield f"{'against the baseline' if group == OVERALL else group}: {', '.join(told)}"


def _figures(name: str, summary: Summary) -> str:
    return _row(name, str(summary.queries), (f"{summary.means[metric]:.3f}" for metric in METRICS))


def _row(name: str, queries: str, cells: Iterable[str]) -> str:
    first = padded(cut(name, NAME_WIDTH), NAME_WIDTH) + f"{queries:>{QUERIES_WIDTH}}"
    return first + "".join(f"{cell:>{METRIC_WIDTH}}" for cell in cells)


def _short(value: float) -> str:
    """A share in four characters: .123, or 1.00."""
    return f"{value:.3f}"[1:] if value < 0.9995 else "1.00"
