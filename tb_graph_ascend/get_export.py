"""GET export: one graph as an HTML file with everything inside, to save."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote

from werkzeug.wrappers import Request, Response

from converter.errors import UserError
from tb_graph_ascend.export_page import page_of
from tb_graph_ascend.kept_changes import NotNow
from tb_graph_ascend.request_checks import RequestProblem, graph_of
from tb_graph_ascend.run_finder import RunFinder
from tb_graph_ascend.texts import of_error

LONGEST_VIEW = 8000  # characters
LONGEST_NAME = 200  # bytes; file systems take 255


def get_export(request: Request, finder: RunFinder) -> Response:
    """The page as graph-view export writes it, as a download."""
    run, graph = graph_of(request.args, finder)
    if graph.problem is not None:
        raise RequestProblem(graph.problem, 404)
    try:
        chunks = page_of(replace(run, graphs=(graph,)), request.args.get("view", "")[:LONGEST_VIEW])
    except UserError as problem:
        raise RequestProblem(of_error(problem, "export"), 503 if isinstance(problem, NotNow) else 500) from None
    name = file_name(run.name, graph.step, graph.rank)
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    response = Response(chunks, content_type="text/html; charset=utf-8")
    response.headers["Content-Disposition"] = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"
    # It is saved, never shown from here; TensorBoard wants a default-src.
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    return response


def file_name(run: str, step: int, rank: int) -> str:
    """A name for the page of one graph that every system takes, as the viewer makes it (static/src/core/file_name.ts)."""
    behind = f"_step{step}_rank{rank}.html"
    words = re.sub(r"[^\w.-]+", "_", run).strip("._-") or "graph"
    content = words.encode("utf-8")
    if len(content) > LONGEST_NAME - len(behind):
        half = (LONGEST_NAME - len(behind) - 1) // 2
        words = f"{content[:half].decode('utf-8', 'ignore')}~{content[-half:].decode('utf-8', 'ignore')}"
    return f"{words}{behind}"
