"""Rounding noise: differences no larger than what was rounded away while much larger magnitudes were added up.

The gradient of an attention key's bias is zero by mathematics: two correct runs give about 1e-11 with any relative
difference. The floor comes from what was added up to get there, never from a fixed constant:

* gradient of a vector parameter (bias, norm weight): sum over T rows of the gradient G of the module's output →
  floor = f · eps · sqrt(T) · ‖G‖;
* gradient of a matrix: Gᵀ·X → floor = f · eps · ‖G‖ · ‖X‖ with the module's input X;
* outputs of adding and subtracting APIs: floor = f · eps · largest input norm.

f is `rounding` of the policy, bounded so that f · eps never exceeds LARGEST_SHARE (half precision).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import MAX, MEAN, MIN, NORM, PRESENT_NORM, LeafKind, Role
from converter.judge.policy import Policy
from converter.judge.row_facts import RowFacts
from converter.judge.tolerance import Tolerances
from converter.match.pairing import Pairing
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph

LARGEST_SHARE = 0.02
_TENSOR = int(LeafKind.TENSOR)


@dataclass(frozen=True)
class Noise:
    """Rows whose difference is rounding noise, with the magnitude that was added up."""

    rows: dict[int, float]


def find_noise(
    comparison: Comparison,
    facts: RowFacts,
    pairing: Pairing,
    target: Graph,
    tolerances: Tolerances,
    suspects: NDArray[np.int64],
    policy: Policy,
) -> Noise:
    """Which of the suspect rows (those beyond their tolerance) hold nothing but rounding noise."""
    suspects = suspects[facts.tensors[suspects] & ~facts.nonfinite[suspects]]
    if not len(suspects):
        return Noise({})
    nodes = pairing.first_target_nodes()[facts.pair[suspects]]
    tree = target.tree
    epsilon = tolerances.epsilon[suspects]
    share = np.minimum(policy.rounding * epsilon, np.maximum(2 * epsilon, LARGEST_SHARE))
    difference = _largest_differences(comparison, suspects)
    scale = np.zeros(len(suspects))
    cancels = np.array([*(name in policy.cancelling for name in tree.labels), False])
    label = np.where(tree.kind[nodes] == NodeKind.API, tree.label[nodes], -1)
    outputs = cancels[label] & (facts.role[suspects] == Role.OUTPUT)
    if outputs.any():
        scale[outputs] = _largest_input_norms(target)[nodes[outputs]]
    gradients = np.flatnonzero(facts.role[suspects] == Role.GRADIENT)
    if len(gradients):
        companions = _companions(target)
        for position in gradients.tolist():
            scale[position] = _gradient_scale(comparison, target, int(nodes[position]), int(suspects[position]), companions)
    noisy = (scale > 0) & (difference <= share * scale)
    found = dict(zip(suspects[noisy].tolist(), scale[noisy].tolist()))
    # The same tensor met again (a gradient read by the optimizer) is the same noise.
    if found:
        seen = {_statistics_of(comparison, row): magnitude for row, magnitude in found.items()}
        for row in suspects[~noisy].tolist():
            again = seen.get(_statistics_of(comparison, row))
            if again is not None:
                found[row] = again
    return Noise(found)


def _statistics_of(comparison: Comparison, row: int) -> tuple[bytes, bytes]:
    target, golden = comparison.target_row[row], comparison.golden_row[row]
    return (comparison.target.statistics[target].tobytes(), comparison.golden.statistics[golden].tobytes())


def _largest_differences(comparison: Comparison, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """[rows] largest absolute difference of the statistics that both sides have; inf where there is none."""
    t, g = comparison.target_row[rows], comparison.golden_row[rows]
    present = comparison.target.present[t] & comparison.golden.present[g]
    with np.errstate(invalid="ignore"):
        difference = np.abs(comparison.target.statistics[t] - comparison.golden.statistics[g])
    there = (present[:, None] & np.array([1 << column for column in (MAX, MIN, MEAN, NORM)])) != 0
    largest: NDArray[np.float64] = np.where(there & ~np.isnan(difference), difference, -1.0).max(axis=1)
    return np.where(largest < 0, np.inf, largest)


def _largest_input_norms(graph: Graph) -> NDArray[np.float64]:
    """[nodes] largest finite norm among a node's input tensors; 0 where there is none."""
    leaves, tree = graph.leaves, graph.tree
    norms = np.abs(leaves.statistics[:, NORM])
    usable = (leaves.role <= Role.KWARG) & (leaves.kind == LeafKind.TENSOR) & (leaves.present & PRESENT_NORM != 0) & np.isfinite(norms)
    rows = np.flatnonzero(usable)
    owner = graph.node_of_row()
    rows = rows[owner[rows] >= 0]
    largest = np.zeros(tree.count)
    np.maximum.at(largest, owner[rows], norms[rows])
    return largest


def _companions(target: Graph) -> dict[tuple[int, int, int], list[int]]:
    """(path, direction, micro step) → module nodes, to find the calls that a parameter gradient belongs to."""
    tree = target.tree
    found: dict[tuple[int, int, int], list[int]] = {}
    for node in np.flatnonzero(tree.kind == NodeKind.MODULE).tolist():
        found.setdefault((int(tree.path[node]), int(tree.direction[node]), int(tree.micro_step[node])), []).append(node)
    return found


def _gradient_scale(comparison: Comparison, target: Graph, node: int, row: int, companions: dict[tuple[int, int, int], list[int]]) -> float:
    tree = target.tree
    key = int(tree.path[node])
    step = int(tree.micro_step[node])
    backward = companions.get((key, int(Direction.BACKWARD), step), [])
    forward = companions.get((key, int(Direction.FORWARD), step), [])
    gradient = _tensor_norm(target, backward, (Role.INPUT, Role.KWARG))
    if gradient is None:
        return 0.0
    norm, size = gradient
    number = int(comparison.target.shape[comparison.target_row[row]])
    shape = comparison.target.shapes[number] if number >= 0 else ()
    calls = math.sqrt(len(backward))
    if len(shape) >= 2:
        inputs = _tensor_norm(target, forward, (Role.INPUT, Role.KWARG))
        return calls * norm * inputs[0] if inputs is not None else 0.0
    elements = math.prod(shape) or 1
    return calls * norm * math.sqrt(max(size / elements, 1.0))


def _tensor_norm(graph: Graph, nodes: list[int], roles: tuple[Role, ...]) -> tuple[float, int] | None:
    """Norm and size of the first tensor of the given roles, the largest over several calls."""
    best: tuple[float, int] | None = None
    leaves = graph.leaves
    wanted = [int(role) for role in roles]
    for node in nodes:
        for row in graph.rows(node):
            if int(leaves.role[row]) in wanted and leaves.kind[row] == _TENSOR and leaves.present[row] & PRESENT_NORM:
                norm = abs(float(leaves.statistics[row, NORM]))
                if math.isfinite(norm) and (best is None or norm > best[0]):
                    number = int(leaves.shape[row])
                    best = (norm, math.prod(leaves.shapes[number]) if number >= 0 else 1)
                break
    return best
