"""How well two modules fit each other: names, parameter and activation shapes, statistics. One score, with its evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass

from converter.dumps.columns import NORM
from converter.match.component_words import IDENTITY_CLASSES, component_similarity, words
from converter.match.modules import ModuleTable, TensorFeature
from converter.match.pairing import SAME_NAME
from converter.messages import joined, message

SAME_CLASS = message("evidence.same_class", "same class")
EQUAL_OUTPUT = message("evidence.equal_outputs", "equal output statistics")
EQUAL_INPUT = message("evidence.equal_inputs", "equal input statistics")

# A score of 0 means "nothing speaks for it". Confidence = 1 - exp(-score / SCORE_SCALE).
SCORE_SCALE = 5.0
PAIR_SCORE = 4.0  # below: not paired (confidence 0.55)
PROPOSE_SCORE = 2.5  # between the two: proposed to the user (confidence 0.4)
FORBIDDEN = -1000.0


@dataclass(frozen=True)
class Fit:
    """A score and what it rests on, for a person to read."""

    score: float
    evidence: str

    @property
    def confidence(self) -> float:
        return max(0.0, 1.0 - math.exp(-self.score / SCORE_SCALE))


def class_similarity(a: str, b: str) -> float:
    """0..1: shared words of two class names, toolkit words left out ("ColumnParallelLinear" ~ "Linear" = 1)."""
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    words_a, words_b = words(a), words(b)
    if not words_a or not words_b:
        return 0.0
    return 2 * len(words_a & words_b) / (len(words_a) + len(words_b))


def name_fit(target: ModuleTable, t: int, golden: ModuleTable, g: int) -> tuple[float, list[str]]:
    """Score of component, class and parent names alone (at most 7)."""
    evidence = []
    own = component_similarity(target.component(t), golden.component(g))
    if own >= 0.5:
        evidence.append(SAME_NAME if own == 1.0 else f"{target.component(t)} ~ {golden.component(g)}")
    kind = class_similarity(target.class_name[t], golden.class_name[g])
    if kind >= 0.5:
        evidence.append(
            SAME_CLASS if target.class_name[t] == golden.class_name[g] else f"{target.class_name[t]} ~ {golden.class_name[g]}"
        )
    above = (
        component_similarity(target.component(target.parent[t]), golden.component(golden.parent[g]))
        if target.parent[t] > 0 and golden.parent[g] > 0
        else 0.0
    )
    return 4.0 * own + 2.0 * kind + above, evidence


def shard_factor(a: tuple[tuple[int, ...], ...], b: tuple[tuple[int, ...], ...]) -> int:
    """The whole number by which one extent of the larger shapes exceeds the smaller ones; 0 if there is none."""
    if len(a) != len(b):
        return 0
    factors = set()
    for shape_a, shape_b in zip(a, b):
        if len(shape_a) != len(shape_b):
            return 0
        unequal = [(x, y) for x, y in zip(shape_a, shape_b) if x != y]
        if len(unequal) > 1:
            return 0
        for x, y in unequal:
            small, large = min(x, y), max(x, y)
            if not small or large % small:
                return 0
            factors.add(large // small)
    return factors.pop() if len(factors) == 1 else 0


def leaf_fit(target: ModuleTable, t: int, golden: ModuleTable, g: int) -> Fit:
    """How well two modules without modules inside fit each other."""
    score, evidence = name_fit(target, t, golden, g)
    identity_t, identity_g = target.class_name[t] in IDENTITY_CLASSES, golden.class_name[g] in IDENTITY_CLASSES
    if identity_t != identity_g:
        return Fit(FORBIDDEN, "")
    mine, other = target.features(t), golden.features(g)
    if mine.parameters and other.parameters:
        gain, text = _parameter_fit(mine.parameters, other.parameters, score >= 3.2)
        score += gain
        if text:
            evidence.append(text)
    elif (mine.parameters or other.parameters) and (mine.outputs or other.outputs):
        return Fit(FORBIDDEN, "")
    gain, texts = activation_fit(mine.inputs, mine.outputs, other.inputs, other.outputs)
    return Fit(score + gain, joined(evidence + texts))


def equal_parameters(target: ModuleTable, t: int, golden: ModuleTable, g: int) -> bool:
    """Both modules hold parameters, among them a matrix, of equal shapes and values: hardly ever by chance."""
    mine, other = target.features(t).parameters, golden.features(g).parameters
    if not mine or target.features(t).parameter_shapes != golden.features(g).parameter_shapes:
        return False
    if not any(len(tensor.shape) > 1 and tensor.statistics and tensor.statistics[NORM] for tensor in mine):
        return False
    by_shape = sorted(mine, key=lambda tensor: (tensor.shape, tensor.name))
    against = sorted(other, key=lambda tensor: (tensor.shape, tensor.name))
    return all(a.agrees(b) for a, b in zip(by_shape, against))


def _parameter_fit(mine: tuple[TensorFeature, ...], other: tuple[TensorFeature, ...], named: bool) -> tuple[float, str]:
    shapes_mine = tuple(sorted(tensor.shape for tensor in mine))
    shapes_other = tuple(sorted(tensor.shape for tensor in other))
    if shapes_mine == shapes_other or tuple(sorted(shape[::-1] for shape in shapes_mine)) == shapes_other:
        by_size = sorted(mine, key=lambda tensor: (tensor.shape, tensor.name))
        against = sorted(other, key=lambda tensor: (tensor.shape, tensor.name))
        shapes = " + ".join(str(list(shape)) for shape in shapes_mine)
        if all(a.agrees(b) for a, b in zip(by_size, against)):
            return 7.0, message("evidence.equal_parameters", "parameters {shapes} with equal values", shapes=shapes)
        return 4.0, message("evidence.parameters", "parameters {shapes}", shapes=shapes)
    matrices = [tuple(shape for shape in shapes if len(shape) > 1) for shapes in (shapes_mine, shapes_other)]
    if matrices[0] and matrices[0] == matrices[1]:
        shapes = " + ".join(str(list(shape)) for shape in matrices[0])
        return 2.5, message("evidence.matrices", "matrices {shapes}; vectors on one side only", shapes=shapes)
    if shard_factor(shapes_mine, shapes_other):
        return (1.0 if named else -1.0), message(
            "evidence.sharded", "parameters sharded by {count}", count=shard_factor(shapes_mine, shapes_other)
        )
    # Another width of the same model family, or a layout this step does not know: only a name can still speak for it.
    return (-1.0 if named else FORBIDDEN), ""


def activation_fit(
    inputs: tuple[TensorFeature, ...],
    outputs: tuple[TensorFeature, ...],
    other_inputs: tuple[TensorFeature, ...],
    other_outputs: tuple[TensorFeature, ...],
) -> tuple[float, list[str]]:
    """Score of first outputs and inputs: sizes, then statistics (-2 … 6)."""
    score, evidence = 0.0, []
    if outputs and other_outputs:
        if outputs[0].size == other_outputs[0].size:
            score += 1.5
            if outputs[0].agrees(other_outputs[0]):
                score += 3.0
                evidence.append(EQUAL_OUTPUT)
        else:
            score -= 2.0
    if inputs and other_inputs:
        if any(a.agrees(b) for a in inputs[:3] for b in other_inputs[:3]):
            score += 1.5
            evidence.append(EQUAL_INPUT)
        elif inputs[0].size == other_inputs[0].size:
            score += 0.5
    return score, evidence
