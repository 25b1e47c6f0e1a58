"""graph-view export: one HTML file with the viewer and a run's graphs in it, which opens from a disk or a mail.

The front end finds the data in `window.__TB_GRAPH_EMBEDDED__`:
    {"runs": as GET runs, "graphs": {"run|step|rank": as GET graph}, "marks": {"run|step|rank": as GET matches},
     "sections": {"run|step|rank|name": base64 of the stored bytes}, "view": what the address said where the page was saved}
Pairs and verdicts are those that the viewer shows: with the matches and the mapping that lie beside the graph.
"""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from converter.errors import UserError
from converter.graphfile.container import write_atomically
from converter.graphfile.file import GraphFile, open_graph
from converter.messages import message
from tb_graph_ascend.directory_walk import walk
from tb_graph_ascend.get_asset import BUNDLE
from tb_graph_ascend.get_graph import index_as_json
from tb_graph_ascend.kept_changes import KeptChanges, kept_changes
from tb_graph_ascend.list_runs import run_as_json
from tb_graph_ascend.metadata import TAB_NAME
from tb_graph_ascend.runs import Graph, GraphChecker, Run, runs_in

VIEWER = os.path.join(BUNDLE, "export", "viewer.js")
# Nothing is loaded from anywhere; the viewer and the data are inline.
POLICY = ("default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
          "base-uri 'none'; form-action 'none'")
DATA_ID = "tb-graph-embedded"
COMPARISONS = "comparisons/"


def export_page(run_path: str, output: str, step: int | None = None, rank: int | None = None) -> int:
    """Writes `output` and returns its size in bytes. `step` and `rank` choose among the run's graphs.

    Raises UserError where there is no such run or graph, where one cannot be read, or where `output` cannot be written.
    """
    page = page_of(_only(_run_at(run_path), step, rank))
    try:
        return write_atomically(output, page)
    except OSError as problem:
        raise UserError(f"{output} cannot be written: {problem.strerror or problem}") from None


def page_of(run: Run, view: str = "") -> Iterator[bytes]:
    """The page of a run's graphs, in pieces; it opens with `view`, fields of an address. Raises GraphFileError while it is read.

    Raises UserError where the front end is not built, or where what lies beside a graph cannot be put into force.
    """
    viewer = _viewer()
    return _page(run, viewer, {_key(run, graph): kept_changes(graph.path) for graph in run.graphs}, view)


def _run_at(path: str) -> Run:
    checker = GraphChecker()
    own_name = os.path.basename(os.path.abspath(path))
    if os.path.isfile(path):
        graph, check = checker.check(Graph(0, 0, own_name, path))
        return Run(own_name, os.path.dirname(path), check.kind, check.created, (replace(graph, step=check.step, rank=check.rank),))
    runs = list(runs_in(walk(path), "", checker))
    if not runs:
        raise UserError(f"{path}: no graph file is there. Name a directory compare_… or build_… of graph-convert, or one graph file.")
    if len(runs) > 1:
        raise UserError(f"{path}: there are {len(runs)} runs below it. Name one of them: {', '.join(run.name for run in runs[:5])}")
    return replace(runs[0], name=own_name if runs[0].name == "." else runs[0].name)


def _only(run: Run, step: int | None, rank: int | None) -> Run:
    chosen = tuple(graph for graph in run.graphs if step in (None, graph.step) and rank in (None, graph.rank))
    if not chosen:
        there = ", ".join(f"step {graph.step} rank {graph.rank}" for graph in run.graphs[:10])
        raise UserError(f"{run.name} has no graph of that step and rank. It has: {there or 'none'}")
    for graph in chosen:
        if graph.problem is not None:
            raise UserError(f"{graph.problem.en} Leave it out with --step and --rank.")
    return replace(run, graphs=chosen)


def _viewer() -> bytes:
    try:
        with open(VIEWER, "rb") as stream:
            return stream.read()
    except OSError:
        raise UserError(message("export.not_built",
                                "the front end is not built. Run in the project's directory: python build_backend/front_end.py")) from None


def _page(run: Run, viewer: bytes, changes: dict[str, KeptChanges], view: str) -> Iterator[bytes]:
    title = html.escape(f"{run.name} - {TAB_NAME}")
    yield (f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
           f'<meta http-equiv="Content-Security-Policy" content="{html.escape(POLICY)}">\n'
           f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n</head>\n<body>\n'
           f'<script type="application/json" id="{DATA_ID}">').encode()
    yield from _embedded(run, changes, view)
    yield (f'</script>\n<script>window.__TB_GRAPH_EMBEDDED__ = JSON.parse(document.getElementById("{DATA_ID}").textContent);</script>\n'
           '<script type="module">import { render } from "data:text/javascript;base64,').encode()
    yield base64.b64encode(viewer)
    yield b'"; render();</script>\n</body>\n</html>\n'


def _key(run: Run, graph: Graph) -> str:
    return f"{run.name}|{graph.step}|{graph.rank}"


def _embedded(run: Run, changes: dict[str, KeptChanges], view: str) -> Iterator[bytes]:
    listing = {"runs": [run_as_json(run)], "scanning": False, "logdir_empty": False, "problems": [], "writable": False, "host": "export"}
    files = {_key(run, graph): (graph, open_graph(graph.path)) for graph in run.graphs}
    graphs = {key: index_as_json(file.index, graph.version) for key, (graph, file) in files.items()}
    marks = {key: change.marks for key, change in changes.items()}
    yield b'{"view":' + _json(view) + b',"runs":' + _json(listing) + b',"graphs":' + _json(graphs) + b',"marks":' + _json(marks)
    yield b',"sections":{'
    comma = b""
    for key, (_, file) in files.items():
        changed = changes[key].sections
        for name in [*file.index.sections, *(name for name in changed if name not in file.index.sections)]:
            if changed and name.startswith(COMPARISONS) and name not in changed:
                continue  # of pairs that are no longer there
            content = changed[name].encode("ascii") if name in changed else _section(file, name)
            yield comma + _json(f"{key}|{name}") + b':"' + content + b'"'
            comma = b","
    yield b"}}"


def _section(file: GraphFile, name: str) -> bytes:
    return base64.b64encode(file.stored(name))


def _json(content: Any) -> bytes:
    """JSON that can stand inside a <script> element whatever its texts are."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").encode("ascii")
