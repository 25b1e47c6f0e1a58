"""NaN, Infinity and -Infinity in JSON: Python writes them, fast parsers refuse them.

They are replaced in the buffer by strings of the same length that no dump holds, because they begin with the character DEL (0x7f).
Only what stands between JSON punctuation is replaced. Where that was inside a string, the quotes end the string too early, the text no
longer parses, and the caller falls back to Python's own `json`: so the replacement is exact.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

DELETE = b"\x7f"
ESCAPED_DELETE = re.compile(rb"\\u007[fF]")

_NAN, _INFINITY, _NEGATIVE_INFINITY = b'"\x7f"', b'"\x7finf  "', b'"\x7f-inf  "'
MARKERS = {_NAN[1:-1].decode(): math.nan, _INFINITY[1:-1].decode(): math.inf, _NEGATIVE_INFINITY[1:-1].decode(): -math.inf}
_BEFORE, _AFTER = frozenset(b":,[ \t\r\n"), frozenset(b",]} \t\r\n")


def mark_non_finite(buffer: bytearray, begin: int, end: int) -> None:
    """Replace the literals in buffer[begin:end] in place. The text must not hold DEL before, escaped or not."""
    view = np.frombuffer(buffer, dtype=np.uint8, count=end - begin, offset=begin)
    for literal, second, marker in ((b"NaN", b"a", _NAN), (b"Infinity", b"n", _INFINITY)):
        found = np.flatnonzero(view[:-1] == literal[0])
        for place in found[view[found + 1] == second[0]].tolist():
            start = begin + place
            stop = start + len(literal)
            if stop > end or not buffer.startswith(literal, start) or (stop < end and buffer[stop] not in _AFTER):
                continue
            replacement = marker
            if start > begin and buffer[start - 1] == 0x2D and literal == b"Infinity":  # "-"
                start, replacement = start - 1, _NEGATIVE_INFINITY
            if start == begin or buffer[start - 1] in _BEFORE:
                buffer[start:stop] = replacement


def restored(value: Any) -> Any:
    """A decoded value with the numbers in place of the markers."""
    if isinstance(value, str):
        return MARKERS.get(value, value)
    if isinstance(value, list):
        return [restored(item) for item in value]
    if isinstance(value, dict):
        return {key: restored(item) for key, item in value.items()}
    return value


def unmark(text: bytes) -> bytes:
    """The JSON text as it was."""
    if DELETE not in text:
        return text
    return text.replace(_NEGATIVE_INFINITY, b"-Infinity").replace(_INFINITY, b"Infinity").replace(_NAN, b"NaN")
