"""What stands against what, in words, where two different things were joined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import LeafKind, Leaves
from converter.judge import reasons
from converter.judge.verdict import Note

_KIND_WORDS = {
    LeafKind.TENSOR: "tensor",
    LeafKind.NUMBER: "number",
    LeafKind.BOOL: "bool",
    LeafKind.TEXT: "text",
    LeafKind.NONE: "None",
    LeafKind.OTHER: "object",
}


def kind_notes(comparison: Comparison, mask: NDArray[np.uint32]) -> list[Note]:
    """Notes for the rows whose reasons so far (`mask`) are DIFFERENT_KIND or VALUE."""
    found = []
    for code in (reasons.DIFFERENT_KIND.code, reasons.VALUE.code):
        for row in np.flatnonzero(mask & np.uint32(1 << code)).tolist():
            ambiguous = bool(len(comparison.ambiguous)) and bool(comparison.ambiguous[row])
            texts = [
                _thing(leaves, int(rows[row]))
                for leaves, rows in ((comparison.target, comparison.target_row), (comparison.golden, comparison.golden_row))
            ]
            if ambiguous:
                texts[1] += " (one of several alike)"
            found.append(Note(row, code, {"target": texts[0], "golden": texts[1]}))
    return found


def _thing(leaves: Leaves, row: int) -> str:
    kind = LeafKind(int(leaves.kind[row]))
    if kind != LeafKind.TENSOR:
        return _KIND_WORDS[kind]
    dtype = leaves.strings[leaves.dtype[row]] if leaves.dtype[row] >= 0 else "tensor"
    shape = leaves.shapes[leaves.shape[row]] if leaves.shape[row] >= 0 else ()
    return f"{dtype} {list(shape)}"
