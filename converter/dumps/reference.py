"""Reads a dump with Python's own `json` and no shortcut: the reader that the fast one is measured against and falls back to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Union

import numpy as np

from converter.dumps.columns import Dump, LeafKind, Leaves
from converter.dumps.construct import Construct, kind_of, read_construct
from converter.dumps.json_file import listed, parse, read_file, repeated_keys_warning
from converter.dumps.layout import CONSTRUCT_FILE, DUMP_FILE, STACK_FILE, TENSOR_DIRECTORY, require_files
from converter.dumps.leaf import GROUP_KEYS, Row, flatten_entry, is_parameters_grad
from converter.dumps.stacks import read_stacks
from converter.errors import UserError


def read_dump(directory: Union[str, os.PathLike[str]]) -> Dump:
    """Read a rank directory. The same columns as `converter.dumps.reader.read_dump`, several times slower.

    Raises UserError when dump.json or construct.json is missing, is not valid JSON or holds no tree.
    """
    folder = Path(directory)
    require_files(os.fspath(folder))
    inputs: list[tuple[str, int, int]] = []
    header = load(folder / DUMP_FILE, inputs)
    data, warnings = data_of(header, folder / DUMP_FILE)
    document = load(folder / CONSTRUCT_FILE, inputs)
    construct = read_construct(document, folder / CONSTRUCT_FILE)
    names = construct.names + [name for name in data if name not in document]
    rows: list[Row] = []
    row_end: list[int] = []
    malformed: list[str] = []
    unknown: dict[str, str] = {}
    for name in names:
        entry = data.get(name)
        if isinstance(entry, dict):
            gradients = is_parameters_grad(name)
            rows += flatten_entry(entry, gradients)
            if not gradients:
                for key in entry.keys() - GROUP_KEYS:
                    unknown.setdefault(key, name)
        elif name in data:
            malformed.append(name)
        row_end.append(len(rows))
    warnings += repeated_keys_warning(DUMP_FILE, getattr(data, "repeated", ()))
    warnings += entry_warnings(malformed, unknown)
    warnings += repeated_keys_warning(CONSTRUCT_FILE, getattr(document, "repeated", ())) + construct.warnings
    has_data = [isinstance(data.get(name), dict) for name in names]
    return finish(folder, header, construct, names, leaves_of(rows), row_end, has_data, inputs, warnings)


def load(path: Path, inputs: list[tuple[str, int, int]]) -> Any:
    """Decode one file and note its size and checksum in `inputs`."""
    contents, size, checksum = read_file(path)
    inputs.append((path.name, size, checksum))
    return parse(contents, path)


def data_of(header: Any, path: Path) -> tuple[dict[str, Any], list[str]]:
    """The object `data` of a decoded dump.json."""
    if not isinstance(header, dict):
        raise UserError(f"{path} must hold a JSON object with the key data, but holds {kind_of(header)}: "
                        "dump again, or give another rank directory")
    if "data" not in header:
        raise UserError(f"{path} has no key data: it is no dump.json of a statistics, tensor or structure dump")
    data = header["data"]
    if not isinstance(data, dict):
        raise UserError(f"{path}, key data: must be an object (node name: entry), but is {kind_of(data)}")
    if not data and header.get("task") != "structure":
        return data, [f"{path.name}: data is empty, so only names and levels can be compared"]
    return data, []


def entry_warnings(malformed: list[str], unknown: dict[str, str]) -> list[str]:
    """Warnings about entries that are no objects, and about keys of entries (key → first node) that no reader knows."""
    warnings = []
    if malformed:
        warnings.append(f"{DUMP_FILE}: the entry is no object, so the node keeps no data: {listed(malformed)}")
    if unknown:
        keys = sorted(unknown)
        warnings.append(f"{DUMP_FILE}: unknown keys of entries are passed over: {listed(keys)}, first at {unknown[keys[0]]}")
    return warnings


def finish(folder: Path, header: dict[str, Any], construct: Construct, names: list[str], leaves: Leaves, row_end: Any,
           has_data: Any, inputs: list[tuple[str, int, int]], warnings: list[str]) -> Dump:
    """Read the stacks and put the columns together."""
    stacks, stack, stack_warnings = stacks_of(folder, names, inputs)
    tensors = folder / TENSOR_DIRECTORY
    return Dump(
        path=os.fspath(folder),
        task=_text(header, "task"),
        level=_text(header, "level"),
        framework=_text(header, "framework"),
        summary_mode=summary_mode(leaves),
        tensor_directory=os.path.abspath(tensors) if tensors.is_dir() else "",
        names=names,
        construct_count=len(construct.names),
        parents=construct.parents,
        micro_steps=construct.micro_steps,
        row_end=np.asarray(row_end, dtype=np.int64),
        has_data=np.asarray(has_data, dtype=np.bool_),
        leaves=leaves,
        stacks=stacks,
        stack=stack,
        inputs=inputs,
        warnings=warnings + stack_warnings,
    )


def stacks_of(folder: Path, names: list[str], inputs: list[tuple[str, int, int]]) -> tuple[list[tuple[str, ...]], Any, list[str]]:
    """Stacks as `read_stacks` gives them; a dump without stack.json has none."""
    path = folder / STACK_FILE
    if not path.exists():
        return [], np.full(len(names), -1, dtype=np.int32), [f"{STACK_FILE} is not there: nodes have no call stacks"]
    document = load(path, inputs)
    stacks, stack, warnings = read_stacks(document, dict(zip(names, range(len(names)))), names)
    return stacks, stack, repeated_keys_warning(STACK_FILE, getattr(document, "repeated", ())) + warnings


def summary_mode(leaves: Leaves) -> str:
    """statistics | md5 | xor | none, by what the tensors hold."""
    checksums = leaves.checksum[leaves.checksum >= 0]
    if len(checksums):
        return "xor" if leaves.strings[int(checksums[0])].startswith("0x") else "md5"
    return "statistics" if leaves.present[leaves.kind == LeafKind.TENSOR].any() else "none"


def _text(header: dict[str, Any], key: str) -> str:
    value = header.get(key)
    return value if isinstance(value, str) else ""


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
