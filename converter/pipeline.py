"""A whole conversion, from options to a directory of graph files.

1. check     options, mapping file, policy, matches: everything that can be wrong before hours of work
2. find      the (step, rank) pairs of both sides
3. convert   each of them (rank_task.py: read, match, compare, judge), in processes; one that fails takes no other along
4. write     into a hidden directory beside the result; the manifest last; then one rename makes it visible
5. report    JSON report, pairs, csv, junit, timings, each written in one piece

Nothing half-written is left in the output directory, whatever happens.
"""

from __future__ import annotations

import datetime
import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Optional

from converter.dumps.layout import RankDirectory, find_ranks, pair_ranks
from converter.engine import run_here, run_in_processes, run_on_ray
from converter.errors import UserError
from converter.graphfile.manifest import MANIFEST_NAME, ManifestEntry, graph_file_name, manifest_bytes
from converter.graphfile.source import is_remote
from converter.judge.policy import load_policy
from converter.match.mapping_file import read_mapping
from converter.match.mapping_report import Unknown, refuse_unknown
from converter.match.mapping_rules import MappingFile, empty_mapping
from converter.match.pins import read_pins
from converter.options import Options
from converter.outputs.tables import WANTED_TABLES, table_texts
from converter.rank_task import RankTask, convert_rank, write_rank
from converter.remote import exists, local_dump, mirror_names, remove, rename, write_file
from converter.report import graph_report, whole_report
from converter.version import TOOL

HIDDEN_PREFIX = ".unfinished_"


@dataclass(frozen=True)
class RankOutcome:
    """What a finished rank hands back to the conversion (small; the graph file is written where it was converted)."""

    step: int
    rank: int
    report: dict[str, Any]
    tables: dict[str, str] = field(default_factory=dict)  # --pairs, --csv, --junit: this rank's part of the text
    unknown: Optional[list[Unknown]] = None
    timings: dict[str, float] = field(default_factory=dict)
    compared: int = 0  # rows that were compared
    error: str = ""  # why this rank could not be converted


@dataclass(frozen=True)
class Conversion:
    """The result of `convert`."""

    directory: str  # what was written
    report: dict[str, Any]
    outcomes: list[RankOutcome]
    warnings: list[str]


def convert(options: Options, progress: Any) -> Conversion:
    """Run a conversion.

    Args:
        progress: a Progress, or anything with its methods.
    Raises:
        UserError: bad input; the output directory is left as it was.
    """
    mapping = _mapping(options)
    policy = load_policy(options.policy)
    pins = read_pins(options.matches) if options.matches else None
    ranks, warnings = _ranks(options)
    created = _now()
    jobs = min(options.jobs or os.cpu_count() or 1, len(ranks))
    spare = max((options.jobs or os.cpu_count() or 1) // jobs, 1)
    tasks = [
        RankTask(
            step,
            rank,
            target,
            golden,
            options.target,
            options.golden,
            options.match,
            mapping,
            pins,
            policy,
            options.overflow_check,
            TOOL,
            tuple(options.command),
            created.isoformat(timespec="seconds").replace("+00:00", "Z"),
            tensor_jobs=spare,
            read_apart=spare > 1,
        )
        for step, rank, target, golden in ranks
    ]
    kind = "compare" if options.golden else "build"
    directory = _free_name(options.output, f"{kind}_{created.strftime('%Y%m%d%H%M%S')}")
    hidden = os.path.join(options.output, HIDDEN_PREFIX + os.path.basename(directory))
    made = _make_output(options.output)
    finished = False
    try:
        tables = [name for name in WANTED_TABLES if getattr(options, name)]
        outcomes = list(_run(options, tasks, hidden, tables, jobs, progress))
        outcomes.sort(key=lambda outcome: (outcome.step, outcome.rank))
        good = [outcome for outcome in outcomes if not outcome.error]
        if mapping is not None and good:
            refuse_unknown(mapping, [outcome.unknown or [] for outcome in good])
        if not good:
            raise UserError(
                outcomes[0].error
                if len(outcomes) == 1
                else f"none of the {len(outcomes)} ranks could be converted; the first: {outcomes[0].error}"
            )
        entries = [ManifestEntry(outcome.step, outcome.rank, graph_file_name(outcome.step, outcome.rank)) for outcome in good]
        write_file(f"{hidden}/{MANIFEST_NAME}", [manifest_bytes(kind, TOOL, tasks[0].created, entries)])
        report = whole_report(TOOL, list(options.command), [_entry(outcome, os.path.basename(directory)) for outcome in outcomes])
        _write_reports(options, report, outcomes)
        rename(hidden, directory)
        finished = True
    except OSError as error:
        raise UserError(f"{error.filename or options.output} cannot be written: {error.strerror or error}") from error
    finally:
        if not finished:
            remove(hidden)
            for folder in made:
                _remove_if_empty(folder)
    warnings += [f"step {outcome.step} rank {outcome.rank} was left out: {outcome.error}" for outcome in outcomes if outcome.error]
    return Conversion(directory, report, outcomes, warnings)


def _now() -> datetime.datetime:
    """The time that results are stamped with: SOURCE_DATE_EPOCH (seconds, for reproducible results) or now; UTC."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    if fixed.isdecimal():
        return datetime.datetime.fromtimestamp(int(fixed), datetime.timezone.utc)
    return datetime.datetime.now(datetime.timezone.utc)


def _mapping(options: Options) -> Optional[MappingFile]:
    if options.mapping:
        return read_mapping(options.mapping)
    return empty_mapping() if options.match == "mapping" and options.golden else None


def _ranks(options: Options) -> tuple[list[tuple[int, int, str, str]], list[str]]:
    """(step, rank, target directory, golden directory or "") of everything to convert, and warnings."""
    target, warnings = _find(options.target)
    if not options.golden:
        return [(rank.step, rank.rank, rank.path, "") for rank in target], warnings
    golden, more = _find(options.golden)
    pairs, unpaired = pair_ranks(target, golden)
    return [(a.step, a.rank, a.path, b.path) for a, b in pairs], warnings + more + unpaired


def _find(path: str) -> tuple[list[RankDirectory], list[str]]:
    """find_ranks for local paths and addresses."""
    if not is_remote(path):
        return find_ranks(path)
    with tempfile.TemporaryDirectory(prefix="tb_graph_ascend_") as mirror:
        mirror_names(path, mirror)
        try:
            ranks, warnings = find_ranks(mirror)
        except UserError as error:
            raise UserError(str(error).replace(mirror, path)) from None
        found = [replace(rank, path=path.rstrip("/") + rank.path[len(mirror):].replace(os.sep, "/")) for rank in ranks]
        return found, [text.replace(mirror, path) for text in warnings]


def _free_name(output: str, name: str) -> str:
    """A directory name that is not taken: a second conversion within one second gets a suffix."""
    candidate, number = os.path.join(output, name), 2
    while exists(candidate):
        candidate = os.path.join(output, f"{name}_{number}")
        number += 1
    return candidate


def _make_output(output: str) -> list[str]:
    """Make the output directory; returns the folders that were made, innermost first."""
    made: list[str] = []
    if is_remote(output):
        return made
    folder = os.path.abspath(output)
    while not os.path.exists(folder):
        made.append(folder)
        folder = os.path.dirname(folder)
    try:
        os.makedirs(output, exist_ok=True)
    except OSError as error:
        raise UserError(f"the output directory {output} cannot be made: {error.strerror or error}") from error
    if not os.access(output, os.W_OK):
        raise UserError(f"the output directory {output} cannot be written to: choose another one with -o")
    return made


def _remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass


def _run(options: Options, tasks: list[RankTask], hidden: str, tables: list[str], jobs: int, progress: Any) -> Iterator[RankOutcome]:
    """Outcomes as they come; the progress is told of each."""
    arguments = (hidden, tables)
    if options.engine == "ray":
        outcomes: Iterator[RankOutcome] = run_on_ray(run_task, tasks, arguments, options.jobs)
    elif jobs == 1:
        outcomes = run_here(run_task, tasks, arguments, progress.update)
    else:
        outcomes = run_in_processes(run_task, tasks, arguments, jobs)
    for outcome in outcomes:
        progress.rank_done(_told(outcome))
        yield outcome


def _told(outcome: RankOutcome) -> str:
    place = f"step {outcome.step} rank {outcome.rank}"
    return f"{place} failed: {outcome.error}" if outcome.error else f"{place} done"


def run_task(
    task: RankTask, hidden: str, tables: list[str], progress: Optional[Callable[[str, float], None]] = None
) -> RankOutcome:
    """One rank: convert and write its graph file. Bad input becomes an outcome with an error."""
    try:
        with local_dump(task.target) as target, local_dump(task.golden) as golden:
            data = convert_rank(replace(task, target=target, golden=golden), progress)
    except UserError as error:
        return RankOutcome(task.step, task.rank, {}, error=str(error))
    start = time.perf_counter()
    file = graph_file_name(task.step, task.rank)
    write_rank(data, lambda chunks: write_file(f"{hidden}/{file}", chunks))
    texts = table_texts(data.content, tables)
    data.timings["write"] = time.perf_counter() - start
    rows = data.content.comparison.rows if data.content.comparison is not None else 0
    return RankOutcome(task.step, task.rank, graph_report(data, file), texts, data.unknown, data.timings, rows)


def _entry(outcome: RankOutcome, directory: str) -> dict[str, Any]:
    if outcome.error:
        return {"step": outcome.step, "rank": outcome.rank, "file": None, "error": outcome.error, "warnings": []}
    return {**outcome.report, "file": f"{directory}/{outcome.report['file']}"}


def _write_reports(options: Options, report: dict[str, Any], outcomes: list[RankOutcome]) -> None:
    texts = {}
    if options.report:
        texts[options.report] = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    for name in WANTED_TABLES:
        path = getattr(options, name)
        if path:
            header, footer = WANTED_TABLES[name]
            texts[path] = header + "".join(outcome.tables.get(name, "") for outcome in outcomes) + footer
    if options.timings:
        stages = ("read", "match", "compare", "judge", "write")
        sums = {stage: sum(outcome.timings.get(stage, 0.0) for outcome in outcomes) for stage in stages}
        texts[options.timings] = json.dumps(sums, indent=1) + "\n"
    for path, text in texts.items():
        write_file(path, [text.encode("utf-8")])
