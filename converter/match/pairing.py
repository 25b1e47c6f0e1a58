"""What the matching steps return: which target nodes correspond to which golden nodes, how, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from converter.messages import message

NodesOfPair = tuple[tuple[int, ...], tuple[int, ...]]


class Relation(IntEnum):
    """How the two sides of a pair belong together. Numbers as in proto/graph.proto."""

    SAME = 0
    CONCAT = 1  # one side's tensor is the concatenation of the other side's
    SUM = 2
    STACK = 3


class How(IntEnum):
    """Which step made the pair. Numbers as in proto/graph.proto."""

    EXACT = 0
    MAPPING = 1
    NORMALISED = 2
    FUZZY = 3
    STRUCTURAL = 4
    MANUAL = 5


@dataclass(frozen=True)
class Layout:
    """How the parts of a fused tensor lie in it, as the mapping file says (docs/mapping.md). Matters for elements, not for statistics."""

    kind: str  # stacked: one part behind the other; per_group: one block per key/value head; per_shard: stacked within each shard
    heads: int = 0  # per_group: query heads; 0 = not given
    kv_heads: int = 0  # per_group: key/value heads; 0 = not given
    shards: int = 0  # per_shard: tensor parallel size; 0 = not given


SAME_NAME = message("evidence.same_name", "same name")
SAME_PATH = message("evidence.same_path", "same path")
# Evidence of an API pair between different code: it was found by equal outputs (or by its forward twin's), so that
# tensors of it that do not agree prove nothing.
EQUAL_OUTPUTS = message("evidence.same_api_outputs", "same API with equal output statistics")


@dataclass(frozen=True)
class Pair:
    """One correspondence while it is being made. Node numbers are those of the two trees, in call order."""

    target: tuple[int, ...]
    golden: tuple[int, ...]
    relation: Relation
    how: How
    confidence: float  # 0..1
    evidence: str  # a Message: "same name", "rule TransformerLayer.self_attention (line 7)", …


@dataclass(frozen=True)
class RuleHits:
    """One rule of the mapping file in force, with how many pairs it made."""

    scope: str
    source: str
    target: str
    line: int
    hits: int


@dataclass(frozen=True)
class Pairing:
    """All pairs of two trees, numbered by their first target node. A node is in at most one pair.

    The columns are compressed rows: pair p joins target_nodes[target_end[p-1]:target_end[p]] with
    golden_nodes[golden_end[p-1]:golden_end[p]].
    """

    target_end: NDArray[np.int32]
    target_nodes: NDArray[np.int32]
    golden_end: NDArray[np.int32]
    golden_nodes: NDArray[np.int32]
    relation: NDArray[np.uint8]
    how: NDArray[np.uint8]
    confidence: NDArray[np.float32]
    evidence: NDArray[np.int32]  # id into evidence_texts
    evidence_texts: list[str]
    pair_of_target: NDArray[np.int32]  # [target nodes]: pair number, -1 = unmatched
    pair_of_golden: NDArray[np.int32]
    # Leaf aliases that a mapping file adds: (golden class or "", target parameter) → golden parameter.
    aliases: dict[tuple[str, str], str] = field(default_factory=dict)
    proposals: list[Pair] = field(default_factory=list)
    layouts: dict[int, Layout] = field(default_factory=dict)  # pair number → layout that the mapping file gives for a group
    rules: list[RuleHits] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.relation)

    def first_target_nodes(self) -> NDArray[np.int64]:
        """[pairs] the first target node of each pair, which stands for the pair wherever one node is asked for."""
        return _firsts(self.target_nodes, self.target_end)

    def first_golden_nodes(self) -> NDArray[np.int64]:
        """[pairs] the first golden node of each pair."""
        return _firsts(self.golden_nodes, self.golden_end)

    def target_nodes_of(self, pair: int) -> list[int]:
        """All target nodes of one pair."""
        return _of_pair(self.target_nodes, self.target_end, pair)

    def golden_nodes_of(self, pair: int) -> list[int]:
        """All golden nodes of one pair."""
        return _of_pair(self.golden_nodes, self.golden_end, pair)

    def nodes(self) -> list[NodesOfPair]:
        """(target nodes, golden nodes) of every pair, in pair order."""
        return list(zip(_split(self.target_nodes, self.target_end), _split(self.golden_nodes, self.golden_end)))


def _firsts(nodes: NDArray[np.int32], end: NDArray[np.int32]) -> NDArray[np.int64]:
    return nodes[end - np.diff(end, prepend=0)].astype(np.int64)


def _of_pair(nodes: NDArray[np.int32], end: NDArray[np.int32], pair: int) -> list[int]:
    found: list[int] = nodes[end[pair - 1] if pair else 0 : end[pair]].tolist()
    return found


def _split(nodes: NDArray[np.int32], end: NDArray[np.int32]) -> list[tuple[int, ...]]:
    flat, ends = nodes.tolist(), end.tolist()
    return [tuple(flat[start:stop]) for start, stop in zip([0, *ends[:-1]], ends)]
