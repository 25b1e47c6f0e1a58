"""Keeps the file of manual matches and triage marks that lies beside a graph: `rank0.matches.yaml` for `rank0.pb`.

Written on an explicit act only. Besides it the plugin writes nothing but conversions, where they are allowed
(convert_routes.py). For the format see converter/match/pins.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from converter.errors import UserError
from converter.graphfile.container import write_atomically
from converter.graphfile.errors import GraphFileError
from converter.graphfile.source import is_remote, open_source
from converter.messages import message
from tb_graph_ascend.metadata import GRAPH_SUFFIX

SUFFIX = ".matches.yaml"
LARGEST = 16 << 20  # bytes
NO_FILE = "none"  # revision where there is no file yet

HEADER = """\
# Manual matches and marks of the viewer for the graph file beside this one.
# graph-convert takes this file with --matches, and the viewer reads it again; it may be edited by hand.
"""

SIDES = ("target", "golden")
VERDICTS = ("expected", "ignored")

_lock = threading.Lock()

# Parsing takes a tenth of a millisecond an entry, half a one without libyaml, and matching everything inside of a node makes thousands:
# once for each content is enough.
KEPT = 8  # contents of files
_parsed: OrderedDict[tuple[str, str], Matches] = OrderedDict()
_parsed_lock = threading.Lock()


@dataclass(frozen=True)
class Matches:
    """What the file holds, as plain lists of mappings, in file order."""

    matches: list[dict[str, Any]]
    triage: list[dict[str, Any]]
    mapping: Optional[dict[str, str]]  # the layer mapping put into force: name, text, author, time; None: the graph file's own
    revision: str  # changes with every byte of the file

    def as_json(self, writable: bool) -> dict[str, Any]:
        """The answer to GET matches."""
        return {"matches": self.matches, "mapping": self.mapping, "triage": self.triage, "revision": self.revision, "writable": writable}


class Conflict(Exception):
    """The file is not the one that the writer had read; `current` is what it holds now."""

    def __init__(self, current: Matches) -> None:
        super().__init__("the matches were changed by someone else")
        self.current = current


def matches_path(graph_path: str) -> str:
    """Path of the matches file of a graph file."""
    return graph_path[: -len(GRAPH_SUFFIX)] + SUFFIX if graph_path.endswith(GRAPH_SUFFIX) else graph_path + SUFFIX


def can_write(graph_path: str) -> bool:
    """Whether this process may write beside the graph."""
    return not is_remote(graph_path) and os.access(os.path.dirname(graph_path), os.W_OK)


def read_matches(graph_path: str) -> Matches:
    """What the file beside the graph holds; nothing where there is none. Raises UserError where it cannot be understood."""
    path = matches_path(graph_path)
    if not is_remote(path) and not os.path.lexists(path):
        return Matches([], [], None, NO_FILE)
    try:
        source = open_source(path)
    except GraphFileError:
        if is_remote(path):
            return Matches([], [], None, NO_FILE)
        raise
    if source.size > LARGEST:
        raise _too_large(path, source.size)
    content = source.read_range(0, source.size)
    key = (path, _revision(content))
    with _parsed_lock:
        known = _parsed.get(key)
    if known is None:
        known = _parse(content, path)
        _remember(key, known)
    return known


def _remember(key: tuple[str, str], parsed: Matches) -> None:
    with _parsed_lock:
        _parsed[key] = parsed
        _parsed.move_to_end(key)
        while len(_parsed) > KEPT:
            _parsed.popitem(last=False)


def write_matches(graph_path: str, matches: Any, triage: Any, revision: str, mapping: Any = None) -> Matches:
    """Replaces the file's content in one piece, if it still is what `revision` names.

    Raises Conflict where it is not, UserError where the new or the present content is not understood, OSError.
    """
    path = matches_path(graph_path)
    wanted_matches, wanted_triage = _check_matches(matches, path), _check_triage(triage, path)
    wanted_mapping = _check_mapping(mapping, path)
    with _exclusively(os.path.dirname(path)):
        current = read_matches(graph_path)
        if current.revision != revision:
            raise Conflict(current)
        content = _to_yaml(wanted_matches, wanted_triage, wanted_mapping)
        if len(content) > LARGEST:
            raise _too_large(path, len(content))  # it could be written, but never read again
        write_atomically(path, [content])
    written = Matches(wanted_matches, wanted_triage, wanted_mapping, _revision(content))
    _remember((path, written.revision), written)
    return written


def _too_large(path: str, size: int) -> UserError:
    return UserError(message("matches.too_large",
                             "{path} is {size} bytes long, more than the {largest} that a matches file may have. Remove or shorten it.",
                             path=path, size=size, largest=LARGEST))


def _parse(content: bytes, path: str) -> Matches:
    from converter.match.pins import document_of
    from converter.yaml_source import decode_text

    document = document_of(decode_text(content, path), path)
    matches = _check_matches(document.get("matches") or [], path)
    mapping = _check_mapping(document.get("mapping") or None, path)
    return Matches(matches, _check_triage(document.get("triage") or [], path), mapping, _revision(content))


def _check_matches(entries: Any, path: str) -> list[dict[str, Any]]:
    from converter.match.pins import pins_of

    pins = pins_of(entries, path).pins
    checked = []
    for entry, pin in zip(entries, pins):
        texts = {key: str(entry[key]) for key in ("author", "time") if entry.get(key)}
        names: dict[str, Any] = {"target": list(pin.target), "golden": list(pin.golden)}
        checked.append({"action": pin.action, **names, "relation": pin.relation.name.lower(), **texts})
    return checked


def _check_triage(entries: Any, path: str) -> list[dict[str, Any]]:
    if not isinstance(entries, list):
        raise UserError(message("triage.no_list", "{path}: `triage` must be a list, found {found}", path=path,
                                found=type(entries).__name__))
    checked = []
    for number, entry in enumerate(entries, 1):
        where = message("triage.entry", "{path}: entry {number} of `triage`", path=path, number=number)
        if not isinstance(entry, dict) or not isinstance(entry.get("nodes"), str) or not entry["nodes"]:
            raise UserError(message("triage.nodes", "{where}: nodes must be a node name or a pattern", where=where))
        side, verdict = entry.get("side", "target"), entry.get("verdict", "expected")
        if side not in SIDES:
            raise UserError(message("triage.side", "{where}: side must be target or golden, found {found}", where=where, found=repr(side)))
        if verdict not in VERDICTS:
            raise UserError(message("triage.verdict", "{where}: verdict must be expected or ignored, found {found}", where=where,
                                    found=repr(verdict)))
        texts = {key: str(entry[key]) for key in ("note", "author", "time") if entry.get(key)}
        checked.append({"nodes": entry["nodes"], "side": side, "verdict": verdict, **texts})
    return checked


def _check_mapping(entry: Any, path: str) -> Optional[dict[str, str]]:
    from converter.match.pins import kept_mapping

    mapping = kept_mapping(entry, path)
    if mapping is None:
        return None
    texts = {key: str(entry[key]) for key in ("author", "time") if entry.get(key)}
    return {"name": mapping.name, "text": mapping.text, **texts}


def _to_yaml(matches: list[dict[str, Any]], triage: list[dict[str, Any]], mapping: Optional[dict[str, str]]) -> bytes:
    import yaml

    class Readable(yaml.SafeDumper):
        """Texts of several lines as they would stand in a file of their own."""

    def lines(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
        # YAML takes these for line breaks too, and turns them into others: only quotes keep them.
        quoted = any(character in text for character in "\r\x85\u2028\u2029")
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if quoted else "|" if "\n" in text else None)

    Readable.add_representer(str, lines)
    document = {"matches": matches, **({"mapping": mapping} if mapping is not None else {}), "triage": triage}
    text = yaml.dump(document, Dumper=Readable, allow_unicode=True, sort_keys=False, default_flow_style=False, width=1000)
    return (HEADER + text).encode("utf-8")


def _revision(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


@contextlib.contextmanager
def _exclusively(directory: str) -> Iterator[None]:
    """One writer at a time, in this process and, where the system can lock a directory, on this machine."""
    with _lock, contextlib.ExitStack() as stack:
        try:
            import fcntl

            descriptor = os.open(directory, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass  # Windows, some network file systems: the revision check remains
        yield
