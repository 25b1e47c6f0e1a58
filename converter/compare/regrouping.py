"""Fused on both sides, but in another order: stacked parts (q | k | v) against parts that stand side by side group by group.

GPT-2 keeps all queries, then all keys, then all values in the columns of one weight; Megatron and GPT-NeoX keep the
query, key and value rows of one head (or of one key/value head, with its queries) together. The group counts are those
that divide the axis; which one it is, the values say, and all sampled elements must agree: a flipped, rolled or swapped
part fits none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import decode
from converter.compare.stored_tensor import StoredTensor
from converter.compare.tensor_chunks import QUIET, norm
from converter.compare.tensor_layouts import Rearrangement, Sample, Shape, rearrangements

_MOST_AXES = 4
_MOST_BASES = 8  # orders of the axes that are tried together with a regrouping
_MOST_QUERIES = 64  # query heads of one key/value head
_TEXT = re.compile(r"axis (\d{1,2}) (stacked|per group): (\d{1,9}) groups of (\d{1,9}(?:\+\d{1,9})+)$")


@dataclass(frozen=True)
class Regrouping:
    """golden in target's shape by `base`, then one axis from `stacked` parts to groups of parts, or back.

    `parts`: elements of each part in one group, e.g. (128, 64, 64) for two queries, key and value of 64.
    """

    base: Rearrangement
    axis: int
    to_groups: bool
    groups: int
    parts: tuple[int, ...]

    def order(self) -> NDArray[np.int64]:
        """[axis] the position in `base`'s result that each position comes from."""
        starts = np.concatenate([[0], np.cumsum(self.parts)[:-1]]) * self.groups
        group = np.arange(self.groups)[:, None]
        blocks = [start + group * size + np.arange(size) for start, size in zip(starts.tolist(), self.parts)]
        grouped = np.concatenate(blocks, axis=1).ravel()
        return grouped if self.to_groups else np.argsort(grouped)

    def apply(self, elements: NDArray[Any]) -> NDArray[Any]:
        return np.take(self.base.apply(elements), self.order(), axis=self.axis)

    def pick(self, tensor: StoredTensor, index: NDArray[np.int64]) -> NDArray[Any]:
        """Elements number `index` of the result, without building it."""
        positions = list(np.unravel_index(index, self.base.result))
        positions[self.axis] = self.order()[positions[self.axis]]
        source = self.base.source_index(np.ravel_multi_index(tuple(positions), self.base.result))
        return decode(tensor.elements.reshape(-1)[source], tensor.format)

    @property
    def text(self) -> str:
        """For a person, and for `regrouped_as`: "axis 0 per group: 4 groups of 16+16+16"."""
        form = "per group" if self.to_groups else "stacked"
        return f"axis {self.axis} {form}: {self.groups} groups of {'+'.join(map(str, self.parts))}"


def regroup(target: StoredTensor, golden: StoredTensor, tolerance: float) -> Optional[tuple[StoredTensor, str]]:
    """golden in target's order and the layout in words, where a regrouping makes all sampled elements agree; else None."""
    if target.size != golden.size or target.size == 0 or not _may_be_the_same(target, golden, tolerance):
        return None
    sample = Sample(target)
    with np.errstate(**QUIET):
        for base in rearrangements(golden.shape, target.shape)[:_MOST_BASES]:
            for regrouping in _regroupings(base, target.shape):
                if sample.error(regrouping.pick(golden, sample.index)) <= tolerance:
                    return golden.rearranged(regrouping.apply(golden.elements)), _layout(golden.shape, regrouping)
    return None


def regrouped_as(used: str, target: StoredTensor, golden: StoredTensor) -> Optional[StoredTensor]:
    """golden in the layout `used` that `regroup` reported; None if it was no regrouping of these shapes."""
    match = _TEXT.search(used)
    if match is None:
        return None
    parts = tuple(int(size) for size in match[4].split("+"))
    for base in rearrangements(golden.shape, target.shape)[:_MOST_BASES]:
        axis, groups = int(match[1]), int(match[3])
        if axis >= len(target.shape) or groups * sum(parts) != target.shape[axis]:
            return None
        regrouping = Regrouping(base, axis, match[2] == "per group", groups, parts)
        if _layout(golden.shape, regrouping) == used:
            return golden.rearranged(regrouping.apply(golden.elements))
    return None


def _may_be_the_same(target: StoredTensor, golden: StoredTensor, tolerance: float) -> bool:
    """Largest, smallest and norm agree: they do not depend on the order."""
    if target.format.kind == "complex" or golden.format.kind == "complex":
        return False
    with np.errstate(**QUIET):
        ours, theirs = target.numbers().astype(np.float64), golden.numbers().astype(np.float64)
        scale = max(float(np.abs(theirs).max()), np.finfo(np.float64).tiny)
        extremes = abs(ours.max() - theirs.max()) <= tolerance * scale and abs(ours.min() - theirs.min()) <= tolerance * scale
        return bool(extremes and abs(norm(ours.ravel()) - norm(theirs.ravel())) <= tolerance * norm(theirs.ravel()))


def _layout(source: Shape, regrouping: Regrouping) -> str:
    steps = [f"golden [{','.join(map(str, source))}]", *([regrouping.base.text] if regrouping.base.text else []), regrouping.text]
    return " → ".join(steps)


def _regroupings(base: Rearrangement, shape: Shape) -> Iterator[Regrouping]:
    """Two equal parts (gate and up), or queries with one key and one value, in every number of groups that fits an axis."""
    for axis, extent in list(enumerate(shape))[-_MOST_AXES:]:
        for size in (each for each in range(2, extent // 4 + 1) if extent % each == 0):
            heads = extent // size
            splits: list[tuple[int, ...]] = [(size, size)] if heads % 2 == 0 else []
            splits += [(queries * size, size, size) for queries in range(1, _MOST_QUERIES + 1) if heads % (queries + 2) == 0]
            for parts in splits:
                groups = extent // sum(parts)
                if groups > 1:
                    yield Regrouping(base, axis, True, groups, parts)
                    yield Regrouping(base, axis, False, groups, parts)
