"""Decodes entries of dump.json and adds their leaves to the table, many at a time.

How the text comes is told in pieces.py (indented files, piece by piece) and whole.py (all others). `Unreadable` sends the caller to
the next way of reading, at last to the reference reader.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Role
from converter.dumps.json_file import parse
from converter.dumps.leaf import GROUP_KEYS, GROUPS, flatten_entry, is_parameters_grad
from converter.dumps.leaf_table import Block, LeafTable, NotTyped
from converter.dumps.non_finite import DELETE, unmark
from converter.dumps.typed import decode_entries, decode_wide_entries, decode_wide_entry, split_entries
from converter.errors import UserError


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
    wide: bool = False  # leaves with more fields than the plain ones have come up: read all as WideLeaf
    size: int = 0
    checksum: int = 0


def refuse_doubtful(entries: Entries) -> None:
    """Repeated names, and markers of non-finite numbers where no number can be, are for the reference reader."""
    if len(set(entries.names)) != len(entries.names):
        raise Unreadable
    marker = DELETE.decode()
    if any(marker in text for text in chain(entries.names, entries.table.strings, entries.unknown)):
        raise Unreadable


def read_object(entries: Entries, piece: memoryview, count: int) -> None:
    """Read an object in which `count` entries end like ordinary ones."""
    if not entries.wide and _read_typed(entries, piece, count, wide=False):
        return
    if _read_typed(entries, piece, count, wide=True):
        entries.wide = True
        return
    # Something here is out of the ordinary.
    texts = split_entries(piece)
    if len(texts) != count:
        _refuse_repeated(piece, len(texts))
    read_texts(entries, texts)


def read_texts(entries: Entries, texts: dict[str, msgspec.Raw]) -> None:
    """Read entries one by one, so that only those that are out of the ordinary go the general way."""
    ordinary: dict[str, Any] = {}
    for name, text in texts.items():
        try:
            ordinary[name] = decode_wide_entry(text)
        except msgspec.ValidationError:
            _add_mostly_ordinary(entries, ordinary, texts)
            ordinary = {}
            _add_general(entries, name, text)
    _add_mostly_ordinary(entries, ordinary, texts)


def _read_typed(entries: Entries, piece: memoryview, count: int, wide: bool) -> bool:
    """Read an object of entries in one go; False if that does not work and nothing was added."""
    try:
        decoded = decode_wide_entries(piece) if wide else decode_entries(piece)
        if len(decoded) != count:
            _refuse_repeated(piece, len(decoded))
        _add(entries, decoded, wide)
    except (msgspec.ValidationError, NotTyped):
        return False
    return True


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
        _add(entries, decoded, wide=True)
        return
    except NotTyped:
        pass
    for name, entry in decoded.items():
        try:
            _add(entries, {name: entry}, wide=True)
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


def _add(entries: Entries, decoded: dict[str, Any], wide: bool) -> None:
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
    entries.table.add(blocks, wide)
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
