"""graph-view serve: the viewer without TensorBoard, on this machine only unless told otherwise."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from converter.errors import UserError
from tb_graph_ascend import texts
from tb_graph_ascend.log_roots import log_roots
from tb_graph_ascend.metadata import TAB_NAME
from tb_graph_ascend.responses import problem_response
from tb_graph_ascend.routes import routes
from tb_graph_ascend.run_finder import RunFinder, why_no_directory

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# The same restrictions as TensorBoard's, without its 'unsafe-eval'; styles are set by the viewer itself.
POLICY = ("default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
          "font-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'self'")

PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{TAB_NAME}</title>
<link rel="icon" href="data:,">
<link rel="modulepreload" href="./index.js">
<script type="module" src="./start.js"></script>
</head>
<body></body>
</html>
"""
START = 'import { render } from "./index.js";\nrender();\n'


def make_graph_server(directory: str, host: str = "127.0.0.1", port: int = 0, allow_writing: bool = False,
                      read_dumps: bool = True) -> BaseWSGIServer:
    """A server of the graph files below `directory`, bound but not yet serving; port 0 takes a free one.

    Raises UserError where the directory is missing, a file or cannot be read, or the port is taken.
    """
    missing = why_no_directory(directory)
    if missing is not None:
        raise UserError(missing.en)
    finder = RunFinder(log_roots(directory))
    try:
        listening = socket.create_server((host, port))
    except OSError as problem:
        raise UserError(f"cannot listen on {host}:{port}: {problem.strerror or problem}. Choose another port with --port.") from None
    return make_server(host, listening.getsockname()[1], application(finder, host, allow_writing, read_dumps), threaded=True,
                       request_handler=_QuietHandler, fd=listening.detach())


def application(finder: RunFinder, host: str, allow_writing: bool = False, read_dumps: bool = True) -> WSGIApplication:
    """One WSGI application over the page and the plugin's routes."""
    table = routes(finder, host="serve", served_as=[host], allow_writing=allow_writing, read_dumps=read_dumps)

    def dispatch(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        path = request.path
        app: Any = table.get(path) or next((app for key, app in table.items() if key.endswith("/*") and path.startswith(key[:-1])), None)
        if app is None:
            app = _page(request)
        answer: Iterable[bytes] = app(environ, start_response)
        return answer

    return dispatch


def _page(request: Request) -> Response:
    if request.path == "/":
        response = Response(PAGE, content_type="text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = POLICY
    elif request.path == "/start.js":
        response = Response(START, content_type="text/javascript; charset=utf-8")
    else:
        return problem_response(request, texts.NOT_FOUND, 404)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-cache"
    return response


class _QuietHandler(WSGIRequestHandler):
    """Keeps connections open between requests and does not print each of them."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass
