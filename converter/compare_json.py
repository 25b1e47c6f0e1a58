"""compare.json, the peer's input file: which two dumps to compare."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from converter.dumps.construct import kind_of
from converter.errors import UserError
from converter.messages import message

KEYS = ("npu_path", "bench_path", "is_print_compare_log", "parallel_merge")


@dataclass(frozen=True)
class CompareFile:
    """What the file says; paths as written (they are relative to the current directory)."""

    target: str
    golden: str
    warnings: list[str]


def read_compare_file(path: str) -> CompareFile:
    """Read compare.json.

    Raises:
        UserError: it cannot be read, is no JSON (with line and column), a key has the wrong type, or `parallel_merge`
            is asked for, which this version does not do.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except OSError as error:
        raise UserError(message("file.unreadable", "{path} cannot be read: {why}", path=path, why=error.strerror or error)) from error
    except UnicodeDecodeError as error:
        raise UserError(message("file.not_utf8", "{path} is not UTF-8 text (byte {byte}): save it as UTF-8",
                                path=path, byte=error.start)) from error
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(message("json.invalid", "{path}, line {line}, column {column}: not valid JSON: {why}",
                                path=path, line=error.lineno, column=error.colno, why=error.msg)) from error
    except ValueError as error:  # an integer of more digits than int() takes
        raise UserError(message("json.invalid_number", "{path}: not valid JSON: {why}", path=path, why=error)) from error
    except RecursionError as error:
        raise UserError(message("compare_json.too_deep", "{path}: nested too deeply for a file of four keys", path=path)) from error
    if not isinstance(content, dict):
        raise UserError(message("compare_json.no_object",
                                '{path}: expected an object like {"npu_path": "…", "bench_path": "…"}, found {found}',
                                path=path, found=kind_of(content)))
    if "npu_path" not in content:
        raise UserError(message("compare_json.no_target", "{path}: the key npu_path is missing: it names the dump to debug", path=path))
    target = _path(content, "npu_path", path, required=True)
    golden = _path(content, "bench_path", path, required=False)
    log = content.get("is_print_compare_log", True)
    if not isinstance(log, bool):
        raise UserError(message("compare_json.log", "{path}, key is_print_compare_log: expected true or false, found {found}",
                                path=path, found=kind_of(log)))
    if content.get("parallel_merge") not in (None, {}):
        raise UserError(message("compare_json.parallel_merge",
                                "{path}, key parallel_merge: merging parallel ranks is not built yet; remove the key to compare rank "
                                "by rank",
                                path=path))
    unknown = [key for key in content if key not in KEYS]
    warnings = [message("compare_json.unknown_key", "{path}: unknown key {key} is passed over; known: {keys}",
                        path=path, key=repr(key), keys=tuple(KEYS)) for key in unknown]
    return CompareFile(target, golden, warnings)


def _path(content: dict[str, Any], key: str, name: str, required: bool) -> str:
    value = content.get(key)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise UserError(message("compare_json.no_path", "{name}, key {key}: expected a path as text, found {found}",
                                name=name, key=key, found=kind_of(value)))
    if not value.strip():
        if not required:
            return ""
        raise UserError(message("compare_json.empty_path", "{name}, key {key}: the path is empty", name=name, key=key))
    try:
        impossible = "\0" in value or not os.fsencode(value)
    except UnicodeEncodeError:
        impossible = True
    if impossible:
        raise UserError(message("compare_json.impossible_path", "{name}, key {key}: {path} holds a character that no path can hold",
                                name=name, key=key, path=repr(value)))
    return value
