"""GET and POST matches: the manual matches and triage marks of one graph."""

from __future__ import annotations

import errno

from werkzeug.wrappers import Request, Response

from converter.errors import UserError
from converter.graphfile.errors import system_error
from tb_graph_ascend import texts
from tb_graph_ascend.matches import Conflict, can_write, read_matches, write_matches
from tb_graph_ascend.request_checks import RequestProblem, graph_of, json_of, text_of
from tb_graph_ascend.responses import json_response
from tb_graph_ascend.run_finder import RunFinder

FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def get_matches(request: Request, finder: RunFinder) -> Response:
    """What the file beside the graph holds; empty lists where there is none."""
    _, graph = graph_of(request.args, finder)
    try:
        content = read_matches(graph.path)
    except UserError as problem:
        raise RequestProblem(texts.of_error(problem, "matches"), 422) from None
    return json_response(request, content.as_json(can_write(graph.path)))


def post_matches(request: Request, finder: RunFinder, served_as: list[str]) -> Response:
    """Replaces the file; 409 with what it holds now where somebody else has changed it since it was read."""
    body = json_of(request, served_as)
    run, graph = graph_of(body, finder)
    revision = text_of(body, "revision")
    if not can_write(graph.path):
        raise RequestProblem(texts.READ_ONLY, 403)
    try:
        content = write_matches(graph.path, body.get("matches", []), body.get("triage", []), revision, body.get("mapping"))
    except Conflict as conflict:
        return json_response(request, {"error": texts.MATCHES_CHANGED.as_json(), **conflict.current.as_json(True)}, 409)
    except UserError as problem:
        raise RequestProblem(texts.of_error(problem, "matches"), 422) from None
    except FileNotFoundError:  # deleted just now
        raise RequestProblem(texts.gone(run.name), 404) from None
    except OSError as problem:
        for_good = problem.errno in FORBIDDEN
        raise RequestProblem(texts.cannot_write(*system_error(problem), for_good), 403 if for_good else 507) from None
    return json_response(request, content.as_json(True))
