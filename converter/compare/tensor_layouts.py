"""Sees through the layouts in which two frameworks keep the same elements, before the elements are measured.

Candidates are the arrangements that the shapes allow; which one it is, the values say: a square weight may or may not
be transposed. A sample of the elements decides, ties go to the simplest candidate, and a pair of equal shapes is
taken as it lies unless another order agrees clearly better. The arrangement is reported, never silent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import decode
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable
from converter.compare.tensor_chunks import QUIET, norm

SAMPLE = 4096  # elements that decide between candidates
CLEARLY_BETTER = 0.5  # of the error as it lies: what another order of equal shapes must reach
_MOST_AXES = 6  # 720 orders; above that only the order as it lies is tried
_MOST_CANDIDATES = 64

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Rearrangement:
    """Elements in C order → reshape to `split` → permute its axes by `order` → reshape to `result`."""

    source: Shape
    split: Shape
    order: tuple[int, ...]
    result: Shape

    def apply(self, elements: NDArray[Any]) -> NDArray[Any]:
        arranged: NDArray[Any] = elements.reshape(self.split).transpose(self.order).reshape(self.result)
        return arranged

    def source_index(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the elements number `index` of the result come from, both counted in C order."""
        if not self.split:
            return index
        positions = np.unravel_index(index, tuple(self.split[axis] for axis in self.order))
        back: list[NDArray[np.int64]] = [index] * len(self.order)
        for axis, position in zip(self.order, positions):
            back[axis] = position
        return np.ravel_multi_index(tuple(back), self.split).astype(np.int64)

    @property
    def text(self) -> str:
        """For a person: "permute(1,0,2)", "reshape[16,4,16] → permute(1,0,2)"; "" where nothing happens."""
        if self.source == self.result and self.order == tuple(range(len(self.order))):
            return ""
        whole = _whole_order(self.source, self.result, self.split, self.order)
        if whole is not None:
            return f"permute({_join(whole)})"
        steps = []
        if self.order != tuple(range(len(self.order))):
            if self.split != self.source:
                steps.append(f"reshape[{_join(self.split)}]")
            steps.append(f"permute({_join(self.order)})")
        permuted = tuple(self.split[axis] for axis in self.order)
        if permuted != self.result or not steps:
            steps.append(f"reshape[{_join(self.result)}]")
        return " → ".join(steps)


def _join(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _whole_order(source: Shape, result: Shape, split: Shape, order: tuple[int, ...]) -> tuple[int, ...] | None:
    """The same as one permutation of the source's own axes, axes of one element included; None if it is more than that."""
    if sorted(source) != sorted(result) or split != tuple(extent for extent in source if extent != 1):
        return None
    real = [axis for axis, extent in enumerate(source) if extent != 1]
    ones = iter([axis for axis, extent in enumerate(source) if extent == 1])
    wanted = iter(real[axis] for axis in order)
    whole = tuple(next(ones) if extent == 1 else next(wanted) for extent in result)
    return whole if tuple(source[axis] for axis in whole) == result else None


@lru_cache(maxsize=4096)
def rearrangements(source: Shape, result: Shape) -> tuple[Rearrangement, ...]:
    """All arrangements of a shape's elements in another shape, the simplest first; () if the numbers of elements differ.

    Axes of one element do not matter. Either the source's axes are permuted and neighbours merged ([s,b,n,d] → [b,s,h]),
    or the result's axes are merged in the source ([s,b,h] → [b,n,s,d]); the last one is the plain reshape.
    """
    if math.prod(source) != math.prod(result):
        return ()
    fine, coarse = (tuple(extent for extent in shape if extent != 1) for shape in (source, result))
    found: dict[tuple[Shape, tuple[int, ...]], Rearrangement] = {}

    def add(split: Shape, order: tuple[int, ...]) -> None:
        if len(found) < _MOST_CANDIDATES:
            found.setdefault((split, order), Rearrangement(source, split, order, result))

    if fine == coarse or 0 in source:
        add(fine, tuple(range(len(fine))))
    for order in _orders(fine, coarse):
        add(fine, order)
    for order in _orders(coarse, fine):
        inverse = tuple(order.index(axis) for axis in range(len(order)))
        add(tuple(coarse[axis] for axis in order), inverse)
    if not any(item.order == tuple(range(len(item.order))) for item in found.values()):
        add(fine, tuple(range(len(fine))))
    return tuple(found.values())


def _orders(fine: Shape, coarse: Shape) -> Iterator[tuple[int, ...]]:
    """Orders of the axes of `fine` in which merging neighbours gives `coarse`, as they lie first."""
    if len(fine) < len(coarse) or 0 in fine:
        return
    axes = range(len(fine))
    for order in itertools.permutations(axes) if len(fine) <= _MOST_AXES else [tuple(axes)]:
        if _merges([fine[axis] for axis in order], coarse):
            yield order


def _merges(fine: Sequence[int], coarse: Sequence[int]) -> bool:
    at = 0
    for extent in coarse:
        product = 1
        while product < extent and at < len(fine):
            product *= fine[at]
            at += 1
        if product != extent:
            return False
    return at == len(fine)


def arrange(target: StoredTensor, golden: StoredTensor, tolerance: float, same_code: bool = False) -> tuple[StoredTensor, str]:
    """golden's elements in target's shape and order, and the layout that was used ("" = as it lay).

    Equal shapes of the `same_code` are never permuted: there a transposed tensor is the fault that is looked for.
    Raises TensorUnavailable where the numbers of elements differ.
    """
    if target.shape == golden.shape and (same_code or target.size == 0):
        return golden, ""
    candidates = rearrangements(golden.shape, target.shape)
    if not candidates:
        raise TensorUnavailable(f"shapes [{_join(target.shape)}] and [{_join(golden.shape)}] hold different numbers of elements",
                                f"形状 [{_join(target.shape)}] 与 [{_join(golden.shape)}] 元素数量不同")
    chosen = candidates[0]
    if len(candidates) > 1:
        pickers = [partial(_pick, golden, one) for one in candidates]
        chosen = candidates[Sample(target).best(pickers, target.shape == golden.shape, tolerance)]
    layout = f"golden [{_join(golden.shape)}] → {chosen.text}" if chosen.text else ""
    return golden.rearranged(chosen.apply(golden.elements)), layout


def _pick(tensor: StoredTensor, arrangement: Rearrangement, index: NDArray[np.int64]) -> NDArray[Any]:
    return decode(tensor.elements.reshape(-1)[arrangement.source_index(index)], tensor.format)


class Sample:
    """A fixed sample of one tensor's elements, to find which candidate has the same ones in the same places."""

    def __init__(self, tensor: StoredTensor) -> None:
        size = tensor.size
        if size <= SAMPLE:
            self.index: NDArray[np.int64] = np.arange(size, dtype=np.int64)
        else:
            # One element from each of SAMPLE equal stretches: spread evenly, in step with no axis.
            starts = np.arange(SAMPLE, dtype=np.float64) * (size / SAMPLE)
            jitter = np.random.default_rng(0).random(SAMPLE) * (size / SAMPLE)
            self.index = np.minimum(starts + jitter, size - 1).astype(np.int64)
        self.numbers = _plain(decode(tensor.elements.reshape(-1)[self.index], tensor.format))

    def best(self, candidates: Sequence[Callable[[NDArray[np.int64]], NDArray[Any]]], first_as_it_lies: bool, tolerance: float) -> int:
        """Number of the candidate whose elements agree best. Candidates map element numbers to elements.

        Where the first is the order as it lies, another one must be CLEARLY_BETTER than it, and it must be outside
        the tolerance at all.
        """
        with np.errstate(**QUIET):
            best, least = 0, self.error(candidates[0](self.index))
            if first_as_it_lies:
                if least <= tolerance:
                    return 0
                least *= CLEARLY_BETTER
            for number, candidate in enumerate(candidates[1:], 1):
                if least == 0:
                    break
                error = self.error(candidate(self.index))
                if error < least:
                    best, least = number, error
            return best

    def error(self, other: NDArray[Any]) -> float:
        """‖a - b‖ / ‖b‖ of the sampled elements, plus the share of elements that are finite on one side only."""
        ours, theirs = self.numbers, _plain(other)
        finite = np.isfinite(ours) & np.isfinite(theirs)
        apart = np.isfinite(ours) != np.isfinite(theirs)
        difference = norm(np.ascontiguousarray((ours - theirs)[finite]))
        scale = norm(np.ascontiguousarray(theirs[finite]))
        relative = 0.0 if difference == 0 else difference / scale if scale else math.inf
        return relative + float(apart.mean()) if len(ours) else 0.0


def _plain(numbers: NDArray[Any]) -> NDArray[Any]:
    return numbers.astype(np.float64) if numbers.dtype.kind in "iu" else numbers
