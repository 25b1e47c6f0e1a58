"""Reads a dump with Python's own `json` and no shortcut: the reader that the fast one is measured against and falls back to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Union

import numpy as np

from converter.dumps.assemble import FileRecord, assemble, entry_warnings
from converter.dumps.columns import Dump, Leaves
from converter.dumps.construct import kind_of, read_construct
from converter.dumps.json_file import parse, read_file, repeated_keys_warning
from converter.dumps.layout import CONSTRUCT_FILE, DUMP_FILE, require_files
from converter.dumps.leaf import GROUP_KEYS, Row, flatten_entry, is_parameters_grad
from converter.errors import UserError
from converter.messages import message


def read_dump(directory: Union[str, os.PathLike[str]]) -> Dump:
    """Read a rank directory. The same columns as `converter.dumps.reader.read_dump` (ids apart), several times slower.

    Raises UserError when dump.json or construct.json is missing, is not valid JSON or holds no tree.
    """
    folder = Path(directory)
    require_files(os.fspath(folder))
    inputs: list[FileRecord] = []
    header = load(folder / DUMP_FILE, inputs)
    data = _data_of(header, folder / DUMP_FILE)
    document = load(folder / CONSTRUCT_FILE, inputs)
    construct = read_construct(document, folder / CONSTRUCT_FILE)
    names = list(dict.fromkeys((*construct.names, *data)))
    rows: list[Row] = []
    row_end: list[int] = []
    for name in names:
        entry = data.get(name)
        if isinstance(entry, dict):
            rows += flatten_entry(entry, is_parameters_grad(name))
        row_end.append(len(rows))
    warnings = repeated_keys_warning(DUMP_FILE, data.repeated) + entry_warnings(*_irregular(data))
    warnings += repeated_keys_warning(CONSTRUCT_FILE, document.repeated)
    has_data = np.array([isinstance(data.get(name), dict) for name in names], dtype=np.bool_)
    index = dict(zip(names, range(len(names))))
    return assemble(folder, header, construct, index, leaves_of(rows), np.array(row_end, dtype=np.int64), has_data, inputs, warnings, load)


def load(path: Path, inputs: list[FileRecord]) -> Any:
    """Decode one file and note its size and checksum in `inputs`."""
    contents, size, checksum = read_file(path)
    inputs.append((path.name, size, checksum))
    return parse(contents, path)


def _data_of(header: Any, path: Path) -> Any:
    """The object `data` of a decoded dump.json."""
    if not isinstance(header, dict):
        raise UserError(message("dump.no_object",
                                "{path} must hold a JSON object with the key data, but holds {found}: dump again, or give another rank "
                                "directory",
                                path=path, found=kind_of(header)))
    if "data" not in header:
        raise UserError(message("dump.no_data", "{path} has no key data: it is no dump.json of a statistics, tensor or structure dump",
                                path=path))
    if not isinstance(header["data"], dict):
        raise UserError(message("dump.data_no_object", "{path}, key data: must be an object (node name: entry), but is {found}",
                                path=path, found=kind_of(header['data'])))
    return header["data"]


def _irregular(data: dict[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Entries that are no objects; unknown keys of entries, each with the first node that has it."""
    malformed = [name for name, entry in data.items() if not isinstance(entry, dict)]
    unknown: dict[str, str] = {}
    for name, entry in data.items():
        if isinstance(entry, dict) and not is_parameters_grad(name):
            for key in entry.keys() - GROUP_KEYS:
                unknown.setdefault(key, name)
    return malformed, unknown


def leaves_of(rows: list[Row]) -> Leaves:
    """Columns of a list of rows."""
    strings: dict[str, int] = {}
    shapes: dict[tuple[int, ...], int] = {}

    def texts(column: int) -> Any:
        return np.array([_number(strings, row[column]) for row in rows], dtype=np.int32)

    def numbers(column: int) -> Any:
        return np.array([row[column] for row in rows], dtype=np.uint8)

    return Leaves(
        role=numbers(0),
        kind=numbers(1),
        name=texts(2),
        type=texts(3),
        dtype=texts(4),
        shape=np.array([-1 if row[5] is None else shapes.setdefault(row[5], len(shapes)) for row in rows], dtype=np.int32),
        requires_grad=numbers(6),
        present=numbers(7),
        statistics=np.array([row[8:12] for row in rows], dtype=np.float64).reshape(len(rows), 4),
        value=texts(12),
        checksum=texts(13),
        data_name=texts(14),
        exact={i: row[15] for i, row in enumerate(rows) if row[15] is not None},
        strings=list(strings),
        shapes=list(shapes),
    )


def _number(ids: dict[str, int], text: Any) -> int:
    return -1 if text is None else ids.setdefault(text, len(ids))
