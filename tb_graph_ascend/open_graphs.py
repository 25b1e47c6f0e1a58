"""Keeps the headers of the graph files that were asked for last, as long as the files do not change."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from converter.errors import UserError
from converter.graphfile.file import GraphFile
from converter.graphfile.source import is_remote, open_source
from tb_graph_ascend.request_checks import RequestProblem
from tb_graph_ascend.runs import Graph, version_of
from tb_graph_ascend.texts import of_error

KEPT = 64  # headers; one of a 100 k pair takes about 0.3 MB
REMOTE_FRESH = 10.0  # seconds for which a remote file is taken to be unchanged


@dataclass(frozen=True)
class OpenGraph:
    """A graph file and the version of it that the header belongs to."""

    file: GraphFile
    version: str
    looked: float  # time.monotonic() of the last look at size and time


class OpenGraphs:
    """Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[str, OpenGraph] = OrderedDict()

    def get(self, graph: Graph) -> OpenGraph:
        """The graph's file in its present state. Raises RequestProblem (404 where it cannot be read)."""
        with self._lock:
            known = self._open.get(graph.path)
        now = time.monotonic()
        if known is not None and is_remote(graph.path) and now - known.looked < REMOTE_FRESH:
            return known
        try:
            source = open_source(graph.path)
            before = known.file.source if known is not None else None
            if known is None or before is None or (before.size, before.changed) != (source.size, source.changed):
                file = GraphFile(source)
                known = OpenGraph(file, version_of(source, file.index.identity), now)
            else:
                known = OpenGraph(known.file, known.version, now)
        except UserError as error:
            raise RequestProblem(of_error(error), 404) from None
        with self._lock:
            self._open[graph.path] = known
            self._open.move_to_end(graph.path)
            while len(self._open) > KEPT:
                self._open.popitem(last=False)
        return known
