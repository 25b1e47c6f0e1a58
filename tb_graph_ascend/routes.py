"""The table of routes that plugin and stand-alone server share, and what every request has in common."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable

from werkzeug.wrappers import Request, Response

from tb_graph_ascend import texts
from tb_graph_ascend.convert_routes import convert_routes
from tb_graph_ascend.edit_matches import get_matches, post_matches
from tb_graph_ascend.get_asset import get_asset, get_entry
from tb_graph_ascend.get_export import get_export
from tb_graph_ascend.get_graph import get_graph
from tb_graph_ascend.get_heatmap import get_heatmap
from tb_graph_ascend.get_section import get_section
from tb_graph_ascend.list_runs import list_runs
from tb_graph_ascend.open_graphs import OpenGraphs
from tb_graph_ascend.post_rematch import get_policies, get_templates, post_propose, post_rematch
from tb_graph_ascend.request_checks import RequestProblem
from tb_graph_ascend.responses import problem_response
from tb_graph_ascend.run_finder import RunFinder

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Handler = Callable[[Request], Response]


def routes(finder: RunFinder, host: str, served_as: list[str], allow_writing: bool = False,
           read_dumps: bool = True) -> dict[str, Any]:
    """Path (a trailing "/*" takes everything below) → WSGI application.

    `host` is "tensorboard" or "serve"; `served_as` are names under which the server was told to listen.
    `allow_writing`: conversions may be started in the browser. `read_dumps`: tensors may be read for heatmaps.
    """
    graphs = OpenGraphs()
    return {
        "/index.js": handle(GET=get_entry),
        "/assets/*": handle(GET=get_asset),
        "/runs": handle(GET=lambda request: list_runs(request, finder, host, allow_writing)),
        "/graph": handle(GET=lambda request: get_graph(request, finder, graphs)),
        "/section": handle(GET=lambda request: get_section(request, finder, graphs)),
        "/heatmap": handle(GET=lambda request: get_heatmap(request, finder, read_dumps)),
        "/matches": handle(GET=lambda request: get_matches(request, finder), POST=lambda request: post_matches(request, finder, served_as)),
        "/rematch": handle(POST=lambda request: post_rematch(request, finder, served_as)),
        "/propose": handle(POST=lambda request: post_propose(request, finder, served_as)),
        "/templates": handle(GET=get_templates),
        "/policies": handle(GET=get_policies),
        "/export": handle(GET=lambda request: get_export(request, finder)),
        **{path: handle(**handlers) for path, handlers in convert_routes(finder, served_as, allow_writing).items()},
    }


def handle(**handlers: Handler) -> WSGIApplication:
    """A WSGI application that hands a request to the handler of its method and answers problems as JSON."""

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        handler = handlers.get("GET" if request.method == "HEAD" else request.method)
        try:
            if handler is None:
                raise RequestProblem(texts.method(" and ".join(handlers)), 405)
            response = handler(request)
        except RequestProblem as problem:
            response = problem_response(request, problem.problem, problem.status)
            if problem.status == 405:
                response.headers["Allow"] = ", ".join(handlers)
        except Exception:  # one request's bug must not become a page without an answer
            logging.getLogger("tb_graph_ascend").exception("%s %s", request.method, request.full_path)
            response = problem_response(request, texts.INTERNAL, 500)
        return response(environ, start_response)

    return application
