"""GET heatmap: where the elements of one compared tensor differ, read from the dumps while they are still there."""

from __future__ import annotations

import os
import re
import threading

from werkzeug.wrappers import Request, Response

from converter.graphfile.source import is_remote
from tb_graph_ascend.request_checks import RequestProblem, graph_of, text_of
from tb_graph_ascend.responses import json_response
from tb_graph_ascend.run_finder import RunFinder
from tb_graph_ascend.texts import HEATMAP_BUSY, NO_DUMPS, Problem, bad_parameter, heatmap_too_slow
from tb_graph_ascend.work_process import Work, run_process

TIME_LIMIT = 60  # seconds; two tensors of 1 GB take about a tenth of it
RELATIONS = ("", "concat", "sum", "stack")
LONGEST_LAYOUT = 1000

_LEAVES = re.compile(r"\d{1,9}\.\d{1,9}(,\d{1,9}\.\d{1,9}){0,99}", re.ASCII)
_WORK = Work("tb_graph_ascend.heatmap_process", threading.BoundedSemaphore(2), HEATMAP_BUSY)  # each holds the tensors of one row


def get_heatmap(request: Request, finder: RunFinder, read_dumps: bool) -> Response:
    """The grid of the leaves that `target` and `golden` name, as node.leaf[,node.leaf…]."""
    run, graph = graph_of(request.args, finder)
    sides = {side: _leaves(request, side) for side in ("target", "golden")}
    relation, layout = request.args.get("relation", ""), request.args.get("layout", "")
    if relation not in RELATIONS:
        raise RequestProblem(bad_parameter("relation", "must be concat, sum or stack", "必须为 concat、sum 或 stack"), 400)
    if len(layout) > LONGEST_LAYOUT:
        raise RequestProblem(bad_parameter("layout", "is too long", "过长"), 400)
    if not read_dumps:
        raise RequestProblem(NO_DUMPS, 403)
    work = {**sides, "relation": relation, "layout": layout, "path": graph.path, "bases": _bases(run.path)}
    code, answer = run_process(_WORK, work, TIME_LIMIT, heatmap_too_slow(TIME_LIMIT))
    if code:
        error = answer["error"]
        raise RequestProblem(Problem(error["code"], error["en"], error["zh"]), 404)
    return json_response(request, answer)


def _leaves(request: Request, side: str) -> list[list[int]]:
    text = text_of(request.args, side)
    if not _LEAVES.fullmatch(text):
        raise RequestProblem(bad_parameter(side, "must be node.leaf[,node.leaf…]", "格式必须为 node.leaf[,node.leaf…]"), 400)
    return [[int(number) for number in leaf.split(".")] for leaf in text.split(",")]


def _bases(run: str) -> list[str]:
    """Where relative paths of dumps are looked for: here, in the run, and in the two directories around it.

    graph-convert was often called beside the dumps, with -o naming a directory there.
    """
    found = [""]
    if not is_remote(run):
        place = os.path.abspath(run)
        found += [place, os.path.dirname(place), os.path.dirname(os.path.dirname(place))]
    return found
