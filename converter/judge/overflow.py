"""The overflow check (-oc): which calls produce, pass on or swallow NaN, infinities and sudden growth.

Levels per node, tested in this order:
  critical  no abnormal input, some abnormal output: the call produced it
  high      abnormal input and abnormal output, or the Norm grew more than `mutation` times
  medium    abnormal input, no abnormal output: the call swallowed it
A tensor is abnormal where one of the statistics named in overflow.yaml is NaN or infinite. Parameters do not count, nor
do placeholders (overflow.yaml). These are the peer's levels, with three differences: tensors inside objects count too
(the peer finds 3,525 nodes where this finds 3,526: a model that returns an object), growth is looked for in tensors of
every framework, and only where an input has a Norm to grow from.
"""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Optional

import numpy as np
import yaml
from numpy.typing import NDArray

from converter.dumps.columns import NORM, PRESENT_NORM, LeafKind, Role
from converter.errors import UserError
from converter.messages import message
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph

NONE, MEDIUM, HIGH, CRITICAL = 0, 1, 2, 3
_STATISTICS = {"Max": 0, "Min": 1, "Mean": 2, "Norm": 3}


@dataclass(frozen=True)
class Placeholder:
    """Arguments and results of one API that are not looked at."""

    api: str  # pattern of "Prefix.name"
    inputs: frozenset[str]  # positions and names of keyword arguments
    outputs: frozenset[str]
    condition: Optional[tuple[str, float]]  # keyword argument and its value


@dataclass(frozen=True)
class OverflowRules:
    """The content of overflow.yaml."""

    abnormal: tuple[int, ...]  # columns of Leaves.statistics
    mutation: float
    placeholders: tuple[Placeholder, ...]
    masks: frozenset[str]
    views: frozenset[str]


@lru_cache(maxsize=1)
def shipped_rules() -> OverflowRules:
    """The rules that come with the program."""
    text = resources.files("converter.judge").joinpath("overflow.yaml").read_text(encoding="utf-8")
    return read_rules(text, "overflow.yaml")


def read_rules(text: str, file: str) -> OverflowRules:
    """Rules from YAML text. Raises UserError naming file and key."""
    try:
        content: Any = yaml.safe_load(text)
        return OverflowRules(
            abnormal=tuple(_STATISTICS[name] for name in content["abnormal"]),
            mutation=float(content["mutation"]),
            placeholders=tuple(_placeholder(entry) for entry in content["placeholders"]),
            masks=frozenset(map(str, content["masks"])),
            views=frozenset(map(str, content["views"])),
        )
    except yaml.YAMLError as error:
        raise UserError(message("overflow.no_yaml", "{file}: not YAML: {why}", file=file, why=error)) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(message("overflow.wrong", "{file}: {why} is missing or wrong: compare with the shipped overflow.yaml",
                                file=file, why=error)) from error


def _placeholder(entry: dict[str, Any]) -> Placeholder:
    condition = entry.get("if")
    if condition is not None:
        (name, value), = condition.items()
        condition = (str(name), float(value))
    return Placeholder(entry["api"], frozenset(map(str, entry.get("inputs", ()))), frozenset(map(str, entry.get("outputs", ()))), condition)


def overflow_levels(graph: Graph, rules: OverflowRules | None = None) -> NDArray[np.uint8]:
    """[nodes] uint8: 0 none, 1 medium, 2 high, 3 critical."""
    rules = shipped_rules() if rules is None else rules
    tree, leaves = graph.tree, graph.leaves
    owner, row = graph.node_rows()
    counted = (leaves.kind[row] == LeafKind.TENSOR) & ~placeholder_rows(graph, owner, row, rules)
    inputs = counted & np.isin(leaves.role[row], (Role.INPUT, Role.KWARG))
    outputs = counted & (leaves.role[row] == Role.OUTPUT)
    abnormal = abnormal_rows(graph, rules)[row]
    bad_input = _any(owner, inputs & abnormal, tree.count)
    bad_output = _any(owner, outputs & abnormal, tree.count)
    norm = np.where(leaves.present[row] & PRESENT_NORM, leaves.statistics[row, NORM], math.nan)
    input_norm, output_norm = (_largest(owner, norm, rows, tree.count) for rows in (inputs, outputs))
    with np.errstate(invalid="ignore", over="ignore"):
        # A call without a Norm among its inputs (-inf here) has nothing to grow from.
        grown = np.where(input_norm == 0, output_norm, output_norm / np.where(input_norm == 0, 1, input_norm)) > rules.mutation
        grown &= input_norm >= 0
    level = np.where(bad_input, MEDIUM, NONE)
    level[grown | (bad_input & bad_output)] = HIGH
    level[~bad_input & bad_output] = CRITICAL
    level[~np.isin(tree.kind, (NodeKind.MODULE, NodeKind.API))] = NONE
    return level.astype(np.uint8)


def abnormal_rows(graph: Graph, rules: OverflowRules) -> NDArray[np.bool_]:
    """[rows of leaves]: one of the statistics that count is there and is NaN or infinite."""
    leaves = graph.leaves
    abnormal = np.zeros(leaves.rows, np.bool_)
    for column in rules.abnormal:
        abnormal |= ~np.isfinite(leaves.statistics[:, column]) & (leaves.present & (1 << column) > 0)
    return abnormal


def placeholder_rows(graph: Graph, owner: NDArray[np.int64], row: NDArray[np.int64], rules: OverflowRules) -> NDArray[np.bool_]:
    """[len(row)]: leaves that the rules exempt. Nested leaves follow their argument: "0.1" belongs to "0"."""
    tree, leaves = graph.tree, graph.leaves
    exempt = np.zeros(len(row), np.bool_)
    of_label: dict[int, list[Placeholder]] = {}
    for label in np.unique(tree.label[tree.kind == NodeKind.API]).tolist():
        rules_of = [rule for rule in rules.placeholders if label >= 0 and fnmatch.fnmatchcase(tree.labels[label], rule.api.split(".")[-1])]
        if rules_of:
            of_label[label] = rules_of
    for node in np.flatnonzero(np.isin(tree.label, list(of_label)) & (tree.kind == NodeKind.API)).tolist():
        prefix = tree.labels[tree.prefix[node]] if tree.prefix[node] >= 0 else ""
        start, stop = np.searchsorted(owner, [node, node + 1]).tolist()
        for rule in of_label[int(tree.label[node])]:
            if not fnmatch.fnmatchcase(f"{prefix}.{tree.labels[tree.label[node]]}", rule.api):
                continue
            if rule.condition is not None and _keyword(graph, node, rule.condition[0]) != rule.condition[1]:
                continue
            for at in range(start, stop):
                names = rule.outputs if leaves.role[row[at]] == Role.OUTPUT else rule.inputs
                exempt[at] |= leaves.strings[leaves.name[row[at]]].split(".")[0] in names
    return exempt


def _keyword(graph: Graph, node: int, name: str) -> float | None:
    """The number that a call was given as a keyword argument; None if it was given none."""
    leaves = graph.leaves
    for row in graph.rows(node):
        if leaves.role[row] == Role.KWARG and leaves.strings[leaves.name[row]] == name and leaves.kind[row] == LeafKind.NUMBER:
            return float(leaves.statistics[row, 0])
    return None


def _any(owner: NDArray[np.int64], where: NDArray[np.bool_], nodes: int) -> NDArray[np.bool_]:
    found = np.zeros(nodes, np.bool_)
    found[owner[where]] = True
    return found


def _largest(owner: NDArray[np.int64], values: NDArray[np.float64], where: NDArray[np.bool_], nodes: int) -> NDArray[np.float64]:
    """Largest value per node, NaN values left out; -inf where a node has none."""
    largest = np.full(nodes, -math.inf)
    chosen = where & ~np.isnan(values)
    np.maximum.at(largest, owner[chosen], values[chosen])
    return largest
