"""Reads dump.json in pieces of the file, so that neither its text nor its objects are in memory at once.

A dump is written indented. Behind every entry then stands the same text: line break, indentation, "},", line break, indentation, quote.
Cut there, `{ piece }` must be an object of its own; and if every piece is, and the text before and behind the pieces is an object
with an empty `data`, then the whole file is the object that was read. Where that does not hold, this way of reading gives up.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from converter.dumps.entries import Entries, Unreadable, read_object, refuse_doubtful
from converter.dumps.json_file import BYTE_ORDER_MARK, SURROGATE
from converter.dumps.non_finite import DELETE, ESCAPED_DELETE, mark_non_finite
from converter.dumps.typed import decode_object

PIECE_SIZE = 1 << 19
_DATA = re.compile(rb'"data"\s*:\s*\{(\n[ \t]*)"')


def read_pieces(path: Path) -> Entries:
    """Read dump.json piece by piece. Raises Unreadable when the file needs another way of reading."""
    entries = Entries()
    buffer = bytearray(4 * PIECE_SIZE)
    with open(path, "rb", buffering=0) as file:
        begin = 1  # buffer[begin:end] is text that is not read yet; the byte before it is free
        end = _fill(file.readinto, buffer, begin, entries)
        if buffer.startswith(BYTE_ORDER_MARK, begin):
            begin += len(BYTE_ORDER_MARK)
        start = _DATA.search(buffer, begin, end)
        if start is None:
            if end - begin >= PIECE_SIZE - len(BYTE_ORDER_MARK):
                raise Unreadable
            entries.header = _header(bytes(buffer[begin:end]))  # a structure dump: no entries
            return entries
        head, indent = bytes(buffer[begin:start.start(1)]), start[1]
        del start  # it holds on to the buffer
        boundary = indent + b"}," + indent + b'"'
        begin += len(head)
        while True:
            cut = buffer.rfind(boundary, begin, end)
            if cut >= 0:
                comma = cut + len(indent) + 1
                _read_piece(entries, buffer, begin, comma, boundary)
                begin = comma + 1
            buffer, begin, end = _move(buffer, begin, end)
            filled = _fill(file.readinto, buffer, end, entries)
            if filled == end:
                break
            end = filled
    rest = bytes(buffer[begin:end]).rstrip()
    last = rest.rfind(b"}", 0, -1)
    if last < 0:
        raise Unreadable
    entries.header = _header(head + rest[last:])
    _read_piece(entries, buffer, begin, begin + last, boundary)
    refuse_doubtful(entries)
    return entries


def _fill(readinto: Callable[[memoryview], int], buffer: bytearray, end: int, entries: Entries) -> int:
    """Read up to a piece of the file behind `end`; the new end. Notes size and checksum of the file as it lies on the disk."""
    with memoryview(buffer) as view, view[end:end + PIECE_SIZE] as free:
        count = readinto(free)
        entries.checksum = zlib.crc32(free[:count], entries.checksum)
    entries.size += count
    return end + count


def _move(buffer: bytearray, begin: int, end: int) -> tuple[bytearray, int, int]:
    """Move the text that is not read yet to the front, into a larger buffer where an entry fills this one."""
    rest = bytes(buffer[begin:end])
    if len(rest) + 2 * PIECE_SIZE > len(buffer):
        buffer = bytearray(2 * len(buffer))
    buffer[1:1 + len(rest)] = rest
    return buffer, 1, 1 + len(rest)


def _header(text: bytes) -> dict[str, Any]:
    """The file without its entries."""
    try:
        header = decode_object(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Unreadable from None
    if header.get("data") != {}:
        raise Unreadable
    return header


def _read_piece(entries: Entries, buffer: bytearray, begin: int, end: int, boundary: bytes) -> None:
    """Read buffer[begin:end], members of the object `data`. The bytes around it are lent for the braces."""
    if buffer.find(DELETE, begin, end) >= 0:
        raise Unreadable
    if buffer.find(b"\\", begin, end) >= 0 and (SURROGATE.search(buffer, begin, end) or ESCAPED_DELETE.search(buffer, begin, end)):
        raise Unreadable
    count = _count(buffer, begin, end, boundary)
    mark_non_finite(buffer, begin, end)
    before, behind = buffer[begin - 1], buffer[end]
    buffer[begin - 1], buffer[end] = 0x7B, 0x7D  # { }
    try:
        read_object(entries, memoryview(buffer)[begin - 1:end + 1], count)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Unreadable from None
    buffer[begin - 1], buffer[end] = before, behind


def _count(buffer: bytearray, begin: int, end: int, boundary: bytes) -> int:
    """How many members end like ordinary entries: as often as the boundary occurs, and once more."""
    view = np.frombuffer(buffer, dtype=np.uint8, count=end - begin, offset=begin)
    indent = boundary.index(b"}")
    braces = np.flatnonzero(view[indent:] == 0x7D) + indent  # far fewer than quotes or spaces
    for back in range(1, indent + 1):
        braces = braces[view[braces - back] == boundary[indent - back]]
    return len(braces)
