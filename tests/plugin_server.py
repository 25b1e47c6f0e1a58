"""Calls the plugin's routes without a network, as TensorBoard would."""

from __future__ import annotations

import gzip
import json
import time
from types import SimpleNamespace

from tensorboard.plugins.base_plugin import TBContext
from werkzeug.test import Client

from tb_graph_ascend.plugin import GraphPlugin


class Server:
    """The plugin's routes, called without a network."""

    def __init__(self, logdir="", logdir_spec="", host="localhost"):
        flags = SimpleNamespace(logdir_spec=logdir_spec, host=None)
        self.plugin = GraphPlugin(TBContext(logdir=str(logdir), flags=flags, multiplexer=None, data_provider=None))
        self.apps = self.plugin.get_plugin_apps()
        self.host = host

    def request(self, path, method="GET", query=None, headers=None, **more):
        app = self.apps.get(path) or self.apps["/" + path.split("/")[1] + "/*"]
        environ = {"base_url": f"http://{self.host}:6006", "path": f"/data/plugin/tb_graph_ascend{path}"}
        return Client(app).open(method=method, query_string=query, headers={"Accept-Encoding": "gzip"} if headers is None else headers,
                                **environ, **more)

    def runs(self):
        deadline = time.monotonic() + 10
        while True:
            answer = body(self.request("/runs"))
            if not answer["scanning"] or time.monotonic() > deadline:
                return answer

    def names(self):
        return [run["run"] for run in self.runs()["runs"]]


def body(response):
    data = response.get_data()
    return json.loads(gzip.decompress(data) if response.headers.get("Content-Encoding") == "gzip" else data)


def graph_query(run="compare_1", step=0, rank=0, **more):
    return {"run": run, "step": step, "rank": rank, **more}
