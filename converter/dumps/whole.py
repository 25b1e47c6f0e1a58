"""Reads a dump.json that is not indented: the text is split into entries as a whole, which are decoded in batches.

Needs the text in memory and twice the time of the way by pieces, which is still a fraction of `json.load`.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from converter.dumps.entries import Entries, Unreadable, read_texts, refuse_doubtful
from converter.dumps.json_file import read_file
from converter.dumps.non_finite import DELETE, ESCAPED_DELETE, mark_non_finite
from converter.dumps.typed import split_entries

BATCH = 1024  # entries
_SEPARATORS = ((1, 1), (2, 2))  # lengths of what json.dump writes between members, and between key and value


def read_whole(path: Path) -> Entries:
    """Read dump.json. Raises Unreadable when the file needs another way of reading."""
    entries = Entries()
    contents, entries.size, entries.checksum = read_file(path)
    if DELETE in contents or ESCAPED_DELETE.search(contents):
        raise Unreadable
    mark_non_finite(contents, 0, len(contents))
    try:
        header: dict[str, Any] = split_entries(contents)
        data = header.pop("data", msgspec.Raw(b"null"))
        texts = split_entries(data)
        entries.header = {key: msgspec.json.decode(value) for key, value in header.items()}
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Unreadable from None
    if not _complete(data, texts):
        raise Unreadable
    remaining = iter(texts.items())
    while batch := dict(islice(remaining, BATCH)):
        try:
            read_texts(entries, batch)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise Unreadable from None
    refuse_doubtful(entries)
    return entries


def _complete(data: msgspec.Raw, texts: dict[str, msgspec.Raw]) -> bool:
    """Whether the members account for every byte of the object, as they do not where a name is repeated."""
    size = len(data)
    used = 2 + sum(len(text) for text in texts.values()) + sum(len(json.dumps(name)) for name in texts)
    return any(size == used + max(len(texts) - 1, 0) * between + len(texts) * behind_key for between, behind_key in _SEPARATORS)
