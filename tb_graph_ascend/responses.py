"""Makes HTTP responses. Every one carries Content-Type, X-Content-Type-Options and Cache-Control.

TensorBoard's own http_util is not used: it compresses on every request and knows neither ETags nor 304.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from werkzeug.wrappers import Request, Response

from tb_graph_ascend.texts import Problem

YEAR = 365 * 24 * 3600
SMALL = 1024  # bytes; below that compressing text does not pay


def json_response(request: Request, content: Any, status: int = 200) -> Response:
    """`content` as JSON, never cached; compressed where the client takes it and it is not tiny."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "backslashreplace")
    response = _response(body, "application/json; charset=utf-8", "no-store", status)
    if len(body) >= SMALL and accepts_gzip(request):
        response.set_data(gzip.compress(body, 1, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    return response


def problem_response(request: Request, problem: Problem, status: int) -> Response:
    """{"error": {"code", "en", "zh"}}"""
    return json_response(request, {"error": problem.as_json()}, status)


def gzipped_response(request: Request, stored: bytes, content_type: str, etag: str, immutable: bool) -> Response:
    """Bytes that are stored gzip-compressed: sent as they are, and unpacked only for a client that does not take gzip.

    `etag` names the content; a client that has it gets 304 and no body. `immutable`: the address will never mean other content.
    """
    caching = f"private, max-age={YEAR}, immutable" if immutable else "no-cache"
    packed = accepts_gzip(request)
    tag = etag if packed else f"{etag}-plain"
    if tag in request.if_none_match:
        response = _response(b"", content_type, caching, 304)
    else:
        response = _response(stored if packed else gzip.decompress(stored), content_type, caching)
        if packed:
            response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.set_etag(tag)
    return response


def accepts_gzip(request: Request) -> bool:
    """Whether the client said that it takes gzip."""
    return request.accept_encodings.quality("gzip") > 0


def _response(body: bytes, content_type: str, caching: str, status: int = 200) -> Response:
    response = Response(body, status=status, content_type=content_type)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = caching
    return response
