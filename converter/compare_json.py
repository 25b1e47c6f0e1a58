"""compare.json, the peer's input file: which two dumps to compare."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from converter.errors import UserError

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
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}") from error
    except ValueError as error:  # an integer of more digits than int() takes
        raise UserError(f"{path}: not valid JSON: {error}") from error
    except RecursionError as error:
        raise UserError(f"{path}: nested too deeply for a file of four keys") from error
    if not isinstance(content, dict):
        raise UserError(f'{path}: expected an object like {{"npu_path": "…", "bench_path": "…"}}, found {_type_name(content)}')
    if "npu_path" not in content:
        raise UserError(f"{path}: the key npu_path is missing: it names the dump to debug")
    target = _path(content, "npu_path", path, required=True)
    golden = _path(content, "bench_path", path, required=False)
    log = content.get("is_print_compare_log", True)
    if not isinstance(log, bool):
        raise UserError(f"{path}, key is_print_compare_log: expected true or false, found {_type_name(log)}")
    if content.get("parallel_merge") not in (None, {}):
        raise UserError(f"{path}, key parallel_merge: merging parallel ranks is not built yet; remove the key to compare rank by rank")
    unknown = [key for key in content if key not in KEYS]
    warnings = [f"{path}: unknown key {key!r} is passed over; known: {', '.join(KEYS)}" for key in unknown]
    return CompareFile(target, golden, warnings)


def _path(content: dict[str, Any], key: str, name: str, required: bool) -> str:
    value = content.get(key)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise UserError(f"{name}, key {key}: expected a path as text, found {_type_name(value)}")
    if not value.strip():
        if not required:
            return ""
        raise UserError(f"{name}, key {key}: the path is empty")
    try:
        impossible = "\0" in value or not os.fsencode(value)
    except UnicodeEncodeError:
        impossible = True
    if impossible:
        raise UserError(f"{name}, key {key}: {value!r} holds a character that no path can hold")
    return value


def _type_name(value: object) -> str:
    return {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number", type(None): "null"}[
        type(value)
    ]
