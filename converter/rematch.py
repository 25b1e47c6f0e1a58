"""Pairs and judges the graphs of one graph file again: other mapping file, other manual matches, other policy.

The viewer's server asks for it. Needs the graph file alone; the dumps only to measure the elements of pairs that were not there before.

1. read     both sides, the pairing and the comparison that are stored
2. match    manual matches, mapping file, automatic steps (match/all_steps.py)
3. compare  join and measure the statistics; elements that were measured before are taken over, those of new pairs are
            measured where the dumps are still there
4. judge    under the wanted policy, or the one of the file
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Optional

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.compare.rows import compare
from converter.dumps.columns import LeafKind
from converter.dumps.tensor_place import DumpGone, find_tensor_directory
from converter.errors import UserError
from converter.graphfile import graph_pb2
from converter.graphfile.comparisons import encode_comparison_blocks
from converter.graphfile.content import GraphContent, GraphSide, MappingSource, Provenance
from converter.graphfile.file import GraphFile
from converter.graphfile.messages import decode_message
from converter.graphfile.pair_errors import SECTION as ERRORS
from converter.graphfile.pair_errors import encode_output_errors
from converter.graphfile.pairs import encode_pairs, encode_verdicts
from converter.graphfile.reader import read_comparison, read_pairing, read_side
from converter.graphfile.summary import encode_summary
from converter.judge.policy import Policy
from converter.match.all_steps import match_graphs
from converter.match.mapping_report import Unknown
from converter.match.mapping_rules import MappingFile
from converter.match.pairing import How, NodesOfPair, Pairing, Relation
from converter.match.pins import Pin, Pins
from converter.messages import message
from converter.rank_task import comparison_mode, judge_under, measure_elements

MATCHED_BY_HAND = "matches of the graph file"

NOT_MEASURED = (
    "the pair is new and the dumps are not there: convert again with these matches to measure its elements",
    "该配对为新增，且原始 dump 不在此处：请使用这些匹配重新转换以逐元素测量",
)


@dataclass(frozen=True)
class Rematch:
    """The new pairs of two graphs with everything that follows from them."""

    content: GraphContent
    before: Pairing
    unknown: list[Unknown] = field(default_factory=list)  # scopes of the mapping file that these graphs do not have

    @property
    def pairing(self) -> Pairing:
        assert self.content.pairing is not None
        return self.content.pairing


@dataclass(frozen=True)
class _CallStacks:
    """The stacks of a graph file by node of the dump."""

    framework: str
    stacks: list[tuple[str, ...]]
    stack: NDArray[np.int32]


def rematch(file: GraphFile, mapping: Optional[MappingFile], pins: Optional[Pins], method: str, policy: Policy, jobs: int = 1) -> Rematch:
    """Pair, compare and judge again what a graph file holds. Nothing is written.

    Args:
        mapping: the mapping file to use; None = none.
        pins: manual matches, applied after those that the file was converted with.
        method: as in match_trees.
    Raises:
        GraphFileError: the file cannot be read.
        UserError: it holds a single graph; rules of the mapping file contradict each other.
    """
    summary = file.summary()
    if "topology/golden" not in file.index.sections:
        raise UserError(message("rematch.single", "{name} holds a single graph: there is nothing to match it with", name=file.source.name))
    target, golden = read_side(file, "target"), read_side(file, "golden")
    before = read_pairing(file)
    earlier = _pins_of_file(before, target, golden)
    both = Pins(pins.name if pins else MATCHED_BY_HAND, (*earlier, *(pins.pins if pins else ())))
    pairing, unknown = match_graphs(
        target, golden, method, mapping, both if both.pins else None, (_stacks_of(target), _stacks_of(golden))
    )
    _, mode_warnings = comparison_mode(target, golden)
    comparison = compare(target, golden, pairing, summary.mode)
    if summary.mode == "tensor":
        stored = read_comparison(file, target, golden)
        comparison = _elements(comparison, stored, pairing, before, target, golden, policy, (summary.step, summary.rank), jobs)
    verdicts = judge_under(policy, comparison, pairing, target, golden)
    of_dumps = [text for text in map(decode_message, summary.warnings) if text.startswith(("target: ", "golden: "))]
    content = GraphContent(
        summary.step,
        summary.rank,
        target,
        _provenance(summary.provenance),
        golden,
        pairing,
        comparison,
        verdicts,
        MappingSource(mapping.name, mapping.text) if mapping else None,
        summary.overflow_check,
        of_dumps + mode_warnings + pairing.warnings + comparison.warnings + verdicts.warnings,
    )
    return Rematch(content, before, unknown)


def rematch_sections(result: Rematch, comparisons: bool) -> dict[str, bytes]:
    """The sections of a graph file that another pairing changes, as protobuf messages by section name."""
    content = result.content
    assert content.golden is not None and content.comparison is not None and content.verdicts is not None
    sections = {
        "summary": encode_summary(content).SerializeToString(deterministic=True),
        "pairs": encode_pairs(result.pairing).SerializeToString(),
        "verdicts": encode_verdicts(content.verdicts).SerializeToString(),
    }
    if comparisons:
        for k, block in enumerate(encode_comparison_blocks(content.comparison, content.verdicts, content.target, content.golden)):
            sections[f"comparisons/{k}"] = block.SerializeToString(deterministic=True)
        sections[ERRORS] = encode_output_errors(content.comparison, content.verdicts).SerializeToString()
    return sections


def changed_pairs(before: Pairing, after: Pairing) -> tuple[list[NodesOfPair], list[NodesOfPair]]:
    """(pairs that only the new pairing has, pairs that only the old one had), each in call order."""
    old, new = before.nodes(), after.nodes()
    known_old, known_new = set(old), set(new)
    return [pair for pair in new if pair not in known_old], [pair for pair in old if pair not in known_new]


def _stacks_of(side: GraphSide) -> _CallStacks:
    return _CallStacks(side.origin.framework, side.stacks, side.stack[side.tree.dump_node >= 0])


def _pins_of_file(pairing: Pairing, target: GraphSide, golden: GraphSide) -> list[Pin]:
    """The manual matches that the file was converted with."""
    if not np.any(pairing.how == How.MANUAL):
        return []
    pairs = pairing.nodes()
    return [
        Pin("match", _names(target, pairs[pair][0]), _names(golden, pairs[pair][1]), Relation(int(pairing.relation[pair])))
        for pair in np.flatnonzero(pairing.how == How.MANUAL).tolist()
    ]


def _names(side: GraphSide, nodes: Sequence[int]) -> tuple[str, ...]:
    return tuple(side.tree.names[node] for node in nodes)


def _provenance(message: graph_pb2.Provenance) -> Provenance:
    inputs = [(entry.name, entry.size, int(entry.crc32 or "0", 16)) for entry in message.inputs]
    return Provenance(message.tool, list(message.command), message.created, inputs)


def _elements(
    comparison: Comparison,
    stored: Comparison,
    pairing: Pairing,
    before: Pairing,
    target: GraphSide,
    golden: GraphSide,
    policy: Policy,
    place: tuple[int, int],
    jobs: int,
) -> Comparison:
    """The comparison with its elements measured: all of them where the dumps are there and a pair is new, else those known."""
    kept = _take_over(comparison, stored, pairing, before)
    new, _ = changed_pairs(before, pairing)
    if not new:
        return kept
    directories = (_tensor_directory(target, *place), _tensor_directory(golden, *place))
    return measure_elements(comparison, pairing, target, golden, policy, directories, jobs) if all(directories) else kept


def _tensor_directory(side: GraphSide, step: int, rank: int) -> str:
    """Where the side's tensor files lie; "" where the dump is no longer there."""
    try:
        return find_tensor_directory(side.origin.path, side.origin.tensor_directory, step, rank)
    except DumpGone:
        return ""


def _take_over(comparison: Comparison, stored: Comparison, pairing: Pairing, before: Pairing) -> Comparison:
    """What was measured of pairs that are still the same, with the same rows."""
    rows_before = dict(zip(before.nodes(), _ranges(stored)))
    metrics = {name: np.full(comparison.rows, np.nan) for name in stored.metrics}
    layouts: dict[int, str] = {}
    unavailable: dict[int, tuple[str, str]] = {}
    for pair, (start, end) in zip(pairing.nodes(), _ranges(comparison)):
        old_start, old_end = rows_before.get(pair, (0, -1))
        if old_end - old_start == end - start:
            for name, column in stored.metrics.items():
                metrics[name][start:end] = column[old_start:old_end]
            for offset in range(end - start):
                if old_start + offset in stored.layouts:
                    layouts[start + offset] = stored.layouts[old_start + offset]
                if old_start + offset in stored.unavailable:
                    unavailable[start + offset] = stored.unavailable[old_start + offset]
            continue
        for row in range(start, end):
            mine, theirs = int(comparison.target_row[row]), int(comparison.golden_row[row])
            if mine >= 0 and theirs >= 0 and comparison.target.kind[mine] == comparison.golden.kind[theirs] == LeafKind.TENSOR:
                unavailable[row] = NOT_MEASURED
    return replace(comparison, metrics=metrics, layouts=layouts, unavailable=unavailable, mode="tensor")


def _ranges(comparison: Comparison) -> list[tuple[int, int]]:
    ends = comparison.row_end.tolist()
    return list(zip([0, *ends[:-1]], ends))
