"""How the parts of a fused layer lie in its tensor: joined, interleaved by group or by shard, stacked or added up.

Megatron keeps the query, key and value rows of one key/value head together (per group), a checkpoint merged from
tensor parallel ranks keeps gate and up of one rank together (per shard). Both are one thing: every part is cut into
the same number of equal pieces, and piece i of all parts stand side by side. The number must divide all parts; which
of the divisors it is, the values say, unless the mapping file does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import FORMATS, decode
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable
from converter.compare.tensor_layouts import Rearrangement, Sample, Shape, arrange, rearrangements
from converter.match.pairing import Layout

_MOST_CANDIDATES = 256


@dataclass(frozen=True)
class Interleaving:
    """Parts cut into `pieces` along `axis`, piece by piece side by side, then rearranged to the whole's shape."""

    axis: int
    pieces: int
    joined: Shape
    arrangement: Rearrangement

    def apply(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        before, after = self.joined[: self.axis], self.joined[self.axis + 1 :]
        cut = [part.reshape(*before, self.pieces, part.shape[self.axis] // self.pieces, *after) for part in parts]
        return self.arrangement.apply(np.concatenate(cut, axis=self.axis + 1).reshape(self.joined))

    def pick(self, parts: Sequence[StoredTensor], index: NDArray[np.int64]) -> NDArray[Any]:
        """Elements number `index` of the result, without building it."""
        positions = list(np.unravel_index(self.arrangement.source_index(index), self.joined))
        widths = np.array([part.shape[self.axis] // self.pieces for part in parts])
        piece, within = np.divmod(positions[self.axis], int(widths.sum()))
        ends = np.cumsum(widths)
        owner = np.searchsorted(ends, within, side="right")
        values: NDArray[Any] = np.zeros(len(index), np.complex128 if any(part.format.kind == "complex" for part in parts) else np.float64)
        for number, part in enumerate(parts):
            mine = owner == number
            place = [position[mine] for position in positions]
            place[self.axis] = piece[mine] * widths[number] + within[mine] - (ends[number] - widths[number])
            values[mine] = decode(part.elements[tuple(place)], part.format)
        return values


def arrange_parts(whole: StoredTensor, parts: Sequence[StoredTensor], relation: str, names: Sequence[str], tolerance: float,
                  given: Layout | None = None) -> tuple[StoredTensor, str]:
    """The parts put together in the shape and order of the whole, and the layout that was used.

    `relation` is concat, stack or sum; `given` the layout that the mapping file states, then no other is tried.
    Raises TensorUnavailable where the parts do not make up the whole.
    """
    parts = _one_format(parts)
    if relation == "sum":
        total = sum((part.numbers() for part in parts[1:]), parts[0].numbers())
        summed = StoredTensor(total, FORMATS["complex128" if total.dtype.kind == "c" else "float64"])
        arranged, text = arrange(whole, summed.rearranged(total.astype(summed.format.stored)), tolerance)
        return arranged, _text(f"sum: {', '.join(names)}", text)
    if relation == "stack":
        if len({part.shape for part in parts}) > 1:
            raise _not_the_whole(whole, parts)
        arranged, text = arrange(whole, parts[0].rearranged(np.stack([part.elements for part in parts])), tolerance)
        return arranged, _text(f"stack: {', '.join(names)}", text)
    candidates = _interleavings(whole.shape, [part.shape for part in parts], given)
    if not candidates:
        raise _not_the_whole(whole, parts)
    pickers = [partial(one.pick, parts) for one in candidates]
    chosen = candidates[Sample(whole).best(pickers, False, tolerance) if len(candidates) > 1 and whole.size else 0]
    arranged = parts[0].rearranged(chosen.apply([part.elements for part in parts]))
    kind = given.kind if given else "stacked" if chosen.pieces == 1 else "per_group" if len(parts) > 2 else "per_shard"
    count = f"({chosen.pieces})" if kind != "stacked" else ""
    return arranged, _text(f"{kind}{count}: {', '.join(names)}", f" → {chosen.arrangement.text}" if chosen.arrangement.text else "")


def _text(joined: str, arrangement: str) -> str:
    return joined + (" → " + arrangement.split(" → ", 1)[1] if arrangement else "")


def _one_format(parts: Sequence[StoredTensor]) -> Sequence[StoredTensor]:
    """Parts of one number format; where they differ all as float64 or complex128, which hold every other one."""
    if len({part.format.name for part in parts}) == 1:
        return parts
    name = "complex128" if any(part.format.kind == "complex" for part in parts) else "float64"
    return [StoredTensor(part.numbers().astype(FORMATS[name].stored), FORMATS[name]) for part in parts]


def _interleavings(whole: Shape, parts: Sequence[Shape], given: Layout | None) -> list[Interleaving]:
    """Every way in which parts of these shapes can make up the whole: few pieces and as they lie first."""
    found: list[tuple[tuple[int, int], Interleaving]] = []
    if len({len(part) for part in parts}) != 1 or not parts[0]:
        return []
    for axis in range(len(parts[0])):
        if len({part[:axis] + part[axis + 1 :] for part in parts}) != 1:
            continue
        extents = [part[axis] for part in parts]
        joined = (*parts[0][:axis], sum(extents), *parts[0][axis + 1 :])
        arrangements = rearrangements(joined, whole)
        for pieces in _pieces(extents, given):
            for number, arrangement in enumerate(arrangements):
                found.append(((pieces, number), Interleaving(axis, pieces, joined, arrangement)))
    found.sort(key=lambda item: item[0])
    return [interleaving for _, interleaving in found[:_MOST_CANDIDATES]]


def _pieces(extents: Sequence[int], given: Layout | None) -> list[int]:
    """Numbers of pieces that divide every part, ascending; only the stated one where the mapping file states it."""
    common = math.gcd(*extents)
    if not common:
        return [1]
    if given is not None:
        stated = {"stacked": 1, "per_group": given.kv_heads or given.heads, "per_shard": given.shards}.get(given.kind, 0)
        if stated:
            return [stated] if common % stated == 0 else []
    small = [number for number in range(1, math.isqrt(common) + 1) if common % number == 0]
    return sorted({*small, *(common // number for number in small)})


def _not_the_whole(whole: StoredTensor, parts: Sequence[StoredTensor]) -> TensorUnavailable:
    shapes = " + ".join(f"[{','.join(map(str, part.shape))}]" for part in parts)
    result = f"[{','.join(map(str, whole.shape))}]"
    return TensorUnavailable(f"parts {shapes} do not make up {result}", f"各部分 {shapes} 无法组成 {result}")
