"""The plugin inside TensorBoard's process: what it serves, what it refuses, and how it behaves as a guest."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time

import pytest
from log_directories import graph_bytes, write_run
from plugin_server import Server, body, graph_query
from tensorboard.plugins.base_plugin import TBContext

from converter.graphfile import graph_pb2
from tb_graph_ascend import get_asset
from tb_graph_ascend.plugin import GraphPlugin

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture
def logs(tmp_path):
    write_run(str(tmp_path / "compare_1"), ((0, 0), (0, 1), (10, 0)))
    return tmp_path


# ---------------------------------------------------------------- what is served


def test_the_graph_index_lists_sections_with_lengths(logs):
    answer = body(Server(logs).request("/graph", query=graph_query()))
    assert answer["major"] == 1 and answer["tool"] == "test"
    summary = next(section for section in answer["sections"] if section["name"] == "summary")
    assert summary["stored_length"] > 0 and summary["raw_length"] > 0


def test_a_section_is_sent_as_it_is_stored(logs):
    server = Server(logs)
    version = body(server.request("/graph", query=graph_query()))["version"]
    answer = server.request("/section", query=graph_query(name="summary", v=version))
    stored = answer.get_data()
    assert stored in graph_bytes()
    assert graph_pb2.Summary.FromString(gzip.decompress(stored)).target.nodes > 0
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert "Accept-Encoding" in answer.headers["Vary"]


@pytest.mark.parametrize("accepted", ["", "identity", "gzip;q=0"])
def test_a_client_without_gzip_gets_the_plain_message(logs, accepted):
    answer = Server(logs).request("/section", query=graph_query(name="summary"), headers={"Accept-Encoding": accepted})
    assert "Content-Encoding" not in answer.headers
    assert graph_pb2.Summary.FromString(answer.get_data()).target.nodes > 0


def test_a_section_that_the_browser_has_is_not_sent_again(logs):
    server = Server(logs)
    first = server.request("/section", query=graph_query(name="summary"))
    assert first.headers["Cache-Control"] == "no-cache"
    again = server.request("/section", query=graph_query(name="summary"),
                           headers={"Accept-Encoding": "gzip", "If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304 and again.get_data() == b""


def test_a_graph_that_was_written_anew_has_another_version_and_the_old_one_is_a_conflict(logs):
    server = Server(logs)
    version = body(server.request("/graph", query=graph_query()))["version"]
    path = logs / "compare_1" / "step0" / "rank0.pb"
    path.write_bytes(graph_bytes("build"))
    assert body(server.request("/graph", query=graph_query()))["version"] != version
    answer = server.request("/section", query=graph_query(name="summary", v=version))
    assert answer.status_code == 409 and body(answer)["error"]["code"] == "changed"


@pytest.mark.parametrize("query, status, code", [
    ({}, 400, "bad_request"),
    ({"run": "compare_1", "step": "x", "rank": "0"}, 400, "bad_request"),
    ({"run": "compare_1", "step": "-1", "rank": "0"}, 400, "bad_request"),
    ({"run": "compare_1", "step": "٣", "rank": "0"}, 400, "bad_request"),
    (graph_query(step=5), 404, "no_such_graph"),
    (graph_query("compare_1/"), 404, "no_such_run"),
    (graph_query("../outside"), 404, "no_such_run"),
    (graph_query("/etc"), 404, "no_such_run"),
    (graph_query("compare_1/../compare_1"), 404, "no_such_run"),
    (graph_query("compare_1\0"), 404, "no_such_run"),
])
def test_only_what_was_listed_can_be_asked_for(logs, query, status, code):
    write_run(str(logs.parent / "outside"))
    answer = Server(logs).request("/section", query={**query, "name": "summary"})
    assert (answer.status_code, body(answer)["error"]["code"]) == (status, code)
    assert body(answer)["error"]["en"] and body(answer)["error"]["zh"]


def test_a_section_that_is_not_there_is_a_404(logs):
    answer = Server(logs).request("/section", query=graph_query(name="nothing"))
    assert answer.status_code == 404 and body(answer)["error"]["code"] == "no_such_section"


def test_reading_takes_get_and_head_only(logs):
    server = Server(logs)
    assert server.request("/runs", method="POST").status_code == 405
    head = server.request("/runs", method="HEAD")
    assert head.status_code == 200 and head.get_data() == b""


@pytest.mark.parametrize("path", ["/runs", "/graph", "/section", "/index.js", "/assets/none.js"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_every_answer_says_type_nosniff_and_caching(logs, path, method):
    answer = Server(logs).request(path, method=method)
    assert answer.headers["Content-Type"] and answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Cache-Control"]


def test_a_bug_in_one_request_is_answered_and_logged(logs, monkeypatch, caplog):
    server = Server(logs)
    monkeypatch.setattr("tb_graph_ascend.routes.get_graph", lambda *_: 1 / 0)
    answer = Server(logs).request("/graph", query=graph_query())
    assert answer.status_code == 500 and body(answer)["error"]["code"] == "internal"
    assert "ZeroDivisionError" in caplog.text
    assert server.request("/runs").status_code == 200


# ---------------------------------------------------------------- the bundle


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.js").write_text("export function render() {}")
    (folder / "assets" / "chunk-abc.css").write_text("p {}")
    monkeypatch.setattr(get_asset, "BUNDLE", str(folder))
    return folder


def test_the_entry_module_is_asked_for_again_and_hashed_assets_are_kept(bundle):
    server = Server()
    entry, asset = server.request("/index.js"), server.request("/assets/chunk-abc.css")
    assert entry.headers["Cache-Control"] == "no-cache" and entry.headers["Content-Type"].startswith("text/javascript")
    assert "immutable" in asset.headers["Cache-Control"] and asset.headers["Content-Type"].startswith("text/css")
    again = server.request("/index.js", headers={"Accept-Encoding": "gzip", "If-None-Match": entry.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("name", ["..%2findex.js", "../../plugin.py", "/etc/passwd", "chunk-abc.css/.."])
def test_nothing_but_the_bundle_is_served(bundle, name):
    assert Server().request(f"/assets/{name}").status_code == 404


def test_a_checkout_that_was_not_built_says_what_to_run(bundle):
    (bundle / "index.js").unlink()
    answer = Server().request("/index.js", headers={})
    assert b"export function render" in answer.get_data() and b"build_backend/front_end.py" in answer.get_data()


# ---------------------------------------------------------------- a good guest


def test_the_plugin_is_active_once_there_is_a_run(logs):
    assert Server(logs).plugin.is_active()


def test_without_runs_the_plugin_is_inactive_but_its_page_is_there(tmp_path):
    server = Server(tmp_path)
    assert not server.plugin.is_active()
    assert server.request("/index.js").status_code == 200


def test_is_active_answers_at_once_while_a_slow_directory_is_walked(logs, monkeypatch):
    def slow(root):
        time.sleep(3)
        return iter(())

    monkeypatch.setattr("tb_graph_ascend.run_finder.walk", slow)
    plugin = Server(logs).plugin
    begin = time.monotonic()
    assert plugin.is_active() is False
    assert time.monotonic() - begin < 1.0
    assert body(Server(logs).request("/runs"))["scanning"] is True


def test_a_context_without_anything_is_enough():
    plugin = GraphPlugin(TBContext())
    assert plugin.is_active() is False and plugin.get_plugin_apps()


def test_nothing_is_looked_at_before_the_first_question(logs, monkeypatch):
    monkeypatch.setattr("tb_graph_ascend.run_finder.walk", lambda root: pytest.fail("walked"))
    Server(logs).plugin.frontend_metadata()


def test_entry_and_routes_import_nothing_heavy():
    code = ("import sys, tensorboard.plugins.base_plugin as base\n"
            "from tb_graph_ascend.plugin import GraphPlugin\n"
            "entry = set(sys.modules)\n"
            "assert not [m for m in entry if m.startswith(('tb_graph_ascend.r', 'converter', 'google.protobuf', 'numpy'))], entry\n"
            "GraphPlugin(base.TBContext(logdir='/nowhere')).get_plugin_apps()\n"
            "assert not {'torch', 'mindspore', 'pandas', 'numpy', 'fsspec', 'yaml'} & set(sys.modules)\n")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=TOP)


def test_two_clients_do_not_meet(logs):
    write_run(str(logs / "build_2"), kind="build")
    server = Server(logs)
    for _ in range(2):
        first = server.request("/section", query=graph_query("compare_1", name="summary")).get_data()
        second = server.request("/section", query=graph_query("build_2", name="summary")).get_data()
        assert graph_pb2.Summary.FromString(gzip.decompress(first)).HasField("golden")
        assert not graph_pb2.Summary.FromString(gzip.decompress(second)).HasField("golden")
