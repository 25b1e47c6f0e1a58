"""One step and rank: two dump directories in, one graph file and its part of the reports out.

1. read    both dumps (in two processes where that pays) and build their trees
2. match   manual pins, mapping file, automatic steps
3. compare join and measure the tensors of every pair; real tensors if both sides have them
4. judge   under the policy; overflow check if asked for
5. write   the graph file
"""

from __future__ import annotations

import gc
import os
import time
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Optional

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.compare.rows import compare
from converter.compare.tensor_rows import measure_rows
from converter.dumps.columns import Dump
from converter.dumps.reader import read_dump
from converter.graphfile.content import GraphContent, GraphSide, MappingSource, Provenance, side_of
from converter.graphfile.writer import graph_chunks
from converter.judge.judge import judge
from converter.judge.msprobe_rules import judge_like_msprobe
from converter.judge.overflow import overflow_levels
from converter.judge.policy import Policy
from converter.judge.row_facts import row_facts
from converter.judge.tolerance import row_tolerances
from converter.judge.verdict import Verdicts
from converter.match.all_steps import match_graphs
from converter.match.mapping_report import Unknown
from converter.match.mapping_rules import MappingFile
from converter.match.pairing import Pairing
from converter.match.pins import Pins
from converter.messages import message
from converter.processes import submit, worker_pool
from converter.tree.build import build_tree
from converter.tree.columns import Tree
from converter.tree.graph import Graph, graph_of

# From this many bytes of JSON on, the golden side is read in a process of its own.
READ_APART_BYTES = 16_000_000


@dataclass(frozen=True)
class RankTask:
    """What to convert. `golden` is empty for a single graph."""

    step: int
    rank: int
    target: str
    golden: str
    target_as_given: str
    golden_as_given: str
    method: str
    mapping: Optional[MappingFile]
    pins: Optional[Pins]
    policy: Policy
    overflow_check: bool
    tool: str
    command: tuple[str, ...]
    created: str
    tensor_jobs: int = 1
    read_apart: bool = False


@dataclass(frozen=True)
class RankData:
    """Everything known of one step and rank; what goes into the graph file and into the reports."""

    content: GraphContent
    mode: str
    unknown: list[Unknown] = field(default_factory=list)  # scopes of the mapping file that this graph does not have
    timings: dict[str, float] = field(default_factory=dict)  # seconds by stage


def convert_rank(task: RankTask, progress: Callable[[str, float], None] | None = None) -> RankData:
    """Read, match, compare and judge one step and rank. Nothing is written here.

    Raises:
        UserError: bad input.
    """
    collecting = gc.isenabled()
    gc.disable()  # millions of small objects are made and none of them in cycles
    try:
        return _convert(task, progress or (lambda stage, share: None))
    finally:
        if collecting:
            gc.enable()


def write_rank(data: RankData, write: Callable[[Any], int]) -> int:
    """Hand the graph file's bytes to `write` (an iterator of chunks in, the size out)."""
    return write(graph_chunks(data.content))


def _convert(task: RankTask, progress: Callable[[str, float], None]) -> RankData:
    clock = _Clock()
    progress("read", 0.0)
    (dump, tree), other = _read_both(task)
    clock.stop("read")
    target = graph_of(dump, tree)
    provenance = Provenance(
        task.tool, list(task.command), task.created, _inputs("target", dump) + (_inputs("golden", other[0]) if other else [])
    )
    target_side = replace(side_of(dump, tree, task.target_as_given), overflow=_overflow(task, target))
    if other is None:
        content = GraphContent(
            task.step, task.rank, target_side, provenance, overflow_check=task.overflow_check, warnings=dump.warnings + tree.warnings
        )
        return RankData(content, "build", timings=clock.seconds)
    golden_dump, golden_tree = other
    golden = graph_of(golden_dump, golden_tree)
    golden_side = replace(side_of(golden_dump, golden_tree, task.golden_as_given), overflow=_overflow(task, golden))
    progress("match", 0.4)
    pairing, unknown = match_graphs(target, golden, task.method, task.mapping, task.pins, (dump, golden_dump))
    clock.stop("match")
    progress("compare", 0.55)
    mode, mode_warnings = comparison_mode(target_side, golden_side)
    comparison = compare(target, golden, pairing, mode)
    if mode == "tensor":
        directories = (dump.tensor_directory, golden_dump.tensor_directory)
        comparison = measure_elements(comparison, pairing, target, golden, task.policy, directories, task.tensor_jobs)
    clock.stop("compare")
    progress("judge", 0.75)
    verdicts = judge_under(task.policy, comparison, pairing, target, golden)
    clock.stop("judge")
    warnings = (
        [message("target", "target: {text}", text=text) for text in dump.warnings + tree.warnings]
        + [message("golden", "golden: {text}", text=text) for text in golden_dump.warnings + golden_tree.warnings]
        + mode_warnings
        + pairing.warnings
        + comparison.warnings
        + verdicts.warnings
    )
    mapping = MappingSource(task.mapping.name, task.mapping.text) if task.mapping else None
    content = GraphContent(
        task.step, task.rank, target_side, provenance, golden_side, pairing, comparison, verdicts, mapping, task.overflow_check, warnings
    )
    progress("write", 0.85)
    return RankData(content, mode, unknown, clock.seconds)


class _Clock:
    """Seconds by stage, for --timings."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def stop(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def _inputs(side: str, dump: Dump) -> list[tuple[str, int, int]]:
    return [(f"{side}/{name}", size, crc) for name, size, crc in dump.inputs]


def read_tree(directory: str) -> tuple[Dump, Tree]:
    """One dump with its tree; also the work of the process that reads the golden side."""
    gc.disable()
    dump = read_dump(directory)
    return dump, build_tree(dump)


def _read_both(task: RankTask) -> tuple[tuple[Dump, Tree], Optional[tuple[Dump, Tree]]]:
    if not task.golden:
        return read_tree(task.target), None
    if not task.read_apart or min(_json_bytes(task.target), _json_bytes(task.golden)) < READ_APART_BYTES:
        return read_tree(task.target), read_tree(task.golden)
    with worker_pool(1) as pool:
        golden = submit(pool, read_tree, task.golden)
        target = read_tree(task.target)
        return target, golden.result()


def _json_bytes(directory: str) -> int:
    try:
        return os.path.getsize(os.path.join(directory, "dump.json"))
    except OSError:
        return 0


def comparison_mode(target: GraphSide, golden: GraphSide) -> tuple[str, list[str]]:
    """(mode, warnings): structure where a side has no values at all; tensor only if both sides have tensors, checksum if both
    have nothing better, else statistics."""
    a, b = target.origin, golden.origin
    warnings = []
    if a.task != b.task:
        warnings.append(message("mode.tasks", "target is a {target} dump, golden a {golden} dump: compared by what both have",
                                target=a.task or 'unknown', golden=b.task or 'unknown'))
    if a.summary_mode != b.summary_mode and "structure" not in (a.task, b.task):
        warnings.append(message("mode.summary_modes", "target has summary mode {target}, golden {golden}: compared by what both have",
                                target=a.summary_mode, golden=b.summary_mode))
    if a.level and b.level and a.level != b.level:
        warnings.append(message("mode.levels",
                                "target was dumped at level {target}, golden at level {golden}: calls of one side only stay unmatched",
                                target=a.level, golden=b.level))
    if "structure" in (a.task, b.task) or not target.leaves.rows or not golden.leaves.rows:
        return "structure", warnings
    if a.task == b.task == "tensor":
        return "tensor", warnings
    if a.summary_mode in ("md5", "xor") and b.summary_mode in ("md5", "xor"):
        return "checksum", warnings
    return "statistics", warnings


def measure_elements(
    comparison: Comparison, pairing: Pairing, target: Graph, golden: Graph, policy: Policy, directories: tuple[str, str], jobs: int
) -> Comparison:
    """The comparison with its elements measured from the tensor files of both sides (`directories`: target's, golden's)."""
    facts = row_facts(comparison, pairing, target, golden)
    tolerance = row_tolerances(comparison, facts, pairing, target, policy).warning
    layouts = {row: layout for pair, layout in pairing.layouts.items() for row in comparison.rows_of(pair)}
    return measure_rows(
        comparison,
        *directories,
        tolerance,
        same_code_of_row=facts.same_code,
        layout_of_row=layouts,
        jobs=jobs,
    )


def judge_under(policy: Policy, comparison: Comparison, pairing: Pairing, target: Graph, golden: Graph) -> Verdicts:
    """The verdicts of a policy's engine."""
    verdicts = judge(comparison, pairing, target, golden, policy)
    return judge_like_msprobe(verdicts, comparison, pairing, target, golden, policy) if policy.engine == "msprobe" else verdicts


def _overflow(task: RankTask, graph: Graph) -> Optional[NDArray[np.uint8]]:
    return overflow_levels(graph) if task.overflow_check else None
