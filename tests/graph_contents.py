"""Contents of graph files for tests: from the real dumps, and with made-up pairs, rows and verdicts over them."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from converter.compare.columns import Comparison, Composition
from converter.compare.rows import measure
from converter.dumps.columns import Leaves
from converter.dumps.reader import read_dump
from converter.graphfile.content import GraphContent, GraphSide, MappingSource, Provenance, side_of
from converter.judge.verdict import FirstDivergence, Note, ParameterDifference, Verdicts
from converter.match.pairing import How, Layout, Pair, Pairing, Relation, RuleHits
from converter.tree.build import build_tree

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


def real_side(name: str) -> GraphSide:
    """The side of a rank directory below tests/data."""
    dump = read_dump(os.path.join(DATA, name))
    return side_of(dump, build_tree(dump), path=name)


def build_content(name: str) -> GraphContent:
    """A single graph."""
    return GraphContent(step=3, rank=1, target=real_side(name), provenance=Provenance("test"))


def compare_content(target_name: str, golden_name: str, seed: int = 0) -> GraphContent:
    """Two real sides with pairs of equal numbers, every leaf joined by position, and random verdicts."""
    target, golden = real_side(target_name), real_side(golden_name)
    pairing = _pairing(target, golden)
    comparison = _comparison(target, golden, pairing)
    return GraphContent(
        step=0, rank=0, target=target, golden=golden, pairing=pairing, comparison=comparison,
        verdicts=_verdicts(comparison, pairing, np.random.default_rng(seed)),
        mapping=MappingSource("映射.yaml", "TopLayer:\n  a: b\n"),
        provenance=Provenance("test", ["graph-convert", "-i", "compare.json"], "2026-11-29T12:00:00Z", [("dump.json", 12, 0xABC)]),
        warnings=["something to know"],
    )


def _pairing(target: GraphSide, golden: GraphSide) -> Pairing:
    count = min(target.tree.count, golden.tree.count) - 1
    assert count > 4
    # Pair 0 joins one target node with two golden ones; node i+1 with node i+2 after that.
    nodes = np.arange(1, count, dtype=np.int32)
    golden_end = np.arange(2, count + 1, dtype=np.int32)
    pair_of_target = np.full(target.tree.count, -1, np.int32)
    pair_of_target[1:count] = np.arange(count - 1)
    pair_of_golden = np.full(golden.tree.count, -1, np.int32)
    pair_of_golden[1] = 0
    pair_of_golden[2 : count + 1] = np.arange(count - 1)
    relation = np.zeros(count - 1, np.uint8)
    relation[0] = Relation.CONCAT
    how = np.resize(np.array(list(How), np.uint8), count - 1)
    return Pairing(
        target_end=nodes, target_nodes=nodes, golden_end=golden_end, golden_nodes=np.arange(1, count + 1, dtype=np.int32),
        relation=relation, how=how, confidence=np.linspace(0, 1, count - 1, dtype=np.float32),
        evidence=np.resize(np.array([0, 1], np.int32), count - 1), evidence_texts=["same name", "规则 7"],
        pair_of_target=pair_of_target, pair_of_golden=pair_of_golden,
        aliases={("", "gamma"): "weight", ("LayerNorm", "beta"): "bias"},
        layouts={0: Layout("per_group", heads=8, kv_heads=2)},
        proposals=[Pair((count,), (count + 1,), Relation.SAME, How.STRUCTURAL, 0.25, "same place")],
        rules=[RuleHits("TopLayer", "a", "b", 2, 5)],
    )


def _comparison(target: GraphSide, golden: GraphSide, pairing: Pairing) -> Comparison:
    target_rows: list[int] = []
    golden_rows: list[int] = []
    ends: list[int] = []
    for pair in range(pairing.count):
        node, other = pair + 1, pair + 2
        mine = list(range(int(target.row_start[node]), int(target.row_end[node])))
        theirs = list(range(int(golden.row_start[other]), int(golden.row_end[other])))
        longest = max(len(mine), len(theirs))
        target_rows += mine + [-1] * (longest - len(mine))
        golden_rows += theirs + [-1] * (longest - len(theirs))
        ends.append(len(target_rows))
    composed, composition = _composed(golden.leaves)
    target_row, golden_row = np.array(target_rows, np.int64), np.array(golden_rows, np.int64)
    golden_row[0] = composition.row
    return Comparison(
        row_end=np.array(ends, np.int64), target_row=target_row, golden_row=golden_row, target=target.leaves, golden=composed,
        target_compositions=[], golden_compositions=[composition],
        errors=measure(target.leaves, target_row, composed, golden_row, [], [composition]),
        ambiguous=np.arange(len(target_row)) % 100 == 7, unavailable={2: ("no file", "没有文件")},
        metrics={"cosine": np.linspace(0, 1, len(target_row))}, layouts={1: "permuted [s,b,h]", len(target_row) - 1: "flattened"},
    )


def _composed(leaves: Leaves) -> tuple[Leaves, Composition]:
    """The leaves with one row behind them that is composed of rows 0 and 1."""
    def longer(column: np.ndarray) -> np.ndarray:
        return np.concatenate([column, column[:1]])

    columns = {name: longer(getattr(leaves, name)) for name in
               ("role", "kind", "name", "type", "dtype", "requires_grad", "present", "statistics")}
    none = np.array([-1], np.int32)
    for name in ("value", "checksum", "data_name"):
        columns[name] = np.concatenate([getattr(leaves, name), none])
    columns["present"][-1] = 15
    columns["statistics"][-1] = (4.0, -1.0, 0.1, 9.0)
    shapes = [*leaves.shapes, (7, 9)]
    columns["shape"] = np.append(leaves.shape, len(shapes) - 1).astype(np.int32)
    return replace(leaves, shapes=shapes, **columns), Composition(leaves.rows, (0, 1), "concat")


def _verdicts(comparison: Comparison, pairing: Pairing, random: np.random.Generator) -> Verdicts:
    rows, pairs = comparison.rows, pairing.count
    error = random.random(pairs).astype(np.float32)
    error[:2] = (np.inf, np.nan)
    divergence = FirstDivergence(pair=2, target_node=3, golden_nodes=(4, 5), kind="introduced", error=0.5, reason_en="Norm differs",
                                 reason_zh="范数不一致", after=2, micro_step=1)
    return Verdicts(
        row_status=random.integers(0, 5, rows).astype(np.uint8), row_reasons=np.full(rows, 1, np.uint32),
        row_error=random.random(rows).astype(np.float32), row_statistic=random.integers(0, 4, rows).astype(np.uint8),
        row_tolerance=np.full(rows, 1e-6, np.float32),
        notes=[Note(rows - 1, 0, {"statistic": "Norm", "target": "1", "golden": "2"}), Note(0, 7, {"side": "target"})],
        status=random.integers(0, 5, pairs).astype(np.uint8), cause=random.integers(0, 7, pairs).astype(np.uint8),
        error=error, input_error=error, parameter_error=error, reasons=np.full(pairs, 1 << 7 | 1, np.uint32),
        forward=divergence, backward=None,
        parameters=[ParameterDifference(4, 5, "m.parameters.weight", ("g.parameters.weight",), 0.25, False)],
        policy_name="default", policy_text="rules: []\n",
    )
