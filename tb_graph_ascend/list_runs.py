"""GET runs: what there is to open below the log directory."""

from __future__ import annotations

from typing import Any

from werkzeug.wrappers import Request, Response

from tb_graph_ascend.responses import json_response
from tb_graph_ascend.run_finder import RunFinder
from tb_graph_ascend.runs import Graph, Run


def list_runs(request: Request, finder: RunFinder, host: str, allow_writing: bool = False) -> Response:
    """Answers within half a second; `scanning` says that a walk is still under way and asking again may tell more."""
    runs = finder.runs()
    scanning = finder.scanning
    return json_response(request, {
        "runs": [run_as_json(run) for run in runs],
        "scanning": scanning,
        "logdir_empty": not runs and not scanning,
        "problems": [problem.as_json() for problem in finder.problems()],
        "writable": finder.writable(),
        "converting": allow_writing and finder.writable(),
        "host": host,
    })


def run_as_json(run: Run) -> dict[str, Any]:
    """One entry of `runs`."""
    return {
        "run": run.name,
        "kind": run.kind,
        "created": run.created,
        "dumps": run.dumps,
        "graphs": [_graph_as_json(graph) for graph in run.graphs],
        "error": run.problem.as_json() if run.problem else None,
    }


def _graph_as_json(graph: Graph) -> dict[str, Any]:
    entry: dict[str, Any] = {"step": graph.step, "rank": graph.rank, "file": graph.file}
    if graph.problem is not None:
        return {**entry, "error": graph.problem.as_json()}
    return {**entry, "size": graph.size, "version": graph.version, "verdict": graph.verdict}
