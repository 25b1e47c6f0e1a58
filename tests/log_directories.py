"""Log directories for tests of the server: small graph files with manifests, as a conversion leaves them."""

from __future__ import annotations

import os

from graph_contents import build_content, compare_content

from converter.graphfile.container import write_atomically
from converter.graphfile.manifest import MANIFEST_NAME, ManifestEntry, graph_file_name, manifest_bytes
from converter.graphfile.writer import graph_chunks

SMALL = "ms_cnn_mix_stat/target/step0/rank0"
CREATED = "2026-11-29T12:00:00Z"
_bytes: dict[str, bytes] = {}


def graph_bytes(kind: str = "compare") -> bytes:
    """A small graph file; made once."""
    if kind not in _bytes:
        content = compare_content(SMALL, SMALL) if kind == "compare" else build_content(SMALL)
        _bytes[kind] = b"".join(graph_chunks(content))
    return _bytes[kind]


def write_run(directory: str, graphs: tuple[tuple[int, int], ...] = ((0, 0),), kind: str = "compare", manifest: bool = True) -> str:
    """One run in `directory`, as graph-convert writes it."""
    for step, rank in graphs:
        path = os.path.join(directory, graph_file_name(step, rank))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(graph_bytes(kind))
    if manifest:
        entries = [ManifestEntry(step, rank, graph_file_name(step, rank)) for step, rank in graphs]
        write_atomically(os.path.join(directory, MANIFEST_NAME), [manifest_bytes(kind, "test", CREATED, entries)])
    return directory
