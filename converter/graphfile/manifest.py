"""manifest.json: what one conversion wrote. Written last, so that a directory with a manifest is complete.

    {"format": 1, "kind": "compare" | "build", "tool": "tb_graph_ascend 0.1.0", "created": "2026-11-29T12:00:00Z",
     "graphs": [{"step": 0, "rank": 0, "file": "step0/rank0.pb"}, …]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

MANIFEST_NAME = "manifest.json"
MANIFEST_FORMAT = 1
UNFINISHED_PREFIX = ".unfinished_"  # of the directory of a conversion that is still running, or that was killed


@dataclass(frozen=True)
class ManifestEntry:
    """One graph file; `file` is relative to the manifest, with "/" between components."""

    step: int
    rank: int
    file: str


def graph_file_name(step: int, rank: int) -> str:
    """Where the graph of a step and rank lies below the directory of its conversion."""
    return f"step{step}/rank{rank}.pb"


def manifest_bytes(kind: str, tool: str, created: str, graphs: Iterable[ManifestEntry]) -> bytes:
    """The manifest's text. `kind`: "compare" or "build"; `created`: RFC 3339, UTC."""
    entries = [{"step": graph.step, "rank": graph.rank, "file": graph.file} for graph in sorted(graphs, key=lambda g: (g.step, g.rank))]
    content = {"format": MANIFEST_FORMAT, "kind": kind, "tool": tool, "created": created, "graphs": entries}
    return (json.dumps(content, indent=1) + "\n").encode("utf-8")
