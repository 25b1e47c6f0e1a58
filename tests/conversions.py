"""Converts real dumps of tests/data in memory, once a test run."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass

import numpy as np

from converter.compare.columns import Comparison
from converter.compare.rows import compare
from converter.judge.judge import judge
from converter.judge.policy import load_policy
from converter.judge.verdict import Status, Verdicts
from converter.match.automatic import match_trees
from converter.match.pairing import Pairing
from converter.rank_task import read_tree
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph, graph_of

DATA = os.path.join(os.path.dirname(__file__), "data")


@dataclass(frozen=True)
class Result:
    """One comparison with everything it came from."""

    target: Graph
    golden: Graph
    pairing: Pairing
    comparison: Comparison
    verdicts: Verdicts

    def pairs(self) -> dict[str, list[str]]:
        """First target node name → golden node names."""
        mine, other = self.target.tree.names, self.golden.tree.names
        return {mine[nodes[0]]: [other[node] for node in golden_nodes] for nodes, golden_nodes in self.pairing.nodes()}

    def modules(self) -> np.ndarray:
        """[pairs] bool: a module call or a parameter gradient."""
        kinds = self.target.tree.kind[self.pairing.first_target_nodes()]
        return (kinds == NodeKind.MODULE) | (kinds == NodeKind.PARAMETERS_GRAD)

    def count(self, status: Status) -> int:
        """Pairs of a status."""
        return int((self.verdicts.status == status).sum())

    def unmatched_modules(self, golden: bool = False) -> list[str]:
        """Names of modules and gradients without a partner."""
        graph = self.golden if golden else self.target
        partner = self.pairing.pair_of_golden if golden else self.pairing.pair_of_target
        kinds = graph.tree.kind
        return [
            graph.tree.names[node]
            for node in range(1, graph.tree.count)
            if kinds[node] in (NodeKind.MODULE, NodeKind.PARAMETERS_GRAD) and partner[node] < 0
        ]


@functools.lru_cache(maxsize=64)
def graph(path: str) -> Graph:
    """The graph of a rank directory below tests/data."""
    return graph_of(*read_tree(os.path.join(DATA, path)))


@functools.lru_cache(maxsize=64)
def result(target: str, golden: str, place: str = "step0/rank0", method: str = "auto", policy: str = "default") -> Result:
    """Compare two sides below tests/data."""
    left, right = graph(f"{target}/{place}"), graph(f"{golden}/{place}")
    pairing = match_trees(left, right, method)
    comparison = compare(left, right, pairing, "statistics")
    return Result(left, right, pairing, comparison, judge(comparison, pairing, left, right, load_policy(policy)))
