"""Puts the columns of the three files of a rank directory together; what both readers share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Dump, LeafKind, Leaves
from converter.dumps.construct import Construct
from converter.dumps.json_file import listed
from converter.dumps.layout import DUMP_FILE, STACK_FILE, TENSOR_DIRECTORY
from converter.dumps.stacks import read_stacks
from converter.messages import message

FileRecord = tuple[str, int, int]  # name, size in bytes, CRC-32
Load = Callable[[Path, list[FileRecord]], Any]  # decodes a JSON file and adds its record to the list


def assemble(folder: Path, header: dict[str, Any], construct: Construct, index: dict[str, int], leaves: Leaves,
             row_end: NDArray[np.int64], has_data: NDArray[np.bool_], inputs: list[FileRecord], warnings: list[str], load: Load) -> Dump:
    """The dump of these columns, and of stack.json, which is read here. `index`: name → node, in the order of the nodes."""
    names = list(index)
    if not has_data.any() and header.get("task") != "structure":
        warnings = [*warnings, message("dump.data_empty", "{file}: data is empty, so only names and levels can be compared",
                                       file=DUMP_FILE)]
    stacks, stack, stack_warnings = _stacks(folder, index, names, inputs, load)
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
        row_end=row_end,
        has_data=has_data,
        leaves=leaves,
        stacks=stacks,
        stack=stack,
        inputs=inputs,
        warnings=warnings + construct.warnings + stack_warnings,
    )


def entry_warnings(malformed: list[str], unknown: dict[str, str]) -> list[str]:
    """Warnings about entries that are no objects, and about keys of entries (key → first node) that no reader knows."""
    warnings = []
    if malformed:
        warnings.append(message("dump.entry_no_object", "{file}: the entry is no object, so the node keeps no data: {names}",
                                file=DUMP_FILE, names=listed(malformed)))
    if unknown:
        keys = sorted(unknown)
        warnings.append(message("dump.unknown_keys", "{file}: unknown keys of entries are passed over: {keys}, first at {node}",
                                file=DUMP_FILE, keys=listed(keys), node=unknown[keys[0]]))
    return warnings


def summary_mode(leaves: Leaves) -> str:
    """statistics | md5 | xor | none, by what the tensors hold."""
    checksums = leaves.checksum[leaves.checksum >= 0]
    if len(checksums):
        return "xor" if leaves.strings[int(checksums[0])].startswith("0x") else "md5"
    return "statistics" if leaves.present[leaves.kind == LeafKind.TENSOR].any() else "none"


def _stacks(folder: Path, index: dict[str, int], names: list[str], inputs: list[FileRecord], load: Load,
            ) -> tuple[list[tuple[str, ...]], NDArray[np.int32], list[str]]:
    """Stacks as `read_stacks` gives them; a dump without stack.json has none."""
    path = folder / STACK_FILE
    if not path.exists():
        return (
            [],
            np.full(len(names), -1, dtype=np.int32),
            [message("stack.missing", "{file} is not there: nodes have no call stacks", file=STACK_FILE)],
        )
    return read_stacks(load(path, inputs), index, names)


def _text(header: dict[str, Any], key: str) -> str:
    value = header.get(key)
    return value if isinstance(value, str) else ""
