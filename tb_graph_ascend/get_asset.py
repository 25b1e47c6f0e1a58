"""GET index.js and assets/*: the front end's bundle."""

from __future__ import annotations

import gzip
import hashlib
import os
from functools import lru_cache

from werkzeug.wrappers import Request, Response

from tb_graph_ascend.request_checks import RequestProblem
from tb_graph_ascend.responses import gzipped_response
from tb_graph_ascend.texts import NOT_FOUND

BUNDLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")

TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".txt": "text/plain; charset=utf-8",
}

NOT_BUILT = """
export function render() {
  const chinese = navigator.language.toLowerCase().startsWith("zh");
  document.documentElement.lang = chinese ? "zh" : "en";
  document.body.textContent = chinese
    ? "tb_graph_ascend 的界面尚未构建。请在项目目录中执行：python build_backend/front_end.py"
    : "The viewer of tb_graph_ascend was not built. Run in the project's directory: python build_backend/front_end.py";
}
""".encode()


def get_entry(request: Request) -> Response:
    """index.js has no hash in its name, so it is asked for again each time; 304 where it is the same."""
    path = os.path.join(BUNDLE, "index.js")
    if not os.path.isfile(path):
        return gzipped_response(request, gzip.compress(NOT_BUILT, mtime=0), TYPES[".js"], "not-built", immutable=False)
    return _file(request, path, immutable=False)


def get_asset(request: Request) -> Response:
    """Files under assets/ carry a hash in their names. Only what lies in the bundle is served."""
    name = request.path.rpartition("/assets/")[2]
    path = bundle_files().get(f"assets/{name}")
    if path is None:
        raise RequestProblem(NOT_FOUND, 404)
    return _file(request, path, immutable=True)


def bundle_files() -> dict[str, str]:
    """name relative to the bundle ("/" between components) → path"""
    found = {}
    for folder, _, files in os.walk(BUNDLE):
        for file in files:
            path = os.path.join(folder, file)
            found[os.path.relpath(path, BUNDLE).replace(os.sep, "/")] = path
    return found


def _file(request: Request, path: str, immutable: bool) -> Response:
    kind = TYPES.get(os.path.splitext(path)[1], "application/octet-stream")
    packed, tag = _packed(path, os.stat(path).st_mtime_ns)
    return gzipped_response(request, packed, kind, tag, immutable)


@lru_cache(maxsize=64)
def _packed(path: str, changed: int) -> tuple[bytes, str]:
    """(gzip-compressed content, its hash), kept as long as the file does not change."""
    with open(path, "rb") as stream:
        content = stream.read()
    return gzip.compress(content, 9, mtime=0), hashlib.sha256(content).hexdigest()[:16]
