"""Reads the entries of dump.json in pieces of the file, so that neither its text nor its objects are in memory at once.

A dump is written indented. Behind every entry then stands the same text: line break, indentation, "},", line break, indentation, quote.
Cut there, `{ piece }` must be an object of its own; and if every piece is, and the text before and behind the pieces is an object
with an empty `data`, then the whole file is the object that was read. Where that does not hold, `Unreadable` sends the caller to the
reference reader.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Role
from converter.dumps.json_file import BYTE_ORDER_MARK, SURROGATE, parse
from converter.dumps.leaf import GROUP_KEYS, GROUPS, flatten_entry, is_parameters_grad
from converter.dumps.leaf_table import Block, LeafTable, NotTyped
from converter.dumps.non_finite import DELETE, mark_non_finite, unmark
from converter.dumps.typed import decode_entries, decode_object, decode_wide_entries, decode_wide_entry, split_entries
from converter.errors import UserError

PIECE_SIZE = 1 << 19
_DATA = re.compile(rb'"data"\s*:\s*\{(\n[ \t]*)"')


class Unreadable(Exception):
    """This way of reading does not fit the file."""


@dataclass
class Entries:
    """The entries of a dump.json in file order, while they are read."""

    names: list[str] = field(default_factory=list)
    table: LeafTable = field(default_factory=LeafTable)
    malformed: list[str] = field(default_factory=list)  # entries that are no objects
    unknown: dict[str, str] = field(default_factory=dict)  # keys of entries that no reader knows → first node
    header: dict[str, Any] = field(default_factory=dict)  # the other keys of the file
    wide: bool = False  # leaves with more fields than the plain ones have come up
    size: int = 0
    checksum: int = 0


def read_entries(path: Path) -> Entries:
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
    _refuse_doubtful(entries)
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
    except msgspec.DecodeError:
        raise Unreadable from None
    if header.get("data") != {}:
        raise Unreadable
    return header


def _refuse_doubtful(entries: Entries) -> None:
    """Repeated names, and markers of non-finite numbers where no number can be, are for the reference reader."""
    if len(set(entries.names)) != len(entries.names):
        raise Unreadable
    marker = DELETE.decode()
    if any(marker in text for text in chain(entries.names, entries.table.strings, entries.unknown)):
        raise Unreadable


def _read_piece(entries: Entries, buffer: bytearray, begin: int, end: int, boundary: bytes) -> None:
    """Read buffer[begin:end], members of the object `data`. The bytes around it are lent for the braces."""
    if buffer.find(DELETE, begin, end) >= 0 or (buffer.find(b"\\", begin, end) >= 0 and SURROGATE.search(buffer, begin, end)):
        raise Unreadable
    count = _count(buffer, begin, end, boundary)
    mark_non_finite(buffer, begin, end)
    before, behind = buffer[begin - 1], buffer[end]
    buffer[begin - 1], buffer[end] = 0x7B, 0x7D  # { }
    try:
        _read_object(entries, memoryview(buffer)[begin - 1:end + 1], count)
    except msgspec.DecodeError:
        raise Unreadable from None
    buffer[begin - 1], buffer[end] = before, behind


def _read_object(entries: Entries, piece: memoryview, count: int) -> None:
    """Read an object in which `count` entries end like ordinary ones."""
    if not entries.wide and _read_typed(entries, decode_entries, piece, count):
        return
    if _read_typed(entries, decode_wide_entries, piece, count):
        entries.wide = True
        return
    # Something here is out of the ordinary. Entry by entry, so that only those that are go the general way.
    texts = split_entries(piece)
    if len(texts) != count:
        _refuse_repeated(piece, len(texts))
    ordinary: dict[str, Any] = {}
    for name, text in texts.items():
        try:
            ordinary[name] = decode_wide_entry(text)
        except msgspec.ValidationError:
            _add_mostly_ordinary(entries, ordinary, texts)
            ordinary = {}
            _add_general(entries, name, text)
    _add_mostly_ordinary(entries, ordinary, texts)


def _read_typed(entries: Entries, decode: Callable[[memoryview], dict[str, Any]], piece: memoryview, count: int) -> bool:
    """Read an object of entries in one go; False if that does not work and nothing was added."""
    try:
        decoded = decode(piece)
        if len(decoded) != count:
            _refuse_repeated(piece, len(decoded))
        _add(entries, decoded)
    except (msgspec.ValidationError, NotTyped):
        return False
    return True


def _count(buffer: bytearray, begin: int, end: int, boundary: bytes) -> int:
    """How many members end like ordinary entries: as often as the boundary occurs, and once more."""
    view = np.frombuffer(buffer, dtype=np.uint8, count=end - begin, offset=begin)
    indent = boundary.index(b"}")
    braces = np.flatnonzero(view[indent:] == 0x7D) + indent  # far fewer than quotes or spaces
    for back in range(1, indent + 1):
        braces = braces[view[braces - back] == boundary[indent - back]]
    return len(braces)


def _refuse_repeated(piece: memoryview, count: int) -> None:
    """Raise Unreadable when an object has more than `count` members, so that some are repeated."""
    members = 0

    def note(pairs: list[tuple[str, Any]]) -> None:
        nonlocal members
        members = len(pairs)  # the outermost object comes last

    try:
        json.loads(bytes(piece), object_pairs_hook=note, parse_int=str)
    except (ValueError, RecursionError):
        raise Unreadable from None
    if members != count:
        raise Unreadable


def _add_mostly_ordinary(entries: Entries, decoded: dict[str, Any], texts: dict[str, msgspec.Raw]) -> None:
    """Add entries that decode, though perhaps to something that only the general rules can read."""
    try:
        _add(entries, decoded)
        return
    except NotTyped:
        pass
    for name, entry in decoded.items():
        try:
            _add(entries, {name: entry})
        except NotTyped:
            _add_general(entries, name, texts[name])


def _add_general(entries: Entries, name: str, text: msgspec.Raw) -> None:
    """Add one entry by the general rules."""
    try:
        entry = parse(bytearray(unmark(bytes(text))), Path(name))
    except UserError:
        raise Unreadable from None  # the reference reader says where
    number = len(entries.names)
    entries.names.append(name)
    if not isinstance(entry, dict):
        entries.malformed.append(name)
        return
    gradients = is_parameters_grad(name)
    if not gradients:
        _note_unknown(entries, set(entry), {name: entry})
    entries.table.add_rows(number, flatten_entry(entry, gradients))


def _add(entries: Entries, decoded: dict[str, Any]) -> None:
    """Add decoded entries, all their leaves at once. Raises NotTyped and then has added nothing."""
    numbers = range(len(entries.names), len(entries.names) + len(decoded))
    calls, blocks = decoded, []
    gradients = {name for name in decoded if "parameters_grad" in name and is_parameters_grad(name)}
    if gradients:
        blocks.append(_gradients(entries.table, [(number, decoded[name]) for number, name in zip(numbers, decoded) if name in gradients]))
        calls = {name: entry for name, entry in decoded.items() if name not in gradients}
    column = np.array([number for number, name in zip(numbers, decoded) if name not in gradients], dtype=np.int32)
    keys = set(chain.from_iterable(calls.values()))
    for key, role in GROUPS:
        if key not in keys:
            continue
        groups = [entry.get(key) or () for entry in calls.values()]
        kinds = set(map(type, groups))
        if list in kinds:
            lists = groups if dict not in kinds else [group if group.__class__ is list else () for group in groups]
            blocks.append(_by_position(entries.table, role, column, lists))
        if dict in kinds:
            objects = groups if list not in kinds else [group if group.__class__ is dict else () for group in groups]
            blocks.append(_by_name(entries.table, role, column, objects))
    entries.table.add(blocks)
    _note_unknown(entries, keys, calls)
    entries.names += decoded


def _by_position(table: LeafTable, role: Role, numbers: NDArray[np.int32], groups: list[Any]) -> Block:
    """The leaves of groups that are lists (or empty tuples), named by position."""
    counts = np.fromiter(map(len, groups), dtype=np.int64, count=len(groups))
    leaves = list(chain.from_iterable(groups))
    position = np.arange(len(leaves)) - np.repeat(np.cumsum(counts) - counts, counts)
    entry = np.repeat(numbers, counts)
    if list in set(map(type, leaves)):
        return _spread(table, role, entry, list(map(str, position.tolist())), leaves)
    return Block(role, entry, table.position_names(position), leaves)


def _by_name(table: LeafTable, role: Role, numbers: NDArray[np.int32], groups: list[Any]) -> Block:
    """The leaves of groups that are objects (or empty tuples), named by key."""
    entry = np.repeat(numbers, np.fromiter(map(len, groups), dtype=np.int64, count=len(groups)))
    names = list(chain.from_iterable(groups))
    leaves = list(chain.from_iterable([group.values() for group in groups if group]))
    if list in set(map(type, leaves)):
        return _spread(table, role, entry, names, leaves)
    return Block(role, entry, table.name_ids(names), leaves)


def _spread(table: LeafTable, role: Role, entry: NDArray[np.int32], names: list[str], leaves: list[Any]) -> Block:
    """The same with lists among the leaves: their items take their place."""
    entries: list[int] = []
    texts: list[str] = []
    items: list[Any] = []
    for number, name, leaf in zip(entry.tolist(), names, leaves):
        if leaf.__class__ is list:
            entries += [number] * len(leaf)
            texts += [f"{name}.{i}" for i in range(len(leaf))]
            items += leaf
        else:
            entries.append(number)
            texts.append(name)
            items.append(leaf)
    return Block(role, np.array(entries, dtype=np.int32), table.name_ids(texts), items)


def _gradients(table: LeafTable, entries: list[tuple[int, Any]]) -> Block:
    """The leaves of parameters_grad entries: {parameter: [leaf]}. Raises NotTyped for anything else."""
    numbers: list[int] = []
    names: list[str] = []
    leaves: list[Any] = []
    for number, entry in entries:
        for name, group in entry.items():
            if group.__class__ is not list or len(group) != 1 or group[0].__class__ is list:
                raise NotTyped
            numbers.append(number)
            names.append(name)
            leaves.append(group[0])
    return Block(Role.GRADIENT, np.array(numbers, dtype=np.int32), table.name_ids(names), leaves)


def _note_unknown(entries: Entries, keys: set[str], calls: dict[str, Any]) -> None:
    """Note keys that are no group of an entry, each with the first node that has it."""
    for key in keys - GROUP_KEYS:
        if key not in entries.unknown:
            entries.unknown[key] = next(name for name, entry in calls.items() if key in entry)
