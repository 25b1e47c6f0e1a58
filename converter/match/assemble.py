"""Single pairs put together to the columns of a Pairing, conflicts refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.match.pairing import SAME_NAME, How, Layout, Pair, Pairing, RuleHits


def assemble(
    target_count: int,
    golden_count: int,
    pairs: list[Pair],
    identical: bool = False,
    proposals: list[Pair] | None = None,
    rules: list[RuleHits] | None = None,
    aliases: dict[tuple[str, str], str] | None = None,
    layouts: dict[tuple[int, ...], Layout] | None = None,
    warnings: list[str] | None = None,
) -> Pairing:
    """Order the pairs by their first target node and lay them out as columns.

    Args:
        identical: the two graphs are node for node the same; every node but the root is paired with its equal and
            `pairs` is not looked at.
        layouts: target nodes of a group → layout that the mapping file gives.
    Raises:
        ValueError: if a node is in two pairs (a fault of the step that made them, never of the user).
    """
    extra: dict[str, Any] = {"aliases": aliases or {}, "proposals": proposals or [], "rules": rules or [], "warnings": warnings or []}
    if identical:
        return _identical(max(target_count - 1, 0), extra)
    ordered = sorted(pairs, key=lambda pair: pair.target[0])
    texts: dict[str, int] = {}
    for pair in ordered:
        texts.setdefault(pair.evidence, len(texts))
    of_nodes = layouts or {}
    extra["layouts"] = {number: of_nodes[pair.target] for number, pair in enumerate(ordered) if pair.target in of_nodes}
    return Pairing(
        target_end=np.cumsum([len(pair.target) for pair in ordered], dtype=np.int32),
        target_nodes=np.array([node for pair in ordered for node in pair.target], np.int32),
        golden_end=np.cumsum([len(pair.golden) for pair in ordered], dtype=np.int32),
        golden_nodes=np.array([node for pair in ordered for node in pair.golden], np.int32),
        relation=np.array([pair.relation for pair in ordered], np.uint8),
        how=np.array([pair.how for pair in ordered], np.uint8),
        confidence=np.array([pair.confidence for pair in ordered], np.float32),
        evidence=np.array([texts[pair.evidence] for pair in ordered], np.int32),
        evidence_texts=list(texts),
        pair_of_target=_pair_of(target_count, [pair.target for pair in ordered], ordered),
        pair_of_golden=_pair_of(golden_count, [pair.golden for pair in ordered], ordered),
        **extra,
    )


def _identical(count: int, extra: dict[str, Any]) -> Pairing:
    """Nodes 1 … count of both sides paired with their equals."""
    nodes = np.arange(1, count + 1, dtype=np.int32)
    partner = np.arange(-1, count, dtype=np.int32)
    return Pairing(
        target_end=nodes,
        target_nodes=nodes.copy(),
        golden_end=nodes,
        golden_nodes=nodes.copy(),
        relation=np.zeros(count, np.uint8),
        how=np.full(count, How.EXACT, np.uint8),
        confidence=np.ones(count, np.float32),
        evidence=np.zeros(count, np.int32),
        evidence_texts=[SAME_NAME],
        pair_of_target=partner,
        pair_of_golden=partner.copy(),
        **extra,
    )


def _pair_of(count: int, nodes_of_pair: list[tuple[int, ...]], pairs: list[Pair]) -> NDArray[np.int32]:
    """Per node of one side its pair, -1 = none. Raises ValueError for a node in two pairs."""
    pair_of = np.full(count, -1, np.int32)
    for number, nodes in enumerate(nodes_of_pair):
        for node in nodes:
            if pair_of[node] >= 0:
                raise ValueError(f"node {node} is in two pairs: {pairs[int(pair_of[node])]} and {pairs[number]}")
            pair_of[node] = number
    return pair_of
