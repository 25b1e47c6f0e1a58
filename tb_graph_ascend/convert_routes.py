"""GET dumps, POST convert, GET convert, POST convert/cancel: conversions in the browser, where the server was started to allow them."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Callable

from werkzeug.wrappers import Request, Response

from converter.graphfile.source import is_remote
from converter.match.methods import METHODS
from tb_graph_ascend import texts
from tb_graph_ascend.conversions import Conversion, Conversions
from tb_graph_ascend.dump_finder import DumpDirectory, find_dumps
from tb_graph_ascend.log_roots import LogRoot
from tb_graph_ascend.request_checks import RequestProblem, json_of, text_of
from tb_graph_ascend.responses import json_response
from tb_graph_ascend.run_finder import RunFinder

LARGEST_TEXT = 4 << 20  # characters of a mapping file


def convert_routes(finder: RunFinder, served_as: list[str], allowed: bool) -> dict[str, dict[str, Callable[[Request], Response]]]:
    """Path → handlers by method."""
    conversions = Conversions()

    def checked(work: Callable[[Request], Response]) -> Callable[[Request], Response]:
        def handler(request: Request) -> Response:
            if not allowed:
                raise RequestProblem(texts.NOT_ALLOWED, 403)
            return work(request)

        return handler

    def dumps(request: Request) -> Response:
        listed = [{"name": dump.name, "ranks": dump.ranks} for dump in find_dumps(finder.roots)]
        running = conversions.running()
        return json_response(request, {"dumps": listed, "running": _as_json(running, finder.roots) if running else None})

    def start(request: Request) -> Response:
        body = json_of(request, served_as)
        arguments, files = command_of(body, find_dumps(finder.roots), finder.roots)
        conversion = conversions.start(arguments, files)
        if conversion is None:
            raise RequestProblem(texts.CONVERTING, 409)
        return json_response(request, _as_json(conversion, finder.roots))

    def progress(request: Request) -> Response:
        answer = _as_json(_known(conversions.get(text_of(request.args, "id"))), finder.roots)
        if answer["run"]:
            # Whoever is told that it is done asks for it next.
            finder.refresh(changed=True)
            finder.find(answer["run"])
        return json_response(request, answer)

    def cancel(request: Request) -> Response:
        body = json_of(request, served_as)
        return json_response(request, _as_json(_known(conversions.cancel(text_of(body, "id"))), finder.roots))

    return {
        "/dumps": {"GET": checked(dumps)},
        "/convert": {"GET": checked(progress), "POST": checked(start)},
        "/convert/cancel": {"POST": checked(cancel)},
    }


def command_of(body: dict[str, Any], dumps: list[DumpDirectory], roots: list[LogRoot]) -> tuple[list[str], dict[str, str]]:
    """The command line of a request, and the files that it names in {folder}. Raises RequestProblem."""
    known = {dump.name: dump for dump in dumps}
    target = known.get(text_of(body, "target"))
    golden = known.get(str(body["golden"])) if body.get("golden") else None
    if target is None or (body.get("golden") and golden is None):
        raise RequestProblem(texts.NO_SUCH_DUMP, 404)
    root = _root_of(target, roots)
    arguments, files = ["-tp", target.path, "-o", root.path], {}
    if golden is not None:
        arguments += ["-gp", golden.path]
        method = body.get("match", "auto")
        if method not in METHODS:
            words = ", ".join(METHODS)
            raise RequestProblem(texts.bad_parameter("match", f"must be one of {words}", f"必须为 {words} 之一"), 400)
        arguments += ["--match", method]
        mapping = body.get("mapping")
        if mapping:
            if not isinstance(mapping, dict) or not isinstance(mapping.get("text"), str) or len(mapping["text"]) > LARGEST_TEXT:
                raise RequestProblem(texts.bad_parameter("mapping", "must be {name, text}", "必须为 {name, text}"), 400)
            name = mapping_file_name(mapping.get("name"))
            files[name] = mapping["text"]
            arguments += ["-lm", os.path.join("{folder}", name)]
        if isinstance(body.get("matches"), list) and body["matches"]:
            files["matches.yaml"] = json.dumps({"matches": body["matches"]})  # JSON is YAML
            arguments += ["--matches", os.path.join("{folder}", "matches.yaml")]
        arguments += ["--policy", _policy(body.get("policy", "default"))]
    if body.get("overflow") is True:
        arguments.append("-oc")
    return arguments, files


def mapping_file_name(name: Any) -> str:
    """The name under which a mapping is written down, as the graph will say it: never a path, and never the name of another file here."""
    words = re.sub(r"[^\w. -]", "_", str(name or "").replace("\\", "/").rpartition("/")[2]).lstrip(". -")[:80]
    stem = re.sub(r"\.ya?ml$", "", words)
    return f"{stem}.yaml" if stem and stem != "matches" else "mapping.yaml"


def _policy(name: Any) -> str:
    from converter.judge.policy_files import shipped_policies

    if name not in shipped_policies():  # never a path
        raise RequestProblem(texts.bad_parameter("policy", "must be a shipped policy", "必须为内置策略"), 400)
    return str(name)


def _root_of(dump: DumpDirectory, roots: list[LogRoot]) -> LogRoot:
    """The log directory that a dump lies in; the innermost where they are nested."""
    path = os.path.abspath(dump.path)
    local = [root for root in roots if not is_remote(root.path)]
    inside = [root for root in local if os.path.commonpath([os.path.abspath(root.path), path]) == os.path.abspath(root.path)]
    return max(inside, key=lambda root: len(root.path))


def _known(conversion: Conversion | None) -> Conversion:
    if conversion is None:
        raise RequestProblem(texts.NO_SUCH_CONVERSION, 404)
    return conversion


def _as_json(conversion: Conversion, roots: list[LogRoot]) -> dict[str, Any]:
    run = ""
    if conversion.directory:
        parent = os.path.dirname(os.path.abspath(conversion.directory))
        prefix = next((root.prefix for root in roots if os.path.abspath(root.path) == parent), "")
        run = prefix + os.path.basename(conversion.directory)
    return {"id": conversion.id, "state": conversion.state, "percent": conversion.percent, "run": run, "error": conversion.error,
            "said": conversion.said, "lines": list(conversion.lines)}
