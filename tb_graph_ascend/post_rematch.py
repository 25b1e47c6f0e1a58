"""POST rematch, POST propose, GET templates, GET policies: matching again from a graph file, in a process with a time limit."""

from __future__ import annotations

import threading
from typing import Any

from werkzeug.wrappers import Request, Response

from tb_graph_ascend import texts
from tb_graph_ascend.request_checks import graph_of, json_of
from tb_graph_ascend.responses import json_response
from tb_graph_ascend.run_finder import RunFinder
from tb_graph_ascend.work_process import Work, run_process

TIME_LIMIT = 180  # seconds; 500 k nodes a side take about a third of it
PASSED_ON = ("mapping", "matches", "match", "policy", "preview", "pairs")

_WORK = Work("tb_graph_ascend.rematch_process", threading.BoundedSemaphore(2), texts.BUSY)  # each holds both graphs in memory


def post_rematch(request: Request, finder: RunFinder, served_as: list[str]) -> Response:
    """New pairs, verdicts and comparisons of a graph; nothing is kept."""
    return _ask(request, finder, served_as, "rematch")


def post_propose(request: Request, finder: RunFinder, served_as: list[str]) -> Response:
    """Rules of a mapping file that say what the pairs say."""
    return _ask(request, finder, served_as, "propose")


def get_templates(request: Request) -> Response:
    """The shipped mapping files."""
    from mappings import templates

    return json_response(request, [vars(template) for template in templates()])


def get_policies(request: Request) -> Response:
    """The shipped policies, `default` first."""
    from converter.judge.policy_files import shipped_policies

    return json_response(request, [{"name": name} for name in shipped_policies()])


def _ask(request: Request, finder: RunFinder, served_as: list[str], what: str) -> Response:
    body = json_of(request, served_as)
    _, graph = graph_of(body, finder)
    work: dict[str, Any] = {name: body[name] for name in PASSED_ON if name in body}
    status, answer = rematch_in_process({**work, "path": graph.path, "what": what})
    return json_response(request, answer, status)


def rematch_in_process(work: dict[str, Any], time_limit: float = TIME_LIMIT) -> tuple[int, Any]:
    """(HTTP status, answer) of rematch_process. Raises RequestProblem where it takes too long, is busy or fails."""
    code, answer = run_process(_WORK, work, time_limit, texts.too_slow(time_limit))
    return (200 if code == 0 else 422), answer
