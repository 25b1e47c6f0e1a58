"""Converting in the browser: off unless allowed, only what lies below the log directory, with progress, cancel and nothing left behind."""

from __future__ import annotations

import os
import re
import shutil
import time
from types import SimpleNamespace

import pytest
from plugin_server import Server, body
from tensorboard.plugins.base_plugin import TBContext

from tb_graph_ascend.convert_routes import mapping_file_name
from tb_graph_ascend.dump_finder import find_dumps
from tb_graph_ascend.get_export import file_name
from tb_graph_ascend.log_roots import LogRoot
from tb_graph_ascend.plugin import ALLOW_WRITING, GraphPlugin

DATA = os.path.join(os.path.dirname(__file__), "data")


class WritingServer(Server):
    """A plugin that was started with the flag."""

    def __init__(self, logdir, allowed=True):
        super().__init__(logdir)
        flags = SimpleNamespace(logdir_spec="", host=None, **{ALLOW_WRITING: allowed})
        self.plugin = GraphPlugin(TBContext(logdir=str(logdir), flags=flags, multiplexer=None, data_provider=None))
        self.apps = self.plugin.get_plugin_apps()

    def request(self, path, **more):  # "/convert/cancel" is a path of its own
        if path != "/convert/cancel":
            return super().request(path, **more)
        self.apps["/convert/*"] = self.apps[path]
        return super().request(path, **more)

    def post(self, path, **content):
        return self.request(path, method="POST", json=content, headers={"Sec-Fetch-Site": "same-origin"})

    def end_of(self, identity):
        deadline = time.monotonic() + 60
        while True:
            answer = body(self.request("/convert", query={"id": identity}))
            if answer["state"] != "running":
                return answer
            assert time.monotonic() < deadline, answer
            time.sleep(0.1)


@pytest.fixture
def logs(tmp_path):
    shutil.copytree(os.path.join(DATA, "megatron_vs_hf", "megatron"), tmp_path / "dumps" / "megatron")
    shutil.copytree(os.path.join(DATA, "megatron_vs_hf", "hf"), tmp_path / "dumps" / "面 hf")
    return tmp_path


def test_dumps_are_listed_as_wholes_and_links_out_are_not(logs, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    shutil.copytree(os.path.join(DATA, "megatron_vs_hf", "hf"), outside / "secret")
    os.symlink(outside, logs / "link")
    assert [(dump.name, dump.ranks) for dump in find_dumps([LogRoot("", str(logs))])] == [("dumps/megatron", 1), ("dumps/面 hf", 1)]
    assert [dump.name for dump in find_dumps([LogRoot("one/", str(logs))])] == ["one/dumps/megatron", "one/dumps/面 hf"]


def test_without_the_flag_nothing_can_be_listed_or_started(logs):
    server = WritingServer(logs, allowed=False)
    assert server.runs()["converting"] is False
    for answer in (server.request("/dumps"), server.post("/convert", target="dumps/megatron"), server.post("/convert/cancel", id="x")):
        assert answer.status_code == 403 and body(answer)["error"]["code"] == "not_allowed"


def test_a_conversion_runs_and_its_result_is_a_run(logs):
    server = WritingServer(logs)
    assert server.runs()["converting"] is True
    assert [dump["name"] for dump in body(server.request("/dumps"))["dumps"]] == ["dumps/megatron", "dumps/面 hf"]
    mapping = {"name": "mine.yaml", "text": "optional: true\nwrappers: ignore\nTopLayer:\n  decoder.layers: model.layers\n"}
    started = body(server.post("/convert", target="dumps/megatron", golden="dumps/面 hf", mapping=mapping, policy="msprobe", match="auto"))
    assert started["state"] == "running"
    done = server.end_of(started["id"])
    assert done["state"] == "done" and done["percent"] == 100, done
    assert done["run"] in server.names()


def test_a_conversion_that_fails_says_why(logs):
    server = WritingServer(logs)
    mapping = {"name": "bad.yaml", "text": "a: [\n"}
    started = body(server.post("/convert", target="dumps/megatron", golden="dumps/面 hf", mapping=mapping))
    failed = server.end_of(started["id"])
    assert failed["state"] == "failed" and "bad.yaml" in failed["error"]
    assert not any(name.startswith("compare") for name in os.listdir(logs))


def test_a_cancelled_conversion_leaves_nothing_behind(logs):
    server = WritingServer(logs)
    started = body(server.post("/convert", target="dumps/megatron", golden="dumps/面 hf"))
    again = server.post("/convert", target="dumps/megatron")
    assert again.status_code == 409 and body(again)["error"]["code"] == "converting"
    assert body(server.post("/convert/cancel", id=started["id"]))["state"] == "cancelled"
    conversion = server.end_of(started["id"])
    assert conversion["state"] == "cancelled"
    deadline = time.monotonic() + 20
    while any(name.startswith((".unfinished", "compare")) for name in os.listdir(logs)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize(("content", "status"), [
    ({"target": "../etc"}, 404),
    ({"target": "/etc"}, 404),
    ({"target": "dumps/megatron", "golden": "dumps"}, 404),
    ({}, 400),
    ({"target": "dumps/megatron", "golden": "dumps/面 hf", "match": "--policy"}, 400),
    ({"target": "dumps/megatron", "golden": "dumps/面 hf", "policy": "/etc/passwd"}, 400),
    ({"target": "dumps/megatron", "golden": "dumps/面 hf", "mapping": "x"}, 400),
])
def test_only_listed_dumps_and_known_options_are_taken(logs, content, status):
    server = WritingServer(logs)
    assert server.post("/convert", **content).status_code == status
    assert body(server.request("/dumps"))["running"] is None


def test_another_sites_page_cannot_start_one(logs):
    server = WritingServer(logs)
    answer = server.request("/convert", method="POST", json={"target": "dumps/megatron"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403


def test_a_graph_is_saved_as_one_page(logs):
    server = WritingServer(logs)
    started = body(server.post("/convert", target="dumps/megatron", golden="dumps/面 hf"))
    run = server.end_of(started["id"])["run"]
    server.names()
    answer = server.request("/export", query={"run": run, "step": 0, "rank": 0})
    data = answer.get_data()
    assert answer.headers["Content-Disposition"].startswith("attachment") and b"__TB_GRAPH_EMBEDDED__" in data
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"  # TensorBoard complains of a page without default-src
    viewed = server.request("/export", query={"run": run, "step": 0, "rank": 0, "view": "p.tb_graph_ascend.q=</script>"})
    assert b'"view":"p.tb_graph_ascend.q=\\u003c/script\\u003e"' in viewed.get_data()
    assert server.request("/export", query={"run": "nope", "step": 0, "rank": 0}).status_code == 404


@pytest.mark.parametrize(("given", "written"), [
    ("mine.yaml", "mine.yaml"),
    ("映射 1.yml", "映射 1.yaml"),
    ("../../etc/passwd", "passwd.yaml"),
    ("C:\\maps\\mine.yaml", "mine.yaml"),
    ("-x.yaml", "x.yaml"),
    ("{folder}.yaml", "_folder_.yaml"),
    ("matches.yaml", "mapping.yaml"),
    ("..", "mapping.yaml"),
    (None, "mapping.yaml"),
])
def test_a_mapping_keeps_its_name_without_becoming_a_path(given, written):
    assert mapping_file_name(given) == written


@pytest.mark.parametrize("run", ["a/compare_1", ".", '<img src=x>:"*?', "名" * 300, "../..", "x" * 300])
def test_a_page_to_save_is_called_by_run_step_and_rank_on_every_system(run):
    name = file_name(run, 3, 12)
    assert re.fullmatch(r"\w[\w.~-]*_step3_rank12\.html", name) and len(name.encode()) <= 200


def test_a_page_to_save_keeps_the_name_of_its_run():
    assert file_name("qwen2/compare_20261129223551", 0, 1) == "qwen2_compare_20261129223551_step0_rank1.html"
