"""Reads a dump (a rank directory) into columns: the fast reader.

    1. dump.json      by pieces of the file, or as a whole, decoded straight into columns     pieces.py, whole.py, entries.py
    2. construct.json and stack.json, which are small, as objects                             construct.py, stacks.py
    3. all together                                                                           assemble.py
Wherever a file is out of the ordinary, the reference reader takes over, which gives the same columns and the exact message.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any, Union

import msgspec
import numpy as np
from numpy.typing import NDArray

from converter.dumps import reference
from converter.dumps.assemble import FileRecord, assemble, entry_warnings
from converter.dumps.columns import Dump
from converter.dumps.construct import read_construct
from converter.dumps.entries import Entries, Unreadable
from converter.dumps.json_file import deep_recursion, parse, read_file, repeated_keys_warning
from converter.dumps.layout import CONSTRUCT_FILE, DUMP_FILE, require_files
from converter.dumps.pieces import read_pieces
from converter.dumps.typed import decode_object
from converter.dumps.whole import read_whole


def read_dump(directory: Union[str, os.PathLike[str]]) -> Dump:
    """Read a rank directory.

    Nodes are numbered in the order of construct.json, then of dump.json; their leaves follow in that order. Raises UserError when
    dump.json or construct.json is missing, is not valid JSON or holds no tree. Everything else that is wrong is a warning, and
    what can be read is kept. Takes about half the time that `json.load` needs for the same files.
    """
    collecting = gc.isenabled()
    gc.disable()  # millions of short-lived objects, none in a circle
    try:
        return _read(Path(directory))
    finally:
        if collecting:
            gc.enable()


def _read(folder: Path) -> Dump:
    require_files(os.fspath(folder))
    try:
        with deep_recursion():
            entries = _read_entries(folder / DUMP_FILE)
    except (Unreadable, RecursionError, OSError):
        return reference.read_dump(folder)
    inputs: list[FileRecord] = [(DUMP_FILE, entries.size, entries.checksum)]
    document = _load(folder / CONSTRUCT_FILE, inputs, flat=True)
    construct = read_construct(document, folder / CONSTRUCT_FILE)
    warnings = entry_warnings(entries.malformed, entries.unknown)
    warnings += repeated_keys_warning(CONSTRUCT_FILE, getattr(document, "repeated", ()))
    del document
    index, node_of_entry = _number(construct.names, entries.names)
    has_data = np.zeros(len(index), dtype=np.bool_)
    has_data[node_of_entry] = True
    malformed = set(entries.malformed)
    has_data[[node for node, name in zip(node_of_entry.tolist(), entries.names) if name in malformed] if malformed else []] = False
    leaves, row_end = entries.table.finish(node_of_entry, len(index))
    return assemble(folder, entries.header, construct, index, leaves, row_end, has_data, inputs, warnings, _load)


def _read_entries(path: Path) -> Entries:
    try:
        return read_pieces(path)
    except Unreadable:
        return read_whole(path)


def _number(construct_names: list[str], entry_names: list[str]) -> tuple[dict[str, int], NDArray[np.int64]]:
    """The number of every node by name, in the order of the numbers; the node of every entry."""
    index = dict(zip(construct_names, range(len(construct_names))))
    nodes = list(map(index.get, entry_names))
    if None in nodes:
        nodes = [index.setdefault(name, len(index)) for name in entry_names]
    return index, np.array(nodes, dtype=np.int64)


def _load(path: Path, inputs: list[FileRecord], flat: bool = False) -> Any:
    """Decode one file and note its size and checksum in `inputs`. `flat`: make sure that no repeated key goes unnoticed."""
    contents, size, checksum = read_file(path)
    inputs.append((path.name, size, checksum))
    try:
        document = decode_object(contents)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return parse(contents, path)
    if flat and (b"\\" in contents or contents.count(b'"') != _quotes(document)):
        return parse(contents, path)
    return document


def _quotes(document: dict[str, Any]) -> int:
    """How many quotes an object of names, null and [name, number] is written with."""
    texts = len(document)
    for value in document.values():
        if value.__class__ is str:
            texts += 1
        elif value.__class__ is list:
            texts += sum(item.__class__ is str for item in value)
    return 2 * texts
