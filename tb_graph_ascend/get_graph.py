"""GET graph: the index of one graph file."""

from __future__ import annotations

from typing import Any

from werkzeug.wrappers import Request, Response

from converter.graphfile.container import Index
from tb_graph_ascend.open_graphs import OpenGraphs
from tb_graph_ascend.request_checks import graph_of
from tb_graph_ascend.responses import json_response
from tb_graph_ascend.run_finder import RunFinder


def get_graph(request: Request, finder: RunFinder, graphs: OpenGraphs) -> Response:
    """Version, writer and the sections with their lengths."""
    _, graph = graph_of(request.args, finder)
    opened = graphs.get(graph)
    return json_response(request, index_as_json(opened.file.index, opened.version))


def index_as_json(index: Index, version: str) -> dict[str, Any]:
    """What the front end needs to know of a file before it asks for sections."""
    return {
        "version": version,
        "major": index.major,
        "tool": index.tool,
        "sections": [
            {"name": entry.name, "stored_length": entry.stored_length, "raw_length": entry.raw_length} for entry in index.sections.values()
        ],
    }
