"""GET section: one section of a graph file, as it is stored."""

from __future__ import annotations

import gzip

from werkzeug.wrappers import Request, Response

from converter.graphfile.errors import GraphFileError
from tb_graph_ascend.metadata import PROTOBUF_TYPE
from tb_graph_ascend.open_graphs import OpenGraphs
from tb_graph_ascend.request_checks import RequestProblem, graph_of, text_of
from tb_graph_ascend.responses import gzipped_response
from tb_graph_ascend.run_finder import RunFinder
from tb_graph_ascend.texts import changed, of_error


def get_section(request: Request, finder: RunFinder, graphs: OpenGraphs) -> Response:
    """The section's message. With the current version in `v` the answer may be kept for ever; another one is a conflict."""
    _, graph = graph_of(request.args, finder)
    name, wanted = text_of(request.args, "name"), request.args.get("v")
    opened = graphs.get(graph)
    if wanted is not None and wanted != opened.version:
        raise RequestProblem(changed(graph.file), 409)
    entry = opened.file.index.sections.get(name)
    try:
        stored = opened.file.stored(name)
    except GraphFileError as error:
        raise RequestProblem(of_error(error), 404) from None
    packed = stored if entry is None or entry.gzipped else gzip.compress(stored, 1, mtime=0)
    return gzipped_response(request, packed, PROTOBUF_TYPE, f"{opened.version}-{name}", immutable=wanted is not None)
