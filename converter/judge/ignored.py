"""Rows that the policy does not judge: ignored nodes, arguments that a call overwrites, outputs that nobody has written."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Role
from converter.judge import reasons
from converter.judge.policy import Policy
from converter.judge.row_facts import INPUTS, RowFacts
from converter.judge.verdict import Note
from converter.match.pairing import Pairing
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph


def ignored_rows(facts: RowFacts, pairing: Pairing, target: Graph, policy: Policy) -> tuple[NDArray[np.bool_], list[Note]]:
    """([rows] whether a row is ignored, why each of those is)."""
    tree, firsts = target.tree, pairing.first_target_nodes()
    label = np.where(tree.kind[firsts] == NodeKind.API, tree.label[firsts], -1)
    names = [*tree.labels, ""]
    uninitialised = np.array([name in policy.uninitialised for name in names])[label]
    placeholder = np.array([name in policy.placeholder_inputs for name in names])[label]
    nodes = np.zeros(pairing.count, np.bool_)
    if policy.ignore:
        for number, node in enumerate(firsts.tolist()):
            nodes[number] = any(pattern.search(tree.names[node]) for pattern in policy.ignore)
    inputs = np.isin(facts.role, INPUTS)
    ignored = nodes[facts.pair] | (placeholder[facts.pair] & inputs) | (uninitialised[facts.pair] & (facts.role == Role.OUTPUT))
    notes = []
    for row in np.flatnonzero(ignored).tolist():
        pair = int(facts.pair[row])
        notes.append(_note(row, names[int(label[pair])], bool(nodes[pair]), bool(inputs[row])))
    return ignored, notes


def _note(row: int, api: str, by_pattern: bool, is_input: bool) -> Note:
    if by_pattern:
        arguments = {"why": "the policy ignores this node", "why_zh": "策略忽略该节点"}
    elif is_input:
        arguments = {"why": f"{api} overwrites this argument", "why_zh": f"{api} 会覆盖该参数"}
    else:
        arguments = {"why": f"{api} returns memory that nobody has written", "why_zh": f"{api} 返回未初始化的内存"}
    return Note(row, reasons.IGNORED.code, arguments)
