"""JSON files of a dump as bytes and as Python objects; what is wrong with them is told by file, line and column."""

from __future__ import annotations

import json
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from converter.errors import UserError
from converter.messages import message

# Levels of JSON nesting that are read. The interpreter's own limit of 1,000 is below what real dumps may hold.
DEEPEST_NESTING = 10_000

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPED_SURROGATES = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class Object(dict):  # type: ignore[type-arg]
    """A JSON object that remembers the keys that stood in it twice (the last value counts)."""

    repeated: tuple[str, ...] = ()


def read_file(path: Path) -> tuple[bytearray, int, int]:
    """Contents of a file without byte order mark, its size in bytes and its CRC-32.

    Escapes of lone surrogates (`\\ud800`), which no UTF-8 text can hold, become `\\ufffd` in the same place.
    Raises UserError when the file is not there or cannot be read.
    """
    try:
        with open(path, "rb") as file:
            contents = bytearray(os.fstat(file.fileno()).st_size)
            del contents[file.readinto(contents):]
            contents += file.read()
    except FileNotFoundError:
        raise UserError(message("dump.file_missing",
                                "{path} is not there: give the directory of a rank, which holds dump.json, construct.json and "
                                "stack.json",
                                path=path)
                        ) from None
    except OSError as error:
        raise UserError(message("file.unreadable", "{path} cannot be read: {why}", path=path, why=error.strerror or error)) from None
    size, checksum = len(contents), zlib.crc32(contents)
    if contents.startswith(BYTE_ORDER_MARK):
        del contents[:len(BYTE_ORDER_MARK)]
    if SURROGATE.search(contents):
        for match in _ESCAPED_SURROGATES.finditer(bytes(contents)):
            if match.end() - match.start() == 6:
                contents[match.start():match.end()] = rb"\ufffd"
    return contents, size, checksum


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let the JSON decoders go down to DEEPEST_NESTING levels."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEPEST_NESTING))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def parse(contents: bytes | bytearray, path: Path) -> Any:
    """The whole file by Python's own `json`: slow, exact, and the source of every message about JSON syntax.

    Objects come back as `Object`. Raises UserError with line and column.
    """
    try:
        text = contents.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = position(contents, error.start)
        raise UserError(message("json.not_utf8", "{path}, line {line}, column {column}: not UTF-8 text; is this file a JSON dump?",
                                path=path, line=line, column=column)) from None
    if not text.strip():
        raise UserError(message("json.empty", "{path} is empty: the dump was not finished; dump again", path=path))
    try:
        with deep_recursion():
            try:
                return json.loads(text, object_pairs_hook=_object)
            except json.JSONDecodeError:
                raise
            except ValueError:  # an integer of more digits than int() takes
                return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        place = {"path": path, "line": error.lineno, "column": error.colno}
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            raise UserError(message("json.cut_off", "{path}, line {line}, column {column}: the file ends in the middle of a value: it was "
                                    "cut off; copy it again or dump again", **place)) from None
        raise UserError(message("json.invalid", "{path}, line {line}, column {column}: not valid JSON: {why}", **place,
                                why=error.msg)) from None
    except RecursionError:
        raise UserError(message("json.too_deep", "{path}: values are nested deeper than {levels} levels",
                                path=path, levels=f"{DEEPEST_NESTING:,}")) from None


def _integer(digits: str) -> int | str:
    """An integer; its digits as text where they are too many for Python's int()."""
    try:
        return int(digits)
    except ValueError:
        return digits


def _object(pairs: list[tuple[str, Any]]) -> Object:
    result = Object(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        repeated: dict[str, None] = {}
        for key, _ in pairs:
            if key in seen:
                repeated[key] = None
            seen.add(key)
        result.repeated = tuple(repeated)
    return result


def position(contents: bytes | bytearray, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of a byte offset. The column counts bytes."""
    start = contents.rfind(b"\n", 0, offset) + 1
    return contents.count(b"\n", 0, offset) + 1, offset - start + 1


def repeated_keys_warning(file_name: str, keys: tuple[str, ...]) -> list[str]:
    """One warning for the node names that a file holds more than once."""
    if not keys:
        return []
    if len(keys) == 1:
        return [message("dump.repeated_key", "{file}: 1 repeated key, the last value counts: {keys}", file=file_name, keys=listed(keys))]
    return [message("dump.repeated_keys", "{file}: {count} repeated keys, the last value counts: {keys}", file=file_name, count=len(keys),
                    keys=listed(keys))]


def listed(names: tuple[str, ...] | list[str], most: int = 5) -> str:
    """The first names in quotes, and how many more there are."""
    text = ", ".join(f'"{name}"' for name in names[:most])
    return text if len(names) <= most else message("and_more", "{names} and {count} more", names=text, count=len(names) - most)
