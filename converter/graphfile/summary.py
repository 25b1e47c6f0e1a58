"""Section "summary": what the opening view and the reports say about one graph file before anything else is read."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.graphfile import graph_pb2
from converter.graphfile.columns import clean
from converter.graphfile.content import GraphContent, GraphSide
from converter.graphfile.messages import encode_message
from converter.judge.reasons import CATALOGUE
from converter.judge.verdict import Cause, FirstDivergence, Status, Verdicts
from converter.match.pairing import How
from converter.tree.columns import NodeKind, Tree

MADE_BY_THE_CONVERTER = (NodeKind.ROOT, NodeKind.API_COLLECTION, NodeKind.UNPLACED)


def encode_summary(content: GraphContent) -> graph_pb2.Summary:
    """The summary message; all counts are taken from the columns."""
    target, golden, pairing = content.target, content.golden, content.pairing
    message = graph_pb2.Summary(
        step=content.step,
        rank=content.rank,
        target=_side(target, pairing.pair_of_target if pairing else None),
        mode=content.comparison.mode if content.comparison else target.origin.task,
        micro_steps=max(1, target.tree.micro_steps, golden.tree.micro_steps if golden else 1),
        warnings=map(encode_message, content.warnings),
        provenance=_provenance(content),
        overflow_check=content.overflow_check,
    )
    if golden is not None:
        message.golden.CopyFrom(_side(golden, pairing.pair_of_golden if pairing else None))
    if content.mapping is not None:
        message.mapping.name, message.mapping.text = clean(content.mapping.name), clean(content.mapping.text)
    if pairing is not None:
        message.pairs.CopyFrom(graph_pb2.PairCounts(total=pairing.count, **_counts(pairing.how, How)))
        for rule in pairing.rules:
            message.mapping.rules.add(scope=clean(rule.scope), source=clean(rule.source), target=clean(rule.target), line=rule.line,
                                      hits=rule.hits)
        for pair in pairing.proposals:
            message.proposals.add(target_nodes=pair.target, golden_nodes=pair.golden, relation=int(pair.relation),
                                  confidence=pair.confidence, evidence=clean(pair.evidence),
                                  evidence_message=encode_message(pair.evidence, with_text=False))
    if content.comparison is not None:
        message.compared_tensors = int(np.count_nonzero((content.comparison.target_row >= 0) & (content.comparison.golden_row >= 0)))
    if content.verdicts is not None and golden is not None:
        _add_verdicts(message, content.verdicts, target.tree, golden.tree)
    return message


def _add_verdicts(message: graph_pb2.Summary, verdicts: Verdicts, target: Tree, golden: Tree) -> None:
    message.status.CopyFrom(graph_pb2.StatusCounts(**_counts(verdicts.status, Status)))
    message.status.not_comparable += int(np.count_nonzero(verdicts.status == Status.NONE))  # nothing in it was compared
    message.causes.CopyFrom(graph_pb2.CauseCounts(**_counts(verdicts.cause, Cause)))
    for found, place in ((verdicts.forward, message.forward), (verdicts.backward, message.backward)):
        if found is not None:
            place.CopyFrom(_divergence(found, target, golden))
    for difference in verdicts.parameters:
        message.parameters.add(target=clean(difference.target), golden=map(clean, difference.golden), error=difference.error,
                               target_node=difference.target_node, pair=difference.pair, gradient=difference.gradient)
    uncompared = verdicts.uncompared_parameters
    if uncompared is not None:
        message.uncompared_parameters.CopyFrom(graph_pb2.UncomparedParameters(
            count=uncompared.count, target=clean(uncompared.target), target_node=uncompared.target_node,
            reason=_text(uncompared.reason_en, uncompared.reason_zh)))
    masks = np.concatenate([verdicts.row_reasons, verdicts.reasons])
    used = int(np.bitwise_or.reduce(masks)) if len(masks) else 0
    for reason in CATALOGUE:
        if used >> reason.code & 1:
            message.reasons.add(code=reason.code, id=reason.id, text=_text(reason.en, reason.zh), severity=reason.severity)
    message.policy.name, message.policy.text = verdicts.policy_name, clean(verdicts.policy_text)


def unmatched_count(tree: Tree, pair_of: NDArray[np.int32]) -> int:
    """Nodes of the dump that are in no pair. Nodes that the converter made (root, collections) are not counted."""
    return int(np.count_nonzero((pair_of < 0) & ~np.isin(tree.kind, MADE_BY_THE_CONVERTER)))


def _side(side: GraphSide, pair_of: NDArray[np.int32] | None) -> graph_pb2.Side:
    tree, origin = side.tree, side.origin
    return graph_pb2.Side(
        path=clean(origin.path), framework=clean(origin.framework), task=clean(origin.task), level=clean(origin.level),
        summary_mode=clean(origin.summary_mode), tensor_directory=clean(origin.tensor_directory), toolkit=clean(origin.toolkit),
        nodes=max(0, tree.count - 1),
        modules=int(np.count_nonzero(tree.kind == NodeKind.MODULE)),
        apis=int(np.count_nonzero(tree.kind == NodeKind.API)),
        unmatched=unmatched_count(tree, pair_of) if pair_of is not None else 0,
    )


def _divergence(found: FirstDivergence, target: Tree, golden: Tree) -> graph_pb2.FirstDivergence:
    return graph_pb2.FirstDivergence(
        target=clean(target.names[found.target_node]) if found.target_node >= 0 else "",
        golden=[clean(golden.names[node]) for node in found.golden_nodes],
        kind=found.kind,
        error=found.error,
        reason=_text(found.reason_en, found.reason_zh),
        after=clean(target.names[found.after]) if found.after >= 0 else "",
        target_node=found.target_node,
        golden_node=found.golden_nodes[0] if found.golden_nodes else -1,
        pair=found.pair,
        micro_step=found.micro_step,
    )


def _provenance(content: GraphContent) -> graph_pb2.Provenance:
    origin = content.provenance
    return graph_pb2.Provenance(
        tool=origin.tool, command=map(clean, origin.command), created=origin.created,
        inputs=[graph_pb2.FileHash(name=clean(name), size=size, crc32=f"{crc32:08x}") for name, size, crc32 in origin.inputs],
    )


def _text(en: str, zh: str) -> graph_pb2.Text:
    return graph_pb2.Text(en=clean(en), zh=clean(zh))


def _counts(column: NDArray[np.uint8], meaning: type[IntEnum]) -> dict[str, Any]:
    numbers = np.bincount(column, minlength=max(meaning) + 1)
    return {member.name.lower(): int(numbers[member]) for member in meaning if member.name != "NONE"}
