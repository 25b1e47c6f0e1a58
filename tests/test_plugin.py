"""The plugin inside TensorBoard's process: what it finds, what it serves, what it refuses, and how it behaves as a guest."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from log_directories import CREATED, graph_bytes, write_run
from tensorboard.plugins.base_plugin import TBContext
from werkzeug.test import Client

from converter.graphfile import graph_pb2
from tb_graph_ascend import get_asset
from tb_graph_ascend.log_roots import log_roots
from tb_graph_ascend.plugin import GraphPlugin

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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


@pytest.fixture
def logs(tmp_path):
    write_run(str(tmp_path / "compare_1"), ((0, 0), (0, 1), (10, 0)))
    return tmp_path


# ---------------------------------------------------------------- what is found


def test_a_run_is_listed_with_its_graphs_in_order(logs):
    run, = Server(logs).runs()["runs"]
    assert (run["run"], run["kind"], run["created"], run["error"]) == ("compare_1", "compare", CREATED, None)
    assert [(graph["step"], graph["rank"], graph["file"]) for graph in run["graphs"]] == [
        (0, 0, "step0/rank0.pb"), (0, 1, "step0/rank1.pb"), (10, 0, "step10/rank0.pb")]
    assert all(graph["size"] == len(graph_bytes()) and int(graph["version"], 16) for graph in run["graphs"])


def test_runs_are_found_at_any_depth_and_listed_in_natural_order(tmp_path):
    for name in ("b/compare_10", "b/compare_9", "a/1/2/3/4/build_1"):
        write_run(str(tmp_path / name), kind="build" if "build" in name else "compare")
    assert Server(tmp_path).names() == ["a/1/2/3/4/build_1", "b/compare_9", "b/compare_10"]


def test_a_conversion_that_is_not_finished_is_not_listed(logs):
    write_run(str(logs / ".unfinished_compare_2"), manifest=False)
    assert Server(logs).names() == ["compare_1"]


def test_the_log_directory_may_itself_be_a_run(logs):
    assert Server(logs / "compare_1").names() == ["."]


def test_runs_with_the_same_last_name_do_not_clash(tmp_path):
    write_run(str(tmp_path / "a" / "compare_1"))
    write_run(str(tmp_path / "b" / "compare_1"), kind="build")
    assert [(run["run"], run["kind"]) for run in Server(tmp_path).runs()["runs"]] == [("a/compare_1", "compare"), ("b/compare_1", "build")]


def test_graph_files_without_a_manifest_are_listed(tmp_path):
    write_run(str(tmp_path / "copied"), ((2, 0), (2, 1)), manifest=False)
    (tmp_path / "mail.pb").write_bytes(graph_bytes("build"))
    lone, copied = sorted(Server(tmp_path).runs()["runs"], key=lambda run: len(run["graphs"]))
    assert (copied["run"], [(g["step"], g["rank"]) for g in copied["graphs"]]) == ("copied", [(2, 0), (2, 1)])
    assert (lone["run"], lone["kind"], lone["graphs"][0]["file"]) == ("mail.pb", "build", "mail.pb")
    assert (lone["graphs"][0]["step"], lone["graphs"][0]["rank"]) == (3, 1)  # as the file says


def test_foreign_files_of_the_same_names_are_no_runs(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x04")
    (tmp_path / "empty.pb").write_bytes(b"")
    (tmp_path / "dir.pb").mkdir()
    (tmp_path / "manifest.json").write_text('{"name": "a web app"}')
    answer = Server(tmp_path).runs()
    assert answer["runs"] == [] and answer["logdir_empty"] and not answer["scanning"] and answer["problems"] == []


def test_links_are_followed_and_loops_end(logs, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write_run(str(elsewhere / "compare_2"))
    (logs / "linked").symlink_to(elsewhere)
    (logs / "loop").symlink_to(logs)
    (logs / "latest").symlink_to(logs / "compare_1")
    (logs / "broken").symlink_to(logs / "nowhere")
    assert Server(logs).names() == ["compare_1", "linked/compare_2"]


@pytest.mark.parametrize("logdir", ["", "nowhere"])
def test_without_a_log_directory_the_list_is_empty(logdir, tmp_path):
    answer = Server(str(tmp_path / logdir) if logdir else "").runs()
    assert answer["runs"] == [] and answer["logdir_empty"]


def test_a_specification_prefixes_runs_with_its_names(logs, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    write_run(str(other / "build_7"), kind="build")
    server = Server(logdir_spec=f"one:{logs},two:{other},{logs}")
    assert set(server.names()) == {f"{logs.name}/compare_1", "one/compare_1", "two/build_7"}
    assert server.request("/graph", query=graph_query("two/build_7")).status_code == 200


@pytest.mark.parametrize("spec, expected", [
    ("a:/x,b:/y", [("a/", "/x"), ("b/", "/y")]),
    ("/data/x:y", [("x:y/", "/data/x:y")]),
    ("s3://bucket/logs", [("logs/", "s3://bucket/logs")]),
    ("a:gs://bucket/logs", [("a/", "gs://bucket/logs")]),
    ("a:/x,a:/y", [("a/", "/x"), ("a_2/", "/y")]),
    (" , ", []),
])
def test_specifications_are_read_as_tensorboard_reads_them(spec, expected):
    assert [(root.prefix, root.path) for root in log_roots("", spec)] == expected


def test_a_new_run_is_found_by_its_name_without_a_restart(logs):
    server = Server(logs)
    assert server.names() == ["compare_1"]
    write_run(str(logs / "compare_2"))
    time.sleep(2.1)  # the last walk is fresh for two seconds
    assert server.request("/graph", query=graph_query("compare_2")).status_code == 200


def test_read_only_files_of_others_are_served(logs):
    if os.geteuid() == 0:
        for folder, _, files in os.walk(logs):
            for file in files:
                os.chown(os.path.join(folder, file), 12345, 12345)
                os.chmod(os.path.join(folder, file), 0o444)
            os.chmod(folder, 0o555)
    server = Server(logs)
    assert server.names() == ["compare_1"]
    assert server.request("/section", query=graph_query(name="summary")).status_code == 200
    assert sorted(os.listdir(logs / "compare_1")) == ["manifest.json", "step0", "step10"]


def test_a_remote_log_directory_is_listed_and_served():
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe_file("/bucket/logs/compare_1/step0/rank0.pb", graph_bytes())
    files.pipe_file("/bucket/logs/compare_1/manifest.json", json.dumps(
        {"format": 1, "kind": "compare", "graphs": [{"step": 0, "rank": 0, "file": "step0/rank0.pb"}]}).encode())
    files.pipe_file("/bucket/logs/deep/er/step1/rank2.pb", graph_bytes())
    server = Server("memory://bucket/logs")
    assert server.names() == ["compare_1", "deep/er"]
    assert server.request("/section", query=graph_query("deep/er", 1, 2, name="summary")).status_code == 200


def test_a_remote_log_directory_that_cannot_be_reached_is_a_problem_on_the_page():
    answer = Server("nosuchscheme://bucket/logs").runs()
    assert answer["runs"] == [] and "nosuchscheme" in answer["problems"][0]["en"]


# ---------------------------------------------------------------- broken things


def test_a_truncated_graph_is_listed_with_its_error_and_the_others_open(logs):
    path = logs / "compare_1" / "step0" / "rank0.pb"
    path.write_bytes(graph_bytes()[:-100])
    server = Server(logs)
    graphs = server.runs()["runs"][0]["graphs"]
    assert graphs[0]["error"]["code"] == "truncated" and graphs[0]["error"]["zh"] and "version" not in graphs[0]
    assert "error" not in graphs[1]
    answer = server.request("/graph", query=graph_query())
    assert answer.status_code == 404 and body(answer)["error"]["code"] == "truncated"
    assert server.request("/graph", query=graph_query(rank=1)).status_code == 200


def test_a_graph_that_the_manifest_names_and_nobody_wrote_is_listed_with_its_error(logs):
    (logs / "compare_1" / "step0" / "rank1.pb").unlink()
    assert Server(logs).runs()["runs"][0]["graphs"][1]["error"]["code"] == "unreadable"


@pytest.mark.parametrize("text, why", [
    ("{", "line 1"),
    ('{"format": 2, "graphs": []}', "format is 2"),
    ('{"format": 1, "graphs": [{"step": 0, "rank": 0, "file": "../../secret.pb"}]}', "leads out"),
    ('{"format": 1, "graphs": [{"step": 0, "rank": 0, "file": "/etc/secret.pb"}]}', "leads out"),
    ('{"format": 1, "graphs": [{"step": "0", "rank": 0, "file": "step0/rank0.pb"}]}', "no whole number"),
    ('{"format": 1, "graphs": [{"step": 0, "rank": 0}]}', 'no "file"'),
])
def test_a_manifest_that_cannot_be_used_is_said_so_and_its_graphs_are_found_anyway(logs, text, why):
    (logs / "compare_1" / "manifest.json").write_text(text)
    run, = Server(logs).runs()["runs"]
    assert why in run["error"]["en"] and run["error"]["zh"]
    assert len(run["graphs"]) == 3


def test_a_directory_that_may_not_be_listed_hides_nothing_else(logs, monkeypatch):
    (logs / "closed").mkdir()
    real = os.scandir

    def scandir(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert Server(logs).names() == ["compare_1"]


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
