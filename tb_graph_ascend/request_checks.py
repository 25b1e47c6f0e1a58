"""Reads parameters, and decides whether a request that writes comes from the viewer's own page."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import Any
from urllib.parse import urlsplit

from werkzeug.wrappers import Request

from converter.graphfile.source import is_remote
from tb_graph_ascend.run_finder import RunFinder
from tb_graph_ascend.runs import Graph, Run
from tb_graph_ascend.texts import FOREIGN_PAGE, NOT_JSON, TOO_LARGE, Problem, bad_parameter, foreign_host, gone, no_such_graph, no_such_run

ALLOWED_HOSTS = "TB_GRAPH_ASCEND_ALLOWED_HOSTS"  # environment variable: further names of this server, separated by commas
LARGEST_REQUEST = 16 << 20  # bytes


class RequestProblem(Exception):
    """A request that cannot be answered as asked; `status` is the HTTP status."""

    def __init__(self, problem: Problem, status: int) -> None:
        super().__init__(problem.en)
        self.problem = problem
        self.status = status


def text_of(parameters: Any, name: str) -> str:
    """A required text from a query or a JSON body. Raises RequestProblem."""
    value = parameters.get(name)
    if not isinstance(value, str) or not value:
        raise RequestProblem(bad_parameter(name, "is missing", "缺失"), 400)
    return value


def number_of(parameters: Any, name: str) -> int:
    """A required whole number, not negative, from a query or a JSON body. Raises RequestProblem."""
    text = str(parameters.get(name, ""))
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise RequestProblem(bad_parameter(name, "must be a whole number", "必须为非负整数"), 400)
    return int(text)


def graph_of(parameters: Any, finder: RunFinder) -> tuple[Run, Graph]:
    """The run and the graph that `run`, `step` and `rank` name. Raises RequestProblem."""
    name, step, rank = text_of(parameters, "run"), number_of(parameters, "step"), number_of(parameters, "rank")
    run = finder.find(name)
    if run is None:
        raise RequestProblem(no_such_run(name), 404)
    graph = run.graph(step, rank)
    if graph is None:
        raise RequestProblem(no_such_graph(name, step, rank), 404)
    if not is_remote(graph.path) and not os.path.lexists(graph.path):
        raise RequestProblem(gone(name), 404)  # the list of runs is of a moment ago
    return run, graph


def json_of(request: Request, served_as: list[str]) -> dict[str, Any]:
    """The JSON object of a POST request that comes from the viewer's own page. Raises RequestProblem.

    A page of another site can make a browser send a POST here, but not with this content type unless this server
    agrees; browsers also say where a request comes from (Sec-Fetch-Site, Origin). A host name that is not this
    machine's is refused, since it may be another site's that was pointed at this address (DNS rebinding).
    """
    if request.mimetype != "application/json":
        raise RequestProblem(NOT_JSON, 415)
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None and site not in ("same-origin", "none"):
        raise RequestProblem(FOREIGN_PAGE, 403)
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        raise RequestProblem(FOREIGN_PAGE, 403)
    host = urlsplit(f"//{request.host}").hostname or ""
    if not _is_this_machine(host, served_as):
        raise RequestProblem(foreign_host(host, ALLOWED_HOSTS), 403)
    request.max_content_length = LARGEST_REQUEST + 1  # no more is read of a request that does not say how long it is
    if (request.content_length or 0) > LARGEST_REQUEST or len(request.get_data()) > LARGEST_REQUEST:
        raise RequestProblem(TOO_LARGE, 413)
    try:
        body = request.get_json(silent=True)
    except RecursionError:  # a hundred thousand brackets
        body = None
    if not isinstance(body, dict):
        raise RequestProblem(NOT_JSON, 400)
    return body


def _is_this_machine(host: str, served_as: list[str]) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        allowed = os.environ.get(ALLOWED_HOSTS, "").split(",")
        names = {"localhost", socket.gethostname(), socket.getfqdn(), *served_as, *(name.strip() for name in allowed)}
        return host.endswith(".localhost") or host.lower() in {name.lower() for name in names if name}
    return True
