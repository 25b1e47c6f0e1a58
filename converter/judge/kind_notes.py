"""What stands against what, in words of both languages, where two different things were joined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import LeafKind, Leaves
from converter.judge import reasons
from converter.judge.verdict import Note

_KIND_WORDS = {  # English, Chinese
    LeafKind.TENSOR: ("tensor", "张量"),
    LeafKind.NUMBER: ("number", "数值"),
    LeafKind.BOOL: ("bool", "布尔值"),
    LeafKind.TEXT: ("text", "文本"),
    LeafKind.NONE: ("None", "None"),
    LeafKind.OTHER: ("object", "对象"),
}
_ALIKE = (" (one of several alike)", "（多个相似项之一）")


def kind_notes(comparison: Comparison, mask: NDArray[np.uint32]) -> list[Note]:
    """Notes for the rows whose reasons so far (`mask`) are DIFFERENT_KIND or VALUE."""
    found = []
    for code in (reasons.DIFFERENT_KIND.code, reasons.VALUE.code):
        for row in np.flatnonzero(mask & np.uint32(1 << code)).tolist():
            ambiguous = bool(len(comparison.ambiguous)) and bool(comparison.ambiguous[row])
            arguments = {}
            for language, ending in enumerate(("", "_zh")):
                arguments["target" + ending] = _thing(comparison.target, int(comparison.target_row[row]), language)
                golden = _thing(comparison.golden, int(comparison.golden_row[row]), language)
                arguments["golden" + ending] = golden + (_ALIKE[language] if ambiguous else "")
            found.append(Note(row, code, arguments))
    return found


def _thing(leaves: Leaves, row: int, language: int) -> str:
    kind = LeafKind(int(leaves.kind[row]))
    if kind != LeafKind.TENSOR:
        return _KIND_WORDS[kind][language]
    dtype = leaves.strings[leaves.dtype[row]] if leaves.dtype[row] >= 0 else _KIND_WORDS[kind][language]
    shape = leaves.shapes[leaves.shape[row]] if leaves.shape[row] >= 0 else ()
    return f"{dtype} {list(shape)}"
