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
import traceback
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Callable, Optional

from converter.dumps.layout import RankDirectory, find_ranks, pair_ranks
from converter.engine import KILLED, run_here, run_in_processes, run_on_ray
from converter.errors import UserError
from converter.graphfile.manifest import MANIFEST_NAME, UNFINISHED_PREFIX, ManifestEntry, graph_file_name, manifest_bytes
from converter.graphfile.source import is_remote
from converter.judge.policy import Policy, load_policy
from converter.match.mapping_file import parse_mapping, read_mapping
from converter.match.mapping_report import Unknown, refuse_unknown
from converter.match.mapping_rules import MappingFile, empty_mapping
from converter.match.pins import KeptMapping, Pins, read_pins
from converter.messages import message, with_replaced
from converter.options import Options, as_text
from converter.outputs.tables import WANTED_TABLES, table_frame, table_texts
from converter.rank_task import RankData, RankTask, convert_rank, write_rank
from converter.remote import exists, is_local_file, local_dump, mirror_names, read_chunks, remove, rename, write_file
from converter.report import graph_report, whole_report
from converter.version import TOOL

PARTS = "parts"  # directory of the ranks' parts of tables, while a conversion runs


@dataclass(frozen=True)
class RankOutcome:
    """What a finished rank hands back to the conversion (small; the graph file is written where it was converted)."""

    step: int
    rank: int
    report: dict[str, Any]
    tables: dict[str, str] = field(default_factory=dict)  # --pairs, --csv, --junit: the file with this rank's part
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
    pins = read_pins(options.matches) if options.matches else None
    mapping = _mapping(options, pins.mapping if pins else None)
    policy = load_policy(options.policy)
    _check_reports(options)
    ranks, warnings = _ranks(options)
    progress.expect(len(ranks))
    created = _now()
    jobs = min(options.jobs or os.cpu_count() or 1, len(ranks))
    spare = 1 if options.engine == "ray" else max((options.jobs or os.cpu_count() or 1) // jobs, 1)
    tasks = _tasks(options, ranks, mapping, pins, policy, created, spare)
    kind = "compare" if options.golden else "build"
    made = _make_output(options.output)
    hidden, finished = "", False
    try:
        directory, hidden = _claim(options.output, f"{kind}_{created.strftime('%Y%m%d%H%M%S')}")
        tables = [name for name in WANTED_TABLES if getattr(options, name)]
        outcomes = list(_run(options, tasks, hidden, tables, jobs, progress))
        outcomes.sort(key=lambda outcome: (outcome.step, outcome.rank))
        good = _converted(outcomes, mapping, hidden, options.output)
        entries = [ManifestEntry(outcome.step, outcome.rank, graph_file_name(outcome.step, outcome.rank)) for outcome in good]
        write_file(f"{hidden}/{MANIFEST_NAME}", [manifest_bytes(kind, TOOL, tasks[0].created, entries)])
        report = whole_report(TOOL, list(options.command), [_entry(outcome, os.path.basename(directory)) for outcome in outcomes])
        _write_reports(options, report, outcomes)
        if tables:
            remove(f"{hidden}/{PARTS}")
        rename(hidden, directory)
        finished = True
    except OSError as error:
        raise UserError(message("file.unwritable", "{path} cannot be written: {why}",
                                path=error.filename or options.output, why=error.strerror or error)) from error
    finally:
        if not finished:
            if hidden:
                remove(hidden)
            for folder in made:
                _remove_if_empty(folder)
    warnings += [message("convert.rank_left_out", "step {step} rank {rank} was left out: {why}",
                         step=outcome.step, rank=outcome.rank, why=outcome.error) for outcome in outcomes if outcome.error]
    return Conversion(directory, report, outcomes, warnings)


def _tasks(options: Options, ranks: list[tuple[int, int, str, str]], mapping: Optional[MappingFile], pins: Optional[Pins], policy: Policy,
           created: datetime.datetime, spare: int) -> list[RankTask]:
    """One task a (step, rank) pair. `spare`: processors for each of them."""
    return [
        RankTask(
            step,
            rank,
            target,
            golden,
            as_text(options.target),
            as_text(options.golden),
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


def _converted(outcomes: list[RankOutcome], mapping: Optional[MappingFile], hidden: str, output: str) -> list[RankOutcome]:
    """Those that have a graph file in the hidden directory. Raises UserError where there is none, or where something is wrong with all."""
    good = [outcome for outcome in outcomes if not outcome.error]
    if mapping is not None and good:
        refuse_unknown(mapping, [outcome.unknown or [] for outcome in good])
    if not good:
        raise UserError(
            outcomes[0].error
            if len(outcomes) == 1
            else message("convert.no_rank", "none of the {count} ranks could be converted; the first: {why}",
                         count=len(outcomes), why=outcomes[0].error)
        )
    for outcome in good:
        if not exists(f"{hidden}/{graph_file_name(outcome.step, outcome.rank)}"):
            raise UserError(message("convert.elsewhere",
                                    "{output}: the process that converted step {step} rank {rank} wrote it elsewhere: -o must be a "
                                    "place that all processes and machines share",
                                    output=output, step=outcome.step, rank=outcome.rank))
    return good


def _now() -> datetime.datetime:
    """The time that results are stamped with: SOURCE_DATE_EPOCH (seconds, for reproducible results) or now; UTC."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    if fixed.isdecimal():
        return datetime.datetime.fromtimestamp(int(fixed), datetime.timezone.utc)
    return datetime.datetime.now(datetime.timezone.utc)


def _mapping(options: Options, kept: Optional[KeptMapping]) -> Optional[MappingFile]:
    """The layer mapping: of the command line, else the one that the matches file holds."""
    if options.mapping:
        return read_mapping(options.mapping)
    if kept is not None and kept.text.strip() and options.golden:
        if options.match in ("exact", "fuzzy"):
            raise UserError(message("convert.match_without_mapping", "--match {match} uses no layer mapping, but {file} holds one "
                                    "({name}): leave out --match, or take `mapping` out of the file",
                                    match=options.match, file=options.matches, name=kept.name))
        return parse_mapping(kept.text, f"{options.matches}: {kept.name}")
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
            raise UserError(with_replaced(error.told, mirror, path)) from None
        found = [replace(rank, path=path.rstrip("/") + rank.path[len(mirror):].replace(os.sep, "/")) for rank in ranks]
        return found, [with_replaced(text, mirror, path) for text in warnings]


def _claim(output: str, name: str) -> tuple[str, str]:
    """(directory of the result, hidden directory, which is made). A second conversion within one second gets a suffix.

    To make the hidden directory is to claim the name: of two conversions at once only one can, and whoever can later sees the
    result of the first.
    """
    number = 1
    while True:
        suffixed = name if number == 1 else f"{name}_{number}"
        directory, hidden = os.path.join(output, suffixed), os.path.join(output, UNFINISHED_PREFIX + suffixed)
        number += 1
        if is_remote(output):
            if not exists(directory) and not exists(hidden):
                return directory, hidden
            continue
        try:
            os.mkdir(hidden)
        except FileExistsError:
            continue
        if not os.path.lexists(directory):
            return directory, hidden
        os.rmdir(hidden)


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
        raise UserError(message("convert.no_output", "the output directory {output} cannot be made: {why}: choose another one with -o",
                                output=output, why=error.strerror or error)) from error
    return made


def _check_reports(options: Options) -> None:
    """Refuse files of results that could only be found impossible after the work."""
    taken: dict[str, str] = {}
    for name in (*WANTED_TABLES, "report", "timings"):
        path = getattr(options, name)
        if not path:
            continue
        place = path if is_remote(path) else os.path.realpath(path)
        if place in taken and is_local_file(path):
            raise UserError(message("convert.same_file", "--{name} and --{other} both name {path}: give each a file of its own",
                                    name=name, other=taken[place], path=path))
        taken[place] = name
        if not is_remote(path) and (os.path.isdir(place) or path.endswith("/")):
            raise UserError(message("convert.file_is_directory", "--{name} {path} is a directory: name a file in it", name=name, path=path))
        parent = os.path.dirname(place)
        if not is_remote(path) and os.path.exists(parent) and not os.path.isdir(parent):
            raise UserError(message("convert.parent_is_file", "--{name} {path} cannot be written: {parent} is a file",
                                    name=name, path=path, parent=parent))


def _remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass


def _run(options: Options, tasks: list[RankTask], hidden: str, tables: list[str], jobs: int, progress: Any) -> Iterator[RankOutcome]:
    """Outcomes as they come; the progress is told of each."""
    outcomes: Any
    if options.engine == "ray":  # its workers have a current directory of their own
        there = [replace(task, target=_absolute(task.target), golden=_absolute(task.golden)) for task in tasks]
        outcomes = run_on_ray(run_task, there, (_absolute(hidden), tables), _lost, options.jobs)
    elif jobs == 1:
        outcomes = run_here(run_task, tasks, (hidden, tables), progress.update)
    else:
        outcomes = run_in_processes(run_task, tasks, (hidden, tables), jobs, _lost)
    with closing(outcomes):
        for outcome in outcomes:
            progress.rank_done(_told(outcome) if len(tasks) > 1 or not outcome.error else "")  # a single failure is the end, told there
            yield outcome


def _absolute(path: str) -> str:
    return os.path.abspath(path) if path and not is_remote(path) else path


def _lost(task: RankTask, why: str) -> RankOutcome:
    return RankOutcome(task.step, task.rank, {}, error=message("rank.lost", "{path}: {why}", path=task.target, why=why))


def _told(outcome: RankOutcome) -> str:
    place = f"step {outcome.step} rank {outcome.rank}"
    return f"{place} failed: {outcome.error}" if outcome.error else f"{place} done"


def run_task(
    task: RankTask, hidden: str, tables: list[str], progress: Optional[Callable[[str, float], None]] = None
) -> RankOutcome:
    """One rank: convert and write its graph file. Whatever goes wrong with it becomes an outcome with an error.

    Raises OSError when the result cannot be written: that concerns all ranks.
    """
    try:
        with local_dump(task.target) as target, local_dump(task.golden) as golden:
            data = convert_rank(replace(task, target=target, golden=golden), progress)
    except UserError as error:
        return RankOutcome(task.step, task.rank, {}, error=error.told)
    except BrokenProcessPool:
        return _lost(task, KILLED)
    except MemoryError:
        return _lost(task, message("rank.no_memory", "it does not fit into memory: use fewer --jobs, or a machine with more memory"))
    except Exception as error:  # a fault of ours must not take the other ranks along
        return _lost(task, _fault(error))
    try:
        return _written(task, data, hidden, tables)
    except OSError:
        raise
    except Exception as error:
        return _lost(task, _fault(error))


def _written(task: RankTask, data: RankData, hidden: str, tables: list[str]) -> RankOutcome:
    """Write the graph file of a rank; what it adds to reports and tables goes back with the outcome."""
    start = time.perf_counter()
    file = graph_file_name(task.step, task.rank)
    write_rank(data, lambda chunks: write_file(f"{hidden}/{file}", chunks))
    parts = {name: f"{hidden}/{PARTS}/{file}.{name}" for name in tables}  # not in memory: there may be thousands of ranks
    for name, text in table_texts(data.content, tables).items():
        write_file(parts[name], [text.encode("utf-8")])
    data.timings["write"] = time.perf_counter() - start
    rows = data.content.comparison.rows if data.content.comparison is not None else 0
    return RankOutcome(task.step, task.rank, graph_report(data, file), parts, data.unknown, data.timings, rows)


def _fault(error: Exception) -> str:
    """One sentence about an error that nobody thought of, with the place in the code."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = (str(error).strip() or "no text").splitlines()[0][:300]
    place = f"{os.path.basename(os.path.dirname(frame.filename))}/{os.path.basename(frame.filename)}, line {frame.lineno}"
    return message("rank.fault", "a fault of graph-convert, please report it ({kind}: {text}; {place})",
                   kind=type(error).__name__, text=text, place=place)


def _entry(outcome: RankOutcome, directory: str) -> dict[str, Any]:
    if outcome.error:
        return {"step": outcome.step, "rank": outcome.rank, "file": None, "error": outcome.error, "warnings": []}
    return {**outcome.report, "file": f"{directory}/{outcome.report['file']}"}


def _write_reports(options: Options, report: dict[str, Any], outcomes: list[RankOutcome]) -> None:
    if options.report:
        write_file(options.report, [(json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode("utf-8")])
    for name in WANTED_TABLES:
        path = getattr(options, name)
        if path:
            head, tail = (text.encode("utf-8") for text in table_frame(name))
            parts = (read_chunks(outcome.tables[name]) for outcome in outcomes if name in outcome.tables)
            write_file(path, chain([head], chain.from_iterable(parts), [tail]))
    if options.timings:
        stages = ("read", "match", "compare", "judge", "write")
        sums = {stage: sum(outcome.timings.get(stage, 0.0) for outcome in outcomes) for stage in stages}
        write_file(options.timings, [(json.dumps(sums, indent=1) + "\n").encode("utf-8")])
