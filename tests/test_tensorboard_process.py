"""The plugin in a real tensorboard process, the ways people start it."""

from __future__ import annotations

import gzip
import json
import time
import urllib.request

import pytest
from log_directories import graph_bytes, write_run
from tensorboard_process import running_tensorboard

from converter.graphfile import graph_pb2


@pytest.fixture
def logs(tmp_path):
    write_run(str(tmp_path / "compare_1"))
    return tmp_path


def ask(address: str):
    with urllib.request.urlopen(urllib.request.Request(address, headers={"Accept-Encoding": "gzip"}), timeout=30) as answer:
        data = answer.read()
        return answer, gzip.decompress(data) if answer.headers.get("Content-Encoding") == "gzip" else data


def listing(address: str):
    """The runs, once the walk has ended."""
    for _ in range(50):
        runs = json.loads(ask(f"{address}/data/plugin/tb_graph_ascend/runs")[1])
        if not runs["scanning"]:
            break
        time.sleep(0.1)
    return runs


@pytest.mark.parametrize("how", ["logdir", "path_prefix", "load_fast_false", "logdir_spec"])
def test_the_graph_is_served_however_tensorboard_is_started(logs, how):
    arguments = ["--logdir", str(logs)]
    if how == "load_fast_false":
        arguments.append("--load_fast=false")
    if how == "logdir_spec":
        arguments = [f"--logdir_spec=one:{logs}"]
    with running_tensorboard(*arguments, prefix="/pre/fix" if how == "path_prefix" else "") as address:
        plugins = json.loads(ask(f"{address}/data/plugins_listing")[1])
        assert plugins["tb_graph_ascend"]["enabled"]
        assert address + "/data/plugin/tb_graph_ascend/index.js" == (
            address.removesuffix("/pre/fix") + plugins["tb_graph_ascend"]["loading_mechanism"]["module_path"])
        run, = listing(address)["runs"]
        assert run["run"] == ("one/compare_1" if how == "logdir_spec" else "compare_1")
        base = f"{address}/data/plugin/tb_graph_ascend"
        answer, data = ask(f"{base}/section?run={run['run']}&step=0&rank=0&name=summary&v={run['graphs'][0]['version']}")
        assert graph_pb2.Summary.FromString(data).target.nodes > 0
        assert answer.headers["Content-Encoding"] == "gzip" and "immutable" in answer.headers["Cache-Control"]
        entry, code = ask(f"{base}/index.js")
        assert b"render" in code and entry.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("logdir", ["empty", "missing"])
def test_without_anything_to_show_tensorboard_starts_and_the_plugin_waits(tmp_path, logdir):
    (tmp_path / "empty").mkdir()
    with running_tensorboard("--logdir", str(tmp_path / logdir)) as address:
        assert json.loads(ask(f"{address}/data/plugins_listing")[1])["tb_graph_ascend"]["enabled"] is False
        assert listing(address)["logdir_empty"]
        write_run(str(tmp_path / logdir / "compare_1"))
        deadline = time.monotonic() + 10
        while not listing(address)["runs"]:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert json.loads(ask(f"{address}/data/plugins_listing")[1])["tb_graph_ascend"]["enabled"] is True


def test_a_broken_graph_file_does_not_disturb_tensorboard(logs):
    (logs / "compare_1" / "step0" / "rank0.pb").write_bytes(graph_bytes()[:50])
    with running_tensorboard("--logdir", str(logs)) as address:
        assert json.loads(ask(f"{address}/data/plugins_listing")[1])["tb_graph_ascend"]["enabled"]
        assert listing(address)["runs"][0]["graphs"][0]["error"]["code"] == "truncated"


def test_the_server_needs_none_of_the_heavy_packages(logs, tmp_path_factory):
    """A module that raises on import stands in for one that is not installed."""
    absent = tmp_path_factory.mktemp("absent")
    for name in ("torch", "mindspore", "paddle", "pandas", "fsspec", "yaml", "msgspec"):
        (absent / f"{name}.py").write_text("raise ImportError('not installed')\n")
    with running_tensorboard("--logdir", str(logs), python_path=(str(absent),)) as address:
        assert listing(address)["runs"][0]["run"] == "compare_1"
