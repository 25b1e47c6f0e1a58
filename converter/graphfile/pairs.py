"""Sections "pairs" and "verdicts": which nodes belong together, how that was found, and how each pair was judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.graphfile import graph_pb2
from converter.graphfile.columns import F32, I32, U8, U32, ColumnError, clean, pack, unpack
from converter.graphfile.messages import decode_message, encode_message
from converter.judge.verdict import Verdicts
from converter.match.pairing import How, Layout, Pair, Pairing, Relation, RuleHits


def encode_pairs(pairing: Pairing) -> graph_pb2.Pairs:
    """All columns of the pairing; confidence is kept in steps of 1/255."""
    return graph_pb2.Pairs(
        pair_count=pairing.count,
        target_count=pack(np.diff(pairing.target_end, prepend=0), U32),
        target_delta=pack(np.diff(pairing.target_nodes, prepend=0), I32),
        golden_count=pack(np.diff(pairing.golden_end, prepend=0), U32),
        golden_delta=pack(np.diff(pairing.golden_nodes, prepend=0), I32),
        relation=pack(pairing.relation, U8),
        how=pack(pairing.how, U8),
        confidence=pack(np.rint(np.clip(pairing.confidence, 0.0, 1.0) * 255), U8),
        evidence=pack(pairing.evidence, U32),
        evidence_texts=map(clean, pairing.evidence_texts),
        evidence_messages=[encode_message(text, with_text=False) for text in pairing.evidence_texts],
        aliases=[
            graph_pb2.Alias(golden_class=golden_class, target=target, golden=golden)
            for (golden_class, target), golden in pairing.aliases.items()
        ],
        layouts=[
            graph_pb2.GroupLayout(pair=pair, kind=layout.kind, heads=layout.heads, kv_heads=layout.kv_heads, shards=layout.shards)
            for pair, layout in sorted(pairing.layouts.items())
        ],
    )


def decode_pairs(message: graph_pb2.Pairs, summary: graph_pb2.Summary, target_count: int, golden_count: int) -> Pairing:
    """The pairing of two trees of the given node counts; rules and proposals lie in the summary. Raises ColumnError."""
    count = message.pair_count
    target_end = np.cumsum(unpack(message.target_count, U32, count), dtype=np.int32)
    golden_end = np.cumsum(unpack(message.golden_count, U32, count), dtype=np.int32)
    target_nodes = _nodes(message.target_delta, target_end)
    golden_nodes = _nodes(message.golden_delta, golden_end)
    return Pairing(
        target_end=target_end,
        target_nodes=target_nodes,
        golden_end=golden_end,
        golden_nodes=golden_nodes,
        relation=unpack(message.relation, U8, count),
        how=unpack(message.how, U8, count),
        confidence=unpack(message.confidence, U8, count).astype(np.float32) / np.float32(255),
        evidence=unpack(message.evidence, U32, count).astype(np.int32),
        evidence_texts=_evidence_texts(message),
        pair_of_target=_pair_of(target_nodes, target_end, target_count),
        pair_of_golden=_pair_of(golden_nodes, golden_end, golden_count),
        aliases={(alias.golden_class, alias.target): alias.golden for alias in message.aliases},
        proposals=[
            Pair(tuple(proposal.target_nodes), tuple(proposal.golden_nodes), Relation(proposal.relation), How.STRUCTURAL,
                 proposal.confidence, decode_message(proposal.evidence_message, proposal.evidence))
            for proposal in summary.proposals
        ],
        layouts={entry.pair: Layout(entry.kind, entry.heads, entry.kv_heads, entry.shards) for entry in message.layouts},
        rules=[RuleHits(rule.scope, rule.source, rule.target, rule.line, rule.hits) for rule in summary.mapping.rules],
    )


def _evidence_texts(message: graph_pb2.Pairs) -> list[str]:
    if len(message.evidence_messages) != len(message.evidence_texts):  # written before there were codes
        return list(message.evidence_texts)
    return [decode_message(encoded, text) for encoded, text in zip(message.evidence_messages, message.evidence_texts)]


def _nodes(data: bytes, end: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.cumsum(unpack(data, I32, int(end[-1]) if len(end) else 0), dtype=np.int32)


def _pair_of(nodes: NDArray[np.int32], end: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    if len(nodes) and not 0 <= nodes.min() <= nodes.max() < count:
        raise ColumnError(f"a pair names node {nodes.max()} of {count}")
    pair_of = np.full(count, -1, np.int32)
    pair_of[nodes] = np.repeat(np.arange(len(end), dtype=np.int32), np.diff(end, prepend=0))
    return pair_of


def encode_verdicts(verdicts: Verdicts) -> graph_pb2.Verdicts:
    """The per-pair columns; those per row lie in the comparison blocks."""
    return graph_pb2.Verdicts(
        pair_count=len(verdicts.status),
        status=pack(verdicts.status, U8),
        cause=pack(verdicts.cause, U8),
        error=pack(verdicts.error, F32),
        input_error=pack(verdicts.input_error, F32),
        parameter_error=pack(verdicts.parameter_error, F32),
        reasons=pack(verdicts.reasons, U32),
    )
